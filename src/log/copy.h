/* SPDX-License-Identifier: MIT
 *
 * Copy: a project of one store, with its whole history, as the same project of another store.
 *
 * Log rows and bodies are copied unchanged, in the order of the log, each batch in one transaction,
 * so that at any time the copy is an earlier state of the project. An interrupted copy is continued
 * by the next one, and one that is complete receives the rows that were added since. Both stores can be in
 * use: programs that change the source do not wait, and their changes are copied, too.
 *
 * Then every row and body is read from both stores and compared. Only purge and repair change existing
 * rows. A row that was purged from the source is overwritten in the copy; a text that repair gave up in
 * the source stays in the copy. After a purge, side rows that the source does not have are removed. The
 * index and the checkpoint are not copied; they are made again when needed. */
#ifndef RT_LOG_COPY_H
#define RT_LOG_COPY_H

#include "log/store.h"

typedef struct rt_copied {
	uint64_t rows, bodies, side_rows; /* written */
	uint64_t purged;     /* rows and bodies that were overwritten */
	uint64_t lost;       /* bodies that repair gave up in the source; the copy keeps its own */
	uint64_t bytes;      /* of all of these */
	uint64_t compared;   /* rows and bodies that are equal in both */
	uint64_t seq;        /* last row of the copy, */
	uint64_t source_seq; /* and of the source: greater if it changed to the end */
} rt_copied;

typedef struct rt_copy_options {
	const rt_alloc *alloc; /* NULL: the C library's */
	rt_str project;        /* name in both stores: generated ids depend on it */
	/* Called after each batch; may be NULL. Returning false ends the copy with RT_INTERRUPTED. */
	bool (*progress)(void *ctx, const rt_copied *so_far);
	void *ctx;
} rt_copy_options;

/* Creates the project in `to` if it does not exist. RT_REFUSED: the project there has steps that
 * the source does not have. RT_NOT_FOUND: no such project in the source. RT_CORRUPT: a damaged row
 * or a missing body in the source; the rows before it are copied. RT_CONFLICT: another program
 * changed the project in `to` in the meantime. One thread at a time for each store handle.
 * O(everything), with a few megabytes of memory and the largest single row. */
RT_CHECKED rt_status rt_store_copy(rt_store *from, rt_store *to, const rt_copy_options *options,
				   rt_copied *out, rt_error *err);

#endif
