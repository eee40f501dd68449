/* SPDX-License-Identifier: MIT
 *
 * Bodies are read in runs. The row of a tool's result says what was called: the call is
 * looked for in the replies right above it, where it nearly always is, and else among all
 * that searching came across so far. */
#include "tui/tree_reader.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"
#include "log/rows.h"
#include "view/view_trie.h"
#include "tui/tree_text.h"

enum { CALL_ABOVE_MAX = 64 /* entries above a result in which its call is looked for */ };

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- calls ---- */

static uint64_t
hash_of(rt_str id)
{
	return rt_hash(id.ptr, id.size, 1);
}

static size_t
call_at(const rt_tree_reader *r, uint64_t id)
{
	size_t at = (size_t)id & (r->call_room - 1);

	while (r->calls[at].body != 0 && r->calls[at].id != id)
		at = (at + 1) & (r->call_room - 1);
	return at;
}

static bool
calls_grow(rt_tree_reader *r)
{
	rt_tree_reader old = *r;
	size_t i;

	r->call_room = old.call_room == 0 ? 256 : old.call_room * 2;
	r->calls = rt_new_array(r->alloc, r->call_room, sizeof(*r->calls));
	if (r->calls == NULL) {
		*r = old;
		return false;
	}
	memset(r->calls, 0, r->call_room * sizeof(*r->calls));
	for (i = 0; i < old.call_room; i++)
		if (old.calls[i].body != 0)
			r->calls[call_at(r, old.calls[i].id)] = old.calls[i];
	rt_free(r->alloc, old.calls);
	return true;
}

/* A reply whose calls are being kept. */
typedef struct keeping {
	rt_tree_reader *reader;
	uint64_t body;
	uint32_t entry;
	bool failed;
} keeping;

static void
keep_call(void *ctx, rt_str id, yyjson_val *call)
{
	keeping *k = ctx;
	rt_tree_reader *r = k->reader;
	rt_tree_call *kept;

	(void)call;
	if (id.size == 0)
		return;
	if ((r->call_count + 1) * 2 > r->call_room && !calls_grow(r)) {
		k->failed = true;
		return;
	}
	kept = &r->calls[call_at(r, hash_of(id))];
	r->call_count += kept->body == 0;
	if (kept->body == 0 || kept->entry <= k->entry)
		*kept = (rt_tree_call){hash_of(id), k->body, k->entry};
}

/* A call that is being looked for in one body. */
typedef struct seeking {
	rt_str id;
	yyjson_val *call;
} seeking;

static void
see_call(void *ctx, rt_str id, yyjson_val *call)
{
	seeking *s = ctx;

	if (rt_str_eq(id, s->id))
		s->call = call;
}

/* A body that was opened for a call in it. */
typedef struct reply {
	rt_buf bytes;
	rt_body body;
	bool open;
} reply;

static void
reply_close(reply *p)
{
	if (p->open) {
		rt_body_deinit(&p->body);
		rt_buf_deinit(&p->bytes);
	}
	p->open = false;
}

/* The call in that body; NULL: it is not there, or cannot be read. */
static yyjson_val *
call_in(rt_tree_reader *r, uint64_t body, rt_str id, reply *out)
{
	seeking s = {.id = id};

	if (rt_engine_body(r->engine, body, &out->bytes, &out->body, NULL) != RT_OK)
		return NULL; /* benign: the row says less */
	out->open = true;
	rt_tree_each_call(&out->body, see_call, &s);
	if (s.call == NULL)
		reply_close(out);
	return s.call;
}

/* What the result at this node answers. It lives as long as *out. */
static yyjson_val *
find_call(rt_tree_reader *r, const rt_tree *tree, uint32_t node, rt_str id, reply *out)
{
	uint32_t at = rt_tree_node_at(tree, node)->parent;
	yyjson_val *call;
	size_t i;

	if (id.size == 0)
		return NULL;
	for (i = 0; i < CALL_ABOVE_MAX && at != RT_TREE_NONE; i++) {
		const rt_tree_node *n = rt_tree_node_at(tree, at);

		call = n->kind == RT_TREE_ASSISTANT ? call_in(r, n->body, id, out) : NULL;
		if (call != NULL)
			return call;
		at = n->parent;
	}
	if (r->call_room == 0)
		return NULL;
	i = call_at(r, hash_of(id));
	return r->calls[i].body != 0 ? call_in(r, r->calls[i].body, id, out) : NULL;
}

/* ---- texts ---- */

