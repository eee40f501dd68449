/* SPDX-License-Identifier: MIT
 *
 * The rows of the tree: layout, filters, folds, moving, searching, marks, drawing. */
#include "base/failing_testing.h"
#include "tree/tree_impl.h"
#include "tree/tree_testing.h"

#include "terminal/text.h"

typedef struct fixture {
	garden g;
	rt_tree *tree;
} fixture;

static const rt_tree_options as_pi = {.as_pi = true};

static void
start(fixture *f, const rt_tree_options *options)
{
	garden_init(&f->g);
	assert_int_equal(rt_tree_new(rt_alloc_libc(), &f->g.source, options, &f->tree), RT_OK);
}

static void
finish(fixture *f)
{
	rt_tree_free(f->tree);
}

static void
say(fixture *f, int parent, const char *role, const char *text)
{
	rt_tree_kind kind = role[0] == 'u'   ? RT_TREE_USER
			    : role[0] == 'a' ? RT_TREE_ASSISTANT
			    : role[0] == 't' ? RT_TREE_TOOL
			    : role[0] == 's' ? RT_TREE_SETTING
			    : role[0] == 'l' ? RT_TREE_STATE
					     : RT_TREE_OTHER;

	sow(&f->g, (sown){.parent = parent, .role = role, .text = text, .kind = kind});
}

/* 0 - 1 - 2 - 3 - 4 - 5      4 is "B", a reply without text is between 1 and 2
 *              \- 6 - 7 - 8  */
static void
sow_fork(fixture *f)
{
	say(f, -1, "user", "one");
	say(f, 0, "assistant", "two");
	say(f, 1, "user", "three");
	say(f, 2, "assistant", "fork");
	say(f, 3, "user", "left");
	say(f, 4, "assistant", "left two");
	say(f, 3, "user", "right");
	say(f, 6, "tool", "result");
	say(f, 7, "assistant", "right two");
}

/* 0 - 1 - 2 - 3 - 4 - 5 - 6   the same, but the branch "right" is the older one
 *              \- 7 - 8  */
static void
sow_right_first(fixture *f)
{
	sown left[2];

	sow_fork(f);
	memcpy(left, &f->g.items[4], sizeof(left));
	memmove(&f->g.items[4], &f->g.items[6], 3 * sizeof(left[0]));
	memcpy(&f->g.items[7], left, sizeof(left));
	f->g.items[5].parent = 4;
	f->g.items[6].parent = 5;
	f->g.items[8].parent = 7;
}

static void
test_layout(void **state)
{
	fixture f;

	(void)state;
	start(&f, NULL);
	shows(f.tree, "  No entries found\n  (0/0)\n");
	sow_fork(&f);
	plant(&f.g, f.tree, 8);
	/* the older branch first, wherever the head is */
	shows(f.tree, "  • user: one\n"
		      "  • assistant: two\n"
		      "  • user: three\n"
		      "  • assistant: fork\n"
		      "  ├⊟ user: left\n"
		      "  │     assistant: left two\n"
		      "  └⊟ • user: right\n"
		      "        • tool: result\n"
		      "›       • assistant: right two  ← active\n"
		      "  (9/9)\n");
	plant(&f.g, f.tree, 5);
	shows(f.tree, "  • user: one\n"
		      "  • assistant: two\n"
		      "  • user: three\n"
		      "  • assistant: fork\n"
		      "  ├⊟ • user: left\n"
		      "  │     • assistant: left two  ← active\n"
		      "  └⊟ user: right\n"
		      "        tool: result\n"
		      "›       assistant: right two\n"
		      "  (9/9)\n");
	plant(&f.g, f.tree, -1);
	assert_int_equal(rt_tree_selected(f.tree), 8);
	finish(&f);
}

static void
test_roots(void **state)
{
	fixture f;

	(void)state;
	start(&f, &as_pi);
	say(&f, -1, "user", "first");
	say(&f, 0, "assistant", "reply");
	say(&f, -1, "user", "second");
	say(&f, 2, "assistant", "a");
	say(&f, 2, "assistant", "b");
	plant(&f.g, f.tree, 1);
	shows(f.tree, "  • user: first\n"
		      "›    • assistant: reply\n"
		      "  user: second\n"
		      "  ├─ assistant: a\n"
		      "  └─ assistant: b\n"
		      "  (2/5)\n");
	rt_tree_move(f.tree, RT_TREE_HOME, 9);
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_SEGMENT, 9);
	shows(f.tree, "› ⊞ • user: first\n"
		      "  user: second\n"
		      "  ├─ assistant: a\n"
		      "  └─ assistant: b\n"
		      "  (1/4)\n");
	finish(&f);
}

