/* SPDX-License-Identifier: MIT
 *
 * Search. The index is brought up to date first; where that is impossible (the store is read-only,
 * or another process is writing), the bodies after its mark are read instead.
 *
 *   words of the query ── index ──┐
 *                                 ├── bodies ── still an entry's text now? ── does it match? ── hits
 *   not indexed ──────────────────┘
 *
 * The index contains every revision that ever existed; a hit counts only when a present take shows
 * that body now (unless the query asks for the past). The index only knows which texts contain the
 * words: everything else (phrases, exclusions, expressions) is decided by reading the text.
 *
 * Candidates come newest first. From the first RANKED of them that match, the best are the result:
 * so a search costs the same however many entries contain a common word. Queries without an
 * indexed word (signs, an expression or filters only) read all texts.
 *
 * A search by meaning fuses the most similar texts with the matches of the words. */
#include "view/search.h"

#include <stdlib.h> /* qsort */

#include "base/words.h"
#include "codec/plain.h"
#include "core/role.h"
#include "log/engine_impl.h"
#include "log/index.h"
#include "log/vectors.h"
#include "view/search_impl.h"
#include "view/view_impl.h"

enum {
	SCAN_BODIES = 256,  /* read at once, if the index cannot answer */
	INDEX_PERCENT = 80, /* percentage of the progress, if the index has to be built first */
	LIMIT_DEFAULT = 50,
	NEAR = 1000, /* passages that are compared exactly: at first; more, if filters exclude them */
	RANKED = 200,        /* matches that are compared, at least */
	FUSED = 100,         /* likewise of a search by meaning, of either kind */
	CANDIDATES = 500,    /* asked for at once: at first, and at most */
	CANDIDATES_MAX = 16000,
	TEXTS = 32, /* of candidates, read together: at first, and at most */
	TEXTS_MAX = 512
};

typedef struct candidate {
	uint64_t body, entry;
	uint32_t at;      /* of a passage */
	float similarity; /* likewise */
	enum { UNREAD, MATCHES, DIFFERS } text;
	double score; /* of one that matches */
} candidate;

typedef struct candidates {
	candidate *items; /* in the scope */
	size_t count, capacity, max;
} candidates;

typedef struct search {
	rt_scope *scope;
	rt_scope *body; /* memory of the current text */
	rt_engine *engine;
	const rt_project *project;
	const rt_search *options;
	rt_query query;
	size_t limit;
	size_t wanted; /* matches: the limit, or more if they are ranked */
	bool is_ranked;
	uint32_t *seeded; /* discussions made from takes of others; NULL: not known yet */
	size_t seeded_count;
	uint32_t filtered_disc; /* the last one that the filters were applied to */
	bool filtered_fits;
	rt_scored *found;
	size_t found_count, found_room;
	rt_hit *hits;
	size_t hit_count, hit_room;
	/* progress */
	unsigned from, to; /* percentage of the current part */
	unsigned percent;  /* reported last */
	size_t reported;   /* hits then */
	bool is_stopped;
} search;

static bool
is_full(const search *s)
{
	return s->found_count >= s->wanted;
}

/* Reports done of all of this part. false: stop, on request or after a failure. */
static bool
goes_on(void *ctx, uint64_t done, uint64_t all)
{
	search *s = ctx;
	const rt_search *options = s->options;
	unsigned percent = s->from + (unsigned)(all == 0 ? 0 : done * (s->to - s->from) / all);

	s->is_stopped = s->is_stopped || (options->stop != NULL && options->stop(options->ctx));
	if (s->is_stopped || !rt_ok(s->scope))
		return false;
	if (options->progress != NULL && (percent > s->percent || s->hit_count != s->reported)) {
		s->percent = percent > s->percent ? percent : s->percent;
		s->reported = s->hit_count;
		options->progress(options->ctx, s->percent, (rt_hits){s->hits, s->hit_count});
	}
	return true;
}

