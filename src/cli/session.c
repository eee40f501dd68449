/* SPDX-License-Identifier: MIT
 *
 * The session: which store, project, discussion and take a command works on, opened once.
 *
 * Looking opens the store for reading only and never makes a file: where there is no
 * store yet, an empty one in memory stands in for it. */
#define _XOPEN_SOURCE 700

#include "cli/maintenance.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chat/send.h"
#include "llm/comms_host.h"
#include "store/store_open.h"
#include "store/store_sqlite.h"
#include "app/input_history_host.h"

enum { WINDOW = 200 /* entries read at a time */ };

static rt_status
find_default(rt_cli *cli)
{
	rt_status st = rt_host_data_dir(&cli->path, &cli->error);

	if (st != RT_OK)
		return rt_cli_hint(cli, st, "Name a store: retake --db FILE …");
	rt_buf_add_c(&cli->path, "/retake.db");
	return rt_cli_buf(cli, &cli->path);
}

rt_status
rt_cli_find_store(rt_cli *cli)
{
	const char *path = rt_cli_flag_value(cli, "db");

	if (cli->path.size > 0)
		return RT_OK;
	if (path == NULL)
		path = getenv("RETAKE_DB");
	if (path == NULL || (*path == 0 && rt_cli_flag_value(cli, "db") == NULL))
		return find_default(cli);
	if (*path == 0)
		return rt_cli_fail(cli, RT_USAGE, "--db is given no file");
	if (strncmp(path, "postgres:", 9) == 0 || strncmp(path, "postgresql:", 11) == 0) {
		rt_cli_hint(cli, RT_REFUSED, "Until then, a file: retake --db FILE …");
		return rt_cli_fail(cli, RT_REFUSED,
				   "stores in PostgreSQL come with a later version of Retake");
	}
	cli->path_given = cli->path_named = true;
	rt_buf_add_c(&cli->path, path);
	return rt_cli_buf(cli, &cli->path);
}

static rt_status
open_scratch(rt_cli *cli, const char *address)
{
	cli->is_scratch = true;
	return rt_store_open(cli->alloc, cli->env, address, NULL, &cli->store, &cli->error);
}

/* What can be done about a file that does not open. */
static void
hint_store(rt_cli *cli, rt_status st)
{
	struct stat info;

	if (cli->hint[0] != 0)
		return;
	if (st == RT_NOT_FOUND)
		rt_cli_hint(cli, st,
			    "The first change makes it: retake add TEXT   "
			    "A tour: retake demo");
	else if (st == RT_CORRUPT && stat(cli->path.ptr, &info) == 0 && info.st_size == 0)
		rt_cli_hint(cli, st, "Remove it, or name another file: retake --db FILE …");
}

