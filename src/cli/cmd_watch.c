/* SPDX-License-Identifier: MIT
 *
 * watch: follows the sessions of other programs. A changed file is imported shortly after its first
 * change; the store is open only in that time.
 *
 * Several watchers on one store take turns, so that no session is imported twice.
 * The time of the last import is the time of a file beside the input history: the next watcher
 * begins with what changed since then. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/hash.h"
#include "cli/follow.h"
#include "cli/importing.h"
#include "llm/system_host.h"
#include "store/store_open.h"

enum {
	NAMES_MAX = 32,
	SETTLE_US = 150000,    /* a program writes several records at once */
	REST = 10,             /* an import is followed by ten times its duration without another */
	RETRY_US = 500000,     /* doubled up to RETRY_MAX_US */
	RETRY_MAX_US = 60000000,
	RESCAN_US = 600000000, /* for new files of programs without a directory */
	LIMITED_US = 30000000, /* if not every folder can be watched */
	SLACK_US = 2000000     /* of a rescan, for the resolution of file times */
};

typedef struct pending {
	char *path; /* owned */
	const rt_program *program;
	bool is_due;
	int64_t due_us, rest_us; /* not before */
	int64_t retry_us;        /* after a failure that may pass */
} pending;

typedef struct watching {
	rt_cli *cli;
	rt_follow follow;
	bool once;
	pending *items;
	size_t count, capacity;
	rt_buf *lock, *mark; /* paths; empty: there is no folder for them */
	int64_t begun_us;    /* the last round */
	int64_t scanned_us;
} watching;

static int64_t
now_us(const watching *w)
{
	return w->cli->env->now_us(w->cli->env->ctx);
}

/* --- events --- */

static void
say_event(watching *w, const char *event, bool is_first)
{
	rt_cli *cli = w->cli;
	rt_scope outer;

	if (!cli->json)
		return;
	rt_cli_begin_part(cli, &outer);
	rt_buf *json = rt_scope_buf(&cli->s);
	rt_json_open(json, NULL, '{');
	rt_json_put_c(json, "event", event);
	if (is_first)
		rt_json_put_u64(json, "folders", w->follow.count);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
	rt_term_flush(&cli->out);
	rt_scope_note(&outer, rt_cli_end_part(cli, &outer, NULL));
}

static void
say_watching(watching *w)
{
	rt_cli *cli = w->cli;

	say_event(w, "watching", true);
	if (!cli->json && !cli->quiet && !w->once)
		rt_term_f(&cli->out, "Watching %zu director%s of other programs. To stop: Ctrl+C\n",
			  w->follow.count, w->follow.count == 1 ? "y" : "ies");
	if (w->follow.limited && !w->once)
		rt_cli_note(cli, "not all directories can be watched; all are checked every %d seconds. "
				 "Raise the limit: fs.inotify.max_user_watches (man 7 inotify)",
			    LIMITED_US / 1000000);
	rt_term_flush(&cli->out);
	rt_term_flush(&cli->err);
}

/* --- pending files --- */

static void
changed(void *ctx, const rt_program *program, const char *path)
{
	watching *w = ctx;
	pending *item = NULL, *items;

	for (size_t i = 0; i < w->count && item == NULL; i++)
		if (strcmp(w->items[i].path, path) == 0)
			item = &w->items[i];
	if (item == NULL) {
		char *copy = strdup(path);

		items = copy == NULL ? NULL
				     : rt_scope_grow(&w->cli->s, w->items, w->count, &w->capacity,
						     sizeof(*w->items));
		if (items == NULL) {
			free(copy);
			rt_scope_nomem(&w->cli->s);
			return;
		}
		w->items = items;
		item = &w->items[w->count++];
		*item = (pending){.path = copy, .program = program};
	}
	if (item->is_due && item->retry_us == 0)
		return;
	item->is_due = true;
	item->retry_us = 0;
	item->due_us = now_us(w) + (w->once ? 0 : SETTLE_US);
	if (item->due_us < item->rest_us)
		item->due_us = item->rest_us;
}

static void
free_items(void *ctx)
{
	watching *w = ctx;

	for (size_t i = 0; i < w->count; i++)
		free(w->items[i].path);
	w->count = 0;
}

/* When the next is due; INT64_MAX: none is. */
static int64_t
next_due(const watching *w)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < w->count; i++)
		if (w->items[i].is_due && w->items[i].due_us < due)
			due = w->items[i].due_us;
	return due;
}

/* Removes those that are neither due nor resting. */
static void
drop_done(watching *w)
{
	size_t kept = 0;
	int64_t now = now_us(w);

	for (size_t i = 0; i < w->count; i++) {
		if (w->items[i].is_due || w->items[i].rest_us > now)
			w->items[kept++] = w->items[i];
		else
			free(w->items[i].path);
	}
	w->count = kept;
}

