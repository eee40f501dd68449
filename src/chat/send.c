/* SPDX-License-Identifier: MIT
 *
 * From a question to a reply that is kept. See send.h for the way it goes. */
#include "chat/send_impl.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/moment.h"
#include "core/role.h"
#include "core/setting.h"
#include "chat/edit_notice.h"
#include "chat/last_request.h"
#include "chat/summary.h"

enum {
	LOOK_EVERY_US = 1000 * 1000, /* whether what is answered is still there */
	COMPACT_RESERVE_TOKENS = 16384
};

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory while sending");
}

static int64_t
now_us(const rt_sending *s)
{
	return s->engine->env->now_us(s->engine->env->ctx);
}

bool
rt_sending_stopped(void *ctx)
{
	const rt_sending *s = ctx;
	const rt_send_with *with = &s->options->with;

	return s->gone || (with->stop != NULL && with->stop(with->ctx));
}

static void
note(rt_sending *s, const char *words, const char *why)
{
	rt_hook_call_next_note(&s->notes);
	rt_buf_add_c(&s->notes, words);
	rt_buf_add_c(&s->notes, why);
}

static void
note_lines(rt_sending *s, rt_str lines)
{
	rt_hook_call_next_note(&s->notes);
	rt_buf_add_str(&s->notes, lines);
}

/* ---- the question ---- */

/* {"op":"entry.append",…} of the question. */
static void
add_question(rt_sending *s, rt_buf *out)
{
	const rt_send_options *o = s->options;

	rt_buf_add_c(out, "{\"op\":\"entry.append\"");
	rt_hook_call_add_member(out, "role", o->role.size > 0 ? o->role : RT_STR("User"));
	if (o->content.size > 0) {
		rt_json_add_key(out, "content");
		rt_buf_add_str(out, o->content);
	} else {
		rt_hook_call_add_member(out, "content", o->text);
	}
	if (o->fields.size > 0) {
		rt_buf_add_byte(out, ',');
		rt_buf_add_str(out, o->fields);
	}
	rt_buf_add_byte(out, '}');
}

/* Images of the question that the provider cannot be sent; one of an entry before it is sent
 * as a word that there was one. */
static rt_status
check_images(rt_sending *s, rt_error *err)
{
	const rt_provider *provider = s->options->with.model->provider;
	rt_json_doc *doc = NULL;
	yyjson_val *block;
	size_t i, max;
	rt_status st = RT_OK;

	if (s->options->content.size == 0 || (!provider->no_images && !provider->no_image_urls))
		return RT_OK;
	st = rt_json_read(s->engine->alloc, s->options->content, &doc, err);
	if (st != RT_OK)
		return st;
	yyjson_arr_foreach(rt_json_root(doc), i, max, block)
	{
		rt_str type = rt_json_str(rt_json_get(block, "type"));
		bool is_url = rt_str_is(type, "image_url");

		if (st != RT_OK || (!is_url && !rt_str_is(type, "image")))
			continue;
		if (provider->no_images)
			st = rt_fail(err, RT_REFUSED, "%s takes no images", provider->name);
		else if (is_url)
			st = rt_fail(err, RT_REFUSED, "%s takes no image by its address: fetch it, and "
				     "give the file", provider->name);
	}
	rt_json_free(doc);
	return st;
}

static rt_status
apply_all(rt_sending *s, rt_str array, rt_result *results, size_t room, size_t *out_count,
	  rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *requests[16], *item;
	size_t i, max, count = 0;
	rt_status st = rt_json_read(s->engine->alloc, array, &doc, err);

	*out_count = 0;
	if (st != RT_OK)
		return st;
	yyjson_arr_foreach(rt_json_root(doc), i, max, item)
		if (count < room)
			requests[count++] = item;
	st = rt_apply_json(s->engine, &s->act, requests, count, count > 1, s->options->discussion,
			  s->options->take, results);
	*out_count = count;
	for (i = 0; i < count && st != RT_OK && err != NULL; i++)
		if (i == 0 || !rt_str_starts(rt_str_of(results[i].error.text), RT_STR("not done")))
			*err = results[i].error;
	rt_json_free(doc);
	return st;
}

