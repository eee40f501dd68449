/* SPDX-License-Identifier: MIT
 *
 * Verb request: a verb, what it is about, and how that was seen; kept while a question is open, and
 * while it is carried out.
 *
 * Threads: the one of the terminal; what was seen may be looked at by another (pending.h). */
#ifndef RT_TUI_VERB_REQUEST_H
#define RT_TUI_VERB_REQUEST_H

#include "tui/pane.h"
#include "tui/precondition.h"

typedef struct rt_verb_request rt_verb_request;

/* Carries out a request whose question is answered. */
typedef rt_status (*rt_verb_fn)(rt_tui *tui, const rt_verb_request *request, rt_str answer);

struct rt_verb_request {
	rt_action action;
	uint32_t seen_take;
	bool is_on;       /* mute and collapse: or no more */
	bool is_open;     /* it is asked what is to become of it: freed without an answer, its text
			   * stays to be had */
	rt_precondition precondition;
	rt_buf answer;    /* to the question: a text, a name; while it is carried out */
	rt_buf question;  /* that was asked since it was not as it was seen; or empty */
	char words[80];   /* what several requests did together; or empty */
	size_t count; /* of entries */
	rt_verb_fn again; /* after a conflict, where the person wants it all the same */
	uint32_t entries[];
};

/* Nothing of it was looked at yet. NULL: no memory. */
rt_verb_request *rt_verb_request_new(rt_tui *tui, rt_action action, const uint32_t *entries,
				     size_t count);
/* As it is seen now. RT_OK with NULL: it cannot be read, which was said. */
RT_CHECKED rt_status rt_verb_request_capture(rt_tui *tui, rt_action action, const uint32_t *entries,
					     size_t count, rt_verb_request **out);
RT_CHECKED rt_status rt_verb_request_copy(rt_tui *tui, const rt_verb_request *request,
					  rt_str answer, rt_verb_request **out);
/* As it is seen now is as it has to be. */
RT_CHECKED rt_status rt_verb_request_refresh(rt_tui *tui, rt_verb_request *request, rt_error *err);
/* Is a text of the person's in its answer? */
bool rt_verb_request_has_text(const rt_verb_request *request);
void rt_verb_request_free(rt_tui *tui, void *request);

#endif
