/* SPDX-License-Identifier: MIT
 *
 * A store in a PostgreSQL database (version 14 or later), in the schema "retake". docs/postgresql.md
 * describes the tables. Any number of processes and machines may have it open.
 *
 * begin locks the project that the handle used last, and the first access to another project locks
 * that one; transactions of different projects do not wait for each other. A lock that is not
 * available within busy_ms, a deadlock and a serialization failure are RT_BUSY.
 *
 * A lost connection: reads are repeated on a new one. Before the commit nothing was written, and
 * the call returns RT_BUSY. If it is lost during a commit, the outcome is read from the server: by
 * the step id of the log row, or by the number of the transaction. RT_IO: the server cannot be
 * reached, so the outcome is unknown; the next begin sees it.
 *
 * relaxed has no effect: a commit is as durable as the server's synchronous_commit makes it. */
#ifndef RT_STORE_POSTGRES_H
#define RT_STORE_POSTGRES_H

#include "store/store_open.h"

/* address: postgresql://… as libpq reads it. RT_NOT_FOUND: no store in the database, and
 * create is off. RT_REFUSED: no such database, wrong password, missing permission, or the server is
 * unsuitable.
 * RT_NOT_OURS, RT_TOO_NEW: as of a file. RT_IO: the server cannot be reached. */
RT_CHECKED rt_status rt_store_postgres_open(const rt_alloc *alloc, const rt_env *env,
					    const char *address, const rt_store_options *options,
					    rt_store **out_store, rt_error *err);

#endif
