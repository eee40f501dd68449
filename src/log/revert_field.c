/* SPDX-License-Identifier: MIT
 *
 * Reverting fields: settings, labels, the prompt; lists and presets by their items. */
#include "log/revert_impl.h"

#include "core/role.h"
#include "core/setting.h"

#include <stdio.h>

/* Is it an object whose members are independent? */
static bool
is_map(rt_str key)
{
	return rt_str_is(key, "presets") || rt_str_is(key, "failures");
}

/* "the setting model was changed again later" */
static void
changed_again(rt_reverting *r, const rt_effect *e)
{
	rt_str setting = RT_STR("setting."), name = e->key;
	const char *noun = "the ";
	char why[300];

	if (rt_str_starts(e->key, setting)) {
		name = rt_str_at(e->key.ptr + setting.size, e->key.size - setting.size);
		noun = "the setting ";
	} else if (rt_str_is(e->key, "prompt_edited")) {
		name = RT_STR("edited flag of the prompt");
	} else if (rt_str_is(e->key, "roles") || rt_is_file_list(e->key)) {
		noun = "the list of ";
	}
	snprintf(why, sizeof(why), "%s%.*s %s changed again later", noun,
		 name.size < 200 ? (int)name.size : 200, name.ptr,
		 is_map(e->key) ? "were" : "was");
	rt_revert_refuse(r, (rt_revert_place){.disc = e->disc, .sub = e->sub, .entry = e->entry,
					      .key = e->key}, why);
}

typedef struct item_list {
	rt_str *items;
	size_t count;
} item_list;

/* Items of a list by their JSON, sorted: equal items have equal text. */
static item_list
read_items(rt_change *c, rt_str list)
{
	yyjson_val *root = list.ptr != NULL ? rt_json_parse(c->scope, list) : NULL, *item;
	item_list out = {.count = yyjson_arr_size(root)};
	size_t i, max;

	out.items = rt_scope_array(c->scope, out.count, sizeof(*out.items));
	yyjson_arr_foreach(root, i, max, item)
	{
		rt_buf *text = rt_scope_buf(c->scope);

		rt_json_add_sorted(text, c->scope->alloc, item);
		if (out.items != NULL)
			out.items[i] = rt_scope_str(c->scope, text);
	}
	if (!rt_change_ok(c))
		out.count = 0;
	return out;
}

static size_t
find_item(const rt_str *items, size_t count, rt_str item)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rt_str_eq(items[i], item))
			return i;
	return SIZE_MAX;
}

static bool
has(item_list list, rt_str item)
{
	return find_item(list.items, list.count, item) != SIZE_MAX;
}

static bool
has_twice(item_list list)
{
	for (size_t i = 1; i < list.count; i++)
		if (find_item(list.items, i, list.items[i]) != SIZE_MAX)
			return true;
	return false;
}

/* The list with the step's changes reverted; false: undetermined. */
static bool
merge_items(item_list was, item_list became, item_list now, item_list *out)
{
	size_t count = 0, at;

	if (has_twice(was) || has_twice(became) || has_twice(now))
		return false;
	for (size_t i = 0; i < now.count; i++)
		if (!has(became, now.items[i]) || has(was, now.items[i]))
			out->items[count++] = now.items[i];
	for (size_t i = 0; i < became.count; i++)
		if (!has(was, became.items[i]) && !has(now, became.items[i]))
			return false;
	for (size_t i = 0; i < was.count; i++) {
		if (has(became, was.items[i]))
			continue;
		if (has(now, was.items[i]))
			return false;
		at = 0;
		for (size_t k = i; k > 0 && at == 0; k--) /* SIZE_MAX + 1: 0 */
			at = find_item(out->items, count, was.items[k - 1]) + 1;
		memmove(out->items + at + 1, out->items + at, (count++ - at) * sizeof(*out->items));
		out->items[at] = was.items[i];
	}
	out->count = count;
	return true;
}

/* A list of which the step added or removed items, others changed since: removes the items that it
 * added, restores those that it removed, after the nearest surviving item before them. false:
 * undetermined. */
static bool
revert_items(rt_change *c, const rt_effect *e, rt_str *list)
{
	rt_str none = e->disc == 0 ? rt_str_of(rt_default_roles) : rt_str_at(NULL, 0);
	item_list was = read_items(c, e->before.ptr != NULL ? e->before : none);
	item_list became = read_items(c, e->after.ptr != NULL ? e->after : none);
	item_list now = read_items(c, list->ptr != NULL ? *list : none), out;
	rt_buf *text = rt_scope_buf(c->scope);

	out.items = rt_scope_array(c->scope, now.count + was.count, sizeof(*out.items));
	if (!rt_change_ok(c) || !merge_items(was, became, now, &out))
		return false;
	*list = rt_str_at(NULL, 0);
	if (e->disc != 0 && out.count == 0)
		return true;
	rt_json_open(text, NULL, '[');
	for (size_t i = 0; i < out.count; i++)
		rt_json_put_raw(text, NULL, out.items[i]);
	rt_json_close(text, ']');
	*list = rt_scope_str(c->scope, text);
	return true;
}

