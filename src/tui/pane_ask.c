/* SPDX-License-Identifier: MIT
 *
 * Questions below the content that they concern: a text, one of a few choices, or one of many
 * names, which typing filters. */
#include "tui/bar.h"
#include "tui/find.h"
#include "tui/models_worker.h"
#include "tui/list.h"

enum {
	CHOICES_MAX = 12,
	TEXT_ROWS_ABOVE = 12,   /* on a tall terminal, rows that a text leaves to the pane above
				 * it */
	NAME_ROWS_MAX = 14,
	PROBLEMS_MAX = 4, /* lines */
	ROW_NAME = 5,     /* columns of rows of columns: their names … */
	ROW_NOW = 6,      /* … and their mark, … */
	ROW_DETAILS = 30, /* … details … */
	ROW_TEXT = 64,    /* … and texts, on wide screens */
	COUNTED_BYTES = 1 << 20 /* of a text, in which lines are counted for each frame */
};

typedef struct question {
	rt_pane pane; /* first */
	rt_buf title;
	rt_buf words;    /* the footer of a text, or the target of choices, or all names */
	rt_answer_fn fn; /* NULL: it was called */
	void *ctx;
	void (*free_ctx)(rt_tui *, void *);

	/* a text */
	rt_field *field;
	rt_buf initial; /* of a text of several lines */
	bool is_saved;  /* another text than the initial one must not be lost */
	bool types_message; /* of choices: letters are typed into the chat's input */
	bool is_replaced; /* the initial text, by the first character that is typed */
	int columns, rows; /* when it was drawn last */

	/* one of a few */
	rt_choice choices[CHOICES_MAX];
	rt_key keys[CHOICES_MAX];
	rt_list list;

	/* one of many */
	rt_filter names; /* rows: name_row */
	rt_str *all;
	size_t count;
	bool may_be_new;
	bool are_texts;
	bool are_columns;
	rt_answer_fn on_tab; /* or NULL */
	rt_answer_fn on_rename; /* Ctrl+R; or NULL */
	bool may_mark;
	rt_buf marked; /* names, each with a line end */
	rt_models_worker *models; /* that are still arriving; or NULL */
	rt_buf problems;      /* why others do not, each with a line end */
	rt_buf note;          /* a line below the names; may be empty */
} question;

/* A name, or the typed text as a new one. */
typedef struct name_row {
	rt_str name;
	bool is_new;
} name_row;

static question *
of(rt_pane *pane)
{
	return (question *)pane;
}

/* ---- all questions ---- */

/* Closes the pane, and passes the answer on, once. */
static void
answer(question *q, rt_str text)
{
	rt_tui *tui = q->pane.tui;
	rt_answer_fn fn = q->fn;
	void (*free_ctx)(rt_tui *, void *) = q->free_ctx;

	if (fn == NULL)
		return;
	q->fn = NULL;
	q->free_ctx = NULL;
	rt_tui_close(tui, &q->pane);
	RT_TRY(&tui->scope, fn(tui, q->ctx, text));
	if (free_ctx != NULL)
		free_ctx(tui, q->ctx);
}

/* An empty answer is not a cancellation. */
static void
answer_text(question *q, rt_str text)
{
	answer(q, text.size == 0 ? RT_STR("") : text);
}

static void
cancel(question *q)
{
	answer(q, rt_str_at(NULL, 0));
}

static void
free_question(rt_pane *pane)
{
	question *q = of(pane);
	const rt_alloc *alloc = pane->tui->alloc;

	if (q->free_ctx != NULL)
		q->free_ctx(pane->tui, q->ctx);
	rt_models_worker_close(q->models, pane->tui);
	rt_field_free(q->field);
	rt_filter_deinit(&q->names);
	rt_free(alloc, q->all);
	rt_buf_deinit(&q->title);
	rt_buf_deinit(&q->words);
	rt_buf_deinit(&q->initial);
	rt_buf_deinit(&q->marked);
	rt_buf_deinit(&q->problems);
	rt_buf_deinit(&q->note);
	rt_free(alloc, q);
}

