/* SPDX-License-Identifier: MIT
 *
 * The record of requests (M8): what every line of it says, whatever was sent. */
#include "base/moment.h"
#include "chat/send_impl.h"

/* The texts are not in it: seq says from which value the request was built, and building
 * it again gives the same bytes. So a purge reaches them. */
void
rt_send_record(rt_engine *engine, const rt_send_with *with, const char *what, rt_str request,
	       rt_str members)
{
	int64_t now = engine->env->now_us(engine->env->ctx);
	rt_buf line;

	if (with->comms == NULL)
		return;
	rt_buf_init(&line, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&line, "{\"v\":1");
	rt_hook_call_add_member(&line, "what", rt_str_of(what));
	rt_buf_add_c(&line, ",\"at\":\"");
	rt_moment_format_ms(&line, (rt_moment){now, 0});
	rt_buf_add_byte(&line, '"');
	rt_hook_call_add_member(&line, "request", request);
	rt_buf_add_byte(&line, ',');
	rt_buf_add_str(&line, members);
	rt_buf_add_byte(&line, '}');
	if (line.status == RT_OK)
		with->comms(with->ctx, rt_buf_str(&line));
	rt_buf_deinit(&line);
}

void
rt_send_record_answer(rt_engine *engine, const rt_send_with *with, const char *request,
		      const char *reason, const rt_reply *reply, rt_status st, const rt_error *err)
{
	rt_buf m;

	rt_buf_init(&m, engine->alloc, RT_BUF_UNLIMITED);
	rt_hook_call_add_member(&m, "for", rt_str_of(reason));
	rt_hook_call_add_member(&m, "stop", rt_str_of(rt_stop_word(reply->stop)));
	rt_send_add_usage(&reply->usage, &m);
	if (st != RT_OK) {
		rt_hook_call_add_member(&m, "error", rt_str_of(rt_status_word(st)));
		rt_hook_call_add_member(&m, "message", rt_str_of(err->text));
	}
	if (m.status == RT_OK)
		rt_send_record(engine, with, "reply", rt_str_of(request), rt_buf_str(&m));
	rt_buf_deinit(&m);
}

void
rt_send_add_model(const rt_model *model, rt_buf *members)
{
	rt_hook_call_add_member(members, "provider", rt_str_of(model->provider->name));
	rt_hook_call_add_member(members, "service", rt_model_service(model));
	rt_hook_call_add_member(members, "model", model->name);
}

void
rt_send_add_server(const rt_model *model, rt_buf *members)
{
	if (model->server.size > 0)
		rt_hook_call_add_member(members, "server", model->server);
}

void
rt_send_add_store(rt_engine *engine, const rt_send_with *with, rt_buf *members)
{
	rt_hook_call_add_member(members, "store",
				with->store.size > 0 ? with->store
						     : rt_str_of(engine->store->place));
}

void
rt_send_add_usage(const rt_usage *usage, rt_buf *members)
{
	if (usage->input != SIZE_MAX)
		rt_buf_add_f(members, ",\"input_tokens\":%zu", usage->input);
	if (usage->output != SIZE_MAX)
		rt_buf_add_f(members, ",\"output_tokens\":%zu", usage->output);
}
