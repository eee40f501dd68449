/* SPDX-License-Identifier: MIT
 *
 * Searching the full-text index of the SQLite store, and checking it. The words of a query are ranges of terms; of
 * each segment, the newest first, the texts that have a term of each range are hits. */
#include "store/store_sqlite_index.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "base/words.h"

enum { WORDS_MAX = 64 /* further words are ignored: a pasted page is a valid query */ };

/* --- queries --- */

/* A hit contains a term of each range. */
typedef struct range {
	uint32_t first, last;
} range;

typedef struct conditions {
	range items[2 * WORDS_MAX];
	size_t count;
} conditions;

/* Is a quote between two positions? */
static bool
has_quote(rt_str query, size_t from, size_t to)
{
	return to > from && memchr(query.ptr + from, '"', to - from) != NULL;
}

static void
add_condition(conditions *c, uint32_t first, uint32_t last)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].first == first && c->items[i].last == last)
			return;
	c->items[c->count++] = (range){first, last};
}

static void
add_token(conditions *c, const rt_token *t, uint64_t hash, bool is_prefix)
{
	rt_str token = rt_str_at(t->text, t->size);
	uint32_t first = rt_term_of(token, hash), last = first;

	if (is_prefix)
		first = rt_term_prefix(token, &last);
	add_condition(c, first, last);
}

/* Pairs first, which few texts have, and beginnings of words last. */
static int
by_cost(const void *a, const void *b)
{
	const range *x = a, *y = b;
	uint32_t of_x = x->last - x->first, of_y = y->last - y->first;

	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return (x->first < y->first) - (x->first > y->first);
}

/* The conditions of a query; none where it has no word. */
static void
read_query(conditions *c, rt_str query)
{
	bool in_dense = false;  /* the last token was not the last of its run */
	bool in_phrase = false; /* within quotes */
	size_t end = 0;
	uint64_t before = 0; /* the hash of the last word of the phrase; 0: none */
	rt_token t;

	for (size_t at = 0, count = 0; count < WORDS_MAX && rt_token_next(query, &at, &t);) {
		bool is_prefix = t.to < query.size && query.ptr[t.to] == '*';
		uint64_t hash = rt_hash(t.text, t.size, 0);

		if (has_quote(query, end, t.from)) {
			for (; end < t.from; end++)
				in_phrase ^= query.ptr[end] == '"';
			before = 0;
		}
		end = t.to;
		/* the last character of a run is in the pair before; alone it begins pairs */
		if (t.is_dense && t.is_last && in_dense) {
			in_dense = false;
			continue;
		}
		in_dense = t.is_dense && !t.is_last;
		add_token(c, &t, hash, is_prefix || (t.is_dense && t.is_last));
		count++;
		if (before != 0 && !t.is_dense)
			add_condition(c, rt_term_pair(before, hash), rt_term_pair(before, hash));
		before = in_phrase && !t.is_dense ? hash : 0;
	}
	if (c->count > 1)
		qsort(c->items, c->count, sizeof(*c->items), by_cost);
}

/* --- finding --- */

/* Hits have no order in which a later attempt could continue. So those of a reader without
 * locks are held back until the attempt has succeeded; others are passed on at once and may end
 * the search. */
typedef struct hit {
	uint64_t number, entry;
} hit;

typedef struct finding {
	rt_sqlite_call *call;
	uint64_t project, below;
	conditions conditions;
	rt_buf *held;
	rt_hit_fn fn;
	void *ctx;
	uint64_t *bits, *also; /* of the texts of a segment, for all conditions and for the present one */
	size_t room;           /* words of each */
} finding;

static void
find_in_part(finding *f, rt_sqlite_query *q, const rt_index_head *h, range r, uint64_t *bits)
{
	rt_store_row row;

	rt_sqlite_row(q, "index row", &row);
	if (rt_ok(&f->call->scope) &&
	    !rt_part_find((uint32_t)(row.number & RT_INDEX_HEAD_ROW), row.data, r.first, r.last, bits, h->texts))
		rt_index_damaged(f->call, h->segment);
}

