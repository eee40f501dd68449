/* SPDX-License-Identifier: MIT
 *
 * Copying a project: side rows with contents, then batches of log rows with their bodies, then the
 * comparison, then side rows again. Repeated while the source changes. */
#include "log/copy.h"

#include <stdlib.h> /* qsort */
#include <string.h>

#include "codec/body.h"
#include "codec/record.h"
#include "log/collect.h"
#include "log/engine_impl.h"
#include "log/vectors.h"

enum { BATCH_ROWS = 1024, BATCH_BYTES = 1 << 20, PASSES = 4 };

typedef struct copy {
	rt_scope scope, batch;
	const rt_copy_options *options;
	rt_store *from, *to;
	uint64_t from_project, to_project;
	uint64_t seq, body;      /* the last of the copy */
	uint64_t equal_seq, equal_body; /* compared up to these */
	bool has_purge; /* the source has a purge that the copy had not */
	rt_copied *out;
} copy;

/* ---- rows of a store, in memory ---- */

typedef struct rows {
	rt_scope *s;
	rt_store_row *items;
	size_t count, capacity, bytes;
	bool is_limited;
} rows;

static bool
keep_row(void *ctx, const rt_store_row *row)
{
	rows *r = ctx;

	r->items = rt_scope_grow(r->s, r->items, r->count, &r->capacity, sizeof(*r->items));
	if (r->items == NULL)
		return false;
	rt_store_row *kept = &r->items[r->count++];
	*kept = *row;
	kept->data = rt_scope_copy(r->s, row->data);
	kept->name = rt_scope_copy(r->s, row->name);
	r->bytes += row->data.size;
	return rt_ok(r->s) &&
	       (!r->is_limited || (r->count < BATCH_ROWS && r->bytes < BATCH_BYTES));
}

static rows
read_rows(rt_scope *s, rt_store *store, rt_rows which, bool is_limited)
{
	rows r = {.s = s, .is_limited = is_limited};

	RT_TRY(s, store->ops->read(store, which, keep_row, &r, &s->error));
	if (!rt_ok(s))
		r.count = 0;
	return r;
}

static uint64_t
head(copy *c, rt_store *store, rt_store_table table, uint64_t project)
{
	rt_scope *s = &c->scope;
	uint64_t number = 0;

	RT_TRY(s, store->ops->head(store, table, project, &number, &s->error));
	return number;
}

static uint64_t
epoch_of_source(copy *c)
{
	uint64_t epoch = 0;

	RT_TRY(&c->scope, c->from->ops->epoch(c->from, &epoch, &c->scope.error));
	return epoch;
}

/* Ends a batch; false: the copy has failed, or was interrupted. */
static bool
end_batch(copy *c)
{
	rt_scope_adopt(&c->scope, &c->batch);
	rt_scope_reset(&c->batch);
	if (rt_ok(&c->scope) && c->options->progress != NULL &&
	    !c->options->progress(c->options->ctx, c->out))
		rt_scope_fail(&c->scope, RT_INTERRUPTED, "interrupted");
	return rt_ok(&c->scope);
}

/* ---- side rows ---- */

/* Side rows that describe the store itself, or belong to running programs: replies in flight,
 * browsers that are signed in. They are neither copied nor removed. */
static bool
is_of_store(rt_str name)
{
	static const char *const prefixes[] = {RT_INFLIGHT_PREFIX, RT_BROWSER_PREFIX, RT_CODE_PREFIX,
					       RT_IDEMPOTENCY_PREFIX, RT_BLOB_NEW_PREFIX, RT_RUN_PREFIX,
					       RT_RAN_PREFIX};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (rt_str_starts(name, rt_str_of(prefixes[i])))
			return true;
	return rt_str_is(name, RT_HEAD_MARK) || rt_str_is(name, RT_SCRUB_MARK);
}

