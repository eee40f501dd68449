/* SPDX-License-Identifier: MIT
 *
 * The contract of log/store.h, as one suite that runs over every kind of store. A new
 * kind adds a line to `kinds` and passes. */
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
	bool is_file; /* has a file: survives close, two handles, backup */
	rt_status (*open)(fixture *f, rt_store **out);
} kind;

static void
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

static int64_t
env_now(void *ctx)
{
	(void)ctx;
	return 1700000000000000;
}

static const rt_env env = {env_now, env_random, NULL};

static rt_status
open_memory(fixture *f, rt_store **out)
{
	(void)f;
	return rt_store_memory_open(rt_alloc_libc(), &env, out, NULL);
}

static rt_status
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

static rt_status
open_sqlite(fixture *f, rt_store **out)
{
	return open_sqlite_as(f, false, out);
}

static rt_status
open_relaxed(fixture *f, rt_store **out)
{
	return open_sqlite_as(f, true, out);
}

static const kind kinds[] = {
	{"memory", false, open_memory},
	{"sqlite", true, open_sqlite},
	{"relaxed", true, open_relaxed},
};

/* --- helpers: what must work, in a word each --- */

#define OPS(f) ((f)->store->ops)

static void
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

static int
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

static int
tear_down(void **state)
{
	fixture *f = *state;
	char command[128];

	if (f->store != NULL)
		OPS(f)->close(f->store);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
	if (system(command) != 0)
		return 1;
	*state = (void *)(uintptr_t)f->kind;
	free(f);
	return 0;
}

static void
reopen(fixture *f)
{
	OPS(f)->close(f->store);
	f->store = NULL;
	MUST(((void)err, f->kind->open(f, &f->store)));
}

static rt_str
text_of(char *room, size_t size, const char *format, uint64_t n)
{
	snprintf(room, size, format, (unsigned long long)n);
	return rt_str_of(room);
}

static rt_store_row
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
static void
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

static bool
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

static bool
see_body(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;

	s->numbers[s->count++] = row->number;
	snprintf(s->text, sizeof(s->text), "%.*s", RT_STR_ARG(row->data));
	return s->count != s->stop_at;
}

static bool
see_number(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;

	s->numbers[s->count++] = row->number;
	return s->count != s->stop_at;
}

static bool
see_hit(void *ctx, uint64_t number, uint64_t entry)
{
	seen *s = ctx;

	(void)entry;
	s->numbers[s->count++] = number;
	return s->count != s->stop_at;
}

static bool
see_side(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;
	size_t size = strlen(s->text);

	snprintf(s->text + size, sizeof(s->text) - size, "%.*s=%.*s;", RT_STR_ARG(row->name),
		 RT_STR_ARG(row->data));
	s->count++;
	return s->count != s->stop_at;
}

static bool
see_project(void *ctx, const rt_store_row *row)
{
	seen *s = ctx;
	size_t size = strlen(s->text);

	snprintf(s->text + size, sizeof(s->text) - size, "%llu=%.*s;",
		 (unsigned long long)row->number, RT_STR_ARG(row->data));
	s->count++;
	return s->count != s->stop_at;
}

static bool
see_finding(void *ctx, const char *id, const char *text)
{
	seen *s = ctx;

	print_message("finding %s: %s\n", id, text);
	s->count++;
	return true;
}

static void
must_be_clean(fixture *f)
{
	seen s = {0};

	MUST(OPS(f)->check(f->store, see_finding, &s, err));
	assert_int_equal(s.count, 0);
}

static void
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

/* --- projects --- */

static void
test_projects(void **state)
{
	fixture *f = *state;
	uint64_t second = 0, third = 0, found = 0;
	seen s = {0};

	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("second")), NULL,
			   &found, err));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("second"), &second, err));
	FAILS(RT_REFUSED, OPS(f)->project_new(f->store, RT_STR("second"), &third, err));
	FAILS(RT_REFUSED, OPS(f)->project_new(f->store, RT_STR("first"), &third, err));
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("second")), NULL,
			  &found, err));
	assert_int_equal(found, second);
	MUST(OPS(f)->commit(f->store, err));
	assert_int_not_equal(second, f->project);
	assert_true(second >= 1);
	assert_true(second <= RT_STORE_PROJECT_MAX);
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("second")), NULL,
			  &found, err));
	assert_int_equal(found, second);
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_PROJECTS, 0), see_project, &s, err));
	assert_string_equal(s.text, "1=first;2=second;");
	s = (seen){.stop_at = 1};
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_PROJECTS, 0), see_project, &s, err));
	assert_string_equal(s.text, "1=first;");

	/* Cancelled: the name is free again, and the number too. */
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("third"), &third, err));
	OPS(f)->cancel(f->store);
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("third")), NULL,
			   &found, err));
	MUST(OPS(f)->begin(f->store, err));
	FAILS(RT_NOT_FOUND,
	      OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, third, 1), RT_STR("x"), err));
	FAILS(RT_NOT_FOUND, OPS(f)->append(f->store, 77, 0, NULL, 0, NULL, 0, NULL, err));
	FAILS(RT_NOT_FOUND, OPS(f)->append(f->store, 0, 0, NULL, 0, NULL, 0, NULL, err));
	OPS(f)->cancel(f->store);
	must_be_clean(f);
}

static void
test_project_names(void **state)
{
	/* Any bytes are a name: nothing folds, nothing is cut. */
	static const rt_str names[] = {
		{"", 0},   {"a\0b", 3},     {"a", 1},        {"A", 1},
		{"a ", 2}, {"\xff\xfe", 2}, {"\xc3\xa4", 2}, {"a\xcc\x88", 3},
		{"1", 1},  {"0x1", 3},      {"' OR 1", 6},   {"%", 1},
	};
	fixture *f = *state;
	uint64_t made[16], found = 0;

	MUST(OPS(f)->begin(f->store, err));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		MUST(OPS(f)->project_new(f->store, names[i], &made[i], err));
	MUST(OPS(f)->commit(f->store, err));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, names[i]), NULL,
				  &found, err));
		assert_int_equal(found, made[i]);
	}
}

