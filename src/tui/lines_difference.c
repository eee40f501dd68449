/* SPDX-License-Identifier: MIT
 *
 * Differences: Myers' greedy algorithm, over lines and then over the words of lines that took
 * each other's place. What both begin and end with is set aside first; where more than
 * EDITS_MAX items would have to be removed and added, all that is left is. So the cost is the
 * texts and EDITS_MAX squared. */
#include <stdio.h>

#include "tui/lines_impl.h"

enum {
	EDITS_MAX = 2000,  /* lines */
	WORD_EDITS_MAX = 500,
	AROUND = 3         /* lines of what stayed */
};

typedef struct item {
	const char *ptr;
	uint32_t size;
	uint32_t hash;
} item;

typedef struct side {
	item *items;
	size_t count, room;
	uint8_t *changed; /* of each item; room bytes */
	size_t changed_room;
} side;

typedef struct difference {
	rt_layout *layout;
	side a, b;             /* lines */
	side from, to;         /* words of one line of each */
	int32_t *trace;        /* the same after each edit: 1 of them, 2 of them, 3 … */
	size_t trace_room;
} difference;

/* ---- items ---- */

static void
add_item(rt_lines *lines, side *s, const char *ptr, size_t size)
{
	item *items = rt_lines_grow(lines, s->items, &s->room, s->count, sizeof(*items));
	uint32_t hash = 2166136261u;
	size_t i;

	if (items == NULL)
		return;
	s->items = items;
	for (i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)ptr[i]) * 16777619u;
	s->items[s->count++] = (item){ptr, (uint32_t)size, hash};
}

/* A byte for each item, 0. */
static bool
set_unchanged(rt_lines *lines, side *s)
{
	if (lines->status != RT_OK)
		return false;
	if (s->changed_room < s->count + 1) {
		uint8_t *changed = rt_resize(lines->alloc, s->changed, s->room + 1);

		if (changed == NULL) {
			rt_lines_fail(lines, RT_NOMEM);
			return false;
		}
		s->changed = changed;
		s->changed_room = s->room + 1;
	}
	memset(s->changed, 0, s->count + 1);
	return true;
}

static void
split_lines(rt_lines *lines, side *s, rt_str text)
{
	const char *end;
	size_t at = 0, size;

	s->count = 0;
	while (text.size > 0 && lines->status == RT_OK) {
		end = memchr(text.ptr + at, '\n', text.size - at);
		size = (end == NULL ? text.size : (size_t)(end - text.ptr)) - at;
		add_item(lines, s, text.ptr + at, size);
		if (end == NULL)
			break;
		at += size + 1;
	}
}

