/* SPDX-License-Identifier: MIT
 *
 * Several projects of one store, each with an engine that is shared by many threads, as in a
 * server. In each of four projects four threads write under different names, and write a side
 * row with every entry; meanwhile texts are purged and checkpoints rebuilt. Readers refresh and
 * read all the time: some with the same engines, some with separate engines on another handle of
 * the same file, like another process. A reader that refreshes sees everything acknowledged
 * before; at the end everything exists, once, and in no other project. Intended to run with
 * -fsanitize=thread, too. */
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

#include "log/checkpoint.h"
#include "log/folder_testing.h"
#include "base/hash.h"
#include "core/project.h"
#include "log/fsck.h"
#include "ops/action.h"
#include "store/store_sqlite.h"
#include "view/view.h"

enum {
	PROJECTS = 4,
	WRITERS = 4,     /* in each project */
	STEPS = 200,     /* of each writer */
	READERS = 2,     /* of each of two kinds, cycling through the projects */
	EVERY = 8        /* every nth step is not an append */
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

typedef struct house {
	rt_store *store, *beside; /* two handles of one file */
	rt_engine *engines[PROJECTS], *others[PROJECTS];
	atomic_uint_least64_t newest[PROJECTS]; /* the highest acknowledged row */
	atomic_bool stop;
	atomic_int trouble; /* failures; cmocka may only fail in the first thread */
	char first[600];    /* the first one */
	atomic_long looks, fresh, again;
	char folder[300], path[320];
} house;

typedef struct writer {
	house *house;
	int project, number;
	int appended;
} writer;

typedef struct reader {
	house *house;
	rt_engine **engines;
} reader;

static void
trouble(house *h, const char *what, const char *why)
{
	if (atomic_fetch_add(&h->trouble, 1) == 0)
		snprintf(h->first, sizeof(h->first), "%s: %s", what, why);
	atomic_store(&h->stop, true);
}

/* ---- writing ---- */

static rt_status
keep(void *ctx, rt_store *store, uint64_t project, const rt_project *now,
     const rt_result *results, size_t count, rt_error *err)
{
	char value[24];

	(void)count;
	(void)now;
	snprintf(value, sizeof(value), "%llu", (unsigned long long)results[0].seq);
	return store->ops->write(store, rt_rows_named(RT_STORE_SIDE, project, rt_str_of(ctx)),
				 rt_str_of(value), err);
}

static bool
ask(writer *w, const char *json, const char *side, bool refused_ok)
{
	rt_engine *engine = w->house->engines[w->project];
	rt_apply_context with = {.keep = side != NULL ? keep : NULL,
				 .keep_ctx = (void *)(uintptr_t)side};
	uint64_t newest = atomic_load(&w->house->newest[w->project]);
	rt_json_doc *doc = NULL;
	yyjson_val *request;
	char by[16];
	rt_result result;
	rt_status st;

	snprintf(by, sizeof(by), "w%d", w->number);
	with.by = rt_str_of(by);
	if (rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL) != RT_OK) {
		trouble(w->house, json, "is no JSON");
		return false;
	}
	request = rt_json_root(doc);
	st = rt_apply_json(engine, &with, &request, 1, false, rt_str_of(""), rt_str_of(""),
			   &result);
	if (st != RT_OK && !(refused_ok && (st == RT_REFUSED || st == RT_NOT_FOUND)))
		trouble(w->house, json, result.error.text);
	while (st == RT_OK && newest < result.seq &&
	       !atomic_compare_exchange_weak(&w->house->newest[w->project], &newest, result.seq))
		;
	rt_result_deinit(&result);
	rt_json_free(doc);
	return st == RT_OK;
}

static void *
write_on(void *ctx)
{
	writer *w = ctx;
	char json[256], side[40];
	int i;

	for (i = 0; i < STEPS && !atomic_load(&w->house->stop); i++) {
		rt_error err = {0};

		/* drops nodes in use by others, and rewrites the history */
		if (w->number == 0 && i == STEPS / 2 &&
		    rt_engine_rebuild(w->house->engines[w->project], &err) != RT_OK)
			trouble(w->house, "rebuild", err.text);
		if (w->number == 1 && i == STEPS / 2)
			(void)ask(w, "{\"op\":\"purge\",\"text\":\"entry 7\"}", NULL, false);
		if (i % EVERY == EVERY - 1) {
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.edit\",\"entry\":\"p%d-w%d-%d\",\"content\":\"edited\"}",
				 w->project, w->number, w->appended - 1);
			(void)ask(w, json, NULL, true);
			continue;
		}
		snprintf(json, sizeof(json),
			 "{\"op\":\"entry.append\",\"id\":\"p%d-w%d-%d\",\"content\":\"entry %d\"}",
			 w->project, w->number, w->appended, w->appended);
		snprintf(side, sizeof(side), "kept/w%d-%d", w->number, w->appended);
		w->appended += ask(w, json, side, false);
	}
	return NULL;
}

