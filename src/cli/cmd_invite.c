/* SPDX-License-Identifier: MIT
 *
 * invite, link: access for people without an account. */
#include "cli/accounts.h"

#include <string.h>

#include "accounts/arrival.h"

/* PROJECT=ROLE … from a word on. */
static void
add_roles(rt_cli *cli, size_t from, rt_invite_options *options)
{
	uint64_t *roles = rt_scope_array(&cli->s, 2 * (size_t)RT_INVITE_ROLES_MAX, sizeof(*roles));

	for (const char *word; rt_ok(&cli->s) && (word = rt_cli_word(cli, from)) != NULL; from++) {
		const char *equals = strrchr(word, '=');
		rt_role role = rt_role_named(rt_str_of(equals != NULL ? equals + 1 : NULL));

		if (role == RT_ROLE_NONE)
			rt_cli_fail(cli, RT_USAGE, "\"%.80s\" is not PROJECT=ROLE; a role is reader, commenter, editor or owner", word);
		else if (options->role_count >= RT_INVITE_ROLES_MAX)
			rt_cli_fail(cli, RT_LIMIT, "an invitation can have at most %d projects", (int)RT_INVITE_ROLES_MAX);
		if (!rt_ok(&cli->s))
			return;
		roles[2 * options->role_count] =
			rt_cli_project_number(cli, rt_scope_copy(&cli->s, rt_str_at(word, (size_t)(equals - word))));
		roles[2 * options->role_count++ + 1] = role;
	}
	options->roles = roles;
}

/* The link, which is shown only now. */
static void
say_invite(rt_cli *cli, uint64_t id, const char *secret)
{
	const char *at = rt_cli_flag_value(cli, "at");
	rt_buf *json = rt_scope_buf(&cli->s), *link = rt_scope_buf(&cli->s);
	size_t size = at != NULL ? strlen(at) : 0;

	while (size > 0 && at[size - 1] == '/')
		size--;
	rt_buf_add_f(link, "%.*s/sign-in/invite?invite=%s", (int)size, at != NULL ? at : "", secret);
	rt_str text = rt_scope_str(&cli->s, link);
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_json_open(json, NULL, '{');
		rt_json_put_u64(json, "id", id);
		rt_json_put_c(json, "invite", secret);
		rt_json_put_str(json, "link", text);
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
		return;
	}
	rt_term_line(&cli->out, text);
	rt_term_c(&cli->out, "\n");
	if (!cli->quiet)
		rt_cli_advise(cli, "%sIt works once. This is the only time that it is shown. To revoke it: retake invite revoke %llu\n",
			      at == NULL ? "Add the server's address at the beginning, or use --at URL. " : "", (unsigned long long)id);
}

static void
run_invite(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0);
	bool is_new = verb != NULL && strcmp(verb, "new") == 0;
	char secret[RT_SECRET_ROOM];

	if (verb == NULL) {
		rt_cli_list_accounts(cli, RT_ITEM_INVITE, 0);
		return;
	}
	if (rt_cli_verb(cli) == 0)
		return;
	const char *word = rt_cli_word(cli, 1);
	uint64_t id = is_new ? 0 : rt_cli_number(cli, word, "the number of an invitation");
	rt_invite_options options = {.name = rt_str_of(rt_cli_flag_value(cli, "name")), .until_us = rt_cli_until(cli, 7)};
	rt_accounts a = rt_cli_accounts(cli, rt_ok(&cli->s));
	if (!rt_ok(&cli->s))
		return;
	if (!is_new) {
		rt_accounts_invite_revoke(&a, id);
		rt_cli_say_done(cli, "Revoked the invitation", "invite", rt_str_of(word));
		return;
	}
	add_roles(cli, 1, &options);
	if (rt_ok(&cli->s))
		id = rt_accounts_invite_new(&a, &options, secret);
	say_invite(cli, id, secret);
}

static void
run_link(rt_cli *cli)
{
	const char *word = rt_cli_word(cli, 1);
	char secret[RT_SECRET_ROOM];

	if (rt_cli_word(cli, 0) == NULL) {
		rt_cli_list_accounts(cli, RT_ITEM_LINK, 0);
		return;
	}
	int verb = rt_cli_verb(cli);
	if (verb == 0)
		return;
	uint64_t id = verb == 2 ? rt_cli_number(cli, word, "the number of a link") : 0, discussion = 0;
	int64_t until = rt_cli_until(cli, 0);
	/* The discussion is looked up in the project; without -d the link shows all of it. */
	if (verb == 1 && cli->session.given.discussion != NULL && rt_cli_open(cli, RT_SESSION_LOOK))
		discussion = rt_cli_view(cli).place.disc;
	rt_cli_close(cli);
	rt_accounts a = rt_cli_accounts(cli, rt_ok(&cli->s));
	if (!rt_ok(&cli->s))
		return;
	if (verb == 2) {
		rt_accounts_link_revoke(&a, id, 0);
		rt_cli_say_done(cli, "Revoked the link", "link", rt_str_of(word));
		return;
	}
	uint64_t project = rt_cli_project_number(cli, rt_session_project(&cli->session));
	if (rt_ok(&cli->s))
		id = rt_accounts_link_new(&a, project, discussion, until, secret);
	rt_cli_say_secret(cli, "link", id, secret);
}

static const rt_flag invite_flags[] = {
	{"name", 0, "NAME", RT_ARG_TEXT, "name of the new user; default: the person chooses it"},
	{"days", 0, "DAYS", RT_ARG_TEXT, "days until it expires; default: 7; 0: never"},
	{"at", 0, "URL", RT_ARG_TEXT, "address of the server, for a complete link"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_invite = {
	.name = "invite",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 1 + RT_INVITE_ROLES_MAX,
	.usage = "\nnew [PROJECT=ROLE]… [--name NAME] [--days DAYS] [--at URL]\nrevoke NUMBER",
	.summary = "list, create or revoke invitations for new users",
	.about = "Whoever opens the link becomes a user with these roles; if the browser is already signed in, its user gets the roles. With serve --oidc, the person can also sign in with the service. A link works once. Only its hash is stored.",
	.examples = "retake invite\nretake invite new --name ann --days 3",
	.flags = invite_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_invite,
};

static const rt_flag link_flags[] = {
	{"days", 0, "DAYS", RT_ARG_TEXT, "days until it expires; default: 0, never"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_link = {
	.name = "link",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 2,
	.usage = "\nnew [--days DAYS]\nrevoke NUMBER",
	.summary = "list, create or revoke links that show a project or a discussion",
	.about = "A link gives read-only access to the project or, with -d, to the current entries, takes and labels of one discussion. Programs send it in the header \"Authorization: Bearer TOKEN\".",
	.examples = "retake link\nretake link new --days 7\nretake link new -d plans",
	.flags = link_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_link,
};
