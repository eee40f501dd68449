/* SPDX-License-Identifier: MIT
 *
 * From a request to effects: the frame. Requests are checked against the table of
 * operations, then each noun's file says what its operations do. */
#include "codec/request_json.h"
#include "ops/compile.h"

/* ---- a change ---- */

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

void
rt_change_init(rt_change *c, rt_engine *engine, rt_arena *arena, const rt_project *base)
{
	memset(c, 0, sizeof(*c));
	c->engine = engine;
	c->arena = arena;
	c->base = base;
	c->now = rt_object_ref(base);
	c->by = rt_text_str(engine->by);
	c->next_body = base->next_body;
	c->next_entry = base->next_entry;
}

void
rt_change_deinit(rt_change *c)
{
	rt_object_unref(c->now);
	memset(c, 0, sizeof(*c));
}

/* Room for one more item in an arena's array. */
static bool
grow(rt_arena *arena, void **items, size_t count, size_t *room, size_t size)
{
	size_t more = *room == 0 ? 4 : *room * 2;
	void *fresh;

	if (count < *room)
		return true;
	fresh = rt_arena_get(arena, more * size);
	if (fresh == NULL)
		return false;
	if (count > 0)
		memcpy(fresh, *items, count * size);
	*items = fresh;
	*room = more;
	return true;
}

rt_str
rt_change_keep(rt_change *c, rt_str s)
{
	char *ptr = rt_arena_get(c->arena, s.size + 1);

	if (ptr == NULL)
		return rt_str_at(NULL, 0);
	if (s.size > 0)
		memcpy(ptr, s.ptr, s.size);
	ptr[s.size] = '\0';
	return rt_str_at(ptr, s.size);
}

rt_status
rt_change_emit(rt_change *c, const rt_effect *effect, rt_error *err)
{
	const rt_project *next;
	rt_status st;

	if (!grow(c->arena, (void **)&c->effects, c->effect_count, &c->effect_room,
		  sizeof(*effect)))
		return nomem(err);
	st = rt_effect_apply(c->now, effect, false, &next, err);
	if (st != RT_OK)
		return st;
	c->effects[c->effect_count++] = *effect;
	rt_object_unref(c->now);
	c->now = next;
	return RT_OK;
}

rt_status
rt_change_name(rt_change *c, const rt_slot *slot, rt_effect_slot *out, rt_error *err)
{
	rt_status st;

	memset(out, 0, sizeof(*out));
	out->slot = *slot;
	st = rt_project_name(c->now, slot->role, &out->role, err);
	if (st == RT_OK)
		st = rt_project_name(c->now, slot->kind, &out->kind, err);
	return st;
}

rt_status
rt_change_splice(rt_change *c, uint32_t disc, uint32_t take_number, size_t at, size_t remove,
		 const rt_effect_slot *added, size_t count, rt_error *err)
{
	const rt_disc *d;
	const rt_take *take;
	rt_effect e;
	rt_slot *slots = NULL;
	size_t i;
	rt_status st = rt_project_disc(c->now, disc, &d, err);

	if (st != RT_OK)
		return st;
	if (remove == 0 && count == 0)
		return RT_OK;
	take = rt_disc_take(d, take_number);
	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_SPLICE;
	e.disc = disc;
	e.sub = take_number;
	e.at = at;
	e.removed_count = remove;
	e.added_count = count;
	e.removed = rt_arena_get(c->arena, remove * sizeof(*e.removed) + 1);
	e.added = rt_arena_get(c->arena, count * sizeof(*e.added) + 1);
	slots = rt_arena_get(c->arena, remove * sizeof(*slots) + 1);
	if (e.removed == NULL || e.added == NULL || slots == NULL)
		return nomem(err);
	st = rt_seq_copy(take->slots, at, remove, slots, err);
	for (i = 0; st == RT_OK && i < remove; i++)
		st = rt_change_name(c, &slots[i], &e.removed[i], err);
	if (st != RT_OK)
		return st;
	if (count > 0)
		memcpy(e.added, added, count * sizeof(*added));
	return rt_change_emit(c, &e, err);
}

rt_status
rt_change_set(rt_change *c, uint32_t disc, uint32_t sub, const char *key, uint32_t entry,
	      rt_str after, rt_error *err)
{
	rt_effect e;
	rt_status st;

	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_SET;
	e.disc = disc;
	e.sub = sub;
	e.key = rt_change_keep(c, rt_str_of(key));
	e.entry = entry;
	e.after = after.ptr == NULL ? after : rt_change_keep(c, after);
	if (e.key.ptr == NULL || (after.ptr != NULL && e.after.ptr == NULL))
		return nomem(err);
	st = rt_field_now(c->now, c->arena, disc, sub, e.key, entry, &e.before, err);
	if (st != RT_OK)
		return st;
	if ((e.before.ptr == NULL) == (e.after.ptr == NULL) && rt_str_eq(e.before, e.after))
		return RT_OK;
	return rt_change_emit(c, &e, err);
}

