/* SPDX-License-Identifier: MIT
 *
 * A request of an operation from its row in core/op.def, for tests of every operation: each
 * required field with a simple value. Such a test has a table of the operations that need other
 * values, or another request before. */
#ifndef RT_CORE_OP_TESTING_H
#define RT_CORE_OP_TESTING_H

#include <stdio.h>
#include <string.h>

#include "core/op.h"

/* Appends "name":value for each required field, as text is between members of an object. Entries are
 * addressed as `entry`. path, if given: fields in it ("{entry}") are left out. */
static inline void
rt_op_add_required(rt_buf *out, const rt_op *op, const char *entry, const char *path)
{
	static const char *const values[] = {
		[RT_FIELD_STRING] = "\"x\"",  [RT_FIELD_CONTENT] = "\"x\"", [RT_FIELD_NUMBER] = "1",
		[RT_FIELD_BOOL] = "true",     [RT_FIELD_ARRAY] = "[\"x\"]", [RT_FIELD_MOMENT] = "1",
		[RT_FIELD_ANY] = "{\"x\":1}",
	};
	const char *comma = "";

	for (const rt_op_field *f = op->fields; f->name != NULL; f++) {
		char in_path[40];

		(void)snprintf(in_path, sizeof(in_path), "{%s}", f->name);
		if ((f->flags & RT_FIELD_REQUIRED) == 0 ||
		    (path != NULL && strstr(path, in_path) != NULL))
			continue;
		rt_buf_add_f(out, "%s\"%s\":", comma, f->name);
		if (f->type == RT_FIELD_ADDRESS)
			rt_buf_add_f(out, "\"%s\"", entry);
		else
			rt_buf_add_c(out, values[f->type]);
		comma = ",";
	}
}

#endif
