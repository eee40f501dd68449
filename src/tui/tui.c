/* SPDX-License-Identifier: MIT
 *
 * The loop: what the person does goes to the pane on top, what has changed is told to all, and
 * when nothing more is waiting one frame is drawn. */
#define _POSIX_C_SOURCE 200809L

#include "tui/tui.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "app/files.h"
#include "tui/worker.h"
#include "tui/bar.h"
#include "tui/pending.h"
#include "tui/terminal.h"
#include "tui/pane.h"
#include "tui/verb.h"

enum {
	IDLE_MS = 200,    /* between two looks at what other processes did */
	RUNNING_MS = 33,  /* while a reply comes */
	EVENTS_MAX = 256, /* taken before the next frame is drawn */
	NOTICE_ROWS = 3,
	NAME_LEAST = 10        /* columns that the title has for each name in any case */
};

/* Free what was closed. Not while one of them may be on the stack of calls. */
static void
sweep(rt_tui *tui)
{
	while (tui->pane_count > 0 && tui->panes[tui->pane_count - 1]->closes) {
		rt_pane *pane = tui->panes[--tui->pane_count];

		pane->ops->free(pane);
	}
	/* One that was closed below another that came after it. */
	for (size_t i = 1; i < tui->pane_count; i++)
		if (tui->panes[i]->closes) {
			rt_pane *pane = tui->panes[i];

			memmove(&tui->panes[i], &tui->panes[i + 1],
				(tui->pane_count - i - 1) * sizeof(tui->panes[0]));
			tui->pane_count--;
			i--;
			pane->ops->free(pane);
		}
}

/* Notes of the session: what hooks and the store say. */
static void
say_told(rt_tui *tui)
{
	rt_buf *said = &tui->notes;

	if (said->size == 0)
		return;
	rt_tui_say_str(tui, rt_str_trim(rt_buf_str(said)), RT_INK_WARNING);
	rt_buf_clear(said);
}

/* ---- a frame ---- */

/* How many takes of the discussion there are up to this one. */
static unsigned
take_which(const rt_work *work)
{
	unsigned which = 0;
	uint32_t i;

	for (i = 1; i <= work->take->number; i++)
		which += rt_disc_take(work->disc, i)->present;
	return which;
}

/* The discussion, its take and what is told behind them in that many columns; the longer name is
 * cut first. false: it takes more than these. */
static bool
add_names(rt_tui *tui, int columns, bool with_take, rt_str more, rt_buf *out)
{
	static const char between[] = "  take: ";
	rt_str disc = rt_work_disc_name(&tui->work), take = rt_work_take_name(&tui->work);
	int room = columns - 1 - (with_take ? (int)sizeof(between) - 1 : 0), most, width;

	room -= rt_canvas_width(&tui->canvas, more);
	room = room > 2 * NAME_LEAST ? room : 2 * NAME_LEAST;
	width = with_take ? rt_canvas_width(&tui->canvas, take) : 0;
	most = width < room / 2 ? room - width : room - room / 2;
	width = rt_canvas_width(&tui->canvas, disc);
	rt_buf_clear(out);
	rt_buf_add_byte(out, ' ');
	rt_canvas_add_name(&tui->canvas, disc, most, out);
	if (with_take) {
		rt_buf_add_c(out, between);
		rt_canvas_add_name(&tui->canvas, take, room - (width < most ? width : most), out);
	}
	rt_buf_add_str(out, more);
	return rt_canvas_width(&tui->canvas, rt_buf_str(out)) <= columns;
}

