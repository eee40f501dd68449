/* SPDX-License-Identifier: MIT */
#include "tui/bar.h"

#include "app/host.h"

enum {
	TITLE_MAX = 40,    /* columns of the title that have priority over the right side */
	LABEL_COLUMNS = 10 /* of "Search:" */
};

/* Remove the last part; false: there is only one. */
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
	bool is_key = true; /* words before the first one in lower case */
	rt_str word;

	while (rt_canvas_width(canvas, parts) > box.w - x && drop_part(&parts))
		;
	for (; rt_str_split(&parts, ' ', &word); x++) {
		is_key = word.size == 0 || (is_key && !(word.ptr[0] >= 'a' && word.ptr[0] <= 'z'));
		x = rt_canvas_put(canvas, box, x, 0, word, is_key ? RT_INK_TEXT | RT_INK_BOLD : ink);
	}
	return x;
}

void
rt_bar_draw(rt_canvas *canvas, rt_box box, rt_str title, rt_str right)
{
	int width = rt_canvas_width(canvas, right), available = box.w - 2;
	int wanted = rt_canvas_width(canvas, title);

	wanted = wanted < TITLE_MAX ? wanted : TITLE_MAX;
	rt_canvas_fill(canvas, (rt_box){box.x, box.y, box.w, 1}, RT_INK_BAR);
	while (width > 0 && box.w - width - 3 < wanted && drop_part(&right))
		width = rt_canvas_width(canvas, right);
	if (width > 0 && box.w - width - 3 >= wanted) {
		(void)rt_canvas_put(canvas, box, box.w - width - 1, 0, right, RT_INK_BAR);
		available = box.w - width - 3;
	}
	(void)rt_canvas_put_cut(canvas, box, 1, 0, available, title, RT_INK_BAR | RT_INK_BOLD);
}

void
rt_bar_select(rt_canvas *canvas, rt_box box, int y)
{
	(void)rt_canvas_put(canvas, box, 0, y, rt_canvas_glyph(canvas, RT_GLYPH_CURSOR),
			    RT_INK_TEXT);
	rt_canvas_flag(canvas, (rt_box){box.x, box.y + y, box.w, 1}, RT_INK_SELECTED);
}

void
rt_bar_line(rt_canvas *canvas, rt_box box, rt_glyph glyph)
{
	for (int y = 0; y < box.h; y++)
		for (int x = 0; x < box.w; x++)
			(void)rt_canvas_put(canvas, box, x, y, rt_canvas_glyph(canvas, glyph),
					    RT_INK_BORDER);
}

rt_box
rt_bar_ask(rt_canvas *canvas, rt_box row, const char *label)
{
	int x;

	rt_canvas_fill(canvas, row, RT_INK_TEXT);
	x = rt_canvas_put_c(canvas, row, 1, 0, label, RT_INK_DIM) + 1;
	return (rt_box){row.x + x, row.y, row.w > x ? row.w - x : 0, 1};
}

rt_str
rt_bar_ways(rt_tui *tui)
{
	rt_buf *buf = rt_scope_buf(&tui->scope);

	rt_keymap_add_key(tui->keys, RT_SCREEN_ANY, RT_ACT_ACCEPT, buf);
	rt_buf_add_c(buf, " OK  ");
	rt_keymap_add_key(tui->keys, RT_SCREEN_ANY, RT_ACT_CANCEL, buf);
	rt_buf_add_c(buf, " cancel");
	return rt_buf_str(buf);
}

rt_str
rt_bar_time(rt_tui *tui, int64_t at_us)
{
	rt_buf *buf = rt_scope_buf(&tui->scope);

	rt_host_add_local_time(buf, at_us, false);
	return rt_buf_str(buf);
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

/* ---- a search that is typed at the bottom of a pane ---- */

void
rt_search_bar_init(rt_search_bar *bar, rt_pane *pane, void (*search)(rt_pane *pane))
{
	*bar = (rt_search_bar){.pane = pane, .search = search};
	rt_buf_init(&bar->match, pane->tui->alloc, RT_BUF_UNLIMITED);
	RT_TRY(&pane->tui->scope, rt_field_new(pane->tui->alloc, false, &bar->field));
}

void
rt_search_bar_deinit(rt_search_bar *bar)
{
	rt_field_free(bar->field);
	rt_buf_deinit(&bar->match);
}

void
rt_search_bar_open(rt_search_bar *bar)
{
	bar->is_open = true;
	bar->pane->screen = RT_SCREEN_FIELD;
	bar->pane->footer = "Enter find   Esc cancel";
	rt_field_clear(bar->field);
}

static void
close_bar(rt_search_bar *bar)
{
	bar->is_open = false;
	bar->pane->screen = bar->pane->ops->screen;
	bar->pane->footer = NULL;
}

static void
accept(rt_search_bar *bar)
{
	rt_scope *s = &bar->pane->tui->scope;
	rt_str text = rt_field_text(bar->field);

	close_bar(bar);
	rt_buf_clear(&bar->match);
	rt_buf_add_str(&bar->match, text);
	RT_TRY(s, bar->match.status);
	RT_TRY(s, rt_field_remember(bar->field, text));
	if (rt_ok(s) && bar->match.size > 0)
		bar->search(bar->pane);
}

bool
rt_search_bar_act(rt_search_bar *bar, rt_action action)
{
	bool used = true;

	if (action == RT_ACT_ACCEPT)
		accept(bar);
	else if (action == RT_ACT_CANCEL)
		close_bar(bar);
	else
		RT_TRY(&bar->pane->tui->scope,
		       rt_field_act(bar->field, action, bar->columns - LABEL_COLUMNS, &used));
	return used;
}

bool
rt_search_bar_key(rt_search_bar *bar, rt_key key)
{
	bool used = false;

	RT_TRY(&bar->pane->tui->scope, rt_field_key(bar->field, key, &used));
	return used;
}

void
rt_search_bar_paste(rt_search_bar *bar, rt_str text)
{
	RT_TRY(&bar->pane->tui->scope, rt_field_insert(bar->field, text));
}

void
rt_search_bar_draw(rt_search_bar *bar, rt_canvas *canvas, rt_box box)
{
	rt_box row = {box.x, box.y + box.h - 1, box.w, 1};

	bar->columns = box.w;
	if (bar->is_open)
		rt_field_draw(bar->field, canvas, rt_bar_ask(canvas, row, "Search:"), RT_INK_TEXT,
			      true);
}
