/* SPDX-License-Identifier: MIT
 *
 * Model: the operations of the contract, done the plain way. Rows of the contract are
 * named where they decide something. Memory that runs out ends the test. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/moment.h"
#include "model.h"

/* ---- plain helpers ---- */

static void *
must(void *ptr)
{
	if (ptr == NULL) {
		fprintf(stderr, "model: out of memory\n");
		abort();
	}
	return ptr;
}

static void *
get(model *m, size_t size)
{
	void *ptr = must(rt_arena_get(m->arena, size > 0 ? size : 1));

	memset(ptr, 0, size > 0 ? size : 1);
	return ptr;
}

static rt_str
keep(model *m, rt_str s)
{
	char *ptr = get(m, s.size + 1);

	if (s.size > 0)
		memcpy(ptr, s.ptr, s.size);
	return rt_str_at(ptr, s.size);
}

static rt_str
keep_buf(model *m, rt_buf *buf)
{
	rt_str s = keep(m, rt_buf_str(buf));

	must(buf->status == RT_OK ? buf : NULL);
	rt_buf_deinit(buf);
	return s;
}

static rt_str
keep_value(model *m, yyjson_val *value)
{
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_json_add_sorted(&buf, rt_alloc_libc(), value);
	return keep_buf(m, &buf);
}

static rt_str
keep_string(model *m, rt_str s)
{
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_json_add_string(&buf, s);
	return keep_buf(m, &buf);
}

/* The text behind a JSON string. */
static rt_str
text_of(model *m, rt_str json)
{
	rt_json_doc *doc = NULL;
	rt_str s;

	if (rt_json_read(rt_alloc_libc(), json, &doc, NULL) != RT_OK)
		abort();
	s = keep(m, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
	return s;
}

/* Room for one more item behind count; arrays grow when count is a power of two. */
static void *
more(void *ptr, size_t count, size_t size)
{
	if (count != 0 && (count & (count - 1)) != 0)
		return ptr;
	return must(realloc(ptr, (count == 0 ? 1 : count * 2) * size));
}

/* A copy of an array in the arena, with room for extra items. */
static void *
copy(model *m, const void *ptr, size_t count, size_t extra, size_t size)
{
	void *to = get(m, (count + extra) * size);

	if (count > 0)
		memcpy(to, ptr, count * size);
	return to;
}

static size_t
pair_find(const model_pair *pairs, size_t count, rt_str key)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rt_str_eq(pairs[i].key, key))
			return i;
	return SIZE_MAX;
}

/* Set, or (empty value) remove. False: it was so already. */
static bool
pair_set(model *m, const model_pair **pairs, size_t *count, rt_str key, rt_str value)
{
	size_t at = pair_find(*pairs, *count, key);
	model_pair *mine;

	if (at == SIZE_MAX ? value.size == 0 : rt_str_eq((*pairs)[at].value, value))
		return false;
	mine = copy(m, *pairs, *count, 1, sizeof(*mine));
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

static bool
knows(const model *m, int doc, int entity)
{
	size_t i;

	for (i = 0; i < m->docs[doc].known_count; i++)
		if (m->docs[doc].known[i] == entity)
			return true;
	return false;
}

bool
model_knows(const model *m, int doc, int entity)
{
	return knows(m, doc, entity);
}

static void
learn_entity(model *m, int doc, int entity)
{
	model_doc *d = &m->docs[doc];

	if (knows(m, doc, entity))
		return;
	d->known = more(d->known, d->known_count, sizeof(*d->known));
	d->known[d->known_count++] = entity;
}

static const model_disc *
disc_of(const model *m, int number)
{
	return m->docs[number].value;
}

static const model_project *
project_of(const model *m)
{
	return m->docs[0].value;
}

/* Note how the document was before this operation, once. */
static void
touch(model *m, int doc)
{
	size_t i;

	for (i = 0; i < m->touched_count; i++)
		if (m->touched[i].doc == doc)
			return;
	m->touched = more(m->touched, m->touched_count, sizeof(*m->touched));
	m->touched[m->touched_count++] =
		(model_part){doc, m->docs[doc].current, m->docs[doc].value, NULL};
}

/* A copy of one's own in the document's place, to be changed. */
static model_disc *
edit_disc(model *m, int number)
{
	model_disc *mine = get(m, sizeof(*mine));

	touch(m, number);
	*mine = *disc_of(m, number);
	m->docs[number].value = mine;
	return mine;
}

static model_project *
edit_project(model *m)
{
	model_project *mine = get(m, sizeof(*mine));

	touch(m, 0);
	*mine = *project_of(m);
	m->docs[0].value = mine;
	return mine;
}

static size_t
slot_find(const model_take *take, int entity)
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
		if (slot_find(&disc->takes[t], entity) != SIZE_MAX)
			return true;
	return false;
}

/* C10: an empty take is at its tip, and so is a head on the last entry. */
static void
settle_head(model_disc *d)
{
	const model_take *take = &d->takes[d->active];

	if (take->count == 0 || (d->head >= 0 && take->slots[take->count - 1].entity == d->head))
		d->head = MODEL_TIP;
}

/* Give a take other slots. The head (C10): at the tip it stays there, elsewhere on its
 * entry, and if that has gone, on the nearest before it that is still there. */
static void
set_slots(model *m, model_disc *d, size_t index, const model_slot *slots, size_t count)
{
	model_take *takes = copy(m, d->takes, d->take_count, 0, sizeof(*takes));
	model_take old = d->takes[index];

	takes[index].slots = slots;
	takes[index].count = count;
	d->takes = takes;
	if (index == d->active && d->head >= 0 && slot_find(&takes[index], d->head) == SIZE_MAX) {
		size_t at = slot_find(&old, d->head);

		while (at > 0 && slot_find(&takes[index], old.slots[at].entity) == SIZE_MAX)
			at--;
		d->head = slot_find(&takes[index], old.slots[at].entity) != SIZE_MAX
				  ? old.slots[at].entity
				  : MODEL_START;
	}
	settle_head(d);
}

/* Put run into a take in front of position at. */
static void
insert_slots(model *m, model_disc *d, size_t index, size_t at, const model_slot *run, size_t count)
{
	const model_take *take = &d->takes[index];
	model_slot *slots = copy(m, take->slots, take->count, count, sizeof(*slots));

	memmove(slots + at + count, slots + at, (take->count - at) * sizeof(*slots));
	if (count > 0)
		memcpy(slots + at, run, count * sizeof(*slots));
	set_slots(m, d, index, slots, take->count + count);
}

static void
remove_slots(model *m, model_disc *d, size_t index, size_t at, size_t count)
{
	const model_take *take = &d->takes[index];
	model_slot *slots = copy(m, take->slots, take->count, 0, sizeof(*slots));

	memmove(slots + at, slots + at + count, (take->count - at - count) * sizeof(*slots));
	set_slots(m, d, index, slots, take->count - count);
}

static void
replace_slot(model *m, model_disc *d, size_t index, size_t at, model_slot slot)
{
	const model_take *take = &d->takes[index];
	model_slot *slots = copy(m, take->slots, take->count, 0, sizeof(*slots));

	slots[at] = slot;
	set_slots(m, d, index, slots, take->count);
}

static size_t
take_named(const model_disc *d, rt_str name)
{
	size_t i;

	for (i = 0; i < d->take_count; i++)
		if (rt_str_eq(d->takes[i].name, name))
			return i;
	return SIZE_MAX;
}

static size_t
cell_named(const model_project *p, rt_str name)
{
	size_t i;

	for (i = 0; i < p->cell_count; i++)
		if (rt_str_eq(p->cells[i].name, name))
			return i;
	return SIZE_MAX;
}

static size_t
cell_of(const model_project *p, int number)
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
	size_t at = cell_of(project_of(m), disc);

	return at == SIZE_MAX ? RT_STR("") : project_of(m)->cells[at].name;
}

/* "d7", "t7": the number, or 0. */
static int
number_of(rt_str s, char letter)
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

/* Add an empty take or one with these slots; it becomes active, the head at its tip. */
static void
add_take(model *m, int doc, model_disc *d, rt_str name, const model_slot *slots, size_t count)
{
	model_take *takes = copy(m, d->takes, d->take_count, 1, sizeof(*takes));

	takes[d->take_count] = (model_take){m->docs[doc].next_take++, name, slots, count};
	d->active = d->take_count++;
	d->takes = takes;
	d->head = MODEL_TIP;
}

/* C7: cut at the first "_take_", then the first free number. */
static rt_str
free_take_name(model *m, const model_disc *d, rt_str from)
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
		name = keep_buf(m, &buf);
		if (take_named(d, name) == SIZE_MAX)
			return name;
	}
}

/* C32: the first by the bytes of its name, but not the one at without. */
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

static void
drop_take(model *m, model_disc *d, size_t index)
{
	model_take *takes = copy(m, d->takes, d->take_count, 0, sizeof(*takes));

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

/* A new discussion document, not in the catalogue yet: one take with these slots. */
static int
make_doc(model *m, rt_str take_name, const model_slot *slots, size_t count)
{
	int number = (int)m->doc_count;
	model_disc *d = get(m, sizeof(*d));
	model_take *take = get(m, sizeof(*take));
	size_t i;

	*take = (model_take){1, take_name, slots, count};
	d->takes = take;
	d->take_count = 1;
	d->head = MODEL_TIP;
	m->docs = more(m->docs, m->doc_count, sizeof(*m->docs));
	m->docs[m->doc_count++] = (model_doc){.value = d,
					      .first = d,
					      .first_name = take_name,
					      .current = -1,
					      .redo = -1,
					      .next_take = 2};
	for (i = 0; i < count; i++)
		learn_entity(m, number, slots[i].entity);
	return number;
}

static void
add_cell(model *m, model_project *p, int number, rt_str name)
{
	model_cell *cells = copy(m, p->cells, p->cell_count, 1, sizeof(*cells));

	cells[p->cell_count++] = (model_cell){number, name};
	p->cells = cells;
}

/* ---- entries ---- */

static int
make_entity(model *m, int doc, rt_str id)
{
	m->entities = more(m->entities, m->entity_count, sizeof(*m->entities));
	m->entities[m->entity_count] = (model_entity){.id = keep(m, id), .home = doc};
	learn_entity(m, doc, (int)m->entity_count);
	return (int)m->entity_count++;
}

static int
make_body(model *m, model_body body)
{
	m->bodies = more(m->bodies, m->body_count, sizeof(*m->bodies));
	m->bodies[m->body_count] = body;
	return (int)m->body_count++;
}

/* The entity that has this id in a discussion, though it may have gone; -1: none. */
static int
entity_with_id(const model *m, int doc, rt_str id)
{
	size_t i;

	for (i = 0; i < m->docs[doc].known_count; i++)
		if (id.size > 0 && rt_str_eq(m->entities[m->docs[doc].known[i]].id, id))
			return m->docs[doc].known[i];
	return -1;
}

static rt_str
label_of(const model_disc *d, int entity)
{
	size_t i;

	for (i = 0; i < d->label_count; i++)
		if (d->labels[i].entity == entity)
			return d->labels[i].text;
	return RT_STR("");
}

static void
set_label(model *m, model_disc *d, int entity, rt_str text)
{
	model_label *mine = copy(m, d->labels, d->label_count, 1, sizeof(*mine));
	size_t i, n = 0;

	for (i = 0; i < d->label_count; i++)
		if (d->labels[i].entity != entity)
			mine[n++] = d->labels[i];
	if (text.size > 0)
		mine[n++] = (model_label){entity, keep(m, text)};
	d->labels = mine;
	d->label_count = n;
}

/* ---- an operation under way ---- */

typedef struct call {
	model *m;
	model_result *out;
	yyjson_val *op;
	rt_str name;
	rt_str chosen;
	int doc;         /* the discussion it is about */
	int view;        /* the one in view */
	size_t take;     /* index of the take it is about */
	bool pinned;     /* the request names its discussion */
	bool take_named; /* and its take */
} call;

#define FAIL(c, word, ...) fail_with((c), RT_##word, __VA_ARGS__)

static rt_status fail_with(call *c, rt_status status, const char *format, ...) RT_PRINTF(3, 4);

static rt_status
fail_with(call *c, rt_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->out->why, sizeof(c->out->why), format, args);
	va_end(args);
	return status;
}

