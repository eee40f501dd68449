/* SPDX-License-Identifier: MIT
 *
 * Bodies to and from bytes. */
#include "codec/body.h"

#include <stdlib.h> /* qsort */

#include "codec/content.h"

/* Where a pi record keeps what people read: *out_content, and its parent object with the
 * member's name, so that a copy can leave it out. */
static void
pi_content(yyjson_val *record, yyjson_val **out_content, yyjson_val **out_parent,
	   const char **out_key)
{
	rt_str type = rt_json_str(rt_json_get(record, "type"));
	yyjson_val *message = rt_json_get(record, "message"), *found = NULL, *parent = record;
	const char *key = "content";

	if (rt_str_is(type, "message") && yyjson_is_obj(message)) {
		parent = message;
		found = rt_json_get(message, "content");
		if (found == NULL) { /* a bash execution has its output */
			key = "output";
			found = rt_json_get(message, "output");
		}
	} else if (rt_str_is(type, "compaction") || rt_str_is(type, "branch_summary")) {
		key = "summary";
		found = rt_json_get(record, "summary");
	} else if (rt_str_is(type, "custom_message")) {
		found = rt_json_get(record, "content");
	} else if (rt_str_is(type, "session_info")) {
		key = "name";
		found = rt_json_get(record, "name");
	} else if (rt_str_is(type, "label")) {
		key = "label";
		found = rt_json_get(record, "label");
	} else if (!rt_str_is(type, "message")) { /* pi has no text there, Retake may */
		found = rt_json_get(record, "content");
	}
	if (found != NULL && !yyjson_is_str(found) && !yyjson_is_arr(found))
		found = NULL;
	*out_content = found;
	*out_parent = parent;
	*out_key = key;
}

rt_status
rt_body_read(const rt_alloc *alloc, rt_str data, rt_body *out, rt_error *err)
{
	rt_body body;
	yyjson_val *root, *content, *parent;
	const char *key;
	rt_status st;

	memset(&body, 0, sizeof(body));
	if (data.size == 0)
		return rt_fail(err, RT_CORRUPT, "a body of no bytes");
	body.format = data.ptr[0];
	switch (body.format) {
	case RT_BODY_TEXT:
		body.content = rt_str_at(data.ptr + 1, data.size - 1);
		*out = body;
		return RT_OK;
	case RT_BODY_PURGED:
		body.lost = data.size > 1;
		*out = body;
		return RT_OK;
	case RT_BODY_JSON:
		st = rt_json_read(alloc, rt_str_at(data.ptr + 1, data.size - 1), &body.doc, err);
		break;
	case RT_BODY_PI: /* may hold what pi wrote: lone surrogates too */
		st = rt_json_read_repairing(alloc, rt_str_at(data.ptr + 1, data.size - 1),
					    &body.doc, NULL, err);
		break;
	default: return rt_fail(err, RT_CORRUPT, "a body of unknown kind %d", body.format);
	}
	if (st != RT_OK)
		return st == RT_NOMEM ? st : RT_CORRUPT;
	root = rt_json_root(body.doc);
	if (!yyjson_is_obj(root)) {
		rt_json_free(body.doc);
		return rt_fail(err, RT_CORRUPT, "a body that is not an object");
	}
	body.fields = root;
	if (body.format == RT_BODY_PI)
		pi_content(root, &content, &parent, &key);
	else
		content = rt_json_get(root, "content");
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
	yyjson_val *key, *value;
	size_t i, max;
	bool is_open = is_json;

	if (is_json)
		open_json(buf, content, true);
	if (fields != NULL) { /* the macro counts from the first key */
		rt_json_foreach(fields, i, max, key, value)
		{
			if (is_skipped(rt_json_str(key), skip))
				continue;
			if (!is_open)
				open_json(buf, content, false);
			is_open = true;
			rt_json_add_key_str(buf, rt_json_str(key));
			rt_json_add_value(buf, value);
		}
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

static int
key_order(const void *a, const void *b)
{
	return rt_str_cmp(rt_json_str(*(yyjson_val *const *)a),
			  rt_json_str(*(yyjson_val *const *)b));
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
	yyjson_val *value = key + 1;

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
	yyjson_val *key, *value, **keys = NULL;
	size_t i, max, count = 0;

	if (m->sorted) {
		keys = rt_new_array(m->alloc, yyjson_obj_size(object) + 1, sizeof(*keys));
		if (keys == NULL) {
			buf->status = RT_NOMEM;
			return;
		}
	}
	rt_json_foreach(object, i, max, key, value)
	{
		const char *name = yyjson_get_str(key);

		if (m->but != NULL && rt_str_is(rt_json_str(key), m->but))
			continue;
		if (!m->sorted)
			add_member(buf, key, m);
		else if (yyjson_get_len(key) != strlen(name) || rt_json_get(object, name) == value)
			keys[count++] = key; /* of a repeated key the last one counts */
	}
	if (m->sorted)
		qsort(keys, count, sizeof(*keys), key_order);
	for (i = 0; i < count; i++)
		add_member(buf, keys[i], m);
	rt_free(m->alloc, keys);
}

void
rt_body_add_fields(rt_buf *buf, const rt_alloc *alloc, const rt_body *body, bool sorted)
{
	members m = {.alloc = alloc, .sorted = sorted, .but = "content"};
	yyjson_val *content, *parent;
	const char *key;

	if (body->fields == NULL)
		return;
	if (body->format == RT_BODY_JSON) {
		add_members(buf, body->fields, &m);
		return;
	}
	pi_content(body->fields, &content, &parent, &key);
	m.but = content != NULL && parent == body->fields ? key : NULL;
	m.inner = content != NULL && parent != body->fields ? parent : NULL;
	m.inner_but = key;
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
	yyjson_val *block;
	size_t i, max;
	bool first = true;

	if (body->content_json == NULL) {
		rt_buf_add_str(buf, body->content);
		return;
	}
	yyjson_arr_foreach(body->content_json, i, max, block)
	{
		yyjson_val *text = yyjson_is_str(block) ? block : rt_json_get(block, "text");

		if (!yyjson_is_str(text))
			continue;
		if (!first)
			rt_buf_add_byte(buf, '\n');
		rt_buf_add_str(buf, rt_json_str(text));
		first = false;
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
