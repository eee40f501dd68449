/* SPDX-License-Identifier: MIT
 *
 * Model: the operations on entries, implemented in the simplest way. */
#include <stdlib.h>

#include "base/moment.h"
#include "model_impl.h"

static bool
is_contract_field(rt_str key, bool append)
{
	static const char *const names[] = {"op",      "discussion", "take",  "role",
					    "content", "kind",       "id",    "ts",
					    "before",  "after",      "prompt"};
	size_t i, n = append ? 8 : 10;

	for (i = 0; i < n; i++)
		if (rt_str_is(key, names[i]))
			return true;
	return append && rt_str_is(key, "prompt");
}

/* A new entry from the request's fields. */
static model_slot
slot_from(model_call *c, bool append)
{
	const model_project *p = model_project_of(c->m);
	yyjson_val *content = model_field(c, "content"), *key, *value;
	model_body body = {.content = RT_STR("\"\"")};
	model_slot slot = {.kind = RT_STR("message")};
	model_pair *extra = model_get(c->m, yyjson_obj_size(c->op) * sizeof(*extra));
	size_t i, max;
	rt_moment ts;
	rt_buf buf;

	slot.role = model_keep(c->m, model_field(c, "role") != NULL ? model_str_field(c, "role")
				     : p->role_count > 0            ? p->roles[0]
								    : RT_STR("User"));
	if (model_field(c, "kind") != NULL)
		slot.kind = model_keep(c->m, model_str_field(c, "kind"));
	slot.ts = c->m->now;
	if (model_field(c, "ts") != NULL) {
		yyjson_val *given = model_field(c, "ts");
		bool ok = rt_json_is_number(given) ? rt_moment_parse_number(rt_json_str(given), &ts)
						   : rt_moment_parse(rt_json_str(given), &ts);

		model_must(ok ? &ts : NULL);
		rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_moment_format(&buf, ts);
		slot.ts = model_keep_buf(c->m, &buf);
	}
	if (content != NULL) {
		body.content = model_keep_value(c->m, content);
		body.is_array = yyjson_is_arr(content);
	}
	rt_json_foreach (c->op, i, max, key, value) {
		rt_str name = rt_json_str(key);

		if (is_contract_field(name, append) ||
		    model_pair_find(extra, body.extra_count, name) != SIZE_MAX)
			continue;
		extra[body.extra_count++] = (model_pair){
			model_keep(c->m, name),
			model_keep_value(c->m, yyjson_obj_getn(c->op, name.ptr, name.size))};
	}
	body.extra = extra;
	slot.entity = model_make_entity(c->m, c->doc, model_str_field(c, "id"));
	body.entity = slot.entity;
	slot.body = model_make_body(c->m, body);
	c->out->entity = slot.entity;
	c->out->made = true;
	return slot;
}

void
model_append_slot(model_call *c, model_slot slot)
{
	model_disc *d = model_edit_disc(c->m, c->doc);
	const model_take *take = &d->takes[c->take];

	if (c->take == d->active && d->head != MODEL_TIP) {
		size_t count = d->head == MODEL_START ? 0 : model_slot_find(take, d->head) + 1;
		model_slot *slots = model_copy(c->m, take->slots, count, 1, sizeof(*slots));
		rt_str name = model_free_take_name(c->m, d, take->name);

		slots[count] = slot;
		model_add_take(c->m, c->doc, d, c->take, name, slots, count + 1);
		c->take = d->active;
		c->out->take = name;
	} else {
		model_insert_slots(c->m, d, c->take, take->count, &slot, 1);
	}
}

rt_status
model_op_append(model_call *c)
{
	rt_status st = model_check_id(c);
	model_disc *d;

	if (st != RT_OK)
		return st;
	model_append_slot(c, slot_from(c, true));
	if (model_field(c, "prompt") != NULL) { /* C46 */
		d = model_edit_disc(c->m, c->doc);
		d->prompt = model_keep(c->m, model_str_field(c, "prompt"));
		d->edited = false;
	}
	return RT_OK;
}

