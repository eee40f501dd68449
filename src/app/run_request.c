/* SPDX-License-Identifier: MIT
 *
 * Resolves a request: addresses become ids, so that changes before the thread begins do not change
 * its targets. */
#define _POSIX_C_SOURCE 200809L

#include "app/run_impl.h"

#include <stdio.h>

#include "llm/models_host.h"
#include "llm/names_host.h"

const char *const rt_run_how_names[RT_RUN_HOWS] = {"ask",     "again",	  "continue",
						   "compact", "compress", "go", "merge"};

/* ---- addresses ---- */

/* A copy; absent stays absent. */
static rt_str
copy(rt_scope *s, rt_str text)
{
	return text.ptr != NULL ? rt_scope_copy(s, text) : text;
}

/* An entry's address as its id; absent stays absent. */
static rt_str
resolve_entry(rt_scope *s, const rt_project *project, rt_place place, rt_str address,
	      bool is_anywhere)
{
	char id[RT_ID_MAX + 1] = "";
	uint32_t entry = 0;

	if (address.ptr == NULL)
		return address;
	RT_TRY(s, rt_resolve_entry(project, place, address, is_anywhere, &entry, &s->error));
	if (entry == 0)
		rt_scope_fail(s, RT_NOT_FOUND, "there is no entry before the first");
	RT_TRY(s, rt_entry_id(project, entry, id, &s->error));
	return rt_scope_copy(s, rt_str_of(id));
}

static rt_str
numbered_id(rt_scope *s, char letter, uint32_t number)
{
	char id[24];

	(void)snprintf(id, sizeof(id), RT_BY_ID "%c%u", letter, (unsigned)number);
	return rt_scope_copy(s, rt_str_of(id));
}

static rt_place
resolve_place(rt_scope *s, rt_run_asked *a, const rt_run_request *r, const rt_project *project)
{
	rt_place place = {0, 0};

	RT_TRY(s, rt_resolve_place(project, r->discussion, r->take, &place, &s->error));
	a->disc = place.disc;
	a->discussion = numbered_id(s, 'd', place.disc);
	a->shown_take = numbered_id(s, 't', place.take);
	/* Each further reply becomes the active take; the others belong to the same one. */
	if (r->take.size > 0 || a->how == RT_RUN_AGAIN || a->how == RT_RUN_CONTINUE)
		a->take = a->shown_take;
	return place;
}

/* ---- the request ---- */

/* The question: a text, or blocks. */
static void
copy_question(rt_scope *s, rt_run_asked *a, const rt_run_request *r)
{
	if (r->content == NULL && r->text.ptr != NULL && rt_str_trim(r->text).size == 0)
		rt_scope_fail(s, RT_USAGE, "the question is empty");
	a->text = copy(s, r->text);
	if (r->content == NULL)
		return;
	rt_buf *json = rt_scope_buf(s);
	rt_json_add_value(json, r->content);
	a->content = rt_scope_str(s, json);
	a->text = rt_str_at("", 0); /* there is a question */
}

static void
resolve_send(rt_scope *s, rt_run_asked *a, const rt_run_request *r, const rt_project *project,
	     rt_place place)
{
	if (a->how == RT_RUN_ASK) {
		copy_question(s, a, r);
		a->role = copy(s, r->role);
		a->clears_draft = r->clears_draft;
	}
	a->reply_role = copy(s, r->reply_role);
	a->no_files = r->no_files;
	a->at = resolve_entry(s, project, place, r->at, a->text.ptr != NULL);
	if (a->how == RT_RUN_AGAIN && r->replies > 1)
		a->replies = r->replies;
	if (rt_ok(s) && a->how == RT_RUN_CONTINUE &&
	    rt_send_continued(project, a->discussion, a->take, a->at, &a->into, NULL) != RT_OK)
		a->into = 0;
}

static void
resolve_compact(rt_scope *s, rt_run_asked *a, const rt_run_request *r, const rt_project *project,
		rt_place place)
{
	a->from = resolve_entry(s, project, place, r->from, false);
	a->to = resolve_entry(s, project, place, r->to, false);
	if ((a->from.size == 0) != (a->to.size == 0))
		rt_scope_fail(s, RT_USAGE, "a range needs \"from\" and \"to\"");
	/* For the engine 0 is the default; to keep nothing means the last entry only. */
	a->keep_tokens = r->keep_tokens.value;
	if (r->keep_tokens.given && a->keep_tokens == 0)
		a->keep_tokens = 1;
}

static void
resolve_navigation(rt_scope *s, rt_run_asked *a, const rt_run_request *r,
		   const rt_project *project, rt_place place)
{
	a->target_take = copy(s, r->entry_take);
	if (a->target_take.size > 0)
		RT_TRY(s, rt_resolve_place(project, r->discussion, a->target_take, &place,
					   &s->error));
	a->target = resolve_entry(s, project, place, r->entry, true);
	a->select = r->select;
	a->summarize = !r->no_summary;
}

