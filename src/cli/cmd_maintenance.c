/* SPDX-License-Identifier: MIT
 *
 * save, fsck, repair, checkpoint, index: keeping a store well. Backups are in
 * cmd_backup.c, doctor in cmd_doctor.c. */
#include "cli/maintenance.h"
#include "chat/send.h"
#include "log/checkpoint.h"
#include "log/index.h"
#include "log/repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* --- save --- */

static rt_status
run_save(rt_cli *cli)
{
	rt_buf buf;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st != RT_OK)
		return st;
	if (!cli->json) {
		rt_term_c(&cli->out,
			  "Everything is saved already: each change is on disk before it "
			  "is reported.\n");
		rt_cli_advise(cli, "A copy for safe keeping: retake backup FILE\n");
		return RT_OK;
	}
	rt_buf_init(&buf, cli->alloc, 256);
	rt_buf_add_f(&buf, "{\"seq\":%llu,\"unchanged\":true}",
		     (unsigned long long)cli->session.value->seq);
	st = rt_old_print_json(cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return st;
}

const rt_command rt_cli_save = {
	.name = "save",
	.group = RT_COMMANDS_MAINTENANCE,
	.usage = "",
	.summary = "say that everything is saved already",
	.run_status = run_save,
};

/* --- every project of the store --- */

static bool
keep_name(void *ctx, const rt_store_row *row)
{
	rt_cli_names *names = ctx;
	size_t room = (names->count + 1) * sizeof(*names->items);
	const rt_text **items = rt_resize(names->alloc, names->items, room);

	if (items == NULL) {
		names->nomem = true;
		return false;
	}
	names->items = items;
	names->items[names->count] = rt_text_new(names->alloc, row->data);
	names->nomem = names->items[names->count] == NULL;
	names->count += !names->nomem;
	return !names->nomem;
}

rt_status
rt_cli_names_read(rt_cli *cli, rt_cli_names *out)
{
	rt_status st;

	memset(out, 0, sizeof(*out));
	out->alloc = cli->alloc;
	st = cli->session.store->ops->read(cli->session.store, rt_rows_all(RT_STORE_PROJECTS, 0), keep_name, out,
				   &cli->error);
	return st == RT_OK && out->nomem ? rt_old_nomem(cli) : st;
}

void
rt_cli_names_deinit(rt_cli_names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		rt_text_unref(names->items[i]);
	if (names->alloc != NULL)
		rt_free(names->alloc, names->items);
}

rt_status
rt_cli_each_engine(rt_cli *cli, bool lenient, rt_cli_engine_fn fn, void *ctx)
{
	rt_engine_options options;
	rt_cli_names names;
	rt_status st = rt_cli_names_read(cli, &names), first = RT_OK;
	size_t i;

	for (i = 0; st == RT_OK && i < names.count; i++) {
		rt_engine *engine = NULL;

		memset(&options, 0, sizeof(options));
		options.alloc = cli->alloc;
		options.env = cli->env;
		options.project = rt_text_str(names.items[i]);
		options.by = RT_STR("cli");
		options.read_only = cli->session.store->is_read_only;
		options.lenient = lenient;
		st = rt_engine_open(&options, cli->session.store, &engine, &cli->error);
		st = fn(cli, ctx, names.items[i], engine, st);
		rt_engine_close(engine);
		if (st != RT_OK && first == RT_OK)
			first = st;
	}
	rt_cli_names_deinit(&names);
	return first != RT_OK ? first : st;
}

/* --- findings --- */

static bool
is_known(const rt_cli_findings *f, rt_str id, rt_str text)
{
	rt_buf key;
	bool known;

	rt_buf_init(&key, f->cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&key, "{\"id\":");
	rt_json_add_string(&key, id);
	rt_buf_add_c(&key, ",\"text\":");
	rt_json_add_string(&key, text);
	known = rt_str_find(rt_buf_str(&f->json), rt_buf_str(&key), 0) != SIZE_MAX;
	rt_buf_deinit(&key);
	return known;
}

