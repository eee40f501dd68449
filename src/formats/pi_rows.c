/* SPDX-License-Identifier: MIT
 *
 * Which records to write: nodes to rows, rows to ids, ids to parents, and an order. */
#include "formats/pi_rows.h"

#include "base/hash.h"
#include "formats/formats_build.h"
#include "formats/formats_writer.h"

/* Nodes that are there, taken from the outline given, with parents that end. */
static rt_status
copy_outline(rt_pi_rows *rows, const rt_outline *outline)
{
	rt_node *nodes = NULL;

	rows->outline = *outline;
	rows->outline.nodes = NULL;
	rows->outline.node_count = 0;
	if (outline->node_count == 0)
		return RT_OK;
	nodes = rt_new_array(rows->alloc, outline->node_count, sizeof(*nodes));
	if (nodes == NULL)
		return RT_NOMEM;
	memcpy(nodes, outline->nodes, outline->node_count * sizeof(*nodes));
	rows->outline.nodes = nodes;
	rows->outline.node_count = outline->node_count;
	return rt_outline_repair(rows->alloc, &rows->outline, NULL, NULL);
}

static const rt_node *
node_of(const rt_pi_rows *rows, size_t row)
{
	return &rows->outline.nodes[rows->items[row].node];
}

static rt_status
add_row(rt_pi_rows *rows, size_t node, int64_t parent, bool is_copy)
{
	rt_pi_row *row;

	if (rows->count == rows->room) {
		size_t room = rows->room == 0 ? 64 : rows->room + rows->room / 2;
		rt_pi_row *items = room > SIZE_MAX / sizeof(*items)
					   ? NULL
					   : rt_resize(rows->alloc, rows->items,
						       room * sizeof(*items));

		if (items == NULL)
			return RT_NOMEM;
		rows->items = items;
		rows->room = room;
	}
	row = &rows->items[rows->count++];
	memset(row, 0, sizeof(*row));
	row->node = node;
	row->parent = parent;
	row->is_copy = is_copy;
	return RT_OK;
}

static bool
is_node(const rt_pi_rows *rows, int64_t node)
{
	return node >= 0 && node < (int64_t)rows->outline.node_count;
}

/* The row of node below the row parent; *out is -1 when there is none yet. Rows 0 to
 * node_count - 1 are the nodes themselves, copies come behind them. */
static void
find_row(const rt_pi_rows *rows, const rt_table *copies, size_t node, int64_t parent, int64_t *out)
{
	uint64_t hash = rt_hash_u64(node * 31 + (uint64_t)parent);
	size_t probe = 0, row;

	*out = (int64_t)node;
	if (rows->items[node].parent == parent)
		return;
	while (rt_table_next(copies, hash, &probe, &row)) {
		*out = (int64_t)row;
		if (rows->items[row].node == node && rows->items[row].parent == parent)
			return;
	}
	*out = -1;
}

/* Follow a take; where it leaves the tree, copies go on. */
static rt_status
follow_take(rt_pi_rows *rows, rt_table *copies, const rt_outline_take *take, bool is_active)
{
	int64_t at = -1, row;
	size_t i;
	rt_status st;

	for (i = 0; i < take->node_count; i++) {
		size_t node = (size_t)take->nodes[i];

		if (!is_node(rows, take->nodes[i]))
			continue;
		find_row(rows, copies, node, at, &row);
		if (row < 0) {
			row = (int64_t)rows->count;
			st = add_row(rows, node, at, true);
			if (st == RT_OK)
				st = rt_table_add(copies, rt_hash_u64(node * 31 + (uint64_t)at),
						  (size_t)row);
			if (st != RT_OK)
				return st;
		}
		at = row;
		if (is_active && take->nodes[i] == rows->outline.head)
			rows->head = row;
	}
	return RT_OK;
}

/* Make head say what it means: a node, or -1. */
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

