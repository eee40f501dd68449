/* SPDX-License-Identifier: MIT
 *
 * What operations mean, by noun: compile_entry.c, compile_reply.c, compile_split.c,
 * compile_take.c, compile_disc.c. Each function makes the effects of one operation on c, or fails and leaves
 * c to be thrown away. A request is checked against the table before it gets here. */
#ifndef RT_OPS_COMPILE_H
#define RT_OPS_COMPILE_H

#include "log/engine_impl.h"

rt_status rt_compile_entry_append(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_insert(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_reply(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_edit(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_role(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_delete(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_move(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_mute(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_view(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_split(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_entry_merge(rt_change *c, yyjson_val *request, rt_error *err);

rt_status rt_compile_take_branch(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_take_switch(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_take_rename(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_take_delete(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_take_promote(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_take_clear(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_take_truncate(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_take_graft(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_head_move(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_label_set(rt_change *c, yyjson_val *request, rt_error *err);

rt_status rt_compile_setting_set(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_role(rt_change *c, yyjson_val *request, bool add, rt_error *err);
rt_status rt_compile_prompt_update(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_prompt_notify(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_files_set(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_track_set(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_preset(rt_change *c, rt_op_id which, yyjson_val *request, rt_error *err);
rt_status rt_compile_discussion_new(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_discussion_switch(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_discussion_rename(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_discussion_delete(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_discussion_extract(rt_change *c, yyjson_val *request, rt_error *err);
rt_status rt_compile_project_reset(rt_change *c, rt_error *err);

/* Shared: a fresh entry from a request's role, content, kind, id, ts, and every field that
 * the table of operations does not know for its op. */
rt_status rt_compile_fresh(rt_change *c, yyjson_val *request, rt_effect_slot *out, rt_error *err);
/* A new entry with this text, or (is_json) array of blocks, and nothing else; id may be
 * empty. */
rt_status rt_compile_plain(rt_change *c, rt_str role, rt_str kind, rt_str content, bool is_json,
			   rt_str id, rt_effect_slot *out, rt_error *err);
/* A new take out of the first `at` slots of the request's, which becomes active with the
 * head at its tip; the request goes on there. */
rt_status rt_compile_fork(rt_change *c, size_t at, rt_error *err);
/* The working prompt that came with an entry: the model's own, not an edit (C46). */
rt_status rt_compile_given_prompt(rt_change *c, yyjson_val *request, rt_error *err);
/* Where a request's before or after points to in a take. */
rt_status rt_compile_gap(rt_change *c, yyjson_val *request, size_t *out_at, rt_error *err);
/* A per-entry address in the request's take: where it stands. */
rt_status rt_compile_find(rt_change *c, yyjson_val *request, const char *field, size_t *out_at,
			  rt_slot *out_slot, rt_error *err);
/* The result names this entry. */
rt_status rt_compile_result_entry(rt_change *c, uint32_t entry, rt_error *err);
void rt_compile_result_take(rt_change *c, rt_str name);
void rt_compile_result_disc(rt_change *c, rt_str name);
/* What the numbered takes of a discussion are called after: up to the first "_take_". */
rt_str rt_compile_take_base(rt_str name);
/* Set a field of the discussion or project unless it is so already; *out_same says. */
rt_status rt_compile_set_json(rt_change *c, uint32_t disc, rt_str key, yyjson_val *value,
			      rt_error *err);

#endif
