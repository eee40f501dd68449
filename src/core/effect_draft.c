/* SPDX-License-Identifier: MIT
 *
 * The draft of a project that an effect changes: copies of the project, and of the discussion and
 * the take in question, which become the next project when it is closed. Also changes to sequences
 * that are used as maps. */
#include "core/effect_impl.h"

/* ---- pairs: sequences used as maps ---- */

rt_status
rt_effect_pair_set(const rt_seq **map, rt_slot pair, rt_error *err)
{
	const rt_seq *next;
	bool found;
	size_t at;
	rt_status st = rt_seq_find(*map, pair.key, &at, &found, NULL, err);

	if (st == RT_OK)
		st = rt_seq_splice(*map, at, found, &pair, 1, &next, err);
	if (st != RT_OK)
		return st;
	rt_seq_unref(*map);
	*map = next;
	return RT_OK;
}

rt_status
rt_effect_pair_drop(const rt_seq **map, uint64_t key, rt_error *err)
{
	const rt_seq *next;
	bool found;
	size_t at;
	rt_status st = rt_seq_find(*map, key, &at, &found, NULL, err);

	if (st != RT_OK || !found)
		return st;
	st = rt_seq_splice(*map, at, 1, NULL, 0, &next, err);
	if (st != RT_OK)
		return st;
	rt_seq_unref(*map);
	*map = next;
	return RT_OK;
}

/* ---- the draft ---- */

void
rt_effect_draft_deinit(rt_effect_draft *d)
{
	if (!d->is_own_take)
		rt_object_unref(d->take);
	if (!d->is_own_disc)
		rt_object_unref(d->disc);
	if (!d->in_place)
		rt_object_unref(d->project);
	memset(d, 0, sizeof(*d));
}

rt_status
rt_effect_draft_open(rt_effect_draft *d, const rt_project *project, bool in_place,
		     uint32_t disc_number, rt_error *err)
{
	const rt_disc *disc;
	rt_status st;

	memset(d, 0, sizeof(*d));
	d->in_place = in_place;
	if (in_place)
		d->project = (rt_project *)(uintptr_t)project;
	else if (rt_project_copy(project, &d->project) != RT_OK)
		return rt_effect_nomem(err);
	if (disc_number == 0)
		return RT_OK;
	d->disc = in_place ? rt_project_own_disc(d->project, disc_number) : NULL;
	d->is_own_disc = d->disc != NULL;
	if (d->is_own_disc)
		return RT_OK;
	st = rt_project_disc(project, disc_number, &disc, err);
	if (st == RT_NOT_FOUND)
		return rt_fail(err, RT_CORRUPT, "the log refers to discussion d%u, which does not exist",
			       disc_number);
	if (st == RT_OK && rt_disc_copy(disc, &d->disc) != RT_OK)
		st = rt_effect_nomem(err);
	return st;
}

rt_status
rt_effect_draft_take(rt_effect_draft *d, uint32_t number, rt_error *err)
{
	const rt_take *take = rt_disc_take(d->disc, number);

	if (take == NULL)
		return rt_fail(err, RT_CORRUPT, "the log refers to take t%u of d%u, which does not exist",
			       number, d->disc->number);
	d->take = d->is_own_disc ? rt_vec_own(d->disc->takes, number - 1) : NULL;
	d->is_own_take = d->take != NULL;
	if (d->is_own_take)
		return RT_OK;
	return rt_take_copy(take, &d->take) == RT_OK ? RT_OK : rt_effect_nomem(err);
}

rt_status
rt_effect_draft_close(rt_effect_draft *d, const rt_project **out, rt_error *err)
{
	if (d->take != NULL)
		d->take->row = d->project->seq + 1;
	if (d->take != NULL && !d->is_own_take &&
	    rt_vec_put(&d->disc->takes, d->take->number - 1, d->take) != RT_OK)
		return rt_effect_nomem(err);
	if (d->disc != NULL && !d->is_own_disc &&
	    rt_project_set_disc(d->project, d->disc) != RT_OK)
		return rt_effect_nomem(err);
	*out = d->project;
	d->project = NULL;
	return RT_OK;
}
