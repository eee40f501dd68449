/* SPDX-License-Identifier: MIT
 *
 * Input is read in large blocks, not by curses, which reads single bytes: pastes of megabytes must be
 * fast, and the escape key is told from the beginning of a sequence by time. Signals and other
 * threads wake us through a pipe, which is polled together with the terminal. */
#define _GNU_SOURCE

#include "terminal/terminal_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock_host.h"
#include "base/encode.h"
#include "terminal/terminal_input.h"

enum {
	READ_SIZE = 64 * 1024,
	ESCAPE_MS = 30,     /* after which a single escape is that key; or ESCDELAY */
	SEQUENCE_MS = 500,  /* the rest of a sequence, or of a character, on a slow line */
	PASTE_MS = 2000,    /* after which a stalled paste is reported in part */
	PASTE_END_MS = 60000, /* after which a paste without an end is over */
	PASTE_MAX = 256 * 1024 * 1024,
	COPY_MAX = 74000 /* which all terminals accept as base64 */
};

struct rt_terminal {
	const rt_alloc *alloc;
	rt_terminal_screen *screen;
	FILE *in, *out;
	int tty;         /* in's */
	int wake[2];     /* read and written */
	atomic_bool woken;
	bool is_utf8, is_gone, is_left;
	bool asks_background; /* and a reply changes the colours */
	bool has_mouse; /* it is reported, unless the terminal is left */
	bool is_drawn_anew; /* RT_EVENT_RESIZE is due */
	char erase;         /* byte of the backspace key */
	int escape_ms;
	rt_buf input;       /* unread from `at` on */
	size_t at;
	bool is_pasting;    /* input is pasted text */
	bool is_stalled;    /* a part of the paste was reported */
	bool is_cut;        /* the paste was too long */
	size_t paste_at;    /* its end is not before this offset */
	int64_t read_ms;    /* time of the last input */
	rt_buf text;        /* of the paste that was reported */
};

/* ---- opening ---- */

/* Open the terminal that is standard input or output, else the controlling terminal. */
static FILE *
open_tty(int standard, const char *mode)
{
	int fd = isatty(standard) ? fcntl(standard, F_DUPFD_CLOEXEC, 3)
				  : open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	FILE *file = fd < 0 ? NULL : fdopen(fd, mode);

	if (file == NULL && fd >= 0)
		(void)close(fd);
	return file;
}

static bool
says_utf8(void)
{
	const char *codes = nl_langinfo(CODESET);

	return codes != NULL && strcasecmp(codes, "UTF-8") == 0;
}

/* Curses and wcwidth depend on the locale. If the wanted one is not installed, another one with
 * UTF-8 usually is. */
static bool
set_locale(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *wanted = NULL;
	size_t i;

	if (setlocale(LC_CTYPE, "") != NULL)
		return says_utf8();
	for (i = 0; i < 3 && (wanted == NULL || *wanted == 0); i++)
		wanted = getenv(names[i]);
	if (wanted == NULL || (strcasestr(wanted, "UTF-8") == NULL && strcasestr(wanted, "utf8") == NULL))
		return false;
	return setlocale(LC_CTYPE, "C.UTF-8") != NULL && says_utf8();
}

static void
learn_size(rt_terminal *terminal)
{
	struct winsize size = {0, 0, 0, 0};

	(void)ioctl(fileno(terminal->out), TIOCGWINSZ, &size);
	/* Without memory the old size stays. */
	if (rt_terminal_screen_resize(terminal->screen, size.ws_col, size.ws_row) != RT_OK)
		rt_terminal_screen_enter(terminal->screen);
}

static void
send(const rt_terminal *terminal, rt_str bytes)
{
	if (rt_terminal_screen_is_ansi(terminal->screen))
		rt_terminal_write(fileno(terminal->out), bytes.ptr, bytes.size);
}

static void
report_mouse(const rt_terminal *terminal, bool yes)
{
	send(terminal, yes ? RT_STR("\033[?1000h\033[?1006h") : RT_STR(RT_TERMINAL_NO_MOUSE));
}

