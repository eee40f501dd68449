/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the list of discussions: pane_discussions.c has the rows, draws them and
 * has the keys; pane_discussions_search.c searches entries; pane_discussions_change.c opens the
 * chosen row or changes its discussion or take. */
#ifndef RT_TUI_PANE_DISCUSSIONS_IMPL_H
#define RT_TUI_PANE_DISCUSSIONS_IMPL_H

#include "llm/config.h"
#include "terminal/terminal.h"
#include "tui/list.h"
#include "tui/switch.h"
#include "tui/worker.h"
#include "view/search.h"

enum { RT_FIND_HITS = 200 }; /* the most that a search finds */

/* A discussion, or a take of it, or a hit. */
typedef struct rt_discussions_row {
	const rt_disc_row *disc;
	const rt_take_row *take;
	const rt_hit *hit;
} rt_discussions_row;

/* A search, and its hits. */
typedef struct rt_find_job {
	rt_worker worker;
	rt_scope scope;
	rt_engine *engine;
	const rt_project *value; /* our reference */
	rt_str query;
	const rt_config *config; /* or NULL */
	const rt_env *env;
	bool is_complete;     /* it ended without being cancelled */
	pthread_mutex_t lock; /* of hits while it runs */
	rt_hits hits;
	atomic_uint percent;
} rt_find_job;

typedef struct rt_discussions {
	rt_pane pane;            /* first */
	rt_scope lists;          /* of discs and takes */
	const rt_project *value; /* from which they were read; we have a reference */
	uint64_t seen;           /* its value_change */
	rt_disc_rows discs;
	rt_take_rows takes; /* of the open discussion */
	uint32_t open;      /* its number; 0: none */
	bool has_long_titles; /* counts are left out for them */
	bool has_deleted;   /* archived and deleted discussions are listed, too */

	rt_filter filter;       /* rows: rt_discussions_row */
	rt_switch_place before; /* the cursor when the search began … */
	bool is_moved;          /* … and whether it was moved since */

	rt_find_job *job;   /* that runs; or NULL */
	rt_find_job *found; /* whose hits are shown; NULL: none. May be job */
	rt_hits hits;
	bool is_searched; /* found is of the current value */
} rt_discussions;

static inline rt_discussions *
rt_discussions_of(rt_pane *pane)
{
	return (rt_discussions *)pane;
}

static inline rt_scope *
rt_discussions_scope(rt_discussions *d)
{
	return &d->pane.tui->scope;
}

static inline const rt_discussions_row *
rt_discussions_at_cursor(const rt_discussions *d)
{
	return rt_filter_at(&d->filter);
}

static inline rt_switch_place
rt_discussions_place(const rt_discussions_row *r)
{
	if (r == NULL || r->disc == NULL)
		return (rt_switch_place){0};
	return (rt_switch_place){r->disc->number, r->take != NULL ? r->take->number : 0};
}

/* The search text for entries; empty: none. */
static inline rt_str
rt_discussions_query(const rt_discussions *d)
{
	rt_str text = rt_field_text(d->filter.field);

	return text.size > 0 && text.ptr[0] == '/' ? rt_str_at(text.ptr + 1, text.size - 1) : text;
}

/* Is it a search by meaning ("~words")? Without an embedding_model it is for the text. */
static inline bool
rt_discussions_is_meaning(const rt_config *config, rt_str query)
{
	return config != NULL && config->embedding_model.size > 0 && query.size > 0 && query.ptr[0] == '~';
}

/* ---- pane_discussions_search.c ---- */

/* Starts, shows and ends searches, so that the shown hits become those of the search text. */
void rt_discussions_poll(rt_pane *pane);
/* Are the shown hits all of those of the search text, in the current value? */
bool rt_discussions_is_answered(const rt_discussions *d);
/* For rt_worker_detach. */
void rt_find_job_free(void *ctx);

/* ---- pane_discussions_change.c ---- */

/* Shows the row under the cursor in the chat. */
void rt_discussions_accept(rt_discussions *d);
/* Each asks for a name, or for tags, and then changes the row under the cursor; or adds a
 * discussion. */
void rt_discussions_ask_new(rt_discussions *d);
void rt_discussions_ask_rename(rt_discussions *d);
void rt_discussions_ask_promote(rt_discussions *d);
void rt_discussions_ask_tags(rt_discussions *d);
/* Sets a setting of the discussion under the cursor to true, or if it is on, unsets it. */
void rt_discussions_toggle(rt_discussions *d, rt_str key, bool is_on);
void rt_discussions_delete(rt_discussions *d);

#endif
