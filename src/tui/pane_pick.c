/* SPDX-License-Identifier: MIT
 *
 * One of many: a list that gets shorter while a part of a name is typed. Below the names that
 * hold it, where that is asked for, is what was typed itself. */
#include "tui/bar.h"
#include "tui/find.h"
#include "tui/list.h"
#include "tui/pane.h"

enum { ROWS_MAX = 14 };

typedef struct picking {
	rt_pane pane; /* first */
	rt_buf title;
	rt_field *field;
	rt_buf names;  /* one behind the other */
	size_t *ends;  /* where each ends */
	size_t count;
	size_t *shown; /* indices of those that hold what is typed */
	rt_list list;  /* of shown, and what was typed where that may be taken */
	bool may_be_new, has_new;
	bool are_texts; /* names begin with what tells them apart */
	int columns;
	rt_answer_fn fn; /* NULL: it was called */
	void *ctx;
	void (*free_ctx)(rt_tui *, void *);
} picking;

static picking *
of(rt_pane *pane)
{
	return (picking *)pane;
}

static rt_str
name_at(const picking *p, size_t at)
{
	size_t from = at > 0 ? p->ends[at - 1] : 0;

	return p->names.size == 0 ? RT_STR("") : rt_str_at(p->names.ptr + from, p->ends[at] - from);
}

/* The rows by what is typed: names that begin with it, then others that hold it. */
static void
filter(picking *p)
{
	rt_str typed = rt_field_text(p->field);
	bool is_known = false;
	size_t i, count = 0;

	for (i = 0; i < p->count; i++) {
		rt_str name = name_at(p, i);

		is_known = is_known || rt_str_eq(name, typed);
		if (rt_find_begins(name, typed))
			p->shown[count++] = i;
	}
	for (i = 0; i < p->count; i++) {
		rt_str name = name_at(p, i);

		if (!rt_find_begins(name, typed) && rt_find_holds(name, typed))
			p->shown[count++] = i;
	}
	p->has_new = p->may_be_new && typed.size > 0 && !is_known;
	p->list.at = 0;
	rt_list_count(&p->list, count + p->has_new);
	/* What was typed to the letter. */
	for (i = 0; i < count; i++)
		if (rt_str_eq(name_at(p, p->shown[i]), typed))
			p->list.at = i;
}

static bool
is_new_at(const picking *p, size_t row)
{
	return p->has_new && row + 1 == p->list.count;
}

static rt_status
tell(picking *p, rt_str text)
{
	rt_tui *tui = p->pane.tui;
	rt_answer_fn fn = p->fn;
	void (*free_ctx)(rt_tui *, void *) = p->free_ctx;
	void *ctx = p->ctx;
	rt_status st;

	if (fn == NULL)
		return RT_OK;
	p->fn = NULL;
	p->free_ctx = NULL;
	rt_tui_close(tui, &p->pane);
	st = fn(tui, ctx, text);
	if (free_ctx != NULL)
		free_ctx(tui, ctx);
	return st;
}

static int
height(rt_pane *pane, int columns, int rows)
{
	picking *p = of(pane);
	size_t all = p->count + p->may_be_new, most = all < ROWS_MAX ? all : ROWS_MAX;
	int want = 2 + (int)(most > 0 ? most : 1);

	(void)columns;
	return want < rows ? want : rows;
}

static void
draw_row(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row)
{
	const picking *p = ctx;
	int x = 2;

	if (is_new_at(p, row)) {
		x = rt_canvas_put_c(canvas, box, x, y, "new: ", RT_INK_DIM);
		(void)rt_canvas_put_cut(canvas, box, x, y, box.w - x, rt_field_text(p->field),
					RT_INK_TEXT);
	} else {
		(void)(p->are_texts ? rt_canvas_put_cut : rt_canvas_put_name)(
			canvas, box, x, y, box.w - x, name_at(p, p->shown[row]), RT_INK_TEXT);
	}
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	picking *p = of(pane);
	rt_box line = {box.x + 2, box.y + (box.h > 1), box.w - 2, 1};
	int head = box.h > 1 ? 2 : 1;
	rt_box rows = {box.x, box.y + head, box.w, box.h - head};
	rt_buf ways;

	p->columns = line.w;
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
	rt_buf_init(&ways, pane->tui->alloc, RT_BUF_UNLIMITED);
	rt_bar_add_ways(&ways, pane->tui->keys);
	if (box.h > 1)
		rt_bar_draw(canvas, box, rt_buf_str(&p->title), rt_buf_str(&ways));
	rt_buf_deinit(&ways);
	rt_field_draw(p->field, canvas, line, RT_INK_TEXT, true);
	rt_list_draw(&p->list, canvas, rows, draw_row, p);
	if (p->list.count == 0 && box.h > head)
		(void)rt_canvas_put_c(canvas, box, 2, head,
				      p->count == 0 ? "There is none." : "No match.",
				      RT_INK_DIM);
}

