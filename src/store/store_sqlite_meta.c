/* SPDX-License-Identifier: MIT
 *
 * The meta table of the SQLite store: version gates, the epoch, the mark of relaxed mode. */
#include "store/store_sqlite_impl.h"

#include <stdio.h> /* snprintf */
#include <stdlib.h>

/* --- values --- */

bool
rt_sqlite_meta_get(rt_sqlite_call *call, const char *key, char out[RT_SQLITE_META_ROOM])
{
	rt_sqlite_query q = rt_sqlite_select(call, SQL_META_GET, "opening it",
					     RT_SQL_VALUES(RT_SQL_TEXT(rt_str_of(key))));
	bool found = false;
	rt_store_row row;
	uint64_t unused;

	if (rt_sqlite_next(&q)) {
		rt_status st = rt_sqlite_row_read(q.stmt, RT_TABLE_META, &unused, &row);

		if (st == RT_CORRUPT)
			call->status = rt_fail(call->err, RT_CORRUPT,
					       "%s is damaged: its %s is not what was "
					       "written; run retake fsck",
					       call->store->place, key);
		else if (st != RT_OK)
			call->status = rt_fail(call->err, st, "out of memory");
		found = st == RT_OK && row.data.size < RT_SQLITE_META_ROOM;
		if (found) { /* on the path of every begin: no snprintf */
			memcpy(out, row.data.ptr, row.data.size);
			out[row.data.size] = 0;
		}
	}
	rt_sqlite_end(&q);
	return found;
}

void
rt_sqlite_meta_set(rt_sqlite_call *call, const char *key, const char *value)
{
	rt_store_row row = {.name = rt_str_of(key), .data = rt_str_of(value)};

	rt_sqlite_row_write(call, SQL_META_SET, "writing to it", RT_TABLE_META, 0, &row);
}

void
rt_sqlite_meta_set_number(rt_sqlite_call *call, const char *key, uint64_t number)
{
	char value[24];

	snprintf(value, sizeof(value), "%llu", rt_sqlite_ull(number));
	rt_sqlite_meta_set(call, key, value);
}

static void
meta_drop(rt_sqlite_call *call, const char *key, const char *doing)
{
	rt_sqlite_run(call, SQL_META_DROP, doing, RT_SQL_VALUES(RT_SQL_TEXT(rt_str_of(key))));
}

static uint64_t
meta_number(rt_sqlite_call *call, const char *key)
{
	char value[RT_SQLITE_META_ROOM];

	if (rt_sqlite_meta_get(call, key, value))
		return strtoull(value, NULL, 10);
	if (call->status == RT_OK)
		call->status = rt_fail(call->err, RT_CORRUPT,
				       "%s is damaged: it does not say its %s", call->store->place,
				       key);
	return 0;
}

/* --- version gates --- */

void
rt_sqlite_check_gates(rt_sqlite_call *call)
{
	const rt_sqlite_store *s = call->store;
	uint64_t reader = meta_number(call, "min_reader"), writer = meta_number(call, "min_writer");
	char value[RT_SQLITE_META_ROOM] = "", by[40] = "a newer Retake";
	rt_sqlite_call naming = {.store = call->store, .conn = call->conn};

	if (call->status != RT_OK)
		return;
	if (rt_sqlite_meta_get(&naming, "written_by", value) && strlen(value) <= 20 &&
	    rt_utf8_valid_size(rt_str_of(value)) == strlen(value))
		snprintf(by, sizeof(by), "Retake %.20s", value);
	if (reader > RT_SQLITE_FORMAT)
		call->status = rt_fail(call->err, RT_TOO_NEW,
				       "%s was written by %s in format %llu; this is Retake %s, "
				       "which reads up to format %d",
				       s->place, by, rt_sqlite_ull(reader), RT_VERSION,
				       RT_SQLITE_FORMAT);
	else if (writer > RT_SQLITE_FORMAT && !s->options.read_only)
		call->status = rt_fail(call->err, RT_TOO_NEW,
				       "%s was written by %s in format %llu; this is Retake %s, "
				       "which can open it for reading only",
				       s->place, by, rt_sqlite_ull(writer), RT_VERSION);
}

/* --- epoch and relaxed mode --- */

typedef struct relaxed_mark {
	char value[RT_SQLITE_META_ROOM]; /* "COUNT BOOT" */
	const char *boot;                /* in value */
	unsigned long count;             /* 0: there is no mark */
} relaxed_mark;

