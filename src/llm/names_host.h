/* SPDX-License-Identifier: MIT
 *
 * Names: does a provider have a model of that name?
 *
 * Known names are those in the configuration (model, and models of a provider), those that the
 * provider's server listed before, and those that answered before. For any other name the
 * server is asked for its list, once and for a short time. The answers are cached in
 * models.json in the state folder:
 *
 *   {"v":1,"servers":{"NAME http://host:port":{"at":"…","models":["a","b"],"answered":["c"]}}}
 *
 * Without that file, or where it cannot be written, servers are asked more often.
 *
 * Threads: any, for different models. */
#ifndef RT_LLM_NAMES_HOST_H
#define RT_LLM_NAMES_HOST_H

#include "base/env.h"
#include "chat/model.h"
#include "llm/config.h"

enum {
	RT_MODEL_NAMES_WAIT_MS = 2000, /* at most, for a list … */
	RT_MODEL_LISTS_WAIT_MS = 5000  /* … and for one of all lists */
};

typedef struct rt_model_names {
	const rt_alloc *alloc;
	const rt_env *env;
	const rt_config *config;       /* or NULL */
	const rt_model_choice *choice; /* for which the model was opened */
	rt_model *model;
	rt_stop_fn stop;               /* or NULL */
	void *stop_ctx;
} rt_model_names;

/* RT_NOT_FOUND: the server's list lacks that model; err has the list. RT_OK: the model exists, or
 * this cannot be found out; then notes gets a sentence with a line end. RT_INTERRUPTED: by stop.
 * RT_NOMEM. */
RT_CHECKED rt_status rt_model_names_check(const rt_model_names *names, rt_buf *notes,
					  rt_error *err);
/* May this name become the setting "model"? Its provider must exist, and its server's list contain
 * it: RT_USAGE, RT_NOT_FOUND with suggestions. RT_OK as well if this cannot be found out; then
 * notes gets the reason. No command that prints a key is run. config, stop: or NULL. */
RT_CHECKED rt_status rt_model_names_verify(const rt_alloc *alloc, const rt_env *env,
					   const rt_config *config, rt_str name, rt_stop_fn stop,
					   rt_buf *notes, rt_error *err);
/* Calls fn with names that begin with prefix, as PROVIDER/MODEL: of the configuration, of the
 * cached lists, and of built-in models. A list that is not cached is requested once where the
 * prefix names its provider. Failures are ignored: it is for suggestions. */
void rt_model_names_each(const rt_alloc *alloc, const rt_env *env, const rt_config *config,
			 rt_str prefix, void (*fn)(void *ctx, rt_str name), void *ctx);
/* The same for the whole lists of all providers, which are requested now, one after another. done is
 * called after each provider, with the reason if its list could not be read; not for a built-in
 * provider that is not in use: one without a key, or a local server that does not answer. */
typedef struct rt_model_lists {
	const rt_alloc *alloc;
	const rt_env *env;
	const rt_config *config; /* or NULL */
	rt_str in_use;           /* the name of a model, whose provider is in use; may be empty */
	rt_stop_fn stop;         /* or NULL */
	void (*fn)(void *ctx, rt_str name);
	void (*done)(void *ctx, rt_str provider, const rt_error *problem); /* problem: or NULL */
	void *ctx; /* of the three */
} rt_model_lists;
void rt_model_lists_each(const rt_model_lists *lists);
/* The model has answered: cache its name. Failures are ignored. */
void rt_model_names_answered(const rt_alloc *alloc, const rt_env *env, const rt_model *model);

#endif
