/* SPDX-License-Identifier: MIT
 *
 * Writing sessions of Claude Code: the active take as one chain of records, which `claude --resume`
 * continues.
 *
 * Entries with records are written from them. A reply that was written as several records keeps them
 * if it still has as many blocks, else its content goes into the first. In others, a system message
 * is one of the user that is not shown (isMeta). A result without its call becomes a text, and a
 * call without its result is given one, since the API refuses both. */
#include "codec/content.h"
#include "importers/back.h"
#include "importers/claude_code.h"
#include "importers/graph.h"

#define NO_RESULT "The result of this call is not part of the conversation."

typedef struct writer {
	rt_back k;
	rt_str parent;               /* uuid of the last record; empty: none */
	rt_str cwd, version, branch; /* of the last record with them, as JSON */
	rt_str model;                /* of the last reply */
} writer;

static writer *
writer_of(rt_back *k)
{
	return (writer *)(void *)k; /* its first member */
}

static rt_str
quoted(writer *c, rt_str text)
{
	return rt_back_json(&c->k, text);
}

static rt_str
parent_json(writer *c)
{
	return c->parent.size > 0 ? quoted(c, c->parent) : RT_STR("null");
}

/* ---- blocks ---- */

static void
put_source(rt_buf *out, const rt_part *part, const char *type)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", type);
	rt_json_open(out, "source", '{');
	rt_json_put_c(out, "type", part->data.size > 0 ? "base64" : "url");
	if (part->data.size > 0) {
		rt_json_put_str(out, "media_type", part->mime);
		rt_json_put_str(out, "data", part->data);
	} else {
		rt_json_put_str(out, "url", part->url);
	}
	rt_json_close(out, '}');
	rt_json_close(out, '}');
}

static bool
put_part(writer *c, rt_buf *out, const rt_part *part);

static void
put_result(writer *c, rt_buf *out, const rt_part *part)
{
	rt_part block;

	rt_json_open(out, NULL, '{');
	rt_json_put_str(out, "tool_use_id", part->id);
	rt_json_put_c(out, "type", "tool_result");
	if (yyjson_is_arr(part->value)) {
		rt_json_open(out, "content", '[');
		for (rt_json_iter m = rt_json_items(part->value); rt_json_next(&m);)
			if (rt_json_get(m.value, "source") == NULL && rt_back_part(&block, m.value) &&
			    (block.kind == RT_PART_IMAGE || block.kind == RT_PART_FILE))
				(void)put_part(c, out, &block);
			else
				rt_json_put_value(out, NULL, m.value);
		rt_json_close(out, ']');
	} else {
		rt_json_put_str(out, "content", part->text);
	}
	if (part->has_failed)
		rt_json_put_bool(out, "is_error", true);
	rt_json_close(out, '}');
}

/* A part in the program's own shape; false: it has none. */
static bool
put_part(writer *c, rt_buf *out, const rt_part *part)
{
	rt_buf *text;

	switch (part->kind) {
	case RT_PART_TEXT:
		if (part->text.size > 0)
			rt_content_add_text_block(out, part->text);
		return part->text.size > 0;
	case RT_PART_THINKING: /* the API refuses thinking that it has not signed */
		if (rt_json_text(part->block, "signature").size == 0)
			return false;
		rt_json_put_value(out, NULL, part->block);
		return true;
	case RT_PART_CALL:
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "type", "tool_use");
		rt_json_put_str(out, "id", part->id);
		rt_json_put_str(out, "name", part->name);
		if (yyjson_is_obj(part->value))
			rt_json_put_value(out, "input", part->value);
		else
			rt_json_put_raw(out, "input", RT_STR("{}"));
		rt_json_close(out, '}');
		return true;
	case RT_PART_RESULT: put_result(c, out, part); return true;
	case RT_PART_IMAGE:
		put_source(out, part, "image");
		return true;
	case RT_PART_FILE: break;
	}
	if (part->data.size > 0 && rt_str_is(part->mime, "application/pdf")) {
		put_source(out, part, "document");
		return true;
	}
	text = rt_scope_buf(&c->k.w.e);
	rt_back_file_text(text, part);
	rt_content_add_text_block(out, rt_scope_str(&c->k.w.e, text));
	return true;
}

