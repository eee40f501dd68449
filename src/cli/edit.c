/* SPDX-License-Identifier: MIT
 *
 * Text through the person's editor, by way of a private file. */
#define _POSIX_C_SOURCE 200809L

#include "cli/edit.h"

#include <unistd.h>

bool
rt_cli_may_edit(const rt_cli *cli)
{
	return rt_cli_has(cli, "editor") || (!cli->no_input && rt_host_can_ask());
}

rt_status
rt_cli_edit_text(rt_cli *cli, const char *name, rt_buf *text, rt_buf *path)
{
	rt_buf before;
	rt_status st;

	if (!rt_cli_may_edit(cli)) {
		rt_cli_hint(cli, RT_USAGE,
			    strcmp(cli->args.command->name, "prompt") == 0
				    ? "To open the editor all the same: retake prompt edit -e   "
				      "To give the text: retake prompt set TEXT"
				    : "Give the text, a file with -f FILE, or \"-\" for standard input.   "
			    "To open the editor all the same: -e");
		return rt_cli_fail(cli, RT_USAGE,
				   "%s has no text, and there is nobody to ask for it",
				   cli->args.command->name);
	}
	rt_buf_init(&before, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&before, rt_buf_str(text));
	st = rt_cli_buf(cli, &before);
	if (st == RT_OK)
		st = rt_cli_temp_file(cli, name, rt_buf_str(text), path);
	if (st != RT_OK)
		goto done;
	st = rt_host_edit(path->ptr, &cli->error);
	rt_buf_clear(text);
	if (st != RT_OK) {
		/* What was written before the editor failed is worth keeping. */
		rt_error kept = cli->error;

		if (rt_cli_read_file(cli, path->ptr, text) == RT_OK &&
		    rt_str_eq(rt_buf_str(text), rt_buf_str(&before))) {
			(void)unlink(path->ptr);
			rt_cli_hint(cli, st, "Nothing was changed.");
		} else {
			rt_cli_hint(cli, st, "Nothing was changed. Your text is kept in %s",
				    path->ptr);
		}
		cli->error = kept;
		goto done;
	}
	st = rt_cli_read_file(cli, path->ptr, text);
	if (st == RT_OK && rt_utf8_valid_size(rt_buf_str(text)) != text->size) {
		st = rt_cli_fail(cli, RT_USAGE, "the text is not UTF-8 (at byte %zu)",
				 rt_utf8_valid_size(rt_buf_str(text)));
		rt_cli_hint(cli, st, "Nothing was changed. Your text is kept in %s", path->ptr);
	}
done:
	rt_buf_deinit(&before);
	return st;
}

rt_status
rt_cli_edit_one(rt_cli *cli, const char *name, rt_buf *text, rt_buf *path)
{
	bool ended = text->size > 0 && text->ptr[text->size - 1] == '\n';
	rt_status st;

	/* Editors end the last line; show it ended, and take that away again. */
	if (!ended && text->size > 0)
		rt_buf_add_byte(text, '\n');
	st = rt_cli_edit_text(cli, name, text, path);
	if (st == RT_OK && !ended && text->size > 0 && text->ptr[text->size - 1] == '\n')
		text->size--;
	return st;
}
