/* SPDX-License-Identifier: MIT
 *
 * Writing to terminals, pagers, pipes and files. */
#define _GNU_SOURCE

#include "cli/term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/host.h"
#include "app/width.h"
#include "app/screen.h"

enum { TERM_BUFFER = 64 * 1024, TERM_LINE = 4096, NAME_MIN = 20, NAME_MAX = 40 };

static size_t
columns_of(int fd)
{
	const char *wanted = getenv("COLUMNS");
	struct winsize size;
	unsigned long columns;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	columns = wanted == NULL ? 0 : strtoul(wanted, NULL, 10);
	return columns > 0 && columns < 10000 ? columns : 80;
}

size_t
rt_term_width(const rt_term *term)
{
	return term->columns > 0 ? term->columns : columns_of(term->fd);
}

void
rt_term_init(rt_term *term, const rt_alloc *alloc, int fd, bool no_color)
{
	const char *never = getenv("NO_COLOR"), *kind = getenv("TERM");

	memset(term, 0, sizeof(*term));
	term->fd = fd;
	term->kept_fd = -1;
	term->is_tty = isatty(fd) == 1;
	term->color = term->is_tty && !no_color && (never == NULL || *never == 0) && kind != NULL &&
		      *kind != 0 && strcmp(kind, "dumb") != 0;
	term->renders = term->is_tty && kind != NULL && *kind != 0 && strcmp(kind, "dumb") != 0;
	term->links = term->color && strcmp(kind, "linux") != 0;
	term->utf8 = rt_host_is_utf8();
	term->columns = term->is_tty ? columns_of(fd) : 0;
	rt_buf_init(&term->buf, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&term->scratch, alloc, RT_BUF_UNLIMITED);
}

rt_status
rt_term_reserve(rt_term *term)
{
	return rt_buf_reserve(&term->buf, TERM_LINE) != NULL &&
			       rt_buf_reserve(&term->scratch, TERM_LINE) != NULL
		       ? RT_OK
		       : RT_NOMEM;
}

/* On a terminal of another encoding the bytes of a character may well be controls (0x9B). */
static void
make_ascii(rt_buf *buf)
{
	size_t at = 0, size = 0;

	while (at < buf->size) {
		rt_rune rune = {.size = 1, .ch = (unsigned char)buf->ptr[at]};

		if (rune.ch >= 0x80)
			rune = rt_rune_read(rt_str_at(buf->ptr + at, buf->size - at), false);
		if (rune.kind == RT_RUNE_SHOWN)
			buf->ptr[size++] = (char)rune.ch;
		at += rune.size;
	}
	buf->size = size;
}

void
rt_term_flush(rt_term *term)
{
	size_t at = 0;

	if (term->kept)
		return;
	if (term->is_tty && !term->utf8)
		make_ascii(&term->buf);
	if (term->buf.status == RT_NOMEM && term->error == 0)
		term->error = ENOMEM;
	while (at < term->buf.size && !term->broken && term->error == 0) {
		ssize_t written = write(term->fd, term->buf.ptr + at, term->buf.size - at);

		if (written >= 0)
			at += (size_t)written;
		else if (errno == EPIPE)
			term->broken = true;
		else if (errno == EAGAIN) /* another program made the descriptor non-blocking */
			(void)poll(&(struct pollfd){.fd = term->fd, .events = POLLOUT}, 1, -1);
		else if (errno != EINTR)
			term->error = errno;
	}
	rt_buf_clear(&term->buf);
}

static void
maybe_flush(rt_term *term)
{
	if (term->buf.size >= TERM_BUFFER || term->buf.status != RT_OK)
		rt_term_flush(term);
}

/* "less" shows colours with an option; other pagers may not. */
static bool
is_less(const char *pager)
{
	return strncmp(pager, "less", 4) == 0 && (pager[4] == 0 || pager[4] == ' ');
}

