/* SPDX-License-Identifier: MIT
 *
 * Records for entries that were made or edited in Retake. */
#include "formats/pi_impl.h"

/* ---- roles and kinds ---- */

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

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
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

/* ---- contents ---- */

/* The text of the body as a JSON string. */
static void
add_text(rt_writer *w, rt_buf *out)
{
	rt_buf *text;

	if (w->body.content_json == NULL) {
		rt_json_add_string(out, w->body.content);
		return;
	}
	text = rt_scope_buf(&w->e);
	rt_body_add_text(text, &w->body);
	rt_json_add_string(out, rt_scope_str(&w->e, text));
}

/* The content of a message, in the form required for its role: blocks for an assistant or a tool,
 * else text or blocks unchanged. */
static void
add_content(rt_buf *out, rt_str role, const rt_body *body)
{
	bool wants_blocks = rt_is_word(role, "assistant toolResult");

	if (body->content_json != NULL) {
		rt_json_add_value(out, body->content_json);
		return;
	}
	rt_buf_add_c(out, wants_blocks ? "[{\"type\":\"text\",\"text\":" : "");
	rt_json_add_string(out, body->content);
	rt_buf_add_c(out, wants_blocks ? "}]" : "");
}

static bool
is_empty(const rt_body *body)
{
	return body->content_json != NULL ? yyjson_arr_size(body->content_json) == 0
					  : body->content.size == 0;
}

/* ---- edited records ---- */

/* Writes object with value under key: in the place of key, or after the member `after`, or at the
 * end. */
static void
add_object(rt_buf *out, yyjson_val *object, const char *key, const char *after, rt_str value)
{
	bool is_there = rt_json_get(object, key) != NULL, done = false;

	rt_buf_add_byte(out, '{');
	for (rt_json_iter m = rt_json_each(object); rt_json_next(&m);) {
		bool is_key = rt_str_is(m.key, key);

		if (!is_key)
			rt_json_put_member(out, m.key, m.value);
		if (!done && (is_key || (!is_there && rt_str_is(m.key, after)))) {
			rt_json_put_raw(out, key, value);
			done = true;
		}
	}
	if (!done)
		rt_json_put_raw(out, key, value);
	rt_json_close(out, '}');
}

