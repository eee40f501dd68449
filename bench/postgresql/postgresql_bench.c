/* SPDX-License-Identifier: MIT
 *
 * Appends and openings of a store, for bench/postgresql.py:
 *
 *	postgresql-bench append ADDRESS CLIENTS SECONDS SIZE PROJECTS SET
 *	postgresql-bench fill ADDRESS ENTRIES SIZE
 *	postgresql-bench open ADDRESS TIMES
 *
 * append: each client is a thread that waits for each result; they share PROJECTS projects, each with an
 * engine, on one handle, as in a server; two processes with the same SET share them. Prints appends per
 * second. fill: one project "full" with one discussion. open: a new handle and engine each
 * time, until the number of entries is known and the last 50 texts are read. Prints the median in
 * ms. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "log/checkpoint.h"
#include "log/identity.h"
#include "log/engine.h"
#include "log/engine_impl.h"
#include "ops/ops.h"
#include "store/store_open.h"

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
	(void)ctx;
	if (getrandom(to, size, 0) != (ssize_t)size)
		abort();
}

static const rt_env env = {now_us, random_bytes, NULL};
static const char *address;
static size_t text_size;
static _Atomic bool stop;
static _Atomic long appended;

static void
die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

typedef struct opened {
	rt_store *store;
	rt_engine *engine;
} opened;

static rt_store *
open_store(void)
{
	rt_store_options options = {.create = true};
	rt_error err = {0};
	rt_store *store;

	if (rt_store_open(rt_alloc_libc(), &env, address, &options, &store, &err) != RT_OK)
		die("open", err.text);
	return store;
}

static rt_engine *
open_engine(rt_store *store, const char *name)
{
	rt_engine_options options = {.env = &env, .create = true, .project = rt_str_of(name)};
	rt_error err = {0};
	rt_engine *engine;

	if (rt_engine_open(&options, store, &engine, &err) != RT_OK)
		die("open", err.text);
	return engine;
}

static opened
open_project(const char *name)
{
	rt_store *store = open_store();

	return (opened){store, open_engine(store, name)};
}

static void
close_project(opened o)
{
	rt_engine_close(o.engine);
	o.store->ops->close(o.store);
}

static void
append(rt_engine *engine, size_t count, const _Atomic bool *end, _Atomic long *done)
{
	static const char start[] = "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"";
	rt_result result = {0};
	rt_buf request;

	rt_buf_init(&request, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&request, start);
	for (size_t i = 0; i < text_size; i++)
		rt_buf_add_byte(&request, "the quick brown fox "[i % 20]);
	rt_buf_add_c(&request, "\"}");
	for (size_t n = 0; n < count && (end == NULL || !*end); n++) {
		if (rt_engine_apply_text(engine, rt_buf_str(&request), rt_str_at(NULL, 0),
					 rt_str_at(NULL, 0), &result) != RT_OK)
			die("append", result.error.text);
		rt_result_deinit(&result);
		if (done != NULL)
			++*done;
	}
	rt_buf_deinit(&request);
}

static void *
client(void *ctx)
{
	rt_engine *const *engine = ctx;
	const char *identity = getenv("IDENTITY"); /* log/identity.h */

	if (identity != NULL)
		(void)rt_store_set_identity(rt_str_of(identity));
	append(*engine, SIZE_MAX, &stop, &appended);
	return NULL;
}

static void
bench_append(int clients, double seconds, int shared, const char *set)
{
	pthread_t threads[256];
	rt_engine *engines[256];
	rt_store *store = open_store();
	struct timespec time = {(time_t)seconds, 0};
	int64_t from;

	for (int i = 0; i < shared; i++) {
		char name[32];

		snprintf(name, sizeof(name), "client-%s-%d", set, i);
		engines[i] = open_engine(store, name);
		append(engines[i], 1, NULL, NULL);
	}
	from = now_us(NULL);
	for (int i = 0; i < clients; i++)
		if (pthread_create(&threads[i], NULL, client, &engines[i % shared]) != 0)
			die("thread", "not created");
	(void)nanosleep(&time, NULL);
	stop = true;
	for (int i = 0; i < clients; i++)
		(void)pthread_join(threads[i], NULL);
	printf("%.1f\n", (double)appended * 1e6 / (double)(now_us(NULL) - from));
	for (int i = 0; i < shared; i++)
		rt_engine_close(engines[i]);
	store->ops->close(store);
}

static void
fill(size_t entries)
{
	opened o = open_project("full");

	append(o.engine, entries, NULL, NULL);
	close_project(o);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static bool
count_row(void *ctx, const rt_store_row *row)
{
	*(size_t *)ctx += row->data.size;
	return true;
}

static void
bench_open(int times)
{
	double ms[100];

	for (int i = 0; i < times; i++) {
		int64_t from = now_us(NULL);
		opened o = open_project("full");
		const rt_project *value = rt_engine_value(o.engine);
		uint64_t last = value->next_body - 1;
		size_t bytes = 0;
		const rt_disc *disc;
		rt_error err = {0};

		if (rt_project_disc(value, value->active, &disc, &err) != RT_OK ||
		    rt_engine_read(o.engine, RT_STORE_BODIES, last - 49, last, count_row, &bytes,
				   &err) != RT_OK)
			die("read", err.text);
		if (rt_seq_count(rt_disc_active(disc)->slots) == 0 || bytes == 0)
			die("read", "nothing");
		ms[i] = (double)(now_us(NULL) - from) / 1000;
		rt_object_unref(value);
		close_project(o);
	}
	qsort(ms, (size_t)times, sizeof(*ms), compare);
	printf("%.2f\n", ms[times / 2]);
}

int
main(int argc, char **argv)
{
	if (argc < 4)
		die("postgresql-bench", "see the beginning of its source");
	address = argv[2];
	if (strcmp(argv[1], "append") == 0 && argc == 8) {
		text_size = (size_t)atol(argv[5]);
		bench_append(atoi(argv[3]), atof(argv[4]), atoi(argv[6]), argv[7]);
	} else if (strcmp(argv[1], "fill") == 0 && argc == 5) {
		text_size = (size_t)atol(argv[4]);
		fill((size_t)atol(argv[3]));
	} else if (strcmp(argv[1], "open") == 0) {
		bench_open(atoi(argv[3]));
	}
	return 0;
}
