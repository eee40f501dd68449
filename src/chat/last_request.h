/* SPDX-License-Identifier: MIT
 *
 * Last request: what a discussion was last sent to a model with (T6), by reference (decision 11).
 *
 * A side row "sent/d1" says from which value of the project the request was built, and how:
 *
 *   {"v":1,"at":"2026-11-22T05:44:12Z","project":1,"seq":12,"discussion":"d1","take":"t1",
 *    "upto":"k3f9","provider":"openai","service":"local","server":"http://127.0.0.1:8080",
 *    "model":"gpt-4o","left_out":0,"newest":7,
 *    "budget_tokens":0,"bytes":812,"hash":"9c1f…"}
 *
 * provider is the kind, service what the configuration calls the one that was asked, and
 * server where that was (nothing for what is built in).
 * The same members stand in the record of requests. Built again, the request has the same
 * bytes; where it has not (a hook changed it, a text was purged, another version sent it)
 * the hash says so. The row holds no text, so a purge has nothing to find in it; one that
 * finds its words in the row all the same drops it. No step, no undo: it is what happened. */
#ifndef RT_CHAT_LAST_REQUEST_H
#define RT_CHAT_LAST_REQUEST_H

#include "chat/context.h"
#include "ops/format.h"
#include "log/engine.h"

/* The row of a discussion, appended. RT_NOT_FOUND: nothing was sent yet. */
RT_CHECKED rt_status rt_engine_last_request(rt_engine *engine, uint32_t disc, rt_buf *out,
					    rt_error *err);

/* A request as it was recorded, built again. */
/* Side rows of what was sent last: then the discussion's id. */
#define RT_LAST_REQUEST_PREFIX "sent/"

typedef struct rt_last_request {
	const rt_project *value; /* that it was built from */
	rt_place place;
	uint32_t upto;           /* 0: up to the head */
	size_t budget_tokens;
	rt_str model, service;   /* borrow from the record */
	rt_buf body;
	bool is_same;            /* to the byte */
} rt_last_request;

/* record: members as above. provider: that of its name, or NULL. part, ctx: as in
 * rt_context_options, or NULL. Deinit it whatever the status. RT_CORRUPT: the record cannot
 * be read. */
RT_CHECKED rt_status rt_last_request_build(rt_engine *engine, yyjson_val *record,
					   const rt_provider *provider, rt_context_part_fn part,
					   void *ctx, rt_last_request *out, rt_error *err);
void rt_last_request_deinit(rt_last_request *request);

/* The texts of what each discussion was sent with last, into outlines that
 * rt_engine_export made of this value. provider: one whose requests have the system prompt
 * in a member "system", and "messages" beside it. Costs a past value for each discussion
 * that was sent. */
RT_CHECKED rt_status rt_engine_export_last_requests(rt_engine *engine, const rt_project *project,
						    const rt_provider *provider,
						    rt_outlines *outlines, rt_error *err);

/* What would be sent otherwise now, from the head of a place, to the same model, as JSON:
 *
 *   {"v":1,"at","seq","provider","service","model","upto",  what was sent
 *    "exact":bool,                              it could be built again to the byte
 *    "same":bool,                               the same bytes would be sent now
 *    "entries":[{"change":"new"|"edited"|"gone","id","role"}],   "gone": not sent any more
 *    "moved":bool,                              what both have stands in another order
 *    "settings":["temperature",…],              that differ
 *    "prompt":bool}                             the working prompt differs
 *
 * O(n log n) over both contexts. */
RT_CHECKED rt_status rt_view_last_request_changes(rt_engine *engine, const rt_project *project,
						  rt_place place, yyjson_val *record,
						  const rt_provider *provider, rt_buf *buf,
						  rt_error *err);

#endif
