/* SPDX-License-Identifier: MIT
 *
 * One outline as effects: a discussion with its takes.
 *
 * Takes are laid one after the other. A take that begins like one that is laid already is
 * branched from it, so takes share their beginnings as branches do. */
#include "ops/import_impl.h"

#include "base/hash.h"

enum { GAP_MAX = 10000, SLOT_SIZE = 64 /* of a row, about */, DISC_SIZE = 256, RUN_MAX = 1024 };

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static size_t
table_at(const rt_layer *l, rt_str id)
{
	size_t at = (size_t)rt_hash(id.ptr, id.size, 7) & (l->table_room - 1);

	while (l->table[at] != UINT32_MAX &&
	       !rt_str_eq(l->outline->nodes[l->table[at]].id, id))
		at = (at + 1) & (l->table_room - 1);
	return at;
}

bool
rt_layer_id_usable(rt_str id)
{
	return rt_id_is_legal(id);
}

/* An index of the nodes by id: nodes with one id are one entry. */
static rt_status
number_nodes(rt_layer *l, rt_error *err)
{
	const rt_outline *o = l->outline;
	size_t i;

	l->table_room = 64;
	while (l->table_room < o->node_count * 2 + 2)
		l->table_room *= 2;
	l->table = rt_new_array(l->engine->alloc, l->table_room, sizeof(*l->table));
	l->spots = rt_new_array(l->engine->alloc, o->node_count + 1, sizeof(*l->spots));
	if (l->table == NULL || l->spots == NULL)
		return nomem(err);
	memset(l->table, 0xFF, l->table_room * sizeof(*l->table));
	memset(l->spots, 0, (o->node_count + 1) * sizeof(*l->spots));
	for (i = 0; i < o->node_count; i++) {
		size_t at;

		if (!rt_layer_id_usable(o->nodes[i].id))
			continue;
		at = table_at(l, o->nodes[i].id);
		if (l->table[at] == UINT32_MAX)
			l->table[at] = (uint32_t)i;
	}
	return RT_OK;
}

/* The number of a node's entry; a fresh one where it has none. */
static rt_status
entry_of(rt_layer *l, size_t index, rt_error *err)
{
	const rt_node *node = &l->outline->nodes[index];
	rt_spot *s = &l->spots[index];
	char made[RT_ID_TEXT_MAX];
	uint32_t used;

	if (s->entry != 0)
		return RT_OK;
	if (rt_layer_id_usable(node->id)) {
		size_t first = l->table[table_at(l, node->id)];

		if (first != index && l->spots[first].entry != 0) {
			s->entry = l->spots[first].entry;
			return RT_OK;
		}
		s->entry = l->c->next_entry++;
		l->spots[first].entry = s->entry;
		return RT_OK;
	}
	for (;;) { /* a made id that nobody was given */
		size_t size;
		rt_status st;

		s->entry = l->c->next_entry++;
		size = rt_id_of(l->c->now->ledger->salt, s->entry, made);
		st = rt_strs_find(l->c->now->ledger->ids, rt_str_at(made, size), &used, err);
		if (st != RT_OK)
			return st;
		if (used == 0 && l->table[table_at(l, rt_str_at(made, size))] == UINT32_MAX)
			return RT_OK;
	}
}

/* Is a given id the one that the number makes anyway? Then it need not be kept. */
static bool
is_made_id(const rt_layer *l, uint32_t entry, rt_str id)
{
	char made[RT_ID_TEXT_MAX];
	size_t size = rt_id_of(l->c->now->ledger->salt, entry, made);

	return rt_str_eq(rt_str_at(made, size), id);
}

/* ---- laying takes ---- */