static rt_status
rows_of_all(rt_pi_rows *rows)
{
	const rt_outline *o = &rows->outline;
	rt_table copies;
	rt_status st = RT_OK;
	size_t i;

	for (i = 0; i < o->node_count && st == RT_OK; i++)
		st = add_row(rows, i, o->nodes[i].parent, false);
	if (is_node(rows, o->head))
		rows->head = o->head;
	rt_table_init(&copies, rows->alloc);
	for (i = 0; i < o->take_count && o->takes != NULL && st == RT_OK; i++)
		st = follow_take(rows, &copies, &o->takes[i], i == o->active_take);
	rt_table_deinit(&copies);
	return st;
}

static rt_status
rows_of_path(rt_pi_rows *rows, int64_t head)
{
	const rt_outline *o = &rows->outline;
	int64_t at;
	size_t count = 0, i;
	rt_status st = RT_OK;

	for (at = head; at >= 0; at = o->nodes[at].parent)
		count++;
	for (i = 0; i < count && st == RT_OK; i++)
		st = add_row(rows, 0, (int64_t)i - 1, false);
	for (at = head; at >= 0 && st == RT_OK; at = o->nodes[at].parent)
		rows->items[--count].node = (size_t)at;
	rows->head = (int64_t)rows->count - 1;
	return st;
}

static rt_status
rows_of_active(rt_pi_rows *rows)
{
	const rt_outline *o = &rows->outline;
	const rt_outline_take *take;
	rt_status st = RT_OK;
	size_t i;

	if (o->takes == NULL || o->active_take >= o->take_count)
		return rows_of_path(rows, o->head);
	take = &o->takes[o->active_take];
	for (i = 0; i < take->node_count && st == RT_OK; i++) {
		if (!is_node(rows, take->nodes[i]))
			continue;
		st = add_row(rows, (size_t)take->nodes[i], (int64_t)rows->count - 1, false);
		if (take->nodes[i] == o->head)
			rows->head = (int64_t)rows->count - 1;
	}
	return st;
}

/* The text that stands for the row's node, if it has one already; else ptr NULL. */
static rt_status
line_of(rt_pi_rows *rows, const rt_node *node, rt_str *out, rt_error *err)
{
	rt_body body;
	rt_buf text;
	rt_status st = RT_OK;

	*out = rt_str_at(NULL, 0);
	if (node->body_format == RT_BODY_PI &&
	    memchr(node->body.ptr == NULL ? "\n" : node->body.ptr, '\n', node->body.size) == NULL) {
		*out = node->body;
		return RT_OK;
	}
	if (node->body_format != RT_BODY_JSON && node->body_format != RT_BODY_PI)
		return RT_OK;
	st = rt_node_body(rows->alloc, node, &rows->scratch, &body, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&text, rows->alloc, RT_BUF_UNLIMITED);
	if (node->body_format == RT_BODY_PI)
		rt_json_add_value(&text, body.fields); /* a record on several lines */
	else
		rt_pi_compose_again(&text, &body);
	st = text.status;
	if (st == RT_OK && text.size > 0 && !rt_pi_copy(rows->arena, rt_buf_str(&text), out))
		st = RT_NOMEM;
	rt_buf_deinit(&text);
	rt_body_deinit(&body);
	return st == RT_OK ? st : rt_fail(err, st, "out of memory while exporting");
}

static rt_status
read_lines(rt_pi_rows *rows, rt_error *err)
{
	rt_pi_record record;
	rt_str line;
	size_t i;
	rt_status st;

	for (i = 0; i < rows->count; i++) {
		rt_pi_row *row = &rows->items[i];
		const rt_node *node = node_of(rows, i);

		st = line_of(rows, node, &line, err);
		if (st != RT_OK)
			return st;
		if (line.ptr == NULL)
			continue;
		st = rt_pi_reader_read(&rows->reader, line, &record);
		if (st != RT_OK)
			return rt_fail(err, st, "out of memory while exporting");
		if (record.what != RT_PI_LINE_OBJECT)
			return rt_fail(err, RT_CORRUPT, "the body of entry %.*s is not a pi record",
				       (int)rt_utf8_cut(node->id, 100),
				       node->id.ptr == NULL ? "" : node->id.ptr);
		if (!rt_pi_role_fits(&record.entry, node->role))
			continue; /* it has become something else */
		row->raw = record.entry;
		row->is_verbatim = node->body_format == RT_BODY_PI && !row->is_copy;
	}
	return RT_OK;
}

