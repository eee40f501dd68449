/* SPDX-License-Identifier: MIT
 *
 * Ids, and entries to their parents.
 *
 * A walk up marks what it passes, so that meeting a mark of the same walk is a cycle; a second
 * walk over the same way settles it. Every entry is walked over at most twice. */
#include "base/encode.h"
#include "base/hash.h"
#include "formats/pi_impl.h"

enum { ID_SIZE = 8, UUID_SIZE = 36 };

void
rt_pi_fresh_init(rt_pi_fresh *fresh, const rt_env *env, rt_str seed)
{
	fresh->env = env;
	fresh->state = rt_hash(seed.ptr, seed.size, 0x7069);
}

static void
fresh_bytes(rt_pi_fresh *fresh, unsigned char *to, size_t size)
{
	if (fresh->env != NULL) {
		fresh->env->random(fresh->env->ctx, to, size);
		return;
	}
	for (size_t i = 0; i < size; i++) {
		if (i % 8 == 0)
			fresh->state += 0x9E3779B97F4A7C15u;
		to[i] = (unsigned char)(rt_hash_u64(fresh->state) >> (i % 8 * 8));
	}
}

rt_str
rt_pi_fresh_id(rt_pi_fresh *fresh, const rt_index *ids, rt_scope *texts)
{
	static const size_t parts[] = {8, 4, 4, 4, 12};
	enum { TRIES = 100 };
	unsigned char bytes[16];
	char digits[32], id[UUID_SIZE];
	size_t from = 0, to = 0;

	for (int i = 0; i < TRIES; i++) {
		fresh_bytes(fresh, bytes, ID_SIZE / 2);
		rt_hex(bytes, ID_SIZE / 2, digits);
		if (rt_index_get(ids, rt_str_at(digits, ID_SIZE)) < 0)
			return rt_scope_copy(texts, rt_str_at(digits, ID_SIZE));
	}
	fresh_bytes(fresh, bytes, sizeof(bytes)); /* 122 random bits: unique */
	bytes[6] = (unsigned char)((bytes[6] & 0x0F) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3F) | 0x80);
	rt_hex(bytes, sizeof(bytes), digits);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (i > 0)
			id[to++] = '-';
		memcpy(id + to, digits + from, parts[i]);
		from += parts[i];
		to += parts[i];
	}
	return rt_scope_copy(texts, rt_str_at(id, to));
}

static void
repaired(rt_report *report, uint64_t line, const char *before, rt_str id, const char *after)
{
	rt_report_add(report, RT_REMARK_REPAIRED, line, "%s %.*s %s; made a root", before,
		      (int)rt_utf8_cut(id, 40), id.ptr == NULL ? "" : id.ptr, after);
}

static int64_t
find_parent(const rt_index *ids, const rt_pi_link *link, rt_report *report)
{
	int64_t parent;

	if (link->parent_id.size == 0)
		return -1;
	if (rt_str_eq(link->id, link->parent_id)) {
		repaired(report, link->line, "entry", link->id, "is its own parent");
		return -1;
	}
	parent = rt_index_get(ids, link->parent_id);
	if (parent < 0)
		repaired(report, link->line, "its parent", link->parent_id, "is not in the file");
	return parent;
}

enum { UNSEEN, WALKING, SETTLED };

static void
walk_up(rt_pi_link *links, char *state, size_t from, rt_report *report)
{
	int64_t at, met;

	for (at = (int64_t)from; at >= 0 && state[at] == UNSEEN; at = links[at].parent)
		state[at] = WALKING;
	met = at >= 0 && state[at] == WALKING ? at : -1; /* on this very walk: a cycle */
	for (at = (int64_t)from; at >= 0 && state[at] == WALKING; at = links[at].parent)
		state[at] = SETTLED;
	if (met < 0)
		return;
	links[met].parent = -1;
	links[met].is_cut = true;
	repaired(report, links[met].line, "entry", links[met].id, "is its own ancestor");
}

void
rt_pi_link_all(rt_scope *s, const rt_index *ids, rt_pi_link *links, size_t count, rt_report *report)
{
	char *state = rt_scope_get(s, count);

	if (state == NULL)
		return;
	for (size_t i = 0; i < count; i++)
		links[i].parent = find_parent(ids, &links[i], report);
	for (size_t i = 0; i < count; i++)
		if (state[i] == UNSEEN)
			walk_up(links, state, i, report);
}
