/* SPDX-License-Identifier: MIT
 *
 * save, fsck, repair, checkpoint, index. Backups are in cmd_backup.c, doctor in cmd_doctor.c. */
#include "cli/maintenance.h"
#include "app/host.h"
#include "chat/send.h"
#include "cli/embedding.h"
#include "llm/comms_host.h"
#include "log/checkpoint.h"
#include "log/collect.h"
#include "log/index.h"
#include "log/repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* --- save --- */

static void
run_save(rt_cli *cli)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	if (!cli->json) {
		rt_term_c(&cli->out,
			  "Everything is already saved: each change is on disk before it is "
			  "reported.\n");
		rt_cli_advise(cli, "For a backup copy: retake backup FILE\n");
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_json_put_u64(json, "seq", cli->session.value->seq);
	rt_json_put_bool(json, "unchanged", true);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

const rt_command rt_cli_save = {
	.name = "save",
	.group = RT_COMMANDS_MAINTENANCE,
	.usage = "",
	.summary = "confirm that everything is saved",
	.examples = "retake save",
	.run = run_save,
};

/* --- findings --- */

rt_cli_findings
rt_cli_findings_begin(rt_cli *cli)
{
	rt_cli_findings f = {.cli = cli, .json = rt_scope_buf(&cli->s)};

	rt_json_open(f.json, NULL, '[');
	return f;
}

bool
rt_cli_finding(void *ctx, const rt_finding *finding)
{
	rt_cli_findings *f = ctx;
	rt_cli *cli = f->cli;
	bool bad = strcmp(finding->severity, "note") != 0;
	rt_str text = rt_str_of(finding->text);
	/* An error message advises the check that is running. */
	size_t advice = rt_str_find(text, RT_STR("; run retake fsck"), 0);
	rt_buf *json = rt_scope_buf(&cli->s);

	if (advice != SIZE_MAX)
		text.size = advice;
	rt_json_open(json, NULL, '{');
	rt_json_put_c(json, "id", finding->id);
	rt_json_put_str(json, "text", text);
	f->bad += bad;
	rt_json_put_c(json, "severity", finding->severity);
	if (f->project.size > 0)
		rt_json_put_str(json, "project", f->project);
	rt_json_close(json, '}');
	rt_json_put_raw(f->json, NULL, rt_scope_str(&cli->s, json));
	if (cli->json)
		return true;
	rt_term_style(&cli->out, bad ? RT_STYLE_RED : RT_STYLE_DIM);
	rt_term_f(&cli->out, "%s  %s", finding->severity, finding->id);
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_c(&cli->out, "  ");
	rt_term_line(&cli->out, text);
	rt_term_c(&cli->out, "\n");
	return true;
}

/* The failure of the command is a finding, unless it only means that the check was impossible. */
static void
failure_as_finding(rt_cli_findings *f, const char *id)
{
	rt_cli *cli = f->cli;
	rt_status st = cli->s.status;
	rt_finding finding = {id, "error", NULL};
	rt_error error;

	if (st == RT_OK || st == RT_NOMEM || st == RT_IO || st == RT_FULL || st == RT_BUSY ||
	    st == RT_INTERRUPTED)
		return;
	rt_cli_recover(cli, &error);
	finding.text = error.text;
	(void)rt_cli_finding(f, &finding);
}

static void
check_engine(rt_cli *cli, void *ctx, rt_str project, rt_engine *engine)
{
	rt_scope *s = &cli->s;
	rt_cli_findings *f = ctx;

	f->project = project;
	if (engine == NULL) {
		failure_as_finding(f, "project-cannot-open");
		return;
	}
	RT_TRY(s, rt_engine_fsck_project(engine, rt_cli_finding, f, &s->error));
	RT_TRY(s, rt_engine_fsck_replies(engine, rt_cli_finding, f, &s->error));
	RT_TRY(s, rt_engine_fsck_files(engine, rt_cli_finding, f, &s->error));
	failure_as_finding(f, "check-failed");
}

static bool
store_finding(void *ctx, const char *id, const char *text)
{
	return rt_cli_finding(ctx, &(rt_finding){id, "error", text});
}

void
rt_cli_check(rt_cli *cli, rt_cli_findings *findings)
{
	rt_scope *s = &cli->s;
	rt_store *store = cli->session.store;
	rt_error error;

	RT_TRY(s, store->ops->check(store, store_finding, findings, &s->error));
	if (s->status == RT_CORRUPT)
		rt_cli_recover(cli, NULL);
	if (rt_ok(s))
		rt_cli_each_engine(cli, true, check_engine, findings);
	findings->project = rt_str_of(NULL);
	if (s->status != RT_CORRUPT)
		return;
	/* check_engine reports damage of a project: the list itself could not be read. */
	rt_cli_recover(cli, &error);

	rt_buf *text = rt_scope_buf(s);

	rt_buf_add_f(text, "cannot list the projects, so they were not checked: %s",
		     error.text);
	if (rt_scope_str(s, text).ptr != NULL)
		(void)rt_cli_finding(findings, &(rt_finding){"store-projects-unreadable", "error",
							     text->ptr});
}

/* --- fsck --- */

/* A store that cannot even be opened is a finding, not a failure of the check. */
static void
open_for_check(rt_cli *cli, rt_cli_findings *f)
{
	const char *path;
	struct stat info;

	rt_cli_open_store(cli, RT_SESSION_LOOK);
	path = rt_session_file(&cli->session);
	f->cannot = cli->s.status;
	if (f->cannot == RT_NOT_OURS && rt_cli_recognise(cli)) {
		f->cannot = RT_CORRUPT;
		rt_cli_recover(cli, NULL);
		rt_cli_fail(cli, RT_CORRUPT,
			    "cannot open %s: its first page is damaged. Other pages contain rows "
			    "of a Retake store",
			    path);
	} else if (f->cannot == RT_CORRUPT && path != NULL && stat(path, &info) == 0 && info.st_size == 0) {
		f->cannot = RT_NOT_OURS; /* nothing to repair */
	}
	if (f->cannot == RT_CORRUPT || f->cannot == RT_TOO_NEW || f->cannot == RT_NOT_OURS)
		failure_as_finding(f, "store-cannot-open");
}

static void
advise_repair(rt_cli *cli, const rt_cli_findings *f)
{
	if (f->cannot == RT_TOO_NEW)
		rt_term_c(&cli->out, "Use the newer Retake that wrote it.\n");
	else if (f->cannot != RT_NOT_OURS)
		rt_cli_advise(cli,
			      "%zu finding%s. To repair the store: retake repair   "
			      "Otherwise: retake restore BACKUP\n",
			      f->bad, RT_CLI_S(f->bad));
}

static void
run_fsck(rt_cli *cli)
{
	rt_cli_findings f = rt_cli_findings_begin(cli);
	rt_buf *json = rt_scope_buf(&cli->s);

	open_for_check(cli, &f);
	if (rt_ok(&cli->s) && cli->session.store != NULL)
		rt_cli_check(cli, &f);
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_json_close(f.json, ']');
		rt_json_open(json, NULL, '{');
		rt_json_put_bool(json, "clean", f.bad == 0);
		rt_json_put_raw(json, "findings", rt_scope_str(&cli->s, f.json));
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
	} else if (f.bad > 0) {
		advise_repair(cli, &f);
	} else if (!cli->quiet) {
		rt_term_c(&cli->out, "Clean: pages, log, texts, index and checkpoint agree.\n");
	}
	if (f.bad > 0)
		cli->exit_code = 1;
}

