/* SPDX-License-Identifier: MIT
 *
 * Status: how functions report errors.
 *
 * Every function that can fail returns an rt_status. Where a message helps, its last parameter is
 * an rt_error, owned by the caller; it may be NULL. */
#ifndef RT_BASE_STATUS_H
#define RT_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RT_CHECKED __attribute__((warn_unused_result))
#define RT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define RT_CHECKED
#define RT_PRINTF(f, a)
#endif

/* Named after what the caller can do. */
typedef enum rt_status {
	RT_OK = 0,
	RT_NOMEM,      /* out of memory; nothing changed */
	RT_USAGE,      /* the request is malformed: correct it */
	RT_NOT_FOUND,  /* no such thing */
	RT_AMBIGUOUS,  /* more than one object matches: be more specific */
	RT_REFUSED,    /* valid, but not allowed in the current state */
	RT_CONFLICT,   /* changed by another writer: reload and retry */
	RT_BUSY,       /* locked by another process for too long: wait */
	RT_CORRUPT,    /* the bytes are damaged: stop, run fsck */
	RT_TOO_NEW,    /* written by a newer Retake: read only, or upgrade */
	RT_NOT_OURS,   /* not a file of Retake: choose another path */
	RT_READ_ONLY,  /* opened for reading only */
	RT_IO,         /* the system reported an error */
	RT_FULL,       /* no space left on the disk: free some */
	RT_LIMIT,      /* larger or deeper than a named limit */
	RT_INTERRUPTED, /* stopped by the user */
	RT_CREDENTIALS, /* an API key is missing or was rejected: set one */
	RT_UPSTREAM,   /* the model server failed or refused: retry, or use another */
	RT_DENIED      /* denied by a hook */
} rt_status;

#define RT_ERROR_TEXT_SIZE 480

/* What a failure is about, as far as callers need to know. */
typedef enum rt_about {
	RT_ABOUT_ANYTHING,
	RT_ABOUT_ENTRY,   /* no entry has this address */
	RT_ABOUT_LABEL,   /* several entries have this label */
	RT_ABOUT_DELETED, /* it exists no longer, but undo may restore it */
	RT_ABOUT_SOCKET   /* the server's socket */
} rt_about;

/* Owned by the caller. Every field is overwritten on failure and unchanged on success. */
typedef struct rt_error {
	rt_status status;
	uint64_t at;    /* byte position in the input, where has_at is set */
	uint64_t line;  /* 1-based line of the input; 0: not applicable */
	int has_at;
	int is_quiet;   /* for programs only: the user whose request caused the error must not see
			 * it */
	rt_about about;
	/* The next step: a static text such as "see: retake ls", with which text ends after "; ".
	 * NULL: none. Never found by searching text, which quotes what users wrote. */
	const char *advice;
	char text[RT_ERROR_TEXT_SIZE]; /* one sentence in valid UTF-8, NUL-terminated, no newline */
} rt_error;

/* Fills err (if not NULL) and returns status. A message that is too long is cut between two
 * characters, and bytes that are not UTF-8 become "?". */
rt_status rt_fail(rt_error *err, rt_status status, const char *format, ...) RT_PRINTF(3, 4);

/* The same with a byte position. */
rt_status rt_fail_at(rt_error *err, rt_status status, uint64_t at, const char *format, ...)
	RT_PRINTF(4, 5);

/* The same with advice (NULL: none), which is never cut off. */
rt_status rt_fail_advise(rt_error *err, rt_status status, const char *advice, const char *format,
			 ...) RT_PRINTF(4, 5);
rt_status rt_fail_v(rt_error *err, rt_status status, const char *advice, const char *format,
		    va_list args) RT_PRINTF(4, 0);

/* The size of the text without the advice. */
size_t rt_error_message_size(const rt_error *err);
/* Replaces the message and the advice; the rest of err (may be NULL) remains. */
void rt_error_rewrite(rt_error *err, const char *advice, const char *format, ...) RT_PRINTF(3, 4);

/* A word for a status: "usage", "not_found", "conflict" … Static, never NULL.
 * These are the codes of the black-box contract, C20. */
const char *rt_status_word(rt_status status);

/* The exit code of a program that ends with this status (C20). */
int rt_status_exit_code(rt_status status);

/* An invariant of our own code; checked in release builds, too. One fact per call. */
#define RT_ASSERT(fact) ((fact) ? (void)0 : rt_assert_failed(#fact, __FILE__, __LINE__))
_Noreturn void rt_assert_failed(const char *fact, const char *file, int line);

#endif
