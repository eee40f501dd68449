/* SPDX-License-Identifier: MIT
 *
 * Editor: a text through the person's editor, by way of a private temporary file. */
#ifndef RT_APP_EDITOR_H
#define RT_APP_EDITOR_H

#include "app/session.h"

/* Replaces text by what was written. On RT_OK the file is the caller's to remove; its path is
 * appended to path. On failure it is gone when nothing was changed in it, else kept and named in
 * the session's hint. RT_USAGE: what was written is not UTF-8; RT_INTERRUPTED, RT_IO. */
RT_CHECKED rt_status rt_editor_run(rt_session *session, const char *name, rt_buf *text,
				   rt_buf *path, rt_error *err);
/* The same for one text that is all there is to it: a line end that the editor put at the
 * end is taken away again. */
RT_CHECKED rt_status rt_editor_run_one(rt_session *session, const char *name, rt_buf *text,
				       rt_buf *path, rt_error *err);

#endif
