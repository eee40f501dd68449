/* SPDX-License-Identifier: MIT
 *
 * URL: where a server is, read strictly, since keys are sent there: http or https, a host
 * of letters, digits, dots and dashes (or an address in brackets), no name or password, no
 * fragment, no blank, no backslash, nothing but ASCII. So nobody can read a host out of it
 * that another reader does not. */
#ifndef RT_LLM_URL_H
#define RT_LLM_URL_H

#include "base/text.h"

enum { RT_URL_MAX = 4096, RT_URL_HOST_MAX = 253 };

typedef struct rt_url {
	bool is_tls;
	rt_str host;   /* with its brackets */
	unsigned port; /* the scheme's own when none is said */
	bool has_port; /* it is said */
	rt_str path;   /* with its slash, without query; may be empty */
	rt_str query;  /* behind the question mark; may be empty */
} rt_url;

/* text is borrowed. RT_USAGE, with words that hold nothing behind the host. */
RT_CHECKED rt_status rt_url_read(rt_str text, rt_url *out, rt_error *err);
/* This machine: localhost, *.localhost, 127.x.x.x, [::1]. */
bool rt_url_is_loopback(const rt_url *url);
/* For people: "https://host" or "http://host:8080", without path and query. */
void rt_url_add_origin(rt_buf *out, const rt_url *url);
/* For people, whatever text is: origin and path; of a query only that there is one, and of
 * what is no url nothing, since keys are put into both. */
void rt_url_add_shown(rt_buf *out, rt_str text);
/* The bytes that %XX stand for; what is none of it stays. */
void rt_url_add_decoded(rt_buf *out, rt_str text);
/* base with path behind its own path. Both may have a query: base's comes first. */
void rt_url_join(rt_buf *out, const rt_url *base, rt_str path);

#endif
