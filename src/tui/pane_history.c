/* SPDX-License-Identifier: MIT
 *
 * The history: steps, newest first, with what was undone in lanes of its own (steps.h), and
 * beside or below them what the step under the cursor did and how all stood right after it.
 *
 * Rows are read as far as they are looked at. What a step did is worked out in a thread, when
 * the cursor has rested on it, so that keys never wait for it. */
#include <stdio.h>

#include "app/host.h"
#include "hooks/process.h"
#include "tui/worker.h"
#include "tui/bar.h"
#include "tui/pending.h"
#include "tui/find.h"
#include "tui/terminal.h"
#include "tui/list.h"
#include "tui/steps.h"
#include "tui/step_detail.h"
#include "tui/verb_impl.h"

enum {
	READ = 256,         /* steps at a time */
	READ_FAR = 2048,    /* when somebody wants to go far */
	KEEP_MAX = 8192,    /* so many are read again to find the cursor's step after a change */
	WIDE = 100,         /* columns from which on the look is beside the list */
	TALL = 16,          /* rows from which on it is below the list, else in its place */
	REST_MS = 80,
	DATE_MIN = 62, BY_MIN = 34, BY_MAX = 16,
	LANES_NARROW = 3    /* that are drawn on a narrow screen */
};

typedef enum scope { ALL, OF_DISCUSSION, OF_PROJECT, SCOPES } scope;

static const char *const scope_words[SCOPES] = {"", "discussion", "project"};

/* What is worked out aside. */
typedef struct detail_job {
	rt_worker worker;
	rt_step_detail detail; /* with its own reference to the value */
	rt_buf did;        /* its words */
	rt_lines lines;
	rt_status status;
} detail_job;

/* How wide the columns are, for what is seen. */
typedef struct widths {
	unsigned lanes;
	int number, by;
} widths;

typedef struct history {
	rt_pane pane; /* first */
	rt_steps steps;
	uint32_t *shown;      /* indices of the steps that the scope lets through */
	size_t shown_room, filtered; /* how many steps were looked at for that */
	rt_list list;         /* of shown */
	scope scope;
	uint64_t seen;        /* value_change of the steps */

	rt_field *query;
	bool is_asked;
	rt_buf match;
	bool wants_end;       /* the cursor goes to the last one as soon as it is there */
	bool is_finding;      /* from here on to the next that holds the match */
	size_t find_at;       /* a row of shown */

	bool has_detail;        /* the person wants it */
	detail_job *job;        /* NULL: none */
	rt_lines detail;
	uint64_t detail_seq;    /* UINT64_MAX: none */
	int detail_columns, want_columns; /* 0: there is no room for it */
	size_t detail_top;
	int detail_rows;
	int64_t moved_ms;
	uint64_t moved_seq;
	int columns;
	widths seen_widths; /* of what is drawn */
} history;

