/* SPDX-License-Identifier: MIT
 *
 * Forks: where the entries of one take have siblings. The path of the take through the trie of all
 * takes. */
#include "log/engine_impl.h"
#include "view/view.h"
#include "view/view_impl.h"
#include "view/view_trie.h"

static uint32_t
first_sibling(const rt_trie *t, uint32_t node)
{
	uint32_t parent = t->nodes[node].parent;

	return parent == RT_TRIE_NONE ? t->first_root : t->nodes[parent].child;
}

/* A sibling as the oldest of the takes that go through it. */
static void
put_sibling(rt_buf *buf, const char *key, const rt_trie *t, uint32_t node)
{
	uint32_t oldest = UINT32_MAX;

	rt_json_add_key(buf, key);
	if (node == RT_TRIE_NONE) {
		rt_buf_add_c(buf, "null");
		return;
	}
	for (uint32_t i = t->nodes[node].from; i < t->nodes[node].to; i++)
		oldest = t->order[i] < oldest ? t->order[i] : oldest;
	rt_buf_add_f(buf, "\"t%u\"", oldest);
}

static void
put_fork(rt_buf *buf, const rt_trie *t, uint32_t node, rt_str id)
{
	uint32_t previous = RT_TRIE_NONE, count = 0, place = 0;

	for (uint32_t n = first_sibling(t, node); n != RT_TRIE_NONE; n = t->nodes[n].next, count++) {
		if (n == node)
			place = count;
		else if (t->nodes[n].next == node)
			previous = n;
	}
	rt_json_open(buf, NULL, '{');
	rt_json_put_str(buf, "entry", id);
	rt_json_put_u64(buf, "place", place);
	rt_json_put_u64(buf, "count", count);
	put_sibling(buf, "previous", t, previous);
	put_sibling(buf, "next", t, t->nodes[node].next);
	rt_json_close(buf, '}');
}

/* The forks of a take, from its first entry to its tip, and in *differ the ids of entries that
 * takes show differently. */
static void
put_forks(rt_scope *s, const rt_trie *t, uint32_t take, rt_buf *buf, rt_buf *differ)
{
	uint32_t tip = t->tip_node[take];
	uint32_t count = tip == RT_TRIE_NONE ? 0 : t->nodes[tip].depth + 1;
	uint32_t *path = rt_scope_array(s, count, sizeof(*path));

	for (uint32_t n = tip, i = count; path != NULL && i > 0; n = t->nodes[n].parent)
		path[--i] = n;
	for (uint32_t i = 0; rt_ok(s) && i < count; i++) {
		const rt_trie_node *n = &t->nodes[path[i]];
		bool has_siblings = t->nodes[first_sibling(t, path[i])].next != RT_TRIE_NONE;

		if (!has_siblings && !n->differs)
			continue;
		rt_str id = rt_view_id(s, t->project, n->slot.entry);

		if (has_siblings)
			put_fork(buf, t, path[i], id);
		if (n->differs)
			rt_json_put_str(differ, NULL, id);
	}
}

rt_status
rt_view_forks(rt_engine *engine, const rt_project *project, rt_place place, rt_buf *buf,
	      rt_error *err)
{
	rt_scope s;
	rt_view view = {&s, engine, project, place};

	rt_scope_init(&s, engine->alloc);
	const rt_disc *disc = rt_view_disc(&view);
	rt_buf *differ = rt_scope_buf(&s);
	uint32_t take = place.take != 0 || disc == NULL ? place.take : disc->active;

	if (rt_ok(&s) && (rt_disc_take(disc, take) == NULL || !rt_disc_take(disc, take)->present))
		rt_scope_fail(&s, RT_NOT_FOUND, "no take t%u in d%u", take, disc->number);
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	rt_buf_add_c(buf, "{\"seq\":");
	rt_buf_add_u64(buf, project->seq);
	rt_buf_add_f(buf, ",\"discussion\":\"d%u\",\"take\":\"t%u\",\"forks\":[", disc->number,
		     take);
	if (rt_disc_present_count(disc) > 1) {
		rt_trie t;

		RT_TRY(&s, rt_trie_init(&t, s.alloc, project, disc, &s.error));
		if (rt_ok(&s))
			put_forks(&s, &t, take, buf, differ);
		rt_trie_deinit(&t);
	}
	rt_buf_add_c(buf, "],\"differ\":[");
	rt_buf_add_str(buf, rt_scope_str(&s, differ));
	rt_buf_add_c(buf, "]}");
	rt_scope_note(&s, buf->status);
	return rt_scope_end(&s, err);
}
