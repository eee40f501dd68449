/* SPDX-License-Identifier: MIT
 *
 * Salvage, the part of repair for a store that has lost rows: intact data is copied to a new store,
 * which replaces the damaged one; that one is kept unchanged. */
#define _POSIX_C_SOURCE 200809L

#include "cli/maintenance.h"

#include <stdio.h>

#include "log/repair.h"
#include "store/store_sqlite.h"

/* --- is it needed? --- */

/* Damage that the usual repair cannot fix: it needs every row of the log, and replaces damaged
 * texts, not missing ones. Damage of caches alone is not listed. */
static const char *const serious[] = {
	"store-cannot-open", "store-page-damaged", "store-schema-changed", "store-meta-damaged",
	"store-project-damaged", "store-project-missing", "store-log-damaged", "store-log-gap",
	"store-root-ahead", "store-side-damaged", "project-cannot-open", "log-gap", "log-cut",
	"log-row-unreadable", "log-unreplayable", "body-missing", "body-ahead", "checkpoint-ahead",
	NULL,
};

/* ctx: a bool, whether a serious finding was reported; the check continues until then. */
static bool
note_finding(void *ctx, const char *id, const char *text)
{
	bool *needed = ctx;

	(void)text;
	*needed = *needed || rt_str_is_one_of(rt_str_of(id), serious);
	return !*needed;
}

static bool
note_project_finding(void *ctx, const rt_finding *finding)
{
	return note_finding(ctx, finding->id, finding->text);
}

static void
check_project(rt_cli *cli, void *ctx, rt_str project, rt_engine *engine)
{
	rt_scope *s = &cli->s;
	bool *needed = ctx;

	(void)project;
	if (engine != NULL && rt_engine_newer(engine, &s->error))
		rt_scope_note(s, RT_TOO_NEW);
	else if (!*needed)
		RT_TRY(s, rt_engine_fsck_project(engine, note_project_finding, needed, &s->error));
	if (s->status == RT_CORRUPT) {
		*needed = true;
		rt_cli_recover(cli, NULL);
	}
}

bool
rt_cli_recognise(const rt_cli *cli)
{
	const char *file = rt_session_file(&cli->session);
	bool ours = false;

	return file != NULL &&
	       rt_store_sqlite_recognise(cli->alloc, file, &ours, NULL) == RT_OK && ours;
}

bool
rt_cli_salvage_needed(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	bool needed = false;

	rt_cli_open_store(cli, RT_SESSION_LOOK);
	RT_TRY(s, cli->session.store->ops->check(cli->session.store, note_finding, &needed,
						 &s->error));
	if (rt_ok(s))
		rt_cli_each_engine(cli, true, check_project, &needed);
	if (cli->session.store != NULL)
		rt_cli_close(cli);
	if (s->status == RT_CORRUPT || (s->status == RT_NOT_OURS && rt_cli_recognise(cli))) {
		rt_cli_recover(cli, NULL);
		return true;
	}
	return needed;
}

/* --- doing it --- */

typedef struct salvaging {
	rt_cli *cli;
	rt_buf *json;
	rt_cli_lost *lost;
	rt_str project;
} salvaging;

static void
tell_rows(void *ctx, uint64_t first, uint64_t last)
{
	salvaging *t = ctx;
	rt_cli *cli = t->cli;

	rt_json_open(t->json, NULL, '[');
	rt_json_put_u64(t->json, NULL, first);
	rt_json_put_u64(t->json, NULL, last);
	rt_json_close(t->json, ']');
	if (cli->json || cli->quiet)
		return;
	rt_term_f(&cli->out, first == last ? "lost  step %llu" : "lost  steps %llu to %llu",
		  (unsigned long long)first, (unsigned long long)last);
	rt_term_c(&cli->out, " of project ");
	rt_term_line(&cli->out, t->project);
	rt_term_c(&cli->out, "\n");
}

