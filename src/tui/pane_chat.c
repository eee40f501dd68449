/* SPDX-License-Identifier: MIT
 *
 * Chat: the take at hand, and the input below it.
 *
 *   what is seen   only entries that are on the screen are read and laid out, and the last few
 *                  hundred layouts are kept; so it costs the same whatever the take's length.
 *                  The view is an entry and how many of its rows are above the screen, or it
 *                  follows the end
 *   an entry       a row that says who speaks, its text, an empty row
 *   selected       with an entry selected keys are verbs (verb.h); Escape, or typing, goes back to
 *                  writing
 *   the input      what is written; a line that begins with "/" is a command */
#include "tui/pane_chat_impl.h"

#include <stdio.h>

#include "tui/draft_host.h"
#include "app/input_history_host.h"
#include "tui/verb_impl.h"

enum {
	RULE_COUNTS = 1 << 20, /* bytes in which lines are counted for each frame */
	SUGGESTIONS = 64,      /* commands that a line could become */
	ACTIVE_COLUMNS = 10    /* " <- active" */
};

static rt_chat *
of(rt_pane *pane)
{
	return (rt_chat *)pane;
}

/* ---- where the view is ---- */

/* Rows of an item; 0 where it cannot be had (and that was said). */
static int
height(rt_chat *chat, size_t item)
{
	const rt_chat_laid *laid;

	if (rt_chat_hides(chat, item))
		return 0;
	laid = rt_chat_layout(chat, item);
	return laid == NULL ? 1 : (int)rt_chat_rows(laid) + 2;
}

static size_t
items(const rt_chat *chat)
{
	const rt_work *work = &chat->pane.tui->work;

	return rt_work_count(work) + (rt_work_is_running(work) ? 1 : 0);
}

/* The last screenful. */
static void
go_end(rt_chat *chat, int rows)
{
	size_t item = items(chat);
	int left = rows;

	chat->top = item;
	chat->top_row = 0;
	while (item > 0 && left > 0) {
		int h = height(chat, --item);

		chat->top = item;
		chat->top_row = h > left ? h - left : 0;
		left -= h;
	}
	chat->follows = true;
}

/* Is the end on the screen, when the view is as it is? */
static bool
sees_end(rt_chat *chat, int rows)
{
	size_t item;
	int left = rows + chat->top_row;

	for (item = chat->top; item < items(chat); item++) {
		left -= height(chat, item);
		if (left < 0)
			return false;
	}
	return true;
}

/* Is something of the item on the screen? */
static bool
sees(rt_chat *chat, size_t item)
{
	size_t at;
	int left = chat->rows + chat->top_row;

	for (at = chat->top; at < item && left > 0; at++)
		left -= height(chat, at);
	return item >= chat->top && left > 0;
}

static void
scroll(rt_chat *chat, int by)
{
	size_t count = items(chat);

	if (count == 0)
		return;
	if (chat->follows && by >= 0)
		return;
	if (chat->top >= count) {
		chat->top = count - 1;
		chat->top_row = 0;
	}
	chat->follows = false;
	chat->top_row += by;
	while (chat->top_row < 0 && chat->top > 0)
		chat->top_row += height(chat, --chat->top);
	if (chat->top_row < 0)
		chat->top_row = 0;
	while (chat->top + 1 < count && chat->top_row >= height(chat, chat->top))
		chat->top_row -= height(chat, chat->top++);
	if (sees_end(chat, chat->rows))
		go_end(chat, chat->rows);
}

/* Move the view as little as it takes to see this item. */
static void
reveal(rt_chat *chat, size_t item)
{
	size_t at;
	int below = 0;

	if (chat->follows)
		go_end(chat, chat->rows);
	if (item < chat->top || (item == chat->top && chat->top_row > 0)) {
		chat->top = item;
		chat->top_row = 0;
		chat->follows = false;
		if (sees_end(chat, chat->rows))
			go_end(chat, chat->rows);
		return;
	}
	/* How far below the screen it ends; what is far away is not laid out on the way. */
	if (item - chat->top > (size_t)chat->rows) {
		chat->top = item;
		chat->top_row = 0;
		below = height(chat, item) - chat->rows;
	} else {
		for (at = chat->top; at <= item; at++)
			below += height(chat, at);
		below -= chat->top_row + chat->rows;
	}
	if (below <= 0 && item - chat->top <= (size_t)chat->rows && chat->top != item)
		return;
	chat->follows = false;
	if (height(chat, item) >= chat->rows) {
		chat->top = item;
		chat->top_row = 0;
	} else if (below > 0) {
		scroll(chat, below);
	} else if (chat->top == item) { /* jumped: put it into the middle */
		scroll(chat, -(chat->rows - height(chat, item)) / 2);
	}
}

static void
show(rt_pane *pane, size_t at)
{
	rt_chat *chat = of(pane);
	rt_tui *tui = pane->tui;

	if (at >= rt_work_count(&tui->work))
		return;
	at = rt_chat_visible(chat, at, -1);
	if (chat->selects) {
		rt_chat_select(chat, at);
	} else { /* marked, and what keys act on; letters are still written */
		rt_slot slot;
		rt_error ignored;

		chat->points = rt_seq_get(tui->work.take->slots, at, &slot, &ignored) == RT_OK;
		chat->sel = at;
		chat->sel_entry = chat->points ? slot.entry : 0;
	}
	reveal(chat, at);
}

void
rt_chat_select(rt_chat *chat, size_t at)
{
	rt_tui *tui = chat->pane.tui;
	rt_slot slot;
	rt_error ignored;

	if (at >= rt_work_count(&tui->work) ||
	    rt_seq_get(tui->work.take->slots, at, &slot, &ignored) != RT_OK) {
		chat->selects = false;
		chat->pane.screen = RT_SCREEN_CHAT;
		return;
	}
	chat->selects = true;
	chat->sel = at;
	chat->sel_entry = slot.entry;
	chat->pane.screen = RT_SCREEN_ENTRY;
}

static void
select_none(rt_chat *chat)
{
	chat->selects = chat->points = false;
	chat->mark_count = 0;
	chat->pane.screen = RT_SCREEN_CHAT;
}

/* ---- drawing ---- */

