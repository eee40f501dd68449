/* SPDX-License-Identifier: MIT
 *
 * Finds which entries of an outline already exist in a discussion, and where; new ones are added
 * after them. */
#include "ops/import_impl.h"

#include <stdlib.h> /* qsort */

#include "base/encode.h"
#include "base/hash.h"
#include "log/history.h"

enum {
	RUN = 64,   /* slots at a time */
	AHEAD = 64, /* imported entries among which the next node is looked for */
};

/* ---- nodes with ids: entries by their ids ---- */

/* The first known node of an entry; UINT32_MAX: none. */
static uint32_t
find_entry(const rt_layer *l, const rt_hash_table *known, uint32_t entry)
{
	uint32_t node;

	for (size_t probe = 0; rt_hash_table_next(known, rt_hash_u64(entry), &probe, &node);)
		if (l->spots[node].entry == entry)
			return node;
	return UINT32_MAX;
}

/* A slot of a take. Of several takes with an entry, the one whose tip it is counts, else the
 * oldest. */
static void
place_slot(rt_layer *l, const rt_hash_table *known, uint32_t entry, uint32_t take, size_t at,
	   bool tip)
{
	uint32_t index = find_entry(l, known, entry);
	rt_spot *spot = index != UINT32_MAX ? &l->spots[index] : NULL;

	if (spot == NULL || (spot->take != UINT32_MAX && (!tip || spot->tip)))
		return;
	spot->take = take;
	spot->at = at;
	spot->tip = tip;
}

/* Where the known entries are: in one walk over the takes, since there may be many of both. */
static void
place_known(rt_layer *l, const rt_hash_table *known)
{
	const rt_disc *disc = rt_layer_disc(l);
	rt_scope *s = l->s;
	rt_slot slots[RUN];

	for (uint32_t i = 1; rt_ok(s) && i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, i);
		size_t count = take->present ? rt_seq_count(take->slots) : 0;

		for (size_t at = 0; rt_ok(s) && at < count; at += RUN) {
			size_t run = count - at < RUN ? count - at : RUN;

			RT_TRY(s, rt_seq_copy(take->slots, at, run, slots, &s->error));
			for (size_t k = 0; rt_ok(s) && k < run; k++)
				place_slot(l, known, slots[k].entry, take->number, at + k,
					   at + k + 1 == count);
		}
	}
}

/* A node is an entry that may have been changed, moved or deleted since. */
static void
know(rt_layer *l, size_t index, uint32_t entry)
{
	l->spots[index] = (rt_spot){.entry = entry,
				    .known = true,
				    .body = UINT64_MAX, /* it stays, whatever state it is in */
				    .take = UINT32_MAX};
	l->import->result.known++;
}

/* Finds the places of the known nodes. */
static void
place_nodes(rt_layer *l)
{
	const rt_outline *o = l->outline;
	const rt_alloc *alloc = l->import->engine->alloc;
	rt_hash_table known = {0};
	rt_scope *s = l->s;

	for (size_t i = 0; rt_ok(s) && i < o->node_count; i++) {
		uint32_t entry = l->spots[i].entry;

		if (l->spots[i].known && find_entry(l, &known, entry) == UINT32_MAX)
			RT_TRY(s, rt_hash_table_add(&known, alloc, rt_hash_u64(entry), i));
	}
	place_known(l, &known);
	for (size_t i = 0; rt_ok(s) && i < o->node_count; i++)
		if (l->spots[i].known)
			l->spots[i] = l->spots[find_entry(l, &known, l->spots[i].entry)];
	rt_hash_table_deinit(&known, alloc);
}

static void
match_ids(rt_layer *l)
{
	const rt_outline *o = l->outline;
	rt_scope *s = l->s;

	for (size_t i = 0; rt_ok(s) && i < o->node_count; i++) {
		uint32_t entry = 0;

		if (!rt_id_is_legal(o->nodes[i].id) || l->spots[i].known)
			continue;
		RT_TRY(s,
		       rt_resolve_vanished(l->c->now, l->disc, o->nodes[i].id, &entry, &s->error));
		if (rt_ok(s) && entry != 0)
			know(l, i, entry);
	}
	place_nodes(l);
}

