/* SPDX-License-Identifier: MIT
 *
 * quota: limits of what users, teams and projects may add through a server with accounts. */
#include "accounts/quota.h"

#include <string.h>

#include "cli/accounts.h"

/* "1000", "500K", "20M", "2G": thousands, millions, thousand millions. */
static bool
read_number(rt_str text, uint64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit = text.size > 1 ? memchr(units, text.ptr[text.size - 1] & ~0x20, sizeof(units) - 1) : NULL;
	uint64_t factor = 1;

	for (long i = unit != NULL ? unit - units : -1; i >= 0; i--)
		factor *= 1000;
	if (!rt_str_u64(rt_str_at(text.ptr, text.size - (unit != NULL)), INT64_MAX / factor, out))
		return false;
	*out *= factor;
	return true;
}

/* LIMIT=NUMBER … from a word on. Returns their number. */
static size_t
read_changes(rt_cli *cli, size_t from, rt_quota_change changes[RT_QUOTA_KINDS])
{
	size_t count = 0;

	for (const char *word; rt_ok(&cli->s) && (word = rt_cli_word(cli, from)) != NULL; from++) {
		const char *equals = strchr(word, '=');
		rt_quota_change *change = &changes[count++];
		rt_str number = rt_str_of(equals != NULL ? equals + 1 : NULL);

		change->kind = equals != NULL ? rt_quota_named(rt_str_at(word, (size_t)(equals - word))) : RT_QUOTA_KINDS;
		change->is_limited = !rt_str_is(number, "none");
		if (change->kind == RT_QUOTA_KINDS || (change->is_limited && !read_number(number, &change->limit)))
			rt_cli_fail(cli, RT_USAGE,
				    "\"%.80s\" is not LIMIT=NUMBER; a limit is bytes, entries, projects, requests or tokens; a number is "
				    "a whole number, such as 5, 20K, 10M or 2G, or none",
				    word);
		else if (count == RT_QUOTA_KINDS && rt_cli_word(cli, from + 1) != NULL)
			rt_cli_fail(cli, RT_USAGE, "more than %d limits; name each limit once", (int)RT_QUOTA_KINDS);
	}
	return count;
}

/* The subject that two words name. RT_NOT_FOUND. */
static rt_quota_subject
find_subject(rt_cli *cli, const rt_roster *roster, const char *kind, const char *name)
{
	rt_quota_subject subject = {0};
	bool is_team = strcmp(kind, "team") == 0;
	const rt_item *holder;

	if (roster == NULL || strcmp(kind, "users") == 0)
		return subject;
	if (strcmp(kind, "project") == 0) {
		subject.project = rt_cli_project_number(cli, rt_str_of(name));
		return subject;
	}
	holder = rt_roster_named(roster, is_team ? RT_ITEM_TEAM : RT_ITEM_USER, rt_str_of(name));
	if (holder == NULL)
		rt_cli_fail(cli, RT_NOT_FOUND, "there is no %s \"%.80s\"", kind, name);
	else if (is_team)
		subject.team = holder->id;
	else
		subject.user = holder->id;
	return subject;
}

static void
run_quota(rt_cli *cli)
{
	const char *kind = rt_cli_word(cli, 0), *name = NULL;
	rt_buf *shown = rt_scope_buf(&cli->s);
	rt_quota_change changes[RT_QUOTA_KINDS];

	if (kind == NULL) {
		rt_cli_list_accounts(cli, RT_ITEM_QUOTA, 0);
		return;
	}
	bool is_each = strcmp(kind, "users") == 0;
	if (!is_each)
		name = rt_cli_word(cli, 1);
	size_t count = rt_cli_verb(cli) != 0 ? read_changes(cli, is_each ? 1 : 2, changes) : 0;
	for (size_t i = 0; i < count; i++)
		if (changes[i].kind == RT_QUOTA_PROJECTS && strcmp(kind, "project") == 0)
			rt_cli_fail(cli, RT_USAGE, "the limit \"projects\" does not apply to a project");
	if (!rt_ok(&cli->s))
		return;
	rt_accounts a = rt_cli_accounts(cli, true);
	rt_quota_subject subject = find_subject(cli, rt_cli_roster(cli, &a), kind, name);
	rt_buf_add_f(shown, is_each ? "%s" : "%s %s", kind, name);
	rt_str text = rt_scope_str(&cli->s, shown);
	if (!rt_ok(&cli->s))
		return;
	rt_accounts_quota_set(&a, subject, text, changes, count);
	rt_cli_say_done(cli, "Changed the limits of", "quota", text);
}

const rt_command rt_cli_quota = {
	.name = "quota",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 2 + RT_QUOTA_KINDS,
	.usage = "\nuser NAME LIMIT=NUMBER…\nteam NAME LIMIT=NUMBER…\nproject NAME LIMIT=NUMBER…\nusers LIMIT=NUMBER…",
	.summary = "list or change the limits of users, teams and projects",
	.about = "LIMIT is bytes, entries or projects, or requests or tokens of models per day. NUMBER is a whole number, such as 5, 20K or 2G, or none to remove the limit. users sets the limit for all users without one of that kind. Servers with accounts refuse requests that would exceed a limit; reading, undo, export and purge stay possible, and the command line is not limited.",
	.examples = "retake quota\nretake quota users projects=20 requests=200",
	.kinds = {RT_ARG_TEXT},
	.run = run_quota,
};
