/* SPDX-License-Identifier: MIT
 *
 * The store, project, discussion and take of a run, opened once. */
#define _XOPEN_SOURCE 700

#include "app/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/args.h"
#include "app/input_history_host.h"
#include "chat/send.h"
#include "llm/comms_host.h"
#include "store/store_open.h"

void
rt_session_init(rt_session *s, const rt_alloc *alloc, const rt_env *env)
{
	memset(s, 0, sizeof(*s));
	s->alloc = alloc;
	s->env = env;
	rt_buf_init(&s->address, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&s->shown, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&s->similar, alloc, RT_BUF_UNLIMITED);
}

void
rt_session_deinit(rt_session *s)
{
	rt_session_close(s);
	rt_buf_deinit(&s->address);
	rt_buf_deinit(&s->shown);
	rt_buf_deinit(&s->similar);
}

/* ---- messages ---- */

rt_status
rt_session_hint(rt_session *s, rt_status status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(s->hint, sizeof(s->hint), format, ap);
	va_end(ap);
	return status;
}

void
rt_session_note(const rt_session *s, const char *format, ...)
{
	char text[1024];
	va_list ap;

	if (s->note == NULL)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	s->note(s->note_ctx, text);
}

void
rt_session_note_lines(const rt_session *s, rt_str lines)
{
	while (lines.size > 0) {
		size_t end = rt_str_find(lines, RT_STR("\n"), 0);

		if (end == SIZE_MAX)
			end = lines.size;
		if (end > 0)
			rt_session_note(s, "%.*s", (int)end, lines.ptr);
		end += end < lines.size;
		lines.ptr += end;
		lines.size -= end;
	}
}

static rt_status
address_status(const rt_session *s, rt_error *err)
{
	return s->address.status == RT_OK ? RT_OK : rt_fail(err, s->address.status, "out of memory");
}

/* ---- the store ---- */

static rt_status
find_default(rt_session *s, rt_error *err)
{
	rt_status st = rt_host_data_dir(&s->address, err);

	if (st != RT_OK)
		return rt_session_hint(s, st, "Name a store: retake --db FILE …");
	rt_buf_add_c(&s->address, "/retake.db");
	return address_status(s, err);
}

rt_status
rt_session_find_store(rt_session *s, rt_error *err)
{
	const char *path = s->given.db;

	if (s->address.size > 0)
		return RT_OK;
	if (path == NULL)
		path = getenv("RETAKE_DB");
	if (path == NULL || (*path == 0 && s->given.db == NULL))
		return find_default(s, err);
	if (*path == 0)
		return rt_fail(err, RT_USAGE, "--db needs a file");
	s->path_given = s->path_named = true;
	rt_buf_add_c(&s->address, path);
	if (rt_store_file(path) == NULL)
		rt_store_add_place(&s->shown, path);
	if (s->shown.status != RT_OK)
		s->address.status = s->shown.status;
	return address_status(s, err);
}

void
rt_session_free_name(const rt_project *value, char out[RT_SESSION_NAME_ROOM])
{
	unsigned number = 2;

	do
		(void)snprintf(out, RT_SESSION_NAME_ROOM, "discussion-%u", number++);
	while (rt_project_disc_named(value, rt_str_of(out)) != 0);
}

const char *
rt_session_file(const rt_session *s)
{
	return s->address.size > 0 ? rt_store_file(s->address.ptr) : NULL;
}

const char *
rt_session_shown(const rt_session *s)
{
	const rt_buf *shown = s->shown.size > 0 ? &s->shown : &s->address;

	return shown->ptr == NULL ? "" : shown->ptr;
}

/* A store that is not a file reports itself when it is written to. */
static bool
may_write(const rt_session *s)
{
	const char *file = rt_session_file(s);

	return !s->read_only && (file == NULL || access(file, W_OK) == 0);
}

static rt_status
open_scratch(rt_session *s, const char *address, rt_error *err)
{
	s->is_scratch = true;
	return rt_store_open(s->alloc, s->env, address, NULL, &s->store, err);
}