static bool
same_json(rt_change *c, yyjson_val *a, yyjson_val *b)
{
	rt_buf *x = rt_scope_buf(c->scope), *y = rt_scope_buf(c->scope);

	if (a == NULL || b == NULL)
		return a == b;
	rt_json_add_sorted(x, c->scope->alloc, a);
	rt_json_add_sorted(y, c->scope->alloc, b);
	return rt_str_eq(rt_scope_str(c->scope, x), rt_scope_str(c->scope, y));
}

/* An object, member by member. false: a member that the step changed was changed again. */
static bool
revert_members(rt_change *c, const rt_effect *e, rt_str *object)
{
	yyjson_val *was = e->before.ptr != NULL ? rt_json_parse(c->scope, e->before) : NULL;
	yyjson_val *became = e->after.ptr != NULL ? rt_json_parse(c->scope, e->after) : NULL;
	yyjson_val *now = object->ptr != NULL ? rt_json_parse(c->scope, *object) : NULL;
	yyjson_val *sides[] = {now, was, became}, *key, *value;
	rt_buf *text = rt_scope_buf(c->scope), *sorted = rt_scope_buf(c->scope);
	size_t i, max, count = 0;

	rt_json_open(text, NULL, '{');
	for (size_t side = 0; side < 3; side++) {
		if (sides[side] == NULL)
			continue;
		rt_json_foreach(sides[side], i, max, key, value)
		{
			const char *name = yyjson_get_str(key);
			size_t size = yyjson_get_len(key);
			yyjson_val *old = yyjson_obj_getn(was, name, size);
			yyjson_val *left = yyjson_obj_getn(became, name, size);
			yyjson_val *is = yyjson_obj_getn(now, name, size);
			bool is_steps = !same_json(c, old, left);

			if (is_steps && !same_json(c, is, left))
				return false;
			if (side == 0 ? is_steps && old == NULL
				      : side == 2 || is != NULL || !is_steps)
				continue; /* to be removed; is written already, or is not the
					   * step's */
			rt_json_add_key_str(text, rt_json_str(key));
			rt_json_add_value(text, is_steps ? old : value);
			count++;
		}
	}
	rt_json_close(text, '}');
	*object = rt_str_at(NULL, 0);
	if (count > 0) {
		rt_json_add_sorted(sorted, c->scope->alloc,
				   rt_json_parse(c->scope, rt_scope_str(c->scope, text)));
		*object = rt_scope_str(c->scope, sorted);
	}
	return true;
}

/* Restores the step's part of a value that was changed since; false: undetermined. */
static bool
merge(rt_change *c, const rt_effect *e, rt_str *value)
{
	if (is_map(e->key))
		return revert_members(c, e, value);
	return (rt_str_is(e->key, "roles") || rt_is_file_list(e->key)) && revert_items(c, e, value);
}

/* Do the first count effects of the step set the prompt of that discussion? */
static bool
sets_prompt(const rt_record *step, size_t count, uint32_t disc)
{
	for (size_t i = 0; i < count; i++)
		if (step->effects[i].kind == RT_EFFECT_SET && step->effects[i].disc == disc &&
		    rt_str_is(step->effects[i].key, "prompt"))
			return true;
	return false;
}

static bool
same(rt_str a, rt_str b)
{
	return (a.ptr == NULL) == (b.ptr == NULL) && rt_str_eq(a, b);
}

/* The flag of a restored prompt: the one from before the step, unless the model was sent another
 * prompt since; then this one has to be sent, too. */
static void
revert_prompt_flag(rt_reverting *r, const rt_effect *prompt)
{
	rt_change *c = r->c;
	rt_str key = RT_STR("prompt_edited");
	rt_str flag = rt_change_field(c, prompt->disc, 0, key, 0);

	for (size_t i = r->step.effect_count; i > 0; i--) {
		const rt_effect *e = &r->step.effects[i - 1];

		if (e->kind == RT_EFFECT_SET && e->disc == prompt->disc && rt_str_eq(e->key, key))
			flag = e->before;
	}
	if (rt_revert_was_told(r, prompt->disc))
		flag = RT_STR("true");
	rt_change_set(c, prompt->disc, 0, key, 0, flag);
}

void
rt_revert_field(rt_reverting *r, size_t index, bool incidental)
{
	rt_change *c = r->c;
	const rt_effect *e = &r->step.effects[index];
	rt_str now = rt_change_field(c, e->disc, e->sub, e->key, e->entry), before = e->before;

	if (e->disc != 0 && rt_str_is(e->key, "prompt_edited") &&
	    sets_prompt(&r->step, r->step.effect_count, e->disc))
		return; /* with the prompt */
	if (!same(now, e->after)) {
		before = now;
		if (same(now, e->before) && incidental)
			return;
		if (!merge(c, e, &before)) {
			if (!incidental)
				changed_again(r, e);
			else if (rt_str_is(e->key, "prompt"))
				rt_buf_add_c(
					r->note,
					"The prompt has been changed since and was not reverted. ");
			return;
		}
	}
	rt_change_set(c, e->disc, e->sub, e->key, e->entry, before);
	/* Once, after the last of several changes of the prompt was reverted. */
	if (e->disc != 0 && rt_str_is(e->key, "prompt") && !sets_prompt(&r->step, index, e->disc))
		revert_prompt_flag(r, e);
}
