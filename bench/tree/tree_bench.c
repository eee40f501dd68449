/* SPDX-License-Identifier: MIT
 *
 * tree-bench [ENTRIES [DIR]]: work of the tree screen between a key and a frame, without the
 * screen. First trees of several shapes, with texts in memory; then, if DIR is given,
 * discussions of those shapes in a store on disk there, with texts of about 1 KB, read through
 * the engine. Milliseconds, one line for each shape. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "formats/formats.h"
#include "ops/import.h"
#include "store/store_sqlite.h"
#include "tree/tree_reader.h"

enum { ROWS = 50, WIDTH = 120, TEXT = 200 };

typedef enum shape { CHAIN, SIBLINGS, MIXED, COMB, SHAPES } shape;
static const char *const names[] = {"chain", "siblings", "mixed", "comb"};

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- memory ---- */

typedef struct counting {
	size_t live, most;
} counting;

static void *
counting_resize(void *ctx, void *ptr, size_t size)
{
	counting *c = ctx;
	size_t *block = ptr == NULL ? NULL : (size_t *)ptr - 2;
	size_t old = block == NULL ? 0 : block[0];

	block = realloc(block, size + 2 * sizeof(size_t));
	if (block == NULL)
		return NULL;
	block[0] = size;
	c->live += size - old;
	c->most = c->live > c->most ? c->live : c->most;
	return block + 2;
}

static void
counting_release(void *ctx, void *ptr)
{
	counting *c = ctx;

	if (ptr == NULL)
		return;
	c->live -= ((size_t *)ptr - 2)[0];
	free((size_t *)ptr - 2);
}

static counting memory;
static const rt_alloc counted = {counting_resize, counting_release, &memory};

/* ---- shapes ---- */

static uint64_t seed = 1;

static uint32_t
below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Parent of entry i. The comb forks at every second entry, so that its lines are the deepest. */
static int64_t
parent_of(shape s, uint32_t i)
{
	if (i == 0)
		return -1;
	switch (s) {
	case SIBLINGS: return 0;
	case MIXED: return below(20) == 0 ? (int64_t)below(i) : (int64_t)i - 1;
	case COMB: return i % 2 == 1 ? (int64_t)i - 1 : i >= 2 ? (int64_t)i - 2 : 0;
	case CHAIN:
	case SHAPES: break;
	}
	return (int64_t)i - 1;
}

/* ---- texts in memory ---- */

static rt_status
tell(void *ctx, const rt_tree *tree, const uint32_t *nodes, size_t count, bool to_search,
     rt_tree_told_fn fn, void *to, rt_error *err)
{
	char text[TEXT + 40];
	size_t i;

	(void)ctx, (void)to_search, (void)err;
	for (i = 0; i < count; i++) {
		uint32_t entry = rt_tree_node_at(tree, nodes[i])->entry;
		int size = snprintf(text, sizeof(text), "%s entry %u ",
				    entry % 2 == 0 ? "user" : "assistant", entry);
		rt_tree_told told = {.silent = entry % 16 == 3};

		memset(text + size, 'x', (size_t)(TEXT - size));
		told.words = told.hay = rt_str_at(text, TEXT);
		fn(to, i, &told);
	}
	return RT_OK;
}

static rt_tree_entry *
make_entries(shape s, uint32_t count)
{
	rt_tree_entry *entries = calloc(count, sizeof(*entries));
	uint32_t i;

	if (entries == NULL)
		abort();
	for (i = 0; i < count; i++) {
		int64_t parent = parent_of(s, i);

		entries[i] = (rt_tree_entry){
			.name = i,
			.body = i + 1,
			.entry = i,
			.parent = parent < 0 ? RT_TREE_NONE : (uint32_t)parent,
			.label = i % 100 == 0 ? RT_STR("label") : RT_STR(""),
			.kind = i % 2 == 0 ? RT_TREE_USER : RT_TREE_ASSISTANT,
		};
	}
	return entries;
}

/* ---- measurements ---- */

static void
must(rt_status st)
{
	if (st != RT_OK) {
		fprintf(stderr, "tree-bench: %s\n", rt_status_word(st));
		exit(1);
	}
}

static double
frame(rt_tree *tree)
{
	double begin = now_ms();
	size_t first, count;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_tree_window(tree, ROWS, &first, &count);
	(void)rt_tree_draw(tree, &s, first, count, WIDTH);
	must(rt_scope_end(&s, NULL));
	return now_ms() - begin;
}

static double
search(rt_tree *tree, const char *query)
{
	double begin = now_ms();

	must(rt_tree_search(tree, rt_str_of(query), NULL));
	return now_ms() - begin;
}

static double
move(rt_tree *tree, rt_tree_step step)
{
	double begin = now_ms();

	rt_tree_move(tree, step, ROWS);
	return now_ms() - begin;
}

static double
filter(rt_tree *tree, rt_tree_filter to)
{
	double begin = now_ms();

	rt_tree_set_filter(tree, to);
	return now_ms() - begin;
}

/* All keys on a built tree. */
static void
use(rt_tree *tree)
{
	double begin, slowest = 0, took;
	int i;

	printf(" frame %.2f", frame(tree));
	begin = now_ms();
	must(rt_tree_learn(tree, 4096, NULL, NULL));
	printf(" learn-4096 %.1f", now_ms() - begin);
	begin = now_ms();
	must(rt_tree_learn(tree, SIZE_MAX, NULL, NULL));
	printf(" learn-rest %.1f", now_ms() - begin);
	printf(" filter %.1f", filter(tree, RT_TREE_USER_ONLY));
	printf(" filter-all %.1f", filter(tree, RT_TREE_ALL));
	printf(" search-1 %.1f", search(tree, "e"));
	printf(" search-3 %.1f", search(tree, "entry 7 !9"));
	printf(" search-none %.1f", search(tree, "zebra"));
	(void)search(tree, "");
	for (i = 0; i < 100; i++) {
		took = move(tree, (rt_tree_step)(i % 10)) + frame(tree);
		slowest = took > slowest ? took : slowest;
	}
	printf(" slowest-key %.2f\n", slowest);
}

