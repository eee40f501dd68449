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
 * Entries are a flat list with parents; texts are read on demand (rt_tree_source). Siblings keep
 * their order (in pi the one above the head comes first). The children of an entry that a filter,
 * a search or a fold hides belong to the nearest visible entry above; only folds hide descendants.
 * A line of descent is drawn where the visible tree forks, so that long conversations do not drift
 * to the right.
 *
 * Properties of a text (has a reply a visible part, does it match a search) are determined
 * ("learnt") once per body: rt_tree_learn, in slices, or by a search that must be complete when it
 * returns.
 *
 * Nothing here recurses over entries. Memory for 100,000 of them: 10 MB, and up to 200 characters
 * of each text that was learnt (29 MB where all are longer; the 10 MB twice while the tree is
 * rebuilt). Setting, filtering, folding and searching are O(entries); moving and drawing O(rows
 * drawn), except for jumps along a branch (its length) and rows below very many forks. bench/tree
 * measures it.
 *
 * Threads: one at a time. */
#ifndef RT_TREE_TREE_H
#define RT_TREE_TREE_H

#include "base/scope.h"

typedef struct rt_tree rt_tree;

#define RT_TREE_NONE UINT32_MAX

/* What filters select by. */
typedef enum rt_tree_kind {
	RT_TREE_OTHER,
	RT_TREE_USER,
	RT_TREE_ASSISTANT, /* see RT_TREE_SILENT */
	RT_TREE_TOOL,      /* a tool's result */
	RT_TREE_SETTING,   /* edits, model changes, titles … */
	RT_TREE_STATE,     /* labels, states of programs, hidden entries */
	RT_TREE_COMPACTION,
	RT_TREE_SUMMARY, /* of a branch that was left */
	RT_TREE_CUSTOM,  /* a program's message, which can be edited and sent again like a user's */
	RT_TREE_NEVER    /* not shown at all: usage */
} rt_tree_kind;

enum {
	RT_TREE_MUTED = 1 << 0,
	RT_TREE_EDITED = 1 << 1,
	RT_TREE_ACTIVE = 1 << 2, /* on the way to the head */
	/* set by the tree */
	RT_TREE_HEAD = 1 << 3,
	RT_TREE_FOLDED = 1 << 4,
	RT_TREE_MARKED = 1 << 5,
	RT_TREE_KNOWN = 1 << 6, /* its text was learnt */
	RT_TREE_SILENT = 1 << 7
};

/* An entry of the list. */
typedef struct rt_tree_entry {
	uint64_t name;   /* of the place: the same in the next tree if nothing above it changed */
	uint64_t body;   /* number of its text */
	uint32_t entry;  /* number; an entry may have several places */
	uint32_t parent; /* index in the list, less than its own; RT_TREE_NONE: a root */
	uint32_t take;   /* number of a take that ends here; 0: none */
	rt_str label;    /* empty: none. Copied */
	uint32_t voice;  /* for the source: further data for its words (its role …) */
	uint8_t kind;    /* rt_tree_kind */
	uint8_t flags; /* RT_TREE_MUTED, RT_TREE_EDITED, RT_TREE_ACTIVE */
} rt_tree_entry;

/* The same in the tree, numbered in the order in which all would be shown. */
typedef struct rt_tree_node {
	uint64_t name;
	uint64_t body;
	uint32_t entry;
	uint32_t parent;
	uint32_t end; /* after its last descendant */
	uint32_t row; /* RT_TREE_NONE: it is not visible */
	uint32_t take;
	uint32_t label; /* see rt_tree_label */
	uint32_t hay;   /* offset of the text for searches */
	uint32_t voice;
	uint16_t hay_size;
	uint8_t hay_text; /* offset of the message in it */
	uint8_t kind;
	uint8_t flags;
} rt_tree_node;

/* The texts of an entry, borrowed during the call. */
typedef struct rt_tree_told {
	bool silent;  /* nothing is visible: only calls of tools */
	rt_str words; /* of its row, unescaped */
	size_t who;   /* bytes of words that name the speaker */
	rt_str hay;   /* for searches: role and text */
	size_t text;  /* offset of the text in hay */
} rt_tree_told;

