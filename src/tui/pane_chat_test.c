/* SPDX-License-Identifier: MIT
 *
 * The chat: marked entries, unsent text, and parts below the view. */
#define _GNU_SOURCE

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "tui/pane_chat_impl.h"
#include "tui/tui_testing.h"

/* Four entries with distinct texts. */
static void
open_four(desk *d)
{
	desk_open(d, 80, 24);
	desk_add(d, "User", "one, of France");
	desk_add(d, "AI", "two");
	desk_add(d, "User", "three");
	desk_add(d, "AI", "four");
}

static void
until_it_ends(desk *d)
{
	while (rt_work_is_running(&d->tui.work)) {
		assert_int_equal(rt_tui_tend(&d->tui), RT_OK);
		(void)sched_yield();
	}
}

/* ---- marked entries ---- */

static void
find_france(desk *d)
{
	desk_press(d, "f4");
	desk_type(d, "/France"); /* entries alone: the title shows it, too */
	assert_shows(d, "1 found");
	desk_press(d, "enter");
	assert_shows(d, "▌ User"); /* not the cursor: the input has the keyboard */
	assert_shows(d, " Enter send  Alt+Up select the marked entry  Alt+E edit it  Alt+M label it");
}

/* A match of a search is marked, and keys act on it. */
static void
keys_act_on_what_is_marked(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	find_france(&d);
	desk_press(&d, "alt+m");
	assert_shows(&d, "Label of User, entry 1 (leave empty to remove)");
	desk_press(&d, "escape alt+e");
	assert_shows(&d, "User, entry 1 - edits in place");
	desk_press(&d, "escape alt+w");
	assert_true(rt_str_is(rt_buf_str(&d.tui.clip), "one, of France"));
	/* It stays the same entry when another one is inserted before it, and moves with it. */
	desk_do(&d, "[{\"op\":\"entry.insert\",\"before\":\":1\",\"role\":\"User\",\"content\":\"zero\"}]");
	desk_press(&d, "alt+m");
	assert_shows(&d, "Label of User, entry 2 (leave empty to remove)");
	desk_press(&d, "escape");
	desk_do(&d, "[{\"op\":\"entry.delete\",\"entry\":\":2\"}]");
	assert_false(desk_shows(&d, "▌ User"));
	desk_press(&d, "alt+m");
	assert_shows(&d, "Label of AI, entry 4 (leave empty to remove)");
	desk_close(&d);
}

/* Escape, and moving elsewhere, remove the mark. */
static void
marks_go(void **state)
{
	static const char *const ways[] = {"escape", "alt+end", "alt+home", "alt+up escape"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		desk d;

		open_four(&d);
		find_france(&d);
		desk_press(&d, ways[i]);
		assert_false(desk_shows(&d, "▌ User"));
		desk_press(&d, "alt+m");
		assert_shows(&d, "Label of AI, entry 4 (leave empty to remove)");
		desk_close(&d);
	}
}

/* The result of a change of several names all of them. */
/* A label that is longer than its row ends before the number. */
static void
long_labels(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 40, 12);
	desk_add(&d, "User", "one");
	desk_add(&d, "AI", "two");
	desk_do(&d, "[{\"op\":\"label.set\",\"entry\":\":1\",\"label\":"
		    "\"a label that goes on and on to the edge\"}]");
	assert_shows(&d, "\n  User #a label that goes on and on t… 1\n");
	desk_do(&d, "[{\"op\":\"head.move\",\"entry\":\":1\"}]");
	assert_shows(&d, "\n  User #a label that goes o… ← active  1\n");
	desk_size(&d, 10, 12);
	assert_shows(&d, "\n  User #a…\n");
	desk_close(&d);
}

/* Entries hidden by programs are not shown to users, nor do keys reach them. */
static void
hidden_entries(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_do(&d, "[{\"op\":\"entry.insert\",\"before\":\":2\",\"role\":\"Hook\",\"kind\":"
		    "\"custom_message\",\"content\":\"concealed\",\"display\":false}]");
	desk_do(&d, "[{\"op\":\"entry.append\",\"kind\":\"custom\",\"content\":\"state\"}]");
	assert_false(desk_shows(&d, "concealed"));
	assert_false(desk_shows(&d, "state"));
	assert_shows(&d, "two");
	desk_press(&d, "alt+up");
	assert_shows(&d, "› AI"); /* the fourth, not the state after it */
	desk_press(&d, "enter");
	assert_notice(&d, "Already at this point");
	desk_press(&d, "alt+up up up up alt+m");
	assert_shows(&d, "Label of User, entry 1 (leave empty to remove)");
	desk_press(&d, "escape down alt+m");
	assert_shows(&d, "Label of AI, entry 3 (leave empty to remove)");
	desk_press(&d, "escape escape");
	desk_do(&d, "[{\"op\":\"entry.append\",\"role\":\"Hook\",\"kind\":\"custom_message\",\"content\":"
		    "\"displayed\",\"customType\":\"myhook\"}]");
	assert_shows(&d, "Hook [myhook] ");
	desk_close(&d);
}

