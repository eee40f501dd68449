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

/* What is set for it, beside what there is. */
static const char *const settings[] = {"NO_COLOR=1", "TERM=dumb", "PAGER=cat", NULL};

void
rt_command_process_init(rt_command_process *command, const rt_alloc *alloc)
{
	memset(command, 0, sizeof(*command));
	command->alloc = alloc;
	command->fd = -1;
	rt_buf_init(&command->words, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&command->where, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&command->out, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&command->err, alloc, RT_BUF_UNLIMITED);
}

void
rt_command_process_deinit(rt_command_process *command)
{
	if (command->fd >= 0)
		(void)close(command->fd);
	rt_free(command->alloc, command->argv);
	rt_free(command->alloc, command->envp);
	rt_buf_deinit(&command->words);
	rt_buf_deinit(&command->where);
	rt_buf_deinit(&command->out);
	rt_buf_deinit(&command->err);
}

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

rt_status
rt_command_split(rt_str line, rt_buf *words, size_t *out_count, rt_error *err)
{
	const char *home = getenv("HOME");
	bool inside = false;
	char quote = 0;
	size_t i, count = 0;

	for (i = 0; i < line.size; i++) {
		char c = line.ptr[i];

		if (c == 0)
			return rt_fail(err, RT_USAGE, "a byte in it is 0, which no word can hold");
		if (quote == 0 && is_blank(c)) {
			if (inside)
				rt_buf_add_byte(words, '\0');
			inside = false;
			continue;
		}
		if (!inside && quote == 0 && c == '~' && home != NULL && i + 1 < line.size &&
		    line.ptr[i + 1] == '/') {
			rt_buf_add_c(words, home);
			inside = true;
			count++;
			continue;
		}
		count += !inside;
		inside = true;
		if (quote != 0 && c == quote) {
			quote = 0;
		} else if (quote == 0 && (c == '"' || c == '\'')) {
			quote = c;
		} else if (c == '\\' && quote != '\'' && i + 1 < line.size) {
			/* Between double quotes it is one itself, but before these two. */
			if (quote == '"' && line.ptr[i + 1] != '"' && line.ptr[i + 1] != '\\')
				rt_buf_add_byte(words, c);
			rt_buf_add_byte(words, line.ptr[++i]);
		} else {
			rt_buf_add_byte(words, c);
		}
	}
	if (quote != 0)
		return rt_fail(err, RT_USAGE, "the quote %c does not end", quote);
	if (inside)
		rt_buf_add_byte(words, '\0');
	*out_count = count;
	return words->status == RT_OK ? RT_OK : rt_fail(err, words->status, "out of memory");
}

/* What runs on, or needs a terminal of its own. */
static rt_status
check_verb(const rt_command *const *commands, const char *name, const rt_command *command,
	   rt_error *err)
{
	static const struct {
		const char *name, *why;
	} not_here[] = {
		{"tui", "you are in it"},
		{"chat", "you are in it: close this, and write"},
		{"serve", "it runs until it is stopped: start it in another terminal"},
	};
	const char *nearest;
	size_t i;

	for (i = 0; command != NULL && i < sizeof(not_here) / sizeof(not_here[0]); i++)
		if (strcmp(command->name, not_here[i].name) == 0)
			return rt_fail(err, RT_REFUSED, "%s is not for in here: %s", command->name,
				       not_here[i].why);
	if (command != NULL)
		return RT_OK;
	nearest = rt_command_nearest(commands, name);
	if (nearest != NULL)
		return rt_fail(err, RT_USAGE, "there is no command \"%.60s\"; is it %s?", name, nearest);
	return rt_fail(err, RT_USAGE, "there is no command \"%.60s\"", name);
}

/* Words with a NUL behind each. Flags may stand before the command, and what is wrong with them the
 * program says itself. */
static rt_status
check(const rt_alloc *alloc, const rt_command *const *commands, char *words, size_t count,
      rt_error *err)
{
	static char program[] = "retake";
	rt_args *args = rt_new0(alloc, sizeof(*args));
	char **argv = rt_new_array(alloc, count + 1, sizeof(*argv));
	rt_status st = rt_fail(err, RT_NOMEM, "out of memory");
	size_t i;

	if (args != NULL)
		args->words = rt_new_array(alloc, count + 1, sizeof(*args->words));
	if (args == NULL || argv == NULL || args->words == NULL)
		goto done;
	argv[0] = program;
	for (i = 1; i <= count; i++) {
		argv[i] = words;
		words += strlen(words) + 1;
	}
	st = rt_args_parse(commands, (int)count + 1, argv, args, NULL);
	if (args->verb != NULL)
		st = check_verb(commands, args->verb, args->command, err);
	else if (args->help || rt_args_value(args, "version") != NULL || st != RT_OK)
		st = RT_OK;
	else
		st = rt_fail(err, RT_USAGE, "there is no command in it");
done:
	if (args != NULL)
		rt_free(alloc, args->words);
	rt_free(alloc, args);
	rt_free(alloc, argv);
	return st;
}

static void
add_word(rt_command_process *command, const char *word)
{
	rt_buf_add(&command->words, word, strlen(word) + 1);
	command->count++;
}

