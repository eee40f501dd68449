/* SPDX-License-Identifier: MIT
 *
 * llm: logs.db, an SQLite database.
 *
 *   before 0.32   conversations(id, name, model); responses(conversation_id, id, prompt, system,
 *                 response, reasoning, datetime_utc …), each a prompt and its reply. Beside it:
 *                 prompt_fragments and prompt_attachments of the prompt, tool_calls of the reply,
 *                 and tool_results, which were sent with the prompt
 *   from 0.32     messages(hash, parent_hash, role) with parts(message_hash, position, type, text,
 *                 payload); threads(id, name, tip_message_hash) are conversations, which share
 *                 messages; turns(parent_message_hash, tip_message_hash, datetime_utc, model) have the
 *                 times
 *
 * Both may be there. Every thread becomes a separate discussion. A row keeps its columns as the record of
 * its entry, whatever the version added. */
#include "formats/formats.h"
#include "importers/database.h"
#include "importers/graph.h"

typedef struct llm {
	rt_db *db;
	rt_graph *g;
	rt_buf *id; /* for one call at a time */
	rt_db_rows attachments, fragments;
	/* of responses */
	rt_db_rows responses, prompt_attachments, prompt_fragments, calls, results;
	rt_db_rows system_fragments, tools, tools_of, schemas;
	/* of threads */
	rt_db_rows messages, parts, part_attachments, part_fragments, from, to;
} llm;

/* ---- both ---- */

/* The rows that other rows name by a column. */
static void
put_linked(rt_buf *buf, const char *member, rt_db_rows *links, rt_str key, const char *column,
	   rt_db_rows *rows)
{
	bool is_first = true;

	for (rt_db_find(links, key); rt_db_next(links);) {
		rt_db_find(rows, rt_db_text(links, column));
		if (!rt_db_next(rows))
			continue;
		if (is_first)
			rt_json_open(buf, member, '[');
		is_first = false;
		rt_json_open(buf, NULL, '{');
		rt_db_put_row(rows, buf, "");
		rt_json_close(buf, '}');
	}
	if (!is_first)
		rt_json_close(buf, ']');
}

static void
add_attachments(rt_graph *g, yyjson_val *list)
{
	rt_buf *block = g->b->scratch;

	for (rt_json_iter m = rt_json_items(list); rt_json_next(&m);) {
		rt_str type = rt_json_text(m.value, "type");
		rt_json_doc *doc = NULL;

		rt_buf_clear(block);
		rt_json_open(block, NULL, '{');
		rt_json_put_str(block, "mimeType", type);
		for (rt_json_iter n = rt_json_members(m.value); rt_json_next(&n);)
			if (!yyjson_is_null(n.value) && !rt_str_is(n.key, "type"))
				rt_json_put_value(block,
						  rt_str_is(n.key, "content") ? "data"
						  : rt_str_is(n.key, "path")  ? "name"
						  : rt_str_is(n.key, "url")   ? "url"
									      : "id",
						  n.value);
		rt_json_close(block, '}');
		RT_TRY(&g->b->s, rt_json_read_repairing(g->b->alloc, rt_scope_str(&g->b->s, block),
							&doc, NULL, &g->b->s.error));
		if (doc != NULL)
			rt_parts_object(&g->parts,
					rt_str_starts(type, RT_STR("image/")) ? "image" : "file",
					rt_json_root(doc));
		rt_json_free(doc);
	}
}

static void
add_fragments(rt_graph *g, yyjson_val *list)
{
	for (rt_json_iter m = rt_json_items(list); rt_json_next(&m);)
		rt_parts_text(&g->parts, rt_json_text(m.value, "content"));
}

static void
keep_usage(rt_graph *g, yyjson_val *record)
{
	yyjson_val *model = rt_json_get(record, "resolved_model");
	rt_buf *usage;

	rt_graph_keep(g, "model", yyjson_is_str(model) ? model : rt_json_get(record, "model"));
	if (!rt_json_is_number(rt_json_get(record, "output_tokens")))
		return;
	usage = rt_build_body_field(g->b, RT_STR("usage"));
	rt_json_open(usage, NULL, '{');
	rt_json_put_value(usage, "input_tokens", rt_json_get(record, "input_tokens"));
	rt_json_put_value(usage, "output_tokens", rt_json_get(record, "output_tokens"));
	rt_json_close(usage, '}');
}

static void
begin(llm *l, rt_db_rows *row, const char *name)
{
	rt_buf *buf = rt_db_begin(l->db);
	yyjson_val *record;

	rt_db_put_row(row, buf, "");
	record = rt_graph_checked(l->g, rt_db_end(l->db));
	if (record == NULL)
		return;
	rt_graph_begin(l->g, rt_json_text(record, name), rt_json_text(record, "id"));
	rt_graph_fields(l->g, record, name);
}

