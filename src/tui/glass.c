/* SPDX-License-Identifier: MIT
 *
 * Bytes from the terminal are read here in large pieces, not by curses, which reads them one by
 * one: a paste of megabytes has to be fast, and an escape key must be told from the beginning of
 * a sequence by the time that passes. A pipe to ourselves is waited for beside the terminal, for
 * signals and other threads. */
#define _GNU_SOURCE

#include "tui/glass_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/encode.h"
#include "tui/glass_keys.h"

enum {
	READ_SIZE = 64 * 1024,
	ESCAPE_MS = 30,     /* an escape that is alone is the key; ESCDELAY says otherwise */
	SEQUENCE_MS = 500,  /* the rest of a sequence, or of a character, on a slow line */
	PASTE_MS = 2000,    /* a paste that stalls: what has come of it is given */
	PASTE_END_MS = 60000, /* a paste whose end does not come */
	PASTE_MAX = 256 * 1024 * 1024,
	COPY_MAX = 74000 /* what terminals take at least, as base64 */
};

struct rt_glass {
	const rt_alloc *alloc;
	rt_glass_screen *screen;
	FILE *in, *out;
	int tty;         /* in's */
	int wake[2];     /* read and written */
	atomic_bool woken;
	bool is_utf8, is_gone, is_left;
	bool is_drawn_anew; /* RT_EVENT_RESIZE is due */
	char erase;         /* what the backspace key sends */
	int escape_ms;
	rt_buf input;       /* not yet taken, from at */
	size_t at;
	bool is_pasting;    /* what comes is pasted; looked through up to paste_at */
	bool is_stalled;    /* a part of it was given, and what comes is more of it */
	bool is_cut;        /* and there was no room for all of it */
	size_t paste_at;
	int64_t read_ms;    /* when something came last */
	rt_buf text;        /* of the paste that was given */
};

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- opening --- */

/* A file of the terminal: the one that standard input or output is, else the one that controls
 * the process. */
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

/* Curses and wcwidth go by the locale. Where the one that is asked for is not on this machine,
 * there mostly is one that knows the characters. */
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
learn_size(rt_glass *glass)
{
	struct winsize size = {0, 0, 0, 0};

	(void)ioctl(fileno(glass->out), TIOCGWINSZ, &size);
	/* Without memory it stays as it is: what is outside is not shown. */
	if (rt_glass_screen_resize(glass->screen, size.ws_col, size.ws_row) != RT_OK)
		rt_glass_screen_enter(glass->screen);
}

static void
say(const rt_glass *glass, const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		ssize_t put = write(fileno(glass->out), text + at, size - at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return;
		at += (size_t)put;
	}
}

static void
ask_for_pastes(const rt_glass *glass, bool yes)
{
	if (rt_glass_screen_is_ansi(glass->screen))
		say(glass, yes ? "\033[?2004h" : "\033[?2004l", 8);
}

/* Curses has made it raw; this is what it leaves. */
static void
make_raw(const rt_glass *glass)
{
	struct termios mode;

	if (tcgetattr(glass->tty, &mode) != 0)
		return;
	mode.c_iflag &= ~(tcflag_t)(IXON | IXOFF | ICRNL | INLCR | IGNCR | ISTRIP);
	mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	mode.c_cc[VMIN] = 1;
	mode.c_cc[VTIME] = 0;
	(void)tcsetattr(glass->tty, TCSANOW, &mode);
}

static int
escape_ms(void)
{
	const char *said = getenv("ESCDELAY");
	long ms = said == NULL ? ESCAPE_MS : strtol(said, NULL, 10);

	return ms > 0 && ms <= 1000 ? (int)ms : ESCAPE_MS;
}