static bool
is_type(yyjson_val *object, const char *type)
{
	return rt_str_is(rt_json_text(object, "type"), type);
}

/* The block of the record that a block of the entry comes from; the search continues after it. */
static yyjson_val *
find_source(rt_json_iter *raw, bool is_text)
{
	rt_json_iter at = *raw;

	while (rt_json_next(&at))
		if (is_text ? rt_content_is_text(at.value) && yyjson_is_obj(at.value)
			    : is_type(at.value, "tool_use")) {
			*raw = at;
			return at.value;
		}
	return NULL;
}

static void
put_call(writer *c, rt_buf *out, yyjson_val *block, yyjson_val *source)
{
	yyjson_val *arguments = rt_json_get(block, "arguments");
	rt_buf *input = rt_scope_buf(&c->k.w.e);
	rt_part part;

	if (source == NULL) {
		(void)rt_back_part(&part, block);
		(void)put_part(c, out, &part);
		return;
	}
	rt_json_add_value(input, yyjson_is_obj(rt_json_get(source, "input"))
					 ? arguments
					 : rt_json_get(source, "input"));
	rt_back_member members[] = {
		{"id", quoted(c, rt_json_text(block, "id")), false},
		{"name", quoted(c, rt_json_text(block, "name")), false},
		{"input", rt_back_json_of(&c->k, input), false},
	};

	rt_back_object(out, source, members, 3);
}

/* A block of an imported entry. */
static void
put_block(writer *c, rt_buf *out, yyjson_val *block, rt_json_iter *raw)
{
	yyjson_val *source;
	rt_part part;

	if (rt_content_is_text(block)) {
		rt_back_member text = {"text", quoted(c, rt_content_text_of(block)), false};

		source = find_source(raw, true);
		if (source != NULL)
			rt_back_object(out, source, &text, 1);
		else
			rt_content_add_text_block(out, rt_content_text_of(block));
	} else if (is_type(block, "toolCall")) {
		put_call(c, out, block, find_source(raw, false));
	} else if (rt_is_word(rt_json_text(block, "type"), "image file") &&
		   rt_json_text(block, "data").size > 0 && rt_back_part(&part, block)) {
		(void)put_part(c, out, &part); /* attached in Retake */
	} else {
		rt_json_put_value(out, NULL, block);
	}
}

/* Blocks of an entry, from..end, in the form of the record's content. The program needs a list in
 * its replies. */
static rt_str
content_of(writer *c, const rt_body *body, size_t from, size_t end, yyjson_val *raw, bool is_list)
{
	rt_buf *out = rt_scope_buf(&c->k.w.e);
	rt_json_iter source = rt_json_items(raw);
	yyjson_val *block;

	if (body->content_json == NULL && yyjson_is_str(raw) && !is_list)
		return quoted(c, body->content);
	if (raw != NULL && !yyjson_is_str(raw) && !yyjson_is_arr(raw) && body->content.size == 0 &&
	    body->content_json == NULL) { /* of a type that the importer does not know */
		rt_json_add_value(out, raw);
		return rt_back_json_of(&c->k, out);
	}
	rt_json_open(out, NULL, '[');
	if (body->content_json == NULL && from < end && body->content.size > 0) {
		block = find_source(&source, true);
		rt_back_member text = {"text", quoted(c, body->content), false};

		if (block != NULL)
			rt_back_object(out, block, &text, 1);
		else
			rt_content_add_text_block(out, body->content);
	}
	for (rt_json_iter m = rt_json_items(body->content_json); rt_json_next(&m);)
		if (m.index >= from && m.index < end)
			put_block(c, out, m.value, &source);
	rt_json_close(out, ']');
	return rt_back_json_of(&c->k, out);
}

