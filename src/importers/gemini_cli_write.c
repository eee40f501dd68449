/* SPDX-License-Identifier: MIT
 *
 * Writing sessions of Gemini CLI as JSON Lines, which `gemini --resume` continues: a line with the ids
 * of the session and of its project, then the messages of the active take.
 *
 * A message with a record is walked in the order in which the importer read it (gemini_cli.c): each
 * text, call or result of the record belongs to the next block of the entry, and is replaced if they
 * differ. If the blocks do not fit the record, its content is made again from the parts. A call and its
 * result are one item of a message. */
#include "base/sha256.h"
#include "codec/content.h"
#include "importers/back.h"
#include "importers/gemini_cli.h"
#include "importers/graph.h"

#define NO_RESULT "The result of this call is not part of the conversation."

typedef struct walk {
	rt_back *k;
	rt_back_walk at;
} walk;

static rt_str
quoted(rt_back *k, rt_str text)
{
	return rt_back_json(k, text);
}

/* ---- messages with a record ---- */

static yyjson_val *
next_block(walk *w, const char *type)
{
	return rt_back_walk_block(&w->at, type);
}

static rt_str
next_text(walk *w)
{
	return rt_back_walk_text(&w->at);
}

/* A member whose text is to be `now`; unchanged if it is already. */
static rt_str
text_member(walk *w, yyjson_val *object, const char *name, rt_str now)
{
	rt_back_member member = {name, quoted(w->k, now), true};
	rt_buf *out;

	if (rt_str_eq(rt_json_text(object, name), now))
		return rt_back_json_value(w->k, object);
	out = rt_scope_buf(&w->k->w.e);
	rt_back_object(out, object, &member, 1);
	return rt_back_json_of(w->k, out);
}

/* A result, or the response with it: `old` unless the block has another one. */
static rt_str
result_json(walk *w, yyjson_val *old, bool is_response)
{
	yyjson_val *now = rt_json_get(next_block(w, "tool_result"), "content");
	rt_str output = is_response ? rt_json_text(old, "output") : rt_str_at(NULL, 0);
	rt_str before = output.ptr != NULL   ? output
			: yyjson_is_str(old) ? rt_json_str(old)
					     : rt_back_json_value(w->k, old);
	rt_str text = yyjson_is_str(now) ? rt_json_str(now) : rt_back_json_value(w->k, now);
	rt_buf *out = rt_scope_buf(&w->k->w.e);

	if (now == NULL || rt_str_eq(before, text))
		return rt_back_json_value(w->k, old);
	if (output.ptr != NULL && yyjson_is_str(now))
		return text_member(w, old, "output", text);
	if (!is_response)
		return rt_back_json_value(w->k, now);
	rt_json_open(out, NULL, '{');
	rt_json_put_value(out, "output", now);
	rt_json_close(out, '}');
	return rt_back_json_of(w->k, out);
}

/* The arguments of the next call. */
static rt_str
arguments_json(walk *w, yyjson_val *call, yyjson_val *old)
{
	yyjson_val *block = next_block(w, "toolCall");
	rt_str id = rt_json_text(call, "id"), name = rt_json_text(call, "name");

	w->at.fits = w->at.fits && (id.size == 0 || rt_str_eq(rt_json_text(block, "id"), id)) &&
		     (name.size == 0 || rt_str_eq(rt_json_text(block, "name"), name));
	return rt_back_json_value(w->k, yyjson_is_obj(old) ? rt_json_get(block, "arguments") : old);
}

/* An object with one member replaced. */
static rt_str
with_member(walk *w, yyjson_val *object, const char *name, rt_str json)
{
	rt_back_member member = {name, json, false};
	rt_buf *out = rt_scope_buf(&w->k->w.e);

	rt_back_object(out, object, &member, 1);
	return rt_back_json_of(w->k, out);
}

