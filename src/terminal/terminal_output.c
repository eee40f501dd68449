/* SPDX-License-Identifier: MIT
 *
 * Output through curses, which knows terminals and sends only changes. A copy of the last frame
 * makes an unchanged row cost only a comparison. */
#define _GNU_SOURCE
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1

#include "terminal/terminal_impl.h"

#include <curses.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

enum {
	CELL_SIZE = 2 + RT_CELL_MARKS, /* a character, its marks, a NUL */
	RESTORE_SIZE = 512
};
#define NO_CELL 0xFFFFFFFFu /* not a character */

struct rt_terminal_screen {
	const rt_alloc *alloc;
	SCREEN *curses;
	int fd;
	rt_theme theme;
	int background; /* colour; -1: the default */
	bool is_direct; /* colours are red, green and blue */
	bool has_color, is_ansi, can_italic, is_whole; /* is_whole: front is on the screen */
	bool has_links;
	int columns, rows;
	rt_canvas_cell *front;
	int cursor_x, cursor_y, cursor_shown; /* -1: unknown */
	char restore[RESTORE_SIZE];
	size_t restore_size;
};

/* Colours of 256 for each theme (that of RT_THEME_AUTO is readable on dark and on bright backgrounds)
 * and of 8, with attributes; and the attributes without colours. */
typedef struct look {
	short many[3], few; /* -1: the default */
	attr_t with, without;
} look;

static const look looks[RT_INK_COUNT] = {
	[RT_INK_TEXT] = {{-1, -1, -1}, -1, 0, 0},
	[RT_INK_DIM] = {{244, 247, 240}, -1, 0, A_DIM},
	[RT_INK_USER] = {{33, 75, 25}, COLOR_CYAN, A_BOLD, A_BOLD},
	[RT_INK_AI] = {{71, 114, 28}, COLOR_GREEN, A_BOLD, A_BOLD},
	[RT_INK_TOOL] = {{133, 176, 90}, COLOR_MAGENTA, 0, A_DIM},
	[RT_INK_SYSTEM] = {{136, 179, 94}, COLOR_YELLOW, 0, A_UNDERLINE},
	[RT_INK_HEADING] = {{33, 75, 25}, COLOR_CYAN, A_BOLD, A_BOLD},
	[RT_INK_CODE] = {{66, 109, 24}, COLOR_CYAN, 0, 0},
	[RT_INK_LINK] = {{33, 75, 25}, COLOR_BLUE, A_UNDERLINE, A_UNDERLINE},
	[RT_INK_QUOTE] = {{244, 247, 240}, COLOR_GREEN, 0, A_DIM},
	[RT_INK_ERROR] = {{167, 203, 124}, COLOR_RED, A_BOLD, A_BOLD},
	[RT_INK_WARNING] = {{136, 179, 94}, COLOR_YELLOW, A_BOLD, A_BOLD},
	[RT_INK_GOOD] = {{71, 114, 28}, COLOR_GREEN, 0, 0},
	[RT_INK_ADDED] = {{71, 114, 28}, COLOR_GREEN, 0, A_BOLD},
	[RT_INK_REMOVED] = {{167, 203, 124}, COLOR_RED, 0, A_UNDERLINE},
	[RT_INK_LABEL] = {{136, 179, 94}, COLOR_YELLOW, 0, A_BOLD},
	[RT_INK_MATCH] = {{136, 179, 94}, COLOR_YELLOW, A_REVERSE, A_REVERSE},
	[RT_INK_BAR] = {{-1, -1, -1}, -1, A_REVERSE, A_REVERSE},
	[RT_INK_BORDER] = {{244, 244, 246}, -1, A_DIM, A_DIM},
};

static const char *
capability(const char *name)
{
	const char *text = tigetstr(name);

	return text == NULL || text == (const char *)-1 ? NULL : text;
}

/* Without padding ("$<2>"). */
static void
add_restore(rt_terminal_screen *screen, const char *text)
{
	while (text != NULL && *text != 0) {
		const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;

		if (end != NULL)
			text = end + 1;
		else if (screen->restore_size < RESTORE_SIZE)
			screen->restore[screen->restore_size++] = *text++;
		else
			break;
	}
}

static void
make_restore(rt_terminal_screen *screen)
{
	static const char *const names[] = {"rmkx", "sgr0", "op", "cnorm", "rmcup", NULL};
	size_t i;

	if (screen->is_ansi)
		add_restore(screen, "\033[?2026l\033[?2004l" RT_TERMINAL_NO_MOUSE);
	for (i = 0; names[i] != NULL; i++)
		add_restore(screen, capability(names[i]));
	if (capability("rmcup") == NULL)
		add_restore(screen, "\r\n");
}

