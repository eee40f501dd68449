/* SPDX-License-Identifier: MIT
 *
 * What terminals send, as keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "terminal/terminal_input.h"

/* All keys that the bytes give, as words with a blank between them; "-" for sequences that are not
 * keys, "…" for an incomplete one, "PASTE". */
static void
assert_gives(const char *bytes, size_t size, bool is_all, const char *words)
{
	rt_str rest = rt_str_at(bytes, size);
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add(&buf, "", 0);
	while (rest.size > 0) {
		rt_terminal_input input = {0};
		size_t used = 0;

		if (buf.size > 0)
			rt_buf_add_byte(&buf, ' ');
		switch (rt_keys_read(rest, is_all, 0x7F, &input, &used)) {
		case RT_KEYS_MORE:
			assert_false(is_all);
			rt_buf_add_c(&buf, "...");
			used = rest.size;
			break;
		case RT_KEYS_KEY: rt_key_add_word(&buf, input.key, false); break;
		case RT_KEYS_MOUSE:
			rt_buf_add_f(&buf, "%s:%d,%d",
				     input.mouse.kind == RT_MOUSE_PRESS      ? "press"
				     : input.mouse.kind == RT_MOUSE_WHEEL_UP ? "wheelup"
									     : "wheeldown",
				     input.mouse.x, input.mouse.y);
			break;
		case RT_KEYS_NOTHING: rt_buf_add_c(&buf, "-"); break;
		case RT_KEYS_PASTE: rt_buf_add_c(&buf, "PASTE"); break;
		}
		assert_true(used > 0 && used <= rest.size);
		rest = rt_str_at(rest.ptr + used, rest.size - used);
	}
	assert_string_equal(buf.ptr, words);
	rt_buf_deinit(&buf);
}

#define GIVES(bytes, words) assert_gives(bytes, sizeof(bytes) - 1, false, words)
#define GIVES_ALL(bytes, words) assert_gives(bytes, sizeof(bytes) - 1, true, words)

static void
test_characters(void **state)
{
	(void)state;
	GIVES("aG? ", "a G ? space");
	GIVES("\xC3\xA9\xF0\x9F\x90\xB1", "\u00E9 \U0001F431");
	GIVES("\r\n\t\x7F\x08", "enter ctrl+j tab backspace ctrl+h");
	GIVES("\x01\x1A\x1C\x1F", "ctrl+a ctrl+z ctrl+\\ ctrl+_");
	assert_gives("\0x", 2, false, "ctrl+space x");
	/* Bytes that are not text are not keys; the rest of a split character is waited for. */
	GIVES("\xFFx\xC3(", "- x - (");
	GIVES("a\xF0\x9F", "a ...");
	GIVES_ALL("\xF0\x9F", "- -");
	GIVES("\xC2\x9B", "-");
}

static void
test_escape_and_alt(void **state)
{
	(void)state;
	GIVES("\033", "...");
	GIVES_ALL("\033", "escape");
	GIVES_ALL("\033\033", "escape escape");
	GIVES("\033\033", "...");
	GIVES("\033\033a", "escape alt+a");
	GIVES("\033u\033U\033\r\033\x7F\033\xC3\xA9",
	      "alt+u alt+shift+u alt+enter alt+backspace alt+\u00E9");
	GIVES("\033]\033.", "alt+] alt+.");
	GIVES("\033[", "...");
	GIVES_ALL("\033[", "alt+[");
	GIVES("\033[\033[A", "alt+[ up");
	GIVES_ALL("\033O", "alt+shift+o");
}

