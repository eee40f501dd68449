/* SPDX-License-Identifier: MIT
 *
 * entry.reply: what a model said becomes an entry. It stands right behind what it answers,
 * also when others have gone on writing at the end of the take meanwhile; so a reply needs
 * no place held for it while it arrives (decision 10). It moves nobody: which take is in
 * view and where the head stands stay, but for a fork. */
#include "codec/request_json.h"
#include "ops/compile.h"

#include "codec/content.h"

/* Does a field of the reply so far end with it? How it ended is said anew. */
static bool
is_of_end(rt_str key)
{
	return rt_str_is(key, "partial") || rt_str_is(key, "stop_reason") ||
	       rt_str_is(key, "error");
}

/* "thinking_segments":[…]: what was thought before, and then. */
static void
add_segments(rt_buf *out, yyjson_val *before, yyjson_val *then)
{
	yyjson_val *item;
	size_t i, max;

	rt_json_add_key(out, "thinking_segments");
	rt_buf_add_byte(out, '[');
	yyjson_arr_foreach(before, i, max, item)
	{
		rt_json_add_comma(out);
		rt_json_add_value(out, item);
	}
	yyjson_arr_foreach(then, i, max, item)
	{
		rt_json_add_comma(out);
		rt_json_add_value(out, item);
	}
	rt_buf_add_byte(out, ']');
}

/* The request with those fields of the reply so far that it does not give itself. joined:
 * its content, as JSON; empty: the request's own. */
static void
add_members(rt_buf *out, yyjson_val *request, yyjson_val *fields, rt_str joined)
{
	yyjson_val *key, *value, *before = rt_json_get(fields, "thinking_segments");
	size_t i, max;

	rt_buf_add_byte(out, '{');
	yyjson_obj_foreach(request, i, max, key, value)
	{
		if (before != NULL && rt_str_is(rt_json_str(key), "thinking_segments"))
			continue;
		if (joined.size > 0 && rt_str_is(rt_json_str(key), "content"))
			continue;
		rt_json_add_comma(out);
		rt_json_add_value(out, key);
		rt_buf_add_byte(out, ':');
		rt_json_add_value(out, value);
	}
	yyjson_obj_foreach(fields, i, max, key, value)
	{
		if (value == before || is_of_end(rt_json_str(key)) ||
		    yyjson_obj_getn(request, yyjson_get_str(key), yyjson_get_len(key)) != NULL)
			continue;
		rt_json_add_comma(out);
		rt_json_add_value(out, key);
		rt_buf_add_byte(out, ':');
		rt_json_add_value(out, value);
	}
	if (before != NULL)
		add_segments(out, before, rt_json_get(request, "thinking_segments"));
	if (joined.size > 0) {
		rt_json_add_key(out, "content");
		rt_buf_add_str(out, joined);
	}
	rt_buf_add_byte(out, '}');
}

/* What the reply says now, and behind it what the request says, as JSON. */
static rt_status
join(rt_change *c, const rt_body *body, const rt_request *r, rt_buf *out, rt_error *err)
{
	rt_content now = {body->content, body->content_json};
	rt_buf joined;
	rt_status st;

	rt_buf_init(&joined, c->engine->alloc, RT_BUF_UNLIMITED);
	if (rt_content_join(&joined, now, r->content))
		rt_buf_add_str(out, rt_buf_str(&joined));
	else
		rt_json_add_string(out, rt_buf_str(&joined));
	st = joined.status == RT_OK && out->status == RT_OK
		     ? RT_OK
		     : rt_fail(err, RT_NOMEM, "out of memory");
	rt_buf_deinit(&joined);
	return st;
}

