/* SPDX-License-Identifier: MIT
 *
 * Sending: a question is appended to the conversation, the context is sent to a model, and its
 * reply is kept as one step.
 *
 *   files      the discussion's files are read; if one cannot be sent, nothing happens
 *   ask        hooks may change or refuse the question; it is appended as a separate step, after
 *              notices of edits that the model has not seen (edit_notice.h)
 *   compact    with the setting compact_auto, when the context would not fit into the budget
 *              less the reserve for the reply: the oldest entries are summarized first, as a
 *              separate step right before the entry that is answered (compact.c)
 *   build      the request, from the current value (context.c)
 *   exchange   hooks, the log of requests, the model (exchange.h)
 *   receive    the reply (reply.h) is kept outside the log, in a side row that is rewritten at
 *              most every 250 ms: the reply in flight (inflight.h)
 *   keep       entry.reply and the deletion of the side row, in one transaction: one step
 *
 * A question that stays without a reply because the request failed keeps the reason (entry.fail), and
 * is not sent with the next question.
 *
 * A reply follows the entry that it answers, regardless of changes by others. If that entry is
 * removed (by an undo, for example) the stream is ended, and the received text stays in its side
 * row: it is stranded. Once the entry is restored the reply is kept after it; otherwise
 * rt_engine_rescue puts it into a new take. When the process dies, the side row stays, too; the
 * next program that opens the project keeps its text, marked as partial (rt_engine_keep_left).
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
	RT_SEND_ASK,     /* answer a question, or the last entry */
	RT_SEND_AGAIN,   /* another reply as a sibling of an existing one, in a new take; a question
			  * that ends its take is answered there */
	RT_SEND_CONTINUE /* continue a reply that ended too early */
} rt_send_how;

/* A line of the log of requests. */
typedef struct rt_comms_item {
	rt_str store;     /* with project: to which conversations it belongs */
	uint64_t project;
	rt_str line;      /* a JSON object, without a line end */
	rt_str body;      /* JSON, for its member "body"; the log may leave it out, or write each of
			   * its texts only once. Empty: none */
} rt_comms_item;

typedef void (*rt_comms_fn)(void *ctx, const rt_comms_item *item);

/* The price of a million tokens, in a currency of the user's choice. */
typedef struct rt_price {
	double input, output;
	double cached; /* input that the provider had cached */
} rt_price;

/* Options of every request to a model. */
typedef struct rt_send_with {
	rt_model *model;
	const rt_price *price; /* of the model; NULL: unknown. With it, replies have a field
				* "cost" */
	rt_hooks *hooks;      /* or NULL */
	rt_str by;            /* origin, for the history and hooks; empty: the engine's */
	rt_str trace;         /* as in rt_ask */
	size_t budget_tokens; /* the model's context window: what does not fit is left out, oldest
	                       * first; 0: everything is sent */
	rt_token_fn count;    /* for the budget, as in rt_context_options; or NULL */
	void *count_ctx;
	rt_attach_fn attach;  /* reads the files that a reply's request contains; NULL: none are */
	const void *attach_ctx;
	rt_str owner;         /* identifies this process, see rt_owner_lives_fn */
	rt_str run;           /* the name of the request in this process; or empty */
	rt_str store;         /* where the store is, for the log; empty: its own name */
	rt_reply_fn fn;       /* called with data that arrives; or NULL */
	rt_stop_fn stop;      /* or NULL */
	/* A second stop: ends the hooks that run after the first one. NULL: only their own limit
	 * does. */
	rt_stop_fn insists;
	rt_notice_fn notice;  /* or NULL */
	rt_comms_fn comms;    /* or NULL */
	rt_str bare_log;      /* the key of that log if its lines have no bodies, so that they need the
			       * files that were sent (log/collect.h); else empty */
	void *ctx;            /* of these five */
} rt_send_with;

/* Several models that answer one question (send_group.h). */
typedef struct rt_send_group rt_send_group;

typedef struct rt_send_options {
	rt_send_how how;
	rt_send_with with;
	rt_send_group *group;    /* ASK, AGAIN: the group of which this is a member; NULL: none */
	rt_str discussion, take; /* addresses; empty: the active ones */
	/* ASK: continue from this entry (empty: from the head). AGAIN, CONTINUE: that reply, or the
	 * entry that it answers; empty: the last reply before the head. */
	rt_str at;
	rt_str text;       /* ASK: the question; ptr NULL: none, the path ends with one */
	rt_str content;    /* of the question, as a JSON array of blocks, instead of text; or empty */
	rt_str role;       /* of the question; empty: "User" */
	bool clears_draft; /* ASK: the step of the question also clears the field draft */
	rt_str reply_role; /* empty: "AI" */
} rt_send_options;

/* A compaction that was made before the request. */
typedef struct rt_send_compaction {
	char entry[132];     /* id of the compaction; empty: there was none */
	uint64_t seq;        /* of its step, which can be reverted by itself */
	size_t entries;      /* that it replaces */
	size_t tokens_before, tokens_after; /* of the context, estimated */
} rt_send_compaction;

/* Where the text is of a reply that was not kept as an entry. */
typedef enum rt_send_fate {
	RT_SEND_NOTHING, /* nothing had arrived, or it was kept */
	RT_SEND_IN_ROW,  /* it is in its side row, and kept when the project is opened after this
	                  * process has ended */
	RT_SEND_ASIDE,   /* stranded: the entry that it answers was removed */
	RT_SEND_TAKEN    /* another process considered this one dead and took over the row */
} rt_send_fate;

