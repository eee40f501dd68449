/* SPDX-License-Identifier: MIT
 *
 * The tree (C40, C41): the trie of a discussion's present takes by entry id. Takes part
 * where the ids differ; where takes hold different revisions of an entry, its row has
 * variants.
 *
 * A take is laid into the trie from where it parts from one that is there already: what
 * both begin with is found by comparing shared nodes, not entries. Children are sorted
 * oldest first, rows are written depth first with a stack of our own. */
#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "codec/content.h"
#include "engine/engine_impl.h"

#define NONE UINT32_MAX

enum { PREVIEW = 60 /* characters, unless told otherwise */ };

typedef struct trie_node {
	rt_slot slot;      /* as the first take that came by holds it */
	uint32_t take;     /* that take */
	uint32_t parent;
	uint32_t child;    /* first */
	uint32_t next;     /* sibling */
	uint32_t depth;
	uint32_t tip;      /* first in the list of takes that end here */
	uint32_t from, to; /* the takes below, in the order of tips */
	uint64_t path;     /* hash of the ids from the root: the row's name */
	bool differs;      /* not all takes hold the same revision */
} trie_node;

typedef struct trie {
	rt_engine *engine;
	const rt_project *project;
	const rt_disc *disc;
	trie_node *nodes;
	uint32_t count, room;
	uint32_t first_root;
	uint32_t *table; /* nodes by (parent, entry), open addressing */
	size_t table_room;
	uint32_t *tip_node;  /* by take number: where it ends; NONE: empty */
	uint32_t *next_tip;  /* by take number: the next one that ends at the same node */
	uint32_t *order;     /* take numbers in the order of their tips */
	uint32_t ordered;
	size_t preview; /* characters */
} trie;

static uint64_t
key_of(uint32_t parent, uint32_t entry)
{
	return rt_hash_u64((uint64_t)parent << 32 | entry);
}

static bool
table_grow(trie *t)
{
	size_t room = t->table_room == 0 ? 1024 : t->table_room * 2, at;
	uint32_t *table = rt_new_array(t->engine->alloc, room, sizeof(*table)), i;

	if (table == NULL)
		return false;
	memset(table, 0xFF, room * sizeof(*table));
	for (i = 0; i < t->count; i++) {
		at = (size_t)key_of(t->nodes[i].parent, t->nodes[i].slot.entry) & (room - 1);
		while (table[at] != NONE)
			at = (at + 1) & (room - 1);
		table[at] = i;
	}
	rt_free(t->engine->alloc, t->table);
	t->table = table;
	t->table_room = room;
	return true;
}

static uint32_t
child_of(const trie *t, uint32_t parent, uint32_t entry)
{
	size_t at = (size_t)key_of(parent, entry) & (t->table_room - 1);

	for (; t->table[at] != NONE; at = (at + 1) & (t->table_room - 1))
		if (t->nodes[t->table[at]].parent == parent &&
		    t->nodes[t->table[at]].slot.entry == entry)
			return t->table[at];
	return NONE;
}

static uint32_t
add_node(trie *t, uint32_t parent, const rt_slot *slot, uint32_t take)
{
	trie_node *n;
	size_t at;

	if (t->count == t->room) {
		uint32_t room = t->room == 0 ? 256 : t->room * 2;
		trie_node *nodes = rt_resize(t->engine->alloc, t->nodes, room * sizeof(*nodes));

		if (nodes == NULL)
			return NONE;
		t->nodes = nodes;
		t->room = room;
	}
	if (((size_t)t->count + 1) * 2 > t->table_room && !table_grow(t))
		return NONE;
	n = &t->nodes[t->count];
	memset(n, 0, sizeof(*n));
	n->slot = *slot;
	n->take = take;
	n->parent = parent;
	n->child = n->next = n->tip = NONE;
	n->depth = parent == NONE ? 0 : t->nodes[parent].depth + 1;
	n->path = rt_hash_u64((parent == NONE ? 0 : t->nodes[parent].path) ^
			      rt_hash_u64((uint64_t)slot->entry + 1));
	at = (size_t)key_of(parent, slot->entry) & (t->table_room - 1);
	while (t->table[at] != NONE)
		at = (at + 1) & (t->table_room - 1);
	t->table[at] = t->count;
	return t->count++;
}

