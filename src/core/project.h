/* SPDX-License-Identifier: MIT
 *
 * Project: the value. The whole visible state as one immutable object; a change creates the next
 * one, which shares everything that did not change.
 *
 *   project ── discussions ── takes ── slots          changed by undo
 *      └────── fields   └──── fields, labels
 *   ledger: all entries, view flags, names            not changed by undo
 *
 * Takes and discussions are numbered from 1 and are never removed from their lists; the flag
 * `present` is false for deleted ones. So deleting and undoing a creation set the same flag, and
 * a jump finds everything it needs.
 *
 * An entry's number is unique in the project and never reused. Its id is either given (stored in
 * the ledger) or computed from the number (see id.h).
 *
 * Threads: projects are immutable; call from any thread. */
#ifndef RT_CORE_PROJECT_H
#define RT_CORE_PROJECT_H

#include "core/catalogue.h"
#include "core/fields.h"
#include "core/seq.h"
#include "core/strs.h"
#include "core/vec.h"

/* The position of a document (a discussion, or the project's settings) in its history. */
typedef struct rt_history {
	uint64_t current;   /* the newest step in effect; 0: none */
	uint64_t last_step; /* the last new step: redo ends there */
	uint64_t redo_row;  /* the row whose move redo would reverse; 0: none */
	uint32_t redo_move; /* which of its moves */
} rt_history;

typedef struct rt_take {
	rt_object object;
	uint32_t number;
	bool present;
	const rt_text *name;
	const rt_text *git_commit; /* of its last update; NULL: none */
	uint64_t row;              /* of the log, which changed it last; 0 or above the value's seq:
	                            * unknown */
	const rt_seq *slots;
	const rt_seq *moved; /* entry -> order key, if different from its home key */
} rt_take;

/* Where the next entry goes. */
#define RT_HEAD_TIP UINT32_MAX /* after the last entry of the active take */
#define RT_HEAD_START 0u       /* before the first; otherwise an entry number */

typedef struct rt_disc {
	rt_object object;
	uint32_t number;
	uint32_t active; /* number of the active take */
	uint32_t head;   /* RT_HEAD_TIP, RT_HEAD_START, or an entry */
	const rt_vec *takes; /* rt_take */
	const rt_fields *fields;
	const rt_seq *labels; /* entry -> number of a name */
	const rt_take *seed;  /* as created from another discussion's take; or NULL */
	rt_history history;
} rt_disc;

/* Shared by all versions; only the writer adds to it. */
typedef struct rt_ledger {
	rt_object object;
	rt_strs *names; /* roles, kinds, labels */
	rt_strs *ids;   /* given ids */
	uint64_t salt;  /* of generated ids */
	const rt_seq_source *source;
	/* The nodes of the catalogue's pages in the newest checkpoint, and of the lists of pages
	 * in its root (codec/state.h). */
	uint64_t *pages, *page_lists;
	size_t page_count;
} rt_ledger;

typedef struct rt_project rt_project;
struct rt_loader;

struct rt_project {
	rt_object object;
	uint64_t seq;        /* the last log row that is included */
	uint32_t next_entry; /* entry numbers below this are in use */
	uint64_t next_body;
	uint32_t active;     /* number of the active discussion */
	const rt_vec *discs; /* rt_page */
	uint32_t disc_count; /* ever created */
	const rt_fields *fields;
	const rt_seq *views;   /* entry -> RT_VIEW_ flags */
	const rt_seq *entries; /* entry -> home key; .entry: discussion; .ts_us: id number */
	const rt_seq *owners;  /* id number << 32 | entry: the owners of ids */
	rt_history history;    /* of the project's own settings */
	rt_ledger *ledger;     /* reference-counted */
	const struct rt_loader *loader; /* loads discussions */
};

enum { RT_VIEW_COLLAPSED = 1, RT_VIEW_READ_MODE = 2 };

/* Loads a discussion from its node; implemented in codec/state.h. */
typedef struct rt_loader {
	rt_status (*disc)(const rt_project *project, uint64_t number, const rt_disc **out,
			  rt_error *err);
} rt_loader;

/* An empty project: no discussion yet, next numbers 1. salt seeds generated ids. */
RT_CHECKED rt_status rt_project_new(const rt_alloc *alloc, const rt_seq_source *source,
				    uint64_t salt, const rt_project **out, rt_error *err);

