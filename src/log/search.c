/* SPDX-License-Identifier: MIT
 *
 * Search: the index behind the log, and what it is asked.
 *
 * The index follows the bodies by a mark, in batches, outside the commits of operations.
 * A search brings it up to date first; where that cannot be (the store is read-only, or
 * somebody else is writing), the bodies behind the mark are read instead.
 *
 *   query ── index ──┐
 *                    ├── bodies ── still somebody's text now? ── hits
 *   what is not in ──┘
 *
 * The index knows every revision there ever was; a hit counts only when a present take
 * shows that body now. Scripts without spaces between words fall through the index, so a
 * query that is not plain ASCII and found nothing is looked for in the texts themselves,
 * anywhere in a word; so are queries of which the index knows nothing (signs only, a role
 * only). */
#include "log/engine_impl.h"
#include "log/search_impl.h"

#include <stdlib.h> /* qsort, bsearch */

enum {
	BATCH_BODIES = 2000,
	BATCH_BYTES = 1 << 20, /* of texts: so long nobody can stop it */
	SCAN_BODIES = 256,     /* read at once, where the index knows nothing */
	INDEX_PERCENT = 80,    /* of the way, where the index has to be made first */
	LIMIT_DEFAULT = 50
};

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while searching");
}

/* ---- reading bodies in batches ---- */

/* Texts that were read in one go; callbacks must not call the store. */
typedef struct batch {
	const rt_alloc *alloc;
	const rt_query *query; /* take only what answers to it; NULL: everything */
	struct {
		uint64_t number, entry;
		size_t at, size; /* in texts */
	} items[BATCH_BODIES];
	size_t count;
	rt_buf texts;
	uint64_t last; /* the number that was seen last */
	bool full;
} batch;

static batch *
batch_new(const rt_alloc *alloc)
{
	batch *b = rt_new0(alloc, sizeof(*b));

	if (b != NULL) {
		b->alloc = alloc;
		rt_buf_init(&b->texts, alloc, RT_BUF_UNLIMITED);
	}
	return b;
}

static void
batch_free(batch *b)
{
	if (b == NULL)
		return;
	rt_buf_deinit(&b->texts);
	rt_free(b->alloc, b);
}

static bool
batch_add(void *ctx, const rt_store_row *row)
{
	batch *b = ctx;
	size_t before = b->texts.size;
	rt_body body;
	rt_status st;

	b->last = row->number;
	if (row->entry == 0) /* nobody's text */
		return true;
	st = rt_body_read(b->alloc, row->data, &body, NULL);
	if (st == RT_NOMEM) /* passed over, it would never be found */
		b->texts.status = st;
	if (st != RT_OK) /* a body that cannot be read is for fsck */
		return st != RT_NOMEM;
	rt_body_add_text(&b->texts, &body);
	rt_body_deinit(&body);
	if (b->query != NULL &&
	    !rt_query_matches(b->query,
			      rt_str_at(b->texts.ptr + before, b->texts.size - before))) {
		b->texts.size = before;
		return true;
	}
	if (b->texts.size == before && b->query == NULL)
		return true;
	b->items[b->count].number = row->number;
	b->items[b->count].entry = row->entry;
	b->items[b->count].at = before;
	b->items[b->count].size = b->texts.size - before;
	b->count++;
	b->full = b->count == BATCH_BODIES || b->texts.size >= BATCH_BYTES;
	return !b->full && b->texts.status == RT_OK;
}

/* The bodies from first on, at most to last. b->last is where the next batch goes on from. */
static rt_status
batch_read(rt_engine *engine, batch *b, uint64_t first, uint64_t last, rt_error *err)
{
	rt_status st;

	b->count = 0;
	b->full = false;
	rt_buf_clear(&b->texts);
	st = engine->store->ops->read(
		engine->store, rt_rows_between(RT_STORE_BODIES, engine->project, first, last),
		batch_add, b, err);
	if (st == RT_OK && b->texts.status != RT_OK)
		st = nomem(err);
	if (!b->full)
		b->last = last;
	return st;
}

/* ---- the index ---- */

