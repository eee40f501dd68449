/* SPDX-License-Identifier: MIT
 *
 * Provider: how one family of model servers is spoken to, as a table of pure functions:
 * messages in, the bytes of a request out; the bytes of an answer in, a reply out. Sending
 * is the transport's work (llm/transport.h). A new provider is one file in llm/ and one
 * line in llm/provider.c.
 *
 * The request is written by context.c, which calls rt_request_* (request.h) for each
 * message; those call the provider's writer for its shapes. */
#ifndef RT_CHAT_PROVIDER_H
#define RT_CHAT_PROVIDER_H

#include "chat/reply.h"

typedef struct rt_provider rt_provider;
struct rt_provider_writer; /* request.h */

/* How a stream of answers is cut into pieces. */
typedef enum rt_framing {
	RT_FRAMING_SSE,  /* "event:" and "data:" lines (WHATWG HTML, server-sent events) */
	RT_FRAMING_LINES /* one JSON text a line */
} rt_framing;

/* JSON texts from the settings; ptr NULL: unset. */
typedef struct rt_request_settings {
	rt_str model; /* a JSON string; may name the provider: "openai/gpt-4o" */
	rt_str temperature, top_p, max_tokens;
	bool stream;  /* ask for the reply piece by piece */
} rt_request_settings;

/* A header of a request: name and value without line end. */
typedef void (*rt_header_fn)(void *ctx, rt_str name, rt_str value);
/* A model that a server has: its name, and the size of its context in tokens or 0. */
typedef void (*rt_model_fn)(void *ctx, rt_str name, size_t context_tokens);

struct rt_provider {
	const char *name;    /* "openai" */
	const char *title;   /* for people: "OpenAI and compatible servers" */
	const char *url;     /* where it is when nothing else is said; NULL: needs no network */
	const char *key_env; /* the variable that people have the key in; NULL: needs none */
	bool key_needed;     /* at the default url */
	bool no_images;      /* it takes none at all */
	bool no_image_urls;  /* it takes none by address */
	bool takes_turns;    /* user first, then in turns: neighbours are merged */
	rt_framing framing;

	/* --- writing a request (request.h) --- */
	const struct rt_provider_writer *writer;

	/* --- where it goes --- */
	/* The path behind the base url: "/chat/completions". model: without quotes. */
	rt_status (*path)(rt_str model, bool stream, rt_buf *out, rt_error *err);
	/* Headers beyond content-type. key empty: none. */
	void (*headers)(rt_str key, rt_header_fn fn, void *ctx);

	/* --- reading an answer --- */
	/* One piece of a stream: the event's name (SSE; else empty) and its data. What is not
	 * understood is passed over; RT_UPSTREAM: data that no such server sends, with words
	 * for people in err. An error that the server tells in the middle is RT_OK and in the
	 * reply. A stream is whole when reply->ended, or when its bytes end after a stop was
	 * told; else it was cut. What comes after a stop may still be counts. */
	rt_status (*read_event)(rt_reply *reply, rt_str event, rt_str data, rt_error *err);
	/* The body of an answer that came as a whole. */
	rt_status (*read_whole)(rt_reply *reply, rt_str body, rt_error *err);
	/* What the server says is wrong, in its words, from the body of an answer that is not
	 * 2xx. Appends nothing when it does not say. */
	void (*read_error)(rt_str body, const rt_alloc *alloc, rt_buf *out);

	/* --- which models there are --- */
	const char *models_path; /* GET; NULL: cannot be asked */
	rt_status (*read_models)(rt_str body, const rt_alloc *alloc, rt_model_fn fn, void *ctx,
				 rt_error *err);
};

/* What the provider calls a model: without the provider's own name in front, as people
 * write it ("openai/gpt-4o"). Borrows from model. */
rt_str rt_provider_model(const rt_provider *provider, rt_str model);

#endif
