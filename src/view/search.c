/* SPDX-License-Identifier: MIT
 *
 * Search. The index is brought up to date first; where that cannot be (the store is read-only, or
 * somebody else is writing), the bodies after its mark are read instead.
 *
 *   query ── index ──┐
 *                    ├── bodies ── still an entry's text now? ── hits
 *   what is not in ──┘
 *
 * The index knows every revision there ever was; a hit counts only when a present take
 * shows that body now. Scripts without spaces between words fall through the index, so a
 * query that is not plain ASCII and found nothing is looked for in the texts themselves,
 * anywhere in a word; so are queries of which the index knows nothing (signs only, a role
 * only).
 *
 * After the first failure (search.scope) nothing more is looked for. */
#include "view/search.h"

#include <stdlib.h> /* qsort, bsearch */

#include "codec/json.h"
#include "log/engine_impl.h"
#include "log/index.h"
#include "view/search_impl.h"

enum {
	SCAN_BODIES = 256,  /* read at once, where the index knows nothing */
	INDEX_PERCENT = 80, /* of the way, where the index has to be made first */
	LIMIT_DEFAULT = 50
};

typedef struct candidate {
	uint64_t body, entry;
} candidate;

typedef struct candidates {
	candidate *items;
	size_t count, room;
} candidates;

typedef struct search {
	rt_engine *engine;
	rt_scope scope;
	const rt_project *project;
	const rt_search *how;
	rt_query query;
	size_t left;     /* how many more hits */
	candidates list; /* best first */
	uint32_t *
		seeded; /* discussions that were made out of takes of others; NULL: not known yet */
	size_t seeded_count;
	rt_buf *out;  /* "[{…},{…}" so far … */
	size_t begin; /* … from this byte on */
	/* progress */
	unsigned from, to; /* percents of the part that is under way */
	unsigned percent;  /* reported last */
	size_t size;       /* of out then */
	bool is_stopped;
} search;

static void
nomem(search *s)
{
	rt_scope_fail(&s->scope, RT_NOMEM, "out of memory while searching");
}

/* done of all of this part. false: stop, whether asked to or failed. */
static bool
goes_on(void *ctx, uint64_t done, uint64_t all)
{
	search *s = ctx;
	const rt_search *how = s->how;
	unsigned percent = s->from + (unsigned)(all == 0 ? 0 : done * (s->to - s->from) / all);

	s->is_stopped = s->is_stopped || (how->stop != NULL && how->stop(how->ctx));
	if (s->is_stopped || !rt_ok(&s->scope))
		return false;
	if (how->told == NULL || (percent <= s->percent && s->out->size == s->size))
		return true;
	s->percent = percent > s->percent ? percent : s->percent;
	s->size = s->out->size;
	rt_buf_add_byte(s->out, ']');
	if (s->out->status == RT_OK) {
		how->told(how->ctx, s->percent,
			  rt_str_at(s->out->ptr + s->begin, s->out->size - s->begin));
		s->out->size = s->size;
		s->out->ptr[s->size] = '\0';
	}
	return true;
}

/* ---- candidates ---- */

typedef struct collecting {
	search *search;
	candidates *to;
} collecting;

static bool
add_candidate(void *ctx, uint64_t body, uint64_t entry)
{
	collecting *c = ctx;
	candidates *to = c->to;

	if (to->count == to->room) {
		size_t room = to->room == 0 ? 256 : to->room * 2;
		candidate *items = rt_resize(c->search->engine->alloc, to->items,
					     room * sizeof(*items));

		if (items == NULL) {
			nomem(c->search);
			return false;
		}
		to->items = items;
		to->room = room;
	}
	to->items[to->count++] = (candidate){body, entry};
	return true;
}

static void
ask_index(search *s, rt_str words, rt_store_find how, candidates *to)
{
	collecting c = {s, to};

	RT_TRY(&s->scope,
	       s->engine->store->ops->index_find(s->engine->store, s->engine->project, words, how,
						 add_candidate, &c, &s->scope.error));
}

static int
by_body(const void *a, const void *b)
{
	uint64_t x = ((const candidate *)a)->body, y = ((const candidate *)b)->body;

	return (x > y) - (x < y);
}

/* Keep of the candidates those that are (or, is_not, are not) in the index under a term. */
static void
narrow(search *s, const rt_term *term)
{
	candidates set = {0};
	size_t kept = 0;

	ask_index(s, term->text, RT_FIND_PHRASE, &set);
	if (set.count > 1)
		qsort(set.items, set.count, sizeof(*set.items), by_body);
	for (size_t i = 0; rt_ok(&s->scope) && i < s->list.count; i++) {
		bool in = set.count > 0 && bsearch(&s->list.items[i], set.items, set.count,
						   sizeof(*set.items), by_body) != NULL;

		if (in != term->is_not)
			s->list.items[kept++] = s->list.items[i];
	}
	s->list.count = kept;
	rt_free(s->engine->alloc, set.items);
}

