/* SPDX-License-Identifier: MIT
 *
 * Outlines into a project. Each becomes one step: a new discussion with its takes, or, when
 * the same source was imported before, what is new in it since.
 *
 * Takes are laid one after the other. A take that begins like one that is laid already is
 * branched from it, so takes share their beginnings as branches do. Bodies go to the store
 * in chunks, so memory is bounded by the outline, not by the texts. */
#include "base/hash.h"
#include "engine/compile.h"
#include "engine/import.h"
#include "engine/import_known.h"
#include "engine/names.h"

enum { CHUNK_BYTES = 4 << 20, CHUNK_BODIES = 4096, GAP_MAX = 10000 };

/* Where a node has been laid. */
typedef struct spot {
	uint32_t take; /* 0: nowhere yet */
	uint32_t entry;
	uint64_t body; /* 0: not written yet */
	size_t at;
	bool known;    /* from an earlier import */
	bool tip;      /* known, and the last of that take */
} spot;

/* What the outlines of one import have in common. */
typedef struct import_all {
	bool dry_run;
	rt_known known;
	rt_names discs; /* their names; empty until one is asked for */
} import_all;

typedef struct import {
	rt_engine *engine;
	rt_change *c;
	const rt_outline *outline;
	rt_import_result *result;
	uint32_t disc;
	spot *spots;
	/* node indices by id, open addressing: revisions of one entry share it */
	uint32_t *table;
	size_t table_room;
	/* bodies waiting to be appended */
	rt_buf bytes;
	struct {
		size_t at, size;
		uint64_t number;
		uint32_t entry;
	} *waiting;
	size_t waiting_count;
	import_all *all;
	rt_names takes; /* names in the discussion; empty until one is asked for */
} import;

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- bodies ---- */

static rt_status
flush(import *im, rt_error *err)
{
	rt_body_row *rows;
	size_t i;
	rt_status st;

	if (im->waiting_count == 0 || im->all->dry_run) {
		im->waiting_count = 0;
		rt_buf_clear(&im->bytes);
		return RT_OK;
	}
	rows = rt_new_array(im->engine->alloc, im->waiting_count, sizeof(*rows));
	if (rows == NULL || im->bytes.status != RT_OK) {
		rt_free(im->engine->alloc, rows);
		return nomem(err);
	}
	for (i = 0; i < im->waiting_count; i++)
		rows[i] = (rt_body_row){im->waiting[i].number, im->waiting[i].entry,
					rt_str_at(im->bytes.ptr + im->waiting[i].at,
						  im->waiting[i].size)};
	st = im->engine->store->ops->append(im->engine->store, im->engine->project, im->c->base->seq,
					    NULL, 0, rows, im->waiting_count, NULL, err);
	rt_free(im->engine->alloc, rows);
	im->waiting_count = 0;
	rt_buf_clear(&im->bytes);
	return st;
}

static rt_status
add_body(import *im, size_t index, rt_error *err)
{
	const rt_node *node = &im->outline->nodes[index];
	spot *s = &im->spots[index];
	size_t at = im->bytes.size;

	rt_buf_add_byte(&im->bytes, node->body_format);
	rt_buf_add_str(&im->bytes, node->body);
	im->waiting[im->waiting_count].at = at;
	im->waiting[im->waiting_count].size = node->body.size + 1;
	im->waiting[im->waiting_count].number = s->body = im->c->next_body++;
	im->waiting[im->waiting_count++].entry = s->entry;
	if (im->waiting_count == CHUNK_BODIES || im->bytes.size >= CHUNK_BYTES)
		return flush(im, err);
	return RT_OK;
}

/* ---- ids ---- */

static size_t
table_at(const import *im, rt_str id)
{
	size_t at = (size_t)rt_hash(id.ptr, id.size, 7) & (im->table_room - 1);

	while (im->table[at] != UINT32_MAX &&
	       !rt_str_eq(im->outline->nodes[im->table[at]].id, id))
		at = (at + 1) & (im->table_room - 1);
	return at;
}

static bool
id_usable(rt_str id)
{
	return rt_id_is_legal(id);
}

/* An index of the nodes by id: nodes with one id are one entry. */
static rt_status
number_nodes(import *im, rt_error *err)
{
	const rt_outline *o = im->outline;
	size_t i;

	im->table_room = 64;
	while (im->table_room < o->node_count * 2 + 2)
		im->table_room *= 2;
	im->table = rt_new_array(im->engine->alloc, im->table_room, sizeof(*im->table));
	im->spots = rt_new_array(im->engine->alloc, o->node_count + 1, sizeof(*im->spots));
	if (im->table == NULL || im->spots == NULL)
		return nomem(err);
	memset(im->table, 0xFF, im->table_room * sizeof(*im->table));
	memset(im->spots, 0, (o->node_count + 1) * sizeof(*im->spots));
	for (i = 0; i < o->node_count; i++) {
		size_t at;

		if (!id_usable(o->nodes[i].id))
			continue;
		at = table_at(im, o->nodes[i].id);
		if (im->table[at] == UINT32_MAX)
			im->table[at] = (uint32_t)i;
	}
	return RT_OK;
}

