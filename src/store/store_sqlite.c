/* SPDX-License-Identifier: MIT
 *
 * The SQLite store: opening and closing, in a file or in memory, and the epoch.
 * store_sqlite_impl.h describes the file and lists the other parts. */
#define _GNU_SOURCE
#include "store/store_sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* snprintf */
#include <unistd.h>

#include "store/store_memory.h"
#include "store/store_open.h"

/* --- closing --- */

static void
free_store(rt_sqlite_store *s)
{
	/* The writer is closed last: it may remove the log. */
	for (int i = 0; i < RT_SQLITE_READERS_MAX; i++)
		rt_sqlite_conn_close(&s->readers[i]);
	if (s->writer.db != NULL && s->poisoned)
		(void)sqlite3_db_config(s->writer.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
					(int *)NULL);
	rt_sqlite_conn_close(&s->writer);
	rt_sqlite_vfs_free(s->layer);
	rt_sqlite_memory_free(s->memory);
	rt_wait_deinit(&s->guard, &s->free);
	rt_free(s->alloc, s->path);
	rt_free(s->alloc, s->place);
	rt_free(s->alloc, s);
}

static void
close_store(rt_store *store)
{
	rt_sqlite_store *s = rt_sqlite_self(store);

	if (s == NULL)
		return;
	if (s->writing) { /* an open begin, of whichever thread */
		s->owner = pthread_self();
		rt_sqlite_cancel(store);
	}
	if (s->marked && !s->poisoned && s->writer.db != NULL)
		rt_sqlite_unmark_relaxed(s);
	free_store(s);
}

/* --- the epoch --- */

/* Called by every reader, often: a connection reads the value again only after a commit. Our
 * own uncommitted changes have no version, so inside begin the value is always read. */
static rt_status
get_epoch(rt_store *store, uint64_t *out_epoch, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_reading(store);
	uint64_t epoch = 0;

	while (rt_sqlite_attempt(&call)) {
		rt_sqlite_conn *c = call.conn;
		bool cached = c != &call.store->writer, derived;
		/* Read before the value: at worst the value is read one time too many. */
		int64_t version = cached ? (int64_t)rt_sqlite_number(&call, SQL_DATA_VERSION,
								     (rt_sqlite_args){0})
					 : 0;

		if (c->epoch_known && c->epoch_version == version) {
			epoch = c->epoch;
			continue;
		}
		epoch = rt_sqlite_epoch_read(&call, &derived);
		c->epoch_known = rt_ok(&call.scope) && cached;
		c->epoch_version = version;
		c->epoch = epoch;
	}
	if (rt_ok(&call.scope))
		*out_epoch = epoch;
	return rt_scope_end(&call.scope, err);
}

static rt_status
renew_epoch(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_call_on(s, &s->writer);
	uint64_t before, epoch = 0;
	bool alone, derived;
	rt_status st = rt_sqlite_begin_alone(s, &alone, err);

	if (st != RT_OK)
		return st;
	before = rt_sqlite_epoch_read(&call, &derived);
	if (call.scope.status == RT_CORRUPT)
		rt_scope_reset(&call.scope); /* this is how it is repaired */
	while (epoch == 0 || epoch == before)
		s->env.random(s->env.ctx, &epoch, sizeof(epoch));
	rt_sqlite_meta_set_number(&call, "epoch", epoch);
	return rt_sqlite_end_alone(&call, alone, err);
}

/* Stores the epoch that is derived from another boot's relaxed mark. */
static rt_status
settle_epoch(rt_sqlite_store *s, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_call_on(s, &s->writer);
	rt_status st = rt_sqlite_begin(&s->base, err);

	if (st != RT_OK)
		return st;
	rt_sqlite_epoch_settle(&call);
	return rt_sqlite_end_alone(&call, true, err);
}

/* --- opening --- */

#define OPS(name) \
	{ \
		.kind = (name), .close = close_store, .epoch = get_epoch, \
		.epoch_renew = renew_epoch, .begin = rt_sqlite_begin, \
		.commit = rt_sqlite_commit, .cancel = rt_sqlite_cancel, \
		.project_new = rt_sqlite_project_new, .project_drop = rt_sqlite_project_drop, .head = rt_sqlite_head, \
		.read = rt_sqlite_read, .append = rt_sqlite_append, .write = rt_sqlite_write, \
		.drop = rt_sqlite_drop, .index_add = rt_sqlite_index_add, \
		.index_find = rt_sqlite_index_find, .scrub = rt_sqlite_scrub, \
		.backup = rt_sqlite_backup, .check = rt_sqlite_check, \
	}

static const rt_store_ops file_ops = OPS("sqlite"), memory_ops = OPS("memory");

