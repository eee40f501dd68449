/* SPDX-License-Identifier: MIT
 *
 * yyjson reads; we check the depth beforehand (yyjson has no limit), repair input where an import
 * allows it, and write.
 *
 * Nothing here recurses: values are flat in memory, so the writer keeps a stack of open arrays and
 * objects, at most RT_JSON_DEPTH_MAX high. */
#include "codec/json.h"

#include <stdlib.h>

#include "base/encode.h"

struct rt_json_doc {
	const rt_alloc *alloc;
	yyjson_doc *doc;
	yyjson_alc alc;
};

static void *
alc_malloc(void *ctx, size_t size)
{
	return rt_new(ctx, size);
}

static void *
alc_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	(void)old_size;
	return rt_resize(ctx, ptr, size);
}

static void
alc_free(void *ctx, void *ptr)
{
	rt_free(ctx, ptr);
}

/* Sixteen bytes that are examined together. A comparison gives 0xFF where it is true. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

#define SAME16(c) \
	{ \
		c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c \
	}

static bytes16
load16(const char *p)
{
	bytes16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* How many of the bytes are 0xFF, where each is 0xFF or 0. */
static size_t
count16(bytes16 v)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t w[2];

	memcpy(w, &v, sizeof(w));
	if ((w[0] | w[1]) == 0)
		return 0;
	return (size_t)((((w[0] & ones) + (w[1] & ones)) * ones) >> 56);
}

/* The index of the first byte that is 0xFF, where each is 0xFF or 0; 16: none. */
static size_t
first16(bytes16 v)
{
	uint64_t w[2];

	memcpy(w, &v, sizeof(w));
	if ((w[0] | w[1]) == 0)
		return 16;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return w[0] != 0 ? (size_t)__builtin_clzll(w[0]) / 8 : 8 + (size_t)__builtin_clzll(w[1]) / 8;
#else
	return w[0] != 0 ? (size_t)__builtin_ctzll(w[0]) / 8 : 8 + (size_t)__builtin_ctzll(w[1]) / 8;
#endif
}

/* The end of the string whose contents begin at at: its quote, or at least the size of s. */
static size_t
string_end(rt_str s, size_t at)
{
	const bytes16 quote = SAME16('"'), slash = SAME16('\\');

	for (; at < s.size; at += 2) { /* past an escape */
		size_t first = 16;

		for (; first == 16 && s.size - at >= 16; at += first) {
			bytes16 c = load16(s.ptr + at);

			first = first16((bytes16)((c == quote) | (c == slash)));
		}
		while (at < s.size && s.ptr[at] != '"' && s.ptr[at] != '\\')
			at++;
		if (at >= s.size || s.ptr[at] == '"')
			break;
	}
	return at;
}

size_t
rt_json_too_deep_at(rt_str s, size_t max)
{
	const bytes16 lower = SAME16(0x20), bracket = SAME16('{');
	size_t depth = 0, at = 0, open = 0;

	/* A cheap upper bound first: fewer brackets than the limit cannot nest too deeply. '[' and
	 * '{' differ in one bit. */
	if (s.size <= max)
		return SIZE_MAX;
	for (; s.size - at >= 16 && open <= max; at += 16)
		open += count16((bytes16)((load16(s.ptr + at) | lower) == bracket));
	for (; at < s.size && s.size - at < 16; at++)
		open += s.ptr[at] == '[' || s.ptr[at] == '{';
	if (open <= max)
		return SIZE_MAX;
	for (size_t i = 0; i < s.size; i++) {
		switch (s.ptr[i]) {
		case '"': i = string_end(s, i + 1); break;
		case '[':
		case '{':
			if (++depth > max)
				return i;
			break;
		case ']':
		case '}': depth -= depth > 0; break;
		default: break;
		}
	}
	return SIZE_MAX;
}

