/* SPDX-License-Identifier: MIT
 *
 * The take is walked once for the calls and their results, and twice to be written: the hash of the
 * first time is the session id of the second. */
#include "importers/back.h"

#include "base/encode.h"
#include "base/sha256.h"
#include "codec/content.h"
#include "importers/graph.h"

#define NO_TIME "\"1970-01-01T00:00:00.000Z\""
/* A session id of the same length, for the hash. */
#define NO_SESSION "00000000-0000-4000-8000-000000000000"

void
rt_back_init(rt_back *k, const rt_alloc *alloc, const char *format, const rt_outlines *in,
	     const rt_export_options *options, rt_buf *out)
{
	*k = (rt_back){.format = format, .out = out};
	rt_writer_init(&k->w, alloc, in, options, out);
	k->time_text = rt_scope_buf(&k->w.s);
	k->text = rt_scope_buf(&k->w.s);
}

/* ---- ids ---- */

/* "8f14e45f-ceea-467f-9a75-…" of these bytes. */
static void
hash_id(rt_sha256 *sha, char out[RT_BACK_ID + 1])
{
	char hex[RT_SHA256_HEX_ROOM];
	size_t from = 0;

	rt_sha256_end_hex(sha, hex);
	hex[12] = '4';
	hex[16] = '8';
	for (size_t i = 0; i < RT_BACK_ID; i++)
		out[i] = i == 8 || i == 13 || i == 18 || i == 23 ? '-' : hex[from++];
	out[RT_BACK_ID] = '\0';
}

static bool
is_uuid(rt_str id)
{
	if (id.size != RT_BACK_ID)
		return false;
	for (size_t i = 0; i < id.size; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? id.ptr[i] != '-'
							      : rt_hex_digit(id.ptr[i]) < 0)
			return false;
	return true;
}

static void
hash_entry(const rt_back_entry *e, size_t number, rt_sha256 *sha)
{
	uint64_t numbers[] = {number, e->node->id.size > 0 ? 0 : e->number + 1};

	rt_sha256_init(sha);
	rt_sha256_add(sha, e->node->id.ptr, e->node->id.size);
	for (size_t i = 0; i < 2; i++)
		for (int shift = 0; shift < 64; shift += 8)
			rt_sha256_add(sha, &(uint8_t){(uint8_t)(numbers[i] >> shift)}, 1);
}

static bool
take_id(rt_back *k, rt_str id)
{
	rt_str copy;

	if (rt_index_get(&k->used, id) >= 0)
		return false;
	copy = rt_scope_copy(&k->w.d, id);
	if (rt_scope_note(&k->w.s, k->w.d.status) == RT_OK)
		(void)rt_index_put(&k->w.s, &k->used, copy, 0);
	return true;
}

rt_str
rt_back_own_id(rt_back *k, rt_str wanted, const rt_back_entry *e, size_t number)
{
	char id[RT_BACK_ID + 1];
	rt_sha256 sha;

	if (wanted.size > 0 && take_id(k, wanted))
		return wanted;
	do {
		hash_entry(e, number, &sha);
		hash_id(&sha, id);
		number += 1000;
	} while (rt_ok(&k->w.s) && !take_id(k, rt_str_at(id, RT_BACK_ID)));
	return rt_scope_copy(&k->w.d, rt_str_at(id, RT_BACK_ID));
}

rt_str
rt_back_id(rt_back *k, const rt_back_entry *e, size_t number)
{
	return rt_back_own_id(k, number == 0 && is_uuid(e->node->id) ? e->node->id : RT_STR(""), e,
			      number);
}

rt_str
rt_back_digits(rt_back *k, const rt_back_entry *e, size_t number, size_t count)
{
	char hex[RT_SHA256_HEX_ROOM];
	rt_sha256 sha;

	hash_entry(e, number, &sha);
	rt_sha256_end_hex(&sha, hex);
	return rt_scope_copy(&k->w.d, rt_str_at(hex, count));
}

/* ---- parts ---- */