/* --- log and bodies --- */

static void
test_empty(void **state)
{
	fixture *f = *state;
	uint64_t number = 9;
	seen s = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 100);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 0);
	number = 9;
	MUST(OPS(f)->head(f->store, RT_STORE_BODIES, f->project, &number, err));
	assert_int_equal(number, 0);
	number = 9;
	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &number, err));
	assert_int_equal(number, 0);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 100), see_log, &s,
			  err));
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 100, 1), see_log, &s,
			  err));
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_BODIES, f->project, 1, 100), see_body,
			  &s, err));
	MUST(OPS(f)->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project), see_number, &s,
			  err));
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_SIDE, f->project), see_side, &s, err));
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("word"), RT_FIND_ALL_WORDS, see_hit,
				&s, err));
	assert_int_equal(s.count, 0);
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), &buf, NULL, err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), &buf, NULL, err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &number, err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("x")), &buf,
			   NULL, err));
	assert_int_equal(buf.size, 0);
	assert_non_null(f->store->place);
	assert_false(f->store->is_read_only);
	rt_buf_deinit(&buf);
	must_be_clean(f);
}

static void
test_append(void **state)
{
	fixture *f = *state;
	uint64_t head = 0, number = 0, entry = 0;
	rt_store_row rows[3];
	rt_store_row bodies[2];
	seen s = {0};
	rt_buf buf;

	append_one(f, 1);
	append_one(f, 2);
	rows[0] = log_row(3, RT_STR("three"));
	rows[1] = log_row(4, RT_STR(""));
	rows[2] = log_row(5, (rt_str){"a\0b", 3});
	bodies[0] = (rt_store_row){.number = 7, .entry = 0, .data = (rt_str){NULL, 0}};
	bodies[1] = (rt_store_row){.number = RT_STORE_NUMBER_MAX - 1,
				   .entry = UINT64_MAX,
				   .data = (rt_str){"\0x\0", 3}};
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 2);
	MUST(OPS(f)->append(f->store, f->project, 2, rows, 3, bodies, 2, &head, err));
	assert_int_equal(head, 5);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 5);
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 5);
	MUST(OPS(f)->head(f->store, RT_STORE_BODIES, f->project, &number, err));
	assert_int_equal(number, RT_STORE_NUMBER_MAX - 1);

	expect_body(f, 2, "body 2");
	rt_buf_init(&buf, rt_alloc_libc(), 100);
	rt_buf_add_c(&buf, "kept ");
	MUST(rt_store_get(f->store,
			  rt_rows_one(RT_STORE_BODIES, f->project, RT_STORE_NUMBER_MAX - 1), &buf,
			  &entry, err));
	assert_int_equal(entry, UINT64_MAX);
	assert_true(rt_str_eq(rt_buf_str(&buf), (rt_str){"kept \0x\0", 8}));
	rt_buf_clear(&buf);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 7), &buf, &entry,
			  err));
	assert_int_equal(buf.size, 0);
	assert_int_equal(entry, 0);
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 6), &buf, NULL, err));
	rt_buf_deinit(&buf);

	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_BODIES, f->project, 2, 7), see_body,
			  &s, err));
	assert_int_equal(s.count, 2);
	assert_int_equal(s.numbers[0], 2);
	assert_int_equal(s.numbers[1], 7);
	must_be_clean(f);
}

static void
test_read_order(void **state)
{
	static const struct {
		uint64_t first, last, count, from;
		int by;
	} cases[] = {
		{1, 9, 9, 1, 1},
		{9, 1, 9, 9, -1},
		{3, 5, 3, 3, 1},
		{5, 3, 3, 5, -1},
		{4, 4, 1, 4, 1},
		{8, 100, 2, 8, 1},
		{100, 8, 2, 9, -1},
		{10, 20, 0, 0, 1},
		{20, 10, 0, 0, -1},
		{0, 2, 2, 1, 1},
		{2, 0, 2, 2, -1},
		{UINT64_MAX, 8, 2, 9, -1},
		{8, UINT64_MAX, 2, 8, 1},
		{0, 0, 0, 0, 1},
		{UINT64_MAX, UINT64_MAX, 0, 0, 1},
		{RT_STORE_NUMBER_MAX, 9, 1, 9, -1},
	};
	fixture *f = *state;
	uint64_t other = 0;
	rt_store_row row = log_row(1, RT_STR("another's"));
	seen s;

	for (uint64_t seq = 1; seq <= 9; seq++)
		append_one(f, seq);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->project_new(f->store, RT_STR("other"), &other, err));
	MUST(OPS(f)->append(f->store, other, 0, &row, 1, NULL, 0, NULL, err));
	MUST(OPS(f)->commit(f->store, err));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		s = (seen){0};
		MUST(OPS(f)->read(
			f->store,
			rt_rows_between(RT_STORE_LOG, f->project, cases[i].first, cases[i].last),
			see_log, &s, err));
		assert_int_equal(s.count, cases[i].count);
		for (size_t n = 0; n < s.count; n++)
			assert_int_equal(s.numbers[n],
					 (int64_t)cases[i].from + cases[i].by * (int64_t)n);
	}
	s = (seen){.stop_at = 2};
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_int_equal(s.count, 2);
	assert_string_equal(s.text, "effect 2");
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_BODIES, f->project, 3, UINT64_MAX),
			  see_body, &s, err));
	assert_int_equal(s.count, 7);
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_BODIES, f->project, 5, 3), see_body,
			  &s, err));
	assert_int_equal(s.count, 0);
	s = (seen){0};
	MUST(OPS(f)->read(f->store,
			  rt_rows_listed(RT_STORE_BODIES, f->project,
					 (const uint64_t[]){2, 3, 5, 99, UINT64_MAX}, 5),
			  see_body, &s, err));
	assert_int_equal(s.count, 3);
	assert_int_equal(s.numbers[0], 2);
	assert_int_equal(s.numbers[2], 5);
	s = (seen){.stop_at = 2};
	MUST(OPS(f)->read(
		f->store,
		rt_rows_listed(RT_STORE_BODIES, f->project, (const uint64_t[]){2, 5, 6}, 3),
		see_body, &s, err));
	assert_int_equal(s.count, 2);
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_listed(RT_STORE_BODIES, f->project, NULL, 0), see_body,
			  &s, err));
	MUST(OPS(f)->read(f->store, rt_rows_listed(RT_STORE_BODIES, 0, (const uint64_t[]){2}, 1),
			  see_body, &s, err));
	assert_int_equal(s.count, 0);
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, other, 0, UINT64_MAX), see_log,
			  &s, err));
	assert_int_equal(s.count, 1);
	assert_string_equal(s.text, "another's");
	must_be_clean(f);
}

