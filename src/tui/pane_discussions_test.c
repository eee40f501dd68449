/* SPDX-License-Identifier: MIT
 *
 * The discussions on the screen: chosen by name and by the content of their entries, opened, made,
 * renamed, deleted, and the actions on takes. */
#define _GNU_SOURCE

#include "tui/tui_testing.h"

#include <unistd.h>

/* "main" with two takes, and "sqlite-notes", which is open. */
static void
open_story(desk *d, int columns, int rows)
{
	assert_int_equal(chdir("/"), 0); /* no work tree: only the given commit */
	desk_open(d, columns, rows);
	desk_add(d, "User", "Which database?");
	desk_add(d, "AI", "SQLite, for a desktop app.");
	desk_do(d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"duck\","
		   "\"git_commit\":\"c0ffee0123456789\"}]");
	desk_do(d, "[{\"op\":\"discussion.new\",\"name\":\"sqlite-notes\"}]");
	desk_add(d, "User", "Tell me about journals");
	desk_press(d, "f4");
}

static void
lists(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 80, 9);
	assert_screen(
		&d,
		" sqlite-notes  take: sqlite-notes  1 entry                    no model  ~10 tok\n"
		" Discussions                                                                  2\n"
		" Search:\n"
		" ▸ Which database?                    1 entry,      2 takes    2023-11-14 22:13\n"
		"›  sqlite-notes ← now                 1 entry                  2023-11-14 22:13\n"
		"\n\n\n"
		" Enter open  Ctrl+N new  Ctrl+R rename  Ctrl+D delete  F1 keys  Esc close\n");
	desk_press(&d, "up right");
	assert_shows(&d, "›▾ Which database?                    1 entry,      2 takes    2023-11-14 22:13\n"
			 "     main  SQLite, for a desktop ap…  2 entries                2023-11-14 22:13\n"
			 "     duck (active)                    1 entry       c0ffee012  2023-11-14 22:13\n"
			 "   sqlite-notes ← now");
	desk_press(&d, "down left");
	assert_shows(&d, "›▸ Which database?  ");
	assert_false(desk_shows(&d, "duck"));
	desk_press(&d, "tab");
	assert_shows(&d, "duck (active)");
	desk_press(&d, "escape");
	assert_int_equal(d.tui.pane_count, 1);
	desk_close(&d);
}

static void
narrow(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 40, 10);
	d.tui.canvas.utf8 = false;
	desk_press(&d, "up right");
	assert_screen(&d, " sqlite-notes         no model  ~10 tok\n"
			  " Discussions                          2\n"
			  " Search:\n"
			  ">v Which database?\n"
			  "     main  SQLite, for a desktop app.\n"
			  "     duck (active)\n"
			  "   sqlite-notes <- now\n"
			  "\n\n"
			  " Enter open  F1 keys  Esc close\n");
	desk_close(&d);
}

static void
any_size(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 300, 100);
	assert_fits(&d, "ctrl+u up right down s");
	assert_int_equal(d.tui.pane_count, 2);
	desk_close(&d);
}

static void
finds(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 80, 10);
	desk_type(&d, "sqlite");
	assert_shows(&d, "2 found\n"
			 " Search: sqlite\n"
			 "›  sqlite-notes ← now                 1 entry                  2023-11-14 22:13\n"
			 "   Which database? main AI SQLite, for a desktop app.          2023-11-14 22:13\n");
	/* Entries alone. */
	desk_press(&d, "escape");
	desk_type(&d, "/sqlite");
	assert_shows(&d, " Search: /sqlite\n"
			 "›  Which database? main AI SQLite, for a desktop app.          2023-11-14 22:13\n");
	/* There: the other discussion, its other take, the entry. */
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 1);
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "main"));
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "main"));
	assert_shows(&d, "▌ AI");
	/* The same from a text typed elsewhere. */
	assert_int_equal(rt_pane_discussions(&d.tui, RT_STR("journals")), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_shows(&d, "›  sqlite-notes sqlite-notes User Tell me about journals");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "nobody said this");
	assert_shows(&d, "No match.");
	desk_press(&d, "escape escape");
	assert_int_equal(d.tui.pane_count, 1);
	desk_close(&d);
}

