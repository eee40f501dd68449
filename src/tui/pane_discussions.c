/* SPDX-License-Identifier: MIT
 *
 * All discussions, the takes of one of them, and a search: typed text filters discussions by name,
 * and the entries that contain it follow below them. After a "/" only entries are searched.
 *
 * The search runs in a thread, one at a time; when the text changes it is cancelled and started
 * again. Hits are shown as they are found. */
#include <stdio.h>

#include "tui/worker.h"
#include "tui/bar.h"
#include "tui/find.h"
#include "terminal/terminal.h"
#include "tui/list.h"
#include "tui/switch.h"
#include "view/search.h"

enum {
	HITS = 200,
	DATE_MIN = 64,
	COUNTS_MIN = 46, /* columns from which on these are shown */
	DATE = 16,
	COUNTS = 24,
	TRACK_MIN = 8, /* columns from which on a track is shown after the name */
	COMMIT_AT = 15, COMMIT = 9, /* within the counts */
	NAME_MAX_HIT = 18,
	TAKE_MAX_HIT = 12,
	ROLE_MAX_HIT = 9,
	LABEL_COLUMNS = 10 /* of "Search:" */
};

/* A discussion, or a take of it, or a hit. */
typedef struct row {
	const rt_disc_row *disc;
	const rt_take_row *take;
	const rt_hit *hit;
} row;

/* A search, and its hits. */
typedef struct find_job {
	rt_worker worker;
	rt_scope scope;
	rt_engine *engine;
	const rt_project *value; /* our reference */
	rt_str query;
	bool is_complete;     /* it ended without being cancelled */
	pthread_mutex_t lock; /* of hits while it runs */
	rt_hits hits;
	atomic_uint percent;
} find_job;

typedef struct discussions {
	rt_pane pane;            /* first */
	rt_scope lists;          /* of discs and takes */
	const rt_project *value; /* from which they were read; we have a reference */
	uint64_t seen;           /* its value_change */
	rt_disc_rows discs;
	rt_take_rows takes; /* of the open discussion */
	uint32_t open;      /* its number; 0: none */
	bool has_deleted;   /* archived and deleted discussions are listed, too */

	rt_filter filter;       /* rows: row */
	rt_switch_place before; /* the cursor when the search began … */
	bool is_moved;          /* … and whether it was moved since */

	find_job *job;   /* that runs; or NULL */
	find_job *found; /* whose hits are shown; NULL: none. May be job */
	rt_hits hits;
	bool is_searched; /* found is of the current value */
} discussions;

static discussions *
of(rt_pane *pane)
{
	return (discussions *)pane;
}

static rt_scope *
scope_of(discussions *d)
{
	return &d->pane.tui->scope;
}

static const row *
at_cursor(const discussions *d)
{
	return rt_filter_at(&d->filter);
}

static rt_switch_place
place_of(const row *r)
{
	if (r == NULL || r->disc == NULL)
		return (rt_switch_place){0};
	return (rt_switch_place){r->disc->number, r->take != NULL ? r->take->number : 0};
}

/* Moves the cursor to that row, else to its discussion, else not at all. */
static void
select_place(discussions *d, rt_switch_place p)
{
	const row *rows = d->filter.rows;

	for (size_t i = 0; i < d->filter.list.count && p.disc != 0; i++)
		if (rows[i].disc != NULL && rows[i].disc->number == p.disc &&
		    (rows[i].take == NULL || rows[i].take->number == p.take))
			d->filter.list.at = i;
}

/* The search text for entries; empty: none. */
static rt_str
query_of(const discussions *d)
{
	rt_str text = rt_field_text(d->filter.field);

	return text.size > 0 && text.ptr[0] == '/' ? rt_str_at(text.ptr + 1, text.size - 1) : text;
}

/* ---- rows ---- */

static bool
is_here(const discussions *d, const rt_disc_row *disc)
{
	return disc->number == d->pane.tui->work.place.disc;
}

