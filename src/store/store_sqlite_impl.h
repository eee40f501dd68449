/* SPDX-License-Identifier: MIT
 *
 * Internals that the files of the SQLite store share.
 *
 *   store_sqlite.c              the table of functions; opening; the epoch
 *   store_sqlite_transaction.c  begin, commit, checkpoints, relaxed mode
 *   store_sqlite_rows.c         the numbered tables: projects, log, bodies, nodes, root, side
 *   store_sqlite_index.c        the full-text index, of segments (store_segment.h)
 *   store_sqlite_find.c         searching and checking it
 *   store_sqlite_words.c        the tokenizer of its earlier versions
 *   store_sqlite_check.c        check
 *   store_sqlite_backup.c       backup and scrub
 *   store_sqlite_replace.c      replaces the store by another file
 *   store_sqlite_salvage.c      rows out of a damaged file
 *
 *   store_sqlite_call.c         calls that read, calls that write, the heads of a project
 *   store_sqlite_file.c         examining and creating the file
 *   store_sqlite_connection.c   connections: flags, settings, waiting for locks
 *   store_sqlite_meta.c         the meta table: version gates, epoch, the mark of relaxed mode
 *   store_sqlite_statement.c    prepared statements (store_sqlite.def), rows and their checksums
 *   store_sqlite_error.c        SQLite's result codes as statuses and messages
 *   store_sqlite_disk.c         files: syncing, renaming, identity
 *   store_sqlite_vfs.c          joins the writes of a commit
 *   store_common.c              checks that all kinds of stores share
 *   store_memory.c              a VFS that holds the file in memory
 *
 * The files of the second group use only those below them; those of the first use the second.
 *
 * The file. application_id (bytes 68 to 71) identifies a store, user_version (60 to 63) is
 * FORMAT. Every table has `sum`, a checksum of the row (rt_row_sum), verified on every
 * read:
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
 *   found    key, data             the index: see store_sqlite_index.c
 *
 * meta and its two version gates never change their shape, so that any version can read why it
 * may not read the rest.
 *
 * Relaxed mode: commits are not synced, so a loss of power may roll history back. Before the
 * first such commit the number of relaxed handles and the boot id go into meta "relaxed",
 * synced. A clean close removes itself from the count. A process that opens a store with the mark
 * of another boot knows that history may have been lost, and derives a new epoch from the old one
 * and the mark (readers and writers derive the same).
 *
 * Connections: one writer, opened by the first begin, and up to READERS_MAX readers, opened on
 * demand. A connection is used by one thread at a time. In WAL mode readers never wait for the
 * writer, nor for its fsync. */
#ifndef RT_STORE_SQLITE_IMPL_H
#define RT_STORE_SQLITE_IMPL_H

#include <pthread.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "base/words.h"
#include "base/clock_host.h"
#include "base/hash.h"
#include "base/scope.h"
#include "store/store_common.h"
#include "store/store_row.h"
#include "store/store_segment.h"
#include "store/store_sqlite.h"
#include "store/store_sqlite_vfs.h"

enum {
	RT_SQLITE_APPLICATION_ID = 0x52744B31, /* "RtK1" */
	RT_SQLITE_FORMAT = 1,
	RT_SQLITE_MIN_READER = 1,        /* older versions must not read what we write */
	RT_SQLITE_MIN_WRITER = 1,        /* older versions must not write to what we write */
	RT_SQLITE_LIBRARY_MIN = 3051003, /* older ones can damage a store, see store_sqlite.h */
	RT_SQLITE_LIBRARY_BAD = 3052000, /* withdrawn */
	RT_SQLITE_PAGE_SIZE = 8192,      /* measured: docs/decisions/0003-sqlite-page-size.md */
	RT_SQLITE_HEADER_SIZE = 100,
	RT_SQLITE_READERS_MAX = 4,
	RT_SQLITE_BOOT_SIZE = 40, /* capacity for a boot id: a UUID and a NUL */
	RT_SQLITE_BUSY_MS = 30000,
	RT_SQLITE_CHECKPOINT_PAGES = 1000,
	RT_SQLITE_ROW_SIZE_MAX = 999000000, /* SQLite's own limit is 1,000,000,000 a row */
	RT_SQLITE_PATH_ROOM = 4096,
	RT_SQLITE_META_ROOM = 256 /* of a meta value with its NUL */
};

