/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the tree. */
#ifndef RT_TREE_TREE_IMPL_H
#define RT_TREE_TREE_IMPL_H

#include "tree/tree.h"

enum {
	ROW_CONNECTED = 1 << 0, /* a line leads to it: its parent has several children */
	ROW_LAST = 1 << 1,      /* of its siblings */
	ROW_ROOT = 1 << 2       /* one of several roots, which have no line */
};

/* A visible node. */
typedef struct tree_row {
	uint32_t node;
	uint32_t parent; /* row; RT_TREE_NONE: none is visible above it */
	uint32_t child;  /* first row below it; RT_TREE_NONE: none */
	uint32_t next;   /* sibling; RT_TREE_NONE: the last */
	uint32_t gutter; /* nearest row above to which a line leads; RT_TREE_NONE: none */
	uint32_t indent;
	uint32_t flags; /* ROW_ */
} tree_row;

typedef enum term_where {
	TERM_ANYWHERE,
	TERM_WORD,
	TERM_BEGIN,
	TERM_END,
	TERM_ROLE,
	TERM_LABEL,
	TERM_FLAG, /* flag, or kind */
	TERM_LABELED,
	TERM_KIND
} term_where;

typedef struct tree_term {
	size_t at, size; /* in the query's lower case */
	term_where where;
	unsigned value; /* flag or kind */
	bool not ;
} tree_term;

typedef struct tree_label {
	size_t at, size, low_size; /* it follows in lower case */
} tree_label;

struct rt_tree {
	const rt_alloc *alloc;
	const rt_tree_source *source;
	rt_tree_options options;

	rt_tree_node *nodes;
	uint32_t count;
	uint32_t head;
	rt_buf label_text;  /* of all labels: each unchanged, and in lower case */
	tree_label *labels; /* by a node's label; item 0 is not used */
	uint32_t *table;    /* nodes by entry, open addressing; equal ones in their order */
	size_t table_room;
	size_t mark_count;

	rt_buf hay;        /* of all known texts, in lower case */
	uint32_t learn_at; /* node: the next to examine, cyclically */
	uint32_t unknown;  /* nodes that are not KNOWN */

	tree_row *rows; /* capacity for all nodes */
	uint32_t row_count;
	uint32_t root_count; /* rows without a parent */
	uint32_t *near;      /* scratch, capacity for all nodes: the nearest visible row */
	uint32_t *last;      /* scratch, the same: the last child of a row so far */

	rt_tree_time_fn time; /* of labels; NULL: not shown */
	void *time_ctx;
	rt_tree_filter filter;
	rt_buf query;
	rt_buf query_low; /* the texts to which terms refer */
	tree_term *terms;
	size_t term_count;
	bool is_patient;       /* the search uses texts as they become known */
	uint32_t laid_unknown; /* number of unknown ones when the rows were computed last */
	uint32_t selected;     /* row; RT_TREE_NONE: none */
	uint32_t anchor;       /* node: a range of marks began there; RT_TREE_NONE: none */
	uint32_t remembered;   /* node: the last that was selected; RT_TREE_NONE: none yet */
};

/* tree_rows.c: which nodes are visible and how they are connected. Keeps the selection. */
void rt_tree_lay(rt_tree *tree);

/* tree_search.c */
void rt_tree_add_lower(rt_buf *buf, rt_str text);
bool rt_tree_matches(const rt_tree *tree, uint32_t node);
/* Read the texts of the nodes that are not known, up to count; *out_changed: some have to be hidden
 * now. */
RT_CHECKED rt_status rt_tree_look(rt_tree *tree, size_t count, bool *out_changed, rt_error *err);

#endif