static rt_status
accept(picking *p)
{
	rt_str typed = rt_field_text(p->field);

	if (p->list.count > 0 && !is_new_at(p, p->list.at))
		return tell(p, name_at(p, p->shown[p->list.at]));
	if (p->list.count > 0)
		return tell(p, typed);
	rt_tui_say(p->pane.tui, "None is called \"%.*s\"", (int)rt_utf8_cut(typed, 60),
		   typed.ptr == NULL ? "" : typed.ptr);
	return RT_OK;
}

static rt_status
act(rt_pane *pane, rt_action action, bool *out_used)
{
	picking *p = of(pane);
	rt_status st;

	*out_used = true;
	switch (action) {
	case RT_ACT_ACCEPT: return accept(p);
	case RT_ACT_CANCEL: return tell(p, rt_str_at(NULL, 0));
	case RT_ACT_UP:
	case RT_ACT_DOWN:
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN:
		(void)rt_list_act(&p->list, action);
		return RT_OK;
	case RT_ACT_COMPLETE:
		if (p->list.count == 0 || is_new_at(p, p->list.at))
			return RT_OK;
		st = rt_field_set(p->field, name_at(p, p->shown[p->list.at]));
		break;
	default:
		st = rt_field_act(p->field, action, p->columns, out_used);
		break;
	}
	if (st == RT_OK && *out_used)
		filter(p);
	return st;
}

static rt_status
key(rt_pane *pane, rt_key k, bool *out_used)
{
	picking *p = of(pane);
	rt_status st = rt_field_key(p->field, k, out_used);

	if (st == RT_OK && *out_used)
		filter(p);
	return st;
}

static rt_status
paste(rt_pane *pane, rt_str text)
{
	picking *p = of(pane);
	rt_status st = rt_field_insert(p->field, text);

	if (st == RT_OK)
		filter(p);
	return st;
}

static void
free_picking(rt_pane *pane)
{
	picking *p = of(pane);
	const rt_alloc *alloc = pane->tui->alloc;

	if (p->free_ctx != NULL)
		p->free_ctx(pane->tui, p->ctx);
	rt_field_free(p->field);
	rt_buf_deinit(&p->title);
	rt_buf_deinit(&p->names);
	rt_free(alloc, p->ends);
	rt_free(alloc, p->shown);
	rt_free(alloc, p);
}

static const rt_pane_ops ops = {
	.screen = RT_SCREEN_FIELD,
	.height = height,
	.draw = draw,
	.act = act,
	.key = key,
	.paste = paste,
	.free = free_picking,
};

static rt_status
take_names(picking *p, const rt_alloc *alloc, yyjson_val *names)
{
	size_t count = yyjson_arr_size(names), i, max;
	yyjson_val *name;

	p->ends = rt_new_array(alloc, count + 1, sizeof(*p->ends));
	p->shown = rt_new_array(alloc, count + 1, sizeof(*p->shown));
	if (p->ends == NULL || p->shown == NULL)
		return RT_NOMEM;
	yyjson_arr_foreach(names, i, max, name) {
		rt_buf_add_str(&p->names, rt_json_str(name));
		p->ends[i] = p->names.size;
	}
	p->count = count;
	return p->names.status;
}

rt_status
rt_pane_pick(rt_tui *tui, const char *title, yyjson_val *names, bool may_be_new, rt_answer_fn fn,
	     void *ctx, void (*free_ctx)(rt_tui *, void *))
{
	picking *p = rt_new0(tui->alloc, sizeof(*p));
	rt_status st;

	if (p == NULL) {
		if (free_ctx != NULL)
			free_ctx(tui, ctx);
		return RT_NOMEM;
	}
	p->pane.ops = &ops;
	p->pane.footer = "Up, Down choose   Enter ok   Esc cancel   Tab complete";
	p->pane.tui = tui;
	p->may_be_new = may_be_new;
	p->fn = fn;
	p->ctx = ctx;
	p->free_ctx = free_ctx;
	rt_buf_init(&p->title, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&p->names, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&p->title, title);
	st = rt_field_new(tui->alloc, false, &p->field);
	if (st == RT_OK)
		st = take_names(p, tui->alloc, names);
	if (st == RT_OK)
		st = p->title.status;
	if (st != RT_OK) {
		free_picking(&p->pane);
		return st;
	}
	filter(p);
	return rt_tui_push(tui, &p->pane);
}

void
rt_pane_pick_texts(rt_tui *tui)
{
	rt_pane *pane = tui->panes[tui->pane_count - 1];

	if (pane->ops == &ops)
		of(pane)->are_texts = true;
}

void
rt_pane_pick_begin_on(rt_tui *tui, rt_str name)
{
	rt_pane *pane = tui->panes[tui->pane_count - 1];
	picking *p = of(pane);
	size_t i;

	if (pane->ops != &ops)
		return;
	for (i = 0; i < p->list.count && !is_new_at(p, i); i++)
		if (rt_str_eq(name_at(p, p->shown[i]), name))
			p->list.at = i;
}