static rt_status
slot_of(rt_layer *l, size_t index, rt_effect_slot *out, rt_error *err)
{
	const rt_node *node = &l->outline->nodes[index];
	rt_status st = RT_OK;

	if (l->spots[index].body == 0)
		st = rt_import_body(l->all, node, l->spots[index].entry, &l->spots[index].body,
				    err);
	if (st != RT_OK)
		return st;
	memset(out, 0, sizeof(*out));
	out->slot.entry = l->spots[index].entry;
	out->slot.body = l->spots[index].body;
	out->slot.size = node->body.size > UINT32_MAX ? UINT32_MAX : (uint32_t)node->body.size;
	if (node->body_format != RT_BODY_TEXT)
		out->slot.flags |= RT_SLOT_RICH;
	if (node->muted)
		out->slot.flags |= RT_SLOT_MUTED;
	if (node->edited)
		out->slot.flags |= RT_SLOT_EDITED;
	if (node->has_ts)
		rt_slot_set_moment(&out->slot, node->ts);
	else
		out->slot.flags |= RT_SLOT_NO_TS;
	out->role = node->role;
	out->kind = rt_str_is(node->kind, "message") ? RT_STR("") : node->kind;
	if (rt_layer_id_usable(node->id) && !is_made_id(l, out->slot.entry, node->id))
		out->id = node->id;
	return RT_OK;
}

/* Append nodes from .. count-1 of list to the end of a take, in as many rows as they need. */
rt_status
rt_layer_run(rt_layer *l, uint32_t take, size_t at, const int64_t *list, size_t from, size_t count,
	     rt_error *err)
{
	const rt_import *all = l->all;
	size_t room = l->whole || count - from < RUN_MAX ? count - from : RUN_MAX;
	rt_effect_slot *slots;
	rt_status st = RT_OK;

	if (from == count)
		return RT_OK;
	slots = rt_new_array(l->engine->alloc, room, sizeof(*slots));
	if (slots == NULL)
		return nomem(err);
	while (st == RT_OK && from < count) {
		size_t run = 0;

		while (st == RT_OK && run < room && from + run < count) {
			size_t index = (size_t)list[from + run];
			const rt_node *node = &l->outline->nodes[index];

			st = slot_of(l, index, &slots[run], err);
			if (l->spots[index].take == 0) {
				l->spots[index].take = take;
				l->spots[index].at = at + run;
			}
			l->all->row_size += SLOT_SIZE + node->id.size + node->role.size;
			run++;
			if (!l->whole && (all->row_size >= all->row_max ||
					  all->bodies_size >= RT_IMPORT_BODIES_MAX))
				break;
		}
		if (st == RT_OK) {
			rt_change_splice(l->c, l->disc, take, at, 0, slots, run);
			st = rt_change_status(l->c, err);
		}
		if (st == RT_OK && all->making.known && !all->dry_run)
			st = rt_import_note_grown(l->all, l->disc, run, err);
		at += run;
		from += run;
		l->result->entries += run;
		l->all->making.entries += run;
		if (st == RT_OK)
			st = rt_import_turn(l, err);
	}
	rt_free(l->engine->alloc, slots);
	return st;
}

/* A name for a new take: as wanted where that is free, else a number behind its base. */
static rt_status
free_take_name(rt_layer *l, const rt_disc *disc, rt_str wanted, rt_str *out, rt_error *err)
{
	size_t i;
	rt_buf name;
	rt_status st = RT_OK;

	if (l->takes.count == 0)
		for (i = 1; st == RT_OK && i <= rt_disc_take_count(disc); i++) {
			const rt_take *take = rt_disc_take(disc, (uint32_t)i);

			if (take->present)
				st = rt_names_add(&l->takes, rt_text_str(take->name));
		}
	rt_buf_init(&name, l->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK && (wanted.size == 0 || rt_names_has(&l->takes, wanted))) {
		if (wanted.size == 0)
			wanted = rt_text_str(rt_disc_take(disc, 1)->name);
		st = rt_names_number(&l->takes, rt_take_base(wanted), "_take_", 1, &name);
		wanted = rt_buf_str(&name);
	}
	if (st == RT_OK)
		st = rt_names_add(&l->takes, wanted);
	*out = st == RT_OK ? rt_scope_copy(l->c->scope, wanted) : rt_str_at(NULL, 0);
	rt_buf_deinit(&name);
	return out->ptr == NULL ? nomem(err) : RT_OK;
}

