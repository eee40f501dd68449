/* SPDX-License-Identifier: MIT
 *
 * The insides that the files of the SQLite store share.
 *
 *   store_sqlite.c         projects, log and bodies; the table of functions
 *   store_sqlite_open.c    connections and their statements; opening
 *   store_sqlite_file.c    finding and creating the file
 *   store_sqlite_tx.c      transactions, checkpoints, meta and epoch
 *   store_sqlite_exchange.c  another file takes the store's place
 *   store_sqlite_rows.c    nodes, root, side rows; purge
 *   store_sqlite_index.c   the full-text index
 *   store_sqlite_care.c    scrub, backup, check
 *   store_sqlite_salvage.c  rows out of a damaged file
 *   store_sqlite_error.c   SQLite's codes in our words
 *   store_sqlite_vfs.c     gathers the writes of a commit
 *
 * The file. application_id (bytes 68 to 71) says that it is ours, user_version (60 to 63)
 * is FORMAT. Every table has `sum`, rt_hash over the row's data, seeded with everything
 * else in the row (see rt_sqlite_sum), checked on every read:
 *
 *   meta     key, value            "min_reader", "min_writer", "written_by", "epoch",
 *                                  "relaxed" (see below)
 *   project  id, name
 *   log      key, step, at, data   key = project << 43 | seq
 *   body     key, entry, data      key = project << 43 | number
 *   node     key, data             key = project << 43 | number
 *   root     project, seq, data
 *   side     project, name, data
 *   mark     project, number       the index holds everything up to that body
 *   found    FTS5 over the texts   rowid = the body's key; the entry beside it
 *
 * meta and the two gates in it never change their shape, so that any version can read
 * why it may not read the rest.
 *
 * Relaxed mode: commits are not synced, so a loss of power may take history back. Before
 * the first such commit the number of relaxed handles and the id of this boot go into
 * meta "relaxed", synced. A clean close takes itself off. Who opens a store that still
 * carries the mark of another boot knows that history may have been lost, and derives a
 * new epoch from the old one and the mark (readers and writers alike get the same).
 *
 * Connections: one writer, opened by the first begin, and up to READERS_MAX readers,
 * opened when needed. A connection is used by one thread at a time. In WAL mode readers
 * never wait for the writer, nor for its fsync. */
#ifndef RT_STORE_SQLITE_IMPL_H
#define RT_STORE_SQLITE_IMPL_H

#include <pthread.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "base/hash.h"
#include "store/store_seeded.h"
#include "store/store_sqlite.h"
#include "store/store_sqlite_vfs.h"

#ifndef RT_VERSION
#define RT_VERSION "0.0.0" /* the build says it */
#endif

enum {
	RT_SQLITE_APPLICATION_ID = 0x52744B31, /* "RtK1" */
	RT_SQLITE_FORMAT = 1,
	RT_SQLITE_MIN_READER = 1,        /* an older Retake must not even read what we write */
	RT_SQLITE_MIN_WRITER = 1,        /* an older Retake must not write to what we write */
	RT_SQLITE_LIBRARY_MIN = 3051003, /* older ones can damage a store, see store_sqlite.h */
	RT_SQLITE_LIBRARY_BAD = 3052000, /* withdrawn */
	RT_SQLITE_PAGE_SIZE = 8192,      /* measured: docs/decisions/0003-sqlite-page-size.md */
	RT_SQLITE_HEADER_SIZE = 100,
	RT_SQLITE_READERS_MAX = 4,
	RT_SQLITE_BOOT_SIZE = 40, /* room for a boot id: a UUID and a NUL */
	RT_SQLITE_BUSY_MS = 30000,
	RT_SQLITE_CHECKPOINT_PAGES = 1000,
	RT_SQLITE_ROW_SIZE_MAX = 999000000, /* SQLite's own limit is 1,000,000,000 a row */
	RT_SQLITE_PATH_ROOM = 4096
};

#define RT_SQLITE_MEMORY_PATH "/memory" /* of the only file on the memory store's VFS */

