/* SPDX-License-Identifier: MIT
 *
 * Purge: the only operation that removes content (C24). purge.c lists what it overwrites.
 *
 * Threads: call as the holder of rt_engine_lock_writer, inside begin. */
#ifndef RT_LOG_PURGE_H
#define RT_LOG_PURGE_H

#include "log/change.h"

/* Overwrite the targets of the request. Fills in the result's count, entry, note and unchanged; the
 * texts of a purged entry are added to engine->gone. true: something was written; if the change's
 * scope has failed then, the transaction must be cancelled. RT_USAGE, RT_NOT_FOUND. O(bodies +
 * log). */
bool rt_engine_purge(rt_change *c, const rt_request *r);

#endif
