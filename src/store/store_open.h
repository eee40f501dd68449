/* SPDX-License-Identifier: MIT
 *
 * Opening a store by its address. Every kind of store is one file that defines an rt_store_kind,
 * and one row in RT_STORE_TABLE. */
#ifndef RT_STORE_OPEN_H
#define RT_STORE_OPEN_H

#include "base/env.h"
#include "log/store.h"

typedef struct rt_store_options {
	bool create;    /* create the store if it does not exist */
	bool read_only; /* never write */
	bool relaxed;   /* commits are not synced: a loss of power may take the last seconds */
	int busy_ms;    /* how long to wait for another writer; 0: the store's default */
} rt_store_options;

typedef struct rt_store_kind {
	const char *name; /* as rt_store_ops.kind of the stores that it opens */
	bool is_memory;   /* gone at close */
	/* The path of the one file that an address means; NULL, or no function: there is none, and
	 * commands that copy or replace the file refuse. */
	const char *(*file)(const char *address);
	bool (*accepts)(const char *address);
	/* Adds the address without its credentials, for display. No function: it has none. */
	void (*add_place)(rt_buf *out, const char *address);
	/* Fails as documented for the kind; options may be NULL. */
	rt_status (*open)(const rt_alloc *alloc, const rt_env *env, const char *address,
			  const rt_store_options *options, rt_store **out_store, rt_error *err);
	/* Creates the tables, or changes them to those of this version; is_dry: only adds the SQL
	 * to out_sql. *out_changed false: nothing is to be done. No function: opening does it. */
	rt_status (*prepare)(const rt_alloc *alloc, const rt_env *env, const char *address, bool is_new,
			     bool is_dry, rt_buf *out_sql, bool *out_changed, rt_error *err);
} rt_store_kind;

/* The kind of store that an address names; never NULL: any other address is a path. */
const rt_store_kind *rt_store_kind_of(const char *address);

/* The path of the store's file; NULL: its address does not mean a file. */
const char *rt_store_file(const char *address);

/* Adds the address without credentials, in messages and to tell stores apart. */
void rt_store_add_place(rt_buf *out, const char *address);

RT_CHECKED rt_status rt_store_open(const rt_alloc *alloc, const rt_env *env, const char *address,
				   const rt_store_options *options, rt_store **out_store,
				   rt_error *err);

/* The kinds. The first that accepts an address opens it. */
#define RT_STORE_TABLE(ROW) \
	ROW(memory)   /* ":memory:": gone at close */ \
	ROW(postgres) /* "postgresql://…" */ \
	ROW(sqlite)   /* a path; the last one, because it accepts everything */

#define RT_STORE_DECLARE(id) extern const rt_store_kind rt_store_##id;
RT_STORE_TABLE(RT_STORE_DECLARE)
#undef RT_STORE_DECLARE

#endif
