/* SPDX-License-Identifier: MIT
 *
 * Small questions below what they are about: a text, or one of a few answers. */
#include "tui/bar.h"
#include "tui/pane.h"

enum { CHOICES_MAX = 12, ROWS_MAX = 12 };

typedef struct asking {
	rt_pane pane; /* first */
	rt_buf title;
	rt_field *field;             /* NULL: one of the choices */
	rt_choice choices[CHOICES_MAX];
	rt_key keys[CHOICES_MAX];
	rt_buf words;                /* what the choices point into */
	rt_buf was;                  /* the text as it was given, where it has several lines */
	bool is_kept;                /* what differs from it is not to be lost */
	size_t count, at;
	int columns;
	rt_answer_fn fn;             /* NULL: it was called */
	void *ctx;
	void (*free_ctx)(rt_tui *, void *);
} asking;

static asking *
of(rt_pane *pane)
{
	return (asking *)pane;
}

/* The pane is closed; the caller is told once. */
static rt_status
tell(asking *a, rt_str text)
{
	rt_tui *tui = a->pane.tui;
	rt_answer_fn fn = a->fn;
	void (*free_ctx)(rt_tui *, void *) = a->free_ctx;
	void *ctx = a->ctx;
	rt_status st;

	if (fn == NULL)
		return RT_OK;
	a->fn = NULL;
	a->free_ctx = NULL;
	rt_tui_close(tui, &a->pane);
	st = fn(tui, ctx, text);
	if (free_ctx != NULL)
		free_ctx(tui, ctx);
	return st;
}

/* An empty answer is one, too. */
static rt_status
answer(asking *a, rt_str text)
{
	return tell(a, text.size == 0 ? RT_STR("") : text);
}

static rt_status
cancel(asking *a)
{
	return tell(a, rt_str_at(NULL, 0));
}

static void
free_asking(rt_pane *pane)
{
	asking *a = of(pane);

	if (a->free_ctx != NULL)
		a->free_ctx(pane->tui, a->ctx);
	rt_field_free(a->field);
	rt_buf_deinit(&a->title);
	rt_buf_deinit(&a->words);
	rt_buf_deinit(&a->was);
	rt_free(pane->tui->alloc, a);
}

/* Its title; how the caller is told comes when all else went well. */
static rt_status
new_asking(rt_tui *tui, const rt_pane_ops *ops, const char *title, asking **out)
{
	asking *a = rt_new0(tui->alloc, sizeof(*a));

	if (a == NULL)
		return RT_NOMEM;
	a->pane.ops = ops;
	a->pane.tui = tui;
	rt_buf_init(&a->title, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&a->words, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&a->was, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&a->title, title);
	*out = a;
	return a->title.status;
}

/* --- a text --- */

static int
text_height(rt_pane *pane, int columns, int rows)
{
	asking *a = of(pane);
	int limit = rows / 2 < ROWS_MAX ? rows / 2 : ROWS_MAX;

	return 1 + rt_field_rows(a->field, &pane->tui->canvas, columns - 2, limit > 1 ? limit : 1);
}

static void
draw_title(asking *a, rt_canvas *canvas, rt_box box)
{
	rt_buf ways;

	rt_buf_init(&ways, a->pane.tui->alloc, RT_BUF_UNLIMITED);
	rt_bar_add_ways(&ways, a->pane.tui->keys);
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	rt_bar_draw(canvas, box, rt_buf_str(&a->title), rt_buf_str(&ways));
	rt_buf_deinit(&ways);
}

static void
text_draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	asking *a = of(pane);
	bool has_title = box.h > 1;
	rt_box body = {box.x + 2, box.y + has_title, box.w - 2, box.h - has_title};

	a->columns = body.w;
	if (has_title)
		draw_title(a, canvas, box);
	else
		rt_canvas_fill(canvas, box, RT_INK_TEXT);
	(void)rt_canvas_put(canvas, box, 0, has_title, rt_canvas_glyph(canvas, RT_GLYPH_CURSOR),
			    RT_INK_DIM);
	rt_field_draw(a->field, canvas, body, RT_INK_TEXT, true);
}