static void
test_conflict(void **state)
{
	fixture *f = *state;
	rt_store_row row = log_row(2, RT_STR("two"));
	rt_store_row body = {.number = 2, .entry = 2, .data = RT_STR("two")};
	uint64_t head = 0;
	seen s = {0};

	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	FAILS(RT_CONFLICT, OPS(f)->append(f->store, f->project, 0, &row, 1, &body, 1, &head, err));
	assert_int_equal(head, 1);
	FAILS(RT_CONFLICT, OPS(f)->append(f->store, f->project, 2, &row, 1, &body, 1, NULL, err));
	/* The begin is still open and holds nothing of it. */
	MUST(OPS(f)->append(f->store, f->project, 1, &row, 1, &body, 1, &head, err));
	assert_int_equal(head, 2);
	/* Numbers of bodies only go up. */
	FAILS(RT_USAGE, OPS(f)->append(f->store, f->project, 2, NULL, 0, &body, 1, &head, err));
	body.number = RT_STORE_NUMBER_MAX + 1;
	FAILS(RT_USAGE, OPS(f)->append(f->store, f->project, 2, NULL, 0, &body, 1, &head, err));
	body.number = 0;
	FAILS(RT_USAGE, OPS(f)->append(f->store, f->project, 2, NULL, 0, &body, 1, &head, err));
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_int_equal(s.count, 2);
	must_be_clean(f);
}

/* The mark, and how often the fox is found, are both this. */
static void
expect_found(fixture *f, uint64_t count)
{
	uint64_t mark;
	seen s = {0};

	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &mark, err));
	assert_int_equal(mark, count);
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("fox"), RT_FIND_ALL_WORDS, see_hit, &s,
				err));
	assert_int_equal(s.count, count);
}

static void
test_cancel(void **state)
{
	fixture *f = *state;
	rt_store_row row = log_row(2, RT_STR("two"));
	rt_store_row body = {.number = 2, .entry = 2, .data = RT_STR("two")};
	seen s;
	uint64_t number = 0;
	rt_buf buf;

	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), RT_STR("node"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 6), RT_STR("kept"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, 1), RT_STR("root"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR("old"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 1001, RT_STR("quick brown fox"), err));
	MUST(OPS(f)->commit(f->store, err));

	OPS(f)->cancel(f->store); /* without a begin: nothing */
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 1, &row, 1, &body, 1, NULL, err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), RT_STR("again"),
			   err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 7), RT_STR("new"),
			   err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 7), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 7), RT_STR("new"),
			   err));
	MUST(OPS(f)->drop(f->store, rt_rows_all(RT_STORE_ROOT, f->project), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR("new"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR(""), err));
	MUST(OPS(f)->index_add(f->store, f->project, 2, 2, RT_STR("lazy dog"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), RT_STR("gone"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_LOG, f->project, 1), RT_STR("gone"),
			   err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_INDEX, f->project, 1), err));
	OPS(f)->cancel(f->store);

	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, 1);
	MUST(OPS(f)->head(f->store, RT_STORE_BODIES, f->project, &number, err));
	assert_int_equal(number, 1);
	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &number, err));
	assert_int_equal(number, 1);
	expect_body(f, 1, "body 1");
	rt_buf_init(&buf, rt_alloc_libc(), 100);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 5), &buf, NULL, err));
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 6), &buf, NULL, err));
	MUST(rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &number, err));
	assert_int_equal(number, 1);
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")), &buf,
			  NULL, err));
	assert_true(rt_str_is(rt_buf_str(&buf), "nodekeptrootold"));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 7), &buf, NULL, err));
	s = (seen){0};
	MUST(OPS(f)->read(f->store,
			  rt_rows_listed(RT_STORE_NODES, f->project,
					 (const uint64_t[]){5, 6, 7, UINT64_MAX}, 4),
			  see_body, &s, err));
	assert_int_equal(s.count, 2);
	assert_int_equal(s.numbers[0], 5);
	assert_int_equal(s.numbers[1], 6);
	s = (seen){.stop_at = 1};
	MUST(OPS(f)->read(f->store,
			  rt_rows_listed(RT_STORE_NODES, f->project, (const uint64_t[]){5, 6}, 2),
			  see_body, &s, err));
	assert_int_equal(s.count, 1);
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_listed(RT_STORE_NODES, 0, (const uint64_t[]){5}, 1),
			  see_body, &s, err));
	assert_int_equal(s.count, 0);
	rt_buf_deinit(&buf);
	s = (seen){0};
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("fox"), RT_FIND_ALL_WORDS, see_hit, &s,
				err));
	assert_int_equal(s.count, 1);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_string_equal(s.text, "effect 1");
	append_one(f, 2);
	must_be_clean(f);

	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->drop(f->store, rt_rows_all(RT_STORE_INDEX, 0), err));
	OPS(f)->cancel(f->store);
	expect_found(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->drop(f->store, rt_rows_all(RT_STORE_INDEX, 0), err));
	MUST(OPS(f)->commit(f->store, err));
	expect_found(f, 0);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 1001, RT_STR("quick brown fox"), err));
	MUST(OPS(f)->commit(f->store, err));
	expect_found(f, 1);
	must_be_clean(f);
}

