/* SPDX-License-Identifier: MIT
 *
 * The palette: actions of the present screen, and commands of the command line. The program that it
 * runs is this test itself, which prints its arguments. */
#define _GNU_SOURCE

#include <unistd.h>

#include "log/folder_testing.h"
#include "tui/command_host.h"
#include "tui/tui_testing.h"

/* ---- the program ---- */

/* Acts as the program: prints the arguments after the flags for the place, in brackets; some
 * commands also have an effect. */
static int
be_the_program(int argc, char **argv)
{
	const char *color = getenv("NO_COLOR"), *term = getenv("TERM");
	int i, from = 1;

	while (from < argc && strcmp(argv[from], "--no-pager") != 0)
		from++;
	from++;
	if (from < argc && strcmp(argv[from], "status") == 0) {
		puts("One line.");
		return 0;
	}
	if (from < argc && strcmp(argv[from], "show") == 0) {
		fprintf(stderr, "retake: no entry matches \"9z\"\n  Entries: retake show   More: retake help show\n");
		return 3;
	}
	if (from < argc && strcmp(argv[from], "ls") == 0) {
		for (i = 0; i < 200000; i++)
			puts("far too much of it");
		return 0;
	}
	if (from < argc && strcmp(argv[from], "undo") == 0)
		return 0;
	printf("%s, %s\n", getenv("RETAKE_DB") != NULL ? "the store" : "-", getenv("RETAKE_PROJECT"));
	for (i = 1; i < argc; i++)
		printf("[%s]\n", argv[i]);
	printf("%s %s\n", color != NULL ? color : "-", term != NULL ? term : "-");
	return 0;
}

/* ---- words ---- */

static void
assert_words(const char *line, const char *expected)
{
	size_t count = 99, i;
	rt_buf words;

	rt_buf_init(&words, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_command_split(rt_str_of(line), &words, &count, NULL), RT_OK);
	for (i = 0; i < words.size; i++)
		if (words.ptr[i] == 0)
			words.ptr[i] = '|';
	assert_string_equal(words.ptr == NULL ? "" : words.ptr, expected);
	for (i = 0; *expected != 0; expected++)
		i += *expected == '|';
	assert_int_equal(count, i);
	rt_buf_deinit(&words);
}

static void
splits(void **state)
{
	rt_error err;
	size_t count;
	rt_buf words;

	(void)state;
	assert_words("", "");
	assert_words("  \t ", "");
	assert_words("takes rename a b", "takes|rename|a|b|");
	assert_words("  add  'two words'  ", "add|two words|");
	assert_words("add \"it's\" 'say \"so\"'", "add|it's|say \"so\"|");
	assert_words("add '' \"\"", "add|||");
	assert_words("a\\ b c\\\"d", "a b|c\"d|");
	assert_words("\"a\\\"b\\\\c\\d\" 'a\\b'", "a\"b\\c\\d|a\\b|");
	assert_words("pre'fix'\"ed\"", "prefixed|");
	setenv("HOME", "/home/a b", 1);
	assert_words("import ~/x ~ a~/b '~/c' \\~/d ~/",
		     "import|/home/a b/x|~|a~/b|~/c|~/d|/home/a b/|");
	assert_words("$HOME `ls` ; rm * > x &", "$HOME|`ls`|;|rm|*|>|x|&|");
	rt_buf_init(&words, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_command_split(RT_STR("add 'so"), &words, &count, &err), RT_USAGE);
	assert_string_equal(err.text, "missing closing quote '");
	rt_buf_deinit(&words);
}

/* ---- the screen ---- */

typedef struct fixture {
	desk d;
	char folder[128], path[160];
} fixture;

static void
open_fixture(fixture *f, int columns, int rows)
{
	assert_true(test_folder(f->folder, sizeof(f->folder), "pane_palette_test"));
	(void)snprintf(f->path, sizeof(f->path), "%s/a.db", f->folder);
	desk_open_at(&f->d, f->path, columns, rows);
}

