/* SPDX-License-Identifier: MIT
 *
 * Random trees and random actions, compared with a plain implementation of the rules: visibility is
 * computed for every entry by itself, parents are searched from below, and rows are drawn by
 * recursion. */
#include "tree/tree_testing.h"

enum { ROUNDS = 300, STEPS = 30, DEPTH_MAX = 64 };

typedef struct world {
	garden g;
	rt_tree *tree;
	int head;
	bool folded[SOWN_MAX], marked[SOWN_MAX], learnt;
	rt_tree_filter filter;
	const char *word; /* the search text; "": none */
	int selected;     /* entry; -1: none */
	int remembered;
	uint64_t seed;
	/* made by look() */
	bool active[SOWN_MAX];
	int rows[SOWN_MAX];
	size_t row_count;
	rt_buf text;
} world;

static uint32_t
below(world *w, uint32_t n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->seed >> 33) % n;
}

static void
sow_any(world *w)
{
	static const char *const roles[] = {"user", "assistant", "tool",
					     "setting", "state", "usage"};
	static const rt_tree_kind kinds[] = {RT_TREE_USER, RT_TREE_ASSISTANT, RT_TREE_TOOL,
					     RT_TREE_SETTING, RT_TREE_STATE, RT_TREE_NEVER};
	static const char *const words[] = {"red", "green", "red and green", "blue"};
	uint32_t which = below(w, 22);
	int count = (int)w->g.count;
	sown s = {.parent = -1};

	which = which < 8 ? 0 : which < 15 ? 1 : which < 17 ? 2 : which < 19 ? 3 : which < 21 ? 4 : 5;
	if (count > 0 && below(w, 12) > 0)
		s.parent = below(w, 3) > 0 ? count - 1 : (int)below(w, (uint32_t)count);
	s.role = roles[which];
	s.kind = kinds[which];
	s.text = words[below(w, 4)];
	s.label = below(w, 9) == 0 ? "label" : NULL;
	s.silent = which == 1 && below(w, 4) == 0;
	sow(&w->g, s);
}

/* ---- the rules ---- */

static bool
passes(const world *w, int i)
{
	const sown *s = &w->g.items[i];

	bool is_record = s->kind == RT_TREE_SETTING || s->kind == RT_TREE_STATE;

	if (s->kind == RT_TREE_NEVER || (w->learnt && s->silent && i != w->head))
		return false;
	switch (w->filter) {
	case RT_TREE_DEFAULT: return !is_record;
	case RT_TREE_NO_TOOLS: return !is_record && s->kind != RT_TREE_TOOL;
	case RT_TREE_USER_ONLY: return s->kind == RT_TREE_USER;
	case RT_TREE_LABELED_ONLY: return s->label != NULL;
	case RT_TREE_ALL: break;
	}
	return true;
}

static bool
is_visible(const world *w, int i)
{
	const sown *s = &w->g.items[i];
	int at;

	for (at = s->parent; at >= 0; at = w->g.items[at].parent)
		if (w->folded[at])
			return false;
	return passes(w, i) &&
	       (strstr(s->text, w->word) != NULL || strstr(s->role, w->word) != NULL ||
		(s->label != NULL && strstr(s->label, w->word) != NULL));
}

static int
visible_above(const world *w, int i)
{
	for (i = w->g.items[i].parent; i >= 0 && !is_visible(w, i); i = w->g.items[i].parent)
		;
	return i;
}

/* All entries, in their order on the screen. */
static size_t
in_order(const world *w, int parent, int *out)
{
	size_t count = 0;
	int turn, i;

	for (turn = 1; turn >= 0; turn--)
		for (i = 0; i < (int)w->g.count; i++)
			if (w->g.items[i].parent == parent && w->active[i] == turn) {
				out[count++] = i;
				count += in_order(w, i, out + count);
			}
	return count;
}

/* The visible children of an entry, in order. */
static size_t
children(const world *w, int parent, int *out)
{
	size_t count = 0, i;

	for (i = 0; i < w->row_count; i++)
		if (visible_above(w, w->rows[i]) == parent)
			out[count++] = w->rows[i];
	return count;
}