/* Title: discussion, take, head, step; on the right the model and how much there is to send. */
static void
draw_title(rt_tui *tui, rt_box box)
{
	rt_canvas *c = &tui->canvas;
	rt_work *w = &tui->work;
	size_t count = rt_work_count(w), head = rt_work_head(w), tokens;
	bool with_take = w->take_count > 1 || box.w >= 60;
	rt_buf left, right, more;
	size_t least;
	int width, room;

	rt_buf_init(&left, tui->alloc, 4096);
	rt_buf_init(&more, tui->alloc, 4096);
	rt_buf_init(&right, tui->alloc, 4096);
	rt_canvas_add_name(c, w->model.size > 0 ? rt_buf_str(&w->model) : RT_STR("no model"),
			   box.w / 3 > NAME_LEAST ? box.w / 3 : NAME_LEAST, &right);
	tokens = rt_tokens_estimate((size_t)rt_seq_total(w->take->slots).bytes);
	if (tokens < 1000)
		rt_buf_add_f(&right, "  ~%zu tok ", tokens);
	else
		rt_buf_add_f(&right, "  ~%zuk tok ", (tokens + 500) / 1000);
	if (w->take_count > 1)
		rt_buf_add_f(&more, ", %u of %zu", take_which(w), w->take_count);
	if (w->read_only)
		rt_buf_add_c(&more, "  read only");
	least = more.size;
	if (head == count)
		rt_buf_add_f(&more, "  %zu %s", count, count == 1 ? "entry" : "entries");
	else
		rt_buf_add_f(&more, "  head %zu of %zu", head, count);
	rt_canvas_fill(c, box, RT_INK_BAR);
	width = rt_canvas_width(c, rt_buf_str(&right));
	room = box.w - width - 1;
	if (room < 20)
		room = box.w;
	/* What goes before the names do: the count, then what is on the right. */
	if (!add_names(tui, room, with_take, rt_buf_str(&more), &left) &&
	    !add_names(tui, room, with_take, rt_str_at(more.ptr, least), &left))
		(void)add_names(tui, room = box.w, with_take, rt_str_at(more.ptr, least), &left);
	if (room < box.w)
		(void)rt_canvas_put(c, box, box.w - width, 0, rt_buf_str(&right), RT_INK_BAR);
	(void)rt_canvas_put_cut(c, box, 0, 0, room, rt_buf_str(&left), RT_INK_BAR | RT_INK_BOLD);
	rt_buf_deinit(&left);
	rt_buf_deinit(&right);
	rt_buf_deinit(&more);
}

/* The columns of a key and what it does; 0: no key does it. */
static int
key_width(rt_tui *tui, const rt_key_row *row)
{
	rt_buf word;
	int width = 0;

	rt_buf_init(&word, tui->alloc, 256);
	rt_keymap_add_key(tui->keys, rt_tui_top(tui)->screen, row->action, &word);
	if (word.size > 0)
		width = rt_canvas_width(&tui->canvas, rt_buf_str(&word)) + 1 +
			rt_canvas_width(&tui->canvas, rt_str_of(row->footer));
	rt_buf_deinit(&word);
	return width;
}

/* Gives the column behind it, or x where it does not fit before end. */
static int
draw_key(rt_tui *tui, rt_box box, int x, int end, const rt_key_row *row)
{
	int width = key_width(tui, row);
	rt_buf word;

	if (width == 0 || x + width > end)
		return x;
	rt_buf_init(&word, tui->alloc, 256);
	rt_keymap_add_key(tui->keys, rt_tui_top(tui)->screen, row->action, &word);
	x = rt_canvas_put(&tui->canvas, box, x, 0, rt_buf_str(&word), RT_INK_TEXT | RT_INK_BOLD);
	rt_buf_deinit(&word);
	return rt_canvas_put_c(&tui->canvas, box, x + 1, 0, row->footer, RT_INK_DIM) + 2;
}

/* The keys that are worth knowing on this screen, as many as fit; the way out always, and before
 * the others the one that shows them all. */
static void
draw_footer(rt_tui *tui, rt_box box)
{
	const rt_pane *pane = rt_tui_top(tui);
	const rt_key_row *last[2] = {NULL, NULL}, *row;
	int x = 1, end = box.w, drawn;
	size_t i;

	if (pane->footer != NULL) {
		(void)rt_bar_put_parts(&tui->canvas, box, 1, rt_str_of(pane->footer), RT_INK_DIM);
		return;
	}
	for (row = rt_key_rows; row->action != RT_ACT_NONE; row++)
		if (row->screen == pane->screen && row->footer != NULL &&
		    pane->screen != RT_SCREEN_CHAT && /* where it is not the way out */
		    (row->action == RT_ACT_CANCEL || row->action == RT_ACT_HELP))
			last[row->action == RT_ACT_CANCEL] = row;
	for (i = 2; i-- > 0;)
		if (last[i] != NULL && (i == 1 || key_width(tui, last[i]) + 2 < end))
			end -= key_width(tui, last[i]) + 2;
		else
			last[i] = NULL;
	for (row = rt_key_rows; row->action != RT_ACT_NONE; row++) {
		if (row->screen != pane->screen || row->footer == NULL || row == last[0] ||
		    row == last[1])
			continue;
		drawn = draw_key(tui, box, x, end, row);
		if (drawn == x)
			break;
		x = drawn;
	}
	for (i = 0; i < 2; i++)
		if (last[i] != NULL)
			x = draw_key(tui, box, x, box.w, last[i]);
}

