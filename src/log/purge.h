/* SPDX-License-Identifier: MIT
 *
 * Purge: the one way in which content leaves (C24). See purge.c for what it overwrites.
 *
 * Threads: call as the holder of rt_engine_lock_writer, inside begin. */
#ifndef RT_LOG_PURGE_H
#define RT_LOG_PURGE_H

#include "log/engine.h"

/* Overwrite what the request names. Fills in result's count, entry, note and unchanged; the texts
 * of a purged entry are added to engine->gone. After a failure the transaction has to be
 * cancelled. RT_USAGE, RT_NOT_FOUND. O(bodies + log). */
rt_status rt_engine_purge(rt_engine *engine, const rt_project *project, const rt_request *r,
			  rt_place place, rt_result *result, rt_error *err);

#endif