/* Sets the bits of the texts with a term in the range. */
static void
find_range(finding *f, const rt_index_head *h, range r, uint64_t *bits)
{
	rt_sqlite_args args = {.key = rt_index_key(f->project, h->segment, 0),
			       .last = rt_index_key(f->project, h->segment, rt_term_part(r.first))};
	uint64_t end = rt_index_key(f->project, h->segment, rt_term_part(r.last));
	rt_sqlite_query q = rt_sqlite_select(f->call, SQL_FOUND_BEFORE, args);

	if (rt_sqlite_next(&q)) { /* the last part that begins at or before the range */
		args.last = (uint64_t)sqlite3_column_int64(q.stmt, 0);
		find_in_part(f, &q, h, r, bits);
	}
	rt_sqlite_end(&q);
	if (end <= args.last)
		return;
	q = rt_sqlite_select(f->call, SQL_FOUND_UP, (rt_sqlite_args){.key = args.last + 1, .last = end});
	while (rt_sqlite_next(&q))
		find_in_part(f, &q, h, r, bits);
	rt_sqlite_end(&q);
}

/* Passes a hit on. False: no more are wanted. */
static bool
pass_on(finding *f, hit h)
{
	if (!f->call->conn->immutable)
		return f->fn(f->ctx, h.number, h.entry);
	rt_buf_add(f->held, &h, sizeof(h));
	return f->held->status == RT_OK;
}

static bool
pass_segment(finding *f, const rt_index_head *h)
{
	rt_segment s;
	bool more = true;

	rt_segment_init(&s, f->call->store->alloc);
	rt_index_read_texts(f->call, f->project, h, &s);
	for (size_t i = s.text_count; rt_ok(&f->call->scope) && more && i-- > 0;)
		if ((f->bits[i / 64] >> i % 64 & 1) != 0 && (f->below == 0 || s.texts[i].number < f->below))
			more = pass_on(f, (hit){s.texts[i].number, s.texts[i].entry});
	rt_segment_deinit(&s);
	return more && rt_ok(&f->call->scope);
}

/* False: no more are wanted, or a failure. */
static bool
find_in_segment(finding *f, const rt_index_head *h)
{
	size_t words = (size_t)(h->texts + 63) / 64;
	uint64_t any = 1;

	if (words == 0)
		return true; /* all its texts were dropped */
	if (words > f->room) {
		f->bits = rt_scope_array(&f->call->scope, words, sizeof(*f->bits));
		f->also = rt_scope_array(&f->call->scope, words, sizeof(*f->also));
		f->room = words;
	}
	for (size_t i = 0; rt_ok(&f->call->scope) && any != 0 && i < f->conditions.count; i++) {
		uint64_t *bits = i == 0 ? f->bits : f->also;

		memset(bits, 0, words * sizeof(*bits));
		find_range(f, h, f->conditions.items[i], bits);
		any = 0;
		for (size_t k = 0; k < words; k++)
			any |= f->bits[k] &= bits[k];
	}
	return rt_ok(&f->call->scope) && (any == 0 || pass_segment(f, h));
}

/* Finds everything in one state of the store. */
static void
find_hits(finding *f)
{
	rt_sqlite_call *call = f->call;
	bool alone = sqlite3_get_autocommit(call->conn->db) != 0, more = true;

	f->room = 0;
	if (alone)
		rt_sqlite_run(call, SQL_SNAPSHOT, (rt_sqlite_args){0});
	if (rt_ok(&call->scope) && rt_sqlite_index_is_present(call))
		for (uint64_t i = rt_index_last(call, f->project); rt_ok(&call->scope) && more && i > 0; i--) {
			rt_index_head h = rt_index_head_read(call, f->project, i);

			if (rt_ok(&call->scope) && (f->below == 0 || h.first < f->below))
				more = find_in_segment(f, &h);
		}
	if (alone && sqlite3_get_autocommit(call->conn->db) == 0 &&
	    sqlite3_exec(call->conn->db, "END", NULL, NULL, NULL) != SQLITE_OK)
		rt_sqlite_call_fail(call, "searching the index");
}