/* ---- before 0.32 ---- */

static int64_t
add_prompt(llm *l, yyjson_val *record, int64_t tip)
{
	rt_graph *g = l->g;
	yyjson_val *results = rt_json_get(record, "tool_results");
	rt_str prompt = rt_json_text(record, "prompt");
	size_t others = yyjson_arr_size(results);
	rt_node n = {.parent = tip, .role = RT_STR("user")};

	rt_parts_begin(&g->parts);
	for (rt_json_iter m = rt_json_items(results); rt_json_next(&m);)
		rt_parts_result(&g->parts, rt_json_text(m.value, "tool_call_id"),
				rt_json_get(m.value, "output"),
				rt_json_text(m.value, "exception").size > 0);
	add_fragments(g, rt_json_get(record, "fragments"));
	if (prompt.size > 0)
		rt_parts_text(&g->parts, prompt);
	add_attachments(g, rt_json_get(record, "attachments"));
	if (others > 0 && g->parts.count == others)
		n.role = RT_STR("tool");
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(record, "datetime_utc"), &n.ts);
	rt_graph_raw(g, record, "id prompt response reasoning model resolved_model response_json "
				"input_tokens output_tokens token_details duration_ms tool_calls "
				"schema_id schema");
	rt_buf_clear(l->id);
	rt_buf_add_str(l->id, rt_json_text(record, "id"));
	rt_buf_add_c(l->id, "/prompt");
	n.id = rt_scope_str(&g->b->s, l->id);
	return rt_graph_add(g, &n, RT_STR(""));
}

static int64_t
add_response(llm *l, yyjson_val *record, int64_t prompt)
{
	rt_graph *g = l->g;
	yyjson_val *calls = rt_json_get(record, "tool_calls");
	rt_str response = rt_json_text(record, "response");
	rt_node n = {.id = rt_json_text(record, "id"),
		     .parent = prompt,
		     .role = RT_STR("assistant")};

	rt_parts_begin(&g->parts);
	rt_parts_thinking(&g->parts, rt_json_text(record, "reasoning"));
	if (response.size > 0)
		rt_parts_text(&g->parts, response);
	for (rt_json_iter m = rt_json_items(calls); rt_json_next(&m);)
		rt_parts_call(&g->parts, rt_json_text(m.value, "tool_call_id"),
			      rt_json_text(m.value, "name"), rt_json_get(m.value, "arguments"));
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(record, "datetime_utc"), &n.ts);
	keep_usage(g, record);
	rt_graph_raw(g, record, "prompt response reasoning attachments fragments tool_results system "
				"prompt_json system_fragments tools");
	return rt_graph_add(g, &n, RT_STR(""));
}

static int64_t
read_response(llm *l, rt_db_rows *row, int64_t tip)
{
	rt_buf *buf = rt_db_begin(l->db);
	rt_str id = rt_db_text(row, "id");
	yyjson_val *record;
	int64_t at;

	rt_db_put_row(row, buf, "");
	put_linked(buf, "fragments", &l->prompt_fragments, id, "fragment_id", &l->fragments);
	put_linked(buf, "attachments", &l->prompt_attachments, id, "attachment_id", &l->attachments);
	put_linked(buf, "system_fragments", &l->system_fragments, id, "fragment_id", &l->fragments);
	put_linked(buf, "tools", &l->tools_of, id, "tool_id", &l->tools);
	rt_db_put_rows(&l->schemas, buf, "schema", rt_db_text(row, "schema_id"), "content");
	rt_db_put_rows(&l->calls, buf, "tool_calls", id, "");
	rt_db_put_rows(&l->results, buf, "tool_results", id, "");
	record = rt_graph_checked(l->g, rt_db_end(l->db));
	if (record == NULL)
		return tip;
	at = add_prompt(l, record, tip);
	at = add_response(l, record, at >= 0 ? at : tip);
	return at >= 0 ? at : tip;
}

