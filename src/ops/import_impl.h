/* SPDX-License-Identifier: MIT
 *
 * Internals of imports. Each file uses those above it:
 *
 *   import_known.h     which discussions an import finds again
 *   import_names.h     which names of discussions are in use
 *   import_row.c       rows of the log, their transactions and their bodies
 *   import_undo.c      undoing a failed import
 *   import_take.c      nodes of an outline as slots of takes
 *   import_written.h   which entries were written for another program
 *   import_match.c     which entries of an outline already exist
 *   import_outline.c   a whole outline
 *   import.c           the import
 *
 * A row is open between rt_import_row_open and rt_import_row_close, under the store's lock.
 * Effects go into it until it is full. Then it is written, other writers get their turn, and the
 * next one is opened. That may be in the middle of a discussion: it is out of the catalogue until
 * its last row.
 *
 * The import's scope keeps the first failure and the memory of the open row. After a failure
 * every function does nothing. */
#ifndef RT_OPS_IMPORT_IMPL_H
#define RT_OPS_IMPORT_IMPL_H

#include "log/engine_impl.h"
#include "ops/import.h"
#include "ops/import_known.h"
#include "ops/import_names.h"
#include "ops/import_written.h"
#include "ops/names.h"
#include "ops/ops.h"

enum {
	RT_IMPORT_ROW_MIN = 16 << 10, /* bytes of a row, about */
	RT_IMPORT_ROW_FIRST = 96 << 10,
	RT_IMPORT_ROW_MAX = 192 << 10,
	RT_IMPORT_SLOT = 64,            /* bytes of a slot in a row, about */
	RT_IMPORT_BODIES_MAX = 1 << 20, /* bytes of the bodies that go with a row, about */
	RT_IMPORT_SETTLE = 6000,        /* slots and discussions that may stay in memory */
	RT_IMPORT_DISCS_MAX = 2000000,  /* some 50 bytes of memory for each while it is open */
	RT_IMPORT_GAP_US = 6000,        /* between two rows, for processes that poll for the lock */
};

/* Where a node of an outline is in the discussion. */
typedef struct rt_spot {
	uint32_t take; /* 0: nowhere yet; UINT32_MAX: its entry was deleted */
	uint32_t entry;
	uint64_t body; /* 0: not written yet */
	size_t at;
	bool known; /* from an earlier import */
	bool tip;   /* known, and the last of that take */
	bool is_written; /* known as a part of a written session */
} rt_spot;

/* An entry of an earlier import, and its text then. */
typedef struct rt_import_origin {
	uint32_t entry;
	uint64_t body;
	uint64_t hash; /* of the text */
} rt_import_origin;

/* The discussion that outlines are being added to, from its first row to its last. */
typedef struct rt_making {
	uint32_t disc;         /* 0: none */
	bool made;             /* by this import */
	bool hidden;           /* not in the catalogue yet */
	bool known;            /* existed before */
	bool goes_on;          /* there was an earlier outline of it */
	bool named;            /* its name comes from the source */
	uint64_t step;         /* its newest step by this import; 0: none yet */
	uint64_t hash;         /* of the outlines so far, see rt_known_hash */
	uint64_t wanted;       /* the expected final hash; 0: any */
	size_t entries, takes; /* added so far */
	size_t hidden_entries; /* among them */
	rt_spot last;  /* of the previous outlines, the last that is not deleted; take 0: none */
	size_t passed; /* nodes of the previous outlines */
	/* see import_match.c; in the import's memory, in the order of the source */
	rt_import_origin *origins;
	size_t origin_count, origin_at; /* those before origin_at have a node */
	uint32_t *origins_by_hash; /* their indexes, by hash, then index */
	bool has_origins;
	/* see import_written.h; in the import's memory, in the order of the file */
	rt_written_node *written;
	size_t written_count, written_at; /* those before written_at have a node */
} rt_making;

/* Discussions that the import made, first .. last. */
typedef struct rt_import_made {
	uint32_t first, last;
} rt_import_made;

