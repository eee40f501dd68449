/* SPDX-License-Identifier: MIT */
#include "server/guard.h"

#include <stdio.h>

/* ---- hosts ---- */

static void
add(rt_guard *guard, const char *host, unsigned port)
{
	if (guard->host_count < RT_GUARD_HOSTS)
		(void)snprintf(guard->hosts[guard->host_count++], RT_GUARD_HOST_ROOM, "%s:%u", host,
			       port);
	if (port == 80 && guard->host_count < RT_GUARD_HOSTS)
		(void)snprintf(guard->hosts[guard->host_count++], RT_GUARD_HOST_ROOM, "%s", host);
}

void
rt_guard_init(rt_guard *guard, unsigned port)
{
	memset(guard, 0, sizeof(*guard));
	guard->port = port;
	add(guard, "127.0.0.1", port);
	add(guard, "localhost", port);
	add(guard, "[::1]", port);
}

static bool
is_host_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == ':' ||
	       c == '[' || c == ']' || c == '_';
}

rt_status
rt_guard_add_host(rt_guard *guard, rt_str host, rt_error *err)
{
	/* Ports that browsers omit. */
	static const char *const usual[] = {":443", ":80"};
	char room[RT_GUARD_HOST_ROOM];
	size_t i;
	bool has_port = false;

	if (host.size == 0 || host.size >= RT_GUARD_HOST_ROOM - 8)
		return rt_fail(err, RT_USAGE, "a host must have 1 to %d characters",
			       (int)RT_GUARD_HOST_ROOM - 9);
	for (i = 0; i < host.size; i++) {
		if (!is_host_char(host.ptr[i]))
			return rt_fail(err, RT_USAGE,
				       "\"%.*s\" is not a host: use a lower-case name or an "
				       "address, optionally with a colon and a port",
				       RT_STR_ARG(host));
		if (host.ptr[i] == ']')
			has_port = false;
		else if (host.ptr[i] == ':' && host.ptr[0] != '[')
			has_port = true;
		else if (host.ptr[i] == ':' && i > 0 && host.ptr[i - 1] == ']')
			has_port = true;
	}
	if (guard->host_count + 2 > RT_GUARD_HOSTS)
		return rt_fail(err, RT_LIMIT, "more than %d hosts", (int)RT_GUARD_HOSTS - 2);
	memcpy(room, host.ptr, host.size);
	room[host.size] = '\0';
	if (!has_port) {
		add(guard, room, guard->port);
		return RT_OK;
	}
	memcpy(guard->hosts[guard->host_count++], room, host.size + 1);
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		size_t size = strlen(usual[i]), rest = host.size > size ? host.size - size : 0;

		if (rest == 0 || strcmp(room + rest, usual[i]) != 0)
			continue;
		room[rest] = '\0';
		memcpy(guard->hosts[guard->host_count++], room, rest + 1);
		break;
	}
	return RT_OK;
}

/* Names of hosts are case-insensitive (RFC 9110, 4.2.3). */
static bool
is_own_host(const rt_guard *guard, rt_str host)
{
	size_t i;

	for (i = 0; i < guard->host_count; i++)
		if (rt_str_eq_nocase(host, rt_str_of(guard->hosts[i])))
			return true;
	return false;
}

bool
rt_guard_is_own_origin(const rt_guard *guard, rt_str origin)
{
	const rt_str plain = RT_STR("http://"), safe = RT_STR("https://");
	size_t cut = rt_str_starts(origin, plain) ? plain.size
		     : rt_str_starts(origin, safe) ? safe.size
						   : 0;

	return cut > 0 && is_own_host(guard, rt_str_at(origin.ptr + cut, origin.size - cut));
}

/* ---- secrets ---- */

bool
rt_guard_same(rt_str a, rt_str b)
{
	volatile unsigned char differs = a.size != b.size;
	size_t i;

	for (i = 0; i < b.size; i++)
		differs |= (unsigned char)(b.ptr[i] ^ (a.size > 0 ? a.ptr[i % a.size] : 1));
	return differs == 0;
}

bool
rt_guard_cookie(const rt_web_request *request, const char *name, rt_str *out)
{
	size_t i, found = 0;

	*out = rt_str_at(NULL, 0);
	for (i = 0; i < request->header_count; i++) {
		rt_str rest = request->headers[i].value;

		if (!rt_str_eq_nocase(request->headers[i].name, RT_STR("Cookie")))
			continue;
		while (rest.size > 0) {
			size_t end = rt_str_find(rest, RT_STR(";"), 0), equals;
			rt_str pair = rt_str_trim(
				rt_str_at(rest.ptr, end == SIZE_MAX ? rest.size : end));

			end = end == SIZE_MAX ? rest.size : end + 1;
			rest = rt_str_at(rest.ptr + end, rest.size - end);
			equals = rt_str_find(pair, RT_STR("="), 0);
			if (equals == SIZE_MAX || !rt_str_is(rt_str_at(pair.ptr, equals), name))
				continue;
			*out = rt_str_at(pair.ptr + equals + 1, pair.size - equals - 1);
			found++;
		}
	}
	return found == 1;
}

