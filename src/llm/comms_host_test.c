/* SPDX-License-Identifier: MIT
 *
 * Purging the log of requests: also torn lines, and when memory runs out. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/failing_testing.h"
#include "llm/comms_host.h"
#include "llm/system_host.h"

#define SECRET "the launch code is 4711-alpha, and so on, and so on, and so on, and so on"

static char top[64], path[160];

static int64_t
now_us(void *ctx)
{
	(void)ctx;
	return 1000000;
}

static void
put(const char *text)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fputs(text, file) >= 0, 1);
	assert_int_equal(fclose(file), 0);
}

/* Does the file contain a text? */
static bool
has(const char *text)
{
	rt_buf bytes;

	rt_buf_init(&bytes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_file_read(path, 0, 1 << 20, &bytes, NULL), RT_OK);
	bool found = rt_str_find(rt_buf_str(&bytes), rt_str_of(text), 0) != SIZE_MAX;

	rt_buf_deinit(&bytes);
	return found;
}

static const rt_comms_whose whose = {RT_STR_INIT("/s.db"), 7};

static const char lines[] =
	"{\"v\":1,\"request\":\"r/1\",\"store\":\"/s.db\",\"project\":7,\"hash\":\"aabbccddeeff0011\","
	"\"texts\":{\"00112233445566778899aabbccddeeff\":\"" SECRET "\"},"
	"\"body\":{\"text\":{\"$t\":\"00112233445566778899aabbccddeeff\"}}}\n"
	"{\"v\":1,\"request\":\"r/1\",\"what\":\"reply\",\"text\":\"4711-alpha\"}\n"
	"{\"v\":1,\"request\":\"r/2\",\"store\":\"/s.db\",\"project\":8,\"text\":\"kept 4711-beta\"}\n";

/* A line cut off by a crash may contain the text as well. */
static void
torn_lines_are_purged(void **state)
{
	static const char *const torn[] = {
		"{\"v\":1,\"request\":\"r/3\",\"texts\":{\"00\":\"the code 4711-alpha and\n",
		"{\"v\":1,\"request\":\"r/3\",\"texts\":{\"00\":\"the code 4711-alpha and"};
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		put(torn[i]);
		assert_int_equal(rt_comms_purge(rt_alloc_libc(), rt_str_of(top), &whose,
						RT_STR("4711-alpha"), &count, NULL), RT_OK);
		assert_int_equal(count, 1);
		assert_false(has("4711"));
		assert_true(has("the code [purged] and"));
	}
}

/* A file that an interrupted purge left is removed, and a purge that fails leaves none. */
static void
unfinished_files_are_removed(void **state)
{
	const struct rlimit small = {sizeof(lines) / 2, RLIM_INFINITY};
	struct rlimit old;
	char fresh[sizeof(path) + 4];
	size_t count = 0;
	rt_status st;

	(void)state;
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	put(lines);
	assert_int_equal(link(path, fresh), 0);
	assert_int_equal(unlink(path), 0);
	put("{\"v\":1}\n");
	assert_int_equal(rt_comms_purge(rt_alloc_libc(), rt_str_of(top), &whose,
					RT_STR("4711-alpha"), &count, NULL), RT_OK);
	assert_int_equal(count, 0);
	assert_int_equal(access(fresh, F_OK), -1);

	put(lines);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	st = rt_comms_purge(rt_alloc_libc(), rt_str_of(top), &whose, RT_STR("4711-alpha"), &count,
			    NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(st, RT_IO);
	assert_int_equal(access(fresh, F_OK), -1);
	assert_true(has(SECRET));
}

/* While a purge waits for the lock another one replaces the file: the bytes of the new file are
 * removed from the disk, too. */
static void
purges_at_the_same_time(void **state)
{
	char fresh[sizeof(path) + 5], byte = 'x';
	int old, now, status;
	size_t count = 0;
	pid_t child;

	(void)state;
	put(lines);
	old = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(old, LOCK_EX), 0);
	child = fork();
	if (child == 0) {
		(void)close(old); /* the lock stays with the parent's descriptor */
		_exit(rt_comms_purge(rt_alloc_libc(), rt_str_of(top), &whose, RT_STR("4711-alpha"),
				     &count, NULL) != RT_OK ||
		      count != 2);
	}
	(void)usleep(100000);
	snprintf(fresh, sizeof(fresh), "%s.next", path);
	assert_int_equal(rename(path, fresh), 0);
	put(lines);
	now = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(unlink(fresh), 0);
	(void)close(old);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_false(has("4711-alpha"));
	assert_int_equal(pread(now, &byte, 1, 0), 1);
	assert_int_equal(byte, 0);
	(void)close(now);
}

