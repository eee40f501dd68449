/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "tui/work_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/attach.h"
#include "chat/context.h"
#include "codec/request_json.h"
#include "core/role.h"
#include "llm/provider.h"

enum { FILES_READ_US = 5000000 /* between two readings of the same lists of files */ };

/* ---- the place in view ---- */

/* Shows this place of this value, which is owned from here on; is_pinned: exactly that take. On
 * failure nothing changes. */
static rt_status
settle(rt_work *work, const rt_project *value, rt_place place, bool is_pinned, rt_error *err)
{
	const rt_cell *cell = rt_project_cell(value, place.disc);
	const rt_config *config = work->session->config;
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	rt_buf *model, old;
	rt_scope s;

	rt_scope_init(&s, work->alloc);
	if (place.disc == 0 || cell == NULL || !cell->present) {
		place.disc = value->active;
		is_pinned = false;
	}
	RT_TRY(&s, rt_project_disc(value, place.disc, &disc, &s.error));
	if (rt_ok(&s) && is_pinned)
		take = rt_disc_take(disc, place.take);
	if (rt_ok(&s) && (take == NULL || !take->present)) {
		take = rt_disc_active(disc);
		is_pinned = false;
	}
	model = rt_scope_buf(&s);
	RT_TRY(&s, rt_pick_name(work->alloc, value, disc, rt_str_of(work->said_model),
				rt_str_of(getenv("RETAKE_MODEL")), model, NULL, &s.error));
	if (model->size == 0 && config != NULL)
		rt_buf_add_str(model, config->model);
	(void)rt_scope_str(&s, model);
	if (!rt_ok(&s)) {
		rt_object_unref(value);
		return rt_scope_end(&s, err);
	}
	old = work->model;
	work->model = *model;
	*model = old;
	rt_object_unref(work->value);
	work->value = value;
	work->disc = disc;
	work->take = take;
	work->place = (rt_place){place.disc, take->number};
	work->is_pinned = is_pinned;
	work->take_count = rt_disc_present_count(disc);
	work->change++;
	work->value_change++;
	return rt_scope_end(&s, err);
}

/* Show the newest value. */
static rt_status
look(rt_work *work, rt_place place, bool is_pinned, rt_error *err)
{
	work->epoch = rt_engine_epoch(work->engine);
	return settle(work, rt_engine_value(work->engine), place, is_pinned, err);
}

rt_status
rt_work_look_at(rt_work *work, uint32_t disc, uint32_t take, rt_error *err)
{
	return settle(work, rt_object_ref(work->value), (rt_place){disc, take}, take != 0, err);
}

size_t
rt_work_count(const rt_work *work)
{
	return rt_seq_count(work->take->slots);
}

size_t
rt_work_head(const rt_work *work)
{
	size_t at = rt_work_count(work);

	if (work->take->number != work->disc->active ||
	    rt_disc_head_at(work->value, work->disc, &at, NULL) != RT_OK)
		return rt_work_count(work);
	return at;
}

bool
rt_work_is_filtered(const rt_work *work, size_t at)
{
	rt_str role;
	rt_slot slot;

	return work->only.size > 0 && at < rt_work_count(work) &&
	       rt_seq_get(work->take->slots, at, &slot, NULL) == RT_OK &&
	       rt_project_name(work->value, slot.role, &role, NULL) == RT_OK &&
	       !rt_role_passes(work->value, role, rt_buf_str(&work->only));
}

bool
rt_work_filters_head(const rt_work *work)
{
	size_t head = rt_work_head(work);

	return head > 0 && rt_work_is_filtered(work, head - 1);
}

rt_str
rt_work_disc_name(const rt_work *work)
{
	return rt_cell_name(rt_project_cell(work->value, work->place.disc));
}

rt_str
rt_work_take_name(const rt_work *work)
{
	return rt_text_str(work->take->name);
}

