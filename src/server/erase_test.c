/* SPDX-License-Identifier: MIT
 *
 * Removing a user with all data (accounts/erase.h): rows of the accounts that another program changes at the
 * same time, and an interruption. tests/server/user_purge_test.py tests the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "accounts/erase.h"
#include "log/engine_testing.h"
#include "store/store_memory.h"

typedef struct fixture {
	rt_store *store;
	rt_directory *directory;
	rt_scope scope;
	rt_accounts a;
} fixture;

static uint64_t
new_project(fixture *f, const char *name)
{
	uint64_t number = 0;
	rt_error err = {0};

	if (f->store->ops->begin(f->store, &err) != RT_OK ||
	    f->store->ops->project_new(f->store, rt_str_of(name), &number, &err) != RT_OK ||
	    f->store->ops->commit(f->store, &err) != RT_OK)
		fail_msg("%s", err.text);
	return number;
}

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

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_directory_open(rt_alloc_libc(), &env, f->store, &f->directory, &err), RT_OK);
	rt_scope_init(&f->scope, rt_alloc_libc());
	f->a = (rt_accounts){.directory = f->directory, .scope = &f->scope, .env = &env, .by = RT_STR("machine"), .from = RT_STR("test")};
	(void)rt_accounts_user_new(&f->a, RT_STR("ann"), false, RT_STR(""));
	(void)rt_accounts_user_new(&f->a, RT_STR("bob"), false, RT_STR(""));
	check(f);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	assert_int_equal(rt_scope_end(&f->scope, NULL), RT_OK);
	rt_directory_close(f->directory);
	f->store->ops->close(f->store);
	test_free(f);
	return 0;
}

static void
member(fixture *f, uint64_t project, const char *user, rt_role role)
{
	rt_accounts_member_set(&f->a, project, RT_STR("?"), rt_str_of(user), role);
	check(f);
}

static size_t
members(fixture *f, uint64_t project)
{
	const rt_roster *roster = rt_directory_roster(f->directory);
	const rt_item *first;
	size_t count = rt_roster_members(roster, project, &first);

	rt_object_unref(roster);
	return count;
}

/* It stopped after a project was deleted, and is repeated. */
static void
interrupted(void **state)
{
	fixture *f = *state;
	uint64_t mine = new_project(f, "mine"), shared = new_project(f, "shared");
	char secret[RT_SECRET_ROOM];
	rt_erase_report report;
	rt_error err = {0};

	member(f, mine, "ann", RT_ROLE_OWNER);
	member(f, mine, "bob", RT_ROLE_READER);
	member(f, shared, "ann", RT_ROLE_OWNER);
	member(f, shared, "bob", RT_ROLE_OWNER);
	(void)rt_accounts_link_new(&f->a, mine, 0, 0, secret);
	check(f);
	assert_int_equal(rt_store_project_delete(f->store, mine, &err), RT_OK);
	rt_accounts_erase_plan(&f->a, RT_STR("ann"), RT_STR("default"), &report);
	check(f);
	assert_int_equal(report.deleted_count, 0);
	assert_int_equal(report.links, 1);
	rt_accounts_erase(&f->a, &report);
	check(f);
	assert_int_equal(members(f, mine), 0);
	assert_int_equal(members(f, shared), 1);
}

/* A project that is created after the report is not affected. */
static void
at_the_same_time(void **state)
{
	fixture *f = *state;
	uint64_t mine = new_project(f, "mine"), late;
	rt_erase_report report;

	member(f, mine, "ann", RT_ROLE_OWNER);
	rt_accounts_erase_plan(&f->a, RT_STR("ann"), RT_STR("default"), &report);
	check(f);
	assert_int_equal(report.deleted_count, 1);
	late = new_project(f, "late");
	member(f, late, "bob", RT_ROLE_OWNER);
	rt_accounts_erase(&f->a, &report);
	check(f);
	assert_int_equal(members(f, mine), 0);
	assert_int_equal(members(f, late), 1);
	assert_int_equal(rt_accounts_project(&f->a, RT_STR("mine")), 0);
	assert_int_equal(rt_accounts_project(&f->a, RT_STR("late")), late);
	/* The user is gone. */
	rt_accounts_erase_plan(&f->a, RT_STR("ann"), RT_STR("default"), &report);
	assert_int_equal(f->scope.status, RT_NOT_FOUND);
	rt_scope_reset(&f->scope);
}

/* The project in which servers store sign-ins is kept, also if it has another name. */
static void
home_is_kept(void **state)
{
	fixture *f = *state;
	uint64_t home = new_project(f, "home"), desk = new_project(f, "desk");
	rt_rows row = rt_rows_named(RT_STORE_SIDE, desk, RT_STR("browser/0123"));
	rt_erase_report report;
	rt_error err = {0};

	member(f, home, "ann", RT_ROLE_OWNER);
	member(f, desk, "ann", RT_ROLE_OWNER);
	assert_int_equal(f->store->ops->write(f->store, row, RT_STR("x"), &err), RT_OK);
	rt_accounts_erase_plan(&f->a, RT_STR("ann"), RT_STR("home"), &report);
	rt_accounts_erase(&f->a, &report);
	check(f);
	assert_int_equal(report.deleted_count, 0);
	assert_int_equal(report.project_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(report.projects[i].kept, "servers store sign-ins in it");
	assert_int_equal(rt_accounts_project(&f->a, RT_STR("home")), home);
	assert_int_equal(rt_accounts_project(&f->a, RT_STR("desk")), desk);
	assert_int_equal(members(f, home) + members(f, desk), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(interrupted), TEST(at_the_same_time), TEST(home_is_kept)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
