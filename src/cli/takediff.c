/* SPDX-License-Identifier: MIT
 *
 * The difference between two forms of a take, as requests. What keeps its place among the
 * others is a longest rising run of old positions; the rest moves. New entries are put
 * beside old ones, so that no request needs an id that is not known yet. */
#include "cli/takefile.h"

typedef struct differ {
	const rt_cli_items *was, *now;
	rt_cli_index *old_ids, *new_ids;
	size_t *from; /* of each item of now: where it was, or SIZE_MAX */
	bool *stays;  /* it need not move */
	rt_old_change *change;
	rt_cli_counts *counts;
	rt_error *err;
} differ;

/* Mark a longest rising run of old positions: what is in it keeps its place. */
static rt_status
find_staying(differ *d)
{
	size_t count = d->now->count, length = 0, i;
	size_t *tails = rt_new_array(d->now->alloc, count + 1, sizeof(size_t));
	size_t *before = rt_new_array(d->now->alloc, count + 1, sizeof(size_t));

	for (i = 0; tails != NULL && before != NULL && i < count; i++) {
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
		if (low == length)
			length++;
	}
	if (tails != NULL && before != NULL && length > 0)
		for (i = tails[length - 1]; i != SIZE_MAX; i = before[i])
			d->stays[i] = true;
	i = tails != NULL && before != NULL;
	rt_free(d->now->alloc, tails);
	rt_free(d->now->alloc, before);
	return i ? RT_OK : RT_NOMEM;
}

static rt_status
prepare(differ *d)
{
	size_t count = d->now->count, i;
	rt_status st = rt_cli_index_new(d->was, &d->old_ids);

	if (st == RT_OK)
		st = rt_cli_index_new(d->now, &d->new_ids);
	if (st != RT_OK)
		return st;
	d->from = rt_new_array(d->now->alloc, count + 1, sizeof(size_t));
	d->stays = rt_new_array(d->now->alloc, count + 1, sizeof(bool));
	if (d->from == NULL || d->stays == NULL)
		return RT_NOMEM;
	memset(d->stays, 0, count + 1);
	for (i = 0; i < count; i++) {
		const rt_cli_item *item = &d->now->items[i];

		d->from[i] = SIZE_MAX;
		if (item->id.size == 0)
			continue;
		d->from[i] = rt_cli_index_find(d->old_ids, item->id);
		if (d->from[i] == SIZE_MAX)
			return rt_fail(d->err, RT_USAGE,
				       "line %llu: there is no entry %.*s in this take (a new one "
				       "begins with \"=== + ROLE\")",
				       (unsigned long long)item->line, RT_STR_ARG(item->id));
		if (d->was->items[d->from[i]].locked != item->locked)
			return rt_fail(d->err, RT_USAGE, "line %llu: +locked of entry %.*s must %s",
				       (unsigned long long)item->line, RT_STR_ARG(item->id),
				       item->locked ? "go: it is plain text"
						    : "stay: it is not plain text");
	}
	return find_staying(d);
}

static void
ask_moves(differ *d)
{
	size_t i, previous = SIZE_MAX, first = 0;

	while (first < d->now->count && !d->stays[first])
		first++;
	for (i = 0; i < d->now->count; i++) {
		if (d->from[i] == SIZE_MAX)
			continue;
		if (!d->stays[i]) {
			rt_request move = {.op = RT_OP_ENTRY_MOVE, .entry = d->now->items[i].id};

			if (previous != SIZE_MAX)
				move.after = d->now->items[previous].id;
			else
				move.before = d->now->items[first].id;
			rt_old_change_add(d->change, &move);
			d->counts->moved++;
		}
		previous = i;
	}
}

/* place: an operation, before or after which entry. */
static void
ask_new(differ *d, size_t at, rt_request place)
{
	const rt_cli_item *item = &d->now->items[at];

	place.role = rt_cli_given(item->role);
	place.content.text = rt_cli_given(item->content);
	place.muted = rt_cli_yes_if(item->muted);
	rt_old_change_add(d->change, &place);
	d->counts->added++;
}

/* Runs of new items go before the old one that follows, in order; at the end, behind the
 * last old one, from the last to the first; where all is new, before what goes away. */
static void
ask_inserts(differ *d)
{
	size_t i = 0, j, k, previous = SIZE_MAX;

	while (i < d->now->count) {
		if (d->from[i] != SIZE_MAX) {
			previous = i++;
			continue;
		}
		for (j = i; j < d->now->count && d->from[j] == SIZE_MAX; j++)
			;
		if (j < d->now->count) {
			for (k = i; k < j; k++)
				ask_new(d, k, (rt_request){.op = RT_OP_ENTRY_INSERT,
							   .before = d->now->items[j].id});
		} else if (previous != SIZE_MAX) {
			for (k = j; k > i; k--)
				ask_new(d, k - 1,
					(rt_request){.op = RT_OP_ENTRY_INSERT,
						     .after = d->now->items[previous].id});
		} else {
			for (k = i; k < j; k++)
				ask_new(d, k,
					d->was->count > 0
						? (rt_request){.op = RT_OP_ENTRY_INSERT,
							       .before = d->was->items[0].id}
						: (rt_request){.op = RT_OP_ENTRY_APPEND});
		}
		i = j;
	}
}

