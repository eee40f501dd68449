/* SPDX-License-Identifier: MIT
 *
 * Cli: one run of the command line, and the common part of its commands.
 *
 *   cli.c      failures, words, flags, output     session.c  the session
 *   address.c  addresses of entries               memory.c   memory
 *   term.c     output                             change.c   requests and their reports
 *   file.c     files and the editor               inflight.c replies in flight
 *   cmd_*.c    the commands
 *
 * A command is a scope (base/scope.h): its memory and resources live as long as it runs, and its
 * first failure ends it. Functions return values; once the command has failed they do nothing and
 * return 0, NULL or empty texts. program/main.c turns the status into an exit code and prints the
 * message with a next step. One thread. */
#ifndef RT_CLI_CLI_H
#define RT_CLI_CLI_H

#include "app/attached.h"
#include "app/command.h"
#include "app/files.h"
#include "app/session.h"
#include "cli/memory.h"
#include "cli/term.h"
#include "core/id.h"
#include "view/view_rows.h"

typedef struct rt_cli {
	rt_scope s; /* the command */
	rt_cli_memory memory;
	const rt_alloc *alloc; /* its allocator */
	const rt_env *env;
	const rt_command *const *commands;     /* all of them, ended by NULL */
	void (*help_keys)(struct rt_cli *cli); /* prints the help topic "keys" */
	/* Prints the blocks of a Markdown text that part has not printed yet, each row after indent
	 * spaces: those that cannot change any more while the text grows, or (is_end) all. True:
	 * something was printed. */
	bool (*print_markdown)(rt_term *out, rt_str text, size_t indent, rt_markdown_part *part);
	rt_term out, err;
	rt_args args;
	bool json, quiet, verbose, no_input;
	rt_session session;
	bool say_made; /* a new store was created and this has not been printed yet */

	const char *unchanged;       /* instead of that of the command, see app/command.h; or NULL */
	const char *draft;           /* path of a file with the user's text; or NULL */
	const char *address;         /* of the last entry named in a request; or NULL */
	rt_buf *extra;               /* rt_cli_extra */
	rt_str *ids;                 /* rt_cli_short_id: sorted, in the scope; NULL: not read yet */
	size_t id_count;
	char question[RT_ID_MAX + 4]; /* an entry that is kept although the rest failed; or empty */
	int exit_code;               /* -1: by the status */
	bool json_done;              /* the JSON document was printed */
	bool changed;                /* there was a change, and it is on disk */
} rt_cli;

/* Sets cli->args and the session options they contain. */
void rt_cli_use_args(rt_cli *cli, rt_args args);

/* ---- failures ---- */

/* Fails the command unless it has failed before. Returns its status. */
rt_status rt_cli_fail(rt_cli *cli, rt_status status, const char *format, ...) RT_PRINTF(3, 4);
/* The next step, printed below the failure. Our commands ("retake show") get the flags for the
 * place, as in rt_cli_add_advice. */
void rt_cli_hint(rt_cli *cli, const char *format, ...) RT_PRINTF(2, 3);
/* Lets the command continue after a failure: clears it and its hint. Returns its status, and the
 * message in err (may be NULL). */
rt_status rt_cli_recover(rt_cli *cli, rt_error *err);
/* A part of the command in a separate scope: its memory is freed and its failure does not end the
 * command. rt_cli_end_part returns the status, with the message in err (may be NULL) on failure. */
void rt_cli_begin_part(rt_cli *cli, rt_scope *outer);
rt_status rt_cli_end_part(rt_cli *cli, const rt_scope *outer, rt_error *err);
/* Has an allocation failed? Then no assembled output may be written. */
bool rt_cli_short_of_memory(const rt_cli *cli);
/* Asks yes or no; without a terminal, --yes is required. RT_REFUSED: no. */
void rt_cli_confirm(rt_cli *cli, const char *question);
/* Some of the output is missing; the program reports it when it ends. RT_OK does nothing. */
void rt_cli_output_lost(rt_cli *cli, rt_status status);
/* A warning or remark on standard error. */
void rt_cli_note(rt_cli *cli, const char *format, ...) RT_PRINTF(2, 3);

/* ---- the command line ---- */

bool rt_cli_has(const rt_cli *cli, const char *flag);
const char *rt_cli_flag_value(const rt_cli *cli, const char *flag); /* NULL: not given */
const char *rt_cli_word(const rt_cli *cli, size_t index);           /* NULL: not given */
/* A whole number; `what` describes it in messages ("how many steps"). */
uint64_t rt_cli_number(rt_cli *cli, const char *text, const char *what);
/* The same of a flag; otherwise the default value. */
uint64_t rt_cli_flag_number(rt_cli *cli, const char *flag, const char *what, uint64_t otherwise);
/* A text that has to be UTF-8; fails the command otherwise. Returns it. */
rt_str rt_cli_check_utf8(rt_cli *cli, rt_str text);
/* Text for an entry: the words from index on, -f FILE, or "-". The line end at the end of a file
 * is removed unless --exact. ptr NULL: none was given. */
