/* SPDX-License-Identifier: MIT
 *
 * Repair: what the log cannot give back is given up, so that the rest can be used again. The
 * log holds what was done; the texts are in the bodies, once. A body that is not what was
 * written becomes a hole that says so; entries, order and history stay. */
#include "log/engine_impl.h"
#include "log/repair.h"

typedef struct lost {
	uint64_t *numbers;
	size_t count, room;
} lost;

static rt_status
note(rt_engine *engine, lost *l, uint64_t number, rt_error *err)
{
	if (l->count == l->room) {
		size_t room = l->room * 2 + 16;
		uint64_t *numbers = rt_resize(engine->alloc, l->numbers, room * sizeof(*numbers));

		if (numbers == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		l->numbers = numbers;
		l->room = room;
	}
	l->numbers[l->count++] = number;
	return RT_OK;
}

static bool
is_lost(const lost *l, uint64_t number)
{
	size_t from = 0, to = l->count;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (l->numbers[at] == number)
			return true;
		if (l->numbers[at] < number)
			from = at + 1;
		else
			to = at;
	}
	return false;
}

static rt_status
find_lost(rt_engine *engine, lost *l, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	uint64_t head, number;
	rt_buf bytes;
	rt_status st = ops->head(engine->store, RT_STORE_BODIES, engine->project, &head, err);

	rt_buf_init(&bytes, engine->alloc, RT_BUF_UNLIMITED);
	for (number = 1; st == RT_OK && number <= head; number++) {
		rt_error why;
		rt_body body;

		rt_buf_clear(&bytes);
		st = rt_store_get(engine->store,
				  rt_rows_one(RT_STORE_BODIES, engine->project, number), &bytes,
				  NULL, &why);
		if (st == RT_NOT_FOUND) { /* a number that was never used, or fsck tells */
			st = RT_OK;
			continue;
		}
		if (st == RT_OK) {
			st = rt_body_read(engine->alloc, rt_buf_str(&bytes), &body, &why);
			if (st == RT_OK)
				rt_body_deinit(&body);
		}
		if (st == RT_CORRUPT)
			st = note(engine, l, number, err);
		else if (st != RT_OK && err != NULL)
			*err = why;
	}
	rt_buf_deinit(&bytes);
	return st;
}

/* Say which present entries show a lost text. */
static rt_status
tell(const rt_project *project, const lost *l, rt_lost_fn fn, void *ctx,
     rt_error *err)
{
	size_t d, t, at;
	rt_status st = RT_OK;

	for (d = 1; st == RT_OK && d <= rt_project_disc_count(project); d++) {
		const rt_cell *cell = rt_project_cell(project, (uint32_t)d);
		const rt_disc *disc;

		if (cell == NULL)
			continue;
		st = rt_project_disc(project, (uint32_t)d, &disc, err);
		for (t = 1; st == RT_OK && t <= rt_disc_take_count(disc); t++) {
			const rt_take *take = rt_disc_take(disc, (uint32_t)t);
			size_t count = take->present ? rt_seq_count(take->slots) : 0;

			for (at = 0; st == RT_OK && at < count; at++) {
				rt_lost_text text;
				rt_slot slot;

				st = rt_seq_get(take->slots, at, &slot, err);
				if (st != RT_OK || !is_lost(l, slot.body))
					continue;
				st = rt_entry_id(project, slot.entry, text.entry, err);
				text.discussion = rt_cell_name(cell);
				text.take = rt_text_str(take->name);
				text.position = at + 1;
				if (st == RT_OK)
					fn(ctx, &text);
			}
		}
	}
	return st;
}

rt_status
rt_engine_repair(rt_engine *engine, rt_lost_fn fn, void *ctx, size_t *out_count, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	static const char hole[] = {RT_BODY_PURGED, 'l', 'o', 's', 't'};
	const rt_project *project;
	lost l = {0};
	size_t i;
	rt_status st = rt_engine_may_write(engine, err);

	*out_count = 0;
	if (st != RT_OK)
		return st;
	rt_engine_lock_writer(engine);
	st = find_lost(engine, &l, err);
	if (st == RT_OK && l.count > 0) {
		st = ops->begin(engine->store, err);
		for (i = 0; st == RT_OK && i < l.count; i++)
			st = ops->write(engine->store,
					rt_rows_one(RT_STORE_BODIES, engine->project, l.numbers[i]),
					rt_str_at(hole, sizeof(hole)), err);
		if (st == RT_OK)
			st = ops->commit(engine->store, err);
		else
			ops->cancel(engine->store);
	}
	if (st == RT_OK && l.count > 0) {
		project = rt_engine_value(engine);
		st = tell(project, &l, fn, ctx, err);
		rt_object_unref(project);
	}
	if (st == RT_OK)
		*out_count = l.count;
	rt_free(engine->alloc, l.numbers);
	rt_engine_unlock_writer(engine);
	return st;
}
