/* SPDX-License-Identifier: MIT
 *
 * Project: the value. Everything that people see, as one immutable object; a change makes
 * the next one, which shares what did not change.
 *
 *   project ── discussions ── takes ── slots          what undo moves
 *      └────── fields   └──── fields, labels
 *   ledger: entries ever made, view flags, names      what undo leaves alone
 *
 * Takes and discussions are numbered from 1 and stay in their lists for ever; `present`
 * says whether they are in the catalogue now. So "delete" and "undo of create" are one
 * flag, and what a jump needs is still there.
 *
 * An entry's number is unique in the project and never used again. Its id is either given
 * (kept in the ledger) or follows from the number (see id.h).
 *
 * Threads: projects are immutable; call from any thread. */
#ifndef RT_CORE_PROJECT_H
#define RT_CORE_PROJECT_H

#include "core/catalogue.h"
#include "core/fields.h"
#include "core/seq.h"
#include "core/strs.h"
#include "core/vec.h"

/* Where a document (a discussion, or the project's own settings) stands in its history. */
typedef struct rt_history {
	uint64_t current;   /* the newest step in effect; 0: none */
	uint64_t last_step; /* when the last new step was made: redo ends there */
	uint64_t redo_row;  /* the row whose move redo would take back; 0: none */
	uint32_t redo_move; /* which of its moves */
} rt_history;

typedef struct rt_take {
	rt_object object;
	uint32_t number;
	bool present;
	const rt_text *name;
	const rt_text *git_commit; /* NULL: none */
	const rt_seq *slots;
	const rt_seq *moved; /* entry -> order key, where it is not the entry's home key */
} rt_take;

/* Where the next entry goes. */
#define RT_HEAD_TIP UINT32_MAX /* after the last entry of the active take */
#define RT_HEAD_START 0u       /* before the first; otherwise an entry number */

typedef struct rt_disc {
	rt_object object;
	uint32_t number;
	uint32_t active; /* number of the active take */
	uint32_t head;   /* RT_HEAD_TIP, RT_HEAD_START, or the entry it stands on */
	const rt_vec *takes; /* rt_take */
	const rt_fields *fields;
	const rt_seq *labels; /* entry -> number of a name */
	const rt_take *seed;  /* as it was made from another discussion's take; or NULL */
	rt_history history;
} rt_disc;

/* What all versions share and only the writer adds to. */
typedef struct rt_ledger {
	rt_object object;
	rt_strs *names; /* roles, kinds, labels */
	rt_strs *ids;   /* given ids */
	uint64_t salt;  /* of generated ids */
	const rt_seq_source *source;
	/* Of the newest checkpoint: where the pages of the catalogue are, and the lists of so
	 * many of them that its root names (codec/state.h). */
	uint64_t *pages, *page_lists;
	size_t page_count;
} rt_ledger;

typedef struct rt_project rt_project;
struct rt_loader;

struct rt_project {
	rt_object object;
	uint64_t seq;        /* the last log row that is in here */
	uint32_t next_entry; /* entry numbers below were used */
	uint64_t next_body;
	uint32_t active;     /* number of the active discussion */
	const rt_vec *discs; /* rt_page */
	uint32_t disc_count; /* ever made */
	const rt_fields *fields;
	const rt_seq *views;   /* entry -> RT_VIEW_ flags */
	const rt_seq *entries; /* entry -> home key; .entry: discussion; .ts_us: id number */
	const rt_seq *owners;  /* id number << 32 | entry: who has that id */
	rt_history history;    /* of the project's own settings */
	rt_ledger *ledger;     /* counted */
	const struct rt_loader *loader; /* how discussions come in */
};

enum { RT_VIEW_COLLAPSED = 1, RT_VIEW_READ_MODE = 2 };

/* How a discussion is loaded from its node; codec/state.h has one. */
typedef struct rt_loader {
	rt_status (*disc)(const rt_project *project, uint64_t number, const rt_disc **out,
			  rt_error *err);
} rt_loader;

/* An empty project: no discussion yet, next numbers 1. salt seeds generated ids. */
RT_CHECKED rt_status rt_project_new(const rt_alloc *alloc, const rt_seq_source *source,
				    uint64_t salt, const rt_project **out, rt_error *err);

