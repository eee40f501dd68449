/* SPDX-License-Identifier: MIT
 *
 * Drawing: rows as lines of shown text.
 *
 *   ›   │     ├⊟ • [start] user: Use SQLite, not Postgres   ← active
 *   ^^  ^^^^^^^^ ^ ^^^^^^^ ^^^^^^ ^^^^^^^^^^^^^^^^^^^^^^^^ ^^^^^^^^^^
 *   cursor lines path label who    words                    note
 *
 * The cursor's two columns are fixed; the rest, the body, is a window on a line that may be wider,
 * and scrolls right where forks are deep. A level of forks takes three columns. Only the columns in
 * the window are written. */
#include "tree/tree_impl.h"

#include <stdio.h>

#include "terminal/text.h"

enum {
	LEVEL = 3,       /* columns */
	CURSOR = 2,      /* columns */
	WORDS_MAX = 2000 /* bytes, more than any screen shows */
};

/* The signs that rows are made of, in UTF-8 and in ASCII. */
typedef struct signs {
	const char *cursor, *mark, *path, *gutter, *fork, *last, *line, *open, *closed, *head,
		*head_short, *muted, *edited, *more;
} signs;

static const signs of_utf8 = {
	.cursor = "›",
	.mark = "✓",
	.path = "• ",
	.gutter = "│",
	.fork = "├",
	.last = "└",
	.line = "─",
	.open = "⊟",
	.closed = "⊞",
	.head = "← active",
	.head_short = "←",
	.muted = "(muted)",
	.edited = "(edited)",
	.more = "…",
};
static const signs of_ascii = {
	.cursor = ">",
	.mark = "*",
	.path = "* ",
	.gutter = "|",
	.fork = "|",
	.last = "`",
	.line = "-",
	.open = "-",
	.closed = "+",
	.head = "<- active",
	.head_short = "<-",
	.muted = "(muted)",
	.edited = "(edited)",
	.more = ".",
};

static const signs *
signs_of(const rt_tree *t)
{
	return t->options.ascii ? &of_ascii : &of_utf8;
}

/* ---- writing a line ---- */

/* A line, and the columns from .. to of its body that are written. */
typedef struct pen {
	rt_tree_line *line;
	rt_buf *text; /* of the line, so far */
	size_t at;    /* column of the body */
	size_t from, to;
	bool full; /* a part did not fit: nothing follows it */
} pen;

static void
add_span(pen *p, rt_tree_style style, size_t at)
{
	rt_tree_line *line = p->line;
	rt_tree_span *last = line->span_count > 0 ? &line->spans[line->span_count - 1] : NULL;

	if (p->text->size == at)
		return;
	if (last != NULL && last->style == style) {
		last->size += p->text->size - at;
		return;
	}
	RT_ASSERT(line->span_count < RT_TREE_SPANS_MAX);
	line->spans[line->span_count++] = (rt_tree_span){at, p->text->size - at, style};
}

static void
add_blanks(rt_buf *buf, size_t count)
{
	while (count-- > 0)
		rt_buf_add_byte(buf, ' ');
}

/* Shown text, as far as it is in the window. */
static void
write(pen *p, rt_tree_style style, rt_str shown)
{
	size_t at = p->text->size, blank, columns;
	rt_str left = shown, part;

	if (p->full)
		return;
	if (p->at < p->from) {
		left = rt_shown_skip(shown, p->from - p->at, &blank);
		p->at += rt_shown_columns(rt_str_at(shown.ptr, shown.size - left.size));
		if (p->at < p->from)
			return;
		add_blanks(p->text, blank < p->to - p->from ? blank : p->to - p->from);
	}
	part = rt_shown_cut(left, p->at < p->to ? p->to - p->at : 0, &columns);
	rt_buf_add_str(p->text, part);
	p->at += columns;
	p->full = part.size < left.size;
	add_span(p, style, at);
}

static void
write_c(pen *p, rt_tree_style style, const char *shown)
{
	write(p, style, rt_str_of(shown));
}

/* ---- lines of descent ---- */

/* Several roots have no line, so that they start at the left, too. */
static size_t
levels_of(const rt_tree *t, const tree_row *r)
{
	return t->root_count > 1 && r->indent > 0 ? r->indent - 1 : r->indent;
}

