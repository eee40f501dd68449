/* SPDX-License-Identifier: MIT
 *
 * Comms: the log of requests to models and their replies, JSON lines in files of the state folder.
 * A project has separate files, to which all programs append:
 *
 *   <state folder>/comms/20261122T054412Z-91c3a07e5d2b4f68.jsonl    (a hash of store and project)
 *
 *   {"v":1,"what":"request","at":…,"request":"reply/…","store":…,"project":1,"seq":12,
 *    "discussion":"d1","take":"t1","upto":"k3f9","provider":…,"model":…,"bytes":…,"hash":…,
 *    "texts":{"9f86d0…":"…"},"body":{"model":…,"messages":[{"$t":"60303a…"},…]}}
 *   {"v":1,"what":"reply","at":…,"request":"reply/…","entry":"m2p1","seq":13,"stop":"stop",…,
 *    "texts":{…},"body":{"content":{"$t":"…"},"usage":…}}
 *
 * body is the complete request that was sent (of a reply: its content and fields), with a
 * reference in place of each long text (codec/dedup.h); texts are those that are in no earlier line
 * of the file. So each file is self-contained, and its size grows with the conversation, not with
 * the number of requests times the conversation. A file that is larger than ROTATE_SIZE and several
 * times the request gets no more requests: the next one begins a new file with all its texts.
 *
 * With comms_texts = false in config.toml, and in files of older versions, lines have neither texts
 * nor body: seq is the value of the project that the request was built from, and building it again
 * gives the same bytes (to be checked with hash).
 *
 * Writers take turns by a lock on the file, each line is one write, and a line that a crash cut off
 * is closed by the next writer and ignored by readers. Undo, reset and import do not change the
 * log; a purge does. Files are 0600, folders 0700.
 *
 * Threads: locks itself. */
#ifndef RT_LLM_COMMS_HOST_H
#define RT_LLM_COMMS_HOST_H

#include "base/env.h"
#include "chat/send.h"

typedef struct rt_comms rt_comms;

/* folder: of the state, without a slash at its end. has_texts: bodies are written. Nothing is
 * created before the first line. */
RT_CHECKED rt_status rt_comms_open(const rt_alloc *alloc, const rt_env *env, rt_str folder,
				   bool has_texts, rt_comms **out, rt_error *err);
void rt_comms_close(rt_comms *comms);
/* The state folder given to rt_comms_open. */
rt_str rt_comms_folder(const rt_comms *comms);
/* Room for a key with its NUL. */
enum { RT_COMMS_KEY_ROOM = 17 };
/* Identifies the log in a state folder; it has no meaning to users and on other machines. */
void rt_comms_key(rt_str folder, char key[RT_COMMS_KEY_ROOM]);
/* The key, if lines are written without bodies; else empty, also where comms is NULL. */
rt_str rt_comms_bare_key(const rt_comms *comms);
/* Append a line. A failure is kept for rt_comms_error and stops nothing. O(the body); the first
 * line of a project also reads its file. */
void rt_comms_add(void *comms, const rt_comms_item *item);
/* "" or why lines could not be written. */
const char *rt_comms_error(const rt_comms *comms);

/* A line of the log, and the file that it is in. */
typedef struct rt_comms_line {
	const char *path;
	rt_str file; /* its content */
	rt_str line; /* a part of it */
} rt_comms_line;

/* false: stop. */
typedef bool (*rt_comms_line_fn)(void *ctx, const rt_comms_line *line);
/* Every line of every file, newest file first, within a file oldest line first. A folder that
 * does not exist has none. RT_IO. */
RT_CHECKED rt_status rt_comms_read(const rt_alloc *alloc, rt_str folder, rt_comms_line_fn fn,
				   void *ctx, rt_error *err);
/* Every line of one file. RT_NOT_FOUND, RT_IO, RT_LIMIT. */
RT_CHECKED rt_status rt_comms_read_file(const rt_alloc *alloc, const char *path,
					rt_comms_line_fn fn, void *ctx, rt_error *err);
/* Appends the body of a line, complete, from the texts of its file. RT_NOT_FOUND: the line has
 * none, or a text is missing. O(the file). */
RT_CHECKED rt_status rt_comms_body(const rt_alloc *alloc, const rt_comms_line *line, rt_buf *out,
				   rt_error *err);

/* Does the line have a body? O(the line). */
bool rt_comms_has_body(rt_str line);
/* Was there no memory for its body, so that the line was written without ("body_lost")? */
bool rt_comms_body_is_lost(rt_str line);

/* The lines of one project's requests and their replies. */
typedef struct rt_comms_whose {
	rt_str store;
	uint64_t project;
} rt_comms_whose;

/* Replace a text by "[purged]" in every string value of every line, or of the lines of one project
 * (whose; NULL: all). Texts that contained it get new names, and lines that refer to them lose
 * their hash. A file is replaced as a whole, then the bytes of the old one are overwritten; a
 * program that has it open continues in the new one. If interrupted, it leaves each file unchanged
 * or purged; call it again. *out_count: lines changed. */
RT_CHECKED rt_status rt_comms_purge(const rt_alloc *alloc, rt_str folder,
				    const rt_comms_whose *whose, rt_str text, size_t *out_count,
				    rt_error *err);
/* Remove the lines of one project, in the same way. */
RT_CHECKED rt_status rt_comms_drop(const rt_alloc *alloc, rt_str folder, const rt_comms_whose *whose,
				   size_t *out_count, rt_error *err);

#endif
