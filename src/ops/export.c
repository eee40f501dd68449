/* SPDX-License-Identifier: MIT
 *
 * A value as outlines, for the formats to write: every entry of every wanted take as one
 * node (one for each revision where takes differ), in the order in which entries were
 * made, and the takes as lists of nodes. */
#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "core/role.h"
#include "log/blob.h"
#include "log/engine_impl.h"
#include "ops/export.h"
#include "ops/ops.h"

/* A node under construction, found by its entry and revision. */
typedef struct found {
	rt_slot slot;
	size_t rank; /* its place in the order of entries */
} found;

typedef struct gather {
	rt_engine *engine;
	const rt_project *project;
	const rt_disc *disc;
	rt_arena *arena;
	found *items;
	size_t count, room;
	uint32_t *table;
	size_t table_room;
} gather;

static bool
same(const rt_slot *a, const rt_slot *b)
{
	return a->entry == b->entry && a->body == b->body && a->role == b->role &&
	       a->kind == b->kind && a->flags == b->flags && a->ts_us == b->ts_us;
}

static uint64_t
hash_of(const rt_slot *slot)
{
	return rt_hash_u64(rt_hash_u64((uint64_t)slot->entry << 32 | slot->role) ^ slot->body ^
			   (uint64_t)slot->flags << 40);
}

static bool
grow(gather *g)
{
	const rt_alloc *alloc = g->engine->alloc;

	if (g->count == g->room) {
		size_t room = g->room == 0 ? 256 : g->room * 2;
		found *items = rt_resize(alloc, g->items, room * sizeof(*items));

		if (items == NULL)
			return false;
		g->items = items;
		g->room = room;
	}
	if (g->count * 2 + 2 > g->table_room) {
		size_t room = g->table_room == 0 ? 1024 : g->table_room * 2, i, at;
		uint32_t *table = rt_new_array(alloc, room, sizeof(*table));

		if (table == NULL)
			return false;
		memset(table, 0xFF, room * sizeof(*table));
		for (i = 0; i < g->count; i++) {
			at = (size_t)hash_of(&g->items[i].slot) & (room - 1);
			while (table[at] != UINT32_MAX)
				at = (at + 1) & (room - 1);
			table[at] = (uint32_t)i;
		}
		rt_free(alloc, g->table);
		g->table = table;
		g->table_room = room;
	}
	return true;
}

/* The index of a slot's node, which is created if missing; SIZE_MAX: no memory. */
static size_t
intern(gather *g, const rt_slot *slot)
{
	size_t at;

	if (!grow(g))
		return SIZE_MAX;
	at = (size_t)hash_of(slot) & (g->table_room - 1);
	for (; g->table[at] != UINT32_MAX; at = (at + 1) & (g->table_room - 1))
		if (same(&g->items[g->table[at]].slot, slot))
			return g->table[at];
	g->table[at] = (uint32_t)g->count;
	g->items[g->count].slot = *slot;
	g->items[g->count].rank = g->count;
	return g->count++;
}

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static rt_str
keep(rt_arena *arena, rt_str s)
{
	char *ptr = rt_arena_get(arena, s.size + 1);

	if (ptr == NULL)
		return rt_str_at(NULL, 0);
	if (s.size > 0)
		memcpy(ptr, s.ptr, s.size);
	ptr[s.size] = '\0';
	return rt_str_at(ptr, s.size);
}

/* Attached files are in the exported content itself. */
static rt_status
expand_blobs(gather *g, rt_node *node, rt_error *err)
{
	rt_scope s;

	if (rt_str_find(node->body, RT_STR("\"sha256\":"), 0) == SIZE_MAX)
		return RT_OK;
	rt_scope_init(&s, g->engine->alloc);
	yyjson_val *body = rt_json_parse(&s, node->body), *content = rt_json_get(body, "content");
	rt_buf *out = rt_scope_buf(&s);

	if (rt_ok(&s) && yyjson_is_arr(content)) {
		rt_buf_add_byte(out, '{');
		for (rt_json_iter it = rt_json_members(body); rt_ok(&s) && rt_json_next(&it);) {
			rt_json_add_key_str(out, it.key);
			if (it.value == content)
				rt_blob_expand(&s, g->engine, content, out);
			else
				rt_json_add_value(out, it.value);
		}
		rt_buf_add_byte(out, '}');
		node->body = keep(g->arena, rt_scope_str(&s, out));
		if (rt_ok(&s) && node->body.ptr == NULL)
			rt_scope_nomem(&s);
	}
	return rt_scope_end(&s, err);
}

