/* SPDX-License-Identifier: MIT
 *
 * A request that was sent before, sent again. */
#include "chat/exchange.h"

static rt_status
judge(const rt_reply *reply, rt_error *err)
{
	return reply->status == RT_OK ? RT_OK
				      : rt_fail(err, reply->status, "the reply is too large");
}

rt_status
rt_engine_resend(rt_engine *engine, const rt_resend_options *o, const rt_text **out_note,
		 rt_error *err)
{
	rt_reply reply;
	rt_scope s;

	*out_note = NULL;
	rt_scope_init(&s, engine->alloc);
	rt_reply_init(&reply, engine->alloc, o->with.fn, o->with.ctx);
	rt_buf *notes = rt_scope_buf(&s), *body = rt_scope_buf(&s);
	rt_exchange x =
		rt_exchange_of(engine, &o->with, "replay", o->discussion, o->take, notes);
	rt_request_record record = {.discussion = o->discussion,
				    .take = o->take,
				    .of = o->of.ptr != NULL ? o->of : RT_STR("")};
	rt_buf_add_str(body, o->body);
	(void)rt_scope_str(&s, body);
	RT_TRY(&s, rt_exchange_run(&x, &record, body, judge, &reply, &s.error));
	if (notes->size > 0 && notes->status == RT_OK)
		*out_note = rt_text_new(engine->alloc, rt_buf_str(notes));
	rt_reply_deinit(&reply);
	return rt_scope_end(&s, err);
}
