/* SPDX-License-Identifier: MIT
 *
 * Every pane with the first allocation failing, then the second, and so on: a status, nothing
 * lost, nothing used after it was freed. */
#define _GNU_SOURCE

#include "base/sample_testing.h"
#include "tui/tui_testing.h"

/* The desk's own memory; it fails once, after this many allocations. */
typedef struct poor {
	rt_alloc alloc;
	size_t left;
	bool has_failed;
} poor;

static void *
poor_resize(void *ctx, void *ptr, size_t size)
{
	poor *p = ctx;

	if (p->left-- == 0) {
		p->has_failed = true;
		return NULL;
	}
	return rt_resize(rt_alloc_libc(), ptr, size);
}

static void
poor_release(void *ctx, void *ptr)
{
	(void)ctx;
	rt_free(rt_alloc_libc(), ptr);
}

typedef rt_status (*begin_fn)(desk *d);

/* Keys, and a frame after each, until one of them fails. */
static rt_status
go_through(desk *d, const char *words)
{
	rt_status st = RT_OK;

	while (st == RT_OK && *words != 0) {
		size_t size = strcspn(words, " ");
		rt_key key;

		assert_int_equal(rt_key_read(rt_str_at(words, size), &key, NULL), RT_OK);
		st = rt_tui_key(&d->tui, key);
		rt_tui_draw(&d->tui);
		if (st == RT_OK)
			st = rt_tui_tend(&d->tui);
		words += size;
		words += strspn(words, " ");
	}
	return st;
}

static void
torture(begin_fn begin, const char *words)
{
	size_t count;
	bool has_failed = true;

	for (count = 0; has_failed; count += test_sample()) {
		poor p = {.alloc = {poor_resize, poor_release, NULL}, .left = SIZE_MAX};
		rt_status st;
		desk d;

		p.alloc.ctx = &p;
		desk_open(&d, 110, 24);
		desk_add(&d, "User", "Which database?");
		desk_add(&d, "AI", "SQLite.");
		desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":1\",\"name\":\"duck\"}]");
		desk_do(&d, "[{\"op\":\"undo\"}]");
		desk_do(&d, "[{\"op\":\"entry.edit\",\"entry\":\":1\",\"content\":\"Which store?\"}]");
		d.tui.alloc = &p.alloc;
		p.left = count;
		st = begin(&d);
		if (st == RT_OK)
			st = go_through(&d, words);
		if (st != RT_OK && st != RT_NOMEM)
			fail_msg("allocation %zu: status %d", count, (int)st);
		has_failed = p.has_failed;
		if (!has_failed)
			assert_int_equal(st, RT_OK);
		p.left = SIZE_MAX;
		desk_close(&d);
	}
	/* It was not over before it began. */
	assert_true(count > 10);
}

static rt_status
begin_history(desk *d)
{
	return rt_pane_history(&d->tui);
}

static void
history(void **state)
{
	(void)state;
	torture(begin_history, "down down / e d i t enter n f f f tab tab y enter r end right left escape");
}

static rt_status
begin_discussions(desk *d)
{
	return rt_pane_discussions(&d->tui, RT_STR("sq"));
}

static void
discussions(void **state)
{
	(void)state;
	torture(begin_discussions, "l backspace backspace backspace right down ctrl+r x enter alt+p y enter "
				   "ctrl+n enter f4 ctrl+d ctrl+o escape");
}

static rt_status
begin_palette(desk *d)
{
	return rt_pane_palette(&d->tui, RT_STR("use"));
}

static void
palette(void **state)
{
	(void)state;
	torture(begin_palette, "tab down tab enter ctrl+u a l l down up escape");
}

static rt_status
hear(rt_tui *tui, void *ctx, rt_str answer)
{
	(void)tui;
	(void)ctx;
	(void)answer;
	return RT_OK;
}

/* Counts itself. */
static void
let_go(rt_tui *tui, void *ctx)
{
	int *freed = ctx;

	(void)tui;
	++*freed;
}

static int freed;

static rt_status
begin_questions(desk *d)
{
	static const rt_choice choices[] = {{"n", "no", "No"}, {"y", "yes", "Yes"}};
	rt_json_doc *doc;
	rt_status st;

	freed = 0;
	assert_int_equal(rt_json_read(rt_alloc_libc(), RT_STR("[\"User\",\"AI\"]"), &doc, NULL), RT_OK);
	st = rt_pane_pick(&d->tui, "Role", rt_json_root(doc), true, hear, &freed, let_go);
	rt_json_free(doc);
	assert_int_equal(freed, st != RT_OK);
	if (st == RT_OK) {
		st = rt_pane_choose(&d->tui, "Sum up?", choices, 2, hear, &freed, let_go);
		assert_int_equal(freed, st != RT_OK);
	}
	if (st == RT_OK) {
		st = rt_pane_ask(&d->tui, "Label", RT_STR("abc"), false, hear, &freed, let_go);
		assert_int_equal(freed, st != RT_OK);
	}
	return st;
}

static void
questions(void **state)
{
	(void)state;
	torture(begin_questions, "x backspace enter down enter u s tab x enter");
}

static rt_status
begin_help(desk *d)
{
	return rt_pane_help(&d->tui, RT_SCREEN_TREE);
}

static void
help(void **state)
{
	(void)state;
	torture(begin_help, "pagedown / m a r k enter n N y escape");
}

/* An entry is being edited, and another program writes into it. */
static rt_status
begin_conflict(desk *d)
{
	rt_apply_context with = {.by = RT_STR("web")};
	rt_json_doc *doc = NULL;
	yyjson_val *request;
	rt_result result;
	rt_status st = go_through(d, "alt+up e x");

	if (st != RT_OK)
		return st;
	assert_int_equal(rt_json_read(rt_alloc_libc(),
				      RT_STR("{\"op\":\"entry.edit\",\"entry\":\":-1\",\"content\":\"theirs\"}"),
				      &doc, NULL), RT_OK);
	request = rt_json_root(doc);
	assert_int_equal(rt_apply_json(d->tui.work.engine, &with, &request, 1, false, RT_STR(""),
				      RT_STR(""), &result), RT_OK);
	rt_result_deinit(&result);
	rt_json_free(doc);
	return RT_OK;
}

static void
conflicts(void **state)
{
	(void)state;
	torture(begin_conflict, "enter s escape d e y enter u U");
	torture(begin_conflict, "enter b");
	torture(begin_conflict, "enter o");
}

static rt_status
begin_verbs(desk *d)
{
	return go_through(d, "alt+up space up space");
}

static void
verbs(void **state)
{
	(void)state;
	torture(begin_verbs, "H R enter d u X m y enter s S q enter D u escape / u n d o enter");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(history),
		cmocka_unit_test(discussions),
		cmocka_unit_test(palette),
		cmocka_unit_test(questions),
		cmocka_unit_test(help),
		cmocka_unit_test(conflicts),
		cmocka_unit_test(verbs),
	};

	return cmocka_run_group_tests_name("pane_torture", tests, NULL, NULL);
}
