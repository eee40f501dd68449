/* SPDX-License-Identifier: MIT
 *
 * The texts of edited entries before they were edited. The log is read once: the step of the first
 * edit replaces the text of the author, which is not marked as edited, by one that is. A part or a
 * combination of entries (split, merge) is marked, too, but no edit. */
#include <stdlib.h> /* qsort */

#include "log/engine_impl.h"
#include "ops/export.h"

typedef struct original {
	uint32_t entry;
	uint64_t body; /* 0: there is none */
	bool is_reply; /* its role then was none of a person */
} original;

static int
by_entry(const void *a, const void *b)
{
	const original *x = a, *y = b;

	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* The edited entries of all outlines, sorted. */
static original *
list_edited(rt_scope *s, const rt_outlines *outlines, size_t *out_count)
{
	original *list = NULL;
	size_t room = 0;

	*out_count = 0;
	for (size_t i = 0; i < outlines->count; i++)
		for (size_t k = 0; k < outlines->items[i].node_count; k++) {
			const rt_node *node = &outlines->items[i].nodes[k];

			if (!node->edited)
				continue;
			list = rt_scope_grow(s, list, *out_count, &room, sizeof(*list));
			if (list == NULL)
				return NULL;
			list[(*out_count)++] = (original){.entry = node->entry};
		}
	if (*out_count > 1)
		qsort(list, *out_count, sizeof(*list), by_entry);
	return list;
}

/* The first of those with the same entry. */
static original *
find(original *list, size_t count, uint32_t entry)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].entry < entry)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && list[low].entry == entry ? &list[low] : NULL;
}

/* The texts that an effect replaced by edited ones. */
static void
read_effect(const rt_effect *e, original *list, size_t count)
{
	if (e->kind != RT_EFFECT_SPLICE || e->removed_count != e->added_count)
		return;
	for (size_t i = 0; i < e->added_count; i++) {
		const rt_slot *from = &e->removed[i].slot, *to = &e->added[i].slot;
		original *of = from->entry == to->entry && from->body != to->body &&
					       (from->flags & RT_SLOT_EDITED) == 0 &&
					       (to->flags & RT_SLOT_EDITED) != 0
				       ? find(list, count, to->entry)
				       : NULL;

		if (of != NULL)
			*of = (original){.entry = to->entry,
					 .body = from->body,
					 .is_reply = !rt_str_is(e->removed[i].role, "User") &&
						     !rt_str_is(e->removed[i].role, "System")};
	}
}

static void
read_log(rt_scope *s, rt_engine *engine, const rt_project *project, original *list, size_t count)
{
	for (uint64_t seq = 1; rt_ok(s) && seq <= project->seq; seq++) {
		rt_record record = {0};
		rt_scope row;

		rt_scope_init(&row, engine->alloc);
		if (rt_scope_arena(&row) != NULL)
			RT_TRY(&row, rt_engine_record(engine, seq, rt_scope_arena(&row), &record,
						      NULL, &row.error));
		bool is_edit = rt_ok(&row) && rt_op_may(record.op, RT_OP_EDITS_TEXT);

		for (size_t i = 0; is_edit && i < record.effect_count; i++)
			read_effect(&record.effects[i], list, count);
		(void)rt_scope_join(s, &row);
	}
}

static void
read_body(rt_scope *s, rt_engine *engine, uint64_t number, rt_arena *arena, rt_node *node)
{
	rt_buf *bytes = rt_scope_buf(s);
	char *copy;

	RT_TRY(s, rt_store_get(engine->store, rt_rows_one(RT_STORE_BODIES, engine->project, number),
			       bytes, NULL, &s->error));
	if (rt_scope_str(s, bytes).size == 0 || bytes->ptr[0] == RT_BODY_PURGED)
		return;
	copy = rt_arena_get(arena, bytes->size);
	if (copy == NULL) {
		(void)rt_scope_nomem(s);
		return;
	}
	memcpy(copy, bytes->ptr, bytes->size);
	node->before_format = copy[0];
	node->before = rt_str_at(copy + 1, bytes->size - 1);
}

rt_status
rt_engine_export_before(rt_engine *engine, const rt_project *project, rt_outlines *outlines,
			rt_error *err)
{
	original *list;
	size_t count;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	list = list_edited(&s, outlines, &count);
	if (count > 0)
		read_log(&s, engine, project, list, count);
	for (size_t i = 0; i < outlines->count; i++)
		for (size_t k = 0; rt_ok(&s) && k < outlines->items[i].node_count; k++) {
			rt_node *node = &outlines->items[i].nodes[k];
			const original *from = node->edited ? find(list, count, node->entry) : NULL;

			if (from != NULL && from->body > 0 && from->is_reply)
				read_body(&s, engine, from->body, outlines->arena, node);
		}
	return rt_scope_end(&s, err);
}
