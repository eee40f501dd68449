/* SPDX-License-Identifier: MIT
 *
 * Attach: the files that a discussion names, read from disk (files/files.h) and passed to the
 * engine (chat/attachment.h).
 *
 * Threads: call from any thread. */
#ifndef RT_APP_ATTACH_H
#define RT_APP_ATTACH_H

#include "chat/attachment.h"
#include "files/files.h"

/* Options with the working directory as the only root, and PATH. Memory is the scope's. */
rt_file_options rt_attach_here(rt_scope *scope);

/* The current files of a discussion, and the definitions of the symbols that a message
 * (chat/attachment.h; may be empty) names; problems are in the set. Never NULL, but empty once the
 * scope has failed. */
const rt_file_set *rt_attach_look(rt_scope *scope, const rt_file_options *options,
				  const rt_project *value, uint32_t disc, rt_str message);
/* The files of a set in the form for a request. */
rt_attachments rt_attach_set(rt_scope *scope, const rt_file_set *set);
/* Fails the scope with RT_REFUSED if the set has problems; the message lists them. */
void rt_attach_check(rt_scope *scope, const rt_file_set *set);
/* Estimated tokens of the files of a discussion, as a request counts them, and of the definitions
 * that the message names. Files that cannot be sent are not counted. */
size_t rt_attach_tokens(rt_scope *scope, const rt_file_options *options, const rt_project *value,
			uint32_t disc, rt_str message);
/* The three lists of a discussion: two that are equal name the same files. */
rt_str rt_attach_lists(rt_scope *scope, const rt_disc *disc);
/* The three of them: an rt_attach_fn, whose ctx is a const rt_file_options. */
rt_attachments rt_attach(const void *options, rt_scope *scope, const rt_project *value, uint32_t disc,
			 rt_str message);

/* Members of an open JSON object: "files" (each "list", "item", "name", "size", "mime" or "language",
 * "lines" of a part, "view" unless it is full, "tokens" if tokens is not NULL) and
 * "file_problems" (each "list", "item", "path", "kind", "message"). */
void rt_attach_put(rt_buf *json, const rt_file_set *set, const size_t *tokens);

#endif
