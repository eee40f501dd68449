/* SPDX-License-Identifier: MIT
 *
 * The tree itself: made from a list of entries, and rebuilt from the next one.
 *
 * A new tree is built next to the old one and replaces it when nothing can fail any more. The
 * selection, folds, marks and known properties of texts are carried over: entries are identified by
 * their number, and one with several places by the name of its place. */
#include "tree/tree_impl.h"

#include "base/hash.h"

enum {
	LEARN_BEFORE = 128, /* learning begins this many nodes before the selection */
	LAYS = 16           /* how often rows are recomputed while texts are read for a search */
};

/* ---- life ---- */

static void
nodes_deinit(rt_tree *t)
{
	rt_free(t->alloc, t->nodes);
	rt_free(t->alloc, t->labels);
	rt_free(t->alloc, t->table);
	rt_free(t->alloc, t->rows);
	rt_free(t->alloc, t->near);
	rt_free(t->alloc, t->last);
	rt_buf_deinit(&t->label_text);
}

rt_status
rt_tree_new(const rt_alloc *alloc, const rt_tree_source *source, const rt_tree_options *options,
	    rt_tree **out)
{
	rt_tree *t = rt_new0(alloc, sizeof(*t));

	if (t == NULL)
		return RT_NOMEM;
	t->alloc = alloc;
	t->source = source;
	if (options != NULL)
		t->options = *options;
	t->head = t->selected = t->remembered = t->anchor = RT_TREE_NONE;
	rt_buf_init(&t->label_text, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&t->hay, alloc, UINT32_MAX);
	rt_buf_init(&t->query, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&t->query_low, alloc, RT_BUF_UNLIMITED);
	*out = t;
	return RT_OK;
}

void
rt_tree_free(rt_tree *t)
{
	if (t == NULL)
		return;
	nodes_deinit(t);
	rt_buf_deinit(&t->hay);
	rt_buf_deinit(&t->query);
	rt_buf_deinit(&t->query_low);
	rt_free(t->alloc, t->terms);
	rt_free(t->alloc, t);
}

/* ---- building ---- */

/* A list that becomes a tree; arrays by index in the list. */
typedef struct plan {
	const rt_tree_entry *entries;
	uint32_t count, head;
	uint32_t *child, *next, *last; /* item count of child and last: of the roots */
	uint32_t *last_active;         /* the same: the last active child */
	uint32_t *node;                /* in the tree */
	bool *active;
	bool active_first; /* of siblings, as in pi */
} plan;

/* After its siblings, or (active_first) after the active ones. */
static void
add_child(plan *p, uint32_t parent, uint32_t i)
{
	uint32_t before = p->active[i] && p->active_first ? p->last_active[parent]
							  : p->last[parent];

	if (before == RT_TREE_NONE) {
		p->next[i] = p->child[parent];
		p->child[parent] = i;
	} else {
		p->next[i] = p->next[before];
		p->next[before] = i;
	}
	if (p->next[i] == RT_TREE_NONE)
		p->last[parent] = i;
	if (p->active[i])
		p->last_active[parent] = i;
}

static uint32_t *
plan_array(rt_scope *s, size_t count)
{
	uint32_t *array = rt_scope_array(s, count + 1, sizeof(*array));

	if (array != NULL)
		memset(array, 0xFF, (count + 1) * sizeof(*array));
	return array;
}

static void
plan_init(plan *p, rt_scope *s)
{
	p->child = plan_array(s, p->count);
	p->next = plan_array(s, p->count);
	p->last = plan_array(s, p->count);
	p->last_active = plan_array(s, p->count);
	p->node = plan_array(s, p->count);
	p->active = rt_scope_array(s, (size_t)p->count + 1, sizeof(*p->active));
	if (!rt_ok(s))
		return;
	for (uint32_t i = 0; i < p->count; i++)
		p->active[i] = (p->entries[i].flags & RT_TREE_ACTIVE) != 0;
	for (uint32_t i = p->head; i != RT_TREE_NONE; i = p->entries[i].parent)
		p->active[i] = true;
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t parent = p->entries[i].parent;

		RT_ASSERT(parent == RT_TREE_NONE || parent < i);
		add_child(p, parent == RT_TREE_NONE ? p->count : parent, i);
	}
}