/* A colour of the 256 as its red, green and blue, if the terminal uses the standard colours. */
static int
direct(short color)
{
	static const int steps[] = {0, 95, 135, 175, 215, 255};
	int cube = color - 16, grey = 8 + (color - 232) * 10;

	if (color < 16) /* such terminals have the first eight, too */
		return color;
	if (color >= 232)
		return grey << 16 | grey << 8 | grey;
	return steps[cube / 36] << 16 | steps[cube / 6 % 6] << 8 | steps[cube % 6];
}

static void
make_pairs(rt_terminal_screen *screen)
{
	int kind;

	for (kind = 0; kind < RT_INK_COUNT; kind++) {
		const look *l = &looks[kind];
		int fore = COLORS >= 256 ? l->many[screen->theme] : l->few;

		if (fore < 0 && screen->background >= 0)
			fore = COLOR_WHITE;
		if (fore > 0 && screen->is_direct)
			fore = direct((short)fore);
		(void)init_extended_pair(kind + 1, fore, screen->background);
	}
}

static void
make_inks(rt_terminal_screen *screen, bool no_color)
{
	screen->background = -1;
	if (no_color || !has_colors() || start_color() == ERR || COLORS < 8 ||
	    COLOR_PAIRS <= RT_INK_COUNT)
		return;
	if (use_default_colors() == ERR)
		screen->background = COLOR_BLACK;
	screen->has_color = true;
	screen->is_direct = tigetflag("RGB") > 0;
	make_pairs(screen);
}

void
rt_terminal_screen_set_theme(rt_terminal_screen *screen, rt_theme theme)
{
	screen->theme = theme;
	if (screen->has_color)
		make_pairs(screen);
	screen->is_whole = false;
}

/* The description with true colour of a terminal that announces it in COLORTERM: "xterm-direct" for
 * "xterm-256color". NULL: not announced, or there is no such description. */
static SCREEN *
new_direct(const char *term, FILE *in, FILE *out)
{
	const char *depth = getenv("COLORTERM"), *end = strstr(term, "-256color");
	char name[80];
	int size;

	if (depth == NULL || (strcmp(depth, "truecolor") != 0 && strcmp(depth, "24bit") != 0))
		return NULL;
	size = snprintf(name, sizeof(name), "%.*s-direct",
			end != NULL ? (int)(end - term) : (int)strlen(term), term);
	return size > 0 && (size_t)size < sizeof(name) ? newterm(name, out, in) : NULL;
}

/* Terminals that are compatible with xterm but often unknown to hosts. */
static SCREEN *
new_term(FILE *in, FILE *out)
{
	static const char *const likes[] = {"xterm", "alacritty", "foot", "kitty", "wezterm", "ghostty",
					    "konsole", "contour", "rio", "tmux", "screen", "rxvt"};
	const char *term = getenv("TERM");
	SCREEN *curses;
	size_t i;

	if (term == NULL || *term == 0 || strcmp(term, "dumb") == 0)
		return NULL;
	curses = new_direct(term, in, out);
	if (curses == NULL)
		curses = newterm(NULL, out, in);
	for (i = 0; curses == NULL && i < sizeof(likes) / sizeof(likes[0]); i++) {
		if (strstr(term, likes[i]) == NULL)
			continue;
		curses = newterm("xterm-256color", out, in);
		return curses != NULL ? curses : newterm("xterm", out, in);
	}
	return curses;
}

rt_status
rt_terminal_screen_open(const rt_terminal_options *options, FILE *in, FILE *out,
			rt_terminal_screen **out_screen, rt_error *err)
{
	rt_terminal_screen *screen = rt_new0(options->alloc, sizeof(*screen));
	const char *cup, *term = getenv("TERM");

	if (screen == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	screen->alloc = options->alloc;
	screen->fd = fileno(out);
	screen->cursor_shown = screen->cursor_x = screen->cursor_y = -1;
	screen->curses = new_term(in, out);
	cup = screen->curses == NULL ? NULL : capability("cup");
	if (cup == NULL) {
		rt_terminal_screen_close(screen);
		return rt_fail(err, RT_REFUSED,
			       "this terminal (TERM=%.64s) does not support full-screen "
			       "programs; line by line: retake chat, all commands: retake help",
			       term == NULL ? "" : term);
	}
	screen->is_ansi = strncmp(cup, "\033[", 2) == 0;
	screen->can_italic = capability("sitm") != NULL;
	screen->has_links = screen->is_ansi && term != NULL && strcmp(term, "linux") != 0;
	(void)raw();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, TRUE);
	(void)scrollok(stdscr, FALSE);
	(void)leaveok(stdscr, FALSE);
	idcok(stdscr, FALSE); /* cells keep their places, which show_links relies on */
	screen->theme = options->theme;
	make_inks(screen, options->no_color);
	make_restore(screen);
	*out_screen = screen;
	return RT_OK;
}