/* A new take that begins like the first `shared` slots of `from`. */
rt_status
rt_layer_new_take(rt_layer *l, uint32_t from, size_t shared, rt_str name, rt_str git_commit,
	 uint32_t *out_number, rt_error *err)
{
	const rt_disc *disc;
	rt_effect e;
	rt_status st = rt_project_disc(l->c->now, l->disc, &disc, err);

	if (st != RT_OK)
		return st;
	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_NEW;
	e.disc = l->disc;
	e.sub = (uint32_t)rt_disc_take_count(disc) + 1;
	e.from_take = shared > 0 ? from : 0;
	e.count = shared;
	e.git_commit = rt_scope_copy(l->c->scope, git_commit);
	st = free_take_name(l, disc, name, &e.name, err);
	if (st == RT_OK) {
		rt_change_emit(l->c, &e);
		st = rt_change_status(l->c, err);
	}
	l->result->takes++;
	l->all->making.takes++;
	*out_number = e.sub;
	return st;
}

/* Entry numbers in the order of the source, so that an export has that order too. */
rt_status
rt_layer_number(rt_layer *l, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < l->outline->node_count; i++)
		st = entry_of(l, i, err);
	return st;
}

rt_status
rt_layer_renumber(rt_layer *l, uint32_t from, rt_error *err)
{
	size_t i;

	for (i = 0; i < l->outline->node_count; i++)
		if (l->spots[i].entry >= from && !l->spots[i].known)
			l->spots[i].entry = 0;
	return rt_layer_number(l, err);
}

/* Takes from parent links: the head's path first, then one for every other leaf; each
 * begins where its path leaves what is laid. */
static rt_status
lay_leaves(rt_layer *l, uint32_t first_take, size_t head, rt_error *err)
{
	const rt_outline *o = l->outline;
	const rt_alloc *alloc = l->engine->alloc;
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
		if (l->spots[leaf].take != 0)
			continue;
		depth = 0;
		for (at = (int64_t)leaf; at >= 0 && l->spots[at].take == 0;
		     at = o->nodes[at].parent) {
			path[o->node_count - 1 - depth] = at;
			depth++;
		}
		if (at >= 0) {
			const rt_disc *disc;
			size_t length;

			take = l->spots[at].take;
			shared = l->spots[at].at + 1;
			st = rt_project_disc(l->c->now, l->disc, &disc, err);
			if (st != RT_OK)
				break;
			length = rt_seq_count(rt_disc_take(disc, take)->slots);
			if (shared < length || i > 0)
				if (shared < length || l->spots[leaf].take != 0 ||
				    rt_disc_take(disc, take)->number != take)
					st = rt_layer_new_take(l, take, shared, rt_str_at(NULL, 0),
						      rt_str_at(NULL, 0), &take, err);
		} else if (i > 0) {
			const rt_disc *disc;

			st = rt_project_disc(l->c->now, l->disc, &disc, err);
			if (st == RT_OK && (rt_seq_count(rt_disc_take(disc, first_take)->slots) > 0))
				st = rt_layer_new_take(l, 0, 0, rt_str_at(NULL, 0), rt_str_at(NULL, 0),
					      &take, err);
		}
		if (st == RT_OK)
			st = rt_layer_run(l, take, shared, path + (o->node_count - depth), 0, depth, err);
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
lay_takes(rt_layer *l, uint32_t first_take, uint32_t *out_active, rt_error *err)
{
	const rt_outline *o = l->outline;
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
			st = rt_layer_new_take(l, first_take + (uint32_t)best, shared, t->name,
				      t->git_commit, &take, err);
		} else if (t->git_commit.size > 0) { /* the take came with the discussion */
			rt_change_set_text(l->c, l->disc, take, "git_commit", 0, t->git_commit);
			st = rt_change_status(l->c, err);
		}
		if (st == RT_OK)
			st = rt_layer_run(l, take, shared, t->nodes, shared, t->node_count, err);
		if (i == o->active_take)
			*out_active = take;
	}
	return st;
}

