/* SPDX-License-Identifier: MIT
 *
 * A store as versions up to 0.1 left it: with their full-text index. */
#ifndef RT_STORE_SQLITE_OLD_INDEX_TESTING_H
#define RT_STORE_SQLITE_OLD_INDEX_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "store/store_sqlite_impl.h"

/* Makes the index one of other rules for words, with all that it contains. */
static inline void
make_index_words_1(const char *path)
{
	sqlite3 *db = NULL;
	char sql[512];

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	snprintf(sql, sizeof(sql),
		 "ALTER TABLE found RENAME TO present; %s; INSERT INTO found SELECT * FROM present; DROP TABLE present;",
		 RT_SQLITE_INDEX_WORDS_1);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Replaces the index by one of an earlier version with a text of body 1 of project 1. */
static inline void
make_index_old(const char *path, const char *text)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(rt_sqlite_words_register(db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "DROP TABLE found;" RT_SQLITE_INDEX_OLD,
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "INSERT INTO found(rowid, text, entry)"
					    " VALUES((1 << 43) + 1, ?1, 1)",
					    -1, &stmt, NULL),
			 SQLITE_OK);
	sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	assert_int_equal(sqlite3_close(db), SQLITE_OK); /* writes everything into the file */
}

#endif
