/* SPDX-License-Identifier: MIT
 *
 * Log rows to and from JSON. */
#include "codec/record.h"

#include "core/id.h"

/* The flags of a slot that a log keeps: all but those known from its time and role. So a bit
 * that a later version adds is not lost when this one goes on with its slots. */
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

/* A row being read: bad becomes true at the first thing that does not fit. */
typedef struct parse {
	const rt_alloc *alloc;
	rt_arena *arena;
	bool bad;
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
	char *ptr = rt_arena_get(p->arena, s.size + 1);

	if (ptr == NULL) {
		p->nomem = true;
		return rt_str_at("", 0);
	}
	if (s.size > 0)
		memcpy(ptr, s.ptr, s.size);
	ptr[s.size] = '\0';
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
	if (!yyjson_is_str(v)) {
		p->bad = true;
		return rt_str_at("", 0);
	}
	return keep(p, rt_json_str(v));
}

/* A value as JSON text; null is absent. */
static rt_str
json(parse *p, yyjson_val *v)
{
	rt_buf buf;
	rt_str kept;

	if (v == NULL)
		p->bad = true;
	if (v == NULL || yyjson_is_null(v))
		return rt_str_at(NULL, 0);
	rt_buf_init(&buf, p->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&buf, v);
	if (buf.status != RT_OK)
		p->nomem = true;
	kept = keep(p, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return kept;
}

static size_t
array(parse *p, yyjson_val *v)
{
	if (!yyjson_is_arr(v)) {
		p->bad = true;
		return 0;
	}
	return yyjson_arr_size(v);
}

static void
read_slot(parse *p, yyjson_val *v, rt_effect_slot *out)
{
	size_t count = array(p, v);
	yyjson_val *item = count >= 7 ? yyjson_arr_get_first(v) : NULL;
	uint32_t flags;

	if (item == NULL) {
		p->bad = true;
		return;
	}
	out->slot.entry = (uint32_t)number(p, item, UINT32_MAX - 2);
	item = unsafe_yyjson_get_next(item);
	out->slot.body = number(p, item, INT64_MAX);
	item = unsafe_yyjson_get_next(item);
	out->slot.size = (uint32_t)number(p, item, UINT32_MAX);
	item = unsafe_yyjson_get_next(item);
	if (yyjson_is_null(item))
		flags = RT_SLOT_NO_TS;
	else {
		flags = 0;
		if (!rt_json_i64(item, &out->slot.ts_us))
			p->bad = true;
	}
	item = unsafe_yyjson_get_next(item);
	out->role = text(p, item);
	item = unsafe_yyjson_get_next(item);
	out->kind = text(p, item);
	item = unsafe_yyjson_get_next(item);
	out->slot.flags = flags | (uint32_t)number(p, item, UINT32_MAX);
	if (count > 7) {
		item = unsafe_yyjson_get_next(item);
		out->id = text(p, item);
		p->bad = p->bad || out->id.size > RT_ID_MAX;
	}
}

static rt_effect_slot *
read_slots(parse *p, yyjson_val *v, size_t *out_count)
{
	size_t count = array(p, v), i, max;
	rt_effect_slot *slots = get(p, count, sizeof(*slots));
	yyjson_val *item;

	if (!ok(p))
		return NULL;
	yyjson_arr_foreach(v, i, max, item)
	{
		read_slot(p, item, &slots[i]);
	}
	*out_count = count;
	return slots;
}

static void
read_effect(parse *p, yyjson_val *v, rt_effect *out)
{
	size_t count = array(p, v);
	yyjson_val *a[9] = {NULL};
	yyjson_val *item;
	rt_str kind;
	size_t i, max;

	if (p->bad || count < 5 || count > 9) {
		p->bad = true;
		return;
	}
	yyjson_arr_foreach(v, i, max, item)
	{
		a[i] = item;
	}
	kind = rt_json_str(a[0]);
	out->disc = (uint32_t)number(p, a[1], UINT32_MAX);
	out->sub = (uint32_t)number(p, a[2], UINT32_MAX);
	if (rt_str_is(kind, "s") && count == 6) {
		out->kind = RT_EFFECT_SPLICE;
		out->at = number(p, a[3], INT64_MAX);
		out->removed = read_slots(p, a[4], &out->removed_count);
		out->added = read_slots(p, a[5], &out->added_count);
	} else if (rt_str_is(kind, "n") && count == 9) {
		out->kind = RT_EFFECT_NEW;
		out->from_disc = (uint32_t)number(p, a[3], UINT32_MAX);
		out->from_take = (uint32_t)number(p, a[4], UINT32_MAX);
		out->count = number(p, a[5], INT64_MAX);
		out->name = text(p, a[6]);
		out->take_name = text(p, a[7]);
		out->git_commit = text(p, a[8]);
	} else if (rt_str_is(kind, "f") && count == 7) {
		out->kind = RT_EFFECT_SET;
		out->key = text(p, a[3]);
		out->entry = (uint32_t)number(p, a[4], UINT32_MAX);
		out->before = json(p, a[5]);
		out->after = json(p, a[6]);
	} else {
		p->bad = true;
	}
}

static void
read_step(parse *p, yyjson_val *root, yyjson_val *fx, rt_record *out)
{
	yyjson_val *keeps = rt_json_get(root, "k"), *before = rt_json_get(root, "p"), *item;
	size_t i, max;

	out->kind = RT_RECORD_STEP;
	out->parent_count = array(p, before);
	out->parents = get(p, out->parent_count, sizeof(*out->parents));
	yyjson_arr_foreach(before, i, max, item)
	{
		if (ok(p)) {
			out->parents[i].disc = (uint32_t)number(p, yyjson_arr_get(item, 0),
								UINT32_MAX);
			out->parents[i].step = number(p, yyjson_arr_get(item, 1), INT64_MAX);
		}
	}
	out->effect_count = array(p, fx);
	out->effects = get(p, out->effect_count, sizeof(*out->effects));
	yyjson_arr_foreach(fx, i, max, item)
	{
		if (ok(p))
			read_effect(p, item, &out->effects[i]);
	}
	out->keeps_redo = keeps != NULL;
	if (keeps != NULL && number(p, keeps, 1) != 1)
		p->bad = true;
}

static void
read_move(parse *p, yyjson_val *v, bool is_last, rt_record_move *out)
{
	yyjson_val *discs = yyjson_arr_get(v, 2), *with = yyjson_arr_get(v, 3), *item;
	int64_t direction = 0;
	size_t i, max;

	out->step = number(p, yyjson_arr_get(v, 0), INT64_MAX);
	if (!rt_json_i64(yyjson_arr_get(v, 1), &direction) || (direction != 1 && direction != -1))
		p->bad = true;
	out->direction = (int)direction;
	if (with != NULL && (number(p, with, 1) != 1 || is_last))
		p->bad = true;
	out->with_next = with != NULL;
	out->disc_count = array(p, discs);
	out->discs = get(p, out->disc_count, sizeof(*out->discs));
	yyjson_arr_foreach(discs, i, max, item)
	{
		if (ok(p))
			out->discs[i] = (uint32_t)number(p, item, UINT32_MAX);
	}
}

static void
read_moves(parse *p, yyjson_val *root, yyjson_val *moves, rt_record *out)
{
	yyjson_val *before = rt_json_get(root, "r"), *item;
	size_t i, max;

	out->kind = RT_RECORD_MOVE;
	out->move_count = array(p, moves);
	out->moves = get(p, out->move_count, sizeof(*out->moves));
	yyjson_arr_foreach(moves, i, max, item)
	{
		if (ok(p))
			read_move(p, item, i + 1 == out->move_count, &out->moves[i]);
	}
	out->redo_count = array(p, before);
	out->redos = get(p, out->redo_count, sizeof(*out->redos));
	yyjson_arr_foreach(before, i, max, item)
	{
		rt_record_redo *redo;

		if (!ok(p))
			return;
		redo = &out->redos[i];
		redo->disc = (uint32_t)number(p, yyjson_arr_get(item, 0), UINT32_MAX);
		redo->row = number(p, yyjson_arr_get(item, 1), INT64_MAX);
		redo->move = (uint32_t)number(p, yyjson_arr_get(item, 2), UINT32_MAX);
	}
}

static void
read_views(parse *p, yyjson_val *v, rt_record *out)
{
	yyjson_val *item;
	size_t i, max;

	out->view_count = array(p, v);
	out->views = get(p, out->view_count, sizeof(*out->views));
	yyjson_arr_foreach(v, i, max, item)
	{
		if (!ok(p))
			return;
		out->views[i].entry = (uint32_t)number(p, yyjson_arr_get(item, 0), UINT32_MAX);
		out->views[i].flags = (unsigned)number(p, yyjson_arr_get(item, 1), 255);
	}
}

static void
read_record(parse *p, yyjson_val *root, rt_record *out)
{
	yyjson_val *group = rt_json_get(root, "g"), *fx = rt_json_get(root, "fx");
	yyjson_val *moves = rt_json_get(root, "m"), *view = rt_json_get(root, "view");
	yyjson_val *extra = rt_json_get(root, "x");

	out->op = text(p, rt_json_get(root, "op"));
	out->by = text(p, rt_json_get(root, "by"));
	out->disc = (uint32_t)number(p, rt_json_get(root, "d"), UINT32_MAX);
	if (group != NULL) {
		out->group = number(p, yyjson_arr_get(group, 0), INT64_MAX);
		out->group_discs = (uint32_t)number(p, yyjson_arr_get(group, 1), UINT32_MAX);
	}
	if (fx != NULL)
		read_step(p, root, fx, out);
	else if (moves != NULL)
		read_moves(p, root, moves, out);
	else
		out->kind = view != NULL ? RT_RECORD_VIEW : RT_RECORD_NOTE;
	if (view != NULL)
		read_views(p, view, out);
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
		"a log row needs a Retake that knows effects of version %llu; this one knows %d",
		(unsigned long long)version, (int)RT_RECORD_VERSION);
}

rt_status
rt_record_read(const rt_alloc *alloc, rt_arena *arena, rt_str input, rt_record *out, rt_error *err)
{
	parse p = {.alloc = alloc, .arena = arena};
	rt_json_doc *doc = NULL;
	rt_record record = {.kind = RT_RECORD_NOTE};
	rt_error inner;
	rt_status st = rt_json_read(alloc, input, &doc, &inner);

	if (st == RT_NOMEM)
		return rt_fail(err, st, "out of memory");
	if (st != RT_OK)
		return rt_fail(err, RT_CORRUPT, "a log row that is %s", inner.text);
	st = check_version(rt_json_root(doc), err);
	if (st == RT_OK)
		read_record(&p, rt_json_root(doc), &record);
	rt_json_free(doc);
	if (st != RT_OK)
		return st;
	if (p.nomem)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (p.bad)
		return rt_fail(err, RT_CORRUPT, "a log row that does not have its form");
	*out = record;
	return RT_OK;
}
