/* SPDX-License-Identifier: MIT
 *
 * Forks: where the entries of one take have others beside them. The path of the take through
 * the trie of all, from its tip up; then told from the beginning on. */
#include "log/engine_impl.h"
#include "view/view.h"
#include "view/view_trie.h"

/* The oldest of the takes that go through a node. */
static uint32_t
oldest_through(const rt_trie *t, uint32_t node)
{
	uint32_t oldest = UINT32_MAX, i;

	for (i = t->nodes[node].from; i < t->nodes[node].to; i++)
		oldest = t->order[i] < oldest ? t->order[i] : oldest;
	return oldest;
}

static void
add_beside(const rt_trie *t, const char *key, uint32_t node, rt_buf *buf)
{
	rt_json_add_key(buf, key);
	if (node == RT_TRIE_NONE)
		rt_buf_add_c(buf, "null");
	else
		rt_buf_add_f(buf, "\"t%u\"", oldest_through(t, node));
}

static void
add_fork(const rt_trie *t, uint32_t node, const char *id, rt_buf *buf)
{
	uint32_t parent = t->nodes[node].parent, before = RT_TRIE_NONE, count = 0, place = 0, n;

	n = parent == RT_TRIE_NONE ? t->first_root : t->nodes[parent].child;
	for (; n != RT_TRIE_NONE; n = t->nodes[n].next, count++) {
		if (n == node)
			place = count;
		else if (t->nodes[n].next == node)
			before = n;
	}
	rt_json_add_comma(buf);
	rt_buf_add_c(buf, "{\"entry\":");
	rt_json_add_string(buf, rt_str_of(id));
	rt_buf_add_f(buf, ",\"place\":%u,\"count\":%u", place, count);
	add_beside(t, "previous", before, buf);
	add_beside(t, "next", t->nodes[node].next, buf);
	rt_buf_add_byte(buf, '}');
}

/* Is it the only one that follows what it follows? */
static bool
is_alone(const rt_trie *t, uint32_t node)
{
	uint32_t parent = t->nodes[node].parent;
	uint32_t first = parent == RT_TRIE_NONE ? t->first_root : t->nodes[parent].child;

	return t->nodes[first].next == RT_TRIE_NONE;
}

static rt_status
add_node(const rt_trie *t, uint32_t node, rt_buf *buf, rt_buf *differ, rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_status st;

	if (is_alone(t, node) && !t->nodes[node].differs)
		return RT_OK;
	st = rt_entry_id(t->project, t->nodes[node].slot.entry, id, err);
	if (st == RT_OK && !is_alone(t, node))
		add_fork(t, node, id, buf);
	if (st == RT_OK && t->nodes[node].differs) {
		rt_json_add_comma(differ);
		rt_json_add_string(differ, rt_str_of(id));
	}
	return st;
}

/* Nodes from the first entry of the take to its tip. */
static rt_status
add_path(const rt_trie *t, uint32_t take, rt_buf *buf, rt_buf *differ, rt_error *err)
{
	uint32_t tip = t->tip_node[take], n;
	uint32_t count = tip == RT_TRIE_NONE ? 0 : t->nodes[tip].depth + 1, i;
	uint32_t *path = rt_new_array(t->alloc, (size_t)count + 1, sizeof(*path));
	rt_status st = path != NULL ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");

	for (n = tip, i = count; st == RT_OK && i > 0; n = t->nodes[n].parent)
		path[--i] = n;
	for (i = 0; st == RT_OK && i < count; i++)
		st = add_node(t, path[i], buf, differ, err);
	rt_free(t->alloc, path);
	return st;
}

rt_status
rt_view_forks(rt_engine *engine, const rt_project *project, rt_place place, rt_buf *buf,
	      rt_error *err)
{
	const rt_disc *disc;
	uint32_t take;
	rt_buf differ;
	rt_trie t;
	rt_status st = rt_project_disc(project, place.disc != 0 ? place.disc : project->active, &disc,
				       err);

	if (st != RT_OK)
		return st;
	take = place.take != 0 ? place.take : disc->active;
	if (rt_disc_take(disc, take) == NULL || !rt_disc_take(disc, take)->present)
		return rt_fail(err, RT_NOT_FOUND, "no take t%u in d%u", take, disc->number);
	rt_buf_init(&differ, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(buf, "{\"seq\":");
	rt_buf_add_u64(buf, project->seq);
	rt_buf_add_f(buf, ",\"discussion\":\"d%u\",\"take\":\"t%u\",\"forks\":[", disc->number,
		     take);
	if (rt_disc_present_count(disc) > 1) {
		st = rt_trie_init(&t, engine->alloc, project, disc, err);
		if (st == RT_OK)
			st = add_path(&t, take, buf, &differ, err);
		rt_trie_deinit(&t);
	}
	rt_buf_add_c(buf, "],\"differ\":[");
	rt_buf_add_str(buf, rt_buf_str(&differ));
	rt_buf_add_c(buf, "]}");
	if (st == RT_OK && differ.status != RT_OK)
		st = rt_fail(err, differ.status, "out of memory");
	rt_buf_deinit(&differ);
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory");
	return st;
}