static void
test_filters(void **state)
{
	fixture f;

	(void)state;
	start(&f, &as_pi);
	sow_fork(&f);
	f.g.items[3].label = "here";
	f.g.items[2].silent = true; /* but it is not a reply of a model: the source decides that */
	say(&f, 8, "setting", "model");
	plant(&f.g, f.tree, 9);
	/* the head is a setting, so the nearest above is selected; texts are not known yet */
	assert_int_equal(rt_tree_selected_node(f.tree), 6);
	assert_int_equal(rt_tree_row_count(f.tree), 9);
	rt_tree_toggle_filter(f.tree, RT_TREE_NO_TOOLS);
	shows(f.tree, "  • user: one\n"
		      "  • assistant: two\n"
		      "  • user: three\n"
		      "  • [here] assistant: fork\n"
		      "  ├⊟ • user: right\n"
		      "› │     • assistant: right two\n"
		      "  └⊟ user: left\n"
		      "        assistant: left two\n"
		      "  (6/8) [no-tools]\n");
	assert_int_equal(rt_tree_learn(f.tree, SIZE_MAX, NULL, NULL), RT_OK);
	rt_tree_set_filter(f.tree, RT_TREE_USER_ONLY);
	shows(f.tree, "  • user: one\n"
		      "› ├─ • user: right\n"
		      "  └─ user: left\n"
		      "  (2/3) [user]\n");
	rt_tree_set_filter(f.tree, RT_TREE_LABELED_ONLY);
	shows(f.tree, "› • [here] assistant: fork\n"
		      "  (1/1) [labeled]\n");
	/* the present selection counts */
	rt_tree_cycle_filter(f.tree, 1);
	assert_int_equal(f.tree->filter, RT_TREE_ALL);
	assert_int_equal(rt_tree_row_count(f.tree), 9);
	assert_int_equal(rt_tree_selected(f.tree), 2);
	rt_tree_cycle_filter(f.tree, 1);
	assert_int_equal(f.tree->filter, RT_TREE_DEFAULT);
	rt_tree_cycle_filter(f.tree, -1);
	assert_int_equal(f.tree->filter, RT_TREE_ALL);
	/* an empty list keeps the selection for later */
	f.g.items[3].label = NULL;
	plant(&f.g, f.tree, 9);
	rt_tree_set_filter(f.tree, RT_TREE_LABELED_ONLY);
	shows(f.tree, "  No entries found\n  (0/0) [labeled]\n");
	assert_int_equal(rt_tree_selected_node(f.tree), RT_TREE_NONE);
	rt_tree_move(f.tree, RT_TREE_DOWN, 5);
	rt_tree_mark(f.tree);
	rt_tree_toggle_filter(f.tree, RT_TREE_LABELED_ONLY);
	assert_int_equal(rt_tree_selected(f.tree), 2);
	finish(&f);
}

static void
test_silent(void **state)
{
	fixture f;
	bool done = true;

	(void)state;
	start(&f, NULL);
	say(&f, -1, "user", "one");
	say(&f, 0, "assistant", "");
	say(&f, 1, "tool", "result");
	f.g.items[1].silent = true;
	say(&f, 2, "usage", "");
	f.g.items[3].kind = RT_TREE_NEVER;
	plant(&f.g, f.tree, 2);
	assert_int_equal(rt_tree_row_count(f.tree), 3);
	assert_int_equal(rt_tree_learn(f.tree, 1, &done, NULL), RT_OK);
	assert_false(done);
	assert_int_equal(rt_tree_learn(f.tree, 9, &done, NULL), RT_OK);
	assert_true(done);
	/* seed 4: by default only labels and states are hidden */
	assert_int_equal(rt_tree_row_count(f.tree), 3);
	rt_tree_set_filter(f.tree, RT_TREE_NO_TOOLS);
	shows(f.tree, "› • user: one  ← active\n"
		      "  (1/1) [no-tools]\n");
	/* the head is always shown; known texts are not requested again */
	f.g.failing = 1;
	plant(&f.g, f.tree, 1);
	assert_int_equal(rt_tree_learn(f.tree, 9, &done, NULL), RT_OK);
	assert_true(done);
	assert_int_equal(rt_tree_row_count(f.tree), 2);
	finish(&f);
}