typedef void (*rt_tree_told_fn)(void *to, size_t index, const rt_tree_told *told);

enum { RT_TREE_ASK_MAX = 64 /* nodes at once */ };

typedef struct rt_tree_source {
	/* Calls fn for each of count nodes, with their index. to_search: with silent and hay; else
	 * with words. */
	rt_status (*tell)(void *ctx, const rt_tree *tree, const uint32_t *nodes, size_t count,
			  bool to_search, rt_tree_told_fn fn, void *to, rt_error *err);
	/* Name of a take. */
	rt_str (*take_name)(void *ctx, uint32_t take);
	void *ctx;
} rt_tree_source;

typedef struct rt_tree_options {
	/* As in pi: the branch of the head comes first, the default filter hides settings, and all
	 * filters hide silent replies, moving wraps around, changing the filter unfolds all,
	 * queries are plain words, and rows have no notes. */
	bool as_pi;
	bool ascii; /* lines and text */
} rt_tree_options;

/* source must outlive the tree. options may be NULL. */
RT_CHECKED rt_status rt_tree_new(const rt_alloc *alloc, const rt_tree_source *source,
				 const rt_tree_options *options, rt_tree **out);
void rt_tree_free(rt_tree *tree);
/* Asserts every invariant; for tests. */
void rt_tree_check(const rt_tree *tree);

/* Make the tree, or rebuild it after a change: selection, folds and marks stay with their entries,
 * known properties with the bodies. If the selected entry is gone, its nearest remaining ancestor
 * is selected, else the head. New texts are learnt for an active search; unreadable ones do not
 * match. RT_NOMEM, RT_LIMIT: the tree is unchanged.
 *
 * entries    parents first, siblings in their order; borrowed during the call
 * head       index of the head's entry; RT_TREE_NONE: before the first */
RT_CHECKED rt_status rt_tree_set(rt_tree *tree, const rt_tree_entry *entries, size_t count,
				 uint32_t head, rt_error *err);

/* ---- which rows ---- */

typedef enum rt_tree_filter {
	RT_TREE_DEFAULT,  /* all but states; in pi also settings and silent replies */
	RT_TREE_NO_TOOLS, /* nor settings, results of tools, and silent replies */
	RT_TREE_USER_ONLY,
	RT_TREE_LABELED_ONLY,
	RT_TREE_ALL
} rt_tree_filter;
enum { RT_TREE_FILTERS = 5 };

/* When rows change, the selection stays with its entry, else moves to the nearest visible one
 * above, else to the last row; without rows it is remembered. */
void rt_tree_set_filter(rt_tree *tree, rt_tree_filter filter);
/* Sets this filter, or the default if it is set already. */
void rt_tree_toggle_filter(rt_tree *tree, rt_tree_filter filter);
/* by: 1 or -1. */
void rt_tree_cycle_filter(rt_tree *tree, int by);

/* Show only entries that match all words, whatever their case. A word is searched for in the label,
 * the role and the beginning of the text (200 characters). It may also be
 *   'word     a whole word        ^word  the text's beginning    word$  its end
 *   !word     no match (! goes before the others, too)
 *   role:user label:start         in these only
 *   is:edited is:muted is:marked is:active is:labeled is:compaction is:tool
 * Unfolds everything. Empty: show all. Learns all texts first; when that fails, nothing changes. */
RT_CHECKED rt_status rt_tree_search(rt_tree *tree, rt_str query, rt_error *err);
/* The same without reading texts, here and in rt_tree_set. Entries are found once they have been
 * learnt (rt_tree_learn); the selection returns with its row unless it was moved. O(entries). */
RT_CHECKED rt_status rt_tree_begin_search(rt_tree *tree, rt_str query, rt_error *err);
rt_str rt_tree_query(const rt_tree *tree);

/* Learn the texts of up to count entries, those near the selection first, and hide silent replies.
 * *out_done (may be NULL): all are known. */
RT_CHECKED rt_status rt_tree_learn(rt_tree *tree, size_t count, bool *out_done, rt_error *err);
/* After a purge: forgets all texts, and overwrites their memory. */
void rt_tree_forget(rt_tree *tree);
/* Percentage of texts that are known. */
unsigned rt_tree_learnt(const rt_tree *tree);

