/* SPDX-License-Identifier: MIT
 *
 * Model: the operations on takes, and the head. */
#include "model_impl.h"

rt_status
model_op_branch(model_call *c)
{
	model *m = c->m;
	const model_disc *d = model_disc_of(m, c->doc);
	int entity;
	size_t from, count;
	rt_str name;
	model_disc *mine;
	rt_status st = model_resolve_in_disc(c, model_str_field(c, "at"), &entity, &from);

	if (st != RT_OK)
		return st;
	name = model_field(c, "name") != NULL ? model_keep(m, model_str_field(c, "name"))
					      : model_free_take_name(m, d, d->takes[from].name);
	if (model_take_named(d, name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a take of that name");
	count = model_slot_find(&d->takes[from], entity) + 1;
	mine = model_edit_disc(m, c->doc);
	model_add_take(m, c->doc, mine, from, name, mine->takes[from].slots, count);
	c->out->take = name;
	return RT_OK;
}

rt_status
model_op_switch(model_call *c)
{
	model_disc *d;

	if (model_disc_of(c->m, c->doc)->active == c->take)
		return model_unchanged(c);
	d = model_edit_disc(c->m, c->doc);
	d->active = c->take;
	d->head = MODEL_TIP;
	c->out->take = d->takes[c->take].name;
	return RT_OK;
}

rt_status
model_op_take_rename(model_call *c)
{
	const model_disc *d = model_disc_of(c->m, c->doc);
	rt_str name = model_str_field(c, "name");
	model_take *takes;

	if (rt_str_eq(d->takes[c->take].name, name))
		return model_unchanged(c);
	if (model_take_named(d, name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a take of that name");
	takes = model_copy(c->m, d->takes, d->take_count, 0, sizeof(*takes));
	takes[c->take].name = model_keep(c->m, name);
	model_edit_disc(c->m, c->doc)->takes = takes;
	return RT_OK;
}

rt_status
model_op_take_delete(model_call *c)
{
	const model_disc *d = model_disc_of(c->m, c->doc);
	bool was_active = d->active == c->take;

	if (d->take_count == 1)
		return FAIL(c, REFUSED, "the last take");
	model_drop_take(c->m, model_edit_disc(c->m, c->doc), c->take);
	d = model_disc_of(c->m, c->doc);
	if (was_active)
		c->out->take = d->takes[d->active].name;
	return RT_OK;
}

rt_status
model_op_promote(model_call *c)
{
	model *m = c->m;
	const model_disc *d = model_disc_of(m, c->doc);
	model_take take = d->takes[c->take];
	rt_str name = model_keep(m, model_str_field(c, "name"));
	bool was_active = d->active == c->take;
	model_project *p;
	model_disc *made;
	int number;
	size_t i;

	if (d->take_count == 1)
		return FAIL(c, REFUSED, "the only take");
	if (model_cell_named(model_project_of(m), name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a discussion of that name");
	number = model_make_doc(m, name, take.slots, take.count);
	made = model_get(m, sizeof(*made));
	*made = *model_disc_of(m, number);
	for (i = 0; i < d->label_count; i++)
		if (model_slot_find(&take, d->labels[i].entity) != SIZE_MAX)
			model_set_label(m, made, d->labels[i].entity, d->labels[i].text);
	m->docs[number].value = m->docs[number].first = made;
	if (take.files[0].size + take.files[1].size + take.files[2].size > 0)
		model_set_files(m, model_edit_disc(m, number), take.files);
	model_drop_take(m, model_edit_disc(m, c->doc), c->take);
	p = model_edit_project(m);
	model_add_cell(m, p, number, name);
	if (was_active && p->active == c->doc)
		p->active = number;
	c->out->discussion = name;
	return RT_OK;
}

rt_status
model_op_clear(model_call *c)
{
	const model_disc *d = model_disc_of(c->m, c->doc);
	bool all = model_bool_field(c, "all", false) && (d->edited || d->prompt.size > 0);
	model_disc *mine;

	if (d->takes[c->take].count == 0 && !all)
		return model_unchanged(c);
	mine = model_edit_disc(c->m, c->doc);
	model_remove_slots(c->m, mine, c->take, 0, d->takes[c->take].count);
	if (all) {
		mine->prompt = RT_STR("");
		mine->edited = false;
	}
	return RT_OK;
}

rt_status
model_op_truncate(model_call *c)
{
	const model_take *take = &model_disc_of(c->m, c->doc)->takes[c->take];
	uint64_t pairs = 0, seen = 0;
	size_t at = take->count;

	rt_json_u64(model_field(c, "pairs"), &pairs);
	while (at > 0 && seen < pairs) {
		at--;
		seen += rt_str_eq_nocase(take->slots[at].role, RT_STR("user"));
	}
	if (seen < pairs || at == 0)
		return model_unchanged(c);
	model_remove_slots(c->m, model_edit_disc(c->m, c->doc), c->take, 0, at);
	return RT_OK;
}

rt_status
model_op_graft(model_call *c)
{
	model *m = c->m;
	const model_disc *d = model_disc_of(m, c->doc);
	size_t from = model_take_named(d, model_str_field(c, "from")), at, t, i, max, n = 0;
	yyjson_val *entries = model_field(c, "entries"), *item;
	model_slot *run = model_get(m, yyjson_arr_size(entries) * sizeof(*run));
	int *which = model_get(m, yyjson_arr_size(entries) * sizeof(*which));
	int neighbour;
	rt_status st;

	for (t = 0; t < d->take_count && from == SIZE_MAX; t++)
		if (d->takes[t].number == model_number_of(model_str_field(c, "from"), 't'))
			from = t;
	if (from == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "no such take");
	st = model_resolve_gap(c, &at, &neighbour);
	if (st != RT_OK)
		return st;
	yyjson_arr_foreach (entries, i, max, item) {
		size_t where;

		st = model_resolve_in_take(c, from, rt_json_str(item), &which[i], &where);
		if (st != RT_OK)
			return st;
	}
	for (i = 0; i < d->takes[from].count; i++) { /* in the order of that take, each once */
		model_slot slot = d->takes[from].slots[i];

		for (t = 0; t < max && which[t] != slot.entity; t++)
			;
		if (t == max)
			continue;
		if (model_slot_find(&d->takes[c->take], slot.entity) != SIZE_MAX) { /* a new id */
			model_body body = m->bodies[slot.body];

			body.grafted = true;
			body.grafted_from = slot.entity;
			body.purged = false;
			body.entity = slot.entity = model_make_entity(m, c->doc, RT_STR(""));
			slot.body = model_make_body(m, body);
			slot.edited = false;
		}
		run[n++] = slot;
	}
	if (n == 0)
		return model_unchanged(c);
	model_insert_slots(m, model_edit_disc(m, c->doc), c->take, at, run, n);
	return RT_OK;
}

rt_status
model_op_head(model_call *c)
{
	model *m = c->m;
	const model_disc *d = model_disc_of(m, c->doc);
	int entity = MODEL_START;
	size_t take = c->take;
	model_disc after = *d;
	rt_status st;

	if (!yyjson_is_null(model_field(c, "entry"))) {
		st = model_resolve_in_disc(c, model_str_field(c, "entry"), &entity, &take);
		if (st != RT_OK)
			return st;
		c->out->entity = entity;
	}
	after.active = take;
	after.head = entity;
	model_settle_head(&after);
	if (after.active == d->active && after.head == d->head)
		return model_unchanged(c);
	if (after.active != d->active)
		c->out->take = d->takes[take].name;
	*model_edit_disc(m, c->doc) = after;
	return RT_OK;
}
