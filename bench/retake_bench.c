/* SPDX-License-Identifier: MIT
 *
 * retake-bench W run|reopen|crash|recover N DIR: the common workload W of conversation-state
 * engines, through Retake's own operations on a SQLite store. Prints one JSON line for each
 * phase; DIR.json gets the materialised messages.
 *
 * Environment: W_DATA (directory of pool.txt), SYNC=full|normal, OPS, BR. Every operation is a
 * normal request, and is timed until it is acknowledged: parsed, resolved, compiled, logged and,
 * with SYNC=full, on disk. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <ftw.h>

#include "log/engine.h"
#include "log/rows.h"
#include "store/store_sqlite.h"

enum { POOL = 1 << 20, TEXT = 1024 };

static char *pool;
static const char *dir, *candidate;
static unsigned count, rnd_state = 42, next_text;
static rt_store *store;
static rt_engine *engine;
static double *samples;
static size_t sample_count;

static _Noreturn void
die(const char *what, const char *why)
{
	fprintf(stderr, "retake-bench: %s: %s\n", what, why);
	exit(1);
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int64_t
wall_us(void *ctx)
{
	struct timespec t;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
random_bytes(void *ctx, void *to, size_t size)
{
	(void)ctx;
	if (getrandom(to, size, 0) != (ssize_t)size)
		die("getrandom", strerror(errno));
}

static const rt_env host = {wall_us, random_bytes, NULL};

static long
rss_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static unsigned
rnd(unsigned below)
{
	rnd_state = rnd_state * 1664525u + 1013904223u;
	return (unsigned)(((uint64_t)rnd_state * below) >> 32);
}

static rt_str
text_of(unsigned k)
{
	uint64_t at = ((uint64_t)((k + 1) * 2654435761u) * POOL) >> 32;

	return rt_str_at(pool + at, TEXT);
}

static void
load_pool(void)
{
	const char *data = getenv("W_DATA");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/pool.txt", data != NULL ? data : ".");
	pool = malloc(POOL + TEXT);
	f = fopen(path, "rb");
	if (f == NULL || pool == NULL || fread(pool, 1, POOL + TEXT, f) != POOL + TEXT)
		die(path, "cannot read the pool of texts; see bench/README.md");
	fclose(f);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void
open_store(bool create)
{
	const char *sync = getenv("SYNC");
	rt_store_sqlite_options options = {.create = create,
					   .relaxed = sync != NULL && strcmp(sync, "normal") == 0};
	rt_engine_options engine_options = {.env = &host, .create = create};
	char path[4096];
	rt_error err;

	snprintf(path, sizeof(path), "%s/retake.db", dir);
	if (rt_store_sqlite_open(rt_alloc_libc(), &host, path, &options, &store, &err) != RT_OK)
		die("open", err.text);
	if (rt_engine_open(&engine_options, store, &engine, &err) != RT_OK)
		die("open", err.text);
}

static void
close_store(void)
{
	rt_engine_close(engine);
	store->ops->close(store);
}

static size_t
length(void)
{
	const rt_project *project = rt_engine_value(engine);
	const rt_disc *disc;
	rt_error err;
	size_t n;

	if (rt_project_disc(project, project->active, &disc, &err) != RT_OK)
		die("length", err.text);
	n = rt_seq_count(rt_disc_active(disc)->slots);
	rt_object_unref(project);
	return n;
}

/* ---- requests ---- */

static rt_buf request;

static void
apply(rt_result *result)
{
	if (request.status != RT_OK)
		die("request", "out of memory");
	if (rt_engine_apply_text(engine, rt_buf_str(&request), rt_str_at(NULL, 0),
				 rt_str_at(NULL, 0), result) != RT_OK)
		die(request.ptr, result->error.text);
	rt_result_deinit(result);
}

