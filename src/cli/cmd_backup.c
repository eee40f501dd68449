/* SPDX-License-Identifier: MIT
 *
 * backup, restore: whole copies of the store, checked before anybody relies on them.
 *
 * restore never overwrites: the present store gets another name first, and the copy takes
 * its place in one rename. While somebody has the store open, nothing is done at all. */
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

/* STORE.why-20261121-203500, with a number behind it where that is taken. */
rt_status
rt_cli_beside(rt_cli *cli, const char *why, rt_buf *out)
{
	time_t now = (time_t)(cli->env->now_us(cli->env->ctx) / 1000000);
	struct tm parts;
	char when[32] = "";
	int i;

	if (gmtime_r(&now, &parts) != NULL)
		(void)strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &parts);
	for (i = 0; i < 1000; i++) {
		rt_buf_clear(out);
		rt_buf_add_f(out, "%s.%s-%s", cli->session.path.ptr, why, when);
		if (i > 0)
			rt_buf_add_f(out, "-%d", i);
		if (out->status != RT_OK || !exists(out->ptr))
			break;
	}
	return rt_old_buf(cli, out);
}

static rt_status
copy_bytes(rt_cli *cli, const char *from, const char *to)
{
	rt_buf bytes;
	rt_status st;

	rt_buf_init(&bytes, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_read_whole_file(cli, from, &bytes);
	if (st == RT_OK)
		st = rt_old_write_file(cli, to, rt_buf_str(&bytes), RT_FILES_PRIVATE);
	rt_buf_deinit(&bytes);
	return st;
}

/* What lies beside a store lies beside its file, not beside a link to it. */
rt_status
rt_cli_follow_links(rt_cli *cli)
{
	rt_buf real;
	rt_status st;

	if (strcmp(cli->session.path.ptr, ":memory:") == 0)
		return RT_OK;
	rt_buf_init(&real, cli->alloc, 8192);
	st = rt_store_sqlite_real_path(cli->session.path.ptr, &real, &cli->error);
	if (st == RT_OK) {
		rt_buf_clear(&cli->session.path);
		rt_buf_add_str(&cli->session.path, rt_buf_str(&real));
		st = rt_old_buf(cli, &cli->session.path);
	}
	rt_buf_deinit(&real);
	return st;
}

rt_status
rt_cli_keep_copy(rt_cli *cli, const char *why, rt_buf *out)
{
	char from[4200], to[4400];
	rt_status st = rt_cli_follow_links(cli);

	if (st == RT_OK)
		st = rt_cli_beside(cli, why, out);
	if (st == RT_OK)
		st = rt_old_open_store(cli, RT_SESSION_LOOK);
	if (st == RT_OK) {
		st = cli->session.store->ops->backup(cli->session.store, out->ptr, &cli->error);
		rt_cli_close(cli);
	}
	if (st != RT_CORRUPT)
		return st;
	/* Too damaged for a proper copy: every byte that is there, then. */
	snprintf(from, sizeof(from), "%s-wal", cli->session.path.ptr);
	snprintf(to, sizeof(to), "%s-wal", out->ptr);
	st = copy_bytes(cli, cli->session.path.ptr, out->ptr);
	if (st == RT_OK && exists(from))
		st = copy_bytes(cli, from, to);
	return st;
}

/* --- backup --- */

static rt_status
run_backup(rt_cli *cli)
{
	const char *path = rt_cli_word(cli, 0);
	struct stat info;
	rt_buf json;
	rt_status st = rt_old_open_store(cli, RT_SESSION_LOOK);

	if (st == RT_OK)
		st = cli->session.store->ops->backup(cli->session.store, path, &cli->error);
	if (st == RT_REFUSED)
		rt_old_hint(cli, st,
			    "A backup never replaces a file. Another name: retake backup FILE");
	if (st != RT_OK)
		return st;
	if (stat(path, &info) != 0)
		info.st_size = 0;
	if (cli->json) {
		rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_c(&json, "{\"file\":");
		rt_json_add_string(&json, rt_str_of(path));
		rt_buf_add_f(&json, ",\"bytes\":%lld}", (long long)info.st_size);
		st = rt_old_print_json(cli, rt_buf_str(&json));
		rt_buf_deinit(&json);
	} else if (!cli->quiet) {
		rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_f(&json, "Wrote and checked %s (%lld bytes).", path,
			     (long long)info.st_size);
		rt_cli_say(cli, rt_buf_str(&json), "go back to it: retake restore %s", path);
		rt_buf_deinit(&json);
	}
	return st;
}

const rt_command rt_cli_backup = {
	.name = "backup",
	.group = RT_COMMANDS_MAINTENANCE,
	.min_words = 1,
	.max_words = 1,
	.usage = "FILE",
	.summary = "write a whole, checked copy of the store",
	.about =
		"Works while others use the store. The copy is itself a store: retake --db FILE show.",
	.examples = "retake backup ~/retake-2026-11-21.db",
	.kinds = {RT_ARG_FILE},
	.run_status = run_backup,
};

/* --- restore --- */

/* Is it sound? Its findings are printed. */
static rt_status
check_backup(rt_cli *cli, const char *path, const char *copy)
{
	rt_store_sqlite_options options = {.read_only = true};
	rt_cli_findings findings;
	rt_store *store = NULL;
	rt_status st = rt_store_sqlite_open(cli->alloc, cli->env, path, &options, &store,
					    &cli->error);

	if (st != RT_OK)
		return rt_old_hint(cli, st, "Nothing was changed.");
	rt_cli_findings_init(cli, &findings);
	cli->session.store = store;
	st = rt_cli_check(cli, &findings);
	if (st == RT_OK && findings.bad > 0)
		st = rt_old_fail(cli, RT_CORRUPT, "%s is damaged (%zu finding%s)", path,
				 findings.bad, RT_CLI_S(findings.bad));
	if (st == RT_OK)
		st = store->ops->backup(store, copy, &cli->error);
	cli->session.store = NULL;
	store->ops->close(store);
	rt_buf_deinit(&findings.json);
	return st == RT_OK ? st : rt_old_hint(cli, st, "Nothing was changed.");
}

static rt_status
say_restored(rt_cli *cli, const char *from, const rt_buf *aside)
{
	rt_buf json;
	rt_status st = RT_OK;

	if (cli->json) {
		rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_c(&json, "{\"restored\":");
		rt_json_add_string(&json, rt_str_of(from));
		rt_json_add_key(&json, "aside");
		if (aside->size > 0)
			rt_json_add_string(&json, rt_buf_str(aside));
		else
			rt_buf_add_c(&json, "null");
		rt_buf_add_byte(&json, '}');
		st = rt_old_print_json(cli, rt_buf_str(&json));
		rt_buf_deinit(&json);
	} else if (!cli->quiet) {
		rt_term_f(&cli->out, "Restored %s.\n", from);
		if (aside->size > 0)
			rt_cli_advise(cli,
				      "The store as it was is kept: %s   "
				      "go back: retake restore %s\n",
				      aside->ptr, aside->ptr);
	}
	return st;
}

/* Others must not take the new history for the one they knew. Done before the copy takes
 * the store's place, so that nothing can fail after that; and it takes it alone, so all of
 * its log must have gone into it. */
static rt_status
renew_epoch(rt_cli *cli, const char *copy)
{
	rt_store_sqlite_options options = {.busy_ms = 2000};
	rt_store *store = NULL;
	char wal[4200];
	struct stat info;
	rt_status st = rt_store_sqlite_open(cli->alloc, cli->env, copy, &options, &store,
					    &cli->error);

	if (st == RT_OK)
		st = store->ops->epoch_renew(store, &cli->error);
	if (store != NULL)
		store->ops->close(store);
	snprintf(wal, sizeof(wal), "%s-wal", copy);
	if (st == RT_OK && stat(wal, &info) == 0 && info.st_size > 0)
		st = rt_old_fail(cli, RT_IO,
				 "the copy %s could not be finished: no space left on the disk, or "
				 "out of memory",
				 copy);
	return st == RT_OK ? st : rt_old_hint(cli, st, "Nothing was changed.");
}

void
rt_cli_drop_files(const char *copy)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char name[4400];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", copy, ends[i]);
		(void)unlink(name);
	}
}

