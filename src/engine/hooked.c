/* SPDX-License-Identifier: MIT */
#include "engine/hooked.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

bool
rt_hooked_wants(const rt_hooked *h, const char *event)
{
	return h->hooks != NULL && h->hooks->ops->wants(h->hooks, event);
}

static void
add_member(rt_buf *buf, const char *key, rt_str text)
{
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, text);
}

/* "session":{…},"via":… and the words of the place. */
static rt_status
add_place(const rt_hooked *h, rt_buf *members, rt_buf *subject, rt_error *err)
{
	const rt_project *value = rt_engine_value(h->engine);
	rt_str discussion = rt_str_at("", 0), take = rt_str_at("", 0);
	const rt_disc *disc;
	rt_place place;
	rt_status st = rt_resolve_place(value, h->discussion, h->take, &place, err);

	if (st == RT_OK)
		st = rt_project_disc(value, place.disc, &disc, err);
	if (st == RT_OK) {
		const rt_take *t = rt_disc_take(disc, place.take);

		discussion = rt_text_str(rt_project_cell(value, place.disc)->name);
		take = t != NULL ? rt_text_str(t->name) : rt_str_at("", 0);
		rt_buf_add_c(members, "\"session\":{");
		add_member(members, "discussion", discussion);
		add_member(members, "take", take);
		rt_buf_add_byte(members, '}');
		add_member(members, "via", rt_text_str(h->engine->by));
		rt_hook_subject_add(subject, "discussion", discussion);
		rt_hook_subject_add(subject, "take", take);
		if (members->status != RT_OK || subject->status != RT_OK)
			st = nomem(err);
	}
	rt_object_unref(value);
	return st;
}

rt_status
rt_hooked_fire(const rt_hooked *h, const char *event, rt_str members, rt_str subject,
	       rt_hook_answer *answer, rt_error *err)
{
	rt_buf all, words;
	rt_status st;

	rt_hook_answer_init(answer, h->engine->alloc);
	if (!rt_hooked_wants(h, event))
		return RT_OK;
	rt_buf_init(&all, h->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&words, h->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&words, subject);
	st = add_place(h, &all, &words, err);
	if (members.size > 0) {
		rt_buf_add_byte(&all, ',');
		rt_buf_add_str(&all, members);
	}
	if (st == RT_OK && (all.status != RT_OK || words.status != RT_OK))
		st = nomem(err);
	if (st == RT_OK)
		st = h->hooks->ops->fire(h->hooks, event, rt_buf_str(&all), rt_buf_str(&words),
					 h->stop, h->ctx, answer, err);
	if (h->notes != NULL && answer->notes.size > 0) {
		if (h->notes->size > 0)
			rt_buf_add_byte(h->notes, '\n');
		rt_buf_add_str(h->notes, rt_buf_str(&answer->notes));
	}
	if (st == RT_OK && answer->decision == RT_HOOK_DENY)
		st = rt_fail(err, RT_DENIED, "hook %.*s: %.*s",
			     RT_STR_ARG(rt_buf_str(&answer->by)),
			     RT_STR_ARG(answer->reason.size > 0 ? rt_buf_str(&answer->reason)
								: RT_STR("cancelled")));
	rt_buf_deinit(&all);
	rt_buf_deinit(&words);
	return st;
}

bool
rt_hooked_patch(const rt_hooked *h, const rt_hook_answer *answer, const char *key, rt_buf *out)
{
	rt_json_doc *doc = NULL;
	yyjson_val *value;

	if (answer->patch.size == 0 ||
	    rt_json_read(h->engine->alloc, rt_buf_str(&answer->patch), &doc, NULL) != RT_OK)
		return false;
	value = rt_json_get(rt_json_root(doc), key);
	if (value != NULL)
		rt_json_add_value(out, value);
	rt_json_free(doc);
	return value != NULL && out->status == RT_OK;
}
