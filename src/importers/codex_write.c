/* SPDX-License-Identifier: MIT
 *
 * Writing rollout files of Codex CLI: its head, the last context of a turn, and the items of the active
 * take, which `codex resume` continues. Items of the older generation are written in the form of
 * the newer one.
 *
 * Events repeat the messages for the screen and are made again from them; other events are left
 * out. Edited reasoning is left out as well, since its encrypted form still has the old text. */
#include "codec/content.h"
#include "importers/back.h"
#include "importers/codex.h"
#include "importers/graph.h"

#define NO_RESULT "The result of this call is not part of the conversation."

typedef rt_back writer;

static rt_str
quoted(writer *k, rt_str text)
{
	return rt_back_json(k, text);
}

static void
open_line(writer *k, const char *type)
{
	rt_json_open(k->out, NULL, '{');
	rt_json_put_raw(k->out, "timestamp", k->time);
	rt_json_put_c(k->out, "type", type);
	rt_json_open(k->out, "payload", '{');
}

static void
close_line(writer *k)
{
	rt_json_close(k->out, '}');
	rt_json_close(k->out, '}');
	rt_buf_add_byte(k->out, '\n');
}

/* ---- the head ---- */

static void
put_head(writer *k, yyjson_val *records)
{
	yyjson_val *head = NULL, *context = NULL, *meta;
	rt_str id = quoted(k, k->session);

	for (rt_json_iter m = rt_json_items(records); rt_json_next(&m);) {
		rt_str type = rt_json_text(m.value, "type");

		if (head == NULL && (rt_str_is(type, "session_meta") ||
				     rt_json_get(m.value, "instructions") != NULL))
			head = m.value;
		if (rt_str_is(type, "turn_context"))
			context = m.value;
	}
	meta = rt_json_get(head, "payload");
	meta = yyjson_is_obj(meta) ? meta : head;

	rt_str time = rt_back_json_value(k, rt_json_get(head, "timestamp"));
	rt_back_member members[] = {
		{"id", id, true},
		{"session_id", id, false},
		{"timestamp", time.size > 0 ? time : k->time, true},
		{"cwd", quoted(k, k->w.options.directory.size > 0 ? k->w.options.directory : RT_STR("/")),
		 true},
		{"originator", RT_STR("\"codex_cli_rs\""), true},
		{"cli_version", RT_STR("\"0.100.0\""), true},
		{"source", RT_STR("\"cli\""), true},
	};

	size_t count = 2;

	for (size_t i = 2; i < 7; i++) /* a member that the head has stays as it is */
		if (rt_json_get(meta, members[i].name) == NULL)
			members[count++] = members[i];
	rt_json_open(k->out, NULL, '{');
	rt_json_put_raw(k->out, "timestamp", time.size > 0 ? time : k->time);
	rt_json_put_c(k->out, "type", "session_meta");
	rt_json_add_key(k->out, "payload");
	rt_back_object(k->out, meta, members, count);
	rt_json_close(k->out, '}');
	rt_buf_add_byte(k->out, '\n');
	if (context == NULL)
		return;
	rt_json_add_value(k->out, context);
	rt_buf_add_byte(k->out, '\n');
}

/* ---- items ---- */

/* A record with this item. */
static void
put_item(writer *k, yyjson_val *record, rt_str item)
{
	rt_back_member payload = {"payload", item, true};

	if (yyjson_is_obj(rt_json_get(record, "payload"))) {
		rt_back_object(k->out, record, &payload, 1);
	} else {
		rt_json_open(k->out, NULL, '{');
		rt_json_put_raw(k->out, "timestamp", k->time);
		rt_json_put_c(k->out, "type", "response_item");
		rt_json_put_raw(k->out, "payload", item);
		rt_json_close(k->out, '}');
	}
	rt_buf_add_byte(k->out, '\n');
}

/* The screen of the program shows events. */
static void
put_event(writer *k, rt_back_speaker speaker, rt_str text)
{
	if (text.size == 0 || speaker == RT_BACK_SYSTEM || rt_codex_is_context(text))
		return;
	open_line(k, "event_msg");
	rt_json_put_c(k->out, "type", speaker == RT_BACK_USER ? "user_message" : "agent_message");
	rt_json_put_str(k->out, "message", text);
	if (speaker == RT_BACK_USER)
		rt_json_put_raw(k->out, "images", RT_STR("[]"));
	close_line(k);
}