rt_str rt_cli_text(rt_cli *cli, size_t index);
/* "retake" with the flags for the place, in the form that a user would type. */
void rt_cli_add_retake(const rt_cli *cli, rt_buf *buf);
/* The same without the discussion. */
void rt_cli_add_retake_project(const rt_cli *cli, rt_buf *buf);
/* The first of them as a string. */
const char *rt_cli_retake(rt_cli *cli);
/* A text that names commands ("Steps: retake history"), each with the flags that it needs. Text
 * after "Usage: " is left unchanged. */
void rt_cli_add_advice(const rt_cli *cli, rt_buf *buf, rt_str text);
/* The same on standard output. */
void rt_cli_advise(rt_cli *cli, const char *format, ...) RT_PRINTF(2, 3);

/* ---- the session ---- */

/* As rt_session_open and so on. They return false once the command has failed. */
bool rt_cli_find_store(rt_cli *cli);
bool rt_cli_open_store(rt_cli *cli, rt_session_mode mode);
bool rt_cli_open(rt_cli *cli, rt_session_mode mode);
bool rt_cli_look(rt_cli *cli);
void rt_cli_close(rt_cli *cli);
const rt_config *rt_cli_config(rt_cli *cli);
/* Prints, once, that a new store was created. */
void rt_cli_say_made(rt_cli *cli);
const rt_disc *rt_cli_disc(rt_cli *cli);
const rt_take *rt_cli_take(rt_cli *cli);
/* Entries of the take. */
size_t rt_cli_count(rt_cli *cli);
/* The title of a discussion in double quotes, then its name in parentheses if the title is not
 * enough to open it. "" after a failure. */
const char *rt_cli_disc_title(rt_cli *cli, uint32_t number);
/* The name of the viewed discussion. */
rt_str rt_cli_disc_name(const rt_cli *cli);

/* ---- addresses ---- */

/* "@-" and "@-2" become ids; everything else is returned as it is. */
rt_str rt_cli_address(rt_cli *cli, const char *address);
/* A hint for an address that matches no entry, or several. */
void rt_cli_hint_entry(rt_cli *cli, const char *address, const rt_error *error);
/* The number of another discussion that has an entry with this id, or with a long beginning of it; 0:
 * none. */
uint32_t rt_cli_find_elsewhere(const rt_cli *cli, rt_str id);
/* The number of an entry. is_whole: anywhere in the discussion, not only in the take. */
uint32_t rt_cli_entry(rt_cli *cli, const char *address, bool is_whole);
/* The position of an entry in the take, and its slot (out_slot may be NULL). */
size_t rt_cli_position(rt_cli *cli, const char *address, rt_slot *out_slot);
/* "A", "A..B", "A..", "..B": positions in the take. */
typedef struct rt_cli_span {
	size_t first, last;
} rt_cli_span;
rt_cli_span rt_cli_range(rt_cli *cli, const char *range);
/* The id at a position of the take; "" after a failure. */
const char *rt_cli_id_at(rt_cli *cli, size_t at);
/* For lists: the shortest beginning of a long id that begins no other id of the project, at least 8 characters. */
rt_str rt_cli_short_id(rt_cli *cli, rt_str id);
/* "k3f9 (User, 4 of 12)" for an entry of the take; only the id if it is not in it. */
const char *rt_cli_where(rt_cli *cli, const char *id);

/* ---- looking ---- */

/* The session's view, for view_rows.h. */
rt_view rt_cli_view(rt_cli *cli);
/* The name of the take that was active before in the discussion in view; discs: of the discussion.
 * Opens the store. NULL: there was no other one that still exists, and the scope has failed. Cost:
 * reads the history back to that change. */
const char *rt_cli_previous(rt_cli *cli, bool discs);
/* The entries of the take in a span. */
rt_entry_cursor *rt_cli_entries(rt_cli *cli, rt_cli_span span);
/* Prints the discussion's replies in flight, as text. */
void rt_cli_inflight_report(rt_cli *cli);
/* The same as items of a JSON array. Returns how many. */
size_t rt_cli_inflight_add(rt_cli *cli, rt_buf *out);
/* Prints the JSON document. */
void rt_cli_print_json(rt_cli *cli, const rt_buf *json);

/* A member whose text may be any bytes: invalid UTF-8 is replaced by U+FFFD. */
void rt_cli_put_bytes(rt_cli *cli, rt_buf *json, const char *key, rt_str bytes);

/* ---- changing ---- */

/* Requests to be executed together. Zero it first. */
typedef struct rt_cli_requests {
	rt_request *items;
	size_t count, capacity;
} rt_cli_requests;