static void
close_fixture(fixture *f)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char path[200];
	size_t i;

	desk_close(&f->d);
	for (i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s%s", f->path, ends[i]);
		(void)unlink(path);
	}
	(void)rmdir(f->folder);
}

static void
lists(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 70, 14);
	desk_press(&d, "f3 ctrl+p");
	/* The actions of the history, with their keys, and not the keys that move. */
	assert_shows(&d, " Commands\n"
			 ":\n"
			 "› revert            revert only this step                      Ctrl+R\n"
			 "  undo              undo the last step                          Alt+U\n");
	assert_false(desk_shows(&d, "the row above"));
	/* An exact name goes before a match in the description. */
	desk_type(&d, "undo");
	assert_shows(&d, "› undo              undo the last step                          Alt+U\n"
			 "  undo              undo the newest steps                       /undo\n");
	desk_press(&d, "ctrl+u");
	/* A name before one that contains it, and that before other words and scattered letters. */
	desk_type(&d, "find");
	assert_shows(&d, "› search            find a step                                     /\n"
			 "  search            search all discussions                    /search\n"
			 "  find-next         next match                                  Alt+N\n"
			 "  find-previous     previous match                        Alt+Shift+N\n");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "fprev");
	assert_shows(&d, "› find-previous     previous match                        Alt+Shift+N\n");
	/* The row used last is first the next time. */
	desk_press(&d, "enter ctrl+p");
	assert_shows(&d, ":\n"
			 "› find-previous     previous match                        Alt+Shift+N\n"
			 "  revert ");
	desk_type(&d, "nothing is like this");
	assert_shows(&d, "No match.");
	desk_press(&d, "escape");
	assert_int_equal(d.tui.pane_count, 2);
	desk_close(&d);
}

/* Common words for operations that have another name; each with a row that does it. */
static void
finds_by_other_words(void **state)
{
	static const char *const words[][2] = {
		{"promote", "promote "},   {"rename", "rename "},      {"roles", "roles "},
		{"track", "track "},       {"filter", "only "},       {"settings", "settings "},
		{"reset", "reset "},       {"save", "save "},          {"summary", "compact "},
		{"summarize", "compress "}, {"compact", "compact "},   {"read mode", "source "},
		{"mode", "view "},    {"collapse", "view "},      {"expand all", "expand "},
		{"fork", "extract "},      {"switch", "branches "},   {"session", "use "},
		{"navigate", "go "},       {"bookmark", "label "},     {"persona", "only "},
		{"append", "add "},        {"truncate", "truncate "},  {"insert", "insert "},
		{"snapshot", "history "},  {"redact", "purge "},       {"regenerate", "again "},
		{"screenshots", "files "}, {"preferences", "settings "}, {"cherry", "graft "},
		{"role", "only "},        {"only", "only "},         {"hide", "only "},
		{"clear", "clear "},      {"search", "search "},     {"label", "label "},
		{"share", "export "},     {"cost", "status "},        {"usage", "status "},
		{"picture", "attach "},   {"theme", "config "},      {"folder", "tag "},
		{"server", "serve "},      {"checkpoint", "save "},    {"system prompt", "system "},
	};
	desk d;

	(void)state;
	desk_open(&d, 80, 40);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char row[2][40];

		desk_press(&d, "ctrl+p");
		desk_type(&d, words[i][0]);
		(void)snprintf(row[0], sizeof(row[0]), "› %s ", words[i][1]);
		(void)snprintf(row[1], sizeof(row[1]), "  %s ", words[i][1]);
		if (!desk_shows(&d, row[0]) && !desk_shows(&d, row[1]))
			fail_msg("\"%s\" does not find %s", words[i][0], words[i][1]);
		desk_press(&d, "escape");
	}
	desk_close(&d);
}

/* If an action and a command have the same name, the action is listed first; a command that
 * needs more words is completed in the chat. */