/* A part of the API (gemini.h). */
static rt_str
part_json(walk *w, yyjson_val *part)
{
	static const char *const files[] = {"inlineData", "inlineImage", "inlineFile",
					    "fileData",   "driveImage",  "driveDocument",
					    "driveVideo", "driveAudio"};
	rt_back_member m[5];
	size_t count = 0;
	bool is_known = false;
	yyjson_val *text = rt_json_get(part, "text"), *member, *block;

	if (yyjson_is_str(part))
		return quoted(w->k, next_text(w));
	if (!yyjson_is_obj(part))
		return rt_back_json_value(w->k, part);
	if (yyjson_is_str(text)) {
		bool is_thought = yyjson_is_true(rt_json_get(part, "thought")) ||
				  yyjson_is_true(rt_json_get(part, "isThought"));
		rt_str now = !is_thought ? next_text(w)
			     : rt_json_str(text).size == 0
				     ? RT_STR("")
				     : rt_json_text(next_block(w, "thinking"), "thinking");

		m[count++] = (rt_back_member){"text", quoted(w->k, now), false};
		is_known = !is_thought || rt_json_str(text).size > 0;
	}
	if (yyjson_is_obj(member = rt_json_get(part, "functionCall")))
		m[count++] = (rt_back_member){
			"functionCall",
			with_member(w, member, "args",
				    arguments_json(w, member, rt_json_get(member, "args"))),
			false};
	if (yyjson_is_obj(member = rt_json_get(part, "functionResponse")))
		m[count++] = (rt_back_member){
			"functionResponse",
			with_member(w, member, "response",
				    result_json(w, rt_json_get(member, "response"), true)),
			false};
	if (yyjson_is_obj(member = rt_json_get(part, "executableCode"))) {
		block = next_block(w, "toolCall");
		m[count++] = (rt_back_member){
			"executableCode", rt_back_json_value(w->k, rt_json_get(block, "arguments")),
			false};
	}
	if (yyjson_is_obj(member = rt_json_get(part, "codeExecutionResult")))
		m[count++] = (rt_back_member){
			"codeExecutionResult",
			with_member(w, member, "output",
				    result_json(w, rt_json_get(member, "output"), false)),
			false};
	is_known = is_known || count > (size_t)yyjson_is_str(text);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (yyjson_is_obj(member = rt_json_get(part, files[i]))) {
			bool is_image = i < 3 && rt_str_starts(rt_json_text(member, "mimeType"),
							       RT_STR("image/"));

			(void)next_block(w, is_image ? "image" : "file");
			is_known = true;
		}
	if (!is_known)
		(void)next_block(w, "part");

	rt_buf *out = rt_scope_buf(&w->k->w.e);

	rt_back_object(out, part, m, count);
	return rt_back_json_of(w->k, out);
}

/* A text, a part, or an array of them. */
static rt_str
content_json(walk *w, yyjson_val *content)
{
	rt_buf *out = rt_scope_buf(&w->k->w.e);

	if (!yyjson_is_arr(content))
		return part_json(w, content);
	rt_json_open(out, NULL, '[');
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);)
		rt_json_put_raw(out, NULL, part_json(w, m.value));
	rt_json_close(out, ']');
	return rt_back_json_of(w->k, out);
}

static rt_str
thoughts_json(walk *w, yyjson_val *thoughts)
{
	rt_buf *out = rt_scope_buf(&w->k->w.e);

	if (!yyjson_is_arr(thoughts))
		return rt_back_json_value(w->k, thoughts);
	rt_json_open(out, NULL, '[');
	for (rt_json_iter m = rt_json_items(thoughts); rt_json_next(&m);) {
		const char *name = rt_graph_text(m.value, "description").size > 0 ? "description"
										  : "subject";
		rt_str json = rt_back_json_value(w->k, m.value);

		if (rt_graph_text(m.value, name).size > 0)
			json = text_member(w, m.value, name,
					   rt_json_text(next_block(w, "thinking"), "thinking"));
		rt_json_put_raw(out, NULL, json);
	}
	rt_json_close(out, ']');
	return rt_back_json_of(w->k, out);
}

static rt_str
tool_json(walk *w, yyjson_val *tool)
{
	yyjson_val *result = rt_json_get(tool, "result");
	rt_back_member m[3] = {{"args", RT_STR(""), false}, {"result", RT_STR(""), false}};
	size_t count = 2;
	rt_buf *out = rt_scope_buf(&w->k->w.e);

	m[0].json = arguments_json(w, tool, rt_json_get(tool, "args"));
	m[1].json = yyjson_is_arr(result)                      ? content_json(w, result)
		    : result == NULL || yyjson_is_null(result) ? rt_back_json_value(w->k, result)
							       : result_json(w, result, false);
	if (!rt_str_eq(m[1].json,
		       rt_back_json_value(w->k, result))) /* shown instead of the result */
		m[count++] = (rt_back_member){"resultDisplay", rt_str_at(NULL, 0), false};
	rt_back_object(out, tool, m, count);
	return rt_back_json_of(w->k, out);
}

