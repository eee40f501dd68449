/* SPDX-License-Identifier: MIT
 *
 * The directory of the store, and what the commands that change it print. */
#include "cli/accounts.h"

#include <string.h>

enum { DAY_S = 86400 };

static void
close_directory(void *directory)
{
	rt_directory_close(directory);
}

rt_accounts
rt_cli_accounts(rt_cli *cli, bool changes)
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

const rt_roster *
rt_cli_roster(rt_cli *cli, const rt_accounts *a)
{
	const rt_roster *roster = rt_ok(&cli->s) ? rt_directory_roster(a->directory) : NULL;

	rt_scope_defer(&cli->s, unref_roster, (void *)(uintptr_t)roster);
	return roster;
}

uint64_t
rt_cli_project_number(rt_cli *cli, rt_str name)
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

int64_t
rt_cli_until(rt_cli *cli, uint64_t absent)
{
	uint64_t days = rt_cli_flag_number(cli, "days", "the number of days", absent);

	if (days > 36500)
		rt_cli_fail(cli, RT_USAGE, "the number of days must be at most 36500");
	return days == 0 || !rt_ok(&cli->s)
		       ? 0
		       : cli->env->now_us(cli->env->ctx) + (int64_t)days * DAY_S * 1000000;
}

/* The arguments of a form after its first word, without flags; *out_least to *out_most of them are required. */
static rt_str
arguments(rt_str form, size_t *out_least, size_t *out_most)
{
	rt_str rest = form, word, verb;

	*out_least = *out_most = 0;
	if (!rt_str_split(&rest, ' ', &verb))
		return RT_STR("");
	rt_str all = rest;
	while (rest.size > 0 && !rt_str_starts(rest, RT_STR("[-")) && rt_str_split(&rest, ' ', &word)) {
		*out_least += word.ptr[0] != '[';
		*out_most = rt_str_find(word, RT_STR("…"), 0) != SIZE_MAX ? SIZE_MAX : *out_most + 1;
		all.size = (size_t)(word.ptr + word.size - all.ptr);
	}
	return *out_most > 0 ? all : RT_STR("");
}

/* "; use new, change or remove" */
static void
add_verbs(const rt_command *command, rt_buf *out)
{
	rt_str rest = rt_str_of(command->usage), form, verb;

	while (rt_str_split(&rest, '\n', &form)) {
		if (form.size == 0 || !rt_str_split(&form, ' ', &verb))
			continue;
		rt_buf_add_c(out, out->size == 0 ? "; use " : rest.size == 0 ? " or " : ", ");
		rt_buf_add_str(out, verb);
	}
}

int
rt_cli_verb(rt_cli *cli)
{
	const rt_command *command = cli->args.command;
	const char *verb = rt_cli_word(cli, 0);
	size_t least = 0, most = 0, given = cli->args.word_count - 1;
	rt_buf *verbs = rt_scope_buf(&cli->s);
	rt_str form;
	size_t number = rt_command_form(command, verb, &form);

	if (number == SIZE_MAX) {
		add_verbs(command, verbs);
		rt_cli_fail(cli, RT_USAGE, "%s has no subcommand \"%.40s\"%.*s", command->name, verb,
			    RT_STR_ARG(rt_scope_str(&cli->s, verbs)));
		return 0;
	}
	rt_str needed = arguments(form, &least, &most);
	if (given >= least && given <= most)
		return (int)number;
	rt_cli_fail(cli, RT_USAGE, "%s %s %s %.*s; %zu argument%s given", command->name, verb,
		    most > 0 ? "needs" : "takes", RT_STR_ARG(most > 0 ? needed : RT_STR("no arguments")), given,
		    RT_CLI_S(given));
	return 0;
}

void
rt_cli_say_done(rt_cli *cli, const char *sentence, const char *key, rt_str name)
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

void
rt_cli_say_secret(rt_cli *cli, const char *what, uint64_t id, const char *secret)
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
	/* The others begin with their number or their holder. */
	bool is_plain = rt_json_get(item, "limits") == NULL, is_first = true;

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
		else if (yyjson_is_obj(it.value))
			for (rt_json_iter one = rt_json_members(it.value); rt_json_next(&one);) {
				rt_buf_add_f(text, "%s%.*s ", text->size > 0 ? ", " : "", RT_STR_ARG(one.key));
				rt_json_add_value(text, one.value);
			}
		else if (yyjson_is_bool(it.value))
			rt_buf_add_f(text, "%s", yyjson_is_true(it.value) ? "yes" : "no");
		else
			rt_json_add_value(text, it.value);
		if (!is_first || !is_plain)
			rt_term_f(out, "%.*s ", RT_STR_ARG(it.key));
		rt_term_line(out, text->size > 0		       ? rt_scope_str(&cli->s, text)
				   : rt_str_is(it.key, "roles") ? RT_STR("none")
								: RT_STR("all"));
	}
	rt_term_c(out, "\n");
}

static const char *const empty[RT_ITEM_KINDS] = {
	[RT_ITEM_USER] = "No users yet. Create one: retake user new NAME",
	[RT_ITEM_TEAM] = "No teams yet. Create one: retake team add TEAM USER",
	[RT_ITEM_MEMBER] = "No members yet. Add one: retake member USER ROLE",
	[RT_ITEM_QUOTA] = "No limits yet. Set one: retake quota users LIMIT=NUMBER",
	[RT_ITEM_TOKEN] = "No tokens yet. Create one: retake token new USER",
	[RT_ITEM_INVITE] = "No invitations yet. Create one: retake invite new",
	[RT_ITEM_LINK] = "No links yet. Create one: retake link new",
};

void
rt_cli_list_accounts(rt_cli *cli, rt_item_kind kind, uint64_t project)
{
	rt_accounts a = rt_cli_accounts(cli, false);
	const rt_roster *roster = rt_cli_roster(cli, &a);
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
		rt_cli_advise(cli, "%s\n", empty[kind]);
}
