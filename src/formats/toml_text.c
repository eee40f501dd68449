/* SPDX-License-Identifier: MIT
 *
 * Events of the TOML parser become JSON text; JSON values become TOML text. Recursion is
 * over values that were checked to nest no deeper than the limits in toml_text.h. */
#include "formats/toml_text.h"

#include <stdlib.h> /* qsort */

#include "formats/toml_shim.h"

#define JSON_MARK "json:"
#define TOML_MARK "$toml"

/* Reading */

bool
rt_toml_is_left(rt_str json)
{
	size_t depth = 0, i;

	for (i = 0; i < json.size; i++) {
		switch (json.ptr[i]) {
		case '"':
			for (i++; i < json.size && json.ptr[i] != '"'; i++)
				i += json.ptr[i] == '\\';
			break;
		case '[':
		case '{':
			if (++depth > RT_TOML_EMBED_DEPTH_MAX)
				return true;
			break;
		case ']':
		case '}': depth -= depth > 0; break;
		default: break;
		}
	}
	return false;
}

#ifdef RT_WITH_TOML

/* How deep TOML nests, told from its brackets and dots alone. dots has one item for each
 * open bracket, item 0 for none; the parts of a header count for the lines below it. */
typedef struct depth_scan {
	unsigned dots[RT_TOML_DEPTH_MAX + 2];
	unsigned open; /* brackets */
	unsigned sum;  /* of all dots */
	unsigned header;
	bool line_is_new, in_header;
} depth_scan;

/* Behind the string or comment that begins at at. */
static size_t
skip_quoted(rt_str in, size_t at)
{
	char quote = in.ptr[at];
	bool is_long = at + 2 < in.size && in.ptr[at + 1] == quote && in.ptr[at + 2] == quote;

	if (quote == '#') {
		const char *nl = memchr(in.ptr + at, '\n', in.size - at);

		return nl == NULL ? in.size : (size_t)(nl - in.ptr);
	}
	at += is_long ? 3 : 1;
	for (; at < in.size; at++) {
		char c = in.ptr[at];

		if (c == '\\' && quote == '"')
			at++;
		else if (c == '\n' && !is_long)
			return at;
		else if (c == quote && !is_long)
			return at + 1;
		else if (c == quote && at + 2 < in.size && in.ptr[at + 1] == quote &&
			 in.ptr[at + 2] == quote)
			return at + 3;
	}
	return in.size;
}

static void
scan_byte(depth_scan *s, char c)
{
	switch (c) {
	case '[':
	case '{':
		if (s->line_is_new && s->open == 0 && c == '[') {
			s->in_header = true;
			s->header = 1;
		}
		s->open++;
		if (s->open <= RT_TOML_DEPTH_MAX)
			s->dots[s->open] = 0;
		break;
	case ']':
	case '}':
		if (s->open > 0)
			s->sum -= s->dots[s->open--];
		break;
	case '.':
		if (s->in_header) {
			s->header++;
		} else {
			s->dots[s->open]++;
			s->sum++;
		}
		break;
	case ',':
		s->sum -= s->dots[s->open];
		s->dots[s->open] = 0;
		break;
	case '\n':
		if (s->open == 0) {
			s->sum -= s->dots[0];
			s->dots[0] = 0;
		}
		s->in_header = false;
		break;
	default: break;
	}
	s->line_is_new = c == '\n' || (s->line_is_new && (c == ' ' || c == '\t'));
}

/* Position where it nests too deep; SIZE_MAX: nowhere. */
static size_t
too_deep_at(rt_str in)
{
	depth_scan s;
	size_t at = 0;

	memset(&s, 0, sizeof(s));
	s.line_is_new = true;
	while (at < in.size) {
		char c = in.ptr[at];

		if (c == '"' || c == '\'' || c == '#') {
			at = skip_quoted(in, at);
			s.line_is_new = false;
			continue;
		}
		scan_byte(&s, c);
		if (s.open + s.sum + s.header > RT_TOML_DEPTH_MAX)
			return at;
		at++;
	}
	return SIZE_MAX;
}

typedef struct sink {
	const rt_alloc *alloc;
	rt_buf *out;
	rt_buf mark;  /* a key that begins with JSON_MARK, until its value has come */
	bool marked;
} sink;

/* The value of a marked key: JSON in a string, unless it only looks so. */
static bool
add_embedded(sink *s, rt_str text)
{
	rt_json_doc *doc = NULL;
	rt_str key = rt_buf_str(&s->mark);
	rt_status st;

	if (rt_toml_is_left(text))
		return false;
	st = rt_json_read(s->alloc, text, &doc, NULL);
	if (st == RT_NOMEM)
		s->out->status = st;
	if (st != RT_OK)
		return false;
	rt_json_add_key_str(s->out, rt_str_at(key.ptr + strlen(JSON_MARK),
					      key.size - strlen(JSON_MARK)));
	rt_json_add_value(s->out, rt_json_root(doc));
	rt_json_free(doc);
	return true;
}

