/* SPDX-License-Identifier: MIT
 *
 * user, team, member, token: the accounts of a store, for retake serve --accounts. */
#include "cli/accounts.h"

#include <string.h>

#include "accounts/arrival.h"

static void
run_user(rt_cli *cli)
{
	bool is_admin = rt_cli_has(cli, "admin"), is_disabled = rt_cli_has(cli, "disabled");
	const char *given = rt_cli_flag_value(cli, "identity");
	rt_str identity = given != NULL && strcmp(given, "none") != 0 ? rt_cli_check_utf8(cli, rt_str_of(given)) : RT_STR("");

	if (rt_cli_word(cli, 0) == NULL) {
		rt_cli_list_accounts(cli, RT_ITEM_USER, 0);
		return;
	}
	int verb = rt_cli_verb(cli);
	if (verb == 0)
		return;
	rt_str name = rt_str_of(rt_cli_word(cli, 1));
	rt_accounts a = rt_cli_accounts(cli, true);
	rt_accounts_removed removed = {0};
	if (verb != 3 && (rt_cli_has(cli, "purge") || rt_cli_has(cli, "dry-run")))
		rt_cli_fail(cli, RT_USAGE, "--purge and --dry-run work only with retake user remove");
	if (verb == 3 && rt_cli_has(cli, "dry-run") && !rt_cli_has(cli, "purge"))
		rt_cli_fail(cli, RT_USAGE, "--dry-run needs --purge");
	if (!rt_ok(&cli->s))
		return;
	if (verb == 3 && rt_cli_has(cli, "purge")) {
		rt_cli_purge_user(cli, &a, name);
		return;
	}
	if (verb == 1)
		(void)rt_accounts_user_new(&a, name, is_admin, RT_STR(""));
	else if (verb == 2 && (given == NULL || is_admin || is_disabled))
		rt_accounts_user_change(&a, name, is_admin, is_disabled);
	if (verb != 3 && given != NULL && rt_ok(&cli->s))
		rt_accounts_identity_set(&a, name, identity);
	if (verb == 3)
		removed = rt_accounts_user_remove(&a, name);
	rt_cli_say_done(cli, verb == 1 ? "Created the user" : verb == 2 ? "Changed the user" : "Removed the user", "user", name);
	if (verb == 3 && rt_ok(&cli->s) && !cli->json && !cli->quiet)
		rt_term_f(&cli->out,
			  "Removed with the user: memberships in %zu project%s and %zu team%s, %zu token%s. Entries and settings are kept, and histories still name the user as author.\n",
			  removed.memberships, RT_CLI_S(removed.memberships), removed.teams, RT_CLI_S(removed.teams),
			  removed.tokens, RT_CLI_S(removed.tokens));
}

static void
run_team(rt_cli *cli)
{
	if (rt_cli_word(cli, 0) == NULL) {
		rt_cli_list_accounts(cli, RT_ITEM_TEAM, 0);
		return;
	}
	int verb = rt_cli_verb(cli);
	if (verb == 0)
		return;
	rt_accounts a = rt_cli_accounts(cli, true);
	if (!rt_ok(&cli->s))
		return;
	rt_accounts_team_set(&a, rt_str_of(rt_cli_word(cli, 1)), rt_str_of(rt_cli_word(cli, 2)), verb == 1);
	rt_cli_say_done(cli, verb == 1 ? "Added to the team:" : "Removed from the team:", "user", rt_str_of(rt_cli_word(cli, 2)));
}

static void
run_member(rt_cli *cli)
{
	const char *project = cli->session.given.project;
	const char *name = rt_cli_word(cli, 0), *word = rt_cli_word(cli, 1);
	rt_role role = rt_role_named(rt_str_of(word));

	if (name != NULL && (word == NULL || (role == RT_ROLE_NONE && strcmp(word, "none") != 0)))
		rt_cli_fail(cli, RT_USAGE, "the role must be reader, commenter, editor or owner, or none to remove the member");
	if (!rt_ok(&cli->s))
		return;
	if (name == NULL) {
		if (rt_cli_open_store(cli, RT_SESSION_LOOK))
			rt_cli_list_accounts(cli, RT_ITEM_MEMBER, project != NULL ? rt_cli_project_number(cli, rt_str_of(project)) : 0);
		return;
	}
	rt_accounts a = rt_cli_accounts(cli, true);
	rt_str in = rt_ok(&cli->s) ? rt_session_project(&cli->session) : rt_str_of(NULL);
	uint64_t number = rt_cli_project_number(cli, in);
	if (!rt_ok(&cli->s))
		return;
	rt_accounts_member_set(&a, number, in, rt_str_of(name), role);
	rt_cli_say_done(cli, role == RT_ROLE_NONE ? "Removed the member" : "Changed the member", "member", rt_str_of(name));
}

/* The projects of --only. */
static void
add_projects(rt_cli *cli, rt_token_options *options)
{
	const rt_args *args = &cli->args;
	uint64_t *projects = rt_scope_array(&cli->s, args->given_count, sizeof(*projects));

	for (size_t i = 0; rt_ok(&cli->s) && i < args->given_count; i++)
		if (strcmp(args->given[i].flag->name, "only") == 0)
			projects[options->project_count++] = rt_cli_project_number(cli, rt_str_of(args->given[i].value));
	options->projects = projects;
}

