/* SPDX-License-Identifier: MIT
 *
 * Questions: a text, one of a few, one of many; and the reader. */
#define _GNU_SOURCE

#include "tui/tui_testing.h"

/* The answer, and whether the caller's data was freed once. */
typedef struct told {
	char text[80];
	bool is_cancelled;
	int answers, freed;
} told;

static rt_status
hear(rt_tui *tui, void *ctx, rt_str answer)
{
	told *t = ctx;

	(void)tui;
	t->answers++;
	t->is_cancelled = answer.ptr == NULL;
	(void)snprintf(t->text, sizeof(t->text), "%.*s", RT_STR_ARG(answer));
	return RT_OK;
}

static void
let_go(rt_tui *tui, void *ctx)
{
	told *t = ctx;

	(void)tui;
	t->freed++;
}

static void
assert_told(told *t, const char *text)
{
	assert_int_equal(t->answers, 1);
	assert_int_equal(t->freed, 1);
	assert_false(t->is_cancelled);
	assert_string_equal(t->text, text);
	memset(t, 0, sizeof(*t));
}

static void
a_text(void **state)
{
	told t = {.answers = 0};
	desk d;

	(void)state;
	desk_open(&d, 60, 14);
	assert_int_equal(rt_pane_ask(&d.tui, "Label", RT_STR("abc"), false, hear, &t, let_go), RT_OK);
	assert_shows(&d, " Label                                 Enter OK  Esc cancel\n"
			 "› abc\n");
	desk_press(&d, "x y backspace enter");
	assert_told(&t, "abcx");
	assert_int_equal(d.tui.pane_count, 1);
	/* An empty answer is an answer. */
	assert_int_equal(rt_pane_ask(&d.tui, "Label", RT_STR(""), false, hear, &t, let_go), RT_OK);
	desk_press(&d, "enter");
	assert_told(&t, "");
	assert_int_equal(rt_pane_ask(&d.tui, "Label", RT_STR("abc"), false, hear, &t, let_go), RT_OK);
	assert_int_equal(rt_tui_paste(&d.tui, RT_STR("def")), RT_OK);
	desk_press(&d, "escape");
	assert_int_equal(t.answers, 1);
	assert_int_equal(t.freed, 1);
	assert_true(t.is_cancelled);
	/* Without an answer the text is not lost. */
	memset(&t, 0, sizeof(t));
	assert_int_equal(rt_pane_ask(&d.tui, "Label", RT_STR(""), true, hear, &t, let_go), RT_OK);
	desk_close(&d);
	assert_int_equal(t.answers, 0);
	assert_int_equal(t.freed, 1);
}

/* Parts that do not fit are left out completely, from the right; a line has no new line. */
static void
narrow(void **state)
{
	told t = {.answers = 0};
	desk d;

	(void)state;
	desk_open(&d, 60, 14);
	assert_int_equal(rt_pane_ask(&d.tui, "A longer question", RT_STR("abc"), false, hear, &t, let_go),
			 RT_OK);
	assert_shows(&d, " A longer question                     Enter OK  Esc cancel\n");
	assert_shows(&d, "\n Ctrl+G editor\n");
	desk_size(&d, 34, 14);
	assert_shows(&d, " A longer question       Enter OK\n");
	desk_size(&d, 20, 14);
	assert_shows(&d, " A longer question\n");
	desk_press(&d, "escape f2 /");
	desk_type(&d, "abc");
	desk_size(&d, 60, 14);
	assert_shows(&d, "\n Enter keep matches   Esc clear   Up, Down move\n");
	desk_size(&d, 40, 14);
	assert_shows(&d, "\n Enter keep matches   Esc clear\n");
	desk_size(&d, 30, 14);
	assert_shows(&d, "\n Enter keep matches\n");
	desk_close(&d);
}

