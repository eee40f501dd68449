/* SPDX-License-Identifier: MIT
 *
 * Masks: log rows without the purged text.
 *
 * A string that holds the text is replaced as a whole by one of the same length (64 bytes at
 * most): the same mask wherever the string occurred, and different from every other. So the rows
 * stay consistent, and different names and ids stay different. Masks consist of capitals and digits
 * and therefore are no generated ids. Words of Retake's grammar ("User", "compaction",
 * "setting.model") are no secrets and stay. */
#include "log/purge_impl.h"

static void
close_strs(void *strs)
{
	rt_strs_free(strs);
}

static rt_strs *
new_strs(rt_scope *s, const rt_seq_source *source)
{
	rt_strs *strs = NULL;

	if (RT_TRY(s, rt_strs_new(s->alloc, source, &strs)) == RT_OK)
		rt_scope_defer(s, close_strs, strs);
	return strs;
}

void
rt_purge_mask_init(rt_purge_mask *m, rt_scope *scope, const rt_seq_source *source,
		   const rt_needle *needle)
{
	size_t i = 0;

	*m = (rt_purge_mask){.scope = scope, .needle = needle};
	while (i < needle->text.size && needle->text.ptr[i] == 'X')
		i++;
	m->filler = i == needle->text.size ? 'Z' : 'X';
	m->from = new_strs(scope, source);
	m->used = new_strs(scope, source);
}

void
rt_purge_mask_learn(rt_purge_mask *m, rt_str row)
{
	size_t at = 0;
	rt_purge_token t;

	while (rt_ok(m->scope) && memchr(row.ptr + at, m->filler, row.size - at) != NULL &&
	       rt_purge_token_next(row, at, &t)) {
		uint32_t number;

		at = t.to;
		if (t.is_string && t.inside.size > 0 && t.inside.size <= RT_PURGE_MASK_MAX &&
		    t.inside.ptr[0] == m->filler)
			RT_TRY(m->scope, rt_strs_intern(m->used, t.inside, &number, &m->scope->error));
	}
}

/* Number n in digits, filled up on the left. false: it does not fit. */
static bool
write_mask(char *out, size_t size, char filler, uint64_t n)
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

/* A new mask for s, in m->scope. */
static rt_str
new_mask(rt_purge_mask *m, rt_str s)
{
	char text[RT_PURGE_MASK_MAX];
	rt_str mask = rt_str_at(text, s.size < RT_PURGE_MASK_MAX ? s.size : RT_PURGE_MASK_MAX);
	uint32_t number = 0, used = 1;
	rt_scope *scope = m->scope;

	while (used != 0 && rt_ok(scope)) {
		if (!write_mask(text, mask.size, m->filler, m->next[mask.size]++)) {
			memset(text, m->filler, mask.size); /* all short ones are used up */
			break;
		}
		if (rt_str_find(mask, m->needle->text, 0) == SIZE_MAX)
			RT_TRY(scope, rt_strs_find(m->used, mask, &used, &scope->error));
	}
	RT_TRY(scope, rt_strs_intern(m->used, mask, &used, &scope->error));
	RT_TRY(scope, rt_strs_intern(m->from, s, &number, &scope->error));
	rt_str *to = rt_scope_grow(scope, m->to, number == 0 ? 0 : number - 1, &m->to_capacity,
				   sizeof(*to));
	if (to == NULL)
		return RT_STR("");
	m->to = to;
	return m->to[number - 1] = rt_scope_copy(scope, mask);
}

/* The mask of s. */
static rt_str
mask_of(rt_purge_mask *m, rt_str s)
{
	uint32_t number = 0;
	rt_str mask;

	RT_TRY(m->scope, rt_strs_find(m->from, s, &number, &m->scope->error));
	mask = number != 0 ? m->to[number - 1] : new_mask(m, s);
	rt_scope_note(m->row, m->scope->status);
	return mask;
}

/* ---- strings of a record; each function says whether it changed something ---- */

static bool
mask_str(rt_purge_mask *m, rt_str *s)
{
	if (s->size == 0 || !rt_needle_in(m->needle, *s) || rt_purge_is_word(*s))
		return false;
	*s = mask_of(m, *s);
	return true;
}

static bool mask_json(rt_purge_mask *m, rt_str in, int nesting, rt_buf *out);

