/* SPDX-License-Identifier: MIT
 *
 * Salvage, the part of repair for a store that has lost rows: what is intact goes into a new
 * store, which takes the place of the damaged one; that one is kept as it is. */
#define _POSIX_C_SOURCE 200809L

#include "cli/maintenance.h"

#include <stdio.h>

#include "log/repair.h"
#include "store/store_sqlite.h"

/* --- is it needed? --- */

typedef struct doubt {
	bool needed;
} doubt;

/* Damage that the usual repair cannot mend: it needs every row of the log, and replaces texts
 * that are damaged, not those that are missing. What only touches caches is not here. */
static bool
needs_salvage(const char *id)
{
	static const char *const ids[] = {
		"store-cannot-open", "store-page-damaged", "store-schema-changed",
		"store-meta-damaged", "store-project-damaged", "store-project-missing",
		"store-log-damaged", "store-log-gap", "store-root-ahead", "store-side-damaged",
		"project-cannot-open", "log-gap", "log-cut", "log-row-unreadable",
		"log-unreplayable", "body-missing", "body-ahead", "checkpoint-ahead",
	};
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		if (strcmp(id, ids[i]) == 0)
			return true;
	return false;
}

static bool
doubt_store(void *ctx, const char *id, const char *text)
{
	doubt *d = ctx;

	(void)text;
	d->needed = d->needed || needs_salvage(id);
	return !d->needed;
}

static bool
doubt_project(void *ctx, const rt_finding *finding)
{
	return doubt_store(ctx, finding->id, finding->text);
}

static rt_status
look_at_project(rt_cli *cli, void *ctx, const rt_text *project, rt_engine *engine,
		rt_status opened)
{
	doubt *d = ctx;

	(void)project;
	if (opened == RT_OK && rt_engine_newer(engine, &cli->error))
		return RT_TOO_NEW;
	if (opened == RT_OK && !d->needed)
		opened = rt_engine_fsck_project(engine, doubt_project, d, &cli->error);
	d->needed = d->needed || opened == RT_CORRUPT;
	return opened == RT_CORRUPT ? RT_OK : opened;
}

bool
rt_cli_recognise(rt_cli *cli)
{
	rt_error err;
	bool ours = false;

	return rt_store_sqlite_recognise(cli->alloc, cli->session.path.ptr, &ours, &err) == RT_OK &&
	       ours;
}

rt_status
rt_cli_salvage_needed(rt_cli *cli, bool *out_needed)
{
	doubt d = {false};
	rt_status st = rt_old_open_store(cli, RT_SESSION_LOOK);

	if (st == RT_OK)
		st = cli->session.store->ops->check(cli->session.store, doubt_store, &d,
						    &cli->error);
	if (st == RT_OK)
		st = rt_cli_each_engine(cli, true, look_at_project, &d);
	if (cli->session.store != NULL)
		rt_cli_close(cli);
	if (st == RT_NOT_OURS && rt_cli_recognise(cli))
		st = RT_CORRUPT;
	if (st == RT_CORRUPT) {
		d.needed = true;
		cli->session.hint[0] = 0;
		st = RT_OK;
	}
	*out_needed = d.needed;
	return st;
}

/* --- doing it --- */

typedef struct telling {
	rt_cli *cli;
	rt_buf *json;
	const rt_text *project;
	bool first;
} telling;

static void
tell_rows(void *ctx, uint64_t first, uint64_t last)
{
	telling *t = ctx;
	rt_cli *cli = t->cli;

	rt_buf_add_f(t->json, "%s[%llu,%llu]", t->first ? "" : ",", (unsigned long long)first,
		     (unsigned long long)last);
	t->first = false;
	if (cli->json || cli->quiet)
		return;
	rt_term_f(&cli->out, first == last ? "lost  step %llu" : "lost  steps %llu to %llu",
		  (unsigned long long)first, (unsigned long long)last);
	rt_term_c(&cli->out, " of project ");
	rt_term_line(&cli->out, rt_text_str(t->project));
	rt_term_c(&cli->out, "\n");
}

static void
tell_project(rt_cli *cli, const rt_text *project, const rt_salvaged *got)
{
	if (cli->json || cli->quiet)
		return;
	/* Texts without a row: there were more rows than anything speaks of. */
	rt_term_f(&cli->out, "kept  steps 1 to %llu of %s%llu of project ",
		  (unsigned long long)got->rows,
		  got->recovered > 0 && got->rows_lost == 0 ? "more than " : "",
		  (unsigned long long)got->rows_known);
	rt_term_line(&cli->out, rt_text_str(project));
	rt_term_c(&cli->out, "\n");
	if (got->state_seq != 0)
		rt_term_f(&cli->out,
			  "kept  the state after step %llu, from the checkpoint; what is after step "
			  "%llu is undone as one step\n",
			  (unsigned long long)got->state_seq, (unsigned long long)got->rows);
	else if (got->rows_unused > 0)
		rt_term_f(&cli->out,
			  "lost  %llu step%s that followed a lost one and cannot be done without it\n",
			  (unsigned long long)got->rows_unused, RT_CLI_S(got->rows_unused));
	if (got->recovered > 0)
		rt_term_f(&cli->out,
			  "kept  %zu text%s whose place is not known, in the new discussion %s\n",
			  got->recovered, RT_CLI_S(got->recovered), got->discussion);
}

