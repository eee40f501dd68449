/* SPDX-License-Identifier: MIT
 *
 * What lies around the screens: how many of them there may be, and what becomes of what they
 * cannot do. */
#define _GNU_SOURCE

#include "tui/tui_testing.h"

/* A screen that wants one screen more, whatever happens. */
typedef struct greedy {
	rt_pane pane;
	bool tends;
} greedy;

static rt_status
more(rt_tui *tui)
{
	return rt_pane_help(tui, RT_SCREEN_CHAT);
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	(void)pane;
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
}

static rt_status
act(rt_pane *pane, rt_action action, bool *out_used)
{
	(void)action;
	*out_used = true;
	return more(pane->tui);
}

static rt_status
key(rt_pane *pane, rt_key k, bool *out_used)
{
	(void)k;
	*out_used = true;
	return more(pane->tui);
}

static rt_status
paste(rt_pane *pane, rt_str text)
{
	(void)text;
	return more(pane->tui);
}

static rt_status
tend(rt_pane *pane)
{
	return ((greedy *)pane)->tends ? more(pane->tui) : RT_OK;
}

static void
free_greedy(rt_pane *pane)
{
	test_free(pane);
}

static const rt_pane_ops greedy_ops = {.screen = RT_SCREEN_READER,
				       .draw = draw,
				       .act = act,
				       .key = key,
				       .paste = paste,
				       .tend = tend,
				       .free = free_greedy};

static greedy *
push_greedy(desk *d)
{
	greedy *g = test_calloc(1, sizeof(*g));

	g->pane.ops = &greedy_ops;
	assert_int_equal(rt_tui_push(&d->tui, &g->pane), RT_OK);
	return g;
}

#define FULL "Too many screens lie on one another: close some first"

static void
assert_full(desk *d)
{
	assert_notice(d, FULL);
	assert_int_equal(d->tui.pane_count, RT_PANES_MAX);
	rt_tui_say(&d->tui, "-");
}

/* One screen too many is said, wherever it was wanted, and nothing ends. */
static void
too_many_screens(void **state)
{
	greedy *g;
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	while (d.tui.pane_count < RT_PANES_MAX - 1)
		assert_int_equal(more(&d.tui), RT_OK);
	g = push_greedy(&d);
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_MARK), RT_OK);
	assert_full(&d);
	assert_int_equal(rt_tui_key(&d.tui, (rt_key){'x', 0}), RT_OK);
	assert_full(&d);
	assert_int_equal(rt_tui_paste(&d.tui, RT_STR("x")), RT_OK);
	assert_full(&d);
	g->tends = true;
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_full(&d);
	/* One that closes is none. */
	g->tends = false;
	rt_tui_close(&d.tui, &g->pane);
	assert_int_equal(more(&d.tui), RT_OK);
	assert_notice(&d, "-");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_int_equal(d.tui.pane_count, RT_PANES_MAX);
	desk_close(&d);
}

/* The one that is open comes to the top. */
static void
one_screen_of_a_kind(void **state)
{
	desk d;
	int i;

	(void)state;
	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	for (i = 0; i < 10; i++)
		desk_press(&d, "f2 f3 f4");
	assert_int_equal(d.tui.pane_count, 4);
	assert_shows(&d, " Discussions ");
	desk_press(&d, "f3");
	assert_shows(&d, "● ");
	desk_press(&d, "escape");
	assert_int_equal(d.tui.pane_count, 3);
	assert_shows(&d, " Discussions ");
	/* What is asked stays above what it asks about. */
	desk_press(&d, "ctrl+p");
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_DISCUSSIONS), RT_OK);
	assert_int_equal(d.tui.pane_count, 5);
	desk_press(&d, "escape");
	assert_shows(&d, " Commands\n");
	desk_press(&d, "escape escape escape");
	assert_int_equal(d.tui.pane_count, 1);
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_many_screens),
		cmocka_unit_test(one_screen_of_a_kind),
	};

	return cmocka_run_group_tests_name("tui", tests, NULL, NULL);
}
