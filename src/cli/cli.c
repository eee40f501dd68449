/* SPDX-License-Identifier: MIT
 *
 * The common part of all commands: failures, notes, flags and words, advice. */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"
#include "core/role.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/screen.h"
#include "store/store_open.h"

enum { MESSAGE_SIZE = 1024 };

rt_status
rt_cli_fail(rt_cli *cli, rt_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)rt_scope_fail_v(&cli->s, status, NULL, format, args);
	va_end(args);
	return cli->s.status;
}

void
rt_cli_hint(rt_cli *cli, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(cli->session.hint, sizeof(cli->session.hint), format, args);
	va_end(args);
}

rt_status
rt_cli_recover(rt_cli *cli, rt_error *err)
{
	rt_status status = cli->s.status;

	if (status != RT_OK && err != NULL)
		*err = cli->s.error;
	if (status != RT_OK)
		cli->session.hint[0] = 0;
	cli->s.status = RT_OK;
	cli->s.error = (rt_error){0};
	return status;
}

void
rt_cli_begin_part(rt_cli *cli, rt_scope *outer)
{
	*outer = cli->s;
	rt_scope_init(&cli->s, cli->alloc);
}

rt_status
rt_cli_end_part(rt_cli *cli, const rt_scope *outer, rt_error *err)
{
	rt_status status = rt_scope_end(&cli->s, err);

	cli->s = *outer;
	cli->address = NULL;
	cli->extra = NULL;
	cli->ids = NULL;
	return status;
}

bool
rt_cli_short_of_memory(const rt_cli *cli)
{
	return atomic_load(&cli->memory.short_of);
}

void
rt_cli_output_lost(rt_cli *cli, rt_status status)
{
	if (status != RT_OK && cli->out.error == 0)
		cli->out.error = status == RT_NOMEM ? ENOMEM : EIO;
}

void
rt_cli_note(rt_cli *cli, const char *format, ...)
{
	char text[MESSAGE_SIZE];
	va_list args;
	rt_buf buf;

	if (cli->quiet)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_add_advice(cli, &buf, rt_str_of(text));
	rt_term_c(&cli->err, "retake: ");
	rt_term_text(&cli->err, buf.status == RT_OK ? rt_buf_str(&buf) : rt_str_of(text));
	rt_term_c(&cli->err, "\n");
	rt_term_flush(&cli->err);
	rt_buf_deinit(&buf);
}

void
rt_cli_say(rt_cli *cli, rt_str message, const char *next, ...)
{
	rt_term *out = &cli->out;
	rt_buf *line = rt_scope_buf(&cli->s), *hint = rt_scope_buf(&cli->s);
	rt_buf *advice = rt_scope_buf(&cli->s);
	char text[MESSAGE_SIZE];
	va_list args;

	if (!rt_ok(&cli->s))
		return;
	if (cli->changed)
		rt_cli_say_made(cli);
	va_start(args, next);
	vsnprintf(text, sizeof(text), next, args);
	va_end(args);
	rt_screen_add_line(line, message);
	rt_cli_add_advice(cli, advice, rt_str_of(text));
	rt_screen_add_line(hint, rt_buf_str(advice));
	if (out->columns > 0 &&
	    rt_screen_width(rt_buf_str(line)) + rt_screen_width(rt_buf_str(hint)) + 3 >
		    out->columns) {
		rt_term_indented(out, rt_buf_str(line), 0);
		rt_term_c(out, "  ");
	} else {
		rt_term_text(out, rt_buf_str(line));
		rt_term_c(out, "   ");
	}
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_text(out, rt_buf_str(hint));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
}

void
rt_cli_confirm(rt_cli *cli, const char *question)
{
	char answer[16];

	if (!rt_ok(&cli->s) || rt_cli_has(cli, "yes"))
		return;
	if (cli->no_input || !rt_host_can_ask()) {
		rt_cli_hint(cli, "To confirm: --yes");
		rt_cli_fail(cli, RT_USAGE, "%s needs --yes when there is no terminal",
			    cli->args.command->name);
		return;
	}
	rt_term_c(&cli->err, question);
	rt_term_c(&cli->err, " [y/N] ");
	rt_term_flush(&cli->err);
	if (rt_host_ask(answer, sizeof(answer)) && (answer[0] == 'y' || answer[0] == 'Y'))
		return;
	rt_cli_hint(cli, "Nothing was changed.");
	rt_cli_fail(cli, RT_REFUSED, "not confirmed");
}

/* ---- the command line ---- */

bool
rt_cli_has(const rt_cli *cli, const char *flag)
{
	return rt_args_value(&cli->args, flag) != NULL;
}

const char *
rt_cli_flag_value(const rt_cli *cli, const char *flag)
{
	return rt_args_value(&cli->args, flag);
}

const char *
rt_cli_word(const rt_cli *cli, size_t index)
{
	return index < cli->args.word_count ? cli->args.words[index] : NULL;
}

