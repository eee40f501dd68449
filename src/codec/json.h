/* SPDX-License-Identifier: MIT
 *
 * JSON: reading with yyjson as exactly as the contract demands, and writing.
 *
 * Numbers keep their text (12345678901234567890123 and 1.10 survive), so yyjson_get_uint and the
 * like return 0: use rt_json_u64 and rt_json_i64;
 * strings are any Unicode scalar values, NUL too; bytes that are not UTF-8, lone
 * surrogates, nesting beyond the limit and anything after the value are errors with a
 * byte position. Objects may repeat a key: the last one counts, as in JavaScript.
 * Values are yyjson's own immutable ones and live as long as the document. */
#ifndef RT_CODEC_JSON_H
#define RT_CODEC_JSON_H

#include <yyjson.h>

#include "base/moment.h"
#include "base/scope.h"

enum {
	RT_JSON_DEPTH_MAX = 512 /* arrays and objects inside each other */
};

typedef struct rt_json_doc rt_json_doc;

/* Read one value. The input is copied where needed; the document owns its strings.
 * RT_USAGE: not JSON, with the position. RT_LIMIT: too deep. RT_NOMEM. */
RT_CHECKED rt_status rt_json_read(const rt_alloc *alloc, rt_str input, rt_json_doc **out_doc,
				  rt_error *err);

/* The same for imports: lone surrogates and bytes that are not UTF-8 become U+FFFD and
 * *out_repaired (may be NULL) counts them. */
RT_CHECKED rt_status rt_json_read_repairing(const rt_alloc *alloc, rt_str input,
					    rt_json_doc **out_doc, size_t *out_repaired,
					    rt_error *err);
/* The position of the first bracket that opens more than max levels; SIZE_MAX: none does. */
size_t rt_json_too_deep_at(rt_str text, size_t max);
yyjson_val *rt_json_root(const rt_json_doc *doc);
/* Does a value that was read have more than max levels? Much faster than rt_json_too_deep_at. */
bool rt_json_is_deeper(yyjson_val *value, size_t max);
void rt_json_free(rt_json_doc *doc);

/* The root of input, read as by rt_json_read; lives as long as the scope. NULL once that has
 * failed. */
yyjson_val *rt_json_parse(rt_scope *scope, rt_str input);

/* One item of an array, or one member of an object:
 *
 *	for (rt_json_iter it = rt_json_members(object); rt_json_next(&it);)
 *		use(it.key, it.value);
 *
 * Anything but an array (an object), NULL too, has none. */
typedef struct rt_json_iter {
	rt_str key; /* of a member */
	yyjson_val *value;
	size_t index, count; /* of all */
	yyjson_val *next;    /* private: the next item or key */
	bool is_object;
} rt_json_iter;

static inline rt_json_iter
rt_json_items(yyjson_val *array)
{
	size_t count = yyjson_arr_size(array);

	return (rt_json_iter){.index = SIZE_MAX,
			      .count = count,
			      .next = count > 0 ? unsafe_yyjson_get_first(array) : NULL};
}

static inline rt_json_iter
rt_json_members(yyjson_val *object)
{
	size_t count = yyjson_obj_size(object);

	return (rt_json_iter){.index = SIZE_MAX,
			      .count = count,
			      .next = count > 0 ? unsafe_yyjson_get_first(object) : NULL,
			      .is_object = true};
}

/* False: there are no more. */
static inline bool
rt_json_next(rt_json_iter *it)
{
	if (++it->index >= it->count)
		return false;
	it->value = it->next;
	if (it->is_object) {
		it->key = (rt_str){yyjson_get_str(it->next), yyjson_get_len(it->next)};
		it->value = it->next + 1;
	}
	it->next = unsafe_yyjson_get_next(it->value);
	return true;
}

/* A member's value and its key are adjacent. */
static inline yyjson_val *
rt_json_key_of(yyjson_val *value)
{
	return value - 1;
}
static inline yyjson_val *
rt_json_value_of(yyjson_val *key)
{
	return key + 1;
}
/* The keys of an object in the order of their bytes, each once: of repeated ones the last, which is
 * the one that counts. The caller frees the array. NULL: out of memory. O(n log n). */
