/* SPDX-License-Identifier: MIT
 *
 * One line of a session file. */
#include "formats/pi_impl.h"

void
rt_pi_reader_init(rt_pi_reader *reader, rt_scope *texts)
{
	*reader = (rt_pi_reader){texts, NULL};
}

void
rt_pi_reader_deinit(rt_pi_reader *reader)
{
	rt_json_free(reader->doc);
	reader->doc = NULL;
}

/* Size of the white space character at s.ptr[at] as JavaScript's trim knows it, or 0. */
static size_t
space_at(rt_str s, size_t at)
{
	const unsigned char *p = (const unsigned char *)s.ptr + at;
	size_t left = s.size - at;

	if (p[0] == ' ' || (p[0] >= '\t' && p[0] <= '\r'))
		return 1;
	if (left >= 2 && p[0] == 0xC2 && p[1] == 0xA0) /* U+00A0 */
		return 2;
	if (left < 3)
		return 0;
	if (p[0] == 0xE1 && p[1] == 0x9A && p[2] == 0x80) /* U+1680 */
		return 3;
	if (p[0] == 0xE2 && p[1] == 0x80 && /* U+2000 … 200A, 2028, 2029, 202F */
	    ((p[2] >= 0x80 && p[2] <= 0x8A) || p[2] == 0xA8 || p[2] == 0xA9 || p[2] == 0xAF))
		return 3;
	if (p[0] == 0xE2 && p[1] == 0x81 && p[2] == 0x9F) /* U+205F */
		return 3;
	if (p[0] == 0xE3 && p[1] == 0x80 && p[2] == 0x80) /* U+3000 */
		return 3;
	if (p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) /* U+FEFF */
		return 3;
	return 0;
}

rt_str
rt_pi_trim(rt_str s)
{
	size_t step;

	while (s.size > 0 && (step = space_at(s, 0)) > 0)
		s = rt_str_at(s.ptr + step, s.size - step);
	for (;;) {
		for (step = 1; step <= 3 && step <= s.size; step++)
			if (space_at(s, s.size - step) == step)
				break;
		if (step > 3 || step > s.size)
			return s;
		s.size -= step;
	}
}

int64_t
rt_pi_ms(rt_moment at)
{
	return at.us >= 0 ? at.us / 1000 : -((-at.us + 999) / 1000);
}

static bool
is_falsy(yyjson_val *value)
{
	rt_str s = rt_json_str(value);

	if (yyjson_is_null(value) || yyjson_is_false(value))
		return true;
	if (yyjson_is_str(value))
		return s.size == 0;
	if (!rt_json_is_number(value))
		return false;
	for (size_t i = 0; i < s.size && s.ptr[i] != 'e' && s.ptr[i] != 'E'; i++)
		if (s.ptr[i] >= '1' && s.ptr[i] <= '9')
			return false;
	return true;
}

/* Milliseconds as a JSON number; fractions are cut. */
static bool
read_ms(yyjson_val *value, rt_moment *out)
{
	const int64_t last = 253402300799999, first = -62135596800000; /* years 1 to 9999 */
	rt_str s = rt_json_str(value);
	bool negative = s.size > 0 && s.ptr[0] == '-';
	int64_t ms = 0;
	size_t i;

	if (!rt_json_is_number(value))
		return false;
	for (i = negative; i < s.size && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++) {
		if (ms > last)
			return false;
		ms = ms * 10 + (s.ptr[i] - '0');
	}
	if (i < s.size && s.ptr[i] != '.')
		return false;
	for (; i < s.size; i++)
		if (s.ptr[i] == 'e' || s.ptr[i] == 'E')
			return false;
	if (negative)
		ms = -ms;
	if (ms > last || ms < first)
		return false;
	out->us = ms * 1000;
	out->ns = 0;
	return true;
}