/* ---- one outline ---- */

rt_status
rt_layer_fields(rt_layer *l, uint32_t disc, const rt_outline_field *fields, size_t count, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < count; i++) {
		rt_str name = rt_scope_copy(l->c->scope, fields[i].name);
		rt_json_doc *doc = NULL;

		if (name.ptr == NULL)
			return nomem(err);
		/* "redacted" is true of the file, not of what becomes of it here */
		if (rt_str_is(name, "id") || rt_str_is(name, "redacted") || name.size == 0)
			continue;
		st = rt_json_read(l->engine->alloc, fields[i].json, &doc, err);
		if (st != RT_OK)
			return st;
		rt_change_set_json(l->c, disc, name, rt_json_root(doc));
		st = rt_change_status(l->c, err);
		rt_json_free(doc);
	}
	return st;
}

/* A name for a discussion: as wanted where that is free, else with a number. */
static rt_status
free_disc_name(rt_layer *l, rt_str wanted, rt_str *out, rt_error *err)
{
	rt_disc_names *names = &l->all->names;
	rt_buf name;
	rt_status st = RT_OK;

	if (wanted.size == 0)
		wanted = RT_STR("imported");
	rt_buf_init(&name, l->engine->alloc, RT_BUF_UNLIMITED);
	if (rt_disc_names_has(names, l->c->now, wanted)) {
		st = rt_disc_names_number(names, l->c->now, wanted, &name);
		wanted = rt_buf_str(&name);
	}
	*out = st == RT_OK ? rt_scope_copy(l->c->scope, wanted) : rt_str_at(NULL, 0);
	rt_buf_deinit(&name);
	return out->ptr == NULL ? nomem(err) : RT_OK;
}

static rt_status
set_labels_and_views(rt_layer *l, rt_error *err)
{
	const rt_outline *o = l->outline;
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < o->node_count; i++) {
		const rt_node *n = &o->nodes[i];
		unsigned view = (n->collapsed ? RT_VIEW_COLLAPSED : 0u) |
				(n->read_mode ? RT_VIEW_READ_MODE : 0u);

		if (l->spots[i].entry == 0)
			continue;
		if (n->label.size > 0) {
			rt_change_set_text(l->c, l->disc, 0, "label", l->spots[i].entry, n->label);
			st = rt_change_status(l->c, err);
		}
		if (st == RT_OK && view != 0) {
			rt_change_view(l->c, l->spots[i].entry, view);
			st = rt_change_status(l->c, err);
		}
		if (n->label.size > 0 || view != 0)
			l->all->row_size += SLOT_SIZE + n->label.size;
		if (st == RT_OK)
			st = rt_import_turn(l, err);
	}
	return st;
}

/* Make one with the next number. */
rt_status
rt_import_new_disc(rt_import *m, rt_str name, rt_str take_name, uint32_t *out_number,
		   rt_error *err)
{
	rt_effect e;
	rt_status st;

	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_NEW;
	e.sub = (uint32_t)rt_project_disc_count(m->c.now) + 1;
	e.name = rt_scope_copy(m->c.scope, name);
	e.take_name = rt_scope_copy(m->c.scope, take_name);
	if (e.name.ptr == NULL || e.take_name.ptr == NULL)
		return nomem(err);
	if (e.sub > RT_IMPORT_DISCS_MAX)
		return rt_fail(err, RT_LIMIT, "a project holds %d discussions at most",
			       (int)RT_IMPORT_DISCS_MAX);
	*out_number = e.sub;
	rt_change_emit(&m->c, &e);
	st = rt_change_status(&m->c, err);
	if (st == RT_OK && rt_disc_names_add(&m->names, m->c.now, e.sub) != RT_OK)
		st = nomem(err);
	return st;
}

