/* SPDX-License-Identifier: MIT
 *
 * Bodies are read in runs. The row of a tool's result shows the call: it is searched in the replies
 * right above, where it nearly always is, and else among all calls of the texts read so far. */
#include "tree/tree_reader.h"

#include <stdlib.h>

#include "base/hash.h"
#include "core/role.h"
#include "log/rows.h"
#include "view/view_rows.h"
#include "view/view_trie.h"
#include "tree/tree_text.h"

enum {
	CALL_ABOVE_MAX = 64, /* entries above a result in which its call is searched for */
	CALLS_MIN = 256
};

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

	r->call_room = old.call_room == 0 ? CALLS_MIN : old.call_room * 2;
	r->calls = rt_new0(r->alloc, r->call_room * sizeof(*r->calls));
	if (r->calls == NULL) {
		*r = old;
		return false;
	}
	for (size_t i = 0; i < old.call_room; i++)
		if (old.calls[i].body != 0)
			r->calls[call_at(r, old.calls[i].id)] = old.calls[i];
	rt_free(r->alloc, old.calls);
	return true;
}

/* A reply whose calls are added to the table. */
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

/* A call that is searched for in a body. */
typedef struct seeking {
	rt_str id;
	yyjson_val *call;
} seeking;

static void
match_call(void *ctx, rt_str id, yyjson_val *call)
{
	seeking *s = ctx;

	if (rt_str_eq(id, s->id))
		s->call = call;
}

/* The call in this body; NULL: it is not in it, or cannot be read. The scope is reset before. */
static yyjson_val *
call_in(rt_tree_reader *r, rt_scope *s, uint64_t number, rt_str id)
{
	rt_view view = {s, r->engine, r->project, {0}};
	seeking search = {.id = id};
	const rt_body *body;

	rt_scope_reset(s);
	body = rt_view_body(&view, number);
	if (body != NULL) /* otherwise the row shows less */
		rt_tree_each_call(body, match_call, &search);
	return search.call;
}

/* The call that the result at this node answers, in the scope; or NULL. */
static yyjson_val *
find_call(rt_tree_reader *r, rt_scope *s, const rt_tree *tree, uint32_t node, rt_str id)
{
	uint32_t at = rt_tree_node_at(tree, node)->parent;
	size_t i;

	if (id.size == 0)
		return NULL;
	for (i = 0; i < CALL_ABOVE_MAX && at != RT_TREE_NONE; i++) {
		const rt_tree_node *n = rt_tree_node_at(tree, at);
		yyjson_val *call = n->kind == RT_TREE_ASSISTANT ? call_in(r, s, n->body, id) : NULL;

		if (call != NULL)
			return call;
		at = n->parent;
	}
	if (r->call_room == 0)
		return NULL;
	i = call_at(r, hash_of(id));
	return r->calls[i].body != 0 ? call_in(r, s, r->calls[i].body, id) : NULL;
}

/* ---- texts ---- */

/* A run of entries being reported. */
typedef struct telling {
	rt_tree_reader *reader;
	const rt_tree *tree;
	bool to_search;
	rt_tree_told_fn fn;
	void *to;
	rt_buf *text;  /* words or hay of the current one */
	rt_scope call; /* of a call that it answers */
} telling;

/* A role and a kind in one number. */
static uint32_t
voice_of(const rt_slot *slot)
{
	return (uint32_t)slot->role << 16 | slot->kind;
}

static rt_status
names_of(const rt_project *project, uint32_t voice, rt_str *role, rt_str *kind, rt_error *err)
{
	rt_status st = rt_project_name(project, voice >> 16, role, err);

	return st == RT_OK ? rt_project_name(project, voice & 0xFFFF, kind, err) : st;
}

