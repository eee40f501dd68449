/* SPDX-License-Identifier: MIT
 *
 * opencode: `opencode export ID`, one session.
 *
 *   {"info":{"id","title","time":{"created","updated"},"revert":{"messageID"}},
 *    "messages":[{"info":{"id","role","time","modelID","providerID","tokens"},"parts":[PART…]}]}
 *   PART: {"type":"text" | "reasoning","text"}  {"type":"file","mime","filename","url"}
 *         {"type":"tool","callID","tool","state":{"status","input","output","error"}} …
 *
 * Messages follow each other in the order of the file. After a revert the conversation continues
 * before the reverted message; the messages from there on stay as another branch. */
#include "formats/formats.h"
#include "importers/graph.h"

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

/* Parts of other types are in the record of the message only. */
static bool
read_parts(rt_graph *g, yyjson_val *parts)
{
	bool is_shown = false;

	for (rt_json_iter m = rt_json_items(parts); rt_json_next(&m);) {
		rt_str type = rt_json_text(m.value, "type");

		if (rt_str_is(type, "text"))
			rt_parts_text(&g->parts, rt_json_text(m.value, "text"));
		else if (rt_str_is(type, "reasoning"))
			rt_parts_thinking(&g->parts, rt_json_text(m.value, "text"));
		else if (rt_str_is(type, "tool"))
			read_tool(g, m.value);
		else if (rt_str_is(type, "file"))
			rt_parts_object(&g->parts, "file", m.value);
		else
			continue;
		is_shown = is_shown || !is_added(m.value);
	}
	return is_shown || yyjson_arr_size(parts) == 0;
}

static int64_t
read_message(rt_graph *g, yyjson_val *message, int64_t tip)
{
	yyjson_val *info = rt_json_get(message, "info");
	rt_node n = {.id = rt_json_text(info, "id"), .parent = tip, .role = rt_json_text(info, "role")};
	bool is_shown;

	rt_parts_begin(&g->parts);
	is_shown = read_parts(g, rt_json_get(message, "parts"));
	rt_parts_end(&g->parts);
	if (!is_shown)
		rt_graph_hide(g, &n);
	n.has_ts = rt_build_moment(rt_json_get(rt_json_get(info, "time"), "created"), &n.ts);
	rt_graph_keep(g, "model", rt_json_get(info, "modelID"));
	rt_graph_keep(g, "usage", rt_json_get(info, "tokens"));
	rt_graph_raw(g, message, "");
	return rt_graph_add(g, &n, RT_STR(""));
}

static void
read_session(rt_graph *g, yyjson_val *record)
{
	yyjson_val *info = rt_json_get(record, "info"), *messages = rt_json_get(record, "messages");
	rt_json_iter list = rt_json_items(messages);
	rt_str reverted = rt_json_text(rt_json_get(info, "revert"), "messageID");
	int64_t tip = -1, at;

	if (!yyjson_is_obj(info) || !yyjson_is_arr(messages)) {
		rt_graph_skip(g, "messages", rt_json_text(info, "title"));
		return;
	}
	rt_graph_begin(g, rt_json_text(info, "title"), rt_json_text(info, "id"));
	rt_graph_fields(g, info, "title");
	rt_graph_open_newest(g, rt_json_get(rt_json_get(info, "time"), "updated"));
	for (yyjson_val *message; (message = rt_graph_message(g, &list)) != NULL;) {
		at = read_message(g, message, tip);
		tip = at >= 0 ? at : tip;
	}
	at = rt_graph_find(g, reverted);
	if (at >= 0)
		at = rt_graph_parent(g, at);
	/* Files name the head by its id. */
	rt_graph_end(g, at >= 0 && rt_build_nodes(g->b)[at].id.size > 0 ? at : tip);
}

RT_GRAPH_FUNCTIONS(opencode, .format = "opencode", .noun = "session of opencode",
		   .read = read_session)

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
	return rt_graph_sniff(head, sniff_session);
}

const rt_format rt_format_opencode = {
	.name = "opencode",
	.extension = ".json",
	.about = "opencode: sessions written by opencode export",
	.sniff = opencode_sniff,
	.read = opencode_read,
	.stream = opencode_stream,
};
