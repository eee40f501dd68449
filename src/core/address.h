/* SPDX-License-Identifier: MIT
 *
 * Addresses: resolves names, ids and positions to numbers (C5, C6, C29).
 *
 * Threads: pure functions of immutable values. */
#ifndef RT_CORE_ADDRESS_H
#define RT_CORE_ADDRESS_H

#include "core/id.h"
#include "core/project.h"

/* The discussion and take of a command, by number; 0: the active one. */
typedef struct rt_place {
	uint32_t disc;
	uint32_t take;
} rt_place;

/* Begins an address that is an id even if a discussion or take has such a name, for requests that
 * the program itself makes: RT_BY_ID "d3". No name has this byte, which UTF-8 never contains.
 * JSON is written without it. */
#define RT_BY_ID "\377"

/* Discussions and takes by exact name or id ("d3", "t2"), C29; empty: the active one. */
RT_CHECKED rt_status rt_resolve_place(const rt_project *project, rt_str disc, rt_str take,
				      rt_place *out, rt_error *err);
/* An entry by id, unique prefix, label, "@", ":7", ":-1" (C5, C6). whole: look in the whole
 * discussion, not only in the take. 0 in *out_entry: before the first entry (never with @). */
RT_CHECKED rt_status rt_resolve_entry(const rt_project *project, rt_place place, rt_str address,
				      bool whole, uint32_t *out_entry, rt_error *err);
/* The entry that ever had exactly this id in the discussion; 0: none. */
RT_CHECKED rt_status rt_resolve_vanished(const rt_project *project, uint32_t disc, rt_str id,
					 uint32_t *out_entry, rt_error *err);
/* Number of the take with this exact name or id ("t3"); 0: none. */
uint32_t rt_take_addressed(const rt_disc *disc, rt_str name);

/* The take used for an entry that is not in the current take: the one whose tip it is, else the
 * oldest (C9). */
RT_CHECKED rt_status rt_take_holding(const rt_project *project, const rt_disc *disc, uint32_t entry,
				     uint32_t *out_take, size_t *out_at, rt_error *err);

/* Writes the visible id, NUL-terminated. out has RT_ID_MAX + 1 bytes. */
RT_CHECKED rt_status rt_entry_id(const rt_project *project, uint32_t entry, char *out, rt_error *err);
/* The address without RT_BY_ID. */
rt_str rt_address_shown(rt_str address);
/* RT_BY_ID and a stored id, into out, which has RT_ADDRESS_SIZE bytes. A text that is not an id is
 * returned unchanged. */
enum { RT_ADDRESS_SIZE = 16 };
rt_str rt_address_by_id(rt_str id, char *out);
/* The ids of a place with RT_BY_ID; empty where a number is 0. */
typedef struct rt_place_ids {
	char disc[RT_ADDRESS_SIZE], take[RT_ADDRESS_SIZE];
} rt_place_ids;
rt_place_ids rt_place_ids_of(rt_place place);
/* Appends "d3" or "t3". */
void rt_buf_add_number_id(rt_buf *buf, char letter, uint32_t number);

#endif
