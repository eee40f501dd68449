/* SPDX-License-Identifier: MIT
 *
 * Events of the TOML parser become JSON text. The nesting is checked before the text is given to
 * the parser, which recurses. */
#include "codec/toml.h"

#include "codec/toml_shim.h"

#define JSON_MARK RT_TOML_JSON_MARK
#define TOML_MARK RT_TOML_MARK

bool
rt_toml_is_left(rt_str json)
{
	return rt_json_too_deep_at(json, RT_TOML_EMBED_DEPTH_MAX) != SIZE_MAX;
}

#ifdef RT_WITH_TOML

/* The nesting of TOML, computed from its brackets and dots alone. dots has one item for each open
 * bracket, item 0 for none; the parts of a header count for the lines below it. */
typedef struct depth_scan {
	unsigned dots[RT_TOML_DEPTH_MAX + 2];
	unsigned open; /* brackets */
	unsigned sum;  /* of all dots */
	unsigned header;
	bool line_is_new, in_header;
} depth_scan;

/* The position after the string or comment that begins at at. */
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

/* The position at which the nesting exceeds the limit; SIZE_MAX: nowhere. */
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

/* The value of a marked key: JSON in a string. False: not marked. */
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
on_event(void *ctx, rt_toml_event event, const char *bytes, size_t size, rt_toml_at at)
{
	sink *s = ctx;
	rt_str text = rt_str_at(bytes, size);

	(void)at;
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
	result = rt_toml_parse(input.ptr == NULL ? "" : input.ptr, input.size, on_event, &s,
			       &fault);
	rt_buf_deinit(&s.mark);
	if (result == RT_TOML_NOMEM || (result == RT_TOML_OK && out->status != RT_OK))
		return rt_fail(err, RT_NOMEM, "out of memory while reading TOML");
	if (result != RT_TOML_OK)
		return fail_malformed(err, input, &fault);
	return RT_OK;
}

/* The search for a key: each open table or array is a level, and the levels that lead to the key
 * are on the path. */
typedef struct finder {
	const rt_str *path;
	size_t path_count;
	size_t depth;    /* open levels */
	size_t on_path;  /* how many of them, from the outermost, are on the path */
	uint64_t index;  /* of the next item, in the level on_path, when that is an array */
	bool in_array;   /* is that level an array? */
	bool next_is_on; /* the next level that opens is on the path */
	rt_toml_at found;
} finder;

/* An item of an array on the path begins: is it the one named by the path? */
static void
find_item(finder *f)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t number = f->index++;

	do
		digits[--at] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	f->next_is_on = f->on_path <= f->path_count && rt_str_eq(f->path[f->on_path - 1],
				  rt_str_at(digits + at, sizeof(digits) - at));
}

static void
find_key(void *ctx, rt_toml_event event, const char *bytes, size_t size, rt_toml_at at)
{
	finder *f = ctx;
	bool on = f->on_path == f->depth;

	if (event == RT_TOML_TABLE_END || event == RT_TOML_ARRAY_END) {
		f->depth--;
		if (f->on_path > f->depth) { /* none of its siblings is on the path */
			f->on_path = f->depth;
			f->path_count = 0;
		}
		return;
	}
	if (f->found.line != 0 || f->path_count == 0)
		on = false;
	if (event == RT_TOML_KEY) {
		f->next_is_on = on && rt_str_eq(rt_str_at(bytes, size), f->path[f->on_path - 1]);
		if (f->next_is_on && f->on_path == f->path_count)
			f->found = at;
		return;
	}
	if (on && f->in_array && f->depth > 0)
		find_item(f);
	if (event == RT_TOML_TABLE || event == RT_TOML_ARRAY) {
		if (on && (f->next_is_on || f->depth == 0) && f->on_path < f->path_count) {
			f->on_path++;
			f->index = 0;
			f->in_array = event == RT_TOML_ARRAY;
		}
		f->depth++;
	}
	f->next_is_on = false;
}

bool
rt_toml_find(rt_str input, const rt_str *path, size_t path_count, uint64_t *out_line,
	     uint64_t *out_column)
{
	finder f = {.path = path, .path_count = path_count};
	rt_toml_fault fault;

	if (path_count == 0 || too_deep_at(input) != SIZE_MAX ||
	    rt_toml_parse(input.ptr == NULL ? "" : input.ptr, input.size, find_key, &f, &fault) !=
		    RT_TOML_OK || f.found.line == 0)
		return false;
	*out_line = f.found.line;
	*out_column = f.found.column;
	return true;
}

static void
match_literal(void *ctx, rt_toml_event event, const char *bytes, size_t size, rt_toml_at at)
{
	rt_str *left = ctx; /* emptied by the event that is expected */

	(void)at;
	if (event == RT_TOML_LITERAL && rt_str_eq(rt_str_at(bytes, size), *left))
		left->size = 0;
}

bool
rt_toml_is_literal(rt_str text)
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
	return rt_fail(err, RT_REFUSED, "this build of Retake cannot read TOML; rebuild it with toml++");
}

bool
rt_toml_find(rt_str input, const rt_str *path, size_t path_count, uint64_t *out_line,
	     uint64_t *out_column)
{
	(void)input;
	(void)path;
	(void)path_count;
	(void)out_line;
	(void)out_column;
	return false;
}

bool
rt_toml_is_literal(rt_str text)
{
	(void)text;
	return false;
}

#endif
