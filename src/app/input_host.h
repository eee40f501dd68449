/* SPDX-License-Identifier: MIT
 *
 * Input: a file as an rt_input. It is read in pieces, never mapped, so that no file takes more
 * memory than a piece.
 *
 * A regular file is read in place. It must not change in the meantime, since reading it twice has
 * to give the same bytes: a read after a change is RT_BUSY. A pipe is copied to an unnamed file
 * (0600) as far as it is read, because it has to be read again; no more than was requested is read
 * from it.
 *
 * A file in UTF-16 with a byte order mark is read from a copy in UTF-8 (app/input_utf16.h).
 *
 * An SQLite database is read together with its log (app/input_wal.h).
 *
 * One thread at a time. */
#ifndef RT_APP_INPUT_HOST_H
#define RT_APP_INPUT_HOST_H

#include <sys/stat.h>

#include "app/input_parts.h"
#include "app/input_wal.h"
#include "ops/format.h"

#define RT_FILE_INPUT_PIPE_MAX ((uint64_t)1 << 30) /* limit in bytes for input from a pipe */

typedef struct rt_file_input {
	rt_input in; /* ctx is this struct: it must not be moved */
	const char *name;    /* for errors */
	int fd;              /* the file, or the copy of the pipe */
	int pipe;            /* -1: none */
	bool is_ours;        /* fd is closed by rt_file_input_close */
	bool has_pipe_end;
	uint64_t from;       /* offset of the input's first byte in the file */
	uint64_t kept;       /* bytes of the pipe so far */
	struct stat state;   /* of the file, as it was opened */
	rt_input_wal *wal;   /* of a database; or NULL */
	rt_input_parts *parts; /* several files; or NULL */
	bool grows;          /* rt_file_input_lines: only becoming shorter is a change */
	/* Called with every read; or NULL. */
	void (*progress)(void *ctx, uint64_t offset);
	void *progress_ctx;
} rt_file_input;

/* RT_NOT_FOUND, RT_IO; RT_USAGE: it is not a regular file (a folder, a device, a FIFO, a socket).
 * RT_BUSY: a database in the middle of a change. Never waits. name is borrowed. */
RT_CHECKED rt_status rt_file_input_open(rt_file_input *out, const char *name, rt_error *err);
/* Several files, one after the other, called name; all are borrowed. */
RT_CHECKED rt_status rt_file_input_join(rt_file_input *out, const char *name, const char *const *paths,
					size_t count, rt_error *err);
/* Standard input, or another descriptor, from its current offset. The descriptor stays the
 * caller's. folder: for the copy of a pipe. */
RT_CHECKED rt_status rt_file_input_from(rt_file_input *out, int fd, const char *name,
					const char *folder, rt_error *err);
/* A file that only this process has, such as a spooled body. */
void rt_file_input_spooled(rt_file_input *out, int fd, uint64_t size);
/* For a file of lines to which another program appends: the input ends after its last complete line,
 * and appended lines do not change it. Several files together are read as they are. RT_IO, RT_NOMEM. */
RT_CHECKED rt_status rt_file_input_lines(rt_file_input *input, const rt_alloc *alloc,
					 rt_error *err);
/* Was the file changed? Then it can be read again from its beginning. */
bool rt_file_input_again(rt_file_input *input);
void rt_file_input_close(rt_file_input *input);

/* A new file without a name, 0600; -1: errno is set. */
int rt_file_unnamed(const char *folder);

#endif
