/* SPDX-License-Identifier: MIT
 *
 * Project: discussions and settings with one history; what is changed and looked at. */
#ifndef RETAKE_PROJECT_H
#define RETAKE_PROJECT_H

#include "retake/store.h"

RETAKE_BEGIN

typedef struct retake_project retake_project;

typedef struct retake_project_options {
	size_t size;    /* sizeof(retake_project_options) */
	int create;     /* make the project when the store has none of that name */
	const char *by; /* who changes things, for the history: "mail-bot"; NULL: "lib" */
} retake_project_options;

#define RETAKE_PROJECT_OPTIONS_INIT {sizeof(retake_project_options), 0, NULL}

/* name: NULL or empty: "default". A project may be open several times, in several processes.
 * RETAKE_NOT_FOUND: there is none, and create is off or the store read-only.
 * Cost: the rows of the log since the last checkpoint, at most some thousand. */
RETAKE_CHECKED RETAKE_API retake_status
retake_project_open(retake_store *store, const char *name, const retake_project_options *options,
		    retake_project **out_project, retake_error *error);

/* Everything was saved when it was done; this may write a checkpoint, which makes the next
 * open faster. NULL is fine. */
RETAKE_API void retake_project_close(retake_project *project);

/* The number of the newest row of the log that this handle knows. Never waits, reads no
 * disk. */
RETAKE_CHECKED RETAKE_API retake_status retake_project_seq(retake_project *project,
							   uint64_t *out_seq, retake_error *error);

/* Takes in what other handles and processes have written since. retake_apply does so by
 * itself; looking does not, so that what was seen does not change unasked.
 * Cost: the rows that are new. */
RETAKE_CHECKED RETAKE_API retake_status retake_project_refresh(retake_project *project,
							       retake_error *error);

/* RETAKE_TOO_NEW, and which row, where the log goes on with what only a newer Retake can
 * read: the project is shown as it was before, and every change is refused. Else RETAKE_OK. */
RETAKE_CHECKED RETAKE_API retake_status retake_project_newer(retake_project *project,
							     retake_error *error);

/* Brings the index of retake_search up to date, which a search does by itself: for idle
 * moments. RETAKE_READ_ONLY. Cost: the texts that are new. */
RETAKE_CHECKED RETAKE_API retake_status retake_project_index(retake_project *project,
							     retake_error *error);

RETAKE_END

#endif
