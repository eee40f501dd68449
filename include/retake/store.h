/* SPDX-License-Identifier: MIT
 *
 * Store: an SQLite file, a PostgreSQL database or memory that contains projects.
 *
 * Several processes, and several handles in one process, may have a file open concurrently. A
 * process that has a file open as a store must not open, copy or close it by other means: the
 * operating system drops all locks of a process on a file when any of its descriptors is closed. */
#ifndef RETAKE_STORE_H
#define RETAKE_STORE_H

#include "retake/error.h"
#include "retake/text.h"

RETAKE_BEGIN

typedef struct retake_store retake_store;

typedef struct retake_store_options {
	size_t size;   /* sizeof(retake_store_options) */
	int create;    /* create a missing file, readable only by its owner */
	int read_only; /* never write */
	int relaxed;   /* do not wait for the disk: a power failure may lose the last seconds, a
	                  crash of the process loses nothing */
} retake_store_options;

#define RETAKE_STORE_OPTIONS_INIT {sizeof(retake_store_options), 0, 0, 0}

/* path: a file, "postgresql://…", or ":memory:" for a store that lives until it is closed.
 * RETAKE_NOT_FOUND: no such file, and create is not set. RETAKE_NOT_OURS: a file of another type.
 * RETAKE_TOO_NEW: can be opened with read_only at most. RETAKE_CORRUPT, RETAKE_IO. A file that is
 * refused is not modified.
 * Cost: independent of the size of the store. */
RETAKE_CHECKED RETAKE_API retake_status retake_store_open(const char *path,
							  const retake_store_options *options,
							  retake_store **out_store,
							  retake_error *error);

/* Projects that are still open stay usable; the file is closed with the last of them. NULL is
 * allowed. */
RETAKE_API void retake_store_close(retake_store *store);

/* The names of the projects as a JSON array. */
RETAKE_CHECKED RETAKE_API retake_status retake_store_projects(retake_store *store,
							      retake_text *out_names,
							      retake_error *error);

/* Write a complete copy to a new file and verify it. Concurrent writes are allowed.
 * RETAKE_REFUSED: path exists; it is not modified. Cost: O(size of the store). */
RETAKE_CHECKED RETAKE_API retake_status retake_store_backup(retake_store *store, const char *path,
							    retake_error *error);

/* Check all data without changing it, like `retake fsck --json`:
 * {"clean":…,"findings":[{"id","text","severity","project"}]}. RETAKE_OK even with findings; a
 * failure means that the check could not be performed.
 * Cost: O(size of the store). */
RETAKE_CHECKED RETAKE_API retake_status retake_store_check(retake_store *store,
							   retake_text *out_findings,
							   retake_error *error);

RETAKE_END

#endif
