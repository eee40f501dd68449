/* SPDX-License-Identifier: MIT
 *
 * backup, restore: complete copies of the store, checked before they are used.
 *
 * restore never overwrites: the present store is renamed first, and the copy takes its place in
 * one rename. While another program has the store open, nothing is done at all. */
#define _POSIX_C_SOURCE 200809L

#include "cli/maintenance.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/store_sqlite.h"

static bool
exists(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

/* PATH with a suffix. */
static const char *
with_ending(rt_cli *cli, const char *path, const char *ending)
{
	rt_buf *buf = rt_scope_buf(&cli->s);

	rt_buf_add_f(buf, "%s%s", path, ending);
	return rt_scope_str(&cli->s, buf).ptr;
}

const char *
rt_cli_require_file(rt_cli *cli)
{
	const char *file = rt_cli_find_store(cli) ? rt_session_file(&cli->session) : NULL;

	if (rt_ok(&cli->s) && file == NULL)
		rt_cli_fail(cli, RT_REFUSED,
			    "%s requires a store in a file, but %s is not a file",
			    cli->session.command, rt_session_shown(&cli->session));
	return file;
}

const char *
rt_cli_beside(rt_cli *cli, const char *why)
{
	time_t now = (time_t)(cli->env->now_us(cli->env->ctx) / 1000000);
	struct tm parts;
	char when[32] = "";
	rt_buf *out = rt_scope_buf(&cli->s);

	if (gmtime_r(&now, &parts) != NULL)
		(void)strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &parts);
	for (int i = 0; i < 1000; i++) {
		rt_buf_clear(out);
		rt_buf_add_f(out, "%s.%s-%s", cli->session.address.ptr, why, when);
		if (i > 0)
			rt_buf_add_f(out, "-%d", i);
		if (out->ptr == NULL || !exists(out->ptr))
			break;
	}
	return rt_scope_str(&cli->s, out).ptr;
}

void
rt_cli_follow_links(rt_cli *cli)
{
	rt_buf *path = &cli->session.address, *real = rt_scope_buf(&cli->s);
	const char *file = rt_ok(&cli->s) ? rt_session_file(&cli->session) : NULL;

	if (file == NULL)
		return;
	RT_TRY(&cli->s, rt_store_sqlite_real_path(file, real, &cli->s.error));
	if (rt_ok(&cli->s)) {
		rt_buf_clear(path);
		rt_buf_add_str(path, rt_buf_str(real));
		(void)rt_scope_str(&cli->s, path);
	}
}

static void
copy_bytes(rt_cli *cli, const char *from, const char *to)
{
	rt_cli_write_file(cli, to, rt_cli_read_whole_file(cli, from), RT_FILES_PRIVATE);
}

const char *
rt_cli_keep_copy(rt_cli *cli, const char *why)
{
	rt_scope *s = &cli->s;
	const char *copy, *wal;

	rt_cli_follow_links(cli);
	copy = rt_ok(s) ? rt_cli_beside(cli, why) : NULL;
	if (rt_cli_open_store(cli, RT_SESSION_LOOK)) {
		RT_TRY(s, cli->session.store->ops->backup(cli->session.store, copy, &s->error));
		rt_cli_close(cli);
	}
	if (s->status != RT_CORRUPT)
		return copy;
	/* Too damaged for a proper copy: copy every byte of it. */
	rt_cli_recover(cli, NULL);
	copy_bytes(cli, cli->session.address.ptr, copy);
	wal = with_ending(cli, cli->session.address.ptr, "-wal");
	if (rt_ok(s) && exists(wal))
		copy_bytes(cli, wal, with_ending(cli, copy, "-wal"));
	return copy;
}

/* --- backup --- */

/* A store that is not a file is copied to one, project by project. The result gets its name when it
 * is complete. */
