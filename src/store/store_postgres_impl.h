/* SPDX-License-Identifier: MIT
 *
 * Internals that the files of the PostgreSQL store share.
 *
 *   store_postgres.c               the table of functions; opening; the epoch
 *   store_postgres_schema.c        tables and functions in the database
 *   store_postgres_security.c      row-level security
 *   store_postgres_transaction.c   begin, commit, the outcome of a commit that was cut off
 *   store_postgres_batch.c         the changes of a transaction, sent as one statement
 *   store_postgres_rows.c          the tables of rows
 *   store_postgres_index.c         the full-text index
 *   store_postgres_watch.c         changes of other programs in many projects
 *   store_postgres_check.c         check and scrub
 *   store_postgres_connection.c    connections and their pool
 *   store_postgres_query.c         parameters and results of statements
 *   store_postgres_run.c           running statements
 *   store_postgres_pipeline.c      sending and receiving
 *   store_postgres_group.c         commits of several threads that share a pipeline
 *   pq_load.c                      libpq
 *   store_common.c                 checks that all kinds of stores share
 *
 * Round trips. A transaction is collected in the process and sent when it is committed. begin locks
 * the project and reads its heads in one round trip; the commit sends the changes and COMMIT in
 * another. With begin_at, whose caller knows where the log ends, there is only the second: the
 * statement compares the heads and writes nothing if they have changed. Reads inside a begin use
 * the known heads, or send the changes first.
 *
 * Nothing depends on the session: settings are local to the transaction, and the frequent statements
 * are prepared only where no pooler assigns a server connection to each transaction.
 *
 * Threads: a connection is used by one thread at a time. `guard` protects the pool and the known
 * heads. */
#ifndef RT_STORE_POSTGRES_IMPL_H
#define RT_STORE_POSTGRES_IMPL_H

#include <pthread.h>
#include <sys/types.h>

#include "base/clock_host.h"
#include "base/scope.h"
#include "store/pq_load.h"
#include "store/store_common.h"
#include "store/store_postgres.h"
#include "store/store_row.h"

enum {
	RT_PG_FORMAT = 2,
	RT_PG_CONNECTIONS_MAX = 16,
	RT_PG_WRITERS_MAX = 12, /* of these; the rest is for reading and for groups */
	RT_PG_BEGINS_MAX = 64,  /* most of them use no connection */
	RT_PG_READS_MAX = 16,
	RT_PG_GROUPS_MAX = 4, /* at the same time */
	RT_PG_SLOTS = RT_PG_BEGINS_MAX + RT_PG_READS_MAX,
	RT_PG_GROUP_MAX = 32, /* transactions in a group */
	RT_PG_GROUP_MS = 200, /* for each of them; it may be waiting for a lock */
	RT_PG_BUSY_MS = 30000,
	RT_PG_CONNECT_MS = 10000,
	RT_PG_ANSWER_MS = 60000, /* after the busy limit: then the server counts as lost */
	RT_PG_ARGS_MAX = 14,
	RT_PG_HEADS_KNOWN = 64,
	RT_PG_BATCH_ROWS = 4096, /* larger ones are sent before the commit */
	RT_PG_BATCH_BYTES = 8 << 20,
	RT_PG_ROW_SIZE_MAX = 256 << 20, /* a message is limited to 1 GB and copied in the server */
	RT_PG_NAME_SIZE_MAX = 2000      /* a key in a B-tree */
};

/* The changes that retake.write knows. The numbers are part of the schema. */
typedef enum rt_pg_change {
	RT_PG_LOG_ADD = 1,
	RT_PG_BODY_ADD,
	RT_PG_NODE_SET,
	RT_PG_NODE_DROP,
	RT_PG_ROOT_SET,
	RT_PG_ROOT_DROP,
	RT_PG_SIDE_SET,
	RT_PG_SIDE_DROP,
	RT_PG_LOG_SET,
	RT_PG_BODY_SET,
	RT_PG_INDEX_ADD,
	RT_PG_INDEX_MARK,
	RT_PG_INDEX_DROP,
	RT_PG_INDEX_CLEAR,
	RT_PG_EPOCH_SET,
	RT_PG_PROJECT_ADD,
	RT_PG_FENCE_SET
} rt_pg_change;

/* Where the parts of a project end, and what a commit compares. The fence is a number that changes
 * with every transaction without log rows, and when the outcome of a lost commit has been read. */
typedef struct rt_pg_heads {
	uint64_t project; /* 0: none */
	uint64_t seq, body, mark, fence;
	uint64_t epoch;
} rt_pg_heads;

