/* SPDX-License-Identifier: MIT
 *
 * Differences: Myers' greedy algorithm, over lines and then over the words of lines that replace
 * each other. Common beginnings and ends are set aside first; if more than EDITS_MAX items would
 * have to be removed and added, all the rest is. So the cost is the texts and EDITS_MAX squared. */
#include <stdio.h>

#include "terminal/lines_impl.h"

enum {
	EDITS_MAX = 2000, /* lines */
	WORD_EDITS_MAX = 500,
	AROUND = 3 /* number of unchanged lines around a change */
};

typedef struct item {
	rt_str text;
	uint32_t hash;
	bool is_changed;
} item;

typedef struct side {
	item *items;
	size_t count, capacity;
} side;

typedef struct difference {
	rt_layout *layout;
	side a, b;      /* lines */
	side from, to;  /* words of one line of each */
	int32_t *trace; /* furthest x on each diagonal, after 0 edits, after 1, … */
	size_t trace_capacity;
} difference;

/* ---- items ---- */

static void
add_item(rt_lines *lines, side *s, rt_str text)
{
	item *added = rt_lines_push(lines, &s->items, &s->count, &s->capacity, sizeof(*added));
	uint32_t hash = 2166136261u;

	if (added == NULL)
		return;
	for (size_t i = 0; i < text.size; i++)
		hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619u;
	*added = (item){.text = text, .hash = hash};
}

static void
split_lines(rt_lines *lines, side *s, rt_str text)
{
	const char *end = text.ptr;

	s->count = 0;
	for (size_t at = 0; text.size > 0 && end != NULL && rt_lines_ok(lines);) {
		size_t size;

		end = at < text.size ? memchr(text.ptr + at, '\n', text.size - at) : NULL;
		size = (end == NULL ? text.size : (size_t)(end - text.ptr)) - at;
		add_item(lines, s, rt_str_at(text.ptr + at, size));
		at += size + 1;
	}
}

enum { WORD = 1, BLANK, BEYOND_ASCII, OTHER };

static int
class_of(char c)
{
	unsigned char u = (unsigned char)c;

	if ((u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u == '_')
		return WORD;
	if (u == ' ' || u == '\t')
		return BLANK;
	return u >= 0x80 ? BEYOND_ASCII : OTHER;
}

/* Words are runs of letters or of blanks; other characters, and those of scripts that write words
 * without blanks, are single. */
static void
split_words(rt_lines *lines, side *s, rt_str line)
{
	size_t at = 0;

	s->count = 0;
	while (at < line.size && rt_lines_ok(lines)) {
		int class = class_of(line.ptr[at]);
		bool is_single = class == OTHER || (unsigned char)line.ptr[at] >= 0xE3;
		size_t end = at + 1;

		for (; end < line.size; end++) {
			unsigned char c = (unsigned char)line.ptr[end];
			int next = class_of(line.ptr[end]);
			bool goes_on = next == class ||
				       (class != BLANK && (next == WORD || next == BEYOND_ASCII));

			if (is_single ? c < 0x80 || c >= 0xC0 : !goes_on || c >= 0xE3)
				break;
		}
		add_item(lines, s, rt_str_at(line.ptr + at, end - at));
		at = end;
	}
}

static bool
is_same(const item *a, const item *b)
{
	return a->hash == b->hash && rt_str_eq(a->text, b->text);
}

/* ---- changes ---- */

static bool
reserve_trace(difference *d, size_t count)
{
	size_t capacity = d->trace_capacity < 256 ? 256 : d->trace_capacity * 2;
	int32_t *trace;

	if (count <= d->trace_capacity)
		return true;
	capacity = capacity < count ? count : capacity;
	trace = rt_resize(d->layout->lines->alloc, d->trace, capacity * sizeof(*trace));
	if (trace == NULL) {
		rt_lines_fail(d->layout->lines, RT_NOMEM);
		return false;
	}
	d->trace = trace;
	d->trace_capacity = capacity;
	return true;
}

/* The diagonals after that many edits: -edits, -edits + 2, … edits. */
static int32_t *
trace_at(const difference *d, int edits)
{
	return d->trace + (size_t)edits * ((size_t)edits + 1) / 2;
}

/* Does the furthest path to diagonal k come from the one above it (an addition)? */
static bool
is_addition(const int32_t *before, int edits, int k)
{
	int at = (k + edits) / 2; /* of k + 1; the one before it is k - 1 */

	return k == -edits || (k != edits && before[at - 1] < before[at]);
}

/* The number of edits; -1: more than max. */
static int
count_edits(difference *d, const item *a, int n, const item *b, int m, int max)
{
	for (int edits = 0; edits <= max; edits++) {
		int32_t *now, *before;

		if (!reserve_trace(d, (size_t)(edits + 1) * ((size_t)edits + 2) / 2))
			return -1;
		now = trace_at(d, edits);
		before = edits > 0 ? trace_at(d, edits - 1) : NULL;
		for (int k = -edits; k <= edits; k += 2) {
			int at = (k + edits) / 2, x = 0, y;

			if (edits > 0)
				x = is_addition(before, edits, k) ? before[at] : before[at - 1] + 1;
			for (y = x - k; x < n && y < m && is_same(&a[x], &b[y]); x++, y++)
				;
			now[at] = x;
			if (x >= n && y >= m)
				return edits;
		}
	}
	return -1;
}

static void
mark_changes(difference *d, side *left, side *right, int max)
{
	item *a = left->items, *b = right->items;
	size_t n = left->count, m = right->count;
	int edits = -1, x, y;

	if (!rt_layout_ok(d->layout))
		return;
	for (; n > 0 && m > 0 && is_same(a, b); n--, m--)
		a++, b++;
	for (; n > 0 && m > 0 && is_same(&a[n - 1], &b[m - 1]); n--)
		m--;
	/* If nothing is left of one, the rest of the other is new. */
	if (n > 0 && m > 0 && n < INT32_MAX / 4 && m < INT32_MAX / 4)
		edits = count_edits(d, a, (int)n, b, (int)m, max);
	if (edits < 0) {
		while (n > 0)
			a[--n].is_changed = true;
		while (m > 0)
			b[--m].is_changed = true;
		return;
	}
	x = (int)n;
	y = (int)m;
	for (; edits > 0; edits--) {
		const int32_t *before = trace_at(d, edits - 1);
		int k = x - y, at = (k + edits) / 2;

		if (is_addition(before, edits, k)) {
			x = before[at];
			y = x - (k + 1);
			b[y].is_changed = true;
		} else {
			x = before[at - 1];
			y = x - (k - 1);
			a[x].is_changed = true;
		}
	}
}

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
		add_line(d, "  ", d->a.items[i].text, kind);
	if (count > head + tail) {
		rt_str ellipsis = rt_canvas_glyph(&d->layout->canvas, RT_GLYPH_ELLIPSIS);

		count -= head + tail;
		(void)snprintf(words, sizeof(words), "%.*s %zu unchanged line%s", RT_STR_ARG(ellipsis),
			       count, count == 1 ? "" : "s");
		rt_flow_line(d->layout, rt_str_of(words), rt_ink_of(d->layout->ink, RT_INK_DIM),
			     ' ');
	}
	for (size_t i = to - tail; i < to; i++)
		add_line(d, "  ", d->a.items[i].text, kind);
}