/* A private copy to change field by field and then share; every part is referenced. */
RT_CHECKED rt_status rt_project_copy(const rt_project *project, rt_project **out);
RT_CHECKED rt_status rt_disc_copy(const rt_disc *disc, rt_disc **out);
RT_CHECKED rt_status rt_take_copy(const rt_take *take, rt_take **out);
RT_CHECKED rt_status rt_disc_new(const rt_alloc *alloc, uint32_t number, rt_disc **out);
RT_CHECKED rt_status rt_take_new(const rt_alloc *alloc, uint32_t number, rt_str name,
				 const rt_seq *slots, const rt_seq *moved, rt_take **out);
/* Another line of the catalogue; number at most one more than there are. RT_NOMEM. */
RT_CHECKED rt_status rt_project_set_cell(rt_project *mine, uint32_t number,
					 const rt_cell_said *said);
/* Put a changed discussion in place of the old one. Takes nothing over. */
RT_CHECKED rt_status rt_project_set_disc(rt_project *mine, const rt_disc *disc);

/* --- looking; borrowed results live as long as the project --- */
size_t rt_project_disc_count(const rt_project *project); /* ever made */
const rt_cell *rt_project_cell(const rt_project *project, uint32_t number); /* NULL: none */
/* Loads it where need be. RT_NOT_FOUND for a number never used. */
RT_CHECKED rt_status rt_project_disc(const rt_project *project, uint32_t number,
				     const rt_disc **out, rt_error *err);
/* The same for who looks at many: it does not stay in memory, and *out is yours to unref; NULL
 * after a failure. */
RT_CHECKED rt_status rt_project_disc_peek(const rt_project *project, uint32_t number,
					  const rt_disc **out, rt_error *err);
const rt_take *rt_disc_take(const rt_disc *disc, uint32_t number); /* NULL: none */
const rt_take *rt_disc_active(const rt_disc *disc);
size_t rt_disc_take_count(const rt_disc *disc); /* ever made */
size_t rt_disc_present_count(const rt_disc *disc);
/* A present take or discussion by its exact name; 0: none. */
uint32_t rt_disc_take_named(const rt_disc *disc, rt_str name);
uint32_t rt_project_disc_named(const rt_project *project, rt_str name);

/* The home key of an entry and where it was made; false when it was never used. */
RT_CHECKED rt_status rt_project_entry(const rt_project *project, uint32_t entry, rt_slot *out,
				      bool *out_found, rt_error *err);
/* Where an entry stands in a take. *out_found false: not in it. O(log n). */
RT_CHECKED rt_status rt_take_find(const rt_project *project, const rt_take *take, uint32_t entry,
				  size_t *out_at, rt_slot *out_slot, bool *out_found,
				  rt_error *err);
/* Was the entry ever in this discussion? */
RT_CHECKED rt_status rt_disc_knew(const rt_project *project, const rt_disc *disc, uint32_t entry,
				  bool *out_knew, rt_error *err);
/* Is it in a present take now? The first such take's number, or 0. */
RT_CHECKED rt_status rt_disc_holds(const rt_project *project, const rt_disc *disc, uint32_t entry,
				   uint32_t *out_take, rt_error *err);

/* The position of the head in the active take: the next entry goes there. */
RT_CHECKED rt_status rt_disc_head_at(const rt_project *project, const rt_disc *disc, size_t *out_at,
				     rt_error *err);
/* A name by its number; empty for 0. */
RT_CHECKED rt_status rt_project_name(const rt_project *project, uint32_t number, rt_str *out,
				     rt_error *err);
/* The label of an entry; empty when it has none. */
RT_CHECKED rt_status rt_disc_label(const rt_project *project, const rt_disc *disc, uint32_t entry,
				   rt_str *out, rt_error *err);
/* RT_VIEW_ flags of an entry. */
RT_CHECKED rt_status rt_project_view(const rt_project *project, uint32_t entry, unsigned *out,
				     rt_error *err);

/* All invariants, for tests and fsck; the first broken one in err. RT_CORRUPT. */
RT_CHECKED rt_status rt_project_check(const rt_project *project, rt_error *err);

/* The same value with nothing in memory that a checkpoint has, from discussion `from` on: it
 * is loaded again when somebody looks. */
RT_CHECKED rt_status rt_project_shed(const rt_project *project, uint32_t from,
				     const rt_project **out);

/* The loader is set once, by the engine, before the first look (see codec/state.h). */
void rt_project_set_loader(rt_project *mine, const rt_loader *loader);

#endif