/* The number of a node's entry; a fresh one where it has none. */
static rt_status
entry_of(import *im, size_t index, rt_error *err)
{
	const rt_node *node = &im->outline->nodes[index];
	spot *s = &im->spots[index];
	char made[RT_ID_TEXT_MAX];
	uint32_t used;

	if (s->entry != 0)
		return RT_OK;
	if (id_usable(node->id)) {
		size_t first = im->table[table_at(im, node->id)];

		if (first != index && im->spots[first].entry != 0) {
			s->entry = im->spots[first].entry;
			return RT_OK;
		}
		s->entry = im->c->next_entry++;
		im->spots[first].entry = s->entry;
		return RT_OK;
	}
	for (;;) { /* a made id that nobody was given */
		size_t size;
		rt_status st;

		s->entry = im->c->next_entry++;
		size = rt_id_of(im->c->now->ledger->salt, s->entry, made);
		st = rt_strs_find(im->c->now->ledger->ids, rt_str_at(made, size), &used, err);
		if (st != RT_OK)
			return st;
		if (used == 0 && im->table[table_at(im, rt_str_at(made, size))] == UINT32_MAX)
			return RT_OK;
	}
}

/* Is a given id the one that the number makes anyway? Then it need not be kept. */
static bool
is_made_id(const import *im, uint32_t entry, rt_str id)
{
	char made[RT_ID_TEXT_MAX];
	size_t size = rt_id_of(im->c->now->ledger->salt, entry, made);

	return rt_str_eq(rt_str_at(made, size), id);
}

/* ---- laying takes ---- */

static rt_status
slot_of(import *im, size_t index, rt_effect_slot *out, rt_error *err)
{
	const rt_node *node = &im->outline->nodes[index];
	rt_status st = RT_OK;

	if (im->spots[index].body == 0)
		st = add_body(im, index, err);
	if (st != RT_OK)
		return st;
	memset(out, 0, sizeof(*out));
	out->slot.entry = im->spots[index].entry;
	out->slot.body = im->spots[index].body;
	out->slot.size = node->body.size > UINT32_MAX ? UINT32_MAX : (uint32_t)node->body.size;
	if (node->body_format != RT_BODY_TEXT)
		out->slot.flags |= RT_SLOT_RICH;
	if (node->muted)
		out->slot.flags |= RT_SLOT_MUTED;
	if (node->has_ts)
		rt_slot_set_moment(&out->slot, node->ts);
	else
		out->slot.flags |= RT_SLOT_NO_TS;
	out->role = node->role;
	out->kind = rt_str_is(node->kind, "message") ? RT_STR("") : node->kind;
	if (id_usable(node->id) && !is_made_id(im, out->slot.entry, node->id))
		out->id = node->id;
	return RT_OK;
}

/* Append nodes from .. count-1 of list to the end of a take. */
static rt_status
lay_run(import *im, uint32_t take, size_t at, const int64_t *list, size_t from, size_t count,
	rt_error *err)
{
	rt_effect_slot *slots;
	size_t i;
	rt_status st = RT_OK;

	if (from == count)
		return RT_OK;
	slots = rt_new_array(im->engine->alloc, count - from, sizeof(*slots));
	if (slots == NULL)
		return nomem(err);
	for (i = from; st == RT_OK && i < count; i++) {
		size_t index = (size_t)list[i];

		st = slot_of(im, index, &slots[i - from], err);
		if (im->spots[index].take == 0) {
			im->spots[index].take = take;
			im->spots[index].at = at + (i - from);
		}
	}
	if (st == RT_OK)
		st = rt_change_splice(im->c, im->disc, take, at, 0, slots, count - from, err);
	rt_free(im->engine->alloc, slots);
	im->result->entries += count - from;
	return st;
}

/* A name for a new take: as wanted where that is free, else a number behind its base. */
static rt_status
free_take_name(import *im, const rt_disc *disc, rt_str wanted, rt_str *out, rt_error *err)
{
	size_t i;
	rt_buf name;
	rt_status st = RT_OK;

	if (im->takes.count == 0)
		for (i = 1; st == RT_OK && i <= rt_disc_take_count(disc); i++) {
			const rt_take *take = rt_disc_take(disc, (uint32_t)i);

			if (take->present)
				st = rt_names_add(&im->takes, rt_text_str(take->name));
		}
	rt_buf_init(&name, im->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK && (wanted.size == 0 || rt_names_has(&im->takes, wanted))) {
		if (wanted.size == 0)
			wanted = rt_text_str(rt_disc_take(disc, 1)->name);
		st = rt_names_number(&im->takes, rt_compile_take_base(wanted), "_take_", 1, &name);
		wanted = rt_buf_str(&name);
	}
	if (st == RT_OK)
		st = rt_names_add(&im->takes, wanted);
	*out = st == RT_OK ? rt_change_keep(im->c, wanted) : rt_str_at(NULL, 0);
	rt_buf_deinit(&name);
	return out->ptr == NULL ? nomem(err) : RT_OK;
}