/* The flags that say where. */
static void
add_place(rt_command_process *command, rt_work *work)
{
	const rt_session *session = work->session;
	rt_str project = rt_session_project(session);
	char number[16];
	rt_buf name;

	rt_buf_init(&name, command->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&name, project);
	rt_buf_add_byte(&name, '\0');
	if (name.status != RT_OK) {
		command->words.status = name.status;
		rt_buf_deinit(&name);
		return;
	}
	add_word(command, "retake");
	add_word(command, "--db");
	add_word(command, session->path.ptr);
	add_word(command, "--project");
	add_word(command, name.ptr);
	rt_buf_add_c(&command->where, " --db ");
	rt_args_add_quoted(&command->where, session->path.ptr);
	rt_buf_add_c(&command->where, " -p ");
	rt_args_add_quoted(&command->where, name.ptr);
	rt_buf_deinit(&name);
	/* Where one looks at what is active, a command may make something else active. */
	if (work->place.disc != work->value->active) {
		add_word(command, "--discussion");
		(void)snprintf(number, sizeof(number), "d%u", work->place.disc);
		add_word(command, number);
	}
	if (work->take->number != work->disc->active) {
		add_word(command, "--take");
		(void)snprintf(number, sizeof(number), "t%u", work->take->number);
		add_word(command, number);
	}
	if (work->read_only)
		add_word(command, "--read-only");
	add_word(command, "--no-input");
	add_word(command, "--no-color");
	add_word(command, "--no-pager");
}

static rt_status
make_argv(rt_command_process *command)
{
	size_t i, count = 0, kept = 0, name;
	char *p = command->words.ptr;

	while (environ != NULL && environ[count] != NULL)
		count++;
	command->argv = rt_new_array(command->alloc, command->count + 1, sizeof(*command->argv));
	command->envp = rt_new_array(command->alloc,
				     count + sizeof(settings) / sizeof(settings[0]),
				     sizeof(*command->envp));
	if (command->argv == NULL || command->envp == NULL)
		return RT_NOMEM;
	for (i = 0; i < command->count; i++) {
		command->argv[i] = p;
		p += strlen(p) + 1;
	}
	command->argv[i] = NULL;
	for (i = 0; i < count; i++) {
		bool is_set = false;

		for (name = 0; settings[name] != NULL; name++)
			is_set = is_set || strncmp(environ[i], settings[name],
						   strcspn(settings[name], "=") + 1) == 0;
		if (!is_set)
			command->envp[kept++] = environ[i];
	}
	for (name = 0; settings[name] != NULL; name++)
		command->envp[kept++] = (char *)(uintptr_t)settings[name];
	command->envp[kept] = NULL;
	return RT_OK;
}

rt_status
rt_command_process_make(rt_command_process *command, const rt_command *const *commands,
			rt_work *work, rt_str line, rt_error *err)
{
	const rt_session *session = work->session;
	size_t count = 0, skip = 0;
	rt_status st;
	rt_buf words;

	rt_buf_init(&words, command->alloc, RT_BUF_UNLIMITED);
	st = rt_command_split(line, &words, &count, err);
	if (st == RT_OK && count > 0 && strcmp(words.ptr, "retake") == 0) {
		skip = strlen(words.ptr) + 1;
		count--;
	}
	if (st == RT_OK && count == 0)
		st = rt_fail(err, RT_USAGE, "there is no command in it");
	if (st == RT_OK)
		st = check(command->alloc, commands, words.ptr + skip, count, err);
	if (st == RT_OK && (session->is_scratch || session->path.size == 0))
		st = rt_fail(err, RT_REFUSED,
			     "this store is in memory alone, where no other process can reach it");
	if (st != RT_OK)
		goto done;
	add_place(command, work);
	rt_buf_add(&command->words, words.ptr + skip, words.size - skip);
	command->count += count;
	st = command->words.status == RT_OK ? command->where.status : command->words.status;
	if (st == RT_OK)
		st = make_argv(command);
	if (st != RT_OK) {
		(void)rt_fail(err, st, "out of memory");
		goto done;
	}
	command->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (command->fd < 0)
		st = rt_fail(err, RT_IO, "this program cannot be found any more");
done:
	rt_buf_deinit(&words);
	return st;
}

rt_status
rt_command_process_run(rt_command_process *command, rt_stop_fn stop, void *ctx)
{
	rt_process_program program = {.fd = command->fd, .argv = command->argv,
				      .envp = command->envp};

	return rt_process_run(&program, rt_str_at(NULL, 0), LONGEST_MS, stop, ctx, &command->out,
			      &command->err, &command->result);
}

void
rt_command_process_add_said(const rt_command_process *command, rt_str output, rt_buf *text)
{
	rt_str where = rt_buf_str(&command->where);
	size_t from = 0, at;
	rt_buf left;

	rt_buf_init(&left, command->alloc, RT_BUF_UNLIMITED);
	while ((at = where.size == 0 ? SIZE_MAX : rt_str_find(output, where, from)) != SIZE_MAX) {
		rt_buf_add(&left, output.ptr + from, at - from);
		from = at + where.size;
	}
	if (from < output.size)
		rt_buf_add(&left, output.ptr + from, output.size - from);
	rt_utf8_repair(text, rt_buf_str(&left));
	if (left.status != RT_OK)
		text->status = left.status;
	rt_buf_deinit(&left);
}