/* ---- reading ---- */

/* Reads the current state; RT_CORRUPT: a part of it was dropped in the meantime. */
static rt_status
look(reader *r, int i, uint64_t newest, uint64_t *seen, rt_buf *out, rt_error *err)
{
	rt_window window = {0, 20, {0}};
	const rt_project *value;
	const rt_disc *disc;
	size_t count;
	rt_status st = rt_engine_refresh(r->engines[i], err);

	if (st != RT_OK)
		return st;
	value = rt_engine_value(r->engines[i]);
	if (value->seq < newest)
		trouble(r->house, "refresh", "what was acknowledged is not there");
	if (value->seq < *seen)
		trouble(r->house, "refresh", "the value is older than the one before");
	atomic_fetch_add(&r->house->fresh, value->seq > *seen);
	*seen = value->seq;
	st = rt_project_disc(value, 1, &disc, err);
	if (st == RT_OK) {
		count = rt_seq_count(rt_disc_active(disc)->slots);
		window.from = count > 20 ? count - 20 : 0;
		rt_buf_clear(out);
		st = rt_view_show(r->engines[i], value, (rt_place){0, 0}, &window, out, err);
	}
	rt_buf_clear(out);
	if (st == RT_OK && value->seq > 0)
		st = rt_view_change(r->engines[i], value, value->seq, out, NULL, err);
	rt_object_unref(value);
	return st;
}

static void *
look_on(void *ctx)
{
	reader *r = ctx;
	house *h = r->house;
	uint64_t seen[PROJECTS] = {0};
	rt_error err = {0};
	rt_buf out;
	int i;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; !atomic_load(&h->stop); i = (i + 1) % PROJECTS) {
		rt_status st = RT_CORRUPT;
		int tries;

		/* twice: the others may do both actions that drop nodes in between */
		for (tries = 0; st == RT_CORRUPT && tries < 3; tries++) {
			st = look(r, i, atomic_load(&h->newest[i]), &seen[i], &out, &err);
			atomic_fetch_add(&h->again, tries > 0);
		}
		if (st != RT_OK)
			trouble(h, "look", err.text);
		atomic_fetch_add(&h->looks, 1);
	}
	rt_buf_deinit(&out);
	return NULL;
}

/* ---- at the end ---- */

static bool
print_finding(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	if (strcmp(finding->severity, "error") == 0)
		fail_msg("fsck: %s: %s", finding->id, finding->text);
	return true;
}

static rt_store *
open_store(house *h)
{
	rt_store_sqlite_options options = {.create = true, .relaxed = true};
	rt_store *store = NULL;
	rt_error err = {0};

	if (rt_store_sqlite_open(rt_alloc_libc(), &env, h->path, &options, &store, &err) != RT_OK)
		fail_msg("open: %s", err.text);
	return store;
}

static rt_engine *
open_project(rt_store *store, int number)
{
	char name[16];
	rt_engine_options options = {.env = &env, .create = true, .checkpoint_every = 64};
	rt_engine *engine = NULL;
	rt_error err = {0};

	snprintf(name, sizeof(name), "p%d", number);
	options.project = rt_str_of(name);
	if (rt_engine_open(&options, store, &engine, &err) != RT_OK)
		fail_msg("open: %s", err.text);
	return engine;
}