bool
rt_cli_finding(void *ctx, const rt_finding *finding)
{
	rt_cli_findings *f = ctx;
	bool bad = strcmp(finding->severity, "note") != 0;
	rt_str text = rt_str_at(finding->text, rt_utf8_valid_size(rt_str_of(finding->text)));
	size_t advice = rt_str_find(text, RT_STR("; run retake fsck"), 0);

	/* An error message advises the check that is running. */
	if (advice != SIZE_MAX)
		text.size = advice;

	/* What is about the whole store comes once for every project. */
	if (is_known(f, rt_str_of(finding->id), text))
		return true;
	f->count++;
	f->bad += bad;
	rt_json_add_comma(&f->json);
	rt_buf_add_c(&f->json, "{\"id\":");
	rt_json_add_string(&f->json, rt_str_of(finding->id));
	rt_buf_add_c(&f->json, ",\"text\":");
	rt_json_add_string(&f->json, text);
	rt_buf_add_c(&f->json, ",\"severity\":");
	rt_json_add_string(&f->json, rt_str_of(finding->severity));
	if (f->project != NULL) {
		rt_json_add_key(&f->json, "project");
		rt_json_add_string(&f->json, rt_text_str(f->project));
	}
	rt_buf_add_byte(&f->json, '}');
	if (f->cli->json)
		return true;
	rt_term_style(&f->cli->out, bad ? RT_STYLE_RED : RT_STYLE_DIM);
	rt_term_f(&f->cli->out, "%s  %s", finding->severity, finding->id);
	rt_term_style(&f->cli->out, RT_STYLE_NONE);
	rt_term_c(&f->cli->out, "  ");
	rt_term_line(&f->cli->out, text);
	rt_term_c(&f->cli->out, "\n");
	return true;
}

void
rt_cli_findings_init(rt_cli *cli, rt_cli_findings *findings)
{
	memset(findings, 0, sizeof(*findings));
	findings->cli = cli;
	rt_buf_init(&findings->json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&findings->json, '[');
}

/* Does it say something about the store? Everything else only says that we could not look. */
static bool
is_finding(rt_status status)
{
	return status != RT_NOMEM && status != RT_IO && status != RT_FULL && status != RT_BUSY &&
	       status != RT_INTERRUPTED;
}

static rt_status
check_engine(rt_cli *cli, void *ctx, const rt_text *project, rt_engine *engine, rt_status opened)
{
	rt_cli_findings *f = ctx;
	rt_finding cannot = {"project-cannot-open", "error", cli->error.text};
	rt_status st;

	f->project = project;
	if (opened != RT_OK) {
		if (!is_finding(opened))
			return opened;
		(void)rt_cli_finding(f, &cannot);
		return RT_OK;
	}
	st = rt_engine_fsck_project(engine, rt_cli_finding, f, &cli->error);
	if (st == RT_OK)
		st = rt_engine_fsck_replies(engine, rt_cli_finding, f, &cli->error);
	if (st != RT_OK && is_finding(st)) {
		cannot.id = "check-failed";
		(void)rt_cli_finding(f, &cannot);
		st = RT_OK;
	}
	return st;
}

static bool
store_finding(void *ctx, const char *id, const char *text)
{
	rt_finding finding = {id, "error", text};

	return rt_cli_finding(ctx, &finding);
}

rt_status
rt_cli_check(rt_cli *cli, rt_cli_findings *findings)
{
	rt_status st = cli->session.store->ops->check(cli->session.store, store_finding, findings,
						      &cli->error);
	rt_finding finding = {"store-projects-unreadable", "error", NULL};
	rt_buf text;

	if (st == RT_OK || st == RT_CORRUPT)
		st = rt_cli_each_engine(cli, true, check_engine, findings);
	findings->project = NULL;
	if (st != RT_CORRUPT)
		return st;
	/* check_engine reports damage of a project: the list itself could not be read. */
	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&text, "the projects cannot be listed, so they were not checked: %s",
		     cli->error.text);
	rt_buf_add_byte(&text, '\0');
	st = rt_old_buf(cli, &text);
	finding.text = text.ptr;
	if (st == RT_OK)
		(void)rt_cli_finding(findings, &finding);
	rt_buf_deinit(&text);
	return st;
}

/* --- fsck --- */

