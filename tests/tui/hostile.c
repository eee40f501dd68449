/* SPDX-License-Identifier: MIT
 *
 * What is drawn cannot drive the terminal. A child draws 100,000 random texts, each into a box of
 * its own, on a glass on a pseudo-terminal; libvterm, which knows nothing of us, reads what comes
 * out. There may be no reply, no bell, no title, no mode but those of a screen, no string to the
 * terminal (clipboard, links, whatever begins an OSC or DCS), and outside of the boxes all stands
 * as it was. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vterm.h>

#include "base/hash.h"
#include "tui/glass.h"
#include "cli/rune.h"

enum { COLUMNS = 80, ROWS = 24, BOX_X = 7, BOX_W = 23, BOXES = 2, GAP = 12, FRAMES = 2100 };

static uint64_t
random_next(uint64_t *seed)
{
	*seed += 0x9E3779B97F4A7C15u;
	return rt_hash_u64(*seed);
}

/* A text that wants something of the terminal. */
static void
add_hostile(rt_buf *buf, uint64_t *seed)
{
	static const char *const pieces[] = {
		"\033]0;title\a", "\033]52;c;ZXZpbA==\a", "\033]8;;http://x\033\\", "\033[6n", "\033[c",
		"\033[?1000h", "\033[2J", "\033[H", "\033[31m", "\033c", "\033P+q544e\033\\", "\033[5n",
		"\x05", "\a", "\b\b\b\b", "\r", "\n", "\t", "\033[20t", "\033[?25l", "\033(0", "\x0E",
		"\xC2\x9B" "2J", "\xC2\x9D" "0;t\xC2\x9C", "\x9B" "2J", "\u202E", "\u2066", "\u2028",
		"\u4F60", "e\u0301\u0302\u0303\u0304\u0305", "\u0301", "\u200D", "\uFE0F", "\U000E0041",
		"\U0001F1E9", "plain words ", "\xFF.", "\xF0\x9F.", "\u3164", "\u00AD", "\uFEFF",
	};
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00, 0xFF}, {0x00, 0x1F}, {0x80, 0x9F}, {0x300, 0x36F}, {0x2000, 0x206F},
		{0x3041, 0x3090}, {0x4E00, 0x9000}, {0xAC00, 0xD7A3}, {0xFFF0, 0xFFFF}, {0xE0000, 0xE007F},
	};
	size_t count = random_next(seed) % 12 + 1;
	char bytes[4];

	while (count-- > 0) {
		size_t range = random_next(seed) % (sizeof(ranges) / sizeof(ranges[0]));
		uint32_t span = ranges[range].last - ranges[range].first + 1;

		switch (random_next(seed) % 4) {
		case 0: /* no character by chance: the judge is older than some */
			rt_buf_add_byte(buf, (char)(random_next(seed) & 0xFF));
			rt_buf_add_byte(buf, '.');
			break;
		case 1:
			rt_buf_add(buf, bytes,
				   rt_rune_encode(ranges[range].first +
							  (uint32_t)(random_next(seed) % span),
						  bytes));
			break;
		default:
			rt_buf_add_c(buf,
				     pieces[random_next(seed) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
	}
}

static rt_box
box_of(int row, int nth)
{
	return (rt_box){BOX_X + nth * (BOX_W + GAP), row, BOX_W, 1};
}

static void
draw(rt_canvas *canvas, rt_buf *text, uint64_t *seed)
{
	rt_box all = rt_canvas_box(canvas);
	int x, y, nth;

	rt_canvas_clear(canvas);
	for (y = 0; y < ROWS; y++) {
		for (x = 0; x < COLUMNS; x++)
			(void)rt_canvas_put_c(canvas, all, x, y, "#", RT_INK_TEXT);
		for (nth = 0; nth < BOXES; nth++) {
			rt_box box = box_of(y, nth);

			rt_canvas_fill(canvas, box, RT_INK_TEXT);
			rt_buf_clear(text);
			add_hostile(text, seed);
			(void)rt_canvas_put(canvas, box, (int)(random_next(seed) % 8) - 3, 0,
					    rt_buf_str(text), (rt_ink)(random_next(seed) % RT_INK_COUNT));
		}
	}
	rt_canvas_cursor(canvas, all, (int)(random_next(seed) % COLUMNS), 3);
}

/* The child: a frame for each byte that comes, and a byte back when it is shown. */
static int
show_frames(int from, int to)
{
	rt_glass_options options = {rt_alloc_libc(), false};
	rt_glass *glass = NULL;
	uint64_t seed = 20261122;
	rt_canvas canvas;
	rt_error err;
	rt_buf text;
	char byte;

	if (rt_glass_open(&options, &glass, &err) != RT_OK)
		return 1;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_canvas_init(&canvas, rt_alloc_libc(), rt_glass_is_utf8(glass));
	if (!canvas.utf8 || rt_canvas_resize(&canvas, COLUMNS, ROWS) != RT_OK)
		return 1;
	while (read(from, &byte, 1) == 1) {
		draw(&canvas, &text, &seed);
		rt_glass_show(glass, &canvas);
		if (write(to, &byte, 1) != 1)
			break;
	}
	rt_glass_close(glass);
	rt_canvas_deinit(&canvas);
	rt_buf_deinit(&text);
	return 0;
}

/* --- the judge --- */

static const char *crime;

static int
on_prop(VTermProp prop, VTermValue *value, void *ctx)
{
	(void)value;
	(void)ctx;
	if (prop != VTERM_PROP_ALTSCREEN && prop != VTERM_PROP_CURSORVISIBLE &&
	    prop != VTERM_PROP_CURSORBLINK && prop != VTERM_PROP_CURSORSHAPE)
		crime = "a property of the terminal";
	return 1;
}

static int
on_bell(void *ctx)
{
	(void)ctx;
	crime = "the bell";
	return 1;
}

static int
on_control(unsigned char control, void *ctx)
{
	(void)control;
	(void)ctx;
	crime = "a control that nobody knows";
	return 1;
}

static int
on_escape(const char *bytes, size_t size, void *ctx)
{
	(void)bytes;
	(void)size;
	(void)ctx;
	crime = "an escape that nobody knows";
	return 1;
}

/* Of what it does not know: frames (?2026), and the title that xterm keeps with its screen. */
static int
on_csi(const char *leader, const long args[], int count, const char *intermed, char command, void *ctx)
{
	bool is_frame = leader != NULL && strcmp(leader, "?") == 0 && count == 1 &&
			CSI_ARG(args[0]) == 2026 && (command == 'h' || command == 'l');
	bool is_kept = command == 't' && count >= 1 && (CSI_ARG(args[0]) == 22 || CSI_ARG(args[0]) == 23);

	(void)intermed;
	(void)ctx;
	if (!is_frame && !is_kept)
		crime = "a sequence that nobody knows";
	return 1;
}

static int
on_string(const char *bytes, size_t size, void *ctx)
{
	(void)bytes;
	(void)size;
	(void)ctx;
	crime = "a string to the terminal";
	return 1;
}

/* A frame's bytes. */
static char bytes[1 << 20];
static size_t size_of_bytes;

/* All that has come. */
static void
take(int tty)
{
	ssize_t got;

	while ((got = read(tty, bytes + size_of_bytes, sizeof(bytes) - size_of_bytes)) > 0)
		size_of_bytes += (size_t)got;
}

static bool
is_in_box(int x, int y)
{
	int nth;

	for (nth = 0; nth < BOXES; nth++) {
		rt_box box = box_of(y, nth);

		if (x >= box.x && x < box.x + box.w)
			return true;
	}
	return false;
}

static void
judge(const rt_canvas *canvas, VTerm *vterm, int frame)
{
	VTermScreen *screen = vterm_obtain_screen(vterm);
	int x, y;

	if (crime != NULL)
		fail_msg("frame %d: %s", frame, crime);
	assert_int_equal(vterm_output_get_buffer_current(vterm), 0);
	for (y = 0; y < ROWS; y++)
		for (x = 0; x < COLUMNS; x++) {
			const rt_canvas_cell *wanted = &canvas->cells[y * COLUMNS + x];
			VTermScreenCell cell;

			assert_true(vterm_screen_get_cell(screen, (VTermPos){y, x}, &cell));
			if (!is_in_box(x, y) && cell.chars[0] != '#')
				fail_msg("frame %d: column %d, row %d is %X", frame, x, y,
					 (unsigned)cell.chars[0]);
			/* In the box: what the canvas has, a blank, or "?". */
			if (wanted->ch != 0 && cell.chars[0] != wanted->ch && cell.chars[0] != '?' &&
			    !(wanted->ch == ' ' && cell.chars[0] == 0))
				fail_msg("frame %d: column %d, row %d is %X, not %X", frame, x, y,
					 (unsigned)cell.chars[0], (unsigned)wanted->ch);
		}
}

/* The child has shown its frame; what it writes is read meanwhile, or it would wait for us. */
static void
wait_for_frame(VTerm *vterm, int tty, int done)
{
	struct pollfd files[2] = {{tty, POLLIN, 0}, {done, POLLIN, 0}};
	char byte;

	for (;;) {
		assert_true(poll(files, 2, 60000) > 0);
		if (files[0].revents & POLLIN)
			take(tty);
		if (files[1].revents == 0)
			continue;
		assert_int_equal(read(done, &byte, 1), 1);
		take(tty);
		vterm_input_write(vterm, bytes, size_of_bytes);
		size_of_bytes = 0;
		return;
	}
}

static void
test_nothing_drives_the_terminal(void **state)
{
	static const VTermScreenCallbacks callbacks = {.settermprop = on_prop, .bell = on_bell};
	static const VTermParserCallbacks unknown = {.control = on_control, .escape = on_escape,
						     .csi = on_csi, .osc = on_string, .dcs = on_string};
	struct winsize size = {ROWS, COLUMNS, 0, 0};
	uint64_t seed = 20261122;
	VTerm *vterm = vterm_new(ROWS, COLUMNS);
	int go[2], done[2], tty, frame, status = -1;
	rt_canvas canvas;
	rt_buf text;
	pid_t child;

	(void)state;
	assert_true(pipe(go) == 0 && pipe(done) == 0);
	child = forkpty(&tty, NULL, NULL, &size);
	assert_true(child >= 0);
	if (child == 0) {
		setenv("TERM", "xterm-256color", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		unsetenv("NO_COLOR");
		close(go[1]);
		close(done[0]);
		_exit(show_frames(go[0], done[1]));
	}
	close(go[0]);
	close(done[1]);
	assert_int_equal(fcntl(tty, F_SETFL, O_NONBLOCK), 0);
	vterm_set_utf8(vterm, 1);
	vterm_screen_set_callbacks(vterm_obtain_screen(vterm), &callbacks, NULL);
	vterm_screen_set_unrecognised_fallbacks(vterm_obtain_screen(vterm), &unknown, NULL);
	vterm_screen_enable_altscreen(vterm_obtain_screen(vterm), 1);
	vterm_screen_reset(vterm_obtain_screen(vterm), 1);
	crime = NULL;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_canvas_init(&canvas, rt_alloc_libc(), true);
	assert_int_equal(rt_canvas_resize(&canvas, COLUMNS, ROWS), RT_OK);
	for (frame = 0; frame < FRAMES; frame++) {
		assert_int_equal(write(go[1], "f", 1), 1);
		draw(&canvas, &text, &seed);
		wait_for_frame(vterm, tty, done[0]);
		judge(&canvas, vterm, frame);
	}
	close(go[1]);
	while (waitpid(child, &status, WNOHANG) == 0) {
		struct pollfd file = {tty, POLLIN, 0};

		(void)poll(&file, 1, 10);
		take(tty);
	}
	take(tty);
	vterm_input_write(vterm, bytes, size_of_bytes);
	assert_int_equal(status, 0);
	assert_null(crime);
	close(tty);
	close(done[0]);
	vterm_free(vterm);
	rt_canvas_deinit(&canvas);
	rt_buf_deinit(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_drives_the_terminal)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
