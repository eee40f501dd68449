/* SPDX-License-Identifier: MIT
 *
 * Look: a project as JSON, now or as it was after any step. Nothing here changes it.
 *
 * The forms are those that `retake COMMAND --json` prints and docs/contract.md promises.
 * Each call looks at one state that nobody changes meanwhile, and never waits for a writer.
 * For several looks at the same state, name it: place.at_seq from retake_project_seq.
 *
 * All of them: RETAKE_NOT_FOUND where the place, the entry or the step is not there;
 * RETAKE_CORRUPT, RETAKE_IO. Entries are named as in the contract: by id or its beginning,
 * by label, "@" (the head), "@-2", ":7", ":-1". */
#ifndef RETAKE_LOOK_H
#define RETAKE_LOOK_H

#include "retake/project.h"

RETAKE_BEGIN

/* at_seq: the state before the first step. */
#define RETAKE_SEQ_FIRST UINT64_MAX

/* From where to look. As NULL: the active take of the active discussion, as it is now. */
typedef struct retake_place {
	size_t size;            /* sizeof(retake_place) */
	const char *discussion; /* name or id ("d3"); NULL: the active one of that state */
	const char *take;       /* name or id ("t2"); NULL: the active one of the discussion */
	uint64_t at_seq;        /* as it was right after this row of the log; 0: as it is now */
} retake_place;

#define RETAKE_PLACE_INIT {sizeof(retake_place), NULL, NULL, 0}

typedef struct retake_window {
	size_t size;      /* sizeof(retake_window) */
	size_t from;      /* the first position, 0-based */
	size_t count;     /* how many; 0: to the end */
	const char *role; /* only entries of this role, and the user's; NULL: all */
} retake_window;

#define RETAKE_WINDOW_INIT {sizeof(retake_window), 0, 0, NULL}

/* {"discussion","take","head","count","entries":[{"id","role","content","ts",…}]}
 * window NULL: all entries. Cost: the entries that are shown. */
RETAKE_CHECKED RETAKE_API retake_status retake_show(retake_project *project,
						    const retake_place *place,
						    const retake_window *window,
						    retake_text *out_json, retake_error *error);

/* One entry as in show. */
RETAKE_CHECKED RETAKE_API retake_status retake_entry(retake_project *project,
						     const retake_place *place,
						     const char *address, retake_text *out_json,
						     retake_error *error);

/* [{"node","parent_node","id","parent","role","label","active","takes":[…],…}]: the takes of
 * the discussion merged, depth first. Cost: the entries of all its takes. */
RETAKE_CHECKED RETAKE_API retake_status retake_tree(retake_project *project,
						    const retake_place *place,
						    retake_text *out_json, retake_error *error);

/* [{"id","name","active","entries","base"}] of the discussion. */
RETAKE_CHECKED RETAKE_API retake_status retake_takes(retake_project *project,
						     const retake_place *place,
						     retake_text *out_json, retake_error *error);

/* [{"id","name","active","entries","takes","updated"}]; of place only at_seq counts. */
RETAKE_CHECKED RETAKE_API retake_status retake_discussions(retake_project *project,
							   const retake_place *place,
							   retake_text *out_json,
							   retake_error *error);

typedef struct retake_history_options {
	size_t size;     /* sizeof(retake_history_options) */
	uint64_t before; /* only steps below this number; 0: all */
	size_t limit;    /* at most so many; 0: all */
} retake_history_options;

#define RETAKE_HISTORY_OPTIONS_INIT {sizeof(retake_history_options), 0, 0}

/* [{"seq","parent","op","what","did","about","take","by","at","scope","current","undone"}]: the
 * steps of the discussion and the project's settings, newest first, also those that were undone.
 * Cost: the rows of the log that are read until there are enough. */
RETAKE_CHECKED RETAKE_API retake_status retake_history(retake_project *project,
						       const retake_place *place,
						       const retake_history_options *options,
						       retake_text *out_json,
						       retake_error *error);

/* {"seq","op","what","by","at","effects":[…],"moves":[…]}: what one step changed. */
RETAKE_CHECKED RETAKE_API retake_status retake_step(retake_project *project, uint64_t seq,
						    retake_text *out_json, retake_error *error);

/* [{"seq","body","at","by","content","current"}]: every text that an entry of the discussion
 * ever had, oldest first. Cost: the log is read. */
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

/* {"common","changed":[{"id","a","b"}],"a":[…],"b":[…]}: the take of place (a) and another of
 * its discussion (b), from where they part. */
RETAKE_CHECKED RETAKE_API retake_status retake_diff(retake_project *project,
						    const retake_place *place,
						    const char *other_take,
						    retake_text *out_json, retake_error *error);

typedef struct retake_search_options {
	size_t size;      /* sizeof(retake_search_options) */
	const char *role; /* only entries of this role; NULL: all */
	size_t limit;     /* at most so many hits; 0: 100 */
} retake_search_options;

#define RETAKE_SEARCH_OPTIONS_INIT {sizeof(retake_search_options), NULL, 0}

/* [{"discussion","take","id","role","at","snippet","marks":[[start,size],…]}]: entries that
 * hold all words of the query; the last may be the beginning of one. Any text is a query; one
 * without words finds nothing. In all discussions, or in the one that place names.
 * Brings the index up to date first, where the store may be written.
 * Cost: the hits, and the texts that are new to the index. */
RETAKE_CHECKED RETAKE_API retake_status retake_search(retake_project *project,
						      const retake_place *place,
						      const char *query,
						      const retake_search_options *options,
						      retake_text *out_json, retake_error *error);

typedef struct retake_context_options {
	size_t size;          /* sizeof(retake_context_options) */
	const char *provider; /* openai, anthropic, ollama, gemini; NULL: openai */
	const char *model;    /* NULL: the setting's */
	int stream;           /* the body asks for the reply piece by piece */
	size_t budget_tokens; /* oldest entries are left out until the rest fits; 0: no limit */
} retake_context_options;

#define RETAKE_CONTEXT_OPTIONS_INIT {sizeof(retake_context_options), NULL, NULL, 0, 0}

/* The body of the request that a model would be sent for the path to the head. Nothing is
 * sent. RETAKE_USAGE: no such provider. Cost: the entries of the path. */
RETAKE_CHECKED RETAKE_API retake_status retake_context(retake_project *project,
						       const retake_place *place,
						       const retake_context_options *options,
						       retake_text *out_json,
						       retake_error *error);

RETAKE_END

#endif
