/* SPDX-License-Identifier: MIT
 *
 * Masks: log rows without what is to go.
 *
 * A string that holds it is replaced as a whole, by another as long (64 bytes at most),
 * the same one wherever the old one stood and different from every other: so the rows
 * still fit each other, and names and ids still tell things apart. Masks are of capitals
 * and digits, so that they are no generated ids. Words that Retake itself knows ("User",
 * "compaction", "setting.model") are grammar, not secrets, and stay. */
#include "log/purge_impl.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while purging");
}

rt_status
rt_mask_init(rt_mask *m, const rt_alloc *alloc, const rt_seq_source *source, rt_arena *arena,
	     rt_needle *needle)
{
	size_t i;
	rt_status st;

	memset(m, 0, sizeof(*m));
	m->alloc = alloc;
	m->arena = arena;
	m->needle = needle;
	for (i = 0; i < needle->text.size && needle->text.ptr[i] == 'X'; i++)
		;
	m->filler = i == needle->text.size ? 'Z' : 'X';
	st = rt_strs_new(alloc, source, &m->from);
	if (st == RT_OK)
		st = rt_strs_new(alloc, source, &m->taken);
	return st;
}

void
rt_mask_deinit(rt_mask *m)
{
	rt_strs_free(m->from);
	rt_strs_free(m->taken);
	rt_free(m->alloc, m->to);
	memset(m, 0, sizeof(*m));
}

rt_status
rt_mask_learn(rt_mask *m, rt_str row)
{
	size_t at = 0;
	rt_purge_token t;

	while (memchr(row.ptr + at, m->filler, row.size - at) != NULL &&
	       rt_purge_token_next(row, at, &t)) {
		rt_str inside = rt_purge_token_inside(row, &t);
		uint32_t number;
		rt_status st;

		at = t.to;
		if (!t.is_string || inside.size == 0 || inside.size > RT_MASK_MAX ||
		    inside.ptr[0] != m->filler)
			continue;
		st = rt_strs_intern(m->taken, inside, &number, NULL);
		if (st != RT_OK)
			return st;
	}
	return RT_OK;
}

static rt_status
keep(rt_mask *m, rt_str s, rt_str *out, rt_error *err)
{
	char *copy = rt_arena_get(m->arena, s.size + 1);

	if (copy == NULL)
		return nomem(err);
	if (s.size > 0)
		memcpy(copy, s.ptr, s.size);
	copy[s.size] = '\0';
	*out = rt_str_at(copy, s.size);
	return RT_OK;
}

/* Number n in digits behind filler; false: it does not fit. */
static bool
mask_write(char *out, size_t size, char filler, uint64_t n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t at = size;

	memset(out, filler, size);
	while (n > 0 && at > 0) {
		out[--at] = digits[n % 36];
		n /= 36;
	}
	return n == 0;
}

/* What stands for s from now on. */
static rt_status
mask_of(rt_mask *m, rt_str s, rt_str *out, rt_error *err)
{
	char text[RT_MASK_MAX];
	size_t size = s.size < RT_MASK_MAX ? s.size : RT_MASK_MAX;
	uint32_t number = 0, used = 1;
	rt_status st = rt_strs_find(m->from, s, &number, err);

	if (st != RT_OK)
		return st;
	if (number != 0) {
		*out = m->to[number - 1];
		return RT_OK;
	}
	while (used != 0 && st == RT_OK) {
		if (!mask_write(text, size, m->filler, m->next[size]++)) {
			memset(text, m->filler, size); /* all short ones are used up */
			break;
		}
		if (rt_str_find(rt_str_at(text, size), m->needle->text, 0) != SIZE_MAX)
			continue;
		st = rt_strs_find(m->taken, rt_str_at(text, size), &used, err);
	}
	if (st == RT_OK)
		st = rt_strs_intern(m->taken, rt_str_at(text, size), &used, err);
	if (st == RT_OK)
		st = rt_strs_intern(m->from, s, &number, err);
	if (st != RT_OK)
		return st;
	if (number > m->room) {
		size_t room = m->room == 0 ? 64 : m->room * 2;
		rt_str *masks = rt_resize(m->alloc, m->to, room * sizeof(*masks));

		if (masks == NULL)
			return nomem(err);
		m->to = masks;
		m->room = room;
	}
	st = keep(m, rt_str_at(text, size), &m->to[number - 1], err);
	if (st == RT_OK)
		*out = m->to[number - 1];
	return st;
}

/* A string that is not JSON. */
static rt_status
mask_str(rt_mask *m, rt_str *s, bool *changed, rt_error *err)
{
	if (s->size == 0 || !rt_needle_in(m->needle, *s) || rt_purge_is_word(*s))
		return RT_OK;
	*changed = true;
	return mask_of(m, *s, s, err);
}

static rt_status mask_json(rt_mask *m, rt_str in, int nesting, rt_buf *out, bool *changed,
			   rt_error *err);

/* One string of JSON text that holds the needle, decoded. */
static rt_status
mask_decoded(rt_mask *m, rt_str s, int nesting, rt_buf *out, rt_error *err)
{
	bool inner_changed = false;
	rt_json_doc *doc = NULL;
	rt_str mask;
	rt_status st;

	/* JSON within a string keeps its form: a header of another file, say */
	if (nesting < RT_PURGE_NESTING_MAX && (s.ptr[0] == '{' || s.ptr[0] == '[') &&
	    rt_json_read(m->alloc, s, &doc, NULL) == RT_OK) {
		rt_buf inner;

		rt_json_free(doc);
		rt_buf_init(&inner, m->alloc, RT_BUF_UNLIMITED);
		st = mask_json(m, s, nesting + 1, &inner, &inner_changed, err);
		if (st == RT_OK && inner_changed && !rt_needle_in(m->needle, rt_buf_str(&inner))) {
			rt_json_add_string(out, rt_buf_str(&inner));
			rt_buf_deinit(&inner);
			return RT_OK;
		}
		rt_buf_deinit(&inner);
		if (st != RT_OK)
			return st;
	}
	st = mask_of(m, s, &mask, err);
	if (st == RT_OK)
		rt_json_add_string(out, mask);
	return st;
}

