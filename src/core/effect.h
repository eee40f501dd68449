/* SPDX-License-Identifier: MIT
 *
 * Effect: what an operation does to the value. There are three kinds. Each includes the previous
 * state, so that it can be reverted:
 *
 *   splice   a run of slots in a take is replaced by another     (append, insert, edit,
 *            delete, role, mute, split, merge, clear, truncate; move and graft are two)
 *   new      creates a take from the beginning of another, or a discussion from a take (with
 *            the labels of its entries);
 *            reverted, it stays but is no longer present
 *   set      sets a field of a take, a discussion or the project
 *
 * The fields that `set` can set:
 *
 *   disc  sub   key         value (JSON text; ptr NULL: absent)
 *   0     0     "active"    number of the active discussion
 *   0     n     "name"      a string: the name of discussion n
 *   0     n     "present"   true, or absent: is discussion n in the catalogue
 *   0     0     other       a field of the project ("roles", "setting.model" …)
 *   d     0     "active"    number of the active take
 *   d     0     "head"      absent: at the tip; 0: before the first; or an entry number
 *   d     0     "label"     a string: the label of `entry`; absent: none
 *   d     t     "name", "present", "git_commit"    of take t
 *   d     0     other       a field of the discussion ("prompt", "files" …)
 *
 * Effects contain no order keys and no table numbers, so the same effects give the same value on
 * every store and in every process. Only effects are versioned. */
#ifndef RT_CORE_EFFECT_H
#define RT_CORE_EFFECT_H

#include "core/project.h"

typedef enum rt_effect_kind { RT_EFFECT_SPLICE = 1, RT_EFFECT_NEW, RT_EFFECT_SET } rt_effect_kind;

/* A slot with its names as text, as it is stored in the log. */
typedef struct rt_effect_slot {
	rt_slot slot; /* key, role and kind are not used */
	rt_str role, kind;
	rt_str id; /* a given id, on the first appearance of an entry; else empty */
} rt_effect_slot;

typedef struct rt_effect {
	rt_effect_kind kind;
	uint32_t disc; /* the document; 0: the project's own */
	uint32_t sub;  /* take number; in the project's document a discussion number */
	/* splice */
	uint64_t at;
	rt_effect_slot *removed, *added;
	size_t removed_count, added_count;
	/* new: sub becomes slots 0 .. count-1 of from_take (of from_disc in the project's
	 * document; 0: empty) */
	uint32_t from_disc, from_take;
	uint64_t count;
	rt_str name;       /* of the take; of a discussion */
	rt_str take_name;  /* of a new discussion's first take */
	rt_str git_commit; /* empty: none */
	/* set */
	rt_str key;
	uint32_t entry;
	rt_str before, after; /* JSON text; ptr NULL: absent */
} rt_effect;

/* Applies one effect, or (back) reverts it. Cannot fail on effects that were compiled for this
 * value, except with RT_NOMEM or an error of the node source. RT_CORRUPT: the effect does not fit
 * and nothing was changed. O(log n + slots named). */
RT_CHECKED rt_status rt_effect_apply(const rt_project *project, const rt_effect *effect, bool back,
				     const rt_project **out, rt_error *err);

/* The same for a reference of the caller's, which is replaced. A value with one reference is
 * changed in place, so after a failure it can only be released. */
RT_CHECKED rt_status rt_effect_advance(const rt_project **now, const rt_effect *effect, bool back,
				       rt_error *err);

/* Applies all effects in order, or (back) from the last to the first. */
RT_CHECKED rt_status rt_effects_apply(const rt_project *project, const rt_effect *effects,
				      size_t count, bool back, const rt_project **out,
				      rt_error *err);

/* Sets the RT_VIEW_ flags of an entry; not part of the history. */
RT_CHECKED rt_status rt_project_set_view(const rt_project *project, uint32_t entry, unsigned flags,
					 const rt_project **out, rt_error *err);

#endif