static void
test_moves(void **state)
{
	fixture f;

	(void)state;
	start(&f, NULL);
	sow_right_first(&f);
	plant(&f.g, f.tree, 6);
	/* rows: 0 1 2 3 | 4 right 5 6 | 7 left 8 */
	rt_tree_move(f.tree, RT_TREE_HOME, 4);
	rt_tree_move(f.tree, RT_TREE_UP, 4);
	assert_int_equal(rt_tree_selected(f.tree), 0);
	rt_tree_move(f.tree, RT_TREE_PAGE_DOWN, 4);
	assert_int_equal(rt_tree_selected(f.tree), 4);
	rt_tree_move(f.tree, RT_TREE_NEXT_SIBLING, 4);
	assert_int_equal(rt_tree_selected(f.tree), 7);
	rt_tree_move(f.tree, RT_TREE_NEXT_SIBLING, 4);
	assert_int_equal(rt_tree_selected(f.tree), 7);
	rt_tree_move(f.tree, RT_TREE_PREVIOUS_SIBLING, 4);
	assert_int_equal(rt_tree_selected(f.tree), 4);
	rt_tree_move(f.tree, RT_TREE_PAGE_DOWN, 4);
	rt_tree_move(f.tree, RT_TREE_DOWN, 4);
	assert_int_equal(rt_tree_selected(f.tree), 8);
	rt_tree_move(f.tree, RT_TREE_PAGE_UP, 4);
	assert_int_equal(rt_tree_selected(f.tree), 4);
	rt_tree_move(f.tree, RT_TREE_END, 4);
	/* segments: to the beginning of the branch, then of what it branches from */
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_SEGMENT, 4);
	assert_int_equal(rt_tree_selected(f.tree), 7);
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_SEGMENT, 4); /* folds */
	assert_int_equal(rt_tree_row_count(f.tree), 8);
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_SEGMENT, 4);
	assert_int_equal(rt_tree_selected(f.tree), 0);
	rt_tree_move(f.tree, RT_TREE_UNFOLD_OR_SEGMENT, 4);
	assert_int_equal(rt_tree_selected(f.tree), 4);
	rt_tree_move(f.tree, RT_TREE_UNFOLD_OR_SEGMENT, 4);
	assert_int_equal(rt_tree_selected(f.tree), 6);
	rt_tree_move(f.tree, RT_TREE_UNFOLD_OR_SEGMENT, 4);
	assert_int_equal(rt_tree_selected(f.tree), 6);
	/* in the manner of file trees */
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_PARENT, 4);
	assert_int_equal(rt_tree_selected(f.tree), 5);
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_PARENT, 4);
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_PARENT, 4);
	assert_int_equal(rt_tree_selected(f.tree), 4);
	assert_int_equal(rt_tree_row_count(f.tree), 6);
	rt_tree_move(f.tree, RT_TREE_UNFOLD_OR_CHILD, 4);
	assert_int_equal(rt_tree_row_count(f.tree), 8);
	rt_tree_move(f.tree, RT_TREE_UNFOLD_OR_CHILD, 4);
	assert_int_equal(rt_tree_selected(f.tree), 5);
	finish(&f);
	start(&f, &as_pi); /* pi goes round */
	sow_fork(&f);
	plant(&f.g, f.tree, 0);
	rt_tree_move(f.tree, RT_TREE_UP, 4);
	assert_int_equal(rt_tree_selected(f.tree), 8);
	rt_tree_move(f.tree, RT_TREE_DOWN, 4);
	assert_int_equal(rt_tree_selected(f.tree), 0);
	finish(&f);
}

static void
test_folds(void **state)
{
	fixture f;

	(void)state;
	start(&f, NULL);
	sow_right_first(&f);
	plant(&f.g, f.tree, 6);
	rt_tree_select(f.tree, rt_tree_find(f.tree, 4));
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_SEGMENT, 4);
	shows(f.tree, "  • user: one\n"
		      "  • assistant: two\n"
		      "  • user: three\n"
		      "  • assistant: fork\n"
		      "› ├⊞ • user: right  (+2)  ← active\n"
		      "  └⊟ user: left\n"
		      "        assistant: left two\n"
		      "  (5/7)\n");
	/* a fold inside a fold still exists when that opens */
	rt_tree_move(f.tree, RT_TREE_HOME, 4);
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_SEGMENT, 4);
	shows(f.tree, "› ⊞ • user: one  (+8)  ← active\n"
		      "  (1/1)\n");
	rt_tree_select(f.tree, rt_tree_find(f.tree, 6));
	assert_int_equal(rt_tree_selected(f.tree), 0);
	rt_tree_move(f.tree, RT_TREE_UNFOLD_OR_SEGMENT, 4);
	assert_int_equal(rt_tree_row_count(f.tree), 7);
	/* a filter keeps folds, a search opens them */
	rt_tree_set_filter(f.tree, RT_TREE_ALL);
	assert_int_equal(rt_tree_row_count(f.tree), 7);
	assert_int_equal(rt_tree_search(f.tree, RT_STR("result"), NULL), RT_OK);
	shows(f.tree, "› • tool: result\n"
		      "  (1/1) [all]\n");
	assert_int_equal(rt_tree_search(f.tree, RT_STR(""), NULL), RT_OK);
	assert_int_equal(rt_tree_row_count(f.tree), 9);
	finish(&f);
	start(&f, &as_pi); /* pi unfolds them with every filter */
	sow_fork(&f);
	plant(&f.g, f.tree, 8);
	rt_tree_move(f.tree, RT_TREE_HOME, 4);
	rt_tree_move(f.tree, RT_TREE_FOLD_OR_SEGMENT, 4);
	assert_int_equal(rt_tree_row_count(f.tree), 1);
	rt_tree_set_filter(f.tree, RT_TREE_ALL);
	assert_int_equal(rt_tree_row_count(f.tree), 9);
	finish(&f);
}

