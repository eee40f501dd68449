/* SPDX-License-Identifier: MIT
 *
 * The SQLite store and its file: what it refuses and leaves as it is, what damage it
 * finds, what several processes do to each other. The contract that it shares with other
 * stores is in store_contract_test.c, loss of power in tests/power/. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/folder_testing.h"
#include "store/store_sqlite_impl.h"

enum { PROJECT = 1, ROWS = 40 };

typedef struct fixture {
	char folder[64];
	char path[128];
} fixture;

static void
env_random(void *ctx, void *to, size_t size)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	(void)ctx;
	assert_true(fd >= 0);
	assert_int_equal(read(fd, to, size), size);
	close(fd);
}

static int64_t
env_now(void *ctx)
{
	(void)ctx;
	return 1700000000000000;
}

static const rt_env env = {env_now, env_random, NULL};

static rt_status
open_as(const char *path, rt_store_sqlite_options options, rt_store **out, rt_error *err)
{
	if (options.busy_ms == 0)
		options.busy_ms = 10000;
	return rt_store_sqlite_open(rt_alloc_libc(), &env, path, &options, out, err);
}

#define CREATE ((rt_store_sqlite_options){.create = true})
#define WRITE ((rt_store_sqlite_options){.create = false})
#define READ ((rt_store_sqlite_options){.read_only = true})

#define MUST(call) \
	do { \
		rt_error err_ = {0}; \
		rt_error *err = &err_; \
		rt_status st_ = (call); \
		if (st_ != RT_OK) { \
			print_message("%s, line %d: %s: %s\n", #call, __LINE__, \
				      rt_status_word(st_), err_.text); \
			fail(); \
		} \
	} while (0)

/* Opening must fail with that status and a sentence; no store comes out. */
static void
expect_refused(const char *path, rt_store_sqlite_options options, rt_status status, int line)
{
	rt_store *store = NULL;
	rt_error why = {0};
	rt_status st = open_as(path, options, &store, &why);

	if (st != status)
		print_message("line %d: %s: %s\n", line, rt_status_word(st), why.text);
	assert_int_equal(st, status);
	assert_null(store);
	assert_int_equal(why.status, status);
	assert_true(strlen(why.text) > 10);
	assert_null(strchr(why.text, '\n'));
}
#define REFUSED(path, options, status) expect_refused(path, options, status, __LINE__)

static int
set_up(void **state)
{
	fixture *f = calloc(1, sizeof(*f));

	if (!test_folder(f->folder, sizeof(f->folder), "retake-sqlite"))
		return 1;
	snprintf(f->path, sizeof(f->path), "%s/a.retake", f->folder);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;
	char command[200];

	snprintf(command, sizeof(command), "chmod -R u+rwx '%s'; rm -rf '%s'", f->folder,
		 f->folder);
	free(f);
	return system(command) == 0 ? 0 : 1;
}

/* --- bytes of files --- */

static unsigned char *
bytes_of(const char *path, size_t *out_size)
{
	FILE *file = fopen(path, "rb");
	struct stat info;
	unsigned char *bytes;

	if (file == NULL)
		return NULL;
	assert_int_equal(fstat(fileno(file), &info), 0);
	bytes = malloc((size_t)info.st_size + 1);
	*out_size = fread(bytes, 1, (size_t)info.st_size, file);
	assert_int_equal(*out_size, info.st_size);
	fclose(file);
	return bytes;
}

static void
put_bytes(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void
copy_file(const char *from, const char *to)
{
	size_t size = 0;
	unsigned char *bytes = bytes_of(from, &size);

	if (bytes != NULL)
		put_bytes(to, bytes, size);
	free(bytes);
}

static void
expect_bytes(const char *path, const void *bytes, size_t size)
{
	size_t now_size = 0;
	unsigned char *now = bytes_of(path, &now_size);

	assert_non_null(now);
	assert_int_equal(now_size, size);
	assert_memory_equal(now, bytes, size);
	free(now);
}

static bool
is_there(const char *path, const char *suffix)
{
	char name[200];

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return access(name, F_OK) == 0;
}

/* --- a store with something of everything --- */

static rt_str
body_text(char *room, size_t size, uint64_t n)
{
	int at = snprintf(room, size, "body %llu ", (unsigned long long)n);

	for (; at < (int)(n * 37 % 1500) + 20 && at < (int)size - 1; at++)
		room[at] = (char)('a' + (at * 7 + (int)n) % 26);
	return rt_str_at(room, (size_t)at);
}

static void
append(rt_store *store, uint64_t seq)
{
	char text[2048], log[64];
	rt_store_row row = {0};
	rt_store_row body = {
		.number = seq, .entry = seq, .data = body_text(text, sizeof(text), seq)};

	snprintf(log, sizeof(log), "effect %llu", (unsigned long long)seq);
	memcpy(row.step, &seq, sizeof(seq));
	row.at_us = (int64_t)seq;
	row.data = rt_str_of(log);
	MUST(store->ops->begin(store, err));
	MUST(store->ops->append(store, PROJECT, seq - 1, &row, 1, &body, 1, NULL, err));
	MUST(store->ops->commit(store, err));
}

static void
fill(const char *path, int rows)
{
	uint64_t project = 0;
	rt_store *s = NULL;

	MUST(open_as(path, CREATE, &s, err));
	MUST(s->ops->begin(s, err));
	MUST(s->ops->project_new(s, RT_STR("first"), &project, err));
	assert_int_equal(project, PROJECT);
	MUST(s->ops->commit(s, err));
	for (int i = 1; i <= rows; i++)
		append(s, (uint64_t)i);
	MUST(s->ops->begin(s, err));
	MUST(s->ops->write(s, rt_rows_one(RT_STORE_NODES, PROJECT, 1), RT_STR("node one"), err));
	MUST(s->ops->write(s, rt_rows_one(RT_STORE_ROOT, PROJECT, (uint64_t)rows), RT_STR("root"),
			   err));
	MUST(s->ops->write(s, rt_rows_named(RT_STORE_SIDE, PROJECT, RT_STR("draft")),
			   RT_STR("unsent"), err));
	MUST(s->ops->index_add(s, PROJECT, 1, 1, RT_STR("quick brown fox"), err));
	MUST(s->ops->commit(s, err));
	s->ops->close(s);
}

/* --- missing, created --- */

static void
test_missing(void **state)
{
	fixture *f = *state;
	char path[256];
	struct stat info;
	rt_store *s = NULL;

	REFUSED(f->path, WRITE, RT_NOT_FOUND);
	REFUSED(f->path, READ, RT_NOT_FOUND);
	REFUSED("", CREATE, RT_USAGE);
	REFUSED(f->path, ((rt_store_sqlite_options){.create = true, .read_only = true}),
		RT_NOT_FOUND);
	assert_false(is_there(f->path, ""));
	snprintf(path, sizeof(path), "%s/b/c d/e?f#g%%20.retake", f->folder);
	REFUSED(path, WRITE, RT_NOT_FOUND);
	MUST(open_as(path, CREATE, &s, err));
	assert_string_equal(s->place, path);
	s->ops->close(s);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	MUST(open_as(path, WRITE, &s, err));
	s->ops->close(s);
	snprintf(path, sizeof(path), "%s/b/c d", f->folder);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
	/* At rest a store is one file. */
	snprintf(path, sizeof(path), "test $(ls '%s/b/c d' | wc -l) = 1", f->folder);
	assert_int_equal(system(path), 0);
}

static void
test_other_files(void **state)
{
	static const struct {
		const char *name;
		rt_str bytes;
		rt_status status;
	} files[] = {
		{"empty", {"", 0}, RT_CORRUPT},
		{"one byte", {"S", 1}, RT_CORRUPT},
		{"cut", {"SQLite format 3\0\x20\x00", 18}, RT_CORRUPT},
		{"text", {"Dear diary,\n", 12}, RT_NOT_OURS},
		{"nul", {"\0\0", 2}, RT_NOT_OURS},
		{"json", {"{\"a\":1}", 7}, RT_NOT_OURS},
	};
	fixture *f = *state;
	char big[9000];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		put_bytes(f->path, files[i].bytes.ptr, files[i].bytes.size);
		REFUSED(f->path, CREATE, files[i].status);
		REFUSED(f->path, WRITE, files[i].status);
		REFUSED(f->path, READ, files[i].status);
		expect_bytes(f->path, files[i].bytes.ptr, files[i].bytes.size);
	}
	memset(big, 'x', sizeof(big));
	put_bytes(f->path, big, sizeof(big));
	REFUSED(f->path, CREATE, RT_NOT_OURS);
	expect_bytes(f->path, big, sizeof(big));
	assert_false(is_there(f->path, "-wal"));
	assert_false(is_there(f->path, "-shm"));
	assert_false(is_there(f->path, "-journal"));
}

