/* SPDX-License-Identifier: MIT
 *
 * Names: does a provider have a model of that name?
 *
 * Known are the configuration's own names (model, and models of a provider), what the provider's
 * server listed before, and what answered before. For any other name the server is asked for its
 * list, once and for a short time. What was found out is kept in models.json in the state folder:
 *
 *   {"v":1,"servers":{"NAME http://host:port":{"at":"…","models":["a","b"],"answered":["c"]}}}
 *
 * It is a cache: without it, or where it cannot be written, servers are asked more often.
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
	const rt_model_choice *choice; /* that model was opened for */
	rt_model *model;
	rt_stop_fn stop;               /* or NULL */
	void *stop_ctx;
} rt_model_names;

/* RT_NOT_FOUND: the server has a list, and no such model in it; err says what it has. RT_OK:
 * there is one, or it cannot be found out, which a sentence with a line end in notes says.
 * RT_INTERRUPTED: stop said so. RT_NOMEM. */
RT_CHECKED rt_status rt_model_names_check(const rt_model_names *names, rt_buf *notes,
					  rt_error *err);
/* It has answered: it is known from now on. Failures are passed over. */
void rt_model_names_answered(const rt_alloc *alloc, const rt_env *env, const rt_model *model);

#endif