static void
tell_project(rt_cli *cli, rt_str project, const rt_salvaged *got)
{
	if (cli->json || cli->quiet)
		return;
	/* Texts without a row: there were more rows than anything mentions. */
	rt_term_f(&cli->out, "kept  steps 1 to %llu of %s%llu of project ",
		  (unsigned long long)got->rows,
		  got->recovered > 0 && got->rows_lost == 0 ? "more than " : "",
		  (unsigned long long)got->rows_known);
	rt_term_line(&cli->out, project);
	rt_term_c(&cli->out, "\n");
	if (got->state_seq != 0)
		rt_term_f(&cli->out,
			  "kept  the state after step %llu, from the checkpoint; everything after "
			  "step %llu is undone as one step\n",
			  (unsigned long long)got->state_seq, (unsigned long long)got->rows);
	else if (got->rows_unused > 0)
		rt_term_f(&cli->out,
			  "lost  %llu step%s that depended on a lost step\n",
			  (unsigned long long)got->rows_unused, RT_CLI_S(got->rows_unused));
	if (got->recovered > 0)
		rt_term_f(&cli->out,
			  "kept  %zu text%s of unknown position, in the new discussion %s\n",
			  got->recovered, RT_CLI_S(got->recovered), got->discussion);
}

static void
salvage_project(salvaging *t, rt_store *from, rt_store *to)
{
	rt_cli *cli = t->cli;
	rt_scope *s = &cli->s;
	rt_buf *json = t->json;
	rt_salvaged got = {0};

	rt_json_open(json, NULL, '{');
	rt_json_put_str(json, "project", t->project);
	rt_json_open(json, "rows_lost", '[');
	RT_TRY(s, rt_engine_salvage(cli->alloc, cli->env, from, t->project, to, &got, tell_rows, t,
				    &s->error));
	rt_json_close(json, ']');
	rt_json_put_u64(json, "rows_kept", got.rows);
	rt_json_put_u64(json, "rows_known", got.rows_known);
	rt_json_put_u64(json, "rows_unused", got.rows_unused);
	rt_json_put_u64(json, "state_of", got.state_seq);
	rt_json_put_u64(json, "texts_lost", got.bodies_lost);
	rt_json_put_u64(json, "texts_recovered", got.recovered);
	if (got.recovered > 0)
		rt_json_put_c(json, "discussion", got.discussion);
	rt_json_close(json, '}');
	if (!rt_ok(s))
		return;
	t->lost->steps += got.rows_lost + got.rows_unused;
	if (got.recovered > 0 && got.rows_lost == 0) { /* texts of steps that are gone */
		t->lost->steps += got.rows_unused == 0;
		t->lost->at_least = true;
	}
	tell_project(cli, t->project, &got);
}

static void
salvage_all(salvaging *t, const char *parts, const char *copy)
{
	rt_cli *cli = t->cli;
	rt_scope *s = &cli->s;
	rt_store_sqlite_options look = {.read_only = true}, make = {.create = true};
	rt_store *from = NULL, *to = NULL;
	rt_store_salvaged found;
	rt_cli_names names = {0};

	RT_TRY(s, rt_store_sqlite_salvage(cli->alloc, cli->env, cli->session.address.ptr, parts, &found,
					  &s->error));
	if (rt_ok(s) && found.rows + found.bodies == 0)
		rt_cli_fail(cli, RT_CORRUPT, "%s contains no intact row",
			    cli->session.address.ptr);
	RT_TRY(s, rt_store_sqlite_open(cli->alloc, cli->env, parts, &look, &from, &s->error));
	RT_TRY(s, rt_store_sqlite_open(cli->alloc, cli->env, copy, &make, &to, &s->error));
	if (rt_ok(s))
		names = rt_cli_names_read(cli, from);
	for (size_t i = 0; rt_ok(s) && i < names.count; i++) {
		t->project = names.items[i];
		salvage_project(t, from, to);
	}
	if (from != NULL)
		from->ops->close(from);
	if (to != NULL)
		to->ops->close(to);
}

const char *
rt_cli_salvage(rt_cli *cli, rt_buf *json, rt_cli_lost *lost)
{
	salvaging t = {.cli = cli, .json = json, .lost = lost};
	const char *parts, *copy, *aside = "";

	rt_cli_follow_links(cli);
	if (!rt_ok(&cli->s))
		return aside;
	parts = rt_cli_beside(cli, "salvaging");
	copy = rt_cli_beside(cli, "repairing");
	if (!rt_ok(&cli->s))
		return aside;
	rt_host_hold(true);
	salvage_all(&t, parts, copy);
	if (rt_ok(&cli->s))
		aside = rt_cli_exchange(cli, "before-repair", copy);
	rt_cli_drop_files(parts);
	if (!rt_ok(&cli->s))
		rt_cli_drop_files(copy);
	rt_host_hold(false);
	return aside;
}