/* What was done; or, before that, what is waited for. */
static int
notice_rows(rt_tui *tui, int columns)
{
	rt_buf waits;
	bool is_waiting;
	int rows;

	rt_lines_clear(&tui->notice_lines);
	rt_buf_init(&waits, tui->alloc, 4096);
	is_waiting = rt_pending_change_status_text(tui, &waits);
	if (is_waiting || tui->notice.size > 0)
		rt_lines_add_plain(&tui->notice_lines, rt_buf_str(is_waiting ? &waits : &tui->notice),
				   &(rt_lines_options){.columns = columns > 2 ? columns - 2 : 1,
						       .utf8 = tui->canvas.utf8,
						       .ink = is_waiting ? RT_INK_WARNING
									 : tui->notice_ink});
	rt_buf_deinit(&waits);
	rows = (int)tui->notice_lines.count;
	return rows > NOTICE_ROWS ? NOTICE_ROWS : rows;
}

void
rt_tui_draw(rt_tui *tui)
{
	rt_canvas *c = &tui->canvas;
	rt_box area = rt_canvas_box(c), footer = {0, 0, area.w, 0};
	size_t i = tui->pane_count;
	int cursor_x = -1, cursor_y = -1, notice;

	(void)rt_tui_begin(tui);
	rt_canvas_clear(c);
	rt_tui_fit_way_back(tui);
	if (area.h >= 4) {
		draw_title(tui, (rt_box){0, 0, area.w, 1});
		area.y++;
		area.h--;
	}
	if (area.h >= 6) {
		footer = (rt_box){0, area.y + area.h - 1, area.w, 1};
		area.h--;
	}
	notice = notice_rows(tui, area.w); /* where it has no room, too: what is drawn was seen */
	notice = area.h >= 5 ? notice : 0;
	if (notice > 0) {
		rt_lines_draw(&tui->notice_lines, 0, (size_t)notice, c,
			      (rt_box){1, area.y + area.h - notice, area.w - 2, notice},
			      rt_str_at("", 0));
		area.h -= notice;
	}
	while (i-- > 0 && area.h > 0) {
		rt_pane *pane = tui->panes[i];
		int h = pane->ops->height == NULL ? 0 : pane->ops->height(pane, area.w, area.h);

		if (i == 0 || h <= 0 || h > area.h)
			h = area.h;
		pane->ops->draw(pane, c, (rt_box){0, area.y + area.h - h, area.w, h});
		area.h -= h;
		if (i == tui->pane_count - 1) {
			cursor_x = c->cursor_x;
			cursor_y = c->cursor_y;
		}
	}
	if (footer.h > 0) /* of what the panes show now: they say it while they are drawn */
		draw_footer(tui, footer);
	c->cursor_x = cursor_x;
	c->cursor_y = cursor_y;
	(void)!rt_tui_end(tui); /* what could not be drawn for lack of memory is left out */
}

/* ---- events ---- */

static rt_status
tell(rt_tui *tui)
{
	rt_status st = RT_OK;
	size_t i;

	if (tui->seen == tui->work.change) {
		tui->is_own = false;
		return RT_OK;
	}
	tui->seen = tui->work.change;
	for (i = 0; st == RT_OK && i < tui->pane_count; i++)
		if (!tui->panes[i]->closes)
			st = rt_pane_changed(tui->panes[i]);
	tui->is_own = false;
	return st;
}