/* Begins an event, which show_question ends. NULL: no memory; ctx is freed. */
static question *
new_question(rt_tui *tui, const rt_pane_ops *ops, const char *title, rt_answer_fn fn, void *ctx,
	     void (*free_ctx)(rt_tui *, void *))
{
	question *q = rt_new0(tui->alloc, sizeof(*q));

	if (q == NULL) {
		if (free_ctx != NULL)
			free_ctx(tui, ctx);
		return NULL;
	}
	(void)rt_tui_begin(tui);
	q->pane.ops = ops;
	q->pane.tui = tui;
	q->fn = fn;
	q->ctx = ctx;
	q->free_ctx = free_ctx;
	rt_buf_init(&q->title, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&q->words, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&q->initial, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&q->marked, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&q->problems, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&q->note, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&q->names.typed, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&q->title, title);
	return q;
}

static rt_status
show_question(question *q)
{
	rt_tui *tui = q->pane.tui;
	rt_scope *s = &tui->scope;
	rt_status st;

	RT_TRY(s, q->title.status);
	RT_TRY(s, q->words.status);
	RT_TRY(s, q->initial.status);
	st = rt_tui_end(tui);
	if (st == RT_OK)
		return rt_tui_push(tui, &q->pane);
	free_question(&q->pane);
	return st;
}

static void
draw_title(const question *q, rt_canvas *canvas, rt_box box, bool has_title)
{
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	if (has_title)
		rt_bar_draw(canvas, box, rt_buf_str(&q->title), rt_bar_ways(q->pane.tui));
}

/* ---- a text ---- */

static int
text_height(rt_pane *pane, int columns, int rows)
{
	int limit = rows - TEXT_ROWS_ABOVE > rows / 2 ? rows - TEXT_ROWS_ABOVE : rows / 2;

	return 1 + rt_field_rows(of(pane)->field, &pane->tui->canvas, columns - 2,
				 limit > 1 ? limit : 1);
}

/* Where the cursor is in a text that is not visible as a whole. */
static void
add_line_number(const question *q, rt_buf *out)
{
	rt_str text = rt_field_text(q->field);
	size_t cursor = rt_field_cursor(q->field), line = 1, lines = 1;

	if (text.size > COUNTED_BYTES)
		return;
	for (size_t i = 0; i < text.size; i++) {
		line += i < cursor && text.ptr[i] == '\n';
		lines += text.ptr[i] == '\n';
	}
	if (lines > (size_t)q->rows)
		rt_buf_add_f(out, "line %zu of %zu  ", line, lines);
}

static void
text_draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	question *q = of(pane);
	bool has_title = box.h > 1;
	rt_box body = {box.x + 2, box.y + has_title, box.w - 2, box.h - has_title};
	rt_buf *right = rt_scope_buf(&pane->tui->scope);

	q->columns = body.w;
	q->rows = body.h;
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	add_line_number(q, right);
	rt_buf_add_str(right, rt_bar_ways(pane->tui));
	if (has_title)
		rt_bar_draw(canvas, box, rt_buf_str(&q->title), rt_buf_str(right));
	(void)rt_canvas_put(canvas, box, 0, has_title, rt_canvas_glyph(canvas, RT_GLYPH_CURSOR),
			    RT_INK_DIM);
	rt_field_draw(q->field, canvas, body, q->is_replaced ? RT_INK_DIM : RT_INK_TEXT, true);
}

static rt_str
text_written(rt_pane *pane)
{
	question *q = of(pane);
	rt_str text = rt_field_text(q->field);

	return q->is_saved && rt_str_trim(text).size > 0 &&
			       !rt_str_eq(text, rt_buf_str(&q->initial))
		       ? text
		       : rt_str_at(NULL, 0);
}

