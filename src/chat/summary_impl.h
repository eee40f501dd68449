/* SPDX-License-Identifier: MIT
 *
 * The inside of summaries, shared by summary.c, compact.c and navigate.c. */
#ifndef RT_CHAT_SUMMARY_IMPL_H
#define RT_CHAT_SUMMARY_IMPL_H

#include "ops/action.h"
#include "chat/context_impl.h"
#include "ops/hook_call.h"
#include "chat/summary.h"

/* A summary being made. */
typedef struct rt_summing {
	rt_engine *engine;
	const rt_send_with *with;
	rt_summary_result *out;
	rt_str discussion, take_name; /* addresses, as they were given */
	const rt_project *value;
	rt_place place;
	const rt_disc *disc;
	const rt_take *take;
	size_t count;    /* entries before the head */
	rt_slot *slots;  /* of these */
	rt_buf text;     /* the conversation as the model reads it */
	rt_buf summary;  /* what it, or a hook, wrote */
	rt_buf details;  /* JSON that a hook gave with it; empty: none */
	rt_buf notes;
	/* What must stand as it stood when it was read, or the summary is none of it. */
	struct {
		size_t from, count; /* positions; 0 of them: nothing */
		bool floats;        /* they may stand elsewhere in the take, in one run */
		bool to_end;        /* and nothing behind them */
		uint32_t next;      /* the entry behind them; 0: any, or none */
		const char *nothing; /* "nothing was replaced" */
	} needs;
} rt_summing;

/* The context as it is, entry by entry. */
typedef struct rt_summing_parts {
	const rt_alloc *alloc;
	rt_context_part *items; /* free them */
	size_t count, room;
	bool nomem;
} rt_summing_parts;

/* The value, the place and the path up to the head. Pair with rt_summing_end. */
RT_CHECKED rt_status rt_summing_begin(rt_summing *s, rt_engine *engine, const rt_send_with *with,
				      rt_str discussion, rt_str take, rt_summary_result *out,
				      rt_error *err);
void rt_summing_end(rt_summing *s);
/* The path with so many entries of its take, instead of those up to the head. */
RT_CHECKED rt_status rt_summing_reach(rt_summing *s, size_t count, rt_error *err);
/* What is sent up to an entry (0: the head), and out->tokens_before: what that comes to. */
RT_CHECKED rt_status rt_summing_read_parts(rt_summing *s, const rt_provider *provider,
					   uint32_t upto, rt_summing_parts *p, rt_error *err);
/* Bytes that were appended to a buffer fit into memory? */
RT_CHECKED rt_status rt_summing_nomem(rt_error *err);

/* The position's entry, in the words that the model reads: "[User]: …". What is not sent
 * otherwise (hidden states, muted entries) is passed over. */
RT_CHECKED rt_status rt_summing_add_entry(rt_summing *s, rt_str take_text, const rt_slot *slot,
					  rt_error *err);
/* Ask hooks: event with these members; a summary of theirs lands in s->summary. */
RT_CHECKED rt_status rt_summing_ask_hooks(rt_summing *s, const char *event, rt_str members,
					  rt_error *err);
/* Tell hooks of what was done. */
void rt_summing_tell_hooks(rt_summing *s, const char *event, const rt_buf *members);
/* Ask the model for a summary of s->text. task: what to do. instructions may be empty. */
RT_CHECKED rt_status rt_summing_ask_model(rt_summing *s, rt_str task, rt_str instructions,
					  rt_error *err);
/* Carry out an array of requests as one step; out->entry, take and seq are filled in. take:
 * where those work that name none; empty: the one that is active when they come. asked: by
 * an event of their own hooks have said yes to it.
 * RT_CONFLICT: what s->needs says is not so any more, as seen by the very transaction that
 * would write; then nothing is changed. */
RT_CHECKED rt_status rt_summing_apply(rt_summing *s, rt_str take, rt_str array, bool asked,
				      rt_error *err);
/* Members of an entry's object for hooks: "id","role","kind","content". */
RT_CHECKED rt_status rt_summing_add_object(rt_summing *s, const rt_slot *slot, rt_buf *out,
					   rt_error *err);

#endif