rt_status
rt_cli_exchange(rt_cli *cli, const char *why, const char *copy, rt_buf *aside)
{
	bool present = exists(cli->session.path.ptr), changed = false;
	rt_status st = rt_cli_beside(cli, why, aside);

	if (st != RT_OK)
		return st;
	st = rt_store_sqlite_exchange(cli->alloc, cli->env, cli->session.path.ptr, copy, aside->ptr,
				      &changed, &cli->error);
	if (changed)
		cli->changed = true;
	else if (st == RT_BUSY)
		rt_old_hint(cli, st,
			    "Close the other programs that use it and try again. "
			    "Nothing was changed.");
	else if (st != RT_OK)
		rt_old_hint(cli, st, "Nothing was changed.");
	if (changed && st != RT_OK)
		rt_old_hint(cli, st, "The store as it was: %s", aside->ptr);
	if (!present)
		rt_buf_clear(aside);
	return st;
}

static rt_status
restore(rt_cli *cli, const char *path, rt_buf *copy, rt_buf *aside)
{
	rt_status st = rt_cli_beside(cli, "restoring", copy);

	if (st == RT_OK)
		st = check_backup(cli, path, copy->ptr);
	if (st != RT_OK)
		return st;
	rt_host_hold(true);
	st = renew_epoch(cli, copy->ptr);
	if (st == RT_OK)
		st = rt_cli_exchange(cli, "before-restore", copy->ptr, aside);
	if (st != RT_OK)
		rt_cli_drop_files(copy->ptr);
	rt_host_hold(false);
	return st;
}

static rt_status
run_restore(rt_cli *cli)
{
	const char *path = rt_cli_word(cli, 0);
	rt_buf copy, aside;
	rt_status st = rt_old_find_store(cli);

	if (st == RT_OK)
		st = rt_cli_follow_links(cli);
	if (st != RT_OK)
		return st;
	if (rt_cli_has(cli, "read-only"))
		return rt_old_fail(cli, RT_READ_ONLY,
				   "restore changes things, and --read-only was given");
	if (exists(cli->session.path.ptr)) {
		st = rt_old_confirm(cli, "Put the backup in the place of the present store "
					 "(which is kept under another name)?");
		if (st != RT_OK)
			return st;
	}
	rt_buf_init(&copy, cli->alloc, 8192);
	rt_buf_init(&aside, cli->alloc, 8192);
	st = restore(cli, path, &copy, &aside);
	if (st == RT_OK)
		st = say_restored(cli, path, &aside);
	rt_buf_deinit(&copy);
	rt_buf_deinit(&aside);
	return st;
}

static const rt_flag restore_flags[] = {
	{"yes", 'y', NULL, RT_ARG_TEXT, "do not ask"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_restore = {
	.name = "restore",
	.group = RT_COMMANDS_MAINTENANCE,
	.min_words = 1,
	.max_words = 1,
	.usage = "FILE [--yes]",
	.summary = "put a backup in the place of the store, which is kept",
	.about = "The backup is checked first and stays as it is. The present store is never "
		 "overwritten: it gets another name beside it.",
	.examples = "retake restore ~/retake-2026-11-21.db",
	.flags = restore_flags,
	.kinds = {RT_ARG_FILE},
	.run_status = run_restore,
};
