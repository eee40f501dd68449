/* SPDX-License-Identifier: MIT */
#include "base/edits.h"

#include <string.h>

enum { LINES_MAX = 2000, WORDS_MAX = 500 };

/* ---- items ---- */

static void
add_item(rt_scope *s, rt_edit_side *side, rt_str text)
{
	rt_edit *items = rt_scope_grow(s, side->items, side->count, &side->capacity,
				       sizeof(*items));
	uint32_t hash = 2166136261u;

	if (items == NULL)
		return;
	for (size_t i = 0; i < text.size; i++)
		hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619u;
	side->items = items;
	side->items[side->count++] = (rt_edit){.text = text, .hash = hash};
}

static void
split_lines(rt_scope *s, rt_edit_side *side, rt_str text)
{
	const char *end = text.ptr;

	side->count = 0;
	for (size_t at = 0; text.size > 0 && end != NULL && rt_ok(s);) {
		size_t size;

		end = at < text.size ? memchr(text.ptr + at, '\n', text.size - at) : NULL;
		size = (end == NULL ? text.size : (size_t)(end - text.ptr)) - at;
		add_item(s, side, rt_str_at(text.ptr + at, size));
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
split_words(rt_scope *s, rt_edit_side *side, rt_str line)
{
	size_t at = 0;

	side->count = 0;
	while (at < line.size && rt_ok(s)) {
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
		add_item(s, side, rt_str_at(line.ptr + at, end - at));
		at = end;
	}
}

static bool
is_same(const rt_edit *a, const rt_edit *b)
{
	return a->hash == b->hash && rt_str_eq(a->text, b->text);
}

/* ---- changes ---- */

static bool
reserve_trace(rt_edits *e, size_t count)
{
	size_t capacity = e->trace_capacity < 256 ? 256 : e->trace_capacity * 2;
	int32_t *trace;

	if (count <= e->trace_capacity)
		return true;
	capacity = capacity < count ? count : capacity;
	trace = rt_scope_array(e->s, capacity, sizeof(*trace));
	if (trace == NULL)
		return false;
	if (e->trace != NULL)
		memcpy(trace, e->trace, e->trace_capacity * sizeof(*trace));
	e->trace = trace;
	e->trace_capacity = capacity;
	return true;
}

/* The diagonals after that many edits: -edits, -edits + 2, … edits. */
static int32_t *
trace_at(const rt_edits *e, int edits)
{
	return e->trace + (size_t)edits * ((size_t)edits + 1) / 2;
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
count_edits(rt_edits *e, const rt_edit *a, int n, const rt_edit *b, int m, int max)
{
	for (int edits = 0; edits <= max; edits++) {
		int32_t *now, *before;

		if (!reserve_trace(e, (size_t)(edits + 1) * ((size_t)edits + 2) / 2))
			return -1;
		now = trace_at(e, edits);
		before = edits > 0 ? trace_at(e, edits - 1) : NULL;
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
mark_changes(rt_edits *e, int max)
{
	rt_edit *a = e->a.items, *b = e->b.items;
	size_t n = e->a.count, m = e->b.count;
	int edits = -1, x, y;

	if (!rt_ok(e->s))
		return;
	for (; n > 0 && m > 0 && is_same(a, b); n--, m--)
		a++, b++;
	for (; n > 0 && m > 0 && is_same(&a[n - 1], &b[m - 1]); n--)
		m--;
	/* If nothing is left of one, the rest of the other is new. */
	if (n > 0 && m > 0 && n < INT32_MAX / 4 && m < INT32_MAX / 4)
		edits = count_edits(e, a, (int)n, b, (int)m, max);
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
		const int32_t *before = trace_at(e, edits - 1);
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

/* ---- texts ---- */

void
rt_edits_lines(rt_edits *edits, rt_str a, rt_str b)
{
	split_lines(edits->s, &edits->a, a);
	split_lines(edits->s, &edits->b, b);
	mark_changes(edits, LINES_MAX);
}

void
rt_edits_words(rt_edits *edits, rt_str a, rt_str b)
{
	split_words(edits->s, &edits->a, a);
	split_words(edits->s, &edits->b, b);
	mark_changes(edits, WORDS_MAX);
}

/* Is at least this share of the text unchanged, apart from blanks? */
static bool
is_unchanged(const rt_edit_side *side, size_t part, size_t of)
{
	size_t unchanged = 0, all = 0;

	for (size_t i = 0; i < side->count; i++) {
		if (class_of(side->items[i].text.ptr[0]) == BLANK)
			continue;
		all += side->items[i].text.size;
		unchanged += side->items[i].is_changed ? 0 : side->items[i].text.size;
	}
	return side->count > 0 && unchanged * of >= all * part;
}

bool
rt_edits_are_similar(const rt_edits *edits)
{
	return (is_unchanged(&edits->a, 1, 3) && is_unchanged(&edits->b, 1, 3)) ||
	       is_unchanged(&edits->a, 1, 1) || is_unchanged(&edits->b, 1, 1);
}
