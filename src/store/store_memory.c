/* SPDX-License-Identifier: MIT
 *
 * A store in memory.
 *
 * Everything is a cell with two values (store_memory_cell.h), so a transaction is a list of
 * changed cells, and readers beside it see what was committed.
 *
 *   store ── projects[] ── tables[log, body, node, side, found, root, mark] ── cells[]
 *
 * One lock around every call; a begin is a flag on top of it, so that readers do not wait
 * for the end of a transaction, only for the call that is running. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "store/store_memory_cell.h"
#include "store/store_words.h"

enum {
	BUSY_MS = 30000, /* as the SQLite store: how long begin waits for another thread */
	PROJECTS_FIRST = 16
};

enum { LOG, BODY, NODE, SIDE, FOUND, ROOT, MARK, TABLE_COUNT };

typedef struct project {
	rt_cell *name; /* now/kept: the name's bytes */
	rt_cell_table tables[TABLE_COUNT];
} project;

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
	rt_cell_changes changes;
} memory_store;

static memory_store *
self(rt_store *store)
{
	return (memory_store *)store;
}

static void
project_free(const rt_alloc *alloc, project *p)
{
	if (p == NULL)
		return;
	rt_cell_free(alloc, p->name);
	for (int i = 0; i < TABLE_COUNT; i++)
		rt_cell_table_deinit(alloc, &p->tables[i]);
	rt_free(alloc, p);
}

/* The end of a transaction. */
static void
settle(memory_store *s, bool keep)
{
	rt_cell_settle(&s->changes, keep);
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
static rt_cell_value *
seen(const memory_store *s, const rt_cell *c)
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
	rt_free(s->alloc, s->changes.items);
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
		rt_cell_value *v = seen(s, s->projects[i]->name);

		if (v != NULL && rt_str_eq(rt_cell_str(v), name))
			return i + 1;
	}
	return 0;
}

static rt_status
project_add(memory_store *s, rt_str name, rt_error *err)
{
	project *p = rt_new0(s->alloc, sizeof(*p));
	rt_cell_value *v = rt_cell_value_new(s->alloc, name, 0);

	if (p != NULL)
		p->name = rt_new0(s->alloc, sizeof(*p->name));
	if (p == NULL || p->name == NULL || v == NULL || !rt_cell_reserve(&s->changes))
		goto nomem;
	if (s->project_count == s->project_room) {
		size_t room = s->project_room == 0 ? PROJECTS_FIRST : s->project_room * 2;
		project **all = rt_resize(s->alloc, s->projects, room * sizeof(*all));

		if (all == NULL)
			goto nomem;
		s->projects = all;
		s->project_room = room;
	}
	s->projects[s->project_count++] = p;
	rt_cell_set(&s->changes, NULL, p->name, v);
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
		rt_cell_value *v = seen(s, s->projects[i]->name);

		if (v != NULL && !fn(ctx, i + 1, rt_cell_str(v)))
			break;
	}
	unlock(s);
	return RT_OK;
}

/* --- log and bodies --- */

/* The number of the last cell that this thread sees. */
static uint64_t
table_head(const memory_store *s, const rt_cell_table *t)
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

