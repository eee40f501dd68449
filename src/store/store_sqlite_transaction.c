/* SPDX-License-Identifier: MIT
 *
 * Transactions of the SQLite store: whose turn it is to write, begin and commit, checkpoints,
 * relaxed mode, what happens after the disk failed.
 *
 * One of our threads at a time has the turn; SQLite's own lock then excludes other processes.
 * Nothing that SQLite reports as failed is retried: a sync that failed once may succeed the next
 * time with the data gone, so the handle is poisoned and refuses to write until the store has
 * been opened again. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_sqlite_impl.h"

#include <time.h>

enum { CUT_PAGES = 16384 /* a log this long is truncated once it is empty */ };

/* --- threads --- */

static void
guard(rt_sqlite_store *s)
{
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
}

static void
unguard(rt_sqlite_store *s)
{
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
}

/* Waits until no other thread of this process writes. Waiting threads come before later ones: a
 * thread that writes one transaction after another would otherwise hardly ever let others in. */
static rt_status
acquire_turn(rt_sqlite_store *s, rt_error *err)
{
	rt_status st = RT_OK;

	guard(s);
	if (s->writing || s->handed) {
		int64_t until_ms = rt_clock_ms() + s->options.busy_ms;
		uint64_t arrival = s->turns;

		s->waiting++;
		while ((s->writing || (s->handed && s->turns == arrival)) && st == RT_OK) {
			if (!rt_wait_until(&s->guard, &s->free, until_ms) &&
			    (s->writing || (s->handed && s->turns == arrival)))
				st = rt_fail(err, RT_BUSY,
					     "another thread has been writing to %s for %d s; try "
					     "again",
					     s->place, (s->options.busy_ms + 999) / 1000);
		}
		s->waiting--;
	}
	if (st == RT_OK || s->waiting == 0)
		s->handed = false;
	if (st == RT_OK) {
		s->owner = pthread_self();
		s->writing = true;
	}
	unguard(s);
	return st;
}

static void
release_turn(rt_sqlite_store *s)
{
	guard(s);
	s->writing = false;
	s->turns++;
	s->handed = s->waiting > 0;
	RT_ASSERT(pthread_cond_broadcast(&s->free) == 0);
	unguard(s);
}

/* --- transactions --- */

/* Takes SQLite's write lock. */
static void
lock(rt_sqlite_call *call)
{
	const struct timespec nap = {0, 1000000};
	rt_sqlite_store *s = call->store;
	sqlite3_stmt *stmt = rt_sqlite_stmt(call, SQL_BEGIN);
	int64_t from = rt_clock_ns();
	int rc;

	s->tx_status = RT_OK;
	if (stmt == NULL)
		return;
	/* The busy handler waits; a few kinds of busy bypass it. */
	do {
		rc = sqlite3_step(stmt);
		(void)sqlite3_reset(stmt);
		if (rt_sqlite_status(rc) != RT_BUSY || s->no_wait)
			break;
		nanosleep(&nap, NULL);
	} while (rt_clock_ns() - from < (int64_t)s->options.busy_ms * 1000000);
	if (rc != SQLITE_DONE)
		rt_sqlite_call_fail(call, "starting to write");
}

static void
roll_back(rt_sqlite_store *s)
{
	rt_sqlite_call call = rt_sqlite_call_on(s, &s->writer);

	s->tx_added = false;
	if (s->writer.db == NULL || sqlite3_get_autocommit(s->writer.db))
		return;
	rt_sqlite_run(&call, SQL_ROLLBACK, (rt_sqlite_args){0});
	/* Only memory can be short here, and a connection that cannot roll back is closed. */
	if (!sqlite3_get_autocommit(s->writer.db))
		rt_sqlite_conn_close(&s->writer);
	rt_scope_deinit(&call.scope);
}

