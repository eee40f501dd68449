/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "app/editor.h"

#include <unistd.h>

#include "app/files.h"

/* The editor failed. What was written before that is worth keeping. */
static void
end_failed(rt_session *s, rt_status st, const char *path, rt_str before, rt_buf *text)
{
	if (rt_files_read(path, text, NULL) == RT_OK && rt_str_eq(rt_buf_str(text), before)) {
		(void)unlink(path);
		rt_session_hint(s, st, "Nothing was changed.");
	} else {
		rt_session_hint(s, st, "Nothing was changed. Your text is kept in %s", path);
	}
}

rt_status
rt_editor_run(rt_session *s, const char *name, rt_buf *text, rt_buf *path, rt_error *err)
{
	rt_buf before;
	rt_status st;

	rt_buf_init(&before, s->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&before, rt_buf_str(text));
	st = before.status == RT_OK ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = rt_files_write_temporary(name, rt_buf_str(text), path, err);
	if (st != RT_OK)
		goto done;
	st = rt_host_edit(path->ptr, err);
	rt_buf_clear(text);
	if (st != RT_OK) {
		end_failed(s, st, path->ptr, rt_buf_str(&before), text);
		goto done;
	}
	st = rt_files_read(path->ptr, text, err);
	if (st == RT_OK && rt_utf8_valid_size(rt_buf_str(text)) != text->size) {
		st = rt_fail(err, RT_USAGE, "the text is not UTF-8 (at byte %zu)",
			     rt_utf8_valid_size(rt_buf_str(text)));
		rt_session_hint(s, st, "Nothing was changed. Your text is kept in %s", path->ptr);
	}
done:
	rt_buf_deinit(&before);
	return st;
}

rt_status
rt_editor_run_one(rt_session *s, const char *name, rt_buf *text, rt_buf *path, rt_error *err)
{
	bool ended = text->size > 0 && text->ptr[text->size - 1] == '\n';
	rt_status st;

	/* Editors end the last line; show it ended, and take that away again. */
	if (!ended && text->size > 0)
		rt_buf_add_byte(text, '\n');
	st = rt_editor_run(s, name, text, path, err);
	if (st == RT_OK && !ended && text->size > 0 && text->ptr[text->size - 1] == '\n')
		text->size--;
	return st;
}
