/* SPDX-License-Identifier: MIT
 *
 * The facts that a precondition contains: the text and role of an entry, and not its position or
 * display state. */
#define _GNU_SOURCE

#include "tui/precondition.h"
#include "tui/tui_testing.h"

static void
add_fact(rt_precondition *precondition, desk *d, rt_fact fact)
{
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_precondition_add(&s, precondition, fact, d->tui.work.engine, d->tui.work.value);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
}

static void
add_entry(rt_precondition *precondition, desk *d, uint32_t take, uint32_t entry)
{
	add_fact(precondition, d, (rt_fact){.kind = RT_FACT_ENTRY, .take = take, .entry = entry});
}

static rt_status
check(const rt_precondition *precondition, desk *d, rt_error *err)
{
	return rt_precondition_holds(precondition, d->tui.work.engine, d->tui.work.value, err);
}

/* Is the fact about the first entry still true after that request? */
static void
assert_after(const char *request, bool is_so, bool is_there)
{
	rt_fact now;
	rt_scope s;
	rt_error err = {0};
	rt_precondition precondition;
	desk d;

	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	desk_add(&d, "AI", "two");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":2\",\"name\":\"duck\"}]");
	desk_do(&d, "[{\"op\":\"take.switch\",\"take\":\"main\"}]");
	rt_precondition_init(&precondition, rt_alloc_libc(), 1);
	add_entry(&precondition, &d, 1, 1);
	assert_int_equal(precondition.count, 1);
	assert_int_equal(check(&precondition, &d, &err), RT_OK);
	desk_do(&d, request);
	if (rt_precondition_holds(&precondition, d.tui.work.engine, d.tui.work.value, &err) !=
	    (is_so ? RT_OK : RT_CONFLICT))
		fail_msg("%s: %s", request, err.text);
	now = precondition.facts[0];
	rt_scope_init(&s, rt_alloc_libc());
	rt_fact_read(&s, &now, d.tui.work.engine, d.tui.work.value, 1);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	assert_int_equal(now.print == precondition.facts[0].print, is_so);
	assert_int_equal(now.print != 0, is_there);
	rt_precondition_deinit(&precondition);
	desk_close(&d);
}

static void
entries(void **state)
{
	(void)state;
	assert_after("[{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"other\"}]", false, true);
	assert_after("[{\"op\":\"entry.role\",\"entry\":\":1\",\"role\":\"System\"}]", false, true);
	assert_after("[{\"op\":\"entry.mute\",\"entry\":\":1\",\"muted\":true}]", false, true);
	assert_after("[{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"x\"}]", false, true);
	assert_after("[{\"op\":\"entry.delete\",\"entry\":\":1\"}]", false, false);
	assert_after("[{\"op\":\"discussion.new\",\"name\":\"x\"},"
		     "{\"op\":\"discussion.delete\",\"discussion\":\"d1\"}]", false, false);
	assert_after("[{\"op\":\"entry.move\",\"entry\":\":1\",\"after\":\":2\"}]", true, true);
	assert_after("[{\"op\":\"entry.view\",\"entry\":\":1\",\"collapsed\":true}]", true, true);
	assert_after("[{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"other\"}]", true, true);
	assert_after("[{\"op\":\"entry.edit\",\"entry\":\":1\",\"take\":\"duck\",\"content\":\"other\"}]",
		     true, true);
}

/* An entry that the take does not contain is ignored, and an empty precondition is always true. */
static void
nothing(void **state)
{
	rt_error err = {0};
	rt_precondition precondition;
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	rt_precondition_init(&precondition, rt_alloc_libc(), 1);
	add_entry(&precondition, &d, 1, 77);
	add_entry(&precondition, &d, 77, 1);
	assert_int_equal(precondition.count, 0);
	desk_do(&d, "[{\"op\":\"entry.delete\",\"entry\":\":1\"}]");
	assert_int_equal(check(&precondition, &d, &err), RT_OK);
	rt_precondition_deinit(&precondition);
	desk_close(&d);
}

/* The maximum number. */
static void
many(void **state)
{
	rt_error err = {0};
	rt_precondition precondition;
	size_t i;
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	rt_precondition_init(&precondition, rt_alloc_libc(), 1);
	for (i = 0; i < 20; i++) {
		desk_add(&d, "User", "text");
		add_entry(&precondition, &d, 1, (uint32_t)i + 1);
	}
	assert_int_equal(precondition.count, 20);
	assert_int_equal(check(&precondition, &d, &err), RT_OK);
	desk_do(&d, "[{\"op\":\"entry.delete\",\"entry\":\":20\"}]");
	desk_do(&d, "[{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"other\"}]");
	assert_int_equal(check(&precondition, &d, &err), RT_CONFLICT);
	assert_string_equal(err.text, "another program or window changed 2 of these 20 entries");
	rt_precondition_deinit(&precondition);
	desk_close(&d);
}

/* The newest step is that of the discussion or the project. */
static void
steps(void **state)
{
	rt_error err = {0};
	rt_precondition precondition;
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	rt_precondition_init(&precondition, rt_alloc_libc(), 1);
	add_fact(&precondition, &d, (rt_fact){.kind = RT_FACT_STEP});
	assert_int_equal(check(&precondition, &d, &err), RT_OK);
	desk_do(&d, "[{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"builtin/echo\"}]");
	assert_int_equal(check(&precondition, &d, &err), RT_CONFLICT);
	desk_do(&d, "[{\"op\":\"undo\"}]");
	assert_int_equal(check(&precondition, &d, &err), RT_OK);
	rt_precondition_deinit(&precondition);
	desk_close(&d);
}

/* The instructions of the project, in the newest value and not the one in view. */
static void
instructions(void **state)
{
	rt_error err = {0};
	rt_precondition precondition;
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	rt_precondition_init(&precondition, rt_alloc_libc(), 1);
	add_fact(&precondition, &d, (rt_fact){.kind = RT_FACT_INSTRUCTIONS});
	desk_do(&d, "[{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"builtin/echo\"}]");
	assert_int_equal(check(&precondition, &d, &err), RT_OK);
	desk_do(&d, "[{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"x\"}]");
	assert_int_equal(check(&precondition, &d, &err), RT_CONFLICT);
	assert_string_equal(err.text, "another program or window changed the instructions");
	rt_precondition_deinit(&precondition);
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries),
		cmocka_unit_test(nothing),
		cmocka_unit_test(many),
		cmocka_unit_test(steps),
		cmocka_unit_test(instructions),
	};

	return cmocka_run_group_tests_name("precondition", tests, NULL, NULL);
}
