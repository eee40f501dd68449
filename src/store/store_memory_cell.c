/* SPDX-License-Identifier: MIT
 *
 * Cells, tables of cells, and the list of changes. */
#include "store/store_memory_cell.h"

enum { CELLS_FIRST = 16 };

/* --- cells and tables --- */

rt_cell_value *
rt_cell_value_new(const rt_alloc *alloc, rt_str data, uint64_t extra)
{
	rt_cell_value *v;

	if (data.size > SIZE_MAX - sizeof(*v))
		return NULL;
	v = rt_new(alloc, sizeof(*v) + data.size);
	if (v == NULL)
		return NULL;
	v->extra = extra;
	memset(v->step, 0, sizeof(v->step));
	v->size = data.size;
	if (data.size > 0)
		memcpy(v->bytes, data.ptr, data.size);
	return v;
}

rt_str
rt_cell_str(const rt_cell_value *v)
{
	return rt_str_at(v->bytes, v->size);
}

void
rt_cell_free(const rt_alloc *alloc, rt_cell *c)
{
	if (c == NULL)
		return;
	if (c->now != c->kept)
		rt_free(alloc, c->now);
	rt_free(alloc, c->kept);
	rt_free(alloc, c);
}

static int
cell_cmp(const rt_cell *c, uint64_t number, rt_str name)
{
	if (c->number != number)
		return c->number < number ? -1 : 1;
	return rt_str_cmp(rt_str_at(c->name, c->name_size), name);
}

size_t
rt_cell_table_at(const rt_cell_table *t, uint64_t number, rt_str name)
{
	size_t low = 0, high = t->count;

	if (high > 0 && cell_cmp(t->cells[high - 1], number, name) < 0)
		return high; /* the usual case: the end */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cell_cmp(t->cells[mid], number, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

rt_cell *
rt_cell_table_get(const rt_cell_table *t, uint64_t number, rt_str name)
{
	size_t at = rt_cell_table_at(t, number, name);

	if (at == t->count || cell_cmp(t->cells[at], number, name) != 0)
		return NULL;
	return t->cells[at];
}

/* The cell of the key, made empty when it is missing. NULL: no memory. */
static rt_cell *
table_make(const rt_alloc *alloc, rt_cell_table *t, uint64_t number, rt_str name)
{
	size_t at = rt_cell_table_at(t, number, name);
	rt_cell *c;

	if (at < t->count && cell_cmp(t->cells[at], number, name) == 0)
		return t->cells[at];
	if (t->count == t->room) {
		size_t room = t->room == 0 ? CELLS_FIRST : t->room * 2;
		rt_cell **cells = rt_resize(alloc, t->cells, room * sizeof(*cells));

		if (cells == NULL)
			return NULL;
		t->cells = cells;
		t->room = room;
	}
	c = rt_new0(alloc, sizeof(*c) + name.size);
	if (c == NULL)
		return NULL;
	c->number = number;
	c->name_size = name.size;
	if (name.size > 0)
		memcpy(c->name, name.ptr, name.size);
	memmove(t->cells + at + 1, t->cells + at, (t->count - at) * sizeof(rt_cell *));
	t->cells[at] = c;
	t->count++;
	return c;
}

static void
table_remove(const rt_alloc *alloc, rt_cell_table *t, rt_cell *c)
{
	size_t at = rt_cell_table_at(t, c->number, rt_str_at(c->name, c->name_size));

	RT_ASSERT(at < t->count);
	RT_ASSERT(t->cells[at] == c);
	memmove(t->cells + at, t->cells + at + 1, (t->count - at - 1) * sizeof(rt_cell *));
	t->count--;
	rt_cell_free(alloc, c);
}

void
rt_cell_table_deinit(const rt_alloc *alloc, rt_cell_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		rt_cell_free(alloc, t->cells[i]);
	rt_free(alloc, t->cells);
}

/* --- changes --- */

bool
rt_cell_reserve(rt_cell_changes *list)
{
	size_t room = list->room == 0 ? CELLS_FIRST : list->room * 2;
	rt_cell_change *items;

	if (list->count < list->room)
		return true;
	items = rt_resize(list->alloc, list->items, room * sizeof(*items));
	if (items == NULL)
		return false;
	list->items = items;
	list->room = room;
	return true;
}

void
rt_cell_set(rt_cell_changes *list, rt_cell_table *in, rt_cell *c, rt_cell_value *v)
{
	if (c->now != c->kept)
		rt_free(list->alloc, c->now);
	c->now = v;
	if (c->listed)
		return;
	RT_ASSERT(list->count < list->room);
	list->items[list->count].in = in;
	list->items[list->count].what = c;
	list->count++;
	c->listed = true;
}

rt_status
rt_cell_put(rt_cell_changes *list, rt_cell_table *in, uint64_t number, rt_str name, rt_str data,
	    uint64_t extra, const unsigned char *step, rt_error *err)
{
	rt_cell_value *v = rt_cell_value_new(list->alloc, data, extra);
	rt_cell *c = NULL;

	if (v != NULL && step != NULL)
		memcpy(v->step, step, sizeof(v->step));
	if (v != NULL && rt_cell_reserve(list))
		c = table_make(list->alloc, in, number, name);
	if (c == NULL) {
		rt_free(list->alloc, v);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	rt_cell_set(list, in, c, v);
	return RT_OK;
}

rt_status
rt_cell_drop(rt_cell_changes *list, rt_cell_table *in, uint64_t number, rt_str name, rt_error *err)
{
	rt_cell *c = rt_cell_table_get(in, number, name);

	if (c == NULL || c->now == NULL)
		return RT_OK;
	if (!rt_cell_reserve(list))
		return rt_fail(err, RT_NOMEM, "out of memory");
	rt_cell_set(list, in, c, NULL);
	return RT_OK;
}

void
rt_cell_take_back(rt_cell_changes *list, size_t to_count)
{
	while (list->count > to_count) {
		rt_cell_change ch = list->items[--list->count];

		rt_free(list->alloc, ch.what->now);
		ch.what->now = NULL;
		table_remove(list->alloc, ch.in, ch.what);
	}
}

void
rt_cell_settle(rt_cell_changes *list, bool keep)
{
	while (list->count > 0) {
		rt_cell_change ch = list->items[--list->count];
		rt_cell *c = ch.what;
		rt_cell_value *gone = keep ? c->kept : c->now;

		if (c->now != c->kept)
			rt_free(list->alloc, gone);
		c->kept = c->now = keep ? c->now : c->kept;
		c->listed = false;
		if (c->now == NULL && ch.in != NULL)
			table_remove(list->alloc, ch.in, c);
	}
}
