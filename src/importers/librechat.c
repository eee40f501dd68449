/* SPDX-License-Identifier: MIT
 *
 * LibreChat: an exported conversation.
 *
 *   {"conversationId","title","options","messages" or "messagesTree":[
 *       {"messageId","parentMessageId","isCreatedByUser","text","content":[…],"createdAt",
 *        "model","children":[…]}]}
 *
 * Messages are a list that names parents, or nested; nested ones belong to the message around
 * them. No member says which message was open: it is the latest. */
#include "formats/formats.h"
#include "importers/graph.h"

#define ROOT "00000000-0000-0000-0000-000000000000"

/* A tool call with its result. */
static void
read_tool(rt_graph *g, yyjson_val *call)
{
	rt_str id = rt_json_text(call, "id");

	rt_parts_call(&g->parts, id, rt_json_text(call, "name"), rt_json_get(call, "args"));
	if (rt_json_text(call, "output").size > 0)
		rt_parts_result(&g->parts, id, rt_json_get(call, "output"), false);
}

static void
read_block(rt_graph *g, yyjson_val *block)
{
	rt_str type = rt_json_text(block, "type");
	yyjson_val *text = rt_json_get(block, "text");

	if (yyjson_is_obj(text)) /* {"value":…} */
		text = rt_json_get(text, "value");
	if (rt_str_is(type, "text") && yyjson_is_str(text))
		rt_parts_text(&g->parts, rt_json_str(text));
	else if (rt_str_is(type, "think"))
		rt_parts_thinking(&g->parts, rt_graph_text(block, "think"));
	else if (rt_str_is(type, "tool_call"))
		read_tool(g, rt_json_get(block, "tool_call"));
	else
		rt_parts_value(&g->parts, block);
}

/* True: the text of the message is its content verbatim. */
static bool
read_content(rt_graph *g, yyjson_val *message)
{
	yyjson_val *content = rt_json_get(message, "content"), *files = rt_json_get(message, "files");
	bool has_blocks = yyjson_arr_size(content) > 0;

	if (!has_blocks)
		rt_parts_text(&g->parts, rt_graph_text(message, "text"));
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);)
		read_block(g, m.value);
	for (rt_json_iter m = rt_json_items(files); rt_json_next(&m);)
		rt_parts_object(&g->parts, "file", m.value);
	return !has_blocks;
}

/* around: the message that contains it, or -1. Returns the node. */
static int64_t
read_message(rt_graph *g, yyjson_val *message, int64_t around)
{
	rt_str parent = rt_json_text(message, "parentMessageId");
	bool is_user = yyjson_is_true(rt_json_get(message, "isCreatedByUser"));
	rt_node n = {.id = rt_json_text(message, "messageId"),
		     .parent = around,
		     .role = is_user ? RT_STR("user") : RT_STR("assistant")};

	rt_parts_begin(&g->parts);
	bool is_verbatim = read_content(g, message);
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(message, "createdAt"), &n.ts);
	rt_graph_keep(g, "model", rt_json_get(message, "model"));
	rt_graph_keep(g, "stop_reason", rt_json_get(message, "finish_reason"));
	rt_graph_raw(g, message, is_verbatim ? "children text" : "children");
	int64_t at = rt_graph_add(g, &n, around >= 0 || rt_str_is(parent, ROOT) ? RT_STR("") : parent);

	return at >= 0 ? at : rt_graph_find(g, n.id);
}

static void
read_conversation(rt_graph *g, yyjson_val *record)
{
	yyjson_val *messages = rt_json_get(record, "messagesTree");

	if (messages == NULL)
		messages = rt_json_get(record, "messages");
	if (!yyjson_is_ctn(messages)) {
		rt_graph_skip(g, "messages", rt_json_text(record, "title"));
		return;
	}
	rt_graph_begin(g, rt_json_text(record, "title"), rt_json_text(record, "conversationId"));
	rt_graph_fields(g, record, "messages messagesTree title");
	if (yyjson_is_obj(messages)) /* a tree of one root */
		rt_graph_nested(g, rt_json_get(messages, "children"), "children",
				read_message(g, messages, -1), read_message);
	else
		rt_graph_nested(g, messages, "children", -1, read_message);
	rt_graph_end(g, rt_graph_latest(g));
}
RT_GRAPH_FUNCTIONS(librechat, .format = "librechat", .noun = "LibreChat conversation",
		   .read = read_conversation)

/* Does the first message have an id of LibreChat? */
static bool
has_message_id(rt_str messages)
{
	rt_str key, message;
	rt_members m;

	if (!rt_members_open(&m, messages) || m.close != ']')
		return false;
	if (!rt_members_next(&m, &key, &message))
		message = rt_str_skip(m.in, m.at); /* cut, or none */
	return rt_graph_member(message, "messageId").size > 0;
}

static int
sniff_conversation(rt_str record)
{
	rt_str messages = rt_graph_member(record, "messages");

	if (messages.size == 0)
		messages = rt_graph_member(record, "messagesTree");
	if (messages.size == 0)
		return 0;
	if (has_message_id(messages))
		return 90;
	return rt_graph_member(record, "conversationId").size > 0 &&
			       (rt_graph_member(record, "exportAt").size > 0 ||
				rt_graph_member(record, "endpoint").size > 0)
		       ? 90
		       : 0;
}

static int
librechat_sniff(rt_str head)
{
	return rt_graph_sniff(head, sniff_conversation);
}

const rt_format rt_format_librechat = {
	.name = "librechat",
	.extension = ".json",
	.about = "LibreChat: an exported conversation",
	.sniff = librechat_sniff,
	.read = librechat_read,
	.stream = librechat_stream,
};