static rt_back_speaker
speaker_of(const rt_node *node, rt_str *out_front)
{
	rt_str role = rt_graph_role(node->role);

	*out_front = RT_STR("");
	if (rt_str_is(role, "assistant") && node->kind.size == 0)
		return RT_BACK_MODEL;
	if (rt_str_eq_nocase(role, RT_STR("system")) || rt_str_eq_nocase(role, RT_STR("developer")))
		return RT_BACK_SYSTEM;
	if (node->kind.size == 0 && !rt_str_eq_nocase(role, RT_STR("user")) && role.size > 0 &&
	    !rt_is_word(role, "tool function toolResult"))
		*out_front = node->role;
	return RT_BACK_USER;
}

/* A data URL as type and base64; other addresses unchanged. */
static void
set_url(rt_part *part, rt_str url)
{
	size_t comma = rt_str_find(url, RT_STR(";base64,"), 0);

	if (!rt_str_starts(url, RT_STR("data:")) || comma == SIZE_MAX) {
		part->url = url;
		return;
	}
	part->mime = rt_str_at(url.ptr + 5, comma - 5);
	part->data = rt_str_skip(url, comma + 8);
}

static bool
read_file(rt_part *part, yyjson_val *block, bool is_image)
{
	yyjson_val *source = rt_json_get(block, "source"), *image = rt_json_get(block, "image_url");
	yyjson_val *from = yyjson_is_obj(source) ? source : block;
	rt_str url = rt_graph_text(from, "url");

	if (url.size == 0)
		url = rt_json_str(yyjson_is_obj(image) ? rt_json_get(image, "url") : image);
	part->kind = is_image ? RT_PART_IMAGE : RT_PART_FILE;
	part->name = rt_graph_text(block, "name filename title");
	part->mime = rt_graph_text(from, "mimeType media_type mime");
	part->data = rt_graph_text(from, "data");
	if (part->data.size == 0)
		set_url(part, url);
	return part->data.size > 0 || part->url.size > 0 || part->name.size > 0;
}

bool
rt_back_part(rt_part *part, yyjson_val *block)
{
	rt_str type = rt_json_text(block, "type");

	*part = (rt_part){.block = block};
	if (rt_content_is_text(block)) {
		part->text = rt_content_text_of(block);
		return true;
	}
	if (rt_is_word(type, "toolCall tool_use")) {
		part->kind = RT_PART_CALL;
		part->id = rt_json_text(block, "id");
		part->name = rt_json_text(block, "name");
		part->value = rt_json_get(block, "arguments");
		if (part->value == NULL)
			part->value = rt_json_get(block, "input");
		return true;
	}
	if (rt_is_word(type, "tool_result toolResult")) {
		part->kind = RT_PART_RESULT;
		part->id = rt_graph_text(block, "tool_use_id toolCallId");
		part->value = rt_json_get(block, "content");
		part->text = rt_json_str(part->value);
		part->has_failed = yyjson_is_true(rt_json_get(block, "is_error"));
		return true;
	}
	if (rt_str_is(type, "thinking")) {
		part->kind = RT_PART_THINKING;
		part->text = rt_json_text(block, "thinking");
		return part->text.size > 0;
	}
	if (rt_is_word(type, "image image_url input_image"))
		return read_file(part, block, true);
	if (rt_is_word(type, "file document"))
		return read_file(part, block, false);
	part->text = rt_json_text(block, "text");
	return part->text.size > 0;
}

static bool
is_file(const rt_part *part)
{
	return (part->kind == RT_PART_IMAGE || part->kind == RT_PART_FILE) &&
	       (part->data.size > 0 || part->url.size > 0);
}

bool
rt_back_result_file(rt_json_iter *blocks, rt_part *out)
{
	while (rt_json_next(blocks))
		if (rt_back_part(out, blocks->value) && is_file(out))
			return true;
	return false;
}

rt_str
rt_back_url(rt_back *k, const rt_part *part)
{
	rt_buf *url = rt_scope_buf(&k->w.e);

	if (part->data.size > 0)
		rt_buf_add_f(url, "data:%.*s;base64,", RT_STR_ARG(part->mime));
	rt_buf_add_str(url, part->data.size > 0 ? part->data : part->url);
	return rt_scope_str(&k->w.e, url);
}

