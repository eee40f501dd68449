/* SPDX-License-Identifier: MIT
 *
 * Order of the results of a search, and the fusion of those of words and of meaning. */
#include "view/search_impl.h"

#include <stdlib.h> /* qsort */

/* Added to a rank: the first ones count little more than the next ones. */
enum { FUSED_RANK = 60 };

int
rt_scored_compare(const void *a, const void *b)
{
	const rt_scored *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return (x->body < y->body) - (x->body > y->body);
}

static bool
is_same_entry(const rt_scored *a, const rt_scored *b)
{
	return a->hit.disc == b->hit.disc && a->hit.entry == b->hit.entry;
}

/* By entry; those of one entry stay in their order. */
static int
by_entry(const void *a, const void *b)
{
	const rt_scored *x = *(const rt_scored *const *)a, *y = *(const rt_scored *const *)b;

	if (x->hit.disc != y->hit.disc)
		return x->hit.disc < y->hit.disc ? -1 : 1;
	if (x->hit.entry != y->hit.entry)
		return x->hit.entry < y->hit.entry ? -1 : 1;
	return (x > y) - (x < y);
}

rt_scored *
rt_scored_fuse(rt_scope *s, rt_scored *all, size_t near, size_t count, size_t *out_count)
{
	const rt_scored **items = rt_scope_array(s, count + 1, sizeof(*items));
	rt_scored *found = rt_scope_array(s, count + 1, sizeof(*found));
	size_t found_count = 0;

	*out_count = 0;
	if (!rt_ok(s))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		all[i].score = 1.0 / (double)(FUSED_RANK + 1 + (i < near ? i : i - near));
		items[i] = &all[i];
	}
	qsort(items, count, sizeof(*items), by_entry);
	for (size_t i = 0, next; i < count; i = next) {
		rt_scored *f = &found[found_count++];
		bool is_near = items[i] < all + near;

		*f = *items[i];
		for (next = i + 1; next < count && is_same_entry(items[next], f); next++) {
			const rt_scored *other = items[next];

			if (!is_near || other < all + near)
				continue; /* another version of the text, with a lower rank */
			is_near = false;
			f->score += other->score;
			f->body = other->body; /* its snippet shows the words */
			f->hit.snippet = other->hit.snippet;
			f->hit.is_past = other->hit.is_past;
		}
	}
	if (found_count > 1)
		qsort(found, found_count, sizeof(*found), rt_scored_compare);
	*out_count = found_count;
	return found;
}
