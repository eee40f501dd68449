/* SPDX-License-Identifier: MIT
 *
 * Nodes of an outline as slots of takes. A take that begins like another one is branched from it,
 * so takes share their beginnings as branches do. */
#include "ops/import_impl.h"

#include "base/hash.h"
#include "codec/content.h"

enum { RUN_MAX = 1024 }; /* slots in one effect */

/* ---- the layer ---- */

void *
rt_layer_array(rt_layer *l, size_t count, size_t size)
{
	void *array = rt_ok(l->s) ? rt_scope_array(&l->memory, count, size) : NULL;

	rt_scope_adopt(l->s, &l->memory);
	return array;
}

const rt_disc *
rt_layer_disc(rt_layer *l)
{
	const rt_disc *disc = NULL;

	RT_TRY(l->s, rt_project_disc(l->c->now, l->disc, &disc, &l->s->error));
	return rt_ok(l->s) ? disc : NULL;
}

static uint64_t
hash_of(rt_str id)
{
	return rt_hash(id.ptr, id.size, 7);
}

/* The first node with this id; UINT32_MAX: none. */
static uint32_t
find_id(const rt_layer *l, rt_str id)
{
	uint32_t node;

	for (size_t probe = 0; rt_hash_table_next(&l->ids, hash_of(id), &probe, &node);)
		if (rt_str_eq(l->outline->nodes[node].id, id))
			return node;
	return UINT32_MAX;
}

void
rt_layer_init(rt_layer *l, rt_import *m, const rt_outline *o)
{
	*l = (rt_layer){.import = m, .s = &m->s, .c = &m->c, .outline = o};
	rt_scope_init(&l->memory, m->engine->alloc);
	rt_names_init(&l->takes, m->engine->alloc);
	l->spots = rt_layer_array(l, o->node_count + 1, sizeof(*l->spots));
	l->bytes = rt_scope_buf(&l->memory);
	rt_scope_adopt(l->s, &l->memory);
	for (size_t i = 0; rt_ok(l->s) && i < o->node_count; i++) {
		rt_str id = o->nodes[i].id;

		if (rt_id_is_legal(id) && find_id(l, id) == UINT32_MAX)
			RT_TRY(l->s, rt_hash_table_add(&l->ids, m->engine->alloc, hash_of(id), i));
	}
}

void
rt_layer_deinit(rt_layer *l)
{
	rt_names_deinit(&l->takes);
	rt_hash_table_deinit(&l->ids, l->import->engine->alloc);
	rt_scope_deinit(&l->memory);
}

/* ---- numbers of entries ---- */

/* The next entry whose generated id was not given to another entry. */
static uint32_t
new_entry(rt_layer *l)
{
	const rt_ledger *ledger = l->c->now->ledger;

	for (;;) {
		uint32_t entry = l->c->next_entry++, used = 0;
		char made[RT_ID_TEXT_MAX];
		rt_str id = rt_str_at(made, rt_id_of(ledger->salt, entry, made));

		RT_TRY(l->s, rt_strs_find(ledger->ids, id, &used, &l->s->error));
		if (!rt_ok(l->s) || (used == 0 && find_id(l, id) == UINT32_MAX))
			return entry;
	}
}

/* Nodes with the same id are one entry. */
static void
number_node(rt_layer *l, size_t index)
{
	rt_str id = l->outline->nodes[index].id;
	rt_spot *first = rt_id_is_legal(id) ? &l->spots[find_id(l, id)] : NULL;

	if (l->spots[index].entry != 0)
		return;
	if (first != NULL && first->entry == 0)
		first->entry = l->c->next_entry++;
	l->spots[index].entry = first != NULL ? first->entry : new_entry(l);
}

void
rt_layer_number(rt_layer *l)
{
	for (size_t i = 0; rt_ok(l->s) && i < l->outline->node_count; i++)
		number_node(l, i);
}

