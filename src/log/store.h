/* SPDX-License-Identifier: MIT
 *
 * Store: the contract of every storage back end. A back end fills rt_store_ops; one test suite
 * (store/store_contract*_test.c) runs over all of them.
 *
 * A store holds projects, and for each project numbered rows in a few tables:
 *
 *   log      1, 2, 3 … without a gap; append only
 *   bodies   texts and raw records, numbered by the caller, upwards; append only
 *   nodes    pieces of the last checkpoint, numbered by the caller; a cache of the log
 *   root     one row that names the checkpoint's nodes; replaced by every checkpoint
 *   side     rows by name, rewritten in place (replies in flight, drafts, files as they were sent); those
 *            whose names begin with '#' are a cache (log/vectors.h), and listed only by such a prefix
 *   index    a full-text index over bodies, updated after the log, up to a watermark
 *
 * and once for the whole store an epoch: a random number that changes when history may have
 * been replaced (restore, repair, recovery from relaxed mode after a crash). Only purge changes
 * rows of the log and the bodies.
 *
 * Writing happens between begin and commit. begin takes the store's only write lock and waits for
 * it up to the busy limit of the open options, then fails with RT_BUSY. (A store that is
 * partitioned by project has a lock for each project and one for their list; it takes the locks of
 * those that are accessed.) Once commit has returned RT_OK in full durability, the data survives a
 * loss of power. If it fails, nothing was written, or
 * (RT_IO, RT_FULL) that is unknown until the store is opened again: a handle on which a sync failed
 * refuses all later writes. Reading needs no begin, never waits for a writer's transaction and sees
 * committed data only; inside a begin, on the same thread, it sees the transaction's own writes.
 *
 * Data is opaque here. A store keeps a checksum with every row and returns RT_CORRUPT, with the
 * table and number in the message, when it does not match; it never returns wrong bytes.
 *
 * Threads: a store locks itself; begin … commit belongs to the thread that called begin. All
 * keys start with the project, so that a store may be partitioned by it. */
#ifndef RT_LOG_STORE_H
#define RT_LOG_STORE_H

#include "base/scope.h"

typedef struct rt_store rt_store;

enum {
	RT_STEP_ID_SIZE = 16,
	/* Packed keys: a project number and a row number share 63 bits. */
	RT_STORE_PROJECT_MAX = (1 << 20) - 1
};
#define RT_STORE_NUMBER_MAX (((uint64_t)1 << 43) - 1)

typedef enum rt_store_table {
	RT_STORE_PROJECTS, /* numbered by the store; read only; belongs to no project: pass 0 */
	RT_STORE_LOG,
	RT_STORE_BODIES,
	RT_STORE_NODES,
	RT_STORE_ROOT, /* at most one row, numbered with its seq */
	RT_STORE_SIDE, /* by name; all numbers are 0 */
	RT_STORE_INDEX /* by the number of a body; cannot be read */
} rt_store_table;

typedef struct rt_store_row {
	uint64_t number;                     /* 1 .. RT_STORE_NUMBER_MAX, see rt_store_table */
	uint64_t entry;                      /* bodies: the entry it is a revision of; 0: none */
	rt_str data;                         /* borrowed; projects: the name */
	rt_str name;                         /* side rows only; borrowed */
	int64_t at_us;                       /* log only: when, by the writer's clock */
	unsigned char step[RT_STEP_ID_SIZE]; /* log only: random, names one attempt to write */
} rt_store_row;

/* Which rows of a table: use the constructors below. */
typedef struct rt_rows {
	rt_store_table table;
	uint64_t project;
	uint64_t first, last;    /* a range */
	const uint64_t *numbers; /* not NULL: these instead, ascending, each once */
	size_t number_count;
	bool is_named; /* the one of that name instead */
	rt_str name;   /* not is_named: of side rows, the beginning of their names; empty: all without '#' */
	bool numbers_only; /* data need not be read: it may be empty and unchecked; of side rows: names */
} rt_rows;

/* first .. last, ascending; of the log also descending, where first > last. */
static inline rt_rows
rt_rows_between(rt_store_table which, uint64_t project, uint64_t first, uint64_t last)
{
	return (rt_rows){.table = which, .project = project, .first = first, .last = last};
}

static inline rt_rows
rt_rows_one(rt_store_table which, uint64_t project, uint64_t number)
{
	return rt_rows_between(which, project, number, number);
}

static inline rt_rows
rt_rows_all(rt_store_table which, uint64_t project)
{
	return rt_rows_between(which, project, 1, RT_STORE_NUMBER_MAX);
}

