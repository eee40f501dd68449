/* SPDX-License-Identifier: MIT
 *
 * Hooks around a request to a model, and its lines in the log. */
#include "chat/exchange.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/moment.h"

rt_exchange
rt_exchange_of(rt_engine *engine, const rt_send_with *with, const char *reason, rt_str discussion,
	       rt_str take, rt_buf *notes)
{
	return (rt_exchange){.engine = engine,
			     .with = with,
			     .discussion = discussion,
			     .take = take,
			     .reason = reason,
			     .ask = {.stream = true,
				     .trace = with->trace,
				     .stop = with->stop,
				     .notice = with->notice,
				     .ctx = with->ctx},
			     .notes = notes};
}

/* ---- hooks ---- */

static rt_hook_call
hook_call(const rt_exchange *x, rt_stop_fn stop, void *ctx)
{
	return (rt_hook_call){.engine = x->engine,
			      .hooks = x->with->hooks,
			      .by = x->with->by,
			      .discussion = x->discussion,
			      .take = x->take,
			      .stop = stop,
			      .ctx = ctx,
			      .notes = x->notes};
}

rt_stop_fn
rt_send_late_stop(const rt_send_with *with)
{
	return with->stop != NULL && with->stop(with->ctx) ? with->insists : with->stop;
}

void
rt_exchange_put_subject(const rt_exchange *x, rt_buf *subject)
{
	const rt_model *model = x->with->model;

	rt_hook_subject_add(subject, "provider", rt_str_of(model->provider->name));
	rt_hook_subject_add(subject, "service", rt_model_service(model));
	rt_hook_subject_add(subject, "model", model->name);
	rt_hook_subject_add(subject, "reason", rt_str_of(x->reason));
}

static void
put_model(const rt_model *model, rt_buf *members)
{
	rt_json_put_c(members, "provider", model->provider->name);
	rt_json_put_str(members, "service", rt_model_service(model));
	rt_json_put_str(members, "model", model->name);
}

rt_status
rt_exchange_before(const rt_exchange *x, rt_buf *body, rt_error *err)
{
	rt_hook_call h = hook_call(x, x->ask.stop, x->ask.ctx);
	rt_hook_answer answer;
	bool found = false;
	rt_scope s;

	if (!rt_hook_call_wants(&h, "request.before"))
		return RT_OK;
	rt_scope_init(&s, x->engine->alloc);
	rt_hook_answer_init(&answer, x->engine->alloc);
	rt_buf *members = rt_scope_buf(&s), *subject = rt_scope_buf(&s);
	rt_buf *patched = rt_scope_buf(&s);

	put_model(x->with->model, members);
	rt_json_put_c(members, "reason", x->reason);
	rt_json_put_raw(members, "body", rt_buf_str(body));
	rt_exchange_put_subject(x, subject);
	rt_str event = rt_scope_str(&s, members), words = rt_scope_str(&s, subject);
	RT_TRY(&s, rt_hook_call_fire(&h, "request.before", event, words, &answer, &s.error));
	RT_TRY(&s, rt_hook_call_patch(&h, &answer, "body", patched, &found, &s.error));
	rt_str replacement = rt_scope_str(&s, patched);
	if (rt_ok(&s) && found) {
		rt_buf_clear(body);
		rt_buf_add_str(body, replacement);
		(void)rt_scope_str(&s, body);
	}
	rt_hook_answer_deinit(&answer);
	return rt_scope_end(&s, err);
}

void
rt_exchange_notify(const rt_exchange *x, const char *event, const rt_buf *members, rt_buf *subject,
		   const char *refusal)
{
	rt_hook_call h = hook_call(x, rt_send_late_stop(x->with), x->with->ctx);
	rt_hook_answer answer;

	if (members->status != RT_OK || subject->status != RT_OK)
		return;
	if (rt_hook_call_fire(&h, event, rt_buf_str(members), rt_buf_str(subject), &answer, NULL) ==
		    RT_DENIED &&
	    x->with->notice != NULL)
		x->with->notice(x->with->ctx, &(rt_notice){.words = refusal});
	rt_hook_answer_deinit(&answer);
}

void
rt_exchange_after(const rt_exchange *x, const rt_usage *usage, rt_status st)
{
	rt_scope s;

	rt_scope_init(&s, x->engine->alloc);
	rt_buf *members = rt_scope_buf(&s), *subject = rt_scope_buf(&s);
	put_model(x->with->model, members);
	rt_json_put_c(members, "reason", x->reason);
	rt_json_put_c(members, "status", rt_status_word(st));
	rt_json_open(members, "usage", '{');
	if (usage->input != SIZE_MAX)
		rt_json_put_u64(members, "input", usage->input);
	if (usage->output != SIZE_MAX)
		rt_json_put_u64(members, "output", usage->output);
	rt_json_close(members, '}');
	rt_exchange_put_subject(x, subject);
	rt_exchange_notify(x, "request.after", members, subject,
			   "a hook refused a reply that had already arrived");
	rt_scope_deinit(&s);
}

/* ---- the log of requests ---- */

static rt_str
store_of(const rt_exchange *x)
{
	rt_str store = x->with->store;

	return store.size > 0 ? store : rt_str_of(x->engine->store->place);
}

