/* SPDX-License-Identifier: MIT
 *
 * A model session (app/model_session.h) of a command that sends, and the display of an arriving
 * reply. */
#ifndef RT_CLI_MODEL_SESSION_H
#define RT_CLI_MODEL_SESSION_H

#include "app/attach.h"
#include "app/model_session.h"
#include "chat/send.h"
#include "chat/summary.h"
#include "cli/cli.h"

typedef struct rt_cli_model_session {
	rt_cli *cli;
	rt_model_session m;
	rt_file_options files; /* where files are read */
	bool is_chat;    /* advice contains commands that can be typed there */
	int stops;       /* number of interrupts when the first was noticed; 0: none */
	bool shows;      /* prints the reply while it arrives */
	bool began;      /* a part of it was printed */
	bool answered;   /* a part of it arrived */
	bool ended_line; /* the last character was a line end */
	bool renders;    /* … as Markdown, block by block */
	bool collects;   /* keeps the text in `reply` and prints nothing */
	rt_buf reply;    /* the text so far, if it is rendered or collected */
	rt_markdown_part part; /* the printed part of it */
	rt_buf attached; /* chat: the paths of files for the next message, each ended by a NUL */
	bool noticed;    /* a line about waiting is on the terminal */
} rt_cli_model_session;

/* By the flags --model and --budget; closed with the command. NULL once that has failed. */
rt_cli_model_session *rt_cli_model_session_open(rt_cli *cli, bool needs_model);
/* The engine's model. From here on Ctrl-C stops the reply, not the program. */
rt_send_with rt_cli_model_session_with(rt_cli_model_session *session);
/* Ends the display and prints the notes. */
void rt_cli_model_session_end(rt_cli_model_session *session, const rt_text *note);

#endif
