/* SPDX-License-Identifier: MIT
 *
 * From a question to a reply that is kept: the stages of send.h in their order. */
#include "chat/send_impl.h"

#include "base/moment.h"
#include "chat/context.h"
#include "chat/exchange.h"
#include "chat/last_request.h"
#include "chat/send_group.h"
#include "chat/summary.h"
#include "core/setting.h"

enum {
	LOOK_EVERY_US = 1000 * 1000, /* how often the anchor is checked while a reply arrives */
	COMPACT_RESERVE_TOKENS = 16384
};

static int64_t
now_us(const rt_sending *s)
{
	return s->engine->env->now_us(s->engine->env->ctx);
}

static bool
stopped(void *ctx)
{
	const rt_sending *s = ctx;
	const rt_send_with *with = &s->options->with;

	return s->gone || (with->stop != NULL && with->stop(with->ctx));
}

static void
pass_notice(void *ctx, const rt_notice *said)
{
	const rt_sending *s = ctx;
	const rt_send_with *with = &s->options->with;

	if (with->notice != NULL)
		with->notice(with->ctx, said);
}

static void
notice(rt_sending *s, const char *words)
{
	pass_notice(s, &(rt_notice){.words = words});
}

/* ---- files ---- */

static bool
has_same_files(const rt_fields *a, const rt_fields *b)
{
	for (size_t i = 0; rt_file_list_names[i] != NULL; i++)
		if (!rt_str_eq(rt_fields_get(a, rt_str_of(rt_file_list_names[i])),
			       rt_fields_get(b, rt_str_of(rt_file_list_names[i]))))
			return false;
	return true;
}

/* Reads the files of the value and the symbols that the message names, unless they were read for the
 * same lists and message. This happens before a question is appended, too, so that nothing has
 * changed if one cannot be sent. */
static void
read_files(rt_sending *s, const rt_project *value, rt_str message)
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
		rt_attachments_check(sc, &s->files, with->model);
	s->out->files_failed = sc->status == RT_REFUSED;
}

/* ---- compact (T15) ---- */

static rt_str
setting(rt_sending *s, const char *name)
{
	const rt_disc *disc = NULL;

	RT_TRY(&s->scope, rt_project_disc(s->value, s->place.disc, &disc, &s->scope.error));
	return rt_project_setting(s->value, disc, name);
}