const rt_command rt_cli_fsck = {
	.name = "fsck",
	.alias = "verify",
	.group = RT_COMMANDS_MAINTENANCE,
	.usage = "",
	.summary = "check the store without changing it",
	.about =
		"Checks the pages of the file, the checksum of every row, the log for gaps, and "
		"that the checkpoint and the index agree with the log. The exit status is 0 only "
		"if there are no findings.",
	.examples = "retake fsck\nretake fsck --json",
	.run = run_fsck,
};

/* --- repair --- */

/* Parts that repair gave up and rescued; JSON arrays without their ends. */
typedef struct repair {
	rt_cli *cli;
	size_t lost;      /* texts */
	rt_buf *in_view;  /* of these, those in a present take */
	rt_buf *replies;  /* that were kept separately */
	rt_buf *salvaged; /* from the old store */
	rt_collected files;
} repair;

static bool
is_silent(const rt_cli *cli)
{
	return cli->json || cli->quiet;
}

static void
tell_lost(void *ctx, const rt_lost_text *text)
{
	repair *r = ctx;
	rt_term *out = &r->cli->out;

	rt_json_open(r->in_view, NULL, '{');
	rt_json_put_str(r->in_view, "discussion", text->discussion);
	rt_json_put_str(r->in_view, "take", text->take);
	rt_json_put_u64(r->in_view, "position", text->position);
	rt_json_put_c(r->in_view, "entry", text->entry);
	rt_json_close(r->in_view, '}');
	if (is_silent(r->cli))
		return;
	rt_term_f(out, "lost  the text of %s, which is :%zu of take ", text->entry, text->position);
	rt_term_line(out, text->take);
	rt_term_c(out, " in discussion ");
	rt_term_line(out, text->discussion);
	rt_term_c(out, "\n");
}

