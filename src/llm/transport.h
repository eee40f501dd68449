/* SPDX-License-Identifier: MIT
 *
 * Transport: one HTTP request out, its answer in, as it arrives. The only place where the
 * network is reached is transport_curl.c; tests have others.
 *
 * A key never leaves for another host than the one it was given for: redirects are not
 * followed. No error has a header's value or the query of a URL in it.
 *
 * Threads: a transport may be used by several at once; each request is one thread's. */
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
	RT_HTTP_STOP_MS = 50             /* at most between two looks at stop */
};

typedef struct rt_http_request {
	const char *method; /* "POST", "GET" */
	rt_str url;         /* http or https; see url.h for what else it must be */
	const rt_header *headers;
	size_t header_count;
	rt_str body;            /* of a POST */
	unsigned connect_ms;    /* names, connection and TLS; 0: RT_HTTP_CONNECT_MS */
	unsigned first_byte_ms; /* from sent to the answer's first byte; 0: …_FIRST_BYTE_MS */
	unsigned idle_ms;       /* between two bytes of it; 0: RT_HTTP_IDLE_MS */
	unsigned total_ms;      /* for all of it, however it drips; 0: RT_HTTP_TOTAL_MS */
	uint64_t answer_max;    /* bytes, after decompression; 0: RT_HTTP_ANSWER_MAX */
	rt_stop_fn stop;        /* asked at least every RT_HTTP_STOP_MS; or NULL */
	void (*tick)(void *ctx); /* called as often; or NULL */
	void *ctx;
} rt_http_request;

typedef struct rt_http_answer {
	unsigned status;      /* 0: none came */
	bool is_stream;       /* content-type: event stream, or JSON by lines */
	bool is_json;         /* content-type: application/json and the like */
	unsigned retry_after_s; /* from Retry-After, seconds or a date; 0: not said */
	bool sent;            /* a byte of the request may have reached the server */
	bool is_transient;    /* refused, or reset before a byte of the answer: another try
				 may do */
	char location[264];   /* of a 3xx: where to, as "https://host:port"; or "" */
} rt_http_answer;

/* Bytes of the answer's body, as they come; the status is known by then. Other than RT_OK
 * ends the request with that status; saying why is then up to the callback. */
typedef rt_status (*rt_http_fn)(void *ctx, const rt_http_answer *answer, rt_str bytes);

typedef struct rt_transport rt_transport;

typedef struct rt_transport_ops {
	void (*close)(rt_transport *transport);
	/* Blocks. RT_OK: a whole answer came, whatever its status. RT_INTERRUPTED: stop.
	 * RT_UPSTREAM: not reached, timed out, TLS, cut in the middle. RT_LIMIT: larger than
	 * answer_max. RT_REFUSED: a url that no request is sent to. *answer is always
	 * filled. err: words for people with the host, never a header's value. */
	rt_status (*send)(rt_transport *transport, const rt_http_request *request,
			  rt_http_answer *answer, rt_http_fn fn, void *fn_ctx, rt_error *err);
	/* Lets time pass. RT_INTERRUPTED: stop (or NULL), asked every RT_HTTP_STOP_MS; tick
	 * (or NULL) is called as often. */
	rt_status (*wait)(rt_transport *transport, unsigned wait_ms, rt_stop_fn stop,
			  void (*tick)(void *ctx), void *ctx);
} rt_transport_ops;

struct rt_transport {
	const rt_transport_ops *ops;
	/* what follows belongs to the kind */
};

#endif
