/* SPDX-License-Identifier: MIT
 *
 * Chatbot UI: an exported history.
 *
 *   {"version":4,"history":[{"id","name","messages":[{"role","content"}],"model":{"id"},"prompt",
 *    "temperature","folderId"}],"folders":[…],"prompts":[…]}
 *
 * Messages follow each other. Folders and prompts are not read. */
#include "formats/formats.h"
#include "importers/graph.h"

static void
read_message(rt_graph *g, yyjson_val *message, int64_t *tip)
{
	yyjson_val *content = rt_json_get(message, "content");
	rt_node n = {.parent = *tip, .role = rt_graph_text(message, "role")};
	int64_t at;

	rt_build_body_open_value(g->b, content);
	rt_graph_raw(g, message,
		     yyjson_is_str(content) || yyjson_is_arr(content) ? "role content" : "role");
	at = rt_graph_add(g, &n, RT_STR(""));
	*tip = at >= 0 ? at : *tip;
}

static void
read_conversation(rt_graph *g, yyjson_val *record)
{
	yyjson_val *messages = rt_json_get(record, "messages");
	rt_json_iter list = rt_json_items(messages);
	int64_t tip = -1;

	if (!yyjson_is_arr(messages)) {
		rt_graph_skip(g, "messages", rt_graph_text(record, "name"));
		return;
	}
	rt_graph_begin(g, rt_graph_text(record, "name"), rt_graph_text(record, "id"));
	rt_graph_fields(g, record, "messages name");
	for (yyjson_val *message; (message = rt_graph_message(g, &list)) != NULL;)
		read_message(g, message, &tip);
	rt_graph_end(g, tip);
}
RT_GRAPH_FUNCTIONS(chatbotui, .format = "chatbotui", .wrapper = "history",
		   .noun = "Chatbot UI conversation", .read = read_conversation)

static int
sniff_conversation(rt_str record)
{
	return rt_graph_member(record, "name").size > 0 && rt_graph_member(record, "messages").size > 0
		       ? 80
		       : 0;
}

static int
chatbotui_sniff(rt_str head)
{
	rt_str history = rt_graph_member(rt_scan_unmark(head), "history");

	return history.size > 0 && history.ptr[0] == '['
		       ? rt_graph_sniff(history, sniff_conversation)
		       : 0;
}

const rt_format rt_format_chatbotui = {
	.name = "chatbotui",
	.extension = ".json",
	.about = "Chatbot UI: an exported history",
	.sniff = chatbotui_sniff,
	.read = chatbotui_read,
	.stream = chatbotui_stream,
};
