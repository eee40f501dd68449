/* SPDX-License-Identifier: MIT
 *
 * The program: from the command line to a command, and from its status to the exit code. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/help.h"
#include "formats/formats.h"
#include "cli/maintenance.h"
#include "program/commands.h"
#include "program/failure.h"
#include "program/help_keys.h"
#include "program/markdown.h"
#include "cli/other_verbs.h"
#include "llm/system_host.h"
#include "store/store_sqlite.h"

/* The words of the line as one quoted text for a shell; an ellipsis where it would need
 * escapes. */
static const char *
quote_words(rt_cli *cli)
{
	rt_buf *out = rt_scope_buf(&cli->s);

	rt_buf_add_f(out, "\"%s", cli->args.verb);
	for (size_t i = 0; i < cli->args.word_count; i++)
		rt_buf_add_f(out, " %s", cli->args.words[i]);
	if (out->ptr == NULL || out->size + 2 > 80 || strpbrk(out->ptr + 1, "\"$`\\!\n") != NULL)
		return "\"…\"";
	rt_buf_add_byte(out, '"');
	return out->ptr;
}

static void
unknown_command(rt_cli *cli)
{
	const char *verb = cli->args.verb, *near = rt_other_verb(verb);
	const char *text = quote_words(cli);

	if (near == NULL)
		near = rt_command_nearest(cli->commands, verb);
	if (near != NULL && cli->args.word_count < 2)
		rt_cli_hint(cli, "Did you mean: retake %s   All commands: retake help", near);
	else if (near != NULL)
		rt_cli_hint(cli,
			    "Did you mean: retake %s   To ask a model: retake ask %s   "
			    "All commands: retake help",
			    near, text);
	else
		rt_cli_hint(cli,
			    "To ask a model: retake ask %s   To add it as an entry: retake add %s   "
			    "All commands: retake help",
			    text, text);
	rt_cli_fail(cli, RT_USAGE, "there is no command \"%.80s\"", verb);
}

/* "role needs ENTRY and ROLE": the words of the usage that are not in brackets, without those
 * that were given. */
static void
fail_for_missing_words(rt_cli *cli)
{
	const rt_command *command = cli->args.command;
	const char *p = command->usage, *end = p + strcspn(p, "\n"), *missing;
	size_t at = 0, count = cli->args.word_count;
	rt_buf *words = rt_scope_buf(&cli->s);

	while (p < end && at < (size_t)command->min_words) {
		size_t size = strcspn(p, " \n");

		if (*p != '[' && *p != '|' && at++ >= count) {
			rt_buf_add_c(words, words->size > 0 ? " and " : "");
			rt_buf_add(words, p, size);
		}
		p += size;
		p += *p == ' ';
	}
	missing = words->size > 0 ? words->ptr : "more arguments";
	if (count > 0)
		rt_cli_fail(cli, RT_USAGE, "%s needs %s after \"%.60s\"", command->name, missing,
			    cli->args.words[count - 1]);
	else
		rt_cli_fail(cli, RT_USAGE, "%s needs %s%s", command->name, missing,
			    command->kinds[0] == RT_ARG_STEP ? ", the number of a step" : "");
}

static void
fail_for_extra_word(rt_cli *cli, const char *word)
{
	/* "-f" is --force */
	if (strcmp(cli->args.command->name, "export") == 0 && rt_format_find(rt_str_of(word)) != NULL)
		rt_cli_hint(cli, "To choose the format: retake export --format %s", word);
	else if (strcmp(cli->args.command->name, "export") == 0 && strchr(word, '.') != NULL)
		rt_cli_hint(cli, "To write a file: -o %.200s", word);
	rt_cli_fail(cli, RT_USAGE, "%s: unexpected argument \"%.60s\"", cli->args.command->name, word);
}

static void
run_command(rt_cli *cli)
{
	const rt_command *command = cli->args.command;
	size_t count = cli->args.word_count;

	if (count < (size_t)command->min_words)
		fail_for_missing_words(cli);
	else if (command->max_words != RT_COMMAND_WORDS_ANY && count > (size_t)command->max_words)
		fail_for_extra_word(cli, cli->args.words[command->max_words]);
	else if (rt_cli_has(cli, "at-step") && !(command->traits & RT_COMMAND_AT_STEP))
		rt_cli_fail(cli, RT_USAGE,
			    "%s works on the current state; --at-step is for read-only commands",
			    command->name);
	else
		command->run(cli);
}