/* The head is marked in the nearest row above it. */
static void
test_hidden_head(void **state)
{
	fixture f;

	(void)state;
	start(&f, NULL);
	say(&f, -1, "user", "one");
	say(&f, 0, "assistant", "two");
	say(&f, 1, "label", "state");
	say(&f, 2, "label", "named");
	plant(&f.g, f.tree, 3);
	shows(f.tree, "  • user: one\n"
		      "› • assistant: two  ← active\n"
		      "  (2/2)\n");
	/* the destination is the head itself: only settings are between */
	assert_int_equal(rt_tree_target(f.tree, 1), 3);
	assert_int_equal(rt_tree_target(f.tree, 0), 0);
	assert_int_equal(rt_tree_target(f.tree, 3), 3);
	rt_tree_set_filter(f.tree, RT_TREE_USER_ONLY);
	shows(f.tree, "› • user: one  ← active\n"
		      "  (1/1) [user]\n");
	assert_int_equal(rt_tree_target(f.tree, 0), 0); /* a reply is between */
	rt_tree_set_filter(f.tree, RT_TREE_ALL);
	assert_int_equal(rt_tree_target(f.tree, 1), 1);
	assert_int_equal(rt_tree_head_row(f.tree), 3);
	rt_tree_set_filter(f.tree, RT_TREE_DEFAULT);
	assert_int_equal(rt_tree_search(f.tree, RT_STR("two"), NULL), RT_OK);
	assert_int_equal(rt_tree_head_row(f.tree), RT_TREE_NONE);
	finish(&f);
}

static void
finds(fixture *f, const char *query, const char *wanted)
{
	char found[100] = "";
	size_t i;

	assert_int_equal(rt_tree_search(f->tree, rt_str_of(query), NULL), RT_OK);
	assert_true(rt_str_is(rt_tree_query(f->tree), query) || query[0] == '\0');
	for (i = 0; i < rt_tree_row_count(f->tree); i++) {
		uint32_t node = rt_tree_row_node(f->tree, i);
		size_t size = strlen(found);

		snprintf(found + size, sizeof(found) - size, "%u ",
			 (unsigned)rt_tree_node_at(f->tree, node)->entry);
	}
	if (strcmp(found, wanted) != 0)
		fail_msg("\"%s\" finds %s, should find %s", query, found, wanted);
	rt_tree_check(f->tree);
}

static void
test_search(void **state)
{
	fixture f;

	(void)state;
	start(&f, NULL);
	say(&f, -1, "user", "Which database?");
	say(&f, 0, "assistant", "SQLite: one file, no server");
	say(&f, 1, "user", "Straße und ÄRGER");
	say(&f, 2, "assistant", "Good. Schema: one table");
	say(&f, 3, "tool", "ok");
	f.g.items[1].label = "Good-Start";
	f.g.items[3].flags = RT_TREE_EDITED;
	f.g.items[2].flags = RT_TREE_MUTED;
	plant(&f.g, f.tree, 3);
	finds(&f, "", "0 1 2 3 4 ");
	finds(&f, "one", "1 3 ");
	finds(&f, "ONE file", "1 ");
	finds(&f, "one nothing", "");
	finds(&f, "ärger", "2 ");
	finds(&f, "good", "1 3 "); /* in a label, too */
	finds(&f, "user", "0 2 ");
	finds(&f, "'on", "");
	finds(&f, "'one", "1 3 ");
	finds(&f, "^which", "0 ");
	finds(&f, "^user", "");
	finds(&f, "database?$", "0 ");
	finds(&f, "one$", "");
	finds(&f, "!one", "0 2 4 ");
	finds(&f, "!one !'user", "4 ");
	finds(&f, "role:assistant schema", "3 ");
	finds(&f, "!role:assistant", "0 2 4 ");
	finds(&f, "label:start", "1 ");
	finds(&f, "is:edited", "3 ");
	finds(&f, "is:muted", "2 ");
	finds(&f, "is:labeled", "1 ");
	finds(&f, "is:tool", "4 ");
	finds(&f, "!is:active", "4 ");
	finds(&f, "is:nonsense", "");
	finds(&f, " ! ' role: \t one ", "1 3 "); /* words that are being typed */
	/* a failure keeps the present search */
	f.g.failing = 1;
	say(&f, 4, "user", "new");
	finds(&f, "one", "1 3 ");
	plant(&f.g, f.tree, 3); /* reads the new texts, and fails: they are not found yet */
	f.g.failing = 1;
	assert_int_equal(rt_tree_search(f.tree, RT_STR("new"), NULL), RT_IO);
	assert_true(rt_str_is(rt_tree_query(f.tree), "one"));
	assert_int_equal(rt_tree_row_count(f.tree), 2);
	finds(&f, "new", "5 ");
	finish(&f);
	start(&f, &as_pi); /* pi supports words only */
	say(&f, -1, "user", "!no ^up");
	say(&f, 0, "user", "no");
	plant(&f.g, f.tree, 1);
	finds(&f, "!no", "0 ");
	finds(&f, "^up", "0 ");
	finds(&f, "no", "0 1 ");
	finish(&f);
}

