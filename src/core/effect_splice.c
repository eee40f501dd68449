/* SPDX-License-Identifier: MIT
 *
 * Applying a splice: slots with their names, the ledger's entries and given ids, and order keys.
 *
 * Order keys: every slot of a take has a key, and keys increase. An entry gets its home key when
 * it first appears, and has it in every take where it fits between the neighbours; elsewhere the
 * take's `moved` map holds its key. New keys come from the gap between the neighbours; when a gap
 * is used up, the slots around it are redistributed over a wider range (rekey), at an amortised
 * cost of O(1). */
#include "core/effect_impl.h"
#include "core/role.h"

#define KEY_STEP ((uint64_t)1 << 36) /* between appended slots */
#define KEY_NEAR ((uint64_t)1 << 24) /* at most this far after the left neighbour */
#define KEY_ROOM ((uint64_t)1 << 12) /* a stretch is wide enough with this much per slot */

/* ---- names ---- */

static rt_status
name_number(rt_effect_draft *d, rt_str name, uint16_t *out, rt_error *err)
{
	uint32_t number = 0;
	rt_status st = RT_OK;

	if (name.size > 0)
		st = rt_strs_intern(d->project->ledger->names, name, &number, err);
	if (st == RT_OK && number > UINT16_MAX)
		return rt_fail(err, RT_LIMIT, "more than %d different roles and kinds",
			       UINT16_MAX);
	*out = (uint16_t)number;
	return st;
}

/* ---- splice ---- */

/* The new slots, still without keys; registers new entries. */
static rt_status
slots_of(rt_effect_draft *d, const rt_effect_slot *from, size_t count, rt_slot *out, rt_error *err)
{
	rt_str last_role = {NULL, 0}, last_kind = {NULL, 0};
	uint16_t role = 0, kind = 0;
	size_t i;
	rt_status st;

	for (i = 0; i < count; i++) {
		out[i] = from[i].slot;
		out[i].key = 0;
		if (i == 0 || !rt_str_eq(from[i].role, last_role)) {
			st = name_number(d, from[i].role, &role, err);
			if (st != RT_OK)
				return st;
			last_role = from[i].role;
		}
		if (i == 0 || !rt_str_eq(from[i].kind, last_kind)) {
			st = name_number(d, from[i].kind, &kind, err);
			if (st != RT_OK)
				return st;
			last_kind = from[i].kind;
		}
		out[i].role = role;
		out[i].kind = kind;
		out[i].flags &= ~(uint32_t)RT_SLOT_TURN;
		if (rt_role_is_user(from[i].role))
			out[i].flags |= RT_SLOT_TURN;
		if (out[i].entry == 0)
			return rt_fail(err, RT_CORRUPT, "the log refers to entry 0");
		if (out[i].entry >= d->project->next_entry) {
			if (out[i].entry >= RT_HEAD_TIP - 1)
				return rt_fail(err, RT_LIMIT, "too many entries");
			d->project->next_entry = out[i].entry + 1;
		}
		if (out[i].body >= d->project->next_body)
			d->project->next_body = out[i].body + 1;
	}
	return RT_OK;
}

/* Append the run of new entries to the ledger. */
static rt_status
learn_run(rt_effect_draft *d, const rt_slot *run, size_t *pending, rt_error *err)
{
	const rt_seq *next;
	rt_status st;

	if (*pending == 0)
		return RT_OK;
	st = rt_seq_splice(d->project->entries, rt_seq_count(d->project->entries), 0, run,
			   *pending, &next, err);
	if (st != RT_OK)
		return st;
	rt_seq_unref(d->project->entries);
	d->project->entries = next;
	*pending = 0;
	return RT_OK;
}

/* Owners of given ids that are not in the ledger yet; ids have increasing numbers. */
typedef struct owner_run {
	rt_slot slots[64];
	size_t count;
} owner_run;

static rt_status
learn_owners(rt_effect_draft *d, owner_run *run, rt_error *err)
{
	const rt_seq *owners = d->project->owners, *next;
	rt_slot last = {0};
	size_t i;
	rt_status st = RT_OK;

	if (run->count == 0)
		return RT_OK;
	if (rt_seq_count(owners) > 0)
		st = rt_seq_get(owners, rt_seq_count(owners) - 1, &last, err);
	if (st != RT_OK)
		return st;
	if (run->slots[0].key > last.key) {
		st = rt_seq_splice(owners, rt_seq_count(owners), 0, run->slots, run->count, &next,
				   err);
		if (st != RT_OK)
			return st;
		rt_seq_unref(owners);
		d->project->owners = next;
	} else {
		for (i = 0; st == RT_OK && i < run->count; i++)
			st = rt_effect_pair_set(&d->project->owners, run->slots[i], err);
	}
	run->count = 0;
	return st;
}

