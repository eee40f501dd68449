/* SPDX-License-Identifier: MIT
 *
 * Generates a title with the configuration's title_model after a reply, for discussions without a
 * chosen name. */
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

/* Opens the model, sends one request and sets the title as one step. with: all but the model, which is
 * opened and closed here. out->seq is 0 if no title was needed or the request failed. The caller owns
 * out and calls rt_summary_result_deinit, also after an error.
 *
 * Threads: any; blocks until the request has ended. */
RT_CHECKED rt_status rt_title_write(const rt_title_options *options, rt_send_with with,
				    rt_summary_result *out, rt_error *err);

#endif