/* ---- written sessions ---- */

static bool
find_any(void *ctx, const rt_store_row *row)
{
	*(bool *)ctx = rt_str_starts(row->name, RT_STR(RT_WRITTEN_PREFIX));
	return !*(bool *)ctx;
}

void
rt_import_look_written(rt_import *m)
{
	RT_TRY(&m->s, m->engine->store->ops->read(m->engine->store, rt_rows_names(m->engine->project),
						  find_any, &m->has_written, &m->s.error));
}

/* The nodes of a row, with the entries that their ids have now. */
static void
read_nodes(rt_layer *l, yyjson_val *nodes)
{
	rt_making *making = &l->import->making;
	size_t room = 0;
	rt_json_iter it = rt_json_items(nodes);

	while (rt_ok(l->s) && rt_json_next(&it)) {
		rt_str hash = rt_json_str(it.value);
		rt_written_node node = {0};

		if (!rt_json_next(&it))
			return;
		for (size_t i = 0; i < hash.size; i++)
			node.node = node.node << 4 | (uint64_t)(rt_hex_digit(hash.ptr[i]) & 15);
		RT_TRY(l->s, rt_resolve_vanished(l->c->now, l->disc, rt_json_str(it.value), &node.entry,
						 &l->s->error));
		if (node.entry == 0)
			continue;
		making->written = rt_import_grow(l->import, making->written, making->written_count, &room,
						 sizeof(*making->written));
		if (making->written != NULL)
			making->written[making->written_count++] = node;
	}
}

void
rt_layer_find_written(rt_layer *l)
{
	rt_import *m = l->import;
	rt_buf *name = rt_scope_buf(l->s), *row = rt_scope_buf(l->s);
	const rt_cell *cell;
	uint64_t disc = 0;
	rt_status st;

	if (!m->has_written || l->outline->source.size == 0)
		return;
	rt_buf_add_c(name, RT_WRITTEN_PREFIX);
	rt_buf_add_str(name, l->outline->source);
	if (rt_scope_str(l->s, name).size == 0)
		return;
	st = rt_store_get(m->engine->store, rt_engine_side(m->engine, name->ptr), row, NULL, &l->s->error);
	if (st == RT_NOT_FOUND || st == RT_CORRUPT) /* the store's check reports it */
		return;
	rt_scope_note(l->s, st);
	yyjson_val *root = rt_json_parse(l->s, rt_scope_str(l->s, row));

	(void)rt_json_u64(rt_json_get(root, "disc"), &disc);
	cell = disc > 0 && disc <= rt_project_disc_count(l->c->now)
		       ? rt_project_cell(l->c->now, (uint32_t)disc)
		       : NULL;
	if (!rt_ok(l->s) || cell == NULL || !cell->present || (l->disc != 0 && l->disc != disc))
		return;
	l->disc = (uint32_t)disc;
	read_nodes(l, rt_json_get(root, "nodes"));
}

static void
match_written(rt_layer *l)
{
	rt_making *making = &l->import->making;

	for (size_t i = 0; i < l->outline->node_count && making->written_at < making->written_count; i++) {
		uint64_t hash = rt_written_hash(&l->outline->nodes[i]);
		size_t left = making->written_count - making->written_at;

		for (size_t k = 0; k < left && k < AHEAD; k++) {
			const rt_written_node *w = &making->written[making->written_at + k];

			if (w->node != hash)
				continue;
			know(l, i, w->entry);
			l->spots[i].is_written = true;
			making->written_at += k + 1;
			break;
		}
	}
}

/* ---- nodes without ids: by their bodies ---- */

/* A stored body, valid until the next call; empty after a failure. */
static rt_str
read_body(rt_layer *l, uint64_t number)
{
	rt_engine *engine = l->import->engine;

	rt_buf_clear(l->bytes);
	RT_TRY(l->s,
	       rt_store_get(engine->store, rt_rows_one(RT_STORE_BODIES, engine->project, number),
			    l->bytes, NULL, &l->s->error));
	return rt_ok(l->s) ? rt_buf_str(l->bytes) : rt_str_at("", 0);
}

