/* SPDX-License-Identifier: MIT
 *
 * Model: memory, documents, entries, and the whole state. Out of memory ends the test. */
#include <stdio.h>
#include <stdlib.h>

#include "model_impl.h"

/* ---- plain helpers ---- */

void *
model_must(void *ptr)
{
	if (ptr == NULL) {
		fprintf(stderr, "model: out of memory\n");
		abort();
	}
	return ptr;
}

void *
model_get(model *m, size_t size)
{
	void *ptr = model_must(rt_arena_get(m->arena, size > 0 ? size : 1));

	memset(ptr, 0, size > 0 ? size : 1);
	return ptr;
}

rt_str
model_keep(model *m, rt_str s)
{
	char *ptr = model_get(m, s.size + 1);

	if (s.size > 0)
		memcpy(ptr, s.ptr, s.size);
	return rt_str_at(ptr, s.size);
}

rt_str
model_keep_buf(model *m, rt_buf *buf)
{
	rt_str s = model_keep(m, rt_buf_str(buf));

	model_must(buf->status == RT_OK ? buf : NULL);
	rt_buf_deinit(buf);
	return s;
}

rt_str
model_keep_value(model *m, yyjson_val *value)
{
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_json_add_sorted(&buf, rt_alloc_libc(), value);
	return model_keep_buf(m, &buf);
}

rt_str
model_keep_string(model *m, rt_str s)
{
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_json_add_string(&buf, s);
	return model_keep_buf(m, &buf);
}

rt_str
model_text_of(model *m, rt_str json)
{
	rt_json_doc *doc = NULL;
	rt_str s;

	if (rt_json_read(rt_alloc_libc(), json, &doc, NULL) != RT_OK)
		abort();
	s = model_keep(m, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
	return s;
}

void *
model_more(void *ptr, size_t count, size_t size)
{
	if (count != 0 && (count & (count - 1)) != 0)
		return ptr;
	return model_must(realloc(ptr, (count == 0 ? 1 : count * 2) * size));
}

void *
model_copy(model *m, const void *ptr, size_t count, size_t extra, size_t size)
{
	void *to = model_get(m, (count + extra) * size);

	if (count > 0)
		memcpy(to, ptr, count * size);
	return to;
}

size_t
model_pair_find(const model_pair *pairs, size_t count, rt_str key)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rt_str_eq(pairs[i].key, key))
			return i;
	return SIZE_MAX;
}

bool
model_pair_set(model *m, const model_pair **pairs, size_t *count, rt_str key, rt_str value)
{
	size_t at = model_pair_find(*pairs, *count, key);
	model_pair *mine;

	if (at == SIZE_MAX ? value.size == 0 : rt_str_eq((*pairs)[at].value, value))
		return false;
	mine = model_copy(m, *pairs, *count, 1, sizeof(*mine));
	if (value.size == 0) {
		memmove(mine + at, mine + at + 1, (*count - at - 1) * sizeof(*mine));
		*count -= 1;
	} else if (at == SIZE_MAX) {
		mine[(*count)++] = (model_pair){key, value};
	} else {
		mine[at].value = value;
	}
	*pairs = mine;
	return true;
}

/* ---- documents ---- */

bool
model_knows(const model *m, int doc, int entity)
{
	size_t i;

	for (i = 0; i < m->docs[doc].known_count; i++)
		if (m->docs[doc].known[i] == entity)
			return true;
	return false;
}

static void
learn_entity(model *m, int doc, int entity)
{
	model_doc *d = &m->docs[doc];

	if (model_knows(m, doc, entity))
		return;
	d->known = model_more(d->known, d->known_count, sizeof(*d->known));
	d->known[d->known_count++] = entity;
}

void
model_touch(model *m, int doc)
{
	size_t i;

	for (i = 0; i < m->touched_count; i++)
		if (m->touched[i].doc == doc)
			return;
	m->touched = model_more(m->touched, m->touched_count, sizeof(*m->touched));
	m->touched[m->touched_count++] = (model_part){doc, m->docs[doc].current, m->docs[doc].value,
						      NULL};
}

model_disc *
model_edit_disc(model *m, int number)
{
	model_disc *mine = model_get(m, sizeof(*mine));

	model_touch(m, number);
	*mine = *model_disc_of(m, number);
	m->docs[number].value = mine;
	return mine;
}