/* The same while the index is brought up to date. */
static bool
goes_on_indexing(void *ctx, uint64_t done, uint64_t all)
{
	const search *s = ctx;

	return goes_on(ctx, done, all) && (done == 0 || !s->options->is_prompt);
}

/* ---- filters ---- */

static bool
contains(rt_str text, rt_str part)
{
	for (size_t at = 0; at + part.size <= text.size; at++)
		if (rt_str_eq_nocase(rt_str_at(text.ptr + at, part.size), part))
			return true;
	return false;
}

/* Does the discussion pass the filters on discussions? */
static bool
disc_fits(search *s, const rt_disc *disc)
{
	rt_str in = s->query.filters[RT_FILTER_IN], tag = s->query.filters[RT_FILTER_TAG];
	rt_str program = s->query.filters[RT_FILTER_PROGRAM];
	rt_view view = {s->scope, s->engine, s->project, {disc->number, 0}};

	if (in.size == 0 && tag.size == 0 && program.size == 0)
		return true;
	if (s->filtered_disc != disc->number) {
		s->filtered_disc = disc->number;
		s->filtered_fits =
			(in.size == 0 ||
			 contains(rt_cell_name(rt_project_cell(s->project, disc->number)), in) ||
			 contains(rt_disc_title(&view, disc->number), in)) &&
			(tag.size == 0 || rt_disc_has_tag(&view, disc, tag)) &&
			(program.size == 0 || contains(rt_view_program(disc), program));
	}
	return s->filtered_fits;
}

/* Does the entry pass the filters on entries, except for those on its body? */
static bool
slot_fits(search *s, const rt_disc *disc, const rt_slot *slot, rt_str role)
{
	const rt_query *q = &s->query;
	rt_str said = q->filters[RT_FILTER_ROLE], label = q->filters[RT_FILTER_LABEL];
	rt_str edited = q->filters[RT_FILTER_EDITED];

	return (s->options->role.size == 0 ||
		rt_role_same(s->project, role, s->options->role)) &&
	       (said.size == 0 || rt_role_same(s->project, role, said)) &&
	       (!q->has_time || ((slot->flags & RT_SLOT_NO_TS) == 0 && slot->ts_us >= q->from_us &&
				 slot->ts_us < q->to_us)) &&
	       (edited.size == 0 ||
		((slot->flags & RT_SLOT_EDITED) != 0) == rt_str_is(edited, "yes")) &&
	       (label.size == 0 ||
		contains(rt_view_label(s->scope, s->project, disc, slot->entry), label));
}

static bool
body_fits(const search *s, const rt_body *body, rt_str text)
{
	rt_str model = s->query.filters[RT_FILTER_MODEL];

	return rt_query_matches(&s->query, text) &&
	       (model.size == 0 || contains(rt_json_str(rt_body_field(body, "model")), model));
}

/* ---- hits ---- */

static void
add_found(search *s, const rt_scored *f)
{
	rt_scored *items = rt_scope_grow(s->scope, s->found, s->found_count, &s->found_room, sizeof(*items));

	if (items == NULL)
		return;
	s->found = items;
	items[s->found_count++] = *f;
}

static void
add_hit(search *s, const rt_hit *hit)
{
	rt_hit *hits = rt_scope_grow(s->scope, s->hits, s->hit_count, &s->hit_room, sizeof(*hits));

	if (hits == NULL)
		return;
	s->hits = hits;
	hits[s->hit_count++] = *hit;
}

/* The text of a body, if it matches, its score and its snippet. at: of the passage that was found, 0 in a search
 * for words. False: it does not match, or a failure. */
