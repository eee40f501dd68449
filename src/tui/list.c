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
	case RT_ACT_PAGE_DOWN: list->at += last - list->at > page ? page : last - list->at; return true;
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
	/* No blank rows below while there are some above. */
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
	rt_list_fit(list, box.h);
	for (size_t i = 0; i < rt_list_seen(list); i++) {
		draw(ctx, canvas, box, (int)i, list->top + i);
		if (list->top + i == list->at)
			rt_bar_select(canvas, box, (int)i);
	}
}

void *
rt_list_grow(const rt_alloc *alloc, void *rows, size_t count, size_t *room, size_t size)
{
	size_t more = *room > 0 ? *room * 2 : 64;
	void *grown = rows;

	if (count == *room) {
		grown = rt_resize(alloc, rows, more * size);
		*room = grown != NULL ? more : *room;
	}
	return grown;
}