/* Is it one of several that follow the same entry? */
static bool
has_siblings(const rt_tree *tree, uint32_t node)
{
	uint32_t parent = rt_tree_node_at(tree, node)->parent;

	return parent != RT_TREE_NONE &&
	       rt_tree_node_at(tree, parent + 1)->end < rt_tree_node_at(tree, parent)->end;
}

/* Several replies to one entry differ in their models. */
static rt_str
sibling_model(telling *t, uint32_t node, const rt_body *body)
{
	rt_buf *model;

	if (rt_tree_node_at(t->tree, node)->kind != RT_TREE_ASSISTANT || !has_siblings(t->tree, node))
		return RT_STR("");
	rt_scope_reset(&t->call);
	model = rt_scope_buf(&t->call);
	rt_body_add_model(model, body);
	return rt_scope_str(&t->call, model);
}

static rt_status
tell_body(telling *t, uint32_t node, size_t index, const rt_body *body, rt_error *err)
{
	const rt_tree_node *n = rt_tree_node_at(t->tree, node);
	rt_tree_speaker s = {.body = body, .home = t->reader->home, .as_pi = t->reader->as_pi};
	keeping k = {t->reader, n->body, n->entry, false};
	rt_tree_told told = {0};
	rt_status st = names_of(t->reader->project, n->voice, &s.role, &s.kind, err);

	if (st != RT_OK)
		return st;
	rt_buf_clear(t->text);
	if (t->to_search) {
		rt_tree_add_hay(t->text, &s, &told.text);
		told.hay = rt_buf_str(t->text);
		told.silent = rt_tree_is_silent(&s);
		if (n->kind == RT_TREE_ASSISTANT)
			rt_tree_each_call(body, keep_call, &k);
	} else {
		if (n->kind == RT_TREE_TOOL)
			s.call = find_call(t->reader, &t->call, t->tree, node,
					   rt_tree_call_id(body));
		if (!s.as_pi) {
			s.role = rt_role_meant(t->reader->project, s.role);
			s.model = sibling_model(t, node, body);
		}
		rt_tree_add_words(t->text, &s, &told.who);
		told.words = rt_buf_str(t->text);
	}
	if (k.failed || t->text->status != RT_OK)
		return nomem(err);
	t->fn(t->to, index, &told);
	return RT_OK;
}

/* A damaged text does not affect the others. */
static rt_status
tell_damaged(telling *t, size_t index)
{
	t->fn(t->to, index, &(rt_tree_told){.words = RT_STR("(damaged)"), .hay = RT_STR("")});
	return RT_OK;
}

/* One of a run. */
static rt_status
tell_item(telling *t, uint32_t node, size_t index, const rt_body_run *run, size_t item,
	  rt_error *err)
{
	rt_body body;
	rt_status st = rt_body_read(t->reader->alloc,
				    rt_str_at(run->bytes.ptr + run->at[item], run->size[item]),
				    &body, err);

	if (st == RT_CORRUPT)
		return tell_damaged(t, index);
	if (st == RT_OK) {
		st = tell_body(t, node, index, &body, err);
		rt_body_deinit(&body);
	}
	return st;
}

/* If one of a run is damaged: each separately. */
static rt_status
tell_singly(telling *t, const uint32_t *nodes, const rt_slot *slots, size_t count, rt_error *err)
{
	rt_status st = RT_OK;

	for (size_t i = 0; st == RT_OK && i < count; i++) {
		rt_body_run run;

		st = rt_engine_body_run(t->reader->engine, &slots[i], 1, &run, err);
		if (st == RT_OK)
			st = tell_item(t, nodes[i], i, &run, 0, err);
		else if (st == RT_CORRUPT)
			st = tell_damaged(t, i);
		rt_buf_deinit(&run.bytes);
	}
	return st;
}

