/* SPDX-License-Identifier: MIT
 *
 * stats: entries, tokens and cost by day, model, program, discussion or project; on a terminal a
 * calendar. */
#include <stdio.h>

#include "cli/cli.h"
#include "app/screen.h"
#include "app/stats.h"

enum { WEEK = 7, SHADES = 5, NAME_COLUMNS = 40 };

typedef struct report {
	rt_cli *cli;
	rt_stats_options options;
	rt_stats stats;
} report;

/* --- reading --- */

static int64_t
day_flag(rt_cli *cli, const char *flag, int64_t otherwise)
{
	const char *text = rt_cli_flag_value(cli, flag);

	if (text != NULL && !rt_stats_day_of(rt_str_of(text), &otherwise)) {
		rt_cli_hint(cli, "For example: retake stats --%s 2026-11-18", flag);
		rt_cli_fail(cli, RT_USAGE, "--%s needs a date, not \"%.40s\"", flag, text);
	}
	return otherwise;
}

static rt_stats_by
by_flag(rt_cli *cli)
{
	const char *word = rt_cli_flag_value(cli, "by");
	rt_stats_by by = RT_STATS_DAY;

	if (word != NULL && !rt_stats_by_of(rt_str_of(word), &by)) {
		rt_cli_hint(cli, "Known: " RT_STATS_BY_WORDS);
		rt_cli_fail(cli, RT_USAGE, "there are no statistics by \"%.40s\"", word);
	}
	return by;
}

static void
read_projects(report *r)
{
	rt_cli *cli = r->cli;

	if (rt_cli_has(cli, "at-step"))
		rt_cli_fail(cli, RT_USAGE, "--at-step cannot be combined with --by project: a step "
					   "belongs to one project");
	else if (rt_cli_open_store(cli, RT_SESSION_LOOK))
		r->stats = rt_stats_of_projects(&cli->s, cli->session.store, cli->env, &r->options);
	else if (cli->s.status == RT_NOT_FOUND)
		rt_cli_recover(cli, NULL); /* there is nothing yet */
}

/* --- for people --- */

static void
add_name_of(const report *r, const rt_stats_row *row, rt_buf *out)
{
	static const char *const none[] = {
		[RT_STATS_DAY] = "without a date", [RT_STATS_WEEK] = "without a date",
		[RT_STATS_MONTH] = "without a date", [RT_STATS_MODEL] = "without a model",
		[RT_STATS_PROGRAM] = "other files", [RT_STATS_DISCUSSION] = "without a name",
		[RT_STATS_PROJECT] = "without a name",
	};

	if (rt_stats_by_time(r->options.by) && row->day != RT_STATS_NO_DAY)
		rt_stats_add_day(out, row->day, r->options.by);
	else if (row->name.ptr != NULL)
		rt_screen_add_line(out, row->name);
	else
		rt_buf_add_c(out, none[r->options.by]);
}

static void
put_totals(rt_term *out, const rt_stats_row *row, rt_buf *words)
{
	rt_buf_clear(words);
	rt_buf_add_grouped(words, row->entries);
	rt_term_spaces(out, words->size < 9 ? 9 - words->size : 0);
	rt_term_line(out, rt_buf_str(words));
	rt_term_f(out, " entr%s", row->entries == 1 ? "y" : "ies");
	if (row->usage.replies > 0) {
		rt_buf_clear(words);
		rt_usage_add_text(&row->usage, words);
		rt_term_c(out, row->entries == 1 ? "    " : "  ");
		rt_term_style(out, RT_STYLE_DIM);
		rt_term_line(out, rt_buf_str(words));
		rt_term_style(out, RT_STYLE_NONE);
	}
	rt_term_c(out, "\n");
}

/* Replies that were undone or deleted used tokens, too. */
static void
put_received(const report *r)
{
	rt_buf *words = rt_scope_buf(&r->cli->s);

	if (r->stats.received.replies <= r->stats.total.usage.replies)
		return;
	rt_usage_add_text(&r->stats.received, words);
	rt_term_c(&r->cli->out, "received, including undone and deleted replies: ");
	rt_term_line(&r->cli->out, rt_scope_str(&r->cli->s, words));
	rt_term_c(&r->cli->out, "\n");
}

static void
print_row(const report *r, rt_str name, const rt_stats_row *row, size_t width, rt_buf *words)
{
	rt_term *out = &r->cli->out;
	size_t used = rt_screen_width(name);

	rt_term_line(out, name);
	rt_term_spaces(out, used < width ? width - used : 0);
	put_totals(out, row, words);
}

static void
print_table(const report *r)
{
	rt_buf *name = rt_scope_buf(&r->cli->s), *words = rt_scope_buf(&r->cli->s);
	size_t width = strlen("total");

	for (size_t i = 0; i < r->stats.count; i++) {
		rt_buf_clear(name);
		add_name_of(r, &r->stats.rows[i], name);
		size_t used = rt_screen_width(rt_buf_str(name));

		if (used > width)
			width = used < NAME_COLUMNS ? used : NAME_COLUMNS;
	}
	for (size_t i = 0; rt_ok(&r->cli->s) && i < r->stats.count; i++) {
		rt_buf_clear(name);
		add_name_of(r, &r->stats.rows[i], name);
		print_row(r, rt_buf_str(name), &r->stats.rows[i], width, words);
	}
	rt_term_style(&r->cli->out, RT_STYLE_BOLD);
	print_row(r, RT_STR("total"), &r->stats.total, width, words);
	rt_term_style(&r->cli->out, RT_STYLE_NONE);
}

/* --- the calendar --- */