/* The written text goes to the input history. */
static void
cancel_text(question *q)
{
	rt_tui *tui = q->pane.tui;
	rt_str text = rt_scope_copy(&tui->scope, text_written(&q->pane));

	if (!rt_ok(&tui->scope))
		return;
	cancel(q);
	if (rt_ok(&tui->scope) && text.size > 0)
		rt_tui_remember_input(tui, text);
}

/* As many rows as are visible, but one; the ends of the text are the ends. */
static void
go_page(question *q, rt_action action)
{
	rt_scope *s = &q->pane.tui->scope;
	size_t was = SIZE_MAX;
	bool used;

	for (int i = 1; rt_ok(s) && i < q->rows && rt_field_cursor(q->field) != was; i++) {
		was = rt_field_cursor(q->field);
		RT_TRY(s, rt_field_act(q->field, action, q->columns, &used));
	}
}

static bool
text_act(rt_pane *pane, rt_action action)
{
	question *q = of(pane);
	bool used = true;

	q->is_replaced = false;
	switch (action) {
	case RT_ACT_PAGE_UP: go_page(q, RT_ACT_UP); break;
	case RT_ACT_PAGE_DOWN: go_page(q, RT_ACT_DOWN); break;
	case RT_ACT_EDITOR: rt_tui_edit_field(pane->tui, q->field, "text"); break;
	case RT_ACT_ACCEPT: answer_text(q, rt_field_text(q->field)); break;
	case RT_ACT_CANCEL: cancel_text(q); break;
	default: RT_TRY(&pane->tui->scope, rt_field_act(q->field, action, q->columns, &used));
	}
	return used;
}

static void
replace_initial(question *q)
{
	if (q->is_replaced)
		rt_field_clear(q->field);
	q->is_replaced = false;
}

static bool
text_key(rt_pane *pane, rt_key key)
{
	bool used = false;

	if (rt_key_is_text(key))
		replace_initial(of(pane));
	RT_TRY(&pane->tui->scope, rt_field_key(of(pane)->field, key, &used));
	return used;
}

static void
text_paste(rt_pane *pane, rt_str text)
{
	replace_initial(of(pane));
	RT_TRY(&pane->tui->scope, rt_field_insert(of(pane)->field, text));
}

static void
text_purged(rt_pane *pane, rt_str what)
{
	rt_field_forget(of(pane)->field);
	if (what.size > 0)
		RT_TRY(&pane->tui->scope, rt_field_mask(of(pane)->field, what));
}

static const rt_pane_ops text_ops = {
	.screen = RT_SCREEN_FIELD,
	.height = text_height,
	.draw = text_draw,
	.act = text_act,
	.key = text_key,
	.paste = text_paste,
	.written = text_written,
	.purged = text_purged,
	.free = free_question,
};

rt_status
rt_pane_ask(rt_tui *tui, const char *title, rt_str text, bool several_lines, rt_answer_fn fn,
	    void *ctx, void (*free_ctx)(rt_tui *, void *))
{
	question *q = new_question(tui, &text_ops, title, fn, ctx, free_ctx);
	rt_scope *s = &tui->scope;

	if (q == NULL)
		return RT_NOMEM;
	RT_TRY(s, rt_field_new(tui->alloc, several_lines, &q->field));
	if (text.size > 0)
		RT_TRY(s, rt_field_set(q->field, text));
	q->is_saved = several_lines;
	if (several_lines) {
		rt_buf_add_str(&q->initial, text);
	} else { /* the footer does not offer a new line */
		rt_keymap_add_key(tui->keys, RT_SCREEN_FIELD, RT_ACT_EDITOR, &q->words);
		rt_buf_add_c(&q->words, q->words.size > 0 ? " editor" : "");
		q->pane.footer = q->words.ptr;
	}
	return show_question(q);
}

void
rt_pane_ask_replaces(rt_tui *tui)
{
	rt_pane *pane = tui->panes[tui->pane_count - 1];

	if (pane->ops == &text_ops)
		of(pane)->is_replaced = !rt_field_is_empty(of(pane)->field);
}