#define RT_SQLITE_MEMORY_PATH "/memory" /* the only file on the memory store's VFS */

typedef enum rt_sqlite_sql {
#define SQL(name, table, doing, text) SQL_##name,
#include "store/store_sqlite.def"
#undef SQL
	SQL_COUNT
} rt_sqlite_sql;

/* One connection. One thread at a time. */
typedef struct rt_sqlite_conn {
	sqlite3 *db; /* NULL: not open */
	sqlite3_stmt *stmts[SQL_COUNT];
	bool used;      /* by a thread; guarded by the store's guard */
	bool immutable; /* opened without locks, see reading_mode */
	uint64_t stamp; /* immutable: the file's state then, see rt_sqlite_conn_changed */
	int losses;     /* how often the file changed during reads without locks */
	/* Readers: the epoch as last read, and SQLite's data version at that time; the
	 * version differs as soon as another connection has committed. */
	bool epoch_known;
	int64_t epoch_version;
	uint64_t epoch;
} rt_sqlite_conn;

typedef struct rt_sqlite_memory rt_sqlite_memory;

/* What a transaction does to the index, before it is written. */
typedef struct rt_sqlite_pending {
	uint64_t project; /* 0: nothing */
	bool is_drop;     /* texts are dropped; else they are added */
	uint64_t mark;    /* 0: it stays */
	rt_segment added;
	rt_buf dropped; /* uint64_t: their numbers */
} rt_sqlite_pending;

typedef struct rt_sqlite_store {
	rt_store base;
	const rt_alloc *alloc;
	rt_env env;
	rt_store_sqlite_options options; /* without its strings' lifetime, see store_sqlite.h */
	char *place;                     /* the path as it was given */
	char *path;                      /* the full path, in the VFS's form */
	sqlite3_vfs *vfs;                /* the one below the layer */
	rt_sqlite_memory *memory;        /* the memory store's VFS; NULL for a file on disk */
	rt_sqlite_vfs *layer;            /* joins writes; NULL when read only or in memory */
	char boot[RT_SQLITE_BOOT_SIZE];
	bool file_known; /* the identity of the file that was opened for writing: */
	uint64_t file_device, file_number;

	pid_t process;           /* that opened it: a forked child must not use this handle */
	pthread_mutex_t guard;   /* guards the members up to readers[].used */
	pthread_cond_t free;     /* the writer or a reader became free */
	_Atomic bool writing;    /* a thread is between begin and commit */
	bool handed;             /* the turn is reserved for a thread that was waiting */
	unsigned waiting;        /* threads waiting for their turn */
	uint64_t turns;          /* completed */
	_Atomic pthread_t owner; /* which thread, while writing */

	rt_sqlite_conn writer;
	rt_sqlite_conn readers[RT_SQLITE_READERS_MAX];

	_Atomic bool poisoned;         /* a sync or a commit failed: no more writing */

	/* The rest belongs to the owner of the begin. */
	bool settled;        /* the log found at opening has been written back */
	bool marked;         /* our relaxed mark is in the store */
	bool wiping;         /* secure_delete is fully on */
	rt_status tx_status; /* not RT_OK: a write failed, only cancel is left */
	uint64_t tx_project; /* the project whose heads are cached below; 0: none */
	uint64_t tx_head;
	uint64_t tx_body_head;
	bool tx_added;       /* this transaction appended to that project */
	unsigned tx_version; /* SQLite's data version at which the heads were true */
	uint64_t tx_found; /* a project that exists, as of tx_version; 0: none */
	rt_sqlite_pending pending;
	int wal_pages;        /* in the write-ahead log after the last commit */
	int wal_next;         /* size for the next checkpoint, after readers prevented one */
	bool no_wait;         /* the busy handler gives up immediately */
	uint64_t dice;        /* state of the busy handler's random sleeps */
	int64_t wait_from_ns; /* when the busy handler was first called */
} rt_sqlite_store;