static void
take_event(void *ctx, rt_toml_event event, const char *bytes, size_t size)
{
	sink *s = ctx;
	rt_str text = rt_str_at(bytes, size);

	if (s->marked) {
		s->marked = false;
		if (event == RT_TOML_STRING && add_embedded(s, text))
			return;
		rt_json_add_key_str(s->out, rt_buf_str(&s->mark));
	}
	if (event == RT_TOML_KEY) {
		if (rt_str_starts(text, RT_STR(JSON_MARK))) {
			rt_buf_clear(&s->mark);
			rt_buf_add_str(&s->mark, text);
			s->marked = s->mark.status == RT_OK;
			if (!s->marked)
				s->out->status = s->mark.status;
		} else {
			rt_json_add_key_str(s->out, text);
		}
		return;
	}
	if (event != RT_TOML_TABLE_END && event != RT_TOML_ARRAY_END)
		rt_json_add_comma(s->out);
	switch (event) {
	case RT_TOML_TABLE: rt_buf_add_byte(s->out, '{'); break;
	case RT_TOML_TABLE_END: rt_buf_add_byte(s->out, '}'); break;
	case RT_TOML_ARRAY: rt_buf_add_byte(s->out, '['); break;
	case RT_TOML_ARRAY_END: rt_buf_add_byte(s->out, ']'); break;
	case RT_TOML_STRING: rt_json_add_string(s->out, text); break;
	case RT_TOML_NUMBER: rt_buf_add_str(s->out, text); break;
	case RT_TOML_LITERAL:
		rt_buf_add_c(s->out, "{\"" TOML_MARK "\":");
		rt_json_add_string(s->out, text);
		rt_buf_add_byte(s->out, '}');
		break;
	case RT_TOML_TRUE: rt_buf_add_c(s->out, "true"); break;
	case RT_TOML_FALSE: rt_buf_add_c(s->out, "false"); break;
	case RT_TOML_KEY: break;
	}
}

/* The byte at a line and column of code points. */
static size_t
position_of(rt_str in, unsigned long line, unsigned long column)
{
	size_t at = 0;

	while (line > 1 && at < in.size) {
		const char *nl = memchr(in.ptr + at, '\n', in.size - at);

		if (nl == NULL)
			return in.size;
		at = (size_t)(nl - in.ptr) + 1;
		line--;
	}
	while (column > 1 && at < in.size) {
		at++;
		while (at < in.size && ((unsigned char)in.ptr[at] & 0xC0) == 0x80)
			at++;
		column--;
	}
	return at;
}

static rt_status
fail_malformed(rt_error *err, rt_str input, const rt_toml_fault *fault)
{
	size_t at = position_of(input, fault->line, fault->column);
	rt_status st = rt_fail_at(err, RT_USAGE, at, "not valid TOML at line %lu, column %lu: %s",
				  fault->line, fault->column, fault->text);
	char *c;

	if (err != NULL) {
		err->line = fault->line;
		for (c = err->text; *c != '\0'; c++)
			if ((unsigned char)*c < 0x20)
				*c = ' ';
	}
	return st;
}

rt_status
rt_toml_to_json(const rt_alloc *alloc, rt_str input, rt_buf *out, rt_error *err)
{
	sink s = {.alloc = alloc, .out = out};
	rt_toml_fault fault = {0, 0, ""};
	rt_toml_result result;
	size_t deep = too_deep_at(input);

	if (deep != SIZE_MAX)
		return rt_fail_at(err, RT_LIMIT, deep,
				  "TOML is nested more than %d levels deep at byte %zu",
				  (int)RT_TOML_DEPTH_MAX, deep);
	rt_buf_init(&s.mark, alloc, RT_BUF_UNLIMITED);
	result = rt_toml_parse(input.ptr == NULL ? "" : input.ptr, input.size, take_event, &s,
			       &fault);
	rt_buf_deinit(&s.mark);
	if (result == RT_TOML_NOMEM || (result == RT_TOML_OK && out->status != RT_OK))
		return rt_fail(err, RT_NOMEM, "out of memory while reading TOML");
	if (result != RT_TOML_OK)
		return fail_malformed(err, input, &fault);
	return RT_OK;
}

/* Does text stand for itself in TOML, and come back as it is? */
static void
match_literal(void *ctx, rt_toml_event event, const char *bytes, size_t size)
{
	rt_str *left = ctx; /* emptied by the one event that is wanted */

	if (event == RT_TOML_LITERAL && rt_str_eq(rt_str_at(bytes, size), *left))
		left->size = 0;
}

static bool
is_literal(rt_str text)
{
	char line[64] = "a=";
	rt_toml_fault fault;
	rt_str left = text;
	size_t i;

	if (text.size == 0 || text.size > 40)
		return false;
	for (i = 0; i < text.size; i++)
		if (memchr("0123456789-+:.TZinfa", text.ptr[i], 20) == NULL)
			return false;
	memcpy(line + 2, text.ptr, text.size);
	return rt_toml_parse(line, text.size + 2, match_literal, &left, &fault) == RT_TOML_OK &&
	       left.size == 0;
}

#else /* without toml++ */

rt_status
rt_toml_to_json(const rt_alloc *alloc, rt_str input, rt_buf *out, rt_error *err)
{
	(void)alloc;
	(void)input;
	(void)out;
	return rt_fail(err, RT_REFUSED, "this build of Retake cannot read TOML");
}

static bool
is_literal(rt_str text)
{
	(void)text;
	return false;
}

#endif

/* Writing */

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
	yyjson_obj_foreach(object, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (rt_str_is(name, TOML_MARK) && max == 1)
			return yyjson_is_str(value) && is_literal(rt_json_str(value));
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
		yyjson_obj_foreach(value, i, max, key, item)
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
	yyjson_obj_foreach(object, i, max, key, value)
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
