/* SPDX-License-Identifier: MIT
 *
 * The group of a step (codec/record.h) is reverted as a whole, whichever of its rows the request
 * names: the number of the last row is the one that the history shows. Only the rows after the
 * first contain its number, so the last one is found by reading the rows that follow. */
#include "log/revert_impl.h"

#include "core/op.h"
#include "log/engine_impl.h"

typedef struct group_end {
	rt_scope scope; /* of one record */
	uint64_t group, last;
	rt_str mark; /* the beginning of the member of such a row */
} group_end;

static bool
find_last(void *ctx, const rt_store_row *row)
{
	group_end *g = ctx;
	rt_record record = {0};

	if (rt_str_find(row->data, g->mark, 0) == SIZE_MAX)
		return true;
	rt_scope_reset(&g->scope);
	rt_arena *arena = rt_scope_arena(&g->scope);
	RT_TRY(&g->scope, rt_record_read(g->scope.alloc, arena, row->data, &record, &g->scope.error));
	if (rt_ok(&g->scope) && record.group == g->group)
		g->last = row->number;
	return rt_ok(&g->scope);
}

/* The last row of the group of step r->seq; itself if there is none after it. */
static uint64_t
last_of_group(rt_reverting *r)
{
	rt_change *c = r->c;
	group_end g = {.group = r->step.group != 0 ? r->step.group : r->seq, .last = r->seq};
	bool may_begin = rt_str_is(r->step.op, RT_STEP_IMPORT) ||
			 rt_str_is(r->step.op, rt_ops[RT_OP_ENTRY_REPLY].name) ||
			 rt_history_is_draft(&r->step);

	if ((r->step.group == 0 && !may_begin) || r->seq >= c->base->seq)
		return r->seq;
	rt_buf *mark = rt_scope_buf(c->scope);
	rt_buf_add_f(mark, "\"g\":[%llu,", (unsigned long long)g.group);
	g.mark = rt_scope_str(c->scope, mark);
	rt_scope_init(&g.scope, c->scope->alloc);
	if (rt_change_ok(c))
		RT_TRY(&g.scope, rt_engine_read(c->engine, RT_STORE_LOG, r->seq + 1, c->base->seq,
						find_last, &g, &g.scope.error));
	(void)rt_scope_join(c->scope, &g.scope);
	return g.last;
}

/* The rows of a group as one step: an import may have many. Effects in discussions that the group
 * made are left out. */
static void
read_rows(rt_reverting *r)
{
	rt_scope *s = r->c->scope;
	rt_arena *arena = rt_scope_arena(s);
	rt_effect *all = NULL;
	size_t count = 0, room = 0;

	for (uint64_t at = r->first; at <= r->seq && rt_change_ok(r->c); at++) {
		rt_record row = {0};

		RT_TRY(s, rt_engine_record(r->c->engine, at, arena, &row, NULL, &s->error));
		if (at != r->first && row.group != r->first)
			continue;
		for (size_t i = 0; i < row.effect_count && rt_change_ok(r->c); i++) {
			if (row.effects[i].disc > r->step.group_discs)
				continue;
			all = rt_scope_grow(s, all, count, &room, sizeof(*all));
			if (all != NULL)
				all[count++] = row.effects[i];
		}
	}
	r->step.effects = all;
	r->step.effect_count = rt_change_ok(r->c) ? count : 0;
}

/* A draft is restored to the state before the first row of its group. */
static void
begin_at_group(rt_change *c, rt_record *step)
{
	rt_record first = {0};

	RT_TRY(c->scope, rt_engine_record(c->engine, step->group, rt_scope_arena(c->scope), &first,
					  NULL, &c->scope->error));
	if (rt_change_ok(c) && first.effect_count == 1 &&
	    rt_str_eq(first.effects[0].key, step->effects[0].key))
		step->effects[0].before = first.effects[0].before;
}

void
rt_revert_read_group(rt_reverting *r)
{
	rt_change *c = r->c;
	uint64_t asked = r->seq;

	r->seq = last_of_group(r);
	if (r->seq != asked)
		RT_TRY(c->scope, rt_engine_record(c->engine, r->seq, rt_scope_arena(c->scope),
						  &r->step, NULL, &c->scope->error));
	if (!rt_change_ok(c) || r->step.group == 0)
		return;
	r->first = r->step.group;
	if (r->seq != asked)
		rt_buf_add_f(r->note, "Step %llu is part of step %llu, which was reverted as a whole. ",
			     (unsigned long long)asked, (unsigned long long)r->seq);
	if (r->step.effect_count == 1 && rt_history_is_draft(&r->step))
		begin_at_group(c, &r->step);
	else
		read_rows(r);
}