/* May the discussion that a new project begins with become that of the outline? */
static rt_status
is_spare(rt_layer *l, uint32_t number, bool *out, rt_error *err)
{
	const rt_import *m = l->all;
	const rt_disc *disc;
	rt_status st;

	*out = false;
	if (m->spare == 0 || !rt_project_cell(l->c->now, m->spare)->present ||
	    (number > 1 && number != m->spare))
		return RT_OK;
	st = rt_project_disc(l->c->now, m->spare, &disc, err);
	*out = st == RT_OK && disc->history.current == 0 &&
	       rt_seq_count(rt_disc_active(disc)->slots) == 0;
	return st;
}

/* It becomes that. If it takes several rows it is hidden until the last; some discussion has to
 * be there meanwhile, which is the next spare one then. */
static rt_status
use_spare(rt_layer *l, rt_str name, rt_str take_name, rt_error *err)
{
	rt_import *m = l->all;
	uint32_t other = m->newest;
	rt_str old, free_name;
	rt_status st;

	l->disc = m->spare;
	m->spare = 0;
	old = rt_scope_copy(l->c->scope, rt_cell_name(rt_project_cell(l->c->now, l->disc)));
	st = old.ptr != NULL ? rt_import_note_made(m, l->disc, err) : nomem(err);
	free_name = old; /* its own is as good as free */
	if (st == RT_OK && !rt_str_eq(name, old))
		st = free_disc_name(l, name, &free_name, err);
	if (st == RT_OK) {
		rt_change_set_text(l->c, 0, l->disc, "name", 0, free_name);
		st = rt_change_status(l->c, err);
	}
	if (st == RT_OK) {
		rt_change_set_text(l->c, l->disc, 1, "name", 0,
				   take_name.size > 0 ? take_name : free_name);
		st = rt_change_status(l->c, err);
	}
	if (st == RT_OK && rt_disc_names_add(&m->names, l->c->now, l->disc) != RT_OK)
		st = nomem(err);
	if (st != RT_OK || l->whole)
		return st;
	if (other == 0) {
		st = rt_import_new_disc(m, old, RT_STR("main"), &other, err);
		m->spare = other;
		if (st == RT_OK)
			st = rt_import_note_made(m, other, err);
	}
	if (st == RT_OK && l->c->now->active == l->disc) {
		rt_change_set_number(l->c, 0, 0, "active", other);
		st = rt_change_status(l->c, err);
	}
	if (st == RT_OK) {
		rt_change_clear(l->c, 0, l->disc, "present");
		st = rt_change_status(l->c, err);
	}
	m->making.hidden = true;
	return st;
}

/* A discussion for the outline: a new one, or the untouched first one of a new project. */
static rt_status
make_disc(rt_layer *l, rt_str name, rt_str take_name, uint32_t number, rt_error *err)
{
	rt_str free_name;
	bool spare;
	rt_status st = is_spare(l, number, &spare, err);

	if (st == RT_OK && spare)
		return use_spare(l, name, take_name, err);
	l->all->making.made = true;
	/* numbers that the source had left out stay unused, so that ids keep their meaning */
	while (st == RT_OK && rt_project_disc_count(l->c->now) + 1 < number) {
		uint32_t unused;

		st = rt_import_new_disc(l->all, RT_STR(""), RT_STR(""), &unused, err);
		if (st == RT_OK) {
			rt_change_clear(l->c, 0, unused, "present");
			st = rt_change_status(l->c, err);
		}
	}
	if (st == RT_OK)
		st = free_disc_name(l, name, &free_name, err);
	if (st != RT_OK)
		return st;
	st = rt_import_new_disc(l->all, free_name, take_name.size > 0 ? take_name : free_name,
				&l->disc, err);
	return st == RT_OK ? rt_import_note_made(l->all, l->disc, err) : st;
}

/* In its last row: the discussion is in the catalogue from now on. Somebody may have taken
 * its name meanwhile. */
