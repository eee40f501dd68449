/* SPDX-License-Identifier: MIT
 *
 * Opening a database that is an rt_input: the file system and the limits. */
#include "importers/database_impl.h"

#include <stdio.h> /* snprintf */

enum {
	VALUE_MAX = 64 << 20,     /* bytes of a row */
	INDEX_PAGES_MAX = 16384,  /* of 4 KiB: memory for keys */
	CACHE_KIB = 4096,
	STEPS = 100000,           /* of SQLite's program, between two checks */
	ROUNDS_MIN = 20,          /* of them, for a small file */
	STEPS_PER_KIB = 16 * 1024 /* allowed */
};

/* ---- the file ---- */

typedef struct input_file {
	sqlite3_file base;
	rt_db *db;
} input_file;

static int
close_file(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int
read_file(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
	rt_db *db = ((input_file *)file)->db;
	size_t done = 0, room = (size_t)size;

	db->input_status = rt_input_read(db->in, (uint64_t)offset, to, room, &done, &db->input_error);
	if (db->input_status != RT_OK)
		return SQLITE_IOERR_READ;
	memset((char *)to + done, 0, room - done);
	return done == room ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int
file_size(sqlite3_file *file, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)((input_file *)file)->db->shown_size;
	return SQLITE_OK;
}

static int
write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
	(void)file, (void)bytes, (void)size, (void)offset;
	return SQLITE_READONLY;
}

static int
truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file, (void)size;
	return SQLITE_READONLY;
}

static int
ignore(sqlite3_file *file, int how)
{
	(void)file, (void)how;
	return SQLITE_OK;
}

static int
no_lock(sqlite3_file *file, int *out)
{
	(void)file;
	*out = 0;
	return SQLITE_OK;
}

static int
no_control(sqlite3_file *file, int what, void *value)
{
	(void)file, (void)what, (void)value;
	return SQLITE_NOTFOUND;
}

static int
sector_size(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

/* It has neither locks nor a log. */
static int
traits(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods file_methods = {
	.iVersion = 1,
	.xClose = close_file,
	.xRead = read_file,
	.xWrite = write_file,
	.xTruncate = truncate_file,
	.xSync = ignore,
	.xFileSize = file_size,
	.xLock = ignore,
	.xUnlock = ignore,
	.xCheckReservedLock = no_lock,
	.xFileControl = no_control,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = traits,
};

static int
open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags)
{
	input_file *opened = (input_file *)file;

	(void)name;
	file->pMethods = NULL;
	if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
		return SQLITE_CANTOPEN;
	opened->db = vfs->pAppData;
	file->pMethods = &file_methods;
	if (out_flags != NULL)
		*out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
	return SQLITE_OK;
}

static int
delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs, (void)name, (void)sync;
	return SQLITE_OK;
}

static int
no_access(sqlite3_vfs *vfs, const char *name, int how, int *out)
{
	(void)vfs, (void)name, (void)how;
	*out = 0;
	return SQLITE_OK;
}

static int
full_name(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
	(void)vfs;
	(void)snprintf(out, (size_t)room, "%s", name);
	return SQLITE_OK;
}

/* Names of temporary files are random; there are none. */
static int
no_randomness(sqlite3_vfs *vfs, int size, char *out)
{
	(void)vfs;
	memset(out, 0, (size_t)size);
	return size;
}

static int
no_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

static int
no_time(sqlite3_vfs *vfs, double *out)
{
	(void)vfs;
	*out = 2440587.5; /* 1970 */
	return SQLITE_OK;
}

static int
no_error(sqlite3_vfs *vfs, int room, char *out)
{
	(void)vfs, (void)room, (void)out;
	return 0;
}

/* ---- opening ---- */

/* Work beyond this is not caused by the size of the file. */
static int
has_run_long(void *ctx)
{
	rt_db *db = ctx;

	return ++db->rounds > ROUNDS_MIN + (db->size >> 10) * STEPS_PER_KIB / STEPS;
}

static void
close_db(void *item)
{
	rt_db *db = item;

	(void)sqlite3_close_v2(db->sqlite);
	if (db->vfs.pAppData != NULL)
		(void)sqlite3_vfs_unregister(&db->vfs);
}

rt_status
rt_db_note(rt_db *db, int code)
{
	rt_scope *s = &db->r->b.s;

	if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || !rt_ok(s))
		return s->status;
	if (db->input_status != RT_OK)
		return rt_scope_fail_as(s, db->input_status, &db->input_error);
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return rt_scope_nomem(s);
	case SQLITE_FULL:
		return rt_scope_fail(s, RT_LIMIT, "the database has too many rows to sort them in %d MiB",
				     (int)(INDEX_PAGES_MAX >> 8));
	case SQLITE_INTERRUPT:
		return rt_scope_fail(s, RT_LIMIT, "the database takes too long to read; it may "
						  "be damaged or malicious");
	default:
		return rt_scope_fail(s, RT_USAGE, "the SQLite database is damaged: %.120s",
				     db->sqlite == NULL ? "cannot be opened" : sqlite3_errmsg(db->sqlite));
	}
}

