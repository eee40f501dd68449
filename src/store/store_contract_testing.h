/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of the store contract: the kinds of stores, over which every test runs, and
 * helpers. A new kind adds a line to `kinds` and passes. */
#ifndef RT_STORE_CONTRACT_TESTING_H
#define RT_STORE_CONTRACT_TESTING_H

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
#include <sys/stat.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "store/server_testing.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"

/* --- the kinds of stores --- */

typedef struct fixture {
	const struct kind *kind;
	char folder[64];
	rt_store *store;
	uint64_t project; /* one is there from the start */
} fixture;

typedef struct kind {
	const char *name;
	bool is_lasting; /* survives close, two handles */
	bool is_file;    /* has a file: backup */
	rt_status (*open)(fixture *f, rt_store **out);
} kind;

static inline void
env_random(void *ctx, void *to, size_t size)
{
	static _Atomic uint64_t state = 42;
	unsigned char *bytes = to;

	(void)ctx;
	for (size_t i = 0; i < size; i++) {
		uint64_t x = atomic_fetch_add(&state, 0x9E3779B97F4A7C15u);

		x ^= x >> 31;
		x *= 0xBF58476D1CE4E5B9u;
		bytes[i] = (unsigned char)(x >> 40);
	}
}

static inline int64_t
env_now(void *ctx)
{
	(void)ctx;
	return 1700000000000000;
}

static const rt_env env = {env_now, env_random, NULL};

static inline rt_status
open_memory(fixture *f, rt_store **out)
{
	(void)f;
	return rt_store_memory_open(rt_alloc_libc(), &env, out, NULL);
}

static inline rt_status
open_sqlite_as(fixture *f, bool relaxed, rt_store **out)
{
	rt_store_sqlite_options options = {.create = true, .relaxed = relaxed, .busy_ms = 2000};
	char path[96];
	rt_error err;
	rt_status st;

	snprintf(path, sizeof(path), "%s/a.retake", f->folder);
	st = rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, out, &err);
	if (st != RT_OK)
		print_message("%s\n", err.text);
	return st;
}

static inline rt_status
open_sqlite(fixture *f, rt_store **out)
{
	return open_sqlite_as(f, false, out);
}

static inline rt_status
open_relaxed(fixture *f, rt_store **out)
{
	return open_sqlite_as(f, true, out);
}

static inline rt_status
open_postgres(fixture *f, rt_store **out)
{
	rt_store_options options = {.create = true, .busy_ms = 2000};
	char address[200];
	rt_error err;
	rt_status st;

	if (!test_server_address(f->folder, address, sizeof(address)))
		return RT_NOT_FOUND;
	st = rt_store_postgres_open(rt_alloc_libc(), &env, address, &options, out, &err);
	if (st != RT_OK)
		print_message("%s\n", err.text);
	return st;
}

static const kind kinds[] = {
	{"memory", false, false, open_memory},
	{"sqlite", true, true, open_sqlite},
	{"relaxed", true, true, open_relaxed},
	{"postgresql", true, false, open_postgres}, /* last: left out if there is no server */
};

/* --- helpers: what must work, in a word each --- */

#define OPS(f) ((f)->store->ops)

static inline void
must(rt_status st, const rt_error *err, const char *what, int line)
{
	if (st == RT_OK)
		return;
	print_message("%s failed in line %d: %s: %s\n", what, line, rt_status_word(st),
		      err == NULL ? "" : err->text);
	fail();
}

#define MUST(call) \
	do { \
		rt_error err_ = {0}; \
		rt_error *err = &err_; \
		rt_status st_ = (call); \
		must(st_, err, #call, __LINE__); \
	} while (0)

#define FAILS(with, call) \
	do { \
		rt_error err_ = {0}; \
		rt_error *err = &err_; \
		rt_status st_ = (call); \
		assert_string_equal(rt_status_word(st_), rt_status_word(with)); \
		assert_int_equal(err->status, st_); \
		assert_true(err->text[0] != 0); \
		assert_null(strchr(err->text, '\n')); \
		assert_null(strstr(err->text, "database is locked")); \
	} while (0)

static inline int
set_up(void **state)
{
	const kind *k = *state;
	fixture *f = calloc(1, sizeof(*f));

	f->kind = k;
	if (!test_folder(f->folder, sizeof(f->folder), "retake-contract"))
		return 1;
	if (k->open(f, &f->store) != RT_OK)
		return 1;
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("first"), &f->project, err));
	MUST(OPS(f)->commit(f->store, err));
	*state = f;
	return 0;
}

static inline int
tear_down(void **state)
{
	fixture *f = *state;

	if (f->store != NULL)
		OPS(f)->close(f->store);
	if (!test_folder_remove(f->folder))
		return 1;
	*state = (void *)(uintptr_t)f->kind;
	free(f);
	return 0;
}