model_project *
model_edit_project(model *m)
{
	model_project *mine = model_get(m, sizeof(*mine));

	model_touch(m, 0);
	*mine = *model_project_of(m);
	m->docs[0].value = mine;
	return mine;
}

size_t
model_slot_find(const model_take *take, int entity)
{
	size_t i;

	for (i = 0; i < take->count; i++)
		if (take->slots[i].entity == entity)
			return i;
	return SIZE_MAX;
}

bool
model_present(const model_disc *disc, int entity)
{
	size_t t;

	for (t = 0; t < disc->take_count; t++)
		if (model_slot_find(&disc->takes[t], entity) != SIZE_MAX)
			return true;
	return false;
}

void
model_settle_head(model_disc *d)
{
	const model_take *take = &d->takes[d->active];

	if (take->count == 0 || (d->head >= 0 && take->slots[take->count - 1].entity == d->head))
		d->head = MODEL_TIP;
}

void
model_set_slots(model *m, model_disc *d, size_t index, const model_slot *slots, size_t count)
{
	model_take *takes = model_copy(m, d->takes, d->take_count, 0, sizeof(*takes));
	model_take old = d->takes[index];

	takes[index].slots = slots;
	takes[index].count = count;
	d->takes = takes;
	if (index == d->active && d->head >= 0 &&
	    model_slot_find(&takes[index], d->head) == SIZE_MAX) {
		size_t at = model_slot_find(&old, d->head);

		while (at > 0 && model_slot_find(&takes[index], old.slots[at].entity) == SIZE_MAX)
			at--;
		d->head = model_slot_find(&takes[index], old.slots[at].entity) != SIZE_MAX
				  ? old.slots[at].entity
				  : MODEL_START;
	}
	model_settle_head(d);
}

void
model_insert_slots(model *m, model_disc *d, size_t index, size_t at, const model_slot *run,
		   size_t count)
{
	const model_take *take = &d->takes[index];
	model_slot *slots = model_copy(m, take->slots, take->count, count, sizeof(*slots));

	memmove(slots + at + count, slots + at, (take->count - at) * sizeof(*slots));
	if (count > 0)
		memcpy(slots + at, run, count * sizeof(*slots));
	model_set_slots(m, d, index, slots, take->count + count);
}

void
model_remove_slots(model *m, model_disc *d, size_t index, size_t at, size_t count)
{
	const model_take *take = &d->takes[index];
	model_slot *slots = model_copy(m, take->slots, take->count, 0, sizeof(*slots));

	memmove(slots + at, slots + at + count, (take->count - at - count) * sizeof(*slots));
	model_set_slots(m, d, index, slots, take->count - count);
}

void
model_replace_slot(model *m, model_disc *d, size_t index, size_t at, model_slot slot)
{
	const model_take *take = &d->takes[index];
	model_slot *slots = model_copy(m, take->slots, take->count, 0, sizeof(*slots));

	slots[at] = slot;
	model_set_slots(m, d, index, slots, take->count);
}

size_t
model_take_named(const model_disc *d, rt_str name)
{
	size_t i;

	for (i = 0; i < d->take_count; i++)
		if (rt_str_eq(d->takes[i].name, name))
			return i;
	return SIZE_MAX;
}

size_t
model_cell_named(const model_project *p, rt_str name)
{
	size_t i;

	for (i = 0; i < p->cell_count; i++)
		if (rt_str_eq(p->cells[i].name, name))
			return i;
	return SIZE_MAX;
}

size_t
model_cell_of(const model_project *p, int number)
{
	size_t i;

	for (i = 0; i < p->cell_count; i++)
		if (p->cells[i].number == number)
			return i;
	return SIZE_MAX;
}

rt_str
model_name_of(const model *m, int disc)
{
	size_t at = model_cell_of(model_project_of(m), disc);

	return at == SIZE_MAX ? RT_STR("") : model_project_of(m)->cells[at].name;
}

int
model_number_of(rt_str s, char letter)
{
	int number = 0;
	size_t i;

	if (s.size < 2 || s.size > 8 || s.ptr[0] != letter || s.ptr[1] == '0')
		return 0;
	for (i = 1; i < s.size; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return 0;
		number = number * 10 + (s.ptr[i] - '0');
	}
	return number;
}