static bool
has_line(const tree_row *r)
{
	return (r->flags & (ROW_CONNECTED | ROW_ROOT)) == ROW_CONNECTED;
}

/* The level of the line that leads to a row. */
static size_t
line_level(const rt_tree *t, const tree_row *r)
{
	size_t levels = levels_of(t, r);

	return levels > 0 ? levels - 1 : 0;
}

/* Three columns: a line that leads past this row, or to it. */
static void
write_level(pen *p, const char *first, const char *second)
{
	write_c(p, RT_TREE_LINES, first);
	write_c(p, RT_TREE_LINES, second);
	write_c(p, RT_TREE_LINES, " ");
}

/* The levels that have a line past a row; passing[0] is that of level first. */
static void
find_passing(const rt_tree *t, const tree_row *r, size_t first, size_t end, bool *passing)
{
	for (uint32_t g = r->gutter; g != RT_TREE_NONE; g = t->rows[g].gutter) {
		size_t level = line_level(t, &t->rows[g]);

		if (level < first)
			break;
		if (level < end)
			passing[level - first] = (t->rows[g].flags & ROW_LAST) == 0;
	}
}

static void
write_prefix(const rt_tree *t, rt_scope *scope, uint32_t row, pen *p)
{
	const tree_row *r = &t->rows[row];
	const signs *s = signs_of(t);
	size_t levels = levels_of(t, r), first = p->from / LEVEL, end = p->to / LEVEL + 1;
	bool is_folded = (t->nodes[r->node].flags & RT_TREE_FOLDED) != 0;
	bool *passing;

	if (end > levels)
		end = levels;
	passing = first < end ? rt_scope_array(scope, end - first, sizeof(*passing)) : NULL;
	if (passing != NULL) {
		find_passing(t, r, first, end, passing);
		p->at = first * LEVEL;
		for (size_t i = first; i < end; i++)
			if (has_line(r) && i == levels - 1)
				write_level(p, (r->flags & ROW_LAST) != 0 ? s->last : s->fork,
					    is_folded                     ? s->closed
					    : rt_tree_is_foldable(t, row) ? s->open
									  : s->line);
			else
				write_level(p, passing[i - first] ? s->gutter : " ", " ");
	}
	p->at = levels * LEVEL;
}

/* ---- rows ---- */

/* The parts of a row's text, one after the other. */
typedef struct words {
	size_t at;
	size_t label, who, words; /* sizes */
} words;

/* A frame in progress. */
typedef struct frame {
	rt_tree *tree;
	rt_scope *s;
	rt_buf *text;                    /* of all words */
	words *words;                    /* of its rows */
	uint32_t nodes[RT_TREE_ASK_MAX]; /* that the source is being called for */
	size_t base;                     /* row of the first of these */
} frame;

/* Columns of a truncated name, of a truncated label; names often differ only at their ends. */
enum { NAME_BEGIN = 9, LABEL_BEGIN = 15, NAME_END = 8 };

/* Append a name that is displayed like this, without its middle if it is longer. */
static void
add_cut(rt_buf *buf, const rt_tree *t, rt_str shown, size_t begin)
{
	size_t columns = rt_shown_columns(shown), blank;

	if (columns <= begin + 1 + NAME_END) {
		rt_buf_add_str(buf, shown);
		return;
	}
	rt_buf_add_str(buf, rt_shown_cut(shown, begin, NULL));
	rt_buf_add_c(buf, signs_of(t)->more);
	rt_buf_add_str(buf, rt_shown_skip(shown, columns - NAME_END, &blank));
}

