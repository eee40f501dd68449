/* SPDX-License-Identifier: MIT
 *
 * Model: steps, and undo, redo, jump and revert. */
#include <stdlib.h>

#include "model_impl.h"

static const model_part *
part_of(const model_step *step, int doc)
{
	size_t i;

	for (i = 0; i < step->part_count; i++)
		if (step->parts[i].doc == doc)
			return &step->parts[i];
	return NULL;
}

void
model_note_act(model *m, rt_str op, int entity, const void *const *values, size_t count)
{
	model_act act = {.op = op, .entity = entity, .is_draft = m->sets_draft};
	size_t i;

	m->sets_draft = false;
	act.parts = model_get(m, m->doc_count * sizeof(*act.parts));
	for (i = 0; i < m->doc_count; i++) {
		const void *before = i < count ? values[i] : m->docs[i].first;

		if (before != m->docs[i].value)
			act.parts[act.part_count++] = (model_part){(int)i, -1, before,
								   m->docs[i].value};
	}
	m->acts = model_more(m->acts, m->act_count, sizeof(*m->acts));
	m->acts[m->act_count++] = act;
}

/* Can the undone change be redone in this document? Drafts that were written since are replaced
 * (C30). */
static bool
can_redo(const model *m, int doc)
{
	const model_doc *d = &m->docs[doc];
	int at = d->current, parent;

	if (d->redo < 0)
		return false;
	parent = part_of(&m->steps[m->undone[d->redo].step], doc)->parent;
	while (at > parent && m->steps[at].keeps_redo)
		at = part_of(&m->steps[at], doc)->parent;
	return at == parent;
}

/* Is it only a draft, while there is something to redo? */
static bool
keeps_redo(const model *m, int view)
{
	size_t i;

	for (i = 0; i < m->act_count; i++)
		if (m->acts[i].part_count > 0 && !m->acts[i].is_draft)
			return false;
	for (i = 0; i < m->touched_count; i++)
		if (can_redo(m, m->touched[i].doc))
			return true;
	return can_redo(m, view) || can_redo(m, 0);
}

void
model_make_step(model *m, int view)
{
	model_step step = {.op = m->acts[0].op, .view = view, .act_count = m->act_count};
	size_t i;

	step.seq = ++m->seq;
	step.acts = model_copy(m, m->acts, m->act_count, 0, sizeof(*m->acts));
	for (i = 1; i < m->act_count; i++)
		if (!rt_str_eq(m->acts[i].op, step.op))
			step.op = RT_STR("batch");
	step.parts = model_copy(m, m->touched, m->touched_count, 0, sizeof(*step.parts));
	step.part_count = m->touched_count;
	/* C30: this discards redo, in the discussion and in the project */
	step.keeps_redo = keeps_redo(m, view);
	if (!step.keeps_redo)
		m->docs[0].redo = m->docs[view].redo = -1;
	for (i = 0; i < step.part_count; i++) {
		model_doc *doc = &m->docs[step.parts[i].doc];

		step.parts[i].after = doc->value;
		doc->current = (int)m->step_count;
		if (!step.keeps_redo)
			doc->redo = -1;
	}
	m->steps = model_more(m->steps, m->step_count, sizeof(*m->steps));
	m->steps[m->step_count++] = step;
	m->touched_count = 0;
	m->act_count = 0;
}

/* Undoes a step in these documents, as one unit for redo. */
static void
take_back(model *m, int step, const int *docs, size_t count)
{
	model_undone u = {.step = step, .doc_count = count};
	size_t i;

	u.docs = model_copy(m, docs, count, 0, sizeof(*docs));
	u.below = model_get(m, count * sizeof(*u.below));
	for (i = 0; i < count; i++) {
		const model_part *part = part_of(&m->steps[step], docs[i]);
		model_doc *doc = &m->docs[docs[i]];

		u.below[i] = doc->redo;
		doc->value = part->before;
		doc->current = part->parent;
		doc->redo = (int)m->undone_count;
	}
	m->undone = model_more(m->undone, m->undone_count, sizeof(*m->undone));
	m->undone[m->undone_count++] = u;
}

static bool
is_switch(const model_step *step)
{
	return rt_str_is(step->op, "take.switch") || rt_str_is(step->op, "discussion.switch") ||
	       rt_str_is(step->op, "track.toggle");
}