/* A new take that begins like the first `shared` slots of `from`. */
static rt_status
new_take(import *im, uint32_t from, size_t shared, rt_str name, rt_str git_commit,
	 uint32_t *out_number, rt_error *err)
{
	const rt_disc *disc;
	rt_effect e;
	rt_status st = rt_project_disc(im->c->now, im->disc, &disc, err);

	if (st != RT_OK)
		return st;
	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_NEW;
	e.disc = im->disc;
	e.sub = (uint32_t)rt_disc_take_count(disc) + 1;
	e.from_take = shared > 0 ? from : 0;
	e.count = shared;
	e.git_commit = rt_change_keep(im->c, git_commit);
	st = free_take_name(im, disc, name, &e.name, err);
	if (st == RT_OK)
		st = rt_change_emit(im->c, &e, err);
	im->result->takes++;
	*out_number = e.sub;
	return st;
}

/* Entry numbers in the order of the source, so that an export has that order too. */
static rt_status
number_entries(import *im, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < im->outline->node_count; i++)
		st = entry_of(im, i, err);
	return st;
}

/* Takes from parent links: the head's path first, then one for every other leaf; each
 * begins where its path leaves what is laid. */
static rt_status
lay_leaves(import *im, uint32_t first_take, size_t head, rt_error *err)
{
	const rt_outline *o = im->outline;
	const rt_alloc *alloc = im->engine->alloc;
	int64_t *newest = rt_new_array(alloc, o->node_count + 1, sizeof(*newest)); /* child; -1 */
	int64_t *path = rt_new_array(alloc, o->node_count + 1, sizeof(*path));
	size_t i, leaf, depth;
	rt_status st = newest != NULL && path != NULL ? RT_OK : nomem(err);

	if (st == RT_OK) {
		memset(newest, 0xFF, (o->node_count + 1) * sizeof(*newest));
		for (i = 0; i < o->node_count; i++)
			if (o->nodes[i].parent >= 0)
				newest[o->nodes[i].parent] = (int64_t)i;
	}
	for (i = 0; st == RT_OK && i <= o->node_count; i++) {
		uint32_t take = first_take;
		size_t shared = 0;
		int64_t at;

		if (i == 0) { /* the leaf that the head's path leads to: newest below it */
			leaf = head;
			if (o->node_count == 0)
				break;
			while (newest[leaf] >= 0)
				leaf = (size_t)newest[leaf];
		} else {
			leaf = i - 1;
			if (newest[leaf] >= 0)
				continue;
		}
		if (im->spots[leaf].take != 0)
			continue;
		depth = 0;
		for (at = (int64_t)leaf; at >= 0 && im->spots[at].take == 0;
		     at = o->nodes[at].parent) {
			path[o->node_count - 1 - depth] = at;
			depth++;
		}
		if (at >= 0) {
			const rt_disc *disc;
			size_t length;

			take = im->spots[at].take;
			shared = im->spots[at].at + 1;
			st = rt_project_disc(im->c->now, im->disc, &disc, err);
			if (st != RT_OK)
				break;
			length = rt_seq_count(rt_disc_take(disc, take)->slots);
			if (shared < length || i > 0)
				if (shared < length || im->spots[leaf].take != 0 ||
				    rt_disc_take(disc, take)->number != take)
					st = new_take(im, take, shared, rt_str_at(NULL, 0),
						      rt_str_at(NULL, 0), &take, err);
		} else if (i > 0) {
			const rt_disc *disc;

			st = rt_project_disc(im->c->now, im->disc, &disc, err);
			if (st == RT_OK && (rt_seq_count(rt_disc_take(disc, first_take)->slots) > 0))
				st = new_take(im, 0, 0, rt_str_at(NULL, 0), rt_str_at(NULL, 0),
					      &take, err);
		}
		if (st == RT_OK)
			st = lay_run(im, take, shared, path + (o->node_count - depth), 0, depth, err);
	}
	rt_free(alloc, newest);
	rt_free(alloc, path);
	return st;
}

/* How many nodes two lists begin with in common. */
static size_t
common(const rt_outline_take *a, const rt_outline_take *b)
{
	size_t count = a->node_count < b->node_count ? a->node_count : b->node_count, i;

	for (i = 0; i < count && a->nodes[i] == b->nodes[i]; i++)
		;
	return i;
}

