/* SPDX-License-Identifier: MIT
 *
 * The inside of imports:
 *
 *   import.c         batches, rows of the log, the end
 *   import_lay.c     an outline as effects
 *   import_match.c   what of an outline is there already
 *   import_back.c    undoing a failed one
 *   import_known.h   which discussions an import knows
 *   import_names.h   which names are in use
 *
 * A row is open between rt_import_row_open and rt_import_row_close, under the store's lock.
 * Effects go into it until it is full. Then it is written, others get their turn, and the
 * next one is opened. That may be in the middle of a discussion: it is out of the catalogue
 * until its last row. */
#ifndef RT_OPS_IMPORT_IMPL_H
#define RT_OPS_IMPORT_IMPL_H

#include "log/engine_impl.h"
#include "ops/import.h"
#include "ops/import_known.h"
#include "ops/import_names.h"
#include "ops/names.h"
#include "ops/ops.h"

enum {
	RT_IMPORT_ROW_MIN = 16 << 10,    /* bytes of a row, about */
	RT_IMPORT_ROW_FIRST = 96 << 10,
	RT_IMPORT_ROW_MAX = 192 << 10,
	RT_IMPORT_BODIES_MAX = 1 << 20,  /* bytes of the bodies that go with a row, about */
	RT_IMPORT_SETTLE = 6000,         /* slots and discussions in memory before they go */
	RT_IMPORT_DISCS_MAX = 2000000,   /* some 50 bytes of memory for each while it is open */
	RT_IMPORT_GAP_US = 6000,         /* between two rows; who polls for the lock gets it */
};

/* Where a node has been laid. */
typedef struct rt_spot {
	uint32_t take; /* 0: nowhere yet */
	uint32_t entry;
	uint64_t body; /* 0: not written yet */
	size_t at;
	bool known; /* from an earlier import */
	bool tip;   /* known, and the last of that take */
} rt_spot;

/* The discussion that outlines are being added to, from its first row to its last. */
typedef struct rt_making {
	uint32_t disc;   /* 0: none */
	bool made;       /* by this import */
	bool hidden;     /* not in the catalogue yet */
	bool known;      /* it was there before */
	bool goes_on;    /* there was an outline of it before this one */
	bool named;      /* its name is the source's */
	uint64_t step;   /* its newest step, by us; 0: none yet */
	uint64_t hash;   /* of the outlines so far, see rt_known_hash */
	uint64_t wanted; /* what hash has to be in the end; 0: anything */
	size_t entries, takes; /* added so far */
	rt_spot last;    /* of the outline before; take 0: none */
} rt_making;

/* Discussions that the import made, first .. last. */
typedef struct rt_import_made {
	uint32_t first, last;
} rt_import_made;

/* Entries that a row of it added to a discussion that was there before. */
typedef struct rt_import_grown {
	uint32_t disc;
	uint64_t seq; /* 0: the row is not written */
	size_t entries;
} rt_import_grown;

struct rt_layer;

struct rt_import {
	rt_engine *engine;
	rt_text *name, *by;
	bool dry_run;
	size_t expected; /* discussions in all; 0: unknown */
	const uint64_t *hashes; /* see rt_import_options; those that are not used yet */
	size_t hash_count;
	rt_import_result result;
	rt_known known;
	rt_disc_names names;
	bool begun;         /* a row has been open */
	bool pristine;      /* nothing was in the project before */
	bool keep_numbers;  /* the source's numbers rise so far */
	uint32_t last_number;
	size_t index;       /* outlines so far that begin a discussion */
	size_t done;        /* discussions that are complete */
	uint32_t active;    /* the active one, as the source says; 0: it does not */
	uint32_t newest;    /* the last that was made; 0: none */
	uint32_t last;      /* the last that was looked at */
	int named;          /* what result.discussion is: 2 added, 1 extended, 0 known */
	bool ended;         /* what comes last is in a row */
	uint32_t spare;     /* the empty one that a new project has; 0: none, or it is used */
	rt_making making;

	/* what there is to undo (import_back.c) */
	rt_import_made *made;
	size_t made_count, made_room;
	rt_import_grown *grown;
	size_t grown_count, grown_room;
	uint64_t fields_seq; /* the row that set fields of the project; 0: none */