/* The newest step in effect in a document, except (if pinned) switches: a client that names its
 * place is not affected by switches of others, and undo skips them (C1). */
static int
newest(const model *m, int doc, bool pinned)
{
	int step = m->docs[doc].current;

	while (step >= 0 && pinned && is_switch(&m->steps[step]))
		step = part_of(&m->steps[step], doc)->parent;
	return step;
}

/* Did the step create a discussion, other than the one in view, that has changed since (C1)? */
static bool
created_changed(const model *m, int step, int view)
{
	for (int doc = 1; doc < (int)m->doc_count; doc++)
		if (doc != view && m->docs[doc].made_by == step && m->docs[doc].current > step)
			return true;
	return false;
}

static bool
undo_one(model *m, int view, bool disc, bool project, bool pinned)
{
	int step = -1, *docs, of_project = project ? newest(m, 0, pinned) : -1;
	size_t count = 0, with = 0, i;
	bool stays;

	if (disc)
		step = newest(m, view, pinned);
	stays = disc && of_project >= 0 && of_project >= step && created_changed(m, of_project, view);
	if (of_project > step && !stays)
		step = of_project;
	if (step < 0)
		return false;
	docs = model_get(m, m->steps[step].part_count * sizeof(*docs));
	for (i = 0; i < m->steps[step].part_count; i++) {
		int doc = m->steps[step].parts[i].doc;

		if (newest(m, doc, pinned) != step || (doc == 0 && stays))
			continue; /* C2, C1 */
		for (; m->docs[doc].current != step; with++)
			take_back(m, m->docs[doc].current, &doc, 1);
		docs[count++] = doc;
	}
	take_back(m, step, docs, count);
	m->undone[m->undone_count - 1].with = with; /* they are redone together */
	return true;
}

/* Changes that were undone together are redone together (C2), except in documents that a jump
 * has moved since. */
static bool
redo_one(model *m, int view, bool disc, bool project)
{
	int undone = -1;
	size_t i, k, with;
	const model_undone *u;

	if (disc && can_redo(m, view))
		undone = m->docs[view].redo;
	if (project && m->docs[0].redo > undone && can_redo(m, 0))
		undone = m->docs[0].redo;
	if (undone < 0)
		return false;
	with = m->undone[undone].with;
	for (k = 0; k <= with; k++, undone--) {
		u = &m->undone[undone];
		for (i = 0; i < u->doc_count; i++) {
			model_doc *doc = &m->docs[u->docs[i]];

			if (doc->redo != undone || !can_redo(m, u->docs[i]))
				continue;
			doc->value = part_of(&m->steps[u->step], u->docs[i])->after;
			doc->current = u->step;
			doc->redo = u->below[i];
		}
	}
	return true;
}

/* How many steps of a discussion and the project can be redone. */
static uint64_t
undone_in(const model *m, int view)
{
	int docs[2] = {view, 0};
	int at[2] = {can_redo(m, view) ? m->docs[view].redo : -1,
		     can_redo(m, 0) ? m->docs[0].redo : -1};
	uint64_t count = 0;

	while (at[0] >= 0 || at[1] >= 0) {
		int top = at[0] > at[1] ? at[0] : at[1], i, last = top - (int)m->undone[top].with;
		size_t k;

		for (; top >= last; top--)
			for (i = 0; i < 2; i++)
				for (k = 0; at[i] == top && k < m->undone[top].doc_count; k++)
					if (m->undone[top].docs[k] == docs[i])
						at[i] = m->undone[top].below[k];
		count++;
	}
	return count;
}

/* The setting undo_capacity (C58), if it is a non-negative integer. */
static uint64_t
capacity_of(const model_project *p)
{
	uint64_t capacity = 0;
	size_t i, k;

	for (i = 0; i < p->setting_count; i++) {
		rt_str value = p->settings[i].value;

		if (!rt_str_is(p->settings[i].key, "undo_capacity"))
			continue;
		for (k = 0; k < value.size; k++) {
			if (value.ptr[k] < '0' || value.ptr[k] > '9' || k > 17)
				return UINT64_MAX;
			capacity = capacity * 10 + (uint64_t)(value.ptr[k] - '0');
		}
		return capacity;
	}
	return UINT64_MAX;
}

