/* SPDX-License-Identifier: MIT
 *
 * Several threads on one engine. Four writers append, edit, branch and undo with requests while
 * two readers repeatedly take the newest value, read it, check it and release it. Every
 * acknowledged change exists at the end, exactly once; a value that a reader holds a reference
 * to is complete and does not change. Runs with a store in memory and with a file for
 * RETAKE_TEST_SECONDS in total (default: 2 each); intended to run with -fsanitize=thread, too.
 *
 * Every writer undoes in a separate discussion, since undo reverts the newest step of the
 * discussion; all append to one shared discussion, without undo. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "core/project.h"
#include "log/engine.h"
#include "log/fsck.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"
#include "view/view.h"

enum {
	WRITERS = 4,
	READERS = 2,
	APPENDS_MAX = 20000, /* of one writer */
	WINDOW = 20
};

/* ---- clock and random numbers, for any thread ---- */

static int64_t
now_us(void *ctx)
{
	struct timespec now;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	static atomic_uint_least64_t state = 7;
	unsigned char *bytes = to;
	size_t i;

	(void)ctx;
	for (i = 0; i < size; i++)
		bytes[i] = (unsigned char)(rt_hash_u64(atomic_fetch_add(&state, 1)) >> 40);
}

static const rt_env env = {now_us, random_bytes, NULL};

/* ---- shared by the threads ---- */

typedef struct stage {
	rt_engine *engine;
	atomic_bool stop;
	atomic_int trouble;            /* failures; cmocka may only fail in the first thread */
	char first[600];               /* the first one */
	atomic_long looks;             /* number of values read */
	atomic_int writing;            /* writers that have appended something */
} stage;

typedef struct writer {
	stage *stage;
	int number;
	long appended;                 /* to the shared discussion, acknowledged */
	long steps;                    /* of every kind, acknowledged */
	uint64_t seq;                  /* of the newest acknowledged one */
} writer;

static void
trouble(stage *s, const char *what, const char *why)
{
	if (atomic_fetch_add(&s->trouble, 1) == 0)
		snprintf(s->first, sizeof(s->first), "%s: %s", what, why);
	atomic_store(&s->stop, true);
}

/* ---- writing ---- */

/* The request, in the writer's own discussion or the shared one. refused_ok: there may be
 * nothing to do. */
static bool
ask(writer *w, const char *disc, bool refused_ok, const char *json)
{
	rt_result result;
	rt_status st = rt_engine_apply_text(w->stage->engine, rt_str_of(json), rt_str_of(disc),
					    rt_str_of(""), &result);

	if (st == RT_OK) {
		if (!result.unchanged && result.seq <= w->seq)
			trouble(w->stage, json, "its step is older than the one before");
		w->seq = result.seq;
		w->steps++;
	} else if (!(refused_ok && (st == RT_REFUSED || st == RT_NOT_FOUND))) {
		trouble(w->stage, json, result.error.text);
	}
	rt_result_deinit(&result);
	return st == RT_OK;
}

static void *
write_on(void *ctx)
{
	writer *w = ctx;
	char own[32], json[256];
	long round;

	snprintf(own, sizeof(own), "own%d", w->number);
	for (round = 0; !atomic_load(&w->stage->stop) && w->appended < APPENDS_MAX; round++) {
		snprintf(json, sizeof(json),
			 "{\"op\":\"entry.append\",\"id\":\"w%d-%ld\",\"role\":\"User\","
			 "\"content\":\"writer %d, entry %ld\"}",
			 w->number, w->appended, w->number, w->appended);
		if (ask(w, "shared", false, json) && w->appended++ == 0)
			atomic_fetch_add(&w->stage->writing, 1);
		switch (round % 6) {
		case 0:
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"round %ld\"}",
				 round);
			(void)ask(w, own, false, json);
			break;
		case 1:
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"edit %ld\"}",
				 round);
			(void)ask(w, own, true, json);
			break;
		case 2:
			(void)ask(w, own, true, "{\"op\":\"take.branch\",\"at\":\":1\"}");
			break;
		case 3: (void)ask(w, own, true, "{\"op\":\"undo\"}"); break;
		case 4: (void)ask(w, own, true, "{\"op\":\"redo\"}"); break;
		case 5:
			(void)ask(w, own, true,
				  "{\"op\":\"entry.edit\",\"entry\":\":-1\",\"content\":\"last\"}");
			break;
		}
	}
	return NULL;
}

