/* SPDX-License-Identifier: MIT
 *
 * Heads: do the parts of a store end at the same place?
 *
 * A log whose last page was lost or replaced by an older version of itself reads like a
 * shorter log, or like none. Nothing in the log itself can tell. But each transaction that
 * adds rows writes a second page as well:
 *
 *   rows with bodies      the bodies; the last number must be the last one the rows name
 *   rows without bodies   the side row RT_HEAD_MARK: the row's number
 *
 * and the checkpoint and the search index say how far they go. The log, the bodies and the
 * mark cannot all lose their end at once unless several pages are lost.
 *
 * The mark may be behind the log (rows with bodies do not move it, and older versions do
 * not know it), or absent. It is never ahead of it. */
#include "log/engine_impl.h"

#include <stdarg.h>
#include <stdio.h> /* snprintf */
#include <stdlib.h>

rt_status
rt_engine_mark_head(rt_engine *engine, uint64_t seq, rt_error *err)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)seq);
	return engine->store->ops->write(
		engine->store, rt_rows_named(RT_STORE_SIDE, engine->project, RT_STR(RT_HEAD_MARK)),
		rt_str_of(text), err);
}

rt_status
rt_engine_head_mark(rt_engine *engine, uint64_t *out_seq, rt_error *err)
{
	rt_error why;
	rt_buf text;
	rt_status st;

	*out_seq = 0;
	rt_buf_init(&text, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store,
			  rt_rows_named(RT_STORE_SIDE, engine->project, RT_STR(RT_HEAD_MARK)),
			  &text, NULL, &why);
	rt_buf_add_byte(&text, '\0');
	if (st == RT_OK && text.status != RT_OK)
		st = rt_fail(err, text.status, "out of memory");
	else if (st == RT_OK)
		*out_seq = strtoull(text.ptr, NULL, 10);
	else if (st == RT_NOT_FOUND)
		st = RT_OK;
	else if (err != NULL)
		*err = why;
	rt_buf_deinit(&text);
	return st;
}

bool
rt_engine_scrub_pending(rt_engine *engine)
{
	return rt_store_get(engine->store, rt_engine_side(engine, RT_SCRUB_MARK), NULL, NULL, NULL) ==
	       RT_OK;
}

rt_status
rt_engine_damaged(rt_engine *engine, rt_error *err, const char *format, ...)
{
	char what[200];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	return rt_fail(
		err, RT_CORRUPT,
		"%s is damaged: %s (project \"%.60s\"); run: retake fsck to list the damage, "
		"retake repair to recover what is intact",
		engine->store->place, what, engine->name->ptr);
}

rt_status
rt_engine_check_heads(rt_engine *engine, const rt_project *project, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	uint64_t bodies, index = 0, mark = 0, seq = project->seq, head, root, epoch;
	rt_error why;
	rt_status st;

	if (rt_engine_newer(engine, NULL))
		return RT_OK; /* the rows that are not read may name more */
	/* The mark first, the log last: others may add rows meanwhile. */
	st = rt_engine_head_mark(engine, &mark, err);
	if (st == RT_OK) {
		st = ops->head(engine->store, RT_STORE_INDEX, engine->project, &index, &why);
		if (st == RT_CORRUPT) { /* a cache; fsck names it */
			index = 0;
			st = RT_OK;
		} else if (st != RT_OK && err != NULL) {
			*err = why;
		}
	}
	if (st == RT_OK)
		st = ops->head(engine->store, RT_STORE_BODIES, engine->project, &bodies, err);
	if (st != RT_OK)
		return st;
	root = engine->root_ahead;
	if (mark <= seq && root <= seq && index <= bodies && bodies + 1 == project->next_body)
		return RT_OK;
	st = ops->epoch(engine->store, &epoch, err);
	if (st != RT_OK || epoch != engine->epoch)
		return st; /* another history, which is loaded next */
	if (bodies + 1 < project->next_body)
		return rt_engine_damaged(engine, err,
					 "log row %llu and before name texts up to number %llu, but "
					 "the last one stored is %llu",
					 (unsigned long long)seq,
					 (unsigned long long)project->next_body - 1,
					 (unsigned long long)bodies);
	if (index > bodies)
		return rt_engine_damaged(engine, err,
					 "the search index holds text %llu, but the last one stored "
					 "is %llu",
					 (unsigned long long)index, (unsigned long long)bodies);
	st = ops->head(engine->store, RT_STORE_LOG, engine->project, &head, err);
	if (st != RT_OK || head > seq)
		return st; /* rows have come since */
	if (root > seq)
		return rt_engine_damaged(engine, err,
					 "its log ends with row %llu, but the checkpoint was made "
					 "at row %llu",
					 (unsigned long long)seq, (unsigned long long)root);
	if (mark > seq)
		return rt_engine_damaged(engine, err,
					 "its log ends with row %llu, but row %llu was written",
					 (unsigned long long)seq, (unsigned long long)mark);
	return rt_engine_damaged(engine, err,
				 "its log ends with row %llu and names texts up to number %llu, but "
				 "text %llu is stored",
				 (unsigned long long)seq, (unsigned long long)project->next_body - 1,
				 (unsigned long long)bodies);
}

rt_status
rt_engine_lost_end(rt_engine *engine, const rt_project *project, uint64_t head, rt_error *err)
{
	return rt_engine_damaged(engine, err, "its log ends with row %llu, but row %llu was read before",
				 (unsigned long long)head, (unsigned long long)project->seq);
}
