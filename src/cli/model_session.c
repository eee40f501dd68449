/* SPDX-License-Identifier: MIT
 *
 * Opening what a reply needs, and showing it while it arrives. Standard output has the
 * reply and nothing else; whatever is said of it goes to standard error. */
#define _XOPEN_SOURCE 700

#include "cli/model_session.h"

#include <stdio.h>
#include <stdlib.h>

#include "llm/names_host.h"
#include "llm/provider.h"

enum { OLLAMA_PORT = 11434 };

/* ---- which model ---- */

rt_status
rt_cli_model_session_setting(rt_cli *cli, rt_buf *out)
{
	const rt_disc *disc = NULL;
	rt_status st = rt_cli_disc(cli, &disc);

	return st == RT_OK ? rt_pick_setting(cli->alloc, cli->value, disc, out, &cli->error) : st;
}

static rt_status
choose_name(rt_cli_model_session *t, rt_pick_source *out_source)
{
	rt_cli *cli = t->cli;
	const rt_disc *disc = NULL;
	rt_status st = rt_cli_disc(cli, &disc);

	return st != RT_OK ? st
			   : rt_pick_name(cli->alloc, cli->value, disc,
					  rt_str_of(rt_cli_flag_value(cli, "model")),
					  rt_str_of(getenv("RETAKE_MODEL")), &t->name, out_source,
					  &cli->error);
}

/* What was found on this machine that could answer. */
typedef struct found {
	rt_buf words; /* "OPENAI_API_KEY, Ollama on 127.0.0.1:11434" */
	rt_buf hints; /* where the models of each are listed */
	rt_str first;  /* name of a provider */
	size_t count;
} found;

static void
find(found *f, rt_str provider, const char *words)
{
	if (f->count++ > 0)
		rt_buf_add_c(&f->words, ", ");
	else
		f->first = provider;
	rt_buf_add_c(&f->words, words);
	rt_buf_add_f(&f->hints, "retake models %.*s   ", RT_STR_ARG(provider));
}

/* Nothing says which model: what is there to choose from, and what to do. */
static rt_status
no_model(rt_cli_model_session *t)
{
	rt_cli *cli = t->cli;
	char words[300];
	found f = {.count = 0, .first = {NULL, 0}};
	rt_buf keys;
	size_t i;
	rt_status st;

	rt_buf_init(&f.words, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&f.hints, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&keys, cli->alloc, RT_BUF_UNLIMITED);
	if (rt_host_listens(OLLAMA_PORT)) {
		snprintf(words, sizeof(words), "Ollama on 127.0.0.1:%d", (int)OLLAMA_PORT);
		find(&f, RT_STR("ollama"), words);
	}
	for (i = 0; rt_providers[i] != NULL; i++) {
		const char *env = rt_providers[i]->key_env;

		if (env == NULL || !rt_providers[i]->key_needed)
			continue;
		rt_buf_add_f(&keys, "%s%s", keys.size > 0 ? ", " : "", env);
		if (getenv(env) != NULL && *getenv(env) != 0)
			find(&f, rt_str_of(rt_providers[i]->name), env);
	}
	for (i = 0; i < t->config->provider_count; i++) {
		rt_str name = t->config->providers[i].name;

		if (name.size > 100)
			continue;
		snprintf(words, sizeof(words), "retake models %.*s   ", RT_STR_ARG(name));
		if (rt_str_find(rt_buf_str(&f.hints), rt_str_of(words), 0) != SIZE_MAX)
			continue; /* named once is enough */
		snprintf(words, sizeof(words), "%.*s in config.toml", RT_STR_ARG(name));
		find(&f, name, words);
	}
	st = rt_cli_buf(cli, &f.words);
	if (st == RT_OK)
		st = rt_cli_buf(cli, &f.hints);
	if (st == RT_OK)
		st = rt_cli_buf(cli, &keys);
	if (st == RT_OK && f.count > 0) {
		rt_cli_hint(cli, RT_CREDENTIALS,
			    "%s: %.*sChoose one: retake set model %.*s/NAME   For once: -m %.*s/NAME",
			    f.count == 1 ? "Its models" : "Their models",
			    RT_STR_ARG(rt_buf_str(&f.hints)), RT_STR_ARG(f.first),
			    RT_STR_ARG(f.first));
		st = rt_cli_fail(cli, RT_CREDENTIALS, "no model is chosen; found on this machine: %.*s",
				 RT_STR_ARG(rt_buf_str(&f.words)));
	} else if (st == RT_OK) {
		rt_cli_hint(cli, RT_CREDENTIALS,
			    "Set a key, or start Ollama, then: retake set model PROVIDER/NAME   "
			    "To try it without any: retake set model builtin/echo");
		st = rt_cli_fail(cli, RT_CREDENTIALS,
				 "no model is chosen, and none was found: no key in the environment "
				 "(%.*s), no Ollama on 127.0.0.1:%d, no provider in config.toml",
				 RT_STR_ARG(rt_buf_str(&keys)), (int)OLLAMA_PORT);
	}
	rt_buf_deinit(&f.words);
	rt_buf_deinit(&f.hints);
	rt_buf_deinit(&keys);
	return st;
}