void
rt_layer_turn(rt_layer *l)
{
	rt_import *m = l->import;

	if (l->whole || !rt_import_row_is_full(m))
		return;
	rt_import_next_row(m);
	if (!rt_ok(l->s) || m->project->next_entry == m->last_entry)
		return;
	/* Other writers created entries: numbers that are not in a row yet are assigned again. */
	for (size_t i = 0; i < l->outline->node_count; i++)
		if (l->spots[i].entry >= m->last_entry && !l->spots[i].known)
			l->spots[i].entry = 0;
	rt_layer_number(l);
}

/* ---- slots ---- */

/* Is a given id the one that is generated for the entry anyway? Then it need not be stored. */
static bool
is_generated_id(const rt_layer *l, uint32_t entry, rt_str id)
{
	char made[RT_ID_TEXT_MAX];
	size_t size = rt_id_of(l->c->now->ledger->salt, entry, made);

	return rt_str_eq(rt_str_at(made, size), id);
}

static rt_effect_slot
slot_of(rt_layer *l, size_t index)
{
	const rt_node *node = &l->outline->nodes[index];
	rt_spot *spot = &l->spots[index];

	if (spot->body == 0)
		spot->body = rt_import_body(l->import, node, spot->entry);
	rt_effect_slot out = {
		.slot = {.entry = spot->entry,
			 .body = spot->body,
			 .size = node->body.size > UINT32_MAX ? UINT32_MAX
							      : (uint32_t)node->body.size,
			 .flags = (node->body_format != RT_BODY_TEXT ? RT_SLOT_RICH : 0u) |
				  (node->muted ? RT_SLOT_MUTED : 0u) |
				  (node->edited ? RT_SLOT_EDITED : 0u) |
				  (node->has_ts ? 0u : RT_SLOT_NO_TS)},
		.role = node->role,
		.kind = rt_str_is(node->kind, "message") ? RT_STR("") : node->kind};
	if (node->has_ts)
		rt_slot_set_moment(&out.slot, node->ts);
	if (rt_id_is_legal(node->id) && !is_generated_id(l, spot->entry, node->id))
		out.id = node->id;
	return out;
}

/* Only a few kinds and roles can be hidden, so few texts are read. */
static bool
is_hidden(rt_layer *l, const rt_node *node)
{
	const rt_alloc *alloc = l->import->engine->alloc;
	bool is_message = rt_str_is(node->kind, "custom_message") || rt_str_is(node->role, "custom");
	bool hidden = rt_content_is_hidden(node->kind, NULL, NULL);
	rt_body body = {0};
	rt_status st;
	rt_buf data;

	if (hidden || !is_message || node->body_format == RT_BODY_TEXT)
		return hidden;
	rt_buf_init(&data, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&data, node->body_format);
	rt_buf_add_str(&data, node->body);
	st = data.status == RT_OK ? rt_body_read(alloc, rt_buf_str(&data), &body, NULL) : data.status;
	hidden = st == RT_OK && rt_body_is_hidden(node->kind, &body);
	if (st != RT_CORRUPT) /* it is shown as damaged */
		rt_scope_note(l->s, st);
	rt_body_deinit(&body);
	rt_buf_deinit(&data);
	return hidden;
}

/* Fills l->run from nodes, as many as fit in the row. Returns their number. */
static size_t
fill_run(rt_layer *l, uint32_t take, size_t at, const int64_t *nodes, size_t count, size_t *out_hidden)
{
	size_t run = 0;

	while (rt_ok(l->s) && run < count && (l->whole || run < RUN_MAX)) {
		size_t index = (size_t)nodes[run];
		const rt_node *node = &l->outline->nodes[index];

		l->run[run] = slot_of(l, index);
		*out_hidden += is_hidden(l, node);
		if (l->spots[index].take == 0) {
			l->spots[index].take = take;
			l->spots[index].at = at + run;
		}
		l->import->row_size += RT_IMPORT_SLOT + node->id.size + node->role.size;
		run++;
		if (!l->whole && rt_import_row_is_full(l->import))
			break;
	}
	return run;
}