static bool
read_match(search *s, uint64_t number, uint32_t at, double *out_score, rt_str *out_snippet)
{
	rt_view view = {s->body, s->engine, s->project, {0, 0}};

	rt_scope_reset(s->body);
	const rt_body *body = rt_view_body(&view, number);
	rt_buf *text = rt_scope_buf(s->body), *snippet = rt_scope_buf(s->body);

	if (body != NULL)
		rt_body_add_searched(text, body);
	rt_str shown = rt_scope_str(s->body, text);

	if (rt_scope_adopt(s->scope, s->body) != RT_OK || body == NULL || !body_fits(s, body, shown))
		return false;
	rt_query_add_snippet(snippet, &s->query, at < shown.size ? rt_str_skip(shown, at) : shown);
	rt_str marked = rt_scope_str(s->body, snippet);

	if (rt_scope_adopt(s->scope, s->body) != RT_OK)
		return false;
	*out_score = s->is_ranked ? rt_query_score(&s->query, shown) : 0;
	*out_snippet = rt_scope_copy(s->scope, marked);
	return rt_ok(s->scope);
}

/* An entry at a position of a take with one of its bodies, if that matches. take NULL: it was deleted. */
static void
match(search *s, const rt_disc *disc, const rt_take *take, size_t at, const rt_slot *slot, candidate c,
      bool is_past)
{
	rt_scope *scope = s->scope;
	rt_str role = rt_view_name(scope, s->project, slot->role), snippet = {NULL, 0};
	bool is_known = s->is_ranked && c.text == MATCHES && s->query.filters[RT_FILTER_MODEL].size == 0;

	if (!rt_ok(scope) || !slot_fits(s, disc, slot, role) || !disc_fits(s, disc) ||
	    (!is_known && !read_match(s, c.body, c.at, &c.score, &snippet)))
		return;
	const rt_scored f = {
		.body = c.body,
		.score = c.score,
		.hit = {
			.disc = disc->number,
			.discussion = rt_cell_name(rt_project_cell(s->project, disc->number)),
			.take_number = take != NULL ? take->number : 0,
			.take = take != NULL ? rt_text_str(take->name) : RT_STR(""),
			.entry = slot->entry,
			.id = rt_view_id(scope, s->project, slot->entry),
			.role = role,
			.at = take != NULL ? at + 1 : 0,
			.is_past = is_past,
			.has_time = (slot->flags & RT_SLOT_NO_TS) == 0,
			.time = rt_slot_moment(slot),
			.similarity = c.similarity,
			.snippet = snippet,
		},
	};
	if (!rt_ok(scope))
		return;
	add_found(s, &f);
	if (!s->is_ranked)
		add_hit(s, &f.hit);
}

/* The match of a body in one discussion, in the first of its takes that shows it, or with is_past, its
 * entry. True: its entry is there. */
static bool
match_in(search *s, const rt_disc *disc, candidate c, bool is_past)
{
	for (size_t i = 0; rt_ok(s->scope) && i <= rt_disc_take_count(disc); i++) {
		uint32_t number = i == 0 ? disc->active : (uint32_t)i; /* the active one first */
		const rt_take *take = rt_disc_take(disc, number);
		bool is_there = false;
		rt_slot slot;
		size_t at;

		if (take == NULL || !take->present || (i > 0 && number == disc->active))
			continue;
		RT_TRY(s->scope, rt_take_find(s->project, take, (uint32_t)c.entry, &at, &slot,
					      &is_there, &s->scope->error));
		if (!rt_ok(s->scope) || !is_there || (!is_past && slot.body != c.body))
			continue;
		match(s, disc, take, at, &slot, c, slot.body != c.body);
		return true;
	}
	return false;
}

static bool
is_searched(const search *s, uint32_t disc)
{
	const rt_cell *cell = rt_project_cell(s->project, disc);

	return cell != NULL && (s->options->disc != 0 ? disc == s->options->disc : cell->present);
}

static void
find_seeded(search *s)
{
	size_t count = rt_project_disc_count(s->project);

	s->seeded = rt_scope_array(s->scope, count + 1, sizeof(*s->seeded));
	for (uint32_t i = 1; rt_ok(s->scope) && i <= count; i++) {
		const rt_disc *disc;

		if (!is_searched(s, i) ||
		    RT_TRY(s->scope, rt_project_disc_peek(s->project, i, &disc,
							  &s->scope->error)) != RT_OK)
			continue;
		if (disc->seed != NULL)
			s->seeded[s->seeded_count++] = i;
		rt_object_unref(disc);
	}
}

