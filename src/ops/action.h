/* SPDX-License-Identifier: MIT
 *
 * Action: requests of people and programs, with hooks before and after them. Programs call
 * rt_apply, and not the engine itself, so that hooks see every request.
 *
 *   try      the request is compiled in memory: its effects determine its events
 *   ask      hooks before it may deny it, or replace it by another of the same operation, which is
 *            compiled again
 *   apply    as the engine does
 *   notify   hooks after it
 *
 * No lock is held while a hook runs: it may work on the same store. If others change something in
 * the meantime, the executed request is still the one that hooks approved, since its addresses were
 * replaced by ids. If no hook subscribes to its events, a request costs the same as without hooks.
 *
 * Threads: as the engine. */
#ifndef RT_OPS_ACTION_H
#define RT_OPS_ACTION_H

#include "log/engine.h"
#include "ops/hook.h"
#include "ops/import.h"

/* The names of hook events, in the order in which they occur; ended by what 0. */
typedef struct rt_action_event_names {
	unsigned what;              /* RT_EVENT_ */
	const char *before, *after; /* NULL: no such event */
} rt_action_event_names;
extern const rt_action_event_names rt_action_events[];

typedef struct rt_apply_context {
	rt_hooks *hooks; /* NULL: no hooks are called */
	rt_stop_fn stop; /* stops a hook that is being waited for; or NULL */
	void *ctx;
	rt_buf *notes;   /* notes of hooks for the user are added, a line each; or NULL */
	/* Hooks were already called, by another event (a reply, a summary, a move of the head):
	 * they are only notified, of entries. */
	bool is_asked;
	/* Precondition for requests made from a value that may be outdated: checked again, after
	 * hooks, in each transaction that executes them (rt_engine_apply_if); or NULL. */
	rt_apply_check_fn check;
	void *check_ctx;
	rt_str by;       /* the requester, for the history; empty: the one given when the engine was
			  * opened */
	/* Committed together with the requests (rt_engine_apply_if); or NULL. Requests that are
	 * separate steps may be executed in several transactions if hooks see some of them: called
	 * once in each of them, with its results and count. */
	rt_apply_keep_fn keep;
	void *keep_ctx;
	/* Drafts that follow each other within this time are one step (C61); 0: each is one.
	 * Interactive programs use RT_COALESCE_MS. */
	unsigned coalesce_ms;
	/* The row that begins the group of these steps, which undo reverts together; 0: none. */
	uint64_t group;
} rt_apply_context;

enum { RT_COALESCE_MS = 2000 };

/* session.open; session.close, before rt_engine_close. */
void rt_action_session_open(rt_engine *engine, const rt_apply_context *with);
void rt_action_session_close(rt_engine *engine, const rt_apply_context *with);

/* As rt_engine_apply. RT_DENIED in a result: a hook denied that request, or (atomic) to
 * one of them, and nothing was done. RT_INTERRUPTED. */
rt_status rt_apply(rt_engine *engine, const rt_apply_context *with, const rt_request *requests,
		   size_t count, bool atomic, rt_str default_disc, rt_str default_take,
		   rt_result *results);
/* The same with requests as JSON objects. */
rt_status rt_apply_json(rt_engine *engine, const rt_apply_context *with,
			yyjson_val *const *requests, size_t count, bool atomic,
			rt_str default_disc, rt_str default_take, rt_result *results);

/* ---- files ---- */

typedef struct rt_provider rt_provider; /* chat/provider.h; only passed on */

/* The description of a file for hooks. */
typedef struct rt_action_file {
	const rt_format *format;
	rt_str path; /* empty: standard input or output */
	/* Export: includes the last requests, in this provider's form
	 * (rt_engine_export_last_requests); or NULL. */
	const rt_provider *sent;
} rt_action_file;

enum { RT_ACTION_IMPORT_MEMORY = 96 << 20 /* bytes that reading a file may take */ };

typedef struct rt_action_import_options {
	rt_str name;     /* of the imported discussion; empty: the one in the file */
	rt_str fallback; /* of discussions that have no name in the file, where name is empty */
	rt_str file;     /* absolute path, which is kept for an export back; empty: none */
	rt_str source;   /* of conversations that have none in the file; empty: their content */
	bool dry_run;    /* only count; no hooks are called */
	bool keep_active; /* the active discussion stays active, unless the project is new */
	size_t discussions_max, entries_max; /* of the file; 0: no limit. More: RT_LIMIT */
	/* Progress of the import: entries done and in all; or NULL. */
	void (*progress)(void *ctx, size_t done, size_t all);
	void *progress_ctx;
} rt_action_import_options;

/* The contents of a file. */
typedef struct rt_action_scan {
	const rt_alloc *alloc;
	size_t discussions, entries;
	const rt_text *name; /* of the first discussion; NULL: none */
	/* of conversations without a source that come in pieces, in the file's order: the
	 * hash of the whole, see rt_known_hash */
	uint64_t *hashes;
	size_t hash_count, hash_room;
} rt_action_scan;

/* Scans a file before it is imported: RT_USAGE and other errors of reading it, RT_LIMIT,
 * RT_INTERRUPTED. with may be NULL. Release the result with rt_action_scan_deinit in any case. */
RT_CHECKED rt_status rt_action_import_scan(const rt_alloc *alloc, const rt_apply_context *with,
					   const rt_action_file *file, const rt_input *in,
					   const rt_action_import_options *options,
					   rt_action_scan *out, rt_report *report, rt_error *err);
void rt_action_scan_deinit(rt_action_scan *looked);
/* Then imports it with the same options, as rt_import_add. RT_DENIED, RT_INTERRUPTED. After a
 * failure nothing of it remains, or err describes the rest (rt_import_cancel). */
RT_CHECKED rt_status rt_action_import(rt_engine *engine, const rt_apply_context *with,
				      const rt_action_file *file, const rt_input *in,
				      const rt_action_import_options *options,
				      const rt_action_scan *looked, rt_import_result *out,
				      rt_error *err);

#endif
