/* SPDX-License-Identifier: MIT
 *
 * A model session (app/model_session.h) of a command that sends, and what is shown while a reply
 * arrives. */
#ifndef RT_CLI_MODEL_SESSION_H
#define RT_CLI_MODEL_SESSION_H

#include "app/model_session.h"
#include "chat/send.h"
#include "chat/summary.h"
#include "cli/cli.h"

typedef struct rt_cli_model_session {
	rt_cli *cli;
	rt_model_session m;
	bool in_chat;        /* advice is what can be typed there */
	int stops;           /* signals when it was first seen that there are any; 0: none was */
	bool shows;          /* print the reply as it comes */
	bool began;          /* something of it was printed */
	bool answered;       /* something of it came */
	bool ended_line;     /* the last of it was a line end */
	bool noticed;        /* a line that says that we wait stands there */
} rt_cli_model_session;

/* By the flags --model and --budget. Close in any case. */
rt_status rt_cli_model_session_open(rt_cli *cli, rt_cli_model_session *session, bool needs_model);
void rt_cli_model_session_close(rt_cli_model_session *session);
/* What the engine sends with. From here on Ctrl-C stops the reply, not the program. */
void rt_cli_model_session_with(rt_cli_model_session *session, rt_send_with *out);
/* The end of what was shown, and how it went: notes, what was left out. */
void rt_cli_model_session_end(rt_cli_model_session *session, const rt_text *note);

#endif