/* The same text in the person's editor; what comes back is still to be accepted. */
static rt_status
edit(asking *a)
{
	rt_tui *tui = a->pane.tui;
	bool is_changed = false;
	rt_error err;
	rt_status st;
	rt_buf text;

	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_tui_edit(tui, rt_field_text(a->field), "text", &text, &is_changed, &err);
	if (st == RT_OK && is_changed)
		st = rt_field_set(a->field, rt_buf_str(&text));
	else if (st != RT_OK && st != RT_NOMEM)
		rt_tui_say_error(tui, &err, rt_buf_str(&tui->work.hint));
	rt_buf_deinit(&text);
	return st == RT_NOMEM ? st : RT_OK;
}

static rt_str
text_written(rt_pane *pane)
{
	asking *a = of(pane);
	rt_str text = rt_field_text(a->field);

	return a->is_kept && rt_str_trim(text).size > 0 && !rt_str_eq(text, rt_buf_str(&a->was))
		       ? text
		       : rt_str_at(NULL, 0);
}

/* What was written stays to be had. */
static rt_status
leave_text(asking *a)
{
	rt_tui *tui = a->pane.tui;
	rt_str text = text_written(&a->pane);
	rt_buf kept;
	rt_status st;

	rt_buf_init(&kept, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&kept, text);
	st = cancel(a);
	if (st == RT_OK && kept.size > 0)
		rt_tui_remember_input(tui, rt_buf_str(&kept));
	rt_buf_deinit(&kept);
	return st;
}

static rt_status
text_act(rt_pane *pane, rt_action action, bool *out_used)
{
	asking *a = of(pane);

	*out_used = true;
	if (action == RT_ACT_EDITOR)
		return edit(a);
	if (action == RT_ACT_ACCEPT)
		return answer(a, rt_field_text(a->field));
	if (action == RT_ACT_CANCEL)
		return leave_text(a);
	return rt_field_act(a->field, action, a->columns, out_used);
}

static rt_status
text_key(rt_pane *pane, rt_key key, bool *out_used)
{
	return rt_field_key(of(pane)->field, key, out_used);
}

static rt_status
text_paste(rt_pane *pane, rt_str text)
{
	return rt_field_insert(of(pane)->field, text);
}

static rt_status
text_purged(rt_pane *pane, rt_str what)
{
	asking *a = of(pane);

	rt_field_forget(a->field);
	return what.size > 0 ? rt_field_mask(a->field, what) : RT_OK;
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
	.free = free_asking,
};

rt_status
rt_pane_ask(rt_tui *tui, const char *title, rt_str text, bool several_lines, rt_answer_fn fn,
	    void *ctx, void (*free_ctx)(rt_tui *, void *))
{
	asking *a = NULL;
	rt_status st = new_asking(tui, &text_ops, title, &a);

	if (st == RT_OK)
		st = rt_field_new(tui->alloc, several_lines, &a->field);
	if (st == RT_OK && text.size > 0)
		st = rt_field_set(a->field, text);
	if (st == RT_OK && several_lines) {
		a->is_kept = true;
		rt_buf_add_str(&a->was, text);
		st = a->was.status;
	}
	if (st == RT_OK && !several_lines) { /* there is no new line in it */
		rt_keymap_add_key(tui->keys, RT_SCREEN_FIELD, RT_ACT_EDITOR, &a->words);
		rt_buf_add_c(&a->words, a->words.size > 0 ? " editor" : "");
		st = a->words.status;
		a->pane.footer = a->words.ptr;
	}
	if (a != NULL) {
		a->fn = fn;
		a->ctx = ctx;
		a->free_ctx = free_ctx;
	} else if (free_ctx != NULL) {
		free_ctx(tui, ctx);
	}
	if (st == RT_OK)
		return rt_tui_push(tui, &a->pane);
	if (a != NULL)
		free_asking(&a->pane);
	return st;
}

/* --- one of a few --- */

static int
choice_height(rt_pane *pane, int columns, int rows)
{
	int want = (int)of(pane)->count + 1;

	(void)columns;
	return want < rows ? want : rows;
}