/* Entries that a row added to an existing discussion. */
typedef struct rt_import_grown {
	uint32_t disc;
	uint64_t seq; /* 0: the row is not written */
	size_t entries;
} rt_import_grown;

/* A body that waits for its row. */
typedef struct rt_import_waiting {
	size_t at, size; /* in bytes */
	uint64_t number;
	uint32_t entry;
} rt_import_waiting;

struct rt_import {
	rt_scope s;      /* failures; memory of the open row */
	rt_scope memory; /* of the import */
	rt_engine *engine;
	rt_str name, by, file; /* in memory */
	bool dry_run;
	bool has_written;       /* some conversation was written for another program */
	size_t expected;        /* discussions in all; 0: unknown */
	const uint64_t *hashes; /* see rt_import_options; those that are not used yet */
	size_t hash_count;
	rt_import_result result;
	rt_known known;
	rt_disc_names names;
	bool begun;           /* a row has been open */
	bool pristine;        /* the project was empty before */
	bool keep_active;     /* if it was not */
	bool keep_numbers;    /* the source's numbers rise so far */
	uint32_t last_number; /* of the source */
	size_t index;         /* outlines so far that begin a discussion */
	size_t done;          /* discussions that are complete */
	uint32_t active;      /* the active one according to the source; 0: none */
	uint32_t newest;      /* the last that was made; 0: none */
	uint32_t last;        /* the last one examined */
	int named;            /* what result.discussion is: 2 added, 1 extended, 0 known */
	bool ended;           /* the last changes are in a row */
	uint32_t spare;       /* the empty discussion of a new project; 0: none, or it is in use */
	rt_making making;

	/* what can be undone; in memory */
	rt_import_made *made;
	size_t made_count, made_capacity;
	rt_import_grown *grown;
	size_t grown_count, grown_capacity;
	uint64_t fields_seq; /* the row that set fields of the project; 0: none */

	/* the row */
	bool open;
	const rt_project *project; /* ours: its base */
	rt_change c;
	size_t row_size, row_max; /* about, bytes */
	size_t bodies_size;
	int64_t opened_us;
	rt_buf bytes; /* of the bodies that wait */
	rt_import_waiting *waiting;
	size_t waiting_count, waiting_capacity;

	/* between rows */
	uint64_t group;       /* number of the first row; 0: none yet */
	uint32_t group_discs; /* discussions before it */
	uint64_t last_seq;    /* of the value after the import's newest row */
	uint32_t last_entry;  /* the next entry after it, in the project */
	uint32_t next_entry;  /* the next one here */
	int64_t closed_us;
	size_t unsettled; /* slots and discussions in memory, about */
	uint32_t settled; /* discussions below are not in memory any more */
};

/* Memory of the import that grows: see rt_scope_grow. */
void *rt_import_grow(rt_import *m, void *items, size_t count, size_t *capacity, size_t size);

/* ---- rows (import_row.c) ---- */

void rt_import_row_open(rt_import *m);
/* Ends the row also after a failure. */
void rt_import_row_close(rt_import *m);
/* Drop the unwritten part of the open row, if any. */
void rt_import_row_cancel(rt_import *m);
bool rt_import_row_is_full(const rt_import *m);
/* Writes the open row, lets other writers continue, and opens another. */
void rt_import_next_row(rt_import *m);
/* Wait until other processes that poll for the lock have had a chance to get it. */
void rt_import_yield(const rt_import *m);
/* After a row: writes the nodes loaded so far to a checkpoint. */
void rt_import_settle(rt_import *m);

/* A body that goes with the row. Returns its number. */
uint64_t rt_import_body(rt_import *m, const rt_node *node, uint32_t entry);
/* Bodies that wait for their row are in the transaction afterwards. */
void rt_import_flush(rt_import *m);
/* The discussion in progress leaves the catalogue until its last row. */
void rt_import_hide(rt_import *m);
/* Creates a discussion. Returns its number. */
uint32_t rt_import_new_disc(rt_import *m, rt_str name, rt_str take_name);
/* Enter a discussion's current name into the table of names. */
void rt_import_use_name(rt_import *m, uint32_t disc);

