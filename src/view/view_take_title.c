/* SPDX-License-Identifier: MIT
 *
 * Titles of takes without a chosen name: the words in which they differ from the take that they
 * diverge from, such as "…SQLite" beside "…PostgreSQL". */
#include "core/role.h"
#include "log/engine_impl.h"
#include "view/view_impl.h"

enum {
	TITLE_MAX = 32,    /* characters */
	PREVIEW_MAX = 200,
	READ_MAX = 2000,   /* characters of each text that are compared */
	NEAR_MAX = 64      /* takes that each is compared with */
};

/* "main", "main_take_2" …: a generated name. */
static bool
is_generated(rt_str name)
{
	size_t end = name.size;

	if (rt_disc_name_is_generated(name))
		return true;
	while (end > 0 && name.ptr[end - 1] >= '0' && name.ptr[end - 1] <= '9')
		end--;
	return end < name.size && end >= 6 && memcmp(name.ptr + end - 6, "_take_", 6) == 0;
}

/* The take that it shares most entries with: of the ones before it, or for the first one of those
 * after it. *out_common: their number. NULL: there is no other. */
static const rt_take *
nearest_take(const rt_view *v, const rt_disc *disc, const rt_take *take, size_t *out_common)
{
	uint32_t number = take->number, takes = (uint32_t)rt_disc_take_count(disc);
	const rt_take *best = NULL;
	size_t looked = 0, common;

	*out_common = 0;
	for (uint32_t i = number - 1; i >= 1 && looked < NEAR_MAX; i--) {
		const rt_take *other = rt_disc_take(disc, i);

		if (!other->present)
			continue;
		looked++;
		if (RT_TRY(v->scope, rt_seq_common(take->slots, other->slots, &common,
						   &v->scope->error)) != RT_OK)
			return NULL;
		if (best == NULL || common > *out_common) {
			best = other;
			*out_common = common;
		}
	}
	for (uint32_t i = number + 1; best == NULL && i <= takes; i++)
		if (rt_disc_take(disc, i)->present)
			best = rt_disc_take(disc, i);
	if (best != NULL && looked == 0)
		RT_TRY(v->scope, rt_seq_common(take->slots, best->slots, out_common,
					       &v->scope->error));
	return rt_ok(v->scope) ? best : NULL;
}

/* The text of a take's entry on one line; *out_is_reply: of a model, which is added to model. Absent:
 * there is none. */
static rt_str
text_at(const rt_view *v, rt_scope *memory, const rt_take *take, size_t at, bool *out_is_reply,
	rt_buf *model)
{
	rt_view inner = {memory, v->engine, v->project, v->place};
	rt_str role = {0};
	rt_slot slot;

	*out_is_reply = false;
	if (at >= rt_seq_count(take->slots))
		return (rt_str){0};
	RT_TRY(memory, rt_seq_get(take->slots, at, &slot, &memory->error));
	if (rt_ok(memory))
		RT_TRY(memory, rt_project_name(v->project, slot.role, &role, &memory->error));
	if (!rt_ok(memory))
		return (rt_str){0};
	*out_is_reply = slot.kind == 0 && rt_role_is_assistant(role);
	const rt_body *body = rt_view_body(&inner, slot.body);

	if (body != NULL && *out_is_reply)
		rt_body_add_model(model, body);
	return body != NULL ? rt_view_preview(memory, role, body, READ_MAX) : (rt_str){0};
}

/* The offset of the first word in which a differs from b. */
static size_t
first_difference(rt_str a, rt_str b)
{
	size_t word = 0, i = 0;

	for (; i < a.size && i < b.size && a.ptr[i] == b.ptr[i]; i++)
		if (a.ptr[i] == ' ')
			word = i + 1;
	return i == a.size && i == b.size ? 0 : word;
}

void
rt_take_row_set_title(const rt_view *v, const rt_disc *disc, rt_scope *memory, rt_take_row *row)
{
	const rt_take *take = rt_disc_take(disc, row->number), *other;
	bool is_reply = false, is_other_reply = false, is_edited;
	size_t common, at = 0;

	if (!rt_ok(v->scope) || row->absent)
		return;
	other = nearest_take(v, disc, take, &common);
	if (other == NULL)
		return;
	RT_TRY(v->scope, rt_seq_differ(take->slots, other->slots, 0, &at, &v->scope->error));
	is_edited = at < common; /* an entry that both have, with another text */
	at = is_edited ? at : common;
	rt_scope_reset(memory);
	rt_buf *model = rt_scope_buf(memory);
	rt_str own = text_at(v, memory, take, at, &is_reply, model);
	rt_str theirs = text_at(v, memory, other, at, &is_other_reply, rt_scope_buf(memory));
	if (rt_scope_adopt(v->scope, memory) != RT_OK || own.size == 0)
		return;
	row->preview = rt_first_words(v->scope, own, PREVIEW_MAX);
	row->model = rt_scope_copy(v->scope, rt_buf_str(model));
	if (!is_generated(row->name))
		return;
	size_t from = first_difference(own, theirs);
	rt_buf *title = rt_scope_buf(v->scope);

	rt_buf_add_c(title, from > 0 ? "…" : "");
	rt_buf_add_str(title, rt_first_words(v->scope, rt_str_at(own.ptr + from, own.size - from),
					     TITLE_MAX));
	row->title = rt_scope_str(v->scope, title);
	if (!is_edited && is_reply && is_other_reply && other->number < take->number &&
	    rt_seq_count(take->slots) == at + 1)
		row->another_reply = other->number;
}