/* ---- one of a few ---- */

static int
choice_height(rt_pane *pane, int columns, int rows)
{
	int want = (int)of(pane)->list.count + 1;

	(void)columns;
	return want < rows ? want : rows;
}

static void
draw_choice(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row)
{
	const question *q = ctx;
	rt_buf *key = rt_scope_buf(&q->pane.tui->scope);
	int x;

	rt_key_add_word(key, q->keys[row], true);
	x = rt_canvas_put(canvas, box, 2, y, rt_buf_str(key), RT_INK_TEXT | RT_INK_BOLD);
	(void)rt_canvas_put_cut(canvas, box, x + 2, y, box.w - x - 2,
				rt_str_of(q->choices[row].what), RT_INK_TEXT);
}

static void
choice_draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	question *q = of(pane);

	draw_title(q, canvas, box, true);
	q->list.top = 0;
	rt_list_draw(&q->list, canvas, (rt_box){box.x, box.y + 1, box.w, box.h - 1}, draw_choice,
		     q);
}

static bool
choice_act(rt_pane *pane, rt_action action)
{
	question *q = of(pane);

	switch (action) {
	case RT_ACT_ACCEPT: answer_text(q, rt_str_of(q->choices[q->list.at].word)); return true;
	case RT_ACT_CANCEL: cancel(q); return true;
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN: return false;
	default: return rt_list_act(&q->list, action);
	}
}

static bool
choice_key(rt_pane *pane, rt_key key)
{
	question *q = of(pane);

	for (size_t i = 0; i < q->list.count; i++)
		if (rt_key_eq(q->keys[i], key)) {
			answer_text(q, rt_str_of(q->choices[i].word));
			return true;
		}
	if (rt_key_is_text(key) && q->types_message)
		(void)pane->tui->panes[0]->ops->key(pane->tui->panes[0], key);
	return rt_key_is_text(key); /* letters never answer */
}

static const rt_pane_ops choice_ops = {
	.screen = RT_SCREEN_FIELD,
	.height = choice_height,
	.draw = choice_draw,
	.act = choice_act,
	.key = choice_key,
	.free = free_question,
};

/* The caller's texts may be freed when the answer is given. */
static void
copy_choices(question *q, const rt_choice *choices, size_t count)
{
	rt_scope *s = &q->pane.tui->scope;
	const char *p;

	for (size_t i = 0; i < count; i++) {
		rt_buf_add(&q->words, choices[i].word, strlen(choices[i].word) + 1);
		rt_buf_add(&q->words, choices[i].what, strlen(choices[i].what) + 1);
	}
	RT_TRY(s, q->words.status);
	p = q->words.ptr;
	for (size_t i = 0; i < count && rt_ok(s); i++) {
		q->choices[i].word = p;
		p += strlen(p) + 1;
		q->choices[i].what = p;
		p += strlen(p) + 1;
		RT_TRY(s, rt_key_read(rt_str_of(choices[i].key), &q->keys[i], &s->error));
	}
	rt_list_count(&q->list, count);
}

rt_status
rt_pane_choose(rt_tui *tui, const char *question_text, const rt_choice *choices, size_t count,
	       rt_answer_fn fn, void *ctx, void (*free_ctx)(rt_tui *, void *))
{
	question *q = new_question(tui, &choice_ops, question_text, fn, ctx, free_ctx);

	RT_ASSERT(count > 0 && count <= CHOICES_MAX);
	if (q == NULL)
		return RT_NOMEM;
	q->pane.footer = "Up, Down choose   Enter OK   Esc cancel";
	q->pane.list = &q->list;
	copy_choices(q, choices, count);
	return show_question(q);
}

void
rt_pane_choose_types_message(rt_tui *tui)
{
	rt_pane *pane = tui->panes[tui->pane_count - 1];

	if (pane->ops == &choice_ops)
		of(pane)->types_message = true;
}

