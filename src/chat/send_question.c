/* SPDX-License-Identifier: MIT
 *
 * The first stage of send.h: append the question, and find the entry that is answered. */
#include "chat/send_impl.h"

#include <stdio.h>

#include "chat/edit_notice.h"
#include "chat/send_group.h"
#include "core/role.h"
#include "ops/hook_call.h"
#include "view/view_rows.h"

enum { REQUESTS_MAX = RT_EDIT_NOTICES_MAX + 3 /* of a question */ };

void
rt_send_note(rt_sending *s, const char *words, rt_str why)
{
	rt_hook_call_next_note(s->notes);
	rt_buf_add_c(s->notes, words);
	rt_buf_add_str(s->notes, why);
}

rt_str
rt_send_take_address(const rt_sending *s)
{
	return s->out->take[0] != '\0' ? rt_str_of(s->out->take) : s->options->take;
}

/* ---- ask ---- */

/* Files in a question that the provider does not accept. */
static void
check_file(rt_sending *s, yyjson_val *block)
{
	const rt_provider *provider = s->options->with.model->provider;
	rt_str mime = rt_json_str(rt_json_get(block, "mimeType"));
	rt_str name = rt_json_str(rt_json_get(block, "name"));
	bool is_pdf = rt_str_is(mime, "application/pdf");

	if (!is_pdf && !rt_str_is(mime, "text/plain"))
		rt_scope_fail(&s->scope, RT_REFUSED,
			      "%.*s cannot be sent: it is neither text nor a PDF, nor a PNG, JPEG, GIF or "
			      "WebP image", RT_STR_ARG(name));
	else if (is_pdf && (provider->writer->file == NULL || provider->no_images))
		rt_scope_fail(
			&s->scope, RT_REFUSED,
			"%s does not accept PDF files (%.*s): attach the text of the file instead, or choose another model",
			provider->name, RT_STR_ARG(name));
}

/* Images and files that the provider cannot be sent are refused in a question; those of older
 * entries are replaced by placeholder text. */
static void
check_images(rt_sending *s, yyjson_val *blocks)
{
	const rt_model *model = s->options->with.model;
	const rt_provider *provider = model->provider;
	yyjson_val *block;
	size_t i, max;

	yyjson_arr_foreach(blocks, i, max, block)
	{
		rt_str type = rt_json_str(rt_json_get(block, "type"));
		bool is_url = rt_str_is(type, "image_url");

		if (rt_str_is(type, "file"))
			check_file(s, block);
		if (!is_url && !rt_str_is(type, "image"))
			continue;
		if (provider->no_images)
			rt_scope_fail(&s->scope, RT_REFUSED,
				      "%s/%.*s does not accept images; choose another model or "
				      "remove the image", provider->name, RT_STR_ARG(model->name));
		else if (is_url && provider->no_image_urls)
			rt_scope_fail(&s->scope, RT_REFUSED,
				      "%s does not accept image URLs: download the image and "
				      "attach the file", provider->name);
	}
}

/* Before anything is changed: can the question be sent? */
void
rt_send_check_question(rt_sending *s)
{
	const rt_send_options *o = s->options;

	if (o->how != RT_SEND_ASK || o->text.ptr == NULL)
		return;
	if (o->content.size > 0)
		s->blocks = rt_json_parse(&s->scope, o->content);
	check_images(s, s->blocks);
}

/* The same for a question that was added before. */
void
rt_send_check_asked(rt_sending *s)
{
	rt_view view = {&s->scope, s->engine, s->value, s->place};
	const rt_disc *disc = NULL;
	rt_slot slot = {0};
	rt_str role = {0};
	bool found = false;
	size_t at;

	if (!rt_ok(&s->scope) || s->anchor == 0 || s->into != 0 || s->out->question[0] != '\0')
		return;
	RT_TRY(&s->scope, rt_project_disc(s->value, s->place.disc, &disc, &s->scope.error));
	if (!rt_ok(&s->scope))
		return;
	RT_TRY(&s->scope, rt_take_find(s->value, rt_disc_take(disc, s->place.take), s->anchor, &at,
				       &slot, &found, &s->scope.error));
	if (rt_ok(&s->scope) && found)
		RT_TRY(&s->scope, rt_project_name(s->value, slot.role, &role, &s->scope.error));
	if (!rt_ok(&s->scope) || !found || slot.kind != 0 || !rt_role_is_user(role))
		return;
	const rt_body *body = rt_view_body(&view, slot.body);

	if (body != NULL)
		check_images(s, body->content_json);
	if (!rt_ok(&s->scope))
		s->anchor = 0; /* nothing was sent: the question does not keep a failure */
}

/* With auto_add_history off an exchange gets a new take, unless it begins one anyway: the original
 * take is not changed. */
static bool
is_aside(rt_sending *s)
{
	const rt_project *value = rt_engine_value(s->engine);
	bool is_off = rt_str_is(rt_fields_get(value->fields, RT_STR("setting.auto_add_history")),
				"false");

	rt_object_unref(value);
	return is_off && s->options->at.size == 0;
}