/* By name, title, track or tag. */
static bool
is_found(const rt_disc_row *disc, rt_str text)
{
	bool found = rt_find_holds(disc->name, text) || rt_find_holds(disc->title, text);

	if (text.size > 0 && !found)
		found = rt_find_holds(disc->track, text);
	for (size_t i = 0; !found && i < disc->tag_count; i++)
		found = rt_find_holds(disc->tags[i], text);
	return found;
}

static void
fill(void *ctx, rt_str text)
{
	discussions *d = ctx;
	bool is_for_entries = text.size > 0 && text.ptr[0] == '/';

	for (size_t i = 0; i < d->discs.count && !is_for_entries; i++) {
		const rt_disc_row *disc = &d->discs.items[i];

		if ((disc->archived && !d->has_deleted && !is_here(d, disc)) ||
		    !is_found(disc, text))
			continue;
		rt_filter_add(&d->filter, &(row){.disc = disc});
		for (size_t k = 0; disc->number == d->open && k < d->takes.count; k++)
			rt_filter_add(&d->filter, &(row){.disc = disc, .take = &d->takes.items[k]});
	}
	for (size_t i = 0; i < d->hits.count && query_of(d).size > 0; i++)
		rt_filter_add(&d->filter, &(row){.hit = &d->hits.items[i]});
}

/* Read the lists of the current value; the cursor stays on its discussion and take. */
static void
reload(discussions *d)
{
	rt_tui *tui = d->pane.tui;
	rt_work *work = &tui->work;
	rt_switch_place was = place_of(at_cursor(d));
	const rt_project *old = d->value;
	rt_take_rows takes = {0};
	rt_disc_rows discs;
	rt_scope lists;
	rt_view view = {&lists, work->engine, work->value, {0}};

	if (!rt_ok(scope_of(d)))
		return;
	rt_scope_init(&lists, tui->alloc);
	d->seen = work->value_change;
	d->is_searched = false;
	discs = rt_discs_list(&view, d->has_deleted);
	if (d->open != 0 && (rt_project_cell(work->value, d->open) == NULL ||
			     !rt_project_cell(work->value, d->open)->present))
		d->open = 0;
	if (d->open != 0) {
		view.place.disc = d->open;
		takes = rt_takes_list(&view,
				      &(rt_takes_options){.grouped = true, .times = true, .titles = true});
	}
	if (!rt_tui_ok(tui, lists.status, &lists.error)) {
		rt_scope_deinit(&lists);
		return;
	}
	rt_scope_deinit(&d->lists);
	d->lists = lists;
	d->discs = discs;
	d->takes = takes;
	d->value = rt_object_ref(work->value);
	rt_object_unref(old);
	rt_filter_fill(&d->filter);
	select_place(d, was);
}

/* ---- the search ---- */

static bool
is_cancelled(void *ctx)
{
	return !rt_worker_is_wanted(&((find_job *)ctx)->worker);
}

static void
on_progress(void *ctx, unsigned percent, rt_hits hits)
{
	find_job *job = ctx;

	(void)pthread_mutex_lock(&job->lock);
	job->hits = hits;
	(void)pthread_mutex_unlock(&job->lock);
	if (atomic_exchange(&job->percent, percent) != percent && job->worker.terminal != NULL)
		rt_terminal_wake(job->worker.terminal);
}

static void
run_search(rt_worker *worker, void *ctx)
{
	find_job *job = ctx;
	rt_view view = {&job->scope, job->engine, job->value, {0}};
	rt_search search = {.query = job->query,
			    .limit = HITS,
			    .stop = is_cancelled,
			    .progress = on_progress,
			    .ctx = job};
	rt_hits hits;

	(void)worker;
	hits = rt_search_run(&view, &search);
	(void)pthread_mutex_lock(&job->lock);
	job->hits = rt_ok(&job->scope) ? hits : (rt_hits){0};
	(void)pthread_mutex_unlock(&job->lock);
}

static void
free_job(void *ctx)
{
	find_job *job = ctx;
	const rt_alloc *alloc;

	if (job == NULL)
		return;
	alloc = job->scope.alloc;
	rt_object_unref(job->value);
	rt_scope_deinit(&job->scope);
	(void)pthread_mutex_destroy(&job->lock);
	rt_free(alloc, job);
}