static rt_status
unchanged(call *c)
{
	c->out->unchanged = true;
	return RT_OK;
}

static yyjson_val *
field(const call *c, const char *name)
{
	return rt_json_get(c->op, name);
}

static rt_str
str_field(const call *c, const char *name)
{
	return rt_json_str(field(c, name));
}

static bool
bool_field(const call *c, const char *name, bool otherwise)
{
	yyjson_val *value = field(c, name);

	return value == NULL ? otherwise : yyjson_is_true(value);
}

/* ":7", ":-1" */
static bool
position_of(rt_str s, size_t count, size_t *out_at)
{
	bool from_end;
	size_t i = 1, n = 0;

	if (s.size < 2 || s.ptr[0] != ':')
		return false;
	from_end = s.ptr[1] == '-';
	i += from_end;
	if (i == s.size)
		return false;
	for (; i < s.size; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
		if (n < 1000000)
			n = n * 10 + (size_t)(s.ptr[i] - '0');
	}
	*out_at = n == 0 || n > count ? SIZE_MAX : from_end ? count - n : n - 1;
	return true;
}

/* C6. *out is an entity that the discussion knows; whether it is in the right take, or in
 * any, is for the caller to say. */
static rt_status
resolve(call *c, size_t take_index, rt_str address, int *out)
{
	const model_disc *d = disc_of(c->m, c->doc);
	const model_take *take = &d->takes[take_index];
	int found = -1;
	size_t at, t, i;

	if (rt_str_is(address, "@")) {
		int head = take_index == d->active ? d->head : MODEL_TIP;

		if (head == MODEL_TIP)
			head = take->count > 0 ? take->slots[take->count - 1].entity : MODEL_START;
		if (head == MODEL_START)
			return FAIL(c, NOT_FOUND, "the head is before the first entry");
		*out = head;
		return RT_OK;
	}
	if (position_of(address, take->count, &at)) {
		if (at == SIZE_MAX)
			return FAIL(c, NOT_FOUND, "no such position");
		*out = take->slots[at].entity;
		return RT_OK;
	}
	*out = entity_with_id(c->m, c->doc, address);
	if (*out >= 0)
		return RT_OK;
	for (i = 0; i < d->label_count; i++) {
		if (!rt_str_eq(d->labels[i].text, address) || !model_present(d, d->labels[i].entity))
			continue;
		if (found >= 0)
			return FAIL(c, AMBIGUOUS, "two entries have that label");
		found = d->labels[i].entity;
	}
	if (found < 0 && address.size > 0) {
		for (t = 0; t < d->take_count; t++)
			for (i = 0; i < d->takes[t].count; i++) {
				int entity = d->takes[t].slots[i].entity;

				if (entity == found ||
				    !rt_str_starts(c->m->entities[entity].id, address))
					continue;
				if (found >= 0)
					return FAIL(c, AMBIGUOUS, "two entries begin so");
				found = entity;
			}
	}
	if (found < 0)
		return FAIL(c, NOT_FOUND, "no entry %.*s", RT_STR_ARG(address));
	*out = found;
	return RT_OK;
}

/* C5: an entry of the take at hand. */
static rt_status
resolve_in_take(call *c, size_t take_index, rt_str address, int *out, size_t *out_at)
{
	rt_status st = resolve(c, take_index, address, out);

	if (st != RT_OK)
		return st;
	*out_at = slot_find(&disc_of(c->m, c->doc)->takes[take_index], *out);
	if (*out_at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "the entry is not in the take");
	return RT_OK;
}

/* C9: an entry anywhere in the discussion, and the take in which it is reached: the one at
 * hand, else the one whose tip it is, else the oldest. */
static rt_status
resolve_in_disc(call *c, rt_str address, int *out, size_t *out_take)
{
	const model_disc *d = disc_of(c->m, c->doc);
	rt_status st = resolve(c, c->take, address, out);
	size_t t, any = SIZE_MAX;

	if (st != RT_OK)
		return st;
	*out_take = c->take;
	if (slot_find(&d->takes[c->take], *out) != SIZE_MAX)
		return RT_OK;
	for (t = d->take_count; t-- > 0;) {
		size_t at = slot_find(&d->takes[t], *out);

		if (at != SIZE_MAX)
			any = t;
	}
	if (any == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "the entry is in no take");
	*out_take = any;
	for (t = 0; t < d->take_count; t++)
		if (d->takes[t].count > 0 &&
		    d->takes[t].slots[d->takes[t].count - 1].entity == *out) {
			*out_take = t;
			break;
		}
	return RT_OK;
}

/* before or after, exactly one: the position in front of which something goes. */
static rt_status
resolve_gap(call *c, size_t *out_at, int *out_neighbour)
{
	bool before = field(c, "before") != NULL;
	rt_status st;

	st = resolve_in_take(c, c->take, str_field(c, before ? "before" : "after"), out_neighbour,
			     out_at);
	if (st == RT_OK && !before)
		*out_at += 1;
	return st;
}

/* C21 */
static bool
id_is_legal(rt_str id)
{
	static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";
	size_t i;

	for (i = 0; i < id.size; i++)
		if (id.ptr[i] == '\0' || strchr(legal, id.ptr[i]) == NULL)
			return false;
	return id.size >= 1 && id.size <= 128;
}

static rt_status
check_id(call *c)
{
	if (field(c, "id") != NULL && entity_with_id(c->m, c->doc, str_field(c, "id")) >= 0)
		return FAIL(c, REFUSED, "the id was used before");
	return RT_OK;
}

/* ---- the operations ---- */

static bool
is_contract_field(rt_str key, bool append)
{
	static const char *const names[] = {"op",   "discussion", "take",   "role",  "content", "kind",
					    "id",   "ts",         "before", "after", "prompt"};
	size_t i, n = append ? 8 : 10;

	for (i = 0; i < n; i++)
		if (rt_str_is(key, names[i]))
			return true;
	return append && rt_str_is(key, "prompt");
}

/* A new entry from the request's fields. */
static model_slot
slot_from(call *c, bool append)
{
	const model_project *p = project_of(c->m);
	yyjson_val *content = field(c, "content"), *key, *value;
	model_body body = {.content = RT_STR("\"\"")};
	model_slot slot = {.kind = RT_STR("message")};
	model_pair *extra = get(c->m, yyjson_obj_size(c->op) * sizeof(*extra));
	size_t i, max;
	rt_moment ts;
	rt_buf buf;

	slot.role = keep(c->m, field(c, "role") != NULL ? str_field(c, "role")
			       : p->role_count > 0      ? p->roles[0]
							: RT_STR("User"));
	if (field(c, "kind") != NULL)
		slot.kind = keep(c->m, str_field(c, "kind"));
	slot.ts = c->m->now;
	if (field(c, "ts") != NULL) {
		yyjson_val *given = field(c, "ts");
		bool ok = rt_json_is_number(given) ? rt_moment_parse_number(rt_json_str(given), &ts)
						   : rt_moment_parse(rt_json_str(given), &ts);

		must(ok ? &ts : NULL);
		rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_moment_format(&buf, ts);
		slot.ts = keep_buf(c->m, &buf);
	}
	if (content != NULL) {
		body.content = keep_value(c->m, content);
		body.is_array = yyjson_is_arr(content);
	}
	yyjson_obj_foreach(c->op, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (is_contract_field(name, append) ||
		    pair_find(extra, body.extra_count, name) != SIZE_MAX)
			continue;
		extra[body.extra_count++] =
			(model_pair){keep(c->m, name),
				     keep_value(c->m, yyjson_obj_getn(c->op, name.ptr, name.size))};
	}
	body.extra = extra;
	slot.entity = make_entity(c->m, c->doc, str_field(c, "id"));
	body.entity = slot.entity;
	slot.body = make_body(c->m, body);
	c->out->entity = slot.entity;
	c->out->made = true;
	return slot;
}

/* Put an entry where the head is: at the tip, or (C9) on a take of its own. */
static void
append_slot(call *c, model_slot slot)
{
	model_disc *d = edit_disc(c->m, c->doc);
	const model_take *take = &d->takes[c->take];

	if (c->take == d->active && d->head != MODEL_TIP) {
		size_t count = d->head == MODEL_START ? 0 : slot_find(take, d->head) + 1;
		model_slot *slots = copy(c->m, take->slots, count, 1, sizeof(*slots));
		rt_str name = free_take_name(c->m, d, take->name);

		slots[count] = slot;
		add_take(c->m, c->doc, d, name, slots, count + 1);
		c->take = d->active;
		c->out->take = name;
	} else {
		insert_slots(c->m, d, c->take, take->count, &slot, 1);
	}
}

static rt_status
op_append(call *c)
{
	rt_status st = check_id(c);
	model_disc *d;

	if (st != RT_OK)
		return st;
	append_slot(c, slot_from(c, true));
	if (field(c, "prompt") != NULL) { /* C46 */
		d = edit_disc(c->m, c->doc);
		d->prompt = keep(c->m, str_field(c, "prompt"));
		d->edited = false;
	}
	return RT_OK;
}

static rt_status
op_insert(call *c)
{
	size_t at;
	int neighbour;
	model_slot slot;
	rt_status st = resolve_gap(c, &at, &neighbour);

	if (st == RT_OK)
		st = check_id(c);
	if (st != RT_OK)
		return st;
	slot = slot_from(c, false);
	insert_slots(c->m, edit_disc(c->m, c->doc), c->take, at, &slot, 1);
	return RT_OK;
}

/* Texts of blocks; the model's arrays hold strings and blocks of type "text" alone beside
 * what is no text. */
static bool
is_text_block(yyjson_val *block)
{
	return yyjson_is_str(block) || rt_str_is(rt_json_str(rt_json_get(block, "type")), "text");
}

static rt_str
block_text(yyjson_val *block)
{
	return rt_json_str(yyjson_is_str(block) ? block : rt_json_get(block, "text"));
}

/* A block with another text, as JSON. */
static void
add_block(rt_buf *buf, yyjson_val *block, rt_str text)
{
	yyjson_val *key, *value;
	size_t i, max;

	if (buf->ptr[buf->size - 1] != '[')
		rt_buf_add_byte(buf, ',');
	if (!is_text_block(block)) {
		rt_json_add_value(buf, block);
	} else if (yyjson_is_str(block)) {
		rt_json_add_string(buf, text);
	} else {
		rt_buf_add_byte(buf, '{');
		yyjson_obj_foreach(block, i, max, key, value)
		{
			bool is_text = rt_str_is(rt_json_str(key), "text");

			if (rt_str_is(rt_json_str(key), "textSignature") &&
			    !rt_str_eq(block_text(block), text))
				continue;
			rt_json_add_key_str(buf, rt_json_str(key));
			if (is_text)
				rt_json_add_string(buf, text);
			else
				rt_json_add_value(buf, value);
		}
		rt_buf_add_byte(buf, '}');
	}
}

static bool
ends_with(rt_str text, rt_str end)
{
	return text.size >= end.size &&
	       memcmp(text.ptr + text.size - end.size, end.ptr, end.size) == 0;
}

/* The array with another text: blocks of text that it still begins with and ends with
 * stay, what is between goes into one. */
static rt_str
with_text(model *m, rt_str content, rt_str text)
{
	rt_json_doc *doc = NULL;
	yyjson_val *block, *texts[16];
	size_t i, max, count = 0, from = 0, to, nth = 0;
	rt_buf buf;

	if (rt_json_read(rt_alloc_libc(), content, &doc, NULL) != RT_OK)
		abort();
	yyjson_arr_foreach(rt_json_root(doc), i, max, block)
		if (is_text_block(block))
			texts[count++] = block;
	for (to = count; to > from + 1; from++) {
		rt_str own = block_text(texts[from]);

		if (!rt_str_starts(text, own) || text.size == own.size ||
		    text.ptr[own.size] != '\n')
			break;
		text = rt_str_at(text.ptr + own.size + 1, text.size - own.size - 1);
	}
	for (; to > from + 1; to--) {
		rt_str own = block_text(texts[to - 1]);

		if (!ends_with(text, own) || text.size == own.size ||
		    text.ptr[text.size - own.size - 1] != '\n')
			break;
		text.size -= own.size + 1;
	}
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&buf, '[');
	yyjson_arr_foreach(rt_json_root(doc), i, max, block)
	{
		bool is_text = is_text_block(block);

		if (is_text && nth > from && nth < to) {
			nth++;
			continue;
		}
		add_block(&buf, block, is_text && nth != from ? block_text(block) : text);
		nth += is_text;
	}
	if (count == 0 && text.size > 0) { /* the model's arrays hold no calls */
		rt_buf_add_c(&buf, buf.size > 1 ? "," : "");
		rt_buf_add_c(&buf, "{\"text\":"); /* keys in order, as all the model keeps */
		rt_json_add_string(&buf, text);
		rt_buf_add_c(&buf, ",\"type\":\"text\"}");
	}
	rt_buf_add_byte(&buf, ']');
	rt_json_free(doc);
	return keep_buf(m, &buf);
}

