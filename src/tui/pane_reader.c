/* SPDX-License-Identifier: MIT
 *
 * The reader: a text of any length, scrolled, searched, copied; and the keys that apply on the screen
 * below, or (the same key again) all keys, which are such a text. */
#include <stdio.h>

#include "tui/bar.h"
#include "tui/find.h"

enum { TITLE_SIZE = 200, HELP_INDENT = 6, SCROLL_COLUMNS = 8 };

typedef struct reader {
	rt_pane pane; /* first */
	rt_lines lines;
	rt_buf title;
	rt_search_bar bar;
	bool is_help; /* keys … */
	bool is_all;  /* … of all screens, or only … */
	rt_screen help_of;
	rt_buf help_footer; /* of a question or a list; or empty */
	bool help_is_list;
	int help_columns; /* … laid out for this many */
	rt_status (*restore)(rt_tui *tui, uint32_t entry); /* of the versions of an entry; or NULL */
	uint32_t entry;
	size_t top;
	size_t found; /* the line found last; SIZE_MAX: none */
	int left;     /* columns scrolled to the left */
	int rows;
} reader;

static reader *
of(rt_pane *pane)
{
	return (reader *)pane;
}

static size_t
visible_rows(const reader *r)
{
	return r->rows > 0 ? (size_t)r->rows : 1;
}

static size_t
last_top(const reader *r)
{
	return r->lines.count > visible_rows(r) ? r->lines.count - visible_rows(r) : 0;
}

/* ---- search ---- */

static bool
holds(reader *r, size_t line, rt_buf *text)
{
	rt_buf_clear(text);
	rt_lines_add_text(&r->lines, line, text);
	return rt_find_holds(rt_buf_str(text), rt_buf_str(&r->bar.match));
}

/* The next line that contains the match, from this one on, or (backwards) before it; or
 * SIZE_MAX. */
static size_t
find(reader *r, size_t from, bool backwards)
{
	rt_buf *text = rt_scope_buf(&r->pane.tui->scope);

	if (backwards) {
		while (from-- > 0)
			if (holds(r, from, text))
				return from;
	} else {
		for (; from < r->lines.count; from++)
			if (holds(r, from, text))
				return from;
	}
	return SIZE_MAX;
}

/* False: none. */
static bool
show_line(reader *r, size_t line)
{
	size_t rows = visible_rows(r);

	if (line == SIZE_MAX)
		return false;
	r->found = line;
	if (line < r->top || line >= r->top + rows) {
		r->top = line > rows / 2 ? line - rows / 2 : 0;
		if (r->top > last_top(r))
			r->top = last_top(r);
	}
	return true;
}

static void
find_again(reader *r, bool backwards)
{
	size_t from = r->found != SIZE_MAX ? r->found + (backwards ? 0 : 1)
		      : backwards          ? r->lines.count
					   : r->top;

	if (r->bar.match.size == 0)
		rt_tui_say(r->pane.tui, "Search for something first");
	else if (!show_line(r, find(r, from, backwards)))
		rt_tui_say(r->pane.tui, "No match %s for \"%.60s\"", backwards ? "above" : "below",
			   r->bar.match.ptr);
}

static void
search(rt_pane *pane)
{
	reader *r = of(pane);

	r->found = SIZE_MAX;
	if (!show_line(r, find(r, r->top, false)) && !show_line(r, find(r, r->top, true)))
		rt_tui_say(pane->tui, "No match for \"%.60s\"", r->bar.match.ptr);
}

/* ---- keys ---- */

/* A line of the keymap's help: keys, and from RT_KEYMAP_HELP_COLUMNS on what they do, wrapped there;
 * on narrow terminals below the keys. */