/* A store that cannot even be opened is a finding, not a failure to look. */
static rt_status
open_for_check(rt_cli *cli, rt_cli_findings *f)
{
	rt_status st = rt_old_open_store(cli, RT_SESSION_LOOK);
	rt_finding finding = {"store-cannot-open", "error", cli->error.text};
	struct stat info;

	if (st != RT_CORRUPT && st != RT_TOO_NEW && st != RT_NOT_OURS)
		return st;
	cli->session.hint[0] = 0;
	if (st == RT_NOT_OURS && rt_cli_recognise(cli))
		st = rt_old_fail(cli, RT_CORRUPT,
				 "%s cannot be opened: its first page is damaged. Other pages hold "
				 "rows of a Retake store",
				 cli->session.path.ptr);
	else if (st == RT_CORRUPT && stat(cli->session.path.ptr, &info) == 0 && info.st_size == 0)
		st = RT_NOT_OURS; /* nothing to repair */
	f->cannot = st;
	(void)rt_cli_finding(f, &finding);
	return RT_OK;
}

static void
advise_repair(rt_cli *cli, const rt_cli_findings *f)
{
	if (f->cannot == RT_NOT_OURS)
		return;
	if (f->cannot == RT_TOO_NEW)
		rt_term_c(&cli->out, "Use the newer Retake that wrote it.\n");
	else
		rt_cli_advise(cli,
			      "%zu finding%s. What can be rebuilt: retake repair   "
			      "Else: retake restore BACKUP\n",
			      f->bad, RT_CLI_S(f->bad));
}

static rt_status
run_fsck(rt_cli *cli)
{
	rt_cli_findings f;
	rt_status st;
	rt_buf buf;

	rt_cli_findings_init(cli, &f);
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	st = open_for_check(cli, &f);
	if (st == RT_OK && cli->session.store != NULL)
		st = rt_cli_check(cli, &f);
	if (st == RT_OK && cli->json) {
		rt_buf_add_f(&buf, "{\"clean\":%s,\"findings\":", f.bad == 0 ? "true" : "false");
		rt_buf_add_str(&buf, rt_buf_str(&f.json));
		rt_buf_add_c(&buf, "]}");
		st = rt_old_buf(cli, &buf);
		if (st == RT_OK)
			st = rt_old_print_json(cli, rt_buf_str(&buf));
	} else if (st == RT_OK && f.bad == 0) {
		if (!cli->quiet)
			rt_term_c(&cli->out,
				  "Clean: pages, log, texts, index and checkpoint agree.\n");
	} else if (st == RT_OK) {
		advise_repair(cli, &f);
	}
	if (st == RT_OK && f.bad > 0)
		cli->exit_code = 1;
	rt_buf_deinit(&buf);
	rt_buf_deinit(&f.json);
	return st;
}

const rt_command rt_cli_fsck = {
	.name = "fsck",
	.alias = "verify",
	.group = RT_COMMANDS_MAINTENANCE,
	.usage = "",
	.summary = "check the store; changes nothing",
	.about =
		"Checks the file's pages, every row's checksum, the log for gaps, and that the "
		"checkpoint and the index say what the log says. The exit status is 0 only when all is "
		"well.",
	.examples = "retake fsck\nretake fsck --json",
	.run_status = run_fsck,
};

/* --- repair --- */

/* Texts that repair gave up. */
typedef struct lost_texts {
	rt_cli *cli;
	size_t count;
	rt_buf json;    /* of those that a take shows */
	size_t rescued; /* replies that lay aside */
	rt_buf replies; /* of these */
} lost_texts;

static void
tell_lost(void *ctx, const rt_lost_text *text)
{
	lost_texts *lost = ctx;
	rt_cli *cli = lost->cli;

	rt_json_add_comma(&lost->json);
	rt_buf_add_c(&lost->json, "{\"discussion\":");
	rt_json_add_string(&lost->json, text->discussion);
	rt_buf_add_c(&lost->json, ",\"take\":");
	rt_json_add_string(&lost->json, text->take);
	rt_buf_add_f(&lost->json, ",\"position\":%zu,\"entry\":\"%s\"}", text->position, text->entry);
	if (cli->json || cli->quiet)
		return;
	rt_term_f(&cli->out, "lost  the text of %s, which is :%zu of take ", text->entry,
		  text->position);
	rt_term_line(&cli->out, text->take);
	rt_term_c(&cli->out, " in discussion ");
	rt_term_line(&cli->out, text->discussion);
	rt_term_c(&cli->out, "\n");
}

