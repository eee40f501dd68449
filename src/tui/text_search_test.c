/* SPDX-License-Identifier: MIT
 *
 * A search for a text in a take: its start, wrapping around, and slices. */
#define _GNU_SOURCE

#include "tui/text_search.h"
#include "tui/tui_testing.h"

/* Numbers 0 .. count - 1, each an entry, in one go. */
static void
add_numbers(desk *d, size_t count)
{
	rt_buf requests;
	size_t i;

	rt_buf_init(&requests, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < count; i++)
		rt_buf_add_f(&requests, "%s{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"No. %zu.\"}",
			     i == 0 ? "[" : ",", i);
	rt_buf_add_c(&requests, "]");
	desk_do(d, requests.ptr);
	rt_buf_deinit(&requests);
}

/* The position of the match; SIZE_MAX: none. *out_pieces (may be NULL): number of slices. */
static size_t
seek(desk *d, size_t from, bool back, const char *what, size_t *out_pieces)
{
	rt_text_search s;
	size_t at = SIZE_MAX, pieces = 0;
	unsigned percent = 0;

	rt_text_search_begin(&s, &d->tui.work, from, back);
	while (s.is_on) {
		bool found = rt_text_search_next(&s, &d->tui.work, rt_str_of(what), &at);

		assert_true(!found || !s.is_on);
		assert_true(rt_text_search_percent(&s) >= percent);
		percent = rt_text_search_percent(&s);
		pieces++;
	}
	assert_true(at != SIZE_MAX || percent == 100);
	if (out_pieces != NULL)
		*out_pieces = pieces;
	return at;
}

static void
goes_both_ways_and_around(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 40, 10);
	add_numbers(&d, 30);
	assert_int_equal(seek(&d, 0, false, "no. 1", NULL), 1);
	assert_int_equal(seek(&d, 0, true, "no. 1", NULL), 19);
	assert_int_equal(seek(&d, 25, false, "NO. 3.", NULL), 3);
	assert_int_equal(seek(&d, 3, false, "no. 3.", NULL), 3); /* itself last */
	assert_int_equal(seek(&d, 3, true, "no. 3.", NULL), 3);
	assert_int_equal(seek(&d, 29, false, "nothing", NULL), SIZE_MAX);
	assert_int_equal(seek(&d, 29, false, "", NULL), SIZE_MAX);
	desk_close(&d);
}

static void
a_long_take_is_looked_at_piece_by_piece(void **state)
{
	enum { MANY = 3 * RT_TEXT_SEARCH_ENTRIES };
	rt_text_search s;
	size_t pieces, at;
	desk d;

	(void)state;
	desk_open(&d, 40, 10);
	add_numbers(&d, MANY);
	assert_int_equal(seek(&d, MANY - 1, false, "no. 1300.", &pieces), 1300);
	assert_int_equal(pieces, 3);
	assert_int_equal(seek(&d, 0, true, "no. 1300.", &pieces), 1300);
	assert_int_equal(pieces, 1);
	/* the take becomes a shorter one meanwhile */
	rt_text_search_begin(&s, &d.tui.work, 0, true);
	assert_false(rt_text_search_next(&s, &d.tui.work, RT_STR("no. 4."), &at));
	assert_true(s.is_on);
	desk_do(&d, "[{\"op\":\"take.branch\",\"at\":\":9\",\"name\":\"short\"}]");
	assert_int_equal(rt_work_count(&d.tui.work), 9);
	assert_true(rt_text_search_next(&s, &d.tui.work, RT_STR("no. 4."), &at));
	assert_int_equal(at, 4);
	desk_close(&d);
}

/* From the chat: Ctrl+F, and n in the entries. */
static void
the_chat_finds_what_it_is_asked_for(void **state)
{
	desk d;

	(void)state;
	desk_open(&d, 60, 12);
	add_numbers(&d, 2 * RT_TEXT_SEARCH_ENTRIES);
	desk_press(&d, "ctrl+f");
	desk_type(&d, "No. 7.");
	desk_press(&d, "enter");
	assert_shows(&d, "No. 7.");
	assert_notice(&d, "");
	desk_press(&d, "ctrl+f right");
	desk_type(&d, "8"); /* after its old end */
	desk_press(&d, "enter");
	assert_notice(&d, "Not found in this take: No. 7.8.  Search all discussions: F4");
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_both_ways_and_around),
		cmocka_unit_test(a_long_take_is_looked_at_piece_by_piece),
		cmocka_unit_test(the_chat_finds_what_it_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
