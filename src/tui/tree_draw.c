/* SPDX-License-Identifier: MIT
 *
 * Drawing: rows as lines of shown text.
 *
 *   ›   │     ├⊟ • [start] user: Use SQLite, not Postgres   ← active
 *   ^^  ^^^^^^^^ ^ ^^^^^^^ ^^^^^^ ^^^^^^^^^^^^^^^^^^^^^^^^ ^^^^^^^^^^
 *   cursor lines  path      who              words            note
 *
 * The cursor's two columns stay; the rest, the body, is a window on something that may be
 * wider, and begins further right where forks are deep. Every level of a fork takes three
 * columns. Only the columns in the window are made. */
#include "tui/tree_impl.h"

#include <stdio.h> /* snprintf */

#include "tui/text.h"

enum {
	LEVEL = 3,       /* columns of a level */
	CURSOR = 2,      /* columns of the cursor */
	WORDS_MAX = 2000 /* bytes of a row that are looked at, more than any screen shows */
};

/* The signs of which rows are made, as UTF-8 and as ASCII. */
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

/* ---- lines ---- */

void
rt_tree_line_init(rt_tree_line *line, const rt_alloc *alloc)
{
	memset(line, 0, sizeof(*line));
	rt_buf_init(&line->text, alloc, RT_BUF_UNLIMITED);
	line->node = RT_TREE_NONE;
}

void
rt_tree_line_deinit(rt_tree_line *line)
{
	rt_buf_deinit(&line->text);
}

/* A line being written: what falls into the columns from .. to of the body. */
typedef struct pen {
	rt_tree_line *line;
	size_t at;       /* column of the body */
	size_t from, to; /* the window */
	bool full;       /* something did not fit: nothing goes behind it */
} pen;

static void
add_span(rt_tree_line *line, rt_tree_style style, size_t at)
{
	rt_tree_span *last = line->span_count > 0 ? &line->spans[line->span_count - 1] : NULL;

	if (line->text.size == at)
		return;
	if (last != NULL && last->style == style) {
		last->size += line->text.size - at;
		return;
	}
	RT_ASSERT(line->span_count < RT_TREE_SPANS_MAX);
	line->spans[line->span_count++] = (rt_tree_span){at, line->text.size - at, style};
}

static void
add_blanks(rt_buf *buf, size_t count)
{
	while (count-- > 0)
		rt_buf_add_byte(buf, ' ');
}

/* Shown text, as far as it falls into the window. */
static void
write(pen *p, rt_tree_style style, rt_str shown)
{
	rt_tree_line *line = p->line;
	size_t at = line->text.size, blank, columns;
	rt_str left = shown, part;

	if (p->full)
		return;
	if (p->at < p->from) {
		left = rt_shown_skip(shown, p->from - p->at, &blank);
		p->at += rt_shown_columns(rt_str_at(shown.ptr, shown.size - left.size));
		if (p->at < p->from)
			return;
		add_blanks(&line->text, blank < p->to - p->from ? blank : p->to - p->from);
	}
	part = rt_shown_cut(left, p->at < p->to ? p->to - p->at : 0, &columns);
	rt_buf_add_str(&line->text, part);
	p->at += columns;
	p->full = part.size < left.size;
	add_span(line, style, at);
}

static void
write_c(pen *p, rt_tree_style style, const char *shown)
{
	write(p, style, rt_str_of(shown));
}

/* ---- lines of descent ---- */

/* Several roots have no line, so that they stand at the left all the same. */
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

/* The level in which the line to a row stands. */
static size_t
line_level(const rt_tree *t, const tree_row *r)
{
	size_t levels = levels_of(t, r);

	return levels > 0 ? levels - 1 : 0;
}

/* Three columns: what leads on past this row, or to it. */
static void
write_level(pen *p, const char *first, const char *second)
{
	write_c(p, RT_TREE_LINES, first);
	write_c(p, RT_TREE_LINES, second);
	write_c(p, RT_TREE_LINES, " ");
}

