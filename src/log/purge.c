/* SPDX-License-Identifier: MIT
 *
 * Purge: the one way in which content leaves (C24).
 *
 *   {entry}  every body of the entry becomes a hole ('X'): no text, no fields
 *   {text}   every body that holds the text becomes a hole; in the log each string that
 *            holds it (a name, a label, an id, a role, a prompt, a setting; before and
 *            after alike) is masked; side rows that hold it are dropped
 *
 * It runs inside the store's begin, as a part of a commit; when it fails after it has
 * begun to write, the whole commit is cancelled. What was overwritten still lies in free
 * pages and in the write-ahead log until the store is scrubbed, which commit.c does after
 * the commit.
 *
 * The value and its checkpoint follow from the log: when rows have changed, the checkpoint
 * is dropped here, and commit.c loads the value anew. The epoch changes then, so that
 * other processes do not write a checkpoint of what they still have in memory. */
#include "base/varint.h"
#include "log/purge.h"
#include "log/purge_impl.h"

#include <stdlib.h> /* qsort, bsearch */

enum {
	SAME_MIN = 8,  /* bytes; shorter texts are equal by chance */
	GONE_MIN = 32, /* bytes; "continue" is no secret, and stands inside of what others write */
	SAME_TEXTS_MAX = 16
};

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while purging");
}

typedef struct numbers {
	uint64_t *items; /* ascending */
	size_t count, room;
} numbers;

typedef struct purge {
	rt_engine *engine;
	const rt_project *project;
	rt_arena *arena;
	rt_needle needle;    /* {text} */
	rt_mask mask;
	uint32_t entry;      /* {entry}, else 0 */
	numbers bodies;      /* to become holes */
	numbers rows;        /* of the log, to be looked at */
	uint64_t index_mark;
	uint64_t same;       /* {entry}: other bodies with its text */
	bool nomem;
} purge;

static bool
numbers_add(purge *p, numbers *to, uint64_t number)
{
	if (to->count == to->room) {
		size_t room = to->room == 0 ? 64 : to->room * 2;
		uint64_t *items = rt_resize(p->engine->alloc, to->items, room * sizeof(*items));

		if (items == NULL) {
			p->nomem = true;
			return false;
		}
		to->items = items;
		to->room = room;
	}
	to->items[to->count++] = number;
	return true;
}

static int
number_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
numbers_sort(numbers *n)
{
	size_t i, kept = 0;

	if (n->count > 1)
		qsort(n->items, n->count, sizeof(*n->items), number_order);
	for (i = 0; i < n->count; i++)
		if (kept == 0 || n->items[kept - 1] != n->items[i])
			n->items[kept++] = n->items[i];
	n->count = kept;
}

static bool
numbers_has(const numbers *n, uint64_t number)
{
	return n->count > 0 &&
	       bsearch(&number, n->items, n->count, sizeof(*n->items), number_order) != NULL;
}

static rt_str
keep(purge *p, rt_str s)
{
	char *copy = rt_arena_get(p->arena, s.size + 1);

	if (copy == NULL) {
		p->nomem = true;
		return rt_str_at("", 0);
	}
	if (s.size > 0)
		memcpy(copy, s.ptr, s.size);
	copy[s.size] = '\0';
	return rt_str_at(copy, s.size);
}

/* ---- finding ---- */

static bool
find_body(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;

	if (row->data.size > 0 && row->data.ptr[0] != RT_BODY_PURGED &&
	    (p->entry != 0 ? row->entry == p->entry : rt_needle_in_body(&p->needle, row->data)))
		(void)numbers_add(p, &p->bodies, row->number);
	return !p->nomem && !p->needle.nomem;
}

static bool
find_row(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;

	if (rt_needle_in(&p->needle, row->data))
		(void)numbers_add(p, &p->rows, row->number);
	if (rt_mask_learn(&p->mask, row->data) != RT_OK) /* also those of earlier purges */
		p->nomem = true;
	return !p->nomem && !p->needle.nomem;
}

