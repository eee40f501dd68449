/* SPDX-License-Identifier: MIT
 *
 * Codes, cookies and the token's file. */
#define _GNU_SOURCE

#include "log/engine_testing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "server/browser.h"
#include "store/store_memory.h"

static int64_t clock_us = 1700000000000000;

static int64_t
moving_now(void *ctx)
{
	(void)ctx;
	return clock_us;
}

typedef struct world {
	rt_env env;
	uint64_t random;
	rt_store *store;
	rt_open_project home;
	rt_browsers *browsers;
} world;

static int
set_up(void **state)
{
	world *w = calloc(1, sizeof(*w));
	rt_engine_options options = {.create = true};
	rt_error err;

	assert_non_null(w);
	clock_us = 1700000000000000;
	w->random = 7;
	w->env = (rt_env){moving_now, env_random, &w->random};
	options.env = &w->env;
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &w->env, &w->store, &err), RT_OK);
	assert_int_equal(rt_engine_open(&options, w->store, &w->home.engine, &err), RT_OK);
	assert_int_equal(rt_browsers_open(rt_alloc_libc(), &w->env, &w->home, true, &w->browsers,
					  &err),
			 RT_OK);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	world *w = *state;

	rt_browsers_close(w->browsers);
	rt_engine_close(w->home.engine);
	w->store->ops->close(w->store);
	free(w);
	return 0;
}

static void
again(world *w, bool isolate)
{
	rt_error err;

	rt_browsers_close(w->browsers);
	assert_int_equal(rt_browsers_open(rt_alloc_libc(), &w->env, &w->home, isolate, &w->browsers,
					  &err),
			 RT_OK);
}

static void
let_in(world *w, char cookie[RT_TOKEN_ROOM])
{
	char code[RT_CODE_ROOM];
	rt_error err;

	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(NULL, 0), code, NULL, NULL), RT_OK);
	assert_int_equal(strlen(code), RT_CODE_ROOM - 1);
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err), RT_OK);
	assert_int_equal(strlen(cookie), RT_TOKEN_SIZE);
}

static void
a_code_works_once(void **state)
{
	world *w = *state;
	char code[RT_CODE_ROOM], cookie[RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM], project[RT_BROWSER_PROJECT_ROOM];
	rt_error err;

	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(NULL, 0), code, NULL, NULL), RT_OK);
	assert_int_equal(rt_browsers_enter(w->browsers, RT_STR("0123456789abcdef"), cookie, &err),
			 RT_CREDENTIALS);
	assert_int_equal(rt_browsers_enter(w->browsers, RT_STR(""), cookie, &err), RT_CREDENTIALS);
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_at(code, 15), cookie, &err),
			 RT_CREDENTIALS);
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err), RT_OK);
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err),
			 RT_CREDENTIALS);
}

static void
a_code_expires(void **state)
{
	world *w = *state;
	char code[RT_CODE_ROOM], cookie[RT_TOKEN_ROOM];
	rt_error err;

	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(NULL, 0), code, NULL, NULL), RT_OK);
	clock_us += (int64_t)RT_CODE_S * 1000000 + 1;
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err),
			 RT_CREDENTIALS);
	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(NULL, 0), code, NULL, NULL), RT_OK);
	clock_us += (int64_t)RT_CODE_S * 1000000;
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err), RT_OK);
}

static void
an_empty_code_is_none(void **state)
{
	world *w = *state;
	char cookie[RT_TOKEN_ROOM], zeros[RT_CODE_ROOM] = "";
	rt_error err;

	/* Slots without a code do not accept one. */
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_at(zeros, RT_CODE_ROOM - 1), cookie,
					   &err),
			 RT_CREDENTIALS);
}

static void
old_codes_make_room(void **state)
{
	world *w = *state;
	char first[RT_CODE_ROOM], code[RT_CODE_ROOM], cookie[RT_TOKEN_ROOM];
	char second[RT_CODE_ROOM] = "", third[RT_CODE_ROOM] = "";
	bool replaced;
	rt_error err;
	int i;

	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(NULL, 0), first, &replaced, NULL),
			 RT_OK);
	for (i = 0; i < RT_CODES_MAX + 1; i++) {
		assert_false(replaced);
		assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(NULL, 0), code, &replaced, NULL),
				 RT_OK);
		if (i <= 1)
			memcpy(i == 0 ? second : third, code, RT_CODE_ROOM);
		if (i >= RT_CODES_MAX - 1) { /* the oldest code was dropped */
			assert_true(replaced);
			replaced = false;
		}
	}
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(first), cookie, &err),
			 RT_CREDENTIALS);
	assert_non_null(strstr(err.text, "has expired or has been replaced; create a new one: retake serve --login"));
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(second), cookie, &err),
			 RT_CREDENTIALS);
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(third), cookie, &err), RT_OK);
	/* Expired ones make room first. */
	clock_us += (int64_t)RT_CODE_S * 1000000 + 1;
	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(NULL, 0), code, &replaced, NULL),
			 RT_OK);
	assert_false(replaced);
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err), RT_OK);
}

