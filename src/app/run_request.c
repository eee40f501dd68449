/* SPDX-License-Identifier: MIT
 *
 * A request, resolved: addresses become the ids that they mean now, so that what others do before
 * the thread begins does not change what is meant. */
#define _POSIX_C_SOURCE 200809L

#include "app/run_impl.h"

#include <stdio.h>

#include "llm/models_host.h"
#include "llm/names_host.h"

const char *const rt_run_how_names[RT_RUN_HOWS] = {"ask",     "again",	  "continue",
						   "compact", "compress", "go"};

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static rt_status
copy(rt_run_asked *a, rt_str from, rt_str *out, rt_error *err)
{
	char *to = rt_arena_get(a->arena, from.size + 1);

	if (to == NULL)
		return nomem(err);
	if (from.size > 0)
		memcpy(to, from.ptr, from.size);
	to[from.size] = '\0';
	*out = rt_str_at(to, from.size);
	return RT_OK;
}

/* ---- addresses ---- */

/* An entry's address as its id; ptr NULL stays so. */
static rt_status
resolve_entry(rt_run_asked *a, const rt_project *project, rt_place place, rt_str address, bool whole,
	      rt_str *out, rt_error *err)
{
	char id[RT_ID_MAX + 1];
	uint32_t entry = 0;
	rt_status st;

	if (address.ptr == NULL)
		return RT_OK;
	st = rt_resolve_entry(project, place, address, whole, &entry, err);
	if (st == RT_OK && entry == 0)
		st = rt_fail(err, RT_NOT_FOUND, "there is no entry before the first");
	if (st == RT_OK)
		st = rt_entry_id(project, entry, id, err);
	return st == RT_OK ? copy(a, rt_str_of(id), out, err) : st;
}

static rt_status
resolve_place(rt_run_asked *a, const rt_run_request *request, const rt_project *project,
	   rt_place *out_place, rt_error *err)
{
	char id[24];
	rt_status st = rt_resolve_place(project, request->discussion, request->take, out_place, err);

	if (st != RT_OK)
		return st;
	a->disc = out_place->disc;
	(void)snprintf(id, sizeof(id), "d%u", (unsigned)out_place->disc);
	st = copy(a, rt_str_of(id), &a->discussion, err);
	(void)snprintf(id, sizeof(id), "t%u", (unsigned)out_place->take);
	if (st == RT_OK)
		st = copy(a, rt_str_of(id), &a->shown_take, err);
	/* Each further reply becomes the active take; the others are beside the same one. */
	if (request->take.size > 0 || a->how == RT_RUN_AGAIN || a->how == RT_RUN_CONTINUE)
		a->take = a->shown_take;
	return st;
}

/* ---- all of it ---- */

/* The question: a text, or blocks. */
static rt_status
copy_question(rt_run_asked *a, const rt_alloc *alloc, const rt_run_request *r, rt_error *err)
{
	rt_buf json;
	rt_status st;

	if (r->content == NULL && r->text.ptr == NULL)
		return RT_OK;
	if (r->content == NULL && rt_str_trim(r->text).size == 0)
		return rt_fail(err, RT_USAGE, "the question is empty");
	if (r->content == NULL)
		return copy(a, r->text, &a->text, err);
	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&json, r->content);
	st = json.status == RT_OK ? copy(a, rt_buf_str(&json), &a->content, err) : nomem(err);
	rt_buf_deinit(&json);
	a->text = rt_str_at("", 0); /* there is a question */
	return st;
}

static rt_status
resolve_send(rt_run_asked *a, const rt_alloc *alloc, const rt_project *project, rt_place place,
	     const rt_run_request *r, rt_error *err)
{
	bool asks = a->how == RT_RUN_ASK;
	rt_status st = asks ? copy_question(a, alloc, r, err) : RT_OK;

	if (st == RT_OK && asks && r->role.ptr != NULL)
		st = copy(a, r->role, &a->role, err);
	if (st == RT_OK && r->reply_role.ptr != NULL)
		st = copy(a, r->reply_role, &a->reply_role, err);
	if (st == RT_OK)
		st = resolve_entry(a, project, place, r->at, asks && a->text.ptr != NULL, &a->at, err);
	if (a->how == RT_RUN_AGAIN && r->replies > 1)
		a->replies = r->replies;
	if (st == RT_OK && a->how == RT_RUN_CONTINUE &&
	    rt_send_continued(project, a->discussion, a->take, a->at, &a->into, NULL) != RT_OK)
		a->into = 0;
	return st;
}

static rt_status
resolve_compact(rt_run_asked *a, const rt_project *project, rt_place place, const rt_run_request *r,
		rt_error *err)
{
	rt_status st = resolve_entry(a, project, place, r->from, false, &a->from, err);

	if (st == RT_OK)
		st = resolve_entry(a, project, place, r->to, false, &a->to, err);
	if (st == RT_OK && (a->from.size == 0) != (a->to.size == 0))
		st = rt_fail(err, RT_USAGE, "a range has \"from\" and \"to\"");
	/* The engine's 0 is the usual number; none at all is the last entry alone. */
	a->keep_tokens = r->keep_tokens.given && r->keep_tokens.value == 0 ? 1 : r->keep_tokens.value;
	return st;
}

