/* SPDX-License-Identifier: MIT
 *
 * The history: steps, newest first, with undone ones in separate lanes (steps.h), and next to the
 * list or below it the effects of the step under the cursor, and the conversation right after it.
 *
 * Steps are read as far as they are shown. The details of a step are computed in a thread once the
 * cursor has rested on it, so that keys never wait for them. */
#include <stdio.h>

#include "app/host.h"
#include "base/clock_host.h"
#include "tui/worker.h"
#include "tui/bar.h"
#include "tui/pending.h"
#include "tui/find.h"
#include "terminal/terminal.h"
#include "tui/list.h"
#include "tui/steps.h"
#include "tui/step_detail.h"
#include "tui/verb_impl.h"

enum {
	READ = 256,      /* steps at a time */
	READ_FAR = 2048, /* when searching, or going to the end */
	KEEP_MAX = 8192, /* steps read again to find the cursor's after a change */
	WIDE = 100,      /* columns from which on the details are next to the list */
	TALL = 16,       /* rows from which on they are below it; else they replace it */
	REST_MS = 80,
	DATE_MIN = 62, /* columns for the day, too */
	TIME_MIN = 44,
	BY_MIN = 34,
	BY_MAX = 16,
	LANES_NARROW = 3 /* drawn on a narrow screen */
};

typedef enum scope { ALL, OF_DISCUSSION, OF_PROJECT, SCOPES } scope;

static const char *const scope_words[SCOPES] = {"", "discussion", "project"};

/* The details of a step, computed in a thread. */
typedef struct detail_job {
	rt_worker worker;
	rt_scope scope;
	rt_step_detail detail; /* owns its reference to the value */
	rt_lines lines;
	rt_status status;
} detail_job;

/* Columns that the visible rows need. */
typedef struct widths {
	unsigned lanes;
	int number, by, when;
} widths;

typedef struct history {
	rt_pane pane; /* first */
	rt_steps steps;
	uint32_t *shown; /* indices of the steps in the scope */
	size_t shown_capacity;
	size_t filtered; /* steps examined for that */
	rt_list list;    /* of shown */
	scope scope;
	uint64_t seen; /* value_change of the steps */

	rt_search_bar bar;
	bool wants_end;  /* read all, with the cursor on the last */
	bool is_finding; /* the next match is searched … */
	size_t find_at;  /* … from this row on */

	bool has_detail;
	detail_job *job; /* or NULL */
	rt_lines detail;
	uint64_t detail_seq; /* its step; UINT64_MAX: none */
	int detail_columns;  /* that it was laid out for */
	int want_columns;    /* that it has now; 0: it is not drawn */
	size_t detail_top;
	int detail_rows, detail_x, detail_y;
	int64_t moved_ms;   /* when the cursor came to … */
	uint64_t moved_seq; /* … this step */
	widths widths;
} history;

static history *
of(rt_pane *pane)
{
	return (history *)pane;
}

static rt_scope *
scope_of(history *h)
{
	return &h->pane.tui->scope;
}

static rt_step *
step_at(const history *h, size_t row)
{
	return &h->steps.steps[h->shown[row]];
}

static rt_step *
at_cursor(const history *h)
{
	return h->list.count > 0 ? step_at(h, h->list.at) : NULL;
}

/* ---- rows ---- */

/* Adds the steps in the scope that were read since the last call. */
static void
filter_steps(history *h)
{
	size_t count = h->list.count;

	for (; h->filtered < h->steps.count; h->filtered++) {
		const rt_step *step = &h->steps.steps[h->filtered];
		uint32_t *item;

		if (h->scope != ALL && step->seq != 0 &&
		    step->of_project != (h->scope == OF_PROJECT))
			continue;
		item = rt_array_add(h->pane.tui->alloc, &h->shown, &count, &h->shown_capacity,
				    sizeof(*item));
		if (item == NULL) {
			(void)rt_scope_nomem(scope_of(h));
			break;
		}
		*item = (uint32_t)h->filtered;
	}
	rt_list_count(&h->list, count);
}

static void
read_steps(history *h, size_t count)
{
	rt_error err;

	if (!rt_ok(scope_of(h)))
		return;
	if (rt_tui_ok(h->pane.tui, rt_steps_more(&h->steps, count, &err), &err)) {
		filter_steps(h);
		return;
	}
	/* The list ends before the step that cannot be read. */
	h->steps.is_whole = true;
	h->wants_end = h->is_finding = false;
}

