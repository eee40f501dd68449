/* SPDX-License-Identifier: MIT
 *
 * From the command line to a command, and from its status to messages and exit code. */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/help.h"
#include "app/screen.h"
#include "codec/content.h"

rt_status
rt_cli_fail(rt_cli *cli, rt_status status, const char *format, ...)
{
	va_list ap;

	cli->error.status = status;
	cli->error.has_at = 0;
	cli->error.line = 0;
	va_start(ap, format);
	vsnprintf(cli->error.text, sizeof(cli->error.text), format, ap);
	va_end(ap);
	return status;
}

rt_status
rt_cli_hint(rt_cli *cli, rt_status status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(cli->hint, sizeof(cli->hint), format, ap);
	va_end(ap);
	return status;
}

rt_status
rt_cli_keep(rt_cli *cli, rt_status status, const char *path)
{
	snprintf(cli->kept, sizeof(cli->kept), "%s", path);
	return status;
}

rt_status
rt_cli_nomem(rt_cli *cli)
{
	return rt_cli_fail(cli, RT_NOMEM, "out of memory");
}

bool
rt_cli_short_of_memory(const rt_cli *cli)
{
	return atomic_load(&cli->memory.short_of);
}

rt_status
rt_cli_buf(rt_cli *cli, const rt_buf *buf)
{
	if (buf->status == RT_OK)
		return RT_OK;
	if (buf->status == RT_NOMEM)
		return rt_cli_nomem(cli);
	return rt_cli_fail(cli, buf->status, "that is more than the limit of %zu bytes",
			   buf->limit);
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
	char text[1024];
	va_list ap;
	rt_buf buf;

	if (cli->quiet)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
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
	rt_buf line, hint, advice;
	char text[1024];
	va_list ap;

	if (cli->changed)
		rt_cli_say_made(cli);
	va_start(ap, next);
	vsnprintf(text, sizeof(text), next, ap);
	va_end(ap);
	rt_buf_init(&line, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&hint, cli->alloc, RT_BUF_UNLIMITED);
	rt_screen_add_line(&line, message);
	rt_buf_init(&advice, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_add_advice(cli, &advice, rt_str_of(text));
	rt_screen_add_line(&hint, rt_buf_str(&advice));
	rt_buf_deinit(&advice);
	if (out->columns > 0 &&
	    rt_screen_width(rt_buf_str(&line)) + rt_screen_width(rt_buf_str(&hint)) + 3 >
		    out->columns) {
		rt_term_indented(out, rt_buf_str(&line), 0);
		rt_term_c(out, "  ");
	} else {
		rt_term_text(out, rt_buf_str(&line));
		rt_term_c(out, "   ");
	}
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_text(out, rt_buf_str(&hint));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
	rt_buf_deinit(&line);
	rt_buf_deinit(&hint);
}

rt_status
rt_cli_confirm(rt_cli *cli, const char *question)
{
	char answer[16];

	if (rt_cli_has(cli, "yes"))
		return RT_OK;
	if (cli->no_input || !rt_host_can_ask()) {
		rt_cli_hint(cli, RT_USAGE, "Add --yes if that is what you want.");
		return rt_cli_fail(cli, RT_USAGE, "%s needs --yes when nobody can be asked",
				   cli->args.command->name);
	}
	rt_term_c(&cli->err, question);
	rt_term_c(&cli->err, " [y/N] ");
	rt_term_flush(&cli->err);
	if (rt_host_ask(answer, sizeof(answer)) && (answer[0] == 'y' || answer[0] == 'Y'))
		return RT_OK;
	rt_cli_hint(cli, RT_REFUSED, "Nothing was changed.");
	return rt_cli_fail(cli, RT_REFUSED, "not confirmed");
}

/* --- the command line --- */

bool
rt_cli_has(const rt_cli *cli, const char *flag)
{
	return rt_cli_args_value(&cli->args, flag) != NULL;
}

const char *
rt_cli_flag_value(const rt_cli *cli, const char *flag)
{
	return rt_cli_args_value(&cli->args, flag);
}

const char *
rt_cli_word(const rt_cli *cli, size_t index)
{
	return index < cli->args.word_count ? cli->args.words[index] : NULL;
}

rt_status
rt_cli_number(rt_cli *cli, const char *text, const char *what, uint64_t *out)
{
	uint64_t number = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (number > (UINT64_MAX - 9) / 10)
			break;
		number = number * 10 + (uint64_t)(*p - '0');
	}
	if (p == text || *p != 0)
		return rt_cli_fail(cli, RT_USAGE, "\"%s\" is not a whole number (%s)", text, what);
	*out = number;
	return RT_OK;
}