static void
put_text(rt_buf *out, rt_back_speaker speaker, rt_str text)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", speaker == RT_BACK_MODEL ? "output_text" : "input_text");
	rt_json_put_str(out, "text", text);
	rt_json_close(out, '}');
}

static void
put_image(writer *k, rt_buf *out, const rt_part *part)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "input_image");
	rt_json_put_str(out, "image_url", rt_back_url(k, part));
	rt_json_close(out, '}');
}

/* A part of a message, whose text is added to k->text; false: it is a separate item, or none. */
static bool
put_part(writer *k, rt_buf *out, rt_back_speaker speaker, const rt_part *part)
{
	rt_buf *text = rt_scope_buf(&k->w.e);

	if (part->kind == RT_PART_TEXT)
		rt_buf_add_str(text, part->text);
	else if (part->kind == RT_PART_FILE || (part->kind == RT_PART_IMAGE && speaker == RT_BACK_MODEL))
		rt_back_file_text(text, part);
	else if (part->kind == RT_PART_IMAGE)
		put_image(k, out, part);
	rt_str added = rt_scope_str(&k->w.e, text);
	(void)rt_scope_note(&k->w.s, k->w.e.status);
	if (added.size > 0) {
		put_text(out, speaker, added);
		if (k->text->size > 0)
			rt_buf_add_byte(k->text, '\n');
		rt_buf_add_str(k->text, added);
	}
	return added.size > 0 || (part->kind == RT_PART_IMAGE && speaker != RT_BACK_MODEL);
}

/* A text, or a list of texts and images. */
static void
put_result(writer *k, const rt_part *part)
{
	rt_json_iter blocks = rt_json_items(part->value);
	rt_part block;
	bool has_image = false;

	while (!has_image && rt_back_result_file(&blocks, &block))
		has_image = block.kind == RT_PART_IMAGE;
	open_line(k, "response_item");
	rt_json_put_c(k->out, "type", "function_call_output");
	rt_json_put_str(k->out, "call_id", part->id);
	if (has_image) {
		rt_json_open(k->out, "output", '[');
		for (blocks = rt_json_items(part->value); rt_json_next(&blocks);)
			if (rt_back_part(&block, blocks.value))
				(void)put_part(k, k->out, RT_BACK_USER, &block);
		rt_json_close(k->out, ']');
	} else {
		rt_json_put_str(k->out, "output", rt_back_result_text(k, part, false));
	}
	close_line(k);
}

/* Results for the calls of an entry that have none. */
static void
put_missing(writer *k, const rt_back_entry *e)
{
	for (size_t i = 0; i < e->count && rt_back_has_more(k); i++)
		if (e->parts[i].kind == RT_PART_CALL && !rt_back_is_answered(k, e->parts[i].id))
			put_result(k, &(rt_part){.id = e->parts[i].id, .text = RT_STR(NO_RESULT)});
}

static void
put_call(writer *k, const rt_part *part)
{
	open_line(k, "response_item");
	rt_json_put_c(k->out, "type", "function_call");
	rt_json_put_str(k->out, "name", part->name);
	rt_json_put_str(k->out, "arguments",
			yyjson_is_obj(part->value) ? rt_back_json_value(k, part->value) : RT_STR("{}"));
	rt_json_put_str(k->out, "call_id", part->id);
	close_line(k);
}

