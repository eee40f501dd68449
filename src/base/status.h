/* SPDX-License-Identifier: MIT
 *
 * Status: the one way in which anything in Retake fails.
 *
 * Whatever can fail returns rt_status. Where there is a story to tell, the last
 * parameter is an rt_error that the caller owns; NULL is welcome. */
#ifndef RT_BASE_STATUS_H
#define RT_BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RT_CHECKED __attribute__((warn_unused_result))
#define RT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define RT_CHECKED
#define RT_PRINTF(f, a)
#endif

/* Named for what the caller can do. */
typedef enum rt_status {
	RT_OK = 0,
	RT_NOMEM,      /* out of memory; nothing changed */
	RT_USAGE,      /* the request is malformed: correct it */
	RT_NOT_FOUND,  /* no such thing */
	RT_AMBIGUOUS,  /* more than one thing answers to that name: say more */
	RT_REFUSED,    /* known, but not allowed as things stand */
	RT_CONFLICT,   /* somebody was faster: reload and retry */
	RT_BUSY,       /* locked by another for too long: wait */
	RT_CORRUPT,    /* the bytes are damaged: stop, run fsck */
	RT_TOO_NEW,    /* written by a newer Retake: read only, or upgrade */
	RT_NOT_OURS,   /* a file of another kind: choose another path */
	RT_READ_ONLY,  /* opened for reading only */
	RT_IO,         /* the disk or the system said no */
	RT_FULL,       /* no space left on the disk: free some */
	RT_LIMIT,      /* larger or deeper than a named limit */
	RT_INTERRUPTED, /* the person stopped it */
	RT_CREDENTIALS, /* a key is missing or not accepted: set one */
	RT_UPSTREAM,   /* the model's server failed, or said no: try again, or ask another */
	RT_DENIED      /* a hook said no */
} rt_status;

#define RT_ERROR_TEXT_SIZE 480

/* The caller's; every field is overwritten on failure and untouched on success. */
typedef struct rt_error {
	rt_status status;
	uint64_t at;    /* byte position in the input, where has_at is set */
	uint64_t line;  /* 1-based line of the input, 0 where lines mean nothing */
	int has_at;
	char text[RT_ERROR_TEXT_SIZE]; /* one sentence, NUL-terminated, no newline */
} rt_error;

/* Fill err (if not NULL) and return status, so that a failure is one line. */
rt_status rt_fail(rt_error *err, rt_status status, const char *format, ...) RT_PRINTF(3, 4);

/* The same with a byte position. */
rt_status rt_fail_at(rt_error *err, rt_status status, uint64_t at, const char *format, ...)
	RT_PRINTF(4, 5);

/* A word for a status: "usage", "not_found", "conflict" … Static, never NULL.
 * These are the codes of the black-box contract, C20. */
const char *rt_status_word(rt_status status);

/* The exit code of a program that ends with this status (C20). */
int rt_status_exit_code(rt_status status);

/* What must be true of our own code; stays on in release. One fact per call. */
#define RT_ASSERT(fact) ((fact) ? (void)0 : rt_assert_failed(#fact, __FILE__, __LINE__))
_Noreturn void rt_assert_failed(const char *fact, const char *file, int line);

#endif