static rt_status
lay_takes(import *im, uint32_t first_take, uint32_t *out_active, rt_error *err)
{
	const rt_outline *o = im->outline;
	size_t i, j;
	rt_status st = RT_OK;

	*out_active = first_take;
	for (i = 0; st == RT_OK && i < o->take_count; i++) {
		const rt_outline_take *t = &o->takes[i];
		uint32_t take = first_take;
		size_t shared = 0;

		if (i > 0) {
			size_t best = 0;

			for (j = 0; j < i; j++) {
				size_t n = common(t, &o->takes[j]);

				if (n > shared) {
					shared = n;
					best = j;
				}
				if (shared == t->node_count)
					break;
				if (j == 2 && i > 8) /* the first few and the last few */
					j = i - 6;
			}
			st = new_take(im, first_take + (uint32_t)best, shared, t->name,
				      t->git_commit, &take, err);
		}
		if (st == RT_OK)
			st = lay_run(im, take, shared, t->nodes, shared, t->node_count, err);
		if (i == o->active_take)
			*out_active = take;
	}
	return st;
}

/* ---- one outline ---- */

static rt_status
set_fields(import *im, uint32_t disc, const rt_outline_field *fields, size_t count, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < count; i++) {
		rt_str name = rt_change_keep(im->c, fields[i].name);
		rt_json_doc *doc = NULL;

		if (name.ptr == NULL)
			return nomem(err);
		/* "redacted" is true of the file, not of what becomes of it here */
		if (rt_str_is(name, "id") || rt_str_is(name, "redacted") || name.size == 0)
			continue;
		st = rt_json_read(im->engine->alloc, fields[i].json, &doc, err);
		if (st != RT_OK)
			return st;
		st = rt_compile_set_json(im->c, disc, name, rt_json_root(doc), err);
		rt_json_free(doc);
	}
	return st;
}

static rt_status
free_disc_name(import *im, rt_str wanted, rt_str *out, rt_error *err)
{
	rt_names *names = &im->all->discs;
	size_t i;
	rt_buf name;
	rt_status st = RT_OK;

	if (wanted.size == 0)
		wanted = RT_STR("imported");
	if (names->count == 0)
		for (i = 1; st == RT_OK && i <= rt_project_disc_count(im->c->now); i++) {
			const rt_cell *cell = rt_project_cell(im->c->now, (uint32_t)i);

			if (cell->present)
				st = rt_names_add(names, rt_text_str(cell->name));
		}
	rt_buf_init(&name, im->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK && rt_names_has(names, wanted)) {
		st = rt_names_number(names, wanted, "_", 2, &name);
		wanted = rt_buf_str(&name);
	}
	if (st == RT_OK)
		st = rt_names_add(names, wanted);
	*out = st == RT_OK ? rt_change_keep(im->c, wanted) : rt_str_at(NULL, 0);
	rt_buf_deinit(&name);
	return out->ptr == NULL ? nomem(err) : RT_OK;
}

/* Is this body of the store the node's? */
static rt_status
is_body(import *im, uint64_t number, const rt_node *node, bool *out, rt_error *err)
{
	rt_buf bytes;
	rt_status st;

	rt_buf_init(&bytes, im->engine->alloc, RT_BUF_UNLIMITED);
	st = im->engine->store->ops->body_read(im->engine->store, im->engine->project, number,
					       &bytes, NULL, err);
	*out = st == RT_OK && bytes.size == node->body.size + 1 &&
	       bytes.ptr[0] == node->body_format &&
	       rt_str_eq(rt_str_at(bytes.ptr + 1, bytes.size - 1), node->body);
	rt_buf_deinit(&bytes);
	return st;
}

/* A node without a usable id: is an entry with just this body what follows its parent in
 * some take? */
static rt_status
match_nameless(import *im, size_t index, rt_error *err)
{
	const rt_node *node = &im->outline->nodes[index];
	const rt_disc *disc;
	size_t i;
	rt_status st = rt_project_disc(im->c->now, im->disc, &disc, err);

	for (i = 1; st == RT_OK && i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);
		size_t at = 0;
		bool found = node->parent < 0, same;
		rt_slot slot;

		if (!take->present)
			continue;
		if (node->parent >= 0 && !im->spots[node->parent].known)
			return RT_OK;
		if (node->parent >= 0) {
			st = rt_take_find(im->c->now, take, im->spots[node->parent].entry, &at, NULL,
					  &found, err);
			at++;
		}
		if (st != RT_OK || !found || at >= rt_seq_count(take->slots))
			continue;
		st = rt_seq_get(take->slots, at, &slot, err);
		if (st != RT_OK)
			break;
		st = is_body(im, slot.body, node, &same, err);
		if (st != RT_OK)
			break;
		if (same) {
			im->spots[index].entry = slot.entry;
			im->spots[index].known = true;
			im->spots[index].body = UINT64_MAX;
			im->spots[index].take = take->number;
			im->spots[index].at = at;
			im->result->known++;
			break;
		}
	}
	return st;
}

static size_t
place_of_entry(const import *im, const uint32_t *first, size_t room, uint32_t entry)
{
	size_t at = (size_t)rt_hash_u64(entry) & (room - 1);

	while (first[at] != UINT32_MAX && im->spots[first[at]].entry != entry)
		at = (at + 1) & (room - 1);
	return at;
}

