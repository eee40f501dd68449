/* SPDX-License-Identifier: MIT
 *
 * Guard: the checks of every request before anything else reads it, in this order:
 *
 *   framing      the request line and headers are such that every reader agrees where the
 *                request ends: one Content-Length or none, no Transfer-Encoding but chunked and
 *                never both, no control characters, no repeated header that may occur once, sizes
 *                within limits                                              400, 414, 431
 *   Host         exactly one of this server's names, with the port, so that a page on another name
 *                that resolves to this address (DNS rebinding) is refused    400, 403
 *   Origin       absent, or exactly that of this server; Sec-Fetch-Site neither cross-site nor
 *                same-site (another port of this machine is another site)    403
 *   credential   the token, the cookie of a signed-in browser, or the Unix socket;
 *                never in the query                                         401
 *   form         a browser that changes something sends its Origin; a body that is not empty
 *                is JSON, which no form of another page can send            403, 415
 *
 * OPTIONS is granted nothing and no CORS header is ever sent. Tables in guard_test.c.
 *
 * Threads: immutable once hosts are added; rt_guard_check from any. */
#ifndef RT_SERVER_GUARD_H
#define RT_SERVER_GUARD_H

#include "server/web.h"

enum {
	RT_GUARD_TARGET_MAX = 8 * 1024,  /* bytes of the request's target */
	RT_GUARD_HEADERS_MAX = 32 * 1024,/* of all headers, names and values */
	RT_GUARD_HEADER_COUNT_MAX = 100,
	RT_GUARD_HOSTS = 16,
	RT_GUARD_HOST_ROOM = 272
};

typedef struct rt_guard {
	/* "127.0.0.1:8999" … ; on port 80 also without it */
	char hosts[RT_GUARD_HOSTS][RT_GUARD_HOST_ROOM];
	size_t host_count;
	unsigned port;
} rt_guard;

/* A failed check, for the answer; status 0: none failed. */
typedef struct rt_guard_fault {
	unsigned status;
	const char *kind, *title, *detail; /* as rt_problem_http; detail NULL: none is given */
	bool close; /* the connection cannot be used any further */
} rt_guard_fault;

/* Answers to the loopback's names, with that port. */
void rt_guard_init(rt_guard *guard, unsigned port);
/* Adds a name, "host" or "host:port"; with port 80 or 443, which browsers omit, also without it.
 * RT_USAGE: malformed; RT_LIMIT: too many. */
RT_CHECKED rt_status rt_guard_add_host(rt_guard *guard, rt_str host, rt_error *err);

/* Can the request be read in one way only? */
rt_guard_fault rt_guard_check_framing(const rt_web_request *request);
/* Framing, Host, Origin: the checks that need no secrets. */
rt_guard_fault rt_guard_check(const rt_guard *guard, const rt_web_request *request);
/* The same for a page that may be opened from other sites: a link in a message, the redirection of
 * a sign-in service. */
rt_guard_fault rt_guard_check_arrival(const rt_guard *guard, const rt_web_request *request);
/* The form, once the principal is known. any_type: bodies of any type are accepted (an import). */
rt_guard_fault rt_guard_check_form(const rt_web_request *request, const rt_principal *principal,
				   bool any_type);

/* Is it the origin of one of our own pages? */
bool rt_guard_is_own_origin(const rt_guard *guard, rt_str origin);
/* The value of a cookie; false: none, or several of that name. */
bool rt_guard_cookie(const rt_web_request *request, const char *name, rt_str *out);
/* X of "Authorization: Bearer X"; false: none. */
bool rt_guard_bearer(const rt_web_request *request, rt_str *out);
/* Compares in a time that depends on b's size only. */
bool rt_guard_same(rt_str a, rt_str b);

#endif
