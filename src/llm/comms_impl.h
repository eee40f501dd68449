/* SPDX-License-Identifier: MIT
 *
 * The parts of the request log: comms_host.c writes and reads it, comms_purge_host.c removes texts
 * from it. */
#ifndef RT_LLM_COMMS_IMPL_H
#define RT_LLM_COMMS_IMPL_H

#include "base/scope.h"
#include "llm/comms_host.h"

enum {
	RT_COMMS_PATH_ROOM = 4096,
	RT_COMMS_FILE_SIZE_MAX = 1 << 30,
	RT_COMMS_LOCK_WAIT_MS = 2000
};

/* One file; false: no more files. */
typedef bool (*rt_comms_file_fn)(rt_scope *s, void *ctx, const char *path);
/* Every file of the log, newest first. */
void rt_comms_each_file(rt_scope *s, rt_str state_folder, rt_comms_file_fn fn, void *ctx);

#endif
