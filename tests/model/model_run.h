/* SPDX-License-Identifier: MIT
 *
 * Model run: the same requests go to the engine and to the model, and every result and
 * the whole state are compared. A line of a run is a request as `apply` takes it, or
 *
 *   {"run":"restart"}              close the engine and the store, open them again
 *   {"run":"atomic","ops":[…]}     requests that are one step or nothing
 *   {"run":"batch","ops":[…]}      requests that share a call
 *   {"run":"crash","at":n,"ops":[…]}   another process carries these out and dies: at its
 *                                  nth question for time or chance, or after -n microseconds
 *   {"run":"undo all"}             everything back, look, everything forth, look
 *
 * The first line may be {"run":"seed","seed":n}; it seeds what the engine sees as chance. */
#ifndef RT_TESTS_MODEL_RUN_H
#define RT_TESTS_MODEL_RUN_H

#include "model.h"

typedef struct model_run_options {
	uint64_t seed;
	size_t ops;
	const char *dir;        /* NULL: the store in memory, else SQLite files in here */
	bool relaxed;           /* commits are not synced */
	bool two_engines;       /* two of them take turns on the same store */
	size_t check_every;     /* requests between two looks at the whole state; 0: 1 */
	size_t restart_every;   /* on average; 0: never */
	size_t crash_every;     /* on average; 0: never; SQLite only */
	size_t group_every;     /* on average; 0: never */
	const char *reproducer; /* where the shortest failing run goes; NULL: nowhere */
	const char *trace;      /* every line goes here before it is carried out; NULL: no */
	bool quiet;
	int *kind; /* NULL, or where a number for the kind of disagreement goes */
	bool (*known)(const char *why); /* a disagreement that is known; the run ends, well */
} model_run_options;

typedef struct model_run_stats {
	size_t requests, changes, refusals, restarts, crashes, looks;
} model_run_stats;

/* One run from a seed. True: they agree. Prints what it found otherwise. */
bool model_run_seed(const model_run_options *options, model_run_stats *stats);
/* A run from lines. */
bool model_run_lines(const model_run_options *options, const rt_str *lines, size_t count,
		     model_run_stats *stats);
/* Drop lines as long as the run still fails, and write what is left to the file. */
void model_run_shrink(const model_run_options *options, const rt_str *lines, size_t count);

#endif
