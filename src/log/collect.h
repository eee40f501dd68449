/* SPDX-License-Identifier: MIT
 *
 * Collect: contents of files are side rows, named by their hash; unreferenced ones are removed.
 *
 *   blob/HASH      a file attached to an entry; needed by every body, log row and other side row that
 *                  contains the hash. Bodies and log rows are permanent: references from undone
 *                  steps and earlier versions of entries count.
 *   blob-new/HASH  when it was stored, in microseconds since 1970. The entry comes later, perhaps from
 *                  another process, so the blob is also needed for RT_BLOB_NEW_US from then.
 *   file/HASH      a file as a request contained it (chat/attachment.h); needed by every other side
 *                  row that contains the hash, in practice the last request of a discussion, and by
 *                  lines without a body in a log of requests.
 *   file-log/KEY   there is such a log (llm/comms_host.h); KEY says which.
 *   purged/HASH    the content was purged, or lost and given up; kept while something refers to it.
 *
 * Contents and the records that refer to them are written in one transaction, or the contents first.
 * A collection is a transaction too. So a crash or another process leaves no record without its
 * contents, and contents without a record are collected later.
 *
 * Threads: call from any thread. */
#ifndef RT_LOG_COLLECT_H
#define RT_LOG_COLLECT_H

#include "base/scope.h"
#include "log/engine.h"
#include "log/fsck.h"

#define RT_BLOB_PREFIX     "blob/"
#define RT_BLOB_NEW_PREFIX "blob-new/"
#define RT_FILE_PREFIX     "file/"
#define RT_FILE_LOG_PREFIX "file-log/"
#define RT_PURGED_PREFIX   "purged/"

#define RT_BLOB_NEW_US ((int64_t)7 * 24 * 3600 * 1000000)

typedef struct rt_collect rt_collect;

/* Notes the contents whose hashes occur in a text: they are needed. O(text). */
void rt_collect_mark(rt_collect *collect, rt_str text);
/* Calls rt_collect_mark for every line without a body of the log of requests with this key.
 * RT_NOT_FOUND: that is another log, which cannot be read here; its files stay. */
typedef rt_status (*rt_collect_log_fn)(void *ctx, rt_str key, rt_collect *collect, rt_error *err);

typedef struct rt_collected {
	size_t removed; /* contents */
	size_t lost;    /* that are referred to, but that the store does not have */
} rt_collected;

/* One transaction. log NULL: files stay if there is a log that may need them. Contents that are
 * missing are given up: marked as purged. O(bodies + log rows + side rows). */
RT_CHECKED rt_status rt_engine_collect(rt_engine *engine, rt_collect_log_fn log, void *ctx,
				       rt_collected *out, rt_error *err);

/* Within a transaction, as the writer: a blob was stored, now or before, and its entry follows. Removes
 * blobs whose entries never came. */
void rt_collect_blob_stored(rt_engine *engine, rt_scope *s, rt_str sha256);
/* Within a transaction, as the writer: removes files that no request needs any more. O(side rows
 * without contents). */
void rt_collect_files(rt_engine *engine, rt_scope *s);

/* Does the side row have a content, or is it another one of those above? Nothing in these names was
 * written by a person. */
bool rt_collect_is_content(rt_str name);
bool rt_collect_is_mark(rt_str name);
/* Within a transaction: replaces contents by the mark that they were purged. */
void rt_collect_purge(rt_engine *engine, rt_scope *s, rt_str name);

/* Findings that the rest of fsck (log/fsck.h) does not have:
 *
 *   file-differs   error     the content of a file is not the one of its hash
 *   file-missing   warning   the store does not have a file that something refers to
 *   file-unused    note      nothing refers to a file */
RT_CHECKED rt_status rt_engine_fsck_files(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err);

#endif
