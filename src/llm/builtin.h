/* SPDX-License-Identifier: MIT
 *
 * Built-in: models that are always available (M10). No network, no key, no clock, no randomness:
 * the same request always gets the same reply. For first steps, for demos, for tests.
 *
 *   echo      repeats the beginning of the last message and counts the messages; if a summary is
 *             requested ("summar…" in the last message), it gives one
 *             It names the images and files of that message
 *   text      the same, but accepts only text: images and files are refused
 *   summary   the first words of each message
 *   play      a script
 *
 * A script has one JSON object a line; empty lines are ignored:
 *
 *   {"text":"Hello "}             text, in one piece
 *   {"thinking":"hm"}             reasoning; {"signature":"…"} signs it
 *   {"call":{"id":"c1","name":"read","arguments":{…}}}
 *   {"wait_ms":50}
 *   {"usage":{"input_tokens":10,"output_tokens":2}}     otherwise estimated
 *   {"stop":"length"}             a word of rt_stop_word; otherwise the appropriate one
 *   {"cut":true}                  the connection ends here
 *   {"error":{"status":429,"message":"slow down","retry_after":1}}
 *                                 the server refuses. 401 and 403 are RT_CREDENTIALS. With
 *                                 retry_after (seconds) the request is repeated after that
 *                                 time: the next line follows. Without a status it is an error
 *                                 within a reply.
 *   {"next":true}                 the next reply begins
 *
 * The number of the assistant's messages in the request chooses the reply, modulo the number of
 * replies. So there is no state, and after an undo the same reply is played again. */
#ifndef RT_LLM_BUILTIN_H
#define RT_LLM_BUILTIN_H

#include "chat/model.h"
#include "llm/provider.h"

typedef struct rt_builtin_options {
	rt_str name;      /* "echo", "text", "summary", "play" or "play:…", also with the prefix "builtin/";
			   * empty: echo */
	rt_str script;    /* of play; borrowed only while opening */
	unsigned pace_ms; /* between two pieces of echo and summary; 0: no pause */
	/* Wait, at most 50 ms per call. NULL: no time passes. */
	void (*wait_ms)(void *ctx, unsigned ms);
	void *wait_ctx;
} rt_builtin_options;

/* Is there a built-in model of that name? RT_NOT_FOUND, with the existing ones. */
RT_CHECKED rt_status rt_builtin_check(rt_str name, rt_error *err);
/* RT_NOT_FOUND: no such model. RT_USAGE: the script is wrong; err has the line. RT_NOMEM.
 * Close the model with its ops. */
RT_CHECKED rt_status rt_builtin_open(const rt_alloc *alloc, const rt_builtin_options *options,
				     rt_model **out, rt_error *err);

#endif
