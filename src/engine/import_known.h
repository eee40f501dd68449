/* SPDX-License-Identifier: MIT
 *
 * Which discussions an import knows: those that were there before it began, each by its
 * source or by a mark of what it was imported from. Each is found once, so that a file
 * that holds the same conversation twice gets both. */
#ifndef RT_ENGINE_IMPORT_KNOWN_H
#define RT_ENGINE_IMPORT_KNOWN_H

#include "core/project.h"
#include "engine/format.h"

typedef struct rt_known_item {
	uint64_t hash; /* of the source as JSON text */
	uint32_t disc;
	uint32_t passed; /* of the first with a hash: so many of them are found already */
} rt_known_item;

typedef struct rt_known {
	const rt_alloc *alloc;
	rt_known_item *items; /* by hash, then by number */
	size_t count;
	bool *found; /* by the discussion's number */
} rt_known;

/* RT_NOMEM, or what reading a discussion gives. */
RT_CHECKED rt_status rt_known_init(rt_known *known, const rt_alloc *alloc,
				   const rt_project *project, rt_error *err);
void rt_known_deinit(rt_known *known);
/* The first discussion that came from this source and was not found yet; 0: none. now is
 * the value it is looked up in. */
RT_CHECKED rt_status rt_known_find(rt_known *known, const rt_project *now, rt_str source_json,
				   uint32_t *out, rt_error *err);
/* The mark of an outline without a source: a hash of all that the file says about it, but
 * not of where the head is and what is folded. */
void rt_known_mark(const rt_outline *outline, rt_buf *out);

#endif
