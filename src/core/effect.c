/* SPDX-License-Identifier: MIT
 *
 * Applying effects.
 *
 * Order keys: every slot of a take has a key, and keys increase. An entry gets its home key when
 * it first appears, and has it in every take where it fits between the neighbours; elsewhere the
 * take's `moved` map holds its key. New keys come from the gap between the neighbours; when a gap
 * is used up, the slots around it are redistributed over a wider range (rekey), at an amortised
 * cost of O(1). */
#include "core/effect.h"

#include <stdlib.h> /* strtoull */

#define KEY_STEP ((uint64_t)1 << 36) /* between appended slots */
#define KEY_NEAR ((uint64_t)1 << 24) /* at most this far after the left neighbour */
#define KEY_ROOM ((uint64_t)1 << 12) /* a stretch is wide enough with this much per slot */

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- pairs: sequences used as maps ---- */

static rt_status
pair_set(const rt_seq **map, rt_slot pair, rt_error *err)
{
	const rt_seq *next;
	bool found;
	size_t at;
	rt_status st = rt_seq_find(*map, pair.key, &at, &found, NULL, err);

	if (st == RT_OK)
		st = rt_seq_splice(*map, at, found, &pair, 1, &next, err);
	if (st != RT_OK)
		return st;
	rt_seq_unref(*map);
	*map = next;
	return RT_OK;
}

static rt_status
pair_drop(const rt_seq **map, uint64_t key, rt_error *err)
{
	const rt_seq *next;
	bool found;
	size_t at;
	rt_status st = rt_seq_find(*map, key, &at, &found, NULL, err);

	if (st != RT_OK || !found)
		return st;
	st = rt_seq_splice(*map, at, 1, NULL, 0, &next, err);
	if (st != RT_OK)
		return st;
	rt_seq_unref(*map);
	*map = next;
	return RT_OK;
}

/* ---- the draft that an effect changes ---- */

typedef struct draft {
	rt_project *project;
	rt_disc *disc; /* NULL in the project's document */
	rt_take *take; /* NULL unless one is changed */
} draft;

static void
draft_deinit(draft *d)
{
	rt_object_unref(d->take);
	rt_object_unref(d->disc);
	rt_object_unref(d->project);
	memset(d, 0, sizeof(*d));
}

static rt_status
draft_open(draft *d, const rt_project *project, uint32_t disc_number, rt_error *err)
{
	const rt_disc *disc;
	rt_status st;

	memset(d, 0, sizeof(*d));
	if (rt_project_copy(project, &d->project) != RT_OK)
		return nomem(err);
	if (disc_number == 0)
		return RT_OK;
	st = rt_project_disc(project, disc_number, &disc, err);
	if (st == RT_NOT_FOUND)
		return rt_fail(err, RT_CORRUPT, "the log names discussion d%u, which does not exist",
			       disc_number);
	if (st == RT_OK && rt_disc_copy(disc, &d->disc) != RT_OK)
		st = nomem(err);
	return st;
}

static rt_status
draft_take(draft *d, uint32_t number, rt_error *err)
{
	const rt_take *take = rt_disc_take(d->disc, number);

	if (take == NULL)
		return rt_fail(err, RT_CORRUPT, "the log names take t%u of d%u, which does not exist",
			       number, d->disc->number);
	return rt_take_copy(take, &d->take) == RT_OK ? RT_OK : nomem(err);
}

/* Stores the changed take and discussion in the project and returns it. */
static rt_status
draft_close(draft *d, const rt_project **out, rt_error *err)
{
	if (d->take != NULL) {
		const rt_vec *takes;

		d->take->row = d->project->seq + 1;
		if (rt_vec_set(d->disc->takes, d->take->number - 1, d->take, &takes) != RT_OK)
			return nomem(err);
		rt_object_unref(d->disc->takes);
		d->disc->takes = takes;
	}
	if (d->disc != NULL && rt_project_set_disc(d->project, d->disc) != RT_OK)
		return nomem(err);
	*out = d->project;
	d->project = NULL;
	return RT_OK;
}

/* ---- names ---- */

static bool
is_user(rt_str role)
{
	return rt_str_eq_nocase(role, RT_STR("user"));
}