/* The entry's bodies as the log names them: whatever row they stand in. */
static bool
find_slots(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	rt_record record;
	size_t i, j;

	if (arena == NULL ||
	    rt_record_read(p->engine->alloc, arena, row->data, &record, NULL) != RT_OK) {
		p->nomem = p->nomem || arena == NULL;
		rt_arena_free(arena);
		return !p->nomem; /* a row that cannot be read: fsck says so */
	}
	for (i = 0; i < record.effect_count; i++) {
		const rt_effect *e = &record.effects[i];

		for (j = 0; j < e->removed_count; j++)
			if (e->removed[j].slot.entry == p->entry)
				(void)numbers_add(p, &p->bodies, e->removed[j].slot.body);
		for (j = 0; j < e->added_count; j++)
			if (e->added[j].slot.entry == p->entry)
				(void)numbers_add(p, &p->bodies, e->added[j].slot.body);
	}
	rt_arena_free(arena);
	return !p->nomem;
}

typedef struct side_list {
	purge *p;
	rt_str *names;
	size_t count, room;
} side_list;

static bool
find_side(void *ctx, const rt_store_row *row)
{
	side_list *l = ctx;

	if (rt_str_is(row->name, RT_SALTED_MARK) ||
	    rt_str_is(row->name, RT_HEAD_MARK)) /* nobody's text */
		return true;
	if (!rt_needle_in(&l->p->needle, row->name) && !rt_needle_in(&l->p->needle, row->data))
		return !l->p->needle.nomem;
	if (l->count == l->room) {
		size_t room = l->room == 0 ? 16 : l->room * 2;
		rt_str *names = rt_arena_get(l->p->arena, room * sizeof(*names));

		if (names == NULL) {
			l->p->nomem = true;
			return false;
		}
		if (l->count > 0)
			memcpy(names, l->names, l->count * sizeof(*names));
		l->names = names;
		l->room = room;
	}
	l->names[l->count++] = keep(l->p, row->name);
	return !l->p->nomem;
}

/* ---- writing ---- */

/* Make holes of the bodies; those that are holes already do not count. */
static rt_status
blank_bodies(purge *p, uint64_t *out_count, rt_error *err)
{
	const rt_store_ops *ops = p->engine->store->ops;
	const char hole[] = {RT_BODY_PURGED};
	size_t i;
	rt_status st = RT_OK;

	*out_count = 0;
	for (i = 0; st == RT_OK && i < p->bodies.count; i++) {
		uint64_t number = p->bodies.items[i];
		rt_buf bytes, text;
		rt_body body;

		rt_buf_init(&bytes, p->engine->alloc, RT_BUF_UNLIMITED);
		rt_buf_init(&text, p->engine->alloc, RT_BUF_UNLIMITED);
		st = rt_store_get(p->engine->store,
				  rt_rows_one(RT_STORE_BODIES, p->engine->project, number), &bytes,
				  NULL, err);
		if (st == RT_NOT_FOUND) { /* named by the log, but gone: nothing to hide */
			rt_buf_deinit(&bytes);
			st = RT_OK;
			continue;
		}
		if (st == RT_OK && bytes.status != RT_OK)
			st = nomem(err);
		if (st == RT_OK && bytes.size > 0 && bytes.ptr[0] != RT_BODY_PURGED) {
			rt_status read = rt_body_read(p->engine->alloc, rt_buf_str(&bytes), &body,
						      NULL);

			if (read == RT_NOMEM)
				st = nomem(err);
			if (read == RT_OK) {
				rt_body_add_text(&text, &body);
				rt_body_deinit(&body);
			}
			if (text.status != RT_OK)
				st = nomem(err);
			if (st == RT_OK && number <= p->index_mark)
				st = ops->drop(
					p->engine->store,
					rt_rows_one(RT_STORE_INDEX, p->engine->project, number),
					err);
			if (st == RT_OK)
				st = ops->write(
					p->engine->store,
					rt_rows_one(RT_STORE_BODIES, p->engine->project, number),
					rt_str_at(hole, sizeof(hole)), err);
			*out_count += st == RT_OK;
		}
		rt_buf_deinit(&bytes);
		rt_buf_deinit(&text);
	}
	return st;
}

