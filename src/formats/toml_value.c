/* SPDX-License-Identifier: MIT
 *
 * JSON values as TOML. */
#include <stdlib.h> /* qsort */

#include "formats/toml_impl.h"

enum {
	INLINE_DEPTH_MAX = 40 /* of JSON that is written as TOML */
};

static int
place_order(const void *a, const void *b)
{
	yyjson_val *x = *(yyjson_val *const *)a, *y = *(yyjson_val *const *)b;

	return (x > y) - (x < y);
}

yyjson_val **
rt_toml_keys(rt_scope *s, yyjson_val *object)
{
	size_t count = 0;
	yyjson_val **sorted = rt_json_sorted_keys(s->alloc, object, &count);
	yyjson_val **keys = rt_scope_array(s, count + 1, sizeof(*keys));

	if (sorted == NULL)
		(void)rt_scope_nomem(s);
	if (keys != NULL && count > 0) {
		memcpy(keys, sorted, count * sizeof(*keys));
		qsort(keys, count, sizeof(*keys), place_order);
	}
	rt_free(s->alloc, sorted);
	return rt_ok(s) ? keys : NULL;
}

void
rt_toml_add_string(rt_buf *buf, rt_str text, bool may_be_long)
{
	bool is_long = may_be_long && text.size > 0 && memchr(text.ptr, '\n', text.size) != NULL;
	size_t from = 0;

	rt_buf_add_c(buf, is_long ? "\"\"\"\n" : "\"");
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		bool is_quote = c == '"';

		if (is_long && is_quote) /* three would end it, and so would one at the end */
			is_quote = i + 1 == text.size || text.ptr[i + 1] == '"';
		if (c == '"' ? !is_quote
			     : (c >= 0x20 && c != 0x7F && c != '\\') || c == '\t' ||
				       (c == '\n' && is_long))
			continue;
		rt_buf_add(buf, text.ptr + from, i - from);
		from = i + 1;
		switch (c) {
		case '"': rt_buf_add_c(buf, "\\\""); break;
		case '\\': rt_buf_add_c(buf, "\\\\"); break;
		case '\n': rt_buf_add_c(buf, "\\n"); break;
		case '\r': rt_buf_add_c(buf, "\\r"); break;
		default: rt_buf_add_f(buf, "\\u%04X", c); break;
		}
	}
	if (text.size > from)
		rt_buf_add(buf, text.ptr + from, text.size - from);
	rt_buf_add_c(buf, is_long ? "\"\"\"" : "\"");
}

void
rt_toml_add_key(rt_buf *buf, rt_str key)
{
	bool is_bare = key.size > 0;

	for (size_t i = 0; i < key.size; i++) {
		char c = key.ptr[i];

		is_bare = is_bare && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				      (c >= '0' && c <= '9') || c == '_' || c == '-');
	}
	if (is_bare)
		rt_buf_add_str(buf, key);
	else
		rt_toml_add_string(buf, key, false);
}

/* A number that TOML can express and that is read back unchanged: a whole one of 64 bits, or one
 * with a fraction or an exponent that is not extreme. */
static bool
is_plain_number(rt_str s)
{
	size_t digits = 0, exponent = 0;
	bool is_negative = s.size > 0 && s.ptr[0] == '-', is_whole = true, in_exponent = false;

	for (size_t i = is_negative; i < s.size; i++) {
		char c = s.ptr[i];

		if (c >= '0' && c <= '9') {
			if (in_exponent)
				exponent = exponent * 10 + (size_t)(c - '0');
			else
				digits++;
			if (exponent > 200)
				return false;
		} else {
			is_whole = false;
			in_exponent = in_exponent || c == 'e' || c == 'E';
		}
	}
	if (!is_whole)
		return digits <= 60;
	return digits < 19 ||
	       (digits == 19 &&
		memcmp(s.ptr + is_negative,
		       is_negative ? "9223372036854775808" : "9223372036854775807", 19) <= 0);
}