/* The request is copied; its texts must live as long as the scope. */
void rt_cli_requests_add(rt_scope *s, rt_cli_requests *requests, const rt_request *request);
/* The address of an entry for a request, "@-" and the like resolved. */
rt_str rt_cli_request_entry(rt_cli *cli, const char *address);
/* Where an entry goes: --before or --after, one of which is required. */
void rt_cli_request_place(rt_cli *cli, rt_request *request);
/* Executes requests, as one step. Opens the session for changing unless it is open; afterwards
 * the session shows the new value. Returns the last result, an empty one after a failure. */
const rt_result *rt_cli_execute(rt_cli *cli, const rt_request *requests, size_t count);
/* Prints what changed with the step and how to undo it, or the JSON result. */
void rt_cli_say_result(rt_cli *cli, const rt_result *result, const char *format, ...)
	RT_PRINTF(3, 4);
/* Members to be added to the JSON result, with rt_json_put_*. */
rt_buf *rt_cli_extra(rt_cli *cli);
/* One request: executes it and prints done, in which {entry} is the result's entry and its
 * place, {take} and {discussion} the names of the result (else the target), {target} the target
 * of the request, {entries} the length of the take, and {FIELD} a field of the request. Returns
 * the result. */
const rt_result *rt_cli_do(rt_cli *cli, const rt_request *request, const char *done);

/* Fields of requests. A text that is present even if it is empty. */
static inline rt_str
rt_cli_given(rt_str text)
{
	return text.ptr != NULL ? text : RT_STR("");
}
static inline rt_number
rt_cli_given_number(uint64_t value)
{
	return (rt_number){value, true};
}
static inline rt_tristate
rt_cli_yes_no(bool yes)
{
	return yes ? RT_YES : RT_NO;
}
/* RT_UNSET if a flag was not given. */
static inline rt_tristate
rt_cli_yes_if(bool given)
{
	return given ? RT_YES : RT_UNSET;
}

/* A command that is one operation, as data: .run = rt_cli_run_op, .op = its row. */
typedef struct rt_cli_op_field {
	const char *name;      /* in the table of operations, which has its type */
	const char *flag;      /* its value comes from this flag; NULL: from a word */
	size_t word;           /* from 0 */
	const char *otherwise; /* if it was not given; NULL: then it is absent */
	const char *what;      /* of a number, as in rt_cli_number */
	const char *hint;      /* if it is not a number; or NULL */
	bool is_role;          /* aliases are replaced: rt_cli_role_meant */
} rt_cli_op_field;

typedef struct rt_cli_op {
	rt_op_id op;
	rt_cli_op_field fields[3]; /* ended by a NULL name */
	const char *done;          /* as for rt_cli_do */
	const char *editor; /* printed above the text that the result has for the editor; or NULL */
} rt_cli_op;
void rt_cli_run_op(rt_cli *cli);

/* A message and the next step, on one line or two. */
void rt_cli_say(rt_cli *cli, rt_str message, const char *next, ...) RT_PRINTF(3, 4);

/* ---- files ---- */

/* Like app/files.h and app/editor.h, with hints. */
rt_str rt_cli_read_file(rt_cli *cli, const char *path);
/* The files that --attach and --image name, before a store is opened or created. RT_USAGE: a file of
 * --image is not a PNG, JPEG, GIF or WebP image. RT_LIMIT, RT_NOT_FOUND, RT_IO. */
rt_attached_list rt_cli_read_attached(rt_cli *cli);
rt_str rt_cli_read_whole_file(rt_cli *cli, const char *path);
void rt_cli_write_file(rt_cli *cli, const char *path, rt_str bytes, rt_files_write_mode mode);
/* The text after editing. The file becomes cli->draft: after a failure it is kept and its path
 * printed. is_one: without the line end that the editor put at the end. */
rt_str rt_cli_edit_text(rt_cli *cli, const char *name, rt_str text, bool is_one);
/* Removes the draft, unless the command has failed. */
void rt_cli_drop_draft(rt_cli *cli);

/* ---- words shared by commands ---- */

/* Shown with a sent request that was rebuilt. */
#define RT_CLI_NOT_EXACT                                                                        \
	"this is not the exact request: a hook changed it, a text has been purged since, " \
	"or another version of Retake sent it"
/* For formats: "%llu entr%s". */
#define RT_CLI_S(count) ((count) == 1 ? "" : "s")
#define RT_CLI_IES(count) ((count) == 1 ? "y" : "ies")
rt_style rt_cli_role_style(rt_str role);
/* The given role, with aliases replaced (rt_role_meant); word NULL: none. Opens the session
 * for changing. */
rt_str rt_cli_role_meant(rt_cli *cli, const char *word);
/* The displayed name of an entry's role. The session must be open. */
rt_str rt_cli_role_label(const rt_cli *cli, rt_str role);

#endif