/* Did the file that the row's line is from name its parent before it was there? */
static bool
was_forward(const rt_pi_row *row, const rt_pi_row *parent)
{
	return row->is_verbatim && parent->is_verbatim && row->raw.parent_id.size > 0 &&
	       rt_str_eq(row->raw.parent_id, parent->raw.id);
}

/* The order to write in: as they are, but parents first where the file did not have it
 * otherwise. */
static void
find_order(const rt_pi_rows *rows, bool *is_placed, size_t *wait, size_t *order)
{
	size_t i, waiting, done = 0;

	for (i = 0; i < rows->count; i++) {
		int64_t at = (int64_t)i;

		for (waiting = 0; at >= 0 && !is_placed[at]; at = rows->items[at].parent) {
			if (waiting > 0 &&
			    was_forward(&rows->items[wait[waiting - 1]], &rows->items[at]))
				break;
			wait[waiting++] = (size_t)at;
		}
		while (waiting > 0) {
			order[done++] = wait[--waiting];
			is_placed[wait[waiting]] = true;
		}
	}
	RT_ASSERT(done == rows->count);
}

/* Move the rows so that they stand in the order in which they are written. Everything
 * after this may think of rows as a reader does: what comes later counts. */
static rt_status
put_in_order(rt_pi_rows *rows)
{
	bool *is_placed = rt_new_array(rows->alloc, rows->count, sizeof(*is_placed));
	size_t *wait = rt_new_array(rows->alloc, rows->count, sizeof(*wait));
	size_t *order = rt_new_array(rows->alloc, rows->count, sizeof(*order));
	rt_pi_row *items = rt_new_array(rows->alloc, rows->count, sizeof(*items));
	rt_status st = RT_NOMEM;
	size_t i;

	if (is_placed == NULL || wait == NULL || order == NULL || items == NULL)
		goto done;
	memset(is_placed, 0, rows->count * sizeof(*is_placed));
	find_order(rows, is_placed, wait, order);
	for (i = 0; i < rows->count; i++) {
		items[i] = rows->items[order[i]];
		wait[order[i]] = i; /* where it went */
	}
	for (i = 0; i < rows->count; i++)
		if (items[i].parent >= 0)
			items[i].parent = (int64_t)wait[items[i].parent];
	if (rows->head >= 0)
		rows->head = (int64_t)wait[rows->head];
	rt_free(rows->alloc, rows->items);
	rows->items = items;
	rows->room = rows->count;
	items = NULL;
	st = RT_OK;
done:
	rt_free(rows->alloc, is_placed);
	rt_free(rows->alloc, wait);
	rt_free(rows->alloc, order);
	rt_free(rows->alloc, items);
	return st;
}

/* Take the id if nobody has it. */
static rt_status
claim(rt_pi_rows *rows, size_t i, rt_str id, bool *done)
{
	*done = id.size > 0 && rt_pi_ids_get(&rows->ids, id) < 0;
	if (!*done)
		return RT_OK;
	rows->items[i].id = id;
	return rt_pi_ids_put(&rows->ids, i, NULL);
}

/* Lines from a file keep their ids, repeated ones too: the last one is who is meant. Only
 * revisions of one entry, which Retake knows by one id, part here. */
