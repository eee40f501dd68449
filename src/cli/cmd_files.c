/* SPDX-License-Identifier: MIT
 *
 * files: the discussion's lists of files, and the files themselves in the form in which they would
 * be sent. */
#define _POSIX_C_SOURCE 200809L

#include "app/screen.h"
#include "cli/counting.h"
#include "view/view.h"

#include <string.h>
#include <unistd.h>

/* An item on one line: a string as its text, anything else as JSON. */
static void
print_item(rt_cli *cli, yyjson_val *value)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (yyjson_is_str(value))
		rt_buf_add_str(json, rt_json_str(value));
	else
		rt_json_add_value(json, value);
	rt_term_line(&cli->out, rt_scope_str(&cli->s, json));
	rt_term_c(&cli->out, "\n");
}

static const char *const file_lists[] = {"files", "context_files", "screenshots", NULL};

static bool
is_file_list(const char *word)
{
	return word != NULL && rt_str_is_one_of(rt_str_of(word), file_lists);
}

/* One of the lists: a member of the field "files", or a separate field. */
static yyjson_val *
file_list(rt_cli *cli, const char *which)
{
	rt_view view = rt_cli_view(cli);
	yyjson_val *inner = rt_json_get(rt_disc_field_value(&view, RT_STR("files")), which);

	return inner != NULL ? inner : rt_disc_field_value(&view, rt_str_of(which));
}

/* which NULL: all lists. */
static void
list_files(rt_cli *cli, const char *which)
{
	rt_buf *json = rt_scope_buf(&cli->s);
	size_t shown = 0;

	rt_json_open(json, NULL, '{');
	for (size_t i = 0; file_lists[i] != NULL; i++) {
		yyjson_val *items = file_list(cli, file_lists[i]);

		if ((which != NULL && strcmp(which, file_lists[i]) != 0) || !yyjson_is_arr(items))
			continue;
		rt_json_put_value(json, file_lists[i], items);
		shown += yyjson_arr_size(items);
		for (rt_json_iter it = rt_json_items(items); !cli->json && rt_json_next(&it);) {
			if (which == NULL)
				rt_term_f(&cli->out, "%-14s ", file_lists[i]);
			print_item(cli, it.value);
		}
	}
	rt_json_close(json, '}');
	if (cli->json)
		rt_cli_print_json(cli, json);
	else if (rt_ok(&cli->s) && shown == 0)
		rt_cli_advise(cli, "No files. To add some: retake files add FILE…\n");
}

/* ---- as they would be sent ---- */

/* "   812 bytes   210 tokens  src/a.c" */
static void
print_files(rt_cli *cli, const rt_next_request *r)
{
	rt_term *out = &cli->out;
	size_t tokens = 0;

	for (size_t i = 0; i < r->file_set->count; i++) {
		const rt_file *file = &r->file_set->files[i];

		tokens += r->file_tokens[i];
		rt_term_f(out, "%9zu bytes %8zu tokens  ", file->bytes.size, r->file_tokens[i]);
		rt_term_line(out, file->name);
		rt_term_c(out, file->mime.size > 0		? "  (image)"
			       : file->view == RT_FILE_OUTLINE ? "  (outline)"
			       : file->view == RT_FILE_NAME    ? "  (name only)"
							       : "");
		rt_term_c(out, "\n");
	}
	if (r->file_set->count > 0)
		rt_term_f(out, "%9zu bytes %8zu tokens  in %zu file%s\n", r->file_set->bytes, tokens,
			  r->file_set->count, RT_CLI_S(r->file_set->count));
	for (size_t i = 0; i < r->file_set->problem_count; i++) {
		rt_term_style(out, RT_STYLE_RED);
		rt_term_c(out, "cannot be sent: ");
		rt_term_style(out, RT_STYLE_NONE);
		rt_term_line(out, r->file_set->problems[i].message);
		rt_term_c(out, "\n");
	}
	if (r->file_set->problems_more > 0)
		rt_term_f(out, "and %zu further problems\n", r->file_set->problems_more);
	if (r->file_set->count + r->file_set->problem_count == 0)
		rt_cli_advise(cli, "No files. To add some: retake files add FILE…\n");
}