void
rt_terminal_screen_close(rt_terminal_screen *screen)
{
	if (screen == NULL)
		return;
	if (screen->curses != NULL) {
		(void)endwin();
		delscreen(screen->curses);
	}
	rt_free(screen->alloc, screen->front);
	rt_free(screen->alloc, screen);
}

bool
rt_terminal_screen_has_color(const rt_terminal_screen *screen)
{
	return screen->has_color;
}

bool
rt_terminal_screen_is_ansi(const rt_terminal_screen *screen)
{
	return screen->is_ansi;
}

rt_str
rt_terminal_screen_restore(const rt_terminal_screen *screen)
{
	return rt_str_at(screen->restore, screen->restore_size);
}

void
rt_terminal_screen_leave(rt_terminal_screen *screen)
{
	(void)screen;
	(void)endwin();
}

void
rt_terminal_screen_enter(rt_terminal_screen *screen)
{
	(void)reset_prog_mode();
	screen->is_whole = false;
}

rt_status
rt_terminal_screen_resize(rt_terminal_screen *screen, int columns, int rows)
{
	rt_canvas_cell *front;

	if (columns <= 0 || rows <= 0) { /* unknown */
		columns = COLS;
		rows = LINES;
	}
	columns = columns > RT_CANVAS_COLUMNS_MAX ? RT_CANVAS_COLUMNS_MAX : columns;
	rows = rows > RT_CANVAS_ROWS_MAX ? RT_CANVAS_ROWS_MAX : rows;
	front = rt_new_array(screen->alloc, (size_t)columns * (size_t)rows, sizeof(*front));
	if (front == NULL || resize_term(rows, columns) == ERR) {
		rt_free(screen->alloc, front);
		return RT_NOMEM;
	}
	rt_free(screen->alloc, screen->front);
	screen->front = front;
	screen->columns = columns;
	screen->rows = rows;
	screen->is_whole = false;
	return RT_OK;
}

void
rt_terminal_screen_size(const rt_terminal_screen *screen, int *out_columns, int *out_rows)
{
	*out_columns = screen->columns;
	*out_rows = screen->rows;
}

static attr_t
attributes(const rt_terminal_screen *screen, rt_ink ink, short *out_pair)
{
	unsigned kind = ink & 0xFF;
	const look *l = &looks[kind < RT_INK_COUNT ? kind : RT_INK_TEXT];
	attr_t attr = screen->has_color ? l->with : l->without;

	*out_pair = screen->has_color && kind < RT_INK_COUNT ? (short)(kind + 1) : 0;
	if (ink & RT_INK_BOLD)
		attr |= A_BOLD;
	if (ink & RT_INK_UNDERLINE)
		attr |= A_UNDERLINE;
	if (ink & RT_INK_ITALIC)
		attr |= screen->can_italic ? A_ITALIC : A_UNDERLINE;
	if (ink & RT_INK_STRIKE) /* few terminals support it */
		attr |= A_DIM;
	if (ink & RT_INK_SELECTED) {
		/* One bar over the row, in which matches stay recognizable. */
		if (attr & A_REVERSE)
			attr |= A_UNDERLINE | A_BOLD;
		attr = (attr & ~A_DIM) | A_REVERSE;
		*out_pair = 0;
	}
	return attr;
}