/* "[start] " */
static void
add_label(rt_buf *buf, const rt_tree *t, uint32_t node)
{
	rt_str label = rt_tree_label(t, node);
	rt_buf shown;
	size_t at;

	if (label.size == 0)
		return;
	rt_buf_init(&shown, buf->alloc, RT_BUF_UNLIMITED);
	rt_shown_add(&shown, label, t->options.ascii);
	rt_buf_add_byte(buf, '[');
	if (t->options.as_pi)
		rt_buf_add_str(buf, rt_buf_str(&shown));
	else
		add_cut(buf, t, rt_buf_str(&shown), LABEL_BEGIN);
	if (shown.status != RT_OK)
		buf->status = shown.status;
	rt_buf_deinit(&shown);
	rt_buf_add_c(buf, "] ");
	at = buf->size;
	if (t->time != NULL)
		t->time(t->time_ctx, t->nodes[node].entry, buf);
	if (buf->size > at)
		rt_buf_add_byte(buf, ' ');
}

void
rt_tree_show_times(rt_tree *t, rt_tree_time_fn fn, void *ctx)
{
	t->time = fn;
	t->time_ctx = ctx;
}

static void
keep_words(void *to, size_t index, const rt_tree_told *told)
{
	frame *f = to;
	const rt_tree *t = f->tree;
	words *w = &f->words[f->base + index];
	size_t size = told->words.size > WORDS_MAX ? rt_utf8_cut(told->words, WORDS_MAX)
						   : told->words.size;
	size_t who = told->who < size ? told->who : size;

	w->at = f->text->size;
	add_label(f->text, t, f->nodes[index]);
	w->label = f->text->size - w->at;
	rt_shown_add(f->text, rt_str_at(told->words.ptr, who), t->options.ascii);
	w->who = f->text->size - w->at - w->label;
	if (size > who)
		rt_shown_add(f->text, rt_str_at(told->words.ptr + who, size - who),
			     t->options.ascii);
	w->words = f->text->size - w->at - w->label - w->who;
}

/* This many bytes of a row's text, from this one on. */
static rt_str
part_of(const frame *f, const words *w, size_t from, size_t size)
{
	return size > 0 ? rt_str_at(f->text->ptr + w->at + from, size) : rt_str_at("", 0);
}

static bool
shows_fold(const rt_tree *t, const tree_row *r)
{
	return (t->nodes[r->node].flags & RT_TREE_FOLDED) != 0 && !has_line(r);
}

/* Columns before the label and the words. */
static size_t
anchor_of(const rt_tree *t, const tree_row *r)
{
	return levels_of(t, r) * LEVEL + (shows_fold(t, r) ? 2 : 0) +
	       ((t->nodes[r->node].flags & RT_TREE_ACTIVE) != 0 ? 2 : 0);
}

/* Notes follow the words, however long these are. If that would leave few words, notes are left
 * out: the take's name (after its middle), then edits. The mark of the head always stays, as one
 * sign if need be. */
enum { NOTES_ALL, NOTES_SHORT, NOTES_CUT_TAKE, NOTES_NO_TAKE, NOTES_NO_MARKS, NOTES_HEAD };

static void
add_take(rt_buf *buf, const rt_tree *t, rt_scope *s, uint32_t take, bool is_cut)
{
	rt_buf *name = rt_scope_buf(s);
	rt_str shown;

	rt_shown_add(name, t->source->take_name(t->source->ctx, take), t->options.ascii);
	shown = rt_scope_str(s, name);
	rt_buf_add_c(buf, "  {");
	if (is_cut)
		add_cut(buf, t, shown, NAME_BEGIN);
	else
		rt_buf_add_str(buf, shown);
	rt_buf_add_byte(buf, '}');
}

static void
add_notes(rt_buf *buf, const rt_tree *t, rt_scope *scope, const tree_row *r, int how)
{
	const rt_tree_node *n = &t->nodes[r->node];
	const signs *s = signs_of(t);

	if (t->options.as_pi)
		return;
	if ((n->flags & RT_TREE_FOLDED) != 0 && how < NOTES_HEAD)
		rt_buf_add_f(buf, "  (+%u)", (unsigned)(n->end - r->node - 1));
	if ((n->flags & RT_TREE_EDITED) != 0 && how < NOTES_NO_MARKS)
		rt_buf_add_f(buf, "  %s", s->edited);
	if ((n->flags & RT_TREE_MUTED) != 0 && how < NOTES_NO_MARKS)
		rt_buf_add_f(buf, "  %s", s->muted);
	if (n->take != 0 && t->source->take_name != NULL && how < NOTES_NO_TAKE)
		add_take(buf, t, scope, n->take, how == NOTES_CUT_TAKE);
	if (rt_tree_head_row(t) == n->row)
		rt_buf_add_f(buf, "%s%s", how < NOTES_HEAD ? "  " : " ",
			     how < NOTES_SHORT ? s->head : s->head_short);
}