/* --- checkpoint and side rows --- */

static void
test_nodes(void **state)
{
	fixture *f = *state;
	uint64_t seq = 0;
	seen s = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 100);
	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 30), RT_STR("thirty"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), RT_STR("one"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, RT_STORE_NUMBER_MAX),
			   RT_STR(""), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 30),
			   RT_STR("thirty, again"), err));
	FAILS(RT_USAGE, OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 0),
				      RT_STR("no"), err));
	FAILS(RT_USAGE,
	      OPS(f)->write(f->store,
			    rt_rows_one(RT_STORE_NODES, f->project, RT_STORE_NUMBER_MAX + 1),
			    RT_STR("no"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, 1),
			   RT_STR("first root"), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 99), err));
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 30), &buf, NULL, err));
	MUST(OPS(f)->commit(f->store, err));
	assert_true(rt_str_is(rt_buf_str(&buf), "thirty, again"));
	rt_buf_clear(&buf);
	MUST(OPS(f)->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project), see_number, &s,
			  err));
	assert_int_equal(s.count, 3);
	assert_int_equal(s.numbers[0], 1);
	assert_int_equal(s.numbers[1], 30);
	assert_int_equal(s.numbers[2], RT_STORE_NUMBER_MAX);
	MUST(rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &seq, err));
	assert_int_equal(seq, 1);
	assert_true(rt_str_is(rt_buf_str(&buf), "first root"));
	rt_buf_clear(&buf);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_ROOT, f->project, 0), RT_STR("second"),
			   err));
	MUST(OPS(f)->commit(f->store, err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), &buf, NULL, err));
	MUST(rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &seq, err));
	assert_int_equal(seq, 0);
	must_be_clean(f);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->drop(f->store, rt_rows_all(RT_STORE_ROOT, f->project), err));
	MUST(OPS(f)->commit(f->store, err));
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project), see_number, &s,
			  err));
	assert_int_equal(s.count, 0);
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, f->project), &buf, &seq, err));
	rt_buf_deinit(&buf);
	must_be_clean(f);
}

static void
test_side(void **state)
{
	fixture *f = *state;
	seen s = {0};
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 100);
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")),
			   RT_STR("so far"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR("text"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")),
			   RT_STR("so far, so"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, (rt_str){"a\0", 2}),
			   (rt_str){"\0", 1}, err));
	FAILS(RT_NOT_FOUND, OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, 77, RT_STR("x")),
					  RT_STR("y"), err));
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")), &buf,
			  NULL, err));
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, (rt_str){"a\0", 2}),
			  &buf, NULL, err));
	assert_true(rt_str_eq(rt_buf_str(&buf), (rt_str){"so far, so\0", 11}));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, (rt_str){"a\0", 2}),
			   RT_STR(""), err));
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_SIDE, f->project), see_side, &s, err));
	assert_string_equal(s.text, "draft=text;reply=so far, so;");
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")),
			   RT_STR(""), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("never")),
			   RT_STR(""), err));
	FAILS(RT_NOT_FOUND,
	      rt_store_get(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("reply")),
			   &buf, NULL, err));
	MUST(OPS(f)->commit(f->store, err));
	s = (seen){0};
	MUST(OPS(f)->read(f->store, rt_rows_all(RT_STORE_SIDE, f->project), see_side, &s, err));
	assert_string_equal(s.text, "draft=text;");
	rt_buf_deinit(&buf);
	must_be_clean(f);
}

/* --- search --- */

static void
expect_hits(fixture *f, rt_store_find how, rt_str query, const char *numbers)
{
	char got[256] = "";
	seen s = {0};

	MUST(OPS(f)->index_find(f->store, f->project, query, how, see_hit, &s, err));
	/* "Best first" is the store's business; here only the set counts. */
	for (uint64_t n = 0; n < 10; n++) {
		for (size_t i = 0; i < s.count; i++) {
			if (s.numbers[i] == n)
				snprintf(got + strlen(got), sizeof(got) - strlen(got), "%llu ",
					 (unsigned long long)n);
		}
	}
	if (strcmp(got, numbers) != 0)
		print_message("query \"%.*s\"\n", RT_STR_ARG(query));
	assert_string_equal(got, numbers);
}

