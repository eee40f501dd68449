/* SPDX-License-Identifier: MIT
 *
 * The title that the configuration's title_model writes after a reply, where nobody has named the
 * discussion. */
#ifndef RT_APP_TITLE_H
#define RT_APP_TITLE_H

#include <pthread.h>

#include "chat/summary.h"
#include "llm/models_host.h"

typedef struct rt_title_options {
	rt_engine *engine;
	const rt_alloc *alloc;
	const rt_env *env;
	const rt_config *config;  /* or NULL */
	pthread_mutex_t *opening; /* held while a model is opened; or NULL */
	uint32_t disc;
} rt_title_options;

/* Opens the model, asks it and sets the title: a step. with: everything but the model. out->seq 0:
 * nothing was to be done, or it failed. deinit out in any case. */
RT_CHECKED rt_status rt_title_write(const rt_title_options *options, rt_send_with with,
				    rt_summary_result *out, rt_error *err);

#endif