/* Reads all again, with the cursor on the same step and in the same line. */
static void
reload(history *h)
{
	rt_work *work = &h->pane.tui->work;
	const rt_step *was = at_cursor(h);
	uint64_t seq = was != NULL ? was->seq : UINT64_MAX;
	size_t line = h->list.at - h->list.top, at = 0;

	h->seen = work->value_change;
	h->detail_seq = UINT64_MAX;
	rt_steps_begin(&h->steps, work->engine, work->value, work->place.disc);
	h->filtered = 0;
	h->list.count = h->list.at = 0;
	read_steps(h, READ);
	while (rt_ok(scope_of(h)) && seq != UINT64_MAX) {
		while (at < h->list.count && step_at(h, at)->seq != seq)
			at++;
		if (at < h->list.count || h->steps.is_whole || h->steps.count >= KEEP_MAX)
			break;
		read_steps(h, READ_FAR);
	}
	h->list.at = at < h->list.count ? at : 0;
	h->list.top = h->list.at > line ? h->list.at - line : 0;
}

/* The next scope. The cursor stays on the same step, or goes to the one after it. */
static void
filter_next(history *h)
{
	uint32_t was = h->list.count > 0 ? h->shown[h->list.at] : 0;

	h->scope = (scope)((h->scope + 1) % SCOPES);
	h->filtered = 0;
	h->list.count = 0;
	h->is_finding = false;
	filter_steps(h);
	h->list.at = 0;
	while (h->list.at + 1 < h->list.count && h->shown[h->list.at] < was)
		h->list.at++;
}

/* ---- search ---- */

/* Digits match a step's number, other texts its words. */
static bool
holds(history *h, size_t row)
{
	const rt_step *step = step_at(h, row);
	rt_str match = rt_buf_str(&h->bar.match);
	char number[24];

	(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)step->seq);
	if (strspn(match.ptr, "0123456789") == match.size)
		return rt_str_is(match, number);
	return rt_find_holds(rt_steps_what(&h->steps, step), match) ||
	       rt_find_holds(rt_steps_by(&h->steps, step), match);
}

/* Search the rows that have been read; poll reads more. */
static void
go_on(history *h)
{
	for (; h->is_finding && h->find_at < h->list.count; h->find_at++)
		if (holds(h, h->find_at)) {
			h->list.at = h->find_at;
			h->is_finding = false;
		}
	if (h->is_finding && h->steps.is_whole) {
		h->is_finding = false;
		rt_tui_say(h->pane.tui, "No later match for \"%.60s\"", h->bar.match.ptr);
	}
}

static void
find_back(history *h)
{
	for (size_t row = h->list.at; row-- > 0;)
		if (holds(h, row)) {
			h->list.at = row;
			return;
		}
	rt_tui_say(h->pane.tui, "No earlier match for \"%.60s\"", h->bar.match.ptr);
}

static void
find(history *h, bool backwards, size_t from)
{
	if (h->bar.match.size == 0) {
		rt_tui_say(h->pane.tui, "Search for something first");
	} else if (backwards) {
		find_back(h);
	} else {
		h->is_finding = true;
		h->find_at = from;
		go_on(h);
	}
}

static void
search(rt_pane *pane)
{
	find(of(pane), false, of(pane)->list.at);
}

/* ---- the details of a step ---- */

static void
run_job(rt_worker *worker, void *ctx)
{
	detail_job *job = ctx;

	(void)worker;
	job->status = rt_step_detail_add(&job->detail, &job->lines);
}

static void
free_job(void *ctx)
{
	detail_job *job = ctx;
	const rt_alloc *alloc = job->scope.alloc;

	rt_object_unref(job->detail.value);
	rt_lines_deinit(&job->lines);
	rt_scope_deinit(&job->scope);
	rt_free(alloc, job);
}