rt_status
rt_cli_text(rt_cli *cli, size_t index, rt_buf *out, bool *out_given)
{
	const char *file = rt_cli_flag_value(cli, "file"), *word = rt_cli_word(cli, index);
	size_t valid;
	rt_status st;

	*out_given = false;
	if (file != NULL && word != NULL)
		return rt_cli_fail(cli, RT_USAGE,
				   "there is both a text (\"%.40s\") and a file (%s)", word, file);
	if (cli->args.word_count > index + 1) {
		rt_cli_hint(cli, RT_USAGE, "Put the text in quotes.");
		return rt_cli_fail(cli, RT_USAGE, "\"%.40s\" is one word too many",
				   rt_cli_word(cli, index + 1));
	}
	if (file == NULL && word == NULL)
		return RT_OK;
	*out_given = true;
	if (word != NULL && strcmp(word, "-") != 0) {
		rt_buf_add_c(out, word);
	} else {
		st = rt_cli_read_file(cli, file != NULL ? file : "-", out);
		if (st != RT_OK)
			return st;
		if (!rt_cli_has(cli, "exact") && out->size > 0 && out->ptr[out->size - 1] == '\n') {
			out->size--;
			if (out->size > 0 && out->ptr[out->size - 1] == '\r')
				out->size--;
		}
	}
	valid = rt_utf8_valid_size(rt_buf_str(out));
	if (valid != out->size)
		return rt_cli_fail(cli, RT_USAGE, "the text is not UTF-8 (at byte %zu)", valid);
	return rt_cli_buf(cli, out);
}

void
rt_cli_add_quoted(rt_buf *buf, const char *word)
{
	const char *p;
	bool plain = *word != 0;

	for (p = word; *p != 0 && plain; p++)
		plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			(*p >= '0' && *p <= '9') || strchr("_-./:@,+=%", *p) != NULL;
	if (plain) {
		rt_buf_add_c(buf, word);
		return;
	}
	rt_buf_add_byte(buf, '\'');
	for (p = word; *p != 0; p++) {
		if (*p == '\'')
			rt_buf_add_c(buf, "'\\''");
		else
			rt_buf_add_byte(buf, *p);
	}
	rt_buf_add_byte(buf, '\'');
}

enum { STORE = 1, PROJECT = 2, DISCUSSION = 3 };

