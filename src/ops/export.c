/* SPDX-License-Identifier: MIT
 *
 * A value as outlines, for the formats to write: every entry of every wanted take as one
 * node (one for each revision where takes differ), in the order in which entries were
 * made, and the takes as lists of nodes. */
#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "base/hash_table.h"
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
	rt_scope s;      /* scratch memory, and the first failure */
	rt_arena *arena; /* of the outlines */
	rt_engine *engine;
	const rt_project *project;
	rt_buf *bytes; /* scratch */
	/* of the discussion: */
	const rt_disc *disc;
	rt_row_time time; /* of the row that changed a take last */
	found *items;
	size_t count, room;
	rt_hash_table numbers; /* of the items */
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

/* The index of a slot's node, which is created if missing. */
static size_t
intern(gather *g, const rt_slot *slot)
{
	const rt_alloc *alloc = g->engine->alloc;
	uint64_t hash = hash_of(slot);
	uint32_t number;

	for (size_t probe = 0; rt_hash_table_next(&g->numbers, hash, &probe, &number);)
		if (same(&g->items[number].slot, slot))
			return number;
	if (g->count == g->room) {
		size_t room = g->room == 0 ? 256 : g->room * 2;
		found *items = rt_resize(alloc, g->items, room * sizeof(*items));

		if (items == NULL) {
			rt_scope_nomem(&g->s);
			return 0;
		}
		g->items = items;
		g->room = room;
	}
	if (RT_TRY(&g->s, rt_hash_table_add(&g->numbers, alloc, hash, g->count)) != RT_OK)
		return 0;
	g->items[g->count] = (found){*slot, g->count};
	return g->count++;
}

/* Memory of the outlines. NULL: the scope has failed. */
static void *
get(gather *g, size_t size)
{
	void *ptr = rt_ok(&g->s) ? rt_arena_get(g->arena, size) : NULL;

	if (ptr == NULL)
		rt_scope_nomem(&g->s);
	return ptr;
}

static rt_str
keep(gather *g, rt_str s)
{
	char *ptr = get(g, s.size + 1);

	if (ptr == NULL)
		return rt_str_at(NULL, 0);
	if (s.size > 0)
		memcpy(ptr, s.ptr, s.size);
	ptr[s.size] = '\0';
	return rt_str_at(ptr, s.size);
}

/* Attached files are in the exported content itself. */
static void
expand_blobs(gather *g, rt_node *node)
{
	rt_scope s;

	if (rt_str_find(node->body, RT_STR("\"sha256\":"), 0) == SIZE_MAX)
		return;
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
		node->body = keep(g, rt_scope_str(&s, out));
	}
	(void)rt_scope_join(&g->s, &s);
}

static void
fill_body(gather *g, uint64_t number, rt_node *node)
{
	rt_scope *s = &g->s;
	rt_engine *engine = g->engine;
	rt_status st;

	rt_buf_clear(g->bytes);
	st = rt_store_get(engine->store, rt_rows_one(RT_STORE_BODIES, engine->project, number),
			  g->bytes, NULL, &s->error);
	RT_TRY(s, st == RT_NOT_FOUND ? rt_engine_no_body(number, &s->error) : st);
	rt_str data = keep(g, rt_scope_str(s, g->bytes));
	if (!rt_ok(s))
		return;
	if (data.size == 0) {
		rt_scope_fail_advise(s, RT_CORRUPT, "run: retake fsck", "body %llu is empty",
				     (unsigned long long)number);
	} else if (data.ptr[0] == RT_BODY_PURGED) {
		node->body_format = RT_BODY_JSON;
		node->body = RT_STR("{\"content\":\"\",\"purged\":true}");
	} else {
		node->body_format = data.ptr[0];
		node->body = rt_str_skip(data, 1);
		if (data.ptr[0] == RT_BODY_JSON)
			expand_blobs(g, node);
	}
}

