/* SPDX-License-Identifier: MIT
 *
 * The mouse on every screen: the wheel, clicks on rows, on names of keys and in the title. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock_host.h"
#include "terminal/terminal.h"
#include "tui/list.h"
#include "tui/tui_testing.h"

static void
mouse(desk *d, rt_mouse_kind kind, int x, int y)
{
	rt_event event = {.kind = RT_EVENT_MOUSE, .mouse = {kind, x, y}};

	assert_int_equal(rt_tui_on_event(&d->tui, &event), RT_OK);
	assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
}

/* The position of an ASCII text on the screen. */
static void
find(desk *d, const char *text, int *x, int *y)
{
	rt_buf screen = desk_screen(d);
	size_t at = rt_str_find(rt_buf_str(&screen), rt_str_of(text), 0), line = 0;

	if (at == SIZE_MAX)
		fail_msg("the screen is\n%s\nwithout\n%s", screen.ptr, text);
	*y = 0;
	for (size_t i = 0; i < at; i++)
		if (screen.ptr[i] == '\n') {
			line = i + 1;
			++*y;
		}
	*x = rt_canvas_width(&d->tui.canvas, rt_str_at(screen.ptr + line, at - line));
	rt_buf_deinit(&screen);
}

static void
click(desk *d, const char *text)
{
	int x, y;

	find(d, text, &x, &y);
	d->tui.press.ms = 0; /* not a double click */
	mouse(d, RT_MOUSE_PRESS, x, y);
}

static void
double_click(desk *d, const char *text)
{
	int x, y;

	find(d, text, &x, &y);
	d->tui.press.ms = 0;
	mouse(d, RT_MOUSE_PRESS, x, y);
	d->tui.press.ms = rt_clock_ms(); /* however slow the machine is */
	mouse(d, RT_MOUSE_PRESS, x, y);
}

/* A navigation runs in a thread; while it is pending, clicks do nothing. */
static void
assert_comes(desk *d, const char *text)
{
	for (int i = 0; i < 500 && (!desk_shows(d, text) || d->tui.pending != NULL ||
				    rt_work_is_running(&d->tui.work));
	     i++)
		(void)usleep(10000);
	assert_shows(d, text);
}

static void
wheel(desk *d, rt_mouse_kind kind, const char *text)
{
	int x, y;

	find(d, text, &x, &y);
	mouse(d, kind, x, y);
}

static void
talk(desk *d, int columns, int rows)
{
	desk_open(d, columns, rows);
	d->tui.work.said_model = "builtin/echo";
	desk_add(d, "User", "first question");
	desk_add(d, "AI", "first answer");
	desk_add(d, "User", "second question");
	desk_add(d, "AI", "second answer");
	desk_do(d, "[{\"op\":\"discussion.rename\",\"discussion\":\"main\",\"name\":\"talk\"}]"); /* the title of the screen */
}

static void
test_chat(void **state)
{
	desk d;

	(void)state;
	talk(&d, 80, 12);
	assert_false(desk_shows(&d, "first question"));
	wheel(&d, RT_MOUSE_WHEEL_UP, "second answer");
	wheel(&d, RT_MOUSE_WHEEL_UP, "second question");
	assert_shows(&d, "first question");
	assert_int_equal(d.tui.panes[0]->screen, RT_SCREEN_CHAT);
	click(&d, "first answer");
	assert_int_equal(d.tui.panes[0]->screen, RT_SCREEN_ENTRY);
	assert_shows(&d, "› AI");
	/* Below the entries the input has the keys again. */
	click(&d, ">");
	assert_int_equal(d.tui.panes[0]->screen, RT_SCREEN_CHAT);
	/* A double click is Enter: the head goes there; a later click is not. */
	click(&d, "first answer");
	d.tui.press.ms -= 1000;
	click(&d, "first answer");
	assert_false(desk_shows(&d, "Summarise the branch"));
	d.tui.press.ms -= 1000;
	double_click(&d, "first answer");
	assert_shows(&d, "Summarise the branch");
	desk_type(&d, "yes, why not? in no way"); /* typed text is never an answer */
	assert_shows(&d, "Summarise the branch");
	desk_press(&d, "alt+1");
	assert_comes(&d, "head 2 of 4");
	assert_shows(&d, "> yes, why not? in no way"); /* but it is not lost */
	wheel(&d, RT_MOUSE_WHEEL_UP, "second answer");
	wheel(&d, RT_MOUSE_WHEEL_UP, "second question");
	double_click(&d, "first question");
	desk_press(&d, "alt+1");
	assert_comes(&d, "> first question"); /* in the input again */
	desk_close(&d);
}

