/* SPDX-License-Identifier: MIT
 *
 * What one row of the log did, for who follows a project from outside: lists of ids to be
 * spliced, and names of what else to look at anew.
 *
 * The effects of a step are told forwards. A move is told as the effects of the steps that
 * it moves, forwards or back, in the documents that it moves them in and in the order in
 * which they apply. As soon as there is more to tell than RT_CHANGE_LIST_MAX items, nothing
 * is told but that, and no further step is read. */
#include "log/engine_impl.h"
#include "view/view.h"

typedef struct change {
	const rt_project *project;
	rt_arena *arena;       /* of fields */
	rt_buf splices, entries, takes, fields;
	size_t listed;         /* splices, ids, takes, fields */
	bool whole;            /* too many */
	bool of_project;       /* the project's own document is touched */
	bool of_any;           /* discussions may be touched that are not in the list */
	uint32_t discs[RT_CHANGE_LIST_MAX];
	size_t disc_count;
	uint64_t entry_seen[RT_CHANGE_LIST_MAX];
	size_t entry_count;
	uint64_t take_seen[RT_CHANGE_LIST_MAX]; /* discussion << 32 | take */
	size_t take_count;
	rt_str field_seen[RT_CHANGE_LIST_MAX];
	size_t field_count;
} change;

/* May so many items more be told? */
static bool
room_for(change *c, size_t items)
{
	if (c->whole || items > RT_CHANGE_LIST_MAX || c->listed + items > RT_CHANGE_LIST_MAX) {
		c->whole = true;
		return false;
	}
	c->listed += items;
	return true;
}

/* Is the number new in the list, and is there room for it? */
static bool
is_first(change *c, uint64_t *list, size_t *count, uint64_t number)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if (list[i] == number)
			return false;
	if (!room_for(c, 1))
		return false;
	list[(*count)++] = number;
	return true;
}

static void
touch_disc(change *c, uint32_t disc)
{
	size_t i;

	if (disc == 0) {
		c->of_project = true;
		return;
	}
	for (i = 0; i < c->disc_count; i++)
		if (c->discs[i] == disc)
			return;
	if (c->disc_count < RT_CHANGE_LIST_MAX)
		c->discs[c->disc_count++] = disc;
	else
		c->of_any = c->whole = true;
}

static rt_status
add_id(change *c, rt_buf *buf, uint32_t entry, rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_status st = rt_entry_id(c->project, entry, id, err);

	rt_json_add_comma(buf);
	if (st == RT_OK)
		rt_json_add_string(buf, rt_str_of(id));
	return st;
}

static rt_status
touch_entry(change *c, uint32_t entry, rt_error *err)
{
	return is_first(c, c->entry_seen, &c->entry_count, entry) ? add_id(c, &c->entries, entry, err)
								  : RT_OK;
}

static void
touch_take(change *c, uint32_t disc, uint32_t take)
{
	if (!is_first(c, c->take_seen, &c->take_count, (uint64_t)disc << 32 | take))
		return;
	rt_json_add_comma(&c->takes);
	rt_buf_add_f(&c->takes, "\"d%u/t%u\"", disc, take);
}