rt_status
rt_sqlite_index_find(rt_store *store, uint64_t project, rt_str query, uint64_t below,
		     rt_hit_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_reading(store);
	finding f = {.call = &call, .project = project, .below = below, .fn = fn, .ctx = ctx};
	bool more = true;
	rt_scope s; /* for all attempts */
	hit h;

	if (project == 0 || project > RT_STORE_PROJECT_MAX)
		return RT_OK;
	rt_scope_init(&s, call.store->alloc);
	f.held = rt_scope_buf(&s);
	read_query(&f.conditions, query);
	while (rt_ok(&s) && f.conditions.count > 0 && rt_sqlite_attempt(&call)) {
		rt_buf_clear(f.held);
		if (call.conn == &call.store->writer)
			rt_sqlite_index_flush(&call);
		find_hits(&f);
	}
	(void)rt_scope_join(&s, &call.scope);
	if (f.held->status != RT_OK)
		rt_scope_fail(&s, RT_NOMEM, "out of memory for the results");
	for (size_t at = 0; more && rt_ok(&s) && at < f.held->size; at += sizeof(h)) {
		memcpy(&h, f.held->ptr + at, sizeof(h));
		more = fn(ctx, h.number, h.entry);
	}
	return rt_scope_end(&s, err);
}

/* --- check --- */

/* Reads the row of a body. Ends where there is none with such a number. */
static void
check_texts(rt_sqlite_call *call, uint64_t project, const rt_segment *s,
	    void (*orphan)(void *ctx, uint64_t number), void *ctx)
{
	rt_sqlite_query q;
	uint64_t number = 0;
	size_t i = 0;

	if (s->text_count == 0)
		return;
	q = rt_sqlite_select(call, SQL_BODY_NUMBERS,
			     rt_sqlite_range(project, s->texts[0].number, s->texts[s->text_count - 1].number));
	while (rt_ok(&call->scope) && i < s->text_count) {
		number = rt_sqlite_next(&q) ? (uint64_t)sqlite3_column_int64(q.stmt, 0) & RT_STORE_NUMBER_MAX
					    : UINT64_MAX;
		for (; rt_ok(&call->scope) && i < s->text_count && s->texts[i].number < number; i++)
			orphan(ctx, s->texts[i].number);
		i += i < s->text_count && s->texts[i].number == number;
		if (number == UINT64_MAX)
			break;
	}
	rt_sqlite_end(&q);
}

/* Reads everything in it and counts its parts. */
static void
check_segment(rt_sqlite_call *call, uint64_t project, uint64_t segment,
	      void (*orphan)(void *ctx, uint64_t number), void *ctx)
{
	rt_index_head h = rt_index_head_read(call, project, segment);
	uint64_t parts;
	rt_segment s;

	rt_segment_init(&s, call->store->alloc);
	if (rt_ok(&call->scope))
		rt_index_read_segment(call, project, &h, &s);
	parts = rt_sqlite_number(call, SQL_FOUND_COUNT,
				 (rt_sqlite_args){.key = rt_index_key(project, segment, 0),
						  .last = rt_index_key(project, segment, RT_PART_LAST)});
	if (rt_ok(&call->scope) && parts != h.parts)
		rt_index_damaged(call, segment);
	if (rt_ok(&call->scope))
		check_texts(call, project, &s, orphan, ctx);
	rt_segment_deinit(&s);
}

void
rt_sqlite_index_check(rt_sqlite_call *call, uint64_t project, void (*orphan)(void *ctx, uint64_t number),
		      void *ctx)
{
	uint64_t last = rt_index_last(call, project);

	for (uint64_t i = 1; rt_ok(&call->scope) && i <= last; i++)
		check_segment(call, project, i, orphan, ctx);
}
