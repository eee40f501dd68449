/* SPDX-License-Identifier: MIT
 *
 * The loop: events go to the topmost pane, all panes are notified of changes, and a frame is drawn
 * when no more events are waiting. */
#define _POSIX_C_SOURCE 200809L

#include "tui/tui.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "app/files.h"
#include "tui/worker.h"
#include "tui/bar.h"
#include "tui/pending.h"
#include "terminal/terminal.h"
#include "tui/pane.h"
#include "tui/verb_impl.h"

enum {
	IDLE_MS = 200,    /* between two checks for changes of other processes */
	RUNNING_MS = 33,  /* while a reply arrives */
	EVENTS_MAX = 256, /* handled before the next frame */
	NOTICE_ROWS = 3,
	NAME_LEAST = 10, /* minimal columns of each name in the title … */
	NAME_SHORT = 20, /* … while less important text is left out */
	SAME_NAME_MAX = 20, /* longest name of a discussion that is shown again as that of its take */
	TAKES_COLUMNS = 100, /* from this width on the number of takes is labelled */
	USAGE_COLUMNS = 110 /* from this width on it has the usage */
};

/* Free the panes that were closed. Not while one of them may be on the call stack. */
static void
sweep(rt_tui *tui)
{
	size_t count = 0;

	for (size_t i = 0; i < tui->pane_count; i++) {
		rt_pane *pane = tui->panes[i];

		if (i > 0 && pane->closes)
			pane->ops->free(pane);
		else
			tui->panes[count++] = pane;
	}
	tui->pane_count = count;
}

/* Show notes of the session, from hooks and the store. */
static void
show_notes(rt_tui *tui)
{
	rt_scope s;
	rt_buf *words;

	if (tui->notes.size == 0)
		return;
	rt_scope_init(&s, tui->alloc);
	words = rt_scope_buf(&s);
	rt_tui_add_advice(tui, rt_str_trim(rt_buf_str(&tui->notes)), words);
	rt_tui_say_str(tui, rt_buf_str(words), RT_INK_WARNING);
	rt_scope_deinit(&s);
	rt_buf_clear(&tui->notes);
}

/* ---- a frame ---- */

/* The number of present takes up to this one. */
static unsigned
take_position(const rt_work *work)
{
	unsigned position = 0;

	for (uint32_t i = 1; i <= work->take->number; i++)
		position += rt_disc_take(work->disc, i)->present;
	return position;
}

/* The names of the discussion and its take (may be NULL), with the text after them, in a number of columns; the
 * longer name is cut first. False: it is too wide, unless names have fewer than `least` columns. */
static bool
add_names(rt_tui *tui, int columns, const rt_str *take, int least, rt_str more, rt_buf *out)
{
	static const char between[] = "  take: ";
	const rt_canvas *c = &tui->canvas;
	rt_str disc = rt_tui_disc_title(tui);
	int take_width = take != NULL ? rt_canvas_width(c, *take) : 0,
	    disc_width = rt_canvas_width(c, disc);
	int width = columns - 1 - (take != NULL ? (int)sizeof(between) - 1 : 0) -
		    rt_canvas_width(c, more);
	int most;

	width = width > 2 * least ? width : 2 * least;
	most = take_width < width / 2 ? width - take_width : width - width / 2;
	rt_buf_clear(out);
	rt_buf_add_byte(out, ' ');
	rt_canvas_add_name(c, disc, most, out);
	if (take != NULL) {
		rt_buf_add_c(out, between);
		rt_canvas_add_name(c, *take, width - (disc_width < most ? disc_width : most), out);
	}
	rt_buf_add_str(out, more);
	return rt_canvas_width(c, rt_buf_str(out)) <= columns;
}

/* The title: discussion, take, head; on the right the model and the size of the context. */
/* Where the names are in the title, for clicks: " DISCUSSION  take: TAKE", and the model. */
static void
find_spots(rt_tui *tui, rt_str left, int columns, int width)
{
	static const rt_str between = RT_STR_INIT("  take: ");
	const rt_canvas *c = &tui->canvas;
	size_t at = rt_str_find(left, between, 0);
	int names = at == SIZE_MAX ? 0 : rt_canvas_width(c, rt_str_at(left.ptr, at));

	tui->spots[0].from = 1;
	tui->spots[0].to = names > 0 ? names : columns;
	tui->spots[0].line = "/discussions";
	tui->spots[1].from = names > 0 ? names + 2 : 0;
	tui->spots[1].to = names > 0 ? rt_canvas_width(c, left) : 0;
	tui->spots[1].line = "/branches";
	tui->spots[2].from = columns < c->columns ? c->columns - width : 0;
	tui->spots[2].to = columns < c->columns ? c->columns : 0;
	tui->spots[2].line = "/model";
	tui->spot_count = 3;
}