typedef struct rt_sqlite_memory rt_sqlite_memory;

/* Statements that are prepared once for each connection, when first used. */
typedef enum rt_sqlite_sql {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_META_GET,
	SQL_META_SET,
	SQL_META_DROP,
	SQL_DATA_VERSION,
	SQL_PROJECT_ADD,
	SQL_PROJECT_FIND,
	SQL_PROJECT_LIST,
	SQL_PROJECT_LAST,
	SQL_PROJECT_SCAN,
	SQL_PROJECT_BEYOND,
	SQL_LOG_HEAD,
	SQL_LOG_ADD,
	SQL_LOG_UP,
	SQL_LOG_DOWN,
	SQL_LOG_SET,
	SQL_BODY_ADD,
	SQL_BODY_HEAD,
	SQL_BODY_SCAN,
	SQL_BODY_SET,
	SQL_NODE_SET,
	SQL_NODE_GET,
	SQL_NODE_LIST,
	SQL_NODE_DROP,
	SQL_NODE_DROP_ALL,
	SQL_ROOT_SET,
	SQL_ROOT_GET,
	SQL_ROOT_DROP,
	SQL_SIDE_SET,
	SQL_SIDE_GET,
	SQL_SIDE_LIST,
	SQL_SIDE_DROP,
	SQL_MARK_GET,
	SQL_MARK_SET,
	SQL_INDEX_ADD,
	SQL_INDEX_DROP,
	SQL_INDEX_FIND,
	SQL_COUNT
} rt_sqlite_sql;

/* One connection. One thread at a time. */
typedef struct rt_sqlite_conn {
	sqlite3 *db; /* NULL: not opened yet */
	sqlite3_stmt *stmts[SQL_COUNT];
	bool used;      /* by a thread, guarded by the store's guard */
	bool immutable; /* opened without locks, see reading_mode in store_sqlite_open.c */
	uint64_t stamp; /* immutable: the state of the file then, see rt_sqlite_conn_changed */
	int losses;     /* how often somebody wrote while it was read without locks */
	/* A reader's: the epoch as it read it last, and SQLite's number of the state in which
	 * it was so; that is another one as soon as any other connection has committed. */
	bool epoch_known;
	int64_t epoch_version;
	uint64_t epoch;
} rt_sqlite_conn;

typedef struct rt_sqlite_store {
	rt_store base;
	const rt_alloc *alloc;
	rt_env env;
	rt_store_sqlite_options options; /* its strings are not kept, see below */
	char *place;                     /* the path as it was given */
	char *path;                      /* the full path, in the VFS's form */
	sqlite3_vfs *vfs;                /* the one under the layer */
	rt_sqlite_memory *memory;        /* the memory store's file; NULL for a file on disk */
	rt_sqlite_vfs *layer;            /* gathers writes; NULL when reading only */
	char boot[RT_SQLITE_BOOT_SIZE];
	bool file_known; /* which file path was when it was opened, to write to it: */
	uint64_t file_device, file_number;

	pid_t process;           /* who opened it: a child of a fork must not use it */
	pthread_mutex_t guard;   /* guards writing, used, poisoned and project_last */
	pthread_cond_t free;     /* the writer or a reader became free */
	_Atomic bool writing;    /* somebody is between begin and commit */
	bool handed;             /* the turn belongs to one of those who waited for its end */
	unsigned waiting;        /* for a turn */
	uint64_t turns;          /* that ended */
	_Atomic pthread_t owner; /* who, while writing */

	rt_sqlite_conn writer;
	rt_sqlite_conn readers[RT_SQLITE_READERS_MAX];

	_Atomic bool poisoned;         /* a sync or a commit failed: no more writing */
	_Atomic uint64_t project_last; /* projects up to here are known to be there */

	/* What follows belongs to the owner of the begin. */
	bool settled;        /* what was in the log when we came is in the file */
	bool marked;         /* our relaxed mark is in the store */
	bool wiping;         /* secure_delete is fully on */
	rt_status tx_status; /* not RT_OK: a write failed, only cancel is left */
	uint64_t tx_project; /* the project whose heads follow; 0: none */
	uint64_t tx_head;
	uint64_t tx_body_head;
	bool tx_added;       /* to the log or the bodies of that project, by this transaction */
	unsigned tx_version; /* SQLite's data version at which the three are true */
	uint64_t tx_project_last;
	int wal_pages;        /* in the write-ahead log after the last commit */
	int wal_next;         /* the next try to write it back, when readers were in the way */
	bool no_wait;         /* the busy handler gives up at once */
	uint64_t dice;        /* state of the busy handler's random sleeps */
	int64_t wait_from_ns; /* when the busy handler was first asked */
} rt_sqlite_store;