static rt_status
fault_status(const yyjson_read_err *fault, rt_error *err)
{
	if (fault->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return rt_fail(err, RT_NOMEM, "out of memory while reading JSON");
	return rt_fail_at(err, RT_USAGE, fault->pos, "not valid JSON at byte %zu: %s", fault->pos,
			  fault->msg == NULL ? "unknown" : fault->msg);
}

static rt_status
check_depth(rt_str input, rt_error *err)
{
	size_t deep = rt_json_too_deep_at(input, RT_JSON_DEPTH_MAX);

	if (deep == SIZE_MAX)
		return RT_OK;
	return rt_fail_at(err, RT_LIMIT, deep,
			  "JSON is nested more than %d levels deep at byte %zu",
			  (int)RT_JSON_DEPTH_MAX, deep);
}

rt_status
rt_json_read(const rt_alloc *alloc, rt_str input, rt_json_doc **out_doc, rt_error *err)
{
	yyjson_read_err fault = {0};
	rt_json_doc *doc;
	rt_status st = check_depth(input, err);

	if (st != RT_OK)
		return st;
	if (input.size == 0)
		return rt_fail_at(err, RT_USAGE, 0, "not valid JSON at byte 0: the text is empty");
	doc = rt_new(alloc, sizeof(*doc));
	if (doc == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory while reading JSON");
	*doc = (rt_json_doc){.alloc = alloc,
			     .alc = {alc_malloc, alc_realloc, alc_free, (void *)(uintptr_t)alloc}};
	/* yyjson does not write to its input without the INSITU flag. */
	doc->doc = yyjson_read_opts((char *)(uintptr_t)(const void *)input.ptr, input.size,
				    YYJSON_READ_NUMBER_AS_RAW, &doc->alc, &fault);
	if (doc->doc == NULL) {
		rt_free(alloc, doc);
		return fault_status(&fault, err);
	}
	*out_doc = doc;
	return RT_OK;
}

/* The code unit of the escape \uXXXX at `at`; -1: there is none. */
static int
unit_at(rt_str in, size_t at)
{
	return in.size - at >= 6 && in.ptr[at] == '\\' && in.ptr[at + 1] == 'u'
		       ? rt_hex_number(in, at + 2, 4)
		       : -1;
}

/* At a byte that is not plain ASCII: the size of an invalid byte, or of the escape of a lone
 * surrogate; 0: *out_good bytes are valid. */
static size_t
bad_at(rt_str in, size_t at, size_t *out_good)
{
	rt_str rest = rt_str_at(in.ptr + at, in.size - at);
	int unit;

	if (rest.ptr[0] != '\\') {
		const char *slash;
		size_t good = rt_utf8_valid_size(rest);

		slash = good > 0 ? memchr(rest.ptr, '\\', good) : NULL;
		*out_good = slash != NULL ? (size_t)(slash - rest.ptr) : good;
		return good > 0 ? 0 : 1;
	}
	unit = unit_at(in, at);
	*out_good = unit >= 0 ? 6 : rest.size > 1 && (unsigned char)rest.ptr[1] < 0x80 ? 2 : 1;
	if (unit < 0xD800 || unit >= 0xE000)
		return 0;
	if (unit < 0xDC00) {
		int low = unit_at(in, at + 6);

		if (low >= 0xDC00 && low < 0xE000) {
			*out_good = 12;
			return 0;
		}
	}
	return 6;
}

/* Copy input, putting U+FFFD for bad bytes and for \u escapes of lone surrogates. */
static void
repair_copy(rt_buf *out, rt_str in, size_t *repaired)
{
	size_t from = 0, good, bad;

	for (size_t at = 0; at < in.size;) {
		if ((unsigned char)in.ptr[at] < 0x80 && in.ptr[at] != '\\') {
			at++;
			continue;
		}
		bad = bad_at(in, at, &good);
		if (bad > 0) {
			rt_buf_add(out, in.ptr + from, at - from);
			rt_buf_add(out, "\xEF\xBF\xBD", 3);
			(*repaired)++;
			from = at + bad;
			good = bad;
		}
		at += good;
	}
	if (in.size > from) /* a pointer must not be NULL */
		rt_buf_add(out, in.ptr + from, in.size - from);
}

rt_status
rt_json_read_repairing(const rt_alloc *alloc, rt_str input, rt_json_doc **out_doc,
		       size_t *out_repaired, rt_error *err)
{
	size_t repaired = 0;
	rt_error first;
	rt_buf copy;
	rt_status st = rt_json_read(alloc, input, out_doc, &first);

	if (st == RT_USAGE) {
		rt_buf_init(&copy, alloc, RT_BUF_UNLIMITED);
		repair_copy(&copy, input, &repaired);
		if (copy.status != RT_OK)
			st = rt_fail(&first, copy.status, "out of memory while reading JSON");
		else if (repaired > 0) /* positions in the copy are not those of the input */
			st = rt_json_read(alloc, rt_buf_str(&copy), out_doc, NULL);
		if (st == RT_NOMEM)
			rt_fail(&first, st, "out of memory while reading JSON");
		rt_buf_deinit(&copy);
	}
	if (out_repaired != NULL)
		*out_repaired = st == RT_OK ? repaired : 0;
	if (st != RT_OK && err != NULL)
		*err = first;
	return st;
}

yyjson_val *
rt_json_root(const rt_json_doc *doc)
{
	return yyjson_doc_get_root(doc->doc);
}

void
rt_json_free(rt_json_doc *doc)
{
	if (doc == NULL)
		return;
	yyjson_doc_free(doc->doc);
	rt_free(doc->alloc, doc);
}

bool
rt_json_is_deeper(yyjson_val *value, size_t max)
{
	const yyjson_val *ends[RT_JSON_DEPTH_MAX]; /* of the open arrays and objects */
	yyjson_val *end = unsafe_yyjson_get_next(value);
	size_t depth = 0;

	RT_ASSERT(max <= RT_JSON_DEPTH_MAX);
	for (yyjson_val *at = value; at < end; at++) {
		while (depth > 0 && at >= ends[depth - 1])
			depth--;
		if (!unsafe_yyjson_is_ctn(at))
			continue;
		if (depth == max)
			return true;
		ends[depth++] = unsafe_yyjson_get_next(at);
	}
	return false;
}

static void
close_doc(void *doc)
{
	rt_json_free(doc);
}

yyjson_val *
rt_json_parse(rt_scope *scope, rt_str input)
{
	rt_json_doc *doc = NULL;

	RT_TRY(scope, rt_json_read(scope->alloc, input, &doc, &scope->error));
	rt_scope_defer(scope, close_doc, doc);
	return rt_ok(scope) ? rt_json_root(doc) : NULL;
}

yyjson_val *
rt_json_get_str(yyjson_val *object, rt_str key)
{
	yyjson_val *found = NULL, *at;
	size_t left = yyjson_obj_size(object);

	for (at = left > 0 ? unsafe_yyjson_get_first(object) : NULL; left > 0; left--) {
		yyjson_val *value = rt_json_value_of(at);

		if (unsafe_yyjson_get_len(at) == key.size &&
		    (key.size == 0 || memcmp(unsafe_yyjson_get_str(at), key.ptr, key.size) == 0))
			found = value;
		at = unsafe_yyjson_get_next(value);
	}
	return found;
}

rt_str
rt_json_str(yyjson_val *value)
{
	if (yyjson_is_str(value))
		return rt_str_at(yyjson_get_str(value), yyjson_get_len(value));
	if (yyjson_is_raw(value))
		return rt_str_at(yyjson_get_raw(value), yyjson_get_len(value));
	return rt_str_at(NULL, 0);
}

bool
rt_json_is_number(yyjson_val *value)
{
	return yyjson_is_raw(value);
}

bool
rt_json_u64(yyjson_val *value, uint64_t *out)
{
	return yyjson_is_raw(value) && rt_str_u64(rt_json_str(value), UINT64_MAX, out);
}

bool
rt_json_i64(yyjson_val *value, int64_t *out)
{
	rt_str s = rt_json_str(value);
	bool negative = s.size > 0 && s.ptr[0] == '-';
	uint64_t number;

	if (!yyjson_is_raw(value) ||
	    !rt_str_u64(rt_str_skip(s, negative), (uint64_t)INT64_MAX + negative, &number))
		return false;
	*out = negative ? (int64_t)(0 - number) : (int64_t)number;
	return true;
}

/* The first byte from i on that has to be escaped in a JSON string. */
static size_t
next_escape(rt_str s, size_t i)
{
	const bytes16 quote = SAME16('"'), slash = SAME16('\\'), blank = SAME16(0x20);

	for (size_t first = 16; first == 16 && s.size - i >= 16; i += first) {
		bytes16 v = load16(s.ptr + i);

		first = first16((bytes16)((v == quote) | (v == slash) | (v < blank)));
	}
	for (; i < s.size; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		if (c < 0x20 || c == '"' || c == '\\')
			break;
	}
	return i;
}

void
rt_json_add_string(rt_buf *buf, rt_str s)
{
	static const char hex[] = "0123456789abcdef";
	size_t from = 0, i;

	if (s.size == 0) {
		rt_buf_add(buf, "\"\"", 2);
		return;
	}
	rt_buf_add_byte(buf, '"');
	for (i = next_escape(s, 0); i < s.size; i = next_escape(s, i + 1)) {
		unsigned char c = (unsigned char)s.ptr[i];
		char escape[6] = {'\\', 0, '0', '0', 0, 0};
		size_t size = 2;

		switch (c) {
		case '"': escape[1] = '"'; break;
		case '\\': escape[1] = '\\'; break;
		case '\b': escape[1] = 'b'; break;
		case '\f': escape[1] = 'f'; break;
		case '\n': escape[1] = 'n'; break;
		case '\r': escape[1] = 'r'; break;
		case '\t': escape[1] = 't'; break;
		default:
			escape[1] = 'u';
			escape[4] = hex[c >> 4];
			escape[5] = hex[c & 15];
			size = 6;
			break;
		}
		rt_buf_add(buf, s.ptr + from, i - from);
		rt_buf_add(buf, escape, size);
		from = i + 1;
	}
	rt_buf_add(buf, s.ptr + from, s.size - from);
	rt_buf_add_byte(buf, '"');
}

static void
add_scalar(rt_buf *buf, yyjson_val *value)
{
	switch (yyjson_get_type(value)) {
	case YYJSON_TYPE_NULL: rt_buf_add(buf, "null", 4); break;
	case YYJSON_TYPE_BOOL: rt_buf_add_c(buf, yyjson_get_bool(value) ? "true" : "false"); break;
	case YYJSON_TYPE_RAW: rt_buf_add_str(buf, rt_json_str(value)); break;
	case YYJSON_TYPE_STR: rt_json_add_string(buf, rt_json_str(value)); break;
	default: rt_buf_add(buf, "null", 4); break;
	}
}

enum { FEW_LEVELS = 16 };

/* One open array or object of the writer. */
typedef struct level {
	yyjson_val *next; /* the next key or element */
	size_t left;      /* members still to write */
	bool is_object;
	yyjson_val **pairs; /* sorted keys, or NULL for the order of the document */
	size_t at;
} level;

static int
key_order(const void *a, const void *b)
{
	yyjson_val *x = *(yyjson_val *const *)a, *y = *(yyjson_val *const *)b;
	int order = rt_str_cmp(rt_json_str(x), rt_json_str(y));

	/* Equal keys: the later one of the document first, so that it is the one kept. */
	return order != 0 ? order : (x < y) - (x > y);
}

yyjson_val **
rt_json_sorted_keys(const rt_alloc *alloc, yyjson_val *object, size_t *out_count)
{
	yyjson_val **keys = rt_new_array(alloc, yyjson_obj_size(object), sizeof(*keys));
	size_t count = 0, kept = 0;

	*out_count = 0;
	if (keys == NULL)
		return NULL;
	for (rt_json_iter it = rt_json_members(object); rt_json_next(&it);)
		keys[count++] = rt_json_key_of(it.value);
	qsort(keys, count, sizeof(*keys), key_order);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || !rt_str_eq(rt_json_str(keys[kept - 1]), rt_json_str(keys[i])))
			keys[kept++] = keys[i];
	*out_count = kept;
	return keys;
}

/* Capacity for all levels, with those so far. NULL: no memory. */
static level *
deeper(const rt_alloc *alloc, const level few[FEW_LEVELS])
{
	level *stack = rt_new_array(alloc, RT_JSON_DEPTH_MAX + 1, sizeof(*stack));

	if (stack != NULL)
		memcpy(stack, few, FEW_LEVELS * sizeof(*few));
	return stack;
}

static void
add_tree(rt_buf *buf, const rt_alloc *alloc, yyjson_val *root, bool sorted)
{
	level few[FEW_LEVELS], *stack = few; /* most values need no more; else in the heap */
	size_t depth = 0, room = FEW_LEVELS;
	yyjson_val *value = root;

	if (!yyjson_is_ctn(root)) {
		add_scalar(buf, root);
		return;
	}
	for (;;) {
		if (value != NULL && yyjson_is_ctn(value)) {
			level *l;

			if (depth == room) {
				stack = deeper(alloc, few);
				room = RT_JSON_DEPTH_MAX + 1;
			}
			if (stack == NULL) {
				buf->status = RT_NOMEM;
				break;
			}
			l = &stack[depth++];
			RT_ASSERT(depth <= RT_JSON_DEPTH_MAX);
			l->is_object = yyjson_is_obj(value);
			l->left = yyjson_get_len(value);
			l->next = l->left > 0 ? unsafe_yyjson_get_first(value) : NULL;
			l->pairs = NULL;
			l->at = 0;
			rt_buf_add_byte(buf, l->is_object ? '{' : '[');
			if (sorted && l->is_object) {
				l->pairs = rt_json_sorted_keys(alloc, value, &l->left);
				if (l->pairs == NULL) {
					buf->status = RT_NOMEM;
					break;
				}
			}
		} else if (value != NULL) {
			add_scalar(buf, value);
		}
		while (depth > 0 && stack[depth - 1].at == stack[depth - 1].left) {
			level *l = &stack[--depth];

			rt_buf_add_byte(buf, l->is_object ? '}' : ']');
			rt_free(alloc, l->pairs);
			l->pairs = NULL;
		}
		if (depth == 0 || buf->status != RT_OK)
			break;
		{
			level *l = &stack[depth - 1];
			yyjson_val *key = l->pairs != NULL ? l->pairs[l->at] : l->next;

			if (l->at++ > 0)
				rt_buf_add_byte(buf, ',');
			if (l->is_object) {
				rt_json_add_string(buf, rt_json_str(key));
				rt_buf_add_byte(buf, ':');
				value = rt_json_value_of(key);
			} else {
				value = key;
			}
			if (l->pairs == NULL)
				l->next = unsafe_yyjson_get_next(value);
		}
	}
	while (depth > 0)
		rt_free(alloc, (stack != NULL ? stack : few)[--depth].pairs);
	if (stack != few)
		rt_free(alloc, stack);
}

void
rt_json_add_value(rt_buf *buf, yyjson_val *value)
{
	add_tree(buf, buf->alloc, value, false);
}

void
rt_json_add_sorted(rt_buf *buf, const rt_alloc *alloc, yyjson_val *value)
{
	add_tree(buf, alloc, value, true);
}

void
rt_json_add_comma(rt_buf *buf)
{
	char last = buf->size > 0 ? buf->ptr[buf->size - 1] : '{';

	if (last != '{' && last != '[' && last != ',' && last != ':')
		rt_buf_add_byte(buf, ',');
}

void
rt_json_add_key_str(rt_buf *buf, rt_str key)
{
	rt_json_add_comma(buf);
	rt_json_add_string(buf, key);
	rt_buf_add_byte(buf, ':');
}

void
rt_json_add_key(rt_buf *buf, const char *key)
{
	rt_json_add_key_str(buf, rt_str_of(key));
}

/* ---- structured writing ---- */

static void
put_key(rt_buf *buf, const char *key)
{
	switch (buf->size > 0 ? buf->ptr[buf->size - 1] : '\n') {
	case '{':
	case '[':
	case ',':
	case ':':
	case ' ':
	case '\n': break;
	default: rt_buf_add_byte(buf, ',');
	}
	if (key != NULL) {
		rt_json_add_string(buf, rt_str_of(key));
		rt_buf_add_byte(buf, ':');
	}
}

void
rt_json_open(rt_buf *buf, const char *key, char bracket)
{
	put_key(buf, key);
	rt_buf_add_byte(buf, bracket);
}

void
rt_json_close(rt_buf *buf, char bracket)
{
	rt_buf_add_byte(buf, bracket);
}

void
rt_json_put_str(rt_buf *buf, const char *key, rt_str s)
{
	put_key(buf, key);
	rt_json_add_string(buf, s);
}

void
rt_json_put_c(rt_buf *buf, const char *key, const char *cstr)
{
	if (cstr == NULL)
		rt_json_put_null(buf, key);
	else
		rt_json_put_str(buf, key, rt_str_of(cstr));
}

void
rt_json_put_u64(rt_buf *buf, const char *key, uint64_t number)
{
	put_key(buf, key);
	rt_buf_add_u64(buf, number);
}

void
rt_json_put_i64(rt_buf *buf, const char *key, int64_t number)
{
	put_key(buf, key);
	rt_buf_add_i64(buf, number);
}

void
rt_json_put_bool(rt_buf *buf, const char *key, bool yes)
{
	put_key(buf, key);
	rt_buf_add_c(buf, yes ? "true" : "false");
}

void
rt_json_put_time(rt_buf *buf, const char *key, rt_moment at)
{
	put_key(buf, key);
	rt_buf_add_byte(buf, '"');
	rt_moment_format_ms(buf, at);
	rt_buf_add_byte(buf, '"');
}

void
rt_json_put_null(rt_buf *buf, const char *key)
{
	put_key(buf, key);
	rt_buf_add_c(buf, "null");
}

void
rt_json_put_value(rt_buf *buf, const char *key, yyjson_val *value)
{
	if (value == NULL) {
		rt_json_put_null(buf, key);
		return;
	}
	put_key(buf, key);
	rt_json_add_value(buf, value);
}

void
rt_json_put_raw(rt_buf *buf, const char *key, rt_str json)
{
	put_key(buf, key);
	rt_buf_add_str(buf, json);
}