/* Where the known entries stand: in the take whose tip they are, else in the oldest. One
 * walk over the takes, for there may be many of both. first: the node that speaks for an
 * entry, by a hash of its number. */
static rt_status
place_known(import *im, uint32_t *first, size_t room, rt_error *err)
{
	const rt_disc *disc;
	size_t i, k, at, count;
	rt_status st = rt_project_disc(im->c->now, im->disc, &disc, err);

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
				uint32_t index = first[place_of_entry(im, first, room,
								      slots[k].entry)];
				bool tip = at + k + 1 == count;

				if (index == UINT32_MAX ||
				    (im->spots[index].take != UINT32_MAX &&
				     (!tip || im->spots[index].tip)))
					continue;
				im->spots[index].take = take->number;
				im->spots[index].at = at + k;
				im->spots[index].tip = tip;
			}
			at += run;
		}
	}
	return st;
}

/* Find in the discussion what the outline has: entries by id. */
static rt_status
match_known(import *im, rt_error *err)
{
	const rt_outline *o = im->outline;
	size_t room = 64, i;
	uint32_t *first;
	rt_status st = RT_OK;

	while (room < o->node_count * 2 + 2)
		room *= 2;
	first = rt_new_array(im->engine->alloc, room, sizeof(*first));
	if (first == NULL)
		return nomem(err);
	memset(first, 0xFF, room * sizeof(*first));
	for (i = 0; st == RT_OK && i < o->node_count; i++) {
		uint32_t entry = 0;
		size_t at;

		if (!id_usable(o->nodes[i].id))
			continue;
		st = rt_resolve_vanished(im->c->now, im->disc, o->nodes[i].id, &entry, err);
		if (st != RT_OK || entry == 0)
			continue;
		im->spots[i].entry = entry;
		im->spots[i].known = true;
		im->spots[i].body = UINT64_MAX; /* whatever it is now, it stays */
		im->spots[i].take = UINT32_MAX;
		im->result->known++;
		at = place_of_entry(im, first, room, entry);
		if (first[at] == UINT32_MAX)
			first[at] = (uint32_t)i;
	}
	if (st == RT_OK)
		st = place_known(im, first, room, err);
	for (i = 0; st == RT_OK && i < o->node_count; i++)
		if (im->spots[i].known)
			im->spots[i] = im->spots[first[place_of_entry(im, first, room,
								      im->spots[i].entry)]];
	rt_free(im->engine->alloc, first);
	for (i = 0; st == RT_OK && i < o->node_count; i++)
		if (!id_usable(o->nodes[i].id))
			st = match_nameless(im, i, err);
	return st;
}

/* New nodes of a discussion that was imported before: each run goes behind its parent. */
static rt_status
lay_news(import *im, rt_error *err)
{
	const rt_outline *o = im->outline;
	const rt_alloc *alloc = im->engine->alloc;
	int64_t *path = rt_new_array(alloc, o->node_count + 1, sizeof(*path));
	unsigned char *has_child = rt_new_array(alloc, o->node_count + 1, 1);
	size_t i, depth;
	rt_status st = path != NULL && has_child != NULL ? number_entries(im, err) : nomem(err);

	if (st == RT_OK) {
		memset(has_child, 0, o->node_count + 1);
		for (i = 0; i < o->node_count; i++)
			if (o->nodes[i].parent >= 0 && !im->spots[i].known)
				has_child[o->nodes[i].parent] = 1;
	}
	for (i = 0; st == RT_OK && i < o->node_count; i++) {
		const rt_disc *disc;
		uint32_t take = 0;
		size_t shared = 0;
		int64_t at;

		if (im->spots[i].known || has_child[i])
			continue;
		depth = 0;
		for (at = (int64_t)i; at >= 0 && im->spots[at].take == 0;
		     at = o->nodes[at].parent)
			path[o->node_count - 1 - depth++] = at;
		/* a parent that was deleted since: behind its nearest ancestor that stands */
		while (at >= 0 && im->spots[at].take == UINT32_MAX)
			at = o->nodes[at].parent;
		st = rt_project_disc(im->c->now, im->disc, &disc, err);
		if (st != RT_OK)
			break;
		if (at >= 0) {
			take = im->spots[at].take;
			shared = im->spots[at].at + 1;
			if (shared < rt_seq_count(rt_disc_take(disc, take)->slots))
				st = new_take(im, take, shared, rt_str_at(NULL, 0),
					      rt_str_at(NULL, 0), &take, err);
		} else {
			st = new_take(im, 0, 0, rt_str_at(NULL, 0), rt_str_at(NULL, 0), &take, err);
		}
		if (st == RT_OK)
			st = lay_run(im, take, shared, path + (o->node_count - depth), 0, depth, err);
	}
	rt_free(alloc, path);
	rt_free(alloc, has_child);
	return st;
}

