/* SPDX-License-Identifier: MIT
 *
 * The chat's input: unsent text, sent questions, commands, large pastes. */
#define _GNU_SOURCE

#include <sys/stat.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "tui/pane_chat_impl.h"
#include "tui/tui_testing.h"

/* Escape in a text of several lines keeps it if it was changed. */
static void
what_was_written_is_kept(void **state)
{
	static const char *const ways[] = {"alt+e", "alt+up alt+a", "alt+p"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		desk d;

		desk_open_four(&d);
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
	desk_open_four(&d);
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
	assert_notice(&d, "Cleared the text and the attached file.  Both were kept: press Up");
	assert_false(desk_shows(&d, "removes it"));
	assert_int_equal(rt_chat_attached_number(rt_chat_of(d.tui.panes[0])), 0);
	desk_press(&d, "up");
	assert_shows(&d, " > see @");
	assert_int_equal(rt_chat_attached_number(rt_chat_of(d.tui.panes[0])), 1);
	desk_press(&d, "ctrl+u");
	desk_type(&d, "/attach ");
	desk_type(&d, path);
	desk_press(&d, "enter"); /* not twice */
	assert_int_equal(rt_chat_attached_number(rt_chat_of(d.tui.panes[0])), 1);
	desk_press(&d, "ctrl+c");
	assert_notice(&d, "Removed the attached file from the message.  Up attaches it again");
	assert_int_equal(rt_chat_attached_number(rt_chat_of(d.tui.panes[0])), 0);
	assert_false(d.tui.ends);
	desk_press(&d, "up");
	assert_int_equal(rt_chat_attached_number(rt_chat_of(d.tui.panes[0])), 1);
	assert_shows(&d, " >\n");
	desk_press(&d, "ctrl+c");
	(void)snprintf(line, sizeof(line), "/import %.*s", (int)sizeof(path) - 4, path);
	desk_type(&d, line);
	desk_press(&d, "tab");
	(void)snprintf(line, sizeof(line), " > /import %s\n", path);
	assert_shows(&d, line);
	(void)unlink(path);
	desk_close(&d);
}

/* Enter after "@PATH" attaches the file, and the next Enter sends. A path without a file is reported
 * first; names and addresses are text. */
static void
enter_attaches_files(void **state)
{
	static const char *const plain[] = {"ask @alice about it", "mail bob@example.com", "see @ 5",
					    "@alice.", "\"@a.md\""};
	char path[] = "/tmp/rt_chat_XXXXXX.md", line[80];
	int file = mkstemps(path, 3);
	rt_chat *chat;
	desk d;

	(void)state;
	assert_true(file >= 0 && write(file, "a note\n", 7) == 7);
	(void)close(file);
	desk_open(&d, 80, 24);
	d.tui.work.said_model = "builtin/echo";
	chat = rt_chat_of(d.tui.panes[0]);
	/* The cursor is after a part of the path, or after the path. */
	for (size_t cut = 0; cut <= 4; cut += 4) {
		(void)snprintf(line, sizeof(line), "read @%.*s", (int)(sizeof(path) - 1 - cut), path);
		desk_type(&d, line);
		assert_shows(&d, "Enter attaches it");
		desk_press(&d, "enter");
		assert_notice(&d, "Attached to the next message");
		assert_int_equal(rt_chat_attached_number(chat), 1);
		(void)snprintf(line, sizeof(line), " > read @%s \n", path);
		desk_press(&d, "enter");
		desk_finish_run(&d);
		assert_true(rt_field_is_empty(chat->field));
		assert_int_equal(rt_chat_attached_number(chat), 0);
	}
	assert_int_equal(rt_work_count(&d.tui.work), 4);
	/* In the middle of the text. */
	(void)snprintf(line, sizeof(line), "read (@x) @%s, please", path);
	desk_type(&d, line);
	desk_press(&d, "enter");
	assert_notice(&d, "Attached 1 file.  Enter sends the message");
	assert_int_equal(rt_work_count(&d.tui.work), 4);
	desk_press(&d, "enter");
	desk_finish_run(&d);
	assert_int_equal(rt_work_count(&d.tui.work), 6);
	/* There is no such file. */
	for (int i = 0; i < 2; i++) {
		desk_type(&d, i == 0 ? "read @missing.md and" : "@./missing");
		desk_press(&d, "enter");
		assert_notice(&d, i == 0 ? "There is no file missing.md.  Correct the path, or press Enter "
					   "again to send the text without this file"
					 : "There is no file ./missing.  Correct the path, or press Enter "
					   "again to send the text without this file");
		assert_int_equal(rt_work_count(&d.tui.work), 6 + 2 * i);
		desk_press(&d, "enter");
		desk_finish_run(&d);
		assert_int_equal(rt_work_count(&d.tui.work), 8 + 2 * i);
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		desk_type(&d, plain[i]);
		desk_press(&d, "enter");
		desk_finish_run(&d);
		assert_int_equal(rt_work_count(&d.tui.work), 12 + 2 * i);
	}
	desk_type(&d, "/ask-models builtin/echo builtin/reverse");
	desk_press(&d, "enter");
	desk_type(&d, "read @missing.md");
	desk_press(&d, "enter");
	assert_notice(&d, "The file missing.md is not attached: attach it with /attach, or send the text "
			  "again");
	(void)unlink(path);
	desk_close(&d);
}

/* A template is chosen from a list, filled in, and put into the input. */
static void
uses_a_template(void **state)
{
	desk d;

	(void)state;
	desk_open_four(&d);
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
	desk_open_four(&d);
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

/* A command after Ctrl+C does not bring the cleared text back, whose draft was stored before. */
static void
cleared_text(void **state)
{
	desk d;

	(void)state;
	desk_open_four(&d);
	desk_type(&d, "stale text");
	rt_pane_chat_keep(&d.tui, true);
	desk_press(&d, "ctrl+c");
	desk_type(&d, "/model builtin/text");
	desk_press(&d, "enter");
	assert_shows(&d, "Set model to \"builtin/text\"");
	assert_false(desk_shows(&d, "stale text"));
	desk_close(&d);
}

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
	desk_open_four(&d);
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
	desk_open_four(&d);
	d.tui.work.said_model = model;
	desk_type(&d, "fifth words");
	desk_press(&d, "enter");
	desk_finish_run(&d);
	assert_notice(&d, "Worn out.  Ask again: Enter");
	assert_int_equal(rt_work_count(&d.tui.work), 5);
	desk_press(&d, "enter"); /* again, with an empty input */
	desk_finish_run(&d);
	assert_notice(&d, "Worn out.  Ask again: Enter");
	assert_shows(&d, "\n >\n");
	desk_close(&d);
	(void)unlink(path);
}

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
	desk_open_four(&d);
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
	desk_open_four(&d);
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
	desk_finish_run(&d);
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
	desk_open_four(&d);
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
	assert_shows(&d, "config.toml has changed: restart Retake to apply the changes");
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
	desk_finish_run(&d);
	rt_buf_add_byte(&text, '!');
	desk_press(&d, "up");
	assert_true(rt_str_eq(rt_field_text(rt_chat_of(d.tui.panes[0])->field), rt_buf_str(&text)));
	rt_buf_deinit(&text);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_kept),
		cmocka_unit_test(what_a_command_leaves),
		cmocka_unit_test(enter_attaches_files),
		cmocka_unit_test(uses_a_template),
		cmocka_unit_test(leaving_with_something_written),
		cmocka_unit_test(cleared_text),
		cmocka_unit_test(a_question_is_seen_at_once),
		cmocka_unit_test(no_question_comes_back_that_is_stored),
		cmocka_unit_test(tokens_that_are_sent),
		cmocka_unit_test(more_commands_than_rows),
		cmocka_unit_test(selects_suggestions),
		cmocka_unit_test(question_to_models),
		cmocka_unit_test(changed_configuration),
		cmocka_unit_test(folded_paste),
		cmocka_unit_test(tokens_of_files),
	};

	return cmocka_run_group_tests_name("chat_input", tests, NULL, NULL);
}
