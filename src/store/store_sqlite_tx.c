/* SPDX-License-Identifier: MIT
 *
 * Transactions of the SQLite store: who may write, begin and commit, checkpoints, what
 * happens after the disk failed, and the few values of meta.
 *
 * One thread of ours at a time has the turn; then SQLite's own lock keeps out the other
 * processes. Nothing is retried that SQLite says has failed: a sync that failed once may
 * succeed the next time with the data gone, so the handle is poisoned and refuses to write
 * until the store has been opened again. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_sqlite_impl.h"

#include <stdio.h> /* snprintf */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

enum {
	CUT_PAGES = 16384, /* a log this long is cut off once it is empty */
	READ_TRIES = 32    /* of a reading that is written to; after a few it takes locks */
};

/* --- who may do what --- */

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

bool
rt_sqlite_is_owner(const rt_sqlite_store *s)
{
	return s->writing && pthread_equal(s->owner, pthread_self());
}

/* SQLite's locks do not survive a fork, and what is in memory would be used twice. */
static rt_status
refuse_fork(const rt_sqlite_store *s, rt_error *err)
{
	if (s->process == getpid())
		return RT_OK;
	return rt_fail(err, RT_REFUSED,
		       "%s was opened by the process that this one was forked from; open it anew",
		       s->place);
}

static void
give_back(rt_sqlite_store *s, rt_sqlite_conn *c)
{
	guard(s);
	c->used = false;
	RT_ASSERT(pthread_cond_broadcast(&s->free) == 0);
	unguard(s);
}

static rt_status
read_begin(rt_sqlite_store *s, rt_sqlite_conn **out, rt_error *err)
{
	rt_sqlite_conn *c = NULL;
	rt_status st = refuse_fork(s, err);

	if (st != RT_OK)
		return st;
	if (rt_sqlite_is_owner(s) && s->writer.db != NULL) {
		*out = &s->writer;
		return RT_OK;
	}
	guard(s);
	for (;;) {
		for (int i = 0; i < RT_SQLITE_READERS_MAX && c == NULL; i++) {
			if (!s->readers[i].used)
				c = &s->readers[i];
		}
		if (c != NULL)
			break;
		RT_ASSERT(pthread_cond_wait(&s->free, &s->guard) == 0);
	}
	c->used = true;
	unguard(s);
	if (c->immutable && rt_sqlite_conn_changed(s, c))
		rt_sqlite_conn_close(c); /* somebody writes to it now: look again */
	if (c->db == NULL) {
		st = rt_sqlite_conn_open(s, c, false, err);
		if (st != RT_OK) {
			c->immutable = false;
			give_back(s, c);
			return st;
		}
	}
	*out = c;
	return RT_OK;
}

/* Gives the connection back. True: what it read is worth nothing, and may be read again. */
static bool
read_end(rt_sqlite_store *s, rt_sqlite_reading *r, rt_error *err)
{
	rt_sqlite_conn *c = r->conn;
	bool lost = c != &s->writer && !r->is_ended && c->immutable && rt_sqlite_conn_changed(s, c);

	r->conn = NULL;
	if (c == &s->writer)
		return false;
	if (lost) {
		c->losses++;
		r->status = rt_fail(err, RT_BUSY,
				    "%s was written to while it was read without a lock; "
				    "try again",
				    s->place);
	}
	/* With locks, but the index of the log went when who made it tidied up. */
	if (!lost && s->options.read_only && !c->immutable && r->status == RT_READ_ONLY) {
		rt_sqlite_conn_close(c);
		lost = true;
	}
	give_back(s, c);
	return lost && r->tries < READ_TRIES;
}

bool
rt_sqlite_read(rt_sqlite_store *s, rt_sqlite_reading *r, rt_error *err)
{
	if (r->tries > 0 && !read_end(s, r, err))
		return false;
	r->tries++;
	r->seen = 0;
	r->status = read_begin(s, &r->conn, err);
	return r->status == RT_OK;
}

bool
rt_sqlite_is_told(rt_sqlite_reading *r)
{
	if (r->seen++ < r->told)
		return true;
	r->told++;
	return false;
}

void
rt_sqlite_hits_init(rt_sqlite_hits *hits, const rt_alloc *alloc, rt_hit_fn fn, void *ctx)
{
	hits->fn = fn;
	hits->ctx = ctx;
	rt_buf_init(&hits->held, alloc, RT_BUF_UNLIMITED);
}