yyjson_val **rt_json_sorted_keys(const rt_alloc *alloc, yyjson_val *object, size_t *out_count);

/* As yyjson_obj_foreach, for NULL too, which has no members. New code uses rt_json_members. */
#define rt_json_foreach(object, i, max, key, value)                                              \
	for ((i) = 0, (max) = yyjson_obj_size(object),                                             \
	    (key) = (max) > 0 ? unsafe_yyjson_get_first(object) : NULL,                             \
	    (value) = (key) != NULL ? (key) + 1 : NULL;                                             \
	     (i) < (max); (i)++, (key) = unsafe_yyjson_get_next(value), (value) = (key) + 1)

/* Member of an object by key; the last one of that name; NULL when missing or not an object. */
yyjson_val *rt_json_get_str(yyjson_val *object, rt_str key);
static inline yyjson_val *
rt_json_get(yyjson_val *object, const char *key)
{
	return rt_json_get_str(object, rt_str_of(key));
}
/* The string (or the raw number) as a view; empty view for anything else. */
rt_str rt_json_str(yyjson_val *value);
bool rt_json_is_number(yyjson_val *value);
/* A whole number in range; false for fractions, exponents, anything else. */
bool rt_json_i64(yyjson_val *value, int64_t *out);
bool rt_json_u64(yyjson_val *value, uint64_t *out);

/* Write. The text is what JavaScript's JSON.stringify writes: no spaces, short escapes,
 * \u00xx for other control characters, everything else raw. */
void rt_json_add_string(rt_buf *buf, rt_str s); /* with the quotes */
/* A value with its keys in their order (numbers as they were read). */
void rt_json_add_value(rt_buf *buf, yyjson_val *value);
/* The same with the keys of every object sorted by their bytes, repeats dropped: equal
 * values, equal bytes. */
void rt_json_add_sorted(rt_buf *buf, const rt_alloc *alloc, yyjson_val *value);
/* "key": preceded by a comma unless buf ends in '{', '[' or ','. */
void rt_json_add_key(rt_buf *buf, const char *key);
void rt_json_add_key_str(rt_buf *buf, rt_str key);
/* A comma unless buf ends in '{' or '[' or ',' or ':' or is empty. */
void rt_json_add_comma(rt_buf *buf);

/* Structured writing: the comma and the key are written where they belong, so callers never
 * write punctuation. key is the member's name; NULL: an item of an array, or the whole value.
 *
 *	rt_json_open(buf, NULL, '{');
 *	rt_json_put_str(buf, "role", role);
 *	rt_json_open(buf, "ids", '[');
 *	rt_json_put_u64(buf, NULL, 7);
 *	rt_json_close(buf, ']');
 *	rt_json_close(buf, '}');              {"role":"User","ids":[7]}
 *
 * The comma is decided by the last byte of buf: none after a bracket, comma, colon, space or
 * newline (so lines of JSON and "data: " need no care). An item may therefore not be added to an
 * empty buffer that continues an array written elsewhere. */
void rt_json_open(rt_buf *buf, const char *key, char bracket); /* '{' or '[' */
void rt_json_close(rt_buf *buf, char bracket);                 /* '}' or ']' */
void rt_json_put_str(rt_buf *buf, const char *key, rt_str s);
void rt_json_put_c(rt_buf *buf, const char *key, const char *cstr); /* NULL: null */
void rt_json_put_u64(rt_buf *buf, const char *key, uint64_t number);
void rt_json_put_i64(rt_buf *buf, const char *key, int64_t number);
void rt_json_put_bool(rt_buf *buf, const char *key, bool yes);
void rt_json_put_time(rt_buf *buf, const char *key, rt_moment at); /* rt_moment_format_ms */
void rt_json_put_null(rt_buf *buf, const char *key);
void rt_json_put_value(rt_buf *buf, const char *key, yyjson_val *value); /* NULL: null */
void rt_json_put_raw(rt_buf *buf, const char *key, rt_str json);        /* JSON, unchanged */

#endif