static bool
read_side(copy *c, rt_store *store, uint64_t project, rt_str name, rt_buf *out)
{
	rt_scope *s = &c->batch;
	rt_status st = rt_ok(s) ? rt_store_get(store, rt_rows_named(RT_STORE_SIDE, project, name), out,
					       NULL, &s->error)
				: s->status;

	if (st != RT_NOT_FOUND)
		rt_scope_note(s, st);
	return st == RT_OK;
}

static void
write_side(copy *c, rt_str name, rt_str data)
{
	rt_scope *s = &c->batch;

	RT_TRY(s, c->to->ops->write(c->to, rt_rows_named(RT_STORE_SIDE, c->to_project, name), data,
				    &s->error));
	if (rt_ok(s)) {
		c->out->side_rows++;
		c->out->bytes += data.size;
	}
}

static void
copy_side_row(copy *c, rt_str name)
{
	rt_buf *ours = rt_scope_buf(&c->batch), *theirs = rt_scope_buf(&c->batch);
	bool is_here = read_side(c, c->from, c->from_project, name, ours);
	bool is_there = read_side(c, c->to, c->to_project, name, theirs);

	if (is_here && (!is_there || !rt_str_eq(rt_buf_str(ours), rt_buf_str(theirs))))
		write_side(c, name, rt_scope_str(&c->batch, ours));
	else if (!is_here && is_there && !rt_str_starts(name, RT_STR(RT_WRITTEN_PREFIX)) &&
		 !rt_str_starts(name, RT_STR(RT_IMPORTED_PREFIX)))
		write_side(c, name, RT_STR("")); /* a purge may have removed it from the source */
}

/* The names are read first, since reading must not call the store; then the rows one by one,
 * because the contents of files are large. */
static void
copy_names(copy *c, rt_store *store, uint64_t project)
{
	rt_scope names_scope;
	rows names = {.s = &names_scope};

	if (!rt_ok(&c->scope))
		return;
	rt_scope_init(&names_scope, c->scope.alloc);
	RT_TRY(&names_scope, store->ops->read(store, rt_rows_names(project), keep_row, &names,
					      &names_scope.error));
	rt_scope_adopt(&c->scope, &names_scope);
	for (size_t i = 0; rt_ok(&c->scope) && i < names.count; i++)
		if (!is_of_store(names.items[i].name)) {
			copy_side_row(c, names.items[i].name);
			end_batch(c);
		}
	rt_scope_deinit(&names_scope);
}

/* ---- log rows and bodies ---- */

/* The numbers of the bodies that rows name and the copy lacks, in order. */
typedef struct numbers {
	uint64_t *items;
	size_t count, capacity;
} numbers;

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static numbers
name_bodies(copy *c, const rows *r)
{
	rt_scope *s = &c->batch;
	numbers named = {0};
	size_t count = 0;

	for (size_t i = 0; rt_ok(s) && i < r->count; i++) {
		rt_record record = {0};
		rt_slot_walk walk = {0};
		const rt_effect_slot *slot;

		RT_TRY(s, rt_record_read(s->alloc, rt_scope_arena(s), r->items[i].data, &record,
					 &s->error));
		while (rt_ok(s) && (slot = rt_record_next_slot(&record, &walk)) != NULL) {
			if (!walk.is_added || slot->slot.body <= c->body)
				continue;
			named.items = rt_scope_grow(s, named.items, named.count, &named.capacity,
						    sizeof(*named.items));
			if (named.items != NULL)
				named.items[named.count++] = slot->slot.body;
		}
	}
	if (!rt_ok(s) || named.count == 0)
		return (numbers){0};
	qsort(named.items, named.count, sizeof(*named.items), by_number);
	for (size_t i = 0; i < named.count; i++) /* each once */
		if (count == 0 || named.items[count - 1] != named.items[i])
			named.items[count++] = named.items[i];
	named.count = count;
	return named;
}

static void
count_rows(const rows *r, uint64_t *count, uint64_t *bytes)
{
	*count += r->count;
	*bytes += r->bytes;
}

