/* SPDX-License-Identifier: MIT
 *
 * Built-in: models that are always there (M10). No network, no key, no clock, no chance:
 * the same request always gets the same reply. For a first look, for demos, for tests.
 *
 *   echo      repeats the beginning of what was said last, and says how long the
 *             conversation is; asked for a summary ("summar…" in what was said last), it
 *             gives one
 *   summary   the first words of each message
 *   play      what a script says
 *
 * A script has one JSON object a line; empty lines are passed over:
 *
 *   {"text":"Hello "}             said, in one piece
 *   {"thinking":"hm"}             thought; {"signature":"…"} signs it
 *   {"call":{"id":"c1","name":"read","arguments":{…}}}
 *   {"wait_ms":50}
 *   {"usage":{"input_tokens":10,"output_tokens":2}}     else they are estimated
 *   {"stop":"length"}             a word of rt_stop_word; else it is what fits
 *   {"cut":true}                  the connection ends here
 *   {"error":{"status":429,"message":"slow down","retry_after":1}}
 *                                 the server says no. 401 and 403 are RT_CREDENTIALS. With
 *                                 retry_after (seconds) it is tried again after that time:
 *                                 the next line follows. Without a status it is an error
 *                                 in the middle of a reply.
 *   {"next":true}                 here the next reply begins
 *
 * Which reply is due is told by the request: the number of the assistant's messages in it,
 * counted around. So nothing has to be remembered, and what is undone is played again. */
#ifndef RT_LLM_BUILTIN_H
#define RT_LLM_BUILTIN_H

#include "chat/model.h"
#include "llm/provider.h"

typedef struct rt_builtin_options {
	rt_str name;      /* "echo", "summary", "play" or "play:…", also with "builtin/" in
			    * front; empty: echo */
	rt_str script;    /* what play plays; borrowed only while opening */
	unsigned pace_ms; /* between two pieces of what is not played; 0: no pause */
	/* Wait, at most 50 ms at once. NULL: no time passes. */
	void (*wait_ms)(void *ctx, unsigned ms);
	void *wait_ctx;
} rt_builtin_options;

/* Is there a built-in model of that name? RT_NOT_FOUND: err says which there are. */
RT_CHECKED rt_status rt_builtin_check(rt_str name, rt_error *err);
/* RT_NOT_FOUND: no such model. RT_USAGE: the script is wrong, with its line in err.
 * RT_NOMEM. Close the model with its ops. */
RT_CHECKED rt_status rt_builtin_open(const rt_alloc *alloc, const rt_builtin_options *options,
				     rt_model **out, rt_error *err);

#endif