void
rt_term_page(rt_term *term)
{
	const char *pager = getenv("PAGER");
	int ends[2];
	pid_t child;

	if (!term->is_tty || term->pager != 0 || term->kept)
		return;
	if (pager == NULL)
		pager = "less";
	if (*pager == 0 || strcmp(pager, "cat") == 0 || !rt_host_has_program(pager))
		return;
	rt_term_flush(term);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	child = fork();
	if (child == 0) {
		if (dup2(ends[0], STDIN_FILENO) < 0)
			_exit(127);
		signal(SIGPIPE, SIG_DFL);
		if (getenv("LESS") == NULL && setenv("LESS", "FIRX", 1) != 0)
			_exit(127);
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	if (child < 0) {
		close(ends[1]);
		return;
	}
	term->pager = child;
	term->kept_fd = term->fd;
	term->fd = ends[1];
	if (!is_less(pager))
		term->color = term->links = false;
	rt_host_hold(true); /* interrupts are handled by the pager while it runs */
}

void
rt_term_deinit(rt_term *term)
{
	rt_term_flush(term);
	if (term->pager != 0) {
		close(term->fd);
		while (waitpid(term->pager, NULL, 0) < 0 && errno == EINTR)
			;
		term->fd = term->kept_fd;
		term->pager = 0;
		rt_host_hold(false);
	}
	rt_buf_deinit(&term->buf);
	rt_buf_deinit(&term->scratch);
}

void
rt_term_text(rt_term *term, rt_str text)
{
	rt_screen_add_text(&term->buf, text);
	maybe_flush(term);
}

void
rt_term_line(rt_term *term, rt_str text)
{
	rt_screen_add_line(&term->buf, text);
	maybe_flush(term);
}

size_t
rt_term_name_columns(const rt_term *term)
{
	size_t third = term->columns / 3;

	return term->columns == 0 || third > NAME_MAX ? NAME_MAX : third < NAME_MIN ? NAME_MIN : third;
}

void
rt_term_name(rt_term *term, rt_str name, size_t columns)
{
	rt_screen_add_name(&term->buf, name, term->columns > 0 ? columns : 0, term->utf8);
	maybe_flush(term);
}

void
rt_term_c(rt_term *term, const char *text)
{
	rt_term_text(term, rt_str_of(text));
}

void
rt_term_f(rt_term *term, const char *format, ...)
{
	char line[TERM_LINE];
	va_list ap;
	int size;

	va_start(ap, format);
	size = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (size < 0)
		return;
	if ((size_t)size < sizeof(line)) {
		rt_term_text(term, rt_str_at(line, (size_t)size));
		return;
	}
	rt_buf_clear(&term->scratch);
	if (rt_buf_reserve(&term->scratch, (size_t)size + 1) == NULL) {
		term->error = ENOMEM;
		return;
	}
	va_start(ap, format);
	(void)vsnprintf(term->scratch.ptr, (size_t)size + 1, format, ap);
	va_end(ap);
	rt_term_text(term, rt_str_at(term->scratch.ptr, (size_t)size));
}

void
rt_term_json(rt_term *term, rt_str json)
{
	if (term->is_tty)
		rt_screen_add_json(&term->buf, json);
	else
		rt_buf_add_str(&term->buf, json);
	maybe_flush(term);
}

void
rt_term_raw(rt_term *term, rt_str bytes)
{
	if (term->is_tty)
		rt_screen_add_text(&term->buf, bytes);
	else
		rt_buf_add_str(&term->buf, bytes);
	maybe_flush(term);
}

void
rt_term_style(rt_term *term, rt_style style)
{
	static const char *const codes[] = {
		[RT_STYLE_NONE] = "\033[0m",   [RT_STYLE_BOLD] = "\033[1m",
		[RT_STYLE_DIM] = "\033[2m",    [RT_STYLE_RED] = "\033[31m",
		[RT_STYLE_GREEN] = "\033[32m", [RT_STYLE_YELLOW] = "\033[33m",
		[RT_STYLE_BLUE] = "\033[34m",  [RT_STYLE_MAGENTA] = "\033[35m",
		[RT_STYLE_CYAN] = "\033[36m",  [RT_STYLE_MATCH] = "\033[1;33m",
	};

	if (term->color)
		rt_buf_add_c(&term->buf, codes[style]);
}

void
rt_term_link(rt_term *term, rt_str url)
{
	if (!term->links)
		return;
	rt_buf_add_c(&term->buf, "\033]8;;");
	rt_buf_add_str(&term->buf, url);
	rt_buf_add_c(&term->buf, "\033\\");
}

void
rt_term_wipe_line(rt_term *term)
{
	if (term->is_tty && term->color)
		rt_buf_add_c(&term->buf, "\r\033[K");
}

void
rt_term_spaces(rt_term *term, size_t count)
{
	while (count-- > 0)
		rt_buf_add_byte(&term->buf, ' ');
}

static void
add_indented_line(rt_term *term, rt_str line, size_t indent, size_t columns)
{
	size_t skip, size;

	if (line.size == 0) {
		rt_buf_add_byte(&term->buf, '\n');
		return;
	}
	while (line.size > 0) {
		size = line.size;
		skip = 0;
		if (columns > 0)
			size = rt_screen_break(line, columns, &skip);
		rt_term_spaces(term, indent);
		rt_buf_add(&term->buf, line.ptr, size);
		rt_buf_add_byte(&term->buf, '\n');
		line.ptr += size + skip;
		line.size -= size + skip;
	}
	maybe_flush(term);
}

void
rt_term_indented(rt_term *term, rt_str text, size_t indent)
{
	size_t columns = term->columns > indent + 10 ? term->columns - indent : 0, at = 0, end;
	rt_str fit;

	rt_buf_clear(&term->scratch);
	rt_screen_add_text(&term->scratch, text);
	if (term->scratch.status != RT_OK)
		term->error = ENOMEM;
	fit = rt_buf_str(&term->scratch);
	/* The last line end of the text is of no interest to readers. */
	if (fit.size > 0 && fit.ptr[fit.size - 1] == '\n')
		fit.size--;
	do {
		end = rt_str_find(fit, RT_STR("\n"), at);
		if (end == SIZE_MAX)
			end = fit.size;
		add_indented_line(term, rt_str_at(fit.ptr == NULL ? "" : fit.ptr + at, end - at),
				  indent, columns);
		at = end + 1;
	} while (at <= fit.size && fit.size > 0);
}