/* The track of a discussion is shown, finds it, and leads there and back. */
static void
tracks(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 80, 9);
	desk_do(&d, "[{\"op\":\"track.set\",\"track\":\"night\",\"discussion\":\"main\"}]");
	assert_shows(&d, " ▸ Which database?  night ");
	desk_type(&d, "nigh");
	assert_shows(&d, " Search: nigh\n"
			 "›▸ Which database?  night ");
	assert_false(desk_shows(&d, "sqlite-notes ← now"));
	desk_press(&d, "escape escape");
	desk_do(&d, "[{\"op\":\"track.toggle\"}]");
	assert_shows(&d, " Which database?  take: ");
	desk_do(&d, "[{\"op\":\"track.toggle\"}]");
	assert_shows(&d, " sqlite-notes  take: ");
	desk_close(&d);
}

/* A search that is cleared leaves the cursor where it was before, unless it was moved. */
static void
clears_the_search(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 80, 12);
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"third-notes\"}]");
	desk_do(&d, "[{\"op\":\"discussion.switch\",\"discussion\":\"sqlite-notes\"}]");
	desk_press(&d, "home down down"); /* the new one is the first */
	assert_shows(&d, "›  sqlite-notes");
	desk_type(&d, "desktop app");
	assert_shows(&d, "›  Which database? main AI");
	desk_press(&d, "escape");
	assert_shows(&d, "›  sqlite-notes");
	desk_type(&d, "-notes");
	assert_shows(&d, "›  third-notes");
	desk_press(&d, "down escape");
	assert_shows(&d, "›  sqlite-notes");
	/* The same with a search from the beginning. */
	desk_press(&d, "escape");
	assert_int_equal(rt_pane_discussions(&d.tui, RT_STR("desktop app")), RT_OK);
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	desk_press(&d, "escape");
	assert_shows(&d, "›  sqlite-notes ← now");
	desk_close(&d);
}

/* A long search is shown up to its end. */
static void
shows_the_end_of_a_long_search(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 40, 10);
	desk_type(&d, "tell me all that you know about them!");
	assert_shows(&d, " Search: …all that you know about them!\n");
	desk_press(&d, "home");
	desk_press(&d, "ctrl+a");
	assert_shows(&d, " Search: tell me all that you know about");
	desk_close(&d);
}

/* Far from the end of another discussion, and it is visible there. */
static void
goes_to_what_was_found(void **state)
{
	desk d;
	char text[40];
	int i;

	(void)state;
	desk_open(&d, 80, 16);
	for (i = 1; i <= 60; i++) {
		(void)snprintf(text, sizeof(text), "thought %d", i);
		desk_add(&d, i % 2 ? "User" : "AI", text);
	}
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"second\"}]");
	desk_press(&d, "f4");
	desk_type(&d, "thought 17");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 1);
	assert_shows(&d, "▌ User                                                                        17\n");
	assert_shows(&d, "thought 17\n");
	desk_close(&d);
}

/* The match is visible. */
static void
marks_what_matched(void **state)
{
	desk d;
	rt_canvas *c = &d.tui.canvas;
	int x, y, marked = 0;
	rt_buf screen;

	(void)state;
	open_story(&d, 80, 10);
	desk_type(&d, "/desk");
	screen = desk_screen(&d);
	rt_buf_deinit(&screen);
	for (y = 0; y < c->rows; y++)
		for (x = 0; x < c->columns; x++)
			marked += (c->cells[y * c->columns + x].ink & 0xFF) == RT_INK_MATCH;
	assert_int_equal(marked, (int)strlen("desk"));
	desk_close(&d);
}

