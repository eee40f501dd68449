/* SPDX-License-Identifier: MIT
 *
 * From a question to a reply that is kept: the stages of send.h in their order. */
#include "chat/send.h"

#include <stdio.h>

#include "base/moment.h"
#include "chat/context.h"
#include "chat/edit_notice.h"
#include "chat/exchange.h"
#include "chat/inflight.h"
#include "chat/last_request.h"
#include "chat/prompt_update.h"
#include "chat/send_group.h"
#include "chat/summary.h"
#include "core/role.h"
#include "core/setting.h"

enum {
	LOOK_EVERY_US = 1000 * 1000, /* how often the anchor is checked while a reply arrives */
	COMPACT_RESERVE_TOKENS = 16384,
	REQUESTS_MAX = RT_EDIT_NOTICES_MAX + 3 /* of a question */
};

typedef struct sending {
	rt_scope scope;
	rt_engine *engine;
	const rt_send_options *options;
	rt_send_result *out;
	rt_apply_context apply;  /* of the question and the reply */
	const rt_project *value; /* that the request is built from; or NULL */
	rt_place place;
	uint32_t anchor;  /* the entry that is answered; 0: none */
	uint32_t into;    /* CONTINUE: the reply that is continued, which is the anchor too */
	bool is_mid_take;   /* the reply gets a new take */
	bool answers_reply; /* the anchor is a model's reply */
	rt_attachments files;
	const rt_project *files_of; /* the value for which they were read; or NULL */
	rt_str files_message;       /* the message whose symbols are among them */
	yyjson_val *blocks;         /* of the question; or NULL */
	size_t budget_tokens; /* of the request */
	size_t newest;    /* entries that are sent besides summaries */
	rt_inflight inflight;
	rt_buf *model;    /* "openai/gpt-4o" */
	rt_buf *notes;
	rt_reply reply;
	rt_prompt_updates updates;
	rt_prompt_stream stream; /* of a JSON reply */
	int64_t looked_us;
	bool gone;        /* the anchor, or its discussion, was deleted */
} sending;

static int64_t
now_us(const sending *s)
{
	return s->engine->env->now_us(s->engine->env->ctx);
}

static bool
stopped(void *ctx)
{
	const sending *s = ctx;
	const rt_send_with *with = &s->options->with;

	return s->gone || (with->stop != NULL && with->stop(with->ctx));
}

static void
pass_notice(void *ctx, const rt_notice *said)
{
	const sending *s = ctx;
	const rt_send_with *with = &s->options->with;

	if (with->notice != NULL)
		with->notice(with->ctx, said);
}

static void
notice(sending *s, const char *words)
{
	pass_notice(s, &(rt_notice){.words = words});
}

static void
note(sending *s, const char *words, rt_str why)
{
	rt_hook_call_next_note(s->notes);
	rt_buf_add_c(s->notes, words);
	rt_buf_add_str(s->notes, why);
}

static rt_str
take_address(const sending *s)
{
	return s->out->take[0] != '\0' ? rt_str_of(s->out->take) : s->options->take;
}

/* ---- files ---- */