/* Changes as columns, in the binary form of arrays but for their headers. */
typedef struct rt_pg_batch {
	rt_buf columns[6]; /* kinds, numbers, extras, sums, names, datas */
	size_t count, bytes;
	unsigned written; /* a bit for each rt_store_table */
} rt_pg_batch;

/* Rows that were read together with the lock of the project. Each result is used once. */
typedef struct rt_pg_ahead {
	PGresult *log, *side; /* NULL: none */
	uint64_t after;       /* the rows of the log begin after this one */
	rt_str name;          /* of the side row; borrowed */
} rt_pg_ahead;

typedef struct rt_pg_transaction {
	bool is_open;     /* between begin and commit */
	bool is_sent;     /* the server has begun it, and holds the lock */
	bool is_guess;    /* the project is that of the last call, not accessed in this begin */
	bool has_list;    /* holds the lock of the list of projects */
	bool is_flushed;  /* the server has changes of it */
	bool is_stale;    /* the heads differ from those that begin_at assumed */
	rt_status status; /* not RT_OK: a call failed, only cancel is left */
	rt_pg_heads now;  /* of the locked project, with the changes of the batch */
	rt_pg_heads base; /* the same in the server, without the batch */
	bool has_log;
	rt_pg_ahead ahead;
	uint64_t first_seq; /* of its first log row, and the step: */
	unsigned char step[RT_STEP_ID_SIZE];
	rt_pg_batch batch;
} rt_pg_transaction;

/* The last failure. */
typedef struct rt_pg_failure {
	bool is_lost;   /* the connection */
	char code[6];   /* SQLSTATE; empty: none */
	char text[300]; /* the server's or libpq's message, in one line */
} rt_pg_failure;

typedef struct rt_pg_conn {
	PGconn *pg;        /* NULL: not connected */
	uint64_t losses;   /* of the store when it was connected */
	bool is_counted;   /* among the connections, or may connect; guarded */
	bool used;         /* by a thread; guarded */
	unsigned named;    /* a bit for each rt_pg_name that was prepared on it */
	pthread_t owner;
	rt_pg_transaction tx;
	bool has_busy_limit; /* the statement that runs is cancelled after the busy limit */
	bool was_cancelled;
	rt_pg_failure failure;
	pthread_mutex_t lock; /* store_postgres_group.c */
	pthread_cond_t moved;
} rt_pg_conn;

typedef struct rt_pg_store {
	rt_store base;
	const rt_pq *pq;
	const rt_alloc *alloc;
	rt_env env;
	rt_store_options options;
	char *address;
	char *place; /* without the password */
	int connect_ms;
	_Atomic bool was_reached;  /* the server, by this handle */
	_Atomic uint64_t losses;   /* of connections, see rt_pg_epoch_of */
	uint64_t started;          /* when the server was, in us; 0: not known; guarded */
	_Atomic bool has_written; /* so the database is not one for reading */
	_Atomic bool has_no_names; /* a pooler may change server connections: nothing is prepared */
	bool has_policies;         /* row-level security applies to its role */
	pid_t process;             /* that opened it: a forked child must not use its sockets */

	pthread_mutex_t guard;
	pthread_cond_t free;                  /* a connection became free */
	int waiting;                          /* for that */
	int begins;                           /* open ones */
	struct rt_pg_member *queue;           /* that wait for the next group */
	uint64_t hint;                        /* the project of the last call */
	rt_pg_heads known[RT_PG_HEADS_KNOWN]; /* by project */
	uint64_t project_last;                /* projects up to here are known to exist */
	rt_pg_conn conns[RT_PG_SLOTS + RT_PG_GROUPS_MAX]; /* the last ones send groups */
} rt_pg_store;

static inline rt_pg_store *
rt_pg_self(rt_store *store)
{
	return (rt_pg_store *)store;
}

/* The epoch that the store reports: it also changes when a connection is lost. The commits of a group
 * are visible a moment before they are durable, so after a crash of the server, rows that this handle
 * has read may be lost; the crash ends every connection. */
static inline uint64_t
rt_pg_epoch_of(const rt_pg_store *s, uint64_t epoch)
{
	return epoch + s->losses;
}

/* --- statements and results (store_postgres_query.c) --- */