rt_str
rt_pi_compose_again(rt_writer *w)
{
	static const char *const texts[][2] = {
		/* records that have a text there */
		{"compaction", "summary"},
		{"branch_summary", "summary"},
		{"session_info", "name"},
		{"label", "label"},
	};
	yyjson_val *record = rt_body_field(&w->body, "pi"),
		   *message = rt_json_get(record, "message");
	rt_str type = rt_json_str(rt_json_get(record, "type"));
	rt_str role = rt_json_str(rt_json_get(message, "role"));
	rt_buf *out = rt_scope_buf(&w->e), *value = rt_scope_buf(&w->e);
	const char *key = NULL;

	if (type.size == 0)
		return rt_str_at(NULL, 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (rt_str_is(type, texts[i][0]))
			key = texts[i][1];
	if (rt_str_is(type, "message") && rt_str_is(role, "bashExecution")) {
		rt_buf *inner = rt_scope_buf(&w->e);

		add_text(w, value);
		add_object(inner, message, "output", "command", rt_scope_str(&w->e, value));
		add_object(out, record, "message", "timestamp", rt_scope_str(&w->e, inner));
	} else if (rt_str_is(type, "message")) {
		rt_buf *inner = rt_scope_buf(&w->e);

		add_content(value, role, &w->body);
		add_object(inner, message, "content", "role", rt_scope_str(&w->e, value));
		add_object(out, record, "message", "timestamp", rt_scope_str(&w->e, inner));
	} else if (key != NULL) {
		add_text(w, value);
		add_object(out, record, key, "timestamp", rt_scope_str(&w->e, value));
	} else if (rt_str_is(type, "custom_message") || !is_empty(&w->body)) {
		add_content(value, RT_STR("custom"), &w->body);
		add_object(out, record, "content", "timestamp", rt_scope_str(&w->e, value));
	} else {
		rt_json_add_value(out, record);
	}
	return rt_scope_str(&w->e, out);
}

/* ---- new records ---- */

static void
put_id(rt_buf *out, const char *key, rt_str id)
{
	if (id.ptr == NULL)
		rt_json_put_null(out, key);
	else
		rt_json_put_str(out, key, id);
}

void
rt_pi_put_ids(rt_buf *out, rt_str id, rt_str parent_id, rt_moment ts)
{
	put_id(out, "id", id);
	put_id(out, "parentId", parent_id);
	rt_json_put_time(out, "timestamp", ts);
}

/* A field of the entry by its name in pi or in Retake, or that member of its record from before a
 * change of the role. */
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

/* The text if there is one, else that of the body. */
static void
put_text(rt_writer *w, const char *key, rt_str text)
{
	rt_json_add_key(w->out, key);
	if (text.size > 0)
		rt_json_add_string(w->out, text);
	else
		add_text(w, w->out);
}

/* Content of a record that has none in pi. */
static void
put_extra_content(rt_buf *out, const rt_body *body)
{
	if (is_empty(body))
		return;
	rt_json_add_key(out, "content");
	rt_body_add_content(out, body);
}

/* "customType", without which pi knows no custom entry. */
static void
put_custom_type(rt_buf *out, const rt_pi_composed *e)
{
	rt_str name = text_of(e, "customType", "custom_type");

	if (name.size == 0)
		name = e->node->role.size > 0 ? e->node->role : RT_STR("retake");
	rt_json_put_str(out, "customType", name);
}

static void
put_model(rt_writer *w, const rt_pi_composed *e)
{
	rt_buf *out = w->out;
	rt_str provider = text_of(e, "provider", NULL), model = text_of(e, "modelId", "model_id");
	size_t slash;

	if (model.size == 0)
		model = text_of(e, "model", NULL);
	slash = rt_str_find(model, RT_STR("/"), 0);
	if (provider.size == 0 && slash != SIZE_MAX) { /* in Retake's naming of models */
		provider = rt_str_at(model.ptr, slash);
		model = rt_str_at(model.ptr + slash + 1, model.size - slash - 1);
	}
	rt_json_put_str(out, "provider", provider.size > 0 ? provider : RT_STR("retake"));
	put_text(w, "modelId", model);
}

/* The parts of a record of each kind, in order. */
typedef enum part_type {
	PART_END,
	PART_IDS,
	PART_TEXT,       /* the text of the body */
	PART_CONTENT,    /* its content */
	PART_EXTRA,      /* its content, if it has any */
	PART_FIELD,      /* a field of the body; otherwise as default, or left out */
	PART_FLAG,       /* the same, for true and false */
	PART_TEXT_FIELD, /* a field of the body that is a text; otherwise its text */
	PART_KEPT,       /* the first entry that a compaction keeps */
	PART_CUSTOM_TYPE,
	PART_MODEL
} part_type;

typedef struct part {
	part_type type;
	const char *key, *name; /* in pi, in Retake if it differs */
	const char *otherwise;  /* JSON; NULL: nothing */
} part;

/* The origin of a summary. pi ignores these members and keeps them. */
#define MADE_BY \
	{PART_FIELD, "hook", NULL, NULL}, {PART_FIELD, "service", NULL, NULL}, \
		{PART_FIELD, "model", NULL, NULL}, {PART_FIELD, "reason", NULL, NULL}, \
		{PART_FIELD, "instructions", NULL, NULL}

static const struct {
	const char *kind;
	part parts[12];
} kinds[] = {
	{"compaction",
	 {{.type = PART_IDS},
	  {PART_TEXT, "summary", NULL, NULL},
	  {PART_KEPT, "firstKeptEntryId", NULL, NULL},
	  {PART_FIELD, "tokensBefore", "tokens_before", "0"},
	  {PART_FIELD, "details", NULL, NULL},
	  {PART_FIELD, "fromHook", "from_hook", NULL},
	  MADE_BY}},
	{"branch_summary",
	 {{.type = PART_IDS},
	  {PART_FIELD, "fromId", "from_id", "\"root\""},
	  {PART_TEXT, "summary", NULL, NULL},
	  {PART_FIELD, "details", NULL, NULL},
	  {PART_FIELD, "fromHook", "from_hook", NULL},
	  MADE_BY}},
	{"custom",
	 {{.type = PART_CUSTOM_TYPE},
	  {PART_FIELD, "data", NULL, NULL},
	  {.type = PART_EXTRA},
	  {.type = PART_IDS}}},
	{"custom_message",
	 {{.type = PART_CUSTOM_TYPE},
	  {PART_CONTENT, "content", NULL, NULL},
	  {PART_FLAG, "display", NULL, "true"},
	  {PART_FIELD, "details", NULL, NULL},
	  {.type = PART_IDS}}},
	{"model_change", {{.type = PART_IDS}, {.type = PART_MODEL}}},
	{"thinking_level_change",
	 {{.type = PART_IDS}, {PART_TEXT_FIELD, "thinkingLevel", "thinking_level", NULL}}},
};

static void
put_part(rt_writer *w, const part *p, const rt_pi_composed *e)
{
	rt_buf *out = w->out;
	yyjson_val *field = p->key == NULL ? NULL : field_of(e, p->key, p->name);

	switch (p->type) {
	case PART_IDS: rt_pi_put_ids(out, e->id, e->parent_id, e->ts); break;
	case PART_TEXT: put_text(w, p->key, rt_str_at(NULL, 0)); break;
	case PART_CONTENT:
		rt_json_add_key(out, p->key);
		add_content(out, RT_STR("custom"), e->body);
		break;
	case PART_EXTRA: put_extra_content(out, e->body); break;
	case PART_FLAG:
	case PART_FIELD:
		if (field != NULL && (p->type == PART_FIELD || yyjson_is_bool(field)))
			rt_json_put_value(out, p->key, field);
		else if (p->otherwise != NULL)
			rt_json_put_raw(out, p->key, rt_str_of(p->otherwise));
		break;
	case PART_TEXT_FIELD: put_text(w, p->key, rt_json_str(field)); break;
	case PART_KEPT: /* an entry's own id: nothing before it is kept */
		put_id(out, p->key, e->kept_id.size > 0 ? e->kept_id : e->id);
		break;
	case PART_CUSTOM_TYPE: put_custom_type(out, e); break;
	case PART_MODEL: put_model(w, e); break;
	case PART_END: break;
	}
}

/* A record of this kind; false: there is no row for it above. */
static bool
compose_kind(rt_writer *w, const rt_pi_composed *e, rt_str kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!rt_str_is(kind, kinds[i].kind))
			continue;
		rt_json_put_str(w->out, "type", kind);
		for (const part *p = kinds[i].parts; p->type != PART_END; p++)
			put_part(w, p, e);
		return true;
	}
	return false;
}

