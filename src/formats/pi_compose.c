/* SPDX-License-Identifier: MIT
 *
 * Records for entries that were made or edited in Retake. */
#include "formats/pi_rows.h"

typedef enum speaker { SPEAKER_USER, SPEAKER_ASSISTANT, SPEAKER_SYSTEM, SPEAKER_CUSTOM } speaker;

static speaker
speaker_of(rt_str role)
{
	static const struct {
		const char *role;
		speaker speaker;
	} roles[] = {
		{"user", SPEAKER_USER},           {"human", SPEAKER_USER},
		{"assistant", SPEAKER_ASSISTANT}, {"ai", SPEAKER_ASSISTANT},
		{"system", SPEAKER_SYSTEM},
	};
	size_t i;

	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (rt_str_eq_nocase(role, rt_str_of(roles[i].role)))
			return roles[i].speaker;
	return SPEAKER_CUSTOM;
}

/* The role of the record that we make for an entry of this role. */
static rt_str
role_made_for(rt_str role)
{
	switch (speaker_of(role)) {
	case SPEAKER_USER: return RT_STR("user");
	case SPEAKER_ASSISTANT: return RT_STR("assistant");
	case SPEAKER_SYSTEM: return RT_STR("system");
	case SPEAKER_CUSTOM: break;
	}
	return RT_STR("custom");
}

rt_str
rt_pi_entry_role(const rt_pi_entry *e)
{
	if (e->kind == RT_PI_MESSAGE)
		return e->role;
	return e->kind == RT_PI_CUSTOM_MESSAGE ? RT_STR("custom") : rt_str_at(NULL, 0);
}

bool
rt_pi_role_fits(const rt_pi_entry *e, rt_str role)
{
	rt_str own = rt_pi_entry_role(e);

	if (e->kind != RT_PI_MESSAGE && e->kind != RT_PI_CUSTOM_MESSAGE)
		return true;
	if (role.size == 0 || rt_str_eq(role, own) || rt_str_eq(role, e->retake_role))
		return true;
	return speaker_of(role) != SPEAKER_CUSTOM && rt_str_eq(role_made_for(role), own);
}

/* The body's text; there may be none. */
static void
add_string(rt_buf *out, const rt_body *body)
{
	rt_json_add_string(out, body->content.ptr == NULL ? RT_STR("") : body->content);
}

static void
add_text(rt_buf *out, const rt_body *body)
{
	rt_buf text;

	if (body->content_json == NULL) {
		add_string(out, body);
		return;
	}
	rt_buf_init(&text, out->alloc, RT_BUF_UNLIMITED);
	rt_body_add_text(&text, body);
	if (text.status != RT_OK)
		out->status = text.status;
	rt_json_add_string(out, text.ptr == NULL ? RT_STR("") : rt_buf_str(&text));
	rt_buf_deinit(&text);
}

/* The content of a message, in the form that its role wants: blocks for what an assistant
 * or a tool says, else text or blocks as they are. */
static void
add_content(rt_buf *out, rt_str role, const rt_body *body)
{
	bool wants_blocks = rt_str_is(role, "assistant") || rt_str_is(role, "toolResult");

	if (body->content_json != NULL) {
		rt_json_add_value(out, body->content_json);
		return;
	}
	rt_buf_add_c(out, wants_blocks ? "[{\"type\":\"text\",\"text\":" : "");
	add_string(out, body);
	rt_buf_add_c(out, wants_blocks ? "}]" : "");
}

/* Where an edited record is put together: object with value under key, where it is, or
 * behind the member after, or at the end. */
static void
add_object(rt_buf *out, yyjson_val *object, const char *key, const char *after, rt_str value)
{
	yyjson_val *k, *v;
	size_t i, max;
	bool is_there = rt_json_get(object, key) != NULL, done = false;

	rt_buf_add_byte(out, '{');
	yyjson_obj_foreach(object, i, max, k, v)
	{
		bool here = rt_str_is(rt_json_str(k), key);

		if (here && done)
			continue;
		rt_json_add_key_str(out, rt_json_str(k));
		if (here)
			rt_buf_add_str(out, value);
		else
			rt_json_add_value(out, v);
		done = done || here;
		if (is_there || done || !rt_str_is(rt_json_str(k), after))
			continue;
		rt_json_add_key(out, key);
		rt_buf_add_str(out, value);
		done = true;
	}
	if (!done) {
		rt_json_add_key(out, key);
		rt_buf_add_str(out, value);
	}
	rt_buf_add_byte(out, '}');
}