/* The numbers of all rows. */
static inline rt_rows
rt_rows_numbers(rt_store_table which, uint64_t project)
{
	rt_rows rows = rt_rows_all(which, project);

	rows.numbers_only = true;
	return rows;
}

/* Side rows whose names begin with this. The data of others is not read. */
static inline rt_rows
rt_rows_prefixed(uint64_t project, rt_str prefix)
{
	rt_rows rows = rt_rows_all(RT_STORE_SIDE, project);

	rows.name = prefix;
	return rows;
}

/* The first name after those of the cache. */
#define RT_STORE_SIDE_FIRST "$"

/* The names of all side rows. */
static inline rt_rows
rt_rows_names(uint64_t project)
{
	return rt_rows_numbers(RT_STORE_SIDE, project);
}

/* Bodies or nodes: many times faster than one by one. */
static inline rt_rows
rt_rows_listed(rt_store_table which, uint64_t project, const uint64_t *numbers, size_t count)
{
	return (rt_rows){
		.table = which, .project = project, .numbers = numbers, .number_count = count};
}

/* A side row or a project. */
static inline rt_rows
rt_rows_named(rt_store_table which, uint64_t project, rt_str name)
{
	return (rt_rows){.table = which, .project = project, .is_named = true, .name = name};
}

/* Callbacks return false to stop early (the call then returns RT_OK). Views are valid until the
 * callback returns; a callback must not call the store. */
typedef bool (*rt_store_row_fn)(void *ctx, const rt_store_row *row);
/* A search hit: a body and the entry it belongs to. */
typedef bool (*rt_hit_fn)(void *ctx, uint64_t body, uint64_t entry);
/* A finding of check: a stable id such as "store-page-damaged", and a sentence. */
typedef bool (*rt_finding_fn)(void *ctx, const char *id, const char *text);

/* A project in which changes of other programs are expected. */
typedef struct rt_store_watched {
	uint64_t project, seq; /* the caller knows its log up to this row */
	bool has_changed;      /* the log does not end there */
	bool has_side;         /* there are side rows with one of the prefixes */
} rt_store_watched;