rt_status
model_op_insert(model_call *c)
{
	size_t at;
	int neighbour;
	model_slot slot;
	rt_status st = model_resolve_gap(c, &at, &neighbour);

	if (st == RT_OK)
		st = model_check_id(c);
	if (st != RT_OK)
		return st;
	slot = slot_from(c, false);
	model_insert_slots(c->m, model_edit_disc(c->m, c->doc), c->take, at, &slot, 1);
	return RT_OK;
}

bool
model_is_text_block(yyjson_val *block)
{
	return yyjson_is_str(block) || rt_str_is(rt_json_str(rt_json_get(block, "type")), "text");
}

rt_str
model_block_text(yyjson_val *block)
{
	return rt_json_str(yyjson_is_str(block) ? block : rt_json_get(block, "text"));
}

/* A block with a new text, as JSON. */
static void
add_block(rt_buf *buf, yyjson_val *block, rt_str text)
{
	yyjson_val *key, *value;
	size_t i, max;

	if (buf->ptr[buf->size - 1] != '[')
		rt_buf_add_byte(buf, ',');
	if (!model_is_text_block(block)) {
		rt_json_add_value(buf, block);
	} else if (yyjson_is_str(block)) {
		rt_json_add_string(buf, text);
	} else {
		rt_buf_add_byte(buf, '{');
		rt_json_foreach (block, i, max, key, value) {
			bool is_text = rt_str_is(rt_json_str(key), "text");

			if (rt_str_is(rt_json_str(key), "textSignature") &&
			    !rt_str_eq(model_block_text(block), text))
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

/* The array with a new text: leading and trailing text blocks that the text still contains stay,
 * the rest becomes one block. */
static rt_str
with_text(model *m, rt_str content, rt_str text)
{
	rt_json_doc *doc = NULL;
	yyjson_val *block, *texts[16];
	size_t i, max, count = 0, from = 0, to, nth = 0;
	rt_buf buf;

	if (rt_json_read(rt_alloc_libc(), content, &doc, NULL) != RT_OK)
		abort();
	yyjson_arr_foreach (rt_json_root(doc), i, max, block)
		if (model_is_text_block(block))
			texts[count++] = block;
	for (to = count; to > from + 1; from++) {
		rt_str own = model_block_text(texts[from]);

		if (!rt_str_starts(text, own) || text.size == own.size ||
		    text.ptr[own.size] != '\n')
			break;
		text = rt_str_at(text.ptr + own.size + 1, text.size - own.size - 1);
	}
	for (; to > from + 1; to--) {
		rt_str own = model_block_text(texts[to - 1]);

		if (!ends_with(text, own) || text.size == own.size ||
		    text.ptr[text.size - own.size - 1] != '\n')
			break;
		text.size -= own.size + 1;
	}
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&buf, '[');
	yyjson_arr_foreach (rt_json_root(doc), i, max, block) {
		bool is_text = model_is_text_block(block);

		if (is_text && nth > from && nth < to) {
			nth++;
			continue;
		}
		add_block(&buf, block, is_text && nth != from ? model_block_text(block) : text);
		nth += is_text;
	}
	if (count == 0 && text.size > 0) { /* the model's arrays contain no calls */
		rt_buf_add_c(&buf, buf.size > 1 ? "," : "");
		rt_buf_add_c(&buf, "{\"text\":"); /* keys are sorted, as everywhere in the model */
		rt_json_add_string(&buf, text);
		rt_buf_add_c(&buf, ",\"type\":\"text\"}");
	}
	rt_buf_add_byte(&buf, ']');
	rt_json_free(doc);
	return model_keep_buf(m, &buf);
}

rt_status
model_op_edit(model_call *c)
{
	model *m = c->m;
	const model_disc *d = model_disc_of(m, c->doc);
	rt_str content = model_keep_value(m, model_field(c, "content"));
	bool everywhere = model_bool_field(c, "everywhere", false), changed = false;
	bool keeps = model_bool_field(c, "keep_blocks", false);
	int entity;
	size_t at, t;
	rt_status st = model_resolve_in_take(c, c->take, model_str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	if (keeps && yyjson_is_arr(model_field(c, "content")))
		return FAIL(c, USAGE, "keep_blocks goes with a text");
	c->out->entity = entity;
	for (t = 0; t < d->take_count; t++) {
		model_slot slot;
		model_body body;
		rt_str fresh = content;

		at = model_slot_find(&d->takes[t], entity);
		if (at == SIZE_MAX || (t != c->take && !everywhere))
			continue;
		slot = d->takes[t].slots[at];
		body = m->bodies[slot.body];
		if (keeps && body.is_array)
			fresh = with_text(m, body.content, model_str_field(c, "content"));
		if (rt_str_eq(body.content, fresh) && !body.purged)
			continue;
		changed = true;
		body.content = fresh;
		body.is_array = fresh.ptr[0] == '[';
		body.purged = false;
		slot.body = model_make_body(m, body);
		slot.edited = true;
		model_replace_slot(m, model_edit_disc(m, c->doc), t, at, slot);
		d = model_disc_of(m, c->doc);
	}
	return changed ? RT_OK : model_unchanged(c);
}

rt_status
model_op_role(model_call *c)
{
	model_slot slot;
	int entity;
	size_t at;
	rt_str role = model_str_field(c, "role");
	rt_status st = model_resolve_in_take(c, c->take, model_str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	slot = model_disc_of(c->m, c->doc)->takes[c->take].slots[at];
	if (rt_str_eq(slot.role, role))
		return model_unchanged(c);
	slot.role = model_keep(c->m, role);
	model_replace_slot(c->m, model_edit_disc(c->m, c->doc), c->take, at, slot);
	return RT_OK;
}

/* C68 */
rt_status
model_op_fail(model_call *c)
{
	yyjson_val *failure = model_field(c, "failure");
	bool is_null = yyjson_is_null(failure);
	model_disc d;
	char key[16];
	int entity;
	size_t at;
	rt_status st;

	if (!is_null && !yyjson_is_str(rt_json_get(failure, "detail")))
		return FAIL(c, USAGE, "no failure");
	st = model_resolve_in_take(c, c->take, model_str_field(c, "entry"), &entity, &at);
	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	d = *model_disc_of(c->m, c->doc);
	snprintf(key, sizeof(key), "%d", entity);
	if (!model_pair_set(c->m, &d.failures, &d.failure_count, model_keep(c->m, rt_str_of(key)),
			    is_null ? RT_STR("") : model_keep_value(c->m, failure)))
		return model_unchanged(c);
	*model_edit_disc(c->m, c->doc) = d;
	return RT_OK;
}

rt_status
model_op_mute(model_call *c)
{
	model_slot slot;
	int entity;
	size_t at;
	bool muted = model_bool_field(c, "muted", true);
	rt_status st = model_resolve_in_take(c, c->take, model_str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	slot = model_disc_of(c->m, c->doc)->takes[c->take].slots[at];
	if (slot.muted == muted)
		return model_unchanged(c);
	slot.muted = muted;
	model_replace_slot(c->m, model_edit_disc(c->m, c->doc), c->take, at, slot);
	return RT_OK;
}

rt_status
model_op_delete(model_call *c)
{
	int entity, last;
	size_t at, end;
	rt_status st;

	if (model_field(c, "entry") != NULL) {
		rt_str address = model_str_field(c, "entry");

		/* C19: repeating a deletion with a full id is harmless */
		entity = model_entity_with_id(c->m, c->doc, address);
		if (entity >= 0 && !model_present(model_disc_of(c->m, c->doc), entity))
			return model_unchanged(c);
		st = model_resolve_in_take(c, c->take, address, &entity, &at);
		end = at;
	} else {
		st = model_resolve_in_take(c, c->take, model_str_field(c, "from"), &entity, &at);
		if (st == RT_OK)
			st = model_resolve_in_take(c, c->take, model_str_field(c, "to"), &last,
						   &end);
		if (st == RT_OK && at > end)
			return FAIL(c, USAGE, "from stands after to");
	}
	if (st != RT_OK)
		return st;
	model_remove_slots(c->m, model_edit_disc(c->m, c->doc), c->take, at, end - at + 1);
	return RT_OK;
}

rt_status
model_op_move(model_call *c)
{
	int entity, neighbour;
	size_t at, to;
	const model_take *take;
	model_slot *slots, slot;
	rt_status st = model_resolve_in_take(c, c->take, model_str_field(c, "entry"), &entity, &at);

	if (st == RT_OK)
		st = model_resolve_gap(c, &to, &neighbour);
	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	if (to == at || to == at + 1) /* its current position */
		return model_unchanged(c);
	take = &model_disc_of(c->m, c->doc)->takes[c->take];
	slot = take->slots[at];
	slots = model_copy(c->m, take->slots, take->count, 0, sizeof(*slots));
	memmove(slots + at, slots + at + 1, (take->count - at - 1) * sizeof(*slots));
	if (to > at)
		to--;
	memmove(slots + to + 1, slots + to, (take->count - 1 - to) * sizeof(*slots));
	slots[to] = slot;
	model_set_slots(c->m, model_edit_disc(c->m, c->doc), c->take, slots, take->count);
	return RT_OK;
}

rt_status
model_op_view(model_call *c)
{
	model *m = c->m;
	const model_take *take = &model_disc_of(m, c->doc)->takes[c->take];
	bool changed = false;
	size_t i, at = 0, end = take->count;
	int entity;

	if (model_field(c, "entry") != NULL) {
		rt_status st = model_resolve_in_take(c, c->take, model_str_field(c, "entry"),
						     &entity, &at);

		if (st != RT_OK)
			return st;
		c->out->entity = entity;
		end = at + 1;
	}
	for (i = at; i < end; i++) {
		model_entity *e = &m->entities[take->slots[i].entity];
		bool collapsed = model_bool_field(c, "collapsed", e->collapsed);
		bool read_mode = model_bool_field(c, "read_mode", e->read_mode);

		changed = changed || collapsed != e->collapsed || read_mode != e->read_mode;
		e->collapsed = collapsed;
		e->read_mode = read_mode;
	}
	return changed ? RT_OK : model_unchanged(c);
}

/* The only text of an array, and the position of its block; false: none or several. */
static bool
one_text(model *m, rt_str content, rt_str *out, size_t *out_at)
{
	rt_json_doc *doc = NULL;
	yyjson_val *block;
	size_t i, max, count = 0;

	if (rt_json_read(rt_alloc_libc(), content, &doc, NULL) != RT_OK)
		abort();
	yyjson_arr_foreach (rt_json_root(doc), i, max, block) {
		if (!model_is_text_block(block))
			continue;
		*out = model_keep(m, model_block_text(block));
		if (out_at != NULL)
			*out_at = i;
		count++;
	}
	rt_json_free(doc);
	return count == 1;
}

/* Blocks up to the split in the text, or from there on. */
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
	yyjson_arr_foreach (rt_json_root(doc), i, max, block)
		if (i == at || (i > at) == second)
			add_block(&buf, block,
				  second ? rt_str_at(text.ptr + cut, text.size - cut)
					 : rt_str_at(text.ptr, cut));
	rt_buf_add_byte(&buf, ']');
	rt_json_free(doc);
	return model_keep_buf(m, &buf);
}

/* Joins two contents. A string beside an array becomes a block, except an empty one that is not
 * next to text. */
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
		yyjson_arr_foreach (rt_json_root(docs[k]), i, max, block)
			blocks[count++] = block;
		ends[k] = count;
	}
	touch = ends[0] > 0 && ends[1] > ends[0] && model_is_text_block(blocks[ends[0] - 1]) &&
		model_is_text_block(blocks[ends[0]]);
	if (touch) {
		rt_buf_add_str(&text, model_block_text(blocks[ends[0] - 1]));
		rt_buf_add_str(&text, model_block_text(blocks[ends[0]]));
		touching = model_keep_buf(m, &text);
	}
	rt_buf_clear(&buf);
	rt_buf_add_byte(&buf, '[');
	for (i = 0; i < count; i++) {
		bool made = !bodies[i < ends[0] ? 0 : 1]->is_array;

		if (touch && i == ends[0])
			continue;
		if (touch && i + 1 == ends[0])
			add_block(&buf, blocks[i], touching);
		else if (!made || model_block_text(blocks[i]).size > 0)
			add_block(&buf, blocks[i], model_block_text(blocks[i]));
	}
	rt_buf_add_byte(&buf, ']');
	rt_json_free(docs[0]);
	rt_json_free(docs[1]);
	rt_buf_deinit(&text);
	return model_keep_buf(m, &buf);
}

rt_status
model_op_split(model_call *c)
{
	model *m = c->m;
	int entity;
	size_t at, cut;
	uint64_t chars = 0;
	model_slot first, second;
	model_body body;
	rt_str text, rest;
	model_disc *d;
	rt_status st = model_resolve_in_take(c, c->take, model_str_field(c, "entry"), &entity, &at);

	if (st != RT_OK)
		return st;
	first = second = model_disc_of(m, c->doc)->takes[c->take].slots[at];
	body = m->bodies[first.body];
	if (body.is_array ? !one_text(m, body.content, &text, NULL) : false)
		return FAIL(c, REFUSED, "not one text");
	if (!body.is_array)
		text = model_text_of(m, body.content);
	rt_json_u64(model_field(c, "at"), &chars);
	cut = rt_utf8_offset(text, (size_t)chars);
	if (chars == 0 || cut == SIZE_MAX || cut >= text.size)
		return FAIL(c, USAGE, "at is outside the text");
	st = model_check_id(c);
	if (st != RT_OK)
		return st;
	rest = model_keep_string(m, rt_str_at(text.ptr + cut, text.size - cut));
	if (body.is_array) {
		rest = half(m, body.content, text, cut, true);
		body.content = half(m, body.content, text, cut, false);
	} else {
		body.content = model_keep_string(m, rt_str_at(text.ptr, cut));
	}
	body.purged = false;
	first.body = model_make_body(m, body);
	first.edited = true;
	second.edited = false;
	second.entity = model_make_entity(m, c->doc, model_str_field(c, "id"));
	second.body = model_make_body(
		m,
		(model_body){.content = rest, .is_array = body.is_array, .entity = second.entity});
	d = model_edit_disc(m, c->doc);
	if (d->head == entity && c->take == d->active)
		d->head = entity; /* the first half keeps the id, and the head */
	model_insert_slots(m, d, c->take, at + 1, &second, 1);
	model_replace_slot(m, d, c->take, at, first);
	c->out->entity = second.entity;
	c->out->made = true;
	return RT_OK;
}

/* An array with one text, or empty. */
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

rt_status
model_op_merge(model_call *c)
{
	model *m = c->m;
	const model_take *take = &model_disc_of(m, c->doc)->takes[c->take];
	int entity;
	size_t at;
	model_slot slot;
	model_body body, next;
	model_disc *d;
	rt_str text = {NULL, 0};
	rt_buf buf;
	rt_status st = model_resolve_in_take(c, c->take, model_str_field(c, "entry"), &entity, &at);

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
		rt_buf_add_str(&buf, model_text_of(m, body.content));
		rt_buf_add_str(&buf, next.is_array ? text : model_text_of(m, next.content));
		body.content = model_keep_string(m, model_keep_buf(m, &buf));
	}
	if (!rt_str_eq(body.content, m->bodies[slot.body].content)) {
		body.purged = false;
		slot.edited = true;
		slot.body = model_make_body(m, body);
	}
	d = model_edit_disc(m, c->doc);
	model_replace_slot(m, d, c->take, at, slot);
	model_remove_slots(m, d, c->take, at + 1, 1);
	return RT_OK;
}

rt_status
model_op_purge(model_call *c)
{
	model *m = c->m;
	bool changed = false;
	int entity;
	size_t take, i;
	rt_status st = model_resolve(c, c->take, model_str_field(c, "entry"), &entity);

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
	return changed ? RT_OK : model_unchanged(c);
}
