/* SPDX-License-Identifier: MIT
 *
 * Words, exit codes and texts of failures. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h> /* vsnprintf only: it formats into memory */
#include <stdlib.h>

rt_status
rt_fail(rt_error *err, rt_status status, const char *format, ...)
{
	va_list ap;

	if (err == NULL)
		return status;
	err->status = status;
	err->at = 0;
	err->line = 0;
	err->has_at = 0;
	err->is_quiet = 0;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return status;
}

rt_status
rt_fail_at(rt_error *err, rt_status status, uint64_t at, const char *format, ...)
{
	va_list ap;

	if (err == NULL)
		return status;
	err->status = status;
	err->at = at;
	err->line = 0;
	err->has_at = 1;
	err->is_quiet = 0;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return status;
}

const char *
rt_status_word(rt_status status)
{
	switch (status) {
	case RT_OK: return "ok";
	case RT_NOMEM: return "out_of_memory";
	case RT_USAGE: return "usage";
	case RT_NOT_FOUND: return "not_found";
	case RT_AMBIGUOUS: return "ambiguous";
	case RT_REFUSED: return "refused";
	case RT_CONFLICT: return "conflict";
	case RT_BUSY: return "busy";
	case RT_CORRUPT: return "corrupt";
	case RT_TOO_NEW: return "too_new";
	case RT_NOT_OURS: return "not_ours";
	case RT_READ_ONLY: return "read_only";
	case RT_IO: return "io";
	case RT_FULL: return "disk_full";
	case RT_LIMIT: return "limit";
	case RT_INTERRUPTED: return "interrupted";
	case RT_CREDENTIALS: return "credentials";
	case RT_UPSTREAM: return "upstream";
	case RT_DENIED: return "hook_refused";
	}
	return "failed";
}

int
rt_status_exit_code(rt_status status)
{
	switch (status) {
	case RT_OK: return 0;
	case RT_USAGE: return 2;
	case RT_NOT_FOUND: return 3;
	case RT_CONFLICT: return 5;
	case RT_AMBIGUOUS: return 6;
	case RT_CREDENTIALS: return 4;
	case RT_UPSTREAM: return 7;
	case RT_DENIED: return 8;
	case RT_INTERRUPTED: return 130;
	default: return 1;
	}
}

_Noreturn void
rt_assert_failed(const char *fact, const char *file, int line)
{
	(void)fact;
	(void)file;
	(void)line;
	abort();
}
