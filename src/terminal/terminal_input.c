/* SPDX-License-Identifier: MIT
 *
 * A key sends one of:
 *
 *   c                a character, in UTF-8, or a control: ctrl and a letter
 *   ESC c            the same with alt
 *   CSI n;m X        (CSI is ESC [) X: an arrow, home, end, F1 to F4; m - 1: the modifiers
 *   CSI n;m ~        n: the key; rxvt ends it with ^ (ctrl), $ (shift), @ (both)
 *   CSI c;m u        any key, by its code point, as kitty introduced it
 *   CSI 27;m;c ~     the same by xterm
 *   CSI [ X          F1 to F5 of the Linux console
 *   SS3 X            (SS3 is ESC O) arrows, F1 to F4, keys of the number pad
 *   ESC CSI …        with alt, by rxvt and PuTTY
 *   CSI < b;x;y M    the mouse (m: a button was released): b is the button, with bits for modifiers,
 *                    motion and the wheel; x and y count from 1
 *   CSI M b x y      the same by terminals that do not know that form, each number a byte, plus 32
 *   ESC s … ST       (s is ] P ^ _ X, ST is ESC \ or BEL) a reply of the terminal, not a key
 *
 * Other sequences are dropped as a whole, so that they do not become text. */
#include "terminal/terminal_input.h"

#include <utf8proc.h>

enum {
	ESC = 0x1B,
	BEL = 0x07,
	SEQUENCE_MAX = 64,
	REPLY_MAX = 4096,
	NUMBER_MAX = 4,
	NUMBER_LIMIT = 0x200000
};

static rt_keys_kind
gives(rt_key *out, uint32_t code, unsigned mods)
{
	*out = rt_key_normal((rt_key){code, (uint8_t)mods});
	return RT_KEYS_KEY;
}

/* One character, or a control. */
static rt_keys_kind
read_char(rt_str bytes, bool is_all, char erase, rt_key *out, size_t *out_size)
{
	unsigned char c = (unsigned char)bytes.ptr[0];
	size_t size = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
	utf8proc_int32_t code;

	*out_size = 1;
	if (c == '\r')
		return gives(out, RT_KEY_ENTER, 0);
	if (c == '\t')
		return gives(out, RT_KEY_TAB, 0);
	if (c == 0x7F || (c == 0x08 && erase == 0x08))
		return gives(out, RT_KEY_BACKSPACE, 0);
	if (c == 0)
		return gives(out, ' ', RT_KEY_CTRL);
	if (c == ESC)
		return gives(out, RT_KEY_ESCAPE, 0);
	if (c < 0x20)
		return gives(out, c <= 26 ? c + 0x60u : c + 0x40u, RT_KEY_CTRL);
	if (c < 0x80)
		return gives(out, c, 0);
	if (c < 0xC2 || c > 0xF4)
		return RT_KEYS_NOTHING;
	if (bytes.size < size && !is_all &&
	    rt_utf8_valid_size(rt_str_at(bytes.ptr + 1, bytes.size - 1)) == 0)
		return RT_KEYS_MORE;
	if (utf8proc_iterate((const utf8proc_uint8_t *)bytes.ptr,
			     (utf8proc_ssize_t)(bytes.size < 4 ? bytes.size : 4), &code) <= 0)
		return RT_KEYS_NOTHING;
	*out_size = size;
	return code < 0xA0 ? RT_KEYS_NOTHING : gives(out, (uint32_t)code, 0);
}

/* Decode modifiers: 1 plus bits. False: an unknown one (super …). */
static bool
read_mods(unsigned sent, unsigned *out)
{
	unsigned bits = sent == 0 ? 0 : sent - 1;

	*out = (bits & 1 ? RT_KEY_SHIFT : 0u) | (bits & (2 | 32) ? RT_KEY_ALT : 0u) |
	       (bits & 4 ? RT_KEY_CTRL : 0u);
	return (bits & (8 | 16)) == 0;
}

/* The key of a sequence's final letter, or RT_KEY_NONE. */
static uint32_t
key_of_letter(char letter)
{
	switch (letter) {
	case 'A': return RT_KEY_UP;
	case 'B': return RT_KEY_DOWN;
	case 'C': return RT_KEY_RIGHT;
	case 'D': return RT_KEY_LEFT;
	case 'F': return RT_KEY_END;
	case 'H': return RT_KEY_HOME;
	case 'P':
	case 'Q':
	case 'R':
	case 'S': return RT_KEY_F1 + (uint32_t)(letter - 'P');
	default: return RT_KEY_NONE;
	}
}

