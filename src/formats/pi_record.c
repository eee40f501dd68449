/* SPDX-License-Identifier: MIT
 *
 * One line of a session file: read; changed without touching other bytes; its id and parent. */
#include "base/encode.h"
#include "base/hash.h"
#include "formats/formats_scan.h"
#include "formats/pi_impl.h"

/* ---- JavaScript's values ---- */

/* Size of the white space character at s.ptr[at] as JavaScript's trim knows it, or 0. */
static size_t
space_at(rt_str s, size_t at)
{
	static const char *const spaces[] = {
		"\xC2\xA0",     /* U+00A0 */
		"\xE1\x9A\x80", /* U+1680 */
		"\xE2\x80\xA8", /* U+2028 */
		"\xE2\x80\xA9", /* U+2029 */
		"\xE2\x80\xAF", /* U+202F */
		"\xE2\x81\x9F", /* U+205F */
		"\xE3\x80\x80", /* U+3000 */
		"\xEF\xBB\xBF", /* U+FEFF */
	};
	rt_str rest = rt_str_at(s.ptr + at, s.size - at);
	unsigned char c = (unsigned char)rest.ptr[0];

	if (c == ' ' || (c >= '\t' && c <= '\r'))
		return 1;
	if (rest.size >= 3 && rt_str_starts(rest, RT_STR("\xE2\x80")) && /* U+2000 … 200A */
	    (unsigned char)rest.ptr[2] >= 0x80 && (unsigned char)rest.ptr[2] <= 0x8A)
		return 3;
	for (size_t i = 0; c >= 0x80 && i < sizeof(spaces) / sizeof(*spaces); i++)
		if (rt_str_starts(rest, rt_str_of(spaces[i])))
			return strlen(spaces[i]);
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
	const uint64_t last = 253402300799999, first = 62135596800000; /* years 1 to 9999 */
	rt_str s = rt_json_str(value);
	bool is_negative = s.size > 0 && s.ptr[0] == '-';
	uint64_t ms;
	size_t size;

	if (!rt_json_is_number(value))
		return false;
	s = rt_str_skip(s, is_negative);
	size = rt_str_u64_prefix(s, is_negative ? first : last, &ms);
	if (size == 0 || (size < s.size && s.ptr[size] != '.') ||
	    memchr(s.ptr, 'e', s.size) != NULL || memchr(s.ptr, 'E', s.size) != NULL)
		return false;
	*out = (rt_moment){.us = (is_negative ? -(int64_t)ms : (int64_t)ms) * 1000};
	return true;
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

/* ---- reading ---- */

/* The types, and the members that they have for rt_pi_entry. */
typedef struct type_row {
	const char *name;
	rt_pi_type kind;
	const char *text, *target, *model;
	bool speaks;
} type_row;

static const type_row types[] = {
	{"message", RT_PI_MESSAGE, NULL, NULL, NULL, false},
	{"label", RT_PI_LABEL, "label", "targetId", NULL, false},
	{"usage", RT_PI_USAGE, NULL, NULL, NULL, false},
	{"custom", RT_PI_CUSTOM, NULL, NULL, NULL, false},
	{"custom_message", RT_PI_CUSTOM_MESSAGE, NULL, NULL, NULL, true},
	{"model_change", RT_PI_MODEL_CHANGE, "provider", NULL, "modelId", false},
	{"thinking_level_change", RT_PI_THINKING_LEVEL_CHANGE, "thinkingLevel", NULL, NULL, false},
	{"compaction", RT_PI_COMPACTION, NULL, "firstKeptEntryId", NULL, true},
	{"branch_summary", RT_PI_BRANCH_SUMMARY, NULL, NULL, NULL, false},
	{"context_edit", RT_PI_CONTEXT_EDIT, NULL, "targetId", NULL, false},
	{"session_info", RT_PI_SESSION_INFO, "name", NULL, NULL, false},
};

/* A member that is a string, copied; ptr NULL: it is missing, or not a string. */
static rt_str
text_of(rt_pi_reader *reader, yyjson_val *object, const char *key)
{
	rt_str text = key == NULL ? rt_str_at(NULL, 0) : rt_json_text(object, key);

	return text.ptr == NULL ? text : rt_scope_copy(reader->texts, text);
}

/* The members that depend on the type. */
static void
read_typed(rt_pi_reader *reader, yyjson_val *object, rt_pi_entry *e)
{
	yyjson_val *message = rt_json_get(object, "message");

	for (const type_row *t = types; t < types + sizeof(types) / sizeof(*types); t++)
		if (rt_str_is(e->type, t->name)) {
			e->kind = t->kind;
			e->speaks = t->speaks;
			e->text = text_of(reader, object, t->text);
			e->target = text_of(reader, object, t->target);
			e->model = text_of(reader, object, t->model);
			break;
		}
	if (e->kind == RT_PI_BRANCH_SUMMARY)
		e->speaks = rt_json_text(object, "summary").size > 0;
	if (e->kind != RT_PI_MESSAGE)
		return;
	e->speaks = yyjson_is_obj(message);
	e->role = text_of(reader, message, "role");
	if (rt_str_is(e->role, "assistant")) {
		e->text = text_of(reader, message, "provider");
		e->model = text_of(reader, message, "model");
	}
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
	read_typed(reader, object, e);
	if (yyjson_is_str(ts) ? rt_moment_parse(rt_json_str(ts), &e->ts) : read_ms(ts, &e->ts))
		e->ts_from = RT_PI_TS_ENTRY;
	else if (e->kind == RT_PI_MESSAGE &&
		 read_ms(rt_json_get(rt_json_get(object, "message"), "timestamp"), &e->ts))
		e->ts_from = RT_PI_TS_MESSAGE;
	e->muted = yyjson_is_true(rt_json_get(retake, "muted"));
	e->collapsed = yyjson_is_true(rt_json_get(retake, "collapsed"));
	e->read_mode = yyjson_is_true(rt_json_get(retake, "read_mode"));
	e->retake_role = text_of(reader, retake, "role");
	e->retake_kind = text_of(reader, retake, "kind");
	out->is_header = rt_str_is(e->type, "session");
	if (out->is_header)
		out->version = version_of(rt_json_get(object, "version"));
}

void
rt_pi_reader_deinit(rt_pi_reader *reader)
{
	rt_json_free(reader->doc);
	reader->doc = NULL;
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

/* ---- changes ---- */

/* A walk over the members of an object and of its text, which lists them in the same order: the
 * text gives the places, yyjson the keys without escapes. */
typedef struct pair_walk {
	rt_members m;
	rt_json_iter it;
	rt_str raw, value; /* in the text */
	bool bad;          /* they disagree */
} pair_walk;

static pair_walk
walk_both(rt_str text, yyjson_val *object)
{
	pair_walk w = {.it = rt_json_each(object)};

	w.bad = !yyjson_is_obj(object) || !rt_members_open(&w.m, text);
	return w;
}

static bool
walk_next(pair_walk *w)
{
	bool more = !w->bad && rt_members_next(&w->m, &w->raw, &w->value);

	w->bad = w->bad || w->m.bad || more != rt_json_next(&w->it);
	return more && !w->bad;
}

rt_str
rt_pi_member(rt_str text, yyjson_val *object, const char *key)
{
	rt_str found = {NULL, 0};

	for (pair_walk w = walk_both(text, object); walk_next(&w);)
		if (rt_str_is(w.it.key, key))
			found = w.value;
	return found;
}

rt_str
rt_pi_quote(rt_scope *s, rt_str id)
{
	rt_buf *buf = rt_scope_buf(s);

	if (id.ptr == NULL)
		return RT_STR("null");
	rt_json_add_string(buf, id);
	return rt_scope_str(s, buf);
}

/* The place of a change: the values of the last members of these names; NULL: none. */
typedef struct place {
	const char *value, *after;
} place;

enum { CHANGES_MAX = 16 };

static bool
find_places(rt_str text, yyjson_val *object, const rt_pi_change *changes, size_t count,
	    place *places)
{
	pair_walk w = walk_both(text, object);

	while (walk_next(&w))
		for (size_t i = 0; i < count; i++) {
			if (rt_str_is(w.it.key, changes[i].key))
				places[i].value = w.value.ptr;
			if (changes[i].after != NULL && rt_str_is(w.it.key, changes[i].after))
				places[i].after = w.value.ptr;
		}
	return !w.bad;
}

/* The change of this member; NULL: it stays. */
static const rt_pi_change *
change_of(const pair_walk *w, const rt_pi_change *changes, const place *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rt_str_is(w->it.key, changes[i].key) &&
		    (changes[i].json.ptr == NULL || places[i].value == w->value.ptr))
			return &changes[i];
	return NULL;
}

static void
add_member(rt_buf *out, bool has_comma, const rt_pi_change *change)
{
	if (has_comma)
		rt_buf_add_byte(out, ',');
	rt_json_add_string(out, rt_str_of(change->key));
	rt_buf_add_byte(out, ':');
	rt_buf_add_str(out, change->json);
}

rt_status
rt_pi_patch(rt_buf *out, rt_str text, yyjson_val *object, const rt_pi_change *changes, size_t count)
{
	place places[CHANGES_MAX] = {{NULL, NULL}};
	const char *copied = text.ptr, *end_of_last;
	pair_walk w = walk_both(text, object);
	bool any = false;

	RT_ASSERT(count <= CHANGES_MAX);
	if (!find_places(text, object, changes, count, places))
		return RT_CORRUPT;
	/* copied: everything before it is written; end_of_last: after the last member kept */
	end_of_last = text.ptr + w.m.at;
	while (walk_next(&w)) {
		const rt_pi_change *change = change_of(&w, changes, places, count);
		const char *end = w.value.ptr + w.value.size;

		if (change != NULL && change->json.ptr == NULL) {
			/* its comma is the one before, or the one after the first */
			rt_buf_add(out, copied, (size_t)(end_of_last - copied));
			copied = end;
			if (!any) {
				size_t at = rt_scan_blank(text, (size_t)(end - text.ptr));

				if (at < text.size && text.ptr[at] == ',')
					copied = text.ptr + rt_scan_blank(text, at + 1);
			}
			end_of_last = copied;
			continue;
		}
		any = true;
		if (change != NULL) {
			rt_buf_add(out, copied, (size_t)(w.value.ptr - copied));
			rt_buf_add_str(out, change->json);
			copied = end;
		}
		for (size_t i = 0; i < count; i++)
			if (places[i].value == NULL && changes[i].json.ptr != NULL &&
			    places[i].after == w.value.ptr) {
				rt_buf_add(out, copied, (size_t)(end - copied));
				copied = end;
				add_member(out, true, &changes[i]);
			}
		end_of_last = end;
	}
	rt_buf_add(out, copied, (size_t)(end_of_last - copied));
	for (size_t i = 0; i < count; i++)
		if (places[i].value == NULL && changes[i].json.ptr != NULL &&
		    places[i].after == NULL) {
			add_member(out, any, &changes[i]);
			any = true;
		}
	rt_buf_add(out, end_of_last, (size_t)(text.ptr + text.size - end_of_last));
	return out->status;
}

/* ---- ids ---- */

enum { ID_SIZE = 8, UUID_SIZE = 36 };

void
rt_pi_fresh_init(rt_pi_fresh *fresh, const rt_env *env, rt_str seed)
{
	*fresh = (rt_pi_fresh){env, rt_hash(seed.ptr, seed.size, 0x7069)};
}

static void
fresh_bytes(rt_pi_fresh *fresh, unsigned char *to, size_t size)
{
	if (fresh->env != NULL) {
		fresh->env->random(fresh->env->ctx, to, size);
		return;
	}
	for (size_t i = 0; i < size; i++) {
		if (i % 8 == 0)
			fresh->state += 0x9E3779B97F4A7C15u;
		to[i] = (unsigned char)(rt_hash_u64(fresh->state) >> (i % 8 * 8));
	}
}

rt_str
rt_pi_fresh_id(rt_pi_fresh *fresh, const rt_index *ids, rt_scope *texts)
{
	enum { TRIES = 100 };
	unsigned char bytes[16];
	char digits[32], id[UUID_SIZE];

	for (int i = 0; i < TRIES; i++) {
		fresh_bytes(fresh, bytes, ID_SIZE / 2);
		rt_hex(bytes, ID_SIZE / 2, digits);
		if (rt_index_get(ids, rt_str_at(digits, ID_SIZE)) < 0)
			return rt_scope_copy(texts, rt_str_at(digits, ID_SIZE));
	}
	fresh_bytes(fresh, bytes, sizeof(bytes)); /* 122 random bits: unique */
	bytes[6] = (unsigned char)((bytes[6] & 0x0F) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3F) | 0x80);
	rt_hex(bytes, sizeof(bytes), digits);
	for (size_t from = 0, to = 0; to < UUID_SIZE; to++)
		id[to] = to == 8 || to == 13 || to == 18 || to == 23 ? '-' : digits[from++];
	return rt_scope_copy(texts, rt_str_at(id, UUID_SIZE));
}
