/* SPDX-License-Identifier: MIT
 *
 * A group of requests for the same question, to several models in parallel. One of them adds the
 * question; the others wait for it. Each reply is a step; all belong to one group of the log, which
 * undo reverts together (codec/record.h). The first reply that is kept continues the take, each
 * further one gets a separate new take, and the active take stays. A failure of one does not affect
 * the others: the question records it only if no member has a reply.
 *
 * Threads: locks itself; each member runs in a separate thread. */
#ifndef RT_CHAT_SEND_GROUP_H
#define RT_CHAT_SEND_GROUP_H

#include "chat/send.h"

/* The question and its place. */
typedef struct rt_send_asked {
	char question[132];   /* id of the entry that was added; empty: none was */
	uint64_t question_seq;
	char take[260];       /* as in rt_send_result */
	rt_place place;
	uint32_t anchor;      /* the entry that is answered; 0: none */
	bool is_mid_take;     /* every reply gets a new take */
	bool answers_reply;   /* the anchor is a model's reply */
} rt_send_asked;

/* For this many members. */
RT_CHECKED rt_status rt_send_group_new(const rt_alloc *alloc, size_t members,
				       rt_send_group **out, rt_error *err);
/* A member has ended; the last frees the group. NULL: nothing. */
void rt_send_group_unref(rt_send_group *group);

/* Waits until a member has added the question, which is in *out then. true: the caller adds it, and
 * then calls rt_send_group_asked. */
bool rt_send_group_wait(rt_send_group *group, rt_send_asked *out);
/* asked: the question was added; NULL: that failed, and another member tries. */
void rt_send_group_asked(rt_send_group *group, const rt_send_asked *asked);

/* Around keeping a reply: one at a time. Returns the row that begins the group, or 0. */
uint64_t rt_send_group_begin_keep(rt_send_group *group);
/* seq: the step of the reply; 0: it was not kept. */
void rt_send_group_end_keep(rt_send_group *group, uint64_t seq);

/* A member has ended. failure: the reason for a missing reply, in the form that the question records;
 * empty: it has a reply or was stopped. If the last member ends and none has a reply, the first
 * failure is appended to out. */
void rt_send_group_end(rt_send_group *group, rt_str failure, rt_buf *out);

#endif