static rt_status
salvage_project(rt_cli *cli, rt_store *from, rt_store *to, const rt_text *project, rt_buf *json,
		rt_cli_lost *lost)
{
	telling t = {cli, json, project, true};
	rt_salvaged got;
	rt_status st;

	rt_json_add_comma(json);
	rt_buf_add_c(json, "{\"project\":");
	rt_json_add_string(json, rt_text_str(project));
	rt_buf_add_c(json, ",\"rows_lost\":[");
	st = rt_engine_salvage(cli->alloc, cli->env, from, rt_text_str(project), to, &got, tell_rows,
			       &t, &cli->error);
	if (st != RT_OK)
		return st;
	rt_buf_add_f(json,
		     "],\"rows_kept\":%llu,\"rows_known\":%llu,\"rows_unused\":%llu,"
		     "\"state_of\":%llu,\"texts_lost\":%zu,\"texts_recovered\":%zu",
		     (unsigned long long)got.rows, (unsigned long long)got.rows_known,
		     (unsigned long long)got.rows_unused, (unsigned long long)got.state_seq,
		     got.bodies_lost, got.recovered);
	if (got.recovered > 0) {
		rt_json_add_key(json, "discussion");
		rt_json_add_string(json, rt_str_of(got.discussion));
	}
	rt_buf_add_byte(json, '}');
	lost->steps += got.rows_lost + got.rows_unused;
	if (got.recovered > 0 && got.rows_lost == 0) { /* texts of steps that are gone */
		lost->steps += got.rows_unused == 0;
		lost->at_least = true;
	}
	tell_project(cli, project, &got);
	return RT_OK;
}

static rt_status
salvage_all(rt_cli *cli, const char *parts, const char *copy, rt_buf *json, rt_cli_lost *lost)
{
	rt_store_sqlite_options look = {.read_only = true}, make = {.create = true};
	rt_store *from = NULL, *to = NULL;
	rt_store_salvaged found;
	rt_cli_names names = {0};
	size_t i;
	rt_status st = rt_store_sqlite_salvage(cli->alloc, cli->env, cli->session.path.ptr, parts,
					       &found, &cli->error);

	if (st == RT_OK && found.rows + found.bodies == 0)
		st = rt_old_fail(cli, RT_CORRUPT, "there is no intact row in %s",
				 cli->session.path.ptr);
	if (st == RT_OK)
		st = rt_store_sqlite_open(cli->alloc, cli->env, parts, &look, &from, &cli->error);
	if (st == RT_OK)
		st = rt_store_sqlite_open(cli->alloc, cli->env, copy, &make, &to, &cli->error);
	if (st == RT_OK) {
		cli->session.store = from;
		st = rt_cli_names_read(cli, &names);
		cli->session.store = NULL;
	}
	for (i = 0; st == RT_OK && i < names.count; i++)
		st = salvage_project(cli, from, to, names.items[i], json, lost);
	rt_cli_names_deinit(&names);
	if (from != NULL)
		from->ops->close(from);
	if (to != NULL)
		to->ops->close(to);
	return st;
}

rt_status
rt_cli_salvage(rt_cli *cli, rt_buf *aside, rt_buf *json, rt_cli_lost *lost)
{
	rt_buf parts, copy;
	rt_status st = rt_cli_follow_links(cli);

	rt_buf_init(&parts, cli->alloc, 8192);
	rt_buf_init(&copy, cli->alloc, 8192);
	if (st == RT_OK)
		st = rt_cli_beside(cli, "salvaging", &parts);
	if (st == RT_OK)
		st = rt_cli_beside(cli, "repairing", &copy);
	if (st == RT_OK) {
		rt_host_hold(true);
		st = salvage_all(cli, parts.ptr, copy.ptr, json, lost);
		if (st == RT_OK)
			st = rt_cli_exchange(cli, "before-repair", copy.ptr, aside);
		rt_cli_drop_files(parts.ptr);
		if (st != RT_OK)
			rt_cli_drop_files(copy.ptr);
		rt_host_hold(false);
	}
	rt_buf_deinit(&parts);
	rt_buf_deinit(&copy);
	return st;
}
