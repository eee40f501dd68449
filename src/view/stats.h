/* SPDX-License-Identifier: MIT
 *
 * Stats: entries, tokens and cost of a project, grouped. Each entry counts once, however many takes
 * and discussions contain it, and so do the tokens of a reply that was imported several times; deleted
 * entries do not count, except for the tokens received.
 *
 * Threads: call from any thread. */
#ifndef RT_VIEW_STATS_H
#define RT_VIEW_STATS_H

#include "view/view_rows.h"

typedef enum rt_stats_by {
	RT_STATS_DAY,     /* of the entry, ascending; so are weeks, by their Monday, and months */
	RT_STATS_WEEK,
	RT_STATS_MONTH,
	RT_STATS_MODEL,   /* of the reply */
	RT_STATS_PROGRAM, /* that the discussion was imported from */
	RT_STATS_DISCUSSION,
	RT_STATS_PROJECT /* of a view: a single row; of a store: rt_stats_of_projects */
} rt_stats_by;

#define RT_STATS_BY_WORDS "day, week, month, model, program, discussion, project"

/* Days since 1970. */
#define RT_STATS_FIRST_DAY INT64_MIN
#define RT_STATS_LAST_DAY  INT64_MAX
#define RT_STATS_NO_DAY    INT64_MAX /* of an entry without a time */

typedef struct rt_stats_options {
	rt_stats_by by;
	bool only_here;                /* only the discussion of the view */
	int64_t since, until;          /* days, both included; entries without a time only if neither
					* is set */
	int64_t (*day)(int64_t at_us); /* of a time, where the user is; NULL: UTC */
} rt_stats_options;

typedef struct rt_stats_row {
	int64_t day;  /* of RT_STATS_DAY; the first one of a week or month */
	uint32_t disc; /* of RT_STATS_DISCUSSION */
	rt_str name;  /* of the others: the model, the program ("retake": not imported), the
		       * discussion; absent: none, or (of a program) it left no name */
	size_t entries;
	rt_usage_totals usage;
} rt_stats_row;

typedef struct rt_stats {
	const rt_stats_row *rows; /* except for days, those with the most entries first, and
				   * the one without a name last */
	size_t count;
	rt_stats_row total;
	rt_usage_totals received; /* of all replies, also of those undone or deleted since */
} rt_stats;

/* Reads only bodies with more than text, and only in the
 * given days. */
rt_stats rt_stats_read(const rt_view *view, const rt_stats_options *options);

/* "2026-11-27", of days since 1970; of a month "2026-11". */
void rt_stats_add_day(rt_buf *buf, int64_t day, rt_stats_by by);
/* Are the rows days, weeks or months? */
bool rt_stats_by_time(rt_stats_by by);
/* The first day of the week (a Monday), or of the month, with this day; else the day. */
int64_t rt_stats_first_day(int64_t day, rt_stats_by by);
/* The same backwards; false: not a date. */
bool rt_stats_day_of(rt_str text, int64_t *out);
/* One of RT_STATS_BY_WORDS; false: there is none of this name. */
bool rt_stats_by_of(rt_str word, rt_stats_by *out);
/* {"by","entries","usage","rows":[{"day" …,"entries","usage"}]}: a row has its day or name under
 * the word of by, or null. */
void rt_stats_add_json(rt_scope *s, const rt_stats *stats, rt_stats_by by, rt_buf *json);

#endif
