/* SPDX-License-Identifier: MIT
 *
 * Writing sessions of opencode as a file for `opencode import`: the active take, which
 * `opencode --session` continues.
 *
 * The program skips a message whose id it already has. So every message and part gets a new id: its
 * number in the file, by which they are sorted, and digits of the session id. Members that name
 * another message are changed with it. Members that the program requires are added where a record
 * of an older version has none. A call and its result are one part. */
#include "importers/back.h"
#include "importers/graph.h"
#include "importers/opencode_impl.h"

#include <stdio.h> /* snprintf only */

#define NO_RESULT "The result of this call is not part of the conversation."
#define UNKNOWN "\"unknown\""
#define NO_TOKENS "{\"input\":0,\"output\":0,\"reasoning\":0,\"cache\":{\"read\":0,\"write\":0}}"

enum { ID_ROOM = 40, MEMBERS_MAX = 16 };

typedef struct writer {
	rt_back k;
	rt_index ids;                            /* old id of a message: its number */
	size_t number;                           /* of the last id */
	size_t prompt;                           /* of the last message of the user; 0: none */
	int64_t ms;                              /* of the last entry with a time */
	rt_str provider, model, agent;           /* of the last message that names them, as JSON */
	char session[ID_ROOM], message[ID_ROOM]; /* current ids */
} writer;

static writer *
writer_of(rt_back *k)
{
	return (writer *)k;
}

static rt_str
json(writer *c, yyjson_val *value)
{
	return rt_back_json_value(&c->k, value);
}

static rt_str
quoted(writer *c, const char *text)
{
	return rt_back_json(&c->k, rt_str_of(text));
}

/* "msg_", a number of twelve digits, and fourteen digits of the session. */
static void
make_id(const writer *c, const char *kind, size_t number, char out[ID_ROOM])
{
	(void)snprintf(out, ID_ROOM, "%s_%012llx%.14s", kind, (unsigned long long)number,
		       c->session + 4);
}

/* "ses_" and the digits of the session id; an id of this form is used unchanged. */
static void
set_session(writer *c)
{
	rt_str id = c->k.session;
	size_t size = 4;

	memcpy(c->session, "ses_", 5);
	for (size_t i = rt_str_starts(id, RT_STR("ses_")) ? 4 : 0; i < id.size && size < 30; i++)
		if (id.ptr[i] != '-')
			c->session[size++] = id.ptr[i];
	while (size < 18)
		c->session[size++] = '0';
	c->session[size] = '\0';
}

static rt_str
time_json(writer *c, const char *first, const char *second, int64_t second_ms)
{
	rt_buf *out = rt_scope_buf(&c->k.w.e);

	rt_json_open(out, NULL, '{');
	rt_json_put_i64(out, first, c->ms);
	if (second != NULL)
		rt_json_put_i64(out, second, second_ms);
	rt_json_close(out, '}');
	return rt_back_json_of(&c->k, out);
}

/* Members for rt_back_object. */
typedef struct members {
	yyjson_val *object; /* whose members they replace; NULL: none */
	rt_back_member items[MEMBERS_MAX];
	size_t count;
} members;

static void
set(members *m, const char *name, rt_str value)
{
	m->items[m->count++] = (rt_back_member){name, value, true};
}

/* Only where the object has none of this type. */
static void
set_default(members *m, const char *name, bool (*is_type)(yyjson_val *value), rt_str value)
{
	if (!is_type(rt_json_get(m->object, name)))
		set(m, name, value);
}

static void
drop(members *m, const char *name)
{
	set(m, name, rt_str_at(NULL, 0));
}

static bool
is_text(yyjson_val *value)
{
	return yyjson_is_str(value);
}
static bool
is_object(yyjson_val *value)
{
	return yyjson_is_obj(value);
}
static bool
is_number(yyjson_val *value)
{
	return yyjson_is_num(value);
}

/* In a database the JSON is a column of the row. */
static yyjson_val *
data_of(yyjson_val *row)
{
	yyjson_val *data = rt_json_get(row, "data");

	return yyjson_is_obj(data) ? data : row;
}