static void
offers_safely(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 20);
	desk_add(&d, "User", "one");
	desk_press(&d, "ctrl+p");
	desk_type(&d, "clear");
	assert_shows(&d, "› clear             stop the reply, or clear the input");
	assert_shows(&d, "\n  clear             start a new discussion; the current one is kept");
	desk_press(&d, "enter");
	assert_int_equal(rt_work_count(&d.tui.work), 1);
	desk_press(&d, "ctrl+p");
	desk_type(&d, "mute");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 1);
	assert_shows(&d, " > /mute\n");
	desk_press(&d, "ctrl+u ctrl+p");
	desk_type(&d, "rename");
	desk_press(&d, "enter");
	assert_shows(&d, " New name of this discussion ");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "other");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 1);
	assert_shows(&d, "Renamed");
	desk_type(&d, "/rm");
	desk_press(&d, "enter");
	assert_notice(&d, "Which discussion? Ctrl+D deletes the selected one");
	assert_shows(&d, "›  other ← now");
	desk_press(&d, "escape");
	desk_type(&d, "/clear");
	desk_press(&d, "enter");
	assert_int_equal(rt_work_count(&d.tui.work), 0);
	desk_type(&d, "/resume oth");
	desk_press(&d, "enter");
	assert_shows(&d, " Search: oth\n");
	desk_press(&d, "enter");
	assert_int_equal(rt_work_count(&d.tui.work), 1);
	desk_type(&d, "/compare");
	desk_press(&d, "enter");
	assert_notice(&d, "There is no other take to compare with");
	desk_close(&d);
}

/* Slash commands that are not commands of the command line. */
static void
runs_slash_commands(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 70, 14);
	desk_add(&d, "User", "one");
	desk_add(&d, "AI", "two");
	desk_add(&d, "Coder", "three");
	desk_press(&d, "ctrl+p");
	desk_type(&d, "persona");
	desk_press(&d, "tab");
	assert_shows(&d, ": only\n");
	desk_type(&d, "Coder");
	assert_shows(&d, "› only ");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 1);
	assert_shows(&d, "only Coder and User");
	assert_false(desk_shows(&d, "two"));
	desk_press(&d, "ctrl+p");
	desk_type(&d, "branches");
	desk_press(&d, "enter");
	assert_shows(&d, "Which take");
	desk_press(&d, "escape");
	/* If the screen has a key for it, that is the row. */
	desk_press(&d, "ctrl+p");
	desk_type(&d, "choose a model");
	assert_shows(&d, "› model             choose a model                             Ctrl+L");
	assert_false(desk_shows(&d, "/model"));
	desk_close(&d);
}

/* A command that is also a slash command does what that does, however it is chosen. */
static void
opens_the_same_screens(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 70, 20);
	desk_add(&d, "User", "one");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"other\"}]");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"third\"}]");
	desk_press(&d, "ctrl+p");
	desk_type(&d, "takes");
	desk_press(&d, "enter");
	assert_shows(&d, "Which take");
	assert_shows(&d, "Tab compare");
	desk_press(&d, "escape ctrl+p");
	desk_type(&d, "takes ");
	desk_press(&d, "enter");
	assert_shows(&d, "Which take");
	desk_press(&d, "escape ctrl+p");
	desk_type(&d, "compare");
	desk_press(&d, "enter");
	assert_shows(&d, "Compare with which take");
	desk_press(&d, "down enter");
	assert_shows(&d, "Differences between two takes");
	desk_press(&d, "escape f2 ctrl+p"); /* from another screen, too */
	desk_type(&d, "diff");
	desk_press(&d, "enter");
	assert_shows(&d, "Compare with which take");
	desk_close(&d);
}

/* A command that needs words is completed where they can be typed, with what they are. */
static void
asks_for_words(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 90, 20);
	desk_add(&d, "User", "one");
	desk_press(&d, "ctrl+p");
	desk_type(&d, "image");
	assert_shows(&d, "› attach ");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 1);
	assert_shows(&d, " > /attach\n");
	assert_notice(&d, "/attach FILE…: attach files to the next message");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "/import");
	desk_press(&d, "enter");
	assert_shows(&d, " > /import\n");
	assert_notice(&d, "Which file? Tab completes its name");
	desk_press(&d, "ctrl+u ctrl+p");
	desk_type(&d, "merge");
	assert_shows(&d, "› merge-take ");
	desk_press(&d, "enter");
	assert_shows(&d, ": merge-take\n");
	desk_close(&d);
}

