/* SPDX-License-Identifier: MIT
 *
 * Files of tests, for tests alone: they lie below TMPDIR, so that `make test` can have them
 * in memory, where waiting for the disk costs nothing. */
#ifndef RT_LOG_FOLDER_TESTING_H
#define RT_LOG_FOLDER_TESTING_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* "TMPDIR/name-XXXXXX", as mkdtemp and mkstemp take it. false: size is too small. */
static inline bool
test_path(char *path, size_t size, const char *name)
{
	const char *base = getenv("TMPDIR");
	int length = snprintf(path, size, "%s/%s-XXXXXX",
			      base != NULL && base[0] != '\0' ? base : "/tmp", name);

	return length > 0 && (size_t)length < size;
}

/* Makes a new folder; its path is in path. */
static inline bool
test_folder(char *path, size_t size, const char *name)
{
	return test_path(path, size, name) && mkdtemp(path) != NULL;
}

#endif
