/* SPDX-License-Identifier: MIT
 *
 * Session: one run of a program on one store: the store, the project's engine, the value in view,
 * configuration and hooks.
 *
 * Reading opens the store for reading only and never creates a file: if there is no store yet, an
 * empty in-memory store is used.
 *
 * Nothing is printed. Remarks go to the note callback; after a failure the error has the message,
 * and hint the suggested next step (may be empty). Commands in either ("retake show") do not repeat
 * flags such as --db. One thread. */
#ifndef RT_APP_SESSION_H
#define RT_APP_SESSION_H

#include "app/git_host.h"
#include "app/host.h"
#include "llm/config.h"
#include "ops/action.h"

enum { RT_SESSION_HINT_SIZE = 1024, RT_SESSION_NAME_ROOM = 40 };

typedef enum rt_session_mode {
	RT_SESSION_LOOK,     /* nothing is written */
	RT_SESSION_MAINTAIN, /* the same, but the index is updated if possible */
	RT_SESSION_CHANGE
} rt_session_mode;

/* Hooks, with Ctrl-C held back while one runs: it ends the hook, and with it the command. */
typedef struct rt_session_gate {
	rt_hooks hooks;
	rt_hooks *inner; /* NULL: not open */
} rt_session_gate;

/* Command line options; NULL if not given. Borrowed. */
typedef struct rt_session_names {
	const char *db, *project, *discussion, *take;
	const char *step; /* --at-step */
	const char
		*glued_discussion; /* the whole word ("-dash"), if the value followed its letter
				    * directly and may have been meant as a text; or NULL */
} rt_session_names;

typedef struct rt_session {
	/* Set by the caller before opening. */
	const rt_alloc *alloc;
	const rt_env *env;
	rt_session_names given;
	const char *command; /* the name of the command, for messages */
	bool read_only, relaxed, verbose;
	bool hooks_off; /* no hooks at all: for a tour, completions */
	void (*note)(void *ctx, const char *text); /* NULL: remarks are dropped */
	void *note_ctx;

	rt_buf address;  /* of the store; empty: none chosen yet */
	rt_buf shown;    /* the same without credentials, if it is not a file */
	rt_buf similar;  /* the name of the discussion that given.discussion was found to mean */
	bool path_given; /* by flag or environment */
	bool path_named; /* named in that way; its folder must exist */
	rt_store *store;
	bool made_store; /* this session created it */
	bool is_scratch; /* there is no store yet; this is an empty one in memory */
	rt_engine *engine;
	const rt_project *value; /* the value in view; owned */
	rt_place place;          /* in it; never 0 */
	rt_git git;

	rt_config *config; /* NULL: not read yet */
	int64_t config_changed_ns; /* when its file was changed before that; 0: there was no file */
	rt_session_gate gate;
	rt_hooks *hooks;      /* those of the gate (session_hooks.c); NULL: there are none */
	rt_apply_context act; /* between rt_session_hooks_begin and _end */
	rt_buf hook_notes;    /* notes of hooks in that time */
	bool is_session;      /* the event session.open was fired */

	char hint[RT_SESSION_HINT_SIZE]; /* after a failure: the next step; or empty */
} rt_session;

void rt_session_init(rt_session *session, const rt_alloc *alloc, const rt_env *env);
/* Closes and frees everything. */
void rt_session_deinit(rt_session *session);

/* Determines the store (address). */
RT_CHECKED rt_status rt_session_find_store(rt_session *session, rt_error *err);
/* Opens only the store. RT_NOT_FOUND: no store, and mode is not RT_SESSION_CHANGE. */
RT_CHECKED rt_status rt_session_open_store(rt_session *session, rt_session_mode mode,
					   rt_error *err);
/* Opens store, project, hooks and value. */
RT_CHECKED rt_status rt_session_open(rt_session *session, rt_session_mode mode, rt_error *err);
/* May be opened again. */
void rt_session_close(rt_session *session);
/* Reads the newest value, or that of given.step, and resolves the given place in it. */
RT_CHECKED rt_status rt_session_look(rt_session *session, rt_error *err);

/* Adds the name of the discussion whose name or title is the word, ignoring case, or else of the only
 * one whose name or title begins with it. RT_NOT_FOUND: none, or one with that name was deleted; hint
 * names a similar one, or is empty. RT_AMBIGUOUS: several; the message has their names. Cost: that of
 * rt_discs_list. */
RT_CHECKED rt_status rt_session_similar(rt_session *session, rt_str word, rt_buf *out_name,
					rt_error *err);
/* The project's name. */
rt_str rt_session_project(const rt_session *session);
/* The given addresses of discussion and take; empty: the active ones. */
rt_str rt_session_discussion(const rt_session *session);
rt_str rt_session_take(const rt_session *session);
/* A name that no discussion has: "discussion-2", or the next free number. */
void rt_session_free_name(const rt_project *value, char out[RT_SESSION_NAME_ROOM]);
/* The address without credentials; "" when none is chosen yet. Borrowed. */
const char *rt_session_shown(const rt_session *session);
/* The path of the file that the address means; NULL: it is not a file. Borrowed. */
const char *rt_session_file(const rt_session *session);
/* The address of the open store, valid in every directory: the full path of a file. malloc'ed;
 * NULL: the store is in memory, or there is not enough memory. */
char *rt_session_store_path(const rt_session *session);

/* Sets hint; returns status. */
rt_status rt_session_hint(rt_session *session, rt_status status, const char *format, ...)
	RT_PRINTF(3, 4);
void rt_session_note(const rt_session *session, const char *format, ...) RT_PRINTF(2, 3);
/* A note for each line. */
void rt_session_note_lines(const rt_session *session, rt_str lines);

/* ---- configuration and hooks ---- */

/* The user's configuration, read once. It stays the session's. */
RT_CHECKED rt_status rt_session_config(rt_session *session, const rt_config **out, rt_error *err);
/* Was its file changed since then? A long-running program has to be restarted to use the change. */
bool rt_session_config_is_outdated(const rt_session *session);
/* All hooks: of the configuration ([[hook]] as JSON), of the user's folder, of the work folder.
 * project NULL: the one given. Closed with their ops. */
RT_CHECKED rt_status rt_session_hooks_new(const rt_session *session, rt_str definitions,
					  const char *project, rt_hooks **out, rt_error *err);
/* How rt_session_open and _close load hooks. An unreadable configuration is a note when reading,
 * and a failure when changing. */
RT_CHECKED rt_status rt_session_hooks_open(rt_session *session, rt_session_mode mode,
					   rt_error *err);
void rt_session_hooks_close(rt_session *session);
/* Use the engine (rt_apply and rt_action_…) between these two: notes of hooks are reported at the
 * end. */
const rt_apply_context *rt_session_hooks_begin(rt_session *session);
void rt_session_hooks_end(rt_session *session);
/* The terminal UI sets it to "tui" for commands that are typed there. */
#define RT_SESSION_BY_VARIABLE "RETAKE_BY"
/* "cli", "tui", or "hook:NAME" where a hook started this program. room keeps the text. */
rt_str rt_session_by(rt_buf *room);

#endif