/* The question as a step, behind the notices of what the model does not know. */
static rt_status
append_question(rt_sending *s, rt_error *err)
{
	const rt_send_options *o = s->options;
	rt_result results[16];
	size_t i, count, notices = 0;
	rt_buf array;
	rt_status st;

	rt_buf_init(&array, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&array, '[');
	if (o->at.size > 0) {
		rt_buf_add_c(&array, "{\"op\":\"head.move\"");
		rt_hook_call_add_member(&array, "entry", o->at);
		rt_buf_add_byte(&array, '}');
	}
	st = rt_edit_notice_add(s->engine, o->discussion, o->take, o->at, &array, &notices, err);
	rt_json_add_comma(&array);
	add_question(s, &array);
	rt_buf_add_byte(&array, ']');
	if (st == RT_OK && array.status != RT_OK)
		st = nomem(err);
	if (st == RT_OK) {
		st = apply_all(s, rt_buf_str(&array), results, 16, &count, err);
		if (st == RT_OK && count > 0) {
			const rt_result *last = &results[count - 1];

			memcpy(s->out->question, last->entry, sizeof(s->out->question));
			s->out->question_seq = last->seq;
			for (i = 0; i < count; i++) /* appended in mid-take: a new one */
				if (results[i].take[0] != '\0')
					memcpy(s->out->take, results[i].take, sizeof(s->out->take));
		}
		for (i = 0; i < count; i++)
			rt_result_deinit(&results[i]);
	}
	rt_buf_deinit(&array);
	return st;
}

/* ---- what is answered ---- */

static rt_status
find_take(rt_sending *s, const rt_disc **out_disc, const rt_take **out_take, rt_error *err)
{
	rt_str take = s->out->take[0] != '\0' ? rt_str_of(s->out->take) : s->options->take;
	rt_status st = rt_resolve_place(s->value, s->options->discussion, take, &s->place, err);

	if (st == RT_OK)
		st = rt_project_disc(s->value, s->place.disc, out_disc, err);
	if (st == RT_OK)
		*out_take = rt_disc_take(*out_disc, s->place.take);
	return st;
}

static rt_status
slot_at(const rt_take *take, size_t at, rt_slot *out, rt_error *err)
{
	return rt_seq_copy(take->slots, at, 1, out, err);
}

static rt_status
is_reply(const rt_sending *s, const rt_slot *slot, bool *out, rt_error *err)
{
	rt_str role, kind = rt_str_at("", 0);
	rt_status st = rt_project_name(s->value, slot->role, &role, err);

	if (st == RT_OK && slot->kind != 0)
		st = rt_project_name(s->value, slot->kind, &kind, err);
	*out = st == RT_OK && kind.size == 0 && rt_role_is_assistant(role);
	return st;
}

/* Said by somebody: no summary, label or the like. */
static bool
is_message(const rt_slot *slot)
{
	return slot->kind == 0 && (slot->flags & RT_SLOT_MUTED) == 0;
}

/* The reply that AGAIN and CONTINUE are about, and where it stands; *out_found false: it is
 * a question, which `at` names, or which is the last that was said. */
static rt_status
find_reply(rt_sending *s, const rt_take *take, size_t end, size_t *out_at, bool *out_found,
	   rt_error *err)
{
	rt_slot slot;
	uint32_t entry;
	bool found = false, yes = false;
	size_t at = end;
	rt_status st = RT_OK;

	if (s->options->at.size > 0) {
		st = rt_resolve_entry(s->value, s->place, s->options->at, false, &entry, err);
		if (st == RT_OK)
			st = rt_take_find(s->value, take, entry, &at, &slot, &found, err);
		if (st == RT_OK && !found)
			st = rt_fail(err, RT_NOT_FOUND, "the take does not hold that entry");
		if (st == RT_OK)
			st = is_reply(s, &slot, out_found, err);
		*out_at = at;
		return st;
	}
	while (st == RT_OK && !yes && at > 0) {
		st = slot_at(take, --at, &slot, err);
		if (st == RT_OK)
			st = is_reply(s, &slot, &yes, err);
		if (st == RT_OK && !yes && is_message(&slot))
			break; /* a question that nobody has answered */
	}
	if (st == RT_OK && !yes && end > 0 && is_message(&slot)) {
		*out_at = at;
		*out_found = false;
		return RT_OK;
	}
	if (st == RT_OK && !yes)
		st = rt_fail(err, RT_REFUSED, "there is no reply yet; ask something first");
	*out_at = at;
	*out_found = yes;
	return st;
}

