/* SPDX-License-Identifier: MIT
 *
 * The inside of sending, shared by send.c, send_hooks.c, send_record.c, resend.c
 * and summary.c. */
#ifndef RT_CHAT_SEND_IMPL_H
#define RT_CHAT_SEND_IMPL_H

#include "chat/inflight.h"
#include "ops/hook_call.h"
#include "chat/send.h"

typedef struct rt_sending {
	rt_engine *engine;
	const rt_send_options *options;
	rt_send_result *out;
	rt_apply_context act;  /* hooks around what is kept */
	const rt_project *value; /* that the request is built from; or NULL */
	rt_place place;
	uint32_t anchor;  /* the last entry of the path; 0: none */
	uint32_t into;    /* CONTINUE */
	bool fork;
	size_t budget_tokens; /* of the request: what fits into it is sent */
	size_t newest;    /* entries that are sent beside summaries */
	rt_inflight inflight;
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

/* ---- hooks around a request, whatever it is made for ---- */

typedef struct rt_asking {
	rt_engine *engine;
	const rt_send_with *with;
	rt_str discussion, take; /* addresses; empty: the active ones */
	const char *reason;      /* "reply", "summary" or "replay" */
	rt_stop_fn stop;         /* ends a hook that is asked; or NULL */
	void *ctx;
	rt_buf *notes;
} rt_asking;

/* request.before: hooks may refuse the request (RT_DENIED: it is not to be sent), or put
 * another body in its place. */
RT_CHECKED rt_status rt_asking_before(const rt_asking *a, rt_buf *body, rt_error *err);
/* request.after. st: how it ended. */
void rt_asking_after(const rt_asking *a, const rt_usage *usage, rt_status st);
/* What ends hooks that are told of what has happened, with the ctx of with. Once the person
 * has stopped a reply that stop has done its work: these hooks are run all the same, until
 * the person says so again. */
rt_stop_fn rt_send_late_stop(const rt_send_with *with);

/* Of a reply. */
rt_asking rt_sending_asking(rt_sending *s);
/* request.after, and reply.after where there is one. st: how it ended. */
void rt_sending_tell(rt_sending *s, rt_status st);

/* ---- the record ---- */

/* A line of the record of requests (M8), with these members. what: "request" or "reply";
 * request: its name, which both lines have. Nothing where nobody keeps the record. */
void rt_send_record(rt_engine *engine, const rt_send_with *with, const char *what, rt_str request,
		    rt_str members);
/* The line of an answer that is no entry; reason: "summary" or "replay". */
void rt_send_record_answer(rt_engine *engine, const rt_send_with *with, const char *request,
			   const char *reason, const rt_reply *reply, rt_status st,
			   const rt_error *err);
/* "store":… of such a line, appended. */
void rt_send_add_store(rt_engine *engine, const rt_send_with *with, rt_buf *members);
/* ,"input_tokens":N,"output_tokens":N of those that are known. */
void rt_send_add_usage(const rt_usage *usage, rt_buf *members);
/* "provider":…,"service":…,"model":… */
void rt_send_add_model(const rt_model *model, rt_buf *members);
/* ,"server":… where there is one. */
void rt_send_add_server(const rt_model *model, rt_buf *members);

#endif
