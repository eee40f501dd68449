/* SPDX-License-Identifier: MIT
 *
 * Model: the source of replies, opened by a program and passed to the engine, which does not know
 * the server, the key or the transport.
 *
 * Threads: one request at a time for each rt_model. */
#ifndef RT_CHAT_MODEL_H
#define RT_CHAT_MODEL_H

#include "base/env.h"
#include "chat/provider.h"

/* Progress, for display: "waiting for …", "server error 500, retry 1 of 4 in 2 s". */
typedef struct rt_notice {
	const char *words;
	unsigned retry, retries; /* the next attempt after a failure, of this many; 0: none */
} rt_notice;
typedef void (*rt_notice_fn)(void *ctx, const rt_notice *notice);

typedef struct rt_ask {
	rt_str body;         /* the request, in the provider's form */
	bool stream;
	rt_stop_fn stop;     /* or NULL */
	rt_notice_fn notice; /* or NULL */
	/* Called at least every 100 ms while bytes arrive; may be NULL. */
	void (*tick)(void *ctx);
	void *ctx;
	rt_str trace;        /* for the header traceparent (W3C Trace Context); or empty */
} rt_ask;

typedef struct rt_model rt_model;

typedef struct rt_model_ops {
	void (*close)(rt_model *model);
	/* Sends, and reads the answer into reply until it ends; then the caller finishes the reply.
	 * After a failure, reply has what arrived before it.
	 *   RT_OK           it ended; reply->stop says how
	 *   RT_INTERRUPTED  by stop (reply->stop: RT_STOP_USER)
	 *   RT_CREDENTIALS  401, 403, or there is no key
	 *   RT_UPSTREAM     it cannot be reached, refused, sent something invalid, or the connection
	 *                   was cut (reply->stop: RT_STOP_CUT)
	 * err has the provider's message and never a key. */
	rt_status (*ask)(rt_model *model, const rt_ask *ask, rt_reply *reply, rt_error *err);
} rt_model_ops;

struct rt_model {
	const rt_model_ops *ops;
	const rt_provider *provider;
	/* The kind's memory: */
	rt_str name;    /* of the model, in the provider's form */
	rt_str service; /* the provider's name in the configuration, which may have several of one
	                 * kind. Empty: the kind's name */
	rt_str server;  /* "https://host"; empty: none */
	/* further members belong to the implementation */
};

/* The displayed name of the service, before the model's name. */
static inline rt_str
rt_model_service(const rt_model *model)
{
	return model->service.size > 0 ? model->service : rt_str_of(model->provider->name);
}

#endif