static bool
has_body(rt_layer *l, uint64_t number, const rt_node *node)
{
	rt_str bytes = read_body(l, number);

	return rt_ok(l->s) && bytes.size == node->body.size + 1 &&
	       bytes.ptr[0] == node->body_format && rt_str_eq(rt_str_skip(bytes, 1), node->body);
}

/* Where an entry would be in a take that follows the node's parent; false: not in this take. */
static bool
place_after_parent(rt_layer *l, const rt_node *node, const rt_take *take, size_t *out_at)
{
	const rt_spot *last = &l->import->making.last;
	bool found = false;

	*out_at = 0;
	if (node->parent < 0 && last->take != 0) {
		*out_at = last->at + 1;
		found = last->take == take->number;
	} else if (node->parent < 0) {
		found = true;
	} else {
		RT_TRY(l->s, rt_take_find(l->c->now, take, l->spots[node->parent].entry, out_at,
					  NULL, &found, &l->s->error));
		++*out_at;
	}
	return rt_ok(l->s) && found && *out_at < rt_seq_count(take->slots);
}

/* Is it an entry with the same body after the node's parent in some take? */
static void
match_body(rt_layer *l, size_t index)
{
	const rt_node *node = &l->outline->nodes[index];
	const rt_disc *disc = rt_layer_disc(l);
	rt_scope *s = l->s;

	if (node->parent >= 0 && !l->spots[node->parent].known)
		return;
	for (uint32_t i = 1; rt_ok(s) && i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, i);
		rt_slot slot;
		size_t at;

		if (!take->present || !place_after_parent(l, node, take, &at))
			continue;
		RT_TRY(s, rt_seq_get(take->slots, at, &slot, &s->error));
		if (!rt_ok(s) || !has_body(l, slot.body, node))
			continue;
		rt_spot *spot = &l->spots[index];
		spot->entry = slot.entry;
		spot->known = true;
		spot->body = UINT64_MAX;
		spot->take = take->number;
		spot->at = at;
		l->import->result.known++;
		return;
	}
}

static void
match_bodies(rt_layer *l)
{
	for (size_t i = 0; rt_ok(l->s) && i < l->outline->node_count; i++)
		if (!rt_id_is_legal(l->outline->nodes[i].id) && !l->spots[i].known)
			match_body(l, i);
}

/* ---- nodes without ids in a discussion that was changed: by the rows of earlier imports ---- */

static int
by_entry(const void *a, const void *b)
{
	const rt_import_origin *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return (x->body > y->body) - (x->body < y->body);
}

/* Adds the entries of a step of the discussion, if it was an import. Returns the step before; 0: none. */
static uint64_t
list_step(rt_layer *l, uint64_t seq, size_t *room)
{
	rt_making *m = &l->import->making;
	rt_record record = {0};
	uint64_t before = 0;
	bool is_import;
	rt_scope row;

	rt_scope_init(&row, l->import->engine->alloc);
	if (rt_scope_arena(&row) != NULL)
		RT_TRY(&row, rt_engine_record(l->import->engine, seq, rt_scope_arena(&row), &record,
					      NULL, &row.error));
	if (rt_ok(&row) && !rt_history_parent(&record, l->disc, &before))
		rt_scope_note(&row, rt_history_not_touched(seq, l->disc, &row.error));
	is_import = rt_ok(&row) && rt_str_is(record.op, "import");
	for (size_t i = 0; is_import && i < record.effect_count; i++) {
		const rt_effect *e = &record.effects[i];

		if (e->kind != RT_EFFECT_SPLICE || e->disc != l->disc)
			continue;
		for (size_t k = 0; rt_ok(l->s) && k < e->added_count; k++) {
			rt_import_origin *to = rt_import_grow(l->import, m->origins,
							      m->origin_count, room, sizeof(*to));
			if (to == NULL)
				break;
			m->origins = to;
			to[m->origin_count++] = (rt_import_origin){.entry = e->added[k].slot.entry,
								   .body = e->added[k].slot.body};
		}
	}
	return rt_scope_join(l->s, &row) == RT_OK ? before : 0;
}

static uint64_t
hash_body(char format, rt_str body)
{
	return rt_hash(body.ptr, body.size, (uint64_t)(unsigned char)format);
}