/* The next step for a file that cannot be opened. */
static void
hint_store(rt_session *s, rt_status st)
{
	struct stat info;

	if (s->hint[0] != 0)
		return;
	if (st == RT_NOT_FOUND)
		rt_session_hint(s, st,
				"The first change creates it: retake add TEXT   A tour: retake "
				"demo");
	else if (st == RT_CORRUPT && rt_session_file(s) != NULL &&
		 stat(rt_session_file(s), &info) == 0 && info.st_size == 0)
		rt_session_hint(s, st, "Remove it, or name another file: retake --db FILE …");
}

/* A file that is named is created; a folder that does not exist is more likely a typing error. */
static rt_status
check_folder(rt_session *session, const char *file, rt_error *err)
{
	const char *slash = strrchr(file, '/');
	struct stat info;
	rt_scope s;

	if (!session->path_named || slash == NULL || slash == file)
		return RT_OK;
	rt_scope_init(&s, session->alloc);
	rt_str folder = rt_scope_copy(&s, rt_str_at(file, (size_t)(slash - file)));
	if (rt_ok(&s) && stat(folder.ptr, &info) != 0 && errno == ENOENT) {
		rt_session_hint(session, RT_NOT_FOUND,
				"Create it: mkdir -p %s   Or use another file: retake --db FILE …",
				folder.ptr);
		rt_scope_fail(&s, RT_NOT_FOUND, "the directory %s of the store %s does not exist",
			      folder.ptr, file);
	}
	return rt_scope_end(&s, err);
}

rt_status
rt_session_open_store(rt_session *s, rt_session_mode mode, rt_error *err)
{
	struct stat info;

	if (s->store != NULL)
		return RT_OK;
	rt_status st = rt_session_find_store(s, err);
	if (st != RT_OK)
		return st;
	const char *address = s->address.ptr, *file = rt_session_file(s);
	if (mode == RT_SESSION_CHANGE && s->read_only)
		return rt_fail(err, RT_READ_ONLY, "%s makes changes, but --read-only was given",
			       s->command);
	if (rt_store_kind_of(address)->is_memory)
		return open_scratch(s, address, err);
	if (mode == RT_SESSION_MAINTAIN && !may_write(s))
		mode = RT_SESSION_LOOK;
	rt_store_options options = {.create = mode == RT_SESSION_CHANGE,
				    .read_only = mode == RT_SESSION_LOOK,
				    .relaxed = s->relaxed};
	bool is_new = options.create && file != NULL && stat(file, &info) != 0;
	st = is_new ? check_folder(s, file, err) : RT_OK;
	if (st != RT_OK)
		return st;
	st = rt_store_open(s->alloc, s->env, address, &options, &s->store, err);
	s->made_store = s->made_store || (st == RT_OK && is_new);
	hint_store(s, st);
	return st;
}

char *
rt_session_store_path(const rt_session *s)
{
	if (s->store == NULL || s->is_scratch)
		return NULL;

	const char *file = rt_session_file(s);

	return file != NULL ? realpath(file, NULL) : strdup(rt_session_shown(s));
}

/* ---- the project ---- */

typedef struct project_names {
	rt_buf buf;
	size_t count;
} project_names;

static bool
add_project(void *ctx, const rt_store_row *row)
{
	project_names *names = ctx;

	if (rt_store_is_reserved(row->data))
		return true;
	rt_buf_add_f(&names->buf, "%s%.*s", names->count++ == 0 ? "" : ", ",
		     row->data.size > 60 ? 60 : (int)row->data.size, row->data.ptr);
	return names->buf.size < 600;
}

static rt_status
hint_projects(rt_session *s, rt_status status)
{
	project_names names = {.count = 0};

	rt_buf_init(&names.buf, s->alloc, 2048);
	if (s->store->ops->read(s->store, rt_rows_all(RT_STORE_PROJECTS, 0), add_project, &names,
				NULL) == RT_OK &&
	    names.count > 0)
		rt_session_hint(s, status, "Projects here: %s   Choose one: retake -p NAME …",
				names.buf.ptr == NULL ? "" : names.buf.ptr);
	else
		rt_session_hint(s, status, "There is no project yet; the first change creates "
					   "one.");
	rt_buf_deinit(&names.buf);
	return status;
}

rt_str
rt_session_project(const rt_session *s)
{
	const char *name = s->given.project;

	if (name == NULL)
		name = getenv("RETAKE_PROJECT");
	return name == NULL || *name == 0 ? RT_STR("default") : rt_str_of(name);
}

