/* SPDX-License-Identifier: MIT
 *
 * Math and footnotes, which md4c 0.4.8 does not read: they are found before md4c runs, and their
 * characters are masked in the copy that md4c gets, byte for byte:
 *
 *     the source    if $a_1*b_1*c$ then     [^1]: Really.
 *     for md4c      if xxxxxxxxxxx then     + xxx Really.
 *
 * So md4c finds neither emphasis nor lists in them, and a footnote is a list item with everything
 * that belongs to it. Texts that md4c reports are taken from the source. In code nothing is found,
 * and where code is not recognised here, its text is still the source's.
 *
 * A search that found no end is not repeated before the point where it ended, and the brackets of a
 * URL are nested up to a limit, so that at most that many searches pass over a byte: O(size). */
#include "markup/markup_impl.h"

enum {
	INLINE_MAX = 1024, /* bytes of math in a sentence */
	DISPLAY_MAX = 16384,
	LINK_MAX = 4096, /* of a url that is skipped */
	NESTED_MAX = 32, /* brackets in it, as in CommonMark's reference parser */
	NOTES_MAX = 256, /* footnotes whose references are recognised */
	RUN_MAX = 8      /* backticks of code in a sentence */
};

typedef enum ending { DOLLAR, DOLLARS, ROUND, SQUARE, ENDINGS } ending;

typedef struct masking {
	rt_masks *masks;
	rt_str text;
	char *copy;
	size_t end;                      /* of the piece */
	size_t hidden, hidden_line;      /* where hide last began, and where its line did */
	size_t dead[ENDINGS];            /* up to here such math has no end */
	size_t dead_runs[RUN_MAX + 1];   /* likewise, code */
	rt_str notes[NOTES_MAX];         /* labels */
	size_t note_count, list_count;
} masking;

static void
add(masking *m, rt_mask mask)
{
	rt_masks *masks = m->masks;
	rt_mask *added = rt_array_add(masks->alloc, &masks->items, &masks->count, &masks->room,
				      sizeof(*added));

	if (added != NULL)
		*added = mask;
	else
		masks->status = RT_NOMEM;
}

