/* SPDX-License-Identifier: MIT
 *
 * Words, exit codes and texts of failures. */
#include "base/text.h"

#include <stdio.h> /* vsnprintf only: it formats into memory */

enum { JOINT_SIZE = 2 }; /* "; " before the advice */

/* Makes a message valid UTF-8 of at most max_size bytes; returns its size. */
static size_t
tidy(char *text, size_t max_size)
{
	size_t size = rt_utf8_cut(rt_str_of(text), max_size), valid;

	while ((valid = rt_utf8_valid_size(rt_str_at(text, size))) < size)
		text[valid] = '?';
	text[size] = '\0';
	return size;
}

static void
set_text(rt_error *err, const char *advice, const char *format, va_list args)
{
	/* Separate, because an argument may be err->text; larger, to notice a cut. */
	char text[RT_ERROR_TEXT_SIZE + 1];
	size_t size, room = RT_ERROR_TEXT_SIZE - 1;

	(void)vsnprintf(text, sizeof(text), format, args);
	if (advice != NULL) {
		RT_ASSERT(strlen(advice) + JOINT_SIZE < room);
		room -= strlen(advice) + JOINT_SIZE;
	}
	size = tidy(text, room);
	memcpy(err->text, text, size + 1);
	if (advice != NULL)
		(void)snprintf(err->text + size, sizeof(err->text) - size, "; %s", advice);
	err->advice = advice;
}

rt_status
rt_fail_v(rt_error *err, rt_status status, const char *advice, const char *format, va_list args)
{
	if (err == NULL)
		return status;
	err->status = status;
	err->at = 0;
	err->line = 0;
	err->has_at = 0;
	err->is_quiet = 0;
	err->about = RT_ABOUT_ANYTHING;
	set_text(err, advice, format, args);
	return status;
}

rt_status
rt_fail(rt_error *err, rt_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)rt_fail_v(err, status, NULL, format, args);
	va_end(args);
	return status;
}

rt_status
rt_fail_at(rt_error *err, rt_status status, uint64_t at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)rt_fail_v(err, status, NULL, format, args);
	va_end(args);
	if (err != NULL) {
		err->at = at;
		err->has_at = 1;
	}
	return status;
}

rt_status
rt_fail_advise(rt_error *err, rt_status status, const char *advice, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)rt_fail_v(err, status, advice, format, args);
	va_end(args);
	return status;
}

size_t
rt_error_message_size(const rt_error *err)
{
	size_t size = strlen(err->text);

	return err->advice == NULL ? size : size - strlen(err->advice) - JOINT_SIZE;
}

void
rt_error_rewrite(rt_error *err, const char *advice, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return;
	va_start(args, format);
	set_text(err, advice, format, args);
	va_end(args);
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