rt_status
model_op_undo_redo(model_call *c, bool undo)
{
	model *m = c->m;
	rt_str scope = model_str_field(c, "scope");
	uint64_t count = 1, n, capacity = undo ? capacity_of(model_project_of(m)) : 0;
	uint64_t already = undone_in(m, c->pinned ? c->doc : model_project_of(m)->active);

	rt_json_u64(model_field(c, "count"), &count);
	for (n = 0; n < count; n++) {
		int view = c->pinned ? c->doc : model_project_of(m)->active;
		bool disc = !rt_str_is(scope, "project"), project = !rt_str_is(scope, "discussion");

		if (undo && capacity < UINT64_MAX &&
		    (undone_in(m, view) >= capacity || already + n >= capacity))
			break;
		if (undo ? !undo_one(m, view, disc, project, c->pinned && c->take_named)
			 : !redo_one(m, view, disc, project))
			break;
	}
	c->out->steps = n;
	if (n == 0)
		return FAIL(c, REFUSED, undo ? "nothing to undo" : "nothing to redo");
	return RT_OK;
}

static int
step_with_seq(const model *m, uint64_t seq)
{
	size_t i;

	for (i = 0; i < m->step_count; i++)
		if (m->steps[i].seq == seq)
			return (int)i;
	return -1;
}

static bool
is_at_or_above(const model *m, int doc, int upper, int step)
{
	for (; step >= 0; step = part_of(&m->steps[step], doc)->parent)
		if (step == upper)
			return true;
	return upper == -1;
}

/* Undoes the newest step, in those documents that must move up from it to reach their positions
 * in `to` (-1: the beginning), as one unit for redo; false: none must. */
static bool
walk_up(model *m, const int *docs, const int *to, size_t count)
{
	int *here = model_get(m, count * sizeof(*here)), newest = -1;
	size_t i, n = 0;

	for (i = 0; i < count; i++) {
		int current = m->docs[docs[i]].current;

		if (is_at_or_above(m, docs[i], current, to[i]))
			continue;
		if (current > newest)
			n = 0;
		if (current >= newest)
			here[n++] = docs[i];
		newest = current > newest ? current : newest;
	}
	if (n > 0)
		take_back(m, newest, here, n);
	return n > 0;
}

/* Moves documents to the state right after a step each (-1: the beginning). */
static bool
walk(model *m, const int *docs, const int *to, size_t count)
{
	bool moved = false;
	size_t k;

	while (walk_up(m, docs, to, count))
		moved = true;
	for (k = 0; k < count; k++) {
		model_doc *d = &m->docs[docs[k]];

		while (d->current != to[k]) {
			int next = to[k];

			while (part_of(&m->steps[next], docs[k])->parent != d->current)
				next = part_of(&m->steps[next], docs[k])->parent;
			if (d->redo >= 0 && m->undone[d->redo].step == next) {
				const model_undone *u = &m->undone[d->redo];
				size_t i;

				for (i = 0; i < u->doc_count; i++)
					if (u->docs[i] == docs[k])
						break;
				d->redo = u->below[i];
			} else {
				d->redo = -1; /* another branch (C30) */
			}
			d->value = part_of(&m->steps[next], docs[k])->after;
			d->current = next;
			moved = true;
		}
	}
	return moved;
}

void
model_note_places(model *m, bool is_jump)
{
	model_places *now;
	size_t i;

	if (m->places_count > 0 && m->places[m->places_count - 1].seq == m->seq)
		return;
	m->places = model_more(m->places, m->places_count, sizeof(*m->places));
	now = &m->places[m->places_count++];
	*now = (model_places){m->seq, is_jump, model_project_of(m)->active,
			      model_get(m, m->doc_count * sizeof(*now->current)), m->doc_count};
	for (i = 0; i < m->doc_count; i++)
		now->current[i] = m->docs[i].current;
}

static int
place_in(const model_places *places, int doc)
{
	return doc < (int)places->count ? places->current[doc] : -1;
}

/* Is the discussion in the catalogue again after a jump there? */
static bool
comes_back(const model *m, const model_places *then, int doc)
{
	int step = place_in(then, 0);
	const model_project *was =
		step < 0 ? m->docs[0].first : part_of(&m->steps[step], 0)->after;

	return model_cell_of(was, doc) != SIZE_MAX &&
	       model_cell_of(model_project_of(m), doc) == SIZE_MAX;
}