static void
each_has_a_project(void **state)
{
	world *w = *state;
	char cookies[20][RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM], projects[20][RT_BROWSER_PROJECT_ROOM], project[RT_BROWSER_PROJECT_ROOM];
	int i, k;

	for (i = 0; i < 20; i++) {
		let_in(w, cookies[i]);
		assert_true(rt_browsers_find(w->browsers, rt_str_of(cookies[i]), hash, projects[i], NULL));
		assert_string_not_equal(hash, cookies[i]);
		for (k = 0; k < i; k++) {
			assert_string_not_equal(projects[i], projects[k]);
			assert_string_not_equal(cookies[i], cookies[k]);
		}
	}
	/* The same after a restart of the server. */
	again(w, true);
	for (i = 0; i < 20; i++) {
		assert_true(rt_browsers_find(w->browsers, rt_str_of(cookies[i]), hash, project, NULL));
		assert_string_equal(project, projects[i]);
	}
	/* Without isolation none is confined. */
	again(w, false);
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookies[3]), hash, project, NULL));
	assert_string_equal(project, "");
	cookies[3][5] = (char)(cookies[3][5] == 'a' ? 'b' : 'a');
	assert_false(rt_browsers_find(w->browsers, rt_str_of(cookies[3]), hash, project, NULL));
	assert_false(rt_browsers_find(w->browsers, RT_STR(""), hash, project, NULL));
}

static void
isolation_gives_a_known_browser_its_own(void **state)
{
	world *w = *state;
	char cookie[RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM], project[RT_BROWSER_PROJECT_ROOM], later[RT_BROWSER_PROJECT_ROOM];

	again(w, false);
	let_in(w, cookie);
	again(w, true);
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	assert_int_not_equal(project[0], '\0');
	again(w, true);
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, later, NULL));
	assert_string_equal(later, project);
}

static void
a_code_may_be_for_a_project(void **state)
{
	world *w = *state;
	char code[RT_CODE_ROOM], cookie[RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM];
	char project[RT_BROWSER_PROJECT_ROOM], name[RT_BROWSER_PROJECT_ROOM + 1];
	rt_error err;
	int isolate;

	assert_int_equal(rt_browsers_code(w->browsers, 0, RT_STR("my \"notes\""), code, NULL, &err), RT_OK);
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err), RT_OK);
	for (isolate = 0; isolate < 2; isolate++) {
		again(w, isolate != 0);
		assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
		assert_string_equal(project, "my \"notes\"");
	}
	memset(name, 'n', sizeof(name));
	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(name, RT_BROWSER_PROJECT_ROOM), code,
					  NULL, &err),
			 RT_LIMIT);
	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(name, RT_BROWSER_PROJECT_ROOM - 1),
					  code, NULL, &err),
			 RT_OK);
}

