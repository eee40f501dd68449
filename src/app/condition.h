/* SPDX-License-Identifier: MIT
 *
 * Condition: the precondition of a change, about the state that was read before. It is checked in
 * the transaction of the change (rt_apply_context.check), so that no other change can intervene.
 *
 * A state that was read is named by a tag, which is an ETag over HTTP (RFC 9110, 8.8.3). An equal
 * tag is an equal state, in the current history of this store (the epoch is in it).
 *
 *   "9f3a6c01.d1.42.40"       a discussion: the steps that are current in it and in the
 *                             project, whose settings, roles and names it is shown with
 *   "9f3a6c01.p.40"           the project itself: settings, roles, the catalogue; for changes
 *                             of these that name no discussion
 *   "9f3a6c01.e.7.9b1f…"      an entry in a take: its number, a hash of the slot and
 *                             the label
 *
 * The display state of an entry (collapsed, read mode) is not history and not in a tag.
 *
 * Threads: tags from any; a condition belongs to the change. */
#ifndef RT_APP_CONDITION_H
#define RT_APP_CONDITION_H

#include "log/engine.h"

enum { RT_ETAG_ROOM = 96 };

void rt_etag_disc(uint64_t epoch, const rt_project *project, const rt_disc *disc,
		  char out[RT_ETAG_ROOM]);
void rt_etag_project(uint64_t epoch, const rt_project *project, char out[RT_ETAG_ROOM]);
/* A hash of the visible parts of an entry, without its position. */
uint64_t rt_entry_fingerprint(const rt_project *project, const rt_disc *disc, const rt_slot *slot);
void rt_etag_entry(uint64_t epoch, const rt_project *project, const rt_disc *disc,
		   const rt_slot *slot, char out[RT_ETAG_ROOM]);

/* Zero: no precondition. Borrows everything. */
typedef struct rt_condition {
	rt_engine *engine;
	/* Subject of the change. */
	rt_str disc, take; /* addresses; empty: the active ones */
	rt_str entry;      /* an address; empty: none */
	/* Comma-separated tags, one of which must match; "*": the subject must exist. ptr NULL: any
	 * state is accepted. */
	rt_str tags;
	/* A take whose entries have to be the same ones, in the same state; or NULL. */
	const rt_take *list;
	uint32_t list_disc; /* its discussion */
	bool is_list_outdated; /* set by rt_condition_check */
} rt_condition;

/* rt_apply_check_fn; condition is a rt_condition. RT_CONFLICT, with what differs; RT_USAGE: tags is
 * not such a list. O(tags), and O(1) for a list that is unchanged. */
RT_CHECKED rt_status rt_condition_check(void *condition, const rt_project *now, rt_error *err);

#endif
