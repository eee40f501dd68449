/* SPDX-License-Identifier: MIT
 *
 * Repair: gives up bodies that cannot be read, so that the rest can be used again. The log has all
 * changes; each text is in one body. A damaged body becomes a hole marked as lost; entries, order
 * and history stay. */
#include "log/engine_impl.h"
#include "log/repair.h"

#include <stdlib.h> /* bsearch */

/* Numbers of lost bodies, ascending; in a scope. */
typedef struct lost_bodies {
	uint64_t *numbers;
	size_t count, capacity;
} lost_bodies;

static int
number_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool
is_lost(const lost_bodies *lost, uint64_t number)
{
	return lost->count > 0 && bsearch(&number, lost->numbers, lost->count,
					  sizeof(*lost->numbers), number_order) != NULL;
}

static void
find_lost(rt_engine *engine, lost_bodies *lost, rt_scope *s)
{
	rt_buf *bytes = rt_scope_buf(s);
	uint64_t head = 0;

	RT_TRY(s, rt_engine_head(engine, RT_STORE_BODIES, &head, &s->error));
	for (uint64_t number = 1; rt_ok(s) && number <= head; number++) {
		rt_body body = {0};

		rt_buf_clear(bytes);
		rt_status st = rt_store_get(engine->store,
					    rt_rows_one(RT_STORE_BODIES, engine->project, number),
					    bytes, NULL, &s->error);
		if (st == RT_NOT_FOUND) /* a number that was never used, or fsck reports it */
			continue;
		if (st == RT_OK)
			st = rt_body_read(engine->alloc, rt_buf_str(bytes), &body, &s->error);
		if (st == RT_OK)
			rt_body_deinit(&body);
		if (st != RT_CORRUPT) {
			rt_scope_note(s, st);
			continue;
		}
		uint64_t *numbers = rt_scope_grow(s, lost->numbers, lost->count, &lost->capacity,
						  sizeof(*numbers));
		if (numbers == NULL)
			return;
		lost->numbers = numbers;
		lost->numbers[lost->count++] = number;
	}
}

static void
blank_lost(rt_engine *engine, const lost_bodies *lost, rt_scope *s)
{
	static const char hole[] = {RT_BODY_PURGED, 'l', 'o', 's', 't'};
	rt_store *store = engine->store;

	if (!rt_ok(s) || lost->count == 0)
		return;
	RT_TRY(s, store->ops->begin(store, &s->error));
	for (size_t i = 0; i < lost->count; i++)
		RT_TRY(s, store->ops->write(
				  store,
				  rt_rows_one(RT_STORE_BODIES, engine->project, lost->numbers[i]),
				  rt_str_at(hole, sizeof(hole)), &s->error));
	rt_store_end(store, s);
}

/* The entries of a present take that show a lost text. */
static void
report_take(const rt_project *project, const rt_cell *cell, const rt_take *take,
	    const lost_bodies *lost, rt_lost_fn fn, void *ctx, rt_scope *s)
{
	size_t count = take->present ? rt_seq_count(take->slots) : 0;

	for (size_t at = 0; rt_ok(s) && at < count; at++) {
		rt_lost_text text = {.discussion = rt_cell_name(cell),
				     .take = rt_text_str(take->name),
				     .position = at + 1};
		rt_slot slot;

		RT_TRY(s, rt_seq_get(take->slots, at, &slot, &s->error));
		if (rt_ok(s) && is_lost(lost, slot.body) &&
		    RT_TRY(s, rt_entry_id(project, slot.entry, text.entry, &s->error)) == RT_OK)
			fn(ctx, &text);
	}
}

static void
report_lost(rt_engine *engine, const lost_bodies *lost, rt_lost_fn fn, void *ctx, rt_scope *s)
{
	const rt_project *project = rt_engine_value(engine);
	size_t discs = lost->count > 0 ? rt_project_disc_count(project) : 0;

	for (uint32_t d = 1; rt_ok(s) && d <= discs; d++) {
		const rt_disc *disc;

		RT_TRY(s, rt_project_disc(project, d, &disc, &s->error));
		for (uint32_t t = 1; rt_ok(s) && t <= rt_disc_take_count(disc); t++)
			report_take(project, rt_project_cell(project, d), rt_disc_take(disc, t), lost,
				    fn, ctx, s);
	}
	rt_object_unref(project);
}

rt_status
rt_engine_repair(rt_engine *engine, rt_lost_fn fn, void *ctx, size_t *out_count, rt_error *err)
{
	lost_bodies lost = {0};
	rt_scope s;

	*out_count = 0;
	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, rt_engine_may_write(engine, &s.error));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	rt_engine_lock_writer(engine);
	find_lost(engine, &lost, &s);
	blank_lost(engine, &lost, &s);
	report_lost(engine, &lost, fn, ctx, &s);
	if (rt_ok(&s))
		*out_count = lost.count;
	rt_engine_unlock_writer(engine);
	return rt_scope_end(&s, err);
}
