/* SPDX-License-Identifier: MIT
 *
 * Export: the hooks that run before it. They may change each entry's role and content, and remove
 * entries. */
#include "chat/action_export.h"

#include "chat/last_request.h"
#include "ops/action_impl.h"
#include "ops/export.h"

static void
close_body(void *body)
{
	rt_body_deinit(body);
}

/* A node's body as it is stored: its letter and its bytes. NULL after a failure. */
static const rt_body *
read_node(rt_scope *s, const rt_node *node)
{
	rt_buf *bytes = rt_scope_buf(s);
	rt_body *body = rt_scope_get(s, sizeof(*body));

	rt_buf_add_byte(bytes, node->body_format);
	rt_buf_add_str(bytes, node->body);
	rt_str data = rt_scope_str(s, bytes);
	RT_TRY(s, rt_body_read(s->alloc, data, body, &s->error));
	if (!rt_ok(s))
		return NULL;
	rt_scope_defer(s, close_body, body);
	return rt_ok(s) ? body : NULL;
}

static void
add_node(rt_scope *all, const rt_outline *outline, const rt_node *node, rt_buf *out)
{
	const rt_body *body;
	rt_scope s; /* of this node; there may be many of them */

	rt_scope_init(&s, all->alloc);
	body = read_node(&s, node);
	if (body != NULL) {
		rt_json_open(out, NULL, '{');
		rt_json_put_str(out, "id", node->id);
		rt_json_put_str(out, "role", node->role);
		rt_json_put_str(out, "kind", node->kind.size > 0 ? node->kind : RT_STR("message"));
		rt_json_add_key(out, "content");
		rt_body_add_content(out, body);
		rt_json_put_str(out, "discussion", outline->name);
		rt_body_add_fields(out, s.alloc, body, false);
		rt_json_close(out, '}');
	}
	(void)rt_scope_join(all, &s);
}

static rt_str
keep(rt_scope *s, rt_arena *arena, rt_str text)
{
	char *copy = rt_ok(s) ? rt_arena_get(arena, text.size + 1) : NULL;

	if (copy == NULL) {
		rt_scope_nomem(s);
		return (rt_str){NULL, 0};
	}
	if (text.size > 0)
		memcpy(copy, text.ptr, text.size);
	copy[text.size] = '\0';
	return rt_str_at(copy, text.size);
}

/* Replaces the content. The entry's pi record has the old content and is dropped. */
static void
change_content(rt_scope *s, rt_arena *arena, rt_node *node, const rt_body *body,
	       yyjson_val *content)
{
	static const char *const skip[] = {"pi", NULL};
	rt_buf *text = rt_scope_buf(s), *data = rt_scope_buf(s);
	bool is_json = !yyjson_is_str(content);
	rt_str fresh;

	if (is_json)
		rt_json_add_value(text, content);
	else
		rt_buf_add_str(text, rt_json_str(content));
	rt_body_write(data, rt_scope_str(s, text), is_json,
		      body->format == RT_BODY_JSON ? body->fields : NULL, skip);
	fresh = rt_scope_str(s, data);
	if (!rt_ok(s))
		return;
	node->before_format = 0; /* it may have what the hook removed */
	node->body_format = fresh.ptr[0];
	node->body = keep(s, arena, rt_str_at(fresh.ptr + 1, fresh.size - 1));
}

static void
change_node(rt_scope *s, rt_arena *arena, rt_node *node, yyjson_val *to)
{
	yyjson_val *content = rt_json_get(to, "content"), *role = rt_json_get(to, "role");
	rt_buf *was = rt_scope_buf(s), *is = rt_scope_buf(s);
	const rt_body *body = read_node(s, node);

	if (!yyjson_is_str(content) && !yyjson_is_arr(content))
		rt_scope_fail(
			s, RT_USAGE,
			"a hook set the content of entry %.*s to something other than a string or a list",
			RT_STR_ARG(node->id));
	if (!rt_ok(s))
		return;
	rt_body_add_content(was, body);
	rt_json_add_value(is, content);
	if (!rt_str_eq(rt_scope_str(s, was), rt_scope_str(s, is)))
		change_content(s, arena, node, body, content);
	if (yyjson_is_str(role) && !rt_str_eq(node->role, rt_json_str(role)))
		node->role = keep(s, arena, rt_json_str(role));
}

/* The nearest node at or above this one that is kept; -1: none. */
static int64_t
stays(const rt_outline *outline, const int64_t *place, int64_t node)
{
	while (node >= 0 && place[node] < 0)
		node = outline->nodes[node].parent;
	return node;
}

