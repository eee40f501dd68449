/* SPDX-License-Identifier: MIT
 *
 * Sending: a question is appended to the conversation, the context is sent to a model, and its
 * reply is kept as one step.
 *
 *   ask        hooks may change or refuse the question; it is appended (after notices of edits
 *              that the model does not know of) as a step of its own
 *   compact    with the setting compact_auto, when the context would not fit into the budget
 *              less what is reserved for the reply: the oldest entries are summed up first, as
 *              a step of its own right before the entry that is answered
 *   build      the request, from the value as it is now (context.c)
 *   receive    what has arrived is kept outside the log, in a side row that is rewritten at
 *              most every 250 ms: the reply in flight
 *   keep       entry.reply and the end of the side row, in one transaction: one step
 *
 * A reply follows the entry that it answers whatever others do meanwhile. If that entry is taken
 * out (by an undo, say) the stream is ended, and what had arrived stays in its side row: it is
 * stranded. Once the entry is back the reply is kept after it; otherwise rt_engine_rescue puts it
 * into a new take. When the process dies, the side row stays too; the next program that opens
 * the project keeps what is in it, marked as partial (rt_engine_keep_left).
 *
 * Threads: call from any thread; several replies may be in flight in one engine. */
#ifndef RT_CHAT_SEND_H
#define RT_CHAT_SEND_H

#include "chat/context.h"
#include "log/engine.h"
#include "log/fsck.h"
#include "ops/hook.h"
#include "chat/model.h"

typedef enum rt_send_how {
	RT_SEND_ASK,     /* answer a question, or the entry that is last */
	RT_SEND_AGAIN,   /* another reply beside an existing one, in a new take; a question that
	                    ends its take is answered there */
	RT_SEND_CONTINUE /* more of a reply that ended too early */
} rt_send_how;

/* Writes one line (a JSON object without line end) to the record of requests. */
typedef void (*rt_comms_fn)(void *ctx, rt_str line);

/* What every request to a model is made with. */
typedef struct rt_send_with {
	rt_model *model;
	rt_hooks *hooks;      /* or NULL */
	rt_str by;            /* origin, for the history and hooks; empty: the engine's */
	size_t budget_tokens; /* the model's context window: what does not fit is left out, oldest
	                       * first; 0: everything is sent */
	rt_token_fn count;    /* for the budget, as rt_context_options has it; or NULL */
	void *count_ctx;
	rt_str owner;         /* identifies this process, see rt_owner_lives_fn */
	rt_str store;         /* where the store is, for the record; empty: its own name */
	rt_reply_fn fn;       /* called with what arrives, by rt_reply itself; or NULL */
	rt_stop_fn stop;      /* or NULL */
	/* A second stop: ends the hooks that run after what was stopped. NULL: only their own
	 * limit does. */
	rt_stop_fn insists;
	rt_notice_fn notice;  /* or NULL */
	rt_comms_fn comms;    /* or NULL */
	void *ctx;            /* of these five */
} rt_send_with;

typedef struct rt_send_options {
	rt_send_how how;
	rt_send_with with;
	rt_str discussion, take; /* addresses; empty: the active ones */
	/* ASK: go on from this entry (empty: from the head). AGAIN, CONTINUE: that reply, or
	 * what it answers; empty: the last reply before the head. */
	rt_str at;
	rt_str text;       /* ASK: the question; ptr NULL: none, the path ends with one */
	rt_str content;    /* of the question, as a JSON array of blocks, instead of text; or empty */
	rt_str role;       /* of the question; empty: "User" */
	rt_str reply_role; /* empty: "AI" */
} rt_send_options;

/* A compaction that was made before the request. */
typedef struct rt_send_compaction {
	char entry[132];     /* id of the compaction; empty: there was none */
	uint64_t seq;        /* of its step, which can be reverted by itself */
	size_t entries;      /* that it stands for */
	size_t tokens_before, tokens_after; /* of the context, by estimate */
} rt_send_compaction;

/* What became of a reply that was not kept as an entry. */
typedef enum rt_send_fate {
	RT_SEND_NOTHING, /* nothing had arrived, or it was kept */
	RT_SEND_IN_ROW,  /* it is in its side row, and kept when the project is opened after this
	                  * process has ended */
	RT_SEND_ASIDE,   /* stranded: the entry that it answers is gone */
	RT_SEND_TAKEN    /* another process took this one for dead, and the row with it */
} rt_send_fate;

typedef struct rt_send_result {
	char question[132];  /* id of the entry that was asked; empty: none was added */
	uint64_t question_seq;
	char entry[132];     /* id of the reply; empty: nothing was kept */
	char take[260];      /* the take it is in, where that is another than was asked for */
	uint32_t asked_take; /* number of the take that what is answered stands in; 0: none */
	uint64_t seq;        /* of the step */
	bool partial;        /* kept, and not all that it was to be */
	rt_send_fate fate;
	rt_stop stop;
	rt_usage usage;
	size_t left_out;     /* entries that did not fit into the budget */
	size_t tokens;       /* that were sent, about */
	rt_send_compaction compaction;
	const rt_text *note;       /* of hooks and others, for people; or NULL */
} rt_send_result;

