/* SPDX-License-Identifier: MIT
 *
 * Moment: dates and times, and texts that only look like them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/moment.h"

static void
reading(void **state)
{
	static const struct {
		const char *text, *wanted; /* NULL: not a moment */
	} cases[] = {
		{"2026-11-21", "2026-11-21T00:00:00Z"},
		{"2026-11-21T20:35:40Z", "2026-11-21T20:35:40Z"},
		{"2026-11-21 20:35:40.813+01:00", "2026-11-21T19:35:40.813Z"},
		{"2026-11-21T20:35z", "2026-11-21T20:35:00Z"},
		{"2024-02-29", "2024-02-29T00:00:00Z"},
		{"2000-02-29", "2000-02-29T00:00:00Z"},
		{"2023-02-29", NULL},
		{"1900-02-29", NULL},
		{"2026-02-28", "2026-02-28T00:00:00Z"},
		{"2026-04-31", NULL},
		{"2026-11-21T20:35:40Z+01:00", NULL},
		{"2026-11-21T20:35:40Z ", "2026-11-21T20:35:40Z"},
		{"2026-11-21T24:00:00Z", "2026-11-22T00:00:00Z"},
		{"2026-11-21T24:30:00Z", NULL},
		{"2026-11-21T24:00:01Z", NULL},
		{"2026-11-21T24:00:00.5Z", NULL},
		{"2026-11-21T23:59:60Z", "2026-11-22T00:00:00Z"}, /* a leap second */
		{"2026-13-01", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_moment at;
		rt_buf text;
		bool read = rt_moment_parse(rt_str_of(cases[i].text), &at);

		if (read != (cases[i].wanted != NULL))
			fail_msg("%s: %s", cases[i].text, read ? "accepted" : "refused");
		if (!read)
			continue;
		rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_moment_format(&text, at);
		assert_string_equal(text.ptr, cases[i].wanted);
		rt_buf_deinit(&text);
	}
}

static void
relative(void **state)
{
	static const struct {
		const char *text, *wanted; /* NULL: not a time */
	} cases[] = {
		{"2026-11-21T20:35:40Z", "2026-11-21T20:35:40Z"},
		{"today", "2026-03-02T00:00:00Z"},
		{"Yesterday", "2026-03-01T00:00:00Z"},
		{"7d", "2026-02-23T10:20:30Z"},
		{"1 day", "2026-03-01T10:20:30Z"},
		{"12h", "2026-03-01T22:20:30Z"},
		{"2 weeks ago", "2026-02-16T10:20:30Z"},
		{"this week", "2026-03-02T00:00:00Z"}, /* a Monday */
		{"last week", "2026-02-23T00:00:00Z"},
		{"LAST month", "2026-02-01T00:00:00Z"},
		{"this month", "2026-03-01T00:00:00Z"},
		{"last year", "2025-01-01T00:00:00Z"},
		{"this year", "2026-01-01T00:00:00Z"},
		{"this day", NULL},
		{"1y", "2025-03-02T10:20:30Z"},
		{"2026", "2026-01-01T00:00:00Z"},
		{"2025-12", "2025-12-01T00:00:00Z"},
		{"2025-13", NULL},
		{"20261", NULL},
		{"0d", NULL},
		{"d", NULL},
		{"7x", NULL},
		{"99999999d", NULL},
		{"ago", NULL},
		{"last", NULL},
		{"last decade", NULL},
		{"tomorrow", NULL},
		{"", NULL},
	};
	rt_moment now, at;
	rt_buf text;

	(void)state;
	assert_true(rt_moment_parse(RT_STR("2026-03-02T10:20:30Z"), &now));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool read = rt_moment_parse_relative(rt_str_of(cases[i].text), now.us, NULL, &at);

		if (read != (cases[i].wanted != NULL))
			fail_msg("%s: %s", cases[i].text, read ? "accepted" : "refused");
		if (!read)
			continue;
		rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_moment_format(&text, at);
		assert_string_equal(text.ptr, cases[i].wanted);
		rt_buf_deinit(&text);
	}
}

/* Two hours east of Greenwich, three from 2026-03-29T01:00Z on. */
static int64_t
zone_us(int64_t at_us)
{
	return (at_us < INT64_C(1774746000000000) ? 2 : 3) * INT64_C(3600000000);
}

/* Days are those of local clocks, also where they change. */
static void
local(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"today", "2026-03-29T21:00:00Z"}, /* it is 01:20 on the 30th */
		{"yesterday", "2026-03-28T22:00:00Z"},
		{"this week", "2026-03-29T21:00:00Z"},
		{"last week", "2026-03-22T22:00:00Z"},
		{"last month", "2026-01-31T22:00:00Z"},
		{"2026-03-29", "2026-03-28T22:00:00Z"},
		{"2026-03-30", "2026-03-29T21:00:00Z"},
		{"2026-03-30T12:00", "2026-03-30T09:00:00Z"},
		{"2026-03-30T12:00Z", "2026-03-30T12:00:00Z"},
		{"2026-03-30T12:00+01:00", "2026-03-30T11:00:00Z"},
		{"2026", "2025-12-31T22:00:00Z"},
		{"1h", "2026-03-29T21:20:30Z"},
	};
	rt_moment now, at;
	rt_buf text;

	(void)state;
	assert_true(rt_moment_parse(RT_STR("2026-03-29T22:20:30Z"), &now));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(rt_moment_parse_relative(rt_str_of(cases[i].text), now.us, zone_us, &at));
		rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_moment_format(&text, at);
		assert_string_equal(text.ptr, cases[i].wanted);
		rt_buf_deinit(&text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local),
		cmocka_unit_test(reading),
		cmocka_unit_test(relative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
