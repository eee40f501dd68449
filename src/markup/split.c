/* SPDX-License-Identifier: MIT
 *
 * A piece is begun by its first line that is not blank. Its state is then one of
 *
 *     no list    paragraphs, quotes, tables, indented code: a blank line ends the first two,
 *                and indented code continues only with four columns
 *     a list     its last item's text begins at a known column (inset): less indented lines are not
 *                part of it, except those that continue a paragraph without indentation
 *     unsure     one or the other; the inset is at least 2
 *
 * Certain in all three: a fence, a heading or a rule with less indentation than the
 * inset is of the top level. */
#include "markup/markup_impl.h"

enum {
	CODE_INDENT = 4,
	INSET_MIN = 2,  /* a mark of one character and a blank */
	TAB = 4,
	DIGITS_MAX = 9
};

typedef struct line {
	size_t from, first; /* its bytes; the first that is not blank */
	size_t to, next;    /* before, and after, its line end */
	size_t indent;      /* columns */
	bool is_blank;
	bool is_complete;   /* nothing can be appended to it */
} line;

static line
line_at(rt_str text, size_t from)
{
	line l = {.from = from, .first = from};
	size_t at;

	while (l.first < text.size && (text.ptr[l.first] == ' ' || text.ptr[l.first] == '\t')) {
		l.indent += text.ptr[l.first] == '\t' ? TAB - l.indent % TAB : 1;
		l.first++;
	}
	for (at = l.first; at < text.size && text.ptr[at] != '\n' && text.ptr[at] != '\r';)
		at++;
	l.to = at;
	l.is_blank = l.first == l.to;
	l.next = at;
	if (at < text.size)
		l.next += text.ptr[at] == '\r' && at + 1 < text.size && text.ptr[at + 1] == '\n' ? 2 : 1;
	/* A line end of \r may become one of \r\n. */
	l.is_complete = at < text.size && (text.ptr[at] == '\n' || at + 1 < text.size);
	return l;
}

static size_t
run_of(rt_str text, const line *l, size_t from, char c)
{
	size_t at = from;

	while (at < l->to && text.ptr[at] == c)
		at++;
	return at - from;
}

static bool
only_blanks(rt_str text, size_t from, size_t to)
{
	while (from < to && (text.ptr[from] == ' ' || text.ptr[from] == '\t'))
		from++;
	return from == to;
}

/* The length of the fence that opens here; 0: none. */
static size_t
fence_of(rt_str text, const line *l)
{
	char c = l->is_blank ? 0 : text.ptr[l->first];
	size_t size;

	if (l->indent >= CODE_INDENT || (c != '`' && c != '~'))
		return 0;
	size = run_of(text, l, l->first, c);
	if (size < 3)
		return 0;
	if (c == '`' && memchr(text.ptr + l->first + size, '`', l->to - l->first - size) != NULL)
		return 0;
	return size;
}

static bool
closes_fence(rt_str text, const line *l, char c, size_t size)
{
	size_t at, found;

	if (l->is_blank || l->indent >= CODE_INDENT)
		return false;
	found = run_of(text, l, l->first, c);
	/* md4c accepts no tab after it; then the piece just grows. */
	for (at = l->first + found; at < l->to && text.ptr[at] == ' ';)
		at++;
	return found >= size && at == l->to;
}

static bool
is_heading(rt_str text, const line *l)
{
	size_t size;

	if (l->is_blank || l->indent >= CODE_INDENT)
		return false;
	size = run_of(text, l, l->first, '#');
	return size >= 1 && size <= 6 &&
	       (l->first + size == l->to || text.ptr[l->first + size] == ' ' ||
		text.ptr[l->first + size] == '\t');
}

static bool
is_rule(rt_str text, const line *l)
{
	char c = l->is_blank ? 0 : text.ptr[l->first];
	size_t at, count = 0;

	if (l->indent >= CODE_INDENT || (c != '*' && c != '-' && c != '_'))
		return false;
	for (at = l->first; at < l->to; at++) {
		if (text.ptr[at] == c)
			count++;
		else if (text.ptr[at] != ' ' && text.ptr[at] != '\t')
			return false;
	}
	return count >= 3;
}