/* Every discussion that shows the body now has a match: the one where its entry was made, and those
 * made from its takes. Of the past, the entry where it is now, or else where it was made. */
static void
place(search *s, candidate c)
{
	rt_scope *scope = s->scope;
	bool found = false, is_shown = false;
	const rt_disc *disc, *home = NULL;
	rt_slot key;

	if (c.entry == 0 || c.entry >= s->project->next_entry)
		return;
	if (s->seeded == NULL)
		find_seeded(s);
	RT_TRY(scope, rt_project_entry(s->project, (uint32_t)c.entry, &key, &found, &scope->error));
	if (!rt_ok(scope) || !found)
		return;
	if (is_searched(s, key.entry) &&
	    RT_TRY(scope, rt_project_disc(s->project, key.entry, &home, &scope->error)) == RT_OK)
		is_shown = match_in(s, home, c, false);
	for (size_t i = 0; rt_ok(scope) && i < s->seeded_count && !is_full(s); i++) {
		bool knew = false;

		if (s->seeded[i] == key.entry)
			continue;
		RT_TRY(scope, rt_project_disc(s->project, s->seeded[i], &disc, &scope->error));
		RT_TRY(scope,
		       rt_disc_knew(s->project, disc, (uint32_t)c.entry, &knew, &scope->error));
		if (rt_ok(scope) && knew)
			is_shown = match_in(s, disc, c, false) || is_shown;
	}
	if (is_shown || !rt_ok(scope) || home == NULL ||
	    !rt_str_is(s->query.filters[RT_FILTER_PAST], "yes") || match_in(s, home, c, true))
		return;
	key.entry = (uint32_t)c.entry;
	match(s, home, NULL, 0, &key, c, true);
}

/* ---- candidates ---- */

typedef struct collecting {
	rt_scope *scope;
	candidates *to;
} collecting;

static bool
add_candidate(void *ctx, uint64_t body, uint64_t entry)
{
	collecting *c = ctx;
	candidates *to = c->to;
	candidate *items = rt_scope_grow(c->scope, to->items, to->count, &to->capacity, sizeof(*items));

	if (items == NULL)
		return false;
	to->items = items;
	to->items[to->count++] = (candidate){.body = body, .entry = entry};
	return to->count < to->max;
}

/* The words that every match contains. */
static rt_str
words_of(search *s)
{
	const rt_query *q = &s->query;
	rt_buf *words = rt_scope_buf(s->scope);

	for (size_t i = 0; i < q->count; i++) {
		const rt_query_term *t = &q->terms[i];

		if (t->is_not || t->kind == RT_TERM_LITERAL || t->kind == RT_TERM_REGEX)
			continue;
		rt_buf_add_c(words, words->size > 0 ? " " : "");
		rt_buf_add_c(words, t->kind == RT_TERM_PHRASE ? "\"" : "");
		for (size_t j = 0; j < t->text.size; j++)
			rt_buf_add_byte(words, t->text.ptr[j] == '"' ? ' ' : t->text.ptr[j]);
		rt_buf_add_c(words, t->kind == RT_TERM_PHRASE ? "\"" : t->is_prefix ? "*" : "");
	}
	return rt_scope_str(s->scope, words);
}

/* Among the first matches, which are in descending order? */
static bool
is_found(const search *s, size_t count, uint64_t body)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->found[middle].body > body)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && s->found[low].body == body;
}

static bool
has_expression(const rt_query *q)
{
	for (size_t i = 0; i < q->count; i++)
		if (q->terms[i].kind == RT_TERM_REGEX)
			return true;
	return false;
}

