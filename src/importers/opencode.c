/* SPDX-License-Identifier: MIT
 *
 * opencode: `opencode export ID`, one session; its database, opencode.db; and its older storage folder
 * (opencode_storage.c).
 *
 *   {"info":{"id","title","time":{"created","updated"},"revert":{"messageID"}},
 *    "messages":[{"info":{"id","role","time","modelID","providerID","tokens"},"parts":[PART…]}]}
 *   PART: {"type":"text" | "reasoning","text"}  {"type":"file","mime","filename","url"}
 *         {"type":"tool","callID","tool","state":{"status","input","output","error"}} …
 *
 * Messages follow each other in the order of the file. After a revert the conversation continues
 * before the reverted message; the messages from there on stay as another branch. */
#include "formats/formats.h"
#include "importers/opencode_impl.h"

static void
read_tool(rt_graph *g, yyjson_val *part)
{
	yyjson_val *state = rt_json_get(part, "state"), *output = rt_json_get(state, "output");
	bool has_failed = rt_str_is(rt_json_text(state, "status"), "error");
	rt_str id = rt_json_text(part, "callID");

	if (has_failed && rt_json_get(state, "error") != NULL)
		output = rt_json_get(state, "error");
	rt_parts_call(&g->parts, id, rt_json_text(part, "tool"), rt_json_get(state, "input"));
	if (output != NULL && !yyjson_is_null(output))
		rt_parts_result(&g->parts, id, output, has_failed);
}

/* A text that opencode added to a message of the user. */
static bool
is_added(yyjson_val *part)
{
	return yyjson_is_true(rt_json_get(part, "synthetic"));
}

/* In a database the JSON of a message or a part is a column of its row. */
static yyjson_val *
data_of(yyjson_val *row)
{
	yyjson_val *data = rt_json_get(row, "data");

	return yyjson_is_obj(data) ? data : row;
}

/* Parts of other types are in the record of the message only. */
static bool
read_parts(rt_graph *g, yyjson_val *parts)
{
	bool is_shown = false;

	for (rt_json_iter m = rt_json_items(parts); rt_json_next(&m);) {
		yyjson_val *part = data_of(m.value);
		rt_str type = rt_json_text(part, "type");

		if (rt_str_is(type, "text"))
			rt_parts_text(&g->parts, rt_json_text(part, "text"));
		else if (rt_str_is(type, "reasoning"))
			rt_parts_thinking(&g->parts, rt_json_text(part, "text"));
		else if (rt_str_is(type, "tool"))
			read_tool(g, part);
		else if (rt_str_is(type, "file"))
			rt_parts_object(&g->parts, "file", part);
		else
			continue;
		is_shown = is_shown || !is_added(part);
	}
	return is_shown || yyjson_arr_size(parts) == 0;
}

int64_t
rt_opencode_message(rt_graph *g, yyjson_val *message, int64_t tip)
{
	yyjson_val *row = rt_json_get(message, "info"), *info = data_of(row);
	rt_node n = {.id = rt_json_text(row, "id"), .parent = tip, .role = rt_json_text(info, "role")};
	yyjson_val *model = rt_json_get(info, "modelID");
	bool is_shown;
	int64_t at;

	rt_parts_begin(&g->parts);
	is_shown = read_parts(g, rt_json_get(message, "parts"));
	rt_parts_end(&g->parts);
	if (!is_shown)
		rt_graph_hide(g, &n);
	n.has_ts = rt_build_moment(rt_json_get(rt_json_get(info, "time"), "created"), &n.ts);
	rt_graph_keep(g, "model", model != NULL ? model
						: rt_json_get(rt_json_get(info, "model"), "modelID"));
	rt_graph_keep(g, "usage", rt_json_get(info, "tokens"));
	rt_graph_raw(g, message, "");
	at = rt_graph_add(g, &n, RT_STR(""));
	return at >= 0 ? at : tip;
}

void
rt_opencode_begin(rt_graph *g, yyjson_val *info, yyjson_val *updated)
{
	rt_graph_begin(g, rt_json_text(info, "title"), rt_json_text(info, "id"));
	rt_graph_fields(g, info, "title");
	rt_graph_open_newest(g, updated);
}

void
rt_opencode_end(rt_graph *g, rt_str reverted, int64_t tip)
{
	int64_t at = rt_graph_find(g, reverted);

	if (at >= 0)
		at = rt_graph_parent(g, at);
	/* Files name the head by its id. */
	rt_graph_end(g, at >= 0 && rt_build_nodes(g->b)[at].id.size > 0 ? at : tip);
}

