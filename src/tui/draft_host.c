/* SPDX-License-Identifier: MIT
 *
 * Drafts as files: written anew beside the old one, and put in its place. */
#define _POSIX_C_SOURCE 200809L

#include "tui/draft_host.h"

#include <stdio.h>
#include <unistd.h>

#include "app/files.h"
#include "app/input_history_host.h"
#include "llm/system_host.h"

enum { PATH_MAX_SIZE = 4096 };

/* STATE/draft-HASH.md: of the store, the project and the discussion. */
static bool
path_of(const rt_work *work, uint32_t disc, rt_buf *out)
{
	uint64_t hash = rt_input_history_hash(rt_str_of(work->store_path),
					      rt_session_project(work->session), disc);

	if (work->store_path == NULL || rt_host_state_dir(out, NULL) != RT_OK)
		return false;
	rt_buf_add_f(out, "/draft-%016llx.md", (unsigned long long)hash);
	return out->status == RT_OK;
}

void
rt_draft_keep(const rt_work *work, uint32_t disc, rt_str text)
{
	rt_buf path, beside;

	rt_buf_init(&path, work->alloc, PATH_MAX_SIZE);
	rt_buf_init(&beside, work->alloc, PATH_MAX_SIZE);
	if (path_of(work, disc, &path) && text.size == 0) {
		(void)unlink(path.ptr);
	} else if (path.status == RT_OK && path.size > 0) {
		(void)rt_folders_make(path.ptr);
		rt_buf_add_f(&beside, "%s.%ld", path.ptr, (long)getpid());
		if (beside.status == RT_OK &&
		    rt_files_write(work->session->env, beside.ptr, text, RT_FILES_PRIVATE, NULL) ==
			    RT_OK &&
		    rename(beside.ptr, path.ptr) != 0)
			(void)unlink(beside.ptr);
	}
	rt_buf_deinit(&path);
	rt_buf_deinit(&beside);
}

bool
rt_draft_read(const rt_work *work, uint32_t disc, rt_buf *out)
{
	bool found = false;
	rt_buf path;

	rt_buf_init(&path, work->alloc, PATH_MAX_SIZE);
	if (path_of(work, disc, &path) && access(path.ptr, R_OK) == 0)
		found = rt_files_read(path.ptr, out, NULL) == RT_OK && out->size > 0;
	rt_buf_deinit(&path);
	return found;
}