/* The question, preceded by notices of changes unknown to the model, as one step. */
static void
append_question(rt_sending *s)
{
	const rt_send_options *o = s->options;
	rt_request requests[REQUESTS_MAX];
	rt_result results[REQUESTS_MAX];
	rt_request question = {.op = RT_OP_ENTRY_APPEND,
			       .role = o->role.size > 0 ? o->role : RT_STR("User"),
			       .content.text = o->text};
	size_t count = 0;

	if (o->how != RT_SEND_ASK || o->text.ptr == NULL)
		return;
	question.content.blocks = s->blocks;
	if (is_aside(s))
		question.aside = RT_YES; /* the next question will bring the notices */
	if (o->at.size > 0)
		requests[count++] = (rt_request){.op = RT_OP_HEAD_MOVE, .entry = o->at};
	if (question.aside != RT_YES)
		count += rt_edit_notice_requests(&s->scope, s->engine, o->discussion, o->take,
						 o->at, requests + count);
	if (o->clears_draft)
		requests[count++] = (rt_request){
			.op = RT_OP_SETTING_SET,
			.key = RT_STR("draft"),
			.value = rt_json_parse(&s->scope, RT_STR("null"))};
	requests[count++] = question;
	if (!rt_ok(&s->scope))
		return;
	rt_status st = rt_apply(s->engine, &s->apply, requests, count, count > 1, o->discussion,
				o->take, results);
	if (st != RT_OK)
		s->scope.error = results[rt_results_cause(results, count)].error;
	if (rt_scope_note(&s->scope, st) == RT_OK) {
		memcpy(s->out->question, results[count - 1].entry, sizeof(s->out->question));
		s->out->question_seq = results[count - 1].seq;
	}
	if (st == RT_OK && question.aside == RT_YES) {
		s->out->aside = true;
		rt_send_note(s, "auto_add_history is off: to continue this exchange, switch to its take, ",
		     rt_str_of(results[count - 1].take));
	}
	for (size_t i = 0; i < count; i++) {
		if (st == RT_OK && results[i].take[0] != '\0') /* appended in mid-take: a new one */
			memcpy(s->out->take, results[i].take, sizeof(s->out->take));
		rt_result_deinit(&results[i]);
	}
}

/* ---- the anchor: the answered entry ---- */

static rt_slot
slot_at(rt_sending *s, const rt_take *take, size_t at)
{
	rt_slot slot = {0};

	RT_TRY(&s->scope, rt_seq_copy(take->slots, at, 1, &slot, &s->scope.error));
	return slot;
}

static bool
is_reply(rt_sending *s, const rt_slot *slot)
{
	rt_str role = {0};

	if (slot->kind != 0)
		return false;
	RT_TRY(&s->scope, rt_project_name(s->value, slot->role, &role, &s->scope.error));
	return rt_ok(&s->scope) && rt_role_is_assistant(role);
}

/* A message: not a summary, label or the like. */
static bool
is_message(const rt_slot *slot)
{
	return slot->kind == 0 && (slot->flags & RT_SLOT_MUTED) == 0;
}

/* The reply that AGAIN and CONTINUE refer to, and its position. *out_found false: it is a question,
 * given by `at`, or the last message. */
static size_t
find_reply(rt_sending *s, const rt_take *take, size_t end, bool *out_found)
{
	rt_scope *sc = &s->scope;
	rt_slot slot = {0};
	uint32_t entry = 0;
	bool found = false;
	size_t at = end;

	*out_found = false;
	if (s->options->at.size > 0) {
		RT_TRY(sc, rt_resolve_entry(s->value, s->place, s->options->at, false, &entry,
					    &sc->error));
		RT_TRY(sc, rt_take_find(s->value, take, entry, &at, &slot, &found, &sc->error));
		if (!found)
			rt_scope_fail(sc, RT_NOT_FOUND, "the take does not contain that entry");
		*out_found = rt_ok(sc) && is_reply(s, &slot);
		return at;
	}
	while (rt_ok(sc) && at > 0) {
		slot = slot_at(s, take, --at);
		*out_found = is_reply(s, &slot);
		if (*out_found || is_message(&slot)) /* or an unanswered question */
			return at;
	}
	rt_scope_fail(sc, RT_REFUSED, "there is no reply yet; ask something first");
	return at;
}

/* The question that was just appended. If another take was activated meanwhile, the first one that
 * contains it. */