static void
tell_rescued(void *ctx, const rt_rescued *reply)
{
	lost_texts *lost = ctx;
	rt_cli *cli = lost->cli;

	lost->rescued++;
	rt_json_add_comma(&lost->replies);
	rt_buf_add_c(&lost->replies, "{\"entry\":");
	rt_json_add_string(&lost->replies, reply->entry);
	rt_json_add_key(&lost->replies, "take");
	rt_json_add_string(&lost->replies, reply->take);
	rt_buf_add_f(&lost->replies, ",\"bytes\":%zu}", reply->size);
	if (cli->json || cli->quiet)
		return;
	rt_term_f(&cli->out, "kept  a reply of %zu bytes that lay aside, as %.*s", reply->size,
		  RT_STR_ARG(reply->entry));
	if (reply->take.size > 0) {
		rt_term_c(&cli->out, " in the new take ");
		rt_term_line(&cli->out, reply->take);
	}
	rt_term_c(&cli->out, "\n");
}

static bool
owner_lives(void *ctx, rt_str owner, int64_t written_us)
{
	(void)ctx;
	return rt_host_owner_lives(owner, written_us);
}

static rt_status
rebuild(rt_cli *cli, void *ctx, const rt_text *project, rt_engine *engine, rt_status opened)
{
	lost_texts *lost = ctx;
	size_t count = 0;

	(void)project;
	if (opened == RT_OK)
		opened = rt_engine_repair(engine, tell_lost, lost, &count, &cli->error);
	lost->count += count;
	if (opened == RT_OK)
		opened = rt_engine_rebuild(engine, &cli->error);
	if (opened == RT_OK)
		opened = rt_engine_rescue(engine, owner_lives, NULL, tell_rescued, lost,
					  &cli->error);
	return opened == RT_OK ? rt_engine_index(engine, &cli->error) : opened;
}

/* What a newer version wrote is not for this one to rebuild. */
static rt_status
refuse_newer(rt_cli *cli, void *ctx, const rt_text *project, rt_engine *engine, rt_status opened)
{
	(void)ctx;
	(void)project;
	return opened == RT_OK && rt_engine_newer(engine, &cli->error) ? RT_TOO_NEW : RT_OK;
}

static rt_status
clear_index(rt_cli *cli)
{
	const rt_store_ops *ops = cli->session.store->ops;
	rt_status st = ops->begin(cli->session.store, &cli->error);

	if (st != RT_OK)
		return st;
	st = ops->drop(cli->session.store, rt_rows_all(RT_STORE_INDEX, 0), &cli->error);
	if (st == RT_OK)
		return ops->commit(cli->session.store, &cli->error);
	ops->cancel(cli->session.store);
	return st;
}