/* The head is marked in any width; other marks are left out first. */
static void
narrow_rows_say_where_the_head_is(void **state)
{
	static const struct {
		size_t width;
		const char *row;
	} cases[] = {
		{60, "› • user: a question of some length  (muted)  ← active\n"},
		{46, "› • user: a question of so…  (muted)  ← active\n"},
		{34, "› • user: a question …  (muted)  ←\n"},
		{22, "› • user: a questi…  ←\n"},
		{9, "› • u…  ←\n"},
	};
	fixture f;
	size_t i;
	rt_buf out;

	(void)state;
	start(&f, NULL);
	say(&f, -1, "user", "a question of some length");
	f.g.items[0].flags |= RT_TREE_MUTED;
	plant(&f.g, f.tree, 0);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		draw(f.tree, 5, cases[i].width, &out);
		if (strncmp(out.ptr, cases[i].row, strlen(cases[i].row)) != 0)
			fail_msg("%zu columns:\n%s", cases[i].width, out.ptr);
	}
	rt_buf_deinit(&out);
	finish(&f);
}

static void
a_search_finds_what_is_learnt_as_it_comes(void **state)
{
	fixture f;
	bool done = false;
	int i;

	(void)state;
	start(&f, NULL);
	for (i = 0; i < 40; i++)
		say(&f, i - 1, "user", i % 10 == 9 ? "wanted" : "other");
	plant(&f.g, f.tree, 29);
	assert_int_equal(rt_tree_selected(f.tree), 29);
	assert_int_equal(rt_tree_learnt(f.tree), 0);
	f.g.failing = 1; /* no text is read */
	assert_int_equal(rt_tree_begin_search(f.tree, RT_STR("wanted"), NULL), RT_OK);
	f.g.failing = 0;
	assert_int_equal(rt_tree_row_count(f.tree), 0);
	assert_int_equal(rt_tree_learn(f.tree, 10, &done, NULL), RT_OK);
	assert_int_equal(rt_tree_learnt(f.tree), 25);
	assert_false(done);
	assert_int_equal(rt_tree_row_count(f.tree), 1);
	assert_int_equal(rt_tree_selected(f.tree), 0);
	/* rows above contain no matches that were unknown when they were searched */
	while (!done)
		assert_int_equal(rt_tree_learn(f.tree, 10, &done, NULL), RT_OK);
	assert_int_equal(rt_tree_learnt(f.tree), 100);
	assert_int_equal(rt_tree_row_count(f.tree), 4);
	assert_int_equal(rt_tree_selected(f.tree), 2); /* it came back */
	/* a moved selection stays */
	assert_int_equal(rt_tree_begin_search(f.tree, RT_STR("other"), NULL), RT_OK);
	say(&f, 39, "user", "other");
	plant(&f.g, f.tree, 29);
	assert_int_equal(rt_tree_row_count(f.tree), 36); /* the new one is not known */
	rt_tree_move(f.tree, RT_TREE_HOME, 4);
	assert_int_equal(rt_tree_learn(f.tree, 10, &done, NULL), RT_OK);
	assert_true(done);
	assert_int_equal(rt_tree_row_count(f.tree), 37);
	assert_int_equal(rt_tree_selected(f.tree), 0);
	finish(&f);
}