/* What is being told. */
typedef struct telling {
	rt_tree_reader *reader;
	const rt_tree *tree;
	bool to_search;
	rt_tree_told_fn fn;
	void *to;
	rt_buf text; /* words or hay of the one being told */
} telling;

/* A role and a kind in one number. */
static uint32_t
voice_of(const rt_slot *slot)
{
	return (uint32_t)slot->role << 16 | slot->kind;
}

static rt_status
tell_body(telling *t, uint32_t node, size_t index, const rt_body *body, rt_error *err)
{
	const rt_tree_node *n = rt_tree_node_at(t->tree, node);
	rt_tree_speaker s = {.body = body, .home = t->reader->home, .as_pi = t->reader->as_pi};
	rt_tree_told told = {0};
	reply above = {.open = false};
	rt_status st = rt_project_name(t->reader->project, n->voice >> 16, &s.role, err);

	if (st == RT_OK)
		st = rt_project_name(t->reader->project, n->voice & 0xFFFF, &s.kind, err);
	if (st != RT_OK)
		return st;
	rt_buf_clear(&t->text);
	if (t->to_search) {
		keeping k = {t->reader, n->body, n->entry, false};

		rt_tree_add_hay(&t->text, &s, &told.text);
		told.hay = rt_buf_str(&t->text);
		told.silent = rt_tree_is_silent(&s);
		if (n->kind == RT_TREE_ASSISTANT)
			rt_tree_each_call(body, keep_call, &k);
		if (k.failed)
			return nomem(err);
	} else {
		if (n->kind == RT_TREE_TOOL)
			s.call = find_call(t->reader, t->tree, node, rt_tree_call_id(body), &above);
		rt_tree_add_words(&t->text, &s, &told.who);
		told.words = rt_buf_str(&t->text);
		reply_close(&above);
	}
	if (t->text.status != RT_OK)
		return nomem(err);
	t->fn(t->to, index, &told);
	return RT_OK;
}

/* A text that cannot be read says so, and does not take the others with it. */
static void
tell_damaged(telling *t, size_t index)
{
	rt_tree_told told = {.words = RT_STR("(damaged)"), .hay = RT_STR("")};

	t->fn(t->to, index, &told);
}

static rt_status
tell_bytes(telling *t, uint32_t node, size_t index, rt_str bytes, rt_error *err)
{
	rt_body body;
	rt_status st = rt_body_read(t->reader->alloc, bytes, &body, err);

	if (st == RT_CORRUPT) {
		tell_damaged(t, index);
		return RT_OK;
	}
	if (st == RT_OK) {
		st = tell_body(t, node, index, &body, err);
		rt_body_deinit(&body);
	}
	return st;
}

static rt_status
tell_singly(telling *t, const uint32_t *nodes, const rt_slot *slots, size_t count, rt_error *err)
{
	rt_status st = RT_OK;
	size_t i;

	for (i = 0; st == RT_OK && i < count; i++) {
		rt_body_run run;

		st = rt_engine_body_run(t->reader->engine, &slots[i], 1, &run, err);
		if (st == RT_OK)
			st = tell_bytes(t, nodes[i], i,
					rt_str_at(run.bytes.ptr + run.at[0], run.size[0]), err);
		else if (st == RT_CORRUPT)
			tell_damaged(t, i);
		rt_buf_deinit(&run.bytes);
		st = st == RT_CORRUPT ? RT_OK : st;
	}
	return st;
}

static rt_status
tell(void *ctx, const rt_tree *tree, const uint32_t *nodes, size_t count, bool to_search,
     rt_tree_told_fn fn, void *to, rt_error *err)
{
	telling t = {.reader = ctx, .tree = tree, .to_search = to_search, .fn = fn, .to = to};
	rt_slot slots[RT_BODY_RUN_MAX];
	rt_body_run run;
	size_t i;
	rt_status st;

	memset(slots, 0, sizeof(slots));
	for (i = 0; i < count; i++)
		slots[i].body = rt_tree_node_at(tree, nodes[i])->body;
	rt_buf_init(&t.text, t.reader->alloc, RT_BUF_UNLIMITED);
	st = rt_engine_body_run(t.reader->engine, slots, count, &run, err);
	for (i = 0; st == RT_OK && i < count; i++)
		st = tell_bytes(&t, nodes[i], i, rt_str_at(run.bytes.ptr + run.at[i], run.size[i]),
				err);
	rt_buf_deinit(&run.bytes);
	if (st == RT_CORRUPT)
		st = tell_singly(&t, nodes, slots, count, err);
	rt_buf_deinit(&t.text);
	return st;
}

