/* SPDX-License-Identifier: MIT
 *
 * A run as its files share it: model_run.c carries out lines, model_look.c compares the whole
 * state, model_seed.c makes lines from a seed and drops those that a failure does not need. */
#ifndef RT_TESTS_MODEL_RUN_IMPL_H
#define RT_TESTS_MODEL_RUN_IMPL_H

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/engine.h"
#include "formats/formats.h"
#include "log/fsck.h"
#include "model_run.h"
#include "ops/export.h"
#include "random_ops.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"
#include "view/view.h"

#define NOW_US 1770091506000000 /* 2026-02-03T04:05:06Z */
#define NOW_TEXT "2026-02-03T04:05:06Z"

typedef struct run {
	const model_run_options *options;
	model_run_stats *stats;
	rt_env env;
	random_ops chance; /* what the engine sees */
	long questions_left; /* until the process dies; 0: it lives on */
	char path[512];
	rt_store *stores[2];
	rt_engine *engines[2];
	size_t engine_count;
	size_t turn;
	model model;
	uint64_t base_seq;
	char why[4096];
} run;

/* Notes a disagreement; false. */
static bool wrong(run *r, const char *format, ...) RT_PRINTF(2, 3);
/* The same for two texts: where they part, with the text around it. */
static bool differ(run *r, const char *what, rt_str engine, rt_str ours);
enum { WHOLE = -1 };
/* The project as the format "canonical" has it. disc: WHOLE, 0 for the project without what its
 * discussions hold, or the number of a discussion (its name is the project's). */
static rt_status canonical_of(rt_engine *engine, const rt_project *value, int disc, rt_buf *out,
			      rt_error *err);
/* Is the engine in the state of the model? */
static bool look(run *r);
static bool look_at_state(run *r, const rt_project *value);

#endif