/* A text that does not fit: where its cursor is, and PageUp and PageDown. */
static void
long_text(void **state)
{
	told t = {.answers = 0};
	rt_buf text;
	desk d;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (int i = 1; i <= 200; i++)
		rt_buf_add_f(&text, "%sline %d", i == 1 ? "" : "\n", i);
	desk_open(&d, 80, 24);
	assert_int_equal(rt_pane_ask(&d.tui, "A text", rt_buf_str(&text), true, hear, &t, let_go), RT_OK);
	rt_buf_deinit(&text);
	assert_shows(&d, "line 200 of 200  Enter OK  Esc cancel\n› line 190\n");
	desk_press(&d, "pageup");
	assert_shows(&d, "line 190 of 200  ");
	desk_press(&d, "pageup");
	assert_shows(&d, "line 180 of 200  Enter OK  Esc cancel\n› line 180\n");
	desk_press(&d, "ctrl+home pageup");
	assert_shows(&d, "line 1 of 200  ");
	desk_press(&d, "pagedown");
	assert_shows(&d, "line 11 of 200  ");
	desk_press(&d, "ctrl+end pagedown");
	assert_shows(&d, "line 200 of 200  ");
	desk_size(&d, 80, 60); /* a tall terminal shows more of it */
	assert_shows(&d, "\n› line 155\n");
	desk_close(&d);
}

/* Space marks models; several are asked a question, one is chosen. */
static void
several_models(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 20);
	desk_press(&d, "ctrl+l");
	assert_shows(&d, "› builtin/echo\n");
	assert_shows(&d, "   Space mark several\n");
	desk_press(&d, "space down space");
	assert_shows(&d, "✓ builtin/echo\n");
	assert_shows(&d, "✓ builtin/summary\n");
	desk_press(&d, "enter");
	assert_shows(&d, " Question to these models ");
	desk_press(&d, "escape ctrl+l space space down space enter");
	assert_shows(&d, "Set model to \"builtin/summary\"");
	desk_close(&d);
}

/* The screen of all keys is as wide as the terminal. */
static void
help_is_laid_anew(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 120, 40);
	desk_press(&d, "f1");
	assert_false(desk_shows(&d, "\n  Esc\n"));
	desk_size(&d, 30, 40);
	assert_shows(&d, "\n  Esc\n      stop the reply, or"); /* in a separate row */
	desk_size(&d, 120, 40);
	assert_false(desk_shows(&d, "\n  Esc\n"));
	/* Otherwise descriptions are wrapped in their column, and many keys in theirs. */
	desk_size(&d, 60, 40);
	assert_shows(&d, "\n  Esc                     stop the reply, or close; twice\n"
			 "                          with an empty input: the tree\n");
	desk_press(&d, "escape f2 ?");
	assert_shows(&d, "\n  Ctrl+Left  Alt+Left     fold, or go to the start of the\n"
			 "                          branch\n  Alt+Shift+K\n");
	desk_close(&d);
}

static const rt_choice choices[] = {
	{"n", "no", "No"},
	{"y", "yes", "Yes, and sum it up"},
	{"c", "custom", "Yes, and tell it what to look out for"},
};

static void
one_of_a_few(void **state)
{
	told t = {.answers = 0};
	desk d;

	(void)state;
	desk_open(&d, 60, 14);
	assert_int_equal(rt_pane_choose(&d.tui, "Sum up?", choices, 3, hear, &t, let_go), RT_OK);
	assert_shows(&d, " Sum up?                               Enter OK  Esc cancel\n"
			 "› n  No\n"
			 "  y  Yes, and sum it up\n"
			 "  c  Yes, and tell it what to look out for\n");
	/* the pane has its own copy of the names */
	desk_press(&d, "x q enter");
	assert_told(&t, "no");
	assert_int_equal(rt_pane_choose(&d.tui, "Sum up?", choices, 3, hear, &t, let_go), RT_OK);
	desk_press(&d, "down down down up enter");
	assert_told(&t, "yes");
	assert_int_equal(rt_pane_choose(&d.tui, "Sum up?", choices, 3, hear, &t, let_go), RT_OK);
	desk_press(&d, "c");
	assert_told(&t, "custom");
	assert_int_equal(rt_pane_choose(&d.tui, "Sum up?", choices, 3, hear, &t, let_go), RT_OK);
	desk_press(&d, "ctrl+c");
	assert_true(t.is_cancelled);
	/* Three rows are too few for all of them: the one at the cursor is visible. */
	memset(&t, 0, sizeof(t));
	desk_size(&d, 40, 3);
	assert_int_equal(rt_pane_choose(&d.tui, "Sum up?", choices, 3, hear, &t, let_go), RT_OK);
	desk_press(&d, "down down");
	assert_shows(&d, "› c  Yes");
	desk_close(&d);
	assert_int_equal(t.freed, 1);
}

