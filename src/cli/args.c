/* SPDX-License-Identifier: MIT
 *
 * Two walks over the command line: one to find the verb, which says what flags there
 * are, and one to take everything apart. */
#include "cli/args.h"

#include "cli/command.h"

const rt_cli_flag rt_cli_globals[] = {
	{"db", 0, "FILE", RT_CLI_FILE, "the store to work on (environment: RETAKE_DB)"},
	{"project", 'p', "PROJECT", RT_CLI_PROJECT, "the project in it (RETAKE_PROJECT)"},
	{"discussion", 'd', "NAME", RT_CLI_DISC, "work on this discussion, not the active one"},
	{"take", 0, "NAME", RT_CLI_TAKE, "work on this take, not the active one"},
	{"at-op", 0, "N", RT_CLI_STEP, "look at the state right after step N"},
	{"json", 0, NULL, RT_CLI_TEXT, "print one JSON document"},
	{"quiet", 'q', NULL, RT_CLI_TEXT, "say nothing when all went well"},
	{"verbose", 'v', NULL, RT_CLI_TEXT, "say more"},
	{"no-input", 0, NULL, RT_CLI_TEXT, "never ask, never open an editor"},
	{"no-color", 0, NULL, RT_CLI_TEXT, "no colours (NO_COLOR)"},
	{"no-pager", 0, NULL, RT_CLI_TEXT, "do not page long output (PAGER)"},
	{"read-only", 0, NULL, RT_CLI_TEXT, "refuse to change anything"},
	{"relaxed", 0, NULL, RT_CLI_TEXT,
	 "do not wait for the disk: a power cut may take the last seconds"},
	{"help", 'h', NULL, RT_CLI_TEXT, "explain the command"},
	{"version", 0, NULL, RT_CLI_TEXT, "print the version"},
	{NULL, 0, NULL, RT_CLI_TEXT, NULL},
};

size_t
rt_cli_distance(const char *a, const char *b)
{
	return rt_str_distance(rt_str_of(a), rt_str_of(b));
}

bool
rt_cli_is_near(size_t distance, size_t size)
{
	return distance < size && distance <= (size < 6 ? 1 : size / 3);
}

static const rt_cli_flag *
flag_in(const rt_cli_flag *flags, const char *name, size_t size, char letter)
{
	for (; flags != NULL && flags->name != NULL; flags++)
		if (letter != 0
			    ? flags->letter == letter
			    : strlen(flags->name) == size && memcmp(flags->name, name, size) == 0)
			return flags;
	return NULL;
}

/* A command's own flags go before the global ones. */
static const rt_cli_flag *
flag_named(const rt_cli_command *command, const char *name, size_t size, char letter)
{
	const rt_cli_flag *flag = NULL;

	if (command != NULL)
		flag = flag_in(command->flags, name, size, letter);
	return flag != NULL ? flag : flag_in(rt_cli_globals, name, size, letter);
}

static bool
is_flag(const char *word)
{
	return word[0] == '-' && word[1] != 0;
}

/* -0.5 and the like, where the command's words may be numbers. */
static bool
is_number(const rt_cli_command *command, const char *word)
{
	return command != NULL && (command->traits & RT_CLI_NUMBERS) != 0 && word[0] == '-' &&
	       (word[1] == '.' || (word[1] >= '0' && word[1] <= '9')) &&
	       strspn(word + 1, "0123456789.eE+-") == strlen(word + 1);
}

/* Does this word take the next one as its value? */
static bool
takes_next(const rt_cli_command *command, const char *word)
{
	const rt_cli_flag *flag;
	size_t i;

	if (word[1] == '-') {
		flag = flag_named(command, word + 2, strcspn(word + 2, "="), 0);
		return flag != NULL && flag->value != NULL && strchr(word, '=') == NULL;
	}
	for (i = 1; word[i] != 0; i++) {
		flag = flag_named(command, NULL, 0, word[i]);
		if (flag != NULL && flag->value != NULL)
			return word[i + 1] == 0;
	}
	return false;
}

static int
find_verb(int argc, char *const *argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return i + 1 < argc ? i + 1 : 0;
		if (!is_flag(argv[i]))
			return i;
		if (takes_next(NULL, argv[i]))
			i++;
	}
	return 0;
}

static const char *
nearest_flag(const rt_cli_command *command, const char *name, size_t size)
{
	const rt_cli_flag *lists[2] = {command == NULL ? NULL : command->flags, rt_cli_globals};
	const char *found = NULL;
	size_t best = SIZE_MAX, i, d;
	char word[64];

	if (size >= sizeof(word))
		return NULL;
	memcpy(word, name, size);
	word[size] = 0;
	for (i = 0; i < 2; i++) {
		const rt_cli_flag *flag;

		for (flag = lists[i]; flag != NULL && flag->name != NULL; flag++) {
			d = rt_cli_distance(word, flag->name);
			if (flag->about != NULL && d < best) {
				best = d;
				found = flag->name;
			}
		}
	}
	return rt_cli_is_near(best, size) ? found : NULL;
}

