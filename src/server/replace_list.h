/* SPDX-License-Identifier: MIT
 *
 * Replace list: from the entries that a take has and the entries that somebody wants it to have
 * to the operations between the two. So a list that is sent back whole (POST /api/session)
 * is not a new list: what stays keeps its id, its revisions and its fields.
 *
 * What stays is found in this order:
 *
 *   1. by id, where the wanted entry names one that the take has
 *   2. without an id: by equal role and content, and time where one is given. First those
 *      that are alone with theirs, then what stands beside something found already, then
 *      the rest in order (P. Heckel, "A technique for isolating differences between files",
 *      1978). What stands at another place than before moves, and as few do as can.
 *   3. without an id, and beside something found: the entry that stood there, when its time
 *      is the one given, or its role where no time is given. Its text was edited.
 *
 * What a wanted entry does not mention stays as it is: {"id":"k3f9"} is the entry as it was.
 * A time, a kind, or thoughts that differ cannot be edited; such an entry is deleted, and
 * another with a new id stands in its place.
 *
 * Pure functions. O(n log n) comparisons. */
#ifndef RT_SERVER_REPLACE_LIST_H
#define RT_SERVER_REPLACE_LIST_H

#include "codec/request_json.h"

/* Was this id ever an entry's? Then no new entry can have it. */
typedef bool (*rt_id_used_fn)(void *ctx, rt_str id);

typedef struct rt_replace_list_counts {
	size_t added, edited, deleted,
		moved; /* entries; edited: text, role, fields, label, muted */
	size_t shown;  /* entries that are collapsed, or read, otherwise */
} rt_replace_list_counts;

typedef struct rt_replace_plan {
	const rt_request *requests; /* to be carried out as one step */
	size_t count;
	rt_replace_list_counts counts;
} rt_replace_plan;

/* current: the entries as rt_view_show has them. wanted: an array of entries in that shape,
 * each with whatever it wants to say: id, role, content, ts, kind, muted, collapsed,
 * read_mode, label, and further fields. A new entry keeps an id that it names where is_used
 * (with ctx; may be NULL) says that nobody has it.
 * The requests live in the scope and borrow from both lists. Fails the scope with RT_USAGE where
 * wanted is no such list, with the position that is meant. */
rt_replace_plan rt_replace_list_plan(rt_scope *scope, yyjson_val *current, yyjson_val *wanted,
				     rt_id_used_fn is_used, void *ctx);

#endif
