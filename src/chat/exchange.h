/* SPDX-License-Identifier: MIT
 *
 * Exchange: one request to a model and its answer, with the hooks around it and its two lines
 * in the record of requests. Replies (send.c), summaries (summary.c) and requests that are sent
 * again (resend.c) are made of it. */
#ifndef RT_CHAT_EXCHANGE_H
#define RT_CHAT_EXCHANGE_H

#include "chat/send.h"
#include "ops/hook_call.h"

typedef struct rt_exchange {
	rt_engine *engine;
	const rt_send_with *with;
	rt_str discussion, take; /* addresses, for hooks; empty: the active ones */
	const char *reason;      /* "reply", "summary" or "replay" */
	rt_ask ask;              /* its stop and ctx also end hooks before the request */
	rt_buf *notes;           /* of hooks, for people; a line each */
} rt_exchange;

/* The exchange for with; the caller may change ask. */
rt_exchange rt_exchange_of(rt_engine *engine, const rt_send_with *with, const char *reason,
			   rt_str discussion, rt_str take, rt_buf *notes);

/* request.before: hooks may refuse the request (RT_DENIED) or replace its body. */
RT_CHECKED rt_status rt_exchange_before(const rt_exchange *x, rt_buf *body, rt_error *err);
/* request.after; st: how the exchange ended. */
void rt_exchange_after(const rt_exchange *x, const rt_usage *usage, rt_status st);
/* Another event after the exchange, with these members; refusal: what people are told of a
 * hook that refuses it. subject (further words for matchers) is added to. */
void rt_exchange_notify(const rt_exchange *x, const char *event, const rt_buf *members,
			rt_buf *subject, const char *refusal);
/* provider=… service=… model=… reason=…, for matchers. */
void rt_exchange_put_subject(const rt_exchange *x, rt_buf *subject);
/* What stops hooks after the exchange, with the ctx of with. A stop that ended the reply does
 * not end these hooks too; only one more does. */
rt_stop_fn rt_send_late_stop(const rt_send_with *with);

/* ---- the record of requests ---- */

/* What rt_last_request_build needs besides the place and the model. */
typedef struct rt_request_window {
	rt_str upto; /* id of the last entry */
	size_t left_out, newest, budget_tokens;
} rt_request_window;

/* What the record says of a request. Texts are not in it: building the request again from the
 * value gives the same bytes, so a purge reaches them. */
typedef struct rt_request_record {
	const char *name;        /* of the request; both lines have it */
	const rt_project *value; /* that it was built from; or NULL */
	rt_str discussion, take; /* ids */
	rt_str of;               /* name of the request that is sent again; ptr NULL: none */
	const rt_request_window *window; /* NULL: it is not built again */
	rt_str body;
} rt_request_record;

/* Its members, from "project" on. */
void rt_request_record_put(rt_buf *out, const rt_exchange *x, const rt_request_record *r);
/* The line of the request. Nothing where there is no record; so is the next. */
void rt_exchange_record_request(const rt_exchange *x, const rt_request_record *r);
/* The line of its answer. kept: what became of a reply; NULL: it is no entry. */
void rt_exchange_record_answer(const rt_exchange *x, const char *name, const rt_send_result *kept,
			       const rt_reply *reply, rt_status st, const rt_error *err);

/* ---- all of it ---- */

/* Says whether a finished reply is one that can be used. */
typedef rt_status (*rt_exchange_judge_fn)(const rt_reply *reply, rt_error *err);

/* Hooks, record, request, answer, record, hooks, for an answer that is no entry. body: what
 * is sent; hooks may change it. r: name and body are filled in. reply: initialised. */
RT_CHECKED rt_status rt_exchange_run(rt_exchange *x, rt_request_record *r, rt_buf *body,
				     rt_exchange_judge_fn judge, rt_reply *reply, rt_error *err);

#endif
