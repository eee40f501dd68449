/* SPDX-License-Identifier: MIT
 *
 * Project: discussions and settings that share one history. */
#ifndef RETAKE_PROJECT_H
#define RETAKE_PROJECT_H

#include "retake/store.h"

RETAKE_BEGIN

typedef struct retake_project retake_project;

typedef struct retake_project_options {
	size_t size;    /* sizeof(retake_project_options) */
	int create;     /* create the project if the store has none of that name */
	const char *by; /* author in the history: "mail-bot"; NULL: "lib" */
} retake_project_options;

#define RETAKE_PROJECT_OPTIONS_INIT {sizeof(retake_project_options), 0, NULL}

/* name: NULL or empty: "default". A project may be open several times, in several processes.
 * RETAKE_NOT_FOUND: it does not exist, and create is not set or the store is read-only.
 * Cost: O(rows of the log since the last checkpoint), at most a few thousand. */
RETAKE_CHECKED RETAKE_API retake_status
retake_project_open(retake_store *store, const char *name, const retake_project_options *options,
		    retake_project **out_project, retake_error *error);

/* All changes are saved already; this may write a checkpoint, which makes the next open faster.
 * NULL is allowed. */
RETAKE_API void retake_project_close(retake_project *project);

/* The number of the newest row of the log that this handle has loaded. Does not block or read the
 * disk. */
RETAKE_CHECKED RETAKE_API retake_status retake_project_seq(retake_project *project,
							   uint64_t *out_seq, retake_error *error);

/* Load changes that other handles and processes have written in the meantime. retake_apply does so
 * implicitly; views do not, so that they stay stable until the caller asks.
 * Cost: O(new rows). */
RETAKE_CHECKED RETAKE_API retake_status retake_project_refresh(retake_project *project,
							       retake_error *error);

/* RETAKE_TOO_NEW, with the row in the message, if the log continues with rows of a newer Retake:
 * the project is shown as it was before them, and every change is refused. Otherwise RETAKE_OK. */
RETAKE_CHECKED RETAKE_API retake_status retake_project_newer(retake_project *project,
							     retake_error *error);

/* Update the index of retake_search, which a search does implicitly; meant for idle time.
 * RETAKE_READ_ONLY. Cost: O(new text). */
RETAKE_CHECKED RETAKE_API retake_status retake_project_index(retake_project *project,
							     retake_error *error);

RETAKE_END

#endif