/* An origin and its index. */
typedef struct hashed {
	uint64_t hash;
	uint32_t index;
} hashed;

static int
by_hash(const void *a, const void *b)
{
	const hashed *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* So that an entry with a given text is found without comparing with all of them. */
static void
hash_origins(rt_layer *l)
{
	rt_making *m = &l->import->making;
	hashed *sorted = rt_layer_array(l, m->origin_count, sizeof(*sorted));
	size_t room = 0;

	if (sorted == NULL || m->origin_count == 0)
		return;
	for (size_t i = 0; rt_ok(l->s) && i < m->origin_count; i++) {
		rt_str bytes = read_body(l, m->origins[i].body);

		if (bytes.size > 0)
			m->origins[i].hash = hash_body(bytes.ptr[0], rt_str_skip(bytes, 1));
		sorted[i] = (hashed){m->origins[i].hash, (uint32_t)i};
	}
	qsort(sorted, m->origin_count, sizeof(*sorted), by_hash);
	for (size_t i = 0; i < m->origin_count; i++) {
		m->origins_by_hash = rt_import_grow(l->import, m->origins_by_hash, i, &room,
						    sizeof(*m->origins_by_hash));
		if (m->origins_by_hash == NULL)
			return;
		m->origins_by_hash[i] = sorted[i].index;
	}
}

/* The first origin from origin_at to before `end` with the text of the node; SIZE_MAX: none. */
static size_t
find_origin(rt_layer *l, const rt_node *node, size_t end)
{
	const rt_making *m = &l->import->making;
	uint64_t hash = hash_body(node->body_format, node->body);
	size_t low = 0, high = m->origins_by_hash != NULL ? m->origin_count : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2, index = m->origins_by_hash[mid];

		if (m->origins[index].hash < hash ||
		    (m->origins[index].hash == hash && index < m->origin_at))
			low = mid + 1;
		else
			high = mid;
	}
	for (; rt_ok(l->s) && m->origins_by_hash != NULL && low < m->origin_count; low++) {
		size_t index = m->origins_by_hash[low];

		if (m->origins[index].hash != hash || index >= end)
			break;
		if (has_body(l, m->origins[index].body, node))
			return index;
	}
	return SIZE_MAX;
}

/* The entries that imports added to the discussion and that were not undone, with their first bodies, in the order
 * of the source: entries of an import are numbered in it. Cost: the steps of the discussion, and the bodies. */
static void
list_origins(rt_layer *l)
{
	rt_making *m = &l->import->making;
	const rt_disc *disc = rt_layer_disc(l);
	uint64_t step = disc != NULL ? disc->history.current : 0;
	size_t room = 0, count = 0;

	m->has_origins = true;
	while (rt_ok(l->s) && step != 0)
		step = list_step(l, step, &room);
	if (m->origin_count > 1)
		qsort(m->origins, m->origin_count, sizeof(*m->origins), by_entry);
	for (size_t i = 0; i < m->origin_count; i++)
		if (count == 0 || m->origins[count - 1].entry != m->origins[i].entry)
			m->origins[count++] = m->origins[i];
	m->origin_count = count;
	hash_origins(l);
	m->origin_at = m->passed < count ? m->passed : count;
}

static void
match_origins(rt_layer *l)
{
	rt_making *m = &l->import->making;
	const rt_outline *o = l->outline;

	if (!m->has_origins)
		list_origins(l);
	for (size_t i = 0; i < o->node_count; i++)
		if (!rt_id_is_legal(o->nodes[i].id) && l->spots[i].known && !l->spots[i].is_written) {
			l->spots[i] = (rt_spot){0};
			l->import->result.known--;
		}
	for (size_t i = 0; rt_ok(l->s) && i < o->node_count; i++) {
		/* Nodes of a written session pass over the entries that it was made of. */
		size_t end = m->written_count > 0 || m->origin_count - m->origin_at < AHEAD
				     ? m->origin_count
				     : m->origin_at + AHEAD;

		if (rt_id_is_legal(o->nodes[i].id) || l->spots[i].is_written)
			continue;
		size_t at = find_origin(l, &o->nodes[i], end);

		if (at == SIZE_MAX)
			continue;
		know(l, i, m->origins[at].entry);
		m->origin_at = at + 1;
	}
	place_nodes(l);
	match_bodies(l);
}