/* Can the value be written as TOML, at most depth levels deep? */
static bool
is_plain(rt_scope *s, yyjson_val *value, int depth)
{
	yyjson_val **keys;

	if (depth == 0 || yyjson_is_null(value))
		return false;
	if (rt_json_is_number(value))
		return is_plain_number(rt_json_str(value));
	for (rt_json_iter m = rt_json_each(value); rt_json_next(&m);) {
		if (m.is_object && yyjson_obj_size(value) == 1 && rt_str_is(m.key, RT_TOML_MARK))
			return yyjson_is_str(m.value) && rt_toml_is_literal(rt_json_str(m.value));
		if ((m.is_object && rt_str_starts(m.key, RT_STR(RT_TOML_JSON_MARK))) ||
		    !is_plain(s, m.value, depth - 1))
			return false;
	}
	keys = yyjson_obj_size(value) > 1 ? rt_toml_keys(s, value) : NULL;
	return keys == NULL || keys[yyjson_obj_size(value) - 1] != NULL;
}

/* A plain value on one line. Recursion is bounded by INLINE_DEPTH_MAX. */
static void
add_inline(rt_buf *buf, yyjson_val *value)
{
	yyjson_val *literal = rt_json_get(value, RT_TOML_MARK);
	const char *sign = yyjson_is_obj(value) ? " " : "";

	RT_ASSERT(!yyjson_is_null(value)); /* see is_plain */
	if (yyjson_is_str(value)) {
		rt_toml_add_string(buf, rt_json_str(value), false);
	} else if (yyjson_is_bool(value)) {
		rt_buf_add_c(buf, yyjson_get_bool(value) ? "true" : "false");
	} else if (rt_json_is_number(value)) {
		rt_buf_add_str(buf, rt_json_str(value));
	} else if (literal != NULL && yyjson_obj_size(value) == 1) {
		rt_buf_add_str(buf, rt_json_str(literal));
	} else {
		rt_buf_add_byte(buf, yyjson_is_obj(value) ? '{' : '[');
		for (rt_json_iter m = rt_json_each(value); rt_json_next(&m); sign = ", ") {
			rt_buf_add_c(buf, sign);
			if (m.is_object) {
				rt_toml_add_key(buf, m.key);
				rt_buf_add_c(buf, " = ");
			}
			add_inline(buf, m.value);
		}
		if (yyjson_is_obj(value))
			rt_buf_add_c(buf, yyjson_obj_size(value) > 0 ? " }" : "}");
		else
			rt_buf_add_byte(buf, ']');
	}
}

void
rt_toml_add_json(rt_scope *s, rt_buf *buf, rt_str key, rt_str json)
{
	rt_buf *name = rt_scope_buf(s);

	rt_buf_add_c(name, RT_TOML_JSON_MARK);
	rt_buf_add_str(name, key);
	rt_toml_add_key(buf, rt_scope_str(s, name));
	rt_buf_add_c(buf, " = ");
	rt_toml_add_string(buf, json, false);
	rt_buf_add_byte(buf, '\n');
}

void
rt_toml_add_member(rt_scope *s, rt_buf *buf, rt_str key, yyjson_val *value)
{
	rt_buf *json;

	if (!rt_str_starts(key, RT_STR(RT_TOML_JSON_MARK)) &&
	    is_plain(s, value, INLINE_DEPTH_MAX)) {
		rt_toml_add_key(buf, key);
		rt_buf_add_c(buf, " = ");
		if (yyjson_is_str(value))
			rt_toml_add_string(buf, rt_json_str(value), true);
		else
			add_inline(buf, value);
		rt_buf_add_byte(buf, '\n');
		return;
	}
	json = rt_scope_buf(s);
	rt_json_add_value(json, value);
	rt_toml_add_json(s, buf, key, rt_scope_str(s, json));
}

bool
rt_toml_add_member_text(rt_scope *s, rt_buf *buf, rt_str key, rt_str json)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_ok(s) ? rt_json_read(s->alloc, json, &doc, NULL) : s->status;

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(s);
	if (st != RT_OK)
		return false;
	rt_toml_add_member(s, buf, key, rt_json_root(doc));
	rt_json_free(doc);
	return true;
}