/* The question that was just appended. Somebody may have gone to another take since: then it is
 * the first that has it. */
static rt_status
find_question(rt_sending *s, const rt_disc *disc, rt_error *err)
{
	rt_str question = rt_str_of(s->out->question);
	rt_place place = s->place;
	rt_status st = rt_resolve_entry(s->value, place, question, false, &s->anchor, err);

	if (st != RT_NOT_FOUND || s->options->take.size > 0 || s->out->take[0] != '\0')
		return st;
	for (place.take = 1; place.take <= rt_disc_take_count(disc); place.take++)
		if (rt_disc_take(disc, place.take)->present &&
		    rt_resolve_entry(s->value, place, question, false, &s->anchor, NULL) == RT_OK) {
			s->place = place;
			snprintf(s->out->take, sizeof(s->out->take), "t%u", place.take);
			return RT_OK;
		}
	return st;
}

/* Where the reply will stand: anchor, into, fork. */
static rt_status
find_anchor(rt_sending *s, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	size_t end, at = 0;
	rt_slot slot = {0};
	bool is_one = false;
	rt_status st = find_take(s, &disc, &take, err);

	if (st != RT_OK)
		return st;
	end = rt_seq_count(take->slots);
	if (s->options->how == RT_SEND_ASK && s->out->question[0] != '\0')
		return find_question(s, disc, err); /* others may have gone on behind it */
	if (take->number == disc->active)
		st = rt_disc_head_at(s->value, disc, &end, err);
	if (st == RT_OK && s->options->how == RT_SEND_ASK) {
		if (end == 0)
			return rt_fail(err, RT_REFUSED, "there is nothing to answer yet");
		st = slot_at(take, end - 1, &slot, err);
		s->anchor = slot.entry;
		/* in mid-take as append does (C9); what others append from now on is none */
		s->fork = end < rt_seq_count(take->slots);
		return st;
	}
	if (st == RT_OK)
		st = find_reply(s, take, end, &at, &is_one, err);
	if (st == RT_OK && s->options->how == RT_SEND_CONTINUE) {
		if (!is_one && s->options->at.size == 0)
			return rt_fail(err, RT_REFUSED, "the last entry is no reply, so there is "
				       "nothing to go on with; have it answered: retake again");
		if (!is_one)
			return rt_fail(err, RT_REFUSED, "that is no reply of a model");
		st = slot_at(take, at, &slot, err);
		s->into = s->anchor = slot.entry;
		return st;
	}
	if (st == RT_OK && is_one && at == 0)
		return rt_fail(err, RT_REFUSED, "there is nothing before that reply to answer");
	if (st == RT_OK)
		st = slot_at(take, is_one ? at - 1 : at, &slot, err);
	s->anchor = slot.entry;
	/* a question that ends its take is answered where it stands */
	s->fork = is_one || at + 1 < rt_seq_count(take->slots);
	return st;
}

rt_status
rt_send_continued(const rt_project *value, rt_str discussion, rt_str take, rt_str at, uint32_t *out,
		  rt_error *err)
{
	rt_send_options options = {
		.how = RT_SEND_CONTINUE, .discussion = discussion, .take = take, .at = at};
	rt_send_result result = {0};
	rt_sending s = {.options = &options, .out = &result, .value = value};
	rt_status st = find_anchor(&s, err);

	if (st == RT_OK)
		*out = s.into;
	return st;
}

/* ---- the record of requests (M8) ---- */

static void
record(rt_sending *s, const char *what, rt_str members)
{
	rt_send_record(s->engine, &s->options->with, what, rt_str_of(s->inflight.name), members);
}