static rt_ink
role_ink(rt_str role)
{
	if (rt_str_eq_nocase(role, RT_STR("user")))
		return RT_INK_USER;
	if (rt_str_eq_nocase(role, RT_STR("AI")) || rt_str_eq_nocase(role, RT_STR("assistant")))
		return RT_INK_AI;
	if (rt_str_eq_nocase(role, RT_STR("system")))
		return RT_INK_SYSTEM;
	return RT_INK_TOOL;
}

static bool
is_marked(const rt_chat *chat, uint32_t entry)
{
	size_t i;

	for (i = 0; i < chat->mark_count; i++)
		if (chat->marks[i] == entry)
			return true;
	return false;
}

/* "2/3": the take goes this way at this position, of so many. */
static void
add_fork(rt_chat *chat, size_t at, rt_buf *out)
{
	size_t i;

	for (i = 0; i < chat->fork_count; i++)
		if (chat->forks[i].at == at)
			rt_buf_add_f(out, " < %u/%u >", chat->forks[i].which, chat->forks[i].of);
}

/* The row that says who speaks. */
static void
draw_head(rt_chat *chat, rt_canvas *c, rt_box box, int y, size_t item, const rt_chat_laid *laid)
{
	rt_work *work = &chat->pane.tui->work;
	bool is_run = item >= rt_work_count(work);
	bool selected = (chat->selects || chat->points) && item == chat->sel;
	rt_buf extra, number;
	bool is_active = !is_run && item + 1 == rt_work_head(work) &&
			 item + 1 < rt_work_count(work);
	int x = 0, width, end;

	rt_buf_init(&extra, chat->pane.tui->alloc, 4096);
	rt_buf_init(&number, chat->pane.tui->alloc, 64);
	if (!is_run && is_marked(chat, laid->entry))
		(void)rt_canvas_put(c, box, 0, y, rt_canvas_glyph(c, RT_GLYPH_CHECK), RT_INK_MATCH);
	else if (selected)
		(void)rt_canvas_put(c, box, 0, y, rt_canvas_glyph(c, RT_GLYPH_CURSOR),
				    RT_INK_TEXT | RT_INK_BOLD);
	x = rt_canvas_put_cut(c, box, 2, y, box.w - 2, rt_buf_str(&laid->role),
			      (rt_ink)(role_ink(rt_buf_str(&laid->role)) | RT_INK_BOLD));
	if (!is_run) {
		add_fork(chat, item, &extra);
		if (laid->kind.size > 0 && !rt_str_is(rt_buf_str(&laid->kind), "message"))
			rt_buf_add_f(&extra, " [%.*s]", RT_STR_ARG(rt_buf_str(&laid->kind)));
		if ((laid->look & RT_CHAT_MUTED) != 0)
			rt_buf_add_c(&extra, " (muted)");
		if ((laid->look & RT_CHAT_EDITED) != 0)
			rt_buf_add_c(&extra, " (edited)");
		if (laid->is_partial)
			rt_buf_add_c(&extra, " (partial)");
		if (item >= rt_work_head(work))
			rt_buf_add_c(&extra, " (after the head: not sent)");
		rt_buf_add_f(&number, "%zu", item + 1);
	} else {
		rt_buf_add_c(&extra, chat->run_is_unsent ? " (not stored yet)" : "");
		rt_buf_add_c(&extra, work->run_notice.size > 0 ? "" : " ...");
		if (work->run_notice.size > 0) {
			rt_buf_add_byte(&extra, ' ');
			rt_buf_add_str(&extra, rt_buf_str(&work->run_notice));
		}
	}
	x = rt_canvas_put_cut(c, box, x, y, box.w - x, rt_buf_str(&extra), RT_INK_DIM);
	width = rt_canvas_width(c, rt_buf_str(&number));
	if (!is_run && laid->label.size > 0) {
		end = box.w - width - (is_active ? ACTIVE_COLUMNS : 0) - 1;
		x = rt_canvas_put(c, box, x + 1, y, RT_STR("#"), RT_INK_LABEL);
		x = rt_canvas_put_cut(c, box, x, y, (x < end ? end : box.w) - x,
				      rt_buf_str(&laid->label), RT_INK_LABEL);
	}
	if (is_active) {
		x = rt_canvas_put(c, box, x + 1, y, rt_canvas_glyph(c, RT_GLYPH_LEFT_ARROW),
				  RT_INK_GOOD | RT_INK_BOLD);
		x = rt_canvas_put(c, box, x, y, RT_STR(" active"), RT_INK_GOOD | RT_INK_BOLD);
	}
	if (x + width < box.w)
		(void)rt_canvas_put(c, box, box.w - width, y, rt_buf_str(&number), RT_INK_DIM);
	if (selected)
		rt_canvas_flag(c, rt_box_within((rt_box){box.x, box.y + y, box.w, 1}, box),
			       RT_INK_SELECTED);
	rt_buf_deinit(&extra);
	rt_buf_deinit(&number);
}

/* What an empty discussion has to say: what this is, and what to do. */
static void
draw_welcome(rt_chat *chat, rt_canvas *c, rt_box box)
{
	rt_tui *tui = chat->pane.tui;
	int y = box.h > 8 ? 2 : 0;

	(void)rt_canvas_put_c(c, box, 2, y, "Nothing has been said here yet.", RT_INK_TEXT | RT_INK_BOLD);
	y += 2;
	if (tui->work.model.size == 0) {
		(void)rt_canvas_put_c(c, box, 2, y++, "No model is chosen. /model PROVIDER/NAME chooses one;",
				      RT_INK_TEXT);
		(void)rt_canvas_put_c(c, box, 2, y++, "/model builtin/echo works without a key.", RT_INK_TEXT);
	} else {
		(void)rt_canvas_put_c(c, box, 2, y++, "Write below, and press Enter.", RT_INK_TEXT);
	}
	(void)rt_canvas_put_c(c, box, 2, y + 1, "/import FILE brings in a conversation from elsewhere,",
			      RT_INK_DIM);
	(void)rt_canvas_put_c(c, box, 2, y + 2, "/discussions shows those that are here, ? all keys.",
			      RT_INK_DIM);
}

