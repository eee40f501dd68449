/* SPDX-License-Identifier: MIT
 *
 * Limits and counts (accounts/quota.h), with two meters on one store, like two servers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "accounts/quota.h"
#include "accounts/quota_impl.h"
#include "store/store_memory.h"

#define DAY_US ((int64_t)86400 * 1000000)

static int64_t clock_us;

static int64_t
now(void *ctx)
{
	(void)ctx;
	return clock_us;
}

static void
fill_random(void *ctx, void *to, size_t size)
{
	static uint64_t state = 7;
	unsigned char *bytes = to;

	(void)ctx;
	for (size_t i = 0; i < size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (unsigned char)(state >> 40);
	}
}

static const rt_env env = {now, fill_random, NULL};

typedef struct fixture {
	rt_store *store;
	rt_directory *directory;
	rt_quota_meter *one, *two; /* of two servers */
	rt_scope scope;
	rt_accounts a;
	uint64_t ann, bob, crew, thesis;
} fixture;

static void
check(fixture *f)
{
	if (!rt_ok(&f->scope))
		fail_msg("%s", f->scope.error.text);
}

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_error err = {0};

	clock_us = 20000 * DAY_US + DAY_US / 2;
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_directory_open(rt_alloc_libc(), &env, f->store, &f->directory, &err), RT_OK);
	rt_scope_init(&f->scope, rt_alloc_libc());
	f->a = (rt_accounts){.directory = f->directory, .scope = &f->scope, .env = &env, .by = RT_STR("machine"), .from = RT_STR("test")};
	f->ann = rt_accounts_user_new(&f->a, RT_STR("ann"), false, RT_STR(""));
	f->bob = rt_accounts_user_new(&f->a, RT_STR("bob"), false, RT_STR(""));
	rt_accounts_team_set(&f->a, RT_STR("crew"), RT_STR("ann"), true);
	check(f);
	const rt_roster *roster = rt_directory_roster(f->directory);
	f->crew = rt_roster_named(roster, RT_ITEM_TEAM, RT_STR("crew"))->id;
	rt_object_unref(roster);
	f->thesis = 41;
	f->one = rt_quota_meter_new(rt_alloc_libc());
	f->two = rt_quota_meter_new(rt_alloc_libc());
	assert_true(f->one != NULL && f->two != NULL);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_quota_meter_free(f->one);
	rt_quota_meter_free(f->two);
	assert_int_equal(rt_scope_end(&f->scope, NULL), RT_OK);
	rt_directory_close(f->directory);
	f->store->ops->close(f->store);
	test_free(f);
	return 0;
}

static void
limit(fixture *f, rt_quota_subject subject, rt_quota_kind kind, uint64_t number)
{
	rt_accounts_quota_set(&f->a, subject, RT_STR("someone"), &(rt_quota_change){kind, number != UINT64_MAX, number}, 1);
	check(f);
}

static void
add(fixture *f, rt_quota_meter *meter, uint64_t user, uint64_t project, rt_quota_kind kind, uint64_t count)
{
	const rt_roster *roster = rt_directory_roster(f->directory);
	rt_use use = {{0}};

	use.counts[kind] = count;
	rt_quota_add(meter, roster, clock_us, user, project, &use);
	rt_object_unref(roster);
}

/* Would this many more exceed a limit? Then the subject whose limit it is, else all 0. */
static rt_quota_subject
exceeds(fixture *f, rt_quota_meter *meter, uint64_t user, uint64_t project, rt_quota_kind kind, uint64_t count)
{
	const rt_roster *roster = rt_directory_roster(f->directory);
	rt_quota_subject whose = {0};
	rt_quota_excess excess;
	rt_use use = {{0}};

	use.counts[kind] = count;
	bool is_exceeded = rt_quota_is_exceeded(meter, &f->a, roster, user, project, &use, &excess);
	check(f);
	if (is_exceeded) {
		assert_int_equal(excess.kind, kind);
		assert_int_equal(excess.added, count);
		assert_true(excess.use + count > excess.limit);
		whose = (rt_quota_subject){excess.quota->user, excess.quota->team, excess.quota->project};
		if (whose.user + whose.team + whose.project == 0)
			whose.user = UINT64_MAX; /* of each user */
	}
	rt_object_unref(roster);
	return whose;
}

