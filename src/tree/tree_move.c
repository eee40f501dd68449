/* SPDX-License-Identifier: MIT
 *
 * Moving the selection, folding, marking, and getters. */
#include "tree/tree_impl.h"

static void
go_to(rt_tree *t, uint32_t row)
{
	t->selected = row;
	t->remembered = t->rows[row].node;
	t->anchor = RT_TREE_NONE;
}

uint32_t
rt_tree_head_row(const rt_tree *t)
{
	if (t->head == RT_TREE_NONE || t->row_count == 0)
		return RT_TREE_NONE;
	return t->term_count > 0 || t->filter == RT_TREE_LABELED_ONLY ? t->nodes[t->head].row
								      : t->near[t->head];
}

uint32_t
rt_tree_target(const rt_tree *t, uint32_t node)
{
	uint32_t at = t->head;

	while (at != RT_TREE_NONE && at != node && t->nodes[at].row == RT_TREE_NONE &&
	       (t->nodes[at].kind == RT_TREE_SETTING || t->nodes[at].kind == RT_TREE_STATE ||
		t->nodes[at].kind == RT_TREE_NEVER))
		at = t->nodes[at].parent;
	return t->nodes[at == node ? t->head : node].entry;
}

static bool
has_siblings(const rt_tree *t, uint32_t row)
{
	uint32_t parent = t->rows[row].parent;

	return parent != RT_TREE_NONE && t->rows[t->rows[parent].child].next != RT_TREE_NONE;
}

bool
rt_tree_is_foldable(const rt_tree *t, size_t row)
{
	const tree_row *r = &t->rows[row];

	return r->child != RT_TREE_NONE &&
	       (r->parent == RT_TREE_NONE || has_siblings(t, (uint32_t)row));
}

static uint32_t
segment_up(const rt_tree *t)
{
	uint32_t at = t->selected;

	while (t->rows[at].parent != RT_TREE_NONE && (at == t->selected || !has_siblings(t, at)))
		at = t->rows[at].parent;
	return at;
}

static uint32_t
segment_down(const rt_tree *t)
{
	uint32_t at = t->selected;

	while (t->rows[at].child != RT_TREE_NONE) {
		at = t->rows[at].child;
		if (t->rows[at].next != RT_TREE_NONE)
			break;
	}
	return at;
}

static uint32_t
previous_sibling(const rt_tree *t)
{
	const tree_row *r = &t->rows[t->selected];
	uint32_t at = r->parent == RT_TREE_NONE ? 0 : t->rows[r->parent].child;

	while (at != t->selected && t->rows[at].next != t->selected)
		at = t->rows[at].next;
	return at;
}

/* Fold or unfold the selected node; false: that is not possible. */
static bool
fold(rt_tree *t, bool on)
{
	rt_tree_node *n = &t->nodes[t->rows[t->selected].node];

	if (on ? (n->flags & RT_TREE_FOLDED) != 0 || !rt_tree_is_foldable(t, t->selected)
	       : (n->flags & RT_TREE_FOLDED) == 0)
		return false;
	n->flags ^= RT_TREE_FOLDED;
	rt_tree_lay(t);
	return true;
}

void
rt_tree_move(rt_tree *t, rt_tree_step step, size_t page)
{
	uint32_t at = t->selected, end = t->row_count - 1;
	const tree_row *r;
	bool folds = step == RT_TREE_FOLD_OR_PARENT || step == RT_TREE_FOLD_OR_SEGMENT;
	bool unfolds = step == RT_TREE_UNFOLD_OR_CHILD || step == RT_TREE_UNFOLD_OR_SEGMENT;

	if (at == RT_TREE_NONE || ((folds || unfolds) && fold(t, folds)))
		return;
	r = &t->rows[at];
	switch (step) {
	case RT_TREE_UP: at = at > 0 ? at - 1 : t->options.as_pi ? end : 0; break;
	case RT_TREE_DOWN: at = at < end ? at + 1 : t->options.as_pi ? 0 : end; break;
	case RT_TREE_PAGE_UP: at = at > page ? at - (uint32_t)page : 0; break;
	case RT_TREE_PAGE_DOWN: at = end - at > page ? at + (uint32_t)page : end; break;
	case RT_TREE_HOME: at = 0; break;
	case RT_TREE_END: at = end; break;
	case RT_TREE_FOLD_OR_PARENT: at = r->parent != RT_TREE_NONE ? r->parent : at; break;
	case RT_TREE_UNFOLD_OR_CHILD: at = r->child != RT_TREE_NONE ? r->child : at; break;
	case RT_TREE_FOLD_OR_SEGMENT: at = segment_up(t); break;
	case RT_TREE_UNFOLD_OR_SEGMENT: at = segment_down(t); break;
	case RT_TREE_NEXT_SIBLING: at = r->next != RT_TREE_NONE ? r->next : at; break;
	case RT_TREE_PREVIOUS_SIBLING: at = previous_sibling(t); break;
	}
	go_to(t, at);
}