/* "[image]": of a file that the format has no place for. */
static void
add_lost(rt_buf *out, const rt_part *part)
{
	rt_str name = part->name.size > 0 || part->data.size > 0 ? part->name : part->url;

	rt_buf_add_f(out, "[%s%s%.*s]", part->kind == RT_PART_IMAGE ? "image" : "file",
		     name.size > 0 ? " " : "", RT_STR_ARG(name));
}

rt_str
rt_back_result_text(rt_back *k, const rt_part *part, bool without_files)
{
	rt_buf *text = rt_scope_buf(&k->w.e);
	bool has_text = part->text.size > 0;
	rt_part block;

	rt_buf_add_str(text, part->text);
	for (rt_json_iter m = rt_json_items(part->value); rt_json_next(&m);) {
		bool is_lost = !without_files && rt_back_part(&block, m.value) && is_file(&block);

		if (has_text && !is_lost)
			continue;
		if (text->size > 0)
			rt_buf_add_byte(text, '\n');
		if (is_lost)
			add_lost(text, &block);
		else
			rt_buf_add_str(text, rt_content_text_of(m.value));
	}
	return rt_scope_str(&k->w.e, text);
}

void
rt_back_file_text(rt_buf *out, const rt_part *part)
{
	size_t from;

	rt_buf_add_f(out, "[file %.*s]", RT_STR_ARG(part->name.size > 0 ? part->name : part->url));
	from = out->size;
	rt_buf_add_byte(out, '\n');
	if (part->data.size > 0 && rt_buf_add_base64_decoded(out, part->data) &&
	    rt_utf8_valid_size(rt_str_skip(rt_buf_str(out), from)) == out->size - from &&
	    memchr(out->ptr + from, '\0', out->size - from) == NULL)
		return;
	if (out->status == RT_OK)
		out->size = from;
}

/* The id of the call whose result an entry is. */
static rt_str
call_of(const rt_back_entry *e)
{
	rt_str id = rt_json_text(e->body->format == RT_BODY_JSON ? e->body->fields : NULL,
				 "tool_call_id");

	return id.size > 0 ? id
			   : rt_json_text(rt_json_get(e->body->fields, "message"), "toolCallId");
}

static rt_str
with_front(rt_back *k, rt_str front, rt_str text)
{
	rt_buf *buf;

	if (front.size == 0 || text.size == 0)
		return text;
	buf = rt_scope_buf(&k->w.e);
	rt_buf_add_str(buf, front);
	rt_buf_add_c(buf, ": ");
	rt_buf_add_str(buf, text);
	return rt_scope_str(&k->w.e, buf);
}

/* The calls of a message of OpenAI, in its field tool_calls. */
static void
add_calls(rt_back *k, rt_back_entry *e, yyjson_val *calls)
{
	for (rt_json_iter m = rt_json_items(calls); rt_json_next(&m);) {
		yyjson_val *function = rt_json_get(m.value, "function");
		rt_part *part = &e->parts[e->count];

		if (!yyjson_is_obj(function))
			continue;
		*part = (rt_part){.kind = RT_PART_CALL,
				  .id = rt_json_text(m.value, "id"),
				  .name = rt_json_text(function, "name"),
				  .value = rt_json_get(function, "arguments"),
				  .block = m.value};
		if (yyjson_is_str(part->value))
			part->value = rt_writer_parse(&k->w, &k->w.e, rt_json_str(part->value));
		e->count++;
	}
}

