/* SPDX-License-Identifier: MIT
 *
 * A workload for a store on a simulated disk, and the verification after a cut.
 *
 * The script is a list of transactions, 1 .. SCRIPT_STEPS. Each writes its own number into the
 * side row "step", and in the same transaction appends, rewrites nodes and the root, fills the
 * index, drops, purges. So the side row tells which transactions a disk contains, and everything
 * else must be exactly their result: complete or absent, and a prefix. Tests include this file. */
#ifndef RT_TESTS_POWER_SCRIPT_H
#define RT_TESTS_POWER_SCRIPT_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/power_vfs.h"
#include "store/store_sqlite.h"

#define SCRIPT_PATH "/disk/store"

enum {
	SCRIPT_PROJECT = 1,
	SCRIPT_STEPS_MAX = 400,
	SCRIPT_NODES = 5,
	SCRIPT_PURGED = 3,     /* the body that is purged, */
	SCRIPT_PURGE_STEP = 60 /* and when */
};

/* Progress of the workload. */
typedef struct script {
	int steps;        /* number of steps to run */
	int acknowledged; /* the last acknowledged one */
	int attempted;    /* the last one started */
	bool relaxed;
	uint64_t epoch;
	rt_status failed; /* the first failure, RT_OK for none */
	char text[RT_ERROR_TEXT_SIZE];
} script;

static void
script_random(void *ctx, void *to, size_t size)
{
	static _Atomic uint64_t state = 7;
	unsigned char *bytes = to;

	(void)ctx;
	for (size_t i = 0; i < size; i++) {
		uint64_t x = atomic_fetch_add(&state, 0x9E3779B97F4A7C15u);

		x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
		bytes[i] = (unsigned char)(x >> 33);
	}
}

static int64_t
script_now(void *ctx)
{
	(void)ctx;
	return 1700000000000000;
}

static const rt_env script_env = {script_now, script_random, NULL};

/* --- contents of step n, all derived from n --- */

/* Total number of log rows (one body each) that steps 1 .. n append. */
static uint64_t
script_rows(int n)
{
	return (uint64_t)(n + n / 5); /* every fifth step appends two */
}

static rt_str
script_body(char *room, size_t size, uint64_t number)
{
	size_t want = 40 + number * 53 % 1400, at;

	if (number % 50 == 49)
		want = 20000; /* a chain of overflow pages */
	if (want > size)
		want = size;
	at = (size_t)snprintf(room, size, "word%llu body ", (unsigned long long)number);
	for (; at < want; at++)
		room[at] = (char)('a' + (at * 11 + number) % 26);
	return rt_str_at(room, at);
}

static rt_str
script_text(char *room, size_t size, const char *what, int n)
{
	return rt_str_at(room, (size_t)snprintf(room, size, "%s of step %d", what, n));
}

/* The last step up to n that wrote node i, 0: none. Step n writes node n % SCRIPT_NODES; every
 * twentieth step drops node 1 afterwards. */
static int
script_node_step(int n, int i)
{
	for (; n > 0; n--) {
		if (i == 1 && n % 20 == 0)
			return 0;
		if (n % SCRIPT_NODES == i)
			return n;
	}
	return 0;
}

/* --- running it --- */

static rt_status
script_append(rt_store *s, int n, rt_error *err)
{
	static char room[2][32768];
	uint64_t first = script_rows(n - 1), last = script_rows(n);
	rt_store_row rows[2];
	rt_store_row bodies[2];
	char logs[2][64];

	memset(rows, 0, sizeof(rows));
	for (uint64_t i = first; i < last; i++) {
		size_t at = i - first;
		uint64_t number = i + 1;

		snprintf(logs[at], sizeof(logs[at]), "effect %llu", (unsigned long long)number);
		memcpy(rows[at].step, &number, sizeof(number));
		rows[at].at_us = (int64_t)number;
		rows[at].data = rt_str_of(logs[at]);
		bodies[at] = (rt_store_row){
			.number = number,
			.entry = number + 7,
			.data = script_body(room[at], sizeof(room[at]), number)};
	}
	return s->ops->append(s, SCRIPT_PROJECT, first, rows, last - first, bodies, last - first,
			      NULL, err);
}

