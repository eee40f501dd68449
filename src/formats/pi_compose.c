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

rt_str
rt_pi_entry_kind(const rt_pi_entry *e)
{
	if (e->kind == RT_PI_MESSAGE || rt_str_is(e->type, "message"))
		return RT_STR("message");
	return e->type.size > 0 ? e->type : RT_STR("unknown");
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

static bool
is_empty(const rt_body *body)
{
	return body->content_json != NULL ? yyjson_arr_size(body->content_json) == 0
					  : body->content.size == 0;
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
	const char *key = "content";
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
	if (strcmp(key, "content") != 0)
		add_text(&value, body);
	else
		add_content(&value, RT_STR("custom"), body);
	if (rt_str_is(type, "custom_message") || strcmp(key, "content") != 0 || !is_empty(body))
		add_object(out, record, key, "timestamp", rt_buf_str(&value));
	else
		rt_json_add_value(out, record);
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

/* A field of the entry by its name in pi or in Retake, or the member of the record that it
 * was before its role was changed. */
static yyjson_val *
field_of(const rt_pi_composed *e, const char *pi_name, const char *name)
{
	const rt_body *body = e->body;
	yyjson_val *record = body->format == RT_BODY_PI ? body->fields : rt_body_field(body, "pi");
	yyjson_val *field = rt_body_field(body, pi_name);

	if (field == NULL && name != NULL)
		field = rt_body_field(body, name);
	return field != NULL ? field : rt_json_get(record, pi_name);
}

static rt_str
text_of(const rt_pi_composed *e, const char *pi_name, const char *name)
{
	return rt_json_str(field_of(e, pi_name, name));
}

/* A notice of the prompt is the system's, whatever its role. */
static rt_str
message_role(const rt_node *node)
{
	return rt_str_is(node->kind, "prompt_notice") ? RT_STR("system")
						      : role_made_for(node->role);
}

static void
compose_message(rt_buf *out, const rt_pi_composed *e)
{
	rt_str role = message_role(e->node);
	speaker who = speaker_of(role);
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

/* "customType", without which pi knows no custom entry. */
static void
add_custom_type(rt_buf *out, const rt_pi_composed *e, rt_str otherwise)
{
	rt_str name = text_of(e, "customType", "custom_type");

	if (name.size == 0)
		name = otherwise.size > 0 ? otherwise : RT_STR("retake");
	rt_json_add_key(out, "customType");
	rt_json_add_string(out, name);
}

static void
compose_custom_message(rt_buf *out, const rt_pi_composed *e)
{
	yyjson_val *display = field_of(e, "display", NULL);

	rt_buf_add_c(out, "{\"type\":\"custom_message\"");
	add_custom_type(out, e, e->node->role);
	rt_buf_add_c(out, ",\"content\":");
	add_content(out, RT_STR("custom"), e->body);
	add_field(out, "display", yyjson_is_bool(display) ? display : NULL, "true");
	add_field(out, "details", field_of(e, "details", NULL), NULL);
	add_ids(out, e);
}

/* Content of a record that has none in pi. */
static void
add_extra_content(rt_buf *out, const rt_body *body)
{
	if (is_empty(body))
		return;
	rt_json_add_key(out, "content");
	rt_body_add_content(out, body);
}

static void
compose_custom(rt_buf *out, const rt_pi_composed *e)
{
	rt_buf_add_c(out, "{\"type\":\"custom\"");
	add_custom_type(out, e, e->node->role);
	add_field(out, "data", field_of(e, "data", NULL), NULL);
	add_extra_content(out, e->body);
	add_ids(out, e);
}

/* key with the first of these that has text; the last one is the content. */
static void
add_said(rt_buf *out, const char *key, rt_str said, const rt_pi_composed *e)
{
	rt_json_add_key(out, key);
	if (said.size > 0)
		rt_json_add_string(out, said);
	else
		add_text(out, e->body);
}

static void
compose_model_change(rt_buf *out, const rt_pi_composed *e)
{
	rt_str provider = text_of(e, "provider", NULL), model = text_of(e, "modelId", "model_id");
	size_t slash;

	if (model.size == 0)
		model = text_of(e, "model", NULL);
	slash = rt_str_find(model, RT_STR("/"), 0);
	if (provider.size == 0 && slash != SIZE_MAX) { /* as Retake names models */
		provider = rt_str_at(model.ptr, slash);
		model = rt_str_at(model.ptr + slash + 1, model.size - slash - 1);
	}
	rt_buf_add_c(out, "{\"type\":\"model_change\"");
	add_ids(out, e);
	rt_json_add_key(out, "provider");
	rt_json_add_string(out, provider.size > 0 ? provider : RT_STR("retake"));
	add_said(out, "modelId", model, e);
}

static void
compose_thinking(rt_buf *out, const rt_pi_composed *e)
{
	rt_buf_add_c(out, "{\"type\":\"thinking_level_change\"");
	add_ids(out, e);
	add_said(out, "thinkingLevel", text_of(e, "thinkingLevel", "thinking_level"), e);
}

rt_pi_type
rt_pi_composed_type(const rt_pi_composed *e, rt_str *out_target, rt_str *out_text)
{
	rt_str kind = e->node->kind;

	*out_target = *out_text = rt_str_at(NULL, 0);
	if (rt_str_is(kind, "label")) {
		*out_target = text_of(e, "targetId", "target_id");
		*out_text = text_of(e, "label", NULL);
		if (out_text->size == 0)
			*out_text = e->body->content;
		return out_target->size > 0 ? RT_PI_LABEL : RT_PI_OTHER;
	}
	if (rt_str_is(kind, "session_info")) {
		*out_text = text_of(e, "name", NULL);
		if (out_text->size == 0)
			*out_text = e->body->content;
		return RT_PI_SESSION_INFO;
	}
	return RT_PI_OTHER;
}

static void
compose_label(rt_buf *out, const rt_pi_composed *e, rt_str target, rt_str label)
{
	rt_buf_add_c(out, "{\"type\":\"label\"");
	add_ids(out, e);
	rt_json_add_key(out, "targetId");
	rt_json_add_string(out, target);
	if (label.size == 0)
		return;
	rt_json_add_key(out, "label");
	rt_json_add_string(out, label);
}

static void
compose_session_info(rt_buf *out, const rt_pi_composed *e, rt_str name)
{
	rt_buf_add_c(out, "{\"type\":\"session_info\"");
	add_ids(out, e);
	rt_json_add_key(out, "name");
	rt_json_add_string(out, name.ptr != NULL ? name : RT_STR(""));
}

/* The fields of the body as members, but for those that a record has anyway. */
static void
add_other_fields(rt_buf *out, const rt_body *body)
{
	static const char *const taken[] = {"type",      "id",     "parentId",
					    "timestamp", "retake", "content"};
	yyjson_val *key, *value;
	size_t i, k, max;

	if (body->format != RT_BODY_JSON)
		return;
	yyjson_obj_foreach(body->fields, i, max, key, value)
	{
		bool is_taken = false;

		for (k = 0; k < sizeof(taken) / sizeof(taken[0]) && !is_taken; k++)
			is_taken = rt_str_is(rt_json_str(key), taken[k]);
		if (is_taken)
			continue;
		rt_json_add_key_str(out, rt_json_str(key));
		rt_json_add_value(out, value);
	}
}

/* A kind that is not pi's: a record of that type, which pi keeps and sends to nobody. */
static void
compose_other(rt_buf *out, const rt_pi_composed *e)
{
	rt_buf_add_c(out, "{\"type\":");
	rt_json_add_string(out, e->node->kind);
	add_ids(out, e);
	add_extra_content(out, e->body);
	add_other_fields(out, e->body);
}

/* What would mean something else in a session file: kept for Retake, ignored by pi. */
static void
compose_kept(rt_buf *out, const rt_pi_composed *e, rt_str name)
{
	rt_buf_add_c(out, "{\"type\":\"custom\",\"customType\":");
	rt_json_add_string(out, name);
	rt_buf_add_c(out, ",\"data\":{\"content\":");
	rt_body_add_content(out, e->body);
	add_other_fields(out, e->body);
	rt_buf_add_byte(out, '}');
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
	add_field(out, "tokensBefore", field_of(e, "tokensBefore", "tokens_before"), "0");
	add_field(out, "details", field_of(e, "details", NULL), NULL);
	add_field(out, "fromHook", field_of(e, "fromHook", "from_hook"), NULL);
}

static void
compose_branch_summary(rt_buf *out, const rt_pi_composed *e)
{
	rt_buf_add_c(out, "{\"type\":\"branch_summary\"");
	add_ids(out, e);
	add_field(out, "fromId", field_of(e, "fromId", "from_id"), "\"root\"");
	rt_json_add_key(out, "summary");
	add_text(out, e->body);
	add_field(out, "details", field_of(e, "details", NULL), NULL);
	add_field(out, "fromHook", field_of(e, "fromHook", "from_hook"), NULL);
}

void
rt_pi_compose_retake(rt_buf *out, const rt_node *node, rt_str record_role, rt_str record_kind,
		     const rt_body *body)
{
	rt_str kind = node->kind.size > 0 ? node->kind : RT_STR("message");
	size_t start = out->size;

	rt_buf_add_byte(out, '{');
	if (node->role.size > 0 && !rt_str_eq(node->role, record_role)) {
		rt_json_add_key(out, "role");
		rt_json_add_string(out, node->role);
	}
	if (!rt_str_eq(kind, record_kind)) {
		rt_json_add_key(out, "kind");
		rt_json_add_string(out, kind);
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

/* The record, still open. Gives the role and kind that a reader finds in it. */
static void
compose_record(rt_buf *out, const rt_pi_composed *e, rt_str *out_role, rt_str *out_kind)
{
	static const struct {
		const char *kind;
		void (*compose)(rt_buf *out, const rt_pi_composed *e);
	} kinds[] = {
		{"compaction", compose_compaction},     {"branch_summary", compose_branch_summary},
		{"custom", compose_custom},             {"custom_message", compose_custom_message},
		{"model_change", compose_model_change}, {"thinking_level_change", compose_thinking},
	};
	bool is_message = e->node->kind.size == 0 || rt_str_is(e->node->kind, "message");
	rt_str kind = e->node->kind, target, text;
	rt_pi_type type = rt_pi_composed_type(e, &target, &text);
	size_t i;

	*out_role = rt_str_at(NULL, 0);
	*out_kind = kind;
	if (e->is_inner_range) { /* not as kind "compaction": its range would not come back */
		compose_kept(out, e, RT_STR("retake.compaction"));
		return;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (rt_str_is(kind, kinds[i].kind)) {
			kinds[i].compose(out, e);
			if (rt_str_is(kind, "custom_message"))
				*out_role = RT_STR("custom");
			return;
		}
	if (type == RT_PI_LABEL) {
		compose_label(out, e, target, text);
	} else if (type == RT_PI_SESSION_INFO) {
		compose_session_info(out, e, text);
	} else if (rt_str_is(kind, "label") || rt_str_is(kind, "session")) {
		compose_kept(out, e, kind);
		*out_kind = RT_STR("custom");
	} else if (!is_message && !rt_str_is(kind, "prompt_notice")) {
		compose_other(out, e);
	} else if (is_message && speaker_of(e->node->role) == SPEAKER_CUSTOM) {
		compose_custom_message(out, e);
		*out_role = RT_STR("custom");
		*out_kind = RT_STR("custom_message");
	} else {
		compose_message(out, e);
		*out_role = message_role(e->node);
		*out_kind = RT_STR("message");
	}
}

void
rt_pi_compose(rt_buf *out, const rt_pi_composed *e)
{
	rt_str role, kind;
	rt_buf retake;

	compose_record(out, e, &role, &kind);
	rt_buf_init(&retake, out->alloc, RT_BUF_UNLIMITED);
	if (e->lossless)
		rt_pi_compose_retake(&retake, e->node, role, kind, e->body);
	if (retake.size > 0) {
		rt_json_add_key(out, "retake");
		rt_buf_add_str(out, rt_buf_str(&retake));
	}
	if (retake.status != RT_OK)
		out->status = retake.status;
	rt_buf_deinit(&retake);
	rt_buf_add_byte(out, '}');
}