static void
several_are_told_of(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_press(&d, "alt+up home shift+down alt+m");
	desk_type(&d, "good");
	desk_press(&d, "enter");
	assert_shows(&d, "\n Labelled 2 entries: 1, 2   step 5 - undo: Alt+U\n");
	desk_press(&d, "alt+m ctrl+u enter");
	assert_shows(&d, "\n Removed the labels of 2 entries: 1, 2   step 6 - undo: Alt+U\n");
	desk_press(&d, "alt+shift+h");
	assert_shows(&d, "\n Muted 2 entries");
	desk_close(&d);
}

/* ---- the input ---- */

/* Escape in a text of several lines keeps it if it was changed. */
static void
what_was_written_is_kept(void **state)
{
	static const char *const ways[] = {"alt+e", "alt+up alt+a", "alt+p"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		desk d;

		open_four(&d);
		desk_press(&d, ways[i]);
		desk_press(&d, "escape");
		assert_notice(&d, "Cancelled; nothing was changed");
		desk_press(&d, ways[i]);
		desk_type(&d, " and words of mine");
		desk_press(&d, "escape");
		assert_notice(&d, "Cancelled; nothing was changed.  Your text was kept: press Up in "
				  "the chat's input");
		desk_press(&d, i == 1 ? "escape up" : "up");
		assert_shows(&d, "and words of mine");
		desk_close(&d);
	}
}

/* Text over which a command was typed is in the input again, which is announced; a word for a file that
 * is no longer attached is not. */
static void
what_a_command_leaves(void **state)
{
	char path[] = "/tmp/rt_chat_XXXXXX";
	char line[80];
	int file = mkstemp(path);
	desk d;

	(void)state;
	assert_true(file >= 0 && write(file, "a note\n", 7) == 7);
	(void)close(file);
	open_four(&d);
	desk_type(&d, "abc def");
	rt_pane_chat_keep(&d.tui, true); /* as after a pause */
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	desk_press(&d, "ctrl+u");
	desk_type(&d, "/detach");
	desk_press(&d, "enter");
	assert_notice(&d, "Nothing is attached.  Your draft was restored");
	assert_shows(&d, " > abc def\n");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "see @");
	desk_type(&d, path);
	desk_press(&d, "tab");
	assert_notice(&d, "Attached to the next message");
	desk_type(&d, "here");
	desk_press(&d, "ctrl+p");
	desk_type(&d, "detach");
	desk_press(&d, "enter");
	assert_shows(&d, " > see here\n");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "see @");
	desk_type(&d, path);
	desk_press(&d, "tab");
	desk_type(&d, "too");
	desk_press(&d, "ctrl+a");
	assert_shows(&d, "Backspace at the start removes it");
	desk_press(&d, "backspace");
	assert_shows(&d, " > see too\n");
	assert_false(desk_shows(&d, "removes it"));
	/* Ctrl+C clears the files, too. */
	desk_press(&d, "ctrl+u");
	desk_type(&d, "see @");
	desk_type(&d, path);
	desk_press(&d, "tab ctrl+c");
	assert_notice(&d, "Cleared the text and the attached file.  The text was kept: press Up");
	assert_false(desk_shows(&d, "removes it"));
	assert_int_equal(rt_chat_attached_number(rt_chat_of(d.tui.panes[0])), 0);
	desk_press(&d, "up");
	assert_shows(&d, " > see @");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "/attach ");
	desk_type(&d, path);
	desk_press(&d, "enter ctrl+c");
	assert_notice(&d, "Removed the attached file from the message");
	assert_int_equal(rt_chat_attached_number(rt_chat_of(d.tui.panes[0])), 0);
	assert_false(d.tui.ends);
	(void)snprintf(line, sizeof(line), "/import %.*s", (int)sizeof(path) - 4, path);
	desk_type(&d, line);
	desk_press(&d, "tab");
	(void)snprintf(line, sizeof(line), " > /import %s\n", path);
	assert_shows(&d, line);
	(void)unlink(path);
	desk_close(&d);
}

/* A template is chosen from a list, filled in, and put into the input. */
static void
uses_a_template(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_type(&d, "/template");
	desk_press(&d, "enter");
	assert_notice(&d, "No templates yet.  Save one: /template save NAME \"Review {{file}}.\"; use "
			  "it: /NAME");
	desk_do(&d, "[{\"op\":\"setting.set\",\"which\":\"project\",\"key\":\"template.city\","
		    "\"value\":\"Name three sights of {{city}}.\"}]");
	desk_press(&d, "ctrl+p");
	desk_type(&d, "template");
	desk_press(&d, "enter");
	assert_shows(&d, "/city");
	assert_shows(&d, "Name three sights of {{city}}.");
	desk_press(&d, "enter");
	assert_shows(&d, "city: city");
	desk_type(&d, "Lisbon");
	desk_press(&d, "enter");
	assert_shows(&d, " > Name three sights of Lisbon.");
	desk_close(&d);
}

/* A single press does not leave; the second does. */
static void
leaving_with_something_written(void **state)
{
	rt_key quit;
	desk d;

	(void)state;
	open_four(&d);
	assert_int_equal(rt_key_read(RT_STR("ctrl+q"), &quit, NULL), RT_OK);
	desk_type(&d, "half");
	assert_int_equal(rt_tui_key(&d.tui, quit), RT_OK);
	assert_false(d.tui.ends);
	assert_notice(&d, "Press the key again to quit; your text will be restored next time");
	desk_type(&d, " a thought");
	assert_int_equal(rt_tui_key(&d.tui, quit), RT_OK);
	assert_false(d.tui.ends);
	assert_int_equal(rt_tui_key(&d.tui, quit), RT_OK);
	assert_true(d.tui.ends);
	desk_close(&d);
}