static void
test_not_files(void **state)
{
	fixture *f = *state;
	char path[160];

	assert_int_equal(mkdir(f->path, 0700), 0);
	REFUSED(f->path, CREATE, RT_IO);
	REFUSED(f->path, READ, RT_IO);
	assert_int_equal(rmdir(f->path), 0);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	REFUSED(f->path, CREATE, RT_NOT_OURS); /* and does not wait for somebody to write */
	REFUSED(f->path, READ, RT_NOT_OURS);
	assert_int_equal(unlink(f->path), 0);
	REFUSED("/dev/null", CREATE, RT_NOT_OURS);
	put_bytes(f->path, "x", 1);
	snprintf(path, sizeof(path), "%s/below", f->path);
	REFUSED(path, CREATE, RT_IO);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(symlink("nowhere", f->path), 0);
	REFUSED(f->path, WRITE, RT_NOT_FOUND);
}

static void
test_foreign_database(void **state)
{
	fixture *f = *state;
	sqlite3 *db = NULL;
	size_t size = 0;
	unsigned char *bytes;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "PRAGMA journal_mode = WAL; CREATE TABLE log(x);"
				      "INSERT INTO log VALUES(1)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	bytes = bytes_of(f->path, &size);
	REFUSED(f->path, CREATE, RT_NOT_OURS);
	REFUSED(f->path, READ, RT_NOT_OURS);
	expect_bytes(f->path, bytes, size);
	free(bytes);
}

/* --- versions --- */

static void
set_meta(const char *path, const char *key, const char *value)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "UPDATE meta SET value = ?1, sum = ?2"
					    " WHERE key = ?3",
					    -1, &stmt, NULL),
			 SQLITE_OK);
	sqlite3_bind_text(stmt, 1, value, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2,
			   rt_sqlite_row_sum(RT_TABLE_META, 0,
					     &(rt_store_row){.name = rt_str_of(key),
							     .data = rt_str_of(value)}));
	sqlite3_bind_text(stmt, 3, key, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

static void
test_newer(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	rt_error why = {0};
	size_t size = 0;
	unsigned char *bytes;

	fill(f->path, 3);
	set_meta(f->path, "written_by", "7.8.9");
	set_meta(f->path, "min_writer", "2");
	bytes = bytes_of(f->path, &size);
	REFUSED(f->path, CREATE, RT_TOO_NEW);
	assert_int_equal(open_as(f->path, WRITE, &s, &why), RT_TOO_NEW);
	assert_non_null(strstr(why.text, "7.8.9"));
	assert_non_null(strstr(why.text, RT_VERSION));
	MUST(open_as(f->path, READ, &s, err));
	assert_true(s->is_read_only);
	s->ops->close(s);
	expect_bytes(f->path, bytes, size);
	free(bytes);

	set_meta(f->path, "min_reader", "2");
	bytes = bytes_of(f->path, &size);
	REFUSED(f->path, WRITE, RT_TOO_NEW);
	REFUSED(f->path, READ, RT_TOO_NEW);
	expect_bytes(f->path, bytes, size);
	free(bytes);
}

/* --- reading only --- */

static bool
count_log(void *ctx, const rt_store_row *row)
{
	(void)row;
	++*(int *)ctx;
	return true;
}

static void
test_read_only(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL, *writer = NULL;
	rt_error why = {0};
	uint64_t project, head = 0;
	size_t size = 0;
	unsigned char *bytes;
	int rows = 0;

	fill(f->path, 3);
	bytes = bytes_of(f->path, &size);
	MUST(open_as(f->path, READ, &s, err));
	assert_true(s->is_read_only);
	MUST(s->ops->read(s, rt_rows_between(RT_STORE_LOG, PROJECT, 1, 99), count_log, &rows, err));
	assert_int_equal(rows, 3);
	assert_int_equal(s->ops->begin(s, &why), RT_READ_ONLY);
	assert_int_equal(s->ops->write(s, rt_rows_named(RT_STORE_SIDE, PROJECT, RT_STR("x")),
				       RT_STR("y"), &why),
			 RT_READ_ONLY);
	assert_int_equal(s->ops->epoch_renew(s, &why), RT_READ_ONLY);
	assert_int_equal(s->ops->scrub(s, &why), RT_READ_ONLY);
	assert_int_equal(rt_store_get(s, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("none")), NULL,
				      &project, &why),
			 RT_NOT_FOUND);
	/* Nothing appears next to the file while it is open. */
	assert_false(is_there(f->path, "-wal"));
	assert_false(is_there(f->path, "-shm"));

	/* A writer comes along, and what it commits is seen. */
	MUST(open_as(f->path, WRITE, &writer, err));
	append(writer, 4);
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 4);
	append(writer, 5);
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 5);
	writer->ops->close(writer);
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 5);
	s->ops->close(s);
	free(bytes);
	/* The reader went last and tidied nothing up; the next writer does. */
	MUST(open_as(f->path, WRITE, &s, err));
	s->ops->close(s);
	assert_false(is_there(f->path, "-wal"));

	/* A store that was not closed: its log is read, and no byte of it changes. */
	char copy[160], name[200];
	unsigned char *wal;
	size_t wal_size = 0;

	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	MUST(open_as(f->path, WRITE, &writer, err));
	append(writer, 6);
	copy_file(f->path, copy);
	snprintf(name, sizeof(name), "%s-wal", f->path);
	wal = bytes_of(name, &wal_size);
	snprintf(name, sizeof(name), "%s-wal", copy);
	put_bytes(name, wal, wal_size);
	writer->ops->close(writer);
	bytes = bytes_of(copy, &size);
	MUST(open_as(copy, READ, &s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 6);
	s->ops->close(s);
	expect_bytes(copy, bytes, size);
	expect_bytes(name, wal, wal_size);
	free(bytes);
	free(wal);
}

