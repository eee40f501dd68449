/* SPDX-License-Identifier: MIT
 *
 * Open WebUI: exported chats, as rows of its database or bare, and the database itself (webui.db).
 *
 *   [{"id","title","updated_at","chat":{CHAT}}]     or CHAT:
 *   {"title","history":{"currentId","messages":{ID:{"id","parentId","childrenIds",
 *      "role","content","timestamp","model","usage","files"}}},"messages":[…]}
 *
 * "history" is the tree; "messages" beside it repeats the open path and counts only without it. The
 * children of a message are often not listed. Thinking and tools are HTML in the content
 * (<details type="reasoning">), which stays as it is. */
#include "formats/formats.h"
#include "importers/graph.h"

static void
read_files(rt_graph *g, yyjson_val *files)
{
	for (rt_json_iter m = rt_json_items(files); rt_json_next(&m);)
		rt_parts_object(&g->parts,
				rt_str_is(rt_json_text(m.value, "type"), "image") ? "image" : "file",
				m.value);
}

static const char *
read_content(rt_graph *g, yyjson_val *message)
{
	yyjson_val *content = rt_json_get(message, "content");

	if (yyjson_is_str(content))
		rt_parts_text(&g->parts, rt_json_str(content));
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);)
		rt_parts_value(&g->parts, m.value);
	read_files(g, rt_json_get(message, "files"));
	return yyjson_is_str(content) || yyjson_is_arr(content) ? "content" : "";
}

/* A message of the tree, or (tip) of a list without one. Returns its node. */
static int64_t
read_message(rt_graph *g, rt_str key, yyjson_val *message, int64_t tip)
{
	rt_node n = {.id = rt_json_text(message, "id"),
		     .parent = tip,
		     .role = rt_json_text(message, "role")};
	rt_str parent = rt_json_text(message, "parentId");

	if (n.id.size == 0)
		n.id = key;
	if (n.role.size == 0)
		n.kind = RT_STR("custom");
	rt_parts_begin(&g->parts);
	const char *verbatim = read_content(g, message);
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(message, "timestamp"), &n.ts);
	rt_graph_keep(g, "model", rt_json_get(message, "model"));
	rt_graph_keep(g, "usage", rt_json_get(message, "usage"));
	rt_graph_raw(g, message, verbatim);
	return rt_graph_add(g, &n, parent);
}

static void
read_tree(rt_graph *g, yyjson_val *history)
{
	yyjson_val *messages = rt_json_get(history, "messages"), *message;
	rt_json_iter list = rt_json_members(messages);

	while ((message = rt_graph_message(g, &list)) != NULL)
		(void)read_message(g, list.key, message, -1);
	for (rt_json_iter m = rt_json_members(messages); rt_ok(&g->b->s) && rt_json_next(&m);)
		rt_graph_children(g, rt_json_get(m.value, "childrenIds"));
}

static void
read_list(rt_graph *g, yyjson_val *messages)
{
	rt_json_iter list = rt_json_items(messages);
	int64_t tip = -1, at;

	for (yyjson_val *message; (message = rt_graph_message(g, &list)) != NULL;) {
		at = read_message(g, RT_STR(""), message, tip);
		tip = at >= 0 ? at : tip;
	}
}

static void
read_chat(rt_graph *g, yyjson_val *row)
{
	yyjson_val *inner = rt_json_get(row, "chat"), *chat = yyjson_is_obj(inner) ? inner : row;
	yyjson_val *history = rt_json_get(chat, "history");
	bool has_tree = yyjson_is_obj(rt_json_get(history, "messages"));
	rt_str title = rt_graph_text(row, "title"), current = rt_json_text(history, "currentId");
	int64_t leaf;

	if (!yyjson_is_obj(history) && !yyjson_is_arr(rt_json_get(chat, "messages"))) {
		rt_graph_skip(g, "history", rt_json_text(row, "title"));
		return;
	}
	rt_graph_begin(g, title.size > 0 ? title : rt_graph_text(chat, "title"),
		       rt_graph_text(row, "id"));
	if (row != chat)
		rt_graph_fields(g, row, "chat title");
	rt_graph_fields(g, chat, has_tree ? "history messages title" : "messages title");
	rt_graph_open_newest(g, rt_json_get(row, row != chat ? "updated_at" : "timestamp"));
	if (has_tree)
		read_tree(g, history);
	else
		read_list(g, rt_json_get(chat, "messages"));
	leaf = rt_graph_find(g, current);
	if (leaf >= 0 && rt_build_nodes(g->b)[leaf].role.size == 0)
		leaf = -1;
	if (leaf < 0 && current.size > 0)
		rt_reader_remark(g->r, RT_REMARK_REPAIRED, g->r->record.ptr,
				 "the current message does not exist; the newest one is used");
	rt_graph_end(g, leaf >= 0 ? leaf : rt_graph_latest(g));
}

/* webui.db, whose rows are those of the export. */
static void
read_database(rt_graph *g, rt_db *db)
{
	rt_db_rows chats;
	yyjson_val *row;

	if (!rt_db_rows_open(&chats, db, "chat", "1", "''", "created_at"))
		return;
	for (rt_db_find(&chats, RT_STR("")); rt_db_next(&chats);) {
		rt_db_put_row(&chats, rt_db_begin(db), "chat meta");
		row = rt_graph_checked(g, rt_db_end(db));
		if (row != NULL)
			read_chat(g, row);
	}
}

RT_GRAPH_FUNCTIONS(open_webui, .format = "open-webui", .noun = "Open WebUI chat", .read = read_chat,
		   .read_database = read_database)

static int
sniff_chat(rt_str record)
{
	rt_str chat = rt_graph_member(record, "chat");
	rt_str history = rt_graph_member(chat.size > 0 ? chat : record, "history");

	if (rt_graph_member(history, "messages").size > 0)
		return 90;
	return chat.size > 0 && rt_graph_member(chat, "messages").size > 0 ? 60 : 0;
}

static int
open_webui_sniff(rt_str head)
{
	return rt_graph_sniff(head, sniff_chat);
}

static int
open_webui_examine(rt_scope *s, rt_str head, const rt_input *in)
{
	return rt_db_defines(s, head, in, "chat.chat chat.title chat.created_at user") ? 90 : 0;
}

const rt_format rt_format_open_webui = {
	.name = "open-webui",
	.extension = ".json",
	.about = "Open WebUI: exported chats, webui.db",
	.sniff = open_webui_sniff,
	.examine = open_webui_examine,
	.is_container = true,
	.read = open_webui_read,
	.stream = open_webui_stream,
};
