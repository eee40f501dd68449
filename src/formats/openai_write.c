/* SPDX-License-Identifier: MIT
 *
 * Writing OpenAI chat messages.
 *
 * Roles (C55): user, AI/assistant and system in any case, and what OpenAI knows besides;
 * others become a user's text with the role in front, unless the setting role_map names
 * another role for them. In the lossless form a message's content is never changed so:
 * its role is in "retake". */
#include <stdlib.h> /* qsort */

#include "formats/openai_impl.h"

typedef struct writer {
	rt_writer w;
	bool lossless;
	bool is_array;        /* what is being written: an array, each message on a line */
	bool is_training;     /* a line of a fine-tuning file, which may have weights */
	size_t message_count; /* of it, so far */
	yyjson_val *role_map; /* of the current discussion, or NULL */
	rt_buf *text;         /* for one call at a time */
} writer;

/* ---- roles ---- */

static const char *
known_role(rt_str role)
{
	static const char *const known[] = {"user", "assistant", "system", "developer",
					    "tool", "function",  NULL};

	if (rt_str_eq_nocase(role, RT_STR("ai")))
		return "assistant";
	for (size_t i = 0; known[i] != NULL; i++)
		if (rt_str_eq_nocase(role, rt_str_of(known[i])))
			return known[i];
	return NULL;
}

/* The role to write; *out_front is what has to be put before the text, or empty. */
static rt_str
role_of(const writer *c, rt_str role, rt_str *out_front)
{
	const char *known = known_role(role);
	yyjson_val *key, *value;
	size_t i, max;

	*out_front = rt_str_at(NULL, 0);
	rt_json_foreach(c->role_map, i, max, key, value)
	{
		if (rt_str_eq_nocase(rt_json_str(key), role) && yyjson_is_str(value))
			return rt_json_str(value);
	}
	if (known != NULL)
		return rt_str_of(known);
	*out_front = role;
	return RT_STR("user");
}

/* ---- members of messages ---- */

/* The content, with "role: " in front where there is one to put. */
static void
write_content(writer *c, const rt_body *body, rt_str front)
{
	rt_buf *out = c->w.out;

	if (front.size == 0 && !c->lossless && rt_openai_is_foreign(body->content_json)) {
		rt_openai_write_blocks(out, body->content_json, front);
		return;
	}
	if (front.size == 0) {
		rt_json_add_key(out, "content");
		rt_body_add_content(out, body);
		return;
	}
	rt_buf_clear(c->text);
	rt_buf_add_str(c->text, front);
	rt_buf_add_c(c->text, ": ");
	if (body->content_json == NULL) {
		rt_buf_add_str(c->text, body->content);
		rt_json_put_str(out, "content", rt_scope_str(&c->w.s, c->text));
	} else {
		rt_openai_write_blocks(out, body->content_json, rt_scope_str(&c->w.s, c->text));
	}
}

/* What was in the place of the content, or NULL. */
static yyjson_val *
odd_content(const rt_body *body)
{
	yyjson_val *odd = rt_body_field(body, RT_BUILD_BAD_CONTENT);

	if (body->content.size > 0 || body->content_json != NULL)
		return NULL;
	if (yyjson_is_arr(odd) || (yyjson_is_str(odd) && yyjson_get_len(odd) > 0))
		return NULL; /* not of our making */
	return odd;
}

/* audio of a reply is {"id","data",…}; a request has the id alone. */
static void
write_audio(rt_buf *out, yyjson_val *audio)
{
	yyjson_val *id = rt_json_get(audio, "id");

	if (id == NULL) {
		rt_json_add_value(out, audio);
		return;
	}
	rt_buf_add_byte(out, '{');
	rt_json_put_value(out, "id", id);
	rt_json_close(out, '}');
}

/* A name without the prefix, if it has it. */
static bool
strip(rt_str *name, const char *prefix)
{
	rt_str start = rt_str_of(prefix);

	if (!rt_str_starts(*name, start))
		return false;
	*name = rt_str_at(name->ptr + start.size, name->size - start.size);
	return true;
}

/* The further fields under their foreign names; in the plain form those that the API knows for
 * the role. */