/* A file that is named is made; a folder that is not there is more likely a slip. */
static rt_status
check_folder(rt_cli *cli)
{
	const char *slash = strrchr(cli->path.ptr, '/');
	struct stat info;
	rt_buf folder;
	rt_status st;

	if (!cli->path_named || slash == NULL || slash == cli->path.ptr)
		return RT_OK;
	rt_buf_init(&folder, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add(&folder, cli->path.ptr, (size_t)(slash - cli->path.ptr));
	rt_buf_add_byte(&folder, '\0');
	st = rt_cli_buf(cli, &folder);
	if (st == RT_OK && stat(folder.ptr, &info) != 0 && errno == ENOENT) {
		rt_cli_hint(cli, RT_NOT_FOUND, "Make it: mkdir -p %s   Or name another: retake --db FILE …",
			    folder.ptr);
		st = rt_cli_fail(cli, RT_NOT_FOUND, "there is no folder %s for the store %s",
				 folder.ptr, cli->path.ptr);
	}
	rt_buf_deinit(&folder);
	return st;
}

rt_status
rt_cli_open_store(rt_cli *cli, rt_cli_mode mode)
{
	rt_store_options options = {0};
	struct stat info;
	bool is_new;
	rt_status st;

	if (cli->store != NULL)
		return RT_OK;
	st = rt_cli_find_store(cli);
	if (st != RT_OK)
		return st;
	if (mode == RT_CLI_CHANGE && rt_cli_has(cli, "read-only"))
		return rt_cli_fail(cli, RT_READ_ONLY,
				   "%s changes things, and --read-only was given",
				   cli->args.command->name);
	if (!rt_store_kind_of(cli->path.ptr)->has_file)
		return open_scratch(cli, cli->path.ptr);
	if (mode == RT_CLI_TEND &&
	    (rt_cli_has(cli, "read-only") || access(cli->path.ptr, W_OK) != 0))
		mode = RT_CLI_LOOK;
	options.create = mode == RT_CLI_CHANGE;
	options.read_only = mode == RT_CLI_LOOK;
	options.relaxed = rt_cli_has(cli, "relaxed");
	is_new = options.create && stat(cli->path.ptr, &info) != 0;
	st = is_new ? check_folder(cli) : RT_OK;
	if (st != RT_OK)
		return st;
	st = rt_store_open(cli->alloc, cli->env, cli->path.ptr, &options, &cli->store,
			   &cli->error);
	if (st == RT_OK && is_new) {
		cli->made_store = true;
		/* For people; what talks to apply wants nothing else to be said. */
		cli->say_made = !cli->json && cli->args.command->group != RT_CLI_LEARNING &&
				strcmp(cli->args.command->name, "apply") != 0;
	}
	hint_store(cli, st);
	return st;
}

void
rt_cli_say_made(rt_cli *cli)
{
	if (cli->say_made)
		rt_cli_note(cli, "made a new store: %s", cli->path.ptr);
	cli->say_made = false;
}

void
rt_cli_end_made(rt_cli *cli, bool failed)
{
	bool removed = false;

	if (!cli->made_store)
		return;
	if (!failed || rt_cli_follow_links(cli) != RT_OK ||
	    rt_store_sqlite_remove_empty(cli->alloc, cli->env, cli->path.ptr, &removed,
					 &cli->error) != RT_OK ||
	    !removed)
		rt_cli_say_made(cli);
}

/* --- projects --- */

typedef struct project_names {
	rt_buf buf;
	size_t count;
} project_names;

static bool
add_project(void *ctx, const rt_store_row *row)
{
	project_names *names = ctx;

	rt_buf_add_f(&names->buf, "%s%.*s", names->count++ == 0 ? "" : ", ",
		     row->data.size > 60 ? 60 : (int)row->data.size, row->data.ptr);
	return names->buf.size < 600;
}

static rt_status
hint_projects(rt_cli *cli, rt_status status)
{
	project_names names = {.count = 0};

	rt_buf_init(&names.buf, cli->alloc, 2048);
	if (cli->store->ops->read(cli->store, rt_rows_all(RT_STORE_PROJECTS, 0), add_project,
				  &names, NULL) == RT_OK &&
	    names.count > 0)
		rt_cli_hint(cli, status, "Projects here: %s   Choose one: retake -p NAME …",
			    names.buf.ptr == NULL ? "" : names.buf.ptr);
	else
		rt_cli_hint(cli, status, "There is no project yet; the first change makes one.");
	rt_buf_deinit(&names.buf);
	return status;
}

rt_str
rt_cli_project_name(const rt_cli *cli)
{
	const char *name = rt_cli_flag_value(cli, "project");

	if (name == NULL)
		name = getenv("RETAKE_PROJECT");
	return name == NULL || *name == 0 ? RT_STR("default") : rt_str_of(name);
}

/* The record of requests may repeat what a server said of a text, and what was written on a
 * terminal is kept for the next time. */
static void
purged(void *ctx, rt_str text)
{
	rt_cli *cli = ctx;
	char *store = realpath(cli->store->place, NULL);
	rt_input_history_key whose = {.store = rt_str_of(store),
				      .project = rt_cli_project_name(cli)};
	size_t count = 0;
	rt_buf state;
	rt_error err;

	rt_buf_init(&state, cli->alloc, RT_BUF_UNLIMITED);
	if (rt_host_state_dir(&state, NULL) == RT_OK) {
		if (rt_comms_purge(cli->alloc, rt_buf_str(&state), NULL, text, &count, &err) != RT_OK)
			rt_cli_note(cli, "the record of requests may still hold it: %s", err.text);
		else if (count > 0)
			rt_cli_note(cli, "%zu line%s of the record of requests held it, and no longer do",
				    count, RT_CLI_S(count));
		whose.folder = rt_buf_str(&state);
		if (rt_input_history_purge(cli->alloc, &whose, text, &count, &err) != RT_OK)
			rt_cli_note(cli, "what was written on a terminal may still hold it: %s", err.text);
		else if (count > 0)
			rt_cli_note(cli, "%zu text%s written on a terminal held it, and no longer do%s",
				    count, RT_CLI_S(count), count == 1 ? "es" : "");
	}
	free(store);
	rt_buf_deinit(&state);
}

static rt_status
open_engine(rt_cli *cli, rt_cli_mode mode)
{
	rt_engine_options options;
	rt_error newer;
	rt_status st;
	rt_buf by;

	if (rt_cli_flag_value(cli, "project") != NULL && *rt_cli_flag_value(cli, "project") == 0)
		return rt_cli_fail(cli, RT_USAGE, "-p is given no name");
	memset(&options, 0, sizeof(options));
	options.alloc = cli->alloc;
	options.env = cli->env;
	options.project = rt_cli_project_name(cli);
	rt_buf_init(&by, cli->alloc, 256);
	options.by = rt_cli_by(&by);
	options.read_only = cli->store->is_read_only;
	options.create = mode == RT_CLI_CHANGE || cli->is_scratch;
	options.git_commit = rt_host_git_commit;
	options.git_ctx = &cli->git;
	options.purged = purged;
	options.purged_ctx = cli;
	st = rt_engine_open(&options, cli->store, &cli->engine, &cli->error);
	rt_buf_deinit(&by);
	if (st == RT_NOT_FOUND)
		return hint_projects(cli, st);
	/* A change says so itself: it is refused. */
	if (st == RT_OK && mode != RT_CLI_CHANGE && rt_engine_newer(cli->engine, &newer))
		rt_cli_note(cli, "newer steps are not shown: %s", newer.text);
	return st;
}

/* ---- replies that a program left behind ---- */

static bool
owner_lives(void *ctx, rt_str owner, int64_t written_us)
{
	(void)ctx;
	return rt_host_owner_lives(owner, written_us);
}

static bool
is_left(void *ctx, const rt_inflight_view *inflight)
{
	bool *left = ctx;

	*left = !inflight->is_stranded &&
		!rt_host_owner_lives(inflight->owner, inflight->written_us);
	return !*left;
}

/* What a crash left of a reply becomes part of the conversation before anybody looks at it.
 * Where only reading was asked for, the store is opened for writing for that moment, if it
 * may be. */
static rt_status
keep_left(rt_cli *cli, rt_cli_mode mode)
{
	bool left = false;
	size_t kept = 0;
	rt_status st;

	if (cli->is_scratch || rt_engine_inflight(cli->engine, is_left, &left, NULL) != RT_OK ||
	    !left)
		return RT_OK;
	if (mode == RT_CLI_LOOK) {
		if (rt_cli_has(cli, "read-only") || access(cli->path.ptr, W_OK) != 0) {
			rt_cli_note(cli, "a reply was left unfinished by a program that ended; it is "
					 "kept by the next command that may write");
			return RT_OK;
		}
		rt_engine_close(cli->engine);
		cli->engine = NULL;
		cli->store->ops->close(cli->store);
		cli->store = NULL;
		st = rt_cli_open_store(cli, RT_CLI_CHANGE);
		if (st == RT_OK)
			st = open_engine(cli, RT_CLI_LOOK);
		if (st != RT_OK)
			return st;
	}
	st = rt_engine_keep_left(cli->engine, owner_lives, NULL, &kept, &cli->error);
	if (kept > 0)
		rt_cli_note(cli, "kept what had arrived of %zu repl%s when a program ended; it is marked "
				 "as partial", kept, kept == 1 ? "y" : "ies");
	return st;
}

rt_status
rt_cli_open(rt_cli *cli, rt_cli_mode mode)
{
	rt_status st = rt_cli_open_store(cli, mode);

	if (st == RT_NOT_FOUND && mode != RT_CLI_CHANGE) {
		if (cli->path_given && cli->verbose)
			rt_cli_note(cli, "%s is not there yet; the first change makes it",
				    cli->path.ptr);
		cli->hint[0] = 0;
		st = open_scratch(cli, ":memory:");
	}
	if (st == RT_OK && cli->engine == NULL) {
		st = open_engine(cli, mode);
		if (st == RT_OK)
			st = keep_left(cli, mode);
		if (st == RT_OK)
			st = rt_cli_hear(cli, mode);
	}
	return st == RT_OK ? rt_cli_look(cli) : st;
}

void
rt_cli_close(rt_cli *cli)
{
	rt_cli_close_hooks(cli);
	rt_object_unref(cli->value);
	cli->value = NULL;
	rt_engine_close(cli->engine);
	cli->engine = NULL;
	if (cli->store != NULL)
		cli->store->ops->close(cli->store);
	cli->store = NULL;
	cli->is_scratch = false;
}

/* --- the place --- */

rt_str
rt_cli_disc_name(const rt_cli *cli)
{
	return rt_str_of(rt_cli_flag_value(cli, "discussion"));
}

rt_str
rt_cli_take_name(const rt_cli *cli)
{
	return rt_str_of(rt_cli_flag_value(cli, "take"));
}

static rt_status
find_place(rt_cli *cli)
{
	const rt_disc *disc = NULL;
	rt_place place = {0, 0};
	rt_status st;

	/* First the discussion alone, to know which of the two names was wrong. */
	st = rt_resolve_place(cli->value, rt_cli_disc_name(cli), rt_str_of(NULL), &place,
			      &cli->error);
	if (st != RT_OK && rt_cli_args_glued(&cli->args, "discussion") != NULL)
		return rt_cli_hint(cli, st,
				   "Discussions: retake ls   "
				   "A text that begins with a dash goes behind --: -- %s",
				   rt_cli_args_glued(&cli->args, "discussion"));
	if (st != RT_OK)
		return rt_cli_hint(cli, st, "Discussions: retake ls");
	if (place.disc == 0)
		place.disc = cli->value->active;
	st = rt_project_disc(cli->value, place.disc, &disc, &cli->error);
	if (st != RT_OK)
		return st;
	if (rt_cli_take_name(cli).size > 0) {
		st = rt_resolve_place(cli->value, rt_cli_disc_name(cli), rt_cli_take_name(cli),
				      &place, &cli->error);
		if (st != RT_OK)
			return rt_cli_hint(cli, st, "Takes: retake takes");
		if (place.disc == 0)
			place.disc = cli->value->active;
	}
	if (place.take == 0)
		place.take = disc->active;
	cli->place = place;
	return RT_OK;
}

rt_status
rt_cli_look(rt_cli *cli)
{
	const char *at = rt_cli_flag_value(cli, "at-op");
	uint64_t seq;
	rt_status st;

	rt_object_unref(cli->value);
	cli->value = NULL;
	if (at == NULL) {
		cli->value = rt_engine_value(cli->engine);
	} else {
		st = rt_cli_number(cli, at, "the number of a step", &seq);
		if (st == RT_OK)
			st = rt_engine_value_at(cli->engine, seq, &cli->value, &cli->error);
		if (st == RT_NOT_FOUND)
			rt_cli_hint(cli, st, "Steps: retake history");
		if (st != RT_OK)
			return st;
	}
	return find_place(cli);
}

rt_status
rt_cli_disc(rt_cli *cli, const rt_disc **out)
{
	return rt_project_disc(cli->value, cli->place.disc, out, &cli->error);
}

rt_status
rt_cli_take(rt_cli *cli, const rt_take **out)
{
	const rt_disc *disc = NULL;
	rt_status st = rt_cli_disc(cli, &disc);

	if (st != RT_OK)
		return st;
	*out = rt_disc_take(disc, cli->place.take);
	return *out != NULL ? RT_OK : rt_cli_fail(cli, RT_NOT_FOUND, "there is no such take");
}

rt_status
rt_cli_id_at(rt_cli *cli, size_t at, char room[RT_ID_ROOM])
{
	const rt_take *take = NULL;
	rt_slot slot;
	rt_status st = rt_cli_take(cli, &take);

	if (st == RT_OK)
		st = rt_seq_get(take->slots, at, &slot, &cli->error);
	return st == RT_OK ? rt_entry_id(cli->value, slot.entry, room, &cli->error) : st;
}

/* "@-N": N entries before the head. */
static rt_status
before_head(rt_cli *cli, const char *address, size_t back, char room[RT_ID_ROOM])
{
	const rt_disc *disc = NULL;
	size_t at = 0;
	rt_status st = rt_cli_disc(cli, &disc);

	if (st == RT_OK)
		st = rt_disc_head_at(cli->value, disc, &at, &cli->error);
	if (st != RT_OK)
		return st;
	/* The head stands behind entry at - 1 of the active take. */
	if (at < back + 1)
		return rt_cli_fail(cli, RT_NOT_FOUND,
				   "there is no entry %s: only %zu before the head", address,
				   at == 0 ? at : at - 1);
	cli->place.take = disc->active;
	return rt_cli_id_at(cli, at - 1 - back, room);
}

rt_status
rt_cli_address(rt_cli *cli, const char *address, char room[RT_ID_ROOM], rt_str *out)
{
	uint64_t back = 1;
	uint32_t take = cli->place.take;
	rt_status st;

	*out = rt_str_of(address);
	if (address[0] != '@' || address[1] != '-')
		return RT_OK;
	if (address[2] != 0) {
		st = rt_cli_number(cli, address + 2, "how far before the head", &back);
		if (st != RT_OK)
			return st;
	}
	st = before_head(cli, address, (size_t)(back > UINT32_MAX ? UINT32_MAX : back), room);
	cli->place.take = take;
	*out = rt_str_of(room);
	return st;
}

/* Is this the whole id of an entry of another discussion? Its name to out. */
static bool
is_elsewhere(rt_cli *cli, rt_str id, rt_buf *out)
{
	size_t i, count = rt_project_disc_count(cli->value);
	char whole[RT_ID_ROOM];
	rt_error none;

	if (id.size == 0 || id.ptr[0] == ':' || id.ptr[0] == '@')
		return false;
	for (i = 1; i <= count; i++) {
		const rt_cell *cell = rt_project_cell(cli->value, (uint32_t)i);
		rt_place place = {(uint32_t)i, 0};
		uint32_t entry = 0;

		if (cell == NULL || !cell->present || i == cli->place.disc ||
		    rt_resolve_entry(cli->value, place, id, true, &entry, &none) != RT_OK ||
		    rt_entry_id(cli->value, entry, whole, &none) != RT_OK ||
		    !rt_str_is(id, whole))
			continue;
		rt_buf_add_str(out, rt_cell_name(cell));
		return true;
	}
	return false;
}

void
rt_cli_hint_entry(rt_cli *cli, const char *address, rt_status status)
{
	const rt_disc *disc = NULL;
	rt_buf name, quoted;

	/* A label is whole already; more of it would not help. */
	if (status == RT_AMBIGUOUS && strstr(cli->error.text, "is the label of") != NULL)
		rt_cli_hint(cli, status, "Name one by its id. Labels: retake label");
	if (status != RT_NOT_FOUND || rt_cli_disc(cli, &disc) != RT_OK)
		return;
	rt_buf_init(&name, cli->alloc, 4096);
	rt_buf_init(&quoted, cli->alloc, 4096);
	if (is_elsewhere(cli, rt_str_of(address), &name) && name.ptr != NULL) {
		rt_cli_add_quoted(&quoted, name.ptr);
		rt_cli_hint(cli, status, "It is in discussion \"%.200s\": retake -d %.300s show %s",
			    name.ptr, quoted.ptr == NULL ? "" : quoted.ptr, address);
	}
	rt_buf_deinit(&name);
	rt_buf_deinit(&quoted);
	if (cli->hint[0] != 0)
		return;
	if (rt_disc_take_named(disc, rt_str_of(address)) != 0)
		rt_cli_hint(cli, status, "That is a take. Go to it: retake takes switch %s",
			    address);
	else if (address[0] >= '0' && address[0] <= '9' &&
		 strspn(address, "0123456789") == strlen(address))
		rt_cli_hint(cli, status, "Positions begin with a colon: :%s   Entries: retake show",
			    address);
}

rt_status
rt_cli_entry(rt_cli *cli, const char *address, bool whole, uint32_t *out_entry)
{
	char room[RT_ID_ROOM];
	rt_error kept = cli->error;
	rt_str plain;
	rt_status st = rt_cli_address(cli, address, room, &plain);

	if (st != RT_OK)
		return st;
	st = rt_resolve_entry(cli->value, cli->place, plain, whole, out_entry, &cli->error);
	if (st != RT_OK) {
		kept = cli->error;
		rt_cli_hint_entry(cli, address, st);
		cli->error = kept;
	}
	return st;
}

rt_status
rt_cli_position(rt_cli *cli, const char *address, size_t *out_at, rt_slot *out_slot)
{
	const rt_take *take = NULL;
	rt_slot slot;
	uint32_t entry = 0;
	bool found = false;
	rt_status st = rt_cli_entry(cli, address, false, &entry);

	if (st == RT_OK)
		st = rt_cli_take(cli, &take);
	if (st == RT_OK)
		st = rt_take_find(cli->value, take, entry, out_at, &slot, &found, &cli->error);
	if (st == RT_OK && !found)
		st = rt_cli_fail(cli, RT_NOT_FOUND, "entry \"%.80s\" is not in take \"%s\"",
				 address, take->name->ptr);
	if (st == RT_OK && out_slot != NULL)
		*out_slot = slot;
	return st;
}

/* Both ends of "A..B" cut at dots; empty ends are the ends of the take. */
static rt_status
range_at(rt_cli *cli, const char *range, const char *dots, size_t count, size_t *out_first,
	 size_t *out_last)
{
	char first[RT_ID_ROOM * 4];
	rt_status st = RT_OK;

	if ((size_t)(dots - range) >= sizeof(first))
		return rt_cli_fail(cli, RT_NOT_FOUND, "no entry matches \"%.80s\"", range);
	memcpy(first, range, (size_t)(dots - range));
	first[dots - range] = 0;
	*out_first = 0;
	*out_last = count - 1;
	if (first[0] != 0)
		st = rt_cli_position(cli, first, out_first, NULL);
	if (st == RT_OK && dots[2] != 0)
		st = rt_cli_position(cli, dots + 2, out_last, NULL);
	if (st == RT_OK && *out_first > *out_last)
		st = rt_cli_fail(cli, RT_USAGE, "in \"%.80s\" the end comes before the beginning",
				 range);
	return st;
}

rt_status
rt_cli_range(rt_cli *cli, const char *range, size_t *out_first, size_t *out_last)
{
	const char *dots = strstr(range, "..");
	const rt_take *take = NULL;
	rt_error whole;
	rt_status st = rt_cli_take(cli, &take), first;
	size_t count;

	if (st != RT_OK)
		return st;
	count = rt_seq_count(take->slots);
	/* An id may hold dots, so the whole goes first. */
	first = rt_cli_position(cli, range, out_first, NULL);
	*out_last = *out_first;
	if (first == RT_OK || dots == NULL)
		return first;
	whole = cli->error;
	cli->hint[0] = 0;
	if (count == 0)
		return rt_cli_fail(cli, RT_NOT_FOUND, "take \"%s\" is empty", take->name->ptr);
	for (st = RT_NOT_FOUND; dots != NULL && st == RT_NOT_FOUND; dots = strstr(dots + 1, ".."))
		st = range_at(cli, range, dots, count, out_first, out_last);
	if (st == RT_NOT_FOUND && first != RT_NOT_FOUND) {
		cli->error = whole;
		return first;
	}
	return st;
}

/* --- views --- */

void
rt_cli_view_init(rt_cli *cli, rt_cli_view *view)
{
	memset(view, 0, sizeof(*view));
	rt_buf_init(&view->buf, cli->alloc, RT_BUF_UNLIMITED);
}

void
rt_cli_view_deinit(rt_cli_view *view)
{
	rt_json_free(view->doc);
	view->doc = NULL;
	view->root = NULL;
	rt_buf_deinit(&view->buf);
}

rt_status
rt_cli_view_read(rt_cli *cli, rt_cli_view *view, rt_status status)
{
	if (status == RT_OK)
		status = rt_cli_buf(cli, &view->buf);
	if (status == RT_OK)
		status = rt_json_read(cli->alloc, rt_buf_str(&view->buf), &view->doc, &cli->error);
	if (status == RT_OK)
		view->root = rt_json_root(view->doc);
	return status;
}

rt_status
rt_cli_each_window(rt_cli *cli, size_t first, size_t last, rt_cli_window_fn fn, void *ctx)
{
	rt_status st = RT_OK;
	size_t at = first;

	/* Once at least, so that an empty take has its frame. */
	do {
		size_t left = last >= at ? last - at + 1 : 0;
		rt_window window = {at, left < WINDOW ? left : WINDOW, rt_str_of(NULL)};
		rt_cli_view view;

		rt_cli_view_init(cli, &view);
		st = rt_view_show(cli->engine, cli->value, cli->place, &window, &view.buf,
				  &cli->error);
		st = rt_cli_view_read(cli, &view, st);
		if (st == RT_OK)
			st = fn(cli, ctx, view.root, at);
		rt_cli_view_deinit(&view);
		at += WINDOW;
	} while (st == RT_OK && at <= last && last != SIZE_MAX && !cli->out.broken);
	return st;
}

rt_status
rt_cli_print_json(rt_cli *cli, rt_str json)
{
	cli->json_done = true;
	while (json.size > 0 && json.ptr[json.size - 1] == '\n')
		json.size--;
	rt_term_json(&cli->out, json);
	rt_term_json(&cli->out, RT_STR("\n"));
	return RT_OK;
}