static bool
same_revision(const rt_slot *a, const rt_slot *b)
{
	return a->body == b->body && a->role == b->role &&
	       ((a->flags ^ b->flags) & RT_SLOT_MUTED) == 0;
}

/* The node of position at (0-based) of a take that is laid already. */
static uint32_t
node_at(const trie *t, const rt_take *take, size_t at)
{
	uint32_t n = t->tip_node[take->number];

	while (n != NONE && t->nodes[n].depth > at)
		n = t->nodes[n].parent;
	return n;
}

static rt_status
lay_take(trie *t, const rt_take *take, const rt_take *const *others, size_t other_count,
	 rt_error *err)
{
	size_t count = rt_seq_count(take->slots), at = 0, best = 0, i;
	const rt_take *like = NULL;
	uint32_t parent = NONE;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < other_count; i++) {
		size_t common;

		st = rt_seq_common(take->slots, others[i]->slots, &common, err);
		if (common > best) {
			best = common;
			like = others[i];
		}
	}
	if (st != RT_OK)
		return st;
	if (best > 0) {
		size_t differ = 0;

		parent = node_at(t, like, best - 1);
		while (st == RT_OK) { /* revisions that differ from those of the other take */
			rt_slot a, b;

			st = rt_seq_differ(take->slots, like->slots, differ, &differ, err);
			if (st != RT_OK || differ >= best)
				break;
			st = rt_seq_get(take->slots, differ, &a, err);
			if (st == RT_OK)
				st = rt_seq_get(like->slots, differ, &b, err);
			if (st == RT_OK && !same_revision(&a, &b))
				t->nodes[node_at(t, like, differ)].differs = true;
			differ++;
		}
		at = best;
	}
	while (st == RT_OK && at < count) {
		rt_slot slots[64];
		size_t run = count - at < 64 ? count - at : 64;

		st = rt_seq_copy(take->slots, at, run, slots, err);
		for (i = 0; st == RT_OK && i < run; i++) {
			uint32_t n = t->table_room > 0 ? child_of(t, parent, slots[i].entry) : NONE;

			if (n == NONE) {
				n = add_node(t, parent, &slots[i], take->number);
				if (n == NONE)
					st = rt_fail(err, RT_NOMEM, "out of memory");
			} else if (!same_revision(&t->nodes[n].slot, &slots[i])) {
				t->nodes[n].differs = true;
			}
			parent = n;
		}
		at += run;
	}
	if (st == RT_OK) {
		t->tip_node[take->number] = parent;
		if (parent != NONE) {
			t->next_tip[take->number] = t->nodes[parent].tip;
			t->nodes[parent].tip = take->number;
		}
	}
	return st;
}

/* ---- order ---- */

typedef struct sort_key {
	int64_t ts_us;
	uint32_t entry, node;
	bool no_ts;
} sort_key;

