/* SPDX-License-Identifier: MIT
 *
 * No-op: do the operations of one step leave everything as it was? */
#include "log/engine_impl.h"

static bool
has_fields(const rt_fields *a, const rt_fields *b)
{
	size_t i;

	for (i = 0; i < rt_fields_count(a); i++)
		if (!rt_str_is(rt_fields_name(a, i), "roles") &&
		    !rt_str_eq(rt_fields_value(a, i), rt_fields_get(b, rt_fields_name(a, i))))
			return false;
	return true;
}

/* But for the roles, which may be written out or be the default. */
static bool
same_fields(const rt_fields *a, const rt_fields *b)
{
	return a == b || (has_fields(a, b) && has_fields(b, a));
}

static bool
same_text(const rt_text *a, const rt_text *b)
{
	return (a == NULL) == (b == NULL) && (a == NULL || rt_str_eq(rt_text_str(a), rt_text_str(b)));
}

/* The same entry with the same content, though the body may be a new one. */
static rt_status
same_slot(rt_change *c, const rt_slot *a, const rt_slot *b, bool *out, rt_error *err)
{
	rt_buf was, is;
	rt_status st;

	*out = a->entry == b->entry && a->role == b->role && a->kind == b->kind &&
	       a->flags == b->flags && a->ts_us == b->ts_us && a->size == b->size;
	if (!*out || a->body == b->body)
		return RT_OK;
	rt_buf_init(&was, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&is, c->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_change_body_bytes(c, a->body, &was, err);
	if (st == RT_OK)
		st = rt_change_body_bytes(c, b->body, &is, err);
	*out = rt_str_eq(rt_buf_str(&was), rt_buf_str(&is));
	rt_buf_deinit(&was);
	rt_buf_deinit(&is);
	return st;
}

static rt_status
same_slots(rt_change *c, const rt_seq *a, const rt_seq *b, bool *out, rt_error *err)
{
	size_t count = rt_seq_count(a), at = 0;
	rt_status st = RT_OK;

	for (*out = count == rt_seq_count(b); st == RT_OK && *out && at < count; at++) {
		rt_slot was, is;

		st = rt_seq_differ(a, b, at, &at, err);
		if (st != RT_OK || at >= count)
			break;
		st = rt_seq_get(a, at, &was, err);
		if (st == RT_OK)
			st = rt_seq_get(b, at, &is, err);
		if (st == RT_OK)
			st = same_slot(c, &was, &is, out, err);
	}
	return st;
}

/* Takes that were made and are gone again are nothing. */
static rt_status
same_takes(rt_change *c, const rt_disc *a, const rt_disc *b, bool *out, rt_error *err)
{
	size_t count = rt_disc_take_count(b), i;
	rt_status st = RT_OK;

	*out = true;
	for (i = 1; st == RT_OK && *out && i <= count; i++) {
		const rt_take *was = rt_disc_take(a, (uint32_t)i);
		const rt_take *is = rt_disc_take(b, (uint32_t)i);

		*out = is->present == (was != NULL && was->present);
		if (!*out || !is->present || was == is)
			continue;
		*out = same_text(was->name, is->name) && same_text(was->git_commit, is->git_commit);
		if (*out)
			st = same_slots(c, was->slots, is->slots, out, err);
	}
	return st;
}

/* Pairs of a key and a value. */
static rt_status
same_labels(const rt_seq *a, const rt_seq *b, bool *out, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	*out = rt_seq_count(a) == rt_seq_count(b);
	for (i = 0; st == RT_OK && *out && a != b && i < rt_seq_count(a); i++) {
		rt_slot was, is;

		st = rt_seq_get(a, i, &was, err);
		if (st == RT_OK)
			st = rt_seq_get(b, i, &is, err);
		*out = st == RT_OK && was.key == is.key && was.body == is.body;
	}
	return st;
}

static rt_status
same_disc(rt_change *c, uint32_t number, bool *out, rt_error *err)
{
	const rt_disc *was, *is;
	rt_status st = rt_project_disc(c->base, number, &was, err);

	if (st == RT_OK)
		st = rt_project_disc(c->now, number, &is, err);
	if (st != RT_OK)
		return st;
	*out = was->active == is->active && was->head == is->head &&
	       same_fields(was->fields, is->fields);
	if (*out)
		st = same_labels(was->labels, is->labels, out, err);
	return st == RT_OK && *out ? same_takes(c, was, is, out, err) : st;
}

/* The project's own things; discussions that were made and are gone again are nothing. */
static bool
same_project(const rt_project *was, const rt_project *is)
{
	size_t i;

	if (was->active != is->active || !same_fields(was->fields, is->fields) ||
	    !rt_str_eq(rt_project_roles(was), rt_project_roles(is)))
		return false;
	for (i = 1; i <= rt_project_disc_count(is); i++) {
		const rt_cell *a = rt_project_cell(was, (uint32_t)i);
		const rt_cell *b = rt_project_cell(is, (uint32_t)i);

		if (a != b && (b->present != (a != NULL && a->present) ||
			       (b->present && !rt_str_eq(rt_cell_name(a), rt_cell_name(b)))))
			return false;
	}
	return true;
}

rt_status
rt_change_is_nothing(rt_change *c, bool *out, rt_error *err)
{
	uint32_t last = 0;
	size_t i;
	rt_status st = RT_OK;

	*out = same_project(c->base, c->now);
	for (i = 0; st == RT_OK && *out && i < c->effect_count; i++) {
		uint32_t disc = c->effects[i].disc;

		if (disc != last && disc != 0 && rt_project_cell(c->base, disc) != NULL)
			st = same_disc(c, disc, out, err);
		last = disc;
	}
	for (i = 0; st == RT_OK && *out && i < c->view_count; i++) {
		unsigned was, is;

		st = rt_project_view(c->base, c->views[i].entry, &was, err);
		if (st == RT_OK)
			st = rt_project_view(c->now, c->views[i].entry, &is, err);
		*out = st == RT_OK && was == is;
	}
	return st;
}