/* Records the owner of a given id. */
static rt_status
learn_id(rt_effect_draft *d, owner_run *run, rt_str id, rt_slot *home, rt_error *err)
{
	rt_slot owner = {0};
	uint32_t number;
	rt_status st = rt_strs_intern(d->project->ledger->ids, id, &number, err);

	if (st != RT_OK)
		return st;
	home->ts_us = number;
	owner.key = (uint64_t)number << 32 | home->key;
	owner.entry = (uint32_t)home->key;
	if (run->count == 64 ||
	    (run->count > 0 && owner.key <= run->slots[run->count - 1].key)) {
		st = learn_owners(d, run, err);
		if (st != RT_OK)
			return st;
	}
	run->slots[run->count++] = owner;
	return RT_OK;
}

/* Assigns home keys and ids to new entries; in runs, since new entries have increasing numbers. */
static rt_status
learn(rt_effect_draft *d, const rt_effect_slot *from, const rt_slot *slots, size_t count,
      rt_error *err)
{
	rt_slot run[64], last;
	owner_run owners = {.count = 0};
	size_t i, pending = 0, at;
	uint64_t end = 0; /* the highest entry known */
	rt_status st = RT_OK;

	if (rt_seq_count(d->project->entries) > 0) {
		st = rt_seq_get(d->project->entries, rt_seq_count(d->project->entries) - 1, &last,
				err);
		end = last.key;
	}
	for (i = 0; st == RT_OK && i < count; i++) {
		rt_slot home = {0};
		bool found;

		home.key = slots[i].entry;
		home.body = slots[i].key;
		home.entry = d->disc->number;
		if (slots[i].entry <= end) {
			st = learn_run(d, run, &pending, err);
			if (st == RT_OK)
				st = rt_seq_find(d->project->entries, home.key, &at, &found, NULL,
						 err);
			if (st != RT_OK || found)
				continue;
			if (from[i].id.size > 0)
				st = learn_id(d, &owners, from[i].id, &home, err);
			if (st == RT_OK)
				st = rt_effect_pair_set(&d->project->entries, home, err);
			continue;
		}
		if (from[i].id.size > 0)
			st = learn_id(d, &owners, from[i].id, &home, err);
		run[pending++] = home;
		end = home.key;
		if (st == RT_OK && pending == sizeof(run) / sizeof(run[0]))
			st = learn_run(d, run, &pending, err);
	}
	if (st == RT_OK)
		st = learn_run(d, run, &pending, err);
	if (st == RT_OK)
		st = learn_owners(d, &owners, err);
	return st;
}

/* Keys for count new slots between left and right (0: none on that side). False when the
 * gap is too small. Home keys are used where they fit. */
static bool
assign(rt_effect_draft *d, rt_slot *slots, size_t count, uint64_t left, uint64_t right,
       bool open_end, rt_error *err, rt_status *st)
{
	uint64_t prev = left;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t left_over = count - i, step, end = open_end ? UINT64_MAX : right;
		rt_slot home;
		bool found = false;

		if (slots[i].entry < d->project->next_entry &&
		    rt_seq_count(d->project->entries) > 0) {
			*st = rt_project_entry(d->project, slots[i].entry, &home, &found, err);
			if (*st != RT_OK)
				return false;
			if (found && home.body > prev && home.body < end &&
			    end - home.body > left_over) {
				slots[i].key = prev = home.body;
				continue;
			}
		}
		if (end - prev <= left_over)
			return false;
		step = (end - prev) / (left_over + 1);
		if (open_end && step > KEY_STEP)
			step = KEY_STEP;
		else if (!open_end && step > KEY_NEAR)
			step = KEY_NEAR;
		if (step == 0)
			return false;
		prev += step;
		slots[i].key = prev;
	}
	return true;
}

/* Records the keys that differ from the home keys. */
static rt_status
note_moved(rt_effect_draft *d, const rt_slot *slots, size_t count, rt_error *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		rt_slot home, pair;
		bool found;
		rt_status st = rt_project_entry(d->project, slots[i].entry, &home, &found, err);

		if (st != RT_OK)
			return st;
		RT_ASSERT(found);
		if (home.body == slots[i].key) {
			if (rt_seq_count(d->take->moved) > 0)
				st = rt_effect_pair_drop(&d->take->moved, slots[i].entry, err);
		} else {
			memset(&pair, 0, sizeof(pair));
			pair.key = slots[i].entry;
			pair.body = slots[i].key;
			st = rt_effect_pair_set(&d->take->moved, pair, err);
		}
		if (st != RT_OK)
			return st;
	}
	return RT_OK;
}

/* The gap at `at` is used up: redistributes the slots around it, with the new ones in place of
 * `removed`, over a range that has space. */