/* The same in the store, as what this discussion was sent with last (last_request.h). */
static void
keep_sent(rt_sending *s, rt_str members)
{
	const rt_store *store = s->engine->store;
	char name[24];
	rt_buf row;

	snprintf(name, sizeof(name), RT_LAST_REQUEST_PREFIX "d%u", s->place.disc);
	rt_buf_init(&row, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&row, "{\"v\":1,\"at\":\"");
	rt_moment_format_ms(&row, (rt_moment){now_us(s), 0});
	rt_buf_add_c(&row, "\",");
	rt_buf_add_str(&row, members);
	rt_buf_add_byte(&row, '}');
	if (row.status != RT_OK ||
	    store->ops->write(s->engine->store,
			      rt_rows_named(RT_STORE_SIDE, s->engine->project, rt_str_of(name)),
			      rt_buf_str(&row), NULL) != RT_OK)
		note(s, "what is sent could not be noted as what was sent last", "");
	rt_buf_deinit(&row);
}

static void
record_request(rt_sending *s, rt_str body)
{
	const rt_send_with *with = &s->options->with;
	char upto[RT_ID_MAX + 1] = "";
	rt_buf m, line;

	if (s->anchor != 0 && rt_entry_id(s->value, s->anchor, upto, NULL) != RT_OK)
		upto[0] = '\0';
	rt_buf_init(&m, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&line, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_send_add_store(s->engine, with, &line);
	rt_buf_add_f(&m, "\"project\":%llu,\"seq\":%llu,\"discussion\":\"d%u\",\"take\":\"t%u\"",
		     (unsigned long long)s->engine->project, (unsigned long long)s->value->seq,
		     s->place.disc, s->place.take);
	rt_hook_call_add_member(&m, "upto", rt_str_of(upto));
	rt_send_add_model(with->model, &m);
	rt_send_add_server(with->model, &m);
	rt_buf_add_f(&m, ",\"left_out\":%zu,\"newest\":%zu", s->out->left_out, s->newest);
	rt_buf_add_f(&m, ",\"budget_tokens\":%zu,\"bytes\":%zu,\"hash\":\"%016llx\"",
		     s->budget_tokens, body.size,
		     (unsigned long long)rt_hash(body.ptr, body.size, 0));
	keep_sent(s, rt_buf_str(&m));
	rt_buf_add_byte(&line, ',');
	rt_buf_add_str(&line, rt_buf_str(&m));
	if (line.status == RT_OK)
		record(s, "request", rt_buf_str(&line));
	rt_buf_deinit(&m);
	rt_buf_deinit(&line);
}

static void
record_reply(rt_sending *s, rt_status st, const rt_error *err)
{
	rt_buf m;

	rt_buf_init(&m, s->engine->alloc, RT_BUF_UNLIMITED);
	if (s->out->entry[0] != '\0') {
		rt_hook_call_add_member(&m, "entry", rt_str_of(s->out->entry));
		rt_buf_add_f(&m, ",\"seq\":%llu", (unsigned long long)s->out->seq);
	}
	rt_hook_call_add_member(&m, "stop", rt_str_of(rt_stop_word(s->reply.stop)));
	rt_send_add_usage(&s->out->usage, &m);
	if (st != RT_OK) {
		rt_hook_call_add_member(&m, "error", rt_str_of(rt_status_word(st)));
		rt_hook_call_add_member(&m, "message", rt_str_of(err->text));
	}
	if (m.status == RT_OK)
		record(s, "reply", rt_buf_str(&m));
	rt_buf_deinit(&m);
}

/* ---- while it arrives ---- */

/* Is what is answered still in its take? */
static void
look(rt_sending *s)
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
	if (rt_project_disc(value, s->place.disc, &disc, NULL) == RT_OK) {
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
	rt_sending *s = ctx;
	int64_t since;

	if (rt_inflight_write(&s->inflight, false, &s->row_error) != RT_OK)
		s->inflight.written_us = now_us(s); /* the next try in its time */
	if (s->inflight.taken)
		s->gone = true; /* nothing of what still comes could be kept */
	since = now_us(s) - s->looked_us;
	if (since >= LOOK_EVERY_US || since < 0) /* the clock was set back */
		look(s);
}

void
rt_sending_notice(void *ctx, const char *words)
{
	const rt_sending *s = ctx;
	const rt_send_with *with = &s->options->with;

	if (with->notice != NULL)
		with->notice(with->ctx, words);
}

static void
arrived(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	const rt_sending *s = ctx;
	const rt_send_with *with = &s->options->with;

	if (with->fn != NULL)
		with->fn(with->ctx, kind, block, added);
}

/* ---- to the end ---- */

static rt_status
begin_flight(rt_sending *s, rt_error *err)
{
	rt_inflight *f = &s->inflight;
	rt_status st = RT_OK;

	f->engine = s->engine;
	f->owner = s->options->with.owner;
	f->reply = &s->reply;
	f->role = s->options->reply_role;
	f->model = rt_buf_str(&s->model);
	f->service = s->options->with.model->service;
	f->act = &s->act;
	f->fork = s->fork;
	snprintf(f->discussion, sizeof(f->discussion), "d%u", s->place.disc);
	snprintf(f->take, sizeof(f->take), "t%u", s->place.take);
	if (s->into != 0)
		st = rt_entry_id(s->value, s->into, f->into, err);
	else if (s->anchor != 0)
		st = rt_entry_id(s->value, s->anchor, f->after, err);
	return st == RT_OK ? rt_inflight_begin(f, err) : st;
}

/* Why a reply that ended well has nothing in it. */
static const char *
nothing_words(rt_stop stop)
{
	switch (stop) {
	case RT_STOP_FILTER: return "the provider held the reply back; nothing of it arrived";
	case RT_STOP_LENGTH: return "the limit of tokens was reached before the model said a word";
	default: return "the model answered with nothing";
	}
}

/* Keep what there is. st is how the asking ended, and what is said in the end. */
static rt_status
keep(rt_sending *s, rt_status st, rt_error *err)
{
	rt_stop stop = s->reply.stop;
	bool partial = st != RT_OK || stop == RT_STOP_NONE || stop == RT_STOP_USER ||
		       stop == RT_STOP_CUT || stop == RT_STOP_ERROR;
	rt_result result;
	rt_status kept;

	if (rt_reply_is_empty(&s->reply)) {
		if (s->gone)
			st = rt_fail(err, RT_CONFLICT, "what was asked is no longer there");
		if (rt_inflight_drop(&s->inflight, NULL) != RT_OK)
			rt_sending_notice(s, "the side row of the reply could not be dropped");
		return st != RT_OK ? st
				   : rt_fail(err, RT_UPSTREAM, "%s", nothing_words(stop));
	}
	/* who archives replies is told of stopped ones too */
	s->act.stop = rt_send_late_stop(&s->options->with);
	s->act.ctx = s->options->with.ctx;
	memset(&result, 0, sizeof(result));
	kept = rt_inflight_keep(&s->inflight, partial, &result);
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
			     "what was asked is no longer there; the reply lies aside until it is "
			     "back, or retake repair puts it into a take of its own");
	} else {
		st = kept;
		if (err != NULL)
			*err = result.error;
		/* all of it at least into the side row: it is kept from there later */
		if (rt_inflight_write(&s->inflight, true, NULL) != RT_OK)
			rt_sending_notice(s, "the end of the reply could not be written down");
		if (s->inflight.written_size > 0 && !s->inflight.taken)
			s->out->fate = RT_SEND_IN_ROW;
	}
	rt_result_deinit(&result);
	return st;
}

