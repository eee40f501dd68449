/* SPDX-License-Identifier: MIT
 *
 * The conversation that is worked on: looked at, changed. Models are in work_run.c. */
#define _POSIX_C_SOURCE 200809L

#include "tui/work.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/talk.h"
#include "llm/pick_host.h"
#include "tui/work_impl.h"

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
			  rt_str_of(getenv("RETAKE_MODEL")), &model, err);
	if (st == RT_OK && model.size == 0 && work->cli->config != NULL)
		rt_buf_add_str(&model, work->cli->config->model);
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
rt_work_open(rt_work *work, struct rt_cli *cli, rt_error *err)
{
	const rt_config *config = NULL;
	rt_status st;

	memset(work, 0, sizeof(*work));
	work->cli = cli;
	work->alloc = cli->alloc;
	rt_buf_init(&work->model, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->hint, cli->alloc, RT_BUF_UNLIMITED);
	rt_work_run_init(work);
	st = rt_cli_config(cli, &config);
	if (st != RT_OK)
		st = rt_fail(err, st, "%s", cli->error.text);
	work->engine = cli->engine;
	work->said_model = rt_cli_flag_value(cli, "model");
	work->read_only = rt_engine_store(cli->engine)->ops->is_read_only(rt_engine_store(cli->engine));
	if (st == RT_OK)
		st = look(work, cli->place, rt_cli_take_name(cli).size > 0, err);
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
	st = rt_engine_refresh(work->engine, &ignored);
	if (st == RT_NOMEM)
		return nomem(err);
	now = rt_engine_value(work->engine);
	st = now == work->value && work->epoch == rt_engine_epoch(work->engine)
		     ? RT_OK
		     : look(work, work->place, work->is_pinned, err);
	rt_object_unref(now);
	if (st == RT_OK)
		st = rt_work_run_tend(work, out_ended, err);
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
	return rt_text_str(rt_project_cell(work->value, work->place.disc)->name);
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
	rt_buf_init(&said->editor, alloc, RT_BUF_UNLIMITED);
}

void
rt_work_said_deinit(rt_work_said *said)
{
	rt_buf_deinit(&said->words);
	rt_buf_deinit(&said->editor);
}

/* Which step is to be told of. */
typedef enum what {
	WHAT_NEW,    /* number seq */
	WHAT_UNDONE, /* what comes after where we are, and was taken back last */
	WHAT_REDONE  /* where we are */
} what;