static inline rt_sqlite_store *
rt_sqlite_self(rt_store *store)
{
	return (rt_sqlite_store *)store;
}

/* Does this thread hold the open begin? */
static inline bool
rt_sqlite_is_owner(const rt_sqlite_store *s)
{
	return s->writing && pthread_equal(s->owner, pthread_self());
}

/* --- calls (store_sqlite_call.c) ---
 *
 * A call is one operation on one connection. After the first failure of its scope the functions
 * below do nothing. */
typedef struct rt_sqlite_call {
	rt_sqlite_store *store;
	rt_sqlite_conn *conn;
	rt_scope scope;
	const char *doing; /* in messages, instead of the statements' own; or NULL */
	/* for calls that read, see rt_sqlite_attempt: */
	int attempts;
	bool is_ended; /* the callback wants no more rows: no further attempt */
} rt_sqlite_call;

/* SQLite's locks do not survive a fork, and its memory would be used twice: RT_REFUSED. */
RT_CHECKED rt_status rt_sqlite_refuse_fork(const rt_sqlite_store *s, rt_error *err);
static inline rt_sqlite_call
rt_sqlite_call_on(rt_sqlite_store *s, rt_sqlite_conn *conn)
{
	rt_sqlite_call call = {.store = s, .conn = conn};

	rt_scope_init(&call.scope, s->alloc);
	return call;
}
/* A call on the writer, inside our own begin; fails if an earlier write of the transaction has
 * failed. */
rt_sqlite_call rt_sqlite_writing_store(rt_store *store);
/* The same; insists on an existing project. */
rt_sqlite_call rt_sqlite_writing(rt_store *store, uint64_t project);

/* Reading. A reader without locks may have read what another process changed in the meantime; that
 * is known at the end, and it reads again. So every read is the body of a loop:
 *
 *	rt_sqlite_call call = rt_sqlite_reading(store);
 *
 *	while (rt_sqlite_attempt(&call))
 *		number_of(&call, out);
 *	return rt_scope_end(&call.scope, err);
 *
 * Each attempt starts with an empty scope on a connection: the writer inside our own begin, else
 * a reader. RT_BUSY: the file changed during every attempt. */
rt_sqlite_call rt_sqlite_reading(rt_store *store);
RT_CHECKED bool rt_sqlite_attempt(rt_sqlite_call *call);

/* The last number of a project in the log, the bodies or the nodes; 0: none. */
uint64_t rt_sqlite_last_number(rt_sqlite_call *call, rt_store_table table, uint64_t project);
uint64_t rt_sqlite_last_project(rt_sqlite_call *call);
/* Caches the heads of a project (tx_head, tx_body_head) inside our begin. */
void rt_sqlite_cache_heads(rt_sqlite_call *call, uint64_t project);
/* Before a commit: can what was appended be found again? */
void rt_sqlite_check_added(rt_sqlite_call *call);

/* --- failures (store_sqlite_error.c) --- */

/* Fills err from the connection's last error and returns its status. doing: "reading the log". */
rt_status rt_sqlite_fail(rt_sqlite_store *s, sqlite3 *db, const char *doing, rt_error *err);
/* The same for a call. */
void rt_sqlite_call_fail(rt_sqlite_call *call, const char *doing);
void rt_sqlite_damaged(rt_sqlite_call *call, const char *noun, uint64_t number);
rt_status rt_sqlite_status(int rc);

/* --- store_memory.c --- */

RT_CHECKED rt_status rt_sqlite_memory_new(const rt_alloc *alloc, rt_sqlite_memory **out,
					  rt_error *err);
void rt_sqlite_memory_free(rt_sqlite_memory *memory);
const char *rt_sqlite_memory_name(const rt_sqlite_memory *memory);