/* At a branch point, the keys go to the takes of the entry's siblings, in view. */
static void
siblings(void **state)
{
	char text[24];
	desk d;

	(void)state;
	desk_open(&d, 80, 12);
	for (int i = 1; i <= 16; i++) {
		(void)snprintf(text, sizeof(text), "text %d", i);
		desk_add(&d, i % 2 == 1 ? "User" : "AI", text);
	}
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":10\",\"name\":\"shares\"}]");
	desk_add(&d, "User", "shares entry 3");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":2\",\"name\":\"side\"}]");
	desk_add(&d, "User", "the sibling");
	desk_press(&d, "alt+up");
	assert_shows(&d, "User < 2/2 >");
	desk_press(&d, "left");
	assert_shows(&d, "take: main");
	assert_shows(&d, "User < 1/2 >");
	assert_shows(&d, "text 3");
	desk_press(&d, "right"); /* not to "shares", which has this entry too */
	assert_shows(&d, "take: side");
	assert_shows(&d, "the sibling");
	desk_press(&d, "right"); /* after the last one, the first */
	assert_shows(&d, "take: main");
	assert_shows(&d, "text 3");
	desk_close(&d);
}

/* A command after Ctrl+C does not bring the cleared text back, whose draft was stored before. */
static void
cleared_text(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_type(&d, "stale text");
	rt_pane_chat_keep(&d.tui, true);
	desk_press(&d, "ctrl+c");
	desk_type(&d, "/model builtin/text");
	desk_press(&d, "enter");
	assert_shows(&d, "Set model to \"builtin/text\"");
	assert_false(desk_shows(&d, "stale text"));
	desk_close(&d);
}

/* ---- messages ---- */

/* The way back is named by the key of the present screen. */
/* Undo reverts a step in view: for a step elsewhere it names the place, and no key. */
static void
a_revert_in_another_discussion(void **state)
{
	rt_work_said said;
	rt_error err;
	desk d;

	(void)state;
	desk_open(&d, 80, 16);
	desk_add(&d, "User", "one");
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"second\"}]");
	rt_work_said_init(&said, d.tui.alloc);
	assert_int_equal(work_apply_json(&d.tui.work, "[{\"op\":\"revert\",\"seq\":1}]", &said,
				       &err),
			 RT_OK);
	rt_tui_say_change(&d.tui, &said);
	rt_work_said_deinit(&said);
	desk_press(&d, "");
	assert_shows(&d, "This changed discussion \"main\"");
	assert_false(desk_shows(&d, "undo: "));
	desk_close(&d);
}

static void
undo_says_how_many_there_were(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 16);
	desk_add(&d, "User", "one");
	desk_add(&d, "User", "two");
	desk_type(&d, "/undo 5");
	desk_press(&d, "enter");
	assert_shows(&d, "Undone: 2 steps. 2 of 5 steps: there are no more steps to undo.");
	desk_close(&d);
}

static void
the_way_back_by_the_key_that_works(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_press(&d, "alt+up alt+e");
	desk_type(&d, "!");
	desk_press(&d, "enter");
	assert_shows(&d, " - undo: Alt+U\n");
	desk_press(&d, "escape");
	assert_shows(&d, " - undo: /undo or Alt+U\n");
	desk_press(&d, "alt+p");
	assert_false(desk_shows(&d, "undo:"));
	desk_press(&d, "escape alt+up alt+u");
	assert_shows(&d, " - redo: Alt+R\n");
	desk_press(&d, "escape");
	assert_shows(&d, " - redo: /redo or Alt+R\n");
	desk_close(&d);
}

/* Everything in a footer works: a list has no lines, and no editor. */
static void
footers_of_lists(void **state)
{
	static const char *const ways[] = {"alt+up alt+shift+r", "ctrl+l", "ctrl+p", "f2 home enter", "f3 /",
					   "alt+up alt+p /"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		desk d;

		open_four(&d);
		desk_press(&d, ways[i]);
		assert_false(desk_shows(&d, "Alt+Enter"));
		assert_false(desk_shows(&d, "editor\n"));
		assert_shows(&d, i < 4 ? "\n Up, Down choose   Enter " : "\n Enter find   Esc cancel");
		desk_press(&d, "escape");
		assert_false(desk_shows(&d, "Esc cancel"));
		desk_close(&d);
	}
}

/* The last row of the next frame. */
static void
assert_footer(desk *d, const char *begin)
{
	rt_buf frame = desk_frame(d);
	rt_str rows = rt_str_trim(rt_buf_str(&frame));
	size_t at = rows.size;

	while (at > 0 && rows.ptr[at - 1] != '\n')
		at--;
	if (!rt_str_starts(rt_str_trim(rt_str_at(rows.ptr + at, rows.size - at)), rt_str_of(begin)))
		fail_msg("the frame is\n%s\nand its footer does not begin with %s", frame.ptr, begin);
	rt_buf_deinit(&frame);
}

