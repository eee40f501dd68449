/* SPDX-License-Identifier: MIT
 *
 * copy: the projects of one store, with their history, to another one of any kind. */
#include "cli/maintenance.h"

#include <string.h>

#include "app/host.h"
#include "store/store_open.h"
#include "store/store_sqlite.h"

enum { PROGRESS_US = 500000 };

typedef struct copying {
	rt_cli *cli;
	rt_str project;
	int64_t begun_us, said_us;
	bool is_shown; /* the line of the progress */
} copying;

static bool
show_progress(void *ctx, const rt_copied *so_far)
{
	copying *k = ctx;
	rt_cli *cli = k->cli;
	int64_t now = cli->env->now_us(cli->env->ctx);

	if (cli->err.is_tty && !cli->quiet && now - k->begun_us >= PROGRESS_US &&
	    now - k->said_us >= PROGRESS_US / 5) {
		rt_term_f(&cli->err, "Copying %.40s: %llu steps, %llu MiB, %llu rows compared …%10s",
			  k->project.ptr, (unsigned long long)so_far->rows,
			  (unsigned long long)so_far->bytes >> 20,
			  (unsigned long long)so_far->compared, "");
		rt_buf_add_byte(&cli->err.buf, '\r'); /* in a text it would be filtered */
		rt_term_flush(&cli->err);
		k->said_us = now;
		k->is_shown = true;
	}
	return !rt_host_interrupted();
}

static void
say_copied(rt_cli *cli, rt_str project, const rt_copied *out)
{
	if (cli->json || cli->quiet)
		return;
	rt_term_line(&cli->out, project);
	if (out->rows + out->bodies + out->side_rows + out->purged == 0)
		rt_term_f(&cli->out, ": nothing new; %llu step%s compared\n",
			  (unsigned long long)out->seq, RT_CLI_S(out->seq));
	else
		rt_term_f(&cli->out, ": copied %llu step%s and %llu text%s (%llu KiB), compared %llu step%s\n",
			  (unsigned long long)out->rows, RT_CLI_S(out->rows),
			  (unsigned long long)out->bodies, RT_CLI_S(out->bodies),
			  (unsigned long long)(out->bytes + 1023) >> 10, (unsigned long long)out->seq,
			  RT_CLI_S(out->seq));
	if (out->purged > 0)
		rt_term_f(&cli->out, "  overwrote %llu row%s that were purged from the source\n",
			  (unsigned long long)out->purged, RT_CLI_S(out->purged));
	if (out->lost > 0)
		rt_term_f(&cli->out, "  kept %llu text%s that %s lost in the source\n",
			  (unsigned long long)out->lost, RT_CLI_S(out->lost),
			  out->lost == 1 ? "was" : "were");
	if (out->seq < out->source_seq)
		rt_cli_note(cli,
			    "the source is in use and has %llu more step%s; run the same command "
			    "again to copy them",
			    (unsigned long long)(out->source_seq - out->seq),
			    RT_CLI_S(out->source_seq - out->seq));
}

static void
put_copied(rt_buf *json, rt_str project, const rt_copied *out)
{
	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "project", project);
	rt_json_put_u64(json, "steps", out->rows);
	rt_json_put_u64(json, "texts", out->bodies);
	rt_json_put_u64(json, "side_rows", out->side_rows);
	rt_json_put_u64(json, "purged", out->purged);
	rt_json_put_u64(json, "lost", out->lost);
	rt_json_put_u64(json, "bytes", out->bytes);
	rt_json_put_u64(json, "compared", out->compared);
	rt_json_put_u64(json, "seq", out->seq);
	rt_json_put_u64(json, "source_seq", out->source_seq);
	rt_json_close(json, '}');
}