/* A range grows with each move and shrinks on the way back; another move begins a new one. */
static void
test_mark_range(void **state)
{
	fixture f;
	size_t row;

	(void)state;
	start(&f, NULL);
	sow_fork(&f);
	plant(&f.g, f.tree, 8);
	rt_tree_move(f.tree, RT_TREE_HOME, 1);
	rt_tree_move(f.tree, RT_TREE_DOWN, 1);
	row = rt_tree_selected(f.tree);
	rt_tree_mark(f.tree);
	assert_int_equal(rt_tree_selected(f.tree), row); /* marking does not move */
	rt_tree_mark_range(f.tree, false);
	rt_tree_mark_range(f.tree, false);
	assert_int_equal(rt_tree_mark_count(f.tree), 3);
	rt_tree_mark_range(f.tree, true);
	assert_int_equal(rt_tree_mark_count(f.tree), 2);
	rt_tree_mark_range(f.tree, true);
	rt_tree_mark_range(f.tree, true); /* beyond the row at which it began */
	assert_int_equal(rt_tree_selected(f.tree), row - 1);
	assert_int_equal(rt_tree_mark_count(f.tree), 2);
	rt_tree_mark_range(f.tree, true); /* the first row */
	assert_int_equal(rt_tree_mark_count(f.tree), 2);
	rt_tree_move(f.tree, RT_TREE_END, 1);
	rt_tree_mark_range(f.tree, true);
	assert_int_equal(rt_tree_mark_count(f.tree), 4);
	plant(&f.g, f.tree, 8); /* rebuilt: the next range begins at the selected row */
	rt_tree_mark_range(f.tree, true);
	assert_int_equal(rt_tree_mark_count(f.tree), 5);
	rt_tree_check(f.tree);
	finish(&f);
}

static void
test_changes(void **state)
{
	fixture f;
	uint32_t node;

	(void)state;
	start(&f, NULL);
	sow_fork(&f);
	plant(&f.g, f.tree, 8);
	rt_tree_select(f.tree, rt_tree_find(f.tree, 5));
	rt_tree_mark(f.tree);
	rt_tree_move(f.tree, RT_TREE_UP, 1);
	rt_tree_mark(f.tree);
	rt_tree_move(f.tree, RT_TREE_DOWN, 1);
	assert_int_equal(rt_tree_mark_count(f.tree), 2);
	/* entries 0 and 1 are deleted: every place has another name, the entries stay */
	f.g.items[2].parent = -1;
	{
		rt_tree_entry entries[9];
		size_t i;

		for (i = 2; i < 9; i++) {
			garden_entry(&f.g, i, &entries[i - 2]);
			if (entries[i - 2].parent != RT_TREE_NONE)
				entries[i - 2].parent -= 2;
		}
		assert_int_equal(rt_tree_set(f.tree, entries, 7, 6, NULL), RT_OK);
		rt_tree_check(f.tree);
		assert_int_equal(rt_tree_mark_count(f.tree), 2);
		shows(f.tree, "  • user: three\n"
			      "  • assistant: fork\n"
			      " ✓├⊟ user: left\n"
			      "›✓│     assistant: left two\n"
			      "  └⊟ • user: right\n"
			      "        • tool: result\n"
			      "        • assistant: right two  ← active\n"
			      "  (4/7)  [2 marked]\n");
		/* the selected one is deleted, too: the nearest remaining one above */
		for (i = 4; i < 7; i++) /* the two of "left" are items 2 and 3 of these */
			entries[i - 2] = entries[i];
		entries[3].parent = 2;
		entries[4].parent = 3;
		assert_int_equal(rt_tree_set(f.tree, entries, 5, 4, NULL), RT_OK);
		rt_tree_check(f.tree);
		node = rt_tree_selected_node(f.tree);
		assert_int_equal(rt_tree_node_at(f.tree, node)->entry, 3);
		assert_int_equal(rt_tree_mark_count(f.tree), 0);
	}
	assert_int_equal(rt_tree_set(f.tree, NULL, 0, RT_TREE_NONE, NULL), RT_OK);
	rt_tree_check(f.tree);
	assert_int_equal(rt_tree_row_count(f.tree), 0);
	finish(&f);
}

/* One entry in two places: the name of the place tells them apart. */
static void
test_places(void **state)
{
	fixture f;
	rt_tree_entry entries[3];
	uint32_t second;

	(void)state;
	start(&f, NULL);
	say(&f, -1, "user", "root");
	say(&f, 0, "assistant", "twice");
	say(&f, 0, "user", "other");
	memset(entries, 0, sizeof(entries));
	entries[0] = (rt_tree_entry){.name = 1, .body = 1, .entry = 0, .parent = RT_TREE_NONE};
	entries[1] = (rt_tree_entry){.name = 2, .body = 2, .entry = 1, .parent = 0};
	entries[2] = (rt_tree_entry){.name = 3, .body = 2, .entry = 1, .parent = 0};
	assert_int_equal(rt_tree_set(f.tree, entries, 3, 0, NULL), RT_OK);
	rt_tree_move(f.tree, RT_TREE_END, 1);
	rt_tree_mark(f.tree);
	second = rt_tree_selected_node(f.tree);
	assert_int_equal(second, 2);
	assert_int_equal(rt_tree_set(f.tree, entries, 3, 0, NULL), RT_OK);
	rt_tree_check(f.tree);
	assert_int_equal(rt_tree_selected_node(f.tree), 2);
	assert_int_equal(rt_tree_next_marked(f.tree, 0), 2);
	assert_int_equal(rt_tree_next_marked(f.tree, 3), RT_TREE_NONE);
	rt_tree_unmark_all(f.tree);
	assert_int_equal(rt_tree_next_marked(f.tree, 0), RT_TREE_NONE);
	assert_int_equal(rt_tree_find(f.tree, 1), 1);
	assert_int_equal(rt_tree_find(f.tree, 7), RT_TREE_NONE);
	finish(&f);
}

