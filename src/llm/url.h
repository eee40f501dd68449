/* SPDX-License-Identifier: MIT
 *
 * URL: the address of a server, read strictly because keys are sent there: http or https, a
 * host of letters, digits, dots, dashes and underscores (or an address in brackets), no name or
 * password, no fragment, no blank, no backslash, nothing but ASCII. So no two readers can find
 * different hosts in it. (libcurl's curl_url is not a substitute: it finds a host in "http:///x",
 * decodes "%2e" and reads "0127.0.0.1" as octal; and it would have to be loaded for every
 * configuration with a url.) */
#ifndef RT_LLM_URL_H
#define RT_LLM_URL_H

#include "base/encode.h"

enum { RT_URL_MAX = 4096, RT_URL_HOST_MAX = 253 };

typedef struct rt_url {
	bool is_tls;
	rt_str host;   /* with its brackets */
	unsigned port; /* the scheme's if the url has none */
	bool has_port; /* the url has one */
	rt_str path;   /* with its slash, without query; may be empty */
	rt_str query;  /* after the question mark; may be empty */
} rt_url;

/* The views borrow from text. RT_USAGE; the message contains nothing after the host. */
RT_CHECKED rt_status rt_url_read(rt_str text, rt_url *out, rt_error *err);
/* This machine: localhost, *.localhost, 127.x.x.x, [::1]. */
bool rt_url_is_loopback(const rt_url *url);
/* For messages: "https://host" or "http://host:8080", without path and query. */
void rt_url_add_origin(rt_buf *out, const rt_url *url);
/* For messages, whatever text is: origin and path. A query, which may contain a key, becomes
 * "?..."; text that is not a URL is not shown at all. */
void rt_url_add_shown(rt_buf *out, rt_str text);
/* text with everything but letters, digits, "-", ".", "_" and "~" as %XX. */
void rt_url_add_encoded(rt_buf *out, rt_str text);
/* The bytes that text encodes as %XX; everything else stays. */
void rt_url_add_decoded(rt_buf *out, rt_str text);
/* path appended to base's path. Both may have a query: base's comes first. */
void rt_url_join(rt_buf *out, const rt_url *base, rt_str path);

/* Bytes at the beginning of text that are ASCII letters, digits, or in further. */
size_t rt_word_size(rt_str text, const char *further);

#endif
