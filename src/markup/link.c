/* SPDX-License-Identifier: MIT */
#include "markup/link.h"

#include "markup/texts.h"

static bool
is_alnum(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What a reader may pass over: control characters, blanks of every kind, what is not seen. */
static bool
is_passed_over(uint32_t code)
{
	return code <= 0x20 || rt_texts_is_hidden(code) || code == 0xa0 || code == 0xad ||
	       code == 0x61c || code == 0x1680 || code == 0x180e ||
	       (code >= 0x2000 && code <= 0x200f) || code == 0x2028 || code == 0x2029 ||
	       code == 0x202f || (code >= 0x205f && code <= 0x2065) || code == 0x3000 ||
	       code == 0xfeff || code == 0xfffd;
}

/* buf without what is passed over. */
static void
squeeze(rt_buf *buf)
{
	size_t at = 0, kept = 0, size;

	while (at < buf->size) {
		uint32_t code = rt_texts_decode(rt_str_at(buf->ptr + at, buf->size - at), &size);

		if (!is_passed_over(code)) {
			memmove(buf->ptr + kept, buf->ptr + at, size);
			kept += size;
		}
		at += size;
	}
	buf->size = kept;
}

/* One round of percent escapes; false: there were none. */
static bool
decode(rt_buf *buf)
{
	size_t at = 0, kept = 0;
	bool any = false;

	while (at < buf->size) {
		if (buf->ptr[at] == '%' && buf->size - at > 2 && hex_of(buf->ptr[at + 1]) >= 0 &&
		    hex_of(buf->ptr[at + 2]) >= 0) {
			buf->ptr[kept++] =
				(char)(hex_of(buf->ptr[at + 1]) << 4 | hex_of(buf->ptr[at + 2]));
			at += 3;
			any = true;
		} else {
			buf->ptr[kept++] = buf->ptr[at++];
		}
	}
	buf->size = kept;
	return any;
}

typedef enum scheme { REFUSED, HTTP, HTTPS, MAILTO, FRAGMENT } scheme;

static const struct {
	const char *begin;
	size_t size;
} begins[] = {{"", 0}, {"http://", 7}, {"https://", 8}, {"mailto:", 7}, {"#", 1}};

static scheme
scheme_of(rt_str url)
{
	scheme s;

	for (s = HTTP; s <= FRAGMENT; s++) {
		size_t size = begins[s].size;

		if (url.size < size ||
		    !rt_str_eq_nocase(rt_str_at(url.ptr, size), rt_str_at(begins[s].begin, size)))
			continue;
		if (s == FRAGMENT)
			return s;
		/* Something has to follow, and no further slash: readers differ there. */
		if (url.size == size || url.ptr[size] == '/' || url.ptr[size] == '\\')
			return REFUSED;
		return s;
	}
	return REFUSED;
}

/* As it is written, behind its scheme. */
static void
add_rest(rt_buf *out, rt_str url)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t i;

	for (i = 0; i < url.size; i++) {
		unsigned char c = (unsigned char)url.ptr[i];
		bool is_escape = c == '%' && url.size - i > 2 && hex_of(url.ptr[i + 1]) >= 0 &&
				 hex_of(url.ptr[i + 2]) >= 0;

		if (c < 0x20 || c == 0x7f)
			continue;
		if (is_escape || is_alnum(c) || strchr("-._~:/?#[]@!$&()*+,;=", c) != NULL) {
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
	rt_buf_add_c(out, begins[plain].begin);
	add_rest(out, rt_str_at(url.ptr + begins[plain].size, url.size - begins[plain].size));
	if (out->status != RT_OK || out->size == start + (plain == FRAGMENT ? 0 : begins[plain].size)) {
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
