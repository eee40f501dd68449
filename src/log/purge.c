/* SPDX-License-Identifier: MIT
 *
 * Purge: the only operation that removes content (C24).
 *
 *   {entry}  every body of the entry becomes a hole ('X'): no text, no fields; the files attached
 *            to no other entry are dropped
 *   {text}   every body that holds the text becomes a hole; in the log each string that holds it
 *            (a name, a label, an id, a role, a prompt, a setting; before and after alike) is
 *            masked; side rows that hold it, attached files too, are dropped
 *
 * It runs inside the store's begin, as a part of a commit; when it fails after its first write,
 * the whole commit is cancelled. The overwritten bytes remain in free pages and in the
 * write-ahead log until the store is scrubbed, which commit.c does after the commit.
 *
 * The value and its checkpoint follow from the log: when rows have changed, the checkpoint is
 * dropped here, and commit.c reloads the value. The epoch changes then, so that other processes do
 * not write a checkpoint from their memory. */
#include "log/purge.h"

#include <stdio.h>
#include <stdlib.h> /* qsort, bsearch */

#include "log/blob.h"
#include "log/checkpoint.h"
#include "log/collect.h"
#include "log/purge_impl.h"
#include "log/vectors.h"

enum {
	SAME_MIN = 8,  /* bytes; shorter texts are equal by chance */
	GONE_MIN = 32, /* bytes; "continue" is not a secret, and occurs in texts of others */
	SAME_TEXTS_MAX = 16
};

typedef struct numbers {
	uint64_t *items; /* in the scope */
	size_t count, capacity;
} numbers;

typedef struct purge {
	rt_scope *s; /* of the request */
	rt_engine *engine;
	const rt_project *project;
	rt_result *result;
	rt_needle needle; /* {text} */
	rt_purge_mask mask;
	uint32_t entry;    /* {entry}, else 0 */
	rt_scope row;      /* memory of the current log row or body */
	numbers bodies;    /* to become holes */
	numbers rows;      /* of the log, to be masked */
	rt_str *sides;     /* names of side rows to be dropped */
	size_t side_count, side_capacity;
	rt_needle same[SAME_TEXTS_MAX]; /* {entry}: its texts */
	size_t same_count;
	uint64_t same_bodies; /* other bodies with one of these texts */
	rt_str *blobs;        /* {entry}: hashes of its files; ptr NULL once another entry has it */
	size_t blob_count, blob_capacity;
	size_t files;         /* attached files dropped */
	bool in_project_name;
	bool has_written;
} purge;

static void
add_number(purge *p, numbers *to, uint64_t number)
{
	uint64_t *items = rt_scope_grow(p->s, to->items, to->count, &to->capacity, sizeof(*items));

	if (items == NULL)
		return;
	to->items = items;
	to->items[to->count++] = number;
}

static int
number_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Ascending, each number once. */
static void
sort_numbers(numbers *n)
{
	size_t kept = 0;

	if (n->count > 1)
		qsort(n->items, n->count, sizeof(*n->items), number_order);
	for (size_t i = 0; i < n->count; i++)
		if (kept == 0 || n->items[kept - 1] != n->items[i])
			n->items[kept++] = n->items[i];
	n->count = kept;
}

/* ---- finding ---- */

static bool
find_body(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;

	if (row->data.size > 0 && row->data.ptr[0] != RT_BODY_PURGED &&
	    (p->entry != 0 ? row->entry == p->entry : rt_needle_in_body(&p->needle, row->data)))
		add_number(p, &p->bodies, row->number);
	return rt_ok(p->s);
}

static bool
find_row(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;

	if (rt_needle_in(&p->needle, row->data))
		add_number(p, &p->rows, row->number);
	rt_purge_mask_learn(&p->mask, row->data); /* also the masks of earlier purges */
	return rt_ok(p->s);
}

/* The entry's bodies as the log names them, in whatever row. */
static bool
find_slots(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;
	rt_record record = {0};
	rt_slot_walk walk = {0};
	const rt_effect_slot *slot;

	rt_scope_reset(&p->row);
	rt_arena *arena = rt_scope_arena(&p->row);
	rt_scope_note(p->s, p->row.status);
	/* Rows that cannot be read are reported by fsck. */
	if (arena == NULL || rt_record_read(p->s->alloc, arena, row->data, &record, NULL) != RT_OK)
		return rt_ok(p->s);
	while ((slot = rt_record_next_slot(&record, &walk)) != NULL)
		if (slot->slot.entry == p->entry)
			add_number(p, &p->bodies, slot->slot.body);
	return rt_ok(p->s);
}