static void
acts_on_what_is_below(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 70, 14);
	desk_add(&d, "User", "one");
	desk_press(&d, "f3 ctrl+p");
	desk_type(&d, "filter: discussion");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 2);
	assert_shows(&d, "only: discussion");
	/* Actions for all screens work here. */
	desk_press(&d, "ctrl+p");
	desk_type(&d, "press twice");
	desk_press(&d, "enter");
	assert_int_equal(d.tui.pane_count, 3);
	assert_shows(&d, " Keys here ");
	desk_press(&d, "q ctrl+p u n d o enter");
	assert_shows(&d, "●─┘ the beginning ← now");
	desk_close(&d);
}

static void
completes(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 70, 16);
	desk_add(&d, "User", "one");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"duck pond\"}]");
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"second\"}]");
	desk_press(&d, "ctrl+p");
	desk_type(&d, "sta");
	desk_press(&d, "tab");
	assert_shows(&d, ": status\n");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "use ");
	assert_shows(&d, ": use\n"
			 "› use DISCUSSION\n"
			 "    main\n"
			 "    second\n");
	desk_type(&d, "m");
	desk_press(&d, "down tab");
	assert_shows(&d, ": use main\n");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "help vers");
	desk_press(&d, "escape ctrl+p");
	desk_type(&d, "use m");
	desk_press(&d, "down enter");
	assert_shows(&d, ": use main\n");
	desk_do(&d, "[{\"op\":\"discussion.switch\",\"discussion\":\"main\"}]");
	desk_press(&d, "ctrl+u");
	desk_type(&d, "promote d");
	desk_press(&d, "down tab");
	/* A name of several words stays one. */
	assert_shows(&d, ": promote 'duck pond'\n");
	desk_close(&d);
}

/* A name that would be a flag is written by its number. */
static void
completes_no_flags(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 70, 16);
	desk_add(&d, "User", "one");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"-x\"}]");
	desk_do(&d, "[{\"op\":\"discussion.new\",\"name\":\"--db=/nonexistent/evil.db\"}]");
	desk_press(&d, "ctrl+p");
	desk_type(&d, "use --");
	desk_press(&d, "down tab");
	assert_shows(&d, ": use d2\n");
	desk_press(&d, "ctrl+u");
	desk_do(&d, "[{\"op\":\"discussion.switch\",\"discussion\":\"main\"}]");
	desk_type(&d, "promote -");
	desk_press(&d, "down tab");
	assert_shows(&d, ": promote t2\n");
	desk_close(&d);
}

static void
runs(void **state)
{
	fixture f;
	desk *d = &f.d;

	(void)state;
	open_fixture(&f, 70, 20);
	/* Several lines are shown in a reader, one as a notice. */
	desk_press(d, "ctrl+p");
	desk_type(d, "takes rename 'a b' c");
	desk_press(d, "enter");
	assert_int_equal(d->tui.pane_count, 2);
	assert_shows(d, " takes rename 'a b' c                                        1-9 of 9\n"
			"the store, default\n"
			"[--no-input]\n"
			"[--no-color]\n"
			"[--no-pager]\n"
			"[takes]\n"
			"[rename]\n"
			"[a b]\n"
			"[c]\n"
			"1 dumb\n");
	desk_press(d, "q ctrl+p");
	desk_type(d, "status");
	desk_press(d, "enter");
	assert_int_equal(d->tui.pane_count, 1);
	assert_notice(d, "One line.");
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("retake show 9z")), RT_OK);
	desk_press(d, "f5");
	assert_notice(d, "No entry matches \"9z\".  Entries: /show.  More: /help show");
	assert_int_equal(d->tui.notice_ink, RT_INK_ERROR);
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("undo")), RT_OK);
	desk_press(d, "f5");
	assert_notice(d, "Done");
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("ls")), RT_OK);
	desk_press(d, "f5 G");
	assert_shows(d, "(stopped: it printed more than can be displayed)");
	desk_press(d, "q");
	/* An earlier notice is not shown below the text to read. */
	rt_tui_say_done(&d->tui, "Said long ago");
	assert_shows(d, "Said long ago");
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("takes rename a b")), RT_OK);
	desk_press(d, "f5");
	assert_shows(d, "[rename]");
	assert_notice(d, "");
	close_fixture(&f);
}