static bool
is_free(rt_quota_subject whose)
{
	return whose.user + whose.team + whose.project == 0;
}

/* The limits of the user, of the user's teams and of the project count, each with its own use. */
static void
every_limit_counts(void **state)
{
	fixture *f = *state;

	assert_true(is_free(exceeds(f, f->one, f->ann, f->thesis, RT_QUOTA_ENTRIES, 1000000)));
	limit(f, (rt_quota_subject){.user = f->ann}, RT_QUOTA_ENTRIES, 10);
	limit(f, (rt_quota_subject){.team = f->crew}, RT_QUOTA_ENTRIES, 8);
	limit(f, (rt_quota_subject){.project = f->thesis}, RT_QUOTA_ENTRIES, 6);
	assert_true(is_free(exceeds(f, f->one, f->ann, f->thesis, RT_QUOTA_ENTRIES, 6)));
	assert_int_equal(exceeds(f, f->one, f->ann, f->thesis, RT_QUOTA_ENTRIES, 7).project, f->thesis);
	assert_int_equal(exceeds(f, f->one, f->ann, 0, RT_QUOTA_ENTRIES, 9).team, f->crew);
	add(f, f->one, f->ann, f->thesis, RT_QUOTA_ENTRIES, 6);
	assert_int_equal(exceeds(f, f->one, f->ann, f->thesis, RT_QUOTA_ENTRIES, 1).project, f->thesis);
	assert_true(is_free(exceeds(f, f->one, f->ann, 0, RT_QUOTA_ENTRIES, 2)));
	assert_int_equal(exceeds(f, f->one, f->ann, 0, RT_QUOTA_ENTRIES, 3).team, f->crew);
	limit(f, (rt_quota_subject){.team = f->crew}, RT_QUOTA_ENTRIES, UINT64_MAX);
	assert_true(is_free(exceeds(f, f->one, f->ann, 0, RT_QUOTA_ENTRIES, 4)));
	assert_int_equal(exceeds(f, f->one, f->ann, 0, RT_QUOTA_ENTRIES, 5).user, f->ann);
	/* Another user, another kind, the project's use by others. */
	assert_true(is_free(exceeds(f, f->one, f->bob, 0, RT_QUOTA_ENTRIES, 100)));
	assert_int_equal(exceeds(f, f->one, f->bob, f->thesis, RT_QUOTA_ENTRIES, 1).project, f->thesis);
	assert_true(is_free(exceeds(f, f->one, f->ann, f->thesis, RT_QUOTA_BYTES, 100)));
	/* Nothing is refused that adds nothing, even beyond the limit. */
	add(f, f->one, f->ann, f->thesis, RT_QUOTA_ENTRIES, 100);
	assert_true(is_free(exceeds(f, f->one, f->ann, f->thesis, RT_QUOTA_ENTRIES, 0)));
}

/* The limit of each user is for users without a limit of the same kind. */
static void
limits_of_each_user(void **state)
{
	fixture *f = *state;

	limit(f, (rt_quota_subject){0}, RT_QUOTA_BYTES, 100);
	limit(f, (rt_quota_subject){.user = f->ann}, RT_QUOTA_BYTES, 1000);
	assert_true(is_free(exceeds(f, f->one, f->ann, 0, RT_QUOTA_BYTES, 1000)));
	assert_int_equal(exceeds(f, f->one, f->bob, 0, RT_QUOTA_BYTES, 101).user, UINT64_MAX);
	add(f, f->one, f->ann, 0, RT_QUOTA_BYTES, 500);
	assert_true(is_free(exceeds(f, f->one, f->bob, 0, RT_QUOTA_BYTES, 100))); /* the use of ann is not that of bob */
	limit(f, (rt_quota_subject){.user = f->ann}, RT_QUOTA_BYTES, UINT64_MAX);
	assert_int_equal(exceeds(f, f->one, f->ann, 0, RT_QUOTA_BYTES, 1).user, UINT64_MAX);
}

