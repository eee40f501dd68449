/* SPDX-License-Identifier: MIT
 *
 * The message whose symbols are sent along. */
#include "chat/attachment.h"
#include "core/role.h"
#include "view/view_rows.h"

bool
rt_attach_has_symbols(rt_scope *s, const rt_project *value, uint32_t number)
{
	const rt_disc *disc = NULL;

	RT_TRY(s, rt_project_disc(value, number, &disc, &s->error));
	if (!rt_ok(s))
		return false;
	return rt_str_is(rt_project_setting(value, disc, "setting.symbols_sent"), "true");
}

/* The position after the last entry of the path. */
static size_t
end_of(rt_scope *s, const rt_project *value, const rt_disc *disc, const rt_take *take, uint32_t upto)
{
	size_t end = rt_seq_count(take->slots), at = 0;
	bool found = false;

	if (upto != 0) {
		RT_TRY(s, rt_take_find(value, take, upto, &at, NULL, &found, &s->error));
		return found ? at + 1 : 0;
	}
	if (take->number == disc->active)
		RT_TRY(s, rt_disc_head_at(value, disc, &end, &s->error));
	return end;
}

rt_str
rt_attach_message(rt_scope *s, rt_engine *engine, const rt_project *value, rt_place place,
		  uint32_t upto)
{
	rt_view view = {s, engine, value, place};
	rt_buf *text = rt_scope_buf(s);
	const rt_disc *disc = NULL;
	rt_slot slot;
	rt_str role;

	if (!rt_attach_has_symbols(s, value, place.disc))
		return RT_STR("");
	RT_TRY(s, rt_project_disc(value, place.disc, &disc, &s->error));
	if (!rt_ok(s))
		return RT_STR("");
	const rt_take *take = rt_disc_take(disc, place.take);

	for (size_t at = end_of(s, value, disc, take, upto); rt_ok(s) && at > 0; at--) {
		RT_TRY(s, rt_seq_copy(take->slots, at - 1, 1, &slot, &s->error));
		if (!rt_ok(s) || slot.kind != 0 || (slot.flags & RT_SLOT_MUTED) != 0)
			continue;
		RT_TRY(s, rt_project_name(value, slot.role, &role, &s->error));
		if (!rt_ok(s) || !rt_role_is_user(role))
			continue;
		const rt_body *body = rt_view_body(&view, slot.body);

		if (body != NULL)
			rt_body_add_text(text, body);
		return rt_scope_str(s, text);
	}
	return RT_STR("");
}
