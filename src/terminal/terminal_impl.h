/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the terminal: terminal.c (opening, events), terminal_output.c (cells),
 * terminal_signals.c (signals). */
#ifndef RT_TERMINAL_TERMINAL_IMPL_H
#define RT_TERMINAL_TERMINAL_IMPL_H

#include <stdio.h>
#include <termios.h>

#include "terminal/terminal.h"

#define RT_TERMINAL_NO_MOUSE "\033[?1006l\033[?1000l"

/* The C library and curses; made by terminal_output.c. */
typedef struct rt_terminal_screen rt_terminal_screen;

/* Open TERM's terminal on these files, on its alternate screen, in raw mode. RT_REFUSED: it is not
 * capable. */
RT_CHECKED rt_status rt_terminal_screen_open(const rt_terminal_options *options, FILE *in,
					     FILE *out, rt_terminal_screen **out_screen,
					     rt_error *err);
void rt_terminal_screen_close(rt_terminal_screen *screen);
bool rt_terminal_screen_has_color(const rt_terminal_screen *screen);
/* Use the colours of this theme; everything is drawn again. */
void rt_terminal_screen_set_theme(rt_terminal_screen *screen, rt_theme theme);
/* Does it understand ANSI sequences that are not in its description (bracketed paste)? */
bool rt_terminal_screen_is_ansi(const rt_terminal_screen *screen);
/* Restores the previous mode; sets ours again, after which the next frame is drawn completely. */
void rt_terminal_screen_leave(rt_terminal_screen *screen);
void rt_terminal_screen_enter(rt_terminal_screen *screen);
/* RT_NOMEM: unchanged. */
RT_CHECKED rt_status rt_terminal_screen_resize(rt_terminal_screen *screen, int columns, int rows);
void rt_terminal_screen_size(const rt_terminal_screen *screen, int *out_columns, int *out_rows);
/* Draw the cells that have changed. */
void rt_terminal_screen_show(rt_terminal_screen *screen, const rt_canvas *canvas);
/* The bytes that restore the terminal. */
rt_str rt_terminal_screen_restore(const rt_terminal_screen *screen);

/* ---- signal handlers, while the terminal is ours: the only global state, since handlers must
 * reach it ---- */

enum {
	RT_TERMINAL_SIGNAL_RESIZE = 1,
	RT_TERMINAL_SIGNAL_CONTINUED = 2,
	RT_TERMINAL_SIGNAL_STOP = 4,
	RT_TERMINAL_SIGNAL_END = 8
};

/* mode: to be restored. wake_fd is written to after every signal. */
void rt_terminal_signals_begin(int tty, const struct termios *mode, int wake_fd);
/* The bytes that restore the terminal; valid until rt_terminal_signals_end. */
void rt_terminal_signals_restores(rt_str bytes);
/* Restore the previous handlers. */
void rt_terminal_signals_end(void);
/* Restore the previous handlers while the terminal is released, and set ours again. */
void rt_terminal_signals_leave(void);
void rt_terminal_signals_enter(void);
/* RT_TERMINAL_SIGNAL_… since the last call. */
unsigned rt_terminal_signals_collect(void);
/* Stop the process group; returns when it was continued. */
void rt_terminal_signals_stop(void);
/* Write all bytes, if possible. Async-signal-safe. */
void rt_terminal_write(int fd, const char *ptr, size_t size);

#endif
