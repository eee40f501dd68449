/* SPDX-License-Identifier: MIT
 *
 * Trust: which of a work folder's hooks may be run.
 *
 * A work folder comes from anywhere: a clone, an archive, a share. Its hooks are run only
 * after the person said so for exactly these bytes at exactly this path:
 *
 *   trust.json of the state folder (0600)
 *   {"v":1,"hooks":{"<work folder>/.retake/hooks/entry.after/10-note":"<SHA-256 in hex>"}}
 *
 * **What is checked is what is run.** The file is opened once, without following a link
 * anywhere below the work folder, and read once. What was read goes into an anonymous file in
 * memory (memfd) that is then sealed; its hash is compared, and *it* is executed. Handing the
 * opened file itself to fexecve would not do: another process may still write to it between
 * the check and the run. A private copy on disk would do, but may be left behind by a crash,
 * may not be executable where the temporary folder is mounted noexec, and anything that runs
 * as the user could write to it. The copy has a price: a script sees /proc/self/fd/3 as its
 * name, and has that one descriptor open (on its own text), because its interpreter opens it
 * by that name. A program that is no script has none.
 *
 * Trust is in the hook's bytes, not in what it calls. */
#ifndef RT_HOOKS_TRUST_H
#define RT_HOOKS_TRUST_H

#include "base/sha256.h"
#include "codec/json.h"

enum {
	RT_TRUST_FILE_MAX = 4 << 20,      /* bytes of trust.json */
	RT_TRUST_PROGRAM_MAX = 128 << 20 /* bytes of a hook that can be trusted */
};

/* ---- pure: what is in the file ---- */

/* The hash that a path is trusted by; empty: none. doc may be NULL. */
rt_str rt_trust_find(const rt_json_doc *doc, rt_str path);
/* The file's text with path trusted by hex, or (empty hex) no more. Paths are in the order of
 * their bytes. RT_NOMEM. */
RT_CHECKED rt_status rt_trust_write(const rt_alloc *alloc, const rt_json_doc *doc, rt_str path,
				    rt_str hex, rt_buf *out);
/* Is it a text of ours? RT_CORRUPT, RT_TOO_NEW. */
RT_CHECKED rt_status rt_trust_check(const rt_json_doc *doc, rt_error *err);

/* ---- trust_host.c ---- */

/* Read the file. *out NULL and RT_OK: there is none. RT_CORRUPT: not ours; RT_REFUSED: others
 * may write to it; RT_IO. Whatever fails, nothing is trusted. */
RT_CHECKED rt_status rt_trust_read(const rt_alloc *alloc, const char *state_folder,
				   rt_json_doc **out, rt_error *err);
/* Change the file: whole or not at all, one process after the other. Makes the folder. A file
 * that cannot be understood is not written over. RT_CORRUPT, RT_REFUSED, RT_IO, RT_FULL. */
RT_CHECKED rt_status rt_trust_change(const rt_alloc *alloc, const char *state_folder, rt_str path,
				     rt_str hex, rt_error *err);

/* A hook of a work folder, read once. */
typedef struct rt_trust_file {
	char hex[RT_SHA256_HEX_ROOM];
	bool is_script; /* begins with "#!" */
	int fd;         /* its bytes, sealed, ready to be executed; -1: not asked for */
} rt_trust_file;

/* inner: the path below folder (".retake/hooks/entry.after/10-note"). *out has fd -1 after a
 * failure. RT_NOT_FOUND, RT_REFUSED (a link, no file, not executable, too large), RT_IO. */
RT_CHECKED rt_status rt_trust_open(const char *folder, const char *inner, bool with_fd,
				   rt_trust_file *out, rt_error *err);

#endif