/* ---- one of many ---- */

/* Names that begin with the text, others that contain it, and the text itself if it may be a new
 * name. The cursor goes to the name that equals it. */
static void
fill_names(void *ctx, rt_str typed)
{
	question *q = ctx;
	rt_filter *f = &q->names;
	bool is_known = false;

	for (int begins = 1; begins >= 0; begins--)
		for (size_t i = 0; i < q->count; i++) {
			rt_str name = q->all[i];

			if (rt_find_begins(name, typed) != begins || !rt_find_holds(name, typed))
				continue;
			if (rt_str_eq(name, typed)) {
				is_known = true;
				f->list.at = f->list.count;
			}
			rt_filter_add(f, &(name_row){.name = name});
		}
	if (q->may_be_new && typed.size > 0 && !is_known)
		rt_filter_add(f, &(name_row){.name = typed, .is_new = true});
}

/* Rows below the names. */
static int
note_rows(const question *q)
{
	int count = (q->models != NULL) + (q->note.size > 0);

	for (size_t i = 0; i < q->problems.size && count < PROBLEMS_MAX; i++)
		count += q->problems.ptr[i] == '\n';
	return count;
}

static void
draw_notes(const question *q, rt_canvas *canvas, rt_box box)
{
	rt_str all = rt_buf_str(&q->problems), one;
	int y = 0;

	if (q->models != NULL)
		(void)rt_canvas_put_c(canvas, box, 2, y++, "Loading the providers' model lists …", RT_INK_DIM);
	if (q->note.size > 0 && y < box.h)
		(void)rt_canvas_put_cut(canvas, box, 2, y++, box.w - 2, rt_buf_str(&q->note),
					RT_INK_DIM);
	for (; y < box.h && rt_str_split(&all, '\n', &one); y++)
		(void)rt_canvas_put_cut(canvas, box, 2, y, box.w - 2, one, RT_INK_ERROR);
}

static int
pick_height(rt_pane *pane, int columns, int rows)
{
	question *q = of(pane);
	size_t all = q->count + q->may_be_new, most = all < NAME_ROWS_MAX ? all : NAME_ROWS_MAX;
	int want = 2 + (int)(most > 0 ? most : 1) + note_rows(q);

	(void)columns;
	return want < rows ? want : rows;
}

/* Where the name is in the marked ones; SIZE_MAX: it is not. */
static size_t
find_mark(const question *q, rt_str name)
{
	rt_str all = rt_buf_str(&q->marked), one;
	size_t at = 0;

	while (rt_str_split(&all, '\n', &one)) {
		if (name.size > 0 && rt_str_eq(one, name))
			return at;
		at += one.size + 1;
	}
	return SIZE_MAX;
}

static void
toggle_name(question *q)
{
	const name_row *r = rt_filter_at(&q->names);
	size_t at = r == NULL ? SIZE_MAX : find_mark(q, r->name), size;

	if (r == NULL)
		return;
	if (at == SIZE_MAX) {
		rt_buf_add_str(&q->marked, r->name);
		rt_buf_add_byte(&q->marked, '\n');
	} else {
		size = r->name.size + 1;
		memmove(q->marked.ptr + at, q->marked.ptr + at + size, q->marked.size - at - size);
		q->marked.size -= size;
	}
	RT_TRY(&q->pane.tui->scope, q->marked.status);
}

/* "2\t*\tmain\t4 entries\tWhich database?" */
static void
split_columns(rt_str row, rt_str cells[5])
{
	for (size_t i = 0; i < 5 && rt_str_split(&row, '\t', &cells[i]);)
		i++;
}

/* Where the details begin. Where there is no space for texts, long names have what the details of all rows
 * leave. */
