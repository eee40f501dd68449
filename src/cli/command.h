/* SPDX-License-Identifier: MIT
 *
 * Command: one verb of the program, as a row of a table. The table feeds the parser,
 * help, the man page and the completions; a command added there is known everywhere. */
#ifndef RT_CLI_COMMAND_H
#define RT_CLI_COMMAND_H

#include "cli/args.h"

struct rt_cli;

/* The sections of the help, in their order. */
typedef enum rt_cli_group {
	RT_CLI_ASKING,
	RT_CLI_LOOKING,
	RT_CLI_WRITING,
	RT_CLI_BRANCHING,
	RT_CLI_UNDOING,
	RT_CLI_CATALOGUE,
	RT_CLI_SETTINGS,
	RT_CLI_FILES,
	RT_CLI_MAINTENANCE,
	RT_CLI_LEARNING,
	RT_CLI_GROUP_COUNT
} rt_cli_group;

enum {
	RT_CLI_HIDDEN = 1 << 0,  /* not in lists */
	RT_CLI_AT_OP = 1 << 1,   /* --at-op means something */
	RT_CLI_DRY_RUN = 1 << 2, /* has a flag -n */
	RT_CLI_NUMBERS = 1 << 3, /* a word may be a number below zero */
};

enum { RT_CLI_WORDS_ANY = -1, RT_CLI_KINDS = 3 };

typedef struct rt_cli_command {
	const char *name;
	const char *alias; /* or NULL */
	rt_cli_group group;
	unsigned traits;
	int min_words, max_words; /* words behind the verb; RT_CLI_WORDS_ANY: no end */
	const char *usage;        /* what follows "retake NAME", one line for each form */
	const char *summary;      /* one line for lists */
	const char *about;        /* paragraphs, or NULL */
	const char *examples;     /* one command line each, or NULL */
	const char *ops; /* the operations it asks for: "entry.edit take.branch"; or NULL */
	const rt_cli_flag *flags;        /* ended by a NULL name; or NULL */
	rt_cli_kind kinds[RT_CLI_KINDS]; /* of the words; the last one repeats */
	rt_status (*run)(struct rt_cli *cli);
} rt_cli_command;

extern const rt_cli_command *const rt_cli_commands[]; /* ended by NULL */
extern const char *const rt_cli_group_names[RT_CLI_GROUP_COUNT];

/* By name or alias; NULL: unknown. */
const rt_cli_command *rt_cli_command_named(const char *name);
/* The name that is spelled most like it; NULL: none is near. topics: help topics, too. */
const char *rt_cli_command_nearest(const char *name, bool topics);

#endif