static void
add_help_line(rt_lines *lines, rt_str line, rt_tui *tui)
{
	enum { WORDS_MIN = 30 };
	int columns = tui->canvas.columns > 1 ? tui->canvas.columns : 80;
	bool is_narrow = columns < RT_KEYMAP_HELP_COLUMNS + WORDS_MIN;
	size_t keys = line.size < RT_KEYMAP_HELP_COLUMNS ? line.size : RT_KEYMAP_HELP_COLUMNS;
	rt_str words = rt_str_skip(line, keys);
	rt_lines_options options = {.columns = columns - (is_narrow ? 0 : RT_KEYMAP_HELP_COLUMNS),
				    .utf8 = tui->canvas.utf8,
				    .ink = RT_INK_TEXT,
				    .indent = is_narrow ? HELP_INDENT : 0};
	rt_buf *row = rt_scope_buf(&tui->scope);
	rt_lines cell;

	if (line.size == 0) {
		rt_lines_add_blank(lines);
		return;
	}
	if (line.ptr[0] != ' ' || words.size == 0) {
		rt_lines_add_row(lines, 0, line,
				 line.ptr[0] != ' ' ? RT_INK_HEADING | RT_INK_BOLD : RT_INK_TEXT);
		return;
	}
	line = rt_str_at(line.ptr, keys);
	if (is_narrow) {
		rt_lines_add_row(lines, 2, rt_str_trim(line), RT_INK_TEXT | RT_INK_BOLD);
		rt_lines_add_plain(lines, words, &options);
		return;
	}
	rt_lines_init(&cell, tui->alloc);
	rt_lines_add_plain(&cell, words, &options);
	for (size_t i = 0; i < cell.count; i++) {
		rt_buf_clear(row);
		if (i == 0)
			rt_buf_add_str(row, line);
		else
			rt_buf_add_f(row, "%*s", RT_KEYMAP_HELP_COLUMNS, "");
		rt_lines_add_text(&cell, i, row);
		rt_lines_add_row(lines, 0, rt_scope_str(&tui->scope, row), RT_INK_TEXT);
	}
	RT_TRY(&tui->scope, cell.status);
	rt_lines_deinit(&cell);
}

/* Remove the end that the text added since from shares with another screen's help. */
static void
drop_end(rt_buf *text, size_t from, const rt_buf *end)
{
	if (end->size > 0 && text->size - from > end->size &&
	    memcmp(text->ptr + text->size - end->size, end->ptr, end->size) == 0)
		text->size -= end->size;
}

/* The screen's own keys and those that work there, too, then those of the other screens. */
static rt_str
all_keys(rt_tui *tui, rt_screen screen)
{
	rt_buf *any = rt_scope_buf(&tui->scope), *field = rt_scope_buf(&tui->scope);
	rt_buf *text = rt_scope_buf(&tui->scope);

	rt_keymap_add_help(tui->keys, RT_SCREEN_ANY, any);
	rt_keymap_add_help(tui->keys, RT_SCREEN_FIELD, field);
	drop_end(field, 0, any);
	rt_keymap_add_help(tui->keys, screen, text);
	for (rt_screen other = RT_SCREEN_ANY + 1; other < RT_SCREEN_COUNT; other++) {
		size_t from = text->size;

		if (other == screen || (other == RT_SCREEN_FIELD && rt_screen_has_field(screen)))
			continue;
		rt_keymap_add_help(tui->keys, other, text);
		drop_end(text, from, any);
		if (rt_screen_has_field(other))
			drop_end(text, from, field);
	}
	(void)rt_scope_str(&tui->scope, any);
	(void)rt_scope_str(&tui->scope, field);
	return rt_scope_str(&tui->scope, text);
}

/* Is the action of use in the present state of the chat? */
static bool
applies(void *ctx, rt_action action)
{
	const rt_work *work = &((const rt_tui *)ctx)->work;

	switch (action) {
	case RT_ACT_TAKE_PREVIOUS:
	case RT_ACT_TAKE_NEXT: return work->take_count > 1;
	case RT_ACT_SELECT:
	case RT_ACT_LAST_USER:
	case RT_ACT_AGAIN:
	case RT_ACT_CONTINUE:
	case RT_ACT_COPY:
	case RT_ACT_LABEL:
	case RT_ACT_COMPACT:
	case RT_ACT_EXPORT:
	case RT_ACT_SEARCH:
	case RT_ACT_FIND_NEXT:
	case RT_ACT_FIND_PREVIOUS:
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN:
	case RT_ACT_HOME:
	case RT_ACT_END: return rt_work_count(work) > 0;
	default: return true;
	}
}