/* Candidates in descending order; those from next on are not decided. */
typedef struct deciding {
	const rt_query *query;
	candidate *next;
} deciding;

static void
decide(void *ctx, uint64_t number, rt_str text)
{
	deciding *d = ctx;

	while (d->next->body < number)
		d->next--; /* its body is missing: reported when it is read again */
	d->next->text = rt_query_matches(d->query, text) ? MATCHES : DIFFERS;
	if (d->next->text == MATCHES)
		d->next->score = rt_query_score(d->query, text);
}

/* Reads the texts of candidates together: most do not match, and one by one they take several times as long. */
static void
read_texts(search *s, candidate *items, size_t count)
{
	deciding d = {&s->query, items + count - 1};
	uint64_t numbers[TEXTS_MAX];

	for (size_t i = 0; i < count; i++)
		numbers[i] = items[count - 1 - i].body;
	RT_TRY(s->scope, rt_engine_texts(s->engine, numbers, count, decide, &d, &s->scope->error));
}

/* The matches among candidates, without the first found ones. */
static void
place_all(search *s, candidate *items, size_t count, size_t found, uint64_t mark)
{
	size_t texts = TEXTS;

	for (size_t i = 0, read = 0;
	     i < count && !is_full(s) && goes_on(s, mark - items[i].body, mark); i++) {
		if (i == read) {
			read = count - i < texts ? count : i + texts;
			read_texts(s, items + i, read - i);
			texts = texts * 2 < TEXTS_MAX ? texts * 2 : TEXTS_MAX;
		}
		if (items[i].text != DIFFERS && !is_found(s, found, items[i].body))
			place(s, items[i]);
	}
}

/* Matches of texts in the index, which goes up to mark, without those that were found already. */
static void
find_indexed(search *s, uint64_t mark)
{
	rt_str words = words_of(s);
	size_t before = s->found_count;
	rt_store *store = s->engine->store;
	candidates list = {.max = CANDIDATES};
	collecting c = {s->scope, &list};
	uint64_t below = 0;

	do {
		list.count = 0;
		RT_TRY(s->scope, store->ops->index_find(store, s->engine->project, words, below,
							add_candidate, &c, &s->scope->error));
		place_all(s, list.items, list.count, before, mark);
		if (list.count < list.max)
			break;
		below = list.items[list.count - 1].body;
		list.max = list.max * 4 < CANDIDATES_MAX ? list.max * 4 : CANDIDATES_MAX;
	} while (rt_ok(s->scope) && !is_full(s) && !s->is_stopped);
}

/* ---- texts, read ---- */

static bool
answers(void *ctx, rt_str text)
{
	return rt_query_matches(ctx, text);
}

static void
free_batch(void *batch)
{
	rt_batch_free(batch);
}

/* Reads the bodies from first on and adds those that match the query. */
static void
scan(search *s, uint64_t first)
{
	rt_scope *scope = s->scope;
	uint64_t head = 0, begin = first - 1;

	RT_TRY(scope, rt_engine_head(s->engine, RT_STORE_BODIES, &head, &scope->error));
	if (!rt_ok(scope) || first > head)
		return;
	rt_batch *b = rt_batch_new(s->engine->alloc);

	if (b == NULL) {
		rt_scope_nomem(scope);
		return;
	}
	rt_scope_defer(scope, free_batch, b);
	if (!rt_ok(scope))
		return;
	b->wants = answers;
	b->ctx = &s->query;
	for (; first <= head && !is_full(s) && goes_on(s, first - begin, head - begin);
	     first = b->last + 1) {
		uint64_t last = head - first < SCAN_BODIES ? head : first + SCAN_BODIES - 1;

		if (RT_TRY(scope, rt_batch_read(s->engine, b, first, last, &scope->error)) != RT_OK)
			return;
		for (size_t i = 0; i < b->count && !is_full(s) &&
				   goes_on(s, first - begin, head - begin);
		     i++)
			place(s, (candidate){.body = b->items[i].number, .entry = b->items[i].entry});
	}
}

