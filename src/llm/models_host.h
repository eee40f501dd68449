/* SPDX-License-Identifier: MIT
 *
 * Models: from a name to a model that can be asked, with what the system has: the
 * configuration's file, the environment, keys, the network.
 *
 * Threads: one at a time for each call. */
#ifndef RT_LLM_MODELS_HOST_H
#define RT_LLM_MODELS_HOST_H

#include "llm/config.h"
#include "llm/pick_host.h"
#include "llm/server_model.h"

/* Appends $XDG_CONFIG_HOME/retake/config.toml, else ~/.config/retake/config.toml.
 * RT_NOT_FOUND: no home. */
RT_CHECKED rt_status rt_config_path(rt_buf *out, rt_error *err);

/* The configuration in a file; path empty: the usual one. Where there is no file, an empty
 * configuration (a path that was named has to be there: RT_NOT_FOUND). RT_IO, else as
 * rt_config_read, with the path in front of the words. */
RT_CHECKED rt_status rt_config_load(const rt_alloc *alloc, rt_str path, rt_config **out,
				    rt_error *err);

typedef struct rt_models_options {
	const rt_alloc *alloc;   /* NULL: libc's */
	const rt_env *env;
	const rt_config *config; /* or NULL */
	rt_str name;             /* as rt_models_choose takes it */
	unsigned tries;          /* 0: RT_MODEL_TRIES */
	unsigned pace_ms;        /* of a built-in model, between two pieces; 0: no pause */
	bool may_play;           /* "builtin/play:PATH" may open that file: the owner of the files
				  * named the model, see rt_models_may_play */
	rt_stop_fn stop;         /* or NULL: ends a key_cmd */
	void *stop_ctx;
} rt_models_options;

/* May a model whose name comes from there play a file? may_say: whoever says the name for
 * once may read the files of this account (a browser may not). A stored setting never may. */
bool rt_models_may_play(rt_pick_source source, bool may_say);

/* Choose, find the key and the url, open. Sends nothing. A built-in model "play:PATH" plays
 * the script in that file; RT_REFUSED without may_play. out_choice (or NULL) borrows from
 * the configuration and the name; warnings: sentences for people, each with a line end. */
RT_CHECKED rt_status rt_models_open(const rt_models_options *options, rt_model **out,
				    rt_model_choice *out_choice, rt_buf *warnings, rt_error *err);

#endif