static int
details_at(const question *q, const rt_canvas *canvas, rt_box box)
{
	int width = 0, name = 0, most;

	if (box.w > ROW_TEXT + 20)
		return ROW_DETAILS;
	if (box.w <= 60)
		return box.w;
	for (size_t i = 0; i < q->count; i++) {
		rt_str cells[5] = {{0}};
		int columns;

		split_columns(q->all[i], cells);
		columns = rt_canvas_width(canvas, cells[3]);
		width = columns > width ? columns : width;
		columns = rt_canvas_width(canvas, cells[2]);
		name = columns > name ? columns : name;
	}
	most = box.w - width - 2;
	name += ROW_NAME + ROW_NOW + 2;
	most = name < most ? name : most;
	return width > 0 && most > ROW_DETAILS ? most : ROW_DETAILS;
}

static void
draw_columns(rt_canvas *canvas, rt_box box, int y, rt_str row, int details)
{
	rt_str cells[5] = {{0}};
	bool is_wide = box.w > ROW_TEXT + 20, is_current;
	int x;

	split_columns(row, cells);
	is_current = rt_str_is(cells[1], "*");
	(void)rt_canvas_put(canvas, box, 2, y, cells[0], RT_INK_DIM);
	x = rt_canvas_put_name(canvas, box, ROW_NAME, y, details - ROW_NAME - 2 - (is_current ? ROW_NOW : 0), cells[2],
			       is_current ? RT_INK_TEXT | RT_INK_BOLD : RT_INK_TEXT);
	if (is_current) {
		x = rt_canvas_put(canvas, box, x + 1, y,
				  rt_canvas_glyph(canvas, RT_GLYPH_LEFT_ARROW), RT_INK_GOOD);
		x = rt_canvas_put_c(canvas, box, x + 1, y, "now", RT_INK_GOOD);
	}
	x = x + 2 > details ? x + 2 : details;
	x = rt_canvas_put_cut(canvas, box, x, y, box.w - x - 1, cells[3], RT_INK_DIM) + 2;
	if (is_wide && x < ROW_TEXT)
		x = ROW_TEXT;
	if (box.w - x > 12)
		(void)rt_canvas_put_cut(canvas, box, x, y, box.w - x - 1, cells[4], RT_INK_TEXT);
}

static void
draw_name(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row)
{
	const question *q = ctx;
	const name_row *r = (const name_row *)q->names.rows + row;
	int x = q->marked.size > 0 ? 4 : 2;

	if (q->are_columns) {
		draw_columns(canvas, box, y, r->name, details_at(q, canvas, box));
		return;
	}
	if (find_mark(q, r->name) != SIZE_MAX)
		(void)rt_canvas_put(canvas, box, 2, y, rt_canvas_glyph(canvas, RT_GLYPH_CHECK),
				    RT_INK_MATCH);

	if (r->is_new) {
		x = rt_canvas_put_c(canvas, box, x, y, "new: ", RT_INK_DIM);
		(void)rt_canvas_put_cut(canvas, box, x, y, box.w - x, r->name, RT_INK_TEXT);
	} else {
		(void)(q->are_texts ? rt_canvas_put_cut : rt_canvas_put_name)(
			canvas, box, x, y, box.w - x, r->name, RT_INK_TEXT);
	}
}

static void
pick_draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	question *q = of(pane);
	int head = box.h > 1 ? 2 : 1, notes = note_rows(q);

	if (notes > box.h - head - 1)
		notes = box.h > head ? box.h - head - 1 : 0;
	draw_title(q, canvas, box, box.h > 1);
	rt_filter_draw_field(&q->names, canvas,
			     (rt_box){box.x + 2, box.y + head - 1, box.w - 2, 1});
	rt_filter_draw_rows(&q->names, canvas,
			    (rt_box){box.x, box.y + head, box.w, box.h - head - notes}, 2,
			    q->count == 0 ? "None." : "No match.");
	draw_notes(q, canvas, (rt_box){box.x, box.y + box.h - notes, box.w, notes});
}

