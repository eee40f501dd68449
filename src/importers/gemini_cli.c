/* SPDX-License-Identifier: MIT
 *
 * Gemini CLI: session files, one object or JSON Lines.
 *
 *   {"sessionId","startTime","summary","messages":[MESSAGE…]}
 *
 *   {"sessionId","startTime",…}                       the first line
 *   MESSAGE                                           {"id","type":"user"|"gemini"|"info"…,"content",
 *                                                      "thoughts","toolCalls","tokens","model"}
 *   {"$set":{…,"messages":[MESSAGE…]}}                replaces the list
 *   {"$rewindTo":ID}                                  removes that message and those after it
 *
 *   [CONTENT…] or {"history":[CONTENT…]}              a checkpoint; {"role","parts"} of the API
 *
 * A message with a known id replaces the earlier one. Removed messages stay as another branch. */
#include "formats/formats.h"
#include "importers/gemini.h"
#include "importers/gemini_cli.h"
#include "importers/graph.h"

typedef struct session {
	rt_graph g;
	int64_t tip;   /* the last message of the list */
	bool has_meta; /* its discussion was begun by a line with its id */
} session;

static void
read_thoughts(rt_graph *g, yyjson_val *thoughts)
{
	for (rt_json_iter m = rt_json_items(thoughts); rt_json_next(&m);) {
		rt_str subject = rt_graph_text(m.value, "subject");
		rt_str text = rt_graph_text(m.value, "description");

		rt_parts_thinking(&g->parts, text.size > 0 ? text : subject);
	}
}

static void
read_tools(rt_graph *g, yyjson_val *calls)
{
	for (rt_json_iter m = rt_json_items(calls); rt_json_next(&m);) {
		yyjson_val *result = rt_json_get(m.value, "result");
		rt_str id = rt_json_text(m.value, "id");

		rt_parts_call(&g->parts, id, rt_json_text(m.value, "name"),
			      rt_json_get(m.value, "args"));
		if (yyjson_is_arr(result))
			rt_gemini_content(&g->parts, result);
		else if (result != NULL && !yyjson_is_null(result))
			rt_parts_result(&g->parts, id, result, false);
	}
}

/* Adds a message after the tip, or replaces the one with its id. */
static void
read_message(session *s, yyjson_val *message)
{
	rt_graph *g = &s->g;
	rt_str type = rt_json_text(message, "type");
	rt_node n = {.id = rt_json_text(message, "id"),
		     .parent = s->tip,
		     .role = type,
		     .muted = rt_is_word(type, "info error warning")};
	int64_t known = rt_graph_find(g, n.id);

	rt_parts_begin(&g->parts);
	read_thoughts(g, rt_json_get(message, "thoughts"));
	rt_gemini_content(&g->parts, rt_json_get(message, "content"));
	read_tools(g, rt_json_get(message, "toolCalls"));
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(message, "timestamp"), &n.ts);
	rt_graph_keep(g, "model", rt_json_get(message, "model"));
	rt_graph_keep(g, "usage", rt_json_get(message, "tokens"));
	rt_graph_raw(g, message, yyjson_is_str(rt_json_get(message, "content")) ? "content" : "");
	if (known >= 0)
		rt_graph_replace(g, known, &n);
	else
		known = rt_graph_add(g, &n, RT_STR(""));
	if (known >= 0)
		s->tip = known;
}

static void
read_messages(session *s, yyjson_val *messages)
{
	rt_json_iter list = rt_json_items(messages);

	for (yyjson_val *message; (message = rt_graph_message(&s->g, &list)) != NULL;)
		read_message(s, message);
}

/* The last message counts, also where the list was rewound to its beginning. */
static void
end_session(session *s)
{
	if (s->has_meta)
		rt_graph_end(&s->g, s->tip);
	s->has_meta = false;
}

static void
begin_session(session *s, yyjson_val *record)
{
	end_session(s);
	rt_graph_begin(&s->g, rt_graph_text(record, "summary"), rt_graph_text(record, "sessionId"));
	rt_graph_fields(&s->g, record, "messages summary");
	rt_graph_open_newest(&s->g, rt_json_get(record, "lastUpdated"));
	s->tip = -1;
	s->has_meta = true;
}

static void
read_line(session *s, yyjson_val *record)
{
	yyjson_val *set = rt_json_get(record, "$set"), *to = rt_json_get(record, "$rewindTo");

	if (yyjson_is_obj(set)) {
		rt_graph_fields(&s->g, set, "messages");
		if (yyjson_is_arr(rt_json_get(set, "messages"))) {
			s->tip = -1;
			read_messages(s, rt_json_get(set, "messages"));
		}
	} else if (yyjson_is_str(to)) {
		s->tip = rt_graph_parent(&s->g, rt_graph_find(&s->g, rt_json_str(to)));
	} else if (rt_json_text(record, "type").size > 0) {
		read_message(s, record);
	} else {
		rt_reader_skipped(s->g.r, "skipped a line that is not a message");
	}
}