/* ---- reading ---- */

static void *
look_on(void *ctx)
{
	stage *s = ctx;
	uint64_t chance = 1;
	rt_buf first, second;
	rt_error err = {0};

	rt_buf_init(&first, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&second, rt_alloc_libc(), RT_BUF_UNLIMITED);
	while (!atomic_load(&s->stop)) {
		const rt_project *project = rt_engine_value(s->engine);
		rt_place place = {0, 0};
		rt_window window = {0, WINDOW, {0}};

		chance = rt_hash_u64(chance);
		window.from = chance % 64;
		first.size = second.size = 0;
		if (rt_resolve_place(project, rt_str_of("shared"), rt_str_of(""), &place, &err) !=
			    RT_OK ||
		    rt_view_show(s->engine, project, place, &window, &first, &err) != RT_OK)
			trouble(s, "show", err.text);
		if (rt_project_check(project, &err) != RT_OK)
			trouble(s, "check", err.text);
		if (rt_resolve_place(project, rt_str_of("own1"), rt_str_of(""), &place, &err) !=
			    RT_OK ||
		    rt_view_tree(s->engine, project, place.disc, &second, &err) != RT_OK)
			trouble(s, "tree", err.text);
		/* The same value has the same contents again, whatever was written in the
		 * meantime. */
		second.size = 0;
		if (rt_resolve_place(project, rt_str_of("shared"), rt_str_of(""), &place, &err) !=
			    RT_OK ||
		    rt_view_show(s->engine, project, place, &window, &second, &err) != RT_OK)
			trouble(s, "show again", err.text);
		else if (first.size != second.size ||
			 (first.size > 0 && memcmp(first.ptr, second.ptr, first.size) != 0))
			trouble(s, "show again", "a value has changed");
		rt_object_unref(project);
		atomic_fetch_add(&s->looks, 1);
	}
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
	return NULL;
}

/* ---- at the end ---- */

/* Every acknowledged entry exists exactly once, each writer's in order, and nothing else. */
static void
check_shared(rt_engine *engine, const writer *writers)
{
	const rt_project *project = rt_engine_value(engine);
	long next[WRITERS] = {0}, total = 0, n;
	rt_place place;
	rt_window all = {0, 0, {0}};
	rt_error err = {0};
	const char *at;
	rt_buf out;
	int number;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_resolve_place(project, rt_str_of("shared"), rt_str_of(""), &place, &err),
			 RT_OK);
	if (rt_view_show(engine, project, place, &all, &out, &err) != RT_OK)
		fail_msg("show: %s", err.text);
	rt_buf_add_byte(&out, 0);
	assert_non_null(out.ptr);
	for (at = strstr(out.ptr, "\"id\":\"w"); at != NULL; at = strstr(at + 1, "\"id\":\"w")) {
		assert_int_equal(sscanf(at, "\"id\":\"w%d-%ld\"", &number, &n), 2);
		assert_in_range(number, 0, WRITERS - 1);
		assert_int_equal(n, next[number]);
		next[number]++;
		total++;
	}
	for (number = 0; number < WRITERS; number++)
		assert_int_equal(next[number], writers[number].appended);
	assert_true(total > 0);
	if (rt_project_check(project, &err) != RT_OK)
		fail_msg("check: %s", err.text);
	rt_buf_deinit(&out);
	rt_object_unref(project);
}

static bool
print_finding(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	if (strcmp(finding->severity, "error") == 0)
		fail_msg("fsck: %s: %s", finding->id, finding->text);
	return true;
}

static long
wait_ms(void)
{
	const char *seconds = getenv("RETAKE_TEST_SECONDS");
	long ms = seconds != NULL ? atol(seconds) * 500 : 2000;

	return ms > 0 ? ms : 2000;
}