/* How a reply, a compaction or a way through the tree ended. */
static rt_status
say_end(rt_tui *tui)
{
	const rt_work_end *end = &tui->work.end;
	rt_str note = rt_text_str(end->note);
	bool stopped = end->state == RT_RUN_STOPPED, has_entry = end->entry[0] != '\0';
	bool is_navigation = end->how == RT_RUN_GO;
	rt_error err;

	if (!stopped && end->has_problem) {
		rt_str hint = is_navigation ? RT_STR("You are where you were")
			      : has_entry   ? RT_STR("What had come is kept, marked as partial")
					    : rt_str_at("", 0);

		(void)rt_fail(&err, RT_UPSTREAM, "%s", end->problem.text);
		rt_tui_say_error(tui, &err, hint);
	} else if (stopped) {
		rt_tui_say_done(tui, "%s", is_navigation ? "Navigation cancelled"
				      : has_entry ? "Stopped; what had come is kept"
						  : "Stopped");
	} else if (end->how == RT_RUN_COMPACT || end->how == RT_RUN_COMPRESS) {
		rt_tui_say_done(tui, "%s %zu entries: about %zu tokens instead of %zu",
				end->how == RT_RUN_COMPACT ? "Compacted" : "Compressed", end->entries,
				end->tokens_after, end->tokens_before);
	} else if (!is_navigation &&
		   tui->notice_ink != RT_INK_ERROR) { /* what was refused meanwhile */
		rt_tui_say_str(tui, rt_str_at("", 0), RT_INK_TEXT);
	}
	if (note.size > 0)
		rt_buf_add_f(&tui->notice, "%s%.*s", tui->notice.size > 0 ? ".  " : "", RT_STR_ARG(note));
	if (end->how == RT_RUN_ASK && end->has_problem && tui->work.run_question[0] == 0 &&
	    rt_pane_chat_return(tui) != RT_OK)
		return RT_NOMEM;
	return rt_verb_went(tui);
}

/* One screen more than can lie on one another is no reason to leave. */
static rt_status
soften(rt_tui *tui, rt_status st)
{
	if (st != RT_LIMIT)
		return st;
	rt_tui_say(tui, "Too many screens lie on one another: close some first");
	return RT_OK;
}

rt_status
rt_tui_tend(rt_tui *tui)
{
	bool ended = false;
	rt_error err;
	size_t i;
	rt_status st = rt_pending_change_poll(tui);

	if (st != RT_OK)
		return soften(tui, st);
	st = rt_work_tend(&tui->work, &ended, &err);
	if (st == RT_OK && ended)
		st = say_end(tui);
	if (st != RT_OK && st != RT_NOMEM) {
		rt_tui_say_error(tui, &err, rt_str_at("", 0));
		st = RT_OK;
	}
	say_told(tui);
	if (st == RT_OK)
		st = tell(tui);
	for (i = 0; st == RT_OK && i < tui->pane_count; i++)
		if (!tui->panes[i]->closes)
			st = soften(tui, rt_pane_poll(tui->panes[i]));
	sweep(tui);
	rt_worker_reap(tui, false);
	return soften(tui, st);
}

/* One screen of a kind is enough: the one that is open comes to the top. Not past a question, which
 * asks about what lies below it. */
static bool
raise_open(rt_tui *tui, rt_screen screen)
{
	size_t i = tui->pane_count;
	rt_pane *pane;

	while (--i > 0) {
		pane = tui->panes[i];
		if (pane->closes)
			continue;
		if (pane->ops->screen == RT_SCREEN_FIELD)
			return false;
		if (pane->ops->screen == screen)
			break;
	}
	if (i == 0)
		return false;
	memmove(&tui->panes[i], &tui->panes[i + 1],
		(tui->pane_count - i - 1) * sizeof(tui->panes[0]));
	tui->panes[tui->pane_count - 1] = pane;
	return true;
}