static void
show_cell(const rt_terminal_screen *screen, int x, int y, const rt_canvas_cell *cell)
{
	wchar_t text[CELL_SIZE] = {(wchar_t)cell->ch};
	/* After the last column the cursor is about to wrap, and some terminals would put a mark on
	 * the next row. */
	bool is_last = x + cell->width >= screen->columns;
	int width = wcwidth((wchar_t)cell->ch), i, used = 1;
	short pair;
	attr_t attr = attributes(screen, cell->ink, &pair);
	cchar_t out;

	/* If curses (the C library) disagrees about the width, the rest of the row would shift. */
	if (width != cell->width)
		text[0] = L'?';
	for (i = 0; i < RT_CELL_MARKS && cell->marks[i] != 0 && width == cell->width && !is_last; i++)
		if (wcwidth((wchar_t)cell->marks[i]) == 0)
			text[used++] = (wchar_t)cell->marks[i];
	if (setcchar(&out, text, attr, pair, NULL) == ERR)
		return;
	(void)mvadd_wch(y, x, &out); /* fails in the last corner, after drawing it */
	if (width != cell->width && cell->width == 2)
		(void)mvadd_wch(y, x + 1, &out);
}

static bool
same(const rt_canvas_cell *a, const rt_canvas_cell *b)
{
	int i;

	for (i = 0; i < RT_CELL_MARKS; i++)
		if (a->marks[i] != b->marks[i])
			return false;
	return a->ch == b->ch && a->ink == b->ink && a->width == b->width && a->link == b->link;
}

/* Draw from the first changed cell to the last. */
static bool
show_row(const rt_terminal_screen *screen, const rt_canvas *canvas, int columns, int y)
{
	const rt_canvas_cell *row = &canvas->cells[(size_t)y * (size_t)canvas->columns];
	rt_canvas_cell *front = &screen->front[(size_t)y * (size_t)screen->columns];
	int first = 0, last = columns - 1, x;

	if (screen->is_whole) {
		while (first < columns && same(&row[first], &front[first]))
			first++;
		if (first == columns)
			return false;
		while (same(&row[last], &front[last]))
			last--;
	}
	if (row[first].ch == 0 && first > 0)
		first--;
	for (x = first; x <= last; x++) {
		rt_canvas_cell cell = row[x];

		uint32_t link = front[x].link;

		if (cell.width == 2 && x + 1 >= columns)
			cell = (rt_canvas_cell){' ', {0, 0, 0}, 0, cell.ink, 1};
		if (cell.ch != 0)
			show_cell(screen, x, y, &cell);
		front[x] = row[x];
		front[x].link = link; /* until show_links */
	}
	/* Curses may write unchanged cells again, too, to move the cursor. */
	for (x = 0; x < columns; x++)
		if (row[x].link != 0)
			front[x].link = 0;
	return true;
}

/* ---- links ----
 *
 * Curses does not know links. After it has drawn a frame, cells whose link has changed are written
 * again over themselves, with the same look, inside OSC 8. The cursor and the attributes are saved
 * before and restored after it, so curses finds everything as it left it. */

static void
add_color(const rt_terminal_screen *screen, unsigned kind, rt_buf *out)
{
	const look *l = &looks[kind];
	int fore = COLORS >= 256 ? l->many[screen->theme] : l->few;

	if (fore < 0 && screen->background >= 0)
		fore = COLOR_WHITE;
	if (fore >= 0 && screen->is_direct && fore >= 16) {
		int rgb = direct((short)fore);

		rt_buf_add_f(out, ";38;2;%d;%d;%d", rgb >> 16, rgb >> 8 & 255, rgb & 255);
	} else if (fore >= 0) {
		rt_buf_add_f(out, fore < 8 ? ";3%d" : ";38;5;%d", fore);
	}
	if (screen->background >= 0)
		rt_buf_add_f(out, ";4%d", screen->background);
}

static void
add_look(const rt_terminal_screen *screen, rt_ink ink, rt_buf *out)
{
	static const struct {
		attr_t attr;
		int code;
	} codes[] = {{A_BOLD, 1}, {A_DIM, 2}, {A_ITALIC, 3}, {A_UNDERLINE, 4}, {A_REVERSE, 7}};
	short pair;
	attr_t attr = attributes(screen, ink, &pair);

	rt_buf_add_c(out, "\033[0");
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if ((attr & codes[i].attr) != 0)
			rt_buf_add_f(out, ";%d", codes[i].code);
	if (pair > 0)
		add_color(screen, (unsigned)pair - 1, out);
	rt_buf_add_byte(out, 'm');
}

/* As show_cell. */
static void
add_cell_text(const rt_canvas_cell *cell, rt_buf *out)
{
	char bytes[4];

	if (wcwidth((wchar_t)cell->ch) != cell->width) {
		rt_buf_add_c(out, cell->width == 2 ? "??" : "?");
		return;
	}
	rt_buf_add(out, bytes, rt_rune_encode(cell->ch, bytes));
	for (size_t i = 0; i < RT_CELL_MARKS && cell->marks[i] != 0; i++)
		if (wcwidth((wchar_t)cell->marks[i]) == 0)
			rt_buf_add(out, bytes, rt_rune_encode(cell->marks[i], bytes));
}

