/* SPDX-License-Identifier: MIT
 *
 * The reader: a text of any length, scrolled, searched, copied. And the screen of all keys,
 * which is such a text. */
#include <stdio.h>

#include "tui/bar.h"
#include "tui/find.h"
#include "tui/pane.h"

enum { TITLE_SIZE = 200, QUERY_ROOM = 10 };

typedef struct reader {
	rt_pane pane; /* first */
	rt_lines lines;
	rt_buf title;
	rt_field *query;
	rt_buf match;  /* what is marked; or empty */
	bool is_asked; /* the query is being written */
	size_t top;
	size_t found;  /* the line that was found last; SIZE_MAX: none */
	int left;      /* columns that are scrolled away */
	int rows, columns;
} reader;

static reader *
of(rt_pane *pane)
{
	return (reader *)pane;
}

static size_t
last_top(const reader *r)
{
	size_t rows = r->rows > 0 ? (size_t)r->rows : 1;

	return r->lines.count > rows ? r->lines.count - rows : 0;
}

/* --- search --- */

static bool
holds(reader *r, size_t line, rt_buf *room, rt_str what)
{
	rt_buf_clear(room);
	rt_lines_add_text(&r->lines, line, room);
	return rt_find_holds(rt_buf_str(room), what);
}

/* The next line from `from` on (or, backwards, before it) that holds the match. */
static size_t
find(reader *r, size_t from, bool backwards)
{
	size_t i, found = SIZE_MAX;
	rt_buf room;

	rt_buf_init(&room, r->pane.tui->alloc, RT_BUF_UNLIMITED);
	if (backwards) {
		for (i = from; found == SIZE_MAX && i > 0; i--)
			if (holds(r, i - 1, &room, rt_buf_str(&r->match)))
				found = i - 1;
	} else {
		for (i = from; found == SIZE_MAX && i < r->lines.count; i++)
			if (holds(r, i, &room, rt_buf_str(&r->match)))
				found = i;
	}
	rt_buf_deinit(&room);
	return found;
}

static void
show_line(reader *r, size_t line)
{
	size_t rows = r->rows > 0 ? (size_t)r->rows : 1, end = last_top(r);

	r->found = line;
	if (line < r->top || line >= r->top + rows) {
		r->top = line > rows / 2 ? line - rows / 2 : 0;
		if (r->top > end)
			r->top = end;
	}
}

static void
find_again(reader *r, bool backwards)
{
	size_t from = r->found != SIZE_MAX ? r->found + (backwards ? 0 : 1)
		      : backwards          ? r->lines.count
					   : r->top;
	size_t line;

	if (r->match.size == 0) {
		rt_tui_say(r->pane.tui, "Nothing was searched for yet");
		return;
	}
	line = find(r, from, backwards);
	if (line == SIZE_MAX)
		rt_tui_say(r->pane.tui, "Nothing %s holds \"%.60s\"", backwards ? "above" : "below",
			   r->match.ptr);
	else
		show_line(r, line);
}

static void
ask(reader *r)
{
	r->is_asked = true;
	r->pane.screen = RT_SCREEN_FIELD;
	rt_field_clear(r->query);
}

static void
unask(reader *r)
{
	r->is_asked = false;
	r->pane.screen = RT_SCREEN_READER;
}

static rt_status
search(reader *r)
{
	rt_str text = rt_field_text(r->query);
	rt_status st = rt_field_remember(r->query, text);
	size_t line;

	if (st != RT_OK)
		return st;
	rt_buf_clear(&r->match);
	rt_buf_add_str(&r->match, text);
	unask(r);
	r->found = SIZE_MAX;
	if (r->match.status != RT_OK)
		return r->match.status;
	if (r->match.size == 0)
		return RT_OK;
	line = find(r, r->top, false);
	if (line == SIZE_MAX)
		line = find(r, r->top, true);
	if (line == SIZE_MAX)
		rt_tui_say(r->pane.tui, "Nothing here holds \"%.60s\"", r->match.ptr);
	else
		show_line(r, line);
	return RT_OK;
}

/* --- the pane --- */

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	reader *r = of(pane);
	rt_box body = {box.x, box.y + 1, box.w, box.h - 1 - (r->is_asked ? 1 : 0)};
	size_t last;
	char where[64];
	int shift;

	r->rows = body.h;
	r->columns = body.w;
	if (r->top > last_top(r))
		r->top = last_top(r);
	last = r->top + (body.h > 0 ? (size_t)body.h : 0);
	if (last > r->lines.count)
		last = r->lines.count;
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	(void)snprintf(where, sizeof(where), "%zu-%zu of %zu", r->lines.count > 0 ? r->top + 1 : 0,
		       last, r->lines.count);
	rt_bar_draw(canvas, box, rt_buf_str(&r->title), rt_str_of(where));
	/* What is scrolled away on the left would lie beside the canvas. */
	shift = body.x == 0 ? r->left : 0;
	if (body.h > 0)
		rt_lines_draw(&r->lines, r->top, last - r->top, canvas,
			      (rt_box){body.x - shift, body.y, body.w + shift, body.h},
			      rt_buf_str(&r->match));
	if (r->is_asked && box.h > 1)
		rt_field_draw(r->query, canvas,
			      rt_bar_ask(canvas, (rt_box){box.x, box.y + box.h - 1, box.w, 1},
					 "Search:"),
			      RT_INK_TEXT, true);
}

