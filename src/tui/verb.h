/* SPDX-License-Identifier: MIT
 *
 * Verb: an action on entries, wherever they were selected: in the chat or in the tree. A verb asks
 * for its arguments (a label, a role, a text), makes its change as one step, and reports it.
 * Failures are reported, too, so that only RT_NOMEM and RT_LIMIT (too many panes) are returned.
 *
 * Threads: the terminal's. */
#ifndef RT_TUI_VERB_H
#define RT_TUI_VERB_H

#include "tui/pane.h"

/* entries: numbers, in the order of the take or the tree; copied. count 0: most verbs only report
 * that. *out_used false: the action is not a verb. The entries are those of the take in view, or of
 * work->seen_take, which an open question remembers. */
RT_CHECKED rt_status rt_verb_act(rt_tui *tui, rt_action action, const uint32_t *entries,
				 size_t count, bool *out_used);

/* Navigate (seed 4): move the head to an entry; 0: before the first. Asks whether to summarize the
 * branch that is left, if there is one. A returned text goes into the input. done (may be NULL):
 * called unless it was cancelled. */
RT_CHECKED rt_status rt_verb_navigate(rt_tui *tui, uint32_t entry, bool select,
				      void (*done)(rt_tui *));
/* Cancel a navigation whose summary is being written; false: none. */
bool rt_verb_navigate_stop(rt_tui *tui);
/* A run has ended: report it if it was a navigation. */
RT_CHECKED rt_status rt_verb_went(rt_tui *tui);

/* Executes a line that begins with "/". *out_known false: unknown command. */
RT_CHECKED rt_status rt_slash_run(rt_tui *tui, rt_str line, bool *out_known);
/* The only slash command that begins with a verb ("/comp"), else the verb. */
rt_str rt_slash_complete(const rt_tui *tui, rt_str verb);
/* The commands that begin with it: "/reset, /restore". False: there are not several. */
bool rt_slash_add_ambiguous(const rt_tui *tui, rt_str verb, rt_buf *out);
/* The commands, for completion. */
typedef struct rt_slash {
	const char *name;  /* "/branch-here" */
	const char *words; /* "[ENTRY]" */
	const char *what;
	rt_status (*run)(rt_tui *tui, rt_action action, rt_str rest); /* rest: of the line, trimmed */
	rt_action action;
} rt_slash;
extern const rt_slash rt_slashes[]; /* ended by NULL */

#endif