/* ---- by meaning ---- */

static int
number_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int
by_similarity(const void *a, const void *b)
{
	const rt_scored *x = a, *y = b;

	return (x->hit.similarity < y->hit.similarity) - (x->hit.similarity > y->hit.similarity);
}

/* The most similar texts, until enough of them match the filters. */
static void
find_near(search *s)
{
	const rt_meaning *m = s->options->meaning;
	uint64_t *seen = NULL; /* ascending */
	size_t seen_count = 0;
	rt_neighbours near;

	for (size_t most = NEAR; rt_ok(s->scope) && !is_full(s) && !s->is_stopped; most *= 8) {
		near = rt_vectors_find(s->engine, s->scope, m->model, m->vector, m->dimensions, most);
		for (size_t i = 0; i < near.count && !is_full(s) && goes_on(s, i, near.count); i++) {
			const rt_neighbour *n = &near.items[i];

			if (seen_count == 0 || bsearch(&n->body, seen, seen_count, sizeof(*seen), number_order) == NULL)
				place(s, (candidate){.body = n->body,
						     .entry = n->entry,
						     .at = n->at,
						     .similarity = n->similarity});
		}
		if (near.is_all)
			break;
		seen = rt_scope_array(s->scope, near.count, sizeof(*seen));
		for (seen_count = 0; rt_ok(s->scope) && seen_count < near.count; seen_count++)
			seen[seen_count] = near.items[seen_count].body;
		if (seen_count > 1)
			qsort(seen, seen_count, sizeof(*seen), number_order);
	}
	if (s->found_count > 1)
		qsort(s->found, s->found_count, sizeof(*s->found), by_similarity);
}

/* ---- ranking ---- */

/* The newest of them get at most as much as one more word in their text would. */
static void
rank(search *s)
{
	for (size_t i = 0; i < s->found_count; i++)
		s->found[i].score += 0.5 - 0.5 * (double)i / (double)s->wanted;
	if (s->found_count > 1)
		qsort(s->found, s->found_count, sizeof(*s->found), rt_scored_compare);
}

/* The first of those found become hits. */
static void
add_hits(search *s)
{
	for (size_t i = 0; i < s->found_count && i < s->limit; i++) {
		rt_scored *f = &s->found[i];

		if (f->hit.snippet.ptr == NULL && !read_match(s, f->body, 0, &f->score, &f->hit.snippet))
			continue;
		add_hit(s, &f->hit);
	}
	(void)goes_on(s, 1, 1);
}

/* The last word as it is first: to read the occurrences of all words that begin like a common one
 * takes long. */
static void
find_in_index(search *s, uint64_t mark)
{
	rt_query_term *last = s->query.count > 0 ? &s->query.terms[s->query.count - 1] : NULL;

	if (last != NULL && last->is_last) {
		last->is_prefix = false;
		find_indexed(s, mark);
		last->is_prefix = true;
	}
	if (rt_ok(s->scope) && !is_full(s) && !s->is_stopped)
		find_indexed(s, mark);
}

/* Matches of the words, the best first. */
static void
find_ranked(search *s)
{
	uint64_t mark = 0;

	RT_TRY(s->scope, rt_engine_head(s->engine, RT_STORE_INDEX, &mark, &s->scope->error));
	s->wanted = has_expression(&s->query) ? s->limit /* few texts match, many have to be read */
		    : s->limit > RANKED / 2   ? 2 * s->limit
					      : RANKED;
	if (rt_ok(s->scope) && mark > 0)
		find_in_index(s, mark);
	scan(s, mark + 1);
	if (rt_ok(s->scope))
		rank(s);
}

/* ---- words and meaning together ---- */