/* Commits; rolls back if the call has failed or the commit fails. */
static void
unlock(rt_sqlite_call *call)
{
	rt_sqlite_store *s = call->store;

	(void)rt_sqlite_stmt(call, SQL_COMMIT); /* failing here costs nothing */
	if (rt_ok(&call->scope) && s->tx_added && s->tx_project != 0)
		rt_sqlite_check_added(call);
	if (rt_ok(&call->scope)) {
		rt_sqlite_run(call, SQL_COMMIT, (rt_sqlite_args){0});
		if (call->scope.status == RT_IO)
			s->poisoned = true;
	}
	if (!rt_ok(&call->scope))
		roll_back(s);
	s->tx_added = false; /* the next transaction may be one without begin */
}

rt_status
rt_sqlite_checkpoint(rt_sqlite_store *s, int mode, bool wait, rt_error *err)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	int64_t until_ns = rt_clock_ns() + (int64_t)s->options.busy_ms * 1000000;
	int pages = 0, done = 0, rc;
	bool before = s->no_wait;

	s->no_wait = !wait;
	/* SQLite does not call the busy handler while another process writes its log back. */
	for (;;) {
		rc = sqlite3_wal_checkpoint_v2(s->writer.db, "main", mode, &pages, &done);
		if (!wait || (rc & 0xff) != SQLITE_BUSY || rt_clock_ns() >= until_ns)
			break;
		(void)nanosleep(&nap, NULL);
	}
	s->no_wait = before;
	if (rc == SQLITE_OK) {
		if (pages >= 0 && pages == done)
			s->wal_pages = 0;
		return RT_OK;
	}
	if ((rc & 0xff) == SQLITE_IOERR)
		s->poisoned = true; /* a sync failed: it must not be retried */
	return rt_sqlite_fail(s, s->writer.db, "writing the log back", err);
}

/* After a commit. A failure here does not undo it: the log is durable. A disk error shows at the
 * next begin, a full disk at the next commit. */
static void
checkpoint_if_due(rt_sqlite_store *s)
{
	rt_status st = RT_BUSY;

	if (s->wal_pages < s->options.checkpoint_pages)
		s->wal_next = 0; /* it was restarted */
	if (s->wal_pages < s->options.checkpoint_pages || s->wal_pages < s->wal_next || s->poisoned)
		return;
	if (s->wal_pages >= CUT_PAGES)
		st = rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE, false, NULL);
	if (st == RT_BUSY) /* readers prevent truncation, or it is not due yet */
		st = rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_PASSIVE, false, NULL);
	/* While a reader needs the log, an attempt after every commit costs two syncs each
	 * and gains nothing. */
	if (st == RT_OK && s->wal_pages > 0)
		s->wal_next = s->wal_pages + s->options.checkpoint_pages / 4;
}

/* A number that changes with the file, whichever process changed it. */
static unsigned
data_version(rt_sqlite_store *s)
{
	unsigned version = 0;

	if (s->writer.db != NULL)
		(void)sqlite3_file_control(s->writer.db, "main", SQLITE_FCNTL_DATA_VERSION,
					   &version);
	return version;
}

/* Before our first write. If the last writer died after a failed sync, the end of the log may be
 * in the system's cache and on no disk: it can be read, and a sync has nothing to do. Later
 * commits would be lost with it. So it is written back to the file, which writes it again, before
 * anything is appended. */
static rt_status
settle_log(rt_sqlite_store *s, rt_error *err)
{
	rt_error local = {0};
	rt_status st = rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_PASSIVE, false, &local);

	s->settled = st == RT_OK || st == RT_BUSY; /* busy: another process does it */
	if (!s->settled && err != NULL)
		*err = local;
	return s->settled ? RT_OK : st;
}