static void
draw_title(rt_tui *tui, rt_scope *s, rt_box box)
{
	rt_canvas *c = &tui->canvas;
	rt_work *w = &tui->work;
	size_t count = rt_work_count(w), head = rt_work_head(w), least, less;
	size_t tokens = rt_work_tokens(w);
	rt_str disc = rt_tui_disc_title(tui);
	/* A long name is not repeated. */
	bool is_same = rt_str_eq(disc, rt_work_take_name(w)) && rt_canvas_width(c, disc) > SAME_NAME_MAX;
	rt_str take = is_same ? RT_STR("") : rt_work_take_name(w);
	bool with_take = w->take_count > 1 || (box.w >= 60 && !is_same);
	rt_buf *left = rt_scope_buf(s), *right = rt_scope_buf(s), *more = rt_scope_buf(s);
	int width, columns;

	rt_canvas_add_name(c, w->model.size > 0 ? rt_buf_str(&w->model) : RT_STR("no model"),
			   box.w / 3 > NAME_LEAST ? box.w / 3 : NAME_LEAST, right);
	if (tokens < 1000)
		rt_buf_add_f(right, "  ~%zu tok ", tokens);
	else
		rt_buf_add_f(right, "  ~%zuk tok ", (tokens + 500) / 1000);
	if (box.w >= USAGE_COLUMNS && rt_work_usage(w).size > 0) {
		rt_buf_add_c(right, " used: ");
		rt_buf_add_str(right, rt_work_usage(w));
		rt_buf_add_byte(right, ' ');
	}
	if (w->take_count > 1)
		rt_buf_add_f(more, "%s%u of %zu%s", is_same ? "" : ", ", take_position(w), w->take_count,
			     box.w >= TAKES_COLUMNS ? " takes" : "");
	if (w->read_only)
		rt_buf_add_c(more, "  read only");
	least = more->size;
	if (rt_work_has_system_prompt(w))
		rt_buf_add_c(more, "  instructions");
	less = more->size;
	if (head == count)
		rt_buf_add_f(more, "  %zu %s", count, count == 1 ? "entry" : "entries");
	else
		rt_buf_add_f(more, "  head %zu of %zu", head, count);
	rt_canvas_fill(c, box, RT_INK_BAR);
	width = rt_canvas_width(c, rt_buf_str(right));
	columns = box.w - width - 1;
	if (columns < 20)
		columns = box.w;
	/* If it is too wide, the count is left out first, then the system prompt, then the right side.
	 * Long names are cut after that. */
	if (!add_names(tui, columns, with_take ? &take : NULL, NAME_SHORT, rt_buf_str(more), left) &&
	    !add_names(tui, columns, with_take ? &take : NULL, NAME_SHORT, rt_str_at(more->ptr, less), left) &&
	    !add_names(tui, columns, with_take ? &take : NULL, NAME_LEAST, rt_str_at(more->ptr, least), left))
		(void)add_names(tui, columns = box.w, with_take ? &take : NULL, NAME_LEAST, rt_str_at(more->ptr, least),
				left);
	if (columns < box.w)
		(void)rt_canvas_put(c, box, box.w - width, 0, rt_buf_str(right), RT_INK_BAR);
	(void)rt_canvas_put_cut(c, box, 0, 0, columns, rt_buf_str(left), RT_INK_BAR | RT_INK_BOLD);
	find_spots(tui, rt_buf_str(left), columns, width);
}

/* A footer: the keys of a screen with their short descriptions. */
typedef struct footer {
	rt_tui *tui;
	rt_scope *scope;
	rt_box box;
	int x;
} footer;

static rt_str
key_word(const footer *f, const rt_key_row *row)
{
	rt_buf *word = rt_scope_buf(f->scope);

	rt_keymap_add_key(f->tui->keys, rt_tui_top(f->tui)->screen, row->action, word);
	return rt_buf_str(word);
}

