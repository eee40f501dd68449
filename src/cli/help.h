/* SPDX-License-Identifier: MIT
 *
 * Help texts, generated from the tables of commands, operations and formats, so they cannot go out
 * of date. */
#ifndef RT_CLI_HELP_H
#define RT_CLI_HELP_H

#include "cli/cli.h"
#include "core/op.h"

/* One line of a topic: a term and its explanation. */
typedef struct rt_cli_topic_row {
	const char *term;
	const char *text;
} rt_cli_topic_row;

typedef struct rt_cli_topic {
	const char *name;             /* "exit-codes" */
	const char *title;            /* "Exit codes" */
	const char *summary;          /* one line for lists */
	const char *intro;            /* a paragraph before the rows, or NULL */
	const rt_cli_topic_row *rows; /* ended by a NULL term; or NULL */
	const char *outro;            /* a paragraph after them, or NULL */
} rt_cli_topic;

/* The topics that are written out; and names and summaries of those made from tables. Both are
 * ended by a NULL name. */
extern const rt_cli_topic rt_cli_topics[], rt_cli_generated_topics[];
extern const char rt_cli_tagline[];

/* The notation of a field of an operation: "number", "address" … */
const char *rt_cli_field_word(rt_field_type type);

void rt_cli_help_welcome(rt_cli *cli);
void rt_cli_help_version(rt_cli *cli);
void rt_cli_help_command(rt_cli *cli, const rt_command *command); /* NULL: all */
/* The events of hooks: text, or JSON; and as a section of the man page. */
void rt_cli_help_events(rt_cli *cli);
void rt_cli_manpage_events(rt_buf *out);
/* Words with blanks between them as an array. */
void rt_cli_put_words(rt_buf *json, const char *key, const char *words);
/* The man page, and the completions of a shell (NULL: unknown), as text. */
void rt_cli_manpage(const rt_command *const *commands, rt_buf *out);
const char *rt_cli_completion_script(const char *shell);

#endif