static void
copy_project(rt_cli *cli, rt_store *from, rt_store *to, rt_str project, rt_buf *json)
{
	copying k = {.cli = cli, .project = project, .begun_us = cli->env->now_us(cli->env->ctx)};
	rt_copy_options options = {
		.alloc = cli->alloc, .project = project, .progress = show_progress, .ctx = &k};
	rt_copied out = {0};

	RT_TRY(&cli->s, rt_store_copy(from, to, &options, &out, &cli->s.error));
	if (k.is_shown) {
		rt_term_f(&cli->err, "%70s", "");
		rt_buf_add_byte(&cli->err.buf, '\r');
		rt_term_flush(&cli->err);
	}
	if (cli->s.status == RT_INTERRUPTED)
		rt_cli_hint(cli, "The copy is an earlier state of the project. To continue: run "
				 "the same command again.");
	else if (cli->s.status == RT_REFUSED)
		rt_cli_hint(cli, "To copy it to a new store: retake copy %s FILE", from->place);
	else if (cli->s.status == RT_NOT_FOUND)
		rt_cli_hint(cli, "Its projects: retake --db %s projects", from->place);
	if (rt_ok(&cli->s)) {
		say_copied(cli, project, &out);
		put_copied(json, project, &out);
	}
}

void
rt_cli_copy_projects(rt_cli *cli, rt_store *from, rt_store *to, rt_str only, rt_buf *json)
{
	rt_cli_names names = {.items = &only, .count = 1};

	if (only.size == 0)
		names = rt_cli_names_read(cli, from);
	if (names.count == 0)
		rt_cli_fail(cli, RT_NOT_FOUND, "%s has no projects", from->place);
	rt_json_open(json, "projects", '[');
	rt_host_hold(true); /* interrupted: after the current batch */
	for (size_t i = 0; rt_ok(&cli->s) && i < names.count; i++)
		copy_project(cli, from, to, names.items[i], json);
	rt_host_hold(false);
	rt_json_close(json, ']');
}

static void
close_store(void *store)
{
	((rt_store *)store)->ops->close(store);
}

static bool
is_same(rt_cli *cli, const rt_store *from)
{
	rt_buf *ours = rt_scope_buf(&cli->s), *theirs = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s) || rt_store_file(from->place) == NULL ||
	    rt_session_file(&cli->session) == NULL)
		return rt_ok(&cli->s) && strcmp(from->place, cli->session.store->place) == 0;
	RT_TRY(&cli->s, rt_store_sqlite_real_path(from->place, ours, &cli->s.error));
	RT_TRY(&cli->s, rt_store_sqlite_real_path(rt_session_file(&cli->session), theirs, &cli->s.error));
	return rt_ok(&cli->s) && rt_str_eq(rt_buf_str(ours), rt_buf_str(theirs));
}

static void
run_copy(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_store_options look = {.read_only = true};
	const char *address = rt_cli_word(cli, 0), *to = rt_cli_word(cli, 1);
	rt_str only = rt_str_of(cli->session.given.project != NULL ? cli->session.given.project : "");
	rt_buf *json = rt_scope_buf(s);
	rt_store *from = NULL;

	RT_TRY(s, rt_store_open(cli->alloc, cli->env, address, &look, &from, &s->error));
	rt_scope_defer(s, close_store, from);
	if (to != NULL)
		cli->session.given.db = to;
	if (!rt_cli_open_store(cli, RT_SESSION_CHANGE))
		return;
	if (is_same(cli, from))
		rt_cli_fail(cli, RT_REFUSED, "both addresses refer to the same store: %s", from->place);
	rt_json_open(json, NULL, '{');
	rt_json_put_c(json, "from", from->place);
	rt_json_put_c(json, "to", cli->session.store->place);
	rt_cli_copy_projects(cli, from, cli->session.store, only, json);
	rt_json_close(json, '}');
	if (cli->json && rt_ok(s))
		rt_cli_print_json(cli, json);
}

const rt_command rt_cli_copy = {
	.name = "copy",
	.group = RT_COMMANDS_MAINTENANCE,
	.min_words = 1,
	.max_words = 2,
	.usage = "FROM [TO]",
	.summary = "copy all projects with their history to another store",
	.about = "FROM and TO are files or addresses such as postgresql://HOST/DATABASE; without TO, "
		 "the current store (--db, RETAKE_DB). With --project, only this project. FROM may be "
		 "in use and is not changed. Everything is compared at the end. An interrupted copy is "
		 "continued by the same command, and a complete one receives the steps that were added since. A "
		 "project of the same name with other steps is never changed.",
	.examples = "retake copy ~/retake-2026-11-21.db ~/team.db\n"
		    "retake --db ~/team.db copy ~/retake-2026-11-21.db",
	.kinds = {RT_ARG_FILE, RT_ARG_FILE},
	.run = run_copy,
};
