/* SPDX-License-Identifier: MIT
 *
 * All discussions, the takes of one of them, and a search over everything: what is typed chooses
 * discussions by their names, and below them stand the entries that hold it. Behind a "/" at the
 * beginning, entries alone.
 *
 * The search runs in a thread, one at a time; when the text changes meanwhile it is stopped and
 * runs again. What it finds is shown as it is found. */
#include <stdio.h>
#include <stdlib.h>

#include "app/host.h"
#include "view/highlight.h"
#include "tui/worker.h"
#include "tui/bar.h"
#include "tui/pending.h"
#include "tui/find.h"
#include "tui/terminal.h"
#include "tui/list.h"
#include "view/search.h"
#include "view/view.h"

enum {
	HITS = 200,
	DATE_MIN = 64, COUNTS_MIN = 46, /* columns from which on these are shown */
	DATE = 16, COUNTS = 24,
	NAME_MAX_HIT = 18, TAKE_MAX_HIT = 12, ROLE_MAX_HIT = 9
};

/* One of these, or a take of the discussion above it. */
typedef struct row {
	yyjson_val *disc;
	yyjson_val *take;
	yyjson_val *hit;
} row;

/* One search, in its thread. */
typedef struct find_job {
	rt_worker worker;
	const rt_alloc *alloc;
	rt_engine *engine;
	const rt_project *value; /* its own reference */
	rt_buf query, json;
	rt_status status;
	rt_error error;
	/* What was found so far. */
	pthread_mutex_t lock;
	rt_buf part; /* JSON, as json will be */
	unsigned part_change; /* rises with it */
	atomic_uint percent;
} find_job;

/* A row that is not a hit; disc 0: none. */
typedef struct place {
	uint32_t disc, take; /* take 0: the discussion itself */
} place;

typedef struct discussions {
	rt_pane pane; /* first */
	rt_json_doc *doc;   /* all discussions */
	rt_json_doc *takes; /* of the one that is open; or NULL */
	uint32_t open;      /* its number; 0: none */
	row *rows;
	size_t room;
	rt_list list;
	uint64_t seen;      /* value_change of doc */

	rt_field *query;
	rt_buf typed;       /* what it was when rows were made of it */
	place before;       /* the cursor when the search began */
	bool is_moved;      /* by the user, since then */
	bool has_deleted;   /* those that are out of the catalogue, too */
	int columns;
	find_job *job;      /* NULL: none */
	rt_json_doc *hits;  /* for hits_query; or NULL */
	rt_buf hits_query;
	rt_buf problem;     /* why there are none; or empty */
	bool is_searched;   /* hits are those of the value at hand */
	unsigned part_seen; /* of the job: part_change */
} discussions;

static discussions *
of(rt_pane *pane)
{
	return (discussions *)pane;
}

static rt_str
text_of(yyjson_val *object, const char *key)
{
	return rt_json_str(rt_json_get(object, key));
}

static size_t
count_of(yyjson_val *object, const char *key)
{
	uint64_t number = 0;

	(void)rt_json_u64(rt_json_get(object, key), &number);
	return (size_t)number;
}

/* Of "d3", "t2". */
static uint32_t
number_of(yyjson_val *object)
{
	rt_str id = text_of(object, "id");
	uint32_t number = 0;
	size_t i;

	for (i = 1; i < id.size && i < 10; i++)
		number = number * 10 + (uint32_t)(id.ptr[i] - '0');
	return number;
}

static const row *
at_cursor(const discussions *d)
{
	return d->list.count > 0 ? &d->rows[d->list.at] : NULL;
}

static place
place_of(const row *r)
{
	if (r == NULL || r->disc == NULL)
		return (place){0};
	return (place){number_of(r->disc), r->take != NULL ? number_of(r->take) : 0};
}

/* The cursor to that row, or to its discussion; it stays where there is neither. */
static void
select_place(discussions *d, place p)
{
	size_t i;

	for (i = 0; i < d->list.count && p.disc != 0; i++)
		if (d->rows[i].disc != NULL && number_of(d->rows[i].disc) == p.disc &&
		    (d->rows[i].take == NULL || number_of(d->rows[i].take) == p.take))
			d->list.at = i;
}

/* What entries are to hold; empty: none is searched. */
static rt_str
searched(const discussions *d)
{
	rt_str text = rt_field_text(d->query);

	return text.size > 0 && text.ptr[0] == '/' ? rt_str_at(text.ptr + 1, text.size - 1) : text;
}

static bool
is_present(yyjson_val *disc)
{
	return !yyjson_is_false(rt_json_get(disc, "present"));
}

/* --- rows --- */