/* `d1/t2/key`, `d1/key`, `project/key` */
static rt_status
touch_field(change *c, uint32_t disc, uint32_t take, rt_str key, rt_error *err)
{
	rt_buf name;
	size_t i;
	char *copy = NULL;

	rt_buf_init(&name, c->project->object.alloc, RT_BUF_UNLIMITED);
	if (disc == 0)
		rt_buf_add_c(&name, "project/");
	else if (take == 0)
		rt_buf_add_f(&name, "d%u/", disc);
	else
		rt_buf_add_f(&name, "d%u/t%u/", disc, take);
	rt_buf_add_str(&name, key);
	for (i = 0; i < c->field_count; i++)
		if (rt_str_eq(c->field_seen[i], rt_buf_str(&name)))
			break;
	if (name.status == RT_OK && i == c->field_count && room_for(c, 1)) {
		copy = rt_arena_get(c->arena, name.size);
		if (copy != NULL) {
			memcpy(copy, name.ptr, name.size);
			c->field_seen[c->field_count++] = rt_str_at(copy, name.size);
			rt_json_add_comma(&c->fields);
			rt_json_add_string(&c->fields, rt_buf_str(&name));
		} else {
			name.status = RT_NOMEM;
		}
	}
	rt_buf_deinit(&name);
	return name.status == RT_OK ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- effects ---- */

static bool
same_slot(const rt_effect_slot *a, const rt_effect_slot *b)
{
	return a->slot.body == b->slot.body && a->slot.ts_us == b->slot.ts_us &&
	       a->slot.size == b->slot.size && a->slot.flags == b->slot.flags &&
	       rt_str_eq(a->role, b->role) && rt_str_eq(a->kind, b->kind);
}

/* The places where the same entry stands before and after are no splice: the entry is
 * touched there, if anything of it differs. */
static rt_status
tell_splice(change *c, const rt_effect *e, bool back, rt_error *err)
{
	const rt_effect_slot *old = back ? e->added : e->removed;
	const rt_effect_slot *new = back ? e->removed : e->added;
	size_t old_count = back ? e->added_count : e->removed_count;
	size_t new_count = back ? e->removed_count : e->added_count;
	size_t skip = 0, i;
	rt_status st = RT_OK;

	touch_take(c, e->disc, e->sub);
	for (; st == RT_OK && !c->whole && old_count > 0 && new_count > 0 &&
	       old->slot.entry == new->slot.entry;
	     old++, new++, old_count--, new_count--, skip++)
		if (!same_slot(old, new))
			st = touch_entry(c, new->slot.entry, err);
	for (; st == RT_OK && !c->whole && old_count > 0 && new_count > 0 &&
	       old[old_count - 1].slot.entry == new[new_count - 1].slot.entry;
	     old_count--, new_count--)
		if (!same_slot(&old[old_count - 1], &new[new_count - 1]))
			st = touch_entry(c, new[new_count - 1].slot.entry, err);
	if (st != RT_OK || old_count + new_count == 0 || !room_for(c, 1 + new_count))
		return st;
	rt_json_add_comma(&c->splices);
	rt_buf_add_f(&c->splices, "{\"discussion\":\"d%u\",\"take\":\"t%u\",\"at\":", e->disc, e->sub);
	rt_buf_add_u64(&c->splices, e->at + skip);
	rt_json_add_key(&c->splices, "remove");
	rt_buf_add_u64(&c->splices, old_count);
	rt_json_add_key(&c->splices, "insert");
	rt_buf_add_byte(&c->splices, '[');
	for (i = 0; st == RT_OK && i < new_count; i++)
		st = add_id(c, &c->splices, new[i].slot.entry, err);
	rt_buf_add_c(&c->splices, "]}");
	return st;
}

/* It is there, or no longer; take 0: the discussion. What it holds stays as it was. */
static void
tell_present(change *c, uint32_t disc, uint32_t take, bool present)
{
	if (!room_for(c, 1))
		return;
	rt_json_add_comma(&c->splices);
	rt_buf_add_f(&c->splices, "{\"discussion\":\"d%u\"", disc);
	if (take != 0)
		rt_buf_add_f(&c->splices, ",\"take\":\"t%u\"", take);
	rt_buf_add_f(&c->splices, ",\"present\":%s}", present ? "true" : "false");
}

/* first: by the step that made it, not by a redo of that. */
static void
tell_new(change *c, const rt_effect *e, bool back, bool first)
{
	uint32_t disc = e->disc != 0 ? e->disc : e->sub, take = e->disc != 0 ? e->sub : 1;
	uint32_t from = e->disc != 0 ? e->disc : e->from_disc;

	touch_disc(c, disc);
	touch_take(c, disc, take);
	if (!first) {
		tell_present(c, disc, e->disc != 0 ? take : 0, !back);
		return;
	}
	if (!room_for(c, 1))
		return;
	rt_json_add_comma(&c->splices);
	rt_buf_add_f(&c->splices, "{\"discussion\":\"d%u\",\"take\":\"t%u\"", disc, take);
	if (from != 0 && e->from_take != 0)
		rt_buf_add_f(&c->splices, ",\"from_discussion\":\"d%u\",\"from_take\":\"t%u\"", from,
			     e->from_take);
	rt_json_add_key(&c->splices, "count");
	rt_buf_add_u64(&c->splices, from != 0 && e->from_take != 0 ? e->count : 0);
	rt_buf_add_byte(&c->splices, '}');
}

static rt_status
tell_set(change *c, const rt_effect *e, bool back, rt_error *err)
{
	uint32_t disc = e->disc != 0 ? e->disc : e->sub, take = e->disc != 0 ? e->sub : 0;

	touch_disc(c, disc);
	if (take != 0)
		touch_take(c, disc, take);
	if (disc != 0 && e->sub != 0 && rt_str_is(e->key, "present")) {
		tell_present(c, disc, take, (back ? e->before : e->after).ptr != NULL);
		return RT_OK;
	}
	if (e->disc != 0 && take == 0 && rt_str_is(e->key, "label"))
		return touch_entry(c, e->entry, err);
	return touch_field(c, disc, take, e->key, err);
}

static rt_status
tell_effect(change *c, const rt_effect *e, bool back, bool first, rt_error *err)
{
	touch_disc(c, e->disc);
	switch (e->kind) {
	case RT_EFFECT_SPLICE: return tell_splice(c, e, back, err);
	case RT_EFFECT_NEW: tell_new(c, e, back, first); return RT_OK;
	case RT_EFFECT_SET: return tell_set(c, e, back, err);
	}
	return RT_OK;
}

/* ---- rows ---- */

static bool
moves_in(const rt_record_move *m, uint32_t disc)
{
	size_t i;

	for (i = 0; i < m->disc_count; i++)
		if (m->discs[i] == disc)
			return true;
	return false;
}

static rt_status
tell_moves(change *c, rt_engine *engine, const rt_record *row, rt_error *err)
{
	rt_arena *arena = rt_arena_new(engine->alloc);
	size_t i, k;
	rt_status st = arena != NULL ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");

	for (i = 0; st == RT_OK && i < row->move_count; i++) {
		const rt_record_move *m = &row->moves[i];
		rt_record step;

		for (k = 0; k < m->disc_count; k++)
			touch_disc(c, m->discs[k]);
		if (c->whole) /* which discussions the project's steps made, nobody looks */
			c->of_any = c->of_any || c->of_project;
		if (c->whole)
			continue;
		rt_arena_reset(arena);
		st = rt_engine_record(engine, m->step, arena, &step, NULL, err);
		for (k = 0; st == RT_OK && k < step.effect_count; k++) {
			const rt_effect *e = &step.effects[m->direction < 0
								   ? step.effect_count - 1 - k
								   : k];

			if (moves_in(m, e->disc))
				st = tell_effect(c, e, m->direction < 0, false, err);
		}
	}
	rt_arena_free(arena);
	return st;
}

static rt_status
tell_row(change *c, rt_engine *engine, const rt_record *row, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	switch (row->kind) {
	case RT_RECORD_STEP:
		for (i = 0; st == RT_OK && i < row->effect_count; i++)
			st = tell_effect(c, &row->effects[i], false, true, err);
		break;
	case RT_RECORD_MOVE: st = tell_moves(c, engine, row, err); break;
	case RT_RECORD_VIEW: break;
	case RT_RECORD_NOTE: /* a purge: any text may be another, and names and fields too */
		c->whole = c->of_project = c->of_any = true;
		break;
	}
	if (row->view_count > 0) { /* others may show the same entries */
		touch_disc(c, row->disc);
		c->of_any = c->of_any || rt_project_disc_count(c->project) > 1;
	}
	for (i = 0; st == RT_OK && !c->whole && i < row->view_count; i++)
		st = touch_entry(c, row->views[i].entry, err);
	return st;
}

static const char *
kind_word(rt_record_kind kind)
{
	switch (kind) {
	case RT_RECORD_STEP: return "step";
	case RT_RECORD_MOVE: return "move";
	case RT_RECORD_VIEW: return "view";
	case RT_RECORD_NOTE: return "note";
	}
	return "";
}

static void
add_list(rt_buf *buf, const char *key, const rt_buf *items)
{
	rt_json_add_key(buf, key);
	rt_buf_add_byte(buf, '[');
	rt_buf_add_str(buf, rt_buf_str(items));
	rt_buf_add_byte(buf, ']');
}

static void
add_change(const change *c, uint64_t seq, const rt_record *row, int64_t at_us, rt_buf *buf)
{
	size_t i;

	rt_buf_add_c(buf, "{\"seq\":");
	rt_buf_add_u64(buf, seq);
	rt_json_add_key(buf, "kind");
	rt_json_add_string(buf, rt_str_of(kind_word(row->kind)));
	rt_json_add_key(buf, "op");
	rt_json_add_string(buf, row->op);
	rt_json_add_key(buf, "by");
	rt_json_add_string(buf, row->by);
	rt_buf_add_c(buf, ",\"at\":\"");
	rt_moment_format_ms(buf, (rt_moment){at_us, 0});
	rt_buf_add_byte(buf, '"');
	if (row->disc != 0)
		rt_buf_add_f(buf, ",\"discussion\":\"d%u\"", row->disc);
	if (!c->whole || !c->of_any) {
		rt_json_add_key(buf, "discussions");
		rt_buf_add_byte(buf, '[');
		for (i = 0; i < c->disc_count; i++)
			rt_buf_add_f(buf, i > 0 ? ",\"d%u\"" : "\"d%u\"", c->discs[i]);
		rt_buf_add_byte(buf, ']');
	}
	if (c->of_project)
		rt_buf_add_c(buf, ",\"project\":true");
	if (c->whole) {
		rt_buf_add_c(buf, ",\"whole\":true}");
		return;
	}
	add_list(buf, "splices", &c->splices);
	add_list(buf, "entries", &c->entries);
	add_list(buf, "takes", &c->takes);
	add_list(buf, "fields", &c->fields);
	rt_buf_add_byte(buf, '}');
}

static void
give_discs(const change *c, rt_change_discs *out)
{
	size_t i;

	memset(out, 0, sizeof(*out));
	if (c->of_any || c->disc_count + c->of_project > RT_CHANGE_DISCS) {
		out->count = RT_CHANGE_DISCS + 1;
		return;
	}
	for (i = 0; i < c->disc_count; i++)
		out->at[out->count++] = c->discs[i];
	if (c->of_project)
		out->at[out->count++] = 0;
}

rt_status
rt_view_change(rt_engine *engine, const rt_project *project, uint64_t seq, rt_buf *buf,
	       rt_change_discs *out_discs, rt_error *err)
{
	rt_arena *arena = rt_arena_new(engine->alloc);
	change *c = rt_new0(engine->alloc, sizeof(*c));
	size_t size = buf->size;
	rt_record row;
	int64_t at_us = 0;
	rt_status st = RT_OK;

	if (arena == NULL || c == NULL) {
		st = rt_fail(err, RT_NOMEM, "out of memory");
		goto done;
	}
	c->project = project;
	c->arena = arena;
	rt_buf_init(&c->splices, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&c->entries, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&c->takes, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&c->fields, engine->alloc, RT_BUF_UNLIMITED);
	if (seq == 0 || seq > project->seq)
		st = rt_fail(err, RT_NOT_FOUND, "no row %llu yet; the newest is %llu",
			     (unsigned long long)seq, (unsigned long long)project->seq);
	if (st == RT_OK)
		st = rt_engine_record(engine, seq, arena, &row, &at_us, err);
	if (st == RT_OK)
		st = tell_row(c, engine, &row, err);
	if (st == RT_OK && (c->splices.status != RT_OK || c->entries.status != RT_OK ||
			    c->takes.status != RT_OK || c->fields.status != RT_OK))
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		add_change(c, seq, &row, at_us, buf);
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory");
	if (st == RT_OK && out_discs != NULL)
		give_discs(c, out_discs);
	if (st != RT_OK && buf->status == RT_OK)
		buf->size = size;
	rt_buf_deinit(&c->splices);
	rt_buf_deinit(&c->entries);
	rt_buf_deinit(&c->takes);
	rt_buf_deinit(&c->fields);
done:
	rt_free(engine->alloc, c);
	rt_arena_free(arena);
	return st;
}
