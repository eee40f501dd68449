/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of the SQLite store: a folder per test, files as bytes, and a store with
 * something in every table. */
#ifndef RT_STORE_SQLITE_TESTING_H
#define RT_STORE_SQLITE_TESTING_H

#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "store/store_sqlite_impl.h"

enum { PROJECT = 1, ROWS = 40 };

typedef struct fixture {
	char folder[64];
	char path[128];
} fixture;

static inline void
env_random(void *ctx, void *to, size_t size)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	(void)ctx;
	assert_true(fd >= 0);
	assert_int_equal(read(fd, to, size), size);
	close(fd);
}

static inline int64_t
env_now(void *ctx)
{
	(void)ctx;
	return 1700000000000000;
}

static const rt_env env = {env_now, env_random, NULL};

static inline rt_status
open_as(const char *path, rt_store_sqlite_options options, rt_store **out, rt_error *err)
{
	if (options.busy_ms == 0)
		options.busy_ms = 10000;
	return rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, out, err);
}

#define CREATE ((rt_store_sqlite_options){.create = true})
#define WRITE ((rt_store_sqlite_options){.create = false})
#define READ ((rt_store_sqlite_options){.read_only = true})

#define MUST(call) \
	do { \
		rt_error err_ = {0}; \
		rt_error *err = &err_; \
		rt_status st_ = (call); \
		if (st_ != RT_OK) { \
			print_message("%s, line %d: %s: %s\n", #call, __LINE__, \
				      rt_status_word(st_), err_.text); \
			fail(); \
		} \
	} while (0)

/* Opening must fail with that status and a message, without returning a store. */
static inline void
expect_refused(const char *path, rt_store_sqlite_options options, rt_status status, int line)
{
	rt_store *store = NULL;
	rt_error why = {0};
	rt_status st = open_as(path, options, &store, &why);

	if (st != status)
		print_message("line %d: %s: %s\n", line, rt_status_word(st), why.text);
	assert_int_equal(st, status);
	assert_null(store);
	assert_int_equal(why.status, status);
	assert_true(strlen(why.text) > 10);
	assert_null(strchr(why.text, '\n'));
}
#define REFUSED(path, options, status) expect_refused(path, options, status, __LINE__)

static inline int
set_up(void **state)
{
	fixture *f = calloc(1, sizeof(*f));

	if (!test_folder(f->folder, sizeof(f->folder), "retake-sqlite"))
		return 1;
	snprintf(f->path, sizeof(f->path), "%s/a.retake", f->folder);
	*state = f;
	return 0;
}

static inline int
tear_down(void **state)
{
	fixture *f = *state;
	bool removed = test_folder_remove(f->folder);

	free(f);
	return removed ? 0 : 1;
}

/* --- bytes of files --- */

static unsigned char *
bytes_of(const char *path, size_t *out_size)
{
	FILE *file = fopen(path, "rb");
	struct stat info;
	unsigned char *bytes;

	if (file == NULL)
		return NULL;
	assert_int_equal(fstat(fileno(file), &info), 0);
	bytes = malloc((size_t)info.st_size + 1);
	*out_size = fread(bytes, 1, (size_t)info.st_size, file);
	assert_int_equal(*out_size, info.st_size);
	fclose(file);
	return bytes;
}

static inline void
put_bytes(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static inline void
copy_file(const char *from, const char *to)
{
	size_t size = 0;
	unsigned char *bytes = bytes_of(from, &size);

	if (bytes != NULL)
		put_bytes(to, bytes, size);
	free(bytes);
}

static inline void
expect_bytes(const char *path, const void *bytes, size_t size)
{
	size_t now_size = 0;
	unsigned char *now = bytes_of(path, &now_size);

	assert_non_null(now);
	assert_int_equal(now_size, size);
	assert_memory_equal(now, bytes, size);
	free(now);
}

static inline bool
is_there(const char *path, const char *suffix)
{
	char name[200];

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return access(name, F_OK) == 0;
}

/* --- a store with something of everything --- */

static inline rt_str
body_text(char *room, size_t size, uint64_t n)
{
	int at = snprintf(room, size, "body %llu ", (unsigned long long)n);

	for (; at < (int)(n * 37 % 1500) + 20 && at < (int)size - 1; at++)
		room[at] = (char)('a' + (at * 7 + (int)n) % 26);
	return rt_str_at(room, (size_t)at);
}

static inline void
append(rt_store *store, uint64_t seq)
{
	char text[2048], log[64];
	rt_store_row row = {0};
	rt_store_row body = {
		.number = seq, .entry = seq, .data = body_text(text, sizeof(text), seq)};

	snprintf(log, sizeof(log), "effect %llu", (unsigned long long)seq);
	memcpy(row.step, &seq, sizeof(seq));
	row.at_us = (int64_t)seq;
	row.data = rt_str_of(log);
	MUST(store->ops->begin(store, err));
	MUST(store->ops->append(store, PROJECT, seq - 1, &row, 1, &body, 1, NULL, err));
	MUST(store->ops->commit(store, err));
}

static inline void
fill(const char *path, int rows)
{
	uint64_t project = 0;
	rt_store *s = NULL;

	MUST(open_as(path, CREATE, &s, err));
	MUST(s->ops->begin(s, err));
	MUST(s->ops->project_new(s, RT_STR("first"), &project, err));
	assert_int_equal(project, PROJECT);
	MUST(s->ops->commit(s, err));
	for (int i = 1; i <= rows; i++)
		append(s, (uint64_t)i);
	MUST(s->ops->begin(s, err));
	MUST(s->ops->write(s, rt_rows_one(RT_STORE_NODES, PROJECT, 1), RT_STR("node one"), err));
	MUST(s->ops->write(s, rt_rows_one(RT_STORE_ROOT, PROJECT, (uint64_t)rows), RT_STR("root"),
			   err));
	MUST(s->ops->write(s, rt_rows_named(RT_STORE_SIDE, PROJECT, RT_STR("draft")),
			   RT_STR("unsent"), err));
	MUST(s->ops->index_add(s, PROJECT, 1, 1, RT_STR("quick brown fox"), err));
	MUST(s->ops->commit(s, err));
	s->ops->close(s);
}

static inline bool
first_finding(void *ctx, const char *id, const char *text)
{
	(void)text;
	assert_true(strncmp(id, "store-", 6) == 0);
	++*(int *)ctx;
	return false;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
