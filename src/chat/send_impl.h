/* SPDX-License-Identifier: MIT
 *
 * The state of rt_engine_send, shared by its stages: send_question.c appends the question and finds
 * the answered entry; send.c builds the request, receives the reply and stores it. */
#ifndef RT_CHAT_SEND_IMPL_H
#define RT_CHAT_SEND_IMPL_H

#include "chat/inflight.h"
#include "chat/prompt_update.h"
#include "chat/send.h"

typedef struct rt_sending {
	rt_scope scope;
	rt_engine *engine;
	const rt_send_options *options;
	rt_send_result *out;
	rt_apply_context apply;  /* of the question and the reply */
	const rt_project *value; /* that the request is built from; or NULL */
	rt_place place;
	uint32_t anchor;  /* the entry that is answered; 0: none */
	uint32_t into;    /* CONTINUE: the reply that is continued, which is the anchor too */
	bool is_mid_take;   /* the reply gets a new take */
	bool answers_reply; /* the anchor is a model's reply */
	rt_attachments files;
	const rt_project *files_of; /* the value for which they were read; or NULL */
	rt_str files_message;       /* the message whose symbols are among them */
	yyjson_val *blocks;         /* of the question; or NULL */
	size_t budget_tokens; /* of the request */
	size_t newest;    /* entries that are sent besides summaries */
	rt_inflight inflight;
	rt_buf *model;    /* "openai/gpt-4o" */
	rt_buf *notes;
	rt_reply reply;
	rt_prompt_updates updates;
	rt_prompt_stream stream; /* of a JSON reply */
	int64_t looked_us;
	bool gone;        /* the anchor, or its discussion, was deleted */
} rt_sending;

/* A line for the user after the reply: the words, then the reason. */
void rt_send_note(rt_sending *s, const char *words, rt_str why);
/* The take of the exchange, as rt_resolve_place accepts it; empty: the active one. */
rt_str rt_send_take_address(const rt_sending *s);
/* RT_REFUSED in the scope if the provider does not accept something in the question. Nothing is
 * changed yet. */
void rt_send_check_question(rt_sending *s);
/* The same for the answered entry, if it is a question that was added before. */
void rt_send_check_asked(rt_sending *s);
/* Append the question, or wait until another member of the group has; sets value, which the caller
 * releases, and the answered entry: place, anchor, into, is_mid_take, answers_reply. */
void rt_send_ask(rt_sending *s);

#endif