static rt_str
notes_of(const rt_tree *t, rt_scope *s, const tree_row *r, size_t columns)
{
	rt_buf *notes = rt_scope_buf(s);

	for (int how = NOTES_ALL; how <= NOTES_HEAD; how++) {
		rt_buf_clear(notes);
		add_notes(notes, t, s, r, how);
		if (rt_shown_columns(rt_buf_str(notes)) <= columns)
			break;
	}
	return rt_scope_str(s, notes);
}

/* Without blanks at its end. */
static void
end_line(pen *p, rt_scope *s)
{
	rt_tree_line *line = p->line;
	rt_str text = rt_scope_str(s, p->text);

	while (text.size > 0 && text.ptr[text.size - 1] == ' ')
		text.size--;
	line->text = text;
	while (line->span_count > 0 && line->spans[line->span_count - 1].at >= text.size)
		line->span_count--;
	if (line->span_count > 0)
		line->spans[line->span_count - 1].size = text.size -
							 line->spans[line->span_count - 1].at;
}

/* Draws the cursor's columns, which are outside of the body. */
static void
write_cursor(const rt_tree *t, uint32_t row, size_t width, pen *body)
{
	const signs *s = signs_of(t);
	bool is_marked = (t->nodes[t->rows[row].node].flags & RT_TREE_MARKED) != 0;
	pen p = {.line = body->line, .text = body->text, .to = width < CURSOR ? width : CURSOR};

	write_c(&p, RT_TREE_CURSOR, row == t->selected ? s->cursor : " ");
	write_c(&p, RT_TREE_CURSOR, is_marked && !t->options.as_pi ? s->mark : " ");
}

/* A sign for truncated text, if necessary in the last column of the window. */
static void
write_more(pen *p, const char *more)
{
	rt_tree_line *line = p->line;
	rt_tree_span *last = &line->spans[line->span_count - 1];
	rt_str text = rt_str_at(p->text->ptr + last->at, last->size);

	if (p->at >= p->to) {
		size_t columns = rt_shown_columns(text), left;

		p->text->size = last->at + rt_shown_cut(text, columns - 1, &left).size;
		add_blanks(p->text, columns - 1 - left);
	}
	rt_buf_add_c(p->text, more);
	last->size = p->text->size - last->at;
	p->at = p->to;
}

static void
write_body(const frame *f, const tree_row *r, const words *w, pen *p)
{
	const rt_tree *t = f->tree;
	const signs *s = signs_of(t);
	size_t end = p->to, view = end - p->from, columns;
	rt_str notes = notes_of(t, f->s, r, view / 2);

	columns = rt_shown_columns(notes);
	if (shows_fold(t, r)) {
		write_c(p, RT_TREE_FOLD, s->closed);
		write_c(p, RT_TREE_FOLD, " ");
	}
	if ((t->nodes[r->node].flags & RT_TREE_ACTIVE) != 0)
		write_c(p, RT_TREE_PATH, s->path);
	if (columns <= view / 2) /* else the notes are cut */
		p->to -= columns;
	write(p, RT_TREE_LABEL, part_of(f, w, 0, w->label));
	write(p, RT_TREE_WHO, part_of(f, w, w->label, w->who));
	write(p, RT_TREE_WORDS, part_of(f, w, w->label + w->who, w->words));
	if (p->full && view > 0 && !t->options.as_pi)
		write_more(p, s->more);
	p->full = false;
	p->to = end;
	write(p, RT_TREE_NOTE, notes);
}

/* scroll: columns of the body to the left of the window. */
static void
draw_row(const frame *f, uint32_t row, const words *w, size_t width, size_t scroll,
	 rt_tree_line *line)
{
	const rt_tree *t = f->tree;
	const tree_row *r = &t->rows[row];
	pen p = {.line = line,
		 .text = rt_scope_buf(f->s),
		 .from = scroll,
		 .to = scroll + (width > CURSOR ? width - CURSOR : 0)};

	line->node = r->node;
	line->selected = row == t->selected;
	write_cursor(t, row, width, &p);
	write_prefix(t, f->s, row, &p);
	if (rt_ok(f->s))
		write_body(f, r, w, &p);
	end_line(&p, f->s);
}

