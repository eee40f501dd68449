/* SPDX-License-Identifier: MIT
 *
 * Shared by compact.c, navigate.c and compress (summary.c): a summary in progress. Functions
 * fail s->scope and do nothing once it has failed. */
#ifndef RT_CHAT_SUMMARY_IMPL_H
#define RT_CHAT_SUMMARY_IMPL_H

#include "chat/context_impl.h"
#include "chat/summary.h"
#include "ops/action.h"
#include "ops/hook_call.h"
#include "view/view_rows.h"

typedef struct rt_summing {
	rt_scope scope;
	rt_scope *entry; /* memory of the current entry */
	rt_engine *engine;
	const rt_send_with *with;
	rt_summary_result *out;
	rt_str discussion, take_name; /* addresses, as given */
	const rt_project *value;
	rt_place place;
	const rt_disc *disc;
	const rt_take *take;
	size_t count;    /* entries before the head */
	rt_slot *slots;  /* of these */
	rt_buf *text;    /* the conversation as the model reads it */
	rt_buf *summary; /* written by the model or a hook */
	rt_buf *details; /* JSON that a hook added; empty: none */
	rt_buf *hook;    /* the name of that hook */
	rt_buf *notes;
	/* The condition that must still be true when the summary is written; otherwise it would
	 * summarise other entries. */
	struct {
		size_t from, count; /* positions; 0 of them: nothing */
		bool floats;        /* they may have moved within the take, in one run */
		bool to_end;        /* and nothing follows them */
		uint32_t next;      /* the entry after them; 0: any, or none */
		const char *nothing; /* "nothing was replaced" */
	} needs;
} rt_summing;

/* The current context, entry by entry. */
typedef struct rt_summing_parts {
	rt_scope *scope;
	rt_context_part *items;
	size_t count, capacity;
} rt_summing_parts;

/* The value, the place and the path up to the head. Always pair with rt_summing_end. */
void rt_summing_begin(rt_summing *s, rt_engine *engine, const rt_send_with *with, rt_str discussion,
		      rt_str take, rt_summary_result *out);
RT_CHECKED rt_status rt_summing_end(rt_summing *s, rt_error *err);
/* The path with the first `count` entries of its take instead of those up to the head. */
void rt_summing_reach(rt_summing *s, size_t count);
/* Fails unless there is a model. */
void rt_summing_need_model(rt_summing *s);
/* The context up to an entry (0: the head); sets out->tokens_before to its tokens. */
rt_summing_parts rt_summing_read_parts(rt_summing *s, const rt_provider *provider, uint32_t upto);
/* Adds the parts first .. end-1 to the text; objects (may be NULL): and there, for hooks.
 * Returns their tokens. */
size_t rt_summing_add_parts(rt_summing *s, const rt_summing_parts *p, size_t first, size_t end,
			    rt_buf *objects);
/* The body of an entry, until the next call; NULL: the scope has failed. */
const rt_body *rt_summing_read_body(rt_summing *s, const rt_slot *slot);
/* Adds an entry to the text: "[User]: …", or with mark instead of the role. Entries that are
 * not sent (hidden states, muted ones) are left out. */
void rt_summing_add_entry(rt_summing *s, rt_str mark, const rt_slot *slot);
/* Adds an entry's object for hooks: "id","role","kind","content". */
void rt_summing_add_object(rt_summing *s, const rt_slot *slot, rt_buf *out);
/* Fires an event before something happens; a summary of a hook goes to s->summary. */
void rt_summing_ask_hooks(rt_summing *s, const char *event, const rt_buf *members);
/* The event after it. */
void rt_summing_tell_hooks(rt_summing *s, const char *event, const rt_buf *members);
/* key:{…} of an entry with a summary, with pi's names. value: where it is at this position of
 * a take. */
void rt_summing_put_summary(rt_scope *scope, rt_engine *engine, const rt_project *value,
			    const rt_take *take, size_t at, rt_buf *out, const char *key);
/* The entry that was made, as key, and "fromHook": for the event after it. */
void rt_summing_put_made(const rt_summing *s, rt_scope *scope, rt_buf *out, const char *key);
/* "model": "PROVIDER/NAME", or null. */
void rt_summing_put_model(rt_summing *s, rt_buf *out);
/* Asks the model for a summary of s->text. task: what to do. instructions may be empty. */
void rt_summing_ask_model(rt_summing *s, rt_str task, rt_str instructions);
/* Opens the further members of the entry with the summary. */
rt_buf *rt_summing_open_fields(rt_summing *s);
/* Closes them; returns them as an object, with "details", its author, and the instructions
 * (may be empty). */
yyjson_val *rt_summing_close_fields(rt_summing *s, rt_buf *fields, rt_str instructions);
/* Executes requests (at most 4) as one step; fills in out->entry, take and seq. take: the
 * default; 0: the active one. asked: hooks have been called by a separate event. RT_CONFLICT:
 * s->needs no longer holds within the writing transaction; nothing was changed. */
void rt_summing_apply(rt_summing *s, uint32_t take, const rt_request *requests, size_t count,
		      bool asked);

#endif