bool
rt_guard_bearer(const rt_web_request *request, rt_str *out)
{
	rt_str value = rt_web_header(request, "Authorization");
	const rt_str bearer = RT_STR("Bearer ");

	*out = rt_str_at(NULL, 0);
	if (value.size <= bearer.size ||
	    !rt_str_eq_nocase(rt_str_at(value.ptr, bearer.size), bearer))
		return false;
	*out = rt_str_trim(rt_str_at(value.ptr + bearer.size, value.size - bearer.size));
	return true;
}

/* ---- faults ---- */

static rt_guard_fault
fault(unsigned status, const char *kind, const char *title, const char *detail)
{
	return (rt_guard_fault){status, kind, title, detail, status == 400 || status == 414 ||
								     status == 431};
}

static rt_guard_fault
malformed(const char *detail)
{
	return fault(400, "malformed-request", "This is not a valid HTTP request", detail);
}

static const rt_guard_fault fine = {0, NULL, NULL, NULL, false};

/* ---- framing ---- */

static bool
is_token_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool
is_token(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (!is_token_char(s.ptr[i]))
			return false;
	return s.size > 0;
}

/* No control character but a tab. */
static bool
is_plain_value(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* "/", then characters that RFC 3986 allows in a path and a query. */
static bool
is_target(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		if (c <= 0x20 || c >= 0x7f || c == '"' || c == '<' || c == '>' || c == '\\' ||
		    c == '^' || c == '`' || c == '{' || c == '|' || c == '}' || c == '#')
			return false;
	}
	return s.size > 0 && s.ptr[0] == '/';
}

static bool
is_number(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
	return s.size > 0 && s.size <= 18;
}

