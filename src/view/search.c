/* SPDX-License-Identifier: MIT
 *
 * Search. The index is brought up to date first; where that is impossible (the store is read-only,
 * or another process is writing), the bodies after its mark are read instead.
 *
 *   query ── index ──┐
 *                    ├── bodies ── still an entry's text now? ── hits
 *   not indexed ─────┘
 *
 * The index contains every revision that ever existed; a hit counts only when a present take shows
 * that body now. The index does not work for scripts without spaces between words, so a query that
 * is not plain ASCII and found nothing is searched in the texts themselves, anywhere in a word; so
 * are queries without any indexed word (signs only, a role only). */
#include "view/search.h"

#include <stdlib.h> /* qsort, bsearch */

#include "core/role.h"
#include "log/engine_impl.h"
#include "log/index.h"
#include "view/search_impl.h"
#include "view/view_impl.h"

enum {
	SCAN_BODIES = 256,  /* read at once, if the index cannot answer */
	INDEX_PERCENT = 80, /* percentage of the progress, if the index has to be built first */
	LIMIT_DEFAULT = 50
};

typedef struct candidate {
	uint64_t body, entry;
} candidate;

typedef struct candidates {
	candidate *items; /* in the scope */
	size_t count, capacity;
} candidates;

typedef struct search {
	rt_scope *scope;
	rt_scope *body; /* memory of the current text */
	rt_engine *engine;
	const rt_project *project;
	const rt_search *options;
	rt_query query;
	size_t limit;
	candidates list; /* best first */
	uint32_t *seeded; /* discussions made from takes of others; NULL: not known yet */
	size_t seeded_count;
	rt_hit *hits;
	size_t hit_count, hit_capacity;
	/* progress */
	unsigned from, to; /* percentage of the current part */
	unsigned percent;  /* reported last */
	size_t reported;   /* hits then */
	bool is_stopped;
} search;

static bool
is_full(const search *s)
{
	return s->hit_count >= s->limit;
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
	to->items[to->count++] = (candidate){body, entry};
	return true;
}

static void
ask_index(search *s, rt_scope *scope, rt_str words, rt_store_find how, candidates *to)
{
	rt_store *store = s->engine->store;
	collecting c = {scope, to};

	RT_TRY(scope, store->ops->index_find(store, s->engine->project, words, how, add_candidate,
					     &c, &scope->error));
}

static int
by_body(const void *a, const void *b)
{
	uint64_t x = ((const candidate *)a)->body, y = ((const candidate *)b)->body;

	return (x > y) - (x < y);
}

/* Keeps those candidates that are (or, is_not, are not) in the index under a term. */
static void
narrow(search *s, const rt_query_term *term)
{
	candidates set = {0};
	size_t kept = 0;

	rt_scope_reset(s->body);
	ask_index(s, s->body, term->text, RT_FIND_PHRASE, &set);
	if (rt_scope_adopt(s->scope, s->body) != RT_OK)
		return;
	if (set.count > 1)
		qsort(set.items, set.count, sizeof(*set.items), by_body);
	for (size_t i = 0; i < s->list.count; i++) {
		bool in = set.count > 0 && bsearch(&s->list.items[i], set.items, set.count,
						   sizeof(*set.items), by_body) != NULL;

		if (in != term->is_not)
			s->list.items[kept++] = s->list.items[i];
	}
	s->list.count = kept;
}

/* The index's hits: the words together, best first, then narrowed by the other terms. false: the
 * query has no indexed word. */
static bool
find_candidates(search *s)
{
	const rt_query *q = &s->query;
	const rt_query_term *first = NULL;
	rt_buf *words = rt_scope_buf(s->scope);

	for (size_t i = 0; i < q->count; i++) {
		if (q->terms[i].is_not || q->terms[i].kind != RT_TERM_WORD)
			continue;
		if (words->size > 0)
			rt_buf_add_byte(words, ' ');
		rt_buf_add_str(words, q->terms[i].text);
	}
	rt_str all = rt_scope_str(s->scope, words);

	if (all.size > 0)
		ask_index(s, s->scope, all, RT_FIND_ALL_WORDS, &s->list);
	for (size_t i = 0; i < q->count && all.size == 0 && first == NULL; i++)
		if (!q->terms[i].is_not && q->terms[i].kind == RT_TERM_PHRASE) {
			first = &q->terms[i];
			ask_index(s, s->scope, first->text, RT_FIND_PHRASE, &s->list);
		}
	for (size_t i = 0; rt_ok(s->scope) && i < q->count && s->list.count > 0; i++) {
		const rt_query_term *t = &q->terms[i];

		if (t != first && t->kind != RT_TERM_LITERAL &&
		    (t->is_not || t->kind == RT_TERM_PHRASE))
			narrow(s, t);
	}
	return all.size > 0 || first != NULL;
}

