/* SPDX-License-Identifier: MIT
 *
 * Command: one verb of the program, as a row of a table. The parser, help, the man page, the
 * completions and the palette of the terminal UI work from the table (program/commands.h), which is
 * passed to them: an array of pointers, ended by NULL. */
#ifndef RT_APP_COMMAND_H
#define RT_APP_COMMAND_H

#include "app/args.h"

struct rt_cli;

/* The sections of the help, in their order. */
typedef enum rt_command_group {
	RT_COMMANDS_ASKING,
	RT_COMMANDS_LOOKING,
	RT_COMMANDS_WRITING,
	RT_COMMANDS_BRANCHING,
	RT_COMMANDS_UNDOING,
	RT_COMMANDS_CATALOGUE,
	RT_COMMANDS_SETTINGS,
	RT_COMMANDS_FILES,
	RT_COMMANDS_MAINTENANCE,
	RT_COMMANDS_LEARNING,
	RT_COMMAND_GROUP_COUNT
} rt_command_group;

enum {
	RT_COMMAND_HIDDEN = 1 << 0,  /* not in lists */
	RT_COMMAND_AT_STEP = 1 << 1,   /* --at-step means something */
	RT_COMMAND_DRY_RUN = 1 << 2, /* has a flag -n */
	RT_COMMAND_NUMBERS = 1 << 3, /* a word may be a number below zero */
};

enum { RT_COMMAND_WORDS_ANY = -1, RT_COMMAND_KINDS = 3 };

typedef struct rt_command {
	const char *name;
	const char *alias; /* or NULL */
	rt_command_group group;
	unsigned traits;
	int min_words, max_words; /* words after the verb; RT_COMMAND_WORDS_ANY: unlimited */
	int text_word; /* the words from this one on (from 1) are a text, without quotes, in a line of the
			  terminal UI; 0: none are */
	const char *usage;        /* the part after "retake NAME", one line for each form */
	const char *summary;      /* one line for lists */
	const char *about;        /* paragraphs, or NULL */
	const char *examples;     /* one command line each, or NULL */
	const char *ops;      /* the operations it requests: "entry.edit take.branch"; or NULL */
	const rt_flag *flags; /* ended by a NULL name; or NULL */
	rt_arg_kind kinds[RT_COMMAND_KINDS]; /* of the words; the last one repeats */
	void (*run)(struct rt_cli *cli);
	const struct rt_cli_op *op; /* the one operation that it executes (cli/cli.h); or NULL */
	const char *unchanged; /* the reason why there was nothing to do; NULL: "already set" */
} rt_command;

extern const char *const rt_command_group_names[RT_COMMAND_GROUP_COUNT];

/* By name or alias; NULL: unknown. */
const rt_command *rt_command_named(const rt_command *const *commands, const char *name);
/* The name with the most similar spelling, without hidden ones; NULL: none is similar. */
const char *rt_command_nearest(const rt_command *const *commands, const char *name);
/* The form of the usage, from 0, that begins with this word ("switch TAKE", "[list]", "set|add|rm LIST"), and its
 * line; SIZE_MAX: none. */
size_t rt_command_form(const rt_command *command, const char *word, rt_str *out);
/* "Usage: retake NAME FORM   More: retake help NAME", with the forms that fit the given words and flags best. */
void rt_command_add_usage(const rt_command *command, const rt_args *args, rt_buf *out);

#endif