static void
leaving_is_for_good(void **state)
{
	world *w = *state;
	char cookie[RT_TOKEN_ROOM], other[RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM], project[RT_BROWSER_PROJECT_ROOM];
	rt_error err;

	let_in(w, cookie);
	let_in(w, other);
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	assert_true(rt_browsers_is_in(w->browsers, rt_str_of(hash)));
	assert_int_equal(rt_browsers_leave(w->browsers, rt_str_of(hash), &err), RT_OK);
	assert_false(rt_browsers_is_in(w->browsers, rt_str_of(hash)));
	assert_false(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	again(w, true);
	assert_false(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	assert_true(rt_browsers_find(w->browsers, rt_str_of(other), hash, project, NULL));
}

static rt_status
full(rt_store *store, rt_rows row, rt_str data, rt_error *err)
{
	(void)store;
	(void)row;
	(void)data;
	return rt_fail(err, RT_FULL, "the disk is full");
}

/* A browser that signs out in a separate thread. */
typedef struct departure {
	world *w;
	const rt_store_ops *ops;
	char hash[RT_BROWSER_ROOM];
	pthread_t thread;
	bool is_begun;
	_Atomic bool is_done;
} departure;

static departure leaving;

static void *
leave_in_thread(void *ctx)
{
	departure *d = ctx;

	assert_int_equal(rt_browsers_leave(d->w->browsers, rt_str_of(d->hash), NULL), RT_OK);
	d->is_done = true;
	return NULL;
}

/* Reads the rows; the browser signs out before they are used, unless it must wait. */
static rt_status
read_then_leave(rt_store *store, rt_rows rows, rt_store_row_fn visit, void *ctx, rt_error *err)
{
	rt_status st = leaving.ops->read(store, rows, visit, ctx, err);

	if (leaving.is_begun)
		return st;
	leaving.is_begun = true;
	assert_int_equal(pthread_create(&leaving.thread, NULL, leave_in_thread, &leaving), 0);
	for (int i = 0; i < 100 && !leaving.is_done; i++)
		usleep(1000);
	return st;
}

static void
leaving_during_a_refresh(void **state)
{
	world *w = *state;
	rt_store_ops slow = *w->store->ops;
	char cookie[RT_TOKEN_ROOM], project[RT_BROWSER_PROJECT_ROOM];
	rt_error err;

	let_in(w, cookie);
	leaving = (departure){.w = w, .ops = w->store->ops};
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), leaving.hash, project, NULL));
	slow.read = read_then_leave;
	w->store->ops = &slow;
	assert_int_equal(rt_browsers_refresh(w->browsers, INT64_MAX, &err), RT_OK);
	assert_true(leaving.is_begun);
	assert_int_equal(pthread_join(leaving.thread, NULL), 0);
	w->store->ops = leaving.ops;
	assert_false(rt_browsers_is_in(w->browsers, rt_str_of(leaving.hash)));
}

/* A browser that could not be logged out gets an error, and can try again. */
static void
leaving_may_fail(void **state)
{
	world *w = *state;
	const rt_store_ops *ops = w->store->ops;
	rt_store_ops broken = *ops;
	char cookie[RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM], project[RT_BROWSER_PROJECT_ROOM];
	rt_error err;

	let_in(w, cookie);
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	broken.write = full;
	w->store->ops = &broken;
	assert_int_equal(rt_browsers_leave(w->browsers, rt_str_of(hash), &err), RT_FULL);
	w->store->ops = ops;
	assert_true(rt_browsers_is_in(w->browsers, rt_str_of(hash)));
	assert_int_equal(rt_browsers_leave(w->browsers, rt_str_of(hash), &err), RT_OK);
	assert_false(rt_browsers_is_in(w->browsers, rt_str_of(hash)));
	again(w, true);
	assert_false(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
}

static void
it_is_forgotten_after_90_days(void **state)
{
	static const int64_t day = (int64_t)86400 * 1000000;
	world *w = *state;
	char cookie[RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM], project[RT_BROWSER_PROJECT_ROOM];

	let_in(w, cookie);
	clock_us += 89 * day;
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	rt_browsers_tend(w->browsers);
	again(w, true); /* the time of its last visit is kept */
	clock_us += 89 * day;
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	clock_us += 91 * day;
	assert_false(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
}

static bool
count_row(void *ctx, const rt_store_row *row)
{
	*(size_t *)ctx += rt_str_starts(row->name, RT_STR("browser/"));
	return true;
}

/* Rows of browsers in the store. */
static size_t
stored(world *w)
{
	size_t count = 0;
	rt_error err;

	assert_int_equal(w->store->ops->read(w->store,
					     rt_rows_all(RT_STORE_SIDE,
							 rt_engine_project_number(w->home.engine)),
					     count_row, &count, &err),
			 RT_OK);
	return count;
}

/* Browsers that have expired free their places and rows, also after a restart. */
static void
expired_browsers_make_room(void **state)
{
	static const int64_t day = (int64_t)86400 * 1000000;
	world *w = *state;
	char cookie[RT_TOKEN_ROOM], code[RT_CODE_ROOM];
	rt_error err;

	for (int i = 0; i < RT_BROWSERS_MAX; i++)
		let_in(w, cookie);
	assert_int_equal(rt_browsers_code(w->browsers, 0, rt_str_at(NULL, 0), code, NULL, NULL), RT_OK);
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err), RT_LIMIT);
	clock_us += 91 * day;
	again(w, true);
	assert_int_equal(stored(w), RT_BROWSERS_MAX);
	rt_browsers_tend(w->browsers);
	assert_int_equal(stored(w), 0);
	let_in(w, cookie);
	clock_us += 91 * day;
	rt_browsers_tend(w->browsers);
	assert_int_equal(stored(w), 0);
}

