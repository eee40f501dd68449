/* SPDX-License-Identifier: MIT
 *
 * Grok: the data export of grok.com.
 *
 *   {"conversations":[{"conversation":{"id" or "conversation_id","title","leaf_response_id"},
 *       "responses":[{"response":{"_id" or "response_id","parent_response_id","sender","message",
 *                                 "create_time","model"}}]}]} */
#include "formats/formats.h"
#include "importers/graph.h"

/* An ISO text, or {"$date":{"$numberLong":"1750534101194"}}. */
static bool
read_time(yyjson_val *value, rt_moment *out)
{
	rt_str number = rt_json_text(rt_json_get(value, "$date"), "$numberLong");

	if (number.size > 0)
		return rt_build_moment_str(number, true, out);
	return rt_build_moment(yyjson_is_obj(value) ? rt_json_get(value, "$date") : value, out);
}

static void
read_response(rt_graph *g, yyjson_val *response)
{
	rt_node n = {.id = rt_graph_text(response, "_id response_id"),
		     .parent = -1,
		     .role = rt_json_text(response, "sender")};
	yyjson_val *model = rt_json_get(response, "model");

	if (!yyjson_is_str(model))
		model = rt_json_get(rt_json_get(rt_json_get(response, "metadata"),
						"requestModelDetails"),
				    "modelId");
	rt_parts_begin(&g->parts);
	rt_parts_thinking(&g->parts, rt_json_text(response, "thinking_trace"));
	rt_parts_text(&g->parts, rt_json_text(response, "message"));
	for (rt_json_iter m = rt_json_items(rt_json_get(response, "file_attachments"));
	     rt_json_next(&m);)
		rt_parts_object(&g->parts, "file", m.value);
	rt_parts_end(&g->parts);
	n.has_ts = read_time(rt_json_get(response, "create_time"), &n.ts);
	rt_graph_keep(g, "model", model);
	rt_graph_raw(g, response, "message thinking_trace");
	(void)rt_graph_add(g, &n, rt_json_text(response, "parent_response_id"));
}

static void
read_conversation(rt_graph *g, yyjson_val *record)
{
	yyjson_val *conversation = rt_json_get(record, "conversation"), *response;
	bool has_parents = false;

	if (!yyjson_is_obj(conversation) || !yyjson_is_arr(rt_json_get(record, "responses"))) {
		rt_graph_skip(g, "responses", RT_STR(""));
		return;
	}
	rt_graph_begin(g, rt_json_text(conversation, "title"),
		       rt_graph_text(conversation, "id conversation_id"));
	rt_graph_fields(g, conversation, "title");
	rt_graph_open_newest(g, rt_json_get(conversation, "modify_time"));
	for (rt_json_iter m = rt_json_items(rt_json_get(record, "responses"));
	     rt_ok(&g->b->s) && rt_json_next(&m);) {
		response = rt_json_get(m.value, "response");
		if (!yyjson_is_obj(response)) /* or without that wrapper */
			response = rt_json_get(m.value, "sender") != NULL ? m.value : NULL;
		if (response == NULL) {
			rt_reader_skipped(g->r, "skipped a response that is not an object");
			continue;
		}
		read_response(g, response);
		has_parents = has_parents || rt_json_text(response, "parent_response_id").size > 0;
	}
	if (!has_parents)
		rt_graph_chain(g);
	rt_graph_end(g, rt_graph_find(g, rt_json_text(conversation, "leaf_response_id")));
}

RT_GRAPH_FUNCTIONS(grok, .format = "grok", .wrapper = "conversations",
		   .noun = "Grok conversation", .read = read_conversation)

static int
sniff_conversation(rt_str record)
{
	rt_str conversation = rt_graph_member(record, "conversation");

	return conversation.size > 0 && conversation.ptr[0] == '{' &&
			       rt_graph_member(record, "responses").size > 0
		       ? 90
		       : 0;
}

static int
grok_sniff(rt_str head)
{
	rt_str wrapped = rt_graph_member(rt_scan_unmark(head), "conversations");

	return rt_graph_sniff(wrapped.size > 0 ? wrapped : head, sniff_conversation);
}

const rt_format rt_format_grok = {
	.name = "grok",
	.extension = ".json",
	.about = "Grok: the data export of grok.com",
	.sniff = grok_sniff,
	.read = grok_read,
	.stream = grok_stream,
};