static void
bench_model(shape s, uint32_t count)
{
	const rt_tree_source source = {tell, NULL, NULL};
	rt_tree_entry *entries = make_entries(s, count);
	rt_tree *tree;
	double begin;

	memset(&memory, 0, sizeof(memory));
	must(rt_tree_new(&counted, &source, NULL, &tree));
	begin = now_ms();
	must(rt_tree_set(tree, entries, count, count - 1, NULL));
	printf("%-8s %u: set %.1f (%.1f MB)", names[s], count, now_ms() - begin,
	       (double)memory.live / 1e6);
	use(tree);
	begin = now_ms();
	must(rt_tree_set(tree, entries, count, count - 1, NULL));
	printf("         again %.1f; %.1f MB, at most %.1f\n", now_ms() - begin,
	       (double)memory.live / 1e6, (double)memory.most / 1e6);
	rt_tree_free(tree);
	free(entries);
}

/* ---- on disk ---- */

static int64_t
some_time(void *ctx)
{
	static int64_t us = 1700000000000000;

	(void)ctx;
	return us += 1000;
}

static void
some_chance(void *ctx, void *to, size_t size)
{
	unsigned char *bytes = to;
	size_t i;

	(void)ctx;
	for (i = 0; i < size; i++)
		bytes[i] = (unsigned char)below(256);
}

static void
make_session(shape s, uint32_t count, rt_buf *out)
{
	char text[1000];
	uint32_t i;

	memset(text, 'x', sizeof(text));
	rt_buf_add_f(out,
		     "{\"type\":\"session\",\"version\":3,\"id\":\"%s\",\"timestamp\":"
		     "\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n",
		     names[s]);
	for (i = 0; i < count; i++) {
		int64_t parent = parent_of(s, i);

		rt_buf_add_f(out, "{\"type\":\"message\",\"id\":\"e%u\",\"parentId\":", i);
		if (parent < 0)
			rt_buf_add_c(out, "null");
		else
			rt_buf_add_f(out, "\"e%u\"", (unsigned)parent);
		rt_buf_add_f(out,
			     ",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{\"role\":"
			     "\"%s\",\"content\":[{\"type\":\"text\",\"text\":\"entry %u %.*s\"}]"
			     ",\"stopReason\":\"stop\"}}\n",
			     i % 2 == 0 ? "user" : "assistant", i, (int)sizeof(text), text);
	}
}

static void
bench_disk(shape s, uint32_t count, const char *dir)
{
	static const rt_env env = {some_time, some_chance, NULL};
	const rt_engine_options options = {.env = &env, .create = true, .alloc = NULL};
	const rt_store_sqlite_options store_options = {.create = true};
	const rt_project *project;
	rt_import_result result;
	rt_tree_reader reader;
	rt_outlines outlines;
	rt_engine *engine;
	rt_store *store;
	rt_tree *tree;
	char path[4096];
	rt_buf session;
	double begin;

	snprintf(path, sizeof(path), "%s/tree-bench-%s.db", dir, names[s]);
	(void)unlink(path);
	rt_buf_init(&session, rt_alloc_libc(), RT_BUF_UNLIMITED);
	make_session(s, count, &session);
	must(session.status);
	must(rt_store_sqlite_open(rt_alloc_libc(), &env, path, &store_options, &store, NULL));
	must(rt_engine_open(&options, store, &engine, NULL));
	must(rt_format_pi.read(rt_alloc_libc(), rt_buf_str(&session), &outlines, NULL, NULL));
	must(rt_engine_import(engine, &outlines, RT_STR("bench"), false, &result, NULL));
	rt_outlines_deinit(&outlines);
	rt_buf_deinit(&session);
	rt_engine_close(engine);
	begin = now_ms();
	must(rt_engine_open(&options, store, &engine, NULL));
	project = rt_engine_value(engine);
	memset(&memory, 0, sizeof(memory));
	rt_tree_reader_init(&reader, &counted, engine, RT_STR(""));
	must(rt_tree_new(&counted, &reader.source, NULL, &tree));
	must(rt_tree_reader_read(&reader, project, 0, tree, NULL));
	printf("%-8s %u on disk: open and read %.1f", names[s], count, now_ms() - begin);
	begin = now_ms();
	must(rt_tree_reader_read(&reader, project, 0, tree, NULL));
	printf(" read again %.1f", now_ms() - begin);
	use(tree);
	printf("         %.1f MB, at most %.1f\n", (double)memory.live / 1e6,
	       (double)memory.most / 1e6);
	rt_tree_free(tree);
	rt_tree_reader_deinit(&reader);
	rt_object_unref(project);
	rt_engine_close(engine);
	store->ops->close(store);
	(void)unlink(path);
}

int
main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
	int s;

	if (argc > 3 || count < 2) {
		fprintf(stderr, "usage: tree-bench [ENTRIES [DIR]]\n");
		return 2;
	}
	for (s = 0; s < SHAPES; s++)
		bench_model((shape)s, count);
	for (s = 0; argc > 2 && s < SHAPES; s++)
		bench_disk((shape)s, count, argv[2]);
	return 0;
}