static void
read_conversations(llm *l)
{
	rt_db_rows all, alone;
	int64_t tip;

	if (!rt_db_has(l->db, "responses", "id prompt response conversation_id") ||
	    !rt_db_rows_open(&all, l->db, "conversations", "1", "''", "id"))
		return;
	(void)rt_db_rows_open(&l->responses, l->db, "responses", "1", "conversation_id", "id");
	(void)rt_db_rows_open(&alone, l->db, "responses", "conversation_id IS NULL", "''", "id");
	if (rt_db_has(l->db, "prompt_attachments", "response_id attachment_id order"))
		(void)rt_db_rows_open(&l->prompt_attachments, l->db, "prompt_attachments", "1",
				      "response_id", "\"order\"");
	if (rt_db_has(l->db, "prompt_fragments", "response_id fragment_id order"))
		(void)rt_db_rows_open(&l->prompt_fragments, l->db, "prompt_fragments", "1",
				      "response_id", "\"order\"");
	if (rt_db_has(l->db, "system_fragments", "response_id fragment_id order"))
		(void)rt_db_rows_open(&l->system_fragments, l->db, "system_fragments", "1",
				      "response_id", "\"order\"");
	if (rt_db_has(l->db, "tool_responses", "response_id tool_id"))
		(void)rt_db_rows_open(&l->tools_of, l->db, "tool_responses", "1", "response_id",
				      "tool_id");
	(void)rt_db_rows_by(&l->tools, l->db, "tools", "id");
	(void)rt_db_rows_by(&l->schemas, l->db, "schemas", "id");
	if (rt_db_has(l->db, "tool_calls", "response_id"))
		(void)rt_db_rows_open(&l->calls, l->db, "tool_calls", "1", "response_id", "rowid");
	if (rt_db_has(l->db, "tool_results", "response_id"))
		(void)rt_db_rows_open(&l->results, l->db, "tool_results", "1", "response_id", "rowid");
	for (rt_db_find(&all, RT_STR("")); rt_db_next(&all); rt_graph_end(l->g, tip)) {
		tip = -1;
		begin(l, &all, "name");
		for (rt_db_find(&l->responses, rt_db_text(&all, "id")); rt_db_next(&l->responses);)
			tip = read_response(l, &l->responses, tip);
	}
	for (rt_db_find(&alone, RT_STR("")); rt_db_next(&alone); rt_graph_end(l->g, tip)) {
		rt_graph_begin(l->g, rt_graph_title(rt_db_text(&alone, "prompt")),
			       rt_db_text(&alone, "id"));
		tip = read_response(l, &alone, -1);
	}
}

/* ---- from 0.32 ---- */

static void
add_part(rt_graph *g, yyjson_val *part)
{
	yyjson_val *payload = rt_json_get(part, "payload"), *text = rt_json_get(part, "text");
	rt_str type = rt_json_text(part, "type"), id = rt_graph_text(payload, "tool_call_id call_id id");
	yyjson_val *output = rt_json_get(payload, "output"), *input = rt_json_get(payload, "arguments");

	if (rt_str_is(type, "reasoning"))
		rt_parts_thinking(&g->parts, rt_json_str(text));
	else if (rt_str_is(type, "tool_call"))
		rt_parts_call(&g->parts, id, rt_json_text(part, "tool_name"),
			      input != NULL ? input : rt_json_get(payload, "input"));
	else if (rt_str_is(type, "tool_result"))
		rt_parts_result(&g->parts, id, yyjson_is_str(text) ? text : output,
				rt_graph_text(payload, "exception").size > 0);
	else if (rt_json_str(text).size > 0)
		rt_parts_text(&g->parts, rt_json_str(text));
	else
		add_fragments(g, rt_json_get(part, "fragments"));
	add_attachments(g, rt_json_get(part, "attachments"));
}

static void
put_parts(llm *l, rt_buf *buf, rt_str hash)
{
	rt_json_open(buf, "parts", '[');
	for (rt_db_find(&l->parts, hash); rt_db_next(&l->parts);) {
		rt_str id = rt_db_text(&l->parts, "id");

		rt_json_open(buf, NULL, '{');
		rt_db_put_row(&l->parts, buf, "payload");
		put_linked(buf, "fragments", &l->part_fragments, id, "fragment_id", &l->fragments);
		put_linked(buf, "attachments", &l->part_attachments, id, "attachment_id",
			   &l->attachments);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, ']');
}

/* Has the turn that this message ended, or the one that it began. */
static int64_t
add_message(llm *l, rt_str hash, int64_t tip)
{
	rt_graph *g = l->g;
	rt_buf *buf = rt_db_begin(l->db);
	yyjson_val *record, *turn;
	rt_node n = {.parent = tip};
	int64_t at;

	rt_db_find(&l->messages, hash);
	if (!rt_db_next(&l->messages))
		return tip;
	rt_db_put_row(&l->messages, buf, "");
	put_parts(l, buf, hash);
	rt_db_put_rows(&l->to, buf, "ended", hash, "");
	rt_db_put_rows(&l->from, buf, "began", hash, "");
	record = rt_graph_checked(g, rt_db_end(l->db));
	if (record == NULL)
		return tip;
	turn = yyjson_arr_get_first(rt_json_get(record, "ended"));
	n.id = rt_json_text(record, "hash");
	n.role = rt_json_text(record, "role");
	rt_parts_begin(&g->parts);
	for (rt_json_iter m = rt_json_items(rt_json_get(record, "parts")); rt_json_next(&m);)
		add_part(g, m.value);
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(
		rt_json_get(turn != NULL ? turn
					 : yyjson_arr_get_first(rt_json_get(record, "began")),
			    "datetime_utc"),
		&n.ts);
	keep_usage(g, turn);
	rt_graph_raw(g, record, "");
	at = rt_graph_add(g, &n, RT_STR(""));
	return at >= 0 ? at : tip;
}

