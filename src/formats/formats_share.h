/* SPDX-License-Identifier: MIT
 *
 * Share: one node for what is one entry in several takes.
 *
 * Formats that list their takes one by one repeat what these have in common. While a
 * discussion is built, every entry goes through here: an entry with an id is the node of
 * an equal one with that id, whichever take has it; without an id it may be that of an
 * equal one behind the same node (C59). What is not equal becomes a node of its own; of
 * several with one id, each is a revision of the entry. */
#ifndef RT_FORMATS_SHARE_H
#define RT_FORMATS_SHARE_H

#include "formats/formats_build.h"

typedef struct rt_share_id {
	rt_str id;
	size_t seen_in;    /* the take, from 1, that held it last */
	int64_t last_node; /* its newest revision; -1: none */
} rt_share_id;

typedef struct rt_share_link {
	int64_t before; /* the revision before it; -1: none */
	size_t seen_in; /* the take that held this node last */
} rt_share_link;

typedef struct rt_share {
	rt_build *b;
	bool by_place;      /* entries without ids too; how they are shown is no matter then */
	rt_table ids;       /* hash of an id: item of known */
	rt_table contents;  /* hash of everything: node */
	rt_share_id *known;
	size_t known_count, known_room;
	rt_share_link *links; /* one for each node */
	size_t link_room;
	int64_t *path;        /* of the take being read */
	size_t path_count, path_room;
	size_t take_number;
} rt_share;

void rt_share_init(rt_share *share, rt_build *b, bool by_place);
void rt_share_deinit(rt_share *share);
/* After rt_build_discussion, and before each of its takes. */
void rt_share_discussion(rt_share *share);
void rt_share_take(rt_share *share);

/* Add the entry whose body is open in the builder to the end of the take. Views in *node
 * are copied; its parent is set. False: an id that the take holds already, so this entry
 * goes without. Failure is the builder's. */
bool rt_share_add(rt_share *share, rt_node *node);

/* Add a node of the discussion that an earlier take has to the end of the take. False: the
 * take holds it, or another of its id, already, and nothing is added. */
bool rt_share_again(rt_share *share, int64_t node);

/* Give a label to all revisions of an entry; false: there is no such id. */
bool rt_share_label(rt_share *share, rt_str id, rt_str label);

#endif