/* ---- undoing (import_undo.c) ---- */

/* The open row creates a discussion; it adds entries to an existing one. */
void rt_import_note_made(rt_import *m, uint32_t disc);
void rt_import_note_grown(rt_import *m, uint32_t disc, size_t count);
/* Undoes everything written so far. Anything that cannot be undone is added to the text of err (may
 * be NULL), which has the reason for the end of the import. */
void rt_import_undo(rt_import *m, rt_error *err);

/* ---- takes (import_take.c) ---- */

/* An outline that is being added. */
typedef struct rt_layer {
	rt_import *import;
	rt_scope *s;     /* the import's */
	rt_change *c;    /* of the open row */
	rt_scope memory; /* of the outline, which may take several rows */
	const rt_outline *outline;
	uint32_t disc;
	bool whole;     /* it fits in a row, and must stay in one */
	rt_spot *spots; /* by node */
	rt_hash_table ids; /* of the first nodes with an id: revisions of one entry share it */
	rt_effect_slot *run; /* scratch of rt_layer_append */
	size_t run_capacity;
	rt_buf *bytes;  /* scratch */
	rt_names takes; /* names in the discussion; empty until one is needed */
} rt_layer;

void rt_layer_init(rt_layer *l, rt_import *m, const rt_outline *outline);
void rt_layer_deinit(rt_layer *l);
/* Memory of the outline. NULL after a failure. */
void *rt_layer_array(rt_layer *l, size_t count, size_t size);
/* The current state of the discussion; NULL after a failure. */
const rt_disc *rt_layer_disc(rt_layer *l);
/* Between two effects: begins a new row if this one is full. */
void rt_layer_turn(rt_layer *l);
/* Give numbers to the entries of nodes that have none, in the order of the source. */
void rt_layer_number(rt_layer *l);
/* A new take that begins like the first `shared` slots of `from`. Returns its number. */
uint32_t rt_layer_new_take(rt_layer *l, uint32_t from, size_t shared, rt_str name,
			   rt_str git_commit);
/* A branch after slot shared - 1 of a take, or the take itself if it ends there. */
uint32_t rt_layer_branch(rt_layer *l, uint32_t take, size_t shared);
/* Append nodes to the end of a take, which is at `at`, in as many rows as they need. */
void rt_layer_append(rt_layer *l, uint32_t take, size_t at, const int64_t *nodes, size_t count);
/* The nodes from `leaf` up to the first that is in a take (*out_above; -1: none), in order, in
 * path, which has capacity for all nodes of the outline. */
const int64_t *rt_layer_path(const rt_layer *l, size_t leaf, int64_t *path, size_t *out_count,
			     int64_t *out_above);

/* Keeps the path of the file for the discussion. */
void rt_import_keep_file(rt_import *m);

/* ---- matching (import_match.c) ---- */

/* At the beginning: are there written sessions? */
void rt_import_look_written(rt_import *m);
/* If the conversation is one, its nodes and, unless it is known otherwise, its discussion. */
void rt_layer_find_written(rt_layer *l);
/* A discussion that has all of the outline, which was exported from it; 0: none. It is then found. */
uint32_t rt_layer_find_same(rt_layer *l);

/* The discussion was imported before: adds the new entries. */
void rt_layer_add_new(rt_layer *l);
/* Adds the nodes that are not known: each run after its parent. */
void rt_layer_add_runs(rt_layer *l);

/* ---- outlines (import_outline.c) ---- */

/* The number that an outline requests ("d7" in a field "id": 7); 0: none. */
uint32_t rt_import_wanted_number(const rt_outline *o);
void rt_import_outline(rt_import *m, rt_outline *outline, uint32_t number);
/* Fields of a discussion, or (0) of the project. */
void rt_import_fields(rt_import *m, uint32_t disc, const rt_outline_field *fields, size_t count);

#endif