static rt_status
index_batch(rt_engine *engine, batch *b, bool *out_done, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	uint64_t mark, head;
	size_t i;
	rt_status st = ops->begin(engine->store, err);

	if (st != RT_OK)
		return st;
	st = ops->head(engine->store, RT_STORE_INDEX, engine->project, &mark, err);
	if (st == RT_OK)
		st = ops->head(engine->store, RT_STORE_BODIES, engine->project, &head, err);
	*out_done = st == RT_OK && mark >= head;
	if (st == RT_OK && !*out_done) {
		uint64_t to = head - mark > BATCH_BODIES ? mark + BATCH_BODIES : head;

		st = batch_read(engine, b, mark + 1, to, err);
		for (i = 0; st == RT_OK && i < b->count; i++)
			st = ops->index_add(engine->store, engine->project, b->items[i].number,
					    b->items[i].entry,
					    rt_str_at(b->texts.ptr + b->items[i].at,
						      b->items[i].size),
					    err);
		if (st == RT_OK && (b->count == 0 || b->items[b->count - 1].number < b->last))
			st = ops->index_add(engine->store, engine->project, b->last, 0,
					    rt_str_at("", 0), err);
	}
	if (st == RT_OK && !*out_done)
		return ops->commit(engine->store, err);
	ops->cancel(engine->store);
	return st;
}

/* How far a search has come. */
typedef struct way {
	const rt_search *how; /* NULL: nobody asks */
	rt_buf *hits;         /* so far: "[{…},{…}", behind … */
	size_t begin;         /* … what it held before, in bytes */
	unsigned from, to;    /* percents of the part that is under way */
	unsigned told;
	size_t hits_told;     /* bytes */
	bool is_stopped;
} way;

/* done of all of this part. false: to be stopped. */
static bool
goes_on(way *w, uint64_t done, uint64_t all)
{
	unsigned percent = w->from + (unsigned)(all == 0 ? 0 : done * (w->to - w->from) / all);

	if (w->how == NULL || w->is_stopped)
		return !w->is_stopped;
	w->is_stopped = w->how->stop != NULL && w->how->stop(w->how->ctx);
	if (w->is_stopped || w->how->told == NULL ||
	    (percent <= w->told && w->hits->size == w->hits_told))
		return !w->is_stopped;
	w->told = percent > w->told ? percent : w->told;
	w->hits_told = w->hits->size;
	rt_buf_add_byte(w->hits, ']');
	if (w->hits->status == RT_OK) {
		w->how->told(w->how->ctx, w->told,
			     rt_str_at(w->hits->ptr + w->begin, w->hits->size - w->begin));
		w->hits->size = w->hits_told;
		w->hits->ptr[w->hits->size] = '\0';
	}
	return true;
}

static rt_status
make_index(rt_engine *engine, way *w, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	uint64_t mark = 0, head = 0, first;
	bool done;
	batch *b;
	rt_status st;

	st = ops->head(engine->store, RT_STORE_INDEX, engine->project, &mark, err);
	if (st == RT_OK)
		st = ops->head(engine->store, RT_STORE_BODIES, engine->project, &head, err);
	done = mark >= head; /* most often: without the write lock */
	if (st != RT_OK || done)
		return st;
	st = rt_engine_may_write(engine, err);
	if (st != RT_OK)
		return st;
	b = batch_new(engine->alloc);
	if (b == NULL)
		return nomem(err);
	w->to = INDEX_PERCENT;
	for (first = mark; st == RT_OK && !done && goes_on(w, mark - first, head - first);
	     mark = b->last < head ? b->last : head)
		st = index_batch(engine, b, &done, err);
	w->from = w->to;
	batch_free(b);
	return st;
}

rt_status
rt_engine_index(rt_engine *engine, rt_error *err)
{
	way w = {.how = NULL};

	return make_index(engine, &w, err);
}

/* ---- a search ---- */

typedef struct bodies {
	uint64_t *numbers;
	uint64_t *entries;
	size_t count, room;
} bodies;

typedef struct search {
	rt_engine *engine;
	const rt_project *project;
	const rt_query *query;
	uint32_t disc; /* 0: all */
	rt_str role;
	size_t left;   /* how many more hits */
	size_t found;
	rt_buf *out;
	bodies list;   /* candidates, best first */
	uint32_t *seeded; /* discussions that were made out of takes of others */
	size_t seeded_count;
	bool nomem;
	way way;
} search;

static bool
bodies_add(search *s, bodies *to, uint64_t number, uint64_t entry)
{
	if (to->count == to->room) {
		size_t room = to->room == 0 ? 256 : to->room * 2;
		uint64_t *numbers = rt_resize(s->engine->alloc, to->numbers, room * sizeof(*numbers));
		uint64_t *entries;

		if (numbers != NULL)
			to->numbers = numbers;
		entries = rt_resize(s->engine->alloc, to->entries, room * sizeof(*entries));
		if (entries != NULL)
			to->entries = entries;
		if (numbers == NULL || entries == NULL) {
			s->nomem = true;
			return false;
		}
		to->room = room;
	}
	to->numbers[to->count] = number;
	to->entries[to->count++] = entry;
	return true;
}