/* --- small words --- */

static inline rt_sqlite_store *
rt_sqlite_self(rt_store *store)
{
	return (rt_sqlite_store *)store;
}

static inline unsigned long long /* for "%llu" */
rt_sqlite_ull(uint64_t number)
{
	return number;
}

static inline uint64_t
rt_sqlite_name_hash(rt_str name)
{
	return rt_hash(name.ptr, name.size, 0);
}

static inline uint64_t
rt_sqlite_log_extra(const void *step, int64_t at)
{
	return rt_hash(step, RT_STEP_ID_SIZE, (uint64_t)at);
}

/* A view of a column's bytes, until the next step. */
static inline rt_str
rt_sqlite_column(sqlite3_stmt *stmt, int at)
{
	const void *ptr = sqlite3_column_blob(stmt, at);

	return rt_str_at(ptr, (size_t)sqlite3_column_bytes(stmt, at));
}

/* Was memory short when the column was read? */
static inline bool
rt_sqlite_column_lost(sqlite3_stmt *stmt, int at)
{
	return sqlite3_column_blob(stmt, at) == NULL &&
	       sqlite3_errcode(sqlite3_db_handle(stmt)) == SQLITE_NOMEM;
}

/* Borrowed until the statement is reset. SQLite takes a NULL pointer for SQL's NULL. */
static inline void
rt_sqlite_bind(sqlite3_stmt *stmt, int at, rt_str data)
{
	(void)sqlite3_bind_blob64(stmt, at, data.size > 0 ? data.ptr : "", data.size,
				  SQLITE_STATIC);
}

/* --- store_sqlite_error.c --- */

/* Fill err from the connection's last error. doing is for people: "reading the log". */
rt_status rt_sqlite_fail(rt_sqlite_store *s, sqlite3 *db, const char *doing, rt_error *err);
/* The status alone. */
rt_status rt_sqlite_status(int rc);

/* --- store_memory.c --- */

RT_CHECKED rt_status rt_sqlite_memory_new(const rt_alloc *alloc, rt_sqlite_memory **out,
					  rt_error *err);
void rt_sqlite_memory_free(rt_sqlite_memory *memory);
const char *rt_sqlite_memory_name(const rt_sqlite_memory *memory);

/* --- store_sqlite_open.c --- */

RT_CHECKED rt_status rt_sqlite_conn_open(rt_sqlite_store *s, rt_sqlite_conn *c, bool writer,
					 rt_error *err);
void rt_sqlite_conn_close(rt_sqlite_conn *c);
/* Is the file at the store's path still the one that was opened? RT_REFUSED. */
RT_CHECKED rt_status rt_sqlite_same_file(const rt_sqlite_store *s, rt_error *err);
/* Is there a file of that name and this suffix, and anything in it? A log that has only its
 * header is empty. */
bool rt_sqlite_exists(const rt_sqlite_store *s, const char *suffix, bool *out_filled);
/* Was the file of an immutable connection written to, or is it about to be? */
bool rt_sqlite_conn_changed(const rt_sqlite_store *s, const rt_sqlite_conn *c);
/* The prepared statement, reset. */
RT_CHECKED rt_status rt_sqlite_stmt(rt_sqlite_store *s, rt_sqlite_conn *c, rt_sqlite_sql which,
				    sqlite3_stmt **out, rt_error *err);