/* Did the lists of files change? */
static bool
has_same_files(const rt_fields *a, const rt_fields *b)
{
	static const char *const lists[] = {"files", "context_files", "screenshots"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (!rt_str_eq(rt_fields_get(a, rt_str_of(lists[i])),
			       rt_fields_get(b, rt_str_of(lists[i]))))
			return false;
	return true;
}

/* Reads the files of the value and the symbols that the message names, unless they were read for the
 * same lists and message. This happens before a question is appended, too, so that nothing has
 * changed if one cannot be sent. */
static void
read_files(sending *s, const rt_project *value, rt_str message)
{
	const rt_send_with *with = &s->options->with;
	const rt_disc *then = NULL, *now = NULL;
	rt_scope *sc = &s->scope;
	rt_place place = {0, 0};

	if (with->attach == NULL || with->model == NULL)
		return;
	RT_TRY(sc, rt_resolve_place(value, s->options->discussion, RT_STR(""), &place, &sc->error));
	RT_TRY(sc, rt_project_disc(value, place.disc, &now, &sc->error));
	if (rt_ok(sc) && message.size > 0 && !rt_attach_has_symbols(sc, value, place.disc))
		message = RT_STR("");
	if (rt_ok(sc) && s->files_of != NULL && rt_str_eq(message, s->files_message) &&
	    rt_project_disc(s->files_of, place.disc, &then, NULL) == RT_OK &&
	    has_same_files(then->fields, now->fields))
		return;
	if (!rt_ok(sc))
		return;
	rt_object_unref(s->files_of);
	s->files_of = rt_object_ref(value);
	s->files_message = message;
	s->files = with->attach(with->attach_ctx, sc, value, place.disc, message);
	if (rt_ok(sc))
		rt_attachments_check(sc, &s->files, with->model->provider);
	s->out->files_failed = sc->status == RT_REFUSED;
}

/* ---- ask ---- */

/* Files in a question that the provider does not accept. */
static void
check_file(sending *s, yyjson_val *block)
{
	const rt_provider *provider = s->options->with.model->provider;
	rt_str mime = rt_json_str(rt_json_get(block, "mimeType"));
	rt_str name = rt_json_str(rt_json_get(block, "name"));
	bool is_pdf = rt_str_is(mime, "application/pdf");

	if (!is_pdf && !rt_str_is(mime, "text/plain"))
		rt_scope_fail(&s->scope, RT_REFUSED,
			      "%.*s cannot be sent: it is not a text, a PDF or a PNG, JPEG, GIF or "
			      "WebP image", RT_STR_ARG(name));
	else if (is_pdf && (provider->writer->file == NULL || provider->no_images))
		rt_scope_fail(&s->scope, RT_REFUSED,
			      "%s does not accept PDF files (%.*s): attach its text, or choose "
			      "another model", provider->name, RT_STR_ARG(name));
}

/* Images and files that the provider cannot be sent are refused in a question; those of older
 * entries are replaced by placeholder text. */
static void
check_images(sending *s, yyjson_val *blocks)
{
	const rt_provider *provider = s->options->with.model->provider;
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
			rt_scope_fail(&s->scope, RT_REFUSED, "%s does not accept images", provider->name);
		else if (is_url && provider->no_image_urls)
			rt_scope_fail(&s->scope, RT_REFUSED,
				      "%s does not accept image URLs: download the image and "
				      "attach the file", provider->name);
	}
}

/* Before anything is changed: can the question be sent? */
static void
check_question(sending *s)
{
	const rt_send_options *o = s->options;

	if (o->how != RT_SEND_ASK || o->text.ptr == NULL)
		return;
	if (o->content.size > 0)
		s->blocks = rt_json_parse(&s->scope, o->content);
	check_images(s, s->blocks);
}

/* With auto_add_history off an exchange gets a new take, unless it begins one anyway: the original
 * take is not changed. */
static bool
is_aside(sending *s)
{
	const rt_project *value = rt_engine_value(s->engine);
	bool is_off = rt_str_is(rt_fields_get(value->fields, RT_STR("setting.auto_add_history")),
				"false");

	rt_object_unref(value);
	return is_off && s->options->at.size == 0;
}

