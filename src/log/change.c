/* SPDX-License-Identifier: MIT
 *
 * A step under construction: the value so far, and its future log row. */
#include "log/change.h"

#include <stdio.h>

#include "log/engine_impl.h"

void
rt_change_init(rt_change *c, rt_scope *scope, rt_engine *engine, const rt_project *base)
{
	*c = (rt_change){.scope = scope,
			 .engine = engine,
			 .base = base,
			 .now = rt_object_ref(base),
			 .by = rt_text_str(engine->by),
			 .next_body = base->next_body,
			 .next_entry = base->next_entry};
}

void
rt_change_deinit(rt_change *c)
{
	rt_object_unref(c->now);
	*c = (rt_change){0};
}

void
rt_change_find_place(rt_change *c, const rt_request *r, rt_str default_disc, rt_str default_take)
{
	rt_str disc = r->discussion.ptr != NULL ? r->discussion : default_disc;
	rt_str take = r->take.ptr != NULL ? r->take : default_take;

	if (r->invalid != NULL) {
		rt_scope_fail_as(c->scope, r->invalid->status, r->invalid);
		return;
	}
	if (rt_op_field_named(&rt_ops[r->op], RT_STR("take")) != NULL)
		take = RT_STR(""); /* it names the take that it is about */
	c->named_disc = disc.size > 0;
	c->pinned = disc.size > 0 && take.size > 0;
	RT_TRY(c->scope, rt_resolve_place(c->now, disc, take, &c->place, &c->scope->error));
	/* Writes into a deleted take would be invisible; history moves there anyway. */
	if (take.size == 0 || (rt_ops[r->op].flags & RT_OP_MOVES_HISTORY) != 0)
		return;
	const rt_disc *d = rt_change_disc(c);
	if (d != NULL && !rt_disc_take(d, c->place.take)->present)
		rt_scope_fail(c->scope, RT_NOT_FOUND,
			      "take \"%.*s\" was deleted; undo restores it",
			      RT_STR_ARG(rt_address_shown(take)));
}

/* ---- effects ---- */

static void
advance(rt_change *c, const rt_project *next)
{
	rt_object_unref(c->now);
	c->now = next;
}

void
rt_change_emit(rt_change *c, const rt_effect *effect)
{
	rt_effect *effects = rt_scope_grow(c->scope, c->effects, c->effect_count, &c->effect_room,
					   sizeof(*effect));

	if (effects == NULL)
		return;
	c->effects = effects;
	if (RT_TRY(c->scope, rt_effect_advance(&c->now, effect, false, &c->scope->error)) == RT_OK)
		c->effects[c->effect_count++] = *effect;
}

void
rt_change_view(rt_change *c, uint32_t entry, unsigned flags)
{
	const rt_project *next;
	rt_record_view *views = rt_scope_grow(c->scope, c->views, c->view_count, &c->view_room,
					      sizeof(*views));

	if (views == NULL)
		return;
	c->views = views;
	if (RT_TRY(c->scope, rt_project_set_view(c->now, entry, flags, &next, &c->scope->error)) !=
	    RT_OK)
		return;
	c->views[c->view_count++] = (rt_record_view){entry, flags};
	advance(c, next);
}

rt_effect_slot
rt_change_name(rt_change *c, const rt_slot *slot)
{
	rt_effect_slot out = {.slot = *slot};

	RT_TRY(c->scope, rt_project_name(c->now, slot->role, &out.role, &c->scope->error));
	RT_TRY(c->scope, rt_project_name(c->now, slot->kind, &out.kind, &c->scope->error));
	return out;
}

