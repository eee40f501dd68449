/* SPDX-License-Identifier: MIT
 *
 * Views as JSON (C39, C40, C47), for programs outside this process. Inside it, read the rows that
 * they are written from (view_rows.h). Every function appends to buf; after a failure buf ends
 * with a part of the JSON.
 *
 * disc, take: numbers; 0 is the active one. RT_NOT_FOUND: no such discussion, take, entry or row.
 *
 * Threads: call from any thread; a value is immutable, and texts are read from the store. */
#ifndef RT_VIEW_VIEW_H
#define RT_VIEW_VIEW_H

#include "view/view_rows.h"

/* {"discussion","take","head","count","entries":[{"id","role","kind","content","ts",…}]} */
RT_CHECKED rt_status rt_view_show(rt_engine *engine, const rt_project *project, rt_place place,
				  const rt_window *window, rt_buf *buf, rt_error *err);
/* One entry as in rt_view_show. */
RT_CHECKED rt_status rt_view_entry(rt_engine *engine, const rt_project *project, rt_place place,
				   uint32_t entry, rt_buf *buf, rt_error *err);
/* [{"node","parent_node","id","parent","role","label","active","takes":[…]}] in display order; also
 * "kind", "preview", "depth", and where they apply "variants", "muted", "edited", "partial",
 * "hidden". */
RT_CHECKED rt_status rt_view_tree(rt_engine *engine, const rt_project *project, uint32_t disc,
				  rt_buf *buf, rt_error *err);
/* The same with previews of this many characters, instead of RT_TREE_PREVIEW. */
RT_CHECKED rt_status rt_view_tree_wide(rt_engine *engine, const rt_project *project, uint32_t disc,
				       size_t preview, rt_buf *buf, rt_error *err);
/* [{"id","name","active","entries","base","git_commit","last_updated"}]; all: also deleted takes */
RT_CHECKED rt_status rt_view_takes(rt_engine *engine, const rt_project *project, uint32_t disc,
				   bool all, rt_buf *buf, rt_error *err);
/* Only the first `most` takes, and the one of number `also` (0: none) wherever it is. */
RT_CHECKED rt_status rt_view_takes_first(rt_engine *engine, const rt_project *project,
					 uint32_t disc, bool all, size_t most, uint32_t also,
					 rt_buf *buf, rt_error *err);
/* The entries of this take after which other takes continue differently, in order:
 *
 * {"seq","discussion","take","forks":[{"entry","place","count","previous","next"}],"differ":[…]}
 *
 * The entry is number place (from 0, in display order) of count that follow the same entry;
 * previous and next are takes ("t2") that hold its siblings there, or null. differ: ids of the
 * take's entries of which other takes show another revision. Cost: the trie (view_trie.h). */
RT_CHECKED rt_status rt_view_forks(rt_engine *engine, const rt_project *project, rt_place place,
				   rt_buf *buf, rt_error *err);
/* [{"id","name","active","entries","takes","updated","track","title","pinned","archived","tags"}],
 * the last four where they apply; all: also deleted ones; track: only those that rt_disc_row_is_of
 * accepts */
RT_CHECKED rt_status rt_view_discussions(rt_engine *engine, const rt_project *project, bool all,
					 rt_str track, rt_buf *buf, rt_error *err);
/* [{"name","active","discussions","entries","updated"}] */
void rt_view_tracks(const rt_view *view, rt_buf *buf);

/* ---- the tree as columns ---- */

typedef struct rt_columns_options {
	uint32_t take;      /* only the entries of this one, in order; 0: the tree of all takes */
	size_t preview;     /* characters of each text; 0: no column of previews, no text is read */
	size_t from, count; /* rows; count 0: to the end */
	bool bare;          /* with take: "takes" is empty, and flag 16 is not computed */
} rt_columns_options;

/* An array for each property, for clients that load a large tree at once and its texts later:
 *
 * {"seq","discussion","count","from","roles":[…],"kinds":[…],"takes":[{"id","name",…}],
 *  "id":["k3f9",…],"parent":[-1,0,…],"role":[0,…],"kind":[0,…],"flags":[0,…],
 *  "size":[…],"preview":["…",…],"labels":{"12":"start"},"head":17,"tips":{"t1":17}}
 *
 * Rows are in display order and numbered from 0. With a window (from, count) the columns begin
 * with row "from", and labels are those of its rows; count, parent, head and tips are as in the
 * whole. -1: no parent, no head, a take without entries. role and kind are indices into roles and
 * kinds. size: bytes of the content. takes: as rt_view_takes.
 *
 * flags: 1 muted, 2 collapsed, 4 read mode, 8 more than text, 16 differs between takes, 32 edited,
 * 64 hidden (rt_view_is_hidden).
 *
 * options may be NULL. Cost: the trie; with take: the rows of the window, and a comparison with
 * every other take. */
RT_CHECKED rt_status rt_view_columns(rt_engine *engine, const rt_project *project, uint32_t disc,
				     const rt_columns_options *options, rt_buf *buf,
				     rt_error *err);

/* ---- changes ---- */

enum { RT_CHANGE_DISCS = 8, RT_CHANGE_LIST_MAX = 256 };

/* Documents by number, 0: the project's own. count is RT_CHANGE_DISCS + 1 where there are more, or
 * where any may be concerned. */