static rt_str
take_name(void *ctx, uint32_t number)
{
	rt_tree_reader *r = ctx;
	const rt_disc *disc;
	const rt_take *take = NULL;

	if (rt_project_disc(r->project, r->disc, &disc, NULL) == RT_OK)
		take = rt_disc_take(disc, number);
	return take != NULL ? rt_text_str(take->name) : RT_STR("");
}

/* ---- life ---- */

void
rt_tree_reader_init(rt_tree_reader *r, const rt_alloc *alloc, rt_engine *engine, rt_str home)
{
	memset(r, 0, sizeof(*r));
	r->alloc = alloc;
	r->engine = engine;
	r->home = home;
	r->source = (rt_tree_source){.tell = tell, .take_name = take_name, .ctx = r};
}

void
rt_tree_reader_deinit(rt_tree_reader *r)
{
	rt_free(r->alloc, r->calls);
	rt_object_unref(r->project);
	memset(r, 0, sizeof(*r));
}

/* ---- the list ---- */

/* The list that a tree is made from. */
typedef struct list {
	rt_tree_reader *reader;
	const rt_project *project;
	const rt_disc *disc;
	rt_trie trie;
	rt_tree_entry *entries;
	uint32_t *index; /* of each of the trie's nodes */
	uint32_t count;
} list;

/* Names are looked at when they change from one entry to the next, which is less often. */
static rt_status
kind_of(list *l, uint32_t voice, uint32_t *last_voice, uint8_t *last_kind, rt_error *err)
{
	rt_str role, kind;
	rt_status st = RT_OK;

	if (l->count > 0 && voice == *last_voice)
		return RT_OK;
	st = rt_project_name(l->project, voice >> 16, &role, err);
	if (st == RT_OK)
		st = rt_project_name(l->project, voice & 0xFFFF, &kind, err);
	if (st != RT_OK)
		return st;
	*last_voice = voice;
	*last_kind = (uint8_t)rt_tree_kind_of(role, kind);
	return RT_OK;
}

/* A take that ends here, the active one before the others. */
static uint32_t
tip_of(const list *l, const rt_trie_node *n)
{
	uint32_t take;

	if (n->tip == RT_TRIE_NONE)
		return 0;
	for (take = n->tip; take != RT_TRIE_NONE; take = l->trie.next_tip[take])
		if (take == l->disc->active)
			return take;
	return n->tip;
}

/* Which comes first: what was made first. */
typedef struct root {
	uint32_t entry, node;
} root;

static int
by_entry(const void *a, const void *b)
{
	const root *x = a, *y = b;

	return (x->entry > y->entry) - (x->entry < y->entry);
}

static rt_status
add_below(list *l, uint32_t at, uint32_t *voice, uint8_t *kind, rt_error *err)
{
	const rt_trie *t = &l->trie;
	rt_status st = RT_OK;

	do {
		const rt_trie_node *n = &t->nodes[at];
		rt_tree_entry *e = &l->entries[l->count];
		bool hidden = false;
		rt_slot slot;

		st = rt_trie_shown(t, at, &slot, err);
		if (st == RT_OK)
			st = kind_of(l, voice_of(&slot), voice, kind, err);
		if (st != RT_OK)
			break;
		*e = (rt_tree_entry){
			.name = n->path,
			.body = slot.body,
			.entry = slot.entry,
			.parent = n->parent == RT_TRIE_NONE ? RT_TREE_NONE : l->index[n->parent],
			.take = tip_of(l, n),
			.voice = *voice,
			.kind = *kind,
			.flags = ((slot.flags & RT_SLOT_MUTED) != 0 ? RT_TREE_MUTED : 0) |
				 ((slot.flags & RT_SLOT_EDITED) != 0 ? RT_TREE_EDITED : 0),
		};
		st = rt_disc_label(l->project, l->disc, slot.entry, &e->label, err);
		if (st == RT_OK && !l->reader->as_pi)
			st = rt_view_is_hidden(l->reader->engine, l->project, &slot, &hidden, err);
		if (hidden)
			e->kind = RT_TREE_SETTING;
		l->index[at] = l->count++;
		at = rt_trie_next(t, at);
	} while (st == RT_OK && at != RT_TRIE_NONE && t->nodes[at].depth > 0);
	return st;
}

