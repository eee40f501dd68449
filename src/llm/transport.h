/* SPDX-License-Identifier: MIT
 *
 * Transport: one HTTP request, and its answer as it arrives. transport_curl.c is the only file
 * that uses the network; tests have other transports.
 *
 * A key is never sent to any host but its own: redirects are not followed. No error quotes the
 * value of a header or the query of a URL.
 *
 * Threads: several may use a transport at once, each with its own request. */
#ifndef RT_LLM_TRANSPORT_H
#define RT_LLM_TRANSPORT_H

#include "chat/model.h"

typedef struct rt_header {
	rt_str name, value; /* without line ends */
	bool secret;        /* the value is a key, or may be one */
} rt_header;

/* Without control characters, so that it cannot end its line. */
static inline bool
rt_header_is_one_line(rt_str value)
{
	for (size_t i = 0; i < value.size; i++)
		if ((unsigned char)value.ptr[i] < 0x20 || value.ptr[i] == 0x7F)
			return false;
	return true;
}

enum {
	RT_HTTP_CONNECT_MS = 10 * 1000,
	RT_HTTP_FIRST_BYTE_MS = 10 * 60 * 1000,
	RT_HTTP_IDLE_MS = 2 * 60 * 1000,
	RT_HTTP_TOTAL_MS = 60 * 60 * 1000,
	RT_HTTP_ANSWER_MAX = 64 << 20,
	RT_HTTP_HEADERS_MAX = 256 << 10, /* bytes of an answer's headers */
	RT_HTTP_STOP_MS = 50             /* at most between two calls of stop */
};

typedef struct rt_http_request {
	const char *method; /* "POST", "GET" */
	rt_str url;         /* as url.h reads it */
	const rt_header *headers;
	size_t header_count;
	rt_str body;            /* of a POST */
	unsigned connect_ms;    /* names, connection and TLS; 0: RT_HTTP_CONNECT_MS */
	unsigned first_byte_ms; /* from sent to the answer's first byte; 0: …_FIRST_BYTE_MS */
	unsigned idle_ms;       /* between two bytes of it; 0: RT_HTTP_IDLE_MS */
	unsigned total_ms;      /* for everything; 0: RT_HTTP_TOTAL_MS */
	uint64_t answer_max;    /* bytes, after decompression; 0: RT_HTTP_ANSWER_MAX */
	rt_stop_fn stop;        /* called at least every RT_HTTP_STOP_MS; or NULL */
	void (*tick)(void *ctx); /* called as often; or NULL */
	void *ctx;
} rt_http_request;

typedef struct rt_http_answer {
	unsigned status;      /* 0: no answer */
	bool is_stream;       /* content-type: event stream, or JSON by lines */
	bool is_json;         /* content-type: application/json and the like */
	unsigned retry_after_s; /* from Retry-After, seconds or a date; 0: none */
	bool sent;            /* a byte of the request may have reached the server */
	bool is_transient;    /* refused, or reset before a byte of the answer: a retry may help */
	char location[264];   /* of a 3xx: the target as "https://host:port"; or "" */
} rt_http_answer;

/* Bytes of the answer's body, as they arrive; its status is known by then. A failure ends the
 * request with that status; its message is up to the callback. */
typedef rt_status (*rt_http_fn)(void *ctx, const rt_http_answer *answer, rt_str bytes);

typedef struct rt_transport rt_transport;

typedef struct rt_transport_ops {
	void (*close)(rt_transport *transport);
	/* Blocks. RT_OK: a complete answer, whatever its status. RT_INTERRUPTED: by stop.
	 * RT_UPSTREAM: not reached, timed out, TLS, cut off. RT_LIMIT: larger than answer_max.
	 * RT_REFUSED: no request is sent to that url. *answer is always filled. err has the host,
	 * and never a header's value. */
	rt_status (*send)(rt_transport *transport, const rt_http_request *request,
			  rt_http_answer *answer, rt_http_fn fn, void *fn_ctx, rt_error *err);
	/* Waits. RT_INTERRUPTED: by stop (or NULL), called every RT_HTTP_STOP_MS, as is tick (or
	 * NULL). */
	rt_status (*wait)(rt_transport *transport, unsigned wait_ms, rt_stop_fn stop,
			  void (*tick)(void *ctx), void *ctx);
} rt_transport_ops;

struct rt_transport {
	const rt_transport_ops *ops;
	/* further members belong to the implementation */
};

#endif