static history *
of(rt_pane *pane)
{
	return (history *)pane;
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

/* --- rows --- */

/* Steps that were read and not looked at yet become rows, or not. */
static rt_status
read_steps(history *h)
{
	size_t count = h->list.count;

	if (h->shown_room < h->steps.count) {
		size_t room = h->steps.room;
		uint32_t *grown = rt_resize(h->pane.tui->alloc, h->shown, room * sizeof(*grown));

		if (grown == NULL)
			return RT_NOMEM;
		h->shown = grown;
		h->shown_room = room;
	}
	for (; h->filtered < h->steps.count; h->filtered++) {
		const rt_step *step = &h->steps.steps[h->filtered];

		if (h->scope == ALL || step->seq == 0 ||
		    step->of_project == (h->scope == OF_PROJECT))
			h->shown[count++] = (uint32_t)h->filtered;
	}
	rt_list_count(&h->list, count);
	return RT_OK;
}

static rt_status
more(history *h, size_t count)
{
	rt_error err;
	rt_status st = rt_steps_more(&h->steps, count, &err);

	if (st == RT_OK)
		return read_steps(h);
	if (st == RT_NOMEM)
		return st;
	/* What cannot be read any further ends here. */
	rt_tui_say_error(h->pane.tui, &err, rt_str_at(NULL, 0));
	h->steps.is_whole = true;
	h->wants_end = h->is_finding = false;
	return RT_OK;
}

/* Anew from the newest step on, with the cursor on the step that it was on. */
static rt_status
reload(history *h)
{
	rt_work *work = &h->pane.tui->work;
	const rt_step *was = at_cursor(h);
	uint64_t seq = was != NULL ? was->seq : UINT64_MAX;
	size_t row = h->list.at - h->list.top, at = 0;
	rt_status st;

	h->seen = work->value_change;
	h->detail_seq = UINT64_MAX;
	rt_steps_begin(&h->steps, work->engine, work->value, work->place.disc);
	h->filtered = 0;
	h->list.count = h->list.at = 0;
	st = more(h, READ);
	while (st == RT_OK && seq != UINT64_MAX) {
		while (at < h->list.count && step_at(h, at)->seq != seq)
			at++;
		if (at < h->list.count || h->steps.is_whole || h->steps.count >= KEEP_MAX)
			break;
		st = more(h, READ_FAR);
	}
	h->list.at = at < h->list.count ? at : 0;
	h->list.top = h->list.at > row ? h->list.at - row : 0;
	return st;
}

/* --- search --- */

/* A number is a step's; other texts are in its words. */
static bool
holds(history *h, size_t row)
{
	const rt_step *step = step_at(h, row);
	char number[24];

	(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)step->seq);
	if (strspn(h->match.ptr, "0123456789") == h->match.size)
		return rt_str_is(rt_buf_str(&h->match), number);
	return rt_find_holds(rt_steps_what(&h->steps, step), rt_buf_str(&h->match)) ||
	       rt_find_holds(rt_steps_by(&h->steps, step), rt_buf_str(&h->match));
}

/* On with the search among the rows that there are; tend reads more. */
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
		rt_tui_say(h->pane.tui, "No step below holds \"%.60s\"", h->match.ptr);
	}
}

static void
find_back(history *h)
{
	size_t row = h->list.at;

	while (row > 0)
		if (holds(h, --row)) {
			h->list.at = row;
			return;
		}
	rt_tui_say(h->pane.tui, "No step above holds \"%.60s\"", h->match.ptr);
}

static void
find(history *h, bool backwards, size_t from)
{
	if (h->match.size == 0) {
		rt_tui_say(h->pane.tui, "Nothing was searched for yet");
		return;
	}
	if (backwards) {
		find_back(h);
		return;
	}
	h->is_finding = true;
	h->find_at = from;
	go_on(h);
}

static rt_status
search(history *h)
{
	rt_str text = rt_field_text(h->query);
	rt_status st = rt_field_remember(h->query, text);

	h->is_asked = false;
	h->pane.screen = RT_SCREEN_HISTORY;
	h->pane.footer = NULL;
	rt_buf_clear(&h->match);
	rt_buf_add_str(&h->match, text);
	if (st == RT_OK)
		st = h->match.status;
	if (st == RT_OK && h->match.size > 0)
		find(h, false, h->list.at);
	return st;
}

/* --- the look at a step --- */

static void
work_out(rt_worker *worker, void *ctx)
{
	detail_job *job = ctx;

	(void)worker;
	job->status = rt_step_detail_add(&job->detail, &job->lines);
}

static void
free_job(void *ctx)
{
	detail_job *job = ctx;

	if (job == NULL)
		return;
	rt_object_unref(job->detail.value);
	rt_lines_deinit(&job->lines);
	rt_buf_deinit(&job->did);
	rt_free(job->detail.alloc, job);
}

static rt_status
start_job(history *h, const rt_step *step)
{
	rt_tui *tui = h->pane.tui;
	detail_job *job = rt_new0(tui->alloc, sizeof(*job));
	rt_status st;

	if (job == NULL)
		return RT_NOMEM;
	rt_lines_init(&job->lines, tui->alloc);
	rt_buf_init(&job->did, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&job->did, rt_steps_did(&h->steps, step));
	job->detail = (rt_step_detail){.alloc = tui->alloc,
				       .engine = tui->work.engine,
				       .value = rt_object_ref(tui->work.value),
				       .disc = tui->work.place.disc,
				       .seq = step->seq,
				       .did = rt_buf_str(&job->did),
				       .columns = h->want_columns,
				       .utf8 = tui->canvas.utf8};
	st = job->did.status;
	if (st == RT_OK)
		st = rt_worker_start(&job->worker, tui, work_out, job);
	if (st == RT_OK)
		h->job = job;
	else
		free_job(job);
	return st;
}

