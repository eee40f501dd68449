/* SPDX-License-Identifier: MIT
 *
 * Cli: what one run of the program holds, and what commands share.
 *
 *   cli.c     start, dispatch, errors          session.c  the store and the value at hand
 *   args.c    the command line                 change.c changes, and what is said of them
 *   term.c    output                           host.c   the machine
 *   file.c    files in and out                 cmd_*.c  the commands
 *   inflight.c replies that are no entries yet
 *   hooks.c   hooks
 *
 * A command's function does its work and gives a status; cli.c turns it into an exit
 * code and, where it is not RT_OK, prints cli->error and a next step. One thread. */
#ifndef RT_CLI_CLI_H
#define RT_CLI_CLI_H

#include <stdatomic.h>

#include "cli/command.h"
#include "app/host.h"
#include "cli/term.h"
#include "core/id.h"
#include "ops/action.h"

enum {
	RT_CLI_HINT_SIZE = 1024,
	RT_ID_ROOM = RT_ID_MAX + 1 /* an id and its NUL */
};

/* Memory that remembers whether there was ever too little: requests and output are put
 * together in many small buffers, and one that stayed empty must not pass for the whole. */
typedef struct rt_cli_memory {
	rt_alloc alloc;
	atomic_bool short_of;
	bool wipes; /* zeroes what is given back: set it before there are threads */
} rt_cli_memory;

/* Hooks, with Ctrl-C held back while one runs: it ends the hook, and so the command. Nothing
 * else is held up. */
typedef struct rt_cli_gate {
	rt_hooks hooks;
	rt_hooks *inner; /* NULL: not open */
} rt_cli_gate;

typedef struct rt_cli {
	rt_cli_memory memory;
	const rt_alloc *alloc; /* that one */
	const rt_env *env;
	rt_term out, err;
	rt_cli_args args;
	bool json, quiet, verbose, no_input;

	/* session.c */
	rt_buf path;     /* of the store; empty: none chosen yet */
	bool path_given; /* by flag or environment */
	bool path_named; /* so, and its folder has to be there */
	rt_store *store;
	bool made_store; /* this command made it */
	bool say_made;   /* and has not said so yet */
	bool is_scratch; /* there is no store yet; looking at an empty one in memory */
	rt_engine *engine;
	const rt_project *value; /* ours; the one that is looked at */
	rt_place place;          /* in it; never 0 */
	rt_host_git git;

	/* hooks.c */
	struct rt_config *config; /* NULL: not read yet */
	rt_cli_gate gate;
	rt_hooks *hooks;          /* the gate's; NULL: there are none */
	rt_apply_context act;          /* between rt_cli_hooks_begin and _end */
	rt_buf hook_notes;              /* what hooks said in that time */
	bool hooks_off;             /* no hooks, whatever there is: a tour, completions */
	bool is_session;          /* session.open was told */

	rt_error error;
	char hint[RT_CLI_HINT_SIZE]; /* the next step; empty: the usual one */
	char kept[RT_CLI_HINT_SIZE]; /* the file in which a text of the person's lies; or empty */
	char question[RT_ID_MAX + 4]; /* an entry that stays though the rest failed; or empty */
	int exit_code;               /* -1: by the status */
	bool json_done;              /* a document was printed already */
	bool changed;                /* something was changed, and that is on disk */
} rt_cli;

int rt_cli_main(int argc, char **argv);

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
/* A word as a shell would have to be given it. */
void rt_cli_add_quoted(rt_buf *buf, const char *word);
/* "retake" with the flags that say where, as somebody would have to type it. */
void rt_cli_add_retake(const rt_cli *cli, rt_buf *buf);
/* The same without the discussion. */
void rt_cli_add_retake_project(const rt_cli *cli, rt_buf *buf);
/* A text that names commands ("Steps: retake history"), each with those of the flags that it
 * needs. What follows "Usage: " stays as it is. */
void rt_cli_add_advice(const rt_cli *cli, rt_buf *buf, rt_str text);
/* The same on standard output. */
void rt_cli_advise(rt_cli *cli, const char *format, ...) RT_PRINTF(2, 3);

/* ---- hooks ---- */

/* The user's configuration, read once. It stays ours. */
rt_status rt_cli_config(rt_cli *cli, const struct rt_config **out);
/* The hooks that there are: of the configuration ([[hook]] as JSON), of the person's folder,
 * of the work folder. Close them with their ops. */
rt_status rt_cli_hooks_open(rt_cli *cli, rt_str definitions, const char *project, rt_hooks **out,
			    rt_error *err);
/* Ask of the engine (rt_apply and rt_action_…) between these two: what hooks want people to know is
 * said at the end. */
const rt_apply_context *rt_cli_hooks_begin(rt_cli *cli);
void rt_cli_hooks_end(rt_cli *cli);
/* Notes, a line each. */
void rt_cli_say_lines(rt_cli *cli, rt_str lines);
/* "cli", or "hook:NAME" where a hook started this program. */
rt_str rt_cli_by(rt_buf *room);

/* ---- the session ---- */

typedef enum rt_cli_mode {
	RT_CLI_LOOK, /* not a byte is written */
	RT_CLI_TEND, /* look, and bring the index up to date where that is possible */
	RT_CLI_CHANGE
} rt_cli_mode;