/* The take that is summarised and the one that gets the summary, whichever is active by then. */
static void
resolve_merge(rt_scope *s, rt_run_asked *a, const rt_run_request *r, const rt_project *project)
{
	rt_place from = {0, 0};

	if (r->from_take.size == 0)
		rt_scope_fail(s, RT_USAGE, "\"from_take\" is missing: the take to merge");
	RT_TRY(s, rt_resolve_place(project, a->discussion, r->from_take, &from, &s->error));
	a->from = numbered_id(s, 't', from.take);
	a->take = a->shown_take;
}

void
rt_run_resolve(rt_run *run, const rt_run_request *r, const rt_project *project)
{
	rt_scope *s = &run->scope;
	rt_run_asked *a = &run->asked;

	*a = (rt_run_asked){.how = r->how,
			    .replies = 1,
			    .summarize = true,
			    .may_name_files = r->may_name_files,
			    .budget = r->budget};
	rt_place place = resolve_place(s, a, r, project);
	a->by = rt_scope_copy(s, r->by);
	a->trace = rt_scope_copy(s, r->trace);
	a->model_said = copy(s, r->model);
	if (a->how > RT_RUN_CONTINUE)
		a->instructions = copy(s, r->instructions);
	if (a->how <= RT_RUN_CONTINUE)
		resolve_send(s, a, r, project, place);
	else if (a->how == RT_RUN_COMPACT)
		resolve_compact(s, a, r, project, place);
	else if (a->how == RT_RUN_MERGE)
		resolve_merge(s, a, r, project);
	else if (a->how == RT_RUN_GO)
		resolve_navigation(s, a, r, project, place);
}

/* ---- the model ---- */

/* Opens and checks the model of that name. */
static void
open_model(rt_run *run, rt_str name, bool may_play, rt_model_choice *choice, rt_buf *warnings)
{
	rt_scope *s = &run->scope;
	rt_runs *runs = run->runs;
	rt_models_options options = {.alloc = runs->alloc,
				     .env = runs->given.env,
				     .config = runs->given.config,
				     .pace_ms = runs->given.pace_ms,
				     .name = name,
				     .may_play = may_play};
	rt_model_names names = {.alloc = runs->alloc,
				.env = runs->given.env,
				.config = runs->given.config,
				.choice = choice};

	pthread_mutex_lock(&runs->opening);
	RT_TRY(s, rt_models_open(&options, &run->model, choice, warnings, &s->error));
	pthread_mutex_unlock(&runs->opening);
	names.model = run->model;
	RT_TRY(s, rt_model_names_check(&names, warnings, &s->error));
}

void
rt_run_open_model(rt_run *run, const rt_project *project)
{
	rt_scope *s = &run->scope;
	rt_runs *runs = run->runs;
	const rt_config *config = runs->given.config;
	const rt_run_asked *a = &run->asked;
	const rt_disc *disc = NULL;
	rt_pick_source source = RT_PICK_SETTING;
	rt_model_choice choice = {0};
	rt_buf *name = rt_scope_buf(s), *warnings = rt_scope_buf(s);

	if (a->how == RT_RUN_GO && !a->summarize)
		return;
	RT_TRY(s, rt_project_disc(project, a->disc, &disc, &s->error));
	RT_TRY(s, rt_pick_name(runs->alloc, project, disc, a->model_said, runs->given.model, name,
			       &source, &s->error));
	if (rt_scope_str(s, name).size == 0 && (config == NULL || config->model.size == 0))
		rt_scope_fail(s, RT_CREDENTIALS,
			      "no model is set: give \"model\", or set the \"model\" setting");
	open_model(run, rt_scope_str(s, name), rt_models_may_play(source, a->may_name_files),
		   &choice, warnings);
	if (!rt_ok(s))
		return;
	run->budget_tokens = (size_t)a->budget;
	if (a->budget == 0 && choice.config != NULL)
		run->budget_tokens = choice.config->context_tokens;
	rt_pick_counter_deinit(&run->counter);
	rt_pick_counter_init(&run->counter, runs->alloc, run->model->name);
	rt_buf_add_str(&run->model_name, rt_model_service(run->model));
	rt_buf_add_byte(&run->model_name, '/');
	rt_buf_add_str(&run->model_name, run->model->name);
	rt_buf_add_str(&run->notice, rt_str_trim(rt_buf_str(warnings)));
	run->notice_number = warnings->size > 0;
	(void)rt_scope_str(s, &run->model_name);
}

/* ---- the files ---- */

void
rt_run_check_files(rt_run *run, const rt_project *project)
{
	const rt_run_asked *a = &run->asked;
	const rt_file_options *options = run->runs->given.files;
	rt_scope s;

	if (!rt_ok(&run->scope) || a->how > RT_RUN_CONTINUE || a->no_files || options == NULL)
		return;
	rt_scope_init(&s, run->runs->alloc);
	rt_str message = rt_attach_has_symbols(&s, project, a->disc) ? a->text : RT_STR("");
	rt_attachments files = rt_attach(options, &s, project, a->disc, message);
	if (rt_ok(&s))
		rt_attachments_check(&s, &files, run->model);
	(void)rt_scope_join(&run->scope, &s);
}
