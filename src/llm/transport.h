/* SPDX-License-Identifier: MIT
 *
 * Transport: one HTTP request out, its answer in, as it arrives. The only place where the
 * network is reached is transport_curl.c; tests have others.
 *
 * A key never leaves for another host than the one it was given for: redirects are not
 * followed to another scheme, host or port, and headers that carry keys are named in the
 * request (secret), so that no error, log or notice can hold them. */
#ifndef RT_LLM_TRANSPORT_H
#define RT_LLM_TRANSPORT_H

#include "engine/model.h"

typedef struct rt_header {
	rt_str name, value;
	bool secret;
} rt_header;

typedef struct rt_http_request {
	const char *method; /* "POST", "GET" */
	rt_str url;
	const rt_header *headers;
	size_t header_count;
	rt_str body;
	unsigned connect_ms;   /* 0: 10 s */
	unsigned first_byte_ms; /* from sent to the first byte of the answer; 0: 10 min */
	unsigned idle_ms;      /* between two bytes of it; 0: 2 min */
	uint64_t answer_max;   /* bytes, after decompression; 0: 64 MiB */
	rt_stop_fn stop;       /* asked at least every 50 ms; or NULL */
	void (*tick)(void *ctx);
	void *ctx;
} rt_http_request;

typedef struct rt_http_answer {
	unsigned status;      /* 0: none came */
	bool is_stream;       /* content-type: text/event-stream or x-ndjson */
	unsigned retry_after_s; /* from Retry-After, seconds or a date; 0: not said */
	bool sent;            /* at least a byte of the request may have reached the server */
} rt_http_answer;

/* Bytes of the answer's body, as they come; the status is known by then. Other than RT_OK
 * ends the request with that status. */
typedef rt_status (*rt_http_fn)(void *ctx, const rt_http_answer *answer, rt_str bytes);

typedef struct rt_transport rt_transport;

typedef struct rt_transport_ops {
	void (*close)(rt_transport *transport);
	/* Blocks. RT_OK: a whole answer came, whatever its status. RT_INTERRUPTED: stop.
	 * RT_UPSTREAM: not reached, timed out, TLS, cut in the middle. RT_LIMIT: larger than
	 * answer_max. err: words for people with the host, never a header's value. */
	rt_status (*send)(rt_transport *transport, const rt_http_request *request,
			  rt_http_answer *answer, rt_http_fn fn, void *fn_ctx, rt_error *err);
} rt_transport_ops;

struct rt_transport {
	const rt_transport_ops *ops;
};

#endif