/* A private copy that can be changed before it is shared; every part is referenced. */
RT_CHECKED rt_status rt_project_copy(const rt_project *project, rt_project **out);
RT_CHECKED rt_status rt_disc_copy(const rt_disc *disc, rt_disc **out);
RT_CHECKED rt_status rt_take_copy(const rt_take *take, rt_take **out);
RT_CHECKED rt_status rt_disc_new(const rt_alloc *alloc, uint32_t number, rt_disc **out);
RT_CHECKED rt_status rt_take_new(const rt_alloc *alloc, uint32_t number, rt_str name,
				 const rt_seq *slots, const rt_seq *moved, rt_take **out);
/* Sets a cell of the catalogue; number is at most one more than there are. RT_NOMEM. */
RT_CHECKED rt_status rt_project_set_cell(rt_project *mine, uint32_t number,
					 const rt_cell_said *said);
/* Replaces a discussion by a changed copy. No ownership is transferred. */
RT_CHECKED rt_status rt_project_set_disc(rt_project *mine, const rt_disc *disc);
/* A discussion that no other value has, to be changed in place; NULL: it has to be copied. */
rt_disc *rt_project_own_disc(rt_project *mine, uint32_t number);

/* --- reading; borrowed results live as long as the project --- */
size_t rt_project_disc_count(const rt_project *project); /* ever created */
const rt_cell *rt_project_cell(const rt_project *project, uint32_t number); /* NULL: none */
/* Loads it if necessary. RT_NOT_FOUND: the number was never used. */
RT_CHECKED rt_status rt_project_disc(const rt_project *project, uint32_t number,
				     const rt_disc **out, rt_error *err);
/* The same for visiting many discussions: it is not kept in memory. The caller owns a reference
 * to *out; NULL after a failure. */
RT_CHECKED rt_status rt_project_disc_peek(const rt_project *project, uint32_t number,
					  const rt_disc **out, rt_error *err);
const rt_take *rt_disc_take(const rt_disc *disc, uint32_t number); /* NULL: none */
const rt_take *rt_disc_active(const rt_disc *disc);
size_t rt_disc_take_count(const rt_disc *disc); /* ever created */
size_t rt_disc_present_count(const rt_disc *disc);
/* A present take or discussion by its exact name; 0: none. */
uint32_t rt_disc_take_named(const rt_disc *disc, rt_str name);
uint32_t rt_project_disc_named(const rt_project *project, rt_str name);
/* The present one that comes first by name, without this number (C32); 0: none. */
uint32_t rt_disc_first(const rt_disc *disc, uint32_t without);
uint32_t rt_project_first(const rt_project *project, uint32_t without);

/* The JSON of a setting ("setting.model") of the discussion, else of the project; ptr NULL: unset.
 * disc NULL: of the project. */
rt_str rt_project_setting(const rt_project *project, const rt_disc *disc, const char *key);
/* The prompts that begin a request, in their order; ended by NULL. */
extern const char *const rt_setting_prompts[];

/* The home key and the discussion of an entry; *out_found false: the number was never used. */
RT_CHECKED rt_status rt_project_entry(const rt_project *project, uint32_t entry, rt_slot *out,
				      bool *out_found, rt_error *err);
/* The position of an entry in a take. *out_found false: not in it. O(log n). */
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
/* Could the entry not be answered (entry.fail)? The discussion's field "failures" has why:
 * {"ID":{"code":…,"detail":…}}. */
bool rt_disc_has_failure(const rt_disc *disc, rt_str id);
/* The label of an entry; empty when it has none. */
RT_CHECKED rt_status rt_disc_label(const rt_project *project, const rt_disc *disc, uint32_t entry,
				   rt_str *out, rt_error *err);
/* RT_VIEW_ flags of an entry. */
RT_CHECKED rt_status rt_project_view(const rt_project *project, uint32_t entry, unsigned *out,
				     rt_error *err);

/* All invariants, for tests and fsck; the first broken one in err. RT_CORRUPT. */
RT_CHECKED rt_status rt_project_check(const rt_project *project, rt_error *err);

/* The same value without the discussions from number `from` on that a checkpoint contains; they
 * are loaded again on access. */
RT_CHECKED rt_status rt_project_shed(const rt_project *project, uint32_t from,
				     const rt_project **out);

/* Set once, by the engine, before the first access (see codec/state.h). */
void rt_project_set_loader(rt_project *mine, const rt_loader *loader);

#endif