/* ---- making room (T15) ---- */

/* A setting of the discussion, else of the project, as JSON; ptr NULL: neither. */
static rt_status
setting(const rt_sending *s, const char *name, rt_str *out, rt_error *err)
{
	const rt_disc *disc;
	rt_status st = rt_project_disc(s->value, s->place.disc, &disc, err);

	if (st != RT_OK)
		return st;
	*out = rt_fields_get(disc->fields, rt_str_of(name));
	if (out->ptr == NULL)
		*out = rt_fields_get(s->value->fields, rt_str_of(name));
	return RT_OK;
}

/* A whole number; what is none is as good as unset. */
static rt_status
count_setting(const rt_sending *s, const char *name, size_t standard, size_t *out, rt_error *err)
{
	rt_str json;
	uint64_t count;
	rt_status st = setting(s, name, &json, err);

	*out = standard;
	if (st == RT_OK && json.ptr != NULL && rt_setting_count(json, &count))
		*out = count > SIZE_MAX ? SIZE_MAX : (size_t)count;
	return st;
}

/* What the request may be, and what a compaction would keep of it. *out_keep 0: nothing is
 * summed up on its own. */
static rt_status
plan_room(rt_sending *s, size_t *out_keep, rt_error *err)
{
	size_t window = s->options->with.budget_tokens, reserve, keep;
	rt_str on;
	rt_status st = setting(s, "setting.compact_auto", &on, err);

	*out_keep = 0;
	s->budget_tokens = window;
	if (st != RT_OK || !rt_str_is(on, "true"))
		return st;
	if (window == 0) {
		note(s, "compact_auto is on, but nothing says how much the model takes: "
			"context_tokens in config.toml does, or --budget", "");
		return RT_OK;
	}
	st = count_setting(s, "setting.compact_reserve_tokens", COMPACT_RESERVE_TOKENS, &reserve,
			   err);
	if (st == RT_OK)
		st = count_setting(s, "setting.compact_keep_tokens", RT_COMPACT_KEEP_TOKENS, &keep,
				   err);
	if (st != RT_OK)
		return st;
	/* small windows: half of it for the reply, and half of the rest for what is new */
	s->budget_tokens = reserve < window / 2 ? window - reserve : window - window / 2;
	*out_keep = keep < s->budget_tokens / 2 ? keep : s->budget_tokens / 2;
	if (*out_keep == 0)
		*out_keep = 1;
	return RT_OK;
}