static void
run_token(rt_cli *cli)
{
	const char *scope = rt_cli_flag_value(cli, "scope");
	char secret[RT_SECRET_ROOM];

	if (rt_cli_word(cli, 0) == NULL) {
		rt_cli_list_accounts(cli, RT_ITEM_TOKEN, 0);
		return;
	}
	int verb = rt_cli_verb(cli);
	if (verb == 0)
		return;
	const char *word = rt_cli_word(cli, 1), *name = rt_cli_flag_value(cli, "name");
	uint64_t id = verb == 2 ? rt_cli_number(cli, word, "the number of a token") : 0;
	rt_token_options options = {.user = rt_str_of(word),
				    .name = rt_cli_check_utf8(cli, rt_str_of(name)),
				    .scope = scope != NULL ? rt_token_scope_named(rt_str_of(scope)) : RT_TOKEN_WRITE,
				    .until_us = rt_cli_until(cli, 0)};
	if (options.scope == RT_TOKEN_NOTHING)
		rt_cli_fail(cli, RT_USAGE, "the scope must be read, write or admin");
	rt_accounts a = rt_cli_accounts(cli, rt_ok(&cli->s));
	if (!rt_ok(&cli->s))
		return;
	if (verb == 2) {
		rt_accounts_token_revoke(&a, id, 0);
		rt_cli_say_done(cli, "Revoked the token", "token", rt_str_of(word));
		return;
	}
	add_projects(cli, &options);
	if (rt_ok(&cli->s))
		id = rt_accounts_token_new(&a, &options, secret);
	rt_cli_say_secret(cli, "token", id, secret);
}

static const rt_flag user_flags[] = {
	{"admin", 0, NULL, RT_ARG_TEXT, "make the user an administrator of the server; retake user change without this flag revokes that"},
	{"identity", 0, "IDENTITY", RT_ARG_TEXT,
	 "identity at a sign-in service: \"oidc:ISSUER SUBJECT\", \"proxy:NAME\"; none: remove it"},
	{"disabled", 0, NULL, RT_ARG_TEXT, "block the user from signing in; retake user change without this flag unblocks the user"},
	{"purge", 0, NULL, RT_ARG_TEXT, "with remove: also delete the projects that no other user owns, permanently"},
	{"dry-run", 0, NULL, RT_ARG_TEXT, "with --purge: only list the data"},
	{"yes", 'y', NULL, RT_ARG_TEXT, "with --purge: do not ask for confirmation"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_user = {
	.name = "user",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 2,
	.usage = "\nnew NAME [--admin] [--identity IDENTITY]\nchange NAME [--admin] [--disabled] [--identity IDENTITY]\nremove NAME [--purge [--dry-run] [--yes]]",
	.summary = "list, create, change or remove users of a server with accounts",
	.about = "For retake serve --accounts, see docs/accounts.md. A new user has no roles; to add one: retake member. Removing a user also removes memberships and tokens and signs browsers out; histories still name the user as author. docs/accounts.md describes --purge.",
	.examples = "retake user\nretake user new ann --admin",
	.flags = user_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_user,
};

const rt_command rt_cli_team = {
	.name = "team",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 3,
	.usage = "\nadd TEAM USER\nremove TEAM USER",
	.summary = "list teams, add a user to a team or remove one",
	.about = "Adding the first user creates the team; removing the last one deletes it. A team can have roles, like a user: retake member @TEAM ROLE.",
	.examples = "retake team",
	.kinds = {RT_ARG_TEXT},
	.run = run_team,
};

const rt_command rt_cli_member = {
	.name = "member",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 2,
	.usage = "\nUSER ROLE\n@TEAM ROLE",
	.summary = "list the members of projects, or set a role in the project",
	.about = "ROLE is reader, commenter, editor or owner, or none to remove the member. Without arguments, the members of all projects are listed; with -p, those of one. docs/accounts.md lists the rights of each role.",
	.examples = "retake member",
	.kinds = {RT_ARG_TEXT},
	.run = run_member,
};

static const rt_flag token_flags[] = {
	{"scope", 0, "SCOPE", RT_ARG_TEXT, "read, write (default) or admin"},
	{"days", 0, "DAYS", RT_ARG_TEXT, "days until it expires; default: 0, never"},
	{"only", 0, "PROJECT", RT_ARG_PROJECT, "limit it to this project; repeatable"},
	{"name", 0, "NAME", RT_ARG_TEXT, "name shown in the list of tokens"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_token = {
	.name = "token",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 2,
	.usage = "\nnew USER [--scope SCOPE] [--days DAYS] [--only PROJECT]…\nrevoke NUMBER",
	.summary = "list, create or revoke personal access tokens",
	.about = "Programs send it in the header \"Authorization: Bearer TOKEN\". A token never has more rights than its user. Only its hash is stored. All servers of the store refuse a revoked token within half a second.",
	.examples = "retake token",
	.flags = token_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_token,
};
