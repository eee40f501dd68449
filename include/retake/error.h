/* SPDX-License-Identifier: MIT
 *
 * Error: statuses and messages of failures. */
#ifndef RETAKE_ERROR_H
#define RETAKE_ERROR_H

#include "retake/api.h"

RETAKE_BEGIN

/* Named for what the caller can do. The numbers are stable. More may be added: treat an unknown
 * one like RETAKE_IO. */
typedef enum retake_status {
	RETAKE_OK = 0,
	RETAKE_NOMEM = 1,        /* out of memory */
	RETAKE_USAGE = 2,        /* the request is malformed: correct it */
	RETAKE_NOT_FOUND = 3,    /* no such object */
	RETAKE_AMBIGUOUS = 4,    /* several objects match: be more specific */
	RETAKE_REFUSED = 5,      /* valid, but not allowed in the current state */
	RETAKE_CONFLICT = 6,     /* changed by another writer: read again and retry */
	RETAKE_BUSY = 7,         /* locked by another process: retry later */
	RETAKE_CORRUPT = 8,      /* the data is damaged: stop, and check the store */
	RETAKE_TOO_NEW = 9,      /* written by a newer Retake: read only, or upgrade */
	RETAKE_NOT_OURS = 10,    /* a file of another type: choose another path */
	RETAKE_READ_ONLY = 11,   /* opened read-only */
	RETAKE_IO = 12,          /* the disk or the operating system failed */
	RETAKE_FULL = 13,        /* no space left on the disk */
	RETAKE_LIMIT = 14,       /* larger or deeper than a limit */
	RETAKE_INTERRUPTED = 15, /* stopped by the user */
	RETAKE_CREDENTIALS = 16, /* a key is missing or was rejected */
	RETAKE_UPSTREAM = 17,    /* a model's server failed or refused */
	RETAKE_DENIED = 18       /* denied by a hook */
} retake_status;

enum { RETAKE_ERROR_TEXT_SIZE = 480 };

/* In the caller's memory; its size is stable. Overwritten completely on failure, unchanged on
 * success. */
typedef struct retake_error {
	retake_status status;
	int32_t has_at; /* not 0: at is valid */
	uint64_t at;    /* byte position in the input */
	uint64_t line;  /* 1-based line of the input; 0: not applicable */
	char text[RETAKE_ERROR_TEXT_SIZE]; /* one sentence, NUL-terminated */
	uint64_t reserved;                 /* 0 */
} retake_error;

/* The name of a status in results: "usage", "not_found" … Static, never NULL. */
RETAKE_API const char *retake_status_word(retake_status status);

/* The exit status of `retake` for this status. */
RETAKE_API int retake_status_exit_code(retake_status status);

RETAKE_END

#endif