/* --- statements and rows (store_sqlite_statement.c) --- */

/* The parameters of a statement that writes no row; all that it has are bound. */
typedef struct rt_sqlite_args {
	uint64_t key, last; /* ?1, ?2 */
	rt_str bytes;       /* ?3; borrowed until the statement is reset */
	bool is_text;       /* bytes is bound as text, not as a blob */
} rt_sqlite_args;

/* A range of a project's numbers. */
static inline rt_sqlite_args
rt_sqlite_range(uint64_t project, uint64_t first, uint64_t last)
{
	return (rt_sqlite_args){rt_row_key(project, first), rt_row_key(project, last),
				{NULL, 0}, false};
}

/* A statement that returns rows:
 *
 *	rt_sqlite_query q = rt_sqlite_select(call, SQL_PROJECT_LIST, rt_sqlite_range(0, 1, 9));
 *
 *	while (rt_sqlite_next(&q))
 *		… sqlite3_column_int64(q.stmt, 0) …
 *	rt_sqlite_end(&q);
 *
 * The loop may be left early. next is false after the last row and once the call has failed. */
typedef struct rt_sqlite_query {
	rt_sqlite_call *call;
	sqlite3_stmt *stmt; /* NULL: the call has failed */
	rt_sqlite_sql which;
} rt_sqlite_query;

rt_sqlite_query rt_sqlite_select(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args);
RT_CHECKED bool rt_sqlite_next(rt_sqlite_query *q);
void rt_sqlite_end(rt_sqlite_query *q);
/* The row that the query is at. Fails the call if it is not intact (or out of memory): "%s is
 * damaged: …". */
void rt_sqlite_row(rt_sqlite_query *q, const char *noun, rt_store_row *out);
/* Runs a statement without rows. */
void rt_sqlite_run(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args);
/* The first column of the first row as a number; 0: there is no row. */
uint64_t rt_sqlite_number(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args);
/* Is there a row? */
bool rt_sqlite_any(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args);
/* Runs SQL that is not prepared in advance. */
void rt_sqlite_exec(rt_sqlite_call *call, const char *sql, const char *doing);
/* The prepared statement, reset; NULL when the call has failed. */
sqlite3_stmt *rt_sqlite_stmt(rt_sqlite_call *call, rt_sqlite_sql which);
/* Registers the tokenizer of the full-text index with the call's connection. */
void rt_sqlite_add_words(rt_sqlite_call *call, const char *doing);
/* A database of SQLite's own in memory with a new store's tables, or none. */
void rt_sqlite_open_scratch(rt_sqlite_call *call, const char *schema);

/* The row of a statement that selects key, sum, data, extra (at, entry, seq, number), name (or
 * step). RT_CORRUPT: its checksum does not match. RT_NOMEM. No message. */
RT_CHECKED rt_status rt_sqlite_row_read(sqlite3_stmt *stmt, enum rt_row_table table,
					uint64_t *out_key, rt_store_row *out);
/* Binds the same five as ?1 to ?5, and runs the statement. */
void rt_sqlite_row_write(rt_sqlite_call *call, rt_sqlite_sql which, uint64_t key,
			 const rt_store_row *row);
void rt_sqlite_row_bind(sqlite3_stmt *stmt, enum rt_row_table table, uint64_t key,
			const rt_store_row *row);

/* --- store_sqlite_connection.c --- */

RT_CHECKED rt_status rt_sqlite_conn_open(rt_sqlite_store *s, rt_sqlite_conn *c, bool writer,
					 rt_error *err);
void rt_sqlite_conn_close(rt_sqlite_conn *c);
/* Has the file of an immutable connection changed, or is it about to? */
bool rt_sqlite_conn_changed(const rt_sqlite_store *s, const rt_sqlite_conn *c);

/* --- store_sqlite_file.c --- */