/* A disk that failed at the first write after the store was opened leaves a log of a header
 * and no frame, and a -shm that nobody holds. It is neither a lock nor damage. */
static void
test_header_only_log(void **state)
{
	enum { HEADER = 32 };
	fixture *f = *state;
	rt_store *s = NULL, *writer = NULL;
	char copy[160], from[200], to[200];
	unsigned char *log;
	size_t size = 0;
	uint64_t head = 0;

	fill(f->path, 3);
	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	copy_file(f->path, copy);
	MUST(open_as(f->path, WRITE, &writer, err));
	append(writer, 4);
	snprintf(from, sizeof(from), "%s-shm", f->path);
	snprintf(to, sizeof(to), "%s-shm", copy);
	copy_file(from, to);
	snprintf(from, sizeof(from), "%s-wal", f->path);
	snprintf(to, sizeof(to), "%s-wal", copy);
	log = bytes_of(from, &size);
	assert_true(size > HEADER);
	put_bytes(to, log, HEADER);
	writer->ops->close(writer);

	MUST(open_as(copy, READ, &s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 3);
	/* Who writes now is seen as ever. */
	MUST(open_as(copy, WRITE, &writer, err));
	append(writer, 4);
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 4);
	writer->ops->close(writer);
	s->ops->close(s);
	free(log);
}

/* Run something as a user who is nobody. False: this cannot be done here. */
static bool
as_nobody(int (*run)(fixture *f), fixture *f, int *out_result)
{
	int status = 0;
	pid_t child;

	if (geteuid() != 0) {
		*out_result = run(f);
		return true;
	}
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(99);
		_exit(run(f));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	*out_result = WEXITSTATUS(status);
	return *out_result != 99;
}

static int
try_unreadable(fixture *f)
{
	rt_store *s = NULL;
	rt_error why = {0};

	if (open_as(f->path, CREATE, &s, &why) != RT_IO)
		return 1;
	if (open_as(f->path, READ, &s, &why) != RT_IO)
		return 2;
	return s == NULL && strlen(why.text) > 10 ? 0 : 3;
}

static void
test_unreadable(void **state)
{
	fixture *f = *state;
	int result = 0;
	size_t size = 0;
	unsigned char *bytes;

	fill(f->path, 3);
	bytes = bytes_of(f->path, &size);
	assert_int_equal(chmod(f->folder, 0755), 0);
	assert_int_equal(chmod(f->path, 0), 0);
	if (!as_nobody(try_unreadable, f, &result))
		skip();
	assert_int_equal(result, 0);
	assert_int_equal(chmod(f->path, 0600), 0);
	expect_bytes(f->path, bytes, size);
	/* A folder that must not be searched. */
	assert_int_equal(chmod(f->folder, 0), 0);
	if (!as_nobody(try_unreadable, f, &result))
		skip();
	assert_int_equal(chmod(f->folder, 0700), 0);
	assert_int_equal(result, 0);
	free(bytes);
}

static int
try_read_only_folder(fixture *f)
{
	rt_store *s = NULL;
	rt_error why = {0};
	uint64_t head = 0;
	char path[160];

	if (open_as(f->path, WRITE, &s, &why) != RT_READ_ONLY)
		return 1;
	if (open_as(f->path, READ, &s, &why) != RT_OK)
		return 2;
	if (s->ops->head(s, RT_STORE_LOG, PROJECT, &head, &why) != RT_OK || head != 3)
		return 3;
	s->ops->close(s);
	s = NULL;
	snprintf(path, sizeof(path), "%s/new", f->folder);
	if (open_as(path, CREATE, &s, &why) != RT_IO || s != NULL)
		return 4;
	return 0;
}