/* C18: does a jump without a scope move this document? `row` is the target. */
static bool
does_jump(const model_call *c, size_t row, int doc)
{
	const model_places *then = &c->m->places[row];

	return doc == 0 || doc == c->doc || doc == then->active || comes_back(c->m, then, doc) ||
	       place_in(then, doc) != (row > 0 ? place_in(then - 1, doc) : -1) ||
	       (row + 1 < c->m->places_count && then[1].is_jump &&
		place_in(then + 1, doc) != place_in(then, doc));
}

rt_status
model_op_jump(model_call *c)
{
	model *m = c->m;
	rt_str scope = model_str_field(c, "scope");
	const model_places *then = NULL;
	uint64_t to = 0;
	int *docs, *steps;
	size_t i, count = 0;

	rt_json_u64(model_field(c, "to"), &to);
	for (i = 0; i < m->places_count; i++)
		if (m->places[i].seq == to)
			then = &m->places[i];
	if (to > 0 && then == NULL)
		return FAIL(c, NOT_FOUND, "no such step");
	if (to == 0 && scope.size == 0)
		scope = RT_STR("discussion");
	docs = model_get(m, m->doc_count * sizeof(*docs));
	steps = model_get(m, m->doc_count * sizeof(*steps));
	for (i = 0; i < m->doc_count; i++) {
		if (rt_str_is(scope, "discussion")  ? (int)i != c->doc
		    : rt_str_is(scope, "project") ? i != 0
						  : !does_jump(c, (size_t)(then - m->places), (int)i))
			continue;
		docs[count] = (int)i;
		steps[count++] = to > 0 ? place_in(then, (int)i) : -1;
	}
	return walk(m, docs, steps, count) ? RT_OK : model_unchanged(c);
}

static bool
same_slot(const model_slot *a, const model_slot *b)
{
	return a->entity == b->entity && a->body == b->body && a->muted == b->muted &&
	       rt_str_eq(a->role, b->role);
}

/* Restores one field if it is unchanged since the step. */
static bool
revert_text(rt_str *now, rt_str was, rt_str then)
{
	if (rt_str_eq(was, then))
		return true;
	if (!rt_str_eq(*now, then))
		return false;
	*now = was;
	return true;
}

static bool
revert_pairs(model *m, const model_pair **now, size_t *count, const model_pair *was,
	     size_t was_count, const model_pair *then, size_t then_count)
{
	size_t i;
	bool ok = true;

	for (i = 0; i < was_count + then_count; i++) {
		rt_str key = i < was_count ? was[i].key : then[i - was_count].key;
		size_t a = model_pair_find(was, was_count, key),
		       b = model_pair_find(then, then_count, key);
		size_t n = model_pair_find(*now, *count, key);
		rt_str before = a == SIZE_MAX ? RT_STR("") : was[a].value;
		rt_str after = b == SIZE_MAX ? RT_STR("") : then[b].value;
		rt_str value = n == SIZE_MAX ? RT_STR("") : (*now)[n].value;

		if (rt_str_eq(before, after) || (i >= was_count && a != SIZE_MAX))
			continue;
		ok = ok && rt_str_eq(value, after);
		model_pair_set(m, now, count, key, before);
	}
	return ok;
}

typedef struct item_list {
	rt_str *items;
	size_t count;
} item_list;

static size_t
find_item(const item_list *list, rt_str item)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (rt_str_eq(list->items[i], item))
			return i;
	return SIZE_MAX;
}

static bool
same_items(const item_list *a, const item_list *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (!rt_str_eq(a->items[i], b->items[i]))
			return false;
	return a->count == b->count;
}

static bool
has_twice(const item_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (find_item(list, list->items[i]) != i)
			return true;
	return false;
}

/* A list: items that the step added are removed, items that it removed are inserted after their
 * nearest surviving predecessor. */
