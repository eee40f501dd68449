/* SPDX-License-Identifier: MIT
 *
 * ChatGPT: conversations.json of a data export, or a single conversation.
 *
 *   [{"title","conversation_id","current_node","mapping":{
 *       ID:{"id","parent","children":[…],"message":null or
 *         {"author":{"role"},"content":{"content_type",…},"recipient",…}}}}]
 *
 * "parent" makes the tree; "children" only orders siblings. A message whose recipient is not "all"
 * calls a tool of that name, and a message of the role "tool" below it is the result. The root of
 * the tree carries no message: its record is kept with the discussion, and it is not an entry. */
#include "formats/formats.h"
#include "importers/graph.h"

/* A part of a content that is not a plain text. */
static void
read_part(rt_graph *g, yyjson_val *part)
{
	rt_str type = rt_json_text(part, "content_type");

	if (rt_str_is(type, "image_asset_pointer"))
		rt_parts_object(&g->parts, "image", part);
	else if (rt_str_is(type, "audio_transcription"))
		rt_parts_text(&g->parts, rt_json_text(part, "text"));
	else if (yyjson_is_obj(part))
		rt_parts_object(&g->parts, "attachment", part);
}

static void
read_thoughts(rt_graph *g, yyjson_val *thoughts)
{
	for (rt_json_iter m = rt_json_items(thoughts); rt_json_next(&m);)
		rt_parts_thinking(&g->parts, rt_graph_text(m.value, "content summary"));
}

/* The parts of a content. True: it is one text, which is the entry's content verbatim. */
static bool
read_content(rt_graph *g, yyjson_val *content)
{
	rt_str type = rt_json_text(content, "content_type");
	yyjson_val *parts = rt_json_get(content, "parts");
	size_t texts = 0;

	if (rt_str_is(type, "thoughts") || rt_str_is(type, "reasoning_recap")) {
		read_thoughts(g, rt_json_get(content, "thoughts"));
		rt_parts_thinking(&g->parts, rt_json_text(content, "content"));
		for (rt_json_iter m = rt_json_items(parts); rt_json_next(&m);)
			rt_parts_thinking(&g->parts, rt_json_str(m.value));
		return false;
	}
	for (rt_json_iter m = rt_json_items(parts); rt_json_next(&m);) {
		if (yyjson_is_str(m.value))
			rt_parts_text(&g->parts, rt_json_str(m.value));
		else
			read_part(g, m.value);
		texts += yyjson_is_str(m.value);
	}
	if (yyjson_arr_size(parts) > 0)
		return texts == 1 && yyjson_arr_size(parts) == 1 &&
		       yyjson_obj_size(content) == 2 && rt_str_is(type, "text");
	if (rt_str_is(type, "user_editable_context")) {
		rt_parts_text(&g->parts, rt_json_text(content, "user_profile"));
		rt_parts_text(&g->parts, rt_json_text(content, "user_instructions"));
		return false;
	}
	rt_str text = rt_graph_text(content, "text result model_set_context content summary name");

	if (text.size > 0)
		rt_parts_text(&g->parts, text);
	return false;
}

/* The document that a call of the canvas creates: {"name","type":"document" | "code/LANGUAGE","content"}. */
static void
read_canvas(rt_graph *g, rt_str arguments)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	rt_str type, language = {NULL, 0};

	if (rt_json_read_repairing(g->parts.b->alloc, arguments, &doc, NULL, NULL) == RT_NOMEM)
		(void)rt_scope_nomem(&g->parts.b->s);
	root = doc != NULL ? rt_json_root(doc) : NULL;
	type = rt_json_text(root, "type");
	if (rt_str_starts(type, RT_STR("code/")))
		language = rt_str_skip(type, sizeof("code/") - 1);
	rt_parts_document(&g->parts, rt_json_text(root, "name"), language, rt_json_text(root, "content"));
	rt_json_free(doc);
}

/* The message is a call of a tool. */
static void
read_call(rt_graph *g, rt_str id, rt_str tool, yyjson_val *content)
{
	yyjson_val *parts = rt_json_get(content, "parts"), *text = rt_json_get(content, "text");

	text = yyjson_is_str(text) ? text : yyjson_arr_get_first(parts);
	rt_parts_call(&g->parts, id, tool, text);
	if (rt_str_is(tool, "canmore.create_textdoc"))
		read_canvas(g, rt_json_str(text));
}

static bool
is_hidden(yyjson_val *message)
{
	yyjson_val *metadata = rt_json_get(message, "metadata");

	return yyjson_is_true(rt_json_get(metadata, "is_visually_hidden_from_conversation")) ||
	       rt_str_is(rt_json_text(rt_json_get(message, "content"), "content_type"),
			 "user_editable_context");
}

static bool
is_ignored(yyjson_val *message)
{
	yyjson_val *weight = rt_json_get(message, "weight");
	rt_str digits = rt_json_is_number(weight) ? rt_json_str(weight) : rt_str_at("", 0);

	return rt_str_is(digits, "0") || rt_str_is(digits, "0.0");
}

static rt_str
id_of(rt_str key, yyjson_val *node)
{
	rt_str id = rt_json_text(node, "id");

	return id.size > 0 ? id : key;
}