/* Statements that are prepared, because they are frequent. */
typedef enum rt_pg_name {
	RT_PG_NAME_NONE,
	RT_PG_NAME_APPEND_ONE,
	RT_PG_NAME_APPEND,
	RT_PG_NAME_WRITE,
	RT_PG_NAME_LOCK,
	RT_PG_NAME_HEADS,
	RT_PG_NAME_LOG,
	RT_PG_NAME_IDENTITY,
	RT_PG_NAME_WATCH,
	RT_PG_NAME_WATCH_SIDE,
	RT_PG_NAME_SIDE,
	RT_PG_NAME_APPEND_ONE_LATER,
	RT_PG_NAME_APPEND_LATER,
	RT_PG_NAME_WRITE_LATER,
	RT_PG_NAME_FLUSH,
	RT_PG_NAME_BEGIN,
	RT_PG_NAME_COMMIT,
	RT_PG_NAME_LOCK_ALONE,
	RT_PG_NAME_SIDE_AHEAD
} rt_pg_name;

/* A statement with its parameters, all in binary form. Not to be copied once it has any. */
typedef struct rt_pg_query {
	const char *sql;
	const char *doing; /* in messages: "reading the log" */
	rt_pg_name name;
	const char *later_sql; /* the same where a later commit makes it durable */
	rt_pg_name later_name;
	bool is_later;
	bool is_cancelled; /* after the busy limit; else the server limits the wait for a lock itself */
	bool is_control;   /* of the transaction: no rows */
	bool is_end;       /* the next statement belongs to another transaction */
	bool is_of_list; /* the first parameter is not a project */
	int count;
	Oid types[RT_PG_ARGS_MAX];
	const char *values[RT_PG_ARGS_MAX];
	int sizes[RT_PG_ARGS_MAX];
	char numbers[RT_PG_ARGS_MAX][8];
} rt_pg_query;

static inline rt_pg_query
rt_pg_query_of(const char *sql)
{
	return (rt_pg_query){.sql = sql, .doing = "reading it"};
}
static inline rt_pg_query
rt_pg_control_of(const char *sql)
{
	return (rt_pg_query){.sql = sql, .doing = "reading it", .is_control = true};
}
void rt_pg_arg_u64(rt_pg_query *q, uint64_t number);
/* Borrowed until the statement has run. */
void rt_pg_arg_bytes(rt_pg_query *q, rt_str bytes);
void rt_pg_arg_text(rt_pg_query *q, rt_str text);
/* The first parameter, if it is a project; or 0. */
uint64_t rt_pg_query_project(const rt_pg_query *q);
/* A whole array in binary form, of bigint or of bytea. */
void rt_pg_arg_array(rt_pg_query *q, rt_str array, bool is_bytes);
/* Big-endian numbers, as in the binary form. */
void rt_pg_put_u32(rt_buf *buf, uint32_t number);
void rt_pg_put_u64(rt_buf *buf, uint64_t number);
/* The header of an array with that many items. */
void rt_pg_put_array(rt_buf *buf, size_t count, bool is_bytes);

/* One operation on one connection. */
typedef struct rt_pg_call {
	rt_pg_store *store;
	rt_pg_conn *conn;
	rt_scope scope;
	bool is_unlimited; /* the server may take any time */
} rt_pg_call;

/* Sends the statements in one round trip and receives their results, which the caller clears.
 * false: one failed, or the connection; conn has the reason, and no result of its transaction remains. */
RT_CHECKED bool rt_pg_exchange(rt_pg_call *call, const rt_pg_query *queries, size_t count,
			       PGresult **results);
/* The lower parts: */
void rt_pg_fail_conn(rt_pg_call *call, const char *text); /* NULL: libpq's message */
void rt_pg_keep_failure(rt_pg_call *call, const PGresult *result, rt_pg_failure *to);
RT_CHECKED bool rt_pg_send_rest(rt_pg_call *call, int64_t until_ms);
/* The next result; *out NULL: the end of a statement's results. */
RT_CHECKED bool rt_pg_receive(rt_pg_call *call, int64_t until_ms, PGresult **out);
/* The result of a statement; NULL: the call has failed. Outside a transaction it is repeated on a
 * new connection if this one is lost. */
PGresult *rt_pg_rows(rt_pg_call *call, const rt_pg_query *q);
void rt_pg_clear(rt_pg_call *call, PGresult *rows);
/* Runs SQL that may consist of several statements. */
void rt_pg_script(rt_pg_call *call, const char *sql, const char *doing);
/* Fails the call with the connection's last failure. */
void rt_pg_call_fail(rt_pg_call *call, const char *doing);
void rt_pg_damaged(rt_pg_call *call, const char *noun, uint64_t number);

