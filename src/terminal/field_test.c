/* SPDX-License-Identifier: MIT
 *
 * Writing: keys, words, rows, undo, the history of sent texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "terminal/field_impl.h"

static rt_field *field;
static rt_canvas canvas;
static rt_buf shown;

static int
setup_lines(bool several)
{
	rt_canvas_init(&canvas, rt_alloc_libc(), true);
	rt_buf_init(&shown, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_canvas_resize(&canvas, 10, 3) != RT_OK)
		return -1;
	return rt_field_new(rt_alloc_libc(), several, &field) == RT_OK ? 0 : -1;
}

static int
setup(void **state)
{
	(void)state;
	return setup_lines(true);
}

static int
setup_one_line(void **state)
{
	(void)state;
	return setup_lines(false);
}

static int
teardown(void **state)
{
	(void)state;
	rt_field_free(field);
	rt_canvas_deinit(&canvas);
	rt_buf_deinit(&shown);
	return 0;
}

static void
type(const char *text)
{
	bool used;

	for (; *text != 0; text++) {
		assert_int_equal(rt_field_key(field, (rt_key){(unsigned char)*text, 0}, &used), RT_OK);
		assert_true(used);
	}
}

static bool
act(rt_action action)
{
	bool used;

	assert_int_equal(rt_field_act(field, action, canvas.columns, &used), RT_OK);
	return used;
}

/* The text, with | at the cursor. */
static void
assert_is(const char *wanted)
{
	size_t cursor = rt_field_cursor(field);
	rt_str text = rt_field_text(field);

	rt_buf_clear(&shown);
	rt_buf_add(&shown, text.ptr, cursor);
	rt_buf_add_byte(&shown, '|');
	rt_buf_add(&shown, cursor < text.size ? text.ptr + cursor : NULL, text.size - cursor);
	assert_string_equal(shown.ptr, wanted);
}

static void
set(const char *text)
{
	assert_int_equal(rt_field_set(field, rt_str_of(text)), RT_OK);
}

static void
assert_draws(const char *lines, int x, int y)
{
	rt_field_draw(field, &canvas, rt_canvas_box(&canvas), RT_INK_TEXT, true);
	rt_buf_clear(&shown);
	rt_canvas_add_text(&canvas, &shown);
	assert_string_equal(shown.ptr, lines);
	assert_int_equal(canvas.cursor_x, x);
	assert_int_equal(canvas.cursor_y, y);
}

static void
test_typing_and_moving(void **state)
{
	bool used;

	(void)state;
	assert_true(rt_field_is_empty(field));
	type("hello world");
	assert_true(act(RT_ACT_LEFT));
	assert_is("hello worl|d");
	act(RT_ACT_WORD_LEFT);
	assert_is("hello |world");
	act(RT_ACT_WORD_LEFT);
	assert_is("|hello world");
	act(RT_ACT_WORD_LEFT);
	act(RT_ACT_WORD_RIGHT);
	assert_is("hello| world");
	act(RT_ACT_NEWLINE);
	assert_is("hello\n| world");
	act(RT_ACT_LINE_END);
	assert_is("hello\n world|");
	act(RT_ACT_LINE_START);
	assert_is("hello\n| world");
	act(RT_ACT_TEXT_START);
	assert_is("|hello\n world");
	act(RT_ACT_TEXT_END);
	act(RT_ACT_RIGHT);
	assert_is("hello\n world|");
	assert_int_equal(rt_field_key(field, (rt_key){'a', RT_KEY_CTRL}, &used), RT_OK);
	assert_false(used);
	assert_false(act(RT_ACT_TREE));
	assert_false(act(RT_ACT_COMPLETE));
}

static void
test_graphemes_are_never_cut(void **state)
{
	(void)state;
	set("ae\u0301\U0001F468\u200D\U0001F469\u200D\U0001F467z");
	act(RT_ACT_LEFT);
	act(RT_ACT_LEFT);
	assert_is("ae\u0301|\U0001F468\u200D\U0001F469\u200D\U0001F467z");
	act(RT_ACT_LEFT);
	assert_is("a|e\u0301\U0001F468\u200D\U0001F469\u200D\U0001F467z");
	act(RT_ACT_RIGHT);
	act(RT_ACT_ERASE_NEXT);
	assert_is("ae\u0301|z");
	act(RT_ACT_ERASE);
	assert_is("a|z");
}