/* ---- frames ---- */

static void
read_words(frame *f, size_t first, size_t count)
{
	rt_tree *t = f->tree;

	for (f->base = 0; rt_ok(f->s) && f->base < count; f->base += RT_TREE_ASK_MAX) {
		size_t run = count - f->base < RT_TREE_ASK_MAX ? count - f->base : RT_TREE_ASK_MAX;

		for (size_t i = 0; i < run; i++)
			f->nodes[i] = t->rows[first + f->base + i].node;
		RT_TRY(f->s, t->source->tell(t->source->ctx, t, f->nodes, run, false, keep_words, f,
					     &f->s->error));
	}
	(void)rt_scope_str(f->s, f->text);
}

static size_t
clamp(size_t value, size_t low, size_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Columns to scroll so that enough of the selected row's text is visible. */
static size_t
scroll_for(const frame *f, size_t first, size_t count, size_t view)
{
	const rt_tree *t = f->tree;
	size_t anchor, widest = 0, wanted;

	if (t->selected < first || t->selected >= first + count)
		return 0;
	anchor = anchor_of(t, &t->rows[t->selected]);
	if (anchor + clamp(view / 3, 4, 20) <= view)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const words *w = &f->words[i];
		size_t columns = anchor_of(t, &t->rows[first + i]) +
				 rt_shown_columns(part_of(f, w, 0, w->label + w->who + w->words));

		widest = columns > widest ? columns : widest;
	}
	if (widest <= view)
		return 0;
	wanted = anchor - (clamp(view / 4, 2, 12) < anchor ? clamp(view / 4, 2, 12) : anchor);
	return wanted < widest - view ? wanted : widest - view;
}

const rt_tree_line *
rt_tree_draw(rt_tree *t, rt_scope *s, size_t first, size_t count, size_t width)
{
	frame f = {.tree = t, .s = s, .text = rt_scope_buf(s)};
	rt_tree_line *lines = rt_scope_array(s, count > 0 ? count : 1, sizeof(*lines));
	size_t scroll;

	f.words = rt_scope_array(s, count, sizeof(*f.words));
	if (!rt_ok(s))
		return NULL;
	if (t->row_count == 0) {
		pen p = {.line = lines, .text = f.text, .to = width};

		lines->node = RT_TREE_NONE;
		write_c(&p, RT_TREE_NOTE, "  No entries found");
		end_line(&p, s);
		return rt_ok(s) ? lines : NULL;
	}
	RT_ASSERT(first + count <= t->row_count);
	read_words(&f, first, count);
	scroll = rt_ok(s) ? scroll_for(&f, first, count, width > CURSOR ? width - CURSOR : 0) : 0;
	for (size_t i = 0; rt_ok(s) && i < count; i++)
		draw_row(&f, (uint32_t)(first + i), &f.words[i], width, scroll, &lines[i]);
	return rt_ok(s) ? lines : NULL;
}

void
rt_tree_add_footer(rt_buf *buf, const rt_tree *t, size_t width)
{
	static const char *const filters[] = {"", " [no-tools]", " [user]", " [labeled]", " [all]"};
	char text[120];

	snprintf(text, sizeof(text), "  (%zu/%zu)%s%s",
		 t->selected == RT_TREE_NONE ? 0 : (size_t)t->selected + 1, (size_t)t->row_count,
		 filters[t->filter], t->time != NULL ? " [+label time]" : "");
	rt_buf_add_str(buf, rt_shown_cut(rt_str_of(text), width, NULL));
	if (!t->options.as_pi && t->mark_count > 0) {
		size_t used = strlen(text);

		snprintf(text, sizeof(text), "  [%zu marked]", t->mark_count);
		rt_buf_add_str(
			buf, rt_shown_cut(rt_str_of(text), width > used ? width - used : 0, NULL));
	}
}