/* The log's rows without the text. Each is checked before it is written. */
static rt_status
rewrite_rows(purge *p, uint64_t *out_count, rt_error *err)
{
	const rt_store_ops *ops = p->engine->store->ops;
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	size_t i;
	rt_buf row;
	rt_status st = arena != NULL ? RT_OK : nomem(err);

	*out_count = 0;
	rt_buf_init(&row, p->engine->alloc, RT_BUF_UNLIMITED);
	for (i = 0; st == RT_OK && i < p->rows.count; i++) {
		bool changed = false;
		rt_record record;

		rt_arena_reset(arena);
		st = rt_engine_record(p->engine, p->rows.items[i], arena, &record, NULL, err);
		if (st == RT_OK)
			st = rt_mask_record(&p->mask, &record, &changed, err);
		if (st != RT_OK || !changed)
			continue;
		rt_buf_clear(&row);
		rt_record_write(&row, &record);
		if (row.status != RT_OK)
			st = nomem(err);
		if (st == RT_OK)
			st = rt_record_read(p->engine->alloc, arena, rt_buf_str(&row), &record, err);
		if (st == RT_OK)
			st = ops->write(
				p->engine->store,
				rt_rows_one(RT_STORE_LOG, p->engine->project, p->rows.items[i]),
				rt_buf_str(&row), err);
		*out_count += st == RT_OK;
	}
	rt_buf_deinit(&row);
	rt_arena_free(arena);
	return st;
}

/* Forget the checkpoint. Its node numbers are not used again, so that nobody who still
 * holds an older value reads a new node for an old one. */
static rt_status
drop_checkpoint(purge *p, rt_error *err)
{
	rt_engine *engine = p->engine;
	const rt_store_ops *ops = engine->store->ops;
	uint64_t seq;
	rt_buf root;
	rt_status st;

	rt_buf_init(&root, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project), &root, &seq,
			  NULL);
	if (st == RT_OK && root.status == RT_OK) {
		rt_reader reader = rt_reader_of(rt_buf_str(&root));
		uint64_t next = rt_read_varint(&reader);

		if (reader.ok && next > engine->next_node)
			engine->next_node = next;
	}
	rt_buf_deinit(&root);
	st = ops->drop(engine->store, rt_rows_all(RT_STORE_ROOT, engine->project), err);
	if (st == RT_OK)
		engine->root_seq = 0;
	if (st == RT_OK)
		st = ops->epoch_renew(engine->store, err);
	if (st == RT_OK)
		st = ops->epoch(engine->store, &engine->epoch, err);
	return st;
}

static rt_status
set_note(purge *p, rt_result *result, const rt_buf *note, rt_error *err)
{
	if (note->status != RT_OK)
		return nomem(err);
	rt_text_unref(result->note);
	result->note = (rt_text *)(uintptr_t)rt_text_new(p->engine->alloc, rt_buf_str(note));
	return result->note != NULL ? RT_OK : nomem(err);
}

/* ---- {text} ---- */

typedef struct name_search {
	const purge *p;
	bool found;
} name_search;

static bool
find_name(void *ctx, const rt_store_row *row)
{
	name_search *s = ctx;

	if (row->number != s->p->engine->project)
		return true;
	s->found = rt_str_find(row->data, s->p->needle.text, 0) != SIZE_MAX;
	return false;
}