static void
test_erasing_and_putting_in_again(void **state)
{
	(void)state;
	set("one two three\nfour");
	act(RT_ACT_ERASE_WORD);
	assert_is("one two three\n|");
	act(RT_ACT_ERASE_WORD);
	assert_is("one two |");
	act(RT_ACT_YANK);
	assert_is("one two three\nfour|");
	act(RT_ACT_ERASE_TO_START);
	act(RT_ACT_ERASE_TO_START); /* the line end */
	assert_is("one two three|");
	act(RT_ACT_WORD_LEFT);
	act(RT_ACT_ERASE_TO_END);
	assert_is("one two |");
	act(RT_ACT_TEXT_START);
	act(RT_ACT_YANK);
	assert_is("three|one two ");
	act(RT_ACT_TEXT_START);
	act(RT_ACT_ERASE_WORD_NEXT);
	act(RT_ACT_ERASE_WORD_NEXT);
	assert_is("| ");
	act(RT_ACT_YANK);
	assert_is("threeone two| ");
}

static void
test_typing_is_taken_back_by_words(void **state)
{
	(void)state;
	type("ab cd");
	act(RT_ACT_ERASE);
	act(RT_ACT_ERASE);
	type("x");
	assert_is("ab x|");
	assert_true(act(RT_ACT_FIELD_UNDO));
	assert_is("ab |");
	act(RT_ACT_FIELD_UNDO);
	assert_is("ab cd|");
	act(RT_ACT_FIELD_UNDO);
	assert_is("ab |");
	act(RT_ACT_FIELD_UNDO);
	assert_is("|");
	assert_false(act(RT_ACT_FIELD_UNDO));
	act(RT_ACT_FIELD_REDO);
	act(RT_ACT_FIELD_REDO);
	assert_is("ab cd|");
	act(RT_ACT_FIELD_REDO);
	act(RT_ACT_FIELD_REDO);
	assert_is("ab x|");
	assert_false(act(RT_ACT_FIELD_REDO));
	act(RT_ACT_FIELD_UNDO);
	type("y");
	assert_false(act(RT_ACT_FIELD_REDO));
	/* Another text replaces it, too. */
	set("else");
	act(RT_ACT_FIELD_UNDO);
	assert_is("ab y|");
	rt_field_clear(field);
	assert_false(act(RT_ACT_FIELD_UNDO));
	assert_is("|");
}

static void
test_rows(void **state)
{
	(void)state;
	type("one two three");
	assert_draws("one two\nthree\n\n", 5, 1);
	assert_int_equal(rt_field_rows(field, &canvas, 10, 8), 2);
	assert_int_equal(rt_field_rows(field, &canvas, 100, 8), 1);
	assert_int_equal(rt_field_rows(field, &canvas, 10, 1), 1);
	/* The column of the cursor stays on its way up and down. */
	act(RT_ACT_UP);
	assert_is("one t|wo three");
	assert_true(act(RT_ACT_DOWN));
	assert_is("one two three|");
	assert_false(act(RT_ACT_DOWN));
	/* A word moves back if there is space for it again. */
	act(RT_ACT_TEXT_START);
	act(RT_ACT_ERASE_WORD_NEXT);
	act(RT_ACT_ERASE_NEXT);
	assert_draws("two three\n\n\n", 0, 0);
	/* A word that is too long for a row; a blank that hangs over. */
	set("abcdefghijklm 12345678 x");
	assert_draws("jklm\n12345678\nx\n", 1, 2);
	set("123456789 x");
	assert_draws("123456789\nx\n\n", 1, 1);
	set("a\n\n");
	assert_draws("a\n\n\n", 0, 2);
	set("\u4F60\u597D\u4F60\u597D\u4F60\u597D");
	assert_draws("\u4F60\u597D\u4F60\u597D\n\u4F60\u597D\n\n", 4, 1);
	set("\ta\tb");
	assert_draws("        a\nb\n\n", 1, 1);
	set("1\n2\n3\n4\n5");
	assert_draws("3\n4\n5\n", 1, 2);
	act(RT_ACT_TEXT_START);
	assert_draws("1\n2\n3\n", 0, 0);
	assert_int_equal(rt_field_rows(field, &canvas, 10, 4), 4);
	/* The minimum width. */
	assert_int_equal(rt_canvas_resize(&canvas, 1, 3), RT_OK);
	assert_draws("1\n2\n3\n", 0, 0);
}