static bool
revert_list(model *m, item_list *now, const item_list *was, const item_list *then)
{
	item_list out = {NULL, 0};
	size_t i, k;

	if (same_items(was, then))
		return true;
	if (same_items(now, then)) {
		*now = *was;
		return true;
	}
	if (has_twice(was) || has_twice(then) || has_twice(now))
		return false;
	out.items = model_get(m, (now->count + was->count + 1) * sizeof(*out.items));
	for (i = 0; i < then->count; i++)
		if (find_item(was, then->items[i]) == SIZE_MAX &&
		    find_item(now, then->items[i]) == SIZE_MAX)
			return false;
	for (i = 0; i < now->count; i++)
		if (find_item(then, now->items[i]) == SIZE_MAX ||
		    find_item(was, now->items[i]) != SIZE_MAX)
			out.items[out.count++] = now->items[i];
	for (i = 0; i < was->count; i++) {
		size_t at = 0;

		if (find_item(then, was->items[i]) != SIZE_MAX)
			continue;
		if (find_item(now, was->items[i]) != SIZE_MAX)
			return false;
		for (k = i; k-- > 0 && at == 0;)
			if (find_item(&out, was->items[k]) != SIZE_MAX)
				at = find_item(&out, was->items[k]) + 1;
		for (k = out.count++; k > at; k--)
			out.items[k] = out.items[k - 1];
		out.items[at] = was->items[i];
	}
	*now = out;
	return true;
}

static item_list
items_of(model *m, rt_str json)
{
	item_list list = {NULL, 0};
	rt_json_doc *doc = NULL;
	yyjson_val *item;
	size_t i, max;

	if (json.size == 0 || rt_json_read(rt_alloc_libc(), json, &doc, NULL) != RT_OK)
		return list;
	list.items = model_get(m, (yyjson_arr_size(rt_json_root(doc)) + 1) * sizeof(*list.items));
	yyjson_arr_foreach(rt_json_root(doc), i, max, item) {
		list.items[list.count++] = model_keep_value(m, item);
	}
	rt_json_free(doc);
	return list;
}

/* The same for a list as JSON; empty: no list. */
static bool
revert_json_list(model *m, rt_str *now, rt_str was, rt_str then)
{
	item_list a = items_of(m, was), b = items_of(m, then), n = items_of(m, *now);
	rt_buf buf;
	size_t i;

	if (!revert_list(m, &n, &a, &b))
		return false;
	if (rt_str_eq(was, then))
		return true;
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < n.count; i++) {
		rt_buf_add_c(&buf, i == 0 ? "[" : ",");
		rt_buf_add_str(&buf, n.items[i]);
	}
	rt_buf_add_c(&buf, n.count > 0 ? "]" : "");
	*now = model_keep_buf(m, &buf);
	return true;
}

/* Was the flag of the prompt cleared by a later step, such as a notice? Also if this step is not
 * in effect. */
static bool
told_since(const model *m, int doc, const model_part *part)
{
	int at = m->docs[doc].current;
	size_t i, k;

	while (at >= 0 && part_of(&m->steps[at], doc)->before != part->before) {
		const model_step *step = &m->steps[at];

		for (i = 0; i < step->act_count; i++)
			for (k = 0; k < step->acts[i].part_count; k++) {
				const model_part *p = &step->acts[i].parts[k];

				if (p->doc == doc && ((const model_disc *)p->before)->edited &&
				    !((const model_disc *)p->after)->edited)
					return true;
			}
		at = part_of(step, doc)->parent;
	}
	return at < 0;
}

static rt_status
revert_fields(model_call *c, const model_part *part, const model_part *first)
{
	model *m = c->m;
	bool ok = true;
	size_t i;

	if (part->doc == 0) {
		const model_project *was = part->before, *then = part->after;
		model_project now = *model_project_of(m);

		item_list roles = {(rt_str *)(uintptr_t)now.roles, now.role_count};
		const item_list before = {(rt_str *)(uintptr_t)was->roles, was->role_count};
		const item_list after = {(rt_str *)(uintptr_t)then->roles, then->role_count};

		ok = revert_list(m, &roles, &before, &after);
		now.roles = roles.items;
		now.role_count = roles.count;
		ok = ok && revert_pairs(m, &now.settings, &now.setting_count, was->settings,
					was->setting_count, then->settings, then->setting_count);
		if (ok)
			*model_edit_project(m) = now;
	} else {
		rt_str files[3];
		const model_disc *was = part->before, *then = part->after;
		model_disc now = *model_disc_of(m, part->doc);

		c->doc = part->doc;
		ok = revert_text(&now.prompt, was->prompt, then->prompt) &&
		     revert_text(&now.track, was->track, then->track);
		if (!rt_str_eq(was->prompt, then->prompt))
			now.edited = was->edited || told_since(m, part->doc, first);
		memcpy(files, now.takes[now.active].files, sizeof(files));
		for (i = 0; i < 3; i++)
			ok = ok && revert_json_list(m, &files[i], was->takes[was->active].files[i],
						    then->takes[then->active].files[i]);
		if (ok && memcmp(files, now.takes[now.active].files, sizeof(files)) != 0)
			model_set_files(m, &now, files);
		ok = ok && revert_pairs(m, &now.settings, &now.setting_count, was->settings,
					was->setting_count, then->settings, then->setting_count);
		ok = ok && revert_pairs(m, &now.presets, &now.preset_count, was->presets,
					was->preset_count, then->presets, then->preset_count);
		ok = ok && revert_pairs(m, &now.failures, &now.failure_count, was->failures,
					was->failure_count, then->failures, then->failure_count);
		if (ok)
			*model_edit_disc(m, part->doc) = now;
	}
	return ok ? RT_OK : FAIL(c, REFUSED, "it is not as the step left it");
}