static rt_str
tools_json(walk *w, yyjson_val *tools)
{
	rt_buf *out = rt_scope_buf(&w->k->w.e);

	if (!yyjson_is_arr(tools))
		return rt_back_json_value(w->k, tools);
	rt_json_open(out, NULL, '[');
	for (rt_json_iter m = rt_json_items(tools); rt_json_next(&m);)
		rt_json_put_raw(out, NULL,
				yyjson_is_obj(m.value) ? tool_json(w, m.value)
						       : rt_back_json_value(w->k, m.value));
	rt_json_close(out, ']');
	return rt_back_json_of(w->k, out);
}

/* The text of a record that has its content in the entry only. */
static rt_str
text_json(walk *w)
{
	rt_json_iter next = w->at.blocks;

	if (w->at.text.ptr != NULL ||
	    (rt_json_next(&next) && rt_str_is(rt_json_text(next.value, "type"), "text")))
		return quoted(w->k, next_text(w));
	return rt_str_at(NULL, 0);
}

/* false: the blocks of the entry do not fit its record. */
static bool
put_old(rt_back *k, const rt_back_entry *e)
{
	yyjson_val *content = rt_json_get(e->raw, "content");
	walk w = {.k = k, .at = rt_back_walk_start(e)};
	rt_back_member m[5] = {{"id", RT_STR(""), true}};
	size_t count = 1;

	m[count++] = (rt_back_member){"thoughts",
				      thoughts_json(&w, rt_json_get(e->raw, "thoughts")), false};
	m[count++] = (rt_back_member){
		"content", content == NULL ? text_json(&w) : content_json(&w, content), true};
	m[count++] = (rt_back_member){"toolCalls", tools_json(&w, rt_json_get(e->raw, "toolCalls")),
				      false};
	if (!rt_back_walk_end(&w.at))
		return false;
	if (!rt_str_eq(m[2].json,
		       content != NULL
			       ? rt_back_json_value(k, content)
			       : rt_back_json_value(k, rt_json_get(e->raw, "displayContent"))))
		m[count++] = (rt_back_member){"displayContent", rt_str_at(NULL, 0), false};
	m[0].json = quoted(k, rt_back_own_id(k, rt_json_text(e->raw, "id"), e, 0));
	rt_back_object(k->out, e->raw, m, count);
	rt_buf_add_byte(k->out, '\n');
	return true;
}

/* ---- messages without one ---- */

static void
put_data(rt_buf *out, const rt_part *part)
{
	rt_json_open(out, NULL, '{');
	rt_json_open(out, "inlineData", '{');
	rt_json_put_str(out, "mimeType", part->mime);
	rt_json_put_str(out, "data", part->data);
	rt_json_close(out, '}');
	rt_json_close(out, '}');
}

static void
put_result(rt_buf *out, rt_str id, rt_str name, rt_str text, yyjson_val *blocks)
{
	rt_json_iter files = rt_json_items(blocks);
	rt_part file;

	rt_json_open(out, "result", '[');
	rt_json_open(out, NULL, '{');
	rt_json_open(out, "functionResponse", '{');
	rt_json_put_str(out, "id", id);
	rt_json_put_str(out, "name", name);
	rt_json_open(out, "response", '{');
	rt_json_put_str(out, "output", text);
	rt_json_close(out, '}');
	rt_json_close(out, '}');
	rt_json_close(out, '}');
	while (rt_back_result_file(&files, &file))
		if (file.data.size > 0 && file.mime.size > 0)
			put_data(out, &file);
	rt_json_close(out, ']');
}

static void
put_call(rt_back *k, rt_buf *out, const rt_back_entry *e, const rt_part *part)
{
	const rt_part *result = rt_back_result(k, part->id);
	rt_str id = part->id.size > 0 ? part->id
				      : rt_back_digits(k, e, (size_t)(part - e->parts), 16);
	bool has_failed = result == NULL || result->has_failed;

	rt_json_open(out, NULL, '{');
	rt_json_put_str(out, "id", id);
	rt_json_put_str(out, "name", part->name);
	if (yyjson_is_obj(part->value))
		rt_json_put_value(out, "args", part->value);
	else
		rt_json_put_raw(out, "args", RT_STR("{}"));
	if (result != NULL || rt_back_has_more(k))
		put_result(out, id, part->name, result != NULL ? result->text : RT_STR(NO_RESULT),
			   result != NULL ? result->value : NULL);
	rt_json_put_c(out, "status", has_failed ? "error" : "success");
	rt_json_put_raw(out, "timestamp", k->time);
	rt_json_close(out, '}');
}

