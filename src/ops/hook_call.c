/* SPDX-License-Identifier: MIT */
#include "ops/hook_call.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

void
rt_hooks_renew(rt_hooks *hooks)
{
	if (hooks != NULL && hooks->ops->renew != NULL)
		hooks->ops->renew(hooks);
}

bool
rt_hook_call_wants(const rt_hook_call *h, const char *event)
{
	rt_hooks_renew(h->hooks);
	return h->hooks != NULL && h->hooks->ops->wants(h->hooks, event);
}

void
rt_hook_call_next_note(rt_buf *notes)
{
	if (notes->size > 0)
		rt_buf_add_byte(notes, '\n');
}

void
rt_hook_call_add_member(rt_buf *buf, const char *key, rt_str text)
{
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, text);
}

void
rt_hook_call_add_known(rt_buf *buf, const char *key, rt_str text)
{
	rt_json_add_key(buf, key);
	if (text.size > 0)
		rt_json_add_string(buf, text);
	else
		rt_buf_add_c(buf, "null");
}

/* "session":{…},"via":… and the words of the place. */
static rt_status
add_place(const rt_hook_call *h, rt_buf *members, rt_buf *subject, rt_error *err)
{
	const rt_project *value = rt_engine_value(h->engine);
	rt_str discussion = rt_str_at("", 0), take = rt_str_at("", 0);
	const rt_disc *disc;
	rt_place place;
	rt_status st = rt_resolve_place(value, h->discussion, h->take, &place, err);

	/* what has happened may have taken the place away */
	if (st == RT_NOT_FOUND)
		st = rt_resolve_place(value, rt_str_at("", 0), rt_str_at("", 0), &place, err);
	if (st == RT_OK)
		st = rt_project_disc(value, place.disc, &disc, err);
	if (st == RT_OK) {
		const rt_take *t = rt_disc_take(disc, place.take);

		discussion = rt_cell_name(rt_project_cell(value, place.disc));
		take = t != NULL ? rt_text_str(t->name) : rt_str_at("", 0);
		rt_buf_add_c(members, "\"session\":{");
		rt_hook_call_add_member(members, "project", rt_text_str(h->engine->name));
		rt_hook_call_add_member(members, "discussion", discussion);
		rt_hook_call_add_member(members, "take", take);
		rt_buf_add_byte(members, '}');
		rt_hook_call_add_member(members, "via",
					h->by.size > 0 ? h->by : rt_text_str(h->engine->by));
		rt_hook_subject_add(subject, "project", rt_text_str(h->engine->name));
		rt_hook_subject_add(subject, "discussion", discussion);
		rt_hook_subject_add(subject, "take", take);
		if (members->status != RT_OK || subject->status != RT_OK)
			st = nomem(err);
	}
	rt_object_unref(value);
	return st;
}

