/* SPDX-License-Identifier: MIT
 *
 * Programs: which files are programs, deadlines, background programs. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock_host.h"
#include "hooks/hooks_impl.h"

static rt_process_program
shell(const char *script)
{
	static char sh[] = "sh", option[] = "-c", *argv[] = {sh, option, NULL, NULL};
	static char *envp[] = {NULL};

	argv[2] = (char *)(uintptr_t)script; /* execve does not write to it */
	return (rt_process_program){.path = "/bin/sh", .argv = argv, .envp = envp, .fd = -1};
}

static void
a_folder_is_not_a_program(void **state)
{
	char top[64], path[200];
	rt_buf found;
	int fd;

	(void)state;
	snprintf(top, sizeof(top), "/tmp/retake-process-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/tool", top);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(rt_process_is_program(path));
	rt_buf_init(&found, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_process_find("tool", top, &found), RT_NOT_FOUND);
	assert_int_equal(rmdir(path), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(rt_process_find("tool", top, &found), RT_NOT_FOUND);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	assert_int_equal(rt_process_find("tool", top, &found), RT_OK);
	assert_string_equal(found.ptr, path);
	rt_buf_deinit(&found);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(top), 0);
}

static void
a_run_ends(void **state)
{
	static const struct {
		const char *script, *out;
		int64_t timeout_ms;
		rt_process_outcome outcome;
		int code;
	} cases[] = {{"cat; exit 3", "input", 10000, RT_PROCESS_EXITED, 3},
		     {"kill -KILL $$", "", 10000, RT_PROCESS_SIGNALLED, 9},
		     {"exec sleep 60", "", 50, RT_PROCESS_TIMED_OUT, 0},
		     {"trap '' TERM; sleep 60; sleep 60", "", 50, RT_PROCESS_TIMED_OUT, 0}};
	rt_process_result result;
	rt_buf out, err;

	(void)state;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&err, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_process_program program = shell(cases[i].script);

		assert_int_equal(rt_process_run(&program, RT_STR("input"), cases[i].timeout_ms, NULL,
						NULL, &out, &err, &result),
				 RT_OK);
		assert_int_equal(result.outcome, cases[i].outcome);
		if (cases[i].outcome != RT_PROCESS_TIMED_OUT)
			assert_int_equal(result.code, cases[i].code);
		assert_true(rt_str_is(rt_buf_str(&out), cases[i].out));
		assert_true(result.ms < 30000);
	}
	rt_buf_deinit(&out);
	rt_buf_deinit(&err);
}

static void *
reap(void *registry)
{
	rt_hooks_reap(registry, NULL);
	return NULL;
}

/* Ending programs that ignore SIGTERM takes a while each, during which other events continue. */
static void
the_lock_is_free_while_programs_are_ended(void **state)
{
	enum { JOBS = 6 };
	rt_hook_registry *registry = calloc(1, sizeof(*registry));
	rt_process_program program = shell("trap '' TERM; while :; do sleep 1; done");
	int64_t begun, longest = 0, waited;
	rt_process_result result;
	pthread_t thread;

	(void)state;
	assert_non_null(registry);
	assert_int_equal(pthread_mutex_init(&registry->lock, NULL), 0);
	for (size_t i = 0; i < JOBS; i++) {
		rt_process_start_job(&program, RT_STR(""), 1, &registry->jobs[i], &result);
		assert_true(registry->jobs[i].pid > 0);
	}
	(void)usleep(200000); /* the traps are set */
	begun = rt_clock_ms();
	assert_int_equal(pthread_create(&thread, NULL, reap, registry), 0);
	while (rt_clock_ms() - begun < JOBS * RT_PROCESS_GRACE_MS) {
		waited = rt_clock_ms();
		pthread_mutex_lock(&registry->lock);
		pthread_mutex_unlock(&registry->lock);
		waited = rt_clock_ms() - waited;
		longest = waited > longest ? waited : longest;
		(void)usleep(1000);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(rt_clock_ms() - begun >= JOBS * RT_PROCESS_GRACE_MS);
	assert_true(longest < (JOBS - 1) * RT_PROCESS_GRACE_MS);
	for (size_t i = 0; i < JOBS; i++)
		assert_int_equal(registry->jobs[i].pid, 0);
	pthread_mutex_destroy(&registry->lock);
	free(registry);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_not_a_program),
		cmocka_unit_test(a_run_ends),
		cmocka_unit_test(the_lock_is_free_while_programs_are_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