static void
ask_edits(differ *d)
{
	size_t i;

	for (i = 0; i < d->now->count; i++) {
		const rt_cli_item *item = &d->now->items[i], *old;

		if (d->from[i] == SIZE_MAX)
			continue;
		old = &d->was->items[d->from[i]];
		if (!old->locked && !rt_str_eq(old->content, item->content)) {
			rt_old_change_add(
				d->change,
				&(rt_request){.op = RT_OP_ENTRY_EDIT,
					      .entry = item->id,
					      .content.text = rt_cli_given(item->content),
					      .keep_blocks = RT_YES});
			d->counts->edited++;
		}
		if (!rt_str_eq(old->role, item->role)) {
			rt_old_change_add(d->change,
					  &(rt_request){.op = RT_OP_ENTRY_ROLE,
							.entry = item->id,
							.role = rt_cli_given(item->role)});
			d->counts->roles++;
		}
		if (old->muted != item->muted) {
			rt_old_change_add(d->change,
					  &(rt_request){.op = RT_OP_ENTRY_MUTE,
							.entry = item->id,
							.muted = rt_cli_yes_no(item->muted)});
			d->counts->muted++;
		}
	}
}

/* One by one: between two of them somebody may have put an entry that is to stay. */
static void
ask_deletes(differ *d)
{
	size_t i;

	for (i = 0; i < d->was->count; i++) {
		if (rt_cli_index_find(d->new_ids, d->was->items[i].id) != SIZE_MAX)
			continue;
		rt_old_change_add(d->change, &(rt_request){.op = RT_OP_ENTRY_DELETE,
							   .entry = d->was->items[i].id});
		d->counts->deleted++;
	}
}

static void
differ_deinit(differ *d)
{
	rt_cli_index_free(d->old_ids);
	rt_cli_index_free(d->new_ids);
	rt_free(d->now->alloc, d->from);
	rt_free(d->now->alloc, d->stays);
}

rt_status
rt_cli_takefile_diff(const rt_cli_items *was, const rt_cli_items *now, rt_old_change *change,
		     rt_cli_counts *out, rt_error *err)
{
	differ d = {.was = was, .now = now, .change = change, .counts = out, .err = err};
	rt_status st;

	memset(out, 0, sizeof(*out));
	st = prepare(&d);
	if (st == RT_OK) {
		ask_moves(&d);
		ask_inserts(&d);
		ask_edits(&d);
		ask_deletes(&d);
		st = change->scope.status;
	}
	if (st == RT_NOMEM)
		(void)rt_fail(err, st, "out of memory");
	differ_deinit(&d);
	return st;
}

static bool
is_same(const rt_cli_item *a, const rt_cli_item *b)
{
	return rt_str_eq(a->content, b->content) && rt_str_eq(a->role, b->role) &&
	       a->muted == b->muted && a->locked == b->locked;
}

rt_status
rt_cli_takefile_fits(const rt_cli_items *was, const rt_cli_items *now, const rt_cli_items *current,
		     rt_error *err)
{
	rt_cli_index *edited = NULL, *present = NULL;
	rt_status st = rt_cli_index_new(now, &edited);
	size_t i;

	if (st == RT_OK)
		st = rt_cli_index_new(current, &present);
	for (i = 0; st == RT_OK && i < was->count; i++) {
		const rt_cli_item *old = &was->items[i];
		size_t mine = rt_cli_index_find(edited, old->id);
		size_t theirs = rt_cli_index_find(present, old->id);

		if (theirs != SIZE_MAX && is_same(old, &current->items[theirs]))
			continue;
		/* They changed it or took it away: then it must be as it was, or gone, here. */
		if (theirs == SIZE_MAX)
			st = rt_fail(err, RT_CONFLICT,
				     "entry %.*s was taken out of the take in the meantime",
				     RT_STR_ARG(old->id));
		else if (mine == SIZE_MAX || !is_same(old, &now->items[mine]))
			st = rt_fail(err, RT_CONFLICT, "entry %.*s was changed in the meantime",
				     RT_STR_ARG(old->id));
	}
	rt_cli_index_free(edited);
	rt_cli_index_free(present);
	return st == RT_NOMEM ? rt_fail(err, st, "out of memory") : st;
}
