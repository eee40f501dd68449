/* SPDX-License-Identifier: MIT
 *
 * Shared by the conformance programs: reading files, comparing JSON values, and counting checks
 * so that a case without any check cannot pass. */
#ifndef RT_TESTS_CONFORMANCE_H
#define RT_TESTS_CONFORMANCE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/json.h"

/* The current case. */
typedef struct rt_case {
	const char *name;
	size_t checks, failures;
} rt_case;

/* Counts a check; prints details if it failed. */
RT_PRINTF(3, 4)
static inline bool
rt_check(rt_case *c, bool ok, const char *format, ...)
{
	va_list ap;

	c->checks++;
	if (ok)
		return true;
	c->failures++;
	printf("%s: ", c->name);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	return false;
}

static inline bool
rt_case_passed(rt_case *c)
{
	if (c->checks == 0)
		rt_check(c, false, "nothing was checked");
	return c->failures == 0;
}

/* Reads the whole file into memory from malloc. */
static inline bool
rt_read_file(const char *path, rt_str *out)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;
	long size = -1;

	if (file == NULL)
		return false;
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
		bytes = malloc((size_t)size + 1);
	if (bytes != NULL && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		free(bytes);
		bytes = NULL;
	}
	fclose(file);
	if (bytes == NULL)
		return false;
	bytes[size] = '\0';
	*out = rt_str_at(bytes, (size_t)size);
	return true;
}

static inline void
rt_free_file(rt_str file)
{
	free((void *)(uintptr_t)(const void *)file.ptr);
}

static inline rt_json_doc *
rt_parse(rt_str text)
{
	rt_json_doc *doc = NULL;

	return rt_json_read_repairing(rt_alloc_libc(), text, &doc, NULL, NULL) == RT_OK ? doc
											: NULL;
}

/* Equal as in JavaScript: members in any order, numbers by value. The depth is limited by the
 * parser. */
static inline bool
rt_same_json(yyjson_val *a, yyjson_val *b)
{
	yyjson_val *key, *value;
	size_t i, max;

	if (yyjson_get_type(a) != yyjson_get_type(b))
		return false;
	if (rt_json_is_number(a))
		return strtod(yyjson_get_raw(a), NULL) == strtod(yyjson_get_raw(b), NULL);
	if (yyjson_is_str(a))
		return rt_str_eq(rt_json_str(a), rt_json_str(b));
	if (yyjson_is_bool(a))
		return yyjson_get_bool(a) == yyjson_get_bool(b);
	if (yyjson_is_arr(a)) {
		if (yyjson_arr_size(a) != yyjson_arr_size(b))
			return false;
		yyjson_arr_foreach(a, i, max, value)
		{
			if (!rt_same_json(value, yyjson_arr_get(b, i)))
				return false;
		}
		return true;
	}
	if (yyjson_is_obj(a)) {
		if (yyjson_obj_size(a) != yyjson_obj_size(b))
			return false;
		rt_json_foreach(a, i, max, key, value)
		{
			yyjson_val *other = rt_json_get(b, yyjson_get_str(key));

			if (other == NULL || !rt_same_json(value, other))
				return false;
		}
	}
	return true; /* both null */
}

/* Compares JSON text from the program with the expected value. */
static inline bool
rt_check_json(rt_case *c, const char *what, rt_buf *text, yyjson_val *wanted)
{
	rt_json_doc *doc;
	rt_buf expected;
	bool same;

	doc = text->status == RT_OK ? rt_parse(rt_buf_str(text)) : NULL;
	same = doc != NULL && rt_same_json(rt_json_root(doc), wanted);
	rt_buf_init(&expected, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (!same)
		rt_json_add_value(&expected, wanted);
	rt_check(c, same, "%s is\n  %.2000s\nshould be\n  %.2000s", what,
		 text->size > 0 ? text->ptr : "(nothing)", same ? "" : expected.ptr);
	rt_buf_deinit(&expected);
	rt_json_free(doc);
	return same;
}

#endif