/* A message of a checkpoint, as the API has it. */
static void
read_content(session *s, yyjson_val *content)
{
	rt_graph *g = &s->g;
	rt_node n = {.parent = s->tip, .role = rt_json_text(content, "role")};
	int64_t at;

	rt_parts_begin(&g->parts);
	rt_gemini_content(&g->parts, rt_json_get(content, "parts"));
	rt_parts_end(&g->parts);
	rt_graph_raw(g, content, "");
	at = rt_graph_add(g, &n, RT_STR(""));
	s->tip = at >= 0 ? at : s->tip;
}

static bool
is_content(yyjson_val *record)
{
	return rt_json_text(record, "role").size > 0 && yyjson_is_arr(rt_json_get(record, "parts"));
}

/* {"history":[contents]}, or a content of an array. */
static void
read_checkpoint(session *s, yyjson_val *record)
{
	rt_json_iter list = rt_json_items(rt_json_get(record, "history"));

	if (!s->has_meta) {
		rt_graph_begin(&s->g, RT_STR(""), RT_STR(""));
		s->has_meta = true;
	}
	if (is_content(record)) {
		read_content(s, record);
		return;
	}
	rt_graph_fields(&s->g, record, "history");
	for (yyjson_val *content; (content = rt_graph_message(&s->g, &list)) != NULL;)
		read_content(s, content);
}

static rt_status
gemini_cli_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	      rt_error *err)
{
	rt_reader r;
	session s = {.tip = -1};
	yyjson_val *record;

	rt_reader_init(&r, alloc, in, to, report);
	rt_graph_init(&s.g, &r, "gemini-cli");
	while ((record = rt_graph_record(&s.g)) != NULL) {
		if (rt_json_text(record, "sessionId").size > 0) {
			begin_session(&s, record);
			read_messages(&s, rt_json_get(record, "messages"));
		} else if (is_content(record) ||
			   is_content(yyjson_arr_get_first(rt_json_get(record, "history")))) {
			read_checkpoint(&s, record);
		} else if (s.has_meta && yyjson_is_obj(record)) {
			read_line(&s, record);
		} else {
			rt_reader_skipped(&r, "skipped a record that is not part of a session");
		}
	}
	end_session(&s);
	if (rt_reader_has_none(&r))
		rt_reader_refuse(&r, 0, "no record is from a Gemini CLI session");
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(gemini_cli, gemini_cli_to)

static int
sniff_content(rt_str record)
{
	rt_str parts = rt_graph_member(record, "parts");

	return rt_graph_member(record, "role").size > 0 && rt_str_starts(parts, RT_STR("[")) ? 70 : 0;
}

/* A message of a session, which has a type instead of a role. */
static int
sniff_message(rt_str record)
{
	rt_str type = rt_graph_member(record, "type");

	return (rt_str_is(type, "\"user\"") || rt_str_is(type, "\"gemini\"")) &&
	       rt_graph_member(record, "timestamp").size > 0 && rt_graph_member(record, "role").size == 0;
}

static int
sniff_session(rt_str record)
{
	rt_str history = rt_graph_member(record, "history");

	if (rt_graph_member(record, "runSettings").size > 0)
		return 0; /* AI Studio */
	if (sniff_content(record) > 0 || rt_graph_sniff(history, sniff_content) > 0)
		return 70;
	if (rt_graph_member(record, "sessionId").size > 0 &&
	    rt_graph_member(record, "projectHash").size > 0)
		return 90;
	/* the messages may come first, and be longer than the head */
	if (rt_graph_sniff(rt_graph_member(record, "messages"), sniff_message) > 0)
		return 85;
	/* the first one may be, too */
	return rt_graph_member(record, "lastUpdated").size > 0 &&
			       rt_str_starts(rt_graph_member(record, "messages"), RT_STR("["))
		       ? 55
		       : 0;
}

static int
gemini_cli_sniff(rt_str head)
{
	return rt_graph_sniff(head, sniff_session);
}

const rt_format rt_format_gemini_cli = {
	.name = "gemini-cli",
	.extension = ".jsonl",
	.about = "Gemini CLI: session files",
	.sniff = gemini_cli_sniff,
	.read = gemini_cli_read,
	.stream = gemini_cli_stream,
	.write = rt_gemini_cli_write,
};