static void
test_what_was_sent(void **state)
{
	(void)state;
	assert_false(act(RT_ACT_UP));
	assert_int_equal(rt_field_remember(field, RT_STR("first")), RT_OK);
	assert_int_equal(rt_field_remember(field, RT_STR("second\nline")), RT_OK);
	assert_int_equal(rt_field_remember(field, RT_STR("second\nline")), RT_OK);
	type("draft");
	assert_true(act(RT_ACT_UP));
	assert_is("second\nline|");
	act(RT_ACT_UP); /* a row of it */
	assert_is("seco|nd\nline");
	act(RT_ACT_UP);
	assert_is("first|");
	assert_true(act(RT_ACT_UP)); /* there is no other */
	assert_is("first|");
	act(RT_ACT_DOWN);
	assert_is("second\nline|");
	act(RT_ACT_DOWN);
	assert_is("draft|");
	assert_false(act(RT_ACT_DOWN));
}

static void
test_one_line_is_one_line(void **state)
{
	(void)state;
	assert_false(act(RT_ACT_NEWLINE));
	assert_int_equal(rt_field_insert(field, RT_STR("a\r\nb\nc\rd")), RT_OK);
	assert_is("a b c d|");
}

static void
test_what_is_put_in_is_utf8(void **state)
{
	(void)state;
	assert_int_equal(rt_field_insert(field, RT_STR("a\xFFz\r\nb\r")), RT_OK);
	assert_is("a\uFFFDz\nb\n|");
}

static void
assert_row(const char *wanted, int cursor)
{
	char room[80];

	rt_field_draw(field, &canvas, rt_canvas_box(&canvas), RT_INK_TEXT, true);
	rt_buf_clear(&shown);
	rt_canvas_add_text(&canvas, &shown);
	rt_buf_add_f(&shown, "%d %d", canvas.cursor_x, canvas.cursor_y);
	rt_buf_add_byte(&shown, 0);
	(void)snprintf(room, sizeof(room), "%s\n%d 0", wanted, cursor);
	assert_string_equal(shown.ptr, room);
}

/* In one row a field of one line is not wrapped: it is visible up to the cursor. */
static void
test_one_row_scrolls_sideways(void **state)
{
	(void)state;
	assert_int_equal(rt_canvas_resize(&canvas, 12, 1), RT_OK);
	type("one two");
	assert_row("one two", 7);
	type(" thre");
	assert_row("\xe2\x80\xa6" "e two thre", 11);
	act(RT_ACT_LINE_START);
	assert_row("one two thre", 0);
	act(RT_ACT_LINE_END);
	assert_row("\xe2\x80\xa6" "e two thre", 11);
	/* a character of two columns is not cut in half */
	act(RT_ACT_LINE_START);
	assert_int_equal(rt_field_insert(field, RT_STR("\xe4\xb8\x80\xe4\xba\x8c")), RT_OK);
	act(RT_ACT_LINE_END);
	type("x");
	assert_row("\xe2\x80\xa6" " two threx", 11);
	/* only the cursor fits */
	assert_int_equal(rt_canvas_resize(&canvas, 1, 1), RT_OK);
	assert_row("\xe2\x80\xa6", 0);
}

