/* SPDX-License-Identifier: MIT
 *
 * Args: a command line parsed by the table of commands. Flags may be anywhere, before or after
 * the verb; "--" ends them; "-" alone is a word. A value follows after a space or "=", or directly
 * after a letter. If a flag is given twice, the last one counts. */
#ifndef RT_APP_ARGS_H
#define RT_APP_ARGS_H

#include "base/text.h"

/* Kind of a value, for completions. */
typedef enum rt_arg_kind {
	RT_ARG_TEXT,
	RT_ARG_FILE,
	RT_ARG_DIR,
	RT_ARG_ENTRY,
	RT_ARG_TAKE,
	RT_ARG_DISC,
	RT_ARG_PROJECT,
	RT_ARG_ROLE,
	RT_ARG_FORMAT,        /* that import reads */
	RT_ARG_EXPORT_FORMAT, /* that export writes */
	RT_ARG_SETTING,
	RT_ARG_PROVIDER,
	RT_ARG_MODEL,
	RT_ARG_VALUE,   /* of the setting in the word before */
	RT_ARG_STEP,
	RT_ARG_SCOPE,   /* "discussion" or "project": the steps that undo and redo consider */
	RT_ARG_COMMAND, /* a command or a help topic */
	RT_ARG_SHELL
} rt_arg_kind;

typedef struct rt_flag {
	const char *name;  /* "dry-run", without the dashes */
	char letter;       /* 'n', or 0 */
	const char *value; /* the name of the value in the help; NULL: a switch */
	rt_arg_kind kind;  /* of the value */
	const char *about; /* one line for help; NULL: hidden */
} rt_flag;

struct rt_command;

typedef struct rt_args_given {
	const rt_flag *flag;
	const char *value; /* "" for switches */
	const char *glued; /* the word, if the value followed a letter directly; or NULL */
} rt_args_given;

enum { RT_ARGS_GIVEN_MAX = 64 };

typedef struct rt_args {
	const char *verb;                 /* as typed; NULL: none */
	const struct rt_command *command; /* NULL: none, or unknown */
	const char **words;               /* non-flag words after the verb */
	size_t word_count;
	rt_args_given given[RT_ARGS_GIVEN_MAX];
	size_t given_count;
	bool help; /* -h or --help was given */
} rt_args;

/* Flags that every command knows; ended by a NULL name. */
extern const rt_flag rt_global_flags[];

/* commands: the table, ended by NULL. The caller provides words of *out, with capacity for argc
 * pointers. *out contains the parsed part even on failure, so that errors respect the output flags.
 * RT_USAGE. */
RT_CHECKED rt_status rt_args_parse(const struct rt_command *const *commands, int argc,
				   char *const *argv, rt_args *out, rt_error *err);
/* The value of a flag; "" for a switch; NULL when it was not given. */
const char *rt_args_value(const rt_args *args, const char *name);

/* The word in which this flag's value follows without a space ("-dash" for -d), and which may have
 * been meant as a text; NULL: none. */
const char *rt_args_glued(const rt_args *args, const char *name);

/* A whole number; what describes it in the message ("how many steps"). RT_USAGE. */
RT_CHECKED rt_status rt_args_number(const char *text, const char *what, uint64_t *out,
				    rt_error *err);
/* A word for a shell, in quotes where necessary. */
void rt_args_add_quoted(rt_buf *buf, const char *word);

/* The edit distance of two words (rt_str_distance). */
size_t rt_args_distance(const char *a, const char *b);
/* Is a word at that distance a likely correction of one with size letters? */
bool rt_args_is_near(size_t distance, size_t size);

#endif