bool
rt_sqlite_hit(rt_sqlite_hits *hits, rt_sqlite_reading *r, uint64_t number, uint64_t entry)
{
	uint64_t pair[2] = {number, entry};

	if (!r->conn->immutable)
		return hits->fn(hits->ctx, number, entry);
	rt_buf_add(&hits->held, (const char *)pair, sizeof(pair));
	return hits->held.status == RT_OK;
}

rt_status
rt_sqlite_hits_end(rt_sqlite_hits *hits, rt_status st, rt_error *err)
{
	uint64_t pair[2];
	bool more = st == RT_OK;

	if (st == RT_OK && hits->held.status != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory for what was found");
	for (size_t at = 0; more && st == RT_OK && at < hits->held.size; at += sizeof(pair)) {
		memcpy(pair, hits->held.ptr + at, sizeof(pair));
		more = hits->fn(hits->ctx, pair[0], pair[1]);
	}
	rt_buf_deinit(&hits->held);
	return st;
}

rt_status
rt_sqlite_run(rt_sqlite_store *s, rt_sqlite_conn *c, sqlite3_stmt *stmt, const char *doing,
	      rt_error *err)
{
	rt_status st = RT_OK;

	if (sqlite3_step(stmt) != SQLITE_DONE)
		st = rt_sqlite_fail(s, c->db, doing, err);
	(void)sqlite3_reset(stmt);
	return st;
}

/* --- transactions --- */

/* SQLite ends some transactions by itself when a write fails, and others hold half of a
 * call then. Neither may be committed, nor may anything more be written. */
rt_status
rt_sqlite_refuse_broken(rt_sqlite_store *s, rt_error *err)
{
	return rt_fail(err, s->tx_status,
		       "%s: nothing is written, because an earlier write of the same step failed "
		       "(%s)",
		       s->place, rt_status_word(s->tx_status));
}

/* Wait until no other thread of ours writes. Who waits comes before who comes later: a thread
 * that writes one transaction after another would hardly ever let others in. */
static rt_status
take_turn(rt_sqlite_store *s, rt_error *err)
{
	rt_status st = RT_OK;

	guard(s);
	if (s->writing || s->handed) {
		uint64_t came = s->turns;
		struct timespec until;

		s->waiting++;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += s->options.busy_ms / 1000;
		until.tv_nsec += s->options.busy_ms % 1000 * 1000000L;
		if (until.tv_nsec >= 1000000000L) {
			until.tv_nsec -= 1000000000L;
			until.tv_sec++;
		}
		while ((s->writing || (s->handed && s->turns == came)) && st == RT_OK) {
			if (pthread_cond_timedwait(&s->free, &s->guard, &until) != 0 &&
			    (s->writing || (s->handed && s->turns == came)))
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
give_turn(rt_sqlite_store *s)
{
	guard(s);
	s->writing = false;
	s->turns++;
	s->handed = s->waiting > 0;
	RT_ASSERT(pthread_cond_broadcast(&s->free) == 0);
	unguard(s);
}

/* Take SQLite's write lock. */
static rt_status
lock_file(rt_sqlite_store *s, rt_error *err)
{
	int64_t from = rt_sqlite_now_ns();
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, &s->writer, SQL_BEGIN, &stmt, err);
	int rc;

	s->tx_status = RT_OK;
	if (st != RT_OK)
		return st;
	/* The handler does the waiting; a few kinds of busy come past it. */
	do {
		rc = sqlite3_step(stmt);
		(void)sqlite3_reset(stmt);
		if (RT_SEEDED(RT_SEEDED_NO_WAITING))
			break;
		if (rt_sqlite_status(rc) == RT_BUSY && !s->no_wait) {
			struct timespec nap = {0, 1000000};

			nanosleep(&nap, NULL);
		}
	} while (rt_sqlite_status(rc) == RT_BUSY && !s->no_wait &&
		 rt_sqlite_now_ns() - from < (int64_t)s->options.busy_ms * 1000000);
	return rc == SQLITE_DONE ? RT_OK
				 : rt_sqlite_fail(s, s->writer.db, "starting to write", err);
}

static void
roll_back(rt_sqlite_store *s)
{
	sqlite3_stmt *stmt = NULL;

	s->tx_added = false;
	if (s->writer.db == NULL || sqlite3_get_autocommit(s->writer.db))
		return;
	if (rt_sqlite_stmt(s, &s->writer, SQL_ROLLBACK, &stmt, NULL) == RT_OK) {
		(void)sqlite3_step(stmt);
		(void)sqlite3_reset(stmt);
	}
	/* Only memory can be short here, and a connection that cannot roll back is closed. */
	if (!sqlite3_get_autocommit(s->writer.db))
		rt_sqlite_conn_close(&s->writer);
}

static rt_status
commit_file(rt_sqlite_store *s, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st;

	if (s->tx_status != RT_OK && !RT_SEEDED(RT_SEEDED_HALF_COMMITTED)) {
		st = rt_sqlite_refuse_broken(s, err);
		roll_back(s);
		return st;
	}
	st = rt_sqlite_stmt(s, &s->writer, SQL_COMMIT, &stmt, err);
	if (st == RT_OK && s->tx_added && s->tx_project != 0)
		st = rt_sqlite_check_added(s, err);
	if (st == RT_OK) {
		st = rt_sqlite_run(s, &s->writer, stmt, "committing", err);
		if (st == RT_IO && !RT_SEEDED(RT_SEEDED_NOT_POISONED))
			s->poisoned = true;
	}
	if (st != RT_OK)
		roll_back(s);
	s->tx_added = false; /* the next transaction may be one of our own, without begin */
	return st;
}

rt_status
rt_sqlite_checkpoint(rt_sqlite_store *s, int mode, bool wait, rt_error *err)
{
	int pages = 0, done = 0, rc;
	bool before = s->no_wait;

	s->no_wait = !wait;
	rc = sqlite3_wal_checkpoint_v2(s->writer.db, "main", mode, &pages, &done);
	s->no_wait = before;
	if (rc == SQLITE_OK) {
		if (pages >= 0 && pages == done)
			s->wal_pages = 0;
		return RT_OK;
	}
	if ((rc & 0xff) == SQLITE_IOERR)
		s->poisoned = true; /* a sync failed: it must not be tried again */
	return rt_sqlite_fail(s, s->writer.db, "writing the log back", err);
}

/* After a commit. Nothing that goes wrong here undoes it: what is in the log is durable.
 * A disk error shows at the next begin, a full disk at the next commit. */
static void
tidy(rt_sqlite_store *s)
{
	rt_status st = RT_BUSY;

	if (s->wal_pages < s->options.checkpoint_pages)
		s->wal_next = 0; /* it started anew */
	if (s->wal_pages < s->options.checkpoint_pages || s->wal_pages < s->wal_next || s->poisoned)
		return;
	if (s->wal_pages >= CUT_PAGES)
		st = rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE, false, NULL);
	if (st == RT_BUSY) /* readers are in the way of cutting, or it is not time yet */
		st = rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_PASSIVE, false, NULL);
	/* While a reader needs what is in the log, trying after every commit costs two syncs
	 * each and gains nothing. */
	if (st == RT_OK && s->wal_pages > 0)
		s->wal_next = s->wal_pages + s->options.checkpoint_pages / 4;
}

static rt_status
refuse_poisoned(rt_sqlite_store *s, rt_error *err)
{
	return rt_fail(
		err, RT_IO,
		"an earlier write to %s failed in the disk; it has to be opened again before "
		"more can be written",
		s->place);
}

/* A number that changes when the file does, whoever changed it. */
static unsigned
data_version(rt_sqlite_store *s)
{
	unsigned version = 0;

	if (s->writer.db != NULL)
		(void)sqlite3_file_control(s->writer.db, "main", SQLITE_FCNTL_DATA_VERSION,
					   &version);
	return version;
}

/* Before our first write. If the last writer died after a failed sync, the end of the log
 * may be in the system's cache and on no disk: it can be read, and a sync finds nothing to
 * do. Whatever was committed behind it would be lost with it. So it goes into the file,
 * which writes it anew, before anything is put behind it. */
static rt_status
settle_log(rt_sqlite_store *s, rt_error *err)
{
	rt_error local = {0};
	rt_status st = rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_PASSIVE, false, &local);

	s->settled = st == RT_OK || st == RT_BUSY; /* busy: somebody else is at it */
	if (!s->settled && err != NULL)
		*err = local;
	return s->settled ? RT_OK : st;
}