static rt_status
add_row(discussions *d, size_t *count, row new)
{
	void *rows = d->rows;

	if (rt_list_add(&d->pane.tui->scope, &rows, *count, &d->room, sizeof(row)) == NULL)
		return RT_NOMEM;
	d->rows = rows;
	d->rows[(*count)++] = new;
	return RT_OK;
}

/* By what their names begin with, then as they were made. */
static int
compare_takes(const void *a, const void *b)
{
	const row *x = a, *y = b;
	int order = rt_str_cmp(text_of(x->take, "base"), text_of(y->take, "base"));
	uint32_t m = number_of(x->take), n = number_of(y->take);

	return order != 0 ? order : m < n ? -1 : m > n;
}

static rt_status
lay_out(discussions *d)
{
	rt_str query = rt_field_text(d->query);
	bool is_for_entries = query.size > 0 && query.ptr[0] == '/';
	size_t i, j, max, others, count = 0;
	yyjson_val *disc, *other;
	rt_status st = RT_OK;

	yyjson_arr_foreach(rt_json_root(d->doc), i, max, disc) {
		size_t first;

		if (is_for_entries || !rt_find_holds(text_of(disc, "name"), query))
			continue;
		if (st == RT_OK)
			st = add_row(d, &count, (row){.disc = disc});
		if (d->takes == NULL || number_of(disc) != d->open)
			continue;
		first = count;
		yyjson_arr_foreach(rt_json_root(d->takes), j, others, other)
			if (st == RT_OK)
				st = add_row(d, &count, (row){.disc = disc, .take = other});
		if (st == RT_OK)
			qsort(d->rows + first, count - first, sizeof(row), compare_takes);
	}
	if (searched(d).size > 0 && d->hits != NULL)
		yyjson_arr_foreach(rt_json_root(d->hits), i, max, other)
			if (st == RT_OK)
				st = add_row(d, &count, (row){.hit = other});
	rt_list_count(&d->list, st == RT_OK ? count : 0);
	return st;
}

static rt_status
read_json(discussions *d, rt_status status, const rt_buf *json, rt_json_doc **out, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_status st = status == RT_OK
			       ? rt_json_read(d->pane.tui->alloc, rt_buf_str(json), &doc, err)
			       : status;

	if (st == RT_OK) {
		rt_json_free(*out);
		*out = doc;
	}
	return st;
}

/* The lists of the value at hand; the cursor stays on the discussion and take that it was on. */
static rt_status
reload(discussions *d)
{
	rt_work *work = &d->pane.tui->work;
	place was = place_of(at_cursor(d));
	rt_error err;
	rt_status st;
	rt_buf json;

	d->seen = work->value_change;
	d->is_searched = false;
	rt_buf_init(&json, d->pane.tui->alloc, RT_BUF_UNLIMITED);
	d->list.count = 0; /* rows point into what goes */
	st = read_json(d, rt_view_discussions(work->engine, work->value, d->has_deleted, &json,
					      &err), &json,
		       &d->doc, &err);
	if (st == RT_OK && d->open != 0 &&
	    (rt_project_cell(work->value, d->open) == NULL ||
	     !rt_project_cell(work->value, d->open)->present))
		d->open = 0;
	if (st == RT_OK && d->open != 0) {
		rt_buf_clear(&json);
		st = read_json(d, rt_view_takes(work->engine, work->value, d->open, false, &json, &err),
			       &json, &d->takes, &err);
	}
	rt_buf_deinit(&json);
	if (st != RT_OK && st != RT_NOMEM) {
		rt_tui_say_error(d->pane.tui, &err, rt_str_at(NULL, 0));
		return RT_OK;
	}
	if (st == RT_OK)
		st = lay_out(d);
	select_place(d, was);
	return st;
}

/* --- the search --- */

static bool
is_unwanted(void *ctx)
{
	find_job *job = ctx;

	return !rt_worker_is_wanted(&job->worker);
}

static void
on_search_progress(void *ctx, unsigned percent, rt_str hits)
{
	find_job *job = ctx;

	(void)pthread_mutex_lock(&job->lock);
	if (hits.size != job->part.size) {
		rt_buf_clear(&job->part);
		rt_buf_add_str(&job->part, hits);
		job->part_change++;
	}
	(void)pthread_mutex_unlock(&job->lock);
	if (atomic_exchange(&job->percent, percent) != percent && job->worker.terminal != NULL)
		rt_terminal_wake(job->worker.terminal);
}

static void
run_search(rt_worker *worker, void *ctx)
{
	find_job *job = ctx;
	rt_search search = {.query = rt_buf_str(&job->query), .role = RT_STR(""), .limit = HITS,
			    .stop = is_unwanted, .told = on_search_progress, .ctx = job};

	(void)worker;
	job->status = rt_view_search_on(job->engine, job->value, &search, &job->json, &job->error);
}

