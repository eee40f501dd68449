/* SPDX-License-Identifier: MIT
 *
 * audit: the audit log of the accounts. */
#include "accounts/audit.h"

#include "cli/accounts.h"

typedef struct audit_list {
	rt_cli *cli;
	rt_buf *json;
	size_t count;
} audit_list;

static bool
add_audit(void *ctx, const rt_audit *row)
{
	audit_list *l = ctx;
	rt_cli *cli = l->cli;
	rt_buf *at = rt_scope_buf(&cli->s);

	rt_audit_put(l->json, row);
	l->count++;
	if (!cli->json) {
		rt_moment_format(at, (rt_moment){.us = row->at_us / 1000000 * 1000000});
		rt_term_line(&cli->out, rt_scope_str(&cli->s, at));
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, row->by);
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, row->what);
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, row->on);
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, row->from);
		rt_term_c(&cli->out, "\n");
	}
	return rt_ok(&cli->s);
}

static void
run_audit(rt_cli *cli)
{
	rt_accounts a = rt_cli_accounts(cli, false);
	audit_list l = {.cli = cli, .json = rt_scope_buf(&cli->s)};
	const char *since = rt_cli_flag_value(cli, "since");
	rt_audit_filter filter = {.user = rt_str_of(rt_cli_flag_value(cli, "user")), .since_us = INT64_MIN};
	rt_moment moment = {0};

	if (since != NULL && !rt_moment_parse(rt_str_of(since), &moment))
		rt_cli_fail(cli, RT_USAGE, "--since must be a day or a time, such as 2026-11-18");
	if (since != NULL)
		filter.since_us = moment.us;

	rt_json_open(l.json, NULL, '[');
	if (rt_ok(&cli->s))
		rt_audit_read(a.directory, &cli->s, &filter, add_audit, &l);
	rt_json_close(l.json, ']');
	if (!rt_ok(&cli->s))
		return;
	if (cli->json)
		rt_cli_print_json(cli, l.json);
	else if (l.count == 0)
		rt_cli_advise(cli, "%s\n", since != NULL || filter.user.size > 0
						 ? "No row of the audit log matches these flags."
						 : "The audit log has no rows yet. Changes to accounts add rows: retake help user");
}

static const rt_flag audit_flags[] = {
	{"user", 0, "USER", RT_ARG_TEXT, "only rows of this user and the user's programs"},
	{"since", 0, "DATE", RT_ARG_TEXT, "only from this day or time (UTC), such as 2026-11-18"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_audit = {
	.name = "audit",
	.group = RT_COMMANDS_MAINTENANCE,
	.flags = audit_flags,
	.usage = "[--user USER] [--since DATE]",
	.summary = "list sign-ins, exports, purges, refused requests and changes to accounts",
	.about = "Oldest first: time, user, action, object and origin.",
	.examples = "retake audit",
	.run = run_audit,
};