static void
open_line(const rt_exchange *x, const char *what, const char *name, rt_buf *line)
{
	const rt_env *env = x->engine->env;

	rt_buf_init(line, x->engine->alloc, RT_BUF_UNLIMITED);
	rt_json_open(line, NULL, '{');
	rt_json_put_u64(line, "v", 1);
	rt_json_put_c(line, "what", what);
	rt_json_put_time(line, "at", (rt_moment){env->now_us(env->ctx), 0});
	rt_json_put_c(line, "request", name);
}

static void
write_line(const rt_exchange *x, rt_buf *line, rt_str body)
{
	rt_comms_item item = {.store = store_of(x), .project = x->engine->project, .body = body};

	rt_json_close(line, '}');
	item.line = rt_buf_str(line);
	if (line->status == RT_OK)
		x->with->comms(x->with->ctx, &item);
	rt_buf_deinit(line);
}

void
rt_request_record_put(rt_buf *out, const rt_exchange *x, const rt_request_record *r)
{
	const rt_model *model = x->with->model;
	char hash[24];

	rt_json_put_u64(out, "project", x->engine->project);
	if (r->value != NULL)
		rt_json_put_u64(out, "seq", r->value->seq);
	rt_json_put_str(out, "discussion", rt_address_shown(r->discussion));
	rt_json_put_str(out, "take", rt_address_shown(r->take));
	if (r->window != NULL)
		rt_json_put_str(out, "upto", r->window->upto);
	else
		rt_json_put_c(out, "for", x->reason);
	if (r->of.ptr != NULL)
		rt_json_put_str(out, "of", r->of);
	put_model(model, out);
	if (model->server.size > 0)
		rt_json_put_str(out, "server", model->server);
	if (r->window != NULL) {
		rt_json_put_u64(out, "left_out", r->window->left_out);
		rt_json_put_u64(out, "newest", r->window->newest);
		rt_json_put_u64(out, "budget_tokens", r->window->budget_tokens);
		rt_attachments_put(out, r->window->files);
	}
	rt_json_put_u64(out, "bytes", r->body.size);
	snprintf(hash, sizeof(hash), "%016llx",
		 (unsigned long long)rt_hash(r->body.ptr, r->body.size, 0));
	rt_json_put_c(out, "hash", hash);
}

void
rt_exchange_record_request(const rt_exchange *x, const rt_request_record *r)
{
	rt_buf line;

	if (x->with->comms == NULL)
		return;
	open_line(x, "request", r->name, &line);
	rt_json_put_str(&line, "store", store_of(x));
	rt_request_record_put(&line, x, r);
	write_line(x, &line, r->body);
}

void
rt_exchange_record_answer(const rt_exchange *x, const char *name, const rt_send_result *kept,
			  const rt_reply *reply, rt_status st, const rt_error *err)
{
	rt_buf line, body;

	if (x->with->comms == NULL)
		return;
	rt_buf_init(&body, x->engine->alloc, RT_BUF_UNLIMITED);
	open_line(x, "reply", name, &line);
	if (kept == NULL) {
		rt_json_put_c(&line, "for", x->reason);
	} else if (kept->entry[0] != '\0') {
		rt_json_put_c(&line, "entry", kept->entry);
		rt_json_put_u64(&line, "seq", kept->seq);
	}
	rt_json_put_c(&line, "stop", rt_stop_word(reply->stop));
	if (reply->usage.input != SIZE_MAX)
		rt_json_put_u64(&line, "input_tokens", reply->usage.input);
	if (reply->usage.output != SIZE_MAX)
		rt_json_put_u64(&line, "output_tokens", reply->usage.output);
	if (st != RT_OK) {
		rt_json_put_c(&line, "error", rt_status_word(st));
		rt_json_put_c(&line, "message", err->text);
	}
	if (!rt_reply_is_empty(reply)) {
		rt_json_open(&body, NULL, '{');
		rt_json_add_key(&body, "content");
		rt_reply_add_content(reply, &body);
		rt_reply_add_fields(reply, &body);
		rt_json_close(&body, '}');
	}
	write_line(x, &line, body.status == RT_OK ? rt_buf_str(&body) : rt_str_at(NULL, 0));
	rt_buf_deinit(&body);
}

/* ---- all of it ---- */

rt_status
rt_exchange_run(rt_exchange *x, rt_request_record *r, rt_buf *body, rt_exchange_judge_fn judge,
		rt_reply *reply, rt_error *err)
{
	const rt_env *env = x->engine->env;
	rt_model *model = x->with->model;
	rt_error own = {0};
	char name[40];
	rt_status st;

	if (err == NULL)
		err = &own;
	st = rt_exchange_before(x, body, err);
	if (st != RT_OK)
		return st;
	snprintf(name, sizeof(name), "%s/%llx", x->reason,
		 (unsigned long long)env->now_us(env->ctx));
	r->name = name;
	r->body = x->ask.body = rt_buf_str(body);
	rt_exchange_record_request(x, r);
	st = model->ops->ask(model, &x->ask, reply, err);
	rt_reply_finish(reply);
	if (st == RT_OK)
		st = judge(reply, err);
	rt_exchange_record_answer(x, name, NULL, reply, st, err);
	rt_exchange_after(x, &reply->usage, st);
	r->name = NULL; /* it ends here */
	return st;
}