static bool
pick_act(rt_pane *pane, rt_action action)
{
	question *q = of(pane);
	const name_row *r = rt_filter_at(&q->names);
	rt_str typed = rt_field_text(q->names.field);

	switch (action) {
	case RT_ACT_ACCEPT:
		if (q->marked.size > 0)
			answer(q, rt_str_at(q->marked.ptr, q->marked.size - 1));
		else if (r != NULL)
			answer(q, r->name);
		else
			rt_tui_say(pane->tui, "No match for \"%.*s\"",
				   (int)rt_utf8_cut(typed, 60), typed.ptr == NULL ? "" : typed.ptr);
		return true;
	case RT_ACT_CANCEL: cancel(q); return true;
	case RT_ACT_COMPLETE:
		if (r != NULL && q->on_tab != NULL) {
			q->fn = q->fn == NULL ? NULL : q->on_tab;
			answer(q, r->name);
		} else if (r != NULL && !r->is_new) {
			RT_TRY(&pane->tui->scope, rt_field_set(q->names.field, r->name));
			(void)rt_filter_update(&q->names);
		}
		return true;
	default: return rt_filter_act(&q->names, action);
	}
}

static bool
pick_key(rt_pane *pane, rt_key key)
{
	question *q = of(pane);
	const name_row *r = rt_filter_at(&q->names);

	if (q->on_rename != NULL && r != NULL && rt_key_eq(key, (rt_key){'r', RT_KEY_CTRL})) {
		q->fn = q->fn == NULL ? NULL : q->on_rename;
		answer(q, r->name);
		return true;
	}
	if (of(pane)->may_mark && key.code == ' ' && rt_key_is_text(key)) {
		toggle_name(of(pane));
		return true;
	}
	return rt_filter_key(&of(pane)->names, key);
}

static void
pick_paste(rt_pane *pane, rt_str text)
{
	rt_filter_paste(&of(pane)->names, text);
}

/* Adds names, copied to q->words. */
static void
add_names(question *q, const rt_str *names, size_t count)
{
	rt_scope *s = &q->pane.tui->scope;
	rt_str *all = rt_new_array(s->alloc, q->count + count + 1, sizeof(*all));
	const char *at;

	for (size_t i = 0; i < count; i++)
		rt_buf_add_str(&q->words, names[i]);
	if (all == NULL || q->words.status != RT_OK) {
		rt_free(s->alloc, all);
		(void)rt_scope_nomem(s);
		return;
	}
	at = q->words.ptr == NULL ? "" : q->words.ptr;
	for (size_t i = 0; i < q->count + count; i++) {
		all[i] = rt_str_at(at, i < q->count ? q->all[i].size : names[i - q->count].size);
		at += all[i].size;
	}
	rt_free(s->alloc, q->all);
	q->all = all;
	q->count += count;
}

static void
copy_names(question *q, yyjson_val *names)
{
	rt_scope *s = &q->pane.tui->scope;
	rt_str *texts = rt_scope_array(s, yyjson_arr_size(names) + 1, sizeof(*texts));
	size_t i, max;
	yyjson_val *name;

	if (texts == NULL)
		return;
	yyjson_arr_foreach(names, i, max, name) texts[i] = rt_json_str(name);
	add_names(q, texts, yyjson_arr_size(names));
}

static bool
has_name(const question *q, rt_str name)
{
	for (size_t i = 0; i < q->count; i++)
		if (rt_str_eq(q->all[i], name))
			return true;
	return false;
}

/* Move the cursor to a name, if it is listed. */
static void
go_to_name(question *q, rt_str name)
{
	for (size_t i = 0; i < q->names.list.count; i++)
		if (rt_str_eq(((name_row *)q->names.rows)[i].name, name))
			q->names.list.at = i;
}

