/* SPDX-License-Identifier: MIT
 *
 * Files of tests, below TMPDIR so that `make test` can keep them in memory, where syncing is
 * free. */
#ifndef RT_LOG_FOLDER_TESTING_H
#define RT_LOG_FOLDER_TESTING_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "TMPDIR/name-XXXXXX", a template for mkdtemp and mkstemp. false: size is too small. */
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

/* Removes a folder and its content, read-only files included. */
static inline bool
test_folder_remove(const char *path)
{
	DIR *folder;
	bool ok = chmod(path, 0700) == 0;
	struct dirent *entry;

	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		char name[1024];
		struct stat info;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >=
		    sizeof(name))
			ok = false;
		else if (lstat(name, &info) == 0 && S_ISDIR(info.st_mode))
			ok = test_folder_remove(name) && ok;
		else
			ok = unlink(name) == 0 && ok;
	}
	if (folder != NULL)
		(void)closedir(folder);
	return rmdir(path) == 0 && ok;
}

#endif