typedef struct rt_store_ops {
	const char *kind; /* "memory", "sqlite" … */

	/* Releases everything. An open begin is cancelled. */
	void (*close)(rt_store *store);
	rt_status (*epoch)(rt_store *store, uint64_t *out_epoch, rt_error *err);
	/* Makes a new random epoch. A separate commit unless inside begin. */
	rt_status (*epoch_renew)(rt_store *store, rt_error *err);

	rt_status (*begin)(rt_store *store, rt_error *err);
	/* The same for changes of one project, whose log is assumed to end with seq. The store need
	 * not wait for the lock: if another program has written to the project since, commit returns
	 * RT_CONFLICT, and nothing was written. locked: nothing is assumed; it waits for the project's
	 * lock, and may read together with it what the caller is likely to read next: the rows of the
	 * log after seq, and the side row of this name, which lives until the commit. NULL: the store has
	 * no such begin. */
	rt_status (*begin_at)(rt_store *store, uint64_t project, uint64_t seq, const rt_str *locked, rt_error *err);
	rt_status (*commit)(rt_store *store, rt_error *err);
	void (*cancel)(rt_store *store); /* without a begin: does nothing */

	/* Needs begin. RT_REFUSED: the name is in use. */
	rt_status (*project_new)(rt_store *store, rt_str name, uint64_t *out_project,
				 rt_error *err);
	/* Needs begin. Removes a project with all its rows. Its number is never used again: writes to
	 * it fail with RT_NOT_FOUND, reads find nothing. RT_NOT_FOUND. rt_store_project_delete also
	 * tells other programs. */
	rt_status (*project_drop)(rt_store *store, uint64_t project, rt_error *err);

	/* --- rows --- */
	/* The highest number in a table of a project; 0 when it is empty. Of the index: its
	 * watermark, up to which bodies are in it. One key look-up. */
	rt_status (*head)(rt_store *store, rt_store_table table, uint64_t project,
			  uint64_t *out_number, rt_error *err);
	/* Compares many projects with the store at once, and reads its epoch. prefixes: of the names of
	 * side rows, up to a NULL; NULL: has_side is not wanted. NULL: the store has no such function,
	 * because head is as fast. */
	rt_status (*watch)(rt_store *store, rt_store_watched *list, size_t count,
			   const char *const *prefixes, uint64_t *out_epoch, rt_error *err);
	/* Hands the rows to fn in order. Missing rows are skipped. */
	rt_status (*read)(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx,
			  rt_error *err);
	/* Needs begin. Adds log rows as expected + 1, expected + 2 … (their numbers are ignored)
	 * and bodies with numbers above all others. RT_CONFLICT when the log's head is not
	 * expected: nothing was added by this call, the begin stays open, and out_head (may be
	 * NULL) is the head. */
	rt_status (*append)(rt_store *store, uint64_t project, uint64_t expected,
			    const rt_store_row *rows, size_t row_count, const rt_store_row *bodies,
			    size_t body_count, uint64_t *out_head, rt_error *err);
	/* Needs begin, except for side rows, where it is a separate commit outside one.
	 *
	 * nodes, root   insert or replace; the root's number is its seq
	 * side          insert or replace; empty data drops the row
	 * log, bodies   purge: overwrite the data in place; everything else in the row stays.
	 *               RT_NOT_FOUND */
	rt_status (*write)(rt_store *store, rt_rows row, rt_str data, rt_error *err);
	/* Needs begin. Missing rows are fine.
	 *
	 * nodes   those in the range
	 * root    the whole checkpoint: root and nodes
	 * index   the texts of the bodies in the range; of project 0: the whole index with all
	 *         watermarks, even where it is damaged */
	rt_status (*drop)(rt_store *store, rt_rows rows, rt_error *err);

	/* --- search --- */
	/* Needs begin. text is the readable text, without markup; a number above the watermark
	 * becomes the watermark. An empty text only moves it. */
	rt_status (*index_add)(rt_store *store, uint64_t project, uint64_t number, uint64_t entry,
			       rt_str text, rt_error *err);
	/* The texts with all words of the query in any order, the newest (with the highest number)
	 * first, of those below a number (0: of all). A word that "*" follows is the beginning of
	 * one. Words within quotes are a phrase: texts without it may be left out. Words are
	 * tokens of base/words.h, so a hit need not contain a longer text of a script without
	 * spaces, nor a word beyond RT_TOKEN_MAX; few other texts may be among the hits. Any text is a legal query: non-words are ignored;
	 * without words there are no hits. */
	rt_status (*index_find)(rt_store *store, uint64_t project, rt_str query, uint64_t below,
				rt_hit_fn fn, void *ctx, rt_error *err);

	/* --- maintenance --- */
	/* Outside begin. Makes sure that nothing that was overwritten or dropped can be read
	 * from the store's files: free pages, write-ahead log, index segments. May be slow. */
	rt_status (*scrub)(rt_store *store, rt_error *err);
	/* Writes a whole, consistent copy to a new file. RT_REFUSED when path exists. The copy
	 * is synced, renamed into place and checked before RT_OK. */
	rt_status (*backup)(rt_store *store, const char *path, rt_error *err);
	/* Everything the store itself can check: pages, checksums, gaps in the numbers, rows
	 * without a project, index entries without a body. RT_OK even with findings. */
	rt_status (*check)(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err);
} rt_store_ops;

struct rt_store {
	const rt_store_ops *ops;
	const char *place; /* for display: a path, or an address without credentials */
	/* Why the access control of the store (log/identity.h) does not apply to this
	 * program ("it is a superuser"). NULL: it applies, or there is none. */
	const char *bypass;
	bool is_read_only;
	/* followed by the back end's own fields */
};

/* Reads one row: appends its data to out (may be NULL) and sets *out_number (may be NULL) to a
 * body's entry, a root's seq or a project's number. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_store_get(rt_store *store, rt_rows row, rt_buf *out, uint64_t *out_number,
				  rt_error *err);

/* Projects whose names begin so belong to Retake itself (the accounts of a store): they are neither
 * listed nor opened by name. */
#define RT_STORE_RESERVED "\x01"
static inline bool
rt_store_is_reserved(rt_str project)
{
	return project.size > 0 && project.ptr[0] == RT_STORE_RESERVED[0];
}

/* The project that keeps the number of a dropped one from being used again, because the next number is
 * the highest one and one more. It has no rows. */
#define RT_STORE_DROPPED RT_STORE_RESERVED "dropped"

/* Deletes a project with its contents, in a transaction that changes the epoch, so that programs that
 * have the project open notice it. The free space may still contain it: scrub. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_store_project_delete(rt_store *store, uint64_t project, rt_error *err);

/* Ends a transaction of this thread: commits, or cancels if the scope has failed. */
static inline void
rt_store_end(rt_store *store, rt_scope *s)
{
	RT_TRY(s, store->ops->commit(store, &s->error));
	if (!rt_ok(s))
		store->ops->cancel(store);
}

#endif