rt_view
rt_work_view(const rt_work *work, rt_scope *s)
{
	return (rt_view){s, work->engine, work->value, work->place};
}

/* ---- steps in words ---- */

const rt_history_row *
rt_work_step(rt_scope *s, const rt_work *work, uint64_t seq)
{
	rt_view view = rt_work_view(work, s);
	const rt_history_row *step = rt_history_next(rt_history_open(&view, NULL, seq + 1));

	return step != NULL && step->seq == seq ? step : NULL;
}

/* In the description of a step that concerns several entries. */
static const rt_str several = RT_STR_INIT(", first ");

void
rt_work_add_step(const rt_history_row *step, rt_buf *out)
{
	enum { WORDS = 48 };
	size_t cut;

	rt_buf_add_str(out, step->did);
	if (step->about.size == 0 || rt_str_eq(step->what, step->did))
		return;
	cut = rt_utf8_offset(step->about, WORDS);
	/* "Deleted 4 entries" is not about one of them. */
	bool is_first = rt_str_find(step->what, several, 0) != SIZE_MAX;
	rt_buf_add_c(out, is_first ? ", starting with \"" : ": ");
	rt_buf_add(out, step->about.ptr, cut == SIZE_MAX ? step->about.size : cut);
	rt_buf_add_c(out, cut == SIZE_MAX ? "" : " ...");
	rt_buf_add_c(out, is_first ? "\"" : "");
}

/* The same, with the position of an entry in the take in view instead of its id. */
static void
add_numbered(const rt_history_row *step, rt_str id, size_t position, rt_buf *out)
{
	size_t at = position != SIZE_MAX ? rt_str_find(step->what, id, 0) : SIZE_MAX;
	rt_str before = {step->what.ptr, at};

	if (at == SIZE_MAX) {
		rt_work_add_step(step, out);
		return;
	}
	if (at >= several.size &&
	    rt_str_eq(rt_str_at(before.ptr + at - several.size, several.size), several)) {
		rt_buf_add(out, before.ptr, at - several.size);
		rt_buf_add_c(out, "; the first is entry ");
	} else {
		rt_buf_add_str(out, before);
	}
	rt_buf_add_u64(out, position + 1);
	rt_buf_add_str(out, rt_str_skip(step->what, at + id.size));
}

/* The effect of a step. id: of the entry concerned, to be named by its position; or empty. */
static void
add_what(rt_scope *s, rt_work *work, uint64_t seq, rt_str id, rt_buf *out)
{
	const rt_history_row *step = rt_work_step(s, work, seq);
	size_t at = SIZE_MAX;
	uint32_t entry = 0;

	if (id.size > 0 &&
	    rt_resolve_entry(work->value, work->place, id, false, &entry, NULL) == RT_OK)
		at = rt_work_position(work, entry);
	if (step != NULL)
		add_numbered(step, id, at, out);
}

/* ---- changing ---- */

void
rt_work_said_init(rt_work_said *said, const rt_alloc *alloc)
{
	memset(said, 0, sizeof(*said));
	rt_buf_init(&said->words, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&said->note, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&said->editor, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&said->elsewhere, alloc, RT_BUF_UNLIMITED);
}

void
rt_work_said_deinit(rt_work_said *said)
{
	rt_buf_deinit(&said->words);
	rt_buf_deinit(&said->note);
	rt_buf_deinit(&said->editor);
	rt_buf_deinit(&said->elsewhere);
}

static void
add_sentence(rt_buf *words, rt_str text)
{
	rt_buf_add_c(words, words->size > 0 ? ". " : "");
	rt_buf_add_str(words, text);
}

