/* SPDX-License-Identifier: MIT
 *
 * What hooks are asked before a request to a model, and told after it. The question and the
 * reply are entries like others: act.h. */
#include "engine/send_impl.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while sending");
}

static rt_hooked
hooked(rt_sending *s)
{
	return (rt_hooked){.engine = s->engine,
			   .hooks = s->options->with.hooks,
			   .discussion = s->options->discussion,
			   .take = s->out->take[0] != '\0' ? rt_str_of(s->out->take)
							   : s->options->take,
			   .stop = rt_sending_stopped,
			   .ctx = s,
			   .notes = &s->notes};
}

/* provider=… model=…, for matchers. */
static void
add_subject(rt_sending *s, rt_buf *out)
{
	const rt_model *model = s->options->with.model;

	rt_hook_subject_add(out, "provider", rt_str_of(model->provider->name));
	rt_hook_subject_add(out, "model", model->name);
}

static void
add_model(rt_sending *s, rt_buf *out)
{
	const rt_model *model = s->options->with.model;

	rt_hooked_add_member(out, "provider", rt_str_of(model->provider->name));
	rt_hooked_add_member(out, "model", model->name);
}

/* Hooks may refuse the request, or put another body in its place. */
rt_status
rt_sending_ask(rt_sending *s, rt_buf *body, rt_error *err)
{
	rt_hooked h = hooked(s);
	rt_hook_answer answer;
	rt_buf members, subject;
	bool found = false;
	rt_status st;

	if (!rt_hooked_wants(&h, "request.before"))
		return RT_OK;
	rt_buf_init(&members, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&subject, s->engine->alloc, RT_BUF_UNLIMITED);
	add_model(s, &members);
	rt_json_add_key(&members, "body");
	rt_buf_add_str(&members, rt_buf_str(body));
	add_subject(s, &subject);
	if (members.status != RT_OK || subject.status != RT_OK) {
		rt_hook_answer_init(&answer, s->engine->alloc);
		st = nomem(err);
	} else {
		st = rt_hooked_fire(&h, "request.before", rt_buf_str(&members),
				    rt_buf_str(&subject), &answer, err);
	}
	rt_buf_clear(&members);
	if (st == RT_OK)
		st = rt_hooked_patch(&h, &answer, "body", &members, &found, err);
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

/* request.after, and reply.after where there is one. */
void
rt_sending_tell(rt_sending *s, rt_status st)
{
	rt_hooked h = hooked(s);
	rt_hook_answer answer;
	rt_buf members, subject;

	rt_buf_init(&members, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&subject, s->engine->alloc, RT_BUF_UNLIMITED);
	add_model(s, &members);
	rt_hooked_add_member(&members, "status", rt_str_of(rt_status_word(st)));
	rt_buf_add_c(&members, ",\"usage\":{");
	if (s->out->usage.input != SIZE_MAX)
		rt_buf_add_f(&members, "\"input\":%zu", s->out->usage.input);
	if (s->out->usage.output != SIZE_MAX)
		rt_buf_add_f(&members, "%s\"output\":%zu",
			     s->out->usage.input != SIZE_MAX ? "," : "", s->out->usage.output);
	rt_buf_add_byte(&members, '}');
	add_subject(s, &subject);
	if (members.status == RT_OK && subject.status == RT_OK) {
		if (rt_hooked_fire(&h, "request.after", rt_buf_str(&members), rt_buf_str(&subject),
				   &answer, NULL) == RT_DENIED)
			rt_sending_notice(s, "a hook refused an answer that had come already");
		rt_hook_answer_deinit(&answer);
	}
	rt_buf_clear(&members);
	if (s->out->entry[0] != '\0') {
		rt_buf_add_c(&members, "\"entry\":{");
		rt_hooked_add_member(&members, "id", rt_str_of(s->out->entry));
		rt_hooked_add_member(&members, "role",
				     s->options->reply_role.size > 0 ? s->options->reply_role
								     : RT_STR("AI"));
		rt_hooked_add_member(&members, "kind", RT_STR("message"));
		rt_json_add_key(&members, "content");
		rt_reply_add_content(&s->reply, &members);
		rt_reply_add_fields(&s->reply, &members);
		rt_buf_add_byte(&members, '}');
		rt_hook_subject_add(&subject, "role", RT_STR("AI"));
	}
	if (members.size > 0 && members.status == RT_OK && subject.status == RT_OK) {
		if (rt_hooked_fire(&h, "reply.after", rt_buf_str(&members), rt_buf_str(&subject),
				   &answer, NULL) == RT_DENIED)
			rt_sending_notice(s, "a hook refused a reply that is kept already");
		rt_hook_answer_deinit(&answer);
	}
	rt_buf_deinit(&members);
	rt_buf_deinit(&subject);
}