static rt_status
unhide(rt_layer *l, rt_error *err)
{
	rt_str name = rt_scope_copy(l->c->scope,
				    rt_cell_name(rt_project_cell(l->c->now, l->disc)));
	rt_str free_name = name;
	rt_status st = name.ptr != NULL ? RT_OK : nomem(err);

	if (st == RT_OK && rt_disc_names_has(&l->all->names, l->c->now, name)) {
		st = free_disc_name(l, name, &free_name, err);
		if (st == RT_OK) {
			rt_change_set_text(l->c, 0, l->disc, "name", 0, free_name);
			st = rt_change_status(l->c, err);
		}
	}
	if (st == RT_OK) {
		rt_change_set(l->c, 0, l->disc, RT_STR("present"), 0, RT_STR("true"));
		st = rt_change_status(l->c, err);
	}
	if (st == RT_OK && rt_disc_names_add(&l->all->names, l->c->now, l->disc) != RT_OK)
		st = nomem(err);
	l->all->making.hidden = false;
	return st;
}

/* "d7" in a field "id": 7; 0: none. */
uint32_t
rt_import_wanted_number(const rt_outline *o)
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

/* What it came from, as JSON text. hash: of its content. */
static rt_status
source_of(rt_layer *l, uint64_t hash, rt_buf *json, rt_error *err)
{
	const rt_outline *o = l->outline;
	rt_buf mark;

	rt_buf_init(&mark, l->engine->alloc, RT_BUF_UNLIMITED);
	if (o->source.size > 0)
		rt_buf_add_str(&mark, o->source);
	else
		rt_known_mark(hash, &mark);
	rt_json_add_string(json, rt_buf_str(&mark));
	if (mark.status != RT_OK || json->status != RT_OK) {
		rt_buf_deinit(&mark);
		return nomem(err);
	}
	rt_buf_deinit(&mark);
	return RT_OK;
}

/* What an outline goes on from: the nodes of a conversation without branches. */
static rt_status
lay_more(rt_layer *l, rt_error *err)
{
	const rt_outline *o = l->outline;
	const rt_spot *last = &l->all->making.last;
	int64_t *list = rt_new_array(l->engine->alloc, o->node_count + 1, sizeof(*list));
	size_t i;
	rt_status st = list != NULL ? RT_OK : nomem(err);

	for (i = 0; st == RT_OK && i < o->node_count; i++)
		list[i] = (int64_t)i;
	if (st == RT_OK)
		st = rt_layer_run(l, last->take != 0 ? last->take : 1,
				  last->take != 0 ? last->at + 1 : 0, list, 0, o->node_count, err);
	rt_free(l->engine->alloc, list);
	return st;
}

static rt_status
head_to_start(rt_layer *l, rt_error *err)
{
	rt_change_set_number(l->c, l->disc, 0, "head", RT_HEAD_START);
	return rt_change_status(l->c, err);
}

/* Where the next entry goes: at the tip, before the first entry, or where it was. */
static rt_status
set_head(rt_layer *l, size_t head, rt_error *err)
{
	const rt_outline *o = l->outline;
	const rt_disc *disc;
	size_t at;
	bool found = false;
	rt_status st;

	if (o->node_count == 0 || !o->has_head)
		return RT_OK;
	st = rt_project_disc(l->c->now, l->disc, &disc, err);
	if (st != RT_OK)
		return st;
	if (o->head < 0)
		return rt_seq_count(rt_disc_active(disc)->slots) == 0
			       ? RT_OK
			       : head_to_start(l, err);
	st = rt_take_find(l->c->now, rt_disc_active(disc), l->spots[head].entry, &at, NULL, &found,
			  err);
	if (st != RT_OK || !found || at + 1 >= rt_seq_count(rt_disc_active(disc)->slots))
		return st;
	rt_change_set_number(l->c, l->disc, 0, "head", l->spots[head].entry);
	return rt_change_status(l->c, err);
}