static void
draw_entries(rt_chat *chat, rt_canvas *c, rt_box box)
{
	size_t item, count = items(chat);
	int y;

	chat->rows = box.h;
	if (chat->columns != box.w) { /* texts are laid out anew: stay at the same entry */
		chat->columns = box.w;
		chat->top_row = 0;
	}
	if (count == 0) {
		draw_welcome(chat, c, box);
		return;
	}
	/* What is left of a longer take may end above the last row. */
	if (chat->follows || chat->top >= count || sees_end(chat, box.h))
		go_end(chat, box.h);
	y = -chat->top_row;
	for (item = chat->top; item < count && y < box.h; item++) {
		size_t from = y + 1 < 0 ? (size_t)(-y - 1) : 0;
		int at = y + 1 > 0 ? y + 1 : 0;
		const rt_chat_laid *laid;

		if (rt_chat_hides(chat, item))
			continue;
		laid = rt_chat_layout(chat, item);
		if (laid == NULL) {
			(void)rt_canvas_put_c(c, box, 2, y, "(cannot be read)", RT_INK_ERROR);
			y += 1;
			continue;
		}
		if (y >= 0)
			draw_head(chat, c, box, y, item, laid);
		if (from < laid->lines.count && at < box.h) {
			rt_lines_draw(&laid->lines, from, laid->lines.count - from, c,
				      (rt_box){box.x, box.y + at, box.w, box.h - at},
				      rt_buf_str(&chat->find));
			at += (int)(laid->lines.count - from);
			from = laid->lines.count;
		}
		from = from > laid->lines.count ? from - laid->lines.count : 0;
		if (laid->more != NULL && from < laid->more->count && at < box.h)
			rt_lines_draw(laid->more, from, laid->more->count - from, c,
				      (rt_box){box.x, box.y + at, box.w, box.h - at},
				      rt_buf_str(&chat->find));
		if ((chat->selects || chat->points) && item == chat->sel) {
			int edge;

			for (edge = y + 1 > 0 ? y + 1 : 0;
			     edge < box.h && edge <= y + (int)rt_chat_rows(laid); edge++)
				(void)rt_canvas_put(c, box, 0, edge, rt_canvas_glyph(c, RT_GLYPH_BAR),
						    RT_INK_BORDER);
		}
		y += (int)rt_chat_rows(laid) + 2;
	}
}

/* Commands that what is written could become. */
static int
suggestions(rt_chat *chat, const rt_slash *out[], int room)
{
	rt_str text = rt_field_text(chat->field);
	int count = 0;
	size_t i;

	if (text.size == 0 || text.ptr[0] != '/' || rt_str_find(text, RT_STR("\n"), 0) != SIZE_MAX ||
	    rt_str_find(text, RT_STR(" "), 0) != SIZE_MAX)
		return 0;
	for (i = 0; rt_slashes[i].name != NULL && count < room; i++) /* of all that there are */
		if (rt_str_starts(rt_str_of(rt_slashes[i].name), text) &&
		    !rt_str_is(text, rt_slashes[i].name))
			out[count++] = &rt_slashes[i];
	return count;
}

/* From the one on that the list was moved to; and how many there are below. */
static void
draw_suggestions(rt_chat *chat, rt_canvas *c, rt_box box, const rt_slash *const list[], int count)
{
	int i, shown = box.h;

	chat->slash_more = count - box.h;
	if (chat->slash_top > chat->slash_more)
		chat->slash_top = chat->slash_more;
	list += chat->slash_top;
	if (chat->slash_top < chat->slash_more)
		(void)rt_canvas_put_f(c, box, 2, --shown, RT_INK_DIM, "%s %d more: Down",
				      c->utf8 ? "…" : "...", count - chat->slash_top - box.h + 1);
	for (i = 0; i < shown; i++) {
		int x = rt_canvas_put_c(c, box, 2, i, list[i]->name, RT_INK_TEXT | RT_INK_BOLD);

		x = rt_canvas_put_c(c, box, x + 1, i, list[i]->words, RT_INK_DIM);
		(void)rt_canvas_put_c(c, box, x + 2 > 24 ? x + 2 : 24, i, list[i]->what, RT_INK_DIM);
	}
}

/* What is not seen: entries below the view, rows of what is written. */
static void
draw_rule(rt_chat *chat, rt_canvas *c, rt_box rule, int shown)
{
	rt_tui *tui = chat->pane.tui;
	rt_str text = rt_field_text(chat->field);
	size_t lines = 1, i;
	rt_buf words;

	rt_buf_init(&words, tui->alloc, 256);
	if (!chat->follows) {
		rt_buf_add_c(&words, " more below: ");
		rt_keymap_add_key(tui->keys, RT_SCREEN_CHAT, RT_ACT_END, &words);
		rt_buf_add_byte(&words, ' ');
	}
	for (i = 0; i < text.size && i < RULE_COUNTS; i++)
		lines += text.ptr[i] == '\n';
	if (lines > (size_t)shown)
		rt_buf_add_f(&words, " %zu%s lines ", lines, i < text.size ? "+" : "");
	i = (size_t)rt_canvas_width(c, rt_buf_str(&words));
	(void)rt_canvas_put(c, rule, rule.w > (int)i + 2 ? rule.w - (int)i - 2 : 0, 0, rt_buf_str(&words),
			    RT_INK_DIM);
	rt_buf_deinit(&words);
}

static void
draw(rt_pane *pane, rt_canvas *c, rt_box box)
{
	rt_chat *chat = of(pane);
	const rt_slash *list[SUGGESTIONS];
	bool writes = pane->tui->panes[pane->tui->pane_count - 1] == pane && !chat->selects;
	int rows = rt_field_rows(chat->field, c, box.w - 4, box.h / 3 > 1 ? box.h / 3 : 1), x, count, room;
	rt_box view = box, rule, input;

	pane->footer = !chat->selects && rt_work_is_running(&pane->tui->work)
			       ? "Esc stops the reply   what you write meanwhile stays"
			       : NULL;
	if (box.h < 3) {
		draw_entries(chat, c, box);
		return;
	}
	view.h = box.h - rows - 1;
	rule = (rt_box){box.x, box.y + view.h, box.w, 1};
	input = (rt_box){box.x, box.y + view.h + 1, box.w, rows};
	count = writes ? suggestions(chat, list, SUGGESTIONS) : 0;
	room = count < view.h / 2 ? count : view.h / 2;
	view.h -= room;
	draw_entries(chat, c, view);
	draw_suggestions(chat, c, (rt_box){box.x, box.y + view.h, box.w, room}, list, room > 0 ? count : 0);
	for (x = 0; x < box.w; x++)
		(void)rt_canvas_put(c, rule, x, 0, rt_canvas_glyph(c, RT_GLYPH_HORIZONTAL), RT_INK_BORDER);
	draw_rule(chat, c, rule, rows);
	(void)rt_canvas_put_c(c, input, 1, 0, ">", writes ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_DIM);
	rt_field_draw(chat->field, c, (rt_box){input.x + 3, input.y, input.w - 4, input.h},
		      RT_INK_TEXT, writes);
}

