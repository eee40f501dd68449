/* SPDX-License-Identifier: MIT
 *
 * Cursor: conversations of its editor, in state.vscdb.
 *
 *   cursorDiskKV   key "composerData:ID": {"name","createdAt","lastUpdatedAt",
 *                    "fullConversationHeadersOnly":[{"bubbleId"}]}, in older versions with the
 *                    messages in "conversation":[BUBBLE…]
 *                  key "bubbleId:ID:BUBBLEID": BUBBLE, or NULL
 *                  BUBBLE: {"bubbleId","type":1 user | 2 assistant,"text","thinking":{"text"},
 *                    "toolFormerData":{"name","params" | "rawArgs","result","status"},"createdAt"}
 *   ItemTable      key "workbench.panel.aichat.view.aichat.chatdata", of the oldest versions:
 *                    {"tabs":[{"tabId","chatTitle","bubbles":[{"type":"user" | "ai","text"}]}]}
 *
 * The list of headers gives the order. Some of its ids are those in the bubble, not in its key.
 * Bubbles that are not listed were removed in Cursor; they are counted, not read. */
#include "importers/cursor_impl.h"

#define CHAT_DATA "workbench.panel.aichat.view.aichat.chatdata"

typedef struct composer {
	rt_scope s;
	rt_items headers; /* rt_str: ids of bubbles */
	rt_index inner;   /* ids in bubbles: index into keys */
	rt_items keys;    /* rt_str: ids in keys of bubbles */
	bool has_inner;
} composer;

typedef struct editor {
	rt_graph *g;
	rt_db *db;
	rt_db_rows by_key;     /* all rows */
	rt_db_rows of_composer; /* bubbles; opened when it is needed */
	bool has_of_composer;
} editor;

/* ---- messages ---- */

static void
add_tool(rt_graph *g, yyjson_val *tool)
{
	yyjson_val *arguments = rt_json_get(tool, "rawArgs"), *result = rt_json_get(tool, "result");
	rt_str id = rt_json_text(tool, "toolCallId");

	if (!yyjson_is_obj(tool) || rt_json_text(tool, "name").size == 0)
		return;
	rt_parts_call(&g->parts, id, rt_json_text(tool, "name"),
		      rt_json_str(arguments).size > 0 ? arguments : rt_json_get(tool, "params"));
	if (result != NULL && !yyjson_is_null(result))
		rt_parts_result(&g->parts, id, result,
				rt_str_is(rt_json_text(tool, "status"), "error"));
}

static rt_str
role_of(yyjson_val *bubble)
{
	yyjson_val *type = rt_json_get(bubble, "type");
	uint64_t number = 0;

	if (rt_json_u64(type, &number))
		return number == 1 ? RT_STR("user") : RT_STR("assistant");
	return rt_str_is(rt_json_str(type), "user") ? RT_STR("user") : RT_STR("assistant");
}

/* id: that of the header, for a bubble without one. */
static int64_t
add_bubble(rt_graph *g, yyjson_val *bubble, rt_str id, int64_t tip)
{
	yyjson_val *model = rt_json_get(rt_json_get(bubble, "modelInfo"), "modelName");
	rt_str text = rt_graph_text(bubble, "text rawText");
	rt_node n = {.id = rt_graph_text(bubble, "bubbleId id"),
		     .parent = tip,
		     .role = role_of(bubble)};
	int64_t at;

	if (n.id.size == 0)
		n.id = id;
	rt_parts_begin(&g->parts);
	rt_parts_thinking(&g->parts, rt_json_text(rt_json_get(bubble, "thinking"), "text"));
	if (text.size > 0)
		rt_parts_text(&g->parts, text);
	add_tool(g, rt_json_get(bubble, "toolFormerData"));
	for (rt_json_iter m = rt_json_items(rt_json_get(bubble, "images")); rt_json_next(&m);)
		if (yyjson_is_obj(m.value))
			rt_parts_object(&g->parts, "image", m.value);
	rt_parts_end(&g->parts);
	n.has_ts = rt_build_moment(rt_json_get(bubble, "createdAt"), &n.ts);
	rt_graph_keep(g, "model", yyjson_is_str(model) ? model : rt_json_get(bubble, "modelType"));
	rt_graph_keep(g, "usage", rt_json_get(bubble, "tokenCount"));
	rt_graph_raw(g, bubble, "text");
	at = rt_graph_add(g, &n, RT_STR(""));
	return at >= 0 ? at : tip;
}

static int64_t
add_bubbles(rt_graph *g, yyjson_val *list)
{
	rt_json_iter bubbles = rt_json_items(list);
	int64_t tip = -1;

	for (yyjson_val *bubble; (bubble = rt_graph_message(g, &bubbles)) != NULL;)
		tip = add_bubble(g, bubble, RT_STR(""), tip);
	return tip;
}

/* The JSON of the row that was found; NULL: it has none. */
static yyjson_val *
value_of(editor *e, rt_db_rows *rows)
{
	yyjson_val *record;

	rt_db_put_row(rows, rt_db_begin(e->db), "value");
	record = rt_graph_checked(e->g, rt_db_end(e->db));
	record = rt_json_get(record, "value");
	return yyjson_is_obj(record) ? record : NULL;
}

/* ---- composers ---- */

static void
push(rt_scope *s, rt_items *list, rt_str text)
{
	rt_str *item = rt_items_push(s, list, sizeof(*item));

	if (item != NULL)
		*item = rt_scope_copy(s, text);
}