static void
start_search(discussions *d)
{
	rt_tui *tui = d->pane.tui;
	find_job *job = rt_new0(tui->alloc, sizeof(*job));
	rt_status st;

	if (job == NULL) {
		(void)rt_scope_nomem(scope_of(d));
		return;
	}
	rt_scope_init(&job->scope, tui->alloc);
	job->engine = tui->work.engine;
	job->value = rt_object_ref(tui->work.value);
	(void)pthread_mutex_init(&job->lock, NULL);
	atomic_init(&job->percent, 0);
	job->query = rt_scope_copy(&job->scope, query_of(d));
	st = job->scope.status;
	if (st == RT_OK)
		st = rt_worker_start(&job->worker, tui, run_search, job);
	if (st == RT_OK) {
		d->job = job;
		return;
	}
	free_job(job);
	if (st != RT_BUSY) /* no thread now: try again later */
		RT_TRY(scope_of(d), st);
}

/* Shows the hits of a search, so far. The rows point to them. */
static void
show_hits(discussions *d, find_job *job, rt_hits hits)
{
	if (d->found != job) {
		d->hits.count = d->filter.list.count = 0;
		free_job(d->found);
	}
	d->found = job;
	d->hits = hits;
	rt_filter_fill(&d->filter);
}

static bool
is_answered(const discussions *d)
{
	return d->is_searched && d->found != NULL && d->found->is_complete &&
	       rt_str_eq(d->found->query, query_of(d));
}

/* The search has ended. */
static void
collect_hits(discussions *d)
{
	find_job *job = d->job;

	d->job = NULL;
	job->is_complete = rt_worker_is_wanted(&job->worker);
	if (job->is_complete) {
		if (job->scope.status == RT_NOMEM)
			(void)rt_scope_nomem(scope_of(d));
		d->is_searched = job->value == d->pane.tui->work.value;
		show_hits(d, job, job->hits);
	} else if (d->found != job) {
		free_job(job);
	}
}

static void
collect_partial_hits(discussions *d)
{
	rt_hits hits;

	(void)pthread_mutex_lock(&d->job->lock);
	hits = d->job->hits;
	(void)pthread_mutex_unlock(&d->job->lock);
	if (hits.count == (d->found == d->job ? d->hits.count : 0))
		return;
	show_hits(d, d->job, hits);
}

static void
poll_search(rt_pane *pane)
{
	discussions *d = of(pane);

	if (d->job != NULL && rt_worker_ended(&d->job->worker))
		collect_hits(d);
	else if (d->job != NULL && !rt_str_eq(d->job->query, query_of(d)))
		rt_worker_cancel(&d->job->worker);
	else if (d->job != NULL)
		collect_partial_hits(d);
	if (!rt_ok(scope_of(d)) || query_of(d).size == 0 || is_answered(d) || d->job != NULL)
		return;
	start_search(d);
	if (d->job != NULL && rt_worker_ended(&d->job->worker)) /* at once, without a terminal */
		collect_hits(d);
}

static void
changed(rt_pane *pane)
{
	if (of(pane)->seen != pane->tui->work.value_change)
		reload(of(pane));
}

/* ---- drawing ---- */

/* Columns before the counts and the date. */
static int
name_columns(rt_box box)
{
	return box.w - 1 - (box.w >= DATE_MIN ? DATE + 1 : 0) -
	       (box.w >= COUNTS_MIN ? COUNTS + 1 : 0);
}

static void
draw_count(rt_canvas *canvas, rt_box box, int y, size_t entries, const char *end)
{
	if (box.w >= COUNTS_MIN)
		(void)rt_canvas_put_f(canvas, box, name_columns(box) + 1, y, RT_INK_DIM,
				      "%zu entr%s%s", entries, entries == 1 ? "y" : "ies", end);
}