/* ---- keys ---- */

/* With nothing written: what is there is answered, where it waits for an answer. */
static rt_status
ask_for_reply(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	size_t head = rt_work_head(&tui->work);
	rt_slot slot;
	rt_error err;

	if (head == 0 || rt_seq_get(tui->work.take->slots, head - 1, &slot, &err) != RT_OK ||
	    (slot.flags & RT_SLOT_TURN) == 0)
		return RT_OK;
	chat->follows = true;
	rt_buf_clear(&chat->sent); /* nothing is handed back */
	return rt_verb_run(tui, &(rt_run_request){.how = RT_RUN_ASK});
}

/* ---- what was sent ---- */

static rt_input_history_key
whose(const rt_tui *tui)
{
	return (rt_input_history_key){rt_buf_str(&tui->work.state), rt_str_of(tui->work.store_path),
				      rt_session_project(tui->session)};
}

static void
bring_one(void *ctx, rt_str text)
{
	rt_chat *chat = ctx;

	if (rt_field_remember(chat->field, text) != RT_OK)
		chat->has_sent = false; /* the next time */
}

/* What was sent before the program began, when somebody may want it. */
static void
bring_sent(rt_chat *chat)
{
	rt_input_history_key ours = whose(chat->pane.tui);

	if (chat->has_sent)
		return;
	chat->has_sent = true;
	rt_input_history_each(chat->pane.tui->alloc, &ours, bring_one, chat);
}

/* For Up, now and when the program runs again. */
static rt_status
remember(rt_chat *chat, rt_str text)
{
	rt_input_history_key ours = whose(chat->pane.tui);

	bring_sent(chat);
	rt_input_history_add(chat->pane.tui->alloc, &ours, text);
	return rt_field_remember(chat->field, text);
}

/* It goes out of all that is being written; empty: what could be brought back does. */
static rt_status
remove_sent_text(rt_chat *chat, rt_str what)
{
	rt_tui *tui = chat->pane.tui;
	size_t i;
	rt_status st = what.size > 0 ? rt_field_mask(chat->field, what) : RT_OK;

	for (i = 1; st == RT_OK && i < tui->pane_count; i++)
		if (tui->panes[i]->ops->purged != NULL)
			st = (tui->panes[i]->ops->purged(tui->panes[i], what), tui->scope.status);
	return st;
}

/* A purge writes letters x into the draft's file, and says to nobody what was there. So it is what
 * this program has written there that tells. A file that differs in another way is that of another
 * one with the same discussion. */
static rt_status
look_for_purge(rt_chat *chat)
{
	rt_str was = rt_buf_str(&chat->draft);
	size_t i, from, end;
	rt_status st = RT_OK;
	rt_buf file;

	rt_buf_init(&file, chat->pane.tui->alloc, RT_BUF_UNLIMITED);
	if (was.size == 0 || !rt_draft_read(&chat->pane.tui->work, chat->disc_drafted, &file) ||
	    file.size != was.size || memcmp(file.ptr, was.ptr, was.size) == 0)
		goto done;
	for (i = 0; i < was.size; i++)
		if (file.ptr[i] != was.ptr[i] && file.ptr[i] != 'x')
			goto done;
	for (i = 0; st == RT_OK && i < was.size; i = end) {
		for (from = i; from < was.size && file.ptr[from] == was.ptr[from]; from++)
			;
		/* An x that was one before may be in the middle. */
		for (i = end = from; i < was.size && file.ptr[i] == 'x'; i++)
			if (was.ptr[i] != 'x')
				end = i + 1;
		if (end > from)
			st = remove_sent_text(chat, rt_str_at(was.ptr + from, end - from));
	}
	if (st == RT_OK) {
		rt_buf_clear(&chat->draft);
		rt_buf_add_str(&chat->draft, rt_buf_str(&file));
	}
done:
	rt_buf_deinit(&file);
	return st;
}

/* Something was purged: of what is kept of texts only what the files still have is left. */
static rt_status
forget_purged(rt_chat *chat)
{
	enum { LOOKS = 50 }; /* the files are purged after the store */
	rt_status st;

	rt_chat_forget(chat);
	rt_buf_clear(&chat->sent);
	rt_field_forget(chat->field);
	chat->has_sent = false;
	chat->purge_looks = LOOKS;
	st = remove_sent_text(chat, rt_str_at("", 0));
	return st == RT_OK ? look_for_purge(chat) : st;
}