/* It belongs to the screen above it, in each frame: a key that it names works. */
static void
the_footer_is_of_its_frame(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	d.tui.work.said_model = "builtin/echo";
	assert_footer(&d, "Enter send");
	desk_type(&d, "five");
	assert_int_equal(rt_tui_key(&d.tui, (rt_key){RT_KEY_ENTER, 0}), RT_OK);
	assert_true(rt_work_is_running(&d.tui.work));
	assert_footer(&d, "Esc stops the reply");
	assert_int_equal(rt_tui_key(&d.tui, (rt_key){RT_KEY_UP, RT_KEY_ALT}), RT_OK);
	assert_footer(&d, "Enter continue");
	assert_int_equal(rt_tui_key(&d.tui, (rt_key){RT_KEY_ESCAPE, 0}), RT_OK);
	assert_footer(&d, "Esc stops the reply");
	until_it_ends(&d);
	assert_footer(&d, "Enter send");
	assert_int_equal(rt_work_count(&d.tui.work), 6);
	desk_press(&d, "f2");
	assert_footer(&d, "Enter go");
	desk_press(&d, "/");
	assert_footer(&d, "Enter keep matches");
	desk_press(&d, "escape");
	assert_footer(&d, "Enter go");
	/* Also if only its rows fit. */
	desk_press(&d, "/");
	rt_tui_say_done(&d.tui, "%0200d", 0);
	desk_size(&d, 80, 7);
	assert_footer(&d, "Enter keep matches");
	desk_press(&d, "escape");
	rt_tui_say_done(&d.tui, "%0200d", 0);
	assert_footer(&d, "Enter go");
	desk_close(&d);
}

/* ---- sent questions ---- */

static size_t
times_shown(desk *d, const char *part)
{
	rt_buf frame = desk_frame(d);
	size_t at = 0, count = 0;

	while ((at = rt_str_find(rt_buf_str(&frame), rt_str_of(part), at)) != SIZE_MAX) {
		at++;
		count++;
	}
	rt_buf_deinit(&frame);
	return count;
}

/* A question is visible once from Enter on; and it is not an entry before it is stored. */
static void
a_question_is_seen_at_once(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	d.tui.work.said_model = "builtin/echo";
	desk_type(&d, "fifth words");
	assert_int_equal(rt_tui_key(&d.tui, (rt_key){RT_KEY_ENTER, 0}), RT_OK);
	assert_int_equal(times_shown(&d, "  User (not stored yet) ...\n  fifth words\n"), 1);
	assert_int_equal(times_shown(&d, "AI ..."), 0);
	while (rt_work_is_running(&d.tui.work)) {
		assert_int_equal(times_shown(&d, "  fifth words\n"), 1);
		assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
		(void)sched_yield();
	}
	assert_int_equal(times_shown(&d, "  fifth words\n"), 1);
	assert_int_equal(times_shown(&d, "not stored"), 0);
	desk_close(&d);
}

/* A model that always fails: the previous question is not put into the input again. */
static void
no_question_comes_back_that_is_stored(void **state)
{
	static const char said[] = "{\"error\":{\"message\":\"worn out\"}}\n{\"next\":true}\n";
	char path[200], model[240];
	desk d;
	int fd;

	(void)state;
	assert_true(test_path(path, sizeof(path), "retake-model"));
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, said, sizeof(said) - 1), sizeof(said) - 1);
	(void)close(fd);
	(void)snprintf(model, sizeof(model), "builtin/play:%s", path);
	open_four(&d);
	d.tui.work.said_model = model;
	desk_type(&d, "fifth words");
	desk_press(&d, "enter");
	until_it_ends(&d);
	assert_notice(&d, "Worn out.  Ask again: Enter");
	assert_int_equal(rt_work_count(&d.tui.work), 5);
	desk_press(&d, "enter"); /* again, with an empty input */
	until_it_ends(&d);
	assert_notice(&d, "Worn out.  Ask again: Enter");
	assert_shows(&d, "\n >\n");
	desk_close(&d);
	(void)unlink(path);
}

/* ---- too little space ---- */

/* Muted entries and those after the head are not sent, so they do not count. */
static void
tokens_that_are_sent(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 20);
	desk_add(&d, "User", "four letters and many more of them");
	desk_add(&d, "AI", "four letters and many more of them");
	assert_shows(&d, " ~26 tok");
	desk_do(&d, "[{\"op\":\"entry.mute\",\"entry\":\":2\"}]");
	assert_shows(&d, " ~13 tok");
	desk_press(&d, "alt+u");
	assert_shows(&d, " ~26 tok");
	desk_do(&d, "[{\"op\":\"head.move\",\"entry\":\":1\"}]");
	assert_shows(&d, " ~13 tok");
	/* a record kept from an import is not sent; an image is */
	desk_do(&d, "[{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"four\",\"import_raw\":"
		    "\"a long record of another program, with ids, times and addresses\"}]");
	assert_shows(&d, " ~18 tok");
	desk_do(&d, "[{\"op\":\"entry.append\",\"role\":\"User\",\"content\":[{\"type\":\"image_url\","
		    "\"image_url\":{\"url\":\"https://example.org/a.png\"}}]}]");
	assert_shows(&d, " ~1k tok");
	desk_close(&d);
}

