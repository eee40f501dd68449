/* SPDX-License-Identifier: MIT
 *
 * The table of operations, from core/op.def. */
#include "core/op.h"

#include "core/request.h"

#define REQUIRED RT_FIELD_REQUIRED
#define NULLABLE RT_FIELD_NULLABLE
#define FIELD(json, member, type, flags, about) \
	{json, RT_FIELD_##type, flags, about, offsetof(rt_request, member)}
#define OP(op, function, word, line, route, ...) \
	[RT_OP_##op] = {.id = RT_OP_##op, .name = word, .about = line, __VA_ARGS__},

const rt_op rt_ops[RT_OP_COUNT] = {
#include "core/op.def"
};

const char rt_null_text[1] = "";

const rt_op *
rt_op_named(rt_str name)
{
	size_t i;

	for (i = 0; i < RT_OP_COUNT; i++)
		if (rt_str_is(name, rt_ops[i].name))
			return &rt_ops[i];
	return NULL;
}

bool
rt_op_may(rt_str name, unsigned flags)
{
	const rt_op *op = rt_op_named(name);

	if (op == NULL)
		return rt_str_is(name, RT_STEP_BATCH) && (flags & RT_OP_EDITS_TEXT) != 0;
	return (op->flags & flags) != 0;
}

const char *
rt_op_nearest(rt_str name)
{
	size_t best = SIZE_MAX, i;
	const char *found = NULL;

	for (i = 0; i < RT_OP_COUNT; i++) {
		size_t d = rt_str_distance(name, rt_str_of(rt_ops[i].name));

		if (d < best) {
			best = d;
			found = rt_ops[i].name;
		}
	}
	return best <= name.size / 3 + 1 ? found : NULL;
}

const rt_op_field *
rt_op_field_named(const rt_op *op, rt_str name)
{
	const rt_op_field *f;

	for (f = op->fields; f->name != NULL; f++)
		if (rt_str_is(name, f->name))
			return f;
	return NULL;
}