static void
backup_by_copy(rt_cli *cli, const char *path)
{
	rt_scope *s = &cli->s;
	rt_store_sqlite_options options = {.create = true};
	const char *part = with_ending(cli, path, ".part");
	rt_store *to = NULL;

	if (exists(path))
		rt_cli_fail(cli, RT_REFUSED, "%s already exists", path);
	else if (exists(part)) /* it may be the copy of another store */
		rt_cli_fail(cli, RT_REFUSED, "%s already exists; remove it if no other backup is running", part);
	RT_TRY(s, rt_store_sqlite_open(cli->alloc, cli->env, part, &options, &to, &s->error));
	if (rt_ok(s))
		rt_cli_copy_projects(cli, cli->session.store, to, RT_STR(""), rt_scope_buf(s));
	RT_TRY(s, to->ops->backup(to, path, &s->error));
	if (to != NULL)
		to->ops->close(to);
	if (to != NULL)
		rt_cli_drop_files(part);
}

static void
run_backup(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const char *path = rt_cli_word(cli, 0);
	rt_buf *out = rt_scope_buf(s);
	struct stat info;
	long long size;

	if (rt_cli_open_store(cli, RT_SESSION_LOOK) && rt_session_file(&cli->session) == NULL)
		backup_by_copy(cli, path);
	else
		RT_TRY(s, cli->session.store->ops->backup(cli->session.store, path, &s->error));
	if (s->status == RT_REFUSED)
		rt_cli_hint(cli, "A backup never replaces a file. Use another name: retake "
				 "backup FILE");
	if (!rt_ok(s))
		return;
	size = stat(path, &info) == 0 ? (long long)info.st_size : 0;
	if (cli->json) {
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "file", path);
		rt_json_put_i64(out, "bytes", size);
		rt_json_close(out, '}');
		rt_cli_print_json(cli, out);
	} else if (!cli->quiet) {
		rt_buf_add_f(out, "Wrote and checked %s (%lld bytes).", path, size);
		rt_cli_say(cli, rt_buf_str(out), "to return to it: retake restore %s", path);
	}
}

const rt_command rt_cli_backup = {
	.name = "backup",
	.group = RT_COMMANDS_MAINTENANCE,
	.min_words = 1,
	.max_words = 1,
	.usage = "FILE",
	.summary = "write a complete, verified copy of the store",
	.about =
		"Works while the store is in use. The copy is itself a store: retake --db FILE "
		"show.",
	.examples = "retake backup ~/retake-$(date +%F).db",
	.kinds = {RT_ARG_FILE},
	.run = run_backup,
};

/* --- restore --- */

/* Copies an intact backup; findings are printed. */
static void
check_backup(rt_cli *cli, const char *path, const char *copy)
{
	rt_scope *s = &cli->s;
	rt_store_sqlite_options options = {.read_only = true};
	rt_cli_findings findings = rt_cli_findings_begin(cli);
	rt_store *store = NULL;

	if (RT_TRY(s, rt_store_sqlite_open(cli->alloc, cli->env, path, &options, &store,
					   &s->error)) != RT_OK)
		return;
	cli->session.store = store;
	rt_cli_check(cli, &findings);
	if (findings.bad > 0)
		rt_cli_fail(cli, RT_CORRUPT, "%s is damaged (%zu finding%s)", path, findings.bad,
			    RT_CLI_S(findings.bad));
	RT_TRY(s, store->ops->backup(store, copy, &s->error));
	cli->session.store = NULL;
	store->ops->close(store);
}

/* Other programs must not confuse the new history with the one they know. Done before the copy
 * takes the store's place, so that nothing can fail after that. Only the file itself takes that
 * place, so all of its log must have gone into it. */
static void
renew_epoch(rt_cli *cli, const char *copy)
{
	rt_scope *s = &cli->s;
	rt_store_sqlite_options options = {.busy_ms = 2000};
	rt_store *store = NULL;
	const char *wal = with_ending(cli, copy, "-wal");
	struct stat info;

	RT_TRY(s, rt_store_sqlite_open(cli->alloc, cli->env, copy, &options, &store, &s->error));
	RT_TRY(s, store->ops->epoch_renew(store, &s->error));
	if (store != NULL)
		store->ops->close(store);
	if (rt_ok(s) && stat(wal, &info) == 0 && info.st_size > 0)
		rt_cli_fail(cli, RT_IO,
			    "the copy %s could not be completed: no space left on the disk, or "
			    "out of memory",
			    copy);
}