static void
free_job(void *ctx)
{
	find_job *job = ctx;

	rt_object_unref(job->value);
	rt_buf_deinit(&job->query);
	rt_buf_deinit(&job->json);
	rt_buf_deinit(&job->part);
	(void)pthread_mutex_destroy(&job->lock);
	rt_free(job->alloc, job);
}

static rt_status
start_search(discussions *d)
{
	rt_tui *tui = d->pane.tui;
	find_job *job = rt_new0(tui->alloc, sizeof(*job));
	rt_status st;

	if (job == NULL)
		return RT_NOMEM;
	job->alloc = tui->alloc;
	job->engine = tui->work.engine;
	job->value = rt_object_ref(tui->work.value);
	rt_buf_init(&job->query, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&job->json, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&job->part, tui->alloc, RT_BUF_UNLIMITED);
	(void)pthread_mutex_init(&job->lock, NULL);
	atomic_init(&job->percent, 0);
	d->part_seen = 0;
	rt_buf_add_str(&job->query, searched(d));
	st = job->query.status;
	if (st == RT_OK)
		st = rt_worker_start(&job->worker, tui, run_search, job);
	if (st == RT_OK)
		d->job = job;
	else
		free_job(job);
	return st;
}

static bool
is_answered(const discussions *d)
{
	return d->is_searched &&
	       rt_str_eq(rt_buf_str(&d->hits_query), searched(d));
}

static rt_status
collect_hits(discussions *d)
{
	find_job *job = d->job;
	rt_status st;

	d->job = NULL;
	if (!rt_worker_is_wanted(&job->worker)) { /* what it has is not all that there is */
		free_job(job);
		return RT_OK;
	}
	d->list.count = 0; /* rows point into what goes */
	rt_json_free(d->hits);
	d->hits = NULL;
	rt_buf_clear(&d->problem);
	st = read_json(d, job->status, &job->json, &d->hits, &job->error);
	if (st != RT_OK && st != RT_NOMEM) {
		rt_buf_add_c(&d->problem, job->error.text);
		st = RT_OK;
	}
	rt_buf_clear(&d->hits_query);
	rt_buf_add_str(&d->hits_query, rt_buf_str(&job->query));
	if (st == RT_OK)
		st = d->hits_query.status;
	d->is_searched = job->value == d->pane.tui->work.value;
	free_job(job);
	return st == RT_OK ? lay_out(d) : st;
}

/* What the search has found so far. */
static rt_status
collect_partial_hits(discussions *d)
{
	find_job *job = d->job;
	size_t at = d->list.at;
	rt_status st = RT_OK;
	rt_error err;

	(void)pthread_mutex_lock(&job->lock);
	if (job->part_change != d->part_seen) {
		d->part_seen = job->part_change;
		d->list.count = 0; /* rows point into what goes */
		st = read_json(d, job->part.status, &job->part, &d->hits, &err);
		if (st == RT_OK)
			st = lay_out(d);
		d->list.at = at < d->list.count ? at : 0;
	}
	(void)pthread_mutex_unlock(&job->lock);
	return st;
}

static rt_status
tend(rt_pane *pane)
{
	discussions *d = of(pane);
	rt_status st = RT_OK;

	if (d->job != NULL && rt_worker_ended(&d->job->worker))
		st = collect_hits(d);
	else if (d->job != NULL && !rt_str_eq(rt_buf_str(&d->job->query), searched(d)))
		rt_worker_cancel(&d->job->worker);
	else if (d->job != NULL)
		st = collect_partial_hits(d);
	if (st != RT_OK || searched(d).size == 0 || is_answered(d) || d->job != NULL)
		return st;
	st = start_search(d);
	if (st == RT_BUSY) /* the next time, perhaps */
		return RT_OK;
	/* Without a terminal it is there already. */
	if (st == RT_OK && rt_worker_ended(&d->job->worker))
		st = collect_hits(d);
	return st;
}

static rt_status
changed(rt_pane *pane)
{
	discussions *d = of(pane);

	return d->seen == pane->tui->work.value_change ? RT_OK : reload(d);
}

/* --- drawing --- */

static void
draw_date(rt_canvas *canvas, rt_box box, int x, int y, rt_str at, const rt_alloc *alloc)
{
	rt_moment moment;
	rt_buf when;

	if (!rt_moment_parse(at, &moment))
		return;
	rt_buf_init(&when, alloc, 256);
	rt_host_add_local_time(&when, moment.us, false);
	(void)rt_canvas_put(canvas, box, x, y, rt_buf_str(&when), RT_INK_DIM);
	rt_buf_deinit(&when);
}

