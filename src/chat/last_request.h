/* SPDX-License-Identifier: MIT
 *
 * Last request: the last request of a discussion to a model (T6), by reference (decision 11).
 *
 * A side row "sent/d1" says from which value of the project the request was built, and how:
 *
 *   {"v":1,"at":"2026-11-22T05:44:12Z","project":1,"seq":12,"discussion":"d1","take":"t1",
 *    "upto":"k3f9","provider":"openai","service":"local","server":"http://127.0.0.1:8080",
 *    "model":"gpt-4o","left_out":0,"newest":7,
 *    "budget_tokens":0,"files":[…],"bytes":812,"hash":"9c1f…"}
 *
 * provider is the kind, service its name in the configuration, server its address (empty for
 * built-in ones). files: as in attachment.h; absent if there were none. The log of requests
 * has the same members. Rebuilding the request yields the
 * same bytes; if not (a hook changed it, a text was purged, another version sent it), the hash
 * shows it. The row contains no text but names of files; a purge that finds its text in it drops
 * the row. Neither a step nor undoable: it records what happened. */
#ifndef RT_CHAT_LAST_REQUEST_H
#define RT_CHAT_LAST_REQUEST_H

#include "chat/context.h"
#include "ops/format.h"
#include "log/engine.h"

/* The row of a discussion, appended. RT_NOT_FOUND: nothing was sent yet. */
RT_CHECKED rt_status rt_engine_last_request(rt_engine *engine, uint32_t disc, rt_buf *out,
					    rt_error *err);

/* Writes the row of a discussion and the contents of its files, in one transaction; contents that only
 * its previous row needed are removed. log: the key of a log of requests whose line of this request
 * will have no body, so that it needs them too (RT_FILE_LOG_PREFIX); or empty. */
RT_CHECKED rt_status rt_engine_keep_last_request(rt_engine *engine, uint32_t disc, rt_str row,
						 const rt_attachments *files, rt_str log,
						 rt_error *err);

/* A request as it was recorded, built again. */
/* Prefix of side rows of last requests; the discussion's id follows. */
#define RT_LAST_REQUEST_PREFIX "sent/"

typedef struct rt_last_request {
	const rt_project *value; /* that it was built from */
	rt_place place;
	uint32_t upto;           /* 0: up to the head */
	size_t budget_tokens;
	rt_str model, service;   /* borrow from the record */
	rt_buf body;
	bool is_same;            /* byte for byte */
} rt_last_request;

/* record: members as above. provider: that of its name, or NULL. part, ctx: as in
 * rt_context_options, or NULL. Deinit it whatever the status. RT_CORRUPT: the record cannot
 * be read. */
RT_CHECKED rt_status rt_last_request_build(rt_engine *engine, yyjson_val *record,
					   const rt_provider *provider, rt_context_part_fn part,
					   void *ctx, rt_last_request *out, rt_error *err);
void rt_last_request_deinit(rt_last_request *request);

/* Adds the texts of each discussion's last request to outlines that rt_engine_export made of this
 * value. provider: one whose requests have the members "system" and "messages". Costs a past value
 * per sent discussion. */
RT_CHECKED rt_status rt_engine_export_last_requests(rt_engine *engine, const rt_project *project,
						    const rt_provider *provider,
						    rt_outlines *outlines, rt_error *err);

/* How a request from the head of a place to the same model would differ now, as JSON:
 *
 *   {"v":1,"at","seq","provider","service","model","upto",  the request sent
 *    "exact":bool,                              it could be built again byte for byte
 *    "same":bool,                               the same bytes would be sent now
 *    "entries":[{"change":"new"|"edited"|"gone","id","role"}],   "gone": not sent any more
 *    "moved":bool,                              common entries are in another order
 *    "settings":["temperature",…],              that differ
 *    "prompt":bool,                             the working prompt differs
 *    "files":[{"change":"new"|"edited"|"gone","name"}]}   "edited": another content
 *
 * files: those that a request would have now; or NULL. O(n log n) over both contexts. */
RT_CHECKED rt_status rt_view_last_request_changes(rt_engine *engine, const rt_project *project,
						  rt_place place, yyjson_val *record,
						  const rt_provider *provider,
						  const rt_attachments *files, rt_buf *buf,
						  rt_error *err);

#endif