static bool
find_side(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;
	rt_str *sides;

	if (rt_str_is(row->name, RT_SALTED_MARK) || rt_str_is(row->name, RT_HEAD_MARK) ||
	    rt_str_starts(row->name, RT_STR(RT_BROWSER_PREFIX)) ||
	    rt_str_starts(row->name, RT_STR(RT_CODE_PREFIX)) || rt_collect_is_mark(row->name))
		return rt_ok(p->s);
	if (!rt_needle_in(&p->needle, row->data) &&
	    (rt_collect_is_content(row->name) || !rt_needle_in(&p->needle, row->name)))
		return rt_ok(p->s);
	sides = rt_scope_grow(p->s, p->sides, p->side_count, &p->side_capacity, sizeof(*sides));
	if (sides != NULL) {
		p->sides = sides;
		p->sides[p->side_count++] = rt_scope_copy(p->s, row->name);
	}
	return rt_ok(p->s);
}

static bool
find_name(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;

	if (row->number != p->engine->project)
		return true;
	p->in_project_name = rt_str_find(row->data, p->needle.text, 0) != SIZE_MAX;
	return false;
}

static void
read_rows(purge *p, rt_rows rows, rt_store_row_fn fn)
{
	RT_TRY(p->s, p->engine->store->ops->read(p->engine->store, rows, fn, p, &p->s->error));
}

static void
read_log(purge *p, rt_store_row_fn fn)
{
	read_rows(p, rt_rows_between(RT_STORE_LOG, p->engine->project, 1, p->project->seq), fn);
}

/* ---- writing ---- */

/* Make a hole of a body. One that is a hole already does not count. */
static void
blank_body(purge *p, uint64_t number)
{
	static const char hole[] = {RT_BODY_PURGED};
	rt_store *store = p->engine->store;
	uint64_t project = p->engine->project;
	rt_scope *s = &p->row;

	rt_scope_reset(s);
	rt_buf *bytes = rt_scope_buf(s);
	rt_status st = rt_store_get(store, rt_rows_one(RT_STORE_BODIES, project, number), bytes, NULL,
				    &s->error);
	if (st == RT_NOT_FOUND) /* named by the log, but gone */
		return;
	rt_scope_note(s, st);
	if (rt_ok(s) && bytes->size > 0 && bytes->ptr[0] != RT_BODY_PURGED) {
		p->has_written = true;
		/* whatever the mark is: an index that counts as empty may have its words */
		RT_TRY(s, store->ops->drop(store, rt_rows_one(RT_STORE_INDEX, project, number),
					   &s->error));
		RT_TRY(s, store->ops->write(store, rt_rows_one(RT_STORE_BODIES, project, number),
					    rt_str_at(hole, sizeof(hole)), &s->error));
		p->result->count += rt_ok(s);
	}
	(void)rt_scope_join(p->s, s);
}

static void
blank_bodies(purge *p)
{
	for (size_t i = 0; rt_ok(p->s) && i < p->bodies.count; i++)
		blank_body(p, p->bodies.items[i]);
	rt_vectors_purge(p->engine->store, p->engine->project, p->s, p->bodies.items, p->bodies.count);
}

/* A log row without the text, read again before it is written. true: it has changed. */
static bool
mask_row(purge *p, uint64_t seq)
{
	rt_store *store = p->engine->store;
	rt_scope *s = &p->row;
	rt_record record = {0};
	bool changed;

	rt_scope_reset(s);
	rt_arena *arena = rt_scope_arena(s);
	RT_TRY(s, rt_engine_record(p->engine, seq, arena, &record, NULL, &s->error));
	changed = rt_ok(s) && rt_purge_mask_record(&p->mask, s, &record);
	if (changed) {
		rt_buf *row = rt_scope_buf(s);

		rt_record_write(row, &record);
		rt_str text = rt_scope_str(s, row);
		RT_TRY(s, rt_record_read(s->alloc, arena, text, &record, &s->error));
		p->has_written = p->has_written || rt_ok(s);
		RT_TRY(s, store->ops->write(store,
					    rt_rows_one(RT_STORE_LOG, p->engine->project, seq), text,
					    &s->error));
	}
	(void)rt_scope_join(p->s, s);
	return changed;
}

static const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void
drop_side(purge *p, rt_str name)
{
	rt_store *store = p->engine->store;

	p->has_written = true;
	p->files += rt_str_starts(name, RT_STR(RT_BLOB_PREFIX));
	RT_TRY(p->s, store->ops->write(store, rt_rows_named(RT_STORE_SIDE, p->engine->project, name),
				       rt_str_at(NULL, 0), &p->s->error));
	rt_collect_purge(p->engine, p->s, name);
}

/* ---- {text} ---- */

