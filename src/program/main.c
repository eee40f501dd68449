/* SPDX-License-Identifier: MIT
 *
 * The program: from the command line to a command, and from its status to the exit code. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/help.h"
#include "cli/maintenance.h"
#include "program/commands.h"
#include "program/failure.h"
#include "program/help_keys.h"
#include "store/store_sqlite.h"

/* The words of the line as one text for a shell, in quotes; dots for what cannot stand there
 * as it is. */
static void
quote_words(const rt_args *args, char *out, size_t room)
{
	size_t i, used = (size_t)snprintf(out, room, "\"%s", args->verb);

	for (i = 0; i < args->word_count && used < room; i++)
		used += (size_t)snprintf(out + used, room - used, " %s", args->words[i]);
	if (used + 2 > room || strpbrk(out + 1, "\"$`\\!\n") != NULL)
		used = (size_t)snprintf(out, room, "\"…");
	snprintf(out + used, room - used, "\"");
}

static rt_status
unknown_command(rt_cli *cli)
{
	const char *verb = cli->args.verb, *near = rt_command_nearest(cli->commands, verb);
	char text[80];

	quote_words(&cli->args, text, sizeof(text));
	if (near != NULL && cli->args.word_count < 2)
		rt_cli_hint(cli, RT_USAGE, "Did you mean: retake %s   All commands: retake help",
			    near);
	else if (near != NULL)
		rt_cli_hint(cli, RT_USAGE,
			    "Did you mean: retake %s   To ask a model: retake ask %s   "
			    "All commands: retake help",
			    near, text);
	else
		rt_cli_hint(
			cli, RT_USAGE,
			"To ask a model: retake ask %s   To add it as an entry: retake add %s   "
			"All commands: retake help",
			text, text);
	return rt_cli_fail(cli, RT_USAGE, "there is no command \"%.80s\"", verb);
}

/* "role needs ENTRY and ROLE": the words of the usage that are not in brackets, without
 * those that are there. */
static rt_status
lacks_words(rt_cli *cli)
{
	const rt_command *command = cli->args.command;
	const char *p = command->usage, *end = p + strcspn(p, "\n");
	size_t at = 0, left = (size_t)command->min_words;
	rt_status st;
	rt_buf buf;

	rt_buf_init(&buf, cli->alloc, 4096);
	while (p < end && at < left) {
		size_t size = strcspn(p, " \n");

		if (*p != '[' && *p != '|' && at++ >= cli->args.word_count) {
			rt_buf_add_c(&buf, buf.size > 0 ? " and " : "");
			rt_buf_add(&buf, p, size);
		}
		p += size;
		p += *p == ' ';
	}
	st = rt_cli_fail(cli, RT_USAGE, "%s needs %s%s", command->name,
			 buf.size > 0 ? buf.ptr : "more words",
			 command->kinds[cli->args.word_count] == RT_ARG_STEP
				 ? ", the number of a step"
				 : "");
	if (cli->args.word_count > 0)
		st = rt_cli_fail(cli, RT_USAGE, "%s needs %s behind \"%.60s\"", command->name,
				 buf.size > 0 ? buf.ptr : "more words",
				 cli->args.words[cli->args.word_count - 1]);
	rt_buf_deinit(&buf);
	return st;
}

static rt_status
check_words(rt_cli *cli)
{
	const rt_command *command = cli->args.command;
	size_t count = cli->args.word_count;

	if (count < (size_t)command->min_words)
		return lacks_words(cli);
	if (command->max_words != RT_COMMAND_WORDS_ANY && count > (size_t)command->max_words)
		return rt_cli_fail(cli, RT_USAGE, "%s: \"%.60s\" is one word too many",
				   command->name, cli->args.words[command->max_words]);
	if (rt_cli_has(cli, "at-op") && !(command->traits & RT_COMMAND_AT_OP))
		return rt_cli_fail(cli, RT_USAGE,
				   "%s works on the present; --at-op is for commands that look",
				   command->name);
	return RT_OK;
}