static rt_pi_type
type_of(rt_str type)
{
	static const struct {
		const char *name;
		rt_pi_type type;
	} types[] = {
		{"message", RT_PI_MESSAGE},
		{"label", RT_PI_LABEL},
		{"usage", RT_PI_USAGE},
		{"custom", RT_PI_CUSTOM},
		{"custom_message", RT_PI_CUSTOM_MESSAGE},
		{"model_change", RT_PI_MODEL_CHANGE},
		{"thinking_level_change", RT_PI_THINKING_LEVEL_CHANGE},
		{"compaction", RT_PI_COMPACTION},
		{"branch_summary", RT_PI_BRANCH_SUMMARY},
		{"context_edit", RT_PI_CONTEXT_EDIT},
		{"session_info", RT_PI_SESSION_INFO},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (rt_str_is(type, types[i].name))
			return types[i].type;
	return RT_PI_OTHER;
}

/* A member that is a string, copied; ptr NULL: it is missing, or none. */
static rt_str
text_of(rt_pi_reader *reader, yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	return yyjson_is_str(value) ? rt_scope_copy(reader->texts, rt_json_str(value))
				    : rt_str_at(NULL, 0);
}

/* The members that only some types have. */
static void
read_own(rt_pi_reader *reader, yyjson_val *object, rt_pi_entry *e)
{
	yyjson_val *message = rt_json_get(object, "message");
	yyjson_val *summary = rt_json_get(object, "summary");

	switch (e->kind) {
	case RT_PI_MESSAGE:
		e->speaks = yyjson_is_obj(message);
		e->role = text_of(reader, message, "role");
		if (rt_str_is(e->role, "assistant")) {
			e->text = text_of(reader, message, "provider");
			e->model = text_of(reader, message, "model");
		}
		break;
	case RT_PI_THINKING_LEVEL_CHANGE: e->text = text_of(reader, object, "thinkingLevel"); break;
	case RT_PI_MODEL_CHANGE:
		e->text = text_of(reader, object, "provider");
		e->model = text_of(reader, object, "modelId");
		break;
	case RT_PI_COMPACTION:
		e->speaks = true;
		e->target = text_of(reader, object, "firstKeptEntryId");
		break;
	case RT_PI_BRANCH_SUMMARY:
		e->speaks = yyjson_is_str(summary) && yyjson_get_len(summary) > 0;
		break;
	case RT_PI_CUSTOM_MESSAGE: e->speaks = true; break;
	case RT_PI_CONTEXT_EDIT: e->target = text_of(reader, object, "targetId"); break;
	case RT_PI_LABEL:
		e->target = text_of(reader, object, "targetId");
		e->text = text_of(reader, object, "label");
		break;
	case RT_PI_SESSION_INFO: e->text = text_of(reader, object, "name"); break;
	case RT_PI_USAGE:
	case RT_PI_CUSTOM:
	case RT_PI_OTHER: break;
	}
}

static int
version_of(yyjson_val *value)
{
	rt_str digits = rt_json_str(value); /* the number as text, or a string */
	int version = 0;
	size_t i;

	if (digits.size == 0 || digits.ptr[0] < '0' || digits.ptr[0] > '9') /* not a number: */
		return value == NULL || yyjson_is_null(value) || rt_json_is_number(value)
			       ? 1
			       : RT_PI_VERSION; /* smaller than nothing */
	for (i = 0; i < digits.size && i < 6 && digits.ptr[i] >= '0' && digits.ptr[i] <= '9'; i++)
		version = version * 10 + (digits.ptr[i] - '0');
	return i < digits.size && (digits.ptr[i] == 'e' || digits.ptr[i] == 'E')
		       ? RT_PI_VERSION /* 3e0: leave it alone */
		       : version;
}

static void
read_object(rt_pi_reader *reader, rt_pi_record *out)
{
	yyjson_val *object = out->object, *retake = rt_json_get(object, "retake");
	yyjson_val *ts = rt_json_get(object, "timestamp");
	rt_pi_entry *e = &out->entry;

	e->type = text_of(reader, object, "type");
	e->id = text_of(reader, object, "id");
	e->parent_id = text_of(reader, object, "parentId");
	e->kind = type_of(e->type);
	if (yyjson_is_str(ts) ? rt_moment_parse(rt_json_str(ts), &e->ts) : read_ms(ts, &e->ts))
		e->ts_from = RT_PI_TS_ENTRY;
	else if (e->kind == RT_PI_MESSAGE &&
		 read_ms(rt_json_get(rt_json_get(object, "message"), "timestamp"), &e->ts))
		e->ts_from = RT_PI_TS_MESSAGE;
	read_own(reader, object, e);
	e->muted = yyjson_is_true(rt_json_get(retake, "muted"));
	e->collapsed = yyjson_is_true(rt_json_get(retake, "collapsed"));
	e->read_mode = yyjson_is_true(rt_json_get(retake, "read_mode"));
	e->retake_role = text_of(reader, retake, "role");
	e->retake_kind = text_of(reader, retake, "kind");
	if (!rt_str_is(e->type, "session"))
		return;
	out->is_header = true;
	out->version = version_of(rt_json_get(object, "version"));
	out->cwd = text_of(reader, object, "cwd");
	out->parent_session = text_of(reader, object, "parentSession");
	out->timestamp = text_of(reader, object, "timestamp");
}

bool
rt_pi_reader_read(rt_pi_reader *reader, rt_str line, rt_pi_record *out)
{
	yyjson_val *root;
	rt_status st;

	*out = (rt_pi_record){.what = RT_PI_LINE_BLANK, .entry.line = line};
	rt_pi_reader_deinit(reader);
	if (line.size == 0 || (line.ptr[0] != '{' && rt_pi_trim(line).size == 0))
		return rt_ok(reader->texts);
	st = rt_json_read_repairing(reader->texts->alloc, line, &reader->doc, NULL, NULL);
	if (st == RT_NOMEM)
		return rt_scope_nomem(reader->texts) == RT_OK;
	root = st == RT_OK ? rt_json_root(reader->doc) : NULL;
	if (root == NULL) {
		out->what = st == RT_LIMIT ? RT_PI_LINE_TOO_DEEP : RT_PI_LINE_BAD;
	} else if (!yyjson_is_obj(root)) {
		out->what = is_falsy(root) ? RT_PI_LINE_FALSY : RT_PI_LINE_VALUE;
	} else {
		out->what = RT_PI_LINE_OBJECT;
		out->object = root;
		read_object(reader, out);
	}
	return rt_ok(reader->texts);
}