static void
read_parts(rt_back *k, rt_back_entry *e)
{
	yyjson_val *blocks = e->body->content_json;
	yyjson_val *calls = rt_body_field(e->body, "tool_calls");
	rt_str front, result = call_of(e);

	e->speaker = speaker_of(e->node, &front);
	e->parts = rt_scope_array(&k->w.e, yyjson_arr_size(blocks) + yyjson_arr_size(calls) + 1,
				  sizeof(*e->parts));
	if (e->parts == NULL)
		return;
	if (result.size > 0 && rt_is_word(rt_graph_role(e->node->role), "tool toolResult")) {
		rt_buf *text = rt_scope_buf(&k->w.e);

		rt_body_add_text(text, e->body);
		*e->parts = (rt_part){.kind = RT_PART_RESULT,
				      .id = result,
				      .text = rt_scope_str(&k->w.e, text),
				      .value = blocks,
				      .has_failed = yyjson_is_true(rt_body_field(e->body, "is_error"))};
		e->count = 1;
		return;
	}
	if (blocks == NULL && (e->body->content.size > 0 || calls == NULL))
		e->parts[e->count++] = (rt_part){.text = with_front(k, front, e->body->content)};
	for (rt_json_iter m = rt_json_items(blocks); rt_json_next(&m);) {
		rt_part *part = &e->parts[e->count];

		if (!rt_back_part(part, m.value))
			continue;
		if (part->kind == RT_PART_TEXT) {
			part->text = with_front(k, front, part->text);
			front = RT_STR("");
		}
		e->count++;
	}
	add_calls(k, e, calls);
}

rt_str
rt_back_text(rt_back *k, const rt_back_entry *e, rt_part_kind kind)
{
	rt_buf *text = rt_scope_buf(&k->w.e);

	for (size_t i = 0; i < e->count; i++) {
		if (e->parts[i].kind != kind || e->parts[i].text.size == 0)
			continue;
		if (text->size > 0)
			rt_buf_add_byte(text, '\n');
		rt_buf_add_str(text, e->parts[i].text);
	}
	return rt_scope_str(&k->w.e, text);
}

/* ---- entries ---- */

static bool
is_written(const rt_back *k, const rt_node *node, yyjson_val *raw)
{
	if (rt_node_is_purged(node))
		return false;
	if (node->muted && (raw == NULL || k->mutes == NULL || !k->mutes(raw)))
		return false;
	return raw != NULL ||
	       !rt_is_word(node->kind, "custom label session session_info model_change "
				       "thinking_level_change usage context_edit");
}

bool
rt_back_entry_next(rt_back *k, rt_back_entry *out)
{
	while (k->take != NULL && k->at < k->take->node_count && rt_ok(&k->w.s)) {
		const rt_node *node = &k->w.outline->nodes[k->take->nodes[k->at++]];
		const rt_body *body = rt_writer_body(&k->w, node);

		if (body == NULL)
			return false;
		*out = (rt_back_entry){.node = node, .body = body, .number = k->at};
		if (body->format == RT_BODY_JSON)
			out->raw = rt_body_field(body, k->format);
		if (!yyjson_is_ctn(out->raw))
			out->raw = NULL;
		if (!is_written(k, node, out->raw))
			continue;
		read_parts(k, out);
		if (node->has_ts) {
			rt_buf_clear(k->time_text);
			rt_buf_add_byte(k->time_text, '"');
			rt_moment_format_ms(k->time_text, node->ts);
			rt_buf_add_byte(k->time_text, '"');
			k->time = rt_scope_str(&k->w.s, k->time_text);
			k->time_us = node->ts.us;
		}
		(void)rt_scope_note(&k->w.s, k->w.e.status);
		return rt_ok(&k->w.s);
	}
	return false;
}

bool
rt_back_has_more(const rt_back *k)
{
	return k->take != NULL && k->at < k->take->node_count;
}

static void
rewind_take(rt_back *k)
{
	k->at = 0;
	k->time = RT_STR(NO_TIME);
	k->time_us = 0;
	rt_index_clear(&k->used);
}