static void
tell_rescued(void *ctx, const rt_rescued *reply)
{
	repair *r = ctx;
	rt_term *out = &r->cli->out;

	rt_json_open(r->replies, NULL, '{');
	rt_json_put_str(r->replies, "entry", reply->entry);
	rt_json_put_str(r->replies, "take", reply->take);
	rt_json_put_u64(r->replies, "bytes", reply->size);
	rt_json_close(r->replies, '}');
	if (is_silent(r->cli))
		return;
	rt_term_f(out, "kept  an unfinished reply of %zu bytes as %.*s", reply->size,
		  RT_STR_ARG(reply->entry));
	if (reply->take.size > 0) {
		rt_term_c(out, " in the new take ");
		rt_term_line(out, reply->take);
	}
	rt_term_c(out, "\n");
}

/* Lines with a body do not need the files that were sent. */
static bool
see_line(void *ctx, const rt_comms_line *at)
{
	if (!rt_comms_has_body(at->line))
		rt_collect_mark(ctx, at->line);
	return true;
}

static rt_status
look_at_log(void *ctx, rt_str key, rt_collect *collect, rt_error *err)
{
	rt_cli *cli = ctx;
	rt_buf *state = rt_scope_buf(&cli->s);
	char own[RT_COMMS_KEY_ROOM];

	if (rt_host_state_dir(state, err) != RT_OK)
		return RT_NOT_FOUND;
	rt_comms_key(rt_buf_str(state), own);
	return rt_str_is(key, own) &&
			       rt_comms_read(cli->alloc, rt_buf_str(state), see_line, collect, err) == RT_OK
		       ? RT_OK
		       : RT_NOT_FOUND;
}

static void
rebuild(rt_cli *cli, void *ctx, rt_str project, rt_engine *engine)
{
	rt_scope *s = &cli->s;
	repair *r = ctx;
	rt_collected files = {0};
	size_t count = 0;

	(void)project;
	RT_TRY(s, rt_engine_repair(engine, tell_lost, r, &count, &s->error));
	r->lost += count;
	RT_TRY(s, rt_engine_rebuild(engine, &s->error));
	RT_TRY(s, rt_engine_rescue(engine, rt_host_owner_lives, NULL, tell_rescued, r, &s->error));
	RT_TRY(s, rt_engine_collect(engine, look_at_log, cli, &files, &s->error));
	r->files.removed += files.removed;
	r->files.lost += files.lost;
	RT_TRY(s, rt_engine_index(engine, &s->error));
}

