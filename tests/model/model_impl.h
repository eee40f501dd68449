/* SPDX-License-Identifier: MIT
 *
 * Shared by the model's files: model.c has documents and entries, model_call.c the current
 * operation, model_entry.c, model_take.c, model_setting.c and model_disc.c the operations,
 * model_history.c steps, model_ops.c the table of all operations, model_canonical.c the
 * canonical form.
 *
 * Returned values live in the model's arena. */
#ifndef RT_TESTS_MODEL_IMPL_H
#define RT_TESTS_MODEL_IMPL_H

#include "model.h"

/* ---- memory, documents, entries: model.c ---- */

/* Returns ptr, which must not be NULL. */
void *model_must(void *ptr);
/* Zeroed. */
void *model_get(model *m, size_t size);
rt_str model_keep(model *m, rt_str s);
/* Keeps the buffer's text, and frees the buffer. */
rt_str model_keep_buf(model *m, rt_buf *buf);
/* As JSON, members sorted. */
rt_str model_keep_value(model *m, yyjson_val *value);
/* As a JSON string. */
rt_str model_keep_string(model *m, rt_str s);
/* The text of a JSON string. */
rt_str model_text_of(model *m, rt_str json);
/* Makes room for one more item after `count`; arrays grow when count is a power of two. */
void *model_more(void *ptr, size_t count, size_t size);
/* Copies an array into the arena, with room for extra items. */
void *model_copy(model *m, const void *ptr, size_t count, size_t extra, size_t size);

/* SIZE_MAX: not found, as in all functions named find. */
size_t model_pair_find(const model_pair *pairs, size_t count, rt_str key);
/* Sets a value, or (if empty) removes it. False: unchanged. */
bool model_pair_set(model *m, const model_pair **pairs, size_t *count, rt_str key, rt_str value);

/* Saves the state of the document before this operation, once. */
void model_touch(model *m, int doc);
/* Replaces the document by a modifiable copy. */
model_disc *model_edit_disc(model *m, int number);
model_project *model_edit_project(model *m);

size_t model_slot_find(const model_take *take, int entity);
/* C10: normalises the head: in an empty take, or on the last entry, it is the tip. */
void model_settle_head(model_disc *d);
/* Sets the slots of a take. The head (C10): a head at the tip stays there; otherwise it stays on
 * its entry, or if that has been removed, moves to the nearest remaining one before it. */
void model_set_slots(model *m, model_disc *d, size_t index, const model_slot *slots, size_t count);
/* Inserts run into a take before position at. */
void model_insert_slots(model *m, model_disc *d, size_t index, size_t at, const model_slot *run,
			size_t count);
void model_remove_slots(model *m, model_disc *d, size_t index, size_t at, size_t count);
void model_replace_slot(model *m, model_disc *d, size_t index, size_t at, model_slot slot);

size_t model_take_named(const model_disc *d, rt_str name);
size_t model_cell_named(const model_project *p, rt_str name);
size_t model_cell_of(const model_project *p, int number);
/* "d7", "t7": the number, or 0. */
int model_number_of(rt_str s, char letter);
/* Adds an empty take or one with these slots; it becomes active, with the head at its tip. */
/* like the take `from`, including its lists of files */
void model_add_take(model *m, int doc, model_disc *d, size_t from, rt_str name,
		    const model_slot *slots, size_t count);
/* C7: truncated at the first "_take_", then the first free number. */
rt_str model_free_take_name(model *m, const model_disc *d, rt_str from);
void model_drop_take(model *m, model_disc *d, size_t index);
/* A new discussion document, not in the catalogue yet, with one take that has these slots. */
int model_make_doc(model *m, rt_str take_name, const model_slot *slots, size_t count);
void model_add_cell(model *m, model_project *p, int number, rt_str name);
void model_default_roles(model *m, model_project *p);

int model_make_entity(model *m, int doc, rt_str id);
int model_make_body(model *m, model_body body);
/* The entity with this id in a discussion, even if it was removed; -1: none. */
int model_entity_with_id(const model *m, int doc, rt_str id);
rt_str model_label_of(const model_disc *d, int entity);
/* text empty: removes the label. */
void model_set_label(model *m, model_disc *d, int entity, rt_str text);

/* A copy outside the arena, which the caller frees. */
void *model_duplicate(const void *ptr, size_t count, size_t size);
/* A copy with separate lists; documents and texts are immutable and shared. */
model model_save(const model *m);
void model_drop_lists(model *m);

/* ---- the current operation: model_call.c ---- */

typedef struct model_call {
	model *m;
	model_result *out;
	yyjson_val *op;
	rt_str name;
	rt_str chosen;
	int doc;         /* the discussion concerned */
	int view;        /* the discussion in view */
	size_t take;     /* index of the take concerned */
	bool pinned;     /* the request names its discussion */
	bool take_named; /* the request names its take */
} model_call;