static void
draw_disc(discussions *d, rt_canvas *canvas, rt_box box, int y, yyjson_val *disc)
{
	bool is_here = number_of(disc) == d->pane.tui->work.place.disc;
	bool is_open = d->takes != NULL && number_of(disc) == d->open;
	size_t entries = count_of(disc, "entries"), takes = count_of(disc, "takes");
	int behind = is_here ? 6 : is_present(disc) ? 0 : 10; /* columns of the mark */
	int room = box.w - 1, x;

	if (box.w >= DATE_MIN) {
		room -= DATE + 1;
		draw_date(canvas, box, room + 1, y, text_of(disc, "updated"), d->pane.tui->alloc);
	}
	if (box.w >= COUNTS_MIN) {
		room -= COUNTS + 1;
		(void)rt_canvas_put_f(canvas, box, room + 1, y, RT_INK_DIM, "%zu entr%s%s", entries,
				      entries == 1 ? "y" : "ies", takes > 1 ? "," : "");
		if (takes > 1)
			(void)rt_canvas_put_f(canvas, box, room + 15, y, RT_INK_DIM, "%zu takes",
					      takes);
	}
	(void)rt_canvas_put(canvas, box, 1, y,
			    takes < 2 ? RT_STR(" ")
				      : rt_canvas_glyph(canvas, is_open ? RT_GLYPH_OPEN
									: RT_GLYPH_CLOSED),
			    RT_INK_DIM);
	x = rt_canvas_put_name(canvas, box, 3, y, room - 3 - behind,
			       text_of(disc, "name"),
			       is_here ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_TEXT);
	if (!is_present(disc))
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "(deleted)", RT_INK_DIM);
	if (is_here) {
		x = rt_canvas_put(canvas, box, x + 1, y,
				  rt_canvas_glyph(canvas, RT_GLYPH_LEFT_ARROW), RT_INK_GOOD);
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "now", RT_INK_GOOD);
	}
}

static void
draw_take(discussions *d, rt_canvas *canvas, rt_box box, int y, const row *r)
{
	const rt_work *work = &d->pane.tui->work;
	bool is_active = yyjson_is_true(rt_json_get(r->take, "active"));
	bool is_here = number_of(r->disc) == work->place.disc &&
		       number_of(r->take) == work->place.take;
	size_t entries = count_of(r->take, "entries");
	int x = rt_str_eq(text_of(r->take, "base"), text_of(r->take, "name")) ? 5 : 7;
	int room = box.w - 1 - (box.w >= COUNTS_MIN ? COUNTS + 1 : 0) -
		   (box.w >= DATE_MIN ? DATE + 1 : 0);

	if (box.w >= COUNTS_MIN)
		(void)rt_canvas_put_f(canvas, box, room + 1, y, RT_INK_DIM, "%zu entr%s", entries,
				      entries == 1 ? "y" : "ies");
	x = rt_canvas_put_name(canvas, box, x, y, room - x - (is_active ? 9 : 0),
			       text_of(r->take, "name"),
			       is_here ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_TEXT);
	if (is_active)
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "(active)", RT_INK_GOOD);
}

/* The snippet with what matched in its ink, and where there is no colour that ink shows too. */
static void
draw_snippet(rt_canvas *canvas, rt_box box, int x, int y, rt_str snippet)
{
	bool inside = false;
	rt_str run;

	while (x < box.w && rt_highlight_next(&snippet, &inside, &run))
		x = rt_canvas_put(canvas, box, x, y, run, inside ? RT_INK_MATCH : RT_INK_TEXT);
}

static void
draw_hit(rt_canvas *canvas, rt_box box, int y, yyjson_val *hit)
{
	bool is_wide = box.w >= DATE_MIN;
	int x = 3;

	x = rt_canvas_put_name(canvas, box, x, y, is_wide ? NAME_MAX_HIT : NAME_MAX_HIT / 2,
			       text_of(hit, "discussion"), RT_INK_DIM) +
	    1;
	if (is_wide)
		x = rt_canvas_put_name(canvas, box, x, y, TAKE_MAX_HIT, text_of(hit, "take"),
				       RT_INK_DIM) +
		    1;
	x = rt_canvas_put_cut(canvas, box, x, y, ROLE_MAX_HIT, text_of(hit, "role"),
			      rt_role_ink(text_of(hit, "role"))) + 1;
	draw_snippet(canvas, box, x, y, text_of(hit, "snippet"));
}

