/* SPDX-License-Identifier: MIT
 *
 * The SQLite store and its file: creating it, files that are refused and not changed, versions,
 * reading only. The contract that it shares with other stores is in store_contract_test.c, loss of
 * power in tests/power/. */
#include "store/store_sqlite_testing.h"
#include "store/store_sqlite_old_index_testing.h"

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
	REFUSED(f->path, CREATE, RT_NOT_OURS); /* and does not wait for a writer */
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
			   rt_row_sum(RT_TABLE_META, 0,
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

static bool
count_hit(void *ctx, uint64_t number, uint64_t entry)
{
	assert_int_equal(number, 1);
	assert_int_equal(entry, 1);
	++*(int *)ctx;
	return true;
}

static void
test_old_index(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	uint64_t mark = 99;
	int findings = 0, hits = 0;
	size_t size = 0;
	unsigned char *bytes;

	fill(f->path, 3);
	make_index_old(f->path, "quick zyxwvut fox");
	bytes = bytes_of(f->path, &size);
	assert_non_null(memmem(bytes, size, "zyxwvut", 7));
	free(bytes);
	MUST(open_as(f->path, WRITE, &s, err));
	MUST(s->ops->check(s, first_finding, &findings, err));
	assert_int_equal(findings, 0);
	MUST(s->ops->head(s, RT_STORE_INDEX, PROJECT, &mark, err));
	assert_int_equal(mark, 0); /* it counts as empty, */
	MUST(s->ops->begin(s, err));
	MUST(s->ops->drop(s, rt_rows_one(RT_STORE_INDEX, PROJECT, 1), err));
	MUST(s->ops->commit(s, err));
	MUST(s->ops->scrub(s, err)); /* but a purge reaches it */
	s->ops->close(s);
	bytes = bytes_of(f->path, &size);
	assert_null(memmem(bytes, size, "zyxwvut", 7));
	free(bytes);

	MUST(open_as(f->path, WRITE, &s, err));
	MUST(s->ops->begin(s, err)); /* the first text replaces it */
	MUST(s->ops->index_add(s, PROJECT, 1, 1, RT_STR("quick brown fox"), err));
	MUST(s->ops->commit(s, err));
	MUST(s->ops->head(s, RT_STORE_INDEX, PROJECT, &mark, err));
	assert_int_equal(mark, 1);
	MUST(s->ops->index_find(s, PROJECT, RT_STR("bro*"), 0, count_hit, &hits, err));
	assert_int_equal(hits, 1);
	MUST(s->ops->check(s, first_finding, &findings, err));
	assert_int_equal(findings, 0);
	s->ops->close(s);
}

/* An index that was made with other rules for words is filled again from the first text on. */
static void
test_index_of_other_words(void **state)
{
	fixture *f = *state;
	rt_store *s = NULL;
	uint64_t mark = 99;
	int findings = 0, hits = 0;

	fill(f->path, 3);
	MUST(open_as(f->path, WRITE, &s, err));
	MUST(s->ops->begin(s, err));
	MUST(s->ops->index_add(s, PROJECT, 1, 1, RT_STR("old terms"), err));
	MUST(s->ops->index_add(s, PROJECT, 2, 2, RT_STR("more"), err));
	MUST(s->ops->commit(s, err));
	MUST(s->ops->head(s, RT_STORE_INDEX, PROJECT, &mark, err));
	assert_int_equal(mark, 2);
	s->ops->close(s);
	make_index_words_1(f->path);
	MUST(open_as(f->path, WRITE, &s, err));
	MUST(s->ops->check(s, first_finding, &findings, err));
	assert_int_equal(findings, 0);
	MUST(s->ops->head(s, RT_STORE_INDEX, PROJECT, &mark, err));
	assert_int_equal(mark, 0);
	MUST(s->ops->begin(s, err));
	MUST(s->ops->index_add(s, PROJECT, 1, 1, RT_STR("new terms"), err));
	MUST(s->ops->commit(s, err));
	MUST(s->ops->head(s, RT_STORE_INDEX, PROJECT, &mark, err));
	assert_int_equal(mark, 1);
	MUST(s->ops->index_find(s, PROJECT, RT_STR("old"), 0, count_hit, &hits, err));
	assert_int_equal(hits, 0);
	MUST(s->ops->index_find(s, PROJECT, RT_STR("new"), 0, count_hit, &hits, err));
	assert_int_equal(hits, 1);
	MUST(s->ops->check(s, first_finding, &findings, err));
	assert_int_equal(findings, 0);
	s->ops->close(s);
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

	/* A writer starts, and its commits are visible. */
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
	/* The reader closed last and removed nothing; the next writer does. */
	MUST(open_as(f->path, WRITE, &s, err));
	s->ops->close(s);
	assert_false(is_there(f->path, "-wal"));

	/* A store that was not closed: its log is read, and not a byte of it changes. */
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
 * and no frame, and a -shm that no process uses. It is neither a lock nor damage. */
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
	/* A writer that starts now is noticed as usual. */
	MUST(open_as(copy, WRITE, &writer, err));
	append(writer, 4);
	MUST(s->ops->head(s, RT_STORE_LOG, PROJECT, &head, err));
	assert_int_equal(head, 4);
	writer->ops->close(writer);
	s->ops->close(s);
	free(log);
}

/* Runs a function as an unprivileged user. False: not possible here. */
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

/* Reads a file with a date in the near future; had that date passed when the read ended? */
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

/* A file written within the current clock tick may be written again without a change of its date.
 * So a reader without locks starts in a later tick. On a busy machine the clock itself may be late,
 * and the date is then taken for one of another machine: so most of the attempts have to pass, not
 * all. */
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_missing),
		TEST(test_other_files),
		TEST(test_not_files),
		TEST(test_foreign_database),
		TEST(test_newer),
		TEST(test_old_index),
		TEST(test_index_of_other_words),
		TEST(test_read_only),
		TEST(test_unreadable),
		TEST(test_read_only_folder),
		TEST(test_read_only_tick),
		TEST(test_header_only_log),
	};

	return cmocka_run_group_tests_name("store_sqlite", tests, NULL, NULL);
}
