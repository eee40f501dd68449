/* SPDX-License-Identifier: MIT
 *
 * What of an outline is in a discussion already, and where; what is new goes after it. */
#include "ops/import_impl.h"

#include "base/hash.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* Is this body of the store the node's? */
static rt_status
is_body(rt_layer *l, uint64_t number, const rt_node *node, bool *out, rt_error *err)
{
	rt_buf bytes;
	rt_status st;

	rt_buf_init(&bytes, l->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(l->engine->store,
			  rt_rows_one(RT_STORE_BODIES, l->engine->project, number), &bytes, NULL,
			  err);
	*out = st == RT_OK && bytes.size == node->body.size + 1 &&
	       bytes.ptr[0] == node->body_format &&
	       rt_str_eq(rt_str_at(bytes.ptr + 1, bytes.size - 1), node->body);
	rt_buf_deinit(&bytes);
	return st;
}

/* A node without a usable id: is an entry with just this body what follows its parent in
 * some take? */
static rt_status
match_nameless(rt_layer *l, size_t index, rt_error *err)
{
	const rt_node *node = &l->outline->nodes[index];
	const rt_spot *last = &l->all->making.last;
	const rt_disc *disc;
	size_t i;
	rt_status st = rt_project_disc(l->c->now, l->disc, &disc, err);

	for (i = 1; st == RT_OK && i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);
		size_t at = 0;
		bool found = node->parent < 0, same;
		rt_slot slot;

		if (!take->present)
			continue;
		if (node->parent < 0 && last->take != 0) {
			at = last->at + 1;
			found = last->take == take->number;
		}
		if (node->parent >= 0 && !l->spots[node->parent].known)
			return RT_OK;
		if (node->parent >= 0) {
			st = rt_take_find(l->c->now, take, l->spots[node->parent].entry, &at, NULL,
					  &found, err);
			at++;
		}
		if (st != RT_OK || !found || at >= rt_seq_count(take->slots))
			continue;
		st = rt_seq_get(take->slots, at, &slot, err);
		if (st != RT_OK)
			break;
		st = is_body(l, slot.body, node, &same, err);
		if (st != RT_OK)
			break;
		if (same) {
			l->spots[index].entry = slot.entry;
			l->spots[index].known = true;
			l->spots[index].body = UINT64_MAX;
			l->spots[index].take = take->number;
			l->spots[index].at = at;
			l->result->known++;
			break;
		}
	}
	return st;
}

static size_t
place_of_entry(const rt_layer *l, const uint32_t *first, size_t room, uint32_t entry)
{
	size_t at = (size_t)rt_hash_u64(entry) & (room - 1);

	while (first[at] != UINT32_MAX && l->spots[first[at]].entry != entry)
		at = (at + 1) & (room - 1);
	return at;
}

/* Where the known entries stand: in the take whose tip they are, else in the oldest. One
 * walk over the takes, for there may be many of both. first: the node that speaks for an
 * entry, by a hash of its number. */
static rt_status
place_known(rt_layer *l, uint32_t *first, size_t room, rt_error *err)
{
	const rt_disc *disc;
	size_t i, k, at, count;
	rt_status st = rt_project_disc(l->c->now, l->disc, &disc, err);

	for (i = 1; st == RT_OK && i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		if (!take->present)
			continue;
		count = rt_seq_count(take->slots);
		for (at = 0; st == RT_OK && at < count;) {
			rt_slot slots[64];
			size_t run = count - at < 64 ? count - at : 64;

			st = rt_seq_copy(take->slots, at, run, slots, err);
			for (k = 0; st == RT_OK && k < run; k++) {
				uint32_t index = first[place_of_entry(l, first, room,
								      slots[k].entry)];
				bool tip = at + k + 1 == count;

				if (index == UINT32_MAX ||
				    (l->spots[index].take != UINT32_MAX &&
				     (!tip || l->spots[index].tip)))
					continue;
				l->spots[index].take = take->number;
				l->spots[index].at = at + k;
				l->spots[index].tip = tip;
			}
			at += run;
		}
	}
	return st;
}