void
rt_tree_select(rt_tree *t, uint32_t node)
{
	if (t->near[node] != RT_TREE_NONE)
		go_to(t, t->near[node]);
}

/* ---- marks ---- */

static void
set_mark(rt_tree *t, uint32_t row, bool on)
{
	rt_tree_node *n = &t->nodes[t->rows[row].node];

	if (on == ((n->flags & RT_TREE_MARKED) != 0))
		return;
	n->flags ^= RT_TREE_MARKED;
	t->mark_count += on ? 1 : (size_t)-1;
}

void
rt_tree_mark(rt_tree *t)
{
	if (t->selected != RT_TREE_NONE)
		set_mark(t, t->selected,
			 (t->nodes[t->rows[t->selected].node].flags & RT_TREE_MARKED) == 0);
}

void
rt_tree_mark_range(rt_tree *t, bool up)
{
	uint32_t was = t->selected, anchor, start;

	if (was == RT_TREE_NONE)
		return;
	anchor = t->anchor;
	if (anchor == RT_TREE_NONE || t->nodes[anchor].row == RT_TREE_NONE)
		anchor = t->rows[was].node;
	start = t->nodes[anchor].row;
	if (up ? was > 0 : was + 1 < t->row_count)
		go_to(t, up ? was - 1 : was + 1);
	if (up ? start < was : start > was) { /* back towards the anchor */
		set_mark(t, was, false);
	} else {
		set_mark(t, was, true);
		set_mark(t, t->selected, true);
	}
	t->anchor = anchor;
}

void
rt_tree_unmark_all(rt_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		t->nodes[i].flags &= (uint8_t)~RT_TREE_MARKED;
	t->mark_count = 0;
}

size_t
rt_tree_mark_count(const rt_tree *t)
{
	return t->mark_count;
}

uint32_t
rt_tree_next_marked(const rt_tree *t, uint32_t node)
{
	for (; node < t->count; node++)
		if ((t->nodes[node].flags & RT_TREE_MARKED) != 0)
			return node;
	return RT_TREE_NONE;
}

/* ---- getters ---- */

size_t
rt_tree_node_count(const rt_tree *t)
{
	return t->count;
}

const rt_tree_node *
rt_tree_node_at(const rt_tree *t, uint32_t node)
{
	return &t->nodes[node];
}

rt_str
rt_tree_label(const rt_tree *t, uint32_t node)
{
	const tree_label *label = &t->labels[t->nodes[node].label];

	return label->size > 0 ? rt_str_at(t->label_text.ptr + label->at, label->size)
			       : rt_str_at(NULL, 0);
}

size_t
rt_tree_row_count(const rt_tree *t)
{
	return t->row_count;
}

uint32_t
rt_tree_row_node(const rt_tree *t, size_t row)
{
	return t->rows[row].node;
}

size_t
rt_tree_selected(const rt_tree *t)
{
	return t->selected == RT_TREE_NONE ? SIZE_MAX : t->selected;
}

uint32_t
rt_tree_selected_node(const rt_tree *t)
{
	return t->selected == RT_TREE_NONE ? RT_TREE_NONE : t->rows[t->selected].node;
}

void
rt_tree_window(const rt_tree *t, size_t height, size_t *out_first, size_t *out_count)
{
	size_t rows = t->row_count, first = 0;

	if (rows > height) {
		first = t->selected > height / 2 ? t->selected - height / 2 : 0;
		if (first > rows - height)
			first = rows - height;
	}
	*out_first = first;
	*out_count = rows - first < height ? rows - first : height;
}
