/* SPDX-License-Identifier: MIT
 *
 * Shared by server_model.c (opening, requests, retries) and server_answer.c (reading one answer,
 * the message of a failure). */
#ifndef RT_LLM_SERVER_IMPL_H
#define RT_LLM_SERVER_IMPL_H

#include "base/scope.h"
#include "llm/framing.h"
#include "llm/server_model.h"

typedef struct server_model {
	rt_model base;
	rt_server_model_options o;
	rt_scope scope; /* has the memory of all strings and arrays here */
	rt_str origin;  /* for messages: "https://host" */
	rt_header *headers;
	size_t header_count;
	rt_str *secrets; /* that no error may contain */
	size_t secret_count;
} server_model;

/* The form of an answer; known when its first byte arrives. */
typedef enum answer_mode {
	ANSWER_UNKNOWN,
	ANSWER_STREAM, /* piece by piece */
	ANSWER_WHOLE,  /* kept, and read at its end */
	ANSWER_ERROR   /* its status is not 2xx: the beginning is kept */
} answer_mode;

/* One request and its answer. */
typedef struct exchange {
	const server_model *m;
	const rt_ask *ask;
	rt_reply *reply;     /* NULL: the answer is only kept */
	answer_mode mode;
	rt_frames frames;    /* in ANSWER_STREAM */
	rt_buf body;
	rt_buf clean_model;  /* the model's name in reply when it was last masked */
	rt_http_answer answer;
	rt_error err;        /* the failure of a callback; status RT_OK: none */
	bool user_stopped;
	int64_t ended_us;    /* when the reply ended; 0: not yet */
} exchange;

void rt_exchange_init(exchange *x, const server_model *m, const rt_ask *ask, rt_reply *reply);
void rt_exchange_deinit(exchange *x);
/* An rt_http_fn and an rt_stop_fn; their context is an exchange. */
rt_status rt_exchange_on_bytes(void *ctx, const rt_http_answer *answer, rt_str bytes);
bool rt_exchange_stop(void *ctx);
/* The transport has ended with st and err: read the rest of the answer. Returns the result of
 * the exchange, with a message without keys. */
rt_status rt_exchange_end(exchange *x, rt_status st, rt_error *err);
/* May the request be sent again? */
bool rt_exchange_may_retry(const exchange *x, rt_status st);

#endif