/* A sign-in that fails for another reason than its code leaves the code valid. */
static void
signing_in_may_fail(void **state)
{
	world *w = *state;
	const rt_store_ops *ops = w->store->ops;
	rt_store_ops broken = *ops;
	char code[RT_CODE_ROOM], cookie[RT_TOKEN_ROOM], hash[RT_BROWSER_ROOM];
	char project[RT_BROWSER_PROJECT_ROOM];
	rt_error err;

	assert_int_equal(rt_browsers_code(w->browsers, 0, RT_STR("notes"), code, NULL, NULL), RT_OK);
	broken.write = full;
	w->store->ops = &broken;
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err), RT_FULL);
	w->store->ops = ops;
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err), RT_OK);
	assert_true(rt_browsers_find(w->browsers, rt_str_of(cookie), hash, project, NULL));
	assert_string_equal(project, "notes");
	assert_int_equal(rt_browsers_enter(w->browsers, rt_str_of(code), cookie, &err),
			 RT_CREDENTIALS);
}

static void
odd_rows_are_not_browsers(void **state)
{
	static const char name[] =
		"browser/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	static const char *const values[] = {
		"", "x", "{}", "[]", "{\"v\":1,\"project\":\"a\\u0000b\",\"made\":1,\"seen\":1}",
		"{\"v\":1,\"project\":7,\"made\":1,\"seen\":1}",
		"{\"v\":1,\"project\":\"browser-a\",\"made\":\"x\",\"seen\":1}"};
	world *w = *state;
	rt_error err;
	size_t i;

	for (i = 1; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_int_equal(
			w->store->ops->write(w->store,
					     rt_rows_named(RT_STORE_SIDE,
							   rt_engine_project_number(w->home.engine),
							   rt_str_of(name)),
					     rt_str_of(values[i]), &err),
			RT_OK);
		again(w, true);
		assert_false(rt_browsers_is_in(w->browsers, rt_str_at(name + 8, 64)));
	}
}

/* ---- the token ---- */

static void
the_token_stays(void **state)
{
	char folder[512], inner[600], path[700], one[RT_TOKEN_ROOM], two[RT_TOKEN_ROOM];
	struct stat info;
	rt_error err;

	(void)state;
	assert_true(test_folder(folder, sizeof(folder), "token"));
	(void)snprintf(inner, sizeof(inner), "%s/a/b", folder);
	(void)snprintf(path, sizeof(path), "%s/token", inner);
	(void)umask(0);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, false, one, &err), RT_OK);
	assert_int_equal(strspn(one, "0123456789abcdef"), RT_TOKEN_SIZE);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(stat(inner, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, false, two, &err), RT_OK);
	assert_string_equal(one, two);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, true, two, &err), RT_OK);
	assert_string_not_equal(one, two);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, false, one, &err), RT_OK);
	assert_string_equal(one, two);
	/* a file that others can read is not a secret */
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, false, one, &err), RT_REFUSED);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(truncate(path, 10), 0);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, false, one, &err), RT_REFUSED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, false, one, &err), RT_REFUSED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, false, one, &err), RT_REFUSED);
	assert_int_equal(rmdir(path), 0);
	/* nor is one that others can write */
	assert_int_equal(chmod(inner, 0777), 0);
	assert_int_equal(rt_token_load(rt_alloc_libc(), &env, inner, false, one, &err), RT_REFUSED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_code_works_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_code_expires, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_code_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(old_codes_make_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_has_a_project, set_up, tear_down),
		cmocka_unit_test_setup_teardown(isolation_gives_a_known_browser_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_code_may_be_for_a_project, set_up, tear_down),
		cmocka_unit_test_setup_teardown(leaving_is_for_good, set_up, tear_down),
		cmocka_unit_test_setup_teardown(leaving_during_a_refresh, set_up, tear_down),
		cmocka_unit_test_setup_teardown(leaving_may_fail, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_is_forgotten_after_90_days, set_up, tear_down),
		cmocka_unit_test_setup_teardown(expired_browsers_make_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(signing_in_may_fail, set_up, tear_down),
		cmocka_unit_test_setup_teardown(odd_rows_are_not_browsers, set_up, tear_down),
		cmocka_unit_test(the_token_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
