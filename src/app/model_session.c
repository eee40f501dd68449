/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700

#include "app/model_session.h"

#include <stdio.h>
#include <stdlib.h>

#include "llm/names_host.h"
#include "llm/provider.h"

enum { OLLAMA_PORT = 11434 };

/* ---- which model ---- */

rt_status
rt_model_session_setting(const rt_session *s, rt_buf *out, rt_error *err)
{
	const rt_disc *disc = NULL;
	rt_status st = rt_project_disc(s->value, s->place.disc, &disc, err);

	return st == RT_OK ? rt_pick_setting(s->alloc, s->value, disc, out, err) : st;
}

static rt_status
choose_name(rt_model_session *m, const char *given, rt_pick_source *out_source, rt_error *err)
{
	rt_session *s = m->session;
	const rt_disc *disc = NULL;
	rt_status st = rt_project_disc(s->value, s->place.disc, &disc, err);

	return st != RT_OK
		       ? st
		       : rt_pick_name(s->alloc, s->value, disc, rt_str_of(given),
				      rt_str_of(getenv("RETAKE_MODEL")), &m->name, out_source, err);
}

/* Providers found on this machine. */
typedef struct found {
	rt_buf *words; /* "OPENAI_API_KEY, Ollama on 127.0.0.1:11434" */
	rt_buf *hints; /* the command that lists the models of each */
	rt_str first;  /* name of a provider */
	size_t count;
} found;

static void
add_found(found *f, rt_str provider, const char *words)
{
	if (f->count++ > 0)
		rt_buf_add_c(f->words, ", ");
	else
		f->first = provider;
	rt_buf_add_c(f->words, words);
	rt_buf_add_f(f->hints, "retake models %.*s   ", RT_STR_ARG(provider));
}

/* A running Ollama, keys in the environment, providers of the configuration. keys: all variables
 * that may contain a key. */
static void
find_providers(const rt_config *config, found *f, rt_buf *keys)
{
	char words[300];

	if (rt_host_listens(OLLAMA_PORT)) {
		snprintf(words, sizeof(words), "Ollama on 127.0.0.1:%d", (int)OLLAMA_PORT);
		add_found(f, RT_STR("ollama"), words);
	}
	for (size_t i = 0; rt_providers[i] != NULL; i++) {
		const char *env = rt_providers[i]->key_env;

		if (env == NULL || !rt_providers[i]->key_needed)
			continue;
		rt_buf_add_f(keys, "%s%s", keys->size > 0 ? ", " : "", env);
		if (getenv(env) != NULL && *getenv(env) != 0)
			add_found(f, rt_str_of(rt_providers[i]->name), env);
	}
	for (size_t i = 0; i < config->provider_count; i++) {
		rt_str name = config->providers[i].name;

		if (name.size > 100)
			continue;
		snprintf(words, sizeof(words), "retake models %.*s   ", RT_STR_ARG(name));
		if (rt_str_find(rt_buf_str(f->hints), rt_str_of(words), 0) != SIZE_MAX)
			continue; /* mention each only once */
		snprintf(words, sizeof(words), "%.*s in config.toml", RT_STR_ARG(name));
		add_found(f, name, words);
	}
}

/* Fails: no model is chosen. The message lists the available ones and the next step. */
static rt_status
fail_without_model(rt_model_session *m, rt_error *err)
{
	rt_scope s;

	rt_scope_init(&s, m->session->alloc);
	found f = {.words = rt_scope_buf(&s), .hints = rt_scope_buf(&s)};
	rt_buf *keys = rt_scope_buf(&s);
	find_providers(m->config, &f, keys);
	rt_str words = rt_scope_str(&s, f.words), hints = rt_scope_str(&s, f.hints);
	rt_str variables = rt_scope_str(&s, keys);
	if (rt_ok(&s) && f.count > 0)
		rt_session_hint(
			m->session, RT_CREDENTIALS,
			"%s: %.*sChoose one: retake set model %.*s/NAME   For one request: -m "
			"%.*s/NAME",
			f.count == 1 ? "Its models" : "Their models", RT_STR_ARG(hints),
			RT_STR_ARG(f.first), RT_STR_ARG(f.first));
	else if (rt_ok(&s))
		rt_session_hint(
			m->session, RT_CREDENTIALS,
			"Set an API key, or start Ollama, then: retake set model PROVIDER/NAME   "
			"To try without a key: retake set model builtin/echo");
	if (f.count > 0)
		rt_scope_fail(&s, RT_CREDENTIALS, "no model is set; found on this machine: %.*s",
			      RT_STR_ARG(words));
	else
		rt_scope_fail(&s, RT_CREDENTIALS,
			      "no model is set and none was found: no API key in the environment "
			      "(%.*s), no Ollama on 127.0.0.1:%d, no provider in config.toml",
			      RT_STR_ARG(variables), (int)OLLAMA_PORT);
	return rt_scope_end(&s, err);
}

