/* SPDX-License-Identifier: MIT
 *
 * entry.reply: makes an entry of a model's reply. It is inserted directly after the answered entry,
 * even if other entries were appended to the take meanwhile; so no place is reserved while the
 * reply arrives (decision 10). Neither the active take nor the head moves, except with a fork. A
 * further reply of a group (several models at once) forks without that. entry.fail: keeps why a
 * question could not be answered; a reply to it clears that. */
#include "ops/ops.h"

#define SEGMENTS "thinking_segments"

/* Does a field of the reply so far describe its end? The continuation sets it again. */
static bool
is_of_end(rt_str key)
{
	return rt_str_is(key, "partial") || rt_str_is(key, "stop_reason") ||
	       rt_str_is(key, "error");
}

static bool
is_known(rt_str key, const rt_known_fields *known)
{
	const char *const *name = known->names;

	while (*name != NULL && !rt_str_is(key, *name))
		name++;
	return *name != NULL || rt_str_is(key, "content");
}

static void
add_member(rt_buf *out, yyjson_val *key, yyjson_val *value)
{
	rt_json_add_key_str(out, rt_json_str(key));
	rt_json_add_value(out, value);
}

/* Further fields of the request. */
static void
add_given(rt_buf *out, const rt_request *r, const rt_known_fields *known, bool with_segments)
{
	yyjson_val *key, *value;
	size_t i, max;

	if (r->source == NULL)
		return;
	rt_json_foreach(r->source, i, max, key, value)
	{
		if (!is_known(rt_json_str(key), known) &&
		    (with_segments || !rt_str_is(rt_json_str(key), SEGMENTS)))
			add_member(out, key, value);
	}
}

/* Fields of the reply so far that the request does not give. */
static void
add_kept(rt_buf *out, const rt_alloc *alloc, const rt_request *r, const rt_body *old,
	 const rt_known_fields *known)
{
	yyjson_val *key, *value;
	size_t i, max;

	if (old->format == RT_BODY_PI && rt_json_get(r->source, "pi") == NULL)
		rt_body_add_fields(out, alloc, old, false);
	if (old->format != RT_BODY_JSON)
		return;
	rt_json_foreach(old->fields, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (!is_known(name, known) && !is_of_end(name) && !rt_str_is(name, SEGMENTS) &&
		    yyjson_obj_getn(r->source, name.ptr, name.size) == NULL)
			add_member(out, key, value);
	}
}

/* Joins earlier and later thinking. */
static void
add_segments(rt_buf *out, yyjson_val *before, yyjson_val *then)
{
	yyjson_val *item;
	size_t i, max;

	rt_json_open(out, SEGMENTS, '[');
	yyjson_arr_foreach(before, i, max, item) rt_json_put_value(out, NULL, item);
	yyjson_arr_foreach(then, i, max, item) rt_json_put_value(out, NULL, item);
	rt_json_close(out, ']');
}

/* A body with the request's text (appended to the reply's present text if joined) and the fields of
 * both. */
static void
continue_body(rt_change *c, const rt_request *r, rt_effect_slot *slot)
{
	const rt_body *old = rt_change_read_body(c, slot->slot.body);
	yyjson_val *segments = rt_body_field(old, SEGMENTS);
	rt_known_fields known = rt_fields_of_op(&rt_ops[r->op]);
	rt_buf *body = rt_scope_buf(c->scope), *joined;
	bool is_json;
	rt_str content = rt_request_content(c, r, &is_json);
	size_t bare;

	if (r->join == RT_YES) {
		joined = rt_scope_buf(c->scope);
		is_json = rt_content_join(joined, rt_body_content(old),
					  r->content);
		content = rt_scope_str(c->scope, joined);
	}
	rt_buf_add_c(body, "J{");
	if (is_json)
		rt_json_put_raw(body, "content", content);
	else
		rt_json_put_str(body, "content", content);
	bare = body->size;
	add_given(body, r, &known, segments == NULL);
	add_kept(body, c->scope->alloc, r, old, &known);
	if (segments != NULL)
		add_segments(body, segments, rt_json_get(r->source, SEGMENTS));
	if (body->size == bare && !is_json) {
		rt_give_content(c, slot, content, false, NULL, NULL);
		return;
	}
	rt_buf_add_byte(body, '}');
	rt_give_body(c, slot, rt_scope_str(c->scope, body), content.size);
}