/* A whole number; anything else counts as unset. */
static size_t
count_setting(rt_sending *s, const char *name, size_t standard)
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
plan_budget(rt_sending *s)
{
	size_t window = s->options->with.budget_tokens;

	s->budget_tokens = window;
	if (!rt_str_is(setting(s, "setting.compact_auto"), "true"))
		return 0;
	if (window == 0) {
		rt_send_note(s, "compact_auto is on, but the size of the model's context is unknown: set "
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
compact(rt_sending *s, size_t keep_tokens)
{
	char before[RT_ID_MAX + 1];
	rt_place_ids ids = rt_place_ids_of(s->place);
	rt_compact_options o = {.with = s->options->with,
				.keep_tokens = keep_tokens,
				.is_threshold = true};
	rt_send_compaction *out = &s->out->compaction;
	rt_summary_result made;
	rt_error why = {0};

	if (RT_TRY(&s->scope, rt_entry_id(s->value, s->anchor, before, &s->scope.error)) != RT_OK)
		return;
	o.discussion = rt_str_of(ids.disc);
	o.take = rt_str_of(ids.take);
	o.before = rt_str_of(before);
	o.with.fn = NULL; /* it is not part of the reply */
	notice(s, "summarising the oldest entries to fit the model's context …");
	rt_status st = rt_engine_compact(s->engine, &o, &made, &why);
	if (made.note != NULL)
		rt_send_note(s, "", rt_text_str(made.note));
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
		rt_send_note(s, "the oldest entries were left out without a summary: ", rt_str_of(why.text));
	}
	if (rt_ok(&s->scope))
		notice(s, "waiting for the reply …");
	rt_summary_result_deinit(&made);
}

/* ---- build ---- */

static rt_context_totals
build_once(rt_sending *s, rt_buf *body, rt_buf *trimmed, rt_buf *unsent)
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
build(rt_sending *s, rt_buf *body)
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
		rt_send_note(s, "", rt_str_trim(rt_buf_str(unsent)));
	s->out->left_out = totals.left_out;
	s->newest = totals.entries - totals.summaries;
	s->out->tokens = totals.tokens;
	s->out->files = s->files.count;
}

/* The side row exists before the request is sent. */
static void
begin_flight(rt_sending *s)
{
	rt_inflight *f = &s->inflight;
	rt_scope *sc = &s->scope;

	f->engine = s->engine;
	f->owner = s->options->with.owner;
	f->run = s->options->with.run;
	f->reply = &s->reply;
	f->role = s->options->reply_role;
	f->model = rt_buf_str(s->model);
	f->service = s->options->with.model->service;
	f->price = s->options->with.price;
	f->cache_apart = s->options->with.model->provider->cache_apart;
	f->apply = &s->apply;
	f->fork = s->is_mid_take || s->options->group != NULL;
	f->place = rt_place_ids_of(s->place);
	if (s->into != 0)
		RT_TRY(sc, rt_entry_id(s->value, s->into, f->into, &sc->error));
	else if (s->anchor != 0)
		RT_TRY(sc, rt_entry_id(s->value, s->anchor, f->after, &sc->error));
	RT_TRY(sc, rt_inflight_begin(f, &sc->error));
}

/* ---- receive ---- */

static bool
is_listed(const rt_sending *s, const rt_project *value)
{
	const rt_cell *cell = rt_project_cell(value, s->place.disc);

	return cell != NULL && cell->present;
}

/* Is the anchor still in its take, and the discussion in the catalogue (or was it in neither)? */
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
	rt_sending *s = ctx;
	int64_t since;

	if (rt_inflight_write(&s->inflight, false, NULL) != RT_OK)
		s->inflight.written_us = now_us(s); /* try again after the same time */
	if (s->inflight.taken)
		s->gone = true; /* data that arrives now could not be kept */
	since = now_us(s) - s->looked_us;
	if (since >= LOOK_EVERY_US || since < 0) /* the clock was set back */
		look(s);
}

/* From a JSON reply, the content is passed on, not the JSON. */
static void
arrived(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	rt_sending *s = ctx;
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
read_prompt(rt_sending *s)
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
		rt_send_note(
			s,
			"the reply is not the JSON object that prompt_updates requires; it is kept unchanged, and the working prompt does not change",
			RT_STR(""));
	if (update.content.size > 0)
		rt_reply_set_text(&s->reply, update.content);
	s->inflight.prompt = update.prompt;
}

/* Reports a prompt that was kept with the reply. */
static void
note_prompt(rt_sending *s)
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
	rt_send_note(s, "prompt updated", rt_scope_str(sc, diff));
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
keep_nothing(rt_sending *s, rt_status st, rt_error *err)
{
	if (s->gone)
		st = rt_fail(err, RT_CONFLICT, "the question no longer exists");
	if (rt_inflight_drop(&s->inflight, NULL) != RT_OK)
		notice(s, "the side row of the reply could not be removed");
	return st != RT_OK ? st : rt_fail(err, RT_UPSTREAM, "%s", nothing_words(s->reply.stop));
}