static void
test_index(void **state)
{
	fixture *f = *state;
	uint64_t mark = 0, other = 0;
	char *long_query;

	for (uint64_t seq = 1; seq <= 6; seq++)
		append_one(f, seq);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 11, RT_STR("The quick brown fox"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 2, 12, RT_STR("a fox, quick-witted"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 3, 13, RT_STR(""), err));
	MUST(OPS(f)->index_add(f->store, f->project, 4, 14, (rt_str){"nul\0inside", 10}, err));
	MUST(OPS(f)->index_add(f->store, f->project, 5, 15,
			       RT_STR("Fuchs \xc3\xbc"
				      "ber 42"),
			       err));
	MUST(OPS(f)->project_new(f->store, RT_STR("other"), &other, err));
	MUST(OPS(f)->index_add(f->store, other, 1, 1, RT_STR("another fox"), err));
	FAILS(RT_USAGE, OPS(f)->index_add(f->store, f->project, 0, 1, RT_STR("x"), err));
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &mark, err));
	assert_int_equal(mark, 5);

	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("fox"), "1 2 ");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("FOX quick"), "1 2 ");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("fox brown"), "1 ");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("quick bro"), "1 ");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("bro quick"), "");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("fo"), "1 2 ");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("inside"), "4 ");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("42"), "5 ");
	expect_hits(f, RT_FIND_ALL_WORDS,
		    RT_STR("\xc3\xbc"
			   "ber"),
		    "5 ");
	expect_hits(f, RT_FIND_PHRASE, RT_STR("quick brown"), "1 ");
	expect_hits(f, RT_FIND_PHRASE, RT_STR("fox quick"), "2 ");
	expect_hits(f, RT_FIND_PHRASE, RT_STR("quick bro"), "");
	/* Any text is a legal query. */
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR(""), "");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR(" \t\n-*\"()"), "");
	expect_hits(f, RT_FIND_PHRASE, RT_STR("\"'`"), "");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("\"fox\" AND NOT OR"), "");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("fox*"), "1 2 ");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("text:fox"), "");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("{^fox} (quick"), "1 2 ");
	expect_hits(f, RT_FIND_PHRASE, RT_STR("NEAR(\"quick\""), "");
	expect_hits(f, RT_FIND_ALL_WORDS, (rt_str){"fox\0quick", 9}, "1 2 ");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("\xff\xfe"), "");
	long_query = malloc(200000);
	for (size_t i = 0; i < 200000; i++)
		long_query[i] = i % 4 == 3 ? ' ' : "fox"[i % 4];
	expect_hits(f, RT_FIND_ALL_WORDS, rt_str_at(long_query, 200000), "1 2 ");
	expect_hits(f, RT_FIND_PHRASE, rt_str_at(long_query, 200000), "");
	free(long_query);

	/* A text again under its number replaces the old one; the mark stays. */
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 2, 12, RT_STR("wolf"), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_INDEX, f->project, 1), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_INDEX, f->project, 6), err));
	MUST(OPS(f)->commit(f->store, err));
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("fox"), "");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("wolf"), "2 ");
	MUST(OPS(f)->head(f->store, RT_STORE_INDEX, f->project, &mark, err));
	assert_int_equal(mark, 5);
}

typedef struct entries {
	uint64_t number, entry;
} entries;

static bool
see_entry(void *ctx, uint64_t number, uint64_t entry)
{
	entries *e = ctx;

	e->number = number;
	e->entry = entry;
	return false;
}

static void
test_index_entry(void **state)
{
	fixture *f = *state;
	entries e = {0, 0};

	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 123456789012345, RT_STR("fox fox"), err));
	/* Not committed yet, and seen inside. */
	MUST(OPS(f)->index_find(f->store, f->project, RT_STR("fox"), RT_FIND_PHRASE, see_entry, &e,
				err));
	assert_int_equal(e.number, 1);
	assert_int_equal(e.entry, 123456789012345);
	MUST(OPS(f)->commit(f->store, err));
	must_be_clean(f);
}

/* --- purge --- */

static bool
file_holds(const char *path, const char *needle)
{
	size_t room = 1 << 24, size, n = strlen(needle);
	char *bytes = malloc(room);
	FILE *file = fopen(path, "rb");
	bool holds = false;

	if (file != NULL) {
		size = fread(bytes, 1, room, file);
		assert_true(size < room);
		holds = memmem(bytes, size, needle, n) != NULL;
		fclose(file);
	}
	free(bytes);
	return holds;
}

static bool
folder_holds(fixture *f, const char *needle)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char path[128];
	bool holds = false;

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/a.retake%s", f->folder, suffixes[i]);
		holds = holds || file_holds(path, needle);
	}
	return holds;
}

static void
test_purge(void **state)
{
	static char big[40000];
	fixture *f = *state;
	rt_store_row row = log_row(2, RT_STR("effect with hunter2secret inside"));
	rt_store_row body = {.number = 2, .entry = 22, .data = (rt_str){big, sizeof(big)}};
	seen s = {0};

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = "hunter2secret "[i % 14];
	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 1, &row, 1, &body, 1, NULL, err));
	MUST(OPS(f)->index_add(f->store, f->project, 1, 1001, RT_STR("body one"), err));
	MUST(OPS(f)->index_add(f->store, f->project, 2, 22, RT_STR("hunter2secret word"), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR("hunter2secret"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 9), body.data, err));
	MUST(OPS(f)->commit(f->store, err));
	for (uint64_t seq = 3; seq <= 60; seq++)
		append_one(f, seq);
	if (f->kind->is_file)
		assert_true(folder_holds(f, "hunter2secret"));

	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 2), RT_STR("purged"),
			   err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_LOG, f->project, 2), RT_STR("purged too"),
			   err));
	FAILS(RT_NOT_FOUND, OPS(f)->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 61),
					  RT_STR(""), err));
	FAILS(RT_NOT_FOUND,
	      OPS(f)->write(f->store, rt_rows_one(RT_STORE_LOG, f->project, 61), RT_STR(""), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_INDEX, f->project, 2), err));
	MUST(OPS(f)->write(f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
			   RT_STR(""), err));
	MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, 9), err));
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(f)->scrub(f->store, err));
	assert_false(folder_holds(f, "hunter2secret"));
	assert_false(folder_holds(f, "hunter2"));

	expect_body(f, 2, "purged");
	MUST(OPS(f)->read(f->store, rt_rows_one(RT_STORE_LOG, f->project, 2), see_log, &s, err));
	assert_string_equal(s.text, "purged too");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("hunter2secret"), "");
	expect_hits(f, RT_FIND_ALL_WORDS, RT_STR("body"), "1 ");
	append_one(f, 61);
	must_be_clean(f);
	if (f->kind->is_file) {
		reopen(f);
		expect_body(f, 2, "purged");
		assert_false(folder_holds(f, "hunter2"));
	}
}