static void
add_label(rt_tree *t, rt_tree_node *n, rt_str text, uint32_t *count)
{
	tree_label *label;

	if (text.size == 0)
		return;
	n->label = ++*count;
	label = &t->labels[n->label];
	label->at = t->label_text.size;
	label->size = text.size;
	rt_buf_add_str(&t->label_text, text);
	rt_tree_add_lower(&t->label_text, text);
	label->low_size = t->label_text.size - label->at - label->size;
}

/* Creates the nodes, depth first. */
static void
lay_nodes(rt_tree *t, plan *p)
{
	uint32_t at = p->child[p->count], done = 0, labels = 0;

	while (at != RT_TREE_NONE) {
		const rt_tree_entry *e = &p->entries[at];
		rt_tree_node *n = &t->nodes[done];

		*n = (rt_tree_node){
			.name = e->name,
			.body = e->body,
			.entry = e->entry,
			.parent = e->parent == RT_TREE_NONE ? RT_TREE_NONE : p->node[e->parent],
			.row = RT_TREE_NONE,
			.take = e->take,
			.voice = e->voice,
			.kind = e->kind,
			.flags = e->flags & (RT_TREE_MUTED | RT_TREE_EDITED),
		};
		if (p->active[at])
			n->flags |= RT_TREE_ACTIVE;
		if (at == p->head) {
			n->flags |= RT_TREE_HEAD;
			t->head = done;
		}
		add_label(t, n, e->label, &labels);
		p->node[at] = done++;
		if (p->child[at] != RT_TREE_NONE) {
			at = p->child[at];
			continue;
		}
		for (;;) {
			t->nodes[p->node[at]].end = done;
			if (p->next[at] != RT_TREE_NONE) {
				at = p->next[at];
				break;
			}
			at = p->entries[at].parent;
			if (at == RT_TREE_NONE)
				break;
		}
	}
	RT_ASSERT(done == t->count);
}

static size_t
table_at(const rt_tree *t, uint32_t entry)
{
	return (size_t)rt_hash_u64(entry) & (t->table_room - 1);
}

static void
fill_table(rt_tree *t)
{
	memset(t->table, 0xFF, t->table_room * sizeof(*t->table));
	for (uint32_t i = 0; i < t->count; i++) {
		size_t at = table_at(t, t->nodes[i].entry);

		while (t->table[at] != RT_TREE_NONE)
			at = (at + 1) & (t->table_room - 1);
		t->table[at] = i;
	}
}

/* An array that lives as long as the nodes. */
static void *
new_array(const rt_tree *t, rt_scope *s, size_t count, size_t size)
{
	void *array = rt_ok(s) ? rt_new_array(t->alloc, count, size) : NULL;

	if (array == NULL)
		(void)rt_scope_nomem(s);
	return array;
}

static void
nodes_init(rt_tree *t, rt_scope *s, const rt_tree_entry *entries, size_t count, uint32_t head)
{
	size_t labels = 1;
	plan p = {.entries = entries,
		  .count = (uint32_t)count,
		  .head = head,
		  .active_first = t->options.as_pi};

	for (size_t i = 0; i < count; i++)
		labels += entries[i].label.size > 0;
	for (t->table_room = 16; t->table_room < count * 2;)
		t->table_room *= 2;
	t->nodes = new_array(t, s, count + 1, sizeof(*t->nodes));
	t->rows = new_array(t, s, count + 1, sizeof(*t->rows));
	t->near = new_array(t, s, count + 1, sizeof(*t->near));
	t->last = new_array(t, s, count + 1, sizeof(*t->last));
	t->labels = new_array(t, s, labels, sizeof(*t->labels));
	t->table = new_array(t, s, t->table_room, sizeof(*t->table));
	plan_init(&p, s);
	if (!rt_ok(s))
		return;
	t->count = t->unknown = (uint32_t)count;
	t->labels[0] = (tree_label){0};
	lay_nodes(t, &p);
	if (RT_TRY(s, t->label_text.status) == RT_OK)
		fill_table(t);
}

/* The node of an entry: the one with this place's name, else its first. */
static uint32_t
find(const rt_tree *t, uint32_t entry, uint64_t name)
{
	uint32_t first = RT_TREE_NONE;
	size_t at;

	if (t->count == 0)
		return RT_TREE_NONE;
	for (at = table_at(t, entry); t->table[at] != RT_TREE_NONE;
	     at = (at + 1) & (t->table_room - 1)) {
		const rt_tree_node *n = &t->nodes[t->table[at]];

		if (n->entry != entry)
			continue;
		if (n->name == name)
			return t->table[at];
		if (first == RT_TREE_NONE)
			first = t->table[at];
	}
	return first;
}

