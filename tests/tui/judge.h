/* SPDX-License-Identifier: MIT
 *
 * Shared by tests with hostile texts: texts that try to control the terminal, and libvterm, an
 * independent implementation, as the judge of the output. `crime` describes a violation: a reply,
 * a bell, a title, a mode except those of a full screen, or an OSC or DCS string (clipboard …) except
 * one query of the background colour, and links that end before the frame does. */
#ifndef RT_TESTS_TUI_JUDGE_H
#define RT_TESTS_TUI_JUDGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <vterm.h>

#include "base/hash.h"
#include "app/width.h"
#include "terminal/canvas.h"

static inline uint64_t
random_next(uint64_t *seed)
{
	*seed += 0x9E3779B97F4A7C15u;
	return rt_hash_u64(*seed);
}

/* A text that tries to control the terminal. */
static inline void
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
	char point[4];

	while (count-- > 0) {
		size_t range = random_next(seed) % (sizeof(ranges) / sizeof(ranges[0]));
		uint32_t span = ranges[range].last - ranges[range].first + 1;

		switch (random_next(seed) % 4) {
		case 0: /* a random byte that is not part of a character: libvterm does not know the newest ones */
			rt_buf_add_byte(buf, (char)(random_next(seed) & 0xFF));
			rt_buf_add_byte(buf, '.');
			break;
		case 1:
			rt_buf_add(buf, point,
				   rt_rune_encode(ranges[range].first +
							  (uint32_t)(random_next(seed) % span),
						  point));
			break;
		default:
			rt_buf_add_c(buf,
				     pieces[random_next(seed) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
	}
}

static const char *crime;

static inline int
on_prop(VTermProp prop, VTermValue *value, void *ctx)
{
	(void)value;
	(void)ctx;
	if (prop != VTERM_PROP_ALTSCREEN && prop != VTERM_PROP_CURSORVISIBLE &&
	    prop != VTERM_PROP_CURSORBLINK && prop != VTERM_PROP_CURSORSHAPE)
		crime = "a property of the terminal";
	return 1;
}

static inline int
on_bell(void *ctx)
{
	(void)ctx;
	crime = "the bell";
	return 1;
}

static inline int
on_control(unsigned char control, void *ctx)
{
	(void)control;
	(void)ctx;
	crime = "a control that nobody knows";
	return 1;
}

static inline int
on_escape(const char *string, size_t size, void *ctx)
{
	(void)string;
	(void)size;
	(void)ctx;
	crime = "an escape that nobody knows";
	return 1;
}

/* Sequences unknown to libvterm: frames (?2026), and xterm's title stack. */
static inline int
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

/* Inside a link. */
static bool is_linked;

/* "8;id=1f;https://…" or "8;;": a link (OSC 8) to a url that may be followed, without blanks and
 * controls, or its end. */
static inline bool
judge_link(const char *string, size_t size)
{
	static const char *const begins[] = {"http://", "https://", "mailto:"};
	size_t at = 2, i;

	if (size < 3 || memcmp(string, "8;", 2) != 0)
		return false;
	if (size - at > 3 && memcmp(string + at, "id=", 3) == 0)
		for (at += 3; at < size && strchr("0123456789abcdef", string[at]) != NULL;)
			at++;
	if (at == size || string[at++] != ';')
		return false;
	is_linked = at < size;
	for (i = at; i < size; i++)
		if (string[i] <= ' ' || string[i] > '~')
			return false;
	for (i = 0; is_linked && i < sizeof(begins) / sizeof(begins[0]); i++)
		if (size - at > strlen(begins[i]) && memcmp(string + at, begins[i], strlen(begins[i])) == 0)
			return true;
	return !is_linked;
}

static inline int
on_string(const char *string, size_t size, void *ctx)
{
	static bool has_asked;
	bool is_question = size == 4 && memcmp(string, "11;?", 4) == 0;

	(void)ctx;
	if (judge_link(string, size))
		return 1;
	if (!is_question || has_asked) /* the query of the background colour, once */
		crime = "a string to the terminal";
	has_asked = true;
	return 1;
}

/* The output so far. */
static char came[1 << 20];
static size_t came_size;

/* Reads the available output. */
static inline void
take(int tty)
{
	ssize_t got;

	while ((got = read(tty, came + came_size, sizeof(came) - came_size)) > 0)
		came_size += (size_t)got;
}

/* A terminal with callbacks of the judge. */
static inline VTerm *
judge_new(int columns, int rows)
{
	static const VTermScreenCallbacks callbacks = {.settermprop = on_prop, .bell = on_bell};
	static const VTermParserCallbacks unknown = {.control = on_control, .escape = on_escape,
						     .csi = on_csi, .osc = on_string, .dcs = on_string};
	VTerm *vterm = vterm_new(rows, columns);

	assert_non_null(vterm);
	vterm_set_utf8(vterm, 1);
	vterm_screen_set_callbacks(vterm_obtain_screen(vterm), &callbacks, NULL);
	vterm_screen_set_unrecognised_fallbacks(vterm_obtain_screen(vterm), &unknown, NULL);
	vterm_screen_enable_altscreen(vterm_obtain_screen(vterm), 1);
	vterm_screen_reset(vterm_obtain_screen(vterm), 1);
	crime = NULL;
	return vterm;
}

static inline void
judge_read(VTerm *vterm)
{
	vterm_input_write(vterm, came, came_size);
	came_size = 0;
}

/* There was no violation, and the terminal shows the canvas: the cell, a blank, or "?" if the C
 * library assumes another width. */
static inline void
judge_canvas(VTerm *vterm, const rt_canvas_cell *cells, int columns, int rows, int frame)
{
	VTermScreen *screen = vterm_obtain_screen(vterm);
	int x, y;

	if (is_linked)
		crime = "a link without an end";
	if (crime != NULL)
		fail_msg("frame %d: %s", frame, crime);
	assert_int_equal(vterm_output_get_buffer_current(vterm), 0);
	for (y = 0; y < rows; y++)
		for (x = 0; x < columns; x++) {
			const rt_canvas_cell *wanted = &cells[y * columns + x];
			VTermScreenCell cell;

			assert_true(vterm_screen_get_cell(screen, (VTermPos){y, x}, &cell));
			if (wanted->ch != 0 && cell.chars[0] != wanted->ch && cell.chars[0] != '?' &&
			    !(wanted->ch == ' ' && cell.chars[0] == 0))
				fail_msg("frame %d: column %d, row %d is %X, not %X", frame, x, y,
					 (unsigned)cell.chars[0], (unsigned)wanted->ch);
		}
}

/* Waits for the child's frame, and reads its output in the meantime, which it would block on. */
static inline void
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
		judge_read(vterm);
		return;
	}
}

#endif