static void
test_notes(void **state)
{
	const rt_tree_options ascii = {.ascii = true};
	fixture f;
	rt_buf out;

	(void)state;
	start(&f, &ascii);
	sow_fork(&f);
	f.g.items[8].take = 1;
	f.g.items[5].take = 2;
	f.g.items[5].text = "l\xC3\xA4nger \033[2J";
	f.g.items[1].flags = RT_TREE_MUTED;
	f.g.items[2].flags = RT_TREE_EDITED;
	f.g.items[3].label = "fork \xE2\x80\xAE!";
	plant(&f.g, f.tree, 8);
	shows(f.tree, "  * user: one\n"
		      "  * assistant: two  (muted)\n"
		      "  * user: three  (edited)\n"
		      "  * [fork <U+202E>!] assistant: fork\n"
		      "  |- user: left\n"
		      "  |     assistant: l?nger ^[[2J  {other}\n"
		      "  `- * user: right\n"
		      "        * tool: result\n"
		      ">       * assistant: right two  {main}  <- active\n"
		      "  (9/9)\n");
	/* words are shortened for notes */
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	f.g.items[8].text = "a text that is far too long for its row";
	plant(&f.g, f.tree, 8);
	draw(f.tree, 3, 48, &out);
	assert_string_equal(out.ptr, "  `- * user: right\n"
				     "        * tool: result\n"
				     ">       * assistant: a text .  {main}  <- active\n"
				     "  (9/9)\n");
	rt_buf_deinit(&out);
	finish(&f);
}

/* No line exceeds its width, whatever its content; spans fit (see draw). */
static void
test_widths(void **state)
{
	fixture f;
	rt_buf out;
	size_t width, at;

	(void)state;
	start(&f, NULL);
	sow_fork(&f);
	f.g.items[0].text = "漢字漢字漢字漢字";
	f.g.items[1].text = "e\xCC\x81\xCC\x81 \xFF\xFE 👨‍👩‍👧 x";
	f.g.items[4].text = "\xCC\x81";
	f.g.items[8].label = "漢字";
	plant(&f.g, f.tree, 8);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (width = 0; width < 60; width++) {
		rt_str all;

		draw(f.tree, 20, width, &out);
		all = rt_buf_str(&out);
		for (at = 0; at < all.size;) {
			size_t end = rt_str_find(all, RT_STR("\n"), at);

			assert_true(rt_shown_columns(rt_str_at(all.ptr + at, end - at)) <= width);
			at = end + 1;
		}
	}
	rt_buf_deinit(&out);
	finish(&f);
}

/* Forks below forks: the body moves so that the selected row can be read. */
static void
test_scroll(void **state)
{
	fixture f;
	rt_buf out;
	int i;

	(void)state;
	start(&f, &as_pi);
	say(&f, -1, "user", "root");
	for (i = 0; i < 40; i++) {
		say(&f, i == 0 ? 0 : i * 2 - 1, "user", "deep");
		say(&f, i == 0 ? 0 : i * 2 - 1, "user", "side");
	}
	plant(&f.g, f.tree, 79);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	draw(f.tree, 3, 40, &out);
	/* 40 levels are 120 columns; the widest row ends at the right */
	assert_string_equal(out.ptr, "    │  │  │  │  │  │  ├⊟ • user: deep\n"
				     "›   │  │  │  │  │  │  │  ├─ • user: deep\n"
				     "    │  │  │  │  │  │  │  └─ user: side\n"
				     "  (41/81)\n");
	rt_tree_move(f.tree, RT_TREE_HOME, 1);
	draw(f.tree, 3, 40, &out);
	assert_string_equal(out.ptr, "› • user: root\n"
				     "  ├⊟ • user: deep\n"
				     "  │  ├⊟ • user: deep\n"
				     "  (1/81)\n");
	rt_buf_deinit(&out);
	finish(&f);
}

