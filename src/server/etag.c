/* SPDX-License-Identifier: MIT */
#include "server/etag.h"

#include <stdio.h>

#include "base/hash.h"

void
rt_etag_disc(uint64_t epoch, const rt_project *project, const rt_disc *disc, char out[RT_ETAG_ROOM])
{
	snprintf(out, RT_ETAG_ROOM, "\"%llx.d%u.%llu.%llu\"", (unsigned long long)epoch,
		 disc->number, (unsigned long long)disc->history.current,
		 (unsigned long long)project->history.current);
}

void
rt_etag_project(uint64_t epoch, const rt_project *project, char out[RT_ETAG_ROOM])
{
	snprintf(out, RT_ETAG_ROOM, "\"%llx.p.%llu\"", (unsigned long long)epoch,
		 (unsigned long long)project->history.current);
}

void
rt_etag_entry(uint64_t epoch, const rt_project *project, const rt_disc *disc, const rt_slot *slot,
	      char out[RT_ETAG_ROOM])
{
	/* What is seen of it, and not where it stands. */
	uint64_t seen[5] = {slot->body, (uint64_t)slot->ts_us,
			    (uint64_t)slot->role << 32 | slot->kind, slot->flags, 0};
	rt_str label;

	/* One that cannot be read now gives a tag that holds for nothing. */
	if (rt_disc_label(project, disc, slot->entry, &label, NULL) != RT_OK)
		seen[4] = UINT64_MAX;
	else if (label.size > 0)
		seen[4] = rt_hash(label.ptr, label.size, 1);

	snprintf(out, RT_ETAG_ROOM, "\"%llx.e.%u.%016llx\"", (unsigned long long)epoch, slot->entry,
		 (unsigned long long)rt_hash(seen, sizeof(seen), 0));
}

/* ---- lists ---- */

/* The next of a list, with its quotes; empty at the end. A weak one is never equal to
 * anything here (RFC 9110, 13.1.1) and comes out with its W/. */
static rt_status
next_etag(rt_str *rest, rt_str *out, rt_error *err)
{
	size_t at = 0, end;

	while (at < rest->size &&
	       (rest->ptr[at] == ' ' || rest->ptr[at] == '\t' || rest->ptr[at] == ','))
		at++;
	*out = rt_str_at(NULL, 0);
	if (at == rest->size) {
		*rest = *out;
		return RT_OK;
	}
	end = at;
	if (rest->size - at > 2 && rest->ptr[at] == 'W' && rest->ptr[at + 1] == '/')
		end = at + 2;
	if (rest->ptr[end] != '"')
		return rt_fail(
			err, RT_USAGE,
			"If-Match is \"*\" or a list of tags in double quotes, as ETag has them");
	for (end++; end < rest->size && rest->ptr[end] != '"';)
		end++;
	if (end == rest->size)
		return rt_fail(err, RT_USAGE, "a tag of If-Match has no closing quote");
	*out = rt_str_at(rest->ptr + at, end + 1 - at);
	*rest = rt_str_at(rest->ptr + end + 1, rest->size - end - 1);
	return RT_OK;
}

/* The entry of a tag of this epoch; 0: it is none. */
static uint32_t
entry_of(rt_str etag, uint64_t epoch)
{
	char begin[RT_ETAG_ROOM];
	uint64_t number = 0;
	size_t at;

	snprintf(begin, sizeof(begin), "\"%llx.e.", (unsigned long long)epoch);
	if (!rt_str_starts(etag, rt_str_of(begin)))
		return 0;
	for (at = strlen(begin); at < etag.size && etag.ptr[at] >= '0' && etag.ptr[at] <= '9';
	     at++) {
		number = number * 10 + (uint64_t)(etag.ptr[at] - '0');
		if (number > UINT32_MAX)
			return 0;
	}
	return (uint32_t)number;
}

static rt_status
slot_of(const rt_project *project, const rt_disc *disc, rt_place place, uint32_t entry,
	rt_slot *out, bool *out_found, rt_error *err)
{
	const rt_take *take = rt_disc_take(disc, place.take != 0 ? place.take : disc->active);
	size_t at;

	*out_found = false;
	return take == NULL ? RT_OK : rt_take_find(project, take, entry, &at, out, out_found, err);
}

rt_status
rt_etag_match(rt_str list, uint64_t epoch, const rt_project *project, rt_place place, rt_str entry,
	      bool is_project, rt_error *err)
{
	char now[RT_ETAG_ROOM], of_project[RT_ETAG_ROOM];
	const rt_disc *disc = NULL;
	uint32_t about = 0, number;
	rt_str etag, rest = list;
	bool found = false, holds = false;
	rt_slot slot;
	rt_status st = rt_project_disc(project, place.disc != 0 ? place.disc : project->active,
				       &disc, err);

	if (st == RT_OK && entry.size > 0)
		st = rt_resolve_entry(project, place, entry, false, &about, err);
	if (st != RT_OK)
		return st == RT_NOT_FOUND
			       ? rt_fail(err, RT_CONFLICT, "what If-Match is about is gone")
			       : st;
	if (rt_str_is(rt_str_trim(list), "*"))
		return RT_OK;
	rt_etag_disc(epoch, project, disc, now);
	rt_etag_project(epoch, project, of_project);
	while (st == RT_OK) {
		st = next_etag(&rest, &etag, err);
		if (st != RT_OK || etag.size == 0)
			break;
		holds = holds || rt_str_is(etag, now) ||
			(is_project && rt_str_is(etag, of_project));
		number = entry_of(etag, epoch);
		/* A tag of another entry says nothing about this one. */
		if (number == 0 || (about != 0 && number != about))
			continue;
		st = slot_of(project, disc, place, number, &slot, &found, err);
		if (st == RT_OK && found) {
			char of_entry[RT_ETAG_ROOM];

			rt_etag_entry(epoch, project, disc, &slot, of_entry);
			holds = holds || rt_str_is(etag, of_entry);
		}
	}
	if (st != RT_OK || holds)
		return st;
	if (about != 0) {
		st = slot_of(project, disc, place, about, &slot, &found, err);
		if (st == RT_OK && found) {
			char of_entry[RT_ETAG_ROOM];

			rt_etag_entry(epoch, project, disc, &slot, of_entry);
			return rt_fail(err, RT_CONFLICT,
				       "If-Match does not hold: the entry is %s now, its discussion %s",
				       of_entry, now);
		}
	}
	return rt_fail(err, RT_CONFLICT,
		       "If-Match does not hold: the discussion is %s now, the project %s", now,
		       of_project);
}
