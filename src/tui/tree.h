/* SPDX-License-Identifier: MIT
 *
 * Tree: the rows of the tree screen, without a screen.
 *
 *   › • user: Which database for a desktop app?
 *     • assistant: SQLite: one file, no server …
 *     ├⊟ • [start] user: Use SQLite, not Postgres
 *     │     • assistant: Good. Schema: …                    ← active
 *     └⊞ user: What about DuckDB?  (+6)
 *     (1/5)
 *
 * Entries are given as a flat list with parents; their texts are read when somebody looks
 * (rt_tree_source). Siblings stay in their order (as pi has it, the one that the head is below
 * comes first). What a filter, a search or a fold hides leaves its children to the nearest entry above it that is visible; only folding hides what is below.
 * A line of descent is drawn where the visible tree forks, so that a long conversation does
 * not drift to the right.
 *
 * What cannot be known without a text (is there anything to see in a reply, does it contain
 * the words that are searched for) is learnt once for each body: rt_tree_learn, in slices,
 * while there is nothing else to do and while a search goes on, or all at once by a search that
 * is to be over when it returns.
 *
 * Nothing here recurses over entries. For 100,000 of them: 10 MB, and up to 200 characters of
 * each text that was learnt (29 MB where all are longer; while it is made anew, the 10 MB
 * twice). Setting, filtering, folding and searching are O(entries); moving and drawing O(rows
 * drawn), but for jumps along a branch, which are as long as the branch, and for rows below
 * very many forks, whose lines are as many. bench/tree measures it.
 *
 * Threads: one at a time. */
#ifndef RT_TUI_TREE_H
#define RT_TUI_TREE_H

#include "base/scope.h"

typedef struct rt_tree rt_tree;

#define RT_TREE_NONE UINT32_MAX

/* What filters ask for. */
typedef enum rt_tree_kind {
	RT_TREE_OTHER,
	RT_TREE_USER,
	RT_TREE_ASSISTANT, /* hidden where it has nothing to show (rt_tree_told.silent) */
	RT_TREE_TOOL,      /* a tool's result */
	RT_TREE_SETTING,   /* labels, edits, model changes, what is hidden from people … */
	RT_TREE_COMPACTION,
	RT_TREE_SUMMARY, /* of a branch that was left */
	RT_TREE_CUSTOM,  /* a program's message, which can be said again as a user's can */
	RT_TREE_NEVER    /* not shown at all: usage */
} rt_tree_kind;

enum {
	RT_TREE_MUTED = 1 << 0,
	RT_TREE_EDITED = 1 << 1,
	RT_TREE_ACTIVE = 1 << 2, /* on the way to the head */
	/* what the tree knows itself */
	RT_TREE_HEAD = 1 << 3,
	RT_TREE_FOLDED = 1 << 4,
	RT_TREE_MARKED = 1 << 5,
	RT_TREE_KNOWN = 1 << 6, /* its text has been looked at */
	RT_TREE_SILENT = 1 << 7
};

/* What a tree is made of. */
typedef struct rt_tree_entry {
	uint64_t name; /* of the place: the same in the next tree, where nothing above it changed */
	uint64_t body; /* number of its text; another text has another number */
	uint32_t entry;  /* number; one entry may stand in several places */
	uint32_t parent; /* index in the list, less than its own; RT_TREE_NONE: a root */
	uint32_t take;   /* number of a take that ends here; 0: none */
	rt_str label;    /* empty: none. Copied */
	uint32_t voice; /* the source's: what makes another thing of the same body (its role …) */
	uint8_t kind;   /* rt_tree_kind */
	uint8_t flags; /* RT_TREE_MUTED, RT_TREE_EDITED; RT_TREE_ACTIVE: as if it were on the way */
} rt_tree_entry;

/* The same in the tree. Nodes are numbered as all of them would be shown. */
typedef struct rt_tree_node {
	uint64_t name;
	uint64_t body;
	uint32_t entry;
	uint32_t parent;
	uint32_t end; /* after the last node below */
	uint32_t row; /* where it is shown; RT_TREE_NONE: it is not */
	uint32_t take;
	uint32_t label; /* see rt_tree_label */
	uint32_t hay;   /* what searches look at: where it begins */
	uint32_t voice;
	uint16_t hay_size;
	uint8_t hay_text; /* where in it the text begins */
	uint8_t kind;
	uint8_t flags;
} rt_tree_node;

/* What there is to say of one entry. Views are the source's, good during the call. */
typedef struct rt_tree_told {
	bool silent;  /* nothing to show: only calls of tools */
	rt_str words; /* what its row says; not shown text yet */
	size_t who;   /* of words: bytes of the beginning that says who */
	rt_str hay;   /* what searches look at, as it is written: role and text */
	size_t text;  /* of hay: where the text begins */
} rt_tree_told;

