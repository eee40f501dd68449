/* SPDX-License-Identifier: MIT
 *
 * The message about a failed assertion, on standard error: the fact that should have been true, and
 * its place. */
#define _POSIX_C_SOURCE 200809L
#include "base/status.h"

#include <stdio.h> /* snprintf */
#include <stdlib.h>
#include <unistd.h>

_Noreturn void
rt_assert_failed(const char *fact, const char *file, int line)
{
	char text[400];
	int size = snprintf(text, sizeof(text), "retake: internal error: %s (%s:%d)\n", fact, file,
			    line);

	if (size > 0)
		(void)!write(STDERR_FILENO, text,
			     (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1);
	abort();
}
