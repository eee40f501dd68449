/* SPDX-License-Identifier: MIT
 *
 * Takefile: a whole take as one text file for an editor, and reading that back.
 *
 *     anything                      ignored, up to the first frame line
 *     === :step 42                  the step that the file shows; optional
 *     === k3f9 User                 a frame line: id, role; the text follows
 *     Which database?
 *                                   one blank line belongs to the frame, not to the text
 *     === 9z2p+muted AI             flags follow the id
 *     \=== is three equals signs    such a line of a text has a backslash before it
 *
 *     === + User                    a new entry
 *     === :end                      required: a truncated file is not a deletion;
 *                                   text after it is refused
 *
 * A role that could be misread (white space at its ends, control characters, a quote at
 * the beginning, nothing at all) is written as a JSON string. Of an array of blocks the
 * text is written (codec/content.h); the other blocks stay with the entry. "+locked" marks an
 * entry that has no text at all, or one that cannot be written here; it can be moved and deleted,
 * but not edited.
 *
 * Reading is the inverse of writing for every take: unchanged stays unchanged. These are
 * pure functions (takefile.c, takediff.c); the commands around them are in cmd_takefile.c. */
#ifndef RT_CLI_TAKEFILE_H
#define RT_CLI_TAKEFILE_H

#include "cli/cli.h"

typedef struct rt_cli_item {
	rt_str id; /* empty: new */
	rt_str role;
	rt_str content;
	bool muted;
	bool locked;   /* content is ignored */
	uint64_t line; /* of the frame, when read from a file */
} rt_cli_item;

/* Entries of a take, in order, in the memory of a scope. Zero it, except for s. */
typedef struct rt_cli_items {
	rt_scope *s;
	rt_cli_item *items;
	size_t count, capacity;
	uint64_t step;
	bool has_step;
} rt_cli_items;

/* The texts are copied. */
void rt_cli_items_add(rt_cli_items *items, const rt_cli_item *item);
/* Finds items by id. NULL once the scope has failed. */
typedef struct rt_cli_index rt_cli_index;
rt_cli_index *rt_cli_index_new(const rt_cli_items *items);
/* The position of the item, or SIZE_MAX. O(1). */
size_t rt_cli_index_find(const rt_cli_index *index, rt_str id);

/* title is one line for the reader, or empty. */
void rt_cli_takefile_write(rt_buf *buf, const rt_cli_items *items, rt_str title);
/* RT_USAGE with the line in the error. An id that occurs twice is an error. */
rt_cli_items rt_cli_takefile_read(rt_scope *s, rt_str text);

/* A change to a take. */
typedef struct rt_cli_counts {
	size_t edited, roles, muted, added, deleted, moved;
} rt_cli_counts;

/* Appends the requests that turn `was` into `now`, none if they are equal. Ids of `now` that
 * are not in `was` are an error, as are changed locked entries. In the scope of now. */
rt_cli_counts rt_cli_takefile_diff(const rt_cli_items *was, const rt_cli_items *now,
				   rt_cli_requests *out);
/* May those requests be applied to `current`, which others may have changed since `was`?
 * RT_CONFLICT names an entry that both changed. */
void rt_cli_takefile_check(const rt_cli_items *was, const rt_cli_items *now,
			   const rt_cli_items *current);

/* ---- cmd_takefile.c ---- */
void rt_cli_takefile_print(rt_cli *cli); /* show --take-file */
void rt_cli_takefile_edit(rt_cli *cli);  /* edit --all */

#endif