static rt_status mark_relaxed(rt_sqlite_store *s, bool on, rt_error *err);

rt_status
rt_sqlite_begin(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_status st;

	RT_ASSERT(!rt_sqlite_is_owner(s));
	if (s->options.read_only)
		return rt_fail(err, RT_READ_ONLY, "%s was opened for reading only", s->place);
	st = refuse_fork(s, err);
	if (st == RT_OK)
		st = take_turn(s, err);
	if (st != RT_OK)
		return st;
	if (s->poisoned)
		st = refuse_poisoned(s, err);
	if (st == RT_OK && s->writer.db == NULL)
		st = rt_sqlite_conn_open(s, &s->writer, true, err);
	if (st == RT_OK) /* what is written to another file than the one at path is lost */
		st = rt_sqlite_same_file(s, err);
	if (st == RT_OK && !s->settled && !RT_SEEDED(RT_SEEDED_NOT_SETTLED))
		st = settle_log(s, err);
	if (RT_SEEDED(RT_SEEDED_ACK_FIRST) && st == RT_OK)
		st = rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_PASSIVE, false, err);
	if (st == RT_OK && s->options.relaxed && !s->marked && !RT_SEEDED(RT_SEEDED_NO_MARK))
		st = mark_relaxed(s, true, err);
	if (st == RT_OK)
		st = lock_file(s, err);
	s->tx_project_last = 0;
	s->tx_added = false;
	/* The heads of the last commit are still true if nobody wrote since. */
	if (st == RT_OK && s->tx_project != 0 && data_version(s) != s->tx_version)
		s->tx_project = 0;
	if (st != RT_OK)
		give_turn(s);
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
	rt_status st;

	RT_ASSERT(rt_sqlite_is_owner(s));
	st = commit_file(s, err);
	stop_wiping(s);
	if (st == RT_OK) {
		if (s->tx_project_last > s->project_last)
			s->project_last = s->tx_project_last;
		s->tx_version = data_version(s);
		tidy(s);
	} else {
		s->tx_project = 0;
	}
	give_turn(s);
	return st;
}