/* The question, preceded by notices of changes unknown to the model, as one step. */
static void
append_question(sending *s)
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
		rt_results_error(results, count, &s->scope.error);
	if (rt_scope_note(&s->scope, st) == RT_OK) {
		memcpy(s->out->question, results[count - 1].entry, sizeof(s->out->question));
		s->out->question_seq = results[count - 1].seq;
	}
	if (st == RT_OK && question.aside == RT_YES) {
		s->out->aside = true;
		note(s, "auto_add_history is off: to continue this exchange, switch to its take, ",
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
slot_at(sending *s, const rt_take *take, size_t at)
{
	rt_slot slot = {0};

	RT_TRY(&s->scope, rt_seq_copy(take->slots, at, 1, &slot, &s->scope.error));
	return slot;
}

static bool
is_reply(sending *s, const rt_slot *slot)
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
find_reply(sending *s, const rt_take *take, size_t end, bool *out_found)
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
find_question(sending *s, const rt_disc *disc)
{
	rt_str question = rt_str_of(s->out->question);
	rt_scope *sc = &s->scope;
	rt_place place = s->place;
	rt_status st = rt_resolve_entry(s->value, place, question, false, &s->anchor, &sc->error);

	if (st == RT_NOT_FOUND && take_address(s).size == 0)
		for (place.take = 1; place.take <= rt_disc_take_count(disc); place.take++)
			if (rt_disc_take(disc, place.take)->present &&
			    rt_resolve_entry(s->value, place, question, false, &s->anchor, NULL) ==
				    RT_OK) {
				s->place = place;
				snprintf(s->out->take, sizeof(s->out->take), "t%u", place.take);
				return;
			}
	rt_scope_note(sc, st);
}

/* Where the reply goes: place, anchor, into, is_mid_take. */
static void
find_anchor(sending *s)
{
	rt_send_how how = s->options->how;
	rt_scope *sc = &s->scope;
	const rt_disc *disc = NULL;
	bool is_one = false;

	RT_TRY(sc, rt_resolve_place(s->value, s->options->discussion, take_address(s), &s->place,
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
	sending s = {.options = &options, .out = &result, .value = value};

	rt_scope_init(&s.scope, rt_alloc_libc());
	find_anchor(&s);
	if (rt_ok(&s.scope))
		*out = s.into;
	return rt_scope_end(&s.scope, err);
}

/* ---- a group ---- */

/* Adds the question, or waits until another member has added it. */
static void
ask(sending *s)
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

/* ---- compact (T15) ---- */

/* A setting of the discussion, else of the project, as JSON; ptr NULL: neither has it. */
static rt_str
setting(sending *s, const char *name)
{
	const rt_disc *disc = NULL;
	rt_str json = {0};

	if (RT_TRY(&s->scope, rt_project_disc(s->value, s->place.disc, &disc, &s->scope.error)) ==
	    RT_OK)
		json = rt_fields_get(disc->fields, rt_str_of(name));
	return json.ptr != NULL ? json : rt_fields_get(s->value->fields, rt_str_of(name));
}

/* A whole number; anything else counts as unset. */
static size_t
count_setting(sending *s, const char *name, size_t standard)
{
	rt_str json = setting(s, name);
	uint64_t count;

	if (json.ptr == NULL || !rt_setting_count(json, &count))
		return standard;
	return count > SIZE_MAX ? SIZE_MAX : (size_t)count;
}

/* Sets the budget of the request. Returns the part that a compaction would keep; 0: no automatic
 * compaction. */
static size_t
plan_budget(sending *s)
{
	size_t window = s->options->with.budget_tokens;

	s->budget_tokens = window;
	if (!rt_str_is(setting(s, "setting.compact_auto"), "true"))
		return 0;
	if (window == 0) {
		note(s, "compact_auto is on, but the size of the model's context is unknown: set "
			"context_tokens in config.toml, or use --budget", RT_STR(""));
		return 0;
	}
	size_t reserve = count_setting(s, "setting.compact_reserve_tokens", COMPACT_RESERVE_TOKENS);
	size_t keep = count_setting(s, "setting.compact_keep_tokens", RT_COMPACT_KEEP_TOKENS);
	/* small windows: half for the reply, and half of the rest for new entries */
	s->budget_tokens = reserve < window / 2 ? window - reserve : window - window / 2;
	if (keep >= s->budget_tokens / 2)
		keep = s->budget_tokens / 2;
	return keep > 0 ? keep : 1;
}

/* Replaces the oldest entries by a summary. A failure changes nothing, and the request is sent
 * without them; only the user can stop the sending. */
static void
compact(sending *s, size_t keep_tokens)
{
	char disc[16], take[16], before[RT_ID_MAX + 1];
	rt_compact_options o = {.with = s->options->with,
				.keep_tokens = keep_tokens,
				.is_threshold = true};
	rt_send_compaction *out = &s->out->compaction;
	rt_summary_result made;
	rt_error why = {0};

	if (RT_TRY(&s->scope, rt_entry_id(s->value, s->anchor, before, &s->scope.error)) != RT_OK)
		return;
	snprintf(disc, sizeof(disc), "d%u", s->place.disc);
	snprintf(take, sizeof(take), "t%u", s->place.take);
	o.discussion = rt_str_of(disc);
	o.take = rt_str_of(take);
	o.before = rt_str_of(before);
	o.with.fn = NULL; /* it is not part of the reply */
	notice(s, "summarising the oldest entries to fit the model's context …");
	rt_status st = rt_engine_compact(s->engine, &o, &made, &why);
	if (made.note != NULL)
		note(s, "", rt_text_str(made.note));
	if (st == RT_OK) {
		memcpy(out->entry, made.entry, sizeof(out->entry));
		out->seq = made.seq;
		out->entries = made.entries;
		out->tokens_before = made.tokens_before;
		out->tokens_after = made.tokens_after;
		rt_object_unref(s->value);
		s->value = rt_engine_value(s->engine);
	} else if (st == RT_INTERRUPTED || st == RT_NOMEM) {
		s->scope.error = why;
		rt_scope_note(&s->scope, st);
	} else {
		note(s, "the oldest entries were left out without a summary: ", rt_str_of(why.text));
	}
	if (rt_ok(&s->scope))
		notice(s, "waiting for the reply …");
	rt_summary_result_deinit(&made);
}

/* ---- build ---- */

static rt_context_totals
build_once(sending *s, rt_buf *body, rt_buf *trimmed, rt_buf *unsent)
{
	const rt_model *model = s->options->with.model;
	rt_context_totals totals = {0};
	rt_context_options context = {.stream = true,
				      .model = model->name,
				      .service = rt_model_service(model),
				      .upto = s->anchor,
				      .budget_tokens = s->budget_tokens,
				      .count = s->options->with.count,
				      .ctx = s->options->with.count_ctx,
				      .files = &s->files,
				      .totals = &totals,
				      .trimmed = trimmed,
				      .unsent = unsent};

	rt_buf_clear(body);
	rt_buf_clear(trimmed);
	rt_buf_clear(unsent);
	RT_TRY(&s->scope, rt_view_context(s->engine, s->value, s->place, model->provider, &context,
					  body, &s->scope.error));
	return totals;
}

/* The body of the request, leaving tokens for the reply. */
static void
build(sending *s, rt_buf *body)
{
	rt_buf *trimmed = rt_scope_buf(&s->scope), *unsent = rt_scope_buf(&s->scope);
	size_t keep = plan_budget(s);
	rt_context_totals totals = build_once(s, body, trimmed, unsent);

	if (s->budget_tokens > 0 && totals.file_tokens > s->budget_tokens)
		rt_scope_fail(&s->scope, RT_REFUSED,
			      "the files have about %zu tokens, but a request can have %zu; "
			      "remove some files or choose a model with a larger context",
			      totals.file_tokens, s->budget_tokens);
	if (rt_ok(&s->scope) && keep > 0 && totals.left_out > 0 && s->anchor != 0) {
		compact(s, keep);
		if (s->out->compaction.entry[0] != '\0')
			totals = build_once(s, body, trimmed, unsent);
	}
	if (s->into != 0)
		rt_reply_skip(&s->reply, rt_scope_str(&s->scope, trimmed));
	if (unsent->size > 0 && rt_ok(&s->scope))
		note(s, "", rt_str_trim(rt_buf_str(unsent)));
	s->out->left_out = totals.left_out;
	s->newest = totals.entries - totals.summaries;
	s->out->tokens = totals.tokens;
	s->out->files = s->files.count;
}

/* The side row exists before the request is sent. */
static void
begin_flight(sending *s)
{
	rt_inflight *f = &s->inflight;
	rt_scope *sc = &s->scope;

	f->engine = s->engine;
	f->owner = s->options->with.owner;
	f->reply = &s->reply;
	f->role = s->options->reply_role;
	f->model = rt_buf_str(s->model);
	f->service = s->options->with.model->service;
	f->price = s->options->with.price;
	f->cache_apart = s->options->with.model->provider->cache_apart;
	f->apply = &s->apply;
	f->fork = s->is_mid_take || s->options->group != NULL;
	snprintf(f->discussion, sizeof(f->discussion), "d%u", s->place.disc);
	snprintf(f->take, sizeof(f->take), "t%u", s->place.take);
	if (s->into != 0)
		RT_TRY(sc, rt_entry_id(s->value, s->into, f->into, &sc->error));
	else if (s->anchor != 0)
		RT_TRY(sc, rt_entry_id(s->value, s->anchor, f->after, &sc->error));
	RT_TRY(sc, rt_inflight_begin(f, &sc->error));
}

/* ---- receive ---- */

static bool
is_listed(const sending *s, const rt_project *value)
{
	const rt_cell *cell = rt_project_cell(value, s->place.disc);

	return cell != NULL && cell->present;
}

/* Is the anchor still in its take, and the discussion in the catalogue (or was it in neither)? */
static void
look(sending *s)
{
	const rt_project *value;
	const rt_disc *disc;
	const rt_take *take;
	bool found = true;
	size_t at;

	s->looked_us = now_us(s);
	if (s->anchor == 0 || rt_engine_refresh(s->engine, NULL) != RT_OK)
		return;
	value = rt_engine_value(s->engine);
	if (s->value != NULL && is_listed(s, s->value) && !is_listed(s, value)) {
		s->gone = true; /* deleted, or the project was reset */
	} else if (rt_project_disc(value, s->place.disc, &disc, NULL) == RT_OK) {
		take = rt_disc_take(disc, s->place.take);
		if (take == NULL || !take->present)
			s->gone = true;
		else if (rt_take_find(value, take, s->anchor, &at, NULL, &found, NULL) == RT_OK)
			s->gone = !found;
	}
	rt_object_unref(value);
}

static void
tick(void *ctx)
{
	sending *s = ctx;
	int64_t since;

	if (rt_inflight_write(&s->inflight, false, NULL) != RT_OK)
		s->inflight.written_us = now_us(s); /* try again after the same time */
	if (s->inflight.taken)
		s->gone = true; /* data that arrives now could not be kept */
	since = now_us(s) - s->looked_us;
	if (since >= LOOK_EVERY_US || since < 0) /* the clock was set back */
		look(s);
}

/* Of a JSON reply the content is passed on, not the JSON. */
static void
arrived(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	sending *s = ctx;
	const rt_send_with *with = &s->options->with;
	rt_buf shown;

	if (s->updates != RT_PROMPT_UPDATES_JSON || kind != RT_REPLY_TEXT) {
		with->fn(with->ctx, kind, block, added);
		return;
	}
	rt_buf_init(&shown, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_prompt_stream_add(&s->stream, added, &shown);
	if (shown.size > 0)
		with->fn(with->ctx, kind, block, rt_buf_str(&shown));
	rt_reply_note(&s->reply, shown.status);
	rt_buf_deinit(&shown);
}

/* ---- the working prompt ---- */

/* Takes the prompt out of a complete reply. */
static void
read_prompt(sending *s)
{
	rt_scope *sc = &s->scope;
	rt_buf *raw = rt_scope_buf(sc), *text = rt_scope_buf(sc);

	if (s->updates == RT_PROMPT_UPDATES_OFF || s->reply.status != RT_OK ||
	    s->reply.stop != RT_STOP_END)
		return;
	rt_reply_add_all_text(&s->reply, raw);
	if (s->updates == RT_PROMPT_UPDATES_BLOCK)
		rt_thinking_add_prose(text, rt_scope_str(sc, raw), false);
	else
		rt_buf_add_str(text, rt_scope_str(sc, raw));
	rt_prompt_update update = rt_prompt_update_read(sc, s->updates, rt_scope_str(sc, text));
	if (!rt_ok(sc))
		return;
	if (update.is_broken)
		note(s, "the reply is not the JSON object that prompt_updates asks for; it is kept "
			"as it arrived, and the working prompt stays", RT_STR(""));
	if (update.content.size > 0)
		rt_reply_set_text(&s->reply, update.content);
	s->inflight.prompt = update.prompt;
}

/* Reports a prompt that was kept with the reply. */
static void
note_prompt(sending *s)
{
	rt_scope *sc = &s->scope;
	const rt_disc *disc = NULL;
	rt_buf *diff = rt_scope_buf(sc);
	rt_str before;

	if (s->inflight.prompt.ptr == NULL || s->out->entry[0] == '\0' ||
	    rt_project_disc(s->value, s->place.disc, &disc, NULL) != RT_OK)
		return;
	before = rt_fields_get(disc->fields, RT_STR("prompt"));
	before = before.ptr != NULL ? rt_json_str(rt_json_parse(sc, before)) : RT_STR("");
	if (rt_str_eq(before, s->inflight.prompt))
		return;
	rt_prompt_update_add_diff(diff, before, s->inflight.prompt);
	note(s, "prompt updated", rt_scope_str(sc, diff));
}

/* ---- keep ---- */

/* Why a reply that ended normally is empty. */
static const char *
nothing_words(rt_stop stop)
{
	switch (stop) {
	case RT_STOP_FILTER: return "the provider withheld the reply";
	case RT_STOP_LENGTH: return "the token limit was reached before the model returned any text";
	default: return "the model returned an empty reply";
	}
}

/* st: status of the request; returns the status of the sending. */
static rt_status
keep_nothing(sending *s, rt_status st, rt_error *err)
{
	if (s->gone)
		st = rt_fail(err, RT_CONFLICT, "the question no longer exists");
	if (rt_inflight_drop(&s->inflight, NULL) != RT_OK)
		notice(s, "the side row of the reply could not be removed");
	return st != RT_OK ? st : rt_fail(err, RT_UPSTREAM, "%s", nothing_words(s->reply.stop));
}

/* Replies of a group are kept one at a time, as rows of one group of the log. */
static rt_status
keep_reply(sending *s, bool partial, rt_result *result)
{
	rt_send_group *group = s->options->group;
	rt_status st;

	if (group == NULL)
		return rt_inflight_keep(&s->inflight, partial, result);
	s->apply.group = rt_send_group_begin_keep(group);
	st = rt_inflight_keep(&s->inflight, partial, result);
	rt_send_group_end_keep(group, st == RT_OK ? result->seq : 0);
	return st;
}

static rt_status
keep(sending *s, rt_status st, rt_error *err)
{
	rt_stop stop = s->reply.stop;
	bool partial = st != RT_OK || stop == RT_STOP_NONE || stop == RT_STOP_USER ||
		       stop == RT_STOP_CUT || stop == RT_STOP_ERROR;
	rt_result result = {0};

	if (rt_reply_is_empty(&s->reply))
		return keep_nothing(s, st, err);
	/* hooks that archive replies see stopped ones too */
	s->apply.stop = rt_send_late_stop(&s->options->with);
	s->apply.ctx = s->options->with.ctx;
	rt_status kept = keep_reply(s, partial, &result);
	if (kept == RT_OK) {
		memcpy(s->out->entry, result.entry, sizeof(s->out->entry));
		if (result.take[0] != '\0')
			memcpy(s->out->take, result.take, sizeof(s->out->take));
		s->out->seq = result.seq;
		s->out->partial = partial;
	} else if (s->inflight.taken) {
		s->out->fate = RT_SEND_TAKEN;
		st = rt_fail(err, RT_CONFLICT, "%s", result.error.text);
	} else if (kept == RT_NOT_FOUND && rt_inflight_strand(&s->inflight, NULL) == RT_OK) {
		s->out->fate = RT_SEND_ASIDE;
		st = rt_fail(err, RT_CONFLICT,
			     "the question no longer exists; the reply is kept until it is "
			     "restored, or retake repair adds it in a new take");
	} else {
		st = kept;
		*err = result.error;
		/* store all of it at least in the side row: it is kept from there later */
		if (rt_inflight_write(&s->inflight, true, NULL) != RT_OK)
			notice(s, "the end of the reply could not be stored");
		if (s->inflight.written_size > 0 && !s->inflight.taken)
			s->out->fate = RT_SEND_IN_ROW;
	}
	rt_result_deinit(&result);
	return st;
}

/* ---- around the request ---- */

/* Records the request in the store as the last one of this discussion (last_request.h), then in the
 * log, whose lines may need its files. */
static void
record_request(sending *s, const rt_exchange *x)
{
	char upto[RT_ID_MAX + 1] = "";
	rt_request_window window = {.left_out = s->out->left_out,
				    .newest = s->newest,
				    .budget_tokens = s->budget_tokens,
				    .files = &s->files};
	rt_request_record r = {.name = s->inflight.name,
			       .value = s->value,
			       .discussion = rt_str_of(s->inflight.discussion),
			       .take = rt_str_of(s->inflight.take),
			       .window = &window,
			       .body = x->ask.body};
	rt_buf row;

	if (s->anchor != 0 && rt_entry_id(s->value, s->anchor, upto, NULL) != RT_OK)
		upto[0] = '\0';
	window.upto = rt_str_of(upto);
	rt_buf_init(&row, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&row, "{\"v\":1,\"at\":\"");
	rt_moment_format_ms(&row, (rt_moment){now_us(s), 0});
	rt_buf_add_byte(&row, '"');
	rt_request_record_put(&row, x, &r);
	rt_json_close(&row, '}');
	if (row.status != RT_OK ||
	    rt_engine_keep_last_request(s->engine, s->place.disc, rt_buf_str(&row), &s->files,
					s->options->with.bare_log, NULL) != RT_OK)
		note(s, "the request could not be recorded as the last one", RT_STR(""));
	rt_exchange_record_request(x, &r);
	rt_buf_deinit(&row);
}

/* reply.after */
static void
notify_kept(sending *s, const rt_exchange *x)
{
	rt_str role = s->options->reply_role;
	rt_scope sc;

	if (s->out->entry[0] == '\0')
		return;
	rt_scope_init(&sc, s->engine->alloc);
	rt_buf *members = rt_scope_buf(&sc), *subject = rt_scope_buf(&sc);
	rt_json_open(members, "entry", '{');
	rt_json_put_c(members, "id", s->out->entry);
	rt_json_put_str(members, "role", role.size > 0 ? role : RT_STR("AI"));
	rt_json_put_c(members, "kind", "message");
	rt_json_add_key(members, "content");
	rt_reply_add_content(&s->reply, members);
	rt_reply_add_fields(&s->reply, members);
	rt_json_close(members, '}');
	rt_exchange_put_subject(x, subject);
	rt_hook_subject_add(subject, "role", RT_STR("AI"));
	rt_exchange_notify(x, "reply.after", members, subject,
			   "a hook refused a reply that is already stored");
	rt_scope_deinit(&sc);
}

/* Asks the model and keeps its answer. */
static void
receive(sending *s, rt_exchange *x)
{
	rt_model *model = s->options->with.model;
	rt_error *err = &s->scope.error;

	s->looked_us = now_us(s);
	rt_status st = model->ops->ask(model, &x->ask, &s->reply, err);
	rt_reply_finish(&s->reply);
	if (st == RT_OK)
		read_prompt(s);
	if (s->reply.status != RT_OK && st == RT_OK)
		st = rt_fail(err, s->reply.status,
			     s->reply.status == RT_NOMEM ? "out of memory while a reply arrived"
							 : "the reply is too large");
	s->out->stop = s->reply.stop;
	s->out->usage = s->reply.usage;
	st = keep(s, st, err);
	note_prompt(s);
	rt_exchange_record_answer(x, s->inflight.name, s->out, &s->reply, st, err);
	x->take = take_address(s);
	rt_exchange_after(x, &s->out->usage, st);
	notify_kept(s, x);
	rt_scope_note(&s->scope, st);
}

/* Why the question has no reply, in the form in which it is kept. Nothing if the user stopped
 * it. */
static void
put_failure(const sending *s, rt_buf *out)
{
	rt_status st = s->scope.status;

	if (st == RT_OK || st == RT_INTERRUPTED || st == RT_CONFLICT || st == RT_NOMEM || s->gone ||
	    s->anchor == 0 || s->into != 0 || s->is_mid_take || s->answers_reply ||
	    s->out->entry[0] != '\0' || s->out->fate != RT_SEND_NOTHING)
		return;
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "code", rt_status_word(st));
	rt_json_put_c(out, "detail", s->scope.error.text);
	rt_json_put_str(out, "model", rt_buf_str(s->model));
	rt_json_close(out, '}');
}

/* Keeps it with the question; for a group, once all have failed. */
static void
record_failure(sending *s)
{
	rt_send_group *group = s->options->group;
	char disc[16], take[16], id[RT_ID_MAX + 1];
	rt_apply_context apply = {.by = s->options->with.by};
	rt_result result = {0};
	rt_scope sc;

	rt_scope_init(&sc, s->engine->alloc);
	rt_buf *failure = rt_scope_buf(&sc), *own = rt_scope_buf(&sc);
	put_failure(s, own);
	if (group != NULL)
		rt_send_group_end(group, rt_scope_str(&sc, own), failure);
	else
		failure = own;
	(void)snprintf(disc, sizeof(disc), "d%u", s->place.disc);
	(void)snprintf(take, sizeof(take), "t%u", s->place.take);
	if (failure->size > 0 && rt_entry_id(s->value, s->anchor, id, NULL) == RT_OK) {
		rt_request request = {.op = RT_OP_ENTRY_FAIL,
				      .entry = rt_str_of(id),
				      .value = rt_json_parse(&sc, rt_scope_str(&sc, failure))};
		if (rt_ok(&sc) && rt_apply(s->engine, &apply, &request, 1, false, rt_str_of(disc),
					   rt_str_of(take), &result) == RT_OK && !result.unchanged)
			s->out->failure_seq = result.seq;
		rt_result_deinit(&result);
	}
	rt_scope_deinit(&sc);
}

rt_status
rt_engine_send(rt_engine *engine, const rt_send_options *options, rt_send_result *out, rt_error *err)
{
	const rt_send_with *with = &options->with;
	sending s = {.engine = engine, .options = options, .out = out};

	*out = (rt_send_result){.usage = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};
	rt_scope_init(&s.scope, engine->alloc);
	rt_reply_init(&s.reply, engine->alloc, with->fn != NULL ? arrived : NULL, &s);
	rt_prompt_stream_init(&s.stream, engine->alloc);
	s.notes = rt_scope_buf(&s.scope);
	s.model = rt_scope_buf(&s.scope);
	rt_buf *body = rt_scope_buf(&s.scope);
	rt_buf_add_f(s.model, "%.*s/%.*s", RT_STR_ARG(rt_model_service(with->model)),
		     RT_STR_ARG(with->model->name));
	(void)rt_scope_str(&s.scope, s.model);
	s.apply = (rt_apply_context){.hooks = with->hooks,
				     .by = with->by,
				     .stop = stopped,
				     .ctx = &s,
				     .notes = s.notes};
	s.value = rt_engine_value(engine);
	read_files(&s, s.value, options->how == RT_SEND_ASK ? options->text : RT_STR(""));
	rt_object_unref(s.value);
	check_question(&s);
	ask(&s);
	if (rt_ok(&s.scope))
		read_files(&s, s.value,
			   rt_attach_message(&s.scope, engine, s.value, s.place, s.anchor));
	if (rt_ok(&s.scope)) {
		out->asked_take = s.place.take;
		s.updates = rt_prompt_updates_of(setting(&s, "setting.prompt_updates"));
		build(&s, body);
	}
	rt_exchange x = rt_exchange_of(engine, with, "reply", options->discussion, take_address(&s),
				       s.notes);
	x.ask.stop = stopped;
	x.ask.notice = pass_notice;
	x.ask.tick = tick;
	x.ask.ctx = &s;
	RT_TRY(&s.scope, rt_exchange_before(&x, body, &s.scope.error));
	begin_flight(&s);
	if (rt_ok(&s.scope)) {
		x.ask.body = rt_buf_str(body);
		record_request(&s, &x);
		receive(&s, &x);
	}
	record_failure(&s);
	if (s.notes->size > 0 && s.notes->status == RT_OK)
		out->note = rt_text_new(engine->alloc, rt_buf_str(s.notes));
	rt_object_unref(s.files_of);
	rt_object_unref(s.value);
	rt_reply_deinit(&s.reply);
	rt_prompt_stream_deinit(&s.stream);
	return rt_scope_end(&s.scope, err);
}

void
rt_send_result_deinit(rt_send_result *result)
{
	rt_text_unref(result->note);
	result->note = NULL;
}