/* This version must not rebuild data of a newer one. */
static void
refuse_newer(rt_cli *cli, void *ctx, rt_str project, rt_engine *engine)
{
	(void)ctx;
	(void)project;
	if (engine == NULL)
		rt_cli_recover(cli, NULL);
	else if (rt_engine_newer(engine, &cli->s.error))
		rt_scope_note(&cli->s, RT_TOO_NEW);
}

static void
clear_index(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_store *store = cli->session.store;

	if (RT_TRY(s, store->ops->begin(store, &s->error)) != RT_OK)
		return;
	if (RT_TRY(s, store->ops->drop(store, rt_rows_all(RT_STORE_INDEX, 0), &s->error)) == RT_OK)
		RT_TRY(s, store->ops->commit(store, &s->error));
	else
		store->ops->cancel(store);
}

static void
put_array(rt_cli *cli, rt_buf *json, const char *key, rt_buf *items)
{
	rt_json_close(items, ']');
	rt_json_put_raw(json, key, rt_scope_str(&cli->s, items));
}

static void
repair_json(rt_cli *cli, const repair *r, const rt_cli_findings *f, const char *kept)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '{');
	rt_json_put_bool(json, "clean", f->bad == 0);
	rt_json_put_c(json, "copy", kept);
	rt_json_put_u64(json, "lost", r->lost);
	rt_json_put_u64(json, "files_lost", r->files.lost);
	rt_json_put_u64(json, "files_removed", r->files.removed);
	put_array(cli, json, "lost_in_view", r->in_view);
	put_array(cli, json, "replies", r->replies);
	put_array(cli, json, "salvaged", r->salvaged);
	put_array(cli, json, "findings", f->json);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

/* The result for the store, and its losses. */
static void
say_repaired(rt_cli *cli, bool clean, const rt_cli_lost *lost, size_t texts)
{
	rt_term *out = &cli->out;
	uint64_t steps = lost->steps;

	if (!clean) {
		rt_term_c(out, "The findings above could not be repaired.\n");
		return;
	}
	rt_term_c(out, "The store is consistent again");
	if (steps > 0)
		rt_term_f(out, "; %s%llu step%s", lost->at_least ? "at least " : "",
			  (unsigned long long)steps, RT_CLI_S(steps));
	if (texts > 0)
		rt_term_f(out, "%s%zu text%s", steps > 0 ? " and " : "; ", texts, RT_CLI_S(texts));
	if (steps + texts > 0)
		rt_term_c(out, steps + texts == 1 ? " was lost" : " were lost");
	rt_term_c(out, ".\n");
}

static rt_buf *
begin_array(rt_cli *cli)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '[');
	return json;
}

static void
run_repair(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_term *out = &cli->out;
	rt_cli_findings f = rt_cli_findings_begin(cli);
	repair r = {.cli = cli,
		    .in_view = begin_array(cli),
		    .replies = begin_array(cli),
		    .salvaged = begin_array(cli)};
	rt_cli_lost steps = {0};
	const char *kept = NULL;

	(void)rt_cli_require_file(cli);

	bool salvages = rt_cli_salvage_needed(cli);

	if (rt_ok(s))
		kept = salvages ? rt_cli_salvage(cli, r.salvaged, &steps)
				: rt_cli_keep_copy(cli, "before-repair");
	if (rt_cli_open_store(cli, RT_SESSION_CHANGE)) {
		rt_cli_each_engine(cli, true, refuse_newer, NULL);
		clear_index(cli);
		rt_cli_each_engine(cli, false, rebuild, &r);
		RT_TRY(s, cli->session.store->ops->epoch_renew(cli->session.store, &s->error));
	}
	if (rt_ok(s))
		rt_cli_check(cli, &f);
	if (s->status == RT_CORRUPT)
		rt_cli_hint(cli,
			    "The log itself is damaged. A copy of the damaged store: %s   To "
			    "return to a backup: retake restore BACKUP",
			    kept == NULL ? "" : kept);
	if (!rt_ok(s))
		return;
	if (f.bad > 0)
		cli->exit_code = 1;
	if (cli->json)
		repair_json(cli, &r, &f, kept);
	if (is_silent(cli))
		return;
	if (r.lost > 0)
		rt_term_f(out,
			  "%zu text%s could no longer be read and %s discarded; entries, order and "
			  "history are kept.\n", r.lost, RT_CLI_S(r.lost),
			  r.lost == 1 ? "was" : "were");
	if (r.files.lost > 0)
		rt_term_f(out, "The contents of %zu file%s were lost; %s marked as purged.\n",
			  r.files.lost, RT_CLI_S(r.files.lost),
			  r.files.lost == 1 ? "it is" : "they are");
	if (r.files.removed > 0)
		rt_term_f(out, "Removed %zu file%s that nothing referred to.\n", r.files.removed,
			  RT_CLI_S(r.files.removed));
	rt_term_c(out, salvages ? "Copied everything intact into a new store. "
				: "Rebuilt the checkpoint and the search index from the log. ");
	say_repaired(cli, f.bad == 0, &steps, r.lost);
	rt_term_f(out,
		  salvages ? "The damaged store was kept: %s\n"
			   : "A copy of the previous store: %s\n",
		  kept);
}