/* Columns of a key and its description; 0: no key has the action. */
static int
key_width(const footer *f, const rt_key_row *row)
{
	rt_str word = key_word(f, row);

	return word.size == 0 ? 0
			      : rt_canvas_width(&f->tui->canvas, word) + 1 +
					rt_canvas_width(&f->tui->canvas, rt_str_of(row->footer));
}

/* False: it has no key, or does not fit before end. */
static bool
draw_key(footer *f, const rt_key_row *row, int end)
{
	rt_canvas *c = &f->tui->canvas;
	int width = key_width(f, row);

	if (width == 0 || f->x + width > end)
		return false;
	f->x = rt_canvas_put(c, f->box, f->x, 0, key_word(f, row), RT_INK_TEXT | RT_INK_BOLD);
	f->x = rt_canvas_put_c(c, f->box, f->x + 1, 0, row->footer, RT_INK_DIM) + 2;
	return true;
}

/* As many keys as fit; always the one that closes the screen, and before the others the one that
 * shows all keys. */
static void
draw_footer(rt_tui *tui, rt_scope *s, rt_box box)
{
	footer f = {.tui = tui, .scope = s, .box = box, .x = 1};
	const rt_pane *pane = rt_tui_top(tui);
	const rt_key_row *last[2] = {NULL, NULL}; /* help, close */
	int end = box.w;

	if (pane->footer != NULL) {
		(void)rt_bar_put_parts(&tui->canvas, box, 1, rt_str_of(pane->footer), RT_INK_DIM);
		return;
	}
	for (const rt_key_row *row = rt_key_rows; row->action != RT_ACT_NONE; row++)
		if (row->screen == pane->screen && row->footer != NULL &&
		    pane->screen != RT_SCREEN_CHAT && /* which they do not close */
		    (row->action == RT_ACT_CANCEL || row->action == RT_ACT_HELP))
			last[row->action == RT_ACT_CANCEL] = row;
	for (size_t i = 2; i-- > 0;)
		if (last[i] != NULL && (i == 1 || key_width(&f, last[i]) + 2 < end))
			end -= key_width(&f, last[i]) + 2;
		else
			last[i] = NULL;
	for (const rt_key_row *row = rt_key_rows; row->action != RT_ACT_NONE; row++)
		if (row->screen == pane->screen && row->footer != NULL && row != last[0] &&
		    row != last[1] && !draw_key(&f, row, end))
			break;
	for (size_t i = 0; i < 2; i++)
		if (last[i] != NULL)
			(void)draw_key(&f, last[i], box.w);
}

/* Lays out the notice, or the line about the pending change; returns its height. */
static int
layout_notice(rt_tui *tui, rt_scope *s, int columns)
{
	rt_buf *waiting = rt_scope_buf(s);
	bool is_waiting = rt_pending_change_status_text(tui, waiting);
	size_t rows;

	rt_lines_clear(&tui->notice_lines);
	if (is_waiting || tui->notice.size > 0)
		rt_lines_add_plain(
			&tui->notice_lines, rt_buf_str(is_waiting ? waiting : &tui->notice),
			&(rt_lines_options){.columns = columns > 2 ? columns - 2 : 1,
					    .utf8 = tui->canvas.utf8,
					    .ink = is_waiting ? RT_INK_WARNING : tui->notice_ink});
	rows = tui->notice_lines.count;
	return rows > NOTICE_ROWS ? NOTICE_ROWS : (int)rows;
}

