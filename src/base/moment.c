/* SPDX-License-Identifier: MIT
 *
 * Dates by the proleptic Gregorian calendar: days from civil and back. */
#include "base/moment.h"

static const int64_t US_PER_S = 1000000, S_PER_DAY = 86400;

static int64_t
days_from_civil(int64_t y, int64_t m, int64_t d)
{
	int64_t era, yoe, doy;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = y - era * 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void
civil_from_days(int64_t days, int64_t *y, int64_t *m, int64_t *d)
{
	int64_t era, doe, yoe, doy, mp;

	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	doe = days - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	*d = doy - (153 * mp + 2) / 5 + 1;
	*m = mp + (mp < 10 ? 3 : -9);
	*y = yoe + era * 400 + (*m <= 2);
}

/* Exactly count digits at s[*at]; advances *at past them. */
static bool
digits(rt_str s, size_t *at, int count, int64_t *out)
{
	int64_t number = 0;

	while (count-- > 0) {
		if (*at >= s.size || s.ptr[*at] < '0' || s.ptr[*at] > '9')
			return false;
		number = number * 10 + (s.ptr[(*at)++] - '0');
	}
	*out = number;
	return true;
}

static bool
next_is(rt_str s, size_t *at, char c)
{
	if (*at >= s.size || s.ptr[*at] != c)
		return false;
	(*at)++;
	return true;
}

/* ".123456789": as nanoseconds; digits beyond the ninth are cut. */
static bool
fraction(rt_str s, size_t *at, int64_t *out_ns)
{
	int64_t ns = 0;
	int seen = 0;

	if (!next_is(s, at, '.') && !next_is(s, at, ',')) {
		*out_ns = 0;
		return true;
	}
	while (*at < s.size && s.ptr[*at] >= '0' && s.ptr[*at] <= '9') {
		if (seen < 9)
			ns = ns * 10 + (s.ptr[*at] - '0');
		seen++;
		(*at)++;
	}
	if (seen == 0)
		return false;
	for (; seen < 9; seen++)
		ns *= 10;
	*out_ns = ns;
	return true;
}

static bool
read_zone(rt_str s, size_t *at, int64_t *out_s, bool *out_has)
{
	int64_t h, m = 0;
	int sign;

	*out_s = 0;
	if (*at == s.size)
		return true;
	*out_has = true;
	if (next_is(s, at, 'Z') || next_is(s, at, 'z'))
		return *at == s.size;
	if (next_is(s, at, '+'))
		sign = 1;
	else if (next_is(s, at, '-'))
		sign = -1;
	else
		return false;
	if (!digits(s, at, 2, &h))
		return false;
	if (*at < s.size) {
		(void)next_is(s, at, ':');
		if (!digits(s, at, 2, &m))
			return false;
	}
	*out_s = sign * (h * 3600 + m * 60);
	return *at == s.size && h < 24 && m < 60;
}

static int
days_in_month(int64_t year, int64_t month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && is_leap);
}

static bool
parse(rt_str s, rt_moment *out, bool *out_has_zone)
{
	int64_t y, mo, d, h = 0, mi = 0, sec = 0, ns = 0, off = 0;
	size_t at = 0;

	s = rt_str_trim(s);
	(void)next_is(s, &at, '@');
	if (!digits(s, &at, 4, &y) || !next_is(s, &at, '-') || !digits(s, &at, 2, &mo) ||
	    !next_is(s, &at, '-') || !digits(s, &at, 2, &d))
		return false;
	if (at < s.size) {
		if (!next_is(s, &at, 'T') && !next_is(s, &at, 't') && !next_is(s, &at, ' '))
			return false;
		if (!digits(s, &at, 2, &h) || !next_is(s, &at, ':') || !digits(s, &at, 2, &mi))
			return false;
		if (next_is(s, &at, ':') && (!digits(s, &at, 2, &sec) || !fraction(s, &at, &ns)))
			return false;
		if (!read_zone(s, &at, &off, out_has_zone))
			return false;
	}
	if (mo < 1 || mo > 12 || d < 1 || d > days_in_month(y, mo) || h > 24 || mi > 59 || sec > 60)
		return false;
	if (h == 24 && (mi > 0 || sec > 0 || ns > 0)) /* only the end of a day */
		return false;
	out->us = (days_from_civil(y, mo, d) * S_PER_DAY + h * 3600 + mi * 60 + sec - off) *
			  US_PER_S +
		  ns / 1000;
	out->ns = (uint16_t)(ns % 1000);
	return true;
}