/* Is the key of a text useful in the line that filters a list? */
static bool
applies_in_list(void *ctx, rt_action action)
{
	(void)ctx;
	return action != RT_ACT_NEWLINE && action != RT_ACT_EDITOR && action != RT_ACT_UP &&
	       action != RT_ACT_DOWN && action != RT_ACT_COMPLETE;
}

/* The parts of a footer as lines: "Tab compare", of which the words before the first that begins with a
 * small letter are the key. */
static void
add_footer_keys(rt_str footer, rt_buf *text)
{
	while (footer.size > 0) {
		size_t end = rt_str_find(footer, RT_STR("  "), 0), size = 0;
		rt_str part = rt_str_at(footer.ptr, end == SIZE_MAX ? footer.size : end);

		while (size < part.size && !(part.ptr[size] >= 'a' && part.ptr[size] <= 'z')) {
			size_t blank = rt_str_find(part, RT_STR(" "), size);

			size = blank == SIZE_MAX ? part.size : blank + 1;
		}
		if (part.size > 0)
			rt_buf_add_f(text, "  %-24.*s%.*s\n", (int)size, part.ptr,
				     RT_STR_ARG(rt_str_skip(part, size)));
		footer = rt_str_trim(rt_str_skip(footer, part.size));
	}
}

/* The keys of the screen that apply now. */
static rt_str
keys_here(rt_tui *tui, rt_screen screen, rt_str footer, bool is_list)
{
	rt_buf *text = rt_scope_buf(&tui->scope), *key = rt_scope_buf(&tui->scope);

	if (footer.size > 0) {
		rt_buf_add_c(text, is_list ? "This list, which is filtered by typing\n\n" : "This question\n\n");
		add_footer_keys(footer, text);
	}
	rt_keymap_add_screen(tui->keys, screen,
			     screen == RT_SCREEN_CHAT ? applies
			     : is_list                ? applies_in_list
						      : NULL,
			     tui, text);
	rt_keymap_add_key(tui->keys, RT_SCREEN_READER, RT_ACT_HELP, key);
	if (key->size > 0)
		rt_buf_add_f(text, "\n  %-24.*sall keys\n", RT_STR_ARG(rt_buf_str(key)));
	rt_buf_clear(key);
	rt_keymap_add_key(tui->keys, RT_SCREEN_READER, RT_ACT_SEARCH, key);
	if (key->size > 0)
		rt_buf_add_f(text, "  %-24.*ssearch here\n", RT_STR_ARG(rt_buf_str(key)));
	(void)rt_scope_str(&tui->scope, key);
	return rt_scope_str(&tui->scope, text);
}

static void
lay_help(rt_tui *tui, rt_screen screen, rt_str footer, bool is_list, bool is_all, rt_lines *lines)
{
	rt_str left = is_all ? all_keys(tui, screen) : keys_here(tui, screen, footer, is_list);

	while (left.size > 0) {
		size_t end = rt_str_find(left, RT_STR("\n"), 0);
		size_t size = end == SIZE_MAX ? left.size : end;

		add_help_line(lines, rt_str_at(left.ptr, size), tui);
		size += end != SIZE_MAX;
		left = rt_str_at(left.ptr + size, left.size - size);
	}
	RT_TRY(&tui->scope, lines->status);
}

/* For another width, scrolled to about the same line. Without memory the old one is cut. */
static void
lay_help_anew(reader *r)
{
	rt_tui *tui = r->pane.tui;
	size_t count = r->lines.count > 0 ? r->lines.count : 1;
	rt_lines lines;

	rt_lines_init(&lines, tui->alloc);
	lay_help(tui, r->help_of, rt_buf_str(&r->help_footer), r->help_is_list, r->is_all, &lines);
	if (rt_ok(&tui->scope)) {
		rt_lines old = r->lines;

		r->lines = lines;
		lines = old;
		r->top = r->top * r->lines.count / count;
		r->found = SIZE_MAX;
		r->help_columns = tui->canvas.columns;
	}
	rt_lines_deinit(&lines);
}

