/* SPDX-License-Identifier: MIT */
#include "app/template.h"

enum { NAME_MAX_SIZE = 40 };

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

bool
rt_template_name_is_legal(rt_str name)
{
	for (size_t i = 0; i < name.size; i++)
		if (!is_letter(name.ptr[i]))
			return false;
	return name.size > 0 && name.size <= NAME_MAX_SIZE;
}

rt_str
rt_template_text(const rt_view *view, rt_str name)
{
	rt_buf *key = rt_scope_buf(view->scope);

	rt_buf_add_c(key, RT_TEMPLATE_KEY);
	rt_buf_add_str(key, name);
	yyjson_val *value = rt_setting_value(view, rt_scope_str(view->scope, key));
	return yyjson_is_str(value) ? rt_json_str(value) : (rt_str){NULL, 0};
}

/* Finds the next variable at or after *at. Sets *out_start to its start and *at to its end. Returns
 * false if there is none. */
static bool
next_variable(rt_str text, size_t *at, size_t *out_start, rt_str *out_name)
{
	while ((*out_start = rt_str_find(text, RT_STR("{{"), *at)) != SIZE_MAX) {
		size_t end = rt_str_find(text, RT_STR("}}"), *out_start + 2);

		if (end == SIZE_MAX)
			return false;
		*out_name = rt_str_trim(
			rt_str_at(text.ptr + *out_start + 2, end - *out_start - 2));
		*at = rt_template_name_is_legal(*out_name) ? end + 2 : *out_start + 1;
		if (*at == end + 2)
			return true;
	}
	return false;
}

static const rt_template_variable *
named(const rt_template_variables *all, rt_str name)
{
	for (size_t i = 0; i < all->count; i++)
		if (rt_str_eq(all->items[i].name, name))
			return &all->items[i];
	return NULL;
}

void
rt_template_read(rt_scope *s, rt_str text, rt_template_variables *out)
{
	size_t at = 0, start;
	rt_str name;

	out->count = 0;
	while (next_variable(text, &at, &start, &name)) {
		if (named(out, name) != NULL)
			continue;
		if (out->count == RT_TEMPLATE_VARIABLES_MAX) {
			rt_scope_fail(s, RT_LIMIT, "a template can have at most %d variables",
				      (int)RT_TEMPLATE_VARIABLES_MAX);
			return;
		}
		out->items[out->count++] = (rt_template_variable){name, {NULL, 0}};
	}
}

void
rt_template_fill(rt_str text, const rt_template_variables *variables, rt_buf *out)
{
	size_t at = 0, start, done = 0;
	rt_str name;

	while (next_variable(text, &at, &start, &name)) {
		const rt_template_variable *variable = named(variables, name);

		if (variable == NULL || variable->value.ptr == NULL)
			continue;
		rt_buf_add(out, text.ptr + done, start - done);
		rt_buf_add_str(out, variable->value);
		done = at;
	}
	rt_buf_add(out, text.ptr + done, text.size - done);
}
