/* SPDX-License-Identifier: MIT
 *
 * Store: one SQLite file, or memory, that holds projects.
 *
 * Several processes, and several stores of one process, may have a file open at once. Do not
 * open, copy or close the file by other means in a process that has it open as a store: the
 * system drops a process's locks on a file when any handle on it is closed. */
#ifndef RETAKE_STORE_H
#define RETAKE_STORE_H

#include "retake/error.h"
#include "retake/text.h"

RETAKE_BEGIN

typedef struct retake_store retake_store;

typedef struct retake_store_options {
	size_t size;   /* sizeof(retake_store_options) */
	int create;    /* make the file when it is missing, for its owner alone to read */
	int read_only; /* write nothing */
	int relaxed;   /* do not wait for the disk: a loss of power may take the last seconds, a
	                  crash of the process takes nothing */
} retake_store_options;

#define RETAKE_STORE_OPTIONS_INIT {sizeof(retake_store_options), 0, 0, 0}

/* path: a file, or ":memory:" for a store that is gone when it is closed.
 * RETAKE_NOT_FOUND: there is none, and create is off. RETAKE_NOT_OURS: a file of another
 * kind. RETAKE_TOO_NEW: opened with read_only at most. RETAKE_CORRUPT, RETAKE_IO. The bytes
 * of what is refused stay as they are.
 * Cost: small, whatever the store holds. */
RETAKE_CHECKED RETAKE_API retake_status retake_store_open(const char *path,
							  const retake_store_options *options,
							  retake_store **out_store,
							  retake_error *error);

/* Projects that are still open keep what they need; the file is let go of with the last of
 * them. NULL is fine. */
RETAKE_API void retake_store_close(retake_store *store);

/* The names of the projects as a JSON array. */
RETAKE_CHECKED RETAKE_API retake_status retake_store_projects(retake_store *store,
							      retake_text *out_names,
							      retake_error *error);

/* Writes a whole copy to a new file and checks it; others may write meanwhile.
 * RETAKE_REFUSED: there is something at path, which stays. Cost: as a copy. */
RETAKE_CHECKED RETAKE_API retake_status retake_store_backup(retake_store *store, const char *path,
							    retake_error *error);

/* Checks everything and changes nothing, as `retake fsck --json`:
 * {"clean":…,"findings":[{"id","text","severity","project"}]}. The status is RETAKE_OK with
 * findings too; a failure means that the check could not be made.
 * Cost: everything in the store is read. */
RETAKE_CHECKED RETAKE_API retake_status retake_store_check(retake_store *store,
							   retake_text *out_findings,
							   retake_error *error);

RETAKE_END

#endif
