/* SPDX-License-Identifier: MIT
 *
 * Log rows to and from JSON. */
#include "codec/record.h"

#include "core/id.h"

/* The flags of a slot that a log keeps: all but those known from its time and role. So a bit
 * that a later version adds is not lost when this one continues with its slots. */
#define RECORD_FLAGS (~(uint32_t)(RT_SLOT_NO_TS | RT_SLOT_TURN))

/* ---- writing ---- */

/* An array of two or three numbers. */
static void
put_numbers(rt_buf *buf, unsigned count, uint64_t a, uint64_t b, uint64_t c)
{
	rt_json_open(buf, NULL, '[');
	rt_json_put_u64(buf, NULL, a);
	rt_json_put_u64(buf, NULL, b);
	if (count == 3)
		rt_json_put_u64(buf, NULL, c);
	rt_json_close(buf, ']');
}

static void
put_json(rt_buf *buf, rt_str json)
{
	rt_json_put_raw(buf, NULL, json.ptr != NULL ? json : RT_STR("null"));
}

static void
put_slots(rt_buf *buf, const rt_effect_slot *slots, size_t count)
{
	rt_json_open(buf, NULL, '[');
	for (size_t i = 0; i < count; i++) {
		const rt_effect_slot *s = &slots[i];

		rt_json_open(buf, NULL, '[');
		rt_json_put_u64(buf, NULL, s->slot.entry);
		rt_json_put_u64(buf, NULL, s->slot.body);
		rt_json_put_u64(buf, NULL, s->slot.size);
		if ((s->slot.flags & RT_SLOT_NO_TS) != 0)
			rt_json_put_null(buf, NULL);
		else
			rt_json_put_i64(buf, NULL, s->slot.ts_us);
		rt_json_put_str(buf, NULL, s->role);
		rt_json_put_str(buf, NULL, s->kind);
		rt_json_put_u64(buf, NULL, s->slot.flags & RECORD_FLAGS);
		if (s->id.size > 0)
			rt_json_put_str(buf, NULL, s->id);
		rt_json_close(buf, ']');
	}
	rt_json_close(buf, ']');
}

static void
put_effect(rt_buf *buf, const rt_effect *e)
{
	static const char *const letters[] = {
		[RT_EFFECT_SPLICE] = "s", [RT_EFFECT_NEW] = "n", [RT_EFFECT_SET] = "f"};

	rt_json_open(buf, NULL, '[');
	rt_json_put_c(buf, NULL, letters[e->kind]);
	rt_json_put_u64(buf, NULL, e->disc);
	rt_json_put_u64(buf, NULL, e->sub);
	switch (e->kind) {
	case RT_EFFECT_SPLICE:
		rt_json_put_u64(buf, NULL, e->at);
		put_slots(buf, e->removed, e->removed_count);
		put_slots(buf, e->added, e->added_count);
		break;
	case RT_EFFECT_NEW:
		rt_json_put_u64(buf, NULL, e->from_disc);
		rt_json_put_u64(buf, NULL, e->from_take);
		rt_json_put_u64(buf, NULL, e->count);
		rt_json_put_str(buf, NULL, e->name);
		rt_json_put_str(buf, NULL, e->take_name);
		rt_json_put_str(buf, NULL, e->git_commit);
		break;
	case RT_EFFECT_SET:
		rt_json_put_str(buf, NULL, e->key);
		rt_json_put_u64(buf, NULL, e->entry);
		put_json(buf, e->before);
		put_json(buf, e->after);
		break;
	}
	rt_json_close(buf, ']');
}

static void
put_moves(rt_buf *buf, const rt_record *record)
{
	rt_json_open(buf, "m", '[');
	for (size_t i = 0; i < record->move_count; i++) {
		const rt_record_move *m = &record->moves[i];

		rt_json_open(buf, NULL, '[');
		rt_json_put_u64(buf, NULL, m->step);
		rt_json_put_i64(buf, NULL, m->direction < 0 ? -1 : 1);
		rt_json_open(buf, NULL, '[');
		for (size_t k = 0; k < m->disc_count; k++)
			rt_json_put_u64(buf, NULL, m->discs[k]);
		rt_json_close(buf, ']');
		if (m->with_next)
			rt_json_put_u64(buf, NULL, 1);
		rt_json_close(buf, ']');
	}
	rt_json_close(buf, ']');
}

