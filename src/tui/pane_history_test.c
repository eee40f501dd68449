/* SPDX-License-Identifier: MIT
 *
 * The history on the screen: undone steps beside those in effect, the details of a step, jumping
 * there, reverting one. */
#define _GNU_SOURCE

#include "tui/tui_testing.h"

/* Two entries; the second was edited. */
static void
open_story(desk *d, int columns, int rows)
{
	desk_open(d, columns, rows);
	desk_add(d, "User", "Which database?");
	desk_add(d, "AI", "SQLite.");
	desk_do(d, "[{\"op\":\"undo\"}]");
	desk_add(d, "AI", "Postgres, of course.");
	desk_press(d, "f3");
}

static void
narrow(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 40, 10);
	assert_screen(&d, " Which database?      no model  ~17 tok\n"
			  " History of Which database?      1 of 4\n"
			  "›●   4 tui added entry: Postgres,… ← now\n"
			  " │ ○ 2 tui added entry: SQLite.\n"
			  " ●─┘ 1 tui added entry: Which database?\n"
			  " ●   the beginning\n"
			  "\n\n\n"
			  " Enter go there  ? keys  Esc close\n");
	/* Too low for both: the details replace the list. */
	desk_press(&d, "down tab");
	assert_screen(&d, " Which database?      no model  ~17 tok\n"
			  " History of Which database?      2 of 4\n"
			  "Step 2  added entry\n"
			  "2023-11-14 22:13:20  tui\n"
			  "+ AI\n"
			  "  SQLite.\n"
			  "\n"
			  "State at that time: take main, 2 entries\n"
			  "User  1\n"
			  " Enter go there  ? keys  Esc close\n");
	desk_press(&d, "right");
	assert_shows(&d, "AI  2\n  SQLite.\n Enter");
	desk_press(&d, "tab escape");
	assert_int_equal(d.tui.pane_count, 1);
	desk_close(&d);
}

static void
without_utf8(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 40, 10);
	d.tui.canvas.utf8 = false;
	assert_screen(&d, " Which database?      no model  ~17 tok\n"
			  " History of Which database?      1 of 4\n"
			  ">*   4 tui added entry: Postgr... <- now\n"
			  " | o 2 tui added entry: SQLite.\n"
			  " *-' 1 tui added entry: Which database?\n"
			  " *   the beginning\n"
			  "\n\n\n"
			  " Enter go there  ? keys  Esc close\n");
	desk_close(&d);
}

static void
wide(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 110, 12);
	assert_shows(&d,
		     "›●   4 22:13 tui added entry: Postgres, of… ← now│ Step 4  added entry\n"
		     " │ ○ 2 22:13 tui added entry: SQLite.            │ 2023-11-14 22:13:20  tui\n"
		     " ●─┘ 1 22:13 tui added entry: Which database?    │ + AI\n"
		     " ●   the beginning                               │   Postgres, of course.\n"
		     "                                                 │\n"
		     "                                                 │ State at that time: take main, 2 entries\n"
		     "                                                 │ User  1\n"
		     "                                                 │   Which database?\n"
		     "                                                 │ AI  2\n"
		     " Enter go there  Ctrl+R revert  Alt+U undo  Alt+R redo  / find  ? keys  Esc close\n");
	desk_press(&d, "down down");
	assert_shows(&d, "│ Step 1  added entry\n");
	assert_shows(&d, "State at that time: take main, 1 entry");
	desk_press(&d, "down");
	assert_shows(&d, "State at that time: take main, 0 entries");
	desk_close(&d);
}

static void
any_size(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 300, 100);
	assert_fits(&d, "end down pagedown home tab");
	desk_close(&d);
}

static void
jumps(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 60, 12);
	desk_press(&d, "down enter");
	assert_notice(&d, "Restored the state right after step 2. To return: Enter on step 4");
	assert_shows(&d, "›● │ 2 22:13 tui added entry: SQLite. ← now");
	assert_shows(&d, "   ○ 4 22:13 tui added entry: Postgres");
	desk_press(&d, "enter");
	assert_notice(&d, "Already in this state");
	/* Before everything, and back. */
	desk_press(&d, "end enter");
	assert_notice(&d, "Restored the discussion to the state before its first step. "
			  "To return: Enter on step 2");
	assert_int_equal(rt_work_count(&d.tui.work), 0);
	assert_shows(&d, "the beginning ← now");
	desk_press(&d, "up up up enter");
	assert_notice(&d, "Restored the state right after step 4. To return: Enter on step 0");
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	desk_close(&d);
}

