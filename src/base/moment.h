/* SPDX-License-Identifier: MIT
 *
 * Moment: a point in time with the precision it came with (C37), read from ISO 8601
 * or an epoch number and written as ISO 8601 in UTC. Pure arithmetic, no clock. */
#ifndef RT_BASE_MOMENT_H
#define RT_BASE_MOMENT_H

#include "base/text.h"

/* Years -9999 to 9999 to a nanosecond. */
typedef struct rt_moment {
	int64_t us;   /* microseconds since 1970-01-01 UTC */
	uint16_t ns;  /* 0 .. 999, on top of us */
} rt_moment;

/* "2026-11-21", "2026-11-21T20:35:40Z", "2026-11-21 20:35:40.813+01:00" and the like;
 * no zone means UTC; a leading "@" (the seeds' TOML) is skipped. False: not a moment. */
bool rt_moment_parse(rt_str s, rt_moment *out);

/* Local time minus UTC at a time, in microseconds. */
typedef int64_t (*rt_zone_fn)(int64_t at_us);

/* The same, and times that depend on now: "today" and "yesterday"; "7d", "12 hours", "2 weeks ago"
 * (months have 30 days, years 365); the beginning of "this week" or "last week" (a Monday), of this or
 * last month or year; "2026-11" and "2026". Ignores case. Days and times without a zone are local;
 * zone NULL: UTC. */
bool rt_moment_parse_relative(rt_str s, int64_t now_us, rt_zone_fn zone, rt_moment *out);

/* A decimal epoch number as in JSON: seconds, or milliseconds beyond 1e11, or
 * microseconds beyond 1e14, nanoseconds beyond 1e17 in absolute value. */
bool rt_moment_parse_number(rt_str s, rt_moment *out);

/* "2026-11-21T20:35:40Z", with 3, 6 or 9 decimals where they are not all zero. */
void rt_moment_format(rt_buf *buf, rt_moment at);
/* Always three decimals, as JavaScript writes it; finer digits are cut. */
void rt_moment_format_ms(rt_buf *buf, rt_moment at);

#endif
