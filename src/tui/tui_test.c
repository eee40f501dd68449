/* SPDX-License-Identifier: MIT
 *
 * The code around the screens: their maximum number, and actions that are not possible. */
#define _GNU_SOURCE

#include <pthread.h>

#include "tui/worker.h"
#include "terminal/terminal.h"
#include "tui/tui_testing.h"

/* A screen that always opens another one. */
typedef struct greedy {
	rt_pane pane;
	bool tends;
} greedy;

static rt_status
more(rt_tui *tui)
{
	return rt_pane_help(tui, RT_SCREEN_CHAT);
}

static void
draw(rt_pane *pane, rt_canvas *canvas, rt_box box)
{
	(void)pane;
	rt_canvas_fill(canvas, box, RT_INK_TEXT);
}

static bool
act(rt_pane *pane, rt_action action)
{
	(void)action;
	RT_TRY(&pane->tui->scope, more(pane->tui));
	return true;
}

static bool
key(rt_pane *pane, rt_key k)
{
	(void)k;
	RT_TRY(&pane->tui->scope, more(pane->tui));
	return true;
}

static void
paste(rt_pane *pane, rt_str text)
{
	(void)text;
	RT_TRY(&pane->tui->scope, more(pane->tui));
}

static void
poll_greedy(rt_pane *pane)
{
	if (((greedy *)pane)->tends)
		RT_TRY(&pane->tui->scope, more(pane->tui));
}

static void
free_greedy(rt_pane *pane)
{
	test_free(pane);
}

static const rt_pane_ops greedy_ops = {.screen = RT_SCREEN_READER,
				       .draw = draw,
				       .act = act,
				       .key = key,
				       .paste = paste,
				       .poll = poll_greedy,
				       .free = free_greedy};

static greedy *
push_greedy(desk *d)
{
	greedy *g = test_calloc(1, sizeof(*g));

	g->pane.ops = &greedy_ops;
	assert_int_equal(rt_tui_push(&d->tui, &g->pane), RT_OK);
	return g;
}

#define FULL "Too many open screens: close some first"

static void
assert_full(desk *d)
{
	assert_notice(d, FULL);
	assert_int_equal(d->tui.pane_count, RT_PANES_MAX);
	rt_tui_say(&d->tui, "-");
}

/* Shift+T in the tree: when a label was set, today, because the clock is stopped here. */
static void
times_of_labels(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 20);
	desk_add(&d, "User", "one");
	desk_add(&d, "AI", "two");
	desk_do(&d, "[{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"start\"}]");
	desk_press(&d, "f2");
	assert_shows(&d, "[start] User: one");
	desk_press(&d, "alt+shift+t");
	assert_shows(&d, "[start] 22:13 User: one");
	assert_shows(&d, "(2/2) [+label time]");
	desk_do(&d, "[{\"op\":\"label.set\",\"entry\":\":2\",\"label\":\"end\"}]");
	assert_shows(&d, "[end] 22:13 AI: two");
	desk_press(&d, "alt+shift+t");
	assert_shows(&d, "[start] User: one");
	desk_close(&d);
}

/* However narrow it is: the key that closes, and the key that shows all others. */
static void
keys_in_the_footer(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 40, 10);
	desk_add(&d, "User", "one");
	desk_press(&d, "f2");
	assert_shows(&d, "\n Enter go  / search  ? keys  Esc close\n");
	desk_size(&d, 20, 10);
	assert_shows(&d, "\n ? keys  Esc close\n");
	desk_close(&d);
}

/* Keys of all screens work while a text is read, and a letter, which cannot be typed there, says so. */
static void
keys_while_reading(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 20);
	desk_add(&d, "User", "one");
	desk_press(&d, "f1");
	assert_shows(&d, "Keys here");
	desk_type(&d, "x");
	assert_notice(&d, "This text cannot be changed; Esc closes it");
	desk_press(&d, "ctrl+l");
	assert_shows(&d, "Model (PROVIDER/NAME)");
	desk_press(&d, "escape f2");
	assert_shows(&d, "─ Tree ─");
	desk_press(&d, "escape alt+s");
	assert_shows(&d, "Discussions");
	desk_press(&d, "escape ctrl+n");
	assert_int_equal(rt_project_disc_count(d.tui.work.value), 2);
	desk_close(&d);
}

