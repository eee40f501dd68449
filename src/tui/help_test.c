/* SPDX-License-Identifier: MIT
 *
 * The lists of keys (F1) and the keys that the screens handle. */
#define _GNU_SOURCE

#include "terminal/key.h"
#include "tui/tui_testing.h"
#include "tui/verb.h"

static const rt_screen screens_with_keys[] = {RT_SCREEN_CHAT,    RT_SCREEN_ENTRY,       RT_SCREEN_TREE,
					      RT_SCREEN_HISTORY, RT_SCREEN_DISCUSSIONS, RT_SCREEN_READER};

static void
open_screen(desk *d, rt_screen screen)
{
	static const char *const keys[RT_SCREEN_COUNT] = {
		[RT_SCREEN_ENTRY] = "alt+up",   [RT_SCREEN_TREE] = "f2",   [RT_SCREEN_HISTORY] = "f3",
		[RT_SCREEN_DISCUSSIONS] = "f4", [RT_SCREEN_READER] = "f1",
	};

	desk_open_four(d);
	desk_press(d, keys[screen] == NULL ? "" : keys[screen]);
	assert_int_equal(rt_tui_top(&d->tui)->screen, screen);
	rt_buf_clear(&d->tui.notice);
}

/* Does the screen, the loop or a verb handle the action? */
static bool
is_handled(desk *d, rt_action action)
{
	bool used = false;

	assert_int_equal(rt_pane_act(rt_tui_top(&d->tui), action, &used), RT_OK);
	if (used || action == RT_ACT_ACCEPT)
		return used;
	switch (action) {
	case RT_ACT_HELP:
	case RT_ACT_PALETTE:
	case RT_ACT_TREE:
	case RT_ACT_HISTORY:
	case RT_ACT_DISCUSSIONS:
	case RT_ACT_NEW: return true;
	default:
		assert_int_equal(rt_verb_act(&d->tui, action, NULL, 0, &used), RT_OK);
		return used && !rt_str_is(rt_buf_str(&d->tui.notice), "Select an entry first");
	}
}

/* The screen's help, in a frame that is large enough for all of it. */
static void
open_help(desk *d, rt_screen screen)
{
	open_screen(d, screen);
	desk_size(d, 200, 100);
	if (screen != RT_SCREEN_READER) /* where a second F1 lists all keys */
		assert_int_equal(rt_tui_act(&d->tui, RT_ACT_HELP), RT_OK);
	else
		assert_int_equal(rt_pane_help(&d->tui, screen), RT_OK);
}

/* F1 lists each action of the table of keys, with its keys; and the screen handles it. */
static void
help_lists_the_keys_that_work(void **state)
{
	enum { SCREENS = sizeof(screens_with_keys) / sizeof(screens_with_keys[0]) };

	(void)state;
	setenv("VISUAL", "true", 1);
	setenv("EDITOR", "true", 1);
	for (size_t i = 0; i < SCREENS; i++) {
		rt_screen screen = screens_with_keys[i];
		desk help;

		open_help(&help, screen);
		for (const rt_key_row *row = rt_key_rows; row->action != RT_ACT_NONE; row++) {
			const char *word = rt_action_word(row->action);
			rt_key keys[RT_KEYS_MAX];
			size_t count;
			desk d;

			if (row->screen != screen)
				continue;
			open_screen(&d, screen);
			if (!is_handled(&d, row->action))
				fail_msg("%s does not handle %s", rt_screen_word(screen), word);
			desk_close(&d);
			if (screen == RT_SCREEN_CHAT &&
			    (row->action == RT_ACT_TAKE_PREVIOUS || row->action == RT_ACT_TAKE_NEXT))
				continue; /* listed if there are several takes */
			count = rt_keymap_keys(help.tui.keys, screen, row->action, keys);
			for (size_t k = 0; k < count; k++) {
				rt_buf key;

				rt_buf_init(&key, rt_alloc_libc(), RT_BUF_UNLIMITED);
				rt_buf_add_c(&key, "  ");
				rt_key_add_word(&key, keys[k], true);
				rt_buf_add_byte(&key, 0);
				if (!desk_shows(&help, key.ptr) || !desk_shows(&help, row->what))
					fail_msg("the help of %s does not list %s for %s",
						 rt_screen_word(screen), key.ptr, word);
				rt_buf_deinit(&key);
			}
		}
		desk_close(&help);
	}
}

/* In a list, F1 shows the keys that only this list has. */
static void
help_of_a_list(void **state)
{
	desk d;

	(void)state;
	desk_open_four(&d);
	desk_press(&d, "alt+t enter");
	desk_type(&d, "/takes");
	desk_press(&d, "enter");
	assert_shows(&d, "Which take?");
	desk_press(&d, "f1");
	assert_shows(&d, "This list, which is filtered by typing\n\n  Up, Down                choose\n");
	assert_shows(&d, "\n  Tab                     compare\n  Ctrl+R                  rename\n");
	assert_false(desk_shows(&d, "newline"));
	assert_shows(&d, "end of line");
	desk_press(&d, "escape");
	assert_shows(&d, "Which take?");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_lists_the_keys_that_work),
		cmocka_unit_test(help_of_a_list),
	};

	return cmocka_run_group_tests_name("help", tests, NULL, NULL);
}