/* Is at least a third of the line unchanged, so that highlighting words helps? */
static bool
is_similar(const side *s, rt_str line)
{
	size_t unchanged = 0, all = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (class_of(s->items[i].text.ptr[0]) == BLANK)
			continue;
		all += s->items[i].text.size;
		unchanged += s->items[i].is_changed ? 0 : s->items[i].text.size;
	}
	return line.size > 0 && unchanged * 3 >= all;
}

/* A line that replaces another one, or (!is_new) that other one. */
static void
add_replaced(difference *d, rt_str was, rt_str is, bool is_new)
{
	rt_layout *layout = d->layout;
	const char *mark = is_new ? "+ " : "- ";
	rt_ink_kind kind = is_new ? RT_INK_ADDED : RT_INK_REMOVED;
	rt_ink ink = rt_ink_of(layout->ink, kind);
	const side *shown = is_new ? &d->to : &d->from;

	split_words(layout->lines, &d->from, was);
	split_words(layout->lines, &d->to, is);
	mark_changes(d, &d->from, &d->to, WORD_EDITS_MAX);
	if (!rt_layout_ok(layout))
		return;
	if (!is_similar(&d->from, was) || !is_similar(&d->to, is)) {
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
	const item *a = n > 0 ? d->a.items + i_from : NULL, *b = m > 0 ? d->b.items + j_from : NULL;

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
	const item *a = d->a.items, *b = d->b.items;
	size_t i = 0, j = 0;

	while ((i < d->a.count || j < d->b.count) && rt_layout_ok(d->layout)) {
		size_t i_from = i, j_from = j;

		while (i < d->a.count && !a[i].is_changed && j < d->b.count && !b[j].is_changed)
			i++, j++;
		if (i > i_from)
			add_unchanged(d, i_from, i, i_from == 0 && j_from == 0,
				      i == d->a.count && j == d->b.count);
		i_from = i;
		j_from = j;
		while (i < d->a.count && a[i].is_changed)
			i++;
		while (j < d->b.count && b[j].is_changed)
			j++;
		add_changed(d, i_from, i - i_from, j_from, j - j_from);
	}
}

void
rt_lines_add_difference(rt_lines *lines, rt_str a, rt_str b, const rt_lines_options *options)
{
	rt_layout layout;
	difference d = {.layout = &layout};

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
	split_lines(lines, &d.a, a);
	split_lines(lines, &d.b, b);
	mark_changes(&d, &d.a, &d.b, EDITS_MAX);
	add_rows(&d);
	rt_free(lines->alloc, d.a.items);
	rt_free(lines->alloc, d.b.items);
	rt_free(lines->alloc, d.from.items);
	rt_free(lines->alloc, d.to.items);
	rt_free(lines->alloc, d.trace);
	rt_layout_deinit(&layout);
}
