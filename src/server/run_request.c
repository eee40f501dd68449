/* SPDX-License-Identifier: MIT
 *
 * What a run is asked, read from the body of a request. Addresses become the ids that they
 * mean now, so that what others do before the thread begins does not change what is meant. */
#define _POSIX_C_SOURCE 200809L

#include "server/run_impl.h"

#include <stdio.h>

#include "llm/models_host.h"
#include "llm/names_host.h"

const char *const rt_run_how_words[RT_RUN_HOWS] = {"ask",     "again",	  "continue",
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

/* ---- fields ---- */

/* Absent and null leave what is there. */
static rt_status
read_text(rt_run_asked *a, yyjson_val *fields, const char *key, rt_str *out, rt_error *err)
{
	yyjson_val *value = rt_json_get(fields, key);

	if (value == NULL || yyjson_is_null(value))
		return RT_OK;
	if (!yyjson_is_str(value))
		return rt_fail(err, RT_USAGE, "\"%s\" has to be a text", key);
	return copy(a, rt_json_str(value), out, err);
}

static rt_status
read_number(yyjson_val *fields, const char *key, uint64_t low, uint64_t high, uint64_t *out,
	    rt_error *err)
{
	yyjson_val *value = rt_json_get(fields, key);
	uint64_t number;

	if (value == NULL || yyjson_is_null(value))
		return RT_OK;
	if (!rt_json_u64(value, &number) || number < low || number > high)
		return rt_fail(err, RT_USAGE, "\"%s\" has to be a whole number from %llu to %llu", key,
			       (unsigned long long)low, (unsigned long long)high);
	*out = number;
	return RT_OK;
}

static rt_status
read_flag(yyjson_val *fields, const char *key, bool *out, rt_error *err)
{
	yyjson_val *value = rt_json_get(fields, key);

	if (value == NULL || yyjson_is_null(value))
		return RT_OK;
	if (!yyjson_is_bool(value))
		return rt_fail(err, RT_USAGE, "\"%s\" has to be true or false", key);
	*out = yyjson_is_true(value);
	return RT_OK;
}

/* The question: text, or content, which is a text or an array of blocks. */
static rt_status
read_question(rt_run_asked *a, const rt_alloc *alloc, yyjson_val *fields, rt_error *err)
{
	yyjson_val *content = rt_json_get(fields, "content");
	rt_buf json;
	rt_status st = read_text(a, fields, "text", &a->text, err);

	if (st != RT_OK || content == NULL || yyjson_is_null(content))
		return st;
	if (a->text.ptr != NULL)
		return rt_fail(err, RT_USAGE, "there is \"text\" and \"content\"; give one of them");
	if (yyjson_is_str(content))
		return copy(a, rt_json_str(content), &a->text, err);
	if (!yyjson_is_arr(content))
		return rt_fail(err, RT_USAGE, "\"content\" has to be a text or an array of blocks");
	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&json, content);
	st = json.status == RT_OK ? copy(a, rt_buf_str(&json), &a->content, err) : nomem(err);
	rt_buf_deinit(&json);
	a->text = rt_str_at("", 0); /* there is a question */
	return st;
}

/* ---- addresses ---- */

/* An entry's address in this field as its id. */
static rt_status
read_entry(rt_run_asked *a, const rt_project *project, rt_place place, yyjson_val *fields,
	   const char *key, bool whole, rt_str *out, rt_error *err)
{
	rt_str address = rt_str_at(NULL, 0);
	char id[RT_ID_MAX + 1];
	uint32_t entry = 0;
	rt_status st = read_text(a, fields, key, &address, err);

	if (st != RT_OK || address.ptr == NULL)
		return st;
	st = rt_resolve_entry(project, place, address, whole, &entry, err);
	if (st == RT_OK && entry == 0)
		st = rt_fail(err, RT_NOT_FOUND, "there is no entry before the first");
	if (st == RT_OK)
		st = rt_entry_id(project, entry, id, err);
	return st == RT_OK ? copy(a, rt_str_of(id), out, err) : st;
}