static rt_status
write_prefix(const rt_tree *t, uint32_t row, pen *p, rt_error *err)
{
	const tree_row *r = &t->rows[row];
	const signs *s = signs_of(t);
	size_t levels = levels_of(t, r), first = p->from / LEVEL, end = p->to / LEVEL + 1, i;
	uint32_t g;
	bool *passing;

	if (end > levels)
		end = levels;
	if (first >= end) {
		p->at = levels * LEVEL;
		return RT_OK;
	}
	passing = rt_new0(t->alloc, (end - first) * sizeof(*passing));
	if (passing == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	for (g = r->gutter; g != RT_TREE_NONE; g = t->rows[g].gutter) {
		size_t level = line_level(t, &t->rows[g]);

		if (level < first)
			break;
		if (level < end)
			passing[level - first] = (t->rows[g].flags & ROW_LAST) == 0;
	}
	p->at = first * LEVEL;
	for (i = first; i < end; i++) {
		bool folded = (t->nodes[r->node].flags & RT_TREE_FOLDED) != 0;

		if (has_line(r) && i == levels - 1)
			write_level(p, (r->flags & ROW_LAST) != 0 ? s->last : s->fork,
				    folded                        ? s->closed
				    : rt_tree_is_foldable(t, row) ? s->open
								  : s->line);
		else
			write_level(p, passing[i - first] ? s->gutter : " ", " ");
	}
	p->at = levels * LEVEL;
	rt_free(t->alloc, passing);
	return RT_OK;
}

/* ---- rows ---- */

/* The words of the rows that are drawn, as shown text. */
typedef struct words {
	rt_tree *tree;
	rt_buf text;
	struct place {
		size_t at, label, who, words; /* sizes, one behind the other */
	} * places;
	uint32_t nodes[RT_TREE_ASK_MAX]; /* that are being asked about */
	size_t base;                     /* the place of the first of these */
} words;

/* "[start] " */
static void
add_label(rt_buf *buf, const rt_tree *t, uint32_t node)
{
	rt_str label = rt_tree_label(t, node);
	size_t at;

	if (label.size == 0)
		return;
	rt_buf_add_byte(buf, '[');
	rt_shown_add(buf, label, t->options.ascii);
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
	words *w = to;
	const rt_tree *t = w->tree;
	struct place *place = &w->places[w->base + index];
	size_t size = told->words.size > WORDS_MAX ? rt_utf8_cut(told->words, WORDS_MAX)
						   : told->words.size;
	size_t who = told->who < size ? told->who : size;
	rt_str rest = size > who ? rt_str_at(told->words.ptr + who, size - who) : rt_str_at("", 0);

	place->at = w->text.size;
	add_label(&w->text, t, w->nodes[index]);
	place->label = w->text.size - place->at;
	rt_shown_add(&w->text, rt_str_at(told->words.ptr, who), t->options.ascii);
	place->who = w->text.size - place->at - place->label;
	rt_shown_add(&w->text, rest, t->options.ascii);
	place->words = w->text.size - place->at - place->label - place->who;
}

/* What begins so many bytes behind a row's first, of so many. */
static rt_str
part_of(const words *w, const struct place *place, size_t from, size_t size)
{
	return size > 0 ? rt_str_at(w->text.ptr + place->at + from, size) : rt_str_at("", 0);
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

/* Marks of our own, which stand behind the words however long these are. Of those that would
 * leave little of the words some are left out: first the name of a take (before that, the middle
 * of it), then what was done to the entry; where the head is is said in any case, in one sign at the end. */
enum { NOTES_ALL, NOTES_SHORT, NOTES_CUT_TAKE, NOTES_NO_TAKE, NOTES_NO_MARKS, NOTES_HEAD };

/* Names often differ in their ends only. */
enum { NAME_BEGIN = 9, NAME_END = 8 };

static void
add_take(rt_buf *buf, const rt_tree *t, uint32_t take, bool is_cut)
{
	rt_buf name;
	size_t columns, blank;
	rt_str shown;

	rt_buf_init(&name, t->alloc, RT_BUF_UNLIMITED);
	rt_shown_add(&name, t->source->take_name(t->source->ctx, take), t->options.ascii);
	shown = rt_buf_str(&name);
	columns = rt_shown_columns(shown);
	rt_buf_add_c(buf, "  {");
	if (is_cut && columns > NAME_BEGIN + 1 + NAME_END) {
		rt_buf_add_str(buf, rt_shown_cut(shown, NAME_BEGIN, NULL));
		rt_buf_add_c(buf, signs_of(t)->more);
		rt_buf_add_str(buf, rt_shown_skip(shown, columns - NAME_END, &blank));
	} else {
		rt_buf_add_str(buf, shown);
	}
	rt_buf_add_byte(buf, '}');
	if (name.status != RT_OK)
		buf->status = name.status;
	rt_buf_deinit(&name);
}

static void
add_notes(rt_buf *buf, const rt_tree *t, const tree_row *r, int how)
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
		add_take(buf, t, n->take, how == NOTES_CUT_TAKE);
	if (rt_tree_head_row(t) == n->row)
		rt_buf_add_f(buf, "%s%s", how < NOTES_HEAD ? "  " : " ",
			     how < NOTES_SHORT ? s->head : s->head_short);
}

static void
end_line(rt_tree_line *line)
{
	while (line->text.size > 0 && line->text.ptr[line->text.size - 1] == ' ')
		line->text.size--;
	while (line->span_count > 0 && line->spans[line->span_count - 1].at >= line->text.size)
		line->span_count--;
	if (line->span_count > 0)
		line->spans[line->span_count - 1].size = line->text.size -
							 line->spans[line->span_count - 1].at;
}

static void
write_cursor(const rt_tree *t, uint32_t row, size_t width, rt_tree_line *line)
{
	const signs *s = signs_of(t);
	bool marked = (t->nodes[t->rows[row].node].flags & RT_TREE_MARKED) != 0;
	pen p = {.line = line, .to = width < CURSOR ? width : CURSOR};

	write_c(&p, RT_TREE_CURSOR, row == t->selected ? s->cursor : " ");
	write_c(&p, RT_TREE_CURSOR, marked && !t->options.as_pi ? s->mark : " ");
}

/* A sign that there is more than fits, in the last column of the window if need be. */
static void
write_more(pen *p, const char *more)
{
	rt_tree_line *line = p->line;
	rt_tree_span *last = &line->spans[line->span_count - 1];
	rt_str text = rt_str_at(line->text.ptr + last->at, last->size);

	if (p->at >= p->to) {
		size_t columns = rt_shown_columns(text), left;

		line->text.size = last->at + rt_shown_cut(text, columns - 1, &left).size;
		add_blanks(&line->text, columns - 1 - left);
	}
	rt_buf_add_c(&line->text, more);
	last->size = line->text.size - last->at;
	p->at = p->to;
}

static void
write_body(const rt_tree *t, const tree_row *r, const words *w, const struct place *place,
	   const rt_buf *notes, pen *p)
{
	const signs *s = signs_of(t);
	size_t end = p->to, view = end - p->from, columns = rt_shown_columns(rt_buf_str(notes));

	if (shows_fold(t, r)) {
		write_c(p, RT_TREE_FOLD, s->closed);
		write_c(p, RT_TREE_FOLD, " ");
	}
	if ((t->nodes[r->node].flags & RT_TREE_ACTIVE) != 0)
		write_c(p, RT_TREE_PATH, s->path);
	/* Where notes would leave little of the words, it is they that are cut. */
	if (columns <= view / 2)
		p->to -= columns;
	write(p, RT_TREE_LABEL, part_of(w, place, 0, place->label));
	write(p, RT_TREE_WHO, part_of(w, place, place->label, place->who));
	write(p, RT_TREE_WORDS, part_of(w, place, place->label + place->who, place->words));
	if (p->full && view > 0 && !t->options.as_pi)
		write_more(p, s->more);
	p->full = false;
	p->to = end;
	write(p, RT_TREE_NOTE, rt_buf_str(notes));
}

/* scroll: columns of the body that are left of the window. */
static rt_status
draw_row(const rt_tree *t, uint32_t row, const words *w, size_t index, size_t width, size_t scroll,
	 rt_tree_line *line, rt_error *err)
{
	const tree_row *r = &t->rows[row];
	size_t view = width > CURSOR ? width - CURSOR : 0;
	pen p = {.line = line, .from = scroll, .to = scroll + view};
	rt_buf notes;
	rt_status st;
	int how;

	rt_buf_clear(&line->text);
	line->span_count = 0;
	line->node = r->node;
	line->selected = row == t->selected;
	rt_buf_init(&notes, t->alloc, RT_BUF_UNLIMITED);
	for (how = NOTES_ALL; how <= NOTES_HEAD; how++) {
		rt_buf_clear(&notes);
		add_notes(&notes, t, r, how);
		if (rt_shown_columns(rt_buf_str(&notes)) <= view / 2)
			break;
	}
	write_cursor(t, row, width, line);
	st = write_prefix(t, row, &p, err);
	if (st == RT_OK) {
		write_body(t, r, w, &w->places[index], &notes, &p);
		end_line(line);
		if (line->text.status != RT_OK || notes.status != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
	}
	rt_buf_deinit(&notes);
	return st;
}

/* ---- frames ---- */

static rt_status
get_words(rt_tree *t, size_t first, size_t count, words *w, rt_error *err)
{
	rt_status st = RT_OK;

	for (w->base = 0; st == RT_OK && w->base < count;) {
		size_t run = count - w->base < RT_TREE_ASK_MAX ? count - w->base : RT_TREE_ASK_MAX,
		       i;

		for (i = 0; i < run; i++)
			w->nodes[i] = t->rows[first + w->base + i].node;
		st = t->source->tell(t->source->ctx, t, w->nodes, run, false, keep_words, w, err);
		w->base += run;
	}
	return st == RT_OK && w->text.status != RT_OK ? rt_fail(err, RT_NOMEM, "out of memory")
						      : st;
}

static size_t
clamp(size_t value, size_t low, size_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* How far the body moves left so that enough of the selected row's text is in sight. */
static size_t
scroll_for(const rt_tree *t, size_t first, size_t count, size_t view, const words *w)
{
	size_t anchor, widest = 0, wanted, i;

	if (t->selected < first || t->selected >= first + count)
		return 0;
	anchor = anchor_of(t, &t->rows[t->selected]);
	if (anchor + clamp(view / 3, 4, 20) <= view)
		return 0;
	for (i = 0; i < count; i++) {
		const tree_row *r = &t->rows[first + i];
		const struct place *place = &w->places[i];
		size_t columns = anchor_of(t, r) +
				 rt_shown_columns(part_of(
					 w, place, 0, place->label + place->who + place->words));

		widest = columns > widest ? columns : widest;
	}
	if (widest <= view)
		return 0;
	wanted = anchor - (clamp(view / 4, 2, 12) < anchor ? clamp(view / 4, 2, 12) : anchor);
	return wanted < widest - view ? wanted : widest - view;
}

static rt_status
draw_nothing(size_t width, rt_tree_line *line, rt_error *err)
{
	pen p = {.line = line, .to = width};

	rt_buf_clear(&line->text);
	line->span_count = 0;
	line->node = RT_TREE_NONE;
	line->selected = false;
	write_c(&p, RT_TREE_NOTE, "  No entries found");
	return line->text.status == RT_OK ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");
}

rt_status
rt_tree_draw(rt_tree *t, size_t first, size_t count, size_t width, rt_tree_line *lines,
	     rt_error *err)
{
	words w = {.tree = t};
	size_t scroll, i;
	rt_status st = RT_OK;

	if (t->row_count == 0)
		return draw_nothing(width, lines, err);
	RT_ASSERT(first + count <= t->row_count);
	rt_buf_init(&w.text, t->alloc, RT_BUF_UNLIMITED);
	w.places = rt_new0(t->alloc, (count + 1) * sizeof(*w.places));
	if (w.places == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = get_words(t, first, count, &w, err);
	if (st == RT_OK) {
		scroll = scroll_for(t, first, count, width > CURSOR ? width - CURSOR : 0, &w);
		for (i = 0; st == RT_OK && i < count; i++)
			st = draw_row(t, (uint32_t)(first + i), &w, i, width, scroll, &lines[i],
				      err);
	}
	rt_buf_deinit(&w.text);
	rt_free(t->alloc, w.places);
	return st;
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