/* Gutters: for each level above, does a line continue; -1: none. */
static void
draw_below(world *w, int parent, size_t level, bool branched, bool root, int *gutters)
{
	int kids[SOWN_MAX], below_that[SOWN_MAX];
	size_t count = children(w, parent, kids), i, k;
	bool forks = count > 1, many = root && forks;

	if (!root && (forks || (branched && level > 0)))
		level++;
	if (many)
		level = 1;
	for (i = 0; i < count; i++) {
		int e = kids[i];
		const sown *s = &w->g.items[e];
		size_t shown = children(w, -1, below_that) > 1 && level > 0 ? level - 1 : level;
		bool line = forks && !many, last = i == count - 1;
		bool foldable = children(w, e, below_that) > 0 && (root || forks);

		assert_true(shown < DEPTH_MAX);
		rt_buf_add_c(&w->text, e == w->selected ? "› " : "  ");
		for (k = 0; k < shown; k++) {
			if (line && k == shown - 1) {
				rt_buf_add_c(&w->text, last ? "└" : "├");
				rt_buf_add_c(&w->text, w->folded[e] ? "⊞" : foldable ? "⊟" : "─");
				rt_buf_add_c(&w->text, " ");
			} else {
				rt_buf_add_c(&w->text, gutters[k] == 1 ? "│  " : "   ");
			}
		}
		if (w->folded[e] && !line)
			rt_buf_add_c(&w->text, "⊞ ");
		if (w->active[e])
			rt_buf_add_c(&w->text, "• ");
		if (s->label != NULL)
			rt_buf_add_f(&w->text, "[%s] ", s->label);
		rt_buf_add_f(&w->text, "%s: %s\n", s->role, s->text);
		if (line)
			gutters[shown - 1] = last ? 0 : 1;
		draw_below(w, e, level, forks, false, gutters);
		if (line)
			gutters[shown - 1] = -1;
	}
}

static void
find_rows(world *w)
{
	int order[SOWN_MAX], at;
	size_t count, i;

	memset(w->active, 0, sizeof(w->active));
	for (at = w->head; at >= 0; at = w->g.items[at].parent)
		w->active[at] = true;
	count = in_order(w, -1, order);
	assert_int_equal(count, w->g.count);
	w->row_count = 0;
	for (i = 0; i < count; i++)
		if (is_visible(w, order[i]))
			w->rows[w->row_count++] = order[i];
	/* the new selection */
	if (w->row_count == 0) {
		w->selected = -1;
		return;
	}
	for (at = w->remembered; at >= 0 && !is_visible(w, at); at = w->g.items[at].parent)
		;
	w->selected = w->remembered = at >= 0 ? at : w->rows[w->row_count - 1];
}

static void
compare(world *w)
{
	int gutters[DEPTH_MAX];
	size_t i, marks = 0;
	rt_buf is;

	find_rows(w);
	for (i = 0; i < DEPTH_MAX; i++)
		gutters[i] = -1;
	rt_buf_clear(&w->text);
	draw_below(w, -1, 0, false, true, gutters);
	if (w->row_count == 0)
		rt_buf_add_c(&w->text, "  No entries found\n");
	rt_tree_check(w->tree);
	rt_buf_init(&is, rt_alloc_libc(), RT_BUF_UNLIMITED);
	draw(w->tree, SOWN_MAX, 400, &is);
	is.size = (size_t)(strstr(is.ptr, "\n  (") + 1 - is.ptr); /* without the footer */
	if (!rt_str_eq(rt_buf_str(&is), rt_buf_str(&w->text)))
		fail_msg("filter %d, search \"%s\":\n%.*s\nshould be\n%.*s", (int)w->filter,
			 w->word, (int)is.size, is.ptr, (int)w->text.size, w->text.ptr);
	rt_buf_deinit(&is);
	for (i = 0; i < w->g.count; i++) {
		uint32_t node = rt_tree_find(w->tree, (uint32_t)i);
		bool marked = (rt_tree_node_at(w->tree, node)->flags & RT_TREE_MARKED) != 0;

		assert_int_equal(marked, w->marked[i]);
		marks += marked;
	}
	assert_int_equal(marks, rt_tree_mark_count(w->tree));
}

/* ---- actions ---- */

static int
row_of(const world *w, int entry)
{
	int i;

	for (i = 0; i < (int)w->row_count && w->rows[i] != entry; i++)
		;
	return i;
}

static void
select_row(world *w, int row)
{
	int end = (int)w->row_count - 1;

	w->remembered = w->rows[row < 0 ? 0 : row > end ? end : row];
}

