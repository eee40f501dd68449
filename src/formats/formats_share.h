/* SPDX-License-Identifier: MIT
 *
 * Share: one node for one entry in several takes.
 *
 * Formats that list their takes one by one repeat their common entries. While a discussion is
 * built, every entry is added here: an entry with an id becomes the node of an equal one with that
 * id, whichever take contains it; without an id it may become that of an equal one after the same
 * node (C59). Others become new nodes; several with one id are revisions of that entry. The lists
 * are freed with the builder's scope. */
#ifndef RT_FORMATS_SHARE_H
#define RT_FORMATS_SHARE_H

#include "formats/formats_build.h"

typedef struct rt_share_id {
	size_t seen_in;    /* the take, from 1, that held it last */
	int64_t last_node; /* its newest revision; -1: none */
} rt_share_id;

typedef struct rt_share_link {
	int64_t before; /* the revision before it; -1: none */
	size_t seen_in; /* the take that held this node last */
} rt_share_link;

typedef struct rt_share {
	rt_build *b;       /* set by the reader; all but these two are zeroed */
	bool by_place;     /* entries without ids too; their view flags are ignored then */
	rt_index ids;      /* id: item of known */
	rt_index contents; /* hash of everything: node */
	rt_items known;    /* rt_share_id */
	rt_items links;    /* rt_share_link, one for each node */
	rt_items path;     /* int64_t: nodes of the take being read */
	size_t take_number;
} rt_share;

/* After rt_build_discussion, and before each of its takes. */
void rt_share_discussion(rt_share *share);
void rt_share_take(rt_share *share);

/* Add the entry whose body is open in the builder to the end of the take; its parent is set.
 * False: the take already contains its id, so this entry gets none. */
bool rt_share_add(rt_share *share, rt_node *node);

/* Add a node of an earlier take of the discussion to the end of the take. False: the take
 * already holds it, or another of its id, and nothing is added. */
bool rt_share_again(rt_share *share, int64_t node);

/* The nodes of the take so far; valid until the next one is added. */
const int64_t *rt_share_path(const rt_share *share, size_t *out_count);

/* Label all revisions of an entry; false: unknown id. */
bool rt_share_label(rt_share *share, rt_str id, rt_str label);

#endif