typedef enum rt_sqlite_file_state {
	RT_SQLITE_MISSING,
	RT_SQLITE_OURS,
	RT_SQLITE_REFUSED /* the status says why */
} rt_sqlite_file_state;

/* Examines the file at the store's path without changing it. */
RT_CHECKED rt_status rt_sqlite_examine(rt_sqlite_store *s, rt_sqlite_file_state *out,
				       rt_error *err);
/* Makes a new, empty store there, and its parent folders. */
RT_CHECKED rt_status rt_sqlite_create(rt_sqlite_store *s, rt_error *err);

/* The full-text index (store_sqlite_index.c). */
#define RT_SQLITE_INDEX_OF(words) \
	"CREATE TABLE found(key INTEGER PRIMARY KEY, sum INTEGER NOT NULL, data BLOB NOT NULL" words ") STRICT"
#define RT_SQLITE_INDEX_TABLE RT_SQLITE_INDEX_OF(" /* words " RT_WORDS_VERSION " */")
/* The index tables of earlier versions: with other rules for words, and before them tables of
 * FTS5. They count as empty, and are replaced when the first text is added. */
#define RT_SQLITE_INDEX_WORDS_1 RT_SQLITE_INDEX_OF("")
#define RT_SQLITE_INDEX_SQL(tokens) \
	"CREATE VIRTUAL TABLE found USING fts5(text, entry UNINDEXED, content=''," \
	" contentless_delete=1, contentless_unindexed=1, " tokens ")"
#define RT_SQLITE_INDEX_PAIRS RT_SQLITE_INDEX_SQL("tokenize='retake pairs', detail=none")
#define RT_SQLITE_INDEX_WORDS RT_SQLITE_INDEX_SQL("tokenize=retake, detail=none")
#define RT_SQLITE_INDEX_OLD \
	RT_SQLITE_INDEX_SQL("tokenize='unicode61 remove_diacritics 2', detail=full")

extern const char rt_sqlite_schema[];

/* --- store_sqlite_words.c --- */

/* Registers the tokenizer with a connection. An SQLite result code. */
int rt_sqlite_words_register(sqlite3 *db);

/* --- store_sqlite_disk.c --- */

/* The identity of the file at the store's path. False: no file, or a VFS without identities. */
bool rt_sqlite_file_at(const rt_sqlite_store *s, uint64_t *out_device, uint64_t *out_number);
/* Is the file at the store's path still the one that was opened? RT_REFUSED. */
RT_CHECKED rt_status rt_sqlite_same_file(const rt_sqlite_store *s, rt_error *err);
/* Does the file path + suffix exist, and is it filled? A log that has only its header is not. */
bool rt_sqlite_exists(const rt_sqlite_store *s, const char *suffix, bool *out_filled);
/* Opens a new file under a temporary name beside path (PATH.new-RANDOM, mode 0600). */
RT_CHECKED rt_status rt_sqlite_make_beside(rt_sqlite_store *s, const char *path,
					   const char *for_people, char *name, size_t room,
					   int *out_fd, rt_error *err);
/* Syncs a file, or the folder that holds path. */
RT_CHECKED rt_status rt_sqlite_sync_file(const char *path, rt_error *err);
RT_CHECKED rt_status rt_sqlite_sync_folder(const char *path, rt_error *err);
/* Renames a file; never over another one (RT_REFUSED). */
RT_CHECKED rt_status rt_sqlite_rename(const char *from, const char *to, rt_error *err);
/* RT_FULL or RT_IO. */
rt_status rt_sqlite_full_or_io(int error);

/* --- store_sqlite_transaction.c --- */

/* Writes pages of the log back into the file. wait: for readers, up to the busy limit. */
RT_CHECKED rt_status rt_sqlite_checkpoint(rt_sqlite_store *s, int mode, bool wait, rt_error *err);
/* Overwrites deleted content completely for the rest of this begin. */
void rt_sqlite_wipe(rt_sqlite_call *call);
/* Begins unless we are inside a begin already; returns which in *out_alone. */
RT_CHECKED rt_status rt_sqlite_begin_alone(rt_sqlite_store *s, bool *out_alone, rt_error *err);
/* Ends it and the call: commits if the call has not failed, else cancels; an outer begin stays
 * open. */