static uint32_t
key_of_number(unsigned number)
{
	static const uint32_t first[] = {RT_KEY_NONE, RT_KEY_HOME, RT_KEY_INSERT,    RT_KEY_DELETE,
					 RT_KEY_END,  RT_KEY_PAGE_UP, RT_KEY_PAGE_DOWN, RT_KEY_HOME,
					 RT_KEY_END};

	if (number < sizeof(first) / sizeof(first[0]))
		return first[number];
	if (number >= 11 && number <= 15)
		return RT_KEY_F1 + number - 11;
	if (number >= 17 && number <= 21)
		return RT_KEY_F1 + number - 12;
	if (number >= 23 && number <= 24)
		return RT_KEY_F1 + number - 13;
	return RT_KEY_NONE;
}

/* By code point, or kitty's number of a key without one. */
static uint32_t
key_of_code(unsigned code)
{
	static const uint32_t pad[] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '/', '*',
				       '-', '+', RT_KEY_ENTER, '=', ',', RT_KEY_LEFT, RT_KEY_RIGHT,
				       RT_KEY_UP, RT_KEY_DOWN, RT_KEY_PAGE_UP, RT_KEY_PAGE_DOWN,
				       RT_KEY_HOME, RT_KEY_END, RT_KEY_INSERT, RT_KEY_DELETE};

	if (code == 13)
		return RT_KEY_ENTER;
	if (code == 9)
		return RT_KEY_TAB;
	if (code == 27)
		return RT_KEY_ESCAPE;
	if (code == 127 || code == 8)
		return RT_KEY_BACKSPACE;
	if (code >= 57399 && code < 57399 + sizeof(pad) / sizeof(pad[0]))
		return pad[code - 57399];
	if (code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0xD800 && code < 0xE000) ||
	    (code >= 57344 && code < 63744) || code >= 0x110000)
		return RT_KEY_NONE;
	return code;
}

/* A parsed sequence, without its CSI. */
typedef struct sequence {
	unsigned numbers[NUMBER_MAX]; /* 0: missing */
	unsigned event;               /* after the modifiers: 3 is a key release */
	char private;                 /* begins with ? > = (a reply) or < (the mouse); or 0 */
	char end;
	size_t size; /* with the CSI */
} sequence;

/* RT_KEYS_KEY: it is complete. */
static rt_keys_kind
split(rt_str bytes, sequence *out)
{
	unsigned at = 0, part = 0, number = 0;
	size_t i;

	memset(out, 0, sizeof(*out));
	for (i = 2; i < bytes.size; i++) {
		char c = bytes.ptr[i];

		out->size = i + 1;
		if (c >= '0' && c <= '9') {
			number = number < NUMBER_LIMIT ? number * 10 + (unsigned)(c - '0') : number;
			if (at < NUMBER_MAX && part == 0)
				out->numbers[at] = number;
			else if (at == 1 && part == 1)
				out->event = number;
		} else if (c == ';' || c == ':') {
			at += c == ';';
			part = c == ';' ? 0 : part + 1;
			number = 0;
		} else if (c >= '<' && c <= '?') {
			out->private = c;
		} else if (c >= 0x40 && c < 0x7F) {
			out->end = c;
			return RT_KEYS_KEY;
		} else if (c == '$' && out->private == 0) {
			out->end = c;
			return RT_KEYS_KEY;
		} else if (c < 0x20 || c > 0x2F || i > SEQUENCE_MAX) {
			out->size = i; /* not part of it */
			return RT_KEYS_NOTHING;
		}
	}
	return i > SEQUENCE_MAX ? RT_KEYS_NOTHING : RT_KEYS_MORE;
}

static rt_keys_kind
key_of(const sequence *s, rt_key *out)
{
	uint32_t code = RT_KEY_NONE;
	unsigned mods = 0;

	if (s->private != 0 || s->event == 3 || !read_mods(s->numbers[1], &mods))
		return RT_KEYS_NOTHING;
	switch (s->end) {
	case '~':
		if (s->numbers[0] == 200)
			return RT_KEYS_PASTE;
		code = s->numbers[0] == 27 ? key_of_code(s->numbers[2]) : key_of_number(s->numbers[0]);
		break;
	case 'u': code = key_of_code(s->numbers[0]); break;
	case '^':
	case '$':
	case '@':
		code = key_of_number(s->numbers[0]);
		mods = s->end == '^' ? RT_KEY_CTRL : s->end == '$' ? RT_KEY_SHIFT
								    : RT_KEY_CTRL | RT_KEY_SHIFT;
		break;
	case 'Z':
		code = RT_KEY_TAB;
		mods |= RT_KEY_SHIFT;
		break;
	case 'a':
	case 'b':
	case 'c':
	case 'd':
		code = key_of_letter((char)(s->end - 32));
		mods |= RT_KEY_SHIFT;
		break;
	default: code = key_of_letter(s->end); break;
	}
	return code == RT_KEY_NONE ? RT_KEYS_NOTHING : gives(out, code, mods);
}