static rt_guard_fault
check_headers(const rt_web_request *request)
{
	/* Headers that may occur once: with a repeated one, two readers may see two requests. */
	static const char *const single[] = {
		"Host", "Content-Length", "Transfer-Encoding", "Content-Type", "Authorization",
		"Origin", "Sec-Fetch-Site", "If-Match", "Idempotency-Key", "Last-Event-ID",
		"Expect", "Cookie", "Retake-Project", "Retake-By", "Upgrade", "Content-Encoding"};
	size_t size = 0, i;

	if (request->header_count > RT_GUARD_HEADER_COUNT_MAX)
		return fault(431, "headers-too-large", "Too many headers", "at most 100 are accepted");
	for (i = 0; i < request->header_count; i++) {
		const rt_web_field *field = &request->headers[i];

		size += field->name.size + field->value.size;
		if (!is_token(field->name))
			return malformed("the name of a header has invalid characters");
		if (!is_plain_value(field->value))
			return malformed("the value of a header contains control characters");
	}
	if (size > RT_GUARD_HEADERS_MAX)
		return fault(431, "headers-too-large", "The headers are too large",
			     "at most 32 KiB are accepted");
	for (i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		if (rt_web_header_repeats(request, single[i]) > 1)
			return malformed("a header that can appear only once appears twice");
	return fine;
}

rt_guard_fault
rt_guard_check_framing(const rt_web_request *request)
{
	rt_str length = rt_web_header(request, "Content-Length");
	rt_str coding = rt_web_header(request, "Transfer-Encoding");
	rt_guard_fault found;

	if (request->target.size > RT_GUARD_TARGET_MAX)
		return fault(414, "target-too-long", "The address is too long",
			     "at most 8 KiB are accepted");
	if (!is_target(request->target))
		return malformed("the target of a request must be a path that begins with a slash");
	if (!rt_str_is(request->version, "HTTP/1.1") && !rt_str_is(request->version, "HTTP/1.0"))
		return fault(505, "version", "HTTP/1.1 is spoken here", NULL);
	found = check_headers(request);
	if (found.status != 0)
		return found;
	if (coding.ptr != NULL && length.ptr != NULL)
		return malformed("Content-Length and Transfer-Encoding cannot be combined");
	if (coding.ptr != NULL && rt_str_is(request->version, "HTTP/1.0"))
		return malformed("HTTP/1.0 has no Transfer-Encoding");
	if (coding.ptr != NULL && !rt_str_eq_nocase(coding, RT_STR("chunked")))
		return fault(501, "transfer-coding", "chunked is the only supported transfer coding",
			     NULL);
	if (length.ptr != NULL && !is_number(length))
		return malformed("Content-Length must be a whole number");
	if (rt_web_header(request, "Content-Encoding").size > 0 &&
	    !rt_str_eq_nocase(rt_web_header(request, "Content-Encoding"), RT_STR("identity")))
		return fault(415, "content-encoding", "Compressed bodies are not supported",
			     NULL);
	if (rt_web_header(request, "Expect").ptr != NULL &&
	    !rt_str_eq_nocase(rt_web_header(request, "Expect"), RT_STR("100-continue")))
		return fault(417, "expectation", "100-continue is the only supported expectation", NULL);
	if (rt_web_header(request, "Upgrade").ptr != NULL)
		return malformed("protocol upgrades are not supported");
	return fine;
}

/* ---- Host and Origin ---- */

static rt_guard_fault
check_host(const rt_guard *guard, const rt_web_request *request)
{
	rt_str host = rt_web_header(request, "Host");

	if (host.size == 0)
		return malformed(
			"a request must have exactly one Host header, and it must not be empty");
	if (!request->is_local && !is_own_host(guard, host))
		return fault(403, "forbidden-host", "This server does not answer to that host name",
			     "it answers to 127.0.0.1, localhost and [::1] with its port, and to "
			     "hosts added with --host");
	return fine;
}

static rt_guard_fault
check_origin(const rt_guard *guard, const rt_web_request *request)
{
	rt_str origin = rt_web_header(request, "Origin");
	rt_str site = rt_web_header(request, "Sec-Fetch-Site");

	if (origin.ptr != NULL && (request->is_local || !rt_guard_is_own_origin(guard, origin)))
		return fault(403, "forbidden-origin", "Requests from other sites are refused", NULL);
	if (site.ptr != NULL && !rt_str_is(site, "same-origin") && !rt_str_is(site, "none"))
		return fault(403, "forbidden-origin", "Requests from other sites are refused", NULL);
	return fine;
}

rt_guard_fault
rt_guard_check(const rt_guard *guard, const rt_web_request *request)
{
	rt_guard_fault found = rt_guard_check_framing(request);

	if (found.status == 0)
		found = check_host(guard, request);
	if (found.status == 0)
		found = check_origin(guard, request);
	return found;
}

rt_guard_fault
rt_guard_check_arrival(const rt_guard *guard, const rt_web_request *request)
{
	rt_str site = rt_web_header(request, "Sec-Fetch-Site");
	bool is_page = request->method == RT_WEB_GET && rt_web_header(request, "Origin").ptr == NULL &&
		       (rt_str_is(site, "cross-site") || rt_str_is(site, "same-site")) &&
		       rt_str_is(rt_web_header(request, "Sec-Fetch-Mode"), "navigate") &&
		       rt_str_is(rt_web_header(request, "Sec-Fetch-Dest"), "document");
	rt_guard_fault found;

	if (!is_page)
		return rt_guard_check(guard, request);
	found = rt_guard_check_framing(request);
	return found.status != 0 ? found : check_host(guard, request);
}

/* A media type without its parameters. */
static rt_str
essence_of(rt_str type)
{
	size_t end = rt_str_find(type, RT_STR(";"), 0);

	return rt_str_trim(rt_str_at(type.ptr, end == SIZE_MAX ? type.size : end));
}

/* "application/json", with or without a charset that is UTF-8. */
static bool
is_json(rt_str type)
{
	size_t end = rt_str_find(type, RT_STR(";"), 0);
	rt_str rest = end == SIZE_MAX ? rt_str_at(NULL, 0)
				      : rt_str_trim(rt_str_at(type.ptr + end + 1,
							      type.size - end - 1));

	return rt_str_eq_nocase(essence_of(type), RT_STR("application/json")) &&
	       (rest.size == 0 || rt_str_eq_nocase(rest, RT_STR("charset=utf-8")) ||
		rt_str_eq_nocase(rest, RT_STR("charset=\"utf-8\"")));
}

/* A type that a form, or a script without permission, can send from another site. */
static bool
is_form(rt_str type)
{
	const rt_str multipart = RT_STR("multipart/");
	rt_str essence = essence_of(type);

	return rt_str_eq_nocase(essence, RT_STR("text/plain")) ||
	       rt_str_eq_nocase(essence, RT_STR("application/x-www-form-urlencoded")) ||
	       (essence.size >= multipart.size &&
		rt_str_eq_nocase(rt_str_at(essence.ptr, multipart.size), multipart));
}

rt_guard_fault
rt_guard_check_form(const rt_web_request *request, const rt_principal *principal, bool any_type)
{
	rt_str length = rt_web_header(request, "Content-Length");
	bool has_body = rt_web_header(request, "Transfer-Encoding").ptr != NULL ||
			(length.ptr != NULL && !rt_str_is(length, "0"));
	rt_str type = rt_web_header(request, "Content-Type");

	if (principal->kind == RT_PRINCIPAL_BROWSER && request->method != RT_WEB_GET &&
	    rt_web_header(request, "Origin").ptr == NULL)
		return fault(
			403, "forbidden-origin",
			"Requests from a browser that change something must have an Origin header",
			NULL);
	if (request->method == RT_WEB_GET && has_body)
		return malformed("GET cannot have a body");
	if (has_body && !any_type && !is_json(type))
		return fault(415, "content-type", "The body must be application/json",
			     "send the Content-Type: application/json header");
	/* If any type is accepted, those of forms of other pages are not. */
	if (has_body && any_type && is_form(type))
		return fault(415, "content-type", "A file must be sent as application/octet-stream or application/json",
			     "send the header Content-Type: application/octet-stream");
	if (has_body && any_type && type.size == 0)
		return fault(415, "content-type", "A body must have a Content-Type",
			     "send the header Content-Type: application/octet-stream");
	return fine;
}
