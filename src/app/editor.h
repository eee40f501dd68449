/* SPDX-License-Identifier: MIT
 *
 * Editor: edits a text in the user's editor, through a private temporary file. */
#ifndef RT_APP_EDITOR_H
#define RT_APP_EDITOR_H

#include "app/session.h"

/* Replaces text by the edited one. On RT_OK the caller removes the file, whose path is appended to
 * path. On failure it is removed if it was not changed, else kept and named in the session's hint.
 * RT_USAGE: the text is not UTF-8; RT_INTERRUPTED, RT_IO. */
RT_CHECKED rt_status rt_editor_run(rt_session *session, const char *name, rt_buf *text,
				   rt_buf *path, rt_error *err);
/* The same for a single text: a line end that the editor has added is removed. */
RT_CHECKED rt_status rt_editor_run_one(rt_session *session, const char *name, rt_buf *text,
				       rt_buf *path, rt_error *err);

#endif