static void
pick(desk *d, const char *names, bool may_be_new, told *t)
{
	rt_json_doc *doc;

	memset(t, 0, sizeof(*t));
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(names), &doc, NULL), RT_OK);
	assert_int_equal(rt_pane_pick(&d->tui, "Role", rt_json_root(doc), may_be_new, hear, t, let_go),
			 RT_OK);
	rt_json_free(doc); /* the names are the pane's own */
}

static void
one_of_many(void **state)
{
	static const char roles[] = "[\"User\",\"AI\",\"System\",\"reviewer\",\"Use\"]";
	told t;
	desk d;

	(void)state;
	desk_open(&d, 60, 20);
	pick(&d, roles, true, &t);
	assert_shows(&d, "\n› User\n  AI\n  System\n  reviewer\n  Use\n");
	/* Names that begin with it, then those that contain it, then the typed text. */
	desk_type(&d, "e");
	assert_shows(&d, "\n› User\n  System\n  reviewer\n  Use\n  new: e\n");
	desk_press(&d, "ctrl+u");
	/* An exact match goes before an earlier prefix match. */
	desk_type(&d, "Use");
	assert_shows(&d, "\n  User\n› Use\n");
	desk_press(&d, "enter");
	assert_told(&t, "Use");
	pick(&d, roles, true, &t);
	desk_type(&d, "us");
	desk_press(&d, "down down enter");
	assert_told(&t, "us");
	/* No new name: only existing ones. */
	pick(&d, roles, false, &t);
	desk_type(&d, "zz");
	assert_shows(&d, "No match.");
	desk_press(&d, "enter");
	assert_notice(&d, "No match for \"zz\"");
	assert_int_equal(t.answers, 0);
	desk_press(&d, "ctrl+u s y tab");
	assert_shows(&d, "  System\n› System\n");
	desk_press(&d, "enter");
	assert_told(&t, "System");
	pick(&d, "[]", false, &t);
	assert_shows(&d, "None.");
	desk_press(&d, "up down enter escape");
	assert_true(t.is_cancelled);
	desk_close(&d);
}

static void
many(void **state)
{
	told t;
	desk d;
	rt_buf names;
	int i;

	(void)state;
	desk_open(&d, 60, 20);
	rt_buf_init(&names, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < 20000; i++)
		rt_buf_add_f(&names, "%c\"name-%d\"", i == 0 ? '[' : ',', i);
	rt_buf_add_byte(&names, ']');
	pick(&d, names.ptr, false, &t);
	rt_buf_deinit(&names);
	for (i = 0; i < 1000; i++)
		desk_press(&d, "down");
	assert_shows(&d, "› name-1000\n");
	desk_type(&d, "-19999");
	assert_shows(&d, "› name-19999\n");
	desk_press(&d, "enter");
	assert_told(&t, "name-19999");
	desk_close(&d);
}