static void
start_job(history *h, const rt_step *step)
{
	rt_tui *tui = h->pane.tui;
	detail_job *job = rt_new0(tui->alloc, sizeof(*job));
	rt_status st;

	if (job == NULL) {
		(void)rt_scope_nomem(scope_of(h));
		return;
	}
	rt_scope_init(&job->scope, tui->alloc);
	rt_lines_init(&job->lines, tui->alloc);
	job->detail = (rt_step_detail){
		.alloc = tui->alloc,
		.engine = tui->work.engine,
		.value = rt_object_ref(tui->work.value),
		.disc = tui->work.place.disc,
		.seq = step->seq,
		.did = rt_scope_copy(&job->scope, rt_steps_did(&h->steps, step)),
		.columns = h->want_columns,
		.utf8 = tui->canvas.utf8,
	};
	st = job->scope.status;
	if (st == RT_OK)
		st = rt_worker_start(&job->worker, tui, run_job, job);
	if (st == RT_OK) {
		h->job = job;
		return;
	}
	free_job(job);
	if (st != RT_BUSY) /* no thread now: try again later */
		RT_TRY(scope_of(h), st);
}

static void
finish_job(history *h)
{
	detail_job *job = h->job;
	rt_lines old = h->detail;

	h->job = NULL;
	h->detail = job->lines;
	job->lines = old;
	h->detail_seq = job->detail.seq;
	h->detail_columns = job->detail.columns;
	h->detail_top = 0;
	RT_TRY(scope_of(h), job->status);
	free_job(job);
}

static void
poll_detail(history *h)
{
	const rt_step *step = at_cursor(h);
	int64_t now = rt_clock_ms();

	if (h->job != NULL && rt_worker_ended(&h->job->worker))
		finish_job(h);
	if (step == NULL || h->want_columns == 0 || h->job != NULL || !rt_ok(scope_of(h)))
		return;
	if (h->moved_seq != step->seq) {
		h->moved_seq = step->seq;
		h->moved_ms = now;
	}
	if (h->detail_seq == step->seq && h->detail_columns == h->want_columns)
		return;
	if (h->pane.tui->terminal != NULL && now - h->moved_ms < REST_MS)
		return;
	start_job(h, step);
	if (h->job != NULL && rt_worker_ended(&h->job->worker)) /* at once, without a terminal */
		finish_job(h);
}

static void
poll_history(rt_pane *pane)
{
	history *h = of(pane);
	bool is_far = h->wants_end || h->is_finding;

	if (!h->steps.is_whole && (is_far || h->list.at + 2 * h->list.rows + 2 > h->list.count)) {
		read_steps(h, is_far ? READ_FAR : READ);
		/* Continue at once, but check the keyboard in between. */
		if (pane->tui->terminal != NULL && is_far && !h->steps.is_whole)
			rt_terminal_wake(pane->tui->terminal);
	}
	if (!rt_ok(scope_of(h)))
		return;
	if (h->wants_end) {
		(void)rt_list_act(&h->list, RT_ACT_END);
		h->wants_end = !h->steps.is_whole;
	}
	go_on(h);
	poll_detail(h);
}

static void
changed(rt_pane *pane)
{
	if (of(pane)->seen != pane->tui->work.value_change)
		reload(of(pane));
}

/* ---- drawing ---- */

/* "| o ", two columns for each lane. Returns the column after them. */
static int
draw_lanes(rt_canvas *canvas, rt_box box, int y, const rt_step *step, unsigned lanes)
{
	rt_str dash = rt_canvas_glyph(canvas, RT_GLYPH_HORIZONTAL);
	const char *dot = step->lane == 0 ? (canvas->utf8 ? "●" : "*") : (canvas->utf8 ? "○" : "o");
	unsigned own = step->lane < lanes ? step->lane : lanes - 1, last = own;
	rt_ink dim = RT_INK_DIM;

	for (unsigned lane = own + 1; lane < lanes; lane++)
		if ((step->joins >> lane & 1) != 0)
			last = lane;
	for (unsigned lane = 0; lane < lanes; lane++) {
		int x = 1 + (int)lane * 2;
		bool is_joined = (step->joins >> lane & 1) != 0;

		if (lane == own)
			(void)rt_canvas_put_c(canvas, box, x, y, dot,
					      step->is_undone ? dim : RT_INK_TEXT);
		else if (is_joined && lane == last)
			(void)rt_canvas_put_c(canvas, box, x, y, canvas->utf8 ? "┘" : "'", dim);
		else if (is_joined)
			(void)rt_canvas_put(canvas, box, x, y,
					    rt_canvas_glyph(canvas, RT_GLYPH_CROSS_UP), dim);
		else if ((step->passes >> lane & 1) != 0)
			(void)rt_canvas_put(canvas, box, x, y,
					    rt_canvas_glyph(canvas, RT_GLYPH_VERTICAL), dim);
		else if (lane > own && lane < last)
			(void)rt_canvas_put(canvas, box, x, y, dash, dim);
		if (lane >= own && lane < last)
			(void)rt_canvas_put(canvas, box, x + 1, y, dash, dim);
	}
	return 1 + (int)lanes * 2;
}

