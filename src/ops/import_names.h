/* SPDX-License-Identifier: MIT
 *
 * The names of a project's discussions, for creating many: whether one is in use, and the first
 * free number after a base ("talk_2"), without a linear search.
 *
 * A hash table of the discussions' numbers. Names are compared in the given value, so outdated
 * items never match. */
#ifndef RT_OPS_IMPORT_NAMES_H
#define RT_OPS_IMPORT_NAMES_H

#include "core/project.h"
#include "ops/names.h"

typedef struct rt_disc_names {
	const rt_alloc *alloc;
	rt_hash_table numbers; /* of the discussions */
	rt_names bases;        /* bases that a number was requested for */
} rt_disc_names;

void rt_disc_names_init(rt_disc_names *names, const rt_alloc *alloc);
void rt_disc_names_deinit(rt_disc_names *names);
/* Reserve capacity for this many names in all. O(capacity); avoids growing the table later, which
 * is slow when it is large. RT_NOMEM. */
RT_CHECKED rt_status rt_disc_names_reserve(rt_disc_names *names, size_t count);
/* A discussion of now, by its name in it. RT_NOMEM. */
RT_CHECKED rt_status rt_disc_names_add(rt_disc_names *names, const rt_project *now,
				       uint32_t number);
/* Adds the discussions of now whose entries differ from those of before (NULL: all discussions).
 * RT_NOMEM. */
RT_CHECKED rt_status rt_disc_names_update(rt_disc_names *names, const rt_project *before,
					  const rt_project *now);
/* Has a discussion that is present in now this name? */
bool rt_disc_names_has(const rt_disc_names *names, const rt_project *now, rt_str name);
/* Into out: base, '_' and the first number from 2 on that makes a free name. */
RT_CHECKED rt_status rt_disc_names_number(rt_disc_names *names, const rt_project *now, rt_str base,
					  rt_buf *out);

#endif