static rt_status
read_place(rt_run_asked *a, const rt_run_request *request, const rt_project *project,
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

static rt_status
read_send(rt_run_asked *a, const rt_alloc *alloc, const rt_project *project, rt_place place,
	  yyjson_val *fields, rt_error *err)
{
	bool asks = a->how == RT_RUN_ASK;
	rt_status st = RT_OK;

	if (asks)
		st = read_question(a, alloc, fields, err);
	if (st == RT_OK && asks && a->text.ptr != NULL && a->content.size == 0 &&
	    rt_str_trim(a->text).size == 0)
		st = rt_fail(err, RT_USAGE, "the question is empty");
	if (st == RT_OK && asks)
		st = read_text(a, fields, "role", &a->role, err);
	if (st == RT_OK)
		st = read_text(a, fields, "reply_role", &a->reply_role, err);
	if (st == RT_OK && a->how == RT_RUN_AGAIN)
		st = read_number(fields, "n", 1, RT_RUN_REPLIES_MAX, &a->replies, err);
	if (st == RT_OK)
		st = read_entry(a, project, place, fields, "at", asks && a->text.ptr != NULL, &a->at,
				err);
	return st;
}

/* A run is no operation: what it does not know would be lost. */
static bool
members_are_known(yyjson_val *fields, rt_error *err)
{
	static const char *const known[] = {
		"how",   "text", "content", "role",	"reply_role", "at",	   "model",
		"budget", "n",	  "from",    "to",	"keep",	      "instructions", "entry",
		"entry_take", "select", "summary", "discussion", "take"};
	yyjson_val *key, *value;
	size_t i, count, k;

	if (fields == NULL)
		return true;
	yyjson_obj_foreach(fields, i, count, key, value)
	{
		for (k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (rt_str_is(rt_json_str(key), known[k]))
				break;
		if (k == sizeof(known) / sizeof(known[0])) {
			(void)rt_fail(err, RT_USAGE, "a run knows nothing of \"%.*s\"",
				      (int)rt_utf8_cut(rt_json_str(key), 60), rt_json_str(key).ptr);
			return false;
		}
	}
	return true;
}

rt_status
rt_run_read(rt_runs *runs, const rt_run_request *request, const rt_project *project,
	    rt_run_asked *a, rt_error *err)
{
	yyjson_val *fields = request->fields;
	rt_place place;
	rt_status st = RT_OK;
	int how;

	memset(a, 0, sizeof(*a));
	a->replies = 1;
	a->summarize = true;
	a->may_name_files = request->may_name_files;
	for (how = 0; how < RT_RUN_HOWS; how++)
		if (strcmp(request->how, rt_run_how_words[how]) == 0)
			break;
	if (how == RT_RUN_HOWS)
		return rt_fail(err, RT_USAGE, "there is no run \"%.40s\"; there are ask, again, "
			       "continue, compact, compress, go", request->how);
	if (fields != NULL && !yyjson_is_obj(fields))
		return rt_fail(err, RT_USAGE, "what is asked has to be an object");
	if (!members_are_known(fields, err))
		return RT_USAGE;
	a->how = (rt_run_how)how;
	a->arena = rt_arena_new(runs->alloc);
	if (a->arena == NULL)
		return nomem(err);
	st = read_place(a, request, project, &place, err);
	if (st == RT_OK)
		st = copy(a, request->by, &a->by, err);
	if (st == RT_OK)
		st = read_text(a, fields, "model", &a->model_said, err);
	if (st == RT_OK)
		st = read_number(fields, "budget", 0, SIZE_MAX / 2, &a->budget, err);
	if (st == RT_OK && a->how <= RT_RUN_CONTINUE)
		st = read_send(a, runs->alloc, project, place, fields, err);
	else if (st == RT_OK)
		st = read_text(a, fields, "instructions", &a->instructions, err);
	if (st == RT_OK && a->how == RT_RUN_CONTINUE &&
	    rt_send_continued(project, a->discussion, a->take, a->at, &a->into, NULL) != RT_OK)
		a->into = 0;
	if (st == RT_OK && a->how == RT_RUN_COMPACT) {
		yyjson_val *keep = rt_json_get(fields, "keep");

		st = read_entry(a, project, place, fields, "from", false, &a->from, err);
		if (st == RT_OK)
			st = read_entry(a, project, place, fields, "to", false, &a->to, err);
		if (st == RT_OK && (a->from.size == 0) != (a->to.size == 0))
			st = rt_fail(err, RT_USAGE, "a range has \"from\" and \"to\"");
		if (st == RT_OK)
			st = read_number(fields, "keep", 0, SIZE_MAX / 2, &a->keep_tokens, err);
		/* The engine's 0 is the usual number; none at all is the last entry alone. */
		if (st == RT_OK && rt_json_is_number(keep) && a->keep_tokens == 0)
			a->keep_tokens = 1;
	}
	if (st == RT_OK && a->how == RT_RUN_GO) {
		if (rt_json_get(fields, "entry") == NULL)
			st = rt_fail(err, RT_USAGE, "\"entry\" says where to go; null: before the "
				     "first");
		if (st == RT_OK)
			st = read_text(a, fields, "entry_take", &a->target_take, err);
		if (st == RT_OK && a->target_take.size > 0)
			st = rt_resolve_place(project, request->discussion, a->target_take, &place, err);
		if (st == RT_OK)
			st = read_entry(a, project, place, fields, "entry", true, &a->target, err);
		if (st == RT_OK)
			st = read_flag(fields, "select", &a->select, err);
		if (st == RT_OK)
			st = read_flag(fields, "summary", &a->summarize, err);
	}
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
