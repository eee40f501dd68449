/* SPDX-License-Identifier: MIT
 *
 * The conversation that is worked on: looked at, changed. Models are in work_run.c. */
#define _POSIX_C_SOURCE 200809L

#include "tui/work.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/request_json.h"
#include "llm/comms_host.h"
#include "llm/models_host.h"
#include "log/rows.h"
#include "tui/work_impl.h"
#include "view/view.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- where it looks ---- */

/* Look at this place of this value, which is taken over; pinned: at that very take. On failure all
 * stays as it was. */
static rt_status
settle(rt_work *work, const rt_project *value, rt_place place, bool is_pinned, rt_error *err)
{
	const rt_cell *cell = rt_project_cell(value, place.disc);
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	rt_status st;
	rt_buf model;

	rt_buf_init(&model, work->alloc, RT_BUF_UNLIMITED);
	if (place.disc == 0 || cell == NULL || !cell->present) {
		place.disc = value->active;
		is_pinned = false;
	}
	st = rt_project_disc(value, place.disc, &disc, err);
	if (st != RT_OK)
		goto done;
	if (is_pinned)
		take = rt_disc_take(disc, place.take);
	if (take == NULL || !take->present) {
		take = rt_disc_active(disc);
		is_pinned = false;
	}
	st = rt_pick_name(work->alloc, value, disc, rt_str_of(work->said_model),
			  rt_str_of(getenv("RETAKE_MODEL")), &model, NULL, err);
	if (st == RT_OK && model.size == 0 && work->session->config != NULL)
		rt_buf_add_str(&model, work->session->config->model);
	if (st == RT_OK && model.status != RT_OK)
		st = nomem(err);
	if (st != RT_OK)
		goto done;
	rt_object_unref(work->value);
	work->value = value;
	work->disc = disc;
	work->take = take;
	work->place = (rt_place){place.disc, take->number};
	work->is_pinned = is_pinned;
	work->take_count = rt_disc_present_count(disc);
	rt_buf_deinit(&work->model);
	work->model = model;
	work->change++;
	work->value_change++;
	return RT_OK;
done:
	rt_buf_deinit(&model);
	rt_object_unref(value);
	return st;
}

/* Look at a value that was the newest a moment ago. It is taken over. */
static rt_status
look_at_value(rt_work *work, const rt_project *value, rt_error *err)
{
	work->epoch = rt_engine_epoch(work->engine);
	return settle(work, value, work->place, work->is_pinned, err);
}

/* Look at the newest value. */
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

rt_status
rt_work_open(rt_work *work, rt_session *session, const char *model, rt_error *err)
{
	const rt_config *config = NULL;
	rt_status st;

	memset(work, 0, sizeof(*work));
	work->session = session;
	work->alloc = session->alloc;
	rt_buf_init(&work->model, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->hint, work->alloc, RT_BUF_UNLIMITED);
	rt_work_run_init(work);
	st = rt_session_config(session, &config, err);
	work->engine = session->engine;
	work->said_model = model;
	work->read_only = rt_engine_store(work->engine)->is_read_only;
	if (st == RT_OK)
		st = look(work, session->place, rt_session_take(session).size > 0, err);
	if (st == RT_OK)
		st = rt_work_run_open(work, err);
	if (st != RT_OK)
		rt_work_close(work);
	return st;
}

void
rt_work_close(rt_work *work)
{
	rt_work_run_close(work);
	rt_object_unref(work->value);
	work->value = NULL;
	rt_buf_deinit(&work->model);
	rt_buf_deinit(&work->hint);
}