/* What the index has: the words together, best first, then narrowed by the other terms.
 * false: the query has nothing that the index knows. */
static bool
find_candidates(search *s)
{
	const rt_query *q = &s->query;
	const rt_term *first = NULL;
	rt_buf *words = rt_scope_buf(&s->scope);

	for (size_t i = 0; i < q->count; i++) {
		if (q->terms[i].is_not || q->terms[i].kind != RT_TERM_WORD)
			continue;
		if (words->size > 0)
			rt_buf_add_byte(words, ' ');
		rt_buf_add_str(words, q->terms[i].text);
	}
	if (words->status != RT_OK)
		nomem(s);
	if (words->size > 0)
		ask_index(s, rt_buf_str(words), RT_FIND_ALL_WORDS, &s->list);
	for (size_t i = 0; i < q->count && words->size == 0 && first == NULL; i++)
		if (!q->terms[i].is_not && q->terms[i].kind == RT_TERM_PHRASE) {
			first = &q->terms[i];
			ask_index(s, first->text, RT_FIND_PHRASE, &s->list);
		}
	for (size_t i = 0; rt_ok(&s->scope) && i < q->count && s->list.count > 0; i++) {
		const rt_term *t = &q->terms[i];

		if (t != first && t->kind != RT_TERM_LITERAL &&
		    (t->is_not || t->kind == RT_TERM_PHRASE))
			narrow(s, t);
	}
	return words->size > 0 || first != NULL;
}

/* ---- hits ---- */

static bool
role_fits(const search *s, rt_str role)
{
	return (s->how->role.size == 0 || rt_str_eq_nocase(role, s->how->role)) &&
	       (s->query.role.size == 0 || rt_str_eq_nocase(role, s->query.role));
}

/* Signs are not in the index. */
static bool
literals_fit(const search *s, rt_str text)
{
	for (size_t i = 0; i < s->query.count; i++) {
		const rt_term *t = &s->query.terms[i];
		size_t size;

		if (t->kind == RT_TERM_LITERAL &&
		    (rt_term_find(text, t, false, 0, &size) == SIZE_MAX) != t->is_not)
			return false;
	}
	return true;
}