bool
rt_moment_parse(rt_str s, rt_moment *out)
{
	bool has_zone;

	return parse(s, out, &has_zone);
}

/* The seconds of "d", "day" or "days"; 0: not a unit. */
static int64_t
unit_seconds(rt_str word)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"hour", 3600},
		     {"day", 86400},
		     {"week", 7 * 86400},
		     {"month", 30 * 86400},
		     {"year", 365 * 86400}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		rt_str name = rt_str_of(units[i].name);

		if (rt_str_eq_nocase(word, name) ||
		    rt_str_eq_nocase(word, rt_str_at(name.ptr, 1)) ||
		    (word.size == name.size + 1 && (word.ptr[name.size] | 32) == 's' &&
		     rt_str_eq_nocase(rt_str_at(word.ptr, name.size), name)))
			return units[i].seconds;
	}
	return 0;
}

/* "7d", "3 days ago": how long before now; 0: something else. */
static int64_t
seconds_ago(rt_str s)
{
	const rt_str ago = RT_STR(" ago");
	int64_t count = 0;
	size_t at = 0;

	while (at < s.size && s.ptr[at] >= '0' && s.ptr[at] <= '9' && count < 10000)
		count = count * 10 + (s.ptr[at++] - '0');
	s = rt_str_skip(s, at);
	if (s.size > ago.size && rt_str_eq_nocase(rt_str_skip(s, s.size - ago.size), ago))
		s.size -= ago.size;
	return count * unit_seconds(rt_str_trim(s));
}

/* "2026-11" or "2026". */
static bool
parse_period(rt_str s, rt_moment *out)
{
	int64_t year, month = 1;
	size_t at = 0;

	if (!digits(s, &at, 4, &year) ||
	    (at < s.size && (!next_is(s, &at, '-') || !digits(s, &at, 2, &month))) || at < s.size ||
	    month < 1 || month > 12)
		return false;
	*out = (rt_moment){.us = days_from_civil(year, month, 1) * S_PER_DAY * US_PER_S};
	return true;
}

/* "today", "yesterday", and the beginning of "this" or "last" "week" (on Monday), "month", "year". */
static bool
parse_calendar(rt_str s, int64_t today, rt_moment *out)
{
	int64_t days = today / (S_PER_DAY * US_PER_S), y, m, d;
	rt_str unit = s;
	bool is_last;

	if (rt_str_eq_nocase(s, RT_STR("today")) || rt_str_eq_nocase(s, RT_STR("yesterday"))) {
		out->us = today - (s.size > strlen("today") ? S_PER_DAY * US_PER_S : 0);
		return true;
	}
	if (s.size <= strlen("this "))
		return false;
	unit = rt_str_trim(rt_str_skip(s, strlen("this ")));
	s = rt_str_at(s.ptr, strlen("this "));
	is_last = rt_str_eq_nocase(s, RT_STR("last "));
	if (!is_last && !rt_str_eq_nocase(s, RT_STR("this ")))
		return false;
	civil_from_days(days, &y, &m, &d);
	if (rt_str_eq_nocase(unit, RT_STR("week")))
		days -= ((days + 3) % 7 + 7) % 7 + (is_last ? 7 : 0); /* day 0 was a Thursday */
	else if (rt_str_eq_nocase(unit, RT_STR("month")))
		days = is_last && m == 1 ? days_from_civil(y - 1, 12, 1)
					 : days_from_civil(y, m - is_last, 1);
	else if (rt_str_eq_nocase(unit, RT_STR("year")))
		days = days_from_civil(y - is_last, 1, 1);
	else
		return false;
	out->us = days * S_PER_DAY * US_PER_S;
	return true;
}

/* The time at which local clocks show this. Twice, since the offset may change in between. */
static int64_t
from_local(int64_t shown_us, rt_zone_fn zone)
{
	return zone == NULL ? shown_us : shown_us - zone(shown_us - zone(shown_us));
}