/* Runs one operation of a step. */
static rt_status
revert_act(model_call *c, model_act step, const model_step *of)
{
	model *m = c->m;
	int doc;
	const model_disc *was, *then, *now;
	model_disc *mine;
	size_t t, i, changed = 0, same = 0;

	if (step.part_count == 0)
		return RT_OK; /* it changed nothing */
	doc = step.parts[0].doc;
	if (step.part_count != 1)
		return FAIL(c, REFUSED, "cannot revert this");
	if (rt_str_is(step.op, "setting.set") || rt_str_starts(step.op, RT_STR("role.")) ||
	    rt_str_is(step.op, "prompt.update") || rt_str_is(step.op, "files.set") ||
	    rt_str_is(step.op, "track.set") || rt_str_is(step.op, "entry.fail") || rt_str_starts(step.op, RT_STR("preset.")))
		return revert_fields(c, &step.parts[0], part_of(of, doc));
	if (doc == 0)
		return FAIL(c, REFUSED, "cannot revert this");
	c->doc = doc;
	was = step.parts[0].before;
	then = step.parts[0].after;
	now = model_disc_of(m, doc);
	if (rt_str_is(step.op, "label.set")) {
		rt_str before = model_label_of(was, step.entity);

		if (!rt_str_eq(model_label_of(now, step.entity), model_label_of(then, step.entity)))
			return FAIL(c, REFUSED, "the label is another by now");
		model_set_label(m, model_edit_disc(m, doc), step.entity, before);
		return RT_OK;
	}
	if (!rt_str_is(step.op, "entry.append") && !rt_str_is(step.op, "entry.insert") &&
	    !rt_str_is(step.op, "entry.delete") && !rt_str_is(step.op, "entry.edit") &&
	    !rt_str_is(step.op, "entry.role") && !rt_str_is(step.op, "entry.mute"))
		return FAIL(c, REFUSED, "cannot revert this");
	mine = model_get(m, sizeof(*mine));
	*mine = *now;
	for (t = 0; t < then->take_count; t++) {
		const model_take *after = &then->takes[t], *before = NULL;
		size_t here = SIZE_MAX, k;

		for (k = 0; k < was->take_count; k++)
			if (was->takes[k].number == after->number)
				before = &was->takes[k];
		if (before != NULL && before->slots == after->slots &&
		    before->count == after->count)
			continue;
		for (k = 0; k < now->take_count; k++)
			if (now->takes[k].number == after->number)
				here = k;
		if (here == SIZE_MAX)
			return FAIL(c, REFUSED, "the take has gone");
		changed++;
		if (rt_str_is(step.op, "entry.append") || rt_str_is(step.op, "entry.insert")) {
			size_t at = model_slot_find(&mine->takes[here], step.entity);
			size_t there = model_slot_find(after, step.entity);

			if (at == SIZE_MAX ||
			    !same_slot(&mine->takes[here].slots[at], &after->slots[there]))
				return FAIL(c, REFUSED, "it is not as the step left it");
			model_remove_slots(m, mine, here, at, 1);
		} else if (rt_str_is(step.op, "entry.delete")) {
			for (i = 0; i < before->count; i++) {
				size_t at = 0, p;

				if (model_slot_find(after, before->slots[i].entity) != SIZE_MAX)
					continue;
				if (model_slot_find(&mine->takes[here], before->slots[i].entity) !=
				    SIZE_MAX)
					return FAIL(c, REFUSED, "it is back already");
				for (p = i; p-- > 0 && at == 0;) {
					at = model_slot_find(&mine->takes[here],
							     before->slots[p].entity);
					at = at == SIZE_MAX ? 0 : at + 1;
				}
				model_insert_slots(m, mine, here, at, &before->slots[i], 1);
			}
		} else {
			size_t at = model_slot_find(&mine->takes[here], step.entity);
			model_slot slot, left, old;

			if (at == SIZE_MAX)
				return FAIL(c, REFUSED, "the entry has gone");
			slot = mine->takes[here].slots[at];
			left = after->slots[model_slot_find(after, step.entity)];
			old = before->slots[model_slot_find(before, step.entity)];
			if (rt_str_is(step.op, "entry.edit") && slot.body == left.body &&
			    m->bodies[left.body].purged && m->bodies[old.body].purged) {
				same++; /* no visible effect */
				continue;
			} else if (rt_str_is(step.op, "entry.edit")) {
				if (slot.body != left.body)
					return FAIL(c, REFUSED, "it is not as the step left it");
				slot.body = old.body;
				slot.edited = old.edited;
			} else if (rt_str_is(step.op, "entry.role")) {
				if (!rt_str_eq(slot.role, left.role))
					return FAIL(c, REFUSED, "it is not as the step left it");
				slot.role = old.role;
			} else if (rt_str_is(step.op, "entry.mute")) {
				if (slot.muted != left.muted)
					return FAIL(c, REFUSED, "it is not as the step left it");
				slot.muted = old.muted;
			} else {
				return FAIL(c, REFUSED, "cannot revert this");
			}
			model_replace_slot(m, mine, here, at, slot);
		}
	}
	if (changed == 0)
		return FAIL(c, REFUSED, "cannot revert this");
	if (same == changed)
		return RT_OK;
	*model_edit_disc(m, doc) = *mine;
	return RT_OK;
}