/* What any screen can do. */
static rt_status
act_anywhere(rt_tui *tui, rt_action action, bool *out_used)
{
	rt_pane *pane = rt_tui_top(tui);

	*out_used = true;
	switch (action) {
	case RT_ACT_HELP:
		return rt_pane_help(tui, pane->screen);
	case RT_ACT_PALETTE:
		return rt_pane_palette(tui, rt_str_at("", 0));
	case RT_ACT_TREE:
		return raise_open(tui, RT_SCREEN_TREE) ? RT_OK : rt_pane_tree(tui);
	case RT_ACT_HISTORY:
		return raise_open(tui, RT_SCREEN_HISTORY) ? RT_OK : rt_pane_history(tui);
	case RT_ACT_DISCUSSIONS:
		return raise_open(tui, RT_SCREEN_DISCUSSIONS)
			       ? RT_OK
			       : rt_pane_discussions(tui, rt_str_at("", 0));
	case RT_ACT_SUSPEND:
		if (tui->terminal != NULL)
			rt_terminal_suspend(tui->terminal);
		return RT_OK;
	case RT_ACT_REDRAW:
		if (tui->terminal != NULL) {
			rt_terminal_leave(tui->terminal);
			rt_terminal_enter(tui->terminal);
		}
		return RT_OK;
	case RT_ACT_QUIT:
		tui->ends = true;
		return RT_OK;
	default:
		return rt_verb_act(tui, action, NULL, 0, out_used);
	}
}

static rt_status
act(rt_tui *tui, rt_action action)
{
	rt_pane *pane = rt_tui_top(tui);
	bool used = false;
	rt_status st;

	tui->is_own = true; /* until what has changed was told; a pending change knows better */
	st = rt_pane_act(pane, action, &used);
	if (st == RT_OK && !used)
		st = act_anywhere(tui, action, &used);
	sweep(tui);
	st = soften(tui, st);
	return st == RT_OK ? tell(tui) : st;
}

rt_status
rt_tui_key(rt_tui *tui, rt_key key)
{
	rt_pane *pane = rt_tui_top(tui);
	rt_action action;
	bool used = false;
	rt_status st = RT_OK;

	if (tui->notice_fades)
		rt_tui_say_str(tui, rt_str_at("", 0), RT_INK_TEXT);

	/* What gives a character is written, where something is being written. */
	if (rt_key_is_text(key))
		st = rt_pane_key(pane, key, &used);
	if (st == RT_OK && !used) {
		action = rt_keymap_action(tui->keys, pane->screen, key);
		/* Keys that write nothing mean the same whether an entry is selected or not. */
		if (action == RT_ACT_NONE && pane->screen == RT_SCREEN_ENTRY && !rt_key_is_text(key))
			action = rt_keymap_action(tui->keys, RT_SCREEN_CHAT, key);
		if (action != RT_ACT_NONE)
			return act(tui, action);
	}
	if (st == RT_OK && !used && !rt_key_is_text(key))
		st = rt_pane_key(pane, key, &used);
	sweep(tui);
	st = soften(tui, st);
	return st == RT_OK ? tell(tui) : st;
}

rt_status
rt_tui_paste(rt_tui *tui, rt_str text)
{
	rt_pane *pane = rt_tui_top(tui);
	rt_status st = rt_pane_paste(pane, text);

	sweep(tui);
	st = soften(tui, st);
	return st == RT_OK ? tell(tui) : st;
}

/* A key while the pane on top holds them. */
static rt_status
hold(rt_tui *tui, const rt_event *event, bool *out_taken)
{
	rt_action action = RT_ACT_NONE;
	bool writes;

	if (event->kind == RT_EVENT_KEY)
		action = rt_tui_action_of(tui, event->key, &writes);
	else if (event->kind != RT_EVENT_PASTE)
		return RT_OK;
	*out_taken = rt_tui_top(tui)->holds && action != RT_ACT_CANCEL && action != RT_ACT_QUIT &&
		     action != RT_ACT_SUSPEND && action != RT_ACT_REDRAW;
	return *out_taken ? rt_typeahead_add(&tui->typeahead, event) : RT_OK;
}