static rt_status
send(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_str text = rt_field_text(chat->field);
	uint32_t from = tui->work.value->next_entry;
	bool known = true;
	rt_error err;
	rt_status st;

	if (rt_str_trim(text).size == 0)
		return ask_for_reply(chat);
	if (text.ptr[0] == '/' && !(text.size > 1 && text.ptr[1] == '/')) {
		rt_buf line; /* the field is emptied before: a command may fill it */

		rt_buf_init(&line, tui->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_str(&line, rt_str_trim(text));
		st = remember(chat, rt_buf_str(&line));
		rt_field_clear(chat->field);
		if (st == RT_OK && line.status == RT_OK)
			st = rt_slash_run(tui, rt_buf_str(&line), &known);
		if (st == RT_OK && !known) {
			rt_tui_say_str(tui, RT_STR("There is no such command. /help shows them; a message "
						   "that begins with a slash: //…"), RT_INK_ERROR);
			st = rt_field_set(chat->field, rt_buf_str(&line));
		}
		rt_buf_deinit(&line);
		return st;
	}
	if (text.ptr[0] == '/')
		text = rt_str_at(text.ptr + 1, text.size - 1);
	st = rt_work_run(&tui->work, &(rt_run_request){.how = RT_RUN_ASK, .text = text}, &err);
	if (st == RT_NOMEM)
		return st;
	if (st != RT_OK) { /* nothing was added; what was written stays */
		rt_tui_say_error(
			tui, &err,
			rt_work_is_running(&tui->work)
				? RT_STR("What you wrote stays; press Enter again when that has come")
				: rt_buf_str(&tui->work.hint));
		return RT_OK;
	}
	rt_buf_clear(&chat->sent);
	rt_buf_add_str(&chat->sent, text);
	chat->sent_from = from;
	st = remember(chat, text);
	rt_field_clear(chat->field);
	chat->points = false;
	rt_tui_say_str(tui, rt_str_at("", 0), RT_INK_TEXT);
	chat->follows = true;
	return st;
}

/* Escape: what is nearest is ended. */
static rt_status
cancel(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_status st = RT_OK;

	if (rt_work_is_running(&tui->work)) {
		rt_work_stop(&tui->work);
	} else if (chat->points) {
		chat->points = false;
	} else if (chat->find.size > 0) {
		rt_buf_clear(&chat->find);
	} else if (!rt_field_is_empty(chat->field)) {
		st = remember(chat, rt_field_text(chat->field));
		rt_field_clear(chat->field);
		rt_tui_say(tui, "The text is kept: Up brings it back");
	} else if (chat->escaped) {
		chat->escaped = false;
		rt_tui_say_str(tui, rt_str_at("", 0), RT_INK_TEXT);
		return rt_pane_tree(tui);
	} else {
		chat->escaped = true;
		rt_tui_say(tui, "Escape once more shows the tree");
	}
	return st;
}

static rt_status
interrupt(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_status st = RT_OK;

	if (rt_work_is_running(&tui->work)) {
		rt_work_stop(&tui->work);
	} else if (!rt_field_is_empty(chat->field)) {
		st = remember(chat, rt_field_text(chat->field));
		rt_field_clear(chat->field);
	} else if (chat->interrupted) {
		tui->ends = true;
	} else {
		chat->interrupted = true;
		rt_tui_say(tui, "Ctrl-C once more leaves; nothing is lost");
		return RT_OK;
	}
	chat->interrupted = false;
	return st;
}

/* The longest beginning that all commands share which begin as what is written. */
static rt_status
complete(rt_chat *chat)
{
	const rt_slash *list[SUGGESTIONS];
	int count = suggestions(chat, list, SUGGESTIONS), i;
	rt_str common;
	char room[64];

	if (count == 0)
		return RT_OK;
	common = rt_str_of(list[0]->name);
	for (i = 1; i < count; i++) {
		size_t same = 0;

		while (same < common.size && list[i]->name[same] == common.ptr[same])
			same++;
		common.size = same;
	}
	(void)snprintf(room, sizeof(room), "%.*s%s", RT_STR_ARG(common),
		       count == 1 && list[0]->words[0] != 0 ? " " : "");
	return rt_field_set(chat->field, rt_str_of(room));
}

static rt_status
edit_outside(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	bool changed = false;
	rt_error err;
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_tui_edit(tui, rt_field_text(chat->field), "message.md", &text, &changed, &err);
	if (st == RT_OK && changed)
		st = rt_field_set(chat->field, rt_buf_str(&text));
	else if (st != RT_OK && st != RT_NOMEM) {
		rt_tui_say_error(tui, &err, rt_buf_str(&tui->work.hint));
		st = RT_OK;
	}
	rt_buf_deinit(&text);
	return st;
}

/* The last entry of a user, or the marked one, to be written anew in place. */
static rt_status
edit_last(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	size_t at = rt_work_head(&tui->work);
	bool used;

	if (chat->points)
		return rt_verb_act(tui, RT_ACT_EDIT, &chat->sel_entry, 1, &used);
	while (at-- > 0) {
		rt_slot slot;
		rt_error err;

		if (rt_seq_get(tui->work.take->slots, at, &slot, &err) != RT_OK)
			break;
		if ((slot.flags & RT_SLOT_TURN) != 0)
			return rt_verb_act(tui, RT_ACT_EDIT, &slot.entry, 1, &used);
	}
	rt_tui_say(tui, "There is no message of yours before the head");
	return RT_OK;
}

/* A piece of the search that is under way; the rest in the next turns of the loop. */
static void
find_on(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_str what = rt_buf_str(&chat->find);
	bool was_told = chat->search.left < chat->search.all;
	size_t at;

	do {
		if (rt_text_search_next(&chat->search, &tui->work, what, &at)) {
			if (was_told)
				rt_tui_say(tui, "%s", "");
			rt_tui_show_entry(tui, at);
			rt_chat_select(chat, at); /* n and N go on */
			return;
		}
	} while (chat->search.is_on && tui->terminal == NULL);
	if (chat->search.is_on)
		rt_tui_say(tui, "Searching%s %u %%   Esc stop", tui->canvas.utf8 ? "…" : "...",
			   rt_text_search_percent(&chat->search));
	else
		rt_tui_say(tui, "Not found in this take: %.*s", RT_STR_ARG(what));
}

/* The next entry with the text that is looked for, from the selected one on. */
static rt_status
find(rt_chat *chat, bool back)
{
	size_t count = rt_work_count(&chat->pane.tui->work);

	if (chat->find.size == 0 || count == 0)
		return RT_OK;
	rt_text_search_begin(&chat->search, &chat->pane.tui->work,
			     (chat->selects || chat->points) && chat->sel < count ? chat->sel
			     : back                                               ? 0
										  : count - 1,
			     back);
	find_on(chat);
	return RT_OK;
}

static rt_status
tend(rt_pane *pane)
{
	rt_chat *chat = of(pane);

	if (chat->search.is_on)
		find_on(chat);
	pane->tui->has_more = pane->tui->has_more || chat->search.is_on;
	return RT_OK;
}

static rt_status
found(rt_tui *tui, void *ctx, rt_str answer)
{
	rt_chat *chat = ctx;

	if (answer.ptr == NULL)
		return RT_OK;
	rt_buf_clear(&chat->find);
	rt_buf_add_str(&chat->find, answer);
	if (answer.size == 0)
		return RT_OK;
	(void)tui;
	return find(chat, true);
}

/* Keys that move the view, or change how it looks, whether something is selected or not. */
static rt_status
act_view(rt_chat *chat, rt_action action, bool *out_used)
{
	rt_tui *tui = chat->pane.tui;
	int page = chat->rows > 2 ? chat->rows - 2 : 1;

	switch (action) {
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN:
		scroll(chat, action == RT_ACT_PAGE_UP ? -page : page);
		chat->points = chat->points && sees(chat, chat->sel);
		break;
	case RT_ACT_TOOLS: tui->shows_tools = !tui->shows_tools; break;
	case RT_ACT_THINKING: tui->shows_thinking = !tui->shows_thinking; break;
	case RT_ACT_SEARCH:
		return rt_pane_ask(tui, "Find in this take", rt_buf_str(&chat->find), false, found, chat,
				   NULL);
	case RT_ACT_FIND_NEXT: return find(chat, false);
	case RT_ACT_FIND_PREVIOUS: return find(chat, true);
	case RT_ACT_LAST_USER: return edit_last(chat);
	default: *out_used = false;
	}
	return RT_OK;
}

static void
mark(rt_chat *chat)
{
	size_t i;

	for (i = 0; i < chat->mark_count; i++)
		if (chat->marks[i] == chat->sel_entry) {
			memmove(&chat->marks[i], &chat->marks[i + 1],
				(chat->mark_count - i - 1) * sizeof(chat->marks[0]));
			chat->mark_count--;
			return;
		}
	if (chat->mark_count < RT_CHAT_MARKS)
		chat->marks[chat->mark_count++] = chat->sel_entry;
	else
		rt_tui_say(chat->pane.tui, "%d entries are marked; that is as many as there can be",
			   (int)RT_CHAT_MARKS);
}

/* Marked entries in the order of the take. */
static size_t
chosen(rt_chat *chat, uint32_t out[RT_CHAT_MARKS])
{
	size_t at[RT_CHAT_MARKS], count = 0, i, k;

	if (chat->mark_count == 0) {
		out[0] = chat->sel_entry;
		return chat->selects ? 1 : 0;
	}
	for (i = 0; i < chat->mark_count; i++) {
		size_t where = rt_work_position(&chat->pane.tui->work, chat->marks[i]);

		if (where == SIZE_MAX)
			continue;
		for (k = count; k > 0 && at[k - 1] > where; k--) {
			at[k] = at[k - 1];
			out[k] = out[k - 1];
		}
		at[k] = where;
		out[k] = chat->marks[i];
		count++;
	}
	return count;
}

static void
step_to(rt_chat *chat, size_t at)
{
	rt_chat_select(chat, at);
	reveal(chat, at);
}

/* A way through the tree has ended: back to writing, with the end in view. */
static void
went(rt_tui *tui)
{
	rt_chat *chat = of(tui->panes[0]);

	select_none(chat);
	chat->follows = true;
}

/* A verb on the marked entry, or on the one at the head. */
static rt_status
act_at_head(rt_chat *chat, rt_action action)
{
	rt_tui *tui = chat->pane.tui;
	size_t head = rt_work_head(&tui->work);
	rt_slot slot;
	rt_error err;
	bool used;

	if (chat->points)
		return rt_verb_act(tui, action, &chat->sel_entry, 1, &used);
	if (head == 0 || rt_seq_get(tui->work.take->slots, head - 1, &slot, &err) != RT_OK) {
		rt_tui_say(tui, "There is no entry before the head");
		return RT_OK;
	}
	return rt_verb_act(tui, action, &slot.entry, 1, &used);
}

/* The entry that somebody who goes to the selected one means: the head's, where only what is hidden
 * is between them. */
static uint32_t
target(rt_chat *chat)
{
	rt_work *work = &chat->pane.tui->work;
	size_t head = rt_work_head(work);
	rt_slot slot;
	rt_error ignored;

	if (chat->sel < head && rt_chat_visible(chat, head - 1, -1) == chat->sel &&
	    rt_seq_get(work->take->slots, head - 1, &slot, &ignored) == RT_OK)
		return slot.entry;
	return chat->sel_entry;
}

/* With an entry selected. */
static rt_status
act_entry(rt_chat *chat, rt_action action, bool *out_used)
{
	rt_tui *tui = chat->pane.tui;
	size_t count = rt_work_count(&tui->work), n;
	uint32_t entries[RT_CHAT_MARKS];
	rt_status st;

	*out_used = true;
	switch (action) {
	case RT_ACT_UP:
		if (chat->sel > 0)
			step_to(chat, rt_chat_visible(chat, chat->sel - 1, -1));
		return RT_OK;
	case RT_ACT_DOWN:
		n = chat->sel + 1 < count ? rt_chat_visible(chat, chat->sel + 1, 1) : 0;
		if (n > chat->sel)
			step_to(chat, n);
		else
			select_none(chat);
		return RT_OK;
	case RT_ACT_HOME: step_to(chat, rt_chat_visible(chat, 0, 1)); return RT_OK;
	case RT_ACT_END: step_to(chat, rt_chat_visible(chat, count - 1, -1)); return RT_OK;
	case RT_ACT_CANCEL:
		if (chat->mark_count > 0) {
			chat->mark_count = 0;
		} else if (!rt_verb_navigate_stop(tui)) {
			select_none(chat);
			chat->follows = sees_end(chat, chat->rows);
		}
		return RT_OK;
	case RT_ACT_MARK:
		mark(chat);
		n = chat->sel + 1 < count ? rt_chat_visible(chat, chat->sel + 1, 1) : 0;
		if (n > chat->sel)
			step_to(chat, n);
		return RT_OK;
	case RT_ACT_MARK_NONE: chat->mark_count = 0; return RT_OK;
	case RT_ACT_ACCEPT: return rt_verb_navigate(tui, target(chat), true, went);
	case RT_ACT_PREVIEW: return rt_verb_read(tui, chat->sel_entry);
	default:
		st = act_view(chat, action, out_used);
		if (st != RT_OK || *out_used)
			return st;
		n = chosen(chat, entries);
		st = rt_verb_act(tui, action, entries, n, out_used);
		if (*out_used && (action == RT_ACT_BRANCH || action == RT_ACT_AGAIN ||
				  action == RT_ACT_CONTINUE)) {
			select_none(chat); /* what comes next is written */
			chat->follows = true;
		}
		if (*out_used && (action == RT_ACT_DELETE || action == RT_ACT_DELETE_BELOW ||
				  action == RT_ACT_MUTE || action == RT_ACT_ROLE))
			chat->mark_count = 0;
		return st;
	}
}

/* The list of commands below what is written, where it has more than there is room for. Up is
 * what was written before as long as nothing is above. */
static bool
move_slashes(rt_chat *chat, rt_action action)
{
	bool down = action == RT_ACT_DOWN;

	if (chat->slash_more <= 0 || (!down && (action != RT_ACT_UP || chat->slash_top == 0))) {
		chat->slash_top = 0;
		return false;
	}
	chat->slash_top += down ? chat->slash_top < chat->slash_more : -1;
	return true;
}

static rt_status
act(rt_pane *pane, rt_action action, bool *out_used)
{
	rt_chat *chat = of(pane);
	rt_tui *tui = pane->tui;
	bool escaped = chat->escaped, interrupted = chat->interrupted;
	rt_status st;

	if (chat->search.is_on && action == RT_ACT_CANCEL) {
		chat->search.is_on = false;
		rt_tui_say(tui, "The search was stopped");
		*out_used = true;
		return RT_OK;
	}
	if (chat->selects)
		return act_entry(chat, action, out_used);
	chat->escaped = chat->interrupted = false;
	*out_used = true;
	if (move_slashes(chat, action))
		return RT_OK;
	if (action == RT_ACT_UP)
		bring_sent(chat);
	switch (action) {
	case RT_ACT_ACCEPT: return send(chat);
	case RT_ACT_CANCEL: chat->escaped = escaped; return cancel(chat);
	case RT_ACT_CLEAR: chat->interrupted = interrupted; return interrupt(chat);
	case RT_ACT_QUIT:
		tui->ends = rt_field_is_empty(chat->field) || interrupted;
		if (!tui->ends) { /* what is written is not left by a slip */
			chat->interrupted = true;
			rt_tui_say(tui, "Once more leaves; what is written is kept, and here again then");
		}
		return RT_OK;
	case RT_ACT_COPY:
	case RT_ACT_LABEL: return act_at_head(chat, action);
	case RT_ACT_AGAIN:
	case RT_ACT_CONTINUE:
		*out_used = chat->points;
		return chat->points ? act_at_head(chat, action) : RT_OK;
	case RT_ACT_NEW: return rt_slash_new(tui);
	case RT_ACT_EDITOR: return edit_outside(chat);
	case RT_ACT_COMPLETE: return complete(chat);
	case RT_ACT_SELECT:
		if (rt_work_count(&tui->work) > 0)
			step_to(chat, chat->points && chat->sel < rt_work_count(&tui->work)
					      ? chat->sel
					      : rt_chat_visible(chat, rt_work_count(&tui->work) - 1, -1));
		return RT_OK;
	case RT_ACT_HOME:
		chat->follows = chat->points = false;
		chat->top = 0;
		chat->top_row = 0;
		return RT_OK;
	case RT_ACT_END:
		chat->points = false;
		go_end(chat, chat->rows);
		return RT_OK;
	case RT_ACT_YANK:
		return rt_field_insert(chat->field, rt_buf_str(&tui->clip));
	default: break;
	}
	st = act_view(chat, action, out_used);
	if (st == RT_OK && !*out_used)
		st = rt_field_act(chat->field, action, chat->columns - 4, out_used);
	return st;
}

/* What is written; and the keys that a field has for itself. */
static rt_status
key(rt_pane *pane, rt_key pressed, bool *out_used)
{
	rt_chat *chat = of(pane);
	rt_action action;

	*out_used = false;
	if (chat->selects && !rt_keymap_is_text(pane->tui->keys, RT_SCREEN_ENTRY, pressed))
		return RT_OK;
	if (chat->selects)
		select_none(chat);
	if (rt_key_is_text(pressed)) {
		/* Help is asked for where nothing is being written. */
		if (pressed.code == '?' && rt_field_is_empty(chat->field)) {
			*out_used = true;
			return rt_tui_act(pane->tui, RT_ACT_HELP);
		}
		chat->escaped = chat->interrupted = false;
		chat->slash_top = 0;
		return rt_field_key(chat->field, pressed, out_used);
	}
	action = rt_keymap_action(pane->tui->keys, RT_SCREEN_FIELD, pressed);
	if (action == RT_ACT_NONE)
		return RT_OK;
	if (action == RT_ACT_ERASE_NEXT && rt_field_is_empty(chat->field))
		return RT_OK;
	return act(pane, action, out_used);
}

static rt_status
paste(rt_pane *pane, rt_str text)
{
	rt_chat *chat = of(pane);

	if (chat->selects)
		select_none(chat);
	return rt_field_insert(chat->field, text);
}

/* ---- drafts ---- */

/* With the discussion that it was written in, where it is not kept already. */
static void
keep_draft(rt_chat *chat, rt_str text)
{
	if (rt_str_eq(text, rt_buf_str(&chat->draft)))
		return;
	rt_buf_clear(&chat->draft);
	rt_buf_add_str(&chat->draft, text);
	rt_draft_keep(&chat->pane.tui->work, chat->disc_drafted, text);
}

/* All that is being written, one after the other: one input is all that there is to bring it back
 * to. */
static void
add_written(rt_chat *chat, rt_buf *out)
{
	rt_tui *tui = chat->pane.tui;
	size_t i;

	rt_buf_add_str(out, rt_field_text(chat->field));
	for (i = 1; i < tui->pane_count; i++) {
		rt_pane *pane = tui->panes[i];
		rt_str more = pane->closes || pane->ops->written == NULL ? rt_str_at(NULL, 0)
									 : pane->ops->written(pane);

		rt_buf_add_c(out, out->size > 0 && more.size > 0 ? "\n\n" : "");
		rt_buf_add_str(out, more);
	}
}

/* What is being written, kept for when the program is gone, and with the discussion that it was
 * written in. always: also where it is long. */
void
rt_pane_chat_keep(rt_tui *tui, bool always)
{
	rt_chat *chat = of(tui->panes[0]);
	rt_status st = RT_OK;
	rt_buf text;

	if (chat->disc_drafted != tui->work.place.disc)
		return;
	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	add_written(chat, &text);
	if (chat->purge_looks > 0 || !rt_str_eq(rt_buf_str(&text), rt_buf_str(&chat->draft))) {
		chat->purge_looks -= chat->purge_looks > 0;
		st = look_for_purge(chat); /* before it is written there once more */
		rt_buf_clear(&text);
		add_written(chat, &text);
	}
	if (st == RT_OK && text.status == RT_OK && (always || text.size <= RT_DRAFT_OFTEN_MAX))
		keep_draft(chat, rt_buf_str(&text));
	rt_buf_deinit(&text);
}

/* What was left written in this discussion. */
static rt_status
bring_draft(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_status st = RT_OK;
	rt_buf text;

	if (chat->disc_drafted != 0) {
		/* It stays with the discussion that it was written in; and what was carried out and
		 * led here does not. */
		keep_draft(chat, rt_field_text(chat->field));
		if (!rt_field_is_empty(chat->field))
			rt_field_clear(chat->field);
	}
	chat->disc_drafted = tui->work.place.disc;
	rt_buf_clear(&chat->draft);
	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	if (rt_draft_read(&tui->work, chat->disc_drafted, &text)) {
		st = rt_field_set(chat->field, rt_buf_str(&text));
		rt_buf_add_str(&chat->draft, rt_buf_str(&text));
		rt_tui_say(tui, "What you were writing here is back");
	}
	rt_buf_deinit(&text);
	return st;
}

static rt_status
fill(rt_pane *pane, rt_str text)
{
	rt_chat *chat = of(pane);
	rt_tui *tui = pane->tui;
	rt_status st = RT_OK;

	/* What was being written is not lost. */
	if (chat->disc_drafted != tui->work.place.disc)
		st = bring_draft(chat);
	if (st == RT_OK && !rt_field_is_empty(chat->field))
		st = remember(chat, rt_field_text(chat->field));
	select_none(chat);
	chat->follows = true;
	return st == RT_OK ? rt_field_set(chat->field, text) : st;
}

static void
remember_input(rt_pane *pane, rt_str text)
{
	rt_chat *chat = of(pane);
	rt_tui *tui = pane->tui;
	rt_buf both;

	if (tui->is_forced) { /* nobody comes back to this input, but to the draft */
		rt_buf_init(&both, tui->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_str(&both, rt_field_text(chat->field));
		rt_buf_add_c(&both, both.size > 0 ? "\n\n" : "");
		rt_buf_add_str(&both, text);
		if (both.status == RT_OK && rt_field_set(chat->field, rt_buf_str(&both)) == RT_OK)
			rt_pane_chat_keep(tui, true);
		rt_buf_deinit(&both);
		return;
	}
	if (remember(chat, text) == RT_OK)
		rt_buf_add_c(&tui->notice, ".  What you wrote is kept: Up brings it back in the chat's input");
}

rt_status
rt_pane_chat_return(rt_tui *tui)
{
	rt_chat *chat = of(tui->panes[0]);

	if (chat->sent.size == 0 || !rt_field_is_empty(chat->field))
		return RT_OK;
	return rt_field_set(chat->field, rt_buf_str(&chat->sent));
}

/* ---- changes ---- */

static rt_status
changed(rt_pane *pane)
{
	rt_chat *chat = of(pane);
	rt_work *work = &pane->tui->work;
	rt_status st = RT_OK;

	if (chat->value_seen != work->value_change) {
		uint32_t disc = chat->disc_seen, take = chat->take_seen;

		chat->value_seen = work->value_change;
		if (chat->disc_drafted != work->place.disc)
			st = bring_draft(chat);
		if (disc != work->place.disc || take != work->place.take)
			chat->points = false;
		if (st == RT_OK && chat->epoch != 0 && chat->epoch != work->epoch)
			st = forget_purged(chat);
		chat->epoch = work->epoch;
		chat->disc_seen = work->place.disc;
		chat->take_seen = work->place.take;
		if (disc != work->place.disc || take != work->place.take)
			chat->follows = chat->follows || disc != work->place.disc;
		if (st == RT_OK)
			st = rt_chat_find_forks(chat);
	}
	if (chat->points) {
		chat->sel = rt_work_position(work, chat->sel_entry);
		chat->points = chat->sel != SIZE_MAX;
	}
	if (chat->selects) {
		size_t at = rt_work_position(work, chat->sel_entry);

		if (at != SIZE_MAX)
			chat->sel = at;
		else if (rt_work_count(work) == 0 || !pane->tui->is_own) {
			/* others took it away: what is done next must not be done to its neighbour */
			select_none(chat);
			if (pane->tui->notice.size > 0 && !pane->tui->notice_fades) /* to be read, too */
				rt_buf_add_c(&pane->tui->notice, ".  The entry that was selected is "
								 "not here any more");
			else
				rt_tui_say_done(pane->tui, "The entry that was selected is not here any more");
		} else
			rt_chat_select(chat, chat->sel < rt_work_count(work) ? chat->sel
									     : rt_work_count(work) - 1);
	}
	return st;
}

static void
chat_free(rt_pane *pane)
{
	rt_chat *chat = of(pane);

	rt_chat_forget(chat);
	rt_field_free(chat->field);
	rt_buf_deinit(&chat->find);
	rt_buf_deinit(&chat->sent);
	rt_buf_deinit(&chat->draft);
	rt_free(pane->tui->alloc, chat->forks);
	rt_free(pane->tui->alloc, chat);
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

static void
new_fill(rt_pane *pane, rt_str text)
{
	RT_TRY(&pane->tui->scope, fill(pane, text));
}

rt_status
rt_pane_chat(rt_tui *tui)
{
	static const rt_pane_ops ops = {.screen = RT_SCREEN_CHAT,
					.draw = draw,
					.act = new_act,
					.key = new_key,
					.paste = new_paste,
					.changed = new_changed,
					.poll = new_tend,
					.free = chat_free};
	static const rt_chat_ops chat_ops = {new_fill, remember_input, show};
	rt_chat *chat = rt_new0(tui->alloc, sizeof(*chat));

	if (chat == NULL)
		return RT_NOMEM;
	tui->chat = &chat_ops;
	chat->pane.ops = &ops;
	chat->pane.tui = tui;
	chat->follows = true;
	chat->rows = 1;
	rt_buf_init(&chat->find, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->sent, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->draft, tui->alloc, RT_BUF_UNLIMITED);
	if (rt_field_new(tui->alloc, true, &chat->field) != RT_OK) {
		rt_buf_deinit(&chat->find);
		rt_free(tui->alloc, chat);
		return RT_NOMEM;
	}
	return rt_tui_push(tui, &chat->pane);
}
