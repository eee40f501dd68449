/* SPDX-License-Identifier: MIT
 *
 * Files and the editor, with hints about failures. */
#define _POSIX_C_SOURCE 200809L

#include <unistd.h>

#include "app/editor.h"
#include "cli/cli.h"

static void
hint_unreadable(rt_cli *cli, const char *path)
{
	rt_status status = cli->s.status;

	if (strcmp(path, "-") == 0)
		path = "standard input";
	if (status == RT_NOT_FOUND)
		rt_cli_hint(cli, "Check the name. More: retake help %s", cli->args.command->name);
	else if (status == RT_IO || status == RT_FULL || status == RT_REFUSED)
		rt_cli_hint(cli, "Check its permissions: ls -l %s", path);
}

rt_str
rt_cli_read_file(rt_cli *cli, const char *path)
{
	rt_buf *out = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return rt_str_of(NULL);
	rt_scope_note(&cli->s, rt_files_read(path, out, &cli->s.error));
	hint_unreadable(cli, path);
	return rt_scope_str(&cli->s, out);
}

static void
read_attached(rt_cli *cli, const rt_args_given *flag, rt_attached *out)
{
	rt_str value = rt_str_of(flag->value);
	bool is_image = strcmp(flag->flag->name, "image") == 0;

	if (is_image && (rt_str_starts(value, RT_STR("https://")) ||
			 rt_str_starts(value, RT_STR("http://")))) {
		out->url = value;
		return;
	}
	out->bytes = rt_cli_read_file(cli, flag->value);
	out->name = rt_attached_name(flag->value);
	if (!rt_ok(&cli->s))
		return;
	if (is_image && rt_blob_image_type(out->bytes) == NULL)
		rt_cli_fail(cli, RT_USAGE, "%s is not a PNG, JPEG, GIF or WebP image", flag->value);
	else
		RT_TRY(&cli->s, rt_attached_check(flag->value, out->bytes, &cli->s.error));
}

rt_attached_list
rt_cli_read_attached(rt_cli *cli)
{
	const rt_args *args = &cli->args;
	rt_attached_list list = {rt_scope_array(&cli->s, args->given_count, sizeof(*list.items)), 0};

	for (size_t i = 0; i < args->given_count && rt_ok(&cli->s); i++)
		if (strcmp(args->given[i].flag->name, "image") == 0 ||
		    strcmp(args->given[i].flag->name, "attach") == 0)
			read_attached(cli, &args->given[i], &list.items[list.count++]);
	return list;
}

rt_str
rt_cli_read_whole_file(rt_cli *cli, const char *path)
{
	rt_buf *out = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return rt_str_of(NULL);
	if (rt_scope_note(&cli->s, rt_files_read_whole(path, out, &cli->s.error)) == RT_BUSY)
		rt_cli_hint(cli, "Try again when the other program has finished with it.");
	hint_unreadable(cli, path);
	return rt_scope_str(&cli->s, out);
}

void
rt_cli_write_file(rt_cli *cli, const char *path, rt_str bytes, rt_files_write_mode mode)
{
	if (!rt_ok(&cli->s))
		return;
	rt_scope_note(&cli->s, rt_files_write(cli->env, path, bytes, mode, &cli->s.error));
	if (cli->s.status == RT_REFUSED)
		rt_cli_hint(cli, "To replace it, add --force.");
	else if (cli->s.status == RT_NOT_FOUND)
		rt_cli_hint(cli, "Create the directory first, or use another one.");
	else
		hint_unreadable(cli, path);
}

/* May an editor be opened: is there a terminal, or was it requested? */
static bool
may_edit(const rt_cli *cli)
{
	return rt_cli_has(cli, "editor") || (!cli->no_input && rt_host_can_ask());
}

rt_str
rt_cli_edit_text(rt_cli *cli, const char *name, rt_str text, bool is_one)
{
	rt_buf *edited = rt_scope_buf(&cli->s), *path = rt_scope_buf(&cli->s);

	if (rt_ok(&cli->s) && !may_edit(cli)) {
		rt_cli_hint(cli, "%s",
			    strcmp(cli->args.command->name, "prompt") == 0
				    ? "To open the editor anyway: retake prompt edit -e   To "
				      "give the text: retake prompt set TEXT"
				    : "Give the text, a file with -f FILE, or \"-\" for standard "
				      "input. To open the editor anyway: -e");
		rt_cli_fail(cli, RT_USAGE, "%s needs a text, and there is no terminal for an "
					   "editor",
			    cli->args.command->name);
	}
	rt_buf_add_str(edited, text);
	RT_TRY(&cli->s, is_one ? rt_editor_run_one(&cli->session, name, edited, path, &cli->s.error)
			       : rt_editor_run(&cli->session, name, edited, path, &cli->s.error));
	if (rt_ok(&cli->s))
		cli->draft = path->ptr;
	return rt_scope_str(&cli->s, edited);
}

void
rt_cli_drop_draft(rt_cli *cli)
{
	if (cli->draft == NULL || !rt_ok(&cli->s))
		return;
	(void)unlink(cli->draft);
	cli->draft = NULL;
}