static rt_status
poll_detail(history *h)
{
	const rt_step *step = at_cursor(h);
	int64_t now = rt_process_now_ms();
	rt_status st = RT_OK;
	rt_lines swap;

	if (h->job != NULL && rt_worker_ended(&h->job->worker)) {
		swap = h->detail;
		h->detail = h->job->lines;
		h->job->lines = swap;
		h->detail_seq = h->job->detail.seq;
		h->detail_columns = h->job->detail.columns;
		h->detail_top = 0;
		st = h->job->status;
		free_job(h->job);
		h->job = NULL;
	}
	if (step == NULL || h->want_columns == 0 || h->job != NULL)
		return st;
	if (h->moved_seq != step->seq) {
		h->moved_seq = step->seq;
		h->moved_ms = now;
	}
	if (h->detail_seq == step->seq && h->detail_columns == h->want_columns)
		return st;
	if (h->pane.tui->terminal != NULL && now - h->moved_ms < REST_MS)
		return st;
	if (st == RT_OK)
		st = start_job(h, step);
	if (st == RT_BUSY) /* the next time, perhaps */
		return RT_OK;
	/* Without a terminal it is there already. */
	if (st == RT_OK && h->pane.tui->terminal == NULL)
		st = poll_detail(h);
	return st;
}

static rt_status
tend(rt_pane *pane)
{
	history *h = of(pane);
	bool is_far = h->wants_end || h->is_finding;
	rt_status st = RT_OK;

	if (!h->steps.is_whole && (is_far || h->list.at + 2 * h->list.rows + 2 > h->list.count)) {
		st = more(h, is_far ? READ_FAR : READ);
		/* The next part without waiting, but after a look at what the person does. */
		if (pane->tui->terminal != NULL && is_far && !h->steps.is_whole)
			rt_terminal_wake(pane->tui->terminal);
	}
	if (st == RT_OK && h->wants_end) {
		(void)rt_list_act(&h->list, RT_ACT_END);
		h->wants_end = !h->steps.is_whole;
	}
	if (st == RT_OK)
		go_on(h);
	return st == RT_OK ? poll_detail(h) : st;
}

static rt_status
changed(rt_pane *pane)
{
	history *h = of(pane);

	return h->seen == pane->tui->work.value_change ? RT_OK : reload(h);
}

/* --- drawing --- */

/* "| o " … as many columns as lanes of it are drawn; gives the column behind. */
static int
draw_lanes(rt_canvas *canvas, rt_box box, int y, const rt_step *step, unsigned lanes)
{
	rt_str line = rt_canvas_glyph(canvas, RT_GLYPH_VERTICAL);
	rt_str dash = rt_canvas_glyph(canvas, RT_GLYPH_HORIZONTAL);
	const char *dot = step->lane == 0 ? (canvas->utf8 ? "●" : "*") : (canvas->utf8 ? "○" : "o");
	unsigned lane, own = step->lane < lanes ? step->lane : lanes - 1, last = own;
	rt_ink dim = RT_INK_DIM;

	for (lane = own + 1; lane < lanes; lane++)
		if ((step->joins >> lane & 1) != 0)
			last = lane;
	for (lane = 0; lane < lanes; lane++) {
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
			(void)rt_canvas_put(canvas, box, x, y, line, dim);
		else if (lane > own && lane < last)
			(void)rt_canvas_put(canvas, box, x, y, dash, dim);
		if (lane >= own && lane < last)
			(void)rt_canvas_put(canvas, box, x + 1, y, dash, dim);
	}
	return 1 + (int)lanes * 2;
}