/* ---- parts ---- */

/* The ids of the next part. */
static void
set_ids(writer *c, members *m)
{
	char id[ID_ROOM];

	make_id(c, "prt", ++c->number, id);
	set(m, "id", quoted(c, id));
	set(m, "sessionID", quoted(c, c->session));
	set(m, "messageID", quoted(c, c->message));
}

static void
put(rt_buf *out, const members *m)
{
	rt_back_object(out, m->object, m->items, m->count);
}

static rt_str
object_json(writer *c, const members *m)
{
	rt_buf *out = rt_scope_buf(&c->k.w.e);

	rt_back_object(out, m->object, m->items, m->count);
	return rt_back_json_of(&c->k, out);
}

/* The files of a result as parts. */
static rt_str
attachments_json(writer *c, yyjson_val *old, yyjson_val *blocks)
{
	rt_buf *out = rt_scope_buf(&c->k.w.e);
	rt_json_iter files = rt_json_items(blocks);
	rt_part file;

	rt_json_open(out, NULL, '[');
	for (rt_json_iter m = rt_json_items(old); rt_json_next(&m);) {
		members part = {.object = m.value};

		set_ids(c, &part);
		put(out, &part);
	}
	while (rt_back_result_file(&files, &file)) {
		members part = {0};

		set_ids(c, &part);
		set(&part, "type", RT_STR("\"file\""));
		set(&part, "mime", rt_back_json(&c->k, file.mime.size > 0 ? file.mime
									   : RT_STR("application/octet-stream")));
		if (file.name.size > 0)
			set(&part, "filename", rt_back_json(&c->k, file.name));
		set(&part, "url", rt_back_json(&c->k, rt_back_url(&c->k, &file)));
		put(out, &part);
	}
	rt_json_close(out, ']');
	return rt_back_json_of(&c->k, out);
}

/* The state of a tool; the result replaces that of the object, NULL: it has none. */
static rt_str
state_json(writer *c, yyjson_val *state, rt_str input, const rt_part *result)
{
	rt_str status = rt_json_text(state, "status");
	bool has_failed = result != NULL ? result->has_failed : rt_str_is(status, "error");
	bool is_open = result == NULL && rt_is_word(status, "pending running");
	const char *name = has_failed ? "error" : "output";
	yyjson_val *old = rt_json_get(state, "attachments");
	rt_json_iter files = rt_json_items(result != NULL ? result->value : NULL);
	members m = {.object = state};
	rt_part file;

	if (!is_open && !rt_str_is(status, has_failed ? "error" : "completed"))
		set(&m, "status", has_failed ? RT_STR("\"error\"") : RT_STR("\"completed\""));
	set(&m, "input", input);
	if (result != NULL && !rt_str_eq(rt_json_text(state, name), result->text)) {
		set(&m, name, rt_back_json(&c->k, result->text));
		set(&m, "metadata", RT_STR("{}")); /* repeats the output for the screen */
	} else if (!is_open) {
		set_default(&m, name, is_text, RT_STR("\"\""));
		if (!has_failed)
			set_default(&m, "metadata", is_object, RT_STR("{}"));
	}
	if (!is_open && !has_failed)
		set_default(&m, "title", is_text, RT_STR("\"\""));
	if (!is_open)
		set_default(&m, "time", is_object, time_json(c, "start", "end", c->ms));
	if (!has_failed && (yyjson_is_arr(old) || (state == NULL && rt_back_result_file(&files, &file))))
		set(&m, "attachments",
		    attachments_json(c, yyjson_is_arr(old) ? old : NULL,
				     state == NULL && result != NULL ? result->value : NULL));
	return object_json(c, &m);
}

