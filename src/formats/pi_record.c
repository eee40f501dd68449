/* SPDX-License-Identifier: MIT
 *
 * One line of a session file.
 *
 * The line is copied to a buffer that is kept, where yyjson unescapes strings in place; a
 * string without escapes so keeps its offset, and becomes a view of the line itself. Only
 * lines that yyjson refuses (a lone surrogate, bytes that are not UTF-8) go through the
 * slower repairing reader. */
#include "formats/pi_impl.h"

void
rt_pi_reader_init(rt_pi_reader *reader, const rt_alloc *alloc, rt_arena *arena)
{
	memset(reader, 0, sizeof(*reader));
	reader->alloc = alloc;
	reader->arena = arena;
}

void
rt_pi_reader_deinit(rt_pi_reader *reader)
{
	rt_json_free(reader->repaired);
	rt_free(reader->alloc, reader->text);
	rt_free(reader->alloc, reader->values);
	memset(reader, 0, sizeof(*reader));
}

/* The allocator that yyjson is handed: one block that only grows. yyjson asks for one
 * block per document; should it ever want two at once, it gets none. */
static void *
values_resize(void *ctx, void *ptr, size_t old_size, size_t size)
{
	rt_pi_reader *reader = ctx;
	char *values;

	(void)old_size;
	if (ptr != reader->values)
		return NULL;
	if (size <= reader->values_room)
		return ptr;
	values = rt_resize(reader->alloc, reader->values, size);
	if (values == NULL)
		return NULL;
	reader->values = values;
	reader->values_room = size;
	return values;
}

static void *
values_get(void *ctx, size_t size)
{
	rt_pi_reader *reader = ctx;
	char *values;

	if (reader->values_used)
		return NULL;
	if (size > reader->values_room) {
		values = rt_new(reader->alloc, size);
		if (values == NULL)
			return NULL;
		rt_free(reader->alloc, reader->values);
		reader->values = values;
		reader->values_room = size;
	}
	reader->values_used = true;
	return reader->values;
}

static void
values_release(void *ctx, void *ptr)
{
	rt_pi_reader *reader = ctx;

	(void)ptr;
	reader->values_used = false;
}