/* The tree shows the present state of the take; changes below an entry of another take go there;
 * the choice of a role begins with the present one; entries hidden by a search are not deleted. */
static void
the_tree_and_what_changes(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 140, 24);
	desk_add(&d, "User", "one");
	desk_add(&d, "AI", "two");
	desk_add(&d, "User", "three");
	desk_add(&d, "AI", "four");
	desk_press(&d, "f2 home down");
	assert_shows(&d, "entry 2 of 4 in this take");
	desk_press(&d, "alt+shift+r enter");
	assert_notice(&d, "Nothing was changed");
	desk_do(&d, "[{\"op\":\"entry.delete\",\"entry\":\":4\"}]");
	assert_shows(&d, "entry 2 of 3 in this take");
	/* In another take, from here. */
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"duck\"}]");
	desk_add(&d, "AI", "quack");
	assert_shows(&d, "{main}");
	desk_press(&d, "end up"); /* the older branch comes first */
	assert_shows(&d, "in take main");
	desk_press(&d, "up alt+shift+d");
	assert_notice(&d, "Deleted 2 entries, starting with \"two\"   step 8 - undo: Alt+U");
	assert_true(rt_str_is(rt_work_take_name(&d.tui.work), "duck"));
	assert_int_equal(rt_work_count(&d.tui.work), 2);
	assert_int_equal(rt_seq_count(rt_disc_take(d.tui.work.disc, 1)->slots), 1);
	desk_press(&d, "alt+u home space end space");
	assert_shows(&d, "2 marked");
	desk_press(&d, "/");
	desk_type(&d, "quack");
	desk_press(&d, "enter alt+d");
	assert_notice(&d, "Deleted entry: quack   step 10 - undo: Alt+U");
	assert_int_equal(rt_work_count(&d.tui.work), 1);
	desk_close(&d);
}

/* One screen too many is reported, wherever it was requested, and nothing ends. */
static void
too_many_screens(void **state)
{
	greedy *g;
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	while (d.tui.pane_count < RT_PANES_MAX - 1)
		assert_int_equal(more(&d.tui), RT_OK);
	g = push_greedy(&d);
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_MARK), RT_OK);
	assert_full(&d);
	assert_int_equal(rt_tui_key(&d.tui, (rt_key){'x', 0}), RT_OK);
	assert_full(&d);
	assert_int_equal(rt_tui_paste(&d.tui, RT_STR("x")), RT_OK);
	assert_full(&d);
	g->tends = true;
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_full(&d);
	/* One that is closing does not count. */
	g->tends = false;
	rt_tui_close(&d.tui, &g->pane);
	assert_int_equal(more(&d.tui), RT_OK);
	assert_notice(&d, "-");
	assert_int_equal(rt_tui_tend(&d.tui), RT_OK);
	assert_int_equal(d.tui.pane_count, RT_PANES_MAX);
	desk_close(&d);
}

/* The one that is open comes to the top. */
static void
one_screen_of_a_kind(void **state)
{
	desk d;
	int i;

	(void)state;
	desk_open(&d, 60, 12);
	desk_add(&d, "User", "one");
	for (i = 0; i < 10; i++)
		desk_press(&d, "f2 f3 f4");
	assert_int_equal(d.tui.pane_count, 4);
	assert_shows(&d, " Discussions ");
	desk_press(&d, "f3");
	assert_shows(&d, "● ");
	desk_press(&d, "escape");
	assert_int_equal(d.tui.pane_count, 3);
	assert_shows(&d, " Discussions ");
	/* A question stays above the screen that it concerns. */
	desk_press(&d, "ctrl+p");
	assert_int_equal(rt_tui_act(&d.tui, RT_ACT_DISCUSSIONS), RT_OK);
	assert_int_equal(d.tui.pane_count, 5);
	desk_press(&d, "escape");
	assert_shows(&d, " Commands\n");
	desk_press(&d, "escape escape escape");
	assert_int_equal(d.tui.pane_count, 1);
	desk_close(&d);
}