/* Reads a file that is dated a little later than now; is it later still when that was done? */
static bool
read_later(const char *path)
{
	enum { AHEAD_NS = 4000000, SECOND_NS = 1000000000 };
	struct timespec dates[2], now;
	rt_store *s = NULL;
	uint64_t head = 0;

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &dates[1]), 0);
	dates[1].tv_nsec += AHEAD_NS;
	dates[1].tv_sec += dates[1].tv_nsec / SECOND_NS;
	dates[1].tv_nsec %= SECOND_NS;
	dates[0] = dates[1];
	assert_int_equal(utimensat(AT_FDCWD, path, dates, 0), 0);
	MUST(open_as(path, READ, &s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
	s->ops->close(s);
	return now.tv_sec > dates[1].tv_sec ||
	       (now.tv_sec == dates[1].tv_sec && now.tv_nsec > dates[1].tv_nsec);
}

/* A file that was written in this very moment may be written again without another date. So
 * whoever reads it without a lock begins in a later one. A clock that was late itself, on a
 * machine with other things to do, takes the date for one of elsewhere: so most of them count. */
static void
test_read_only_tick(void **state)
{
	fixture *f = *state;
	enum { ROUNDS = 11 };
	int later = 0;

	fill(f->path, 3);
	for (int i = 0; i < ROUNDS; i++)
		later += read_later(f->path);
	assert_true(later > ROUNDS / 2);
}

static void
test_read_only_folder(void **state)
{
	fixture *f = *state;
	int result = 0;

	fill(f->path, 3);
	assert_int_equal(chmod(f->path, 0444), 0);
	assert_int_equal(chmod(f->folder, 0555), 0);
	if (!as_nobody(try_read_only_folder, f, &result))
		skip();
	assert_int_equal(result, 0);
	assert_false(is_there(f->path, "-wal"));
	assert_false(is_there(f->path, "-shm"));
}

/* --- damage --- */

static bool
first_finding(void *ctx, const char *id, const char *text)
{
	(void)text;
	assert_true(strncmp(id, "store-", 6) == 0);
	++*(int *)ctx;
	return false;
}

typedef struct reading {
	int rows;
	bool wrong; /* other than what was written, and nobody said so */
} reading;

static bool
read_log(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	char log[64];

	snprintf(log, sizeof(log), "effect %llu", (unsigned long long)row->number);
	r->rows++;
	if (!rt_str_is(row->data, log) || row->at_us != (int64_t)row->number ||
	    memcmp(row->step, &row->number, sizeof(row->number)) != 0)
		r->wrong = true;
	return true;
}

static bool
read_body(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	char text[2048];

	r->rows++;
	if (!rt_str_eq(row->data, body_text(text, sizeof(text), row->number)) ||
	    row->entry != row->number)
		r->wrong = true;
	return true;
}

static bool
see_side(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;

	r->rows++;
	if (!rt_str_is(row->name, "draft") || !rt_str_is(row->data, "unsent"))
		r->wrong = true;
	return true;
}

static bool
see_project(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;

	r->rows++;
	if (row->number != PROJECT || !rt_str_is(row->data, "first"))
		r->wrong = true;
	return true;
}

/* Read everything. What comes out is right or an error says that it is not. */
static bool
reads_wrong(rt_store *s, int rows)
{
	reading log = {0}, body = {0}, side = {0}, projects = {0};
	uint64_t seq = 0;
	bool wrong = false;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), 1 << 20);
	if (s->ops->read(s, rt_rows_between(RT_STORE_LOG, PROJECT, 1, 1000), read_log, &log,
			 NULL) == RT_OK)
		wrong = wrong || log.rows != rows;
	if (s->ops->read(s, rt_rows_between(RT_STORE_BODIES, PROJECT, 1, 1000), read_body, &body,
			 NULL) == RT_OK)
		wrong = wrong || body.rows != rows;
	if (s->ops->read(s, rt_rows_all(RT_STORE_SIDE, PROJECT), see_side, &side, NULL) == RT_OK)
		wrong = wrong || side.rows != 1;
	if (s->ops->read(s, rt_rows_all(RT_STORE_PROJECTS, 0), see_project, &projects, NULL) ==
	    RT_OK)
		wrong = wrong || projects.rows != 1;
	if (rt_store_get(s, rt_rows_one(RT_STORE_NODES, PROJECT, 1), &buf, NULL, NULL) == RT_OK)
		wrong = wrong || !rt_str_is(rt_buf_str(&buf), "node one");
	rt_buf_clear(&buf);
	if (rt_store_get(s, rt_rows_all(RT_STORE_ROOT, PROJECT), &buf, &seq, NULL) == RT_OK)
		wrong = wrong || !rt_str_is(rt_buf_str(&buf), "root") || seq != (uint64_t)rows;
	rt_buf_deinit(&buf);
	return wrong || log.wrong || body.wrong || side.wrong || projects.wrong;
}

static void
test_cut(void **state)
{
	fixture *f = *state;
	size_t size = 0, opened = 0, tried = 0;
	unsigned char *bytes;

	fill(f->path, ROWS);
	bytes = bytes_of(f->path, &size);
	for (size_t cut = 1; cut < size; cut += cut < 200         ? 1
						: cut < size - 40 ? 2003
								  : 1,
		    tried++) {
		rt_store *s = NULL;
		rt_error why = {0};
		rt_status st;

		put_bytes(f->path, bytes, cut);
		st = open_as(f->path, WRITE, &s, &why);
		if (st == RT_OK) {
			opened++;
			s->ops->close(s);
		} else {
			assert_int_equal(st, RT_CORRUPT);
		}
		expect_bytes(f->path, bytes, cut);
		assert_false(is_there(f->path, "-journal"));
		REFUSED(f->path, READ, RT_CORRUPT);
		expect_bytes(f->path, bytes, cut);
	}
	assert_true(tried > 250);
	assert_int_equal(opened, 0);
	free(bytes);
}

/* Flip bits all over the file. Each flip is found (by open, by a read or by check) or
 * hurts nothing; never does a read give something else. */