/* ---- moving ---- */

typedef enum rt_tree_step {
	RT_TREE_UP,
	RT_TREE_DOWN,
	RT_TREE_PAGE_UP,
	RT_TREE_PAGE_DOWN,
	RT_TREE_HOME,
	RT_TREE_END,
	RT_TREE_FOLD_OR_PARENT, /* like the left arrow key in file trees */
	RT_TREE_UNFOLD_OR_CHILD,
	RT_TREE_FOLD_OR_SEGMENT,   /* else to the beginning of the branch, or of the one above */
	RT_TREE_UNFOLD_OR_SEGMENT, /* else to the first branch of the next fork, or the end */
	RT_TREE_NEXT_SIBLING,
	RT_TREE_PREVIOUS_SIBLING
} rt_tree_step;

/* page: rows of a page. */
void rt_tree_move(rt_tree *tree, rt_tree_step step, size_t page);
/* Select the node, or the nearest visible one above it. */
void rt_tree_select(rt_tree *tree, uint32_t node);
void rt_tree_unfold_all(rt_tree *tree);

/* ---- marks on several entries ---- */

/* Mark or unmark the selected entry. */
void rt_tree_mark(rt_tree *tree);
/* Move the selection up or down, and mark all rows between it and the row at which the first of
 * several such moves began; going back unmarks them. */
void rt_tree_mark_range(rt_tree *tree, bool up);
void rt_tree_unmark_all(rt_tree *tree);
size_t rt_tree_mark_count(const rt_tree *tree);
/* The first marked node from node on, visible or not; or RT_TREE_NONE. */
uint32_t rt_tree_next_marked(const rt_tree *tree, uint32_t node);

/* ---- getters ---- */

size_t rt_tree_node_count(const rt_tree *tree);
/* Valid until the next change. */
const rt_tree_node *rt_tree_node_at(const rt_tree *tree, uint32_t node);
rt_str rt_tree_label(const rt_tree *tree, uint32_t node);
/* The first node of this entry, preferably on the way to the head. */
uint32_t rt_tree_find(const rt_tree *tree, uint32_t entry);

size_t rt_tree_row_count(const rt_tree *tree);
uint32_t rt_tree_row_node(const rt_tree *tree, size_t row);
/* The row that marks the head: its own, or the nearest visible one above; in a search or with the
 * filter for labels only its own. Or RT_TREE_NONE. */
uint32_t rt_tree_head_row(const rt_tree *tree);
/* The destination of a navigation to this node: the head's entry, if the node's row marks it and
 * only settings and states are hidden between them; else its own entry. */
uint32_t rt_tree_target(const rt_tree *tree, uint32_t node);
/* The selected row; SIZE_MAX: there are no rows. */
size_t rt_tree_selected(const rt_tree *tree);
/* The node of the selected row, or RT_TREE_NONE. */
uint32_t rt_tree_selected_node(const rt_tree *tree);
/* Does it have rows below, and is it a root or a child of a fork? */
bool rt_tree_is_foldable(const rt_tree *tree, size_t row);

/* The rows around the selection that fit the height. */
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
	RT_TREE_NOTE /* "← active", "(edited)" … */
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

/* Rows first … first + count - 1, which must exist, in the given columns. All scroll to the left if
 * the selected one's text would begin too far to the right. If the tree has no rows, one line says
 * so. Lines are in the scope; NULL once it has failed. Reads texts. */
const rt_tree_line *rt_tree_draw(rt_tree *tree, rt_scope *s, size_t first, size_t count,
				 size_t width);
/* Show after labels when they were set: fn appends the time ("12:30"), or nothing. NULL: stop
 * showing it. */
typedef void (*rt_tree_time_fn)(void *ctx, uint32_t entry, rt_buf *out);
void rt_tree_show_times(rt_tree *tree, rt_tree_time_fn fn, void *ctx);
/* "  (3/12) [user]", as shown text. */
void rt_tree_add_footer(rt_buf *buf, const rt_tree *tree, size_t width);

#endif