/* Find in the discussion what the outline has: entries by id. */
static rt_status
match_known(rt_layer *l, rt_error *err)
{
	const rt_outline *o = l->outline;
	size_t room = 64, i;
	uint32_t *first;
	rt_status st = RT_OK;

	while (room < o->node_count * 2 + 2)
		room *= 2;
	first = rt_new_array(l->engine->alloc, room, sizeof(*first));
	if (first == NULL)
		return nomem(err);
	memset(first, 0xFF, room * sizeof(*first));
	for (i = 0; st == RT_OK && i < o->node_count; i++) {
		uint32_t entry = 0;
		size_t at;

		if (!rt_layer_id_usable(o->nodes[i].id))
			continue;
		st = rt_resolve_vanished(l->c->now, l->disc, o->nodes[i].id, &entry, err);
		if (st != RT_OK || entry == 0)
			continue;
		l->spots[i].entry = entry;
		l->spots[i].known = true;
		l->spots[i].body = UINT64_MAX; /* whatever it is now, it stays */
		l->spots[i].take = UINT32_MAX;
		l->result->known++;
		at = place_of_entry(l, first, room, entry);
		if (first[at] == UINT32_MAX)
			first[at] = (uint32_t)i;
	}
	if (st == RT_OK)
		st = place_known(l, first, room, err);
	for (i = 0; st == RT_OK && i < o->node_count; i++)
		if (l->spots[i].known)
			l->spots[i] = l->spots[first[place_of_entry(l, first, room,
								      l->spots[i].entry)]];
	rt_free(l->engine->alloc, first);
	for (i = 0; st == RT_OK && i < o->node_count; i++)
		if (!rt_layer_id_usable(o->nodes[i].id))
			st = match_nameless(l, i, err);
	return st;
}

/* New nodes of a discussion that was imported before: each run goes behind its parent. */
static rt_status
lay_news(rt_layer *l, rt_error *err)
{
	const rt_outline *o = l->outline;
	const rt_alloc *alloc = l->engine->alloc;
	const rt_spot *last = &l->all->making.last;
	int64_t *path = rt_new_array(alloc, o->node_count + 1, sizeof(*path));
	unsigned char *has_child = rt_new_array(alloc, o->node_count + 1, 1);
	size_t i, depth;
	rt_status st = path != NULL && has_child != NULL ? rt_layer_number(l, err) : nomem(err);

	if (st == RT_OK) {
		memset(has_child, 0, o->node_count + 1);
		for (i = 0; i < o->node_count; i++)
			if (o->nodes[i].parent >= 0 && !l->spots[i].known)
				has_child[o->nodes[i].parent] = 1;
	}
	for (i = 0; st == RT_OK && i < o->node_count; i++) {
		const rt_disc *disc;
		uint32_t take = 0;
		size_t shared = 0;
		int64_t at;

		if (l->spots[i].known || has_child[i])
			continue;
		depth = 0;
		for (at = (int64_t)i; at >= 0 && l->spots[at].take == 0;
		     at = o->nodes[at].parent)
			path[o->node_count - 1 - depth++] = at;
		/* a parent that was deleted since: behind its nearest ancestor that stands */
		while (at >= 0 && l->spots[at].take == UINT32_MAX)
			at = o->nodes[at].parent;
		st = rt_project_disc(l->c->now, l->disc, &disc, err);
		if (st != RT_OK)
			break;
		if (at >= 0) {
			take = l->spots[at].take;
			shared = l->spots[at].at + 1;
			if (shared < rt_seq_count(rt_disc_take(disc, take)->slots))
				st = rt_layer_new_take(l, take, shared, rt_str_at(NULL, 0),
					      rt_str_at(NULL, 0), &take, err);
		} else if (last->take != 0 && last->take != UINT32_MAX) {
			take = last->take; /* the outline before this one ended there */
			shared = last->at + 1;
			if (shared < rt_seq_count(rt_disc_take(disc, take)->slots))
				st = rt_layer_new_take(l, take, shared, rt_str_at(NULL, 0),
						       rt_str_at(NULL, 0), &take, err);
		} else {
			st = rt_layer_new_take(l, 0, 0, rt_str_at(NULL, 0), rt_str_at(NULL, 0), &take, err);
		}
		if (st == RT_OK)
			st = rt_layer_run(l, take, shared, path + (o->node_count - depth), 0, depth, err);
	}
	rt_free(alloc, path);
	rt_free(alloc, has_child);
	return st;
}

rt_status
rt_layer_known(rt_layer *l, rt_error *err)
{
	rt_status st = RT_OK;

	if (l->all->making.goes_on) /* bodies of the outline before may be looked at */
		st = rt_import_flush(l->all, err);
	if (st == RT_OK)
		st = match_known(l, err);
	if (st == RT_OK && l->outline->takes == NULL)
		st = lay_news(l, err);
	return st;
}
