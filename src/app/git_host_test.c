/* SPDX-License-Identifier: MIT
 *
 * The commit of the current folder: of an ordinary work tree, of hostile ones, and without memory. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/git_host.h"
#include "base/failing_testing.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static char top[64];

static void
put(const char *path, const char *text, size_t times)
{
	char whole[200];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s", path);
	for (char *at = whole; (at = strchr(at, '/')) != NULL; *at++ = '/') {
		*at = '\0';
		(void)mkdir(whole, 0700);
	}
	file = fopen(path, "wb");
	assert_non_null(file);
	for (size_t i = 0; i < times; i++)
		assert_int_equal(fputs(text, file) >= 0, true);
	assert_int_equal(fclose(file), 0);
}

static int
enter(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/retake-git-XXXXXX");
	return mkdtemp(top) == NULL || chdir(top) != 0;
}

static int
leave(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return chdir("/") != 0 || system(command) != 0;
}

static const char *
commit_now(void)
{
	static rt_git git;

	git = (rt_git){0};
	return rt_git_commit(&git);
}

static void
test_ordinary(void **state)
{
	(void)state;
	assert_null(commit_now());
	put(".git/HEAD", "ref: refs/heads/main\n", 1);
	assert_null(commit_now()); /* no commit yet */
	put(".git/packed-refs", "# pack-refs with: peeled\n" COMMIT " refs/heads/main\n", 1);
	assert_string_equal(commit_now(), COMMIT);
	put("linked/.git", "gitdir: ../.git/worktrees/linked\n", 1);
	put(".git/worktrees/linked/HEAD", "ref: refs/heads/main\n", 1);
	put(".git/worktrees/linked/commondir", "../..\n", 1);
	assert_int_equal(chdir("linked"), 0);
	assert_string_equal(commit_now(), COMMIT);
}

static void
test_hostile(void **state)
{
	(void)state;
	put("secret", COMMIT "\n", 1);
	put(".git/HEAD", "ref: refs/../../secret\n", 1);
	assert_null(commit_now());
	put(".git/HEAD", "ref: secret\n", 1);
	assert_null(commit_now());
	put(".git/HEAD", "ref: refs/heads/loop\n", 1);
	put(".git/refs/heads/loop", "ref: refs/heads/loop\n", 1);
	assert_null(commit_now());
	put(".git/HEAD", "ref: refs/heads/x\x1b[31m\n", 1);
	put(".git/refs/heads/x\x1b[31m", COMMIT "; rm -rf /\n", 1);
	assert_null(commit_now());
	put(".git/HEAD", "0123456789abcdef", 1 << 19); /* 8 MiB */
	assert_null(commit_now());
	put(".git/commondir", "../", 100000);
	put(".git/HEAD", "ref: refs/heads/loop\n", 1);
	assert_null(commit_now());
	assert_int_equal(unlink(".git/HEAD"), 0);
	assert_int_equal(mkfifo(".git/HEAD", 0600), 0);
	assert_null(commit_now()); /* it does not wait for a writer */
	put("a/.git", "gitdir: ../b/.git\n", 1);
	put("b/.git", "gitdir: ../a/.git\n", 1);
	assert_int_equal(chdir("a"), 0);
	assert_null(commit_now());
	put(".git", "gitdir: /dev\n", 1);
	assert_null(commit_now());
	put(".git", "gitdir: ", 100000);
	assert_null(commit_now());
	assert_int_equal(truncate(".git", 1 << 20), 0);
	assert_null(commit_now());
}

/* A result without memory is not kept for the next call. */
static void
test_torture(void **state)
{
	bool has_failed = true;

	(void)state;
	put("deep/er/file", "", 1);
	put(".git/HEAD", "ref: refs/heads/main\n", 1);
	put(".git/packed-refs", COMMIT " refs/heads/main\n", 1);
	assert_int_equal(chdir("deep/er"), 0);
	for (long n = 0; has_failed; n++) {
		failing f = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &f};
		static rt_git git;
		const char *commit;

		git = (rt_git){.alloc = &alloc};
		commit = rt_git_commit(&git);
		has_failed = atomic_load(&f.failed);
		if (has_failed)
			assert_null(commit);
		assert_int_equal(atomic_load(&f.live), 0);
		atomic_store(&f.left, -1);
		commit = rt_git_commit(&git);
		assert_non_null(commit);
		assert_string_equal(commit, COMMIT);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ordinary, enter, leave),
		cmocka_unit_test_setup_teardown(test_hostile, enter, leave),
		cmocka_unit_test_setup_teardown(test_torture, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