static void
compose_message_again(rt_buf *out, yyjson_val *record, const rt_body *body)
{
	yyjson_val *message = rt_json_get(record, "message");
	rt_str role = rt_json_str(rt_json_get(message, "role"));
	bool is_bash = rt_str_is(role, "bashExecution");
	rt_buf content, inner;

	rt_buf_init(&content, out->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&inner, out->alloc, RT_BUF_UNLIMITED);
	if (is_bash)
		add_text(&content, body);
	else
		add_content(&content, role, body);
	add_object(&inner, message, is_bash ? "output" : "content", is_bash ? "command" : "role",
		   rt_buf_str(&content));
	add_object(out, record, "message", "timestamp", rt_buf_str(&inner));
	if (content.status != RT_OK || inner.status != RT_OK)
		out->status = RT_NOMEM;
	rt_buf_deinit(&content);
	rt_buf_deinit(&inner);
}

void
rt_pi_compose_again(rt_buf *out, const rt_body *body)
{
	yyjson_val *record = rt_body_field(body, "pi");
	rt_str type = rt_json_str(rt_json_get(record, "type"));
	const char *key = NULL;
	rt_buf value;

	if (type.size == 0)
		return;
	if (rt_str_is(type, "message")) {
		compose_message_again(out, record, body);
		return;
	}
	rt_buf_init(&value, out->alloc, RT_BUF_UNLIMITED);
	if (rt_str_is(type, "compaction") || rt_str_is(type, "branch_summary"))
		key = "summary";
	else if (rt_str_is(type, "session_info"))
		key = "name";
	else if (rt_str_is(type, "label"))
		key = "label";
	if (key != NULL) {
		add_text(&value, body);
	} else if (rt_str_is(type, "custom_message")) {
		key = "content";
		add_content(&value, RT_STR("custom"), body);
	}
	if (key != NULL)
		add_object(out, record, key, "timestamp", rt_buf_str(&value));
	else
		rt_json_add_value(out, record); /* has no content that one could edit */
	if (value.status != RT_OK)
		out->status = value.status;
	rt_buf_deinit(&value);
}

static void
add_id(rt_buf *out, const char *key, rt_str id)
{
	rt_json_add_key(out, key);
	if (id.ptr == NULL)
		rt_buf_add_c(out, "null");
	else
		rt_json_add_string(out, id);
}

static void
add_ids(rt_buf *out, const rt_pi_composed *e)
{
	add_id(out, "id", e->id);
	add_id(out, "parentId", e->parent_id);
	rt_json_add_key(out, "timestamp");
	rt_buf_add_byte(out, '"');
	rt_moment_format_ms(out, e->ts);
	rt_buf_add_byte(out, '"');
}

/* key with the field of that name, or as it is by default. */
static void
add_field(rt_buf *out, const char *key, yyjson_val *field, const char *otherwise)
{
	if (field == NULL && otherwise == NULL)
		return;
	rt_json_add_key(out, key);
	if (field != NULL)
		rt_json_add_value(out, field);
	else
		rt_buf_add_c(out, otherwise);
}

static void
compose_message(rt_buf *out, const rt_pi_composed *e)
{
	speaker who = speaker_of(e->node->role);
	rt_str role = role_made_for(e->node->role);
	yyjson_val *model = rt_body_field(e->body, "model");

	rt_buf_add_c(out, "{\"type\":\"message\"");
	add_ids(out, e);
	rt_buf_add_c(out, ",\"message\":{\"role\":");
	rt_json_add_string(out, role);
	rt_buf_add_c(out, ",\"content\":");
	add_content(out, role, e->body);
	if (who == SPEAKER_ASSISTANT) {
		rt_buf_add_c(out, ",\"api\":\"retake\",\"provider\":\"retake\"");
		add_field(out, "model", yyjson_is_str(model) ? model : NULL, "\"retake\"");
		rt_buf_add_c(out, ",\"usage\":{\"input\":0,\"output\":0,\"cacheRead\":0,"
				  "\"cacheWrite\":0,\"totalTokens\":0,\"cost\":{\"input\":0,"
				  "\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}},"
				  "\"stopReason\":\"stop\"");
	}
	rt_json_add_key(out, "timestamp");
	rt_buf_add_i64(out, rt_pi_ms(e->ts));
	rt_buf_add_byte(out, '}');
}