/* A tool of a record, and the call and the result of the entry. */
static void
put_old_tool(writer *c, rt_buf *out, rt_back_walk *w, yyjson_val *part)
{
	yyjson_val *state = rt_json_get(part, "state"), *output = rt_json_get(state, "output");
	bool has_failed = rt_str_is(rt_json_text(state, "status"), "error");
	yyjson_val *call = rt_back_walk_block(w, "toolCall"), *block = NULL;
	members m = {.object = part};
	rt_part result;

	if (has_failed && rt_json_get(state, "error") != NULL)
		output = rt_json_get(state, "error");
	if (output != NULL && !yyjson_is_null(output))
		block = rt_back_walk_block(w, "tool_result");
	if (block != NULL && rt_back_part(&result, block)) {
		result.text = rt_back_result_text(&c->k, &result, true);
		result.has_failed = has_failed;
	}
	w->fits = w->fits && rt_str_eq(rt_json_text(call, "id"), rt_json_text(part, "callID")) &&
		  rt_str_eq(rt_json_text(call, "name"), rt_json_text(part, "tool"));
	set_ids(c, &m);
	set_default(&m, "callID", is_text, RT_STR("\"\""));
	set_default(&m, "tool", is_text, RT_STR("\"\""));
	set(&m, "state",
	    state_json(c, yyjson_is_obj(state) ? state : NULL,
		       json(c, rt_json_get(call, "arguments")), block != NULL ? &result : NULL));
	put(out, &m);
}

/* The new id of a message that has been written. */
static void
set_reference(writer *c, members *m, const char *name)
{
	int64_t number = rt_index_get(&c->ids, rt_json_text(m->object, name));
	char id[ID_ROOM];

	if (rt_json_get(m->object, name) == NULL)
		return;
	make_id(c, "msg", (size_t)number, id);
	set(m, name, number > 0 ? quoted(c, id) : rt_str_at(NULL, 0));
}

/* A part of a record, in the order in which the importer read them (opencode.c). */
static void
put_old_part(writer *c, rt_buf *out, rt_back_walk *w, yyjson_val *part)
{
	rt_str type = rt_json_text(part, "type"), old = rt_json_text(part, "text"), now = old;
	members m = {.object = part};

	if (rt_str_is(type, "tool")) {
		put_old_tool(c, out, w, part);
		return;
	}
	if (rt_str_is(type, "text"))
		now = rt_back_walk_text(w);
	else if (rt_str_is(type, "reasoning") && old.size > 0)
		now = rt_json_text(rt_back_walk_block(w, "thinking"), "thinking");
	else if (rt_str_is(type, "file"))
		(void)rt_back_walk_block(w, "file");
	set_ids(c, &m);
	if (rt_is_word(type, "text reasoning"))
		set(&m, "text", rt_back_json(&c->k, now));
	if (rt_str_is(type, "reasoning")) {
		set_default(&m, "time", is_object, time_json(c, "start", "end", c->ms));
		if (!rt_str_eq(old, now))
			drop(&m, "metadata"); /* it is signed */
	}
	set_reference(c, &m, "tail_start_id");
	put(out, &m);
}

static void
put_text(writer *c, rt_buf *out, const char *type, rt_str text)
{
	members m = {0};

	set_ids(c, &m);
	set(&m, "type", quoted(c, type));
	set(&m, "text", rt_back_json(&c->k, text));
	if (strcmp(type, "reasoning") == 0)
		set(&m, "time", time_json(c, "start", "end", c->ms));
	put(out, &m);
}

static void
put_call(writer *c, rt_buf *out, const rt_back_entry *e, const rt_part *part)
{
	static const rt_part none = {.text = RT_STR_INIT(NO_RESULT), .has_failed = true};
	const rt_part *result = rt_back_result(&c->k, part->id);
	members m = {0};

	set_ids(c, &m);
	set(&m, "type", RT_STR("\"tool\""));
	set(&m, "callID",
	    rt_back_json(&c->k, part->id.size > 0
					? part->id
					: rt_back_digits(&c->k, e, (size_t)(part - e->parts), 16)));
	set(&m, "tool", rt_back_json(&c->k, part->name));
	set(&m, "state",
	    state_json(c, NULL, yyjson_is_obj(part->value) ? json(c, part->value) : RT_STR("{}"),
		       result != NULL ? result : &none));
	put(out, &m);
}

