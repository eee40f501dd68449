/* SPDX-License-Identifier: MIT
 *
 * A store in memory.
 *
 * Everything is a cell: a place (a log row, a body, a node, the root …) with two values.
 * `now` is what the writer sees inside its begin, `kept` is what everybody else sees.
 * Outside a begin the two are the same. A write changes `now` and puts the cell on the
 * list of changes; commit makes every `kept` its `now`, cancel every `now` its `kept`.
 * Cells whose two values are both gone are taken out of their table.
 *
 *   store ── projects[] ── tables[log, body, node, side, found, root] ── cells[]
 *
 * A table is an array in the order of numbers (of names for side rows), so the usual
 * append goes at the end and everything else is found by halving.
 *
 * One lock around every call; a begin is a flag on top of it, so that readers do not wait
 * for the end of a transaction, only for the call that is running. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "store/store_words.h"

enum {
	BUSY_MS = 30000, /* as the SQLite store: how long begin waits for another thread */
	CELLS_FIRST = 16
};

/* What a cell holds. One allocation; never changes once it is in a cell. */
typedef struct value {
	uint64_t extra; /* log: at_us; body and found: entry; root: seq; mark: number */
	unsigned char step[RT_STEP_ID_SIZE]; /* log only */
	size_t size;
	char bytes[];
} value;

typedef struct cell {
	uint64_t number; /* 0 in side tables */
	value *now;      /* NULL: not there */
	value *kept;     /* the same pointer as now unless changed */
	bool listed;     /* on the list of changes */
	size_t name_size;
	char name[]; /* side rows: their key */
} cell;

typedef struct table {
	cell **cells;
	size_t count;
	size_t room;
} table;

enum { LOG, BODY, NODE, SIDE, FOUND, ROOT, MARK, TABLE_COUNT };

typedef struct project {
	cell *name; /* now/kept: the name's bytes */
	table tables[TABLE_COUNT];
} project;

typedef struct change {
	table *in; /* NULL: a project's name */
	cell *what;
} change;

typedef struct memory_store {
	rt_store base;
	const rt_alloc *alloc;
	rt_env env;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t free;  /* signalled when a begin ends */
	bool begun;
	pthread_t owner; /* meaningful while begun */
	uint64_t epoch_now, epoch_kept;
	project **projects; /* project n is at n - 1 */
	size_t project_count, project_room;
	change *changes;
	size_t change_count, change_room;
} memory_store;

static memory_store *
self(rt_store *store)
{
	return (memory_store *)store;
}

/* --- cells --- */

static value *
value_new(const rt_alloc *alloc, rt_str data, uint64_t extra)
{
	value *v;

	if (data.size > SIZE_MAX - sizeof(*v))
		return NULL;
	v = rt_new(alloc, sizeof(*v) + data.size);
	if (v == NULL)
		return NULL;
	v->extra = extra;
	memset(v->step, 0, sizeof(v->step));
	v->size = data.size;
	if (data.size > 0)
		memcpy(v->bytes, data.ptr, data.size);
	return v;
}

static rt_str
value_str(const value *v)
{
	return rt_str_at(v->bytes, v->size);
}

static void
cell_free(const rt_alloc *alloc, cell *c)
{
	if (c == NULL)
		return;
	if (c->now != c->kept)
		rt_free(alloc, c->now);
	rt_free(alloc, c->kept);
	rt_free(alloc, c);
}

static int
cell_cmp(const cell *c, uint64_t number, rt_str name)
{
	if (c->number != number)
		return c->number < number ? -1 : 1;
	return rt_str_cmp(rt_str_at(c->name, c->name_size), name);
}