/* The lanes that are needed for what is seen. */
static unsigned
count_lanes(const history *h, int columns)
{
	unsigned most = 1, lane;
	size_t i;

	for (i = 0; i < rt_list_seen(&h->list); i++) {
		const rt_step *step = step_at(h, h->list.top + i);
		unsigned bits = (unsigned)(step->passes | step->joins | 1u << step->lane);

		for (lane = most; lane < RT_STEPS_LANES; lane++)
			if ((bits >> lane & 1) != 0)
				most = lane + 1;
	}
	return columns < BY_MIN * 2 && most > LANES_NARROW ? LANES_NARROW : most;
}

static widths
measure(const history *h, rt_canvas *canvas, int width)
{
	widths c = {.lanes = count_lanes(h, width)};
	char number[24];
	size_t i;

	for (i = 0; i < rt_list_seen(&h->list); i++) {
		const rt_step *step = step_at(h, h->list.top + i);
		int size = snprintf(number, sizeof(number), "%llu", (unsigned long long)step->seq);
		int by = rt_canvas_width(canvas, rt_steps_by(&h->steps, step));

		if (step->seq != 0 && size > c.number)
			c.number = size;
		if (by > c.by)
			c.by = by < BY_MAX ? by : BY_MAX;
	}
	return c;
}

static void
draw_row(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row)
{
	history *h = ctx;
	const widths *c = &h->seen_widths;
	const rt_step *step = step_at(h, row);
	rt_ink ink = step->is_undone ? RT_INK_DIM : RT_INK_TEXT;
	rt_str now = RT_STR("now"), arrow = rt_canvas_glyph(canvas, RT_GLYPH_LEFT_ARROW);
	int x = draw_lanes(canvas, box, y, step, c->lanes), room = box.w;
	rt_buf when;

	rt_buf_init(&when, h->pane.tui->alloc, 256);
	if (step->is_current) {
		ink |= RT_INK_BOLD;
		room -= 5 + rt_canvas_width(canvas, arrow);
	} else if (step->is_undone && box.w >= BY_MIN * 2) {
		room -= 9;
	}
	if (step->seq != 0) {
		rt_host_add_local_time(&when, step->at_us, false);
		if (box.w < DATE_MIN + 40 && when.size > 11)
			(void)memmove(when.ptr, when.ptr + 11, (when.size -= 11) + 1);
		x = rt_canvas_put_f(canvas, box, x, y, ink, "%*llu ", c->number,
				    (unsigned long long)step->seq);
		if (box.w >= DATE_MIN)
			x = rt_canvas_put(canvas, box, x, y, rt_buf_str(&when), RT_INK_DIM) + 1;
		if (box.w >= BY_MIN) {
			(void)rt_canvas_put_cut(canvas, box, x, y, c->by, rt_steps_by(&h->steps, step),
						RT_INK_DIM);
			x += c->by + 1;
		}
	}
	if (room > x)
		x = rt_canvas_put_cut(canvas, box, x, y, room - x, rt_steps_what(&h->steps, step), ink);
	if (step->is_current) {
		x = rt_canvas_put(canvas, box, x + 1, y, arrow, RT_INK_GOOD);
		(void)rt_canvas_put(canvas, box, x + 1, y, now, RT_INK_GOOD | RT_INK_BOLD);
	} else if (step->is_undone && box.w >= BY_MIN * 2) {
		(void)rt_canvas_put_c(canvas, box, x + 1, y, "(undone)", RT_INK_DIM);
	}
	rt_buf_deinit(&when);
}

static void
draw_list(history *h, rt_canvas *canvas, rt_box box)
{
	rt_list_fit(&h->list, box.h);
	h->seen_widths = measure(h, canvas, box.w);
	rt_list_draw(&h->list, canvas, box, draw_row, h);
}

