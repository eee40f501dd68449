/* SPDX-License-Identifier: MIT
 *
 * Salvage: copies every intact row of a damaged file into a new store.
 *
 * The trees of the file are not followed. Each page is examined by itself: every row has a
 * checksum over its table, key and data, which identifies the table and proves that the row is
 * intact. Rows are read where a page's cell pointers say they are; after that every byte of the
 * page is tried as the start of one, since the pointers may be damaged or outdated.
 *
 * A cell of a table:      size of the record (varint), rowid (varint), record
 * A cell of side:         [child page, 4 bytes, on an inner page,] size, record
 * A record:               size of its header (varint), a type (varint) for each column, values
 * What does not fit continues in a chain of other pages: 4 bytes number of the next, then data.
 * (https://www.sqlite.org/fileformat2.html)
 *
 * The new store may lack rows of the log; it is for rt_engine_salvage, not for use. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "store/store_sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* snprintf */
#include <sys/stat.h>
#include <unistd.h>

enum {
	COLUMNS_MAX = 5,
	TABLE_LEAF = 13,
	TABLE_INNER = 5,
	INDEX_LEAF = 10,
	INDEX_INNER = 2,
	HEADER_MAX = 64 /* of a record of a Retake store */
};

typedef struct column {
	uint64_t type;
	size_t at, size; /* in the record */
} column;

typedef struct salvage {
	rt_scope *scope;
	rt_sqlite_call *call; /* on the new store; NULL: rows are only counted */
	sqlite3_stmt *add[RT_TABLE_MARK + 1];
	const unsigned char *bytes; /* of the file */
	uint32_t pages;
	rt_buf *record; /* of the current cell */
	rt_store_salvaged *found;
} salvage;

/* Parameters as for rt_sqlite_row_bind. */
static const char *const add_sql[RT_TABLE_MARK + 1] = {
	[RT_TABLE_PROJECT] = "INSERT OR IGNORE INTO project(id, sum, name) VALUES(?1, ?2, ?3)",
	[RT_TABLE_LOG] = "INSERT OR IGNORE INTO log(key, step, at, sum, data)"
			 " VALUES(?1, ?5, ?4, ?2, ?3)",
	[RT_TABLE_BODY] = "INSERT OR IGNORE INTO body(key, entry, sum, data)"
			  " VALUES(?1, ?4, ?2, ?3)",
	[RT_TABLE_NODE] = "INSERT OR IGNORE INTO node(key, sum, data) VALUES(?1, ?2, ?3)",
	/* the newest of several */
	[RT_TABLE_ROOT] = "INSERT INTO root(project, seq, sum, data) VALUES(?1, ?4, ?2, ?3)"
			  " ON CONFLICT(project) DO UPDATE SET seq = ?4, sum = ?2, data = ?3"
			  " WHERE seq < ?4",
	[RT_TABLE_SIDE] = "INSERT OR IGNORE INTO side(project, name, sum, data)"
			  " VALUES(?1, ?5, ?2, ?3)",
};

static uint32_t
get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Returns its size; 0: it is truncated. */
static size_t
varint(const unsigned char *p, const unsigned char *end, uint64_t *out)
{
	size_t i;

	*out = 0;
	for (i = 0; i < 9 && p + i < end; i++) {
		if (i == 8) {
			*out = *out << 8 | p[i];
			return 9;
		}
		*out = *out << 7 | (p[i] & 0x7f);
		if (p[i] < 0x80)
			return i + 1;
	}
	return 0;
}

static const unsigned char *
page_at(const salvage *v, uint64_t number)
{
	return number >= 1 && number <= v->pages
		       ? v->bytes + (size_t)(number - 1) * RT_SQLITE_PAGE_SIZE
		       : NULL;
}

static size_t
size_of_type(uint64_t type)
{
	static const size_t sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

	return type < 12 ? sizes[type] : (size_t)(type - 12) / 2;
}

static unsigned char
byte_at(const salvage *v, size_t at)
{
	return (unsigned char)v->record->ptr[at];
}

