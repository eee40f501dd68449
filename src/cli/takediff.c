/* SPDX-License-Identifier: MIT
 *
 * The difference between two forms of a take, as requests. The entries that keep their places are a
 * longest increasing run of old positions; the others move. New entries are put next to old ones,
 * so that no request needs an id that is not known yet. */
#include "cli/takefile.h"

typedef struct differ {
	rt_scope *s;
	const rt_cli_items *was, *now;
	const rt_cli_index *old_ids, *new_ids;
	size_t *from; /* of each item of now: its old position, or SIZE_MAX */
	bool *stays;  /* it need not move */
	rt_cli_requests *out;
	rt_cli_counts counts;
} differ;

static void
add_request(differ *d, size_t *count, rt_request request)
{
	rt_cli_requests_add(d->s, d->out, &request);
	(*count)++;
}

/* Marks a longest increasing run of old positions: its items keep their places. */
static void
find_staying(differ *d)
{
	size_t count = d->now->count, length = 0;
	size_t *tails = rt_scope_array(d->s, count + 1, sizeof(size_t));
	size_t *before = rt_scope_array(d->s, count + 1, sizeof(size_t));

	if (!rt_ok(d->s))
		return;
	for (size_t i = 0; i < count; i++) {
		size_t low = 0, high = length;

		if (d->from[i] == SIZE_MAX)
			continue;
		while (low < high) {
			size_t mid = low + (high - low) / 2;

			if (d->from[tails[mid]] < d->from[i])
				low = mid + 1;
			else
				high = mid;
		}
		before[i] = low > 0 ? tails[low - 1] : SIZE_MAX;
		tails[low] = i;
		length += low == length;
	}
	for (size_t i = length > 0 ? tails[length - 1] : SIZE_MAX; i != SIZE_MAX; i = before[i])
		d->stays[i] = true;
}

static void
match_items(differ *d)
{
	size_t count = d->now->count;

	d->old_ids = rt_cli_index_new(d->was);
	d->new_ids = rt_cli_index_new(d->now);
	d->from = rt_scope_array(d->s, count + 1, sizeof(size_t));
	d->stays = rt_scope_array(d->s, count + 1, sizeof(bool));
	for (size_t i = 0; rt_ok(d->s) && i < count; i++) {
		const rt_cli_item *item = &d->now->items[i];

		d->from[i] = SIZE_MAX;
		if (item->id.size == 0)
			continue;
		d->from[i] = rt_cli_index_find(d->old_ids, item->id);
		if (d->from[i] == SIZE_MAX)
			rt_scope_fail(d->s, RT_USAGE,
				      "line %llu: there is no entry %.*s in this take (a new one "
				      "begins with \"=== + ROLE\")",
				      (unsigned long long)item->line, RT_STR_ARG(item->id));
		else if (d->was->items[d->from[i]].locked != item->locked)
			rt_scope_fail(d->s, RT_USAGE, "line %llu: +locked of entry %.*s must %s",
				      (unsigned long long)item->line, RT_STR_ARG(item->id),
				      item->locked ? "be removed: it is plain text"
						   : "be kept: it is not plain text");
	}
	find_staying(d);
}

static void
add_moves(differ *d)
{
	size_t previous = SIZE_MAX, first = 0;

	while (first < d->now->count && !d->stays[first])
		first++;
	for (size_t i = 0; i < d->now->count; i++) {
		rt_request move = {.op = RT_OP_ENTRY_MOVE, .entry = d->now->items[i].id};

		if (d->from[i] == SIZE_MAX)
			continue;
		if (previous != SIZE_MAX)
			move.after = d->now->items[previous].id;
		else
			move.before = d->now->items[first].id;
		if (!d->stays[i])
			add_request(d, &d->counts.moved, move);
		previous = i;
	}
}

/* place: an operation, and the entry that it goes before or after. */
static void
add_new(differ *d, size_t at, rt_request place)
{
	const rt_cli_item *item = &d->now->items[at];

	place.role = rt_cli_given(item->role);
	place.content.text = rt_cli_given(item->content);
	place.muted = rt_cli_yes_if(item->muted);
	add_request(d, &d->counts.added, place);
}

/* Runs of new items go before the old one that follows, in order; at the end, after the last old
 * one, from the last to the first; if all are new, before the deleted ones. */