static void
draw_disc(discussions *d, rt_canvas *canvas, rt_box box, int y, const rt_disc_row *disc)
{
	bool here = is_here(d, disc);
	const char *state = disc->absent	 ? "(deleted)"
			    : disc->archived ? "(archived)"
			    : disc->pinned   ? "(pinned)"
					     : "";
	int marks = (here ? 6 : 0) + (state[0] != '\0' ? (int)strlen(state) + 1 : 0); /* columns */
	int columns = name_columns(box), x;

	if (box.w >= DATE_MIN && disc->has_updated)
		(void)rt_canvas_put(canvas, box, box.w - DATE - 1, y,
				    rt_bar_time(d->pane.tui, disc->updated_us), RT_INK_DIM);
	draw_count(canvas, box, y, disc->entries, disc->takes > 1 ? "," : "");
	if (box.w >= COUNTS_MIN && disc->takes > 1)
		(void)rt_canvas_put_f(canvas, box, columns + 15, y, RT_INK_DIM, "%zu takes",
				      disc->takes);
	if (disc->takes > 1)
		(void)rt_canvas_put(canvas, box, 1, y,
				    rt_canvas_glyph(canvas, disc->number == d->open
								    ? RT_GLYPH_OPEN
								    : RT_GLYPH_CLOSED),
				    RT_INK_DIM);
	x = rt_canvas_put_name(canvas, box, 3, y, columns - 3 - marks, disc->title,
			       here ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_TEXT);
	if (disc->track.size > 0 && columns - x - marks > TRACK_MIN)
		x = rt_canvas_put_cut(canvas, box, x + 2, y, columns - x - marks - 3, disc->track,
				      RT_INK_DIM);
	for (size_t i = 0; i < disc->tag_count && columns - x - marks > TRACK_MIN; i++)
		x = rt_canvas_put_cut(canvas, box, x + 2, y, columns - x - marks - 3,
				      rt_tui_format(d->pane.tui, "#%.*s",
						    RT_STR_ARG(disc->tags[i])),
				      RT_INK_DIM);
	if (state[0] != '\0')
		x = rt_canvas_put_c(canvas, box, x + 1, y, state, RT_INK_DIM);
	if (here) {
		x = rt_canvas_put(canvas, box, x + 1, y,
				  rt_canvas_glyph(canvas, RT_GLYPH_LEFT_ARROW), RT_INK_GOOD);
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "now", RT_INK_GOOD);
	}
}

static void
draw_take(discussions *d, rt_canvas *canvas, rt_box box, int y, const row *r)
{
	const rt_work *work = &d->pane.tui->work;
	const rt_take_row *take = r->take;
	bool is_here = r->disc->number == work->place.disc && take->number == work->place.take;
	int x = rt_str_eq(take->base, take->name) ? 5 : 7;

	draw_count(canvas, box, y, take->entries, "");
	if (box.w >= DATE_MIN && take->updated_us != 0)
		(void)rt_canvas_put(canvas, box, box.w - DATE - 1, y,
				    rt_bar_time(d->pane.tui, take->updated_us), RT_INK_DIM);
	if (box.w >= COUNTS_MIN && take->git_commit.size > 0)
		(void)rt_canvas_put_cut(canvas, box, name_columns(box) + COMMIT_AT, y, COMMIT,
					rt_str_at(take->git_commit.ptr,
						  take->git_commit.size < COMMIT
							  ? take->git_commit.size
							  : COMMIT),
					RT_INK_DIM);
	int columns = name_columns(box) - x - (take->active ? 9 : 0);
	x = rt_canvas_put_name(canvas, box, x, y, columns, take->name,
			       is_here ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_TEXT);
	columns = name_columns(box) - x - (take->active ? 9 : 0);
	if (take->title.size > 0 && columns > TRACK_MIN)
		x = rt_canvas_put_cut(canvas, box, x + 2, y, columns - 3, take->title, RT_INK_DIM);
	if (take->active)
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "(active)", RT_INK_GOOD);
}

