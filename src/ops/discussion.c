/* SPDX-License-Identifier: MIT
 *
 * Operations on the catalogue of discussions. */
#include "ops/ops.h"

/* The present discussion that an operation names; NULL after a failure. */
static const rt_cell *
named_disc(rt_change *c, rt_str name)
{
	rt_place place = {0, 0};
	const rt_cell *cell;

	if (name.size == 0)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no discussion \"\"; see: retake ls");
	RT_TRY(c->scope, rt_resolve_place(c->now, name, RT_STR(""), &place, &c->scope->error));
	if (!rt_change_ok(c))
		return NULL;
	cell = rt_project_cell(c->now, place.disc);
	if (cell->present)
		return cell;
	rt_scope_fail(c->scope, RT_NOT_FOUND,
		      "discussion \"%.*s\" is not in the catalogue; undo brings it back",
		      RT_STR_ARG(name));
	return NULL;
}

/* An empty discussion, which becomes active. */
static void
make_disc(rt_change *c, rt_str name)
{
	rt_effect e = {.kind = RT_EFFECT_NEW,
		       .sub = (uint32_t)rt_project_disc_count(c->now) + 1,
		       .name = rt_scope_copy(c->scope, name)};

	e.take_name = e.name;
	rt_change_emit(c, &e);
	rt_change_set_number(c, 0, 0, "active", e.sub);
	rt_result_disc(c, name);
}

void
rt_op_discussion_new(rt_change *c, const rt_request *r)
{
	rt_check_disc_name(c, r->name);
	make_disc(c, r->name);
}

void
rt_op_discussion_switch(rt_change *c, const rt_request *r)
{
	const rt_cell *cell = named_disc(c, r->target);

	if (cell == NULL)
		return;
	rt_result_disc(c, rt_cell_name(cell));
	rt_change_set_number(c, 0, 0, "active", cell->number);
}

/* Of the discussions on the other side, the one that was changed last. */
void
rt_op_track_toggle(rt_change *c, const rt_request *r)
{
	uint32_t best = 0, discs = (uint32_t)rt_project_disc_count(c->now);
	uint64_t best_step = 0;
	bool to_track = true;

	/* the active one first: it tells which side is the other one */
	for (uint32_t i = 0; i <= discs && rt_change_ok(c); i++) {
		const rt_cell *cell = rt_project_cell(c->now, i == 0 ? c->now->active : i);
		const rt_disc *disc = NULL;
		rt_str track;
		bool has_track, is_named;

		if (!cell->present ||
		    RT_TRY(c->scope, rt_project_disc(c->now, cell->number, &disc,
						     &c->scope->error)) != RT_OK)
			continue;
		track = rt_change_field(c, cell->number, 0, RT_STR("track"), 0);
		has_track = track.ptr != NULL;
		is_named = r->track.size == 0 ||
			   (has_track && rt_str_eq(rt_json_str(rt_json_parse(c->scope, track)),
						   r->track));
		if (i == 0)
			to_track = !has_track || !is_named;
		else if (has_track == to_track && (!to_track || is_named) &&
			 (best == 0 || disc->history.last_step > best_step)) {
			best = i;
			best_step = disc->history.last_step;
		}
	}
	if (best == 0 && !to_track)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "every discussion is bound to a track");
	else if (best == 0 && r->track.size > 0)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no discussion is bound to the track \"%.*s\"",
			      RT_STR_ARG(r->track));
	else if (best == 0)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no discussion is bound to a track");
	if (!rt_change_ok(c))
		return;
	rt_result_disc(c, rt_cell_name(rt_project_cell(c->now, best)));
	rt_change_set_number(c, 0, 0, "active", best);
}

void
rt_op_discussion_rename(rt_change *c, const rt_request *r)
{
	const rt_cell *cell = named_disc(c, r->target);

	if (r->name.size == 0)
		rt_scope_fail(c->scope, RT_USAGE, "\"name\" is empty");
	if (!rt_change_ok(c))
		return;
	rt_result_disc(c, r->name);
	if (rt_project_disc_named(c->now, r->name) == cell->number)
		return;
	rt_check_disc_name(c, r->name);
	rt_change_set_text(c, 0, cell->number, "name", 0, r->name);
}

void
rt_op_discussion_delete(rt_change *c, const rt_request *r)
{
	const rt_cell *cell = named_disc(c, r->target);
	uint32_t number, next;

	if (cell == NULL)
		return;
	number = cell->number;
	next = rt_project_first(c->now, number);
	if (next == 0)
		rt_scope_fail(c->scope, RT_REFUSED,
			      "\"%.*s\" is the last discussion; it cannot be deleted",
			      RT_STR_ARG(rt_cell_name(cell)));
	if (next != 0 && c->now->active == number) {
		rt_result_disc(c, rt_cell_name(rt_project_cell(c->now, next)));
		rt_change_set_number(c, 0, 0, "active", next);
	}
	rt_change_clear(c, 0, number, "present");
}

void
rt_op_project_reset(rt_change *c, const rt_request *r)
{
	size_t discs = rt_project_disc_count(c->now);

	(void)r;
	for (size_t i = 1; i <= discs && rt_change_ok(c); i++)
		rt_change_clear(c, 0, (uint32_t)i, "present");
	while (rt_change_ok(c) && rt_fields_count(c->now->fields) > 0)
		rt_change_set(c, 0, 0, rt_fields_name(c->now->fields, 0), 0, (rt_str){NULL, 0});
	make_disc(c, RT_STR("main"));
}
