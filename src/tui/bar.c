/* SPDX-License-Identifier: MIT */
#include "tui/bar.h"

enum { TITLE_MAX = 40 /* columns of a title that go before what is on the right */ };

/* Without the last of the parts with two blanks or more between them. false: there is only one. */
static bool
drop_part(rt_str *parts)
{
	size_t at = parts->size;

	while (at >= 2 && (parts->ptr[at - 1] != ' ' || parts->ptr[at - 2] != ' '))
		at--;
	if (at < 2)
		return false;
	while (at > 0 && parts->ptr[at - 1] == ' ')
		at--;
	*parts = rt_str_at(parts->ptr, at);
	return at > 0;
}

int
rt_bar_put_parts(rt_canvas *canvas, rt_box box, int x, rt_str parts, rt_ink ink)
{
	while (rt_canvas_width(canvas, parts) > box.w - x && drop_part(&parts))
		;
	return rt_canvas_put(canvas, box, x, 0, parts, ink);
}

void
rt_bar_draw(rt_canvas *canvas, rt_box box, rt_str title, rt_str right)
{
	int width = rt_canvas_width(canvas, right), room = box.w - 2;
	int wanted = rt_canvas_width(canvas, title);

	rt_canvas_fill(canvas, (rt_box){box.x, box.y, box.w, 1}, RT_INK_BAR);
	while (width > 0 && box.w - width - 3 < (wanted < TITLE_MAX ? wanted : TITLE_MAX) &&
	       drop_part(&right))
		width = rt_canvas_width(canvas, right);
	if (width > 0 && box.w - width - 3 >= (wanted < TITLE_MAX ? wanted : TITLE_MAX)) {
		(void)rt_canvas_put(canvas, box, box.w - width - 1, 0, right, RT_INK_BAR);
		room = box.w - width - 3;
	}
	(void)rt_canvas_put_cut(canvas, box, 1, 0, room, title, RT_INK_BAR | RT_INK_BOLD);
}

void
rt_bar_select(rt_canvas *canvas, rt_box box, int y)
{
	(void)rt_canvas_put(canvas, box, 0, y, rt_canvas_glyph(canvas, RT_GLYPH_CURSOR),
			    RT_INK_TEXT);
	rt_canvas_flag(canvas, (rt_box){box.x, box.y + y, box.w, 1}, RT_INK_SELECTED);
}

rt_box
rt_bar_ask(rt_canvas *canvas, rt_box row, const char *word)
{
	int x;

	rt_canvas_fill(canvas, row, RT_INK_TEXT);
	x = rt_canvas_put_c(canvas, row, 1, 0, word, RT_INK_DIM) + 1;
	return (rt_box){row.x + x, row.y, row.w > x ? row.w - x : 0, 1};
}

void
rt_bar_add_ways(rt_buf *buf, const rt_keymap *keys)
{
	rt_keymap_add_key(keys, RT_SCREEN_ANY, RT_ACT_ACCEPT, buf);
	rt_buf_add_c(buf, " ok  ");
	rt_keymap_add_key(keys, RT_SCREEN_ANY, RT_ACT_CANCEL, buf);
	rt_buf_add_c(buf, " cancel");
}

rt_ink
rt_role_ink(rt_str role)
{
	if (rt_str_eq_nocase(role, RT_STR("user")))
		return RT_INK_USER;
	if (rt_str_eq_nocase(role, RT_STR("ai")) || rt_str_eq_nocase(role, RT_STR("assistant")))
		return RT_INK_AI;
	if (rt_str_eq_nocase(role, RT_STR("system")))
		return RT_INK_SYSTEM;
	return RT_INK_TOOL;
}