/* The changed cells of a row, from this one on, that have one link and one look; returns the column
 * after them. */
static int
add_run(rt_terminal_screen *screen, const rt_canvas *canvas, int columns, int x, int y, rt_buf *out)
{
	const rt_canvas_cell *row = &canvas->cells[(size_t)y * (size_t)canvas->columns];
	rt_canvas_cell *front = &screen->front[(size_t)y * (size_t)screen->columns];
	uint32_t link = row[x].link;
	rt_ink ink = row[x].ink;
	rt_str url = rt_canvas_url(canvas, link);

	rt_buf_add_f(out, "\033[%d;%dH", y + 1, x + 1);
	add_look(screen, ink, out);
	if (url.size > 0) /* the id joins the rows of a link that is wrapped */
		rt_buf_add_f(out, "\033]8;id=%x;%.*s\033\\", (unsigned)link, RT_STR_ARG(url));
	do {
		if (row[x].ch != 0 && (row[x].width == 1 || x + 1 < columns))
			add_cell_text(&row[x], out);
		front[x].link = link;
		x++;
	} while (x < columns && (row[x].ch == 0 || (row[x].link != front[x].link &&
						     row[x].link == link && row[x].ink == ink)));
	if (url.size > 0)
		rt_buf_add_c(out, "\033]8;;\033\\");
	return x;
}

static void
show_links(rt_terminal_screen *screen, const rt_canvas *canvas, int columns, int rows)
{
	rt_buf out;

	if (!screen->has_links)
		return;
	rt_buf_init(&out, screen->alloc, RT_BUF_UNLIMITED);
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < columns;) {
			const rt_canvas_cell *cell =
				&canvas->cells[(size_t)y * (size_t)canvas->columns + (size_t)x];
			uint32_t now = screen->front[(size_t)y * (size_t)screen->columns + (size_t)x].link;

			if (cell->ch != 0 && cell->link != now)
				x = add_run(screen, canvas, columns, x, y, &out);
			else
				x++;
		}
	if (out.size > 0 && out.status == RT_OK) {
		rt_terminal_write(screen->fd, "\0337", 2);
		rt_terminal_write(screen->fd, out.ptr, out.size);
		rt_terminal_write(screen->fd, "\0338", 2);
	}
	rt_buf_deinit(&out);
}

static void
write_if_ansi(const rt_terminal_screen *screen, const char *text)
{
	if (screen->is_ansi)
		rt_terminal_write(screen->fd, text, strlen(text));
}

void
rt_terminal_screen_show(rt_terminal_screen *screen, const rt_canvas *canvas)
{
	int columns = canvas->columns < screen->columns ? canvas->columns : screen->columns;
	int rows = canvas->rows < screen->rows ? canvas->rows : screen->rows, y;
	bool cursor = canvas->cursor_x >= 0 && canvas->cursor_x < columns && canvas->cursor_y >= 0 &&
		      canvas->cursor_y < rows;
	bool changed = !screen->is_whole;

	if (screen->front == NULL)
		return;
	if (!screen->is_whole) {
		(void)clear(); /* redraw everything */
		for (y = 0; y < screen->rows * screen->columns; y++)
			screen->front[y] = (rt_canvas_cell){.ch = NO_CELL};
	}
	for (y = 0; y < rows; y++)
		changed = show_row(screen, canvas, columns, y) || changed;
	screen->is_whole = true;
	if ((int)cursor != screen->cursor_shown) {
		(void)curs_set(cursor ? 1 : 0);
		screen->cursor_shown = (int)cursor;
		changed = true;
	}
	if (cursor && (canvas->cursor_x != screen->cursor_x || canvas->cursor_y != screen->cursor_y))
		changed = true;
	if (!changed)
		return;
	if (cursor) {
		screen->cursor_x = canvas->cursor_x;
		screen->cursor_y = canvas->cursor_y;
	}
	(void)move(cursor ? screen->cursor_y : 0, cursor ? screen->cursor_x : 0);
	/* A synchronized update, if the terminal supports it. */
	write_if_ansi(screen, "\033[?2026h");
	(void)refresh();
	show_links(screen, canvas, columns, rows);
	write_if_ansi(screen, "\033[?2026l");
}
