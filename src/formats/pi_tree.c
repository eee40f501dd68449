/* SPDX-License-Identifier: MIT
 *
 * The children of every entry: a counting sort by parent keeps file order; runs that are
 * out of order by time are then sorted by it.
 *
 * An entry without a date is equal to every other, so that "sorted" depends on who is
 * compared with whom. Short runs are therefore sorted as pi's JavaScript engine does it,
 * by binary insertion behind what is in order already; long ones by merging. */
#include "formats/pi_impl.h"

enum { SHORT_RUN = 63 };

static bool
is_later(const rt_pi_session *session, size_t a, size_t b)
{
	const rt_pi_entry *x = &session->entries[a], *y = &session->entries[b];

	/* what has no timestamp of its own is neither earlier nor later */
	if (x->ts_from != RT_PI_TS_ENTRY || y->ts_from != RT_PI_TS_ENTRY)
		return false;
	return rt_pi_ms(x->ts) > rt_pi_ms(y->ts);
}

static void
merge(const rt_pi_session *session, const size_t *from, size_t a, size_t b, size_t end, size_t *to)
{
	size_t left = a, right = b, i;

	for (i = a; i < end; i++) {
		if (left < b && (right >= end || !is_later(session, from[left], from[right])))
			to[i] = from[left++];
		else
			to[i] = from[right++];
	}
}

/* Length of the beginning that is in order; one that falls all the way is turned round. */
static size_t
make_start(const rt_pi_session *session, size_t *run, size_t count)
{
	bool falls = is_later(session, run[0], run[1]);
	size_t i, end;

	for (end = 2; end < count; end++)
		if (is_later(session, run[end - 1], run[end]) != falls)
			break;
	for (i = 0; falls && i < end / 2; i++) {
		size_t swap = run[i];

		run[i] = run[end - 1 - i];
		run[end - 1 - i] = swap;
	}
	return end;
}

static void
insert_rest(const rt_pi_session *session, size_t *run, size_t start, size_t count)
{
	size_t i;

	for (i = start; i < count; i++) {
		size_t pivot = run[i], left = 0, right = i;

		while (left < right) {
			size_t middle = left + (right - left) / 2;

			if (is_later(session, run[middle], pivot))
				right = middle;
			else
				left = middle + 1;
		}
		memmove(run + left + 1, run + left, (i - left) * sizeof(*run));
		run[left] = pivot;
	}
}

/* Stable; spare has room for count. */
static void
sort_run(const rt_pi_session *session, size_t *run, size_t count, size_t *spare)
{
	size_t width, i;

	for (i = 1; i < count && !is_later(session, run[i - 1], run[i]); i++)
		;
	if (i >= count)
		return;
	if (count <= SHORT_RUN) {
		insert_rest(session, run, make_start(session, run, count), count);
		return;
	}
	for (width = 1; width < count; width *= 2) {
		for (i = 0; i < count; i += 2 * width) {
			size_t b = i + width < count ? i + width : count;
			size_t end = b + width < count ? b + width : count;

			merge(session, run, i, b, end, spare);
		}
		memcpy(run, spare, count * sizeof(*run));
	}
}

rt_status
rt_pi_tree_init(const rt_alloc *alloc, const rt_pi_session *session, bool by_time, rt_pi_tree *out)
{
	rt_pi_tree tree = {.alloc = alloc, .count = session->entry_count};
	size_t *spare, i;

	tree.first = rt_new_array(alloc, tree.count + 2, sizeof(*tree.first));
	tree.children = rt_new_array(alloc, tree.count, sizeof(*tree.children));
	spare = rt_new_array(alloc, tree.count, sizeof(*spare));
	if (tree.first == NULL || tree.children == NULL || spare == NULL) {
		rt_free(alloc, spare);
		rt_pi_tree_deinit(&tree);
		return RT_NOMEM;
	}
	/* Runs are numbered by parent + 1. Count each behind its own number, add up: now
	 * first[run] is where it begins; filling moves that to where it ends, which is where
	 * the next one begins. */
	memset(tree.first, 0, (tree.count + 2) * sizeof(*tree.first));
	for (i = 0; i < tree.count; i++)
		tree.first[session->entries[i].parent + 2]++;
	for (i = 1; i < tree.count + 2; i++)
		tree.first[i] += tree.first[i - 1];
	for (i = 0; i < tree.count; i++)
		tree.children[tree.first[session->entries[i].parent + 1]++] = i;
	memmove(tree.first + 1, tree.first, (tree.count + 1) * sizeof(*tree.first));
	tree.first[0] = 0;
	for (i = 0; by_time && i < tree.count; i++)
		sort_run(session, tree.children + tree.first[i + 1],
			 tree.first[i + 2] - tree.first[i + 1], spare);
	rt_free(alloc, spare);
	*out = tree;
	return RT_OK;
}

void
rt_pi_tree_deinit(rt_pi_tree *tree)
{
	rt_free(tree->alloc, tree->first);
	rt_free(tree->alloc, tree->children);
	memset(tree, 0, sizeof(*tree));
}

const size_t *
rt_pi_tree_children(const rt_pi_tree *tree, int64_t of, size_t *out_count)
{
	*out_count = tree->first[of + 2] - tree->first[of + 1];
	return tree->children + tree->first[of + 1];
}
