/* SPDX-License-Identifier: MIT
 *
 * Comms: the record of requests (M8), files of JSON lines in a folder of their own, one
 * file for each run of a program that asks a model:
 *
 *   <state folder>/comms/20261122T054412Z-4711.jsonl
 *
 *   {"v":1,"what":"request","at":…,"request":"reply/…","store":…,"project":1,"seq":12,
 *    "discussion":"d1","take":"t1","upto":"k3f9","provider":…,"model":…,"bytes":…,"hash":…}
 *   {"v":1,"what":"reply","at":…,"request":"reply/…","entry":"m2p1","seq":13,"stop":"stop",…}
 *
 * The texts are not in it. seq says from which value of the project the request was built,
 * and building it again gives the same bytes (hash says whether it does). So a purge in
 * the store is a purge here; what a server said when it failed is the one text that there
 * may be, and rt_comms_purge looks for it.
 *
 * Undo, reset and import do not touch it. Files are 0600, folders 0700.
 *
 * Threads: locks itself. */
#ifndef RT_LLM_COMMS_HOST_H
#define RT_LLM_COMMS_HOST_H

#include "base/env.h"
#include "base/text.h"

typedef struct rt_comms rt_comms;

/* folder: of the state, with no slash at its end. Makes nothing before the first line. */
RT_CHECKED rt_status rt_comms_open(const rt_alloc *alloc, const rt_env *env, rt_str folder,
				   rt_comms **out, rt_error *err);
void rt_comms_close(rt_comms *comms);
/* One line, without its end. A line that cannot be written is remembered (rt_comms_error)
 * and holds nothing up. */
void rt_comms_line(void *comms, rt_str line);
/* "" or why lines could not be written. */
const char *rt_comms_error(const rt_comms *comms);

/* A line of the record; false: enough. */
typedef bool (*rt_comms_line_fn)(void *ctx, rt_str line);
/* Every line of every file, newest file first, in a file oldest line first. A folder that
 * is not there has none. RT_IO. */
RT_CHECKED rt_status rt_comms_read(const rt_alloc *alloc, rt_str folder, rt_comms_line_fn fn,
				   void *ctx, rt_error *err);
/* Whose lines: those of requests of one project of one store, and of what came of them. */
typedef struct rt_comms_whose {
	rt_str store;
	uint64_t project;
} rt_comms_whose;

/* Take a text out of every value that is a string, of every line (whose NULL) or of theirs, and
 * put "[purged]" there. The bytes of the old file are overwritten before it is replaced; who has
 * it open goes on in a new one. *out_count: lines changed. */
RT_CHECKED rt_status rt_comms_purge(const rt_alloc *alloc, rt_str folder,
				    const rt_comms_whose *whose, rt_str text, size_t *out_count,
				    rt_error *err);

#endif