static void
test_flips(void **state)
{
	enum { FLIPS = 1500 };
	fixture *f = *state;
	size_t size = 0;
	unsigned char *bytes;
	int refused = 0, found = 0, harmless = 0;
	uint64_t seed = 88172645463325252u;

	fill(f->path, ROWS);
	bytes = bytes_of(f->path, &size);
	for (int i = 0; i < FLIPS; i++) {
		rt_store *s = NULL;
		rt_error why = {0};
		rt_status st;
		size_t at;
		int findings = 0;
		unsigned char bit;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		at = i < 400 ? (size_t)i / 4 : (size_t)(seed % size);
		bit = (unsigned char)(1u << (seed >> 60 & 7));
		bytes[at] ^= bit;
		put_bytes(f->path, bytes, size);
		st = open_as(f->path, READ, &s, &why);
		if (st != RT_OK) {
			assert_true(st == RT_CORRUPT || st == RT_NOT_OURS || st == RT_IO ||
				    st == RT_TOO_NEW);
			refused++;
		} else {
			if (reads_wrong(s, ROWS)) {
				print_message("wrong reading after flipping bit %02x of byte "
					      "%zu\n",
					      bit, at);
				/* Rows that vanish from the end of a table can only be missed
				 * by the engine's numbers, but check must say it. */
				findings = 0;
				MUST(s->ops->check(s, first_finding, &findings, err));
				assert_int_not_equal(findings, 0);
			} else {
				MUST(s->ops->check(s, first_finding, &findings, err));
			}
			if (findings > 0)
				found++;
			else
				harmless++;
			s->ops->close(s);
		}
		expect_bytes(f->path, bytes, size);
		bytes[at] ^= bit;
	}
	print_message("%d flips: %d refused, %d found, %d without effect\n", FLIPS, refused, found,
		      harmless);
	assert_true(refused > 0);
	assert_true(found > 0);
	free(bytes);
}

/* Every row is covered by its sum: change one behind the store's back, and only that
 * is found, under its name. */
static void
test_findings(void **state)
{
	static const struct {
		const char *sql, *id;
	} cases[] = {
		{"UPDATE meta SET value = value || '0' WHERE key = 'epoch'", "store-meta-damaged"},
		{"UPDATE project SET name = x'78'", "store-project-damaged"},
		{"UPDATE project SET id = 2", "store-project-damaged"},
		{"DELETE FROM project", "store-project-missing"},
		{"UPDATE log SET data = x'78' WHERE key & 255 = 7", "store-log-damaged"},
		{"UPDATE log SET at = at + 1 WHERE key & 255 = 7", "store-log-damaged"},
		{"UPDATE log SET step = zeroblob(16) WHERE key & 255 = 7", "store-log-damaged"},
		{"DELETE FROM log WHERE key & 255 = 7", "store-log-gap"},
		{"DELETE FROM log WHERE key & 255 = 1", "store-log-gap"},
		{"UPDATE body SET data = x'78' WHERE key & 255 = 7", "store-body-damaged"},
		{"UPDATE body SET entry = 5 WHERE key & 255 = 7", "store-body-damaged"},
		{"UPDATE node SET data = x'78'", "store-node-damaged"},
		{"UPDATE root SET data = x'78'", "store-root-damaged"},
		{"UPDATE root SET seq = 9", "store-root-damaged"},
		{"UPDATE side SET data = x'78'", "store-side-damaged"},
		{"UPDATE side SET name = x'78'", "store-side-damaged"},
		{"UPDATE mark SET number = 0", "store-index-damaged"},
		{"DELETE FROM body WHERE key & 255 = 1", "store-index-orphan"},
		{"DELETE FROM body", "store-index-ahead"},
		{"DELETE FROM log", "store-root-ahead"},
		{"CREATE TABLE extra(x)", "store-schema-changed"},
		{"CREATE INDEX more ON log(at)", "store-schema-changed"},
		{"DELETE FROM found_data WHERE id > 100", "store-index-damaged"},
	};
	fixture *f = *state;
	size_t size = 0;
	unsigned char *bytes;

	fill(f->path, 10);
	bytes = bytes_of(f->path, &size);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		extern bool see_wanted(void *ctx, const char *id, const char *text);
		struct {
			const char *id;
			int hits;
		} wanted = {cases[i].id, 0};
		rt_store *s = NULL;
		sqlite3 *db = NULL;

		put_bytes(f->path, bytes, size);
		assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		if (open_as(f->path, WRITE, &s, NULL) != RT_OK) {
			assert_string_equal(cases[i].id, "store-meta-damaged");
			continue;
		}
		MUST(s->ops->check(s, see_wanted, &wanted, err));
		if (wanted.hits == 0)
			print_message("not found: %s\n", cases[i].sql);
		assert_int_not_equal(wanted.hits, 0);
		s->ops->close(s);
	}
	free(bytes);
}

bool see_wanted(void *ctx, const char *id, const char *text);

bool
see_wanted(void *ctx, const char *id, const char *text)
{
	struct {
		const char *id;
		int hits;
	} *wanted = ctx;

	assert_true(strlen(text) > 10);
	if (strcmp(id, wanted->id) == 0)
		wanted->hits++;
	return true;
}

static void
test_damaged_backup(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	sqlite3 *db = NULL;
	rt_error why = {0};
	char copy[160];

	fill(f->path, 10);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE body SET data = x'78' WHERE key & 255 = 7", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	MUST(open_as(f->path, WRITE, &s, err));
	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	assert_int_equal(s->ops->backup(s, copy, &why), RT_CORRUPT);
	assert_false(is_there(copy, ""));
	s->ops->close(s);
	snprintf(copy, sizeof(copy), "test -z \"$(ls %s | grep copy)\"", f->folder);
	assert_int_equal(system(copy), 0);
}

/* --- relaxed mode and the epoch --- */

static uint64_t
epoch_at(const char *path, const char *boot, bool read_only)
{
	rt_store_sqlite_options options = {.read_only = read_only, .boot = boot};
	rt_store *s = NULL;
	uint64_t epoch = 0;

	MUST(open_as(path, options, &s, err));
	MUST(s->ops->epoch(s, &epoch, err));
	s->ops->close(s);
	return epoch;
}

static void
copy_open_store(fixture *f, const char *to)
{
	char from[200], name[200];

	copy_file(f->path, to);
	snprintf(from, sizeof(from), "%s-wal", f->path);
	snprintf(name, sizeof(name), "%s-wal", to);
	(void)unlink(name);
	copy_file(from, name);
}