static rt_status
resolve_navigation(rt_run_asked *a, const rt_project *project, rt_place place,
		   const rt_run_request *r, rt_error *err)
{
	rt_status st = RT_OK;

	if (r->entry_take.ptr != NULL)
		st = copy(a, r->entry_take, &a->target_take, err);
	if (st == RT_OK && a->target_take.size > 0)
		st = rt_resolve_place(project, r->discussion, a->target_take, &place, err);
	if (st == RT_OK)
		st = resolve_entry(a, project, place, r->entry, true, &a->target, err);
	a->select = r->select;
	a->summarize = !r->no_summary;
	return st;
}

rt_status
rt_run_resolve(rt_runs *runs, const rt_run_request *r, const rt_project *project, rt_run_asked *a,
	       rt_error *err)
{
	rt_place place;
	rt_status st;

	memset(a, 0, sizeof(*a));
	a->how = r->how;
	a->replies = 1;
	a->summarize = true;
	a->may_name_files = r->may_name_files;
	a->budget = r->budget;
	a->arena = rt_arena_new(runs->alloc);
	if (a->arena == NULL)
		return nomem(err);
	st = resolve_place(a, r, project, &place, err);
	if (st == RT_OK)
		st = copy(a, r->by, &a->by, err);
	if (st == RT_OK && r->model.ptr != NULL)
		st = copy(a, r->model, &a->model_said, err);
	if (st == RT_OK && r->instructions.ptr != NULL && a->how > RT_RUN_CONTINUE)
		st = copy(a, r->instructions, &a->instructions, err);
	if (st == RT_OK && a->how <= RT_RUN_CONTINUE)
		st = resolve_send(a, runs->alloc, project, place, r, err);
	else if (st == RT_OK && a->how == RT_RUN_COMPACT)
		st = resolve_compact(a, project, place, r, err);
	else if (st == RT_OK && a->how == RT_RUN_GO)
		st = resolve_navigation(a, project, place, r, err);
	return st;
}

/* ---- the model ---- */

rt_status
rt_run_open_model(rt_runs *runs, const rt_project *project, rt_run *run, rt_error *err)
{
	const rt_runs_options *given = &runs->given;
	const rt_run_asked *a = &run->asked;
	rt_models_options options = {.alloc = runs->alloc,
				     .env = given->env,
				     .config = given->config,
				     .pace_ms = given->pace_ms};
	const rt_disc *disc = NULL;
	rt_pick_source source = RT_PICK_SETTING;
	rt_model_choice choice;
	rt_buf name, warnings;
	rt_status st;

	if (a->how == RT_RUN_GO && !a->summarize)
		return RT_OK;
	memset(&choice, 0, sizeof(choice));
	rt_buf_init(&name, runs->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&warnings, runs->alloc, RT_BUF_UNLIMITED);
	st = rt_project_disc(project, a->disc, &disc, err);
	if (st == RT_OK)
		st = rt_pick_name(runs->alloc, project, disc, a->model_said, given->model, &name,
				  &source, err);
	if (st == RT_OK && name.size == 0 &&
	    (given->config == NULL || given->config->model.size == 0))
		st = rt_fail(err, RT_CREDENTIALS,
			     "no model is chosen: say which (\"model\"), or set the setting model");
	if (st == RT_OK) {
		options.name = rt_buf_str(&name);
		options.may_play = rt_models_may_play(source, a->may_name_files);
		pthread_mutex_lock(&runs->opening);
		st = rt_models_open(&options, &run->model, &choice, &warnings, err);
		pthread_mutex_unlock(&runs->opening);
	}
	if (st == RT_OK) {
		rt_model_names names = {.alloc = runs->alloc,
					.env = given->env,
					.config = given->config,
					.choice = &choice,
					.model = run->model};

		st = rt_model_names_check(&names, &warnings, err);
	}
	if (st == RT_OK) {
		run->budget_tokens = (size_t)a->budget;
		if (a->budget == 0 && choice.config != NULL)
			run->budget_tokens = choice.config->context_tokens;
		rt_pick_counter_deinit(&run->counter);
		rt_pick_counter_init(&run->counter, runs->alloc, run->model->name);
		rt_buf_add_str(&run->model_name, rt_model_service(run->model));
		rt_buf_add_byte(&run->model_name, '/');
		rt_buf_add_str(&run->model_name, run->model->name);
		rt_buf_add_str(&run->notice, rt_str_trim(rt_buf_str(&warnings)));
		run->notice_number = warnings.size > 0;
		if (run->model_name.status != RT_OK)
			st = nomem(err);
	}
	rt_buf_deinit(&name);
	rt_buf_deinit(&warnings);
	return st;
}
