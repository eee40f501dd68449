/* SPDX-License-Identifier: MIT
 *
 * Model session: a model, hooks and the record of requests, opened for a command that sends; and
 * what it shows while a reply arrives. */
#ifndef RT_CLI_MODEL_SESSION_H
#define RT_CLI_MODEL_SESSION_H

#include "cli/cli.h"
#include "chat/send.h"
#include "chat/summary.h"
#include "llm/comms_host.h"
#include "llm/models_host.h"

typedef struct rt_cli_model_session {
	rt_cli *cli;
	const rt_config *config; /* the session's */
	rt_model *model;
	rt_comms *comms;
	rt_buf name;         /* of the model, as it was chosen */
	rt_buf owner, state; /* this process; the state folder */
	char *store;         /* the store's whole path; NULL: not known, or no file */
	size_t budget, given_budget; /* in force; what --budget says, or 0 */
	bool in_chat;        /* advice is what can be typed there */
	rt_pick_counter counter; /* of the model's tokens */
	int stops;           /* signals when it was first seen that there are any; 0: none was */
	bool shows;          /* print the reply as it comes */
	bool began;          /* something of it was printed */
	bool answered;       /* something of it came */
	bool ended_line;     /* the last of it was a line end */
	bool noticed;        /* a line that says that we wait stands there */
	rt_reply_block_kind kind; /* of what was printed last */
} rt_cli_model_session;

/* The session is open for changing. The model is that of -m, else the setting's, else that of
 * RETAKE_MODEL, else the configuration's. needs_model false: none is looked for.
 * RT_CREDENTIALS: there is none, with what was found on this machine. Close in any case. */
rt_status rt_cli_model_session_open(rt_cli *cli, rt_cli_model_session *session, bool needs_model);
void rt_cli_model_session_close(rt_cli_model_session *session);
/* Open a model by name, and nothing else: a server's, or a built-in one ("builtin/play:FILE"
 * plays a file, with may_play). It is the caller's. */
rt_status rt_cli_model_session_model(rt_cli_model_session *session, rt_str name, bool may_play,
				     rt_model **out);
/* A remark on standard error where nobody is known to have a model of that name, for who sets it:
 * it may be there later. */
void rt_cli_model_session_note_model(rt_cli *cli, rt_str name);
/* What the engine sends with. From here on Ctrl-C stops the reply, not the program. */
void rt_cli_model_session_with(rt_cli_model_session *session, rt_send_with *out);
/* The end of what was shown, and how it went: notes, what was left out. */
void rt_cli_model_session_end(rt_cli_model_session *session, const rt_text *note);
/* The store's whole path, malloc'ed: what the record of requests calls it. NULL: it has
 * none, or there is no memory. */
char *rt_cli_model_session_store(rt_cli *cli);
/* The model's name in the setting; empty: none. */
rt_status rt_cli_model_session_setting(rt_cli *cli, rt_buf *out);

#endif