/* "Undone: …"; returns the number of the newest step that moved, 0: unknown. */
static uint64_t
add_moved(rt_work *work, rt_work_job *job, uint64_t steps, bool undo, rt_buf *out)
{
	rt_view view = rt_work_view(work, &job->scope);
	uint64_t seq;
	bool is_one;
	size_t size;

	if (steps == 0) {
		rt_buf_add_f(out, "Nothing to %s", undo ? "undo" : "redo");
		return 0;
	}
	rt_buf_add_c(out, undo ? "Undone: " : "Redone: ");
	seq = rt_step_moved(&view, job->results[job->count - 1].move_seq, &is_one);
	if (steps > 1) {
		rt_buf_add_f(out, "%llu steps", (unsigned long long)steps);
		for (int restored = 0; restored < 2; restored++) {
			rt_buf *names = rt_scope_buf(&job->scope);

			if (rt_history_add_discussions(names, job->before, work->value, restored == 1))
				add_sentence(out, rt_str_trim(rt_scope_str(&job->scope, names)));
		}
		return seq;
	}
	size = out->size;
	if (seq != 0)
		add_what(&job->scope, work, seq, RT_STR(""), out);
	if (out->size == size)
		rt_buf_add_c(out, "1 step");
	return seq;
}

/* The take with other slots than before, if the one in view still has its own. */
static void
find_elsewhere(rt_work *work, const rt_work_job *job, rt_buf *out)
{
	const rt_disc *was = NULL, *now = NULL;

	if (rt_project_disc(job->before, job->disc_number, &was, NULL) != RT_OK ||
	    rt_project_disc(work->value, job->disc_number, &now, NULL) != RT_OK)
		return;
	for (uint32_t i = 1; i <= rt_disc_take_count(now); i++) {
		const rt_take *old = rt_disc_take(was, i), *take = rt_disc_take(now, i);

		if (old == NULL || old->slots == take->slots)
			continue;
		if (i == work->place.take) {
			rt_buf_clear(out);
			return;
		}
		if (out->size == 0)
			rt_buf_add_str(out, rt_text_str(take->name));
	}
}

static void
describe(rt_work *work, rt_work_job *job, rt_work_said *said)
{
	rt_scope *s = &job->scope;
	const rt_result *r = &job->results[job->count - 1];
	rt_op_id op = job->requests[0].op;
	rt_str notes = rt_str_trim(rt_buf_str(&job->notes));
	rt_buf *words = &said->words;

	said->seq = said->shown = r->unchanged ? 0 : r->seq;
	said->is_elsewhere = r->undo_disc != 0 && r->undo_disc != work->place.disc;
	said->is_step = said->seq != 0 && !said->is_elsewhere &&
			(rt_ops[op].flags & (RT_OP_MOVES_HISTORY | RT_OP_NO_UNDO)) == 0;
	said->is_undo = op == RT_OP_UNDO;
	said->steps = r->steps;
	said->count = r->count;
	memcpy(said->entry, r->entry, sizeof(said->entry));
	memcpy(said->take, r->take, sizeof(said->take));
	memcpy(said->discussion, r->discussion, sizeof(said->discussion));
	said->has_editor = r->editor != NULL;
	rt_buf_add_str(&said->editor, rt_text_str(r->editor));
	rt_buf_add_str(&said->note, rt_text_str(r->note));
	if (op == RT_OP_UNDO || op == RT_OP_REDO) {
		said->shown = add_moved(work, job, r->steps, said->is_undo, words);
	} else if (r->unchanged) {
		rt_buf_add_c(words, "Nothing was changed");
	} else {
		add_what(s, work, r->seq, rt_str_of(op == RT_OP_ENTRY_MOVE ? "" : r->entry), words);
		rt_buf_capitalise(words);
		if (op == RT_OP_ENTRY_VIEW) /* kept beside the history: not a step */
			said->seq = 0;
	}
	if (op == RT_OP_REVERT && !said->is_elsewhere)
		find_elsewhere(work, job, &said->elsewhere);
	if (r->note != NULL)
		add_sentence(words, rt_text_str(r->note));
	if (job->notes.size > 0)
		add_sentence(words, notes);
	(void)rt_scope_str(s, words);
	(void)rt_scope_str(s, &said->note);
	(void)rt_scope_str(s, &said->editor);
}

