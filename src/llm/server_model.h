/* SPDX-License-Identifier: MIT
 *
 * Server model: a model on a server. It joins a provider (the protocol) and a transport (the
 * connection), and adds keys, retries, limits, and messages without keys.
 *
 * A request is sent at most `tries` times, with pauses of up to 1, 2, 4 … seconds (random, or as
 * requested by the server, up to 60 s), after 429, 500, 502, 503, 504, 529, and after connections
 * that are refused or end before a byte of the answer. Never once a byte of a reply has arrived.
 *
 * ask() may also end with RT_LIMIT: the reply is larger than answer_max. The received part is in
 * reply, whose stop is then RT_STOP_CUT.
 *
 * Threads: as chat/model.h. */
#ifndef RT_LLM_SERVER_MODEL_H
#define RT_LLM_SERVER_MODEL_H

#include "base/env.h"
#include "llm/transport.h"

enum {
	RT_MODEL_TRIES = 5,
	RT_MODEL_BACKOFF_MS = 1000,
	RT_MODEL_RETRY_AFTER_MAX_S = 60,
	RT_MODEL_ERROR_BODY_MAX = 256 << 10, /* bytes of an error's body that are read */
	RT_MODEL_KEY_MAX = 16 << 10
};

/* Texts and headers are copied. */
typedef struct rt_server_model_options {
	const rt_alloc *alloc;       /* NULL: libc's */
	const rt_env *env;
	rt_transport *transport;     /* owned and closed by the model once it is open */
	const rt_provider *provider;
	rt_str url;                  /* base; empty: the provider's */
	rt_str model;                /* the provider's name for it */
	rt_str service;              /* as in rt_model */
	rt_str key;                  /* empty: none */
	rt_str key_hint;             /* for messages: where to set a key; empty: key_env */
	const rt_header *headers;    /* further ones; they replace the provider's */
	size_t header_count;
	bool allow_plain_http;       /* keys may go over http to another machine */
	unsigned connect_ms, first_byte_ms, idle_ms, total_ms; /* 0: the transport's */
	uint64_t answer_max;         /* 0: RT_HTTP_ANSWER_MAX */
	unsigned tries;              /* 0: RT_MODEL_TRIES; 1: never again */
	unsigned backoff_ms;         /* before the second; 0: RT_MODEL_BACKOFF_MS */
} rt_server_model_options;

/* Sends nothing. RT_USAGE: the url cannot be read. RT_CREDENTIALS: the key has characters
 * that no key has. RT_REFUSED: a key would go unencrypted to another machine. RT_NOMEM.
 * On failure the transport is still the caller's. */
RT_CHECKED rt_status rt_server_model_open(const rt_server_model_options *options, rt_model **out,
					  rt_error *err);

/* The models in the server's list, each passed to fn. RT_REFUSED: the provider has no list; else
 * as ask(). */
RT_CHECKED rt_status rt_server_models(rt_model *model, rt_stop_fn stop, void *stop_ctx,
				      rt_model_fn fn, void *fn_ctx, rt_error *err);
/* The same without retries. */
RT_CHECKED rt_status rt_server_models_once(rt_model *model, rt_stop_fn stop, void *stop_ctx,
					   rt_model_fn fn, void *fn_ctx, rt_error *err);

/* Sends a request for embeddings and appends the answer's JSON to out. RT_REFUSED: the provider has none; else as
 * ask(). out_refused (may be NULL): the server answered that the request is wrong or too large. */
RT_CHECKED rt_status rt_server_embed(rt_model *model, const rt_ask *ask, rt_buf *out, bool *out_refused,
				     rt_error *err);

#endif