static void
draw_title(discussions *d, rt_canvas *canvas, rt_box box)
{
	size_t hits = d->hits == NULL ? 0 : yyjson_arr_size(rt_json_root(d->hits));
	char right[80] = "";

	if (searched(d).size == 0)
		(void)snprintf(right, sizeof(right), "%zu", yyjson_arr_size(rt_json_root(d->doc)));
	else if (!is_answered(d))
		(void)snprintf(right, sizeof(right), "searching%s %u %%", canvas->utf8 ? "…" : "...",
			       d->job == NULL ? 0 : atomic_load(&d->job->percent));
	else
		(void)snprintf(right, sizeof(right), "%zu%s found", hits, hits == HITS ? "+" : "");
	rt_bar_draw(canvas, box, RT_STR("Discussions"), rt_str_of(right));
}

static void
draw_row(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row_number)
{
	discussions *d = ctx;
	const row *r = &d->rows[row_number];

	if (r->hit != NULL)
		draw_hit(canvas, box, y, r->hit);
	else if (r->take != NULL)
		draw_take(d, canvas, box, y, r);
	else
		draw_disc(d, canvas, box, y, r->disc);
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	discussions *d = of(pane);
	rt_box list = {box.x, box.y + 1, box.w, box.h - 1};

	d->columns = box.w;
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	draw_title(d, canvas, box);
	if (list.h > 1) {
		rt_field_draw(d->query, canvas,
			      rt_bar_ask(canvas, (rt_box){list.x, list.y, list.w, 1}, "Search:"),
			      RT_INK_TEXT, true);
		list.y++;
		list.h--;
	}
	rt_list_draw(&d->list, canvas, list, draw_row, d);
	if (d->list.count == 0 && d->problem.size > 0)
		(void)rt_canvas_put_cut(canvas, list, 3, 0, list.w - 3, rt_buf_str(&d->problem),
					RT_INK_ERROR);
	else if (d->list.count == 0 && (searched(d).size == 0 || is_answered(d)))
		(void)rt_canvas_put_c(canvas, list, 3, 0, "No match.", RT_INK_DIM);
}

/* --- changes --- */

/* What a name is asked for. */
typedef struct naming {
	rt_op_id op;
	uint32_t disc, take; /* take 0: the discussion */
} naming;

/* Requests that address a discussion, or a take of it, by its id. */
typedef struct addressed {
	char disc[24], take[24];
	rt_request request;
} addressed;

/* What its request points to is in *out itself. */
static void
address(addressed *out, rt_op_id op, uint32_t disc, uint32_t take)
{
	*out = (addressed){.request.op = op};
	(void)snprintf(out->disc, sizeof(out->disc), "d%u", disc);
	(void)snprintf(out->take, sizeof(out->take), "t%u", take);
	if (take != 0)
		out->request.discussion = rt_str_of(out->disc);
	if (disc != 0)
		out->request.target = rt_str_of(take != 0 ? out->take : out->disc);
}

/* All panes down to the chat. */
static void
to_chat(rt_tui *tui)
{
	if (tui->pane_count > 1)
		rt_tui_close(tui, tui->panes[1]);
}

/* What comes after a change, or where none was needed. */
typedef struct after {
	const char *words;        /* of what was done; NULL: the usual */
	uint32_t disc, take;      /* looked at then, active or not; disc 0: where it leads */
	bool is_active;           /* it is the active take that is looked at */
	bool is_left;             /* to the chat */
	char entry[RT_ID_MAX + 1]; /* to be shown there; or empty */
} after;

static rt_status
show_entry(rt_tui *tui, const char *id, rt_error *err)
{
	rt_work *work = &tui->work;
	rt_pane *chat = tui->panes[0];
	uint32_t entry = 0;
	size_t at;
	rt_status st = rt_resolve_entry(work->value, work->place, rt_str_of(id), true, &entry, err);

	if (st != RT_OK)
		return st;
	at = rt_work_position(work, entry);
	to_chat(tui);
	/* It learns where it is before it is told what to show there. */
	if (chat->ops->changed != NULL)
		st = rt_pane_changed(chat);
	if (at != SIZE_MAX)
		rt_tui_show_entry(tui, at);
	else
		rt_tui_say(tui, "The entry is not in this take any more");
	return st;
}

static rt_status
arrive(rt_tui *tui, const after *a)
{
	rt_work *work = &tui->work;
	rt_error err;
	rt_status st = RT_OK;

	/* What cannot be made active is looked at all the same. */
	if (a->disc != 0 && (work->place.disc != a->disc || work->place.take != a->take))
		st = rt_work_look_at(work, a->disc, a->is_active ? 0 : a->take, &err);
	if (st == RT_OK && a->entry[0] != 0)
		st = show_entry(tui, a->entry, &err);
	else if (st == RT_OK && a->is_left)
		to_chat(tui);
	if (st != RT_OK && st != RT_NOMEM) {
		rt_tui_say_error(tui, &err, rt_str_at(NULL, 0));
		st = RT_OK;
	}
	return st;
}