void
rt_sqlite_cancel(rt_store *store)
{
	rt_sqlite_store *s = rt_sqlite_self(store);

	if (!rt_sqlite_is_owner(s))
		return;
	roll_back(s);
	stop_wiping(s);
	s->tx_project = 0;
	give_turn(s);
}

rt_status
rt_sqlite_wipe(rt_sqlite_store *s, rt_error *err)
{
	rt_status st;

	if (s->wiping)
		return RT_OK;
	st = rt_sqlite_exec(s, &s->writer, "PRAGMA secure_delete = ON", "purging", err);
	s->wiping = st == RT_OK;
	return st;
}

/* --- meta --- */

rt_status
rt_sqlite_meta_get(rt_sqlite_store *s, rt_sqlite_conn *c, const char *key, rt_buf *out,
		   rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_META_GET, &stmt, err);
	int rc;

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		const unsigned char *text = sqlite3_column_text(stmt, 1);
		size_t size = (size_t)sqlite3_column_bytes(stmt, 1);

		if (sqlite3_column_int64(stmt, 0) !=
		    rt_sqlite_sum(RT_TABLE_META, 0, rt_sqlite_name_hash(rt_str_of(key)), text,
				  size))
			st = rt_fail(err, RT_CORRUPT,
				     "%s is damaged: its %s is not what was "
				     "written; run retake fsck",
				     s->place, key);
		if (st == RT_OK) {
			rt_buf_add(out, text, size);
			st = out->status;
		}
	} else if (rc == SQLITE_DONE) {
		st = rt_fail(err, RT_NOT_FOUND, "%s does not say its %s", s->place, key);
	} else {
		st = rt_sqlite_fail(s, c->db, "opening it", err);
	}
	(void)sqlite3_reset(stmt);
	return st;
}

rt_status
rt_sqlite_meta_set(rt_sqlite_store *s, rt_sqlite_conn *c, const char *key, rt_str value,
		   rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_META_SET, &stmt, err);

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(stmt, 2,
				 rt_sqlite_sum(RT_TABLE_META, 0,
					       rt_sqlite_name_hash(rt_str_of(key)), value.ptr,
					       value.size));
	(void)sqlite3_bind_text64(stmt, 3, value.ptr, value.size, SQLITE_STATIC, SQLITE_UTF8);
	return rt_sqlite_run(s, c, stmt, "writing to it", err);
}