static void
read_session(rt_graph *g, yyjson_val *record)
{
	yyjson_val *info = rt_json_get(record, "info"), *messages = rt_json_get(record, "messages");
	rt_json_iter list = rt_json_items(messages);
	int64_t tip = -1;

	if (!yyjson_is_obj(info) || !yyjson_is_arr(messages)) {
		rt_graph_skip(g, "messages", rt_json_text(info, "title"));
		return;
	}
	rt_opencode_begin(g, info, rt_json_get(rt_json_get(info, "time"), "updated"));
	for (yyjson_val *message; (message = rt_graph_message(g, &list)) != NULL;)
		tip = rt_opencode_message(g, message, tip);
	rt_opencode_end(g, rt_json_text(rt_json_get(info, "revert"), "messageID"), tip);
}

/* opencode.db: the same objects as rows. */
static void
read_database(rt_graph *g, rt_db *db)
{
	rt_db_rows sessions, messages, parts;
	rt_scope *s = &g->b->s;
	rt_buf *reverted = rt_scope_buf(s), *buf;
	yyjson_val *record;

	if (!rt_db_rows_open(&sessions, db, "session", "1", "''", "id") ||
	    !rt_db_rows_open(&messages, db, "message", "1", "session_id", "id") ||
	    !rt_db_rows_open(&parts, db, "part", "1", "message_id", "id"))
		return;
	for (rt_db_find(&sessions, RT_STR("")); rt_db_next(&sessions);) {
		int64_t tip = -1;

		rt_db_put_row(&sessions, rt_db_begin(db), "revert");
		record = rt_graph_checked(g, rt_db_end(db));
		if (record == NULL)
			continue;
		rt_opencode_begin(g, record, rt_json_get(record, "time_updated"));
		rt_buf_clear(reverted);
		rt_buf_add_str(reverted, rt_json_text(rt_json_get(record, "revert"), "messageID"));
		for (rt_db_find(&messages, rt_db_text(&sessions, "id")); rt_db_next(&messages);) {
			buf = rt_db_begin(db);
			rt_json_open(buf, "info", '{');
			rt_db_put_row(&messages, buf, "data");
			rt_json_close(buf, '}');
			rt_db_put_rows(&parts, buf, "parts", rt_db_text(&messages, "id"), "data");
			record = rt_graph_checked(g, rt_db_end(db));
			if (record != NULL)
				tip = rt_opencode_message(g, record, tip);
		}
		rt_opencode_end(g, rt_scope_str(s, reverted), tip);
	}
}

/* The files of the storage folder need two passes. */
static rt_status
read_storage(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	     rt_error *err)
{
	rt_reader r;
	rt_graph g;

	rt_reader_init(&r, alloc, in, to, report);
	rt_graph_init(&g, &r, "opencode");
	rt_opencode_storage(&g, in);
	return rt_reader_end(&r, err);
}

static rt_status
opencode_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	    rt_error *err)
{
	static const rt_graph_reader reader = {.format = "opencode",
					       .noun = "opencode session",
					       .read = read_session,
					       .read_database = read_database};
	bool is_stored = false;
	rt_scope s;
	char *head;
	size_t size = 0;

	rt_scope_init(&s, alloc);
	head = rt_scope_get(&s, RT_INPUT_HEAD);
	RT_TRY(&s, rt_input_head(in, head, &size, &s.error));
	if (rt_ok(&s))
		is_stored = rt_opencode_is_stored(rt_scan_unmark(rt_str_at(head, size)));
	if (rt_scope_end(&s, err) != RT_OK)
		return s.status;
	return is_stored ? read_storage(alloc, in, to, report, err)
			 : rt_graph_read(&reader, alloc, in, to, report, err);
}
RT_READER_FUNCTIONS(opencode, opencode_to)

static int
sniff_session(rt_str record)
{
	rt_str info = rt_graph_member(record, "info");

	return rt_graph_member(info, "id").size > 0 && rt_graph_member(info, "time").size > 0 &&
			       rt_str_starts(rt_graph_member(record, "messages"), RT_STR("["))
		       ? 90
		       : 0;
}

static int
opencode_sniff(rt_str head)
{
	return rt_opencode_is_stored(rt_scan_unmark(head)) ? 80 : rt_graph_sniff(head, sniff_session);
}

static int
opencode_examine(rt_scope *s, rt_str head, const rt_input *in)
{
	return rt_db_defines(s, head, in,
			     "session.title message.session_id message.data part.message_id part.data")
		       ? 90
		       : 0;
}

const rt_format rt_format_opencode = {
	.name = "opencode",
	.extension = ".json",
	.about = "opencode: exported sessions, opencode.db, or its storage directory",
	.sniff = opencode_sniff,
	.examine = opencode_examine,
	.is_container = true,
	.read = opencode_read,
	.stream = opencode_stream,
	.write = rt_opencode_write,
};