static rt_status
changed_it(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	const after *a = ctx;
	rt_status then;

	if (st == RT_OK && a->words != NULL) {
		rt_buf_clear(&said->words);
		rt_buf_add_c(&said->words, a->words);
	}
	then = rt_pending_change_report(tui, NULL, st, said, err);
	return then == RT_OK && st == RT_OK ? arrive(tui, a) : then;
}

static void
free_after(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

/* Failures are reported in the notice. */
static rt_status
change(rt_tui *tui, const rt_request *requests, size_t count, const after *then)
{
	rt_pending_change_options how = {
		.requests = requests, .count = count, .done = changed_it, .free_ctx = free_after};
	after *a = rt_new(tui->alloc, sizeof(*a));

	if (a == NULL)
		return RT_NOMEM;
	*a = *then;
	how.ctx = a;
	return rt_pending_change_start(tui, &how);
}

/* Look at this discussion and take (0: its active one), and show what is to be shown then. */
static rt_status
open_place(rt_tui *tui, uint32_t disc, uint32_t take, after *a)
{
	rt_work *work = &tui->work;
	const rt_disc *other = NULL;
	rt_error err;
	rt_status st = rt_project_disc(work->value, disc, &other, &err);
	uint32_t active = st == RT_OK ? other->active : 0;
	addressed there, in_it;
	rt_request requests[2];
	size_t count = 0;

	if (st != RT_OK) {
		if (st != RT_NOMEM)
			rt_tui_say_error(tui, &err, rt_str_at(NULL, 0));
		return st == RT_NOMEM ? st : RT_OK;
	}
	a->disc = disc;
	a->take = take != 0 ? take : active;
	a->is_left = true;
	a->words = disc != work->value->active ? "Switched discussions" : "Switched takes";
	if (disc != work->value->active) {
		address(&there, RT_OP_DISCUSSION_SWITCH, disc, 0);
		requests[count++] = there.request;
	}
	if (take != 0 && take != active) {
		address(&in_it, RT_OP_TAKE_SWITCH, disc, take);
		requests[count++] = in_it.request;
	}
	a->is_active = !work->read_only || a->take == active;
	return count > 0 && !work->read_only ? change(tui, requests, count, a) : arrive(tui, a);
}

/* To an entry that was found. */
static rt_status
go_to_hit(discussions *d, yyjson_val *hit)
{
	rt_tui *tui = d->pane.tui;
	rt_work *work = &tui->work;
	uint32_t disc = rt_project_disc_named(work->value, text_of(hit, "discussion"));
	const rt_disc *other = NULL;
	rt_str address = text_of(hit, "id");
	after a = {0};
	rt_error err;
	rt_status st;

	if (disc == 0 || address.size > RT_ID_MAX) {
		rt_tui_say(tui, "That discussion is not there any more");
		return RT_OK;
	}
	/* The hit's own text goes when the value changes. */
	memcpy(a.entry, address.ptr, address.size);
	a.entry[address.size] = 0;
	st = rt_project_disc(work->value, disc, &other, &err);
	if (st == RT_OK)
		return open_place(tui, disc, rt_disc_take_named(other, text_of(hit, "take")), &a);
	if (st != RT_NOMEM)
		rt_tui_say_error(tui, &err, rt_str_at(NULL, 0));
	return st == RT_NOMEM ? st : RT_OK;
}

static rt_status
accept(discussions *d)
{
	const row *r = at_cursor(d);
	rt_tui *tui = d->pane.tui;
	after a = {0};

	if (r == NULL)
		return RT_OK;
	if (r->hit != NULL)
		return go_to_hit(d, r->hit);
	if (!is_present(r->disc)) {
		rt_tui_say(tui, "That discussion was deleted; undo brings it back, or the history");
		return RT_OK;
	}
	return open_place(tui, number_of(r->disc), r->take != NULL ? number_of(r->take) : 0, &a);
}

static rt_status
named(rt_tui *tui, void *ctx, rt_str name)
{
	const naming *n = ctx;
	after a = {0};
	addressed change_of;

	if (name.ptr == NULL)
		return RT_OK;
	address(&change_of, n->op, n->disc, n->take);
	change_of.request.name = name;
	/* Where it leads to another discussion, that is what one wants to see. */
	a.is_left = n->op == RT_OP_DISCUSSION_NEW;
	return change(tui, &change_of.request, 1, &a);
}

static void
free_naming(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

static rt_status
ask_name(rt_tui *tui, const char *title, rt_str text, naming what)
{
	naming *n = rt_new(tui->alloc, sizeof(*n));

	if (n == NULL)
		return RT_NOMEM;
	*n = what;
	return rt_pane_ask(tui, title, text, false, named, n, free_naming);
}

/* A name nobody has yet: "discussion-2" … */
static rt_status
make_new(discussions *d)
{
	rt_tui *tui = d->pane.tui;
	char room[40];
	unsigned number = 2;

	do
		(void)snprintf(room, sizeof(room), "discussion-%u", number++);
	while (rt_project_disc_named(tui->work.value, rt_str_of(room)) != 0);
	return ask_name(tui, "Name of the new discussion", rt_str_of(room),
			(naming){.op = RT_OP_DISCUSSION_NEW});
}

static rt_status
rename_it(discussions *d)
{
	const row *r = at_cursor(d);

	if (r == NULL || r->disc == NULL)
		return RT_OK;
	if (r->take != NULL)
		return ask_name(d->pane.tui, "New name of the take", text_of(r->take, "name"),
				(naming){RT_OP_TAKE_RENAME, number_of(r->disc), number_of(r->take)});
	return ask_name(d->pane.tui, "New name of the discussion", text_of(r->disc, "name"),
			(naming){RT_OP_DISCUSSION_RENAME, number_of(r->disc), 0});
}

static rt_status
promote(discussions *d)
{
	const row *r = at_cursor(d);

	if (r == NULL || r->take == NULL) {
		rt_tui_say(d->pane.tui, "Only a take can become a discussion of its own: "
					"open the discussion's takes and choose one");
		return RT_OK;
	}
	return ask_name(d->pane.tui, "Name of the discussion that the take becomes",
			text_of(r->take, "name"),
			(naming){RT_OP_TAKE_PROMOTE, number_of(r->disc), number_of(r->take)});
}

static rt_status
delete_it(discussions *d)
{
	const row *r = at_cursor(d);
	after a = {0};
	addressed gone;

	if (r == NULL || r->disc == NULL)
		return RT_OK;
	address(&gone, r->take != NULL ? RT_OP_TAKE_DELETE : RT_OP_DISCUSSION_DELETE,
		number_of(r->disc), r->take != NULL ? number_of(r->take) : 0);
	return change(d->pane.tui, &gone.request, 1, &a);
}

/* --- keys --- */

/* The takes of the discussion under the cursor; or none. */
static rt_status
open_takes(discussions *d, bool is_open)
{
	const row *r = at_cursor(d);
	uint32_t number;
	size_t i;

	if (r == NULL || r->disc == NULL || (is_open && r->take != NULL))
		return RT_OK;
	number = number_of(r->disc);
	if (!is_open && d->open != number)
		return RT_OK;
	d->open = is_open ? number : 0;
	/* The cursor goes to the discussion itself. */
	for (i = d->list.at; i > 0 && d->rows[i].take != NULL; i--)
		;
	d->list.at = i;
	rt_json_free(d->takes);
	d->takes = NULL;
	return reload(d);
}

/* What is written may have changed. */
static rt_status
typed(discussions *d)
{
	rt_str text = rt_field_text(d->query);
	place at = place_of(at_cursor(d));
	rt_status st;

	if (rt_str_eq(text, rt_buf_str(&d->typed)))
		return RT_OK;
	if (d->typed.size == 0) {
		d->before = at;
		d->is_moved = false;
	}
	rt_buf_clear(&d->typed);
	rt_buf_add_str(&d->typed, text);
	d->list.at = d->list.top = 0;
	st = d->typed.status == RT_OK ? lay_out(d) : d->typed.status;
	if (st == RT_OK && text.size == 0) /* the search is over */
		select_place(d, d->is_moved && at.disc != 0 ? at : d->before);
	return st;
}

static rt_status
toggle_takes(discussions *d)
{
	const row *r = at_cursor(d);

	return r == NULL || r->disc == NULL ? RT_OK
					    : open_takes(d, number_of(r->disc) != d->open);
}

static rt_status
act(rt_pane *pane, rt_action action, bool *out_used)
{
	discussions *d = of(pane);

	*out_used = true;
	if (rt_list_act(&d->list, action)) {
		d->is_moved = true;
		return RT_OK;
	}
	switch (action) {
	case RT_ACT_ACCEPT: return accept(d);
	case RT_ACT_NEW: return make_new(d);
	case RT_ACT_RENAME: return rename_it(d);
	case RT_ACT_DELETE: return delete_it(d);
	case RT_ACT_PROMOTE: return promote(d);
	case RT_ACT_PREVIEW: return toggle_takes(d);
	case RT_ACT_CANCEL:
		if (rt_field_is_empty(d->query)) {
			rt_tui_close(pane->tui, pane);
			return RT_OK;
		}
		rt_field_clear(d->query);
		return typed(d);
	case RT_ACT_FILTER_ALL:
		d->has_deleted = !d->has_deleted;
		return reload(d);
	default: *out_used = false; return RT_OK;
	}
}

/* Letters are written; what is there for fields works as well. */
static rt_status
key(rt_pane *pane, rt_key k, bool *out_used)
{
	discussions *d = of(pane);
	rt_keymap *keys = pane->tui->keys;
	bool is_empty = rt_field_is_empty(d->query);
	rt_action action;
	rt_status st;

	*out_used = false;
	if (rt_key_is_text(k)) {
		if (is_empty && (k.code == ' ' || rt_keymap_action(keys, RT_SCREEN_DISCUSSIONS, k) !=
							  RT_ACT_NONE))
			return RT_OK;
		st = rt_field_key(d->query, k, out_used);
		return st == RT_OK && *out_used ? typed(d) : st;
	}
	action = rt_keymap_action(keys, RT_SCREEN_FIELD, k);
	if (action == RT_ACT_COMPLETE) {
		*out_used = true;
		return toggle_takes(d);
	}
	if (is_empty && (action == RT_ACT_LEFT || action == RT_ACT_RIGHT)) {
		*out_used = true;
		return open_takes(d, action == RT_ACT_RIGHT);
	}
	if (is_empty && (action == RT_ACT_LINE_START || action == RT_ACT_LINE_END)) {
		*out_used = rt_list_act(&d->list,
					action == RT_ACT_LINE_START ? RT_ACT_HOME : RT_ACT_END);
		return RT_OK;
	}
	if (action == RT_ACT_NONE)
		return RT_OK;
	st = rt_field_act(d->query, action, d->columns - 10, out_used);
	return st == RT_OK && *out_used ? typed(d) : st;
}

static rt_status
paste(rt_pane *pane, rt_str text)
{
	discussions *d = of(pane);
	rt_status st = rt_field_insert(d->query, text);

	return st == RT_OK ? typed(d) : st;
}

static void
free_discussions(rt_pane *pane)
{
	discussions *d = of(pane);
	const rt_alloc *alloc = pane->tui->alloc;

	/* The first search of a large store builds its index, and nobody waits for that. */
	if (d->job != NULL)
		rt_worker_detach(&d->job->worker, pane->tui, free_job);
	rt_json_free(d->doc);
	rt_json_free(d->takes);
	rt_json_free(d->hits);
	rt_field_free(d->query);
	rt_buf_deinit(&d->typed);
	rt_buf_deinit(&d->hits_query);
	rt_buf_deinit(&d->problem);
	rt_free(alloc, d->rows);
	rt_free(alloc, d);
}

static bool
new_act(rt_pane *pane, rt_action action)
{
	bool used = false;

	RT_TRY(&pane->tui->scope, act(pane, action, &used));
	return used;
}

static bool
new_key(rt_pane *pane, rt_key k)
{
	bool used = false;

	RT_TRY(&pane->tui->scope, key(pane, k, &used));
	return used;
}

static void
new_paste(rt_pane *pane, rt_str text)
{
	RT_TRY(&pane->tui->scope, paste(pane, text));
}

static void
new_changed(rt_pane *pane)
{
	RT_TRY(&pane->tui->scope, changed(pane));
}

static void
new_tend(rt_pane *pane)
{
	RT_TRY(&pane->tui->scope, tend(pane));
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_DISCUSSIONS,
	.draw = draw,
	.act = new_act,
	.key = new_key,
	.paste = new_paste,
	.changed = new_changed,
	.poll = new_tend,
	.free = free_discussions,
};

rt_status
rt_pane_discussions(rt_tui *tui, rt_str query)
{
	discussions *d = rt_new0(tui->alloc, sizeof(*d));
	rt_status st;
	size_t i;

	if (d == NULL)
		return RT_NOMEM;
	d->pane.ops = &ops;
	d->pane.tui = tui;
	rt_buf_init(&d->typed, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&d->hits_query, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&d->problem, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_field_new(tui->alloc, false, &d->query);
	if (st == RT_OK && query.size > 0)
		st = rt_field_set(d->query, query);
	d->before.disc = tui->work.place.disc;
	if (st == RT_OK) {
		rt_buf_add_str(&d->typed, rt_field_text(d->query));
		st = d->typed.status;
	}
	if (st == RT_OK)
		st = reload(d);
	if (st != RT_OK) {
		free_discussions(&d->pane);
		return st;
	}
	/* The cursor is where one is. */
	for (i = 0; i < d->list.count; i++)
		if (query.size == 0 && number_of(d->rows[i].disc) == tui->work.place.disc)
			d->list.at = i;
	return rt_tui_push(tui, &d->pane);
}
