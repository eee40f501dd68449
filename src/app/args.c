/* SPDX-License-Identifier: MIT
 *
 * Two passes over the command line: one finds the verb, which decides what flags there are; the
 * other parses everything. */
#include "app/args.h"

#include "app/command.h"

const rt_flag rt_global_flags[] = {
	{"db", 0, "FILE", RT_ARG_FILE, "the store to work on: a file, or postgresql://… (environment: RETAKE_DB)"},
	{"project", 'p', "PROJECT", RT_ARG_PROJECT, "the project in the store (RETAKE_PROJECT)"},
	{"discussion", 'd', "NAME", RT_ARG_DISC, "work on this discussion: its name, id or title, or the beginning "
					      "of one"},
	{"take", 0, "NAME", RT_ARG_TAKE, "work on this take, not the active one"},
	{"at-step", 0, "N", RT_ARG_STEP, "show the state right after step N"},
	{"json", 0, NULL, RT_ARG_TEXT, "print one JSON document"},
	{"quiet", 'q', NULL, RT_ARG_TEXT, "print only requested data and errors"},
	{"verbose", 'v', NULL, RT_ARG_TEXT, "print more details"},
	{"no-input", 0, NULL, RT_ARG_TEXT, "never prompt, never open an editor"},
	{"no-color", 0, NULL, RT_ARG_TEXT, "no colours (NO_COLOR)"},
	{"no-pager", 0, NULL, RT_ARG_TEXT, "do not use a pager (PAGER)"},
	{"read-only", 0, NULL, RT_ARG_TEXT, "read-only: refuse all changes"},
	{"relaxed", 0, NULL, RT_ARG_TEXT,
	 "do not wait for the disk: a power failure can lose the last few seconds of changes"},
	{"help", 'h', NULL, RT_ARG_TEXT, "show help for the command"},
	{"version", 0, NULL, RT_ARG_TEXT, "print the version"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

size_t
rt_args_distance(const char *a, const char *b)
{
	return rt_str_distance(rt_str_of(a), rt_str_of(b));
}

bool
rt_args_is_near(size_t distance, size_t size)
{
	return distance < size && distance <= (size < 6 ? 1 : size / 3);
}

static const rt_flag *
flag_in(const rt_flag *flags, const char *name, size_t size, char letter)
{
	for (; flags != NULL && flags->name != NULL; flags++)
		if (letter != 0
			    ? flags->letter == letter
			    : strlen(flags->name) == size && memcmp(flags->name, name, size) == 0)
			return flags;
	return NULL;
}

/* A command's own flags go before the global ones. */
static const rt_flag *
flag_named(const rt_command *command, const char *name, size_t size, char letter)
{
	static const char op[] = "at-op"; /* the name in older scripts */
	const rt_flag *flag = NULL;

	if (letter == 0 && size == strlen(op) && memcmp(name, op, size) == 0) {
		name = "at-step";
		size = strlen(name);
	}

	if (command != NULL)
		flag = flag_in(command->flags, name, size, letter);
	return flag != NULL ? flag : flag_in(rt_global_flags, name, size, letter);
}

static bool
is_flag(const char *word)
{
	return word[0] == '-' && word[1] != 0;
}

/* -0.5 and the like, where the command's words may be numbers. */
static bool
is_number(const rt_command *command, const char *word)
{
	return command != NULL && (command->traits & RT_COMMAND_NUMBERS) != 0 && word[0] == '-' &&
	       (word[1] == '.' || (word[1] >= '0' && word[1] <= '9')) &&
	       strspn(word + 1, "0123456789.eE+-") == strlen(word + 1);
}

/* Is the next word the value of this one? */
static bool
needs_next(const rt_command *command, const char *word)
{
	const rt_flag *flag;
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

/* The first word that is neither a flag nor its value; command: whose flags are known, or NULL. */
static int
find_verb(const rt_command *command, int argc, char *const *argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return i + 1 < argc ? i + 1 : 0;
		if (!is_flag(argv[i]))
			return i;
		if (needs_next(command, argv[i]))
			i++;
	}
	return 0;
}

static const char *
nearest_flag(const rt_command *command, const char *name, size_t size)
{
	const rt_flag *lists[2] = {command == NULL ? NULL : command->flags, rt_global_flags};
	const char *found = NULL;
	size_t best = SIZE_MAX, i, d;
	char word[64];

	if (size >= sizeof(word))
		return NULL;
	memcpy(word, name, size);
	word[size] = 0;
	for (i = 0; i < 2; i++) {
		const rt_flag *flag;

		for (flag = lists[i]; flag != NULL && flag->name != NULL; flag++) {
			d = rt_args_distance(word, flag->name);
			if (flag->about != NULL && d < best) {
				best = d;
				found = flag->name;
			}
		}
	}
	return rt_args_is_near(best, size) ? found : NULL;
}

static rt_status
unknown_flag(const rt_command *command, const char *name, size_t size, rt_error *err)
{
	const char *near = nearest_flag(command, name, size);
	const char *verb = command == NULL ? "retake" : command->name;

	if (near != NULL)
		return rt_fail(err, RT_USAGE, "%s has no flag \"--%.*s\"; did you mean --%s?",
			       verb, (int)size, name, near);
	return rt_fail(err, RT_USAGE, "%s has no flag \"--%.*s\"", verb, (int)size, name);
}

static rt_status
give(rt_args *out, const rt_flag *flag, const char *value, const char *glued, rt_error *err)
{
	if (out->given_count == RT_ARGS_GIVEN_MAX)
		return rt_fail(err, RT_USAGE, "too many flags: the maximum is %d", (int)RT_ARGS_GIVEN_MAX);
	out->given[out->given_count++] = (rt_args_given){flag, value, glued};
	return RT_OK;
}

/* --name, --name=value, --name value. next is NULL at the end of the line. */
static rt_status
parse_long(rt_args *out, const char *word, const char *next, bool *out_used, rt_error *err)
{
	const char *name = word + 2;
	size_t size = strcspn(name, "=");
	const rt_flag *flag = flag_named(out->command, name, size, 0);

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
parse_short(rt_args *out, const char *word, const char *next, bool *out_used, rt_error *err)
{
	size_t i;

	for (i = 1; word[i] != 0; i++) {
		const rt_flag *flag = flag_named(out->command, NULL, 0, word[i]);
		rt_status st;

		if (flag == NULL)
			return rt_fail(
				err, RT_USAGE, "%s has no flag \"-%c\"%s",
				out->command == NULL ? "retake" : out->command->name, word[i],
				word[i] >= '0' && word[i] <= '9' ? "; write a position as :-1"
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
rt_args_parse(const rt_command *const *commands, int argc, char *const *argv, rt_args *out,
	      rt_error *err)
{
	const rt_command *ask = rt_command_named(commands, "ask");
	int verb = find_verb(NULL, argc, argv), text = find_verb(ask, argc, argv), i;
	rt_status st = RT_OK, first = RT_OK;
	bool ended = false;

	out->verb = verb == 0 ? NULL : argv[verb];
	out->command = out->verb == NULL ? NULL : rt_command_named(commands, out->verb);
	if (out->command == NULL && text > 0 && strpbrk(argv[text], " \t\n?") != NULL) {
		out->command = ask; /* several words are a question; flags of ask may precede it */
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
	out->help = rt_args_value(out, "help") != NULL;
	return first;
}

const char *
rt_args_value(const rt_args *args, const char *name)
{
	size_t i;

	for (i = args->given_count; i > 0; i--)
		if (strcmp(args->given[i - 1].flag->name, name) == 0)
			return args->given[i - 1].value;
	return NULL;
}

const char *
rt_args_glued(const rt_args *args, const char *name)
{
	size_t i;

	for (i = args->given_count; i > 0; i--)
		if (strcmp(args->given[i - 1].flag->name, name) == 0)
			return args->given[i - 1].glued;
	return NULL;
}

rt_status
rt_args_number(const char *text, const char *what, uint64_t *out, rt_error *err)
{
	uint64_t number = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (number > (UINT64_MAX - 9) / 10)
			break;
		number = number * 10 + (uint64_t)(*p - '0');
	}
	if (p == text || *p != 0)
		return rt_fail(err, RT_USAGE, "\"%s\" is not a whole number (%s)", text, what);
	*out = number;
	return RT_OK;
}

void
rt_args_add_quoted(rt_buf *buf, const char *word)
{
	bool plain = *word != 0;

	for (const char *p = word; *p != 0 && plain; p++)
		plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			(*p >= '0' && *p <= '9') || strchr("_-./:@,+=%", *p) != NULL;
	if (plain) {
		rt_buf_add_c(buf, word);
		return;
	}
	rt_buf_add_byte(buf, '\'');
	for (const char *p = word; *p != 0; p++) {
		if (*p == '\'')
			rt_buf_add_c(buf, "'\\''");
		else
			rt_buf_add_byte(buf, *p);
	}
	rt_buf_add_byte(buf, '\'');
}