/* A press of the first button, or the wheel; other buttons, releases and motion are ignored. */
static rt_keys_kind
mouse_of(unsigned button, unsigned x, unsigned y, rt_mouse *out)
{
	enum { MODIFIERS = 4 | 8 | 16, WHEEL = 64, PLACE_MAX = 10000 };

	button &= ~(unsigned)MODIFIERS;
	if ((button != 0 && button != WHEEL && button != WHEEL + 1) || x == 0 || y == 0 ||
	    x > PLACE_MAX || y > PLACE_MAX)
		return RT_KEYS_NOTHING;
	*out = (rt_mouse){button == 0       ? RT_MOUSE_PRESS
			  : button == WHEEL ? RT_MOUSE_WHEEL_UP
					    : RT_MOUSE_WHEEL_DOWN,
			  (int)x - 1, (int)y - 1};
	return RT_KEYS_MOUSE;
}

/* CSI M and three bytes. */
static rt_keys_kind
read_old_mouse(rt_str bytes, bool is_all, rt_mouse *out, size_t *out_size)
{
	const unsigned char *c = (const unsigned char *)bytes.ptr + 3;

	if (bytes.size < 6 && !is_all)
		return RT_KEYS_MORE;
	*out_size = bytes.size < 6 ? bytes.size : 6;
	if (bytes.size < 6 || c[0] < 32 || c[1] < 32 || c[2] < 32)
		return RT_KEYS_NOTHING;
	return mouse_of(c[0] - 32u, c[1] - 32u, c[2] - 32u, out);
}

/* ESC [ */
static rt_keys_kind
read_csi(rt_str bytes, bool is_all, rt_terminal_input *out, size_t *out_size)
{
	rt_keys_kind kind;
	sequence s;

	if (bytes.size > 2 && bytes.ptr[2] == 'M')
		return read_old_mouse(bytes, is_all, &out->mouse, out_size);

	if (bytes.size > 2 && bytes.ptr[2] == '[') {
		if (bytes.size == 3 && !is_all)
			return RT_KEYS_MORE;
		*out_size = bytes.size < 4 ? 3 : 4;
		if (bytes.size > 3 && bytes.ptr[3] >= 'A' && bytes.ptr[3] <= 'E')
			return gives(&out->key, RT_KEY_F1 + (uint32_t)(bytes.ptr[3] - 'A'), 0);
		return RT_KEYS_NOTHING;
	}
	kind = split(bytes, &s);
	if (kind == RT_KEYS_KEY) {
		*out_size = s.size;
		if (s.private == '<' && s.end == 'M')
			return mouse_of(s.numbers[0], s.numbers[1], s.numbers[2], &out->mouse);
		return key_of(&s, &out->key);
	}
	if (kind == RT_KEYS_MORE && !is_all)
		return RT_KEYS_MORE;
	*out_size = kind == RT_KEYS_MORE ? bytes.size : s.size;
	if (*out_size > 2)
		return RT_KEYS_NOTHING;
	*out_size = 2;
	return gives(&out->key, '[', RT_KEY_ALT);
}

/* ESC O */
static rt_keys_kind
read_ss3(rt_str bytes, bool is_all, rt_key *out, size_t *out_size)
{
	static const char pad[] = "*+,-./0123456789"; /* from 'j' on */
	uint32_t code;
	char c;

	*out_size = 2;
	if (bytes.size == 2)
		return is_all ? gives(out, 'O', RT_KEY_ALT) : RT_KEYS_MORE;
	c = bytes.ptr[2];
	code = key_of_letter(c);
	*out_size = 3;
	if (code != RT_KEY_NONE)
		return gives(out, code, 0);
	if (c >= 'a' && c <= 'd')
		return gives(out, key_of_letter((char)(c - 32)), RT_KEY_CTRL);
	if (c >= 'j' && c <= 'y')
		return gives(out, (unsigned char)pad[c - 'j'], 0);
	if (c == 'M')
		return gives(out, RT_KEY_ENTER, 0);
	if (c == 'X')
		return gives(out, '=', 0);
	*out_size = 2;
	return gives(out, 'O', RT_KEY_ALT);
}

/* ESC and one of ] P ^ _ X, followed at once by more: a reply of the terminal, not a key with alt.
 * RT_KEYS_NOTHING: a reply; RT_KEYS_KEY: a key after all, as it is not terminated. */