/* Copies the bodies, and all between them, in pieces; seq: the end of the log. */
static void
append_bodies(copy *c, uint64_t seq, const numbers *named)
{
	uint64_t last = named->count > 0 ? named->items[named->count - 1] : 0;
	rt_scope *s = &c->scope, piece;
	size_t next = 0;

	if (!rt_ok(s))
		return;
	rt_scope_init(&piece, s->alloc);
	while (rt_ok(&piece) && next < named->count) {
		rt_scope_reset(&piece);
		rows r = read_rows(&piece, c->from,
				   rt_rows_between(RT_STORE_BODIES, c->from_project, c->body + 1, last),
				   true);
		for (size_t i = 0; i < r.count && next < named->count; i++)
			next += r.items[i].number == named->items[next];
		if (r.count == 0 || (next < named->count &&
				     r.items[r.count - 1].number >= named->items[next]))
			rt_scope_fail_advise(&piece, RT_CORRUPT, "run: retake fsck",
					     "body %llu of %s is missing",
					     (unsigned long long)named->items[next], c->from->place);
		RT_TRY(&piece, c->to->ops->append(c->to, c->to_project, seq, NULL, 0, r.items, r.count,
						  NULL, &piece.error));
		if (rt_ok(&piece)) {
			c->body = r.items[r.count - 1].number;
			count_rows(&r, &c->out->bodies, &c->out->bytes);
		}
	}
	rt_scope_join(s, &piece);
}

/* Sets the mark of the log's end, which rows without bodies need (heads.c). */
static void
mark_head(copy *c, uint64_t seq)
{
	rt_scope *s = &c->scope;
	rt_buf *text = rt_scope_buf(s);

	rt_buf_add_f(text, "%llu", (unsigned long long)seq);
	RT_TRY(s, c->to->ops->write(c->to, rt_rows_named(RT_STORE_SIDE, c->to_project, RT_STR(RT_HEAD_MARK)),
				    rt_scope_str(s, text), &s->error));
}

/* Copies the next rows with their bodies in one transaction; false: there were none. */
static bool
copy_batch(copy *c)
{
	rt_scope *s = &c->scope;

	if (!rt_ok(s))
		return false;
	rows r = read_rows(&c->batch, c->from,
			   rt_rows_between(RT_STORE_LOG, c->from_project, c->seq + 1, RT_STORE_NUMBER_MAX),
			   true);
	numbers named = name_bodies(c, &r);
	uint64_t seq = c->seq + r.count, body = c->body;
	if (rt_ok(&c->batch) && r.count > 0 && r.items[r.count - 1].number != seq)
		rt_scope_fail_advise(&c->batch, RT_CORRUPT, "run: retake fsck",
				     "a log row of %s after row %llu is missing", c->from->place,
				     (unsigned long long)c->seq);
	if (rt_scope_adopt(s, &c->batch) != RT_OK || r.count == 0)
		return false;
	for (size_t i = 0; i < r.count; i++)
		c->has_purge = c->has_purge || rt_record_is_of(r.items[i].data, RT_STR("purge"));
	RT_TRY(s, c->to->ops->begin(c->to, &s->error));
	RT_TRY(s, c->to->ops->append(c->to, c->to_project, c->seq, r.items, r.count, NULL, 0, NULL,
				     &s->error));
	append_bodies(c, seq, &named);
	mark_head(c, seq);
	rt_store_end(c->to, s);
	if (rt_ok(s)) {
		c->seq = seq;
		count_rows(&r, &c->out->rows, &c->out->bytes);
	} else {
		c->body = body;
	}
	return end_batch(c);
}

/* ---- the comparison ---- */

static void
refuse(copy *c, rt_scope *s)
{
	rt_scope_fail_advise(s, RT_REFUSED, "copy it to another store",
			     "project \"%.*s\" has different steps in %s and in %s",
			     RT_STR_ARG(c->options->project), c->to->place, c->from->place);
}

