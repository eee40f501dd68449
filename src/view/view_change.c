/* SPDX-License-Identifier: MIT
 *
 * The effects of one row of the log, for programs that follow a project from outside: lists of ids
 * to be spliced, and names of other parts to fetch again.
 *
 * The effects of a step are listed forwards. A move is listed as the effects of the steps that it
 * moves, forwards or back, in the documents that it moves them in and in the order in which they
 * apply. Beyond RT_CHANGE_LIST_MAX items only the overflow is reported, and no further step is
 * read. */
#include "log/engine_impl.h"
#include "view/view.h"
#include "view/view_impl.h"

/* Numbers or names that were already listed. */
typedef struct seen {
	uint64_t numbers[RT_CHANGE_LIST_MAX];
	size_t count;
} seen;

typedef struct change {
	rt_scope *scope;
	const rt_project *project;
	rt_buf *splices, *entries, *takes, *fields; /* items of JSON arrays */
	size_t listed;   /* in all of them */
	bool whole;      /* too many */
	bool of_project; /* the project's own document is touched */
	bool of_any;     /* so may be discussions that are not in the list */
	seen discs, seen_entries;
	seen seen_takes; /* discussion << 32 | take */
	rt_str seen_fields[RT_CHANGE_LIST_MAX];
	size_t field_count;
} change;

/* Reserves items of the lists; false: there are too many. */
static bool
reserve(change *c, size_t items)
{
	if (c->whole || items > RT_CHANGE_LIST_MAX || c->listed + items > RT_CHANGE_LIST_MAX) {
		c->whole = true;
		return false;
	}
	c->listed += items;
	return true;
}

static bool
has_seen(const seen *s, uint64_t number)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->numbers[i] == number)
			return true;
	return false;
}

/* Is the number listed for the first time? */
static bool
is_new(change *c, seen *s, uint64_t number)
{
	if (has_seen(s, number) || !reserve(c, 1))
		return false;
	s->numbers[s->count++] = number;
	return true;
}

static void
touch_disc(change *c, uint32_t disc)
{
	if (disc == 0)
		c->of_project = true;
	else if (has_seen(&c->discs, disc))
		return;
	else if (c->discs.count < RT_CHANGE_LIST_MAX)
		c->discs.numbers[c->discs.count++] = disc;
	else
		c->of_any = c->whole = true;
}

static void
add_id(change *c, rt_buf *buf, uint32_t entry)
{
	char id[RT_ID_MAX + 1];

	if (RT_TRY(c->scope, rt_entry_id(c->project, entry, id, &c->scope->error)) == RT_OK)
		rt_json_put_c(buf, NULL, id);
}

static void
touch_entry(change *c, uint32_t entry)
{
	if (is_new(c, &c->seen_entries, entry))
		add_id(c, c->entries, entry);
}

static void
touch_take(change *c, uint32_t disc, uint32_t take)
{
	if (is_new(c, &c->seen_takes, (uint64_t)disc << 32 | take)) {
		rt_json_add_comma(c->takes);
		rt_buf_add_f(c->takes, "\"d%u/t%u\"", disc, take);
	}
}

/* `d1/t2/key`, `d1/key`, `project/key` */
static void
touch_field(change *c, uint32_t disc, uint32_t take, rt_str key)
{
	if (c->whole)
		return;
	rt_buf *buf = rt_scope_buf(c->scope);

	if (disc == 0)
		rt_buf_add_c(buf, "project/");
	else
		rt_buf_add_f(buf, "d%u/", disc);
	if (disc != 0 && take != 0)
		rt_buf_add_f(buf, "t%u/", take);
	rt_buf_add_str(buf, key);
	rt_str name = rt_scope_str(c->scope, buf);

	for (size_t i = 0; i < c->field_count; i++)
		if (rt_str_eq(c->seen_fields[i], name))
			return;
	if (!rt_ok(c->scope) || !reserve(c, 1))
		return;
	c->seen_fields[c->field_count++] = name;
	rt_json_add_comma(c->fields);
	rt_json_add_string(c->fields, name);
}

/* ---- effects ---- */

static void
open_splice(change *c, uint32_t disc, uint32_t take)
{
	rt_json_add_comma(c->splices);
	rt_buf_add_f(c->splices, "{\"discussion\":\"d%u\"", disc);
	if (take != 0)
		rt_buf_add_f(c->splices, ",\"take\":\"t%u\"", take);
}

static bool
is_same_slot(const rt_effect_slot *a, const rt_effect_slot *b)
{
	return a->slot.body == b->slot.body && a->slot.ts_us == b->slot.ts_us &&
	       a->slot.size == b->slot.size && a->slot.flags == b->slot.flags &&
	       rt_str_eq(a->role, b->role) && rt_str_eq(a->kind, b->kind);
}

/* An entry that keeps its place is not a splice; it is touched if any part of it differs. true: the
 * slots are of one entry. */
