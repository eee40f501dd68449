/* SPDX-License-Identifier: MIT
 *
 * What hooks are asked before a request to a model, and told after it, whatever it is made
 * for. The question and the reply are entries like others: action.h. */
#include "chat/send_impl.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while sending");
}

static rt_hook_call
hooked(const rt_asking *a)
{
	return (rt_hook_call){.engine = a->engine,
			      .hooks = a->with->hooks,
			      .by = a->with->by,
			      .discussion = a->discussion,
			      .take = a->take,
			      .stop = a->stop,
			      .ctx = a->ctx,
			      .notes = a->notes};
}

/* What has happened is told also where the person stopped it. */
static rt_hook_call
hooked_late(const rt_asking *a)
{
	rt_hook_call h = hooked(a);

	h.stop = rt_send_late_stop(a->with);
	h.ctx = a->with->ctx;
	return h;
}

rt_stop_fn
rt_send_late_stop(const rt_send_with *with)
{
	return with->stop != NULL && with->stop(with->ctx) ? with->insists : with->stop;
}

/* provider=… service=… model=… reason=…, for matchers. */
static void
add_subject(const rt_asking *a, rt_buf *out)
{
	const rt_model *model = a->with->model;

	rt_hook_subject_add(out, "provider", rt_str_of(model->provider->name));
	rt_hook_subject_add(out, "service", rt_model_service(model));
	rt_hook_subject_add(out, "model", model->name);
	rt_hook_subject_add(out, "reason", rt_str_of(a->reason));
}

static void
add_model(const rt_asking *a, rt_buf *out)
{
	rt_send_add_model(a->with->model, out);
	rt_hook_call_add_member(out, "reason", rt_str_of(a->reason));
}

rt_status
rt_asking_before(const rt_asking *a, rt_buf *body, rt_error *err)
{
	rt_hook_call h = hooked(a);
	rt_hook_answer answer;
	rt_buf members, subject;
	bool found = false;
	rt_status st;

	if (!rt_hook_call_wants(&h, "request.before"))
		return RT_OK;
	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&subject, a->engine->alloc, RT_BUF_UNLIMITED);
	add_model(a, &members);
	rt_json_add_key(&members, "body");
	rt_buf_add_str(&members, rt_buf_str(body));
	add_subject(a, &subject);
	if (members.status != RT_OK || subject.status != RT_OK) {
		rt_hook_answer_init(&answer, a->engine->alloc);
		st = nomem(err);
	} else {
		st = rt_hook_call_fire(&h, "request.before", rt_buf_str(&members),
				       rt_buf_str(&subject), &answer, err);
	}
	rt_buf_clear(&members);
	if (st == RT_OK)
		st = rt_hook_call_patch(&h, &answer, "body", &members, &found, err);
	if (st == RT_OK && found) {
		rt_buf_clear(body);
		rt_buf_add_str(body, rt_buf_str(&members));
		st = body->status == RT_OK ? RT_OK : nomem(err);
	}
	rt_hook_answer_deinit(&answer);
	rt_buf_deinit(&members);
	rt_buf_deinit(&subject);
	return st;
}

/* An after-event; words: what to say to a hook that refuses what has happened. */
static void
tell(const rt_asking *a, const char *event, const rt_buf *members, const rt_buf *subject,
     const char *words)
{
	rt_hook_call h = hooked_late(a);
	rt_hook_answer answer;

	if (members->status != RT_OK || subject->status != RT_OK)
		return;
	if (rt_hook_call_fire(&h, event, rt_buf_str(members), rt_buf_str(subject), &answer, NULL) ==
		    RT_DENIED &&
	    a->with->notice != NULL)
		a->with->notice(a->with->ctx, words);
	rt_hook_answer_deinit(&answer);
}

void
rt_asking_after(const rt_asking *a, const rt_usage *usage, rt_status st)
{
	rt_buf members, subject;

	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&subject, a->engine->alloc, RT_BUF_UNLIMITED);
	add_model(a, &members);
	rt_hook_call_add_member(&members, "status", rt_str_of(rt_status_word(st)));
	rt_buf_add_c(&members, ",\"usage\":{");
	if (usage->input != SIZE_MAX)
		rt_buf_add_f(&members, "\"input\":%zu", usage->input);
	if (usage->output != SIZE_MAX)
		rt_buf_add_f(&members, "%s\"output\":%zu", usage->input != SIZE_MAX ? "," : "",
			     usage->output);
	rt_buf_add_byte(&members, '}');
	add_subject(a, &subject);
	tell(a, "request.after", &members, &subject,
	     "a hook refused an answer that had come already");
	rt_buf_deinit(&members);
	rt_buf_deinit(&subject);
}

/* ---- a reply ---- */

rt_asking
rt_sending_asking(rt_sending *s)
{
	return (rt_asking){.engine = s->engine,
			   .with = &s->options->with,
			   .discussion = s->options->discussion,
			   .take = s->out->take[0] != '\0' ? rt_str_of(s->out->take)
							   : s->options->take,
			   .reason = "reply",
			   .stop = rt_sending_stopped,
			   .ctx = s,
			   .notes = &s->notes};
}

void
rt_sending_tell(rt_sending *s, rt_status st)
{
	rt_asking a = rt_sending_asking(s);
	rt_buf members, subject;

	rt_asking_after(&a, &s->out->usage, st);
	if (s->out->entry[0] == '\0')
		return;
	rt_buf_init(&members, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&subject, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&members, "\"entry\":{");
	rt_hook_call_add_member(&members, "id", rt_str_of(s->out->entry));
	rt_hook_call_add_member(&members, "role",
				s->options->reply_role.size > 0 ? s->options->reply_role
								: RT_STR("AI"));
	rt_hook_call_add_member(&members, "kind", RT_STR("message"));
	rt_json_add_key(&members, "content");
	rt_reply_add_content(&s->reply, &members);
	rt_reply_add_fields(&s->reply, &members);
	rt_buf_add_byte(&members, '}');
	add_subject(&a, &subject);
	rt_hook_subject_add(&subject, "role", RT_STR("AI"));
	tell(&a, "reply.after", &members, &subject, "a hook refused a reply that is kept already");
	rt_buf_deinit(&members);
	rt_buf_deinit(&subject);
}
