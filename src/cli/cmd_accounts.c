/* SPDX-License-Identifier: MIT
 *
 * user, team, member, invite, token, link, audit: the accounts of a store, for retake serve --accounts. The
 * command line reads and changes the store itself, so it acts as an administrator. */
#include "accounts/audit.h"

#include <string.h>

#include "accounts/arrival.h"
#include "accounts/authorize.h"
#include "cli/cli.h"

enum { DAY_S = 86400 };

static void
close_directory(void *directory)
{
	rt_directory_close(directory);
}

/* With rights of the machine's owner. directory NULL after a failure. */
static rt_accounts
open_accounts(rt_cli *cli, bool changes)
{
	rt_accounts a = {.scope = &cli->s, .env = cli->env, .by = RT_STR("machine"), .from = RT_STR("command line")};

	if (!rt_cli_open_store(cli, changes ? RT_SESSION_CHANGE : RT_SESSION_LOOK))
		return a;
	RT_TRY(&cli->s, rt_directory_open(cli->alloc, cli->env, cli->session.store, &a.directory, &cli->s.error));
	rt_scope_defer(&cli->s, close_directory, a.directory);
	return a;
}

static void
unref_roster(void *roster)
{
	rt_object_unref(roster);
}

static const rt_roster *
roster_of(rt_cli *cli, const rt_accounts *a)
{
	const rt_roster *roster = rt_ok(&cli->s) ? rt_directory_roster(a->directory) : NULL;

	rt_scope_defer(&cli->s, unref_roster, (void *)(uintptr_t)roster);
	return roster;
}

/* The number of a project. RT_NOT_FOUND. */
static uint64_t
project_number(rt_cli *cli, rt_str name)
{
	rt_store *store = cli->session.store;
	uint64_t number = 0;
	rt_status st;

	if (!rt_ok(&cli->s))
		return 0;
	st = rt_store_get(store, rt_rows_named(RT_STORE_PROJECTS, 0, name), NULL, &number, &cli->s.error);
	if (st == RT_NOT_FOUND) {
		rt_cli_hint(cli, "Projects: retake projects");
		rt_cli_fail(cli, st, "no project \"%.80s\"", name.ptr);
	} else {
		rt_scope_note(&cli->s, st);
	}
	return number;
}

/* The time at which something expires, from --days; 0: never. */
static int64_t
until_of(rt_cli *cli, uint64_t absent)
{
	uint64_t days = rt_cli_flag_number(cli, "days", "the number of days", absent);

	if (days > 36500)
		rt_cli_fail(cli, RT_USAGE, "the number of days must be at most 36500");
	return days == 0 || !rt_ok(&cli->s)
		       ? 0
		       : cli->env->now_us(cli->env->ctx) + (int64_t)days * DAY_S * 1000000;
}

/* The verb, if the number of words fits; 0: none of them. */
static int
verb_of(rt_cli *cli, const char *const *verbs, size_t words)
{
	const char *verb = rt_cli_word(cli, 0);
	size_t given = 0;

	while (rt_cli_word(cli, given) != NULL)
		given++;
	for (int i = 0; verb != NULL && verbs[i] != NULL; i++)
		if (strcmp(verb, verbs[i]) == 0 && given == words)
			return i + 1;
	rt_cli_fail(cli, RT_USAGE, "invalid arguments; usage: retake help %s", cli->args.command->name);
	return 0;
}

/* Prints that something was done: a sentence, or an object with one member. */
static void
say_done(rt_cli *cli, const char *sentence, const char *key, rt_str name)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_json_open(json, NULL, '{');
		rt_json_put_str(json, key, name);
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
	} else if (!cli->quiet) {
		rt_term_f(&cli->out, "%s ", sentence);
		rt_term_line(&cli->out, name);
		rt_term_c(&cli->out, ".\n");
	}
}

/* A secret, which is shown only now. */
static void
say_secret(rt_cli *cli, const char *what, uint64_t id, const char *secret)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_json_open(json, NULL, '{');
		rt_json_put_u64(json, "id", id);
		rt_json_put_c(json, what, secret);
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
		return;
	}
	rt_term_f(&cli->out, "%s\n", secret);
	if (!cli->quiet)
		rt_cli_advise(cli, "This is the only time that it is shown. To revoke it: retake %s revoke %llu\n", what,
			      (unsigned long long)id);
}

/* ---- lists ---- */