/* ---- records ---- */

static void
keep(writer *c, rt_str *out, yyjson_val *value)
{
	if (yyjson_is_str(value))
		*out = rt_scope_copy(&c->k.w.d, rt_back_json(&c->k, rt_json_str(value)));
}

/* A record with this message, or as it is. */
static void
put_record(writer *c, const rt_back_entry *e, yyjson_val *raw, size_t number, rt_str message,
	   bool is_text)
{
	bool is_cut = is_type(raw, "system") &&
		      rt_str_is(rt_json_text(raw, "subtype"), "compact_boundary");
	rt_str uuid = rt_back_own_id(&c->k, rt_json_text(raw, "uuid"), e, number);
	rt_str parent = parent_json(c);
	rt_back_member members[] = {
		{"parentUuid", is_cut ? RT_STR("null") : parent, true},
		{is_cut ? "logicalParentUuid" : "", parent, is_cut},
		{"sessionId", quoted(c, c->k.session), true},
		{"session_id", quoted(c, c->k.session), false},
		{"uuid", quoted(c, uuid), true},
		{"toolUseResult", rt_str_at(NULL, 0), false},
		{"message", message, false},
	};
	size_t count = sizeof(members) / sizeof(*members) - (message.size == 0);

	if (!is_text) { /* a result stays one */
		members[5] = members[count - 1];
		count--;
	}
	rt_back_object(c->k.out, raw, members, count);
	rt_buf_add_byte(c->k.out, '\n');
	c->parent = rt_scope_copy(&c->k.w.d, uuid);
	keep(c, &c->cwd, rt_json_get(raw, "cwd"));
	keep(c, &c->version, rt_json_get(raw, "version"));
	keep(c, &c->branch, rt_json_get(raw, "gitBranch"));
}

/* The message of a record with this content. */
static rt_str
message_of(writer *c, yyjson_val *raw, rt_str content)
{
	rt_back_member member = {"content", content, true};
	rt_buf *out = rt_scope_buf(&c->k.w.e);

	rt_back_object(out, rt_json_get(raw, "message"), &member, 1);
	return rt_back_json_of(&c->k, out);
}

/* The members that all records have; the caller adds the others. type: "user" or "assistant". */
static rt_buf *
open_record(writer *c, const char *type)
{
	rt_buf *out = c->k.out;

	rt_json_open(out, NULL, '{');
	rt_json_put_raw(out, "parentUuid", parent_json(c));
	rt_json_put_bool(out, "isSidechain", false);
	rt_json_put_c(out, "userType", "external");
	rt_json_put_raw(out, "cwd", c->cwd);
	rt_json_put_str(out, "sessionId", c->k.session);
	rt_json_put_raw(out, "version", c->version);
	rt_json_put_raw(out, "gitBranch", c->branch);
	rt_json_put_c(out, "type", type);
	return out;
}

static void
close_record(writer *c, const rt_back_entry *e, size_t number)
{
	rt_str uuid = rt_back_id(&c->k, e, number);

	rt_json_put_str(c->k.out, "uuid", uuid);
	rt_json_put_raw(c->k.out, "timestamp", c->k.time);
	rt_json_close(c->k.out, '}');
	rt_buf_add_byte(c->k.out, '\n');
	c->parent = rt_scope_copy(&c->k.w.d, uuid);
}

