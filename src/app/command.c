/* SPDX-License-Identifier: MIT */
#include "app/command.h"

#include <stdio.h>
#include <string.h>

const char *const rt_command_group_names[RT_COMMAND_GROUP_COUNT] = {
	[RT_COMMANDS_ASKING] = "Asking models",
	[RT_COMMANDS_LOOKING] = "Viewing",
	[RT_COMMANDS_WRITING] = "Writing",
	[RT_COMMANDS_BRANCHING] = "Takes and tree",
	[RT_COMMANDS_UNDOING] = "History",
	[RT_COMMANDS_CATALOGUE] = "Discussions and projects",
	[RT_COMMANDS_SETTINGS] = "Prompt and settings",
	[RT_COMMANDS_FILES] = "Import and export",
	[RT_COMMANDS_MAINTENANCE] = "Maintenance",
	[RT_COMMANDS_LEARNING] = "Getting started",
};

const rt_command *
rt_command_named(const rt_command *const *commands, const char *name)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		const rt_command *c = commands[i];

		if (strcmp(c->name, name) == 0 || (c->alias != NULL && strcmp(c->alias, name) == 0))
			return c;
	}
	return NULL;
}

const char *
rt_command_nearest(const rt_command *const *commands, const char *name)
{
	const char *found = NULL;
	size_t nearest = SIZE_MAX;

	for (size_t i = 0; commands[i] != NULL; i++) {
		size_t distance = rt_args_distance(name, commands[i]->name);

		if (!(commands[i]->traits & RT_COMMAND_HIDDEN) && distance < nearest) {
			nearest = distance;
			found = commands[i]->name;
		}
	}
	return rt_args_is_near(nearest, strlen(name)) ? found : NULL;
}

/* The letters of a word of the usage. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyz_-";

/* Is the word one of the literal words that a form begins with? */
static bool
begins_with(rt_str form, rt_str word)
{
	rt_str rest = rt_str_skip(form, rt_str_starts(form, RT_STR("[")));

	for (;;) {
		size_t size = 0;

		while (size < rest.size && memchr(letters, rest.ptr[size], sizeof(letters) - 1) != NULL)
			size++;
		if (size > 0 && rt_str_eq(rt_str_at(rest.ptr, size), word))
			return size == rest.size || memchr(" |]", rest.ptr[size], 3) != NULL;
		rest = rt_str_skip(rest, size);
		if (size > 0 && rt_str_starts(rest, RT_STR("|")))
			rest = rt_str_skip(rest, 1);
		else if (size > 0 && rt_str_starts(rest, RT_STR(" | ")))
			rest = rt_str_skip(rest, 3);
		else
			return false;
	}
}

/* Does a form contain the flag, in its long or short form? */
static bool
has_flag(rt_str form, const rt_flag *flag)
{
	char texts[2][40] = {"", ""};

	(void)snprintf(texts[0], sizeof(texts[0]), "--%s", flag->name);
	if (flag->letter != 0)
		(void)snprintf(texts[1], sizeof(texts[1]), "-%c", flag->letter);
	for (size_t i = 0; i < 2 && texts[i][0] != 0; i++) {
		rt_str text = rt_str_of(texts[i]);

		for (size_t at = 0; (at = rt_str_find(form, text, at)) != SIZE_MAX; at++) {
			size_t end = at + text.size;
			bool is_begun = at == 0 || memchr(letters, form.ptr[at - 1], sizeof(letters) - 1) == NULL;

			if (is_begun && (end == form.size || memchr(letters, form.ptr[end], sizeof(letters) - 1) == NULL))
				return true;
		}
	}
	return false;
}

/* The number of given flags in a form; a first word counts more. */
static size_t
similarity(rt_str form, const rt_args *args)
{
	size_t score = args->word_count > 0 && begins_with(form, rt_str_of(args->words[0])) ? RT_ARGS_GIVEN_MAX + 1 : 0;

	for (size_t i = 0; i < args->given_count; i++)
		score += has_flag(form, args->given[i].flag);
	return score;
}

size_t
rt_command_form(const rt_command *command, const char *word, rt_str *out)
{
	rt_str rest = rt_str_of(command->usage);

	for (size_t i = 0; rt_str_split(&rest, '\n', out); i++)
		if (begins_with(*out, rt_str_of(word)))
			return i;
	return SIZE_MAX;
}

void
rt_command_add_usage(const rt_command *command, const rt_args *args, rt_buf *out)
{
	enum { SIZE_MOST = 110 }; /* of all forms */
	rt_str rest = rt_str_of(command->usage), form;
	size_t best = 0, size = 0;

	while (rt_str_split(&rest, '\n', &form)) {
		size_t score = similarity(form, args);

		best = score > best ? score : best;
	}
	rt_buf_add_f(out, "Usage: retake %s", command->name);
	rest = rt_str_of(command->usage);
	while (rt_str_split(&rest, '\n', &form)) {
		if (form.size == 0 || similarity(form, args) < best)
			continue;
		if (size > 0 && size + form.size > SIZE_MOST) {
			rt_buf_add_c(out, " | …");
			break;
		}
		rt_buf_add_f(out, "%s%.*s", size > 0 ? " | " : " ", RT_STR_ARG(form));
		size += form.size + 3;
	}
	rt_buf_add_f(out, "   More: retake help %s", command->name);
}