/* The hashes from a message up to its root; a cycle ends where it closes. */
static void
walk_up(llm *l, rt_scope *s, rt_items *path, rt_index *seen, rt_str tip)
{
	while (tip.size > 0 && rt_ok(s) && rt_index_get(seen, tip) < 0) {
		rt_str *hash = rt_items_push(s, path, sizeof(*hash));

		if (hash == NULL)
			return;
		*hash = rt_scope_copy(s, tip);
		(void)rt_index_put(s, seen, *hash, path->count);
		rt_db_find(&l->messages, *hash);
		tip = rt_db_next(&l->messages) ? rt_db_text(&l->messages, "parent_hash") : RT_STR("");
	}
}

static void
read_thread(llm *l, rt_db_rows *thread)
{
	rt_items path = {0};
	rt_index seen = {0};
	rt_scope s;
	int64_t tip = -1;

	begin(l, thread, "name");
	rt_scope_init(&s, l->g->b->alloc);
	walk_up(l, &s, &path, &seen, rt_db_text(thread, "tip_message_hash"));
	for (size_t i = path.count; rt_ok(&s) && i-- > 0;)
		tip = add_message(l, ((rt_str *)path.items)[i], tip);
	(void)rt_scope_join(&l->g->b->s, &s);
	rt_graph_end(l->g, tip);
}

static void
read_threads(llm *l)
{
	rt_db_rows all;

	if (!rt_db_has(l->db, "messages", "hash parent_hash role") ||
	    !rt_db_has(l->db, "parts", "id message_hash position type text payload") ||
	    !rt_db_has(l->db, "threads", "id name tip_message_hash") ||
	    !rt_db_rows_open(&all, l->db, "threads", "1", "''", "id"))
		return;
	(void)rt_db_rows_by(&l->messages, l->db, "messages", "hash");
	(void)rt_db_rows_open(&l->parts, l->db, "parts", "1", "message_hash", "position");
	if (rt_db_has(l->db, "part_attachments", "part_id attachment_id order"))
		(void)rt_db_rows_open(&l->part_attachments, l->db, "part_attachments", "1",
				      "part_id", "\"order\"");
	if (rt_db_has(l->db, "part_fragments", "part_id fragment_id order"))
		(void)rt_db_rows_open(&l->part_fragments, l->db, "part_fragments", "1", "part_id",
				      "\"order\"");
	if (rt_db_has(l->db, "turns", "parent_message_hash tip_message_hash datetime_utc")) {
		(void)rt_db_rows_open(&l->from, l->db, "turns", "1", "parent_message_hash",
				      "datetime_utc");
		(void)rt_db_rows_open(&l->to, l->db, "turns", "1", "tip_message_hash",
				      "datetime_utc");
	}
	for (rt_db_find(&all, RT_STR("")); rt_db_next(&all);)
		read_thread(l, &all);
}

/* ---- the format ---- */

static rt_status
llm_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
       rt_error *err)
{
	rt_reader r;
	rt_graph g;
	llm l = {.g = &g};

	rt_reader_init(&r, alloc, in, to, report);
	rt_graph_init(&g, &r, "llm");
	l.id = rt_scope_buf(&r.b.s);
	l.db = rt_db_open(&r, in);
	(void)rt_db_rows_by(&l.attachments, l.db, "attachments", "id");
	(void)rt_db_rows_by(&l.fragments, l.db, "fragments", "id");
	read_conversations(&l);
	read_threads(&l);
	if (rt_reader_has_none(&r))
		rt_reader_refuse(&r, 0, "the database contains no llm conversation");
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(llm, llm_to)

static int
llm_examine(rt_scope *s, rt_str head, const rt_input *in)
{
	return rt_db_defines(s, head, in, "conversations responses") ? 90 : 0;
}

const rt_format rt_format_llm = {
	.name = "llm",
	.extension = ".db",
	.about = "llm: its log, logs.db",
	.examine = llm_examine,
	.is_container = true,
	.read = llm_read,
	.stream = llm_stream,
};
