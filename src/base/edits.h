/* SPDX-License-Identifier: MIT
 *
 * Edits: which lines or words of two texts differ. Myers' greedy algorithm; common beginnings and
 * ends are set aside first. If more than a maximum of items would have to be removed and added, all
 * the rest is. So the cost is the texts and the square of that maximum. */
#ifndef RT_BASE_EDITS_H
#define RT_BASE_EDITS_H

#include "base/scope.h"

/* A line or a word. */
typedef struct rt_edit {
	rt_str text;
	uint32_t hash;
	bool is_changed; /* it has no counterpart in the other text */
} rt_edit;

typedef struct rt_edit_side {
	rt_edit *items;
	size_t count, capacity;
} rt_edit_side;

/* Begins as zeros with a scope, which has its memory, and can be used repeatedly. */
typedef struct rt_edits {
	rt_scope *s;
	rt_edit_side a, b; /* borrow from the texts */
	int32_t *trace;    /* furthest x on each diagonal, after 0 edits, after 1, … */
	size_t trace_capacity;
} rt_edits;

/* Compare the lines of two texts, at most 2000 of them changed. */
void rt_edits_lines(rt_edits *edits, rt_str a, rt_str b);
/* Compare the words of two texts, at most 500 of them changed. A run of letters or of blanks is a word;
 * other characters, and those of scripts that write words without blanks, are single. */
void rt_edits_words(rt_edits *edits, rt_str a, rt_str b);
/* Is at least a third of either text unchanged, or all of one, so that showing the words helps? */
bool rt_edits_are_similar(const rt_edits *edits);

#endif