/* How large it is; an input from a pipe is read once for this. */
static void
find_size(rt_db *db)
{
	rt_scope *s = &db->r->b.s;
	char *bytes = db->in->size > 0 ? NULL : rt_scope_get(s, RT_INPUT_HEAD);
	size_t got = 1;

	for (db->size = db->in->size; bytes != NULL && got > 0 && rt_ok(s); db->size += got) {
		got = 0;
		RT_TRY(s, db->in->read_at(db->in->ctx, db->size, bytes, RT_INPUT_HEAD, &got, &s->error));
	}
}

static void
limit(rt_db *db)
{
	char sql[200];

	(void)sqlite3_limit(db->sqlite, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	(void)sqlite3_limit(db->sqlite, SQLITE_LIMIT_ATTACHED, 0);
	(void)sqlite3_limit(db->sqlite, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
	(void)sqlite3_limit(db->sqlite, SQLITE_LIMIT_WORKER_THREADS, 0);
	(void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	(void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	(void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
	(void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
	(void)snprintf(sql, sizeof(sql),
		       "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
		       "PRAGMA cache_size = -%d; PRAGMA temp.max_page_count = %d",
		       (int)CACHE_KIB, (int)INDEX_PAGES_MAX);
	(void)rt_db_note(db, sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL));
	sqlite3_progress_handler(db->sqlite, STEPS, has_run_long, db);
}

static uint32_t
big_endian(const char *bytes)
{
	const unsigned char *b = (const unsigned char *)bytes;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* The header has the number of pages (valid if its two counters are equal). SQLite refuses a shorter file as a whole. */
static void
check_size(rt_db *db)
{
	char head[100];
	uint64_t page, whole;
	size_t size = 0;

	db->shown_size = db->size;
	if (rt_input_read(db->in, 0, head, sizeof(head), &size, NULL) != RT_OK ||
	    size < sizeof(head) || big_endian(head + 24) != big_endian(head + 92))
		return;
	page = big_endian(head + 16) >> 16;
	whole = (page == 1 ? 65536 : page) * big_endian(head + 28);
	if (whole <= db->size)
		return;
	db->shown_size = whole;
	rt_report_add(db->r->report, RT_REMARK_SKIPPED, 0,
		      "the database is truncated at byte %llu of %llu; the rest is lost",
		      (unsigned long long)db->size, (unsigned long long)whole);
}

rt_db *
rt_db_open(rt_reader *r, const rt_input *in)
{
	rt_scope *s = &r->b.s;
	rt_db *db = rt_scope_get(s, sizeof(*db));

	if (db == NULL)
		return NULL;
	db->r = r;
	db->in = in;
	db->buf = rt_scope_buf(s);
	find_size(db);
	check_size(db);
	(void)snprintf(db->name, sizeof(db->name), "retake-input-%p", (void *)db);
	db->vfs = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = (int)sizeof(input_file),
		.mxPathname = 64,
		.zName = db->name,
		.xOpen = open_file,
		.xDelete = delete_file,
		.xAccess = no_access,
		.xFullPathname = full_name,
		.xRandomness = no_randomness,
		.xSleep = no_sleep,
		.xCurrentTime = no_time,
		.xGetLastError = no_error,
	};
	if (!rt_ok(s) || sqlite3_vfs_register(&db->vfs, 0) != SQLITE_OK) {
		(void)rt_scope_nomem(s);
		return NULL;
	}
	db->vfs.pAppData = db;
	rt_scope_defer(s, close_db, db);
	if (rt_ok(s) && rt_db_note(db, sqlite3_open_v2("input", &db->sqlite, SQLITE_OPEN_READONLY,
						       db->name)) == RT_OK)
		limit(db);
	return rt_ok(s) ? db : NULL;
}

/* ---- detection ---- */

bool
rt_db_is(rt_str head)
{
	return head.size >= 100 && rt_str_starts(head, RT_STR("SQLite format 3")) &&
	       head.ptr[15] == '\0';
}

bool
rt_db_is_input(rt_reader *r, const rt_input *in)
{
	rt_scope *s = &r->b.s;
	char *head = rt_scope_get(s, RT_INPUT_HEAD);
	size_t size = 0;

	RT_TRY(s, rt_input_head(in, head, &size, &s->error));
	return rt_ok(s) && rt_db_is(rt_str_at(head, size));
}

bool
rt_db_defines(rt_scope *s, rt_str head, const rt_input *in, const char *tables)
{
	rt_reader_to to = {0};
	rt_reader r;
	rt_db *db;
	rt_str table;
	bool has_all = rt_db_is(head);

	if (!has_all)
		return false;
	rt_reader_init(&r, s->alloc, in, &to, NULL);
	db = rt_db_open(&r, in);
	while (has_all && rt_next_word(&tables, &table)) {
		size_t dot = rt_str_find(table, RT_STR("."), 0);
		size_t size = dot == SIZE_MAX ? table.size : dot;
		rt_str name = rt_scope_copy(&r.b.s, rt_str_at(table.ptr, size));
		rt_str column = rt_scope_copy(&r.b.s, rt_str_skip(table, size + (dot != SIZE_MAX)));

		has_all = rt_ok(&r.b.s) && rt_db_has(db, name.ptr, column.ptr);
	}
	if (r.b.s.status == RT_NOMEM)
		(void)rt_scope_nomem(s);
	rt_walk_deinit(&r.w);
	rt_build_deinit(&r.b);
	return has_all;
}