static rt_status
name_number(draft *d, rt_str name, uint16_t *out, rt_error *err)
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
slots_of(draft *d, const rt_effect_slot *from, size_t count, rt_slot *out, rt_error *err)
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
		if (is_user(from[i].role))
			out[i].flags |= RT_SLOT_TURN;
		if (out[i].entry == 0)
			return rt_fail(err, RT_CORRUPT, "the log names entry 0");
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
learn_run(draft *d, const rt_slot *run, size_t *pending, rt_error *err)
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
learn_owners(draft *d, owner_run *run, rt_error *err)
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
			st = pair_set(&d->project->owners, run->slots[i], err);
	}
	run->count = 0;
	return st;
}

/* Records the owner of a given id. */
static rt_status
learn_id(draft *d, owner_run *run, rt_str id, rt_slot *home, rt_error *err)
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
learn(draft *d, const rt_effect_slot *from, const rt_slot *slots, size_t count, rt_error *err)
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
				st = pair_set(&d->project->entries, home, err);
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
assign(draft *d, rt_slot *slots, size_t count, uint64_t left, uint64_t right, bool open_end,
       rt_error *err, rt_status *st)
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
note_moved(draft *d, const rt_slot *slots, size_t count, rt_error *err)
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
				st = pair_drop(&d->take->moved, slots[i].entry, err);
		} else {
			memset(&pair, 0, sizeof(pair));
			pair.key = slots[i].entry;
			pair.body = slots[i].key;
			st = pair_set(&d->take->moved, pair, err);
		}
		if (st != RT_OK)
			return st;
	}
	return RT_OK;
}

/* The gap at `at` is used up: redistributes the slots around it, with the new ones in place of
 * `removed`, over a range that has space. */
static rt_status
rekey(draft *d, size_t at, size_t removed, const rt_effect_slot *from, rt_slot *slots, size_t count,
      rt_error *err)
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
		return nomem(err);
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

static rt_status
splice(draft *d, const rt_effect *e, bool back, rt_error *err)
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
	rt_status st = draft_take(d, e->sub, err);

	if (st != RT_OK)
		return st;
	have = rt_seq_count(d->take->slots);
	if (e->at > have || old_count > have - at)
		return rt_fail(err, RT_CORRUPT, "an effect reaches beyond take t%u of d%u", e->sub,
			       e->disc);
	if (old_count > 2 || count > 2) {
		heap = rt_new_array(alloc, old_count + count + 1, sizeof(*heap));
		if (heap == NULL)
			return nomem(err);
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

/* ---- new ---- */

static rt_status
beginning(const rt_project *project, const rt_take *from, uint64_t count, const rt_seq **out_slots,
	  const rt_seq **out_moved, rt_error *err)
{
	rt_status st;

	*out_slots = *out_moved = NULL;
	if (from == NULL) {
		const rt_alloc *alloc = project->object.alloc;
		const rt_seq_source *source = project->ledger->source;

		if (rt_seq_new(alloc, source, out_slots) != RT_OK ||
		    rt_seq_new(alloc, source, out_moved) != RT_OK) {
			rt_seq_unref(*out_slots);
			return nomem(err);
		}
		return RT_OK;
	}
	if (count > rt_seq_count(from->slots))
		return rt_fail(err, RT_CORRUPT, "a take has more entries than its source");
	st = rt_seq_splice(from->slots, (size_t)count, rt_seq_count(from->slots) - (size_t)count,
			   NULL, 0, out_slots, err);
	if (st == RT_OK)
		*out_moved = rt_seq_ref(from->moved);
	return st;
}

static rt_status
make_take(const rt_project *project, const rt_take *from, const rt_effect *e, uint32_t number,
	  rt_str name, rt_take **out, rt_error *err)
{
	const rt_seq *slots, *moved;
	rt_status st = beginning(project, from, e->count, &slots, &moved, err);

	if (st != RT_OK)
		return st;
	if (rt_take_new(project->object.alloc, number, name, slots, moved, out) != RT_OK)
		st = nomem(err);
	rt_seq_unref(slots);
	rt_seq_unref(moved);
	if (st == RT_OK)
		(*out)->row = project->seq + 1;
	if (st == RT_OK && e->git_commit.size > 0) {
		(*out)->git_commit = rt_text_new(project->object.alloc, e->git_commit);
		if ((*out)->git_commit == NULL) {
			rt_object_unref(*out);
			*out = NULL;
			return nomem(err);
		}
	}
	return st;
}

static rt_status
new_take(draft *d, const rt_effect *e, bool back, rt_error *err)
{
	const rt_take *from = NULL;

	if (back || e->sub <= rt_disc_take_count(d->disc)) {
		rt_status st = draft_take(d, e->sub, err);

		if (st == RT_OK)
			d->take->present = !back;
		return st;
	}
	if (e->sub != rt_disc_take_count(d->disc) + 1)
		return rt_fail(err, RT_CORRUPT, "take numbers with a gap");
	if (e->from_take != 0) {
		from = rt_disc_take(d->disc, e->from_take);
		if (from == NULL)
			return rt_fail(err, RT_CORRUPT, "a take without a source");
	}
	return make_take(d->project, from, e, e->sub, e->name, &d->take, err);
}

static rt_status
set_present(draft *d, uint32_t number, bool present, rt_str name, rt_error *err)
{
	rt_cell *old = (rt_cell *)(uintptr_t)rt_project_cell(d->project, number);
	rt_cell_said said;

	if (old == NULL)
		return rt_fail(err, RT_CORRUPT, "the log names discussion d%u, which does not exist",
			       number);
	said = (rt_cell_said){present, name.ptr != NULL ? name : rt_cell_name(old),
			      atomic_load(&old->disc), atomic_load(&old->stored)};
	return rt_project_set_cell(d->project, number, &said) == RT_OK ? RT_OK : nomem(err);
}

/* The labels of the entries of a new discussion. */
static rt_status
labels_along(draft *d, const rt_disc *from, const rt_take *take, rt_disc *to, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < rt_seq_count(from->labels); i++) {
		rt_slot pair;
		size_t at;
		bool found = false;

		st = rt_seq_get(from->labels, i, &pair, err);
		if (st == RT_OK)
			st = rt_take_find(d->project, take, (uint32_t)pair.key, &at, NULL, &found,
					  err);
		if (st == RT_OK && found)
			st = pair_set(&to->labels, pair, err);
	}
	return st;
}

