/* SPDX-License-Identifier: MIT
 *
 * Output cannot control the terminal. A child draws 100,000 random texts, each into a separate
 * box, on a pseudo-terminal; libvterm, an independent implementation, interprets the output.
 * There must be no reply, no bell, no title, no mode except those of a full screen, no OSC or
 * DCS string (clipboard, links …), and everything outside the boxes must be unchanged. */
#define _GNU_SOURCE
#include <pty.h>
#include <sys/wait.h>

#include "judge.h"
#include "terminal/terminal.h"

enum { COLUMNS = 80, ROWS = 24, BOX_X = 7, BOX_W = 23, BOXES = 2, GAP = 12, FRAMES = 2100 };

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

/* The child: draws a frame for each byte it receives, and sends a byte back. */
static int
show_frames(int from, int to)
{
	rt_terminal_options options = {.alloc = rt_alloc_libc()};
	rt_terminal *terminal = NULL;
	uint64_t seed = 20261122;
	rt_canvas canvas;
	rt_error err;
	rt_buf text;
	char byte;

	if (rt_terminal_open(&options, &terminal, &err) != RT_OK)
		return 1;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_canvas_init(&canvas, rt_alloc_libc(), rt_terminal_is_utf8(terminal));
	if (!canvas.utf8 || rt_canvas_resize(&canvas, COLUMNS, ROWS) != RT_OK)
		return 1;
	while (read(from, &byte, 1) == 1) {
		draw(&canvas, &text, &seed);
		rt_terminal_show(terminal, &canvas);
		if (write(to, &byte, 1) != 1)
			break;
	}
	rt_terminal_close(terminal);
	rt_canvas_deinit(&canvas);
	rt_buf_deinit(&text);
	return 0;
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

/* Everything outside the boxes must be unchanged. */
static void
judge_boxes(VTerm *vterm, int frame)
{
	VTermScreenCell cell;
	int x, y;

	for (y = 0; y < ROWS; y++)
		for (x = 0; x < COLUMNS; x++) {
			assert_true(vterm_screen_get_cell(vterm_obtain_screen(vterm), (VTermPos){y, x},
							  &cell));
			if (!is_in_box(x, y) && cell.chars[0] != '#')
				fail_msg("frame %d: column %d, row %d is %X", frame, x, y,
					 (unsigned)cell.chars[0]);
		}
}

static void
test_nothing_drives_the_terminal(void **state)
{
	struct winsize size = {ROWS, COLUMNS, 0, 0};
	uint64_t seed = 20261122;
	VTerm *vterm = judge_new(COLUMNS, ROWS);
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
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_canvas_init(&canvas, rt_alloc_libc(), true);
	assert_int_equal(rt_canvas_resize(&canvas, COLUMNS, ROWS), RT_OK);
	for (frame = 0; frame < FRAMES; frame++) {
		assert_int_equal(write(go[1], "f", 1), 1);
		draw(&canvas, &text, &seed);
		wait_for_frame(vterm, tty, done[0]);
		judge_canvas(vterm, canvas.cells, COLUMNS, ROWS, frame);
		judge_boxes(vterm, frame);
	}
	close(go[1]);
	while (waitpid(child, &status, WNOHANG) == 0) {
		struct pollfd file = {tty, POLLIN, 0};

		(void)poll(&file, 1, 10);
		take(tty);
	}
	take(tty);
	judge_read(vterm);
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