/* In one transaction: the row; the index and the checkpoint, which may contain the purged text; a new
 * epoch, because other programs must not use what they have read; and the mark that the old bytes are
 * still to be erased. */
static void
overwrite(copy *c, rt_store_table table, const rt_store_row *row)
{
	const rt_store_ops *ops = c->to->ops;
	rt_scope *s = &c->batch;

	RT_TRY(s, ops->begin(c->to, &s->error));
	RT_TRY(s, ops->write(c->to, rt_rows_one(table, c->to_project, row->number), row->data, &s->error));
	if (table == RT_STORE_BODIES) {
		RT_TRY(s, ops->drop(c->to, rt_rows_one(RT_STORE_INDEX, c->to_project, row->number),
				    &s->error));
		rt_vectors_purge(c->to, c->to_project, s, &row->number, 1);
	}
	RT_TRY(s, ops->drop(c->to, rt_rows_all(RT_STORE_ROOT, c->to_project), &s->error));
	RT_TRY(s, ops->write(c->to, rt_rows_named(RT_STORE_SIDE, c->to_project, RT_STR(RT_SCRUB_MARK)),
			     RT_STR("1"), &s->error));
	RT_TRY(s, ops->epoch_renew(c->to, &s->error));
	rt_store_end(c->to, s);
	c->has_purge = true;
	c->out->purged++;
	c->out->bytes += row->data.size;
}

/* A body that was damaged in the source, and given up by repair there. */
static bool
is_lost(rt_store_table table, rt_str data)
{
	return table == RT_STORE_BODIES && data.size > 1 && data.ptr[0] == RT_BODY_PURGED;
}

/* Erases the old bytes of overwritten rows, of this copy or an interrupted one. */
static rt_status
finish_purge(const copy *c, rt_error *err)
{
	rt_rows mark = rt_rows_named(RT_STORE_SIDE, c->to_project, RT_STR(RT_SCRUB_MARK));
	rt_status st = c->to_project == 0 ? RT_NOT_FOUND : rt_store_get(c->to, mark, NULL, NULL, err);

	if (st == RT_OK)
		st = c->to->ops->scrub(c->to, err);
	if (st == RT_OK)
		st = c->to->ops->write(c->to, mark, RT_STR(""), err);
	return st == RT_NOT_FOUND ? RT_OK : st;
}

static bool
same_row(const rt_store_row *a, const rt_store_row *b)
{
	return a->number == b->number && a->entry == b->entry && a->at_us == b->at_us &&
	       memcmp(a->step, b->step, RT_STEP_ID_SIZE) == 0;
}

/* Compares the next rows of a table, from first on; returns the last number compared, 0: there are
 * no more. */
static uint64_t
compare_batch(copy *c, rt_store_table table, uint64_t first, uint64_t last)
{
	rows ours = {0}, theirs = {0};

	if (!rt_ok(&c->scope) || first > last)
		return 0;
	ours = read_rows(&c->batch, c->from, rt_rows_between(table, c->from_project, first, last), true);
	if (ours.count > 0)
		last = ours.items[ours.count - 1].number;
	theirs = read_rows(&c->batch, c->to, rt_rows_between(table, c->to_project, first, last), false);
	if (rt_ok(&c->batch) && ours.count != theirs.count)
		refuse(c, &c->batch);
	for (size_t i = 0; rt_ok(&c->batch) && i < ours.count; i++) {
		const rt_store_row *row = &ours.items[i];

		if (!same_row(row, &theirs.items[i]))
			refuse(c, &c->batch);
		else if (rt_str_eq(row->data, theirs.items[i].data))
			continue;
		else if (is_lost(table, row->data))
			c->out->lost++;
		else
			overwrite(c, table, row);
	}
	c->out->compared += rt_ok(&c->batch) ? ours.count : 0;
	return end_batch(c) && ours.count > 0 ? last : 0;
}

