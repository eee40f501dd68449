/* SPDX-License-Identifier: MIT
 *
 * Exchange: one request to a model and its answer, with its hooks and its two lines in the record
 * of requests. Used for replies (send.c), summaries (summary.c) and resent requests (resend.c). */
#ifndef RT_CHAT_EXCHANGE_H
#define RT_CHAT_EXCHANGE_H

#include "chat/send.h"
#include "ops/hook_call.h"

typedef struct rt_exchange {
	rt_engine *engine;
	const rt_send_with *with;
	rt_str discussion, take; /* addresses, for hooks; empty: the active ones */
	const char *reason;      /* "reply", "summary" or "replay" */
	rt_ask ask;              /* its stop and ctx are for hooks before the request, too */
	rt_buf *notes;           /* notes of hooks for the user; a line each */
} rt_exchange;

/* The exchange for with; the caller may change ask. */
rt_exchange rt_exchange_of(rt_engine *engine, const rt_send_with *with, const char *reason,
			   rt_str discussion, rt_str take, rt_buf *notes);

/* request.before: hooks may refuse the request (RT_DENIED) or replace its body. */
RT_CHECKED rt_status rt_exchange_before(const rt_exchange *x, rt_buf *body, rt_error *err);
/* request.after; st: how the exchange ended. */
void rt_exchange_after(const rt_exchange *x, const rt_usage *usage, rt_status st);
/* Fires another event after the exchange. refusal: the notice where a hook refuses it. subject:
 * further words for matchers. */
void rt_exchange_notify(const rt_exchange *x, const char *event, const rt_buf *members,
			rt_buf *subject, const char *refusal);
/* provider=… service=… model=… reason=…, for matchers. */
void rt_exchange_put_subject(const rt_exchange *x, rt_buf *subject);
/* Stops hooks after the exchange, with the ctx of `with`. A stop that ended the reply does not end
 * these hooks; only a second one does. */
rt_stop_fn rt_send_late_stop(const rt_send_with *with);

/* ---- the log of requests ---- */

/* Data that rt_last_request_build needs in addition to the place and the model. */
typedef struct rt_request_window {
	rt_str upto; /* id of the last entry */
	size_t left_out, newest, budget_tokens;
	const rt_attachments *files;
} rt_request_window;

/* A request in the record. Texts are not in it: the request is rebuilt from the value, with the
 * same bytes, so a purge reaches them. Files are named by the hashes of their contents. */
typedef struct rt_request_record {
	const char *name;        /* of the request; in both lines */
	const rt_project *value; /* that it was built from; or NULL */
	rt_str discussion, take; /* ids */
	rt_str of;               /* name of the request that is resent; ptr NULL: none */
	const rt_request_window *window; /* NULL: it cannot be rebuilt */
	rt_str body;
} rt_request_record;

/* Writes the members of the record, from "project" on. */
void rt_request_record_put(rt_buf *out, const rt_exchange *x, const rt_request_record *r);
/* Writes the line of the request. These two do nothing without a record. */
void rt_exchange_record_request(const rt_exchange *x, const rt_request_record *r);
/* Writes the line of its answer. kept: the result for a reply; NULL: it is not an entry. */
void rt_exchange_record_answer(const rt_exchange *x, const char *name, const rt_send_result *kept,
			       const rt_reply *reply, rt_status st, const rt_error *err);

/* ---- all of it ---- */

/* RT_OK: the finished reply can be used. */
typedef rt_status (*rt_exchange_judge_fn)(const rt_reply *reply, rt_error *err);

/* Hooks, record, request, answer, record, hooks, for an answer that is not an entry. body: the
 * request; hooks may change it. r: name and body are set here. reply: initialised. */
RT_CHECKED rt_status rt_exchange_run(rt_exchange *x, rt_request_record *r, rt_buf *body,
				     rt_exchange_judge_fn judge, rt_reply *reply, rt_error *err);

#endif