/* --- the lock and the mark --- */

/* The store's path, also of one that does not exist yet; the address of one without a path. */
static void
add_store(rt_cli *cli, rt_buf *out)
{
	const char *address = cli->session.address.ptr, *slash;
	char *whole;

	if (address == NULL)
		return;
	if (rt_store_file(address) == NULL) {
		rt_store_add_place(out, address);
		return;
	}
	slash = strrchr(address, '/');
	rt_str folder = slash == NULL ? RT_STR(".") : rt_str_at(address, (size_t)(slash - address) + 1);
	whole = realpath(rt_scope_copy(&cli->s, folder).ptr, NULL);
	if (whole == NULL && errno == ENOMEM)
		rt_scope_nomem(&cli->s);
	rt_buf_add_c(out, whole == NULL ? "" : whole);
	rt_buf_add_byte(out, '/');
	rt_buf_add_c(out, slash == NULL ? address : slash + 1);
	free(whole);
}

static rt_buf *
state_file(watching *w, rt_str key, const char *end)
{
	rt_buf *path = rt_scope_buf(&w->cli->s);
	char name[64];

	snprintf(name, sizeof(name), "watch/%016llx%s",
		 (unsigned long long)rt_hash(key.ptr, key.size, 1), end);
	bool found = rt_home_path(path, "XDG_STATE_HOME", ".local/state", name);

	if (rt_scope_str(&w->cli->s, path).ptr != NULL && !(found && rt_folders_make(path->ptr)))
		rt_buf_clear(path);
	return path;
}

static void
find_state(watching *w)
{
	rt_buf *key = rt_scope_buf(&w->cli->s);

	if (!rt_cli_find_store(w->cli))
		return;
	add_store(w->cli, key);
	if (rt_scope_str(&w->cli->s, key).ptr == NULL)
		return;
	w->lock = state_file(w, rt_buf_str(key), ".lock");
	rt_buf_add_c(key, "\n");
	rt_buf_add_str(key, rt_session_project(&w->cli->session));
	for (size_t i = 0; i < w->follow.name_count; i++)
		rt_buf_add_f(key, "\n%s", w->follow.names[i]);
	w->mark = state_file(w, rt_buf_str(key), ".time");
}