/* A part in a message of the user. */
static void
put_part(rt_back *k, rt_buf *out, const rt_part *part)
{
	rt_buf *text = rt_scope_buf(&k->w.e);
	bool is_data = part->data.size > 0 && part->mime.size > 0 &&
		       (part->kind == RT_PART_IMAGE || part->kind == RT_PART_FILE) &&
		       !rt_str_starts(part->mime, RT_STR("text/"));

	if (part->kind == RT_PART_IMAGE || part->kind == RT_PART_FILE)
		rt_back_file_text(text, part);
	else
		rt_buf_add_str(text, part->kind == RT_PART_RESULT ? rt_back_result_text(k, part, false)
								  : part->text);
	if (is_data) {
		put_data(out, part);
		return;
	}
	rt_json_open(out, NULL, '{');
	rt_json_put_str(out, "text", rt_scope_str(&k->w.e, text));
	rt_json_close(out, '}');
}

/* The content of a message, once it is known; raw is its record, or NULL. */
static void
put_message(rt_back *k, const rt_back_entry *e, size_t number, yyjson_val *raw, const char *type,
	    const rt_back_member *content, size_t count)
{
	rt_back_member m[8] = {
		{"id", RT_STR(""), true},
		{"timestamp", k->time, raw == NULL},
		{"type", quoted(k, rt_str_of(type)), true},
		{"displayContent", rt_str_at(NULL, 0), false},
	};

	m[0].json = quoted(k, raw != NULL ? rt_back_own_id(k, rt_json_text(raw, "id"), e, 0)
					  : rt_back_id(k, e, number));
	if (raw != NULL)
		m[1].name = "";
	for (size_t i = 0; i < count; i++)
		m[4 + i] = content[i];
	rt_back_object(k->out, raw, m, 4 + count);
	rt_buf_add_byte(k->out, '\n');
}

/* Parts of a message of the user from this one on; returns the next one. */
static size_t
put_prompt(rt_back *k, const rt_back_entry *e, size_t from, yyjson_val *raw)
{
	rt_buf *out = rt_scope_buf(&k->w.e);
	rt_back_member content = {"content", RT_STR(""), true};
	size_t i;

	rt_json_open(out, NULL, '[');
	for (i = from; i < e->count && rt_back_is_of_user(k, e, &e->parts[i]); i++)
		if (!rt_back_is_left_out(k, e, &e->parts[i]))
			put_part(k, out, &e->parts[i]);
	rt_json_close(out, ']');
	content.json = rt_back_json_of(k, out);
	put_message(k, e, from, raw, "user", &content, 1);
	return i;
}

/* The same of a reply: thinking, then texts, then calls. */
static size_t
put_reply(rt_back *k, const rt_back_entry *e, size_t from, yyjson_val *raw)
{
	rt_buf *text = rt_scope_buf(&k->w.e), *calls = rt_scope_buf(&k->w.e);
	rt_buf *thoughts = rt_scope_buf(&k->w.e);
	rt_back_member content[] = {{"thoughts", rt_str_at(NULL, 0), true},
				    {"toolCalls", rt_str_at(NULL, 0), true},
				    {"content", RT_STR(""), true}};
	size_t i, call_count = 0, thought_count = 0;

	rt_json_open(calls, NULL, '[');
	rt_json_open(thoughts, NULL, '[');
	for (i = from; i < e->count; i++) {
		const rt_part *part = &e->parts[i];

		if (rt_back_is_left_out(k, e, part))
			continue;
		if (part->kind == RT_PART_CALL) {
			put_call(k, calls, e, part);
			call_count++;
			continue;
		}
		if (call_count > 0 || rt_back_is_of_user(k, e, part))
			break;
		if (part->kind == RT_PART_THINKING) {
			rt_json_open(thoughts, NULL, '{');
			rt_json_put_str(thoughts, "description", part->text);
			rt_json_close(thoughts, '}');
			thought_count++;
			continue;
		}
		if (text->size > 0)
			rt_buf_add_byte(text, '\n');
		if (part->kind == RT_PART_TEXT)
			rt_buf_add_str(text, part->text);
		else
			rt_back_file_text(text, part);
	}
	rt_json_close(calls, ']');
	rt_json_close(thoughts, ']');
	if (thought_count > 0)
		content[0].json = rt_back_json_of(k, thoughts);
	if (call_count > 0)
		content[1].json = rt_back_json_of(k, calls);
	content[2].json = quoted(k, rt_scope_str(&k->w.e, text));
	put_message(k, e, from, raw, "gemini", content, 3);
	return i;
}