/* FAIL(c, NOT_FOUND, "no entry %d", 7) */
#define FAIL(c, word, ...) model_fail((c), RT_##word, __VA_ARGS__)
rt_status model_fail(model_call *c, rt_status status, const char *format, ...) RT_PRINTF(3, 4);
/* RT_OK, and nothing has changed. */
rt_status model_unchanged(model_call *c);

/* NULL, or empty: not in the request. */
yyjson_val *model_field(const model_call *c, const char *name);
rt_str model_str_field(const model_call *c, const char *name);
bool model_bool_field(const model_call *c, const char *name, bool otherwise);

/* C6. *out is an entity of the discussion; the caller checks whether it is in the right take, or
 * in any. */
rt_status model_resolve(model_call *c, size_t take_index, rt_str address, int *out);
/* C5: an entry of the current take. */
rt_status model_resolve_in_take(model_call *c, size_t take_index, rt_str address, int *out,
				size_t *out_at);
/* C9: an entry anywhere in the discussion, and the take that contains it: the current one,
 * otherwise the one with that tip, otherwise the oldest. */
rt_status model_resolve_in_disc(model_call *c, rt_str address, int *out, size_t *out_take);
/* `before` or `after`, exactly one: the position before which something is inserted. */
rt_status model_resolve_gap(model_call *c, size_t *out_at, int *out_neighbour);
/* C21 */
bool model_id_is_legal(rt_str id);
/* RT_REFUSED: the id in the request was used before. */
rt_status model_check_id(model_call *c);

/* ---- operations on entries: model_entry.c ---- */

/* Adds an entry at the head: at the tip, or (C9) in a new take. */
void model_append_slot(model_call *c, model_slot slot);
/* Texts of blocks; the model's arrays only contain strings, text blocks and non-text blocks. */
bool model_is_text_block(yyjson_val *block);
rt_str model_block_text(yyjson_val *block);

rt_status model_op_append(model_call *c);
rt_status model_op_insert(model_call *c);
rt_status model_op_edit(model_call *c);
rt_status model_op_role(model_call *c);
rt_status model_op_fail(model_call *c);
rt_status model_op_mute(model_call *c);
rt_status model_op_delete(model_call *c);
rt_status model_op_move(model_call *c);
rt_status model_op_view(model_call *c);
rt_status model_op_split(model_call *c);
rt_status model_op_merge(model_call *c);
rt_status model_op_purge(model_call *c);

/* ---- on takes, the head: model_take.c ---- */

rt_status model_op_branch(model_call *c);
rt_status model_op_switch(model_call *c);
rt_status model_op_take_rename(model_call *c);
rt_status model_op_take_delete(model_call *c);
rt_status model_op_promote(model_call *c);
rt_status model_op_clear(model_call *c);
rt_status model_op_truncate(model_call *c);
rt_status model_op_graft(model_call *c);
rt_status model_op_head(model_call *c);

/* ---- on labels and settings: model_setting.c ---- */

/* Sets the lists of the active take of a modifiable discussion. */
void model_set_files(model *m, model_disc *d, const rt_str *files);
/* Names of the lists in model_take.files. */
extern const char *const model_list_names[3];

rt_status model_op_label(model_call *c);
rt_status model_op_setting(model_call *c);
rt_status model_op_role_add(model_call *c);
rt_status model_op_role_remove(model_call *c);
rt_status model_op_prompt(model_call *c);
rt_status model_op_notify(model_call *c);
rt_status model_op_files(model_call *c);
rt_status model_op_track(model_call *c);
rt_status model_op_preset_save(model_call *c);
rt_status model_op_preset_load(model_call *c);
rt_status model_op_preset_delete(model_call *c);

/* ---- on discussions and the project: model_disc.c ---- */

rt_status model_op_disc_new(model_call *c);
rt_status model_op_disc_switch(model_call *c);
rt_status model_op_disc_rename(model_call *c);
rt_status model_op_disc_delete(model_call *c);
rt_status model_op_extract(model_call *c);
rt_status model_op_reset(model_call *c);

/* ---- steps: model_history.c ---- */

/* Records the effect of one operation for a revert. values: of the documents before it. */
void model_note_act(model *m, rt_str op, int entity, const void *const *values, size_t count);
/* Turns the documents that the operations touched into a step. */
void model_make_step(model *m, int view);
/* Records a row of the log, as a target of jumps. */
void model_note_places(model *m, bool is_jump);
rt_status model_op_undo_redo(model_call *c, bool undo);
rt_status model_op_jump(model_call *c);
/* C17, for the kinds that the contract names. A step with several operations of one kind is
 * reverted, too, the last one first. */
rt_status model_op_revert(model_call *c);

/* ---- the canonical form: model_canonical.c ---- */

/* An object of pairs, sorted by key. */
void model_add_pairs(rt_buf *out, const model_pair *pairs, size_t count);

#endif