static void
draw_hit(discussions *d, rt_canvas *canvas, rt_box box, int y, const rt_hit *hit)
{
	bool is_wide = box.w >= DATE_MIN, is_match = false;
	rt_str snippet = hit->snippet, run;
	int x = 3;

	if (is_wide && hit->has_time) { /* as in the rows of discussions */
		(void)rt_canvas_put(canvas, box, box.w - DATE - 1, y, rt_bar_time(d->pane.tui, hit->time.us),
				    RT_INK_DIM);
		box.w -= DATE + 2;
	}
	x = rt_canvas_put_name(canvas, box, x, y, is_wide ? NAME_MAX_HIT : NAME_MAX_HIT / 2,
			       hit->discussion, RT_INK_DIM) +
	    1;
	if (is_wide)
		x = rt_canvas_put_name(canvas, box, x, y, TAKE_MAX_HIT, hit->take, RT_INK_DIM) + 1;
	x = rt_canvas_put_cut(canvas, box, x, y, ROLE_MAX_HIT, hit->role, rt_role_ink(hit->role)) +
	    1;
	while (x < box.w && rt_highlight_next(&snippet, &is_match, &run))
		x = rt_canvas_put(canvas, box, x, y, run, is_match ? RT_INK_MATCH : RT_INK_TEXT);
}

static void
draw_row(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row_number)
{
	discussions *d = ctx;
	const row *r = (const row *)d->filter.rows + row_number;

	if (r->hit != NULL)
		draw_hit(d, canvas, box, y, r->hit);
	else if (r->take != NULL)
		draw_take(d, canvas, box, y, r);
	else
		draw_disc(d, canvas, box, y, r->disc);
}

/* On the right of the title: the counts, or the progress of the search. */
static rt_str
status_of(discussions *d, bool utf8)
{
	rt_tui *tui = d->pane.tui;
	const row *rows = d->filter.rows;
	size_t shown = 0;

	for (size_t i = 0; i < d->filter.list.count; i++)
		shown += rows[i].disc != NULL && rows[i].take == NULL;
	if (query_of(d).size == 0)
		return shown == d->discs.count
			       ? rt_tui_format(tui, "%zu", shown)
			       : rt_tui_format(tui, "%zu, %zu archived", shown, d->discs.count - shown);
	if (!is_answered(d))
		return rt_tui_format(tui, "searching%s %u %%", utf8 ? "…" : "...",
				     d->job == NULL ? 0 : atomic_load(&d->job->percent));
	return rt_tui_format(tui, "%zu%s found", shown + d->hits.count,
			     d->hits.count == HITS ? "+" : "");
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	discussions *d = of(pane);
	rt_box list = {box.x, box.y + 1, box.w, box.h - 1};
	bool is_over = query_of(d).size == 0 || is_answered(d);
	bool has_failed = d->found != NULL && d->found->is_complete && !rt_ok(&d->found->scope);

	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	rt_bar_draw(canvas, box, RT_STR("Discussions"), status_of(d, canvas->utf8));
	if (list.h > 1) {
		rt_filter_draw_field(
			&d->filter, canvas,
			rt_bar_ask(canvas, (rt_box){list.x, list.y, list.w, 1}, "Search:"));
		list.y++;
		list.h--;
	}
	d->filter.columns = box.w - LABEL_COLUMNS;
	rt_filter_draw_rows(&d->filter, canvas, list, 3, is_over && !has_failed ? "No match." : "");
	if (d->filter.list.count == 0 && has_failed)
		(void)rt_canvas_put_cut(canvas, list, 3, 0, list.w - 3,
					rt_str_of(d->found->scope.error.text), RT_INK_ERROR);
}

/* ---- opening the chosen row ---- */

/* By present names. */
static void
open_hit(rt_tui *tui, const rt_hit *hit)
{
	rt_work *work = &tui->work;
	rt_switch_place p = {.disc = rt_project_disc_named(work->value, hit->discussion)};
	const rt_disc *disc = NULL;
	rt_error err;

	if (p.disc == 0 || hit->id.size > RT_ID_MAX) {
		rt_tui_say(tui, "That discussion no longer exists");
		return;
	}
	if (!rt_tui_ok(tui, rt_project_disc(work->value, p.disc, &disc, &err), &err))
		return;
	p.take = rt_disc_take_named(disc, hit->take);
	rt_switch_to(tui, p, hit->id);
}