static void
choice_draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	asking *a = of(pane);
	size_t top = 0, i, rows = box.h > 1 ? (size_t)box.h - 1 : 0;
	rt_buf word;

	draw_title(a, canvas, box);
	if (rows > 0 && a->at >= rows)
		top = a->at - rows + 1;
	rt_buf_init(&word, pane->tui->alloc, 256);
	for (i = 0; i < rows && top + i < a->count; i++) {
		const rt_choice *choice = &a->choices[top + i];
		int y = (int)i + 1, x;

		rt_buf_clear(&word);
		rt_key_add_word(&word, a->keys[top + i], true);
		x = rt_canvas_put(canvas, box, 2, y, rt_buf_str(&word), RT_INK_TEXT | RT_INK_BOLD);
		(void)rt_canvas_put_cut(canvas, box, x + 2, y, box.w - x - 2,
					rt_str_of(choice->what), RT_INK_TEXT);
		if (top + i == a->at)
			rt_bar_select(canvas, box, y);
	}
	rt_buf_deinit(&word);
}

static rt_status
choice_act(rt_pane *pane, rt_action action, bool *out_used)
{
	asking *a = of(pane);

	*out_used = true;
	switch (action) {
	case RT_ACT_ACCEPT: return answer(a, rt_str_of(a->choices[a->at].word));
	case RT_ACT_CANCEL: return cancel(a);
	case RT_ACT_UP: a->at -= a->at > 0; return RT_OK;
	case RT_ACT_DOWN: a->at += a->at + 1 < a->count; return RT_OK;
	case RT_ACT_HOME: a->at = 0; return RT_OK;
	case RT_ACT_END: a->at = a->count - 1; return RT_OK;
	default: *out_used = false; return RT_OK;
	}
}

static rt_status
choice_key(rt_pane *pane, rt_key key, bool *out_used)
{
	asking *a = of(pane);
	size_t i;

	/* What is no answer is nothing else either while it is asked. */
	*out_used = rt_key_is_text(key);
	for (i = 0; i < a->count; i++)
		if (rt_key_eq(a->keys[i], key)) {
			*out_used = true;
			return answer(a, rt_str_of(a->choices[i].word));
		}
	return RT_OK;
}

static const rt_pane_ops choice_ops = {
	.screen = RT_SCREEN_FIELD,
	.height = choice_height,
	.draw = choice_draw,
	.act = choice_act,
	.key = choice_key,
	.free = free_asking,
};

/* The caller's words may be gone by the time of the answer. */
static rt_status
copy_choices(asking *a, const rt_choice *choices, size_t count)
{
	rt_status st = RT_OK;
	const char *p;
	size_t i;

	for (i = 0; i < count; i++) {
		rt_buf_add(&a->words, choices[i].word, strlen(choices[i].word) + 1);
		rt_buf_add(&a->words, choices[i].what, strlen(choices[i].what) + 1);
	}
	p = a->words.ptr;
	for (i = 0; i < count && a->words.status == RT_OK && st == RT_OK; i++) {
		a->choices[i].word = p;
		p += strlen(p) + 1;
		a->choices[i].what = p;
		p += strlen(p) + 1;
		st = rt_key_read(rt_str_of(choices[i].key), &a->keys[i], NULL);
	}
	a->count = count;
	return a->words.status != RT_OK ? a->words.status : st;
}

rt_status
rt_pane_choose(rt_tui *tui, const char *question, const rt_choice *choices, size_t count,
	       rt_answer_fn fn, void *ctx, void (*free_ctx)(rt_tui *, void *))
{
	asking *a = NULL;
	rt_status st = new_asking(tui, &choice_ops, question, &a);

	RT_ASSERT(count > 0 && count <= CHOICES_MAX);
	if (st == RT_OK)
		st = copy_choices(a, choices, count);
	if (st == RT_OK)
		a->pane.footer = "Up, Down choose   Enter ok   Esc cancel";
	if (a != NULL) {
		a->fn = fn;
		a->ctx = ctx;
		a->free_ctx = free_ctx;
	} else if (free_ctx != NULL) {
		free_ctx(tui, ctx);
	}
	if (st == RT_OK)
		return rt_tui_push(tui, &a->pane);
	if (a != NULL)
		free_asking(&a->pane);
	return st;
}