static void
find_question(rt_sending *s, const rt_disc *disc)
{
	rt_str question = rt_str_of(s->out->question);
	rt_scope *sc = &s->scope;
	rt_place place = s->place;
	rt_status st = rt_resolve_entry(s->value, place, question, false, &s->anchor, &sc->error);

	if (st == RT_NOT_FOUND && rt_send_take_address(s).size == 0)
		for (place.take = 1; place.take <= rt_disc_take_count(disc); place.take++)
			if (rt_disc_take(disc, place.take)->present &&
			    rt_resolve_entry(s->value, place, question, false, &s->anchor, NULL) ==
				    RT_OK) {
				s->place = place;
				rt_str name = rt_text_str(rt_disc_take(disc, place.take)->name);

				(void)snprintf(s->out->take, sizeof(s->out->take), "%.*s",
					       RT_STR_ARG(name));
				return;
			}
	rt_scope_note(sc, st);
}

/* Where the reply goes: place, anchor, into, is_mid_take. */
static void
find_anchor(rt_sending *s)
{
	rt_send_how how = s->options->how;
	rt_scope *sc = &s->scope;
	const rt_disc *disc = NULL;
	bool is_one = false;

	RT_TRY(sc, rt_resolve_place(s->value, s->options->discussion, rt_send_take_address(s), &s->place,
				    &sc->error));
	RT_TRY(sc, rt_project_disc(s->value, s->place.disc, &disc, &sc->error));
	if (!rt_ok(sc))
		return;
	const rt_take *take = rt_disc_take(disc, s->place.take);
	size_t count = rt_seq_count(take->slots), end = count;
	if (how == RT_SEND_ASK && s->out->question[0] != '\0') {
		find_question(s, disc); /* others may have appended after it */
		return;
	}
	if (take->number == disc->active)
		RT_TRY(sc, rt_disc_head_at(s->value, disc, &end, &sc->error));
	if (how == RT_SEND_ASK) {
		if (end == 0)
			rt_scope_fail(sc, RT_REFUSED, "there is no entry to answer yet");
		rt_slot last = rt_ok(sc) ? slot_at(s, take, end - 1) : (rt_slot){0};
		s->anchor = last.entry;
		s->answers_reply = rt_ok(sc) && is_reply(s, &last);
		/* in mid-take as append does (C9); entries that others append later do not count */
		s->is_mid_take = end < count;
		return;
	}
	size_t at = find_reply(s, take, end, &is_one);
	if (how == RT_SEND_CONTINUE) {
		if (!is_one && s->options->at.size == 0)
			rt_scope_fail(sc, RT_REFUSED, "the last entry is not a reply, so it "
				      "cannot be continued; to get a reply: retake again");
		if (!is_one)
			rt_scope_fail(sc, RT_REFUSED, "that entry is not a model's reply");
		if (rt_ok(sc))
			s->into = s->anchor = slot_at(s, take, at).entry;
		return;
	}
	if (is_one && at == 0)
		rt_scope_fail(sc, RT_REFUSED, "there is no entry before that reply to answer");
	if (rt_ok(sc))
		s->anchor = slot_at(s, take, is_one ? at - 1 : at).entry;
	/* a question that ends its take is answered in that take */
	s->is_mid_take = is_one || at + 1 < count;
}

rt_status
rt_send_continued(const rt_project *value, rt_str discussion, rt_str take, rt_str at, uint32_t *out,
		  rt_error *err)
{
	rt_send_options options = {
		.how = RT_SEND_CONTINUE, .discussion = discussion, .take = take, .at = at};
	rt_send_result result = {0};
	rt_sending s = {.options = &options, .out = &result, .value = value};

	rt_scope_init(&s.scope, rt_alloc_libc());
	find_anchor(&s);
	if (rt_ok(&s.scope))
		*out = s.into;
	return rt_scope_end(&s.scope, err);
}

/* ---- a group ---- */

/* Adds the question, or waits until another member has added it. */
void
rt_send_ask(rt_sending *s)
{
	rt_send_group *group = s->options->group;
	rt_scope *sc = &s->scope;
	rt_send_asked asked = {0};
	bool leads = true, can_ask = rt_ok(sc);

	if (can_ask && group != NULL)
		leads = rt_send_group_wait(group, &asked);
	if (rt_ok(sc) && leads)
		append_question(s);
	s->value = rt_engine_value(s->engine);
	if (rt_ok(sc) && leads)
		find_anchor(s);
	if (group == NULL || !can_ask)
		return;
	if (!leads) {
		memcpy(s->out->question, asked.question, sizeof(asked.question));
		memcpy(s->out->take, asked.take, sizeof(asked.take));
		s->out->question_seq = asked.question_seq;
		s->place = asked.place;
		s->anchor = asked.anchor;
		s->is_mid_take = asked.is_mid_take;
		s->answers_reply = asked.answers_reply;
		return;
	}
	asked = (rt_send_asked){.question_seq = s->out->question_seq,
				.place = s->place,
				.anchor = s->anchor,
				.is_mid_take = s->is_mid_take,
				.answers_reply = s->answers_reply};
	memcpy(asked.question, s->out->question, sizeof(asked.question));
	memcpy(asked.take, s->out->take, sizeof(asked.take));
	rt_send_group_asked(group, rt_ok(sc) || asked.question[0] != '\0' ? &asked : NULL);
}
