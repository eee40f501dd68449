/* SPDX-License-Identifier: MIT
 *
 * Transport over libcurl: HTTP/1.1 and 2, gzip, proxies by the usual variables (never to this
 * machine itself), certificates checked. It has no cookies, reads no .netrc, follows no redirect,
 * and connects to no link-local address: clouds hand out their machines' credentials there.
 *
 * Threads: locks itself. Connections are kept for the next request. */
#ifndef RT_LLM_TRANSPORT_CURL_H
#define RT_LLM_TRANSPORT_CURL_H

#include "llm/transport.h"

typedef struct rt_transport_curl_options {
	const rt_alloc *alloc; /* NULL: libc's */
	rt_str ca_file;        /* certificates to trust instead of the system's; or empty */
} rt_transport_curl_options;

/* libcurl is loaded in a thread; if that fails, the first request does (RT_IO). RT_NOMEM. options
 * may be NULL. */
RT_CHECKED rt_status rt_transport_curl_open(const rt_transport_curl_options *options,
					    rt_transport **out, rt_error *err);

#endif
