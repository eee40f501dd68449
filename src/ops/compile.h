/* SPDX-License-Identifier: MIT
 *
 * What operations mean, by noun: compile_entry.c, compile_reply.c, compile_split.c,
 * compile_take.c, compile_disc.c. Each function makes the effects of one operation on c, or fails and leaves
 * c to be thrown away. A request is checked against the table before it gets here. */
#ifndef RT_OPS_COMPILE_H
#define RT_OPS_COMPILE_H

#include "log/engine_impl.h"

#define OP(id, function, ...) \
	rt_status rt_op_##function(rt_change *c, const rt_request *r, rt_error *err);
#include "core/op.def"
#undef OP

/* Shared: a fresh entry from a request's role, content, kind, id, ts, and every field that
 * the table of operations does not know for its op. */
rt_status rt_compile_fresh(rt_change *c, const rt_request *r, rt_effect_slot *out, rt_error *err);
/* A new entry with this text, or (is_json) array of blocks, and nothing else; id may be
 * empty. */
rt_status rt_compile_plain(rt_change *c, rt_str role, rt_str kind, rt_str content, bool is_json,
			   rt_str id, rt_effect_slot *out, rt_error *err);
/* A new take out of the first `at` slots of the request's, which becomes active with the
 * head at its tip; the request goes on there. */
rt_status rt_compile_fork(rt_change *c, size_t at, rt_error *err);
/* The working prompt that came with an entry: the model's own, not an edit (C46). */
rt_status rt_compile_given_prompt(rt_change *c, const rt_request *r, rt_error *err);
/* Where a request's before or after points to in a take. */
rt_status rt_compile_gap(rt_change *c, const rt_request *r, size_t *out_at, rt_error *err);
/* The position of an entry in the request's take. */
rt_status rt_compile_find(rt_change *c, rt_str address, size_t *out_at, rt_slot *out_slot,
			  rt_error *err);
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