/* Turns on reports of pastes, and of the mouse if it is enabled. */
static void
begin_reports(const rt_terminal *terminal)
{
	send(terminal, RT_STR("\033[?2004h"));
	if (terminal->has_mouse)
		report_mouse(terminal, true);
}

static void
end_reports(const rt_terminal *terminal)
{
	if (terminal->has_mouse)
		report_mouse(terminal, false);
	send(terminal, RT_STR("\033[?2004l"));
}

/* The part of raw mode that curses does not set. */
static void
make_raw(const rt_terminal *terminal)
{
	struct termios mode;

	if (tcgetattr(terminal->tty, &mode) != 0)
		return;
	mode.c_iflag &= ~(tcflag_t)(IXON | IXOFF | ICRNL | INLCR | IGNCR | ISTRIP);
	mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	mode.c_cc[VMIN] = 1;
	mode.c_cc[VTIME] = 0;
	(void)tcsetattr(terminal->tty, TCSANOW, &mode);
}

/* The Linux console would show the question. */
static void
ask_background(rt_terminal *terminal)
{
	const char *term = getenv("TERM");

	terminal->asks_background = rt_terminal_screen_has_color(terminal->screen) && term != NULL &&
				    strncmp(term, "linux", 5) != 0;
	if (terminal->asks_background)
		send(terminal, RT_STR("\033]11;?\033\\"));
}

static int
escape_ms(void)
{
	const char *said = getenv("ESCDELAY");
	long ms = said == NULL ? ESCAPE_MS : strtol(said, NULL, 10);

	return ms > 0 && ms <= 1000 ? (int)ms : ESCAPE_MS;
}

