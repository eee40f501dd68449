/* SPDX-License-Identifier: MIT
 *
 * Views as JSON (C39, C40, C47), written from the rows of view_rows.h; what runs in the same
 * process reads those. Every function appends to buf; after a failure buf holds part of the
 * JSON.
 *
 * Threads: call from any thread; a value is immutable, and texts are read from the store. */
#ifndef RT_VIEW_VIEW_H
#define RT_VIEW_VIEW_H

#include "view/view_rows.h"

/* {"discussion","take","head","count","entries":[{"id","role","content","ts",…}]} */
RT_CHECKED rt_status rt_view_show(rt_engine *engine, const rt_project *project, rt_place place,
				  const rt_window *window, rt_buf *buf, rt_error *err);
/* One entry as in show. */
RT_CHECKED rt_status rt_view_entry(rt_engine *engine, const rt_project *project, rt_place place,
				   uint32_t entry, rt_buf *buf, rt_error *err);
/* Is the entry hidden from people: a program's state, or its message with "display":false
 * (rt_content_is_hidden)? Reads the text of such messages only. */
RT_CHECKED rt_status rt_view_is_hidden(rt_engine *engine, const rt_project *project,
				       const rt_slot *slot, bool *out, rt_error *err);
/* How many of a take's entries are. */
RT_CHECKED rt_status rt_view_count_hidden(rt_engine *engine, const rt_project *project,
					  const rt_take *take, size_t *out, rt_error *err);
/* [{"node","parent_node","id","parent","role","label","active","takes":[…]}], display order;
 * also "kind", "preview", "depth", "muted", "hidden" where they say something. */
RT_CHECKED rt_status rt_view_tree(rt_engine *engine, const rt_project *project, uint32_t disc,
				  rt_buf *buf, rt_error *err);
/* The same with previews of so many characters, not 60. */
RT_CHECKED rt_status rt_view_tree_wide(rt_engine *engine, const rt_project *project, uint32_t disc,
				       size_t preview, rt_buf *buf, rt_error *err);
/* [{"id","name","active","entries","base","git_commit"}] */
RT_CHECKED rt_status rt_view_takes(rt_engine *engine, const rt_project *project, uint32_t disc,
				   bool all, rt_buf *buf, rt_error *err);
/* Only the first so many, and the take of the number also (0: none) wherever it stands. */
RT_CHECKED rt_status rt_view_takes_first(rt_engine *engine, const rt_project *project,
					 uint32_t disc, bool all, size_t most, uint32_t also,
					 rt_buf *buf, rt_error *err);
/* Where other takes go on otherwise than this one does (take 0: the active one), in its order:
 * {"seq","discussion","take","forks":[{"entry","place","count","previous","next"}],"differ":[…]}
 * The entry is one of count that follow the same one, the place'th of them from 0, in display
 * order; previous and next are takes ("t2") that hold those beside it, or null. differ: ids of
 * the take's entries of which others show another revision. Cost: the tree. */
RT_CHECKED rt_status rt_view_forks(rt_engine *engine, const rt_project *project, rt_place place,
				   rt_buf *buf, rt_error *err);
/* [{"id","name","active","entries","takes","updated"}]; all: also what is not in the catalogue */
RT_CHECKED rt_status rt_view_discussions(rt_engine *engine, const rt_project *project, bool all,
					 rt_buf *buf, rt_error *err);
/* The same as columns, for who wants all of a large tree at once and its texts later:
 * {"seq","discussion","count","from","roles":[…],"kinds":[…],"takes":[{"id","name",…}],
 *  "id":["k3f9",…],"parent":[-1,0,…],"role":[0,…],"kind":[0,…],"flags":[0,…],
 *  "size":[…],"preview":["…",…],"labels":{"12":"start"},"head":17,"tips":{"t1":17}}
 * Rows are in display order and numbered from 0, also where only some of them are given: then
 * the columns begin with row "from", and labels are theirs, while count, parent, head and tips
 * are as in the whole. -1: a root; no head; a take without entries. role and kind are indices
 * into roles and kinds. size: bytes of the content. flags: 1 muted, 2 collapsed, 4 read mode, 8
 * more than text, 16 differs between takes, 32 edited, 64 hidden (rt_view_is_hidden). takes: as rt_view_takes. Without
 * previews that column is left out. options may be NULL. RT_NOT_FOUND: no such discussion or
 * take.
 * Cost: the tree; a take: its rows that are asked for, and a look at every other take. */
typedef struct rt_columns_options {
	uint32_t take;       /* number; only its entries, in order; 0: the tree of all takes */
	size_t preview;      /* characters of each text; 0: no previews, no text is read */
	size_t from, count;  /* rows; count 0: to the end */
	bool bare;           /* one take: "takes" is empty, flag 16 is not looked for */
} rt_columns_options;
RT_CHECKED rt_status rt_view_columns(rt_engine *engine, const rt_project *project, uint32_t disc,
				     const rt_columns_options *options, rt_buf *buf,
				     rt_error *err);
