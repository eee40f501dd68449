/* SPDX-License-Identifier: MIT */
#include "base/encode.h"

#include <string.h>

static const char hex_digits[] = "0123456789abcdef";
static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
rt_hex(const void *bytes, size_t size, char *out)
{
	const unsigned char *from = bytes;

	for (size_t i = 0; i < size; i++) {
		out[2 * i] = hex_digits[from[i] >> 4];
		out[2 * i + 1] = hex_digits[from[i] & 15];
	}
}

void
rt_buf_add_hex(rt_buf *buf, rt_str bytes)
{
	char pair[2];

	for (size_t i = 0; i < bytes.size; i++) {
		rt_hex(bytes.ptr + i, 1, pair);
		rt_buf_add(buf, pair, sizeof(pair));
	}
}

void
rt_buf_add_base64(rt_buf *buf, rt_str bytes)
{
	for (size_t i = 0; i < bytes.size; i += 3) {
		size_t have = bytes.size - i < 3 ? bytes.size - i : 3;
		char four[4];
		uint32_t group = 0;

		for (size_t k = 0; k < 3; k++)
			group = group << 8 | (k < have ? (unsigned char)bytes.ptr[i + k] : 0u);
		for (size_t k = 0; k < 4; k++)
			four[k] = k > have ? '=' : base64_digits[group >> (18 - 6 * k) & 63];
		rt_buf_add(buf, four, sizeof(four));
	}
}

void
rt_buf_add_base64url(rt_buf *buf, rt_str bytes)
{
	size_t from = buf->size;

	rt_buf_add_base64(buf, bytes);
	while (buf->size > from && buf->ptr[buf->size - 1] == '=')
		buf->ptr[--buf->size] = '\0';
	for (size_t i = from; i < buf->size; i++)
		buf->ptr[i] = buf->ptr[i] == '+' ? '-' : buf->ptr[i] == '/' ? '_' : buf->ptr[i];
}

int
rt_hex_digit(char c)
{
	int lower = c | 0x20;

	if (c >= '0' && c <= '9')
		return c - '0';
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

int
rt_hex_number(rt_str text, size_t at, size_t count)
{
	int number = 0;

	if (count > text.size || at > text.size - count)
		return -1;
	for (size_t i = at; i < at + count; i++) {
		int digit = rt_hex_digit(text.ptr[i]);

		if (digit < 0)
			return -1;
		number = number * 16 + digit;
	}
	return number;
}

int
rt_base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

bool
rt_buf_add_base64_decoded(rt_buf *buf, rt_str text)
{
	uint32_t group = 0;
	unsigned bits = 0;

	for (size_t i = 0; i < text.size && text.ptr[i] != '='; i++) {
		const char *digit = memchr(base64_digits, text.ptr[i], sizeof(base64_digits) - 1);

		if (digit == NULL)
			return false;
		group = (group << 6 | (uint32_t)(digit - base64_digits)) & 0xFFFFFFu;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			rt_buf_add_byte(buf, (char)(group >> bits & 0xFF));
		}
	}
	return true;
}
