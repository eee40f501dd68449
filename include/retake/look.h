/* SPDX-License-Identifier: MIT
 *
 * Look: read-only views of a project as JSON, in its current state or after any earlier step.
 *
 * The output is that of `retake COMMAND --json`, as specified in docs/contract.md. Each call reads
 * one consistent state, and never waits for a writer. To read the same state several times, pass
 * its number: place.at_seq from retake_project_seq.
 *
 * Every function may return RETAKE_NOT_FOUND (no such place, entry or step), RETAKE_CORRUPT and
 * RETAKE_IO. Entries are addressed by id or a prefix of it, by label, or as "@" (the head), "@-2",
 * ":7", ":-1". */
#ifndef RETAKE_LOOK_H
#define RETAKE_LOOK_H

#include "retake/project.h"

RETAKE_BEGIN

/* For at_seq: the state before the first step. */
#define RETAKE_SEQ_FIRST UINT64_MAX

/* What to read. NULL: the active take of the active discussion, in its current state. */
typedef struct retake_place {
	size_t size;            /* sizeof(retake_place) */
	const char *discussion; /* name or id ("d3"); NULL: the active one of that state */
	const char *take;       /* name or id ("t2"); NULL: the active one of the discussion */
	uint64_t at_seq;        /* right after this row of the log; 0: now */
} retake_place;

#define RETAKE_PLACE_INIT {sizeof(retake_place), NULL, NULL, 0}

typedef struct retake_window {
	size_t size;      /* sizeof(retake_window) */
	size_t from;      /* the first position, 0-based */
	size_t count;     /* 0: to the end */
	const char *role; /* filter: this role and User only; NULL: all */
} retake_window;

#define RETAKE_WINDOW_INIT {sizeof(retake_window), 0, 0, NULL}

/* {"discussion","take","head","count","entries":[{"id","role","content","ts",…}]}
 * window NULL: all entries. Cost: O(entries returned). */
RETAKE_CHECKED RETAKE_API retake_status retake_show(retake_project *project,
						    const retake_place *place,
						    const retake_window *window,
						    retake_text *out_json, retake_error *error);

/* One entry, as in retake_show. */
RETAKE_CHECKED RETAKE_API retake_status retake_entry(retake_project *project,
						     const retake_place *place,
						     const char *address, retake_text *out_json,
						     retake_error *error);

/* [{"node","parent_node","id","parent","role","label","active","takes":[…],…}]: the takes of
 * the discussion merged into one tree, depth first. Cost: O(entries of all its takes). */
RETAKE_CHECKED RETAKE_API retake_status retake_tree(retake_project *project,
						    const retake_place *place,
						    retake_text *out_json, retake_error *error);

/* [{"id","name","active","entries","base"}] of the discussion. */
RETAKE_CHECKED RETAKE_API retake_status retake_takes(retake_project *project,
						     const retake_place *place,
						     retake_text *out_json, retake_error *error);

/* [{"id","name","active","entries","takes","updated"}]; only at_seq of place is used. */
RETAKE_CHECKED RETAKE_API retake_status retake_discussions(retake_project *project,
							   const retake_place *place,
							   retake_text *out_json,
							   retake_error *error);

typedef struct retake_history_options {
	size_t size;     /* sizeof(retake_history_options) */
	uint64_t before; /* only steps below this number; 0: all */
	size_t limit;    /* maximum number; 0: all */
} retake_history_options;

#define RETAKE_HISTORY_OPTIONS_INIT {sizeof(retake_history_options), 0, 0}

/* [{"seq","parent","op","what","did","about","take","by","at","scope","current","undone"}]: the
 * steps of the discussion and of the project's settings, newest first, including undone ones.
 * Cost: O(rows of the log read until the limit is reached). */
RETAKE_CHECKED RETAKE_API retake_status retake_history(retake_project *project,
						       const retake_place *place,
						       const retake_history_options *options,
						       retake_text *out_json,
						       retake_error *error);

/* {"seq","op","what","by","at","effects":[…],"moves":[…]}: the changes of one step. */
RETAKE_CHECKED RETAKE_API retake_status retake_step(retake_project *project, uint64_t seq,
						    retake_text *out_json, retake_error *error);

/* [{"seq","body","at","by","content","current"}]: all versions of the text of an entry of the
 * discussion, oldest first. Cost: O(log). */
RETAKE_CHECKED RETAKE_API retake_status retake_revisions(retake_project *project,
							 const retake_place *place,
							 const char *address,
							 retake_text *out_json,
							 retake_error *error);

/* {"discussion","roles","prompt":{"text","edited"},"settings":{…},…} */
RETAKE_CHECKED RETAKE_API retake_status retake_settings(retake_project *project,
							const retake_place *place,
							retake_text *out_json,
							retake_error *error);

/* {"common","changed":[{"id","a","b"}],"a":[…],"b":[…]}: the take of place (a) and another of its
 * discussion (b), from the point where they diverge. */
RETAKE_CHECKED RETAKE_API retake_status retake_diff(retake_project *project,
						    const retake_place *place,
						    const char *other_take,
						    retake_text *out_json, retake_error *error);

typedef struct retake_search_options {
	size_t size;      /* sizeof(retake_search_options) */
	const char *role; /* entries of this role only; NULL: all */
	size_t limit;     /* maximum number of hits; 0: 100 */
} retake_search_options;

#define RETAKE_SEARCH_OPTIONS_INIT {sizeof(retake_search_options), NULL, 0}

/* [{"discussion","take","id","role","at","snippet","marks":[[start,size],…]}]: entries that
 * contain all words of the query, the last of which may be a prefix. Any text is a valid query; one
 * without words has no hits. Searches all discussions, or the one that place names. Updates the
 * index first, unless the store is read-only.
 * Cost: O(hits + text not indexed yet). */
RETAKE_CHECKED RETAKE_API retake_status retake_search(retake_project *project,
						      const retake_place *place,
						      const char *query,
						      const retake_search_options *options,
						      retake_text *out_json, retake_error *error);

typedef struct retake_context_options {
	size_t size;          /* sizeof(retake_context_options) */
	const char *provider; /* its name in `retake models`, such as "anthropic"; NULL: "openai" */
	const char *model;    /* NULL: as in the settings */
	int stream;           /* request a streamed reply */
	size_t budget_tokens; /* drop the oldest entries beyond it; 0: no limit */
} retake_context_options;

#define RETAKE_CONTEXT_OPTIONS_INIT {sizeof(retake_context_options), NULL, NULL, 0, 0}

/* The body of the request that would be sent to a model for the path to the head. Nothing is sent.
 * RETAKE_USAGE: unknown provider. Cost: O(entries of the path). */
RETAKE_CHECKED RETAKE_API retake_status retake_context(retake_project *project,
						       const retake_place *place,
						       const retake_context_options *options,
						       retake_text *out_json,
						       retake_error *error);

RETAKE_END

#endif
