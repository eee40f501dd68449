/* SPDX-License-Identifier: MIT
 *
 * Replace list: the operations that turn the entries of a take into a wanted list. So a list that
 * is sent back whole (POST /api/session) is not a new list: entries that stay keep their ids,
 * revisions and fields.
 *
 * Entries that stay are found in this order:
 *
 *   1. by id, if the wanted entry names one that the take has
 *   2. without an id: by equal role and content, and time where one is given. First those that
 *      are unique, then neighbours of entries found already, then the rest in order (P. Heckel,
 *      "A technique for isolating differences between files", 1978). Entries at another place
 *      than before are moved, as few as possible.
 *   3. without an id, next to an entry found already: the entry that was there, when its time is
 *      the one given, or its role if no time is given. Its text was edited.
 *
 * Members that a wanted entry does not mention stay: {"id":"k3f9"} is the unchanged entry. A time,
 * a kind, or thoughts that differ cannot be edited; such an entry is deleted and replaced by one
 * with a new id.
 *
 * Pure functions. O(n log n) comparisons. */
#ifndef RT_SERVER_REPLACE_LIST_H
#define RT_SERVER_REPLACE_LIST_H

#include "codec/request_json.h"

/* Was this id ever used? Then no new entry can have it. */
typedef bool (*rt_id_used_fn)(void *ctx, rt_str id);

typedef struct rt_replace_list_counts {
	size_t added, edited, deleted,
		moved; /* entries; edited: text, role, fields, label, muted */
	size_t shown;  /* entries whose collapsed or read_mode differs */
} rt_replace_list_counts;

typedef struct rt_replace_plan {
	const rt_request *requests; /* to be executed as one step */
	size_t count;
	rt_replace_list_counts counts;
} rt_replace_plan;

/* current: the entries as rt_view_show has them. wanted: an array of entries in that shape, each
 * with any of id, role, content, ts, kind, muted, collapsed, read_mode, label, and further fields.
 * A new entry keeps its id if is_used (with ctx; may be NULL) returns that it is free.
 * The requests live in the scope and borrow from both lists. Fails the scope with RT_USAGE and the
 * position where wanted is malformed. */
rt_replace_plan rt_replace_list_plan(rt_scope *scope, yyjson_val *current, yyjson_val *wanted,
				     rt_id_used_fn is_used, void *ctx);

#endif