/* The reply that `into` names gets another body; slot, role and time stay, and every field
 * that the request does not give. */
static void
continue_reply(rt_change *c, const rt_request *r)
{
	rt_known_fields known = rt_fields_of_op(&rt_ops[r->op]);
	rt_position s = rt_find_entry(c, r->into);
	rt_effect_slot slot = s.slot;

	(void)rt_describe_entry(c, r); /* role and time are checked, and not used */
	if (r->join == RT_YES || (slot.slot.flags & RT_SLOT_RICH) != 0) {
		continue_body(c, r, &slot);
	} else {
		bool is_json;
		rt_str content = rt_request_content(c, r, &is_json);

		rt_give_content(c, &slot, content, is_json, r->source, known.names);
	}
	if (r->by_hand == RT_YES)
		slot.slot.flags |= RT_SLOT_EDITED;
	rt_replace_slot(c, &s, &slot);
	rt_set_given_prompt(c, r);
	rt_result_entry(c, s.entry);
}

/* ---- questions that could not be answered ---- */

/* failure NULL: none. */
static void
set_failure(rt_change *c, uint32_t entry, yyjson_val *failure)
{
	rt_str json = rt_change_field(c, c->place.disc, 0, RT_STR("failures"), 0);
	yyjson_val *all = json.ptr != NULL ? rt_json_parse(c->scope, json) : NULL, *key, *value;
	rt_buf *out = rt_scope_buf(c->scope);
	char id[RT_ID_MAX + 1] = "";
	size_t i, max;

	RT_TRY(c->scope, rt_entry_id(c->now, entry, id, &c->scope->error));
	if (failure == NULL && (json.ptr == NULL || rt_json_get(all, id) == NULL))
		return;
	rt_json_open(out, NULL, '{');
	rt_json_foreach(all, i, max, key, value)
	{
		if (!rt_str_is(rt_json_str(key), id))
			add_member(out, key, value);
	}
	if (failure != NULL)
		rt_json_put_value(out, id, failure);
	rt_json_close(out, '}');
	all = rt_json_parse(c->scope, rt_scope_str(c->scope, out));
	rt_change_set_json(c, c->place.disc, RT_STR("failures"),
			   yyjson_obj_size(all) > 0 ? all : NULL);
}

void
rt_op_entry_fail(rt_change *c, const rt_request *r)
{
	bool is_null = yyjson_is_null(r->value);

	if (!is_null && !yyjson_is_str(rt_json_get(r->value, "detail")))
		rt_scope_fail(c->scope, RT_USAGE,
			      "\"failure\" must be an object with \"code\" and \"detail\", or null");
	rt_position s = rt_find_entry(c, r->entry);
	if (rt_change_ok(c))
		set_failure(c, s.entry, is_null ? NULL : r->value);
	rt_result_entry(c, s.entry);
}

void
rt_op_entry_reply(rt_change *c, const rt_request *r)
{
	bool continues = r->into.ptr != NULL;
	size_t at = 0;

	if (continues && (r->after.ptr != NULL || r->fork != RT_UNSET || r->id.ptr != NULL))
		rt_scope_fail(c->scope, RT_USAGE,
			      "\"into\" cannot be combined with \"after\", \"fork\" or \"id\"");
	if (!continues && (r->join != RT_UNSET || r->by_hand != RT_UNSET))
		rt_scope_fail(c->scope, RT_USAGE, "\"%s\" requires \"into\"",
			      r->join != RT_UNSET ? "join" : "by_hand");
	if (!continues && r->after.ptr == NULL)
		rt_scope_fail(c->scope, RT_USAGE, "give the answered entry (\"after\") or \"into\"");
	if (continues) {
		continue_reply(c, r);
		return;
	}
	if (!rt_str_is_null(r->after)) {
		rt_position asked = rt_find_entry(c, r->after);

		at = asked.at + 1;
		if (rt_change_ok(c))
			set_failure(c, asked.entry, NULL);
	}
	rt_effect_slot slot = rt_new_entry(c, r);
	if (r->fork == RT_YES && at < rt_find_take(c).at) {
		if (c->group != 0)
			rt_fork_aside(c, at);
		else
			rt_fork_take(c, at);
	}
	rt_change_splice(c, c->place.disc, c->place.take, at, 0, &slot, 1);
	rt_set_given_prompt(c, r);
	rt_result_entry(c, slot.slot.entry);
}
