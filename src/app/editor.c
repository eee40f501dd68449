/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "app/editor.h"

#include <unistd.h>

#include "app/files.h"

rt_status
rt_editor_run(rt_session *session, const char *name, rt_buf *text, rt_buf *path, rt_error *err)
{
	rt_scope s;

	rt_scope_init(&s, session->alloc);
	rt_str before = rt_scope_copy(&s, rt_buf_str(text));
	RT_TRY(&s, rt_files_write_temporary(name, before, path, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	RT_TRY(&s, rt_host_edit(path->ptr, &s.error));
	bool was_edited = rt_ok(&s);
	rt_buf_clear(text);
	rt_status st = rt_files_read(path->ptr, text, was_edited ? &s.error : NULL);
	if (!was_edited && st == RT_OK && rt_str_eq(rt_buf_str(text), before)) {
		(void)unlink(path->ptr);
		rt_session_hint(session, s.status, "Nothing was changed.");
		return rt_scope_end(&s, err);
	}
	bool is_text = rt_utf8_valid_size(rt_buf_str(text)) == text->size;
	if (rt_scope_note(&s, st) == RT_OK && !is_text)
		rt_scope_fail(&s, RT_USAGE, "the text is not valid UTF-8 (at byte %zu)",
			      rt_utf8_valid_size(rt_buf_str(text)));
	if (!was_edited || (st == RT_OK && !is_text))
		rt_session_hint(session, s.status,
				"Nothing was changed. Your text is kept in %s", path->ptr);
	return rt_scope_end(&s, err);
}

rt_status
rt_editor_run_one(rt_session *s, const char *name, rt_buf *text, rt_buf *path, rt_error *err)
{
	bool has_end = text->size > 0 && text->ptr[text->size - 1] == '\n';

	/* Editors add a line end at the end: show one, and remove it again. */
	if (!has_end && text->size > 0)
		rt_buf_add_byte(text, '\n');
	rt_status st = rt_editor_run(s, name, text, path, err);
	if (st == RT_OK && !has_end && text->size > 0 && text->ptr[text->size - 1] == '\n')
		text->size--;
	return st;
}