RT_CHECKED rt_status rt_sqlite_exec(rt_sqlite_store *s, rt_sqlite_conn *c, const char *sql,
				    const char *doing, rt_error *err);
/* One number from a query; 0 when there is no row. */
RT_CHECKED rt_status rt_sqlite_ask(rt_sqlite_store *s, rt_sqlite_conn *c, const char *sql,
				   int64_t *out, rt_error *err);
/* Release everything and the store itself. */
void rt_sqlite_free(rt_sqlite_store *s);
int64_t rt_sqlite_now_ns(void);

/* --- store_sqlite_file.c --- */

typedef enum rt_sqlite_look_result {
	RT_SQLITE_MISSING,
	RT_SQLITE_OURS,
	RT_SQLITE_REFUSED /* the status says why */
} rt_sqlite_look_result;

/* What is at the store's path? Nothing is changed. */
RT_CHECKED rt_status rt_sqlite_look(rt_sqlite_store *s, rt_sqlite_look_result *out, rt_error *err);
/* Make a new, empty store there, and the folders above it. */
RT_CHECKED rt_status rt_sqlite_create(rt_sqlite_store *s, rt_error *err);
/* What has to be executed to make the tables. */
/* The full-text index: its words only, the texts are in the bodies. */
#define RT_SQLITE_INDEX_TABLE \
	"CREATE VIRTUAL TABLE found USING fts5(text, entry UNINDEXED, content=''," \
	" contentless_delete=1, contentless_unindexed=1," \
	" tokenize='unicode61 remove_diacritics 2', detail=full);"

extern const char rt_sqlite_schema[];
/* Sync the folder that holds path. */
RT_CHECKED rt_status rt_sqlite_sync_folder(const char *path, rt_error *err);
/* Give a file its name; never over another one (RT_REFUSED). */
RT_CHECKED rt_status rt_sqlite_rename(const char *from, const char *to, rt_error *err);

/* --- store_sqlite.c --- */

/* Before a commit: what was added to the log and the bodies can be found again. */
RT_CHECKED rt_status rt_sqlite_check_added(rt_sqlite_store *s, rt_error *err);

extern const rt_store_ops rt_sqlite_ops;

/* Insist on our own begin and on a project that is there. */
RT_CHECKED rt_status rt_sqlite_write_enter(rt_sqlite_store *s, uint64_t project, rt_error *err);
/* Failures in the same words everywhere. */
RT_CHECKED rt_status rt_sqlite_size_ok(size_t size, rt_error *err); /* RT_LIMIT */
rt_status rt_sqlite_damaged(rt_sqlite_store *s, const char *noun, uint64_t number, rt_error *err);
rt_status rt_sqlite_missing(const char *noun, uint64_t project, uint64_t number, rt_error *err);
/* The buffer did not take the row: out of memory, or more than its limit. */
rt_status rt_sqlite_no_room(const rt_buf *out, const char *noun, uint64_t number, rt_error *err);

/* Tables, as the sums know them. */
enum rt_sqlite_table {
	RT_TABLE_META = 1,
	RT_TABLE_PROJECT,
	RT_TABLE_LOG,
	RT_TABLE_BODY,
	RT_TABLE_NODE,
	RT_TABLE_ROOT,
	RT_TABLE_SIDE,
	RT_TABLE_MARK
};

/* The checksum of a row: over data, seeded with the table, the key and one more number
 * (log: the hash of step and at; body: the entry; root: the seq; side and meta: the hash
 * of the name; mark: the number; else 0). */
int64_t rt_sqlite_sum(enum rt_sqlite_table table, uint64_t key, uint64_t extra, const void *data,
		      size_t size);

static inline uint64_t
rt_sqlite_key(uint64_t project, uint64_t number)
{
	return project << 43 | number;
}

/* --- store_sqlite_tx.c --- */