static rt_status
script_index(rt_store *s, int n, rt_error *err)
{
	uint64_t first = script_rows(n - 10) + 1, last = script_rows(n);
	rt_status st = RT_OK;
	char room[64];

	for (uint64_t i = first; i <= last && st == RT_OK; i++) {
		rt_str text = script_body(room, sizeof(room), i);

		st = s->ops->index_add(s, SCRIPT_PROJECT, i, i + 7, text, err);
	}
	return st;
}

static rt_status
script_write(rt_store *s, int n, rt_error *err)
{
	char room[64];
	rt_status st = script_append(s, n, err);

	if (st == RT_OK)
		st = s->ops->write(s,
				   rt_rows_one(RT_STORE_NODES, SCRIPT_PROJECT,
					       (uint64_t)(n % SCRIPT_NODES) + 1),
				   script_text(room, sizeof(room), "node", n), err);
	if (st == RT_OK && n % 20 == 0)
		st = s->ops->drop(s, rt_rows_one(RT_STORE_NODES, SCRIPT_PROJECT, 2), err);
	if (st == RT_OK)
		st = s->ops->write(s, rt_rows_one(RT_STORE_ROOT, SCRIPT_PROJECT, script_rows(n)),
				   script_text(room, sizeof(room), "root", n), err);
	if (st == RT_OK && n % 10 == 0)
		st = script_index(s, n, err);
	if (st == RT_OK && n == SCRIPT_PURGE_STEP)
		st = s->ops->write(s, rt_rows_one(RT_STORE_BODIES, SCRIPT_PROJECT, SCRIPT_PURGED),
				   RT_STR("purged"), err);
	if (st == RT_OK && n == SCRIPT_PURGE_STEP)
		st = s->ops->drop(s, rt_rows_one(RT_STORE_INDEX, SCRIPT_PROJECT, SCRIPT_PURGED),
				  err);
	if (st == RT_OK)
		st = s->ops->write(s, rt_rows_named(RT_STORE_SIDE, SCRIPT_PROJECT, RT_STR("step")),
				   script_text(room, sizeof(room), "side", n), err);
	return st;
}

/* A test may wrap it. */
#ifndef SCRIPT_STORE_OPEN
#define SCRIPT_STORE_OPEN rt_store_sqlite_open
#endif

static rt_status
script_open(const char *vfs, bool relaxed, const char *boot, bool create, rt_store **out,
	    rt_error *err)
{
	rt_store_sqlite_options options = {
		.create = create,
		.relaxed = relaxed,
		.busy_ms = 200,
		.checkpoint_pages = 40,
		.vfs = vfs,
		.boot = boot,
	};

	return SCRIPT_STORE_OPEN(rt_alloc_libc(), &script_env, SCRIPT_PATH, &options, out, err);
}

/* A new store with its project. Aborts on failure, which no test is about. */
static void
script_prepare(const char *vfs)
{
	rt_store *s = NULL;
	uint64_t project = 0;
	rt_error err;

	if (script_open(vfs, false, "before", true, &s, &err) != RT_OK ||
	    s->ops->begin(s, &err) != RT_OK ||
	    s->ops->project_new(s, RT_STR("p"), &project, &err) != RT_OK ||
	    s->ops->commit(s, &err) != RT_OK) {
		fprintf(stderr, "preparing: %s\n", err.text);
		abort();
	}
	s->ops->close(s);
}

/* One transaction; RT_CONFLICT if another store has written since. */
static rt_status
script_step(rt_store *s, script *sc, int n, rt_error *err)
{
	rt_status st;

	sc->attempted = n;
	st = s->ops->begin(s, err);
	if (st != RT_OK)
		return st;
	st = script_write(s, n, err);
	if (st == RT_OK)
		st = s->ops->commit(s, err);
	s->ops->cancel(s);
	if (st == RT_OK)
		sc->acknowledged = n;
	return st;
}

static void
script_note(script *sc, rt_status st, const rt_error *err)
{
	if (st == RT_OK || sc->failed != RT_OK)
		return;
	sc->failed = st;
	snprintf(sc->text, sizeof(sc->text), "%s", err->text);
}

