/* SPDX-License-Identifier: MIT */
#include "markup/markup_impl.h"

#include "base/encode.h"

static bool
is_alnum(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The byte that %XX at `at` encodes; -1: none. */
static int
escaped_at(rt_str url, size_t at)
{
	return url.ptr[at] == '%' ? rt_hex_number(url, at + 1, 2) : -1;
}

/* Characters that a reader may skip: controls, blanks of every kind, the invisible ones. */
static bool
is_skipped(uint32_t code)
{
	return code <= 0x20 || rt_texts_is_hidden(code) || code == 0xa0 || code == 0xad ||
	       code == 0x61c || code == 0x1680 || code == 0x180e ||
	       (code >= 0x2000 && code <= 0x200f) || code == 0x2028 || code == 0x2029 ||
	       code == 0x202f || (code >= 0x205f && code <= 0x2065) || code == 0x3000 ||
	       code == 0xfeff || code == 0xfffd;
}

/* Removes these characters. */
static void
squeeze(rt_buf *buf)
{
	size_t at = 0, kept = 0, size;

	while (at < buf->size) {
		uint32_t code = rt_texts_decode(rt_str_at(buf->ptr + at, buf->size - at), &size);

		if (!is_skipped(code)) {
			memmove(buf->ptr + kept, buf->ptr + at, size);
			kept += size;
		}
		at += size;
	}
	buf->size = kept;
}

/* Decodes one level of percent escapes; false: there were none. */
static bool
decode(rt_buf *buf)
{
	size_t kept = 0, before = buf->size;

	for (size_t at = 0; at < before; at++) {
		int code = escaped_at(rt_str_at(buf->ptr, before), at);

		buf->ptr[kept++] = code >= 0 ? (char)code : buf->ptr[at];
		at += code >= 0 ? 2 : 0;
	}
	buf->size = kept;
	return kept < before;
}

typedef enum scheme { REFUSED, HTTP, HTTPS, MAILTO, FRAGMENT } scheme;

static const rt_str begins[] = {
	RT_STR_INIT(""),        RT_STR_INIT("http://"), RT_STR_INIT("https://"),
	RT_STR_INIT("mailto:"), RT_STR_INIT("#"),
};

static scheme
scheme_of(rt_str url)
{
	for (scheme s = HTTP; s <= FRAGMENT; s++) {
		size_t size = begins[s].size;

		if (url.size < size || !rt_str_eq_nocase(rt_str_at(url.ptr, size), begins[s]))
			continue;
		if (s == FRAGMENT)
			return s;
		/* The host must follow, without a further slash: parsers differ there. */
		if (url.size == size || url.ptr[size] == '/' || url.ptr[size] == '\\')
			return REFUSED;
		return s;
	}
	return REFUSED;
}

/* The part after the scheme, as written. */
static void
add_rest(rt_buf *out, rt_str url)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < url.size; i++) {
		unsigned char c = (unsigned char)url.ptr[i];

		if (c < 0x20 || c == 0x7f)
			continue;
		if (escaped_at(url, i) >= 0 || is_alnum(c) ||
		    strchr("-._~:/?#[]@!$&()*+,;=", c) != NULL) {
			rt_buf_add_byte(out, (char)c);
		} else {
			rt_buf_add_byte(out, '%');
			rt_buf_add_byte(out, hex[c >> 4]);
			rt_buf_add_byte(out, hex[c & 15]);
		}
	}
}

bool
rt_link_add(rt_buf *out, rt_buf *scratch, rt_str url, bool for_image)
{
	size_t start = out->size, i;
	scheme plain, seen;

	url = rt_str_trim(url);
	while (url.size > 0 && (unsigned char)url.ptr[0] <= 0x20)
		url = rt_str_at(url.ptr + 1, url.size - 1);
	while (url.size > 0 && (unsigned char)url.ptr[url.size - 1] <= 0x20)
		url.size--;
	plain = scheme_of(url);
	if (plain == REFUSED || (for_image && plain != HTTP && plain != HTTPS))
		return false;
	rt_buf_clear(scratch);
	rt_buf_add_str(scratch, url);
	if (scratch->status != RT_OK)
		return false;
	for (i = 0; i <= RT_LINK_DECODE_MAX; i++) {
		squeeze(scratch);
		seen = scheme_of(rt_buf_str(scratch));
		if (seen != plain)
			return false;
		if (!decode(scratch))
			break;
	}
	if (i > RT_LINK_DECODE_MAX)
		return false;
	rt_buf_add_str(out, begins[plain]);
	add_rest(out, rt_str_at(url.ptr + begins[plain].size, url.size - begins[plain].size));
	if (out->status != RT_OK ||
	    out->size == start + (plain == FRAGMENT ? 0 : begins[plain].size)) {
		out->size = start;
		return false;
	}
	return true;
}

size_t
rt_link_bare_end(rt_str text, size_t at)
{
	rt_str rest = rt_str_at(text.ptr + at, text.size - at);
	scheme s = scheme_of(rest);
	size_t begin, end, i, opened = 0, closed = 0;

	if ((s != HTTP && s != HTTPS) || (at > 0 && is_alnum((unsigned char)text.ptr[at - 1])))
		return at;
	begin = at + begins[s].size;
	if (!is_alnum((unsigned char)text.ptr[begin]))
		return at;
	for (end = begin; end < text.size; end++) {
		unsigned char c = (unsigned char)text.ptr[end];

		if (c <= 0x20 || c >= 0x7f || strchr("<>\"`{}|\\^", c) != NULL)
			break;
	}
	for (i = begin; i < end; i++) {
		opened += text.ptr[i] == '(';
		closed += text.ptr[i] == ')';
	}
	while (end > begin) {
		char c = text.ptr[end - 1];

		if (c == ')' && closed > opened)
			closed--;
		else if (c == 0 || strchr("?!.,:;*_~'[]", c) == NULL)
			break;
		end--;
	}
	return end;
}
