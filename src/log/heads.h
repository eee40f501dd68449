/* SPDX-License-Identifier: MIT
 *
 * Heads: do the log, the bodies, the search index and the checkpoint end at the same place? A log
 * that lost its last page looks like a shorter log; heads.c describes how this is detected.
 *
 * Threads: as each function says. */
#ifndef RT_LOG_HEADS_H
#define RT_LOG_HEADS_H

#include "log/engine.h"

/* ---- side rows of a project that the log itself writes or must know of ---- */

/* Replies in flight (chat/inflight.h): the prefix of their names. */
#define RT_INFLIGHT_PREFIX "reply/"
/* Runs of a server, and those that have ended (server/run_claim.h). */
#define RT_RUN_PREFIX "run/"
#define RT_RAN_PREFIX "ran/"
/* Signed-in browsers and sign-in codes of a server (server/browser.h). They contain no text except the
 * name of a project, so purge leaves them unchanged. */
#define RT_BROWSER_PREFIX "browser/"
#define RT_CODE_PREFIX "code/"
/* Answers of a server that may be requested again (server/idempotency.h). */
#define RT_IDEMPOTENCY_PREFIX "idem/"
/* Files of other programs that a project was written to and imported from (ops/import_written.h). */
#define RT_WRITTEN_PREFIX "written/"
#define RT_IMPORTED_PREFIX "imported/"
/* The project's generated ids are salted by its name. Projects that older versions made have no
 * such row, and no salt; neither has "default". Never dropped. */
#define RT_SALTED_MARK "salted-ids"
/* The number of the last log row that was written without bodies. Stores that older versions made
 * have none, and older versions do not move it. */
#define RT_HEAD_MARK "log-head"
/* Something was purged, and its bytes may still be in the store's files. */
#define RT_SCRUB_MARK "scrub"

/* Inside begin: row seq is being written, without bodies. */
rt_status rt_engine_mark_head(rt_engine *engine, uint64_t seq, rt_error *err);
/* The mark's value; 0: none. */
rt_status rt_engine_head_mark(rt_engine *engine, uint64_t *out_seq, rt_error *err);
bool rt_engine_scrub_pending(rt_engine *engine);

/* RT_CORRUPT if the log does not end where the bodies, the mark and the checkpoint say.
 * project is the newest value, as loaded last. A few key look-ups. */
rt_status rt_engine_check_heads(rt_engine *engine, const rt_project *project, rt_error *err);
/* RT_CORRUPT: the log ends with row head, before a row that is in project. */
rt_status rt_engine_lost_end(rt_engine *engine, const rt_project *project, uint64_t head,
			     rt_error *err);
/* RT_CORRUPT with the problem, its place, and the remedy. */
rt_status rt_engine_damaged(rt_engine *engine, rt_error *err, const char *format, ...)
	RT_PRINTF(3, 4);

#endif