static int64_t
number_in(const salvage *v, const column *c)
{
	uint64_t value = 0;

	if (c->type == 8 || c->type == 9)
		return (int64_t)c->type - 8;
	for (size_t i = 0; i < c->size; i++)
		value = value << 8 | byte_at(v, c->at + i);
	if (c->size > 0 && c->size < 8 && byte_at(v, c->at) >= 0x80)
		value |= ~(uint64_t)0 << (8 * c->size);
	return (int64_t)value;
}

static bool
is_number(const column *c)
{
	return (c->type >= 1 && c->type <= 6) || c->type == 8 || c->type == 9;
}

static bool
is_blob(const column *c)
{
	return c->type >= 12 && c->type % 2 == 0;
}

static rt_str
bytes_in(const salvage *v, const column *c)
{
	return rt_str_at(v->record->ptr + c->at, c->size);
}

/* The columns of a record that starts at p. 0: not a record of a Retake store. */
static size_t
read_header(const unsigned char *p, const unsigned char *end, uint64_t size, column *columns)
{
	uint64_t header, at, type;
	size_t count = 0, used = varint(p, end, &header);

	if (used == 0 || header < 2 || header > HEADER_MAX || header > size ||
	    header > (uint64_t)(end - p))
		return 0;
	at = header;
	while (used < header) {
		size_t more = varint(p + used, p + header, &type);

		if (more == 0 || count == COLUMNS_MAX || type == 10 || type == 11 ||
		    size_of_type(type) > size - at)
			return 0;
		used += more;
		columns[count].type = type;
		columns[count].at = (size_t)at;
		columns[count].size = size_of_type(type);
		at += columns[count++].size;
	}
	return at == size ? count : 0;
}

/* The columns of each table after the key, in the order of the schema: n a number, b a blob, s a
 * step id; the last two are always sum and data. side has its project before them. */
static const struct {
	enum rt_row_table table;
	const char *columns;
} shapes[] = {
	{RT_TABLE_LOG, "snnb"}, {RT_TABLE_BODY, "nnb"},   {RT_TABLE_ROOT, "nnb"},
	{RT_TABLE_NODE, "nb"},  {RT_TABLE_PROJECT, "nb"}, {RT_TABLE_SIDE, "nbnb"},
};

static bool
has_shape(const column *c, size_t count, const char *columns)
{
	if (strlen(columns) != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (columns[i] == 'n' ? !is_number(&c[i]) : !is_blob(&c[i]))
			return false;
		if (columns[i] == 's' && c[i].size != RT_STEP_ID_SIZE)
			return false;
	}
	return true;
}

/* The table of which the record is an intact row, and the row; 0: none. */
static enum rt_row_table
recognise(const salvage *v, const column *c, size_t count, bool is_index, uint64_t *key,
	  rt_store_row *row)
{
	if (!is_index && (count == 0 || c[0].type != 0))
		return 0; /* the key is stored as NULL */
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		enum rt_row_table table = shapes[i].table;
		const column *own = is_index ? c : c + 1, *sum = &c[count - 2];

		if (is_index != (table == RT_TABLE_SIDE) ||
		    !has_shape(own, count - (is_index ? 0 : 1), shapes[i].columns))
			continue;
		*row = (rt_store_row){.data = bytes_in(v, &c[count - 1])};
		if (table == RT_TABLE_LOG) {
			memcpy(row->step, v->record->ptr + own[0].at, RT_STEP_ID_SIZE);
			row->at_us = number_in(v, &own[1]);
		} else if (table == RT_TABLE_BODY) {
			row->entry = (uint64_t)number_in(v, &own[0]);
		} else if (table == RT_TABLE_ROOT) {
			row->number = (uint64_t)number_in(v, &own[0]);
		} else if (table == RT_TABLE_SIDE) {
			*key = (uint64_t)number_in(v, &own[0]);
			row->name = bytes_in(v, &own[1]);
		}
		if (number_in(v, sum) == rt_row_sum(table, *key, row))
			return table;
	}
	return 0;
}