/* The log of requests contains the texts that were sent, and the input history those typed on a
 * terminal. The log is purged of the text in the lines of every project: a line names its store by
 * path, so those of a store that was moved or copied cannot be attributed. A failure of one does
 * not prevent purging the other. */
static rt_status
purged(void *ctx, rt_str text, rt_error *err)
{
	rt_session *session = ctx;
	char *store = rt_session_store_path(session);
	rt_status logged = RT_OK, typed = RT_OK;
	rt_error why, other;
	size_t count = 0;
	rt_scope s;

	rt_scope_init(&s, session->alloc);
	rt_buf *state = rt_scope_buf(&s);
	RT_TRY(&s, rt_host_state_dir(state, &s.error));
	rt_input_history_key whose = {.folder = rt_scope_str(&s, state),
				      .store = rt_str_of(store),
				      .project = rt_session_project(session)};
	if (rt_ok(&s)) {
		logged = rt_comms_purge(session->alloc, whose.folder, NULL, text, &count, &why);
		if (logged == RT_OK && count > 0)
			rt_session_note(session,
					"the text was removed from %zu line%s of the request log",
					count, count == 1 ? "" : "s");
		typed = rt_input_history_purge(session->alloc, &whose, text, &count, &other);
		if (typed == RT_OK && count > 0)
			rt_session_note(session,
					"the text was removed from %zu entr%s of the input history",
					count, count == 1 ? "y" : "ies");
	}
	free(store);
	if (logged != RT_OK)
		RT_TRY(&s, rt_fail(&s.error, logged, "the request log: %.200s", why.text));
	if (typed != RT_OK)
		RT_TRY(&s, rt_fail(&s.error, typed, "the input history: %.200s", other.text));
	return rt_scope_end(&s, err);
}

static rt_status
open_engine(rt_session *s, rt_session_mode mode, rt_error *err)
{
	rt_error newer;
	rt_buf by;

	if (s->given.project != NULL && *s->given.project == 0)
		return rt_fail(err, RT_USAGE, "-p needs a name");
	rt_buf_init(&by, s->alloc, 256);
	rt_engine_options options = {.alloc = s->alloc,
				     .env = s->env,
				     .project = rt_session_project(s),
				     .by = rt_session_by(&by),
				     .read_only = s->store->is_read_only,
				     .create = mode == RT_SESSION_CHANGE || s->is_scratch,
				     .git_commit = rt_git_commit,
				     .git_ctx = &s->git,
				     .purged = purged,
				     .purged_ctx = s};
	const rt_config *config = NULL;
	rt_status st;

	/* an unreadable one is reported where its hooks are loaded */
	if (!s->hooks_off && rt_session_config(s, &config, NULL) == RT_OK)
		options.defaults = config->defaults;
	s->hint[0] = 0;
	st = rt_engine_open(&options, s->store, &s->engine, err);
	rt_buf_deinit(&by);
	if (st == RT_NOT_FOUND)
		return hint_projects(s, st);
	/* A change is refused with that message. */
	if (st == RT_OK && mode != RT_SESSION_CHANGE && rt_engine_newer(s->engine, &newer))
		rt_session_note(s, "newer steps are not shown: %s", newer.text);
	return st;
}

/* ---- replies left by a crashed program ---- */

static bool
is_left(void *ctx, const rt_inflight_view *inflight)
{
	bool *left = ctx;

	*left = !inflight->is_stranded &&
		!rt_host_owner_lives(NULL, inflight->owner, inflight->written_us);
	return !*left;
}

/* A partial reply left by a crash is added to the conversation before it is read. A read-only store
 * is reopened for writing if allowed. */
static rt_status
keep_left(rt_session *s, rt_session_mode mode, rt_error *err)
{
	bool left = false;
	size_t kept = 0;
	rt_status st;

	if (s->is_scratch || rt_engine_inflight(s->engine, is_left, &left, NULL) != RT_OK || !left)
		return RT_OK;
	if (mode == RT_SESSION_LOOK) {
		if (!may_write(s)) {
			rt_session_note(s,
					"a program ended before its reply was complete; the next "
					"command that can write saves the partial reply");
			return RT_OK;
		}
		rt_engine_close(s->engine);
		s->engine = NULL;
		s->store->ops->close(s->store);
		s->store = NULL;
		st = rt_session_open_store(s, RT_SESSION_CHANGE, err);
		if (st == RT_OK)
			st = open_engine(s, RT_SESSION_LOOK, err);
		if (st != RT_OK)
			return st;
	}
	st = rt_engine_keep_left(s->engine, rt_host_owner_lives, NULL, &kept, err);
	if (kept > 0)
		rt_session_note(s,
				"saved the partial text of %zu repl%s left unfinished by a program "
				"that ended",
				kept, kept == 1 ? "y" : "ies");
	return st;
}

