/* SPDX-License-Identifier: MIT
 *
 * Verb request: a verb, the entries that it is about, and the precondition that they are as the
 * person saw them; counted by reference, and kept while its question is open or its change is
 * pending.
 *
 * Threads: the terminal's; a pending change reads the precondition in its own (pending.h). */
#ifndef RT_TUI_VERB_REQUEST_H
#define RT_TUI_VERB_REQUEST_H

#include "tui/pane.h"
#include "tui/precondition.h"

typedef struct rt_verb_request rt_verb_request;

/* Carries out a request whose question is answered. */
typedef rt_status (*rt_verb_fn)(rt_tui *tui, rt_verb_request *request, rt_str answer);

struct rt_verb_request {
	rt_action action;
	unsigned references;
	uint32_t seen_take;
	bool is_on;       /* mute, collapse: set or clear */
	bool is_open;     /* a conflict's question is open: freed without an answer, its text goes to
			   * the chat's input history */
	rt_precondition precondition;
	rt_buf answer;    /* to its question: a text, a name */
	rt_buf question;  /* of the conflict; or empty */
	char words[80];   /* what several requests did together; or empty */
	size_t count; /* of entries */
	rt_verb_fn again; /* after a conflict, where the person wants it all the same */
	uint32_t entries[];
};

/* With an empty precondition. NULL: no memory. */
rt_verb_request *rt_verb_request_new(rt_tui *tui, rt_action action, const uint32_t *entries,
				     size_t count);
/* With a precondition of what is there now. RT_OK with NULL: that failed, and was reported. */
RT_CHECKED rt_status rt_verb_request_capture(rt_tui *tui, rt_action action, const uint32_t *entries,
					     size_t count, rt_verb_request **out);
/* One more owner, who frees it, too. */
rt_verb_request *rt_verb_request_ref(rt_verb_request *request);
/* answer may be the one that it has. */
RT_CHECKED rt_status rt_verb_request_set_answer(rt_verb_request *request, rt_str answer);
/* Set the precondition to what is there now. */
RT_CHECKED rt_status rt_verb_request_refresh(rt_tui *tui, rt_verb_request *request, rt_error *err);
/* Is its answer a text that the person wrote? */
bool rt_verb_request_has_text(const rt_verb_request *request);
void rt_verb_request_free(rt_tui *tui, void *request);

#endif