	/* the row */
	bool open;
	const rt_project *project; /* ours: what it is made on */
	rt_scope scope; /* of the row */
	rt_change c;
	size_t row_size, row_max; /* about, bytes */
	size_t bodies_size;
	int64_t opened_us;
	rt_buf bytes;             /* bodies waiting to be appended */
	struct {
		size_t at, size;
		uint64_t number;
		uint32_t entry;
	} *waiting;
	size_t waiting_count, waiting_room;

	/* between rows */
	uint64_t group;       /* number of the first row; 0: none yet */
	uint32_t group_discs; /* discussions before it */
	uint64_t last_seq;    /* of the value after our newest row */
	uint32_t last_entry;  /* the next one after it, in the project */
	uint32_t next_entry;  /* and here */
	int64_t closed_us;
	size_t unsettled;     /* slots and discussions in memory, about */
	uint32_t settled;     /* discussions below are not in memory any more */
};

/* One outline being laid. */
typedef struct rt_layer {
	rt_engine *engine;
	rt_change *c;
	rt_import *all;
	const rt_outline *outline;
	rt_import_result *result;
	uint32_t disc;
	bool whole; /* it fits in a row, and has to */
	rt_spot *spots;
	/* node indices by id, open addressing: revisions of one entry share it */
	uint32_t *table;
	size_t table_room;
	rt_names takes; /* names in the discussion; empty until one is asked for */
} rt_layer;

/* ---- rows (import.c) ---- */

rt_status rt_import_row_open(rt_import *import, rt_error *err);
rt_status rt_import_row_close(rt_import *import, rt_error *err);
/* Drop what is not written of the open row; fine if none is open. */
void rt_import_row_cancel(rt_import *import);
/* Write the open row, let others in, open another. */
rt_status rt_import_next_row(rt_import *import, rt_error *err);
/* Between two effects: a new row when this one is full. */
rt_status rt_import_turn(rt_layer *l, rt_error *err);
/* A body that goes with the row. */
rt_status rt_import_body(rt_import *import, const rt_node *node, uint32_t entry,
			 uint64_t *out_number, rt_error *err);

/* Bodies that wait for their row are in the transaction afterwards. */
rt_status rt_import_flush(rt_import *import, rt_error *err);
/* The discussion that is being made is not in the catalogue until its last row. */
rt_status rt_import_hide(rt_import *import, rt_error *err);
/* A discussion is complete: the result names the last one that was added; if none was, the last
 * that was extended; otherwise the last that was known already. */
void rt_import_name(rt_import *import, uint32_t disc);

/* ---- laying (import_lay.c) ---- */

/* The number that an outline asks for ("d7" in a field "id": 7); 0: none. */
uint32_t rt_import_wanted_number(const rt_outline *o);

/* One outline. */
rt_status rt_import_outline(rt_import *import, const rt_outline *outline, uint32_t number,
			    rt_error *err);
/* After another wrote: numbers of entries that are not laid yet. */
rt_status rt_layer_renumber(rt_layer *l, uint32_t from, rt_error *err);
rt_status rt_layer_number(rt_layer *l, rt_error *err);
bool rt_layer_id_usable(rt_str id);
rt_status rt_layer_new_take(rt_layer *l, uint32_t from, size_t shared, rt_str name,
			    rt_str git_commit, uint32_t *out_number, rt_error *err);
rt_status rt_layer_run(rt_layer *l, uint32_t take, size_t at, const int64_t *list, size_t from,
		       size_t count, rt_error *err);
rt_status rt_layer_fields(rt_layer *l, uint32_t disc, const rt_outline_field *fields, size_t count,
			  rt_error *err);

/* A discussion with the next number, which counts as nobody's. */
rt_status rt_import_new_disc(rt_import *import, rt_str name, rt_str take_name, uint32_t *out_number,
			     rt_error *err);

/* ---- undoing (import_back.c) ---- */

/* The open row makes a discussion; it adds entries to one that was there before. */
rt_status rt_import_note_made(rt_import *import, uint32_t disc, rt_error *err);
rt_status rt_import_note_grown(rt_import *import, uint32_t disc, size_t count, rt_error *err);
/* Undo what is written. What cannot be undone is added to the text of err, which says why the
 * import ended; it may be NULL. */
void rt_import_undo(rt_import *import, rt_error *err);

/* ---- matching (import_match.c) ---- */

/* The discussion is known: lay what is new. */
rt_status rt_layer_known(rt_layer *l, rt_error *err);

#endif
