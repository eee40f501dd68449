/* SPDX-License-Identifier: MIT
 *
 * The reader: a text of any length, scrolled, searched, copied. And the screen of all keys,
 * which is such a text. */
#include <stdio.h>

#include "tui/bar.h"
#include "tui/find.h"
#include "tui/pane.h"

enum { TITLE_SIZE = 200, QUERY_ROOM = 10, HELP_INDENT = 6 };

typedef struct reader {
	rt_pane pane; /* first */
	rt_lines lines;
	rt_buf title;
	rt_field *query;
	rt_buf match;  /* what is marked; or empty */
	bool is_asked; /* the query is being written */
	bool is_help;  /* it is the screen of all keys … */
	rt_screen help_of;
	int laid;      /* … laid out for so many columns */
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
	r->pane.footer = "Enter find   Esc cancel";
	rt_field_clear(r->query);
}

static void
unask(reader *r)
{
	r->is_asked = false;
	r->pane.screen = RT_SCREEN_READER;
	r->pane.footer = NULL;
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

static rt_status
lay_help(rt_tui *tui, rt_screen screen, rt_lines *lines);

/* The screen of all keys in other columns: about where it was. */
static void
lay_anew(reader *r)
{
	rt_tui *tui = r->pane.tui;
	size_t count = r->lines.count > 0 ? r->lines.count : 1;
	rt_lines lines;

	rt_lines_init(&lines, tui->alloc);
	if (lay_help(tui, r->help_of, &lines) == RT_OK) {
		rt_lines old = r->lines;

		r->lines = lines;
		lines = old;
		r->top = r->top * r->lines.count / count;
		r->found = SIZE_MAX;
		r->laid = tui->canvas.columns;
	}
	rt_lines_deinit(&lines); /* benign where it failed: it is cut */
}

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
	if (r->is_help && r->laid != canvas->columns)
		lay_anew(r);
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
	case RT_ACT_HELP: *out_used = r->is_help; break;
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

/* A line of the help as the keymap writes it: keys, two blanks or more, what they do. */
static void
add_help_line(rt_lines *lines, rt_str line, const rt_canvas *canvas)
{
	rt_lines_options how = {.columns = canvas->columns > 1 ? canvas->columns : 80,
				.utf8 = canvas->utf8,
				.ink = RT_INK_TEXT,
				.indent = HELP_INDENT};
	size_t i, behind = 0;

	if (line.size == 0) {
		rt_lines_add_blank(lines);
		return;
	}
	if (line.ptr[0] != ' ') {
		rt_lines_add_row(lines, 0, line, RT_INK_HEADING | RT_INK_BOLD);
		return;
	}
	if (rt_canvas_width(canvas, line) <= how.columns) {
		rt_lines_add_row(lines, 0, line, RT_INK_TEXT);
		return;
	}
	for (i = 2; i + 2 < line.size; i++)
		if (line.ptr[i] == ' ' && line.ptr[i + 1] == ' ' && line.ptr[i + 2] != ' ')
			behind = i + 2;
	rt_lines_add_row(lines, 0, behind > 0 ? rt_str_at(line.ptr, behind - 2) : line,
			 RT_INK_TEXT | RT_INK_BOLD);
	if (behind > 0)
		rt_lines_add_plain(lines, rt_str_at(line.ptr + behind, line.size - behind), &how);
}

/* Without the end that it shares with another help. */
static void
drop_end(rt_buf *text, size_t from, const rt_buf *end)
{
	if (end->size > 0 && text->size - from > end->size &&
	    memcmp(text->ptr + text->size - end->size, end->ptr, end->size) == 0)
		text->size -= end->size;
}

/* The screen's own keys and what works there besides, then those of the other screens. */
static rt_status
add_all_help(rt_tui *tui, rt_screen screen, rt_buf *text)
{
	rt_buf any, field;
	rt_status st;
	int other;

	rt_buf_init(&any, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&field, tui->alloc, RT_BUF_UNLIMITED);
	rt_keymap_add_help(tui->keys, RT_SCREEN_ANY, &any);
	rt_keymap_add_help(tui->keys, RT_SCREEN_FIELD, &field);
	drop_end(&field, 0, &any);
	rt_keymap_add_help(tui->keys, screen, text);
	for (other = RT_SCREEN_ANY + 1; other < RT_SCREEN_COUNT; other++) {
		size_t from = text->size;
		bool is_there = other == RT_SCREEN_FIELD && rt_screen_has_field(screen);

		if (other == (int)screen || is_there)
			continue;
		rt_keymap_add_help(tui->keys, (rt_screen)other, text);
		drop_end(text, from, &any);
		if (rt_screen_has_field((rt_screen)other))
			drop_end(text, from, &field);
	}
	st = any.status != RT_OK ? any.status : field.status != RT_OK ? field.status : text->status;
	rt_buf_deinit(&any);
	rt_buf_deinit(&field);
	return st;
}

static rt_status
lay_help(rt_tui *tui, rt_screen screen, rt_lines *lines)
{
	rt_str left, line;
	rt_status st;
	rt_buf text;

	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	st = add_all_help(tui, screen, &text);
	for (left = rt_buf_str(&text); st == RT_OK && left.size > 0;) {
		size_t end = rt_str_find(left, RT_STR("\n"), 0);

		line = rt_str_at(left.ptr, end == SIZE_MAX ? left.size : end);
		add_help_line(lines, line, &tui->canvas);
		end = end == SIZE_MAX ? left.size : end + 1;
		left = rt_str_at(left.ptr + end, left.size - end);
	}
	rt_buf_deinit(&text);
	return st == RT_OK ? lines->status : st;
}

rt_status
rt_pane_help(rt_tui *tui, rt_screen screen)
{
	rt_lines lines;
	rt_status st;

	rt_lines_init(&lines, tui->alloc);
	st = lay_help(tui, screen, &lines);
	if (st == RT_OK)
		st = rt_pane_reader(tui, "All keys", &lines);
	if (st == RT_OK) {
		reader *r = of(tui->panes[tui->pane_count - 1]);

		r->is_help = true;
		r->help_of = screen;
		r->laid = tui->canvas.columns;
	}
	rt_lines_deinit(&lines);
	return st;
}