/* ---- threads ---- */

static void
never(rt_worker *worker, void *ctx)
{
	(void)worker;
	(void)ctx;
	fail();
}

/* If the system cannot create a thread, that is reported, and the user can try again. */
static void
no_thread(void **state)
{
	pthread_attr_t usual, huge;
	rt_worker worker = {0};
	struct rt_terminal *none;
	desk d;

	(void)state;
	desk_open(&d, 80, 12);
	desk_add(&d, "User", "one");
	assert_int_equal(pthread_getattr_default_np(&usual), 0);
	assert_int_equal(pthread_attr_init(&huge), 0);
	assert_int_equal(pthread_attr_setstacksize(&huge, SIZE_MAX / 4), 0);
	assert_int_equal(pthread_setattr_default_np(&huge), 0);
	/* Only the thread would touch it. */
	none = d.tui.terminal;
	d.tui.terminal = (struct rt_terminal *)&d;
	assert_int_equal(rt_worker_start(&worker, &d.tui, never, NULL), RT_BUSY);
	assert_false(rt_worker_is_running(&worker));
	assert_notice(&d, "The system cannot create another thread");
	rt_tui_say(&d.tui, "-");
	desk_press(&d, "f4");
	desk_type(&d, "one");
	assert_notice(&d, "The system cannot create another thread");
	assert_int_equal(pthread_setattr_default_np(&usual), 0);
	d.tui.terminal = none;
	assert_shows(&d, "2 found");
	desk_press(&d, "escape escape");
	(void)pthread_attr_destroy(&usual);
	(void)pthread_attr_destroy(&huge);
	desk_close(&d);
}

/* ---- messages ---- */

static void
a_paste_that_was_cut(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 12);
	assert_int_equal(rt_tui_on_event(&d.tui, &(rt_event){.kind = RT_EVENT_PASTE,
							     .text = RT_STR("all of it")}),
			 RT_OK);
	assert_notice(&d, "");
	assert_int_equal(rt_tui_on_event(&d.tui, &(rt_event){.kind = RT_EVENT_PASTE,
							     .text = RT_STR(" but the"),
							     .is_cut = true}),
			 RT_OK);
	assert_notice(&d, "The pasted text was too long: its end was cut off");
	assert_shows(&d, "all of it but the");
	desk_close(&d);
}

/* ---- names ---- */

/* If names begin alike, their ends are shown, on every screen with names. */
static void
ends_of_names(void **state)
{
	static const struct {
		int columns;
		const char *title;
	} titles[] = {
		{147, " notes on a database for a desktop app, the first part  "
		      "take: with-one-file-and-no-server-at-all-second, 3 of 3 takes  2 entries"},
		{101,
		 " notes on a data\u2026rst part  take: with-one-file-a\u2026l-second, 3 of 3 takes  2 entries"
		 " no model  ~10 tok\n"},
		{61, " notes \u2026t part  take: with-o\u2026econd, 3 of 3 no model  ~10 tok\n"},
		{40, " notes \u2026 part  take: with-\u2026econd, 3 of 3\n"},
	};
	desk d;
	size_t i;

	(void)state;
	desk_open(&d, 140, 16);
	desk_do(&d, "[{\"op\":\"discussion.rename\",\"discussion\":\"main\","
		    "\"name\":\"notes on a database for a desktop app, the first part\"}]");
	desk_add(&d, "user", "one");
	desk_add(&d, "AI", "two");
	desk_do(&d,
		"[{\"op\":\"take.branch\",\"at\":\":2\",\"name\":\"with-one-file-and-no-server-at-all-first\"}]");
	desk_do(&d,
		"[{\"op\":\"take.branch\",\"at\":\":2\",\"name\":\"with-one-file-and-no-server-at-all-second\"}]");
	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		desk_size(&d, titles[i].columns, 16);
		assert_shows(&d, titles[i].title);
	}
	/* The same for a model: it is distinguishable, and the rest fits. */
	desk_size(&d, 81, 16);
	desk_do(&d,
		"[{\"op\":\"setting.set\",\"key\":\"model\","
		"\"value\":\"ollama/a-model-with-a-long-name-and-what-it-was-tuned-for-q4-7b\"}]");
	assert_shows(
		&d,
		" notes \u2026t part  take: with-o\u2026second, 3 of 3 ollama/a-model-wit\u2026or-q4-7b  ~10 tok\n");
	desk_size(&d, 40, 16);
	desk_type(&d, "/branches");
	desk_press(&d, "enter");
	assert_shows(&d, "\u2026ll-first");
	desk_press(&d, "escape f4");
	assert_shows(&d, "\u2026rst part \u2190 now");
	desk_size(&d, 60, 16);
	desk_press(&d, "escape f2");
	assert_shows(&d, "{with-one-\u2026l-second}");
	desk_close(&d);
}