/* A statement that is a separate transaction, as a member of a group (store_postgres_group.c). */
typedef struct rt_pg_member {
	const rt_pg_query *query; /* its result is 1 if it has written */
	bool has_identity;
	rt_pg_query identity;
	PGresult *result; /* NULL: it failed; owned by its thread */
	rt_status status; /* of the connection; nothing was sent if it is not RT_OK */
	rt_error error;
	rt_pg_conn *conn; /* whose condition variable its thread waits for */
	bool was_grouped;         /* it was not alone in its group */
	rt_pg_conn *slot;        /* with which it is sent, if its thread sends the group */
	bool is_leader, is_done; /* under the lock of conn */
	struct rt_pg_member *next;
} rt_pg_member;

/* As rt_pg_exchange with one statement, together with those of other threads. It connects; if it cannot, the
 * call has failed. */
RT_CHECKED bool rt_pg_exchange_shared(rt_pg_call *call, const rt_pg_query *q, PGresult **result);
/* A statement after which all earlier commits are durable. */
void rt_pg_flush_query(rt_pg_query *out);
/* In the result of a statement: its transaction does not wait until it is durable. */
#define RT_PG_LATER ", set_config('synchronous_commit', 'off', true)"
/* Sends a group on the call's connection; flush: a statement after which it is durable. */
void rt_pg_exchange_group(rt_pg_call *call, rt_pg_member *const *group, size_t count, const rt_pg_query *flush);

uint64_t rt_pg_u64(rt_pg_call *call, const PGresult *rows, int row, int column);
/* The result of the statement for a batch. */
bool rt_pg_has_written(rt_pg_call *call, const PGresult *rows);
bool rt_pg_bool(rt_pg_call *call, const PGresult *rows, int row, int column);
rt_str rt_pg_bytes(rt_pg_call *call, const PGresult *rows, int row, int column);

/* --- connections (store_postgres_connection.c) --- */

/* "postgresql://USER@HOST:PORT/DATABASE", and parameters that name these: for messages. */
void rt_pg_add_place(rt_buf *out, const char *address);
/* Parses the address: place, connect_ms. */
RT_CHECKED rt_status rt_pg_parse(rt_pg_store *s, rt_error *err);
/* A free slot for a connection, for this thread; connected if possible, but not if is_assumed. write: for a
 * begin. */
RT_CHECKED rt_status rt_pg_acquire(rt_pg_store *s, bool write, bool is_assumed, rt_pg_conn **out, rt_error *err);
void rt_pg_release(rt_pg_store *s, rt_pg_conn *c);
/* Connects it if it is not, or takes over the connection of a free slot; RT_BUSY while the server is
 * starting. */
RT_CHECKED rt_status rt_pg_connect(rt_pg_store *s, rt_pg_conn *c, rt_error *err);
void rt_pg_disconnect(rt_pg_store *s, rt_pg_conn *c);
/* The connection with this thread's open begin, or NULL. */
rt_pg_conn *rt_pg_own(rt_pg_store *s);
/* The handle is being closed. */
void rt_pg_forget_own(const rt_pg_store *s);

/* --- calls (store_postgres_transaction.c) --- */

/* On the connection of this thread's begin, else on a free one. */
rt_pg_call rt_pg_reading(rt_store *store);
/* Inside this thread's begin; fails if an earlier call of it has failed. */
rt_pg_call rt_pg_writing(rt_store *store);
/* Releases the connection; a failure inside a begin ends that begin. */
RT_CHECKED rt_status rt_pg_end(rt_pg_call *call, rt_error *err);
/* Inside a begin: locks the project. False: it does not exist, or the call has failed. */
bool rt_pg_touch(rt_pg_call *call, uint64_t project);
/* The same; RT_NOT_FOUND. */
void rt_pg_insist(rt_pg_call *call, uint64_t project);
/* Inside a begin: locks the list of projects. */
void rt_pg_touch_list(rt_pg_call *call);
/* Inside a begin: the project that it has locked was removed from the server's tables. */
void rt_pg_leave(rt_pg_call *call);
/* Before reading a table inside a begin: the server receives the changes of it. */
void rt_pg_settle(rt_pg_call *call, rt_store_table table);
/* Sends the changes of the open begin. */
void rt_pg_flush(rt_pg_call *call);
enum { RT_PG_PAGE_FIRST = 64 }; /* rows of the first page that a read requests */
#define RT_PG_LOG_COLUMNS "SELECT seq, sum, data, at, step FROM retake.log WHERE project = $1 AND seq BETWEEN $2 AND $3"
#define RT_PG_LOG_SQL RT_PG_LOG_COLUMNS " ORDER BY seq LIMIT $4"
/* Reads rows of the log from first to last, at most limit. */
void rt_pg_log_query(uint64_t project, uint64_t first, uint64_t last, uint64_t limit, rt_pg_query *out);
/* Rows of the log, or a side row, if they were read with the lock; else NULL. The caller owns them. Of the log,
 * there may be more pages. */