/* Runs all steps, sometimes closing and opening the store. Stops at a failure. */
static void
script_run(const char *vfs, script *sc)
{
	rt_store *s = NULL;
	rt_error err = {0};
	rt_status st = script_open(vfs, sc->relaxed, "before", false, &s, &err);

	if (st == RT_OK)
		st = s->ops->epoch(s, &sc->epoch, &err);
	for (int n = sc->acknowledged + 1; st == RT_OK && n <= sc->steps; n++) {
		st = script_step(s, sc, n, &err);
		if (st == RT_OK && n % 70 == 0)
			st = s->ops->scrub(s, &err);
		if (st == RT_OK && n % 45 == 0) {
			s->ops->close(s);
			s = NULL;
			st = script_open(vfs, sc->relaxed, "before", false, &s, &err);
		}
	}
	script_note(sc, st, &err);
	if (s != NULL)
		s->ops->close(s);
}

/* --- verifying --- */

typedef struct verdict {
	bool bad;
	char text[256];
	int step; /* the last step in the store */
} verdict;

static void
complain(verdict *v, const char *text, uint64_t number)
{
	if (v->bad)
		return;
	v->bad = true;
	snprintf(v->text, sizeof(v->text), "%.200s (%llu)", text, (unsigned long long)number);
}

typedef struct scan {
	verdict *v;
	uint64_t next;
	bool purged;
} scan;

static bool
scan_log(void *ctx, const rt_store_row *row)
{
	scan *sc = ctx;
	char log[64];
	uint64_t number = 0;

	memcpy(&number, row->step, sizeof(number));
	snprintf(log, sizeof(log), "effect %llu", (unsigned long long)row->number);
	if (row->number != sc->next || number != row->number ||
	    row->at_us != (int64_t)row->number || !rt_str_is(row->data, log))
		complain(sc->v, "a log row is wrong", row->number);
	sc->next++;
	return true;
}

static bool
scan_body(void *ctx, const rt_store_row *row)
{
	static char room[32768];
	scan *sc = ctx;
	rt_str want = script_body(room, sizeof(room), row->number);

	if (sc->purged && row->number == SCRIPT_PURGED)
		want = RT_STR("purged");
	if (row->number != sc->next || row->entry != row->number + 7 || !rt_str_eq(row->data, want))
		complain(sc->v, "a body is wrong", row->number);
	sc->next++;
	return true;
}

static bool
scan_finding(void *ctx, const char *id, const char *text)
{
	verdict *v = ctx;

	if (!v->bad) {
		v->bad = true;
		snprintf(v->text, sizeof(v->text), "%s: %.200s", id, text);
	}
	return false;
}

static bool
scan_hit(void *ctx, uint64_t body, uint64_t of)
{
	scan *sc = ctx;

	if (of != body + 7) /* other words may have the same term */
		complain(sc->v, "a search hit is wrong", body);
	if (body == sc->next)
		sc->next = 0;
	return true;
}

static void
verify_index(rt_store *s, verdict *v)
{
	uint64_t mark = 0, want = script_rows(v->step / 10 * 10);
	rt_error err;

	if (s->ops->head(s, RT_STORE_INDEX, SCRIPT_PROJECT, &mark, &err) != RT_OK)
		complain(v, err.text, 0);
	if (mark != want)
		complain(v, "the index's mark is wrong", mark);
	for (uint64_t i = 1; i <= mark && !v->bad; i += 17) {
		scan hit = {v, i, false};
		char word[32];

		snprintf(word, sizeof(word), "word%llu", (unsigned long long)i);
		if (s->ops->index_find(s, SCRIPT_PROJECT, rt_str_of(word), 0, scan_hit,
				       &hit, &err) != RT_OK)
			complain(v, err.text, i);
		if (hit.next != 0)
			complain(v, "a body is not found", i);
	}
}

