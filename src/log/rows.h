/* SPDX-License-Identifier: MIT
 *
 * Rows: log rows and bodies, read from the store and decoded.
 *
 * Threads: call from any thread. */
#ifndef RT_LOG_ROWS_H
#define RT_LOG_ROWS_H

#include "codec/record.h"
#include "log/engine.h"

/* Read a row of the log into the arena. out_at_us (may be NULL): when it was written.
 * RT_NOT_FOUND: it was never written; RT_CORRUPT: it is missing. */
rt_status rt_engine_record(rt_engine *engine, uint64_t seq, rt_arena *arena, rt_record *out,
			   int64_t *out_at_us, rt_error *err);

/* When a row was written, and whether by an import. */
typedef struct rt_row_time {
	uint64_t seq; /* 0: of no row yet */
	int64_t at_us;
	bool is_import;
} rt_row_time;

/* Read that of a row without decoding it; nothing is read if it is the one that time has already.
 * The row of an import is as long as the import, and many takes and discussions have it in common,
 * so pass the same time for all of a list. On failure it is unchanged. */
rt_status rt_engine_row_time(rt_engine *engine, uint64_t seq, rt_row_time *time, rt_error *err);

/* The slots that a record names, in order; begins as {0}. */
typedef struct rt_slot_walk {
	size_t effect, index;
	bool is_added; /* the slot was added by its effect, not removed */
} rt_slot_walk;

/* NULL: no more. */
const rt_effect_slot *rt_record_next_slot(const rt_record *record, rt_slot_walk *walk);

/* The cost of replaying a step, roughly: its effects and their slots. */
uint64_t rt_record_work(const rt_record *record);
enum { RT_MOVE_WORK = 8 /* of a move, besides that of its step */ };

/* Read and decode a body. out borrows from bytes: deinit both (after a failure there is nothing
 * to deinit). RT_CORRUPT: it is missing or damaged. */
RT_CHECKED rt_status rt_engine_body(rt_engine *engine, uint64_t number, rt_buf *bytes, rt_body *out,
				    rt_error *err);

/* The failure for a body that a slot refers to and the store does not have: damage. */
rt_status rt_engine_no_body(uint64_t number, rt_error *err);

enum { RT_BODY_RUN_MAX = 64 };

/* The bodies of up to RT_BODY_RUN_MAX slots, read together: many times faster than one by one.
 * bytes holds them all; deinit it, also after a failure. */
typedef struct rt_body_run {
	rt_buf bytes;
	size_t at[RT_BODY_RUN_MAX], size[RT_BODY_RUN_MAX];
} rt_body_run;

RT_CHECKED rt_status rt_engine_body_run(rt_engine *engine, const rt_slot *slots, size_t count,
					rt_body_run *out, rt_error *err);

#endif