uint64_t
rt_cli_number(rt_cli *cli, const char *text, const char *what)
{
	uint64_t number = 0;

	RT_TRY(&cli->s, rt_args_number(text, what, &number, &cli->s.error));
	return number;
}

uint64_t
rt_cli_flag_number(rt_cli *cli, const char *flag, const char *what, uint64_t otherwise)
{
	const char *text = rt_cli_flag_value(cli, flag);

	return text == NULL ? otherwise : rt_cli_number(cli, text, what);
}

rt_str
rt_cli_check_utf8(rt_cli *cli, rt_str text)
{
	size_t valid = rt_utf8_valid_size(text);

	if (valid != text.size)
		rt_cli_fail(cli, RT_USAGE, "the text is not valid UTF-8 (at byte %zu)", valid);
	return text;
}

/* The words from one on are a text without quotes. */
static void
hint_quotes(rt_cli *cli, size_t index)
{
	enum { SHOWN_MAX = 200 };
	rt_buf *text = rt_scope_buf(&cli->s), *quoted = rt_scope_buf(&cli->s);

	for (size_t i = index; i < cli->args.word_count; i++)
		rt_buf_add_f(text, "%s%s", i > index ? " " : "", rt_cli_word(cli, i));
	if (text->size > SHOWN_MAX) {
		rt_cli_hint(cli, "Put the text in quotes.");
		return;
	}
	rt_args_add_quoted(quoted, rt_scope_str(&cli->s, text).ptr);
	rt_cli_hint(cli, "Put the text in quotes: %s", rt_scope_str(&cli->s, quoted).ptr);
}

rt_str
rt_cli_text(rt_cli *cli, size_t index)
{
	const char *file = rt_cli_flag_value(cli, "file"), *word = rt_cli_word(cli, index);
	rt_str text = rt_str_of(word);

	if (!rt_ok(&cli->s))
		return rt_str_of(NULL);
	if (file != NULL && word != NULL) {
		rt_cli_fail(cli, RT_USAGE, "give either a text (\"%.40s\") or a file (%s), not "
					   "both",
			    word, file);
	} else if (cli->args.word_count > index + 1) {
		const char *extra = rt_cli_word(cli, index + 1);
		const char *path = access(word, F_OK) == 0 ? word : extra;

		if (rt_cli_has(cli, "attach") || rt_cli_has(cli, "image"))
			rt_cli_hint(cli, "Put the text in quotes, and --attach before each file.");
		else if (strcmp(cli->args.command->name, "ask") == 0 && access(path, F_OK) == 0)
			rt_cli_hint(cli, "To attach a file: -a %.200s", path);
		else
			hint_quotes(cli, index);
		rt_cli_fail(cli, RT_USAGE, "unexpected argument \"%.40s\"", extra);
	}
	if (file != NULL || (word != NULL && strcmp(word, "-") == 0)) {
		text = rt_cli_given(rt_cli_read_file(cli, file != NULL ? file : "-"));
		if (!rt_cli_has(cli, "exact") && text.size > 0 && text.ptr[text.size - 1] == '\n') {
			text.size--;
			text.size -= text.size > 0 && text.ptr[text.size - 1] == '\r';
		}
	}
	return rt_cli_check_utf8(cli, text);
}

enum { STORE = 1, PROJECT = 2, DISCUSSION = 3 };

/* A value as a word of a command line; the address of a store without its credentials. */
static void
add_value(const rt_cli *cli, rt_buf *buf, const char *value, bool is_store)
{
	rt_buf shown;

	rt_buf_init(&shown, cli->alloc, RT_BUF_UNLIMITED);
	if (is_store)
		rt_store_add_place(&shown, value);
	rt_args_add_quoted(buf, shown.ptr != NULL ? shown.ptr : value);
	rt_buf_deinit(&shown);
}

/* "retake" with the first count of the flags for the place. */
static void
add_retake(const rt_cli *cli, rt_buf *buf, size_t count)
{
	static const char *const names[] = {"db", "project", "discussion"};
	static const char *const flags[] = {"--db", "-p", "-d"};

	rt_buf_add_c(buf, "retake");
	for (size_t i = 0; i < count; i++) {
		const char *value = rt_cli_flag_value(cli, names[i]);

		if (value == NULL)
			continue;
		rt_buf_add_f(buf, " %s ", flags[i]);
		add_value(cli, buf, value, i == 0);
	}
}

void
rt_cli_add_retake(const rt_cli *cli, rt_buf *buf)
{
	add_retake(cli, buf, DISCUSSION);
}

void
rt_cli_add_retake_project(const rt_cli *cli, rt_buf *buf)
{
	add_retake(cli, buf, PROJECT);
}

const char *
rt_cli_retake(rt_cli *cli)
{
	rt_buf *buf = rt_scope_buf(&cli->s);

	rt_cli_add_retake(cli, buf);
	return buf->ptr == NULL ? "retake" : buf->ptr;
}

