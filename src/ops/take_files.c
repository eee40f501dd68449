/* SPDX-License-Identifier: MIT
 *
 * The lists of files of each take. A discussion's fields "files", "context_files" and
 * "screenshots" are those of its active take. Once they are changed while there are several
 * takes, the field "take_files" has the lists of the others:
 *
 *   {"0":LISTS, "3":LISTS, …}      LISTS: {"files":[…],"context_files":[…],"screenshots":[…]}
 *
 * by the number of the take; "0": of all takes without a member. Without the field, all takes have
 * the same lists. */
#include "core/setting.h"
#include "ops/ops.h"

/* In the form of the fields. */
static rt_str
lists_now(rt_change *c, const rt_disc *disc)
{
	rt_buf *lists = rt_scope_buf(c->scope);

	rt_json_open(lists, NULL, '{');
	for (size_t i = 0; disc != NULL && rt_file_list_names[i] != NULL; i++) {
		rt_str list = rt_fields_get(disc->fields, rt_str_of(rt_file_list_names[i]));

		if (list.ptr != NULL)
			rt_json_put_raw(lists, rt_file_list_names[i], list);
	}
	rt_json_close(lists, '}');
	return rt_scope_str(c->scope, lists);
}

static rt_str
text_of(rt_change *c, yyjson_val *value)
{
	rt_buf *text = rt_scope_buf(c->scope);

	if (value == NULL)
		return (rt_str){NULL, 0};
	rt_json_add_value(text, value);
	return rt_scope_str(c->scope, text);
}

/* The member of a take, or of those without one; ptr NULL: all have the same lists. */
static rt_str
stored(rt_change *c, const rt_disc *disc, uint32_t take)
{
	rt_str field = rt_fields_get(disc->fields, RT_STR(RT_TAKE_FILES));
	rt_buf *key = rt_scope_buf(c->scope);
	yyjson_val *all, *own;

	if (field.ptr == NULL)
		return field;
	rt_buf_add_u64(key, take);
	all = rt_json_parse(c->scope, field);
	own = rt_scope_str(c->scope, key).ptr != NULL ? rt_json_get(all, key->ptr) : NULL;
	return text_of(c, own != NULL ? own : rt_json_get(all, "0"));
}

static void
store(rt_change *c, const rt_disc *disc, uint32_t take, rt_str lists)
{
	rt_str field = rt_fields_get(disc->fields, RT_STR(RT_TAKE_FILES)), own;
	rt_buf *all = rt_scope_buf(c->scope), *key = rt_scope_buf(c->scope);

	rt_buf_add_u64(key, take);
	own = rt_scope_str(c->scope, key);
	if (!rt_change_ok(c))
		return;
	rt_json_open(all, NULL, '{');
	for (rt_json_iter m = rt_json_members(
		     field.ptr != NULL ? rt_json_parse(c->scope, field) : NULL);
	     rt_json_next(&m);)
		if (!rt_str_eq(m.key, own)) {
			rt_json_add_key_str(all, m.key);
			rt_json_add_value(all, m.value);
		}
	rt_json_put_raw(all, own.ptr, lists);
	rt_json_close(all, '}');
	rt_change_set(c, disc->number, 0, RT_STR(RT_TAKE_FILES), 0, rt_scope_str(c->scope, all));
}

rt_str
rt_take_files(rt_change *c, const rt_disc *disc, uint32_t take)
{
	rt_str lists = take != disc->active ? stored(c, disc, take) : (rt_str){NULL, 0};

	return lists.ptr != NULL ? lists : lists_now(c, disc);
}

void
rt_take_files_give(rt_change *c, uint32_t disc, rt_str lists)
{
	yyjson_val *root = rt_change_ok(c) ? rt_json_parse(c->scope, lists) : NULL;

	for (size_t i = 0; rt_change_ok(c) && rt_file_list_names[i] != NULL; i++)
		rt_change_set_json(c, disc, rt_str_of(rt_file_list_names[i]),
				   rt_json_get(root, rt_file_list_names[i]));
}

void
rt_take_files_switch(rt_change *c, uint32_t number, uint32_t like)
{
	const rt_disc *disc;
	rt_str now, was, wanted;

	if (RT_TRY(c->scope, rt_project_disc(c->now, number, &disc, &c->scope->error)) != RT_OK ||
	    rt_fields_get(disc->fields, RT_STR(RT_TAKE_FILES)).ptr == NULL)
		return;
	now = lists_now(c, disc);
	was = stored(c, disc, disc->active);
	wanted = rt_take_files(c, disc, like);
	if (!rt_str_eq(now, was))
		store(c, disc, disc->active, now);
	rt_take_files_give(c, number, wanted);
}

static void
keep_for_others(rt_change *c, const rt_disc *disc, rt_str was)
{
	if (disc != NULL && rt_disc_take_count(disc) > 1 &&
	    rt_fields_get(disc->fields, RT_STR(RT_TAKE_FILES)).ptr == NULL &&
	    !rt_str_eq(was, lists_now(c, disc)))
		store(c, disc, 0, was);
}

rt_str
rt_take_files_begin(rt_change *c)
{
	return lists_now(c, rt_change_disc(c));
}

void
rt_take_files_end(rt_change *c, rt_str was)
{
	keep_for_others(c, rt_change_disc(c), was);
}

void
rt_take_files_reverted(rt_change *c)
{
	rt_scope *s = c->scope;

	for (size_t i = 0; rt_ok(s) && i < c->effect_count; i++) {
		const rt_effect e = c->effects[i]; /* a copy: storing adds effects */
		const rt_disc *before, *now;

		if (e.kind != RT_EFFECT_SET || e.disc == 0 || e.sub != 0 ||
		    e.disc > rt_project_disc_count(c->base) ||
		    !rt_is_file_list(e.key))
			continue;
		RT_TRY(s, rt_project_disc(c->base, e.disc, &before, &s->error));
		RT_TRY(s, rt_project_disc(c->now, e.disc, &now, &s->error));
		if (rt_ok(s))
			keep_for_others(c, now, lists_now(c, before));
	}
}