/* No command was given, on a terminal. */
static bool
is_person(const rt_cli *cli)
{
	return !cli->json && !cli->no_input && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* The terminal supports more than plain lines. */
static bool
has_screen(void)
{
	const char *term = getenv("TERM");

	return term != NULL && *term != 0 && strcmp(term, "dumb") != 0;
}

static void
dispatch(rt_cli *cli)
{
	const rt_command *command = cli->args.command;

	if (cli->args.help && (command != NULL || cli->args.verb == NULL)) {
		rt_cli_recover(cli, NULL);
		rt_cli_help_command(cli, command);
		return;
	}
	if (cli->args.verb != NULL && command == NULL) {
		rt_cli_recover(cli, NULL);
		unknown_command(cli);
		return;
	}
	if (!rt_ok(&cli->s)) {
		if (command != NULL && strcmp(command->name, "ask") == 0 &&
		    (strstr(cli->s.error.text, "\"-c\"") != NULL ||
		     strstr(cli->s.error.text, "\"--continue\"") != NULL))
			rt_cli_hint(cli, "ask needs no flag to continue the discussion. To start "
					 "another one: retake new   To continue a reply: retake "
					 "again --continue");
		return;
	}
	if (rt_cli_has(cli, "version")) {
		rt_cli_help_version(cli);
		return;
	}
	if (command == NULL && is_person(cli) && has_screen())
		cli->args.command = rt_command_named(cli->commands, "tui");
	else if (command == NULL && is_person(cli))
		rt_term_c(&cli->out, "This terminal (TERM) does not support full-screen "
				     "programs.\nUse retake chat instead.\n\n");
	if (cli->args.command == NULL && !cli->no_input && rt_host_has_input() &&
	    rt_cli_read_file(cli, "-").size > 0) {
		rt_cli_hint(cli, "Ask a model: COMMAND | retake ask   Add an entry: COMMAND | retake add -   "
				 "Import it: COMMAND | retake import -");
		rt_cli_fail(cli, RT_USAGE, "no command was given for the text on standard input");
	} else if (cli->args.command == NULL)
		rt_cli_help_welcome(cli);
	else
		run_command(cli);
}

static void
note(void *ctx, const char *text)
{
	rt_cli_note(ctx, "%s", text);
}

/* A failed command does not leave a new, empty store. */
static void
end_made(rt_cli *cli, bool failed)
{
	bool removed = false;

	if (!cli->session.made_store)
		return;
	if (failed) {
		rt_cli_recover(cli, NULL);
		rt_cli_follow_links(cli);
		RT_TRY(&cli->s, rt_store_sqlite_remove_empty(cli->alloc, cli->env,
							     cli->session.address.ptr, &removed,
							     &cli->s.error));
	}
	if (!removed)
		rt_cli_say_made(cli);
}

/* Lost output is reported, if the command itself did not fail. */
static int
check_output(rt_cli *cli, bool has_failed, int code)
{
	if (rt_cli_short_of_memory(cli))
		rt_cli_output_lost(cli, RT_NOMEM);
	rt_term_flush(&cli->out);
	if (cli->out.error != 0 && !has_failed) {
		cli->quiet = false;
		rt_cli_note(cli, "%s: %s",
			    cli->changed ? "the change is saved, but the result cannot be printed"
					 : "cannot write the output",
			    cli->out.error == ENOMEM ? "out of memory" : strerror(cli->out.error));
		code = code == 0 ? 1 : code;
	}
	if (cli->err.error == ENOMEM && code != 0)
		rt_failure_say_plainly(STDERR_FILENO, "retake: out of memory\n");
	return code;
}

int
main(int argc, char **argv)
{
	rt_args args = {0};
	rt_cli cli = {.env = rt_system_env(),
		      .commands = rt_commands,
		      .help_keys = rt_help_keys,
		      .print_markdown = rt_markdown_print,
		      .exit_code = -1};
	bool has_failed;
	int code;

	rt_cli_memory_init(&cli.memory);
	cli.alloc = &cli.memory.alloc;
	rt_scope_init(&cli.s, cli.alloc);
	rt_host_no_core();
	rt_host_signals();
	rt_session_init(&cli.session, cli.alloc, cli.env);
	args.words = rt_scope_array(&cli.s, (size_t)argc + 1, sizeof(*args.words));
	if (args.words == NULL) {
		rt_scope_deinit(&cli.s);
		rt_failure_say_plainly(STDERR_FILENO, "retake: out of memory\n");
		return rt_status_exit_code(RT_NOMEM);
	}
	RT_TRY(&cli.s, rt_args_parse(rt_commands, argc, argv, &args, &cli.s.error));
	rt_cli_use_args(&cli, args);
	cli.json = rt_cli_has(&cli, "json");
	cli.quiet = rt_cli_has(&cli, "quiet");
	cli.verbose = cli.session.verbose = rt_cli_has(&cli, "verbose");
	cli.no_input = rt_cli_has(&cli, "no-input");
	cli.session.note = cli.quiet ? NULL : note;
	cli.session.note_ctx = &cli;
	rt_term_init(&cli.out, cli.alloc, STDOUT_FILENO, rt_cli_has(&cli, "no-color"));
	rt_term_init(&cli.err, cli.alloc, STDERR_FILENO, rt_cli_has(&cli, "no-color"));
	if (rt_term_reserve(&cli.err) == RT_OK)
		dispatch(&cli);
	else
		rt_scope_nomem(&cli.s);
	has_failed = !rt_ok(&cli.s);
	if (has_failed)
		rt_failure_report(&cli);
	code = cli.exit_code >= 0 ? cli.exit_code : rt_status_exit_code(cli.s.status);
	rt_scope_reset(&cli.s);
	rt_cli_close(&cli);
	end_made(&cli, code != 0);
	code = check_output(&cli, has_failed, code);
	rt_term_deinit(&cli.out);
	rt_term_deinit(&cli.err);
	rt_scope_deinit(&cli.s);
	rt_session_deinit(&cli.session);
	return code;
}
