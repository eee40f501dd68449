/* SPDX-License-Identifier: MIT
 *
 * store: creates and changes the tables of a store that is a database. */
#include "cli/cli.h"

#include <string.h>

#include "store/store_open.h"

static void
run_store(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	bool is_new = strcmp(rt_cli_word(cli, 0), "init") == 0, is_dry = rt_cli_has(cli, "dry-run"), has_changed = false;
	rt_buf *sql = rt_scope_buf(s), *place = rt_scope_buf(s), *json = rt_scope_buf(s);

	if (!is_new && strcmp(rt_cli_word(cli, 0), "upgrade") != 0)
		rt_cli_fail(cli, RT_USAGE, "\"%s\" is neither init nor upgrade", rt_cli_word(cli, 0));
	if (!rt_ok(s) || !rt_cli_find_store(cli))
		return;
	const char *address = cli->session.address.ptr;
	const rt_store_kind *kind = rt_store_kind_of(address);
	rt_store_add_place(place, address);
	if (kind->prepare == NULL) {
		rt_cli_fail(cli, RT_REFUSED, "%s is a file; files are created and upgraded automatically", place->ptr);
		return;
	}
	RT_TRY(s, kind->prepare(cli->alloc, cli->env, address, is_new, is_dry, sql, &has_changed, &s->error));
	if (!rt_ok(s))
		return;
	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "store", rt_scope_str(s, place));
	rt_json_put_bool(json, "changed", has_changed && !is_dry);
	if (is_dry)
		rt_json_put_str(json, "sql", rt_scope_str(s, sql));
	rt_json_close(json, '}');
	if (cli->json)
		rt_cli_print_json(cli, json);
	else if (is_dry)
		rt_term_f(&cli->out, "%.*s%s", (int)sql->size, sql->ptr == NULL ? "" : sql->ptr, has_changed ? ";\n" : "");
	else if (!cli->quiet)
		rt_term_f(&cli->out, has_changed ? "%s the tables of %s.\n" : "%s%s has the tables of this version.\n",
			  !has_changed ? "" : is_new ? "Created" : "Changed", place->ptr);
}

static const rt_flag flags[] = {
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "print the SQL and change nothing"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_store = {
	.name = "store",
	.group = RT_COMMANDS_MAINTENANCE,
	.min_words = 1,
	.max_words = 1,
	.usage = "\ninit [--dry-run]\nupgrade [--dry-run]",
	.summary = "create or upgrade the tables of a store in PostgreSQL",
	.about = "Runs in one transaction, with a role that may create tables; afterwards, a "
		 "server needs only the right to read and write "
		 "rows. init does nothing if the tables exist. Tables of a newer version are refused. A store "
		 "in a file needs neither.",
	.examples = "retake --db postgresql://owner@HOST/DATABASE store init\nretake store upgrade --dry-run",
	.flags = flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_store,
};
