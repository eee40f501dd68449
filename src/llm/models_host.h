/* SPDX-License-Identifier: MIT
 *
 * Models: chooses the model for a request and opens it by name, using the configuration file, the
 * environment, keys and the network.
 *
 * Threads: one at a time for each call and each counter. */
#ifndef RT_LLM_MODELS_HOST_H
#define RT_LLM_MODELS_HOST_H

#include "log/engine.h"
#include "llm/config.h"
#include "llm/server_model.h"
#include "llm/tokens.h"

/* ---- the configuration ---- */

/* Appends $XDG_CONFIG_HOME/retake/config.toml, else ~/.config/retake/config.toml.
 * RT_NOT_FOUND: no home. */
RT_CHECKED rt_status rt_config_path(rt_buf *out, rt_error *err);

/* The configuration in a file; path empty: the usual one. Without a file it is empty, unless a
 * path is given (RT_NOT_FOUND). RT_IO, else as rt_config_read, with the path before the message. */
RT_CHECKED rt_status rt_config_load(const rt_alloc *alloc, rt_str path, rt_config **out,
				    rt_error *err);

/* ---- which model ---- */

/* The origin of a model's name. Anyone who can change the project can write the setting: a browser,
 * or an imported file. */
typedef enum rt_pick_source {
	RT_PICK_SAID,     /* given for this request */
	RT_PICK_SETTING,
	RT_PICK_STANDARD, /* RETAKE_MODEL, or nothing: the configuration's */
} rt_pick_source;

/* Append the setting "model" of the discussion, else of the project; nothing: it is not set. */
RT_CHECKED rt_status rt_pick_setting(const rt_alloc *alloc, const rt_project *project,
				     const rt_disc *disc, rt_buf *out, rt_error *err);

/* Append the name for rt_models_open; nothing: the configuration's. In this order: said (given for
 * this request), the setting, standard (from the program's start); all may be empty. out_source may
 * be NULL. */
RT_CHECKED rt_status rt_pick_name(const rt_alloc *alloc, const rt_project *project,
				  const rt_disc *disc, rt_str said, rt_str standard, rt_buf *out,
				  rt_pick_source *out_source, rt_error *err);

/* ---- opening it ---- */

typedef struct rt_models_options {
	const rt_alloc *alloc;   /* NULL: libc's */
	const rt_env *env;
	const rt_config *config; /* or NULL */
	rt_str name;             /* as for rt_models_choose */
	unsigned tries;          /* 0: RT_MODEL_TRIES */
	unsigned pace_ms;        /* of a built-in model, between two pieces; 0: no pause */
	bool may_play;           /* "builtin/play:PATH" may open that file: rt_models_may_play */
	rt_stop_fn stop;         /* or NULL: ends a key_cmd */
	void *stop_ctx;
} rt_models_options;

/* May a model whose name comes from this source play a file? may_say: the client that names a model
 * for a request may read this account's files (a browser may not). A stored setting never may. */
bool rt_models_may_play(rt_pick_source source, bool may_say);

/* Choose, find the key and the url, open. Sends nothing. A built-in model "play:PATH" plays
 * the script in that file; RT_REFUSED without may_play. out_choice (or NULL) borrows from
 * the configuration and the name; warnings gets sentences, each with a line end. */
RT_CHECKED rt_status rt_models_open(const rt_models_options *options, rt_model **out,
				    rt_model_choice *out_choice, rt_buf *warnings, rt_error *err);

/* ---- counting its tokens ---- */

/* Counts tokens as a model does. Its ranks are loaded when the first text is counted: usually
 * the context fits and nothing is counted. */
typedef struct rt_pick_counter {
	const rt_alloc *alloc;
	const rt_token_encoding *encoding; /* NULL: not known, all counts are estimates */
	rt_tokens *ranks;                  /* NULL: not loaded, or not installed */
	bool is_sought;                    /* loading was tried */
	rt_status status;                  /* not RT_OK: some counts are estimates */
	rt_buf warnings; /* of loading them, sentences with a line end; the caller may clear it */
} rt_pick_counter;

/* model: as its provider calls it. */
void rt_pick_counter_init(rt_pick_counter *counter, const rt_alloc *alloc, rt_str model);
void rt_pick_counter_deinit(rt_pick_counter *counter);
/* An rt_token_fn; counter is an rt_pick_counter. An estimate if there are no ranks. */
size_t rt_pick_count(void *counter, rt_str text);

#endif