/* Nothing was asked for, by a person in front of a terminal. */
static bool
is_person(const rt_cli *cli)
{
	return !cli->json && !cli->no_input && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* The terminal can do more than write lines. */
static bool
has_screen(void)
{
	const char *term = getenv("TERM");

	return term != NULL && *term != 0 && strcmp(term, "dumb") != 0;
}

static rt_status
dispatch(rt_cli *cli, rt_status parsed)
{
	rt_status st;

	if (cli->args.help && (cli->args.command != NULL || cli->args.verb == NULL))
		return rt_cli_help_command(cli, cli->args.command);
	if (cli->args.verb != NULL && cli->args.command == NULL)
		return unknown_command(cli);
	if (parsed != RT_OK) {
		if (cli->args.command != NULL && cli->args.command->max_words != 0)
			rt_cli_hint(cli, parsed,
				    "Usage: retake %s%s%.*s   More: retake help %s   "
				    "What begins with a dash and is no flag goes behind --.",
				    cli->args.command->name,
				    cli->args.command->usage[0] == 0 ? "" : " ",
				    (int)strcspn(cli->args.command->usage, "\n"),
				    cli->args.command->usage, cli->args.command->name);
		return parsed;
	}
	if (rt_cli_has(cli, "version"))
		return rt_cli_help_version(cli);
	if (cli->args.command == NULL && is_person(cli) && has_screen())
		cli->args.command = rt_command_named(cli->commands, "tui");
	else if (cli->args.command == NULL && is_person(cli))
		rt_term_c(&cli->out, "This terminal cannot show the screens of Retake, as its TERM "
				     "says.\nretake chat talks line by line.\n\n");
	if (cli->args.command == NULL)
		return rt_cli_help_welcome(cli);
	st = check_words(cli);
	return st != RT_OK ? st : cli->args.command->run(cli);
}

static void
note(void *ctx, const char *text)
{
	rt_cli_note(ctx, "%s", text);
}

/* A failed command does not leave a new and empty store behind. */
static void
end_made(rt_cli *cli, bool failed)
{
	bool removed = false;

	if (!cli->session.made_store)
		return;
	if (!failed || rt_cli_follow_links(cli) != RT_OK ||
	    rt_store_sqlite_remove_empty(cli->alloc, cli->env, cli->session.path.ptr, &removed,
					 &cli->error) != RT_OK ||
	    !removed)
		rt_cli_say_made(cli);
}

int
main(int argc, char **argv)
{
	rt_args args = {0};
	rt_cli cli;
	rt_status st, parsed;
	int code;

	memset(&cli, 0, sizeof(cli));
	rt_cli_memory_init(&cli.memory);
	cli.alloc = &cli.memory.alloc;
	cli.env = rt_host_env();
	cli.commands = rt_commands;
	cli.help_keys = rt_help_keys;
	cli.exit_code = -1;
	rt_host_no_core();
	rt_host_signals();
	rt_session_init(&cli.session, cli.alloc, cli.env);
	args.words = rt_new_array(cli.alloc, (size_t)argc + 1, sizeof(*args.words));
	if (args.words == NULL) {
		rt_failure_say_plainly(STDERR_FILENO, "retake: out of memory\n");
		return rt_status_exit_code(RT_NOMEM);
	}
	parsed = rt_args_parse(rt_commands, argc, argv, &args, &cli.error);
	rt_cli_use_args(&cli, args);
	cli.json = rt_cli_has(&cli, "json");
	cli.quiet = rt_cli_has(&cli, "quiet");
	cli.verbose = cli.session.verbose = rt_cli_has(&cli, "verbose");
	cli.no_input = rt_cli_has(&cli, "no-input");
	cli.session.note = cli.quiet ? NULL : note;
	cli.session.note_ctx = &cli;
	rt_term_init(&cli.out, cli.alloc, STDOUT_FILENO, rt_cli_has(&cli, "no-color"));
	rt_term_init(&cli.err, cli.alloc, STDERR_FILENO, rt_cli_has(&cli, "no-color"));
	st = rt_term_reserve(&cli.err);
	st = st == RT_OK ? dispatch(&cli, parsed) : rt_cli_nomem(&cli);
	if (st != RT_OK)
		rt_failure_report(&cli, st);
	code = cli.exit_code >= 0 ? cli.exit_code : rt_status_exit_code(st);
	rt_cli_close(&cli);
	end_made(&cli, code != 0);
	if (rt_cli_short_of_memory(&cli))
		rt_cli_output_lost(&cli, RT_NOMEM);
	rt_term_flush(&cli.out);
	if (cli.out.error != 0 && st == RT_OK) {
		cli.quiet = false;
		rt_cli_note(&cli, "%s: %s",
			    cli.changed ? "what was changed is saved, but cannot be reported"
					: "cannot write the output",
			    cli.out.error == ENOMEM ? "out of memory" : strerror(cli.out.error));
		code = code == 0 ? 1 : code;
	}
	if (cli.err.error == ENOMEM && code != 0)
		rt_failure_say_plainly(STDERR_FILENO, "retake: out of memory\n");
	rt_term_deinit(&cli.out);
	rt_term_deinit(&cli.err);
	rt_free(cli.alloc, cli.args.words);
	rt_session_deinit(&cli.session);
	return code;
}