/* One reading. A reader that holds no lock may have read what somebody changed meanwhile;
 * that is known at the end, and it reads once more. So every reading is the body of a loop,
 * begins anew each time, leaves by its end or by continue, and says in status how it went:
 *
 *	rt_sqlite_reading r = {0};
 *
 *	while (rt_sqlite_read(s, &r, err))
 *		r.status = number_of(s, r.conn, out, err);
 *	return r.status;
 *
 * RT_BUSY: it changed every time. What hands rows on asks rt_sqlite_is_told for each, and
 * leaves out those that an earlier try has handed on: rows keep their order, and each was
 * checked by its own sum. Where that is not so, hits are held until the reading has ended. */
typedef struct rt_sqlite_reading {
	rt_sqlite_conn *conn; /* the writer inside our own begin, else a reader */
	rt_status status;     /* of this try; at the end of the whole */
	int tries;
	size_t told, seen; /* rows handed on; rows of this try */
	bool is_ended;     /* nothing more is wanted: what was handed on stands */
} rt_sqlite_reading;

RT_CHECKED bool rt_sqlite_read(rt_sqlite_store *s, rt_sqlite_reading *r, rt_error *err);
/* Of the next row: was it handed on already? If not it counts as handed on now. */
bool rt_sqlite_is_told(rt_sqlite_reading *r);

/* Hits on their way to who asked for them. Of a reader without a lock they are held; the
 * others go straight on, and may end the looking. */
typedef struct rt_sqlite_hits {
	rt_hit_fn fn;
	void *ctx;
	rt_buf held; /* pairs of uint64_t */
} rt_sqlite_hits;

void rt_sqlite_hits_init(rt_sqlite_hits *hits, const rt_alloc *alloc, rt_hit_fn fn, void *ctx);
/* False: no more are wanted. */
bool rt_sqlite_hit(rt_sqlite_hits *hits, rt_sqlite_reading *r, uint64_t number, uint64_t entry);
/* The reading has ended: hand on what is held, if it ended well. RT_NOMEM. */
RT_CHECKED rt_status rt_sqlite_hits_end(rt_sqlite_hits *hits, rt_status st, rt_error *err);
/* Run a statement that gives no rows, and reset it. */
RT_CHECKED rt_status rt_sqlite_run(rt_sqlite_store *s, rt_sqlite_conn *c, sqlite3_stmt *stmt,
				   const char *doing, rt_error *err);
bool rt_sqlite_is_owner(const rt_sqlite_store *s);
/* The failure of everything that comes after a failed write in one transaction. */
rt_status rt_sqlite_refuse_broken(rt_sqlite_store *s, rt_error *err);
/* Pages of the log back into the file. wait: for readers, up to the busy limit. */
RT_CHECKED rt_status rt_sqlite_checkpoint(rt_sqlite_store *s, int mode, bool wait, rt_error *err);
/* Turn complete overwriting of deleted content on for the rest of this begin. */
RT_CHECKED rt_status rt_sqlite_wipe(rt_sqlite_store *s, rt_error *err);

/* meta values are unsigned numbers or short texts. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_sqlite_meta_get(rt_sqlite_store *s, rt_sqlite_conn *c, const char *key,
					rt_buf *out, rt_error *err);
RT_CHECKED rt_status rt_sqlite_meta_set(rt_sqlite_store *s, rt_sqlite_conn *c, const char *key,
					rt_str value, rt_error *err);
RT_CHECKED rt_status rt_sqlite_epoch_read(rt_sqlite_store *s, rt_sqlite_conn *c,
					  uint64_t *out_epoch, bool *out_derived, rt_error *err);

/* Inside a transaction of the writer: a mark of another boot becomes a new epoch. */
RT_CHECKED rt_status rt_sqlite_epoch_settle(rt_sqlite_store *s, rt_error *err);
/* Begin unless we are inside a begin already; says which. */
RT_CHECKED rt_status rt_sqlite_begin_alone(rt_sqlite_store *s, bool *out_alone, rt_error *err);
/* The end of it: commit when st is RT_OK, else cancel; the begin of somebody else stays. */
RT_CHECKED rt_status rt_sqlite_end_alone(rt_sqlite_store *s, bool alone, rt_status st,
					 rt_error *err);

