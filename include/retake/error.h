/* SPDX-License-Identifier: MIT
 *
 * Error: the one way in which anything fails. */
#ifndef RETAKE_ERROR_H
#define RETAKE_ERROR_H

#include "retake/api.h"

RETAKE_BEGIN

/* Named for what the caller can do. The numbers do not change, and there may be more: treat
 * one that you do not know as you treat RETAKE_IO. */
typedef enum retake_status {
	RETAKE_OK = 0,
	RETAKE_NOMEM = 1,        /* out of memory */
	RETAKE_USAGE = 2,        /* the request is malformed: correct it */
	RETAKE_NOT_FOUND = 3,    /* no such thing */
	RETAKE_AMBIGUOUS = 4,    /* more than one thing answers to that name: say more */
	RETAKE_REFUSED = 5,      /* understood, but not allowed as things stand */
	RETAKE_CONFLICT = 6,     /* somebody was faster: look again and retry */
	RETAKE_BUSY = 7,         /* locked by another for too long: wait */
	RETAKE_CORRUPT = 8,      /* the bytes are damaged: stop, and check the store */
	RETAKE_TOO_NEW = 9,      /* written by a newer Retake: only read, or upgrade */
	RETAKE_NOT_OURS = 10,    /* a file of another kind: choose another path */
	RETAKE_READ_ONLY = 11,   /* opened for reading only */
	RETAKE_IO = 12,          /* the disk or the system said no */
	RETAKE_FULL = 13,        /* no space left on the disk */
	RETAKE_LIMIT = 14,       /* larger or deeper than a limit */
	RETAKE_INTERRUPTED = 15, /* the person stopped it */
	RETAKE_CREDENTIALS = 16, /* a key is missing or not accepted */
	RETAKE_UPSTREAM = 17,    /* a model's server failed, or said no */
	RETAKE_DENIED = 18       /* a hook said no */
} retake_status;

enum { RETAKE_ERROR_TEXT_SIZE = 480 };

/* The caller's memory, of a size that does not change. Overwritten as a whole by a failure,
 * untouched by a success. */
typedef struct retake_error {
	retake_status status;
	int32_t has_at; /* not 0: at means something */
	uint64_t at;    /* byte position in the input */
	uint64_t line;  /* line of the input, 1 the first; 0 where lines mean nothing */
	char text[RETAKE_ERROR_TEXT_SIZE]; /* one sentence for people, NUL-terminated */
	uint64_t reserved;                 /* 0 */
} retake_error;

/* The word for a status in results and contract: "usage", "not_found" … Static, never NULL. */
RETAKE_API const char *retake_status_word(retake_status status);

/* The exit status of a program that ends for this reason, as retake's own. */
RETAKE_API int retake_status_exit_code(retake_status status);

RETAKE_END

#endif
