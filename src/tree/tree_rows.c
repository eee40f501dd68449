/* SPDX-License-Identifier: MIT
 *
 * Rows: which nodes are visible, and how the visible tree is drawn.
 *
 * Nodes are in the order in which all of them would be shown, so one pass finds for each the
 * nearest visible row above it, which is its parent's. A second pass over the rows indents them. */
#include "tree/tree_impl.h"

static bool
passes(const rt_tree *t, const rt_tree_node *n)
{
	bool is_record = n->kind == RT_TREE_SETTING || n->kind == RT_TREE_STATE;
	bool is_silent = (n->flags & (RT_TREE_SILENT | RT_TREE_HEAD)) == RT_TREE_SILENT;

	if (n->kind == RT_TREE_NEVER || (t->options.as_pi && is_silent))
		return false;
	switch (t->filter) {
	case RT_TREE_DEFAULT: return t->options.as_pi ? !is_record : n->kind != RT_TREE_STATE;
	case RT_TREE_NO_TOOLS: return !is_record && !is_silent && n->kind != RT_TREE_TOOL;
	case RT_TREE_USER_ONLY: return n->kind == RT_TREE_USER;
	case RT_TREE_LABELED_ONLY: return n->label != 0;
	case RT_TREE_ALL: break;
	}
	return true;
}

static void
add_row(rt_tree *t, uint32_t node, uint32_t parent)
{
	uint32_t row = t->row_count++;
	tree_row *r = &t->rows[row];

	*r = (tree_row){.node = node,
			.parent = parent,
			.child = RT_TREE_NONE,
			.next = RT_TREE_NONE,
			.gutter = RT_TREE_NONE};
	t->nodes[node].row = row;
	t->last[row] = RT_TREE_NONE;
	if (parent == RT_TREE_NONE) {
		/* the last root so far is item count */
		if (t->root_count++ > 0)
			t->rows[t->last[t->count]].next = row;
		t->last[t->count] = row;
	} else {
		if (t->last[parent] == RT_TREE_NONE)
			t->rows[parent].child = row;
		else
			t->rows[t->last[parent]].next = row;
		t->last[parent] = row;
	}
}

static void
find_rows(rt_tree *t)
{
	uint32_t fold_end = 0;

	t->row_count = t->root_count = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		rt_tree_node *n = &t->nodes[i];
		uint32_t above = n->parent == RT_TREE_NONE ? RT_TREE_NONE : t->near[n->parent];

		n->row = RT_TREE_NONE;
		t->near[i] = above;
		if (i >= fold_end && passes(t, n) &&
		    (t->term_count == 0 || rt_tree_matches(t, i))) {
			add_row(t, i, above);
			t->near[i] = n->row;
		}
		if ((n->flags & RT_TREE_FOLDED) != 0 && n->end > fold_end)
			fold_end = n->end;
	}
}

/* Children of a fork, and the entries after the first one of a branch, are one level deeper. */
static void
indent_rows(rt_tree *t)
{
	bool many_roots = t->root_count > 1;

	for (uint32_t i = 0; i < t->row_count; i++) {
		tree_row *r = &t->rows[i];
		const tree_row *parent;
		bool forks;

		if (r->next == RT_TREE_NONE)
			r->flags |= ROW_LAST;
		if (r->parent == RT_TREE_NONE) {
			r->indent = many_roots;
			r->flags |= many_roots ? ROW_CONNECTED | ROW_ROOT : 0;
			continue;
		}
		parent = &t->rows[r->parent];
		forks = t->rows[parent->child].next != RT_TREE_NONE;
		r->flags |= forks ? ROW_CONNECTED : 0;
		r->indent = parent->indent;
		if (forks || ((parent->flags & ROW_CONNECTED) != 0 && parent->indent > 0))
			r->indent++;
		r->gutter = (parent->flags & (ROW_CONNECTED | ROW_ROOT)) == ROW_CONNECTED
				    ? r->parent
				    : parent->gutter;
	}
}

void
rt_tree_lay(rt_tree *t)
{
	find_rows(t);
	indent_rows(t);
	t->laid_unknown = t->unknown;
	if (t->row_count == 0) {
		t->selected = RT_TREE_NONE;
		return;
	}
	t->selected = t->remembered != RT_TREE_NONE ? t->near[t->remembered] : RT_TREE_NONE;
	if (t->selected == RT_TREE_NONE)
		t->selected = t->row_count - 1;
	/* The row that was selected may still be found by a search. */
	if (t->term_count == 0 || !t->is_patient || t->unknown == 0 ||
	    t->remembered == RT_TREE_NONE)
		t->remembered = t->rows[t->selected].node;
}
