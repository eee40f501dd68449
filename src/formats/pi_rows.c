/* SPDX-License-Identifier: MIT
 *
 * Which records to write: nodes to rows, rows to ids, ids to parents, and an order. */
#include "formats/pi_impl.h"

#include "base/hash.h"

const rt_node *
rt_pi_rows_node(const rt_pi_rows *rows, int64_t row)
{
	return &rows->outline.nodes[rows->items[row].node];
}

/* ---- nodes to rows ---- */

/* The nodes are copied from the outline, with parents that end. */
static void
copy_outline(rt_pi_rows *rows, const rt_outline *outline)
{
	rt_outline *o = &rows->outline;

	*o = *outline;
	o->nodes = rt_scope_array(rows->s, outline->node_count, sizeof(*o->nodes));
	if (o->nodes == NULL)
		return;
	if (outline->node_count > 0)
		memcpy(o->nodes, outline->nodes, outline->node_count * sizeof(*o->nodes));
	(void)RT_TRY(rows->s, rt_outline_repair(rows->s->alloc, o, NULL, NULL));
}

/* Makes head explicit: a node, or -1. */
static void
settle_head(rt_outline *o)
{
	const rt_outline_take *take = NULL;

	if (o->takes != NULL && o->active_take < o->take_count)
		take = &o->takes[o->active_take];
	if (!o->has_head && take != NULL)
		o->head = take->node_count == 0 ? -1 : take->nodes[take->node_count - 1];
	else if (!o->has_head)
		o->head = (int64_t)o->node_count - 1;
	if (o->head < 0 || o->head >= (int64_t)o->node_count)
		o->head = -1;
	o->has_head = true;
}

/* -1: failed. */
static int64_t
add_row(rt_pi_rows *rows, size_t node, int64_t parent, bool is_copy)
{
	rt_pi_row *row = rt_items_push(rows->s, &rows->list, sizeof(*row));

	if (row == NULL)
		return -1;
	*row = (rt_pi_row){.node = node, .parent = parent, .is_copy = is_copy};
	return (int64_t)rows->list.count - 1;
}

static bool
is_node(const rt_pi_rows *rows, int64_t node)
{
	return node >= 0 && node < (int64_t)rows->outline.node_count;
}

/* The row of node below the row parent, a copy if need be. Rows 0 to node_count - 1 are the
 * nodes themselves, copies come after them. */
static int64_t
row_below(rt_pi_rows *rows, size_t node, int64_t parent)
{
	uint64_t hash = rt_hash_u64(node * 31 + (uint64_t)parent);
	const rt_pi_row *all = rows->list.items;
	size_t probe = 0, found;
	int64_t row;

	if (all[node].parent == parent)
		return (int64_t)node;
	while (rt_index_next(&rows->copies, hash, &probe, &found))
		if (all[found].node == node && all[found].parent == parent)
			return (int64_t)found;
	row = add_row(rows, node, parent, true);
	if (row >= 0)
		rt_index_add(rows->s, &rows->copies, hash, (size_t)row);
	return row;
}

/* Follows a take; where it leaves the tree, it continues in copies. */
static void
follow_take(rt_pi_rows *rows, const rt_outline_take *take, bool is_active)
{
	int64_t at = -1;

	for (size_t i = 0; i < take->node_count && rt_ok(rows->s); i++) {
		if (!is_node(rows, take->nodes[i]))
			continue;
		at = row_below(rows, (size_t)take->nodes[i], at);
		if (is_active && take->nodes[i] == rows->outline.head)
			rows->head = at;
	}
}

static void
rows_of_all(rt_pi_rows *rows)
{
	const rt_outline *o = &rows->outline;

	for (size_t i = 0; i < o->node_count; i++)
		(void)add_row(rows, i, o->nodes[i].parent, false);
	if (is_node(rows, o->head))
		rows->head = o->head;
	for (size_t i = 0; i < o->take_count && o->takes != NULL; i++)
		follow_take(rows, &o->takes[i], i == o->active_take);
}

/* A chain: the active take, or the path to the head. */
static void
rows_of_active(rt_pi_rows *rows)
{
	const rt_outline *o = &rows->outline;
	const rt_outline_take *take = NULL;
	rt_pi_row *all;
	size_t count = 0;

	if (o->takes != NULL && o->active_take < o->take_count)
		take = &o->takes[o->active_take];
	for (size_t i = 0; take != NULL && i < take->node_count; i++) {
		if (!is_node(rows, take->nodes[i]))
			continue;
		(void)add_row(rows, (size_t)take->nodes[i], (int64_t)rows->list.count - 1, false);
		if (take->nodes[i] == o->head)
			rows->head = (int64_t)rows->list.count - 1;
	}
	if (take != NULL)
		return;
	for (int64_t at = o->head; at >= 0; at = o->nodes[at].parent)
		(void)add_row(rows, (size_t)at, (int64_t)count++ - 1, false);
	all = rows->list.items;
	for (size_t i = 0; i < count / 2 && rt_ok(rows->s); i++) { /* the root first */
		size_t node = all[i].node;

		all[i].node = all[count - 1 - i].node;
		all[count - 1 - i].node = node;
	}
	rows->head = (int64_t)rows->list.count - 1;
}

