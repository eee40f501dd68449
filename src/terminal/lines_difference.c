/* SPDX-License-Identifier: MIT
 *
 * Differences, over lines and then over the words of lines that replace each other. */
#include <stdio.h>

#include "base/edits.h"
#include "terminal/lines_impl.h"

enum { AROUND = 3 /* number of unchanged lines around a change */ };

typedef struct difference {
	rt_layout *layout;
	rt_edits lines, words; /* words: of one line of each */
} difference;

/* ---- rows ---- */

static void
add_line(difference *d, const char *mark, rt_str line, rt_ink_kind kind)
{
	rt_ink ink = rt_ink_of(d->layout->ink, kind);

	rt_layout_push(d->layout, 2, rt_str_of(mark), ink);
	rt_flow_line(d->layout, line, ink, '\n');
	rt_layout_pop(d->layout);
}

/* Unchanged lines of a. is_first, is_last: there are no changes before, or after them. */
static void
add_unchanged(difference *d, size_t from, size_t to, bool is_first, bool is_last)
{
	rt_ink_kind kind = (rt_ink_kind)(d->layout->ink & 0xFF);
	size_t head = is_first ? 0 : AROUND, tail = is_last ? 0 : AROUND;
	size_t count = to - from;
	char words[64];

	if (count <= head + tail + 1 && !(is_first && is_last)) {
		head = count;
		tail = 0;
	}
	for (size_t i = from; i < from + head; i++)
		add_line(d, "  ", d->lines.a.items[i].text, kind);
	if (count > head + tail) {
		rt_str ellipsis = rt_canvas_glyph(&d->layout->canvas, RT_GLYPH_ELLIPSIS);

		count -= head + tail;
		(void)snprintf(words, sizeof(words), "%.*s %zu unchanged line%s",
			       RT_STR_ARG(ellipsis), count, count == 1 ? "" : "s");
		rt_flow_line(d->layout, rt_str_of(words), rt_ink_of(d->layout->ink, RT_INK_DIM),
			     ' ');
	}
	for (size_t i = to - tail; i < to; i++)
		add_line(d, "  ", d->lines.a.items[i].text, kind);
}

/* A line that replaces another one, or (!is_new) that other one. */
static void
add_replaced(difference *d, rt_str was, rt_str is, bool is_new)
{
	rt_layout *layout = d->layout;
	const char *mark = is_new ? "+ " : "- ";
	rt_ink_kind kind = is_new ? RT_INK_ADDED : RT_INK_REMOVED;
	rt_ink ink = rt_ink_of(layout->ink, kind);
	const rt_edit_side *shown = is_new ? &d->words.b : &d->words.a;

	rt_edits_words(&d->words, was, is);
	if (!rt_ok(d->words.s) || !rt_layout_ok(layout))
		return;
	if (!rt_edits_are_similar(&d->words)) {
		add_line(d, mark, is_new ? is : was, kind);
		return;
	}
	rt_layout_push(layout, 2, rt_str_of(mark), ink);
	rt_flow_begin(layout);
	for (size_t i = 0; i < shown->count; i++) {
		int flags = shown->items[i].is_changed ? RT_INK_UNDERLINE | RT_INK_BOLD : 0;

		rt_flow_add(layout, shown->items[i].text, rt_ink_with(ink, flags), '\n');
	}
	rt_flow_words(layout);
	rt_layout_pop(layout);
}

/* n lines of a from i_from on became m of b. */
static void
add_changed(difference *d, size_t i_from, size_t n, size_t j_from, size_t m)
{
	const rt_edit *a = n > 0 ? d->lines.a.items + i_from : NULL,
		      *b = m > 0 ? d->lines.b.items + j_from : NULL;

	for (size_t i = 0; i < n && rt_layout_ok(d->layout); i++) {
		if (i < m)
			add_replaced(d, a[i].text, b[i].text, false);
		else
			add_line(d, "- ", a[i].text, RT_INK_REMOVED);
	}
	for (size_t i = 0; i < m && rt_layout_ok(d->layout); i++) {
		if (i < n)
			add_replaced(d, a[i].text, b[i].text, true);
		else
			add_line(d, "+ ", b[i].text, RT_INK_ADDED);
	}
}

static void
add_rows(difference *d)
{
	const rt_edit *a = d->lines.a.items, *b = d->lines.b.items;
	size_t i = 0, j = 0;

	while ((i < d->lines.a.count || j < d->lines.b.count) && rt_layout_ok(d->layout)) {
		size_t i_from = i, j_from = j;

		while (i < d->lines.a.count && !a[i].is_changed && j < d->lines.b.count &&
		       !b[j].is_changed)
			i++, j++;
		if (i > i_from)
			add_unchanged(d, i_from, i, i_from == 0 && j_from == 0,
				      i == d->lines.a.count && j == d->lines.b.count);
		i_from = i;
		j_from = j;
		while (i < d->lines.a.count && a[i].is_changed)
			i++;
		while (j < d->lines.b.count && b[j].is_changed)
			j++;
		add_changed(d, i_from, i - i_from, j_from, j - j_from);
	}
}

void
rt_lines_add_difference(rt_lines *lines, rt_str a, rt_str b, const rt_lines_options *options)
{
	rt_layout layout;
	rt_scope s;
	difference d = {.layout = &layout, .lines.s = &s, .words.s = &s};

	if (a.size > RT_MARKUP_TEXT_MAX || b.size > RT_MARKUP_TEXT_MAX) {
		rt_lines_fail(lines, RT_LIMIT);
		return;
	}
	rt_layout_init(&layout, lines, options);
	/* A line end that both end with does not count as a line. */
	if (a.size > 0 && b.size > 0 && a.ptr[a.size - 1] == '\n' && b.ptr[b.size - 1] == '\n') {
		a.size--;
		b.size--;
	}
	rt_scope_init(&s, lines->alloc);
	rt_edits_lines(&d.lines, a, b);
	if (rt_ok(&s))
		add_rows(&d);
	if (!rt_ok(&s))
		rt_lines_fail(lines, s.status);
	rt_scope_deinit(&s);
	rt_layout_deinit(&layout);
}