/* One line for people: the values of the JSON. */
static void
print_item(rt_cli *cli, yyjson_val *item)
{
	rt_term *out = &cli->out;
	bool is_first = true;

	for (rt_json_iter it = rt_json_members(item); rt_json_next(&it); is_first = false) {
		rt_buf *text = rt_scope_buf(&cli->s);

		if (!is_first)
			rt_term_c(out, "  ");
		if (yyjson_is_str(it.value))
			rt_buf_add_str(text, rt_json_str(it.value));
		else if (yyjson_is_arr(it.value))
			for (rt_json_iter one = rt_json_items(it.value); rt_json_next(&one);)
				rt_buf_add_f(text, "%s%.*s", text->size > 0 ? ", " : "",
					     RT_STR_ARG(rt_json_str(one.value)));
		else if (yyjson_is_bool(it.value))
			rt_buf_add_f(text, "%s", yyjson_is_true(it.value) ? "yes" : "no");
		else
			rt_json_add_value(text, it.value);
		if (!is_first)
			rt_term_f(out, "%.*s ", RT_STR_ARG(it.key));
		rt_term_line(out, text->size > 0		       ? rt_scope_str(&cli->s, text)
				   : rt_str_is(it.key, "roles") ? RT_STR("none")
								: RT_STR("all"));
	}
	rt_term_c(out, "\n");
}

/* The items of a kind; project 0: of all projects. */
static void
list(rt_cli *cli, rt_item_kind kind, uint64_t project)
{
	rt_accounts a = open_accounts(cli, false);
	const rt_roster *roster = roster_of(cli, &a);
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '[');
	for (size_t i = roster != NULL ? roster->first[kind] : 0; roster != NULL && i < roster->first[kind + 1]; i++)
		if (project == 0 || roster->items[i].project == project)
			rt_accounts_put(&a, roster, &roster->items[i], json);
	rt_json_close(json, ']');
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_cli_print_json(cli, json);
		return;
	}
	yyjson_val *root = rt_json_parse(&cli->s, rt_scope_str(&cli->s, json));
	for (rt_json_iter it = rt_json_items(root); rt_json_next(&it);)
		print_item(cli, it.value);
	if (yyjson_arr_size(root) == 0)
		rt_cli_advise(cli, "None. More: retake help %s\n", cli->args.command->name);
}

/* ---- commands ---- */

static void
run_user(rt_cli *cli)
{
	static const char *const verbs[] = {"new", "change", "remove", NULL};
	bool is_admin = rt_cli_has(cli, "admin"), is_disabled = rt_cli_has(cli, "disabled");
	const char *given = rt_cli_flag_value(cli, "identity");
	rt_str identity = given != NULL && strcmp(given, "none") != 0 ? rt_cli_check_utf8(cli, rt_str_of(given)) : RT_STR("");

	if (rt_cli_word(cli, 0) == NULL) {
		list(cli, RT_ITEM_USER, 0);
		return;
	}
	int verb = verb_of(cli, verbs, 2);
	if (verb == 0)
		return;
	rt_str name = rt_str_of(rt_cli_word(cli, 1));
	rt_accounts a = open_accounts(cli, true);
	rt_accounts_removed removed = {0};
	if (!rt_ok(&cli->s))
		return;
	if (verb == 1)
		(void)rt_accounts_user_new(&a, name, is_admin, RT_STR(""));
	else if (verb == 2 && (given == NULL || is_admin || is_disabled))
		rt_accounts_user_change(&a, name, is_admin, is_disabled);
	if (verb != 3 && given != NULL && rt_ok(&cli->s))
		rt_accounts_identity_set(&a, name, identity);
	if (verb == 3)
		removed = rt_accounts_user_remove(&a, name);
	say_done(cli, verb == 1 ? "Created the user" : verb == 2 ? "Changed the user" : "Removed the user", "user", name);
	if (verb == 3 && rt_ok(&cli->s) && !cli->json && !cli->quiet)
		rt_term_f(&cli->out,
			  "Removed with the user: memberships in %zu project%s and %zu team%s, %zu token%s. Entries and settings are kept, and histories still name the user as author.\n",
			  removed.memberships, RT_CLI_S(removed.memberships), removed.teams, RT_CLI_S(removed.teams),
			  removed.tokens, RT_CLI_S(removed.tokens));
}