/* ---- hits ---- */

static bool
role_fits(const search *s, rt_str role)
{
	return (s->options->role.size == 0 ||
		rt_role_same(s->project, role, s->options->role)) &&
	       (s->query.role.size == 0 ||
		rt_role_same(s->project, role, s->query.role));
}

static bool
time_fits(const search *s, const rt_slot *slot)
{
	return !s->query.has_time ||
	       ((slot->flags & RT_SLOT_NO_TS) == 0 && slot->ts_us >= s->query.from_us &&
		slot->ts_us < s->query.to_us);
}

/* Signs are not in the index. */
static bool
literals_fit(const search *s, rt_str text)
{
	for (size_t i = 0; i < s->query.count; i++) {
		const rt_query_term *t = &s->query.terms[i];
		size_t size;

		if (t->kind == RT_TERM_LITERAL &&
		    (rt_query_term_find(text, t, false, 0, &size) == SIZE_MAX) != t->is_not)
			return false;
	}
	return true;
}

static void
add_hit(search *s, const rt_disc *disc, const rt_take *take, size_t at, const rt_slot *slot)
{
	rt_scope *scope = s->scope;
	rt_str role = rt_view_name(scope, s->project, slot->role);
	rt_view view = {s->body, s->engine, s->project, {0, 0}};

	if (!rt_ok(scope) || !time_fits(s, slot) || !role_fits(s, role))
		return;
	rt_scope_reset(s->body);
	const rt_body *body = rt_view_body(&view, slot->body);
	rt_buf *text = rt_scope_buf(s->body), *snippet = rt_scope_buf(s->body);

	if (body != NULL)
		rt_body_add_text(text, body);
	rt_str shown = rt_scope_str(s->body, text);

	if (rt_scope_adopt(scope, s->body) != RT_OK || !literals_fit(s, shown))
		return;
	rt_query_add_snippet(snippet, &s->query, shown);
	rt_str marked = rt_scope_str(s->body, snippet);
	rt_hit *hits = rt_scope_adopt(scope, s->body) == RT_OK
			       ? rt_scope_grow(scope, s->hits, s->hit_count, &s->hit_capacity,
					   sizeof(*hits))
			       : NULL;

	if (hits == NULL)
		return;
	s->hits = hits;
	hits[s->hit_count] = (rt_hit){
		.disc = disc->number,
		.discussion = rt_cell_name(rt_project_cell(s->project, disc->number)),
		.take_number = take->number,
		.take = rt_text_str(take->name),
		.entry = slot->entry,
		.id = rt_view_id(scope, s->project, slot->entry),
		.role = role,
		.at = at + 1,
		.has_time = (slot->flags & RT_SLOT_NO_TS) == 0,
		.time = rt_slot_moment(slot),
		.snippet = rt_scope_copy(scope, marked),
	};
	s->hit_count += rt_ok(scope);
}