/* ---- all of it ---- */

rt_status
rt_session_open(rt_session *s, rt_session_mode mode, rt_error *err)
{
	rt_status st = rt_session_open_store(s, mode, err);

	if (st == RT_NOT_FOUND && mode != RT_SESSION_CHANGE) {
		if (s->path_given && s->verbose)
			rt_session_note(s, "%s does not exist yet; the first change creates it",
					rt_session_shown(s));
		s->hint[0] = 0;
		st = open_scratch(s, ":memory:", err);
	}
	if (st == RT_OK && s->engine == NULL) {
		st = open_engine(s, mode, err);
		if (st == RT_OK)
			st = keep_left(s, mode, err);
		if (st == RT_OK)
			st = rt_session_hooks_open(s, mode, err);
	}
	return st == RT_OK ? rt_session_look(s, err) : st;
}

void
rt_session_close(rt_session *s)
{
	rt_session_hooks_close(s);
	rt_object_unref(s->value);
	s->value = NULL;
	rt_engine_close(s->engine);
	s->engine = NULL;
	if (s->store != NULL)
		s->store->ops->close(s->store);
	s->store = NULL;
	s->is_scratch = false;
}

/* ---- the place ---- */

rt_str
rt_session_discussion(const rt_session *s)
{
	return rt_str_of(s->given.discussion);
}

rt_str
rt_session_take(const rt_session *s)
{
	return rt_str_of(s->given.take);
}

static rt_status
find_place(rt_session *s, rt_error *err)
{
	const rt_disc *disc = NULL;
	rt_place place = {0, 0};

	/* First the discussion alone, to know which of the two names was wrong. */
	rt_status st = rt_resolve_place(s->value, rt_session_discussion(s), rt_str_of(NULL), &place,
					err);
	if (st != RT_OK && s->given.glued_discussion != NULL)
		return rt_session_hint(s, st,
				       "Discussions: retake ls   Put text that starts with a dash "
				       "after --: -- %s",
				       s->given.glued_discussion);
	/* Only once: later it may have been renamed or deleted. */
	if (st == RT_NOT_FOUND && s->similar.size == 0) {
		st = rt_session_similar(s, rt_session_discussion(s), &s->similar, err);
		if (st != RT_OK)
			return s->hint[0] != 0 ? st : rt_session_hint(s, st, "Discussions: retake ls");
		s->given.discussion = s->similar.ptr;
		st = rt_resolve_place(s->value, rt_session_discussion(s), rt_str_of(NULL), &place, err);
	}
	if (st != RT_OK)
		return rt_session_hint(s, st, "Discussions: retake ls");
	if (place.disc == 0)
		place.disc = s->value->active;
	st = rt_project_disc(s->value, place.disc, &disc, err);
	if (st != RT_OK)
		return st;
	if (rt_session_take(s).size > 0) {
		st = rt_resolve_place(s->value, rt_session_discussion(s), rt_session_take(s),
				      &place, err);
		if (st != RT_OK)
			return rt_session_hint(s, st, "Takes: retake takes");
		if (place.disc == 0)
			place.disc = s->value->active;
	}
	if (place.take == 0)
		place.take = disc->active;
	s->place = place;
	return RT_OK;
}

rt_status
rt_session_look(rt_session *s, rt_error *err)
{
	uint64_t seq;
	rt_status st = RT_OK;

	rt_object_unref(s->value);
	s->value = NULL;
	if (s->given.step == NULL) {
		s->value = rt_engine_value(s->engine);
	} else {
		st = rt_args_number(s->given.step, "the number of a step", &seq, err);
		if (st == RT_OK)
			st = rt_engine_value_at(s->engine, seq, &s->value, err);
		if (st == RT_NOT_FOUND)
			rt_session_hint(s, st, "Steps: retake history");
	}
	return st == RT_OK ? find_place(s, err) : st;
}
