/* SPDX-License-Identifier: MIT
 *
 * Glob: patterns of paths, as git has them: within a name * and ? and [a-z], [!a-z], [[:alpha:]],
 * \x for x itself; ** as a complete name matches any number of directories.
 *
 * A path is matched a name at a time, so that a walk knows early which directories to enter. The
 * state is a set of positions in the pattern, which makes the cost of a name linear in the length
 * of the pattern, whatever it contains. Pure; call from any thread. */
#ifndef RT_FILES_GLOB_H
#define RT_FILES_GLOB_H

#include "base/text.h"

enum { RT_GLOB_PARTS_MAX = 62 };

typedef struct rt_glob {
	rt_str parts[RT_GLOB_PARTS_MAX]; /* the pattern between its slashes; borrowed */
	size_t count;
} rt_glob;

/* False: the pattern has too many parts. Empty parts and "." are left out. */
bool rt_glob_init(rt_glob *glob, rt_str pattern);
/* The state before the first name. */
uint64_t rt_glob_start(const rt_glob *glob);
/* The state after a name; 0: no path that begins like this can match. */
uint64_t rt_glob_step(const rt_glob *glob, uint64_t state, rt_str name);
/* True if the names so far match. */
bool rt_glob_accepts(const rt_glob *glob, uint64_t state);
/* True if further names may match after those so far. */
bool rt_glob_continues(const rt_glob *glob, uint64_t state);
/* Do all names of a path match? */
bool rt_glob_matches(const rt_glob *glob, rt_str path);

/* Match one name with a part of a pattern. O(pattern * name). */
bool rt_glob_name(rt_str pattern, rt_str name);
/* True if a text has a character with a special meaning in a pattern. */
bool rt_glob_is_one(rt_str text);

#endif
