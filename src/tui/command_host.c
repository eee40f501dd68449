/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "tui/command_host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tui/work.h"

extern char **environ;

static const int64_t LONGEST_MS = (int64_t)24 * 3600 * 1000;

void
rt_command_process_init(rt_command_process *command, const rt_alloc *alloc)
{
	*command = (rt_command_process){.fd = -1};
	rt_scope_init(&command->scope, alloc);
	rt_buf_init(&command->out, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&command->err, alloc, RT_BUF_UNLIMITED);
}

void
rt_command_process_deinit(rt_command_process *command)
{
	if (command->fd >= 0)
		(void)close(command->fd);
	rt_scope_deinit(&command->scope);
	rt_buf_deinit(&command->out);
	rt_buf_deinit(&command->err);
}

/* ---- words ---- */

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* starts: where each word begins in the line; is_literal: quotes and backslashes are text. */
static rt_status
split(rt_str line, bool is_literal, rt_buf *words, size_t *starts, size_t *out_count, rt_error *err)
{
	const char *home = getenv("HOME");
	bool is_inside = false;
	char quote = 0;
	size_t count = 0;

	for (size_t i = 0; i < line.size; i++) {
		char c = line.ptr[i], next = i + 1 < line.size ? line.ptr[i + 1] : 0;

		if (c == 0)
			return rt_fail(err, RT_USAGE, "the command contains a NUL byte");
		if (quote == 0 && is_blank(c)) {
			if (is_inside)
				rt_buf_add_byte(words, '\0');
			is_inside = false;
			continue;
		}
		if (!is_inside && starts != NULL)
			starts[count] = i;
		count += !is_inside;
		if (is_literal) {
			rt_buf_add_byte(words, c);
		} else if (!is_inside && c == '~' && home != NULL && next == '/') {
			rt_buf_add_c(words, home);
		} else if (quote != 0 && c == quote) {
			quote = 0;
		} else if (quote == 0 && (c == '"' || c == '\'')) {
			quote = c;
		} else if (c == '\\' && quote != '\'' && i + 1 < line.size) {
			/* In double quotes it is literal, except before these two. */
			if (quote == '"' && next != '"' && next != '\\')
				rt_buf_add_byte(words, c);
			rt_buf_add_byte(words, line.ptr[++i]);
		} else {
			rt_buf_add_byte(words, c);
		}
		is_inside = true;
	}
	if (quote != 0)
		return rt_fail(err, RT_USAGE, "missing closing quote %c", quote);
	if (is_inside)
		rt_buf_add_byte(words, '\0');
	*out_count = count;
	return words->status == RT_OK ? RT_OK : rt_fail(err, words->status, "out of memory");
}

rt_status
rt_command_split(rt_str line, rt_buf *words, size_t *out_count, rt_error *err)
{
	return split(line, false, words, NULL, out_count, err);
}

/* Where the text of a command that ends in one begins (rt_command.text_word); count: nowhere. Flags
 * after it are not text, and switches may change the meaning of the words. */
static size_t
text_begin(rt_scope *s, const rt_command *const *commands, const rt_buf *words, size_t count)
{
	bool has_program = strcmp(words->ptr, "retake") == 0;
	size_t argc = count + !has_program, at = 0, text;
	rt_args *args = rt_scope_get(s, sizeof(*args));
	char **argv = rt_scope_array(s, argc, sizeof(*argv)), *word = words->ptr;

	if (args == NULL || argv == NULL)
		return count;
	args->words = rt_scope_array(s, argc, sizeof(*args->words));
	if (args->words == NULL)
		return count;
	argv[0] = (char *)(uintptr_t) "retake";
	for (size_t i = !has_program; i < argc; i++, word += strlen(word) + 1)
		argv[i] = word;
	if (rt_args_parse(commands, (int)argc, argv, args, NULL) != RT_OK || args->command == NULL)
		return count;
	for (size_t i = 0; i < args->given_count; i++)
		if (args->given[i].flag->value == NULL)
			return count;
	text = (size_t)args->command->text_word;
	if (text == 0 || args->word_count < text)
		return count;
	while (argv[at] != args->words[text - 1])
		at++;
	return args->word_count - text + 1 == argc - at ? at - !has_program : count;
}