/* A record in the program's own shape; content: a JSON array of blocks. */
static void
put_reply(writer *c, const rt_back_entry *e, size_t number, rt_str content, bool has_calls)
{
	rt_buf *out = open_record(c, "assistant"), *id = rt_scope_buf(&c->k.w.e);

	rt_buf_add_c(id, "msg_");
	rt_buf_add_str(id, rt_back_digits(&c->k, e, number, 24));
	rt_json_open(out, "message", '{');
	rt_json_put_str(out, "id", rt_scope_str(&c->k.w.e, id));
	rt_json_put_c(out, "type", "message");
	rt_json_put_c(out, "role", "assistant");
	rt_json_put_str(out, "model", c->model);
	rt_json_put_raw(out, "content", content);
	rt_json_put_c(out, "stop_reason", has_calls ? "tool_use" : "end_turn");
	rt_json_put_null(out, "stop_sequence");
	rt_json_put_raw(out, "usage", RT_STR("{\"input_tokens\":0,\"output_tokens\":0}"));
	rt_json_close(out, '}');
	close_record(c, e, number);
}

static void
put_prompt(writer *c, const rt_back_entry *e, size_t number, rt_str content)
{
	rt_buf *out = open_record(c, "user");

	if (rt_str_is(e->node->kind, "compaction"))
		rt_json_put_bool(out, "isCompactSummary", true);
	else if (e->speaker == RT_BACK_SYSTEM || rt_body_is_hidden(e->node->kind, e->body))
		rt_json_put_bool(out, "isMeta", true);
	rt_json_open(out, "message", '{');
	rt_json_put_c(out, "role", "user");
	rt_json_put_raw(out, "content", content);
	rt_json_close(out, '}');
	close_record(c, e, number);
}

/* ---- entries ---- */

/* Results for the calls of a reply that have none. */
static void
put_missing(writer *c, const rt_back_entry *e, size_t number)
{
	for (size_t i = 0; i < e->count && rt_back_has_more(&c->k); i++) {
		rt_buf *content = rt_scope_buf(&c->k.w.e);
		rt_part part = {.id = e->parts[i].id, .text = RT_STR(NO_RESULT), .has_failed = true};

		if (e->parts[i].kind != RT_PART_CALL || rt_back_is_answered(&c->k, part.id))
			continue;
		rt_json_open(content, NULL, '[');
		put_result(c, content, &part);
		rt_json_close(content, ']');
		put_prompt(c, e, number + i, rt_back_json_of(&c->k, content));
	}
}

/* Consecutive parts of one side: results are the user's. */
static size_t
put_side(writer *c, const rt_back_entry *e, size_t from)
{
	bool is_result = e->parts[from].kind == RT_PART_RESULT, has_calls = false, is_plain;
	rt_buf *out = rt_scope_buf(&c->k.w.e);
	rt_str content;
	size_t i, written = 0;

	rt_json_open(out, NULL, '[');
	for (i = from; i < e->count && (e->parts[i].kind == RT_PART_RESULT) == is_result; i++) {
		const rt_part *part = &e->parts[i];
		bool is_lost = is_result && !rt_back_is_known(&c->k, part->id);

		has_calls = has_calls || part->kind == RT_PART_CALL;
		if (!is_lost)
			written += put_part(c, out, part);
		else if (part->text.size > 0)
			written += put_part(c, out, &(rt_part){.text = part->text});
	}
	rt_json_close(out, ']');
	content = rt_back_json_of(&c->k, out);
	is_plain = written == 1 && i == from + 1 && e->parts[from].kind == RT_PART_TEXT;
	if (written > 0 && e->speaker == RT_BACK_MODEL && !is_result)
		put_reply(c, e, from, content, has_calls);
	else if (written > 0)
		put_prompt(c, e, from, is_plain ? quoted(c, e->parts[from].text) : content);
	return i;
}

static void
put_new(writer *c, const rt_back_entry *e)
{
	yyjson_val *model = rt_body_field(e->body, "model");

	if (e->speaker == RT_BACK_MODEL && yyjson_is_str(model))
		c->model = rt_scope_copy(&c->k.w.d, rt_json_str(model));
	for (size_t i = 0; i < e->count;)
		i = put_side(c, e, i);
}