typedef struct rt_send_result {
	char question[132];  /* id of the entry with the question; empty: none was added */
	uint64_t question_seq;
	char entry[132];     /* id of the reply; empty: nothing was kept */
	char take[260];      /* its take, if it is not the requested one */
	uint32_t asked_take; /* number of the take with the entry that is answered; 0: none */
	uint64_t seq;        /* of the step */
	uint64_t failure_seq; /* of the step that recorded why there is no reply; 0: none did */
	bool aside;          /* the exchange has a new take (auto_add_history) */
	bool partial;        /* kept, but incomplete */
	rt_send_fate fate;
	bool files_failed;   /* a file cannot be sent; nothing was changed */
	rt_stop stop;
	rt_usage usage;
	size_t left_out;     /* entries that did not fit into the budget */
	size_t files;        /* that were sent */
	size_t tokens;       /* that were sent, estimated */
	rt_send_compaction compaction;
	const rt_text *note;       /* notes of hooks and others, for the user; or NULL */
} rt_send_result;

void rt_send_result_deinit(rt_send_result *result);
/* Writes the members "entry","take","seq","files","partial","stop","usage":{…},
 * "left_out","tokens_estimate","compaction":{…},"fate","note", as far as they are known. */
void rt_send_result_put(rt_buf *out, const rt_send_result *result, bool with_take);

/* RT_OK: a reply was kept. Otherwise err has the reason, or the reason why it is partial
 * (out->entry is set then): as rt_model_ops.ask; RT_DENIED: a hook refused; RT_NOT_FOUND;
 * RT_REFUSED: nothing to answer, or the provider does not accept such an image, or a file cannot be
 * sent, or the files alone do not fit into the budget; RT_CONFLICT: the entry that it answers was
 * removed and the received text is stranded, or another process now owns the side row. A compaction
 * that fails, or that a hook refuses, changes nothing: the note says why, and the request is sent
 * without the oldest entries. If the user stops it, RT_INTERRUPTED. out is filled in whatever the
 * status; deinit it. */
RT_CHECKED rt_status rt_engine_send(rt_engine *engine, const rt_send_options *options,
				    rt_send_result *out, rt_error *err);

/* A request that was sent before, rebuilt from its record (last_request.h). */
typedef struct rt_resend_options {
	rt_send_with with;       /* the model belongs to the provider that it was built for */
	rt_str discussion, take; /* as hooks get them; if they no longer exist, the active ones */
	rt_str body;
	rt_str of;               /* the name of the request at that time, for the record */
} rt_resend_options;

/* Sends it again, with hooks as for every request (their reason is "replay") and two lines in the
 * record. The answer goes to with.fn only. *out_note: notes of hooks for the user, or NULL; unref
 * it. As rt_model_ops.ask; RT_DENIED. */
RT_CHECKED rt_status rt_engine_resend(rt_engine *engine, const rt_resend_options *options,
				      const rt_text **out_note, rt_error *err);

/* Is the process of this owner still alive? written_us: when it wrote last. */
typedef bool (*rt_owner_lives_fn)(void *ctx, rt_str owner, int64_t written_us);

/* Keeps replies in flight of dead processes as partial ones; those without text are deleted, those
 * that have lost their place stay. *out_kept (may be NULL) counts them. Cheap when there are none.
 * Read-only: does nothing. */
RT_CHECKED rt_status rt_engine_keep_left(rt_engine *engine, rt_owner_lives_fn lives, void *ctx,
					 size_t *out_kept, rt_error *err);

/* A reply that rt_engine_rescue kept. */
typedef struct rt_rescued {
	rt_str discussion; /* its id, from the side row; empty: the one in view */
	rt_str take, entry;
	size_t size;       /* bytes of its text */
} rt_rescued;
typedef void (*rt_rescued_fn)(void *ctx, const rt_rescued *reply);

/* For replies that rt_engine_keep_left cannot keep: each reply of a dead process becomes an entry
 * in a new take, which becomes the active one of its discussion. A row that cannot be decoded
 * becomes an entry whose text is the row. Each is a step. */
RT_CHECKED rt_status rt_engine_rescue(rt_engine *engine, rt_owner_lives_fn lives, void *lives_ctx,
				      rt_rescued_fn fn, void *ctx, rt_error *err);

/* The number of the reply that RT_SEND_CONTINUE would continue in this value. RT_REFUSED,
 * RT_NOT_FOUND: none; out is unchanged. */
RT_CHECKED rt_status rt_send_continued(const rt_project *value, rt_str discussion, rt_str take,
				       rt_str at, uint32_t *out, rt_error *err);

/* A reply in flight, of any process. Texts are valid until the callback returns. */
typedef struct rt_inflight_view {
	rt_str name;           /* of its side row */
	rt_str owner;
	rt_str run;            /* the owner's name of the request; or empty */
	int64_t started_us, written_us;
	rt_str discussion, take; /* ids */
	rt_str after;          /* the entry that it answers; empty: it continues `into` */
	rt_str into;
	rt_str model;
	rt_str text;           /* so far */
	bool is_stranded;      /* the entry that it answers or continues is not in its take */
	bool is_broken;        /* it cannot be decoded: only the name is set */
} rt_inflight_view;
typedef bool (*rt_inflight_fn)(void *ctx, const rt_inflight_view *inflight);

/* The replies in flight. fn returns false to stop early. */
RT_CHECKED rt_status rt_engine_inflight(rt_engine *engine, rt_inflight_fn fn, void *ctx,
					rt_error *err);

/* Findings that fsck (log/fsck.h) does not have:
 *
 *   reply-stranded     note     the entry that a reply in flight answers was removed
 *   reply-unreadable   warning  a reply's side row cannot be decoded */
RT_CHECKED rt_status rt_engine_fsck_replies(rt_engine *engine, rt_fsck_fn fn, void *ctx,
					    rt_error *err);

#endif