/* Shows the place that a change made active: also if undo, redo, a jump or a revert made another
 * discussion active than the one that was active and in view. */
static rt_status
follow(rt_work *work, const rt_work_job *job, rt_error *err)
{
	const rt_result *r = &job->results[job->count - 1];
	rt_op_id op = job->requests[0].op;
	const rt_project *now = rt_engine_value(work->engine);
	rt_place place = work->place, there = {0, 0};
	bool is_pinned = work->is_pinned;
	bool moves = (rt_ops[op].flags & RT_OP_MOVES_HISTORY) != 0 || op == RT_OP_REVERT;

	if (r->discussion[0] != 0 && op != RT_OP_DISCUSSION_RENAME) {
		/* A long name is cut off here, and the discussion is the active one anyway. */
		if (rt_resolve_place(now, rt_str_of(r->discussion), RT_STR(""), &there, NULL) !=
			    RT_OK ||
		    there.disc == 0)
			there.disc = now->active;
		place.disc = there.disc;
		is_pinned = false;
	} else if (moves && place.disc == work->value->active && now->active != place.disc) {
		place.disc = now->active;
		is_pinned = false;
	} else if (r->take[0] != 0) {
		is_pinned = false;
	}
	rt_object_unref(now);
	return look(work, place, is_pinned, err);
}