static inline void
reopen(fixture *f)
{
	OPS(f)->close(f->store);
	f->store = NULL;
	MUST(((void)err, f->kind->open(f, &f->store)));
}

static inline rt_str
text_of(char *room, size_t size, const char *format, uint64_t n)
{
	snprintf(room, size, format, (unsigned long long)n);
	return rt_str_of(room);
}

static inline rt_store_row
log_row(uint64_t n, rt_str data)
{
	rt_store_row row = {0};

	memset(row.step, (int)(n & 0xff), sizeof(row.step));
	memcpy(row.step, &n, sizeof(n));
	row.at_us = (int64_t)(1700000000000000 + n);
	row.data = data;
	return row;
}

/* One log row and one body, in a transaction. */
static inline void
append_one(fixture *f, uint64_t seq)
{
	char log[64], body[64];
	rt_store_row row = log_row(seq, text_of(log, sizeof(log), "effect %llu", seq));
	rt_store_row text = {.number = seq,
			     .entry = seq + 1000,
			     .data = text_of(body, sizeof(body), "body %llu", seq)};
	uint64_t head = 0;

	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, seq - 1, &row, 1, &text, 1, &head, err));
	assert_int_equal(head, seq);
	MUST(OPS(f)->commit(f->store, err));
}

typedef struct seen {
	uint64_t numbers[4096];
	size_t count, stop_at;
	char text[4096];
} seen;

static inline bool
see_log(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;
	uint64_t n;

	memcpy(&n, row->step, sizeof(n));
	assert_int_equal(n, row->number);
	assert_int_equal(row->at_us, 1700000000000000 + row->number);
	s->numbers[s->count++] = row->number;
	snprintf(s->text, sizeof(s->text), "%.*s", RT_STR_ARG(row->data));
	return s->count != s->stop_at;
}

static inline bool
see_body(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;

	s->numbers[s->count++] = row->number;
	snprintf(s->text, sizeof(s->text), "%.*s", RT_STR_ARG(row->data));
	return s->count != s->stop_at;
}

static inline bool
see_number(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;

	s->numbers[s->count++] = row->number;
	return s->count != s->stop_at;
}

static inline bool
see_hit(void *ctx, uint64_t number, uint64_t entry)
{
	seen *s = ctx;

	(void)entry;
	s->numbers[s->count++] = number;
	return s->count != s->stop_at;
}

static inline bool
see_side(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;
	size_t size = strlen(s->text);

	snprintf(s->text + size, sizeof(s->text) - size, "%.*s=%.*s;", RT_STR_ARG(row->name),
		 RT_STR_ARG(row->data));
	s->count++;
	return s->count != s->stop_at;
}

static inline bool
see_project(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;
	size_t size = strlen(s->text);

	snprintf(s->text + size, sizeof(s->text) - size, "%llu=%.*s;",
		 (unsigned long long)row->number, RT_STR_ARG(row->data));
	s->count++;
	return s->count != s->stop_at;
}

static inline bool
see_finding(void *ctx, const char *id, const char *text)
{
	seen *s = ctx;

	print_message("finding %s: %s\n", id, text);
	s->count++;
	return true;
}

static inline void
must_be_clean(fixture *f)
{
	seen s = {0};

	MUST(OPS(f)->check(f->store, see_finding, &s, err));
	assert_int_equal(s.count, 0);
}

static inline void
expect_body(fixture *f, uint64_t number, const char *text)
{
	uint64_t entry = 0;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, number), &buf, &entry,
			  err));
	assert_true(rt_str_is(rt_buf_str(&buf), text));
	rt_buf_deinit(&buf);
}

typedef struct contract_test {
	const char *name;
	CMUnitTestFunction run;
} contract_test;

/* Runs tests over every kind of store. */
static inline int
run_contract(const char *name, const contract_test *tests, size_t count)
{
	enum { KINDS = sizeof(kinds) / sizeof(*kinds), TESTS_MAX = 32 };
	static struct CMUnitTest all[TESTS_MAX * KINDS];
	static char names[TESTS_MAX * KINDS][48];
	size_t at = 0;

	assert_true(count <= TESTS_MAX);
	for (size_t k = 0; k < KINDS; k++) {
		if (kinds[k].open == open_postgres && test_server_folder() == NULL)
			continue;
		if (kinds[k].open != open_postgres && test_server_pooled() != NULL)
			continue;
		for (size_t t = 0; t < count; t++, at++) {
			snprintf(names[at], sizeof(names[at]), "%s %s", kinds[k].name,
				 tests[t].name);
			all[at] = (struct CMUnitTest){names[at], tests[t].run, set_up, tear_down,
						      (void *)(uintptr_t)&kinds[k]};
		}
	}
	return _cmocka_run_group_tests(name, all, at, NULL, NULL);
}

#endif