rt_status
rt_glass_open(const rt_glass_options *options, rt_glass **out, rt_error *err)
{
	const char *no_color = getenv("NO_COLOR");
	rt_glass_options asked = *options;
	rt_glass *glass = rt_new0(options->alloc, sizeof(*glass));
	struct termios shell;
	rt_status st = RT_NOMEM;

	if (glass == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	glass->alloc = options->alloc;
	glass->wake[0] = glass->wake[1] = -1;
	atomic_init(&glass->woken, false);
	rt_buf_init(&glass->input, options->alloc, PASTE_MAX + (size_t)READ_SIZE);
	rt_buf_init(&glass->text, options->alloc, RT_BUF_UNLIMITED);
	glass->in = open_tty(STDIN_FILENO, "r");
	glass->out = open_tty(STDOUT_FILENO, "w");
	if (glass->in == NULL || glass->out == NULL || tcgetattr(fileno(glass->in), &shell) != 0) {
		st = rt_fail(err, RT_REFUSED,
			     "there is no terminal to show a screen on; use the commands instead: "
			     "retake help");
		goto done;
	}
	glass->tty = fileno(glass->in);
	glass->erase = (char)shell.c_cc[VERASE];
	glass->escape_ms = escape_ms();
	glass->is_utf8 = set_locale();
	asked.no_color = asked.no_color || (no_color != NULL && *no_color != 0);
	if (pipe2(glass->wake, O_CLOEXEC | O_NONBLOCK) != 0) {
		st = rt_fail(err, RT_IO, "no pipe: %s", strerror(errno));
		goto done;
	}
	/* Before curses, which takes only signals that nobody has. */
	rt_guard_begin(glass->tty, &shell, glass->wake[1]);
	st = rt_glass_screen_open(&asked, glass->in, glass->out, &glass->screen, err);
	if (st != RT_OK) {
		rt_guard_end();
		goto done;
	}
	rt_guard_restores(rt_glass_screen_restore(glass->screen));
	make_raw(glass);
	rt_glass_screen_enter(glass->screen);
	learn_size(glass);
	ask_for_pastes(glass, true);
done:
	if (st != RT_OK) {
		rt_glass_close(glass);
		return st;
	}
	*out = glass;
	return RT_OK;
}

void
rt_glass_close(rt_glass *glass)
{
	size_t i;

	if (glass == NULL)
		return;
	if (glass->screen != NULL) {
		rt_glass_leave(glass);
		rt_guard_end();
		rt_glass_screen_close(glass->screen);
	}
	if (glass->in != NULL)
		(void)fclose(glass->in);
	if (glass->out != NULL)
		(void)fclose(glass->out);
	for (i = 0; i < 2; i++)
		if (glass->wake[i] >= 0)
			(void)close(glass->wake[i]);
	rt_buf_deinit(&glass->input);
	rt_buf_deinit(&glass->text);
	rt_free(glass->alloc, glass);
}

void
rt_glass_size(const rt_glass *glass, int *out_columns, int *out_rows)
{
	rt_glass_screen_size(glass->screen, out_columns, out_rows);
}

bool
rt_glass_is_utf8(const rt_glass *glass)
{
	return glass->is_utf8;
}

bool
rt_glass_has_color(const rt_glass *glass)
{
	return rt_glass_screen_has_color(glass->screen);
}

void
rt_glass_show(rt_glass *glass, const rt_canvas *canvas)
{
	if (!glass->is_left && !glass->is_gone)
		rt_glass_screen_show(glass->screen, canvas);
}

/* --- given away --- */

static void
give(rt_glass *glass)
{
	ask_for_pastes(glass, false);
	rt_glass_screen_leave(glass->screen);
	glass->is_left = true;
}

static void
take(rt_glass *glass)
{
	rt_glass_screen_enter(glass->screen);
	make_raw(glass);
	learn_size(glass);
	ask_for_pastes(glass, true);
	glass->is_left = false;
	glass->is_drawn_anew = true;
}

void
rt_glass_leave(rt_glass *glass)
{
	if (glass->is_left)
		return;
	give(glass);
	rt_guard_leave();
}

void
rt_glass_enter(rt_glass *glass)
{
	if (!glass->is_left)
		return;
	rt_guard_enter();
	take(glass);
}

void
rt_glass_suspend(rt_glass *glass)
{
	if (glass->is_left)
		return;
	give(glass);
	rt_guard_stop();
	take(glass);
}

void
rt_glass_wake(rt_glass *glass)
{
	ssize_t put;

	if (atomic_exchange(&glass->woken, true))
		return;
	do
		put = write(glass->wake[1], "w", 1);
	while (put < 0 && errno == EINTR);
}

bool
rt_glass_copy(rt_glass *glass, rt_str text)
{
	const char *term = getenv("TERM");
	bool done;
	rt_buf buf;

	if (!rt_glass_screen_is_ansi(glass->screen) || glass->is_left || text.size > COPY_MAX ||
	    (term != NULL && strcmp(term, "linux") == 0))
		return false;
	rt_buf_init(&buf, glass->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "\033]52;c;");
	rt_buf_add_base64(&buf, text);
	rt_buf_add_c(&buf, "\a");
	done = buf.status == RT_OK;
	if (done)
		say(glass, buf.ptr, buf.size);
	rt_buf_deinit(&buf);
	return done;
}

/* --- what comes --- */

static rt_str
untaken(const rt_glass *glass)
{
	return rt_str_at(glass->input.ptr + glass->at, glass->input.size - glass->at);
}

static void
taken(rt_glass *glass, size_t size)
{
	glass->at += size;
	if (glass->at == glass->input.size) {
		rt_buf_clear(&glass->input);
		glass->at = 0;
	}
}

/* There is no room for more. Of a paste what came is kept, but for a piece that makes room to
 * look for its end in; of keys, none are. */
static void
cut(rt_glass *glass)
{
	enum { TAIL = sizeof(RT_KEYS_PASTE_END) - 2 }; /* may be the beginning of the end */
	rt_buf *input = &glass->input;

	input->status = RT_OK;
	if (!glass->is_pasting || input->size - glass->at < 2 * READ_SIZE) {
		input->size = glass->at;
		return;
	}
	glass->is_cut = true;
	memmove(input->ptr + input->size - READ_SIZE, input->ptr + input->size - TAIL, TAIL);
	input->size -= READ_SIZE - TAIL;
	glass->paste_at = input->size - TAIL;
}

/* One piece of what is there to be read. */
static void
read_some(rt_glass *glass)
{
	char *to;
	ssize_t got;

	if (glass->is_pasting && glass->input.size - glass->at > PASTE_MAX)
		cut(glass);
	if (glass->at > READ_SIZE && glass->at * 2 > glass->input.size) {
		memmove(glass->input.ptr, glass->input.ptr + glass->at, glass->input.size - glass->at);
		glass->input.size -= glass->at;
		glass->paste_at -= glass->paste_at < glass->at ? glass->paste_at : glass->at;
		glass->at = 0;
	}
	to = rt_buf_reserve(&glass->input, READ_SIZE);
	if (to == NULL) {
		cut(glass);
		to = rt_buf_reserve(&glass->input, 1);
	}
	if (to == NULL) {
		glass->is_gone = true;
		return;
	}
	got = read(glass->tty, to, glass->input.room - glass->input.size < READ_SIZE ? 1 : READ_SIZE);
	if (got > 0) {
		glass->input.size += (size_t)got;
		glass->read_ms = now_ms();
	} else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
		glass->is_gone = true;
	}
	if (glass->paste_at > glass->input.size)
		glass->paste_at = glass->input.size;
}