static rt_status
set_labels_and_views(import *im, rt_error *err)
{
	const rt_outline *o = im->outline;
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < o->node_count; i++) {
		const rt_node *n = &o->nodes[i];
		unsigned view = (n->collapsed ? RT_VIEW_COLLAPSED : 0u) |
				(n->read_mode ? RT_VIEW_READ_MODE : 0u);

		if (im->spots[i].entry == 0)
			continue;
		if (n->label.size > 0)
			st = rt_change_set_text(im->c, im->disc, 0, "label", im->spots[i].entry,
						n->label, err);
		if (st == RT_OK && view != 0)
			st = rt_change_view(im->c, im->spots[i].entry, view, err);
	}
	return st;
}

/* A discussion for the outline: a new one, or the untouched first one of a new project. */
static rt_status
make_disc(import *im, rt_str name, rt_str take_name, uint32_t number, bool reuse, rt_error *err)
{
	rt_effect e;
	rt_str free_name;
	rt_status st = RT_OK;

	if (reuse) {
		if (name.size == 0)
			name = RT_STR("imported");
		if (take_name.size == 0)
			take_name = name;
		im->disc = 1;
		st = rt_change_set_text(im->c, 0, 1, "name", 0, name, err);
		if (st == RT_OK)
			st = rt_change_set_text(im->c, 1, 1, "name", 0, take_name, err);
		return st;
	}
	/* numbers that the source had left out stay unused, so that ids keep their meaning */
	while (st == RT_OK && rt_project_disc_count(im->c->now) + 1 < number) {
		memset(&e, 0, sizeof(e));
		e.kind = RT_EFFECT_NEW;
		e.sub = (uint32_t)rt_project_disc_count(im->c->now) + 1;
		e.name = RT_STR("");
		e.take_name = RT_STR("");
		st = rt_change_emit(im->c, &e, err);
		if (st == RT_OK)
			st = rt_change_set(im->c, 0, e.sub, "present", 0, rt_str_at(NULL, 0), err);
	}
	if (st == RT_OK)
		st = free_disc_name(im, name, &free_name, err);
	if (st != RT_OK)
		return st;
	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_NEW;
	e.sub = (uint32_t)rt_project_disc_count(im->c->now) + 1;
	e.name = free_name;
	e.take_name = rt_change_keep(im->c, take_name.size > 0 ? take_name : free_name);
	im->disc = e.sub;
	return rt_change_emit(im->c, &e, err);
}

/* "d7" in a field "id": 7; 0: none. */
static uint32_t
wanted_number(const rt_outline *o)
{
	size_t i, k;

	for (i = 0; i < o->field_count; i++) {
		rt_str v = o->fields[i].json;
		uint64_t number = 0;

		if (!rt_str_is(o->fields[i].name, "id") || v.size < 4 || v.ptr[1] != 'd')
			continue;
		for (k = 2; k + 1 < v.size && v.ptr[k] >= '0' && v.ptr[k] <= '9'; k++)
			number = number < UINT32_MAX ? number * 10 + (uint64_t)(v.ptr[k] - '0') : number;
		return k + 1 == v.size && number <= GAP_MAX ? (uint32_t)number : 0;
	}
	return 0;
}

