/* SPDX-License-Identifier: MIT
 *
 * The meta table of the SQLite store: version gates, the epoch, the mark of relaxed mode. */
#include "store/store_sqlite_impl.h"

#include <stdio.h> /* snprintf */
#include <stdlib.h>

/* --- values --- */

static rt_sqlite_args
key_args(const char *key)
{
	return (rt_sqlite_args){.bytes = rt_str_of(key), .is_text = true};
}

/* A value with its NUL. False: none, or the call has failed. */
static bool
meta_get(rt_sqlite_call *call, const char *key, char out[RT_SQLITE_META_ROOM])
{
	rt_sqlite_query q = rt_sqlite_select(call, SQL_META_GET, key_args(key));
	bool found = false;
	rt_store_row row;
	uint64_t unused;

	if (rt_sqlite_next(&q)) {
		rt_status st = rt_sqlite_row_read(q.stmt, RT_TABLE_META, &unused, &row);

		if (st == RT_CORRUPT)
			rt_scope_fail_advise(&call->scope, st, "run retake fsck",
					     "%s is damaged: its %s has a wrong checksum",
					     call->store->place, key);
		else if (st != RT_OK)
			rt_scope_nomem(&call->scope);
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

	rt_sqlite_row_write(call, SQL_META_SET, 0, &row);
}

void
rt_sqlite_meta_set_number(rt_sqlite_call *call, const char *key, uint64_t number)
{
	char value[24];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)number);
	rt_sqlite_meta_set(call, key, value);
}

static uint64_t
meta_number(rt_sqlite_call *call, const char *key)
{
	char value[RT_SQLITE_META_ROOM];

	if (meta_get(call, key, value))
		return strtoull(value, NULL, 10);
	rt_scope_fail(&call->scope, RT_CORRUPT, "%s is damaged: its %s is missing",
		      call->store->place, key);
	return 0;
}

/* --- version gates --- */

void
rt_sqlite_check_gates(rt_sqlite_call *call)
{
	const rt_sqlite_store *s = call->store;
	rt_store_gates gates = {.reader = meta_number(call, "min_reader"),
				.writer = meta_number(call, "min_writer")};
	char value[RT_SQLITE_META_ROOM] = "";
	rt_sqlite_call naming = rt_sqlite_call_on(call->store, call->conn);

	if (!rt_ok(&call->scope))
		return;
	if (meta_get(&naming, "written_by", value))
		snprintf(gates.written_by, sizeof(gates.written_by), "%.30s", value);
	rt_store_check_gates(&call->scope, &gates, RT_SQLITE_FORMAT, s->place,
			     s->options.read_only);
	rt_scope_deinit(&naming.scope);
}

/* --- epoch and relaxed mode --- */

typedef struct relaxed_mark {
	char value[RT_SQLITE_META_ROOM]; /* "COUNT BOOT" */
	const char *boot;                /* in value */
	unsigned long count;             /* 0: there is no mark */
} relaxed_mark;

static void
read_mark(rt_sqlite_call *call, relaxed_mark *mark)
{
	char *end;

	mark->count = 0;
	mark->boot = "";
	if (!meta_get(call, "relaxed", mark->value))
		return;
	mark->count = strtoul(mark->value, &end, 10);
	mark->boot = *end == ' ' ? end + 1 : end;
}

uint64_t
rt_sqlite_epoch_read(rt_sqlite_call *call, bool *out_derived)
{
	uint64_t epoch = meta_number(call, "epoch");
	relaxed_mark mark;

	read_mark(call, &mark);
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
	call->doing = "renewing the epoch";
	rt_sqlite_run(call, SQL_META_DROP, key_args("relaxed"));
	call->doing = NULL;
}

void
rt_sqlite_mark_count(rt_sqlite_call *call, bool in)
{
	char value[RT_SQLITE_BOOT_SIZE + 24];
	relaxed_mark mark;

	rt_sqlite_epoch_settle(call);
	read_mark(call, &mark);
	if (in)
		mark.count++;
	else if (mark.count > 0)
		mark.count--;
	snprintf(value, sizeof(value), "%lu %s", mark.count, call->store->boot);
	if (mark.count > 0)
		rt_sqlite_meta_set(call, "relaxed", value);
	else
		rt_sqlite_run(call, SQL_META_DROP, key_args("relaxed"));
}