/* Sum up what is oldest. Where that fails nothing is changed, and the request goes without
 * it; only the person stops it all. */
static rt_status
make_room(rt_sending *s, size_t keep_tokens, rt_error *err)
{
	char disc[16], take[16], before[RT_ID_MAX + 1];
	rt_compact_options o = {.with = s->options->with,
				.keep_tokens = keep_tokens,
				.is_threshold = true};
	rt_send_compaction *out = &s->out->compaction;
	rt_summary_result made;
	rt_error why;
	rt_status st = rt_entry_id(s->value, s->anchor, before, err);

	if (st != RT_OK)
		return st;
	snprintf(disc, sizeof(disc), "d%u", s->place.disc);
	snprintf(take, sizeof(take), "t%u", s->place.take);
	o.discussion = rt_str_of(disc);
	o.take = rt_str_of(take);
	o.before = rt_str_of(before);
	o.with.fn = NULL; /* it is no part of the reply */
	rt_sending_notice(s, "summing up what is oldest, for it does not fit any more …");
	memset(&why, 0, sizeof(why));
	st = rt_engine_compact(s->engine, &o, &made, &why);
	if (made.note != NULL)
		note(s, rt_text_str(made.note).ptr, "");
	if (st == RT_OK) {
		memcpy(out->entry, made.entry, sizeof(out->entry));
		out->seq = made.seq;
		out->entries = made.entries;
		out->tokens_before = made.tokens_before;
		out->tokens_after = made.tokens_after;
		rt_object_unref(s->value);
		s->value = rt_engine_value(s->engine);
	} else if (st == RT_INTERRUPTED || st == RT_NOMEM) {
		if (err != NULL)
			*err = why;
	} else {
		note(s, "what is oldest was not summed up, only left out: ", why.text);
		st = RT_OK;
	}
	if (st == RT_OK)
		rt_sending_notice(s, "waiting for the reply …");
	rt_summary_result_deinit(&made);
	return st;
}

/* The body of the request, with room for the reply. */
static rt_status
build(rt_sending *s, rt_buf *body, rt_error *err)
{
	rt_context_totals totals = {0};
	rt_context_options context = {.stream = true,
				      .model = s->options->with.model->name,
				      .service = rt_model_service(s->options->with.model),
				      .upto = s->anchor,
				      .count = s->options->with.count,
				      .ctx = s->options->with.count_ctx,
				      .totals = &totals};
	const rt_provider *provider = s->options->with.model->provider;
	size_t keep = 0;
	rt_buf trimmed, unsent;
	rt_status st = plan_room(s, &keep, err);

	rt_buf_init(&trimmed, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&unsent, s->engine->alloc, RT_BUF_UNLIMITED);
	context.trimmed = &trimmed;
	context.unsent = &unsent;
	context.budget_tokens = s->budget_tokens;
	if (st == RT_OK)
		st = rt_view_context(s->engine, s->value, s->place, provider, &context, body, err);
	if (st == RT_OK && keep > 0 && totals.left_out > 0 && s->anchor != 0) {
		st = make_room(s, keep, err);
		if (st == RT_OK && s->out->compaction.entry[0] != '\0') {
			rt_buf_clear(body);
			rt_buf_clear(&trimmed);
			rt_buf_clear(&unsent);
			memset(&totals, 0, sizeof(totals));
			st = rt_view_context(s->engine, s->value, s->place, provider, &context, body,
					     err);
		}
	}
	if (st == RT_OK && trimmed.status != RT_OK)
		st = nomem(err);
	if (st == RT_OK && s->into != 0)
		rt_reply_skip(&s->reply, rt_buf_str(&trimmed));
	if (st == RT_OK && unsent.size > 0)
		note_lines(s, rt_str_trim(rt_buf_str(&unsent)));
	rt_buf_deinit(&trimmed);
	rt_buf_deinit(&unsent);
	s->out->left_out = totals.left_out;
	s->newest = totals.entries - totals.summaries;
	s->out->tokens = totals.tokens;
	return st;
}

