/* SPDX-License-Identifier: MIT
 *
 * Term: one output of the program, standard output or standard error, which may be a terminal, a
 * pager on one, a pipe or a file.
 *
 * All text passes through app/screen.h, so a model's output cannot control the terminal; styles are
 * the only escape sequences, and only if colour is enabled. Output is collected and written in
 * large pieces. Once the reader of a pipe has closed it, the rest is silently discarded. One thread
 * at a time. */
#ifndef RT_CLI_TERM_H
#define RT_CLI_TERM_H

#include <sys/types.h>

#include "base/text.h"

typedef enum rt_style {
	RT_STYLE_NONE,
	RT_STYLE_BOLD,
	RT_STYLE_DIM,
	RT_STYLE_RED,
	RT_STYLE_GREEN,
	RT_STYLE_YELLOW,
	RT_STYLE_BLUE,
	RT_STYLE_MAGENTA,
	RT_STYLE_CYAN,
	RT_STYLE_MATCH /* a match */
} rt_style;

/* How far a text has been printed as Markdown; zero at its beginning. */
typedef struct rt_markdown_part {
	size_t stable, blocks; /* bytes that are printed, and their blocks */
	bool is_end;           /* the text is complete */
} rt_markdown_part;

typedef struct rt_term {
	int fd;
	bool is_tty; /* a user reads it (through the pager, too) */
	bool color;
	bool renders;   /* Markdown may be rendered: a terminal that is not dumb, also without colour */
	bool links;     /* links may be written (OSC 8) */
	bool utf8;      /* more than ASCII may be shown, on a terminal */
	size_t columns; /* of the terminal; 0: no limit */
	bool broken;    /* the reader went away */
	int error;      /* errno of a failed write, else 0 */
	bool kept;      /* nothing is written: the text stays in buf for the caller */
	pid_t pager;    /* 0: none */
	int kept_fd;    /* the terminal, while the pager runs */
	rt_buf buf;     /* not yet written */
	rt_buf scratch;
} rt_term;

void rt_term_init(rt_term *term, const rt_alloc *alloc, int fd, bool no_color);
/* Flushes and waits for the pager. */
void rt_term_deinit(rt_term *term);
void rt_term_flush(rt_term *term);
/* The width for laying out a table: that of the terminal, else COLUMNS, else 80. */
size_t rt_term_width(const rt_term *term);
/* Reserves memory for a few lines, so that they can be printed when memory is exhausted.
 * RT_NOMEM. */
RT_CHECKED rt_status rt_term_reserve(rt_term *term);
/* Sends the following output through the user's pager, on a terminal. */
void rt_term_page(rt_term *term);

/* Made safe for a terminal, always. */
void rt_term_text(rt_term *term, rt_str text); /* several lines */
void rt_term_line(rt_term *term, rt_str text); /* on one line, white space closed up */
/* A name, on a terminal cut in its middle to a number of columns (rt_screen_add_name). */
void rt_term_name(rt_term *term, rt_str name, size_t columns);
/* Columns of the names in a list: a third of a terminal, 20 to 40. */
size_t rt_term_name_columns(const rt_term *term);
void rt_term_c(rt_term *term, const char *text);
void rt_term_f(rt_term *term, const char *format, ...) RT_PRINTF(2, 3);
/* JSON and the end of its line: unchanged, except on a terminal. */
void rt_term_json(rt_term *term, rt_str json);
/* Bytes unchanged, except on a terminal. */
void rt_term_raw(rt_term *term, rt_str bytes);
void rt_term_style(rt_term *term, rt_style style);
/* The following text leads to this url, which is ASCII without controls; empty: to none. */
void rt_term_link(rt_term *term, rt_str url);
/* Clears the line of the cursor, if the terminal supports it. */
void rt_term_wipe_line(rt_term *term);
void rt_term_spaces(rt_term *term, size_t count);
/* Several lines, each after indent spaces, broken to fit the terminal. */
void rt_term_indented(rt_term *term, rt_str text, size_t indent);

#endif