static rt_keys_kind
read_reply(rt_str bytes, bool is_all, size_t *out_size)
{
	size_t i;

	for (i = 2; i < bytes.size && i < REPLY_MAX; i++) {
		unsigned char c = (unsigned char)bytes.ptr[i];

		*out_size = i + 1;
		if (c == BEL && i > 2)
			return RT_KEYS_NOTHING;
		if (c == ESC && i > 2 && i + 1 == bytes.size && !is_all)
			return RT_KEYS_MORE;
		if (c == ESC && i > 2 && i + 1 < bytes.size && bytes.ptr[i + 1] == '\\') {
			++*out_size;
			return RT_KEYS_NOTHING;
		}
		if (c < 0x20 || c == 0x7F)
			return RT_KEYS_KEY;
	}
	return i < REPLY_MAX && bytes.size > 2 && !is_all ? RT_KEYS_MORE : RT_KEYS_KEY;
}

static rt_keys_kind
read_escape(rt_str bytes, bool is_all, char erase, rt_terminal_input *out, size_t *out_size)
{
	rt_keys_kind kind;

	*out_size = 1;
	if (bytes.size == 1)
		return is_all ? gives(&out->key, RT_KEY_ESCAPE, 0) : RT_KEYS_MORE;
	if (bytes.ptr[1] == '[')
		return read_csi(bytes, is_all, out, out_size);
	if (bytes.ptr[1] == 'O')
		return read_ss3(bytes, is_all, &out->key, out_size);
	if (strchr("]P^_X", bytes.ptr[1]) != NULL && bytes.ptr[1] != 0) {
		kind = read_reply(bytes, is_all, out_size);
		if (kind != RT_KEYS_KEY)
			return kind;
		*out_size = 1;
	}
	kind = read_char(rt_str_at(bytes.ptr + 1, bytes.size - 1), is_all, erase, &out->key, out_size);
	if (kind == RT_KEYS_MORE)
		return kind;
	++*out_size;
	if (kind == RT_KEYS_KEY)
		return gives(&out->key, out->key.code, out->key.mods | RT_KEY_ALT);
	return kind;
}

rt_keys_kind
rt_keys_read(rt_str bytes, bool is_all, char erase, rt_terminal_input *out, size_t *out_size)
{
	rt_str rest = rt_str_at(bytes.ptr + 1, bytes.size - 1);
	rt_keys_kind kind;
	rt_terminal_input twice;
	size_t size;

	if (bytes.ptr[0] != ESC)
		return read_char(bytes, is_all, erase, &out->key, out_size);
	if (bytes.size < 2 || bytes.ptr[1] != ESC)
		return read_escape(bytes, is_all, erase, out, out_size);
	/* Two escapes: the key twice, unless a sequence follows. */
	if (rest.size > 1 && (rest.ptr[1] == '[' || rest.ptr[1] == 'O')) {
		kind = read_escape(rest, is_all, erase, &twice, &size);
		if (kind == RT_KEYS_MORE)
			return kind;
		if (kind == RT_KEYS_KEY && size > 2) {
			*out_size = size + 1;
			return gives(&out->key, twice.key.code, twice.key.mods | RT_KEY_ALT);
		}
	} else if (rest.size == 1 && !is_all) {
		return RT_KEYS_MORE;
	}
	*out_size = 1;
	return gives(&out->key, RT_KEY_ESCAPE, 0);
}

/* One to four hexadecimal digits of a colour, as 0 .. 255; negative: none. */
static int
read_part(rt_str *rest)
{
	unsigned value = 0, digits = 0;

	for (; digits < 4 && digits < rest->size; digits++) {
		char c = rest->ptr[digits];
		const char *hex = "0123456789abcdef",
			   *at = strchr(hex, c >= 'A' && c <= 'F' ? c + 32 : c);

		if (c == 0 || at == NULL)
			break;
		value = value * 16 + (unsigned)(at - hex);
	}
	*rest = rt_str_skip(*rest, digits);
	return digits == 0 ? -1 : (int)(value * 255 / ((1u << (4 * digits)) - 1));
}

bool
rt_keys_background(rt_str bytes, bool *out_is_light)
{
	static const rt_str begins = RT_STR_INIT("\033]11;rgb");
	static const int weights[] = {299, 587, 114}; /* of red, green and blue in the brightness */
	int light = 0;

	if (!rt_str_starts(bytes, begins))
		return false;
	bytes = rt_str_skip(bytes, begins.size);
	if (rt_str_starts(bytes, RT_STR("a"))) /* with an alpha value at the end */
		bytes = rt_str_skip(bytes, 1);
	for (int i = 0; i < 3; i++) {
		int part;

		if (!rt_str_starts(bytes, i == 0 ? RT_STR(":") : RT_STR("/")))
			return false;
		bytes = rt_str_skip(bytes, 1);
		part = read_part(&bytes);
		if (part < 0)
			return false;
		light += part * weights[i];
	}
	*out_is_light = light >= 128 * 1000;
	return true;
}