static rt_status
tell_number(void *ctx, const rt_tree *tree, const uint32_t *nodes, size_t count, bool to_search,
	    rt_tree_told_fn fn, void *to, rt_error *err)
{
	char text[40];
	size_t i;

	(void)ctx, (void)to_search, (void)err;
	for (i = 0; i < count; i++) {
		int size = snprintf(text, sizeof(text), "user %u",
				    (unsigned)rt_tree_node_at(tree, nodes[i])->entry);
		rt_tree_told told = {.words = rt_str_at(text, (size_t)size),
				     .hay = rt_str_at(text, (size_t)size)};

		fn(to, i, &told);
	}
	return RT_OK;
}

/* Chains, siblings and forks below forks, of the maximum size: the depth of the stack does not
 * depend on them. */
static void
test_large(void **state)
{
	enum { MANY = 100000 };
	const rt_tree_source source = {tell_number, NULL, NULL};
	rt_tree_entry *entries = test_calloc(MANY, sizeof(*entries));
	const rt_tree_line *line;
	int shape, step;
	uint32_t i;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	for (shape = 0; shape < 3; shape++) {
		rt_tree *tree;

		for (i = 0; i < MANY; i++)
			entries[i] = (rt_tree_entry){.name = i,
						     .body = i + 1,
						     .entry = i,
						     .parent = i == 0       ? RT_TREE_NONE
							       : shape == 0 ? i - 1
							       : shape == 1 ? 0
							       : i % 2 == 1 ? i - 1
							       : i >= 2     ? i - 2
									    : 0,
						     .kind = RT_TREE_USER};
		assert_int_equal(rt_tree_new(rt_alloc_libc(), &source, NULL, &tree), RT_OK);
		assert_int_equal(rt_tree_set(tree, entries, MANY, MANY - 1, NULL), RT_OK);
		rt_tree_check(tree);
		assert_int_equal(rt_tree_row_count(tree), MANY);
		for (step = 0; step < 24; step++) {
			rt_tree_move(tree, (rt_tree_step)(step % 12), 50);
			line = rt_tree_draw(tree, &s, rt_tree_selected(tree), 1, 80);
			assert_non_null(line);
			assert_true(line->selected);
		}
		rt_tree_check(tree);
		assert_int_equal(rt_tree_search(tree, RT_STR("'99999"), NULL), RT_OK);
		assert_int_equal(rt_tree_row_count(tree), 1);
		rt_tree_free(tree);
	}
	rt_scope_deinit(&s);
	test_free(entries);
}

/* An allocator that fails the nth time. */
static rt_status
live_a_little(const rt_alloc *alloc, garden *g)
{
	rt_tree_entry entries[SOWN_MAX];
	rt_tree *tree = NULL;
	rt_scope s;
	size_t i;
	rt_status st = rt_tree_new(alloc, &g->source, NULL, &tree);

	for (i = 0; i < g->count; i++)
		garden_entry(g, i, &entries[i]);
	rt_scope_init(&s, alloc);
	if (st == RT_OK)
		st = rt_tree_set(tree, entries, g->count - 1, 7, NULL);
	if (st == RT_OK)
		st = rt_tree_search(tree, RT_STR("two !three"), NULL);
	if (st == RT_OK)
		st = rt_tree_search(tree, RT_STR(""), NULL);
	if (st == RT_OK)
		st = rt_tree_set(tree, entries, g->count, 8, NULL);
	if (st == RT_OK)
		st = rt_tree_draw(tree, &s, 4, 1, 40) != NULL ? RT_OK : s.status;
	if (tree != NULL)
		rt_tree_check(tree);
	rt_scope_deinit(&s);
	rt_tree_free(tree);
	return st;
}

static void
test_no_memory(void **state)
{
	failing f = {0};
	const rt_alloc alloc = {failing_resize, failing_release, &f};
	fixture x;
	long n;
	rt_status st = RT_NOMEM;

	(void)state;
	garden_init(&x.g);
	sow_fork(&x);
	x.g.items[3].label = "label";
	for (n = 0; st != RT_OK; n++) {
		f.left = n;
		st = live_a_little(&alloc, &x.g);
		assert_true(st == RT_OK || st == RT_NOMEM);
		assert_int_equal(f.live, 0);
	}
	assert_true(n > 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_finds_what_is_learnt_as_it_comes),
		cmocka_unit_test(narrow_rows_say_where_the_head_is),
		cmocka_unit_test(test_layout),  cmocka_unit_test(test_roots),
		cmocka_unit_test(test_filters), cmocka_unit_test(test_silent),
		cmocka_unit_test(test_moves),   cmocka_unit_test(test_folds),
		cmocka_unit_test(test_hidden_head),
		cmocka_unit_test(test_search),  cmocka_unit_test(test_changes),
		cmocka_unit_test(test_places),  cmocka_unit_test(test_notes),
		cmocka_unit_test(test_mark_range), cmocka_unit_test(test_widths),  cmocka_unit_test(test_scroll),
		cmocka_unit_test(test_large),   cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
