/* SPDX-License-Identifier: MIT
 *
 * Args: a command line taken apart by tables. Flags stand anywhere, before or after the
 * verb; "--" ends them; "-" alone is a word. Values follow after a space or "=", or
 * directly behind a letter. Given twice, the last one counts. */
#ifndef RT_CLI_ARGS_H
#define RT_CLI_ARGS_H

#include "base/text.h"

/* What a value is, for completions. */
typedef enum rt_cli_kind {
	RT_CLI_TEXT,
	RT_CLI_FILE,
	RT_CLI_DIR,
	RT_CLI_ENTRY,
	RT_CLI_TAKE,
	RT_CLI_DISC,
	RT_CLI_PROJECT,
	RT_CLI_ROLE,
	RT_CLI_FORMAT,
	RT_CLI_SETTING,
	RT_CLI_PROVIDER,
	RT_CLI_STEP,
	RT_CLI_SCOPE, /* what undo takes back */
	RT_CLI_COMMAND, /* a command or a help topic */
	RT_CLI_SHELL
} rt_cli_kind;

typedef struct rt_cli_flag {
	const char *name;  /* "dry-run", without the dashes */
	char letter;       /* 'n', or 0 */
	const char *value; /* how help names the value; NULL: a switch */
	rt_cli_kind kind;  /* of the value */
	const char *about; /* one line for help; NULL: hidden */
} rt_cli_flag;

struct rt_cli_command;

typedef struct rt_cli_given {
	const rt_cli_flag *flag;
	const char *value; /* "" for switches */
	const char *glued; /* the word, where the value stood right behind a letter; or NULL */
} rt_cli_given;

enum { RT_CLI_GIVEN_MAX = 64 };

typedef struct rt_cli_args {
	const char *verb;                     /* as typed; NULL: none */
	const struct rt_cli_command *command; /* NULL: none, or unknown */
	const char **words;                   /* what is no flag, after the verb */
	size_t word_count;
	rt_cli_given given[RT_CLI_GIVEN_MAX];
	size_t given_count;
	bool help; /* -h or --help stood anywhere */
} rt_cli_args;

/* Flags that every command knows; ended by a NULL name. */
extern const rt_cli_flag rt_cli_globals[];

/* words of *out has room for argc pointers (the caller's). What could be understood is
 * in *out even on failure, so that errors can be printed as was asked for. RT_USAGE. */
RT_CHECKED rt_status rt_cli_args_parse(int argc, char *const *argv, rt_cli_args *out,
				       rt_error *err);
/* The value of a flag; "" for a switch; NULL when it was not given. */
const char *rt_cli_args_value(const rt_cli_args *args, const char *name);

/* The word of the line that gave this flag its value without a space ("-dash" for -d), which
 * may have been meant as a text; NULL: there is none. */
const char *rt_cli_args_glued(const rt_cli_args *args, const char *name);

/* How unlike two words are: letters to insert, delete, replace, or swap with the next one.
 * SIZE_MAX: very. */
size_t rt_cli_distance(const char *a, const char *b);
/* May somebody who typed so many letters have meant a word at that distance? */
bool rt_cli_is_near(size_t distance, size_t size);

#endif