rt_status
rt_terminal_open(const rt_terminal_options *options, rt_terminal **out, rt_error *err)
{
	const char *no_color = getenv("NO_COLOR");
	rt_terminal_options asked = *options;
	rt_terminal *terminal = rt_new0(options->alloc, sizeof(*terminal));
	struct termios shell;
	rt_status st = RT_NOMEM;

	if (terminal == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	terminal->alloc = options->alloc;
	terminal->wake[0] = terminal->wake[1] = -1;
	atomic_init(&terminal->woken, false);
	rt_buf_init(&terminal->input, options->alloc, PASTE_MAX + (size_t)READ_SIZE);
	rt_buf_init(&terminal->text, options->alloc, RT_BUF_UNLIMITED);
	terminal->in = open_tty(STDIN_FILENO, "r");
	terminal->out = open_tty(STDOUT_FILENO, "w");
	if (terminal->in == NULL || terminal->out == NULL ||
	    tcgetattr(fileno(terminal->in), &shell) != 0) {
		st = rt_fail(err, RT_REFUSED,
			     "the terminal UI needs a terminal; the commands work without one: "
			     "retake help");
		goto done;
	}
	terminal->tty = fileno(terminal->in);
	terminal->erase = (char)shell.c_cc[VERASE];
	terminal->escape_ms = escape_ms();
	terminal->is_utf8 = set_locale();
	asked.no_color = asked.no_color || (no_color != NULL && *no_color != 0);
	if (pipe2(terminal->wake, O_CLOEXEC | O_NONBLOCK) != 0) {
		st = rt_fail(err, RT_IO, "cannot create a pipe: %s", strerror(errno));
		goto done;
	}
	/* Before curses, which handles only signals without a handler. */
	rt_terminal_signals_begin(terminal->tty, &shell, terminal->wake[1]);
	st = rt_terminal_screen_open(&asked, terminal->in, terminal->out, &terminal->screen, err);
	if (st != RT_OK) {
		rt_terminal_signals_end();
		goto done;
	}
	rt_terminal_signals_restores(rt_terminal_screen_restore(terminal->screen));
	make_raw(terminal);
	rt_terminal_screen_enter(terminal->screen);
	learn_size(terminal);
	begin_reports(terminal);
	if (options->theme == RT_THEME_AUTO)
		ask_background(terminal);
done:
	if (st != RT_OK) {
		rt_terminal_close(terminal);
		return st;
	}
	*out = terminal;
	return RT_OK;
}

void
rt_terminal_close(rt_terminal *terminal)
{
	size_t i;

	if (terminal == NULL)
		return;
	if (terminal->screen != NULL) {
		rt_terminal_leave(terminal);
		rt_terminal_signals_end();
		rt_terminal_screen_close(terminal->screen);
	}
	if (terminal->in != NULL)
		(void)fclose(terminal->in);
	if (terminal->out != NULL)
		(void)fclose(terminal->out);
	for (i = 0; i < 2; i++)
		if (terminal->wake[i] >= 0)
			(void)close(terminal->wake[i]);
	rt_buf_deinit(&terminal->input);
	rt_buf_deinit(&terminal->text);
	rt_free(terminal->alloc, terminal);
}

void
rt_terminal_size(const rt_terminal *terminal, int *out_columns, int *out_rows)
{
	rt_terminal_screen_size(terminal->screen, out_columns, out_rows);
}

bool
rt_terminal_is_utf8(const rt_terminal *terminal)
{
	return terminal->is_utf8;
}

bool
rt_terminal_has_color(const rt_terminal *terminal)
{
	return rt_terminal_screen_has_color(terminal->screen);
}

void
rt_terminal_show(rt_terminal *terminal, const rt_canvas *canvas)
{
	if (!terminal->is_left && !terminal->is_gone)
		rt_terminal_screen_show(terminal->screen, canvas);
}

/* ---- release and acquire ---- */

static void
release(rt_terminal *terminal)
{
	end_reports(terminal);
	rt_terminal_screen_leave(terminal->screen);
	terminal->is_left = true;
}

static void
acquire(rt_terminal *terminal)
{
	rt_terminal_screen_enter(terminal->screen);
	make_raw(terminal);
	learn_size(terminal);
	begin_reports(terminal);
	terminal->is_left = false;
	terminal->is_drawn_anew = true;
}

void
rt_terminal_leave(rt_terminal *terminal)
{
	if (terminal->is_left)
		return;
	release(terminal);
	rt_terminal_signals_leave();
}

void
rt_terminal_enter(rt_terminal *terminal)
{
	if (!terminal->is_left)
		return;
	rt_terminal_signals_enter();
	acquire(terminal);
}

void
rt_terminal_suspend(rt_terminal *terminal)
{
	if (terminal->is_left)
		return;
	release(terminal);
	rt_terminal_signals_stop();
	acquire(terminal);
}

void
rt_terminal_set_mouse(rt_terminal *terminal, bool is_on)
{
	if (terminal->has_mouse == is_on)
		return;
	terminal->has_mouse = is_on;
	if (!terminal->is_left)
		report_mouse(terminal, is_on);
}

void
rt_terminal_wake(rt_terminal *terminal)
{
	ssize_t put;

	if (atomic_exchange(&terminal->woken, true))
		return;
	do
		put = write(terminal->wake[1], "w", 1);
	while (put < 0 && errno == EINTR);
}

bool
rt_terminal_copy(rt_terminal *terminal, rt_str text)
{
	const char *term = getenv("TERM");
	bool done;
	rt_buf buf;

	if (!rt_terminal_screen_is_ansi(terminal->screen) || terminal->is_left ||
	    text.size > COPY_MAX || (term != NULL && strcmp(term, "linux") == 0))
		return false;
	rt_buf_init(&buf, terminal->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "\033]52;c;");
	rt_buf_add_base64(&buf, text);
	rt_buf_add_c(&buf, "\a");
	done = buf.status == RT_OK;
	if (done)
		rt_terminal_write(fileno(terminal->out), buf.ptr, buf.size);
	rt_buf_deinit(&buf);
	return done;
}

/* ---- input ---- */

static rt_str
unread(const rt_terminal *terminal)
{
	return rt_str_at(terminal->input.ptr + terminal->at, terminal->input.size - terminal->at);
}

static void
consume(rt_terminal *terminal, size_t size)
{
	terminal->at += size;
	if (terminal->at == terminal->input.size) {
		rt_buf_clear(&terminal->input);
		terminal->at = 0;
	}
}

/* The input buffer is full: drop keys; of a paste, drop a block to have space for finding its end. */
static void
cut(rt_terminal *terminal)
{
	enum { TAIL = sizeof(RT_KEYS_PASTE_END) - 2 }; /* may begin the end marker */
	rt_buf *input = &terminal->input;

	input->status = RT_OK;
	if (!terminal->is_pasting || input->size - terminal->at < 2 * READ_SIZE) {
		input->size = terminal->at;
		return;
	}
	terminal->is_cut = true;
	memmove(input->ptr + input->size - READ_SIZE, input->ptr + input->size - TAIL, TAIL);
	input->size -= READ_SIZE - TAIL;
	terminal->paste_at = input->size - TAIL;
}

/* Read one block. */
static void
read_some(rt_terminal *terminal)
{
	char *to;
	ssize_t got;

	if (terminal->is_pasting && terminal->input.size - terminal->at > PASTE_MAX)
		cut(terminal);
	if (terminal->at > READ_SIZE && terminal->at * 2 > terminal->input.size) {
		memmove(terminal->input.ptr, terminal->input.ptr + terminal->at,
			terminal->input.size - terminal->at);
		terminal->input.size -= terminal->at;
		terminal->paste_at -= terminal->paste_at < terminal->at ? terminal->paste_at
									: terminal->at;
		terminal->at = 0;
	}
	to = rt_buf_reserve(&terminal->input, READ_SIZE);
	if (to == NULL) {
		cut(terminal);
		to = rt_buf_reserve(&terminal->input, 1);
	}
	if (to == NULL) {
		terminal->is_gone = true;
		return;
	}
	got = read(terminal->tty, to,
		   terminal->input.room - terminal->input.size < READ_SIZE ? 1 : READ_SIZE);
	if (got > 0) {
		terminal->input.size += (size_t)got;
		terminal->read_ms = rt_clock_ms();
	} else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
		terminal->is_gone = true;
	}
	if (terminal->paste_at > terminal->input.size)
		terminal->paste_at = terminal->input.size;
}