/* What row seq of the log did, for who holds the value before it and wants the one after:
 * {"seq":42,"kind":"step"|"move"|"view"|"note","op":"entry.edit","by":"cli","at":"…",
 *  "discussion":"d1",          the one in view when it was asked for
 *  "discussions":["d1"],       that it touches; "project":true: the project's own things too
 *  "splices":[…],              in the order in which they apply, see below
 *  "entries":["k3f9"],         whose text, role, flags, label or view it touches; so are those
 *                              that a splice puts in
 *  "takes":["d1/t1"],          that it touches, made or dropped
 *  "fields":["d1/head",…],     further things: discussion/key, "project/key", "d1/t2/name"
 *  "whole":true}               too much to list: fetch the discussions anew (lists are left
 *                              out, and "discussions" too where it may be any of them)
 * A splice is one of
 *  {"discussion","take","at","remove","insert":["k3f9"]}   ids are taken out and put in there
 *  {"discussion","take","from_discussion","from_take","count"}   a take (t1: with its
 *                              discussion) is made, of the first ids of another; of none: it
 *                              is empty, and nothing is said of where from
 *  {"discussion","take","present":false}   it is there no more, or (true) again; without a
 *                              take: the discussion. What it holds stays as it was, so keep
 *                              it, or fetch it when it comes back
 * project: the newest value (ids and names are looked up in it). *out_discs (or NULL): numbers
 * of the documents, to choose by, 0: the project's own; room for RT_CHANGE_DISCS, a count of
 * RT_CHANGE_DISCS + 1: more, or any. That is so for what is shown of an entry, too, where there
 * are several discussions: look at "entries". RT_NOT_FOUND: there is no such row (yet).
 * Cost: the row; of a move, its steps, as long as they can be listed. */
enum { RT_CHANGE_DISCS = 8, RT_CHANGE_LIST_MAX = 256 };
typedef struct rt_change_discs {
	uint32_t at[RT_CHANGE_DISCS];
	size_t count;
} rt_change_discs;
RT_CHECKED rt_status rt_view_change(rt_engine *engine, const rt_project *project, uint64_t seq,
				    rt_buf *buf, rt_change_discs *out_discs, rt_error *err);
/* Steps, newest first: [{"seq","parent","op","what","did","about","take":{"id","name"},"setting",
 * "by","at","scope","current","undone"}]. what: the step in words; did: the same without ids; about: the
 * first words of the entry that it is about; take: the one that it changed; setting: its name,
 * where that is all that it changed. The last three only where there is such a thing.
 * before: only rows below this number (0: all); limit 0: all. */
RT_CHECKED rt_status rt_view_history(rt_engine *engine, const rt_project *project, uint32_t disc,
				     uint64_t before, size_t limit, rt_buf *buf, rt_error *err);
/* The same some at a time: how far it was read, all zero to begin with. project and disc are
 * those of the first call in all that follow. The next `limit` steps (0: all that are left);
 * fewer: these were the last. Cost: the rows that are passed, once. */
RT_CHECKED rt_status rt_view_history_next(rt_engine *engine, const rt_project *project,
					  uint32_t disc, rt_history_at *at, size_t limit,
					  rt_buf *buf, rt_error *err);
/* One step with its effects in words, before and after. */
RT_CHECKED rt_status rt_view_step(rt_engine *engine, const rt_project *project, uint64_t seq,
				  rt_buf *buf, rt_error *err);
/* When entries of a discussion were given the label that they have: fn gets each step of its own
 * that gave one, the newest first. So many rows of the log (limit, at least 1) at a time: *seq is 0
 * at first, and 1 when all were looked at. Labels that came with an import are not among them, nor is it known of a
 * step whether it was undone and made again since. Cost: limit rows. */
typedef void (*rt_label_time_fn)(void *ctx, uint32_t entry, int64_t at_us);
RT_CHECKED rt_status rt_view_label_times(rt_engine *engine, const rt_project *project, uint32_t disc,
					 uint64_t *seq, size_t limit, rt_label_time_fn fn, void *ctx,
					 rt_error *err);
/* Every text that an entry ever had in this discussion, oldest first (E10):
 * [{"seq","body","content","ts","current"}] */
RT_CHECKED rt_status rt_view_revisions(rt_engine *engine, const rt_project *project, uint32_t disc,
				       uint32_t entry, rt_buf *buf, rt_error *err);
/* {"discussion","prompt","settings","files",…} of the project and discussion. */
RT_CHECKED rt_status rt_view_settings(rt_engine *engine, const rt_project *project, uint32_t disc,
				      rt_buf *buf, rt_error *err);
/* Two takes side by side from where they part:
 * {"common","a":[…],"b":[…],"changed":[{"id","a","b"}]} */
RT_CHECKED rt_status rt_view_diff(rt_engine *engine, const rt_project *project, uint32_t disc,
				  uint32_t take_a, uint32_t take_b, rt_buf *buf, rt_error *err);

/* ---- single rows ---- */

/* One row as an item of an array: an entry as in rt_view_show, a discussion as in
 * rt_view_discussions, a row of the tree as in rt_view_tree (of that discussion). */
void rt_entry_write(rt_buf *buf, const rt_entry_row *entry);
void rt_disc_row_write(rt_buf *buf, const rt_disc_row *disc);
void rt_tree_row_write(rt_buf *buf, const rt_disc *disc, const rt_tree_row *row);

/* ---- for views ---- */

/* The first characters of a text on one line, as a JSON string. */
RT_CHECKED rt_status rt_view_add_preview(const rt_alloc *alloc, const rt_body *body,
					 size_t characters, rt_buf *buf, rt_error *err);

#endif
