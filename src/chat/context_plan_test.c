/* SPDX-License-Identifier: MIT
 *
 * The plan of a context: in which order entries and summaries are sent. */
#include <stdio.h>

#include "log/engine_testing.h"
#include "chat/context_impl.h"

/* "0 1 S4 5": positions, and S for a summary. */
static void
plans(size_t count, const char *skipped, const rt_compaction *c, size_t n, const char *expected)
{
	bool skip[32] = {false};
	rt_context_steps steps;
	size_t i, used = 0;
	char got[200] = "";
	rt_scope scope;

	for (i = 0; skipped[i] != '\0'; i++)
		skip[skipped[i] - '0'] = true;
	for (i = 0; i < n; i++)
		skip[c[i].at] = true;
	rt_scope_init(&scope, rt_alloc_libc());
	steps = rt_context_plan(&scope, count, skip, c, n);
	assert_true(rt_ok(&scope));
	for (i = 0; i < steps.count; i++)
		used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%s%zu", i > 0 ? " " : "",
					 steps.items[i].is_summary ? "S" : "", steps.items[i].at);
	assert_string_equal(got, expected);
	rt_scope_deinit(&scope);
}

static void
plans_without_compactions(void **state)
{
	(void)state;
	plans(0, "", NULL, 0, "");
	plans(1, "", NULL, 0, "0");
	plans(4, "", NULL, 0, "0 1 2 3");
	plans(4, "02", NULL, 0, "1 3");
}

static void
plans_with_a_first_kept_entry(void **state)
{
	rt_compaction one[] = {{.at = 5, .first_kept = 3}};
	rt_compaction none[] = {{.at = 5, .first_kept = SIZE_MAX}};
	rt_compaction later[] = {{.at = 2, .first_kept = 6}};
	rt_compaction two[] = {{.at = 3, .first_kept = 2}, {.at = 6, .first_kept = 2}};
	rt_compaction gone[] = {{.at = 3, .first_kept = 2}, {.at = 6, .first_kept = 5}};

	(void)state;
	plans(8, "", one, 1, "S5 3 4 6 7");
	plans(6, "", one, 1, "S5 3 4");
	plans(8, "37", one, 1, "S5 4 6");
	plans(8, "", none, 1, "S5 6 7");
	plans(4, "", later, 1, "S2 3");
	plans(8, "", two, 2, "S6 2 4 5 7"); /* the older one is not sent */
	plans(8, "", gone, 2, "S6 5 7");
}

static void
plans_with_ranges(void **state)
{
	rt_compaction one[] = {{.at = 5, .is_range = true, .from = 1, .to = 3}};
	rt_compaction none[] = {{.at = 5, .is_range = true, .from = 1, .to = 0}};
	rt_compaction beyond[] = {{.at = 2, .is_range = true, .from = 1, .to = 90}};
	rt_compaction two[] = {{.at = 5, .is_range = true, .from = 1, .to = 3},
			       {.at = 6, .is_range = true, .from = 3, .to = 4}};
	rt_compaction nested[] = {{.at = 3, .is_range = true, .from = 0, .to = 1},
				  {.at = 5, .is_range = true, .from = 1, .to = 3}};
	rt_compaction inside[] = {{.at = 3, .is_range = true, .from = 0, .to = 1},
				  {.at = 6, .is_range = true, .from = 0, .to = 4}};

	(void)state;
	plans(7, "", one, 1, "0 S5 4 6");
	plans(7, "", none, 1, "0 1 2 3 4 6");
	plans(4, "", beyond, 1, "0 1 3");
	plans(7, "", two, 2, "0 S5 S6"); /* 1 2, and 3 4 */
	plans(7, "", nested, 2, "0 S5 4 6"); /* the first is in the second's range */
	plans(8, "", inside, 2, "S6 5 7");
}

static void
plans_with_both(void **state)
{
	rt_compaction before[] = {{.at = 3, .is_range = true, .from = 0, .to = 1},
				  {.at = 6, .first_kept = 4}};
	rt_compaction kept[] = {{.at = 5, .is_range = true, .from = 3, .to = 4},
				{.at = 6, .first_kept = 2}};
	rt_compaction after[] = {{.at = 4, .first_kept = 2},
				 {.at = 7, .is_range = true, .from = 1, .to = 3}};
	rt_compaction covered[] = {{.at = 2, .first_kept = 1},
				   {.at = 6, .is_range = true, .from = 1, .to = 4}};

	(void)state;
	plans(8, "", before, 2, "S6 4 5 7");
	plans(8, "", kept, 2, "S6 2 S5 7");
	plans(8, "", after, 2, "S4 S7 5 6");
	plans(8, "", covered, 2, "0 S6 5 7");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_without_compactions),
		cmocka_unit_test(plans_with_a_first_kept_entry),
		cmocka_unit_test(plans_with_ranges),
		cmocka_unit_test(plans_with_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