static rt_status
new_disc(draft *d, const rt_effect *e, bool back, rt_error *err)
{
	const rt_take *from = NULL;
	const rt_disc *source = NULL;
	const rt_vec *takes = NULL;
	rt_disc *disc = NULL;
	rt_take *take = NULL;
	rt_cell_said said;
	rt_status st = RT_OK;

	if (back || e->sub <= rt_project_disc_count(d->project))
		return set_present(d, e->sub, !back, rt_str_at(NULL, 0), err);
	if (e->sub != rt_project_disc_count(d->project) + 1)
		return rt_fail(err, RT_CORRUPT, "discussion numbers with a gap");
	if (e->from_disc != 0) {
		st = rt_project_disc(d->project, e->from_disc, &source, err);
		if (st != RT_OK)
			return st;
		from = rt_disc_take(source, e->from_take);
		if (from == NULL)
			return rt_fail(err, RT_CORRUPT, "a discussion without a source take");
	}
	st = make_take(d->project, from, e, 1, e->take_name, &take, err);
	if (st != RT_OK)
		return st;
	if (rt_disc_new(d->project->object.alloc, e->sub, &disc) != RT_OK ||
	    rt_vec_set(disc->takes, 0, take, &takes) != RT_OK) {
		st = nomem(err);
		goto done;
	}
	rt_object_unref(disc->takes);
	disc->takes = takes;
	if (from != NULL) {
		disc->seed = rt_object_ref(take);
		st = labels_along(d, source, take, disc, err);
		if (st != RT_OK)
			goto done;
	}
	said = (rt_cell_said){true, e->name, disc, 0};
	if (rt_project_set_cell(d->project, e->sub, &said) != RT_OK)
		st = nomem(err);
done:
	rt_object_unref(disc);
	rt_object_unref(take);
	return st;
}

/* ---- set ---- */