/* A new discussion is shown, whatever its name. */
static void
names_of_any_length(void **state)
{
	static const size_t sizes[] = {1, 258, 259, 260, 300, 70000};
	desk d;
	size_t i;

	(void)state;
	desk_open(&d, 80, 16);
	desk_press(&d, "ctrl+n"); /* without a name: a generated one */
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "discussion-2"));
	desk_press(&d, "ctrl+n");
	assert_true(rt_str_is(rt_work_disc_name(&d.tui.work), "discussion-3"));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		rt_buf name;

		rt_buf_init(&name, rt_alloc_libc(), RT_BUF_UNLIMITED);
		while (name.size < sizes[i])
			rt_buf_add_byte(&name, (char)('a' + i));
		desk_type(&d, "/new ");
		assert_int_equal(rt_tui_paste(&d.tui, rt_buf_str(&name)), RT_OK);
		desk_press(&d, "enter");
		assert_true(rt_str_eq(rt_work_disc_name(&d.tui.work), rt_buf_str(&name)));
		assert_true(
			rt_str_starts(rt_buf_str(&d.tui.notice), RT_STR("Started a discussion ")));
		assert_shows(&d, "undo: /undo or Alt+U"); /* however long the name is */
		rt_buf_deinit(&name);
	}
	desk_close(&d);
}

/* Long names have the space of less important text. */
static void
long_names(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 16);
	desk_type(&d, "/new Planning of the infrastructure for the next year, third draft");
	desk_press(&d, "enter");
	desk_add(&d, "User", "one");
	/* The only take has the same name. */
	assert_shows(&d, " Planning of the infrastructure for the next…rd draft  1 entry no model  ~5 tok");
	desk_press(&d, "f4");
	assert_shows(&d, "›  Planning of the infrastructure…rd draft ← now 1 entry");
	desk_size(&d, 60, 16);
	assert_shows(&d, "›  Planning of the infrastruct…rd draft ← now 1 entry\n");
	desk_size(&d, 80, 16);
	desk_press(&d, "escape alt+up alt+b enter");
	desk_type(&d, "/rename-take the second of the two plans for the next year");
	desk_press(&d, "enter");
	desk_type(&d, "/takes");
	desk_press(&d, "enter");
	assert_shows(&d, " Planning of th…rd draft  take: the second of…ext year, 2 of 2 no model");
	assert_shows(&d, "\n  1  Planning of the infrastructure for th…rd draft  1 entry, 2023-11-14 22:13\n"
			 "› 2  the second of the two plans for…ext year ← now  1 entry, 2023-11-14 22:13\n");
	desk_press(&d, "up enter");
	assert_shows(&d, " Planning of the infrastructure for the…rd draft  take: 1 of 2 no model");
	desk_size(&d, 120, 16);
	desk_press(&d, "f4");
	desk_type(&d, "/one");
	assert_shows(&d, "›  Planning of the infrastruct…rd draft Planni…draft User one");
	desk_close(&d);
}