static void
test_relaxed_epoch(void **state)
{
	fixture *f = *state;
	rt_store_sqlite_options relaxed = {.relaxed = true, .boot = "one"};
	rt_store *s = NULL, *t = NULL;
	uint64_t first, derived;
	char crashed[160];

	fill(f->path, 3);
	snprintf(crashed, sizeof(crashed), "%s/crashed", f->folder);
	first = epoch_at(f->path, "one", false);

	/* Nothing written: nothing to mark. */
	MUST(open_as(f->path, relaxed, &s, err));
	copy_open_store(f, crashed);
	assert_int_equal(epoch_at(crashed, "two", false), first);

	append(s, 4);
	copy_open_store(f, crashed);
	assert_int_equal(epoch_at(crashed, "one", false), first); /* the process died, no more */
	copy_open_store(f, crashed);
	derived = epoch_at(crashed, "two", true);
	assert_int_not_equal(derived, first);
	assert_int_equal(epoch_at(crashed, "two", true), derived);
	assert_int_equal(epoch_at(crashed, "two", false), derived);
	assert_int_equal(epoch_at(crashed, "three", false), derived); /* once is enough */

	/* Two of them: the mark stays until the second is closed. */
	MUST(open_as(f->path, relaxed, &t, err));
	append(t, 5);
	t->ops->close(t);
	copy_open_store(f, crashed);
	assert_int_not_equal(epoch_at(crashed, "two", false), first);
	s->ops->close(s);
	assert_int_equal(epoch_at(f->path, "two", false), first);
}

/* What one handle has read of the epoch does not outlive a change by another one, or by its
 * own writer, and what was cancelled never was. */
static void
test_epoch_is_of_now(void **state)
{
	fixture *f = *state;
	rt_store_sqlite_options plain = {.create = true};
	rt_store *s = NULL, *t = NULL;
	uint64_t first, second, now;

	MUST(open_as(f->path, plain, &s, err));
	MUST(open_as(f->path, plain, &t, err));
	MUST(s->ops->epoch(s, &first, err));
	MUST(s->ops->epoch(s, &now, err));
	assert_int_equal(now, first);
	MUST(t->ops->epoch_renew(t, err));
	MUST(t->ops->epoch(t, &second, err));
	assert_int_not_equal(second, first);
	MUST(s->ops->epoch(s, &now, err));
	assert_int_equal(now, second);

	MUST(s->ops->epoch_renew(s, err));
	MUST(s->ops->epoch(s, &first, err));
	assert_int_not_equal(first, second);
	MUST(t->ops->epoch(t, &now, err));
	assert_int_equal(now, first);

	MUST(s->ops->begin(s, err));
	MUST(s->ops->epoch_renew(s, err));
	MUST(s->ops->epoch(s, &second, err));
	assert_int_not_equal(second, first);
	MUST(t->ops->epoch(t, &now, err));
	assert_int_equal(now, first);
	s->ops->cancel(s);
	MUST(s->ops->epoch(s, &now, err));
	assert_int_equal(now, first);
	s->ops->close(s);
	t->ops->close(t);
}

/* --- processes --- */

static void
wait_for(pid_t child)
{
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Append `count` rows, taking whatever number comes next. */
static int
append_many(const char *path, rt_store_sqlite_options options, int count)
{
	rt_store *s = NULL;
	rt_error why = {0};
	uint64_t project = 0;
	rt_status st = open_as(path, options, &s, &why);

	for (int i = 0; st == RT_OK && i < count; i++) {
		rt_store_row row = {.data = RT_STR("x")};
		uint64_t head = 0;

		st = s->ops->begin(s, &why);
		if (st == RT_OK && rt_store_get(s, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("p")),
						NULL, &project, NULL) != RT_OK)
			st = s->ops->project_new(s, RT_STR("p"), &project, &why);
		if (st == RT_OK)
			st = s->ops->head(s, RT_STORE_LOG, project, &head, &why);
		if (st == RT_OK)
			st = s->ops->append(s, project, head, &row, 1, NULL, 0, NULL, &why);
		if (st == RT_OK)
			st = s->ops->commit(s, &why);
	}
	if (st != RT_OK)
		fprintf(stderr, "%s: %s\n", rt_status_word(st), why.text);
	if (s != NULL)
		s->ops->close(s);
	return st == RT_OK ? 0 : 1;
}

static void
test_processes(void **state)
{
	enum { CHILDREN = 6, COUNT = 60, ROUNDS = 4 };
	fixture *f = *state;
	rt_store *s = NULL;
	uint64_t head = 0;
	int findings = 0;

	for (int round = 1; round <= ROUNDS; round++) {
		pid_t children[CHILDREN];

		for (int i = 0; i < CHILDREN; i++) {
			children[i] = fork();
			assert_true(children[i] >= 0);
			if (children[i] == 0)
				_exit(append_many(f->path,
						  (rt_store_sqlite_options){.create = true,
									    .relaxed = i % 2 == 1},
						  COUNT));
		}
		for (int i = 0; i < CHILDREN; i++)
			wait_for(children[i]);
		MUST(open_as(f->path, WRITE, &s, err));
		MUST(s->ops->head(s, RT_STORE_LOG, 1, &head, err));
		assert_int_equal(head, round * CHILDREN * COUNT);
		MUST(s->ops->check(s, first_finding, &findings, err));
		assert_int_equal(findings, 0);
		s->ops->close(s);
		assert_false(is_there(f->path, "-wal"));
	}
}

/* Acknowledge every append over a pipe until killed. */
static void
append_for_ever(const char *path, bool relaxed, int to)
{
	rt_store_sqlite_options options = {.create = true, .relaxed = relaxed};
	rt_store *s = NULL;
	uint64_t head = 0;

	if (open_as(path, options, &s, NULL) != RT_OK ||
	    s->ops->head(s, RT_STORE_LOG, PROJECT, &head, NULL) != RT_OK)
		_exit(1);
	for (;;) {
		append(s, ++head);
		if (write(to, &head, sizeof(head)) != sizeof(head))
			_exit(1);
	}
}

static void
test_kill(void **state)
{
	enum { KILLS = 12 };
	fixture *f = *state;
	uint64_t last = 0;

	fill(f->path, 0);
	for (int i = 0; i < KILLS; i++) {
		rt_store *s = NULL;
		uint64_t head = 0;
		int ends[2], status = 0, findings = 0;
		pid_t child;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0)
			append_for_ever(f->path, i % 2 == 1, ends[1]);
		close(ends[1]);
		for (int acks = 0; acks < 20 + i * 40; acks++)
			assert_int_equal(read(ends[0], &last, sizeof(last)), sizeof(last));
		assert_int_equal(kill(child, SIGKILL), 0);
		while (read(ends[0], &head, sizeof(head)) == sizeof(head))
			last = head;
		close(ends[0]);
		assert_int_equal(waitpid(child, &status, 0), child);
		MUST(open_as(f->path, WRITE, &s, err));
		MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
		assert_true(head >= last);
		assert_true(head <= last + 1);
		MUST(s->ops->check(s, first_finding, &findings, err));
		assert_int_equal(findings, 0);
		s->ops->close(s);
	}
}

