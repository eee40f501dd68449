/* SPDX-License-Identifier: MIT
 *
 * Export: hooks before something goes out. It may be changed: each entry's role and content,
 * and whether it is there. */
#include "chat/action_export.h"

#include "chat/last_request.h"
#include "ops/action_impl.h"
#include "ops/export.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* A node's body as it is stored: its letter and its bytes. */
static rt_status
read_node(const rt_alloc *alloc, const rt_node *node, rt_buf *bytes, rt_body *out, rt_error *err)
{
	rt_buf_init(bytes, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(bytes, node->body_format);
	rt_buf_add_str(bytes, node->body);
	memset(out, 0, sizeof(*out));
	if (bytes->status != RT_OK)
		return nomem(err);
	return rt_body_read(alloc, rt_buf_str(bytes), out, err);
}

static rt_status
add_node(const rt_alloc *alloc, const rt_outline *outline, const rt_node *node, rt_buf *out,
	 rt_error *err)
{
	rt_buf bytes;
	rt_body body;
	rt_status st = read_node(alloc, node, &bytes, &body, err);

	if (st == RT_OK) {
		rt_json_add_comma(out);
		rt_buf_add_byte(out, '{');
		rt_hook_call_add_member(out, "id", node->id);
		rt_hook_call_add_member(out, "role", node->role);
		rt_hook_call_add_member(out, "kind",
					node->kind.size > 0 ? node->kind : RT_STR("message"));
		rt_json_add_key(out, "content");
		rt_body_add_content(out, &body);
		rt_hook_call_add_member(out, "discussion", outline->name);
		rt_body_add_fields(out, alloc, &body, false);
		rt_buf_add_byte(out, '}');
		st = out->status == RT_OK ? RT_OK : nomem(err);
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

static rt_str
keep(rt_arena *arena, rt_str text)
{
	char *copy = rt_arena_get(arena, text.size + 1);

	if (copy == NULL)
		return rt_str_at(NULL, 0);
	if (text.size > 0)
		memcpy(copy, text.ptr, text.size);
	copy[text.size] = '\0';
	return rt_str_at(copy, text.size);
}

/* Another content. What a pi file had said of the entry says the old one, and goes. */
static rt_status
change_content(const rt_alloc *alloc, rt_arena *arena, rt_node *node, const rt_body *body,
	       yyjson_val *content, rt_error *err)
{
	static const char *const skip[] = {"pi", NULL};
	rt_buf text, data;
	rt_status st = RT_OK;

	rt_buf_init(&text, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&data, alloc, RT_BUF_UNLIMITED);
	if (yyjson_is_str(content))
		rt_buf_add_str(&text, rt_json_str(content));
	else
		rt_json_add_value(&text, content);
	rt_body_write(&data, rt_buf_str(&text), !yyjson_is_str(content),
		      body->format == RT_BODY_JSON ? body->fields : NULL, skip);
	if (text.status == RT_OK && data.status == RT_OK) {
		node->body_format = data.ptr[0];
		node->body = keep(arena, rt_str_at(data.ptr + 1, data.size - 1));
	}
	if (text.status != RT_OK || data.status != RT_OK || node->body.ptr == NULL)
		st = nomem(err);
	rt_buf_deinit(&text);
	rt_buf_deinit(&data);
	return st;
}

static rt_status
change_node(const rt_alloc *alloc, rt_arena *arena, rt_node *node, yyjson_val *to, rt_error *err)
{
	yyjson_val *content = rt_json_get(to, "content"), *role = rt_json_get(to, "role");
	rt_buf bytes, was, is;
	rt_body body;
	rt_status st = read_node(alloc, node, &bytes, &body, err);

	rt_buf_init(&was, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&is, alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK && !yyjson_is_str(content) && !yyjson_is_arr(content))
		st = rt_fail(err, RT_USAGE,
			     "a hook gave entry %.*s a content that is neither a text nor a list",
			     RT_STR_ARG(node->id));
	if (st == RT_OK) {
		rt_body_add_content(&was, &body);
		rt_json_add_value(&is, content);
		if (was.status != RT_OK || is.status != RT_OK)
			st = nomem(err);
		else if (!rt_str_eq(rt_buf_str(&was), rt_buf_str(&is)))
			st = change_content(alloc, arena, node, &body, content, err);
	}
	if (st == RT_OK && yyjson_is_str(role) && !rt_str_eq(node->role, rt_json_str(role))) {
		node->role = keep(arena, rt_json_str(role));
		if (node->role.ptr == NULL)
			st = nomem(err);
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	rt_buf_deinit(&was);
	rt_buf_deinit(&is);
	return st;
}

/* The nearest node at or above this one that stays; -1: none. */
static int64_t
stays(const rt_outline *outline, const int64_t *place, int64_t node)
{
	while (node >= 0 && place[node] < 0)
		node = outline->nodes[node].parent;
	return node;
}

/* Take out the nodes whose place is -1; the others go to theirs. */
static rt_status
drop_nodes(rt_arena *arena, rt_outline *outline, const int64_t *place, size_t kept, rt_error *err)
{
	rt_node *nodes = rt_arena_get(arena, (kept + 1) * sizeof(*nodes));
	size_t i, k;

	if (nodes == NULL)
		return nomem(err);
	for (i = 0; i < outline->node_count; i++) {
		int64_t up;

		if (place[i] < 0)
			continue;
		nodes[place[i]] = outline->nodes[i];
		up = stays(outline, place, outline->nodes[i].parent);
		nodes[place[i]].parent = up < 0 ? -1 : place[up];
	}
	for (i = 0; i < outline->take_count; i++) {
		rt_outline_take *take = &outline->takes[i];
		int64_t *list = rt_arena_get(arena, (take->node_count + 1) * sizeof(*list));
		size_t count = 0;

		if (list == NULL)
			return nomem(err);
		for (k = 0; k < take->node_count; k++)
			if (place[take->nodes[k]] >= 0)
				list[count++] = place[take->nodes[k]];
		take->nodes = list;
		take->node_count = count;
	}
	if (outline->has_head) {
		int64_t head = stays(outline, place, outline->head);

		outline->head = head < 0 ? -1 : place[head];
	}
	outline->nodes = nodes;
	outline->node_count = kept;
	return RT_OK;
}

/* One discussion: the entries from *at on that are its own, in their order. */
static rt_status
change_outline(const rt_alloc *alloc, rt_outlines *outlines, rt_outline *outline,
	       yyjson_arr_iter *iter, yyjson_val **next, rt_error *err)
{
	int64_t *place = rt_new_array(alloc, outline->node_count + 1, sizeof(*place));
	size_t i, kept = 0;
	rt_status st = place != NULL ? RT_OK : nomem(err);

	for (i = 0; st == RT_OK && i < outline->node_count; i++) {
		rt_node *node = &outline->nodes[i];

		place[i] = -1;
		if (!rt_str_eq(rt_json_str(rt_json_get(*next, "id")), node->id))
			continue;
		st = change_node(alloc, outlines->arena, node, *next, err);
		place[i] = (int64_t)kept++;
		*next = yyjson_arr_iter_next(iter);
	}
	if (st == RT_OK && kept < outline->node_count)
		st = drop_nodes(outlines->arena, outline, place, kept, err);
	rt_free(alloc, place);
	return st;
}

static rt_status
change_all(const rt_alloc *alloc, rt_outlines *outlines, rt_str json, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_arr_iter iter;
	yyjson_val *next;
	rt_str id;
	size_t i;
	rt_status st = rt_json_read(alloc, json, &doc, err);

	if (st == RT_OK && !yyjson_is_arr(rt_json_root(doc)))
		st = rt_fail(err, RT_USAGE, "a hook put no list in the place of \"entries\"");
	if (st == RT_OK) {
		iter = yyjson_arr_iter_with(rt_json_root(doc));
		next = yyjson_arr_iter_next(&iter);
		for (i = 0; st == RT_OK && i < outlines->count; i++)
			st = change_outline(alloc, outlines, &outlines->items[i], &iter, &next,
					    err);
		if (st == RT_OK && next != NULL) {
			id = rt_json_str(rt_json_get(next, "id"));
			st = rt_fail(err, RT_USAGE,
				     "a hook put entry \"%.*s\" where it does not belong; what is "
				     "exported can be changed or left out, and nothing else",
				     (int)rt_utf8_cut(id, 120), id.ptr == NULL ? "" : id.ptr);
		}
	}
	rt_json_free(doc);
	return st;
}

/* What was sent last says what a hook took out, or changed: in the entries as they are, or as
 * they were when it was sent. */
static void
drop_sent(rt_outlines *outlines)
{
	size_t i;

	for (i = 0; i < outlines->count; i++) {
		rt_outline *o = &outlines->items[i];

		o->sent_take = o->sent_markdown = o->sent_system_prompt = rt_str_at("", 0);
	}
}

static rt_status
ask_export(rt_action_state *a, const rt_action_file *file, rt_place place, rt_outlines *outlines,
	   rt_error *err)
{
	const rt_alloc *alloc = a->engine->alloc;
	rt_action_place room;
	rt_hook_call h = rt_action_hook_call(a, place, &room);
	rt_hook_answer answer;
	rt_buf members, subject;
	bool found = false;
	size_t i, k;
	rt_status st = RT_OK;

	if (!rt_hook_call_wants(&h, "export.before"))
		return RT_OK;
	rt_buf_init(&members, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&subject, alloc, RT_BUF_UNLIMITED);
	rt_action_add_file(file, &members, &subject);
	rt_buf_add_c(&members, ",\"entries\":[");
	for (i = 0; st == RT_OK && i < outlines->count; i++)
		for (k = 0; st == RT_OK && k < outlines->items[i].node_count; k++)
			st = add_node(alloc, &outlines->items[i], &outlines->items[i].nodes[k],
				      &members, err);
	rt_buf_add_byte(&members, ']');
	if (st == RT_OK && (members.status != RT_OK || subject.status != RT_OK))
		st = nomem(err);
	if (st == RT_OK) {
		st = rt_hook_call_fire(&h, "export.before", rt_buf_str(&members),
				       rt_buf_str(&subject), &answer, err);
		rt_buf_clear(&members);
		if (st == RT_OK)
			st = rt_hook_call_patch(&h, &answer, "entries", &members, &found, err);
		if (st == RT_OK && found) {
			drop_sent(outlines);
			st = change_all(alloc, outlines, rt_buf_str(&members), err);
		}
		rt_hook_answer_deinit(&answer);
	}
	rt_buf_deinit(&members);
	rt_buf_deinit(&subject);
	return st;
}

rt_status
rt_action_export(rt_engine *engine, const rt_apply_context *with, const rt_action_file *file,
		 const rt_project *project, rt_place place, bool whole_project, rt_outlines *out,
		 rt_error *err)
{
	rt_action_state a = {.engine = engine, .with = with};
	rt_outlines made;
	rt_status st = rt_engine_export(engine, project, place, whole_project, &made, err);

	if (st != RT_OK)
		return st;
	if (file != NULL && file->sent != NULL)
		st = rt_engine_export_last_requests(engine, project, file->sent, &made, err);
	if (st == RT_OK && with != NULL && with->hooks != NULL)
		st = ask_export(&a, file, place, &made, err);
	if (st == RT_OK)
		*out = made;
	else
		rt_outlines_deinit(&made);
	return st;
}