static void
put_file(writer *c, rt_buf *out, const rt_part *part)
{
	rt_buf *text = rt_scope_buf(&c->k.w.e);
	members m = {0};

	if (part->data.size == 0 || part->mime.size == 0 ||
	    (part->kind == RT_PART_FILE && rt_str_starts(part->mime, RT_STR("text/")))) {
		rt_back_file_text(text, part);
		put_text(c, out, "text", rt_scope_str(&c->k.w.e, text));
		return;
	}
	rt_buf_add_f(text, "data:%.*s;base64,", RT_STR_ARG(part->mime));
	rt_buf_add_str(text, part->data);
	set_ids(c, &m);
	set(&m, "type", RT_STR("\"file\""));
	set(&m, "mime", rt_back_json(&c->k, part->mime));
	if (part->name.size > 0)
		set(&m, "filename", rt_back_json(&c->k, part->name));
	set(&m, "url", rt_back_json(&c->k, rt_scope_str(&c->k.w.e, text)));
	put(out, &m);
}

/* Parts from this one on that are one message; returns the next one. */
static size_t
put_parts(writer *c, rt_buf *out, const rt_back_entry *e, size_t from, bool of_user)
{
	size_t i;

	for (i = from; i < e->count; i++) {
		const rt_part *part = &e->parts[i];

		if (rt_back_is_left_out(&c->k, e, part))
			continue;
		if (rt_back_is_of_user(&c->k, e, part) != of_user)
			break;
		if (part->kind == RT_PART_CALL)
			put_call(c, out, e, part);
		else if (part->kind == RT_PART_IMAGE || part->kind == RT_PART_FILE)
			put_file(c, out, part);
		else if (part->kind == RT_PART_RESULT)
			put_text(c, out, "text", rt_back_result_text(&c->k, part, false));
		else
			put_text(c, out, part->kind == RT_PART_THINKING ? "reasoning" : "text",
				 part->text);
	}
	return i;
}

/* ---- messages ---- */

/* Remember the model and the agent that a message names. */
static void
note_model(writer *c, yyjson_val *info, yyjson_val *model)
{
	struct {
		rt_str *to, text;
	} names[] = {
		{&c->provider, rt_json_text(model, "providerID")},
		{&c->model, rt_json_text(model, "modelID")},
		{&c->agent, rt_json_text(info, "agent")},
	};

	for (size_t i = 0; i < 3; i++)
		if (names[i].text.size > 0)
			*names[i].to = rt_scope_copy(&c->k.w.d, rt_back_json(&c->k, names[i].text));
}

static void
set_user(writer *c, members *m)
{
	yyjson_val *summary = rt_json_get(m->object, "summary");
	rt_buf *model = rt_scope_buf(&c->k.w.e);

	rt_json_open(model, NULL, '{');
	rt_json_put_raw(model, "providerID", c->provider);
	rt_json_put_raw(model, "modelID", c->model);
	rt_json_close(model, '}');
	set_default(m, "agent", is_text, c->agent);
	set_default(m, "model", is_object, rt_back_json_of(&c->k, model));
	if (summary != NULL && !yyjson_is_arr(rt_json_get(summary, "diffs")))
		drop(m, "summary");
}

static void
set_assistant(writer *c, members *m)
{
	rt_buf *path = rt_scope_buf(&c->k.w.e);
	rt_str cwd = c->k.w.options.directory.size > 0 ? c->k.w.options.directory : RT_STR("/");
	yyjson_val *summary = rt_json_get(m->object, "summary");
	char id[ID_ROOM];

	rt_json_open(path, NULL, '{');
	rt_json_put_str(path, "cwd", cwd);
	rt_json_put_str(path, "root", cwd);
	rt_json_close(path, '}');
	make_id(c, "msg", c->prompt > 0 ? c->prompt : c->number, id);
	set(m, "parentID", quoted(c, id));
	set_default(m, "modelID", is_text, c->model);
	set_default(m, "providerID", is_text, c->provider);
	set_default(m, "mode", is_text, c->agent);
	set_default(m, "agent", is_text, c->agent);
	set_default(m, "path", is_object, rt_back_json_of(&c->k, path));
	set_default(m, "cost", is_number, RT_STR("0"));
	set_default(m, "tokens", is_object, RT_STR(NO_TOKENS));
	if (summary != NULL && !yyjson_is_bool(summary))
		drop(m, "summary");
}