/* Where the key is, or would be. */
static size_t
table_at(const table *t, uint64_t number, rt_str name)
{
	size_t low = 0, high = t->count;

	if (high > 0 && cell_cmp(t->cells[high - 1], number, name) < 0)
		return high; /* the usual case: the end */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cell_cmp(t->cells[mid], number, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static cell *
table_get(const table *t, uint64_t number, rt_str name)
{
	size_t at = table_at(t, number, name);

	if (at == t->count || cell_cmp(t->cells[at], number, name) != 0)
		return NULL;
	return t->cells[at];
}

/* The cell of the key, made empty when it is missing. NULL: no memory. */
static cell *
table_make(const rt_alloc *alloc, table *t, uint64_t number, rt_str name)
{
	size_t at = table_at(t, number, name);
	cell *c;

	if (at < t->count && cell_cmp(t->cells[at], number, name) == 0)
		return t->cells[at];
	if (t->count == t->room) {
		size_t room = t->room == 0 ? CELLS_FIRST : t->room * 2;
		cell **cells = rt_resize(alloc, t->cells, room * sizeof(*cells));

		if (cells == NULL)
			return NULL;
		t->cells = cells;
		t->room = room;
	}
	c = rt_new0(alloc, sizeof(*c) + name.size);
	if (c == NULL)
		return NULL;
	c->number = number;
	c->name_size = name.size;
	if (name.size > 0)
		memcpy(c->name, name.ptr, name.size);
	memmove(t->cells + at + 1, t->cells + at, (t->count - at) * sizeof(cell *));
	t->cells[at] = c;
	t->count++;
	return c;
}

static void
table_remove(const rt_alloc *alloc, table *t, cell *c)
{
	size_t at = table_at(t, c->number, rt_str_at(c->name, c->name_size));

	RT_ASSERT(at < t->count);
	RT_ASSERT(t->cells[at] == c);
	memmove(t->cells + at, t->cells + at + 1, (t->count - at - 1) * sizeof(cell *));
	t->count--;
	cell_free(alloc, c);
}

static void
table_deinit(const rt_alloc *alloc, table *t)
{
	for (size_t i = 0; i < t->count; i++)
		cell_free(alloc, t->cells[i]);
	rt_free(alloc, t->cells);
}

static void
project_free(const rt_alloc *alloc, project *p)
{
	if (p == NULL)
		return;
	cell_free(alloc, p->name);
	for (int i = 0; i < TABLE_COUNT; i++)
		table_deinit(alloc, &p->tables[i]);
	rt_free(alloc, p);
}

/* --- changes --- */

/* Room for one more change, so that noting it cannot fail. */
static bool
changes_reserve(memory_store *s)
{
	size_t room = s->change_room == 0 ? CELLS_FIRST : s->change_room * 2;
	change *changes;

	if (s->change_count < s->change_room)
		return true;
	changes = rt_resize(s->alloc, s->changes, room * sizeof(*changes));
	if (changes == NULL)
		return false;
	s->changes = changes;
	s->change_room = room;
	return true;
}

/* Give the cell its new value (NULL: gone). The value is the cell's from now on. */
static void
cell_set(memory_store *s, table *in, cell *c, value *v)
{
	if (c->now != c->kept)
		rt_free(s->alloc, c->now);
	c->now = v;
	if (c->listed)
		return;
	RT_ASSERT(s->change_count < s->change_room);
	s->changes[s->change_count].in = in;
	s->changes[s->change_count].what = c;
	s->change_count++;
	c->listed = true;
}

/* Write one value under a key. */
static rt_status
put(memory_store *s, project *p, int in, uint64_t number, rt_str name, rt_str data, uint64_t extra,
    const unsigned char *step, rt_error *err)
{
	value *v = value_new(s->alloc, data, extra);
	cell *c = NULL;

	if (v != NULL && step != NULL)
		memcpy(v->step, step, sizeof(v->step));
	if (v != NULL && changes_reserve(s))
		c = table_make(s->alloc, &p->tables[in], number, name);
	if (c == NULL) {
		rt_free(s->alloc, v);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	cell_set(s, &p->tables[in], c, v);
	return RT_OK;
}

static rt_status
drop(memory_store *s, project *p, int in, uint64_t number, rt_str name, rt_error *err)
{
	cell *c = table_get(&p->tables[in], number, name);

	if (c == NULL || c->now == NULL)
		return RT_OK;
	if (!changes_reserve(s))
		return rt_fail(err, RT_NOMEM, "out of memory");
	cell_set(s, &p->tables[in], c, NULL);
	return RT_OK;
}

/* Settle every change, last first, and forget the list. */
static void
settle(memory_store *s, bool keep)
{
	while (s->change_count > 0) {
		change ch = s->changes[--s->change_count];
		cell *c = ch.what;
		value *gone = keep ? c->kept : c->now;

		if (c->now != c->kept)
			rt_free(s->alloc, gone);
		c->kept = c->now = keep ? c->now : c->kept;
		c->listed = false;
		if (c->now == NULL && ch.in != NULL)
			table_remove(s->alloc, ch.in, c);
	}
	if (keep)
		s->epoch_kept = s->epoch_now;
	else
		s->epoch_now = s->epoch_kept;
	/* Projects are only ever added, so a cancelled one is at the end. */
	while (s->project_count > 0 && s->projects[s->project_count - 1]->name->now == NULL)
		project_free(s->alloc, s->projects[--s->project_count]);
}

/* --- locking --- */

static bool
is_writer(const memory_store *s)
{
	return s->begun && pthread_equal(s->owner, pthread_self());
}

/* What this thread may see of a cell. */
static value *
seen(const memory_store *s, const cell *c)
{
	if (c == NULL)
		return NULL;
	return is_writer(s) ? c->now : c->kept;
}

static void
lock(memory_store *s)
{
	RT_ASSERT(pthread_mutex_lock(&s->lock) == 0);
}

static void
unlock(memory_store *s)
{
	RT_ASSERT(pthread_mutex_unlock(&s->lock) == 0);
}

static rt_status
begin_locked(memory_store *s, rt_error *err)
{
	struct timespec until;

	RT_ASSERT(!is_writer(s));
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += BUSY_MS / 1000;
	while (s->begun) {
		if (pthread_cond_timedwait(&s->free, &s->lock, &until) != 0 && s->begun)
			return rt_fail(err, RT_BUSY,
				       "another thread has been writing for %d s; try again",
				       BUSY_MS / 1000);
	}
	s->begun = true;
	s->owner = pthread_self();
	return RT_OK;
}

static void
end_locked(memory_store *s, bool keep)
{
	settle(s, keep);
	s->begun = false;
	pthread_cond_signal(&s->free);
}

static rt_status
memory_begin(rt_store *store, rt_error *err)
{
	memory_store *s = self(store);
	rt_status st;

	lock(s);
	st = begin_locked(s, err);
	unlock(s);
	return st;
}

static rt_status
memory_commit(rt_store *store, rt_error *err)
{
	memory_store *s = self(store);

	(void)err;
	lock(s);
	RT_ASSERT(is_writer(s));
	end_locked(s, true);
	unlock(s);
	return RT_OK;
}

static void
memory_cancel(rt_store *store)
{
	memory_store *s = self(store);

	lock(s);
	if (is_writer(s))
		end_locked(s, false);
	unlock(s);
}

/* The project, if this thread may see it. */
static project *
project_get(const memory_store *s, uint64_t number)
{
	project *p;

	if (number == 0 || number > s->project_count)
		return NULL;
	p = s->projects[number - 1];
	return seen(s, p->name) == NULL ? NULL : p;
}

static rt_status
project_need(const memory_store *s, uint64_t number, project **out, rt_error *err)
{
	*out = project_get(s, number);
	if (*out == NULL)
		return rt_fail(err, RT_NOT_FOUND, "there is no project %llu",
			       (unsigned long long)number);
	return RT_OK;
}

/* For a write: lock, insist on a begin, find the project. Unlock afterwards, always. */
static rt_status
write_enter(memory_store *s, uint64_t number, project **out, rt_error *err)
{
	lock(s);
	RT_ASSERT(is_writer(s));
	return project_need(s, number, out, err);
}

/* --- the store --- */

static void
memory_close(rt_store *store)
{
	memory_store *s = self(store);

	if (s == NULL)
		return;
	settle(s, false);
	for (size_t i = 0; i < s->project_count; i++)
		project_free(s->alloc, s->projects[i]);
	rt_free(s->alloc, s->projects);
	rt_free(s->alloc, s->changes);
	pthread_cond_destroy(&s->free);
	pthread_mutex_destroy(&s->lock);
	rt_free(s->alloc, s);
}

static const char *
memory_place(rt_store *store)
{
	(void)store;
	return "memory";
}

static bool
memory_is_read_only(rt_store *store)
{
	(void)store;
	return false;
}

static rt_status
memory_epoch(rt_store *store, uint64_t *out_epoch, rt_error *err)
{
	memory_store *s = self(store);

	(void)err;
	lock(s);
	*out_epoch = is_writer(s) ? s->epoch_now : s->epoch_kept;
	unlock(s);
	return RT_OK;
}

static rt_status
memory_epoch_renew(rt_store *store, rt_error *err)
{
	memory_store *s = self(store);
	rt_status st = RT_OK;
	bool alone;

	lock(s);
	alone = !is_writer(s);
	if (alone)
		st = begin_locked(s, err);
	if (st == RT_OK) {
		uint64_t before = s->epoch_now;

		while (s->epoch_now == before || s->epoch_now == 0)
			s->env.random(s->env.ctx, &s->epoch_now, sizeof(s->epoch_now));
		if (alone)
			end_locked(s, true);
	}
	unlock(s);
	return st;
}

/* --- projects --- */

static uint64_t
project_named(const memory_store *s, rt_str name)
{
	for (size_t i = 0; i < s->project_count; i++) {
		value *v = seen(s, s->projects[i]->name);

		if (v != NULL && rt_str_eq(value_str(v), name))
			return i + 1;
	}
	return 0;
}

static rt_status
project_add(memory_store *s, rt_str name, rt_error *err)
{
	project *p = rt_new0(s->alloc, sizeof(*p));
	value *v = value_new(s->alloc, name, 0);

	if (p != NULL)
		p->name = rt_new0(s->alloc, sizeof(*p->name));
	if (p == NULL || p->name == NULL || v == NULL || !changes_reserve(s))
		goto nomem;
	if (s->project_count == s->project_room) {
		size_t room = s->project_room == 0 ? CELLS_FIRST : s->project_room * 2;
		project **all = rt_resize(s->alloc, s->projects, room * sizeof(*all));

		if (all == NULL)
			goto nomem;
		s->projects = all;
		s->project_room = room;
	}
	s->projects[s->project_count++] = p;
	cell_set(s, NULL, p->name, v);
	return RT_OK;
nomem:
	rt_free(s->alloc, v);
	project_free(s->alloc, p);
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static rt_status
memory_project_new(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err)
{
	memory_store *s = self(store);
	rt_status st;

	lock(s);
	RT_ASSERT(is_writer(s));
	if (project_named(s, name) != 0)
		st = rt_fail(err, RT_REFUSED, "there is a project \"%.*s\" already",
			     RT_STR_ARG(name));
	else if (s->project_count >= RT_STORE_PROJECT_MAX)
		st = rt_fail(err, RT_LIMIT, "the store holds %d projects, the most there can be",
			     RT_STORE_PROJECT_MAX);
	else
		st = project_add(s, name, err);
	if (st == RT_OK)
		*out_project = s->project_count;
	unlock(s);
	return st;
}

static rt_status
memory_project_find(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err)
{
	memory_store *s = self(store);
	uint64_t found;

	lock(s);
	found = project_named(s, name);
	unlock(s);
	if (found == 0)
		return rt_fail(err, RT_NOT_FOUND, "there is no project \"%.*s\"", RT_STR_ARG(name));
	*out_project = found;
	return RT_OK;
}

static rt_status
memory_project_list(rt_store *store, rt_project_fn fn, void *ctx, rt_error *err)
{
	memory_store *s = self(store);

	(void)err;
	lock(s);
	for (size_t i = 0; i < s->project_count; i++) {
		value *v = seen(s, s->projects[i]->name);

		if (v != NULL && !fn(ctx, i + 1, value_str(v)))
			break;
	}
	unlock(s);
	return RT_OK;
}

/* --- log and bodies --- */

/* The number of the last cell that this thread sees. */
static uint64_t
table_head(const memory_store *s, const table *t)
{
	for (size_t i = t->count; i > 0; i--) {
		if (seen(s, t->cells[i - 1]) != NULL)
			return t->cells[i - 1]->number;
	}
	return 0;
}

static rt_status
head_of(rt_store *store, uint64_t number, int in, uint64_t *out, rt_error *err)
{
	memory_store *s = self(store);
	project *p;

	(void)err;
	lock(s);
	p = project_get(s, number);
	*out = p == NULL ? 0 : table_head(s, &p->tables[in]);
	unlock(s);
	return RT_OK;
}

static rt_status
memory_log_head(rt_store *store, uint64_t number, uint64_t *out_seq, rt_error *err)
{
	return head_of(store, number, LOG, out_seq, err);
}

static rt_status
memory_body_head(rt_store *store, uint64_t number, uint64_t *out_number, rt_error *err)
{
	return head_of(store, number, BODY, out_number, err);
}

/* Take back the last count additions of a table's end: an append that failed half-way. */
static void
take_back(memory_store *s, size_t to_count)
{
	while (s->change_count > to_count) {
		change ch = s->changes[--s->change_count];

		rt_free(s->alloc, ch.what->now);
		ch.what->now = NULL;
		table_remove(s->alloc, ch.in, ch.what);
	}
}

static rt_status
append_rows(memory_store *s, project *p, uint64_t head, const rt_log_row *rows, size_t row_count,
	    const rt_body_row *bodies, size_t body_count, rt_error *err)
{
	size_t before = s->change_count;
	uint64_t last_body = table_head(s, &p->tables[BODY]);
	rt_status st = RT_OK;

	for (size_t i = 0; i < row_count && st == RT_OK; i++)
		st = put(s, p, LOG, head + i + 1, RT_STR(""), rows[i].data, (uint64_t)rows[i].at_us,
			 rows[i].step, err);
	for (size_t i = 0; i < body_count && st == RT_OK; i++) {
		if (bodies[i].number <= last_body || bodies[i].number > RT_STORE_NUMBER_MAX) {
			st = rt_fail(err, RT_USAGE, "body %llu cannot follow body %llu",
				     (unsigned long long)bodies[i].number,
				     (unsigned long long)last_body);
			break;
		}
		last_body = bodies[i].number;
		st = put(s, p, BODY, bodies[i].number, RT_STR(""), bodies[i].data, bodies[i].entry,
			 NULL, err);
	}
	if (st != RT_OK)
		take_back(s, before);
	return st;
}

static rt_status
memory_append(rt_store *store, uint64_t number, uint64_t expected, const rt_log_row *rows,
	      size_t row_count, const rt_body_row *bodies, size_t body_count, uint64_t *out_head,
	      rt_error *err)
{
	memory_store *s = self(store);
	uint64_t head;
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	if (st != RT_OK)
		goto done;
	head = table_head(s, &p->tables[LOG]);
	if (head != expected) {
		st = rt_fail(err, RT_CONFLICT, "the log is at %llu, not at %llu",
			     (unsigned long long)head, (unsigned long long)expected);
	} else if (row_count > RT_STORE_NUMBER_MAX - head) {
		st = rt_fail(err, RT_LIMIT, "the log of project %llu is full",
			     (unsigned long long)number);
	} else {
		st = append_rows(s, p, head, rows, row_count, bodies, body_count, err);
		if (st == RT_OK)
			head += row_count;
	}
	if (out_head != NULL && (st == RT_OK || st == RT_CONFLICT))
		*out_head = head;
done:
	unlock(s);
	return st;
}

static rt_status
memory_log_read(rt_store *store, uint64_t number, uint64_t first, uint64_t last, rt_log_fn fn,
		void *ctx, rt_error *err)
{
	memory_store *s = self(store);
	bool down = first > last;
	project *p;
	table *t;

	(void)err;
	lock(s);
	p = project_get(s, number);
	if (p == NULL)
		goto done;
	t = &p->tables[LOG];
	/* i runs over positions + 1 when going down, so that it can stop at 0. */
	for (size_t i = down && first < RT_STORE_NUMBER_MAX
				? table_at(t, first + 1, RT_STR(""))
				: (down ? t->count : table_at(t, first, RT_STR("")));
	     down ? i > 0 : i < t->count; down ? i-- : i++) {
		const cell *c = t->cells[down ? i - 1 : i];
		const value *v = seen(s, c);
		rt_log_row row;

		if (down ? c->number < last : c->number > last)
			break;
		if (v == NULL)
			continue;
		row.seq = c->number;
		memcpy(row.step, v->step, sizeof(row.step));
		row.at_us = (int64_t)v->extra;
		row.data = value_str(v);
		if (!fn(ctx, &row))
			break;
	}
done:
	unlock(s);
	return RT_OK;
}

/* Read one value of a table into out and its extra number. */
static rt_status
read_one(rt_store *store, uint64_t number, int in, uint64_t key, rt_str name, const char *noun,
	 rt_buf *out, uint64_t *out_extra, rt_error *err)
{
	memory_store *s = self(store);
	const value *v = NULL;
	rt_status st = RT_OK;
	project *p;

	lock(s);
	p = project_get(s, number);
	if (p != NULL)
		v = seen(s, table_get(&p->tables[in], key, name));
	if (v == NULL) {
		st = rt_fail(err, RT_NOT_FOUND, "there is no %s %llu in project %llu", noun,
			     (unsigned long long)key, (unsigned long long)number);
		goto done;
	}
	rt_buf_add(out, v->bytes, v->size);
	if (out->status != RT_OK) {
		st = rt_fail(err, out->status, "%s %llu does not fit", noun,
			     (unsigned long long)key);
		goto done;
	}
	if (out_extra != NULL)
		*out_extra = v->extra;
done:
	unlock(s);
	return st;
}

static rt_status
memory_body_read(rt_store *store, uint64_t number, uint64_t body, rt_buf *out, uint64_t *out_entry,
		 rt_error *err)
{
	return read_one(store, number, BODY, body, RT_STR(""), "body", out, out_entry, err);
}

static rt_status
memory_body_scan(rt_store *store, uint64_t number, uint64_t first, uint64_t last, rt_body_fn fn,
		 void *ctx, rt_error *err)
{
	memory_store *s = self(store);
	project *p;

	(void)err;
	lock(s);
	p = project_get(s, number);
	if (p != NULL) {
		table *t = &p->tables[BODY];

		for (size_t i = table_at(t, first, RT_STR("")); i < t->count; i++) {
			const value *v = seen(s, t->cells[i]);
			rt_body_row row;

			if (t->cells[i]->number > last)
				break;
			if (v == NULL)
				continue;
			row.number = t->cells[i]->number;
			row.entry = v->extra;
			row.data = value_str(v);
			if (!fn(ctx, &row))
				break;
		}
	}
	unlock(s);
	return RT_OK;
}

/* --- checkpoint --- */

static rt_status
number_ok(uint64_t number, const char *noun, rt_error *err)
{
	if (number >= 1 && number <= RT_STORE_NUMBER_MAX)
		return RT_OK;
	return rt_fail(err, RT_USAGE, "%llu is not the number of a %s", (unsigned long long)number,
		       noun);
}

static rt_status
memory_node_write(rt_store *store, uint64_t number, uint64_t node, rt_str data, rt_error *err)
{
	memory_store *s = self(store);
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	if (st == RT_OK)
		st = number_ok(node, "node", err);
	if (st == RT_OK)
		st = put(s, p, NODE, node, RT_STR(""), data, 0, NULL, err);
	unlock(s);
	return st;
}

static rt_status
memory_node_drop(rt_store *store, uint64_t number, uint64_t node, rt_error *err)
{
	memory_store *s = self(store);
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	if (st == RT_OK)
		st = drop(s, p, NODE, node, RT_STR(""), err);
	unlock(s);
	return st;
}

static rt_status
memory_node_drop_all(rt_store *store, uint64_t number, rt_error *err)
{
	memory_store *s = self(store);
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	for (size_t i = 0; st == RT_OK && i < p->tables[NODE].count; i++)
		st = drop(s, p, NODE, p->tables[NODE].cells[i]->number, RT_STR(""), err);
	if (st == RT_OK)
		st = drop(s, p, ROOT, 0, RT_STR(""), err);
	unlock(s);
	return st;
}

static rt_status
memory_node_read(rt_store *store, uint64_t number, uint64_t node, rt_buf *out, rt_error *err)
{
	return read_one(store, number, NODE, node, RT_STR(""), "node", out, NULL, err);
}

static rt_status
memory_node_list(rt_store *store, uint64_t number, rt_hit_fn fn, void *ctx, rt_error *err)
{
	memory_store *s = self(store);
	project *p;

	(void)err;
	lock(s);
	p = project_get(s, number);
	if (p != NULL) {
		table *t = &p->tables[NODE];

		for (size_t i = 0; i < t->count; i++) {
			if (seen(s, t->cells[i]) != NULL && !fn(ctx, t->cells[i]->number, 0))
				break;
		}
	}
	unlock(s);
	return RT_OK;
}

static rt_status
memory_root_write(rt_store *store, uint64_t number, uint64_t seq, rt_str data, rt_error *err)
{
	memory_store *s = self(store);
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	if (st == RT_OK)
		st = put(s, p, ROOT, 0, RT_STR(""), data, seq, NULL, err);
	unlock(s);
	return st;
}

static rt_status
memory_root_read(rt_store *store, uint64_t number, uint64_t *out_seq, rt_buf *out, rt_error *err)
{
	return read_one(store, number, ROOT, 0, RT_STR(""), "root", out, out_seq, err);
}

/* --- side rows --- */

static rt_status
memory_side_write(rt_store *store, uint64_t number, rt_str name, rt_str data, rt_error *err)
{
	memory_store *s = self(store);
	rt_status st = RT_OK;
	project *p;
	bool alone;

	lock(s);
	alone = !is_writer(s);
	if (alone)
		st = begin_locked(s, err);
	if (st != RT_OK)
		goto done;
	st = project_need(s, number, &p, err);
	if (st == RT_OK && data.size == 0)
		st = drop(s, p, SIDE, 0, name, err);
	else if (st == RT_OK)
		st = put(s, p, SIDE, 0, name, data, 0, NULL, err);
	if (alone)
		end_locked(s, st == RT_OK);
done:
	unlock(s);
	return st;
}

static rt_status
memory_side_read(rt_store *store, uint64_t number, rt_str name, rt_buf *out, rt_error *err)
{
	return read_one(store, number, SIDE, 0, name, "side row", out, NULL, err);
}

static rt_status
memory_side_list(rt_store *store, uint64_t number, rt_side_fn fn, void *ctx, rt_error *err)
{
	memory_store *s = self(store);
	project *p;

	(void)err;
	lock(s);
	p = project_get(s, number);
	if (p != NULL) {
		table *t = &p->tables[SIDE];

		for (size_t i = 0; i < t->count; i++) {
			const cell *c = t->cells[i];
			const value *v = seen(s, c);

			if (v != NULL && !fn(ctx, rt_str_at(c->name, c->name_size), value_str(v)))
				break;
		}
	}
	unlock(s);
	return RT_OK;
}

/* --- search --- */

static rt_status
memory_index_mark(rt_store *store, uint64_t number, uint64_t *out_number, rt_error *err)
{
	memory_store *s = self(store);
	const value *v = NULL;
	project *p;

	(void)err;
	lock(s);
	p = project_get(s, number);
	if (p != NULL)
		v = seen(s, table_get(&p->tables[MARK], 0, RT_STR("")));
	*out_number = v == NULL ? 0 : v->extra;
	unlock(s);
	return RT_OK;
}

static rt_status
memory_index_add(rt_store *store, uint64_t number, uint64_t body, uint64_t entry, rt_str text,
		 rt_error *err)
{
	memory_store *s = self(store);
	const cell *mark;
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	if (st == RT_OK)
		st = number_ok(body, "body", err);
	if (st == RT_OK && text.size > 0)
		st = put(s, p, FOUND, body, RT_STR(""), text, entry, NULL, err);
	if (st == RT_OK) {
		mark = table_get(&p->tables[MARK], 0, RT_STR(""));
		if (mark == NULL || mark->now == NULL || mark->now->extra < body)
			st = put(s, p, MARK, 0, RT_STR(""), RT_STR(""), body, NULL, err);
	}
	unlock(s);
	return st;
}

static rt_status
memory_index_find(rt_store *store, uint64_t number, rt_str query, rt_store_find how, rt_hit_fn fn,
		  void *ctx, rt_error *err)
{
	memory_store *s = self(store);
	project *p;

	(void)err;
	lock(s);
	p = project_get(s, number);
	if (p != NULL) {
		table *t = &p->tables[FOUND];

		for (size_t i = 0; i < t->count; i++) {
			const value *v = seen(s, t->cells[i]);

			if (v != NULL && rt_words_match(value_str(v), query, how) &&
			    !fn(ctx, t->cells[i]->number, v->extra))
				break;
		}
	}
	unlock(s);
	return RT_OK;
}

/* --- purge --- */

static rt_status
replace(rt_store *store, uint64_t number, int in, uint64_t key, rt_str data, const char *noun,
	rt_error *err)
{
	memory_store *s = self(store);
	const cell *c = NULL;
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	if (st == RT_OK)
		c = table_get(&p->tables[in], key, RT_STR(""));
	if (st == RT_OK && (c == NULL || c->now == NULL))
		st = rt_fail(err, RT_NOT_FOUND, "there is no %s %llu in project %llu", noun,
			     (unsigned long long)key, (unsigned long long)number);
	else if (st == RT_OK)
		st = put(s, p, in, key, RT_STR(""), data, c->now->extra, c->now->step, err);
	unlock(s);
	return st;
}

static rt_status
memory_body_replace(rt_store *store, uint64_t number, uint64_t body, rt_str data, rt_error *err)
{
	return replace(store, number, BODY, body, data, "body", err);
}

static rt_status
memory_log_replace(rt_store *store, uint64_t number, uint64_t seq, rt_str data, rt_error *err)
{
	return replace(store, number, LOG, seq, data, "log row", err);
}

static rt_status
memory_index_drop(rt_store *store, uint64_t number, uint64_t body, rt_str text, rt_error *err)
{
	memory_store *s = self(store);
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	(void)text;
	if (st == RT_OK)
		st = drop(s, p, FOUND, body, RT_STR(""), err);
	unlock(s);
	return st;
}

static rt_status
memory_scrub(rt_store *store, rt_error *err)
{
	(void)store;
	(void)err;
	return RT_OK; /* there are no files */
}

/* --- care --- */

static rt_status
memory_backup(rt_store *store, const char *path, rt_error *err)
{
	(void)store;
	return rt_fail(err, RT_REFUSED, "a store in memory has no file that could be copied to %s",
		       path);
}

static rt_status
memory_check(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err)
{
	memory_store *s = self(store);
	char text[128];

	(void)err;
	lock(s);
	for (size_t i = 0; i < s->project_count; i++) {
		const table *t = &s->projects[i]->tables[LOG];

		for (size_t at = 0; at < t->count; at++) {
			rt_buf none;

			if (t->cells[at]->number == at + 1)
				continue;
			rt_buf_init(&none, s->alloc, sizeof(text));
			rt_buf_add_f(&none, "the log of project %zu lacks row %zu", i + 1, at + 1);
			if (none.status == RT_OK)
				(void)fn(ctx, "store-log-gap", none.ptr);
			rt_buf_deinit(&none);
			break;
		}
	}
	unlock(s);
	return RT_OK;
}

static const rt_store_ops memory_ops = {
	.kind = "memory",
	.close = memory_close,
	.place = memory_place,
	.is_read_only = memory_is_read_only,
	.epoch = memory_epoch,
	.begin = memory_begin,
	.commit = memory_commit,
	.cancel = memory_cancel,
	.project_new = memory_project_new,
	.project_find = memory_project_find,
	.project_list = memory_project_list,
	.log_head = memory_log_head,
	.append = memory_append,
	.log_read = memory_log_read,
	.body_read = memory_body_read,
	.body_scan = memory_body_scan,
	.body_head = memory_body_head,
	.node_write = memory_node_write,
	.node_drop = memory_node_drop,
	.node_drop_all = memory_node_drop_all,
	.node_read = memory_node_read,
	.node_list = memory_node_list,
	.root_write = memory_root_write,
	.root_read = memory_root_read,
	.side_write = memory_side_write,
	.side_read = memory_side_read,
	.side_list = memory_side_list,
	.index_mark = memory_index_mark,
	.index_add = memory_index_add,
	.index_find = memory_index_find,
	.body_replace = memory_body_replace,
	.log_replace = memory_log_replace,
	.index_drop = memory_index_drop,
	.scrub = memory_scrub,
	.backup = memory_backup,
	.check = memory_check,
	.epoch_renew = memory_epoch_renew,
};

rt_status
rt_store_memory_open(const rt_alloc *alloc, const rt_env *env, rt_store **out_store, rt_error *err)
{
	memory_store *s = rt_new0(alloc, sizeof(*s));
	pthread_condattr_t attr;
	bool ok;

	if (s == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	s->base.ops = &memory_ops;
	s->alloc = alloc;
	s->env = *env;
	ok = pthread_mutex_init(&s->lock, NULL) == 0;
	if (ok && pthread_condattr_init(&attr) == 0) {
		ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
		     pthread_cond_init(&s->free, &attr) == 0;
		pthread_condattr_destroy(&attr);
	} else {
		ok = false;
	}
	if (!ok) {
		rt_free(alloc, s);
		return rt_fail(err, RT_NOMEM, "no lock could be made");
	}
	while (s->epoch_now == 0)
		env->random(env->ctx, &s->epoch_now, sizeof(s->epoch_now));
	s->epoch_kept = s->epoch_now;
	*out_store = &s->base;
	return RT_OK;
}
