/* SPDX-License-Identifier: MIT */
#include "app/condition.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/scope.h"

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

uint64_t
rt_entry_fingerprint(const rt_project *project, const rt_disc *disc, const rt_slot *slot)
{
	uint64_t seen[5] = {slot->body, (uint64_t)slot->ts_us,
			    (uint64_t)slot->role << 32 | slot->kind, slot->flags, 0};
	rt_str label;

	/* a label that cannot be read differs from every other one */
	if (rt_disc_label(project, disc, slot->entry, &label, NULL) != RT_OK)
		seen[4] = UINT64_MAX;
	else if (label.size > 0)
		seen[4] = rt_hash(label.ptr, label.size, 1);
	return rt_hash(seen, sizeof(seen), 0);
}

void
rt_etag_entry(uint64_t epoch, const rt_project *project, const rt_disc *disc, const rt_slot *slot,
	      char out[RT_ETAG_ROOM])
{
	snprintf(out, RT_ETAG_ROOM, "\"%llx.e.%u.%016llx\"", (unsigned long long)epoch, slot->entry,
		 (unsigned long long)rt_entry_fingerprint(project, disc, slot));
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
			"If-Match must be \"*\" or a list of tags in double quotes, as in ETag");
	for (end++; end < rest->size && rest->ptr[end] != '"';)
		end++;
	if (end == rest->size)
		return rt_fail(err, RT_USAGE, "a tag in If-Match has no closing quote");
	*out = rt_str_at(rest->ptr + at, end + 1 - at);
	*rest = rt_str_at(rest->ptr + end + 1, rest->size - end - 1);
	return RT_OK;
}

/* The entry of a tag of this epoch; 0: not such a tag. */
static uint32_t
entry_of(rt_str etag, uint64_t epoch)
{
	char begin[RT_ETAG_ROOM];
	uint64_t number = 0;

	snprintf(begin, sizeof(begin), "\"%llx.e.", (unsigned long long)epoch);
	if (!rt_str_starts(etag, rt_str_of(begin)))
		return 0;
	for (size_t at = strlen(begin);
	     at < etag.size && etag.ptr[at] >= '0' && etag.ptr[at] <= '9'; at++) {
		number = number * 10 + (uint64_t)(etag.ptr[at] - '0');
		if (number > UINT32_MAX)
			return 0;
	}
	return (uint32_t)number;
}

/* The tag of an entry in the take of a place; empty: it is not in it. */
static void
tag_entry(rt_scope *s, uint64_t epoch, const rt_project *project, const rt_disc *disc,
	  rt_place place, uint32_t entry, char out[RT_ETAG_ROOM])
{
	const rt_take *take = rt_disc_take(disc, place.take != 0 ? place.take : disc->active);
	bool is_found = false;
	rt_slot slot;
	size_t at;

	out[0] = '\0';
	if (take == NULL)
		return;
	RT_TRY(s, rt_take_find(project, take, entry, &at, &slot, &is_found, &s->error));
	if (is_found)
		rt_etag_entry(epoch, project, disc, &slot, out);
}

/* Fails with RT_CONFLICT unless one of the tags holds. */
static void
check_tags(rt_scope *s, const rt_condition *c, const rt_project *now)
{
	char of_disc[RT_ETAG_ROOM], of_project[RT_ETAG_ROOM], of_entry[RT_ETAG_ROOM] = "";
	rt_store *store = rt_engine_store(c->engine);
	bool is_project = c->disc.size == 0 && c->entry.size == 0, holds = false;
	const rt_disc *disc = NULL;
	rt_place place = {0, 0};
	rt_str tag = {NULL, 1}, rest = c->tags;
	uint64_t epoch = 0;
	uint32_t about = 0;

	RT_TRY(s, store->ops->epoch(store, &epoch, &s->error));
	RT_TRY(s, rt_resolve_place(now, c->disc, c->take, &place, &s->error));
	if (!rt_ok(s))
		return;
	RT_TRY(s, rt_project_disc(now, place.disc != 0 ? place.disc : now->active, &disc,
				  &s->error));
	if (c->entry.size > 0)
		RT_TRY(s, rt_resolve_entry(now, place, c->entry, false, &about, &s->error));
	if (s->status == RT_NOT_FOUND)
		s->status = rt_fail(&s->error, RT_CONFLICT, "the target of If-Match no longer "
							    "exists");
	if (!rt_ok(s) || rt_str_is(rt_str_trim(c->tags), "*"))
		return;
	rt_etag_disc(epoch, now, disc, of_disc);
	rt_etag_project(epoch, now, of_project);
	while (rt_ok(s) && tag.size > 0) {
		RT_TRY(s, next_etag(&rest, &tag, &s->error));
		uint32_t number = rt_ok(s) ? entry_of(tag, epoch) : 0;
		holds = holds || rt_str_is(tag, of_disc) ||
			(is_project && rt_str_is(tag, of_project));
		/* A tag of another entry does not count for this one. */
		if (number == 0 || (about != 0 && number != about))
			continue;
		tag_entry(s, epoch, now, disc, place, number, of_entry);
		holds = holds || rt_str_is(tag, of_entry);
	}
	if (!rt_ok(s) || holds)
		return;
	if (about != 0)
		tag_entry(s, epoch, now, disc, place, about, of_entry);
	if (about != 0 && of_entry[0] != '\0')
		rt_scope_fail(s, RT_CONFLICT,
			      "If-Match failed: the entry is now %s, its discussion %s",
			      of_entry, of_disc);
	rt_scope_fail(s, RT_CONFLICT,
		      "If-Match failed: the discussion is now %s, the project %s", of_disc,
		      of_project);
}

static void
check_list(rt_scope *s, rt_condition *c, const rt_project *now)
{
	size_t count = rt_seq_count(c->list->slots), differ = count;
	const rt_disc *disc = NULL;
	rt_place at = {0, 0};

	RT_TRY(s, rt_resolve_place(now, c->disc, c->take, &at, &s->error));
	RT_TRY(s, rt_project_disc(now, at.disc, &disc, &s->error));
	if (!rt_ok(s))
		return;
	const rt_take *take = rt_disc_take(disc, at.take != 0 ? at.take : disc->active);
	bool is_same = at.disc == c->list_disc && take->number == c->list->number;
	if (is_same && take->slots != c->list->slots)
		RT_TRY(s, rt_seq_differ(take->slots, c->list->slots, 0, &differ, &s->error));
	if (!rt_ok(s) || (is_same && rt_seq_count(take->slots) == count && differ >= count))
		return;
	c->is_list_outdated = true;
	rt_scope_fail(s, RT_CONFLICT, "the list was changed by another program or window");
}

rt_status
rt_condition_check(void *condition, const rt_project *now, rt_error *err)
{
	rt_condition *c = condition;
	rt_scope s;

	rt_scope_init(&s, rt_engine_alloc(c->engine));
	c->is_list_outdated = false;
	if (c->tags.ptr != NULL)
		check_tags(&s, c, now);
	if (c->list != NULL && rt_ok(&s))
		check_list(&s, c, now);
	return rt_scope_end(&s, err);
}
