/* SPDX-License-Identifier: MIT
 *
 * The mouse. The wheel scrolls the pane under the pointer; a click selects a row, and a
 * double click is Enter. In the footer and in messages a click on a key's
 * name presses the key, and the names in the title open the lists from which they are chosen.
 *
 * A click refers to the frame that was drawn last: the canvas, and the boxes of panes and lists. */
#include "base/clock_host.h"
#include "tui/list.h"
#include "tui/pane.h"
#include "tui/verb.h"
#include "terminal/terminal.h"

enum { WHEEL_ROWS = 3, DOUBLE_MS = 400 };

static bool
is_inside(rt_box box, int x, int y)
{
	return x >= box.x && x < box.x + box.w && y >= box.y && y < box.y + box.h;
}

static bool
is_blank(const rt_canvas *c, int x, int y)
{
	return !is_inside(rt_canvas_box(c), x, y) ||
	       c->cells[(size_t)y * (size_t)c->columns + (size_t)x].ch == ' ';
}

/* Press the key whose short name begins at a cell; text: also a key that types. */
static rt_status
press_at(rt_tui *tui, int x, int y, bool text)
{
	const rt_canvas *c = &tui->canvas;
	rt_event event = {.kind = RT_EVENT_KEY};
	rt_str word;
	rt_buf buf;
	bool is_key;

	rt_buf_init(&buf, tui->alloc, 256);
	for (; !is_blank(c, x, y); x++) {
		uint32_t ch = c->cells[(size_t)y * (size_t)c->columns + (size_t)x].ch;
		char bytes[4];

		if (ch != 0)
			rt_buf_add(&buf, bytes, rt_rune_encode(ch, bytes));
	}
	word = rt_buf_str(&buf);
	while (word.size > 1 && strchr(".,;:", word.ptr[word.size - 1]) != NULL)
		word.size--;
	is_key = buf.status == RT_OK && rt_key_read_title(word, &event.key);
	rt_buf_deinit(&buf);
	return is_key && (text || !rt_key_is_text(event.key)) ? rt_tui_on_event(tui, &event) : RT_OK;
}

/* "Enter send  Esc stop, tree": parts with at least two blanks between them. */
static rt_status
press_part(rt_tui *tui, int x, int y)
{
	const rt_canvas *c = &tui->canvas;

	if (is_blank(c, x, y) && is_blank(c, x + 1, y))
		return RT_OK;
	while (x > 0 && !(is_blank(c, x - 1, y) && is_blank(c, x - 2, y)))
		x--;
	return press_at(tui, x, y, true);
}

static rt_status
press_word(rt_tui *tui, int x, int y)
{
	while (x > 0 && !is_blank(&tui->canvas, x - 1, y))
		x--;
	return press_at(tui, x, y, false);
}

static rt_status
open_from_title(rt_tui *tui, int x)
{
	bool known;

	for (size_t i = 0; i < tui->spot_count; i++)
		if (x >= tui->spots[i].from && x < tui->spots[i].to)
			return rt_slash_run(tui, rt_str_of(tui->spots[i].line), &known);
	return RT_OK;
}

/* The pane that is drawn there, or NULL. */
static rt_pane *
pane_at(const rt_tui *tui, int x, int y)
{
	for (size_t i = tui->pane_count; i-- > 0;)
		if (!tui->panes[i]->closes && is_inside(tui->panes[i]->box, x, y))
			return tui->panes[i];
	return NULL;
}

static rt_status
scroll(rt_tui *tui, rt_pane *pane, bool up)
{
	rt_status st = RT_OK;
	bool used;

	for (int i = 0; st == RT_OK && pane == rt_tui_top(tui) && i < WHEEL_ROWS; i++)
		st = rt_pane_act(pane, up ? RT_ACT_UP : RT_ACT_DOWN, &used);
	return st;
}

/* A click in the pane's list. */
static rt_mouse_use
click_list(rt_list *list, const rt_mouse *mouse)
{
	size_t row;

	if (list == NULL || !is_inside(list->box, mouse->x, mouse->y))
		return RT_MOUSE_UNUSED;
	row = list->top + (size_t)(mouse->y - list->box.y);
	if (row >= list->count)
		return RT_MOUSE_UNUSED;
	if (row == list->at)
		return RT_MOUSE_ENTER;
	list->at = row;
	return RT_MOUSE_USED;
}

static rt_mouse_use
give(rt_pane *pane, const rt_mouse *mouse)
{
	rt_mouse_use use = RT_MOUSE_UNUSED;

	if (pane->ops->mouse != NULL)
		use = pane->ops->mouse(pane, mouse);
	if (use == RT_MOUSE_UNUSED && mouse->kind == RT_MOUSE_PRESS)
		use = click_list(pane->list, mouse);
	return use;
}

/* The second press of a double click is Enter, too, unless the first one was. */
static rt_status
click(rt_tui *tui, rt_pane *pane, const rt_mouse *mouse)
{
	int64_t now = rt_clock_ms();
	bool is_second = now - tui->press.ms < DOUBLE_MS && tui->press.x == mouse->x &&
			 tui->press.y == mouse->y;
	rt_mouse_use use;
	rt_status st;

	if (pane != rt_tui_top(tui) || (is_second && tui->press.use == RT_MOUSE_ENTER))
		return RT_OK;
	if (is_second && tui->press.use == RT_MOUSE_USED) {
		use = RT_MOUSE_ENTER;
	} else {
		(void)rt_tui_begin(tui);
		use = give(pane, mouse);
		st = rt_tui_end(tui);
		if (st != RT_OK)
			return st;
		if (use == RT_MOUSE_ENTER) /* selected before: alone it does nothing */
			use = RT_MOUSE_USED;
	}
	tui->press.ms = now;
	tui->press.x = mouse->x;
	tui->press.y = mouse->y;
	tui->press.use = use;
	return use == RT_MOUSE_ENTER ? rt_tui_act(tui, RT_ACT_ACCEPT) : RT_OK;
}

rt_status
rt_tui_mouse(rt_tui *tui, rt_mouse mouse)
{
	bool is_press = mouse.kind == RT_MOUSE_PRESS;
	rt_pane *pane = pane_at(tui, mouse.x, mouse.y);
	rt_mouse_use use;
	rt_status st;

	if (is_press && mouse.y == tui->footer_row)
		return press_part(tui, mouse.x, mouse.y);
	if (is_press && mouse.y >= tui->notice_row && mouse.y < tui->notice_row + tui->notice_rows)
		return press_word(tui, mouse.x, mouse.y);
	/* While a change is pending, rows may move. */
	if (is_press && (tui->pending != NULL || tui->is_unread || rt_tui_top(tui)->holds))
		return RT_OK;
	if (pane == NULL)
		return is_press && mouse.y == 0 ? open_from_title(tui, mouse.x) : RT_OK;
	if (is_press)
		return click(tui, pane, &mouse);
	(void)rt_tui_begin(tui);
	use = give(pane, &mouse);
	st = rt_tui_end(tui);
	return st == RT_OK && use == RT_MOUSE_UNUSED
		       ? scroll(tui, pane, mouse.kind == RT_MOUSE_WHEEL_UP)
		       : st;
}