/* A message with the parts in a buffer, which is closed here. Its id was made before theirs. */
static void
put_message(writer *c, yyjson_val *info, bool of_user, rt_buf *parts)
{
	members m = {.object = info};

	rt_json_close(parts, ']');
	set(&m, "id", quoted(c, c->message));
	set(&m, "sessionID", quoted(c, c->session));
	set(&m, "role", of_user ? RT_STR("\"user\"") : RT_STR("\"assistant\""));
	set_default(&m, "time", is_object, time_json(c, "created", of_user ? NULL : "completed", c->ms));
	if (of_user)
		set_user(c, &m);
	else
		set_assistant(c, &m);
	rt_json_open(c->k.out, NULL, '{');
	rt_json_add_key(c->k.out, "info");
	rt_back_object(c->k.out, m.object, m.items, m.count);
	rt_json_put_raw(c->k.out, "parts", rt_back_json_of(&c->k, parts));
	rt_json_close(c->k.out, '}');
}

/* The id of the next message, of a record with this one. */
static void
start_message(writer *c, rt_str old, bool of_user, rt_buf *parts)
{
	c->number++;
	if (of_user)
		c->prompt = c->number;
	if (old.size > 0)
		(void)rt_index_put(&c->k.w.s, &c->ids, rt_scope_copy(&c->k.w.d, old), c->number);
	make_id(c, "msg", c->number, c->message);
	rt_json_open(parts, NULL, '[');
}

/* false: the blocks of the entry do not fit its record. */
static bool
put_old(writer *c, const rt_back_entry *e, yyjson_val *info, bool of_user)
{
	rt_back_walk w = rt_back_walk_start(e);
	rt_buf *parts = rt_scope_buf(&c->k.w.e);
	size_t number = c->number, prompt = c->prompt;

	start_message(c, e->node->id, of_user, parts);
	for (rt_json_iter m = rt_json_items(rt_json_get(e->raw, "parts")); rt_json_next(&m);)
		if (yyjson_is_obj(m.value))
			put_old_part(c, parts, &w, data_of(m.value));
	if (!rt_back_walk_end(&w)) {
		c->number = number;
		c->prompt = prompt;
		return false;
	}
	put_message(c, info, of_user, parts);
	return true;
}

/* info: of its record, or NULL. */
static void
put_new(writer *c, const rt_back_entry *e, yyjson_val *info)
{
	for (size_t i = 0; i < e->count;) {
		rt_buf *parts = rt_scope_buf(&c->k.w.e);
		bool of_user = rt_back_is_of_user(&c->k, e, &e->parts[i]);

		if (rt_back_is_left_out(&c->k, e, &e->parts[i])) {
			i++;
			continue;
		}
		start_message(c, e->node->id, of_user, parts);
		i = put_parts(c, parts, e, i, of_user);
		put_message(c, info, of_user, parts);
		info = NULL;
	}
}

static void
put_entry(writer *c, const rt_back_entry *e)
{
	yyjson_val *info = data_of(rt_json_get(e->raw, "info"));
	rt_str role = rt_json_text(info, "role"), model = RT_STR("");
	bool of_user = e->speaker != RT_BACK_MODEL;
	bool is_same = rt_str_is(role, of_user ? "user" : "assistant");

	if (e->node->has_ts)
		c->ms = e->node->ts.us / 1000;
	if (e->body->format == RT_BODY_JSON)
		model = rt_json_str(rt_body_field(e->body, "model"));
	if (model.size > 0)
		c->model = rt_scope_copy(&c->k.w.d, rt_back_json(&c->k, model));
	note_model(c, info,
		   yyjson_is_obj(rt_json_get(info, "model")) ? rt_json_get(info, "model") : info);
	if (!is_same || !put_old(c, e, info, of_user))
		put_new(c, e, is_same ? info : NULL);
}

