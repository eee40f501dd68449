/* SPDX-License-Identifier: MIT
 *
 * Names: does a provider have a model of that name?
 *
 * Known are the names in the configuration (model, and models of a provider), those that the
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

enum { RT_MODEL_NAMES_WAIT_MS = 2000 }; /* at most, for a list */

typedef struct rt_model_names {
	const rt_alloc *alloc;
	const rt_env *env;
	const rt_config *config;       /* or NULL */
	const rt_model_choice *choice; /* that the model was opened for */
	rt_model *model;
	rt_stop_fn stop;               /* or NULL */
	void *stop_ctx;
} rt_model_names;

/* RT_NOT_FOUND: the server's list lacks that model; err has the list. RT_OK: the model exists, or
 * this cannot be found out; then notes gets a sentence with a line end. RT_INTERRUPTED: by stop.
 * RT_NOMEM. */
RT_CHECKED rt_status rt_model_names_check(const rt_model_names *names, rt_buf *notes,
					  rt_error *err);
/* The model has answered: cache its name. Failures are ignored. */
void rt_model_names_answered(const rt_alloc *alloc, const rt_env *env, const rt_model *model);

#endif