/* A notice of the prompt is from the system, whatever its role. */
static rt_str
message_role(const rt_node *node)
{
	return rt_str_is(node->kind, "prompt_notice") ? RT_STR("system")
						      : role_made_for(node->role);
}

static uint64_t
tokens_of(yyjson_val *usage, const char *key)
{
	uint64_t count = 0;

	return rt_json_u64(rt_json_get(usage, key), &count) ? count : 0;
}

/* The usage of a reply. Retake's input includes what the provider's cache read and wrote, pi's does
 * not. A cost is only known as a whole. */
static void
put_usage(rt_buf *out, const rt_body *body)
{
	yyjson_val *usage = rt_body_field(body, "usage"), *cost = rt_body_field(body, "cost");
	uint64_t input = tokens_of(usage, "input_tokens"), output = tokens_of(usage, "output_tokens");
	uint64_t read = tokens_of(usage, "cache_read_input_tokens");
	uint64_t wrote = tokens_of(usage, "cache_creation_input_tokens");

	rt_json_open(out, "usage", '{');
	rt_json_put_u64(out, "input", input > read + wrote ? input - read - wrote : 0);
	rt_json_put_u64(out, "output", output);
	rt_json_put_u64(out, "cacheRead", read);
	rt_json_put_u64(out, "cacheWrite", wrote);
	rt_json_put_u64(out, "totalTokens", (input > read + wrote ? input : read + wrote) + output);
	rt_json_open(out, "cost", '{');
	rt_json_put_raw(out, "input", RT_STR("0"));
	rt_json_put_raw(out, "output", RT_STR("0"));
	rt_json_put_raw(out, "cacheRead", RT_STR("0"));
	rt_json_put_raw(out, "cacheWrite", RT_STR("0"));
	if (rt_json_is_number(cost))
		rt_json_put_value(out, "total", cost);
	else
		rt_json_put_raw(out, "total", RT_STR("0"));
	rt_json_close(out, '}');
	rt_json_close(out, '}');
}