void
rt_tui_draw(rt_tui *tui)
{
	rt_canvas *c = &tui->canvas;
	rt_box area = rt_canvas_box(c), bottom = {0, 0, area.w, 0};
	size_t i = tui->pane_count;
	int cursor_x = -1, cursor_y = -1, notice;
	rt_scope *s = rt_tui_begin(tui);

	rt_canvas_clear(c);
	tui->spot_count = 0;
	tui->footer_row = tui->notice_row = -1;
	tui->notice_rows = 0;
	rt_tui_fit_way_back(tui);
	if (area.h >= 4) {
		draw_title(tui, s, (rt_box){0, 0, area.w, 1});
		area.y++;
		area.h--;
	}
	if (area.h >= 6) {
		bottom = (rt_box){0, area.y + area.h - 1, area.w, 1};
		tui->footer_row = bottom.y;
		area.h--;
	}
	notice = layout_notice(tui, s,
			       area.w); /* even if it does not fit: the pending change reads it */
	notice = area.h >= 5 ? notice : 0;
	if (notice > 0) {
		tui->notice_row = area.y + area.h - notice;
		tui->notice_rows = notice;
		rt_lines_draw(&tui->notice_lines, 0, (size_t)notice, c,
			      (rt_box){1, area.y + area.h - notice, area.w - 2, notice},
			      RT_STR(""));
		area.h -= notice;
	}
	for (size_t k = 0; k < i; k++)
		tui->panes[k]->box = (rt_box){0};
	while (i-- > 0 && area.h > 0) {
		rt_pane *pane = tui->panes[i];
		int h = pane->ops->height == NULL ? 0 : pane->ops->height(pane, area.w, area.h);

		if (i == 0 || h <= 0 || h > area.h)
			h = area.h;
		pane->box = (rt_box){0, area.y + area.h - h, area.w, h};
		pane->ops->draw(pane, c, pane->box);
		area.h -= h;
		if (i == tui->pane_count - 1) {
			cursor_x = c->cursor_x;
			cursor_y = c->cursor_y;
		}
	}
	if (bottom.h > 0) /* last: panes may set it while they are drawn */
		draw_footer(tui, s, bottom);
	c->cursor_x = cursor_x;
	c->cursor_y = cursor_y;
	(void)!rt_tui_end(tui); /* anything that could not be drawn for lack of memory is left
				 * out */
}

/* ---- events ---- */

/* Notify panes of changes. */
static rt_status
notify(rt_tui *tui)
{
	rt_status st = RT_OK;

	if (tui->seen != tui->work.change) {
		tui->seen = tui->work.change;
		rt_tui_check_way_back(tui);
		for (size_t i = 0; st == RT_OK && i < tui->pane_count; i++)
			if (!tui->panes[i]->closes)
				st = rt_pane_changed(tui->panes[i]);
	}
	tui->is_own = false;
	return st;
}

/* After a run that was stopped or failed: the key that continues the reply, or asks again. */
static void
add_next_step(rt_tui *tui, bool has_entry)
{
	rt_work *w = &tui->work;
	size_t head = rt_work_head(w);
	rt_buf *key = rt_scope_buf(rt_tui_begin(tui));
	rt_slot slot = {0};

	if (rt_tui_top(tui)->screen == RT_SCREEN_CHAT && head > 0 &&
	    rt_seq_get(w->take->slots, head - 1, &slot, NULL) == RT_OK) {
		bool is_question = (slot.flags & RT_SLOT_TURN) != 0;

		rt_keymap_add_key(tui->keys, RT_SCREEN_CHAT,
				  has_entry ? RT_ACT_CONTINUE : RT_ACT_ACCEPT, key);
		if (key->size > 0 && (has_entry || is_question))
			rt_buf_add_f(&tui->notice, ".  %s: %.*s",
				     has_entry ? "Continue" : "Ask again", RT_STR_ARG(rt_buf_str(key)));
	}
	(void)!rt_tui_end(tui);
}

/* After several replies: how to see the others. */
static void
add_switch_keys(rt_tui *tui)
{
	rt_buf *keys = rt_scope_buf(rt_tui_begin(tui));

	rt_keymap_add_key(tui->keys, RT_SCREEN_CHAT, RT_ACT_TAKE_PREVIOUS, keys);
	rt_buf_add_c(keys, keys->size > 0 ? " and " : "");
	rt_keymap_add_key(tui->keys, RT_SCREEN_CHAT, RT_ACT_TAKE_NEXT, keys);
	rt_buf_add_c(&tui->notice, ": /takes lists and compares them");
	if (keys->size > 0)
		rt_buf_add_f(&tui->notice, "; %.*s switch", RT_STR_ARG(rt_buf_str(keys)));
	(void)!rt_tui_end(tui); /* only a message */
}