rt_status
rt_tui_on_event(rt_tui *tui, const rt_event *event)
{
	int columns, rows;
	bool is_taken;
	rt_status st = tell(tui); /* a key is about what there is now */

	if (st == RT_OK)
		st = rt_pending_change_on_event(tui, event, &is_taken);
	if (st == RT_OK && !is_taken)
		st = hold(tui, event, &is_taken);
	if (st != RT_OK || is_taken)
		return soften(tui, st);
	switch (event->kind) {
	case RT_EVENT_KEY:
		return rt_tui_key(tui, event->key);
	case RT_EVENT_PASTE:
		st = rt_tui_paste(tui, event->text);
		if (event->is_cut)
			rt_tui_say_str(tui,
				       RT_STR("There was no room for all that was pasted: "
					      "the end of it is not there"),
				       RT_INK_WARNING);
		return st;
	case RT_EVENT_RESIZE:
		rt_terminal_size(tui->terminal, &columns, &rows);
		return rt_canvas_resize(&tui->canvas, columns, rows);
	case RT_EVENT_END: /* what is not written yet is kept as a draft */
		tui->ends = tui->is_forced = true;
		return soften(tui, rt_pending_change_cancel(tui));
	case RT_EVENT_NONE: /* a moment in which nobody types */
		rt_pane_chat_keep(tui, false);
		return RT_OK;
	case RT_EVENT_WAKE:
		return RT_OK;
	}
	return RT_OK;
}

/* What waited for a change that stands now, or a command that has ended; until there is another one. */
static rt_status
replay_typeahead(rt_tui *tui)
{
	rt_status st = RT_OK;
	rt_event event;

	while (st == RT_OK && !tui->ends && tui->pending == NULL && !rt_tui_top(tui)->holds &&
	       rt_typeahead_next(&tui->typeahead, &event)) {
		st = rt_tui_on_event(tui, &event);
		rt_typeahead_free(&tui->typeahead, &event);
		if (st == RT_OK && tui->pending == NULL)
			st = rt_tui_tend(tui);
	}
	return st;
}

/* Nobody leaves in the middle of a change; but where the terminal is gone, it is not shown any
 * more, and waited for afterwards. */
static bool
goes_on(const rt_tui *tui)
{
	return !tui->ends || (!tui->is_forced && rt_pending_change_is_unfinished(tui));
}

static rt_status
loop(rt_tui *tui)
{
	rt_status st = RT_OK;

	while (st == RT_OK && goes_on(tui)) {
		rt_event event;
		int taken = 0;

		tui->has_more = false;
		st = rt_tui_tend(tui);
		if (st == RT_OK)
			st = replay_typeahead(tui);
		if (st != RT_OK || !goes_on(tui))
			break;
		rt_tui_draw(tui);
		rt_terminal_show(tui->terminal, &tui->canvas);
		rt_terminal_wait(tui->terminal,
				 tui->has_more ? 0
				 : rt_work_is_running(&tui->work) ||
						 rt_pending_change_is_unfinished(tui)
					 ? RUNNING_MS
					 : IDLE_MS,
				 &event);
		st = rt_tui_on_event(tui, &event);
		while (st == RT_OK && !tui->ends && ++taken < EVENTS_MAX &&
		       rt_terminal_pending(tui->terminal)) {
			rt_terminal_wait(tui->terminal, 0, &event);
			st = rt_tui_on_event(tui, &event);
		}
	}
	return st;
}

/* ---- beginning and end ---- */

/* Nothing may be written beside the canvas. */
static void
note(void *ctx, const char *text)
{
	rt_tui *tui = ctx;

	rt_buf_add_f(&tui->notes, "retake: %s\n", text);
}

rt_status
rt_tui_init(rt_tui *tui, const rt_tui_options *options, rt_error *err)
{
	rt_session *session = options->session;
	rt_status st;

	memset(tui, 0, sizeof(*tui));
	tui->alloc = session->alloc;
	tui->session = session;
	tui->commands = options->commands;
	tui->act = act;
	rt_scope_init(&tui->scope, tui->alloc);
	rt_buf_init(&tui->notes, tui->alloc, RT_BUF_UNLIMITED);
	tui->outer_note = session->note;
	tui->outer_note_ctx = session->note_ctx;
	if (session->note != NULL) {
		session->note = note;
		session->note_ctx = tui;
	}
	rt_buf_init(&tui->notice, tui->alloc, 1 << 16);
	rt_buf_init(&tui->clip, tui->alloc, RT_BUF_UNLIMITED);
	rt_typeahead_init(&tui->typeahead, tui->alloc);
	rt_lines_init(&tui->notice_lines, tui->alloc);
	rt_canvas_init(&tui->canvas, tui->alloc, true);
	st = rt_work_open(&tui->work, session, options->model, err);
	if (st != RT_OK)
		return st;
	tui->is_open = true;
	st = rt_keymap_new(tui->alloc, &tui->keys, err);
	if (st == RT_OK)
		st = rt_pane_chat(tui);
	return st;
}