rt_status
rt_hook_call_fire(const rt_hook_call *h, const char *event, rt_str members, rt_str subject,
		  rt_hook_answer *answer, rt_error *err)
{
	rt_buf all, words;
	rt_status st;

	rt_hook_answer_init(answer, h->engine->alloc);
	if (!rt_hook_call_wants(h, event))
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
		rt_hook_call_next_note(h->notes);
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

void
rt_hook_call_notify(const rt_hook_call *h, const char *event, const rt_buf *members,
		    const rt_buf *subject)
{
	rt_hook_answer answer;
	rt_error err;
	rt_status st = RT_NOMEM;

	memset(&err, 0, sizeof(err));
	if (members->status == RT_OK && (subject == NULL || subject->status == RT_OK)) {
		st = rt_hook_call_fire(h, event, rt_buf_str(members),
				       subject != NULL ? rt_buf_str(subject) : rt_str_at("", 0),
				       &answer, &err);
		rt_hook_answer_deinit(&answer);
	}
	if (st == RT_OK || h->notes == NULL)
		return;
	rt_hook_call_next_note(h->notes);
	rt_buf_add_f(h->notes, "%s: %s", event, err.text[0] != '\0' ? err.text : "out of memory");
}

static void
close_answer(void *answer)
{
	rt_hook_answer_deinit(answer);
}

const rt_hook_answer *
rt_hook_call_ask(rt_scope *s, const rt_hook_call *h, const char *event, const rt_buf *members,
		 rt_str subject)
{
	rt_hook_answer *answer = rt_scope_get(s, sizeof(*answer));
	rt_str text = rt_scope_str(s, members);

	if (!rt_ok(s))
		return NULL;
	RT_TRY(s, rt_hook_call_fire(h, event, text, subject, answer, &s->error));
	rt_scope_defer(s, close_answer, answer);
	return rt_ok(s) ? answer : NULL;
}

yyjson_val *
rt_hook_call_patched(rt_scope *s, const rt_hook_answer *answer, const char *key)
{
	if (answer->decision != RT_HOOK_REPLACE || answer->patch.size == 0)
		return NULL;
	return rt_json_get(rt_json_parse(s, rt_buf_str(&answer->patch)), key);
}

rt_status
rt_hook_call_patch(const rt_hook_call *h, const rt_hook_answer *answer, const char *key,
		   rt_buf *out, bool *out_found, rt_error *err)
{
	yyjson_val *value;
	rt_scope s;

	rt_scope_init(&s, h->engine->alloc);
	value = rt_hook_call_patched(&s, answer, key);
	*out_found = value != NULL;
	if (value != NULL)
		rt_json_add_value(out, value);
	RT_TRY(&s, out->status);
	return rt_scope_end(&s, err);
}

/* ---- what events say ---- */

rt_status
rt_hook_call_name(const rt_project *value, const rt_slot *slot, rt_effect_slot *out, rt_error *err)
{
	rt_status st;

	memset(out, 0, sizeof(*out));
	out->slot = *slot;
	st = rt_project_name(value, slot->role, &out->role, err);
	if (st == RT_OK && slot->kind != 0)
		st = rt_project_name(value, slot->kind, &out->kind, err);
	return st;
}

static rt_str
kind_of(rt_str kind)
{
	return kind.size > 0 ? kind : RT_STR("message");
}

void
rt_hook_call_add_subject(rt_buf *subject, rt_str role, rt_str kind)
{
	rt_hook_subject_add(subject, "role", role);
	rt_hook_subject_add(subject, "kind", kind_of(kind));
}

rt_status
rt_hook_call_add_entry(rt_engine *engine, const rt_project *value, const rt_effect_slot *entry,
		       rt_change *c, rt_buf *out, rt_error *err)
{
	const rt_slot *slot = &entry->slot;
	char id[RT_ID_MAX + 1];
	rt_buf bytes;
	rt_body body = {0};
	rt_status st = rt_entry_id(value, slot->entry, id, err);

	if (st != RT_OK)
		return st;
	rt_buf_init(&bytes, engine->alloc, RT_BUF_UNLIMITED);
	if (c != NULL) {
		rt_change_body_bytes(c, slot->body, &bytes);
		st = rt_change_status(c, err);
		if (st == RT_OK)
			st = rt_body_read(engine->alloc, rt_buf_str(&bytes), &body, err);
	} else {
		st = rt_engine_body(engine, slot->body, &bytes, &body, err);
		if (st != RT_OK)
			return st;
	}
	if (st == RT_OK) {
		rt_json_add_comma(out);
		rt_buf_add_byte(out, '{');
		rt_hook_call_add_member(out, "id", rt_str_of(id));
		rt_hook_call_add_member(out, "role", entry->role);
		rt_hook_call_add_member(out, "kind", kind_of(entry->kind));
		rt_json_add_key(out, "content");
		rt_body_add_content(out, &body);
		rt_body_add_fields(out, engine->alloc, &body, false);
		rt_buf_add_byte(out, '}');
		st = out->status == RT_OK ? RT_OK : nomem(err);
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

rt_status
rt_hook_call_add_id(const rt_project *value, rt_buf *out, const char *key, uint32_t entry,
		    rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_status st = RT_OK;

	rt_json_add_key(out, key);
	if (entry == 0) {
		rt_buf_add_c(out, "null");
		return RT_OK;
	}
	st = rt_entry_id(value, entry, id, err);
	if (st == RT_OK)
		rt_json_add_string(out, rt_str_of(id));
	return st;
}

rt_status
rt_hook_call_add_preparation(rt_engine *engine, const rt_project *value,
			     const rt_hook_call_leaving *leaving, rt_change *c, rt_buf *out,
			     rt_error *err)
{
	rt_effect_slot slot;
	size_t i;
	rt_status st;

	rt_json_add_key(out, "preparation");
	rt_buf_add_byte(out, '{');
	st = rt_hook_call_add_id(value, out, "targetId", leaving->target, err);
	if (st == RT_OK)
		st = rt_hook_call_add_id(value, out, "oldLeafId", leaving->leaf, err);
	if (st == RT_OK)
		st = rt_hook_call_add_id(value, out, "commonAncestorId", leaving->ancestor, err);
	rt_buf_add_c(out, ",\"entriesToSummarize\":[");
	for (i = 0; st == RT_OK && i < leaving->count; i++) {
		st = rt_hook_call_name(value, &leaving->slots[i], &slot, err);
		if (st == RT_OK)
			st = rt_hook_call_add_entry(engine, value, &slot, c, out, err);
	}
	rt_buf_add_c(out, leaving->wants_summary ? "],\"userWantsSummary\":true}"
						 : "],\"userWantsSummary\":false}");
	return st;
}