/* Lanes that a step uses. */
static unsigned
lanes_of(const rt_step *step)
{
	unsigned bits = (unsigned)(step->passes | step->joins | 1u << step->lane), count = 0;

	for (; bits != 0; bits >>= 1)
		count++;
	return count;
}

/* With the day if it fits, or if it is not today. */
static rt_str
when_of(history *h, const rt_step *step, int columns)
{
	const rt_env *env = h->pane.tui->session->env;
	rt_buf *when;

	if (columns >= DATE_MIN + 40)
		return rt_bar_time(h->pane.tui, step->at_us);
	when = rt_scope_buf(scope_of(h));
	rt_host_add_short_time(when, step->at_us, env->now_us(env->ctx));
	return rt_buf_str(when);
}

static widths
measure(history *h, rt_canvas *canvas, int columns)
{
	widths w = {.lanes = 1};

	for (size_t i = 0; i < rt_list_seen(&h->list); i++) {
		const rt_step *step = step_at(h, h->list.top + i);
		int number =
			(int)rt_tui_format(h->pane.tui, "%llu", (unsigned long long)step->seq).size;
		int by = rt_canvas_width(canvas, rt_steps_by(&h->steps, step));

		int when = columns < TIME_MIN || step->seq == 0 ? 0 : (int)when_of(h, step, columns).size;

		if (step->seq != 0 && number > w.number)
			w.number = number;
		if (when > w.when)
			w.when = when;
		if (by > w.by)
			w.by = by < BY_MAX ? by : BY_MAX;
		if (lanes_of(step) > w.lanes)
			w.lanes = lanes_of(step);
	}
	if (columns < BY_MIN * 2 && w.lanes > LANES_NARROW)
		w.lanes = LANES_NARROW;
	return w;
}

static void
draw_row(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row)
{
	history *h = ctx;
	const widths *w = &h->widths;
	const rt_step *step = step_at(h, row);
	rt_ink ink = step->is_undone ? RT_INK_DIM : RT_INK_TEXT;
	rt_str arrow = rt_canvas_glyph(canvas, RT_GLYPH_LEFT_ARROW);
	int x = draw_lanes(canvas, box, y, step, w->lanes), end = box.w;

	if (step->is_current) {
		ink |= RT_INK_BOLD;
		end -= 5 + rt_canvas_width(canvas, arrow);
	} else if (step->is_undone && box.w >= BY_MIN * 2) {
		end -= 9;
	}
	if (step->seq != 0) {
		x = rt_canvas_put_f(canvas, box, x, y, ink, "%*llu ", w->number,
				    (unsigned long long)step->seq);
		if (box.w >= TIME_MIN) {
			rt_str when = when_of(h, step, box.w);

			(void)rt_canvas_put(canvas, box, x + w->when - (int)when.size, y, when, RT_INK_DIM);
			x += w->when + 1;
		}
		if (box.w >= BY_MIN) {
			(void)rt_canvas_put_cut(canvas, box, x, y, w->by,
						rt_steps_by(&h->steps, step), RT_INK_DIM);
			x += w->by + 1;
		}
	}
	if (end > x)
		x = rt_canvas_put_cut(canvas, box, x, y, end - x, rt_steps_what(&h->steps, step),
				      ink);
	if (step->is_current) {
		x = rt_canvas_put(canvas, box, x + 1, y, arrow, RT_INK_GOOD);
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "now", RT_INK_GOOD | RT_INK_BOLD);
	} else if (step->is_undone && box.w >= BY_MIN * 2) {
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "(undone)", RT_INK_DIM);
	}
}