void
model_add_take(model *m, int doc, model_disc *d, size_t from, rt_str name, const model_slot *slots,
	       size_t count)
{
	model_take *takes = model_copy(m, d->takes, d->take_count, 1, sizeof(*takes));

	takes[d->take_count] = takes[from]; /* its lists of files */
	takes[d->take_count].number = m->docs[doc].next_take++;
	takes[d->take_count].name = name;
	takes[d->take_count].slots = slots;
	takes[d->take_count].count = count;
	d->active = d->take_count++;
	d->takes = takes;
	d->head = MODEL_TIP;
}

rt_str
model_free_take_name(model *m, const model_disc *d, rt_str from)
{
	size_t cut = rt_str_find(from, RT_STR("_take_"), 0);
	rt_buf buf;
	int n;

	if (cut != SIZE_MAX)
		from.size = cut;
	for (n = 1;; n++) {
		rt_str name;

		rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_str(&buf, from);
		rt_buf_add_f(&buf, "_take_%d", n);
		name = model_keep_buf(m, &buf);
		if (model_take_named(d, name) == SIZE_MAX)
			return name;
	}
}

/* C32: the first by name (bytewise), except the one at `without`. */
static size_t
first_take(const model_disc *d, size_t without)
{
	size_t best = SIZE_MAX, i;

	for (i = 0; i < d->take_count; i++)
		if (i != without &&
		    (best == SIZE_MAX || rt_str_cmp(d->takes[i].name, d->takes[best].name) < 0))
			best = i;
	return best;
}

void
model_drop_take(model *m, model_disc *d, size_t index)
{
	model_take *takes = model_copy(m, d->takes, d->take_count, 0, sizeof(*takes));

	if (d->active == index) {
		d->active = first_take(d, index);
		d->head = MODEL_TIP;
	}
	memmove(takes + index, takes + index + 1, (d->take_count - index - 1) * sizeof(*takes));
	d->takes = takes;
	d->take_count--;
	if (d->active > index)
		d->active--;
}

int
model_make_doc(model *m, rt_str take_name, const model_slot *slots, size_t count)
{
	int number = (int)m->doc_count;
	model_disc *d = model_get(m, sizeof(*d));
	model_take *take = model_get(m, sizeof(*take));
	size_t i;

	*take = (model_take){.number = 1, .name = take_name, .slots = slots, .count = count};
	d->takes = take;
	d->take_count = 1;
	d->head = MODEL_TIP;
	m->docs = model_more(m->docs, m->doc_count, sizeof(*m->docs));
	m->docs[m->doc_count++] = (model_doc){.value = d,
					      .first = d,
					      .first_name = take_name,
					      .made_by = (int)m->step_count,
					      .current = -1,
					      .redo = -1,
					      .next_take = 2};
	for (i = 0; i < count; i++)
		learn_entity(m, number, slots[i].entity);
	return number;
}

void
model_add_cell(model *m, model_project *p, int number, rt_str name)
{
	model_cell *cells = model_copy(m, p->cells, p->cell_count, 1, sizeof(*cells));

	cells[p->cell_count++] = (model_cell){number, name};
	p->cells = cells;
}

/* ---- entries ---- */

int
model_make_entity(model *m, int doc, rt_str id)
{
	m->entities = model_more(m->entities, m->entity_count, sizeof(*m->entities));
	m->entities[m->entity_count] = (model_entity){.id = model_keep(m, id), .home = doc};
	learn_entity(m, doc, (int)m->entity_count);
	return (int)m->entity_count++;
}

int
model_make_body(model *m, model_body body)
{
	m->bodies = model_more(m->bodies, m->body_count, sizeof(*m->bodies));
	m->bodies[m->body_count] = body;
	return (int)m->body_count++;
}

int
model_entity_with_id(const model *m, int doc, rt_str id)
{
	size_t i;

	for (i = 0; i < m->docs[doc].known_count; i++)
		if (id.size > 0 && rt_str_eq(m->entities[m->docs[doc].known[i]].id, id))
			return m->docs[doc].known[i];
	return -1;
}

rt_str
model_label_of(const model_disc *d, int entity)
{
	size_t i;

	for (i = 0; i < d->label_count; i++)
		if (d->labels[i].entity == entity)
			return d->labels[i].text;
	return RT_STR("");
}

