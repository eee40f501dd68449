/* SPDX-License-Identifier: MIT
 *
 * Web: HTTP, as the server's files see it: a request that is whole, an answer, a stream. Nothing
 * here knows of sockets; front.h is what does.
 *
 * A request goes through two calls of an rt_web_site: admit, as soon as the headers are
 * there (no body of somebody who may not ask is ever read), and handle, when the body is
 * there too. handle is called on the loop's own thread when admit said that it is quick,
 * else on a thread that may wait (for the disk, for hooks).
 *
 * Threads: a request and its answer belong to one thread at a time. Streams: see below. */
#ifndef RT_SERVER_WEB_H
#define RT_SERVER_WEB_H

#include "ops/format.h"

typedef enum rt_web_method {
	RT_WEB_OTHER, /* what we do not know, and OPTIONS, TRACE, CONNECT */
	RT_WEB_GET,   /* HEAD too: the front drops the body */
	RT_WEB_POST,
	RT_WEB_PUT,
	RT_WEB_PATCH,
	RT_WEB_DELETE
} rt_web_method;

typedef struct rt_web_field {
	rt_str name, value;
} rt_web_field;

typedef struct rt_web_request {
	rt_web_method method;
	rt_str method_name;  /* as it came */
	rt_str version;      /* "HTTP/1.1" */
	rt_str target;       /* as it came: path, "?", query */
	rt_str path, query;  /* the same apart, still percent-encoded; query may be empty */
	const rt_web_field *headers; /* in their order, repeats too */
	size_t header_count;
	rt_str body;         /* empty in admit, and where file has it */
	const rt_input *file;/* the body, where the plan has it as a file and it is too large for
	                      * memory; or NULL */
	bool is_local;       /* came over the Unix socket, from a process of the same user */
	const rt_alloc *alloc;
	rt_arena *arena;     /* lives until the answer has been sent */
	void *user;          /* admit's, for handle; in the arena */
} rt_web_request;

/* The first header of that name (any case), trimmed; ptr NULL: there is none. */
rt_str rt_web_header(const rt_web_request *request, const char *name);
size_t rt_web_header_repeats(const rt_web_request *request, const char *name);
/* The first query parameter of that name, decoded, in the arena. false: there is none (out is
 * empty then), or it cannot be decoded. "+" is a blank. */
bool rt_web_query(const rt_web_request *request, const char *name, rt_str *out);
/* Percent-decode in the arena. false: bad escape, or a NUL. */
bool rt_web_decode(const rt_web_request *request, rt_str encoded, bool plus, rt_str *out);

/* ---- streams ---- */

/* An answer that is produced piece by piece, such as events. read is called by the front, one
 * call at a time; wake may be called from any thread, also before the first read and after
 * the last, until close has returned. close is called once, by the front, when nobody reads
 * any more, whatever the reason. */
typedef struct rt_web_stream rt_web_stream;

typedef struct rt_web_stream_ops {
	/* Up to room bytes. 0 and *out_ended false: nothing now; read is called again after a
	 * wake that came after this call began. */
	size_t (*read)(rt_web_stream *stream, char *out, size_t room, bool *out_ended);
	void (*close)(rt_web_stream *stream); /* frees it */
} rt_web_stream_ops;

struct rt_web_stream {
	const rt_web_stream_ops *ops;
	/* the front's: front first, then wake; NULL before the answer is on its way */
	void (*_Atomic wake)(void *front);
	void *front;
};

/* There is something to read. Whoever calls makes sure that close is not done meanwhile. */
static inline void
rt_web_wake(rt_web_stream *stream)
{
	void (*wake)(void *front) = stream->wake;

	if (wake != NULL)
		wake(stream->front);
}

/* ---- answers ---- */

enum { RT_WEB_ANSWER_HEADERS = 8 };

typedef struct rt_web_answer {
	unsigned status;        /* 0: not filled in yet */
	const char *type;       /* static; NULL: no body, no type */
	rt_buf body;            /* initialised by the front, unlimited */
	rt_web_field headers[RT_WEB_ANSWER_HEADERS]; /* beside those that every answer has; in
	                                                * the arena, or static */
	size_t header_count;
	rt_web_stream *stream; /* instead of a body; the front's from here on */
	bool close;             /* nothing more is taken from this connection */
} rt_web_answer;

/* value is copied into the arena of the request. One header too many, no memory: left out, and
 * body.status says so. */
void rt_web_answer_header(rt_web_answer *answer, const rt_web_request *request,
			   const char *name, rt_str value);

/* ---- sites ---- */

typedef struct rt_web_plan {
	size_t body_max; /* bytes; more: 413 */
	bool as_file;    /* a large body is read from a file, and never in memory as a whole */
	bool quick;      /* handle does not wait for anything */
} rt_web_plan;

typedef struct rt_web_site {
	void *ctx;
	/* The headers are there. false: the answer is filled in; no body is read. */
	bool (*admit)(void *ctx, rt_web_request *request, rt_web_plan *plan,
		      rt_web_answer *answer);
	void (*handle)(void *ctx, rt_web_request *request, rt_web_answer *answer);
	/* What the front itself has to say (413, 503, 408): fill in a body. */
	void (*refuse)(void *ctx, const rt_web_request *request, unsigned status,
		       rt_web_answer *answer);
} rt_web_site;

#endif