static void
draw_detail(history *h, rt_canvas *canvas, rt_box box)
{
	const rt_step *step = at_cursor(h);
	size_t rows = box.h > 0 ? (size_t)box.h : 0, left;

	h->detail_rows = box.h;
	h->detail_x = box.x;
	h->detail_y = box.y;
	h->want_columns = box.w > 0 ? box.w : 0;
	if (step == NULL)
		return;
	if (h->detail_seq != step->seq || h->detail_columns != box.w) {
		(void)rt_canvas_put(canvas, box, 0, 0, rt_canvas_glyph(canvas, RT_GLYPH_ELLIPSIS),
				    RT_INK_DIM);
		return;
	}
	if (h->detail_top + rows > h->detail.count)
		h->detail_top = h->detail.count > rows ? h->detail.count - rows : 0;
	left = h->detail.count - h->detail_top;
	rt_lines_draw(&h->detail, h->detail_top, left < rows ? left : rows, canvas, box,
		      rt_str_at(NULL, 0));
}

/* The listed scope, and how much of it has been read. */
static void
draw_title(history *h, rt_canvas *canvas, rt_box box)
{
	rt_tui *tui = h->pane.tui;
	rt_buf *left = rt_scope_buf(&tui->scope), *right = rt_scope_buf(&tui->scope);

	rt_buf_add_c(left, "History of ");
	rt_buf_add_str(left, rt_tui_disc_title(tui));
	if (h->is_finding || h->wants_end)
		rt_buf_add_f(right, "%s%s  ", h->is_finding ? "searching" : "reading",
			     canvas->utf8 ? "…" : "...");
	if (h->scope != ALL)
		rt_buf_add_f(right, "only: %s  ", scope_words[h->scope]);
	rt_buf_add_f(right, "%zu of %zu%s", h->list.count > 0 ? h->list.at + 1 : 0, h->list.count,
		     h->steps.is_whole ? "" : "+");
	rt_bar_draw(canvas, box, rt_buf_str(left), rt_buf_str(right));
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	history *h = of(pane);
	rt_box list = {box.x, box.y + 1, box.w, box.h - 1}, detail = {0};

	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	draw_title(h, canvas, box);
	h->want_columns = 0;
	if (list.h > 1) {
		rt_search_bar_draw(&h->bar, canvas, box);
		list.h -= h->bar.is_open;
	}
	if (h->has_detail && list.w >= WIDE) {
		detail = list;
		list.w = list.w * 9 / 20;
		detail.x += list.w + 2;
		detail.w -= list.w + 2;
		rt_bar_line(canvas, (rt_box){box.x + list.w, list.y, 1, list.h}, RT_GLYPH_VERTICAL);
	} else if (h->has_detail && list.h >= TALL) {
		detail = list;
		list.h = list.h * 2 / 5;
		detail.y += list.h + 1;
		detail.h -= list.h + 1;
		rt_bar_line(canvas, (rt_box){box.x, list.y + list.h, box.w, 1},
			    RT_GLYPH_HORIZONTAL);
	} else if (h->has_detail) {
		detail = list;
		list.h = 0;
	}
	if (list.h > 0) {
		rt_list_fit(&h->list, list.h);
		h->widths = measure(h, canvas, list.w);
		rt_list_draw(&h->list, canvas, list, draw_row, h);
	}
	if (detail.w > 0)
		draw_detail(h, canvas, detail);
}

/* ---- changes ---- */

/* A jump or a revert that is pending. */
typedef struct change {
	uint64_t seq;
	uint64_t before; /* the current step when it was requested */
	rt_precondition seen;
} change;

static void
free_change(rt_tui *tui, void *ctx)
{
	rt_precondition_deinit(&((change *)ctx)->seen);
	rt_free(tui->alloc, ctx);
}

/* The discussion's current step. */
static uint64_t
current_step(const rt_work *work)
{
	uint64_t in_disc = work->disc->history.current, in_project = work->value->history.current;

	return in_disc > in_project ? in_disc : in_project;
}