static void
move(world *w, rt_tree_step step, size_t page)
{
	int kids[SOWN_MAX], e = w->selected, up = e < 0 ? -1 : visible_above(w, e), row;
	size_t count, siblings, i;

	rt_tree_move(w->tree, step, page);
	if (e < 0)
		return;
	row = row_of(w, e);
	siblings = children(w, up, kids);
	count = children(w, e, kids);
	switch (step) {
	case RT_TREE_UP: select_row(w, row == 0 ? (int)w->row_count - 1 : row - 1); break;
	case RT_TREE_DOWN: select_row(w, row == (int)w->row_count - 1 ? 0 : row + 1); break;
	case RT_TREE_PAGE_UP: select_row(w, row - (int)page); break;
	case RT_TREE_PAGE_DOWN: select_row(w, row + (int)page); break;
	case RT_TREE_HOME: select_row(w, 0); break;
	case RT_TREE_END: select_row(w, SOWN_MAX); break;
	case RT_TREE_FOLD_OR_PARENT:
	case RT_TREE_FOLD_OR_SEGMENT:
		if (!w->folded[e] && count > 0 && (up < 0 || siblings > 1)) {
			w->folded[e] = true;
		} else if (step == RT_TREE_FOLD_OR_PARENT) {
			w->remembered = up >= 0 ? up : e;
		} else {
			/* the first above that begins a branch, or the root */
			for (e = up < 0 ? e : up; visible_above(w, e) >= 0; e = visible_above(w, e))
				if (children(w, visible_above(w, e), kids) > 1)
					break;
			w->remembered = e;
		}
		break;
	case RT_TREE_UNFOLD_OR_CHILD:
	case RT_TREE_UNFOLD_OR_SEGMENT:
		if (w->folded[e]) {
			w->folded[e] = false;
		} else if (step == RT_TREE_UNFOLD_OR_CHILD) {
			w->remembered = count > 0 ? kids[0] : e;
		} else {
			while ((count = children(w, e, kids)) == 1)
				e = kids[0];
			w->remembered = count > 1 ? kids[0] : e;
		}
		break;
	case RT_TREE_NEXT_SIBLING:
	case RT_TREE_PREVIOUS_SIBLING:
		siblings = children(w, up, kids);
		for (i = 0; kids[i] != e; i++)
			;
		if (step == RT_TREE_NEXT_SIBLING && i + 1 < siblings)
			w->remembered = kids[i + 1];
		if (step == RT_TREE_PREVIOUS_SIBLING && i > 0)
			w->remembered = kids[i - 1];
		break;
	}
}

static void
change(world *w)
{
	static const char *const words[] = {"red", "green", "label", "user", "nowhere", ""};
	int i;

	switch (below(w, 8)) {
	case 0:
		w->filter = (rt_tree_filter)below(w, RT_TREE_FILTERS);
		rt_tree_set_filter(w->tree, w->filter);
		memset(w->folded, 0, sizeof(w->folded));
		break;
	case 1:
		w->word = words[below(w, 6)];
		if (below(w, 2) == 0) {
			assert_int_equal(rt_tree_search(w->tree, rt_str_of(w->word), NULL), RT_OK);
		} else { /* in steps the result is the same */
			bool done = w->word[0] == '\0';

			assert_int_equal(rt_tree_begin_search(w->tree, rt_str_of(w->word), NULL), RT_OK);
			while (!done) {
				assert_int_equal(rt_tree_learn(w->tree, 3, &done, NULL), RT_OK);
				rt_tree_check(w->tree);
			}
		}
		memset(w->folded, 0, sizeof(w->folded));
		w->learnt = w->learnt || w->word[0] != '\0';
		break;
	case 2:
		if (w->selected >= 0)
			w->marked[w->selected] = !w->marked[w->selected];
		rt_tree_mark(w->tree);
		break;
	case 3: /* new entries, another head; new texts are only known after reading them */
		for (i = (int)below(w, 4); i > 0 && w->g.count < 60; i--)
			sow_any(w);
		w->head = (int)below(w, (uint32_t)w->g.count);
		plant(&w->g, w->tree, w->head);
		if (w->learnt)
			assert_int_equal(rt_tree_learn(w->tree, SIZE_MAX, NULL, NULL), RT_OK);
		/* if it is hidden, the selection moved up when the rows were computed first */
		break;
	case 4:
		i = (int)below(w, (uint32_t)w->g.count);
		rt_tree_select(w->tree, rt_tree_find(w->tree, (uint32_t)i));
		while (i >= 0 && !is_visible(w, i))
			i = w->g.items[i].parent;
		if (i >= 0)
			w->remembered = i;
		break;
	default: move(w, (rt_tree_step)below(w, 12), 1 + below(w, 9)); break;
	}
}

static void
test_random(void **state)
{
	const rt_tree_options options = {.as_pi = true};
	uint64_t seed;
	int step;

	(void)state;
	for (seed = 1; seed <= ROUNDS; seed++) {
		world *w = test_calloc(1, sizeof(*w));

		print_message("# seed %llu\n", (unsigned long long)seed);
		w->seed = seed;
		w->word = "";
		garden_init(&w->g);
		rt_buf_init(&w->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		assert_int_equal(rt_tree_new(rt_alloc_libc(), &w->g.source, &options, &w->tree),
				 RT_OK);
		for (step = 1 + (int)below(w, 40); step > 0; step--)
			sow_any(w);
		w->head = w->remembered = (int)below(w, (uint32_t)w->g.count);
		plant(&w->g, w->tree, w->head);
		for (step = 0; step < STEPS; step++) {
			compare(w);
			change(w);
		}
		rt_tree_free(w->tree);
		rt_buf_deinit(&w->text);
		test_free(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