/* The number of these flags that the command after "retake " needs. */
static size_t
flags_wanted(const rt_cli *cli, rt_str rest)
{
	const rt_command *command;
	char word[24];
	size_t size = 0;

	if (rt_str_starts(rest, RT_STR("-p ")) || rt_str_starts(rest, RT_STR("-d ")))
		return rest.ptr[1] == 'p' ? STORE : PROJECT;
	while (size < rest.size && rest.ptr[size] >= 'a' && rest.ptr[size] <= 'z')
		size++;
	if (size == 0 || size >= sizeof(word))
		return 0;
	memcpy(word, rest.ptr, size);
	word[size] = 0;
	command = rt_command_named(cli->commands, word);
	if (command == NULL || command->group == RT_COMMANDS_LEARNING)
		return 0;
	if (command->group == RT_COMMANDS_MAINTENANCE || strcmp(command->name, "projects") == 0 ||
	    rt_str_starts(rest, RT_STR("serve --login"))) /* a link into any project */
		return STORE;
	return command->group == RT_COMMANDS_CATALOGUE ? PROJECT : DISCUSSION;
}

void
rt_cli_add_advice(const rt_cli *cli, rt_buf *buf, rt_str text)
{
	const rt_str name = RT_STR("retake "), usage = RT_STR("Usage: ");
	size_t at = 0, next;

	while ((next = rt_str_find(text, name, at)) != SIZE_MAX) {
		size_t end = next + name.size, flags = 0;
		bool is_word = next == 0 || text.ptr[next - 1] == ' ' || text.ptr[next - 1] == '(';
		bool is_usage = next >= usage.size &&
				rt_str_eq(rt_str_at(text.ptr + next - usage.size, usage.size), usage);

		rt_buf_add(buf, text.ptr + at, next - at);
		if (is_word && !is_usage)
			flags = flags_wanted(cli, rt_str_at(text.ptr + end, text.size - end));
		add_retake(cli, buf, flags);
		rt_buf_add_byte(buf, ' ');
		at = end;
	}
	if (at < text.size) /* an empty text may have no pointer to count from */
		rt_buf_add(buf, text.ptr + at, text.size - at);
}

void
rt_cli_advise(rt_cli *cli, const char *format, ...)
{
	char text[MESSAGE_SIZE];
	va_list args;
	rt_buf *buf = rt_scope_buf(&cli->s);

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rt_cli_add_advice(cli, buf, rt_str_of(text));
	rt_term_text(&cli->out, rt_buf_str(buf));
}

rt_style
rt_cli_role_style(rt_str role)
{
	if (rt_role_is_user(role))
		return RT_STYLE_CYAN;
	if (rt_role_is_assistant(role))
		return RT_STYLE_GREEN;
	if (rt_str_eq_nocase(role, RT_STR("system")))
		return RT_STYLE_YELLOW;
	return RT_STYLE_MAGENTA;
}

/* A new role that looks like a misspelt one is refused until it is in the project's list. */
static void
check_spelling(rt_cli *cli, const char *word)
{
	char nearest[40] = "";
	size_t distance = SIZE_MAX;
	rt_str known;

	for (size_t i = 0; rt_role_next_word(cli->session.value, &i, &known);) {
		char name[sizeof(nearest)];
		size_t found;

		if (rt_str_eq_nocase(known, rt_str_of(word)))
			return;
		snprintf(name, sizeof(name), "%.*s", RT_STR_ARG(known));
		found = rt_args_distance(word, name);
		if (found < distance) {
			distance = found;
			snprintf(nearest, sizeof(nearest), "%s", name);
		}
	}
	if (!rt_args_is_near(distance, strlen(word)))
		return;
	rt_cli_hint(cli, "To use this role, add it first: retake roles add \"%.60s\"", word);
	rt_cli_fail(cli, RT_USAGE, "the project has no role \"%.60s\"; did you mean %s?", word, nearest);
}

rt_str
rt_cli_role_meant(rt_cli *cli, const char *word)
{
	if (word == NULL || !rt_cli_open(cli, RT_SESSION_CHANGE))
		return rt_str_of(word);
	check_spelling(cli, word);
	return rt_role_meant(cli->session.value, rt_str_of(word));
}

rt_str
rt_cli_role_label(const rt_cli *cli, rt_str role)
{
	return rt_role_label(cli->session.value, role);
}

/* ---- output ---- */

void
rt_cli_print_json(rt_cli *cli, const rt_buf *json)
{
	rt_str text = rt_scope_str(&cli->s, json);

	if (!rt_ok(&cli->s))
		return;
	cli->json_done = true;
	while (text.size > 0 && text.ptr[text.size - 1] == '\n')
		text.size--;
	rt_term_json(&cli->out, text);
	rt_term_json(&cli->out, RT_STR("\n"));
}

void
rt_cli_put_bytes(rt_cli *cli, rt_buf *json, const char *key, rt_str bytes)
{
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_utf8_repair(&text, bytes);
	if (text.status != RT_OK)
		rt_scope_note(&cli->s, text.status);
	rt_json_put_str(json, key, rt_buf_str(&text));
	rt_buf_deinit(&text);
}
