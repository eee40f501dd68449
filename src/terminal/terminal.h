/* SPDX-License-Identifier: MIT
 *
 * Terminal: shows a canvas, and reports events: keys, pastes, a new size, and wake-ups by other
 * threads.
 *
 * Drawing uses ncurses, which knows terminals and writes only what has changed. The terminal is
 * restored whenever the program ends: close, failure, SIGTERM, SIGHUP, SIGINT from outside,
 * SIGQUIT, a fault of the program (SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL: restored, then the
 * signal is raised again), exit(). Ctrl+Z suspends the program and `fg` resumes it. Output to
 * standard error, if that is a terminal, is held back until the terminal is restored. While the
 * terminal is left and after it was closed, signals have their previous handlers.
 *
 * The mouse is reported while it is on, as xterm does with SGR coordinates (modes 1000 and 1006): most
 * terminals select text with shift held down then. It is off before it was switched on, while the
 * terminal is left, and whenever the program ends.
 *
 * The background is asked for once (OSC 11), without waiting: the colours change when the reply
 * comes, and for terminals that send none, colours for either background are used.
 *
 * Pastes are bracketed: a paste is one text of any length. If it stalls it comes in parts, and
 * nothing of it is taken for keys until its end, a minute of silence, or Escape. Characters that the
 * locale cannot display are '?'. So is a character whose width differs between the C library and the
 * canvas, in the canvas's width, so that rows never shift.
 *
 * Threads: one, except for rt_terminal_wake. One terminal in a process. */
#ifndef RT_TERMINAL_TERMINAL_H
#define RT_TERMINAL_TERMINAL_H

#include "terminal/canvas.h"
#include "terminal/key.h"

typedef struct rt_terminal rt_terminal;

/* The backgrounds for which the colours are made. */
typedef enum rt_theme {
	RT_THEME_AUTO, /* ask the terminal; until it replies: colours that are readable on either */
	RT_THEME_DARK,
	RT_THEME_LIGHT
} rt_theme;

typedef struct rt_terminal_options {
	const rt_alloc *alloc;
	rt_theme theme;
	bool no_color; /* false: the terminal and NO_COLOR decide */
} rt_terminal_options;

typedef enum rt_event_kind {
	RT_EVENT_NONE,   /* timeout */
	RT_EVENT_KEY,
	RT_EVENT_MOUSE,
	RT_EVENT_PASTE,
	RT_EVENT_RESIZE, /* also after a suspension: redraw */
	RT_EVENT_WAKE,
	RT_EVENT_END     /* SIGTERM, SIGHUP, SIGINT from outside, or the terminal is gone: save and
			  * quit. Repeated until then; a third signal ends the program. */
} rt_event_kind;

typedef struct rt_event {
	rt_event_kind kind;
	rt_key key;
	rt_mouse mouse;
	rt_str text; /* PASTE: valid UTF-8, line ends "\n", no other controls but tabs; valid until the
		      * next wait */
	bool is_cut; /* PASTE: too long, the end is missing */
} rt_event;

/* RT_REFUSED: there is no terminal, or it is not capable (TERM=dumb); err has the alternative. */
RT_CHECKED rt_status rt_terminal_open(const rt_terminal_options *options, rt_terminal **out,
				      rt_error *err);
void rt_terminal_close(rt_terminal *terminal); /* NULL is fine */
void rt_terminal_size(const rt_terminal *terminal, int *out_columns, int *out_rows);
bool rt_terminal_is_utf8(const rt_terminal *terminal);
bool rt_terminal_has_color(const rt_terminal *terminal);
/* O(cells that have changed). */
void rt_terminal_show(rt_terminal *terminal, const rt_canvas *canvas);
/* Wait for the next event; timeout_ms < 0: without a limit. */
void rt_terminal_wait(rt_terminal *terminal, int timeout_ms, rt_event *out);
/* Is another event waiting? It should be handled before a frame is drawn. */
bool rt_terminal_pending(rt_terminal *terminal);
/* Make rt_terminal_wait return RT_EVENT_WAKE (once for several calls). From any thread. */
void rt_terminal_wake(rt_terminal *terminal);
/* Releases the terminal to an editor or the shell, and acquires it again. */
void rt_terminal_leave(rt_terminal *terminal);
void rt_terminal_enter(rt_terminal *terminal);
/* Copy a text to the clipboard of the user's machine (OSC 52); false: the terminal cannot, or the
 * text is too long (74,000 bytes). Terminals may refuse silently. */
bool rt_terminal_copy(rt_terminal *terminal, rt_str text);
/* Report the mouse, or leave it to the terminal. */
void rt_terminal_set_mouse(rt_terminal *terminal, bool is_on);
/* Stop the program until it is continued, like Ctrl+Z. */
void rt_terminal_suspend(rt_terminal *terminal);

#endif
