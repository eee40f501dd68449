/* SPDX-License-Identifier: MIT
 *
 * entry.reply: what a model said becomes an entry. It stands right behind what it answers,
 * also when others have gone on writing at the end of the take meanwhile; so a reply needs
 * no place held for it while it arrives (decision 10). It moves nobody: which take is in
 * view and where the head stands stay, but for a fork. */
#include "engine/compile.h"

/* The reply that `into` names gets another body; slot, role and time stay. */
static rt_status
continue_reply(rt_change *c, yyjson_val *request, rt_error *err)
{
	rt_effect_slot fresh, slot;
	rt_slot old;
	size_t at;
	rt_status st = rt_compile_find(c, request, "into", &at, &old, err);

	if (st == RT_OK)
		st = rt_compile_fresh(c, request, &fresh, err);
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
	st = rt_change_splice(c, c->place.disc, c->place.take, at, 1, &slot, 1, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, old.entry, err);
	return st;
}

rt_status
rt_compile_entry_reply(rt_change *c, yyjson_val *request, rt_error *err)
{
	yyjson_val *after = rt_json_get(request, "after");
	const rt_disc *disc;
	const rt_take *take;
	rt_effect_slot fresh;
	rt_slot question;
	size_t at = 0;
	rt_status st = RT_OK;

	if (rt_json_get(request, "into") != NULL) {
		if (after != NULL || rt_json_get(request, "fork") != NULL ||
		    rt_json_get(request, "id") != NULL)
			return rt_fail(err, RT_USAGE,
				       "\"into\" goes without \"after\", \"fork\" and \"id\"");
		st = continue_reply(c, request, err);
		return st == RT_OK ? rt_compile_given_prompt(c, request, err) : st;
	}
	if (after == NULL)
		return rt_fail(err, RT_USAGE, "say what it answers (\"after\"), or \"into\"");
	if (!yyjson_is_null(after)) {
		st = rt_compile_find(c, request, "after", &at, &question, err);
		at++;
	}
	if (st == RT_OK)
		st = rt_change_disc(c, &disc, err);
	if (st == RT_OK)
		st = rt_compile_fresh(c, request, &fresh, err);
	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, c->place.take);
	if (yyjson_is_true(rt_json_get(request, "fork")) && at < rt_seq_count(take->slots))
		st = rt_compile_fork(c, at, err);
	if (st == RT_OK)
		st = rt_change_splice(c, c->place.disc, c->place.take, at, 0, &fresh, 1, err);
	if (st == RT_OK)
		st = rt_compile_given_prompt(c, request, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, fresh.slot.entry, err);
	return st;
}
