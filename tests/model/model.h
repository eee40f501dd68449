/* SPDX-License-Identifier: MIT
 *
 * Model: a project in plain arrays, to compare the engine with.
 *
 * It is meant to be obviously correct and may be slow. Nothing here is shared with the engine:
 * it was written from the contract. A document (the project's own settings, number 0, or a
 * discussion, numbers from 1) is a struct that is copied as a whole before it is changed; a step
 * keeps the states of its documents before and after it, so undo is an assignment. Every list in
 * a document is immutable and lives in one arena until the end.
 *
 * State that undo does not affect is stored outside the documents: used ids, view flags, bodies.
 *
 * The model does not generate ids. An entry created without one has an empty id until
 * model_learn sets the one that the engine chose. */
#ifndef RT_TESTS_MODEL_H
#define RT_TESTS_MODEL_H

#include "codec/json.h"

/* The text of one entry. content and the values in extra are JSON. */
typedef struct model_pair {
	rt_str key, value;
} model_pair;

typedef struct model_body {
	rt_str content;
	bool is_array;
	bool purged;
	const model_pair *extra;
	size_t extra_count;
	int entity;
	bool grafted; /* from this entity, whose id may be unknown yet: */
	int grafted_from;
} model_body;

/* An entry in a take. */
typedef struct model_slot {
	int entity, body;
	rt_str role, kind, ts;
	bool muted;
	bool edited; /* its content was changed after it was created */
} model_slot;

typedef struct model_take {
	int number; /* "t1" … */
	rt_str name;
	const model_slot *slots;
	size_t count;
	rt_str files[3]; /* files, context_files, screenshots: JSON, empty: none */
} model_take;

enum { MODEL_TIP = -1, MODEL_START = -2 }; /* positions of the head that are not an entity */

typedef struct model_label {
	int entity;
	rt_str text;
} model_label;

/* A discussion. */
typedef struct model_disc {
	const model_take *takes; /* the existing ones, by number */
	size_t take_count;
	size_t active; /* index */
	int head;      /* an entity, MODEL_TIP or MODEL_START */
	const model_label *labels;
	size_t label_count;
	rt_str prompt;
	bool edited;
	const model_pair *settings;
	size_t setting_count;
	rt_str track;    /* JSON, empty: none */
	const model_pair *presets;
	size_t preset_count;
	const model_pair *failures; /* by entity number */
	size_t failure_count;
	int link_doc, link_entity; /* what it was extracted from; 0: nothing */
} model_disc;

/* A row of the catalogue. */
typedef struct model_cell {
	int number;
	rt_str name;
} model_cell;

/* The project's own settings. */
typedef struct model_project {
	const model_cell *cells; /* the existing ones, by number */
	size_t cell_count;
	int active; /* number of a discussion */
	const rt_str *roles;
	size_t role_count;
	const model_pair *settings;
	size_t setting_count;
	bool roles_set; /* the list is not the default */
} model_project;

/* A document: its current state, and its position in its history. */
typedef struct model_doc {
	const void *value; /* model_project for number 0, else model_disc */
	const void *first; /* the initial state */
	rt_str first_name;
	int made_by; /* index of the step that created it; -1: the first discussion */
	int current; /* index of a step, -1: none */
	int redo;    /* index in `undone`, -1: none */
	int next_take;
	int *known; /* entities that this discussion ever contained */
	size_t known_count;
} model_doc;

/* The effect of a step on one document. */
typedef struct model_part {
	int doc, parent; /* parent: the step before it there, -1: none */
	const void *before, *after;
} model_part;

/* The effect of one operation of a step. */
typedef struct model_act {
	rt_str op;
	int entity; /* the entity concerned, or -1 */
	bool is_draft; /* it set the draft, and nothing else */
	model_part *parts;
	size_t part_count;
} model_act;

typedef struct model_step {
	uint64_t seq;
	rt_str op; /* "batch" for several */
	int view;  /* the discussion in view */
	bool keeps_redo; /* a draft that was written after an undo */
	model_part *parts;
	size_t part_count;
	model_act *acts;
	size_t act_count;
} model_step;

/* An undone change in some documents; redo reverts it in all of them. */
typedef struct model_undone {
	int step;
	int *docs;
	int *below; /* by document: what redo would restore before it */
	size_t doc_count;
	size_t with; /* number of entries undone just before that belong to it */
} model_undone;

/* The position of every document in its history right after a row of the log. */
typedef struct model_places {
	uint64_t seq;
	bool is_jump;
	int active;   /* the number of the discussion */
	int *current; /* of the documents that existed */
	size_t count;
} model_places;

typedef struct model_entity {
	rt_str id;
	int home;
	bool collapsed, read_mode;
	bool purged;
} model_entity;

typedef struct model {
	rt_arena *arena;
	rt_str now; /* the current time */
	uint64_t seq;
	model_doc *docs;
	size_t doc_count;
	model_step *steps;
	size_t step_count;
	model_undone *undone;
	size_t undone_count;
	model_places *places;
	size_t places_count;
	model_entity *entities;
	size_t entity_count;
	model_body *bodies;
	size_t body_count;
	model_part *touched; /* by the current operation */
	size_t touched_count;
	model_act *acts; /* effects of the current operations, one by one */
	size_t act_count;
	bool in_atomic;
	bool sets_draft; /* the current operation */
	bool limited; /* some state has an undo capacity */
} model;

typedef struct model_result {
	rt_status status;
	uint64_t seq, steps;
	bool unchanged;
	int entity; /* created or changed, -1: none */
	bool made;  /* it is new */
	bool loose; /* refused, but the contract does not specify which of several reasons
		     * applies */
	rt_str take, discussion, editor;
	bool has_editor;
	char why[160];
} model_result;

/* now: the formatted time of the engine's clock. seq: of the last row. */
void model_init(model *m, const char *now, uint64_t seq);
void model_deinit(model *m);

/* Applies one operation as JSON. chosen: the name that the engine generated for a discussion if
 * the operation has none; may be empty. */
void model_apply(model *m, rt_str json, rt_str chosen, model_result *out);
/* Applies all operations as one step, or none; results as in the engine. entries: the ids of the
 * entries that the engine reports as created or changed. chosen and entries may be NULL. */
void model_apply_atomic(model *m, const rt_str *json, const rt_str *chosen, const rt_str *entries,
			size_t count, model_result *out);

/* The first entity with an unknown id, and its position in an existing take of an existing
 * discussion; false: none. */
bool model_unknown(const model *m, int *out_entity, int *out_doc, int *out_take,
		   size_t *out_position);
/* False if the id was used before in that discussion. */
bool model_learn(model *m, int entity, rt_str id);

/* The whole state in the format of the canonical export (C47). */
void model_canonical(const model *m, rt_buf *out);

static inline const model_project *
model_project_of(const model *m)
{
	return m->docs[0].value;
}
static inline const model_disc *
model_disc_of(const model *m, int number)
{
	return m->docs[number].value;
}
/* Is it in an existing take of the discussion? */
bool model_present(const model_disc *disc, int entity);
bool model_knows(const model *m, int doc, int entity);
/* Can the model revert this step? It can for entries, labels and fields; others are covered by
 * the contract tests. Also true if there is no such step. */
bool model_can_revert(const model *m, uint64_t seq);
rt_str model_name_of(const model *m, int disc); /* in the catalogue; empty: not in it */

#endif