uint32_t
rt_tree_find(const rt_tree *t, uint32_t entry)
{
	uint32_t first = RT_TREE_NONE;
	size_t at;

	if (t->count == 0)
		return RT_TREE_NONE;
	for (at = table_at(t, entry); t->table[at] != RT_TREE_NONE;
	     at = (at + 1) & (t->table_room - 1))
		if (t->nodes[t->table[at]].entry == entry &&
		    (first == RT_TREE_NONE || t->table[at] < first))
			first = t->table[at];
	return first;
}

/* Known properties of a text apply to all places of its entry. */
static void
carry_known(rt_tree *t, const rt_tree_node *old)
{
	size_t at;

	for (at = table_at(t, old->entry); t->table[at] != RT_TREE_NONE;
	     at = (at + 1) & (t->table_room - 1)) {
		rt_tree_node *n = &t->nodes[t->table[at]];

		if (n->entry != old->entry || n->body != old->body || n->kind != old->kind ||
		    n->voice != old->voice || (n->flags & RT_TREE_KNOWN) != 0)
			continue;
		n->flags |= old->flags & (RT_TREE_KNOWN | RT_TREE_SILENT);
		n->hay = old->hay;
		n->hay_size = old->hay_size;
		n->hay_text = old->hay_text;
		t->unknown--;
	}
}

static void
carry_over(rt_tree *t, const rt_tree *old)
{
	const uint8_t kept = RT_TREE_FOLDED | RT_TREE_MARKED;
	uint32_t to = RT_TREE_NONE;

	for (uint32_t i = 0; i < old->count && t->count > 0; i++) {
		const rt_tree_node *was = &old->nodes[i];

		if ((was->flags & RT_TREE_KNOWN) != 0)
			carry_known(t, was);
		if ((was->flags & kept) == 0)
			continue;
		to = find(t, was->entry, was->name);
		if (to != RT_TREE_NONE)
			t->nodes[to].flags |= was->flags & kept;
	}
	t->mark_count = 0;
	for (uint32_t i = 0; i < t->count; i++)
		t->mark_count += (t->nodes[i].flags & RT_TREE_MARKED) != 0;
	t->anchor = RT_TREE_NONE; /* nodes have other numbers now */
	t->remembered = t->head;
	to = RT_TREE_NONE;
	for (uint32_t i = old->remembered; i != RT_TREE_NONE && to == RT_TREE_NONE;
	     i = old->nodes[i].parent)
		to = find(t, old->nodes[i].entry, old->nodes[i].name);
	if (to != RT_TREE_NONE)
		t->remembered = to;
}

rt_status
rt_tree_set(rt_tree *tree, const rt_tree_entry *entries, size_t count, uint32_t head, rt_error *err)
{
	rt_tree next = *tree, old = *tree;
	bool changed;
	rt_scope s;
	rt_status st;

	if (count >= RT_TREE_NONE)
		return rt_fail(err, RT_LIMIT, "too many entries for a tree");
	RT_ASSERT(head == RT_TREE_NONE || head < count);
	rt_buf_init(&next.label_text, tree->alloc, RT_BUF_UNLIMITED);
	next.head = RT_TREE_NONE;
	rt_scope_init(&s, tree->alloc);
	nodes_init(&next, &s, entries, count, head);
	st = rt_scope_end(&s, err);
	if (st != RT_OK) {
		nodes_deinit(&next);
		return st;
	}
	carry_over(&next, tree);
	*tree = next;
	nodes_deinit(&old);
	tree->learn_at = tree->remembered == RT_TREE_NONE || tree->remembered < LEARN_BEFORE
				 ? 0
				 : tree->remembered - LEARN_BEFORE;
	/* A failure is benign: an unknown text is not found before it is read. */
	if (tree->term_count > 0 && !tree->is_patient &&
	    rt_tree_look(tree, tree->count, &changed, NULL) != RT_OK)
		tree->learn_at = 0;
	rt_tree_lay(tree);
	return RT_OK;
}

/* ---- which rows ---- */

void
rt_tree_unfold_all(rt_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		t->nodes[i].flags &= (uint8_t)~RT_TREE_FOLDED;
	rt_tree_lay(t);
}

