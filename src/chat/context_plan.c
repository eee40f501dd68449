/* SPDX-License-Identifier: MIT
 *
 * Which entries are sent when compactions are on the path.
 *
 *   a b c d e f  S(first_kept d)  g      sent: S d e f g
 *   a b c d e f  S(from b, to d)  g      sent: a S e f g
 *
 * Of the compactions that keep a first entry only the last one speaks, in front of all;
 * what is before its first kept entry is gone, other compactions there too. A range stands
 * in the place of its entries; where ranges overlap, the later compaction has what both
 * claim. A compaction inside the range of a later one is as good as not there. */
#include "chat/context_impl.h"

enum { NOBODY = 0 };

static bool
is_range(const rt_compaction *c, size_t count)
{
	return c->is_range && c->from <= c->to && c->to < count;
}

/* hidden[i]: in the range of a later one that is not hidden itself. */
static void
hide(const rt_compaction *c, size_t n, size_t count, bool *hidden)
{
	size_t i, j;

	for (i = n; i > 0; i--) {
		const rt_compaction *later = &c[i - 1];

		if (hidden[i - 1] || !is_range(later, count))
			continue;
		for (j = 0; j + 1 < i; j++)
			if (c[j].at >= later->from && c[j].at <= later->to)
				hidden[j] = true;
	}
}

rt_status
rt_context_plan(const rt_alloc *alloc, size_t count, const bool *skip, const rt_compaction *c,
		size_t n, rt_context_step **out_steps, size_t *out_count)
{
	rt_context_step *steps = rt_new_array(alloc, count + n, sizeof(*steps));
	uint32_t *owner = rt_new_array(alloc, count, sizeof(*owner));
	bool *hidden = rt_new_array(alloc, n, sizeof(*hidden));
	const rt_compaction *front = NULL;
	size_t first = 0, sent = 0, i, j;

	if (steps == NULL || owner == NULL || hidden == NULL) {
		rt_free(alloc, steps);
		rt_free(alloc, owner);
		rt_free(alloc, hidden);
		return RT_NOMEM;
	}
	memset(owner, 0, count * sizeof(*owner));
	memset(hidden, 0, n * sizeof(*hidden));
	hide(c, n, count, hidden);
	for (i = n; i > 0 && front == NULL; i--)
		if (!c[i - 1].is_range && !hidden[i - 1])
			front = &c[i - 1];
	if (front != NULL) {
		first = front->first_kept < front->at ? front->first_kept : front->at;
		steps[sent++] = (rt_context_step){front->at, true, false};
	}
	for (i = n; i > 0; i--) {
		if (hidden[i - 1] || !is_range(&c[i - 1], count) || c[i - 1].at < first)
			continue;
		for (j = c[i - 1].from > first ? c[i - 1].from : first; j <= c[i - 1].to; j++)
			if (owner[j] == NOBODY)
				owner[j] = (uint32_t)i;
	}
	memset(hidden, 0, n * sizeof(*hidden)); /* from here on: has spoken */
	for (i = first; i < count; i++) {
		bool kept = front != NULL && i < front->at;

		if (owner[i] == NOBODY) {
			if (!skip[i])
				steps[sent++] = (rt_context_step){i, false, kept};
		} else if (!hidden[owner[i] - 1]) {
			hidden[owner[i] - 1] = true;
			steps[sent++] = (rt_context_step){c[owner[i] - 1].at, true, kept};
		}
	}
	rt_free(alloc, owner);
	rt_free(alloc, hidden);
	*out_steps = steps;
	*out_count = sent;
	return RT_OK;
}