static void
compose_message(rt_buf *out, const rt_pi_composed *e)
{
	rt_str role = message_role(e->node);
	yyjson_val *model = rt_body_field(e->body, "model");

	rt_json_put_c(out, "type", "message");
	rt_pi_put_ids(out, e->id, e->parent_id, e->ts);
	rt_json_open(out, "message", '{');
	rt_json_put_str(out, "role", role);
	rt_json_add_key(out, "content");
	add_content(out, role, e->body);
	if (speaker_of(role) == SPEAKER_ASSISTANT) {
		rt_json_put_c(out, "api", "retake");
		rt_json_put_c(out, "provider", "retake");
		if (yyjson_is_str(model))
			rt_json_put_value(out, "model", model);
		else
			rt_json_put_c(out, "model", "retake");
		put_usage(out, e->body);
		rt_json_put_c(out, "stopReason", "stop");
	}
	rt_json_put_i64(out, "timestamp", rt_pi_ms(e->ts));
	rt_json_close(out, '}');
}

/* The first of these that is not empty. */
static rt_str
either(rt_str a, rt_str b)
{
	return a.size > 0 ? a : b;
}

rt_pi_type
rt_pi_composed_type(const rt_pi_composed *e, rt_str *out_target, rt_str *out_text)
{
	rt_str kind = e->node->kind;

	*out_target = *out_text = rt_str_at(NULL, 0);
	if (rt_str_is(kind, "label")) {
		*out_target = text_of(e, "targetId", "target_id");
		*out_text = either(text_of(e, "label", NULL), e->body->content);
		return out_target->size > 0 ? RT_PI_LABEL : RT_PI_OTHER;
	}
	if (rt_str_is(kind, "session_info")) {
		*out_text = either(text_of(e, "name", NULL), e->body->content);
		return RT_PI_SESSION_INFO;
	}
	return RT_PI_OTHER;
}

/* The fields of the body as members, except for those that a record has anyway. */
static void
put_other_fields(rt_buf *out, const rt_body *body)
{
	yyjson_val *fields = body->format == RT_BODY_JSON ? body->fields : NULL;

	for (rt_json_iter m = rt_json_each(fields); rt_json_next(&m);)
		if (!rt_is_word(m.key, "type id parentId timestamp retake content"))
			rt_json_put_member(out, m.key, m.value);
}

/* Members that would mean something else in a session file: kept for Retake, ignored by pi. */
static void
compose_kept(rt_buf *out, const rt_pi_composed *e, rt_str name)
{
	rt_json_put_c(out, "type", "custom");
	rt_json_put_str(out, "customType", name);
	rt_json_open(out, "data", '{');
	rt_json_add_key(out, "content");
	rt_body_add_content(out, e->body);
	put_other_fields(out, e->body);
	rt_json_close(out, '}');
	rt_pi_put_ids(out, e->id, e->parent_id, e->ts);
}

static const rt_member retake_members[] = {
	RT_MEMBER(FLAG, muted),
	RT_MEMBER(FLAG, collapsed),
	RT_MEMBER(FLAG, read_mode),
};