/* Decodes a JSON string written by our codec. Anything else is returned unchanged. */
static rt_status
unquote(const rt_alloc *alloc, rt_str json, rt_buf *out)
{
	size_t i;

	rt_buf_init(out, alloc, RT_BUF_UNLIMITED);
	if (json.size < 2 || json.ptr[0] != '"') {
		rt_buf_add_str(out, json);
		return out->status;
	}
	for (i = 1; i + 1 < json.size; i++) {
		char c = json.ptr[i];

		if (c != '\\' || i + 2 >= json.size) {
			rt_buf_add_byte(out, c);
			continue;
		}
		c = json.ptr[++i];
		switch (c) {
		case 'b': rt_buf_add_byte(out, '\b'); break;
		case 'f': rt_buf_add_byte(out, '\f'); break;
		case 'n': rt_buf_add_byte(out, '\n'); break;
		case 'r': rt_buf_add_byte(out, '\r'); break;
		case 't': rt_buf_add_byte(out, '\t'); break;
		case 'u':
			if (i + 4 < json.size) { /* only control characters are written so */
				char hex[5];

				memcpy(hex, json.ptr + i + 1, 4);
				hex[4] = '\0';
				rt_buf_add_byte(out, (char)strtoul(hex, NULL, 16));
				i += 4;
			}
			break;
		default: rt_buf_add_byte(out, c); break;
		}
	}
	return out->status;
}

