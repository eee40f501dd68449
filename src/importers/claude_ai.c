/* SPDX-License-Identifier: MIT
 *
 * Claude.ai: conversations.json of a data export, or one conversation.
 *
 *   [{"uuid","name","current_leaf_message_uuid"?,"chat_messages":[
 *       {"uuid","sender":"human"|"assistant","text","content":[BLOCK…],"parent_message_uuid"?,
 *        "attachments":[{"file_name","extracted_content"}],"files":[…]}]}]
 *
 * Blocks are those of Anthropic's API and are kept unchanged; the document of an artifact is also a
 * text after its call. Older exports do not name parents: the
 * messages then follow each other. */
#include "formats/formats.h"
#include "codec/content.h"
#include "importers/graph.h"

static bool
has_text(yyjson_val *content)
{
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);)
		if (rt_content_is_text(m.value) && rt_content_text_of(m.value).size > 0)
			return true;
	return false;
}

/* Attached files with their text; false: they have another form. */
static bool
are_texts(yyjson_val *attachments)
{
	for (rt_json_iter m = rt_json_items(attachments); rt_json_next(&m);)
		if (rt_json_text(m.value, "extracted_content").ptr == NULL)
			return false;
	return true;
}

/* The artifact that a call creates. */
static void
read_artifact(rt_graph *g, yyjson_val *call)
{
	static const struct {
		const char *type, *language;
	} codes[] = {
		{"text/html", "html"},
		{"image/svg+xml", "svg"},
		{"application/vnd.ant.react", "jsx"},
		{"application/vnd.ant.mermaid", "mermaid"},
	};
	yyjson_val *input = rt_json_get(call, "input");
	rt_str type = rt_json_text(input, "type"), language = {NULL, 0};

	if (!rt_str_is(rt_json_text(call, "type"), "tool_use") ||
	    !rt_str_is(rt_json_text(call, "name"), "artifacts"))
		return;
	if (rt_str_is(type, "application/vnd.ant.code")) {
		language = rt_json_text(input, "language");
		language = language.ptr != NULL ? language : RT_STR("");
	}
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (rt_str_is(type, codes[i].type))
			language = rt_str_of(codes[i].language);
	rt_parts_document(&g->parts, rt_json_text(input, "title"), language,
			  rt_json_text(input, "content"));
}

/* The content; returns the members of the message that it has verbatim. */
static const char *
read_content(rt_graph *g, yyjson_val *message)
{
	yyjson_val *content = rt_json_get(message, "content"), *block;
	yyjson_val *attachments = rt_json_get(message, "attachments");
	rt_str text = rt_json_text(message, "text");
	bool is_array = yyjson_is_arr(content), has_files = are_texts(attachments);

	if (!has_text(content) && text.size > 0)
		rt_parts_text(&g->parts, text);
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);) {
		rt_parts_value(&g->parts, m.value);
		read_artifact(g, m.value);
	}
	for (rt_json_iter m = rt_json_items(attachments); has_files && rt_json_next(&m);)
		rt_parts_file(&g->parts, rt_json_text(m.value, "file_name"),
			      rt_json_text(m.value, "extracted_content"), m.value,
			      "type name mimeType data file_name extracted_content");
	for (rt_json_iter m = rt_json_items(rt_json_get(message, "files")); rt_json_next(&m);)
		rt_parts_object(&g->parts, "file", m.value);
	block = yyjson_arr_size(content) == 1 ? yyjson_arr_get_first(content) : NULL;
	if (!has_text(content) || (block != NULL && rt_str_eq(rt_json_text(block, "text"), text)))
		return is_array && has_files ? "content text attachments"
		       : is_array	     ? "content text"
					     : "text";
	return is_array && has_files ? "content attachments" : is_array ? "content" : "";
}

static rt_str
parent_of(yyjson_val *message)
{
	rt_str parent = rt_json_text(message, "parent_message_uuid");

	return rt_str_is(parent, "00000000-0000-4000-8000-000000000000") ? RT_STR("") : parent;
}

/* Returns the node. is_tree: its parent is named; otherwise it follows tip. */
static int64_t
read_message(rt_graph *g, yyjson_val *message, bool is_tree, int64_t tip)
{
	rt_node n = {.id = rt_json_text(message, "uuid"),
		     .parent = is_tree ? -1 : tip,
		     .role = rt_json_text(message, "sender")};
	const char *verbatim;

	if (!is_tree && rt_graph_find(g, n.id) >= 0)
		n.id = RT_STR("");
	rt_parts_begin(&g->parts);
	verbatim = read_content(g, message);
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(message, "created_at"), &n.ts);
	rt_graph_keep(g, "stop_reason", rt_json_get(message, "stop_reason"));
	rt_graph_raw(g, message, verbatim);
	return rt_graph_add(g, &n, is_tree ? parent_of(message) : RT_STR(""));
}

static void
read_conversation(rt_graph *g, yyjson_val *conversation)
{
	yyjson_val *messages = rt_json_get(conversation, "chat_messages");
	rt_json_iter list = rt_json_items(messages);
	int64_t tip = -1, at;
	bool is_tree = false;

	if (!yyjson_is_arr(messages)) {
		rt_graph_skip(g, "chat_messages", rt_json_text(conversation, "name"));
		return;
	}
	rt_graph_begin(g, rt_json_text(conversation, "name"), rt_json_text(conversation, "uuid"));
	rt_graph_fields(g, conversation, "chat_messages name");
	rt_graph_open_newest(g, rt_json_get(conversation, "updated_at"));
	for (rt_json_iter m = rt_json_items(messages); rt_json_next(&m);)
		is_tree = is_tree || rt_json_text(m.value, "parent_message_uuid").size > 0;
	for (yyjson_val *message; (message = rt_graph_message(g, &list)) != NULL;) {
		at = read_message(g, message, is_tree, tip);
		tip = at >= 0 ? at : tip;
	}
	rt_graph_end(g, rt_graph_find(g, rt_json_text(conversation, "current_leaf_message_uuid")));
}

RT_GRAPH_FUNCTIONS(claude_ai, .format = "claude-ai", .wrapper = "conversations",
		   .noun = "Claude.ai conversation", .read = read_conversation)

static int
sniff_conversation(rt_str record)
{
	if (rt_graph_member(record, "chat_messages").size > 0)
		return 90;
	/* a summary may be longer than the beginning of the file */
	return rt_graph_member(record, "uuid").size > 0 && rt_graph_member(record, "name").size > 0 &&
			       rt_graph_member(record, "summary").size > 0
		       ? 60
		       : 0;
}

static int
claude_ai_sniff(rt_str head)
{
	rt_str wrapped = rt_graph_member(rt_scan_unmark(head), "conversations");
	int sure = rt_graph_sniff(head, sniff_conversation);

	return sure > 0 ? sure : rt_graph_sniff(wrapped, sniff_conversation);
}

const rt_format rt_format_claude_ai = {
	.name = "claude-ai",
	.extension = ".json",
	.about = "Claude.ai: conversations.json of a data export, or one conversation",
	.sniff = claude_ai_sniff,
	.read = claude_ai_read,
	.stream = claude_ai_stream,
};