/* ---- lines ---- */

/* The text that represents the row's node, if it has one already; else ptr NULL. */
static rt_str
line_of(rt_pi_rows *rows, const rt_node *node)
{
	bool is_pi = node->body_format == RT_BODY_PI;
	const rt_body *body;
	rt_str line;

	if (is_pi && rt_str_find(node->body, RT_STR("\n"), 0) == SIZE_MAX)
		return node->body;
	body = is_pi || node->body_format == RT_BODY_JSON ? rt_writer_body(rows->w, node) : NULL;
	if (body == NULL)
		return rt_str_at(NULL, 0);
	if (is_pi) { /* a record on several lines */
		rt_buf_clear(rows->scratch);
		rt_json_add_value(rows->scratch, body->fields);
		line = rt_scope_str(rows->s, rows->scratch);
	} else {
		line = rt_pi_compose_again(rows->w);
	}
	return line.size == 0 ? rt_str_at(NULL, 0) : rt_scope_copy(rows->s, line);
}

static void
read_lines(rt_pi_rows *rows)
{
	rt_pi_row *all = rows->list.items;
	rt_pi_record record;

	for (size_t i = 0; i < rows->list.count && rt_ok(rows->s); i++) {
		const rt_node *node = &rows->outline.nodes[all[i].node];
		rt_str line = line_of(rows, node);

		if (line.ptr == NULL || !rt_pi_reader_read(&rows->reader, line, &record))
			continue;
		if (record.what != RT_PI_LINE_OBJECT)
			(void)rt_scope_fail(rows->s, RT_CORRUPT,
					    "the body of entry %.*s is not a pi record",
					    (int)rt_utf8_cut(node->id, 100),
					    node->id.ptr == NULL ? "" : node->id.ptr);
		if (!rt_pi_role_fits(&record.entry, node->role))
			continue; /* it has become another kind of record */
		all[i].raw = record.entry;
		all[i].is_verbatim = node->body_format == RT_BODY_PI && !all[i].is_copy;
	}
}

/* ---- order ---- */

/* Did the file that the row's line is from name its parent before it was there? */
static bool
was_forward(const rt_pi_row *row, const rt_pi_row *parent)
{
	return row->is_verbatim && parent->is_verbatim && row->raw.parent_id.size > 0 &&
	       rt_str_eq(row->raw.parent_id, parent->raw.id);
}

/* Copy the rows in the order in which they are written: unchanged, but parents first, except where
 * the file had another order. After this, rows are treated as by a reader: the later one counts. */
static void
put_in_order(rt_pi_rows *rows)
{
	const rt_pi_row *all = rows->list.items;
	size_t count = rows->list.count, done = 0;
	size_t *wait = rt_scope_array(rows->s, count, sizeof(*wait));
	int64_t *place = rt_scope_array(rows->s, count, sizeof(*place)); /* in items, from 1 */

	rows->items = rt_scope_array(rows->s, count, sizeof(*rows->items));
	if (!rt_ok(rows->s))
		return;
	rows->count = count;
	for (size_t i = 0; i < count; i++) {
		size_t waiting = 0;

		for (int64_t at = (int64_t)i; at >= 0 && place[at] == 0; at = all[at].parent) {
			if (waiting > 0 && was_forward(&all[wait[waiting - 1]], &all[at]))
				break;
			wait[waiting++] = (size_t)at;
		}
		while (waiting > 0) {
			rows->items[done++] = all[wait[--waiting]];
			place[wait[waiting]] = (int64_t)done;
		}
	}
	RT_ASSERT(done == count);
	for (size_t i = 0; i < count; i++)
		if (rows->items[i].parent >= 0)
			rows->items[i].parent = place[rows->items[i].parent] - 1;
	if (rows->head >= 0)
		rows->head = place[rows->head] - 1;
	rt_items_clear(&rows->list);
}

/* ---- ids ---- */

static void
set_id(rt_pi_rows *rows, size_t i, rt_str id)
{
	rows->items[i].id = id;
	(void)rt_index_put(rows->s, &rows->ids, id, i);
}

/* Takes the id if it is not in use. */
static bool
claim(rt_pi_rows *rows, size_t i, rt_str id)
{
	if (id.size == 0 || rt_index_get(&rows->ids, id) >= 0)
		return false;
	set_id(rows, i, id);
	return true;
}

/* Lines from a file keep their ids, repeated ones too: the last one counts. Only revisions of one
 * entry, which have one id in Retake, get different ids here. */
static void
keep_ids(rt_pi_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		rt_pi_row *row = &rows->items[i];
		rt_str id = rt_pi_rows_node(rows, (int64_t)i)->id;
		int64_t before;

		if (!row->is_verbatim || row->raw.id.size == 0)
			continue;
		before = rt_index_get(&rows->ids, row->raw.id);
		if (before >= 0 && id.size > 0 && rt_str_eq(rt_pi_rows_node(rows, before)->id, id))
			row->needs_id = true;
		else
			set_id(rows, i, row->raw.id);
	}
}

