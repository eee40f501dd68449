/* SPDX-License-Identifier: MIT
 *
 * Change: one step under construction. Effects are applied when they are made, so that later parts
 * of the step see the earlier ones.
 *
 * A change works in a scope: its memory and its first failure are there. After a failure every
 * function does nothing and returns zeros (an absent text, a discussion that is NULL, an empty
 * body), so a step needs only one check, with rt_change_ok.
 *
 * Threads: one at a time. */
#ifndef RT_LOG_CHANGE_H
#define RT_LOG_CHANGE_H

#include "base/scope.h"
#include "codec/record.h"
#include "log/engine.h"

typedef struct rt_new_body {
	uint64_t number, entry;
	rt_str data; /* in the scope */
} rt_new_body;

typedef struct rt_change {
	rt_scope *scope; /* borrowed; everything below points into it */
	rt_engine *engine;
	const rt_project *base; /* borrowed: in the form of the log */
	const rt_project *now;  /* owned: base with the effects so far */
	rt_effect *effects;
	size_t effect_count, effect_room;
	rt_new_body *bodies;
	size_t body_count, body_room;
	uint64_t next_body;
	uint32_t next_entry;
	rt_record_view *views;
	size_t view_count, view_room;
	rt_str by;      /* the principal, for the row */
	uint64_t group; /* of the row, see codec/record.h; 0: none */
	/* The rows of the group belong to the project's history too, which undo follows (imports). */
	bool group_in_project;
	uint32_t group_discs;
	unsigned coalesce_ms; /* see rt_apply_options */
	/* of the current request */
	rt_place place;  /* numbers, never 0 */
	bool named_disc; /* the discussion was given, not the active one by default */
	bool pinned;     /* the take too */
	rt_str extra;    /* unknown fields, as JSON */
	rt_result *result;
} rt_change;

/* Appends the effects of one request to a change, or fails its scope (ops/compile.c). */
typedef void rt_compile_fn(rt_change *c, const rt_request *r);

/* base is borrowed. Cannot fail. The scope outlives the change. */
void rt_change_init(rt_change *c, rt_scope *scope, rt_engine *engine, const rt_project *base);
void rt_change_deinit(rt_change *c);
static inline bool
rt_change_ok(const rt_change *c)
{
	return rt_ok(c->scope);
}
/* Find where a request works (place, named_disc, pinned). Fails where the request is invalid. */
void rt_change_find_place(rt_change *c, const rt_request *r, rt_str default_disc,
			  rt_str default_take);

/* What effect points to must live in the scope. */
void rt_change_emit(rt_change *c, const rt_effect *effect);
void rt_change_splice(rt_change *c, uint32_t disc, uint32_t take, size_t at, size_t remove,
		      const rt_effect_slot *added, size_t count);
/* Set a field to JSON text (ptr NULL: absent). No effect if it already has this value. The texts
 * are copied. */
void rt_change_set(rt_change *c, uint32_t disc, uint32_t sub, rt_str key, uint32_t entry,
		   rt_str after);
void rt_change_clear(rt_change *c, uint32_t disc, uint32_t sub, const char *key);
void rt_change_set_number(rt_change *c, uint32_t disc, uint32_t sub, const char *key,
			  uint64_t number);
void rt_change_set_text(rt_change *c, uint32_t disc, uint32_t sub, const char *key, uint32_t entry,
			rt_str text);
/* A field of a discussion or (0) of the project. NULL and null: absent. */
void rt_change_set_json(rt_change *c, uint32_t disc, rt_str key, yyjson_val *value);
void rt_change_view(rt_change *c, uint32_t entry, unsigned flags);
/* The number of a new body for an entry. data must live in the scope. */
uint64_t rt_change_add_body(rt_change *c, uint64_t entry, rt_str data);

/* JSON text of a field as it is now; ptr NULL: absent. */
rt_str rt_change_field(rt_change *c, uint32_t disc, uint32_t sub, rt_str key, uint32_t entry);
/* The request's discussion in the current value; NULL after a failure. */
const rt_disc *rt_change_disc(rt_change *c);
/* A slot of the value with its names. */
rt_effect_slot rt_change_name(rt_change *c, const rt_slot *slot);
/* Appends the bytes of a stored body, or of one that this step made, to out. */
void rt_change_body_bytes(rt_change *c, uint64_t number, rt_buf *out);
/* The same decoded, in the scope. Never NULL. */
const rt_body *rt_change_read_body(rt_change *c, uint64_t number);
/* The same from its bytes, which are in the scope. */
const rt_body *rt_change_parse_body(rt_change *c, rt_str data);
/* Is the value the same as before the change, although it has effects? (no_op.c) */
bool rt_change_is_nothing(rt_change *c);
/* Do two takes have the same entries with the same content? */
bool rt_change_same_slots(rt_change *c, const rt_seq *a, const rt_seq *b);
/* Do two states of a discussion have the same present takes, labels and fields, wherever their
 * heads are? false after a failure, too. */
bool rt_change_same_content(rt_change *c, const rt_disc *was, const rt_disc *is);

#endif