/* What is kept of a pasted text: see glass.h. */
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

/* Since something came, in ms. */
static int64_t
quiet(const rt_glass *glass)
{
	return now_ms() - glass->read_ms;
}

/* A part of a paste, or the last of it. */
static bool
give_paste(rt_glass *glass, size_t size, rt_event *out)
{
	rt_str bytes = rt_str_at(glass->input.ptr + glass->at, size);

	rt_buf_clear(&glass->text);
	rt_utf8_repair(&glass->text, bytes);
	out->is_cut = glass->is_cut || glass->text.status != RT_OK;
	if (glass->text.status == RT_OK)
		clean(&glass->text);
	else
		rt_buf_clear(&glass->text);
	glass->is_cut = false;
	taken(glass, size);
	glass->paste_at = glass->at;
	out->kind = RT_EVENT_PASTE;
	out->text = rt_buf_str(&glass->text);
	return true;
}

/* How much of what has come of a paste is whole: not the beginning of its end, of a character, of a
 * line's end. */
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

/* Of a paste that stalls a part is given; its end may be cut off, so that an escape alone is a key
 * again after a while. */
static bool
take_stalled(rt_glass *glass, rt_event *out)
{
	rt_str bytes = untaken(glass);
	size_t size = whole_size(bytes);

	if (glass->is_stalled && bytes.size == 1 && bytes.ptr[0] == 0x1B) {
		glass->is_pasting = false;
		return false;
	}
	glass->is_stalled = true;
	return size > 0 && give_paste(glass, size, out);
}

static bool
take_paste(rt_glass *glass, rt_event *out)
{
	static const rt_str end = RT_STR_INIT(RT_KEYS_PASTE_END);
	size_t found = rt_str_find(rt_buf_str(&glass->input), end, glass->paste_at);
	size_t left = glass->input.size - glass->at;
	int64_t quiet_ms = quiet(glass);
	bool is_more = glass->is_stalled, given;

	if (found != SIZE_MAX || glass->is_gone || quiet_ms >= PASTE_END_MS) {
		size_t size = found != SIZE_MAX ? found - glass->at : left;

		glass->is_pasting = false;
		given = (size > 0 || !is_more) && give_paste(glass, size, out);
		if (found != SIZE_MAX)
			taken(glass, end.size);
		return given;
	}
	if (quiet_ms >= (is_more ? SEQUENCE_MS : PASTE_MS))
		return take_stalled(glass, out);
	if (left >= end.size)
		glass->paste_at = glass->input.size - (end.size - 1);
	return false;
}