/* What comes with the last outline of a discussion that was made. */
static rt_status
finish(rt_layer *l, uint32_t active, size_t head, rt_error *err)
{
	const rt_outline *o = l->outline;
	rt_making *m = &l->all->making;
	const rt_disc *disc;
	rt_buf source;
	uint32_t twin = 0;
	rt_status st;

	rt_buf_init(&source, l->engine->alloc, RT_BUF_UNLIMITED);
	st = source_of(l, m->hash, &source, err);
	if (st == RT_OK && m->goes_on && o->source.size == 0) /* its hash is known only now */
		st = rt_known_find(&l->all->known, l->c->now, rt_buf_str(&source), &twin, err);
	if (st == RT_OK && twin != 0) { /* there is the very same one: this stays hidden */
		l->disc = twin;
		l->result->known += m->entries;
		l->result->entries -= m->entries;
		l->result->takes -= m->takes;
		m->entries = m->takes = 0;
		rt_buf_deinit(&source);
		return rt_import_hide(l->all, err);
	}
	if (st == RT_OK && m->hidden)
		st = unhide(l, err);
	if (st == RT_OK && !m->named) { /* a format may want to know that nobody chose it */
		rt_change_set_text(l->c, l->disc, 0, "name_made", 0,
				   rt_cell_name(rt_project_cell(l->c->now, l->disc)));
		st = rt_change_status(l->c, err);
	}
	/* a field of the file may say where it came from, once upon a time */
	if (st == RT_OK)
		st = rt_project_disc(l->c->now, l->disc, &disc, err);
	if (st == RT_OK) {
		bool has_source = rt_fields_get(disc->fields, RT_STR("source")).ptr != NULL;

		rt_change_set(l->c, l->disc, 0,
			      o->source.size == 0 && has_source ? RT_STR("source_content")
								: RT_STR("source"),
			      0, rt_buf_str(&source));
		st = rt_change_status(l->c, err);
	}
	if (st == RT_OK && o->takes != NULL && active != 1) {
		rt_change_set_number(l->c, l->disc, 0, "active", active);
		st = rt_change_status(l->c, err);
	}
	if (st == RT_OK)
		st = set_head(l, head, err);
	if (st == RT_OK) {
		l->result->discussions++;
		l->all->newest = l->disc;
	}
	rt_buf_deinit(&source);
	return st;
}

/* The hash of the whole conversation that this outline begins, where it is known before the
 * last piece. */
static bool
next_hash(rt_layer *l, uint64_t *out)
{
	rt_import *m = l->all;

	*out = m->making.hash;
	if (!l->outline->more)
		return true;
	if (m->hash_count == 0)
		return false;
	*out = *m->hashes++;
	m->hash_count--;
	return true;
}

/* The first outline of a discussion: known, or made. */
static rt_status
begin_disc(rt_layer *l, uint32_t number, uint32_t *out_known, rt_error *err)
{
	const rt_outline *o = l->outline;
	rt_str name = o->called.size > 0 ? o->called
		      : o->name.size > 0 ? o->name
					 : rt_text_str(l->all->name);
	uint64_t hash = 0;
	bool may_find = o->source.size > 0 || next_hash(l, &hash);
	rt_buf source;
	rt_status st;

	rt_buf_init(&source, l->engine->alloc, RT_BUF_UNLIMITED);
	*out_known = 0;
	l->all->making.named = o->called.size > 0 || o->name.size > 0;
	st = source_of(l, hash, &source, err);
	if (st == RT_OK && may_find)
		st = rt_known_find(&l->all->known, l->c->now, rt_buf_str(&source), out_known, err);
	rt_buf_deinit(&source);
	if (st != RT_OK)
		return st;
	if (*out_known != 0) {
		l->disc = *out_known;
		l->all->making.wanted = hash;
	} else {
		st = make_disc(l, name,
			       o->takes != NULL && o->take_count > 0 ? o->takes[0].name : name,
			       number, err);
		if (st == RT_OK) {
			l->result->takes++;
			l->all->making.takes++;
		}
	}
	l->all->making.disc = l->disc;
	return st;
}

