/* SPDX-License-Identifier: MIT
 *
 * ETag: ETags (RFC 9110, 8.8.3). A tag names the state that was read; an equal tag is an equal
 * state, in this store's present history (the epoch is in it).
 *
 *   "9f3a6c01.d1.42.40"       a discussion: the steps that are current in it and in the
 *                             project, whose settings, roles and names it is shown with
 *   "9f3a6c01.p.40"           the project's own things: settings, roles, the catalogue; holds for
 *                             requests that are about these and name no discussion
 *   "9f3a6c01.e.7.9b1f…"      an entry as a take shows it: its number, a hash of the slot and
 *                             the label
 *
 * How an entry is shown (collapsed, read mode) is not history and not in a tag.
 *
 * Threads: any. */
#ifndef RT_SERVER_ETAG_H
#define RT_SERVER_ETAG_H

#include "log/engine.h"

enum { RT_ETAG_ROOM = 96 };

void rt_etag_disc(uint64_t epoch, const rt_project *project, const rt_disc *disc,
		  char out[RT_ETAG_ROOM]);
void rt_etag_project(uint64_t epoch, const rt_project *project, char out[RT_ETAG_ROOM]);
void rt_etag_entry(uint64_t epoch, const rt_project *project, const rt_disc *disc,
		   const rt_slot *slot, char out[RT_ETAG_ROOM]);

/* Does the list of an If-Match header hold for this value? entry may be empty: the request is
 * about none; is_project: it is about the project's own things. RT_CONFLICT, with what has changed in words; RT_USAGE: not a list of tags. "*"
 * holds when the thing is there. */
RT_CHECKED rt_status rt_etag_match(rt_str list, uint64_t epoch, const rt_project *project,
				   rt_place place, rt_str entry, bool is_project, rt_error *err);

#endif