/* Requests and tokens are counted from midnight UTC; the other kinds for ever. */
static void
days(void **state)
{
	fixture *f = *state;

	limit(f, (rt_quota_subject){.user = f->ann}, RT_QUOTA_REQUESTS, 10);
	limit(f, (rt_quota_subject){.user = f->ann}, RT_QUOTA_BYTES, 10);
	add(f, f->one, f->ann, 0, RT_QUOTA_REQUESTS, 10);
	add(f, f->one, f->ann, 0, RT_QUOTA_BYTES, 10);
	rt_quota_write(f->one, f->directory, true, &f->scope);
	check(f);
	assert_int_equal(exceeds(f, f->one, f->ann, 0, RT_QUOTA_REQUESTS, 1).user, f->ann);
	clock_us += DAY_US / 2 - 1;
	assert_int_equal(exceeds(f, f->one, f->ann, 0, RT_QUOTA_REQUESTS, 1).user, f->ann);
	clock_us++;
	for (int i = 0; i < 2; i++) {
		rt_quota_meter *meter = i == 0 ? f->one : f->two;

		assert_true(is_free(exceeds(f, meter, f->ann, 0, RT_QUOTA_REQUESTS, 10)));
		assert_int_equal(exceeds(f, meter, f->ann, 0, RT_QUOTA_REQUESTS, 11).user, f->ann);
		assert_int_equal(exceeds(f, meter, f->ann, 0, RT_QUOTA_BYTES, 1).user, f->ann);
	}
	/* Counts of yesterday that another server writes late do not count today. */
	add(f, f->one, f->ann, 0, RT_QUOTA_REQUESTS, 3);
	rt_quota_write(f->one, f->directory, true, &f->scope);
	check(f);
	clock_us += (int64_t)RT_QUOTA_FRESH_MS * 1000;
	assert_int_equal(exceeds(f, f->two, f->ann, 0, RT_QUOTA_REQUESTS, 8).user, f->ann);
	assert_true(is_free(exceeds(f, f->two, f->ann, 0, RT_QUOTA_REQUESTS, 7)));
}

/* The tokens of a run are known afterwards: the next request is refused, and nothing else. */
static void
tokens(void **state)
{
	fixture *f = *state;
	const rt_roster *roster;
	rt_quota_excess excess;
	rt_use use = {{[RT_QUOTA_REQUESTS] = 1}};

	limit(f, (rt_quota_subject){.user = f->ann}, RT_QUOTA_TOKENS, 10);
	add(f, f->one, f->ann, 0, RT_QUOTA_TOKENS, 9);
	roster = rt_directory_roster(f->directory);
	assert_false(rt_quota_is_exceeded(f->one, &f->a, roster, f->ann, 0, &use, &excess));
	add(f, f->one, f->ann, 0, RT_QUOTA_TOKENS, 500);
	assert_true(rt_quota_is_exceeded(f->one, &f->a, roster, f->ann, 0, &use, &excess));
	assert_int_equal(excess.kind, RT_QUOTA_TOKENS);
	assert_int_equal(excess.use, 509);
	rt_object_unref(roster);
	assert_true(is_free(exceeds(f, f->one, f->ann, 0, RT_QUOTA_ENTRIES, 1)));
}