/* --- epoch --- */

static void
test_epoch(void **state)
{
	fixture *f = *state;
	uint64_t first = 0, second = 0, third = 0, now = 0;

	MUST(OPS(f)->epoch(f->store, &first, err));
	assert_int_not_equal(first, 0);
	MUST(OPS(f)->epoch_renew(f->store, err));
	MUST(OPS(f)->epoch(f->store, &second, err));
	assert_int_not_equal(first, second);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->epoch_renew(f->store, err));
	MUST(OPS(f)->epoch(f->store, &third, err));
	assert_int_not_equal(second, third);
	OPS(f)->cancel(f->store);
	MUST(OPS(f)->epoch(f->store, &now, err));
	assert_int_equal(now, second);
	if (f->kind->is_file) {
		reopen(f);
		MUST(OPS(f)->epoch(f->store, &now, err));
		assert_int_equal(now, second);
	}
}

/* --- large rows --- */

static void
test_large(void **state)
{
	enum { SIZE = 12345678 };
	fixture *f = *state;
	char *bytes = malloc(SIZE);
	rt_store_row row;
	rt_store_row body;
	rt_buf buf;

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	row = log_row(1, rt_str_at(bytes, SIZE / 2));
	body = (rt_store_row){.number = 1, .entry = 1, .data = rt_str_at(bytes, SIZE)};
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 0, &row, 1, &body, 1, NULL, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), body.data, err));
	MUST(OPS(f)->commit(f->store, err));
	append_one(f, 2);
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), &buf, NULL, err));
	assert_true(rt_str_eq(rt_buf_str(&buf), body.data));
	rt_buf_clear(&buf);
	MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), &buf, NULL, err));
	assert_true(rt_str_eq(rt_buf_str(&buf), body.data));
	rt_buf_deinit(&buf);
	/* A buffer that is too small says so and nothing more. */
	rt_buf_init(&buf, rt_alloc_libc(), 1000);
	FAILS(RT_LIMIT,
	      rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), &buf, NULL, err));
	rt_buf_deinit(&buf);
	free(bytes);
	must_be_clean(f);
}

/* --- reopening, two handles, backup --- */

static void
test_reopen(void **state)
{
	fixture *f = *state;
	uint64_t head = 0, found = 0;

	if (!f->kind->is_file)
		skip();
	for (uint64_t seq = 1; seq <= 300; seq++) {
		append_one(f, seq);
		if (seq % 100 == 0)
			reopen(f);
	}
	MUST(rt_store_get(f->store, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("first")), NULL,
			  &found, err));
	assert_int_equal(found, f->project);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
	assert_int_equal(head, 300);
	expect_body(f, 150, "body 150");
	must_be_clean(f);

	/* Closed inside a begin: as if cancelled. */
	rt_store_row row = log_row(301, RT_STR("never"));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 300, &row, 1, NULL, 0, NULL, err));
	reopen(f);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
	assert_int_equal(head, 300);
}

static void
test_two_handles(void **state)
{
	fixture *f = *state;
	fixture g = *f;
	uint64_t head = 0, second = 0;
	seen s = {0};

	if (!f->kind->is_file)
		skip();
	MUST(((void)err, f->kind->open(&g, &g.store)));
	append_one(f, 1);
	append_one(&g, 2);
	append_one(f, 3);
	MUST(OPS(&g)->head(g.store, RT_STORE_LOG, g.project, &head, err));
	assert_int_equal(head, 3);
	expect_body(&g, 3, "body 3");

	/* One writes, the other waits for its time and says so in words; reading goes on. */
	rt_store_row row = log_row(4, RT_STR("effect 4"));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 3, &row, 1, NULL, 0, NULL, err));
	FAILS(RT_BUSY, OPS(&g)->begin(g.store, err));
	FAILS(RT_BUSY, OPS(&g)->write(g.store, rt_rows_named(RT_STORE_SIDE, g.project, RT_STR("x")),
				      RT_STR("y"), err));
	MUST(OPS(&g)->read(g.store, rt_rows_between(RT_STORE_LOG, g.project, 1, 9), see_log, &s,
			   err));
	assert_int_equal(s.count, 3);
	MUST(OPS(f)->commit(f->store, err));
	MUST(OPS(&g)->begin(g.store, err));
	FAILS(RT_CONFLICT, OPS(&g)->append(g.store, g.project, 3, &row, 1, NULL, 0, &head, err));
	assert_int_equal(head, 4);
	/* What another handle made is known here. */
	OPS(&g)->cancel(g.store);
	MUST(OPS(&g)->begin(g.store, err));
	MUST(OPS(&g)->project_new(g.store, RT_STR("second"), &second, err));
	MUST(OPS(&g)->commit(g.store, err));
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, second, 0, NULL, 0, NULL, 0, NULL, err));
	MUST(OPS(f)->commit(f->store, err));
	OPS(&g)->close(g.store);
	append_one(f, 5);
	must_be_clean(f);
}