static rt_status
rekey(rt_effect_draft *d, size_t at, size_t removed, const rt_effect_slot *from, rt_slot *slots,
      size_t count, rt_error *err)
{
	const rt_seq *seq = d->take->slots, *next;
	const rt_alloc *alloc = d->project->object.alloc;
	size_t have = rt_seq_count(seq), wing = 32, a, b, i, n;
	uint64_t left = 0, right = 0;
	rt_slot *all = NULL, edge;
	rt_status st;

	for (;; wing *= 2) {
		a = at > wing ? at - wing : 0;
		b = have - (at + removed) > wing ? at + removed + wing : have;
		left = 0;
		right = UINT64_MAX;
		if (a > 0) {
			st = rt_seq_get(seq, a - 1, &edge, err);
			if (st != RT_OK)
				return st;
			left = edge.key;
		}
		if (b < have) {
			st = rt_seq_get(seq, b, &edge, err);
			if (st != RT_OK)
				return st;
			right = edge.key;
		}
		n = (b - a) - removed + count;
		if ((right - left) / (n + 1) >= KEY_ROOM || (a == 0 && b == have))
			break;
	}
	all = rt_new_array(alloc, n, sizeof(*all));
	if (all == NULL)
		return rt_effect_nomem(err);
	st = rt_seq_copy(seq, a, at - a, all, err);
	if (st == RT_OK && count > 0)
		memcpy(all + (at - a), slots, count * sizeof(*slots));
	if (st == RT_OK)
		st = rt_seq_copy(seq, at + removed, b - at - removed, all + (at - a) + count, err);
	if (st == RT_OK) {
		uint64_t step = (right - left) / (n + 1);

		if (step > KEY_STEP)
			step = KEY_STEP;
		RT_ASSERT(step > 0);
		for (i = 0; i < n; i++)
			all[i].key = left + (i + 1) * step;
		for (i = 0; i < count; i++)
			slots[i].key = all[at - a + i].key;
		st = learn(d, from, slots, count, err);
	}
	if (st == RT_OK)
		st = note_moved(d, all, n, err);
	if (st == RT_OK)
		st = rt_seq_splice(seq, a, b - a, all, n, &next, err);
	rt_free(alloc, all);
	if (st != RT_OK)
		return st;
	rt_seq_unref(d->take->slots);
	d->take->slots = next;
	return RT_OK;
}

rt_status
rt_effect_splice(rt_effect_draft *d, const rt_effect *e, bool back, rt_error *err)
{
	const rt_effect_slot *old = back ? e->added : e->removed;
	const rt_effect_slot *fresh = back ? e->removed : e->added;
	size_t old_count = back ? e->added_count : e->removed_count;
	size_t count = back ? e->removed_count : e->added_count, have, i;
	const rt_alloc *alloc = d->project->object.alloc;
	rt_slot few[4], *was = few, *slots = few + 2, *heap = NULL;
	const rt_seq *next = NULL;
	size_t at = (size_t)e->at;
	bool same = old_count == count, open_end;
	uint64_t left = 0, right = 0;
	rt_slot edge;
	rt_status st = rt_effect_draft_take(d, e->sub, err);

	if (st != RT_OK)
		return st;
	have = rt_seq_count(d->take->slots);
	if (e->at > have || old_count > have - at)
		return rt_fail(err, RT_CORRUPT, "an effect reaches beyond take t%u of d%u", e->sub,
			       e->disc);
	if (old_count > 2 || count > 2) {
		heap = rt_new_array(alloc, old_count + count + 1, sizeof(*heap));
		if (heap == NULL)
			return rt_effect_nomem(err);
		was = heap;
		slots = heap + old_count;
	}
	st = rt_seq_copy(d->take->slots, at, old_count, was, err);
	for (i = 0; st == RT_OK && i < old_count; i++) {
		if (was[i].entry != old[i].slot.entry || was[i].body != old[i].slot.body)
			st = rt_fail(err, RT_CORRUPT,
				     "an effect expects entry %u at %zu of take t%u of d%u and "
				     "finds %u",
				     old[i].slot.entry, at + i, e->sub, e->disc, was[i].entry);
		same = same && old[i].slot.entry == fresh[i].slot.entry;
	}
	if (st == RT_OK)
		st = slots_of(d, fresh, count, slots, err);
	if (st != RT_OK)
		goto done;
	if (same) { /* the same entries, changed: they keep their keys */
		for (i = 0; i < count; i++)
			slots[i].key = was[i].key;
		st = rt_seq_splice(d->take->slots, at, old_count, slots, count, &next, err);
		goto done;
	}
	if (count == 0) {
		st = rt_seq_splice(d->take->slots, at, old_count, NULL, 0, &next, err);
		goto done;
	}
	if (at > 0) {
		st = rt_seq_get(d->take->slots, at - 1, &edge, err);
		if (st != RT_OK)
			goto done;
		left = edge.key;
	}
	open_end = at + old_count == have;
	if (!open_end) {
		st = rt_seq_get(d->take->slots, at + old_count, &edge, err);
		if (st != RT_OK)
			goto done;
		right = edge.key;
	}
	if (assign(d, slots, count, left, right, open_end, err, &st)) {
		st = learn(d, fresh, slots, count, err);
		if (st == RT_OK)
			st = note_moved(d, slots, count, err);
		if (st == RT_OK)
			st = rt_seq_splice(d->take->slots, at, old_count, slots, count, &next, err);
	} else if (st == RT_OK) {
		st = rekey(d, at, old_count, fresh, slots, count, err);
	}
done:
	rt_free(alloc, heap);
	if (next != NULL && st == RT_OK) {
		rt_seq_unref(d->take->slots);
		d->take->slots = next;
	}
	return st;
}