/* The other list: all keys, or those that apply. */
static void
show_all_keys(reader *r)
{
	r->is_all = !r->is_all;
	rt_buf_clear(&r->title);
	rt_buf_add_c(&r->title, r->is_all ? "All keys" : "Keys here");
	r->top = 0;
	lay_help_anew(r);
}

/* ---- the pane ---- */

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	reader *r = of(pane);
	rt_box body = {box.x, box.y + 1, box.w, box.h - 1 - (r->bar.is_open ? 1 : 0)};
	int shift = body.x == 0 ? r->left
				: 0; /* else text left of the box would be drawn, too */
	size_t last;

	r->rows = body.h;
	if (r->is_help && r->help_columns != canvas->columns)
		lay_help_anew(r);
	if (r->top > last_top(r))
		r->top = last_top(r);
	last = r->top + (body.h > 0 ? (size_t)body.h : 0);
	if (last > r->lines.count)
		last = r->lines.count;
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	rt_bar_draw(canvas, box, rt_buf_str(&r->title),
		    rt_tui_format(pane->tui, "%zu-%zu of %zu", r->lines.count > 0 ? r->top + 1 : 0,
				  last, r->lines.count));
	if (body.h > 0)
		rt_lines_draw(&r->lines, r->top, last - r->top, canvas,
			      (rt_box){body.x - shift, body.y, body.w + shift, body.h},
			      rt_buf_str(&r->bar.match));
	if (box.h > 1)
		rt_search_bar_draw(&r->bar, canvas, box);
}

/* All lines, to the clipboard or into the editor. */
static void
export_text(reader *r, bool to_editor)
{
	rt_tui *tui = r->pane.tui;
	rt_buf *lines = rt_scope_buf(&tui->scope);
	bool is_changed = false;
	rt_error err;
	rt_str text;

	for (size_t i = 0; i < r->lines.count; i++) {
		rt_lines_add_text(&r->lines, i, lines);
		rt_buf_add_byte(lines, '\n');
	}
	text = rt_scope_str(&tui->scope, lines);
	if (!rt_ok(&tui->scope))
		return;
	if (!to_editor) {
		rt_tui_copy(tui, text);
		return;
	}
	RT_TRY(&tui->scope,
	       rt_tui_say_failure(
		       tui,
		       rt_tui_edit(tui, text, "text", rt_scope_buf(&tui->scope), &is_changed, &err),
		       &err));
	if (is_changed)
		rt_tui_say(tui, "This view is read-only: changes are not saved");
}

static bool
act(rt_pane *pane, rt_action action)
{
	reader *r = of(pane);
	size_t end = last_top(r), page = r->rows > 2 ? (size_t)r->rows - 1 : 1;

	if (r->bar.is_open)
		return rt_search_bar_act(&r->bar, action);
	switch (action) {
	case RT_ACT_UP: r->top -= r->top > 0; return true;
	case RT_ACT_DOWN: r->top += r->top < end; return true;
	case RT_ACT_PAGE_UP: r->top -= r->top > page ? page : r->top; return true;
	case RT_ACT_PAGE_DOWN: r->top += end - r->top > page ? page : end - r->top; return true;
	case RT_ACT_HOME: r->top = 0; return true;
	case RT_ACT_END: r->top = end; return true;
	case RT_ACT_LEFT:
		r->left -= r->left > SCROLL_COLUMNS ? SCROLL_COLUMNS : r->left;
		return true;
	case RT_ACT_RIGHT:
		r->left += r->left < RT_CANVAS_COLUMNS_MAX ? SCROLL_COLUMNS : 0;
		return true;
	case RT_ACT_SEARCH: rt_search_bar_open(&r->bar); return true;
	case RT_ACT_FIND_NEXT: find_again(r, false); return true;
	case RT_ACT_FIND_PREVIOUS: find_again(r, true); return true;
	case RT_ACT_REVERT:
		if (r->restore != NULL)
			RT_TRY(&pane->tui->scope, r->restore(pane->tui, r->entry));
		return true;
	case RT_ACT_COPY: export_text(r, false); return true;
	case RT_ACT_EDITOR: export_text(r, true); return true;
	case RT_ACT_ACCEPT:
	case RT_ACT_CANCEL: rt_tui_close(pane->tui, pane); return true;
	case RT_ACT_HELP:
		if (r->is_help)
			show_all_keys(r);
		return r->is_help;
	default: return false;
	}
}