static void
reverts(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 70, 14);
	desk_add(&d, "User", "Which database?");
	desk_do(&d, "[{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"Which store?\"}]");
	desk_add(&d, "AI", "SQLite.");
	desk_press(&d, "f3 down ctrl+r");
	assert_shows(&d, "Reverted only step 2.   step 4 - undo: Alt+U");
	/* The cursor is on the step that it was on. */
	assert_shows(&d, "›● 2 22:13 tui edited entry: Which ");
	/* A change that was changed again cannot be reverted alone: this is reported, and nothing
	 * happens. */
	desk_press(&d, "ctrl+r");
	assert_int_equal(d.tui.notice_ink, RT_INK_ERROR);
	assert_shows(&d, "›● 2 22:13 tui edited entry: Which ");
	desk_press(&d, "end ctrl+r");
	assert_notice(&d, "No step to revert here");
	desk_press(&d, "home alt+u");
	assert_shows(&d, "›  ○ 4 22:13 tui ");
	desk_press(&d, "alt+r");
	assert_shows(&d, "›● 4 22:13 tui ");
	desk_close(&d);
}

/* Reverting a deletion makes that discussion active again, and it is the one that is shown. */
static void
reverts_a_deletion(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 16);
	desk_add(&d, "User", "in main");
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"beta\"}]");
	desk_do(&d, "[{\"op\":\"discussion.delete\",\"discussion\":\"beta\"}]");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "main"));
	desk_press(&d, "f3 ctrl+r");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "beta"));
	assert_int_equal(d.tui.work.value->active, d.tui.work.place.disc);
	desk_press(&d, "escape alt+u");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "main"));
	assert_int_equal(d.tui.work.value->active, d.tui.work.place.disc);
	desk_close(&d);
}

/* A step that revert does not support: the alternative is shown. */
static void
refuses_with_a_next_step(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 80, 24);
	desk_do(&d, "[{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"one\"}]");
	desk_do(&d, "[{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"two\"}]");
	desk_press(&d, "f3 home down ctrl+r");
	assert_int_equal(d.tui.notice_ink, RT_INK_ERROR);
	assert_shows(&d, "Cannot revert step 5");
	assert_shows(&d, "/revert 6");
	assert_false(desk_shows(&d, "retake"));
	desk_close(&d);
}

/* The old and the new active take, by their names. */
static void
takes_by_name(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 110, 16);
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"other\"}]");
	desk_do(&d, "[{\"op\":\"take.switch\",\"take\":\"main\"}]");
	desk_press(&d, "home");
	assert_shows(&d, "│ active\n");
	assert_shows(&d, "│   - other\n");
	assert_shows(&d, "│   + main\n");
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"second\"}]");
	desk_do(&d, "[{\"op\":\"discussion.switch\",\"discussion\":\"main\"}]");
	desk_press(&d, "home");
	assert_shows(&d, "│   - second\n");
	assert_shows(&d, "│   + main\n");
	desk_close(&d);
}

/* Another program makes a change between the frame and the key: it is shown first. */
static void
others_are_faster(void **state)
{
	static const char *const ways[] = {"enter", "ctrl+r"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		desk d;

		open_story(&d, 70, 14);
		desk_press(&d, "down down");
		desk_others(&d, "{\"op\":\"entry.append\",\"content\":\"theirs\"}");
		desk_press(&d, ways[i]);
		assert_notice(&d, "Step 4 is no longer the newest.  Nothing was done; press the same "
				  "key again to confirm");
		assert_int_equal(rt_work_count(&d.tui.work), 3);
		assert_shows(&d, "5 22:13 web added entry: theirs ← now");
		desk_press(&d, ways[i]);
		assert_int_equal(rt_work_count(&d.tui.work), i == 0 ? 1 : 2);
		desk_close(&d);
	}
}

/* The same for an undone step. */
static void
others_take_back(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 70, 14);
	desk_press(&d, "end");
	desk_others(&d, "{\"op\":\"jump\",\"to\":2}");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.notice_ink, RT_INK_ERROR);
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	desk_press(&d, "enter");
	assert_notice(&d, "Restored the discussion to the state before its first step. "
			  "To return: Enter on step 2");
	desk_close(&d);
}

static int64_t
a_day_later(void *ctx)
{
	return env.now_us(ctx) + (int64_t)24 * 3600 * 1000000;
}

