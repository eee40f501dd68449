/* SPDX-License-Identifier: MIT
 *
 * JSON values become TOML text. Recursion is over values that were checked to nest no
 * deeper than the limits in toml_text.h. */
#include "formats/toml_text.h"

#include <stdlib.h> /* qsort */

#define JSON_MARK RT_TOML_JSON_MARK
#define TOML_MARK RT_TOML_MARK

static bool
is_bare(rt_str key)
{
	size_t i;

	for (i = 0; i < key.size; i++) {
		char c = key.ptr[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '-'))
			return false;
	}
	return key.size > 0;
}

void
rt_toml_add_key(rt_buf *buf, rt_str key)
{
	if (is_bare(key))
		rt_buf_add_str(buf, key);
	else
		rt_toml_add_string(buf, key, false);
}

void
rt_toml_add_string(rt_buf *buf, rt_str text, bool may_be_long)
{
	bool is_long = may_be_long && text.size > 0 && memchr(text.ptr, '\n', text.size) != NULL;
	size_t from = 0, i;

	rt_buf_add_c(buf, is_long ? "\"\"\"\n" : "\"");
	for (i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		bool quote = c == '"';

		if (is_long && quote) /* three together would end it, and so would one at the end */
			quote = i + 1 == text.size || text.ptr[i + 1] == '"';
		if (c >= 0x20 && c != 0x7F && c != '\\' && !quote && c != '"')
			continue;
		if ((c == '"' && !quote) || c == '\t' || (c == '\n' && is_long))
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

/* A number as TOML can hold it and we get it back: a whole one of 64 bits, or one with a
 * fraction or an exponent that is not extreme. */
static bool
is_plain_number(rt_str s)
{
	size_t i, digits = 0, exponent = 0;
	bool negative = s.size > 0 && s.ptr[0] == '-', whole = true, in_exponent = false;

	for (i = negative; i < s.size; i++) {
		char c = s.ptr[i];

		if (c >= '0' && c <= '9') {
			if (in_exponent)
				exponent = exponent * 10 + (size_t)(c - '0');
			else
				digits++;
			if (exponent > 200)
				return false;
		} else {
			whole = false;
			in_exponent = in_exponent || c == 'e' || c == 'E';
		}
	}
	if (!whole)
		return digits <= 60;
	if (digits < 19)
		return true;
	return digits == 19 && memcmp(s.ptr + negative,
				      negative ? "9223372036854775808" : "9223372036854775807",
				      19) <= 0;
}

/* Can it be written as TOML? When memory runs out that is in buf's status. */
static bool is_plain(rt_buf *buf, yyjson_val *value, int depth);

static bool
is_plain_object(rt_buf *buf, yyjson_val *object, int depth)
{
	yyjson_val *key, *value, **keys = NULL;
	size_t i, max, count = 0;

	if (yyjson_obj_size(object) == 0)
		return true;
	rt_json_foreach(object, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (rt_str_is(name, TOML_MARK) && max == 1)
			return yyjson_is_str(value) && rt_toml_is_literal(rt_json_str(value));
		if (rt_str_starts(name, RT_STR(JSON_MARK)) || !is_plain(buf, value, depth - 1))
			return false;
	}
	if (rt_toml_unique_keys(buf->alloc, object, &keys, &count) != RT_OK)
		buf->status = RT_NOMEM;
	rt_free(buf->alloc, keys);
	return count == yyjson_obj_size(object);
}

static bool
is_plain(rt_buf *buf, yyjson_val *value, int depth)
{
	yyjson_val *item;
	size_t i, max;

	if (depth == 0 || yyjson_is_null(value))
		return false;
	if (rt_json_is_number(value))
		return is_plain_number(rt_json_str(value));
	if (yyjson_is_obj(value))
		return is_plain_object(buf, value, depth);
	yyjson_arr_foreach(value, i, max, item)
	{
		if (!is_plain(buf, item, depth - 1))
			return false;
	}
	return true;
}

static void
add_inline(rt_buf *buf, yyjson_val *value)
{
	yyjson_val *key, *item;
	size_t i, max;

	RT_ASSERT(!yyjson_is_null(value)); /* is_plain says so */
	switch (yyjson_get_type(value)) {
	case YYJSON_TYPE_STR: rt_toml_add_string(buf, rt_json_str(value), false); break;
	case YYJSON_TYPE_RAW: rt_buf_add_str(buf, rt_json_str(value)); break;
	case YYJSON_TYPE_BOOL: rt_buf_add_c(buf, yyjson_get_bool(value) ? "true" : "false"); break;
	case YYJSON_TYPE_ARR:
		rt_buf_add_byte(buf, '[');
		yyjson_arr_foreach(value, i, max, item)
		{
			if (i > 0)
				rt_buf_add_c(buf, ", ");
			add_inline(buf, item);
		}
		rt_buf_add_byte(buf, ']');
		break;
	case YYJSON_TYPE_OBJ:
		if (yyjson_obj_size(value) == 1 && rt_json_get(value, TOML_MARK) != NULL) {
			rt_buf_add_str(buf, rt_json_str(rt_json_get(value, TOML_MARK)));
			break;
		}
		rt_buf_add_byte(buf, '{');
		rt_json_foreach(value, i, max, key, item)
		{
			rt_buf_add_c(buf, i > 0 ? ", " : " ");
			rt_toml_add_key(buf, rt_json_str(key));
			rt_buf_add_c(buf, " = ");
			add_inline(buf, item);
		}
		rt_buf_add_c(buf, yyjson_obj_size(value) > 0 ? " }" : "}");
		break;
	default: break;
	}
}

void
rt_toml_add_json_member(rt_buf *buf, rt_str key, rt_str json)
{
	rt_buf name;

	rt_buf_init(&name, buf->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&name, JSON_MARK);
	rt_buf_add_str(&name, key);
	if (name.status != RT_OK)
		buf->status = name.status;
	rt_toml_add_key(buf, rt_buf_str(&name));
	rt_buf_add_c(buf, " = ");
	rt_toml_add_string(buf, json, false);
	rt_buf_add_byte(buf, '\n');
	rt_buf_deinit(&name);
}

void
rt_toml_add_member(rt_buf *buf, rt_str key, yyjson_val *value)
{
	rt_buf json;

	if (!rt_str_starts(key, RT_STR(JSON_MARK)) &&
	    is_plain(buf, value, RT_TOML_INLINE_DEPTH_MAX)) {
		rt_toml_add_key(buf, key);
		rt_buf_add_c(buf, " = ");
		if (yyjson_is_str(value))
			rt_toml_add_string(buf, rt_json_str(value), true);
		else
			add_inline(buf, value);
		rt_buf_add_byte(buf, '\n');
		return;
	}
	rt_buf_init(&json, buf->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&json, value);
	if (json.status != RT_OK)
		buf->status = json.status;
	rt_toml_add_json_member(buf, key, rt_buf_str(&json));
	rt_buf_deinit(&json);
}

bool
rt_toml_add_member_text(rt_buf *buf, rt_str key, rt_str json)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read(buf->alloc, json, &doc, NULL);

	if (st == RT_NOMEM)
		buf->status = st;
	if (st != RT_OK)
		return false;
	rt_toml_add_member(buf, key, rt_json_root(doc));
	rt_json_free(doc);
	return true;
}

static int
key_order(const void *a, const void *b)
{
	yyjson_val *x = *(yyjson_val *const *)a, *y = *(yyjson_val *const *)b;
	int order = rt_str_cmp(rt_json_str(x), rt_json_str(y));

	return order != 0 ? order : (x > y) - (x < y);
}

static int
place_order(const void *a, const void *b)
{
	yyjson_val *x = *(yyjson_val *const *)a, *y = *(yyjson_val *const *)b;

	return (x > y) - (x < y);
}

rt_status
rt_toml_unique_keys(const rt_alloc *alloc, yyjson_val *object, yyjson_val ***out_keys,
		    size_t *out_count)
{
	yyjson_val *key, *value, **keys;
	size_t i, max, kept = 0, count = yyjson_obj_size(object);

	*out_keys = NULL;
	*out_count = 0;
	if (count == 0)
		return RT_OK;
	keys = rt_new_array(alloc, count, sizeof(*keys));
	if (keys == NULL)
		return RT_NOMEM;
	rt_json_foreach(object, i, max, key, value)
	{
		keys[i] = key;
	}
	qsort(keys, count, sizeof(*keys), key_order);
	for (i = 0; i < count; i++)
		if (i + 1 == count || !rt_str_eq(rt_json_str(keys[i]), rt_json_str(keys[i + 1])))
			keys[kept++] = keys[i];
	qsort(keys, kept, sizeof(*keys), place_order);
	*out_keys = keys;
	*out_count = kept;
	return RT_OK;
}