void rt_send_result_deinit(rt_send_result *result);

/* RT_OK: a reply was kept. Otherwise err says why not, or why it is partial (out->entry
 * then names it): as rt_model_ops.ask; RT_DENIED, a hook said no; RT_NOT_FOUND;
 * RT_REFUSED, there is nothing to answer, or the provider takes no such image; RT_CONFLICT, what it answers was taken out: what
 * had arrived is stranded, or another process took it for left behind and kept it.
 * A compaction that fails, or that a hook refuses, has changed nothing: the note says why,
 * and the request is sent with the oldest entries left out. One that the person stops stops
 * the sending: RT_INTERRUPTED.
 * out is filled in whatever the status; deinit it. */
RT_CHECKED rt_status rt_engine_send(rt_engine *engine, const rt_send_options *options,
				    rt_send_result *out, rt_error *err);

/* A request that was sent before, as it was recorded and built again (last_request.h). */
typedef struct rt_resend_options {
	rt_send_with with;       /* the model is one of the provider that it was built for */
	rt_str discussion, take; /* that it is of; where they are gone hooks are told the active ones */
	rt_str body;
	rt_str of;               /* the name of the request then, for the record */
} rt_resend_options;

/* Send it once more, with hooks around it as around every request (their reason is
 * "replay") and two lines in the record. What arrives is told to with.fn and kept nowhere.
 * *out_note: of hooks, for people, or NULL; unref it. As rt_model_ops.ask; RT_DENIED. */
RT_CHECKED rt_status rt_engine_resend(rt_engine *engine, const rt_resend_options *options,
				      const rt_text **out_note, rt_error *err);

/* Is the process that calls itself so still there? written_us: when it wrote last. */
typedef bool (*rt_owner_lives_fn)(void *ctx, rt_str owner, int64_t written_us);

/* Keep what processes that are gone have left of their replies, as partial ones; what has
 * no text is given up, what has lost its place stays. *out_kept (may be NULL) counts them.
 * Cheap when there is nothing. Read-only: does nothing. */
RT_CHECKED rt_status rt_engine_keep_left(rt_engine *engine, rt_owner_lives_fn lives, void *ctx,
					 size_t *out_kept, rt_error *err);

/* A reply that rt_engine_rescue kept. */
typedef struct rt_rescued {
	rt_str discussion; /* its id, as the reply knew it; empty: the one in view */
	rt_str take, entry;
	size_t size;       /* bytes of its text */
} rt_rescued;
typedef void (*rt_rescued_fn)(void *ctx, const rt_rescued *reply);

/* What rt_engine_keep_left cannot keep: each of these replies, of processes that are gone,
 * becomes an entry in a new take of its own, which becomes the active one of its discussion.
 * A row that is no reply any more becomes one whose text is the row. Each is a step. */
RT_CHECKED rt_status rt_engine_rescue(rt_engine *engine, rt_owner_lives_fn lives, void *lives_ctx,
				      rt_rescued_fn fn, void *ctx, rt_error *err);

/* The reply that RT_SEND_CONTINUE goes on with, by its number, as things stand in this value.
 * RT_REFUSED, RT_NOT_FOUND: there is none, and out stays as it was. Looks, and changes nothing;
 * what it is in another value may be another one. */
RT_CHECKED rt_status rt_send_continued(const rt_project *value, rt_str discussion, rt_str take,
				       rt_str at, uint32_t *out, rt_error *err);

/* A reply in flight, of any process. Views live until the function returns. */
typedef struct rt_inflight_view {
	rt_str name;           /* of its side row */
	rt_str owner;
	int64_t started_us, written_us;
	rt_str discussion, take; /* ids */
	rt_str after;          /* what it answers; empty: continues `into` */
	rt_str into;
	rt_str model;
	rt_str text;           /* what is said so far */
	bool is_stranded;      /* what it answers, or continues, is in its take no more */
	bool is_broken;        /* a row that is none: only its name is known */
} rt_inflight_view;
typedef bool (*rt_inflight_fn)(void *ctx, const rt_inflight_view *inflight);

/* The replies in flight. false from fn ends it early. */
RT_CHECKED rt_status rt_engine_inflight(rt_engine *engine, rt_inflight_fn fn, void *ctx,
					rt_error *err);

/* What fsck (log/fsck.h) does not look at:
 *
 *   reply-stranded     note     what a reply in flight answers is gone; its text is kept aside
 *   reply-unreadable   warning  a reply's side row cannot be decoded */
RT_CHECKED rt_status rt_engine_fsck_replies(rt_engine *engine, rt_fsck_fn fn, void *ctx,
					    rt_error *err);

#endif