static void
add_entry(unsigned k)
{
	rt_buf_add_c(&request, k % 2 != 0 ? ",\"role\":\"assistant\"" : ",\"role\":\"user\"");
	rt_buf_add_f(&request, ",\"ts\":%u,\"meta\":{\"model\":\"gpt-x\",\"tokens\":%u},\"content\":",
		     1700000000u + k, k % 4096);
	rt_json_add_string(&request, text_of(k));
}

static void
append(unsigned k)
{
	rt_result result;

	rt_buf_clear(&request);
	rt_buf_add_c(&request, "{\"op\":\"entry.append\"");
	add_entry(k);
	rt_buf_add_byte(&request, '}');
	apply(&result);
}

static void
edit(unsigned at, unsigned k)
{
	rt_result result;

	rt_buf_clear(&request);
	rt_buf_add_f(&request, "{\"op\":\"entry.edit\",\"entry\":\":%u\",\"content\":", at + 1);
	rt_json_add_string(&request, text_of(k));
	rt_buf_add_byte(&request, '}');
	apply(&result);
}

static void
insert(unsigned at, size_t have, unsigned k)
{
	rt_result result;

	rt_buf_clear(&request);
	if (at == have)
		rt_buf_add_f(&request, "{\"op\":\"entry.insert\",\"after\":\":%u\"", at);
	else
		rt_buf_add_f(&request, "{\"op\":\"entry.insert\",\"before\":\":%u\"", at + 1);
	add_entry(k);
	rt_buf_add_byte(&request, '}');
	apply(&result);
}

static void
delete_at(unsigned at)
{
	rt_result result;

	rt_buf_clear(&request);
	rt_buf_add_f(&request, "{\"op\":\"entry.delete\",\"entry\":\":%u\"}", at + 1);
	apply(&result);
}

static void
simple(const char *json)
{
	rt_result result;

	rt_buf_clear(&request);
	rt_buf_add_c(&request, json);
	apply(&result);
}

/* A branch at position at of take "main" and two appends there: one atomic step. The active take
 * does not change. */
static void
branch(unsigned at, unsigned number)
{
	rt_json_doc *docs[4];
	yyjson_val *list[4];
	rt_result results[4];
	rt_error err;
	rt_buf buf;
	size_t i;

	for (i = 0; i < 4; i++) {
		rt_buf_init(&buf, rt_alloc_libc(), 1 << 20);
		if (i == 0)
			rt_buf_add_f(&buf, "{\"op\":\"take.branch\",\"at\":\":%u\",\"name\":\"b%u\"}",
				     at + 1, number);
		else if (i == 3)
			rt_buf_add_c(&buf, "{\"op\":\"take.switch\",\"take\":\"main\"}");
		else {
			rt_buf_clear(&request);
			rt_buf_add_c(&request, "{\"op\":\"entry.append\"");
			add_entry(next_text++);
			rt_buf_add_byte(&request, '}');
			rt_buf_add_str(&buf, rt_buf_str(&request));
		}
		if (rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), &docs[i], &err) != RT_OK)
			die("branch", err.text);
		list[i] = rt_json_root(docs[i]);
		rt_buf_deinit(&buf);
	}
	if (rt_engine_apply_json(engine, list, 4, true, rt_str_at(NULL, 0), rt_str_at(NULL, 0), results) !=
	    RT_OK) {
		for (i = 0; i < 4; i++)
			if (results[i].status != RT_OK)
				die("branch", results[i].error.text);
	}
	for (i = 0; i < 4; i++) {
		rt_result_deinit(&results[i]);
		rt_json_free(docs[i]);
	}
}

/* ---- output ---- */

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
report(const char *phase, unsigned ops, double ms, const char *more)
{
	printf("{\"cand\":\"%s\",\"n\":%u,\"phase\":\"%s\",\"ops\":%u,\"ms\":%.4f,\"us_per_op\":%.3f,"
	       "\"rss_mb\":%ld%s}\n",
	       candidate, count, phase, ops, ms, ops > 0 ? ms * 1000 / ops : 0.0, rss_mb(), more);
	fflush(stdout);
}

