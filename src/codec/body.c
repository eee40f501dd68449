/* SPDX-License-Identifier: MIT
 *
 * Bodies to and from bytes. */
#include "codec/body.h"

#include <stdlib.h> /* qsort */

#include "codec/content.h"

enum {
	SEARCHED_DEPTH = 8,   /* of values in other blocks */
	SPACELESS_MAX = 1000 /* bytes of a string that is a text */
};

/* The member of a pi record that contains the readable text. */
typedef struct pi_place {
	yyjson_val *content; /* a text or an array; NULL: it has none */
	yyjson_val *parent;  /* the object that it is in, under that key */
	const char *key;
} pi_place;

static pi_place
find_pi_content(yyjson_val *record)
{
	/* Further types: pi has no text there, Retake may. */
	static const struct {
		const char *type, *key;
	} types[] = {{"compaction", "summary"},
		     {"branch_summary", "summary"},
		     {"session_info", "name"},
		     {"label", "label"}};
	rt_str type = rt_json_str(rt_json_get(record, "type"));
	yyjson_val *message = rt_json_get(record, "message");
	pi_place place = {.parent = record, .key = "content"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (rt_str_is(type, types[i].type))
			place.key = types[i].key;
	if (!rt_str_is(type, "message")) {
		place.content = rt_json_get(record, place.key);
	} else if (yyjson_is_obj(message)) {
		place.parent = message;
		if (rt_json_get(message, "content") == NULL)
			place.key = "output"; /* of a bash execution */
		place.content = rt_json_get(message, place.key);
	}
	if (!yyjson_is_str(place.content) && !yyjson_is_arr(place.content))
		place.content = NULL;
	return place;
}

rt_status
rt_body_read(const rt_alloc *alloc, rt_str data, rt_body *out, rt_error *err)
{
	yyjson_val *root, *content;
	rt_body body = {0};
	rt_error inner;
	rt_status st;

	if (data.size == 0)
		return rt_fail(err, RT_CORRUPT, "an empty body");
	body.format = data.ptr[0];
	data = rt_str_skip(data, 1);
	switch (body.format) {
	case RT_BODY_TEXT:
		body.content = data;
		*out = body;
		return RT_OK;
	case RT_BODY_PURGED:
		body.lost = data.size > 0;
		*out = body;
		return RT_OK;
	case RT_BODY_JSON: st = rt_json_read(alloc, data, &body.doc, &inner); break;
	case RT_BODY_PI: /* may hold what pi wrote: lone surrogates too */
		st = rt_json_read_repairing(alloc, data, &body.doc, NULL, &inner);
		break;
	default: return rt_fail(err, RT_CORRUPT, "a body of unknown type %d", body.format);
	}
	if (st == RT_NOMEM)
		return rt_fail(err, st, "out of memory while reading a body");
	if (st != RT_OK)
		return rt_fail(err, RT_CORRUPT, "a body that is %s", inner.text);
	root = rt_json_root(body.doc);
	if (!yyjson_is_obj(root)) {
		rt_json_free(body.doc);
		return rt_fail(err, RT_CORRUPT, "a body that is not an object");
	}
	body.fields = root;
	content = body.format == RT_BODY_PI ? find_pi_content(root).content
					    : rt_json_get(root, "content");
	if (yyjson_is_arr(content))
		body.content_json = content;
	else
		body.content = rt_json_str(content);
	*out = body;
	return RT_OK;
}

void
rt_body_deinit(rt_body *body)
{
	rt_json_free(body->doc);
	memset(body, 0, sizeof(*body));
}

static bool
is_skipped(rt_str key, const char *const *skip)
{
	return rt_str_is(key, "content") || (skip != NULL && rt_str_is_one_of(key, skip));
}

/* The beginning of a body with fields. */
static void
open_json(rt_buf *buf, rt_str content, bool is_json)
{
	rt_buf_add_byte(buf, RT_BODY_JSON);
	rt_buf_add_c(buf, "{\"content\":");
	if (is_json)
		rt_buf_add_str(buf, content);
	else
		rt_json_add_string(buf, content);
}

void
rt_body_write(rt_buf *buf, rt_str content, bool is_json, yyjson_val *fields,
	      const char *const *skip)
{
	bool is_open = is_json;

	if (is_json)
		open_json(buf, content, true);
	for (rt_json_iter it = rt_json_members(fields); rt_json_next(&it);) {
		if (is_skipped(it.key, skip))
			continue;
		if (!is_open)
			open_json(buf, content, false);
		is_open = true;
		rt_json_add_key_str(buf, it.key);
		rt_json_add_value(buf, it.value);
	}
	if (is_open) {
		rt_buf_add_byte(buf, '}');
	} else {
		rt_buf_add_byte(buf, RT_BODY_TEXT);
		rt_buf_add_str(buf, content);
	}
}

void
rt_body_write_pi(rt_buf *buf, rt_str line)
{
	rt_buf_add_byte(buf, RT_BODY_PI);
	rt_buf_add_str(buf, line);
}

/* What rt_body_add_fields writes: the members of an object but for one. One of these may be an
 * object of which a member is left out, too (a pi message, without its content). */
typedef struct members {
	const rt_alloc *alloc;
	bool sorted;
	const char *but;   /* NULL: all */
	yyjson_val *inner; /* or NULL */
	const char *inner_but;
} members;

static void add_members(rt_buf *buf, yyjson_val *object, const members *m);

static void
add_member(rt_buf *buf, yyjson_val *key, const members *m)
{
	yyjson_val *value = rt_json_value_of(key);

	rt_json_add_key_str(buf, rt_json_str(key));
	if (value == m->inner) {
		rt_buf_add_byte(buf, '{');
		add_members(
			buf, value,
			&(members){.alloc = m->alloc, .sorted = m->sorted, .but = m->inner_but});
		rt_buf_add_byte(buf, '}');
	} else if (m->sorted) {
		rt_json_add_sorted(buf, m->alloc, value);
	} else {
		rt_json_add_value(buf, value);
	}
}

static void
add_members(rt_buf *buf, yyjson_val *object, const members *m)
{
	yyjson_val **keys;
	size_t count;

	if (!m->sorted) {
		for (rt_json_iter it = rt_json_members(object); rt_json_next(&it);)
			if (m->but == NULL || !rt_str_is(it.key, m->but))
				add_member(buf, rt_json_key_of(it.value), m);
		return;
	}
	keys = rt_json_sorted_keys(m->alloc, object, &count);
	if (keys == NULL)
		buf->status = RT_NOMEM;
	for (size_t i = 0; i < count; i++)
		if (m->but == NULL || !rt_str_is(rt_json_str(keys[i]), m->but))
			add_member(buf, keys[i], m);
	rt_free(m->alloc, keys);
}

void
rt_body_add_fields(rt_buf *buf, const rt_alloc *alloc, const rt_body *body, bool sorted)
{
	members m = {.alloc = alloc, .sorted = sorted, .but = "content"};
	pi_place pi;

	if (body->fields == NULL)
		return;
	if (body->format == RT_BODY_JSON) {
		add_members(buf, body->fields, &m);
		return;
	}
	pi = find_pi_content(body->fields);
	m.but = pi.content != NULL && pi.parent == body->fields ? pi.key : NULL;
	m.inner = pi.content != NULL && pi.parent != body->fields ? pi.parent : NULL;
	m.inner_but = pi.key;
	rt_json_add_key(buf, "pi"); /* content may end with a blank: not rt_json_open */
	rt_buf_add_byte(buf, '{');
	add_members(buf, body->fields, &m);
	rt_buf_add_byte(buf, '}');
}

rt_status
rt_body_edit(rt_buf *buf, const rt_alloc *alloc, rt_str old_data, rt_str content, bool is_json,
	     rt_error *err)
{
	rt_body old;
	rt_status st = rt_body_read(alloc, old_data, &old, err);

	if (st != RT_OK)
		return st;
	if (old.fields == NULL || (old.format == RT_BODY_JSON && yyjson_obj_size(old.fields) < 2)) {
		rt_body_write(buf, content, is_json, NULL, NULL);
	} else {
		open_json(buf, content, is_json);
		rt_body_add_fields(buf, alloc, &old, false);
		rt_buf_add_byte(buf, '}');
	}
	rt_body_deinit(&old);
	return RT_OK;
}

void
rt_body_add_content(rt_buf *buf, const rt_body *body)
{
	if (body->content_json != NULL)
		rt_json_add_value(buf, body->content_json);
	else
		rt_json_add_string(buf, body->content);
}

void
rt_body_add_text(rt_buf *buf, const rt_body *body)
{
	bool first = true;

	if (body->content_json == NULL)
		rt_buf_add_str(buf, body->content);
	for (rt_json_iter it = rt_json_items(body->content_json); rt_json_next(&it);) {
		yyjson_val *text = yyjson_is_str(it.value) ? it.value
							   : rt_json_get(it.value, "text");

		if (!yyjson_is_str(text))
			continue;
		if (!first)
			rt_buf_add_byte(buf, '\n');
		rt_buf_add_str(buf, rt_json_str(text));
		first = false;
	}
}

/* The strings in a value, each on a line. */
static void
add_strings(rt_buf *buf, yyjson_val *value, unsigned depth)
{
	static const char *const skipped[] = {"type", "id", "data", "signature", "media_type",
					      "mime_type", "mimeType", "tool_use_id", "toolCallId", "tool_call_id",
					      "call_id", "encrypted_content", NULL};
	rt_str text;

	if (depth == 0)
		return;
	if (yyjson_is_str(value)) {
		text = rt_json_str(value);
		if (text.size > SPACELESS_MAX && memchr(text.ptr, ' ', SPACELESS_MAX) == NULL)
			return; /* encoded data */
		rt_buf_add_byte(buf, '\n');
		rt_buf_add_str(buf, text);
	}
	for (rt_json_iter it = rt_json_items(value); rt_json_next(&it);)
		add_strings(buf, it.value, depth - 1);
	for (rt_json_iter it = rt_json_members(value); rt_json_next(&it);)
		if (!rt_str_is_one_of(it.key, skipped))
			add_strings(buf, it.value, depth - 1);
}

void
rt_body_add_searched(rt_buf *buf, const rt_body *body)
{
	size_t from = buf->size;

	rt_body_add_text(buf, body);
	for (rt_json_iter it = rt_json_items(body->content_json); rt_json_next(&it);)
		if (!yyjson_is_str(it.value) && !yyjson_is_str(rt_json_get(it.value, "text")))
			add_strings(buf, it.value, SEARCHED_DEPTH);
	add_strings(buf, rt_body_field(body, "tool_calls"), SEARCHED_DEPTH);
	if (buf->size > from && buf->ptr[from] == '\n') { /* there is no text before it */
		memmove(buf->ptr + from, buf->ptr + from + 1, buf->size - from - 1);
		buf->size--;
	}
}

yyjson_val *
rt_body_field(const rt_body *body, const char *name)
{
	if (body->fields == NULL || body->format != RT_BODY_JSON ||
	    rt_str_is(RT_STR("content"), name))
		return NULL;
	return rt_json_get(body->fields, name);
}

bool
rt_body_is_hidden(rt_str kind, const rt_body *body)
{
	if (body->format == RT_BODY_PI)
		return rt_content_is_hidden(kind, NULL, body->fields);
	return rt_content_is_hidden(kind, body->format == RT_BODY_JSON ? body->fields : NULL,
				    rt_body_field(body, "pi"));
}

/* ---- titles ---- */

/* The record of a pi session that the entry was imported from, or NULL. */
static yyjson_val *
record_of(const rt_body *body)
{
	return body->format == RT_BODY_PI ? body->fields : rt_body_field(body, "pi");
}

/* A field under our name, or under pi's. */
static yyjson_val *
either_field(const rt_body *body, const char *ours, const char *theirs)
{
	yyjson_val *value = rt_body_field(body, ours);

	if (value == NULL)
		value = rt_body_field(body, theirs);
	return value != NULL ? value : rt_json_get(record_of(body), theirs);
}

rt_str
rt_body_custom_type(const rt_body *body)
{
	return rt_json_str(either_field(body, "custom_type", "customType"));
}

static bool
is_sized_compaction(rt_str kind, const rt_body *body, uint64_t *tokens)
{
	return rt_str_is(kind, "compaction") &&
	       rt_json_u64(either_field(body, "tokens_before", "tokensBefore"), tokens);
}

bool
rt_body_has_title(rt_str kind, const rt_body *body)
{
	uint64_t tokens;

	return is_sized_compaction(kind, body, &tokens) ||
	       (rt_str_is(kind, "custom_message") && rt_body_custom_type(body).size > 0);
}

void
rt_body_add_title(rt_buf *buf, rt_str kind, const rt_body *body)
{
	rt_str name = rt_str_is(kind, "custom_message") ? rt_body_custom_type(body) : RT_STR("");
	uint64_t tokens;

	if (name.size > 0) {
		rt_buf_add_byte(buf, '[');
		rt_buf_add_str(buf, name);
		rt_buf_add_byte(buf, ']');
	} else if (is_sized_compaction(kind, body, &tokens)) {
		if (tokens < 1000)
			rt_buf_add_f(buf, "[compaction: %u tokens]", (unsigned)tokens);
		else
			rt_buf_add_f(buf, "[compaction: %lluk tokens]",
				     (unsigned long long)((tokens / 100 + 5) / 10));
	}
}