/* JSON text with every string that holds the needle replaced. */
static rt_status
mask_json(rt_mask *m, rt_str in, int nesting, rt_buf *out, bool *changed, rt_error *err)
{
	size_t at = 0;
	rt_purge_token t;
	rt_buf plain;
	rt_status st = RT_OK;

	rt_buf_init(&plain, m->alloc, RT_BUF_UNLIMITED);
	for (; st == RT_OK && rt_purge_token_next(in, at, &t); at = t.to) {
		rt_str inside = rt_purge_token_inside(in, &t);

		rt_buf_add(out, in.ptr + at, t.from - at);
		if (!t.is_string && rt_str_eq(inside, m->needle->text)) {
			*changed = true;
			rt_buf_add_byte(out, '0');
			continue;
		}
		if (!t.is_string || !rt_needle_in(m->needle, inside) || rt_purge_is_word(inside)) {
			rt_buf_add(out, in.ptr + t.from, t.to - t.from);
			continue;
		}
		*changed = true;
		rt_buf_clear(&plain);
		rt_purge_unescape(&plain, inside);
		st = plain.status != RT_OK ? nomem(err)
					   : mask_decoded(m, rt_buf_str(&plain), nesting, out, err);
	}
	rt_buf_add(out, in.ptr + at, in.size - at);
	rt_buf_deinit(&plain);
	return st == RT_OK && out->status != RT_OK ? nomem(err) : st;
}

/* A field's value, or what a log keeps for others. */
static rt_status
mask_value(rt_mask *m, rt_str *json, bool *changed, rt_error *err)
{
	bool here = false;
	rt_buf out;
	rt_status st;

	if (json->size == 0)
		return RT_OK;
	rt_buf_init(&out, m->alloc, RT_BUF_UNLIMITED);
	st = mask_json(m, *json, 0, &out, &here, err);
	if (st == RT_OK && here) {
		*changed = true;
		st = keep(m, rt_buf_str(&out), json, err);
	}
	rt_buf_deinit(&out);
	return st;
}

/* The name of a field: what people chose of it. */
static rt_status
mask_key(rt_mask *m, rt_str *key, bool *changed, rt_error *err)
{
	rt_str prefix = RT_STR("setting."), rest;
	rt_buf out;
	rt_status st;

	if (!rt_str_starts(*key, prefix))
		return mask_str(m, key, changed, err);
	rest = rt_str_at(key->ptr + prefix.size, key->size - prefix.size);
	if (rest.size == 0 || rt_purge_is_word(rest) || !rt_needle_in(m->needle, *key) ||
	    (!rt_needle_in(m->needle, rest) && rt_needle_in(m->needle, prefix)))
		return RT_OK;
	*changed = true;
	st = mask_of(m, rest, &rest, err);
	rt_buf_init(&out, m->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&out, prefix);
	rt_buf_add_str(&out, rest);
	if (st == RT_OK)
		st = out.status == RT_OK ? keep(m, rt_buf_str(&out), key, err) : nomem(err);
	rt_buf_deinit(&out);
	return st;
}

static rt_status
mask_slots(rt_mask *m, rt_effect_slot *slots, size_t count, bool *changed, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < count; i++) {
		st = mask_str(m, &slots[i].role, changed, err);
		if (st == RT_OK)
			st = mask_str(m, &slots[i].kind, changed, err);
		if (st == RT_OK)
			st = mask_str(m, &slots[i].id, changed, err);
	}
	return st;
}

static rt_status
mask_effect(rt_mask *m, rt_effect *e, bool *changed, rt_error *err)
{
	rt_status st = RT_OK;

	switch (e->kind) {
	case RT_EFFECT_SPLICE:
		st = mask_slots(m, e->removed, e->removed_count, changed, err);
		if (st == RT_OK)
			st = mask_slots(m, e->added, e->added_count, changed, err);
		break;
	case RT_EFFECT_NEW:
		st = mask_str(m, &e->name, changed, err);
		if (st == RT_OK)
			st = mask_str(m, &e->take_name, changed, err);
		if (st == RT_OK)
			st = mask_str(m, &e->git_commit, changed, err);
		break;
	case RT_EFFECT_SET:
		if (rt_str_is(e->key, "active") || rt_str_is(e->key, "head") ||
		    rt_str_is(e->key, "present"))
			break; /* numbers of ours */
		st = mask_key(m, &e->key, changed, err);
		if (st == RT_OK)
			st = mask_value(m, &e->before, changed, err);
		if (st == RT_OK)
			st = mask_value(m, &e->after, changed, err);
		break;
	}
	return st;
}

rt_status
rt_mask_record(rt_mask *m, rt_record *record, bool *out_changed, rt_error *err)
{
	size_t i;
	rt_status st;

	*out_changed = false;
	st = mask_str(m, &record->by, out_changed, err);
	if (st == RT_OK)
		st = mask_value(m, &record->extra, out_changed, err);
	for (i = 0; st == RT_OK && i < record->effect_count; i++)
		st = mask_effect(m, &record->effects[i], out_changed, err);
	return st == RT_OK && m->needle->nomem ? nomem(err) : st;
}
