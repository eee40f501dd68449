/* SPDX-License-Identifier: MIT
 *
 * What server_model.c (opening, trying, trying again) and server_answer.c (reading one
 * answer, and what is said of one that failed) share. */
#ifndef RT_LLM_SERVER_IMPL_H
#define RT_LLM_SERVER_IMPL_H

#include "llm/framing.h"
#include "llm/server_model.h"

typedef struct server_model {
	rt_model base;
	rt_server_model_options o; /* its strings lie in the arena */
	rt_arena *arena;
	rt_str origin;  /* for people: "https://host" */
	rt_header *headers;
	size_t header_count;
	rt_str *secrets; /* what no error may hold */
	size_t secret_count;
} server_model;

/* How the answer is read; known when its first byte is there. */
typedef enum answer_mode {
	ANSWER_UNKNOWN,
	ANSWER_STREAM, /* into the framing, piece by piece */
	ANSWER_WHOLE,  /* kept, and read at its end */
	ANSWER_ERROR   /* its status is not 2xx: kept, as far as it is of interest */
} answer_mode;

/* One request and its answer. */
typedef struct exchange {
	const server_model *m;
	const rt_ask *ask;   /* NULL: not of a conversation */
	rt_reply *reply;     /* or NULL */
	answer_mode mode;
	rt_frames frames;    /* open in ANSWER_STREAM */
	rt_buf body;
	rt_http_answer answer;
	rt_error err;        /* of what a callback failed with */
	bool failed;         /* err is filled */
	bool user_stopped;
	int64_t ended_us;    /* when the reply said that it was all; 0: it has not */
} exchange;

void rt_exchange_init(exchange *x, const server_model *m, const rt_ask *ask, rt_reply *reply);
void rt_exchange_deinit(exchange *x);
/* An rt_http_fn and an rt_stop_fn with an exchange as context. */
rt_status rt_exchange_take(void *ctx, const rt_http_answer *answer, rt_str bytes);
bool rt_exchange_stop(void *ctx);
/* The answer has ended as st and err say: read what is left of it, and say what came of
 * it. err: for people, without keys. */
rt_status rt_exchange_end(exchange *x, rt_status st, rt_error *err);
/* May the same be sent again? */
bool rt_exchange_may_retry(const exchange *x, rt_status st);

#endif
