/* SPDX-License-Identifier: MIT
 *
 * Import: outlines into a project, batch by batch.
 *
 * An import may be far larger than memory and may take long. Each batch is written in several short
 * transactions, so that other writers (also of this project) get their turn in between. The whole
 * import is one step for undo and redo.
 *
 * A discussion becomes visible with its last row. So during an import, or after a crash in the
 * middle of it, readers find only complete discussions; repeating the import adds the rest, since
 * known ones are not added twice.
 *
 *   rt_import_begin, rt_import_add ..., then rt_import_end or rt_import_cancel
 *
 * Threads: one at a time for each import. */
#ifndef RT_OPS_IMPORT_H
#define RT_OPS_IMPORT_H

#include "log/engine.h"
#include "ops/format.h"

typedef struct rt_import rt_import;

typedef struct rt_import_result {
	size_t discussions, entries, takes; /* added */
	size_t hidden;                      /* entries among them that are hidden (rt_body_is_hidden) */
	size_t known;                       /* entries that already existed */
	size_t settings;                    /* of the project that changed, its roles included */
	uint64_t seq;
	char discussion[260];               /* the last that was added, else extended, else known */
} rt_import_result;

/* Members of an open JSON object: "discussions","entries","hidden","takes","known","settings". */
void rt_import_result_put(rt_buf *out, const rt_import_result *result);

typedef struct rt_import_options {
	rt_str name;        /* of discussions that have none; empty: "imported" */
	rt_str by;          /* the requester; empty: the one given when the engine was opened */
	rt_str file;        /* the path of the file, if it has one discussion: rt_imported_file */
	bool dry_run;       /* only count */
	bool keep_active;   /* the active discussion stays active, unless the project is new */
	size_t discussions; /* their total number, if known; 0: unknown */
	/* The hash of each conversation without a source that comes in pieces, in their order
	 * (rt_known_hash), if the caller has read them before: an existing one is then recognised
	 * from its first piece on. Borrowed until the import ends. */
	const uint64_t *hashes;
	size_t hash_count;
} rt_import_options;

/* RT_READ_ONLY, RT_NOMEM. options are copied, except for the hashes. */
RT_CHECKED rt_status rt_import_begin(rt_engine *engine, const rt_import_options *options,
				     rt_import **out, rt_error *err);
/* Add a batch, in as many transactions as it needs. It is borrowed for the call. A conversation
 * marked `more` continues with the first outline of the next batch. After a failure only
 * rt_import_cancel is possible. */
RT_CHECKED rt_status rt_import_add(rt_import *import, const rt_outlines *batch, rt_error *err);
/* The rest: fields of the project, the active discussion. Frees import, also on failure. */
RT_CHECKED rt_status rt_import_end(rt_import *import, rt_import_result *out, rt_error *err);
/* Undoes everything added so far. Discussions from before a step that another writer made in the
 * project are removed from the catalogue instead. err: why the import ended, or NULL; anything that
 * could not be undone is added to its text. Frees import; NULL is fine. */
void rt_import_cancel(rt_import *import, rt_error *err);

/* ---- the whole at once, for a few outlines ---- */

/* Add outlines to the project: new discussions, or new entries of ones imported before (same
 * source). dry_run: only counts. One step. Roles and settings are adopted by a new project, and by
 * any project from a file without discussions. */
RT_CHECKED rt_status rt_engine_import(rt_engine *engine, const rt_outlines *outlines, rt_str name,
				      bool dry_run, rt_import_result *out, rt_error *err);
/* The same; by: the requester, empty: the one given when the engine was opened. */
RT_CHECKED rt_status rt_engine_import_by(rt_engine *engine, const rt_outlines *outlines, rt_str name,
					 rt_str by, bool dry_run, rt_import_result *out,
					 rt_error *err);

#endif