static void
put_new(rt_back *k, const rt_back_entry *e, yyjson_val *raw)
{
	for (size_t i = 0; i < e->count;)
		if (rt_back_is_left_out(k, e, &e->parts[i])) {
			i++;
		} else {
			i = rt_back_is_of_user(k, e, &e->parts[i]) ? put_prompt(k, e, i, raw)
								   : put_reply(k, e, i, raw);
			raw = NULL;
		}
}

/* ---- the session ---- */

static bool
mutes(yyjson_val *raw)
{
	return rt_is_word(rt_json_text(raw, "type"), "info error warning");
}

/* Is the entry still what its record says: of the user, the model, or neither? */
static bool
is_same_speaker(const rt_back_entry *e)
{
	rt_str type = rt_json_text(e->raw, "type");

	if (rt_is_word(type, "user gemini"))
		return rt_str_is(type, "gemini") == (e->speaker == RT_BACK_MODEL);
	return type.size > 0 && rt_str_eq(e->node->role, type);
}

static void
put_entry(rt_back *k, const rt_back_entry *e)
{
	bool is_same = e->raw != NULL && is_same_speaker(e);

	if (!is_same || !put_old(k, e))
		put_new(k, e, is_same && !mutes(e->raw) ? e->raw : NULL);
}

/* The program knows a project by the hash of its path. */
static rt_str
project_hash(rt_back *k)
{
	rt_str path = k->w.options.directory.size > 0 ? k->w.options.directory : RT_STR("/");
	char hex[RT_SHA256_HEX_ROOM];
	rt_sha256 sha;

	rt_sha256_init(&sha);
	rt_sha256_add(&sha, path.ptr, path.size);
	rt_sha256_end_hex(&sha, hex);
	return quoted(k, rt_str_at(hex, RT_SHA256_HEX_ROOM - 1));
}

static void
put_head(rt_back *k)
{
	static const char *const names[] = {"projectHash", "startTime", "lastUpdated", "kind"};
	const rt_outline *o = k->w.outline;
	rt_str prefix = RT_STR("gemini-cli."),
	       values[] = {project_hash(k), k->time, k->last_time, RT_STR("\"main\"")};

	rt_json_open(k->out, NULL, '{');
	rt_json_put_str(k->out, "sessionId", k->session);
	for (size_t i = 0; i < 4; i++) {
		rt_buf *name = rt_scope_buf(&k->w.e);
		rt_str json;

		rt_buf_add_f(name, "gemini-cli.%s", names[i]);
		if (rt_scope_str(&k->w.e, name).size == 0)
			return;
		json = rt_outline_field_of(o->fields, o->field_count, name->ptr);
		rt_json_put_raw(k->out, names[i],
				json.size > 0 && json.ptr[0] == '"' ? json : values[i]);
	}
	if (o->name.size > 0)
		rt_json_put_str(k->out, "summary", rt_back_title(k));
	for (size_t i = 0; i < o->field_count; i++) {
		rt_str name = rt_str_starts(o->fields[i].name, prefix)
				      ? rt_str_skip(o->fields[i].name, prefix.size)
				      : RT_STR("records");

		if (rt_is_word(name, "records history messages sessionId projectHash startTime "
				     "lastUpdated kind summary title"))
			continue;
		rt_json_add_key_str(k->out, name);
		rt_buf_add_str(k->out, o->fields[i].json);
	}
	rt_json_close(k->out, '}');
	rt_buf_add_byte(k->out, '\n');
}

static void
write_session(rt_back *k)
{
	rt_back_entry e;
	bool has_entry = rt_back_entry_next(k, &e); /* its time may be that of the head */

	put_head(k);
	for (; has_entry; has_entry = rt_back_entry_next(k, &e))
		put_entry(k, &e);
}

rt_status
rt_gemini_cli_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		    rt_buf *out, rt_error *err)
{
	rt_back k;

	rt_back_init(&k, alloc, "gemini-cli", in, options, out);
	k.mutes = mutes;
	k.joins_results = k.joins_files = true;
	while (rt_back_next(&k, write_session))
		;
	return rt_writer_end(&k.w, err);
}