/* What a step did, in the history's words. */
static rt_status
add_what(rt_work *work, uint64_t seq, what which, rt_buf *out, rt_error *err)
{
	enum { LOOKED_AT = 200 };
	rt_json_doc *doc = NULL;
	yyjson_val *step, *found = NULL;
	uint64_t now = 0, number, parent;
	size_t i, count;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, work->alloc, RT_BUF_UNLIMITED);
	st = rt_view_history(work->engine, work->value, work->place.disc, 0, LOOKED_AT, &json, err);
	if (st == RT_OK)
		st = rt_json_read(work->alloc, rt_buf_str(&json), &doc, err);
	if (st == RT_OK) {
		yyjson_arr_foreach(rt_json_root(doc), i, count, step)
			if (yyjson_is_true(rt_json_get(step, "current")))
				(void)rt_json_u64(rt_json_get(step, "seq"), &now);
		yyjson_arr_foreach(rt_json_root(doc), i, count, step)
		{
			number = parent = 0;
			(void)rt_json_u64(rt_json_get(step, "seq"), &number);
			(void)rt_json_u64(rt_json_get(step, "parent"), &parent);
			if (found == NULL &&
			    (which == WHAT_NEW	    ? number == seq
			     : which == WHAT_REDONE ? number == now
						    : parent == now && yyjson_is_true(rt_json_get(
									       step, "undone"))))
				found = step;
		}
		if (found != NULL)
			rt_buf_add_str(out, rt_json_str(rt_json_get(found, "what")));
		else if (which != WHAT_NEW)
			rt_buf_add_c(out, "1 step");
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

static void
capitalise(rt_buf *words)
{
	if (words->size > 0 && words->ptr[0] >= 'a' && words->ptr[0] <= 'z')
		words->ptr[0] = (char)(words->ptr[0] - 'a' + 'A');
}

/* Behind the id that history calls an entry by: who speaks, and its number in the take. */
static void
name_entry(rt_work *work, const rt_result *r, rt_buf *words)
{
	size_t at = r->entry[0] == 0 ? SIZE_MAX
				     : rt_str_find(rt_buf_str(words), rt_str_of(r->entry), 0);
	uint32_t entry = 0;
	rt_work_entry e;
	rt_buf said;

	if (at == SIZE_MAX || rt_resolve_entry(work->value, work->place, rt_str_of(r->entry), false,
					       &entry, NULL) != RT_OK ||
	    rt_work_position(work, entry) == SIZE_MAX)
		return;
	if (rt_work_entry_of(work, entry, &e, NULL) != RT_OK)
		return;
	rt_buf_init(&said, work->alloc, RT_BUF_UNLIMITED);
	at += strlen(r->entry);
	rt_buf_add(&said, words->ptr, at);
	rt_buf_add_f(&said, " (%.*s, %zu)", RT_STR_ARG(e.role), e.at + 1);
	rt_buf_add_c(&said, words->ptr + at);
	rt_work_entry_deinit(&e);
	if (said.status == RT_OK) {
		rt_buf_clear(words);
		rt_buf_add_str(words, rt_buf_str(&said));
	}
	rt_buf_deinit(&said);
}

static rt_status
say(rt_work *work, rt_str op, const rt_result *r, rt_str notes, rt_work_said *said, rt_error *err)
{
	rt_status st = RT_OK;

	said->seq = r->unchanged ? 0 : r->seq;
	said->steps = r->steps;
	said->count = r->count;
	memcpy(said->entry, r->entry, sizeof(said->entry));
	memcpy(said->take, r->take, sizeof(said->take));
	memcpy(said->discussion, r->discussion, sizeof(said->discussion));
	if (r->editor != NULL) {
		said->has_editor = true;
		rt_buf_add_str(&said->editor, rt_text_str(r->editor));
	}
	if (rt_str_is(op, "undo") || rt_str_is(op, "redo")) {
		bool undo = rt_str_is(op, "undo");

		said->is_undo = undo;
		if (r->steps == 0)
			rt_buf_add_f(&said->words, "Nothing to %s", undo ? "take back" : "bring back");
		else
			rt_buf_add_c(&said->words, undo ? "Took back: " : "Brought back: ");
		if (r->steps > 1)
			rt_buf_add_f(&said->words, "%llu steps", (unsigned long long)r->steps);
		else if (r->steps == 1)
			st = add_what(work, 0, undo ? WHAT_UNDONE : WHAT_REDONE, &said->words, err);
	} else if (r->unchanged) {
		rt_buf_add_c(&said->words, "Nothing changed");
	} else {
		st = add_what(work, r->seq, WHAT_NEW, &said->words, err);
		if (st == RT_OK)
			name_entry(work, r, &said->words);
		capitalise(&said->words);
		if (rt_str_is(op, "entry.view")) /* kept beside the history: no step */
			said->seq = 0;
	}
	if (r->note != NULL)
		rt_buf_add_f(&said->words, "%s%.*s", said->words.size > 0 ? ". " : "",
			     RT_STR_ARG(rt_text_str(r->note)));
	if (notes.size > 0)
		rt_buf_add_f(&said->words, "%s%.*s", said->words.size > 0 ? ". " : "",
			     RT_STR_ARG(rt_str_trim(notes)));
	if (st == RT_OK && (said->words.status != RT_OK || said->editor.status != RT_OK))
		st = nomem(err);
	return st;
}

/* Where a change has gone, we go too. */
static rt_status
follow(rt_work *work, const rt_result *r, rt_error *err)
{
	rt_place place = work->place, there = {0, 0};
	bool is_pinned = work->is_pinned;

	if (r->discussion[0] != 0) {
		const rt_project *now = rt_engine_value(work->engine);

		if (rt_resolve_place(now, rt_str_of(r->discussion), rt_str_at("", 0), &there, NULL) ==
			    RT_OK &&
		    there.disc != 0) {
			place.disc = there.disc;
			is_pinned = false;
		}
		rt_object_unref(now);
	} else if (r->take[0] != 0) {
		is_pinned = false;
	}
	return look(work, place, is_pinned, err);
}

static rt_status
apply(rt_work *work, yyjson_val *root, rt_work_said *said, rt_error *err)
{
	size_t i, count = yyjson_arr_size(root), max;
	yyjson_val **requests, *request;
	rt_act_with with = {.hooks = work->cli->hooks, .by = RT_STR("tui")};
	char disc[24], take[24] = "";
	rt_result *results;
	rt_buf notes;
	rt_status st;

	rt_buf_init(&notes, work->alloc, RT_BUF_UNLIMITED);
	with.notes = &notes;
	requests = rt_new_array(work->alloc, count, sizeof(*requests));
	results = rt_new_array(work->alloc, count, sizeof(*results));
	if (requests == NULL || results == NULL) {
		rt_free(work->alloc, requests);
		rt_free(work->alloc, results);
		return nomem(err);
	}
	memset(results, 0, count * sizeof(*results));
	yyjson_arr_foreach(root, i, max, request)
		requests[i] = request;
	(void)snprintf(disc, sizeof(disc), "d%u", work->place.disc);
	if (work->is_pinned)
		(void)snprintf(take, sizeof(take), "t%u", work->place.take);
	st = rt_act_apply(work->engine, &with, requests, count, count > 1, rt_str_of(disc),
			  rt_str_of(take), results);
	for (i = 0; st != RT_OK && i < count; i++)
		if (results[i].status == st) {
			*err = results[i].error;
			break;
		}
	if (st == RT_OK)
		st = follow(work, &results[count - 1], err);
	if (st == RT_OK && said != NULL)
		st = say(work, rt_json_str(rt_json_get(requests[0], "op")), &results[count - 1],
			 rt_buf_str(&notes), said, err);
	for (i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
	rt_free(work->alloc, results);
	rt_free(work->alloc, requests);
	rt_buf_deinit(&notes);
	return st;
}

rt_status
rt_work_apply(rt_work *work, rt_str requests, rt_work_said *said, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_error own;
	rt_status st;

	rt_buf_clear(&work->hint);
	if (err == NULL)
		err = &own;
	st = rt_json_read(work->alloc, requests, &doc, err);
	if (st == RT_OK && yyjson_arr_size(rt_json_root(doc)) > 0)
		st = apply(work, rt_json_root(doc), said, err);
	rt_json_free(doc);
	if (st == RT_READ_ONLY)
		rt_buf_add_c(&work->hint, "It was opened for reading only");
	return st;
}

rt_status
rt_work_op(rt_work *work, rt_work_said *said, rt_error *err, const char *op, ...)
{
	const char *key;
	rt_buf json;
	va_list ap;
	rt_status st;

	rt_buf_init(&json, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&json, "[{\"op\":");
	rt_json_add_string(&json, rt_str_of(op));
	va_start(ap, op);
	while ((key = va_arg(ap, const char *)) != NULL) {
		rt_json_add_key(&json, key);
		rt_json_add_string(&json, rt_str_of(va_arg(ap, const char *)));
	}
	va_end(ap);
	rt_buf_add_c(&json, "}]");
	st = json.status != RT_OK ? nomem(err)
				  : rt_work_apply(work, rt_buf_str(&json), said, err);
	rt_buf_deinit(&json);
	return st;
}
