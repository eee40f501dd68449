/* SPDX-License-Identifier: MIT
 *
 * Edit: text through the person's editor. */
#ifndef RT_CLI_EDIT_H
#define RT_CLI_EDIT_H

#include "cli/cli.h"

/* May an editor be opened: is there a person, or was it asked for by name (--editor)? */
bool rt_cli_may_edit(const rt_cli *cli);
/* Put text into a private file, run the editor on it, and read it back. On RT_OK text
 * holds what was written and the file, whose name is in path, is the caller's to remove;
 * on failure it is gone when nothing was changed in it, else kept and named in the hint. */
rt_status rt_cli_edit_text(rt_cli *cli, const char *name, rt_buf *text, rt_buf *path);
/* The same for one text that is all there is to it: a line end that the editor put at the
 * end is taken away again. */
rt_status rt_cli_edit_one(rt_cli *cli, const char *name, rt_buf *text, rt_buf *path);

#endif