static rt_status
op_edit(call *c)
{
	model *m = c->m;
	const model_disc *d = disc_of(m, c->doc);
	rt_str content = keep_value(m, field(c, "content"));
	bool everywhere = bool_field(c, "everywhere", false), changed = false;
	bool keeps = bool_field(c, "keep_blocks", false);
	int entity;
	size_t at, t;
	rt_status st = resolve_in_take(c, c->take, str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	if (keeps && yyjson_is_arr(field(c, "content")))
		return FAIL(c, USAGE, "keep_blocks goes with a text");
	c->out->entity = entity;
	for (t = 0; t < d->take_count; t++) {
		model_slot slot;
		model_body body;
		rt_str fresh = content;

		at = slot_find(&d->takes[t], entity);
		if (at == SIZE_MAX || (t != c->take && !everywhere))
			continue;
		slot = d->takes[t].slots[at];
		body = m->bodies[slot.body];
		if (keeps && body.is_array)
			fresh = with_text(m, body.content, str_field(c, "content"));
		if (rt_str_eq(body.content, fresh) && !body.purged)
			continue;
		changed = true;
		body.content = fresh;
		body.is_array = fresh.ptr[0] == '[';
		body.purged = false;
		slot.body = make_body(m, body);
		replace_slot(m, edit_disc(m, c->doc), t, at, slot);
		d = disc_of(m, c->doc);
	}
	return changed ? RT_OK : unchanged(c);
}

static rt_status
op_role(call *c)
{
	model_slot slot;
	int entity;
	size_t at;
	rt_str role = str_field(c, "role");
	rt_status st = resolve_in_take(c, c->take, str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	slot = disc_of(c->m, c->doc)->takes[c->take].slots[at];
	if (rt_str_eq(slot.role, role))
		return unchanged(c);
	slot.role = keep(c->m, role);
	replace_slot(c->m, edit_disc(c->m, c->doc), c->take, at, slot);
	return RT_OK;
}

static rt_status
op_mute(call *c)
{
	model_slot slot;
	int entity;
	size_t at;
	bool muted = bool_field(c, "muted", true);
	rt_status st = resolve_in_take(c, c->take, str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	slot = disc_of(c->m, c->doc)->takes[c->take].slots[at];
	if (slot.muted == muted)
		return unchanged(c);
	slot.muted = muted;
	replace_slot(c->m, edit_disc(c->m, c->doc), c->take, at, slot);
	return RT_OK;
}

static rt_status
op_delete(call *c)
{
	int entity, last;
	size_t at, end;
	rt_status st;

	if (field(c, "entry") != NULL) {
		rt_str address = str_field(c, "entry");

		/* C19: a stale second delete, by full id, does no harm */
		entity = entity_with_id(c->m, c->doc, address);
		if (entity >= 0 && !model_present(disc_of(c->m, c->doc), entity))
			return unchanged(c);
		st = resolve_in_take(c, c->take, address, &entity, &at);
		end = at;
	} else {
		st = resolve_in_take(c, c->take, str_field(c, "from"), &entity, &at);
		if (st == RT_OK)
			st = resolve_in_take(c, c->take, str_field(c, "to"), &last, &end);
		if (st == RT_OK && at > end)
			return FAIL(c, USAGE, "from stands after to");
	}
	if (st != RT_OK)
		return st;
	remove_slots(c->m, edit_disc(c->m, c->doc), c->take, at, end - at + 1);
	return RT_OK;
}

static rt_status
op_move(call *c)
{
	int entity, neighbour;
	size_t at, to;
	const model_take *take;
	model_slot *slots, slot;
	rt_status st = resolve_in_take(c, c->take, str_field(c, "entry"), &entity, &at);

	if (st == RT_OK)
		st = resolve_gap(c, &to, &neighbour);
	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	if (to == at || to == at + 1) /* beside itself, or where it is */
		return unchanged(c);
	take = &disc_of(c->m, c->doc)->takes[c->take];
	slot = take->slots[at];
	slots = copy(c->m, take->slots, take->count, 0, sizeof(*slots));
	memmove(slots + at, slots + at + 1, (take->count - at - 1) * sizeof(*slots));
	if (to > at)
		to--;
	memmove(slots + to + 1, slots + to, (take->count - 1 - to) * sizeof(*slots));
	slots[to] = slot;
	set_slots(c->m, edit_disc(c->m, c->doc), c->take, slots, take->count);
	return RT_OK;
}

static rt_status
op_view(call *c)
{
	model *m = c->m;
	const model_take *take = &disc_of(m, c->doc)->takes[c->take];
	bool changed = false;
	size_t i, at = 0, end = take->count;
	int entity;

	if (field(c, "entry") != NULL) {
		rt_status st = resolve_in_take(c, c->take, str_field(c, "entry"), &entity, &at);

		if (st != RT_OK)
			return st;
		c->out->entity = entity;
		end = at + 1;
	}
	for (i = at; i < end; i++) {
		model_entity *e = &m->entities[take->slots[i].entity];
		bool collapsed = bool_field(c, "collapsed", e->collapsed);
		bool read_mode = bool_field(c, "read_mode", e->read_mode);

		changed = changed || collapsed != e->collapsed || read_mode != e->read_mode;
		e->collapsed = collapsed;
		e->read_mode = read_mode;
	}
	return changed ? RT_OK : unchanged(c);
}

/* The one text of an array, and where its block is; false: there are none or several. */
static bool
one_text(model *m, rt_str content, rt_str *out, size_t *out_at)
{
	rt_json_doc *doc = NULL;
	yyjson_val *block;
	size_t i, max, count = 0;

	if (rt_json_read(rt_alloc_libc(), content, &doc, NULL) != RT_OK)
		abort();
	yyjson_arr_foreach(rt_json_root(doc), i, max, block)
	{
		if (!is_text_block(block))
			continue;
		*out = keep(m, block_text(block));
		if (out_at != NULL)
			*out_at = i;
		count++;
	}
	rt_json_free(doc);
	return count == 1;
}

/* Blocks up to the cut in the one text, or from there on. */
static rt_str
half(model *m, rt_str content, rt_str text, size_t cut, bool second)
{
	rt_json_doc *doc = NULL;
	yyjson_val *block;
	size_t i, max, at = 0;
	rt_buf buf;

	(void)one_text(m, content, &text, &at);
	if (rt_json_read(rt_alloc_libc(), content, &doc, NULL) != RT_OK)
		abort();
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&buf, '[');
	yyjson_arr_foreach(rt_json_root(doc), i, max, block)
		if (i == at || (i > at) == second)
			add_block(&buf, block,
				  second ? rt_str_at(text.ptr + cut, text.size - cut)
					 : rt_str_at(text.ptr, cut));
	rt_buf_add_byte(&buf, ']');
	rt_json_free(doc);
	return keep_buf(m, &buf);
}

/* Two contents as one. A string behind or before an array is a block, but for an empty one
 * that touches no text. */
static rt_str
joined(model *m, const model_body *a, const model_body *b)
{
	rt_json_doc *docs[2] = {NULL, NULL};
	yyjson_val *blocks[64], *block;
	size_t count = 0, ends[2] = {0, 0}, k, i, max;
	const model_body *bodies[2] = {a, b};
	rt_str touching = {NULL, 0};
	bool touch;
	rt_buf buf, text;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (k = 0; k < 2; k++) {
		rt_buf_clear(&buf);
		if (!bodies[k]->is_array)
			rt_buf_add_c(&buf, "[{\"text\":");
		rt_buf_add_str(&buf, bodies[k]->content);
		if (!bodies[k]->is_array)
			rt_buf_add_c(&buf, ",\"type\":\"text\"}]");
		if (rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), &docs[k], NULL) != RT_OK)
			abort();
		yyjson_arr_foreach(rt_json_root(docs[k]), i, max, block)
			blocks[count++] = block;
		ends[k] = count;
	}
	touch = ends[0] > 0 && ends[1] > ends[0] && is_text_block(blocks[ends[0] - 1]) &&
		is_text_block(blocks[ends[0]]);
	if (touch) {
		rt_buf_add_str(&text, block_text(blocks[ends[0] - 1]));
		rt_buf_add_str(&text, block_text(blocks[ends[0]]));
		touching = keep_buf(m, &text);
	}
	rt_buf_clear(&buf);
	rt_buf_add_byte(&buf, '[');
	for (i = 0; i < count; i++) {
		bool made = !bodies[i < ends[0] ? 0 : 1]->is_array;

		if (touch && i == ends[0])
			continue;
		if (touch && i + 1 == ends[0])
			add_block(&buf, blocks[i], touching);
		else if (!made || block_text(blocks[i]).size > 0)
			add_block(&buf, blocks[i], block_text(blocks[i]));
	}
	rt_buf_add_byte(&buf, ']');
	rt_json_free(docs[0]);
	rt_json_free(docs[1]);
	rt_buf_deinit(&text);
	return keep_buf(m, &buf);
}