/* Commands: the number of further ones, and Down selects them; at the first one, Up recalls the
 * input history again. */
static void
more_commands_than_rows(void **state)
{
	desk d;
	int i;

	(void)state;
	open_four(&d);
	desk_type(&d, "said before");
	desk_press(&d, "escape");
	desk_type(&d, "/");
	assert_shows(&d, "/again ");
	assert_shows(&d, " more: Down\n");
	assert_false(desk_shows(&d, "/undo "));
	desk_press(&d, "down");
	assert_shows(&d, "› /again ");
	for (i = 0; i < 40; i++)
		desk_press(&d, "down");
	assert_shows(&d, "› /undo ");
	assert_false(desk_shows(&d, "/again "));
	assert_false(desk_shows(&d, " more: Down\n"));
	for (i = 0; i < 40 && !desk_shows(&d, "› /again "); i++)
		desk_press(&d, "up");
	assert_shows(&d, " more: Down\n");
	assert_shows(&d, "> /\n");
	desk_press(&d, "up");
	assert_shows(&d, "> said before");
	desk_close(&d);
}

/* A suggestion that was selected: Tab puts it into the input, Enter also carries it out. */
static void
selects_suggestions(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_do(&d, "[{\"op\":\"setting.set\",\"key\":\"template.hum\",\"value\":\"Hum {{what}}\"}]");
	desk_type(&d, "/h");
	assert_shows(&d, "\n  /history ");
	assert_shows(&d, "\n  /hum                template\n");
	desk_press(&d, "tab");
	assert_shows(&d, "\n› /help ");
	assert_shows(&d, "> /h\n");
	desk_press(&d, "down tab");
	assert_shows(&d, "> /history\n");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "/h");
	desk_press(&d, "down down enter");
	assert_shows(&d, " History of ");
	desk_press(&d, "escape");
	desk_type(&d, "/comp");
	desk_press(&d, "down enter"); /* it may have words */
	assert_shows(&d, "> /compact\n");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "/h"); /* nothing is selected: as it was typed */
	desk_press(&d, "enter");
	assert_notice(&d, "/h is not unique: /help, /history, /hooks");
	desk_press(&d, "ctrl+u alt+up alt+i");
	assert_shows(&d, " New entry before AI, entry 4, role User ");
	desk_type(&d, "between");
	desk_press(&d, "enter space"); /* the new one is selected */
	assert_notice(&d, "1 marked: keys act on the marked entries (Alt+0 unmarks)   "
			  "Shift+Up, Shift+Down mark more");
	assert_shows(&d, "\n✓ User                                                                         4\n");
	desk_close(&d);
}

/* The first character that is typed replaces the text of the last search; any other key keeps it. */
static void
finds_again(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_press(&d, "ctrl+f");
	desk_type(&d, "o");
	desk_press(&d, "enter");
	assert_notice(&d, "Match 3 of 3");
	desk_press(&d, "ctrl+f");
	desk_type(&d, "thr");
	desk_press(&d, "enter");
	assert_notice(&d, "Match 1 of 1");
	desk_press(&d, "ctrl+f backspace");
	desk_press(&d, "enter");
	assert_notice(&d, "Match 1 of 1");
	desk_close(&d);
}

/* Two words are a name; the take, too, can be renamed. */
static void
renames(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_type(&d, "/rename Garden year");
	desk_press(&d, "enter");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "Garden year"));
	desk_type(&d, "/rename-take plan b");
	desk_press(&d, "enter");
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "plan b"));
	desk_type(&d, "/takes");
	desk_press(&d, "enter ctrl+r ctrl+u");
	desk_type(&d, "plan c");
	desk_press(&d, "enter");
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "plan c"));
	desk_close(&d);
}

/* A take that becomes shorter than the view: the view is filled. */
static void
a_shorter_take_fills_the_view(void **state)
{
	desk d;
	int i;

	(void)state;
	desk_open(&d, 80, 24);
	for (i = 0; i < 20; i++)
		desk_add(&d, "User", "something");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":9\",\"name\":\"short\"}]");
	desk_do(&d, "[{\"op\":\"take.switch\",\"take\":\"main\"}]");
	assert_shows(&d, "   20\n");
	desk_press(&d, "alt+home pagedown");
	assert_shows(&d, " more below: ");
	desk_do(&d, "[{\"op\":\"take.switch\",\"take\":\"short\"}]");
	assert_false(desk_shows(&d, " more below: "));
	assert_shows(&d, "   9\n");
	assert_shows(&d, "   4\n");
	desk_close(&d);
}

