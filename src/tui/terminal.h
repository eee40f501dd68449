/* SPDX-License-Identifier: MIT
 *
 * Terminal: the terminal. It shows a canvas, and gives what the person does: keys, pastes, a new
 * size; and that something else wants to be looked at (a wake-up from another thread).
 *
 * By ncurses, which knows terminals and writes only what has changed. The terminal is given
 * back as it was on every way out: the end, a failure, SIGTERM, SIGHUP, SIGINT from outside,
 * SIGQUIT, a fault in the program (SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL: restored, then the
 * signal is raised again), exit(); Ctrl-Z suspends and `fg` brings all back. What is written to
 * standard error meanwhile, where that is a terminal, is shown when the terminal is given back. Signals have the
 * handlers that they had before while it is left and after it was closed. It asks the terminal for
 * bracketed paste; what is pasted comes as one text however long it is, unless it stalls: then in
 * parts, and until its end, a minute of silence, or Escape, nothing of it is taken for keys. What cannot be shown in
 * the locale is '?'. A character whose width the C library tells otherwise than the canvas is
 * drawn as '?' of the canvas's width, so that nothing can shift a row.
 *
 * Threads: one, but for rt_terminal_wake. One terminal in a process. */
#ifndef RT_TUI_TERMINAL_H
#define RT_TUI_TERMINAL_H

#include "tui/canvas.h"
#include "tui/key.h"

typedef struct rt_terminal rt_terminal;

typedef struct rt_terminal_options {
	const rt_alloc *alloc;
	bool no_color; /* else as the terminal and NO_COLOR say */
} rt_terminal_options;

typedef enum rt_event_kind {
	RT_EVENT_NONE,   /* the time is over */
	RT_EVENT_KEY,
	RT_EVENT_PASTE,
	RT_EVENT_RESIZE, /* also after it was suspended: draw all */
	RT_EVENT_WAKE,
	RT_EVENT_END     /* SIGTERM, SIGHUP, SIGINT from outside, or the terminal is gone: save, and
			  * leave. It comes again until then; a third such signal ends the program. */
} rt_event_kind;

typedef struct rt_event {
	rt_event_kind kind;
	rt_key key;
	rt_str text; /* PASTE: UTF-8 repaired, line ends "\n", no other control but tabs; lives until
		      * the next wait */
	bool is_cut; /* PASTE: there was no room for all of it */
} rt_event;

/* RT_REFUSED: no terminal, or one (TERM=dumb) that cannot; err says what to do instead. */
RT_CHECKED rt_status rt_terminal_open(const rt_terminal_options *options, rt_terminal **out,
				      rt_error *err);
void rt_terminal_close(rt_terminal *terminal); /* NULL is fine */
void rt_terminal_size(const rt_terminal *terminal, int *out_columns, int *out_rows);
bool rt_terminal_is_utf8(const rt_terminal *terminal);
bool rt_terminal_has_color(const rt_terminal *terminal);
/* Cost: the cells that have changed. */
void rt_terminal_show(rt_terminal *terminal, const rt_canvas *canvas);
/* The next event; timeout_ms < 0: however long it takes. */
void rt_terminal_wait(rt_terminal *terminal, int timeout_ms, rt_event *out);
/* Is there another event already? Who draws after each of a hundred keys of a paste is slow. */
bool rt_terminal_pending(rt_terminal *terminal);
/* rt_terminal_wait gives RT_EVENT_WAKE (once for many). From any thread. */
void rt_terminal_wake(rt_terminal *terminal);
/* Give the terminal back for a while, to an editor or the shell, and take it again. */
void rt_terminal_leave(rt_terminal *terminal);
void rt_terminal_enter(rt_terminal *terminal);
/* Ask the terminal to put a text into the clipboard of the person's machine (OSC 52); false: it
 * cannot, or the text is too long (74,000 bytes). Terminals may refuse without a word. */
bool rt_terminal_copy(rt_terminal *terminal, rt_str text);
/* As Ctrl-Z does: the program stops until it is continued. */
void rt_terminal_suspend(rt_terminal *terminal);

#endif