static rt_status
tell(void *ctx, const rt_tree *tree, const uint32_t *nodes, size_t count, bool to_search,
     rt_tree_told_fn fn, void *to, rt_error *err)
{
	rt_tree_reader *r = ctx;
	telling t = {.reader = r, .tree = tree, .to_search = to_search, .fn = fn, .to = to};
	rt_slot slots[RT_BODY_RUN_MAX] = {0};
	rt_body_run run;
	rt_scope s;
	rt_status st;

	for (size_t i = 0; i < count; i++)
		slots[i].body = rt_tree_node_at(tree, nodes[i])->body;
	rt_scope_init(&s, r->alloc);
	rt_scope_init(&t.call, r->alloc);
	t.text = rt_scope_buf(&s);
	st = rt_engine_body_run(r->engine, slots, count, &run, err);
	for (size_t i = 0; st == RT_OK && i < count; i++)
		st = tell_item(&t, nodes[i], i, &run, i, err);
	rt_buf_deinit(&run.bytes);
	if (st == RT_CORRUPT)
		st = tell_singly(&t, nodes, slots, count, err);
	rt_scope_deinit(&t.call);
	rt_scope_deinit(&s);
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

/* The list from which a tree is made. */
typedef struct list {
	rt_tree_reader *reader;
	const rt_project *project;
	const rt_disc *disc;
	rt_scope *s;
	rt_trie trie;
	rt_tree_entry *entries;
	uint32_t *index; /* of each of the trie's nodes */
	uint32_t count;
	uint32_t voice; /* of the last entry, … */
	uint8_t kind;   /* … and its kind: names are only read when they change */
} list;

static uint8_t
kind_of(list *l, uint32_t voice)
{
	rt_str role = {0}, kind = {0};

	if (l->count == 0 || voice != l->voice) {
		RT_TRY(l->s, names_of(l->project, voice, &role, &kind, &l->s->error));
		l->voice = voice;
		l->kind = (uint8_t)rt_tree_kind_of(role, kind);
	}
	return l->kind;
}

/* A take that ends here, preferably the active one; 0: none. */
static uint32_t
tip_of(const list *l, const rt_trie_node *n)
{
	if (n->tip == RT_TRIE_NONE)
		return 0;
	for (uint32_t take = n->tip; take != RT_TRIE_NONE; take = l->trie.next_tip[take])
		if (take == l->disc->active)
			return take;
	return n->tip;
}

static void
add_entry(list *l, uint32_t at)
{
	const rt_trie_node *n = &l->trie.nodes[at];
	rt_tree_entry *e = &l->entries[l->count];
	bool hidden = false;
	rt_slot slot = {0};

	RT_TRY(l->s, rt_trie_shown(&l->trie, at, &slot, &l->s->error));
	*e = (rt_tree_entry){
		.name = n->path,
		.body = slot.body,
		.entry = slot.entry,
		.parent = n->parent == RT_TRIE_NONE ? RT_TREE_NONE : l->index[n->parent],
		.take = tip_of(l, n),
		.voice = voice_of(&slot),
		.kind = kind_of(l, voice_of(&slot)),
		.flags = ((slot.flags & RT_SLOT_MUTED) != 0 ? RT_TREE_MUTED : 0) |
			 ((slot.flags & RT_SLOT_EDITED) != 0 ? RT_TREE_EDITED : 0),
	};
	RT_TRY(l->s, rt_disc_label(l->project, l->disc, slot.entry, &e->label, &l->s->error));
	if (!l->reader->as_pi)
		RT_TRY(l->s, rt_view_is_hidden(l->reader->engine, l->project, &slot, &hidden,
					       &l->s->error));
	if (hidden)
		e->kind = RT_TREE_STATE;
	l->index[at] = l->count++;
}

/* A root of the trie. */
typedef struct root {
	uint32_t entry, node;
} root;

static int
by_entry(const void *a, const void *b)
{
	const root *x = a, *y = b;

	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* All entries, depth first, roots from the oldest. */
static void
fill(list *l)
{
	const rt_trie *t = &l->trie;
	uint32_t count = 0, i = 0;
	root *roots;

	for (uint32_t n = t->first_root; n != RT_TRIE_NONE; n = t->nodes[n].next)
		count++;
	l->entries = rt_scope_array(l->s, (size_t)t->count + 1, sizeof(*l->entries));
	l->index = rt_scope_array(l->s, (size_t)t->count + 1, sizeof(*l->index));
	roots = rt_scope_array(l->s, (size_t)count + 1, sizeof(*roots));
	if (!rt_ok(l->s))
		return;
	for (uint32_t n = t->first_root; n != RT_TRIE_NONE; n = t->nodes[n].next)
		roots[i++] = (root){t->nodes[n].slot.entry, n};
	qsort(roots, count, sizeof(*roots), by_entry);
	for (i = 0; i < count; i++) {
		uint32_t at = roots[i].node;

		do {
			add_entry(l, at);
			at = rt_trie_next(t, at);
		} while (rt_ok(l->s) && at != RT_TRIE_NONE && t->nodes[at].depth > 0);
		if (!rt_ok(l->s))
			return;
	}
}

/* ---- as pi shows it ---- */

/* The id in the record from which the entry was imported, if the entry has another one; else
 * empty. */
static rt_str
lost_id(const list *l, rt_scope *s, const rt_tree_entry *e)
{
	rt_view view = {s, l->reader->engine, l->project, {0}};
	const rt_body *body = rt_view_body(&view, e->body);
	char id[RT_ID_MAX + 1];
	rt_str lost;

	RT_TRY(s, rt_entry_id(l->project, e->entry, id, &s->error));
	if (!rt_ok(s) || body->format != RT_BODY_PI)
		return RT_STR("");
	lost = rt_json_str(rt_json_get(body->fields, "id"));
	return rt_str_is(lost, id) ? RT_STR("") : lost;
}

/* The index of the entry with this id; otherwise: there is none. */
static uint32_t
index_of(const list *l, rt_str id, uint32_t otherwise)
{
	rt_place place = {.disc = l->disc->number};
	char found[RT_ID_MAX + 1];
	uint32_t entry;

	if (rt_resolve_entry(l->project, place, id, true, &entry, NULL) != RT_OK ||
	    rt_entry_id(l->project, entry, found, NULL) != RT_OK || !rt_str_is(id, found))
		return otherwise;
	for (uint32_t i = 0; i < l->trie.count; i++)
		if (l->trie.nodes[i].slot.entry == entry)
			return l->index[i];
	return otherwise;
}

static bool
is_above(const list *l, uint32_t at, uint32_t head)
{
	while (head != RT_TREE_NONE && head != at)
		head = l->entries[head].parent;
	return head == at;
}

/* A place shows the entry of another one. */
static void
show_as(list *l, uint32_t at, uint32_t like, uint32_t entry, uint32_t head)
{
	rt_tree_entry *e = &l->entries[at], was = *e;

	*e = l->entries[like];
	e->parent = was.parent;
	e->name = was.name;
	e->entry = entry;
	if (is_above(l, like, head))
		e->flags |= RT_TREE_ACTIVE;
}

/* In pi an id means the last record that has it, which is shown wherever a record has that id.
 * Imports leave the id to the first of them. first[i]: the place of the entry with i's id; last, by
 * that: the place of the last record. */
static void
find_last_of_id(list *l, uint32_t *first, uint32_t *last)
{
	rt_scope s;

	rt_scope_init(&s, l->reader->alloc);
	for (uint32_t i = 0; i < l->count; i++)
		first[i] = last[i] = i;
	for (uint32_t i = 0; rt_ok(l->s) && i < l->count; i++) {
		rt_str id;

		rt_scope_reset(&s);
		id = lost_id(l, &s, &l->entries[i]);
		if (id.size > 0)
			first[i] = index_of(l, id, i);
		if (l->entries[last[first[i]]].entry < l->entries[i].entry)
			last[first[i]] = i;
		(void)rt_scope_adopt(l->s, &s);
	}
	rt_scope_deinit(&s);
}

/* Gives the place of the head, which moves to the last place where its entry is shown. */
static uint32_t
show_last_of_id(list *l, uint32_t head)
{
	uint32_t *first = rt_scope_array(l->s, (size_t)l->count + 1, sizeof(*first));
	uint32_t *last = rt_scope_array(l->s, (size_t)l->count + 1, sizeof(*last));

	if (rt_ok(l->s))
		find_last_of_id(l, first, last);
	if (!rt_ok(l->s))
		return head;
	for (uint32_t i = 0; i < l->count; i++) /* records between the first and the last */
		if (first[i] != i && last[first[i]] != i)
			show_as(l, i, last[first[i]], l->entries[first[i]].entry, head);
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t entry = l->entries[i].entry;

		if (last[i] == i)
			continue;
		show_as(l, i, last[i], entry, head);
		l->entries[last[i]].entry = entry;
	}
	for (uint32_t i = 0; head != RT_TREE_NONE && i < l->count; i++)
		if (l->entries[i].entry == l->entries[head].entry && i > head) {
			l->entries[head].flags |= RT_TREE_ACTIVE;
			head = i;
		}
	return head;
}

/* ---- reading ---- */

rt_status
rt_tree_reader_read(rt_tree_reader *r, const rt_project *project, uint32_t disc, rt_tree *tree,
		    rt_error *err)
{
	rt_scope s;
	list l = {.reader = r, .project = project, .s = &s};
	rt_tree_reader old = *r;
	uint32_t head = RT_TREE_NONE;
	rt_status st = rt_project_disc(project, disc != 0 ? disc : project->active, &l.disc, err);

	if (st != RT_OK)
		return st;
	rt_scope_init(&s, r->alloc);
	RT_TRY(&s, rt_trie_init(&l.trie, r->alloc, project, l.disc, &s.error));
	if (rt_ok(&s))
		fill(&l);
	if (rt_ok(&s) && l.trie.head != RT_TRIE_NONE)
		head = l.index[l.trie.head];
	if (rt_ok(&s) && r->as_pi)
		head = show_last_of_id(&l, head);
	rt_trie_deinit(&l.trie); /* large, and not needed while the tree is made */
	if (rt_ok(&s)) {
		r->project = rt_object_ref(project);
		r->disc = l.disc->number;
		if (RT_TRY(&s, rt_tree_set(tree, l.entries, l.count, head, &s.error)) == RT_OK) {
			rt_object_unref(old.project);
		} else {
			rt_object_unref(project);
			r->project = old.project;
			r->disc = old.disc;
		}
	}
	return rt_scope_end(&s, err);
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
	bool is_label = false;
	rt_status st = RT_OK;
	rt_scope s;
	rt_view view = {&s, r->engine, r->project, {0}};

	if (rt_project_disc(r->project, r->disc, &disc, NULL) != RT_OK ||
	    rt_seq_count(disc->labels) == 0)
		return RT_OK;
	rt_scope_init(&s, r->alloc);
	for (uint32_t node = 0; st == RT_OK && node < rt_tree_node_count(tree); node++) {
		const rt_tree_node *n = rt_tree_node_at(tree, node);
		const rt_body *body;
		rt_str kind;

		if (node == 0 || n->voice != rt_tree_node_at(tree, node - 1)->voice)
			is_label = rt_project_name(r->project, n->voice & 0xFFFF, &kind, NULL) ==
					   RT_OK &&
				   rt_str_is(kind, "label");
		if (!is_label)
			continue;
		body = rt_view_body(&view, n->body);
		if (body != NULL)
			tell_label(r, disc, body, fn, ctx);
		st = s.status == RT_NOMEM ? RT_NOMEM : RT_OK;
		rt_scope_reset(&s);
	}
	rt_scope_deinit(&s);
	return st;
}
