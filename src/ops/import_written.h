/* SPDX-License-Identifier: MIT
 *
 * Written sessions: conversations of the project that were written for other programs. Those continue them
 * in the same file; an import of it adds only new entries to the discussion. A side row for each, named after
 * the source that the import of the file has, names the entry of each of its nodes. Another one has the path of
 * the file that a discussion was imported from. */
#ifndef RT_OPS_IMPORT_WRITTEN_H
#define RT_OPS_IMPORT_WRITTEN_H

#include "log/engine.h"
#include "log/heads.h"
#include "ops/format.h"

/* An entry, by a hash of the node that it has in the file. */
typedef struct rt_written_node {
	uint64_t node;
	uint32_t entry;
} rt_written_node;

/* Keeps that the active take of `from`, an export of the discussion, was written as `file`, which a reader made
 * of the bytes. A separate commit. A file without a source is not kept. */
RT_CHECKED rt_status rt_written_keep(rt_engine *engine, uint32_t disc, const rt_outline *from,
				     const rt_outline *file, rt_error *err);
/* Appends the path of the file that the discussion was last imported from. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_imported_file(rt_engine *engine, uint32_t disc, rt_buf *out, rt_error *err);
uint64_t rt_written_hash(const rt_node *node);

#endif