static rt_status
keep_ids(rt_pi_rows *rows)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; i < rows->count && st == RT_OK; i++) {
		rt_pi_row *row = &rows->items[i];
		rt_str id = node_of(rows, i)->id;
		int64_t before;

		if (!row->is_verbatim || row->raw.id.size == 0)
			continue;
		before = rt_pi_ids_get(&rows->ids, row->raw.id);
		if (before >= 0 && id.size > 0 &&
		    rt_str_eq(node_of(rows, (size_t)before)->id, id)) {
			row->needs_id = true;
			continue;
		}
		row->id = row->raw.id;
		st = rt_pi_ids_put(&rows->ids, i, NULL);
	}
	return st;
}

/* Entries that were made or edited here have the id they have, if it is free. */
static rt_status
claim_ids(rt_pi_rows *rows)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; i < rows->count && st == RT_OK; i++) {
		rt_pi_row *row = &rows->items[i];
		bool done = false;

		if (row->is_verbatim)
			continue;
		if (row->is_copy) {
			row->needs_id = true;
			continue;
		}
		st = claim(rows, i, row->raw.id, &done);
		if (st == RT_OK && !done)
			st = claim(rows, i, node_of(rows, i)->id, &done);
		row->needs_id = !done;
	}
	return st;
}

/* A line whose id means another one, or that has none, needs one if anything refers to it. */
static rt_status
find_nameless(rt_pi_rows *rows)
{
	bool *is_named;
	size_t i;

	is_named = rt_new_array(rows->alloc, rows->count, sizeof(*is_named));
	if (is_named == NULL)
		return RT_NOMEM;
	for (i = 0; i < rows->count; i++)
		is_named[i] = node_of(rows, i)->label.size > 0;
	for (i = 0; i < rows->count; i++)
		if (rows->items[i].parent >= 0)
			is_named[rows->items[i].parent] = true;
	if (rows->head >= 0 && rows->head + 1 < (int64_t)rows->count)
		is_named[rows->head] = true; /* something will have to follow below it */
	for (i = 0; i < rows->count; i++) {
		rt_pi_row *row = &rows->items[i];

		if (is_named[i] &&
		    (row->id.size == 0 || rt_pi_ids_get(&rows->ids, row->id) != (int64_t)i))
			row->needs_id = true;
	}
	rt_free(rows->alloc, is_named);
	return RT_OK;
}

/* A new id that is the same whenever the same thing is written. */
static rt_status
make_id(rt_pi_rows *rows, size_t i)
{
	rt_pi_row *row = &rows->items[i];
	const rt_node *node = node_of(rows, i);
	char id[RT_PI_UUID_SIZE];
	rt_pi_fresh fresh;
	bool done = false;
	rt_str made;
	rt_status st;

	if (!row->is_copy) {
		st = claim(rows, i, node->id, &done);
		if (st != RT_OK || done)
			return st;
	}
	rt_buf_clear(&rows->scratch);
	rt_buf_add_str(&rows->scratch, node->id);
	rt_buf_add_byte(&rows->scratch, '\n');
	rt_buf_add_str(&rows->scratch, row->raw.id);
	rt_buf_add_byte(&rows->scratch, '\n');
	if (row->parent >= 0)
		rt_buf_add_str(&rows->scratch, rows->items[row->parent].id);
	if (rows->scratch.status != RT_OK)
		return RT_NOMEM;
	rt_pi_fresh_init(&fresh, NULL, rt_buf_str(&rows->scratch));
	made = rt_str_at(id, rt_pi_fresh_id(&fresh, &rows->ids, id));
	if (!rt_pi_copy(rows->arena, made, &row->id))
		return RT_NOMEM;
	return rt_pi_ids_put(&rows->ids, i, NULL);
}

static rt_status
assign_ids(rt_pi_rows *rows)
{
	rt_status st;
	size_t i;

	rt_pi_ids_init(&rows->ids, rows->alloc, &rows->items[0].id, sizeof(*rows->items));
	st = keep_ids(rows);
	if (st == RT_OK)
		st = claim_ids(rows);
	if (st == RT_OK)
		st = find_nameless(rows);
	for (i = 0; i < rows->count && st == RT_OK; i++)
		if (rows->items[i].needs_id)
			st = make_id(rows, i);
	return st;
}