void
rt_change_splice(rt_change *c, uint32_t disc, uint32_t take, size_t at, size_t remove,
		 const rt_effect_slot *added, size_t count)
{
	const rt_disc *d;
	rt_effect e = {.kind = RT_EFFECT_SPLICE, .disc = disc, .sub = take, .at = at,
		       .removed_count = remove, .added_count = count};
	rt_slot *slots;

	if ((remove == 0 && count == 0) ||
	    RT_TRY(c->scope, rt_project_disc(c->now, disc, &d, &c->scope->error)) != RT_OK)
		return;
	e.removed = rt_scope_array(c->scope, remove, sizeof(*e.removed));
	e.added = rt_scope_array(c->scope, count, sizeof(*e.added));
	slots = rt_scope_array(c->scope, remove, sizeof(*slots));
	RT_TRY(c->scope, rt_seq_copy(rt_disc_take(d, take)->slots, at, remove, slots,
				     &c->scope->error));
	if (!rt_change_ok(c))
		return;
	for (size_t i = 0; i < remove; i++)
		e.removed[i] = rt_change_name(c, &slots[i]);
	if (count > 0)
		memcpy(e.added, added, count * sizeof(*added));
	rt_change_emit(c, &e);
}

/* ---- fields ---- */

static rt_str
number_text(rt_change *c, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	return rt_scope_copy(c->scope, rt_str_of(digits));
}

static rt_str
json_text(rt_change *c, rt_str text)
{
	rt_buf *json = rt_scope_buf(c->scope);

	rt_json_add_string(json, text);
	return rt_scope_str(c->scope, json);
}

/* A copy: the field may be replaced while the text is still needed. */
static rt_str
copy(rt_change *c, rt_str text)
{
	return text.ptr != NULL ? rt_scope_copy(c->scope, text) : text;
}

static rt_str
present(bool is_present)
{
	return is_present ? RT_STR("true") : (rt_str){NULL, 0};
}

static rt_str
cell_field(rt_change *c, uint32_t number, rt_str key)
{
	const rt_cell *cell = rt_project_cell(c->now, number);

	if (cell == NULL)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no discussion d%u", number);
	if (!rt_change_ok(c))
		return (rt_str){NULL, 0};
	return rt_str_is(key, "name") ? json_text(c, rt_cell_name(cell)) : present(cell->present);
}

static rt_str
take_field(rt_change *c, const rt_disc *disc, uint32_t number, rt_str key)
{
	const rt_take *take = rt_disc_take(disc, number);

	if (take == NULL) {
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no take t%u", number);
		return (rt_str){NULL, 0};
	}
	if (rt_str_is(key, "name"))
		return json_text(c, rt_text_str(take->name));
	if (rt_str_is(key, "present"))
		return present(take->present);
	return take->git_commit != NULL ? json_text(c, rt_text_str(take->git_commit))
					: (rt_str){NULL, 0};
}

static rt_str
disc_field(rt_change *c, const rt_disc *disc, rt_str key, uint32_t entry)
{
	rt_str label = {NULL, 0};

	if (rt_str_is(key, "active"))
		return number_text(c, disc->active);
	if (rt_str_is(key, "head"))
		return disc->head != RT_HEAD_TIP ? number_text(c, disc->head) : label;
	if (!rt_str_is(key, "label"))
		return copy(c, rt_fields_get(disc->fields, key));
	RT_TRY(c->scope, rt_disc_label(c->now, disc, entry, &label, &c->scope->error));
	return rt_change_ok(c) && label.size > 0 ? json_text(c, label) : (rt_str){NULL, 0};
}

rt_str
rt_change_field(rt_change *c, uint32_t disc, uint32_t sub, rt_str key, uint32_t entry)
{
	const rt_disc *d;

	if (disc == 0 && sub != 0)
		return cell_field(c, sub, key);
	if (disc == 0)
		return rt_str_is(key, "active") ? number_text(c, c->now->active)
						: copy(c, rt_fields_get(c->now->fields, key));
	if (RT_TRY(c->scope, rt_project_disc(c->now, disc, &d, &c->scope->error)) != RT_OK)
		return (rt_str){NULL, 0};
	return sub != 0 ? take_field(c, d, sub, key) : disc_field(c, d, key, entry);
}

/* key and after are in the scope, or constants. */
static void
set(rt_change *c, uint32_t disc, uint32_t sub, rt_str key, uint32_t entry, rt_str after)
{
	rt_str before = rt_change_field(c, disc, sub, key, entry);

	if (!rt_change_ok(c) ||
	    ((before.ptr == NULL) == (after.ptr == NULL) && rt_str_eq(before, after)))
		return;
	rt_change_emit(c, &(rt_effect){.kind = RT_EFFECT_SET, .disc = disc, .sub = sub, .key = key,
				       .entry = entry, .before = before, .after = after});
}