/* Report how a run ended. */
static rt_status
report_run(rt_tui *tui)
{
	const rt_work_end *end = &tui->work.end;
	rt_str note = rt_text_str(end->note);
	bool stopped = end->state == RT_RUN_STOPPED, has_entry = end->entry[0] != '\0';
	bool is_navigation = end->how == RT_RUN_GO;

	if (!stopped && end->has_problem) {
		rt_tui_say_error(tui, &end->problem,
				 is_navigation ? RT_STR("Nothing was changed")
				 : has_entry   ? RT_STR("The partial reply was kept and marked "
							"as partial")
					       : RT_STR(""));
	} else if (stopped) {
		rt_tui_say_done(tui, "%s",
				is_navigation ? "Navigation cancelled"
				: end->is_removed ? "Stopped: the discussion was reset or deleted; "
						    "undo restores it and the partial reply"
				: has_entry   ? "Stopped; the partial reply is kept"
					      : "Stopped");
	} else if (end->how == RT_RUN_COMPACT || end->how == RT_RUN_COMPRESS) {
		rt_tui_say_done(tui, "%s %zu entries: about %zu tokens instead of %zu",
				end->how == RT_RUN_COMPACT ? "Compacted" : "Compressed",
				end->entries, end->tokens_after, end->tokens_before);
	} else if (end->models > 0) {
		rt_tui_say_done(tui, "%zu replies, each in a take", end->models);
		add_switch_keys(tui);
	} else if (end->how == RT_RUN_AGAIN && !end->has_problem && end->take[0] != '\0') {
		rt_tui_say_done(tui, "Another reply, in the new take \"%s\"", end->take);
		add_switch_keys(tui);
	} else if (!is_navigation && tui->work.run_disc != tui->work.place.disc &&
		   rt_project_cell(tui->work.value, tui->work.run_disc) != NULL) {
		rt_view view = rt_work_view(&tui->work, rt_tui_begin(tui));

		rt_tui_say_done(tui, "The reply in \"%.*s\" has arrived",
				RT_STR_ARG(rt_disc_title(&view, tui->work.run_disc)));
		if (rt_tui_end(tui) == RT_NOMEM)
			return RT_NOMEM;
	} else if (!is_navigation && tui->notice_ink != RT_INK_ERROR) { /* of something else */
		rt_tui_say_nothing(tui);
	}
	if (note.size > 0)
		rt_buf_add_f(&tui->notice, "%s%.*s", tui->notice.size > 0 ? ".  " : "",
			     RT_STR_ARG(note));
	if (!is_navigation && !end->is_removed && (stopped || end->has_problem) &&
	    tui->work.run_disc == tui->work.place.disc)
		add_next_step(tui, has_entry);
	if (end->how == RT_RUN_ASK && end->has_problem && tui->work.run_question[0] == 0 &&
	    rt_pane_chat_return(tui) != RT_OK)
		return RT_NOMEM;
	return rt_verb_went(tui);
}

/* Too many panes are no reason to quit. */
static rt_status
soften(rt_tui *tui, rt_status st)
{
	if (st != RT_LIMIT)
		return st;
	rt_tui_say(tui, "Too many open screens: close some first");
	return RT_OK;
}

/* Finish an event. */
static rt_status
finish(rt_tui *tui, rt_status st)
{
	sweep(tui);
	st = soften(tui, st);
	return st == RT_OK ? notify(tui) : st;
}

rt_status
rt_tui_tend(rt_tui *tui)
{
	bool ended = false;
	rt_error err;
	rt_status st = rt_pending_change_poll(tui);

	if (st != RT_OK)
		return soften(tui, st);
	st = rt_work_tend(&tui->work, &ended, &err);
	if (st == RT_OK && ended)
		st = report_run(tui);
	if (st != RT_OK && st != RT_NOMEM) {
		rt_tui_say_error(tui, &err, RT_STR(""));
		st = RT_OK;
	}
	show_notes(tui);
	if (st == RT_OK)
		st = notify(tui);
	for (size_t i = 0; st == RT_OK && i < tui->pane_count; i++)
		if (!tui->panes[i]->closes)
			st = soften(tui, rt_pane_poll(tui->panes[i]));
	sweep(tui);
	rt_worker_reap(tui, false);
	return soften(tui, st);
}

/* Brings an open screen of this kind to the top; but not past a question about the screens below
 * it. */