static bool
stopped(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

/* Does the server know the model? An unknown name is usually a typing error. */
static rt_status
check_name(rt_model_session *m, const rt_model_choice *choice, rt_model **model, rt_buf *notes,
	   rt_error *err)
{
	rt_session *s = m->session;
	rt_model_names names = {.alloc = s->alloc,
				.env = s->env,
				.config = m->config,
				.choice = choice,
				.model = *model,
				.stop = stopped};
	rt_status st;

	rt_host_hold(true);
	st = rt_model_names_check(&names, notes, err);
	rt_host_hold(false);
	if (st == RT_OK)
		return st;
	if (st == RT_NOT_FOUND)
		rt_session_hint(
			s, st,
			"All models: retake models %.*s   To allow a model that is not listed: "
			"models = [\"NAME\"] in [provider.%.*s] of config.toml",
			RT_STR_ARG(choice->provider_name), RT_STR_ARG(choice->provider_name));
	(*model)->ops->close(*model);
	*model = NULL;
	return st;
}

rt_status
rt_model_session_model(rt_model_session *m, rt_str name, bool may_play, rt_model **out,
		       rt_error *err)
{
	rt_session *s = m->session;
	rt_models_options options = {.alloc = s->alloc,
				     .env = s->env,
				     .config = m->config,
				     .name = name,
				     .pace_ms = m->pace_ms,
				     .may_play = may_play,
				     .stop = stopped};
	rt_model_choice choice;
	rt_buf warnings;
	rt_status st;

	rt_buf_init(&warnings, s->alloc, RT_BUF_UNLIMITED);
	rt_host_hold(true); /* a command that prints the key must end before this process */
	st = rt_models_open(&options, out, &choice, &warnings, err);
	rt_host_hold(false);
	if (st == RT_OK && rt_host_interrupted()) { /* the interrupt came when the key was already
						     * available */
		(*out)->ops->close(*out);
		*out = NULL;
		st = rt_fail(err, RT_INTERRUPTED, "stopped");
	}
	if (st == RT_OK)
		st = check_name(m, &choice, out, &warnings, err);
	if (st == RT_OK) { /* no longer that of the previous model */
		rt_pick_counter_deinit(&m->counter);
		rt_pick_counter_init(&m->counter, s->alloc, (*out)->name);
	}
	if (st == RT_OK && m->given_budget == 0)
		m->budget = choice.config != NULL ? choice.config->context_tokens : 0;
	if (warnings.size > 0)
		rt_session_note(s, "%.*s", (int)rt_str_trim(rt_buf_str(&warnings)).size,
				warnings.ptr);
	rt_buf_deinit(&warnings);
	if (st == RT_NOT_FOUND && s->hint[0] == 0)
		rt_session_hint(s, st, "Models: retake models%s",
				rt_str_starts(name, RT_STR("builtin/")) ? " builtin" : "");
	else if (st == RT_CREDENTIALS)
		rt_session_hint(s, st, "Providers: retake models");
	else if (st == RT_REFUSED && !may_play)
		rt_session_hint(s, st,
				"For one request: -m %.*s   To remove the setting: retake set "
				"model --unset",
				(int)rt_utf8_cut(name, 200), name.ptr);
	else if (st == RT_USAGE)
		rt_session_hint(
			s, st,
			"Providers: retake models   Environment variables: retake help "
			"environment");
	return st;
}

rt_status
rt_model_session_verify(rt_session *s, rt_str name, rt_error *err)
{
	const rt_config *config = NULL;
	rt_buf notes;
	rt_status st = rt_session_config(s, &config, err);

	rt_buf_init(&notes, s->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		st = rt_model_names_verify(s->alloc, s->env, config, name, stopped, &notes, err);
	if (st == RT_OK && notes.size > 0)
		rt_session_note(s, "%.*s", (int)rt_str_trim(rt_buf_str(&notes)).size, notes.ptr);
	if (st == RT_NOT_FOUND)
		rt_session_hint(s, st,
				"Models: retake models [PROVIDER]   To allow a model that is not "
				"listed: add it to the models list of its provider in config.toml");
	rt_buf_deinit(&notes);
	return st;
}

rt_status
rt_model_session_open(rt_model_session *m, rt_session *s, const rt_model_session_options *options,
		      rt_error *err)
{
	rt_pick_source source = RT_PICK_SETTING;
	rt_status st = RT_OK;

	*m = (rt_model_session){.session = s,
				.budget = options->budget,
				.given_budget = options->budget,
				.pace_ms = options->pace_ms};
	rt_buf_init(&m->name, s->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&m->owner, s->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&m->state, s->alloc, RT_BUF_UNLIMITED);
	rt_pick_counter_init(&m->counter, s->alloc, rt_str_at("", 0));
	rt_host_add_owner(&m->owner);
	m->store = rt_session_store_path(s);
	if (m->owner.status != RT_OK)
		st = rt_fail(err, m->owner.status, "out of memory");
	if (st == RT_OK)
		st = rt_session_config(s, &m->config, err);
	if (st == RT_OK && options->needs_model)
		st = choose_name(m, options->model, &source, err);
	if (st == RT_OK && options->needs_model && m->name.size == 0 && m->config->model.size == 0)
		st = fail_without_model(m, err);
	else if (st == RT_OK && options->needs_model)
		st = rt_model_session_model(m, rt_buf_str(&m->name),
					    rt_models_may_play(source, true), &m->model, err);
	if (st == RT_OK && rt_host_state_dir(&m->state, NULL) == RT_OK)
		st = rt_comms_open(s->alloc, s->env, rt_buf_str(&m->state),
				   m->config->comms_texts, &m->comms, err);
	return st;
}

void
rt_model_session_close(rt_model_session *m)
{
	if (m->comms != NULL && rt_comms_error(m->comms)[0] != 0)
		rt_session_note(m->session, "%s", rt_comms_error(m->comms));
	rt_comms_close(m->comms);
	if (m->model != NULL)
		m->model->ops->close(m->model);
	rt_pick_counter_deinit(&m->counter);
	rt_buf_deinit(&m->name);
	rt_buf_deinit(&m->owner);
	rt_buf_deinit(&m->state);
	free(m->store);
}