static rt_status
fill_node(gather *g, const rt_slot *slot, rt_node *node, rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_str role, kind, label;
	rt_buf bytes;
	unsigned view;
	rt_status st = rt_entry_id(g->project, slot->entry, id, err);

	if (st == RT_OK)
		st = rt_project_name(g->project, slot->role, &role, err);
	if (st == RT_OK)
		st = rt_project_name(g->project, slot->kind, &kind, err);
	if (st == RT_OK)
		st = rt_disc_label(g->project, g->disc, slot->entry, &label, err);
	if (st == RT_OK)
		st = rt_project_view(g->project, slot->entry, &view, err);
	if (st != RT_OK)
		return st;
	memset(node, 0, sizeof(*node));
	node->id = keep(g->arena, rt_str_of(id));
	node->entry = slot->entry;
	node->role = role; /* names live as long as the project */
	node->kind = kind;
	node->label = label;
	node->parent = -1;
	node->ts = rt_slot_moment(slot);
	node->has_ts = (slot->flags & RT_SLOT_NO_TS) == 0;
	node->muted = (slot->flags & RT_SLOT_MUTED) != 0;
	node->edited = (slot->flags & RT_SLOT_EDITED) != 0;
	node->collapsed = (view & RT_VIEW_COLLAPSED) != 0;
	node->read_mode = (view & RT_VIEW_READ_MODE) != 0;
	rt_buf_init(&bytes, g->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(g->engine->store,
			  rt_rows_one(RT_STORE_BODIES, g->engine->project, slot->body), &bytes,
			  NULL, err);
	if (st == RT_NOT_FOUND)
		st = rt_engine_no_body(slot->body, err);
	if (st == RT_OK && bytes.status == RT_OK) {
		rt_str data = keep(g->arena, rt_buf_str(&bytes));

		if (data.ptr == NULL || node->id.ptr == NULL) {
			st = nomem(err);
		} else if (data.size == 0) {
			st = rt_fail_advise(err, RT_CORRUPT, "run: retake fsck",
					    "body %llu is empty", (unsigned long long)slot->body);
		} else if (data.ptr[0] == RT_BODY_PURGED) {
			node->body_format = RT_BODY_JSON;
			node->body = RT_STR("{\"content\":\"\",\"purged\":true}");
		} else {
			node->body_format = data.ptr[0];
			node->body = rt_str_at(data.ptr + 1, data.size - 1);
			if (data.ptr[0] == RT_BODY_JSON)
				st = expand_blobs(g, node, err);
		}
	} else if (st == RT_OK) {
		st = nomem(err);
	}
	rt_buf_deinit(&bytes);
	return st;
}

static int
by_entry(const void *a, const void *b)
{
	const found *x = a, *y = b;

	if (x->slot.entry != y->slot.entry)
		return x->slot.entry < y->slot.entry ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* One take as a list of node indices (still by rank). */
static rt_status
list_take(gather *g, const rt_take *take, int64_t **out, rt_error *err)
{
	size_t count = rt_seq_count(take->slots), at, i;
	int64_t *list = rt_arena_get(g->arena, (count + 1) * sizeof(*list));
	rt_status st = list != NULL ? RT_OK : nomem(err);

	for (at = 0; st == RT_OK && at < count;) {
		rt_slot slots[64];
		size_t run = count - at < 64 ? count - at : 64;

		st = rt_seq_copy(take->slots, at, run, slots, err);
		for (i = 0; st == RT_OK && i < run; i++) {
			size_t n;

			slots[i].key = 0;
			n = intern(g, &slots[i]);
			if (n == SIZE_MAX)
				st = nomem(err);
			list[at + i] = (int64_t)n;
		}
		at += run;
	}
	*out = list;
	return st;
}

static rt_status
export_fields(const rt_fields *fields, rt_arena *arena, size_t more, rt_outline_field **out,
	      size_t *out_count, rt_error *err)
{
	size_t count = rt_fields_count(fields), kept = 0, i;
	rt_outline_field *list = rt_arena_get(arena, (count + more + 1) * sizeof(*list));

	if (list == NULL)
		return nomem(err);
	for (i = 0; i < count; i++) {
		rt_str name = rt_fields_name(fields, i), value = rt_fields_value(fields, i);

		/* the hash of the imported data is our own mark, not part of the value; and
		 * "redacted" is added by the code that redacts the export */
		if (rt_str_is(name, "source_content") || rt_str_is(name, "redacted") ||
		    rt_str_is(name, RT_TAKE_FILES) || rt_str_is(name, "track_from") ||
		    (rt_str_is(name, "source") && rt_str_starts(value, RT_STR("\"content:"))))
			continue;
		list[kept++] = (rt_outline_field){name, value};
	}
	*out = list;
	*out_count = kept;
	return RT_OK;
}

/* When a take was last changed by anything but an import; 0: not since. */
static rt_status
changed_at(rt_engine *engine, const rt_project *project, const rt_take *take, int64_t *out_us,
	   rt_error *err)
{
	rt_record record = {0};
	int64_t at_us = 0;
	rt_arena *arena;
	rt_status st;

	if (take->row == 0 || take->row > project->seq)
		return RT_OK;
	arena = rt_arena_new(engine->alloc);
	if (arena == NULL)
		return nomem(err);
	st = rt_engine_record(engine, take->row, arena, &record, &at_us, err);
	if (st == RT_OK && !rt_str_is(record.op, "import"))
		*out_us = at_us;
	rt_arena_free(arena);
	return st;
}

/* The lists of a take that differ from those of the discussion. */
static rt_status
own_files(rt_engine *engine, const rt_project *project, const rt_disc *disc, const rt_take *take,
	  rt_arena *arena, rt_str *out, rt_error *err)
{
	rt_scope s;
	rt_change c;

	if (rt_fields_get(disc->fields, RT_STR(RT_TAKE_FILES)).ptr == NULL)
		return RT_OK;
	rt_scope_init(&s, engine->alloc);
	rt_change_init(&c, &s, engine, project);
	rt_str now = rt_take_files(&c, disc, disc->active);
	rt_str own = rt_take_files(&c, disc, take->number);
	if (rt_ok(&s) && !rt_str_eq(own, now)) {
		*out = keep(arena, own);
		if (out->ptr == NULL)
			rt_scope_nomem(&s);
	}
	rt_change_deinit(&c);
	return rt_scope_end(&s, err);
}

static rt_status
export_disc(rt_engine *engine, const rt_project *project, const rt_disc *disc, uint32_t only_take,
	    rt_arena *arena, rt_outline *out, rt_error *err)
{
	gather g = {engine, project, disc, arena, NULL, 0, 0, NULL, 0};
	size_t takes = rt_disc_take_count(disc), i, k, head_at = 0;
	rt_outline_take *list = rt_arena_get(arena, (takes + 1) * sizeof(*list));
	size_t *place = NULL;
	rt_buf id;
	rt_status st = list != NULL ? RT_OK : nomem(err);

	memset(out, 0, sizeof(*out));
	out->name = rt_cell_name(rt_project_cell(project, disc->number));
	out->takes = list;
	for (i = 1; st == RT_OK && i <= takes; i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);
		int64_t *nodes;

		if (!take->present || (only_take != 0 && take->number != only_take))
			continue;
		if (take->number == disc->active)
			out->active_take = out->take_count;
		st = list_take(&g, take, &nodes, err);
		if (st != RT_OK)
			break;
		list[out->take_count++] =
			(rt_outline_take){.name = rt_text_str(take->name),
					  .git_commit = rt_text_str(take->git_commit),
					  .nodes = nodes,
					  .node_count = rt_seq_count(take->slots)};
		st = changed_at(engine, project, take, &list[out->take_count - 1].updated_us, err);
		if (st == RT_OK && take->number != disc->active)
			st = own_files(engine, project, disc, take, arena,
				       &list[out->take_count - 1].files, err);
	}
	/* into the order of entries */
	place = rt_new_array(engine->alloc, g.count + 1, sizeof(*place));
	if (st == RT_OK && place == NULL)
		st = nomem(err);
	if (st == RT_OK) {
		if (g.count > 0)
			qsort(g.items, g.count, sizeof(*g.items), by_entry);
		for (i = 0; i < g.count; i++)
			place[g.items[i].rank] = i;
		out->node_count = g.count;
		out->nodes = rt_arena_get(arena, (g.count + 1) * sizeof(*out->nodes));
		if (out->nodes == NULL)
			st = nomem(err);
	}
	for (i = 0; st == RT_OK && i < g.count; i++)
		st = fill_node(&g, &g.items[i].slot, &out->nodes[i], err);
	for (i = 0; st == RT_OK && i < out->take_count; i++) {
		int64_t *nodes = (int64_t *)(uintptr_t)list[i].nodes;

		for (k = 0; k < list[i].node_count; k++)
			nodes[k] = (int64_t)place[nodes[k]];
	}
	/* parents: first from the active take, then from the others */
	for (i = 0; st == RT_OK && i <= out->take_count; i++) {
		const rt_outline_take *t;

		if (out->take_count == 0)
			break;
		t = i == 0 ? &list[out->active_take] : &list[i - 1];
		for (k = 1; k < t->node_count; k++)
			if (out->nodes[t->nodes[k]].parent < 0 &&
			    t->nodes[0] != t->nodes[k])
				out->nodes[t->nodes[k]].parent = t->nodes[k - 1];
	}
	if (st == RT_OK && only_take != 0 && only_take != disc->active)
		head_at = out->take_count > 0 ? list[0].node_count : 0;
	else if (st == RT_OK)
		st = rt_disc_head_at(project, disc, &head_at, err);
	out->has_head = true;
	out->head = -1;
	if (st == RT_OK && head_at > 0 && out->take_count > 0)
		out->head = list[out->active_take].nodes[head_at - 1];
	if (st == RT_OK)
		st = export_fields(disc->fields, arena, 1, &out->fields, &out->field_count, err);
	if (st == RT_OK) {
		rt_buf_init(&id, engine->alloc, 64);
		rt_buf_add_byte(&id, '"');
		rt_buf_add_number_id(&id, 'd', disc->number);
		rt_buf_add_byte(&id, '"');
		out->fields[out->field_count].name = RT_STR("id");
		out->fields[out->field_count].json = keep(arena, rt_buf_str(&id));
		if (id.status != RT_OK || out->fields[out->field_count].json.ptr == NULL)
			st = nomem(err);
		out->field_count++;
		rt_buf_deinit(&id);
	}
	rt_free(engine->alloc, place);
	rt_free(engine->alloc, g.items);
	rt_free(engine->alloc, g.table);
	return st;
}

rt_status
rt_engine_export(rt_engine *engine, const rt_project *project, rt_place where, bool whole_project,
		 rt_outlines *out, rt_error *err)
{
	rt_outlines made;
	size_t i, discs = rt_project_disc_count(project);
	rt_status st;

	rt_outlines_init(&made);
	made.arena = rt_arena_new(engine->alloc);
	if (made.arena == NULL)
		return nomem(err);
	made.items = rt_arena_get(made.arena, (discs + 1) * sizeof(*made.items));
	st = made.items != NULL ? RT_OK : nomem(err);
	for (i = 1; st == RT_OK && i <= discs; i++) {
		const rt_cell *cell = rt_project_cell(project, (uint32_t)i);
		const rt_disc *disc;

		if (whole_project ? !cell->present
				  : cell->number != (where.disc != 0 ? where.disc : project->active))
			continue;
		if (cell->number == project->active) {
			made.active = made.count;
			made.has_active = true;
		}
		st = rt_project_disc(project, cell->number, &disc, err);
		if (st == RT_OK)
			st = export_disc(engine, project, disc, whole_project ? 0 : where.take,
					 made.arena, &made.items[made.count++], err);
	}
	if (st == RT_OK && whole_project)
		st = export_fields(project->fields, made.arena, 1, &made.fields, &made.field_count,
				   err);
	if (st == RT_OK && whole_project &&
	    rt_fields_get(project->fields, RT_STR("roles")).ptr == NULL)
		made.fields[made.field_count++] =
			(rt_outline_field){RT_STR("roles"), rt_project_roles(project)};
	if (st != RT_OK) {
		rt_outlines_deinit(&made);
		return st;
	}
	*out = made;
	return RT_OK;
}