/* The mark: "COUNT BOOT". */
static rt_status
mark_read(rt_sqlite_store *s, rt_sqlite_conn *c, rt_buf *text, unsigned long *out_count,
	  const char **out_boot, rt_error *err)
{
	char *end;
	rt_error local;
	rt_status st = rt_sqlite_meta_get(s, c, "relaxed", text, &local);

	*out_count = 0;
	*out_boot = "";
	if (st == RT_NOT_FOUND)
		return RT_OK;
	if (st != RT_OK) {
		if (err != NULL)
			*err = local;
		return st;
	}
	*out_count = strtoul(text->ptr == NULL ? "" : text->ptr, &end, 10);
	*out_boot = *end == ' ' ? end + 1 : end;
	return RT_OK;
}

rt_status
rt_sqlite_epoch_read(rt_sqlite_store *s, rt_sqlite_conn *c, uint64_t *out_epoch, bool *out_derived,
		     rt_error *err)
{
	const char *boot;
	unsigned long count;
	rt_buf text, mark;
	rt_status st;

	rt_buf_init(&text, s->alloc, 64);
	rt_buf_init(&mark, s->alloc, 256);
	st = rt_sqlite_meta_get(s, c, "epoch", &text, err);
	if (st == RT_OK)
		st = mark_read(s, c, &mark, &count, &boot, err);
	if (st == RT_NOT_FOUND || st == RT_LIMIT)
		st = rt_fail(err, RT_CORRUPT, "%s is damaged: it does not say its epoch", s->place);
	if (st == RT_OK) {
		*out_epoch = strtoull(text.ptr == NULL ? "" : text.ptr, NULL, 10);
		*out_derived = count > 0 && strcmp(boot, s->boot) != 0;
		if (*out_derived)
			*out_epoch = rt_hash(boot, strlen(boot), *out_epoch) | 1;
	}
	rt_buf_deinit(&mark);
	rt_buf_deinit(&text);
	return st;
}

