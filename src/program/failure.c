/* SPDX-License-Identifier: MIT
 *
 * A command's status as messages. */
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
takes_entries(const rt_command *command)
{
	const rt_flag *flag;
	size_t i;

	for (i = 0; i < RT_COMMAND_KINDS; i++)
		if (command->kinds[i] == RT_ARG_ENTRY)
			return true;
	for (flag = command->flags; flag != NULL && flag->name != NULL; flag++)
		if (flag->kind == RT_ARG_ENTRY)
			return true;
	return false;
}

static void
usual_hint(rt_cli *cli, rt_status status, rt_buf *out)
{
	const rt_command *command = cli->args.command;

	if (cli->changed) {
		rt_buf_add_c(out, "The change was made before that: retake history");
		return;
	}
	switch (status) {
	case RT_USAGE:
		if (command != NULL)
			rt_buf_add_f(out, "Usage: retake %s%s%.*s   More: retake help %s",
				     command->name, command->usage[0] == 0 ? "" : " ",
				     (int)strcspn(command->usage, "\n"), command->usage,
				     command->name);
		else
			rt_buf_add_c(out, "Commands: retake help");
		break;
	case RT_NOT_FOUND:
		if (command == NULL || takes_entries(command))
			rt_buf_add_c(out, "Entries: retake show   Search: retake search TEXT");
		else
			rt_buf_add_f(out, "More: retake help %s", command->name);
		break;
	case RT_AMBIGUOUS:
		rt_buf_add_c(out,
			     "Type more of the id, or a position such as :4. Entries: retake show");
		break;
	case RT_REFUSED: rt_buf_add_c(out, "What happened so far: retake history"); break;
	case RT_CONFLICT:
		rt_buf_add_c(out, "Look at it again (retake show) and repeat the command.");
		break;
	case RT_DENIED: rt_buf_add_c(out, "Which hooks there are: retake hooks"); break;
	case RT_BUSY: rt_buf_add_c(out, "Another program is writing to it; try again."); break;
	case RT_CORRUPT:
		rt_buf_add_c(out, "Check it: retake fsck   Then: retake help repair");
		break;
	case RT_TOO_NEW: rt_buf_add_c(out, "Use the newer Retake that wrote it."); break;
	case RT_NOT_OURS: rt_buf_add_c(out, "Choose another file: retake --db FILE …"); break;
	case RT_READ_ONLY: rt_buf_add_c(out, "To change things, leave out --read-only."); break;
	case RT_IO: rt_buf_add_c(out, "Look into it: retake doctor"); break;
	case RT_FULL: rt_buf_add_c(out, "Free some space and repeat the command."); break;
	case RT_NOMEM:
		rt_buf_add_c(out, "Nothing was changed. Close other programs and try again.");
		break;
	case RT_LIMIT: rt_buf_add_c(out, "Make it smaller."); break;
	default: break;
	}
}

static void
report_json(rt_cli *cli, rt_status status)
{
	rt_buf buf;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "{\"error\":{\"code\":");
	rt_json_add_string(&buf, rt_str_of(rt_status_word(status)));
	rt_buf_add_c(&buf, ",\"message\":");
	/* A message may have been cut in the middle of a character. */
	rt_json_add_string(
		&buf, rt_str_at(cli->error.text, rt_utf8_valid_size(rt_str_of(cli->error.text))));
	if (cli->question[0] != 0) {
		rt_json_add_key(&buf, "question");
		rt_json_add_string(&buf, rt_str_of(cli->question));
	}
	rt_buf_add_c(&buf, "}}\n");
	rt_term_json(&cli->out, rt_buf_str(&buf));
	rt_term_flush(&cli->out);
	if (buf.status == RT_NOMEM || cli->out.error == ENOMEM)
		rt_failure_say_plainly(cli->out.fd, "{\"error\":{\"code\":\"out_of_memory\","
						    "\"message\":\"out of memory\"}}\n");
	rt_buf_deinit(&buf);
}

/* What the engine says ends with where to look ("; see: retake ls"), for whoever reads no
 * hints. Here it is the hint: in its own line, and once. */
static void
split_advice(rt_cli *cli, rt_buf *hint)
{
	static const char *const starts[] = {"; see: retake ", "; run: retake ", "; run retake "};
	size_t i;

	for (i = 0; i < 3; i++) {
		char *cut = strstr(cli->error.text, starts[i]), *command;

		if (cut == NULL)
			continue;
		command = strstr(cut, "retake ");
		/* A hint of the command's own knows better. */
		if (cli->session.hint[0] == 0 &&
		    rt_str_find(rt_buf_str(hint), rt_str_of(command), 0) == SIZE_MAX) {
			rt_buf_clear(hint);
			rt_buf_add_f(hint, "See: %s", command);
		}
		*cut = 0;
		return;
	}
}

void
rt_failure_report(rt_cli *cli, rt_status status)
{
	rt_buf buf, advice;

	/* What fills the message may be what had no memory. */
	if (status == RT_NOMEM && cli->error.status != RT_NOMEM)
		(void)rt_cli_nomem(cli);
	if (cli->error.text[0] == 0)
		(void)rt_cli_fail(cli, status, "failed: %s", rt_status_word(status));
	if (cli->json && !cli->json_done)
		report_json(cli, status);
	rt_term_flush(&cli->out);
	rt_buf_init(&buf, cli->alloc, 64 * 1024);
	if (cli->session.hint[0] != 0)
		rt_buf_add_c(&buf, cli->session.hint);
	else
		usual_hint(cli, status, &buf);
	split_advice(cli, &buf);
	rt_buf_init(&advice, cli->alloc, 64 * 1024);
	rt_cli_add_advice(cli, &advice, rt_buf_str(&buf));
	rt_term_style(&cli->err, RT_STYLE_RED);
	rt_term_c(&cli->err, "retake: ");
	rt_term_style(&cli->err, RT_STYLE_NONE);
	rt_term_line(&cli->err, rt_str_of(cli->error.text));
	rt_term_c(&cli->err, "\n");
	if (advice.size > 0)
		rt_term_indented(&cli->err, rt_buf_str(&advice), 2);
	if (cli->kept[0] != 0 && strstr(cli->session.hint, cli->kept) == NULL) {
		rt_term_c(&cli->err, "  Your text is kept in ");
		rt_term_line(&cli->err, rt_str_of(cli->kept));
		rt_term_c(&cli->err, "\n");
	}
	rt_buf_deinit(&advice);
	rt_buf_deinit(&buf);
	rt_term_flush(&cli->err);
}