static rt_status
import_one(import *im, rt_str fallback_name, bool pristine, uint32_t number, rt_error *err)
{
	rt_outline *o = (rt_outline *)(uintptr_t)im->outline;
	rt_str name = o->called.size > 0 ? o->called : o->name.size > 0 ? o->name : fallback_name;
	bool named = o->called.size > 0 || o->name.size > 0;
	rt_buf source, source_json;
	uint32_t known = 0, active = 1;
	size_t head = 0;
	rt_status st = number_nodes(im, err);

	rt_buf_init(&source, im->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&source_json, im->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK && o->takes == NULL)
		st = rt_outline_mend(im->engine->alloc, o, NULL, NULL);
	if (o->source.size > 0)
		rt_buf_add_str(&source, o->source);
	else if (st == RT_OK)
		rt_known_mark(o, &source);
	if (st == RT_OK && source.status != RT_OK)
		st = nomem(err);
	rt_json_add_string(&source_json, rt_buf_str(&source));
	if (st == RT_OK && source_json.status != RT_OK)
		st = nomem(err);
	if (st == RT_OK)
		st = rt_known_find(&im->all->known, im->c->now, rt_buf_str(&source_json), &known,
				   err);
	if (st != RT_OK)
		goto done;
	if (known != 0) {
		im->disc = known;
		if (o->source.size == 0) { /* the very same content */
			im->result->known += o->node_count;
			goto done;
		}
		st = match_known(im, err);
		if (st == RT_OK && o->takes == NULL)
			st = lay_news(im, err);
		goto done;
	}
	head = o->node_count > 0 ? o->node_count - 1 : 0;
	if (o->has_head && o->head >= 0 && o->head < (int64_t)o->node_count)
		head = (size_t)o->head;
	st = make_disc(im, name,
		       o->takes != NULL && o->take_count > 0 ? o->takes[0].name : name,
		       pristine ? number : 0, pristine && number <= 1 && im->c->effect_count == 0,
		       err);
	if (st == RT_OK)
		st = number_entries(im, err);
	if (st == RT_OK && o->takes != NULL)
		st = lay_takes(im, 1, &active, err);
	else if (st == RT_OK)
		st = lay_leaves(im, 1, head, err);
	im->result->discussions++;
	im->result->takes++;
	if (st == RT_OK)
		st = set_labels_and_views(im, err);
	if (st == RT_OK)
		st = set_fields(im, im->disc, o->fields, o->field_count, err);
	if (st == RT_OK && !named) /* a format may want to know that nobody chose it */
		st = rt_change_set_text(im->c, im->disc, 0, "name_made", 0,
					rt_text_str(rt_project_cell(im->c->now, im->disc)->name),
					err);
	if (st == RT_OK) {
		const rt_disc *disc;

		/* a field of the file may say where it came from, once upon a time */
		st = rt_project_disc(im->c->now, im->disc, &disc, err);
		if (st == RT_OK)
			st = rt_change_set(im->c, im->disc, 0,
					   o->source.size == 0 &&
						   rt_fields_get(disc->fields, RT_STR("source"))
								   .ptr != NULL
						   ? "source_content"
						   : "source",
					   0, rt_buf_str(&source_json), err);
	}
	if (st == RT_OK && o->takes != NULL && active != 1)
		st = rt_change_set_number(im->c, im->disc, 0, "active", active, err);
	/* the head: at the tip, before the first entry, or where it was */
	if (st == RT_OK && o->node_count > 0 && o->has_head) {
		const rt_disc *disc;
		size_t at;
		bool found = false;

		st = rt_project_disc(im->c->now, im->disc, &disc, err);
		if (st == RT_OK && o->head < 0) {
			if (rt_seq_count(rt_disc_active(disc)->slots) > 0)
				st = rt_change_set_number(im->c, im->disc, 0, "head", RT_HEAD_START,
							  err);
		} else if (st == RT_OK) {
			st = rt_take_find(im->c->now, rt_disc_active(disc), im->spots[head].entry,
					  &at, NULL, &found, err);
			if (st == RT_OK && found &&
			    at + 1 < rt_seq_count(rt_disc_active(disc)->slots))
				st = rt_change_set_number(im->c, im->disc, 0, "head",
							  im->spots[head].entry, err);
		}
	}
	if (st == RT_OK)
		st = rt_change_set_number(im->c, 0, 0, "active", im->disc, err);
done:
	if (st == RT_OK)
		st = flush(im, err);
	rt_buf_deinit(&source);
	rt_buf_deinit(&source_json);
	return st;
}

/* ---- all ---- */

static void
set_name(rt_import_result *out, const rt_project *project, uint32_t disc)
{
	const rt_cell *cell = rt_project_cell(project, disc);
	rt_str name = cell != NULL ? rt_text_str(cell->name) : rt_str_at("", 0);
	size_t size = rt_utf8_cut(name, sizeof(out->discussion) - 1);

	if (size > 0)
		memcpy(out->discussion, name.ptr, size);
	out->discussion[size] = '\0';
}

rt_status
rt_engine_import(rt_engine *engine, const rt_outlines *outlines, rt_str name, bool dry_run,
		 rt_import_result *out, rt_error *err)
{
	return rt_engine_import_by(engine, outlines, name, rt_str_at(NULL, 0), dry_run, out, err);
}

