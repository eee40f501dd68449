/* SPDX-License-Identifier: MIT
 *
 * Summaries: texts that a model (or a hook) writes in place of entries.
 *
 *   compact    a compaction: the beginning of the path, or a range, is sent as a summary
 *              from now on; the entries stay where they are (T15, C52)
 *   go         moves the head, optionally with a summary of the branch that it leaves
 *              (T9-T11, C56; seed 4)
 *   compress   the take becomes its summary (T16)
 *   merge      the conclusions of another take become an entry of this one (C13)
 *   title      the title of a discussion without a chosen name
 *
 * Each is one step, made once the summary exists. If the model fails, the user stops it or a hook
 * denies it, nothing changes. */
#ifndef RT_CHAT_SUMMARY_H
#define RT_CHAT_SUMMARY_H

#include "chat/send.h"

enum { RT_COMPACT_KEEP_TOKENS = 20000 };

typedef struct rt_summary_result {
	char entry[132];     /* id of the entry with the summary; empty: none was made */
	char target[132];    /* go: the entry that the head went to; empty: before the first */
	char first_kept[132];/* compact: from here on the entries are sent unchanged */
	char take[260];      /* that is in view now, if that changed */
	uint64_t seq;        /* of the step; 0: nothing was changed */
	size_t entries;      /* replaced by the summary */
	size_t tokens_before;/* of the context, by estimate */
	size_t tokens_after;
	bool already;        /* go: the head did not have to move */
	bool from_hook;
	rt_usage usage;
	const rt_text *editor; /* go: text returned for re-submission (T10); or NULL */
	const rt_text *note;   /* notes of hooks, for the user; or NULL */
} rt_summary_result;

void rt_summary_result_deinit(rt_summary_result *result);

typedef struct rt_compact_options {
	rt_send_with with;
	rt_str discussion, take; /* addresses; empty: the active ones */
	rt_str from, to;         /* a range; both empty: the beginning of the path */
	size_t keep_tokens;      /* this much of the end is kept; 0: RT_COMPACT_KEEP_TOKENS */
	rt_str instructions;     /* what to pay attention to; or empty */
	bool dry_run;            /* only report the effects */
	/* The path ends with this entry (its id), which is about to be answered, and the compaction
	 * is placed before it; empty: the path to the head, and placed at the head. */
	rt_str before;
	bool is_threshold;       /* made automatically because the window is full */
} rt_compact_options;

/* RT_REFUSED: nothing to compact, with the reason. Otherwise as rt_engine_send. A tool's call and
 * its result are never separated: the cut moves towards the beginning. RT_LIMIT: the text to
 * summarize itself exceeds the budget. */
RT_CHECKED rt_status rt_engine_compact(rt_engine *engine, const rt_compact_options *options,
				       rt_summary_result *out, rt_error *err);

typedef struct rt_navigate_options {
	rt_send_with with;       /* model NULL: only a hook can write a summary */
	rt_str discussion, take;
	rt_str target;           /* address, in the whole discussion; ptr NULL: before the first */
	rt_str target_take;      /* the take of the entry; empty: take's, else any that contains
				  * it */
	bool select;             /* a user's or custom message: go before it, return its text */
	bool summarize;          /* the branch that is left */
	rt_str instructions;
} rt_navigate_options;

/* RT_INTERRUPTED: "Navigation cancelled". RT_DENIED: a hook denied it. */
RT_CHECKED rt_status rt_engine_navigate(rt_engine *engine, const rt_navigate_options *options,
					rt_summary_result *out, rt_error *err);

typedef struct rt_compress_options {
	rt_send_with with;
	rt_str discussion, take;
	rt_str instructions;
} rt_compress_options;

typedef struct rt_merge_take_options {
	rt_send_with with;
	rt_str discussion, take; /* where the summary goes: addresses; empty: the active ones */
	rt_str from;             /* the take that is summarised, of the same discussion */
	rt_str instructions;
} rt_merge_take_options;

/* RT_REFUSED: from has no own entries, or is the take itself. */
RT_CHECKED rt_status rt_engine_merge_take(rt_engine *engine, const rt_merge_take_options *options,
					  rt_summary_result *out, rt_error *err);

/* Whether the discussion has neither a chosen name nor the setting "title". */
bool rt_title_is_wanted(const rt_project *value, uint32_t disc);
/* Sets "title" to what the model writes, if it is wanted and there is something to read; else
 * nothing happens (out->seq is 0). RT_CONFLICT: it was named in the meantime. */
RT_CHECKED rt_status rt_engine_write_title(rt_engine *engine, const rt_send_with *with,
					   rt_str discussion, rt_summary_result *out,
					   rt_error *err);

RT_CHECKED rt_status rt_engine_compress(rt_engine *engine, const rt_compress_options *options,
					rt_summary_result *out, rt_error *err);

#endif
