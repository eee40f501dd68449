/* SPDX-License-Identifier: MIT
 *
 * When labels were set: the rows of the log, from the newest down. Only those of single labels
 * are taken apart: an import's row is as long as the import. */
#include "log/engine_impl.h"

#include "core/op.h"
#include "view/view.h"

enum { HEAD_MAX = 200 /* bytes of a row in which its operation is named */ };

typedef struct setting {
	uint32_t entry;
	int64_t at_us;
	rt_str after; /* JSON, in the arena */
} setting;

/* A part of the log that is being read; callbacks must not call the store. */
typedef struct reading {
	rt_engine *engine;
	rt_arena *arena;
	uint32_t disc;
	setting *found; /* in the arena */
	size_t count, room;
	bool nomem;
} reading;

static void
add_found(reading *r, setting new)
{
	if (r->count == r->room) {
		size_t room = r->room == 0 ? 32 : r->room * 2;
		setting *found = rt_arena_get(r->arena, room * sizeof(*found));

		if (found == NULL) {
			r->nomem = true;
			return;
		}
		if (r->count > 0)
			memcpy(found, r->found, r->count * sizeof(*found));
		r->found = found;
		r->room = room;
	}
	r->found[r->count++] = new;
}

static bool
see_row(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	rt_str head = rt_str_at(row->data.ptr, row->data.size < HEAD_MAX ? row->data.size : HEAD_MAX);
	rt_record record;
	rt_status st;
	size_t i;

	if (rt_str_find(head, RT_STR("\"op\":\"label.set\""), 0) == SIZE_MAX)
		return true;
	st = rt_record_read(r->engine->alloc, r->arena, row->data, &record, NULL);
	r->nomem = r->nomem || st == RT_NOMEM;
	for (i = 0; st == RT_OK && i < record.effect_count; i++) {
		const rt_effect *e = &record.effects[i];

		if (e->kind == RT_EFFECT_SET && e->disc == r->disc && rt_str_is(e->key, "label") &&
		    e->after.ptr != NULL)
			add_found(r, (setting){e->entry, row->at_us, e->after});
	}
	return !r->nomem;
}

/* Those that the entries have still. */
static rt_status
tell(reading *r, const rt_project *project, const rt_disc *disc, rt_label_time_fn fn, void *ctx,
     rt_error *err)
{
	rt_status st = RT_OK;
	size_t i;
	rt_buf now;

	rt_buf_init(&now, r->engine->alloc, RT_BUF_UNLIMITED);
	for (i = 0; st == RT_OK && i < r->count; i++) {
		rt_str label;

		st = rt_disc_label(project, disc, r->found[i].entry, &label, err);
		if (st != RT_OK || label.size == 0)
			continue;
		rt_buf_clear(&now);
		rt_json_add_string(&now, label);
		if (now.status != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
		else if (rt_str_eq(rt_buf_str(&now), r->found[i].after))
			fn(ctx, r->found[i].entry, r->found[i].at_us);
	}
	rt_buf_deinit(&now);
	return st;
}

rt_status
rt_view_label_times(rt_engine *engine, const rt_project *project, uint32_t disc, uint64_t *seq,
		    size_t limit, rt_label_time_fn fn, void *ctx, rt_error *err)
{
	reading r = {.engine = engine, .disc = disc};
	uint64_t from = *seq == 0 ? project->seq : *seq - 1;
	uint64_t to = from > limit ? from - limit + 1 : 1;
	const rt_disc *of;
	rt_status st = rt_project_disc(project, disc, &of, err);

	RT_ASSERT(limit > 0);
	if (st != RT_OK)
		return st;
	if (from == 0) {
		*seq = 1;
		return RT_OK;
	}
	r.arena = rt_arena_new(engine->alloc);
	if (r.arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	st = engine->store->ops->read(engine->store,
				      rt_rows_between(RT_STORE_LOG, engine->project, from, to),
				      see_row, &r, err);
	if (st == RT_OK && r.nomem)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = tell(&r, project, of, fn, ctx, err);
	if (st == RT_OK)
		*seq = to;
	rt_arena_free(r.arena);
	return st;
}