static void
fill_node(gather *g, const rt_slot *slot, rt_node *node)
{
	rt_scope *s = &g->s;
	char id[RT_ID_MAX + 1] = "";
	unsigned view = 0;

	*node = (rt_node){
		.entry = slot->entry,
		.parent = -1,
		.ts = rt_slot_moment(slot),
		.has_ts = (slot->flags & RT_SLOT_NO_TS) == 0,
		.muted = (slot->flags & RT_SLOT_MUTED) != 0,
		.edited = (slot->flags & RT_SLOT_EDITED) != 0,
	};
	RT_TRY(s, rt_entry_id(g->project, slot->entry, id, &s->error));
	/* names live as long as the project */
	RT_TRY(s, rt_project_name(g->project, slot->role, &node->role, &s->error));
	RT_TRY(s, rt_project_name(g->project, slot->kind, &node->kind, &s->error));
	RT_TRY(s, rt_disc_label(g->project, g->disc, slot->entry, &node->label, &s->error));
	RT_TRY(s, rt_project_view(g->project, slot->entry, &view, &s->error));
	node->id = keep(g, rt_str_of(id));
	node->collapsed = (view & RT_VIEW_COLLAPSED) != 0;
	node->read_mode = (view & RT_VIEW_READ_MODE) != 0;
	if (rt_ok(s))
		fill_body(g, slot->body, node);
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
static int64_t *
list_take(gather *g, const rt_take *take)
{
	size_t count = rt_seq_count(take->slots), run;
	int64_t *list = get(g, (count + 1) * sizeof(*list));

	for (size_t at = 0; rt_ok(&g->s) && at < count; at += run) {
		rt_slot slots[64];

		run = count - at < 64 ? count - at : 64;
		RT_TRY(&g->s, rt_seq_copy(take->slots, at, run, slots, &g->s.error));
		for (size_t i = 0; rt_ok(&g->s) && i < run; i++) {
			slots[i].key = 0;
			list[at + i] = (int64_t)intern(g, &slots[i]);
		}
	}
	return list;
}

/* With capacity for one more. */
static void
export_fields(gather *g, const rt_fields *fields, rt_outline_field **out, size_t *out_count)
{
	size_t count = rt_fields_count(fields), kept = 0;
	rt_outline_field *list = get(g, (count + 1) * sizeof(*list));

	for (size_t i = 0; rt_ok(&g->s) && i < count; i++) {
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
}

/* When a take was last changed by anything but an import; 0: not since. */
static int64_t
changed_at(gather *g, const rt_take *take)
{
	if (take->row == 0 || take->row > g->project->seq ||
	    RT_TRY(&g->s, rt_engine_row_time(g->engine, take->row, &g->time, &g->s.error)) !=
		    RT_OK)
		return 0;
	return g->time.is_import ? 0 : g->time.at_us;
}

/* The lists of a take that differ from those of the discussion. */
static rt_str
own_files(gather *g, const rt_take *take)
{
	const rt_disc *disc = g->disc;
	rt_str own = {0};
	rt_scope s;
	rt_change c;

	if (take->number == disc->active ||
	    rt_fields_get(disc->fields, RT_STR(RT_TAKE_FILES)).ptr == NULL)
		return own;
	rt_scope_init(&s, g->engine->alloc);
	rt_change_init(&c, &s, g->engine, g->project);
	rt_str now = rt_take_files(&c, disc, disc->active);
	own = rt_take_files(&c, disc, take->number);
	own = rt_ok(&s) && !rt_str_eq(own, now) ? keep(g, own) : rt_str_at(NULL, 0);
	rt_change_deinit(&c);
	(void)rt_scope_join(&g->s, &s);
	return own;
}

/* The nodes, in the order of entries; the takes still list them by rank. */
static void
make_nodes(gather *g, rt_outline *out)
{
	size_t *place = rt_scope_array(&g->s, g->count, sizeof(*place));

	if (g->count > 0)
		qsort(g->items, g->count, sizeof(*g->items), by_entry);
	out->node_count = g->count;
	out->nodes = get(g, (g->count + 1) * sizeof(*out->nodes));
	for (size_t i = 0; rt_ok(&g->s) && i < g->count; i++) {
		place[g->items[i].rank] = i;
		fill_node(g, &g->items[i].slot, &out->nodes[i]);
	}
	for (size_t i = 0; rt_ok(&g->s) && i < out->take_count; i++) {
		int64_t *nodes = (int64_t *)(uintptr_t)out->takes[i].nodes;

		for (size_t k = 0; k < out->takes[i].node_count; k++)
			nodes[k] = (int64_t)place[nodes[k]];
	}
}

/* First from the active take, then from the others. */
static void
set_parents(rt_outline *out)
{
	for (size_t i = 0; i <= out->take_count && out->take_count > 0; i++) {
		const rt_outline_take *t = &out->takes[i == 0 ? out->active_take : i - 1];

		for (size_t k = 1; k < t->node_count; k++)
			if (out->nodes[t->nodes[k]].parent < 0 && t->nodes[0] != t->nodes[k])
				out->nodes[t->nodes[k]].parent = t->nodes[k - 1];
	}
}

static void
export_takes(gather *g, uint32_t only_take, rt_outline *out)
{
	size_t takes = rt_disc_take_count(g->disc);

	out->takes = get(g, (takes + 1) * sizeof(*out->takes));
	for (size_t i = 1; rt_ok(&g->s) && i <= takes; i++) {
		const rt_take *take = rt_disc_take(g->disc, (uint32_t)i);

		if (!take->present || (only_take != 0 && take->number != only_take))
			continue;
		if (take->number == g->disc->active)
			out->active_take = out->take_count;
		out->takes[out->take_count++] =
			(rt_outline_take){.name = rt_text_str(take->name),
					  .git_commit = rt_text_str(take->git_commit),
					  .nodes = list_take(g, take),
					  .node_count = rt_seq_count(take->slots),
					  .updated_us = changed_at(g, take),
					  .files = own_files(g, take)};
	}
}

/* An entry of another take, and the position at which the two diverge. */
typedef struct alternative {
	size_t at;
	uint32_t entry;
} alternative;

static int
by_position(const void *a, const void *b)
{
	const alternative *x = a, *y = b;

	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->entry > y->entry) - (x->entry < y->entry);
}

/* Counts the alternatives that an export of one take leaves out. */
static void
count_alternatives(gather *g, uint32_t only_take, rt_outline *out)
{
	const rt_take *mine = rt_disc_take(g->disc, only_take);
	size_t takes = rt_disc_take_count(g->disc), count = 0;
	alternative *all = rt_scope_array(&g->s, takes + 1, sizeof(*all));

	for (size_t i = 1; rt_ok(&g->s) && i <= takes; i++) {
		const rt_take *take = rt_disc_take(g->disc, (uint32_t)i);
		size_t at = 0;
		rt_slot slot;

		if (!take->present || take == mine)
			continue;
		RT_TRY(&g->s, rt_seq_common(mine->slots, take->slots, &at, &g->s.error));
		if (rt_ok(&g->s) && at < rt_seq_count(mine->slots) && at < rt_seq_count(take->slots) &&
		    RT_TRY(&g->s, rt_seq_copy(take->slots, at, 1, &slot, &g->s.error)) == RT_OK)
			all[count++] = (alternative){at, slot.entry};
	}
	if (rt_ok(&g->s) && count > 0)
		qsort(all, count, sizeof(*all), by_position);
	for (size_t i = 0; rt_ok(&g->s) && i < count; i++)
		if (i == 0 || by_position(&all[i - 1], &all[i]) != 0)
			out->nodes[out->takes[0].nodes[all[i].at]].alternatives++;
}

static void
export_disc(gather *g, uint32_t only_take, rt_outline *out)
{
	const rt_disc *disc = g->disc;
	rt_scope *s = &g->s;
	size_t head_at = 0;

	*out = (rt_outline){.name = rt_cell_name(rt_project_cell(g->project, disc->number)),
			    .has_head = true,
			    .head = -1};
	export_takes(g, only_take, out);
	if (rt_ok(s))
		make_nodes(g, out);
	if (rt_ok(s))
		set_parents(out);
	if (rt_ok(s) && only_take != 0 && out->take_count > 0)
		count_alternatives(g, only_take, out);
	if (only_take != 0 && only_take != disc->active)
		head_at = out->take_count > 0 ? out->takes[0].node_count : 0;
	else
		RT_TRY(s, rt_disc_head_at(g->project, disc, &head_at, &s->error));
	if (rt_ok(s) && head_at > 0 && out->take_count > 0)
		out->head = out->takes[out->active_take].nodes[head_at - 1];
	export_fields(g, disc->fields, &out->fields, &out->field_count);
	rt_buf_clear(g->bytes);
	rt_buf_add_byte(g->bytes, '"');
	rt_buf_add_number_id(g->bytes, 'd', disc->number);
	rt_buf_add_byte(g->bytes, '"');
	rt_str id = keep(g, rt_scope_str(s, g->bytes));
	if (rt_ok(s))
		out->fields[out->field_count++] = (rt_outline_field){RT_STR("id"), id};
	rt_free(g->engine->alloc, g->items);
	rt_hash_table_deinit(&g->numbers, g->engine->alloc);
	g->items = NULL;
	g->count = g->room = 0;
}

rt_status
rt_engine_export(rt_engine *engine, const rt_project *project, rt_place where, bool whole_project,
		 rt_outlines *out, rt_error *err)
{
	gather g = {.engine = engine, .project = project, .arena = rt_arena_new(engine->alloc)};
	size_t discs = rt_project_disc_count(project);
	rt_scope *s = &g.s;
	rt_outlines made;

	rt_scope_init(s, engine->alloc);
	rt_outlines_init(&made);
	made.arena = g.arena;
	if (g.arena == NULL)
		rt_scope_nomem(s);
	g.bytes = rt_scope_buf(s);
	made.items = get(&g, (discs + 1) * sizeof(*made.items));
	for (size_t i = 1; rt_ok(s) && i <= discs; i++) {
		const rt_cell *cell = rt_project_cell(project, (uint32_t)i);

		if (whole_project ? !cell->present
				  : cell->number != (where.disc != 0 ? where.disc : project->active))
			continue;
		if (cell->number == project->active) {
			made.active = made.count;
			made.has_active = true;
		}
		if (RT_TRY(s, rt_project_disc(project, cell->number, &g.disc, &s->error)) == RT_OK)
			export_disc(&g, whole_project ? 0 : where.take, &made.items[made.count++]);
	}
	if (whole_project)
		export_fields(&g, project->fields, &made.fields, &made.field_count);
	if (rt_ok(s) && whole_project &&
	    rt_fields_get(project->fields, RT_STR("roles")).ptr == NULL)
		made.fields[made.field_count++] =
			(rt_outline_field){RT_STR("roles"), rt_project_roles(project)};
	if (rt_ok(s))
		*out = made;
	else
		rt_outlines_deinit(&made);
	return rt_scope_end(s, err);
}