static void
test_xterm(void **state)
{
	(void)state;
	GIVES("\033[A\033[B\033[C\033[D\033[H\033[F", "up down right left home end");
	GIVES("\033OA\033OB\033OC\033OD\033OH\033OF", "up down right left home end");
	GIVES("\033[1;5A\033[1;3D\033[1;2C\033[1;6H\033[1;7F",
	      "ctrl+up alt+left shift+right ctrl+shift+home ctrl+alt+end");
	GIVES("\033[2~\033[3~\033[5~\033[6~\033[3;5~\033[5;3~",
	      "insert delete pageup pagedown ctrl+delete alt+pageup");
	GIVES("\033OP\033OQ\033OR\033OS\033[15~\033[17~\033[24~", "f1 f2 f3 f4 f5 f6 f12");
	GIVES("\033[1;2P\033[15;5~", "shift+f1 ctrl+f5");
	GIVES("\033[Z", "shift+tab");
	GIVES("\033OM\033Oj\033Op", "enter * 0");
	/* modifyOtherKeys */
	GIVES("\033[27;5;13~\033[27;2;13~\033[27;6;111~", "ctrl+enter shift+enter ctrl+shift+o");
	GIVES("\033[27;5;105~", "tab");
}

static void
test_others(void **state)
{
	(void)state;
	/* kitty, and terminals that adopted its form */
	GIVES("\033[13;5u\033[111;5u\033[27u\033[97;3u\033[9;2u",
	      "ctrl+enter ctrl+o escape alt+a shift+tab");
	GIVES("\033[97:65;2u\033[97;1:3u\033[57414u\033[57358u", "A - enter -");
	GIVES("\033[97;9u", "-"); /* with super */
	/* rxvt */
	GIVES("\033[a\033Oa\033[7~\033[8~\033[3^\033[3$\033[3@",
	      "shift+up ctrl+up home end ctrl+delete shift+delete ctrl+shift+delete");
	GIVES("\033\033[A\033\033[5~\033\033OA", "alt+up alt+pageup alt+up");
	/* The Linux console */
	GIVES("\033[[A\033[[E\033[1~\033[4~\033[17~", "f1 f5 home end f6");
	GIVES("\033[[", "...");
}

static void
test_what_nobody_knows_is_no_text(void **state)
{
	(void)state;
	GIVES("\033[?1;2cx\033[>0;276;0cy", "- x - y"); /* replies that were not requested */
	GIVES("\033[?2026;1$yx", "- x");
	GIVES("\033[Ix\033[99~y\033[201~z", "- x - y - z");
	GIVES("\033[1;", "...");
	GIVES_ALL("\033[1;", "-");
	GIVES("\033[200~a", "PASTE a");
}

static void
test_mouse(void **state)
{
	(void)state;
	GIVES("\033[<0;1;1M\033[<0;1;1mx", "press:0,0 - x");
	GIVES("\033[<64;80;24M\033[<65;300;100M", "wheelup:79,23 wheeldown:299,99");
	GIVES("\033[<16;5;6M\033[<68;5;6M", "press:4,5 wheelup:4,5"); /* with ctrl, with shift */
	/* Other buttons, motion, the wheel to the side, buttons beyond it. */
	GIVES("\033[<1;5;6M\033[<2;5;6M\033[<32;5;6M\033[<35;5;6M\033[<66;5;6M\033[<128;5;6Mx",
	      "- - - - - - x");
	/* Places that do not exist, and numbers that are missing. */
	GIVES("\033[<0;0;6M\033[<0;99999;6M\033[<0;5M\033[<Mx", "- - - - x");
	GIVES("\033[<0;1;", "...");
	GIVES_ALL("\033[<0;1;", "-");
	/* Bytes instead of numbers. */
	GIVES("\033[M !!\033[Ma\"#\033[M#!!x", "press:0,0 wheeldown:1,2 - x");
	GIVES("\033[M !", "...");
	GIVES_ALL("\033[M !", "-");
	GIVES("\033[M\033[Ax", "- x");
}