/* Models that have arrived; the cursor stays on its name. */
static void
pick_poll(rt_pane *pane)
{
	question *q = of(pane);
	rt_scope *s = &pane->tui->scope;
	const name_row *r = rt_filter_at(&q->names);
	rt_buf *lines;
	rt_str all, one, was, *fresh;
	size_t count = 0;
	bool is_over;

	if (q->models == NULL)
		return;
	lines = rt_scope_buf(s);
	is_over = !rt_models_worker_read(q->models, lines, &q->problems);
	all = rt_scope_str(s, lines);
	if (is_over) {
		rt_models_worker_close(q->models, pane->tui);
		q->models = NULL;
	}
	if (!rt_ok(s) || all.size == 0)
		return;
	was = r == NULL ? RT_STR("") : rt_scope_copy(s, r->name);
	fresh = rt_scope_array(s, all.size, sizeof(*fresh));
	while (fresh != NULL && rt_str_split(&all, '\n', &one))
		if (one.size > 0 && !has_name(q, one))
			fresh[count++] = one;
	if (rt_ok(s))
		add_names(q, fresh, count);
	rt_filter_fill(&q->names);
	go_to_name(q, was);
}

static const rt_pane_ops pick_ops = {
	.screen = RT_SCREEN_FIELD,
	.height = pick_height,
	.draw = pick_draw,
	.act = pick_act,
	.key = pick_key,
	.paste = pick_paste,
	.poll = pick_poll,
	.free = free_question,
};

rt_status
rt_pane_pick(rt_tui *tui, const char *title, yyjson_val *names, bool may_be_new, rt_answer_fn fn,
	     void *ctx, void (*free_ctx)(rt_tui *, void *))
{
	question *q = new_question(tui, &pick_ops, title, fn, ctx, free_ctx);

	if (q == NULL)
		return RT_NOMEM;
	q->pane.footer = "Up, Down choose   Enter OK   Esc cancel   Tab complete";
	q->pane.list = &q->names.list;
	q->may_be_new = may_be_new;
	q->names = (rt_filter){.row_size = sizeof(name_row),
			       .s = &tui->scope,
			       .fill = fill_names,
			       .draw = draw_name,
			       .ctx = q};
	rt_filter_init(&q->names, RT_STR(""));
	copy_names(q, names);
	rt_filter_fill(&q->names);
	return show_question(q);
}

/* The list on top of the stack, or NULL. */
static question *
top_list(rt_tui *tui)
{
	rt_pane *pane = tui->panes[tui->pane_count - 1];

	return pane->ops == &pick_ops ? of(pane) : NULL;
}

void
rt_pane_pick_texts(rt_tui *tui)
{
	if (top_list(tui) != NULL)
		top_list(tui)->are_texts = true;
}

void
rt_pane_pick_columns(rt_tui *tui)
{
	if (top_list(tui) != NULL)
		top_list(tui)->are_columns = true;
}

void
rt_pane_pick_on_tab(rt_tui *tui, rt_answer_fn fn, const char *footer)
{
	question *q = top_list(tui);

	if (q == NULL)
		return;
	q->on_tab = fn;
	q->pane.footer = footer;
}

void
rt_pane_pick_on_rename(rt_tui *tui, rt_answer_fn fn)
{
	question *q = top_list(tui);

	if (q != NULL)
		q->on_rename = fn;
}

void
rt_pane_pick_several(rt_tui *tui)
{
	if (top_list(tui) == NULL)
		return;
	top_list(tui)->may_mark = true;
	tui->panes[tui->pane_count - 1]->footer =
		"Up, Down choose   Enter OK   Esc cancel   Space mark several";
}

void
rt_pane_pick_models(rt_tui *tui, rt_str in_use, rt_str note)
{
	question *q = top_list(tui);

	if (q == NULL || q->models != NULL)
		return;
	q->models = rt_models_worker_start(tui, in_use);
	rt_buf_add_str(&q->note, note);
}

void
rt_pane_pick_begin_on(rt_tui *tui, rt_str name)
{
	question *q = top_list(tui);

	if (q != NULL)
		go_to_name(q, name);
}
