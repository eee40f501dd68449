/* SPDX-License-Identifier: MIT
 *
 * System: clocks, random numbers, folders and whole files.
 *
 * Threads: any. */
#ifndef RT_LLM_SYSTEM_HOST_H
#define RT_LLM_SYSTEM_HOST_H

#include "base/env.h"
#include "base/text.h"

/* The system's clock and random numbers. */
const rt_env *rt_system_env(void);

/* Appends "$VARIABLE/retake/NAME", or "$HOME/BELOW/retake/NAME" where the variable is not an
 * absolute path. False: there is no home folder either. */
bool rt_home_path(rt_buf *out, const char *variable, const char *below, const char *name);

/* Makes the folders above a file, for this account alone. path is changed in between. False:
 * one of them cannot be created; errno is set. */
bool rt_folders_make(char *path);

/* Appends a regular file of at most size_max bytes; flags: further ones for open().
 *   RT_NOT_FOUND   no such file; RT_IO: unreadable, or not a regular file
 *   RT_LIMIT       larger
 *   RT_NOMEM */
RT_CHECKED rt_status rt_file_read(const char *path, int flags, size_t size_max, rt_buf *out,
				  rt_error *err);

/* The same for an open file, from its position; path is for messages. */
RT_CHECKED rt_status rt_file_read_open(int fd, const char *path, size_t size_max, rt_buf *out,
				       rt_error *err);

/* Locks the folder of a file, to replace it, and waits wait_ms at most. Returns a descriptor, whose
 * close unlocks it; -1: it is locked by another program, or cannot be opened. */
int rt_folder_lock(const char *path, int wait_ms);
/* Waits for the exclusive lock of a file, so that a stopped program that has it does not block the
 * others. False: not acquired; errno is set. */
bool rt_file_lock(int fd, int wait_ms);

/* Writes a new file of this account (0600), replacing one of that name. sync: the bytes are on the
 * disk when it returns. False: it is incomplete; errno is set. */
bool rt_file_write(const char *path, rt_str bytes, bool sync);

#endif