static void
note_files(purge *p, rt_buf *note)
{
	if (p->files > 0)
		rt_buf_add_f(note, "%s%zu attached file%s removed", note->size > 0 ? ", " : "", p->files,
			     plural(p->files));
}

static void
note_text(purge *p, uint64_t rows)
{
	rt_buf *note = rt_scope_buf(p->s);
	uint64_t count = p->result->count;

	rt_buf_add_f(note, "%llu text%s erased", (unsigned long long)count, plural(count));
	if (rows > 0)
		rt_buf_add_f(note, ", %llu log row%s rewritten", (unsigned long long)rows,
			     plural(rows));
	if (p->side_count > p->files)
		rt_buf_add_f(note, ", %zu draft%s deleted", p->side_count - p->files,
			     plural(p->side_count - p->files));
	note_files(p, note);
	rt_buf_add_c(note, "; not covered: earlier backups and exports, and other projects");
	if (p->in_project_name)
		rt_buf_add_c(note, "; the name of the project contains the text and cannot be changed");
	rt_result_set_note(p->result, p->s, note);
}

static void
purge_text(purge *p, rt_str text)
{
	rt_engine *engine = p->engine;
	uint64_t rows = 0;

	p->needle = rt_needle_of(p->s, text);
	rt_purge_mask_init(&p->mask, p->s, &engine->source, &p->needle);
	read_rows(p, rt_rows_all(RT_STORE_BODIES, engine->project), find_body);
	read_log(p, find_row);
	read_rows(p, rt_rows_all(RT_STORE_SIDE, engine->project), find_side);
	for (size_t i = 0; rt_ok(p->s) && i < p->rows.count; i++)
		rows += mask_row(p, p->rows.items[i]);
	blank_bodies(p);
	for (size_t i = 0; rt_ok(p->s) && i < p->side_count; i++)
		drop_side(p, p->sides[i]);
	if (rows > 0)
		rt_engine_drop_checkpoint(engine, p->s);
	read_rows(p, rt_rows_all(RT_STORE_PROJECTS, 0), find_name);
	p->result->unchanged = p->result->count == 0 && rows == 0 && p->side_count == 0;
	if (!p->result->unchanged || p->in_project_name)
		note_text(p, rows);
}

/* ---- {entry} ---- */

static bool
find_same(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;
	size_t i = 0;

	if (bsearch(&row->number, p->bodies.items, p->bodies.count, sizeof(row->number),
		    number_order) != NULL)
		return true;
	while (i < p->same_count && !rt_needle_in_body(&p->same[i], row->data))
		i++;
	p->same_bodies += i < p->same_count;
	return rt_ok(p->s);
}

/* A text of the entry: other bodies may contain it, too. */
static void
add_same(purge *p, rt_str text)
{
	if (text.size < SAME_MIN)
		return;
	for (size_t i = 0; i < p->same_count; i++)
		if (rt_str_eq(p->same[i].text, text))
			return;
	p->same[p->same_count++] = rt_needle_of(p->s, rt_scope_copy(p->s, text));
	if (text.size >= GONE_MIN)
		rt_engine_add_gone(p->engine, text, p->s);
}

/* How many other bodies hold one of the texts that are about to be purged; only the newest are
 * searched. */
static void
count_same(purge *p)
{
	for (size_t i = p->bodies.count; rt_ok(p->s) && i > 0 && p->same_count < SAME_TEXTS_MAX; i--) {
		rt_buf bytes;
		rt_body body;

		rt_scope_reset(&p->row);
		rt_status st = rt_engine_body(p->engine, p->bodies.items[i - 1], &bytes, &body,
					      &p->row.error);
		if (st == RT_OK) {
			rt_buf *text = rt_scope_buf(&p->row);

			rt_body_add_text(text, &body);
			add_same(p, rt_scope_str(&p->row, text));
			rt_body_deinit(&body);
			rt_buf_deinit(&bytes);
		} else if (st == RT_NOMEM) {
			rt_scope_note(&p->row, st);
		}
		(void)rt_scope_join(p->s, &p->row);
	}
	if (p->same_count > 0)
		read_rows(p, rt_rows_all(RT_STORE_BODIES, p->engine->project), find_same);
}

static void
add_blob(purge *p, rt_str hash)
{
	for (size_t i = 0; i < p->blob_count; i++)
		if (rt_str_eq(p->blobs[i], hash))
			return;
	rt_str *blobs = rt_scope_grow(p->s, p->blobs, p->blob_count, &p->blob_capacity,
				      sizeof(*blobs));
	if (blobs == NULL)
		return;
	p->blobs = blobs;
	blobs[p->blob_count++] = rt_scope_copy(p->s, hash);
}