/* Removes the nodes whose new place is -1, and moves the others to theirs. */
static void
drop_nodes(rt_scope *s, rt_arena *arena, rt_outline *outline, const int64_t *place, size_t kept)
{
	rt_node *nodes = rt_arena_get(arena, (kept + 1) * sizeof(*nodes));

	if (nodes == NULL) {
		rt_scope_nomem(s);
		return;
	}
	for (size_t i = 0; i < outline->node_count; i++) {
		int64_t up;

		if (place[i] < 0)
			continue;
		nodes[place[i]] = outline->nodes[i];
		up = stays(outline, place, outline->nodes[i].parent);
		nodes[place[i]].parent = up < 0 ? -1 : place[up];
	}
	for (size_t i = 0; i < outline->take_count; i++) {
		rt_outline_take *take = &outline->takes[i];
		int64_t *list = rt_arena_get(arena, (take->node_count + 1) * sizeof(*list));
		size_t count = 0;

		if (list == NULL) {
			rt_scope_nomem(s);
			return;
		}
		for (size_t k = 0; k < take->node_count; k++)
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
}

/* One discussion: its own entries from *next on, in their order. */
static void
change_outline(rt_scope *s, rt_outlines *outlines, rt_outline *outline, yyjson_arr_iter *iter,
	       yyjson_val **next)
{
	int64_t *place = rt_scope_array(s, outline->node_count, sizeof(*place));
	size_t kept = 0;

	for (size_t i = 0; rt_ok(s) && i < outline->node_count; i++) {
		rt_node *node = &outline->nodes[i];

		place[i] = -1;
		if (!rt_str_eq(rt_json_str(rt_json_get(*next, "id")), node->id))
			continue;
		change_node(s, outlines->arena, node, *next);
		place[i] = (int64_t)kept++;
		*next = yyjson_arr_iter_next(iter);
	}
	if (rt_ok(s) && kept < outline->node_count)
		drop_nodes(s, outlines->arena, outline, place, kept);
}

static void
change_all(rt_scope *s, rt_outlines *outlines, yyjson_val *entries)
{
	yyjson_arr_iter iter;
	yyjson_val *next;
	rt_str id;

	if (!yyjson_is_arr(entries)) {
		rt_scope_fail(s, RT_USAGE, "a hook replaced \"entries\" with something other than a list");
		return;
	}
	iter = yyjson_arr_iter_with(entries);
	next = yyjson_arr_iter_next(&iter);
	for (size_t i = 0; i < outlines->count; i++)
		change_outline(s, outlines, &outlines->items[i], &iter, &next);
	if (next == NULL)
		return;
	id = rt_json_str(rt_json_get(next, "id"));
	rt_scope_fail(s, RT_USAGE,
		      "a hook added or moved entry \"%.*s\"; hooks can only change exported "
		      "entries or leave them out",
		      (int)rt_utf8_cut(id, 120), id.ptr == NULL ? "" : id.ptr);
}

/* The last request contains the texts that a hook removed or changed, of current entries or earlier
 * versions. */
static void
drop_sent(rt_outlines *outlines)
{
	for (size_t i = 0; i < outlines->count; i++) {
		rt_outline *o = &outlines->items[i];

		o->sent_take = o->sent_markdown = o->sent_system_prompt = rt_str_at("", 0);
	}
}

static void
ask_export(rt_scope *s, rt_action_state *a, const rt_action_file *file, rt_place place,
	   rt_outlines *outlines)
{
	rt_place_ids room;
	rt_hook_call h = rt_action_hook_call(a, place, &room);
	rt_buf *members = rt_scope_buf(s), *subject = rt_scope_buf(s);
	const rt_hook_answer *answer;
	yyjson_val *entries;

	if (!rt_hook_call_wants(&h, "export.before"))
		return;
	rt_action_add_file(file, members, subject);
	rt_json_open(members, "entries", '[');
	for (size_t i = 0; i < outlines->count; i++)
		for (size_t k = 0; rt_ok(s) && k < outlines->items[i].node_count; k++)
			add_node(s, &outlines->items[i], &outlines->items[i].nodes[k], members);
	rt_json_close(members, ']');
	answer = rt_hook_call_ask(s, &h, "export.before", members, rt_scope_str(s, subject));
	entries = answer != NULL ? rt_hook_call_patched(s, answer, "entries") : NULL;
	if (entries == NULL)
		return;
	drop_sent(outlines);
	change_all(s, outlines, entries);
}

rt_status
rt_action_export(rt_engine *engine, const rt_apply_context *with, const rt_action_file *file,
		 const rt_project *project, rt_place place, bool whole_project, rt_outlines *out,
		 rt_error *err)
{
	rt_action_state a = {.engine = engine, .with = with};
	rt_outlines made;
	rt_scope s;
	rt_status st = rt_engine_export(engine, project, place, whole_project, &made, err);

	if (st != RT_OK)
		return st;
	rt_scope_init(&s, rt_engine_alloc(engine));
	if (file != NULL && file->sent != NULL)
		RT_TRY(&s, rt_engine_export_last_requests(engine, project, file->sent, &made,
							  &s.error));
	if (file != NULL && file->format->writes_before)
		RT_TRY(&s, rt_engine_export_before(engine, project, &made, &s.error));
	if (rt_ok(&s) && with != NULL && with->hooks != NULL)
		ask_export(&s, &a, file, place, &made);
	if (rt_ok(&s))
		*out = made;
	else
		rt_outlines_deinit(&made);
	return rt_scope_end(&s, err);
}