/* Entries that another take does not have are not marked in it. */
/* Space marks and does not move; Shift+Up and Shift+Down mark a range, and unmark on the way back. */
static void
ranges_of_marks(void **state)
{
	desk d;
	const rt_chat *chat;

	(void)state;
	open_four(&d);
	chat = rt_chat_of(d.tui.panes[0]);
	desk_press(&d, "alt+up space");
	assert_int_equal(chat->sel, 3);
	assert_int_equal(chat->mark_count, 1);
	assert_notice(&d, "1 marked: keys act on the marked entries (Alt+0 unmarks)   "
			  "Shift+Up, Shift+Down mark more");
	desk_press(&d, "up space");
	assert_int_equal(chat->mark_count, 2);
	desk_press(&d, "space");
	assert_int_equal(chat->mark_count, 1);
	desk_press(&d, "alt+0 home down shift+down shift+down");
	assert_int_equal(chat->sel, 3);
	assert_int_equal(chat->mark_count, 3);
	desk_press(&d, "shift+down"); /* the last one: stays */
	assert_int_equal(chat->mark_count, 3);
	desk_press(&d, "shift+up shift+up shift+up");
	assert_int_equal(chat->sel, 0);
	assert_int_equal(chat->mark_count, 2);
	desk_press(&d, "alt+d");
	assert_shows(&d, "Deleted 2 entries");
	desk_press(&d, "?");
	assert_shows(&d, "Shift+Down");
	desk_close(&d);
}

/* Text in the input is the question to several models, and leaves the input when it is sent. */
static void
question_to_models(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	desk_type(&d, "typed before");
	desk_press(&d, "ctrl+l space down space enter");
	assert_shows(&d, " Question to these models ");
	assert_shows(&d, "› typed before");
	desk_press(&d, "escape");
	assert_shows(&d, " > typed before\n");
	desk_press(&d, "ctrl+l space down space enter");
	desk_type(&d, "!");
	desk_press(&d, "enter");
	until_it_ends(&d);
	assert_false(desk_shows(&d, " > typed"));
	assert_shows(&d, "\n  typed before!\n");
	assert_shows(&d, "2 replies, each in a take");
	desk_press(&d, "up");
	assert_shows(&d, " > typed before!\n");
	desk_press(&d, "ctrl+u");
	/* The models of replies beside each other are named in the chat, the tree, the list of takes and
	 * the comparison. */
	assert_shows(&d, "  AI < 1/2 > builtin/");
	desk_press(&d, "f2");
	assert_shows(&d, "AI (builtin/echo): ");
	assert_shows(&d, "AI (builtin/summary): ");
	desk_press(&d, "escape");
	desk_type(&d, "/takes");
	desk_press(&d, "enter");
	assert_shows(&d, "2 entries, builtin/echo, ");
	assert_shows(&d, "2 entries, builtin/summary, ");
	desk_press(&d, "escape");
	desk_type(&d, "/diff");
	desk_press(&d, "enter");
	assert_shows(&d, "AI 2, - builtin/");
	assert_shows(&d, ", + builtin/");
	desk_press(&d, "escape");
	desk_close(&d);
}

/* A provider that was added to config.toml after the start needs a restart. */
static void
changed_configuration(void **state)
{
	char dir[] = "/tmp/pane_chat_config_XXXXXX", path[80];
	FILE *file;
	desk d;

	(void)state;
	open_four(&d);
	desk_type(&d, "/model slow/one");
	desk_press(&d, "enter");
	assert_shows(&d, "There is no provider \"slow\"");
	assert_false(desk_shows(&d, "restart Retake"));
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/retake", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/retake/config.toml", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs("[provider.slow]\nkind = \"openai\"\nurl = \"http://127.0.0.1:9/v1\"\n", file);
	(void)fclose(file);
	setenv("XDG_CONFIG_HOME", dir, 1);
	desk_press(&d, "ctrl+u");
	desk_type(&d, "/model slow/one");
	desk_press(&d, "enter");
	assert_shows(&d, "config.toml was changed after the start: restart Retake to use it");
	(void)unlink(path);
	path[strlen(path) - strlen("/config.toml")] = 0;
	(void)rmdir(path);
	(void)rmdir(dir);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	desk_close(&d);
}

/* A large paste is displayed as one word, and sent in full. */
static void
folded_paste(void **state)
{
	rt_buf text;
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (int i = 1; i <= 1234; i++)
		rt_buf_add_f(&text, "line %d%s", i, i < 1234 ? "\n" : "");
	assert_int_equal(rt_tui_paste(&d.tui, RT_STR("one\ntwo")), RT_OK);
	assert_shows(&d, " > one\n   two\n"); /* a small one is not folded */
	desk_press(&d, "ctrl+c");
	desk_type(&d, "see: ");
	assert_int_equal(rt_tui_paste(&d.tui, rt_buf_str(&text)), RT_OK);
	assert_shows(&d, " Tab shows the paste ");
	assert_shows(&d, "\n > see: [pasted 1,234 lines]\n");
	desk_type(&d, " end");
	desk_press(&d, "ctrl+home");
	desk_type(&d, "Please ");
	assert_shows(&d, "\n > Please see: [pasted 1,234 lines] end\n");
	desk_press(&d, "tab");
	assert_shows(&d, "   line 3\n");
	desk_press(&d, "ctrl+c");
	assert_int_equal(rt_tui_paste(&d.tui, rt_buf_str(&text)), RT_OK);
	assert_int_equal(rt_tui_paste(&d.tui, RT_STR("\nand more")), RT_OK);
	assert_shows(&d, "\n > [pasted 1,235 lines]\n");
	desk_press(&d, "backspace"); /* what is changed is shown */
	assert_shows(&d, "   and mor\n");
	desk_press(&d, "ctrl+c");
	/* A long line, too. */
	rt_buf_clear(&text);
	for (int i = 0; i < 3000; i++)
		rt_buf_add_byte(&text, 'x');
	assert_int_equal(rt_tui_paste(&d.tui, rt_buf_str(&text)), RT_OK);
	assert_shows(&d, "\n > [pasted 3,000 characters]\n");
	d.tui.work.said_model = "builtin/echo";
	desk_type(&d, "!");
	desk_press(&d, "enter");
	until_it_ends(&d);
	rt_buf_add_byte(&text, '!');
	desk_press(&d, "up");
	assert_true(rt_str_eq(rt_field_text(rt_chat_of(d.tui.panes[0])->field), rt_buf_str(&text)));
	rt_buf_deinit(&text);
	desk_close(&d);
}