/* One allocation fails; those after it do not. */
static void *
once_resize(void *ctx, void *ptr, size_t size)
{
	void *got = failing_resize(ctx, ptr, size);

	if (got == NULL)
		atomic_store(&((failing *)ctx)->left, -1);
	return got;
}

/* Each allocation fails in turn, alone: the text is gone, or the call fails. */
static void
memory_may_fail_anywhere(void **state)
{
	long n;

	(void)state;
	for (n = 0;; n++) {
		failing f = {.left = n};
		rt_alloc alloc = {once_resize, failing_release, &f};
		size_t count = 0;
		rt_status st;

		put(lines);
		st = rt_comms_purge(&alloc, rt_str_of(top), &whose, RT_STR("4711-alpha"), &count,
				    NULL);
		assert_int_equal(atomic_load(&f.live), 0);
		assert_true(has("kept 4711-beta"));
		assert_int_equal(st, atomic_load(&f.failed) ? RT_NOMEM : RT_OK);
		assert_int_equal(has("4711-alpha"), st != RT_OK);
		if (st == RT_OK)
			break;
	}
	assert_in_range(n, 10, 100000);
}

static bool
read_body(void *ctx, const rt_comms_line *line)
{
	const char *sent = "{\"a\":\"" SECRET "\",\"b\":\"" SECRET "\"}";
	size_t *count = ctx;
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_status st = rt_comms_body(rt_alloc_libc(), line, &out, NULL);
	assert_true(st == RT_NOT_FOUND || (st == RT_OK && rt_str_is(rt_buf_str(&out), sent)));
	*count += st == RT_OK;
	snprintf(path, sizeof(path), "%s", line->path);
	rt_buf_deinit(&out);
	return true;
}

static bool
count_lost(void *ctx, const rt_comms_line *line)
{
	size_t *count = ctx;

	assert_true(rt_comms_has_body(line->line) != rt_comms_body_is_lost(line->line));
	*count += rt_comms_body_is_lost(line->line);
	return true;
}

/* Requests are logged while memory runs out: every readable one equals the sent one. */
static void
logged_bodies_are_whole(void **state)
{
	const rt_env env = {.now_us = now_us};
	const rt_comms_item item = {.store = RT_STR("/s.db"),
				    .project = 7,
				    .line = RT_STR("{\"v\":1,\"request\":\"r/1\"}"),
				    .body = RT_STR("{\"a\":\"" SECRET "\",\"b\":\"" SECRET "\"}")};
	size_t count = 0, lost = 0;
	long n;

	(void)state;
	for (n = 0; count < 2; n++) {
		failing f = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &f};
		rt_comms *comms = NULL;

		(void)unlink(path);
		if (rt_comms_open(&alloc, &env, rt_str_of(top), true, &comms, NULL) == RT_OK) {
			rt_comms_add(comms, &item);
			atomic_store(&f.left, -1);
			rt_comms_add(comms, &item);
		}
		rt_comms_close(comms);
		assert_int_equal(atomic_load(&f.live), 0);
		count = 0;
		assert_int_equal(rt_comms_read(rt_alloc_libc(), rt_str_of(top), read_body, &count,
					       NULL), RT_OK);
		assert_true(n == 0 || count >= 1);
		assert_true(count == 2 || atomic_load(&f.failed));
		/* every line has its body, or says that it is lost */
		assert_int_equal(rt_comms_read(rt_alloc_libc(), rt_str_of(top), count_lost, &lost,
					       NULL), RT_OK);
	}
	assert_true(lost > 0);
	assert_in_range(n, 5, 100000);
}

static int
begin(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/comms-test-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/comms/20261122T054412Z-0123456789abcdef.jsonl", top);
	assert_true(rt_folders_make(path));
	return 0;
}

static int
end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torn_lines_are_purged),
		cmocka_unit_test(unfinished_files_are_removed),
		cmocka_unit_test(purges_at_the_same_time),
		cmocka_unit_test(memory_may_fail_anywhere),
		cmocka_unit_test(logged_bodies_are_whole),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
