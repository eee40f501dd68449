/* SPDX-License-Identifier: MIT
 *
 * Pick: which model a request goes to, and how its tokens are counted where there is a
 * budget. What is said for once counts first, then the setting "model" of the discussion,
 * then the project's, then what the program was started with (RETAKE_MODEL); when nobody
 * says anything it is the configuration's.
 *
 * Threads: one at a time for each counter. */
#ifndef RT_LLM_PICK_HOST_H
#define RT_LLM_PICK_HOST_H

#include "log/engine.h"
#include "llm/tokens.h"

/* The name of the model in the setting, appended; nothing: it is not set. */
RT_CHECKED rt_status rt_pick_setting(const rt_alloc *alloc, const rt_project *project,
				     const rt_disc *disc, rt_buf *out, rt_error *err);
/* Where the name of a model comes from. Whoever can change the project can write the setting:
 * a browser, or an imported file. */
typedef enum rt_pick_source {
	RT_PICK_SAID,
	RT_PICK_SETTING,
	RT_PICK_STANDARD, /* RETAKE_MODEL, or nothing: the configuration's */
} rt_pick_source;

/* The name that rt_models_open is to be given, appended; nothing: the configuration's. said:
 * for once; standard: what the program was started with; both may be empty. out_source may be
 * NULL. */
RT_CHECKED rt_status rt_pick_name(const rt_alloc *alloc, const rt_project *project,
				  const rt_disc *disc, rt_str said, rt_str standard, rt_buf *out,
				  rt_pick_source *out_source, rt_error *err);

/* Counts tokens as a model does. Its ranks are loaded when the first text is counted, since
 * mostly everything fits anyway. */
typedef struct rt_pick_counter {
	const rt_alloc *alloc;
	const rt_token_encoding *encoding; /* NULL: not known, all is estimated */
	rt_tokens *ranks;                  /* NULL: none yet, or none there */
	bool is_sought;
	rt_buf warnings; /* of looking for them, sentences with a line end; the caller's to clear */
} rt_pick_counter;

/* model: as its provider calls it. */
void rt_pick_counter_init(rt_pick_counter *counter, const rt_alloc *alloc, rt_str model);
void rt_pick_counter_deinit(rt_pick_counter *counter);
/* An rt_token_fn; counter is an rt_pick_counter. Where there are no ranks, an estimate. */
size_t rt_pick_count(void *counter, rt_str text);

#endif