static const char *
shade(const rt_term *out, size_t entries, size_t most)
{
	static const char *const fine[SHADES] = {"· ", "░░", "▒▒", "▓▓", "██"};
	static const char *const plain[SHADES] = {". ", "--", "++", "**", "##"};
	/* up to a quarter of the busiest day, a half … */
	size_t level = entries == 0 ? 0 : (entries * 4 + most - 1) / most;

	return out->utf8 ? fine[level] : plain[level];
}

static void
print_week(const report *r, int64_t monday, const rt_stats_row *rows, size_t count, size_t most)
{
	rt_term *out = &r->cli->out;
	rt_buf *words = rt_scope_buf(&r->cli->s);
	rt_stats_row sum = {.entries = 0};
	size_t i = 0;

	rt_stats_add_day(words, monday, RT_STATS_DAY);
	rt_term_line(out, rt_buf_str(words));
	rt_term_c(out, "  ");
	for (int64_t day = monday; day < monday + WEEK; day++) {
		bool has = i < count && rows[i].day == day;

		rt_term_style(out, has ? RT_STYLE_GREEN : RT_STYLE_DIM);
		rt_term_c(out, shade(out, has ? rows[i].entries : 0, most));
		rt_term_style(out, RT_STYLE_NONE);
		rt_term_c(out, " ");
		if (has) {
			sum.entries += rows[i].entries;
			rt_usage_add(&sum.usage, &rows[i].usage);
			i++;
		}
	}
	put_totals(out, &sum, words);
}

/* A row for each week that has entries; "…" stands for those between. */
static void
print_calendar(const report *r)
{
	const rt_stats_row *rows = r->stats.rows;
	rt_term *out = &r->cli->out;
	rt_buf *words = rt_scope_buf(&r->cli->s);
	size_t most = 1, i = 0;
	int64_t previous = 0;

	for (size_t at = 0; at < r->stats.count; at++)
		if (rows[at].day != RT_STATS_NO_DAY && rows[at].entries > most)
			most = rows[at].entries;
	rt_term_c(out, "            Mo Tu We Th Fr Sa Su\n");
	while (rt_ok(&r->cli->s) && i < r->stats.count && rows[i].day != RT_STATS_NO_DAY) {
		int64_t monday = rt_stats_first_day(rows[i].day, RT_STATS_WEEK);
		size_t from = i;

		while (i < r->stats.count && rows[i].day != RT_STATS_NO_DAY &&
		       rt_stats_first_day(rows[i].day, RT_STATS_WEEK) == monday)
			i++;
		if (from > 0 && monday > previous + WEEK)
			rt_term_c(out, out->utf8 ? "…\n" : "...\n");
		print_week(r, monday, rows + from, i - from, most);
		previous = monday;
	}
	if (i < r->stats.count) {
		rt_term_c(out, "without a date                   ");
		put_totals(out, &rows[i], words);
	}
	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_c(out, "total                            ");
	put_totals(out, &r->stats.total, words);
	rt_term_style(out, RT_STYLE_NONE);
}

/* --- the command --- */

static void
run_stats(rt_cli *cli)
{
	report r = {.cli = cli};

	r.options = (rt_stats_options){
		.by = by_flag(cli),
		.since = day_flag(cli, "since", RT_STATS_FIRST_DAY),
		.until = day_flag(cli, "until", RT_STATS_LAST_DAY),
		.day = rt_host_local_day,
	};
	if (!rt_ok(&cli->s))
		return;
	if (r.options.by == RT_STATS_PROJECT) {
		read_projects(&r);
	} else if (rt_cli_open(cli, RT_SESSION_LOOK)) {
		rt_view view = rt_cli_view(cli);

		r.options.only_here = rt_session_discussion(&cli->session).size > 0;
		r.stats = rt_stats_read(&view, &r.options);
	}
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_buf *json = rt_scope_buf(&cli->s);

		rt_stats_add_json(&cli->s, &r.stats, r.options.by, json);
		rt_cli_print_json(cli, json);
		return;
	}
	if (r.stats.total.entries == 0 && r.stats.received.replies == 0) {
		rt_term_c(&cli->out, rt_cli_has(cli, "since") || rt_cli_has(cli, "until")
					     ? "No entries in this period.\n"
					     : "No entries yet.\n");
		return;
	}
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	if (!rt_cli_has(cli, "by") && cli->out.is_tty)
		print_calendar(&r);
	else
		print_table(&r);
	put_received(&r);
}

static const rt_flag stats_flags[] = {
	{"by", 0, "WHAT", RT_ARG_TEXT, "day, week, month, model, program, discussion or project; default: day"},
	{"since", 0, "DATE", RT_ARG_TEXT, "the first day, such as 2026-11-18"},
	{"until", 0, "DATE", RT_ARG_TEXT, "the last day"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_stats = {
	.name = "stats",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_STEP,
	.usage = "[--by WHAT] [--since DATE] [--until DATE] [-d DISCUSSION]",
	.summary = "count entries, tokens and cost by day, model or program",
	.about =
		"Counts the entries of the project (with -d, of a discussion), each once, however many takes contain it, and the "
		"tokens and cost of its replies as far as they are known. A reply that was imported several times, with "
		"the same time, model and token counts, counts once. If replies were undone or deleted, a last line has "
		"the total of all replies that were ever received. On a terminal, without "
		"--by, prints a calendar: a row for each week, darker cells for days with more entries. "
		"The program is the one that the discussion was imported from. --by project counts "
		"all projects of the store. Days are in local time; a week is named by the date of its Monday.",
	.examples = "retake stats\nretake stats --by model --since 2026-11-01\n"
		    "retake stats --by project --json",
	.flags = stats_flags,
	.run = run_stats,
};
