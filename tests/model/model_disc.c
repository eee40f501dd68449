/* SPDX-License-Identifier: MIT
 *
 * Model: the operations on discussions and the project. */
#include "model_impl.h"

rt_status
model_op_disc_new(model_call *c)
{
	model *m = c->m;
	rt_str name = model_keep(m, model_str_field(c, "name"));
	model_project *p;
	int number;

	if (model_cell_named(model_project_of(m), name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a discussion of that name");
	number = model_make_doc(m, name, NULL, 0);
	p = model_edit_project(m);
	model_add_cell(m, p, number, name);
	p->active = number;
	c->out->discussion = name;
	return RT_OK;
}

rt_status
model_op_disc_switch(model_call *c)
{
	if (model_cell_of(model_project_of(c->m), c->doc) == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "not in the catalogue");
	if (model_project_of(c->m)->active == c->doc)
		return model_unchanged(c);
	model_edit_project(c->m)->active = c->doc;
	return RT_OK;
}

rt_status
model_op_disc_rename(model_call *c)
{
	const model_project *p = model_project_of(c->m);
	size_t at = model_cell_of(p, c->doc);
	rt_str name = model_str_field(c, "name");
	model_cell *cells;

	if (at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "not in the catalogue");
	if (rt_str_eq(p->cells[at].name, name))
		return model_unchanged(c);
	if (model_cell_named(p, name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a discussion of that name");
	cells = model_copy(c->m, p->cells, p->cell_count, 0, sizeof(*cells));
	cells[at].name = model_keep(c->m, name);
	model_edit_project(c->m)->cells = cells;
	return RT_OK;
}

rt_status
model_op_disc_delete(model_call *c)
{
	model_project *p;
	model_cell *cells;
	size_t at = model_cell_of(model_project_of(c->m), c->doc), i, best = 0;

	if (at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "not in the catalogue");
	if (model_project_of(c->m)->cell_count == 1)
		return FAIL(c, REFUSED, "the last discussion");
	p = model_edit_project(c->m);
	cells = model_copy(c->m, p->cells, p->cell_count, 0, sizeof(*cells));
	memmove(cells + at, cells + at + 1, (p->cell_count - at - 1) * sizeof(*cells));
	p->cells = cells;
	p->cell_count--;
	if (p->active == c->doc) {
		for (i = 1; i < p->cell_count; i++)
			if (rt_str_cmp(cells[i].name, cells[best].name) < 0)
				best = i;
		p->active = cells[best].number;
	}
	return RT_OK;
}

/* The text of an entry; for content blocks their texts, one per line. */
static rt_str
words_of(model *m, const model_body *body)
{
	rt_json_doc *doc = NULL;
	yyjson_val *block;
	size_t i, max;
	bool first = true;
	rt_buf buf;

	if (!body->is_array)
		return model_text_of(m, body->content);
	if (rt_json_read(rt_alloc_libc(), body->content, &doc, NULL) != RT_OK)
		abort();
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	yyjson_arr_foreach (rt_json_root(doc), i, max, block) {
		if (!model_is_text_block(block))
			continue;
		if (!first)
			rt_buf_add_byte(&buf, '\n');
		first = false;
		rt_buf_add_str(&buf, model_block_text(block));
	}
	rt_json_free(doc);
	return model_keep_buf(m, &buf);
}

rt_status
model_op_extract(model_call *c)
{
	model *m = c->m;
	const model_disc *d = model_disc_of(m, c->doc);
	rt_str name = model_keep(m, model_field(c, "name") != NULL ? model_str_field(c, "name")
								   : c->chosen);
	int entity, number;
	size_t from, count, i;
	model_take take;
	model_project *p;
	model_disc *made;
	rt_status st = model_resolve_in_disc(c, model_str_field(c, "entry"), &entity, &from);

	if (st != RT_OK)
		return st;
	if (model_cell_named(model_project_of(m), name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a discussion of that name");
	take = d->takes[from];
	count = model_slot_find(&take, entity) + 1;
	if (rt_str_eq_nocase(take.slots[count - 1].role, RT_STR("user"))) {
		count--;
		c->out->has_editor = true;
		c->out->editor = words_of(m, &m->bodies[take.slots[count].body]);
	}
	take.count = count;
	number = model_make_doc(m, name, take.slots, count);
	made = model_get(m, sizeof(*made));
	*made = *model_disc_of(m, number);
	for (i = 0; i < d->label_count; i++)
		if (model_slot_find(&take, d->labels[i].entity) != SIZE_MAX)
			model_set_label(m, made, d->labels[i].entity, d->labels[i].text);
	m->docs[number].value = m->docs[number].first = made; /* its history is empty */
	made = model_edit_disc(m, number);
	model_set_files(m, made, take.files);
	made->link_doc = c->doc;
	made->link_entity = entity;
	p = model_edit_project(m);
	model_add_cell(m, p, number, name);
	p->active = number;
	c->out->discussion = name;
	return RT_OK;
}

rt_status
model_op_reset(model_call *c)
{
	model_project *p;
	int number = model_make_doc(c->m, RT_STR("main"), NULL, 0);

	p = model_edit_project(c->m);
	*p = (model_project){.active = number};
	model_add_cell(c->m, p, number, RT_STR("main"));
	model_default_roles(c->m, p);
	return RT_OK;
}