static double phase_start, last_mark;

static void
phase_begin(void)
{
	sample_count = 0;
	phase_start = last_mark = now_ms();
}

static void
mark(void)
{
	double t = now_ms();

	samples[sample_count++] = t - last_mark;
	last_mark = t;
}

static void
phase_end(const char *phase)
{
	double ms = now_ms() - phase_start;
	char more[96];

	qsort(samples, sample_count, sizeof(*samples), by_value);
	snprintf(more, sizeof(more), ",\"p50_us\":%.2f,\"p99_us\":%.2f",
		 samples[sample_count / 2] * 1e3, samples[sample_count * 99 / 100] * 1e3);
	report(phase, (unsigned)sample_count, ms, more);
}

/* [{"role":…,"content":…}] of the active take, no spaces. */
static void
materialise(rt_buf *out)
{
	const rt_project *project = rt_engine_value(engine);
	const rt_take *take;
	const rt_disc *disc;
	rt_error err;
	size_t at, i, n;

	rt_buf_clear(out);
	rt_buf_add_byte(out, '[');
	if (rt_project_disc(project, project->active, &disc, &err) != RT_OK)
		die("materialise", err.text);
	take = rt_disc_active(disc);
	n = rt_seq_count(take->slots);
	for (at = 0; at < n;) {
		rt_slot slots[64];
		size_t run = n - at < 64 ? n - at : 64;

		rt_body_run bodies;

		if (rt_seq_copy(take->slots, at, run, slots, &err) != RT_OK ||
		    rt_engine_body_run(engine, slots, run, &bodies, &err) != RT_OK)
			die("materialise", err.text);
		for (i = 0; i < run; i++) {
			rt_body body;
			rt_str role;

			if (rt_body_read(rt_alloc_libc(),
					 rt_str_at(bodies.bytes.ptr + bodies.at[i],
						   bodies.size[i]),
					 &body, &err) != RT_OK ||
			    rt_project_name(project, slots[i].role, &role, &err) != RT_OK)
				die("materialise", err.text);
			rt_buf_add_c(out, at + i > 0 ? ",{\"role\":" : "{\"role\":");
			rt_json_add_string(out, role);
			rt_buf_add_c(out, ",\"content\":");
			rt_body_add_content(out, &body);
			rt_buf_add_byte(out, '}');
			rt_body_deinit(&body);
		}
		rt_buf_deinit(&bodies.bytes);
		at += run;
	}
	rt_buf_add_byte(out, ']');
	rt_object_unref(project);
	if (out->status != RT_OK)
		die("materialise", "out of memory");
}

static void
write_out(const rt_buf *out)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.json", dir);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(out->ptr, 1, out->size, f) != out->size || fclose(f) != 0)
		die(path, strerror(errno));
}

static unsigned
number_from(const char *name, unsigned fallback)
{
	const char *value = getenv(name);

	return value != NULL ? (unsigned)strtoul(value, NULL, 10) : fallback;
}

static void
run(void)
{
	unsigned ops = number_from("OPS", 1000), branches = number_from("BR", 200), i;
	double times[5], start;
	rt_buf out;
	char more[64];
	struct stat st;
	char path[4096];

	open_store(true);
	phase_begin();
	for (i = 0; i < count; i++, mark())
		append(next_text++);
	phase_end("build");
	phase_begin();
	for (i = 0; i < ops; i++, mark())
		edit(rnd((unsigned)length()), next_text++);
	phase_end("edit");
	phase_begin();
	for (i = 0; i < ops; i++, mark()) {
		size_t have = length();

		insert(rnd((unsigned)have + 1), have, next_text++);
	}
	phase_end("insert");
	phase_begin();
	for (i = 0; i < ops; i++, mark())
		delete_at(rnd((unsigned)length()));
	phase_end("delete");
	phase_begin();
	for (i = 0; i < ops; i++, mark())
		simple("{\"op\":\"undo\"}");
	phase_end("undo");
	phase_begin();
	for (i = 0; i < ops; i++, mark())
		simple("{\"op\":\"redo\"}");
	phase_end("redo");
	phase_begin();
	for (i = 0; i < branches; i++, mark())
		branch(rnd((unsigned)length()), i);
	phase_end("branch");
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < 5; i++) {
		start = now_ms();
		materialise(&out);
		times[i] = now_ms() - start;
	}
	qsort(times, 5, sizeof(*times), by_value);
	report("materialise", 1, times[2], "");
	write_out(&out);
	start = now_ms();
	close_store();
	start = now_ms() - start;
	snprintf(path, sizeof(path), "%s/retake.db", dir);
	snprintf(more, sizeof(more), ",\"disk\":%lld",
		 stat(path, &st) == 0 ? (long long)st.st_size : 0LL);
	report("save", 1, start, more);
	rt_buf_deinit(&out);
}

