/* SPDX-License-Identifier: MIT
 *
 * What applying an effect consists of, shared by effect.c (new, set, and the choice of the kind),
 * effect_splice.c and effect_draft.c (the draft, and maps). */
#ifndef RT_CORE_EFFECT_IMPL_H
#define RT_CORE_EFFECT_IMPL_H

#include "core/effect.h"

/* The draft that an effect changes: copies, or parts of a project that have no other owner. */
typedef struct rt_effect_draft {
	rt_project *project;
	rt_disc *disc; /* NULL in the project's document */
	rt_take *take; /* NULL unless one is changed */
	bool in_place, is_own_disc, is_own_take; /* they are parts of it already */
} rt_effect_draft;

static inline rt_status
rt_effect_nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* Sequences used as maps: insert or replace a pair; remove one, if it exists. */
rt_status rt_effect_pair_set(const rt_seq **map, rt_slot pair, rt_error *err);
rt_status rt_effect_pair_drop(const rt_seq **map, uint64_t key, rt_error *err);

/* A draft of the project (in_place: the project itself, which is the caller's alone), and of the
 * discussion unless its number is 0. To be released with rt_effect_draft_deinit also after a
 * failure. */
rt_status rt_effect_draft_open(rt_effect_draft *d, const rt_project *project, bool in_place,
			       uint32_t disc_number, rt_error *err);
/* The take becomes part of the draft. */
rt_status rt_effect_draft_take(rt_effect_draft *d, uint32_t number, rt_error *err);
/* Stores the changed take and discussion in the project and returns it. */
rt_status rt_effect_draft_close(rt_effect_draft *d, const rt_project **out, rt_error *err);
void rt_effect_draft_deinit(rt_effect_draft *d);

/* Replaces a run of slots in a take, or (back) reverts that. */
rt_status rt_effect_splice(rt_effect_draft *d, const rt_effect *e, bool back, rt_error *err);

#endif