rt_status
rt_change_set_number(rt_change *c, uint32_t disc, uint32_t sub, const char *key, uint64_t number,
		     rt_error *err)
{
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, c->engine->alloc, 64);
	rt_buf_add_u64(&text, number);
	st = text.status != RT_OK ? nomem(err)
				  : rt_change_set(c, disc, sub, key, 0, rt_buf_str(&text), err);
	rt_buf_deinit(&text);
	return st;
}

rt_status
rt_change_set_text(rt_change *c, uint32_t disc, uint32_t sub, const char *key, uint32_t entry,
		   rt_str text, rt_error *err)
{
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_json_add_string(&json, text);
	st = json.status != RT_OK ? nomem(err)
				  : rt_change_set(c, disc, sub, key, entry, rt_buf_str(&json), err);
	rt_buf_deinit(&json);
	return st;
}

rt_status
rt_change_body(rt_change *c, uint64_t entry, rt_str data, uint64_t *out_number, rt_error *err)
{
	rt_new_body body;

	if (!grow(c->arena, (void **)&c->bodies, c->body_count, &c->body_room, sizeof(body)))
		return nomem(err);
	body.number = c->next_body;
	body.entry = entry;
	body.data = rt_change_keep(c, data);
	if (body.data.ptr == NULL)
		return nomem(err);
	c->bodies[c->body_count++] = body;
	*out_number = c->next_body++;
	return RT_OK;
}

rt_status
rt_change_body_bytes(rt_change *c, uint64_t number, rt_buf *bytes, rt_error *err)
{
	size_t i = number >= c->base->next_body ? c->body_count : 0;
	rt_status st;

	while (i > 0 && c->bodies[i - 1].number != number)
		i--;
	if (i > 0) {
		rt_buf_add_str(bytes, c->bodies[i - 1].data);
		return bytes->status == RT_OK ? RT_OK : nomem(err);
	}
	st = rt_store_get(c->engine->store,
			  rt_rows_one(RT_STORE_BODIES, c->engine->project, number), bytes, NULL,
			  err);
	if (st == RT_NOT_FOUND)
		return rt_fail(err, RT_CORRUPT, "body %llu is missing; run: retake fsck",
			       (unsigned long long)number);
	if (st == RT_OK && bytes->status != RT_OK)
		st = nomem(err);
	return st;
}

rt_status
rt_change_body_read(rt_change *c, uint64_t number, rt_buf *bytes, rt_body *out, rt_error *err)
{
	rt_status st;

	rt_buf_init(bytes, c->engine->alloc, RT_BUF_UNLIMITED);
	memset(out, 0, sizeof(*out));
	st = rt_change_body_bytes(c, number, bytes, err);
	if (st == RT_OK)
		st = rt_body_read(c->engine->alloc, rt_buf_str(bytes), out, err);
	return st;
}

rt_status
rt_change_view(rt_change *c, uint32_t entry, unsigned flags, rt_error *err)
{
	const rt_project *next;
	rt_status st;

	if (!grow(c->arena, (void **)&c->views, c->view_count, &c->view_room, sizeof(*c->views)))
		return nomem(err);
	st = rt_project_set_view(c->now, entry, flags, &next, err);
	if (st != RT_OK)
		return st;
	c->views[c->view_count++] = (rt_record_view){entry, flags};
	rt_object_unref(c->now);
	c->now = next;
	return RT_OK;
}

rt_status
rt_change_disc(const rt_change *c, const rt_disc **out, rt_error *err)
{
	return rt_project_disc(c->now, c->place.disc, out, err);
}

/* ---- fields as they are ---- */

