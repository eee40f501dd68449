/* SPDX-License-Identifier: MIT
 *
 * Drafts as files, replaced atomically. */
#define _POSIX_C_SOURCE 200809L

#include "tui/draft_host.h"

#include <unistd.h>

#include "app/files.h"
#include "app/input_history_host.h"
#include "llm/system_host.h"

/* STATE/draft-HASH.md, where the hash is of the store, the project and the discussion; or NULL. */
static char *
path_of(rt_scope *s, const rt_work *work, uint32_t disc)
{
	uint64_t hash = rt_input_history_hash(rt_str_of(work->store_path),
					      rt_session_project(work->session), disc);
	rt_buf *path = rt_scope_buf(s);

	if (work->store_path == NULL || rt_host_state_dir(path, NULL) != RT_OK)
		return NULL;
	rt_buf_add_f(path, "/draft-%016llx.md", (unsigned long long)hash);
	return path->status == RT_OK ? path->ptr : NULL;
}

void
rt_draft_keep(const rt_work *work, uint32_t disc, rt_str text)
{
	rt_scope s;
	char *path;

	rt_scope_init(&s, work->alloc);
	path = path_of(&s, work, disc);
	if (path != NULL && text.size == 0)
		(void)unlink(path);
	else if (path != NULL && rt_folders_make(path))
		(void)!rt_files_write(work->session->env, path, text, RT_FILES_PRIVATE_REPLACE, NULL);
	rt_scope_deinit(&s);
}

bool
rt_draft_read(const rt_work *work, uint32_t disc, rt_buf *out)
{
	bool found;
	rt_scope s;
	char *path;

	rt_scope_init(&s, work->alloc);
	path = path_of(&s, work, disc);
	found = path != NULL && access(path, R_OK) == 0 &&
		rt_files_read(path, out, NULL) == RT_OK && out->size > 0;
	rt_scope_deinit(&s);
	return found;
}
