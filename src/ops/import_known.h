/* SPDX-License-Identifier: MIT
 *
 * The discussions known to an import: those that existed before it, each by its source or by a mark
 * of its origin. Each is found once, so that a file with the same conversation twice yields
 * both. */
#ifndef RT_OPS_IMPORT_KNOWN_H
#define RT_OPS_IMPORT_KNOWN_H

#include "core/project.h"
#include "ops/format.h"

typedef struct rt_known_item {
	uint64_t hash; /* of the source as JSON text */
	uint32_t disc;
	uint32_t passed; /* of the first with a hash: how many were found already */
} rt_known_item;

typedef struct rt_known {
	const rt_alloc *alloc;
	rt_known_item *items; /* by hash, then by number */
	size_t count, room;
	size_t discs; /* discussions that existed before the import */
	bool *found; /* by the discussion's number */
} rt_known;

/* RT_NOMEM, or an error of reading a discussion. */
RT_CHECKED rt_status rt_known_init(rt_known *known, const rt_alloc *alloc,
				   const rt_project *project, rt_error *err);
void rt_known_deinit(rt_known *known);
/* The first discussion that came from this source and was not found yet; 0: none. now is
 * the value it is looked up in. */
RT_CHECKED rt_status rt_known_find(rt_known *known, const rt_project *now, rt_str source_json,
				   uint32_t *out, rt_error *err);
/* A hash of a conversation in a file, except its head and folds. before: of the outlines that this
 * one continues; 0: it is the first. */
uint64_t rt_known_hash(const rt_outline *outline, uint64_t before);
/* The key of a conversation without a source. */
void rt_known_mark(uint64_t hash, rt_buf *out);

#endif