/* How long the rest of what has begun may take. */
static int
patience_ms(const rt_glass *glass)
{
	rt_str bytes = untaken(glass);

	if (glass->is_pasting && glass->is_stalled)
		return bytes.size > 0 && quiet(glass) < SEQUENCE_MS ? SEQUENCE_MS : PASTE_END_MS;
	if (glass->is_pasting)
		return PASTE_MS;
	return bytes.size <= 2 && bytes.ptr[0] == 0x1B ? glass->escape_ms : SEQUENCE_MS;
}

static bool
take_input(rt_glass *glass, rt_event *out)
{
	while (glass->is_pasting || glass->at < glass->input.size) {
		bool is_all = glass->is_gone || quiet(glass) >= patience_ms(glass);
		size_t size = 0;

		if (glass->is_pasting) {
			if (take_paste(glass, out))
				return true;
			if (glass->is_pasting)
				return false;
			continue;
		}
		switch (rt_keys_read(untaken(glass), is_all, glass->erase, &out->key, &size)) {
		case RT_KEYS_MORE: return false;
		case RT_KEYS_NOTHING: taken(glass, size); break;
		case RT_KEYS_KEY:
			taken(glass, size);
			out->kind = RT_EVENT_KEY;
			return true;
		case RT_KEYS_PASTE:
			taken(glass, size);
			glass->is_pasting = true;
			glass->is_stalled = false;
			glass->paste_at = glass->at;
			break;
		}
	}
	return false;
}

/* Signals, and what came of them. */
static bool
take_signals(rt_glass *glass, rt_event *out)
{
	unsigned came = rt_guard_take();

	if (came & RT_GUARD_END)
		glass->is_gone = true;
	if (came & RT_GUARD_STOP)
		rt_glass_suspend(glass);
	else if ((came & RT_GUARD_CONTINUED) && !glass->is_left) {
		/* Stopped without a word (SIGSTOP): whoever had the terminal may have changed it. */
		rt_glass_screen_leave(glass->screen);
		take(glass);
	} else if (came & RT_GUARD_RESIZE) {
		learn_size(glass);
		glass->is_drawn_anew = true;
	}
	if (glass->is_gone || !glass->is_drawn_anew)
		return false;
	glass->is_drawn_anew = false;
	out->kind = RT_EVENT_RESIZE;
	return true;
}

static void
drain(const rt_glass *glass)
{
	char bytes[64];

	while (read(glass->wake[0], bytes, sizeof(bytes)) > 0)
		;
}

/* Until something comes, or that many ms are over (< 0: however long). */
static void
sleep_for(rt_glass *glass, int64_t ms)
{
	struct pollfd files[2] = {{glass->tty, POLLIN, 0}, {glass->wake[0], POLLIN, 0}};
	int got = poll(files, 2, ms < 0 ? -1 : ms > 1000000 ? 1000000 : (int)ms);

	if (got <= 0)
		return;
	if (files[1].revents != 0)
		drain(glass);
	if (files[0].revents & (POLLIN | POLLHUP | POLLERR))
		read_some(glass);
	else if (files[0].revents & POLLNVAL)
		glass->is_gone = true;
}

void
rt_glass_wait(rt_glass *glass, int timeout_ms, rt_event *out)
{
	int64_t end = timeout_ms < 0 ? INT64_MAX : now_ms() + timeout_ms;

	*out = (rt_event){.kind = RT_EVENT_NONE};
	for (;;) {
		int64_t now, until = end;

		if (take_signals(glass, out) || take_input(glass, out))
			return;
		if (glass->is_gone) {
			out->kind = RT_EVENT_END;
			return;
		}
		if (atomic_exchange(&glass->woken, false)) {
			out->kind = RT_EVENT_WAKE;
			return;
		}
		now = now_ms();
		if (now >= end && timeout_ms > 0)
			return;
		if (glass->is_pasting || glass->at < glass->input.size) {
			int64_t patience = glass->read_ms + patience_ms(glass);

			until = patience < until ? patience : until;
		}
		sleep_for(glass, until == INT64_MAX ? -1 : until > now ? until - now : 0);
		if (timeout_ms == 0) {
			if (!take_signals(glass, out) && !take_input(glass, out) && glass->is_gone)
				out->kind = RT_EVENT_END;
			return;
		}
	}
}

bool
rt_glass_pending(rt_glass *glass)
{
	struct pollfd file = {glass->tty, POLLIN, 0};
	rt_key key;
	size_t size;

	if (!glass->is_pasting && glass->at < glass->input.size &&
	    rt_keys_read(untaken(glass), false, glass->erase, &key, &size) != RT_KEYS_MORE)
		return true;
	return poll(&file, 1, 0) > 0;
}