/* Links a call or a result with the earlier ones of its id: programs may use an id again. */
static void
note_item(rt_back *k, const rt_part *part, int64_t first)
{
	rt_back_item *to = rt_items_push(&k->w.s, &k->items, sizeof(*to)), *items = k->items.items;

	if (to == NULL)
		return;
	*to = (rt_back_item){.kind = part->kind, .at = k->at, .next = -1};
	if (part->kind == RT_PART_RESULT) {
		rt_json_iter blocks = rt_json_items(part->value);
		rt_str text = rt_back_result_text(k, part, k->joins_files);
		rt_part file;

		to->result = (rt_part){.kind = RT_PART_RESULT,
				       .text = rt_scope_copy(&k->w.d, text),
				       .has_failed = part->has_failed};
		if (k->joins_files && rt_back_result_file(&blocks, &file))
			to->result.data = rt_scope_copy(&k->w.d, rt_back_json_value(k, part->value));
	}
	while (first >= 0 && items[first].next >= 0)
		first = items[first].next;
	if (first >= 0)
		items[first].next = (int64_t)k->items.count - 1;
}

static void
note_calls(rt_back *k)
{
	rt_back_entry e;

	rt_index_clear(&k->calls);
	rt_index_clear(&k->answers);
	k->items.count = 0;
	rewind_take(k);
	while (rt_back_entry_next(k, &e))
		for (size_t i = 0; i < e.count; i++) {
			rt_part_kind kind = e.parts[i].kind;
			rt_index *index = kind == RT_PART_CALL ? &k->calls : &k->answers;
			rt_str id = e.parts[i].id;
			int64_t first;

			if (id.size == 0 || (kind != RT_PART_CALL && kind != RT_PART_RESULT) ||
			    (kind == RT_PART_RESULT && rt_index_get(&k->calls, id) < 0))
				continue;
			first = rt_index_get(&k->calls, id);
			if (k->joins_results)
				note_item(k, &e.parts[i], first);
			if (first < 0 || index == &k->answers)
				(void)rt_index_put(&k->w.s, index, rt_scope_copy(&k->w.d, id),
						   k->joins_results ? k->items.count - 1 : 0);
		}
	k->last_time = rt_scope_copy(&k->w.d, k->time);
	k->last_us = k->time_us;
	(void)rt_scope_note(&k->w.s, k->w.d.status);
}

bool
rt_back_is_answered(const rt_back *k, rt_str call)
{
	return call.size == 0 || rt_index_get(&k->answers, call) >= 0;
}

bool
rt_back_is_known(const rt_back *k, rt_str call)
{
	return call.size > 0 && rt_index_get(&k->calls, call) >= 0;
}

const rt_part *
rt_back_result(rt_back *k, rt_str call)
{
	int64_t at = call.size > 0 && k->joins_results ? rt_index_get(&k->calls, call) : -1;
	rt_back_item *items = k->items.items;

	while (at >= 0 && (items[at].kind != RT_PART_CALL || items[at].at != k->at))
		at = items[at].next;
	at = at >= 0 ? items[at].next : -1;
	if (at < 0 || items[at].kind != RT_PART_RESULT)
		return NULL;
	if (items[at].result.data.size > 0) /* as long as the entry */
		items[at].result.value = rt_writer_parse(&k->w, &k->w.e, items[at].result.data);
	return &items[at].result;
}

yyjson_val *
rt_back_field(rt_back *k, const char *name)
{
	const rt_outline *o = k->w.outline;

	return rt_writer_parse(&k->w, &k->w.d, rt_outline_field_of(o->fields, o->field_count, name));
}

rt_str
rt_back_title(rt_back *k)
{
	rt_str name = k->w.outline->name, title;
	rt_buf *key = rt_scope_buf(&k->w.d);

	rt_buf_add_f(key, "%s.title", k->format);
	title = rt_scope_str(&k->w.d, key).size > 0 ? rt_json_str(rt_back_field(k, key->ptr)) : name;
	return title.size > name.size && rt_str_eq(rt_graph_title(title), name) ? title : name;
}