bool
rt_moment_parse_relative(rt_str s, int64_t now_us, rt_zone_fn zone, rt_moment *out)
{
	int64_t day_us = S_PER_DAY * US_PER_S, ago;
	int64_t shown = zone == NULL ? now_us : now_us + zone(now_us);
	int64_t today = shown - ((shown % day_us) + day_us) % day_us;
	bool has_zone = false;

	if (!parse(s, out, &has_zone)) {
		s = rt_str_trim(s);
		ago = seconds_ago(s) * US_PER_S;
		has_zone = ago > 0;
		*out = (rt_moment){.us = now_us - ago};
		if (!has_zone && !parse_calendar(s, today, out) && !parse_period(s, out))
			return false;
	}
	if (!has_zone)
		out->us = from_local(out->us, zone);
	return true;
}

bool
rt_moment_parse_number(rt_str s, rt_moment *out)
{
	/* Exact decimal arithmetic: digits before and after the point, then a scale. */
	bool negative = false;
	int64_t whole = 0, frac = 0, scale, ns_total, rest;
	int seen = 0, frac_seen = 0;
	size_t at = 0;

	if (at < s.size && s.ptr[at] == '-') {
		negative = true;
		at++;
	}
	for (; at < s.size && s.ptr[at] >= '0' && s.ptr[at] <= '9'; at++, seen++) {
		if (seen >= 18)
			return false;
		whole = whole * 10 + (s.ptr[at] - '0');
	}
	if (seen == 0)
		return false;
	if (at < s.size && s.ptr[at] == '.')
		for (at++; at < s.size && s.ptr[at] >= '0' && s.ptr[at] <= '9'; at++)
			if (frac_seen < 9) {
				frac = frac * 10 + (s.ptr[at] - '0');
				frac_seen++;
			}
	if (at != s.size)
		return false;
	for (; frac_seen < 9; frac_seen++)
		frac *= 10;
	/* frac is now in billionths of the unit */
	if (whole > 100000000000000000)
		scale = 1; /* nanoseconds */
	else if (whole > 100000000000000)
		scale = 1000;
	else if (whole > 100000000000)
		scale = 1000000;
	else
		scale = 1000000000;
	rest = frac / (1000000000 / scale); /* nanoseconds of the fraction */
	if (scale == 1000000000) {
		out->us = whole * US_PER_S + rest / 1000;
		ns_total = rest % 1000;
	} else if (scale == 1000000) {
		out->us = whole * 1000 + rest / 1000;
		ns_total = rest % 1000;
	} else if (scale == 1000) {
		out->us = whole;
		ns_total = rest;
	} else {
		out->us = whole / 1000;
		ns_total = whole % 1000;
	}
	if (negative) {
		out->us = -out->us;
		if (ns_total > 0) {
			out->us -= 1;
			ns_total = 1000 - ns_total;
		}
	}
	out->ns = (uint16_t)ns_total;
	return true;
}

static void
format(rt_buf *buf, rt_moment at, int decimals)
{
	int64_t seconds = at.us / US_PER_S, us = at.us % US_PER_S, days, of_day, y, m, d;

	if (us < 0) {
		us += US_PER_S;
		seconds -= 1;
	}
	days = seconds / S_PER_DAY;
	of_day = seconds % S_PER_DAY;
	if (of_day < 0) {
		of_day += S_PER_DAY;
		days -= 1;
	}
	civil_from_days(days, &y, &m, &d);
	rt_buf_add_f(buf, "%04d-%02d-%02dT%02d:%02d:%02d", (int)y, (int)m, (int)d,
		     (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60));
	if (decimals < 0)
		decimals = at.ns != 0 ? 9 : us % 1000 != 0 ? 6 : us != 0 ? 3 : 0;
	if (decimals == 3)
		rt_buf_add_f(buf, ".%03d", (int)(us / 1000));
	else if (decimals == 6)
		rt_buf_add_f(buf, ".%06d", (int)us);
	else if (decimals == 9)
		rt_buf_add_f(buf, ".%06d%03d", (int)us, (int)at.ns);
	rt_buf_add_byte(buf, 'Z');
}

void
rt_moment_format(rt_buf *buf, rt_moment at)
{
	format(buf, at, -1);
}

void
rt_moment_format_ms(rt_buf *buf, rt_moment at)
{
	format(buf, at, 3);
}
