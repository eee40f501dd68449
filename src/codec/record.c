/* SPDX-License-Identifier: MIT
 *
 * Log rows to and from JSON. */
#include "codec/record.h"

#include "core/id.h"

/* What of a slot's flags a log keeps: all but what is known from its time and role. So a bit
 * that a later version adds is not lost when this one goes on with its slots. */
#define RECORD_FLAGS (~(uint32_t)(RT_SLOT_NO_TS | RT_SLOT_TURN))

/* ---- writing ---- */

static void
add_number(rt_buf *buf, uint64_t number)
{
	rt_json_add_comma(buf);
	rt_buf_add_u64(buf, number);
}

static void
add_text(rt_buf *buf, rt_str s)
{
	rt_json_add_comma(buf);
	rt_json_add_string(buf, s);
}

static void
add_json(rt_buf *buf, rt_str json)
{
	rt_json_add_comma(buf);
	if (json.ptr == NULL)
		rt_buf_add(buf, "null", 4);
	else
		rt_buf_add_str(buf, json);
}

static void
add_slots(rt_buf *buf, const rt_effect_slot *slots, size_t count)
{
	size_t i;

	rt_buf_add(buf, ",[", 2);
	for (i = 0; i < count; i++) {
		const rt_effect_slot *s = &slots[i];
		uint32_t flags = s->slot.flags & RECORD_FLAGS;

		rt_buf_add(buf, i > 0 ? ",[" : "[", i > 0 ? 2 : 1);
		rt_buf_add_u64(buf, s->slot.entry);
		add_number(buf, s->slot.body);
		add_number(buf, s->slot.size);
		rt_buf_add_byte(buf, ',');
		if ((s->slot.flags & RT_SLOT_NO_TS) != 0)
			rt_buf_add(buf, "null", 4);
		else
			rt_buf_add_i64(buf, s->slot.ts_us);
		add_text(buf, s->role);
		add_text(buf, s->kind);
		add_number(buf, flags);
		if (s->id.size > 0)
			add_text(buf, s->id);
		rt_buf_add_byte(buf, ']');
	}
	rt_buf_add_byte(buf, ']');
}

static void
add_effect(rt_buf *buf, const rt_effect *e)
{
	rt_json_add_comma(buf);
	switch (e->kind) {
	case RT_EFFECT_SPLICE:
		rt_buf_add_c(buf, "[\"s\"");
		add_number(buf, e->disc);
		add_number(buf, e->sub);
		add_number(buf, e->at);
		add_slots(buf, e->removed, e->removed_count);
		add_slots(buf, e->added, e->added_count);
		break;
	case RT_EFFECT_NEW:
		rt_buf_add_c(buf, "[\"n\"");
		add_number(buf, e->disc);
		add_number(buf, e->sub);
		add_number(buf, e->from_disc);
		add_number(buf, e->from_take);
		add_number(buf, e->count);
		add_text(buf, e->name);
		add_text(buf, e->take_name);
		add_text(buf, e->git_commit);
		break;
	case RT_EFFECT_SET:
		rt_buf_add_c(buf, "[\"f\"");
		add_number(buf, e->disc);
		add_number(buf, e->sub);
		add_text(buf, e->key);
		add_number(buf, e->entry);
		add_json(buf, e->before);
		add_json(buf, e->after);
		break;
	}
	rt_buf_add_byte(buf, ']');
}

static void
add_views(rt_buf *buf, const rt_record *record)
{
	size_t i;

	rt_json_add_key(buf, "view");
	rt_buf_add_byte(buf, '[');
	for (i = 0; i < record->view_count; i++) {
		rt_buf_add_c(buf, i > 0 ? ",[" : "[");
		rt_buf_add_u64(buf, record->views[i].entry);
		add_number(buf, record->views[i].flags);
		rt_buf_add_byte(buf, ']');
	}
	rt_buf_add_byte(buf, ']');
}