void
rt_layer_append(rt_layer *l, uint32_t take, size_t at, const int64_t *nodes, size_t count)
{
	rt_import *m = l->import;
	size_t capacity = l->whole || count < RUN_MAX ? count : RUN_MAX;

	if (capacity > l->run_capacity) {
		l->run = rt_layer_array(l, capacity, sizeof(*l->run));
		l->run_capacity = capacity;
	}
	while (rt_ok(l->s) && count > 0) {
		size_t hidden = 0, run = fill_run(l, take, at, nodes, count, &hidden);

		rt_change_splice(l->c, l->disc, take, at, 0, l->run, run);
		if (rt_ok(l->s) && m->making.known && !m->dry_run)
			rt_import_note_grown(m, l->disc, run);
		at += run;
		nodes += run;
		count -= run;
		m->result.entries += run;
		m->making.entries += run;
		m->result.hidden += hidden;
		m->making.hidden_entries += hidden;
		rt_layer_turn(l);
	}
}

/* ---- takes ---- */

/* A name for a new take: the requested one if it is free, else with a number. */
static rt_str
free_take_name(rt_layer *l, const rt_disc *disc, rt_str wanted)
{
	rt_scope *s = l->s;

	if (l->takes.count == 0)
		for (uint32_t i = 1; i <= rt_disc_take_count(disc); i++)
			if (rt_disc_take(disc, i)->present)
				RT_TRY(s, rt_names_add(&l->takes,
						       rt_text_str(rt_disc_take(disc, i)->name)));
	if (wanted.size == 0 || rt_names_has(&l->takes, wanted)) {
		rt_buf *name = rt_scope_buf(s);

		if (wanted.size == 0)
			wanted = rt_text_str(rt_disc_take(disc, 1)->name);
		RT_TRY(s, rt_names_number(&l->takes, rt_take_base(wanted), "_take_", 1, name));
		wanted = rt_scope_str(s, name);
	}
	RT_TRY(s, rt_names_add(&l->takes, wanted));
	return rt_scope_copy(s, wanted);
}

uint32_t
rt_layer_new_take(rt_layer *l, uint32_t from, size_t shared, rt_str name, rt_str git_commit)
{
	const rt_disc *disc = rt_layer_disc(l);
	uint32_t number;

	if (disc == NULL)
		return 0;
	number = (uint32_t)rt_disc_take_count(disc) + 1;
	rt_change_emit(l->c, &(rt_effect){.kind = RT_EFFECT_NEW,
					  .disc = l->disc,
					  .sub = number,
					  .from_take = shared > 0 ? from : 0,
					  .count = shared,
					  .git_commit = rt_scope_copy(l->s, git_commit),
					  .name = free_take_name(l, disc, name)});
	l->import->result.takes++;
	l->import->making.takes++;
	return number;
}

uint32_t
rt_layer_branch(rt_layer *l, uint32_t take, size_t shared)
{
	const rt_disc *disc = rt_layer_disc(l);

	if (disc == NULL || shared >= rt_seq_count(rt_disc_take(disc, take)->slots))
		return take;
	return rt_layer_new_take(l, take, shared, rt_str_at(NULL, 0), rt_str_at(NULL, 0));
}

const int64_t *
rt_layer_path(const rt_layer *l, size_t leaf, int64_t *path, size_t *out_count, int64_t *out_above)
{
	const rt_outline *o = l->outline;
	int64_t *first = path + o->node_count, at = (int64_t)leaf;

	for (; at >= 0 && l->spots[at].take == 0; at = o->nodes[at].parent)
		*--first = at;
	*out_count = (size_t)(path + o->node_count - first);
	*out_above = at;
	return first;
}