/* A body for the request, which keeps what else the reply so far says of itself. */
static rt_status
fresh_body(rt_change *c, const rt_request *r, const rt_slot *old, rt_effect_slot *out,
	   rt_error *err)
{
	const rt_alloc *alloc = c->engine->alloc;
	bool joins = r->join == RT_YES;
	rt_json_doc *fields = NULL, *given = NULL, *whole = NULL;
	rt_buf bytes, text, joined;
	rt_request merged;
	rt_body body;
	rt_status st;

	if ((old->flags & RT_SLOT_RICH) == 0 && !joins)
		return rt_compile_fresh(c, r, out, err);
	rt_buf_init(&text, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&joined, alloc, RT_BUF_UNLIMITED);
	st = rt_change_body_read(c, old->body, &bytes, &body, err);
	if (st == RT_OK) {
		rt_buf_add_byte(&text, '{');
		rt_body_add_fields(&text, alloc, &body, false);
		rt_buf_add_byte(&text, '}');
		st = text.status == RT_OK ? rt_json_read(alloc, rt_buf_str(&text), &fields, err)
					  : rt_fail(err, RT_NOMEM, "out of memory");
	}
	if (st == RT_OK && joins)
		st = join(c, &body, r, &joined, err);
	if (st == RT_OK) {
		rt_buf_clear(&text);
		rt_request_write(&text, r);
		st = text.status == RT_OK ? rt_json_read(alloc, rt_buf_str(&text), &given, err)
					  : rt_fail(err, RT_NOMEM, "out of memory");
	}
	if (st == RT_OK) {
		rt_buf_clear(&text);
		add_members(&text, rt_json_root(given), rt_json_root(fields), rt_buf_str(&joined));
		st = text.status == RT_OK ? rt_json_read(alloc, rt_buf_str(&text), &whole, err)
					  : rt_fail(err, RT_NOMEM, "out of memory");
	}
	if (st == RT_OK)
		st = rt_request_read(rt_json_root(whole), &merged, err);
	if (st == RT_OK)
		st = rt_compile_fresh(c, &merged, out, err);
	rt_json_free(fields);
	rt_json_free(given);
	rt_json_free(whole);
	rt_buf_deinit(&text);
	rt_buf_deinit(&joined);
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

/* The reply that `into` names gets another body; slot, role and time stay, and
 * every field that the request does not give. */
static rt_status
continue_reply(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_effect_slot fresh, slot;
	rt_slot old;
	size_t at;
	rt_status st = rt_compile_find(c, r->into, &at, &old, err);

	if (st == RT_OK)
		st = fresh_body(c, r, &old, &fresh, err);
	if (st == RT_OK)
		st = rt_change_name(c, &old, &slot, err);
	if (st != RT_OK)
		return st;
	/* the entry that was made for the body is not used */
	c->bodies[c->body_count - 1].entry = old.entry;
	c->next_entry = fresh.slot.entry;
	slot.slot.body = fresh.slot.body;
	slot.slot.size = fresh.slot.size;
	slot.slot.flags = (old.flags & ~(uint32_t)RT_SLOT_RICH) |
			  (fresh.slot.flags & (uint32_t)RT_SLOT_RICH);
	if (r->by_hand == RT_YES)
		slot.slot.flags |= RT_SLOT_EDITED;
	st = rt_change_splice(c, c->place.disc, c->place.take, at, 1, &slot, 1, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, old.entry, err);
	return st;
}

rt_status
rt_op_entry_reply(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	rt_effect_slot fresh;
	rt_slot question;
	size_t at = 0;
	rt_status st = RT_OK;

	if (r->into.ptr != NULL) {
		if (r->after.ptr != NULL || r->fork != RT_UNSET || r->id.ptr != NULL)
			return rt_fail(err, RT_USAGE,
				       "\"into\" goes without \"after\", \"fork\" and \"id\"");
		st = continue_reply(c, r, err);
		return st == RT_OK ? rt_compile_given_prompt(c, r, err) : st;
	}
	if (r->join != RT_UNSET || r->by_hand != RT_UNSET)
		return rt_fail(err, RT_USAGE, "\"%s\" goes with \"into\" alone",
			       r->join != RT_UNSET ? "join" : "by_hand");
	if (r->after.ptr == NULL)
		return rt_fail(err, RT_USAGE, "say what it answers (\"after\"), or \"into\"");
	if (!rt_str_is_null(r->after)) {
		st = rt_compile_find(c, r->after, &at, &question, err);
		at++;
	}
	if (st == RT_OK)
		st = rt_change_disc(c, &disc, err);
	if (st == RT_OK)
		st = rt_compile_fresh(c, r, &fresh, err);
	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, c->place.take);
	if (r->fork == RT_YES && at < rt_seq_count(take->slots))
		st = rt_compile_fork(c, at, err);
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, at, 0, &fresh, 1, err);
	if (st == RT_OK)
		st = rt_compile_given_prompt(c, r, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, fresh.slot.entry, err);
	return st;
}