static void
changes(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 80, 12);
	desk_press(&d, "ctrl+n");
	assert_shows(&d, " Name of the new discussion");
	assert_shows(&d, "› discussion-2");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "third");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 1);
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "third"));
	desk_press(&d, "f4 ctrl+r");
	desk_type(&d, "-one");
	desk_press(&d, "enter");
	assert_shows(&d, "›  third-one ← now");
	/* Another discussion's name cannot redirect the action. */
	desk_press(&d, "alt+end ctrl+r");
	desk_type(&d, "-too");
	desk_press(&d, "enter");
	assert_shows(&d, "-too  ");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "third-one"));
	desk_press(&d, "alt+u alt+home");
	/* Leaving a question changes nothing. */
	desk_press(&d, "ctrl+r");
	desk_type(&d, "x");
	desk_press(&d, "escape");
	assert_shows(&d, "›  third-one ← now");
	desk_press(&d, "ctrl+d");
	assert_false(desk_shows(&d, "third-one ←"));
	desk_press(&d, "ctrl+o");
	assert_shows(&d, "third-one (deleted)");
	desk_press(&d, "home enter");
	assert_int_equal(d.tui.pane_count, 2);
	desk_press(&d, "ctrl+o alt+u");
	/* After redo the place is restored; after another undo the view moves elsewhere. */
	assert_shows(&d, "third-one ← now");
	desk_press(&d, "alt+r");
	assert_false(desk_shows(&d, "third-one ←"));
	desk_press(&d, "alt+u");
	assert_shows(&d, "third-one ← now");
	/* A name in use is refused, with a message. */
	desk_press(&d, "home ctrl+r ctrl+u");
	desk_type(&d, "sqlite-notes");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.notice_ink, RT_INK_ERROR);
	/* The last one stays. */
	for (int i = 0; i < 3; i++) {
		desk_press(&d, "ctrl+d");
		if (desk_shows(&d, "Delete it"))
			desk_press(&d, "enter");
	}
	assert_int_equal(d.tui.notice_ink, RT_INK_ERROR);
	assert_shows(&d, "Discussions                                                                  1");
	desk_close(&d);
}

/* The current discussion, and one with many entries, is deleted only after a confirmation. */
static void
deletion_asks(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 80, 12);
	desk_press(&d, "ctrl+d");
	desk_press(&d, "y"); /* letters do not answer */
	assert_shows(&d, "Delete the discussion \"");
	assert_shows(&d, "Enter  Delete it; Alt+U restores it");
	desk_press(&d, "escape");
	assert_shows(&d, "← now");
	desk_press(&d, "delete");
	assert_shows(&d, "Enter  Delete it; Alt+U restores it");
	desk_press(&d, "enter");
	assert_shows(&d, "Deleted discussion");
	assert_shows(&d, "undo: Alt+U");
	/* In a search Del edits the text. */
	desk_type(&d, "ma");
	desk_press(&d, "ctrl+a delete");
	assert_shows(&d, "Search: a");
	assert_false(desk_shows(&d, "Delete it"));
	desk_close(&d);
}

static void
takes(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 80, 12);
	/* To a take of another discussion. */
	desk_press(&d, "up right down enter");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "main"));
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "main"));
	desk_press(&d, "f4 right down down ctrl+r");
	desk_type(&d, "s");
	desk_press(&d, "enter");
	assert_shows(&d, "›    ducks");
	desk_press(&d, "alt+p");
	assert_shows(&d, " Name of the new discussion for this take");
	desk_press(&d, "enter");
	assert_shows(&d, "   ducks ← now");
	assert_shows(&d, "   main ");
	desk_press(&d, "alt+u");
	assert_shows(&d, "     ducks");
	desk_press(&d, "home down down ctrl+d");
	assert_false(desk_shows(&d, "     ducks"));
	/* A discussion cannot become active here. */
	desk_press(&d, "home alt+p");
	assert_true(rt_str_starts(rt_buf_str(&d.tui.notice), RT_STR("Only a take can become")));
	desk_close(&d);
}

/* A take that cannot be made active is only shown, and stays in view; nothing is changed. */
static void
read_only(void **state)
{
	uint64_t seq;
	desk d;

	(void)state;
	open_story(&d, 80, 12);
	d.tui.work.read_only = true;
	seq = d.tui.work.value->seq;
	desk_press(&d, "up right down enter");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "main"));
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "main"));
	assert_shows(&d, "SQLite, for a desktop app.");
	assert_int_equal(d.tui.pane_count, 1);
	/* For the discussion itself: its active take. */
	desk_press(&d, "f4 home enter");
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "duck"));
	desk_press(&d, "f4");
	desk_type(&d, "journals");
	desk_press(&d, "enter");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "sqlite-notes"));
	/* Found in a take that is not active. */
	desk_press(&d, "f4");
	desk_type(&d, "desktop");
	desk_press(&d, "enter");
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "main"));
	assert_shows(&d, "SQLite, for a desktop app.");
	assert_int_equal(d.tui.work.value->seq, seq);
	/* Another process continues, and the view stays. */
	d.tui.work.read_only = false;
	desk_do(&d, "[{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"more\"}]");
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "main"));
	desk_close(&d);
}