static rt_str
keep_number(rt_arena *arena, uint64_t number)
{
	char digits[24];
	size_t size = sizeof(digits);
	char *ptr;

	do {
		digits[--size] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	ptr = rt_arena_get(arena, sizeof(digits) - size);
	if (ptr == NULL)
		return rt_str_at(NULL, 0);
	memcpy(ptr, digits + size, sizeof(digits) - size);
	return rt_str_at(ptr, sizeof(digits) - size);
}

static rt_status
keep_text(const rt_alloc *alloc, rt_arena *arena, rt_str text, rt_str *out, rt_error *err)
{
	rt_buf json;
	char *ptr;

	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	rt_json_add_string(&json, text);
	ptr = json.status == RT_OK ? rt_arena_get(arena, json.size) : NULL;
	if (ptr != NULL) {
		memcpy(ptr, json.ptr, json.size);
		*out = rt_str_at(ptr, json.size);
	}
	rt_buf_deinit(&json);
	return ptr != NULL ? RT_OK : nomem(err);
}

rt_status
rt_field_now(const rt_project *project, rt_arena *arena, uint32_t disc_number, uint32_t sub,
	     rt_str key, uint32_t entry, rt_str *out, rt_error *err)
{
	const rt_alloc *alloc = project->object.alloc;
	const rt_disc *disc;
	const rt_take *take;
	rt_str value;
	rt_status st;

	*out = rt_str_at(NULL, 0);
	if (disc_number == 0 && sub == 0) {
		if (rt_str_is(key, "active"))
			*out = keep_number(arena, project->active);
		else
			*out = rt_fields_get(project->fields, key);
	} else if (disc_number == 0) {
		const rt_cell *cell = rt_project_cell(project, sub);

		if (cell == NULL)
			return rt_fail(err, RT_NOT_FOUND, "no discussion d%u", sub);
		if (rt_str_is(key, "name"))
			return keep_text(alloc, arena, rt_cell_name(cell), out, err);
		if (cell->present)
			*out = RT_STR("true");
	} else {
		st = rt_project_disc(project, disc_number, &disc, err);
		if (st != RT_OK)
			return st;
		take = rt_disc_take(disc, sub);
		if (sub != 0 && take == NULL)
			return rt_fail(err, RT_NOT_FOUND, "no take t%u", sub);
		if (sub != 0 && rt_str_is(key, "name"))
			return keep_text(alloc, arena, rt_text_str(take->name), out, err);
		if (sub != 0 && rt_str_is(key, "present"))
			*out = take->present ? RT_STR("true") : rt_str_at(NULL, 0);
		else if (sub != 0 && take->git_commit != NULL)
			return keep_text(alloc, arena, rt_text_str(take->git_commit), out, err);
		else if (sub != 0)
			return RT_OK;
		else if (rt_str_is(key, "active"))
			*out = keep_number(arena, disc->active);
		else if (rt_str_is(key, "head") && disc->head != RT_HEAD_TIP)
			*out = keep_number(arena, disc->head);
		else if (rt_str_is(key, "head"))
			return RT_OK;
		else if (rt_str_is(key, "label")) {
			st = rt_disc_label(project, disc, entry, &value, err);
			if (st != RT_OK || value.size == 0)
				return st;
			return keep_text(alloc, arena, value, out, err);
		} else
			*out = rt_fields_get(disc->fields, key);
	}
	if (out->ptr != NULL) { /* the field may be replaced while the text is still needed */
		char *ptr = rt_arena_get(arena, out->size + 1);

		if (ptr == NULL)
			return nomem(err);
		memcpy(ptr, out->ptr, out->size);
		out->ptr = ptr;
	}
	return RT_OK;
}

/* ---- where a request works ---- */

static rt_status
take_is_there(rt_change *c, rt_str name, rt_error *err)
{
	const rt_disc *disc;
	rt_status st = rt_change_disc(c, &disc, err);

	if (st == RT_OK && !rt_disc_take(disc, c->place.take)->present)
		st = rt_fail(err, RT_NOT_FOUND, "take \"%.*s\" was deleted; undo brings it back",
			     RT_STR_ARG(name));
	return st;
}

rt_status
rt_compile_place(rt_change *c, const rt_request *r, rt_str default_disc, rt_str default_take,
		 rt_error *err)
{
	const rt_op *op;
	rt_str disc, take;
	rt_status st;

	if (r->invalid != NULL) {
		if (err != NULL)
			*err = *r->invalid;
		return r->invalid->status;
	}
	op = &rt_ops[r->op];
	disc = r->discussion.ptr != NULL ? r->discussion : default_disc;
	take = r->take.ptr != NULL ? r->take : default_take;
	if (rt_op_field_named(op, RT_STR("take")) != NULL) /* it names the take that it is about */
		take = rt_str_at(NULL, 0);
	c->named_disc = disc.size > 0;
	c->pinned = disc.size > 0 && take.size > 0;
	st = rt_resolve_place(c->now, disc, take, &c->place, err);
	/* Nobody would see what is written into a deleted take; history goes where it was. */
	if (st == RT_OK && take.size > 0 && (op->flags & RT_OP_MOVES_HISTORY) == 0)
		st = take_is_there(c, take, err);
	return st;
}

/* Unknown fields, for the log. */
static rt_status
keep_extra(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_buf buf;
	rt_status st;

	c->extra = rt_str_at(NULL, 0);
	if ((rt_ops[r->op].flags & RT_OP_OPEN) != 0 || r->source == NULL)
		return RT_OK;
	rt_buf_init(&buf, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_request_write_extra(&buf, r);
	if (buf.status == RT_OK && buf.size > 0) {
		c->extra = rt_change_keep(c, rt_buf_str(&buf));
		if (c->extra.ptr == NULL)
			buf.status = RT_NOMEM;
	}
	st = buf.status == RT_OK ? RT_OK : nomem(err);
	rt_buf_deinit(&buf);
	return st;
}

/* ---- the head (C10) ---- */

/* Every discussion whose takes a request changed: at the tip the head stays there; a head
 * whose entry is gone goes to the nearest surviving entry before it. */
static rt_status
settle_disc(rt_change *c, const rt_project *before, uint32_t number, rt_error *err)
{
	const rt_disc *disc, *old_disc;
	const rt_take *take, *old_take;
	rt_slot slot;
	size_t at, count, back;
	bool found;
	uint32_t head;
	rt_status st = rt_project_disc(c->now, number, &disc, err);

	if (st != RT_OK || disc->head == RT_HEAD_TIP)
		return st;
	take = rt_disc_active(disc);
	count = rt_seq_count(take->slots);
	head = disc->head;
	if (head != RT_HEAD_START) {
		st = rt_take_find(c->now, take, head, &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (!found) { /* back through the take as it was before this request */
			head = RT_HEAD_START;
			if (rt_project_cell(before, number) == NULL)
				old_disc = disc;
			else
				st = rt_project_disc(before, number, &old_disc, err);
			if (st != RT_OK)
				return st;
			old_take = rt_disc_take(old_disc, take->number);
			if (old_take != NULL)
				st = rt_take_find(before, old_take, disc->head, &at, NULL, &found,
						  err);
			for (back = st == RT_OK && found ? at : 0; st == RT_OK && back > 0; back--) {
				size_t where;
				bool here;

				st = rt_seq_get(old_take->slots, back - 1, &slot, err);
				if (st == RT_OK)
					st = rt_take_find(c->now, take, slot.entry, &where, NULL,
							  &here, err);
				if (st == RT_OK && here) {
					head = slot.entry;
					break;
				}
			}
			if (st != RT_OK)
				return st;
		}
	}
	if (head == RT_HEAD_START ? count == 0 : false)
		head = RT_HEAD_TIP;
	if (head != RT_HEAD_START && head != RT_HEAD_TIP) {
		st = rt_take_find(c->now, take, head, &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (found && at + 1 == count)
			head = RT_HEAD_TIP;
	}
	if (head == disc->head)
		return RT_OK;
	if (head == RT_HEAD_TIP)
		return rt_change_set(c, number, 0, "head", 0, rt_str_at(NULL, 0), err);
	return rt_change_set_number(c, number, 0, "head", head, err);
}

static rt_status
settle_head(rt_change *c, const rt_project *before, size_t first, rt_error *err)
{
	size_t i, count = c->effect_count;
	rt_status st = RT_OK;

	for (i = first; st == RT_OK && i < count; i++) {
		uint32_t disc = c->effects[i].disc;

		if (disc != 0 && (i == first || c->effects[i - 1].disc != disc))
			st = settle_disc(c, before, disc, err);
	}
	return st;
}

/* ---- the whole request ---- */

typedef rt_status rt_op_function(rt_change *c, const rt_request *r, rt_error *err);

static rt_op_function *const functions[RT_OP_COUNT] = {
#define OP(id, function, ...) [RT_OP_##id] = rt_op_##function,
#include "core/op.def"
#undef OP
};

rt_status
rt_compile(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_project *before;
	size_t first = c->effect_count;
	rt_status st = keep_extra(c, r, err);

	if (st != RT_OK)
		return st;
	before = rt_object_ref(c->now);
	st = functions[r->op](c, r, err);
	if (st == RT_OK)
		st = settle_head(c, before, first, err);
	rt_object_unref(before);
	return st;
}

/* These are no steps: commit.c carries them out. */

static rt_status
not_in_a_step(const rt_request *r, rt_error *err)
{
	return rt_fail(err, RT_USAGE, "%s cannot be part of a step", rt_ops[r->op].name);
}

rt_status
rt_op_undo(rt_change *c, const rt_request *r, rt_error *err)
{
	(void)c;
	return not_in_a_step(r, err);
}

rt_status
rt_op_redo(rt_change *c, const rt_request *r, rt_error *err)
{
	(void)c;
	return not_in_a_step(r, err);
}

rt_status
rt_op_jump(rt_change *c, const rt_request *r, rt_error *err)
{
	(void)c;
	return not_in_a_step(r, err);
}

rt_status
rt_op_purge(rt_change *c, const rt_request *r, rt_error *err)
{
	(void)c;
	return not_in_a_step(r, err);
}

rt_status
rt_op_revert(rt_change *c, const rt_request *r, rt_error *err)
{
	return rt_history_revert(c, r->step.value, err);
}