void
rt_record_write(rt_buf *buf, const rt_record *record)
{
	rt_buf_add_byte(buf, '{');
	rt_json_put_u64(buf, "v", record->keeps_redo ? 2 : 1);
	rt_json_put_str(buf, "op", record->op);
	rt_json_put_str(buf, "by", record->by);
	rt_json_put_u64(buf, "d", record->disc);
	if (record->group != 0) {
		rt_buf_add_c(buf, ",\"g\":");
		put_numbers(buf, 2, record->group, record->group_discs, 0);
	}
	if (record->kind == RT_RECORD_STEP) {
		rt_json_open(buf, "p", '[');
		for (size_t i = 0; i < record->parent_count; i++)
			put_numbers(buf, 2, record->parents[i].disc, record->parents[i].step, 0);
		rt_json_close(buf, ']');
		rt_json_open(buf, "fx", '[');
		for (size_t i = 0; i < record->effect_count; i++)
			put_effect(buf, &record->effects[i]);
		rt_json_close(buf, ']');
		if (record->keeps_redo)
			rt_json_put_u64(buf, "k", 1);
	} else if (record->kind == RT_RECORD_MOVE) {
		put_moves(buf, record);
		rt_json_open(buf, "r", '[');
		for (size_t i = 0; i < record->redo_count; i++)
			put_numbers(buf, 3, record->redos[i].disc, record->redos[i].row,
				    record->redos[i].move);
		rt_json_close(buf, ']');
	}
	if (record->kind == RT_RECORD_VIEW ||
	    (record->kind == RT_RECORD_STEP && record->view_count > 0)) {
		rt_json_open(buf, "view", '[');
		for (size_t i = 0; i < record->view_count; i++)
			put_numbers(buf, 2, record->views[i].entry, record->views[i].flags, 0);
		rt_json_close(buf, ']');
	}
	if (record->extra.size > 0)
		rt_json_put_raw(buf, "x", record->extra);
	rt_json_close(buf, '}');
}

/* ---- reading ---- */

/* A row being read. */
typedef struct parse {
	const rt_alloc *alloc;
	rt_arena *arena; /* of the returned value */
	bool bad;        /* a value had an unexpected type */
	bool nomem;
} parse;

static bool
ok(const parse *p)
{
	return !p->bad && !p->nomem;
}

static void *
get(parse *p, size_t count, size_t size)
{
	void *ptr = count < SIZE_MAX / size ? rt_arena_get(p->arena, count * size + 1) : NULL;

	if (ptr == NULL)
		p->nomem = true;
	else
		memset(ptr, 0, count * size + 1);
	return ptr;
}

static rt_str
keep(parse *p, rt_str s)
{
	char *ptr = get(p, s.size, 1);

	if (ptr == NULL)
		return rt_str_at("", 0);
	if (s.size > 0)
		memcpy(ptr, s.ptr, s.size);
	return rt_str_at(ptr, s.size);
}

static uint64_t
number(parse *p, yyjson_val *v, uint64_t max)
{
	uint64_t n = 0;

	if (!rt_json_u64(v, &n) || n > max)
		p->bad = true;
	return p->bad ? 0 : n;
}

static rt_str
text(parse *p, yyjson_val *v)
{
	p->bad = p->bad || !yyjson_is_str(v);
	return p->bad ? rt_str_at("", 0) : keep(p, rt_json_str(v));
}

