/* SPDX-License-Identifier: MIT
 *
 * retake user remove NAME --purge: a user with all data. */
#include "accounts/erase.h"

#include <stdlib.h>

#include "cli/accounts.h"
#include "llm/comms_host.h"

/* The request logs of the deleted projects, on this machine. Returns the number of removed lines. */
static size_t
drop_requests(rt_cli *cli, const rt_erase_report *report)
{
	rt_scope *s = &cli->s;
	rt_buf *state = rt_scope_buf(s);
	char *path = rt_session_store_path(&cli->session);
	size_t removed = 0;

	rt_scope_defer(s, free, path);
	if (rt_ok(s))
		RT_TRY(s, rt_host_state_dir(state, &s->error));
	for (size_t i = 0; rt_ok(s) && path != NULL && i < report->project_count; i++) {
		rt_comms_whose whose = {rt_str_of(path), report->projects[i].number};
		size_t count = 0;

		if (report->projects[i].kept == NULL)
			RT_TRY(s, rt_comms_drop(cli->alloc, rt_buf_str(state), &whose, &count, &s->error));
		removed += count;
	}
	return removed;
}

static void
say_projects(rt_cli *cli, const rt_erase_report *report, bool is_kept)
{
	for (size_t i = 0; i < report->project_count; i++) {
		const rt_erase_project *project = &report->projects[i];

		if ((project->kept != NULL) != is_kept)
			continue;
		rt_term_c(&cli->out, "  ");
		rt_term_text(&cli->out, project->name);
		rt_term_f(&cli->out, "   %llu step%s and %llu entr%s of the user", (unsigned long long)project->steps,
			  RT_CLI_S(project->steps), (unsigned long long)project->entries, project->entries == 1 ? "y" : "ies");
		if (is_kept)
			rt_term_f(&cli->out, "; %s", project->kept);
		else if (project->others > 0)
			rt_term_f(&cli->out, "; %zu other member%s", project->others, RT_CLI_S(project->others));
		rt_term_c(&cli->out, "\n");
	}
}

static void
say(rt_cli *cli, const rt_erase_report *report, bool is_dry)
{
	const rt_accounts_removed *removed = &report->removed;

	if (report->deleted_count > 0)
		rt_term_c(&cli->out, is_dry ? "Projects to delete:\n" : "Deleted projects:\n");
	say_projects(cli, report, false);
	if (report->project_count > report->deleted_count)
		rt_term_c(&cli->out, "Kept projects (histories still name the user as author):\n");
	say_projects(cli, report, true);
	rt_term_f(&cli->out, "%s with the user: memberships in %zu project%s and %zu team%s, %zu token%s, %zu share link%s, %zu invitation%s%s.\n",
		  is_dry ? "To remove" : "Removed", removed->memberships, RT_CLI_S(removed->memberships), removed->teams,
		  RT_CLI_S(removed->teams), removed->tokens, RT_CLI_S(removed->tokens), report->links, RT_CLI_S(report->links),
		  report->invitations, RT_CLI_S(report->invitations), report->has_identity ? ", the identity at the sign-in service" : "");
}

static void
confirm(rt_cli *cli, const rt_erase_report *report)
{
	char question[200];

	(void)snprintf(question, sizeof(question), "Remove the user \"%.64s\" and permanently delete %zu project%s? This cannot be undone.",
		       rt_scope_copy(&cli->s, report->name).ptr, report->deleted_count, RT_CLI_S(report->deleted_count));
	rt_cli_confirm(cli, question);
}

void
rt_cli_purge_user(rt_cli *cli, const rt_accounts *a, rt_str name)
{
	bool is_dry = rt_cli_has(cli, "dry-run");
	rt_str home = rt_ok(&cli->s) ? rt_session_project(&cli->session) : rt_str_of(NULL);
	rt_erase_report report;
	size_t requests = 0;

	rt_accounts_erase_plan(a, name, home, &report);
	if (!is_dry) {
		size_t confirmed = report.deleted_count;

		confirm(cli, &report);
		if (!rt_cli_has(cli, "yes")) /* roles may have changed since the question */
			rt_accounts_erase_plan(a, name, home, &report);
		if (report.deleted_count != confirmed)
			rt_cli_fail(cli, RT_CONFLICT, "the user's projects have changed in the meantime; try again");
		if (rt_ok(&cli->s))
			rt_accounts_erase(a, &report);
		requests = drop_requests(cli, &report);
	}
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_buf *json = rt_scope_buf(&cli->s);

		rt_json_open(json, NULL, '{');
		rt_erase_put(json, &report);
		rt_json_put_u64(json, "requests", requests);
		rt_json_put_bool(json, "dry_run", is_dry);
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
	} else if (!cli->quiet) {
		say(cli, &report, is_dry);
	}
}