static void
test_backup(void **state)
{
	fixture *f = *state;
	fixture copy = *f;
	rt_store_sqlite_options options = {.busy_ms = 1000};
	char path[128];
	struct stat info;
	uint64_t head = 0, here = 0, there = 0;

	if (!f->kind->is_file) {
		FAILS(RT_REFUSED, OPS(f)->backup(f->store, "/tmp/never", err));
		return;
	}
	for (uint64_t seq = 1; seq <= 50; seq++)
		append_one(f, seq);
	snprintf(path, sizeof(path), "%s/copy", f->folder);
	MUST(OPS(f)->backup(f->store, path, err));
	FAILS(RT_REFUSED, OPS(f)->backup(f->store, path, err));
	FAILS(RT_REFUSED, OPS(f)->backup(f->store, f->folder, err));
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	append_one(f, 51);
	MUST(rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, &copy.store, err));
	MUST(OPS(&copy)->head(copy.store, RT_STORE_LOG, f->project, &head, err));
	assert_int_equal(head, 50);
	expect_body(&copy, 50, "body 50");
	must_be_clean(&copy);
	MUST(OPS(f)->epoch(f->store, &here, err));
	MUST(OPS(&copy)->epoch(copy.store, &there, err));
	assert_int_equal(here, there);
	OPS(&copy)->close(copy.store);
	/* Nothing else is left behind. */
	snprintf(path, sizeof(path), "ls %s | grep -v '^copy$' | grep -c copy > /dev/null",
		 f->folder);
	assert_int_not_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/no/such/folder", f->folder);
	FAILS(RT_IO, OPS(f)->backup(f->store, path, err));
}

/* --- threads --- */

typedef struct crowd {
	fixture *f;
	_Atomic bool stop;
	_Atomic int reads;
} crowd;

enum { THREAD_APPENDS = 60, WRITERS = 3, READERS = 3 };

static void *
write_some(void *ctx)
{
	crowd *c = ctx;
	fixture *f = c->f;

	for (int i = 0; i < THREAD_APPENDS; i++) {
		rt_store_row row;
		rt_store_row body;
		uint64_t head = 0;
		char text[64];

		MUST(OPS(f)->begin(f->store, err));
		MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
		row = log_row(head + 1, text_of(text, sizeof(text), "body %llu", head + 1));
		body = (rt_store_row){.number = head + 1, .entry = 0, .data = row.data};
		MUST(OPS(f)->append(f->store, f->project, head, &row, 1, &body, 1, NULL, err));
		MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 1), row.data,
				   err));
		if (i % 5 == 4)
			OPS(f)->cancel(f->store);
		else
			MUST(OPS(f)->commit(f->store, err));
		if (i % 10 == 0)
			MUST(OPS(f)->write(
				f->store, rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("draft")),
				row.data, err));
	}
	return NULL;
}

static void *
read_some(void *ctx)
{
	crowd *c = ctx;
	fixture *f = c->f;
	uint64_t last = 0;
	seen *s = malloc(sizeof(*s));
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1000);
	while (!c->stop) {
		uint64_t head = 0;
		char text[64];

		MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
		assert_true(head >= last);
		last = head;
		if (head == 0)
			continue;
		/* What is seen is committed, whole and readable. */
		rt_buf_clear(&buf);
		MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_BODIES, f->project, head), &buf,
				  NULL, err));
		assert_true(rt_str_eq(rt_buf_str(&buf),
				      text_of(text, sizeof(text), "body %llu", head)));
		memset(s, 0, sizeof(*s));
		MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, head),
				  see_log, s, err));
		assert_int_equal(s->count, head);
		c->reads++;
	}
	rt_buf_deinit(&buf);
	free(s);
	return NULL;
}

static void
test_threads(void **state)
{
	crowd c = {.f = *state};
	pthread_t writers[WRITERS], readers[READERS];
	uint64_t head = 0;

	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_some, &c), 0);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_some, &c), 0);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(writers[i], NULL), 0);
	c.stop = true;
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_join(readers[i], NULL), 0);
	MUST(OPS(c.f)->head(c.f->store, RT_STORE_LOG, c.f->project, &head, err));
	assert_int_equal(head, WRITERS * THREAD_APPENDS * 4 / 5);
	must_be_clean(c.f);
}

/* A reader does not wait for somebody's open begin, and sees nothing of it. */
static void *
read_beside(void *ctx)
{
	crowd *c = ctx;
	fixture *f = c->f;
	uint64_t head = 9;
	seen s = {0};

	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &head, err));
	assert_int_equal(head, 1);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_int_equal(s.count, 1);
	expect_body(f, 1, "body 1");
	MUST(OPS(f)->read(f->store, rt_rows_numbers(RT_STORE_NODES, f->project), see_number, &s,
			  err));
	assert_int_equal(s.count, 1);
	c->reads++;
	return NULL;
}

static void
test_reader_beside_begin(void **state)
{
	crowd c = {.f = *state};
	fixture *f = c.f;
	rt_store_row row = log_row(2, RT_STR("effect 2"));
	pthread_t reader;
	seen s = {0};

	append_one(f, 1);
	MUST(OPS(f)->begin(f->store, err));
	MUST(OPS(f)->append(f->store, f->project, 1, &row, 1, NULL, 0, NULL, err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, 4), RT_STR("n"), err));
	MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_BODIES, f->project, 1), RT_STR("changed"),
			   err));
	assert_int_equal(pthread_create(&reader, NULL, read_beside, &c), 0);
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_int_equal(c.reads, 1);
	MUST(OPS(f)->read(f->store, rt_rows_between(RT_STORE_LOG, f->project, 1, 9), see_log, &s,
			  err));
	assert_int_equal(s.count, 2);
	expect_body(f, 1, "changed");
	MUST(OPS(f)->commit(f->store, err));
}

/* --- against a plain model --- */

enum { MODEL_STEPS = 400, MODEL_NODES = 12 };

typedef struct model {
	uint64_t log_count, body_count;
	int bodies[MODEL_STEPS * 3]; /* the number in body i's text */
	int nodes[MODEL_NODES];      /* 0: none */
	int side;
} model;

