/* SPDX-License-Identifier: MIT
 *
 * The chat: marked entries, messages, and parts below the view. */
#define _GNU_SOURCE

#include <sys/stat.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "tui/pane_chat_impl.h"
#include "tui/tui_testing.h"

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
	desk_open_four(&d);
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

		desk_open_four(&d);
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
	desk_open_four(&d);
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
	desk_open_four(&d);
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
	desk_open_four(&d);
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

		desk_open_four(&d);
		d.tui.work.said_model = "builtin/echo";
		desk_add(&d, "User", "five");
		desk_press(&d, ways[i]);
		assert_false(desk_shows(&d, "Alt+Enter"));
		assert_false(desk_shows(&d, "editor\n"));
		assert_shows(&d, i < 4 ? "\n Up, Down choose   Enter " : "\n Enter find   Esc cancel");
		desk_press(&d, "escape");
		assert_false(desk_shows(&d, "Esc cancel"));
		desk_close(&d);
	}
}

/* Without a model there is no question about a summary of the branch that is left. */
static void
leaves_without_a_model(void **state)
{
	desk d;

	(void)state;
	desk_open_four(&d);
	desk_press(&d, "alt+up up up enter");
	desk_finish_run(&d);
	assert_shows(&d, "head 2 of 4");
	assert_notice(&d, "Moved to entry 2; the next message starts a new take   step 5 - undo: /undo or Alt+U");
	d.tui.work.said_model = "builtin/echo";
	desk_press(&d, "alt+u alt+up up up enter");
	assert_shows(&d, "Summarise the branch");
	desk_close(&d);
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
	desk_open_four(&d);
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
	desk_finish_run(&d);
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

/* ---- too little space ---- */

/* The first character that is typed replaces the text of the last search; any other key keeps it. */
static void
finds_again(void **state)
{
	desk d;

	(void)state;
	desk_open_four(&d);
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
	desk_open_four(&d);
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
	desk_open_four(&d);
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
	desk_finish_run(&d);
	assert_notice(&d, "Stopped; the partial reply is kept");
	(void)unlink(path);
	desk_close(&d);
}

static void
marks_are_of_the_take(void **state)
{
	desk d;

	(void)state;
	desk_open_four(&d);
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
	desk_open_four(&d);
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

/* Is the first entry selected, in read mode? */
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
		cmocka_unit_test(usage_of_a_reply),
		cmocka_unit_test(keys_act_on_what_is_marked),
		cmocka_unit_test(marks_go),
		cmocka_unit_test(restores_a_version),
		cmocka_unit_test(marks_are_of_the_take),
		cmocka_unit_test(ranges_of_marks),
		cmocka_unit_test(reply_in_another_discussion),
		cmocka_unit_test(several_are_told_of),
		cmocka_unit_test(hidden_entries),
		cmocka_unit_test(long_labels),
		cmocka_unit_test(siblings),
		cmocka_unit_test(the_way_back_by_the_key_that_works),
		cmocka_unit_test(a_revert_in_another_discussion),
		cmocka_unit_test(undo_says_how_many_there_were),
		cmocka_unit_test(footers_of_lists), cmocka_unit_test(leaves_without_a_model),
		cmocka_unit_test(the_footer_is_of_its_frame),
		cmocka_unit_test(a_shorter_take_fills_the_view),
		cmocka_unit_test(finds_again), cmocka_unit_test(renames),
		cmocka_unit_test(one_role_alone),
		cmocka_unit_test(read_mode_renders_a_question),
		cmocka_unit_test(source_of_an_answer),
	};

	return cmocka_run_group_tests_name("pane_chat", tests, NULL, NULL);
}