static bool
keeps_places(const model_act *act)
{
	const model_disc *was, *then;
	size_t i;

	for (i = 0; i < act->part_count; i++) {
		if (act->parts[i].doc == 0)
			continue;
		was = act->parts[i].before;
		then = act->parts[i].after;
		if (was->active != then->active || was->head != then->head ||
		    was->take_count != then->take_count)
			return false;
		if (rt_str_starts(act->op, RT_STR("entry.")) && !rt_str_eq(was->prompt, then->prompt))
			return false;
	}
	return true;
}

bool
model_can_revert(const model *m, uint64_t seq)
{
	static const char *const ops[] = {
		"entry.append", "entry.insert", "entry.edit", "entry.role", "entry.mute",
		"entry.delete", "label.set", "setting.set", "files.set", "track.set",
		"prompt.update", "role.add", "role.remove", "preset.save", "preset.load",
		"preset.delete", "entry.fail",
	};
	int number = step_with_seq(m, seq);
	size_t i, k;

	if (number < 0)
		return true; /* not_found */
	if (rt_str_is(m->steps[number].op, "batch"))
		return false;
	for (i = 0; i < m->steps[number].act_count; i++) {
		const model_act *act = &m->steps[number].acts[i];

		for (k = 0; k < sizeof(ops) / sizeof(ops[0]) && !rt_str_is(act->op, ops[k]); k++)
			;
		if (k == sizeof(ops) / sizeof(ops[0]) || act->part_count > 1 || !keeps_places(act))
			return false;
	}
	return true;
}

rt_status
model_op_revert(model_call *c)
{
	model *m = c->m;
	uint64_t seq = 0;
	const void **values = model_get(m, m->doc_count * sizeof(*values));
	bool changed = false;
	int number;
	model_step step;
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; i < m->doc_count; i++)
		values[i] = m->docs[i].value;
	rt_json_u64(model_field(c, "seq"), &seq);
	number = step_with_seq(m, seq);
	if (number < 0)
		return FAIL(c, NOT_FOUND, "no such step");
	step = m->steps[number];
	if (rt_str_is(step.op, "batch"))
		return FAIL(c, REFUSED, "cannot revert this");
	for (i = step.act_count; i-- > 0 && st == RT_OK;)
		st = revert_act(c, step.acts[i], &m->steps[number]);
	for (i = 0; i < m->doc_count; i++)
		changed = changed || values[i] != m->docs[i].value;
	return st == RT_OK && !changed ? model_unchanged(c) : st;
}