/* Each writer's entries exist once, in order, and none of another project. */
static void
check_project(rt_store *store, rt_engine *engine, int project, const writer *writers)
{
	const rt_project *value = NULL;
	int next[WRITERS] = {0}, p, w, n, tries;
	rt_window all = {0, 0, {0}};
	rt_error err = {0};
	const char *at;
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	/* The other handle may have dropped nodes of our value: read again. */
	for (tries = 0, st = RT_CORRUPT; st == RT_CORRUPT && tries < 3; tries++) {
		rt_object_unref(value);
		value = NULL;
		rt_buf_clear(&out);
		st = rt_engine_refresh(engine, &err);
		if (st == RT_OK) {
			value = rt_engine_value(engine);
			st = rt_view_show(engine, value, (rt_place){0, 0}, &all, &out, &err);
		}
	}
	if (st != RT_OK)
		fail_msg("show: %s", err.text);
	rt_buf_add_byte(&out, '\0');
	for (at = strstr(out.ptr, "\"id\":\"p"); at != NULL; at = strstr(at + 1, "\"id\":\"p")) {
		assert_int_equal(sscanf(at, "\"id\":\"p%d-w%d-%d\"", &p, &w, &n), 3);
		assert_int_equal(p, project);
		assert_in_range(w, 0, WRITERS - 1);
		assert_int_equal(n, next[w]);
		next[w]++;
	}
	for (w = 0; w < WRITERS; w++) {
		assert_int_equal(next[w], writers[w].appended);
		for (n = 0; n < next[w]; n++) {
			char side[40];

			snprintf(side, sizeof(side), "kept/w%d-%d", w, n);
			rt_buf_clear(&out);
			assert_int_equal(
				rt_store_get(store,
					     rt_rows_named(RT_STORE_SIDE,
							   rt_engine_project_number(engine),
							   rt_str_of(side)),
					     &out, NULL, NULL),
				RT_OK);
		}
	}
	rt_buf_clear(&out);
	if (rt_view_history(engine, value, 0, 0, 0, &out, &err) != RT_OK)
		fail_msg("history: %s", err.text);
	rt_buf_add_byte(&out, '\0');
	/* every step has its author */
	for (at = strstr(out.ptr, "\"what\":"), n = 0; at != NULL; at = strstr(at + 1, "\"what\":")) {
		assert_int_equal(sscanf(strstr(at, "-w"), "-w%d-", &w), 1);
		assert_int_equal(sscanf(strstr(at, "\"by\":\"w"), "\"by\":\"w%d\"", &p), 1);
		assert_int_equal(w, p);
		n++;
	}
	assert_int_equal(n, value->seq - 1); /* a purge is not a step */
	if (rt_engine_fsck(engine, print_finding, NULL, &err) != RT_OK)
		fail_msg("fsck: %s", err.text);
	rt_buf_deinit(&out);
	rt_object_unref(value);
}

static void
projects_do_not_meet(void **state)
{
	pthread_t threads[PROJECTS * WRITERS + 2 * READERS];
	writer writers[PROJECTS][WRITERS];
	struct timespec pause = {0, 10 * 1000000};
	reader inside, beside;
	static house h;
	size_t count = 0, writing, i;
	int p, w;

	(void)state;
	memset(&h, 0, sizeof(h));
	assert_true(test_folder(h.folder, sizeof(h.folder), "projects"));
	snprintf(h.path, sizeof(h.path), "%s/p.db", h.folder);
	h.store = open_store(&h);
	h.beside = open_store(&h);
	for (p = 0; p < PROJECTS; p++) {
		h.engines[p] = open_project(h.store, p);
		h.others[p] = open_project(h.beside, p);
	}
	for (p = 0; p < PROJECTS; p++)
		for (w = 0; w < WRITERS; w++) {
			writers[p][w] = (writer){.house = &h, .project = p, .number = w};
			assert_int_equal(pthread_create(&threads[count++], NULL, write_on,
							&writers[p][w]), 0);
		}
	writing = count;
	inside = (reader){&h, h.engines};
	beside = (reader){&h, h.others};
	for (i = 0; i < READERS; i++) {
		assert_int_equal(pthread_create(&threads[count++], NULL, look_on, &inside), 0);
		assert_int_equal(pthread_create(&threads[count++], NULL, look_on, &beside), 0);
	}
	for (i = 0; i < writing; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (p = 0; p < 6000 && atomic_load(&h.fresh) == 0 && !atomic_load(&h.stop); p++)
		nanosleep(&pause, NULL); /* the readers have not run yet */
	atomic_store(&h.stop, true);
	for (; i < count; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	if (atomic_load(&h.trouble) > 0)
		fail_msg("%d failures, the first: %s", atomic_load(&h.trouble), h.first);
	print_message("# %ld looks, %ld of them saw something new, %ld once more\n",
		      atomic_load(&h.looks), atomic_load(&h.fresh), atomic_load(&h.again));
	assert_true(atomic_load(&h.fresh) > 0);
	for (p = 0; p < PROJECTS; p++) {
		for (w = 0; w < WRITERS; w++)
			assert_int_equal(writers[p][w].appended, STEPS - STEPS / EVERY);
		check_project(h.store, h.engines[p], p, writers[p]);
		rt_engine_close(h.engines[p]);
		rt_engine_close(h.others[p]);
	}
	h.beside->ops->close(h.beside);
	h.store->ops->close(h.store);

	/* Everything acknowledged is in the file. */
	h.store = open_store(&h);
	for (p = 0; p < PROJECTS; p++) {
		h.engines[p] = open_project(h.store, p);
		check_project(h.store, h.engines[p], p, writers[p]);
		rt_engine_close(h.engines[p]);
	}
	h.store->ops->close(h.store);
	assert_int_equal(unlink(h.path), 0);
	assert_int_equal(rmdir(h.folder), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(projects_do_not_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
