/* SPDX-License-Identifier: MIT
 *
 * The PostgreSQL store: opening and closing, and the epoch. store_postgres_impl.h lists the other
 * parts. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_postgres_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- closing --- */

static void
free_store(rt_pg_store *s)
{
	for (int i = 0; i < RT_PG_SLOTS + RT_PG_GROUPS_MAX; i++) {
		/* the server cancels an open transaction */
		if (s->process == getpid())
			rt_pg_disconnect(s, &s->conns[i]);
		rt_pg_batch_deinit(&s->conns[i].tx.batch);
		(void)pthread_cond_destroy(&s->conns[i].moved);
		(void)pthread_mutex_destroy(&s->conns[i].lock);
	}
	rt_pg_forget_own(s);
	rt_wait_deinit(&s->guard, &s->free);
	rt_free(s->alloc, s->address);
	rt_free(s->alloc, s->place);
	rt_free(s->alloc, s);
}

static void
close_store(rt_store *store)
{
	if (store != NULL)
		free_store(rt_pg_self(store));
}

/* --- the epoch --- */

static rt_status
get_epoch(rt_store *store, uint64_t *out_epoch, rt_error *err)
{
	rt_pg_call call = rt_pg_reading(store);

	if (rt_ok(&call.scope)) {
		const rt_pg_transaction *tx = &call.conn->tx;
		uint64_t epoch = tx->is_open && tx->now.epoch != 0
					 ? tx->now.epoch
					 : rt_pg_read_heads(&call, 0).epoch;

		if (rt_ok(&call.scope))
			*out_epoch = rt_pg_epoch_of(call.store, epoch);
	}
	return rt_pg_end(&call, err);
}

static rt_status
renew_in_begin(rt_store *store, rt_error *err)
{
	rt_pg_call call = rt_pg_writing(store);
	rt_str none = rt_str_at(NULL, 0);

	if (rt_ok(&call.scope)) {
		rt_pg_transaction *tx = &call.conn->tx;
		uint64_t epoch = 0;

		while (epoch == 0 || epoch == tx->now.epoch)
			call.store->env.random(call.store->env.ctx, &epoch, sizeof(epoch));
		rt_pg_add(&call, RT_PG_EPOCH_SET, epoch, 0, 0, none, none);
		tx->now.epoch = epoch;
	}
	return rt_pg_end(&call, err);
}

static rt_status
renew_epoch(rt_store *store, rt_error *err)
{
	bool alone = rt_pg_own(rt_pg_self(store)) == NULL;
	rt_status st = alone ? rt_pg_begin(store, err) : RT_OK;

	if (st == RT_OK)
		st = renew_in_begin(store, err);
	if (alone && st == RT_OK)
		st = rt_pg_commit(store, err);
	else if (alone)
		rt_pg_cancel(store);
	return st;
}

static rt_status
backup(rt_store *store, const char *path, rt_error *err)
{
	(void)path;
	return rt_fail(err, RT_REFUSED, "%s is not a file; copy it with: pg_dump --schema=retake",
		       store->place);
}

/* --- opening --- */

static const rt_store_ops ops = {
	.kind = "postgresql",
	.close = close_store,
	.epoch = get_epoch,
	.epoch_renew = renew_epoch,
	.begin = rt_pg_begin,
	.begin_at = rt_pg_begin_at,
	.commit = rt_pg_commit,
	.cancel = rt_pg_cancel,
	.project_new = rt_pg_project_new,
	.project_drop = rt_pg_project_drop,
	.head = rt_pg_head,
	.watch = rt_pg_watch,
	.read = rt_pg_read,
	.append = rt_pg_append,
	.write = rt_pg_write,
	.drop = rt_pg_drop,
	.index_add = rt_pg_index_add,
	.index_find = rt_pg_index_find,
	.scrub = rt_pg_scrub,
	.backup = backup,
	.check = rt_pg_check,
};

/* The store before anything is read from the database. */
static rt_status
make_store(const rt_alloc *alloc, const rt_env *env, const char *address, const rt_store_options *options,
	   rt_pg_store **out, rt_error *err)
{
	size_t size = strlen(address) + 1;
	rt_pg_store *s = rt_new0(alloc, sizeof(*s));
	const rt_pq *pq;
	rt_status st = rt_pq_load(&pq, err);
	char *copy = st == RT_OK ? rt_new(alloc, size) : NULL;

	if (st != RT_OK || s == NULL || copy == NULL || !rt_wait_init(&s->guard, &s->free)) {
		rt_free(alloc, copy);
		rt_free(alloc, s);
		return st != RT_OK ? st : rt_fail(err, RT_NOMEM, "out of memory");
	}
	memcpy(copy, address, size);
	s->base.ops = &ops;
	s->pq = pq;
	s->alloc = alloc;
	s->env = *env;
	s->address = copy;
	s->process = getpid();
	if (options != NULL)
		s->options = *options;
	if (s->options.busy_ms <= 0)
		s->options.busy_ms = RT_PG_BUSY_MS;
	for (int i = 0; i < RT_PG_SLOTS + RT_PG_GROUPS_MAX; i++) {
		rt_pg_batch_init(&s->conns[i].tx.batch, alloc);
		(void)pthread_mutex_init(&s->conns[i].lock, NULL); /* never fail: nothing is allocated */
		(void)pthread_cond_init(&s->conns[i].moved, NULL);
	}
	st = rt_pg_parse(s, err);
	if (st == RT_OK)
		*out = s;
	else
		free_store(s);
	return st;
}

rt_status
rt_store_postgres_open(const rt_alloc *alloc, const rt_env *env, const char *address,
		       const rt_store_options *options, rt_store **out_store, rt_error *err)
{
	rt_pg_store *s = NULL;
	rt_status st = make_store(alloc, env, address, options, &s, err);

	if (st != RT_OK)
		return st;
	rt_pg_call call = rt_pg_reading(&s->base);
	s->base.place = s->place;
	s->base.is_read_only = s->options.read_only;
	RT_TRY(&call.scope, rt_pg_connect(s, call.conn, &call.scope.error));
	rt_pg_find_schema(&call);
	st = rt_pg_end(&call, err);
	if (st == RT_OK)
		*out_store = &s->base;
	else
		free_store(s);
	return st;
}

static rt_status
prepare(const rt_alloc *alloc, const rt_env *env, const char *address, bool is_new, bool is_dry, rt_buf *out_sql,
	bool *out_changed, rt_error *err)
{
	rt_pg_store *s = NULL;
	rt_status st = make_store(alloc, env, address, NULL, &s, err);

	*out_changed = false;
	if (st != RT_OK)
		return st;
	rt_pg_call call = rt_pg_reading(&s->base);
	RT_TRY(&call.scope, rt_pg_connect(s, call.conn, &call.scope.error));
	rt_pg_prepare(&call, is_new, is_dry, out_sql, out_changed);
	st = rt_pg_end(&call, err);
	free_store(s);
	return st;
}

/* --- the kind --- */

static bool
is_address(const char *address)
{
	return strncmp(address, "postgresql:", 11) == 0 || strncmp(address, "postgres:", 9) == 0;
}

const rt_store_kind rt_store_postgres = {
	.name = "postgresql",
	.accepts = is_address,
	.add_place = rt_pg_add_place,
	.open = rt_store_postgres_open,
	.prepare = prepare,
};
