/* SPDX-License-Identifier: MIT
 *
 * Stats: rows are kept sorted by day or name while entries are visited, so that each is found by
 * bisection; mostly it is the one of the entry before. */
#include "view/stats.h"

#include <stdlib.h>

#include "view/view_impl.h"

#define DAY_US INT64_C(86400000000)

typedef struct grouping {
	rt_scope *s;
	const rt_project *project;
	const rt_stats_options *options;
	rt_stats_row *rows;
	size_t count, capacity;
	size_t last; /* the row of the entry before */
	rt_stats_row total;
	rt_usage_totals received;
	uint32_t disc; /* whose program is known; 0: none */
	rt_str program;
} grouping;

static int64_t
day_of(const grouping *g, const rt_slot *slot)
{
	int64_t us = slot->ts_us;

	if ((slot->flags & RT_SLOT_NO_TS) != 0)
		return RT_STATS_NO_DAY;
	if (g->options->day != NULL)
		return g->options->day(us);
	return us / DAY_US - (us % DAY_US < 0);
}

static bool
wants(void *ctx, const rt_slot *slot)
{
	const grouping *g = ctx;
	const rt_stats_options *o = g->options;
	int64_t day;

	if (o->since == RT_STATS_FIRST_DAY && o->until == RT_STATS_LAST_DAY)
		return true;
	day = day_of(g, slot);
	return day != RT_STATS_NO_DAY && day >= o->since && day <= o->until;
}

rt_str
rt_view_program(const rt_disc *disc)
{
	rt_str json = rt_fields_get(disc->fields, RT_STR("source"));
	size_t end = rt_str_find(json, RT_STR(":"), 0);

	if (json.size == 0)
		return RT_STR("retake");
	if (end == SIZE_MAX || rt_str_starts(json, RT_STR("\"content:")))
		return rt_str_of(NULL);
	return rt_str_at(json.ptr + 1, end - 1); /* after the quote; names of formats need no escapes */
}

static rt_str
program_of(grouping *g, const rt_disc *disc)
{
	rt_str name = rt_view_program(disc);

	if (g->disc == disc->number)
		return g->program;
	g->disc = disc->number;
	g->program = name.ptr != NULL ? rt_scope_copy(g->s, name) : name;
	return g->program;
}

static int
compare(const rt_stats_row *a, const rt_stats_row *b)
{
	if (a->day != b->day)
		return a->day < b->day ? -1 : 1;
	if (a->disc != b->disc)
		return a->disc < b->disc ? -1 : 1;
	return rt_str_cmp(a->name, b->name);
}

/* The row with this key, which is added if missing. NULL: the scope has failed. */
static rt_stats_row *
row_of(grouping *g, const rt_stats_row *key)
{
	size_t low = 0, high = g->count;

	if (g->last < g->count && compare(&g->rows[g->last], key) == 0)
		return &g->rows[g->last];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&g->rows[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	g->last = low;
	if (low < g->count && compare(&g->rows[low], key) == 0)
		return &g->rows[low];
	rt_stats_row *rows =
		rt_scope_grow(g->s, g->rows, g->count, &g->capacity, sizeof(*g->rows));
	if (rows == NULL)
		return NULL;
	g->rows = rows;
	memmove(&rows[low + 1], &rows[low], (g->count - low) * sizeof(*rows));
	rows[low] = *key;
	if (key->name.ptr != NULL)
		rows[low].name = rt_scope_copy(g->s, key->name);
	g->count++;
	return rt_ok(g->s) ? &rows[low] : NULL;
}

static void
add_entry(void *ctx, const rt_disc *disc, const rt_slot *slot, const rt_body *body,
	  const rt_usage_totals *usage)
{
	grouping *g = ctx;
	rt_stats_row key = {.day = 0}, *row;

	rt_usage_add(&g->received, usage);
	if (disc == NULL)
		return;
	switch (g->options->by) {
	case RT_STATS_DAY:
	case RT_STATS_WEEK:
	case RT_STATS_MONTH:
		key.day = day_of(g, slot);
		if (key.day != RT_STATS_NO_DAY)
			key.day = rt_stats_first_day(key.day, g->options->by);
		break;
	case RT_STATS_MODEL:
		key.name = body != NULL ? rt_usage_model(body) : rt_str_of(NULL);
		break;
	case RT_STATS_PROGRAM:
		key.name = program_of(g, disc);
		break;
	case RT_STATS_DISCUSSION:
		key.disc = disc->number;
		key.name = rt_cell_name(rt_project_cell(g->project, disc->number));
		break;
	case RT_STATS_PROJECT:
		break;
	}
	if (key.name.size == 0)
		key.name = rt_str_of(NULL);
	row = row_of(g, &key);
	if (row == NULL)
		return;
	row->entries++;
	rt_usage_add(&row->usage, usage);
	g->total.entries++;
	rt_usage_add(&g->total.usage, usage);
}

static int
most_first(const void *a, const void *b)
{
	const rt_stats_row *x = a, *y = b;

	if ((x->name.ptr == NULL) != (y->name.ptr == NULL))
		return x->name.ptr == NULL ? 1 : -1;
	if (x->entries != y->entries)
		return x->entries > y->entries ? -1 : 1;
	return compare(x, y);
}

rt_stats
rt_stats_read(const rt_view *view, const rt_stats_options *options)
{
	grouping g = {.s = view->scope, .project = view->project, .options = options};
	const rt_usage_visitor visitor = {.ctx = &g, .wants = wants, .entry = add_entry};

	rt_usage_visit_received(view, !options->only_here, &visitor);
	if (!rt_stats_by_time(options->by) && g.count > 1)
		qsort(g.rows, g.count, sizeof(*g.rows), most_first);
	return rt_ok(view->scope)
		       ? (rt_stats){.rows = g.rows,
				    .count = g.count,
				    .total = g.total,
				    .received = g.received}
		       : (rt_stats){0};
}

bool
rt_stats_by_time(rt_stats_by by)
{
	return by == RT_STATS_DAY || by == RT_STATS_WEEK || by == RT_STATS_MONTH;
}

/* In the Gregorian calendar, from 0; years are counted from March on, so that the leap day is the last. */
static int64_t
day_of_month(int64_t day)
{
	int64_t at = day + 719468, era = (at >= 0 ? at : at - 146096) / 146097;
	int64_t of_era = at - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);

	return of_year - (153 * ((5 * of_year + 2) / 153) + 2) / 5;
}