static void
draw_detail(history *h, rt_canvas *canvas, rt_box box)
{
	const rt_step *step = at_cursor(h);
	size_t rows = box.h > 0 ? (size_t)box.h : 0, left;

	h->detail_rows = box.h;
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

/* The title of the list: what it shows, and how far it is. */
static void
draw_title(history *h, rt_canvas *canvas, rt_box box)
{
	rt_buf left, right;

	rt_buf_init(&left, h->pane.tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&right, h->pane.tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&left, "History of ");
	rt_buf_add_str(&left, rt_work_disc_name(&h->pane.tui->work));
	if (h->is_finding || h->wants_end)
		rt_buf_add_f(&right, "%s%s  ", h->is_finding ? "searching" : "reading",
			     canvas->utf8 ? "…" : "...");
	if (h->scope != ALL)
		rt_buf_add_f(&right, "only: %s  ", scope_words[h->scope]);
	rt_buf_add_f(&right, "%zu of %zu%s", h->list.count > 0 ? h->list.at + 1 : 0, h->list.count,
		     h->steps.is_whole ? "" : "+");
	rt_bar_draw(canvas, box, rt_buf_str(&left), rt_buf_str(&right));
	rt_buf_deinit(&left);
	rt_buf_deinit(&right);
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	history *h = of(pane);
	rt_box list = {box.x, box.y + 1, box.w, box.h - 1}, detail = {0};
	rt_str line = rt_canvas_glyph(canvas, RT_GLYPH_VERTICAL);
	rt_str dash = rt_canvas_glyph(canvas, RT_GLYPH_HORIZONTAL);
	int i;

	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	draw_title(h, canvas, box);
	h->columns = box.w;
	h->want_columns = 0;
	if (h->is_asked && list.h > 1) {
		list.h--;
		rt_field_draw(h->query, canvas,
			      rt_bar_ask(canvas, (rt_box){box.x, box.y + box.h - 1, box.w, 1},
					 "Search:"),
			      RT_INK_TEXT, true);
	}
	if (h->has_detail && list.w >= WIDE) {
		detail = list;
		list.w = list.w * 9 / 20;
		detail.x += list.w + 2;
		detail.w -= list.w + 2;
		for (i = 0; i < list.h; i++)
			(void)rt_canvas_put(canvas, box, list.w, list.y - box.y + i, line,
					    RT_INK_BORDER);
	} else if (h->has_detail && list.h >= TALL) {
		detail = list;
		list.h = list.h * 2 / 5;
		detail.y += list.h + 1;
		detail.h -= list.h + 1;
		for (i = 0; i < box.w; i++)
			(void)rt_canvas_put(canvas, box, i, list.y - box.y + list.h, dash,
					    RT_INK_BORDER);
	} else if (h->has_detail) {
		detail = list;
		list.h = 0;
	}
	if (list.h > 0)
		draw_list(h, canvas, list);
	if (detail.w > 0)
		draw_detail(h, canvas, detail);
}

/* --- keys --- */

/* The step that the discussion is at. */
static uint64_t
disc_step(const rt_work *work)
{
	uint64_t in_disc = work->disc->history.current, in_project = work->value->history.current;

	return in_disc > in_project ? in_disc : in_project;
}

/* What is said when it is done, and what the list showed when it was asked for. */
typedef struct told {
	uint64_t seq, before;
	rt_precondition seen;
} told;

static void
free_told(rt_tui *tui, void *ctx)
{
	rt_precondition_deinit(&((told *)ctx)->seen);
	rt_free(tui->alloc, ctx);
}

static rt_status
begin(rt_tui *tui, rt_op_id op, uint64_t seq, rt_pending_change_fn done)
{
	rt_request request = {.op = op, .step = {seq, true}};
	rt_pending_change_options how = {
		.requests = &request, .count = 1, .done = done, .free_ctx = free_told};
	told *t = rt_new(tui->alloc, sizeof(*t));
	rt_error err;
	rt_status st;

	if (t == NULL)
		return RT_NOMEM;
	*t = (told){.seq = seq, .before = disc_step(&tui->work)};
	rt_precondition_init(&t->seen, tui->alloc, tui->work.place.disc);
	rt_precondition_set_step(&t->seen, t->before);
	st = rt_precondition_add_redo(&t->seen, tui->work.value, &err);
	if (st != RT_OK) {
		free_told(tui, t);
		return rt_tui_say_failure(tui, st, &err);
	}
	how.precondition = &t->seen;
	how.ctx = t;
	return rt_pending_change_start(tui, &how);
}

/* It was not done. What somebody else did meanwhile is in the list now. */
static rt_status
not_done(rt_tui *tui, rt_status st, rt_work_said *said, const rt_error *err)
{
	if (st != RT_CONFLICT)
		return rt_pending_change_report(tui, NULL, st, said, err);
	rt_tui_say_error(tui, err, RT_STR("Nothing was done; the same key once more does it"));
	return RT_OK;
}

static rt_status
jumped(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	const told *t = ctx;
	rt_str others = rt_buf_str(&said->note);

	if (st == RT_OK && said->seq == 0)
		rt_tui_say(tui, "Already there");
	else if (st == RT_OK && t->seq == 0)
		rt_tui_say_done(tui, "The discussion is as it was before its first step. "
				"Back: Enter on step %llu",
			   (unsigned long long)t->before);
	else if (st == RT_OK)
		rt_tui_say_done(tui, "Now as it was right after step %llu. %.*s%sBack: Enter on step %llu",
			   (unsigned long long)t->seq, RT_STR_ARG(others),
			   others.size > 0 ? " " : "", (unsigned long long)t->before);
	else
		return not_done(tui, st, said, err);
	return RT_OK;
}

static rt_status
jump(history *h)
{
	const rt_step *step = at_cursor(h);

	return step == NULL ? RT_OK : begin(h->pane.tui, RT_OP_JUMP, step->seq, jumped);
}

static rt_status
reverted(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	if (st != RT_OK)
		return not_done(tui, st, said, err);
	rt_buf_clear(&said->words);
	rt_buf_add_f(&said->words, "Reverted step %llu, and nothing else.%s%.*s",
		     (unsigned long long)((const told *)ctx)->seq, said->note.size > 0 ? " " : "",
		     RT_STR_ARG(rt_buf_str(&said->note)));
	return rt_pending_change_report(tui, NULL, st, said, err);
}

static rt_status
revert(history *h)
{
	const rt_step *step = at_cursor(h);

	if (step == NULL || step->seq == 0) {
		rt_tui_say(h->pane.tui, "There is no step to revert here");
		return RT_OK;
	}
	return begin(h->pane.tui, RT_OP_REVERT, step->seq, reverted);
}

/* All, those of the discussion, those of the project. The cursor stays where it can. */
static rt_status
filter_next(history *h)
{
	uint32_t was = h->list.count > 0 ? h->shown[h->list.at] : 0;
	rt_status st;

	h->scope = (scope)((h->scope + 1) % SCOPES);
	h->filtered = 0;
	h->list.count = 0;
	h->is_finding = false;
	st = read_steps(h);
	h->list.at = 0;
	while (h->list.at + 1 < h->list.count && h->shown[h->list.at] < was)
		h->list.at++;
	return st;
}

/* What is to be found is typed from now on. */
static void
ask(history *h)
{
	h->is_asked = true;
	h->pane.screen = RT_SCREEN_FIELD;
	h->pane.footer = "Enter find   Esc cancel";
	rt_field_clear(h->query);
}

static rt_status
act_asked(history *h, rt_action action, bool *out_used)
{
	*out_used = true;
	if (action == RT_ACT_ACCEPT)
		return search(h);
	if (action == RT_ACT_CANCEL) {
		h->is_asked = false;
		h->pane.screen = RT_SCREEN_HISTORY;
		h->pane.footer = NULL;
		return RT_OK;
	}
	return rt_field_act(h->query, action, h->columns - 10, out_used);
}

static void
scroll_detail(history *h, bool down)
{
	size_t page = h->detail_rows > 2 ? (size_t)h->detail_rows - 1 : 1;

	if (down)
		h->detail_top += page; /* drawing keeps it within */
	else
		h->detail_top -= h->detail_top > page ? page : h->detail_top;
}

/* What is told of the step; where that is not shown, its words. */
static rt_status
copy(history *h)
{
	const rt_step *step = at_cursor(h);
	rt_status st;
	size_t i;
	rt_buf text;

	if (step == NULL)
		return RT_OK;
	rt_buf_init(&text, h->pane.tui->alloc, RT_BUF_UNLIMITED);
	if (h->has_detail && h->detail_seq == step->seq)
		for (i = 0; i < h->detail.count; i++) {
			rt_lines_add_text(&h->detail, i, &text);
			rt_buf_add_byte(&text, '\n');
		}
	else
		rt_buf_add_str(&text, rt_steps_what(&h->steps, step));
	st = text.status;
	if (st == RT_OK)
		rt_tui_copy(h->pane.tui, rt_buf_str(&text));
	rt_buf_deinit(&text);
	return st;
}

static rt_status
act(rt_pane *pane, rt_action action, bool *out_used)
{
	history *h = of(pane);

	if (h->is_asked)
		return act_asked(h, action, out_used);
	*out_used = true;
	switch (action) {
	case RT_ACT_END: h->wants_end = !h->steps.is_whole; break;
	case RT_ACT_UP:
	case RT_ACT_DOWN:
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN:
	case RT_ACT_HOME: h->wants_end = h->is_finding = false; break;
	default: break;
	}
	if (rt_list_act(&h->list, action))
		return RT_OK;
	switch (action) {
	case RT_ACT_ACCEPT: return jump(h);
	case RT_ACT_REVERT: return revert(h);
	case RT_ACT_CANCEL: /* what goes on first */
		if (h->is_finding || h->wants_end)
			h->is_finding = h->wants_end = false;
		else
			rt_tui_close(pane->tui, pane);
		return RT_OK;
	case RT_ACT_COPY: return copy(h);
	case RT_ACT_PREVIEW: h->has_detail = !h->has_detail; return RT_OK;
	case RT_ACT_LEFT: scroll_detail(h, false); return RT_OK;
	case RT_ACT_RIGHT: scroll_detail(h, true); return RT_OK;
	case RT_ACT_FILTER_NEXT: return filter_next(h);
	case RT_ACT_FIND_NEXT: find(h, false, h->list.at + 1); return RT_OK;
	case RT_ACT_FIND_PREVIOUS: find(h, true, 0); return RT_OK;
	case RT_ACT_SEARCH: ask(h); return RT_OK;
	default: *out_used = false; return RT_OK;
	}
}

static rt_status
key(rt_pane *pane, rt_key k, bool *out_used)
{
	history *h = of(pane);

	*out_used = false;
	if (!h->is_asked && rt_keymap_is_text(pane->tui->keys, RT_SCREEN_HISTORY, k))
		ask(h);
	return h->is_asked ? rt_field_key(h->query, k, out_used) : RT_OK;
}

static rt_status
paste(rt_pane *pane, rt_str text)
{
	history *h = of(pane);

	if (!h->is_asked)
		ask(h);
	return rt_field_insert(h->query, text);
}

static void
free_history(rt_pane *pane)
{
	history *h = of(pane);
	const rt_alloc *alloc = pane->tui->alloc;

	/* Far back it takes a while, and nobody waits for it. */
	if (h->job != NULL)
		rt_worker_detach(&h->job->worker, pane->tui, free_job);
	rt_lines_deinit(&h->detail);
	rt_steps_deinit(&h->steps);
	rt_field_free(h->query);
	rt_buf_deinit(&h->match);
	rt_free(alloc, h->shown);
	rt_free(alloc, h);
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_HISTORY,
	.draw = draw,
	.act = act,
	.key = key,
	.paste = paste,
	.changed = changed,
	.tend = tend,
	.free = free_history,
};

rt_status
rt_pane_history(rt_tui *tui)
{
	history *h = rt_new0(tui->alloc, sizeof(*h));
	rt_status st;
	size_t i;

	if (h == NULL)
		return RT_NOMEM;
	h->pane.ops = &ops;
	h->pane.tui = tui;
	rt_steps_init(&h->steps, tui->alloc);
	rt_buf_init(&h->match, tui->alloc, RT_BUF_UNLIMITED);
	rt_lines_init(&h->detail, tui->alloc);
	h->detail_seq = h->moved_seq = UINT64_MAX;
	h->has_detail = tui->canvas.columns >= WIDE || tui->canvas.rows >= 2 * TALL;
	st = rt_field_new(tui->alloc, false, &h->query);
	if (st == RT_OK)
		st = reload(h);
	if (st != RT_OK) {
		free_history(&h->pane);
		return st;
	}
	/* The cursor is where things stand. */
	for (i = 0; i < h->list.count; i++)
		if (step_at(h, i)->is_current)
			h->list.at = i;
	return rt_tui_push(tui, &h->pane);
}