const rt_command rt_cli_repair = {
	.name = "repair",
	.group = RT_COMMANDS_MAINTENANCE,
	.usage = "",
	.summary = "rebuild the store from its intact parts and keep the old one",
	.about =
		"Rebuilds the checkpoint and the search index from the log. A damaged text is "
		"discarded; its entry remains, marked as lost. If rows of the log are lost, or "
		"the store cannot be opened, a new store is built from all intact rows and texts "
		"and the state of the checkpoint, and the losses are listed. A reply whose "
		"question no longer exists becomes an entry in a new take. Contents of files that "
		"nothing refers to are removed. The old store is kept.",
	.examples = "retake repair",
	.run = run_repair,
};

/* --- checkpoint, index: normally done automatically --- */

static void
tend(rt_cli *cli, rt_status (*what)(rt_engine *, rt_error *), const char *done)
{
	rt_scope *s = &cli->s;
	rt_buf *json = rt_scope_buf(s);

	rt_cli_open_store(cli, RT_SESSION_MAINTAIN);
	rt_cli_open(cli, RT_SESSION_MAINTAIN);
	RT_TRY(s, what(cli->session.engine, &s->error));
	rt_json_open(json, NULL, '{');
	rt_json_put_bool(json, "done", true);
	rt_json_close(json, '}');
	if (cli->json)
		rt_cli_print_json(cli, json);
	else if (rt_ok(s) && !cli->quiet)
		rt_term_c(&cli->out, done);
}

static void
run_checkpoint(rt_cli *cli)
{
	tend(cli, rt_engine_checkpoint, "Wrote a checkpoint.\n");
}

const rt_command rt_cli_checkpoint = {
	.name = "checkpoint",
	.group = RT_COMMANDS_MAINTENANCE,
	.traits = RT_COMMAND_HIDDEN,
	.usage = "",
	.summary = "write a checkpoint now",
	.run = run_checkpoint,
};

static void
run_index(rt_cli *cli)
{
	rt_embed_state state = {0};
	rt_embedder *e;

	tend(cli, rt_engine_index, "The search index is up to date.\n");
	if (!rt_ok(&cli->s) || rt_cli_config(cli)->embedding_model.size == 0)
		return;
	e = rt_cli_embedder(cli);
	if (rt_ok(&cli->s))
		rt_cli_embed(cli, e, UINT64_MAX / 2, &state);
	if (rt_ok(&cli->s) && !cli->json && !cli->quiet)
		rt_term_f(&cli->out, "Embedded %llu of %llu texts for search by meaning.\n",
			  (unsigned long long)state.done, (unsigned long long)state.all);
}

const rt_command rt_cli_index_command = {
	.name = "index",
	.group = RT_COMMANDS_MAINTENANCE,
	.traits = RT_COMMAND_HIDDEN,
	.usage = "",
	.summary = "update the search index now",
	.run = run_index,
};