void
rt_pi_compose_retake(rt_buf *out, const rt_node *node, rt_str record_role, rt_str record_kind,
		     const rt_body *body)
{
	rt_str kind = node->kind.size > 0 ? node->kind : RT_STR("message");
	size_t start = out->size;

	rt_buf_add_byte(out, '{');
	if (node->role.size > 0 && !rt_str_eq(node->role, record_role))
		rt_json_put_str(out, "role", node->role);
	if (!rt_str_eq(kind, record_kind))
		rt_json_put_str(out, "kind", kind);
	for (size_t i = 0; i < sizeof(retake_members) / sizeof(*retake_members); i++)
		rt_member_write(out, &retake_members[i], node);
	if (body != NULL && body->fields != NULL) {
		size_t before = out->size, inside;

		rt_json_open(out, "fields", '{');
		inside = out->size;
		rt_body_add_fields(out, out->alloc, body, false);
		if (out->size == inside)
			out->size = before;
		else
			rt_json_close(out, '}');
	}
	if (out->status != RT_OK)
		return;
	if (out->ptr[out->size - 1] == '{')
		out->size = start;
	else
		rt_json_close(out, '}');
}

/* The record, still open. Returns the role and kind that a reader finds in it. */
static void
compose_record(rt_writer *w, const rt_pi_composed *e, rt_str *out_role, rt_str *out_kind)
{
	rt_buf *out = w->out;
	rt_str kind = e->node->kind, target, text;
	bool is_message = kind.size == 0 || rt_str_is(kind, "message");
	rt_pi_type type = rt_pi_composed_type(e, &target, &text);

	*out_role = rt_str_at(NULL, 0);
	*out_kind = kind;
	rt_buf_add_byte(out, '{');
	if (e->is_inner_range) { /* not as kind "compaction": its range would not be read back */
		compose_kept(out, e, RT_STR("retake.compaction"));
		return;
	}
	if (compose_kind(w, e, kind)) {
		if (rt_str_is(kind, "custom_message"))
			*out_role = RT_STR("custom");
		return;
	}
	if (type == RT_PI_LABEL || type == RT_PI_SESSION_INFO) {
		rt_json_put_str(out, "type", kind);
		rt_pi_put_ids(out, e->id, e->parent_id, e->ts);
		if (type == RT_PI_LABEL)
			rt_json_put_str(out, "targetId", target);
		if (type == RT_PI_SESSION_INFO || text.size > 0)
			rt_json_put_str(out, type == RT_PI_LABEL ? "label" : "name", text);
	} else if (rt_str_is(kind, "label") || rt_str_is(kind, "session")) {
		compose_kept(out, e, kind);
		*out_kind = RT_STR("custom");
	} else if (!is_message && !rt_str_is(kind, "prompt_notice")) {
		/* not one of pi's: a record of that type, which pi keeps and does not send */
		rt_json_put_str(out, "type", kind);
		rt_pi_put_ids(out, e->id, e->parent_id, e->ts);
		put_extra_content(out, e->body);
		put_other_fields(out, e->body);
	} else if (is_message && speaker_of(e->node->role) == SPEAKER_CUSTOM) {
		(void)compose_kind(w, e, RT_STR("custom_message"));
		*out_role = RT_STR("custom");
		*out_kind = RT_STR("custom_message");
	} else {
		compose_message(out, e);
		*out_role = message_role(e->node);
		*out_kind = RT_STR("message");
	}
}

void
rt_pi_compose(rt_writer *w, const rt_pi_composed *e)
{
	rt_str role, kind;
	rt_buf *retake = rt_scope_buf(&w->e);

	compose_record(w, e, &role, &kind);
	if (w->options.lossless)
		rt_pi_compose_retake(retake, e->node, role, kind, e->body);
	rt_str own = rt_scope_str(&w->e, retake);
	if (own.size > 0)
		rt_json_put_raw(w->out, "retake", own);
	rt_json_close(w->out, '}');
}