int64_t
rt_stats_first_day(int64_t day, rt_stats_by by)
{
	if (by == RT_STATS_WEEK) /* day 0 was a Thursday */
		return day - ((day + 3) % 7 + 7) % 7;
	return by == RT_STATS_MONTH ? day - day_of_month(day) : day;
}

void
rt_stats_add_day(rt_buf *buf, int64_t day, rt_stats_by by)
{
	size_t start = buf->size, size = by == RT_STATS_MONTH ? 7 : 10;

	rt_moment_format(buf, (rt_moment){day * DAY_US, 0});
	if (buf->status == RT_OK && buf->size > start + size) {
		buf->size = start + size; /* without the time */
		buf->ptr[buf->size] = '\0';
	}
}

bool
rt_stats_day_of(rt_str text, int64_t *out)
{
	rt_moment at = {0};

	if (text.size != strlen("2026-11-27") || !rt_moment_parse(text, &at))
		return false;
	*out = at.us / DAY_US - (at.us % DAY_US < 0);
	return true;
}

static const char *const by_words[] = {
	[RT_STATS_DAY] = "day",	[RT_STATS_WEEK] = "week",
	[RT_STATS_MONTH] = "month",	[RT_STATS_MODEL] = "model",
	[RT_STATS_PROGRAM] = "program", [RT_STATS_DISCUSSION] = "discussion",
	[RT_STATS_PROJECT] = "project",
};

bool
rt_stats_by_of(rt_str word, rt_stats_by *out)
{
	for (size_t i = 0; i < sizeof(by_words) / sizeof(by_words[0]); i++)
		if (rt_str_is(word, by_words[i])) {
			*out = (rt_stats_by)i;
			return true;
		}
	return false;
}

static void
put_counts(rt_buf *json, const rt_stats_row *row)
{
	rt_json_put_u64(json, "entries", row->entries);
	rt_usage_add_json(&row->usage, "usage", json);
}

void
rt_stats_add_json(rt_scope *s, const rt_stats *stats, rt_stats_by by, rt_buf *json)
{
	rt_buf *day = rt_scope_buf(s);

	rt_json_open(json, NULL, '{');
	rt_json_put_c(json, "by", by_words[by]);
	put_counts(json, &stats->total);
	rt_usage_add_json(&stats->received, "received", json);
	rt_json_open(json, "rows", '[');
	for (size_t i = 0; rt_ok(s) && i < stats->count; i++) {
		const rt_stats_row *row = &stats->rows[i];
		rt_str name = row->name;

		if (rt_stats_by_time(by) && row->day != RT_STATS_NO_DAY) {
			rt_buf_clear(day);
			rt_stats_add_day(day, row->day, by);
			name = rt_scope_str(s, day);
		}
		rt_json_open(json, NULL, '{');
		if (name.size > 0)
			rt_json_put_str(json, by_words[by], name);
		else
			rt_json_put_null(json, by_words[by]);
		put_counts(json, row);
		rt_json_close(json, '}');
	}
	rt_json_close(json, ']');
	rt_json_close(json, '}');
}