static rt_status
op_split(call *c)
{
	model *m = c->m;
	int entity;
	size_t at, cut;
	uint64_t chars = 0;
	model_slot first, second;
	model_body body;
	rt_str text, rest;
	model_disc *d;
	rt_status st = resolve_in_take(c, c->take, str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	first = second = disc_of(m, c->doc)->takes[c->take].slots[at];
	body = m->bodies[first.body];
	if (body.is_array ? !one_text(m, body.content, &text, NULL) : false)
		return FAIL(c, REFUSED, "not one text");
	if (!body.is_array)
		text = text_of(m, body.content);
	rt_json_u64(field(c, "at"), &chars);
	cut = rt_utf8_offset(text, (size_t)chars);
	if (chars == 0 || cut == SIZE_MAX || cut >= text.size)
		return FAIL(c, USAGE, "at is outside the text");
	st = check_id(c);
	if (st != RT_OK)
		return st;
	rest = keep_string(m, rt_str_at(text.ptr + cut, text.size - cut));
	if (body.is_array) {
		rest = half(m, body.content, text, cut, true);
		body.content = half(m, body.content, text, cut, false);
	} else {
		body.content = keep_string(m, rt_str_at(text.ptr, cut));
	}
	body.purged = false;
	first.body = make_body(m, body);
	second.entity = make_entity(m, c->doc, str_field(c, "id"));
	second.body = make_body(m, (model_body){.content = rest,
						.is_array = body.is_array,
						.entity = second.entity});
	d = edit_disc(m, c->doc);
	if (d->head == entity && c->take == d->active)
		d->head = entity; /* the first half keeps the id, and the head */
	insert_slots(m, d, c->take, at + 1, &second, 1);
	replace_slot(m, d, c->take, at, first);
	c->out->entity = second.entity;
	c->out->made = true;
	return RT_OK;
}

/* An array of one text, or of nothing. */
static bool
is_text_alone(model *m, rt_str content, rt_str *out)
{
	rt_json_doc *doc = NULL;
	size_t count;

	if (rt_json_read(rt_alloc_libc(), content, &doc, NULL) != RT_OK)
		abort();
	count = yyjson_arr_size(rt_json_root(doc));
	rt_json_free(doc);
	*out = rt_str_at("", 0);
	return count == 0 || (count == 1 && one_text(m, content, out, NULL));
}

static rt_status
op_merge(call *c)
{
	model *m = c->m;
	const model_take *take = &disc_of(m, c->doc)->takes[c->take];
	int entity;
	size_t at;
	model_slot slot;
	model_body body, next;
	model_disc *d;
	rt_str text = {NULL, 0};
	rt_buf buf;
	rt_status st = resolve_in_take(c, c->take, str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	if (at + 1 == take->count)
		return FAIL(c, REFUSED, "nothing to merge with");
	slot = take->slots[at];
	body = m->bodies[slot.body];
	next = m->bodies[take->slots[at + 1].body];
	if (body.is_array) {
		body.content = joined(m, &body, &next);
	} else if (next.is_array && !is_text_alone(m, next.content, &text)) {
		body.content = joined(m, &body, &next);
		body.is_array = true;
	} else {
		rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_str(&buf, text_of(m, body.content));
		rt_buf_add_str(&buf, next.is_array ? text : text_of(m, next.content));
		body.content = keep_string(m, keep_buf(m, &buf));
	}
	body.purged = false;
	slot.body = make_body(m, body);
	d = edit_disc(m, c->doc);
	replace_slot(m, d, c->take, at, slot);
	remove_slots(m, d, c->take, at + 1, 1);
	return RT_OK;
}

static rt_status
op_branch(call *c)
{
	model *m = c->m;
	const model_disc *d = disc_of(m, c->doc);
	int entity;
	size_t from, count;
	rt_str name;
	model_disc *mine;
	rt_status st = resolve_in_disc(c, str_field(c, "at"), &entity, &from);

	if (st != RT_OK)
		return st;
	name = field(c, "name") != NULL ? keep(m, str_field(c, "name"))
					: free_take_name(m, d, d->takes[from].name);
	if (take_named(d, name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a take of that name");
	count = slot_find(&d->takes[from], entity) + 1;
	mine = edit_disc(m, c->doc);
	add_take(m, c->doc, mine, name, mine->takes[from].slots, count);
	c->out->take = name;
	return RT_OK;
}

static rt_status
op_switch(call *c)
{
	model_disc *d;

	if (disc_of(c->m, c->doc)->active == c->take)
		return unchanged(c);
	d = edit_disc(c->m, c->doc);
	d->active = c->take;
	d->head = MODEL_TIP;
	c->out->take = d->takes[c->take].name;
	return RT_OK;
}

static rt_status
op_take_rename(call *c)
{
	const model_disc *d = disc_of(c->m, c->doc);
	rt_str name = str_field(c, "name");
	model_take *takes;

	if (rt_str_eq(d->takes[c->take].name, name))
		return unchanged(c);
	if (take_named(d, name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a take of that name");
	takes = copy(c->m, d->takes, d->take_count, 0, sizeof(*takes));
	takes[c->take].name = keep(c->m, name);
	edit_disc(c->m, c->doc)->takes = takes;
	return RT_OK;
}

static rt_status
op_take_delete(call *c)
{
	const model_disc *d = disc_of(c->m, c->doc);
	bool was_active = d->active == c->take;

	if (d->take_count == 1)
		return FAIL(c, REFUSED, "the last take");
	drop_take(c->m, edit_disc(c->m, c->doc), c->take);
	d = disc_of(c->m, c->doc);
	if (was_active)
		c->out->take = d->takes[d->active].name;
	return RT_OK;
}

static rt_status
op_promote(call *c)
{
	model *m = c->m;
	const model_disc *d = disc_of(m, c->doc);
	model_take take = d->takes[c->take];
	rt_str name = keep(m, str_field(c, "name"));
	bool was_active = d->active == c->take;
	model_project *p;
	model_disc *made;
	int number;
	size_t i;

	if (d->take_count == 1)
		return FAIL(c, REFUSED, "the only take");
	if (cell_named(project_of(m), name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a discussion of that name");
	number = make_doc(m, name, take.slots, take.count);
	made = get(m, sizeof(*made));
	*made = *disc_of(m, number);
	for (i = 0; i < d->label_count; i++)
		if (slot_find(&take, d->labels[i].entity) != SIZE_MAX)
			set_label(m, made, d->labels[i].entity, d->labels[i].text);
	m->docs[number].value = m->docs[number].first = made;
	drop_take(m, edit_disc(m, c->doc), c->take);
	p = edit_project(m);
	add_cell(m, p, number, name);
	if (was_active && p->active == c->doc)
		p->active = number;
	c->out->discussion = name;
	return RT_OK;
}

static rt_status
op_clear(call *c)
{
	const model_disc *d = disc_of(c->m, c->doc);
	bool all = bool_field(c, "all", false) && (d->edited || d->prompt.size > 0);
	model_disc *mine;

	if (d->takes[c->take].count == 0 && !all)
		return unchanged(c);
	mine = edit_disc(c->m, c->doc);
	remove_slots(c->m, mine, c->take, 0, d->takes[c->take].count);
	if (all) {
		mine->prompt = RT_STR("");
		mine->edited = false;
	}
	return RT_OK;
}

static rt_status
op_truncate(call *c)
{
	const model_take *take = &disc_of(c->m, c->doc)->takes[c->take];
	uint64_t pairs = 0, seen = 0;
	size_t at = take->count;

	rt_json_u64(field(c, "pairs"), &pairs);
	while (at > 0 && seen < pairs) {
		at--;
		seen += rt_str_eq_nocase(take->slots[at].role, RT_STR("user"));
	}
	if (seen < pairs || at == 0)
		return unchanged(c);
	remove_slots(c->m, edit_disc(c->m, c->doc), c->take, 0, at);
	return RT_OK;
}

static rt_status
op_graft(call *c)
{
	model *m = c->m;
	const model_disc *d = disc_of(m, c->doc);
	size_t from = take_named(d, str_field(c, "from")), at, t, i, max, n = 0;
	yyjson_val *entries = field(c, "entries"), *item;
	model_slot *run = get(m, yyjson_arr_size(entries) * sizeof(*run));
	int *which = get(m, yyjson_arr_size(entries) * sizeof(*which));
	int neighbour;
	rt_status st;

	for (t = 0; t < d->take_count && from == SIZE_MAX; t++)
		if (d->takes[t].number == number_of(str_field(c, "from"), 't'))
			from = t;
	if (from == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "no such take");
	st = resolve_gap(c, &at, &neighbour);
	if (st != RT_OK)
		return st;
	yyjson_arr_foreach(entries, i, max, item)
	{
		size_t where;

		st = resolve_in_take(c, from, rt_json_str(item), &which[i], &where);
		if (st != RT_OK)
			return st;
	}
	for (i = 0; i < d->takes[from].count; i++) { /* in that take's order, each once */
		model_slot slot = d->takes[from].slots[i];

		for (t = 0; t < max && which[t] != slot.entity; t++)
			;
		if (t == max)
			continue;
		if (slot_find(&d->takes[c->take], slot.entity) != SIZE_MAX) { /* a new id */
			model_body body = m->bodies[slot.body];

			body.grafted = true;
			body.grafted_from = slot.entity;
			body.purged = false;
			body.entity = slot.entity = make_entity(m, c->doc, RT_STR(""));
			slot.body = make_body(m, body);
		}
		run[n++] = slot;
	}
	if (n == 0)
		return unchanged(c);
	insert_slots(m, edit_disc(m, c->doc), c->take, at, run, n);
	return RT_OK;
}

static rt_status
op_head(call *c)
{
	model *m = c->m;
	const model_disc *d = disc_of(m, c->doc);
	int entity = MODEL_START;
	size_t take = c->take;
	model_disc after = *d;
	rt_status st;

	if (!yyjson_is_null(field(c, "entry"))) {
		st = resolve_in_disc(c, str_field(c, "entry"), &entity, &take);
		if (st != RT_OK)
			return st;
		c->out->entity = entity;
	}
	after.active = take;
	after.head = entity;
	settle_head(&after);
	if (after.active == d->active && after.head == d->head)
		return unchanged(c);
	if (after.active != d->active)
		c->out->take = d->takes[take].name;
	*edit_disc(m, c->doc) = after;
	return RT_OK;
}

static rt_status
op_label(call *c)
{
	model *m = c->m;
	rt_str label = str_field(c, "label");
	int entity;
	size_t take;
	rt_status st = resolve_in_disc(c, str_field(c, "entry"), &entity, &take);

	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	if (rt_str_eq(label_of(disc_of(m, c->doc), entity), label))
		return unchanged(c);
	set_label(m, edit_disc(m, c->doc), entity, label);
	return RT_OK;
}

static rt_status
op_setting(call *c)
{
	static const char *const of_disc[] = {"draft", "temperature", "top_p", "max_tokens"};
	rt_str key = keep(c->m, str_field(c, "key"));
	yyjson_val *given = field(c, "value");
	rt_str value = yyjson_is_null(given) ? RT_STR("") : keep_value(c->m, given);
	model_disc d = *disc_of(c->m, c->doc);
	model_project p = *project_of(c->m);
	size_t i;

	for (i = 0; i < 4; i++)
		if (rt_str_is(key, of_disc[i])) {
			if (!pair_set(c->m, &d.settings, &d.setting_count, key, value))
				return unchanged(c);
			*edit_disc(c->m, c->doc) = d;
			return RT_OK;
		}
	if (!pair_set(c->m, &p.settings, &p.setting_count, key, value))
		return unchanged(c);
	c->m->limited = c->m->limited || rt_str_is(key, "undo_capacity");
	*edit_project(c->m) = p;
	return RT_OK;
}

static size_t
role_find(const model_project *p, rt_str role)
{
	size_t i;

	for (i = 0; i < p->role_count; i++)
		if (rt_str_eq(p->roles[i], role))
			return i;
	return SIZE_MAX;
}

static rt_status
op_role_add(call *c)
{
	rt_str role = rt_str_trim(str_field(c, "role"));
	const model_project *p = project_of(c->m);
	model_project *mine;
	rt_str *roles;

	if (role_find(p, role) != SIZE_MAX)
		return unchanged(c);
	roles = copy(c->m, p->roles, p->role_count, 1, sizeof(*roles));
	roles[p->role_count] = keep(c->m, role);
	mine = edit_project(c->m);
	mine->roles = roles;
	mine->role_count++;
	return RT_OK;
}

static rt_status
op_role_remove(call *c)
{
	const model_project *p = project_of(c->m);
	size_t at = role_find(p, str_field(c, "role"));
	model_project *mine;
	rt_str *roles;

	if (at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "no such role");
	roles = copy(c->m, p->roles, p->role_count, 0, sizeof(*roles));
	memmove(roles + at, roles + at + 1, (p->role_count - at - 1) * sizeof(*roles));
	mine = edit_project(c->m);
	mine->roles = roles;
	mine->role_count--;
	return RT_OK;
}

static rt_status
op_prompt(call *c)
{
	rt_str text = str_field(c, "text");
	model_disc *d;

	if (rt_str_eq(disc_of(c->m, c->doc)->prompt, text))
		return unchanged(c);
	d = edit_disc(c->m, c->doc);
	d->prompt = keep(c->m, text);
	d->edited = true;
	return RT_OK;
}

static rt_status
op_notify(call *c)
{
	model *m = c->m;
	const model_disc *d = disc_of(m, c->doc);
	model_slot slot = {.role = RT_STR("system"), .kind = RT_STR("prompt_notice"), .ts = m->now};
	rt_buf buf;
	rt_status st;

	if (!d->edited)
		return unchanged(c);
	st = check_id(c);
	if (st != RT_OK)
		return st;
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "[user edited prompt to: \"");
	rt_buf_add_str(&buf, d->prompt);
	rt_buf_add_c(&buf, "\"]");
	slot.entity = make_entity(m, c->doc, str_field(c, "id"));
	slot.body = make_body(m, (model_body){.content = keep_string(m, keep_buf(m, &buf)),
					      .entity = slot.entity});
	append_slot(c, slot);
	edit_disc(m, c->doc)->edited = false;
	c->out->entity = slot.entity;
	c->out->made = true;
	return RT_OK;
}

static const char *const list_names[] = {"files", "context_files", "screenshots"};

static rt_status
op_files(call *c)
{
	rt_str items = keep_value(c->m, field(c, "items"));
	const model_disc *d = disc_of(c->m, c->doc);
	size_t i = 0;

	while (!rt_str_is(str_field(c, "which"), list_names[i]))
		i++;
	if (rt_str_is(items, "[]"))
		items = RT_STR("");
	if (rt_str_eq(d->files[i], items))
		return unchanged(c);
	edit_disc(c->m, c->doc)->files[i] = items;
	return RT_OK;
}

static rt_status
op_track(call *c)
{
	yyjson_val *track = field(c, "track");
	rt_str value = rt_json_str(track).size == 0 ? RT_STR("") : keep_value(c->m, track);

	if (rt_str_eq(disc_of(c->m, c->doc)->track, value))
		return unchanged(c);
	edit_disc(c->m, c->doc)->track = value;
	return RT_OK;
}

/* C53: a preset keeps the lists of files and the prompts. */
static const char *const prompt_names[] = {"project_system_prompt", "global_system_prompt",
					   "base_system_prompt", "use_default_base_prompt"};

static void add_pairs(rt_buf *out, const model_pair *pairs, size_t count);

static rt_status
op_preset_save(call *c)
{
	model *m = c->m;
	const model_project *p = project_of(m);
	model_disc d = *disc_of(m, c->doc);
	model_pair kept[7];
	size_t i, n = 0;
	rt_buf buf;

	for (i = 0; i < 3; i++)
		if (d.files[i].size > 0)
			kept[n++] = (model_pair){rt_str_of(list_names[i]), d.files[i]};
	for (i = 0; i < 4; i++) {
		size_t at = pair_find(p->settings, p->setting_count, rt_str_of(prompt_names[i]));

		if (at != SIZE_MAX)
			kept[n++] = p->settings[at];
	}
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add_pairs(&buf, kept, n);
	if (!pair_set(m, &d.presets, &d.preset_count, keep(m, str_field(c, "name")),
		      keep_buf(m, &buf)))
		return unchanged(c);
	*edit_disc(m, c->doc) = d;
	return RT_OK;
}

static rt_status
op_preset_load(call *c)
{
	model *m = c->m;
	model_project p = *project_of(m);
	model_disc d = *disc_of(m, c->doc);
	size_t at = pair_find(d.presets, d.preset_count, str_field(c, "name")), i;
	bool lists = false, prompts = false;
	rt_json_doc *doc = NULL;

	if (at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "no such preset");
	if (rt_json_read(rt_alloc_libc(), d.presets[at].value, &doc, NULL) != RT_OK)
		abort();
	for (i = 0; i < 3; i++) {
		yyjson_val *kept = rt_json_get(rt_json_root(doc), list_names[i]);
		rt_str value = kept == NULL ? RT_STR("") : keep_value(m, kept);

		lists = lists || !rt_str_eq(d.files[i], value);
		d.files[i] = value;
	}
	for (i = 0; i < 4; i++) {
		yyjson_val *kept = rt_json_get(rt_json_root(doc), prompt_names[i]);

		if (pair_set(m, &p.settings, &p.setting_count, rt_str_of(prompt_names[i]),
			     kept == NULL ? RT_STR("") : keep_value(m, kept)))
			prompts = true;
	}
	rt_json_free(doc);
	if (!lists && !prompts)
		return unchanged(c);
	if (lists)
		*edit_disc(m, c->doc) = d;
	if (prompts)
		*edit_project(m) = p;
	return RT_OK;
}

static rt_status
op_preset_delete(call *c)
{
	model_disc d = *disc_of(c->m, c->doc);

	if (!pair_set(c->m, &d.presets, &d.preset_count, str_field(c, "name"), RT_STR("")))
		return FAIL(c, NOT_FOUND, "no such preset");
	*edit_disc(c->m, c->doc) = d;
	return RT_OK;
}

static rt_status
op_disc_new(call *c)
{
	model *m = c->m;
	rt_str name = keep(m, str_field(c, "name"));
	model_project *p;
	int number;

	if (cell_named(project_of(m), name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a discussion of that name");
	number = make_doc(m, name, NULL, 0);
	p = edit_project(m);
	add_cell(m, p, number, name);
	p->active = number;
	c->out->discussion = name;
	return RT_OK;
}

static rt_status
op_disc_switch(call *c)
{
	if (cell_of(project_of(c->m), c->doc) == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "not in the catalogue");
	if (project_of(c->m)->active == c->doc)
		return unchanged(c);
	edit_project(c->m)->active = c->doc;
	return RT_OK;
}

static rt_status
op_disc_rename(call *c)
{
	const model_project *p = project_of(c->m);
	size_t at = cell_of(p, c->doc);
	rt_str name = str_field(c, "name");
	model_cell *cells;

	if (at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "not in the catalogue");
	if (rt_str_eq(p->cells[at].name, name))
		return unchanged(c);
	if (cell_named(p, name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a discussion of that name");
	cells = copy(c->m, p->cells, p->cell_count, 0, sizeof(*cells));
	cells[at].name = keep(c->m, name);
	edit_project(c->m)->cells = cells;
	return RT_OK;
}

static rt_status
op_disc_delete(call *c)
{
	model_project *p;
	model_cell *cells;
	size_t at = cell_of(project_of(c->m), c->doc), i, best = 0;

	if (at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "not in the catalogue");
	if (project_of(c->m)->cell_count == 1)
		return FAIL(c, REFUSED, "the last discussion");
	p = edit_project(c->m);
	cells = copy(c->m, p->cells, p->cell_count, 0, sizeof(*cells));
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

/* The text of an entry; of content blocks their texts, one below the other. */
static rt_str
words_of(model *m, const model_body *body)
{
	rt_json_doc *doc = NULL;
	yyjson_val *block;
	size_t i, max;
	bool first = true;
	rt_buf buf;

	if (!body->is_array)
		return text_of(m, body->content);
	if (rt_json_read(rt_alloc_libc(), body->content, &doc, NULL) != RT_OK)
		abort();
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	yyjson_arr_foreach(rt_json_root(doc), i, max, block)
	{
		if (!is_text_block(block))
			continue;
		if (!first)
			rt_buf_add_byte(&buf, '\n');
		first = false;
		rt_buf_add_str(&buf, block_text(block));
	}
	rt_json_free(doc);
	return keep_buf(m, &buf);
}

static rt_status
op_extract(call *c)
{
	model *m = c->m;
	const model_disc *d = disc_of(m, c->doc);
	rt_str name = keep(m, field(c, "name") != NULL ? str_field(c, "name") : c->chosen);
	int entity, number;
	size_t from, count, i;
	model_take take;
	model_project *p;
	model_disc *made;
	rt_status st = resolve_in_disc(c, str_field(c, "entry"), &entity, &from);

	if (st != RT_OK)
		return st;
	if (cell_named(project_of(m), name) != SIZE_MAX)
		return FAIL(c, REFUSED, "there is a discussion of that name");
	take = d->takes[from];
	count = slot_find(&take, entity) + 1;
	if (rt_str_eq_nocase(take.slots[count - 1].role, RT_STR("user"))) {
		count--;
		c->out->has_editor = true;
		c->out->editor = words_of(m, &m->bodies[take.slots[count].body]);
	}
	take.count = count;
	number = make_doc(m, name, take.slots, count);
	made = get(m, sizeof(*made));
	*made = *disc_of(m, number);
	for (i = 0; i < d->label_count; i++)
		if (slot_find(&take, d->labels[i].entity) != SIZE_MAX)
			set_label(m, made, d->labels[i].entity, d->labels[i].text);
	m->docs[number].value = m->docs[number].first = made; /* its history is fresh */
	made = edit_disc(m, number);
	made->link_doc = c->doc;
	made->link_entity = entity;
	p = edit_project(m);
	add_cell(m, p, number, name);
	p->active = number;
	c->out->discussion = name;
	return RT_OK;
}

static void
default_roles(model *m, model_project *p)
{
	rt_str *roles = get(m, 4 * sizeof(*roles));

	roles[0] = RT_STR("User");
	roles[1] = RT_STR("AI");
	roles[2] = RT_STR("Vendor API");
	roles[3] = RT_STR("System");
	p->roles = roles;
	p->role_count = 4;
}

static rt_status
op_reset(call *c)
{
	model_project *p;
	int number = make_doc(c->m, RT_STR("main"), NULL, 0);

	p = edit_project(c->m);
	*p = (model_project){.active = number};
	add_cell(c->m, p, number, RT_STR("main"));
	default_roles(c->m, p);
	return RT_OK;
}

static rt_status
op_purge(call *c)
{
	model *m = c->m;
	bool changed = false;
	int entity;
	size_t take, i;
	rt_status st = resolve(c, c->take, str_field(c, "entry"), &entity);

	(void)take;
	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	for (i = 0; i < m->body_count; i++)
		if (m->bodies[i].entity == entity && !m->bodies[i].purged) {
			m->bodies[i] = (model_body){
				.content = RT_STR("\"\""), .purged = true, .entity = entity};
			changed = true;
		}
	return changed ? RT_OK : unchanged(c);
}

/* ---- history ---- */

static const model_part *
part_of(const model_step *step, int doc)
{
	size_t i;

	for (i = 0; i < step->part_count; i++)
		if (step->parts[i].doc == doc)
			return &step->parts[i];
	return NULL;
}

/* What one operation has done, for a revert. values: of the documents before it. */
static void
note_act(model *m, rt_str op, int entity, const void *const *values, size_t count)
{
	model_act act = {.op = op, .entity = entity};
	size_t i;

	act.parts = get(m, m->doc_count * sizeof(*act.parts));
	for (i = 0; i < m->doc_count; i++) {
		const void *before = i < count ? values[i] : m->docs[i].first;

		if (before != m->docs[i].value)
			act.parts[act.part_count++] =
				(model_part){(int)i, -1, before, m->docs[i].value};
	}
	m->acts = more(m->acts, m->act_count, sizeof(*m->acts));
	m->acts[m->act_count++] = act;
}

/* The documents that the operations touched become a step. */
static void
make_step(model *m, int view)
{
	model_step step = {.op = m->acts[0].op, .view = view, .act_count = m->act_count};
	size_t i;

	step.seq = ++m->seq;
	step.acts = copy(m, m->acts, m->act_count, 0, sizeof(*m->acts));
	for (i = 1; i < m->act_count; i++)
		if (!rt_str_eq(m->acts[i].op, step.op))
			step.op = RT_STR("batch");
	step.parts = copy(m, m->touched, m->touched_count, 0, sizeof(*step.parts));
	step.part_count = m->touched_count;
	/* C30: redo ends, in the discussion and in the project */
	m->docs[0].redo = -1;
	m->docs[view].redo = -1;
	for (i = 0; i < step.part_count; i++) {
		model_doc *doc = &m->docs[step.parts[i].doc];

		step.parts[i].after = doc->value;
		doc->current = (int)m->step_count;
		doc->redo = -1;
	}
	m->steps = more(m->steps, m->step_count, sizeof(*m->steps));
	m->steps[m->step_count++] = step;
	m->touched_count = 0;
	m->act_count = 0;
}

/* Take a step back in these documents, as one thing for redo. */
static void
take_back(model *m, int step, const int *docs, size_t count)
{
	model_undone u = {.step = step, .doc_count = count};
	size_t i;

	u.docs = copy(m, docs, count, 0, sizeof(*docs));
	u.below = get(m, count * sizeof(*u.below));
	for (i = 0; i < count; i++) {
		const model_part *part = part_of(&m->steps[step], docs[i]);
		model_doc *doc = &m->docs[docs[i]];

		u.below[i] = doc->redo;
		doc->value = part->before;
		doc->current = part->parent;
		doc->redo = (int)m->undone_count;
	}
	m->undone = more(m->undone, m->undone_count, sizeof(*m->undone));
	m->undone[m->undone_count++] = u;
}

static bool
is_switch(const model_step *step)
{
	return rt_str_is(step->op, "take.switch") || rt_str_is(step->op, "discussion.switch");
}

/* The newest step in effect in a document, but for (pinned) the switches: a client that names
 * its place is not moved by those of others, and undo passes over them (C1). */
static int
newest(const model *m, int doc, bool pinned)
{
	int step = m->docs[doc].current;

	while (step >= 0 && pinned && is_switch(&m->steps[step]))
		step = part_of(&m->steps[step], doc)->parent;
	return step;
}

static bool
undo_one(model *m, int view, bool disc, bool project, bool pinned)
{
	int step = -1, *docs;
	size_t count = 0, with = 0, i;

	if (disc)
		step = newest(m, view, pinned);
	if (project && newest(m, 0, pinned) > step)
		step = newest(m, 0, pinned);
	if (step < 0)
		return false;
	docs = get(m, m->steps[step].part_count * sizeof(*docs));
	for (i = 0; i < m->steps[step].part_count; i++) {
		int doc = m->steps[step].parts[i].doc;

		if (newest(m, doc, pinned) != step)
			continue; /* C2 */
		for (; m->docs[doc].current != step; with++)
			take_back(m, m->docs[doc].current, &doc, 1);
		docs[count++] = doc;
	}
	take_back(m, step, docs, count);
	m->undone[m->undone_count - 1].with = with; /* they come back together */
	return true;
}

/* Can what was undone last in this document be brought back there? */
static bool
can_redo(const model *m, int doc)
{
	const model_doc *d = &m->docs[doc];

	return d->redo >= 0 &&
	       d->current == part_of(&m->steps[m->undone[d->redo].step], doc)->parent;
}

/* What was undone together comes back together (C2), but for documents that a jump has taken
 * elsewhere since. */
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

/* How many steps of a discussion and the project are undone, as redo would bring them back. */
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

/* The setting undo_capacity (C58), if it is a whole number from 0 on. */
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

static rt_status
op_undo_redo(call *c, bool undo)
{
	model *m = c->m;
	rt_str scope = str_field(c, "scope");
	uint64_t count = 1, n, capacity = undo ? capacity_of(project_of(m)) : 0;

	rt_json_u64(field(c, "count"), &count);
	for (n = 0; n < count; n++) {
		int view = c->pinned ? c->doc : project_of(m)->active;
		bool disc = !rt_str_is(scope, "project"), project = !rt_str_is(scope, "discussion");

		if (undo && capacity < UINT64_MAX && undone_in(m, view) >= capacity)
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

/* Take the newest step back, in those of the documents that have to go up from it to come
 * to `to` (-1: to their beginning), as one thing for redo; false: none has to. */
static bool
walk_up(model *m, const int *docs, size_t count, int to)
{
	int *here = get(m, count * sizeof(*here)), newest = -1;
	size_t i, n = 0;

	for (i = 0; i < count; i++) {
		int current = m->docs[docs[i]].current;

		if (is_at_or_above(m, docs[i], current, to))
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

/* Move documents to right after a step (-1: to their beginning). */
static bool
walk(model *m, const int *docs, size_t count, int to)
{
	bool moved = false;
	size_t k;

	while (walk_up(m, docs, count, to))
		moved = true;
	for (k = 0; k < count; k++) {
		model_doc *d = &m->docs[docs[k]];

		while (d->current != to) {
			int next = to;

			while (part_of(&m->steps[next], docs[k])->parent != d->current)
				next = part_of(&m->steps[next], docs[k])->parent;
			if (d->redo >= 0 && m->undone[d->redo].step == next) {
				const model_undone *u = &m->undone[d->redo];
				size_t i;

				for (i = 0; i < u->doc_count; i++)
					if (u->docs[i] == docs[k])
						break;
				d->redo = u->below[i];
			}
			d->value = part_of(&m->steps[next], docs[k])->after;
			d->current = next;
			moved = true;
		}
	}
	return moved;
}

static rt_status
op_jump(call *c)
{
	model *m = c->m;
	uint64_t to = 0;
	int step, *docs;
	size_t i;

	rt_json_u64(field(c, "to"), &to);
	if (to == 0)
		return walk(m, &c->doc, 1, -1) ? RT_OK : unchanged(c);
	step = step_with_seq(m, to);
	if (step < 0)
		return FAIL(c, NOT_FOUND, "no such step");
	docs = get(m, m->steps[step].part_count * sizeof(*docs));
	for (i = 0; i < m->steps[step].part_count; i++)
		docs[i] = m->steps[step].parts[i].doc;
	return walk(m, docs, m->steps[step].part_count, step) ? RT_OK : unchanged(c);
}

static bool
same_slot(const model_slot *a, const model_slot *b)
{
	return a->entity == b->entity && a->body == b->body && a->muted == b->muted &&
	       rt_str_eq(a->role, b->role);
}

/* One field: as it was, if it is as the step left it. */
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
revert_pairs(model *m, const model_pair **now, size_t *count, const model_pair *was, size_t was_count,
	     const model_pair *then, size_t then_count)
{
	size_t i;
	bool ok = true;

	for (i = 0; i < was_count + then_count; i++) {
		rt_str key = i < was_count ? was[i].key : then[i - was_count].key;
		size_t a = pair_find(was, was_count, key), b = pair_find(then, then_count, key);
		size_t n = pair_find(*now, *count, key);
		rt_str before = a == SIZE_MAX ? RT_STR("") : was[a].value;
		rt_str after = b == SIZE_MAX ? RT_STR("") : then[b].value;
		rt_str value = n == SIZE_MAX ? RT_STR("") : (*now)[n].value;

		if (rt_str_eq(before, after) || (i >= was_count && a != SIZE_MAX))
			continue;
		ok = ok && rt_str_eq(value, after);
		pair_set(m, now, count, key, before);
	}
	return ok;
}

static bool
same_roles(const model_project *a, const model_project *b)
{
	size_t i;

	for (i = 0; i < a->role_count && i < b->role_count; i++)
		if (!rt_str_eq(a->roles[i], b->roles[i]))
			return false;
	return a->role_count == b->role_count;
}

static rt_status
revert_fields(call *c, const model_part *part)
{
	model *m = c->m;
	bool ok = true;
	size_t i;

	if (part->doc == 0) {
		const model_project *was = part->before, *then = part->after;
		model_project now = *project_of(m);

		if (!same_roles(was, then)) {
			ok = same_roles(&now, then);
			now.roles = was->roles;
			now.role_count = was->role_count;
		}
		ok = ok && revert_pairs(m, &now.settings, &now.setting_count, was->settings,
					was->setting_count, then->settings, then->setting_count);
		if (ok)
			*edit_project(m) = now;
	} else {
		const model_disc *was = part->before, *then = part->after;
		model_disc now = *disc_of(m, part->doc);

		c->doc = part->doc;
		ok = revert_text(&now.prompt, was->prompt, then->prompt) &&
		     revert_text(&now.track, was->track, then->track);
		if (was->edited != then->edited) {
			ok = ok && now.edited == then->edited;
			now.edited = was->edited;
		}
		for (i = 0; i < 3; i++)
			ok = ok && revert_text(&now.files[i], was->files[i], then->files[i]);
		ok = ok && revert_pairs(m, &now.settings, &now.setting_count, was->settings,
					was->setting_count, then->settings, then->setting_count);
		if (ok)
			*edit_disc(m, part->doc) = now;
	}
	return ok ? RT_OK : FAIL(c, REFUSED, "it is not as the step left it");
}

/* One operation of a step. */
static rt_status
revert_act(call *c, model_act step)
{
	model *m = c->m;
	int doc;
	const model_disc *was, *then, *now;
	model_disc *mine;
	size_t t, i, changed = 0;

	if (step.part_count == 0)
		return RT_OK; /* it changed nothing */
	doc = step.parts[0].doc;
	if (step.part_count != 1)
		return FAIL(c, REFUSED, "cannot revert this");
	if (rt_str_is(step.op, "setting.set") || rt_str_starts(step.op, RT_STR("role.")) ||
	    rt_str_is(step.op, "prompt.update") || rt_str_is(step.op, "files.set") ||
	    rt_str_is(step.op, "track.set"))
		return revert_fields(c, &step.parts[0]);
	if (doc == 0)
		return FAIL(c, REFUSED, "cannot revert this");
	c->doc = doc;
	was = step.parts[0].before;
	then = step.parts[0].after;
	now = disc_of(m, doc);
	if (rt_str_is(step.op, "label.set")) {
		rt_str before = label_of(was, step.entity);

		if (!rt_str_eq(label_of(now, step.entity), label_of(then, step.entity)))
			return FAIL(c, REFUSED, "the label is another by now");
		set_label(m, edit_disc(m, doc), step.entity, before);
		return RT_OK;
	}
	if (!rt_str_is(step.op, "entry.append") && !rt_str_is(step.op, "entry.insert") &&
	    !rt_str_is(step.op, "entry.delete") && !rt_str_is(step.op, "entry.edit") &&
	    !rt_str_is(step.op, "entry.role") && !rt_str_is(step.op, "entry.mute"))
		return FAIL(c, REFUSED, "cannot revert this");
	mine = get(m, sizeof(*mine));
	*mine = *now;
	for (t = 0; t < then->take_count; t++) {
		const model_take *after = &then->takes[t], *before = NULL;
		size_t here = SIZE_MAX, k;

		for (k = 0; k < was->take_count; k++)
			if (was->takes[k].number == after->number)
				before = &was->takes[k];
		if (before != NULL && before->slots == after->slots && before->count == after->count)
			continue;
		for (k = 0; k < now->take_count; k++)
			if (now->takes[k].number == after->number)
				here = k;
		if (here == SIZE_MAX)
			return FAIL(c, REFUSED, "the take has gone");
		changed++;
		if (rt_str_is(step.op, "entry.append") || rt_str_is(step.op, "entry.insert")) {
			size_t at = slot_find(&mine->takes[here], step.entity);
			size_t there = slot_find(after, step.entity);

			if (at == SIZE_MAX || !same_slot(&mine->takes[here].slots[at], &after->slots[there]))
				return FAIL(c, REFUSED, "it is not as the step left it");
			remove_slots(m, mine, here, at, 1);
		} else if (rt_str_is(step.op, "entry.delete")) {
			for (i = 0; i < before->count; i++) {
				size_t at = 0, p;

				if (slot_find(after, before->slots[i].entity) != SIZE_MAX)
					continue;
				if (slot_find(&mine->takes[here], before->slots[i].entity) != SIZE_MAX)
					return FAIL(c, REFUSED, "it is back already");
				for (p = i; p-- > 0 && at == 0;) {
					at = slot_find(&mine->takes[here], before->slots[p].entity);
					at = at == SIZE_MAX ? 0 : at + 1;
				}
				insert_slots(m, mine, here, at, &before->slots[i], 1);
			}
		} else {
			size_t at = slot_find(&mine->takes[here], step.entity);
			model_slot slot, left, old;

			if (at == SIZE_MAX)
				return FAIL(c, REFUSED, "the entry has gone");
			slot = mine->takes[here].slots[at];
			left = after->slots[slot_find(after, step.entity)];
			old = before->slots[slot_find(before, step.entity)];
			if (rt_str_is(step.op, "entry.edit")) {
				if (slot.body != left.body)
					return FAIL(c, REFUSED, "it is not as the step left it");
				slot.body = old.body;
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
			replace_slot(m, mine, here, at, slot);
		}
	}
	if (changed == 0)
		return FAIL(c, REFUSED, "cannot revert this");
	*edit_disc(m, doc) = *mine;
	return RT_OK;
}

/* C17, for the kinds that the contract names. A step of several operations of one kind is
 * reverted too, the last one first. */
static rt_status
op_revert(call *c)
{
	model *m = c->m;
	uint64_t seq = 0;
	int number;
	model_step step;
	size_t i;
	rt_status st = RT_OK;

	rt_json_u64(field(c, "seq"), &seq);
	number = step_with_seq(m, seq);
	if (number < 0)
		return FAIL(c, NOT_FOUND, "no such step");
	step = m->steps[number];
	if (rt_str_is(step.op, "batch"))
		return FAIL(c, REFUSED, "cannot revert this");
	for (i = step.act_count; i-- > 0 && st == RT_OK;)
		st = revert_act(c, step.acts[i]);
	return st;
}

/* ---- the table of operations ---- */

typedef rt_status (*op_fn)(call *c);

static rt_status
op_undo(call *c)
{
	return op_undo_redo(c, true);
}

static rt_status
op_redo(call *c)
{
	return op_undo_redo(c, false);
}

/* Field types: s string, S not empty, c content, n whole number, b bool, l list, m moment,
 * i id, x anything; then ! must be there, 0 may be null. */
static const struct {
	const char *name;
	op_fn run;
	const char *fields;
	bool on_take; /* "take" is what it is about */
	bool on_disc; /* "discussion" is */
	bool gap;     /* before or after, exactly one */
} table[] = {
	{"entry.append", op_append, "role:S content:c kind:s id:i ts:m prompt:s", 0, 0, 0},
	{"entry.insert", op_insert, "before:s after:s role:S content:c kind:s id:i ts:m", 0, 0, 1},
	{"entry.edit", op_edit, "entry:s! content:c! everywhere:b keep_blocks:b", 0, 0, 0},
	{"entry.role", op_role, "entry:s! role:S!", 0, 0, 0},
	{"entry.delete", op_delete, "entry:s from:s to:s", 0, 0, 0},
	{"entry.move", op_move, "entry:s! before:s after:s", 0, 0, 1},
	{"entry.mute", op_mute, "entry:s! muted:b", 0, 0, 0},
	{"entry.view", op_view, "entry:s all:b collapsed:b read_mode:b", 0, 0, 0},
	{"entry.split", op_split, "entry:s! at:n! id:i", 0, 0, 0},
	{"entry.merge", op_merge, "entry:s!", 0, 0, 0},
	{"take.branch", op_branch, "at:s! name:S", 0, 0, 0},
	{"take.switch", op_switch, "take:s!", 1, 0, 0},
	{"take.rename", op_take_rename, "take:s! name:S!", 1, 0, 0},
	{"take.delete", op_take_delete, "take:s!", 1, 0, 0},
	{"take.promote", op_promote, "take:s! name:S!", 1, 0, 0},
	{"take.clear", op_clear, "all:b", 0, 0, 0},
	{"take.truncate", op_truncate, "pairs:n!", 0, 0, 0},
	{"take.graft", op_graft, "entries:l! from:s! before:s after:s", 0, 0, 1},
	{"head.move", op_head, "entry:s!0", 0, 0, 0},
	{"label.set", op_label, "entry:s! label:s!0", 0, 0, 0},
	{"setting.set", op_setting, "key:S! value:x!0", 0, 0, 0},
	{"role.add", op_role_add, "role:S!", 0, 0, 0},
	{"role.remove", op_role_remove, "role:s!", 0, 0, 0},
	{"prompt.update", op_prompt, "text:s!", 0, 0, 0},
	{"prompt.notify", op_notify, "id:i", 0, 0, 0},
	{"files.set", op_files, "which:s! items:l!", 0, 0, 0},
	{"track.set", op_track, "track:s!0", 0, 0, 0},
	{"preset.save", op_preset_save, "name:S!", 0, 0, 0},
	{"preset.load", op_preset_load, "name:S!", 0, 0, 0},
	{"preset.delete", op_preset_delete, "name:S!", 0, 0, 0},
	{"discussion.new", op_disc_new, "name:S!", 0, 0, 0},
	{"discussion.switch", op_disc_switch, "discussion:s!", 0, 1, 0},
	{"discussion.rename", op_disc_rename, "discussion:s! name:S!", 0, 1, 0},
	{"discussion.delete", op_disc_delete, "discussion:s!", 0, 1, 0},
	{"discussion.extract", op_extract, "entry:s! name:S", 0, 0, 0},
	{"project.reset", op_reset, "", 0, 0, 0},
	{"undo", op_undo, "count:n scope:s", 0, 0, 0},
	{"redo", op_redo, "count:n scope:s", 0, 0, 0},
	{"jump", op_jump, "to:n!", 0, 0, 0},
	{"revert", op_revert, "seq:n!", 0, 0, 0},
	{"purge", op_purge, "entry:s!", 0, 0, 0},
};

static bool
value_fits(yyjson_val *value, char type)
{
	rt_str s = rt_json_str(value);
	bool string = yyjson_is_str(value);
	rt_moment ts;
	uint64_t n;

	switch (type) {
	case 's': return string;
	case 'S': return string && s.size > 0;
	case 'c': return string || yyjson_is_arr(value);
	case 'n': return rt_json_u64(value, &n);
	case 'b': return yyjson_is_bool(value);
	case 'l': return yyjson_is_arr(value);
	case 'i': return string && id_is_legal(s);
	case 'm':
		return rt_json_is_number(value) ? rt_moment_parse_number(s, &ts)
						: string && rt_moment_parse(s, &ts);
	default: return true;
	}
}

/* What can be said of a request without looking at the project. */
static rt_status
check_form(call *c, size_t row)
{
	const char *spec = table[row].fields;
	uint64_t count = 1;
	rt_str s;

	while (*spec != '\0') {
		size_t name = strcspn(spec, ":"), end = strcspn(spec, " ");
		bool needed = memchr(spec, '!', end) != NULL, null_too = spec[end - 1] == '0';
		yyjson_val *value;
		char key[32] = "";

		memcpy(key, spec, name);
		value = field(c, key);
		if (value == NULL && needed)
			return FAIL(c, USAGE, "%s is missing", key);
		if (value != NULL && !(null_too && yyjson_is_null(value)) &&
		    !value_fits(value, spec[name + 1])) {
			c->out->loose = yyjson_is_str(value);
			return FAIL(c, USAGE, "%s cannot be that", key);
		}
		spec += end + (spec[end] == ' ');
	}
	c->out->loose = field(c, "before") != NULL || field(c, "from") != NULL;
	if (table[row].gap && (field(c, "before") != NULL) == (field(c, "after") != NULL))
		return FAIL(c, USAGE, "one of before and after is needed");
	if (table[row].run == op_delete &&
	    ((field(c, "from") != NULL) != (field(c, "to") != NULL) ||
	     (field(c, "entry") != NULL) == (field(c, "from") != NULL)))
		return FAIL(c, USAGE, "entry, or from and to");
	if (table[row].run == op_view &&
	    (field(c, "entry") != NULL) == bool_field(c, "all", false))
		return FAIL(c, USAGE, "entry or all");
	if (table[row].run == op_view && field(c, "collapsed") == NULL &&
	    field(c, "read_mode") == NULL)
		return FAIL(c, USAGE, "collapsed or read_mode");
	if ((table[row].run == op_undo || table[row].run == op_redo) && field(c, "count") != NULL &&
	    (!rt_json_u64(field(c, "count"), &count) || count < 1))
		return FAIL(c, USAGE, "count is less than one");
	s = str_field(c, "scope");
	if ((table[row].run == op_undo || table[row].run == op_redo) && field(c, "scope") != NULL &&
	    !rt_str_is(s, "discussion") && !rt_str_is(s, "project"))
		return FAIL(c, USAGE, "scope is discussion or project");
	s = str_field(c, "which");
	if (table[row].run == op_files && !rt_str_is(s, "files") && !rt_str_is(s, "context_files") &&
	    !rt_str_is(s, "screenshots"))
		return FAIL(c, USAGE, "which is files, context_files or screenshots");
	if (table[row].run == op_role_add && rt_str_trim(str_field(c, "role")).size == 0)
		return FAIL(c, USAGE, "an empty role");
	if (table[row].run == op_graft) {
		size_t i, max;
		yyjson_val *item;

		yyjson_arr_foreach(field(c, "entries"), i, max, item)
		{
			if (!yyjson_is_str(item))
				return FAIL(c, USAGE, "entries are addresses");
		}
	}
	return RT_OK;
}

/* C29. gone_too: a take that is no more may be named by its id. */
static rt_status
resolve_place(call *c, bool gone_too)
{
	const model *m = c->m;
	const model_project *p = project_of(m);
	yyjson_val *disc = field(c, "discussion"), *take = field(c, "take");
	const model_disc *d;
	size_t i;

	if ((disc != NULL && !yyjson_is_str(disc)) || (take != NULL && !yyjson_is_str(take)))
		return FAIL(c, USAGE, "a place is named by a string");
	c->doc = p->active;
	c->pinned = rt_json_str(disc).size > 0;
	c->take_named = rt_json_str(take).size > 0;
	if (disc != NULL && rt_json_str(disc).size > 0) {
		size_t at = cell_named(p, rt_json_str(disc));

		c->doc = at != SIZE_MAX ? p->cells[at].number : number_of(rt_json_str(disc), 'd');
		if (c->doc == 0 || c->doc >= (int)m->doc_count)
			return FAIL(c, NOT_FOUND, "no such discussion");
	}
	d = disc_of(m, c->doc);
	c->take = d->active;
	if (take != NULL && rt_json_str(take).size > 0) {
		c->take = take_named(d, rt_json_str(take));
		for (i = 0; i < d->take_count && c->take == SIZE_MAX; i++)
			if (d->takes[i].number == number_of(rt_json_str(take), 't'))
				c->take = i;
		if (c->take == SIZE_MAX &&
		    (!gone_too || number_of(rt_json_str(take), 't') == 0 ||
		     number_of(rt_json_str(take), 't') >= m->docs[c->doc].next_take))
			return FAIL(c, NOT_FOUND, "no such take");
	}
	return RT_OK;
}

/* One operation, without making a step of it. out_row: which. */
static rt_status
run_one(call *c, size_t *out_row)
{
	size_t row, i, count = c->m->doc_count;
	const void **values;
	rt_status st;

	c->out->entity = -1;
	if (!yyjson_is_obj(c->op) || !yyjson_is_str(field(c, "op")))
		return FAIL(c, USAGE, "not an operation");
	c->name = keep(c->m, str_field(c, "op"));
	for (row = 0; row < sizeof(table) / sizeof(table[0]); row++)
		if (rt_str_is(c->name, table[row].name))
			break;
	if (row == sizeof(table) / sizeof(table[0]))
		return FAIL(c, USAGE, "unknown operation");
	*out_row = row;
	st = check_form(c, row);
	if (st == RT_OK)
		c->out->loose = false;
	if (c->m->in_atomic &&
	    (table[row].run == op_undo || table[row].run == op_redo || table[row].run == op_jump ||
	     table[row].run == op_purge)) {
		c->out->loose = true;
		return FAIL(c, REFUSED, "not inside an atomic group");
	}
	if (st == RT_OK) {
		int active = project_of(c->m)->active;

		st = resolve_place(c, table[row].run == op_undo || table[row].run == op_redo ||
					      table[row].run == op_jump);
		c->view = table[row].on_disc ? active : c->doc;
	}
	if (st != RT_OK)
		return st;
	values = must(malloc(count * sizeof(*values)));
	for (i = 0; i < count; i++)
		values[i] = c->m->docs[i].value;
	st = table[row].run(c);
	if (st == RT_OK && table[row].run != op_undo && table[row].run != op_redo &&
	    table[row].run != op_jump)
		note_act(c->m, c->name, c->out->entity, values, count);
	free(values);
	return st;
}

void
model_apply(model *m, rt_str json, rt_str chosen, model_result *out)
{
	call c = {.m = m, .out = out, .chosen = chosen};
	rt_json_doc *doc = NULL;
	size_t row = 0, i;

	*out = (model_result){.entity = -1};
	m->touched_count = 0;
	m->act_count = 0;
	out->status = rt_json_read(rt_alloc_libc(), json, &doc, NULL);
	if (out->status == RT_OK) {
		c.op = rt_json_root(doc);
		out->status = run_one(&c, &row);
	} else {
		out->status = RT_USAGE;
	}
	if (out->status != RT_OK) {
		for (i = 0; i < m->touched_count; i++)
			m->docs[m->touched[i].doc].value = m->touched[i].before;
	} else if (m->touched_count > 0) {
		make_step(m, c.view);
	} else if (!out->unchanged) {
		m->seq++;
	}
	m->touched_count = 0;
	m->act_count = 0;
	out->seq = m->seq;
	rt_json_free(doc);
}

/* ---- all or nothing ---- */

static void *
duplicate(const void *ptr, size_t count, size_t size)
{
	size_t room = 1;
	void *to;

	while (room < count)
		room *= 2;
	to = must(malloc(room * size));
	if (count > 0)
		memcpy(to, ptr, count * size);
	return to;
}

/* A copy whose lists are its own; documents and texts are shared, they never change. */
static model
save(const model *m)
{
	model s = *m;
	size_t i;

	s.docs = duplicate(m->docs, m->doc_count, sizeof(*m->docs));
	for (i = 0; i < m->doc_count; i++)
		s.docs[i].known = duplicate(m->docs[i].known, m->docs[i].known_count, sizeof(int));
	s.steps = duplicate(m->steps, m->step_count, sizeof(*m->steps));
	s.undone = duplicate(m->undone, m->undone_count, sizeof(*m->undone));
	s.entities = duplicate(m->entities, m->entity_count, sizeof(*m->entities));
	s.bodies = duplicate(m->bodies, m->body_count, sizeof(*m->bodies));
	s.acts = NULL;
	s.act_count = 0;
	s.touched = NULL;
	s.touched_count = 0;
	return s;
}

static void
drop_lists(model *m)
{
	size_t i;

	for (i = 0; i < m->doc_count; i++)
		free(m->docs[i].known);
	free(m->docs);
	free(m->steps);
	free(m->undone);
	free(m->entities);
	free(m->bodies);
	free(m->touched);
	free(m->acts);
}

void
model_apply_atomic(model *m, const rt_str *json, const rt_str *chosen, const rt_str *entries,
		   size_t count, model_result *out)
{
	model before = save(m);
	bool viewed = false;
	int view = project_of(m)->active;
	size_t i, bad = SIZE_MAX, row = 0;

	m->touched_count = 0;
	m->act_count = 0;
	m->in_atomic = true;
	for (i = 0; i < count && bad == SIZE_MAX; i++) {
		call c = {.m = m, .out = &out[i]};
		rt_json_doc *doc = NULL;

		out[i] = (model_result){.entity = -1};
		if (chosen != NULL)
			c.chosen = chosen[i];
		out[i].status = rt_json_read(rt_alloc_libc(), json[i], &doc, NULL);
		if (out[i].status == RT_OK) {
			c.op = rt_json_root(doc);
			out[i].status = run_one(&c, &row);
		} else {
			out[i].status = RT_USAGE;
		}
		rt_json_free(doc);
		/* what follows may name it */
		if (out[i].status == RT_OK && out[i].made && entries != NULL &&
		    m->entities[out[i].entity].id.size == 0)
			(void)model_learn(m, out[i].entity, entries[i]);
		if (out[i].status != RT_OK)
			bad = i;
		else if (!out[i].unchanged)
			viewed = true;
		if (i == 0)
			view = c.view;
	}
	m->in_atomic = false;
	if (bad != SIZE_MAX) { /* C27 */
		int entity, disc, take;
		size_t at;

		/* an address may have meant an entry whose id is not known here */
		out[bad].loose = out[bad].loose || model_unknown(m, &entity, &disc, &take, &at);
		for (i = 0; i < count; i++)
			if (i != bad)
				out[i] = (model_result){.entity = -1,
							.status = out[bad].status,
							.loose = out[bad].loose};
		drop_lists(m);
		*m = before;
		return;
	}
	drop_lists(&before);
	if (m->touched_count > 0)
		make_step(m, view);
	else if (viewed)
		m->seq++;
	for (i = 0; i < count; i++)
		out[i].seq = m->seq;
}

/* ---- the whole ---- */

void
model_init(model *m, const char *now, uint64_t seq)
{
	model_project *p;
	model_disc *nothing;

	memset(m, 0, sizeof(*m));
	m->arena = must(rt_arena_new(rt_alloc_libc()));
	m->now = keep(m, rt_str_of(now));
	m->seq = seq;
	nothing = get(m, sizeof(*nothing));
	m->docs = more(NULL, 0, sizeof(*m->docs));
	p = get(m, sizeof(*p));
	m->docs[m->doc_count++] = (model_doc){.value = p, .first = p, .current = -1, .redo = -1};
	p->active = make_doc(m, RT_STR("main"), NULL, 0);
	add_cell(m, p, p->active, RT_STR("main"));
	default_roles(m, p);
}

void
model_deinit(model *m)
{
	drop_lists(m);
	rt_arena_free(m->arena);
}

bool
model_unknown(const model *m, int *out_entity, int *out_doc, int *out_take, size_t *out_position)
{
	size_t doc, t, i;

	for (doc = 1; doc < m->doc_count; doc++) {
		const model_disc *d = disc_of(m, (int)doc);

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
		if (knows(m, (int)doc, entity) && entity_with_id(m, (int)doc, id) >= 0)
			return false;
	m->entities[entity].id = keep(m, id);
	return id_is_legal(id);
}

/* ---- the canonical form (C47) ---- */

static int
pair_order(const void *a, const void *b)
{
	return rt_str_cmp(((const model_pair *)a)->key, ((const model_pair *)b)->key);
}

/* An object of pairs, sorted by key. */
static void
add_pairs(rt_buf *out, const model_pair *pairs, size_t count)
{
	model_pair *mine = duplicate(pairs, count, sizeof(*mine));
	size_t i;

	qsort(mine, count, sizeof(*mine), pair_order);
	rt_buf_add_byte(out, '{');
	for (i = 0; i < count; i++) {
		rt_json_add_key_str(out, mine[i].key);
		rt_buf_add_str(out, mine[i].value);
	}
	rt_buf_add_byte(out, '}');
	free(mine);
}

/* An object under construction whose values are written first. */
typedef struct json_object {
	model_pair pairs[40];
	size_t count;
	rt_buf values;
	size_t ends[40];
} json_object;

static void
object_begin(json_object *o)
{
	o->count = 0;
	rt_buf_init(&o->values, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

static rt_buf *
object_member(json_object *o, rt_str key)
{
	must(o->count < 40 ? o : NULL);
	if (o->count > 0)
		o->ends[o->count - 1] = o->values.size;
	o->pairs[o->count++].key = key;
	return &o->values;
}

static void
object_end(json_object *o, rt_buf *out)
{
	size_t i, from = 0;

	if (o->count > 0)
		o->ends[o->count - 1] = o->values.size;
	for (i = 0; i < o->count; i++) {
		o->pairs[i].value = rt_str_at(o->values.ptr + from, o->ends[i] - from);
		from = o->ends[i];
	}
	add_pairs(out, o->pairs, o->count);
	rt_buf_deinit(&o->values);
}

static void
object_text(json_object *o, const char *key, rt_str text)
{
	rt_json_add_string(object_member(o, rt_str_of(key)), text);
}

static void
object_true(json_object *o, const char *key, bool value)
{
	if (value)
		rt_buf_add_c(object_member(o, rt_str_of(key)), "true");
}

static void
object_json(json_object *o, const char *key, rt_str json)
{
	if (json.size > 0)
		rt_buf_add_str(object_member(o, rt_str_of(key)), json);
}

static void
add_slot(const model *m, rt_buf *out, const model_slot *slot)
{
	const model_entity *e = &m->entities[slot->entity];
	const model_body *body = &m->bodies[slot->body];
	json_object o;
	size_t i;

	object_begin(&o);
	object_text(&o, "id", e->id);
	object_text(&o, "role", slot->role);
	if (!rt_str_is(slot->kind, "message"))
		object_text(&o, "kind", slot->kind);
	object_json(&o, "content", body->content);
	object_text(&o, "ts", slot->ts);
	object_true(&o, "muted", slot->muted);
	object_true(&o, "collapsed", e->collapsed);
	object_true(&o, "read_mode", e->read_mode);
	object_true(&o, "purged", body->purged);
	if (body->grafted)
		object_text(&o, "grafted_from", m->entities[body->grafted_from].id);
	for (i = 0; i < body->extra_count; i++)
		rt_buf_add_str(object_member(&o, body->extra[i].key), body->extra[i].value);
	object_end(&o, out);
}

static void
add_takes(const model *m, rt_buf *out, const model_disc *d)
{
	size_t t, i;

	rt_buf_add_byte(out, '[');
	for (t = 0; t < d->take_count; t++) {
		rt_json_add_comma(out);
		rt_buf_add_c(out, "{\"entries\":[");
		for (i = 0; i < d->takes[t].count; i++) {
			rt_json_add_comma(out);
			add_slot(m, out, &d->takes[t].slots[i]);
		}
		rt_buf_add_c(out, "],\"name\":");
		rt_json_add_string(out, d->takes[t].name);
		rt_buf_add_byte(out, '}');
	}
	rt_buf_add_byte(out, ']');
}

static void
add_labels(const model *m, rt_buf *out, const model_disc *d)
{
	model_pair *pairs = must(malloc((d->label_count + 1) * sizeof(*pairs)));
	rt_buf *texts = must(malloc((d->label_count + 1) * sizeof(*texts)));
	size_t i, n = 0;

	for (i = 0; i < d->label_count; i++) {
		if (!model_present(d, d->labels[i].entity)) /* C44 */
			continue;
		rt_buf_init(&texts[n], rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_json_add_string(&texts[n], d->labels[i].text);
		pairs[n] = (model_pair){m->entities[d->labels[i].entity].id, rt_buf_str(&texts[n])};
		n++;
	}
	add_pairs(out, pairs, n);
	for (i = 0; i < n; i++)
		rt_buf_deinit(&texts[i]);
	free(texts);
	free(pairs);
}

static void
add_disc(const model *m, rt_buf *out, int number)
{
	const model_disc *d = disc_of(m, number);
	const model_take *take = &d->takes[d->active];
	int head = d->head;
	bool labelled = false, files = false;
	json_object o, inner;
	size_t i;

	if (head == MODEL_TIP)
		head = take->count > 0 ? take->slots[take->count - 1].entity : MODEL_START;
	for (i = 0; i < d->label_count; i++)
		labelled = labelled || model_present(d, d->labels[i].entity);
	object_begin(&o);
	rt_buf_add_f(object_member(&o, RT_STR("id")), "\"d%d\"", number);
	object_text(&o, "name", model_name_of(m, number));
	object_text(&o, "active", take->name);
	if (head == MODEL_START)
		object_json(&o, "head", RT_STR("null"));
	else
		object_text(&o, "head", m->entities[head].id);
	if (labelled)
		add_labels(m, object_member(&o, RT_STR("labels")), d);
	if (d->prompt.size > 0 || d->edited) {
		object_begin(&inner);
		object_true(&inner, "edited", d->edited);
		object_text(&inner, "text", d->prompt);
		object_end(&inner, object_member(&o, RT_STR("prompt")));
	}
	if (d->setting_count > 0)
		add_pairs(object_member(&o, RT_STR("settings")), d->settings, d->setting_count);
	for (i = 0; i < 3; i++)
		files = files || d->files[i].size > 0;
	if (files) {
		object_begin(&inner);
		for (i = 0; i < 3; i++)
			object_json(&inner, list_names[i], d->files[i]);
		object_end(&inner, object_member(&o, RT_STR("files")));
	}
	object_json(&o, "track", d->track);
	if (d->link_doc > 0) {
		object_begin(&inner);
		rt_buf_add_f(object_member(&inner, RT_STR("discussion")), "\"d%d\"", d->link_doc);
		object_text(&inner, "entry", m->entities[d->link_entity].id);
		object_end(&inner, object_member(&o, RT_STR("link")));
	}
	if (d->preset_count > 0)
		add_pairs(object_member(&o, RT_STR("presets")), d->presets, d->preset_count);
	add_takes(m, object_member(&o, RT_STR("takes")), d);
	object_end(&o, out);
}

void
model_canonical(const model *m, rt_buf *out)
{
	const model_project *p = project_of(m);
	json_object o;
	rt_buf *buf;
	size_t i;

	object_begin(&o);
	object_text(&o, "active", model_name_of(m, p->active));
	buf = object_member(&o, RT_STR("discussions"));
	rt_buf_add_byte(buf, '[');
	for (i = 0; i < p->cell_count; i++) {
		rt_json_add_comma(buf);
		add_disc(m, buf, p->cells[i].number);
	}
	rt_buf_add_byte(buf, ']');
	buf = object_member(&o, RT_STR("roles"));
	rt_buf_add_byte(buf, '[');
	for (i = 0; i < p->role_count; i++) {
		rt_json_add_comma(buf);
		rt_json_add_string(buf, p->roles[i]);
	}
	rt_buf_add_byte(buf, ']');
	if (p->setting_count > 0)
		add_pairs(object_member(&o, RT_STR("settings")), p->settings, p->setting_count);
	object_end(&o, out);
	rt_buf_add_byte(out, '\n');
}