static rt_status
check_library(rt_error *err)
{
	int version = sqlite3_libversion_number();

	if (version < RT_SQLITE_LIBRARY_MIN || version == RT_SQLITE_LIBRARY_BAD)
		return rt_fail(err, RT_REFUSED,
			       "the SQLite library is %s, but 3.51.3 or newer is required: older "
			       "versions can damage a store that two processes write to",
			       sqlite3_libversion());
	if (sqlite3_threadsafe() == 0)
		return rt_fail(err, RT_REFUSED,
			       "the SQLite library was built without support for threads");
	/* It would do so by itself, but not report why it failed. */
	if (sqlite3_initialize() != SQLITE_OK)
		return rt_fail(err, RT_NOMEM, "out of memory while starting SQLite");
	return RT_OK;
}

/* The id of this boot of the machine. */
static void
find_boot(rt_sqlite_store *s, const char *given)
{
	int fd;

	if (given != NULL) {
		snprintf(s->boot, sizeof(s->boot), "%s", given);
		return;
	}
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t size = read(fd, s->boot, sizeof(s->boot) - 1);

		s->boot[size > 0 ? size : 0] = 0;
		s->boot[strcspn(s->boot, "\r\n ")] = 0;
		(void)close(fd);
	}
	/* Unknown: every open counts as another boot, to be on the safe side. */
	if (s->boot[0] == 0) {
		uint64_t random;

		s->env.random(s->env.ctx, &random, sizeof(random));
		snprintf(s->boot, sizeof(s->boot), "?%016llx", (unsigned long long)random);
	}
}

static char *
copy_string(rt_sqlite_store *s, const char *string)
{
	size_t size = strlen(string) + 1;
	char *copy = rt_new(s->alloc, size);

	return copy == NULL ? NULL : memcpy(copy, string, size);
}

