/* SPDX-License-Identifier: MIT
 *
 * Pending change: a change that a person asked for, carried out while the screen goes on. It has a
 * thread of its own, since it may have to wait: for another process that writes to the store, for a
 * hook. There is one at a time.
 *
 *   under way   for 50 ms the terminal's thread waits for it, so that as a rule what it did is in
 *               the next frame. After that the screen goes on
 *   told        after 150 ms a line says what is waited for. From then on keys that only look or
 *               write do so; all others, and what is typed before the line is seen, are held back
 *               until the pending change has ended (typeahead.h)
 *   given up    by Escape or Ctrl+C, as long as it is not being written: nothing is changed then.
 *               A hook that runs after it is ended so, too, and the change stands
 *   over        whoever asked is told, on the terminal's thread. What was held back is done now,
 *               unless somebody else has changed the discussion since it was typed;
 *               or, where it failed, it is not, and that is said; neither is what was typed
 *               before a frame has shown the question that it ended in
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_PENDING_H
#define RT_TUI_PENDING_H

#include "tui/pane.h"
#include "tui/precondition.h"

struct rt_event;

/* How it ended. st RT_OK: said is what became of it, and may be changed; the work looks at the new
 * value. Otherwise err says why nothing was changed: RT_INTERRUPTED: it was given up;
 * RT_CONFLICT: it is not as it was seen; RT_BUSY. */
typedef rt_status (*rt_pending_change_fn)(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said,
					  const rt_error *err);

typedef struct rt_pending_change_options {
	const rt_request *requests; /* copied; several are one step */
	size_t count;
	const rt_precondition *precondition; /* has to be so still, or NULL; lives as long as ctx */
	rt_pending_change_fn done;
	void *ctx;           /* taken over, on failure, too */
	void (*free_ctx)(rt_tui *tui, void *ctx); /* or NULL; maybe long after done */
} rt_pending_change_options;

/* done may be called before this returns, and is what may fail then. Without a terminal (tests)
 * it always is. */
RT_CHECKED rt_status rt_pending_change_start(rt_tui *tui, const rt_pending_change_options *how);
/* A failure is said, and what was done, as rt_tui_say_change does. */
RT_CHECKED rt_status rt_pending_change_report(rt_tui *tui, void *ctx, rt_status st,
					      rt_work_said *said, const rt_error *err);

/* What was held back is not carried out, and the notice says so. */
void rt_pending_change_drop_typeahead(rt_tui *tui, const char *why);

/* ---- for the loop ---- */

/* Is it over? Then who asked is told. Each turn. */
RT_CHECKED rt_status rt_pending_change_poll(rt_tui *tui);
/* A key or a paste while one is under way. *out_taken false: it is to be carried out now. */
RT_CHECKED rt_status rt_pending_change_on_event(rt_tui *tui, const struct rt_event *event,
						bool *out_taken);
/* No more than it can be given up now. */
RT_CHECKED rt_status rt_pending_change_cancel(rt_tui *tui);
/* The end of the screen: what is being written is waited for, and whoever asked is told. */
RT_CHECKED rt_status rt_pending_change_finish(rt_tui *tui);
/* The same after a failure: nobody is told. */
void rt_pending_change_stop(rt_tui *tui);
/* What is waited for, in a line; false: there is nothing to be said (yet). The person sees it in
 * the frame that is being drawn. */
bool rt_pending_change_status_text(rt_tui *tui, rt_buf *out);
/* May the program not end yet? */
bool rt_pending_change_is_unfinished(const rt_tui *tui);

#endif