/* A value as JSON text; null is absent. */
static rt_str
json(parse *p, yyjson_val *v)
{
	rt_buf buf;
	rt_str kept;

	p->bad = p->bad || v == NULL;
	if (v == NULL || yyjson_is_null(v))
		return rt_str_at(NULL, 0);
	rt_buf_init(&buf, p->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&buf, v);
	p->nomem = p->nomem || buf.status != RT_OK;
	kept = keep(p, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return kept;
}

/* ---- the items of an array, one after the other ---- */

static yyjson_val *
next(rt_json_iter *it)
{
	return rt_json_next(it) ? it->value : NULL;
}

static uint64_t
next_number(parse *p, rt_json_iter *it, uint64_t max)
{
	return number(p, next(it), max);
}

static uint32_t
next_u32(parse *p, rt_json_iter *it)
{
	return (uint32_t)next_number(p, it, UINT32_MAX);
}

static uint64_t
next_big(parse *p, rt_json_iter *it)
{
	return next_number(p, it, INT64_MAX);
}

static rt_str
next_text(parse *p, rt_json_iter *it)
{
	return text(p, next(it));
}

/* Every item of an array, read into an array of the arena. Reading stops at the first that does
 * not fit; those after it are zeros. */
static void *
read_array(parse *p, yyjson_val *v, size_t size,
	   void (*read_item)(parse *p, rt_json_iter *it, void *out), size_t *out_count)
{
	rt_json_iter it = rt_json_items(v);
	char *items = get(p, it.count, size);

	p->bad = p->bad || !yyjson_is_arr(v);
	while (ok(p) && rt_json_next(&it))
		read_item(p, &it, items + it.index * size);
	*out_count = it.count;
	return items;
}

static void
read_slot(parse *p, rt_json_iter *at, void *out)
{
	rt_json_iter it = rt_json_items(at->value);
	rt_effect_slot *s = out;
	yyjson_val *ts;

	p->bad = p->bad || it.count < 7;
	s->slot.entry = (uint32_t)next_number(p, &it, UINT32_MAX - 2);
	s->slot.body = next_big(p, &it);
	s->slot.size = next_u32(p, &it);
	ts = next(&it);
	if (yyjson_is_null(ts))
		s->slot.flags = RT_SLOT_NO_TS;
	else
		p->bad = p->bad || !rt_json_i64(ts, &s->slot.ts_us);
	s->role = next_text(p, &it);
	s->kind = next_text(p, &it);
	s->slot.flags |= next_u32(p, &it);
	if (it.count > 7) {
		s->id = next_text(p, &it);
		p->bad = p->bad || s->id.size > RT_ID_MAX;
	}
}

static void
read_effect(parse *p, rt_json_iter *at, void *out)
{
	rt_json_iter it = rt_json_items(at->value);
	rt_str kind = rt_json_str(next(&it));
	rt_effect *e = out;

	e->disc = next_u32(p, &it);
	e->sub = next_u32(p, &it);
	if (rt_str_is(kind, "s") && it.count == 6) {
		e->kind = RT_EFFECT_SPLICE;
		e->at = next_big(p, &it);
		e->removed = read_array(p, next(&it), sizeof(*e->removed), read_slot,
					&e->removed_count);
		e->added = read_array(p, next(&it), sizeof(*e->added), read_slot, &e->added_count);
	} else if (rt_str_is(kind, "n") && it.count == 9) {
		e->kind = RT_EFFECT_NEW;
		e->from_disc = next_u32(p, &it);
		e->from_take = next_u32(p, &it);
		e->count = next_big(p, &it);
		e->name = next_text(p, &it);
		e->take_name = next_text(p, &it);
		e->git_commit = next_text(p, &it);
	} else if (rt_str_is(kind, "f") && it.count == 7) {
		e->kind = RT_EFFECT_SET;
		e->key = next_text(p, &it);
		e->entry = next_u32(p, &it);
		e->before = json(p, next(&it));
		e->after = json(p, next(&it));
	} else {
		p->bad = true;
	}
}

static void
read_parent(parse *p, rt_json_iter *at, void *out)
{
	rt_json_iter it = rt_json_items(at->value);
	rt_record_parent *parent = out;

	parent->disc = next_u32(p, &it);
	parent->step = next_big(p, &it);
}

static void
read_disc(parse *p, rt_json_iter *at, void *out)
{
	*(uint32_t *)out = (uint32_t)number(p, at->value, UINT32_MAX);
}

static void
read_move(parse *p, rt_json_iter *at, void *out)
{
	rt_json_iter it = rt_json_items(at->value);
	rt_record_move *m = out;
	int64_t direction = 0;

	m->step = next_big(p, &it);
	if (!rt_json_i64(next(&it), &direction) || (direction != 1 && direction != -1))
		p->bad = true;
	m->direction = (int)direction;
	m->discs = read_array(p, next(&it), sizeof(*m->discs), read_disc, &m->disc_count);
	m->with_next = it.count > 3;
	if (m->with_next && (next_number(p, &it, 1) != 1 || at->index + 1 == at->count))
		p->bad = true;
}

static void
read_redo(parse *p, rt_json_iter *at, void *out)
{
	rt_json_iter it = rt_json_items(at->value);
	rt_record_redo *redo = out;

	redo->disc = next_u32(p, &it);
	redo->row = next_big(p, &it);
	redo->move = next_u32(p, &it);
}

static void
read_view(parse *p, rt_json_iter *at, void *out)
{
	rt_json_iter it = rt_json_items(at->value);
	rt_record_view *view = out;

	view->entry = next_u32(p, &it);
	view->flags = (unsigned)next_number(p, &it, 255);
}

static void
read_record(parse *p, yyjson_val *root, rt_record *out)
{
	yyjson_val *group = rt_json_get(root, "g"), *fx = rt_json_get(root, "fx");
	yyjson_val *moves = rt_json_get(root, "m"), *view = rt_json_get(root, "view");
	yyjson_val *extra = rt_json_get(root, "x"), *keeps = rt_json_get(root, "k");

	out->op = text(p, rt_json_get(root, "op"));
	out->by = text(p, rt_json_get(root, "by"));
	out->disc = (uint32_t)number(p, rt_json_get(root, "d"), UINT32_MAX);
	if (group != NULL) {
		rt_json_iter it = rt_json_items(group);

		out->group = next_big(p, &it);
		out->group_discs = next_u32(p, &it);
	}
	if (fx != NULL) {
		out->kind = RT_RECORD_STEP;
		out->parents = read_array(p, rt_json_get(root, "p"), sizeof(*out->parents),
					  read_parent, &out->parent_count);
		out->effects = read_array(p, fx, sizeof(*out->effects), read_effect,
					  &out->effect_count);
		out->keeps_redo = keeps != NULL;
		if (keeps != NULL && number(p, keeps, 1) != 1)
			p->bad = true;
	} else if (moves != NULL) {
		out->kind = RT_RECORD_MOVE;
		out->moves = read_array(p, moves, sizeof(*out->moves), read_move, &out->move_count);
		out->redos = read_array(p, rt_json_get(root, "r"), sizeof(*out->redos), read_redo,
					&out->redo_count);
	} else {
		out->kind = view != NULL ? RT_RECORD_VIEW : RT_RECORD_NOTE;
	}
	if (view != NULL)
		out->views = read_array(p, view, sizeof(*out->views), read_view, &out->view_count);
	if (extra != NULL)
		out->extra = json(p, extra);
}

static rt_status
check_version(yyjson_val *root, rt_error *err)
{
	uint64_t version;

	if (!rt_json_u64(rt_json_get(root, "v"), &version))
		return rt_fail(err, RT_CORRUPT, "a log row without a version");
	if (version <= RT_RECORD_VERSION)
		return RT_OK;
	return rt_fail(
		err, RT_TOO_NEW,
		"a log row requires a version of Retake that supports effects of version %llu; this one supports up to %d",
		(unsigned long long)version, (int)RT_RECORD_VERSION);
}

bool
rt_record_is_of(rt_str text, rt_str op)
{
	const rt_str between = RT_STR(",\"op\":\"");
	size_t at = strlen("{\"v\":");

	while (at < text.size && text.ptr[at] >= '0' && text.ptr[at] <= '9')
		at++;
	text = at < text.size ? rt_str_skip(text, at) : RT_STR("");
	if (!rt_str_starts(text, between))
		return false;
	text = rt_str_skip(text, between.size);
	return rt_str_starts(text, op) && text.size > op.size && text.ptr[op.size] == '"';
}

rt_status
rt_record_read(const rt_alloc *alloc, rt_arena *arena, rt_str input, rt_record *out, rt_error *err)
{
	parse p = {.alloc = alloc, .arena = arena};
	rt_record record = {.kind = RT_RECORD_NOTE};
	rt_json_doc *doc = NULL;
	rt_error inner;
	rt_status st = rt_json_read(alloc, input, &doc, &inner);

	if (st != RT_OK && st != RT_NOMEM)
		return rt_fail(err, RT_CORRUPT, "a log row that is %s", inner.text);
	if (st == RT_OK)
		st = check_version(rt_json_root(doc), err);
	if (st == RT_OK)
		read_record(&p, rt_json_root(doc), &record);
	rt_json_free(doc);
	if (p.nomem || st == RT_NOMEM)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (p.bad)
		return rt_fail(err, RT_CORRUPT, "a log row in an unknown form");
	if (st == RT_OK)
		*out = record;
	return st;
}