/* Replies of a group are kept one at a time, as rows of one group of the log. */
static rt_status
keep_reply(rt_sending *s, bool partial, rt_result *result)
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
keep(rt_sending *s, rt_status st, rt_error *err)
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
		st = RT_CONFLICT;
		*err = result.error;
		err->status = st;
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
record_request(rt_sending *s, const rt_exchange *x)
{
	char upto[RT_ID_MAX + 1] = "";
	rt_request_window window = {.left_out = s->out->left_out,
				    .newest = s->newest,
				    .budget_tokens = s->budget_tokens,
				    .files = &s->files};
	rt_request_record r = {.name = s->inflight.name,
			       .value = s->value,
			       .discussion = rt_str_of(s->inflight.place.disc),
			       .take = rt_str_of(s->inflight.place.take),
			       .window = &window,
			       .body = x->ask.body};
	rt_buf row;

	if (s->anchor != 0 && rt_entry_id(s->value, s->anchor, upto, NULL) != RT_OK)
		upto[0] = '\0';
	window.upto = rt_str_of(upto);
	rt_buf_init(&row, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_json_open(&row, NULL, '{');
	rt_json_put_u64(&row, "v", 1);
	rt_json_put_time(&row, "at", (rt_moment){now_us(s), 0});
	rt_request_record_put(&row, x, &r);
	rt_json_close(&row, '}');
	if (row.status != RT_OK ||
	    rt_engine_keep_last_request(s->engine, s->place.disc, rt_buf_str(&row), &s->files,
					s->options->with.bare_log, NULL) != RT_OK)
		rt_send_note(s, "the request could not be recorded as the last one", RT_STR(""));
	rt_exchange_record_request(x, &r);
	rt_buf_deinit(&row);
}

/* reply.after */
static void
notify_kept(rt_sending *s, const rt_exchange *x)
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
receive(rt_sending *s, rt_exchange *x)
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
	x->take = rt_send_take_address(s);
	rt_exchange_after(x, &s->out->usage, st);
	notify_kept(s, x);
	rt_scope_note(&s->scope, st);
}

/* Why the question has no reply, in the form in which it is kept. */
static void
put_failure(const rt_sending *s, rt_buf *out)
{
	rt_status st = s->scope.status;

	if (st == RT_OK || st == RT_CONFLICT || st == RT_NOMEM || s->gone ||
	    s->anchor == 0 || s->into != 0 || s->is_mid_take || s->answers_reply ||
	    s->out->entry[0] != '\0' || s->out->fate != RT_SEND_NOTHING)
		return;
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "code", rt_status_word(st));
	rt_json_put_c(out, "detail", st == RT_INTERRUPTED ? "stopped before the reply began"
							  : s->scope.error.text);
	rt_json_put_str(out, "model", rt_buf_str(s->model));
	rt_json_close(out, '}');
}

/* Keeps it with the question; for a group, once all have failed. */
static void
record_failure(rt_sending *s)
{
	rt_send_group *group = s->options->group;
	char id[RT_ID_MAX + 1];
	rt_place_ids ids = rt_place_ids_of(s->place);
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
	if (failure->size > 0 && rt_entry_id(s->value, s->anchor, id, NULL) == RT_OK) {
		rt_request request = {.op = RT_OP_ENTRY_FAIL,
				      .entry = rt_str_of(id),
				      .value = rt_json_parse(&sc, rt_scope_str(&sc, failure))};
		if (rt_ok(&sc) &&
		    rt_apply(s->engine, &apply, &request, 1, false, rt_str_of(ids.disc),
			     rt_str_of(ids.take), &result) == RT_OK && !result.unchanged)
			s->out->failure_seq = result.seq;
		rt_result_deinit(&result);
	}
	rt_scope_deinit(&sc);
}

rt_status
rt_engine_send(rt_engine *engine, const rt_send_options *options, rt_send_result *out, rt_error *err)
{
	const rt_send_with *with = &options->with;
	rt_sending s = {.engine = engine, .options = options, .out = out};

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
	rt_send_check_question(&s);
	rt_send_ask(&s);
	rt_send_check_asked(&s);
	if (rt_ok(&s.scope))
		read_files(&s, s.value,
			   rt_attach_message(&s.scope, engine, s.value, s.place, s.anchor));
	if (rt_ok(&s.scope)) {
		out->asked_take = s.place.take;
		s.updates = rt_prompt_updates_of(setting(&s, "setting.prompt_updates"));
		build(&s, body);
	}
	rt_exchange x = rt_exchange_of(engine, with, "reply", options->discussion, rt_send_take_address(&s),
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