/* Could an item of a list begin here? *out_inset: the column of its text; 0: uncertain. */
static bool
is_item(rt_str text, const line *l, size_t *out_inset)
{
	size_t at = l->first, blanks;

	*out_inset = 0;
	if (l->is_blank || l->indent >= CODE_INDENT)
		return false;
	while (at < l->to && at - l->first < DIGITS_MAX && text.ptr[at] >= '0' && text.ptr[at] <= '9')
		at++;
	if (at == l->to || strchr(at > l->first ? ".)" : "-+*", text.ptr[at]) == NULL ||
	    text.ptr[at] == 0)
		return false;
	at++;
	if (at < l->to && text.ptr[at] != ' ' && text.ptr[at] != '\t')
		return false;
	blanks = run_of(text, l, at, ' ');
	if (only_blanks(text, at, l->to) || blanks == 0 || text.ptr[at + blanks] == '\t')
		return true;
	*out_inset = l->indent + (at - l->first) + (blanks <= CODE_INDENT ? blanks : 1);
	return true;
}

typedef struct open_piece {
	bool in_list;
	bool is_unsure;
	bool after_blank; /* the line before is blank */
	bool is_lost;     /* nothing is certain any more: it extends to the end */
	size_t inset;
} open_piece;

static void
open_item(open_piece *piece, size_t inset)
{
	piece->in_list = true;
	piece->is_unsure = inset == 0;
	piece->inset = inset;
}

/* Is there a cut before this line, which is not blank? */
static bool
cuts_before(rt_str text, const line *l, open_piece *piece)
{
	size_t inset;
	bool item = is_item(text, l, &inset);
	size_t limit = !piece->in_list ? CODE_INDENT : piece->is_unsure ? INSET_MIN : piece->inset;
	bool is_rule_here = (piece->in_list && !piece->is_unsure) || piece->after_blank;

	if (l->indent < limit && l->indent < CODE_INDENT) {
		if (fence_of(text, l) > 0 || is_heading(text, l) ||
		    (is_rule_here && is_rule(text, l)))
			return true;
		if (piece->after_blank && (!item || !piece->in_list))
			return true;
		if (item && piece->in_list && (!piece->is_unsure || piece->after_blank))
			open_item(piece, inset);
		else if (item || piece->in_list)
			piece->in_list = piece->is_unsure = true;
	} else if (piece->in_list && piece->is_unsure) {
		piece->is_lost = fence_of(text, l) > 0;
	} else if (piece->in_list && l->indent < limit) {
		piece->is_unsure = true;
	}
	return false;
}

/* The piece is the fenced block that line l opens. */
static void
read_fence(rt_str text, const line *l, rt_split_piece *out)
{
	size_t size = fence_of(text, l);
	char c = text.ptr[l->first];
	line inner = *l;

	out->is_code = true;
	while (inner.next < text.size) {
		inner = line_at(text, inner.next);
		if (closes_fence(text, &inner, c, size)) {
			out->is_closed = inner.is_complete;
			break;
		}
	}
	out->to = inner.next;
}

bool
rt_split_next(rt_split *split, rt_split_piece *out)
{
	rt_str text = split->text;
	open_piece piece = {.in_list = false};
	size_t at = split->at, inset;
	bool is_begun = false;
	line l;

	if (at >= text.size)
		return false;
	*out = (rt_split_piece){.from = at, .to = text.size};
	for (; at < text.size; at = l.next) {
		l = line_at(text, at);
		if (l.is_blank) {
			piece.after_blank = true;
			continue;
		}
		if (!is_begun && fence_of(text, &l) > 0) {
			read_fence(text, &l, out);
			break;
		}
		if (!is_begun && (is_heading(text, &l) || is_rule(text, &l))) {
			out->to = l.next;
			out->is_closed = l.is_complete;
			break;
		}
		if (!is_begun && is_item(text, &l, &inset))
			open_item(&piece, inset);
		else if (is_begun && !piece.is_lost && cuts_before(text, &l, &piece)) {
			out->to = at;
			out->is_closed = l.is_complete;
			break;
		}
		is_begun = true;
		piece.after_blank = false;
	}
	split->at = out->to;
	return true;
}