/* Parts from this one on that are one message; returns the next one. */
static size_t
put_message(writer *k, const rt_back_entry *e, size_t from)
{
	static const char *const roles[] = {"user", "assistant", "developer"};
	rt_back_speaker speaker =
		rt_body_is_hidden(e->node->kind, e->body) ? RT_BACK_SYSTEM : e->speaker;
	rt_buf *out = rt_scope_buf(&k->w.e);
	bool is_any = false;
	size_t i;

	rt_buf_clear(k->text);
	rt_json_open(out, NULL, '[');
	for (i = from; i < e->count; i++) {
		const rt_part *part = &e->parts[i];
		bool is_lost = part->kind == RT_PART_RESULT && !rt_back_is_known(k, part->id);
		rt_part text = {.text = rt_back_result_text(k, part, false)};

		if (part->kind == RT_PART_CALL || (part->kind == RT_PART_RESULT && !is_lost))
			break;
		is_any |= put_part(k, out, speaker, is_lost ? &text : part);
	}
	rt_json_close(out, ']');
	if (!is_any)
		return i;
	open_line(k, "response_item");
	rt_json_put_c(k->out, "type", "message");
	rt_json_put_c(k->out, "role", roles[speaker]);
	rt_json_put_raw(k->out, "content", rt_back_json_of(k, out));
	close_line(k);
	put_event(k, speaker, rt_scope_str(&k->w.s, k->text));
	return i;
}

static void
put_new(writer *k, const rt_back_entry *e)
{
	for (size_t i = 0; i < e->count;) {
		const rt_part *part = &e->parts[i];

		if (part->kind == RT_PART_CALL) {
			put_call(k, part);
			i++;
		} else if (part->kind == RT_PART_RESULT && rt_back_is_known(k, part->id)) {
			put_result(k, part);
			i++;
		} else {
			i = put_message(k, e, i);
		}
	}
}

/* ---- items with a record ---- */

static rt_str
content_of(writer *k, const rt_back_entry *e)
{
	rt_buf *out = rt_scope_buf(&k->w.e);
	rt_part part;

	rt_json_open(out, NULL, '[');
	if (e->body->content_json == NULL && e->body->content.size > 0)
		put_text(out, e->speaker, e->body->content);
	for (rt_json_iter m = rt_json_items(e->body->content_json); rt_json_next(&m);)
		if (rt_is_word(rt_json_text(m.value, "type"), "text image file") &&
		    rt_back_part(&part, m.value))
			(void)put_part(k, out, e->speaker, &part);
		else
			rt_json_put_value(out, NULL, m.value);
	rt_json_close(out, ']');
	return rt_back_json_of(k, out);
}

static void
put_old_message(writer *k, const rt_back_entry *e, yyjson_val *item)
{
	bool is_known = rt_json_get(item, "content") == NULL ||
			yyjson_is_str(rt_json_get(item, "content")) ||
			yyjson_is_arr(rt_json_get(item, "content"));
	rt_buf *out = rt_scope_buf(&k->w.e);
	rt_back_member members[] = {
		{"content", content_of(k, e), true},
		{"message", rt_str_at(NULL, 0), false},
		{"type", RT_STR("\"message\""), true},
	};

	if (is_known || e->body->content.size > 0 || e->body->content_json != NULL)
		rt_back_object(out, item, members, 3);
	else
		rt_json_add_value(out, item);
	put_item(k, e->raw, rt_back_json_of(k, out));
	put_event(k, e->speaker, rt_back_text(k, e, RT_PART_TEXT));
}

/* Does the entry have the texts of the item's reasoning? */
static bool
is_same_reasoning(const rt_back_entry *e, yyjson_val *item)
{
	static const char *const lists[] = {"summary", "content"};
	rt_json_iter blocks = rt_json_items(e->body->content_json);

	for (size_t i = 0; i < 2; i++)
		for (rt_json_iter m = rt_json_items(rt_json_get(item, lists[i])); rt_json_next(&m);) {
			rt_str text = rt_graph_text(m.value, "text");

			if (text.size > 0 &&
			    (!rt_json_next(&blocks) ||
			     !rt_str_eq(rt_json_text(blocks.value, "thinking"), text)))
				return false;
		}
	return !rt_json_next(&blocks) && e->body->content.size == 0;
}