static rt_status
lay(rt_layer *l, uint32_t number, rt_error *err)
{
	const rt_outline *o = l->outline;
	rt_making *m = &l->all->making;
	uint32_t active = 1, known = 0;
	size_t head = o->node_count > 0 ? o->node_count - 1 : 0;
	rt_status st;

	m->hash = rt_known_hash(o, m->goes_on ? m->hash : 0);
	if (!m->goes_on) {
		st = begin_disc(l, number, &known, err);
		if (st != RT_OK)
			return st;
	} else {
		l->disc = m->disc;
		known = m->known ? m->disc : 0;
	}
	m->known = known != 0;
	if (m->known) {
		if (o->source.size == 0) { /* the very same content */
			l->result->known += o->node_count;
			if (!o->more && m->wanted != 0 && m->hash != m->wanted)
				return rt_fail(err, RT_CONFLICT,
					       "the file was changed while it was imported; import "
					       "it again");
			return RT_OK;
		}
		return rt_layer_known(l, err);
	}
	if (o->has_head && o->head >= 0 && o->head < (int64_t)o->node_count)
		head = (size_t)o->head;
	st = rt_layer_number(l, err);
	if (st == RT_OK && m->goes_on)
		st = lay_more(l, err);
	else if (st == RT_OK && o->takes != NULL)
		st = lay_takes(l, 1, &active, err);
	else if (st == RT_OK)
		st = lay_leaves(l, 1, head, err);
	if (st == RT_OK)
		st = set_labels_and_views(l, err);
	if (st == RT_OK)
		st = rt_layer_fields(l, l->disc, o->fields, o->field_count, err);
	if (st == RT_OK && !o->more)
		st = finish(l, active, head, err);
	return st;
}

/* About how much an outline adds to a row and its bodies. */
static void
measure(const rt_outline *o, size_t *out_row, size_t *out_bodies)
{
	size_t i, row = DISC_SIZE, bodies = 0;

	for (i = 0; i < o->node_count; i++) {
		const rt_node *n = &o->nodes[i];

		row += SLOT_SIZE + n->id.size + n->role.size + n->label.size;
		bodies += n->body.size;
	}
	for (i = 0; i < o->take_count; i++)
		row += 64 + o->takes[i].name.size;
	for (i = 0; i < o->field_count; i++)
		row += o->fields[i].json.size;
	*out_row = row;
	*out_bodies = bodies;
}

rt_status
rt_import_outline(rt_import *import, const rt_outline *outline, uint32_t number, rt_error *err)
{
	rt_layer l = {.engine = import->engine, .c = &import->c, .all = import,
		      .outline = outline, .result = &import->result};
	rt_making *m = &import->making;
	size_t row, bodies;
	rt_status st;

	measure(outline, &row, &bodies);
	/* Most are small, and are not cut. */
	l.whole = !m->goes_on && !outline->more && row <= RT_IMPORT_ROW_FIRST &&
		  bodies <= RT_IMPORT_BODIES_MAX;
	if (l.whole && import->open && import->row_size > 0 &&
	    (import->row_size + row > import->row_max ||
	     import->bodies_size + bodies > RT_IMPORT_BODIES_MAX)) {
		st = rt_import_next_row(import, err);
		if (st != RT_OK)
			return st;
	}
	st = import->open ? RT_OK : rt_import_row_open(import, err);
	if (st != RT_OK)
		return st;
	rt_names_init(&l.takes, l.engine->alloc);
	import->row_size += DISC_SIZE;
	st = number_nodes(&l, err);
	if (st == RT_OK && outline->takes == NULL)
		st = rt_outline_repair(l.engine->alloc, (rt_outline *)(uintptr_t)outline, NULL,
				       NULL);
	if (st == RT_OK)
		st = lay(&l, number, err);
	if (st == RT_OK) {
		import->last = l.disc;
		if (!outline->more)
			rt_import_name(import, l.disc);
		if (outline->node_count > 0)
			m->last = l.spots[outline->node_count - 1];
		m->goes_on = outline->more;
		if (!outline->more) {
			import->done++;
			memset(m, 0, sizeof(*m));
		}
	}
	rt_free(l.engine->alloc, l.table);
	rt_free(l.engine->alloc, l.spots);
	rt_names_deinit(&l.takes);
	return st;
}
