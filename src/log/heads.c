/* SPDX-License-Identifier: MIT
 *
 * Heads: do the parts of a store end at the same place?
 *
 * A log whose last page was lost or replaced by an older version of itself looks like a shorter
 * log, or like none. The log itself cannot show this. But each transaction that adds rows writes a
 * second page as well:
 *
 *   rows with bodies      the bodies; the last number must be the last one the rows name
 *   rows without bodies   the side row RT_HEAD_MARK: the row's number
 *
 * and the checkpoint and the search index record how far they extend. The log, the bodies and the
 * mark cannot all lose their end at once unless several pages are lost.
 *
 * The mark may be older than the log (rows with bodies do not move it, and older versions do not
 * know it), or be absent. It is never ahead of it. */
#include "log/engine_impl.h"

#include <stdarg.h>
#include <stdio.h> /* snprintf */
#include <stdlib.h>

rt_status
rt_engine_mark_head(rt_engine *engine, uint64_t seq, rt_error *err)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)seq);
	return engine->store->ops->write(engine->store, rt_engine_side(engine, RT_HEAD_MARK),
					 rt_str_of(text), err);
}

rt_status
rt_engine_head_mark(rt_engine *engine, uint64_t *out_seq, rt_error *err)
{
	rt_scope s;

	*out_seq = 0;
	rt_scope_init(&s, engine->alloc);
	rt_buf *text = rt_scope_buf(&s);
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	rt_status st = rt_store_get(engine->store, rt_engine_side(engine, RT_HEAD_MARK), text, NULL,
				    &s.error);
	rt_buf_add_byte(text, '\0');
	if (st != RT_NOT_FOUND) {
		rt_scope_note(&s, st);
		RT_TRY(&s, text->status);
	}
	if (st == RT_OK && rt_ok(&s))
		*out_seq = strtoull(text->ptr, NULL, 10);
	return rt_scope_end(&s, err);
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
	return rt_fail_advise(
		err, RT_CORRUPT,
		"run: retake fsck to list the damage, retake repair to recover the intact part",
		"%s is damaged: %s (project \"%.60s\")", engine->store->place, what,
		engine->name->ptr);
}

/* Where the parts of a project end. */
typedef struct ends {
	uint64_t seq; /* of the value */
	uint64_t bodies, index, mark, root;
	uint64_t named; /* the last body that the value names */
} ends;

/* The mark first, the bodies last: others may add rows meanwhile. */
static void
find_ends(rt_engine *engine, ends *e, rt_scope *s)
{
	RT_TRY(s, rt_engine_head_mark(engine, &e->mark, &s->error));
	if (!rt_ok(s))
		return;
	rt_status st = rt_engine_head(engine, RT_STORE_INDEX, &e->index, &s->error);
	if (st == RT_CORRUPT) /* a cache; fsck reports it */
		e->index = 0;
	else
		rt_scope_note(s, st);
	RT_TRY(s, rt_engine_head(engine, RT_STORE_BODIES, &e->bodies, &s->error));
}

/* They differ: is it damage, or has another process written meanwhile? */
static rt_status
explain_ends(rt_engine *engine, const ends *e, rt_error *err)
{
	const unsigned long long seq = e->seq, bodies = e->bodies, named = e->named;
	uint64_t head, epoch;
	rt_status st = engine->store->ops->epoch(engine->store, &epoch, err);

	if (st != RT_OK || epoch != engine->epoch)
		return st; /* another history, which is loaded next */
	if (bodies < named)
		return rt_engine_damaged(engine, err,
					 "the log rows up to %llu refer to texts up to number %llu, "
					 "but the last stored one is %llu",
					 seq, named, bodies);
	if (e->index > bodies)
		return rt_engine_damaged(engine, err,
					 "the search index contains text %llu, but the last stored "
					 "one is %llu",
					 (unsigned long long)e->index, bodies);
	st = rt_engine_head(engine, RT_STORE_LOG, &head, err);
	if (st != RT_OK || head > e->seq)
		return st; /* rows have been added since */
	if (e->root > seq)
		return rt_engine_damaged(engine, err,
					 "its log ends with row %llu, but the checkpoint was made "
					 "at row %llu",
					 seq, (unsigned long long)e->root);
	if (e->mark > seq)
		return rt_engine_damaged(engine, err,
					 "its log ends with row %llu, but row %llu was written", seq,
					 (unsigned long long)e->mark);
	return rt_engine_damaged(engine, err,
				 "its log ends with row %llu and refers to texts up to number %llu, but text "
				 "%llu is stored",
				 seq, named, bodies);
}

rt_status
rt_engine_check_heads(rt_engine *engine, const rt_project *project, rt_error *err)
{
	ends e = {.seq = project->seq, .root = engine->root_ahead, .named = project->next_body - 1};
	rt_scope s;

	if (rt_engine_newer(engine, NULL))
		return RT_OK; /* the rows that are not read may name more */
	rt_scope_init(&s, engine->alloc);
	find_ends(engine, &e, &s);
	if (rt_ok(&s) && (e.mark > e.seq || e.root > e.seq || e.index > e.bodies ||
			  e.bodies != e.named))
		RT_TRY(&s, explain_ends(engine, &e, &s.error));
	return rt_scope_end(&s, err);
}

rt_status
rt_engine_lost_end(rt_engine *engine, const rt_project *project, uint64_t head, rt_error *err)
{
	return rt_engine_damaged(engine, err, "its log ends with row %llu, but row %llu was read earlier",
				 (unsigned long long)head, (unsigned long long)project->seq);
}