static rt_status
fill(list *l, rt_error *err)
{
	const rt_trie *t = &l->trie;
	uint32_t voice = 0, n, count = 0, i;
	uint8_t kind = 0;
	root *roots;
	rt_status st = RT_OK;

	l->entries = rt_new_array(l->reader->alloc, (size_t)t->count + 1, sizeof(*l->entries));
	l->index = rt_new_array(l->reader->alloc, (size_t)t->count + 1, sizeof(*l->index));
	for (n = t->first_root; n != RT_TRIE_NONE; n = t->nodes[n].next)
		count++;
	roots = rt_new_array(l->reader->alloc, (size_t)count + 1, sizeof(*roots));
	if (l->entries == NULL || l->index == NULL || roots == NULL) {
		rt_free(l->reader->alloc, roots);
		return nomem(err);
	}
	for (n = t->first_root, i = 0; n != RT_TRIE_NONE; n = t->nodes[n].next, i++)
		roots[i] = (root){t->nodes[n].slot.entry, n};
	qsort(roots, count, sizeof(*roots), by_entry);
	for (i = 0; st == RT_OK && i < count; i++)
		st = add_below(l, roots[i].node, &voice, &kind, err);
	rt_free(l->reader->alloc, roots);
	return st;
}

/* The id in the record that an entry was imported from, where the entry could not have it;
 * else empty. bytes and *body hold it: deinit both where *out_open. */
static rt_status
lost_id(const list *l, const rt_tree_entry *e, rt_buf *bytes, rt_body *body, bool *out_open,
	rt_str *out, rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_status st = rt_entry_id(l->project, e->entry, id, err);

	*out_open = false;
	*out = RT_STR("");
	if (st == RT_OK)
		st = rt_engine_body(l->reader->engine, e->body, bytes, body, err);
	if (st != RT_OK)
		return st;
	*out_open = true;
	if (body->format == RT_BODY_PI)
		*out = rt_json_str(rt_json_get(body->fields, "id"));
	if (rt_str_is(*out, id))
		*out = RT_STR("");
	return RT_OK;
}

/* Where the entry that could have this id was put in the list; count: nowhere. */
static uint32_t
index_of(const list *l, rt_str id)
{
	rt_place place = {.disc = l->disc->number};
	char found[RT_ID_MAX + 1];
	uint32_t entry, i;

	if (rt_resolve_entry(l->project, place, id, true, &entry, NULL) != RT_OK ||
	    rt_entry_id(l->project, entry, found, NULL) != RT_OK || !rt_str_is(id, found))
		return l->count;
	for (i = 0; i < l->trie.count; i++)
		if (l->trie.nodes[i].slot.entry == entry)
			return l->index[i];
	return l->count;
}

static bool
is_above(const list *l, uint32_t at, uint32_t head)
{
	while (head != RT_TREE_NONE && head != at)
		head = l->entries[head].parent;
	return head == at;
}

/* One place shows what another does. */
static void
show_as(list *l, uint32_t at, uint32_t like, uint32_t entry, uint32_t head)
{
	uint32_t parent = l->entries[at].parent;
	uint64_t name = l->entries[at].name;

	l->entries[at] = l->entries[like];
	l->entries[at].parent = parent;
	l->entries[at].name = name;
	l->entries[at].entry = entry;
	if (is_above(l, like, head))
		l->entries[at].flags |= RT_TREE_ACTIVE;
}

/* For pi an id means the last record that has it, and that is what it shows in every place
 * where a record has that id. Importing leaves the id to the first of them.
 * first: by index in the list, where the one with the id stands; last: by that, where the
 * last one does. */
static rt_status
find_last_of_id(list *l, uint32_t *first, uint32_t *last, rt_error *err)
{
	rt_status st = RT_OK;
	uint32_t i;

	for (i = 0; i < l->count; i++)
		first[i] = last[i] = i;
	for (i = 0; st == RT_OK && i < l->count; i++) {
		rt_body body;
		rt_buf bytes;
		rt_str id;
		bool open;

		st = lost_id(l, &l->entries[i], &bytes, &body, &open, &id, err);
		if (st == RT_OK && id.size > 0)
			first[i] = index_of(l, id);
		if (open) {
			rt_body_deinit(&body);
			rt_buf_deinit(&bytes);
		}
		if (first[i] == l->count)
			first[i] = i;
		if (l->entries[last[first[i]]].entry < l->entries[i].entry)
			last[first[i]] = i;
	}
	return st;
}