/* What became of the store, and what it has lost. */
static void
say_result(rt_cli *cli, bool clean, const rt_cli_lost *lost, size_t texts)
{
	rt_term *out = &cli->out;
	uint64_t steps = lost->steps;

	if (!clean) {
		rt_term_c(out, "What is listed above could not be repaired.\n");
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

static rt_status
run_repair(rt_cli *cli)
{
	rt_cli_findings f;
	lost_texts lost = {.cli = cli};
	rt_buf kept, json, salvaged;
	rt_cli_lost lost_steps = {0};
	bool salvage = false;
	rt_status st = rt_old_find_store(cli);

	if (st != RT_OK)
		return st;
	rt_buf_init(&salvaged, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&lost.json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&lost.replies, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&kept, cli->alloc, 8192);
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_findings_init(cli, &f);
	st = rt_cli_salvage_needed(cli, &salvage);
	if (st == RT_OK && salvage)
		st = rt_cli_salvage(cli, &kept, &salvaged, &lost_steps);
	else if (st == RT_OK)
		st = rt_cli_keep_copy(cli, "before-repair", &kept);
	if (st == RT_OK)
		st = rt_old_open_store(cli, RT_SESSION_CHANGE);
	if (st == RT_OK)
		st = rt_cli_each_engine(cli, true, refuse_newer, NULL);
	if (st == RT_OK)
		st = clear_index(cli);
	if (st == RT_OK)
		st = rt_cli_each_engine(cli, false, rebuild, &lost);
	if (st == RT_OK)
		st = cli->session.store->ops->epoch_renew(cli->session.store, &cli->error);
	if (st == RT_OK)
		st = rt_cli_check(cli, &f);
	if (st == RT_CORRUPT)
		rt_old_hint(cli, st,
			    "The log itself is damaged. A copy as it was: %s   "
			    "Go back to a backup: retake restore BACKUP",
			    kept.ptr == NULL ? "" : kept.ptr);
	if (st == RT_OK && cli->json) {
		rt_buf_add_f(&json, "{\"clean\":%s,\"copy\":", f.bad == 0 ? "true" : "false");
		rt_json_add_string(&json, rt_buf_str(&kept));
		rt_buf_add_f(&json, ",\"lost\":%zu,\"lost_in_view\":[", lost.count);
		rt_buf_add_str(&json, rt_buf_str(&lost.json));
		rt_buf_add_c(&json, "],\"replies\":[");
		rt_buf_add_str(&json, rt_buf_str(&lost.replies));
		rt_buf_add_c(&json, "],\"salvaged\":[");
		rt_buf_add_str(&json, rt_buf_str(&salvaged));
		rt_buf_add_c(&json, "],\"findings\":");
		rt_buf_add_str(&json, rt_buf_str(&f.json));
		rt_buf_add_c(&json, "]}");
		st = rt_old_print_json(cli, rt_buf_str(&json));
	} else if (st == RT_OK && !cli->quiet) {
		if (lost.count > 0)
			rt_term_f(&cli->out,
				  "%zu text%s could not be read any more and %s given up; entries, order "
				  "and history stay.\n", lost.count, RT_CLI_S(lost.count),
				  lost.count == 1 ? "was" : "were");
		rt_term_c(&cli->out,
			  salvage ? "Put what is intact into a new store. "
				  : "Rebuilt the checkpoint and the search index from the log. ");
		say_result(cli, f.bad == 0, &lost_steps, lost.count);
		rt_term_f(&cli->out,
			  salvage ? "The damaged store is kept as it was: %s\n"
				  : "A copy as it was before: %s\n",
			  kept.ptr);
	}
	if (st == RT_OK && f.bad > 0)
		cli->exit_code = 1;
	rt_buf_deinit(&f.json);
	rt_buf_deinit(&kept);
	rt_buf_deinit(&json);
	rt_buf_deinit(&lost.json);
	rt_buf_deinit(&lost.replies);
	rt_buf_deinit(&salvaged);
	return st;
}

const rt_command rt_cli_repair = {
	.name = "repair",
	.group = RT_COMMANDS_MAINTENANCE,
	.usage = "",
	.summary = "rebuild the store from what is intact; the damaged one is kept",
	.about =
		"The checkpoint and the search index are made anew from the log. A text that is damaged "
		"is given up: its entry stays, marked as lost. Where rows of the log are lost, or the "
		"store cannot be opened, a new store is made from every row and text that is intact, "
		"and the state of the checkpoint; what is lost is listed. A reply whose target is gone "
		"becomes an entry in a take of its own. The store as it was is kept beside it.",
	.examples = "retake repair",
	.run_status = run_repair,
};

/* --- checkpoint, index: done by themselves, and by hand for whoever wants to --- */

static rt_status
tend(rt_cli *cli, rt_status (*what)(rt_engine *, rt_error *), const char *done)
{
	rt_status st = rt_old_open_store(cli, RT_SESSION_MAINTAIN);

	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_MAINTAIN);
	if (st == RT_OK)
		st = what(cli->session.engine, &cli->error);
	if (st == RT_OK && cli->json)
		st = rt_old_print_json(cli, RT_STR("{\"done\":true}"));
	else if (st == RT_OK && !cli->quiet)
		rt_term_c(&cli->out, done);
	return st;
}

static rt_status
run_checkpoint(rt_cli *cli)
{
	return tend(cli, rt_engine_checkpoint, "Wrote a checkpoint.\n");
}

const rt_command rt_cli_checkpoint = {
	.name = "checkpoint",
	.group = RT_COMMANDS_MAINTENANCE,
	.traits = RT_COMMAND_HIDDEN,
	.usage = "",
	.summary = "write a checkpoint now",
	.run_status = run_checkpoint,
};

static rt_status
run_index(rt_cli *cli)
{
	return tend(cli, rt_engine_index, "The search index is up to date.\n");
}

const rt_command rt_cli_index_command = {
	.name = "index",
	.group = RT_COMMANDS_MAINTENANCE,
	.traits = RT_COMMAND_HIDDEN,
	.usage = "",
	.summary = "bring the search index up to date now",
	.run_status = run_index,
};