/* --- what goes wrong inside a transaction --- */

static void
test_too_large(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	rt_error why = {0};
	uint64_t head = 0;
	/* Never touched: SQLite looks at the size first. */
	rt_store_row row = {.data = {"x", (size_t)1 << 31}};

	fill(f->path, 3);
	MUST(open_as(f->path, WRITE, &s, err));
	MUST(s->ops->begin(s, err));
	row.data.size = 1;
	MUST(s->ops->append(s, PROJECT, 3, &row, 1, NULL, 0, NULL, err));
	assert_int_equal(s->ops->write(s, rt_rows_named(RT_STORE_SIDE, PROJECT, RT_STR("x")),
				       (rt_str){"x", (size_t)1 << 31}, &why),
			 RT_LIMIT);
	MUST(s->ops->commit(s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 4);
	s->ops->close(s);
}

static void
test_relative_path(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	char here[4096];
	uint64_t project = 0;

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(f->folder), 0);
	MUST(open_as("rel.retake", CREATE, &s, err));
	assert_string_equal(s->place, "rel.retake");
	/* The store stays the same one when the process moves on. */
	assert_int_equal(chdir("/"), 0);
	MUST(s->ops->begin(s, err));
	MUST(s->ops->project_new(s, RT_STR("p"), &project, err));
	MUST(s->ops->commit(s, err));
	s->ops->close(s);
	assert_int_equal(chdir(f->folder), 0);
	MUST(open_as("rel.retake", READ, &s, err));
	MUST(rt_store_get(s, rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("p")), NULL, &project,
			  err));
	s->ops->close(s);
	assert_int_equal(chdir(here), 0);
}

static int
use_after_fork(rt_store *s)
{
	rt_error err = {0};
	uint64_t head = 0;

	if (s->ops->begin(s, &err) != RT_REFUSED ||
	    s->ops->head(s, RT_STORE_LOG, PROJECT, &head, &err) != RT_REFUSED)
		return 1;
	return strstr(err.text, "forked") == NULL;
}

static void
test_fork(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	int status = 0;
	pid_t child;

	fill(f->path, 3);
	MUST(open_as(f->path, WRITE, &s, err));
	append(s, 4);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(use_after_fork(s));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	append(s, 5);
	s->ops->close(s);
}

/* --- a first page that is damaged --- */

static bool
is_recognised(const char *path)
{
	rt_error why = {0};
	bool ours = false;

	assert_int_equal(rt_store_sqlite_recognise(rt_alloc_libc(), path, &ours, &why), RT_OK);
	return ours;
}

static void
test_recognise(void **state)
{
	static const unsigned char zeros[8192];
	fixture *f = *state;
	rt_store *s = NULL;
	struct stat info;
	off_t at;
	int fd;

	assert_false(is_recognised(f->path)); /* not there */
	assert_false(is_recognised(f->folder));
	assert_false(is_recognised("/dev/zero"));
	fill(f->path, 3);
	assert_true(is_recognised(f->path));
	fd = open(f->path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &info) == 0);
	assert_int_equal(pwrite(fd, zeros, sizeof(zeros), 0), sizeof(zeros));
	assert_int_equal(open_as(f->path, WRITE, &s, NULL), RT_NOT_OURS);
	assert_true(is_recognised(f->path));
	for (at = 0; at < info.st_size; at += (off_t)sizeof(zeros))
		assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
	close(fd);
	assert_false(is_recognised(f->path));
}

/* --- another file takes its place, or none --- */

static rt_status
exchange(const char *path, const char *copy, const char *aside, bool *changed, rt_error *err)
{
	return rt_store_sqlite_exchange(rt_alloc_libc(), &env, path, copy, aside, changed, err);
}