static bool
stays(change *c, const rt_effect_slot *old, const rt_effect_slot *new)
{
	if (old->slot.entry != new->slot.entry || c->whole || !rt_ok(c->scope))
		return false;
	if (!is_same_slot(old, new))
		touch_entry(c, new->slot.entry);
	return true;
}

static void
add_splice(change *c, const rt_effect *e, bool back)
{
	const rt_effect_slot *old = back ? e->added : e->removed;
	const rt_effect_slot *new = back ? e->removed : e->added;
	size_t old_count = back ? e->added_count : e->removed_count;
	size_t new_count = back ? e->removed_count : e->added_count;
	uint64_t at = e->at;

	touch_take(c, e->disc, e->sub);
	while (old_count > 0 && new_count > 0 && stays(c, old, new)) {
		old++;
		new++;
		at++;
		old_count--;
		new_count--;
	}
	while (old_count > 0 && new_count > 0 &&
	       stays(c, &old[old_count - 1], &new[new_count - 1])) {
		old_count--;
		new_count--;
	}
	if (old_count + new_count == 0 || !reserve(c, 1 + new_count))
		return;
	open_splice(c, e->disc, e->sub);
	rt_json_put_u64(c->splices, "at", at);
	rt_json_put_u64(c->splices, "remove", old_count);
	rt_json_open(c->splices, "insert", '[');
	for (size_t i = 0; i < new_count; i++)
		add_id(c, c->splices, new[i].slot.entry);
	rt_json_close(c->splices, ']');
	rt_json_close(c->splices, '}');
}

/* It exists now, or no longer; take 0: the discussion. Its content is unchanged. */
static void
add_present(change *c, uint32_t disc, uint32_t take, bool present)
{
	if (!reserve(c, 1))
		return;
	open_splice(c, disc, take);
	rt_json_put_bool(c->splices, "present", present);
	rt_json_close(c->splices, '}');
}

/* first: by the step that created it, not by a redo of that step. */
static void
add_new(change *c, const rt_effect *e, bool back, bool first)
{
	uint32_t disc = e->disc != 0 ? e->disc : e->sub, take = e->disc != 0 ? e->sub : 1;
	uint32_t from = e->from_take == 0 ? 0 : e->disc != 0 ? e->disc : e->from_disc;

	touch_disc(c, disc);
	touch_take(c, disc, take);
	if (!first) {
		add_present(c, disc, e->disc != 0 ? take : 0, !back);
		return;
	}
	if (!reserve(c, 1))
		return;
	open_splice(c, disc, take);
	if (from != 0)
		rt_buf_add_f(c->splices, ",\"from_discussion\":\"d%u\",\"from_take\":\"t%u\"", from,
			     e->from_take);
	rt_json_put_u64(c->splices, "count", from != 0 ? e->count : 0);
	rt_json_close(c->splices, '}');
}

static void
add_set(change *c, const rt_effect *e, bool back)
{
	uint32_t disc = e->disc != 0 ? e->disc : e->sub, take = e->disc != 0 ? e->sub : 0;

	touch_disc(c, disc);
	if (take != 0)
		touch_take(c, disc, take);
	if (disc != 0 && e->sub != 0 && rt_str_is(e->key, "present"))
		add_present(c, disc, take, (back ? e->before : e->after).ptr != NULL);
	else if (e->disc != 0 && take == 0 && rt_str_is(e->key, "label"))
		touch_entry(c, e->entry);
	else
		touch_field(c, disc, take, e->key);
}

static void
add_effect(change *c, const rt_effect *e, bool back, bool first)
{
	touch_disc(c, e->disc);
	switch (e->kind) {
	case RT_EFFECT_SPLICE: add_splice(c, e, back); break;
	case RT_EFFECT_NEW: add_new(c, e, back, first); break;
	case RT_EFFECT_SET: add_set(c, e, back); break;
	}
}

/* ---- rows ---- */

static bool
moves_in(const rt_record_move *m, uint32_t disc)
{
	for (size_t i = 0; i < m->disc_count; i++)
		if (m->discs[i] == disc)
			return true;
	return false;
}

static void
add_move(change *c, rt_engine *engine, const rt_record_move *m, rt_scope *memory)
{
	bool back = m->direction < 0;
	rt_record step = {0};

	for (size_t k = 0; k < m->disc_count; k++)
		touch_disc(c, m->discs[k]);
	if (c->whole) { /* steps of the project may have made any discussion; these are not
			 * determined */
		c->of_any = c->of_any || c->of_project;
		return;
	}
	rt_scope_reset(memory);
	rt_arena *arena = rt_scope_arena(memory);

	RT_TRY(memory, rt_engine_record(engine, m->step, arena, &step, NULL, &memory->error));
	if (rt_scope_adopt(c->scope, memory) != RT_OK)
		return;
	for (size_t k = 0; k < step.effect_count; k++) {
		const rt_effect *e = &step.effects[back ? step.effect_count - 1 - k : k];

		if (moves_in(m, e->disc))
			add_effect(c, e, back, false);
	}
}