void
rt_tree_set_filter(rt_tree *t, rt_tree_filter filter)
{
	t->filter = filter;
	if (t->options.as_pi)
		rt_tree_unfold_all(t);
	else
		rt_tree_lay(t);
}

void
rt_tree_toggle_filter(rt_tree *t, rt_tree_filter filter)
{
	rt_tree_set_filter(t, t->filter == filter ? RT_TREE_DEFAULT : filter);
}

void
rt_tree_cycle_filter(rt_tree *t, int by)
{
	int count = RT_TREE_FILTERS;

	rt_tree_set_filter(t, (rt_tree_filter)((((int)t->filter + by) % count + count) % count));
}

rt_status
rt_tree_learn(rt_tree *t, size_t count, bool *out_done, rt_error *err)
{
	bool changed = false;
	rt_status st = rt_tree_look(t, count, &changed, err);

	/* A search may find the new texts. */
	if (changed || (t->term_count > 0 && t->is_patient && t->unknown < t->laid_unknown &&
			(t->unknown == 0 || t->laid_unknown - t->unknown > t->count / LAYS)))
		rt_tree_lay(t);
	if (out_done != NULL)
		*out_done = t->unknown == 0;
	return st;
}

void
rt_tree_forget(rt_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		rt_tree_node *n = &t->nodes[i];

		n->flags &= (uint8_t) ~(RT_TREE_KNOWN | RT_TREE_SILENT);
		n->hay = 0;
		n->hay_size = 0;
		n->hay_text = 0;
	}
	t->unknown = t->count;
	if (t->hay.size > 0)
		memset(t->hay.ptr, 0, t->hay.size);
	rt_buf_clear(&t->hay);
	rt_tree_lay(t);
}

unsigned
rt_tree_learnt(const rt_tree *t)
{
	return t->unknown == 0 ? 100
			       : (unsigned)((uint64_t)(t->count - t->unknown) * 100 / t->count);
}

/* ---- checking ---- */

static void
check_nodes(const rt_tree *t)
{
	uint32_t unknown = 0, heads = 0;
	size_t marks = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		const rt_tree_node *n = &t->nodes[i];

		RT_ASSERT(n->end > i && n->end <= t->count);
		RT_ASSERT(n->parent == RT_TREE_NONE || n->parent < i);
		RT_ASSERT(n->parent == RT_TREE_NONE || n->end <= t->nodes[n->parent].end);
		RT_ASSERT((n->flags & RT_TREE_HEAD) == 0 || t->head == i);
		RT_ASSERT(n->row == RT_TREE_NONE || t->rows[n->row].node == i);
		RT_ASSERT((size_t)n->hay + n->hay_size <= t->hay.size);
		RT_ASSERT(find(t, n->entry, n->name) != RT_TREE_NONE);
		unknown += (n->flags & RT_TREE_KNOWN) == 0;
		marks += (n->flags & RT_TREE_MARKED) != 0;
		heads += (n->flags & RT_TREE_HEAD) != 0;
	}
	for (uint32_t i = t->head; i != RT_TREE_NONE; i = t->nodes[i].parent)
		RT_ASSERT((t->nodes[i].flags & RT_TREE_ACTIVE) != 0);
	RT_ASSERT(unknown == t->unknown);
	RT_ASSERT(marks == t->mark_count);
	RT_ASSERT(heads == (t->head != RT_TREE_NONE));
}

void
rt_tree_check(const rt_tree *t)
{
	check_nodes(t);
	RT_ASSERT(t->row_count <= t->count);
	RT_ASSERT((t->selected == RT_TREE_NONE) == (t->row_count == 0));
	RT_ASSERT(t->selected == RT_TREE_NONE || t->selected < t->row_count);
	for (uint32_t i = 0; i < t->row_count; i++) {
		const tree_row *r = &t->rows[i];

		RT_ASSERT(t->nodes[r->node].row == i);
		RT_ASSERT(i == 0 || t->rows[i - 1].node < r->node);
		RT_ASSERT(r->parent == RT_TREE_NONE || r->parent < i);
		RT_ASSERT(r->child == RT_TREE_NONE ||
			  (r->child == i + 1 && t->rows[r->child].parent == i));
		RT_ASSERT(r->next == RT_TREE_NONE ||
			  (r->next > i && t->rows[r->next].parent == r->parent));
		RT_ASSERT((r->next == RT_TREE_NONE) == ((r->flags & ROW_LAST) != 0));
	}
}