RT_CHECKED rt_status rt_sqlite_end_alone(rt_sqlite_call *call, bool alone, rt_error *err);
rt_status rt_sqlite_begin(rt_store *store, rt_error *err);
rt_status rt_sqlite_commit(rt_store *store, rt_error *err);
void rt_sqlite_cancel(rt_store *store);
/* Removes our relaxed mark, as a clean close does. */
void rt_sqlite_unmark_relaxed(rt_sqlite_store *s);

/* --- store_sqlite_meta.c --- */

void rt_sqlite_meta_set(rt_sqlite_call *call, const char *key, const char *value);
void rt_sqlite_meta_set_number(rt_sqlite_call *call, const char *key, uint64_t number);
/* Refuses a store of another program, or one that is too new for this version: RT_NOT_OURS,
 * RT_TOO_NEW. */
void rt_sqlite_check_gates(rt_sqlite_call *call);
/* *out_derived: it comes from another boot's relaxed mark. */
uint64_t rt_sqlite_epoch_read(rt_sqlite_call *call, bool *out_derived);
/* Inside a transaction of the writer: stores a derived epoch and removes the mark. */
void rt_sqlite_epoch_settle(rt_sqlite_call *call);
/* The same, and counts this handle as a relaxed one, or no longer. */
void rt_sqlite_mark_count(rt_sqlite_call *call, bool in);

/* --- the table of functions --- */

rt_status rt_sqlite_project_drop(rt_store *store, uint64_t project, rt_error *err);
rt_status rt_sqlite_project_new(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err);
rt_status rt_sqlite_head(rt_store *store, rt_store_table table, uint64_t project,
			 uint64_t *out_number, rt_error *err);
rt_status rt_sqlite_read(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx,
			 rt_error *err);
rt_status rt_sqlite_append(rt_store *store, uint64_t project, uint64_t expected,
			   const rt_store_row *rows, size_t row_count, const rt_store_row *bodies,
			   size_t body_count, uint64_t *out_head, rt_error *err);
rt_status rt_sqlite_write(rt_store *store, rt_rows row, rt_str data, rt_error *err);
rt_status rt_sqlite_drop(rt_store *store, rt_rows rows, rt_error *err);
rt_status rt_sqlite_index_add(rt_store *store, uint64_t project, uint64_t number, uint64_t entry,
			      rt_str text, rt_error *err);
rt_status rt_sqlite_index_find(rt_store *store, uint64_t project, rt_str query, uint64_t below,
			       rt_hit_fn fn, void *ctx, rt_error *err);
rt_status rt_sqlite_check(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err);
rt_status rt_sqlite_scrub(rt_store *store, rt_error *err);
rt_status rt_sqlite_backup(rt_store *store, const char *path, rt_error *err);

/* The watermark of the index; dropping one text, or the whole index. */
uint64_t rt_sqlite_index_mark(rt_sqlite_call *call, uint64_t project);
void rt_sqlite_index_drop(rt_sqlite_call *call, uint64_t project, uint64_t number);
void rt_sqlite_index_clear(rt_sqlite_call *call);
/* At the end of a transaction: writes its changes; forgets them. */
void rt_sqlite_index_flush(rt_sqlite_call *call);
void rt_sqlite_index_forget(rt_sqlite_store *s);
/* Not one of an earlier version? */
bool rt_sqlite_index_is_present(rt_sqlite_call *call);
/* Reads all segments of a project. RT_CORRUPT; orphan is called for texts without a body. */
void rt_sqlite_index_check(rt_sqlite_call *call, uint64_t project, void (*orphan)(void *ctx, uint64_t number),
			   void *ctx);
/* Check on the call's connection. */
void rt_sqlite_check_conn(rt_sqlite_call *call, rt_finding_fn fn, void *ctx);

#endif
