/* SPDX-License-Identifier: MIT
 *
 * Runs of plain bytes are copied; the others are examined one by one. */
#include "markup/texts.h"

#include "codec/json.h"

uint32_t
rt_texts_decode(rt_str s, size_t *out_size)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t size = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (size == 1) {
		*out_size = 1;
		return p[0];
	}
	if (size > s.size || rt_utf8_valid_size(rt_str_at(s.ptr, size)) != size) {
		*out_size = 1;
		return 0xfffd;
	}
	*out_size = size;
	if (size == 2)
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	if (size == 3)
		return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	return (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
}

bool
rt_texts_is_hidden(uint32_t code)
{
	if (code < 0x20)
		return code != '\n' && code != '\t';
	return (code >= 0x7f && code <= 0x9f) || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x206f) || (code >= 0xfff9 && code <= 0xfffb) ||
	       (code >= 0xe0000 && code <= 0xe007f);
}

static void
open_string(rt_texts *texts)
{
	if (texts->is_open)
		return;
	rt_json_add_comma(texts->buf);
	rt_buf_add_byte(texts->buf, '"');
	texts->is_open = true;
}

void
rt_texts_end(rt_texts *texts)
{
	if (texts->is_open)
		rt_buf_add_byte(texts->buf, '"');
	texts->is_open = false;
}

static void
add_code(rt_texts *texts, uint32_t code, rt_str bytes)
{
	if (rt_texts_is_hidden(code)) {
		rt_texts_end(texts);
		rt_json_add_comma(texts->buf);
		rt_buf_add_f(texts->buf, "{\"t\":\"ctl\",\"cp\":\"%04X\"}", (unsigned)code);
		return;
	}
	open_string(texts);
	if (code == '\n')
		rt_buf_add_c(texts->buf, "\\n");
	else if (code == '\t')
		rt_buf_add_c(texts->buf, "\\t");
	else if (code == 0xfffd)
		rt_buf_add_c(texts->buf, "\xef\xbf\xbd");
	else if (code == '"' || code == '\\')
		rt_buf_add_byte(texts->buf, '\\');
	if (code != '\n' && code != '\t' && code != 0xfffd)
		rt_buf_add_str(texts->buf, bytes);
}

void
rt_texts_add(rt_texts *texts, rt_str text)
{
	size_t at = 0, plain, size;
	uint32_t code;

	while (at < text.size) {
		for (plain = at; plain < text.size; plain++) {
			unsigned char c = (unsigned char)text.ptr[plain];

			if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
				break;
		}
		if (plain > at) {
			open_string(texts);
			rt_buf_add(texts->buf, text.ptr + at, plain - at);
			at = plain;
			continue;
		}
		code = rt_texts_decode(rt_str_at(text.ptr + at, text.size - at), &size);
		add_code(texts, code, rt_str_at(text.ptr + at, size));
		at += size;
	}
}