/* Entries that were made or edited here keep their id, if it is free. */
static void
claim_ids(rt_pi_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		rt_pi_row *row = &rows->items[i];

		if (!row->is_verbatim)
			row->needs_id = row->is_copy ||
					(!claim(rows, i, row->raw.id) &&
					 !claim(rows, i, rt_pi_rows_node(rows, (int64_t)i)->id));
	}
}

/* A line whose id means another one, or that has none, needs one if anything refers to it. */
static void
find_nameless(rt_pi_rows *rows)
{
	bool *is_named = rt_scope_array(rows->s, rows->count, sizeof(*is_named));

	if (is_named == NULL)
		return;
	for (size_t i = 0; i < rows->count; i++) {
		is_named[i] |= rt_pi_rows_node(rows, (int64_t)i)->label.size > 0;
		if (rows->items[i].parent >= 0)
			is_named[rows->items[i].parent] = true;
	}
	if (rows->head >= 0 && rows->head + 1 < (int64_t)rows->count)
		is_named[rows->head] = true; /* a record will have to follow below it */
	for (size_t i = 0; i < rows->count; i++) {
		rt_pi_row *row = &rows->items[i];

		if (is_named[i] &&
		    (row->id.size == 0 || rt_index_get(&rows->ids, row->id) != (int64_t)i))
			row->needs_id = true;
	}
}

/* A new id that is the same whenever the same data are written. */
static void
make_id(rt_pi_rows *rows, size_t i)
{
	rt_pi_row *row = &rows->items[i];
	rt_str id = rt_pi_rows_node(rows, (int64_t)i)->id;
	rt_pi_fresh fresh;

	if (!row->is_copy && claim(rows, i, id))
		return;
	rt_buf_clear(rows->scratch);
	rt_buf_add_str(rows->scratch, id);
	rt_buf_add_byte(rows->scratch, '\n');
	rt_buf_add_str(rows->scratch, row->raw.id);
	rt_buf_add_byte(rows->scratch, '\n');
	if (row->parent >= 0)
		rt_buf_add_str(rows->scratch, rows->items[row->parent].id);
	rt_pi_fresh_init(&fresh, NULL, rt_scope_str(rows->s, rows->scratch));
	set_id(rows, i, rt_pi_fresh_id(&fresh, &rows->ids, rows->s));
}

/* ---- parents ---- */

static void
set_parent(rt_pi_rows *rows, size_t i)
{
	rt_pi_row *row = &rows->items[i];

	row->parent_id = row->parent < 0 ? rt_str_at(NULL, 0) : rows->items[row->parent].id;
	row->changes_parent = true;
}

/* Reads the ids like a reader, and corrects those that it would get wrong. */
static void
assign_parents(rt_pi_rows *rows)
{
	rt_link *links = rt_scope_array(rows->s, rows->count, sizeof(*links));
	bool any = false;

	if (links == NULL)
		return;
	for (size_t i = 0; i < rows->count; i++) {
		rt_pi_row *row = &rows->items[i];

		if (row->raw.line.ptr != NULL)
			row->parent_id = row->raw.parent_id;
		else
			set_parent(rows, i);
		links[i] = (rt_link){.id = row->id, .parent_id = row->parent_id};
	}
	rt_link_all(rows->s, &rows->ids, links, rows->count, NULL);
	for (size_t i = 0; i < rows->count; i++) {
		bool is_wrong = links[i].parent != rows->items[i].parent;

		any = any || is_wrong || !rows->items[i].is_verbatim;
		if (is_wrong)
			set_parent(rows, i);
	}
	/* A cycle is written only into a file that is not changed at all: pi itself would loop
	 * forever. Besides, after a change of one parent it may not be a cycle any more, and the
	 * reader would not cut it. */
	for (size_t i = 0; i < rows->count; i++) {
		rt_pi_row *row = &rows->items[i];

		if (any && links[i].is_cut)
			set_parent(rows, i);
		if (row->needs_id || row->changes_parent)
			row->is_verbatim = false;
	}
}

void
rt_pi_rows_init(rt_pi_rows *rows, rt_writer *w, const rt_outline *outline, bool whole)
{
	*rows = (rt_pi_rows){.w = w, .s = &w->s, .head = -1};
	rows->scratch = rt_scope_buf(rows->s);
	rows->reader.texts = rows->s;
	copy_outline(rows, outline);
	if (!rt_ok(rows->s))
		return;
	settle_head(&rows->outline);
	if (whole)
		rows_of_all(rows);
	else
		rows_of_active(rows);
	read_lines(rows);
	put_in_order(rows);
	if (!rt_ok(rows->s))
		return;
	keep_ids(rows);
	claim_ids(rows);
	find_nameless(rows);
	for (size_t i = 0; i < rows->count && rt_ok(rows->s); i++)
		if (rows->items[i].needs_id)
			make_id(rows, i);
	if (rt_ok(rows->s))
		assign_parents(rows);
}
