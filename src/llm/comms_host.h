/* SPDX-License-Identifier: MIT
 *
 * Comms: the record of requests, JSON lines in files of the state folder, one file for each run
 * of a program that sends requests:
 *
 *   <state folder>/comms/20261122T054412Z-4711.jsonl
 *
 *   {"v":1,"what":"request","at":…,"request":"reply/…","store":…,"project":1,"seq":12,
 *    "discussion":"d1","take":"t1","upto":"k3f9","provider":…,"model":…,"bytes":…,"hash":…}
 *   {"v":1,"what":"reply","at":…,"request":"reply/…","entry":"m2p1","seq":13,"stop":"stop",…}
 *
 * The record has no texts. seq is the value of the project that the request was built from;
 * building it again gives the same bytes (hash tells whether it does). So a purge in the store
 * is a purge here. The one exception is the message of a server's error: rt_comms_purge searches
 * for it.
 *
 * Undo, reset and import do not change the record. Files are 0600, folders 0700.
 *
 * Threads: locks itself. */
#ifndef RT_LLM_COMMS_HOST_H
#define RT_LLM_COMMS_HOST_H

#include "base/env.h"
#include "base/text.h"

typedef struct rt_comms rt_comms;

/* folder: of the state, without a slash at its end. Nothing is created before the first line. */
RT_CHECKED rt_status rt_comms_open(const rt_alloc *alloc, const rt_env *env, rt_str folder,
				   rt_comms **out, rt_error *err);
void rt_comms_close(rt_comms *comms);
/* Append a line, given without its end. A failure is kept for rt_comms_error and stops nothing. */
void rt_comms_line(void *comms, rt_str line);
/* The state folder that it was opened with. */
rt_str rt_comms_folder(const rt_comms *comms);
/* "" or why lines could not be written. */
const char *rt_comms_error(const rt_comms *comms);

/* A line of the record; false: stop. */
typedef bool (*rt_comms_line_fn)(void *ctx, rt_str line);
/* Every line of every file, newest file first, within a file oldest line first. A folder that
 * does not exist has none. RT_IO. */
RT_CHECKED rt_status rt_comms_read(const rt_alloc *alloc, rt_str folder, rt_comms_line_fn fn,
				   void *ctx, rt_error *err);
/* The lines of one project's requests and their replies. */
typedef struct rt_comms_whose {
	rt_str store;
	uint64_t project;
} rt_comms_whose;

/* Replace a text by "[purged]" in every string value of every line, or of the lines of one project
 * (whose; NULL: all). The bytes of the old file are overwritten before it is replaced; a program
 * that has it open continues in a new one. *out_count: lines changed. */
RT_CHECKED rt_status rt_comms_purge(const rt_alloc *alloc, rt_str folder,
				    const rt_comms_whose *whose, rt_str text, size_t *out_count,
				    rt_error *err);

#endif