PGresult *rt_pg_log_ahead(rt_pg_call *call, uint64_t project, uint64_t first, uint64_t last);
PGresult *rt_pg_side_ahead(rt_pg_call *call, uint64_t project, rt_str name);
/* Where the parts of a project end, without a lock. */
rt_pg_heads rt_pg_read_heads(rt_pg_call *call, uint64_t project);

rt_status rt_pg_begin(rt_store *store, rt_error *err);
rt_status rt_pg_begin_at(rt_store *store, uint64_t project, uint64_t seq, const rt_str *locked, rt_error *err);
rt_status rt_pg_commit(rt_store *store, rt_error *err);
void rt_pg_cancel(rt_store *store);

/* --- changes (store_postgres_batch.c) --- */

void rt_pg_batch_init(rt_pg_batch *b, const rt_alloc *alloc);
void rt_pg_batch_deinit(rt_pg_batch *b);
void rt_pg_batch_clear(rt_pg_batch *b);
/* Adds a change. sum, name and data may be empty. */
void rt_pg_add(rt_pg_call *call, rt_pg_change kind, uint64_t number, uint64_t extra, int64_t sum,
	       rt_str name, rt_str data);
/* The statement for a batch of one log row and one body, outside a transaction; false: it has other changes. */
bool rt_pg_append_query(rt_pg_call *call, rt_pg_query *out);
/* The statement that writes the batch; arrays hold its parameters. is_alone: without comparing
 * heads. */
void rt_pg_batch_query(rt_pg_call *call, uint64_t project, bool is_alone, rt_pg_query *out);

/* --- row-level security (store_postgres_security.c) --- */

/* Adds the SQL that creates functions and policies. */
void rt_pg_add_security(rt_buf *sql);
/* The statement that sets the identity for the next one; false: none is needed. */
bool rt_pg_identity_query(rt_pg_call *call, const rt_pg_query *q, rt_pg_query *out);
/* The project was not found: fails the call if that may be because its identity may not see or change it. */
void rt_pg_check_visible(rt_pg_call *call, uint64_t project);
/* Search in the index; the parameters are expressions of SQL. */
#define RT_PG_FIND_SQL(project, below, all, each, most) \
	"SELECT h.number, max(h.entry) FROM (SELECT f.number, f.entry FROM retake.found f WHERE" \
	" f.project = " project " AND f.number < " below " AND f.words @@ convert_from(" all ", 'UTF8')::tsquery" \
	" UNION SELECT f.number, f.entry FROM retake.found f WHERE f.project = " project " AND" \
	" f.number < " below " AND f.part > 0 AND NOT EXISTS(SELECT FROM" \
	" unnest(string_to_array(convert_from(" each ", 'UTF8'), ' ')) w WHERE NOT EXISTS(SELECT" \
	" FROM retake.found o WHERE o.project = " project " AND o.number = f.number AND o.words @@" \
	" w::tsquery))) AS h GROUP BY h.number ORDER BY h.number DESC LIMIT " most

/* --- the table of functions --- */

void rt_pg_find_schema(rt_pg_call *call);
/* As rt_store_kind.prepare. */
void rt_pg_prepare(rt_pg_call *call, bool is_new, bool is_dry, rt_buf *out_sql, bool *out_changed);
rt_status rt_pg_project_new(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err);
rt_status rt_pg_project_drop(rt_store *store, uint64_t project, rt_error *err);
rt_status rt_pg_head(rt_store *store, rt_store_table table, uint64_t project, uint64_t *out_number,
		     rt_error *err);
rt_status rt_pg_read(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err);
rt_status rt_pg_append(rt_store *store, uint64_t project, uint64_t expected,
		       const rt_store_row *rows, size_t row_count, const rt_store_row *bodies,
		       size_t body_count, uint64_t *out_head, rt_error *err);
rt_status rt_pg_write(rt_store *store, rt_rows row, rt_str data, rt_error *err);
rt_status rt_pg_drop(rt_store *store, rt_rows rows, rt_error *err);
rt_status rt_pg_index_add(rt_store *store, uint64_t project, uint64_t number, uint64_t entry,
			  rt_str text, rt_error *err);
rt_status rt_pg_index_find(rt_store *store, uint64_t project, rt_str query, uint64_t below,
			   rt_hit_fn fn, void *ctx, rt_error *err);
rt_status rt_pg_watch(rt_store *store, rt_store_watched *list, size_t count, const char *const *prefixes,
		      uint64_t *out_epoch, rt_error *err);
rt_status rt_pg_check(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err);
rt_status rt_pg_scrub(rt_store *store, rt_error *err);

#endif