static void
compose_custom(rt_buf *out, const rt_pi_composed *e)
{
	rt_buf_add_c(out, "{\"type\":\"custom_message\",\"customType\":");
	rt_json_add_string(out, e->node->role.size > 0 ? e->node->role : RT_STR("retake"));
	rt_buf_add_c(out, ",\"content\":");
	add_content(out, RT_STR("custom"), e->body);
	rt_buf_add_c(out, ",\"display\":true");
	add_ids(out, e);
}

static void
compose_compaction(rt_buf *out, const rt_pi_composed *e)
{
	rt_buf_add_c(out, "{\"type\":\"compaction\"");
	add_ids(out, e);
	rt_json_add_key(out, "summary");
	add_text(out, e->body);
	/* an entry's own id: nothing before it is kept */
	add_id(out, "firstKeptEntryId", e->kept_id.size > 0 ? e->kept_id : e->id);
	add_field(out, "tokensBefore", rt_body_field(e->body, "tokens_before"), "0");
	add_field(out, "details", rt_body_field(e->body, "details"), NULL);
}

static void
compose_branch_summary(rt_buf *out, const rt_pi_composed *e)
{
	rt_buf_add_c(out, "{\"type\":\"branch_summary\"");
	add_ids(out, e);
	add_field(out, "fromId", rt_body_field(e->body, "from_id"), "\"root\"");
	rt_json_add_key(out, "summary");
	add_text(out, e->body);
	add_field(out, "details", rt_body_field(e->body, "details"), NULL);
}

void
rt_pi_compose_retake(rt_buf *out, const rt_node *node, rt_str record_role, const rt_body *body)
{
	size_t start = out->size;

	rt_buf_add_byte(out, '{');
	if (node->role.size > 0 && !rt_str_eq(node->role, record_role)) {
		rt_json_add_key(out, "role");
		rt_json_add_string(out, node->role);
	}
	if (node->muted) {
		rt_json_add_key(out, "muted");
		rt_buf_add_c(out, "true");
	}
	if (node->collapsed) {
		rt_json_add_key(out, "collapsed");
		rt_buf_add_c(out, "true");
	}
	if (node->read_mode) {
		rt_json_add_key(out, "read_mode");
		rt_buf_add_c(out, "true");
	}
	if (body != NULL && body->fields != NULL) {
		size_t before, inside;

		before = out->size;
		rt_json_add_key(out, "fields");
		rt_buf_add_byte(out, '{');
		inside = out->size;
		rt_body_add_fields(out, out->alloc, body, false);
		if (out->size == inside)
			out->size = before;
		else
			rt_buf_add_byte(out, '}');
	}
	if (out->status != RT_OK)
		return;
	if (out->ptr[out->size - 1] == '{')
		out->size = start;
	else
		rt_buf_add_byte(out, '}');
}

void
rt_pi_compose(rt_buf *out, const rt_pi_composed *e)
{
	rt_str record_role = rt_str_at(NULL, 0);
	rt_buf retake;

	if (rt_str_is(e->node->kind, "compaction")) {
		compose_compaction(out, e);
	} else if (rt_str_is(e->node->kind, "branch_summary")) {
		compose_branch_summary(out, e);
	} else if (speaker_of(e->node->role) == SPEAKER_CUSTOM) {
		compose_custom(out, e);
		record_role = RT_STR("custom");
	} else {
		compose_message(out, e);
		record_role = role_made_for(e->node->role);
	}
	rt_buf_init(&retake, out->alloc, RT_BUF_UNLIMITED);
	if (e->lossless)
		rt_pi_compose_retake(&retake, e->node, record_role, e->body);
	if (retake.size > 0) {
		rt_json_add_key(out, "retake");
		rt_buf_add_str(out, rt_buf_str(&retake));
	}
	if (retake.status != RT_OK)
		out->status = retake.status;
	rt_buf_deinit(&retake);
	rt_buf_add_byte(out, '}');
}