static void
set_parent(rt_pi_rows *rows, size_t i)
{
	rt_pi_row *row = &rows->items[i];

	row->parent_id = row->parent < 0 ? rt_str_at(NULL, 0) : rows->items[row->parent].id;
	row->changes_parent = true;
}

/* Read the ids as a reader will, and put right what it would get wrong. */
static rt_status
assign_parents(rt_pi_rows *rows)
{
	rt_pi_links links = {.ids = &rows->items[0].id,
			     .parent_ids = &rows->items[0].parent_id,
			     .parents = &rows->items[0].linked,
			     .cut = &rows->items[0].is_cut,
			     .stride = sizeof(*rows->items),
			     .count = rows->count};
	bool any = false;
	size_t i;
	rt_status st;

	for (i = 0; i < rows->count; i++) {
		if (rows->items[i].raw.line.ptr != NULL)
			rows->items[i].parent_id = rows->items[i].raw.parent_id;
		else
			set_parent(rows, i);
	}
	st = rt_pi_link(rows->alloc, &rows->ids, &links, NULL);
	if (st != RT_OK)
		return st;
	for (i = 0; i < rows->count; i++) {
		any = any || !rows->items[i].is_verbatim;
		if (rows->items[i].linked != rows->items[i].parent) {
			set_parent(rows, i);
			any = true;
		}
	}
	/* A circle is written only into a file that is not changed at all: pi itself never gets
	 * out of it. Besides, where one parent changes, it may be one no longer, and the reader
	 * not make the cut. */
	for (i = 0; i < rows->count && any; i++)
		if (rows->items[i].is_cut)
			set_parent(rows, i);
	for (i = 0; i < rows->count; i++)
		if (rows->items[i].needs_id || rows->items[i].changes_parent)
			rows->items[i].is_verbatim = false;
	return RT_OK;
}

rt_status
rt_pi_rows_init(const rt_alloc *alloc, const rt_outline *outline, bool whole, rt_pi_rows *out,
		rt_error *err)
{
	rt_pi_rows rows;
	rt_status st = RT_NOMEM;

	memset(&rows, 0, sizeof(rows));
	rows.alloc = alloc;
	rows.head = -1;
	rt_buf_init(&rows.scratch, alloc, RT_BUF_UNLIMITED);
	rows.arena = rt_arena_new(alloc);
	rt_pi_reader_init(&rows.reader, alloc, rows.arena);
	if (rows.arena != NULL)
		st = copy_outline(&rows, outline);
	settle_head(&rows.outline);
	if (st == RT_OK)
		st = whole ? rows_of_all(&rows) : rows_of_active(&rows);
	if (st == RT_OK && rows.count > 0) {
		st = read_lines(&rows, err);
		if (st != RT_OK && st != RT_NOMEM) {
			rt_pi_rows_deinit(&rows);
			return st;
		}
		if (st == RT_OK)
			st = put_in_order(&rows);
		if (st == RT_OK)
			st = assign_ids(&rows);
		if (st == RT_OK)
			st = assign_parents(&rows);
	}
	if (st != RT_OK) {
		rt_pi_rows_deinit(&rows);
		return rt_fail(err, st, "%s",
			       st == RT_LIMIT ? "more than 2^32 - 2 entries"
					      : "out of memory while exporting");
	}
	*out = rows;
	return RT_OK;
}

void
rt_pi_rows_deinit(rt_pi_rows *rows)
{
	rt_pi_reader_deinit(&rows->reader);
	rt_pi_ids_deinit(&rows->ids);
	rt_arena_free(rows->arena);
	rt_buf_deinit(&rows->scratch);
	rt_free(rows->alloc, rows->outline.nodes);
	rt_free(rows->alloc, rows->items);
	memset(rows, 0, sizeof(*rows));
}