static void
bodies_deinit(search *s, bodies *list)
{
	rt_free(s->engine->alloc, list->numbers);
	rt_free(s->engine->alloc, list->entries);
}

typedef struct collect {
	search *search;
	bodies *to;
} collect;

static bool
collect_hit(void *ctx, uint64_t body, uint64_t entry)
{
	collect *c = ctx;

	return bodies_add(c->search, c->to, body, entry);
}

static rt_status
ask(search *s, rt_str words, rt_store_find how, bodies *to, rt_error *err)
{
	collect c = {s, to};
	rt_status st = s->engine->store->ops->index_find(s->engine->store, s->engine->project, words,
							 how, collect_hit, &c, err);

	return st == RT_OK && s->nomem ? nomem(err) : st;
}

static int
number_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Keep of the candidates those that are (or, is_not, are not) in the index under a term. */
static rt_status
narrow(search *s, const rt_term *term, rt_error *err)
{
	bodies set = {0};
	size_t i, kept = 0;
	rt_status st = ask(s, term->text, RT_FIND_PHRASE, &set, err);

	if (st == RT_OK && set.count > 1)
		qsort(set.numbers, set.count, sizeof(*set.numbers), number_order);
	for (i = 0; st == RT_OK && i < s->list.count; i++) {
		bool in = set.count > 0 && bsearch(&s->list.numbers[i], set.numbers, set.count,
						   sizeof(*set.numbers), number_order) != NULL;

		if (in == term->is_not)
			continue;
		s->list.numbers[kept] = s->list.numbers[i];
		s->list.entries[kept++] = s->list.entries[i];
	}
	if (st == RT_OK)
		s->list.count = kept;
	bodies_deinit(s, &set);
	return st;
}

/* What the index has: the words together, best first, then narrowed by the other terms.
 * *out_asked false: the query has nothing that the index knows. */
static rt_status
ask_index(search *s, bool *out_asked, rt_error *err)
{
	const rt_query *q = s->query;
	const rt_term *first = NULL;
	size_t i;
	rt_buf words;
	rt_status st = RT_OK;

	rt_buf_init(&words, s->engine->alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < q->count; i++) {
		if (q->terms[i].is_not || q->terms[i].kind != RT_TERM_WORD)
			continue;
		if (words.size > 0)
			rt_buf_add_byte(&words, ' ');
		rt_buf_add_str(&words, q->terms[i].text);
	}
	*out_asked = words.size > 0;
	if (words.status != RT_OK)
		st = nomem(err);
	else if (words.size > 0)
		st = ask(s, rt_buf_str(&words), RT_FIND_ALL_WORDS, &s->list, err);
	for (i = 0; st == RT_OK && i < q->count && words.size == 0 && first == NULL; i++)
		if (!q->terms[i].is_not && q->terms[i].kind == RT_TERM_PHRASE) {
			first = &q->terms[i];
			*out_asked = true;
			st = ask(s, first->text, RT_FIND_PHRASE, &s->list, err);
		}
	for (i = 0; st == RT_OK && i < q->count && s->list.count > 0; i++) {
		const rt_term *t = &q->terms[i];

		if (t != first && t->kind != RT_TERM_LITERAL &&
		    (t->is_not || t->kind == RT_TERM_PHRASE))
			st = narrow(s, t, err);
	}
	rt_buf_deinit(&words);
	return st;
}

/* ---- where a body stands now ---- */

static bool
role_fits(const search *s, rt_str role)
{
	return (s->role.size == 0 || rt_str_eq_nocase(role, s->role)) &&
	       (s->query->role.size == 0 || rt_str_eq_nocase(role, s->query->role));
}

/* Signs are not in the index. */
static bool
literals_fit(const search *s, rt_str text)
{
	size_t i, size;

	for (i = 0; i < s->query->count; i++) {
		const rt_term *t = &s->query->terms[i];

		if (t->kind == RT_TERM_LITERAL &&
		    (rt_term_find(text, t, false, 0, &size) == SIZE_MAX) != t->is_not)
			return false;
	}
	return true;
}

