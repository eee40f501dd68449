/* SPDX-License-Identifier: MIT
 *
 * Trust: which hooks of a work folder may run.
 *
 * A work folder may come from anywhere: a clone, an archive, a share. Its hooks run only after the
 * user has approved exactly these bytes at exactly this path:
 *
 *   trust.json in the state folder (0600)
 *   {"v":1,"hooks":{"<work folder>/.retake/hooks/entry.after/10-note":"<SHA-256 in hex>"}}
 *
 * **The bytes that are checked are the bytes that run.** The file is opened once, without
 * following symbolic links below the work folder, and read once. Its bytes go into an anonymous
 * file in memory (memfd), which is then sealed; the hash is computed over the same bytes, and the
 * copy is executed. Passing the opened file to fexecve would not do: another process could write
 * to it between check and execution. A private copy on disk would not do either: it may survive a
 * crash, may not be executable where the temporary folder is mounted noexec, and any process of
 * the same user could write to it. The disadvantage: a script sees /proc/self/fd/3 as its name, and
 * has that one descriptor open (on its own text), because its interpreter opens it by that name. A
 * binary has none.
 *
 * Trust covers the hook's own bytes, not the programs that it runs. */
#ifndef RT_HOOKS_TRUST_H
#define RT_HOOKS_TRUST_H

#include "base/sha256.h"
#include "codec/json.h"

enum {
	RT_TRUST_FILE_MAX = 4 << 20,     /* bytes of trust.json */
	RT_TRUST_PROGRAM_MAX = 128 << 20 /* bytes of a hook */
};

/* Functions that are handed a scope fail it; on any failure nothing is trusted. */

/* ---- the contents of trust.json ---- */

/* The hash that a path is trusted by; empty: none. root is the file's object, or NULL. */
rt_str rt_trust_find(yyjson_val *root, rt_str path);
/* Append the file's text with path trusted by hex, or (hex empty) not trusted. Sorted by path. */
void rt_trust_write(rt_scope *scope, yyjson_val *root, rt_str path, rt_str hex, rt_buf *out);
/* RT_CORRUPT: not in our format; RT_TOO_NEW. */
void rt_trust_validate(rt_scope *scope, yyjson_val *root);

/* ---- trust.json on disk ---- */

/* NULL: no such file. RT_CORRUPT, RT_TOO_NEW, RT_IO; RT_REFUSED: others may write to it. */
yyjson_val *rt_trust_read(rt_scope *scope, const char *state_folder);
/* Replace the file atomically, under a lock. Creates the folder. An invalid file is not
 * overwritten. RT_CORRUPT, RT_TOO_NEW, RT_REFUSED, RT_IO, RT_FULL. */
void rt_trust_change(rt_scope *scope, const char *state_folder, rt_str path, rt_str hex);

/* ---- hooks of a work folder ---- */

typedef struct rt_trust_program {
	char hex[RT_SHA256_HEX_ROOM];
	bool is_script; /* begins with "#!" */
	int fd;         /* sealed copy, ready for execution, to be closed by the caller; -1: none */
} rt_trust_program;

/* Read and hash folder/inner (".retake/hooks/entry.after/10-note"). After a failure out->fd is -1.
 * RT_NOT_FOUND, RT_REFUSED (a link, no file, not executable, too large), RT_IO. */
void rt_trust_open(rt_scope *scope, const char *folder, const char *inner, bool with_fd,
		   rt_trust_program *out);
/* "on" (trusted in its present form), "new" (never trusted) or "changed" (since); NULL after a
 * failure. path: absolute, below folder. state_folder may be NULL: nothing is trusted. with_fd:
 * only if path is in trust.json. */
const char *rt_trust_state(rt_scope *scope, const char *state_folder, rt_str folder, rt_str path,
			   bool with_fd, rt_trust_program *out);

/* ---- shared ---- */

/* Open folder/inner (flags in addition to O_RDONLY | O_CLOEXEC) without following a symbolic link
 * below folder. -1: failed, with errno set. */
int rt_open_below(const char *folder, const char *inner, int flags);

/* Create path and its missing parents, for the user alone (0700). NULL: done; otherwise the one
 * that could not be created, with errno set, or "" if the scope has failed. */
const char *rt_make_private_folders(rt_scope *scope, const char *path);

#endif