static void
reopen(void)
{
	double start = now_ms(), opened;
	char more[160];
	rt_buf out;
	size_t n;
	unsigned undone = 0, i;

	open_store(false);
	n = length();
	opened = now_ms();
	snprintf(more, sizeof(more), ",\"len\":%zu", n);
	report("reopen", 1, opened - start, more);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	materialise(&out);
	report("reopen_materialise", 1, now_ms() - start, "");
	write_out(&out);
	phase_begin();
	for (i = 0; i < 100; i++, mark()) {
		rt_result result;

		if (rt_engine_apply_text(engine, RT_STR("{\"op\":\"undo\"}"), rt_str_at(NULL, 0),
					 rt_str_at(NULL, 0), &result) == RT_OK)
			undone++;
		rt_result_deinit(&result);
	}
	start = now_ms() - phase_start;
	qsort(samples, sample_count, sizeof(*samples), by_value);
	snprintf(more, sizeof(more), ",\"p50_us\":%.2f,\"max_us\":%.2f,\"note\":\"undo history survives\"",
		 samples[50] * 1e3, samples[99] * 1e3);
	report("undo_after_reopen", undone, start, more);
	rt_buf_deinit(&out);
	close_store();
}

int
main(int argc, char **argv)
{
	const char *sync = getenv("SYNC");

	if (argc != 5 || strcmp(argv[1], "W") != 0) {
		fprintf(stderr, "usage: retake-bench W run|reopen|crash|recover N DIR\n");
		return 2;
	}
	candidate = sync != NULL && strcmp(sync, "normal") == 0 ? "retake-relaxed" : "retake";
	count = (unsigned)strtoul(argv[3], NULL, 10);
	dir = argv[4];
	samples = malloc(sizeof(*samples) * (count + 4096));
	rt_buf_init(&request, rt_alloc_libc(), 1 << 20);
	if (strcmp(argv[2], "run") == 0 || strcmp(argv[2], "crash") == 0) {
		load_pool();
		(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		if (mkdir(dir, 0700) != 0)
			die(dir, strerror(errno));
	}
	if (strcmp(argv[2], "run") == 0) {
		run();
	} else if (strcmp(argv[2], "reopen") == 0) {
		reopen();
	} else if (strcmp(argv[2], "crash") == 0) {
		open_store(true);
		for (;;) {
			char line[16];
			int size;

			append(next_text++);
			size = snprintf(line, sizeof(line), "%u\n", next_text);
			if (write(1, line, (size_t)size) != size)
				return 1;
		}
	} else if (strcmp(argv[2], "recover") == 0) {
		open_store(false);
		printf("{\"cand\":\"%s\",\"n\":%u,\"phase\":\"recover\",\"len\":%zu}\n", candidate, count,
		       length());
		close_store();
	} else {
		fprintf(stderr, "retake-bench: unknown mode \"%s\"\n", argv[2]);
		return 2;
	}
	rt_buf_deinit(&request);
	free(samples);
	free(pool);
	return 0;
}