static uint32_t
number_of(rt_str json, uint32_t absent)
{
	uint64_t number = 0;
	size_t i;

	if (json.ptr == NULL)
		return absent;
	for (i = 0; i < json.size && json.ptr[i] >= '0' && json.ptr[i] <= '9'; i++)
		if (number <= UINT32_MAX)
			number = number * 10 + (uint64_t)(json.ptr[i] - '0');
	return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static rt_status
set_field(const rt_fields **fields, rt_str key, rt_str value, rt_error *err)
{
	const rt_fields *next;

	if (rt_fields_set(*fields, key, value, &next) != RT_OK)
		return nomem(err);
	rt_object_unref(*fields);
	*fields = next;
	return RT_OK;
}

static rt_status
set_text(const rt_alloc *alloc, const rt_text **text, rt_str json, rt_error *err)
{
	const rt_text *fresh = NULL;
	rt_buf plain;

	if (json.ptr != NULL) {
		rt_status st = unquote(alloc, json, &plain);

		if (st == RT_OK) {
			fresh = rt_text_new(alloc, rt_buf_str(&plain));
			if (fresh == NULL)
				st = RT_NOMEM;
		}
		rt_buf_deinit(&plain);
		if (st != RT_OK)
			return nomem(err);
	}
	rt_text_unref(*text);
	*text = fresh;
	return RT_OK;
}

static rt_status
set_label(draft *d, uint32_t entry, rt_str json, rt_error *err)
{
	rt_buf plain;
	rt_slot pair = {0};
	uint32_t number = 0;
	rt_status st;

	if (json.ptr == NULL)
		return pair_drop(&d->disc->labels, entry, err);
	st = unquote(d->project->object.alloc, json, &plain);
	if (st != RT_OK)
		st = nomem(err);
	if (st == RT_OK)
		st = rt_strs_intern(d->project->ledger->names, rt_buf_str(&plain), &number, err);
	rt_buf_deinit(&plain);
	if (st != RT_OK)
		return st;
	pair.key = entry;
	pair.body = number;
	return pair_set(&d->disc->labels, pair, err);
}

static rt_status
set(draft *d, const rt_effect *e, bool back, rt_error *err)
{
	rt_str value = back ? e->before : e->after;
	rt_status st;

	if (e->disc == 0 && e->sub == 0) {
		if (rt_str_is(e->key, "active")) {
			uint32_t number = number_of(value, 0);

			if (rt_project_cell(d->project, number) == NULL)
				return rt_fail(err, RT_CORRUPT, "discussion d%u does not exist",
					       number);
			d->project->active = number;
			return RT_OK;
		}
		return set_field(&d->project->fields, e->key, value, err);
	}
	if (e->disc == 0) {
		const rt_cell *cell = rt_project_cell(d->project, e->sub);
		rt_buf plain;

		if (cell == NULL)
			return rt_fail(err, RT_CORRUPT, "discussion d%u does not exist", e->sub);
		if (rt_str_is(e->key, "present"))
			return set_present(d, e->sub, value.ptr != NULL, rt_str_at(NULL, 0), err);
		if (!rt_str_is(e->key, "name"))
			return rt_fail(err, RT_TOO_NEW, "a discussion's field \"%.*s\" is unknown",
				       RT_STR_ARG(e->key));
		st = unquote(d->project->object.alloc, value, &plain);
		if (st != RT_OK)
			st = nomem(err);
		else
			st = set_present(d, e->sub, cell->present,
					 plain.ptr != NULL ? rt_buf_str(&plain) : rt_str_at("", 0),
					 err);
		rt_buf_deinit(&plain);
		return st;
	}
	if (e->sub != 0) {
		st = draft_take(d, e->sub, err);
		if (st != RT_OK)
			return st;
		if (rt_str_is(e->key, "present"))
			d->take->present = value.ptr != NULL;
		else if (rt_str_is(e->key, "name"))
			st = set_text(d->take->object.alloc, &d->take->name,
				      value.ptr != NULL ? value : RT_STR("\"\""), err);
		else if (rt_str_is(e->key, "git_commit"))
			st = set_text(d->take->object.alloc, &d->take->git_commit, value, err);
		else
			st = rt_fail(err, RT_TOO_NEW, "a take's field \"%.*s\" is unknown",
				     RT_STR_ARG(e->key));
		return st;
	}
	if (rt_str_is(e->key, "active")) {
		uint32_t number = number_of(value, 0);

		if (rt_disc_take(d->disc, number) == NULL)
			return rt_fail(err, RT_CORRUPT, "take t%u of d%u does not exist", number,
				       e->disc);
		d->disc->active = number;
		return RT_OK;
	}
	if (rt_str_is(e->key, "head")) {
		d->disc->head = number_of(value, RT_HEAD_TIP);
		return RT_OK;
	}
	if (rt_str_is(e->key, "label"))
		return set_label(d, e->entry, value, err);
	return set_field(&d->disc->fields, e->key, value, err);
}

/* ---- all ---- */

rt_status
rt_effect_apply(const rt_project *project, const rt_effect *effect, bool back,
		const rt_project **out, rt_error *err)
{
	draft d;
	rt_status st = draft_open(&d, project, effect->disc, err);

	if (st == RT_OK) {
		switch (effect->kind) {
		case RT_EFFECT_SPLICE:
			st = effect->disc != 0 ? splice(&d, effect, back, err)
					       : rt_fail(err, RT_CORRUPT, "a splice without a take");
			break;
		case RT_EFFECT_NEW:
			st = effect->disc != 0 ? new_take(&d, effect, back, err)
					       : new_disc(&d, effect, back, err);
			break;
		case RT_EFFECT_SET: st = set(&d, effect, back, err); break;
		default:
			st = rt_fail(err, RT_TOO_NEW, "effect %d is unknown", (int)effect->kind);
			break;
		}
	}
	if (st == RT_OK)
		st = draft_close(&d, out, err);
	draft_deinit(&d);
	return st;
}

rt_status
rt_effects_apply(const rt_project *project, const rt_effect *effects, size_t count, bool back,
		 const rt_project **out, rt_error *err)
{
	const rt_project *now = rt_object_ref(project), *next;
	size_t i;

	for (i = 0; i < count; i++) {
		rt_status st = rt_effect_apply(now, &effects[back ? count - 1 - i : i], back, &next,
					       err);

		rt_object_unref(now);
		if (st != RT_OK)
			return st;
		now = next;
	}
	*out = now;
	return RT_OK;
}

rt_status
rt_project_set_view(const rt_project *project, uint32_t entry, unsigned flags,
		    const rt_project **out, rt_error *err)
{
	rt_project *mine = NULL;
	rt_slot pair = {0};
	rt_status st;

	if (rt_project_copy(project, &mine) != RT_OK)
		return nomem(err);
	pair.key = entry;
	pair.body = flags;
	st = flags == 0 ? pair_drop(&mine->views, entry, err) : pair_set(&mine->views, pair, err);
	if (st != RT_OK) {
		rt_object_unref(mine);
		return st;
	}
	*out = mine;
	return RT_OK;
}