/* A server uses the counts of another one after RT_QUOTA_FRESH_MS, and nothing is lost or counted twice. */
static void
two_servers(void **state)
{
	fixture *f = *state;
	const rt_roster *roster;
	rt_use use;

	limit(f, (rt_quota_subject){.user = f->ann}, RT_QUOTA_ENTRIES, 100);
	assert_true(is_free(exceeds(f, f->two, f->ann, 0, RT_QUOTA_ENTRIES, 100))); /* reads the row */
	add(f, f->one, f->ann, 0, RT_QUOTA_ENTRIES, 60);
	rt_quota_write(f->one, f->directory, true, &f->scope);
	add(f, f->two, f->ann, 0, RT_QUOTA_ENTRIES, 30);
	assert_true(is_free(exceeds(f, f->two, f->ann, 0, RT_QUOTA_ENTRIES, 70))); /* not fresh yet */
	clock_us += (int64_t)RT_QUOTA_FRESH_MS * 1000;
	assert_int_equal(exceeds(f, f->two, f->ann, 0, RT_QUOTA_ENTRIES, 11).user, f->ann);
	assert_true(is_free(exceeds(f, f->two, f->ann, 0, RT_QUOTA_ENTRIES, 10)));
	for (int i = 0; i < 3; i++) { /* again without anything new */
		rt_quota_write(f->two, f->directory, true, &f->scope);
		rt_quota_write(f->one, f->directory, true, &f->scope);
	}
	roster = rt_directory_roster(f->directory);
	rt_use_read(&f->a, roster, (rt_quota_subject){.user = f->ann}, &use);
	assert_int_equal(use.counts[RT_QUOTA_ENTRIES], 90);
	rt_use_read(&f->a, roster, (rt_quota_subject){.team = f->crew}, &use);
	assert_int_equal(use.counts[RT_QUOTA_ENTRIES], 90);
	rt_use_read(&f->a, roster, (rt_quota_subject){.user = f->bob}, &use);
	assert_int_equal(use.counts[RT_QUOTA_ENTRIES], 0);
	rt_object_unref(roster);
	/* Not more often than RT_QUOTA_WRITE_MS. */
	add(f, f->one, f->ann, 0, RT_QUOTA_ENTRIES, 1);
	rt_quota_write(f->one, f->directory, false, &f->scope);
	clock_us += (int64_t)RT_QUOTA_WRITE_MS * 1000;
	rt_quota_write(f->one, f->directory, false, &f->scope);
	check(f);
	roster = rt_directory_roster(f->directory);
	rt_use_read(&f->a, roster, (rt_quota_subject){.user = f->ann}, &use);
	assert_int_equal(use.counts[RT_QUOTA_ENTRIES], 91);
	rt_object_unref(roster);
}

/* Projects are counted now, from the memberships; a removed user leaves neither limits nor counts. */
static void
projects_and_removal(void **state)
{
	fixture *f = *state;
	const rt_roster *roster;
	rt_use use;

	limit(f, (rt_quota_subject){.user = f->ann}, RT_QUOTA_PROJECTS, 2);
	rt_accounts_member_set(&f->a, 5, RT_STR("p5"), RT_STR("ann"), RT_ROLE_OWNER);
	rt_accounts_member_set(&f->a, 6, RT_STR("p6"), RT_STR("ann"), RT_ROLE_EDITOR);
	check(f);
	assert_true(is_free(exceeds(f, f->one, f->ann, 0, RT_QUOTA_PROJECTS, 1)));
	rt_accounts_member_set(&f->a, 6, RT_STR("p6"), RT_STR("ann"), RT_ROLE_OWNER);
	check(f);
	assert_int_equal(exceeds(f, f->one, f->ann, 0, RT_QUOTA_PROJECTS, 1).user, f->ann);
	add(f, f->one, f->ann, 0, RT_QUOTA_BYTES, 7);
	rt_quota_write(f->one, f->directory, true, &f->scope);
	(void)rt_accounts_user_remove(&f->a, RT_STR("ann"));
	check(f);
	roster = rt_directory_roster(f->directory);
	assert_null(rt_roster_quota(roster, (rt_quota_subject){.user = f->ann}));
	rt_use_read(&f->a, roster, (rt_quota_subject){.user = f->ann}, &use);
	assert_int_equal(use.counts[RT_QUOTA_BYTES], 0);
	rt_object_unref(roster);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_limit_counts), TEST(limits_of_each_user), TEST(days), TEST(tokens),
		TEST(two_servers), TEST(projects_and_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
