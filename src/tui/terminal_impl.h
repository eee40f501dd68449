/* SPDX-License-Identifier: MIT
 *
 * What the files of the terminal share: terminal.c (the terminal, and what comes from it),
 * terminal_output.c (cells), terminal_signals.c (signals). */
#ifndef RT_TUI_TERMINAL_IMPL_H
#define RT_TUI_TERMINAL_IMPL_H

#include <stdio.h>
#include <termios.h>

#include "tui/terminal.h"

/* The C library and curses; made by terminal_output.c. */
typedef struct rt_terminal_screen rt_terminal_screen;

/* TERM's terminal on these files, in its own screen, raw. RT_REFUSED: it cannot. */
RT_CHECKED rt_status rt_terminal_screen_open(const rt_terminal_options *options, FILE *in,
					     FILE *out, rt_terminal_screen **out_screen,
					     rt_error *err);
void rt_terminal_screen_close(rt_terminal_screen *screen);
bool rt_terminal_screen_has_color(const rt_terminal_screen *screen);
/* May it be sent what is no part of its description (bracketed paste and so on)? */
bool rt_terminal_screen_is_ansi(const rt_terminal_screen *screen);
/* The terminal as it was; and as we had it. What is then shown is drawn anew. */
void rt_terminal_screen_leave(rt_terminal_screen *screen);
void rt_terminal_screen_enter(rt_terminal_screen *screen);
/* RT_NOMEM: no room for the cells; it shows nothing then. */
RT_CHECKED rt_status rt_terminal_screen_resize(rt_terminal_screen *screen, int columns, int rows);
void rt_terminal_screen_size(const rt_terminal_screen *screen, int *out_columns, int *out_rows);
/* All of it, or what has changed. */
void rt_terminal_screen_show(rt_terminal_screen *screen, const rt_canvas *canvas);
/* What gives the terminal back, as bytes. */
rt_str rt_terminal_screen_restore(const rt_terminal_screen *screen);

/* --- the guard: handlers of signals while the terminal is ours. It is the one state of the
 * process that a handler has to reach. --- */

enum {
	RT_TERMINAL_SIGNAL_RESIZE = 1,
	RT_TERMINAL_SIGNAL_CONTINUED = 2,
	RT_TERMINAL_SIGNAL_STOP = 4,
	RT_TERMINAL_SIGNAL_END = 8
};

/* mode: the terminal's, to be given back. wake_fd is written to whenever a signal has come. */
void rt_terminal_signals_begin(int tty, const struct termios *mode, int wake_fd);
/* The bytes that give the terminal back; they live until rt_terminal_signals_end. */
void rt_terminal_signals_restores(rt_str bytes);
/* The handlers as they were before. */
void rt_terminal_signals_end(void);
/* The terminal is given away (to an editor), and ours again: handlers go and come with it. */
void rt_terminal_signals_leave(void);
void rt_terminal_signals_enter(void);
/* What has come since it was asked last. */
unsigned rt_terminal_signals_collect(void);
/* Stop like every program that is suspended; returns when it was continued. */
void rt_terminal_signals_stop(void);

#endif