/* Times of other days have their date. */
static void
dates(void **state)
{
	rt_env later = env;
	desk d;

	(void)state;
	later.now_us = a_day_later;
	desk_open(&d, 70, 14);
	desk_add(&d, "User", "one");
	desk_press(&d, "f3");
	assert_shows(&d, "›● 1 22:13 tui ");
	d.session.env = &later;
	assert_shows(&d, "›● 1 11/14 22:13 tui ");
	d.session.env = &env;
	desk_close(&d);
}

static void
searches_and_filters(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 70, 14);
	desk_add(&d, "User", "one");
	desk_do(&d, "[{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"builtin/echo\"}]");
	desk_do(&d, "[{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"start\"}]");
	desk_add(&d, "AI", "two");
	desk_press(&d, "f3 /");
	desk_type(&d, "LABEL");
	desk_press(&d, "enter");
	assert_shows(&d, "›● 3 22:13 tui ");
	desk_press(&d, "alt+n");
	assert_notice(&d, "No later match for \"LABEL\"");
	desk_press(&d, "/ z z enter");
	assert_notice(&d, "No later match for \"zz\"");
	desk_press(&d, "/");
	desk_type(&d, "LABEL");
	desk_press(&d, "enter alt+shift+n");
	assert_notice(&d, "No earlier match for \"LABEL\"");
	desk_press(&d, "/ 1 enter");
	assert_shows(&d, "›● 1 22:13 tui ");
	desk_press(&d, "/ escape");
	assert_int_equal(d.tui.pane_count, 2);
	desk_press(&d, "alt+f");
	assert_shows(&d, "only: discussion");
	assert_false(desk_shows(&d, "● 2 "));
	desk_press(&d, "alt+f");
	assert_shows(&d, "only: project");
	assert_shows(&d, "● 2 ");
	assert_false(desk_shows(&d, "● 1 "));
	desk_press(&d, "alt+f");
	assert_shows(&d, "● 1 ");
	desk_close(&d);
}

/* Changes by others while it is open are shown, and the cursor stays on its step. */
static void
follows_changes(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 70, 14);
	desk_press(&d, "down down");
	desk_add(&d, "User", "more");
	assert_shows(&d, "›●─┘ 1 22:13 tui");
	assert_shows(&d, " ●   5 22:13 tui");
	desk_close(&d);
}

/* More steps than are read at once: as far as the cursor moves, and to the end. */
static void
long_history(void **state)
{
	enum { STEPS = 3000 };
	rt_request r = {.op = RT_OP_ENTRY_APPEND, .content.text = RT_STR("x")};
	desk d;
	int i;

	(void)state;
	desk_open(&d, 70, 14);
	for (i = 0; i < STEPS; i++)
		assert_int_equal(work_apply(&d.tui.work, &r, 1, NULL, NULL),
				 RT_OK);
	desk_press(&d, "f3");
	assert_shows(&d, "1 of 256+");
	for (i = 0; i < 30; i++)
		desk_press(&d, "pagedown");
	assert_shows(&d, "of 512+");
	desk_press(&d, "end");
	for (i = 0; i < 5; i++)
		assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "3001 of 3001");
	assert_shows(&d, "›● the beginning");
	desk_press(&d, "home / 7 enter");
	assert_shows(&d, "›●  7 22:13 tui");
	desk_close(&d);
}

/* Names and texts cannot leave their place. */
static void
untrusted(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 110, 20);
	desk_add(&d, "User", "\x1b]0;title\x07 and \x1b[2J \xe2\x80\xae gone \xc2\x9b" "31m\r\n\tb");
	desk_do(&d, "[{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"a\\u001b[31mb\\nc\"}]");
	desk_press(&d, "f3");
	assert_tame(&d, "gone");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(narrow),
		cmocka_unit_test(without_utf8),
		cmocka_unit_test(wide),
		cmocka_unit_test(any_size),
		cmocka_unit_test(jumps),
		cmocka_unit_test(reverts),
		cmocka_unit_test(reverts_a_deletion),
		cmocka_unit_test(refuses_with_a_next_step),
		cmocka_unit_test(takes_by_name),
		cmocka_unit_test(others_are_faster),
		cmocka_unit_test(others_take_back),
		cmocka_unit_test(dates),
		cmocka_unit_test(searches_and_filters),
		cmocka_unit_test(follows_changes),
		cmocka_unit_test(long_history),
		cmocka_unit_test(untrusted),
	};

	return cmocka_run_group_tests_name("pane_history", tests, NULL, NULL);
}
