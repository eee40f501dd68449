/* SPDX-License-Identifier: MIT
 *
 * No-op: do the operations of one step leave the value unchanged? */
#include "core/role.h"
#include "core/setting.h"
#include "log/change.h"

static bool
has_fields(const rt_fields *a, const rt_fields *b)
{
	for (size_t i = 0; i < rt_fields_count(a); i++)
		if (!rt_str_is(rt_fields_name(a, i), "roles") &&
		    !rt_str_is(rt_fields_name(a, i), "take_files") &&
		    !rt_str_eq(rt_fields_value(a, i), rt_fields_get(b, rt_fields_name(a, i))))
			return false;
	return true;
}

/* Except for the roles, which may be written out or the default, and the lists of files of takes
 * that are not active (same_files). */
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
static bool
same_slot(rt_change *c, const rt_slot *a, const rt_slot *b)
{
	rt_buf was, is;
	bool same = a->entry == b->entry && a->role == b->role && a->kind == b->kind &&
		    a->flags == b->flags && a->ts_us == b->ts_us && a->size == b->size;

	if (!same || a->body == b->body)
		return same;
	rt_buf_init(&was, c->scope->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&is, c->scope->alloc, RT_BUF_UNLIMITED);
	rt_change_body_bytes(c, a->body, &was);
	rt_change_body_bytes(c, b->body, &is);
	same = rt_str_eq(rt_buf_str(&was), rt_buf_str(&is));
	rt_buf_deinit(&was);
	rt_buf_deinit(&is);
	return same;
}

bool
rt_change_same_slots(rt_change *c, const rt_seq *a, const rt_seq *b)
{
	size_t count = rt_seq_count(a);

	if (count != rt_seq_count(b))
		return false;
	for (size_t at = 0; at < count; at++) {
		rt_slot was, is;

		RT_TRY(c->scope, rt_seq_differ(a, b, at, &at, &c->scope->error));
		if (at >= count)
			break;
		RT_TRY(c->scope, rt_seq_get(a, at, &was, &c->scope->error));
		RT_TRY(c->scope, rt_seq_get(b, at, &is, &c->scope->error));
		if (!rt_change_ok(c) || !same_slot(c, &was, &is))
			return false;
	}
	return true;
}

/* Takes that were created and deleted again do not count; nor does a commit that was recorded with
 * unchanged entries. */
static bool
same_takes(rt_change *c, const rt_disc *a, const rt_disc *b)
{
	bool same = true;

	for (size_t i = 1; same && i <= rt_disc_take_count(b); i++) {
		const rt_take *was = rt_disc_take(a, (uint32_t)i);
		const rt_take *is = rt_disc_take(b, (uint32_t)i);

		same = is->present == (was != NULL && was->present);
		if (same && is->present && was != is)
			same = same_text(was->name, is->name) &&
			       rt_change_same_slots(c, was->slots, is->slots);
	}
	return same;
}

/* A list of files of a take, as JSON (ops/take_files.c). */
static rt_str
list_of(rt_change *c, const rt_disc *disc, uint32_t take, const char *name)
{
	rt_str field = rt_fields_get(disc->fields, RT_STR("take_files"));
	rt_buf *text = rt_scope_buf(c->scope), *key = rt_scope_buf(c->scope);
	yyjson_val *all, *lists;

	if (take == disc->active || field.ptr == NULL)
		return rt_fields_get(disc->fields, rt_str_of(name));
	rt_buf_add_u64(key, take);
	if (rt_scope_str(c->scope, key).ptr == NULL)
		return RT_STR("");
	all = rt_json_parse(c->scope, field);
	lists = rt_json_get(all, key->ptr);
	lists = rt_json_get(lists != NULL ? lists : rt_json_get(all, "0"), name);
	if (lists != NULL)
		rt_json_add_value(text, lists);
	return rt_scope_str(c->scope, text);
}

/* The same files with each take? They may be stored in another way. */
static bool
same_files(rt_change *c, const rt_disc *a, const rt_disc *b)
{
	bool same = true;

	if (rt_str_eq(rt_fields_get(a->fields, RT_STR("take_files")),
		      rt_fields_get(b->fields, RT_STR("take_files"))) &&
	    a->active == b->active)
		return true;
	for (uint32_t take = 1; same && take <= rt_disc_take_count(b); take++)
		for (size_t i = 0; same && rt_file_list_names[i] != NULL; i++)
			same = !rt_disc_take(b, take)->present ||
			       rt_str_eq(list_of(c, a, take, rt_file_list_names[i]),
					 list_of(c, b, take, rt_file_list_names[i]));
	return same;
}

/* Pairs of a key and a value. */
static bool
same_labels(rt_change *c, const rt_seq *a, const rt_seq *b)
{
	bool same = rt_seq_count(a) == rt_seq_count(b);

	for (size_t i = 0; same && a != b && i < rt_seq_count(a); i++) {
		rt_slot was, is;

		RT_TRY(c->scope, rt_seq_get(a, i, &was, &c->scope->error));
		RT_TRY(c->scope, rt_seq_get(b, i, &is, &c->scope->error));
		same = rt_change_ok(c) && was.key == is.key && was.body == is.body;
	}
	return same;
}

bool
rt_change_same_content(rt_change *c, const rt_disc *was, const rt_disc *is)
{
	return same_fields(was->fields, is->fields) && same_labels(c, was->labels, is->labels) &&
	       same_takes(c, was, is) && same_files(c, was, is);
}

static bool
same_disc(rt_change *c, uint32_t number)
{
	const rt_disc *was, *is;

	RT_TRY(c->scope, rt_project_disc(c->base, number, &was, &c->scope->error));
	RT_TRY(c->scope, rt_project_disc(c->now, number, &is, &c->scope->error));
	return rt_change_ok(c) && was->active == is->active && was->head == is->head &&
	       rt_change_same_content(c, was, is);
}

/* The project's own fields; discussions that were created and deleted again do not count. */
static bool
same_project(const rt_project *was, const rt_project *is)
{
	if (was->active != is->active || !same_fields(was->fields, is->fields) ||
	    !rt_str_eq(rt_project_roles(was), rt_project_roles(is)))
		return false;
	for (size_t i = 1; i <= rt_project_disc_count(is); i++) {
		const rt_cell *a = rt_project_cell(was, (uint32_t)i);
		const rt_cell *b = rt_project_cell(is, (uint32_t)i);

		if (a != b && (b->present != (a != NULL && a->present) ||
			       (b->present && !rt_str_eq(rt_cell_name(a), rt_cell_name(b)))))
			return false;
	}
	return true;
}

bool
rt_change_is_nothing(rt_change *c)
{
	bool same = rt_change_ok(c) && same_project(c->base, c->now);
	uint32_t last = 0;

	for (size_t i = 0; same && i < c->effect_count; i++) {
		uint32_t disc = c->effects[i].disc;

		if (disc != last && disc != 0 && rt_project_cell(c->base, disc) != NULL)
			same = same_disc(c, disc);
		last = disc;
	}
	for (size_t i = 0; same && i < c->view_count; i++) {
		unsigned was, is;

		RT_TRY(c->scope, rt_project_view(c->base, c->views[i].entry, &was, &c->scope->error));
		RT_TRY(c->scope, rt_project_view(c->now, c->views[i].entry, &is, &c->scope->error));
		same = rt_change_ok(c) && was == is;
	}
	return same && rt_change_ok(c);
}