static void
add_row(change *c, rt_engine *engine, const rt_record *row)
{
	rt_scope *memory = rt_view_inner(c->scope);

	switch (row->kind) {
	case RT_RECORD_STEP:
		for (size_t i = 0; i < row->effect_count; i++)
			add_effect(c, &row->effects[i], false, true);
		break;
	case RT_RECORD_MOVE:
		for (size_t i = 0; rt_ok(c->scope) && i < row->move_count; i++)
			add_move(c, engine, &row->moves[i], memory);
		break;
	case RT_RECORD_VIEW: break;
	case RT_RECORD_NOTE: /* a purge: any text may have changed, and names and fields too */
		c->whole = c->of_project = c->of_any = true;
		break;
	}
	if (row->view_count > 0) { /* others may show the same entries */
		touch_disc(c, row->disc);
		c->of_any = c->of_any || rt_project_disc_count(c->project) > 1;
	}
	for (size_t i = 0; !c->whole && i < row->view_count; i++)
		touch_entry(c, row->views[i].entry);
}

/* ---- the answer ---- */

static void
put_list(change *c, rt_buf *buf, const char *key, const rt_buf *items)
{
	rt_json_open(buf, key, '[');
	rt_buf_add_str(buf, rt_scope_str(c->scope, items));
	rt_json_close(buf, ']');
}

static void
put_change(change *c, uint64_t seq, const rt_record *row, int64_t at_us, rt_buf *buf)
{
	static const char *const kinds[] = {[RT_RECORD_STEP] = "step",
					    [RT_RECORD_MOVE] = "move",
					    [RT_RECORD_VIEW] = "view",
					    [RT_RECORD_NOTE] = "note"};

	rt_buf_add_byte(buf, '{');
	rt_json_put_u64(buf, "seq", seq);
	rt_json_put_c(buf, "kind", kinds[row->kind]);
	rt_json_put_str(buf, "op", row->op);
	rt_json_put_str(buf, "by", row->by);
	rt_view_put_time(buf, "at", at_us);
	if (row->disc != 0)
		rt_buf_add_f(buf, ",\"discussion\":\"d%u\"", row->disc);
	if (!c->whole || !c->of_any) {
		rt_json_open(buf, "discussions", '[');
		for (size_t i = 0; i < c->discs.count; i++)
			rt_buf_add_f(buf, "%s\"d%u\"", i > 0 ? "," : "",
				     (unsigned)c->discs.numbers[i]);
		rt_json_close(buf, ']');
	}
	if (c->of_project)
		rt_json_put_bool(buf, "project", true);
	if (c->whole) {
		rt_json_put_bool(buf, "whole", true);
	} else {
		put_list(c, buf, "splices", c->splices);
		put_list(c, buf, "entries", c->entries);
		put_list(c, buf, "takes", c->takes);
		put_list(c, buf, "fields", c->fields);
	}
	rt_json_close(buf, '}');
}

static rt_change_discs
touched_discs(const change *c)
{
	rt_change_discs out = {0};

	if (c->of_any || c->discs.count + c->of_project > RT_CHANGE_DISCS) {
		out.count = RT_CHANGE_DISCS + 1;
		return out;
	}
	for (size_t i = 0; i < c->discs.count; i++)
		out.at[out.count++] = (uint32_t)c->discs.numbers[i];
	if (c->of_project)
		out.at[out.count++] = 0;
	return out;
}

rt_status
rt_view_change(rt_engine *engine, const rt_project *project, uint64_t seq, rt_buf *buf,
	       rt_change_discs *out_discs, rt_error *err)
{
	size_t size = buf->size;
	int64_t at_us = 0;
	rt_record row;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	if (seq == 0 || seq > project->seq)
		rt_scope_fail(&s, RT_NOT_FOUND, "there is no row %llu; the newest is %llu",
			      (unsigned long long)seq, (unsigned long long)project->seq);
	rt_arena *arena = rt_scope_arena(&s);
	change *c = rt_scope_get(&s, sizeof(*c));

	RT_TRY(&s, rt_engine_record(engine, seq, arena, &row, &at_us, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	c->scope = &s;
	c->project = project;
	c->splices = rt_scope_buf(&s);
	c->entries = rt_scope_buf(&s);
	c->takes = rt_scope_buf(&s);
	c->fields = rt_scope_buf(&s);
	add_row(c, engine, &row);
	if (rt_ok(&s))
		put_change(c, seq, &row, at_us, buf);
	rt_scope_note(&s, buf->status);
	if (rt_ok(&s) && out_discs != NULL)
		*out_discs = touched_discs(c);
	if (!rt_ok(&s) && buf->status == RT_OK)
		buf->size = size;
	return rt_scope_end(&s, err);
}