static rt_status
purge_text(purge *p, rt_result *result, rt_error *err)
{
	rt_engine *engine = p->engine;
	const rt_store_ops *ops = engine->store->ops;
	side_list sides = {.p = p};
	name_search name = {.p = p};
	uint64_t rows = 0;
	size_t i;
	rt_buf note;
	rt_status st;

	if (rt_mask_init(&p->mask, engine->alloc, &engine->source, p->arena, &p->needle) != RT_OK)
		return nomem(err);
	st = ops->read(engine->store, rt_rows_all(RT_STORE_BODIES, engine->project), find_body, p,
		       err);
	if (st == RT_OK && !p->nomem && !p->needle.nomem)
		st = ops->read(engine->store,
			       rt_rows_between(RT_STORE_LOG, engine->project, 1, p->project->seq),
			       find_row, p, err);
	if (st == RT_OK && !p->nomem && !p->needle.nomem)
		st = ops->read(engine->store, rt_rows_all(RT_STORE_SIDE, engine->project),
			       find_side, &sides, err);
	if (st == RT_OK && (p->nomem || p->needle.nomem))
		st = nomem(err);
	if (st == RT_OK)
		st = rewrite_rows(p, &rows, err);
	if (st == RT_OK)
		st = blank_bodies(p, &result->count, err);
	for (i = 0; st == RT_OK && i < sides.count; i++)
		st = ops->write(engine->store,
				rt_rows_named(RT_STORE_SIDE, engine->project, sides.names[i]),
				rt_str_at(NULL, 0), err);
	if (st == RT_OK && rows > 0)
		st = drop_checkpoint(p, err);
	if (st == RT_OK)
		st = ops->read(engine->store, rt_rows_all(RT_STORE_PROJECTS, 0), find_name, &name,
			       err);
	if (st != RT_OK)
		return st;
	result->unchanged = result->count == 0 && rows == 0 && sides.count == 0;
	if (result->unchanged && !name.found)
		return RT_OK;
	rt_buf_init(&note, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&note, "%llu text%s blanked", (unsigned long long)result->count,
		     result->count == 1 ? "" : "s");
	if (rows > 0)
		rt_buf_add_f(&note, ", %llu log row%s rewritten", (unsigned long long)rows,
			     rows == 1 ? "" : "s");
	if (sides.count > 0)
		rt_buf_add_f(&note, ", %zu draft%s dropped", sides.count,
			     sides.count == 1 ? "" : "s");
	rt_buf_add_c(&note, "; not reached: backups and exports made before, and other projects");
	if (name.found)
		rt_buf_add_c(&note, "; the project's own name holds the text, and cannot be changed");
	st = set_note(p, result, &note, err);
	rt_buf_deinit(&note);
	return st;
}

/* ---- {entry} ---- */

typedef struct same_search {
	purge *p;
	rt_needle texts[SAME_TEXTS_MAX];
	size_t count;
	bool nomem;
} same_search;

static bool
find_same(void *ctx, const rt_store_row *row)
{
	same_search *s = ctx;
	size_t i;

	if (numbers_has(&s->p->bodies, row->number))
		return true;
	for (i = 0; i < s->count; i++) {
		if (rt_needle_in_body(&s->texts[i], row->data)) {
			s->p->same++;
			break;
		}
		if (s->texts[i].nomem) {
			s->nomem = true;
			return false;
		}
	}
	return true;
}

/* To be told to whoever else may keep it. */
static bool
add_gone(rt_engine *engine, rt_str text)
{
	if (engine->purged == NULL)
		return true;
	if (engine->gone_count == engine->gone_room) {
		size_t room = engine->gone_room == 0 ? 16 : engine->gone_room * 2;
		const rt_text **gone = rt_resize(engine->alloc, engine->gone, room * sizeof(*gone));

		if (gone == NULL)
			return false;
		engine->gone = gone;
		engine->gone_room = room;
	}
	engine->gone[engine->gone_count] = rt_text_new(engine->alloc, text);
	if (engine->gone[engine->gone_count] == NULL)
		return false;
	engine->gone_count++;
	return true;
}

/* How many other bodies hold one of the texts that are about to go. */
static rt_status
count_same(purge *p, rt_error *err)
{
	const rt_store_ops *ops = p->engine->store->ops;
	same_search *s = rt_new0(p->engine->alloc, sizeof(*s));
	size_t i, j;
	rt_status st = s != NULL ? RT_OK : nomem(err);

	if (st != RT_OK)
		return st;
	s->p = p;
	for (i = p->bodies.count; st == RT_OK && i > 0 && s->count < SAME_TEXTS_MAX; i--) {
		rt_buf bytes, text;
		rt_body body;

		rt_buf_init(&text, p->engine->alloc, RT_BUF_UNLIMITED);
		if (rt_engine_body(p->engine, p->bodies.items[i - 1], &bytes, &body, NULL) == RT_OK)
			rt_body_add_text(&text, &body);
		for (j = 0; j < s->count && !rt_str_eq(s->texts[j].text, rt_buf_str(&text)); j++)
			;
		if (j == s->count && text.size >= SAME_MIN) {
			rt_str kept = keep(p, rt_buf_str(&text));

			rt_needle_init(&s->texts[s->count++], p->engine->alloc, kept);
			p->nomem = p->nomem || (kept.size >= GONE_MIN && !add_gone(p->engine, kept));
		}
		if (p->nomem || text.status != RT_OK)
			st = nomem(err);
		rt_buf_deinit(&text);
		rt_body_deinit(&body);
		rt_buf_deinit(&bytes);
	}
	if (st == RT_OK && s->count > 0)
		st = ops->read(p->engine->store, rt_rows_all(RT_STORE_BODIES, p->engine->project),
			       find_same, s, err);
	if (st == RT_OK && s->nomem)
		st = nomem(err);
	for (i = 0; i < s->count; i++)
		rt_needle_deinit(&s->texts[i]);
	rt_free(p->engine->alloc, s);
	return st;
}

