/* SPDX-License-Identifier: MIT
 *
 * A request that was sent before, sent once more. */
#include "chat/send_impl.h"

#include <stdio.h>

#include "base/hash.h"

typedef struct resending {
	rt_engine *engine;
	const rt_resend_options *options;
} resending;

static bool
stopped(void *ctx)
{
	const rt_send_with *with = &((const resending *)ctx)->options->with;

	return with->stop != NULL && with->stop(with->ctx);
}

static void
notice(void *ctx, const char *words)
{
	const rt_send_with *with = &((const resending *)ctx)->options->with;

	if (with->notice != NULL)
		with->notice(with->ctx, words);
}

static void
arrived(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	const rt_send_with *with = &((const resending *)ctx)->options->with;

	if (with->fn != NULL)
		with->fn(with->ctx, kind, block, added);
}

/* The lines name no texts, as those of other requests do not. */
static void
record_request(const resending *r, const char *request, rt_str body)
{
	const rt_resend_options *o = r->options;
	rt_buf m;

	rt_buf_init(&m, r->engine->alloc, RT_BUF_UNLIMITED);
	rt_send_add_store(r->engine, &o->with, &m);
	rt_buf_add_f(&m, ",\"project\":%llu", (unsigned long long)r->engine->project);
	rt_hook_call_add_member(&m, "discussion", o->discussion);
	rt_hook_call_add_member(&m, "take", o->take);
	rt_buf_add_c(&m, ",\"for\":\"replay\"");
	rt_hook_call_add_member(&m, "of", o->of);
	rt_send_add_model(o->with.model, &m);
	rt_send_add_server(o->with.model, &m);
	rt_buf_add_f(&m, ",\"bytes\":%zu,\"hash\":\"%016llx\"", body.size,
		     (unsigned long long)rt_hash(body.ptr, body.size, 0));
	if (m.status == RT_OK)
		rt_send_record(r->engine, &o->with, "request", rt_str_of(request), rt_buf_str(&m));
	rt_buf_deinit(&m);
}

rt_status
rt_engine_resend(rt_engine *engine, const rt_resend_options *options, const rt_text **out_note,
		 rt_error *err)
{
	const rt_send_with *with = &options->with;
	resending r = {engine, options};
	rt_ask ask = {.stream = true, .stop = stopped, .notice = notice, .ctx = &r};
	rt_buf body, notes;
	rt_asking asking = {.engine = engine,
			    .with = with,
			    .discussion = options->discussion,
			    .take = options->take,
			    .reason = "replay",
			    .stop = stopped,
			    .ctx = &r,
			    .notes = &notes};
	char request[40];
	rt_reply reply;
	rt_error own;
	rt_status st;

	*out_note = NULL;
	memset(&own, 0, sizeof(own));
	if (err == NULL)
		err = &own;
	rt_buf_init(&body, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&notes, engine->alloc, RT_BUF_UNLIMITED);
	rt_reply_init(&reply, engine->alloc, arrived, &r);
	rt_buf_add_str(&body, options->body);
	st = body.status == RT_OK ? rt_asking_before(&asking, &body, err)
				  : rt_fail(err, RT_NOMEM, "out of memory while sending");
	if (st == RT_OK) {
		snprintf(request, sizeof(request), "replay/%llx",
			 (unsigned long long)engine->env->now_us(engine->env->ctx));
		ask.body = rt_buf_str(&body);
		record_request(&r, request, ask.body);
		st = with->model->ops->ask(with->model, &ask, &reply, err);
		rt_reply_finish(&reply);
		if (st == RT_OK && reply.status != RT_OK)
			st = rt_fail(err, reply.status, "the reply is too large");
		rt_send_record_answer(engine, with, request, "replay", &reply, st, err);
		rt_asking_after(&asking, &reply.usage, st);
	}
	if (notes.size > 0 && notes.status == RT_OK)
		*out_note = rt_text_new(engine->alloc, rt_buf_str(&notes));
	rt_reply_deinit(&reply);
	rt_buf_deinit(&body);
	rt_buf_deinit(&notes);
	return st;
}