/* Adds the row; true unless it already exists. */
static bool
add_row(salvage *v, enum rt_row_table table, uint64_t key, const rt_store_row *row)
{
	sqlite3_stmt *add = v->add[table];

	rt_sqlite_row_bind(add, table, key, row);
	if (sqlite3_step(add) != SQLITE_DONE)
		rt_sqlite_call_fail(v->call, "recovering rows");
	(void)sqlite3_reset(add);
	return rt_ok(v->scope) && sqlite3_changes(v->call->conn->db) > 0;
}

static void
keep(salvage *v, enum rt_row_table table, uint64_t key, const rt_store_row *row)
{
	if (v->call == NULL) {
		v->found->rows++;
	} else if (add_row(v, table, key, row)) {
		v->found->rows += table == RT_TABLE_LOG;
		v->found->bodies += table == RT_TABLE_BODY;
	}
}

/* Assembles the record whose first `local` bytes are at p in v->record. */
static bool
gather(salvage *v, const unsigned char *p, size_t local, size_t size, uint32_t next)
{
	rt_buf_clear(v->record);
	if (rt_buf_reserve(v->record, size) == NULL)
		rt_scope_note(v->scope, v->record->status);
	rt_buf_add(v->record, p, local);
	while (rt_ok(v->scope) && v->record->size < size) {
		const unsigned char *page = page_at(v, next);
		size_t part = size - v->record->size;

		if (page == NULL)
			return false;
		if (part > RT_SQLITE_PAGE_SIZE - 4)
			part = RT_SQLITE_PAGE_SIZE - 4;
		rt_buf_add(v->record, page + 4, part);
		next = get32(page);
	}
	return rt_ok(v->scope);
}

/* Keeps the row at p, if it is a row of a Retake store. */
static bool
try_cell(salvage *v, const unsigned char *p, const unsigned char *end, bool is_index)
{
	const size_t usable = RT_SQLITE_PAGE_SIZE;
	size_t most = is_index ? (usable - 12) * 64 / 255 - 23 : usable - 35;
	size_t least = (usable - 12) * 32 / 255 - 23, local, used;
	column columns[COLUMNS_MAX];
	enum rt_row_table table;
	uint64_t size, key = 0;
	uint32_t next = 0;
	rt_store_row row;
	size_t count;

	used = varint(p, end, &size);
	if (used == 0 || size < 4 || size > RT_SQLITE_ROW_SIZE_MAX ||
	    size > (uint64_t)v->pages * RT_SQLITE_PAGE_SIZE)
		return false;
	p += used;
	if (!is_index) {
		used = varint(p, end, &key);
		if (used == 0 || key == 0 || key > INT64_MAX)
			return false;
		p += used;
	}
	local = (size_t)size;
	if (size > most) {
		local = least + (size_t)(size - least) % (usable - 4);
		if (local > most)
			local = least;
	}
	if (local + (local < size ? 4 : 0) > (size_t)(end - p))
		return false;
	count = read_header(p, p + local, size, columns);
	if (count < 3)
		return false;
	if (local < size)
		next = get32(p + local);
	if (!gather(v, p, local, (size_t)size, next))
		return false;
	table = recognise(v, columns, count, is_index, &key, &row);
	if (table != 0)
		keep(v, table, key, &row);
	return table != 0;
}

/* All cells of the page's own list of pointers. False: the list or a cell is damaged, or there
 * is none: the header may be another page's. */
static bool
try_list(salvage *v, const unsigned char *page, bool is_first)
{
	const unsigned char *end = page + RT_SQLITE_PAGE_SIZE, *head = page + (is_first ? 100 : 0);
	unsigned char kind = head[0];
	bool is_index = kind == INDEX_LEAF || kind == INDEX_INNER, whole = true;
	bool is_inner = kind == INDEX_INNER || kind == TABLE_INNER;
	size_t count = (size_t)head[3] << 8 | head[4], i;
	const unsigned char *list = head + (is_inner ? 12 : 8);

	if (kind != TABLE_LEAF && !is_index)
		return false;
	for (i = 0; i < count && list + 2 * i + 2 <= end && rt_ok(v->scope); i++) {
		size_t at = (size_t)list[2 * i] << 8 | list[2 * i + 1];

		if (at + (is_inner ? 4 : 0) >= RT_SQLITE_PAGE_SIZE ||
		    !try_cell(v, page + at + (is_inner ? 4 : 0), end, is_index))
			whole = false;
	}
	return whole && i == count && count > 0;
}

