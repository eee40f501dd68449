/* SPDX-License-Identifier: MIT
 *
 * Store: the contract that every place to keep projects fulfils: memory, SQLite, and
 * later PostgreSQL. One test suite (store/store_contract_test.c) runs over all of them.
 *
 * What a store keeps, for each project (a number that it hands out):
 *
 *   log      rows numbered 1, 2, 3 … without a gap; never changed, but by purge
 *   bodies   texts and raw records, numbered by the caller, upwards; never changed, but by purge
 *   nodes    pieces of the last checkpoint, numbered by the caller; a cache of the log
 *   root     one record that names the checkpoint's nodes; replaced by every checkpoint
 *   side     small rows by name that are rewritten in place (replies in flight, drafts)
 *   index    a full-text index over bodies, filled behind the log up to a watermark
 *
 * and once for the whole store an epoch: a random number that changes when history may
 * have been replaced (restore, repair, recovery from relaxed mode after a crash).
 *
 * Writing happens between begin and commit. begin takes the store's only write lock and
 * waits for it up to the busy limit of the open options (RT_BUSY then). When commit has
 * returned RT_OK in full durability, what was written survives a loss of power; when it
 * has failed, nothing of it is there, or (RT_IO, RT_FULL) it is unknown until the store
 * has been opened again: a handle on which a sync failed refuses all writing after it.
 * Reading needs no begin, sees only committed data outside one, and never waits for a
 * writer; inside a begin on the same thread it sees what was written so far.
 *
 * Data is opaque here. A store keeps a checksum with every row and gives RT_CORRUPT with
 * the table and number in the message when it does not fit; it never returns wrong bytes.
 *
 * Threads: a store locks itself; begin … commit belongs to the thread that began.
 * Keys all start with the project, so a store may be spread over machines by it. */
#ifndef RT_LOG_STORE_H
#define RT_LOG_STORE_H

#include "base/text.h"

typedef struct rt_store rt_store;

enum {
	RT_STEP_ID_SIZE = 16,
	/* Packed keys: a project number and a row number share 63 bits. */
	RT_STORE_PROJECT_MAX = (1 << 20) - 1
};
#define RT_STORE_NUMBER_MAX (((uint64_t)1 << 43) - 1)

typedef struct rt_log_row {
	uint64_t seq;                        /* set by the store on reading; ignored by append */
	unsigned char step[RT_STEP_ID_SIZE]; /* random, names one attempt to write */
	int64_t at_us;                       /* when, by the writer's clock */
	rt_str data;                         /* borrowed */
} rt_log_row;

typedef struct rt_body_row {
	uint64_t number; /* 1 .. RT_STORE_NUMBER_MAX, higher than any before it in the project */
	uint64_t entry;  /* the entry it is a revision of; 0 for none */
	rt_str data;     /* borrowed */
} rt_body_row;

/* Callbacks return false to stop early (the read then returns RT_OK). Views live until
 * the callback returns; a callback must not call the store. */
typedef bool (*rt_log_fn)(void *ctx, const rt_log_row *row);
typedef bool (*rt_body_fn)(void *ctx, const rt_body_row *row);
typedef bool (*rt_side_fn)(void *ctx, rt_str name, rt_str value);
typedef bool (*rt_project_fn)(void *ctx, uint64_t project, rt_str name);
/* A search hit: a body and the entry it belongs to, best first. */
typedef bool (*rt_hit_fn)(void *ctx, uint64_t body, uint64_t entry);
/* A finding of check: a stable id such as "store-page-damaged", and a sentence. */
typedef bool (*rt_finding_fn)(void *ctx, const char *id, const char *text);

typedef enum rt_store_find {
	RT_FIND_ALL_WORDS, /* the words of the query, all of them; the last may be a prefix */
	RT_FIND_PHRASE     /* exactly these words in this order */
} rt_store_find;

