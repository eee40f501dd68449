/* SPDX-License-Identifier: MIT
 *
 * Runs over HTTP: their requests and state as JSON, their events for streams.
 *
 *   {"run":"r3-9f3a6c","state":"running","how":"ask","discussion":"d1","take":"t1","model":…,
 *    "started":…,"question":"k3f9","text":"…so far…","thinking":"…"}
 *
 *   "take"      the requested one; at the end that of the reply
 *   "question"  once it is an entry
 *   "at"        the entry of the request: to continue from, or to reply to again
 *   "notice"    for display, in the meantime: "trying again in 2 s …"
 *   "calls"     of tools: [{"block":2,"offset":0,"arguments":"…"}], pieces in their order
 *   "reply":2   of several ("again" with "n") the text is that of this one, counted from 0
 *
 *   then "state" is "done", "stopped" or "failed", with "ended" and, if there is one,
 *   "entry", "seq", "files", "stop", "usage", "partial", "left_out", "tokens_estimate",
 *   "compaction", "fate", "note"; a summary: "entry", "seq", "entries", "tokens_before", "tokens_after",
 *   "first_kept", "from_hook"; go: "summary" (its entry), "entry" (where the head is now),
 *   "take", "seq", "unchanged", "editor". "problem" is {"code","detail"}: why it failed, or
 *   why a reply is partial. Several replies: "replies", an array of such results.
 *
 * Members of the body that starts one:
 *
 *   all        model, budget (tokens)
 *   ask        text, or content (a text or blocks); neither: the existing path is answered;
 *              at (an entry to continue from), role, reply_role
 *   again      at (the reply, or what it answers), n (1 to RT_RUN_REPLIES_MAX)
 *   continue   at
 *   compact    from and to (entries), keep (tokens), instructions
 *   compress   instructions
 *   merge      from_take (the take that is summarised), instructions
 *   go         entry (null: before the first), select, summary (default true), instructions
 *
 * Events, none of which has an id (feed.h):
 *
 *   run.started    the object above without its texts
 *   run.snapshot   the same with the texts so far, for a stream that came later; of a long text
 *                  it is the beginning, and deltas with the rest follow immediately. Of a run of
 *                  another server: whenever there is more; of a long text the end, after
 *                  "skipped" bytes
 *   run.asked      {"run","question"}: the question is an entry, whose row was sent before
 *   run.notice     {"run","text"}
 *   run.delta      {"run","offset","text"}, or "thinking" instead of text: the text at this
 *                  offset in all text (thinking) of the reply so far, in bytes of UTF-8; or
 *                  "call" with "block": in the arguments of that call. "reply" as above, where
 *                  it is not 0. Blocks of text are separated by a newline
 *   run.ended      the object without its texts; the row of its entry was sent before it */
#ifndef RT_SERVER_RUN_JSON_H
#define RT_SERVER_RUN_JSON_H

#include "app/run.h"

/* A body (NULL: none) as a request: `how` and the members of that kind. out borrows from it.
 * RT_USAGE: an unknown member, or one of the wrong type. */
RT_CHECKED rt_status rt_run_request_read(yyjson_val *body, rt_run_how how, rt_run_request *out,
					 rt_error *err);
/* The object, with its texts; RT_NOT_FOUND. */
RT_CHECKED rt_status rt_runs_show_json(rt_runs *runs, rt_str name, rt_buf *out, rt_error *err);
/* The same without texts; for rt_runs_show, ctx is the rt_buf. */
void rt_run_add_json(void *ctx, const rt_run_info *run);
/* An array of them, newest first, without texts. */
RT_CHECKED rt_status rt_runs_list_json(rt_runs *runs, rt_buf *out, rt_error *err);
/* Append events that this reader has not had, whole ones, until out has about room bytes. false:
 * there are none (left). */
bool rt_runs_read_sse(rt_runs *runs, rt_run_cursor *cursor, size_t room, rt_buf *out);
/* Members of the reply that is arriving: "text", "thinking", "calls", "reply"; up to this offset. */
void rt_run_text_add_json(const rt_run_text *text, size_t end, rt_buf *out);

#endif