static void
scan(salvage *v)
{
	uint32_t number;
	size_t at;

	/* Listed cells first: the same row elsewhere may be outdated. */
	for (number = 1; number <= v->pages && rt_ok(v->scope); number++)
		(void)try_list(v, page_at(v, number), number == 1);
	for (number = 2; number <= v->pages && rt_ok(v->scope); number++) {
		const unsigned char *page = page_at(v, number), *end = page + RT_SQLITE_PAGE_SIZE;
		bool whole = try_list(v, page, false);

		/* An intact list may be outdated and lack rows of the log. Rows of side are
		 * rewritten and dropped: only where the list is not intact. */
		for (at = 0; at + 8 < RT_SQLITE_PAGE_SIZE && rt_ok(v->scope); at++)
			if (!try_cell(v, page + at, end, false) && rt_ok(v->scope) &&
			    !whole)
				(void)try_cell(v, page + at, end, true);
	}
}

/* A project whose row is lost, but not its log, needs a name. */
static void
name_projects(salvage *v)
{
	static const char strangers[] =
		"SELECT DISTINCT key >> 43 FROM log WHERE key >> 43 NOT IN (SELECT id FROM project)"
		" UNION SELECT DISTINCT key >> 43 FROM body WHERE key >> 43 NOT IN"
		" (SELECT id FROM project)";
	sqlite3_stmt *stmt = NULL;

	if (rt_ok(v->scope) &&
	    sqlite3_prepare_v2(v->call->conn->db, strangers, -1, &stmt, NULL) != SQLITE_OK)
		rt_sqlite_call_fail(v->call, "recovering rows");
	while (rt_ok(v->scope) && sqlite3_step(stmt) == SQLITE_ROW) {
		uint64_t id = (uint64_t)sqlite3_column_int64(stmt, 0);
		rt_store_row row = {.data = RT_STR("default")};
		char name[40];

		/* The first project usually has that name, unless another one has it. */
		if (id != 1 || !add_row(v, RT_TABLE_PROJECT, id, &row)) {
			snprintf(name, sizeof(name), "recovered-%llu", (unsigned long long)id);
			row.data = rt_str_of(name);
			(void)add_row(v, RT_TABLE_PROJECT, id, &row);
		}
		v->found->projects_named++;
	}
	(void)sqlite3_finalize(stmt);
}

static void
close_stmt(void *stmt)
{
	(void)sqlite3_finalize(stmt);
}

static void
close_store(void *store)
{
	((rt_store *)store)->ops->close(store);
}

/* A sector that is unreadable becomes zeros. */
static rt_str
read_file(rt_scope *s, const char *path)
{
	rt_buf *out = rt_scope_buf(s);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info = {0};

	if (fd < 0 || fstat(fd, &info) != 0)
		rt_scope_fail(s, RT_IO, "cannot read %s: %s", path, strerror(errno));
	size_t size = (size_t)info.st_size;
	char *bytes = rt_ok(s) ? rt_buf_reserve(out, size + 1) : NULL;
	while (bytes != NULL && out->size < size) {
		size_t at = out->size, skip = 512 - at % 512;
		ssize_t did = pread(fd, bytes + at, size - at, (off_t)at);

		if (did < 0 && errno == EINTR)
			continue;
		if (did == 0 || (did < 0 && errno != EIO))
			break;
		if (did < 0) {
			did = (ssize_t)(skip < size - at ? skip : size - at);
			memset(bytes + at, 0, (size_t)did);
		}
		out->size += (size_t)did;
	}
	if (fd >= 0)
		(void)close(fd);
	return rt_scope_str(s, out);
}