/* *head moves to the last place where it is shown. */
static rt_status
show_last_of_id(list *l, uint32_t *head, rt_error *err)
{
	uint32_t *first = rt_new_array(l->reader->alloc, (size_t)l->count + 1, sizeof(*first));
	uint32_t *last = rt_new_array(l->reader->alloc, (size_t)l->count + 1, sizeof(*last));
	uint32_t i, entry;
	rt_status st = first != NULL && last != NULL ? RT_OK : nomem(err);

	if (st == RT_OK)
		st = find_last_of_id(l, first, last, err);
	for (i = 0; st == RT_OK && i < l->count; i++) /* those between */
		if (first[i] != i && last[first[i]] != i)
			show_as(l, i, last[first[i]], l->entries[first[i]].entry, *head);
	for (i = 0; st == RT_OK && i < l->count; i++) {
		if (last[i] == i)
			continue;
		entry = l->entries[i].entry;
		show_as(l, i, last[i], entry, *head);
		l->entries[last[i]].entry = entry;
	}
	for (i = 0; st == RT_OK && *head != RT_TREE_NONE && i < l->count; i++) {
		if (l->entries[i].entry != l->entries[*head].entry || i <= *head)
			continue;
		l->entries[*head].flags |= RT_TREE_ACTIVE;
		*head = i;
	}
	rt_free(l->reader->alloc, first);
	rt_free(l->reader->alloc, last);
	return st;
}

rt_status
rt_tree_reader_read(rt_tree_reader *r, const rt_project *project, uint32_t disc, rt_tree *tree,
		    rt_error *err)
{
	list l = {.reader = r, .project = project};
	const rt_project *old = r->project;
	uint32_t old_disc = r->disc, head = RT_TREE_NONE;
	rt_status st = rt_project_disc(project, disc != 0 ? disc : project->active, &l.disc, err);

	if (st != RT_OK)
		return st;
	st = rt_trie_init(&l.trie, r->alloc, project, l.disc, err);
	if (st == RT_OK)
		st = fill(&l, err);
	if (st == RT_OK && l.trie.head != RT_TRIE_NONE)
		head = l.index[l.trie.head];
	if (st == RT_OK && r->as_pi)
		st = show_last_of_id(&l, &head, err);
	/* What is large and not needed any more goes before the tree is made. */
	rt_trie_deinit(&l.trie);
	rt_free(r->alloc, l.index);
	if (st == RT_OK) {
		r->project = rt_object_ref(project);
		r->disc = l.disc->number;
		st = rt_tree_set(tree, l.entries, l.count, head, err);
		if (st == RT_OK) {
			rt_object_unref(old);
		} else {
			rt_object_unref(project);
			r->project = old;
			r->disc = old_disc;
		}
	}
	rt_free(r->alloc, l.entries);
	return st;
}

/* ---- times of labels ---- */

static void
tell_label(const rt_tree_reader *r, const rt_disc *disc, const rt_body *body, rt_label_time_fn fn,
	   void *ctx)
{
	rt_str target = rt_json_str(rt_json_get(body->fields, "targetId"));
	rt_str label = rt_json_str(rt_json_get(body->fields, "label")), now;
	rt_place place = {.disc = disc->number};
	rt_moment moment;
	uint32_t entry;

	if (target.size == 0 || label.size == 0 ||
	    !rt_moment_parse(rt_json_str(rt_json_get(body->fields, "timestamp")), &moment) ||
	    rt_resolve_entry(r->project, place, target, true, &entry, NULL) != RT_OK ||
	    rt_disc_label(r->project, disc, entry, &now, NULL) != RT_OK || !rt_str_eq(label, now))
		return; /* benign: its time is not shown */
	fn(ctx, entry, moment.us);
}

rt_status
rt_tree_reader_label_times(rt_tree_reader *r, const rt_tree *tree, rt_label_time_fn fn, void *ctx)
{
	const rt_disc *disc;
	uint32_t voice = 0, node;
	bool is_label = false;
	rt_status st = RT_OK;

	if (rt_project_disc(r->project, r->disc, &disc, NULL) != RT_OK ||
	    rt_seq_count(disc->labels) == 0)
		return RT_OK;
	for (node = 0; st == RT_OK && node < rt_tree_node_count(tree); node++) {
		const rt_tree_node *n = rt_tree_node_at(tree, node);
		rt_body body;
		rt_buf bytes;
		rt_str kind;

		if (node == 0 || n->voice != voice) {
			voice = n->voice;
			is_label = rt_project_name(r->project, voice & 0xFFFF, &kind, NULL) == RT_OK &&
				   rt_str_is(kind, "label");
		}
		if (!is_label)
			continue;
		st = rt_engine_body(r->engine, n->body, &bytes, &body, NULL);
		if (st == RT_OK) {
			tell_label(r, disc, &body, fn, ctx);
			rt_body_deinit(&body);
			rt_buf_deinit(&bytes);
		}
		st = st == RT_NOMEM ? st : RT_OK;
	}
	return st;
}