static void
add_inserts(differ *d)
{
	const rt_cli_item *was = d->was->items, *now = d->now->items;
	size_t end, previous = SIZE_MAX;

	for (size_t i = 0; i < d->now->count; i = end) {
		rt_request place = {.op = RT_OP_ENTRY_INSERT};

		end = i + 1;
		if (d->from[i] != SIZE_MAX) {
			previous = i;
			continue;
		}
		while (end < d->now->count && d->from[end] == SIZE_MAX)
			end++;
		if (end == d->now->count && previous != SIZE_MAX) {
			place.after = now[previous].id;
			for (size_t k = end; k > i; k--)
				add_new(d, k - 1, place);
			continue;
		}
		if (end < d->now->count)
			place.before = now[end].id;
		else if (d->was->count > 0)
			place.before = was[0].id;
		else
			place.op = RT_OP_ENTRY_APPEND;
		for (size_t k = i; k < end; k++)
			add_new(d, k, place);
	}
}

static void
add_edits(differ *d)
{
	for (size_t i = 0; i < d->now->count; i++) {
		const rt_cli_item *item = &d->now->items[i], *old;

		if (d->from[i] == SIZE_MAX)
			continue;
		old = &d->was->items[d->from[i]];
		if (!old->locked && !rt_str_eq(old->content, item->content))
			add_request(d, &d->counts.edited,
				    (rt_request){.op = RT_OP_ENTRY_EDIT,
						 .entry = item->id,
						 .content.text = rt_cli_given(item->content),
						 .keep_blocks = RT_YES});
		if (!rt_str_eq(old->role, item->role))
			add_request(d, &d->counts.roles,
				    (rt_request){.op = RT_OP_ENTRY_ROLE,
						 .entry = item->id,
						 .role = rt_cli_given(item->role)});
		if (old->muted != item->muted)
			add_request(d, &d->counts.muted,
				    (rt_request){.op = RT_OP_ENTRY_MUTE,
						 .entry = item->id,
						 .muted = rt_cli_yes_no(item->muted)});
	}
}

/* One by one: an entry that has to stay may have been inserted between two of them. */
static void
add_deletes(differ *d)
{
	for (size_t i = 0; i < d->was->count; i++) {
		rt_str id = d->was->items[i].id;

		if (rt_cli_index_find(d->new_ids, id) == SIZE_MAX)
			add_request(d, &d->counts.deleted,
				    (rt_request){.op = RT_OP_ENTRY_DELETE, .entry = id});
	}
}

rt_cli_counts
rt_cli_takefile_diff(const rt_cli_items *was, const rt_cli_items *now, rt_cli_requests *out)
{
	differ d = {.s = now->s, .was = was, .now = now, .out = out};

	match_items(&d);
	if (rt_ok(d.s)) {
		add_moves(&d);
		add_inserts(&d);
		add_edits(&d);
		add_deletes(&d);
	}
	return d.counts;
}

static bool
is_same(const rt_cli_item *a, const rt_cli_item *b)
{
	return rt_str_eq(a->content, b->content) && rt_str_eq(a->role, b->role) &&
	       a->muted == b->muted && a->locked == b->locked;
}

void
rt_cli_takefile_check(const rt_cli_items *was, const rt_cli_items *now, const rt_cli_items *current)
{
	rt_scope *s = now->s;
	const rt_cli_index *edited = rt_cli_index_new(now), *present = rt_cli_index_new(current);

	for (size_t i = 0; rt_ok(s) && i < was->count; i++) {
		const rt_cli_item *old = &was->items[i];
		size_t mine = rt_cli_index_find(edited, old->id);
		size_t theirs = rt_cli_index_find(present, old->id);

		if (theirs != SIZE_MAX && is_same(old, &current->items[theirs]))
			continue;
		/* Others changed or removed it: then it must be unchanged, or deleted, here. */
		if (theirs == SIZE_MAX)
			rt_scope_fail(s, RT_CONFLICT,
				      "entry %.*s was deleted in the meantime",
				      RT_STR_ARG(old->id));
		else if (mine == SIZE_MAX || !is_same(old, &now->items[mine]))
			rt_scope_fail(s, RT_CONFLICT, "entry %.*s was changed in the meantime",
				      RT_STR_ARG(old->id));
	}
}
