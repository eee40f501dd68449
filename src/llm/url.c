/* SPDX-License-Identifier: MIT */
#include "llm/url.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_host_char(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
	       c == '-' || c == '_';
}

static bool
is_address_char(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' ||
	       c == '.';
}

/* Size of the host at the beginning of text; 0: there is none. */
static size_t
host_size(rt_str text)
{
	size_t at = 0;

	if (text.size > 0 && text.ptr[0] == '[') {
		for (at = 1; at < text.size && is_address_char(text.ptr[at]); at++)
			;
		return at > 2 && at < text.size && text.ptr[at] == ']' ? at + 1 : 0;
	}
	while (at < text.size && is_host_char(text.ptr[at]))
		at++;
	return at;
}

/* ":8080" at the beginning of rest; what it takes, or SIZE_MAX: no port. */
static size_t
read_port(rt_str rest, rt_url *url)
{
	size_t at = 1;
	unsigned port = 0;

	if (rest.size == 0 || rest.ptr[0] != ':')
		return 0;
	for (; at < rest.size && is_digit(rest.ptr[at]) && at <= 5; at++)
		port = port * 10 + (unsigned)(rest.ptr[at] - '0');
	if (at == 1 || port == 0 || port > 65535)
		return SIZE_MAX;
	url->port = port;
	url->has_port = true;
	return at;
}

/* Everything behind the host: printable ASCII without what readers differ on. */
static bool
is_plain(rt_str text)
{
	size_t i;

	for (i = 0; i < text.size; i++) {
		char c = text.ptr[i];

		if (c <= 0x20 || c >= 0x7F || memchr("\\\"<>^`{|}#@", c, 11) != NULL)
			return false;
	}
	return true;
}

rt_status
rt_url_read(rt_str text, rt_url *out, rt_error *err)
{
	static const rt_str http = RT_STR_INIT("http://"), https = RT_STR_INIT("https://");
	rt_url url = {.port = 80};
	size_t at, size;
	const char *mark;

	if (text.size > RT_URL_MAX)
		return rt_fail(err, RT_USAGE, "a url has at most %d bytes", (int)RT_URL_MAX);
	url.is_tls = text.size >= https.size &&
		     rt_str_eq_nocase(rt_str_at(text.ptr, https.size), https);
	if (!url.is_tls &&
	    !(text.size >= http.size && rt_str_eq_nocase(rt_str_at(text.ptr, http.size), http)))
		return rt_fail(err, RT_USAGE, "a url begins with http:// or https://");
	at = url.is_tls ? https.size : http.size;
	url.port = url.is_tls ? 443 : 80;
	size = host_size(rt_str_at(text.ptr + at, text.size - at));
	url.host = rt_str_at(text.ptr + at, size);
	at += size;
	if (memchr(text.ptr + at, '@', text.size - at) != NULL)
		return rt_fail(err, RT_USAGE, "a url cannot have a name, a password or an @: put "
			       "keys into key_env, key_file or key_cmd");
	if (size == 0 || size > RT_URL_HOST_MAX)
		return rt_fail(err, RT_USAGE, "the url names no host (an international name is "
			       "written with xn--)");
	size = read_port(rt_str_at(text.ptr + at, text.size - at), &url);
	if (size == SIZE_MAX)
		return rt_fail(err, RT_USAGE, "the url's port is not a number from 1 to 65535");
	at += size;
	if (at < text.size && text.ptr[at] != '/' && text.ptr[at] != '?')
		return rt_fail(err, RT_USAGE, "the url's host has a character that no host has");
	if (!is_plain(rt_str_at(text.ptr + at, text.size - at)))
		return rt_fail(err, RT_USAGE, "the url has a blank, a fragment or another character "
			       "that has to be written as %%XX");
	mark = at < text.size ? memchr(text.ptr + at, '?', text.size - at) : NULL;
	size = mark == NULL ? text.size - at : (size_t)(mark - text.ptr) - at;
	url.path = rt_str_at(text.ptr + at, size);
	if (mark != NULL)
		url.query = rt_str_at(mark + 1, text.size - at - size - 1);
	*out = url;
	return RT_OK;
}

/* 127.0.0.0/8, written as four plain numbers. */
static bool
is_loopback_address(rt_str host)
{
	size_t at = 0, part;

	for (part = 0; part < 4; part++) {
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
		rt_str_eq_nocase(rt_str_at(host.ptr + host.size - tail.size, tail.size), tail));
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
		rt_buf_add_c(out, "(not a url that can be used)");
		return;
	}
	rt_url_add_origin(out, &url);
	rt_buf_add_str(out, url.path);
	if (url.query.size > 0)
		rt_buf_add_c(out, "?...");
}

static int
hex_of(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void
rt_url_add_decoded(rt_buf *out, rt_str text)
{
	size_t at;

	for (at = 0; at < text.size; at++) {
		int high = at + 2 < text.size && text.ptr[at] == '%' ? hex_of(text.ptr[at + 1]) : -1;
		int low = high >= 0 ? hex_of(text.ptr[at + 2]) : -1;

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
	if (base->query.size > 0) {
		rt_buf_add_byte(out, '?');
		rt_buf_add_str(out, base->query);
	}
	if (mark != SIZE_MAX) {
		rt_buf_add_byte(out, base->query.size > 0 ? '&' : '?');
		rt_buf_add_str(out, rt_str_at(path.ptr + mark + 1, path.size - mark - 1));
	}
}
