/* SPDX-License-Identifier: MIT */
#include "llm/url.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t
rt_word_size(rt_str text, const char *further)
{
	for (size_t i = 0; i < text.size; i++) {
		char c = text.ptr[i];

		if (!(is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c != '\0' && strchr(further, c) != NULL)))
			return i;
	}
	return text.size;
}

static bool
has_scheme(rt_str text, rt_str scheme)
{
	return text.size >= scheme.size &&
	       rt_str_eq_nocase(rt_str_at(text.ptr, scheme.size), scheme);
}

/* Size of the host at the beginning of text; 0: none. */
static size_t
host_size(rt_str text)
{
	size_t at = 1;

	if (text.size == 0 || text.ptr[0] != '[')
		return rt_word_size(text, ".-_");
	while (at < text.size &&
	       (rt_hex_digit(text.ptr[at]) >= 0 || text.ptr[at] == ':' || text.ptr[at] == '.'))
		at++;
	return at > 2 && at < text.size && text.ptr[at] == ']' ? at + 1 : 0;
}

/* The size of ":8080" at the beginning of text, 0 without one; SIZE_MAX: not a port. */
static size_t
read_port(rt_str text, rt_url *url)
{
	unsigned port = 0;
	size_t at = 1;

	if (text.size == 0 || text.ptr[0] != ':')
		return 0;
	for (; at < text.size && is_digit(text.ptr[at]) && at <= 5; at++)
		port = port * 10 + (unsigned)(text.ptr[at] - '0');
	if (port == 0 || port > 65535)
		return SIZE_MAX;
	url->port = port;
	url->has_port = true;
	return at;
}

/* Printable ASCII without the characters on which parsers differ. */
static bool
is_plain(rt_str text)
{
	return rt_word_size(text, "!$%&'()*+,-./:;=?[]_~") == text.size;
}

rt_status
rt_url_read(rt_str text, rt_url *out, rt_error *err)
{
	static const rt_str http = RT_STR_INIT("http://"), https = RT_STR_INIT("https://");
	rt_url url = {.is_tls = has_scheme(text, https)};
	rt_str rest;
	size_t size;

	if (text.size > RT_URL_MAX)
		return rt_fail(err, RT_USAGE, "a URL can be at most %d bytes long", (int)RT_URL_MAX);
	if (!url.is_tls && !has_scheme(text, http))
		return rt_fail(err, RT_USAGE, "a URL must begin with http:// or https://");
	url.port = url.is_tls ? 443 : 80;
	rest = rt_str_skip(text, url.is_tls ? https.size : http.size);
	url.host = rt_str_at(rest.ptr, host_size(rest));
	rest = rt_str_skip(rest, url.host.size);
	if (rt_str_find(rest, RT_STR("@"), 0) != SIZE_MAX)
		return rt_fail(err, RT_USAGE,
			       "a URL cannot contain a user name, a password or @: use key_env, "
			       "key_file or key_cmd for keys");
	if (url.host.size == 0 || url.host.size > RT_URL_HOST_MAX)
		return rt_fail(err, RT_USAGE,
			       "the URL has no host (write international names with xn--)");
	size = read_port(rest, &url);
	if (size == SIZE_MAX)
		return rt_fail(err, RT_USAGE, "the URL's port is not a number from 1 to 65535");
	rest = rt_str_skip(rest, size);
	if (rest.size > 0 && rest.ptr[0] != '/' && rest.ptr[0] != '?')
		return rt_fail(err, RT_USAGE, "the URL's host has an invalid character");
	if (!is_plain(rest))
		return rt_fail(err, RT_USAGE,
			       "the URL has a space, a fragment or another character that must "
			       "be written as %%XX");
	size = rt_str_find(rest, RT_STR("?"), 0);
	url.path = size == SIZE_MAX ? rest : rt_str_at(rest.ptr, size);
	if (size != SIZE_MAX)
		url.query = rt_str_skip(rest, size + 1);
	*out = url;
	return RT_OK;
}

/* 127.0.0.0/8, written as four plain numbers. */
static bool
is_loopback_address(rt_str host)
{
	size_t at = 0;

	for (int part = 0; part < 4; part++) {
		unsigned number = 0, digits = 0;

		for (; at < host.size && is_digit(host.ptr[at]) && digits < 4; at++, digits++)
			number = number * 10 + (unsigned)(host.ptr[at] - '0');
		if (digits == 0 || number > 255 || (digits > 1 && host.ptr[at - digits] == '0') ||
		    (part == 0 && number != 127))
			return false;
		if (part < 3 && (at >= host.size || host.ptr[at++] != '.'))
			return false;
	}
	return at == host.size;
}

bool
rt_url_is_loopback(const rt_url *url)
{
	static const rt_str tail = RT_STR_INIT(".localhost");
	rt_str host = url->host;

	return rt_str_eq_nocase(host, RT_STR("localhost")) || rt_str_is(host, "[::1]") ||
	       is_loopback_address(host) ||
	       (host.size > tail.size &&
		rt_str_eq_nocase(rt_str_skip(host, host.size - tail.size), tail));
}

void
rt_url_add_origin(rt_buf *out, const rt_url *url)
{
	rt_buf_add_c(out, url->is_tls ? "https://" : "http://");
	rt_buf_add_str(out, url->host);
	if (url->has_port)
		rt_buf_add_f(out, ":%u", url->port);
}

void
rt_url_add_shown(rt_buf *out, rt_str text)
{
	rt_url url;

	if (rt_url_read(text, &url, NULL) != RT_OK) {
		rt_buf_add_c(out, "(not a valid URL)");
		return;
	}
	rt_url_add_origin(out, &url);
	rt_buf_add_str(out, url.path);
	if (url.query.size > 0)
		rt_buf_add_c(out, "?...");
}

void
rt_url_add_decoded(rt_buf *out, rt_str text)
{
	for (size_t at = 0; at < text.size; at++) {
		bool is_escape = at + 2 < text.size && text.ptr[at] == '%';
		int high = is_escape ? rt_hex_digit(text.ptr[at + 1]) : -1;
		int low = high >= 0 ? rt_hex_digit(text.ptr[at + 2]) : -1;

		rt_buf_add_byte(out, low >= 0 ? (char)(high * 16 + low) : text.ptr[at]);
		if (low >= 0)
			at += 2;
	}
}

void
rt_url_join(rt_buf *out, const rt_url *base, rt_str path)
{
	size_t end = base->path.size, mark = rt_str_find(path, RT_STR("?"), 0);

	rt_url_add_origin(out, base);
	while (end > 0 && base->path.ptr[end - 1] == '/')
		end--;
	rt_buf_add_str(out, rt_str_at(base->path.ptr, end));
	rt_buf_add_str(out, mark == SIZE_MAX ? path : rt_str_at(path.ptr, mark));
	if (base->query.size > 0)
		rt_buf_add_f(out, "?%.*s", RT_STR_ARG(base->query));
	if (mark != SIZE_MAX)
		rt_buf_add_f(out, "%c%.*s", base->query.size > 0 ? '&' : '?',
			     RT_STR_ARG(rt_str_skip(path, mark + 1)));
}

void
rt_url_add_encoded(rt_buf *buf, rt_str text)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t i;

	for (i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    c == '-' || c == '.' || c == '_' || c == '~') {
			rt_buf_add_byte(buf, (char)c);
			continue;
		}
		rt_buf_add_byte(buf, '%');
		rt_buf_add_byte(buf, digits[c >> 4]);
		rt_buf_add_byte(buf, digits[c & 15]);
	}
}
