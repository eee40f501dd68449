/* SPDX-License-Identifier: MIT
 *
 * The table of keys fits together, and a file can change it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "terminal/keymap.h"

static rt_keymap *map;
static rt_error err;

static int
setup(void **state)
{
	(void)state;
	return rt_keymap_new(rt_alloc_libc(), &map, &err) == RT_OK ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	rt_keymap_free(map);
	return 0;
}

static rt_key
key(const char *word)
{
	rt_key k = {0, 0};

	assert_int_equal(rt_key_read(rt_str_of(word), &k, NULL), RT_OK);
	return k;
}

static rt_action
does(rt_screen screen, const char *word)
{
	return rt_keymap_action(map, screen, key(word));
}

static rt_status
reads(const char *toml)
{
	memset(&err, 0, sizeof(err));
	return rt_keymap_read(map, rt_str_of(toml), &err);
}

static void
test_no_key_means_two_things(void **state)
{
	const rt_key_row *a, *b;
	rt_key mine[RT_KEYS_MAX], its[RT_KEYS_MAX];
	size_t i, j, count, others;

	(void)state;
	for (a = rt_key_rows; a->action != RT_ACT_NONE; a++) {
		bool has_field = rt_screen_has_field(a->screen);

		count = rt_keymap_keys(map, a->screen, a->action, mine);
		assert_true(count > 0);
		for (b = rt_key_rows; b->action != RT_ACT_NONE; b++) {
			if (a == b)
				continue;
			/* One row for an action of a screen. */
			assert_false(a->screen == b->screen && a->action == b->action);
			if (a->action == b->action ||
			    !(a->screen == b->screen || (has_field && b->screen == RT_SCREEN_FIELD) ||
			      b->screen == RT_SCREEN_ANY))
				continue;
			/* In the chat, Ctrl+C clears the input instead of leaving. */
			if (a->action == RT_ACT_CLEAR && b->screen == RT_SCREEN_ANY)
				continue;
			others = rt_keymap_keys(map, b->screen, b->action, its);
			for (i = 0; i < count; i++)
				for (j = 0; j < others; j++)
					if (rt_key_eq(mine[i], its[j]))
						fail_msg("%s.%s and %s.%s have the same key (%s)",
							 rt_screen_word(a->screen),
							 rt_action_word(a->action),
							 rt_screen_word(b->screen),
							 rt_action_word(b->action), a->keys);
		}
	}
}

static void
test_where_something_is_written_letters_are_text(void **state)
{
	const rt_key_row *row;
	rt_key keys[RT_KEYS_MAX], slash = {'/', 0};
	size_t i, count;

	(void)state;
	for (row = rt_key_rows; row->action != RT_ACT_NONE; row++) {
		if (!rt_screen_has_field(row->screen) && row->screen != RT_SCREEN_FIELD &&
		    row->screen != RT_SCREEN_ANY)
			continue;
		count = rt_keymap_keys(map, row->screen, row->action, keys);
		for (i = 0; i < count; i++)
			assert_true(!rt_key_is_text(keys[i]) || row->action == RT_ACT_HELP);
	}
	assert_true(rt_keymap_is_text(map, RT_SCREEN_CHAT, slash));
	assert_true(rt_keymap_is_text(map, RT_SCREEN_FIELD, slash));
	assert_true(rt_keymap_is_text(map, RT_SCREEN_ENTRY, slash));
	assert_false(rt_keymap_is_text(map, RT_SCREEN_TREE, slash));
}

/* Typing by mistake changes nothing: a character marks, searches, shows help or is text. In a
 * reader, where nothing can be changed, characters move. */
static void
test_no_character_changes_anything(void **state)
{
	rt_action action;
	uint32_t c;
	int screen;

	(void)state;
	for (screen = 0; screen < RT_SCREEN_COUNT; screen++)
		for (c = ' '; c < 0x7F; c++) {
			action = rt_keymap_action(map, (rt_screen)screen, (rt_key){c, 0});
			if (action == RT_ACT_NONE || screen == RT_SCREEN_READER)
				continue;
			if ((c == ' ' && action == RT_ACT_MARK) || (c == '/' && action == RT_ACT_SEARCH) ||
			    (c == '?' && action == RT_ACT_HELP))
				continue;
			fail_msg("%c is %s.%s", (int)c, rt_screen_word((rt_screen)screen),
				 rt_action_word(action));
		}
	for (c = ' '; c < 0x7F; c++) {
		action = rt_keymap_action(map, RT_SCREEN_READER, (rt_key){c, 0});
		assert_true(action != RT_ACT_COPY && action != RT_ACT_EDITOR && action != RT_ACT_PALETTE);
	}
}

