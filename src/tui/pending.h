/* SPDX-License-Identifier: MIT
 *
 * Pending change: requests, the precondition under which they are executed, and the actions
 * afterwards. It runs in a worker while the screen stays usable, since it may wait for another
 * process that writes to the store, or for a hook. There is at most one. Text typed into the chat's
 * input is stored before it, as a separate step.
 *
 *   running     the terminal's thread waits 50 ms for it, so that its effect is usually in the next
 *               frame
 *   announced   after 150 ms a line says what it waits for. From then on typing and keys that
 *               change nothing work; all others, and those typed before that line was drawn, are
 *               kept in the typeahead (typeahead.h) until it has ended
 *   cancelled   by Escape or Ctrl+C unless it is being written already: nothing is changed then.
 *               A hook that runs after it is only ended, and the change stays
 *   ended       its callback is called on the terminal's thread, then the typeahead is replayed.
 *               The typeahead is dropped, with a notice, if the change failed, if another program
 *               changed the discussion since it was typed, or if it was typed before a frame had
 *               shown the question in which the change ended
 *
 * Threads: the terminal's. */
#ifndef RT_TUI_PENDING_H
#define RT_TUI_PENDING_H

#include "tui/pane.h"
#include "tui/precondition.h"

struct rt_event;

/* The outcome. RT_OK: said describes the change, and may be modified; the work is at the new value.
 * Otherwise nothing was changed, and err says why. RT_INTERRUPTED: it was cancelled. RT_CONFLICT:
 * the precondition does not hold. RT_BUSY: another one is pending. */
typedef rt_status (*rt_pending_change_fn)(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said,
					  const rt_error *err);

typedef struct rt_pending_change_options {
	const rt_request *requests; /* copied; several are one step */
	size_t count;
	const rt_precondition *precondition; /* checked before writing, or NULL; lives as long as ctx */
	/* Started by the program rather than the user: it is announced only if a key has to wait
	 * for it, and keys that look or write work at once. */
	bool is_quiet;
	rt_pending_change_fn done;
	void *ctx;           /* owned from here on, also on failure */
	void (*free_ctx)(rt_tui *tui, void *ctx); /* or NULL; possibly long after done */
} rt_pending_change_options;

/* done may be called before this returns, which then returns its status. Without a terminal
 * (tests) it always is. */
RT_CHECKED rt_status rt_pending_change_start(rt_tui *tui, const rt_pending_change_options *options);
/* Report the change as rt_tui_say_change does, or the failure. */
RT_CHECKED rt_status rt_pending_change_report(rt_tui *tui, void *ctx, rt_status st,
					      rt_work_said *said, const rt_error *err);

/* Drop the typeahead, and add that to the notice. */
void rt_pending_change_drop_typeahead(rt_tui *tui, const char *why);

/* ---- for the loop ---- */

/* Call done if it has ended. Every turn. */
RT_CHECKED rt_status rt_pending_change_poll(rt_tui *tui);
/* A key or a paste while one is pending. *out_taken false: the caller handles it. */
RT_CHECKED rt_status rt_pending_change_on_event(rt_tui *tui, const struct rt_event *event,
						bool *out_taken);
/* Cancels it if that is still possible. */
RT_CHECKED rt_status rt_pending_change_cancel(rt_tui *tui);
/* Wait for its end and call done. When the screen ends. */
RT_CHECKED rt_status rt_pending_change_finish(rt_tui *tui);
/* The same, but cancels it if it has not ended within this time. */
RT_CHECKED rt_status rt_pending_change_finish_soon(rt_tui *tui, int wait_ms);
/* The same after a failure, without calling done. */
void rt_pending_change_stop(rt_tui *tui);
/* What it waits for, as a line for the frame that is being drawn; false: nothing to show (yet). */
bool rt_pending_change_status_text(rt_tui *tui, rt_buf *out);
/* Must the program not end yet? */
bool rt_pending_change_is_unfinished(const rt_tui *tui);

#endif
