/* SPDX-License-Identifier: MIT
 *
 * Operations on the catalogue of discussions. */
#include "core/setting.h"
#include "ops/ops.h"

/* The present discussion that an operation names; NULL after a failure. */
static const rt_cell *
named_disc(rt_change *c, rt_str name)
{
	rt_place place = {0, 0};
	const rt_cell *cell;

	if (name.size == 0)
		rt_scope_fail_advise(c->scope, RT_NOT_FOUND, "see: retake ls",
				     "no discussion \"\"");
	RT_TRY(c->scope, rt_resolve_place(c->now, name, RT_STR(""), &place, &c->scope->error));
	if (!rt_change_ok(c))
		return NULL;
	cell = rt_project_cell(c->now, place.disc);
	if (cell->present)
		return cell;
	rt_scope_fail(c->scope, RT_NOT_FOUND,
		      "discussion \"%.*s\" was deleted; undo restores it",
		      RT_STR_ARG(name));
	c->scope->error.about = RT_ABOUT_DELETED;
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

/* The field of the project with the discussion that track.toggle left for a track. */
#define TRACK_FROM "track_from"

static rt_str
track_of(rt_change *c, uint32_t disc)
{
	rt_str json = rt_change_field(c, disc, 0, RT_STR("track"), 0);

	return json.ptr != NULL ? rt_json_str(rt_json_parse(c->scope, json)) : RT_STR("");
}

/* The discussion that was changed last, of the track (empty: of any), or of no track; 0: none. */
static uint32_t
newest_disc(rt_change *c, bool of_track, rt_str track)
{
	uint32_t best = 0, discs = (uint32_t)rt_project_disc_count(c->now);
	uint64_t best_step = 0;

	for (uint32_t i = 1; i <= discs && rt_change_ok(c); i++) {
		const rt_disc *disc = NULL;
		rt_str own;

		if (!rt_project_cell(c->now, i)->present ||
		    RT_TRY(c->scope, rt_project_disc(c->now, i, &disc, &c->scope->error)) != RT_OK)
			continue;
		own = track_of(c, i);
		if ((own.size > 0) == of_track &&
		    (!of_track || track.size == 0 || rt_str_eq(own, track)) &&
		    (best == 0 || disc->history.last_step > best_step)) {
			best = i;
			best_step = disc->history.last_step;
		}
	}
	return best;
}

/* Back from a track: to the discussion from which it was entered, or else to one of no track. */
static uint32_t
disc_to_return_to(rt_change *c)
{
	uint64_t from = 0;
	uint32_t newest;

	if (!rt_setting_count(rt_change_field(c, 0, 0, RT_STR(TRACK_FROM), 0), &from) ||
	    from > rt_project_disc_count(c->now) || from == c->now->active ||
	    !rt_project_cell(c->now, (uint32_t)from)->present)
		from = 0;
	if (from != 0 && track_of(c, (uint32_t)from).size == 0)
		return (uint32_t)from;
	newest = newest_disc(c, false, RT_STR(""));
	return newest != 0 ? newest : (uint32_t)from;
}

void
rt_op_track_toggle(rt_change *c, const rt_request *r)
{
	rt_str here = track_of(c, c->now->active);
	bool to_track = here.size == 0 || (r->track.size > 0 && !rt_str_eq(here, r->track));
	uint32_t to = to_track ? newest_disc(c, true, r->track) : disc_to_return_to(c);

	if (to == 0 && !to_track)
		rt_scope_fail(c->scope, RT_NOT_FOUND,
			      "there is no discussion to return to: all are bound to a track, "
			      "and this one was not reached from another");
	else if (to == 0 && r->track.size > 0)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no discussion is bound to the track \"%.*s\"",
			      RT_STR_ARG(r->track));
	else if (to == 0)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no discussion is bound to a track");
	if (!rt_change_ok(c))
		return;
	/* from one track to another: the way back is still the one to the project, if there is
	 * one */
	if (to_track && (here.size == 0 || disc_to_return_to(c) == 0))
		rt_change_set_number(c, 0, 0, TRACK_FROM, c->now->active);
	rt_result_disc(c, rt_cell_name(rt_project_cell(c->now, to)));
	rt_change_set_number(c, 0, 0, "active", to);
}

void
rt_op_discussion_rename(rt_change *c, const rt_request *r)
{
	const rt_cell *cell = named_disc(c, r->target);

	rt_check_name(c, r->name);
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