void
rt_record_write(rt_buf *buf, const rt_record *record)
{
	size_t i, j;

	rt_buf_add_c(buf, record->keeps_redo ? "{\"v\":2" : "{\"v\":1");
	rt_json_add_key(buf, "op");
	rt_json_add_string(buf, record->op);
	rt_json_add_key(buf, "by");
	rt_json_add_string(buf, record->by);
	rt_json_add_key(buf, "d");
	rt_buf_add_u64(buf, record->disc);
	if (record->group != 0) {
		rt_json_add_key(buf, "g");
		rt_buf_add_byte(buf, '[');
		rt_buf_add_u64(buf, record->group);
		add_number(buf, record->group_discs);
		rt_buf_add_byte(buf, ']');
	}
	switch (record->kind) {
	case RT_RECORD_STEP:
		rt_json_add_key(buf, "p");
		rt_buf_add_byte(buf, '[');
		for (i = 0; i < record->parent_count; i++) {
			rt_buf_add_c(buf, i > 0 ? ",[" : "[");
			rt_buf_add_u64(buf, record->parents[i].disc);
			add_number(buf, record->parents[i].step);
			rt_buf_add_byte(buf, ']');
		}
		rt_buf_add_byte(buf, ']');
		rt_json_add_key(buf, "fx");
		rt_buf_add_byte(buf, '[');
		for (i = 0; i < record->effect_count; i++)
			add_effect(buf, &record->effects[i]);
		rt_buf_add_byte(buf, ']');
		if (record->keeps_redo)
			rt_buf_add_c(buf, ",\"k\":1");
		if (record->view_count > 0)
			add_views(buf, record);
		break;
	case RT_RECORD_MOVE:
		rt_json_add_key(buf, "m");
		rt_buf_add_byte(buf, '[');
		for (i = 0; i < record->move_count; i++) {
			rt_buf_add_c(buf, i > 0 ? ",[" : "[");
			rt_buf_add_u64(buf, record->moves[i].step);
			rt_buf_add_c(buf, record->moves[i].direction < 0 ? ",-1,[" : ",1,[");
			for (j = 0; j < record->moves[i].disc_count; j++)
				add_number(buf, record->moves[i].discs[j]);
			rt_buf_add_c(buf, record->moves[i].with_next ? "],1]" : "]]");
		}
		rt_buf_add_byte(buf, ']');
		rt_json_add_key(buf, "r");
		rt_buf_add_byte(buf, '[');
		for (i = 0; i < record->redo_count; i++) {
			rt_buf_add_c(buf, i > 0 ? ",[" : "[");
			rt_buf_add_u64(buf, record->redos[i].disc);
			add_number(buf, record->redos[i].row);
			add_number(buf, record->redos[i].move);
			rt_buf_add_byte(buf, ']');
		}
		rt_buf_add_byte(buf, ']');
		break;
	case RT_RECORD_VIEW: add_views(buf, record); break;
	case RT_RECORD_NOTE: break;
	}
	if (record->extra.size > 0) {
		rt_json_add_key(buf, "x");
		rt_buf_add_str(buf, record->extra);
	}
	rt_buf_add_byte(buf, '}');
}

/* ---- reading ---- */

/* What is being read: bad turns true at the first thing that does not fit. */
typedef struct parse {
	const rt_alloc *alloc;
	rt_arena *arena;
	bool bad;
	bool nomem;
} parse;