static rt_engine *
open_engine(rt_store *store)
{
	rt_engine_options options = {.env = &env, .create = true, .checkpoint_every = 64};
	rt_engine *engine = NULL;
	rt_error err = {0};

	if (rt_engine_open(&options, store, &engine, &err) != RT_OK)
		fail_msg("open: %s", err.text);
	return engine;
}

static void
request(rt_engine *engine, const char *json)
{
	rt_result result;

	if (rt_engine_apply_text(engine, rt_str_of(json), rt_str_of(""), rt_str_of(""), &result) !=
	    RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
}

static bool
is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static void
run_on(rt_store *store, writer *writers, stage *s)
{
	pthread_t threads[WRITERS + READERS];
	struct timespec pause = {0, 20 * 1000000};
	struct timespec now, until, last;
	long steps = 0;
	char json[100];
	int i;

	memset(s, 0, sizeof(*s));
	s->engine = open_engine(store);
	request(s->engine, "{\"op\":\"discussion.new\",\"name\":\"shared\"}");
	for (i = 0; i < WRITERS; i++) {
		snprintf(json, sizeof(json), "{\"op\":\"discussion.new\",\"name\":\"own%d\"}", i);
		request(s->engine, json);
	}
	for (i = 0; i < WRITERS; i++) {
		writers[i] = (writer){.stage = s, .number = i};
		assert_int_equal(pthread_create(&threads[i], NULL, write_on, &writers[i]), 0);
	}
	for (i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[WRITERS + i], NULL, look_on, s), 0);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += wait_ms() / 1000;
	until.tv_nsec += wait_ms() % 1000 * 1000000;
	last = until;
	last.tv_sec += 60; /* if a thread was not scheduled at all */
	do {
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!atomic_load(&s->stop) &&
		 (is_before(&now, &until) ||
		  (is_before(&now, &last) &&
		   (atomic_load(&s->writing) < WRITERS || atomic_load(&s->looks) == 0))));
	atomic_store(&s->stop, true);
	for (i = 0; i < WRITERS + READERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	if (atomic_load(&s->trouble) > 0)
		fail_msg("%d failures, the first: %s", atomic_load(&s->trouble), s->first);
	for (i = 0; i < WRITERS; i++) {
		assert_true(writers[i].appended > 0);
		steps += writers[i].steps;
	}
	assert_true(atomic_load(&s->looks) > 0);
	print_message("# %ld steps, %ld looks\n", steps, atomic_load(&s->looks));
	check_shared(s->engine, writers);
}

/* ---- the tests ---- */

static void
memory_serves_many_threads(void **state)
{
	writer writers[WRITERS];
	rt_store *store = NULL;
	rt_error err = {0};
	stage s;

	(void)state;
	if (rt_store_memory_open(rt_alloc_libc(), &env, &store, &err) != RT_OK)
		fail_msg("open: %s", err.text);
	run_on(store, writers, &s);
	rt_engine_close(s.engine);
	store->ops->close(store);
}

static void
a_file_serves_many_threads(void **state)
{
	const char *base = getenv("TMPDIR");
	rt_store_sqlite_options options = {.create = true, .relaxed = true};
	char folder[300], path[320];
	writer writers[WRITERS];
	rt_store *store = NULL;
	rt_error err = {0};
	stage s;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/threads-XXXXXX", base != NULL ? base : "/tmp");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.db", folder);
	if (rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, &store, &err) != RT_OK)
		fail_msg("open: %s", err.text);
	run_on(store, writers, &s);
	rt_engine_close(s.engine);
	store->ops->close(store);

	/* Everything acknowledged is in the file. */
	store = NULL;
	if (rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, &store, &err) != RT_OK)
		fail_msg("open again: %s", err.text);
	s.engine = open_engine(store);
	check_shared(s.engine, writers);
	if (rt_engine_fsck(s.engine, print_finding, NULL, &err) != RT_OK)
		fail_msg("fsck: %s", err.text);
	rt_engine_close(s.engine);
	store->ops->close(store);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_serves_many_threads),
		cmocka_unit_test(a_file_serves_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
