/* SPDX-License-Identifier: MIT
 *
 * The history as rows: steps in effect in one lane, undone ones beside it, whether all are read at
 * once or a row at a time. */
#define _GNU_SOURCE

#include "tui/steps.h"
#include "tui/tui_testing.h"

/* Rows as text, "*" in effect, "o" undone, "|" passing by, "'" ending here: "|o 2". */
static void
add_lanes(const rt_steps *steps, rt_buf *out)
{
	size_t i;
	unsigned lane;

	for (i = 0; i < steps->count; i++) {
		const rt_step *step = &steps->steps[i];

		for (lane = 0; lane < 4; lane++)
			rt_buf_add_byte(out, lane == step->lane	       ? (step->is_undone ? 'o' : '*')
					     : (step->joins >> lane & 1) != 0  ? '\''
					     : (step->passes >> lane & 1) != 0 ? '|'
									       : ' ');
		rt_buf_add_f(out, "%llu%s\n", (unsigned long long)step->seq,
			     step->is_current ? " now" : "");
	}
}

static void
assert_lanes(desk *d, size_t window, const char *expected)
{
	rt_steps steps;
	rt_buf out;

	rt_steps_init(&steps, d->tui.alloc);
	rt_buf_init(&out, d->tui.alloc, RT_BUF_UNLIMITED);
	rt_steps_begin(&steps, d->tui.work.engine, d->tui.work.value, d->tui.work.place.disc);
	while (!steps.is_whole)
		assert_int_equal(rt_steps_more(&steps, window, NULL), RT_OK);
	add_lanes(&steps, &out);
	assert_string_equal(out.ptr, expected);
	/* There are no rows after the end. */
	window = steps.count;
	assert_int_equal(rt_steps_more(&steps, 10, NULL), RT_OK);
	assert_int_equal(steps.count, window);
	rt_buf_deinit(&out);
	rt_steps_deinit(&steps);
}

static void
nothing_yet(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	assert_lanes(&d, 10, "*   0 now\n");
	desk_close(&d);
}

static void
lanes(void **state)
{
	static const char *const expected = "*   15 now\n"
					    "|o  13\n"
					    "|o  12\n"
					    "||o 9\n"
					    "*'' 8\n"
					    "*   7\n"
					    "|o  4\n"
					    "|o  3\n"
					    "|o  2\n"
					    "*'  1\n"
					    "*   0\n";
	desk d;
	size_t window;

	(void)state;
	desk_open(&d, 80, 24);
	desk_add(&d, "User", "1");
	desk_add(&d, "AI", "2");
	desk_add(&d, "User", "3");
	desk_add(&d, "AI", "4");
	desk_do(&d, "[{\"op\":\"undo\"}]");
	desk_do(&d, "[{\"op\":\"undo\",\"count\":2}]");
	desk_add(&d, "AI", "7");
	desk_add(&d, "AI", "8");
	desk_add(&d, "AI", "9");
	desk_do(&d, "[{\"op\":\"undo\"}]");
	desk_do(&d, "[{\"op\":\"entry.view\",\"entry\":\":1\",\"collapsed\":true}]");
	desk_add(&d, "AI", "12");
	desk_add(&d, "AI", "13");
	desk_do(&d, "[{\"op\":\"undo\",\"count\":2}]");
	desk_add(&d, "AI", "15");
	for (window = 1; window < 14; window++)
		assert_lanes(&d, window, expected);
	desk_close(&d);
}

static void
drafts_are_not_shown(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	desk_add(&d, "User", "1");
	desk_add(&d, "AI", "2");
	desk_do(&d, "[{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"3\"}]");
	for (size_t window = 1; window < 4; window++)
		assert_lanes(&d, window, "*   2 now\n*   1\n*   0\n");
	desk_do(&d, "[{\"op\":\"undo\",\"keep_draft\":true}]"); /* rows 4 and 5 */
	for (size_t window = 1; window < 4; window++)
		assert_lanes(&d, window, " o  2\n*'  1 now\n*   0\n");
	desk_do(&d, "[{\"op\":\"undo\",\"count\":3}]");
	desk_do(&d, "[{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"7\"}]");
	desk_add(&d, "User", "8");
	for (size_t window = 1; window < 4; window++)
		assert_lanes(&d, window, "*   8 now\n|o  2\n|o  1\n*'  0\n");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_yet),
		cmocka_unit_test(lanes),
		cmocka_unit_test(drafts_are_not_shown),
	};

	return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