void
model_set_label(model *m, model_disc *d, int entity, rt_str text)
{
	model_label *mine = model_copy(m, d->labels, d->label_count, 1, sizeof(*mine));
	size_t i, n = 0;

	for (i = 0; i < d->label_count; i++)
		if (d->labels[i].entity != entity)
			mine[n++] = d->labels[i];
	if (text.size > 0)
		mine[n++] = (model_label){entity, model_keep(m, text)};
	d->labels = mine;
	d->label_count = n;
}

/* ---- copies ---- */

void *
model_duplicate(const void *ptr, size_t count, size_t size)
{
	size_t room = 1;
	void *to;

	while (room < count)
		room *= 2;
	to = model_must(malloc(room * size));
	if (count > 0)
		memcpy(to, ptr, count * size);
	return to;
}

model
model_save(const model *m)
{
	model s = *m;
	size_t i;

	s.docs = model_duplicate(m->docs, m->doc_count, sizeof(*m->docs));
	for (i = 0; i < m->doc_count; i++)
		s.docs[i].known = model_duplicate(m->docs[i].known, m->docs[i].known_count,
						  sizeof(int));
	s.steps = model_duplicate(m->steps, m->step_count, sizeof(*m->steps));
	s.undone = model_duplicate(m->undone, m->undone_count, sizeof(*m->undone));
	s.places = model_duplicate(m->places, m->places_count, sizeof(*m->places));
	s.entities = model_duplicate(m->entities, m->entity_count, sizeof(*m->entities));
	s.bodies = model_duplicate(m->bodies, m->body_count, sizeof(*m->bodies));
	s.acts = NULL;
	s.act_count = 0;
	s.touched = NULL;
	s.touched_count = 0;
	return s;
}

void
model_drop_lists(model *m)
{
	size_t i;

	for (i = 0; i < m->doc_count; i++)
		free(m->docs[i].known);
	free(m->docs);
	free(m->steps);
	free(m->undone);
	free(m->places);
	free(m->entities);
	free(m->bodies);
	free(m->touched);
	free(m->acts);
}

void
model_default_roles(model *m, model_project *p)
{
	rt_str *roles = model_get(m, 4 * sizeof(*roles));

	roles[0] = RT_STR("User");
	roles[1] = RT_STR("AI");
	roles[2] = RT_STR("Vendor API");
	roles[3] = RT_STR("System");
	p->roles = roles;
	p->role_count = 4;
}

/* ---- the whole state ---- */

void
model_init(model *m, const char *now, uint64_t seq)
{
	model_project *p;
	model_disc *nothing;

	memset(m, 0, sizeof(*m));
	m->arena = model_must(rt_arena_new(rt_alloc_libc()));
	m->now = model_keep(m, rt_str_of(now));
	m->seq = seq;
	nothing = model_get(m, sizeof(*nothing));
	m->docs = model_more(NULL, 0, sizeof(*m->docs));
	p = model_get(m, sizeof(*p));
	m->docs[m->doc_count++] = (model_doc){.value = p, .first = p, .current = -1, .redo = -1};
	p->active = model_make_doc(m, RT_STR("main"), NULL, 0);
	m->docs[p->active].made_by = -1;
	model_add_cell(m, p, p->active, RT_STR("main"));
	model_default_roles(m, p);
}

void
model_deinit(model *m)
{
	model_drop_lists(m);
	rt_arena_free(m->arena);
}

bool
model_unknown(const model *m, int *out_entity, int *out_doc, int *out_take, size_t *out_position)
{
	size_t doc, t, i;

	for (doc = 1; doc < m->doc_count; doc++) {
		const model_disc *d = model_disc_of(m, (int)doc);

		for (t = 0; t < d->take_count; t++)
			for (i = 0; i < d->takes[t].count; i++)
				if (m->entities[d->takes[t].slots[i].entity].id.size == 0) {
					*out_entity = d->takes[t].slots[i].entity;
					*out_doc = (int)doc;
					*out_take = d->takes[t].number;
					*out_position = i;
					return true;
				}
	}
	return false;
}

bool
model_learn(model *m, int entity, rt_str id)
{
	size_t doc;

	for (doc = 1; doc < m->doc_count; doc++)
		if (model_knows(m, (int)doc, entity) && model_entity_with_id(m, (int)doc, id) >= 0)
			return false;
	m->entities[entity].id = model_keep(m, id);
	return model_id_is_legal(id);
}