/* One string of JSON text that holds the needle, decoded. */
static void
mask_decoded(rt_purge_mask *m, rt_str s, int nesting, rt_buf *out)
{
	rt_json_doc *doc = NULL;

	/* JSON within a string keeps its form, such as the header of another file. */
	if (nesting < RT_PURGE_NESTING_MAX && (s.ptr[0] == '{' || s.ptr[0] == '[') &&
	    rt_json_read(m->row->alloc, s, &doc, NULL) == RT_OK) {
		rt_buf *inner = rt_scope_buf(m->row);

		rt_json_free(doc);
		if (mask_json(m, s, nesting + 1, inner) &&
		    !rt_needle_in(m->needle, rt_buf_str(inner))) {
			rt_json_add_string(out, rt_scope_str(m->row, inner));
			return;
		}
	}
	rt_json_add_string(out, mask_of(m, s));
}

static bool
mask_json(rt_purge_mask *m, rt_str in, int nesting, rt_buf *out)
{
	rt_buf *plain = rt_scope_buf(m->row);
	size_t at = 0;
	rt_purge_token t;
	bool changed = false;

	for (; rt_ok(m->row) && rt_purge_token_next(in, at, &t); at = t.to) {
		rt_buf_add(out, in.ptr + at, t.from - at);
		if (!t.is_string && rt_str_eq(t.inside, m->needle->text)) {
			changed = true;
			rt_buf_add_byte(out, '0');
		} else if (!t.is_string || !rt_needle_in(m->needle, t.inside) ||
			   rt_purge_is_word(t.inside)) {
			rt_buf_add(out, in.ptr + t.from, t.to - t.from);
		} else {
			changed = true;
			rt_buf_clear(plain);
			rt_purge_unescape(plain, t.inside);
			rt_str decoded = rt_scope_str(m->row, plain);
			if (rt_ok(m->row))
				mask_decoded(m, decoded, nesting, out);
		}
	}
	rt_buf_add(out, in.ptr + at, in.size - at);
	return changed;
}

/* JSON text: the value of a field, or unknown fields of an operation. */
static bool
mask_value(rt_purge_mask *m, rt_str *json)
{
	rt_buf *out = rt_scope_buf(m->row);

	if (json->size == 0 || !mask_json(m, *json, 0, out))
		return false;
	*json = rt_scope_str(m->row, out);
	return true;
}

/* The name of a field: the part of it that people chose. */
static bool
mask_key(rt_purge_mask *m, rt_str *key)
{
	rt_str prefix = RT_STR("setting.");

	if (!rt_str_starts(*key, prefix))
		return mask_str(m, key);
	rt_str rest = rt_str_at(key->ptr + prefix.size, key->size - prefix.size);
	if (rest.size == 0 || rt_purge_is_word(rest) || !rt_needle_in(m->needle, *key) ||
	    (!rt_needle_in(m->needle, rest) && rt_needle_in(m->needle, prefix)))
		return false;
	rt_buf *out = rt_scope_buf(m->row);
	rt_buf_add_str(out, prefix);
	rt_buf_add_str(out, mask_of(m, rest));
	*key = rt_scope_str(m->row, out);
	return true;
}

static bool
mask_slots(rt_purge_mask *m, rt_effect_slot *slots, size_t count)
{
	bool changed = false;

	for (size_t i = 0; i < count; i++) {
		changed |= mask_str(m, &slots[i].role);
		changed |= mask_str(m, &slots[i].kind);
		changed |= mask_str(m, &slots[i].id);
	}
	return changed;
}

static bool
mask_effect(rt_purge_mask *m, rt_effect *e)
{
	bool changed = false;

	if (e->kind == RT_EFFECT_SPLICE) {
		changed |= mask_slots(m, e->removed, e->removed_count);
		changed |= mask_slots(m, e->added, e->added_count);
	} else if (e->kind == RT_EFFECT_NEW) {
		changed |= mask_str(m, &e->name);
		changed |= mask_str(m, &e->take_name);
		changed |= mask_str(m, &e->git_commit);
	} else if (!rt_str_is(e->key, "active") && !rt_str_is(e->key, "head") &&
		   !rt_str_is(e->key, "present")) { /* whose values belong to our grammar */
		changed |= mask_key(m, &e->key);
		changed |= mask_value(m, &e->before);
		changed |= mask_value(m, &e->after);
	}
	return changed;
}

bool
rt_purge_mask_record(rt_purge_mask *m, rt_scope *row, rt_record *record)
{
	bool changed = false;

	m->row = row;
	changed |= mask_str(m, &record->by);
	changed |= mask_value(m, &record->extra);
	for (size_t i = 0; rt_ok(row) && i < record->effect_count; i++)
		changed |= mask_effect(m, &record->effects[i]);
	rt_scope_note(row, m->scope->status); /* of the needle */
	return changed;
}