static rt_status
append_rows(memory_store *s, project *p, uint64_t head, const rt_log_row *rows, size_t row_count,
	    const rt_body_row *bodies, size_t body_count, rt_error *err)
{
	size_t before = s->changes.count;
	uint64_t last_body = table_head(s, &p->tables[BODY]);
	rt_status st = RT_OK;

	for (size_t i = 0; i < row_count && st == RT_OK; i++)
		st = rt_cell_put(&s->changes, &p->tables[LOG], head + i + 1, RT_STR(""),
				 rows[i].data, (uint64_t)rows[i].at_us, rows[i].step, err);
	for (size_t i = 0; i < body_count && st == RT_OK; i++) {
		if (bodies[i].number <= last_body || bodies[i].number > RT_STORE_NUMBER_MAX) {
			st = rt_fail(err, RT_USAGE, "body %llu cannot follow body %llu",
				     (unsigned long long)bodies[i].number,
				     (unsigned long long)last_body);
			break;
		}
		last_body = bodies[i].number;
		st = rt_cell_put(&s->changes, &p->tables[BODY], bodies[i].number, RT_STR(""),
				 bodies[i].data, bodies[i].entry, NULL, err);
	}
	if (st != RT_OK)
		rt_cell_take_back(&s->changes, before);
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
	rt_cell_table *t;

	(void)err;
	lock(s);
	p = project_get(s, number);
	if (p == NULL)
		goto done;
	t = &p->tables[LOG];
	/* i runs over positions + 1 when going down, so that it can stop at 0. */
	for (size_t i = down && first < RT_STORE_NUMBER_MAX
				? rt_cell_table_at(t, first + 1, RT_STR(""))
				: (down ? t->count : rt_cell_table_at(t, first, RT_STR("")));
	     down ? i > 0 : i < t->count; down ? i-- : i++) {
		const rt_cell *c = t->cells[down ? i - 1 : i];
		const rt_cell_value *v = seen(s, c);
		rt_log_row row;

		if (down ? c->number < last : c->number > last)
			break;
		if (v == NULL)
			continue;
		row.seq = c->number;
		memcpy(row.step, v->step, sizeof(row.step));
		row.at_us = (int64_t)v->extra;
		row.data = rt_cell_str(v);
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
	const rt_cell_value *v = NULL;
	rt_status st = RT_OK;
	project *p;

	lock(s);
	p = project_get(s, number);
	if (p != NULL)
		v = seen(s, rt_cell_table_get(&p->tables[in], key, name));
	if (v == NULL) {
		st = rt_fail(err, RT_NOT_FOUND, "there is no %s %llu in project %llu", noun,
			     (unsigned long long)key, (unsigned long long)number);
		goto done;
	}
	rt_buf_add(out, v->bytes, v->size);
	if (out->status != RT_OK) {
		st = rt_fail(err, out->status,
			     out->status == RT_NOMEM ? "out of memory while reading %s %llu"
						     : "%s %llu is larger than what takes it",
			     noun, (unsigned long long)key);
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
		rt_cell_table *t = &p->tables[BODY];

		for (size_t i = rt_cell_table_at(t, first, RT_STR("")); i < t->count; i++) {
			const rt_cell_value *v = seen(s, t->cells[i]);
			rt_body_row row;

			if (t->cells[i]->number > last)
				break;
			if (v == NULL)
				continue;
			row.number = t->cells[i]->number;
			row.entry = v->extra;
			row.data = rt_cell_str(v);
			if (!fn(ctx, &row))
				break;
		}
	}
	unlock(s);
	return RT_OK;
}

typedef struct picked {
	rt_body_fn fn;
	void *ctx;
	bool ended;
} picked;

static bool
pick_body(void *ctx, const rt_body_row *row)
{
	picked *p = ctx;

	p->ended = !p->fn(p->ctx, row);
	return !p->ended;
}

static rt_status
memory_body_pick(rt_store *store, uint64_t number, const uint64_t *numbers, size_t count,
		 rt_body_fn fn, void *ctx, rt_error *err)
{
	picked p = {fn, ctx, false};
	rt_status st = RT_OK;

	for (size_t i = 0; st == RT_OK && !p.ended && i < count; i++)
		st = memory_body_scan(store, number, numbers[i], numbers[i], pick_body, &p, err);
	return st;
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
		st = rt_cell_put(&s->changes, &p->tables[NODE], node, RT_STR(""), data, 0, NULL,
				 err);
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
		st = rt_cell_drop(&s->changes, &p->tables[NODE], node, RT_STR(""), err);
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
		st = rt_cell_drop(&s->changes, &p->tables[NODE], p->tables[NODE].cells[i]->number,
				  RT_STR(""), err);
	if (st == RT_OK)
		st = rt_cell_drop(&s->changes, &p->tables[ROOT], 0, RT_STR(""), err);
	unlock(s);
	return st;
}

static rt_status
memory_node_read(rt_store *store, uint64_t number, uint64_t node, rt_buf *out, rt_error *err)
{
	return read_one(store, number, NODE, node, RT_STR(""), "node", out, NULL, err);
}

static rt_status
memory_node_pick(rt_store *store, uint64_t number, const uint64_t *numbers, size_t count,
		 rt_body_fn fn, void *ctx, rt_error *err)
{
	rt_status st = RT_OK;
	bool more = true;

	for (size_t i = 0; st == RT_OK && more && i < count; i++) {
		rt_buf data;

		rt_buf_init(&data, self(store)->alloc, RT_BUF_UNLIMITED);
		st = memory_node_read(store, number, numbers[i], &data, err);
		if (st == RT_OK) {
			rt_body_row row = {numbers[i], 0, rt_buf_str(&data)};

			more = fn(ctx, &row);
		}
		st = st == RT_NOT_FOUND ? RT_OK : st;
		rt_buf_deinit(&data);
	}
	return st;
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
		rt_cell_table *t = &p->tables[NODE];

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
		st = rt_cell_put(&s->changes, &p->tables[ROOT], 0, RT_STR(""), data, seq, NULL,
				 err);
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
		st = rt_cell_drop(&s->changes, &p->tables[SIDE], 0, name, err);
	else if (st == RT_OK)
		st = rt_cell_put(&s->changes, &p->tables[SIDE], 0, name, data, 0, NULL, err);
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
		rt_cell_table *t = &p->tables[SIDE];

		for (size_t i = 0; i < t->count; i++) {
			const rt_cell *c = t->cells[i];
			const rt_cell_value *v = seen(s, c);

			if (v != NULL && !fn(ctx, rt_str_at(c->name, c->name_size), rt_cell_str(v)))
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
	const rt_cell_value *v = NULL;
	project *p;

	(void)err;
	lock(s);
	p = project_get(s, number);
	if (p != NULL)
		v = seen(s, rt_cell_table_get(&p->tables[MARK], 0, RT_STR("")));
	*out_number = v == NULL ? 0 : v->extra;
	unlock(s);
	return RT_OK;
}

static rt_status
memory_index_add(rt_store *store, uint64_t number, uint64_t body, uint64_t entry, rt_str text,
		 rt_error *err)
{
	memory_store *s = self(store);
	const rt_cell *mark;
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	if (st == RT_OK)
		st = number_ok(body, "body", err);
	if (st == RT_OK && text.size > 0)
		st = rt_cell_put(&s->changes, &p->tables[FOUND], body, RT_STR(""), text, entry,
				 NULL, err);
	if (st == RT_OK) {
		mark = rt_cell_table_get(&p->tables[MARK], 0, RT_STR(""));
		if (mark == NULL || mark->now == NULL || mark->now->extra < body)
			st = rt_cell_put(&s->changes, &p->tables[MARK], 0, RT_STR(""), RT_STR(""),
					 body, NULL, err);
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
		rt_cell_table *t = &p->tables[FOUND];

		for (size_t i = 0; i < t->count; i++) {
			const rt_cell_value *v = seen(s, t->cells[i]);

			if (v != NULL && rt_words_match(rt_cell_str(v), query, how) &&
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
	const rt_cell *c = NULL;
	project *p;
	rt_status st = write_enter(s, number, &p, err);

	if (st == RT_OK)
		c = rt_cell_table_get(&p->tables[in], key, RT_STR(""));
	if (st == RT_OK && (c == NULL || c->now == NULL))
		st = rt_fail(err, RT_NOT_FOUND, "there is no %s %llu in project %llu", noun,
			     (unsigned long long)key, (unsigned long long)number);
	else if (st == RT_OK)
		st = rt_cell_put(&s->changes, &p->tables[in], key, RT_STR(""), data, c->now->extra,
				 c->now->step, err);
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
		st = rt_cell_drop(&s->changes, &p->tables[FOUND], body, RT_STR(""), err);
	unlock(s);
	return st;
}

static rt_status
memory_index_clear(rt_store *store, rt_error *err)
{
	memory_store *s = self(store);
	rt_status st = RT_OK;

	lock(s);
	RT_ASSERT(is_writer(s));
	for (size_t n = 0; st == RT_OK && n < s->project_count; n++) {
		rt_cell_table *t = &s->projects[n]->tables[FOUND];

		for (size_t i = 0; st == RT_OK && i < t->count; i++)
			st = rt_cell_drop(&s->changes, t, t->cells[i]->number, RT_STR(""), err);
		if (st == RT_OK)
			st = rt_cell_drop(&s->changes, &s->projects[n]->tables[MARK], 0, RT_STR(""),
					  err);
	}
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
		const rt_cell_table *t = &s->projects[i]->tables[LOG];

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
	.body_pick = memory_body_pick,
	.body_head = memory_body_head,
	.node_write = memory_node_write,
	.node_drop = memory_node_drop,
	.node_drop_all = memory_node_drop_all,
	.node_read = memory_node_read,
	.node_pick = memory_node_pick,
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
	.index_clear = memory_index_clear,
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
	s->changes.alloc = alloc;
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