/* Open it in another process, look into it once and wait. */
static pid_t
open_elsewhere(const char *path, int *out_release)
{
	int ready[2], release[2];
	char byte = 0;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(release), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		rt_store *s = NULL;

		close(release[1]);
		if (open_as(path, WRITE, &s, NULL) != RT_OK || write(ready[1], &byte, 1) != 1)
			_exit(1);
		(void)!read(release[0], &byte, 1);
		s->ops->close(s);
		_exit(0);
	}
	close(ready[1]);
	close(release[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*out_release = release[1];
	return child;
}

static void
test_remove_empty(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	rt_error why = {0};
	bool removed = true;
	int release = -1;
	pid_t child;

	MUST(open_as(f->path, CREATE, &s, err));
	s->ops->close(s);
	child = open_elsewhere(f->path, &release);
	assert_int_equal(
		rt_store_sqlite_remove_empty(rt_alloc_libc(), &env, f->path, &removed, &why),
		RT_OK);
	assert_false(removed);
	assert_true(is_there(f->path, ""));
	close(release);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(
		rt_store_sqlite_remove_empty(rt_alloc_libc(), &env, f->path, &removed, &why),
		RT_OK);
	assert_true(removed);
	assert_false(is_there(f->path, "") || is_there(f->path, "-wal") ||
		     is_there(f->path, "-shm"));
	fill(f->path, 1);
	assert_int_equal(
		rt_store_sqlite_remove_empty(rt_alloc_libc(), &env, f->path, &removed, &why),
		RT_OK);
	assert_false(removed);
	assert_true(is_there(f->path, ""));
}

static void
test_exchange(void **state)
{
	fixture *f = *state;
	char copy[150], aside[150];
	rt_store *s = NULL;
	rt_error why = {0};
	uint64_t head = 0;
	bool changed = true;
	int release = -1;
	pid_t child;

	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	snprintf(aside, sizeof(aside), "%s/aside", f->folder);
	fill(f->path, 7);
	fill(copy, 3);
	/* Somebody else has it open, and has not even begun to write. */
	child = open_elsewhere(f->path, &release);
	assert_int_equal(exchange(f->path, copy, aside, &changed, &why), RT_BUSY);
	assert_false(changed);
	assert_non_null(strstr(why.text, "in use"));
	assert_true(is_there(copy, ""));
	assert_false(is_there(aside, ""));
	close(release);
	wait_for(child);
	/* A name that is taken is not taken away. */
	fill(aside, 1);
	assert_int_equal(exchange(f->path, copy, aside, &changed, &why), RT_REFUSED);
	assert_false(changed);
	assert_int_equal(unlink(aside), 0);
	MUST(exchange(f->path, copy, aside, &changed, err));
	assert_true(changed);
	MUST(open_as(f->path, WRITE, &s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 3);
	s->ops->close(s);
	MUST(open_as(aside, WRITE, &s, err));
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 7);
	s->ops->close(s);
	assert_false(is_there(copy, ""));
	/* A log without its store is not taken for the log of what comes. */
	fill(copy, 3);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(unlink(aside), 0);
	snprintf(copy, sizeof(copy), "%s-wal", f->path);
	put_bytes(copy, "a log of old", 12);
	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	MUST(exchange(f->path, copy, aside, &changed, err));
	assert_true(is_there(aside, "-wal"));
	assert_false(is_there(f->path, "-wal"));
}

/* The last name cannot be given: the earlier ones are taken back. */
static void
test_exchange_undone(void **state)
{
	static const char *const names[] = {"", "-wal", "-shm"};
	fixture *f = *state;
	char copy[150], aside[150], name[180];
	rt_error why = {0};
	bool changed = true;

	snprintf(copy, sizeof(copy), "%s/copy", f->folder);
	snprintf(aside, sizeof(aside), "%s/aside", f->folder);
	for (int i = 0; i < 3; i++) { /* no store, so nobody settles the log */
		snprintf(name, sizeof(name), "%s%s", f->path, names[i]);
		put_bytes(name, names[i], strlen(names[i]));
	}
	assert_int_equal(mkdir(copy, 0700), 0); /* a folder cannot take a file's place */
	assert_int_equal(exchange(f->path, copy, aside, &changed, &why), RT_IO);
	assert_false(changed);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", f->path, names[i]);
		expect_bytes(name, names[i], strlen(names[i]));
		assert_false(is_there(aside, names[i]));
	}
	/* The second name cannot be given. */
	snprintf(name, sizeof(name), "%s-shm", aside);
	put_bytes(name, "taken", 5);
	assert_int_equal(exchange(f->path, copy, aside, &changed, &why), RT_REFUSED);
	assert_false(changed);
	assert_true(is_there(f->path, "") && is_there(f->path, "-wal") &&
		    is_there(f->path, "-shm"));
	assert_false(is_there(aside, "") || is_there(aside, "-wal"));
	expect_bytes(name, "taken", 5);
}

/* A store that has another file's name now is not written to. */
static void
test_replaced(void **state)
{
	fixture *f = *state;
	char other[180];
	rt_store *s = NULL;
	rt_error why = {0};

	snprintf(other, sizeof(other), "%s/other", f->folder);
	fill(f->path, 2);
	fill(other, 2);
	for (int written = 0; written < 2; written++) { /* before and after its first write */
		MUST(open_as(f->path, WRITE, &s, err));
		if (written)
			append(s, 3);
		assert_int_equal(rename(other, f->path), 0);
		assert_int_equal(s->ops->begin(s, &why), RT_REFUSED);
		assert_non_null(strstr(why.text, "was replaced by another file"));
		assert_int_equal(unlink(f->path), 0);
		assert_int_equal(s->ops->begin(s, &why), RT_REFUSED);
		assert_non_null(strstr(why.text, "not there any more"));
		s->ops->close(s);
		snprintf(other, sizeof(other), "rm -f '%s'-*", f->path);
		assert_int_equal(system(other), 0);
		snprintf(other, sizeof(other), "%s/other", f->folder);
		fill(f->path, 2);
		fill(other, 2);
	}
}

/* ---- turns ---- */

typedef struct waiter {
	rt_store *store;
	_Atomic bool had_it;
} waiter;

static void *
wait_for_turn(void *ctx)
{
	waiter *w = ctx;

	if (w->store->ops->begin(w->store, NULL) == RT_OK) {
		w->had_it = true;
		w->store->ops->cancel(w->store);
	}
	return NULL;
}

static unsigned
waiting(rt_sqlite_store *s)
{
	unsigned count;

	pthread_mutex_lock(&s->guard);
	count = s->waiting;
	pthread_mutex_unlock(&s->guard);
	return count;
}

/* Who begins again right after a commit comes after a thread that waits already. */
static void
test_turns(void **state)
{
	fixture *f = *state;
	waiter w = {NULL, false};
	pthread_t thread;
	int i;

	MUST(open_as(f->path, CREATE, &w.store, err));
	for (i = 0; i < 50; i++) {
		w.had_it = false;
		MUST(w.store->ops->begin(w.store, err));
		assert_int_equal(pthread_create(&thread, NULL, wait_for_turn, &w), 0);
		while (waiting(rt_sqlite_self(w.store)) == 0)
			usleep(100);
		MUST(w.store->ops->commit(w.store, err));
		MUST(w.store->ops->begin(w.store, err));
		assert_true(w.had_it);
		w.store->ops->cancel(w.store);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	w.store->ops->close(w.store);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_missing),
		TEST(test_turns),
		TEST(test_other_files),
		TEST(test_not_files),
		TEST(test_foreign_database),
		TEST(test_newer),
		TEST(test_read_only),
		TEST(test_unreadable),
		TEST(test_read_only_folder),
		TEST(test_read_only_tick),
		TEST(test_cut),
		TEST(test_flips),
		TEST(test_findings),
		TEST(test_damaged_backup),
		TEST(test_relaxed_epoch),
		TEST(test_processes),
		TEST(test_epoch_is_of_now),
		TEST(test_kill),
		TEST(test_too_large),
		TEST(test_relative_path),
		TEST(test_fork),
		TEST(test_header_only_log),
		TEST(test_recognise),
		TEST(test_remove_empty),
		TEST(test_exchange),
		TEST(test_exchange_undone),
		TEST(test_replaced),
	};

	return cmocka_run_group_tests_name("store_sqlite", tests, NULL, NULL);
}