bool
rt_pi_copy(rt_arena *arena, rt_str s, rt_str *out)
{
	char *to = rt_arena_get(arena, s.size + 1);

	if (to == NULL)
		return false;
	if (s.size > 0)
		memcpy(to, s.ptr, s.size);
	to[s.size] = '\0';
	*out = rt_str_at(to, s.size);
	return true;
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

/* Does text open more than RT_JSON_DEPTH_MAX brackets inside each other? */
static bool
is_too_deep(rt_str s)
{
	size_t depth = 0, i;

	for (i = 0; i < s.size; i++) {
		switch (s.ptr[i]) {
		case '"':
			for (i++; i < s.size && s.ptr[i] != '"'; i++)
				i += s.ptr[i] == '\\';
			break;
		case '[':
		case '{':
			if (++depth > RT_JSON_DEPTH_MAX)
				return true;
			break;
		case ']':
		case '}': depth -= depth > 0; break;
		default: break;
		}
	}
	return false;
}

/* Parse the line; *out_root is NULL where what says why. */
static rt_status
parse(rt_pi_reader *reader, rt_str line, yyjson_val **out_root, rt_pi_line *out_what)
{
	yyjson_read_err fault;
	yyjson_doc *doc;
	rt_status st;

	*out_root = NULL;
	if (reader->text_room < line.size + YYJSON_PADDING_SIZE) {
		size_t room = line.size + line.size / 2 + 4096;
		char *text = rt_new(reader->alloc, room);

		if (text == NULL)
			return RT_NOMEM;
		rt_free(reader->alloc, reader->text);
		reader->text = text;
		reader->text_room = room;
	}
	memcpy(reader->text, line.ptr, line.size);
	memset(reader->text + line.size, 0, YYJSON_PADDING_SIZE);
	reader->values_used = false;
	reader->alc = (yyjson_alc){values_get, values_resize, values_release, reader};
	doc = yyjson_read_opts(reader->text, line.size,
			       YYJSON_READ_INSITU | YYJSON_READ_NUMBER_AS_RAW, &reader->alc,
			       &fault);
	if (doc != NULL) {
		/* fewer values than levels allowed: it cannot be too deep */
		if (yyjson_doc_get_val_count(doc) > RT_JSON_DEPTH_MAX && is_too_deep(line)) {
			*out_what = RT_PI_LINE_TOO_DEEP;
			return RT_OK;
		}
		*out_root = yyjson_doc_get_root(doc);
		return RT_OK;
	}
	if (fault.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return RT_NOMEM;
	st = rt_json_read_repairing(reader->alloc, line, &reader->repaired, NULL, NULL);
	if (st == RT_NOMEM)
		return st;
	if (st == RT_OK)
		*out_root = rt_json_root(reader->repaired);
	else
		*out_what = st == RT_LIMIT ? RT_PI_LINE_TOO_DEEP : RT_PI_LINE_BAD;
	return RT_OK;
}

static bool
is_falsy(yyjson_val *value)
{
	rt_str s = rt_json_str(value);
	size_t i;

	if (yyjson_is_null(value) || yyjson_is_false(value))
		return true;
	if (yyjson_is_str(value))
		return s.size == 0;
	if (!rt_json_is_number(value))
		return false;
	for (i = 0; i < s.size && s.ptr[i] != 'e' && s.ptr[i] != 'E'; i++)
		if (s.ptr[i] >= '1' && s.ptr[i] <= '9')
			return false;
	return true;
}

/* A string value as a view of the line, or a copy. False: no memory. */
static bool
take(rt_pi_reader *reader, rt_str line, yyjson_val *value, rt_str *out)
{
	rt_str s = rt_json_str(value);

	*out = rt_str_at(NULL, 0);
	if (!yyjson_is_str(value))
		return true;
	if (reader->repaired == NULL) {
		size_t at = (size_t)(s.ptr - reader->text);

		if (memcmp(line.ptr + at, s.ptr, s.size) == 0) {
			*out = rt_str_at(line.ptr + at, s.size);
			return true;
		}
	}
	return rt_pi_copy(reader->arena, s, out);
}

/* Milliseconds as a JSON number; fractions are cut. */
static bool
take_ms(yyjson_val *value, rt_moment *out)
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

static bool
take_moment(yyjson_val *value, rt_moment *out)
{
	if (yyjson_is_str(value))
		return rt_moment_parse(rt_json_str(value), out);
	return take_ms(value, out);
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
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (rt_str_is(type, types[i].name))
			return types[i].type;
	return RT_PI_OTHER;
}

/* The members of a record that we look at; NULL: not there. */
typedef struct members {
	yyjson_val *type, *id, *parent_id, *timestamp, *message;
	yyjson_val *target_id, *first_kept, *label, *name, *summary;
	yyjson_val *thinking_level, *provider, *model_id;
	yyjson_val *version, *cwd, *parent_session, *retake;
	yyjson_val *role, *message_provider, *message_model, *message_timestamp;
} members;

/* A member by name, and where in the above its value goes. */
typedef struct known {
	const char *name;
	size_t size, at;
} known;

#define KNOWN(name, to) \
	{ \
		name, sizeof(name) - 1, offsetof(members, to) \
	}

static const known of_record[] = {
	KNOWN("type", type),
	KNOWN("id", id),
	KNOWN("parentId", parent_id),
	KNOWN("timestamp", timestamp),
	KNOWN("message", message),
	KNOWN("targetId", target_id),
	KNOWN("label", label),
	KNOWN("name", name),
	KNOWN("summary", summary),
	KNOWN("firstKeptEntryId", first_kept),
	KNOWN("thinkingLevel", thinking_level),
	KNOWN("provider", provider),
	KNOWN("modelId", model_id),
	KNOWN("version", version),
	KNOWN("cwd", cwd),
	KNOWN("parentSession", parent_session),
	KNOWN("retake", retake),
};

static const known of_message[] = {
	KNOWN("role", role),
	KNOWN("provider", message_provider),
	KNOWN("model", message_model),
	KNOWN("timestamp", message_timestamp),
};

/* One walk over the object; of a repeated member the last one counts. */
static void
collect(yyjson_val *object, const known *list, size_t count, members *m)
{
	yyjson_val *key, *value;
	size_t i, max, k;

	if (!yyjson_is_obj(object))
		return;
	yyjson_obj_foreach(object, i, max, key, value)
	{
		size_t size = yyjson_get_len(key);

		for (k = 0; k < count; k++)
			if (size == list[k].size &&
			    memcmp(yyjson_get_str(key), list[k].name, size) == 0)
				memcpy((char *)m + list[k].at, &value, sizeof(value));
	}
}

/* What only some types have. */
static bool
take_own(rt_pi_reader *reader, rt_str line, const members *m, rt_pi_entry *e)
{
	switch (e->kind) {
	case RT_PI_MESSAGE:
		e->speaks = yyjson_is_obj(m->message);
		if (!take(reader, line, m->role, &e->role))
			return false;
		if (!rt_str_is(e->role, "assistant"))
			return true;
		return take(reader, line, m->message_provider, &e->text) &&
		       take(reader, line, m->message_model, &e->model);
	case RT_PI_THINKING_LEVEL_CHANGE: return take(reader, line, m->thinking_level, &e->text);
	case RT_PI_MODEL_CHANGE:
		return take(reader, line, m->provider, &e->text) &&
		       take(reader, line, m->model_id, &e->model);
	case RT_PI_COMPACTION:
		e->speaks = true;
		return take(reader, line, m->first_kept, &e->target);
	case RT_PI_BRANCH_SUMMARY:
		e->speaks = yyjson_is_str(m->summary) && yyjson_get_len(m->summary) > 0;
		return true;
	case RT_PI_CUSTOM_MESSAGE: e->speaks = true; return true;
	case RT_PI_CONTEXT_EDIT: return take(reader, line, m->target_id, &e->target);
	case RT_PI_LABEL:
		return take(reader, line, m->target_id, &e->target) &&
		       take(reader, line, m->label, &e->text);
	case RT_PI_SESSION_INFO: return take(reader, line, m->name, &e->text);
	case RT_PI_USAGE:
	case RT_PI_CUSTOM:
	case RT_PI_OTHER: break;
	}
	return true;
}

static bool
take_header(rt_pi_reader *reader, rt_str line, const members *m, rt_pi_record *out)
{
	rt_str version = rt_json_str(m->version); /* the number as text, or a string */
	size_t i;

	out->is_header = true;
	out->version = 1;
	if (version.size > 0 && version.ptr[0] >= '0' && version.ptr[0] <= '9') {
		out->version = 0;
		for (i = 0;
		     i < version.size && i < 6 && version.ptr[i] >= '0' && version.ptr[i] <= '9';
		     i++)
			out->version = out->version * 10 + (version.ptr[i] - '0');
		if (i < version.size && (version.ptr[i] == 'e' || version.ptr[i] == 'E'))
			out->version = RT_PI_VERSION; /* 3e0: leave it alone */
	} else if (m->version != NULL && !yyjson_is_null(m->version) &&
		   !rt_json_is_number(m->version)) {
		out->version = RT_PI_VERSION; /* not a number: smaller than nothing */
	}
	return take(reader, line, m->cwd, &out->cwd) &&
	       take(reader, line, m->parent_session, &out->parent_session) &&
	       take(reader, line, m->timestamp, &out->timestamp);
}

static bool
take_retake(rt_pi_reader *reader, rt_str line, yyjson_val *retake, rt_pi_entry *e)
{
	e->muted = yyjson_is_true(rt_json_get(retake, "muted"));
	e->collapsed = yyjson_is_true(rt_json_get(retake, "collapsed"));
	e->read_mode = yyjson_is_true(rt_json_get(retake, "read_mode"));
	return take(reader, line, rt_json_get(retake, "role"), &e->retake_role) &&
	       take(reader, line, rt_json_get(retake, "kind"), &e->retake_kind);
}

static rt_status
take_all(rt_pi_reader *reader, rt_str line, rt_pi_record *out)
{
	members m;
	rt_pi_entry *e = &out->entry;

	memset(&m, 0, sizeof(m));
	collect(out->object, of_record, sizeof(of_record) / sizeof(of_record[0]), &m);
	e->line = line;
	if (!take(reader, line, m.type, &e->type) || !take(reader, line, m.id, &e->id) ||
	    !take(reader, line, m.parent_id, &e->parent_id))
		return RT_NOMEM;
	e->kind = type_of(e->type);
	if (e->kind == RT_PI_MESSAGE)
		collect(m.message, of_message, sizeof(of_message) / sizeof(of_message[0]), &m);
	if (take_moment(m.timestamp, &e->ts))
		e->ts_from = RT_PI_TS_ENTRY;
	else if (take_ms(m.message_timestamp, &e->ts))
		e->ts_from = RT_PI_TS_MESSAGE;
	if (!take_own(reader, line, &m, e))
		return RT_NOMEM;
	if (yyjson_is_obj(m.retake) && !take_retake(reader, line, m.retake, e))
		return RT_NOMEM;
	if (rt_str_is(e->type, "session") && !take_header(reader, line, &m, out))
		return RT_NOMEM;
	return RT_OK;
}

rt_status
rt_pi_reader_read(rt_pi_reader *reader, rt_str line, rt_pi_record *out)
{
	yyjson_val *root;
	rt_status st;

	memset(out, 0, sizeof(*out));
	rt_json_free(reader->repaired);
	reader->repaired = NULL;
	if (line.size == 0 || (line.ptr[0] != '{' && rt_pi_trim(line).size == 0)) {
		out->what = RT_PI_LINE_BLANK;
		return RT_OK;
	}
	st = parse(reader, line, &root, &out->what);
	if (st != RT_OK || root == NULL)
		return st;
	if (!yyjson_is_obj(root)) {
		out->what = is_falsy(root) ? RT_PI_LINE_FALSY : RT_PI_LINE_VALUE;
		return RT_OK;
	}
	out->what = RT_PI_LINE_OBJECT;
	out->object = root;
	return take_all(reader, line, out);
}
