/* SPDX-License-Identifier: MIT
 *
 * Request: one operation with its arguments, as a value.
 *
 * All operations share one struct; the table of operations (core/op.def) says which members each
 * of them uses, which are required, and what they are called in JSON. A member that is not set
 * (all bytes 0) is absent. Programs fill in a request directly:
 *
 *	rt_request r = {.op = RT_OP_ENTRY_EDIT, .entry = RT_STR(":2"), .content.text = text};
 *
 * JSON is decoded into requests where it enters (codec/request_json.h). A request borrows
 * everything that it points to. Plain data. */
#ifndef RT_CORE_REQUEST_H
#define RT_CORE_REQUEST_H

#include "core/op.h"

typedef struct yyjson_val yyjson_val;

/* A text, or blocks of content as a JSON array (codec/content.h). */
typedef struct rt_content {
	rt_str text;        /* where blocks is NULL; ptr NULL: there is no content */
	yyjson_val *blocks; /* an array, or NULL; borrowed */
} rt_content;

typedef enum rt_tristate { RT_UNSET, RT_NO, RT_YES } rt_tristate;

typedef struct rt_number {
	uint64_t value;
	bool given;
} rt_number;

/* A point in time as it was written: ISO 8601, or (is_number) an epoch number. */
typedef struct rt_time_text {
	rt_str text; /* ptr NULL: absent */
	bool is_number;
} rt_time_text;

/* JSON's null, for fields that may be null: an empty text that is present. */
extern const char rt_null_text[1];
#define RT_NULL_STR ((rt_str){rt_null_text, 0})
static inline bool
rt_str_is_null(rt_str s)
{
	return s.ptr == rt_null_text;
}

enum { RT_COMMIT_MAX = 128 }; /* bytes of a git commit */

typedef struct rt_request {
	rt_op_id op;
	rt_str discussion, take; /* its discussion and take; empty: the caller's default */
	/* recorded with the takes whose entries it changes; absent: as the engine finds out
	 * (rt_engine_options); null or empty: none is recorded */
	rt_str git_commit;

	/* addresses of entries */
	rt_str entry, before, after, into, from, to;
	rt_str target; /* the discussion or take that an operation is about */
	rt_str from_take;
	/* of an entry */
	rt_str role, kind, id, prompt, flight;
	rt_content content;
	rt_time_text ts;
	rt_tristate muted, collapsed, read_mode;
	/* of settings, takes, discussions, history */
	rt_str name, label, text, key, which, track, scope;
	yyjson_val *value, *items, *entries; /* borrowed */
	rt_number offset, pairs, count, step;
	rt_tristate everywhere, keep_blocks, all, join, by_hand, fork, aside, keep_draft;

	/* An object whose members that the operation does not know are kept with the entry (open
	 * operations) or the row of the log; or NULL. For a decoded request, its own JSON. */
	yyjson_val *source;
	/* The error of decoding it, which applying it returns; or NULL. */
	const rt_error *invalid;
} rt_request;

/* The right that it needs: that of its operation; more if it also changes the working prompt, or the
 * part of the conversation that is sent to models. */
static inline rt_right
rt_request_right(const rt_request *request)
{
	rt_right right = rt_ops[request->op].right;
	bool is_comment = request->prompt.size == 0 &&
			  (request->kind.size == 0 || rt_str_is(request->kind, "message"));

	return right == RT_RIGHT_COMMENT && !is_comment ? RT_RIGHT_EDIT : right;
}

#endif