/* The hit of a body in one discussion, in the first of its takes that shows it. */
static void
place_in(search *s, const rt_disc *disc, candidate c)
{
	for (size_t i = 0; rt_ok(s->scope) && i <= rt_disc_take_count(disc); i++) {
		uint32_t number = i == 0 ? disc->active : (uint32_t)i; /* the active one first */
		const rt_take *take = rt_disc_take(disc, number);
		bool found = false;
		rt_slot slot;
		size_t at;

		if (take == NULL || !take->present || (i > 0 && number == disc->active))
			continue;
		RT_TRY(s->scope, rt_take_find(s->project, take, (uint32_t)c.entry, &at, &slot,
					       &found, &s->scope->error));
		if (rt_ok(s->scope) && found && slot.body == c.body) {
			add_hit(s, disc, take, at, &slot);
			return;
		}
	}
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

/* Every discussion that shows the body now has a hit: the one where its entry was made, and those
 * made from its takes. */
static void
place(search *s, candidate c)
{
	const rt_disc *disc;
	rt_slot home;
	bool found = false;
	rt_scope *scope = s->scope;

	if (c.entry == 0 || c.entry >= s->project->next_entry)
		return;
	if (s->seeded == NULL)
		find_seeded(s);
	RT_TRY(scope,
	       rt_project_entry(s->project, (uint32_t)c.entry, &home, &found, &scope->error));
	if (!rt_ok(scope) || !found)
		return;
	if (is_searched(s, home.entry) &&
	    RT_TRY(scope, rt_project_disc(s->project, home.entry, &disc, &scope->error)) == RT_OK)
		place_in(s, disc, c);
	for (size_t i = 0; rt_ok(scope) && i < s->seeded_count && !is_full(s); i++) {
		bool knew = false;

		if (s->seeded[i] == home.entry)
			continue;
		RT_TRY(scope, rt_project_disc(s->project, s->seeded[i], &disc, &scope->error));
		RT_TRY(scope,
		       rt_disc_knew(s->project, disc, (uint32_t)c.entry, &knew, &scope->error));
		if (rt_ok(scope) && knew)
			place_in(s, disc, c);
	}
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
			place(s, (candidate){b->items[i].number, b->items[i].entry});
	}
}

static bool
is_beyond_ascii(const rt_query *q)
{
	for (size_t i = 0; i < q->count; i++)
		for (size_t j = 0; !q->terms[i].is_not && j < q->terms[i].text.size; j++)
			if ((unsigned char)q->terms[i].text.ptr[j] >= 0x80)
				return true;
	return false;
}

/* ---- all of it ---- */

static void
run(search *s)
{
	uint64_t mark = 0;

	if (!find_candidates(s)) {
		scan(s, 1);
		return;
	}
	for (size_t i = 0; i < s->list.count && !is_full(s) && goes_on(s, i, s->list.count); i++)
		place(s, s->list.items[i]);
	RT_TRY(s->scope, rt_engine_head(s->engine, RT_STORE_INDEX, &mark, &s->scope->error));
	scan(s, mark + 1);
	if (s->hit_count == 0 && is_beyond_ascii(&s->query)) {
		s->query.substring = true;
		scan(s, 1);
	}
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
		    .query = rt_query_parse(options->query),
		    .limit = options->limit != 0 ? options->limit : LIMIT_DEFAULT};

	if (options->disc != 0 && rt_project_cell(s.project, options->disc) == NULL)
		(void)rt_scope_fail(scope, RT_NOT_FOUND, "no discussion d%u", options->disc);
	if (s.query.not_time.ptr != NULL)
		(void)rt_scope_fail(scope, RT_USAGE,
				    "\"%.*s\" is not a date, as in after:2026-11-18; in double quotes it "
				    "is searched for as a text",
				    RT_STR_ARG(s.query.not_time));
	if (rt_ok(scope) && (s.query.count > 0 || s.query.role.size > 0 || s.query.has_time)) {
		s.to = INDEX_PERCENT;
		/* If it cannot be brought up to date, the rest is read. */
		if (!s.engine->read_only &&
		    rt_engine_index_with(s.engine, goes_on, &s, NULL) == RT_NOMEM)
			rt_scope_nomem(scope);
		s.from = s.percent; /* nothing to index: the whole way is left */
		s.to = 100;
		if (goes_on(&s, 0, 1))
			run(&s);
	}
	return rt_ok(scope) ? (rt_hits){s.hits, s.hit_count} : (rt_hits){0};
}

/* ---- snippets ---- */

bool
rt_highlight_next(rt_str *snippet, bool *inside, rt_str *out)
{
	size_t end = 0;

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
		put_marks(buf, hits.items[i].snippet);
		rt_json_close(buf, '}');
	}
	rt_buf_add_byte(buf, ']');
}

rt_status
rt_view_search(rt_engine *engine, const rt_project *project, rt_str query, uint32_t disc,
	       rt_str role, size_t limit, rt_buf *buf, rt_error *err)
{
	rt_search options = {.query = query, .disc = disc, .role = role, .limit = limit};
	rt_scope s;
	rt_view view = {&s, engine, project, {0, 0}};

	rt_scope_init(&s, engine->alloc);
	rt_hits_write(buf, rt_search_run(&view, &options));
	(void)rt_scope_note(&s, buf->status);
	return rt_scope_end(&s, err);
}
