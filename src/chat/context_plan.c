/* SPDX-License-Identifier: MIT
 *
 * Which entries are sent when compactions are on the path.
 *
 *   a b c d e f  S(first_kept d)  g      sent: S d e f g
 *   a b c d e f  S(from b, to d)  g      sent: a S e f g
 *
 * Of the compactions that keep a first entry only the last one is sent, before everything else; the
 * entries before its first kept entry are left out, including other compactions. A range replaces
 * its entries; where ranges overlap, the later compaction gets the overlap. A compaction inside the
 * range of a later one does not count. */
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
	for (size_t i = n; i > 0; i--) {
		const rt_compaction *later = &c[i - 1];

		if (hidden[i - 1] || !is_range(later, count))
			continue;
		for (size_t k = 0; k + 1 < i; k++)
			if (c[k].at >= later->from && c[k].at <= later->to)
				hidden[k] = true;
	}
}

rt_context_steps
rt_context_plan(rt_scope *s, size_t count, const bool *skip, const rt_compaction *c, size_t n)
{
	rt_context_steps steps = {rt_scope_array(s, count + n, sizeof(*steps.items)), 0};
	size_t *owner = rt_scope_array(s, count, sizeof(*owner)); /* of a position: 1 + index */
	bool *hidden = rt_scope_array(s, n, sizeof(*hidden));
	bool *is_sent = rt_scope_array(s, n, sizeof(*is_sent));
	const rt_compaction *front = NULL;
	size_t first = 0;

	if (!rt_ok(s))
		return (rt_context_steps){NULL, 0};
	hide(c, n, count, hidden);
	for (size_t i = n; i > 0 && front == NULL; i--)
		if (!c[i - 1].is_range && !hidden[i - 1])
			front = &c[i - 1];
	if (front != NULL) {
		first = front->first_kept < front->at ? front->first_kept : front->at;
		steps.items[steps.count++] = (rt_context_step){front->at, true, false};
	}
	for (size_t i = n; i > 0; i--) {
		if (hidden[i - 1] || !is_range(&c[i - 1], count) || c[i - 1].at < first)
			continue;
		for (size_t k = c[i - 1].from > first ? c[i - 1].from : first; k <= c[i - 1].to; k++)
			if (owner[k] == NOBODY)
				owner[k] = i;
	}
	for (size_t i = first; i < count; i++) {
		bool kept = front != NULL && i < front->at;
		size_t by = owner[i];

		if (by == NOBODY && !skip[i])
			steps.items[steps.count++] = (rt_context_step){i, false, kept};
		if (by == NOBODY || is_sent[by - 1])
			continue;
		is_sent[by - 1] = true;
		steps.items[steps.count++] = (rt_context_step){c[by - 1].at, true, kept};
	}
	return steps;
}