typedef void (*rt_tree_told_fn)(void *to, size_t index, const rt_tree_told *told);

enum { RT_TREE_ASK_MAX = 64 /* nodes at once */ };

typedef struct rt_tree_source {
	/* Tell fn of count nodes, index counting them from 0. to_search: role and hay are
	 * wanted, else words. A failure ends what asked. */
	rt_status (*tell)(void *ctx, const rt_tree *tree, const uint32_t *nodes, size_t count,
			  bool to_search, rt_tree_told_fn fn, void *to, rt_error *err);
	/* Name of a take. */
	rt_str (*take_name)(void *ctx, uint32_t take);
	void *ctx;
} rt_tree_source;

typedef struct rt_tree_options {
	/* As pi has it: the branch of the head comes first, moving wraps around, a change of the
	 * filter unfolds all, searching knows only words, and rows have no marks of our own. */
	bool as_pi;
	bool ascii; /* lines and text */
} rt_tree_options;

/* source is the caller's and must outlive the tree. options may be NULL. */
RT_CHECKED rt_status rt_tree_new(const rt_alloc *alloc, const rt_tree_source *source,
				 const rt_tree_options *options, rt_tree **out);
void rt_tree_free(rt_tree *tree);
/* Every invariant; for tests. */
void rt_tree_check(const rt_tree *tree);

/* Make the tree, or make it anew after a change: the selection, folds and marks stay with
 * their entries, what was learnt stays with the bodies. A selected entry that is gone leaves
 * the selection to the nearest above it that is still there, else to the head.
 * entries    parents first, siblings in their order; borrowed during the call
 * head       where the conversation stands; RT_TREE_NONE: before the first
 * Where a search is in force, new texts are read for it; what cannot be read is not found.
 * RT_NOMEM, RT_LIMIT: the tree is as it was. */
RT_CHECKED rt_status rt_tree_set(rt_tree *tree, const rt_tree_entry *entries, size_t count,
				 uint32_t head, rt_error *err);

/* ---- which rows ---- */

typedef enum rt_tree_filter {
	RT_TREE_DEFAULT,  /* all but settings */
	RT_TREE_NO_TOOLS, /* nor results of tools */
	RT_TREE_USER_ONLY,
	RT_TREE_LABELED_ONLY,
	RT_TREE_ALL
} rt_tree_filter;
enum { RT_TREE_FILTERS = 5 };

/* After a change of the rows the selection stays with its entry, else goes to the nearest
 * above that is visible, else to the last row; where no row is left it comes back later. */
void rt_tree_set_filter(rt_tree *tree, rt_tree_filter filter);
/* filter, or the default where it is in force already. */
void rt_tree_toggle_filter(rt_tree *tree, rt_tree_filter filter);
/* by: 1 or -1. */
void rt_tree_cycle_filter(rt_tree *tree, int by);
rt_tree_filter rt_tree_current_filter(const rt_tree *tree);

/* Show only entries in which all words are found, whatever their case. A word is looked for
 * in the label, the role and the beginning of the text (200 characters). It may also be
 *   'word     a whole word        ^word  how the text begins    word$  how it ends
 *   !word     not to be found (! goes before the others, too)
 *   role:user label:start         found in that
 *   is:edited is:muted is:marked is:active is:labeled is:compaction is:tool
 * Unfolds everything. Empty: all. Reads texts that were not learnt yet; when that fails, the
 * search is as it was. RT_NOMEM. */
RT_CHECKED rt_status rt_tree_search(rt_tree *tree, rt_str query, rt_error *err);
/* The same for somebody who waits: it reads no text, nor does rt_tree_set then. What was not
 * learnt yet is found when it is (rt_tree_learn); the selection comes back as soon as its row
 * does, unless somebody moved it. O(entries). */
RT_CHECKED rt_status rt_tree_begin_search(rt_tree *tree, rt_str query, rt_error *err);
rt_str rt_tree_query(const rt_tree *tree);

/* Look at the texts of up to count entries, those around the selection first, and hide
 * replies in which there is nothing to see. *out_done (may be NULL): all are known. */
RT_CHECKED rt_status rt_tree_learn(rt_tree *tree, size_t count, bool *out_done, rt_error *err);
/* Something was purged: nothing is known of any text, and what was is overwritten. */
void rt_tree_forget(rt_tree *tree);
/* How much is known, of 100; 100: all. */
unsigned rt_tree_learnt(const rt_tree *tree);

/* ---- moving ---- */