/* Find out which store is meant (rt_cli.path). */
rt_status rt_cli_find_store(rt_cli *cli);
/* Open the store alone. RT_NOT_FOUND where there is none, unless to be changed. */
rt_status rt_cli_open_store(rt_cli *cli, rt_cli_mode mode);
/* Open store, project and value; where there is no store yet, looking sees an empty one. */
rt_status rt_cli_open(rt_cli *cli, rt_cli_mode mode);
void rt_cli_close(rt_cli *cli);
/* Say that a new store was made, once: at the end, or when the command is up and running. */
void rt_cli_say_made(rt_cli *cli);
/* The store is closed: a failed command does not leave a new and empty store behind. */
void rt_cli_end_made(rt_cli *cli, bool failed);
/* What rt_cli_open and rt_cli_close do about hooks. A configuration that cannot be read is
 * a note for who looks, and a failure for who changes something. */
rt_status rt_cli_hear(rt_cli *cli, rt_cli_mode mode);
void rt_cli_close_hooks(rt_cli *cli);
/* Look at the newest value, in the place that the flags say. */
rt_status rt_cli_look(rt_cli *cli);
rt_status rt_cli_disc(rt_cli *cli, const rt_disc **out);
rt_status rt_cli_take(rt_cli *cli, const rt_take **out);
/* The project that is worked on. */
rt_str rt_cli_project_name(const rt_cli *cli);
/* Discussion and take as operations are given them; empty: the active ones. */
rt_str rt_cli_disc_name(const rt_cli *cli);
rt_str rt_cli_take_name(const rt_cli *cli);
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

/* Requests, collected and then carried out together. */
typedef struct rt_cli_change {
	rt_cli *cli;
	rt_buf json; /* an array of requests */
	size_t count;
	const char *address; /* of the entry that was named last, or NULL; borrowed */
	yyjson_val **requests; /* the same, read */
	rt_result *results; /* count of them, after running */
	rt_result *result;  /* the last one */
	rt_buf extra;       /* further members of the JSON result, each with a comma before */
	rt_json_doc *doc;
} rt_cli_change;

void rt_cli_change_init(rt_cli *cli, rt_cli_change *change);
void rt_cli_change_deinit(rt_cli_change *change);
/* Begin a request, then its fields. */
void rt_cli_change_op(rt_cli_change *change, const char *op);
void rt_cli_change_text(rt_cli_change *change, const char *key, rt_str text);
void rt_cli_change_json(rt_cli_change *change, const char *key, rt_str json);
void rt_cli_change_bool(rt_cli_change *change, const char *key, bool value);
void rt_cli_change_number(rt_cli_change *change, const char *key, uint64_t number);
/* An address of an entry, "@-" and the like resolved. */
rt_status rt_cli_change_entry(rt_cli_change *change, const char *key, const char *address);
/* Carry them out; several are one step. Opens the session for changing where it is not yet,
 * and afterwards looks at the new value. */
rt_status rt_cli_change_run(rt_cli_change *change);
/* A request with text fields alone: key, value, key, value …, NULL. */
rt_status rt_cli_change_simple(rt_cli_change *change, const char *op, ...);
/* Say what changed (with the step and how to undo it), or print the JSON result. */
rt_status rt_cli_change_say(rt_cli_change *change, const char *format, ...) RT_PRINTF(2, 3);
/* A message, and behind it, or below where the line would be too long, what to do next. */
void rt_cli_say(rt_cli *cli, rt_str message, const char *next, ...) RT_PRINTF(3, 4);
/* "k3f9 (User, 4 of 12)" of an entry of the take at hand; just the id when it is not in it. */
void rt_cli_add_where(rt_cli *cli, const char *id, rt_buf *out);

/* ---- files ---- */

/* All of a file ("-": standard input) appended. RT_NOT_FOUND, RT_IO, RT_LIMIT. */
rt_status rt_cli_read_file(rt_cli *cli, const char *path, rt_buf *out);
/* All of a file as it was at one moment, in memory of our own: what others do to the file
 * afterwards changes nothing here. Close it in the end. RT_BUSY: it is being written to. */
typedef struct rt_cli_file {
	rt_str bytes;
	rt_buf buf;
} rt_cli_file;
rt_status rt_cli_file_open(rt_cli *cli, const char *path, rt_cli_file *out);
void rt_cli_file_close(rt_cli_file *file);
/* Write a new file whole or not at all. RT_REFUSED: it is there and replace is false. */
rt_status rt_cli_write_file(rt_cli *cli, const char *path, rt_str bytes, bool replace);
/* The same for nobody but ourselves to read, and never over a file. */
rt_status rt_cli_write_private(rt_cli *cli, const char *path, rt_str bytes);
/* A private temporary file with this text; its path to out. */
rt_status rt_cli_temp_file(rt_cli *cli, const char *name, rt_str text, rt_buf *out);

/* ---- words shared by commands ---- */

/* Of a request that was sent, and is built again. */
#define RT_CLI_NOT_EXACT                                                                        \
	"this is not to the byte what was sent: a hook changed it, something was purged since, " \
	"or another version of Retake sent it"
/* For formats: "%llu entr%s". */
#define RT_CLI_S(count) ((count) == 1 ? "" : "s")
#define RT_CLI_IES(count) ((count) == 1 ? "y" : "ies")
rt_style rt_cli_role_style(rt_str role);
/* What an entry says, as people read it: its text, and on a line of its own what else there
 * is, such as "(calls read, bash)". entry: the object that a view gave. */
void rt_cli_add_content(rt_buf *buf, yyjson_val *entry);

#endif
