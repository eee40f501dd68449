/* SPDX-License-Identifier: MIT
 *
 * Cli: what one run of the command line holds, and what commands share.
 *
 *   cli.c      failing, remarks, flags and words   session.c  opening and looking
 *   address.c  addresses of entries                view.c     views, read
 *   term.c     output                              change.c   changes, and what is said of them
 *   file.c     files and the editor                inflight.c replies that are no entries yet
 *   memory.c   memory                              cmd_*.c    the commands
 *
 * A command's function does its work and returns a status; program/main.c turns it into an exit
 * code and, where it is not RT_OK, prints cli->error and a next step. One thread. */
#ifndef RT_CLI_CLI_H
#define RT_CLI_CLI_H

#include "app/command.h"
#include "app/files.h"
#include "app/session.h"
#include "cli/memory.h"
#include "cli/term.h"
#include "core/id.h"

enum { RT_ID_ROOM = RT_ID_MAX + 1 /* an id and its NUL */ };

typedef struct rt_cli {
	rt_cli_memory memory;
	const rt_alloc *alloc; /* that one */
	const rt_env *env;
	const rt_command *const *commands;          /* all of them, ended by NULL */
	rt_status (*help_keys)(struct rt_cli *cli); /* the topic "keys" of the help */
	rt_term out, err;
	rt_args args;
	bool json, quiet, verbose, no_input;
	rt_session session;
	bool say_made; /* a new store was made, which has not been said yet */

	rt_error error;
	char kept
		[RT_SESSION_HINT_SIZE]; /* the file in which a text of the person's lies; or empty */
	char question[RT_ID_MAX + 4]; /* an entry that stays though the rest failed; or empty */
	int exit_code;               /* -1: by the status */
	bool json_done;              /* a document was printed already */
	bool changed;                /* something was changed, and that is on disk */
} rt_cli;

/* args are what is to be done from now on: the session is told what they say. */
void rt_cli_use_args(rt_cli *cli, rt_args args);

/* ---- failing ---- */

/* Fill cli->error and return status. */
rt_status rt_cli_fail(rt_cli *cli, rt_status status, const char *format, ...) RT_PRINTF(3, 4);
/* What to do next; returns status for convenience. A command of ours ("retake show") gets the
 * flags that say where, as in all that rt_cli_add_advice writes. */
rt_status rt_cli_hint(rt_cli *cli, rt_status status, const char *format, ...) RT_PRINTF(3, 4);
/* What was written in the editor lies in this file, and whatever failed, that is said. */
rt_status rt_cli_keep(rt_cli *cli, rt_status status, const char *path);
rt_status rt_cli_nomem(rt_cli *cli);
/* Was there ever too little memory? Then nothing may be written that was put together. */
bool rt_cli_short_of_memory(const rt_cli *cli);
/* RT_OK, or out of memory or too large, as the buffer says. */
rt_status rt_cli_buf(rt_cli *cli, const rt_buf *buf);
/* Ask yes or no; RT_OK is yes. Without somebody to ask, --yes is needed. */
rt_status rt_cli_confirm(rt_cli *cli, const char *question);
/* Something that was to be printed could not be had: the output is not whole, and the
 * program says so at its end. RT_OK does nothing. */
void rt_cli_output_lost(rt_cli *cli, rt_status status);
/* A warning or a remark on standard error. */
void rt_cli_note(rt_cli *cli, const char *format, ...) RT_PRINTF(2, 3);

/* ---- the command line ---- */

bool rt_cli_has(const rt_cli *cli, const char *flag);
const char *rt_cli_flag_value(const rt_cli *cli, const char *flag); /* NULL: not given */
const char *rt_cli_word(const rt_cli *cli, size_t index);           /* NULL: not there */
/* A whole number; what says what it is meant to be ("how many steps"). */
rt_status rt_cli_number(rt_cli *cli, const char *text, const char *what, uint64_t *out);
/* Text for an entry: the words from index on, or -f FILE, or "-". One line end at the end
 * of a file is not part of it unless --exact. *out_given false: neither was there. */
rt_status rt_cli_text(rt_cli *cli, size_t index, rt_buf *out, bool *out_given);
/* "retake" with the flags that say where, as somebody would have to type it. */
void rt_cli_add_retake(const rt_cli *cli, rt_buf *buf);
/* The same without the discussion. */
void rt_cli_add_retake_project(const rt_cli *cli, rt_buf *buf);
/* A text that names commands ("Steps: retake history"), each with those of the flags that it
 * needs. What follows "Usage: " stays as it is. */
void rt_cli_add_advice(const rt_cli *cli, rt_buf *buf, rt_str text);
/* The same on standard output. */
void rt_cli_advise(rt_cli *cli, const char *format, ...) RT_PRINTF(2, 3);

/* ---- the session ---- */

/* rt_session_config of the session, and so on. */
rt_status rt_cli_config(rt_cli *cli, const rt_config **out);
rt_status rt_cli_find_store(rt_cli *cli);
rt_status rt_cli_open_store(rt_cli *cli, rt_session_mode mode);
rt_status rt_cli_open(rt_cli *cli, rt_session_mode mode);
rt_status rt_cli_look(rt_cli *cli);
void rt_cli_close(rt_cli *cli);
/* Say that a new store was made, once: at the end, or when the command is up and running. */
void rt_cli_say_made(rt_cli *cli);
rt_status rt_cli_disc(rt_cli *cli, const rt_disc **out);
rt_status rt_cli_take(rt_cli *cli, const rt_take **out);
/* "@-", "@-2" become ids; everything else stays as it is. *out borrows from either. */
rt_status rt_cli_address(rt_cli *cli, const char *address, char room[RT_ID_ROOM], rt_str *out);
/* A hint at what may have been meant by something that names no entry, or several. */
void rt_cli_hint_entry(rt_cli *cli, const char *address, rt_status status);
/* The entry, its position in the take, and its slot. */
rt_status rt_cli_entry(rt_cli *cli, const char *address, bool whole, uint32_t *out_entry);
rt_status rt_cli_position(rt_cli *cli, const char *address, size_t *out_at, rt_slot *out_slot);
/* "A", "A..B", "A..", "..B": positions in the take, first and last. */
rt_status rt_cli_range(rt_cli *cli, const char *range, size_t *out_first, size_t *out_last);
/* The id at a position of the take. */
rt_status rt_cli_id_at(rt_cli *cli, size_t at, char room[RT_ID_ROOM]);