static int
open_state(const rt_buf *path, int flags)
{
	return path->size == 0 ? -1 : open(path->ptr, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

static int64_t
last_time(const watching *w, int64_t otherwise)
{
	struct stat info;
	int fd = open_state(w->mark, 0);
	bool has = fd >= 0 && fstat(fd, &info) == 0;

	if (fd >= 0)
		(void)close(fd);
	return has ? (int64_t)info.st_mtim.tv_sec * 1000000 + info.st_mtim.tv_nsec / 1000 - SLACK_US
		   : otherwise;
}

/* Everything that changed until then is imported. */
static void
mark_time(const watching *w, int64_t at_us)
{
	const struct timespec at = {at_us / 1000000, at_us % 1000000 * 1000};
	int fd = open_state(w->mark, O_CREAT);

	if (fd < 0)
		return;
	(void)futimens(fd, (struct timespec[]){at, at});
	(void)close(fd);
}

/* --- a round --- */

/* Does a failure pass without a change of the file? */
static bool
may_pass(rt_status status)
{
	return status == RT_BUSY || status == RT_CONFLICT || status == RT_IO || status == RT_FULL ||
	       status == RT_NOMEM || status == RT_INTERRUPTED;
}

static void
import(watching *w, pending *item, bool *is_open)
{
	rt_cli *cli = w->cli;
	rt_cli_importing m = {.cli = cli, .follows = item->program->name, .is_open = *is_open};
	rt_cli_path path = {.name = item->path};
	int64_t begun = now_us(w), end;
	rt_scope outer;

	if (access(item->path, F_OK) != 0) { /* deleted since then */
		item->is_due = false;
		return;
	}
	rt_cli_begin_part(cli, &outer);
	path.source = rt_program_source(&cli->s, item->program, item->path);
	rt_cli_import_file(&m, &path);
	*is_open = m.is_open;
	end = now_us(w);
	item->is_due = may_pass(m.first);
	item->rest_us = end + (end - begun) * REST;
	if (item->is_due) {
		item->retry_us = item->retry_us == 0 ? RETRY_US : item->retry_us * 2;
		if (item->retry_us > RETRY_MAX_US)
			item->retry_us = RETRY_MAX_US;
		item->due_us = end + item->retry_us;
	}
	if (m.first == RT_INTERRUPTED || (m.first == RT_BUSY && item->retry_us < RETRY_MAX_US)) {
		/* it is still being written */
	} else if (cli->json && (m.first != RT_OK || m.steps > 0)) {
		rt_cli_print_json(cli, m.json);
	} else if (m.first != RT_OK) {
		rt_cli_note(cli, "%s", m.error.text);
	}
	if (w->once && m.first != RT_OK)
		cli->exit_code = rt_status_exit_code(m.first);
	rt_term_flush(&cli->out);
	rt_term_flush(&cli->err);
	rt_scope_note(&outer, rt_cli_end_part(cli, &outer, NULL));
}

static void
import_due(watching *w)
{
	rt_cli *cli = w->cli;
	int fd = open_state(w->lock, O_CREAT);
	bool is_open = false;
	int64_t now;

	while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR && !rt_host_interrupted())
		;
	w->begun_us = now = now_us(w);
	for (size_t i = 0; i < w->count && !rt_host_interrupted() && rt_ok(&cli->s); i++)
		if (w->items[i].is_due && w->items[i].due_us <= now)
			import(w, &w->items[i], &is_open);
	rt_cli_close(cli);
	if (fd >= 0)
		(void)close(fd);
	drop_done(w);
	if (next_due(w) == INT64_MAX)
		mark_time(w, w->begun_us);
}

/* --- the command --- */

static void
rescan(watching *w, int64_t since_us)
{
	w->scanned_us = now_us(w);
	rt_follow_rescan(&w->follow, since_us);
}

static void
watch(watching *w)
{
	rt_cli *cli = w->cli;

	while (rt_ok(&cli->s) && !rt_host_interrupted() && cli->out.error == 0) {
		int64_t now = now_us(w), due = next_due(w), scan;

		if (w->follow.lost) {
			say_event(w, "rescan", false);
			rescan(w, w->begun_us - SLACK_US);
			continue;
		}
		scan = w->scanned_us + (w->follow.limited ? LIMITED_US : RESCAN_US);
		if (due <= now) {
			import_due(w);
		} else if (w->once) {
			break;
		} else if (scan <= now) {
			rescan(w, w->begun_us - SLACK_US);
		} else {
			due = (due < scan ? due : scan) - now;
			rt_follow_wait(&w->follow, (int)(due / 1000) + 1);
		}
	}
	if (rt_ok(&cli->s))
		say_event(w, "ended", false);
}

static void
run_watch(rt_cli *cli)
{
	const char **names = rt_scope_array(&cli->s, NAMES_MAX, sizeof(*names));
	watching *w = rt_scope_get(&cli->s, sizeof(*w)); /* closed with the scope, after a failure too */

	if (w == NULL)
		return;
	*w = (watching){.cli = cli,
			.once = rt_cli_has(cli, "once"),
			.follow = {.cli = cli, .fd = -1, .names = names, .changed = changed, .ctx = w}};
	if (cli->args.word_count > NAMES_MAX)
		rt_cli_fail(cli, RT_USAGE, "too many names");
	for (; rt_ok(&cli->s) && w->follow.name_count < cli->args.word_count; w->follow.name_count++)
		names[w->follow.name_count] = rt_cli_word(cli, w->follow.name_count);
	if (rt_ok(&cli->s))
		rt_cli_check_programs(cli, names, &w->follow.name_count);
	if (rt_ok(&cli->s))
		find_state(w);
	if (rt_ok(&cli->s))
		rt_follow_open(&w->follow);
	if (!rt_ok(&cli->s))
		return;
	rt_scope_defer(&cli->s, free_items, w);
	rt_host_hold(true);
	w->begun_us = now_us(w);
	rescan(w, rt_cli_has(cli, "all") ? INT64_MIN : last_time(w, w->begun_us));
	say_watching(w);
	watch(w);
	rt_host_hold(false);
	rt_scope_reset(&cli->s);
}

static const rt_flag watch_flags[] = {
	{"all", 0, NULL, RT_ARG_TEXT, "import existing sessions first"},
	{"once", 0, NULL, RT_ARG_TEXT, "import changes since the last watch, and exit"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_watch = {
	.name = "watch",
	.group = RT_COMMANDS_FILES,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[PROGRAM… | PATH…] [--all]\n[PROGRAM… | PATH…] --once",
	.summary = "import sessions of other programs as they change",
	.about =
		"Follows the session directories of other programs (see retake scan) until Ctrl+C "
		"or SIGTERM. A changed file is imported within a second; each import is a step "
		"that you can undo, and the active discussion stays active. It starts with the "
		"files that changed since the last watch of this project; the first watch "
		"imports only later changes or, with --all, "
		"everything. --json prints one event per "
		"line.",
	.examples = "retake watch --once\nretake watch codex --once --json",
	.flags = watch_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_watch,
};
