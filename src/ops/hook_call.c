/* SPDX-License-Identifier: MIT
 *
 * Events: their members, and the hooks' answers. */
#include "ops/hook_call.h"

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
rt_hook_call_add_known(rt_buf *buf, const char *key, rt_str text)
{
	if (text.size > 0)
		rt_json_put_str(buf, key, text);
	else
		rt_json_put_null(buf, key);
}

/* "session":{…},"via":… and the place's description. If the event removed the place, the active
 * one. */
static void
add_place(const rt_hook_call *h, rt_buf *members, rt_buf *subject, rt_scope *s)
{
	const rt_project *value = rt_engine_value(h->engine);
	rt_str project = rt_text_str(h->engine->name), none = RT_STR("");
	const rt_disc *disc;
	rt_place place;
	rt_status st = rt_resolve_place(value, h->discussion, h->take, &place, &s->error);

	if (st == RT_NOT_FOUND)
		st = rt_resolve_place(value, none, none, &place, &s->error);
	rt_scope_note(s, st);
	RT_TRY(s, rt_project_disc(value, place.disc, &disc, &s->error));
	if (rt_ok(s)) {
		const rt_take *t = rt_disc_take(disc, place.take);
		rt_str discussion = rt_cell_name(rt_project_cell(value, place.disc));
		rt_str take = t != NULL ? rt_text_str(t->name) : none;

		rt_json_open(members, "session", '{');
		rt_json_put_str(members, "project", project);
		rt_json_put_str(members, "discussion", discussion);
		rt_json_put_str(members, "take", take);
		rt_json_close(members, '}');
		rt_json_put_str(members, "via", h->by.size > 0 ? h->by : rt_text_str(h->engine->by));
		rt_hook_subject_add(subject, "project", project);
		rt_hook_subject_add(subject, "discussion", discussion);
		rt_hook_subject_add(subject, "take", take);
	}
	rt_object_unref(value);
}

rt_status
rt_hook_call_fire(const rt_hook_call *h, const char *event, rt_str members, rt_str subject,
		  rt_hook_answer *answer, rt_error *err)
{
	rt_scope s;

	rt_hook_answer_init(answer, h->engine->alloc);
	if (!rt_hook_call_wants(h, event))
		return RT_OK;
	rt_scope_init(&s, h->engine->alloc);
	rt_buf *all = rt_scope_buf(&s), *words = rt_scope_buf(&s);
	rt_buf_add_str(words, subject);
	add_place(h, all, words, &s);
	if (members.size > 0) {
		rt_buf_add_byte(all, ',');
		rt_buf_add_str(all, members);
	}
	rt_str event_text = rt_scope_str(&s, all), matched = rt_scope_str(&s, words);
	RT_TRY(&s, h->hooks->ops->fire(h->hooks, event, event_text, matched, h->stop, h->ctx, answer,
				       &s.error));
	if (h->notes != NULL && answer->notes.size > 0) {
		rt_hook_call_next_note(h->notes);
		rt_buf_add_str(h->notes, rt_buf_str(&answer->notes));
	}
	if (answer->decision == RT_HOOK_DENY)
		rt_scope_fail(&s, RT_DENIED, "hook %.*s: %.*s", RT_STR_ARG(rt_buf_str(&answer->by)),
			      RT_STR_ARG(answer->reason.size > 0 ? rt_buf_str(&answer->reason)
								 : RT_STR("cancelled")));
	if (s.status == RT_DENIED && answer->decision == RT_HOOK_DENY)
		s.error.is_quiet = answer->reason.size == 0;
	return rt_scope_end(&s, err);
}

void
rt_hook_call_notify(const rt_hook_call *h, const char *event, const rt_buf *members,
		    const rt_buf *subject)
{
	rt_hook_answer answer;
	rt_error err = {0};
	rt_status st = RT_NOMEM;

	if (members->status == RT_OK && (subject == NULL || subject->status == RT_OK)) {
		st = rt_hook_call_fire(h, event, rt_buf_str(members),
				       subject != NULL ? rt_buf_str(subject) : RT_STR(""), &answer,
				       &err);
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

/* ---- members of events ---- */

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
	rt_body body = {0};
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	rt_buf *bytes = rt_scope_buf(&s);
	RT_TRY(&s, rt_entry_id(value, slot->entry, id, &s.error));
	if (c != NULL && rt_ok(&s)) {
		rt_change_body_bytes(c, slot->body, bytes);
		rt_scope_adopt(&s, c->scope);
		RT_TRY(&s, rt_body_read(engine->alloc, rt_buf_str(bytes), &body, &s.error));
	} else {
		RT_TRY(&s, rt_engine_body(engine, slot->body, bytes, &body, &s.error));
	}
	if (rt_ok(&s)) {
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "id", id);
		rt_json_put_str(out, "role", entry->role);
		rt_json_put_str(out, "kind", kind_of(entry->kind));
		rt_json_add_key(out, "content");
		rt_body_add_content(out, &body);
		rt_body_add_fields(out, engine->alloc, &body, false);
		rt_json_close(out, '}');
		RT_TRY(&s, out->status);
		rt_body_deinit(&body);
	}
	return rt_scope_end(&s, err);
}

rt_status
rt_hook_call_add_id(const rt_project *value, rt_buf *out, const char *key, uint32_t entry,
		    rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_status st = entry != 0 ? rt_entry_id(value, entry, id, err) : RT_OK;

	if (st == RT_OK)
		rt_json_put_c(out, key, entry != 0 ? id : NULL);
	return st;
}

rt_status
rt_hook_call_add_preparation(rt_engine *engine, const rt_project *value,
			     const rt_hook_call_leaving *leaving, rt_change *c, rt_buf *out,
			     rt_error *err)
{
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	rt_json_open(out, "preparation", '{');
	RT_TRY(&s, rt_hook_call_add_id(value, out, "targetId", leaving->target, &s.error));
	RT_TRY(&s, rt_hook_call_add_id(value, out, "oldLeafId", leaving->leaf, &s.error));
	RT_TRY(&s, rt_hook_call_add_id(value, out, "commonAncestorId", leaving->ancestor, &s.error));
	rt_json_open(out, "entriesToSummarize", '[');
	for (size_t i = 0; rt_ok(&s) && i < leaving->count; i++) {
		rt_effect_slot slot;

		RT_TRY(&s, rt_hook_call_name(value, &leaving->slots[i], &slot, &s.error));
		RT_TRY(&s, rt_hook_call_add_entry(engine, value, &slot, c, out, &s.error));
	}
	rt_json_close(out, ']');
	rt_json_put_bool(out, "userWantsSummary", leaving->wants_summary);
	rt_json_close(out, '}');
	return rt_scope_end(&s, err);
}