static void
test_forks(void **state)
{
	desk d;

	(void)state;
	talk(&d, 80, 24);
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":2\",\"name\":\"other\"}]");
	desk_add(&d, "User", "another question");
	assert_shows(&d, "User < 2/2 >");
	click(&d, "< 2/2");
	assert_shows(&d, "second question");
	click(&d, ">   ");
	assert_shows(&d, "another question");
	desk_close(&d);
}

static void
test_title(void **state)
{
	desk d;

	(void)state;
	talk(&d, 80, 24);
	click(&d, "talk  take");
	assert_shows(&d, "Discussions");
	desk_press(&d, "escape");
	click(&d, "take: main");
	assert_int_equal(rt_tui_top(&d.tui)->ops->screen, RT_SCREEN_FIELD);
	desk_press(&d, "escape");
	click(&d, "builtin/echo");
	assert_int_equal(rt_tui_top(&d.tui)->ops->screen, RT_SCREEN_FIELD);
	desk_close(&d);
}

static void
test_footer(void **state)
{
	desk d;

	(void)state;
	talk(&d, 80, 24);
	click(&d, "commands");
	assert_shows(&d, "Commands");
	click(&d, "cancel");
	assert_false(desk_shows(&d, "Commands"));
	/* Between the parts nothing is pressed, nor on a word that is not a key. */
	click(&d, "  Ctrl+P");
	assert_false(desk_shows(&d, "Commands"));
	/* The key that a message names. */
	desk_press(&d, "alt+up alt+d");
	assert_shows(&d, "undo: Alt+U");
	click(&d, "Alt+U");
	assert_shows(&d, "Undone");
	assert_shows(&d, "second answer");
	click(&d, "Undone");
	assert_shows(&d, "second answer");
	desk_close(&d);
}

static void
test_lists(void **state)
{
	desk d;

	(void)state;
	talk(&d, 80, 24);
	desk_press(&d, "f3");
	click(&d, "second question");
	double_click(&d, "first answer");
	assert_shows(&d, "Restored the state right after step 2");
	desk_press(&d, "escape f4");
	click(&d, "main "); /* in the title: has no effect here */
	desk_press(&d, "escape ctrl+p");
	wheel(&d, RT_MOUSE_WHEEL_DOWN, "cancel");
	assert_int_equal(rt_tui_top(&d.tui)->list->at, 0); /* that was the footer */
	mouse(&d, RT_MOUSE_WHEEL_DOWN, 4, 15);
	assert_int_equal(rt_tui_top(&d.tui)->list->at, 3);
	mouse(&d, RT_MOUSE_WHEEL_UP, 4, 15);
	assert_int_equal(rt_tui_top(&d.tui)->list->at, 0);
	desk_close(&d);
}

static void
test_tree(void **state)
{
	desk d;

	(void)state;
	talk(&d, 80, 24);
	desk_press(&d, "f2");
	click(&d, "User: first question");
	assert_shows(&d, "› • User: first question");
	/* The chat above it can be scrolled, and clicks there do nothing. */
	mouse(&d, RT_MOUSE_WHEEL_UP, 4, 3);
	mouse(&d, RT_MOUSE_PRESS, 4, 3);
	assert_shows(&d, "› • User: first question");
	double_click(&d, "AI: first answer");
	assert_shows(&d, "Summarise the branch");
	double_click(&d, "No: just go there");
	assert_comes(&d, "head 2 of 4");
	desk_close(&d);
}

/* While a change is pending its rows may move: only the wheel and keys work. */
static void
test_any_place(void **state)
{
	static const char *const screens[] = {"", "alt+up", "f2", "f3", "f4", "ctrl+p", "f1",
					      "alt+up alt+e", "ctrl+l"};
	desk d;

	(void)state;
	talk(&d, 40, 10);
	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
		desk_press(&d, screens[i]);
		for (int y = -1; y < 12; y++)
			for (int x = -1; x < 42; x += 3) {
				rt_buf screen;

				mouse(&d, (rt_mouse_kind)((x + y + 2) % 3), x, y);
				screen = desk_frame(&d);
				rt_buf_deinit(&screen);
			}
		while (d.tui.pane_count > 1)
			desk_press(&d, "escape");
		d.tui.ends = false;
	}
	desk_close(&d);
}

static void
test_switch(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	desk_press(&d, "f6");
	assert_true(d.tui.has_mouse);
	desk_press(&d, "f6");
	assert_notice(&d, "Mouse off: the terminal selects text");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chat),   cmocka_unit_test(test_forks),
		cmocka_unit_test(test_title),  cmocka_unit_test(test_footer),
		cmocka_unit_test(test_lists),  cmocka_unit_test(test_tree),
		cmocka_unit_test(test_any_place), cmocka_unit_test(test_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