/* Remove controls from a pasted text (terminal.h). */
static void
clean(rt_buf *buf)
{
	size_t from = 0, to = 0;

	while (from < buf->size) {
		unsigned char c = (unsigned char)buf->ptr[from++];

		if (c == '\r') {
			from += from < buf->size && buf->ptr[from] == '\n';
			c = '\n';
		} else if (c == 0xC2 && (unsigned char)buf->ptr[from] < 0xA0) {
			from++; /* C1 */
			continue;
		} else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
			continue;
		}
		buf->ptr[to++] = (char)c;
	}
	if (buf->ptr != NULL)
		buf->ptr[to] = 0;
	buf->size = to;
}

/* Milliseconds since the last input. */
static int64_t
quiet(const rt_terminal *terminal)
{
	return rt_clock_ms() - terminal->read_ms;
}

/* Report a part of a paste. */
static bool
give_paste(rt_terminal *terminal, size_t size, rt_event *out)
{
	rt_str bytes = rt_str_at(terminal->input.ptr + terminal->at, size);

	rt_buf_clear(&terminal->text);
	rt_utf8_repair(&terminal->text, bytes);
	out->is_cut = terminal->is_cut || terminal->text.status != RT_OK;
	if (terminal->text.status == RT_OK)
		clean(&terminal->text);
	else
		rt_buf_clear(&terminal->text);
	terminal->is_cut = false;
	consume(terminal, size);
	terminal->paste_at = terminal->at;
	out->kind = RT_EVENT_PASTE;
	out->text = rt_buf_str(&terminal->text);
	return true;
}