static void
reads(void **state)
{
	rt_lines lines;
	desk d;
	char row[40];
	int i;

	(void)state;
	desk_open(&d, 60, 10);
	rt_lines_init(&lines, rt_alloc_libc());
	for (i = 1; i <= 100; i++) {
		(void)snprintf(row, sizeof(row), "row %d%s", i, i % 30 == 0 ? " Needle" : "");
		rt_lines_add_row(&lines, 0, rt_str_of(row), RT_INK_TEXT);
	}
	assert_int_equal(rt_pane_reader(&d.tui, "A text", &lines), RT_OK);
	assert_int_equal(lines.count, 0);
	rt_lines_deinit(&lines);
	assert_shows(&d, " A text                                          1-7 of 100\n"
			 "row 1\nrow 2\nrow 3\nrow 4\nrow 5\nrow 6\nrow 7\n");
	desk_press(&d, "down pagedown");
	assert_shows(&d, "8-14 of 100\nrow 8\n");
	desk_press(&d, "G j");
	assert_shows(&d, "94-100 of 100\nrow 94\n");
	desk_press(&d, "g k /");
	desk_type(&d, "needle");
	assert_shows(&d, " Search: needle");
	desk_press(&d, "enter");
	assert_shows(&d, "row 30 Needle\n");
	desk_press(&d, "n n");
	assert_shows(&d, "row 90 Needle\n");
	desk_press(&d, "n");
	assert_notice(&d, "No match below for \"needle\"");
	desk_press(&d, "N N N");
	assert_notice(&d, "No match above for \"needle\"");
	assert_shows(&d, "row 30 Needle\n");
	desk_press(&d, "/ z z z enter");
	assert_notice(&d, "No match for \"zzz\"");
	desk_press(&d, "/ q escape alt+y");
	assert_notice(&d, "Copied 713 characters");
	/* The other screens, and undo, from here. */
	desk_press(&d, "f2");
	assert_shows(&d, "─ Tree ");
	desk_press(&d, "escape f3");
	assert_shows(&d, " History of ");
	desk_press(&d, "escape f4");
	assert_shows(&d, " Discussions");
	desk_press(&d, "escape");
	desk_add(&d, "User", "one");
	desk_press(&d, "alt+u");
	assert_int_equal(rt_work_count(&d.tui.work), 0);
	desk_press(&d, "alt+r");
	assert_int_equal(rt_work_count(&d.tui.work), 1);
	desk_press(&d, "q");
	assert_int_equal(d.tui.pane_count, 1);
	desk_close(&d);
}

/* The keys that apply come first, and all of them with the same key again. */
static void
helps(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 100, 30);
	desk_press(&d, "f3 ?");
	assert_shows(&d, " Keys here ");
	assert_shows(&d, "revert only this step");
	assert_false(desk_shows(&d, "edit the text"));
	assert_shows(&d, "  ?                       all keys");
	desk_press(&d, "?");
	assert_shows(&d, " All keys ");
	desk_press(&d, "/");
	desk_type(&d, "text in a new take");
	desk_press(&d, "enter");
	assert_shows(&d, "edit the text in a new take");
	/* On the same screen. */
	desk_press(&d, "? f1");
	assert_int_equal(d.tui.pane_count, 3);
	desk_press(&d, "escape escape");
	assert_int_equal(d.tui.pane_count, 1);
	/* On a narrow screen the description of a key is below it. */
	desk_size(&d, 40, 20);
	desk_press(&d, "f1");
	assert_shows(&d, "\n  Enter\n      send the message;");
	assert_false(desk_shows(&d, "previous take at this branch point")); /* nothing branches */
	desk_close(&d);
}

/* One screen more than the maximum is reported, without any other effect. */
static void
too_many(void **state)
{
	told t = {.answers = 0};
	desk d;
	int i;

	(void)state;
	desk_open(&d, 60, 20);
	for (i = 1; i < 12; i++)
		assert_int_equal(rt_pane_ask(&d.tui, "Label", RT_STR(""), false, hear, &t, let_go),
				 RT_OK);
	assert_int_equal(d.tui.pane_count, 12);
	desk_press(&d, "ctrl+p");
	assert_notice(&d, "Too many open screens: close some first");
	assert_int_equal(d.tui.pane_count, 12);
	/* The context is freed if the question cannot be asked. */
	assert_int_equal(rt_pane_ask(&d.tui, "Label", RT_STR(""), false, hear, &t, let_go), RT_LIMIT);
	assert_int_equal(t.freed, 1);
	assert_int_equal(t.answers, 0);
	desk_close(&d);
	assert_int_equal(t.freed, 12);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text),
		cmocka_unit_test(narrow),
		cmocka_unit_test(long_text), cmocka_unit_test(several_models), cmocka_unit_test(help_is_laid_anew),
		cmocka_unit_test(one_of_a_few),
		cmocka_unit_test(one_of_many),
		cmocka_unit_test(many),
		cmocka_unit_test(reads),
		cmocka_unit_test(helps),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests_name("pane_ask", tests, NULL, NULL);
}
