/* SPDX-License-Identifier: MIT
 *
 * When labels were set: the rows of the log, from the newest down. Only rows of single labels are
 * decoded: an import's row is as long as the import. */
#include "core/op.h"
#include "log/engine_impl.h"
#include "view/view.h"

/* A label that was set. */
typedef struct given {
	struct given *next;
	uint32_t entry;
	int64_t at_us;
	rt_str label; /* JSON */
} given;

/* A part of the log that is being read; callbacks must not call the store. */
typedef struct reading {
	rt_scope *scope;
	uint32_t disc;
	given *first, **last;
} reading;

static bool
read_row(void *ctx, const rt_store_row *row)
{
	reading *r = ctx;
	rt_scope *s = r->scope;
	rt_arena *arena = rt_scope_arena(s);
	rt_record record;

	if (!rt_record_is_of(row->data, rt_str_of(rt_ops[RT_OP_LABEL_SET].name)))
		return true;
	rt_status st = arena == NULL ? RT_NOMEM
				     : rt_record_read(s->alloc, arena, row->data, &record, NULL);

	if (st == RT_NOMEM)
		rt_scope_nomem(s);
	for (size_t i = 0; st == RT_OK && i < record.effect_count; i++) {
		const rt_effect *e = &record.effects[i];

		if (e->kind != RT_EFFECT_SET || e->disc != r->disc || !rt_str_is(e->key, "label") ||
		    e->after.ptr == NULL)
			continue;
		given *g = rt_scope_get(s, sizeof(*g));

		if (g == NULL)
			break;
		*g = (given){NULL, e->entry, row->at_us, e->after};
		*r->last = g;
		r->last = &g->next;
	}
	return rt_ok(s);
}

rt_status
rt_view_label_times(rt_engine *engine, const rt_project *project, uint32_t disc_number,
		    uint64_t *seq, size_t limit, rt_label_time_fn fn, void *ctx, rt_error *err)
{
	uint64_t from = *seq == 0 ? project->seq : *seq - 1;
	uint64_t to = from > limit ? from - limit + 1 : 1;
	const rt_disc *disc;
	rt_scope s;
	reading r = {.scope = &s, .disc = disc_number, .last = &r.first};

	RT_ASSERT(limit > 0);
	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, rt_project_disc(project, disc_number, &disc, &s.error));
	if (from > 0)
		RT_TRY(&s, engine->store->ops->read(
				   engine->store,
				   rt_rows_between(RT_STORE_LOG, engine->project, from, to), read_row,
				   &r, &s.error));
	rt_buf *now = rt_scope_buf(&s);

	for (const given *g = r.first; rt_ok(&s) && g != NULL; g = g->next) {
		rt_str label;

		RT_TRY(&s, rt_disc_label(project, disc, g->entry, &label, &s.error));
		if (!rt_ok(&s) || label.size == 0)
			continue;
		rt_buf_clear(now);
		rt_json_add_string(now, label);
		if (rt_str_eq(rt_scope_str(&s, now), g->label))
			fn(ctx, g->entry, g->at_us);
	}
	if (rt_ok(&s))
		*seq = to;
	return rt_scope_end(&s, err);
}