/* Reads the files and counts their tokens for the model that ask would choose. */
static void
show_files(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_buf *json = rt_scope_buf(s);

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;

	rt_next_request next = rt_cli_next_request(cli);

	rt_cli_counting_choose(cli, &next);
	rt_cli_counting_read_files(cli, &next);
	rt_cli_counting_build(cli, &next);
	if (!rt_ok(s))
		return;
	if (!cli->json) {
		print_files(cli, &next);
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_attach_put(json, next.file_set, next.file_tokens);
	rt_json_put_u64(json, "tokens", next.totals.file_tokens);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

/* ---- the lists ---- */

static bool
is_named(const rt_cli *cli, size_t from, rt_str item)
{
	for (size_t i = from; i < cli->args.word_count; i++)
		if (rt_str_is(item, rt_cli_word(cli, i)))
			return true;
	return false;
}

/* The new list: set replaces it by the words from this one on, add appends them, rm removes
 * them. */
static yyjson_val *
new_list(rt_cli *cli, const char *verb, const char *which, size_t from)
{
	rt_scope *s = &cli->s;
	rt_buf *json = rt_scope_buf(s);

	rt_json_open(json, NULL, '[');
	if (strcmp(verb, "set") != 0)
		for (rt_json_iter it = rt_json_items(file_list(cli, which)); rt_json_next(&it);)
			if (!is_named(cli, from, rt_json_str(it.value)))
				rt_json_put_value(json, NULL, it.value);
	if (strcmp(verb, "rm") != 0)
		for (size_t i = from; i < cli->args.word_count; i++)
			rt_json_put_c(json, NULL, rt_cli_word(cli, i));
	rt_json_close(json, ']');
	return rt_json_parse(s, rt_scope_str(s, json));
}

/* Is it a file rather than a misspelt list? */
static bool
is_path(const char *word)
{
	return strpbrk(word, "./*#:") != NULL || access(word, F_OK) == 0;
}

/* The first added file that does not exist here, as questions with it will be refused; NULL: none. */
static const char *
first_missing(rt_cli *cli, size_t from)
{
	for (size_t i = from; i < cli->args.word_count; i++) {
		const char *word = rt_cli_word(cli, i);
		rt_str path = rt_str_at(word, strcspn(word, "#:"));

		if (strpbrk(word, "*?[") == NULL && access(word, F_OK) != 0 && path.size > 0 &&
		    access(rt_scope_copy(&cli->s, path).ptr, F_OK) != 0)
			return word;
	}
	return NULL;
}

/* Changes a list by the words from this one on. */
static void
change_list(rt_cli *cli, const char *verb, const char *which, size_t from)
{
	size_t count = cli->args.word_count - from;
	rt_request request = {.op = RT_OP_FILES_SET,
			      .which = rt_str_of(which),
			      .items = new_list(cli, verb, which, from)};
	const rt_result *result = rt_cli_execute(cli, &request, 1);
	rt_buf *missing = rt_scope_buf(&cli->s);
	bool adds = strcmp(verb, "rm") != 0;
	const char *name = adds && rt_ok(&cli->s) ? first_missing(cli, from) : NULL;

	if (name != NULL && count == 1)
		rt_buf_add_c(missing, "; there is no such file");
	else if (name != NULL)
		rt_buf_add_f(missing, "; there is no %.200s", name);
	name = missing->size > 0 ? rt_scope_str(&cli->s, missing).ptr : "";
	if (strcmp(verb, "set") == 0)
		rt_cli_say_result(cli, result, "Changed the list \"%s\"%s.", which, name);
	else if (count == 1)
		rt_cli_say_result(cli, result, "%s %.200s %s %s%s.", adds ? "Added" : "Removed",
				  rt_cli_word(cli, from), adds ? "to" : "from", which, name);
	else
		rt_cli_say_result(cli, result, "%s %zu items %s %s%s.", adds ? "Added" : "Removed",
				  count, adds ? "to" : "from", which, name);
}

static void
run_files(rt_cli *cli)
{
	static const char *const verbs[] = {"set", "add", "rm", NULL};
	const char *verb = rt_cli_word(cli, 0), *which = rt_cli_word(cli, 1);
	size_t from = 2;

	/* Only set, which replaces a list, requires its name. */
	if (which != NULL && !is_file_list(which) && is_path(which) &&
	    (strcmp(verb, "add") == 0 || strcmp(verb, "rm") == 0)) {
		which = "context_files";
		from = 1;
	}

	if (verb != NULL && strcmp(verb, "show") == 0 && which == NULL) {
		show_files(cli);
	} else if (verb == NULL || (is_file_list(verb) && which == NULL)) {
		if (rt_cli_open(cli, RT_SESSION_LOOK))
			list_files(cli, verb);
	} else if (!rt_str_is_one_of(rt_str_of(verb), verbs)) {
		rt_cli_fail(cli, RT_USAGE,
			    "files has no subcommand \"%.40s\"; use show, set, add or rm", verb);
	} else if (!is_file_list(which)) {
		rt_cli_fail(cli, RT_USAGE,
			    "files %s needs a list: files, context_files or "
			    "screenshots",
			    verb);
	} else if (rt_cli_open(cli, RT_SESSION_CHANGE)) {
		change_list(cli, verb, which, from);
	}
}

const rt_command rt_cli_files = {
	.name = "files",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[files | context_files | screenshots]\n"
		 "add|rm [LIST] FILE…\nset LIST FILE…\nshow",
	.summary = "show or change the discussion's lists of files",
	.about =
		"There are three lists: files, context_files and screenshots. Changes to the lists "
		"can be undone. Without a LIST, add and rm change context_files. When a question "
		"is asked, the files are read (only below the working directory) and sent before "
		"the conversation. An item is a file, a directory, a glob (\"src/*.c\"), lines of "
		"a file (src/a.c:10-20) or a symbol in it (src/a.c#name). show reads the files now "
		"and lists their sizes, their tokens, and those that cannot be sent. While a file "
		"cannot be sent, questions are refused unless --no-files is given.",
	.examples = "retake files\nretake files add context_files src/main.c 'docs/*.md'\n"
		    "retake files add screenshots shot.png\nretake files show",
	.ops = "files.set",
	.kinds = {RT_ARG_TEXT, RT_ARG_TEXT, RT_ARG_FILE},
	.run = run_files,
};