static void
compare(copy *c)
{
	uint64_t last;

	while ((last = compare_batch(c, RT_STORE_LOG, c->equal_seq + 1, c->seq)) != 0)
		c->equal_seq = last;
	while ((last = compare_batch(c, RT_STORE_BODIES, c->equal_body + 1, c->body)) != 0)
		c->equal_body = last;
}

/* ---- the whole ---- */

static void
find_projects(copy *c)
{
	rt_scope *s = &c->scope;
	rt_str name = c->options->project;
	rt_rows named = rt_rows_named(RT_STORE_PROJECTS, 0, name);
	rt_status st;

	RT_TRY(s, rt_store_get(c->from, named, NULL, &c->from_project, &s->error));
	if (!rt_ok(s))
		return;
	st = rt_store_get(c->to, named, NULL, &c->to_project, &s->error);
	if (st != RT_NOT_FOUND) {
		rt_scope_note(s, st);
		return;
	}
	RT_TRY(s, c->to->ops->begin(c->to, &s->error));
	RT_TRY(s, c->to->ops->project_new(c->to, name, &c->to_project, &s->error));
	rt_store_end(c->to, s);
}

/* Is the last row of the copy the same step in the source? Before anything is written. */
static void
check_prefix(copy *c)
{
	if (!rt_ok(&c->scope) || c->seq == 0)
		return;
	rows ours = read_rows(&c->batch, c->from, rt_rows_one(RT_STORE_LOG, c->from_project, c->seq), false);
	rows theirs = read_rows(&c->batch, c->to, rt_rows_one(RT_STORE_LOG, c->to_project, c->seq), false);

	if (rt_ok(&c->batch) &&
	    (ours.count != 1 || theirs.count != 1 || !same_row(ours.items, theirs.items)))
		refuse(c, &c->batch);
	end_batch(c);
}

static void
copy_all(copy *c)
{
	rt_scope *s = &c->scope;
	uint64_t epoch, now = epoch_of_source(c);

	for (int pass = 0; rt_ok(s) && pass < PASSES; pass++) {
		epoch = now;
		copy_names(c, c->from, c->from_project); /* contents before rows that refer to them */
		while (copy_batch(c))
			;
		compare(c);
		copy_names(c, c->from, c->from_project);
		if (c->has_purge)
			copy_names(c, c->to, c->to_project);
		c->out->seq = c->seq;
		c->out->source_seq = head(c, c->from, RT_STORE_LOG, c->from_project);
		now = epoch_of_source(c);
		if (now == epoch && c->out->source_seq == c->seq)
			return;
		if (now != epoch) /* there was a purge */
			c->equal_seq = c->equal_body = c->out->compared = 0;
	}
	if (rt_ok(s) && now != epoch)
		rt_scope_fail_advise(s, RT_BUSY, "run the same command again",
				     "texts were purged from %s while it was being compared", c->from->place);
}

rt_status
rt_store_copy(rt_store *from, rt_store *to, const rt_copy_options *options, rt_copied *out,
	      rt_error *err)
{
	copy c = {.options = options, .from = from, .to = to, .out = out};
	const rt_alloc *alloc = options->alloc != NULL ? options->alloc : rt_alloc_libc();
	rt_scope *s = &c.scope;

	*out = (rt_copied){0};
	rt_scope_init(s, alloc);
	rt_scope_init(&c.batch, alloc);
	find_projects(&c);
	c.seq = head(&c, to, RT_STORE_LOG, c.to_project);
	c.body = head(&c, to, RT_STORE_BODIES, c.to_project);
	check_prefix(&c);
	copy_all(&c);
	rt_scope_deinit(&c.batch);
	rt_status st = rt_scope_end(s, err);
	/* also after a failure, which stays the result */
	rt_status purged = finish_purge(&c, st == RT_OK ? err : NULL);
	return st != RT_OK ? st : purged;
}
