/* SPDX-License-Identifier: MIT
 *
 * Record: one row of a project's log, as JSON text and as a struct.
 *
 *   a step     {"v":1,"op":"entry.edit","by":"cli","d":1,"p":[[1,41]],"fx":[…],"x":{…}}
 *   a move     {"v":1,"op":"undo","by":"cli","d":1,"m":[[42,-1,[1]]],"r":[[1,0,0]]}
 *   a view     {"v":1,"op":"entry.view","by":"web","d":1,"view":[[7,1]]}
 *   a note     {"v":1,"op":"purge","by":"cli","d":1}
 *
 *   v     lowest version of Retake's effects that a reader must know: 2 for a step with k,
 *         which version 1 would mistake for one that ends redo; else 1
 *   d     the discussion in view at the time of the request
 *   g     [row, count]: this step and row `row` belong to one group, of which that is the
 *         first; there were `count` discussions before it. Undo reverts a group as a whole: an
 *         import (its rows belong to the project), replies of several models, or drafts that
 *         were typed without a pause (0 discussions); programs that do not know
 *         groups undo one row at a time
 *   p     [document, the step that was current there before]; document 0 is the project
 *   fx    effects:
 *           ["s",disc,take,at,[slot…],[slot…]]      splice: removed, added
 *           ["n",disc,sub,from_disc,from_take,count,name,take_name,git_commit]    new
 *           ["f",disc,sub,key,entry,before,after]   set; null: absent
 *         slot: [entry,body,size,ts,role,kind,flags] and the given id where it is new;
 *         ts in microseconds, null for none; flags: 1 muted, 8 a body with
 *         more than text, 16 a content that was edited, from 65536 on nanoseconds
 *   k     1: the step sets a draft and nothing else, and leaves redo as it was
 *   m     [step, -1 undone or 1 redone, [documents]], in order; a fourth member 1:
 *         the next move belongs to this one, and redo restores both as one. If the next
 *         move is itself a redo, this one made room for it, and redo continues after it
 *   r     [document, redo row, redo move] as they were before this row
 *   view  [entry, flags]: 1 collapsed, 2 read mode; a step may have it too
 *   x     the operation's unknown fields, kept for their author
 *
 * The text is canonical: the same record gives the same bytes. */
#ifndef RT_CODEC_RECORD_H
#define RT_CODEC_RECORD_H

#include "codec/json.h"
#include "core/effect.h"

enum { RT_RECORD_VERSION = 2 };

typedef struct rt_record_parent {
	uint32_t disc;
	uint64_t step;
} rt_record_parent;

typedef struct rt_record_move {
	uint64_t step;
	int direction;  /* -1 undone, 1 redone */
	bool with_next; /* redo treats it and the next move as one */
	uint32_t *discs;
	size_t disc_count;
} rt_record_move;

typedef struct rt_record_redo {
	uint32_t disc;
	uint64_t row;
	uint32_t move;
} rt_record_redo;

typedef struct rt_record_view {
	uint32_t entry;
	unsigned flags;
} rt_record_view;

typedef enum rt_record_kind {
	RT_RECORD_STEP = 1,
	RT_RECORD_MOVE,
	RT_RECORD_VIEW,
	RT_RECORD_NOTE
} rt_record_kind;

typedef struct rt_record {
	rt_record_kind kind;
	uint32_t disc;
	uint64_t group; /* of a step: the group's first row; 0: none, or it is the first */
	uint32_t group_discs; /* discussions that existed before it */
	rt_str op, by;
	rt_record_parent *parents;
	size_t parent_count;
	rt_effect *effects;
	size_t effect_count;
	bool keeps_redo; /* a step that redo may undo to restore its original target */
	rt_record_move *moves;
	size_t move_count;
	rt_record_redo *redos;
	size_t redo_count;
	rt_record_view *views;
	size_t view_count;
	rt_str extra; /* JSON object as text; empty: none */
} rt_record;

/* Appends the record as text to buf. */
void rt_record_write(rt_buf *buf, const rt_record *record);
/* Is the text a record of this operation? It is not parsed. */
bool rt_record_is_of(rt_str text, rt_str op);
/* Parses text; everything in out lives in the arena. RT_CORRUPT; RT_TOO_NEW with the
 * version that is needed. */
RT_CHECKED rt_status rt_record_read(const rt_alloc *alloc, rt_arena *arena, rt_str text,
				    rt_record *out, rt_error *err);

#endif