static rt_status
unknown_flag(const rt_cli_command *command, const char *name, size_t size, rt_error *err)
{
	const char *near = nearest_flag(command, name, size);
	const char *verb = command == NULL ? "retake" : command->name;

	if (near != NULL)
		return rt_fail(err, RT_USAGE, "%s knows no flag \"--%.*s\"; did you mean --%s?",
			       verb, (int)size, name, near);
	return rt_fail(err, RT_USAGE, "%s knows no flag \"--%.*s\"", verb, (int)size, name);
}

static rt_status
give(rt_cli_args *out, const rt_cli_flag *flag, const char *value, const char *glued,
     rt_error *err)
{
	if (out->given_count == RT_CLI_GIVEN_MAX)
		return rt_fail(err, RT_USAGE, "more than %d flags", (int)RT_CLI_GIVEN_MAX);
	out->given[out->given_count++] = (rt_cli_given){flag, value, glued};
	return RT_OK;
}

/* --name, --name=value, --name value. next is NULL at the end of the line. */
static rt_status
parse_long(rt_cli_args *out, const char *word, const char *next, bool *out_used, rt_error *err)
{
	const char *name = word + 2;
	size_t size = strcspn(name, "=");
	const rt_cli_flag *flag = flag_named(out->command, name, size, 0);

	if (flag == NULL)
		return unknown_flag(out->command, name, size, err);
	if (flag->value == NULL) {
		if (name[size] == '=')
			return rt_fail(err, RT_USAGE, "--%s takes no value", flag->name);
		return give(out, flag, "", NULL, err);
	}
	if (name[size] == '=')
		return give(out, flag, name + size + 1, NULL, err);
	if (next == NULL)
		return rt_fail(err, RT_USAGE, "--%s needs a value: --%s %s", flag->name, flag->name,
			       flag->value);
	*out_used = true;
	return give(out, flag, next, NULL, err);
}

/* -abc, -oVALUE, -o VALUE. */
static rt_status
parse_short(rt_cli_args *out, const char *word, const char *next, bool *out_used, rt_error *err)
{
	size_t i;

	for (i = 1; word[i] != 0; i++) {
		const rt_cli_flag *flag = flag_named(out->command, NULL, 0, word[i]);
		rt_status st;

		if (flag == NULL)
			return rt_fail(
				err, RT_USAGE, "%s knows no flag \"-%c\"%s",
				out->command == NULL ? "retake" : out->command->name, word[i],
				word[i] >= '0' && word[i] <= '9' ? "; a position is written :-1"
								 : "");
		if (flag->value == NULL) {
			st = give(out, flag, "", NULL, err);
			if (st != RT_OK)
				return st;
			continue;
		}
		if (word[i + 1] != 0)
			return give(out, flag, word + i + 1, word, err);
		if (next == NULL)
			return rt_fail(err, RT_USAGE, "-%c needs a value: -%c %s", flag->letter,
				       flag->letter, flag->value);
		*out_used = true;
		return give(out, flag, next, NULL, err);
	}
	return RT_OK;
}

rt_status
rt_cli_args_parse(int argc, char *const *argv, rt_cli_args *out, rt_error *err)
{
	int verb = find_verb(argc, argv), i;
	rt_status st = RT_OK, first = RT_OK;
	bool ended = false;

	out->verb = verb == 0 ? NULL : argv[verb];
	out->command = out->verb == NULL ? NULL : rt_cli_command_named(out->verb);
	if (out->command == NULL && out->verb != NULL && strpbrk(out->verb, " \t\n?") != NULL) {
		out->command = rt_cli_command_named("ask"); /* several words are a question */
		out->verb = "ask";
		verb = 0;
	}
	for (i = 1; i < argc; i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		bool used = false;

		if (ended || !is_flag(argv[i]) || is_number(out->command, argv[i])) {
			if (i != verb)
				out->words[out->word_count++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			ended = true;
			continue;
		}
		if (argv[i][1] == '-')
			st = parse_long(out, argv[i], next, &used, first == RT_OK ? err : NULL);
		else
			st = parse_short(out, argv[i], next, &used, first == RT_OK ? err : NULL);
		if (first == RT_OK)
			first = st;
		i += used;
	}
	out->help = rt_cli_args_value(out, "help") != NULL;
	return first;
}

const char *
rt_cli_args_value(const rt_cli_args *args, const char *name)
{
	size_t i;

	for (i = args->given_count; i > 0; i--)
		if (strcmp(args->given[i - 1].flag->name, name) == 0)
			return args->given[i - 1].value;
	return NULL;
}

const char *
rt_cli_args_glued(const rt_cli_args *args, const char *name)
{
	size_t i;

	for (i = args->given_count; i > 0; i--)
		if (strcmp(args->given[i - 1].flag->name, name) == 0)
			return args->given[i - 1].glued;
	return NULL;
}