rt_status
rt_sqlite_epoch_settle(rt_sqlite_store *s, rt_error *err)
{
	sqlite3_stmt *drop = NULL;
	uint64_t epoch = 0;
	bool derived = false;
	char text[24];
	rt_status st = rt_sqlite_epoch_read(s, &s->writer, &epoch, &derived, err);

	if (st != RT_OK || !derived)
		return st;
	snprintf(text, sizeof(text), "%llu", rt_sqlite_ull(epoch));
	st = rt_sqlite_meta_set(s, &s->writer, "epoch", rt_str_of(text), err);
	if (st == RT_OK)
		st = rt_sqlite_stmt(s, &s->writer, SQL_META_DROP, &drop, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_text(drop, 1, "relaxed", -1, SQLITE_STATIC);
	return rt_sqlite_run(s, &s->writer, drop, "renewing the epoch", err);
}

/* Count ourselves in or out, in a transaction of its own that is synced. */
static rt_status
mark_relaxed(rt_sqlite_store *s, bool on, rt_error *err)
{
	char value[RT_SQLITE_BOOT_SIZE + 24];
	const char *boot;
	unsigned long count = 0;
	sqlite3_stmt *drop = NULL;
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, s->alloc, 256);
	st = rt_sqlite_exec(s, &s->writer, "PRAGMA synchronous = FULL", "writing to it", err);
	if (st == RT_OK)
		st = lock_file(s, err);
	if (st != RT_OK)
		goto done;
	st = rt_sqlite_epoch_settle(s, err);
	if (st == RT_OK)
		st = mark_read(s, &s->writer, &text, &count, &boot, err);
	if (st == RT_OK && on)
		count++;
	else if (st == RT_OK && count > 0)
		count--;
	snprintf(value, sizeof(value), "%lu %s", count, s->boot);
	if (st == RT_OK && count > 0) {
		st = rt_sqlite_meta_set(s, &s->writer, "relaxed", rt_str_of(value), err);
	} else if (st == RT_OK) {
		st = rt_sqlite_stmt(s, &s->writer, SQL_META_DROP, &drop, err);
		if (st == RT_OK) {
			(void)sqlite3_bind_text(drop, 1, "relaxed", -1, SQLITE_STATIC);
			st = rt_sqlite_run(s, &s->writer, drop, "writing to it", err);
		}
	}
	if (st == RT_OK)
		st = commit_file(s, err);
	else
		roll_back(s);
	if (st == RT_OK)
		s->marked = on;
done:
	if (s->writer.db != NULL)
		(void)sqlite3_exec(s->writer.db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
	rt_buf_deinit(&text);
	return st;
}

static rt_status
version_now(rt_sqlite_store *s, rt_sqlite_conn *c, int64_t *out, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_DATA_VERSION, &stmt, err);

	if (st != RT_OK)
		return st;
	if (sqlite3_step(stmt) == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	else
		st = rt_sqlite_fail(s, c->db, "reading it", err);
	(void)sqlite3_reset(stmt);
	return st;
}

/* Asked for by every reader, again and again: what a connection has read is not read anew
 * while nobody has committed anything. The writer's own changes have no version, so what
 * is asked within begin is always read. */
rt_status
rt_sqlite_epoch(rt_store *store, uint64_t *out_epoch, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	int64_t version = 0;
	bool derived;

	while (rt_sqlite_read(s, &r, err)) {
		rt_sqlite_conn *c = r.conn;

		if (c != &s->writer)
			r.status = version_now(s, c, &version, err);
		if (r.status == RT_OK && c->epoch_known && c->epoch_version == version) {
			*out_epoch = c->epoch;
		} else if (r.status == RT_OK) {
			r.status = rt_sqlite_epoch_read(s, c, out_epoch, &derived, err);
			c->epoch_known = r.status == RT_OK && c != &s->writer;
			if (c->epoch_known) {
				/* From before: at worst it is read once more. */
				c->epoch_version = version;
				c->epoch = *out_epoch;
			}
		}
	}
	return r.status;
}

/* Begin unless we are inside a begin already; says which. */
rt_status
rt_sqlite_begin_alone(rt_sqlite_store *s, bool *out_alone, rt_error *err)
{
	*out_alone = !rt_sqlite_is_owner(s);
	return *out_alone ? rt_sqlite_begin(&s->base, err) : RT_OK;
}

rt_status
rt_sqlite_end_alone(rt_sqlite_store *s, bool alone, rt_status st, rt_error *err)
{
	if (!alone)
		return st;
	if (st == RT_OK)
		return rt_sqlite_commit(&s->base, err);
	rt_sqlite_cancel(&s->base);
	return st;
}

rt_status
rt_sqlite_epoch_renew(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	uint64_t before = 0, epoch = 0;
	char text[24];
	bool alone, derived;
	rt_status st = rt_sqlite_begin_alone(s, &alone, err);

	if (st != RT_OK)
		return st;
	st = rt_sqlite_epoch_read(s, &s->writer, &before, &derived, err);
	if (st == RT_CORRUPT)
		st = RT_OK; /* this is how it is mended */
	while (epoch == 0 || epoch == before)
		s->env.random(s->env.ctx, &epoch, sizeof(epoch));
	snprintf(text, sizeof(text), "%llu", rt_sqlite_ull(epoch));
	if (st == RT_OK)
		st = rt_sqlite_meta_set(s, &s->writer, "epoch", rt_str_of(text), err);
	return rt_sqlite_end_alone(s, alone, st, err);
}

void
rt_sqlite_close(rt_store *store)
{
	rt_sqlite_store *s = rt_sqlite_self(store);

	if (s == NULL)
		return;
	if (s->writing) { /* an open begin, of whichever thread */
		s->owner = pthread_self();
		rt_sqlite_cancel(store);
	}
	if (s->marked && !s->poisoned && s->writer.db != NULL && take_turn(s, NULL) == RT_OK) {
		(void)mark_relaxed(s, false, NULL);
		give_turn(s);
	}
	rt_sqlite_free(s);
}

const char *
rt_sqlite_place(rt_store *store)
{
	const rt_sqlite_store *s = rt_sqlite_self(store);

	return s->memory != NULL ? "memory" : s->place;
}

bool
rt_sqlite_is_read_only(rt_store *store)
{
	return rt_sqlite_self(store)->options.read_only;
}
