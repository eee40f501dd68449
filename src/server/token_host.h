/* SPDX-License-Identifier: MIT
 *
 * Token: the credential of programs. 256 random bits as 64 hex digits, in the file
 * <state folder>/token, which only its owner can read. It stays the same across restarts of the
 * server; a new one is made on demand.
 *
 * Threads: any. */
#ifndef RT_SERVER_TOKEN_HOST_H
#define RT_SERVER_TOKEN_HOST_H

#include "base/env.h"
#include "base/text.h"

enum { RT_TOKEN_SIZE = 64, RT_TOKEN_ROOM = RT_TOKEN_SIZE + 1 };

/* Reads it, or creates it (and the folder) if missing or with renew. RT_REFUSED: others can read
 * the file, it is not a regular file of this user, or it contains no token. RT_IO. */
RT_CHECKED rt_status rt_token_load(const rt_alloc *alloc, const rt_env *env, const char *folder,
				   bool renew, char out[RT_TOKEN_ROOM], rt_error *err);
/* 256 random bits as hex. */
/* The token in a file, which must exist. The same failures, and RT_NOT_FOUND. */
RT_CHECKED rt_status rt_token_read(const char *path, char out[RT_TOKEN_ROOM], rt_error *err);
void rt_token_make(const rt_env *env, char out[RT_TOKEN_ROOM]);

/* Makes a folder that only this user can write to, with those above it. RT_IO; RT_REFUSED: it
 * exists, and others can write to it or own it. */
RT_CHECKED rt_status rt_private_folder(const rt_alloc *alloc, const char *path, rt_error *err);

#endif
