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

	if (n.role.size == 0)
		n.role = RT_STR("unknown");
	rt_build_body_open_value(g->b, content);
	rt_graph_raw(g, message,
		     yyjson_is_str(content) || yyjson_is_arr(content) ? "role content" : "role");
	at = rt_graph_add(g, &n, RT_STR(""));
	*tip = at >= 0 ? at : *tip;
}

static rt_status
chatbotui_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	     rt_error *err)
{
	rt_reader r;
	rt_graph g;
	yyjson_val *record;

	rt_reader_init(&r, alloc, in, to, report);
	r.wrapper = "history";
	rt_graph_init(&g, &r, "chatbotui");
	while ((record = rt_graph_record(&g)) != NULL) {
		yyjson_val *messages = rt_json_get(record, "messages");
		int64_t tip = -1;

		if (!yyjson_is_arr(messages)) {
			rt_graph_skip(&g, "messages", rt_graph_text(record, "name"));
			continue;
		}
		rt_graph_begin(&g, rt_graph_text(record, "name"), rt_graph_text(record, "id"));
		rt_graph_fields(&g, record, "messages name");
		for (rt_json_iter m = rt_json_items(messages); rt_ok(&r.b.s) && rt_json_next(&m);)
			if (yyjson_is_obj(m.value))
				read_message(&g, m.value, &tip);
			else
				rt_reader_skipped(&r, "skipped a message that is not an object");
		rt_graph_end(&g, tip);
	}
	if (rt_reader_count(&r) == 0)
		rt_reader_refuse(&r, 0, "no record is a conversation of Chatbot UI");
	return rt_reader_end(&r, err);
}
RT_READER_FUNCTIONS(chatbotui, chatbotui_to)

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