typedef enum rt_tree_step {
	RT_TREE_UP,
	RT_TREE_DOWN,
	RT_TREE_PAGE_UP,
	RT_TREE_PAGE_DOWN,
	RT_TREE_HOME,
	RT_TREE_END,
	RT_TREE_FOLD_OR_PARENT, /* what the left arrow does in trees */
	RT_TREE_UNFOLD_OR_CHILD,
	RT_TREE_FOLD_OR_SEGMENT, /* else to where the branch begins, or the one it is a branch of */
	RT_TREE_UNFOLD_OR_SEGMENT, /* else to the next fork's first branch, or the end of this one */
	RT_TREE_NEXT_SIBLING,
	RT_TREE_PREVIOUS_SIBLING
} rt_tree_step;

/* page: rows of a page. */
void rt_tree_move(rt_tree *tree, rt_tree_step step, size_t page);
/* The node, or the nearest visible above it. */
void rt_tree_select(rt_tree *tree, uint32_t node);
void rt_tree_unfold_all(rt_tree *tree);

/* ---- marks on several entries ---- */

/* The selected one: mark, or take the mark away. */
void rt_tree_mark(rt_tree *tree);
void rt_tree_unmark_all(rt_tree *tree);
size_t rt_tree_mark_count(const rt_tree *tree);
/* The next marked node, hidden or not, from node on; RT_TREE_NONE after the last. */
uint32_t rt_tree_next_marked(const rt_tree *tree, uint32_t node);

/* ---- looking ---- */

size_t rt_tree_node_count(const rt_tree *tree);
/* Good until the next change. */
const rt_tree_node *rt_tree_node_at(const rt_tree *tree, uint32_t node);
rt_str rt_tree_label(const rt_tree *tree, uint32_t node);
/* The first in the list with this entry, those on the way to the head before the others. */
uint32_t rt_tree_find(const rt_tree *tree, uint32_t entry);

size_t rt_tree_row_count(const rt_tree *tree);
uint32_t rt_tree_row_node(const rt_tree *tree, size_t row);
/* Row that says where the head is: its own, or the nearest above it that is shown; among what
 * was searched for or is labelled, its own alone. RT_TREE_NONE: there is none. */
uint32_t rt_tree_head_row(const rt_tree *tree);
/* The entry that somebody who goes to this node means: the head's, where the node's row says where
 * that is and only settings and the like are hidden between them; else its own. */
uint32_t rt_tree_target(const rt_tree *tree, uint32_t node);
/* Row of the selection; SIZE_MAX: there is no row. */
size_t rt_tree_selected(const rt_tree *tree);
/* Its node; RT_TREE_NONE: there is no row. */
uint32_t rt_tree_selected_node(const rt_tree *tree);
/* Has it rows below it, and does a fork or nothing stand before it? */
bool rt_tree_is_foldable(const rt_tree *tree, size_t row);

/* What to show in so many lines: rows around the selection. */
void rt_tree_window(const rt_tree *tree, size_t height, size_t *out_first, size_t *out_count);

/* ---- drawing (tree_draw.c) ---- */

typedef enum rt_tree_style {
	RT_TREE_PLAIN,
	RT_TREE_CURSOR,
	RT_TREE_LINES, /* of descent */
	RT_TREE_FOLD,
	RT_TREE_PATH, /* the dot of the active path */
	RT_TREE_LABEL,
	RT_TREE_WHO, /* "user: " */
	RT_TREE_WORDS,
	RT_TREE_NOTE /* marks of our own */
} rt_tree_style;

typedef struct rt_tree_span {
	size_t at, size; /* bytes */
	rt_tree_style style;
} rt_tree_span;

enum { RT_TREE_SPANS_MAX = 12 };

/* A row as shown text of at most a width. */
typedef struct rt_tree_line {
	rt_str text;
	rt_tree_span spans[RT_TREE_SPANS_MAX]; /* all of text, in order */
	size_t span_count;
	uint32_t node; /* RT_TREE_NONE: a line without an entry */
	bool selected;
} rt_tree_line;

/* Rows first … first + count - 1, which must exist, in so many columns. All scroll to the left where
 * the selected one's text would begin too far to the right. Where the tree has no rows, one line
 * says so. Lines are in the scope; NULL once it has failed. Reads texts. */
const rt_tree_line *rt_tree_draw(rt_tree *tree, rt_scope *s, size_t first, size_t count,
				 size_t width);
/* Show behind labels when they were set: fn appends it ("12:30"), or nothing. NULL: not any more. */
typedef void (*rt_tree_time_fn)(void *ctx, uint32_t entry, rt_buf *out);
void rt_tree_show_times(rt_tree *tree, rt_tree_time_fn fn, void *ctx);
/* "  (3/12) [user]", as shown text. */
void rt_tree_add_footer(rt_buf *buf, const rt_tree *tree, size_t width);

#endif