/* A reply is shown in its discussion only; elsewhere the footer names it. */
static void
reply_in_another_discussion(void **state)
{
	char path[] = "/tmp/pane_chat_script_XXXXXX", model[64];
	const char *script = "{\"text\":\"Half of it \"}\n{\"wait_ms\":60000}\n";
	int file = mkstemp(path);
	desk d;

	(void)state;
	assert_true(file >= 0 && write(file, script, strlen(script)) == (ssize_t)strlen(script));
	(void)close(file);
	(void)snprintf(model, sizeof(model), "builtin/play:%s", path);
	desk_open(&d, 100, 24);
	desk_add(&d, "User", "first question");
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"second\"}]");
	d.tui.work.said_model = model;
	desk_type(&d, "asked here");
	desk_press(&d, "enter");
	while (d.tui.work.run_text.size == 0) {
		assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
		(void)sched_yield();
	}
	assert_shows(&d, "  Half of it\n");
	desk_do(&d, "[{\"op\":\"discussion.switch\",\"discussion\":\"main\"}]");
	assert_false(desk_shows(&d, "Half of it"));
	assert_shows(&d, "Esc stops the reply in \"second\"");
	desk_press(&d, "escape");
	until_it_ends(&d);
	assert_notice(&d, "Stopped; the partial reply is kept");
	(void)unlink(path);
	desk_close(&d);
}

static void
marks_are_of_the_take(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":2\",\"name\":\"short\"}]");
	desk_do(&d, "[{\"op\":\"take.switch\",\"take\":\"main\"}]");
	desk_press(&d, "alt+up space");
	assert_int_equal(rt_chat_of(d.tui.panes[0])->mark_count, 1);
	desk_do(&d, "[{\"op\":\"take.switch\",\"take\":\"short\"}]");
	assert_int_equal(rt_chat_of(d.tui.panes[0])->mark_count, 0);
	desk_close(&d);
}

/* One role and the questions; keys act on nothing that is hidden. */
static void
one_role_alone(void **state)
{
	desk d;

	(void)state;
	open_four(&d);
	desk_add(&d, "Tool", "five");
	desk_type(&d, "/only ai");
	desk_press(&d, "enter");
	assert_shows(&d, "only ai and User");
	assert_shows(&d, "two");
	assert_shows(&d, "three");
	assert_false(desk_shows(&d, "Tool  "));
	desk_type(&d, "/label mine");
	desk_press(&d, "enter");
	assert_shows(&d, "The entry at the head is not shown");
	desk_press(&d, "alt+m");
	assert_shows(&d, "The entry at the head is not shown");
	desk_press(&d, "alt+up alt+m");
	assert_shows(&d, "Label of AI, entry 4");
	desk_press(&d, "escape escape");
	desk_type(&d, "/only");
	desk_press(&d, "enter");
	assert_shows(&d, "Tool  ");
	assert_false(desk_shows(&d, "only ai"));
	desk_close(&d);
}

/* Of the first entry. */
static bool
is_read_mode(desk *d)
{
	unsigned view = 0;
	rt_slot slot;

	assert_int_equal(rt_seq_get(d->tui.work.take->slots, 0, &slot, NULL), RT_OK);
	assert_int_equal(rt_project_view(d->tui.work.value, slot.entry, &view, NULL), RT_OK);
	return (view & RT_VIEW_READ_MODE) != 0;
}

/* The flag of read mode: a question is rendered, too. */
static void
read_mode_renders_a_question(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	desk_add(&d, "User", "a **bold** word");
	assert_shows(&d, "a **bold** word");
	desk_do(&d, "[{\"op\":\"entry.view\",\"entry\":\":1\",\"read_mode\":true}]");
	assert_shows(&d, "a bold word");
	desk_close(&d);
}

/* An answer is rendered until its source is requested; the flag is shared with other programs. */
static void
source_of_an_answer(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	desk_add(&d, "AI", "a **bold** word");
	assert_shows(&d, "a bold word");
	desk_press(&d, "alt+up alt+shift+v");
	assert_shows(&d, "a **bold** word");
	assert_shows(&d, "Shown as source");
	desk_press(&d, "alt+shift+v");
	assert_shows(&d, "a bold word");
	assert_shows(&d, "Rendered as Markdown");
	assert_true(is_read_mode(&d));
	desk_press(&d, "escape");
	desk_type(&d, "/source");
	desk_press(&d, "enter");
	assert_shows(&d, "a **bold** word");
	assert_false(is_read_mode(&d));
	desk_close(&d);
}