static void
begin_change(history *h, rt_op_id op, uint64_t seq, rt_pending_change_fn done)
{
	rt_tui *tui = h->pane.tui;
	rt_request request = {.op = op, .step = {seq, true}};
	change *c = rt_new0(tui->alloc, sizeof(*c));
	rt_work *work = &tui->work;
	rt_error err;
	rt_status st;
	rt_scope s;

	if (c == NULL) {
		(void)rt_scope_nomem(scope_of(h));
		return;
	}
	c->seq = seq;
	c->before = current_step(work);
	rt_scope_init(&s, tui->alloc);
	rt_precondition_init(&c->seen, tui->alloc, work->place.disc);
	rt_precondition_add(&s, &c->seen, (rt_fact){.kind = RT_FACT_STEP}, work->engine,
			    work->value);
	rt_precondition_add(&s, &c->seen, (rt_fact){.kind = RT_FACT_REDO}, work->engine,
			    work->value);
	st = rt_scope_end(&s, &err);
	if (st != RT_OK) {
		free_change(tui, c);
		RT_TRY(scope_of(h), rt_tui_say_failure(tui, st, &err));
		return;
	}
	RT_TRY(scope_of(h),
	       rt_pending_change_start(tui, &(rt_pending_change_options){.requests = &request,
									 .count = 1,
									 .precondition = &c->seen,
									 .done = done,
									 .ctx = c,
									 .free_ctx = free_change}));
}

/* After a conflict the list shows the changes of others. */
static rt_status
report_failure(rt_tui *tui, rt_status st, rt_work_said *said, const rt_error *err)
{
	if (st != RT_CONFLICT)
		return rt_pending_change_report(tui, NULL, st, said, err);
	rt_tui_say_error(tui, err, RT_STR("Nothing was done; press the same key again to "
					  "confirm"));
	return RT_OK;
}

static rt_status
jumped(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	const change *c = ctx;
	rt_str note = rt_buf_str(&said->note);

	if (st != RT_OK)
		return report_failure(tui, st, said, err);
	if (said->seq == 0)
		rt_tui_say(tui, "Already in this state");
	else if (c->seq == 0)
		rt_tui_say_done(tui,
				"Restored the discussion to the state before its first step. To "
				"return: Enter on step %llu",
				(unsigned long long)c->before);
	else
		rt_tui_say_done(
			tui, "Restored the state right after step %llu. %.*s%sTo return: Enter "
			     "on step %llu",
			(unsigned long long)c->seq, RT_STR_ARG(note), note.size > 0 ? " " : "",
			(unsigned long long)c->before);
	return RT_OK;
}

static rt_status
reverted(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	if (st != RT_OK)
		return report_failure(tui, st, said, err);
	rt_buf_clear(&said->words);
	rt_buf_add_f(&said->words, "Reverted only step %llu%s%.*s%s.%s%.*s",
		     (unsigned long long)((const change *)ctx)->seq,
		     said->elsewhere.size > 0 ? " in take \"" : "",
		     RT_STR_ARG(rt_buf_str(&said->elsewhere)),
		     said->elsewhere.size > 0 ? "\", which is not in view" : "",
		     said->note.size > 0 ? " " : "", RT_STR_ARG(rt_buf_str(&said->note)));
	return rt_pending_change_report(tui, NULL, st, said, err);
}

static void
jump(history *h)
{
	const rt_step *step = at_cursor(h);

	if (step != NULL)
		begin_change(h, RT_OP_JUMP, step->seq, jumped);
}

static void
revert(history *h)
{
	const rt_step *step = at_cursor(h);

	if (step == NULL || step->seq == 0)
		rt_tui_say(h->pane.tui, "No step to revert here");
	else
		begin_change(h, RT_OP_REVERT, step->seq, reverted);
}

/* ---- keys ---- */

static void
scroll_detail(history *h, bool down)
{
	size_t page = h->detail_rows > 2 ? (size_t)h->detail_rows - 1 : 1;

	if (down)
		h->detail_top += page; /* drawing limits it */
	else
		h->detail_top -= h->detail_top > page ? page : h->detail_top;
}

/* The details, or if they are not shown the step's description. */
static void
copy(history *h)
{
	const rt_step *step = at_cursor(h);
	rt_buf *text = rt_scope_buf(scope_of(h));

	if (step == NULL)
		return;
	if (h->has_detail && h->detail_seq == step->seq)
		for (size_t i = 0; i < h->detail.count; i++) {
			rt_lines_add_text(&h->detail, i, text);
			rt_buf_add_byte(text, '\n');
		}
	else
		rt_buf_add_str(text, rt_steps_what(&h->steps, step));
	(void)rt_scope_str(scope_of(h), text);
	if (rt_ok(scope_of(h)))
		rt_tui_copy(h->pane.tui, rt_buf_str(text));
}

