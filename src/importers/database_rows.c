/* SPDX-License-Identifier: MIT
 *
 * An index is a temporary table with a key, the sort value within the key, and the row's number. */
#include "importers/database_impl.h"

#include <math.h>
#include <stdio.h> /* snprintf */

#include "base/encode.h"

enum { SQL_MAX = 500 };

static void
finalize(void *item)
{
	(void)sqlite3_finalize(item);
}

/* NULL: the reader has failed. */
static sqlite3_stmt *
prepare(rt_db *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (rt_ok(&db->r->b.s) &&
	    rt_db_note(db, sqlite3_prepare_v2(db->sqlite, sql, -1, &stmt, NULL)) == RT_OK)
		rt_scope_defer(&db->r->b.s, finalize, stmt);
	return rt_ok(&db->r->b.s) ? stmt : NULL;
}

static void
run(rt_db *db, const char *sql)
{
	if (rt_ok(&db->r->b.s))
		(void)rt_db_note(db, sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL));
}

/* Damage of one place in the file, or a row that is too large. */
static bool
is_local(int code)
{
	code &= 0xff;
	return code == SQLITE_CORRUPT || code == SQLITE_TOOBIG;
}

/* SQLite checks the cells of a page only when it loads the page, so a page that failed must not stay in the
 * cache: a cell at its end may continue in whatever memory follows. */
static void
forget_damaged(rt_db *db, int code)
{
	if (is_local(code))
		(void)sqlite3_db_release_memory(db->sqlite);
}

static rt_str
column_text(sqlite3_stmt *stmt, int at)
{
	const char *text = (const char *)sqlite3_column_text(stmt, at);

	return rt_str_at(text, text == NULL ? 0 : (size_t)sqlite3_column_bytes(stmt, at));
}