void
rt_change_set(rt_change *c, uint32_t disc, uint32_t sub, rt_str key, uint32_t entry, rt_str after)
{
	set(c, disc, sub, rt_scope_copy(c->scope, key), entry, copy(c, after));
}

void
rt_change_clear(rt_change *c, uint32_t disc, uint32_t sub, const char *key)
{
	set(c, disc, sub, rt_str_of(key), 0, (rt_str){NULL, 0});
}

void
rt_change_set_number(rt_change *c, uint32_t disc, uint32_t sub, const char *key, uint64_t number)
{
	set(c, disc, sub, rt_str_of(key), 0, number_text(c, number));
}

void
rt_change_set_text(rt_change *c, uint32_t disc, uint32_t sub, const char *key, uint32_t entry,
		   rt_str text)
{
	set(c, disc, sub, rt_str_of(key), entry, json_text(c, text));
}

void
rt_change_set_json(rt_change *c, uint32_t disc, rt_str key, yyjson_val *value)
{
	rt_buf *text = rt_scope_buf(c->scope);

	if (key.size > 0 && memchr(key.ptr, '\0', key.size) != NULL)
		rt_scope_fail(c->scope, RT_USAGE, "the name of a setting cannot contain NUL");
	if (value != NULL && !yyjson_is_null(value))
		rt_json_add_sorted(text, c->scope->alloc, value);
	set(c, disc, 0, rt_scope_copy(c->scope, key), 0, rt_scope_str(c->scope, text));
}

/* ---- bodies ---- */

uint64_t
rt_change_add_body(rt_change *c, uint64_t entry, rt_str data)
{
	rt_new_body *bodies = rt_scope_grow(c->scope, c->bodies, c->body_count, &c->body_room,
					    sizeof(*bodies));

	if (bodies == NULL)
		return 0;
	c->bodies = bodies;
	c->bodies[c->body_count++] = (rt_new_body){c->next_body, entry, data};
	return c->next_body++;
}

const rt_disc *
rt_change_disc(rt_change *c)
{
	const rt_disc *disc = NULL;

	RT_TRY(c->scope, rt_project_disc(c->now, c->place.disc, &disc, &c->scope->error));
	return rt_change_ok(c) ? disc : NULL;
}

void
rt_change_body_bytes(rt_change *c, uint64_t number, rt_buf *out)
{
	size_t i = number >= c->base->next_body ? c->body_count : 0;
	rt_status st;

	if (!rt_change_ok(c))
		return;
	while (i > 0 && c->bodies[i - 1].number != number)
		i--;
	if (i > 0) {
		rt_buf_add_str(out, c->bodies[i - 1].data);
	} else {
		st = rt_store_get(c->engine->store,
				  rt_rows_one(RT_STORE_BODIES, c->engine->project, number), out,
				  NULL, &c->scope->error);
		if (st == RT_NOT_FOUND)
			st = rt_engine_no_body(number, &c->scope->error);
		RT_TRY(c->scope, st);
	}
	RT_TRY(c->scope, out->status);
}

static void
close_body(void *body)
{
	rt_body_deinit(body);
}

const rt_body *
rt_change_parse_body(rt_change *c, rt_str data)
{
	static const rt_body none = {.format = RT_BODY_TEXT};
	rt_body *body = rt_scope_get(c->scope, sizeof(*body));

	RT_TRY(c->scope, rt_body_read(c->scope->alloc, data, body, &c->scope->error));
	if (!rt_change_ok(c))
		return &none;
	rt_scope_defer(c->scope, close_body, body);
	return rt_change_ok(c) ? body : &none;
}

const rt_body *
rt_change_read_body(rt_change *c, uint64_t number)
{
	rt_buf *bytes = rt_scope_buf(c->scope);

	rt_change_body_bytes(c, number, bytes);
	return rt_change_parse_body(c, rt_scope_str(c->scope, bytes));
}