/* The size without an incomplete end marker, character or line end at the end. */
static size_t
whole_size(rt_str bytes)
{
	static const rt_str end = RT_STR_INIT(RT_KEYS_PASTE_END);
	size_t tail = bytes.size < end.size - 1 ? bytes.size : end.size - 1, back;

	for (; tail > 0; tail--)
		if (memcmp(bytes.ptr + bytes.size - tail, end.ptr, tail) == 0)
			return bytes.size - tail;
	if (bytes.size > 0 && bytes.ptr[bytes.size - 1] == '\r')
		return bytes.size - 1;
	for (back = 1; back <= 3 && back <= bytes.size; back++) {
		unsigned char c = (unsigned char)bytes.ptr[bytes.size - back];

		if (c < 0x80)
			break;
		if (c >= 0xC0)
			return back < (c < 0xE0 ? 2u : c < 0xF0 ? 3u : 4u) ? bytes.size - back
									   : bytes.size;
	}
	return bytes.size;
}

/* Report a part of a stalled paste. Its end marker may never come, so a single escape ends it. */
static bool
read_stalled_paste(rt_terminal *terminal, rt_event *out)
{
	rt_str bytes = unread(terminal);
	size_t size = whole_size(bytes);

	if (terminal->is_stalled && bytes.size == 1 && bytes.ptr[0] == 0x1B) {
		terminal->is_pasting = false;
		return false;
	}
	terminal->is_stalled = true;
	return size > 0 && give_paste(terminal, size, out);
}

static bool
read_paste(rt_terminal *terminal, rt_event *out)
{
	static const rt_str end = RT_STR_INIT(RT_KEYS_PASTE_END);
	size_t found = rt_str_find(rt_buf_str(&terminal->input), end, terminal->paste_at);
	size_t left = terminal->input.size - terminal->at;
	int64_t quiet_ms = quiet(terminal);
	bool is_more = terminal->is_stalled, given;

	if (found != SIZE_MAX || terminal->is_gone || quiet_ms >= PASTE_END_MS) {
		size_t size = found != SIZE_MAX ? found - terminal->at : left;

		terminal->is_pasting = false;
		given = (size > 0 || !is_more) && give_paste(terminal, size, out);
		if (found != SIZE_MAX)
			consume(terminal, end.size);
		return given;
	}
	if (quiet_ms >= (is_more ? SEQUENCE_MS : PASTE_MS))
		return read_stalled_paste(terminal, out);
	if (left >= end.size)
		terminal->paste_at = terminal->input.size - (end.size - 1);
	return false;
}

/* How long to wait for the rest of an incomplete sequence or paste. */
static int
patience_ms(const rt_terminal *terminal)
{
	rt_str bytes = unread(terminal);

	if (terminal->is_pasting && terminal->is_stalled)
		return bytes.size > 0 && quiet(terminal) < SEQUENCE_MS ? SEQUENCE_MS : PASTE_END_MS;
	if (terminal->is_pasting)
		return PASTE_MS;
	return bytes.size <= 2 && bytes.ptr[0] == 0x1B ? terminal->escape_ms : SEQUENCE_MS;
}

/* Sequences that are not keys: the reply to ask_background is one of them. */
static void
read_background(rt_terminal *terminal, rt_str bytes)
{
	bool is_light;

	if (!terminal->asks_background || !rt_keys_background(bytes, &is_light))
		return;
	terminal->asks_background = false; /* the first reply counts */
	rt_terminal_screen_set_theme(terminal->screen, is_light ? RT_THEME_LIGHT : RT_THEME_DARK);
	terminal->is_drawn_anew = true;
}

static bool
read_input(rt_terminal *terminal, rt_event *out)
{
	while (terminal->is_pasting || terminal->at < terminal->input.size) {
		bool is_all = terminal->is_gone || quiet(terminal) >= patience_ms(terminal);
		size_t size = 0;
		rt_terminal_input input;

		if (terminal->is_pasting) {
			if (read_paste(terminal, out))
				return true;
			if (terminal->is_pasting)
				return false;
			continue;
		}
		switch (rt_keys_read(unread(terminal), is_all, terminal->erase, &input, &size)) {
		case RT_KEYS_MORE: return false;
		case RT_KEYS_NOTHING:
			read_background(terminal, rt_str_at(unread(terminal).ptr, size));
			consume(terminal, size);
			break;
		case RT_KEYS_KEY:
			consume(terminal, size);
			out->kind = RT_EVENT_KEY;
			out->key = input.key;
			return true;
		case RT_KEYS_MOUSE:
			consume(terminal, size);
			out->kind = RT_EVENT_MOUSE;
			out->mouse = input.mouse;
			return true;
		case RT_KEYS_PASTE:
			consume(terminal, size);
			terminal->is_pasting = true;
			terminal->is_stalled = false;
			terminal->paste_at = terminal->at;
			break;
		}
	}
	return false;
}