static bool
key(rt_pane *pane, rt_key k)
{
	if (of(pane)->bar.is_open)
		return rt_search_bar_key(&of(pane)->bar, k);
	if (rt_key_is_text(k) &&
	    rt_keymap_action(pane->tui->keys, RT_SCREEN_READER, k) == RT_ACT_NONE)
		rt_tui_say(pane->tui, "This text cannot be changed; Esc closes it");
	return false;
}

static void
paste(rt_pane *pane, rt_str text)
{
	if (of(pane)->bar.is_open)
		rt_search_bar_paste(&of(pane)->bar, text);
}

static void
free_reader(rt_pane *pane)
{
	reader *r = of(pane);

	rt_lines_deinit(&r->lines);
	rt_buf_deinit(&r->title);
	rt_buf_deinit(&r->help_footer);
	rt_search_bar_deinit(&r->bar);
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

/* NULL: failed. Lines are empty afterwards unless it did. */
static rt_status
open_reader(rt_tui *tui, const char *title, rt_lines *lines, reader **out)
{
	rt_scope *s = rt_tui_begin(tui);
	reader *r = NULL;
	rt_status st;

	RT_TRY(s, lines->status);
	if (rt_ok(s))
		r = rt_new0(tui->alloc, sizeof(*r));
	if (r == NULL)
		(void)rt_scope_nomem(s);
	if (r != NULL) {
		r->pane.ops = &ops;
		r->pane.tui = tui;
		r->found = SIZE_MAX;
		rt_lines_init(&r->lines, tui->alloc);
		rt_buf_init(&r->title, tui->alloc, TITLE_SIZE * 4);
		rt_buf_add_c(&r->title, title);
		rt_buf_init(&r->help_footer, tui->alloc, RT_BUF_UNLIMITED);
		rt_search_bar_init(&r->bar, &r->pane, search);
	}
	st = rt_tui_end(tui);
	if (st != RT_OK) {
		if (r != NULL)
			free_reader(&r->pane);
		return st;
	}
	r->lines = *lines;
	rt_lines_init(lines, tui->alloc);
	*out = r;
	return rt_tui_push(tui, &r->pane);
}

rt_status
rt_pane_reader(rt_tui *tui, const char *title, rt_lines *lines)
{
	reader *r;

	return open_reader(tui, title, lines, &r);
}

void
rt_pane_reader_restores(rt_tui *tui, rt_status (*fn)(rt_tui *tui, uint32_t entry), uint32_t entry)
{
	rt_pane *pane = tui->panes[tui->pane_count - 1];

	if (pane->ops != &ops)
		return;
	of(pane)->restore = fn;
	of(pane)->entry = entry;
	pane->footer = "Ctrl+R restore a version   PgDn page down   / find   Esc close";
}

rt_status
rt_pane_help(rt_tui *tui, rt_screen screen)
{
	rt_scope *s = rt_tui_begin(tui);
	reader *r = NULL;
	const char *words = screen == RT_SCREEN_FIELD ? rt_tui_top(tui)->footer : NULL;
	rt_str footer = rt_str_of(words == NULL ? "" : words);
	bool is_list = footer.size > 0 && rt_tui_top(tui)->ops->paste != NULL && rt_tui_top(tui)->list != NULL;
	rt_lines lines;

	rt_lines_init(&lines, tui->alloc);
	lay_help(tui, screen, footer, is_list, false, &lines);
	if (RT_TRY(s, open_reader(tui, "Keys here", &lines, &r)) == RT_OK) {
		rt_buf_add_str(&r->help_footer, footer);
		r->help_is_list = is_list;
		r->is_help = true;
		r->help_of = screen;
		r->help_columns = tui->canvas.columns;
	}
	rt_lines_deinit(&lines);
	return rt_tui_end(tui);
}
