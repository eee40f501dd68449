/* SPDX-License-Identifier: MIT
 *
 * Ops: the effects that each operation adds to a change (log/change.h). Every row of core/op.def
 * has a function here, in the file of its noun:
 *
 *   entry.c  entry_reply.c  entry_split.c  take.c  discussion.c  setting.c
 *
 * Requests have been checked against the table before, and their place is known. */
#ifndef RT_OPS_OPS_H
#define RT_OPS_OPS_H

#include "codec/content.h"
#include "log/change.h"

#define OP(id, function, ...) void rt_op_##function(rt_change *c, const rt_request *r);
#include "core/op.def"
#undef OP

/* Executes one request that is a step: its function, then the head of each discussion that it
 * changed (C10). */
void rt_compile(rt_change *c, const rt_request *r);

/* ---- places ---- */

/* An entry in a take. After a failure everything is 0. A position found before the first effect
 * of an operation is valid until the operation returns (rt_compile keeps the value), one found
 * later until the next effect. */
typedef struct rt_position {
	const rt_disc *disc;
	const rt_take *take;
	size_t at;
	uint32_t entry;
	rt_effect_slot slot;
} rt_position;

/* The request's take; at is the number of its entries. */
rt_position rt_find_take(rt_change *c);
/* An entry of the request's take. */
rt_position rt_find_entry(rt_change *c, rt_str address);
/* An entry of the request's discussion: in its take, or in the one of rt_take_holding. */
rt_position rt_find_anywhere(rt_change *c, rt_str address);
/* Where a request's before or after points to in its take. */
size_t rt_find_gap(rt_change *c, const rt_request *r);

/* ---- entries ---- */

/* A new entry as a request describes it: role, kind, id, time; every field that the table does not
 * list for the operation is kept with its content. */
rt_effect_slot rt_new_entry(rt_change *c, const rt_request *r);
/* The same without a number and a body. */
rt_effect_slot rt_describe_entry(rt_change *c, const rt_request *r);
/* A new entry without a body; id may be empty. */
rt_effect_slot rt_new_slot(rt_change *c, rt_str role, rt_str kind, rt_str id);
/* Give a slot a body with this content: text, or (is_json) an array of blocks; fields and skip
 * as for rt_body_write. */
void rt_give_content(rt_change *c, rt_effect_slot *slot, rt_str content, bool is_json,
		     yyjson_val *fields, const char *const *skip);
/* Give it a finished body with content of the given size. */
void rt_give_body(rt_change *c, rt_effect_slot *slot, rt_str body, size_t content_size);
/* The content of a request as text, or (*out_json) as JSON text. */
rt_str rt_request_content(rt_change *c, const rt_request *r, bool *out_json);
/* Is this the content of that body? */
bool rt_body_has_content(rt_change *c, const rt_body *body, rt_str content, bool is_json);
/* Names of fields that are not further fields of an entry, ended by NULL. */
typedef struct rt_known_fields {
	const char *names[24];
} rt_known_fields;
rt_known_fields rt_fields_of_op(const rt_op *op);

/* ---- the lists of files of a take (take_files.c) ---- */
#define RT_TAKE_FILES "take_files" /* the field of a discussion */
/* The lists of a take as a JSON object. */
rt_str rt_take_files(rt_change *c, const rt_disc *disc, uint32_t take);
/* Make lists as rt_take_files returns them those of a discussion. */
void rt_take_files_give(rt_change *c, uint32_t disc, rt_str lists);
/* Before another take becomes active: the lists of the active one are kept, those of the take `like`
 * become the discussion's. */
void rt_take_files_switch(rt_change *c, uint32_t disc, uint32_t like);
/* Around a change of the lists of the request's discussion. */
rt_str rt_take_files_begin(rt_change *c);
void rt_take_files_end(rt_change *c, rt_str was);
/* After a revert, which may have changed the lists of any discussion. */
void rt_take_files_reverted(rt_change *c);

/* The git commit that a request records: its own, else that of the caller's work tree; empty:
 * none. */
rt_str rt_present_commit(rt_change *c, const rt_request *r);
/* Adds an entry at the head of the request's take, with a branch if necessary (C9). aside: in a new
 * take with everything up to the head; the active take and its head stay. */
void rt_append_entry(rt_change *c, const rt_effect_slot *slot, bool aside);
/* Replaces one slot by another. */
void rt_replace_slot(rt_change *c, const rt_position *spot, const rt_effect_slot *slot);
/* A new take out of the first `at` slots of the request's, which becomes active with the head at
 * its tip; the request continues there. */
void rt_fork_take(rt_change *c, size_t at);
/* The same, but the active take and its head stay. */
void rt_fork_aside(rt_change *c, size_t at);
/* The working prompt given with an entry: the model's own, not an edit (C46). */
void rt_set_given_prompt(rt_change *c, const rt_request *r);

/* ---- names ---- */

/* The base name of a discussion's numbered takes: up to the first "_take_". */
rt_str rt_take_base(rt_str name);
/* Fails if a name is empty. */
void rt_check_name(rt_change *c, rt_str name);
/* Fails if a given name is empty, or in use by a discussion. */
void rt_check_disc_name(rt_change *c, rt_str name);
/* Sets it to a text, or clears it if that is empty. */
void rt_set_or_clear(rt_change *c, uint32_t disc, const char *key, uint32_t entry, rt_str text);

/* ---- results ---- */

void rt_result_entry(rt_change *c, uint32_t entry);
void rt_result_take(rt_change *c, rt_str name);
void rt_result_disc(rt_change *c, rt_str name);

#endif
