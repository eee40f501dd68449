/* SPDX-License-Identifier: MIT
 *
 * A sorted array of counted texts, copied on every change; there are dozens, not
 * thousands. */
#include "core/fields.h"

typedef struct pair {
	const rt_text *name, *value;
} pair;

struct rt_fields {
	rt_object object;
	size_t count;
	pair pairs[];
};

static void
fields_free(rt_object *object)
{
	rt_fields *f = (rt_fields *)object;
	size_t i;

	for (i = 0; i < f->count; i++) {
		rt_text_unref(f->pairs[i].name);
		rt_text_unref(f->pairs[i].value);
	}
	rt_free(object->alloc, f);
}

static rt_fields *
fields_alloc(const rt_alloc *alloc, size_t room)
{
	rt_fields *f = rt_new(alloc, sizeof(*f) + room * sizeof(pair));

	if (f == NULL)
		return NULL;
	rt_object_init(&f->object, alloc, fields_free);
	f->count = 0;
	return f;
}

rt_status
rt_fields_new(const rt_alloc *alloc, const rt_fields **out_fields)
{
	rt_fields *f = fields_alloc(alloc, 0);

	if (f == NULL)
		return RT_NOMEM;
	*out_fields = f;
	return RT_OK;
}

/* The index of name, or where it has to be inserted. */
static size_t
place(const rt_fields *f, rt_str name, bool *found)
{
	size_t low = 0, high = f->count;

	*found = false;
	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = rt_str_cmp(rt_text_str(f->pairs[mid].name), name);

		if (order == 0) {
			*found = true;
			return mid;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

rt_str
rt_fields_get(const rt_fields *fields, rt_str name)
{
	bool found;
	size_t at = place(fields, name, &found);

	return found ? rt_text_str(fields->pairs[at].value) : rt_str_at(NULL, 0);
}

size_t
rt_fields_count(const rt_fields *fields)
{
	return fields->count;
}

rt_str
rt_fields_name(const rt_fields *fields, size_t at)
{
	return rt_text_str(fields->pairs[at].name);
}

rt_str
rt_fields_value(const rt_fields *fields, size_t at)
{
	return rt_text_str(fields->pairs[at].value);
}

rt_status
rt_fields_set(const rt_fields *fields, rt_str name, rt_str value, const rt_fields **out_fields)
{
	bool found;
	size_t at = place(fields, name, &found), i;
	const rt_alloc *alloc = fields->object.alloc;
	rt_fields *next;
	pair fresh = {NULL, NULL};

	if (value.ptr == NULL && !found) {
		*out_fields = rt_object_ref(fields);
		return RT_OK;
	}
	next = fields_alloc(alloc, fields->count + 1);
	if (next == NULL)
		return RT_NOMEM;
	if (value.ptr != NULL) {
		fresh.name = rt_text_new(alloc, name);
		fresh.value = rt_text_new(alloc, value);
		if (fresh.name == NULL || fresh.value == NULL) {
			rt_text_unref(fresh.name);
			rt_text_unref(fresh.value);
			rt_object_unref(next);
			return RT_NOMEM;
		}
	}
	for (i = 0; i <= fields->count; i++) {
		if (i == at && fresh.name != NULL)
			next->pairs[next->count++] = fresh;
		if (i == fields->count || (i == at && found))
			continue;
		next->pairs[next->count].name = rt_text_ref(fields->pairs[i].name);
		next->pairs[next->count++].value = rt_text_ref(fields->pairs[i].value);
	}
	*out_fields = next;
	return RT_OK;
}