static void
accept(discussions *d)
{
	const row *r = at_cursor(d);

	if (r == NULL)
		return;
	if (r->hit != NULL)
		open_hit(d->pane.tui, r->hit);
	else if (r->disc->absent)
		rt_tui_say(d->pane.tui,
			   "That discussion was deleted; undo or the history restores it");
	else
		rt_switch_to(d->pane.tui, place_of(r), RT_STR(""));
}

/* ---- changes ---- */

/* An operation that waits for a name. */
typedef struct naming {
	rt_op_id op;
	rt_switch_place on;
} naming;

static rt_status
named(rt_tui *tui, void *ctx, rt_str name)
{
	const naming *n = ctx;
	rt_request request;

	if (name.ptr == NULL)
		return RT_OK;
	(void)rt_tui_begin(tui);
	request = rt_switch_request(tui, n->op, n->on);
	request.name = name;
	/* The new discussion is the one to show. */
	rt_switch_change(tui, &request, n->op == RT_OP_DISCUSSION_NEW);
	return rt_tui_end(tui);
}

static void
free_naming(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

static void
ask_name(rt_tui *tui, const char *title, rt_str name, rt_op_id op, rt_switch_place on)
{
	naming *n = rt_new(tui->alloc, sizeof(*n));

	if (n == NULL) {
		(void)rt_scope_nomem(&tui->scope);
		return;
	}
	*n = (naming){op, on};
	RT_TRY(&tui->scope, rt_pane_ask(tui, title, name, false, named, n, free_naming));
}

/* ---- pins, archive, tags ---- */

static void
set_listed(discussions *d, const row *r, rt_str key, rt_str json)
{
	rt_request request = {.op = RT_OP_SETTING_SET,
			      .discussion = rt_tui_format(d->pane.tui, "d%u", r->disc->number),
			      .key = key,
			      .value = rt_json_parse(scope_of(d), json)};

	rt_switch_change(d->pane.tui, &request, false);
}

static void
toggle_listed(discussions *d, rt_str key, bool is_on)
{
	const row *r = at_cursor(d);

	if (r != NULL && r->disc != NULL)
		set_listed(d, r, key, is_on ? RT_STR("null") : RT_STR("true"));
}

/* The tags of a line: "work/db, urgent". */
static rt_status
tagged(rt_tui *tui, void *ctx, rt_str line)
{
	const naming *n = ctx;
	rt_scope *s = &tui->scope;
	rt_buf *json;
	size_t count = 0;

	if (line.ptr == NULL)
		return RT_OK;
	(void)rt_tui_begin(tui);
	json = rt_scope_buf(s);
	rt_json_open(json, NULL, '[');
	for (size_t from = 0; from <= line.size;) {
		size_t end = rt_str_find(line, RT_STR(","), from);

		end = end == SIZE_MAX ? line.size : end;
		rt_str tag = rt_str_trim(rt_str_at(line.ptr + from, end - from));
		if (tag.size > 0) {
			rt_json_put_str(json, NULL, tag);
			count++;
		}
		from = end + 1;
	}
	rt_json_close(json, ']');
	rt_request request = {.op = RT_OP_SETTING_SET,
			      .discussion = rt_tui_format(tui, "d%u", n->on.disc),
			      .key = RT_STR("tags"),
			      .value = rt_json_parse(s, count > 0 ? rt_scope_str(s, json)
								  : RT_STR("null"))};
	rt_switch_change(tui, &request, false);
	return rt_tui_end(tui);
}

static void
ask_tags(discussions *d)
{
	rt_tui *tui = d->pane.tui;
	const row *r = at_cursor(d);
	naming *n;

	if (r == NULL || r->disc == NULL)
		return;
	rt_buf *line = rt_scope_buf(scope_of(d));
	for (size_t i = 0; i < r->disc->tag_count; i++) {
		rt_buf_add_c(line, i > 0 ? ", " : "");
		rt_buf_add_str(line, r->disc->tags[i]);
	}
	n = rt_new(tui->alloc, sizeof(*n));
	if (n == NULL) {
		(void)rt_scope_nomem(&tui->scope);
		return;
	}
	*n = (naming){RT_OP_SETTING_SET, place_of(r)};
	RT_TRY(&tui->scope, rt_pane_ask(tui, "Tags, separated by commas; work/db is within work",
					rt_scope_str(scope_of(d), line), false, tagged, n,
					free_naming));
}

/* "discussion-2", or the next free number. */
static void
ask_new(discussions *d)
{
	rt_tui *tui = d->pane.tui;
	unsigned number = 2;
	char name[40];

	do
		(void)snprintf(name, sizeof(name), "discussion-%u", number++);
	while (rt_project_disc_named(tui->work.value, rt_str_of(name)) != 0);
	ask_name(tui, "Name of the new discussion", rt_str_of(name), RT_OP_DISCUSSION_NEW,
		 (rt_switch_place){0});
}

static void
ask_rename(discussions *d)
{
	const row *r = at_cursor(d);

	if (r == NULL || r->disc == NULL)
		return;
	if (r->take != NULL)
		ask_name(d->pane.tui, "New name of the take", r->take->name, RT_OP_TAKE_RENAME,
			 place_of(r));
	else
		ask_name(d->pane.tui, "New name of the discussion", r->disc->title,
			 RT_OP_DISCUSSION_RENAME, place_of(r));
}

static void
ask_promote(discussions *d)
{
	const row *r = at_cursor(d);

	if (r != NULL && r->take != NULL)
		ask_name(d->pane.tui, "Name of the new discussion for this take", r->take->name,
			 RT_OP_TAKE_PROMOTE, place_of(r));
	else
		rt_tui_say(d->pane.tui, "Only a take can become a separate discussion: open the "
					"discussion's takes and choose one");
}

static void
delete_row(discussions *d)
{
	const row *r = at_cursor(d);
	rt_request request;

	if (r == NULL || r->disc == NULL)
		return;
	request = rt_switch_request(d->pane.tui,
				    r->take != NULL ? RT_OP_TAKE_DELETE : RT_OP_DISCUSSION_DELETE,
				    place_of(r));
	rt_switch_change(d->pane.tui, &request, false);
}

/* ---- keys ---- */

/* Show or hide the takes of the discussion under the cursor, which goes to the discussion. */
static void
open_takes(discussions *d, bool is_open)
{
	const row *rows = d->filter.rows, *r = at_cursor(d);
	uint32_t number;

	if (r == NULL || r->disc == NULL || (is_open && r->take != NULL))
		return;
	number = r->disc->number;
	if (!is_open && d->open != number)
		return;
	while (d->filter.list.at > 0 && rows[d->filter.list.at].take != NULL)
		d->filter.list.at--;
	d->open = is_open ? number : 0;
	reload(d);
}

static void
toggle_takes(discussions *d)
{
	const row *r = at_cursor(d);

	if (r != NULL && r->disc != NULL)
		open_takes(d, r->disc->number != d->open);
}

/* Text was edited: filter, and after the search put the cursor back unless it was moved. */
static void
update(discussions *d)
{
	rt_switch_place at = place_of(at_cursor(d));

	if (d->filter.typed.size == 0 && !rt_field_is_empty(d->filter.field)) {
		d->before = at;
		d->is_moved = false;
	}
	if (rt_filter_update(&d->filter) && rt_field_is_empty(d->filter.field))
		select_place(d, d->is_moved && at.disc != 0 ? at : d->before);
}

static bool
act(rt_pane *pane, rt_action action)
{
	discussions *d = of(pane);

	if (rt_list_act(&d->filter.list, action)) {
		d->is_moved = true;
		return true;
	}
	switch (action) {
	case RT_ACT_ACCEPT: accept(d); return true;
	case RT_ACT_NEW: ask_new(d); return true;
	case RT_ACT_RENAME: ask_rename(d); return true;
	case RT_ACT_DELETE: delete_row(d); return true;
	case RT_ACT_PROMOTE: ask_promote(d); return true;
	case RT_ACT_PREVIEW: toggle_takes(d); return true;
	case RT_ACT_TAGS: ask_tags(d); return true;
	case RT_ACT_PIN:
		toggle_listed(d, RT_STR("pinned"),
			      at_cursor(d) != NULL && at_cursor(d)->disc != NULL &&
				      at_cursor(d)->disc->pinned);
		return true;
	case RT_ACT_ARCHIVE:
		toggle_listed(d, RT_STR("archived"),
			      at_cursor(d) != NULL && at_cursor(d)->disc != NULL &&
				      at_cursor(d)->disc->archived);
		return true;
	case RT_ACT_CANCEL:
		if (rt_field_is_empty(d->filter.field)) {
			rt_tui_close(pane->tui, pane);
		} else {
			rt_field_clear(d->filter.field);
			update(d);
		}
		return true;
	case RT_ACT_FILTER_ALL:
		d->has_deleted = !d->has_deleted;
		reload(d);
		return true;
	default: return false;
	}
}

/* Keys for fields: some move in the list while the field is empty. */
static bool
act_on_field(discussions *d, rt_action action)
{
	bool is_empty = rt_field_is_empty(d->filter.field), used = false;

	if (action == RT_ACT_COMPLETE) {
		toggle_takes(d);
		return true;
	}
	if (is_empty && (action == RT_ACT_LEFT || action == RT_ACT_RIGHT)) {
		open_takes(d, action == RT_ACT_RIGHT);
		return true;
	}
	if (is_empty && (action == RT_ACT_LINE_START || action == RT_ACT_LINE_END))
		return rt_list_act(&d->filter.list,
				   action == RT_ACT_LINE_START ? RT_ACT_HOME : RT_ACT_END);
	if (action != RT_ACT_NONE)
		RT_TRY(scope_of(d),
		       rt_field_act(d->filter.field, action, d->filter.columns, &used));
	return used;
}

static bool
key(rt_pane *pane, rt_key k)
{
	discussions *d = of(pane);
	const rt_keymap *keys = pane->tui->keys;
	bool used = false;

	if (!rt_key_is_text(k))
		used = act_on_field(d, rt_keymap_action(keys, RT_SCREEN_FIELD, k));
	else if (!rt_field_is_empty(d->filter.field) ||
		 (k.code != ' ' && rt_keymap_action(keys, RT_SCREEN_DISCUSSIONS, k) == RT_ACT_NONE))
		RT_TRY(scope_of(d), rt_field_key(d->filter.field, k, &used));
	if (used)
		update(d);
	return used;
}

static void
paste(rt_pane *pane, rt_str text)
{
	RT_TRY(&pane->tui->scope, rt_field_insert(of(pane)->filter.field, text));
	update(of(pane));
}

static void
free_discussions(rt_pane *pane)
{
	discussions *d = of(pane);

	if (d->found != d->job)
		free_job(d->found);
	if (d->job != NULL) /* the first search of a large store takes long: it builds the index */
		rt_worker_detach(&d->job->worker, pane->tui, free_job);
	rt_filter_deinit(&d->filter);
	rt_scope_deinit(&d->lists);
	rt_object_unref(d->value);
	rt_free(pane->tui->alloc, d);
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_DISCUSSIONS,
	.draw = draw,
	.act = act,
	.key = key,
	.paste = paste,
	.changed = changed,
	.poll = poll_search,
	.free = free_discussions,
};

rt_status
rt_pane_discussions(rt_tui *tui, rt_str query)
{
	discussions *d = rt_new0(tui->alloc, sizeof(*d));
	rt_status st;

	if (d == NULL)
		return RT_NOMEM;
	(void)rt_tui_begin(tui);
	d->pane.ops = &ops;
	d->pane.tui = tui;
	d->pane.list = &d->filter.list;
	d->before.disc = tui->work.place.disc;
	d->filter = (rt_filter){.row_size = sizeof(row),
				.s = &tui->scope,
				.fill = fill,
				.draw = draw_row,
				.ctx = d};
	rt_scope_init(&d->lists, tui->alloc);
	rt_filter_init(&d->filter, query);
	reload(d);
	if (query.size == 0)
		select_place(d, d->before);
	st = rt_tui_end(tui);
	if (st != RT_OK) {
		free_discussions(&d->pane);
		return st;
	}
	return rt_tui_push(tui, &d->pane);
}