static rt_status
find_path(rt_sqlite_store *s, const char *path, rt_error *err)
{
	char full[RT_SQLITE_PATH_ROOM];
	size_t size = strlen(path);
	int rc;

	s->vfs = sqlite3_vfs_find(s->options.vfs);
	if (size == 0 || s->vfs == NULL)
		return rt_fail(err, RT_USAGE,
			       s->vfs == NULL ? "SQLite has no VFS of that name"
					      : "the path of the store is empty");
	s->place = copy_string(s, s->memory != NULL ? "memory" : path);
	if (s->place == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (s->vfs->mxPathname + 1 > RT_SQLITE_PATH_ROOM || size + 32 > (size_t)s->vfs->mxPathname)
		return rt_fail(err, RT_LIMIT, "the path of the store is too long");
	rc = s->vfs->xFullPathname(s->vfs, path, s->vfs->mxPathname + 1, full);
	if (rc != SQLITE_OK && rc != SQLITE_OK_SYMLINK)
		return rt_fail(err, RT_IO, "%s cannot be found: %s", path, sqlite3_errstr(rc));
	s->path = copy_string(s, full);
	return s->path == NULL ? rt_fail(err, RT_NOMEM, "out of memory") : RT_OK;
}

/* Finds the file or makes it. */
static rt_status
find_file(rt_sqlite_store *s, const char *path, rt_error *err)
{
	rt_sqlite_file_state state = RT_SQLITE_REFUSED;
	rt_status st = rt_sqlite_examine(s, &state, err);

	if (st == RT_OK && state == RT_SQLITE_MISSING && s->options.create &&
	    !s->options.read_only) {
		st = rt_sqlite_create(s, err);
		if (st == RT_OK)
			st = rt_sqlite_examine(s, &state, err);
	}
	if (st == RT_OK && state == RT_SQLITE_MISSING)
		st = rt_fail(err, RT_NOT_FOUND, "there is no store at %s", path);
	return st;
}

static void
check_application(rt_sqlite_call *call)
{
	sqlite3 *db = call->conn->db;
	sqlite3_stmt *stmt = NULL;
	int64_t id = 0;

	if (!rt_ok(&call->scope))
		return;
	if (sqlite3_prepare_v2(db, "PRAGMA application_id", -1, &stmt, NULL) != SQLITE_OK)
		rt_sqlite_call_fail(call, "preparing to read it");
	else if (sqlite3_step(stmt) == SQLITE_ROW)
		id = sqlite3_column_int64(stmt, 0);
	else
		rt_sqlite_call_fail(call, "reading it");
	(void)sqlite3_finalize(stmt);
	if (rt_ok(&call->scope) && id != RT_SQLITE_APPLICATION_ID) {
		(void)sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
		rt_scope_fail(&call->scope, RT_NOT_OURS, "%s is not a Retake store",
			      call->store->place);
	}
}

static rt_status
open_file(rt_sqlite_store *s, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_reading(&s->base);
	bool derived = false;
	rt_status st;

	while (rt_sqlite_attempt(&call)) {
		if (!s->options.read_only && !s->file_known)
			s->file_known = rt_sqlite_file_at(s, &s->file_device, &s->file_number);
		check_application(&call);
		rt_sqlite_check_gates(&call);
		(void)rt_sqlite_epoch_read(&call, &derived);
	}
	st = rt_scope_end(&call.scope, err);
	return st == RT_OK && derived && !s->options.read_only ? settle_epoch(s, err) : st;
}

/* path NULL: in memory. */
static rt_status
open_store(const rt_alloc *alloc, const rt_env *env, const char *path,
	   const rt_store_sqlite_options *options, rt_store **out_store, rt_error *err)
{
	rt_scope scope;
	rt_sqlite_store *s;
	rt_status st;

	rt_scope_init(&scope, alloc);
	RT_TRY(&scope, check_library(&scope.error));
	s = rt_ok(&scope) ? rt_new0(alloc, sizeof(*s)) : NULL;
	if (s == NULL)
		rt_scope_nomem(&scope);
	else if (!rt_wait_init(&s->guard, &s->free))
		rt_scope_fail(&scope, RT_NOMEM, "cannot create a lock");
	if (!rt_ok(&scope)) {
		rt_free(alloc, s);
		return rt_scope_end(&scope, err);
	}
	s->base.ops = path == NULL ? &memory_ops : &file_ops;
	s->alloc = alloc;
	s->env = *env;
	s->process = getpid();
	if (options != NULL)
		s->options = *options;
	if (s->options.busy_ms <= 0)
		s->options.busy_ms = RT_SQLITE_BUSY_MS;
	if (s->options.checkpoint_pages <= 0)
		s->options.checkpoint_pages = RT_SQLITE_CHECKPOINT_PAGES;
	while (s->dice == 0)
		env->random(env->ctx, &s->dice, sizeof(s->dice));
	find_boot(s, s->options.boot);
	if (path == NULL)
		RT_TRY(&scope, rt_sqlite_memory_new(alloc, &s->memory, &scope.error));
	if (s->memory != NULL)
		s->options.vfs = rt_sqlite_memory_name(s->memory);
	RT_TRY(&scope, find_path(s, path == NULL ? RT_SQLITE_MEMORY_PATH : path, &scope.error));
	if (!s->options.read_only && path != NULL)
		RT_TRY(&scope, rt_sqlite_vfs_new(alloc, s->options.vfs, s->options.vfs == NULL,
						 &s->layer, &scope.error));
	RT_TRY(&scope, find_file(s, path, &scope.error));
	RT_TRY(&scope, open_file(s, &scope.error));
	st = rt_scope_end(&scope, err);
	if (st != RT_OK) {
		free_store(s);
		return st;
	}
	s->base.place = s->place;
	s->base.is_read_only = s->options.read_only;
	*out_store = &s->base;
	return RT_OK;
}

rt_status
rt_store_sqlite_open(const rt_alloc *alloc, const rt_env *env, const char *path,
		     const rt_store_sqlite_options *options, rt_store **out_store, rt_error *err)
{
	return open_store(alloc, env, path, options, out_store, err);
}

rt_status
rt_store_memory_open(const rt_alloc *alloc, const rt_env *env, rt_store **out_store, rt_error *err)
{
	const rt_store_sqlite_options options = {.create = true, .boot = "memory"};

	return open_store(alloc, env, NULL, &options, out_store, err);
}

/* --- the kinds --- */

static bool
is_memory(const char *address)
{
	return strcmp(address, ":memory:") == 0;
}

static rt_status
open_memory(const rt_alloc *alloc, const rt_env *env, const char *address,
	    const rt_store_options *options, rt_store **out_store, rt_error *err)
{
	(void)address;
	(void)options;
	return rt_store_memory_open(alloc, env, out_store, err);
}

static bool
is_path(const char *address)
{
	(void)address;
	return true;
}

static const char *
path_itself(const char *address)
{
	return address;
}

static rt_status
open_path(const rt_alloc *alloc, const rt_env *env, const char *address,
	  const rt_store_options *options, rt_store **out_store, rt_error *err)
{
	rt_store_sqlite_options own = {0};

	if (options != NULL) {
		own.create = options->create;
		own.read_only = options->read_only;
		own.relaxed = options->relaxed;
		own.busy_ms = options->busy_ms;
	}
	return open_store(alloc, env, address, &own, out_store, err);
}

const rt_store_kind rt_store_memory = {
	.name = "memory", .is_memory = true, .accepts = is_memory, .open = open_memory};
const rt_store_kind rt_store_sqlite = {
	.name = "sqlite", .file = path_itself, .accepts = is_path, .open = open_path};