static void
put_old_call(writer *k, const rt_back_entry *e, yyjson_val *item)
{
	static const char *const names[] = {"arguments", "input", "action"};
	rt_str now = rt_back_json_value(k, e->parts[0].value), old;
	rt_buf *out = rt_scope_buf(&k->w.e);
	rt_back_member member = {NULL, rt_str_at(NULL, 0), false};
	yyjson_val *value = NULL;

	for (size_t i = 0; i < 3 && value == NULL; i++) {
		member.name = names[i];
		value = rt_json_get(item, names[i]);
	}
	old = yyjson_is_str(value) ? rt_back_json_value(k, rt_writer_parse(&k->w, &k->w.e, rt_json_str(value)))
				   : rt_back_json_value(k, value);
	if (!yyjson_is_obj(value) && (old.size == 0 || old.ptr[0] != '{')) {
		/* the importer put it into an object */
		old = now;
		if (value != NULL && !yyjson_is_null(value)) {
			yyjson_val *input = rt_json_get(e->parts[0].value, "input");

			old = rt_back_json_value(k, value);
			now = rt_back_json_value(k, input);
		}
	}
	member.json = yyjson_is_str(value) && old.ptr != NULL && now.size > 0 && now.ptr[0] == '{'
			      ? quoted(k, now)
			      : now;
	if (rt_str_eq(old, now) || member.json.size == 0)
		rt_json_add_value(out, item);
	else
		rt_back_object(out, item, &member, 1);
	put_item(k, e->raw, rt_back_json_of(k, out));
}

static void
put_old_result(writer *k, const rt_back_entry *e, yyjson_val *item)
{
	const char *name = rt_json_get(item, "output") != NULL ? "output" : "result";
	yyjson_val *value = rt_json_get(item, name), *inner = rt_json_get(value, "content");
	rt_str now = e->body->content_json != NULL ? rt_back_json_value(k, e->body->content_json)
						    : e->body->content;
	rt_str old = yyjson_is_str(inner) ? rt_json_str(inner)
		     : yyjson_is_str(value) ? rt_json_str(value)
					    : rt_back_json_value(k, value);
	rt_back_member member = {name,
				 e->body->content_json != NULL ? now : quoted(k, now), true};
	rt_buf *out = rt_scope_buf(&k->w.e);

	if (rt_str_eq(old, now) || (now.size == 0 && !yyjson_is_str(value) && !yyjson_is_obj(value)))
		rt_json_add_value(out, item);
	else
		rt_back_object(out, item, &member, 1);
	put_item(k, e->raw, rt_back_json_of(k, out));
}

static void
put_entry(writer *k, const rt_back_entry *e)
{
	yyjson_val *payload = rt_json_get(e->raw, "payload");
	yyjson_val *item = yyjson_is_obj(payload) ? payload : e->raw;
	rt_str type = rt_json_text(item, "type");
	rt_part_kind kind = e->count == 1 ? e->parts[0].kind : RT_PART_TEXT;
	bool is_message = rt_json_text(item, "role").size > 0 &&
			  (type.size == 0 || rt_str_is(type, "message"));
	bool is_model = rt_str_is(rt_graph_role(rt_json_text(item, "role")), "assistant");

	if (is_message && is_model == (e->speaker == RT_BACK_MODEL)) {
		put_old_message(k, e, item);
	} else if (rt_str_is(type, "reasoning") && e->speaker == RT_BACK_MODEL) {
		rt_buf *out = rt_scope_buf(&k->w.e);

		rt_json_add_value(out, item);
		if (is_same_reasoning(e, item))
			put_item(k, e->raw, rt_back_json_of(k, out));
		else
			put_new(k, e);
	} else if (kind == RT_PART_CALL && !is_message && yyjson_is_obj(item)) {
		put_old_call(k, e, item);
	} else if (!is_message && yyjson_is_obj(item) &&
		   rt_is_word(type, "function_call_output custom_tool_call_output tool_result "
				    "function_result tool_search_output") &&
		   (kind != RT_PART_RESULT || rt_back_is_known(k, e->parts[0].id))) {
		put_old_result(k, e, item);
	} else {
		put_new(k, e);
	}
	put_missing(k, e);
}

static void
write_rollout(rt_back *k)
{
	rt_back_entry e;
	yyjson_val *records = rt_back_field(k, "codex.records");
	bool has_entry = rt_back_entry_next(k, &e); /* its time may be that of the head */

	put_head(k, records);
	for (; has_entry; has_entry = rt_back_entry_next(k, &e))
		put_entry(k, &e);
}

rt_status
rt_codex_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
	       rt_buf *out, rt_error *err)
{
	rt_back k;

	rt_back_init(&k, alloc, "codex", in, options, out);
	while (rt_back_next(&k, write_rollout))
		;
	return rt_writer_end(&k.w, err);
}