static rt_status
purge_entry(purge *p, rt_place place, rt_str address, rt_result *result, rt_error *err)
{
	rt_engine *engine = p->engine;
	const rt_store_ops *ops = engine->store->ops;
	rt_buf note;
	rt_status st = rt_resolve_entry(p->project, place, address, true, &p->entry, err);

	if (st == RT_NOT_FOUND) { /* in no take now, perhaps */
		rt_status vanished = rt_resolve_vanished(p->project, place.disc, address, &p->entry,
							 NULL);

		if (vanished != RT_OK || p->entry == 0)
			return st;
		st = RT_OK;
	}
	if (st == RT_OK)
		st = rt_entry_id(p->project, p->entry, result->entry, err);
	if (st == RT_OK)
		st = ops->read(engine->store, rt_rows_all(RT_STORE_BODIES, engine->project),
			       find_body, p, err);
	if (st == RT_OK && !p->nomem)
		st = ops->read(engine->store,
			       rt_rows_between(RT_STORE_LOG, engine->project, 1, p->project->seq),
			       find_slots, p, err);
	if (st == RT_OK && p->nomem)
		st = nomem(err);
	if (st != RT_OK)
		return st;
	numbers_sort(&p->bodies);
	st = count_same(p, err);
	if (st == RT_OK)
		st = blank_bodies(p, &result->count, err);
	if (st != RT_OK)
		return st;
	result->unchanged = result->count == 0;
	rt_buf_init(&note, engine->alloc, RT_BUF_UNLIMITED);
	if (p->same > 0)
		rt_buf_add_f(&note,
			     "%llu other text%s still hold%s the same words (copies by merge, split "
			     "or graft; purge {\"text\":…} reaches them); ",
			     (unsigned long long)p->same, p->same == 1 ? "" : "s",
			     p->same == 1 ? "s" : "");
	rt_buf_add_c(&note, "not reached: backups and exports made before");
	if (!result->unchanged)
		st = set_note(p, result, &note, err);
	rt_buf_deinit(&note);
	return st;
}

rt_status
rt_engine_purge(rt_engine *engine, const rt_project *project, const rt_request *r, rt_place place,
		rt_result *result, rt_error *err)
{
	bool of_text = r->text.ptr != NULL;
	size_t gone = engine->gone_count;
	purge *p;
	rt_status st;

	if ((r->entry.ptr != NULL) == of_text)
		return rt_fail(err, RT_USAGE, "say either \"entry\" or \"text\"");
	if (of_text && r->text.size == 0)
		return rt_fail(err, RT_USAGE, "\"text\" is empty");
	p = rt_new0(engine->alloc, sizeof(*p));
	if (p == NULL)
		return nomem(err);
	p->engine = engine;
	p->project = project;
	p->arena = rt_arena_new(engine->alloc);
	rt_needle_init(&p->needle, engine->alloc, r->text);
	st = p->arena != NULL && !p->needle.nomem
		     ? engine->store->ops->head(engine->store, RT_STORE_INDEX, engine->project,
						&p->index_mark, err)
		     : nomem(err);
	if (st == RT_OK && of_text)
		st = purge_text(p, result, err);
	else if (st == RT_OK)
		st = purge_entry(p, place, r->entry, result, err);
	if (st != RT_OK)
		rt_engine_forget_gone(engine, gone);
	if (p->mask.alloc != NULL)
		rt_mask_deinit(&p->mask);
	rt_free(engine->alloc, p->bodies.items);
	rt_free(engine->alloc, p->rows.items);
	rt_needle_deinit(&p->needle);
	rt_arena_free(p->arena);
	rt_free(engine->alloc, p);
	return st;
}