/* A reply of the terminal is removed as a whole; a key with alt stays one. */
static void
test_answers(void **state)
{
	char big[5000];

	(void)state;
	GIVES("\033]11;rgb:0000/0000/0000\033\\x\033]10;rgb:ff/ff/ff\ay", "- x - y");
	GIVES("\033P1+r544e=787465726d\033\\x\033P>|XTerm(379)\033\\", "- x -");
	GIVES("\033_Gi=31;OK\033\\\033^p\033\\\033Xs\033\\x", "- - - x");
	/* In two pieces. */
	GIVES("\033]11;rgb:00", "...");
	GIVES("\033]11;rgb:00\033", "...");
	/* It is not terminated: it was typed by the user. */
	GIVES_ALL("\033]ab", "alt+] a b");
	GIVES("\033]", "alt+]");
	GIVES("\033P\r\033]\033]\033]\a", "alt+shift+p enter alt+] alt+] alt+] ctrl+g");
	GIVES("\033]ab\033[Ax", "alt+] a b up x");
	memset(big, '1', sizeof(big));
	memcpy(big, "\033]", 2);
	for (size_t size = 2; size < sizeof(big); size++) {
		rt_terminal_input input = {0};
		size_t used = 0;
		rt_keys_kind kind =
			rt_keys_read(rt_str_at(big, size), false, 8, &input, &used);

		assert_int_equal(kind, size > 2 && size < 4096 ? RT_KEYS_MORE : RT_KEYS_KEY);
	}
}

/* Any bytes, in any pieces: each is used once, and every key has a word. */
static void
test_any_bytes(void **state)
{
	static const char some[] = "\033\033\033[[O;:0129~$u^ABZ?<M]P_\\\a\xC3\xA9 \r\x7F";
	uint64_t seed = 20261122;
	int round, mice = 0;

	(void)state;
	for (round = 0; round < 200000; round++) {
		char bytes[12];
		rt_str rest = rt_str_at(bytes, 0);
		bool is_all = round % 2 == 0;

		for (seed += 0x9E3779B97F4A7C15u; rest.size < sizeof(bytes); rest.size++)
			bytes[rest.size] =
				some[rt_hash_u64(seed + rest.size) % (sizeof(some) - 1)];
		while (rest.size > 0) {
			rt_terminal_input input = {0};
			size_t used = 0;
			rt_keys_kind kind = rt_keys_read(rest, is_all, 8, &input, &used);

			if (kind == RT_KEYS_MORE) {
				assert_false(is_all);
				break;
			}
			if (kind == RT_KEYS_KEY) {
				rt_key normal = rt_key_normal(input.key);

				assert_true(input.key.code != RT_KEY_NONE &&
					    input.key.code <= RT_KEY_F1 + 11);
				assert_true(rt_key_eq(input.key, normal));
			}
			if (kind == RT_KEYS_MOUSE) {
				assert_in_range(input.mouse.x, 0, 9999);
				assert_in_range(input.mouse.y, 0, 9999);
				mice++;
			}
			assert_true(used > 0 && used <= rest.size);
			rest = rt_str_at(rest.ptr + used, rest.size - used);
		}
	}
	assert_true(mice > 10);
}

static void
test_background(void **state)
{
	static const struct {
		const char *bytes;
		int light; /* -1: no such reply */
	} cases[] = {
		{"\033]11;rgb:0000/0000/0000\033\\", 0}, {"\033]11;rgb:ffff/ffff/ffff\a", 1},
		{"\033]11;rgb:fd/f6/e3\a", 1},          {"\033]11;rgb:0/0/f\a", 0},
		{"\033]11;rgba:FFFF/FFFF/DDDD/ffff\a", 1}, {"\033]11;rgb:28/2a/36\033\\", 0},
		{"\033]10;rgb:ffff/ffff/ffff\a", -1},   {"\033]11;rgb:ff/ff\a", -1},
		{"\033]11;rgb:xx/ff/ff\a", -1},         {"\033]11;#ffffff\a", -1},
		{"\033]11;rgb", -1},                     {"\033[?62c", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_light = false;
		bool is_reply = rt_keys_background(rt_str_of(cases[i].bytes), &is_light);

		assert_int_equal(is_reply ? is_light : -1, cases[i].light);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_escape_and_alt),
		cmocka_unit_test(test_xterm),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_what_nobody_knows_is_no_text),
		cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_background),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
