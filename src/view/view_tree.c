/* SPDX-License-Identifier: MIT
 *
 * The tree (C40, C41) as rows: the trie of a discussion's present takes, depth first. Where takes
 * hold different revisions of an entry, its row has variants. */
#include <stdlib.h> /* qsort */

#include "log/engine_impl.h"
#include "view/view_impl.h"
#include "view/view_trie.h"

struct rt_tree_cursor {
	rt_view view;
	rt_trie trie;
	size_t preview;   /* characters */
	uint32_t next;    /* node; RT_TRIE_NONE: none is left */
	rt_scope *row_of; /* memory of the row */
	rt_scope *text_of; /* and of the body that its preview is made from */
	rt_tree_row row;
};

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The numbers of the takes that go through a node. */
static const uint32_t *
takes_through(rt_scope *s, const rt_trie *t, const rt_trie_node *n)
{
	size_t count = n->to - n->from;
	uint32_t *takes = rt_scope_array(s, count, sizeof(*takes));

	if (takes != NULL && count > 0) {
		memcpy(takes, t->order + n->from, count * sizeof(*takes));
		qsort(takes, count, sizeof(*takes), by_number);
	}
	return takes;
}

/* Groups the row's takes by the revision that they show. A single group is not a variant. */
static void
set_variants(rt_scope *s, const rt_trie *t, const rt_trie_node *n, rt_tree_row *row)
{
	size_t count = row->take_count, groups = 0;
	rt_slot *slots = rt_scope_array(s, count, sizeof(*slots));
	size_t *group = rt_scope_array(s, count, sizeof(*group));

	for (size_t i = 0; rt_ok(s) && i < count; i++) {
		bool found;
		size_t at;

		RT_TRY(s, rt_take_find(t->project, rt_disc_take(t->disc, row->takes[i]),
				       n->slot.entry, &at, &slots[i], &found, &s->error));
		for (group[i] = 0; group[i] < i && !rt_same_revision(&slots[i], &slots[group[i]]);)
			group[i]++;
		groups += group[i] == i;
	}
	rt_variant *variants = groups > 1 ? rt_scope_array(s, groups, sizeof(*variants)) : NULL;

	for (size_t i = 0; variants != NULL && rt_ok(s) && i < count; i++) {
		uint32_t *takes = group[i] == i ? rt_scope_array(s, count - i, sizeof(*takes)) : NULL;
		size_t take_count = 0;

		for (size_t k = i; takes != NULL && k < count; k++)
			if (group[k] == i)
				takes[take_count++] = row->takes[k];
		if (takes != NULL)
			variants[row->variant_count++] =
				(rt_variant){slots[i].body, takes, take_count};
	}
	row->variants = variants;
}

static void
set_preview(const rt_tree_cursor *c, rt_scope *s, const rt_slot *slot, rt_tree_row *row)
{
	rt_view text = {c->text_of, c->view.engine, c->view.project, c->view.place};

	rt_scope_reset(c->text_of);
	const rt_body *body = rt_view_body(&text, slot->body);

	if (rt_scope_adopt(s, c->text_of) != RT_OK)
		return;
	row->has_title = rt_body_has_title(row->kind, body);
	row->preview = rt_view_row_preview(s, row->kind, row->role, body, c->preview);
	row->partial = yyjson_is_true(rt_body_field(body, "partial"));
	row->hidden = rt_body_is_hidden(row->kind, body);
	if (rt_body_field(body, "model") != NULL) {
		rt_buf *model = rt_scope_buf(s);

		rt_body_add_model(model, body);
		row->model = rt_scope_str(s, model);
	}
}

/* The row of a node, in the scope. */
static void
fill(const rt_tree_cursor *c, rt_scope *s, uint32_t number, rt_tree_row *row)
{
	const rt_trie *t = &c->trie;
	const rt_trie_node *n = &t->nodes[number];
	const rt_trie_node *parent = n->parent != RT_TRIE_NONE ? &t->nodes[n->parent] : NULL;
	rt_slot slot = n->slot;

	RT_TRY(s, rt_trie_shown(t, number, &slot, &s->error));
	*row = (rt_tree_row){
		.node = n->path & 0xFFFFFFFFFFFFu,
		.parent_node = parent != NULL ? parent->path & 0xFFFFFFFFFFFFu : 0,
		.id = rt_view_id(s, t->project, n->slot.entry),
		.parent = parent != NULL ? rt_view_id(s, t->project, parent->slot.entry)
					 : (rt_str){0},
		.role = rt_view_name(s, t->project, slot.role),
		.kind = rt_view_kind(s, t->project, slot.kind),
		.label = rt_view_label(s, t->project, t->disc, slot.entry),
		.active = number == t->head,
		.takes = takes_through(s, t, n),
		.take_count = n->to - n->from,
		.muted = (slot.flags & RT_SLOT_MUTED) != 0,
		.edited = (slot.flags & RT_SLOT_EDITED) != 0,
		.depth = n->depth,
	};
	if (n->differs)
		set_variants(s, t, n, row);
	set_preview(c, s, &slot, row);
}

static void
close_cursor(void *item)
{
	rt_trie_deinit(&((rt_tree_cursor *)item)->trie);
}

rt_tree_cursor *
rt_tree_open(const rt_view *v, size_t preview)
{
	rt_scope *s = v->scope;
	const rt_disc *disc = rt_view_disc(v);
	rt_tree_cursor *c = rt_scope_get(s, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->view = *v;
	c->preview = preview;
	c->row_of = rt_view_inner(s);
	c->text_of = rt_view_inner(s);
	c->trie.alloc = s->alloc;
	RT_TRY(s, rt_trie_init(&c->trie, s->alloc, v->project, disc, &s->error));
	rt_scope_defer(s, close_cursor, c);
	c->next = c->trie.first_root;
	return rt_ok(s) ? c : NULL;
}

const rt_tree_row *
rt_tree_next(rt_tree_cursor *c)
{
	if (c == NULL || !rt_ok(c->view.scope) || c->next == RT_TRIE_NONE)
		return NULL;
	rt_scope_reset(c->row_of);
	fill(c, c->row_of, c->next, &c->row);
	c->next = rt_trie_next(&c->trie, c->next);
	return rt_scope_adopt(c->view.scope, c->row_of) == RT_OK ? &c->row : NULL;
}

rt_tree_rows
rt_tree_list(const rt_view *v, size_t preview)
{
	rt_scope *s = v->scope;
	rt_tree_cursor *c = rt_tree_open(v, preview);
	rt_tree_rows rows = {0};

	if (c == NULL)
		return rows;
	rows.items = rt_scope_array(s, c->trie.count, sizeof(*rows.items));
	for (; rt_ok(s) && c->next != RT_TRIE_NONE; c->next = rt_trie_next(&c->trie, c->next))
		fill(c, s, c->next, &rows.items[rows.count++]);
	return rt_ok(s) ? rows : (rt_tree_rows){0};
}