/* ---- the session ---- */

static rt_str
field(writer *c, const char *name, rt_str other)
{
	const rt_outline *o = c->k.w.outline;
	rt_buf *key = rt_scope_buf(&c->k.w.d);
	rt_str value;

	rt_buf_add_f(key, "opencode.%s", name);
	if (rt_scope_str(&c->k.w.d, key).size == 0)
		return other;
	value = rt_outline_field_of(o->fields, o->field_count, key->ptr);
	return value.size > 0 && value.ptr[0] == other.ptr[0] ? value : other;
}

/* Members of a session in an exported file. The columns of a database have other names. */
static void
put_further(writer *c)
{
	const rt_outline *o = c->k.w.outline;
	rt_str prefix = RT_STR("opencode.");

	if (rt_outline_field_of(o->fields, o->field_count, "opencode.time").size == 0)
		return;
	for (size_t i = 0; i < o->field_count; i++) {
		rt_str name = rt_str_starts(o->fields[i].name, prefix)
				      ? rt_str_skip(o->fields[i].name, prefix.size)
				      : RT_STR("id");

		if (rt_str_is(o->fields[i].json, "null") ||
		    rt_is_word(
			    name,
			    "id slug projectID workspaceID parentID directory title version time "
			    "share revert records"))
			continue;
		rt_json_add_key_str(c->k.out, name);
		rt_buf_add_str(c->k.out, o->fields[i].json);
	}
}

static void
put_info(writer *c)
{
	rt_buf *directory = rt_scope_buf(&c->k.w.d);
	rt_str here = c->k.w.options.directory, name = rt_back_title(&c->k);

	rt_json_add_string(directory, here.size > 0 ? here : RT_STR("/"));
	rt_json_open(c->k.out, "info", '{');
	rt_json_put_c(c->k.out, "id", c->session);
	rt_json_put_raw(c->k.out, "slug", field(c, "slug", RT_STR("\"retake\"")));
	rt_json_put_raw(c->k.out, "projectID", field(c, "projectID", RT_STR("\"global\"")));
	rt_json_put_raw(c->k.out, "directory",
			field(c, "directory", rt_scope_str(&c->k.w.d, directory)));
	rt_json_put_str(c->k.out, "title", name.size > 0 ? name : RT_STR("Retake"));
	rt_json_put_raw(c->k.out, "version", field(c, "version", RT_STR("\"1.2.0\"")));
	rt_json_put_raw(c->k.out, "time", field(c, "time", time_json(c, "created", "updated", c->k.last_us / 1000)));
	put_further(c);
	rt_json_close(c->k.out, '}');
}

static void
write_session(rt_back *k)
{
	writer *c = writer_of(k);
	rt_back_entry e;
	bool has_entry = rt_back_entry_next(k, &e); /* its time may be that of the session */

	c->number = c->prompt = 0;
	c->ms = has_entry && e.node->has_ts ? e.node->ts.us / 1000 : 0;
	c->provider = c->model = RT_STR(UNKNOWN);
	c->agent = RT_STR("\"build\"");
	rt_index_clear(&c->ids);
	set_session(c);
	rt_json_open(k->out, NULL, '{');
	put_info(c);
	rt_json_open(k->out, "messages", '[');
	for (; has_entry; has_entry = rt_back_entry_next(k, &e))
		put_entry(c, &e);
	rt_json_close(k->out, ']');
	rt_json_close(k->out, '}');
	rt_buf_add_byte(k->out, '\n');
}

rt_status
rt_opencode_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		  rt_buf *out, rt_error *err)
{
	writer c = {.number = 0};

	rt_back_init(&c.k, alloc, "opencode", in, options, out);
	c.k.joins_results = c.k.joins_files = true;
	while (rt_back_next(&c.k, write_session))
		;
	return rt_writer_end(&c.k.w, err);
}