void
rt_cli_drop_files(const char *path)
{
	static const char *const endings[] = {"", "-wal", "-shm"};
	char name[4400];

	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", path, endings[i]);
		(void)unlink(name);
	}
}

const char *
rt_cli_exchange(rt_cli *cli, const char *why, const char *copy)
{
	rt_scope *s = &cli->s;
	bool present = exists(cli->session.address.ptr), changed = false;
	const char *aside = rt_cli_beside(cli, why);

	RT_TRY(s, rt_store_sqlite_exchange(cli->alloc, cli->env, cli->session.address.ptr, copy, aside,
					   &changed, &s->error));
	cli->changed = cli->changed || changed;
	if (changed && !rt_ok(s))
		rt_cli_hint(cli, "The previous store: %s", aside);
	else if (s->status == RT_BUSY)
		rt_cli_hint(cli, "Close the other programs that use it and try again. "
				 "Nothing was changed.");
	else if (!rt_ok(s))
		rt_cli_hint(cli, "Nothing was changed.");
	return present ? aside : "";
}

static void
say_restored(rt_cli *cli, const char *from, const char *aside)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (cli->json) {
		rt_json_open(json, NULL, '{');
		rt_json_put_c(json, "restored", from);
		rt_json_put_c(json, "aside", aside[0] != 0 ? aside : NULL);
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
	} else if (!cli->quiet) {
		rt_term_f(&cli->out, "Restored %s.\n", from);
		if (aside[0] != 0)
			rt_cli_advise(cli,
				      "The previous store was kept: %s   to return to it: retake "
				      "restore %s\n",
				      aside, aside);
	}
}

static void
run_restore(rt_cli *cli)
{
	const char *path = rt_cli_word(cli, 0), *copy, *aside = "";

	(void)rt_cli_require_file(cli);
	rt_cli_follow_links(cli);
	if (rt_cli_has(cli, "read-only"))
		rt_cli_fail(cli, RT_READ_ONLY, "restore makes changes, but --read-only was given");
	if (rt_ok(&cli->s) && !exists(path)) {
		rt_cli_hint(cli, "To restore a deleted discussion or entry: retake undo, or retake history "
				 "and retake revert STEP");
		rt_cli_fail(cli, RT_NOT_FOUND, "there is no file %.300s; restore replaces the whole store "
					       "with a backup", path);
	}
	if (rt_ok(&cli->s) && exists(cli->session.address.ptr))
		rt_cli_confirm(cli, "Replace the current store with the backup? (The current store "
				    "is kept under another name.)");
	if (!rt_ok(&cli->s))
		return;
	copy = rt_cli_beside(cli, "restoring");
	rt_host_hold(true); /* interrupted: the copy is removed, then the command ends */
	check_backup(cli, path, copy);
	if (rt_ok(&cli->s) && rt_host_interrupted())
		rt_cli_fail(cli, RT_INTERRUPTED, "interrupted");
	renew_epoch(cli, copy);
	if (rt_ok(&cli->s))
		aside = rt_cli_exchange(cli, "before-restore", copy);
	else
		rt_cli_hint(cli, "Nothing was changed.");
	if (!rt_ok(&cli->s))
		rt_cli_drop_files(copy);
	rt_host_hold(false);
	if (rt_ok(&cli->s))
		say_restored(cli, path, aside);
}

static const rt_flag restore_flags[] = {
	{"yes", 'y', NULL, RT_ARG_TEXT, "do not ask for confirmation"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_restore = {
	.name = "restore",
	.group = RT_COMMANDS_MAINTENANCE,
	.min_words = 1,
	.max_words = 1,
	.usage = "FILE [--yes]",
	.summary = "replace the store with a backup; the old store is kept",
	.about = "The backup is checked first and is not changed. The current store is never "
		 "overwritten: it is renamed.",
	.examples = "retake restore ~/retake-2026-11-21.db",
	.flags = restore_flags,
	.kinds = {RT_ARG_FILE},
	.run = run_restore,
};