/* Rows of lists are words: no signs of Markdown, and a long label does not displace them. */
static void
words_of_rows(void **state)
{
	static const char label[] =
		"[{\"op\":\"label.set\",\"entry\":\":1\",\"label\":\"a-label-that-is-longer-than-"
		"the-row-of-the-tree-in-which-it-is-shown-with-the-words-of-its-entry\"}]";
	desk d;

	(void)state;
	desk_open(&d, 120, 30);
	desk_add(&d, "User", "Use **SQLite**, or `duckdb`?");
	desk_add(&d, "AI", "## Advice\n\n**SQLite**: [one file](https://sqlite.org).");
	desk_do(&d, label);
	assert_shows(&d, " Use SQLite, or duckdb?  take: main");
	desk_press(&d, "f2");
	assert_shows(&d, "[a-label-that-is\u2026ts-entry] User: Use SQLite");
	assert_shows(&d, "AI: Advice SQLite: one file.");
	desk_press(&d, "escape f3");
	assert_shows(&d, " History of Use SQLite, or duckdb? ");
	assert_shows(&d, "added entry: Use SQLite, or d");
	desk_close(&d);
}

/* Tab compares with the other take, also where the cursor is on the one in view. */
static void
compared_takes(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 80, 24);
	desk_add(&d, "User", "Which database?");
	desk_add(&d, "AI", "SQLite.");
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"other\"}]");
	desk_add(&d, "AI", "DuckDB.");
	desk_type(&d, "/takes");
	desk_press(&d, "enter tab");
	assert_shows(&d, "Differences between two takes");
	assert_shows(&d, "+ other (in view)");
	desk_close(&d);
}

/* Commands in errors of the layers below are those of the shell; here they begin with a slash. */
static void
advice_for_this_screen(void **state)
{
	static const char *const pairs[][2] = {
		{"no take \"x\"; see: retake takes", "no take \"x\"; see: /takes"},
		{"retake set model NAME   (or: retake models)", "/set model NAME   (or: /models)"},
		{"run: retake fsck, retake repair", "run: /fsck, /repair"},
		{"Use it: retake ask --template city", "Use it: /city"},
		/* Names that contain the words, unknown commands, and commands that do not work
		 * here. */
		{"no entry matches \"retake show\"", "no entry matches \"retake show\""},
		{"the retake program is gone", "the retake program is gone"},
		{"start it: retake serve", "start it: retake serve"},
		{"undo: retake -d beta undo", "undo: /use beta, then /undo"},
		{"Read it: retake -d 'one two' show :1", "Read it: /use 'one two', then /show :1"},
		{"open it: retake -d beta serve", "open it: retake -d beta serve"},
		{"retake ", "retake "},
	};
	rt_error err = {.text = "there is none; see: retake ls"};
	desk d;

	(void)state;
	desk_open(&d, 80, 12);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		rt_buf words;

		rt_buf_init(&words, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_tui_add_advice(&d.tui, rt_str_of(pairs[i][0]), &words);
		assert_int_equal(words.status, RT_OK);
		assert_true(rt_str_is(rt_buf_str(&words), pairs[i][1]));
		rt_buf_deinit(&words);
	}
	rt_tui_say_error(&d.tui, &err, RT_STR("Choose one: retake use NAME"));
	assert_notice(&d, "There is none; see: /ls.  Choose one: /use NAME");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_labels),           cmocka_unit_test(keys_in_the_footer),
		cmocka_unit_test(the_tree_and_what_changes), cmocka_unit_test(keys_while_reading), cmocka_unit_test(too_many_screens),
		cmocka_unit_test(one_screen_of_a_kind),      cmocka_unit_test(no_thread),
		cmocka_unit_test(a_paste_that_was_cut),      cmocka_unit_test(ends_of_names),
		cmocka_unit_test(names_of_any_length),       cmocka_unit_test(advice_for_this_screen),
		cmocka_unit_test(words_of_rows),             cmocka_unit_test(compared_takes),
		cmocka_unit_test(long_names),
	};

	return cmocka_run_group_tests_name("tui", tests, NULL, NULL);
}