/* The most similar texts, and those with the words. */
static void
find_fused(search *s)
{
	const rt_query whole = s->query;
	size_t limit = s->limit, near;
	rt_token token;
	rt_scored *all;

	s->is_ranked = true;
	s->limit = s->wanted = limit > FUSED ? limit : FUSED;
	rt_query_drop_plain(&s->query);
	find_near(s);
	s->query = whole;
	near = s->found_count;
	all = rt_scope_array(s->scope, near + s->limit + 1, sizeof(*all));
	if (!rt_ok(s->scope))
		return;
	memcpy(all, s->found, near * sizeof(*all));
	s->found_count = 0;
	if (!s->is_stopped && rt_token_next(words_of(s), &(size_t){0}, &token))
		find_ranked(s);
	s->found_count = s->found_count < s->limit ? s->found_count : s->limit;
	memcpy(all + near, s->found, s->found_count * sizeof(*all));
	s->found = rt_scored_fuse(s->scope, all, near, near + s->found_count, &s->found_count);
	if (!rt_ok(s->scope))
		return;
	s->limit = limit;
	add_hits(s);
}

/* ---- all of it ---- */

static void
run(search *s)
{
	rt_token token;

	if (s->options->meaning != NULL) {
		find_fused(s);
		return;
	}
	if (!rt_token_next(words_of(s), &(size_t){0}, &token)) {
		scan(s, 1);
		return;
	}
	s->is_ranked = true;
	find_ranked(s);
	if (rt_ok(s->scope))
		add_hits(s);
}

rt_hits
rt_search_run(const rt_view *view, const rt_search *options)
{
	rt_scope *scope = view->scope;
	search s = {.scope = scope,
		    .body = rt_view_inner(scope),
		    .engine = view->engine,
		    .project = view->project,
		    .options = options,
		    .query = rt_query_parse(options->query,
					    view->engine->env->now_us(view->engine->env->ctx),
					    options->zone),
		    .limit = options->limit != 0 ? options->limit : LIMIT_DEFAULT};

	s.wanted = s.limit;
	if (options->disc != 0 && rt_project_cell(s.project, options->disc) == NULL)
		(void)rt_scope_fail(scope, RT_NOT_FOUND, "no discussion d%u", options->disc);
	rt_query_prepare(scope, &s.query);
	if (rt_ok(scope) && (options->meaning != NULL || s.query.count > 0 || s.query.has_filter || s.query.has_time)) {
		s.to = INDEX_PERCENT;
		/* If it cannot be brought up to date, the rest is read. */
		if (!s.engine->read_only &&
		    rt_engine_index_with(s.engine, goes_on_indexing, &s, NULL) == RT_NOMEM)
			rt_scope_nomem(scope);
		s.from = s.percent; /* nothing to index: the whole way is left */
		s.to = 100;
		if (goes_on(&s, 0, 1))
			run(&s);
		if (rt_ok(scope) && s.hit_count == 0 && !s.is_stopped)
			rt_query_explain(scope, &s.query);
	}
	return rt_ok(scope) ? (rt_hits){s.hits, s.hit_count} : (rt_hits){0};
}

rt_str
rt_search_words(rt_scope *s, rt_str text)
{
	rt_query query = rt_query_parse(text, 0, NULL);
	rt_buf *words = rt_scope_buf(s);

	for (size_t i = 0; i < query.count; i++)
		if (query.terms[i].is_plain) {
			rt_buf_add_c(words, words->size > 0 ? " " : "");
			rt_buf_add_str(words, query.terms[i].text);
		}
	if (words->size == 0)
		rt_scope_fail(s, RT_USAGE, "a search by meaning requires words outside quotes and filters");
	return rt_scope_str(s, words);
}

/* ---- snippets ---- */

bool
rt_highlight_next(rt_str *snippet, bool *inside, rt_str *out)
{
	size_t end = 0;

	if (snippet->size == 0) {
		*out = rt_str_at(snippet->ptr, 0);
		return false;
	}
	while (snippet->size > 0 && (snippet->ptr[0] == '\001' || snippet->ptr[0] == '\002')) {
		*inside = snippet->ptr[0] == '\001';
		snippet->ptr++;
		snippet->size--;
	}
	while (end < snippet->size && snippet->ptr[end] != '\001' && snippet->ptr[end] != '\002')
		end++;
	*out = rt_str_at(snippet->ptr, end);
	snippet->ptr += end;
	snippet->size -= end;
	return end > 0;
}

