/* SPDX-License-Identifier: MIT
 *
 * Files: whole files in and out. Messages name the path; err may be NULL. */
#ifndef RT_APP_FILES_H
#define RT_APP_FILES_H

#include "base/env.h"
#include "base/text.h"

/* Appends the whole content of a file ("-": standard input). RT_NOT_FOUND: it does not exist;
 * RT_IO, RT_FULL; the buffer's RT_NOMEM or RT_LIMIT. */
RT_CHECKED rt_status rt_files_read(const char *path, rt_buf *out, rt_error *err);
/* The same, replacing the content of the buffer, in the state of one moment. RT_BUSY: it is
 * being written. */
RT_CHECKED rt_status rt_files_read_whole(const char *path, rt_buf *out, rt_error *err);

typedef enum rt_files_write_mode {
	RT_FILES_NEW,     /* never over a file */
	RT_FILES_REPLACE, /* over a file, or new */
	RT_FILES_PRIVATE, /* new, and only readable by this user */
	RT_FILES_PRIVATE_REPLACE /* over a file, or new, and only readable by this user */
} rt_files_write_mode;

/* Write a file atomically. RT_REFUSED: it exists; RT_NOT_FOUND: its directory does not; RT_USAGE:
 * it is a directory, or the name is too long; RT_IO, RT_FULL. */
RT_CHECKED rt_status rt_files_write(const rt_env *env, const char *path, rt_str bytes,
				   rt_files_write_mode mode, rt_error *err);
/* A private temporary file NAME-XXXXXX.md with this text; its path is appended to out. */
RT_CHECKED rt_status rt_files_write_temporary(const char *name, rt_str text, rt_buf *out,
					     rt_error *err);

#endif