/* The ids that bubbles of a composer have inside. */
static void
read_inner(editor *e, composer *c, rt_str id)
{
	static const char of_composer[] = "substr(key, 10, instr(substr(key, 10), ':') - 1)";
	yyjson_val *bubble;

	c->has_inner = true;
	if (!e->has_of_composer)
		(void)rt_db_rows_open(&e->of_composer, e->db, "cursorDiskKV",
				      "key GLOB 'bubbleId:*'", of_composer, "key");
	e->has_of_composer = true;
	for (rt_db_find(&e->of_composer, id); rt_ok(&c->s) && rt_db_next(&e->of_composer);) {
		bubble = value_of(e, &e->of_composer);
		if (!yyjson_is_str(rt_json_get(bubble, "bubbleId")))
			continue;
		push(&c->s, &c->keys, rt_db_text(&e->of_composer, "key"));
		(void)rt_index_put(&c->s, &c->inner,
				   rt_scope_copy(&c->s, rt_json_text(bubble, "bubbleId")),
				   c->keys.count - 1);
	}
}

static int64_t
add_header(editor *e, composer *c, rt_str id, rt_str header, int64_t tip)
{
	rt_buf *key = rt_scope_buf(&c->s);
	yyjson_val *bubble;
	int64_t at;

	rt_buf_add_f(key, "bubbleId:%.*s:%.*s", RT_STR_ARG(id), RT_STR_ARG(header));
	rt_db_find(&e->by_key, rt_scope_str(&c->s, key));
	if (!rt_db_next(&e->by_key)) {
		if (!c->has_inner)
			read_inner(e, c, id);
		at = rt_ok(&c->s) ? rt_index_get(&c->inner, header) : -1;
		if (at < 0) {
			rt_report_add(e->g->r->report, RT_REMARK_SKIPPED, 0,
				      "a message is missing in the database: %.*s",
				      (int)rt_utf8_cut(header, 60), header.ptr);
			return tip;
		}
		rt_db_find(&e->by_key, ((rt_str *)c->keys.items)[at]);
		if (!rt_db_next(&e->by_key))
			return tip;
	}
	bubble = value_of(e, &e->by_key);
	return bubble == NULL ? tip : add_bubble(e->g, bubble, header, tip);
}

static void
read_composer(editor *e, yyjson_val *data, rt_str id)
{
	rt_graph *g = e->g;
	yyjson_val *headers = rt_json_get(data, "fullConversationHeadersOnly");
	yyjson_val *changed = rt_json_get(data, "lastUpdatedAt");
	composer c = {0};
	int64_t tip = -1;

	rt_graph_begin(g, rt_json_text(data, "name"), id);
	rt_graph_fields(g, data, "name conversation");
	rt_graph_open_newest(g, rt_json_is_number(changed) ? changed : rt_json_get(data, "createdAt"));
	rt_scope_init(&c.s, g->b->alloc);
	if (yyjson_arr_size(headers) == 0)
		tip = add_bubbles(g, rt_json_get(data, "conversation"));
	for (rt_json_iter m = rt_json_items(headers); rt_json_next(&m);)
		push(&c.s, &c.headers, rt_json_text(m.value, "bubbleId"));
	for (size_t i = 0; rt_ok(&c.s) && rt_ok(&g->b->s) && i < c.headers.count; i++)
		tip = add_header(e, &c, id, ((rt_str *)c.headers.items)[i], tip);
	(void)rt_scope_join(&g->b->s, &c.s);
	rt_graph_end(g, tip);
}

static void
read_composers(editor *e)
{
	static const size_t prefix = sizeof("composerData:") - 1;
	rt_db_rows composers;
	yyjson_val *data;

	if (!rt_db_rows_open(&composers, e->db, "cursorDiskKV", "key GLOB 'composerData:*'", "''",
			     "key") ||
	    !rt_db_rows_by(&e->by_key, e->db, "cursorDiskKV", "key"))
		return;
	for (rt_db_find(&composers, RT_STR("")); rt_db_next(&composers);) {
		data = value_of(e, &composers);
		if (data != NULL)
			read_composer(e, data, rt_str_skip(rt_db_text(&composers, "key"), prefix));
	}
}

/* ---- tabs ---- */

static void
read_tabs(editor *e)
{
	rt_graph *g = e->g;
	rt_db_rows items;
	yyjson_val *tabs;

	if (!rt_db_rows_by(&items, e->db, "ItemTable", "key"))
		return;
	rt_db_find(&items, RT_STR(CHAT_DATA));
	if (!rt_db_next(&items))
		return;
	tabs = rt_json_get(value_of(e, &items), "tabs");
	for (rt_json_iter m = rt_json_items(tabs); rt_ok(&g->b->s) && rt_json_next(&m);) {
		if (!yyjson_is_obj(m.value))
			continue;
		rt_graph_begin(g, rt_json_text(m.value, "chatTitle"), rt_json_text(m.value, "tabId"));
		rt_graph_fields(g, m.value, "chatTitle bubbles");
		rt_graph_open_newest(g, rt_json_get(m.value, "lastSendTime"));
		rt_graph_end(g, add_bubbles(g, rt_json_get(m.value, "bubbles")));
	}
}

void
rt_cursor_database(rt_graph *g, rt_db *db)
{
	editor e = {.g = g, .db = db};

	if (db == NULL)
		return;
	read_composers(&e);
	read_tabs(&e);
	if (rt_reader_has_none(g->r))
		rt_reader_refuse(g->r, 0, "the database contains no Cursor conversation");
}
