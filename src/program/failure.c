/* SPDX-License-Identifier: MIT
 *
 * The failure of a command as messages. */
#define _POSIX_C_SOURCE 200809L

#include "program/failure.h"

#include <errno.h>
#include <unistd.h>

void
rt_failure_say_plainly(int fd, const char *text)
{
	(void)!write(fd, text, strlen(text));
}

static bool
has_argument(const rt_command *command, rt_arg_kind kind)
{
	for (size_t i = 0; i < RT_COMMAND_KINDS; i++)
		if (command->kinds[i] == kind)
			return true;
	for (const rt_flag *f = command->flags; f != NULL && f->name != NULL; f++)
		if (f->kind == kind)
			return true;
	return false;
}

/* The next step, by the status only. */
static const char *const hints[] = {
	[RT_AMBIGUOUS] =
		"Type more of the id, or a position such as :4. Entries: retake show",
	[RT_REFUSED] = "History: retake history",
	[RT_CONFLICT] = "Check the current state (retake show) and repeat the command.",
	[RT_DENIED] = "Hooks: retake hooks",
	[RT_BUSY] = "Another program is writing to it; try again.",
	[RT_CORRUPT] = "Check it: retake fsck   Then: retake help repair",
	[RT_TOO_NEW] = "Use the newer Retake that wrote it.",
	[RT_NOT_OURS] = "Choose another file: retake --db FILE …",
	[RT_READ_ONLY] = "To make changes, leave out --read-only.",
	[RT_IO] = "Check this machine: retake doctor",
	[RT_FULL] = "Free some space and repeat the command.",
	[RT_NOMEM] = "Nothing was changed. Close other programs and try again.",
	[RT_LIMIT] = "Shorten or split the input, and repeat the command.",
};

static void
add_usage(const rt_cli *cli, rt_buf *out)
{
	const rt_command *command = cli->args.command;

	rt_command_add_usage(command, &cli->args, out);
	if (command->max_words != 0 && strstr(cli->s.error.text, "has no flag \"") != NULL)
		rt_buf_add_c(out, "   To pass an argument that starts with a dash, put -- before it.");
}

static void
add_usual_hint(const rt_cli *cli, rt_status status, rt_buf *out)
{
	const rt_command *command = cli->args.command;

	if (cli->changed)
		rt_buf_add_c(out, "The change was made before the error: retake history");
	else if (status == RT_USAGE && command == NULL)
		rt_buf_add_c(out, "Commands: retake help");
	else if (status == RT_USAGE)
		add_usage(cli, out);
	else if (status == RT_NOT_FOUND && rt_cli_has(cli, "model") &&
		 strstr(cli->s.error.text, "model") != NULL)
		rt_buf_add_f(out, "Models: retake models   More: retake help %s", command->name);
	else if (status == RT_NOT_FOUND && (command == NULL || has_argument(command, RT_ARG_ENTRY)))
		rt_buf_add_c(out, "Entries: retake show   Search: retake search TEXT");
	else if (status == RT_NOT_FOUND)
		rt_buf_add_f(out, "More: retake help %s", command->name);
	else if (status == RT_REFUSED && command != NULL && has_argument(command, RT_ARG_MODEL))
		rt_buf_add_f(out, "Models: retake models   More: retake help %s", command->name);
	else if ((size_t)status < sizeof(hints) / sizeof(hints[0]) && hints[status] != NULL)
		rt_buf_add_c(out, hints[status]);
}

static void
report_json(rt_cli *cli)
{
	rt_buf buf;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_json_open(&buf, NULL, '{');
	rt_json_open(&buf, "error", '{');
	rt_json_put_c(&buf, "code", rt_status_word(cli->s.status));
	rt_json_put_c(&buf, "message", cli->s.error.text);
	if (cli->question[0] != 0)
		rt_json_put_c(&buf, "question", cli->question);
	rt_json_close(&buf, '}');
	rt_json_close(&buf, '}');
	rt_buf_add_byte(&buf, '\n');
	rt_term_json(&cli->out, rt_buf_str(&buf));
	rt_term_flush(&cli->out);
	if (buf.status == RT_NOMEM || cli->out.error == ENOMEM)
		rt_failure_say_plainly(cli->out.fd, "{\"error\":{\"code\":\"out_of_memory\","
						    "\"message\":\"out of memory\"}}\n");
	rt_buf_deinit(&buf);
}

/* The advice of the engine ("see: retake ls") ends the message, for readers without hints. Here it
 * becomes the hint, unless the command has a better one. */
static void
use_advice(const rt_cli *cli, rt_buf *hint)
{
	const char *advice = cli->s.error.advice;
	const char *command = advice != NULL ? strstr(advice, "retake ") : NULL;

	if (command == NULL || cli->session.hint[0] != 0 ||
	    rt_str_find(rt_buf_str(hint), rt_str_of(command), 0) != SIZE_MAX)
		return;
	rt_buf_clear(hint);
	rt_buf_add_f(hint, "See: %s", command);
}

void
rt_failure_report(rt_cli *cli)
{
	rt_buf hint, advice;

	if (cli->json && !cli->json_done)
		report_json(cli);
	rt_term_flush(&cli->out);
	if (cli->s.error.is_quiet && cli->draft == NULL)
		return;
	rt_buf_init(&hint, cli->alloc, 64 * 1024);
	rt_buf_init(&advice, cli->alloc, 64 * 1024);
	if (cli->session.hint[0] != 0)
		rt_buf_add_c(&hint, cli->session.hint);
	else
		add_usual_hint(cli, cli->s.status, &hint);
	use_advice(cli, &hint);
	rt_cli_add_advice(cli, &advice, rt_buf_str(&hint));
	rt_term_style(&cli->err, RT_STYLE_RED);
	rt_term_c(&cli->err, "retake: ");
	rt_term_style(&cli->err, RT_STYLE_NONE);
	rt_term_line(&cli->err, rt_str_at(cli->s.error.text, rt_error_message_size(&cli->s.error)));
	rt_term_c(&cli->err, "\n");
	if (advice.size > 0)
		rt_term_indented(&cli->err, rt_buf_str(&advice), 2);
	if (cli->draft != NULL && strstr(cli->session.hint, cli->draft) == NULL) {
		rt_term_c(&cli->err, "  Your text is in ");
		rt_term_line(&cli->err, rt_str_of(cli->draft));
		rt_term_c(&cli->err, "\n");
	}
	rt_buf_deinit(&advice);
	rt_buf_deinit(&hint);
	rt_term_flush(&cli->err);
}