/* Counts this handle in or out as a relaxed one, in a synced transaction. */
static void
mark_relaxed(rt_sqlite_call *call, bool in)
{
	rt_sqlite_store *s = call->store;

	rt_sqlite_exec(call, "PRAGMA synchronous = FULL", "writing to it");
	if (rt_ok(&call->scope))
		lock(call);
	if (rt_ok(&call->scope)) {
		rt_sqlite_mark_count(call, in);
		unlock(call);
		if (rt_ok(&call->scope))
			s->marked = in;
	}
	if (s->writer.db != NULL)
		(void)sqlite3_exec(s->writer.db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
}

void
rt_sqlite_unmark_relaxed(rt_sqlite_store *s)
{
	rt_sqlite_call call;

	if (acquire_turn(s, NULL) != RT_OK)
		return;
	call = rt_sqlite_call_on(s, &s->writer);
	mark_relaxed(&call, false); /* on failure the mark stays, to be on the safe side */
	rt_scope_deinit(&call.scope);
	release_turn(s);
}

/* While having the turn: everything before SQLite's lock, and the lock. */
static rt_status
begin_file(rt_sqlite_store *s, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_call_on(s, &s->writer);
	rt_scope *scope = &call.scope;

	if (s->poisoned)
		rt_scope_fail(
			scope, RT_IO,
			"an earlier write to %s failed on the disk; reopen the store before writing again",
			s->place);
	if (s->writer.db == NULL)
		RT_TRY(scope, rt_sqlite_conn_open(s, &s->writer, true, &scope->error));
	/* Data written to a file that was replaced is lost. */
	RT_TRY(scope, rt_sqlite_same_file(s, &scope->error));
	if (!s->settled)
		RT_TRY(scope, settle_log(s, &scope->error));
	if (rt_ok(scope) && s->options.relaxed && !s->marked)
		mark_relaxed(&call, true);
	if (rt_ok(scope))
		lock(&call);
	return rt_scope_end(scope, err);
}

rt_status
rt_sqlite_begin(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_status st;

	RT_ASSERT(!rt_sqlite_is_owner(s));
	if (s->options.read_only)
		return rt_fail(err, RT_READ_ONLY, "%s was opened read-only", s->place);
	st = rt_sqlite_refuse_fork(s, err);
	if (st == RT_OK)
		st = acquire_turn(s, err);
	if (st != RT_OK)
		return st;
	st = begin_file(s, err);
	s->tx_added = false;
	/* The heads of the last commit are still valid if no other connection has written since. */
	if (st == RT_OK && (s->tx_project != 0 || s->tx_found != 0) && data_version(s) != s->tx_version)
		s->tx_project = s->tx_found = 0;
	if (st != RT_OK)
		release_turn(s);
	return st;
}

static void
stop_wiping(rt_sqlite_store *s)
{
	if (s->wiping && s->writer.db != NULL)
		(void)sqlite3_exec(s->writer.db, "PRAGMA secure_delete = FAST", NULL, NULL, NULL);
	s->wiping = false;
}

rt_status
rt_sqlite_commit(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_writing_store(store);

	rt_sqlite_index_flush(&call);
	unlock(&call);
	stop_wiping(s);
	if (rt_ok(&call.scope)) {
		s->tx_version = data_version(s);
		checkpoint_if_due(s);
	} else {
		s->tx_project = s->tx_found = 0;
	}
	release_turn(s);
	return rt_scope_end(&call.scope, err);
}

void
rt_sqlite_cancel(rt_store *store)
{
	rt_sqlite_store *s = rt_sqlite_self(store);

	if (!rt_sqlite_is_owner(s))
		return;
	rt_sqlite_index_forget(s);
	roll_back(s);
	stop_wiping(s);
	s->tx_project = s->tx_found = 0;
	release_turn(s);
}

void
rt_sqlite_wipe(rt_sqlite_call *call)
{
	if (call->store->wiping)
		return;
	rt_sqlite_exec(call, "PRAGMA secure_delete = ON", "purging");
	call->store->wiping = rt_ok(&call->scope);
}

rt_status
rt_sqlite_begin_alone(rt_sqlite_store *s, bool *out_alone, rt_error *err)
{
	*out_alone = !rt_sqlite_is_owner(s);
	return *out_alone ? rt_sqlite_begin(&s->base, err) : RT_OK;
}

rt_status
rt_sqlite_end_alone(rt_sqlite_call *call, bool alone, rt_error *err)
{
	rt_store *store = &call->store->base;
	rt_status st = rt_scope_end(&call->scope, err);

	if (alone && st == RT_OK)
		return rt_sqlite_commit(store, err);
	if (alone)
		rt_sqlite_cancel(store);
	return st;
}
