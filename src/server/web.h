/* SPDX-License-Identifier: MIT
 *
 * Web: HTTP without sockets (which are front.h's): a complete request, an answer, a stream.
 *
 * A request goes through two calls of an rt_web_site: admit, as soon as the headers have been read
 * (so that no body of an unauthorised client is read), and handle, after the body. handle is called
 * on the loop's own thread if admit has returned that it is quick, else on a thread that may wait
 * (for the disk, for hooks).
 *
 * Threads: a request and its answer belong to one thread at a time. Streams: see below. */
#ifndef RT_SERVER_WEB_H
#define RT_SERVER_WEB_H

#include "accounts/authorize.h"
#include "ops/format.h"

typedef enum rt_web_method {
	RT_WEB_OTHER, /* OPTIONS, TRACE, CONNECT, unknown ones */
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
	rt_str target;       /* unchanged: path, "?", query */
	rt_str path, query;  /* the same apart, still percent-encoded; query may be empty */
	const rt_web_field *headers; /* in their order, including repeated ones */
	size_t header_count;
	rt_str body;         /* empty in admit, and if the body is in file */
	const rt_input *file;/* the body, if the plan requests a file and it is too large for
			      * memory; or NULL */
	bool is_local;       /* came over the Unix socket, from a process of the same user */
	const char *id;      /* set by admit: identifies the request in the answer and the log; in
			      * the arena; or NULL */
	const rt_alloc *alloc;
	rt_arena *arena;     /* lives until the answer has been sent */
	void *user;          /* set by admit, for handle; in the arena */
} rt_web_request;

/* The first header of that name (any case), trimmed; ptr NULL: none. */
rt_str rt_web_header(const rt_web_request *request, const char *name);
size_t rt_web_header_repeats(const rt_web_request *request, const char *name);
/* The first query parameter of that name, decoded, in the arena. false: none (out is empty then),
 * or it cannot be decoded. "+" is a space. */
bool rt_web_query(const rt_web_request *request, const char *name, rt_str *out);
/* Percent-decode in the arena. false: bad escape, or a NUL. */
bool rt_web_decode(const rt_web_request *request, rt_str encoded, bool plus, rt_str *out);

/* ---- streams ---- */

/* An answer in pieces, such as events. read is called by the front, one call at a time; wake may
 * be called from any thread, also before the first read and after the last, until close has
 * returned. close is called once, by the front, when the stream is no longer read. */
typedef struct rt_web_stream rt_web_stream;

typedef struct rt_web_stream_ops {
	/* Up to room bytes. 0 and *out_ended false: nothing now; read is called again after a wake
	 * that comes after the beginning of this call. */
	size_t (*read)(rt_web_stream *stream, char *out, size_t room, bool *out_ended);
	void (*close)(rt_web_stream *stream); /* frees it */
} rt_web_stream_ops;

struct rt_web_stream {
	const rt_web_stream_ops *ops;
	/* the front's: front first, then wake; NULL before the answer is sent */
	void (*_Atomic wake)(void *front);
	void *front;
};

/* There is something to read. The caller makes sure that close is not called meanwhile. */
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
	rt_web_field headers[RT_WEB_ANSWER_HEADERS]; /* besides the common ones; in the arena, or
						      * static */
	size_t header_count;
	rt_web_stream *stream; /* instead of a body; then owned by the front */
	bool close;             /* of the connection, after this answer */
} rt_web_answer;

/* value is copied into the arena of the request. One header too many, no memory: left out, and
 * body.status has the reason. */
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
	/* The headers have been read. False: the answer is filled in; no body is read. */
	bool (*admit)(void *ctx, rt_web_request *request, rt_web_plan *plan,
		      rt_web_answer *answer);
	void (*handle)(void *ctx, rt_web_request *request, rt_web_answer *answer);
	/* Fills in the body of an answer of the front itself (413, 503, 408). */
	void (*refuse)(void *ctx, const rt_web_request *request, unsigned status,
		       rt_web_answer *answer);
	/* The answer is about to be sent; us: since the headers were read. From any thread. */
	void (*answered)(void *ctx, const rt_web_request *request, const rt_web_answer *answer,
			 int64_t us);
} rt_web_site;

/* ---- principals ---- */

/* The sender of a request: programs that know the token, programs of the same user over the Unix
 * socket, and browsers signed in with a code. */
typedef enum rt_principal_kind {
	RT_PRINCIPAL_NOBODY,
	RT_PRINCIPAL_TOKEN,
	RT_PRINCIPAL_LOCAL,
	RT_PRINCIPAL_BROWSER
} rt_principal_kind;

typedef struct rt_principal {
	rt_principal_kind kind;
	rt_str project; /* the only one that the browser may open; empty: the request may name one */
	rt_str browser; /* hash of its cookie, hex; or empty */
	rt_account account; /* for accounts/authorize.h */
	rt_str user;    /* name of its user; empty: none */
} rt_principal;

/* The author of its changes in the history: the user, else "http" or "web". */
static inline rt_str
rt_principal_actor(const rt_principal *principal)
{
	if (principal->user.size > 0)
		return principal->user;
	return principal->kind == RT_PRINCIPAL_BROWSER ? RT_STR("web") : RT_STR("http");
}

/* ---- problems ---- */

/* Failures are problem documents (RFC 9457, application/problem+json):
 *
 *   {"type":"urn:retake:problem:stale","title":"The discussion changed since you read it",
 *    "status":412,"code":"conflict","detail":"…","hint":"…"}
 *
 * code is the word that the command line uses for the same failure. */

/* Replaces the answer by a failure of the engine; the HTTP status follows from err->status. hint
 * (or NULL): the next step. extra: further members ("index":3), or empty. */
void rt_problem_answer(rt_web_answer *answer, const rt_error *err, const char *hint,
		       rt_str extra);
/* The same for a failure of HTTP itself: kind is the end of the type ("forbidden-host"); title,
 * detail (or NULL): sentences. */
void rt_problem_http(rt_web_answer *answer, unsigned status, const char *kind, const char *title,
		     const char *detail);

#endif