/* The files attached to any revision of the entry. */
static void
find_blobs(purge *p)
{
	for (size_t i = 0; rt_ok(p->s) && i < p->bodies.count; i++) {
		rt_buf bytes;
		rt_body body;

		rt_scope_reset(&p->row);
		rt_status st = rt_engine_body(p->engine, p->bodies.items[i], &bytes, &body,
					      &p->row.error);
		if (st == RT_OK) {
			for (rt_json_iter it = rt_json_items(body.content_json); rt_json_next(&it);) {
				rt_str hash = rt_blob_of(it.value);

				if (hash.size > 0)
					add_blob(p, hash);
			}
			rt_body_deinit(&body);
			rt_buf_deinit(&bytes);
		} else if (st == RT_NOMEM) {
			rt_scope_note(&p->row, st);
		}
		(void)rt_scope_join(p->s, &p->row);
	}
}

static bool
find_sharer(void *ctx, const rt_store_row *row)
{
	purge *p = ctx;

	if (bsearch(&row->number, p->bodies.items, p->bodies.count, sizeof(row->number),
		    number_order) != NULL)
		return true;
	for (size_t i = 0; i < p->blob_count; i++)
		if (p->blobs[i].ptr != NULL && rt_str_find(row->data, p->blobs[i], 0) != SIZE_MAX)
			p->blobs[i] = rt_str_at(NULL, 0);
	return true;
}

static void
drop_blobs(purge *p)
{
	char name[sizeof(RT_BLOB_PREFIX) + RT_SHA256_HEX_ROOM];

	find_blobs(p);
	if (p->blob_count > 0)
		read_rows(p, rt_rows_all(RT_STORE_BODIES, p->engine->project), find_sharer);
	for (size_t i = 0; rt_ok(p->s) && i < p->blob_count; i++) {
		if (p->blobs[i].ptr == NULL)
			continue;
		snprintf(name, sizeof(name), RT_BLOB_PREFIX "%.*s", RT_STR_ARG(p->blobs[i]));
		drop_side(p, rt_str_of(name));
	}
}

/* The entry at an address. It need not be in any take. */
static uint32_t
find_entry(purge *p, rt_place place, rt_str address)
{
	uint32_t entry = 0;
	rt_scope *s = p->s;
	rt_status st = rt_resolve_entry(p->project, place, address, true, &entry, &s->error);

	if (st != RT_NOT_FOUND ||
	    rt_resolve_vanished(p->project, place.disc, address, &entry, NULL) != RT_OK || entry == 0)
		rt_scope_note(s, st);
	RT_TRY(s, rt_entry_id(p->project, entry, p->result->entry, &s->error));
	return entry;
}

static void
purge_entry(purge *p, rt_place place, rt_str address)
{
	p->entry = find_entry(p, place, address);
	read_rows(p, rt_rows_all(RT_STORE_BODIES, p->engine->project), find_body);
	read_log(p, find_slots);
	sort_numbers(&p->bodies);
	count_same(p);
	drop_blobs(p);
	blank_bodies(p);
	p->result->unchanged = p->result->count == 0;
	if (p->result->unchanged)
		return;
	rt_buf *note = rt_scope_buf(p->s);
	if (p->same_bodies > 0)
		rt_buf_add_f(
			note,
			"%llu other text%s still contain%s the same words (copies made by merge, split or graft; to erase them, purge {\"text\":…}); ",
			(unsigned long long)p->same_bodies, plural(p->same_bodies),
			p->same_bodies == 1 ? "s" : "");
	note_files(p, note);
	rt_buf_add_c(note, p->files > 0 ? "; not covered: earlier backups and exports"
					: "not covered: earlier backups and exports");
	rt_result_set_note(p->result, p->s, note);
}

bool
rt_engine_purge(rt_change *c, const rt_request *r)
{
	bool of_text = r->text.ptr != NULL;
	size_t gone = c->engine->gone_count;
	purge *p;

	if ((r->entry.ptr != NULL) == of_text)
		rt_scope_fail(c->scope, RT_USAGE, "give either \"entry\" or \"text\"");
	if (of_text && r->text.size == 0)
		rt_scope_fail(c->scope, RT_USAGE, "\"text\" is empty");
	p = rt_scope_get(c->scope, sizeof(*p));
	if (p == NULL)
		return false;
	p->s = c->scope;
	p->engine = c->engine;
	p->project = c->base;
	p->result = c->result;
	rt_scope_init(&p->row, c->scope->alloc);
	if (of_text)
		purge_text(p, r->text);
	else
		purge_entry(p, c->place, r->entry);
	rt_scope_deinit(&p->row);
	if (!rt_change_ok(c))
		rt_engine_forget_gone(c->engine, gone);
	return p->has_written;
}