static void
write_further(writer *c, rt_str role, const rt_body *body)
{
	rt_buf *out = c->w.out;
	yyjson_val *key, *value;
	size_t i, max;

	if (body->format != RT_BODY_JSON)
		return;
	rt_json_foreach(body->fields, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (rt_str_is(name, "content") || rt_str_is(name, "role") ||
		    rt_openai_is_ours(name))
			continue;
		if (strip(&name, OPENAI_PREFIX) && c->lossless && rt_str_is(name, "retake"))
			continue; /* the place is taken; it is in there */
		if (!c->lossless && (!rt_openai_is_message_key(role, name) ||
				     (rt_str_is(name, "weight") && !c->is_training)))
			continue;
		rt_json_add_key_str(out, name);
		if (!c->lossless && rt_str_is(name, "audio"))
			write_audio(out, value);
		else if (!c->lossless && rt_str_is(name, "tool_calls"))
			rt_openai_write_call_items(out, value);
		else
			rt_json_add_value(out, value);
	}
}

static bool
has_calls(const rt_body *body)
{
	return rt_body_field(body, "tool_calls") != NULL ||
	       rt_body_field(body, "function_call") != NULL;
}

/* Members role, content and further ones of an entry with body T or J. */
static void
write_members(writer *c, const rt_node *node, const rt_body *body)
{
	rt_buf *out = c->w.out;
	rt_str front, role = role_of(c, node->role, &front);
	yyjson_val *odd = odd_content(body);

	if (!c->lossless && rt_str_is(role, "tool") &&
	    !yyjson_is_str(rt_body_field(body, "tool_call_id"))) {
		role = RT_STR("user"); /* the API wants to know of which call it is the result */
		front = node->role;
	}
	if (c->lossless || node->kind.size > 0)
		front = rt_str_at(NULL, 0);
	rt_json_put_str(out, "role", role);
	if (odd != NULL)
		rt_json_put_value(out, "content", odd);
	else if (body->content.size == 0 && body->content_json == NULL && has_calls(body) &&
		 (c->lossless || rt_str_is(role, "assistant")))
		rt_json_put_null(out, "content");
	else
		write_content(c, body, front);
	if (!c->lossless && rt_str_is(role, "assistant") &&
	    rt_body_field(body, "tool_calls") == NULL)
		rt_openai_write_calls(out, body->content_json);
	write_further(c, role, body);
}

/* The content of a record of pi's as text. */
static void
write_pi_text(writer *c, const rt_body *body)
{
	rt_buf_clear(c->text);
	rt_body_add_text(c->text, body);
	rt_json_put_str(c->w.out, "content", rt_scope_str(&c->w.s, c->text));
}

static bool
has_image(const rt_body *body)
{
	yyjson_val *block;
	size_t i, max;

	yyjson_arr_foreach(body->content_json, i, max, block)
	{
		if (rt_str_is(rt_json_str(rt_json_get(block, "type")), "image"))
			return true;
	}
	return false;
}

static void
write_pi_members(writer *c, const rt_node *node, const rt_body *body)
{
	rt_buf *out = c->w.out;
	yyjson_val *message = rt_json_get(body->fields, "message");
	rt_str role = rt_json_str(rt_json_get(message, "role")), front;

	if (rt_str_is(role, "toolResult")) {
		rt_json_put_c(out, "role", "tool");
		write_pi_text(c, body);
		rt_json_put_str(out, "tool_call_id",
				rt_json_str(rt_json_get(message, "toolCallId")));
		return;
	}
	rt_json_put_str(out, "role", role_of(c, node->role, &front));
	if (c->lossless || !has_image(body))
		write_pi_text(c, body);
	else
		rt_openai_write_blocks(out, body->content_json, rt_str_at(NULL, 0));
	if (rt_str_is(role, "assistant"))
		rt_openai_write_calls(out, body->content_json);
}

/* ---- messages ---- */

/* Does the plain form have this entry? Not what is muted or purged, nor kinds that no model
 * is sent (chat/context_entry.c). */
static bool
is_sent(const rt_node *node)
{
	static const char *const silent[] = {
		"custom",       "label",        "session",
		"session_info", "model_change", "thinking_level_change",
		"usage",        "context_edit", NULL};

	return !node->muted && !rt_node_is_purged(node) && !rt_str_is_one_of(node->kind, silent);
}

/* What precedes a message. */
static void
begin_message(void *ctx)
{
	writer *c = ctx;

	if (c->message_count++ > 0)
		rt_buf_add_byte(c->w.out, ',');
	if (c->is_array)
		rt_buf_add_byte(c->w.out, '\n');
}

static void
write_message(writer *c, const rt_node *node)
{
	const rt_body *body = rt_writer_body(&c->w, node);
	rt_buf *out = c->w.out;

	if (body == NULL ||
	    (!c->lossless && rt_openai_write_results(out, body->content_json, begin_message, c)))
		return;
	begin_message(c);
	rt_buf_add_byte(out, '{');
	if (body->format == RT_BODY_PI)
		write_pi_members(c, node, body);
	else
		write_members(c, node, body);
	if (c->lossless)
		rt_extras_write(out, "retake", node, body);
	rt_json_close(out, '}');
}

