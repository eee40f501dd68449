/* SPDX-License-Identifier: MIT
 *
 * Verb: what can be done to entries, wherever they were selected: in the chat or in the tree. It
 * asks for what it needs (a label, a role, a text), does it as one step, and says so: also what
 * went wrong, so that RT_NOMEM and RT_LIMIT (too many panes) are all that comes back.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_VERB_H
#define RT_TUI_VERB_H

#include "tui/pane.h"

/* entries: numbers, in the order of the take or the tree; count 0: nothing happens but a notice.
 * *out_used false: the action is no verb. EDIT, EDIT_AS_TAKE (one entry), EDITOR, INSERT_BEFORE,
 * INSERT_AFTER, ROLE, DELETE, DELETE_BELOW, MOVE, GRAFT, BRANCH, MUTE, LABEL, COPY, COPY_PATH,
 * SPLIT, MERGE, VERSIONS, AGAIN, CONTINUE, COLLAPSE, EXPORT; and what needs no entry: UNDO, REDO,
 * TAKE_PREVIOUS, TAKE_NEXT, COMPACT, MODEL, PROMPT. The entry is meant as the take at hand has it,
 * or as work->seen_take, which a question that is asked remembers. entries are copied. */
RT_CHECKED rt_status rt_verb_act(rt_tui *tui, rt_action action, const uint32_t *entries,
				 size_t count, bool *out_used);

/* The head elsewhere, as seed 4: entry 0 is before the first. Asks whether to sum up what is
 * left, where there is something; then "Already at this point", or the text handed back is in
 * the input. done (may be NULL): it was not cancelled. */
RT_CHECKED rt_status rt_verb_navigate(rt_tui *tui, uint32_t entry, bool select,
				      void (*done)(rt_tui *));

/* Stop such a way while what is left is being summed up; false: there is none. */
bool rt_verb_navigate_stop(rt_tui *tui);

/* A run has ended; where it was such a way, that is said. */
RT_CHECKED rt_status rt_verb_went(rt_tui *tui);

/* A line that begins with "/": carried out. *out_known false: there is no such command. */
RT_CHECKED rt_status rt_slash_run(rt_tui *tui, rt_str line, bool *out_known);
/* What a line that begins with "/" could go on as: an array of words, for rows below the input. */
typedef struct rt_slash {
	const char *name;  /* "/branch-here" */
	const char *words; /* "[ENTRY]" */
	const char *what;
} rt_slash;
extern const rt_slash rt_slashes[]; /* ended by NULL */

#endif