static bool
raise_open(rt_tui *tui, rt_screen screen)
{
	for (size_t i = tui->pane_count - 1; i > 0; i--) {
		rt_pane *pane = tui->panes[i];

		if (pane->closes)
			continue;
		if (pane->ops->screen == RT_SCREEN_FIELD)
			return false;
		if (pane->ops->screen != screen)
			continue;
		memmove(&tui->panes[i], &tui->panes[i + 1],
			(tui->pane_count - i - 1) * sizeof(tui->panes[0]));
		tui->panes[tui->pane_count - 1] = pane;
		return true;
	}
	return false;
}

/* Actions of every screen. */
static rt_status
act_anywhere(rt_tui *tui, rt_action action)
{
	bool used;

	switch (action) {
	case RT_ACT_HELP: return rt_pane_help(tui, rt_tui_top(tui)->screen);
	case RT_ACT_PALETTE: return rt_pane_palette(tui, RT_STR(""));
	case RT_ACT_TREE: return raise_open(tui, RT_SCREEN_TREE) ? RT_OK : rt_pane_tree(tui);
	case RT_ACT_HISTORY:
		return raise_open(tui, RT_SCREEN_HISTORY) ? RT_OK : rt_pane_history(tui);
	case RT_ACT_DISCUSSIONS:
		return raise_open(tui, RT_SCREEN_DISCUSSIONS)
			       ? RT_OK
			       : rt_pane_discussions(tui, RT_STR(""));
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
	case RT_ACT_MOUSE:
		tui->has_mouse = !tui->has_mouse;
		if (tui->terminal != NULL)
			rt_terminal_set_mouse(tui->terminal, tui->has_mouse);
		rt_tui_say(tui, tui->has_mouse
					? "Mouse on. To select text in the terminal, hold Shift"
					: "Mouse off: the terminal selects text");
		return RT_OK;
	case RT_ACT_QUIT: tui->ends = true; return RT_OK;
	case RT_ACT_NEW: return rt_slash_new(tui);
	default: return rt_verb_act(tui, action, NULL, 0, &used);
	}
}

static rt_status
act(rt_tui *tui, rt_action action)
{
	bool used = false;
	rt_status st;

	tui->is_own = true; /* until panes are notified; a pending change sets it more exactly */
	st = rt_pane_act(rt_tui_top(tui), action, &used);
	if (st == RT_OK && !used)
		st = act_anywhere(tui, action);
	return finish(tui, st);
}

rt_status
rt_tui_key(rt_tui *tui, rt_key key)
{
	rt_pane *pane = rt_tui_top(tui);
	bool used = false;
	rt_status st = RT_OK;

	if (tui->notice_fades)
		rt_tui_say_nothing(tui);
	/* A character is typed, if the pane takes text. */
	if (rt_key_is_text(key))
		st = rt_pane_key(pane, key, &used);
	if (st == RT_OK && !used) {
		rt_action action = rt_keymap_action(tui->keys, pane->screen, key);

		/* Other keys mean the same whether an entry is selected or not. */
		if (action == RT_ACT_NONE && pane->screen == RT_SCREEN_ENTRY &&
		    !rt_key_is_text(key))
			action = rt_keymap_action(tui->keys, RT_SCREEN_CHAT, key);
		if (action != RT_ACT_NONE)
			return act(tui, action);
	}
	if (st == RT_OK && !used && !rt_key_is_text(key))
		st = rt_pane_key(pane, key, &used);
	return finish(tui, st);
}

rt_status
rt_tui_paste(rt_tui *tui, rt_str text)
{
	return finish(tui, rt_pane_paste(rt_tui_top(tui), text));
}

/* Keys for a busy pane go to the typeahead. */
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
	rt_status st = notify(tui); /* a key is about the newest state */

	if (st == RT_OK)
		st = rt_pending_change_on_event(tui, event, &is_taken);
	if (st == RT_OK && !is_taken)
		st = hold(tui, event, &is_taken);
	if (st != RT_OK || is_taken)
		return soften(tui, st);
	switch (event->kind) {
	case RT_EVENT_KEY: return rt_tui_key(tui, event->key);
	case RT_EVENT_MOUSE: return finish(tui, rt_tui_mouse(tui, event->mouse));
	case RT_EVENT_PASTE:
		st = rt_tui_paste(tui, event->text);
		if (event->is_cut)
			rt_tui_say_str(tui,
				       RT_STR("The pasted text was too long: its end was cut off"),
				       RT_INK_WARNING);
		return st;
	case RT_EVENT_RESIZE:
		rt_terminal_size(tui->terminal, &columns, &rows);
		return rt_canvas_resize(&tui->canvas, columns, rows);
	case RT_EVENT_END: /* unsaved text becomes a draft */
		tui->ends = tui->is_forced = true;
		return soften(tui, rt_pending_change_cancel(tui));
	case RT_EVENT_NONE: /* a pause in typing */ rt_pane_chat_keep(tui, false); return RT_OK;
	case RT_EVENT_WAKE: return RT_OK;
	}
	return RT_OK;
}

