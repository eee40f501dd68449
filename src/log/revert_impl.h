/* SPDX-License-Identifier: MIT
 *
 * Internals shared by the files of revert: revert.c (the step as a whole, takes, discussions, the
 * active ones), revert_entries.c (slots), revert_field.c (fields), revert_later.c (which later step
 * changed the same place), revert_group.c (the rows of a group). */
#ifndef RT_LOG_REVERT_IMPL_H
#define RT_LOG_REVERT_IMPL_H

#include "log/history.h"
#include "log/plan.h"

typedef struct rt_reverting {
	rt_change *c;
	uint64_t seq;            /* of a group: its last row */
	uint64_t first;          /* of a group: its first row; else seq */
	rt_record step;          /* of a group: with the effects of all of its rows */
	const rt_project *after; /* owned: the value right after the step; NULL: not needed yet */
	const rt_project *past;  /* owned: the value after past_count effects of the step; or
				  * NULL */
	size_t past_count;
	bool *whole;             /* for each effect that made a take or discussion: it is removed as
				  * a whole */
	rt_effect_slot *moving;  /* removed from where the step moved them, not yet inserted
				  * again */
	size_t moving_count, moving_room;
	rt_buf *note;
} rt_reverting;

/* The value after the first count effects of the step; counts decrease from call to call. NULL
 * after a failure. */
const rt_project *rt_revert_past(rt_reverting *r, size_t count);
/* A discussion or take of a value; NULL after a failure. */
const rt_disc *rt_revert_disc(rt_reverting *r, const rt_project *project, uint32_t disc);

/* A place that a step changes: an entry of a take (key.ptr NULL), a field, a whole take (neither),
 * a whole document (nor sub). */
typedef enum rt_revert_part {
	RT_REVERT_ANY,
	RT_REVERT_TEXT,
	RT_REVERT_ROLE,
	RT_REVERT_MUTE
} rt_revert_part;

#define RT_REVERT_NOWHERE UINT32_MAX /* for disc: no step is the reason */

typedef struct rt_revert_place {
	uint32_t disc, sub, entry;
	rt_revert_part part; /* of the entry */
	rt_str key;
} rt_revert_place;

/* Fail with RT_REFUSED: "cannot revert step 4: the role was changed again since, by step 9
 * (changed a role)". */
void rt_revert_refuse(rt_reverting *r, rt_revert_place place, const char *why);
/* Is a step after this one in effect that cleared the flag of the prompt, as a notice does? Also
 * where the step itself is not in effect. */
bool rt_revert_was_told(rt_reverting *r, uint32_t disc);

/* r->step was read: if it is part of a group, it becomes the whole group, and r->seq its last row. */
void rt_revert_read_group(rt_reverting *r);

/* Effect number index, a splice. */
void rt_revert_splice(rt_reverting *r, size_t index);
/* Effect number index, a field of the project or a discussion other than its places. incidental: if
 * it was changed since, it is not restored, and a note says so. */
void rt_revert_field(rt_reverting *r, size_t index, bool incidental);

#endif