/* The node at the root of the tree, which carries no message; empty: there is none. */
static rt_str
root_of(yyjson_val *mapping)
{
	for (rt_json_iter m = rt_json_members(mapping); rt_json_next(&m);)
		if (yyjson_is_obj(m.value) && !yyjson_is_obj(rt_json_get(m.value, "message")) &&
		    rt_json_text(m.value, "parent").size == 0)
			return id_of(m.key, m.value);
	return RT_STR("");
}

static void
read_message(rt_graph *g, rt_str id, rt_str root, yyjson_val *node, yyjson_val *message)
{
	yyjson_val *content = rt_json_get(message, "content");
	yyjson_val *metadata = rt_json_get(message, "metadata");
	rt_str recipient = rt_json_text(message, "recipient");
	rt_str parent = rt_json_text(node, "parent");
	rt_node n = {.id = id,
		     .parent = -1,
		     .role = rt_json_text(rt_json_get(message, "author"), "role"),
		     .muted = is_ignored(message)};
	bool is_verbatim = false;

	rt_parts_begin(&g->parts);
	if (rt_str_is(n.role, "assistant") && recipient.size > 0 && !rt_str_is(recipient, "all"))
		read_call(g, id, recipient, content);
	else
		is_verbatim = read_content(g, content);
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(message, "create_time"), &n.ts);
	rt_graph_keep(g, "model", rt_json_get(metadata, "model_slug"));
	if (rt_str_is(n.role, "tool"))
		rt_graph_keep(g, "tool_call_id", rt_json_get(node, "parent"));
	if (is_hidden(message))
		rt_graph_hide(g, &n);
	rt_graph_raw(g, node, is_verbatim ? "message.content" : "");
	(void)rt_graph_add(g, &n, rt_str_eq(parent, root) ? RT_STR("") : parent);
}

static void
read_node(rt_graph *g, rt_str id, rt_str root, yyjson_val *node)
{
	yyjson_val *message = rt_json_get(node, "message");

	if (yyjson_is_obj(message)) {
		read_message(g, id, root, node, message);
		return;
	}
	if (root.size > 0 && rt_str_eq(id, root)) {
		rt_graph_aside(g, node);
		return;
	}
	rt_build_body_open(g->b, RT_STR(""), false);
	rt_graph_raw(g, node, "");
	(void)rt_graph_add_structure(g, id, rt_json_text(node, "parent"));
}

static void
read_conversation(rt_graph *g, yyjson_val *conversation)
{
	yyjson_val *mapping = rt_json_get(conversation, "mapping");
	rt_str id = rt_graph_text(conversation, "conversation_id id"), current, root;
	int64_t leaf;

	if (!yyjson_is_obj(mapping)) {
		rt_graph_skip(g, "mapping", rt_json_text(conversation, "title"));
		return;
	}
	rt_graph_begin(g, rt_json_text(conversation, "title"), id);
	rt_graph_fields(g, conversation, "mapping title");
	rt_graph_open_newest(g, rt_json_get(conversation, "update_time"));
	root = root_of(mapping);
	for (rt_json_iter m = rt_json_members(mapping); rt_ok(&g->b->s) && rt_json_next(&m);)
		if (yyjson_is_obj(m.value))
			read_node(g, id_of(m.key, m.value), root, m.value);
		else
			rt_reader_skipped(g->r, "skipped a node that is not an object");
	for (rt_json_iter m = rt_json_members(mapping); rt_ok(&g->b->s) && rt_json_next(&m);)
		rt_graph_children(g, rt_json_get(m.value, "children"));
	current = rt_json_text(conversation, "current_node");
	leaf = rt_graph_find(g, current);
	if (leaf < 0 && current.size > 0 && !rt_str_eq(current, root))
		rt_reader_remark(g->r, RT_REMARK_REPAIRED, g->r->record.ptr,
				 "the current message does not exist; the last one is used");
	rt_graph_end(g, leaf);
}

RT_GRAPH_FUNCTIONS(chatgpt, .format = "chatgpt", .wrapper = "conversations", .noun = "ChatGPT conversation",
		   .read = read_conversation)

/* The first node of the mapping decides. */
static int
sniff_conversation(rt_str record)
{
	rt_str mapping = rt_graph_member(record, "mapping"), key, node;
	rt_members m;

	if (!rt_members_open(&m, mapping) || m.close != '}')
		return 0;
	if (!rt_members_next(&m, &key, &node)) {
		if (!m.bad)
			return rt_graph_member(record, "title").size > 0 ? 60 : 0;
		node = rt_str_skip(m.in, m.at);
	}
	return rt_graph_member(node, "message").size > 0 ||
			       rt_graph_member(node, "children").size > 0 ||
			       rt_graph_member(node, "parent").size > 0
		       ? 90
		       : 0;
}

static int
chatgpt_sniff(rt_str head)
{
	rt_str wrapped = rt_graph_member(rt_scan_unmark(head), "conversations");

	return rt_graph_sniff(wrapped.size > 0 ? wrapped : head, sniff_conversation);
}

const rt_format rt_format_chatgpt = {
	.name = "chatgpt",
	.extension = ".json",
	.about = "ChatGPT: conversations.json of a data export, or one conversation",
	.sniff = chatgpt_sniff,
	.read = chatgpt_read,
	.stream = chatgpt_stream,
};