static void
run_team(rt_cli *cli)
{
	static const char *const verbs[] = {"add", "remove", NULL};

	if (rt_cli_word(cli, 0) == NULL) {
		list(cli, RT_ITEM_TEAM, 0);
		return;
	}
	int verb = verb_of(cli, verbs, 3);
	if (verb == 0)
		return;
	rt_accounts a = open_accounts(cli, true);
	if (!rt_ok(&cli->s))
		return;
	rt_accounts_team_set(&a, rt_str_of(rt_cli_word(cli, 1)), rt_str_of(rt_cli_word(cli, 2)), verb == 1);
	say_done(cli, verb == 1 ? "Added to the team:" : "Removed from the team:", "user", rt_str_of(rt_cli_word(cli, 2)));
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
			list(cli, RT_ITEM_MEMBER, project != NULL ? project_number(cli, rt_str_of(project)) : 0);
		return;
	}
	rt_accounts a = open_accounts(cli, true);
	rt_str in = rt_ok(&cli->s) ? rt_session_project(&cli->session) : rt_str_of(NULL);
	uint64_t number = project_number(cli, in);
	if (!rt_ok(&cli->s))
		return;
	rt_accounts_member_set(&a, number, in, rt_str_of(name), role);
	say_done(cli, role == RT_ROLE_NONE ? "Removed the member" : "Changed the member", "member", rt_str_of(name));
}

/* The projects of --only. */
static void
add_projects(rt_cli *cli, rt_token_options *options)
{
	const rt_args *args = &cli->args;
	uint64_t *projects = rt_scope_array(&cli->s, args->given_count, sizeof(*projects));

	for (size_t i = 0; rt_ok(&cli->s) && i < args->given_count; i++)
		if (strcmp(args->given[i].flag->name, "only") == 0)
			projects[options->project_count++] = project_number(cli, rt_str_of(args->given[i].value));
	options->projects = projects;
}

static void
run_token(rt_cli *cli)
{
	static const char *const verbs[] = {"new", "revoke", NULL};
	const char *scope = rt_cli_flag_value(cli, "scope");
	char secret[RT_SECRET_ROOM];

	if (rt_cli_word(cli, 0) == NULL) {
		list(cli, RT_ITEM_TOKEN, 0);
		return;
	}
	int verb = verb_of(cli, verbs, 2);
	if (verb == 0)
		return;
	const char *word = rt_cli_word(cli, 1), *name = rt_cli_flag_value(cli, "name");
	uint64_t id = verb == 2 ? rt_cli_number(cli, word, "the number of a token") : 0;
	rt_token_options options = {.user = rt_str_of(word),
				    .name = rt_cli_check_utf8(cli, rt_str_of(name)),
				    .scope = scope != NULL ? rt_token_scope_named(rt_str_of(scope)) : RT_TOKEN_WRITE,
				    .until_us = until_of(cli, 0)};
	if (options.scope == RT_TOKEN_NOTHING)
		rt_cli_fail(cli, RT_USAGE, "the scope must be read, write or admin");
	rt_accounts a = open_accounts(cli, rt_ok(&cli->s));
	if (!rt_ok(&cli->s))
		return;
	if (verb == 2) {
		rt_accounts_token_revoke(&a, id, 0);
		say_done(cli, "Revoked the token", "token", rt_str_of(word));
		return;
	}
	add_projects(cli, &options);
	if (rt_ok(&cli->s))
		id = rt_accounts_token_new(&a, &options, secret);
	say_secret(cli, "token", id, secret);
}

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
			rt_cli_fail(cli, RT_LIMIT, "an invitation has at most %d projects", (int)RT_INVITE_ROLES_MAX);
		if (!rt_ok(&cli->s))
			return;
		roles[2 * options->role_count] =
			project_number(cli, rt_scope_copy(&cli->s, rt_str_at(word, (size_t)(equals - word))));
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
	static const char *const verbs[] = {"revoke", NULL};
	char secret[RT_SECRET_ROOM];

	if (verb == NULL) {
		list(cli, RT_ITEM_INVITE, 0);
		return;
	}
	if (!is_new && verb_of(cli, verbs, 2) == 0)
		return;
	const char *word = rt_cli_word(cli, 1);
	uint64_t id = is_new ? 0 : rt_cli_number(cli, word, "the number of an invitation");
	rt_invite_options options = {.name = rt_str_of(rt_cli_flag_value(cli, "name")), .until_us = until_of(cli, 7)};
	rt_accounts a = open_accounts(cli, rt_ok(&cli->s));
	if (!rt_ok(&cli->s))
		return;
	if (!is_new) {
		rt_accounts_invite_revoke(&a, id);
		say_done(cli, "Revoked the invitation", "invite", rt_str_of(word));
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
	static const char *const verbs[] = {"new", "revoke", NULL};
	const char *word = rt_cli_word(cli, 1);
	char secret[RT_SECRET_ROOM];

	if (rt_cli_word(cli, 0) == NULL) {
		list(cli, RT_ITEM_LINK, 0);
		return;
	}
	int verb = verb_of(cli, verbs, word == NULL ? 1 : 2);
	if (verb == 0 || (verb == 1) != (word == NULL)) {
		if (verb != 0)
			rt_cli_fail(cli, RT_USAGE, "invalid arguments; usage: retake help link");
		return;
	}
	uint64_t id = verb == 2 ? rt_cli_number(cli, word, "the number of a link") : 0, discussion = 0;
	int64_t until = until_of(cli, 0);
	/* The discussion is looked up in the project; without -d the link shows all of it. */
	if (verb == 1 && cli->session.given.discussion != NULL && rt_cli_open(cli, RT_SESSION_LOOK))
		discussion = rt_cli_view(cli).place.disc;
	rt_cli_close(cli);
	rt_accounts a = open_accounts(cli, rt_ok(&cli->s));
	if (!rt_ok(&cli->s))
		return;
	if (verb == 2) {
		rt_accounts_link_revoke(&a, id, 0);
		say_done(cli, "Revoked the link", "link", rt_str_of(word));
		return;
	}
	uint64_t project = project_number(cli, rt_session_project(&cli->session));
	if (rt_ok(&cli->s))
		id = rt_accounts_link_new(&a, project, discussion, until, secret);
	say_secret(cli, "link", id, secret);
}