/* If another place than the active one is in view, commands use it, too. */
static void
runs_where_one_looks(void **state)
{
	fixture f;
	desk *d = &f.d;

	(void)state;
	open_fixture(&f, 70, 24);
	desk_do(d, "[{\"op\":\"discussion.new\",\"name\":\"second\"}]");
	/* The last word that there can be, chosen with Enter, runs the command. */
	desk_press(d, "ctrl+p");
	desk_type(d, "use m");
	desk_press(d, "down enter f5");
	assert_shows(d, "[use]\n[main]\n");
	desk_press(d, "escape");
	assert_int_equal(rt_work_look_at(&d->tui.work, 1, 0, NULL), RT_OK);
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("tree")), RT_OK);
	desk_press(d, "f5");
	assert_shows(d, "[--discussion]\n[main]\n[--no-input]");
	close_fixture(&f);
}

static void
refuses(void **state)
{
	fixture f;
	desk *d = &f.d;
	desk memory;

	(void)state;
	open_fixture(&f, 70, 16);
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("serve")), RT_OK);
	desk_press(d, "f5");
	assert_notice(d, "Serve cannot run here: it runs until stopped; start it in another "
			 "terminal");
	assert_int_equal(d->tui.pane_count, 1);
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("chat")), RT_OK);
	assert_true(rt_str_starts(rt_buf_str(&d->tui.notice), RT_STR("Chat cannot run here")));
	/* Flags before it do not hide the command. */
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("--quiet serve")), RT_OK);
	assert_true(rt_str_starts(rt_buf_str(&d->tui.notice), RT_STR("Serve cannot run here")));
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("-d main tui")), RT_OK);
	assert_true(rt_str_starts(rt_buf_str(&d->tui.notice), RT_STR("Tui cannot run here")));
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("-q")), RT_OK);
	assert_notice(d, "No command given");
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("show a\0b")), RT_OK);
	assert_notice(d, "The command contains a NUL byte");
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("serch x")), RT_OK);
	assert_notice(d, "There is no command \"serch\"; did you mean search?");
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR("add 'x")), RT_OK);
	assert_notice(d, "Missing closing quote '");
	assert_int_equal(rt_pane_palette_run(&d->tui, RT_STR(" ")), RT_OK);
	assert_notice(d, "No command given");
	/* A line with an error can be corrected. */
	desk_press(d, "f5 ctrl+p");
	desk_type(d, "add 'x");
	desk_press(d, "enter");
	assert_shows(d, ": add 'x\n");
	close_fixture(&f);
	desk_open(&memory, 70, 16);
	assert_int_equal(rt_pane_palette_run(&memory.tui, RT_STR("status")), RT_OK);
	assert_true(rt_str_starts(rt_buf_str(&memory.tui.notice), RT_STR("This store is in memory")));
	desk_close(&memory);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits),
		cmocka_unit_test(lists),
		cmocka_unit_test(finds_by_other_words),
		cmocka_unit_test(offers_safely),
		cmocka_unit_test(runs_slash_commands),
		cmocka_unit_test(opens_the_same_screens),
		cmocka_unit_test(asks_for_words),
		cmocka_unit_test(acts_on_what_is_below),
		cmocka_unit_test(completes),
		cmocka_unit_test(completes_no_flags),
		cmocka_unit_test(runs),
		cmocka_unit_test(runs_where_one_looks),
		cmocka_unit_test(refuses),
	};

	if (argc > 1 && strncmp(argv[1], "--", 2) == 0)
		return be_the_program(argc, argv);
	return cmocka_run_group_tests_name("pane_palette", tests, NULL, NULL);
}