rt_status
rt_engine_import_by(rt_engine *engine, const rt_outlines *outlines, rt_str name, rt_str by,
		    bool dry_run, rt_import_result *out, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	const rt_project *project = NULL;
	rt_import_result result;
	import_all all = {.dry_run = dry_run};
	size_t i;
	bool pristine, keep_numbers = true;
	uint32_t first_disc = 0, last_number = 0;
	rt_status st;

	memset(&result, 0, sizeof(result));
	if (engine->read_only && !dry_run)
		return rt_fail(err, RT_READ_ONLY, "%s is open for reading only",
			       ops->place(engine->store));
	rt_engine_lead(engine);
	if (dry_run) {
		project = rt_engine_value(engine);
		st = RT_OK;
	} else {
		st = ops->begin(engine->store, err);
		if (st == RT_OK) {
			st = rt_engine_newest(engine, &project, err);
			if (st != RT_OK)
				ops->cancel(engine->store);
		}
	}
	if (st != RT_OK) {
		rt_engine_follow(engine);
		return st;
	}
	pristine = project->seq == 0;
	rt_names_init(&all.discs, engine->alloc);
	st = rt_known_init(&all.known, engine->alloc, project, err);
	for (i = 0; i < outlines->count; i++) {
		uint32_t number = wanted_number(&outlines->items[i]);

		keep_numbers = keep_numbers && number > last_number;
		last_number = number;
	}
	for (i = 0; st == RT_OK && i < outlines->count; i++) {
		rt_arena *arena = rt_arena_new(engine->alloc);
		const rt_project *next = NULL;
		rt_change c;
		import im;

		if (arena == NULL) {
			st = nomem(err);
			break;
		}
		memset(&im, 0, sizeof(im));
		rt_change_init(&c, engine, arena, project);
		c.by = by.size > 0 ? by : c.by;
		im.engine = engine;
		im.c = &c;
		im.outline = &outlines->items[i];
		im.result = &result;
		im.all = &all;
		rt_names_init(&im.takes, engine->alloc);
		rt_buf_init(&im.bytes, engine->alloc, RT_BUF_UNLIMITED);
		im.waiting = rt_new_array(engine->alloc, CHUNK_BODIES, sizeof(*im.waiting));
		if (im.waiting == NULL)
			st = nomem(err);
		if (st == RT_OK)
			st = import_one(&im, name, pristine && (i == 0 || keep_numbers),
					keep_numbers ? wanted_number(im.outline) : (i == 0 ? 1 : 0),
					err);
		if (st == RT_OK && outlines->has_active && i == outlines->active)
			first_disc = im.disc;
		if (st == RT_OK && i + 1 == outlines->count) {
			/* with the last one: what belongs to the project */
			if (pristine)
				st = set_fields(&im, 0, outlines->fields, outlines->field_count, err);
			if (st == RT_OK && first_disc != 0 && outlines->count > 1)
				st = rt_change_set_number(&c, 0, 0, "active", first_disc, err);
		}
		if (st == RT_OK && (c.effect_count > 0 || c.view_count > 0)) {
			if (dry_run) {
				next = rt_object_ref(c.now);
			} else {
				st = rt_engine_write_change(engine, &c, RT_STR("import"), im.disc,
							    arena, &next, err);
			}
			if (st == RT_OK) {
				rt_object_unref(project);
				project = next;
			}
		}
		if (st == RT_OK)
			set_name(&result, project, im.disc);
		rt_free(engine->alloc, im.table);
		rt_free(engine->alloc, im.spots);
		rt_free(engine->alloc, im.waiting);
		rt_names_deinit(&im.takes);
		rt_buf_deinit(&im.bytes);
		rt_change_deinit(&c);
		rt_arena_free(arena);
	}
	rt_known_deinit(&all.known);
	rt_names_deinit(&all.discs);
	if (dry_run) {
		rt_object_unref(project);
	} else if (st == RT_OK) {
		st = ops->commit(engine->store, err);
		if (st == RT_OK) {
			result.seq = project->seq;
			rt_engine_publish(engine, project);
			rt_engine_maybe_checkpoint(engine, result.entries > 4096 ? 1 : engine->checkpoint_every);
		} else {
			rt_object_unref(project);
		}
	} else {
		ops->cancel(engine->store);
		rt_object_unref(project);
	}
	rt_engine_follow(engine);
	if (st == RT_OK)
		*out = result;
	return st;
}

/* ---- batch by batch ---- */

struct rt_import {
	rt_engine *engine;
	rt_text *name, *by;
	bool dry_run;
	rt_import_result result;
};

static void
import_free(rt_import *import)
{
	if (import == NULL)
		return;
	rt_text_unref(import->name);
	rt_text_unref(import->by);
	rt_free(import->engine->alloc, import);
}

rt_status
rt_import_begin(rt_engine *engine, const rt_import_options *options, rt_import **out, rt_error *err)
{
	rt_import *import;

	if (engine->read_only && !options->dry_run)
		return rt_fail(err, RT_READ_ONLY, "%s is open for reading only",
			       engine->store->ops->place(engine->store));
	import = rt_new0(engine->alloc, sizeof(*import));
	if (import == NULL)
		return nomem(err);
	import->engine = engine;
	import->dry_run = options->dry_run;
	import->name = (rt_text *)(uintptr_t)rt_text_new(engine->alloc, options->name);
	import->by = (rt_text *)(uintptr_t)rt_text_new(engine->alloc, options->by);
	if (import->name == NULL || import->by == NULL) {
		import_free(import);
		return nomem(err);
	}
	*out = import;
	return RT_OK;
}

rt_status
rt_import_add(rt_import *import, const rt_outlines *batch, rt_error *err)
{
	rt_import_result *sum = &import->result, one;
	rt_status st = rt_engine_import_by(import->engine, batch, rt_text_str(import->name),
					   rt_text_str(import->by), import->dry_run, &one, err);

	if (st != RT_OK)
		return st;
	one.discussions += sum->discussions;
	one.entries += sum->entries;
	one.takes += sum->takes;
	one.known += sum->known;
	*sum = one;
	return RT_OK;
}

rt_status
rt_import_end(rt_import *import, rt_import_result *out, rt_error *err)
{
	(void)err;
	*out = import->result;
	import_free(import);
	return RT_OK;
}

void
rt_import_cancel(rt_import *import)
{
	import_free(import);
}