static bool
act(rt_pane *pane, rt_action action)
{
	history *h = of(pane);

	if (h->bar.is_open)
		return rt_search_bar_act(&h->bar, action);
	if (rt_list_act(&h->list, action)) {
		if (action == RT_ACT_END)
			h->wants_end = !h->steps.is_whole;
		else
			h->wants_end = h->is_finding = false;
		return true;
	}
	switch (action) {
	case RT_ACT_ACCEPT: jump(h); return true;
	case RT_ACT_REVERT: revert(h); return true;
	case RT_ACT_CANCEL:
		if (h->is_finding || h->wants_end)
			h->is_finding = h->wants_end = false;
		else
			rt_tui_close(pane->tui, pane);
		return true;
	case RT_ACT_COPY: copy(h); return true;
	case RT_ACT_PREVIEW: h->has_detail = !h->has_detail; return true;
	case RT_ACT_LEFT: scroll_detail(h, false); return true;
	case RT_ACT_RIGHT: scroll_detail(h, true); return true;
	case RT_ACT_FILTER_NEXT: filter_next(h); return true;
	case RT_ACT_FIND_NEXT: find(h, false, h->list.at + 1); return true;
	case RT_ACT_FIND_PREVIOUS: find(h, true, 0); return true;
	case RT_ACT_SEARCH: rt_search_bar_open(&h->bar); return true;
	default: return false;
	}
}

/* The wheel over the details scrolls them. */
static rt_mouse_use
mouse(rt_pane *pane, const rt_mouse *m)
{
	enum { ROWS = 3 };
	history *h = of(pane);

	if (m->kind == RT_MOUSE_PRESS || h->want_columns == 0 || m->x < h->detail_x ||
	    m->y < h->detail_y)
		return RT_MOUSE_UNUSED;
	if (m->kind == RT_MOUSE_WHEEL_DOWN)
		h->detail_top += ROWS; /* drawing limits it */
	else
		h->detail_top -= h->detail_top > ROWS ? ROWS : h->detail_top;
	return RT_MOUSE_USED;
}

static bool
key(rt_pane *pane, rt_key k)
{
	history *h = of(pane);

	if (!h->bar.is_open && rt_keymap_is_text(pane->tui->keys, RT_SCREEN_HISTORY, k))
		rt_search_bar_open(&h->bar);
	return h->bar.is_open && rt_search_bar_key(&h->bar, k);
}

static void
paste(rt_pane *pane, rt_str text)
{
	history *h = of(pane);

	if (!h->bar.is_open)
		rt_search_bar_open(&h->bar);
	rt_search_bar_paste(&h->bar, text);
}

static void
free_history(rt_pane *pane)
{
	history *h = of(pane);

	if (h->job != NULL) /* may take long for an old step */
		rt_worker_detach(&h->job->worker, pane->tui, free_job);
	rt_lines_deinit(&h->detail);
	rt_steps_deinit(&h->steps);
	rt_search_bar_deinit(&h->bar);
	rt_free(pane->tui->alloc, h->shown);
	rt_free(pane->tui->alloc, h);
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_HISTORY,
	.draw = draw,
	.act = act,
	.key = key,
	.mouse = mouse,
	.paste = paste,
	.changed = changed,
	.poll = poll_history,
	.free = free_history,
};

rt_status
rt_pane_history(rt_tui *tui)
{
	history *h = rt_new0(tui->alloc, sizeof(*h));
	rt_status st;

	if (h == NULL)
		return RT_NOMEM;
	(void)rt_tui_begin(tui);
	h->pane.ops = &ops;
	h->pane.tui = tui;
	h->pane.list = &h->list;
	rt_steps_init(&h->steps, tui->alloc);
	rt_lines_init(&h->detail, tui->alloc);
	rt_search_bar_init(&h->bar, &h->pane, search);
	h->detail_seq = h->moved_seq = UINT64_MAX;
	h->has_detail = tui->canvas.columns >= WIDE || tui->canvas.rows >= 2 * TALL;
	reload(h);
	for (size_t i = 0; i < h->list.count; i++)
		if (step_at(h, i)->is_current)
			h->list.at = i;
	st = rt_tui_end(tui);
	if (st != RT_OK) {
		free_history(&h->pane);
		return st;
	}
	return rt_tui_push(tui, &h->pane);
}