/* As rt_command_split, but several words of a text are one, as typed. */
static void
split_command(rt_scope *s, const rt_command *const *commands, rt_str line, rt_buf *words,
	      size_t *out_count)
{
	size_t *starts = rt_scope_array(s, line.size + 1, sizeof(*starts)), before = 0, at;
	rt_status st;

	if (starts == NULL)
		return;
	st = split(line, false, words, starts, out_count, NULL);
	if (st != RT_OK) { /* an apostrophe? */
		rt_buf_clear(words);
		if (split(line, true, words, starts, out_count, NULL) != RT_OK)
			*out_count = 0;
	}
	at = *out_count == 0 ? 0 : text_begin(s, commands, words, *out_count);
	if (st == RT_OK && at + 1 >= *out_count)
		return;
	if (at < *out_count) {
		rt_str text = rt_str_trim(rt_str_skip(line, starts[at]));
		bool is_text = strchr(st == RT_OK ? "-" : "-'\"", text.ptr[0]) == NULL;

		rt_buf_clear(words);
		if (is_text && split(rt_str_at(line.ptr, starts[at]), false, words, NULL, &before,
				     NULL) == RT_OK && before == at) {
			rt_buf_add_str(words, text);
			rt_buf_add_byte(words, '\0');
			*out_count = at + 1;
			return;
		}
	}
	rt_buf_clear(words);
	RT_TRY(s, rt_command_split(line, words, out_count, &s->error));
}

const char *
rt_command_why_not_here(const rt_command *command)
{
	static const struct {
		const char *name, *why;
	} refused[] = {
		{"tui", "the terminal UI is already open"},
		{"chat", "you are already in a chat: close this list and type"},
		{"serve", "it runs until stopped; start it in another terminal"},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (strcmp(command->name, refused[i].name) == 0)
			return refused[i].why;
	return NULL;
}

static void
check_command(rt_scope *s, const rt_command *const *commands, const char *name,
	      const rt_command *command)
{
	const char *why = command == NULL ? NULL : rt_command_why_not_here(command);
	const char *nearest = command == NULL ? rt_command_nearest(commands, name) : NULL;

	if (why != NULL)
		(void)rt_scope_fail(s, RT_REFUSED, "%s cannot run here: %s", command->name, why);
	if (command == NULL && nearest != NULL)
		(void)rt_scope_fail(s, RT_USAGE, "there is no command \"%.60s\"; did you mean %s?", name,
				    nearest);
	else if (command == NULL)
		(void)rt_scope_fail(s, RT_USAGE, "there is no command \"%.60s\"", name);
}

/* Flags may precede the command; the program itself reports errors in them. argv[0] is the
 * program. */
static void
check_words(rt_scope *s, const rt_command *const *commands, char **argv, size_t count)
{
	rt_args *args = rt_scope_get(s, sizeof(*args));
	rt_status st;

	if (args == NULL)
		return;
	args->words = rt_scope_array(s, count, sizeof(*args->words));
	if (args->words == NULL)
		return;
	st = rt_args_parse(commands, (int)count, argv, args, NULL);
	if (args->verb != NULL)
		check_command(s, commands, args->verb, args->command);
	else if (!args->help && rt_args_value(args, "version") == NULL && st == RT_OK)
		(void)rt_scope_fail(s, RT_USAGE, "no command given");
}

/* The name, which takes precedence over an id (C29); the id if it has none, or one that looks like
 * a flag. */
static void
add_address(rt_buf *out, rt_str name, char letter, uint32_t number)
{
	if (name.size > 0 && name.ptr[0] != '-')
		rt_buf_add_str(out, name);
	else
		rt_buf_add_number_id(out, letter, number);
}

/* Flags for the place in view, with which argv begins. */
static size_t
add_place(rt_command_process *command, rt_work *work)
{
	rt_scope *s = &command->scope;
	rt_buf *disc = rt_scope_buf(s), *take = rt_scope_buf(s);
	static const char *const last[] = {"--no-input", "--no-color", "--no-pager"};
	size_t count = 0;

	command->argv[count++] = (char *)(uintptr_t) "retake";
	/* The active ones are not named, so that a command may make others active. */
	if (work->place.disc != work->value->active) {
		const rt_cell *cell = rt_project_cell(work->value, work->place.disc);

		add_address(disc, cell != NULL && cell->present ? rt_cell_name(cell) : RT_STR(""), 'd',
			    work->place.disc);
		command->argv[count++] = (char *)(uintptr_t) "--discussion";
		command->argv[count++] = disc->ptr;
	}
	if (work->take->number != work->disc->active) {
		add_address(take, work->take->present ? rt_text_str(work->take->name) : RT_STR(""), 't',
			    work->take->number);
		command->argv[count++] = (char *)(uintptr_t) "--take";
		command->argv[count++] = take->ptr;
	}
	if (work->read_only)
		command->argv[count++] = (char *)(uintptr_t) "--read-only";
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
		command->argv[count++] = (char *)(uintptr_t)last[i];
	(void)rt_scope_str(s, disc);
	(void)rt_scope_str(s, take);
	return count;
}

/* "NAME=value" */
static const char *
variable(rt_scope *s, const char *name, rt_str value)
{
	rt_buf *buf = rt_scope_buf(s);

	rt_buf_add_f(buf, "%s=%.*s", name, RT_STR_ARG(value));
	return rt_scope_str(s, buf).ptr;
}

/* Our environment, with some variables set. The store and the project are among them, since the
 * arguments of a process can be read by every user, and the address may contain a password. */
static void
make_environment(rt_command_process *command, const rt_session *session)
{
	rt_scope *s = &command->scope;
	const char *const settings[] = {"NO_COLOR=1", "TERM=dumb", "PAGER=cat",
					RT_SESSION_BY_VARIABLE "=tui",
					variable(s, "RETAKE_DB", rt_str_of(session->address.ptr)),
					variable(s, "RETAKE_PROJECT", rt_session_project(session))};
	enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };
	size_t count = 0, kept = 0;

	while (environ != NULL && environ[count] != NULL)
		count++;
	command->envp = rt_scope_array(s, count + SETTINGS + 1, sizeof(*command->envp));
	if (!rt_ok(s))
		return;
	for (size_t i = 0; i < count; i++) {
		bool is_set = false;

		for (size_t k = 0; k < SETTINGS; k++)
			is_set = is_set || strncmp(environ[i], settings[k],
						   strcspn(settings[k], "=") + 1) == 0;
		if (!is_set)
			command->envp[kept++] = environ[i];
	}
	for (size_t k = 0; k < SETTINGS; k++)
		command->envp[kept++] = (char *)(uintptr_t)settings[k];
}