/* Ten megabytes: inserted at once, drawn at both ends, typed into in the middle. */
static void
test_a_large_paste(void **state)
{
	enum { SIZE = 10 * 1024 * 1024 };
	char *bytes = malloc(SIZE);
	int i;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < SIZE; i++)
		bytes[i] = i % 61 == 60 ? '\n' : i % 7 == 6 ? ' ' : 'a';
	assert_int_equal(rt_field_insert(field, rt_str_at(bytes, SIZE)), RT_OK);
	assert_int_equal(rt_field_text(field).size, SIZE);
	rt_field_draw(field, &canvas, rt_canvas_box(&canvas), RT_INK_TEXT, true);
	for (i = 0; i < 1000; i++) {
		type("x");
		rt_field_draw(field, &canvas, rt_canvas_box(&canvas), RT_INK_TEXT, true);
	}
	act(RT_ACT_TEXT_START);
	for (i = 0; i < 1000; i++) {
		type("y");
		rt_field_draw(field, &canvas, rt_canvas_box(&canvas), RT_INK_TEXT, true);
	}
	for (i = 0; i < 3; i++)
		act(RT_ACT_FIELD_UNDO);
	assert_true(rt_field_is_empty(field));
	act(RT_ACT_FIELD_REDO);
	assert_true(rt_str_eq(rt_field_text(field), rt_str_at(bytes, SIZE)));
	free(bytes);
}

static uint64_t
random_next(uint64_t *seed)
{
	*seed += 0x9E3779B97F4A7C15u;
	return rt_hash_u64(*seed);
}

/* The visible part, as text with the cursor. */
static void
show(rt_field *f, rt_canvas *on, rt_buf *out)
{
	rt_field_draw(f, on, rt_canvas_box(on), RT_INK_TEXT, true);
	rt_buf_clear(out);
	rt_canvas_add_text(on, out);
	rt_buf_add_f(out, "%d %d", on->cursor_x, on->cursor_y);
}

/* Any keys in any order: the cursor is between graphemes, cached rows equal those of a new field,
 * and everything can be undone. */