/* ---- conversations ---- */

static int
field_order(const void *a, const void *b)
{
	const rt_outline_field *x = a, *y = b;

	return rt_str_cmp(x->name, y->name);
}

/* Members of a request body beside the messages. */
static void
write_request(writer *c)
{
	const rt_outline *o = c->w.outline;
	rt_outline_field *sorted = rt_scope_array(&c->w.d, o->field_count, sizeof(*sorted));

	if (rt_scope_note(&c->w.s, c->w.d.status) != RT_OK || o->field_count == 0)
		return;
	memcpy(sorted, o->fields, o->field_count * sizeof(*sorted));
	qsort(sorted, o->field_count, sizeof(*sorted), field_order);
	for (size_t i = 0; i < o->field_count; i++) {
		rt_str name = sorted[i].name;

		if (strip(&name, OPENAI_PREFIX)) {
			if (c->lossless &&
			    (rt_str_is(name, "retake") || rt_str_is(name, "retake_more")))
				continue;
		} else if (!strip(&name, "setting.") || !rt_openai_is_setting(name)) {
			continue;
		}
		if (!c->lossless && !rt_openai_is_request_key(name))
			continue;
		rt_json_add_key_str(c->w.out, name);
		rt_buf_add_str(c->w.out, sorted[i].json);
	}
}

static bool
is_request(const rt_outline *o)
{
	for (size_t i = 0; i < o->field_count; i++)
		if (rt_str_starts(o->fields[i].name, RT_STR(OPENAI_PREFIX)))
			return true;
	return false;
}

static void
write_plain(writer *c)
{
	const rt_outline *o = c->w.outline;
	const rt_outline_take *take = rt_writer_take(&c->w);
	rt_buf *out = c->w.out;
	rt_str model = rt_outline_field_of(o->fields, o->field_count, OPENAI_PREFIX "model");

	c->is_array = c->w.in->count == 1 && !c->w.options.lines && !is_request(o);
	c->is_training = !c->is_array && model.size == 0;
	rt_buf_add_c(out, c->is_array ? "[" : "{\"messages\":[");
	for (size_t i = 0; take != NULL && i < take->node_count; i++)
		if (is_sent(&o->nodes[take->nodes[i]]))
			write_message(c, &o->nodes[take->nodes[i]]);
	if (c->is_array && c->message_count > 0)
		rt_buf_add_byte(out, '\n');
	rt_json_close(out, ']');
	if (!c->is_array) {
		write_request(c);
		rt_json_close(out, '}');
	}
}

static void
write_lossless(writer *c)
{
	const rt_outline *o = c->w.outline;
	rt_buf *out = c->w.out;
	size_t own, count;
	const int64_t *order, *numbers = rt_writer_number(&c->w, &order, &own, &count);

	rt_buf_add_c(out, "{\"messages\":[");
	for (size_t i = 0; i < own; i++)
		write_message(c, &o->nodes[order[i]]);
	rt_json_close(out, ']');
	write_request(c);
	if (numbers != NULL)
		rt_extras_write_discussion(out, "retake", &c->w, numbers);
	if (count > own) {
		rt_json_open(out, "retake_more", '[');
		c->message_count = 0;
		for (size_t i = own; i < count; i++)
			write_message(c, &o->nodes[order[i]]);
		rt_json_close(out, ']');
	}
	rt_json_close(out, '}');
}

static yyjson_val *
role_map(writer *c)
{
	const rt_outline *o = c->w.outline;
	rt_str map = rt_outline_field_of(o->fields, o->field_count, "setting.role_map");

	if (map.size == 0)
		map = rt_outline_field_of(c->w.in->fields, c->w.in->field_count,
					  "setting.role_map");
	return rt_writer_parse(&c->w, &c->w.d, map);
}

rt_status
rt_openai_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		rt_buf *out, rt_error *err)
{
	writer c = {.is_array = false};

	rt_writer_init(&c.w, alloc, in, options, out);
	c.lossless = c.w.options.lossless;
	c.text = rt_scope_buf(&c.w.s);
	if (in->count == 0)
		rt_buf_add_c(out, "[]\n");
	while (rt_writer_next(&c.w)) {
		c.role_map = role_map(&c);
		c.message_count = 0;
		if (c.lossless)
			write_lossless(&c);
		else
			write_plain(&c);
		rt_buf_add_byte(out, '\n');
	}
	return rt_writer_end(&c.w, err);
}
