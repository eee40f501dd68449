/* SPDX-License-Identifier: MIT
 *
 * Ignore: .gitignore files as git reads them (gitignore(5)). Each is one value with a pointer to
 * the one above it. Immutable; lives as long as the scope it was read in. */
#ifndef RT_FILES_IGNORE_H
#define RT_FILES_IGNORE_H

#include "base/scope.h"

typedef struct rt_ignore rt_ignore;

/* The rules of a .gitignore in the directory base (empty: the top), after those of parent (may be
 * NULL). text is copied. NULL once the scope has failed. */
const rt_ignore *rt_ignore_read(rt_scope *s, const rt_ignore *parent, rt_str base, rt_str text);
/* Whether a path is excluded, by the rules alone: a walk of the tree does not enter excluded
 * directories, so nothing below them can be included again. path is relative to the top. */
bool rt_ignore_matches(const rt_ignore *ignore, rt_str path, bool is_directory);

/* Bytes of all its rules, to which the time of a match is proportional. ignore may be NULL. */
size_t rt_ignore_size(const rt_ignore *ignore);

#endif
