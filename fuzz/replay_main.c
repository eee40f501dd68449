/* SPDX-License-Identifier: MIT
 *
 * Runs one fuzz target over files instead of random bytes: the empty input
 * first, then every file named on the command line, and every file in the
 * folders named there (and below). A folder that is not there counts as empty.
 * Ends with "N passed, 0 failed"; a target that fails aborts. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t runs;

static void die(const char *path)
{
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	exit(1);
}

/* The input is copied to a block of exactly its size, so that a sanitiser sees
 * a read past the end. */
static void run_bytes(const char *bytes, size_t size)
{
	uint8_t *data = calloc(size ? size : 1, 1);

	if (!data)
		die("malloc");
	if (size)
		memcpy(data, bytes, size);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	runs++;
}

static void run_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = malloc(size ? size : 1);

	if (!file || !bytes)
		die(path);
	if (fread(bytes, 1, size, file) != size)
		die(path);
	fclose(file);
	/* Printed before the run, so that an abort shows who did it. */
	fprintf(stderr, "# %s\n", path);
	run_bytes(bytes, size);
	free(bytes);
}

static void run_path(const char *path)
{
	struct stat info;
	struct dirent **names = NULL;
	int count;

	if (stat(path, &info) != 0) {
		if (errno == ENOENT)
			return;
		die(path);
	}
	if (!S_ISDIR(info.st_mode)) {
		run_file(path, (size_t)info.st_size);
		return;
	}
	count = scandir(path, &names, NULL, alphasort);
	if (count < 0)
		die(path);
	for (int i = 0; i < count; i++) {
		char *child = NULL;

		if (names[i]->d_name[0] != '.') {
			if (asprintf(&child, "%s/%s", path, names[i]->d_name) < 0)
				die(path);
			run_path(child);
			free(child);
		}
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	run_bytes("", 0);
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	printf("%zu passed, 0 failed\n", runs);
	return 0;
}