static int
oldest_first(const void *a, const void *b)
{
	const sort_key *x = a, *y = b;

	if (x->no_ts != y->no_ts)
		return x->no_ts - y->no_ts;
	if (x->ts_us != y->ts_us)
		return x->ts_us < y->ts_us ? -1 : 1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Thread children into sibling lists, oldest first. */
static rt_status
link_children(trie *t, rt_error *err)
{
	sort_key *keys = rt_new_array(t->engine->alloc, (size_t)t->count + 1, sizeof(*keys));
	uint32_t *last = rt_new_array(t->engine->alloc, (size_t)t->count + 1, sizeof(*last)), i;
	uint32_t last_root = NONE;

	if (keys == NULL || last == NULL) {
		rt_free(t->engine->alloc, keys);
		rt_free(t->engine->alloc, last);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	for (i = 0; i < t->count; i++)
		keys[i] = (sort_key){t->nodes[i].slot.ts_us, t->nodes[i].slot.entry, i,
				     (t->nodes[i].slot.flags & RT_SLOT_NO_TS) != 0};
	qsort(keys, t->count, sizeof(*keys), oldest_first);
	t->first_root = NONE;
	for (i = 0; i < t->count; i++) {
		uint32_t n = keys[i].node, p = t->nodes[n].parent;

		if (p == NONE) {
			if (last_root == NONE)
				t->first_root = n;
			else
				t->nodes[last_root].next = n;
			last_root = n;
		} else {
			if (t->nodes[p].child == NONE)
				t->nodes[p].child = n;
			else
				t->nodes[last[p]].next = n;
			last[p] = n;
		}
	}
	rt_free(t->engine->alloc, keys);
	rt_free(t->engine->alloc, last);
	return RT_OK;
}

/* The next node depth first, or NONE. leave is called for every node that is done. */
static uint32_t
walk_next(trie *t, uint32_t n)
{
	if (t->nodes[n].child != NONE)
		return t->nodes[n].child;
	for (;;) {
		t->nodes[n].to = t->ordered;
		if (t->nodes[n].next != NONE)
			return t->nodes[n].next;
		n = t->nodes[n].parent;
		if (n == NONE)
			return NONE;
	}
}

/* Every node's takes are a run in the order of tips. */
static void
order_takes(trie *t)
{
	uint32_t n;

	for (n = t->first_root; n != NONE; n = walk_next(t, n)) {
		uint32_t take;

		t->nodes[n].from = t->ordered;
		for (take = t->nodes[n].tip; take != NONE; take = t->next_tip[take])
			t->order[t->ordered++] = take;
		t->nodes[n].to = t->ordered;
	}
}

/* ---- rows ---- */

static int
numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
add_path_id(rt_buf *buf, uint64_t path)
{
	rt_buf_add_f(buf, "\"n%012llx\"", (unsigned long long)(path & 0xFFFFFFFFFFFFu));
}

static void
add_take_names(trie *t, rt_buf *buf, const uint32_t *takes, size_t count)
{
	size_t i;

	rt_buf_add_byte(buf, '[');
	for (i = 0; i < count; i++) {
		rt_json_add_comma(buf);
		rt_json_add_string(buf, rt_text_str(rt_disc_take(t->disc, takes[i])->name));
	}
	rt_buf_add_byte(buf, ']');
}

static rt_status
add_variants(trie *t, const trie_node *n, const uint32_t *takes, size_t count, rt_buf *buf,
	     rt_error *err)
{
	rt_slot *slots = rt_new_array(t->engine->alloc, count + 1, sizeof(*slots));
	uint32_t *group = rt_new_array(t->engine->alloc, count + 1, sizeof(*group));
	size_t i, j, kinds = 0;
	rt_status st = slots != NULL && group != NULL ? RT_OK
						      : rt_fail(err, RT_NOMEM, "out of memory");

	for (i = 0; st == RT_OK && i < count; i++) {
		bool found;
		size_t at;

		st = rt_take_find(t->project, rt_disc_take(t->disc, takes[i]), n->slot.entry, &at,
				  &slots[i], &found, err);
		for (j = 0; j < i && !same_revision(&slots[i], &slots[j]); j++)
			;
		group[i] = (uint32_t)j;
		kinds += j == i;
	}
	if (st == RT_OK && kinds > 1) {
		rt_json_add_key(buf, "variants");
		rt_buf_add_byte(buf, '[');
		for (i = 0; i < count; i++) {
			bool first = true;

			if (group[i] != i)
				continue;
			rt_json_add_comma(buf);
			rt_buf_add_c(buf, "{\"takes\":[");
			for (j = i; j < count; j++) {
				if (group[j] != i)
					continue;
				if (!first)
					rt_buf_add_byte(buf, ',');
				first = false;
				rt_json_add_string(
					buf, rt_text_str(rt_disc_take(t->disc, takes[j])->name));
			}
			rt_buf_add_c(buf, "],\"revision\":");
			rt_buf_add_u64(buf, slots[i].body);
			rt_buf_add_byte(buf, '}');
		}
		rt_buf_add_byte(buf, ']');
	}
	rt_free(t->engine->alloc, slots);
	rt_free(t->engine->alloc, group);
	return st;
}

/* The first characters on one line. */
static rt_status
add_preview(trie *t, const rt_slot *slot, rt_buf *buf, rt_error *err)
{
	rt_buf bytes, text;
	rt_body body;
	size_t i, end;
	rt_status st = rt_engine_body(t->engine, slot->body, &bytes, &body, err);

	rt_buf_init(&text, t->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK) {
		rt_body_add_text(&text, &body);
		if (rt_str_trim(rt_buf_str(&text)).size == 0) /* something can be said all the same */
			rt_content_add_brief(&text, (rt_content){body.content, body.content_json},
					     rt_body_field(&body, "tool_calls"),
					     body.format == RT_BODY_PI ? body.fields
								       : rt_body_field(&body, "pi"));
		if (text.status != RT_OK)
			st = rt_fail(err, text.status, "out of memory");
		end = rt_utf8_offset(rt_buf_str(&text), t->preview);
		if (end < text.size)
			text.size = end;
		for (i = 0; i < text.size; i++)
			if ((unsigned char)text.ptr[i] < 0x20)
				text.ptr[i] = ' ';
		rt_json_add_key(buf, "preview");
		rt_json_add_string(buf, rt_buf_str(&text));
		if (yyjson_is_true(rt_body_field(&body, "partial")))
			rt_buf_add_c(buf, ",\"partial\":true");
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	rt_buf_deinit(&text);
	return st;
}

static rt_status
add_row(trie *t, uint32_t number, uint32_t head, uint32_t *scratch, rt_buf *buf, rt_error *err)
{
	const trie_node *n = &t->nodes[number];
	char id[RT_ID_MAX + 1];
	rt_str role, kind, label;
	size_t count = n->to - n->from;
	rt_slot slot = n->slot;
	rt_status st = rt_entry_id(t->project, n->slot.entry, id, err);

	memcpy(scratch, t->order + n->from, count * sizeof(*scratch));
	qsort(scratch, count, sizeof(*scratch), numbers);
	if (st == RT_OK && n->differs) { /* shown as the active take has it, or the oldest */
		bool found = false;
		size_t at;

		st = rt_take_find(t->project, rt_disc_active(t->disc), slot.entry, &at, &slot,
				  &found, err);
		if (st == RT_OK && !found)
			st = rt_take_find(t->project, rt_disc_take(t->disc, scratch[0]),
					  n->slot.entry, &at, &slot, &found, err);
	}
	if (st == RT_OK)
		st = rt_project_name(t->project, slot.role, &role, err);
	if (st == RT_OK)
		st = rt_project_name(t->project, slot.kind, &kind, err);
	if (st == RT_OK)
		st = rt_disc_label(t->project, t->disc, slot.entry, &label, err);
	if (st != RT_OK)
		return st;
	rt_buf_add_c(buf, "{\"node\":");
	add_path_id(buf, n->path);
	rt_json_add_key(buf, "parent_node");
	if (n->parent == NONE)
		rt_buf_add_c(buf, "null");
	else
		add_path_id(buf, t->nodes[n->parent].path);
	rt_json_add_key(buf, "id");
	rt_json_add_string(buf, rt_str_of(id));
	rt_json_add_key(buf, "parent");
	if (n->parent == NONE) {
		rt_buf_add_c(buf, "null");
	} else {
		st = rt_entry_id(t->project, t->nodes[n->parent].slot.entry, id, err);
		rt_json_add_string(buf, rt_str_of(id));
	}
	rt_json_add_key(buf, "role");
	rt_json_add_string(buf, role);
	rt_json_add_key(buf, "kind");
	rt_json_add_string(buf, kind.size > 0 ? kind : RT_STR("message"));
	rt_json_add_key(buf, "label");
	if (label.size > 0)
		rt_json_add_string(buf, label);
	else
		rt_buf_add_c(buf, "null");
	rt_json_add_key(buf, "active");
	rt_buf_add_c(buf, number == head ? "true" : "false");
	rt_json_add_key(buf, "takes");
	add_take_names(t, buf, scratch, count);
	if (st == RT_OK && n->differs)
		st = add_variants(t, n, scratch, count, buf, err);
	if ((slot.flags & RT_SLOT_MUTED) != 0)
		rt_buf_add_c(buf, ",\"muted\":true");
	rt_json_add_key(buf, "depth");
	rt_buf_add_u64(buf, n->depth);
	if (st == RT_OK)
		st = add_preview(t, &slot, buf, err);
	rt_buf_add_byte(buf, '}');
	return st;
}

rt_status
rt_view_tree(rt_engine *engine, const rt_project *project, uint32_t disc_number, rt_buf *buf,
	     rt_error *err)
{
	return rt_view_tree_wide(engine, project, disc_number, PREVIEW, buf, err);
}

rt_status
rt_view_tree_wide(rt_engine *engine, const rt_project *project, uint32_t disc_number,
		  size_t preview, rt_buf *buf, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *near[6];
	size_t near_count = 0, takes, i, head_at;
	uint32_t *scratch = NULL, n, head = NONE;
	trie t;
	rt_status st = rt_project_disc(project, disc_number != 0 ? disc_number : project->active,
				       &disc, err);

	if (st != RT_OK)
		return st;
	memset(&t, 0, sizeof(t));
	t.engine = engine;
	t.project = project;
	t.disc = disc;
	t.preview = preview;
	takes = rt_disc_take_count(disc);
	t.tip_node = rt_new_array(engine->alloc, takes + 1, sizeof(uint32_t));
	t.next_tip = rt_new_array(engine->alloc, takes + 1, sizeof(uint32_t));
	t.order = rt_new_array(engine->alloc, takes + 1, sizeof(uint32_t));
	scratch = rt_new_array(engine->alloc, takes + 1, sizeof(uint32_t));
	if (t.tip_node == NULL || t.next_tip == NULL || t.order == NULL || scratch == NULL ||
	    !table_grow(&t))
		st = rt_fail(err, RT_NOMEM, "out of memory");
	for (i = 1; st == RT_OK && i <= takes; i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		if (!take->present)
			continue;
		st = lay_take(&t, take, near, near_count, err);
		/* the first two and the last few are what the next ones may begin like */
		if (near_count < 6)
			near[near_count++] = take;
		else
			near[2 + i % 4] = take;
	}
	if (st == RT_OK)
		st = link_children(&t, err);
	if (st == RT_OK)
		order_takes(&t);
	if (st == RT_OK)
		st = rt_disc_head_at(project, disc, &head_at, err);
	if (st == RT_OK && head_at > 0)
		head = node_at(&t, rt_disc_active(disc), head_at - 1);
	rt_buf_add_byte(buf, '[');
	for (n = t.first_root; st == RT_OK && t.count > 0 && n != NONE;) {
		if (n != t.first_root)
			rt_buf_add_byte(buf, ',');
		st = add_row(&t, n, head, scratch, buf, err);
		if (t.nodes[n].child != NONE) {
			n = t.nodes[n].child;
			continue;
		}
		while (n != NONE && t.nodes[n].next == NONE)
			n = t.nodes[n].parent;
		if (n != NONE)
			n = t.nodes[n].next;
	}
	rt_buf_add_byte(buf, ']');
	rt_free(engine->alloc, t.nodes);
	rt_free(engine->alloc, t.table);
	rt_free(engine->alloc, t.tip_node);
	rt_free(engine->alloc, t.next_tip);
	rt_free(engine->alloc, t.order);
	rt_free(engine->alloc, scratch);
	if (st == RT_OK && buf->status != RT_OK)
		st = rt_fail(err, buf->status, "out of memory");
	return st;
}