static void
test_every_action_has_a_key_and_a_word(void **state)
{
	const rt_key_row *row;
	int action, other;

	(void)state;
	for (action = 1; action < RT_ACT_COUNT; action++) {
		for (row = rt_key_rows; row->action != RT_ACT_NONE; row++)
			if ((int)row->action == action)
				break;
		if (row->action == RT_ACT_NONE)
			fail_msg("%s is in no row", rt_action_word((rt_action)action));
		for (other = 1; other < action; other++)
			assert_string_not_equal(rt_action_word((rt_action)action),
						rt_action_word((rt_action)other));
	}
	for (row = rt_key_rows; row->action != RT_ACT_NONE; row++) {
		assert_true(row->what != NULL && strlen(row->what) > 0);
		assert_true(row->footer == NULL || strlen(row->footer) <= 16);
	}
}

/* The documented keys of the tree. */
static void
test_the_tree(void **state)
{
	static const struct {
		const char *key;
		rt_action action;
	} rows[] = {
		{"up", RT_ACT_UP}, {"down", RT_ACT_DOWN}, {"alt+k", RT_ACT_UP}, {"alt+j", RT_ACT_DOWN},
		{"enter", RT_ACT_ACCEPT}, {"escape", RT_ACT_CANCEL}, {"ctrl+c", RT_ACT_CLEAR},
		{"ctrl+u", RT_ACT_FILTER_USER}, {"ctrl+o", RT_ACT_FILTER_ALL},
		{"ctrl+t", RT_ACT_FILTER_NO_TOOLS}, {"ctrl+l", RT_ACT_FILTER_LABELED},
		{"ctrl+left", RT_ACT_SEGMENT_UP}, {"alt+right", RT_ACT_SEGMENT_DOWN},
		{"pageup", RT_ACT_PAGE_UP}, {"home", RT_ACT_HOME}, {"end", RT_ACT_END},
		{"alt+[", RT_ACT_TAKE_PREVIOUS}, {"alt+.", RT_ACT_TAKE_NEXT}, {"/", RT_ACT_SEARCH},
		{"alt+n", RT_ACT_FIND_NEXT}, {"alt+shift+n", RT_ACT_FIND_PREVIOUS},
		{"space", RT_ACT_MARK}, {"alt+e", RT_ACT_EDIT}, {"alt+shift+e", RT_ACT_EDITOR},
		{"alt+a", RT_ACT_INSERT_AFTER}, {"alt+i", RT_ACT_INSERT_BEFORE},
		{"alt+shift+r", RT_ACT_ROLE}, {"alt+d", RT_ACT_DELETE}, {"delete", RT_ACT_DELETE},
		{"alt+shift+d", RT_ACT_DELETE_BELOW}, {"alt+b", RT_ACT_BRANCH}, {"alt+y", RT_ACT_COPY},
		{"alt+shift+y", RT_ACT_COPY_PATH}, {"alt+m", RT_ACT_LABEL}, {"alt+u", RT_ACT_UNDO},
		{"alt+r", RT_ACT_REDO}, {"alt+shift+u", RT_ACT_REDO}, {"alt+o", RT_ACT_HISTORY},
		{"alt+x", RT_ACT_EXPORT}, {"?", RT_ACT_HELP}, {"f1", RT_ACT_HELP},
		{"ctrl+p", RT_ACT_PALETTE}, {"ctrl+z", RT_ACT_SUSPEND}, {"e", RT_ACT_NONE},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (does(RT_SCREEN_TREE, rows[i].key) != rows[i].action)
			fail_msg("%s is %s", rows[i].key, rt_action_word(does(RT_SCREEN_TREE, rows[i].key)));
}

static void
test_what_a_screen_has_no_use_for(void **state)
{
	rt_key keys[RT_KEYS_MAX];
	rt_buf buf;

	(void)state;
	assert_int_equal(does(RT_SCREEN_CHAT, "ctrl+z"), RT_ACT_SUSPEND);
	assert_int_equal(does(RT_SCREEN_CHAT, "ctrl+c"), RT_ACT_CLEAR);
	assert_int_equal(does(RT_SCREEN_FIELD, "ctrl+c"), RT_ACT_CANCEL);
	assert_int_equal(does(RT_SCREEN_FIELD, "enter"), RT_ACT_ACCEPT);
	assert_int_equal(does(RT_SCREEN_CHAT, "x"), RT_ACT_NONE);
	/* The suspend keys of the tree and the newline keys of the chat are found unchanged. */
	assert_int_equal(rt_keymap_keys(map, RT_SCREEN_TREE, RT_ACT_SUSPEND, keys), 1);
	assert_int_equal(rt_keymap_keys(map, RT_SCREEN_CHAT, RT_ACT_NEWLINE, keys), 4);
	assert_int_equal(rt_keymap_keys(map, RT_SCREEN_TREE, RT_ACT_NEWLINE, keys), 0);
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_keymap_add_key(map, RT_SCREEN_CHAT, RT_ACT_PALETTE, &buf);
	assert_string_equal(buf.ptr, "Ctrl+P");
	rt_buf_deinit(&buf);
}

static void
test_a_file_changes_keys(void **state)
{
	(void)state;
	assert_int_equal(reads("[tree]\n"
			       "delete = \"x\"\n"
			       "export = []\n"
			       "undo = [\"u\", \"ctrl+b\"]\n"
			       "[any]\n"
			       "help = 'f12'\n"),
			 RT_OK);
	assert_int_equal(does(RT_SCREEN_TREE, "x"), RT_ACT_DELETE);
	assert_int_equal(does(RT_SCREEN_TREE, "d"), RT_ACT_NONE);
	assert_int_equal(does(RT_SCREEN_TREE, "ctrl+b"), RT_ACT_UNDO);
	assert_int_equal(does(RT_SCREEN_TREE, "alt+u"), RT_ACT_NONE);
	assert_int_equal(does(RT_SCREEN_TREE, "f12"), RT_ACT_HELP);
	assert_int_equal(does(RT_SCREEN_ENTRY, "alt+d"), RT_ACT_DELETE);
	/* A user can assign actions to letters. */
	assert_false(rt_keymap_is_text(map, RT_SCREEN_TREE, (rt_key){'x', 0}));
	assert_true(rt_keymap_is_text(map, RT_SCREEN_TREE, (rt_key){'d', 0}));
	/* In addition to an earlier file. */
	assert_int_equal(reads("[tree]\nexport = \"d\"\n"), RT_OK);
	assert_int_equal(does(RT_SCREEN_TREE, "d"), RT_ACT_EXPORT);
	assert_int_equal(does(RT_SCREEN_TREE, "x"), RT_ACT_DELETE);
	assert_int_equal(reads(""), RT_OK);
}

static void
test_a_file_that_is_wrong_changes_nothing(void **state)
{
	static const struct {
		const char *toml, *words;
		uint64_t line;
	} rows[] = {
		{"[tree]\nundo = \"f9\"\ndelte = \"x\"\n",
		 "keys.toml, line 3: there is no action on this screen called \"delte\"; did you "
		 "mean \"delete\"?", 3},
		{"[tre]\nundo = \"f9\"\n",
		 "keys.toml, line 1: there is no screen \"tre\"; did you mean \"tree\"?", 1},
		{"[tree]\nundo = [\"f9\", \"ctlr+x\"]\n",
		 "keys.toml, line 2: there is no key \"ctlr+x\" (examples: ctrl+o, alt+left, G, "
		 "space, f1)", 2},
		{"[tree]\nundo = 7\n", "keys.toml, line 2: a key must be a string, such as "
				       "\"ctrl+o\"", 2},
		{"[tree]\nundo = ['1','2','3','4','5']\n",
		 "keys.toml, line 2: an action has at most four keys", 2},
		{"\n\n[tree]\nundo = \"alt+d\"\n",
		 "keys.toml, line 4: alt+d is bound to both tree.delete and tree.undo", 4},
		{"[field]\nyank = \"ctrl+y\"\n",
		 "keys.toml, line 2: ctrl+y is bound to both chat.history and field.yank", 2},
		{"tree = 7\n", "keys.toml, line 1: a screen must be a table of actions and their keys", 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(reads(rows[i].toml), RT_USAGE);
		assert_string_equal(err.text, rows[i].words);
		assert_int_equal(err.line, rows[i].line);
		assert_int_equal(does(RT_SCREEN_TREE, "f9"), RT_ACT_NONE);
		assert_int_equal(does(RT_SCREEN_TREE, "alt+u"), RT_ACT_UNDO);
	}
	assert_int_equal(reads("[tree\n"), RT_USAGE);
	assert_int_equal(does(RT_SCREEN_TREE, "alt+u"), RT_ACT_UNDO);
}

static void
test_what_is_told_of_keys(void **state)
{
	rt_buf buf;

	(void)state;
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_keymap_add_markdown(map, &buf);
	assert_int_equal(buf.status, RT_OK);
	assert_non_null(strstr(buf.ptr, "## Tree: `[tree]`\n"));
	assert_non_null(strstr(buf.ptr, "| `Ctrl+U` | `filter-user` | filter: your messages only"));
	assert_int_equal(reads("[tree]\nmark = ['|', '`']\n"), RT_OK);
	rt_buf_clear(&buf);
	rt_keymap_add_markdown(map, &buf);
	assert_non_null(strstr(buf.ptr, "| `\\|` `` ` `` | `mark` |"));
	rt_buf_clear(&buf);
	rt_keymap_add_help(map, RT_SCREEN_CHAT, &buf);
	assert_non_null(strstr(buf.ptr, "Chat\n\n  Enter "));
	assert_non_null(strstr(buf.ptr, "\nWriting\n\n"));
	assert_non_null(strstr(buf.ptr, "\nEverywhere\n\n"));
	assert_null(strstr(buf.ptr, "\nTree\n"));
	rt_buf_deinit(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_key_means_two_things, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_character_changes_anything, setup, teardown),
		cmocka_unit_test_setup_teardown(test_where_something_is_written_letters_are_text, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_every_action_has_a_key_and_a_word, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_a_screen_has_no_use_for, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_file_changes_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_file_that_is_wrong_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_told_of_keys, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