static void
test_anything(void **state)
{
	static const rt_action actions[] = {
		RT_ACT_LEFT, RT_ACT_RIGHT, RT_ACT_WORD_LEFT, RT_ACT_WORD_RIGHT, RT_ACT_UP, RT_ACT_DOWN,
		RT_ACT_LINE_START, RT_ACT_LINE_END, RT_ACT_TEXT_START, RT_ACT_TEXT_END, RT_ACT_ERASE,
		RT_ACT_ERASE_NEXT, RT_ACT_ERASE_WORD, RT_ACT_ERASE_WORD_NEXT, RT_ACT_ERASE_TO_START,
		RT_ACT_ERASE_TO_END, RT_ACT_YANK, RT_ACT_NEWLINE, RT_ACT_FIELD_UNDO, RT_ACT_FIELD_REDO,
	};
	static const char *const pieces[] = {"a", "bc ", " ", "\n", "\t", "\u4F60", "e\u0301", "\u0301",
					     "\u200D", "\U0001F469", "\033", "long_word_that_is_cut", "x\r\ny"};
	uint64_t seed = 20261122;
	rt_buf mine, fresh;
	int round, steps;

	(void)state;
	rt_buf_init(&mine, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&fresh, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (round = 0; round < 300; round++) {
		rt_field_clear(field);
		assert_int_equal(rt_canvas_resize(&canvas, 2 + (int)(random_next(&seed) % 12), 3), RT_OK);
		for (steps = 0; steps < 60; steps++) {
			rt_field *other = NULL;
			rt_str text;

			if (random_next(&seed) % 2 == 0)
				assert_int_equal(
					rt_field_insert(field, rt_str_of(pieces[random_next(&seed) %
								(sizeof(pieces) / sizeof(pieces[0]))])),
					RT_OK);
			else if (random_next(&seed) % 3 == 0)
				type("k");
			else
				(void)act(actions[random_next(&seed) %
						  (sizeof(actions) / sizeof(actions[0]))]);
			text = rt_field_text(field);
			assert_int_equal(rt_utf8_valid_size(text), text.size);
			assert_true(rt_field_cursor(field) <= text.size);
			show(field, &canvas, &mine);
			assert_int_equal(rt_field_new(rt_alloc_libc(), true, &other), RT_OK);
			assert_int_equal(rt_field_set(other, text), RT_OK);
			other->cursor = field->cursor;
			other->top = field->top;
			show(other, &canvas, &fresh);
			assert_string_equal(mine.ptr, fresh.ptr);
			rt_field_free(other);
		}
		rt_buf_clear(&mine);
		rt_buf_add_str(&mine, rt_field_text(field));
		for (steps = 0; act(RT_ACT_FIELD_UNDO); steps++)
			;
		assert_true(rt_field_is_empty(field));
		while (steps-- > 0)
			act(RT_ACT_FIELD_REDO);
		assert_true(rt_str_eq(rt_field_text(field), rt_buf_str(&mine)) ||
			    field->redo.count > 0);
	}
	rt_buf_deinit(&mine);
	rt_buf_deinit(&fresh);
}

/* --- no memory --- */

typedef struct failing {
	long left; /* allocations until one fails; < 0: none does */
} failing;

static void *
failing_resize(void *ctx, void *ptr, size_t size)
{
	failing *f = ctx;

	if (f->left == 0)
		return NULL;
	f->left -= f->left > 0;
	return realloc(ptr, size);
}

static void
failing_release(void *ctx, void *ptr)
{
	(void)ctx;
	free(ptr);
}

/* Everything that allocates; the first failure ends it, with the text unchanged. */
static rt_status
write_something(rt_field *f, failing *fails)
{
	static const rt_action actions[] = {RT_ACT_ERASE_WORD, RT_ACT_YANK, RT_ACT_NEWLINE,
					    RT_ACT_FIELD_UNDO, RT_ACT_FIELD_REDO, RT_ACT_UP,
					    RT_ACT_ERASE, RT_ACT_ERASE, RT_ACT_ERASE_TO_START};
	rt_status st = rt_field_remember(f, RT_STR("sent"));
	bool used;
	size_t i;

	for (i = 0; i < 40 && st == RT_OK; i++)
		st = rt_field_key(f, (rt_key){i % 5 == 4 ? ' ' : 'a', 0}, &used);
	if (st == RT_OK)
		st = rt_field_insert(f, RT_STR("\xFF pasted\r\ntext that needs more room than there is"));
	for (i = 0; i < sizeof(actions) / sizeof(actions[0]) && st == RT_OK; i++) {
		const rt_text *before;
		long left = fails->left;

		fails->left = -1;
		before = rt_text_new(rt_alloc_libc(), rt_field_text(f));
		fails->left = left;
		st = rt_field_act(f, actions[i], 20, &used);
		if (st != RT_OK)
			assert_true(rt_str_eq(rt_field_text(f), rt_text_str(before)));
		rt_text_unref(before);
	}
	return st;
}

static void
test_without_memory(void **state)
{
	failing fails = {-1};
	rt_alloc alloc = {failing_resize, failing_release, &fails};
	rt_status st = RT_NOMEM;
	long nth;

	(void)state;
	for (nth = 0; st != RT_OK; nth++) {
		rt_field *f = NULL;

		fails.left = nth;
		st = rt_field_new(&alloc, true, &f);
		if (st == RT_OK)
			st = write_something(f, &fails);
		assert_true(st == RT_OK || st == RT_NOMEM);
		rt_field_free(f);
		assert_true(nth < 1000);
	}
	assert_true(nth > 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_typing_and_moving, setup, teardown),
		cmocka_unit_test_setup_teardown(test_graphemes_are_never_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_erasing_and_putting_in_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_typing_is_taken_back_by_words, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_line_is_one_line, setup_one_line, teardown),
		cmocka_unit_test_setup_teardown(test_one_row_scrolls_sideways, setup_one_line,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_put_in_is_utf8, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_large_paste, setup, teardown),
		cmocka_unit_test_setup_teardown(test_anything, setup, teardown),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
