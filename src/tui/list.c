/* SPDX-License-Identifier: MIT */
#include "tui/list.h"

#include "tui/bar.h"

bool
rt_list_act(rt_list *list, rt_action action)
{
	size_t last = list->count > 0 ? list->count - 1 : 0;
	size_t page = list->rows > 1 ? list->rows - 1 : 1;

	switch (action) {
	case RT_ACT_UP: list->at -= list->at > 0; return true;
	case RT_ACT_DOWN: list->at += list->at < last; return true;
	case RT_ACT_PAGE_UP: list->at -= list->at > page ? page : list->at; return true;
	case RT_ACT_PAGE_DOWN:
		list->at += last - list->at > page ? page : last - list->at;
		return true;
	case RT_ACT_HOME: list->at = 0; return true;
	case RT_ACT_END: list->at = last; return true;
	default: return false;
	}
}

void
rt_list_count(rt_list *list, size_t count)
{
	list->count = count;
	if (list->at >= count)
		list->at = count > 0 ? count - 1 : 0;
}

void
rt_list_fit(rt_list *list, int rows)
{
	list->rows = rows > 0 ? (size_t)rows : 0;
	if (list->rows == 0)
		return;
	if (list->at < list->top)
		list->top = list->at;
	if (list->at - list->top >= list->rows)
		list->top = list->at - list->rows + 1;
	/* No blank rows below while some are hidden above. */
	if (list->top + list->rows > list->count)
		list->top = list->count > list->rows ? list->count - list->rows : 0;
}

size_t
rt_list_seen(const rt_list *list)
{
	return list->count - list->top < list->rows ? list->count - list->top : list->rows;
}

void
rt_list_draw(rt_list *list, rt_canvas *canvas, rt_box box, rt_list_draw_fn draw, void *ctx)
{
	list->box = box;
	rt_list_fit(list, box.h);
	for (size_t i = 0; i < rt_list_seen(list); i++) {
		draw(ctx, canvas, box, (int)i, list->top + i);
		if (list->top + i == list->at)
			rt_bar_select(canvas, box, (int)i);
	}
}

/* ---- filtered by typing ---- */

void
rt_filter_init(rt_filter *f, rt_str text)
{
	rt_buf_init(&f->typed, f->s->alloc, RT_BUF_UNLIMITED);
	RT_TRY(f->s, rt_field_new(f->s->alloc, false, &f->field));
	if (text.size > 0)
		RT_TRY(f->s, rt_field_set(f->field, text));
}

void
rt_filter_deinit(rt_filter *f)
{
	rt_field_free(f->field);
	rt_free(f->typed.alloc, f->rows);
	rt_buf_deinit(&f->typed);
}

void
rt_filter_add(rt_filter *f, const void *row)
{
	void *item = rt_ok(f->s) ? rt_array_add(f->s->alloc, &f->rows, &f->list.count, &f->capacity,
						f->row_size)
				 : NULL;

	if (item != NULL)
		memcpy(item, row, f->row_size);
	else
		(void)rt_scope_nomem(f->s);
}

void *
rt_filter_at(const rt_filter *f)
{
	return f->list.count > 0 ? (char *)f->rows + f->list.at * f->row_size : NULL;
}

void
rt_filter_fill(rt_filter *f)
{
	f->list.count = 0;
	rt_buf_clear(&f->typed);
	if (rt_ok(f->s))
		rt_buf_add_str(&f->typed, rt_field_text(f->field));
	(void)rt_scope_str(f->s, &f->typed);
	if (rt_ok(f->s))
		f->fill(f->ctx, rt_buf_str(&f->typed));
	rt_list_count(&f->list, rt_ok(f->s) ? f->list.count : 0);
}

bool
rt_filter_update(rt_filter *f)
{
	if (!rt_ok(f->s) || rt_str_eq(rt_field_text(f->field), rt_buf_str(&f->typed)))
		return false;
	f->list.at = f->list.top = 0;
	rt_filter_fill(f);
	return true;
}

bool
rt_filter_act(rt_filter *f, rt_action action)
{
	bool used = false;

	switch (action) {
	case RT_ACT_UP:
	case RT_ACT_DOWN:
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN: return rt_list_act(&f->list, action);
	default: break;
	}
	RT_TRY(f->s, rt_field_act(f->field, action, f->columns, &used));
	if (used)
		(void)rt_filter_update(f);
	return used;
}

bool
rt_filter_key(rt_filter *f, rt_key key)
{
	bool used = false;

	RT_TRY(f->s, rt_field_key(f->field, key, &used));
	if (used)
		(void)rt_filter_update(f);
	return used;
}

void
rt_filter_paste(rt_filter *f, rt_str text)
{
	RT_TRY(f->s, rt_field_insert(f->field, text));
	(void)rt_filter_update(f);
}

void
rt_filter_draw_field(rt_filter *f, rt_canvas *canvas, rt_box box)
{
	f->columns = box.w;
	rt_field_draw(f->field, canvas, box, RT_INK_TEXT, true);
}

void
rt_filter_draw_rows(rt_filter *f, rt_canvas *canvas, rt_box box, int x, const char *empty)
{
	rt_list_draw(&f->list, canvas, box, f->draw, f->ctx);
	if (f->list.count == 0 && box.h > 0)
		(void)rt_canvas_put_c(canvas, box, x, 0, empty, RT_INK_DIM);
}