/* Handle signals. */
static bool
read_signals(rt_terminal *terminal, rt_event *out)
{
	unsigned came = rt_terminal_signals_collect();

	if (came & RT_TERMINAL_SIGNAL_END)
		terminal->is_gone = true;
	if (came & RT_TERMINAL_SIGNAL_STOP)
		rt_terminal_suspend(terminal);
	else if ((came & RT_TERMINAL_SIGNAL_CONTINUED) && !terminal->is_left) {
		/* After SIGSTOP others may have changed the terminal. */
		rt_terminal_screen_leave(terminal->screen);
		acquire(terminal);
	} else if (came & RT_TERMINAL_SIGNAL_RESIZE) {
		learn_size(terminal);
		terminal->is_drawn_anew = true;
	}
	if (terminal->is_gone || !terminal->is_drawn_anew)
		return false;
	terminal->is_drawn_anew = false;
	out->kind = RT_EVENT_RESIZE;
	return true;
}

static void
drain(const rt_terminal *terminal)
{
	char bytes[64];

	while (read(terminal->wake[0], bytes, sizeof(bytes)) > 0)
		;
}

/* Wait for input or a wake-up, at most this long (< 0: without a limit). */
static void
sleep_for(rt_terminal *terminal, int64_t ms)
{
	struct pollfd files[2] = {{terminal->tty, POLLIN, 0}, {terminal->wake[0], POLLIN, 0}};
	int got = poll(files, 2, ms < 0 ? -1 : ms > 1000000 ? 1000000 : (int)ms);

	if (got <= 0)
		return;
	if (files[1].revents != 0)
		drain(terminal);
	if (files[0].revents & (POLLIN | POLLHUP | POLLERR))
		read_some(terminal);
	else if (files[0].revents & POLLNVAL)
		terminal->is_gone = true;
}

void
rt_terminal_wait(rt_terminal *terminal, int timeout_ms, rt_event *out)
{
	int64_t end = timeout_ms < 0 ? INT64_MAX : rt_clock_ms() + timeout_ms;

	*out = (rt_event){.kind = RT_EVENT_NONE};
	for (;;) {
		int64_t now, until = end;

		if (read_signals(terminal, out) || read_input(terminal, out))
			return;
		if (terminal->is_gone) {
			out->kind = RT_EVENT_END;
			return;
		}
		if (atomic_exchange(&terminal->woken, false)) {
			out->kind = RT_EVENT_WAKE;
			return;
		}
		now = rt_clock_ms();
		if (now >= end && timeout_ms > 0)
			return;
		if (terminal->is_pasting || terminal->at < terminal->input.size) {
			int64_t patience = terminal->read_ms + patience_ms(terminal);

			until = patience < until ? patience : until;
		}
		sleep_for(terminal, until == INT64_MAX ? -1 : until > now ? until - now : 0);
		if (timeout_ms == 0) {
			if (!read_signals(terminal, out) && !read_input(terminal, out) &&
			    terminal->is_gone)
				out->kind = RT_EVENT_END;
			return;
		}
	}
}

bool
rt_terminal_pending(rt_terminal *terminal)
{
	struct pollfd file = {terminal->tty, POLLIN, 0};
	rt_terminal_input input;
	size_t size;

	if (!terminal->is_pasting && terminal->at < terminal->input.size &&
	    rt_keys_read(unread(terminal), false, terminal->erase, &input, &size) != RT_KEYS_MORE)
		return true;
	return poll(&file, 1, 0) > 0;
}
