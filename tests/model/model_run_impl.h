/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of a run: model_run.c executes lines, model_look.c compares the whole
 * state, model_seed.c generates lines from a seed and removes those that a failure does not
 * need. */
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
#include "store/server_testing.h"
#include "store/store_open.h"
#include "view/view.h"

#define NOW_US 1770091506000000 /* 2026-02-03T04:05:06Z */
#define NOW_TEXT "2026-02-03T04:05:06Z"

typedef struct run {
	const model_run_options *options;
	model_run_stats *stats;
	rt_env env;
	random_ops chance; /* of the engine */
	long questions_left; /* until the process is killed; 0: it is not */
	char path[512];
	rt_store *stores[2];
	rt_engine *engines[2];
	size_t engine_count;
	size_t turn;
	model model;
	uint64_t base_seq;
	char why[4096];
} run;

/* Records a disagreement; returns false. */
static bool wrong(run *r, const char *format, ...) RT_PRINTF(2, 3);
/* The same for two texts: shows where they diverge, with context. */
static bool differ(run *r, const char *what, rt_str engine, rt_str ours);
enum { WHOLE = -1 };
/* The project in the format "canonical". disc: WHOLE, 0 for the project without the contents of
 * discussions, or the number of a discussion (its name is the project's). */
static rt_status canonical_of(rt_engine *engine, const rt_project *value, int disc, rt_buf *out,
			      rt_error *err);
/* Compares the engine's state with the model's. */
static bool look(run *r);
static bool look_at_state(run *r, const rt_project *value);

#endif