static void
put_old_reply(writer *c, const rt_back_entry *e)
{
	bool is_list = yyjson_is_arr(e->raw);
	yyjson_val *counts = rt_body_field(e->body, "claude-code.blocks");
	size_t blocks = e->body->content_json != NULL ? yyjson_arr_size(e->body->content_json)
						      : e->body->content.size > 0;
	rt_json_iter count = rt_json_items(counts);
	uint64_t sum = 0, each;
	size_t from = 0, number = 0;

	while (rt_json_next(&count))
		sum += rt_json_u64(count.value, &each) ? each : 0;
	count = rt_json_items(counts);
	for (rt_json_iter m = rt_json_items(e->raw);
	     is_list ? rt_json_next(&m) : number == 0; number++) {
		yyjson_val *raw = is_list ? m.value : e->raw;
		yyjson_val *content = rt_json_get(rt_json_get(raw, "message"), "content");
		bool is_counted = is_list && sum == blocks && rt_json_next(&count) &&
				  rt_json_u64(count.value, &each);
		size_t end = is_counted ? from + (size_t)each : blocks;

		if (number > 0 && is_list && !is_counted)
			break;
		put_record(c, e, raw, number,
			   message_of(c, raw, content_of(c, e->body, from, end, content, true)),
			   false);
		rt_str model = rt_json_text(rt_json_get(raw, "message"), "model");

		if (model.size > 0)
			c->model = rt_scope_copy(&c->k.w.d, model);
		from = end;
	}
}

/* A result whose block is in the record. */
static void
put_old_result(writer *c, rt_buf *out, const rt_back_entry *e, yyjson_val *source)
{
	yyjson_val *content = rt_json_get(source, "content");
	bool is_empty = e->body->content.size == 0 && e->body->content_json == NULL;
	rt_back_member member = {"content", content_of(c, e->body, 0, SIZE_MAX, content, false), true};

	if (is_empty && !yyjson_is_str(content) && !yyjson_is_arr(content))
		rt_json_put_value(out, NULL, source);
	else
		rt_back_object(out, source, &member, 1);
}

/* A result of which the entry has everything. */
static void
put_same_result(writer *c, rt_buf *out, const rt_back_entry *e)
{
	yyjson_val *has_failed = rt_body_field(e->body, "is_error");

	rt_json_open(out, NULL, '{');
	rt_json_put_str(out, "tool_use_id", e->parts[0].id);
	rt_json_put_c(out, "type", "tool_result");
	rt_json_put_raw(out, "content",
			e->body->content_json == NULL
				? quoted(c, e->body->content)
				: content_of(c, e->body, 0, SIZE_MAX, NULL, false));
	if (yyjson_is_bool(has_failed))
		rt_json_put_value(out, "is_error", has_failed);
	rt_json_close(out, '}');
}

/* A record of the user. */
static void
put_old_prompt(writer *c, const rt_back_entry *e)
{
	yyjson_val *content = rt_json_get(rt_json_get(e->raw, "message"), "content");
	yyjson_val *source = yyjson_is_arr(content) ? yyjson_arr_get_first(content) : NULL;
	rt_buf *out = rt_scope_buf(&c->k.w.e);
	rt_str id;

	if (e->count != 1 || e->parts[0].kind != RT_PART_RESULT) {
		put_record(c, e, e->raw, 0,
			   message_of(c, e->raw, content_of(c, e->body, 0, SIZE_MAX, content, false)), false);
		return;
	}
	id = e->parts[0].id;
	if (!rt_back_is_known(&c->k, id)) {
		put_record(c, e, e->raw, 0, message_of(c, e->raw, quoted(c, e->parts[0].text)), true);
		return;
	}
	rt_json_open(out, NULL, '[');
	if (is_type(source, "tool_result"))
		put_old_result(c, out, e, source);
	else
		put_same_result(c, out, e);
	rt_json_close(out, ']');
	put_record(c, e, e->raw, 0, message_of(c, e->raw, rt_back_json_of(&c->k, out)), false);
}