void
rt_hit_add_plain(rt_buf *buf, const rt_hit *hit)
{
	size_t before = buf->size;
	int open = 0;

	rt_plain_add_entry(buf, hit->role, hit->snippet);
	for (size_t i = before; i < buf->size; i++)
		open += (buf->ptr[i] == '\001') - (buf->ptr[i] == '\002');
	if (open == 0)
		return;
	buf->size = before;
	rt_buf_add_str(buf, hit->snippet);
}

/* ---- JSON ---- */

static const rt_view_field hit_fields[] = {
	RT_VIEW_FIELD(rt_hit, "discussion", discussion, STR, ALWAYS),
	RT_VIEW_FIELD(rt_hit, "take", take, STR, ALWAYS),
	RT_VIEW_FIELD(rt_hit, "id", id, STR, ALWAYS),
	RT_VIEW_FIELD(rt_hit, "role", role, STR, ALWAYS),
	RT_VIEW_FIELD(rt_hit, "at", at, SIZE, ALWAYS),
};

/* The snippet verbatim, and [[start,size],…] in code points. */
static void
put_marks(rt_buf *buf, rt_str snippet)
{
	bool is_match = false;
	rt_buf plain, marks;
	rt_str run;

	rt_buf_init(&plain, buf->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&marks, buf->alloc, RT_BUF_UNLIMITED);
	while (rt_highlight_next(&snippet, &is_match, &run)) {
		if (is_match)
			rt_buf_add_f(&marks, "%s[%zu,%zu]", marks.size > 0 ? "," : "",
				     rt_utf8_count(rt_buf_str(&plain)), rt_utf8_count(run));
		rt_buf_add_str(&plain, run);
	}
	rt_json_put_str(buf, "snippet", rt_buf_str(&plain));
	rt_json_open(buf, "marks", '[');
	rt_buf_add_str(buf, rt_buf_str(&marks));
	rt_json_close(buf, ']');
	if (buf->status == RT_OK)
		buf->status = plain.status != RT_OK ? plain.status : marks.status;
	rt_buf_deinit(&plain);
	rt_buf_deinit(&marks);
}

void
rt_hits_write(rt_buf *buf, rt_hits hits)
{
	rt_buf_add_byte(buf, '[');
	for (size_t i = 0; i < hits.count; i++) {
		rt_json_open(buf, NULL, '{');
		RT_VIEW_PUT(buf, hit_fields, &hits.items[i]);
		if (hits.items[i].has_time) {
			rt_json_add_key(buf, "ts");
			rt_buf_add_byte(buf, '"');
			rt_moment_format(buf, hits.items[i].time);
			rt_buf_add_byte(buf, '"');
		}
		if (hits.items[i].similarity != 0) {
			rt_json_add_key(buf, "similarity");
			rt_buf_add_f(buf, "%.3f", (double)hits.items[i].similarity);
		}
		if (hits.items[i].is_past)
			rt_json_put_bool(buf, "past", true);
		put_marks(buf, hits.items[i].snippet);
		rt_json_close(buf, '}');
	}
	rt_buf_add_byte(buf, ']');
}

rt_status
rt_view_search(rt_engine *engine, const rt_project *project, const rt_search *given, rt_buf *buf,
	       rt_error *err)
{
	rt_search options = *given;
	rt_scope s;
	rt_view view = {&s, engine, project, {0, 0}};

	options.is_prompt = true;
	rt_scope_init(&s, engine->alloc);
	rt_hits_write(buf, rt_search_run(&view, &options));
	(void)rt_scope_note(&s, buf->status);
	return rt_scope_end(&s, err);
}