/* A view, read: deinit both in the end. */
typedef struct rt_cli_view {
	rt_buf buf;
	rt_json_doc *doc;
	yyjson_val *root;
} rt_cli_view;
void rt_cli_view_init(rt_cli *cli, rt_cli_view *view);
void rt_cli_view_deinit(rt_cli_view *view);
/* Read what was written to view->buf; status is what writing it gave. */
rt_status rt_cli_view_read(rt_cli *cli, rt_cli_view *view, rt_status status);
/* The entries of the take at hand from position first to last, some at a time, so that any
 * number of them takes bounded memory. show is what the engine's view gave for a part of
 * them; from is the position of its first. */
typedef rt_status (*rt_cli_window_fn)(rt_cli *cli, void *ctx, yyjson_val *show, size_t from);
rt_status rt_cli_each_window(rt_cli *cli, size_t first, size_t last, rt_cli_window_fn fn,
			     void *ctx);
/* The discussion's replies that are no entries yet: arriving now, or lying aside. Below what is
 * shown, for people; or as JSON objects with commas between. */
rt_status rt_cli_inflight_report(rt_cli *cli);
rt_status rt_cli_inflight_add(rt_cli *cli, rt_buf *out, size_t *out_count);
/* Print JSON text as the one document. */
rt_status rt_cli_print_json(rt_cli *cli, rt_str json);

/* ---- changing ---- */

/* Requests that are carried out together, as one step. */
typedef struct rt_cli_change {
	rt_cli *cli;
	rt_scope scope; /* for what requests point to; a failure in it is rt_cli_change_run's */
	rt_request *requests;
	size_t count, room;
	const char *address; /* of the entry that was named last, or NULL; borrowed */
	rt_result *results;  /* count of them, after running */
	rt_result *result;   /* the last one */
	rt_buf *extra;       /* further members of the JSON result, each with a comma before */
} rt_cli_change;

void rt_cli_change_init(rt_cli *cli, rt_cli_change *change);
void rt_cli_change_deinit(rt_cli_change *change);
/* The request is copied; what it points to must outlive the change. */
void rt_cli_change_add(rt_cli_change *change, const rt_request *request);
/* The address of an entry for a request, "@-" and the like resolved. */
rt_str rt_cli_change_entry(rt_cli_change *change, const char *address);
/* JSON for a request; it lives as long as the change. */
yyjson_val *rt_cli_change_value(rt_cli_change *change, rt_str json);
/* Carry the requests out. Opens the session for changing unless it is open already; afterwards
 * the session shows the new value. */
rt_status rt_cli_change_run(rt_cli_change *change);
/* rt_cli_change_add and rt_cli_change_run. */
rt_status rt_cli_change_one(rt_cli_change *change, const rt_request *request);
/* Fields of requests. A text that is there, though it may be empty. */
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
/* RT_UNSET where a flag was not given. */
static inline rt_tristate
rt_cli_yes_if(bool given)
{
	return given ? RT_YES : RT_UNSET;
}
/* Say what changed (with the step and how to undo it), or print the JSON result. */
rt_status rt_cli_change_say(rt_cli_change *change, const char *format, ...) RT_PRINTF(2, 3);
/* A message, and behind it, or below where the line would be too long, what to do next. */
void rt_cli_say(rt_cli *cli, rt_str message, const char *next, ...) RT_PRINTF(3, 4);
/* "k3f9 (User, 4 of 12)" of an entry of the take at hand; just the id when it is not in it. */
void rt_cli_add_where(rt_cli *cli, const char *id, rt_buf *out);

/* ---- files ---- */

/* As app/files.h and app/editor.h say, with hints. */
rt_status rt_cli_read_file(rt_cli *cli, const char *path, rt_buf *out);
rt_status rt_cli_read_whole_file(rt_cli *cli, const char *path, rt_buf *out);
rt_status rt_cli_write_file(rt_cli *cli, const char *path, rt_str bytes, rt_files_write_mode mode);
/* May an editor be opened: is there a person, or was it asked for by name (--editor)? */
bool rt_cli_may_edit(const rt_cli *cli);
rt_status rt_cli_edit_text(rt_cli *cli, const char *name, rt_buf *text, rt_buf *path);
rt_status rt_cli_edit_one(rt_cli *cli, const char *name, rt_buf *text, rt_buf *path);

/* ---- words shared by commands ---- */

/* Of a request that was sent, and is built again. */
#define RT_CLI_NOT_EXACT                                                                        \
	"this is not to the byte what was sent: a hook changed it, something was purged since, " \
	"or another version of Retake sent it"
/* For formats: "%llu entr%s". */
#define RT_CLI_S(count) ((count) == 1 ? "" : "s")
#define RT_CLI_IES(count) ((count) == 1 ? "y" : "ies")
rt_style rt_cli_role_style(rt_str role);

#endif
