/* SPDX-License-Identifier: MIT
 *
 * Database: an SQLite file of another program, read as records. SQLite reads the rt_input itself,
 * through a file system (sqlite3_vfs) that has this one file and refuses every write, so a database
 * can come from a file, an upload, a pipe or an archive. The write-ahead log of a file is already
 * part of the input (app/input_wal.h).
 *
 *     rt_db *db = rt_db_open(&r, in);
 *     rt_db_rows chats;
 *
 *     if (rt_db_rows_open(&chats, db, "chat", "1", "''", "created_at"))
 *             for (rt_db_find(&chats, RT_STR("")); rt_db_next(&chats);) {
 *                     buf = rt_db_begin(db);
 *                     rt_db_put_row(&chats, buf, "chat");
 *                     record = rt_db_end(db, buf);          as rt_reader_record
 *             }
 *
 * Programs often have no index for the order in which their rows are read here. So one is made first,
 * of keys and row numbers only, in memory and limited; the rows are then fetched one by one. A row
 * that is damaged or too large is skipped with a remark.
 *
 * The schema is not trusted: only ordinary tables are read, never views or virtual tables, functions
 * in the schema cannot have effects, and the work is limited in proportion to the file. */
#ifndef RT_IMPORTERS_DATABASE_H
#define RT_IMPORTERS_DATABASE_H

#include "formats/formats_reader.h"

typedef struct rt_db rt_db;
struct sqlite3_stmt;

/* From the first bytes. */
bool rt_db_is(rt_str head);
bool rt_db_is_input(rt_reader *r, const rt_input *in);
/* For examine of an rt_format: is it a database with all of these tables and columns ("table" or
 * "table.column")? */
bool rt_db_defines(rt_scope *s, rt_str head, const rt_input *in, const char *tables);

/* NULL: the reader has failed, RT_USAGE: damaged. Closed with the reader. */
rt_db *rt_db_open(rt_reader *r, const rt_input *in);
/* Is there an ordinary table with these columns? */
bool rt_db_has(rt_db *db, const char *table, const char *columns);

/* The rows of a table that have the same key, in an order. */
typedef struct rt_db_rows {
	rt_db *db;
	const char *table;
	struct sqlite3_stmt *numbers, *row;
} rt_db_rows;

/* where, key and order are SQL expressions over the table's columns. False: there is no such table;
 * the other functions then find no rows. */
bool rt_db_rows_open(rt_db_rows *rows, rt_db *db, const char *table, const char *where,
		     const char *key, const char *order);
/* The same by a column that is the table's primary key, without an index of our own. */
bool rt_db_rows_by(rt_db_rows *rows, rt_db *db, const char *table, const char *column);
void rt_db_find(rt_db_rows *rows, rt_str key);
/* The next row; false: no more, or the reader has failed. */
bool rt_db_next(rt_db_rows *rows);
/* A column of the row as far as it is UTF-8, until the next one; empty if it is NULL or missing. */
rt_str rt_db_text(rt_db_rows *rows, const char *column);

/* All columns as members of the open object; those in json contain JSON. A BLOB is base64. */
void rt_db_put_row(rt_db_rows *rows, rt_buf *buf, const char *json);
/* All rows with this key as an array of objects, unless there are none. */
void rt_db_put_rows(rt_db_rows *rows, rt_buf *buf, const char *member, rt_str key,
		    const char *json);

/* An empty buffer in which an object is open; the object becomes the reader's record. NULL: it was
 * not JSON and has been skipped. */
rt_buf *rt_db_begin(rt_db *db);
yyjson_val *rt_db_end(rt_db *db);

#endif