/* "retake" with the first so many of the flags that say where. */
static void
add_retake(const rt_cli *cli, rt_buf *buf, size_t count)
{
	static const char *const names[] = {"db", "project", "discussion"};
	static const char *const flags[] = {"--db", "-p", "-d"};
	size_t i;

	rt_buf_add_c(buf, "retake");
	for (i = 0; i < count; i++) {
		const char *value = rt_cli_flag_value(cli, names[i]);

		if (value == NULL)
			continue;
		rt_buf_add_f(buf, " %s ", flags[i]);
		rt_cli_add_quoted(buf, value);
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

/* How many of these flags the command behind "retake " is to be given. */
static size_t
flags_wanted(rt_str rest)
{
	const rt_cli_command *command;
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
	command = rt_cli_command_named(word);
	if (command == NULL || command->group == RT_CLI_LEARNING)
		return 0;
	if (command->group == RT_CLI_MAINTENANCE || strcmp(command->name, "projects") == 0 ||
	    rt_str_starts(rest, RT_STR("serve --login"))) /* a link into any project */
		return STORE;
	return command->group == RT_CLI_CATALOGUE ? PROJECT : DISCUSSION;
}

void
rt_cli_add_advice(const rt_cli *cli, rt_buf *buf, rt_str text)
{
	rt_str name = RT_STR("retake "), usage = RT_STR("Usage: ");
	size_t at = 0, next;

	while ((next = rt_str_find(text, name, at)) != SIZE_MAX) {
		size_t behind = next + name.size;
		bool is_word = next == 0 || text.ptr[next - 1] == ' ' || text.ptr[next - 1] == '(';
		bool is_usage = next >= usage.size &&
				rt_str_eq(rt_str_at(text.ptr + next - usage.size, usage.size), usage);

		rt_buf_add(buf, text.ptr + at, next - at);
		if (is_word && !is_usage)
			add_retake(cli, buf,
				   flags_wanted(rt_str_at(text.ptr + behind, text.size - behind)));
		else
			rt_buf_add_c(buf, "retake");
		rt_buf_add_byte(buf, ' ');
		at = behind;
	}
	if (at < text.size) /* an empty text may have no pointer to count from */
		rt_buf_add(buf, text.ptr + at, text.size - at);
}

void
rt_cli_advise(rt_cli *cli, const char *format, ...)
{
	char text[1024];
	va_list ap;
	rt_buf buf;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_add_advice(cli, &buf, rt_str_of(text));
	rt_term_text(&cli->out, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
}

rt_style
rt_cli_role_style(rt_str role)
{
	if (rt_str_eq_nocase(role, RT_STR("user")))
		return RT_STYLE_CYAN;
	if (rt_str_eq_nocase(role, RT_STR("ai")) || rt_str_eq_nocase(role, RT_STR("assistant")))
		return RT_STYLE_GREEN;
	if (rt_str_eq_nocase(role, RT_STR("system")))
		return RT_STYLE_YELLOW;
	return RT_STYLE_MAGENTA;
}

void
rt_cli_add_content(rt_buf *buf, yyjson_val *entry)
{
	rt_content content = rt_content_of(rt_json_get(entry, "content"));
	rt_buf brief;

	rt_content_add_text(buf, content);
	rt_buf_init(&brief, buf->alloc, RT_BUF_UNLIMITED);
	rt_content_add_brief(&brief, content, rt_json_get(entry, "tool_calls"),
			     rt_json_get(entry, "pi"));
	if (buf->size > 0 && brief.size > 0)
		rt_buf_add_byte(buf, '\n');
	rt_buf_add_str(buf, rt_buf_str(&brief));
	if (brief.status != RT_OK)
		buf->status = brief.status;
	rt_buf_deinit(&brief);
}

/* --- failures, said --- */

static bool
takes_entries(const rt_cli_command *command)
{
	const rt_cli_flag *flag;
	size_t i;

	for (i = 0; i < RT_CLI_KINDS; i++)
		if (command->kinds[i] == RT_CLI_ENTRY)
			return true;
	for (flag = command->flags; flag != NULL && flag->name != NULL; flag++)
		if (flag->kind == RT_CLI_ENTRY)
			return true;
	return false;
}

static void
usual_hint(rt_cli *cli, rt_status status, rt_buf *out)
{
	const rt_cli_command *command = cli->args.command;

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
		rt_buf_add_c(out, "Type more of the id, or a position such as :4. Entries: retake show");
		break;
	case RT_REFUSED:
		rt_buf_add_c(out, "What happened so far: retake history");
		break;
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

/* Without memory, and so without anybody's help. */
static void
say_plainly(int fd, const char *text)
{
	(void)!write(fd, text, strlen(text));
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
	rt_json_add_string(&buf, rt_str_at(cli->error.text,
					   rt_utf8_valid_size(rt_str_of(cli->error.text))));
	if (cli->question[0] != 0) {
		rt_json_add_key(&buf, "question");
		rt_json_add_string(&buf, rt_str_of(cli->question));
	}
	rt_buf_add_c(&buf, "}}\n");
	rt_term_json(&cli->out, rt_buf_str(&buf));
	rt_term_flush(&cli->out);
	if (buf.status == RT_NOMEM || cli->out.error == ENOMEM)
		say_plainly(cli->out.fd, "{\"error\":{\"code\":\"out_of_memory\","
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
		if (cli->hint[0] == 0 &&
		    rt_str_find(rt_buf_str(hint), rt_str_of(command), 0) == SIZE_MAX) {
			rt_buf_clear(hint);
			rt_buf_add_f(hint, "See: %s", command);
		}
		*cut = 0;
		return;
	}
}

static void
report(rt_cli *cli, rt_status status)
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
	if (cli->hint[0] != 0)
		rt_buf_add_c(&buf, cli->hint);
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
	if (cli->kept[0] != 0 && strstr(cli->hint, cli->kept) == NULL) {
		rt_term_c(&cli->err, "  Your text is kept in ");
		rt_term_line(&cli->err, rt_str_of(cli->kept));
		rt_term_c(&cli->err, "\n");
	}
	rt_buf_deinit(&advice);
	rt_buf_deinit(&buf);
	rt_term_flush(&cli->err);
}

/* --- dispatch --- */

/* The words of the line as one text for a shell, in quotes; dots for what cannot stand there
 * as it is. */
static void
quote_words(const rt_cli_args *args, char *out, size_t room)
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
	const char *verb = cli->args.verb, *near = rt_cli_command_nearest(verb, false);
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
		rt_cli_hint(cli, RT_USAGE,
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
	const rt_cli_command *command = cli->args.command;
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
			 command->kinds[cli->args.word_count] == RT_CLI_STEP
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
	const rt_cli_command *command = cli->args.command;
	size_t count = cli->args.word_count;

	if (count < (size_t)command->min_words)
		return lacks_words(cli);
	if (command->max_words != RT_CLI_WORDS_ANY && count > (size_t)command->max_words)
		return rt_cli_fail(cli, RT_USAGE, "%s: \"%.60s\" is one word too many",
				   command->name, cli->args.words[command->max_words]);
	if (rt_cli_has(cli, "at-op") && !(command->traits & RT_CLI_AT_OP))
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
		cli->args.command = rt_cli_command_named("tui");
	else if (cli->args.command == NULL && is_person(cli))
		rt_term_c(&cli->out, "This terminal cannot show the screens of Retake, as its TERM "
				     "says.\nretake chat talks line by line.\n\n");
	if (cli->args.command == NULL)
		return rt_cli_help_welcome(cli);
	st = check_words(cli);
	return st != RT_OK ? st : cli->args.command->run(cli);
}

/* --- memory --- */

static void *
memory_resize(void *ctx, void *ptr, size_t size)
{
	rt_cli_memory *memory = ctx;
	void *out = rt_resize(rt_alloc_libc(), ptr, size);

	if (out == NULL)
		atomic_store(&memory->short_of, true);
	return out;
}

static void
memory_release(void *ctx, void *ptr)
{
	const rt_cli_memory *memory = ctx;

	if (memory->wipes && ptr != NULL)
		rt_host_memory_wipe(ptr);
	rt_free(rt_alloc_libc(), ptr);
}

static void
memory_init(rt_cli_memory *memory)
{
	memory->alloc.resize = memory_resize;
	memory->alloc.release = memory_release;
	memory->alloc.ctx = memory;
	atomic_init(&memory->short_of, false);
}

int
rt_cli_main(int argc, char **argv)
{
	rt_cli cli;
	rt_status st, parsed;
	int code;

	memset(&cli, 0, sizeof(cli));
	memory_init(&cli.memory);
	cli.alloc = &cli.memory.alloc;
	cli.env = rt_host_env();
	cli.exit_code = -1;
	rt_host_no_core();
	rt_host_signals();
	rt_buf_init(&cli.path, cli.alloc, RT_BUF_UNLIMITED);
	cli.args.words = rt_new_array(cli.alloc, (size_t)argc + 1, sizeof(*cli.args.words));
	if (cli.args.words == NULL) {
		say_plainly(STDERR_FILENO, "retake: out of memory\n");
		return rt_status_exit_code(RT_NOMEM);
	}
	parsed = rt_cli_args_parse(argc, argv, &cli.args, &cli.error);
	cli.json = rt_cli_has(&cli, "json");
	cli.quiet = rt_cli_has(&cli, "quiet");
	cli.verbose = rt_cli_has(&cli, "verbose");
	cli.no_input = rt_cli_has(&cli, "no-input");
	rt_term_init(&cli.out, cli.alloc, STDOUT_FILENO, rt_cli_has(&cli, "no-color"));
	rt_term_init(&cli.err, cli.alloc, STDERR_FILENO, rt_cli_has(&cli, "no-color"));
	st = rt_term_reserve(&cli.err);
	st = st == RT_OK ? dispatch(&cli, parsed) : rt_cli_nomem(&cli);
	if (st != RT_OK)
		report(&cli, st);
	code = cli.exit_code >= 0 ? cli.exit_code : rt_status_exit_code(st);
	rt_cli_close(&cli);
	rt_cli_end_made(&cli, code != 0);
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
		say_plainly(STDERR_FILENO, "retake: out of memory\n");
	rt_term_deinit(&cli.out);
	rt_term_deinit(&cli.err);
	rt_free(cli.alloc, cli.args.words);
	rt_buf_deinit(&cli.path);
	return code;
}
