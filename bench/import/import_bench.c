/* SPDX-License-Identifier: MIT
 *
 * import-bench COUNT DIR: imports COUNT conversations of one short message each into a new store
 * in DIR, in batches, while another thread writes to another project of the same store. Prints
 * the peak and final memory, the time, and the longest wait of the other thread; then the same
 * for undo and redo of the import. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ops/import.h"
#include "store/store_sqlite.h"

enum { BATCH = 2000 };

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int64_t
now_us(void *ctx)
{
	struct timespec t;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
chance(void *ctx, void *to, size_t size)
{
	unsigned char *bytes = to;
	uint64_t *state = ctx;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)((*state = *state * 6364136223846793005u + 1) >> 33);
}

static uint64_t seeds[2] = {7, 8};
static const rt_env envs[2] = {{now_us, chance, &seeds[0]}, {now_us, chance, &seeds[1]}};

static void
must(rt_status st, const rt_error *err)
{
	if (st == RT_OK)
		return;
	fprintf(stderr, "import-bench: %s\n", err->text);
	exit(1);
}

/* A line of /proc/self/status, in MiB. */
static double
memory(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	double kib = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			kib = strtod(line + strlen(key) + 1, NULL);
	if (file != NULL)
		fclose(file);
	return kib / 1024;
}

/* ---- the other writer ---- */

typedef struct other {
	rt_store *store;
	atomic_bool stop;
	double longest_ms;
	size_t writes;
} other;

static void *
write_on(void *ctx)
{
	other *o = ctx;
	rt_engine_options options = {.env = &envs[1], .project = RT_STR("other"), .create = true};
	rt_engine *engine = NULL;
	rt_error err;

	must(rt_engine_open(&options, o->store, &engine, &err), &err);
	while (!atomic_load(&o->stop)) {
		rt_result result;
		double from = now_ms(), took;
		rt_status st = rt_engine_apply_text(
			engine,
			RT_STR("{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"y\"}"),
			RT_STR(""), RT_STR(""), &result);

		took = now_ms() - from;
		must(st, &result.error);
		rt_result_deinit(&result);
		o->longest_ms = took > o->longest_ms ? took : o->longest_ms;
		o->writes++;
		usleep(3000);
	}
	rt_engine_close(engine);
	return NULL;
}

static void
say(const char *what, double from, other *o, pthread_t thread)
{
	double took = now_ms() - from;

	atomic_store(&o->stop, true);
	pthread_join(thread, NULL);
	printf("%s: %.1f s, peak %.0f MiB, now %.0f MiB", what, took / 1e3, memory("VmHWM"),
	       memory("VmRSS"));
	malloc_trim(0);
	printf(" (%.0f MiB given back), other writer: %zu writes, at most %.1f ms\n",
	       memory("VmRSS"), o->writes, o->longest_ms);
	fflush(stdout);
}

static pthread_t
start(other *o, rt_store *store)
{
	pthread_t thread;

	memset(o, 0, sizeof(*o));
	o->store = store;
	pthread_create(&thread, NULL, write_on, o);
	return thread;
}

int
main(int argc, char **argv)
{
	size_t count = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 100000, i, k;
	char path[4096];
	rt_store_sqlite_options sqlite = {.create = true};
	rt_engine_options options = {.env = &envs[0], .create = true};
	rt_import_options how = {.name = RT_STR("x"), .discussions = count};
	static rt_node nodes[BATCH];
	static rt_outline items[BATCH];
	rt_outlines batch;
	rt_import_result result;
	rt_result moved;
	rt_store *store = NULL;
	rt_engine *engine = NULL;
	rt_import *import = NULL;
	rt_error err;
	pthread_t thread;
	other o;
	double from;

	snprintf(path, sizeof(path), "%s/import.retake", argc > 2 ? argv[2] : ".");
	unlink(path);
	must(rt_store_sqlite_open(rt_alloc_libc(), &envs[0], path, &sqlite, &store, &err), &err);
	must(rt_engine_open(&options, store, &engine, &err), &err);
	printf("before: %.0f MiB\n", memory("VmRSS"));
	thread = start(&o, store);
	from = now_ms();
	must(rt_import_begin(engine, &how, &import, &err), &err);
	for (i = 0; i < count; i += k) {
		rt_outlines_init(&batch);
		for (k = 0; k < BATCH && i + k < count; k++) {
			nodes[k] = (rt_node){.parent = -1, .role = RT_STR("user"), .body_format = 'T',
					     .body = RT_STR("x")};
			items[k] = (rt_outline){.nodes = &nodes[k], .node_count = 1};
		}
		batch.items = items;
		batch.count = k;
		must(rt_import_add(import, &batch, &err), &err);
	}
	must(rt_import_end(import, &result, &err), &err);
	say("import", from, &o, thread);
	printf("  %zu discussions, %llu rows\n", result.discussions, (unsigned long long)result.seq);
	for (i = 0; i < 2; i++) {
		thread = start(&o, store);
		from = now_ms();
		must(rt_engine_apply_text(engine, i == 0 ? RT_STR("{\"op\":\"undo\"}") : RT_STR("{\"op\":\"redo\"}"),
					  RT_STR(""), RT_STR(""), &moved),
		     &moved.error);
		say(i == 0 ? "undo" : "redo", from, &o, thread);
		rt_result_deinit(&moved);
	}
	rt_engine_close(engine);
	from = now_ms();
	must(rt_engine_open(&options, store, &engine, &err), &err);
	printf("opened again: %.1f ms, %.0f MiB\n", now_ms() - from, memory("VmRSS"));
	rt_engine_close(engine);
	store->ops->close(store);
	return 0;
}