static void
put_entry(writer *c, const rt_back_entry *e)
{
	yyjson_val *raw = yyjson_is_arr(e->raw) ? yyjson_arr_get_first(e->raw) : e->raw;
	bool is_reply = is_type(raw, "assistant"), is_prompt = is_type(raw, "user");

	if (yyjson_is_obj(raw) && !is_reply && !is_prompt && e->node->role.size == 0)
		put_record(c, e, raw, 0, RT_STR(""), false);
	else if (is_reply && e->speaker == RT_BACK_MODEL && yyjson_is_obj(rt_json_get(raw, "message")))
		put_old_reply(c, e);
	else if (is_prompt && yyjson_is_obj(e->raw) && e->speaker == RT_BACK_USER)
		put_old_prompt(c, e);
	else
		put_new(c, e);
	put_missing(c, e, 500);
}

/* ---- the conversation ---- */

/* Records outside the conversation: titles, snapshots of files. Not those that repeat a message, nor the
 * last prompt if it has changed. Returns whether one names the session. */
static bool
put_aside(writer *c)
{
	bool has_session = false;
	rt_json_iter list = rt_json_items(rt_back_field(&c->k, "claude-code.records"));
	rt_back_member members[] = {
		{"sessionId", quoted(c, c->k.session), false},
		{"session_id", quoted(c, c->k.session), false},
	};

	while (rt_json_next(&list)) {
		if (!yyjson_is_obj(list.value) || rt_json_text(list.value, "type").size == 0 ||
		    rt_json_get(list.value, "uuid") != NULL ||
		    rt_json_get(list.value, RT_BUILD_RAW) != NULL ||
		    rt_is_word(rt_json_text(list.value, "type"), "user assistant"))
			continue;
		if (is_type(list.value, "last-prompt") &&
		    !rt_str_eq(rt_json_text(list.value, "leafUuid"), c->parent))
			continue;
		rt_back_object(c->k.out, list.value, members, 2);
		rt_buf_add_byte(c->k.out, '\n');
		has_session = has_session || rt_json_text(list.value, "sessionId").size > 0;
	}
	return has_session;
}

static void
put_title(writer *c)
{
	rt_json_open(c->k.out, NULL, '{');
	rt_json_put_c(c->k.out, "type", "custom-title");
	rt_json_put_str(c->k.out, "customTitle", c->k.w.outline->name);
	rt_json_put_str(c->k.out, "sessionId", c->k.session);
	rt_json_close(c->k.out, '}');
	rt_buf_add_byte(c->k.out, '\n');
}

static void
write_session(rt_back *k)
{
	writer *c = writer_of(k);
	size_t from = k->out->size;
	bool is_recognised; /* by this format's reader */
	rt_back_entry e;

	c->parent = RT_STR("");
	c->model = RT_STR("claude");
	c->cwd = k->w.options.directory.size > 0 ? quoted(c, k->w.options.directory)
						 : RT_STR("\"/\"");
	c->cwd = rt_scope_copy(&k->w.d, c->cwd);
	c->version = RT_STR("\"2.1.0\"");
	c->branch = RT_STR("\"\"");
	while (rt_back_entry_next(k, &e))
		put_entry(c, &e);
	is_recognised = k->out->size > from;
	is_recognised = put_aside(c) || is_recognised;
	if (!is_recognised || (rt_outline_source_id(&k->w.d, k->w.outline, k->format).size == 0 &&
				     k->w.outline->name.size > 0))
		put_title(c);
}

static bool
mutes(yyjson_val *raw)
{
	return yyjson_is_true(rt_json_get(yyjson_is_arr(raw) ? yyjson_arr_get_first(raw) : raw,
					  "isApiErrorMessage"));
}

rt_status
rt_claude_code_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		     rt_buf *out, rt_error *err)
{
	writer c = {.parent = RT_STR("")};

	rt_back_init(&c.k, alloc, "claude-code", in, options, out);
	c.k.mutes = mutes;
	while (rt_back_next(&c.k, write_session))
		;
	return rt_writer_end(&c.k.w, err);
}