static int
class_of(char c)
{
	unsigned char u = (unsigned char)c;

	if ((u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u == '_')
		return 1;
	if (u == ' ' || u == '\t')
		return 2;
	return u >= 0x80 ? 3 : 4;
}

/* Runs of letters, of blanks; other characters alone, and so are those of scripts that write
 * words without blanks. */
static void
split_words(rt_lines *lines, side *s, const item *line)
{
	size_t at = 0, end;

	s->count = 0;
	while (at < line->size && lines->status == RT_OK) {
		int class = class_of(line->ptr[at]);
		bool is_alone = class == 4 || (unsigned char)line->ptr[at] >= 0xE3;

		for (end = at + 1; end < line->size; end++) {
			unsigned char c = (unsigned char)line->ptr[end];
			int next = class_of(line->ptr[end]);

			if (is_alone ? c < 0x80 || c >= 0xC0
				     : (next != class && !(class != 2 && (next == 1 || next == 3))) ||
					       c >= 0xE3)
				break;
		}
		add_item(lines, s, line->ptr + at, end - at);
		at = end;
	}
}

static bool
is_same(const item *a, const item *b)
{
	return a->hash == b->hash && a->size == b->size && memcmp(a->ptr, b->ptr, a->size) == 0;
}

/* ---- what has changed ---- */

static bool
grow_trace(difference *d, size_t need)
{
	rt_lines *lines = d->layout->lines;
	size_t room = d->trace_room < 256 ? 256 : d->trace_room * 2;
	int32_t *trace;

	if (need <= d->trace_room)
		return true;
	room = room < need ? need : room;
	trace = rt_resize(lines->alloc, d->trace, room * sizeof(*trace));
	if (trace == NULL) {
		rt_lines_fail(lines, RT_NOMEM);
		return false;
	}
	d->trace = trace;
	d->trace_room = room;
	return true;
}

/* The diagonals after `edits` of them: -edits, -edits + 2, … edits. */
static int32_t *
trace_at(const difference *d, int edits)
{
	return d->trace + (size_t)edits * ((size_t)edits + 1) / 2;
}

/* Does the furthest way to diagonal k come from the one above it (something was added)? */
static bool
is_added(const int32_t *before, int edits, int k)
{
	int at = (k + edits) / 2; /* of k + 1; k - 1 is one before it */

	return k == -edits || (k != edits && before[at - 1] < before[at]);
}

/* How many edits, or -1 where they are too many. a and b: what is left of them. */
static int
count_edits(difference *d, const item *a, int n, const item *b, int m, int max)
{
	int edits, k, x, y;

	for (edits = 0; edits <= max; edits++) {
		int32_t *now, *before;

		if (!grow_trace(d, (size_t)(edits + 1) * ((size_t)edits + 2) / 2))
			return -1;
		now = trace_at(d, edits);
		before = edits > 0 ? trace_at(d, edits - 1) : NULL;
		for (k = -edits; k <= edits; k += 2) {
			x = 0;
			if (edits > 0)
				x = is_added(before, edits, k) ? before[(k + edits) / 2]
							       : before[(k + edits) / 2 - 1] + 1;
			for (y = x - k; x < n && y < m && is_same(&a[x], &b[y]); x++, y++)
				;
			now[(k + edits) / 2] = x;
			if (x >= n && y >= m)
				return edits;
		}
	}
	return -1;
}

static void
mark_changes(difference *d, side *a, side *b, int max)
{
	size_t head = 0, tail = 0, n = a->count, m = b->count;
	int edits = -1, k, x, y;

	if (!set_unchanged(d->layout->lines, a) || !set_unchanged(d->layout->lines, b))
		return;
	while (head < n && head < m && is_same(&a->items[head], &b->items[head]))
		head++;
	while (tail < n - head && tail < m - head &&
	       is_same(&a->items[n - tail - 1], &b->items[m - tail - 1]))
		tail++;
	n -= head + tail;
	m -= head + tail;
	/* Where nothing is left of one, all that is left of the other is new. */
	if (n > 0 && m > 0 && n < INT32_MAX / 4 && m < INT32_MAX / 4)
		edits = count_edits(d, a->items + head, (int)n, b->items + head, (int)m, max);
	if (edits < 0) {
		memset(a->changed + head, 1, n);
		memset(b->changed + head, 1, m);
		return;
	}
	x = (int)n;
	y = (int)m;
	for (; edits > 0; edits--) {
		const int32_t *before = trace_at(d, edits - 1);

		k = x - y;
		if (is_added(before, edits, k)) {
			x = before[(k + edits) / 2];
			y = x - (k + 1);
			b->changed[head + (size_t)y] = 1;
		} else {
			x = before[(k + edits) / 2 - 1];
			y = x - (k - 1);
			a->changed[head + (size_t)x] = 1;
		}
	}
}

/* ---- rows ---- */

static void
add_line(difference *d, const char *mark, const item *line, rt_ink_kind kind)
{
	rt_layout *layout = d->layout;
	rt_ink ink = rt_ink_of(layout->ink, kind);

	rt_layout_push(layout, 2, rt_str_of(mark), ink);
	rt_flow_begin(layout);
	rt_flow_add(layout, rt_str_at(line->ptr, line->size), ink, '\n');
	rt_flow_words(layout);
	rt_layout_pop(layout);
}

static void
add_stayed(difference *d, size_t count)
{
	rt_str ellipsis = rt_canvas_glyph(&d->layout->canvas, RT_GLYPH_ELLIPSIS);
	char words[64];

	snprintf(words, sizeof(words), "%.*s %zu line%s stayed", RT_STR_ARG(ellipsis), count,
		 count == 1 ? "" : "s");
	rt_flow_begin(d->layout);
	rt_flow_add(d->layout, rt_str_of(words), rt_ink_of(d->layout->ink, RT_INK_DIM), ' ');
	rt_flow_words(d->layout);
}

/* Lines of a that stayed. is_first, is_last: nothing has changed before, or after them. */
static void
add_same(difference *d, size_t from, size_t to, bool is_first, bool is_last)
{
	size_t head = is_first ? 0 : AROUND, tail = is_last ? 0 : AROUND;
	size_t count = to - from, i;

	if (count <= head + tail + 1 && !(is_first && is_last))
		head = count, tail = 0;
	for (i = from; i < from + head; i++)
		add_line(d, "  ", &d->a.items[i], (rt_ink_kind)(d->layout->ink & 0xFF));
	if (count > head + tail)
		add_stayed(d, count - head - tail);
	for (i = to - tail; i < to; i++)
		add_line(d, "  ", &d->a.items[i], (rt_ink_kind)(d->layout->ink & 0xFF));
}

/* Is enough of a line there in the other one for its words to be told apart? */
static bool
is_alike(const side *s, const item *line)
{
	size_t stayed = 0, all = 0, i;

	for (i = 0; i < s->count; i++) {
		if (class_of(s->items[i].ptr[0]) == 2)
			continue;
		all += s->items[i].size;
		stayed += s->changed[i] ? 0 : s->items[i].size;
	}
	return line->size > 0 && stayed * 3 >= all;
}

/* A line that took the other one's place, or the other one: `shown` of the two. */
static void
add_words(difference *d, size_t at_a, size_t at_b, bool is_new)
{
	rt_layout *layout = d->layout;
	const item *line = is_new ? &d->b.items[at_b] : &d->a.items[at_a];
	rt_ink_kind kind = is_new ? RT_INK_ADDED : RT_INK_REMOVED;
	rt_ink ink = rt_ink_of(layout->ink, kind);
	const side *shown = is_new ? &d->to : &d->from;
	size_t i;

	split_words(layout->lines, &d->from, &d->a.items[at_a]);
	split_words(layout->lines, &d->to, &d->b.items[at_b]);
	mark_changes(d, &d->from, &d->to, WORD_EDITS_MAX);
	if (!rt_layout_fine(layout))
		return;
	if (!is_alike(&d->from, &d->a.items[at_a]) || !is_alike(&d->to, &d->b.items[at_b])) {
		add_line(d, is_new ? "+ " : "- ", line, kind);
		return;
	}
	rt_layout_push(layout, 2, rt_str_of(is_new ? "+ " : "- "), ink);
	rt_flow_begin(layout);
	for (i = 0; i < shown->count; i++)
		rt_flow_add(layout, rt_str_at(shown->items[i].ptr, shown->items[i].size),
			    shown->changed[i] ? (rt_ink)(ink | RT_INK_UNDERLINE | RT_INK_BOLD) : ink,
			    '\n');
	rt_flow_words(layout);
	rt_layout_pop(layout);
}

/* Lines i..i_end of a became j..j_end of b. */
static void
add_changed(difference *d, size_t i, size_t i_end, size_t j, size_t j_end)
{
	size_t pairs = i_end - i < j_end - j ? i_end - i : j_end - j, k;

	for (k = 0; k < i_end - i && rt_layout_fine(d->layout); k++) {
		if (k < pairs)
			add_words(d, i + k, j + k, false);
		else
			add_line(d, "- ", &d->a.items[i + k], RT_INK_REMOVED);
	}
	for (k = 0; k < j_end - j && rt_layout_fine(d->layout); k++) {
		if (k < pairs)
			add_words(d, i + k, j + k, true);
		else
			add_line(d, "+ ", &d->b.items[j + k], RT_INK_ADDED);
	}
}

static void
add_all(difference *d)
{
	size_t i = 0, j = 0, i_from, j_from;

	while ((i < d->a.count || j < d->b.count) && rt_layout_fine(d->layout)) {
		i_from = i;
		j_from = j;
		while (i < d->a.count && !d->a.changed[i] && j < d->b.count && !d->b.changed[j])
			i++, j++;
		if (i > i_from)
			add_same(d, i_from, i, i_from == 0 && j_from == 0,
				 i == d->a.count && j == d->b.count);
		i_from = i;
		j_from = j;
		while (i < d->a.count && d->a.changed[i])
			i++;
		while (j < d->b.count && d->b.changed[j])
			j++;
		add_changed(d, i_from, i, j_from, j);
	}
}

static void
release(rt_lines *lines, side *s)
{
	rt_free(lines->alloc, s->items);
	rt_free(lines->alloc, s->changed);
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
	/* A line end at the end of both is no line. */
	if (a.size > 0 && b.size > 0 && a.ptr[a.size - 1] == '\n' && b.ptr[b.size - 1] == '\n') {
		a.size--;
		b.size--;
	}
	split_lines(lines, &d.a, a);
	split_lines(lines, &d.b, b);
	mark_changes(&d, &d.a, &d.b, EDITS_MAX);
	add_all(&d);
	release(lines, &d.a);
	release(lines, &d.b);
	release(lines, &d.from);
	release(lines, &d.to);
	rt_free(lines->alloc, d.trace);
	rt_layout_deinit(&layout);
}