bool
rt_back_next(rt_back *k, void (*write)(rt_back *k))
{
	size_t from = k->out->size;
	rt_sha256 sha;

	if (k->w.in->count > 1 && !k->holds_several)
		rt_scope_fail(&k->w.s, RT_USAGE, "a file of %s can contain only one conversation, not %zu",
			      k->format, k->w.in->count);
	if (!rt_writer_next(&k->w))
		return false;
	k->take = rt_writer_take(&k->w);
	note_calls(k);
	k->session = k->w.options.session;
	if (k->session.size == 0) {
		k->session = RT_STR(NO_SESSION);
		rewind_take(k);
		write(k);
		if (!rt_ok(&k->w.s) || k->out->status != RT_OK)
			return false;
		rt_sha256_init(&sha);
		rt_sha256_add(&sha, k->out->ptr + from, k->out->size - from);
		hash_id(&sha, k->hash);
		k->session = rt_str_at(k->hash, RT_BACK_ID);
		k->out->size = from;
	}
	rewind_take(k);
	write(k);
	(void)rt_scope_note(&k->w.s, k->w.e.status); /* of what follows the last entry */
	(void)rt_scope_note(&k->w.s, k->w.d.status);
	return rt_ok(&k->w.s);
}

bool
rt_back_is_left_out(const rt_back *k, const rt_back_entry *e, const rt_part *part)
{
	return (part->kind == RT_PART_RESULT && rt_back_is_known(k, part->id)) ||
	       (part->kind == RT_PART_TEXT && part->text.size == 0) ||
	       (part->kind == RT_PART_THINKING && (e->raw == NULL || e->speaker != RT_BACK_MODEL));
}

bool
rt_back_is_of_user(const rt_back *k, const rt_back_entry *e, const rt_part *part)
{
	return part->kind != RT_PART_CALL &&
	       (e->speaker != RT_BACK_MODEL ||
		(part->kind == RT_PART_RESULT && !rt_back_is_known(k, part->id)));
}

/* ---- walks ---- */

rt_back_walk
rt_back_walk_start(const rt_back_entry *e)
{
	rt_back_walk w = {.blocks = rt_json_items(e->body->content_json), .fits = true};

	if (e->body->content_json == NULL)
		w.text = e->body->content.ptr == NULL ? RT_STR("") : e->body->content;
	return w;
}

yyjson_val *
rt_back_walk_block(rt_back_walk *w, const char *type)
{
	w->fits = w->fits && w->text.ptr == NULL && rt_json_next(&w->blocks) &&
		  rt_str_is(rt_json_text(w->blocks.value, "type"), type);
	return w->fits ? w->blocks.value : NULL;
}

rt_str
rt_back_walk_text(rt_back_walk *w)
{
	rt_str text = w->text;

	w->text = rt_str_at(NULL, 0);
	return text.ptr != NULL ? text : rt_content_text_of(rt_back_walk_block(w, "text"));
}

bool
rt_back_walk_end(rt_back_walk *w)
{
	return w->fits && w->text.size == 0 && !rt_json_next(&w->blocks);
}

/* ---- JSON ---- */

void
rt_back_object(rt_buf *out, yyjson_val *object, const rt_back_member *members, size_t count)
{
	rt_json_open(out, NULL, '{');
	for (rt_json_iter m = rt_json_members(object); rt_json_next(&m);) {
		size_t i = 0;

		while (i < count && !rt_str_is(m.key, members[i].name))
			i++;
		if (i == count)
			rt_json_put_member(out, m.key, m.value);
		else if (members[i].json.ptr != NULL)
			rt_json_put_raw(out, members[i].name, members[i].json);
	}
	for (size_t i = 0; i < count; i++)
		if (members[i].always && members[i].json.ptr != NULL &&
		    rt_json_get(object, members[i].name) == NULL)
			rt_json_put_raw(out, members[i].name, members[i].json);
	rt_json_close(out, '}');
}

rt_str
rt_back_json(rt_back *k, rt_str text)
{
	rt_buf *buf = rt_scope_buf(&k->w.e);

	rt_json_add_string(buf, text);
	return rt_scope_str(&k->w.e, buf);
}

rt_str
rt_back_json_value(rt_back *k, yyjson_val *value)
{
	rt_buf *buf = rt_scope_buf(&k->w.e);

	if (value != NULL)
		rt_json_add_value(buf, value);
	return rt_scope_str(&k->w.e, buf);
}

rt_str
rt_back_json_of(rt_back *k, const rt_buf *buf)
{
	return rt_scope_str(&k->w.e, buf);
}