rt_status
rt_work_tend(rt_work *work, bool *out_ended, rt_error *err)
{
	rt_error ignored;
	const rt_project *now;
	rt_status st;

	if (out_ended != NULL)
		*out_ended = false;
	/* A store that is locked, or a disk that says no for a moment: what there is stays. */
	st = rt_engine_refresh_now(work->engine, &ignored);
	if (st == RT_NOMEM)
		return nomem(err);
	now = rt_engine_value(work->engine);
	/* In this order: what is ours is in no value before it is said that it may be. */
	st = atomic_load(&work->is_writing) ||
			     (now == work->value && work->epoch == rt_engine_epoch(work->engine))
		     ? RT_OK
		     : look_at_value(work, rt_object_ref(now), err);
	rt_object_unref(now);
	if (st == RT_OK)
		rt_work_run_tend(work, out_ended);
	return st;
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
	rt_error ignored;

	if (work->take->number != work->disc->active ||
	    rt_disc_head_at(work->value, work->disc, &at, &ignored) != RT_OK)
		return rt_work_count(work);
	return at;
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

/* ---- entries ---- */

/* "thinking" of blocks, and what came beside the content. */
static void
add_thinking(const rt_body *body, rt_buf *out)
{
	yyjson_val *block, *segments = rt_body_field(body, "thinking_segments");
	size_t i, count;

	if (body->content_json != NULL)
		yyjson_arr_foreach(body->content_json, i, count, block)
		{
			rt_str text = rt_json_str(rt_json_get(block, "thinking"));

			if (!rt_str_is(rt_json_str(rt_json_get(block, "type")), "thinking") ||
			    text.size == 0)
				continue;
			if (out->size > 0)
				rt_buf_add_byte(out, '\n');
			rt_buf_add_str(out, text);
		}
	if (!yyjson_is_arr(segments))
		return;
	yyjson_arr_foreach(segments, i, count, block)
	{
		rt_str text = yyjson_is_str(block) ? rt_json_str(block)
						   : rt_json_str(rt_json_get(block, "content"));

		if (text.size == 0)
			text = rt_json_str(rt_json_get(block, "text"));
		if (out->size > 0)
			rt_buf_add_byte(out, '\n');
		rt_buf_add_str(out, text);
	}
}

static rt_status
fill(rt_work *work, rt_work_entry *e, rt_error *err)
{
	rt_content content = {.text = {NULL, 0}};
	unsigned view = 0;
	rt_status st = rt_entry_id(work->value, e->slot.entry, e->id, err);

	if (st == RT_OK)
		st = rt_project_name(work->value, e->slot.role, &e->role, err);
	if (st == RT_OK)
		st = rt_project_name(work->value, e->slot.kind, &e->kind, err);
	if (st == RT_OK)
		st = rt_disc_label(work->value, work->disc, e->slot.entry, &e->label, err);
	if (st == RT_OK)
		st = rt_project_view(work->value, e->slot.entry, &view, err);
	if (st == RT_OK)
		st = rt_engine_body(work->engine, e->slot.body, &e->bytes, &e->body, err);
	if (st != RT_OK)
		return st;
	if (e->kind.size == 0)
		e->kind = RT_STR("message");
	e->is_collapsed = (view & RT_VIEW_COLLAPSED) != 0;
	e->is_muted = (e->slot.flags & RT_SLOT_MUTED) != 0;
	e->is_partial = yyjson_is_true(rt_body_field(&e->body, "partial"));
	e->is_hidden = rt_body_is_hidden(e->kind, &e->body);
	rt_body_add_text(&e->text, &e->body);
	add_thinking(&e->body, &e->thinking);
	content.text = e->body.content;
	content.blocks = e->body.content_json;
	rt_content_add_parts(&e->parts, content, rt_body_field(&e->body, "tool_calls"));
	if (e->text.size == 0 && e->parts.size == 0)
		rt_content_add_brief(&e->parts, content, rt_body_field(&e->body, "tool_calls"),
				     rt_body_field(&e->body, "pi"));
	e->is_tool = rt_str_eq_nocase(e->role, RT_STR("tool")) ||
		     rt_str_eq_nocase(e->role, RT_STR("toolResult"));
	if (e->text.status != RT_OK || e->thinking.status != RT_OK || e->parts.status != RT_OK)
		st = nomem(err);
	if (st != RT_OK)
		rt_body_deinit(&e->body);
	return st;
}

static rt_status
entry_of(rt_work *work, const rt_slot *slot, size_t at, rt_work_entry *out, rt_error *err)
{
	rt_status st;

	memset(out, 0, sizeof(*out));
	out->slot = *slot;
	out->at = at;
	rt_buf_init(&out->bytes, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&out->text, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&out->thinking, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&out->parts, work->alloc, RT_BUF_UNLIMITED);
	st = fill(work, out, err);
	if (st != RT_OK) {
		rt_buf_deinit(&out->text);
		rt_buf_deinit(&out->thinking);
		rt_buf_deinit(&out->parts);
	}
	return st;
}

rt_status
rt_work_entry_at(rt_work *work, size_t at, rt_work_entry *out, rt_error *err)
{
	rt_slot slot;
	rt_status st = rt_seq_get(work->take->slots, at, &slot, err);

	return st == RT_OK ? entry_of(work, &slot, at, out, err) : st;
}

rt_status
rt_work_entry_of(rt_work *work, uint32_t entry, rt_work_entry *out, rt_error *err)
{
	size_t at = SIZE_MAX;
	bool found = false;
	uint32_t holder = 0;
	rt_slot slot;
	const rt_take *seen = work->seen_take == 0 ? NULL : rt_disc_take(work->disc, work->seen_take);
	rt_status st = RT_OK;

	if (seen != NULL && seen->present && seen != work->take) {
		st = rt_take_find(work->value, seen, entry, &at, &slot, &found, err);
		if (st != RT_OK || found)
			return st == RT_OK ? entry_of(work, &slot, SIZE_MAX, out, err) : st;
	}
	st = rt_take_find(work->value, work->take, entry, &at, &slot, &found, err);
	if (st != RT_OK || found)
		return st == RT_OK ? entry_of(work, &slot, at, out, err) : st;
	st = rt_disc_holds(work->value, work->disc, entry, &holder, err);
	if (st == RT_OK && holder == 0)
		return rt_fail(err, RT_NOT_FOUND, "the entry is in no take now");
	if (st == RT_OK)
		st = rt_take_find(work->value, rt_disc_take(work->disc, holder), entry, &at, &slot,
				  &found, err);
	return st == RT_OK ? entry_of(work, &slot, SIZE_MAX, out, err) : st;
}

void
rt_work_entry_deinit(rt_work_entry *entry)
{
	rt_body_deinit(&entry->body);
	rt_buf_deinit(&entry->bytes);
	rt_buf_deinit(&entry->text);
	rt_buf_deinit(&entry->thinking);
	rt_buf_deinit(&entry->parts);
}

size_t
rt_work_position(rt_work *work, uint32_t entry)
{
	size_t at = SIZE_MAX;
	bool found = false;
	rt_slot slot;
	rt_error ignored;

	if (rt_take_find(work->value, work->take, entry, &at, &slot, &found, &ignored) != RT_OK ||
	    !found)
		return SIZE_MAX;
	return at;
}

/* ---- changing ---- */

void
rt_work_said_init(rt_work_said *said, const rt_alloc *alloc)
{
	memset(said, 0, sizeof(*said));
	rt_buf_init(&said->words, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&said->note, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&said->editor, alloc, RT_BUF_UNLIMITED);
}

void
rt_work_said_deinit(rt_work_said *said)
{
	rt_buf_deinit(&said->words);
	rt_buf_deinit(&said->note);
	rt_buf_deinit(&said->editor);
}

void
rt_work_add_step(yyjson_val *step, rt_buf *out)
{
	enum { WORDS = 48 };
	rt_str what = rt_json_str(rt_json_get(step, "what")), did = rt_json_str(rt_json_get(step, "did"));
	rt_str about = rt_json_str(rt_json_get(step, "about"));
	size_t cut;

	rt_buf_add_str(out, did);
	if (about.size == 0 || rt_str_eq(what, did))
		return;
	cut = rt_utf8_offset(about, WORDS);
	rt_buf_add_c(out, ": ");
	rt_buf_add_str(out, rt_str_at(about.ptr, cut == SIZE_MAX ? about.size : cut));
	rt_buf_add_c(out, cut == SIZE_MAX ? "" : " ...");
}

/* The same with the number of the entry that it is about, in the take at hand. 0: it has none. */
static void
add_numbered(yyjson_val *step, rt_str id, size_t number, rt_buf *out)
{
	rt_str what = rt_json_str(rt_json_get(step, "what")), before = what, several = RT_STR(", first ");
	size_t at = number > 0 ? rt_str_find(what, id, 0) : SIZE_MAX;

	if (at == SIZE_MAX) {
		rt_work_add_step(step, out);
		return;
	}
	before.size = at;
	if (at >= several.size &&
	    rt_str_eq(rt_str_at(what.ptr + at - several.size, several.size), several)) {
		before.size -= several.size;
		rt_buf_add_str(out, before);
		rt_buf_add_c(out, "; the first is entry ");
	} else {
		rt_buf_add_str(out, before);
	}
	rt_buf_add_u64(out, number);
	rt_buf_add(out, what.ptr + at + id.size, what.size - at - id.size);
}

/* What a step did, in the history's words. entry: the id of the one that it is about, as it is to
 * be told by its number; or empty. */
static rt_status
add_what(rt_work *work, uint64_t seq, rt_str id, rt_buf *out, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *step;
	uint64_t number = 0;
	uint32_t entry = 0;
	size_t at = SIZE_MAX;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, work->alloc, RT_BUF_UNLIMITED);
	st = rt_view_history(work->engine, work->value, work->place.disc, seq + 1, 1, &json, err);
	if (st == RT_OK)
		st = rt_json_read(work->alloc, rt_buf_str(&json), &doc, err);
	step = st == RT_OK ? yyjson_arr_get_first(rt_json_root(doc)) : NULL;
	(void)rt_json_u64(rt_json_get(step, "seq"), &number);
	if (id.size > 0 && rt_resolve_entry(work->value, work->place, id, false, &entry, NULL) == RT_OK)
		at = rt_work_position(work, entry);
	if (step != NULL && number == seq)
		add_numbered(step, id, at == SIZE_MAX ? 0 : at + 1, out);
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

/* The last steps of the discussion and of the project that are in effect in this value. */
static void
last_steps(const rt_project *value, uint32_t disc, uint64_t out[2])
{
	const rt_disc *d = NULL;
	rt_error ignored;

	out[0] = rt_project_cell(value, disc) != NULL &&
				 rt_project_disc(value, disc, &d, &ignored) == RT_OK
			 ? d->history.current
			 : 0;
	out[1] = value->history.current;
}

/* The step that was taken back, or brought back: where the one or the other history stands now is
 * another step than it was. 0: it is none of these. */
static uint64_t
step_moved(rt_work *work, const rt_work_job *job, bool undo)
{
	uint64_t now[2];
	int i;

	last_steps(work->value, job->disc_number, now);
	for (i = 0; i < 2; i++)
		if (now[i] != job->was[i])
			return undo ? job->was[i] : now[i];
	return 0;
}

static rt_status
add_moved(rt_work *work, uint64_t seq, rt_buf *out, rt_error *err)
{
	size_t size = out->size;
	rt_status st = seq != 0 ? add_what(work, seq, rt_str_at("", 0), out, err) : RT_OK;

	if (out->size == size)
		rt_buf_add_c(out, "1 step");
	return st;
}

static void
capitalise(rt_buf *words)
{
	if (words->size > 0 && words->ptr[0] >= 'a' && words->ptr[0] <= 'z')
		words->ptr[0] = (char)(words->ptr[0] - 'a' + 'A');
}

static rt_status
say(rt_work *work, const rt_work_job *job, rt_work_said *said, rt_error *err)
{
	const rt_result *r = &job->results[job->count - 1];
	rt_op_id op = job->requests[0].op;
	unsigned flags = rt_ops[op].flags;
	rt_str notes = rt_buf_str(&job->notes);
	rt_status st = RT_OK;

	said->seq = r->unchanged ? 0 : r->seq;
	said->is_elsewhere = r->undo_disc != 0 && r->undo_disc != work->place.disc;
	said->is_step = said->seq != 0 && !said->is_elsewhere &&
			(flags & (RT_OP_MOVES_HISTORY | RT_OP_NO_UNDO)) == 0;
	said->steps = r->steps;
	said->count = r->count;
	memcpy(said->entry, r->entry, sizeof(said->entry));
	memcpy(said->take, r->take, sizeof(said->take));
	memcpy(said->discussion, r->discussion, sizeof(said->discussion));
	if (r->editor != NULL) {
		said->has_editor = true;
		rt_buf_add_str(&said->editor, rt_text_str(r->editor));
	}
	if (op == RT_OP_UNDO || op == RT_OP_REDO) {
		bool undo = op == RT_OP_UNDO;

		said->is_undo = undo;
		if (r->steps == 0)
			rt_buf_add_f(&said->words, "Nothing to %s", undo ? "take back" : "bring back");
		else
			rt_buf_add_c(&said->words, undo ? "Took back: " : "Brought back: ");
		if (r->steps > 1)
			rt_buf_add_f(&said->words, "%llu steps", (unsigned long long)r->steps);
		else if (r->steps == 1)
			st = add_moved(work, step_moved(work, job, undo), &said->words, err);
	} else if (r->unchanged) {
		rt_buf_add_c(&said->words, "Nothing changed");
	} else {
		st = add_what(work, r->seq, rt_str_of(op == RT_OP_ENTRY_MOVE ? "" : r->entry),
			      &said->words, err);
		capitalise(&said->words);
		if (op == RT_OP_ENTRY_VIEW) /* kept beside the history: no step */
			said->seq = 0;
	}
	if (r->note != NULL)
		rt_buf_add_str(&said->note, rt_text_str(r->note));
	if (r->note != NULL)
		rt_buf_add_f(&said->words, "%s%.*s", said->words.size > 0 ? ". " : "",
			     RT_STR_ARG(rt_text_str(r->note)));
	if (notes.size > 0)
		rt_buf_add_f(&said->words, "%s%.*s", said->words.size > 0 ? ". " : "",
			     RT_STR_ARG(rt_str_trim(notes)));
	if (st == RT_OK && (said->words.status != RT_OK || said->note.status != RT_OK ||
			    said->editor.status != RT_OK))
		st = nomem(err);
	return st;
}

/* Where a change has gone, we go too: also where what was taken or brought back has made another
 * discussion active than the one that was, and was looked at. */
static rt_status
follow(rt_work *work, const rt_work_job *job, rt_error *err)
{
	const rt_result *r = &job->results[job->count - 1];
	rt_op_id op = job->requests[0].op;
	const rt_project *now = rt_engine_value(work->engine);
	rt_place place = work->place, there = {0, 0};
	bool is_pinned = work->is_pinned;
	bool moves = (rt_ops[op].flags & RT_OP_MOVES_HISTORY) != 0;

	/* Another name is no way to go. */
	if (r->discussion[0] != 0 && op != RT_OP_DISCUSSION_RENAME) {
		/* Of a long name this is the beginning only; it is the active one all the same. */
		if (rt_resolve_place(now, rt_str_of(r->discussion), rt_str_at("", 0), &there,
				     NULL) != RT_OK ||
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
		 rt_error *err)
{
	memset(job, 0, sizeof(*job));
	rt_scope_init(&job->scope, work->alloc);
	rt_buf_init(&job->notes, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_clear(&work->hint);
	if (count == 0)
		return rt_fail(err, RT_USAGE, "there is nothing to do");
	job->engine = work->engine;
	job->with.by = RT_STR("tui");
	job->with.notes = &job->notes;
	job->requests = rt_scope_array(&job->scope, count, sizeof(*job->requests));
	job->results = rt_scope_array(&job->scope, count, sizeof(*job->results));
	for (size_t i = 0; rt_ok(&job->scope) && i < count; i++)
		job->requests[i] = rt_request_copy(&job->scope, &requests[i]);
	if (!rt_ok(&job->scope)) {
		if (err != NULL)
			*err = job->scope.error;
		return job->scope.status;
	}
	job->count = count;
	(void)snprintf(job->disc, sizeof(job->disc), "d%u", work->place.disc);
	job->disc_number = work->place.disc;
	last_steps(work->value, job->disc_number, job->was);
	if (work->is_pinned)
		(void)snprintf(job->take, sizeof(job->take), "t%u", work->place.take);
	return RT_OK;
}

void
rt_work_job_run(rt_work_job *job)
{
	size_t i;

	job->status = rt_apply(job->engine, &job->with, job->requests, job->count, job->count > 1,
			       rt_str_of(job->disc), rt_str_of(job->take), job->results);
	if (job->status == RT_OK)
		return;
	/* Of several, the one that it failed at says why; the others, that they were not done. */
	for (i = 0; i + 1 < job->count; i++)
		if (job->results[i].status == job->status &&
		    strncmp(job->results[i].error.text, "not done, since", 15) != 0)
			break;
	job->error = job->results[i].error;
}

rt_status
rt_work_job_end(rt_work_job *job, rt_work *work, rt_work_said *said, rt_error *err)
{
	rt_status st = job->status;

	if (st == RT_OK)
		st = follow(work, job, err);
	else
		*err = job->error;
	if (st == RT_OK && said != NULL)
		st = say(work, job, said, err);
	if (st == RT_READ_ONLY)
		rt_buf_add_c(&work->hint, "It was opened for reading only");
	if (st == RT_CONFLICT && look(work, work->place, work->is_pinned, NULL) == RT_NOMEM)
		st = nomem(err);
	return st;
}

void
rt_work_job_deinit(rt_work_job *job)
{
	for (size_t i = 0; i < job->count; i++)
		rt_result_deinit(&job->results[i]);
	rt_scope_deinit(&job->scope);
	rt_buf_deinit(&job->notes);
}