static rt_status
act_asked(reader *r, rt_action action, bool *out_used)
{
	*out_used = true;
	if (action == RT_ACT_ACCEPT)
		return search(r);
	if (action == RT_ACT_CANCEL) {
		unask(r);
		return RT_OK;
	}
	return rt_field_act(r->query, action, r->columns - QUERY_ROOM, out_used);
}

/* Every line of it, to the clipboard or into the editor. */
static rt_status
hand_over(reader *r, bool to_editor)
{
	bool is_changed = false;
	rt_status st;
	rt_error err;
	size_t i;
	rt_buf text, edited;

	rt_buf_init(&text, r->pane.tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&edited, r->pane.tui->alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < r->lines.count; i++) {
		rt_lines_add_text(&r->lines, i, &text);
		rt_buf_add_byte(&text, '\n');
	}
	st = text.status;
	if (st == RT_OK && !to_editor) {
		rt_tui_copy(r->pane.tui, rt_buf_str(&text));
	} else if (st == RT_OK) {
		st = rt_tui_edit(r->pane.tui, rt_buf_str(&text), "text", &edited, &is_changed, &err);
		if (st != RT_OK && st != RT_NOMEM) {
			rt_tui_say_error(r->pane.tui, &err, rt_buf_str(&r->pane.tui->work.hint));
			st = RT_OK;
		} else if (is_changed) {
			rt_tui_say(r->pane.tui, "This is only to be read: what was changed is not kept");
		}
	}
	rt_buf_deinit(&text);
	rt_buf_deinit(&edited);
	return st;
}

static rt_status
act(rt_pane *pane, rt_action action, bool *out_used)
{
	reader *r = of(pane);
	size_t end = last_top(r), page = r->rows > 2 ? (size_t)r->rows - 1 : 1;

	if (r->is_asked)
		return act_asked(r, action, out_used);
	*out_used = true;
	switch (action) {
	case RT_ACT_UP: r->top -= r->top > 0; break;
	case RT_ACT_DOWN: r->top += r->top < end; break;
	case RT_ACT_PAGE_UP: r->top -= r->top > page ? page : r->top; break;
	case RT_ACT_PAGE_DOWN: r->top += end - r->top > page ? page : end - r->top; break;
	case RT_ACT_HOME: r->top = 0; break;
	case RT_ACT_END: r->top = end; break;
	case RT_ACT_LEFT: r->left -= r->left > 8 ? 8 : r->left; break;
	case RT_ACT_RIGHT: r->left += r->left < RT_CANVAS_COLUMNS_MAX ? 8 : 0; break;
	case RT_ACT_SEARCH: ask(r); break;
	case RT_ACT_FIND_NEXT: find_again(r, false); break;
	case RT_ACT_FIND_PREVIOUS: find_again(r, true); break;
	case RT_ACT_COPY: return hand_over(r, false);
	case RT_ACT_EDITOR: return hand_over(r, true);
	case RT_ACT_ACCEPT:
	case RT_ACT_CANCEL:
		rt_tui_close(pane->tui, pane);
		break;
	default: *out_used = false; break;
	}
	return RT_OK;
}

static rt_status
key(rt_pane *pane, rt_key k, bool *out_used)
{
	reader *r = of(pane);

	*out_used = false;
	return r->is_asked ? rt_field_key(r->query, k, out_used) : RT_OK;
}

static rt_status
paste(rt_pane *pane, rt_str text)
{
	reader *r = of(pane);

	return r->is_asked ? rt_field_insert(r->query, text) : RT_OK;
}

static void
free_reader(rt_pane *pane)
{
	reader *r = of(pane);

	rt_lines_deinit(&r->lines);
	rt_buf_deinit(&r->title);
	rt_buf_deinit(&r->match);
	rt_field_free(r->query);
	rt_free(pane->tui->alloc, r);
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_READER,
	.draw = draw,
	.act = act,
	.key = key,
	.paste = paste,
	.free = free_reader,
};

rt_status
rt_pane_reader(rt_tui *tui, const char *title, rt_lines *lines)
{
	reader *r = rt_new0(tui->alloc, sizeof(*r));
	rt_status st = lines->status;

	if (r == NULL)
		st = RT_NOMEM;
	if (st != RT_OK) {
		rt_free(tui->alloc, r);
		return st;
	}
	r->pane.ops = &ops;
	r->pane.tui = tui;
	r->lines = *lines;
	rt_lines_init(lines, tui->alloc);
	r->found = SIZE_MAX;
	rt_buf_init(&r->title, tui->alloc, TITLE_SIZE * 4);
	rt_buf_init(&r->match, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&r->title, title);
	st = rt_field_new(tui->alloc, false, &r->query);
	if (st != RT_OK) {
		free_reader(&r->pane);
		return st;
	}
	return rt_tui_push(tui, &r->pane);
}

rt_status
rt_pane_help(rt_tui *tui, rt_screen screen)
{
	rt_lines_options how = {.columns = tui->canvas.columns > 1 ? tui->canvas.columns : 80,
				.utf8 = tui->canvas.utf8,
				.ink = RT_INK_TEXT};
	rt_lines lines;
	rt_status st;
	rt_buf text;

	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	rt_lines_init(&lines, tui->alloc);
	rt_keymap_add_help(tui->keys, screen, &text);
	st = text.status;
	if (st == RT_OK) {
		rt_lines_add_plain(&lines, rt_buf_str(&text), &how);
		st = rt_pane_reader(tui, "All keys", &lines);
	}
	rt_lines_deinit(&lines);
	rt_buf_deinit(&text);
	return st;
}