rt_status
rt_command_process_make(rt_command_process *command, const rt_command *const *commands,
			rt_work *work, rt_str line, rt_error *err)
{
	enum { PLACE_WORDS = 9 };
	rt_scope *s = &command->scope;
	size_t count = 0, at;
	rt_buf *words = rt_scope_buf(s);
	char *word, **own;

	split_command(s, commands, line, words, &count);
	word = words->ptr;
	if (rt_ok(s) && count > 0 && strcmp(word, "retake") == 0) {
		word += strlen(word) + 1;
		count--;
	}
	if (rt_ok(s) && count == 0)
		(void)rt_scope_fail(s, RT_USAGE, "no command given");
	/* The line's words, with the program before them. */
	own = rt_scope_array(s, count + 1, sizeof(*own));
	command->argv = rt_scope_array(s, PLACE_WORDS + count + 1, sizeof(*command->argv));
	for (size_t i = 0; rt_ok(s) && i <= count; i++) {
		own[i] = i == 0 ? (char *)(uintptr_t) "retake" : word;
		word += i == 0 ? 0 : strlen(word) + 1;
	}
	if (rt_ok(s))
		check_words(s, commands, own, count + 1);
	if (work->session->is_scratch || work->session->address.size == 0)
		(void)rt_scope_fail(
			s, RT_REFUSED,
			"this store is in memory, so other processes cannot open it");
	if (rt_ok(s)) {
		at = add_place(command, work);
		memcpy(command->argv + at, own + 1, count * sizeof(*own));
		make_environment(command, work->session);
	}
	if (rt_ok(s)) {
		command->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		if (command->fd < 0)
			(void)rt_scope_fail(s, RT_IO, "the retake program can no longer be found");
	}
	if (!rt_ok(s) && err != NULL)
		*err = s->error;
	return s->status;
}

/* ---- running ---- */

rt_status
rt_command_process_run(rt_command_process *command, rt_stop_fn stop, void *ctx)
{
	rt_process_program program = {
		.fd = command->fd, .argv = command->argv, .envp = command->envp};

	return rt_process_run(&program, RT_STR(""), LONGEST_MS, stop, ctx, &command->out,
			      &command->err, &command->result);
}