void rt_sqlite_close(rt_store *store);
const char *rt_sqlite_place(rt_store *store);
bool rt_sqlite_is_read_only(rt_store *store);
rt_status rt_sqlite_epoch(rt_store *store, uint64_t *out_epoch, rt_error *err);
rt_status rt_sqlite_epoch_renew(rt_store *store, rt_error *err);
rt_status rt_sqlite_begin(rt_store *store, rt_error *err);
rt_status rt_sqlite_commit(rt_store *store, rt_error *err);
void rt_sqlite_cancel(rt_store *store);

/* --- store_sqlite_rows.c --- */

rt_status rt_sqlite_node_write(rt_store *store, uint64_t project, uint64_t number, rt_str data,
			       rt_error *err);
rt_status rt_sqlite_node_drop(rt_store *store, uint64_t project, uint64_t number, rt_error *err);
rt_status rt_sqlite_node_drop_all(rt_store *store, uint64_t project, rt_error *err);
rt_status rt_sqlite_node_read(rt_store *store, uint64_t project, uint64_t number, rt_buf *out,
			      rt_error *err);
rt_status rt_sqlite_node_pick(rt_store *store, uint64_t project, const uint64_t *numbers,
			      size_t count, rt_body_fn fn, void *ctx, rt_error *err);
rt_status rt_sqlite_node_list(rt_store *store, uint64_t project, rt_hit_fn fn, void *ctx,
			      rt_error *err);
rt_status rt_sqlite_root_write(rt_store *store, uint64_t project, uint64_t seq, rt_str data,
			       rt_error *err);
rt_status rt_sqlite_root_read(rt_store *store, uint64_t project, uint64_t *out_seq, rt_buf *out,
			      rt_error *err);
rt_status rt_sqlite_side_write(rt_store *store, uint64_t project, rt_str name, rt_str value,
			       rt_error *err);
rt_status rt_sqlite_side_read(rt_store *store, uint64_t project, rt_str name, rt_buf *out,
			      rt_error *err);
rt_status rt_sqlite_side_list(rt_store *store, uint64_t project, rt_side_fn fn, void *ctx,
			      rt_error *err);
rt_status rt_sqlite_body_replace(rt_store *store, uint64_t project, uint64_t number, rt_str data,
				 rt_error *err);
rt_status rt_sqlite_log_replace(rt_store *store, uint64_t project, uint64_t seq, rt_str data,
				rt_error *err);

/* --- store_sqlite_index.c --- */

rt_status rt_sqlite_index_mark(rt_store *store, uint64_t project, uint64_t *out_number,
			       rt_error *err);
rt_status rt_sqlite_index_add(rt_store *store, uint64_t project, uint64_t number, uint64_t entry,
			      rt_str text, rt_error *err);
rt_status rt_sqlite_index_find(rt_store *store, uint64_t project, rt_str query, rt_store_find how,
			       rt_hit_fn fn, void *ctx, rt_error *err);
rt_status rt_sqlite_index_clear(rt_store *store, rt_error *err);
rt_status rt_sqlite_index_drop(rt_store *store, uint64_t project, uint64_t number, rt_str text,
			       rt_error *err);

/* --- store_sqlite_care.c --- */

rt_status rt_sqlite_scrub(rt_store *store, rt_error *err);
rt_status rt_sqlite_backup(rt_store *store, const char *path, rt_error *err);
rt_status rt_sqlite_check(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err);
/* The same on one connection; rt_sqlite_backup checks its copy with it. */
rt_status rt_sqlite_check_conn(rt_sqlite_store *s, rt_sqlite_conn *c, rt_finding_fn fn, void *ctx,
			       rt_error *err);

#endif