typedef struct audit_list {
	rt_cli *cli;
	rt_buf *json;
} audit_list;

static bool
add_audit(void *ctx, const rt_audit *row)
{
	audit_list *l = ctx;
	rt_cli *cli = l->cli;
	rt_buf *at = rt_scope_buf(&cli->s);

	rt_audit_put(l->json, row);
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
	rt_accounts a = open_accounts(cli, false);
	audit_list l = {cli, rt_scope_buf(&cli->s)};
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
	if (cli->json && rt_ok(&cli->s))
		rt_cli_print_json(cli, l.json);
}

static const rt_flag user_flags[] = {
	{"admin", 0, NULL, RT_ARG_TEXT, "make the user an administrator of the server; change without it removes the right"},
	{"identity", 0, "IDENTITY", RT_ARG_TEXT,
	 "identity at a sign-in service: \"oidc:ISSUER SUBJECT\", \"proxy:NAME\"; none: remove it"},
	{"disabled", 0, NULL, RT_ARG_TEXT, "block the user from signing in; change without it unblocks the user"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_user = {
	.name = "user",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 2,
	.usage = "\nnew NAME [--admin] [--identity IDENTITY]\nchange NAME [--admin] [--disabled] [--identity IDENTITY]\nremove NAME",
	.summary = "list, create, change or remove users of a server with accounts",
	.about = "For retake serve --accounts, see docs/accounts.md. A new user has no roles; to add one: retake member. Removing a user also removes memberships and tokens and signs browsers out; histories still name the user as author.",
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
	{"name", 0, "NAME", RT_ARG_TEXT, "name for the list"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_token = {
	.name = "token",
	.group = RT_COMMANDS_MAINTENANCE,
	.max_words = 2,
	.usage = "\nnew USER [--scope SCOPE] [--days DAYS] [--only PROJECT]…\nrevoke NUMBER",
	.summary = "list, create or revoke personal access tokens",
	.about = "Programs send it as Authorization: Bearer. A token never has more rights than its user. Only its hash is stored. All servers of the store refuse a revoked token within half a second.",
	.examples = "retake token",
	.flags = token_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_token,
};

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
	.about = "A link gives read-only access to the project or, with -d, to the current entries, takes and labels of one discussion. Programs send it as Authorization: Bearer.",
	.examples = "retake link\nretake link new --days 7\nretake link new -d plans",
	.flags = link_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_link,
};

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
	.summary = "list changes to accounts, sign-ins, exports, purges and refused requests",
	.about = "Oldest first: time, user, action, object and origin.",
	.examples = "retake audit",
	.run = run_audit,
};