static bool
is_alnum(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Is the line that begins here empty, also in a quote? */
static bool
is_empty_line(const masking *m, size_t at)
{
	while (at < m->end && (m->text.ptr[at] == ' ' || m->text.ptr[at] == '\t' || m->text.ptr[at] == '>'))
		at++;
	return at == m->end || m->text.ptr[at] == '\n' || m->text.ptr[at] == '\r';
}

static size_t
run_of(const masking *m, size_t at, char c)
{
	size_t size = 0;

	while (at + size < m->end && m->text.ptr[at + size] == c)
		size++;
	return size;
}

/* ---- math ---- */

/* Does the math that began with this end at `at`, and after how many bytes? 0: it does not. For a
 * single dollar the rules are those of pandoc: no blank before, no digit after; and the next one
 * decides. */
static size_t
ends(const masking *m, ending with, size_t from, size_t at)
{
	const char *p = m->text.ptr + at;
	char next = at + 1 < m->end ? p[1] : 0;

	switch (with) {
	case DOLLAR:
		return *p == '$' && at > from && !is_blank(p[-1]) && next != '$' &&
				       !(next >= '0' && next <= '9')
			       ? 1
			       : 0;
	case DOLLARS: return *p == '$' && next == '$' && at > from ? 2 : 0;
	case ROUND: return *p == '\\' && next == ')' && at > from ? 2 : 0;
	default: return *p == '\\' && next == ']' && at > from ? 2 : 0;
	}
}

/* Brackets are escaped in texts, too: \[1\]. Math contains characters that those do not. */
static bool
looks_like_math(rt_str inner)
{
	bool is_apart = is_blank(inner.ptr[0]);

	for (size_t i = 0; i < inner.size && !is_apart; i++)
		is_apart = strchr("\\^_={}<>+", inner.ptr[i]) != NULL;
	return is_apart;
}

/* Blanks at the beginnings of lines stay, and the marks of a quote if it begins in one. */
static void
hide(masking *m, size_t from, size_t to)
{
	size_t line = from;
	bool is_quote, is_start = false;

	/* Not further back than the last time: a line may contain any number of formulas. */
	while (line > m->hidden && m->text.ptr[line - 1] != '\n')
		line--;
	if (line == m->hidden)
		line = m->hidden_line;
	m->hidden = from;
	m->hidden_line = line;
	while (line < from && (m->text.ptr[line] == ' ' || m->text.ptr[line] == '\t'))
		line++;
	is_quote = m->text.ptr[line] == '>';
	for (size_t i = from; i < to; i++) {
		char c = m->text.ptr[i];

		if (c == '\n' || c == '\r') {
			is_start = true;
		} else if (!is_start || !(c == ' ' || c == '\t' || (c == '>' && is_quote))) {
			is_start = false;
			m->copy[i] = 'x';
		}
	}
}

/* The end of the math that size bytes at `at` open; at: none. */
static size_t
find_math(masking *m, size_t at, size_t size, ending with)
{
	size_t from = at + size, i, max = with == DOLLAR || with == ROUND ? INLINE_MAX : DISPLAY_MAX, closing;

	if (from < m->dead[with] || from >= m->end)
		return at;
	for (i = from; i < m->end && i - from < max; i++) {
		char c = m->text.ptr[i];

		if ((closing = ends(m, with, from, i)) > 0) {
			if (with == SQUARE && !looks_like_math(rt_str_at(m->text.ptr + from, i - from)))
				return at;
			hide(m, at, i + closing);
			add(m, (rt_mask){at, i + closing, at,
					 with == DOLLARS || with == SQUARE ? RT_MASK_DISPLAY : RT_MASK_MATH});
			return i + closing;
		}
		if (c == '$' && with == DOLLAR)
			return at;
		if (c == '`' || (c < 0x20 && c >= 0 && !is_blank(c)) || c == 0x7f ||
		    (c == '\n' && is_empty_line(m, i + 1)))
			break;
		if (c == '\\' && i + 1 < m->end && m->text.ptr[i + 1] != '\n')
			i++;
	}
	m->dead[with] = i;
	return at;
}

/* ---- skipped parts ---- */

/* After code in a sentence, or after its backticks. */
static size_t
skip_code(masking *m, size_t at)
{
	size_t size = run_of(m, at, '`'), i = at + size;

	if (size > RUN_MAX || i < m->dead_runs[size])
		return i;
	while (i < m->end && !(m->text.ptr[i] == '\n' && is_empty_line(m, i + 1))) {
		size_t found = run_of(m, i, '`');

		if (found == size)
			return i + found;
		i += found > 0 ? found : 1;
	}
	m->dead_runs[size] = i;
	return at + size;
}

/* The position after a URL in brackets that begins here, or after the bracket if there is none. */
static size_t
skip_url(const masking *m, size_t at, char open, char close)
{
	size_t depth = 0, i;

	for (i = at; i < m->end && i - at < LINK_MAX && m->text.ptr[i] != '\n'; i++) {
		if (m->text.ptr[i] == '\\')
			i++;
		else if (m->text.ptr[i] == open && ++depth > NESTED_MAX)
			break;
		else if (m->text.ptr[i] == close && --depth == 0)
			return i + 1;
	}
	return at + 1;
}

/* ---- footnotes ---- */

/* The size of "[^label]"; 0: none. */
static size_t
label_size(const masking *m, size_t at)
{
	size_t i = at + 2;

	if (at + 3 >= m->end || m->text.ptr[at] != '[' || m->text.ptr[at + 1] != '^')
		return 0;
	while (i < m->end && (is_alnum(m->text.ptr[i]) || m->text.ptr[i] == '-' || m->text.ptr[i] == '_'))
		i++;
	return i > at + 2 && i - at - 2 <= RT_MARKUP_LABEL_MAX && i < m->end && m->text.ptr[i] == ']'
		       ? i + 1 - at
		       : 0;
}

/* "[^label]:" at the beginning of a line: its bytes with the colon; 0: not one. */
static size_t
note_size(const masking *m, size_t at)
{
	size_t size = label_size(m, at);

	return size > 0 && at + size < m->end && m->text.ptr[at + size] == ':' ? size + 1 : 0;
}

static size_t
after_indent(const masking *m, size_t at)
{
	size_t from = at;

	while (at < m->end && at - from < 3 && m->text.ptr[at] == ' ')
		at++;
	return at;
}

static rt_str
label_of(const masking *m, size_t at, size_t size)
{
	return rt_str_at(m->text.ptr + at + 2, size - 3);
}

static bool
is_note(const masking *m, rt_str label)
{
	for (size_t i = 0; i < m->note_count; i++)
		if (rt_str_eq(m->notes[i], label))
			return true;
	return false;
}

/* The footnotes of a piece, before the search for their references. */
static void
find_notes(masking *m, size_t from)
{
	for (size_t at = from; at < m->end;) {
		size_t first = after_indent(m, at), size = note_size(m, first);
		const char *next;

		if (size > 0 && m->note_count < NOTES_MAX && !is_note(m, label_of(m, first, size - 1)))
			m->notes[m->note_count++] = label_of(m, first, size - 1);
		next = memchr(m->text.ptr + at, '\n', m->end - at);
		at = next == NULL ? m->end : (size_t)(next - m->text.ptr) + 1;
	}
}

/* An item of a separate list: those of neighbours are of other kinds. */
static size_t
mask_note(masking *m, size_t at, size_t size)
{
	bool is_bullet = m->list_count++ % 2 == 0;
	size_t mark = is_bullet ? 2 : 3;

	memset(m->copy + at, 'x', size);
	memcpy(m->copy + at, is_bullet ? "+ " : "1) ", mark);
	add(m, (rt_mask){at + mark, at + size, at, RT_MASK_NOTE});
	return at + size;
}

/* Handles what a bracket may begin. */
static size_t
find_ref(masking *m, size_t at)
{
	size_t size = label_size(m, at);

	if (size == 0 || !is_note(m, label_of(m, at, size)))
		return at + 1;
	memset(m->copy + at, 'x', size);
	add(m, (rt_mask){at, at + size, at, RT_MASK_REF});
	return at + size;
}

/* ---- pieces ---- */

static size_t
after_line(const masking *m, size_t at)
{
	const char *next = memchr(m->text.ptr + at, '\n', m->end - at);

	return next == NULL ? m->end : (size_t)(next - m->text.ptr) + 1;
}

/* After the markers at the beginning of a line; at: none of interest. */
static size_t
find_at_line(masking *m, size_t at)
{
	size_t first = after_indent(m, at), size = note_size(m, first), i = first;

	if (size > 0)
		return mask_note(m, first, size);
	if (first < m->end && m->text.ptr[first] == '[') { /* a definition of a link */
		while (i < m->end && m->text.ptr[i] != ']' && m->text.ptr[i] != '\n')
			i++;
		if (i + 1 < m->end && m->text.ptr[i] == ']' && m->text.ptr[i + 1] == ':')
			return after_line(m, i);
	}
	return at;
}

static void
find_in_piece(masking *m, size_t from)
{
	bool is_start = true;

	for (size_t at = from, to; at < m->end; at = to) {
		char c = m->text.ptr[at], next = at + 1 < m->end ? m->text.ptr[at + 1] : 0;

		to = is_start ? find_at_line(m, at) : at;
		is_start = to > at ? m->text.ptr[to - 1] == '\n' : c == '\n';
		if (to > at)
			continue;
		if (c == '\\' && (next == '(' || next == '['))
			to = find_math(m, at, 2, next == '(' ? ROUND : SQUARE);
		else if (c == '$' && next == '$' && run_of(m, at, '$') == 2)
			to = find_math(m, at, 2, DOLLARS);
		else if (c == '$' && next != '$' && next != 0 && !is_blank(next) &&
			 (at == 0 || !is_alnum(m->text.ptr[at - 1])))
			to = find_math(m, at, 1, DOLLAR);
		else if (c == '`')
			to = skip_code(m, at);
		else if (c == ']' && next == '(')
			to = skip_url(m, at + 1, '(', ')');
		else if (c == '<' && is_alnum(next))
			to = skip_url(m, at, '<', '>');
		else if (c == '[' && next == '^' && m->note_count > 0)
			to = find_ref(m, at);
		if (to == at)
			to = c == '\\' && next != '\n' && at + 1 < m->end ? at + 2
			     : c == '$'                                   ? at + run_of(m, at, '$')
									  : at + 1;
	}
}

void
rt_masks_find(rt_masks *masks, rt_str text, char *copy)
{
	masking m = {.masks = masks, .text = text, .copy = copy};
	rt_split_piece piece;

	masks->count = 0;
	if (text.size == 0 ||
	    (memchr(text.ptr, '$', text.size) == NULL && rt_str_find(text, RT_STR("\\("), 0) == SIZE_MAX &&
	     rt_str_find(text, RT_STR("\\["), 0) == SIZE_MAX && rt_str_find(text, RT_STR("[^"), 0) == SIZE_MAX))
		return;
	for (int pass = 0; pass < 2; pass++) {
		rt_split split = {text, 0};

		while (rt_split_next(&split, &piece)) {
			m.end = piece.to;
			if (piece.is_code)
				continue;
			if (pass == 0)
				find_notes(&m, piece.from);
			else
				find_in_piece(&m, piece.from);
		}
	}
}

const rt_mask *
rt_masks_at(const rt_masks *masks, size_t at)
{
	size_t low = 0, high = masks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (masks->items[middle].to <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < masks->count ? &masks->items[low] : NULL;
}