static void
bind_text(sqlite3_stmt *stmt, int at, rt_str text)
{
	/* A failure shows in the result of the step. */
	(void)sqlite3_bind_text64(stmt, at, text.ptr == NULL ? "" : text.ptr, text.size,
				  SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* ---- tables ---- */

static bool
has_row(rt_db *db, const char *sql, const char *table, rt_str column)
{
	sqlite3_stmt *stmt = prepare(db, sql);
	int code;

	if (stmt == NULL)
		return false;
	bind_text(stmt, 1, rt_str_of(table));
	if (column.size > 0)
		bind_text(stmt, 2, column);
	code = sqlite3_step(stmt);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		(void)rt_db_note(db, code);
	(void)sqlite3_reset(stmt);
	return code == SQLITE_ROW;
}

bool
rt_db_has(rt_db *db, const char *table, const char *columns)
{
	static const char is_table[] =
		"SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1"
		" AND sql LIKE 'CREATE TABLE%'";
	static const char has_column[] =
		"SELECT 1 FROM pragma_table_info(?1, 'main') WHERE name = ?2";
	rt_str word;

	if (db == NULL || !has_row(db, is_table, table, RT_STR("")))
		return false;
	while (rt_next_word(&columns, &word))
		if (!has_row(db, has_column, table, word))
			return false;
	return rt_ok(&db->r->b.s);
}

/* Adds rows to an index, up to the end or to damage, which is returned. *last: the last row. */
static int
fill_from(rt_db *db, const char *select, sqlite3_stmt *to, int64_t *last)
{
	sqlite3_stmt *from = prepare(db, select);
	int code = SQLITE_DONE;

	while (rt_ok(&db->r->b.s) && (code = sqlite3_step(from)) == SQLITE_ROW) {
		*last = sqlite3_column_int64(from, 2);
		bind_text(to, 1, column_text(from, 0));
		(void)sqlite3_bind_value(to, 2, sqlite3_column_value(from, 1));
		(void)sqlite3_bind_value(to, 3, sqlite3_column_value(from, 2));
		(void)sqlite3_step(to);
		(void)rt_db_note(db, sqlite3_reset(to));
	}
	(void)sqlite3_reset(from);
	forget_damaged(db, code);
	return code;
}

/* Fills an index. Rows after damaged ones are read from the end of the table. */
static void
fill(rt_db *db, const char *table, const char *select, const char *insert)
{
	sqlite3_stmt *to = prepare(db, insert);
	int64_t last = 0, first = INT64_MAX;
	char words[80] = "the last ones", backwards[SQL_MAX + 32];
	int code;

	run(db, "BEGIN");
	code = fill_from(db, select, to, &last);
	if (rt_ok(&db->r->b.s) && is_local(code)) {
		run(db, "ROLLBACK"); /* it cannot be committed any more */
		(void)fill_from(db, select, to, &last);
		(void)snprintf(backwards, sizeof(backwards), "%s ORDER BY rowid DESC", select);
		(void)fill_from(db, backwards, to, &first);
		if (first != INT64_MAX && first > last + 1)
			(void)snprintf(words, sizeof(words), "some rows between %lld and %lld",
				       (long long)last, (long long)first);
		else if (first == INT64_MAX && last > 0)
			(void)snprintf(words, sizeof(words), "the rows after %lld", (long long)last);
		else if (first == INT64_MAX)
			(void)snprintf(words, sizeof(words), "all rows");
		rt_report_add(db->r->report, RT_REMARK_SKIPPED, 0,
			      "the table \"%s\" is damaged: %s are lost", table, words);
	} else {
		(void)rt_db_note(db, code);
		run(db, "COMMIT");
	}
}

bool
rt_db_rows_open(rt_db_rows *rows, rt_db *db, const char *table, const char *where, const char *key,
		const char *order)
{
	char sql[SQL_MAX], insert[SQL_MAX];
	unsigned number;

	*rows = (rt_db_rows){.db = db, .table = table};
	if (!rt_db_has(db, table, ""))
		return false;
	number = db->indexes++;
	(void)snprintf(sql, sizeof(sql),
		       "CREATE TABLE temp.i%u(k, o, r, PRIMARY KEY(k, o, r)) WITHOUT ROWID", number);
	run(db, sql);
	(void)snprintf(sql, sizeof(sql),
		       "SELECT %s, ifnull(%s, ''), rowid FROM main.\"%s\" WHERE %s", key, order, table,
		       where);
	(void)snprintf(insert, sizeof(insert), "INSERT OR IGNORE INTO temp.i%u VALUES(?1, ?2, ?3)",
		       number);
	fill(db, table, sql, insert);
	(void)snprintf(sql, sizeof(sql), "SELECT r FROM temp.i%u WHERE k = ?1 ORDER BY o, r", number);
	rows->numbers = prepare(db, sql);
	(void)snprintf(sql, sizeof(sql), "SELECT * FROM main.\"%s\" WHERE rowid = ?1", table);
	rows->row = prepare(db, sql);
	return rt_ok(&db->r->b.s);
}

bool
rt_db_rows_by(rt_db_rows *rows, rt_db *db, const char *table, const char *column)
{
	char sql[SQL_MAX];

	*rows = (rt_db_rows){.db = db, .table = table};
	if (!rt_db_has(db, table, column))
		return false;
	(void)snprintf(sql, sizeof(sql), "SELECT rowid FROM main.\"%s\" WHERE \"%s\" = ?1", table,
		       column);
	rows->numbers = prepare(db, sql);
	(void)snprintf(sql, sizeof(sql), "SELECT * FROM main.\"%s\" WHERE rowid = ?1", table);
	rows->row = prepare(db, sql);
	return rt_ok(&db->r->b.s);
}

void
rt_db_find(rt_db_rows *rows, rt_str key)
{
	if (rows->row == NULL)
		return;
	(void)sqlite3_reset(rows->numbers);
	bind_text(rows->numbers, 1, key);
}

bool
rt_db_next(rt_db_rows *rows)
{
	int code = SQLITE_DONE;

	if (rows->row == NULL || !rt_ok(&rows->db->r->b.s))
		return false;
	while ((code = sqlite3_step(rows->numbers)) == SQLITE_ROW) {
		(void)sqlite3_reset(rows->row);
		(void)sqlite3_bind_value(rows->row, 1, sqlite3_column_value(rows->numbers, 0));
		code = sqlite3_step(rows->row);
		if (code == SQLITE_ROW)
			return true;
		if (!is_local(code) && code != SQLITE_DONE)
			break;
		rt_report_add(rows->db->r->report, RT_REMARK_SKIPPED, 0,
			      "skipped row %lld of the table \"%s\": %.80s",
			      (long long)sqlite3_column_int64(rows->numbers, 0), rows->table,
			      code == SQLITE_DONE ? "only an index has it"
						  : sqlite3_errmsg(rows->db->sqlite));
		(void)sqlite3_reset(rows->row);
		forget_damaged(rows->db, code);
	}
	(void)rt_db_note(rows->db, code);
	(void)sqlite3_reset(rows->numbers);
	(void)sqlite3_reset(rows->row);
	return false;
}

rt_str
rt_db_text(rt_db_rows *rows, const char *column)
{
	for (int i = 0; i < sqlite3_column_count(rows->row); i++)
		if (sqlite3_stricmp(sqlite3_column_name(rows->row, i), column) == 0) {
			rt_str text = column_text(rows->row, i);

			return rt_str_at(text.ptr, rt_utf8_valid_size(text));
		}
	return RT_STR("");
}

/* ---- rows as JSON ---- */

static void
put_text(rt_db_rows *rows, rt_buf *buf, rt_str text)
{
	rt_buf *repaired = rows->db->r->b.scratch;

	if (rt_utf8_valid_size(text) < text.size) {
		rt_buf_clear(repaired);
		rt_utf8_repair(repaired, text);
		text = rt_buf_str(repaired);
	}
	rt_json_add_string(buf, text);
}

static bool
is_valid(rt_db *db, rt_str json)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_json_read_repairing(db->r->b.alloc, json, &doc, NULL, NULL);

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(&db->r->b.s);
	rt_json_free(doc);
	return st == RT_OK;
}

static void
put_value(rt_db_rows *rows, rt_buf *buf, int at, bool is_json)
{
	sqlite3_stmt *row = rows->row;
	int type = sqlite3_column_type(row, at);
	rt_str text;

	if (type == SQLITE_INTEGER) {
		rt_buf_add_i64(buf, sqlite3_column_int64(row, at));
	} else if (type == SQLITE_FLOAT && isfinite(sqlite3_column_double(row, at))) {
		rt_buf_add_str(buf, column_text(row, at));
	} else if (type == SQLITE_TEXT || (type == SQLITE_BLOB && is_json)) {
		text = column_text(row, at);
		if (is_json && is_valid(rows->db, text))
			rt_buf_add_str(buf, text);
		else
			put_text(rows, buf, text);
	} else if (type == SQLITE_BLOB) {
		const char *bytes = sqlite3_column_blob(row, at);

		rt_buf_add_byte(buf, '"');
		rt_buf_add_base64(buf, rt_str_at(bytes, (size_t)sqlite3_column_bytes(row, at)));
		rt_buf_add_byte(buf, '"');
	} else {
		rt_buf_add_c(buf, "null");
	}
}

void
rt_db_put_row(rt_db_rows *rows, rt_buf *buf, const char *json)
{
	for (int i = 0; i < sqlite3_column_count(rows->row); i++) {
		rt_str name = rt_str_of(sqlite3_column_name(rows->row, i));

		rt_json_add_comma(buf);
		put_text(rows, buf, name);
		rt_buf_add_byte(buf, ':');
		put_value(rows, buf, i, rt_is_word(name, json));
	}
}

void
rt_db_put_rows(rt_db_rows *rows, rt_buf *buf, const char *member, rt_str key, const char *json)
{
	bool is_first = true;

	for (rt_db_find(rows, key); rt_db_next(rows); is_first = false) {
		if (is_first)
			rt_json_open(buf, member, '[');
		rt_json_open(buf, NULL, '{');
		rt_db_put_row(rows, buf, json);
		rt_json_close(buf, '}');
	}
	if (!is_first)
		rt_json_close(buf, ']');
}

rt_buf *
rt_db_begin(rt_db *db)
{
	rt_buf_clear(db->buf);
	rt_json_open(db->buf, NULL, '{');
	return db->buf;
}

yyjson_val *
rt_db_end(rt_db *db)
{
	rt_reader *r = db->r;
	rt_error fault = {.text = ""};
	yyjson_val *value;

	rt_json_close(db->buf, '}');
	r->record = rt_scope_str(&r->b.s, db->buf);
	if (!rt_ok(&r->b.s))
		return NULL;
	rt_reader_hold(r, r->record, 0);
	value = rt_build_parse(&r->b, r->record, &r->repaired, &fault);
	if (value == NULL && rt_ok(&r->b.s))
		rt_reader_skipped(r, "skipped a record of the database: %.120s", fault.text);
	return value;
}