rt_status
rt_work_job_init(rt_work_job *job, rt_work *work, const rt_request *requests, size_t count,
		 const rt_request *draft, rt_error *err)
{
	rt_scope *s = &job->scope;

	memset(job, 0, sizeof(*job));
	rt_scope_init(s, work->alloc);
	rt_buf_init(&job->notes, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_clear(&work->hint);
	if (count == 0)
		return rt_fail(err, RT_USAGE, "nothing to do");
	job->engine = work->engine;
	job->with.by = RT_STR("tui");
	job->with.notes = &job->notes;
	job->requests = rt_scope_array(s, count, sizeof(*job->requests));
	job->results = rt_scope_array(s, count, sizeof(*job->results));
	for (size_t i = 0; rt_ok(s) && i < count; i++)
		job->requests[i] = rt_request_copy(s, &requests[i]);
	if (rt_ok(s) && draft != NULL) {
		job->draft = rt_scope_array(s, 1, sizeof(*job->draft));
		if (job->draft != NULL)
			*job->draft = rt_request_copy(s, draft);
	}
	if (!rt_ok(s))
		return rt_fail(err, s->status, "%s", s->error.text);
	job->count = count;
	(void)snprintf(job->disc, sizeof(job->disc), RT_BY_ID "d%u", work->place.disc);
	job->disc_number = work->place.disc;
	job->before = rt_object_ref(work->value);
	if (work->is_pinned)
		(void)snprintf(job->take, sizeof(job->take), RT_BY_ID "t%u", work->place.take);
	return RT_OK;
}

void
rt_work_job_run(rt_work_job *job)
{
	rt_result result;

	if (job->draft != NULL) {
		job->is_at_draft = true;
		job->draft_status = rt_apply(job->engine, &job->with, job->draft, 1, false,
					     rt_str_of(job->disc), RT_STR(""), &result);
		rt_result_deinit(&result);
		job->is_at_draft = false;
	}
	job->status = rt_apply(job->engine, &job->with, job->requests, job->count, job->count > 1,
			       rt_str_of(job->disc), rt_str_of(job->take), job->results);
	if (job->status != RT_OK)
		job->error = job->results[rt_results_cause(job->results, job->count)].error;
}

rt_status
rt_work_job_end(rt_work_job *job, rt_work *work, rt_work_said *said, rt_error *err)
{
	rt_scope *s = &job->scope;

	if (job->status == RT_OK) {
		RT_TRY(s, follow(work, job, &s->error));
		if (rt_ok(s) && said != NULL)
			describe(work, job, said);
		job->status = s->status;
		job->error = s->error;
	}
	if (job->status == RT_READ_ONLY)
		rt_buf_add_c(&work->hint, "It was opened read-only");
	if (job->status == RT_CONFLICT &&
	    look(work, work->place, work->is_pinned, NULL) == RT_NOMEM)
		job->status = rt_fail(&job->error, RT_NOMEM, "out of memory");
	if (job->status != RT_OK)
		*err = job->error;
	return job->status;
}

void
rt_work_job_deinit(rt_work_job *job)
{
	for (size_t i = 0; i < job->count; i++)
		rt_result_deinit(&job->results[i]);
	rt_scope_deinit(&job->scope);
	rt_buf_deinit(&job->notes);
	rt_object_unref(job->before);
	job->before = NULL;
}

/* ---- tokens ---- */

/* In a large project entries are not read: the sizes of those before the head that are not muted. */
static size_t
slot_tokens(rt_work *work)
{
	enum { SLOTS = 64 };
	size_t head = rt_work_head(work), bytes = 0, count;
	rt_slot slots[SLOTS];

	for (size_t at = 0; at < head; at += count) {
		count = head - at < SLOTS ? head - at : SLOTS;
		if (rt_seq_copy(work->take->slots, at, count, slots, NULL) != RT_OK)
			break;
		for (size_t i = 0; i < count; i++)
			bytes += (slots[i].flags & RT_SLOT_MUTED) != 0 ? 0 : slots[i].size;
	}
	return rt_tokens_estimate(bytes);
}

/* Estimated tokens of the next request without its files. */
static size_t
sent_tokens(rt_work *work)
{
	const size_t all = SIZE_MAX;
	rt_context_totals totals = {0};
	rt_context_options options = {.newest = &all, .totals = &totals};
	bool is_large = work->value->next_entry > RT_USAGE_ENTRIES_MAX;

	if (work->sent_value == work->value_change && work->sent_take == work->take)
		return work->sent_tokens;
	if (is_large || rt_view_context(work->engine, work->value, work->place, &rt_provider_openai,
					&options, NULL, NULL) != RT_OK)
		totals.tokens = slot_tokens(work);
	work->sent_value = work->value_change;
	work->sent_take = work->take;
	return work->sent_tokens = totals.tokens;
}

size_t
rt_work_tokens(rt_work *work)
{
	const rt_env *env = work->session->env;
	size_t tokens = sent_tokens(work);
	int64_t now_us = env->now_us(env->ctx);
	rt_buf *key;
	rt_scope s;
	bool is_same;

	rt_scope_init(&s, work->alloc);
	key = rt_scope_buf(&s);
	rt_buf_add_str(key, rt_attach_lists(&s, work->disc));
	is_same = key->size == 2 || /* there are none */
		  (rt_str_eq(rt_buf_str(key), rt_buf_str(&work->file_lists)) &&
		   (work->files_value == work->value_change ||
		    now_us - work->files_read_us < FILES_READ_US));
	if (key->size == 2)
		work->file_tokens = 0;
	if (rt_ok(&s) && !is_same) {
		work->file_tokens = rt_attach_tokens(&s, &work->files, work->value,
						     work->place.disc, RT_STR(""));
		rt_buf_clear(&work->file_lists);
		rt_buf_add_str(&work->file_lists, rt_buf_str(key));
		work->files_read_us = now_us;
		work->files_value = work->value_change;
	}
	rt_scope_deinit(&s);
	return tokens + work->file_tokens;
}

bool
rt_work_has_system_prompt(const rt_work *work)
{
	for (size_t i = 0; rt_setting_prompts[i] != NULL; i++) {
		rt_str json = rt_project_setting(work->value, work->disc, rt_setting_prompts[i]);

		if (json.size > 2 && json.ptr[0] == '"')
			return true;
	}
	return false;
}

rt_str
rt_work_usage(rt_work *work)
{
	rt_usage_totals totals;
	rt_view view;
	rt_scope s;

	if (work->usage_value == work->value_change)
		return rt_buf_str(&work->usage);
	rt_buf_clear(&work->usage);
	if (work->value->next_entry > RT_USAGE_ENTRIES_MAX)
		return rt_str_at(NULL, 0);
	rt_scope_init(&s, work->alloc);
	view = rt_work_view(work, &s);
	totals = rt_view_usage(&view, false);
	if (rt_ok(&s) && totals.replies > 0) {
		rt_buf_add_grouped(&work->usage, totals.input);
		rt_buf_add_c(&work->usage, " tokens in, ");
		rt_buf_add_grouped(&work->usage, totals.output);
		rt_buf_add_c(&work->usage, " out");
		if (totals.priced > 0)
			rt_buf_add_f(&work->usage, ", cost %s%.4f",
				     totals.priced < totals.replies ? "at least " : "", totals.cost);
	}
	rt_scope_deinit(&s);
	work->usage_value = work->value_change;
	return rt_buf_str(&work->usage);
}

/* ---- open and close ---- */

rt_status
rt_work_open(rt_work *work, rt_session *session, const char *model, rt_error *err)
{
	const rt_config *config = NULL;
	rt_buf *bufs[] = {&work->model,      &work->hint, &work->only,  &work->run_text, &work->run_thinking,
			  &work->run_notice, &work->run_model, &work->owner, &work->state, &work->file_lists,
			  &work->usage};
	rt_status st;

	memset(work, 0, sizeof(*work));
	work->session = session;
	work->alloc = session->alloc;
	for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
		rt_buf_init(bufs[i], work->alloc, RT_BUF_UNLIMITED);
	st = rt_session_config(session, &config, err);
	work->engine = session->engine;
	work->said_model = model;
	work->read_only = rt_engine_store(work->engine)->is_read_only;
	if (st == RT_OK)
		st = look(work, session->place, rt_session_take(session).size > 0, err);
	if (st == RT_OK)
		st = rt_work_open_runs(work, err);
	if (st != RT_OK)
		rt_work_close(work);
	return st;
}

void
rt_work_close(rt_work *work)
{
	rt_buf *bufs[] = {&work->model,      &work->hint, &work->only,  &work->run_text, &work->run_thinking,
			  &work->run_notice, &work->run_model, &work->owner, &work->state, &work->file_lists,
			  &work->usage};

	rt_work_close_runs(work);
	rt_object_unref(work->value);
	work->value = NULL;
	for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
		rt_buf_deinit(bufs[i]);
}

rt_status
rt_work_tend(rt_work *work, bool *out_ended, rt_error *err)
{
	bool was_running = rt_work_is_running(work);
	const rt_project *now;
	rt_status st;

	if (out_ended != NULL)
		*out_ended = false;
	/* If the store is locked, or the disk fails for a moment, the old value stays. */
	if (rt_engine_refresh_now(work->engine, NULL) == RT_NOMEM)
		return rt_fail(err, RT_NOMEM, "out of memory");
	now = rt_engine_value(work->engine);
	/* In this order: is_writing is set before a value can contain our change. */
	if (atomic_load(&work->is_writing) ||
	    (now == work->value && work->epoch == rt_engine_epoch(work->engine))) {
		rt_object_unref(now);
	} else {
		work->epoch = rt_engine_epoch(work->engine);
		st = settle(work, now, work->place, work->is_pinned, err);
		if (st != RT_OK)
			return st;
	}
	if (!was_running)
		return RT_OK;
	rt_work_read_runs(work);
	if (out_ended != NULL)
		*out_ended = !rt_work_is_running(work);
	return RT_OK;
}