/* The model and the tokens of a reply are shown if the entry is selected, and in the reader. */
static void
usage_of_a_reply(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 14);
	desk_add(&d, "User", "hello");
	desk_do(&d, "[{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"hi\",\"provider\":\"openai\","
		    "\"model\":\"gpt-5\",\"usage\":{\"input_tokens\":1200,\"output_tokens\":35,"
		    "\"cache_read_input_tokens\":800},\"duration_ms\":2450}]");
	assert_false(desk_shows(&d, "1200 tokens"));
	desk_press(&d, "alt+up");
	assert_shows(&d, "AI  openai/gpt-5, 1200 tokens in (800 cached), 35 out, 2.4 s");
	desk_press(&d, "up");
	assert_false(desk_shows(&d, "1200 tokens"));
	desk_press(&d, "down alt+p");
	assert_shows(&d, "hi\n\nopenai/gpt-5, 1200 tokens in (800 cached), 35 out, 2.4 s");
	assert_false(desk_shows(&d, "used: "));
	desk_size(&d, 120, 14); /* in the title of a wide terminal */
	assert_shows(&d, " tok  used: 1,200 tokens in, 35 out\n");
	desk_close(&d);
}

/* The title counts the files that are sent with the take. */
static void
tokens_of_files(void **state)
{
	char folder[128], before[4096];
	FILE *file;
	desk d;

	(void)state;
	assert_true(test_folder(folder, sizeof(folder), "pane_chat_test"));
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	file = fopen("notes.txt", "w");
	assert_non_null(file);
	for (int i = 0; i < 1000; i++)
		fputs("eight b\n", file);
	assert_int_equal(fclose(file), 0);
	desk_open(&d, 80, 14);
	desk_add(&d, "User", "hello");
	assert_shows(&d, " ~6 tok");
	desk_do(&d, "[{\"op\":\"files.set\",\"which\":\"files\",\"items\":[\"notes.txt\"]}]");
	assert_shows(&d, " ~2k tok");
	assert_int_equal(d.tui.work.file_tokens, rt_work_tokens(&d.tui.work) - 6);
	assert_in_range(d.tui.work.file_tokens, 2000, 2020);
	desk_press(&d, "alt+u");
	assert_shows(&d, " ~6 tok");
	desk_close(&d);
	assert_int_equal(unlink("notes.txt"), 0);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* The versions of an entry, one of which is restored in a separate step. */
static void
restores_a_version(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	desk_add(&d, "User", "the first text");
	desk_do(&d, "[{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"the second text\"}]");
	desk_do(&d, "[{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"the third text\"}]");
	desk_press(&d, "alt+up alt+v");
	assert_shows(&d, "Version 3 of 3, step 3, now");
	assert_shows(&d, "Ctrl+R restore a version");
	desk_press(&d, "ctrl+r");
	assert_shows(&d, "Restore which version?");
	assert_shows(&d, "2: step 2  the second text");
	assert_false(desk_shows(&d, "3: step 3")); /* it is current */
	desk_press(&d, "down enter");
	assert_shows(&d, "the first text");
	assert_false(desk_shows(&d, "Version"));
	desk_press(&d, "alt+u");
	assert_shows(&d, "the third text");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usage_of_a_reply), cmocka_unit_test(tokens_of_files),
		cmocka_unit_test(tokens_that_are_sent),
		cmocka_unit_test(keys_act_on_what_is_marked),
		cmocka_unit_test(marks_go),
		cmocka_unit_test(restores_a_version),
		cmocka_unit_test(marks_are_of_the_take),
		cmocka_unit_test(ranges_of_marks),
		cmocka_unit_test(question_to_models),
		cmocka_unit_test(changed_configuration),
		cmocka_unit_test(folded_paste),
		cmocka_unit_test(reply_in_another_discussion),
		cmocka_unit_test(several_are_told_of),
		cmocka_unit_test(hidden_entries),
		cmocka_unit_test(long_labels),
		cmocka_unit_test(what_was_written_is_kept),
		cmocka_unit_test(what_a_command_leaves),
		cmocka_unit_test(uses_a_template),
		cmocka_unit_test(leaving_with_something_written),
		cmocka_unit_test(siblings),
		cmocka_unit_test(cleared_text),
		cmocka_unit_test(the_way_back_by_the_key_that_works),
		cmocka_unit_test(a_revert_in_another_discussion),
		cmocka_unit_test(undo_says_how_many_there_were),
		cmocka_unit_test(footers_of_lists),
		cmocka_unit_test(the_footer_is_of_its_frame),
		cmocka_unit_test(a_question_is_seen_at_once),
		cmocka_unit_test(no_question_comes_back_that_is_stored),
		cmocka_unit_test(more_commands_than_rows), cmocka_unit_test(selects_suggestions),
		cmocka_unit_test(a_shorter_take_fills_the_view),
		cmocka_unit_test(finds_again), cmocka_unit_test(renames),
		cmocka_unit_test(one_role_alone),
		cmocka_unit_test(read_mode_renders_a_question),
		cmocka_unit_test(source_of_an_answer),
	};

	return cmocka_run_group_tests_name("pane_chat", tests, NULL, NULL);
}