static void
assert_lacks(desk *d, const char *part)
{
	rt_buf screen = desk_screen(d);

	if (rt_str_find(rt_buf_str(&screen), rt_str_of(part), 0) != SIZE_MAX)
		fail_msg("the screen is\n%s\nwith\n%s", screen.ptr, part);
	rt_buf_deinit(&screen);
}

/* Pins, the archive and tags are steps, and decide which discussions are listed. */
static void
pins_archive_and_tags(void **state)
{
	desk d;

	(void)state;
	open_story(&d, 110, 12);
	desk_press(&d, "end alt+i");
	assert_shows(&d, "›  sqlite-notes (pinned) ← now ");
	desk_press(&d, "home");
	assert_shows(&d, "›  sqlite-notes (pinned)"); /* it comes first now */
	desk_press(&d, "alt+g");
	desk_type(&d, " work/db ,, urgent ");
	desk_press(&d, "enter");
	assert_shows(&d, "  #work/db  #urgent (pinned)");
	desk_press(&d, "down");
	assert_shows(&d, "›▸ Which database?");
	desk_press(&d, "alt+a");
	assert_lacks(&d, "Which database?");
	desk_press(&d, "ctrl+o down");
	assert_shows(&d, "Which database? (archived)");
	desk_press(&d, "alt+a");
	desk_press(&d, "ctrl+o");
	assert_shows(&d, "Which database?");
	desk_type(&d, "/"); /* a search of entries: none of them is archived */
	assert_shows(&d, "  2\n");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "urg");
	assert_lacks(&d, "Which database?");
	assert_shows(&d, "sqlite-notes");
	desk_close(&d);
}

/* "~words" is a search by meaning if there is a model for it, and else a text. Nothing is sent here: the provider has
 * no embeddings, and the list says so. */
static void
searches_by_meaning(void **state)
{
	rt_error err;
	desk d;

	(void)state;
	desk_open(&d, 80, 10);
	desk_add(&d, "User", "about ~feline");
	desk_press(&d, "f4");
	desk_type(&d, "~feline");
	assert_shows(&d, "2 found"); /* with the discussion, whose title it is */
	desk_press(&d, "ctrl+u");
#ifdef RT_WITH_TOML
	rt_config_free(d.session.config);
	assert_int_equal(rt_config_read(rt_alloc_libc(), RT_STR("embedding_model = \"anthropic/x\""), &d.session.config,
					&err), RT_OK);
	desk_type(&d, "~cat");
	assert_shows(&d, "does not offer embeddings");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "feline");
	assert_shows(&d, "2 found"); /* with the discussion, whose title it is */
#else
	(void)err;
#endif
	desk_close(&d);
}

/* Names and texts cannot leave their place. */
static void
untrusted(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 10);
	desk_add(&d, "User", "\x1b]0;title\x07 evil \x1b[2J \xe2\x80\xae gone \xc2\x9b" "31m\r\n\tb");
	desk_do(&d, "[{\"op\":\"discussion.rename\",\"discussion\":\"main\",\"name\":\"a\\u001b[31mb\\nc\"}]");
	desk_press(&d, "f4");
	desk_type(&d, "e");
	desk_press(&d, "backspace");
	desk_type(&d, "evil");
	assert_tame(&d, "evil");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(narrow),
		cmocka_unit_test(any_size),
		cmocka_unit_test(finds),
		cmocka_unit_test(tracks),
		cmocka_unit_test(clears_the_search),
		cmocka_unit_test(shows_the_end_of_a_long_search),
		cmocka_unit_test(goes_to_what_was_found),
		cmocka_unit_test(marks_what_matched),
		cmocka_unit_test(changes),
		cmocka_unit_test(deletion_asks),
		cmocka_unit_test(takes),
		cmocka_unit_test(read_only),
		cmocka_unit_test(pins_archive_and_tags),
		cmocka_unit_test(searches_by_meaning),
		cmocka_unit_test(untrusted),
	};

	return cmocka_run_group_tests_name("pane_discussions", tests, NULL, NULL);
}