static void
free_panes(rt_tui *tui)
{
	rt_pending_change_stop(tui);
	while (tui->pane_count > 0) {
		rt_pane *pane = tui->panes[--tui->pane_count];

		pane->ops->free(pane);
	}
	rt_worker_reap(tui, true);
}

void
rt_tui_deinit(rt_tui *tui)
{
	free_panes(tui);
	rt_typeahead_deinit(&tui->typeahead);
	rt_keymap_free(tui->keys);
	if (tui->is_open)
		rt_work_close(&tui->work);
	rt_canvas_deinit(&tui->canvas);
	rt_lines_deinit(&tui->notice_lines);
	rt_buf_deinit(&tui->notice);
	rt_buf_deinit(&tui->clip);
	rt_buf_deinit(&tui->notes);
	rt_scope_deinit(&tui->scope);
	tui->session->note = tui->outer_note;
	tui->session->note_ctx = tui->outer_note_ctx;
}

/* keys.toml beside config.toml. One that cannot be read is said, and the keys are as they come. */
static rt_status
read_keys(rt_tui *tui, rt_error *err)
{
	rt_buf path, text;
	rt_error bad = {0}, unread;
	rt_status st = RT_OK;

	rt_buf_init(&path, tui->alloc, 4096);
	rt_buf_init(&text, tui->alloc, 1 << 20);
	if (rt_host_config_dir(&path, NULL) != RT_OK)
		goto done;
	rt_buf_add_c(&path, "/keys.toml");
	if (path.status != RT_OK)
		goto done;
	st = rt_files_read(path.ptr, &text, &unread);
	if (st == RT_OK) {
		st = rt_keymap_read(tui->keys, rt_buf_str(&text), &bad);
		if (st != RT_OK)
			rt_buf_add_f(&tui->notice, "%s: %s. The keys are as they come", path.ptr,
				     bad.text);
	} else if (st != RT_NOT_FOUND) {
		const char *why = unread.text;

		rt_buf_add_f(&tui->notice, "%s%s%s. The keys are as they come",
			     strstr(why, path.ptr) == NULL ? path.ptr : "",
			     strstr(why, path.ptr) == NULL ? ": " : "", why);
	}
	if (st != RT_OK && st != RT_NOT_FOUND)
		tui->notice_ink = RT_INK_ERROR;
	st = st == RT_NOMEM ? rt_fail(err, st, "out of memory") : RT_OK;
done:
	rt_buf_deinit(&path);
	rt_buf_deinit(&text);
	return st;
}

rt_status
rt_tui_run(const rt_tui_options *options, rt_error *err)
{
	rt_terminal_options screen = {.alloc = options->session->alloc,
				      .no_color = options->no_color};
	int columns, rows;
	rt_tui tui;
	rt_status st = rt_tui_init(&tui, options, err);

	if (st == RT_OK)
		st = read_keys(&tui, err);
	if (st == RT_OK)
		st = rt_terminal_open(&screen, &tui.terminal, err);
	if (st == RT_OK) {
		tui.canvas.utf8 = rt_terminal_is_utf8(tui.terminal);
		rt_terminal_size(tui.terminal, &columns, &rows);
		st = rt_canvas_resize(&tui.canvas, columns, rows);
		if (st == RT_OK)
			st = loop(&tui);
		if (tui.is_forced) /* whoever sent the signal has it back, whatever is waited for */
			rt_terminal_leave(tui.terminal);
		if (st == RT_OK)
			st = rt_pending_change_finish(&tui);
		rt_pane_chat_keep(&tui, true);
		if (st != RT_OK)
			(void)rt_fail(err, st, "out of memory");
		/* Threads of panes wake the terminal as long as it is there. */
		free_panes(&tui);
		rt_terminal_close(tui.terminal);
		tui.terminal = NULL;
	}
	rt_tui_deinit(&tui);
	return st;
}