static uint64_t
next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void
model_write(fixture *f, model *m, uint64_t *seed, int step)
{
	char text[64];
	rt_str data = text_of(text, sizeof(text), "text %llu", (uint64_t)step);

	switch (next_random(seed) % 6) {
	case 0:
	case 1: {
		rt_store_row row = log_row(m->log_count + 1, data);
		rt_store_row body = {.number = m->body_count + 1, .entry = 0, .data = data};

		MUST(OPS(f)->append(f->store, f->project, m->log_count, &row, 1, &body, 1, NULL,
				    err));
		m->log_count++;
		m->bodies[m->body_count++] = step;
		break;
	}
	case 2: {
		uint64_t node = next_random(seed) % MODEL_NODES;

		MUST(OPS(f)->write(f->store, rt_rows_one(RT_STORE_NODES, f->project, node + 1),
				   data, err));
		m->nodes[node] = step;
		break;
	}
	case 3: {
		uint64_t node = next_random(seed) % MODEL_NODES;

		MUST(OPS(f)->drop(f->store, rt_rows_one(RT_STORE_NODES, f->project, node + 1),
				  err));
		m->nodes[node] = 0;
		break;
	}
	case 4:
		MUST(OPS(f)->write(f->store,
				   rt_rows_named(RT_STORE_SIDE, f->project, RT_STR("side")),
				   step % 3 == 0 ? RT_STR("") : data, err));
		m->side = step % 3 == 0 ? 0 : step;
		break;
	default:
		if (m->body_count > 0) {
			uint64_t body = next_random(seed) % m->body_count;

			MUST(OPS(f)->write(f->store,
					   rt_rows_one(RT_STORE_BODIES, f->project, body + 1), data,
					   err));
			m->bodies[body] = step;
		}
	}
}

static void
model_compare(fixture *f, const model *m)
{
	char text[64];
	uint64_t number = 0;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1000);
	MUST(OPS(f)->head(f->store, RT_STORE_LOG, f->project, &number, err));
	assert_int_equal(number, m->log_count);
	MUST(OPS(f)->head(f->store, RT_STORE_BODIES, f->project, &number, err));
	assert_int_equal(number, m->body_count);
	for (uint64_t i = 0; i < m->body_count; i++)
		expect_body(f, i + 1,
			    text_of(text, sizeof(text), "text %llu", (uint64_t)m->bodies[i]).ptr);
	for (uint64_t i = 0; i < MODEL_NODES; i++) {
		rt_buf_clear(&buf);
		if (m->nodes[i] == 0) {
			FAILS(RT_NOT_FOUND,
			      rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, i + 1),
					   &buf, NULL, err));
			continue;
		}
		MUST(rt_store_get(f->store, rt_rows_one(RT_STORE_NODES, f->project, i + 1), &buf,
				  NULL, err));
		assert_true(rt_str_eq(rt_buf_str(&buf), text_of(text, sizeof(text), "text %llu",
								(uint64_t)m->nodes[i])));
	}
	rt_buf_deinit(&buf);
}

static void
test_model(void **state)
{
	fixture *f = *state;
	uint64_t seed = (uint64_t)time(NULL) * 2654435761u | 1, first = seed;
	model *kept = calloc(1, sizeof(*kept)), *now = calloc(1, sizeof(*now));

	print_message("seed %llu\n", (unsigned long long)first);
	for (int step = 1; step < MODEL_STEPS;) {
		uint64_t writes = next_random(&seed) % 8;

		*now = *kept;
		MUST(OPS(f)->begin(f->store, err));
		for (uint64_t i = 0; i <= writes; i++)
			model_write(f, now, &seed, step++);
		if (next_random(&seed) % 4 == 0) {
			OPS(f)->cancel(f->store);
		} else {
			MUST(OPS(f)->commit(f->store, err));
			*kept = *now;
		}
		if (next_random(&seed) % 4 == 0)
			model_compare(f, kept);
		if (f->kind->is_file && next_random(&seed) % 16 == 0)
			reopen(f);
	}
	model_compare(f, kept);
	must_be_clean(f);
	free(kept);
	free(now);
}

int
main(void)
{
	static const struct {
		const char *name;
		CMUnitTestFunction run;
	} tests[] = {
		{"projects", test_projects},
		{"project_names", test_project_names},
		{"empty", test_empty},
		{"append", test_append},
		{"read_order", test_read_order},
		{"conflict", test_conflict},
		{"cancel", test_cancel},
		{"nodes", test_nodes},
		{"side", test_side},
		{"index", test_index},
		{"index_entry", test_index_entry},
		{"purge", test_purge},
		{"epoch", test_epoch},
		{"large", test_large},
		{"reopen", test_reopen},
		{"two_handles", test_two_handles},
		{"backup", test_backup},
		{"threads", test_threads},
		{"reader_beside_begin", test_reader_beside_begin},
		{"model", test_model},
	};
	enum { COUNT = sizeof(tests) / sizeof(*tests), KINDS = sizeof(kinds) / sizeof(*kinds) };
	static struct CMUnitTest all[COUNT * KINDS];
	static char names[COUNT * KINDS][48];

	for (size_t k = 0; k < KINDS; k++) {
		for (size_t t = 0; t < COUNT; t++) {
			size_t at = k * COUNT + t;

			snprintf(names[at], sizeof(names[at]), "%s %s", kinds[k].name,
				 tests[t].name);
			all[at] = (struct CMUnitTest){names[at], tests[t].run, set_up, tear_down,
						      (void *)(uintptr_t)&kinds[k]};
		}
	}
	return cmocka_run_group_tests_name("store_contract", all, NULL, NULL);
}
