/* SPDX-License-Identifier: MIT
 *
 * Model: the current operation: its fields, and the meaning of its addresses. Contract rules are
 * named where they apply, here and in the operations. */
#include <stdarg.h>
#include <stdio.h>

#include "model_impl.h"

rt_status
model_fail(model_call *c, rt_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->out->why, sizeof(c->out->why), format, args);
	va_end(args);
	return status;
}

rt_status
model_unchanged(model_call *c)
{
	c->out->unchanged = true;
	return RT_OK;
}

yyjson_val *
model_field(const model_call *c, const char *name)
{
	return rt_json_get(c->op, name);
}

rt_str
model_str_field(const model_call *c, const char *name)
{
	return rt_json_str(model_field(c, name));
}

bool
model_bool_field(const model_call *c, const char *name, bool otherwise)
{
	yyjson_val *value = model_field(c, name);

	return value == NULL ? otherwise : yyjson_is_true(value);
}

/* ":7", ":-1" */
static bool
position_of(rt_str s, size_t count, size_t *out_at)
{
	bool from_end;
	size_t i = 1, n = 0;

	if (s.size < 2 || s.ptr[0] != ':')
		return false;
	from_end = s.ptr[1] == '-';
	i += from_end;
	if (i == s.size)
		return false;
	for (; i < s.size; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
		if (n < 1000000)
			n = n * 10 + (size_t)(s.ptr[i] - '0');
	}
	*out_at = n == 0 || n > count ? SIZE_MAX : from_end ? count - n : n - 1;
	return true;
}

rt_status
model_resolve(model_call *c, size_t take_index, rt_str address, int *out)
{
	const model_disc *d = model_disc_of(c->m, c->doc);
	const model_take *take = &d->takes[take_index];
	int found = -1;
	size_t at, t, i;

	if (rt_str_is(address, "@")) {
		int head = take_index == d->active ? d->head : MODEL_TIP;

		if (head == MODEL_TIP)
			head = take->count > 0 ? take->slots[take->count - 1].entity : MODEL_START;
		if (head == MODEL_START)
			return FAIL(c, NOT_FOUND, "the head is before the first entry");
		*out = head;
		return RT_OK;
	}
	if (position_of(address, take->count, &at)) {
		if (at == SIZE_MAX)
			return FAIL(c, NOT_FOUND, "no such position");
		*out = take->slots[at].entity;
		return RT_OK;
	}
	*out = model_entity_with_id(c->m, c->doc, address);
	if (*out >= 0)
		return RT_OK;
	for (i = 0; i < d->label_count; i++) {
		if (!rt_str_eq(d->labels[i].text, address) ||
		    !model_present(d, d->labels[i].entity))
			continue;
		if (found >= 0)
			return FAIL(c, AMBIGUOUS, "two entries have that label");
		found = d->labels[i].entity;
	}
	if (found < 0 && address.size > 0) {
		for (t = 0; t < d->take_count; t++)
			for (i = 0; i < d->takes[t].count; i++) {
				int entity = d->takes[t].slots[i].entity;

				if (entity == found ||
				    !rt_str_starts(c->m->entities[entity].id, address))
					continue;
				if (found >= 0)
					return FAIL(c, AMBIGUOUS, "two entries begin so");
				found = entity;
			}
	}
	if (found < 0)
		return FAIL(c, NOT_FOUND, "no entry %.*s", RT_STR_ARG(address));
	*out = found;
	return RT_OK;
}

rt_status
model_resolve_in_take(model_call *c, size_t take_index, rt_str address, int *out, size_t *out_at)
{
	rt_status st = model_resolve(c, take_index, address, out);

	if (st != RT_OK)
		return st;
	*out_at = model_slot_find(&model_disc_of(c->m, c->doc)->takes[take_index], *out);
	if (*out_at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "the entry is not in the take");
	return RT_OK;
}

rt_status
model_resolve_in_disc(model_call *c, rt_str address, int *out, size_t *out_take)
{
	const model_disc *d = model_disc_of(c->m, c->doc);
	rt_status st = model_resolve(c, c->take, address, out);
	size_t t, any = SIZE_MAX;

	if (st != RT_OK)
		return st;
	*out_take = c->take;
	if (model_slot_find(&d->takes[c->take], *out) != SIZE_MAX)
		return RT_OK;
	for (t = d->take_count; t-- > 0;) {
		size_t at = model_slot_find(&d->takes[t], *out);

		if (at != SIZE_MAX)
			any = t;
	}
	if (any == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "the entry is in no take");
	*out_take = any;
	for (t = 0; t < d->take_count; t++)
		if (d->takes[t].count > 0 &&
		    d->takes[t].slots[d->takes[t].count - 1].entity == *out) {
			*out_take = t;
			break;
		}
	return RT_OK;
}

rt_status
model_resolve_gap(model_call *c, size_t *out_at, int *out_neighbour)
{
	bool before = model_field(c, "before") != NULL;
	rt_status st;

	st = model_resolve_in_take(c, c->take, model_str_field(c, before ? "before" : "after"),
				   out_neighbour, out_at);
	if (st == RT_OK && !before)
		*out_at += 1;
	return st;
}

bool
model_id_is_legal(rt_str id)
{
	static const char legal[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";
	size_t i;

	for (i = 0; i < id.size; i++)
		if (id.ptr[i] == '\0' || strchr(legal, id.ptr[i]) == NULL)
			return false;
	return id.size >= 1 && id.size <= 128;
}

rt_status
model_check_id(model_call *c)
{
	if (model_field(c, "id") != NULL &&
	    model_entity_with_id(c->m, c->doc, model_str_field(c, "id")) >= 0)
		return FAIL(c, REFUSED, "the id was used before");
	return RT_OK;
}
