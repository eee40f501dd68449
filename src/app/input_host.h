/* SPDX-License-Identifier: MIT
 *
 * Input: a file as an rt_input. It is read in pieces, never mapped, so that no file takes more
 * memory than a piece.
 *
 * A regular file is read where it is. It must not change meanwhile: reading it twice has to
 * give the same bytes, so a read after a change is RT_BUSY. What comes through a pipe is kept
 * in a file without a name (0600) as far as it was read, because it has to be read again;
 * nothing beyond what was asked for is taken out of the pipe.
 *
 * One thread at a time. */
#ifndef RT_APP_INPUT_HOST_H
#define RT_APP_INPUT_HOST_H

#include <sys/stat.h>

#include "ops/format.h"

#define RT_FILE_INPUT_PIPE_MAX ((uint64_t)1 << 30) /* bytes; what a pipe may bring */

typedef struct rt_file_input {
	rt_input in; /* ctx is this struct: it must not be moved */
	const char *name;    /* for errors */
	int fd;              /* the file, or what was kept of the pipe */
	int pipe;            /* -1: none */
	bool is_ours;        /* fd is closed in the end */
	bool has_pipe_end;
	uint64_t from;       /* offset of the input's first byte in the file */
	uint64_t kept;       /* bytes of the pipe so far */
	struct stat state;   /* of the file, as it was opened */
	/* Called with every read; or NULL. */
	void (*progress)(void *ctx, uint64_t offset);
	void *progress_ctx;
} rt_file_input;

/* RT_NOT_FOUND, RT_IO; RT_USAGE: it is no regular file (a folder, a device, a FIFO, a socket).
 * Never waits. name is borrowed. */
RT_CHECKED rt_status rt_file_input_open(rt_file_input *out, const char *name, rt_error *err);
/* Standard input, or another descriptor, from where it is now on. The descriptor stays the
 * caller's. folder: for what comes through a pipe. */
RT_CHECKED rt_status rt_file_input_from(rt_file_input *out, int fd, const char *name,
					const char *folder, rt_error *err);
/* A file that nobody else has, such as one that was spooled. */
void rt_file_input_spooled(rt_file_input *out, int fd, uint64_t size);
/* Was the file changed? Then it can be read from its beginning on once more. */
bool rt_file_input_again(rt_file_input *input);
void rt_file_input_close(rt_file_input *input);

/* A new file of ours that has no name, 0600; -1: errno says why. */
int rt_file_unnamed(const char *folder);

#endif