static bool
stopped(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

/* The same for what the engine asks. */
static bool
stopped_reply(void *ctx)
{
	rt_cli_model_session *t = ctx;

	if (t->stops == 0)
		t->stops = rt_host_interrupts();
	return t->stops != 0;
}

/* Once more, after that. */
static bool
insists(void *ctx)
{
	const rt_cli_model_session *t = ctx;

	return rt_host_interrupts() > t->stops;
}

/* Is there such a model? A name that nobody knows is a slip more often than not. */
static rt_status
check_name(rt_cli_model_session *t, const rt_model_choice *choice, rt_model **model, rt_buf *notes)
{
	rt_cli *cli = t->cli;
	rt_model_names names = {.alloc = cli->alloc,
				.env = cli->env,
				.config = t->config,
				.choice = choice,
				.model = *model,
				.stop = stopped};
	rt_status st;

	rt_host_hold(true);
	st = rt_model_names_check(&names, notes, &cli->error);
	rt_host_hold(false);
	if (st == RT_OK)
		return st;
	if (st == RT_NOT_FOUND)
		rt_cli_hint(cli, st, "All of them: retake models %.*s   One that it does not list: models "
			    "= [\"NAME\"] in [provider.%.*s] of config.toml",
			    RT_STR_ARG(choice->provider_name), RT_STR_ARG(choice->provider_name));
	(*model)->ops->close(*model);
	*model = NULL;
	return st;
}

rt_status
rt_cli_model_session_model(rt_cli_model_session *t, rt_str name, bool may_play, rt_model **out)
{
	rt_cli *cli = t->cli;
	rt_models_options options = {.alloc = cli->alloc,
				     .env = cli->env,
				     .config = t->config,
				     .name = name,
				     .pace_ms = t->shows ? 15 : 0,
				     .may_play = may_play,
				     .stop = stopped};
	rt_model_choice choice;
	rt_buf warnings;
	rt_status st;

	rt_buf_init(&warnings, cli->alloc, RT_BUF_UNLIMITED);
	rt_host_hold(true); /* a command that says the key ends with us */
	st = rt_models_open(&options, out, &choice, &warnings, &cli->error);
	rt_host_hold(false);
	if (st == RT_OK && rt_host_interrupted()) { /* it came when the key was there already */
		(*out)->ops->close(*out);
		*out = NULL;
		st = rt_cli_fail(cli, RT_INTERRUPTED, "stopped");
	}
	if (st == RT_OK)
		st = check_name(t, &choice, out, &warnings);
	if (st == RT_OK) { /* no longer that of the model before */
		rt_pick_counter_deinit(&t->counter);
		rt_pick_counter_init(&t->counter, cli->alloc, (*out)->name);
	}
	if (st == RT_OK && t->given_budget == 0)
		t->budget = choice.config != NULL ? choice.config->context_tokens : 0;
	if (warnings.size > 0)
		rt_cli_note(cli, "%.*s", (int)rt_str_trim(rt_buf_str(&warnings)).size, warnings.ptr);
	rt_buf_deinit(&warnings);
	if (st == RT_NOT_FOUND && cli->hint[0] == 0)
		rt_cli_hint(cli, st, "Models: retake models");
	else if (st == RT_CREDENTIALS)
		rt_cli_hint(cli, st, "What is set up: retake models");
	else if (st == RT_REFUSED && !may_play)
		rt_cli_hint(cli, st, "For once: -m %.*s   Without the setting: retake set model --unset",
			    (int)rt_utf8_cut(name, 200), name.ptr);
	else if (st == RT_USAGE)
		rt_cli_hint(cli, st, "What is set up: retake models   Variables: retake help environment");
	return st;
}

void
rt_cli_model_session_note_model(rt_cli *cli, rt_str name)
{
	rt_models_options options = {.alloc = cli->alloc, .env = cli->env, .name = name};
	rt_model_names names = {.alloc = cli->alloc, .env = cli->env, .stop = stopped};
	rt_model_choice choice;
	rt_model *model = NULL;
	rt_error err = {0};
	rt_buf ignored;
	rt_status st;

	if (rt_cli_config(cli, &options.config) != RT_OK)
		return;
	rt_buf_init(&ignored, cli->alloc, RT_BUF_UNLIMITED);
	names.config = options.config;
	names.choice = &choice;
	st = rt_models_choose(options.config, name, &choice, &err);
	/* a command is not run just to look */
	if (st == RT_OK && choice.provider->url != NULL &&
	    (choice.config == NULL || choice.config->key_cmd_count == 0) &&
	    rt_models_open(&options, &model, &choice, &ignored, NULL) == RT_OK) {
		names.model = model;
		st = rt_model_names_check(&names, &ignored, &err);
		model->ops->close(model);
	}
	if (st == RT_NOT_FOUND)
		rt_cli_note(cli, "%s", err.text);
	rt_buf_deinit(&ignored);
}

char *
rt_cli_model_session_store(rt_cli *cli)
{
	rt_store *store = cli->engine != NULL ? rt_engine_store(cli->engine) : NULL;

	return store != NULL ? realpath(store->place, NULL) : NULL;
}

rt_status
rt_cli_model_session_open(rt_cli *cli, rt_cli_model_session *t, bool needs_model)
{
	const char *budget = rt_cli_flag_value(cli, "budget");
	rt_pick_source source = RT_PICK_SETTING;
	uint64_t tokens = 0;
	size_t i;
	rt_status st;

	memset(t, 0, sizeof(*t));
	t->cli = cli;
	rt_buf_init(&t->name, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&t->owner, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&t->state, cli->alloc, RT_BUF_UNLIMITED);
	rt_pick_counter_init(&t->counter, cli->alloc, rt_str_at("", 0));
	t->shows = !cli->json && !cli->quiet;
	t->ended_line = true;
	rt_host_add_owner(&t->owner);
	t->store = rt_cli_model_session_store(cli);
	st = rt_cli_buf(cli, &t->owner);
	if (st == RT_OK && budget != NULL)
		st = rt_cli_number(cli, budget, "how many tokens", &tokens);
	t->budget = t->given_budget = (size_t)tokens;
	if (st == RT_OK)
		st = rt_cli_config(cli, &t->config);
	for (i = 0; st == RT_OK && i < t->config->warning_count; i++)
		rt_cli_note(cli, "config.toml: %.*s", RT_STR_ARG(t->config->warnings[i].words));
	if (st == RT_OK && needs_model)
		st = choose_name(t, &source);
	if (st == RT_OK && needs_model && t->name.size == 0 && t->config->model.size == 0)
		st = no_model(t);
	else if (st == RT_OK && needs_model)
		st = rt_cli_model_session_model(t, rt_buf_str(&t->name),
						rt_models_may_play(source, true), &t->model);
	if (st == RT_OK && rt_host_state_dir(&t->state, NULL) == RT_OK)
		st = rt_comms_open(cli->alloc, cli->env, rt_buf_str(&t->state), &t->comms,
				   &cli->error);
	return st;
}

void
rt_cli_model_session_close(rt_cli_model_session *t)
{
	if (t->comms != NULL && rt_comms_error(t->comms)[0] != 0)
		rt_cli_note(t->cli, "%s", rt_comms_error(t->comms));
	rt_comms_close(t->comms);
	if (t->model != NULL)
		t->model->ops->close(t->model);
	rt_pick_counter_deinit(&t->counter);
	rt_buf_deinit(&t->name);
	rt_buf_deinit(&t->owner);
	rt_buf_deinit(&t->state);
	free(t->store);
}

/* ---- showing ---- */

/* The line that says that we wait goes when there is something to see. */
static void
wipe_notice(rt_cli_model_session *t)
{
	if (!t->noticed)
		return;
	t->noticed = false;
	rt_term_wipe_line(&t->cli->err);
	rt_term_flush(&t->cli->err);
}

static void
notice(void *ctx, const char *words)
{
	rt_cli_model_session *t = ctx;
	rt_term *err = &t->cli->err;

	if (t->cli->quiet || t->cli->json)
		return;
	if (!err->is_tty) { /* that we wait is of interest to a person alone */
		if (t->cli->verbose || strncmp(words, "waiting", 7) != 0)
			rt_cli_note(t->cli, "%s", words);
		return;
	}
	wipe_notice(t);
	rt_term_style(err, RT_STYLE_DIM);
	rt_term_line(err, rt_str_of(words));
	rt_term_style(err, RT_STYLE_NONE);
	rt_term_flush(err);
	t->noticed = err->color; /* a terminal that knows no escapes keeps the line */
	if (!t->noticed)
		rt_term_c(err, "\n");
}

/* Thinking is for a person who looks, and only where they asked for more. */
static void
arrived(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	rt_cli_model_session *t = ctx;
	rt_term *out = &t->cli->out;

	(void)block;
	t->answered = true;
	if (kind == RT_REPLY_THINKING && !t->cli->verbose) {
		if (!t->noticed && t->cli->err.is_tty && t->shows)
			notice(t, "thinking …");
		return;
	}
	if (kind == RT_REPLY_CALL || !t->shows || added.size == 0)
		return;
	wipe_notice(t);
	if (kind == RT_REPLY_THINKING) {
		rt_term_style(&t->cli->err, RT_STYLE_DIM);
		rt_term_text(&t->cli->err, added);
		rt_term_style(&t->cli->err, RT_STYLE_NONE);
		rt_term_flush(&t->cli->err);
		return;
	}
	rt_term_text(out, added);
	rt_term_flush(out);
	t->began = true;
	t->ended_line = added.ptr[added.size - 1] == '\n';
}

static void
line(void *ctx, rt_str text)
{
	rt_cli_model_session *t = ctx;

	if (t->comms != NULL)
		rt_comms_line(t->comms, text);
}

/* Tokens of a text, as context --tokens counts them. */
static size_t
count_text(void *ctx, rt_str text)
{
	rt_cli_model_session *t = ctx;
	size_t count = rt_pick_count(&t->counter, text);

	if (t->counter.warnings.size > 0)
		rt_cli_note(t->cli, "%.*s",
			    (int)rt_str_trim(rt_buf_str(&t->counter.warnings)).size,
			    t->counter.warnings.ptr);
	rt_buf_clear(&t->counter.warnings);
	return count;
}

void
rt_cli_model_session_with(rt_cli_model_session *t, rt_send_with *out)
{
	rt_host_hold(true);
	t->began = t->answered = false;
	t->ended_line = true;
	t->stops = 0;
	*out = (rt_send_with){.model = t->model,
			      .hooks = t->cli->hooks,
			      .budget_tokens = t->budget,
			      .owner = rt_buf_str(&t->owner),
			      .store = rt_str_of(t->store),
			      .fn = arrived,
			      .stop = stopped_reply,
			      .insists = insists,
			      .notice = notice,
			      .comms = line,
			      .ctx = t};
	if (t->budget > 0 && t->model != NULL && t->counter.encoding != NULL) {
		out->count = count_text;
		out->count_ctx = t;
	}
	if (t->shows && t->cli->err.is_tty && t->cli->err.color)
		notice(t, "waiting for the reply …");
}

void
rt_cli_model_session_end(rt_cli_model_session *t, const rt_text *note)
{
	wipe_notice(t);
	if (t->began && !t->ended_line)
		rt_term_c(&t->cli->out, "\n");
	rt_term_flush(&t->cli->out);
	if (t->answered && t->model != NULL)
		rt_model_names_answered(t->cli->alloc, t->cli->env, t->model);
	if (note != NULL)
		rt_cli_say_lines(t->cli, rt_text_str(note));
	rt_host_hold(false);
}