/* With the contents of its write-ahead log, if SQLite can still apply it; else without them. */
static rt_str
read_pages(rt_scope *s, const char *path, const char *to)
{
	sqlite3 *from = NULL, *copy = NULL;
	sqlite3_backup *job = NULL;
	char wal[RT_SQLITE_PATH_ROOM + 8], scratch[RT_SQLITE_PATH_ROOM + 8];
	struct stat info;
	bool copied = false;

	snprintf(wal, sizeof(wal), "%s-wal", path);
	snprintf(scratch, sizeof(scratch), "%s-pages", to);
	if (stat(wal, &info) == 0 && info.st_size > 0 &&
	    sqlite3_open_v2(path, &from, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sqlite3_open_v2(scratch, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
		    SQLITE_OK) {
		(void)sqlite3_db_config(from, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
		job = sqlite3_backup_init(copy, "main", from, "main");
		copied = job != NULL && sqlite3_backup_step(job, -1) == SQLITE_DONE;
		copied = sqlite3_backup_finish(job) == SQLITE_OK && copied;
	}
	(void)sqlite3_close(from);
	(void)sqlite3_close(copy);
	rt_str pages = read_file(s, copied ? scratch : path);
	(void)unlink(scratch);
	return pages;
}

rt_status
rt_store_sqlite_salvage(const rt_alloc *alloc, const rt_env *env, const char *path, const char *to,
			rt_store_salvaged *out, rt_error *err)
{
	rt_store_sqlite_options options = {.create = true, .relaxed = true};
	rt_store *store = NULL;
	rt_sqlite_call call;
	rt_scope s;

	memset(out, 0, sizeof(*out));
	rt_scope_init(&s, alloc);
	rt_buf *record = rt_scope_buf(&s);
	rt_str pages = read_pages(&s, path, to);
	RT_TRY(&s, rt_store_sqlite_open(alloc, env, to, &options, &store, &s.error));
	rt_scope_defer(&s, close_store, store);
	RT_TRY(&s, store->ops->begin(store, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	call = rt_sqlite_call_on(rt_sqlite_self(store), &rt_sqlite_self(store)->writer);
	salvage v = {.scope = &call.scope,
		     .call = &call,
		     .bytes = (const unsigned char *)pages.ptr,
		     .pages = (uint32_t)(pages.size / RT_SQLITE_PAGE_SIZE),
		     .record = record,
		     .found = out};
	for (size_t i = 0; i <= RT_TABLE_MARK; i++) {
		if (add_sql[i] != NULL &&
		    sqlite3_prepare_v2(call.conn->db, add_sql[i], -1, &v.add[i], NULL) !=
			    SQLITE_OK)
			rt_sqlite_call_fail(&call, "recovering rows");
		rt_scope_defer(&call.scope, close_stmt, v.add[i]);
	}
	scan(&v);
	name_projects(&v);
	RT_TRY(&s, rt_sqlite_end_alone(&call, true, &s.error));
	return rt_scope_end(&s, err);
}

rt_status
rt_store_sqlite_recognise(const rt_alloc *alloc, const char *path, bool *out_ours, rt_error *err)
{
	rt_store_salvaged found = {0};
	off_t at = 0;
	struct stat info;
	int fd = -1;
	rt_scope s;

	rt_scope_init(&s, alloc);
	unsigned char *page = rt_scope_get(&s, RT_SQLITE_PAGE_SIZE);
	salvage v = {.scope = &s,
		     .bytes = page,
		     .pages = 1,
		     .record = rt_scope_buf(&s),
		     .found = &found};
	if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	for (; fd >= 0 && rt_ok(&s) && found.rows == 0 && at + RT_SQLITE_PAGE_SIZE <= info.st_size;
	     at += RT_SQLITE_PAGE_SIZE)
		if (pread(fd, page, RT_SQLITE_PAGE_SIZE, at) == RT_SQLITE_PAGE_SIZE)
			(void)try_list(&v, page, at == 0);
	if (fd >= 0)
		(void)close(fd);
	*out_ours = found.rows > 0;
	return rt_scope_end(&s, err);
}