/* Replay the typeahead after a change or a command has ended, until the next one starts. */
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

/* A pending change is waited for before quitting; after a signal that happens without the screen. */
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

/* ---- init and deinit ---- */

/* Notes of the session are shown on the screen. */
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
	rt_buf_init(&tui->title, tui->alloc, RT_BUF_UNLIMITED);
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
	rt_buf_deinit(&tui->title);
	rt_scope_deinit(&tui->scope);
	tui->session->note = tui->outer_note;
	tui->session->note_ctx = tui->outer_note_ctx;
}

/* Read keys.toml, next to config.toml. If it is invalid, that is reported and the keys are
 * unchanged. */
static rt_status
read_keys(rt_tui *tui, rt_error *err)
{
	rt_buf *path, *text;
	rt_error why;
	rt_status st = RT_OK;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	path = rt_scope_buf(&s);
	text = rt_scope_buf(&s);
	text->limit = 1 << 20;
	if (rt_ok(&s) && rt_host_config_dir(path, NULL) == RT_OK) {
		rt_buf_add_c(path, "/keys.toml");
		if (path->status == RT_OK)
			st = rt_files_read(path->ptr, text, &why);
		if (st == RT_OK && path->status == RT_OK) {
			st = rt_keymap_read(tui->keys, rt_buf_str(text), &why);
			if (st != RT_OK)
				rt_buf_add_f(&tui->notice, "%s: %s. Using the default keys",
					     path->ptr, why.text);
		} else if (st != RT_OK && st != RT_NOT_FOUND) {
			bool is_named = strstr(why.text, path->ptr) != NULL;

			rt_buf_add_f(&tui->notice, "%s%s%s. Using the default keys",
				     is_named ? "" : path->ptr, is_named ? "" : ": ", why.text);
		}
	}
	if (st != RT_OK && st != RT_NOT_FOUND)
		tui->notice_ink = RT_INK_ERROR;
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&s);
	return rt_scope_end(&s, err);
}

rt_status
rt_tui_run(const rt_tui_options *options, rt_error *err)
{
	const rt_config *config = options->session->config;
	rt_str theme = config == NULL ? RT_STR("") : config->tui.theme;
	rt_terminal_options screen = {.alloc = options->session->alloc,
				      .theme = rt_str_is(theme, "dark")    ? RT_THEME_DARK
					       : rt_str_is(theme, "light") ? RT_THEME_LIGHT
									   : RT_THEME_AUTO,
				      .no_color = options->no_color};
	int columns, rows;
	rt_tui tui;
	rt_status st = rt_tui_init(&tui, options, err);

	if (st == RT_OK)
		st = read_keys(&tui, err);
	if (st == RT_OK)
		st = rt_terminal_open(&screen, &tui.terminal, err);
	if (st == RT_OK) {
		tui.has_mouse = config == NULL || config->tui.mouse;
		rt_terminal_set_mouse(tui.terminal, tui.has_mouse);
		tui.canvas.utf8 = rt_terminal_is_utf8(tui.terminal);
		rt_terminal_size(tui.terminal, &columns, &rows);
		st = rt_canvas_resize(&tui.canvas, columns, rows);
		if (st == RT_OK)
			st = loop(&tui);
		if (tui.is_forced) /* restore it now, before waiting for the pending change */
			rt_terminal_leave(tui.terminal);
		if (st == RT_OK)
			st = rt_pending_change_finish(&tui);
		rt_pane_chat_keep(&tui, true);
		if (st != RT_OK)
			(void)rt_fail(err, st, "out of memory");
		/* Workers of panes wake the terminal until they have ended. */
		free_panes(&tui);
		rt_terminal_close(tui.terminal);
		tui.terminal = NULL;
	}
	rt_tui_deinit(&tui);
	return st;
}