static rt_status
ask(rt_sending *s, rt_error *err)
{
	const rt_send_with *with = &s->options->with;
	rt_ask request = {.stream = true,
			  .stop = rt_sending_stopped,
			  .notice = rt_sending_notice,
			  .tick = tick,
			  .ctx = s};
	rt_asking asking;
	rt_buf body;
	rt_status st;

	rt_buf_init(&body, s->engine->alloc, RT_BUF_UNLIMITED);
	st = build(s, &body, err);
	asking = rt_sending_asking(s);
	if (st == RT_OK)
		st = rt_asking_before(&asking, &body, err);
	if (st == RT_OK)
		st = begin_flight(s, err);
	if (st == RT_OK) {
		record_request(s, rt_buf_str(&body));
		s->looked_us = now_us(s);
		request.body = rt_buf_str(&body);
		st = with->model->ops->ask(with->model, &request, &s->reply, err);
		rt_reply_finish(&s->reply);
		if (s->reply.status != RT_OK && st == RT_OK)
			st = rt_fail(err, s->reply.status,
				     s->reply.status == RT_NOMEM ? "out of memory while a reply arrived"
								 : "the reply is too large");
		s->out->stop = s->reply.stop;
		s->out->usage = s->reply.usage;
		st = keep(s, st, err);
		record_reply(s, st, err);
		rt_sending_tell(s, st);
	}
	rt_buf_deinit(&body);
	return st;
}

rt_status
rt_engine_send(rt_engine *engine, const rt_send_options *options, rt_send_result *out, rt_error *err)
{
	rt_sending s = {.engine = engine, .options = options, .out = out};
	rt_error own;
	rt_status st;

	memset(out, 0, sizeof(*out));
	memset(&own, 0, sizeof(own));
	out->usage = (rt_usage){SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
	if (err == NULL)
		err = &own;
	rt_buf_init(&s.model, engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&s.notes, engine->alloc, RT_BUF_UNLIMITED);
	s.act = (rt_apply_context){.hooks = options->with.hooks,
				   .by = options->with.by,
				   .stop = rt_sending_stopped,
				   .ctx = &s,
				   .notes = &s.notes};
	rt_reply_init(&s.reply, engine->alloc, arrived, &s);
	rt_buf_add_str(&s.model, rt_model_service(options->with.model));
	rt_buf_add_byte(&s.model, '/');
	rt_buf_add_str(&s.model, options->with.model->name);
	st = s.model.status == RT_OK ? RT_OK : nomem(err);
	if (st == RT_OK && options->how == RT_SEND_ASK && options->text.ptr != NULL) {
		st = check_images(&s, err);
		if (st == RT_OK)
			st = append_question(&s, err);
	}
	if (st == RT_OK) {
		s.value = rt_engine_value(engine);
		st = find_anchor(&s, err);
	}
	if (st == RT_OK)
		out->asked_take = s.place.take;
	if (st == RT_OK)
		st = ask(&s, err);
	if (s.notes.size > 0 && s.notes.status == RT_OK)
		out->note = rt_text_new(engine->alloc, rt_buf_str(&s.notes));
	rt_object_unref(s.value);
	rt_reply_deinit(&s.reply);
	rt_buf_deinit(&s.model);
	rt_buf_deinit(&s.notes);
	return st;
}

void
rt_send_result_deinit(rt_send_result *result)
{
	rt_text_unref(result->note);
	result->note = NULL;
}