static rt_status
add_hit(search *s, const rt_disc *disc, const rt_take *take, size_t at, const rt_slot *slot,
	rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_buf bytes, text;
	rt_body body;
	rt_str role;
	rt_status st = rt_project_name(s->project, slot->role, &role, err);

	if (st != RT_OK || !role_fits(s, role))
		return st;
	st = rt_entry_id(s->project, slot->entry, id, err);
	if (st == RT_OK)
		st = rt_engine_body(s->engine, slot->body, &bytes, &body, err);
	else
		return st;
	rt_buf_init(&text, s->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		rt_body_add_text(&text, &body);
	if (st == RT_OK && text.status != RT_OK)
		st = nomem(err);
	if (st == RT_OK && literals_fit(s, rt_buf_str(&text))) {
		rt_json_add_comma(s->out);
		rt_buf_add_byte(s->out, '{');
		rt_json_add_key(s->out, "discussion");
		rt_json_add_string(s->out,
				   rt_cell_name(rt_project_cell(s->project, disc->number)));
		rt_json_add_key(s->out, "take");
		rt_json_add_string(s->out, rt_text_str(take->name));
		rt_json_add_key(s->out, "id");
		rt_json_add_string(s->out, rt_str_of(id));
		rt_json_add_key(s->out, "role");
		rt_json_add_string(s->out, role);
		rt_json_add_key(s->out, "at");
		rt_buf_add_u64(s->out, at + 1);
		rt_json_add_key(s->out, "snippet");
		rt_query_add_snippet(s->out, s->query, rt_buf_str(&text));
		rt_buf_add_byte(s->out, '}');
		s->left--;
		s->found++;
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	rt_buf_deinit(&text);
	return st;
}

/* The hit of a body in one discussion, in the first of its takes that shows it. */
static rt_status
place_in(search *s, const rt_disc *disc, uint64_t body, uint32_t entry, rt_error *err)
{
	size_t count = rt_disc_take_count(disc), i;
	bool found;

	for (i = 0; i <= count; i++) { /* the active one first */
		uint32_t number = i == 0 ? disc->active : (uint32_t)i;
		const rt_take *take = rt_disc_take(disc, number);
		rt_slot slot;
		size_t at;
		rt_status st;

		if (take == NULL || !take->present || (i > 0 && number == disc->active))
			continue;
		st = rt_take_find(s->project, take, entry, &at, &slot, &found, err);
		if (st != RT_OK)
			return st;
		if (found && slot.body == body)
			return add_hit(s, disc, take, at, &slot, err);
	}
	return RT_OK;
}

static bool
is_searched(const search *s, const rt_cell *cell)
{
	return cell != NULL && (s->disc != 0 ? cell->number == s->disc : cell->present);
}

static rt_status
find_seeded(search *s, rt_error *err)
{
	size_t count = rt_project_disc_count(s->project), i;
	rt_status st = RT_OK;

	s->seeded = rt_new_array(s->engine->alloc, count + 1, sizeof(*s->seeded));
	if (s->seeded == NULL)
		return nomem(err);
	for (i = 1; st == RT_OK && i <= count; i++) {
		const rt_disc *disc;

		if (!is_searched(s, rt_project_cell(s->project, (uint32_t)i)))
			continue;
		st = rt_project_disc(s->project, (uint32_t)i, &disc, err);
		if (st == RT_OK && disc->seed != NULL)
			s->seeded[s->seeded_count++] = (uint32_t)i;
	}
	return st;
}

/* Every discussion that shows the body now has a hit: the one where its entry was made, and
 * those that were made out of takes. */
static rt_status
place_body(search *s, uint64_t body, uint64_t entry, rt_error *err)
{
	const rt_disc *disc;
	rt_slot home;
	bool found = false;
	size_t i;
	rt_status st = RT_OK;

	if (entry == 0 || entry >= s->project->next_entry)
		return RT_OK;
	if (s->seeded == NULL)
		st = find_seeded(s, err);
	if (st == RT_OK)
		st = rt_project_entry(s->project, (uint32_t)entry, &home, &found, err);
	if (st != RT_OK || !found)
		return st;
	if (is_searched(s, rt_project_cell(s->project, home.entry))) {
		st = rt_project_disc(s->project, home.entry, &disc, err);
		if (st == RT_OK)
			st = place_in(s, disc, body, (uint32_t)entry, err);
	}
	for (i = 0; st == RT_OK && i < s->seeded_count && s->left > 0; i++) {
		bool knew = false;

		if (s->seeded[i] == home.entry)
			continue;
		st = rt_project_disc(s->project, s->seeded[i], &disc, err);
		if (st == RT_OK)
			st = rt_disc_knew(s->project, disc, (uint32_t)entry, &knew, err);
		if (st == RT_OK && knew)
			st = place_in(s, disc, body, (uint32_t)entry, err);
	}
	return st;
}

static rt_status
place_list(search *s, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < s->list.count && s->left > 0 &&
		    goes_on(&s->way, i, s->list.count); i++)
		st = place_body(s, s->list.numbers[i], s->list.entries[i], err);
	return st;
}

/* Read the bodies from first on and place those that answer to the query. */
static rt_status
place_scanned(search *s, uint64_t first, const rt_query *query, rt_error *err)
{
	batch *b;
	uint64_t head, begin;
	size_t i;
	rt_status st = s->engine->store->ops->head(s->engine->store, RT_STORE_BODIES,
						   s->engine->project, &head, err);

	if (st != RT_OK || first > head)
		return st;
	b = batch_new(s->engine->alloc);
	if (b == NULL)
		return nomem(err);
	b->query = query;
	for (begin = first - 1; st == RT_OK && first <= head && s->left > 0 &&
				goes_on(&s->way, first - begin, head - begin);
	     first = b->last + 1) {
		uint64_t last = head - first < SCAN_BODIES ? head : first + SCAN_BODIES;

		st = batch_read(s->engine, b, first, last, err);
		for (i = 0; st == RT_OK && i < b->count && s->left > 0 &&
			    goes_on(&s->way, first - begin, head - begin); i++)
			st = place_body(s, b->items[i].number, b->items[i].entry, err);
	}
	batch_free(b);
	return st;
}

/* ---- all of it ---- */

static bool
is_beyond_ascii(const rt_query *q)
{
	size_t i, j;

	for (i = 0; i < q->count; i++)
		for (j = 0; !q->terms[i].is_not && j < q->terms[i].text.size; j++)
			if ((unsigned char)q->terms[i].text.ptr[j] >= 0x80)
				return true;
	return false;
}

static rt_status
run(search *s, rt_query *query, rt_error *err)
{
	uint64_t mark = 0;
	bool asked;
	rt_status st = ask_index(s, &asked, err);

	if (st == RT_OK && !asked)
		return place_scanned(s, 1, query, err);
	if (st == RT_OK)
		st = place_list(s, err);
	if (st == RT_OK)
		st = s->engine->store->ops->head(s->engine->store, RT_STORE_INDEX,
						 s->engine->project, &mark, err);
	if (st == RT_OK)
		st = place_scanned(s, mark + 1, query, err);
	if (st == RT_OK && s->found == 0 && is_beyond_ascii(query)) {
		query->substring = true;
		st = place_scanned(s, 1, query, err);
	}
	return st;
}

rt_status
rt_view_search(rt_engine *engine, const rt_project *project, rt_str text, uint32_t disc, rt_str role,
	       size_t limit, rt_buf *buf, rt_error *err)
{
	rt_search how = {.query = text, .disc = disc, .role = role, .limit = limit};

	return rt_view_search_on(engine, project, &how, buf, err);
}

rt_status
rt_view_search_on(rt_engine *engine, const rt_project *project, const rt_search *how, rt_buf *buf,
		  rt_error *err)
{
	rt_query query = rt_query_parse(how->query);
	search s = {.engine = engine, .project = project, .query = &query, .disc = how->disc,
		    .role = how->role, .out = buf, .way = {.how = how, .hits = buf, .begin = buf->size, .to = 100}};
	rt_status st = RT_OK;

	s.left = how->limit != 0 ? how->limit : LIMIT_DEFAULT;
	if (how->disc != 0 && rt_project_cell(project, how->disc) == NULL)
		return rt_fail(err, RT_NOT_FOUND, "no discussion d%u", how->disc);
	rt_buf_add_byte(buf, '[');
	if (query.count > 0 || query.role.size > 0) {
		/* Where it cannot be brought up to date, the rest is read. */
		if (!engine->read_only && make_index(engine, &s.way, NULL) == RT_NOMEM)
			st = nomem(err);
		s.way.to = 100;
		if (st == RT_OK && goes_on(&s.way, 0, 1))
			st = run(&s, &query, err);
	}
	rt_buf_add_byte(buf, ']');
	bodies_deinit(&s, &s.list);
	rt_free(engine->alloc, s.seeded);
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory while searching");
	return st;
}