static void *
get(parse *p, size_t count, size_t size)
{
	void *ptr;

	if (count > SIZE_MAX / size) {
		p->nomem = true;
		return NULL;
	}
	ptr = rt_arena_get(p->arena, count * size + 1);
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

	*out_count = 0;
	if (slots == NULL || p->bad)
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
	rt_str kind;
	size_t i, max;
	yyjson_val *item;

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
read_step(parse *p, yyjson_val *parents, yyjson_val *effects, rt_record *out)
{
	yyjson_val *item;
	size_t i, max;

	out->kind = RT_RECORD_STEP;
	out->parent_count = array(p, parents);
	out->parents = get(p, out->parent_count, sizeof(*out->parents));
	out->effect_count = array(p, effects);
	out->effects = get(p, out->effect_count, sizeof(*out->effects));
	if (p->bad || p->nomem)
		return;
	yyjson_arr_foreach(parents, i, max, item)
	{
		out->parents[i].disc = (uint32_t)number(p, yyjson_arr_get(item, 0), UINT32_MAX);
		out->parents[i].step = number(p, yyjson_arr_get(item, 1), INT64_MAX);
	}
	yyjson_arr_foreach(effects, i, max, item)
	{
		read_effect(p, item, &out->effects[i]);
		if (p->bad || p->nomem)
			return;
	}
}

static void
read_moves(parse *p, yyjson_val *moves, yyjson_val *redos, rt_record *out)
{
	yyjson_val *item, *inner;
	size_t i, j, max, inner_max;

	out->kind = RT_RECORD_MOVE;
	out->move_count = array(p, moves);
	out->moves = get(p, out->move_count, sizeof(*out->moves));
	out->redo_count = array(p, redos);
	out->redos = get(p, out->redo_count, sizeof(*out->redos));
	if (p->bad || p->nomem)
		return;
	yyjson_arr_foreach(moves, i, max, item)
	{
		rt_record_move *m = &out->moves[i];
		int64_t direction = 0;
		yyjson_val *discs = yyjson_arr_get(item, 2), *with = yyjson_arr_get(item, 3);

		m->step = number(p, yyjson_arr_get(item, 0), INT64_MAX);
		if (!rt_json_i64(yyjson_arr_get(item, 1), &direction) ||
		    (direction != 1 && direction != -1))
			p->bad = true;
		m->direction = (int)direction;
		if (with != NULL && (number(p, with, 1) != 1 || i + 1 == out->move_count))
			p->bad = true;
		m->with_next = with != NULL;
		m->disc_count = array(p, discs);
		m->discs = get(p, m->disc_count, sizeof(*m->discs));
		if (p->bad || p->nomem)
			return;
		yyjson_arr_foreach(discs, j, inner_max, inner)
		{
			m->discs[j] = (uint32_t)number(p, inner, UINT32_MAX);
		}
	}
	yyjson_arr_foreach(redos, i, max, item)
	{
		out->redos[i].disc = (uint32_t)number(p, yyjson_arr_get(item, 0), UINT32_MAX);
		out->redos[i].row = number(p, yyjson_arr_get(item, 1), INT64_MAX);
		out->redos[i].move = (uint32_t)number(p, yyjson_arr_get(item, 2), UINT32_MAX);
	}
}

static void
read_views(parse *p, yyjson_val *v, rt_record *out)
{
	yyjson_val *item;
	size_t i, max;

	out->view_count = array(p, v);
	out->views = get(p, out->view_count, sizeof(*out->views));
	if (p->bad || p->nomem)
		return;
	yyjson_arr_foreach(v, i, max, item)
	{
		out->views[i].entry = (uint32_t)number(p, yyjson_arr_get(item, 0), UINT32_MAX);
		out->views[i].flags = (unsigned)number(p, yyjson_arr_get(item, 1), 255);
	}
}

rt_status
rt_record_read(const rt_alloc *alloc, rt_arena *arena, rt_str input, rt_record *out, rt_error *err)
{
	parse p = {alloc, arena, false, false};
	rt_json_doc *doc = NULL;
	rt_record record;
	yyjson_val *root, *v;
	rt_error inner;
	uint64_t version;
	rt_status st = rt_json_read(alloc, input, &doc, &inner);

	if (st == RT_NOMEM)
		return rt_fail(err, st, "out of memory");
	if (st != RT_OK)
		return rt_fail(err, RT_CORRUPT, "a log row that is %s", inner.text);
	memset(&record, 0, sizeof(record));
	root = rt_json_root(doc);
	if (!rt_json_u64(rt_json_get(root, "v"), &version)) {
		rt_json_free(doc);
		return rt_fail(err, RT_CORRUPT, "a log row without a version");
	}
	if (version > RT_RECORD_VERSION) {
		rt_json_free(doc);
		return rt_fail(err, RT_TOO_NEW,
			       "a log row needs a Retake that knows effects of version %llu; this "
			       "one knows %d",
			       (unsigned long long)version, (int)RT_RECORD_VERSION);
	}
	record.op = text(&p, rt_json_get(root, "op"));
	record.by = text(&p, rt_json_get(root, "by"));
	record.disc = (uint32_t)number(&p, rt_json_get(root, "d"), UINT32_MAX);
	if ((v = rt_json_get(root, "g")) != NULL) {
		record.group = number(&p, yyjson_arr_get(v, 0), INT64_MAX);
		record.group_discs = (uint32_t)number(&p, yyjson_arr_get(v, 1), UINT32_MAX);
	}
	if ((v = rt_json_get(root, "fx")) != NULL) {
		read_step(&p, rt_json_get(root, "p"), v, &record);
		v = rt_json_get(root, "k");
		record.keeps_redo = v != NULL;
		if (v != NULL && number(&p, v, 1) != 1)
			p.bad = true;
	} else if ((v = rt_json_get(root, "m")) != NULL) {
		read_moves(&p, v, rt_json_get(root, "r"), &record);
	} else if (rt_json_get(root, "view") != NULL) {
		record.kind = RT_RECORD_VIEW;
	} else {
		record.kind = RT_RECORD_NOTE;
	}
	v = rt_json_get(root, "view");
	if (v != NULL)
		read_views(&p, v, &record);
	v = rt_json_get(root, "x");
	if (v != NULL)
		record.extra = json(&p, v);
	rt_json_free(doc);
	if (p.nomem)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (p.bad)
		return rt_fail(err, RT_CORRUPT, "a log row that does not have its form");
	*out = record;
	return RT_OK;
}
