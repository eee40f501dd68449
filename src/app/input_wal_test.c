/* SPDX-License-Identifier: MIT
 *
 * A database that another program has open. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "app/input_host.h"

static char folder[] = "/tmp/retake-input-XXXXXX", path[64];

static int
make_folder(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/a.db", folder);
	return 0;
}

static int
remove_folder(void **state)
{
	static const char *const names[] = {"", "-wal", "-shm", "-journal"};
	char name[80];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(name, sizeof(name), "%s%s", path, names[i]);
		(void)unlink(name);
	}
	return rmdir(folder);
}

static void
run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/* Reads the input and counts the rows of a table in it; -1: RT_BUSY while reading. */
static int
count_rows(rt_file_input *input)
{
	size_t size = 0, got = 1, step = 700;
	char *bytes = sqlite3_malloc64(input->in.size + 700);
	sqlite3_stmt *stmt;
	sqlite3 *db;
	int rows;

	assert_non_null(bytes);
	for (; got > 0; size += got) {
		rt_status st = input->in.read_at(input->in.ctx, size, bytes + size, step, &got, NULL);

		if (st == RT_BUSY) {
			sqlite3_free(bytes);
			return -1;
		}
		assert_int_equal(st, RT_OK);
	}
	assert_int_equal(size, input->in.size);
	bytes[18] = bytes[19] = 1; /* no log */
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_deserialize(db, "main", (unsigned char *)bytes, (sqlite3_int64)size,
					     (sqlite3_int64)size,
					     SQLITE_DESERIALIZE_FREEONCLOSE |
						     SQLITE_DESERIALIZE_READONLY),
			 SQLITE_OK);
	run(db, "PRAGMA integrity_check");
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	rows = sqlite3_column_int(stmt, 0);
	assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return rows;
}

static void
test_log(void **state)
{
	rt_file_input input;
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	run(db, "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
		"CREATE TABLE t(x); INSERT INTO t VALUES(1); PRAGMA wal_checkpoint(TRUNCATE);");
	assert_int_equal(rt_file_input_open(&input, path, NULL), RT_OK);
	assert_null(input.wal);
	assert_int_equal(count_rows(&input), 1);
	rt_file_input_close(&input);

	run(db, "INSERT INTO t VALUES(2); INSERT INTO t VALUES(zeroblob(5000)); BEGIN;"
		"INSERT INTO t VALUES(4);");
	assert_int_equal(rt_file_input_open(&input, path, NULL), RT_OK);
	assert_non_null(input.wal);
	assert_int_equal(count_rows(&input), 3);
	run(db, "COMMIT"); /* the log grows, but not the opened input */
	assert_int_equal(count_rows(&input), 3);
	run(db, "PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES(5)");
	assert_int_equal(count_rows(&input), -1);
	assert_true(rt_file_input_again(&input));
	assert_int_equal(count_rows(&input), 5);
	rt_file_input_close(&input);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A log that ends in the middle of a frame, or is damaged, counts up to there. */
static void
test_damaged_log(void **state)
{
	char name[80], byte = 'x';
	rt_file_input input;
	sqlite3 *db;
	int fd, last = 2;

	(void)state;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	run(db, "PRAGMA wal_autocheckpoint = 0; DELETE FROM t; INSERT INTO t VALUES(1), (2);"
		"PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES(3); INSERT INTO t VALUES(4);");
	(void)snprintf(name, sizeof(name), "%s-wal", path);
	fd = open(name, O_RDWR);
	assert_true(fd >= 0);
	for (off_t at = lseek(fd, 0, SEEK_END) - 1; at > 0; at -= 500) {
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_int_equal(rt_file_input_open(&input, path, NULL), RT_OK);
		last = count_rows(&input);
		assert_in_range(last, 2, 4);
		rt_file_input_close(&input);
	}
	assert_int_equal(last, 2);
	(void)close(fd);
	(void)sqlite3_close(db);
}

static void
test_journal(void **state)
{
	static const unsigned char magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	rt_file_input input;
	rt_error err = {.text = ""};
	char name[80];
	int fd;

	(void)state;
	(void)snprintf(name, sizeof(name), "%s-journal", path);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(fd, magic, sizeof(magic)), sizeof(magic));
	assert_int_equal(rt_file_input_open(&input, path, &err), RT_BUSY);
	assert_non_null(strstr(err.text, "has an unfinished transaction"));
	assert_int_equal(ftruncate(fd, 0), 0); /* as PRAGMA journal_mode = TRUNCATE leaves it */
	assert_int_equal(rt_file_input_open(&input, path, &err), RT_OK);
	rt_file_input_close(&input);
	(void)close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_damaged_log),
		cmocka_unit_test(test_journal),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
