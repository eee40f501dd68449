/* SPDX-License-Identifier: MIT
 *
 * Model run: the same requests go to the engine and to the model, and every result and the whole
 * state are compared. A line of a run is a request in the format of `apply`, or
 *
 *   {"run":"restart"}              close the engine and the store, open them again
 *   {"run":"atomic","ops":[…]}     requests that are one step or nothing
 *   {"run":"batch","ops":[…]}      requests that share a call
 *   {"run":"crash","at":n,"ops":[…]}   another process runs these and is killed: at its
 *                                  nth call for time or random bytes, or after -n microseconds
 *   {"run":"undo all"}             undo everything, compare, redo everything, compare
 *
 * The first line may be {"run":"seed","seed":n}; it seeds the engine's random bytes. */
#ifndef RT_TESTS_MODEL_RUN_H
#define RT_TESTS_MODEL_RUN_H

#include "model.h"

typedef struct model_run_options {
	uint64_t seed;
	size_t ops;
	const char *dir;        /* NULL: the store in memory, otherwise SQLite files in this
				 * directory, or the address of the database "model" */
	bool relaxed;           /* commits are not synced */
	bool two_engines;       /* two engines alternate on the same store */
	size_t check_every;     /* requests between two comparisons of the whole state; 0: 1 */
	size_t restart_every;   /* on average; 0: never */
	size_t crash_every;     /* on average; 0: never; not in memory */
	size_t group_every;     /* on average; 0: never */
	const char *reproducer; /* file for the shortest failing run; NULL: none */
	const char *trace;      /* file to which every line is written before it runs; NULL: none */
	bool quiet;
	int *kind; /* NULL, or receives a number for the kind of disagreement */
	bool (*known)(const char *why); /* recognises known disagreements, which end the run
					 * successfully */
} model_run_options;

typedef struct model_run_stats {
	size_t requests, changes, refusals, restarts, crashes, looks;
} model_run_stats;

/* One run from a seed. True: they agree. Otherwise prints the disagreement. */
bool model_run_seed(const model_run_options *options, model_run_stats *stats);
/* A run from lines. */
bool model_run_lines(const model_run_options *options, const rt_str *lines, size_t count,
		     model_run_stats *stats);
/* Removes lines as long as the run still fails, and writes the rest to the file. */
void model_run_shrink(const model_run_options *options, const rt_str *lines, size_t count);

#endif