typedef struct rt_store_ops {
	const char *kind; /* "memory", "sqlite" … */

	/* Release everything. An open begin is cancelled. */
	void (*close)(rt_store *store);
	/* For people: a path or an address without credentials. */
	const char *(*place)(rt_store *store);
	bool (*is_read_only)(rt_store *store);
	rt_status (*epoch)(rt_store *store, uint64_t *out_epoch, rt_error *err);

	rt_status (*begin)(rt_store *store, rt_error *err);
	rt_status (*commit)(rt_store *store, rt_error *err);
	void (*cancel)(rt_store *store); /* without a begin: nothing */

	/* --- projects --- */
	/* Needs begin. RT_REFUSED: the name is taken. */
	rt_status (*project_new)(rt_store *store, rt_str name, uint64_t *out_project,
				 rt_error *err);
	rt_status (*project_find)(rt_store *store, rt_str name, uint64_t *out_project,
				  rt_error *err); /* RT_NOT_FOUND */
	rt_status (*project_list)(rt_store *store, rt_project_fn fn, void *ctx, rt_error *err);

	/* --- log and bodies --- */
	/* The number of the last log row; 0 when there is none. One key look-up. */
	rt_status (*log_head)(rt_store *store, uint64_t project, uint64_t *out_seq,
			      rt_error *err);
	/* Needs begin. Adds rows as expected+1, expected+2 … and the bodies. RT_CONFLICT when
	 * the head is not expected: nothing was added by this call, the begin stays open, and
	 * out_head (may be NULL) says where the head is. */
	rt_status (*append)(rt_store *store, uint64_t project, uint64_t expected,
			    const rt_log_row *rows, size_t row_count, const rt_body_row *bodies,
			    size_t body_count, uint64_t *out_head, rt_error *err);
	/* Rows first .. last, ascending, or descending when first > last. Missing: skipped. */
	rt_status (*log_read)(rt_store *store, uint64_t project, uint64_t first, uint64_t last,
			      rt_log_fn fn, void *ctx, rt_error *err);
	/* Appends the body's data to out. RT_NOT_FOUND. out_entry may be NULL. */
	rt_status (*body_read)(rt_store *store, uint64_t project, uint64_t number, rt_buf *out,
			       uint64_t *out_entry, rt_error *err);
	/* Bodies first .. last, ascending. */
	rt_status (*body_scan)(rt_store *store, uint64_t project, uint64_t first, uint64_t last,
			       rt_body_fn fn, void *ctx, rt_error *err);
	/* The bodies of these numbers (ascending, each once), in one look at the store: many
	 * times faster than one by one. Missing: skipped. */
	rt_status (*body_pick)(rt_store *store, uint64_t project, const uint64_t *numbers,
			       size_t count, rt_body_fn fn, void *ctx, rt_error *err);
	/* The highest number of a body; 0 when there is none. */
	rt_status (*body_head)(rt_store *store, uint64_t project, uint64_t *out_number,
			       rt_error *err);

	/* --- checkpoint --- */
	rt_status (*node_write)(rt_store *store, uint64_t project, uint64_t number, rt_str data,
				rt_error *err); /* needs begin */
	rt_status (*node_drop)(rt_store *store, uint64_t project, uint64_t number,
			       rt_error *err); /* needs begin; missing is fine */
	rt_status (*node_drop_all)(rt_store *store, uint64_t project,
				   rt_error *err); /* needs begin; the root goes too */
	rt_status (*node_read)(rt_store *store, uint64_t project, uint64_t number, rt_buf *out,
			       rt_error *err); /* RT_NOT_FOUND */
	/* The nodes of these numbers (ascending, each once) as bodies without an entry, in one
	 * look at the store: many times faster than one by one. Missing: skipped. */
	rt_status (*node_pick)(rt_store *store, uint64_t project, const uint64_t *numbers,
			       size_t count, rt_body_fn fn, void *ctx, rt_error *err);
	/* Numbers of all nodes, ascending, as search hits (entry is 0). For fsck and clean-up. */
	rt_status (*node_list)(rt_store *store, uint64_t project, rt_hit_fn fn, void *ctx,
			       rt_error *err);
	/* The root and the seq that it stands for. */
	rt_status (*root_write)(rt_store *store, uint64_t project, uint64_t seq, rt_str data,
				rt_error *err); /* needs begin */
	rt_status (*root_read)(rt_store *store, uint64_t project, uint64_t *out_seq, rt_buf *out,
			       rt_error *err); /* RT_NOT_FOUND */

	/* --- side rows --- */
	/* A commit of its own unless inside begin. An empty value drops the row. */
	rt_status (*side_write)(rt_store *store, uint64_t project, rt_str name, rt_str value,
				rt_error *err);
	rt_status (*side_read)(rt_store *store, uint64_t project, rt_str name, rt_buf *out,
			       rt_error *err); /* RT_NOT_FOUND */
	rt_status (*side_list)(rt_store *store, uint64_t project, rt_side_fn fn, void *ctx,
			       rt_error *err);

	/* --- search --- */
	/* Everything up to this body number is in the index. */
	rt_status (*index_mark)(rt_store *store, uint64_t project, uint64_t *out_number,
				rt_error *err);
	/* Needs begin. text is what people read, without markup; number > the mark becomes
	 * the mark. An empty text only moves the mark. */
	rt_status (*index_add)(rt_store *store, uint64_t project, uint64_t number,
			       uint64_t entry, rt_str text, rt_error *err);
	/* Any text is a legal query: what is not a word is ignored; no word: no hit. */
	rt_status (*index_find)(rt_store *store, uint64_t project, rt_str query,
				rt_store_find how, rt_hit_fn fn, void *ctx, rt_error *err);

	/* --- purge --- */
	/* Needs begin. Overwrite in place; the row keeps its number. */
	rt_status (*body_replace)(rt_store *store, uint64_t project, uint64_t number,
				  rt_str data, rt_error *err);
	rt_status (*log_replace)(rt_store *store, uint64_t project, uint64_t seq, rt_str data,
				 rt_error *err);
	/* Needs begin. Take a body's text out of the index; text is what index_add was given. */
	rt_status (*index_drop)(rt_store *store, uint64_t project, uint64_t number, rt_str text,
				rt_error *err);
	/* Needs begin. Forget the index of every project, also where it is damaged; all marks
	 * are 0 then, so that it is made anew. */
	rt_status (*index_clear)(rt_store *store, rt_error *err);
	/* Outside begin. Make sure that nothing that was overwritten or dropped can be read
	 * from the store's files: free pages, write-ahead log, index segments. May take long. */
	rt_status (*scrub)(rt_store *store, rt_error *err);

	/* --- care --- */
	/* Write a whole, consistent copy to a new file. RT_REFUSED when path exists. The copy
	 * is synced, renamed into place and checked before RT_OK. */
	rt_status (*backup)(rt_store *store, const char *path, rt_error *err);
	/* Everything the store itself can check: pages, checksums, gaps in the numbers, rows
	 * without a project, index behind a body that is gone. RT_OK even with findings. */
	rt_status (*check)(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err);
	/* A new random epoch. A commit of its own unless inside begin. */
	rt_status (*epoch_renew)(rt_store *store, rt_error *err);
} rt_store_ops;

struct rt_store {
	const rt_store_ops *ops;
	/* what follows belongs to the kind */
};

#endif