static void
verify_rows(rt_store *s, verdict *v)
{
	scan log = {v, 1, false}, body = {v, 1, v->step >= SCRIPT_PURGE_STEP};
	uint64_t seq = 0;
	char want[64];
	rt_error err = {0};
	rt_status st;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1 << 20);
	if (s->ops->read(s, rt_rows_between(RT_STORE_LOG, SCRIPT_PROJECT, 1, 100000), scan_log,
			 &log, &err) != RT_OK ||
	    s->ops->read(s, rt_rows_between(RT_STORE_BODIES, SCRIPT_PROJECT, 1, 100000), scan_body,
			 &body, &err) != RT_OK)
		complain(v, err.text, 0);
	if (log.next != script_rows(v->step) + 1)
		complain(v, "log rows are missing or too many", log.next - 1);
	if (body.next != script_rows(v->step) + 1)
		complain(v, "bodies are missing or too many", body.next - 1);
	for (int i = 0; i < SCRIPT_NODES; i++) {
		int by = script_node_step(v->step, i);

		rt_buf_clear(&buf);
		st = rt_store_get(s, rt_rows_one(RT_STORE_NODES, SCRIPT_PROJECT, (uint64_t)i + 1),
				  &buf, NULL, &err);
		if (st != (by == 0 ? RT_NOT_FOUND : RT_OK) ||
		    (by != 0 &&
		     !rt_str_eq(rt_buf_str(&buf), script_text(want, sizeof(want), "node", by))))
			complain(v, "a node is wrong", (uint64_t)i);
	}
	rt_buf_clear(&buf);
	st = rt_store_get(s, rt_rows_all(RT_STORE_ROOT, SCRIPT_PROJECT), &buf, &seq, &err);
	if (v->step > 0 &&
	    (st != RT_OK || seq != script_rows(v->step) ||
	     !rt_str_eq(rt_buf_str(&buf), script_text(want, sizeof(want), "root", v->step))))
		complain(v, "the root is wrong", seq);
	if (v->step == 0 && st != RT_NOT_FOUND)
		complain(v, "there is a root too early", seq);
	rt_buf_deinit(&buf);
}

/* Which step does the store contain, and is everything in the state after that step? */
static verdict
verify_store(rt_store *s)
{
	verdict v = {false, "", 0};
	rt_error err = {0};
	rt_status st;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1000);
	st = rt_store_get(s, rt_rows_named(RT_STORE_SIDE, SCRIPT_PROJECT, RT_STR("step")), &buf,
			  NULL, &err);
	if (st == RT_OK && sscanf(buf.ptr, "side of step %d", &v.step) != 1)
		complain(&v, "the side row is wrong", 0);
	else if (st != RT_OK && st != RT_NOT_FOUND)
		complain(&v, err.text, 0);
	rt_buf_deinit(&buf);
	if (!v.bad)
		verify_rows(s, &v);
	if (!v.bad)
		verify_index(s, &v);
	if (!v.bad && s->ops->check(s, scan_finding, &v, &err) != RT_OK)
		complain(&v, err.text, 0);
	return v;
}

/* Verifies the store on a disk after a cut: it contains a step between the two, the next steps
 * work, and are there when it is opened again. */
static verdict
verify_disk(const char *vfs, const script *sc)
{
	script more = *sc;
	verdict v = {false, "", 0};
	rt_store *s = NULL;
	uint64_t epoch = 0;
	rt_error err = {0};

	if (script_open(vfs, sc->relaxed, "after", false, &s, &err) != RT_OK) {
		complain(&v, err.text, 0);
		return v;
	}
	v = verify_store(s);
	if (!v.bad && v.step > sc->attempted)
		complain(&v, "there are steps that were never taken", (uint64_t)v.step);
	if (!v.bad && v.step < sc->acknowledged && !sc->relaxed)
		complain(&v, "acknowledged steps are gone", (uint64_t)v.step);
	if (!v.bad && s->ops->epoch(s, &epoch, &err) != RT_OK)
		complain(&v, err.text, 0);
	if (!v.bad && v.step < sc->acknowledged && epoch == sc->epoch)
		complain(&v, "steps are gone and the epoch is the old one", (uint64_t)v.step);
	for (int i = 1; i <= 2 && !v.bad; i++) {
		if (script_step(s, &more, v.step + i, &err) != RT_OK)
			complain(&v, err.text, 1);
	}
	s->ops->close(s);
	if (v.bad)
		return v;
	if (script_open(vfs, false, "after", false, &s, &err) != RT_OK) {
		complain(&v, err.text, 2);
		return v;
	}
	v = verify_store(s);
	if (!v.bad && v.step != more.acknowledged)
		complain(&v, "the next steps were lost", (uint64_t)v.step);
	s->ops->close(s);
	return v;
}

#endif