static void
add_hit(search *s, const rt_disc *disc, const rt_take *take, size_t at, const rt_slot *slot)
{
	char id[RT_ID_MAX + 1];
	rt_buf bytes, text;
	rt_body body;
	rt_str role;
	rt_scope *c = &s->scope;

	RT_TRY(c, rt_project_name(s->project, slot->role, &role, &c->error));
	if (!rt_ok(c) || !role_fits(s, role))
		return;
	RT_TRY(c, rt_entry_id(s->project, slot->entry, id, &c->error));
	RT_TRY(c, rt_engine_body(s->engine, slot->body, &bytes, &body, &c->error));
	if (!rt_ok(c))
		return;
	rt_buf_init(&text, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_body_add_text(&text, &body);
	if (text.status != RT_OK) {
		nomem(s);
	} else if (literals_fit(s, rt_buf_str(&text))) {
		rt_json_open(s->out, NULL, '{');
		rt_json_put_str(s->out, "discussion",
				rt_cell_name(rt_project_cell(s->project, disc->number)));
		rt_json_put_str(s->out, "take", rt_text_str(take->name));
		rt_json_put_str(s->out, "id", rt_str_of(id));
		rt_json_put_str(s->out, "role", role);
		rt_json_put_u64(s->out, "at", at + 1);
		rt_json_add_key(s->out, "snippet");
		rt_query_add_snippet(s->out, &s->query, rt_buf_str(&text));
		rt_json_close(s->out, '}');
		s->left--;
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	rt_buf_deinit(&text);
}

/* The hit of a body in one discussion, in the first of its takes that shows it. */
static void
place_in(search *s, const rt_disc *disc, candidate c)
{
	for (size_t i = 0; rt_ok(&s->scope) && i <= rt_disc_take_count(disc); i++) {
		uint32_t number = i == 0 ? disc->active : (uint32_t)i; /* the active one first */
		const rt_take *take = rt_disc_take(disc, number);
		bool found = false;
		rt_slot slot;
		size_t at;

		if (take == NULL || !take->present || (i > 0 && number == disc->active))
			continue;
		RT_TRY(&s->scope, rt_take_find(s->project, take, (uint32_t)c.entry, &at, &slot,
					       &found, &s->scope.error));
		if (rt_ok(&s->scope) && found && slot.body == c.body) {
			add_hit(s, disc, take, at, &slot);
			return;
		}
	}
}

static bool
is_searched(const search *s, uint32_t disc)
{
	const rt_cell *cell = rt_project_cell(s->project, disc);

	return cell != NULL && (s->how->disc != 0 ? disc == s->how->disc : cell->present);
}

static void
find_seeded(search *s)
{
	size_t count = rt_project_disc_count(s->project);

	s->seeded = rt_scope_array(&s->scope, count + 1, sizeof(*s->seeded));
	for (uint32_t i = 1; rt_ok(&s->scope) && i <= count; i++) {
		const rt_disc *disc;

		if (is_searched(s, i) &&
		    RT_TRY(&s->scope, rt_project_disc(s->project, i, &disc, &s->scope.error)) ==
			    RT_OK &&
		    disc->seed != NULL)
			s->seeded[s->seeded_count++] = i;
	}
}

/* Every discussion that shows the body now has a hit: the one where its entry was made, and
 * those that were made out of takes. */
static void
place(search *s, candidate c)
{
	const rt_disc *disc;
	rt_slot home;
	bool found = false;
	rt_scope *scope = &s->scope;

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
	for (size_t i = 0; rt_ok(scope) && i < s->seeded_count && s->left > 0; i++) {
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

/* Read the bodies from first on and place those that answer to the query. */
static void
scan(search *s, uint64_t first)
{
	uint64_t head = 0, begin = first - 1;
	rt_batch *b;

	RT_TRY(&s->scope, rt_engine_head(s->engine, RT_STORE_BODIES, &head, &s->scope.error));
	if (!rt_ok(&s->scope) || first > head)
		return;
	b = rt_batch_new(s->engine->alloc);
	if (b == NULL) {
		nomem(s);
		return;
	}
	b->wants = answers;
	b->ctx = &s->query;
	for (; first <= head && s->left > 0 && goes_on(s, first - begin, head - begin);
	     first = b->last + 1) {
		RT_TRY(&s->scope,
		       rt_batch_read(s->engine, b, first,
				     head - first < SCAN_BODIES ? head : first + SCAN_BODIES,
				     &s->scope.error));
		for (size_t i = 0; rt_ok(&s->scope) && i < b->count && s->left > 0 &&
				   goes_on(s, first - begin, head - begin);
		     i++)
			place(s, (candidate){b->items[i].number, b->items[i].entry});
	}
	rt_batch_free(b);
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
	size_t left = s->left;
	uint64_t mark = 0;

	if (!find_candidates(s)) {
		scan(s, 1);
		return;
	}
	for (size_t i = 0; i < s->list.count && s->left > 0 && goes_on(s, i, s->list.count); i++)
		place(s, s->list.items[i]);
	RT_TRY(&s->scope, rt_engine_head(s->engine, RT_STORE_INDEX, &mark, &s->scope.error));
	scan(s, mark + 1);
	if (s->left == left && is_beyond_ascii(&s->query)) {
		s->query.substring = true;
		scan(s, 1);
	}
}

rt_status
rt_view_search_on(rt_engine *engine, const rt_project *project, const rt_search *how, rt_buf *buf,
		  rt_error *err)
{
	search s = {.engine = engine,
		    .project = project,
		    .how = how,
		    .query = rt_query_parse(how->query),
		    .left = how->limit != 0 ? how->limit : LIMIT_DEFAULT,
		    .out = buf,
		    .begin = buf->size};

	if (how->disc != 0 && rt_project_cell(project, how->disc) == NULL)
		return rt_fail(err, RT_NOT_FOUND, "no discussion d%u", how->disc);
	rt_scope_init(&s.scope, engine->alloc);
	rt_buf_add_byte(buf, '[');
	if (s.query.count > 0 || s.query.role.size > 0) {
		s.to = INDEX_PERCENT;
		/* Where it cannot be brought up to date, the rest is read. */
		if (!engine->read_only &&
		    rt_engine_index_with(engine, goes_on, &s, NULL) == RT_NOMEM)
			nomem(&s);
		s.from = s.percent; /* nothing to index: the whole way is left */
		s.to = 100;
		if (goes_on(&s, 0, 1))
			run(&s);
	}
	rt_buf_add_byte(buf, ']');
	rt_free(engine->alloc, s.list.items);
	if (buf->status != RT_OK)
		rt_scope_fail(&s.scope, buf->status, "out of memory while searching");
	return rt_scope_end(&s.scope, err);
}

rt_status
rt_view_search(rt_engine *engine, const rt_project *project, rt_str text, uint32_t disc,
	       rt_str role, size_t limit, rt_buf *buf, rt_error *err)
{
	rt_search how = {.query = text, .disc = disc, .role = role, .limit = limit};

	return rt_view_search_on(engine, project, &how, buf, err);
}
