/* SPDX-License-Identifier: MIT
 *
 * Entries of the conversation for display. */
#include <stdio.h>

#include "tui/work.h"

static void
add_texts(rt_scope *s, rt_work_entry *e)
{
	rt_content content = rt_body_content(e->body);
	yyjson_val *calls = rt_body_field(e->body, "tool_calls");

	rt_body_add_prose(&e->text, e->role, e->body);
	e->said = rt_body_parts_of(s, e->role, e->body);
	rt_content_add_parts(&e->parts, content, calls);
	if (e->text.size == 0 && e->parts.size == 0)
		rt_content_add_brief(&e->parts, content, calls, rt_body_field(e->body, "pi"));
	(void)rt_scope_str(s, &e->text);
	(void)rt_scope_str(s, &e->parts);
}

static rt_status
entry_of_slot(rt_work *work, const rt_slot *slot, size_t at, rt_work_entry *e, rt_error *err)
{
	rt_scope *s = &e->scope;
	rt_view view = rt_work_view(work, s);
	unsigned flags = 0;

	memset(e, 0, sizeof(*e));
	e->slot = *slot;
	e->at = at;
	rt_scope_init(s, work->alloc);
	rt_buf_init(&e->text, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&e->parts, work->alloc, RT_BUF_UNLIMITED);
	RT_TRY(s, rt_entry_id(work->value, slot->entry, e->id, &s->error));
	RT_TRY(s, rt_project_name(work->value, slot->role, &e->role, &s->error));
	RT_TRY(s, rt_project_name(work->value, slot->kind, &e->kind, &s->error));
	RT_TRY(s, rt_disc_label(work->value, work->disc, slot->entry, &e->label, &s->error));
	RT_TRY(s, rt_project_view(work->value, slot->entry, &flags, &s->error));
	e->body = rt_view_body(&view, slot->body);
	if (e->kind.size == 0)
		e->kind = RT_STR("message");
	if (rt_ok(s)) {
		e->is_collapsed = (flags & RT_VIEW_COLLAPSED) != 0;
		e->is_read = (flags & RT_VIEW_READ_MODE) != 0;
		e->is_muted = (slot->flags & RT_SLOT_MUTED) != 0;
		e->is_partial = yyjson_is_true(rt_body_field(e->body, "partial"));
		e->is_hidden = rt_body_is_hidden(e->kind, e->body);
		e->is_tool = rt_str_eq_nocase(e->role, RT_STR("tool")) ||
			     rt_str_eq_nocase(e->role, RT_STR("toolResult"));
		add_texts(s, e);
	}
	if (rt_ok(s))
		return RT_OK;
	if (err != NULL)
		*err = s->error;
	rt_work_entry_deinit(e);
	return s->status;
}

rt_status
rt_work_entry_at(rt_work *work, size_t at, rt_work_entry *out, rt_error *err)
{
	rt_slot slot;
	rt_status st = rt_seq_get(work->take->slots, at, &slot, err);

	return st == RT_OK ? entry_of_slot(work, &slot, at, out, err) : st;
}

rt_status
rt_work_entry_of(rt_work *work, uint32_t entry, rt_work_entry *out, rt_error *err)
{
	const rt_take *seen = work->seen_take == 0 ? NULL
						   : rt_disc_take(work->disc, work->seen_take);
	const rt_take *takes[3] = {seen != NULL && seen->present ? seen : NULL, work->take, NULL};
	bool found = false;
	uint32_t holder = 0;
	rt_slot slot;
	size_t at;
	rt_status st = RT_OK;

	for (int i = 0; st == RT_OK && !found && i < 3; i++) {
		if (i == 2) {
			st = rt_disc_holds(work->value, work->disc, entry, &holder, err);
			if (st == RT_OK && holder != 0)
				takes[i] = rt_disc_take(work->disc, holder);
		}
		if (st == RT_OK && takes[i] != NULL)
			st = rt_take_find(work->value, takes[i], entry, &at, &slot, &found, err);
		if (st == RT_OK && found)
			return entry_of_slot(work, &slot, takes[i] == work->take ? at : SIZE_MAX,
					     out, err);
	}
	return st == RT_OK ? rt_fail(err, RT_NOT_FOUND, "the entry is no longer in any take") : st;
}

void
rt_work_entry_deinit(rt_work_entry *entry)
{
	rt_scope_deinit(&entry->scope);
	rt_buf_deinit(&entry->text);
	rt_buf_deinit(&entry->parts);
}

static void
close_entry(void *entry)
{
	rt_work_entry_deinit(entry);
}

const rt_work_entry *
rt_work_entry_get(rt_scope *s, rt_work *work, uint32_t entry)
{
	rt_work_entry *e = rt_scope_get(s, sizeof(*e));

	if (e == NULL || RT_TRY(s, rt_work_entry_of(work, entry, e, &s->error)) != RT_OK)
		return NULL;
	rt_scope_defer(s, close_entry, e);
	return rt_ok(s) ? e : NULL;
}

rt_str
rt_work_entry_text(rt_scope *s, rt_work *work, uint32_t entry)
{
	const rt_work_entry *e = rt_work_entry_get(s, work, entry);
	rt_buf *text = rt_scope_buf(s);

	if (e != NULL)
		rt_content_add_text(text, rt_body_content(e->body));
	(void)rt_scope_str(s, text);
	return text->size > 0 ? rt_buf_str(text) : RT_STR("");
}

size_t
rt_work_position(rt_work *work, uint32_t entry)
{
	size_t at = SIZE_MAX;
	bool found = false;
	rt_slot slot;

	if (rt_take_find(work->value, work->take, entry, &at, &slot, &found, NULL) != RT_OK ||
	    !found)
		return SIZE_MAX;
	return at;
}

uint32_t
rt_work_take_of(rt_scope *s, rt_work *work, uint32_t seen_take, uint32_t entry)
{
	uint32_t holder = 0;

	if (seen_take != 0)
		return seen_take;
	if (rt_work_position(work, entry) != SIZE_MAX)
		return work->place.take;
	RT_TRY(s, rt_disc_holds(work->value, work->disc, entry, &holder, &s->error));
	return holder;
}

rt_str
rt_work_entry_id(rt_scope *s, const rt_work *work, uint32_t entry)
{
	char id[RT_ID_MAX + 1] = "";

	RT_TRY(s, rt_entry_id(work->value, entry, id, &s->error));
	return rt_scope_copy(s, rt_str_of(id));
}

rt_str
rt_work_take_id(rt_scope *s, uint32_t take)
{
	char id[24];

	(void)snprintf(id, sizeof(id), RT_BY_ID "t%u", take);
	return rt_scope_copy(s, rt_str_of(id));
}
