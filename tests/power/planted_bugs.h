/* SPDX-License-Identifier: MIT
 *
 * Planted bugs: a store with a bug, derived from the real SQLite store. A harness that has never
 * failed proves nothing, so seeded_test.c requires that each of these is detected.
 *
 * A planted store has the functions of the SQLite store with some of them replaced. They
 * reproduce the effect of the bug: through the interface where possible (a log row in a
 * transaction before its data), otherwise by changing the state of the store or a setting of its
 * connection around a call (a store that was not poisoned). Two bugs are below SQLite, in
 * power_vfs.h. */
#ifndef RT_TESTS_POWER_PLANTED_BUGS_H
#define RT_TESTS_POWER_PLANTED_BUGS_H

#include <sys/stat.h>
#include <unistd.h>

#include "store/store_sqlite_impl.h"

enum planted {
	PLANTED_NONE,
	PLANTED_SYNC_OFF,         /* PRAGMA synchronous = OFF */
	PLANTED_ACK_FIRST,        /* acknowledged before the sync */
	PLANTED_LOG_FIRST,        /* the log row in a transaction before its data */
	PLANTED_TWO_TRANSACTIONS, /* log rows in one, bodies in the next */
	PLANTED_SYNC_RETRIED,     /* a failed sync is retried */
	PLANTED_NOT_POISONED,     /* a handle continues after its sync failed */
	PLANTED_READ_EMPTY,       /* a read error is treated as the end */
	PLANTED_NO_WAITING,       /* busy_timeout 0 */
	PLANTED_NO_SUMS,          /* checksums are not verified */
	PLANTED_LATE_FLUSH,       /* the last write of a commit is delayed until the next one */
	PLANTED_NO_MARK,          /* relaxed mode writes no mark */
	PLANTED_EMPTY_IS_NEW,     /* an empty file is treated as a new store */
	PLANTED_NO_CONFLICT,      /* the expected head is not compared */
	PLANTED_HALF_COMMITTED,   /* a transaction continues after a failed write */
	PLANTED_NOT_SETTLED,      /* new commits are appended to what a failed sync has left */
	PLANTED_COUNT
};

static enum planted planted_bug;

/* The store's own functions. */
static const rt_store_ops *sound;

static rt_sqlite_store *
planted_self(rt_store *store)
{
	return (rt_sqlite_store *)store;
}

static void
planted_exec(rt_store *store, const char *sql)
{
	sqlite3 *db = planted_self(store)->writer.db;

	if (db != NULL && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		abort();
}

static rt_status
planted_begin(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = planted_self(store);
	rt_status st;

	if (planted_bug == PLANTED_NOT_POISONED)
		s->poisoned = false;
	if (planted_bug == PLANTED_NOT_SETTLED)
		s->settled = true;
	if (planted_bug == PLANTED_NO_MARK)
		s->marked = true;
	if (planted_bug == PLANTED_NO_WAITING)
		s->no_wait = true;
	if (planted_bug != PLANTED_SYNC_OFF && planted_bug != PLANTED_ACK_FIRST)
		return sound->begin(store, err);
	/* Settings need the writer, which is opened by the first begin. */
	if (s->writer.db == NULL) {
		st = sound->begin(store, err);
		if (st != RT_OK)
			return st;
		sound->cancel(store);
	}
	planted_exec(store, planted_bug == PLANTED_SYNC_OFF ? "PRAGMA synchronous = OFF"
							    : "PRAGMA synchronous = NORMAL");
	if (planted_bug == PLANTED_ACK_FIRST)
		(void)sqlite3_wal_checkpoint_v2(s->writer.db, "main", SQLITE_CHECKPOINT_PASSIVE,
						NULL, NULL);
	return sound->begin(store, err);
}

static rt_status
planted_commit(rt_store *store, rt_error *err)
{
	if (planted_bug == PLANTED_HALF_COMMITTED)
		planted_self(store)->tx_status = RT_OK;
	return sound->commit(store, err);
}

/* Commits the transaction and starts another one, silently. */
static rt_status
next_transaction(rt_store *store, rt_status st, rt_error *err)
{
	if (st == RT_OK)
		st = sound->commit(store, err);
	return st == RT_OK ? sound->begin(store, err) : st;
}

static rt_status
append_log_first(rt_store *store, uint64_t project, uint64_t expected, const rt_store_row *rows,
		 size_t row_count, const rt_store_row *bodies, size_t body_count,
		 uint64_t *out_head, rt_error *err)
{
	rt_status st = RT_OK;

	for (size_t i = 0; i < row_count && st == RT_OK; i++) {
		rt_store_row empty = rows[i];

		empty.data.size = 0;
		st = sound->append(store, project, expected + i, &empty, 1, NULL, 0, out_head, err);
	}
	st = next_transaction(store, st, err);
	for (size_t i = 0; i < row_count && st == RT_OK; i++)
		st = sound->write(store, rt_rows_one(RT_STORE_LOG, project, expected + i + 1),
				  rows[i].data, err);
	return st != RT_OK ? st
			   : sound->append(store, project, expected + row_count, NULL, 0, bodies,
					   body_count, out_head, err);
}

static rt_status
planted_append(rt_store *store, uint64_t project, uint64_t expected, const rt_store_row *rows,
	       size_t row_count, const rt_store_row *bodies, size_t body_count, uint64_t *out_head,
	       rt_error *err)
{
	rt_status st;

	switch (planted_bug) {
	case PLANTED_LOG_FIRST:
		return append_log_first(store, project, expected, rows, row_count, bodies,
					body_count, out_head, err);
	case PLANTED_TWO_TRANSACTIONS:
		st = sound->append(store, project, expected, rows, row_count, NULL, 0, out_head,
				   err);
		st = next_transaction(store, st, err);
		return st != RT_OK ? st
				   : sound->append(store, project, expected + row_count, NULL, 0,
						   bodies, body_count, out_head, err);
	case PLANTED_NO_CONFLICT:
		st = sound->head(store, RT_STORE_LOG, project, &expected, err);
		if (st != RT_OK)
			return st;
		break;
	case PLANTED_HALF_COMMITTED: planted_self(store)->tx_status = RT_OK; break;
	default: break;
	}
	return sound->append(store, project, expected, rows, row_count, bodies, body_count,
			     out_head, err);
}

static rt_status
planted_read(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	rt_status st = sound->read(store, rows, fn, ctx, err);

	return planted_bug == PLANTED_READ_EMPTY && st == RT_IO ? RT_OK : st;
}

static rt_status
planted_write(rt_store *store, rt_rows row, rt_str data, rt_error *err)
{
	if (planted_bug == PLANTED_HALF_COMMITTED)
		planted_self(store)->tx_status = RT_OK;
	return sound->write(store, row, data, err);
}

static rt_status
planted_open(const rt_alloc *alloc, const rt_env *env, const char *path,
	     const rt_store_sqlite_options *options, rt_store **out, rt_error *err)
{
	static rt_store_ops ops;
	struct stat info;
	rt_status st;

	if (planted_bug == PLANTED_EMPTY_IS_NEW && stat(path, &info) == 0 && info.st_size == 0)
		(void)unlink(path);
	st = rt_store_sqlite_open(alloc, env, path, options, out, err);
	if (st != RT_OK)
		return st;
	sound = (*out)->ops;
	ops = *sound;
	ops.begin = planted_begin;
	ops.commit = planted_commit;
	ops.append = planted_append;
	ops.read = planted_read;
	ops.write = planted_write;
	(*out)->ops = &ops;
	return RT_OK;
}

#endif