static void
mark_read(rt_sqlite_call *call, relaxed_mark *mark)
{
	char *end;

	mark->count = 0;
	mark->boot = "";
	if (!rt_sqlite_meta_get(call, "relaxed", mark->value))
		return;
	mark->count = strtoul(mark->value, &end, 10);
	mark->boot = *end == ' ' ? end + 1 : end;
}

uint64_t
rt_sqlite_epoch_read(rt_sqlite_call *call, bool *out_derived)
{
	uint64_t epoch = meta_number(call, "epoch");
	relaxed_mark mark;

	mark_read(call, &mark);
	*out_derived = mark.count > 0 && strcmp(mark.boot, call->store->boot) != 0;
	return *out_derived ? rt_hash(mark.boot, strlen(mark.boot), epoch) | 1 : epoch;
}

void
rt_sqlite_epoch_settle(rt_sqlite_call *call)
{
	bool derived;
	uint64_t epoch = rt_sqlite_epoch_read(call, &derived);

	if (!derived)
		return;
	rt_sqlite_meta_set_number(call, "epoch", epoch);
	meta_drop(call, "relaxed", "renewing the epoch");
}

rt_status
rt_sqlite_mark_relaxed(rt_sqlite_store *s, bool on, rt_error *err)
{
	rt_sqlite_call call = {.store = s, .conn = &s->writer, .err = err};
	char value[RT_SQLITE_BOOT_SIZE + 24];
	relaxed_mark mark;

	rt_sqlite_exec(&call, "PRAGMA synchronous = FULL", "writing to it");
	if (call.status == RT_OK)
		call.status = rt_sqlite_lock(s, err);
	if (call.status == RT_OK) {
		rt_sqlite_epoch_settle(&call);
		mark_read(&call, &mark);
		if (on)
			mark.count++;
		else if (mark.count > 0)
			mark.count--;
		snprintf(value, sizeof(value), "%lu %s", mark.count, s->boot);
		if (mark.count > 0)
			rt_sqlite_meta_set(&call, "relaxed", value);
		else
			meta_drop(&call, "relaxed", "writing to it");
		call.status = rt_sqlite_unlock(s, call.status, err);
		if (call.status == RT_OK)
			s->marked = on;
	}
	if (s->writer.db != NULL)
		(void)sqlite3_exec(s->writer.db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
	return call.status;
}

static int64_t
data_version(rt_sqlite_call *call)
{
	rt_sqlite_query q = rt_sqlite_select(call, SQL_DATA_VERSION, "reading it", NULL);
	int64_t version = rt_sqlite_next(&q) ? sqlite3_column_int64(q.stmt, 0) : 0;

	rt_sqlite_end(&q);
	return version;
}

/* Called by every reader, often: a connection reads the value again only after a commit. Our
 * own uncommitted changes have no version, so inside begin the value is always read. */
rt_status
rt_sqlite_epoch(rt_store *store, uint64_t *out_epoch, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_reading(store, err);
	uint64_t epoch = 0;

	while (rt_sqlite_attempt(&call)) {
		rt_sqlite_conn *c = call.conn;
		bool cached = c != &call.store->writer, derived;
		/* Taken before the value: at worst it is read once too often. */
		int64_t version = cached ? data_version(&call) : 0;

		if (c->epoch_known && c->epoch_version == version) {
			epoch = c->epoch;
			continue;
		}
		epoch = rt_sqlite_epoch_read(&call, &derived);
		c->epoch_known = call.status == RT_OK && cached;
		c->epoch_version = version;
		c->epoch = epoch;
	}
	if (call.status == RT_OK)
		*out_epoch = epoch;
	return call.status;
}

rt_status
rt_sqlite_epoch_renew(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = {.store = s, .conn = &s->writer, .err = err};
	uint64_t before, epoch = 0;
	bool alone, derived;
	rt_status st = rt_sqlite_begin_alone(s, &alone, err);

	if (st != RT_OK)
		return st;
	before = rt_sqlite_epoch_read(&call, &derived);
	if (call.status == RT_CORRUPT)
		call.status = RT_OK; /* this is how it is repaired */
	while (epoch == 0 || epoch == before)
		s->env.random(s->env.ctx, &epoch, sizeof(epoch));
	rt_sqlite_meta_set_number(&call, "epoch", epoch);
	return rt_sqlite_end_alone(s, alone, call.status, err);
}