typedef struct rt_change_discs {
	uint32_t at[RT_CHANGE_DISCS];
	size_t count;
} rt_change_discs;

/* The effects of row seq of the log, for clients that have the value before it and need the one
 * after:
 *
 * {"seq":42,"kind":"step"|"move"|"view"|"note","op":"entry.edit","by":"cli","at":"…",
 *  "discussion":"d1",          where it was requested
 *  "discussions":["d1"],       that it touches; "project":true: the project's own document, too
 *  "splices":[…],              in the order in which they apply, see below
 *  "entries":["k3f9"],         whose text, role, flags, label or view it touches; splices may
 *                              insert further ones
 *  "takes":["d1/t1"],          that it touches, creates or deletes
 *  "fields":["d1/head",…],     anything else: discussion/key, "project/key", "d1/t2/name"
 *  "whole":true}               too much to list: fetch the discussions again (the lists are
 *                              omitted, and "discussions" too where it may be any of them)
 *
 * A splice is one of
 *
 *  {"discussion","take","at","remove","insert":["k3f9"]}   a run of ids is replaced
 *  {"discussion","take","from_discussion","from_take","count"}   a take is created (t1: with its
 *                              discussion) from the first ids of another; empty where
 *                              from_discussion and from_take are omitted
 *  {"discussion","take","present":false}   it is deleted, or (true) restored; without a take: the
 *                              discussion. Its contents are unchanged: keep them, or fetch
 *                              them when it is restored
 *
 * project: the newest value; ids and names are from it. out_discs (may be NULL): the documents that
 * are concerned; an entry may be shown in several discussions. Cost: the row; of a move, its steps,
 * until there is too much to list. */
RT_CHECKED rt_status rt_view_change(rt_engine *engine, const rt_project *project, uint64_t seq,
				    rt_buf *buf, rt_change_discs *out_discs, rt_error *err);

/* ---- history ---- */

/* Steps, newest first: [{"seq","parent","op","what","did","about","take":{"id","name"},"setting",
 * "by","at","scope","current","undone","rows"}]. what: the step in words; did: the same without
 * ids; about: the first words of the entry that it concerns; take: the one that it changed;
 * setting: the one that it changed, if it changed nothing else. These three only where they apply.
 * before: only rows below this number; 0: all. limit 0: all. */
RT_CHECKED rt_status rt_view_history(rt_engine *engine, const rt_project *project, uint32_t disc,
				     uint64_t before, size_t limit, rt_buf *buf, rt_error *err);
/* One step with its effects, before and after. */
RT_CHECKED rt_status rt_view_step(rt_engine *engine, const rt_project *project, uint64_t seq,
				  rt_buf *buf, rt_error *err);
/* Every text that an entry ever had, oldest first (E10):
 * [{"seq","body","at","by","content","current"}]; "purged" if it was purged */
RT_CHECKED rt_status rt_view_revisions(rt_engine *engine, const rt_project *project, uint32_t disc,
				       uint32_t entry, rt_buf *buf, rt_error *err);

/* ---- others ---- */

/* {"discussion","roles","prompt","settings","files",…} of the project and the discussion. */
RT_CHECKED rt_status rt_view_settings(rt_engine *engine, const rt_project *project, uint32_t disc,
				      rt_buf *buf, rt_error *err);
/* Two takes from the point where they diverge, and the earlier entries that differ:
 * {"common","changed":[{"a","b"}],"a":[…],"b":[…]} */
RT_CHECKED rt_status rt_view_diff(rt_engine *engine, const rt_project *project, uint32_t disc,
				  uint32_t take_a, uint32_t take_b, rt_buf *buf, rt_error *err);

/* ---- single rows ---- */

/* One row as an item of an array: an entry as in rt_view_show, a discussion as in
 * rt_view_discussions, a row of the tree as in rt_view_tree (of that discussion). */
void rt_entry_write(rt_buf *buf, const rt_entry_row *entry);
void rt_disc_row_write(rt_buf *buf, const rt_disc_row *disc);
void rt_tree_row_write(rt_buf *buf, const rt_disc *disc, const rt_tree_row *row);

/* ---- no JSON ---- */

/* Is the entry hidden from users: a program's state, or its message with "display":false
 * (rt_content_is_hidden)? Reads the text of such messages only. */
RT_CHECKED rt_status rt_view_is_hidden(rt_engine *engine, const rt_project *project,
				       const rt_slot *slot, bool *out, rt_error *err);
/* How many entries of a take are hidden. */
RT_CHECKED rt_status rt_view_count_hidden(rt_engine *engine, const rt_project *project,
					  const rt_take *take, size_t *out, rt_error *err);

typedef void (*rt_label_time_fn)(void *ctx, uint32_t entry, int64_t at_us);
/* When entries of a discussion were given the labels that they have now: fn is called for each
 * step that gave one, newest first. Reads at most limit (at least 1) rows of the log per call:
 * *seq is 0 at first, and 1 when all were read. Labels from an import are not among them, and a
 * step may have been undone and repeated since. Cost: limit rows. */
RT_CHECKED rt_status rt_view_label_times(rt_engine *engine, const rt_project *project, uint32_t disc,
					 uint64_t *seq, size_t limit, rt_label_time_fn fn, void *ctx,
					 rt_error *err);

#endif
