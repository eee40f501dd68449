/* SPDX-License-Identifier: MIT
 *
 * vectors-bench FILE COUNT DIMENSIONS: fills a new store with COUNT vectors, and searches it 60 times for the 1000
 * best passages (bench/vectors.py compares it with sqlite-vec). The vectors are the same in each run: one of 2,000
 * subjects, a direction that all share, as with most embeddings models, and noise. The searches are for vectors with
 * other noise. Prints one line of JSON: seconds to fill it, bytes of the vectors, times of searches in ms, the part of
 * the 20 best by exact numbers that is among the first 20, and the peak of memory.
 *
 * With "-" as FILE the vectors and then the searches are written to standard output, as floats. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/vector.h"
#include "log/engine.h"
#include "log/rows.h"
#include "log/vectors.h"
#include "store/store_sqlite.h"

enum { SUBJECTS = 2000, SEARCHES = 60, CHECKED = 10, FIRST = 20, NEAR = 1000, BATCH = 4096 };

static size_t dimensions, count;
static float *subjects, *shared;
static uint64_t state = 7;

static float
noise(void)
{
	float sum = 0;

	for (int i = 0; i < 4; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		sum += (float)(state >> 40) / (float)(1 << 24) - 0.5f;
	}
	return sum;
}

/* Vector number i; those from count on are searched for. */
static void
make(size_t i, float *out)
{
	const float *subject;

	state = (i + 1) * 0x9E3779B97F4A7C15u;
	(void)noise();
	subject = subjects + (state >> 33) % SUBJECTS * dimensions;
	for (size_t j = 0; j < dimensions; j++)
		out[j] = 0.6f * shared[j] + 0.8f * subject[j] + noise();
	(void)rt_vector_normalise(out, dimensions);
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Processor time of this process. */
static double
used_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int64_t
now_us(void *ctx)
{
	(void)ctx;
	return 1700000000000000;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	(void)ctx;
	memset(to, 1, size);
}

static const rt_env env = {now_us, random_bytes, NULL};

static void
must(rt_status st, const rt_error *err)
{
	if (st == RT_OK)
		return;
	fprintf(stderr, "vectors-bench: %s\n", err->text);
	exit(1);
}

static void
fill(rt_store *store, rt_engine *engine)
{
	float *vectors = malloc(BATCH * dimensions * sizeof(*vectors));
	static rt_passage passages[BATCH];
	static rt_store_row bodies[BATCH];
	rt_error err;

	for (size_t i = 0; i < count; i += BATCH) {
		size_t n = count - i < BATCH ? count - i : BATCH;
		rt_vectors_batch b = {.model = RT_STR("bench"), .dimensions = dimensions, .passages = passages, .count = n};

		for (size_t j = 0; j < n; j++) {
			make(i + j, vectors + j * dimensions);
			passages[j] = (rt_passage){i + j + 1, (uint32_t)(i + j + 1), 0, vectors + j * dimensions};
			bodies[j] = (rt_store_row){.number = i + j + 1, .entry = i + j + 1, .data = RT_STR("Ttext")};
		}
		must(store->ops->begin(store, &err), &err);
		must(store->ops->append(store, rt_engine_project_number(engine), 0, NULL, 0, bodies, n, NULL, &err), &err);
		must(store->ops->commit(store, &err), &err);
		must(rt_vectors_state_read(engine, b.model, &b.after, &err), &err);
		b.mark = i + n;
		must(rt_vectors_add(engine, &b, &err), &err);
	}
	free(vectors);
}

/* The best by all numbers. */
typedef struct best {
	float similarity;
	uint64_t body;
} best;

static void
find_exact(best (*exact)[FIRST], const float *queries)
{
	float *vector = malloc(dimensions * sizeof(*vector));

	memset(exact, 0, CHECKED * sizeof(*exact));
	for (size_t i = 0; i < count; i++) {
		make(i, vector);
		for (size_t q = 0; q < CHECKED; q++) {
			float similarity = 0;
			size_t at = FIRST;

			for (size_t j = 0; j < dimensions; j++)
				similarity += vector[j] * queries[q * dimensions + j];
			for (; at > 0 && exact[q][at - 1].similarity < similarity; at--)
				if (at < FIRST)
					exact[q][at] = exact[q][at - 1];
			if (at < FIRST)
				exact[q][at] = (best){similarity, i + 1};
		}
	}
	free(vector);
}

static int
order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
search(rt_engine *engine, const float *queries, double filled_s)
{
	static best exact[CHECKED][FIRST];
	double ms[SEARCHES], used = 0;
	size_t hits = 0;
	struct rusage usage;
	long peak = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t q = 0; q < SEARCHES; q++) {
			double begun = now_ms(), used_before = used_ms();
			rt_scope s;
			rt_error err;

			rt_scope_init(&s, rt_alloc_libc());
			rt_neighbours near = rt_vectors_find(engine, &s, RT_STR("bench"), queries + q * dimensions,
							dimensions, NEAR);

			ms[q] = now_ms() - begun;
			used += pass * (used_ms() - used_before);
			if (pass == 0 && q == 0) {
				getrusage(RUSAGE_SELF, &usage);
				peak = usage.ru_maxrss / 1024;
				find_exact(exact, queries);
			}
			for (size_t i = 0; pass == 0 && q < CHECKED && i < FIRST && i < near.count; i++)
				for (size_t j = 0; j < FIRST; j++)
					hits += exact[q][j].body == near.items[i].body;
			must(rt_scope_end(&s, &err), &err);
		}
	qsort(ms, SEARCHES, sizeof(*ms), order);
	printf("{\"vectors\":%zu,\"dimensions\":%zu,\"filled_s\":%.1f,\"median_ms\":%.1f,\"p95_ms\":%.1f,"
	       "\"processor_ms\":%.1f,\"recall_20\":%.3f,\"peak_mb\":%ld}\n",
	       count, dimensions, filled_s, ms[SEARCHES / 2], ms[SEARCHES * 95 / 100],
	       used / SEARCHES, (double)hits / CHECKED / FIRST, peak);
}

int
main(int argc, char **argv)
{
	rt_store_sqlite_options file = {.create = true};
	rt_engine_options options = {.env = &env, .create = true};
	float *queries;
	rt_store *store;
	rt_engine *engine;
	rt_error err;
	double begun;

	if (argc != 4)
		return 2;
	count = strtoul(argv[2], NULL, 10);
	dimensions = strtoul(argv[3], NULL, 10);
	subjects = malloc((SUBJECTS + 1) * dimensions * sizeof(*subjects));
	queries = malloc(SEARCHES * dimensions * sizeof(*queries));
	shared = subjects + SUBJECTS * dimensions;
	for (size_t i = 0; i < (SUBJECTS + 1) * dimensions; i++)
		subjects[i] = noise();
	for (size_t i = 0; i < SEARCHES; i++)
		make(count + i, queries + i * dimensions);
	if (strcmp(argv[1], "-") == 0) {
		float *vector = malloc(dimensions * sizeof(*vector));

		for (size_t i = 0; i < count + SEARCHES; i++) {
			make(i, vector);
			fwrite(vector, sizeof(*vector), dimensions, stdout);
		}
		return 0;
	}
	must(rt_store_sqlite_open(rt_alloc_libc(), &env, argv[1], &file, &store, &err), &err);
	must(rt_engine_open(&options, store, &engine, &err), &err);
	begun = now_ms();
	fill(store, engine);
	search(engine, queries, (now_ms() - begun) / 1000);
	rt_engine_close(engine);
	store->ops->close(store);
	return 0;
}
