/* SPDX-License-Identifier: MIT
 *
 * The record of hooks: a line for each event, private, of limited size. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/folder_testing.h"
#include "hooks/record_host.h"

static int64_t
now(void *ctx)
{
	(void)ctx;
	return 1700000000123000;
}

static void
chance(void *ctx, void *to, size_t size)
{
	(void)ctx;
	memset(to, 0, size);
}

static const rt_env env = {now, chance, NULL};

typedef struct place {
	char base[64];   /* removed in the end */
	char folder[96]; /* of the state; not there yet */
	char file[128];
	rt_hook_answer answer;
} place;

static int
set_up(void **state)
{
	place *p = test_calloc(1, sizeof(*p));

	assert_true(test_folder(p->base, sizeof(p->base), "retake-record"));
	snprintf(p->folder, sizeof(p->folder), "%s/state/retake", p->base);
	snprintf(p->file, sizeof(p->file), "%s/hooks.jsonl", p->folder);
	rt_hook_answer_init(&p->answer, rt_alloc_libc());
	*state = p;
	return 0;
}

static int
tear_down(void **state)
{
	static const char *const names[] = {"state/retake/hooks.jsonl", "state/retake/hooks.jsonl.old",
					    "else"};
	place *p = *state;
	char path[160];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->base, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(p->folder);
	snprintf(path, sizeof(path), "%s/state", p->base);
	(void)rmdir(path);
	assert_int_equal(rmdir(p->base), 0);
	rt_hook_answer_deinit(&p->answer);
	test_free(p);
	return 0;
}

static rt_status
record(place *p)
{
	rt_error err;

	return rt_record_hooks(rt_alloc_libc(), &env, p->folder, "entry.before_add", "0123456789abcdef",
			       &p->answer, &err);
}

static void
is_file(const char *path, const char *text)
{
	char got[1024] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(got, text);
}

#define LINE                                                                                    \
	"{\"v\":1,\"at\":\"2023-11-14T22:13:20.123Z\",\"event\":\"entry.before_add\",\"id\":"   \
	"\"0123456789abcdef\",\"decision\":\"deny\",\"by\":\"10-a\",\"runs\":[{\"hook\":\"10-a\"}]}\n"

static void
a_line_an_event(void **state)
{
	place *p = *state;
	struct stat info;

	/* nothing was run */
	assert_int_equal(record(p), RT_OK);
	assert_int_not_equal(stat(p->folder, &info), 0);
	p->answer.decision = RT_HOOK_DENY;
	rt_buf_add_c(&p->answer.by, "10-a");
	rt_buf_add_c(&p->answer.reason, "not in it");
	rt_buf_add_c(&p->answer.runs, "[{\"hook\":\"10-a\"}]");
	assert_int_equal(record(p), RT_OK);
	assert_int_equal(record(p), RT_OK);
	is_file(p->file, LINE LINE);
	assert_int_equal(stat(p->file, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(stat(p->folder, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
	/* full: a new file begins, and the old one is kept */
	assert_int_equal(truncate(p->file, RT_RECORD_SIZE_MAX), 0);
	assert_int_equal(record(p), RT_OK);
	is_file(p->file, LINE);
	{
		char old[160];

		snprintf(old, sizeof(old), "%s.old", p->file);
		assert_int_equal(stat(old, &info), 0);
		assert_int_equal(info.st_size, RT_RECORD_SIZE_MAX);
	}
}

static void
not_through_a_link(void **state)
{
	place *p = *state;
	struct stat info;
	char target[80];

	rt_buf_add_c(&p->answer.runs, "[{\"hook\":\"10-a\"}]");
	assert_int_equal(record(p), RT_OK);
	snprintf(target, sizeof(target), "%s/else", p->base);
	assert_int_equal(unlink(p->file), 0);
	assert_int_equal(symlink(target, p->file), 0);
	assert_int_equal(record(p), RT_REFUSED);
	assert_int_not_equal(stat(target, &info), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_an_event, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_through_a_link, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