/* Has a node without an id no entry yet? */
static bool
lacks_entry(const rt_layer *l)
{
	for (size_t i = 0; i < l->outline->node_count; i++)
		if (!rt_id_is_legal(l->outline->nodes[i].id) && !l->spots[i].known)
			return true;
	return false;
}

/* ---- new entries ---- */

/* The place of an entry; of several takes with it, the one whose tip it is, else the first. */
static rt_spot
find_spot(rt_layer *l, rt_str id)
{
	const rt_disc *disc = rt_layer_disc(l);
	rt_spot spot = {.take = 0};
	uint32_t entry = 0;

	RT_TRY(l->s, rt_resolve_vanished(l->c->now, l->disc, id, &entry, &l->s->error));
	for (uint32_t i = 1; rt_ok(l->s) && entry != 0 && !spot.tip && i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, i);
		bool found = false;
		size_t at = 0;

		if (take->present)
			RT_TRY(l->s, rt_take_find(l->c->now, take, entry, &at, NULL, &found, &l->s->error));
		if (!rt_ok(l->s) || !found)
			continue;
		bool is_tip = at + 1 == rt_seq_count(take->slots);
		if (spot.take == 0 || is_tip)
			spot = (rt_spot){.take = take->number, .at = at, .tip = is_tip};
	}
	return spot;
}

/* What a node without parent follows; take 0: nothing. */
static rt_spot
spot_before(rt_layer *l, const rt_node *node)
{
	if (node->after.ptr == NULL)
		return l->import->making.last;
	return node->after.size > 0 ? find_spot(l, node->after) : (rt_spot){.take = 0};
}

/* For a node that follows nothing: the first take, if it is empty, or a new one. */
static uint32_t
root_take(rt_layer *l)
{
	const rt_disc *disc = rt_layer_disc(l);

	if (disc != NULL && rt_disc_take(disc, 1)->present && rt_seq_count(rt_disc_take(disc, 1)->slots) == 0)
		return 1;
	return rt_layer_new_take(l, 0, 0, rt_str_at(NULL, 0), rt_str_at(NULL, 0));
}

void
rt_layer_add_runs(rt_layer *l)
{
	const rt_outline *o = l->outline;
	int64_t *path = rt_layer_array(l, o->node_count, sizeof(*path));
	bool *has_child = rt_layer_array(l, o->node_count, sizeof(*has_child));

	rt_layer_number(l);
	if (!rt_ok(l->s))
		return;
	for (size_t i = 0; i < o->node_count; i++)
		if (o->nodes[i].parent >= 0 && !l->spots[i].known)
			has_child[o->nodes[i].parent] = true;
	for (size_t i = 0; rt_ok(l->s) && i < o->node_count; i++) {
		uint32_t take;
		size_t shared = 0, count;
		int64_t above;

		if (l->spots[i].known || has_child[i])
			continue;
		const int64_t *run = rt_layer_path(l, i, path, &count, &above);
		/* If the parent was deleted since: the nearest existing ancestor. */
		while (above >= 0 && l->spots[above].take == UINT32_MAX)
			above = o->nodes[above].parent;
		rt_spot after = above >= 0 ? l->spots[above] : spot_before(l, &o->nodes[run[0]]);
		if (after.take != 0 && after.take != UINT32_MAX) {
			shared = after.at + 1;
			take = rt_layer_branch(l, after.take, shared);
		} else {
			take = root_take(l);
		}
		rt_layer_append(l, take, shared, run, count);
	}
}

void
rt_layer_add_new(rt_layer *l)
{
	const rt_outline *o = l->outline;

	if (l->import->making.goes_on) /* bodies of the outline before may be compared */
		rt_import_flush(l->import);
	match_written(l);
	match_ids(l);
	if (!l->import->making.has_origins)
		match_bodies(l);
	if (rt_ok(l->s) && lacks_entry(l))
		match_origins(l);
	if (o->takes == NULL && rt_ok(l->s))
		rt_layer_add_runs(l);
}
