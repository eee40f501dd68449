/* SPDX-License-Identifier: MIT
 *
 * The inside of sending, shared by send.c, send_hooks.c and summary.c. */
#ifndef RT_ENGINE_SEND_IMPL_H
#define RT_ENGINE_SEND_IMPL_H

#include "engine/flight.h"
#include "engine/hooked.h"
#include "engine/send.h"

typedef struct rt_sending {
	rt_engine *engine;
	const rt_send_options *options;
	rt_send_result *out;
	rt_act_with act;  /* hooks around what is kept */
	const rt_project *value; /* that the request is built from; or NULL */
	rt_place place;
	uint32_t anchor;  /* the last entry of the path; 0: none */
	uint32_t into;    /* CONTINUE */
	bool fork;
	size_t budget_tokens; /* of the request: what fits into it is sent */
	size_t newest;    /* entries that are sent beside summaries */
	rt_flight flight;
	rt_buf model;     /* "openai/gpt-4o" */
	rt_buf notes;
	rt_reply reply;
	int64_t looked_us;
	bool gone;        /* what is answered was taken out */
	rt_error row_error; /* of the side row */
} rt_sending;

/* Does nobody want the reply any more? For rt_stop_fn; so is the next. */
bool rt_sending_stopped(void *sending);
void rt_sending_notice(void *sending, const char *words);

/* request.before: hooks may refuse the request, or put another body in its place. */
RT_CHECKED rt_status rt_sending_ask(rt_sending *s, rt_buf *body, rt_error *err);
/* request.after, and reply.after where there is one. st: how it ended. */
void rt_sending_tell(rt_sending *s, rt_status st);

/* A line of the record of requests (M8), with these members. what: "request" or "reply";
 * request: its name, which both lines have. Nothing where nobody keeps the record. */
void rt_send_record(rt_engine *engine, const rt_send_with *with, const char *what, rt_str request,
		    rt_str members);
/* ,"input_tokens":N,"output_tokens":N of those that are known. */
void rt_send_add_usage(const rt_usage *usage, rt_buf *members);

#endif
