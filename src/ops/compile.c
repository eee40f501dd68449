/* SPDX-License-Identifier: MIT
 *
 * A request that is a step, compiled to effects: the function of its operation, and the rules for
 * all of them. */
#include "codec/request_json.h"
#include "log/engine_impl.h"
#include "log/plan.h"
#include "ops/ops.h"

/* Unknown fields, for the log. */
static void
keep_extra(rt_change *c, const rt_request *r)
{
	rt_buf *extra;

	c->extra = (rt_str){NULL, 0};
	if ((rt_ops[r->op].flags & RT_OP_OPEN) != 0 || r->source == NULL)
		return;
	extra = rt_scope_buf(c->scope);
	rt_request_write_extra(extra, r);
	c->extra = rt_scope_str(c->scope, extra);
}

/* ---- the head (C10) ---- */

static bool
holds(rt_change *c, const rt_project *project, const rt_take *take, uint32_t entry, size_t *out_at)
{
	bool found = false;

	RT_TRY(c->scope, rt_take_find(project, take, entry, out_at, NULL, &found, &c->scope->error));
	return rt_change_ok(c) && found;
}

/* The nearest entry before the head, in the take before the request, that is still in it. */
static uint32_t
surviving_head(rt_change *c, const rt_project *before, const rt_disc *disc, const rt_take *take)
{
	const rt_disc *old_disc = disc;
	const rt_take *old;
	size_t at = 0, where;

	if (rt_project_cell(before, disc->number) != NULL)
		RT_TRY(c->scope, rt_project_disc(before, disc->number, &old_disc, &c->scope->error));
	if (!rt_change_ok(c))
		return RT_HEAD_START;
	old = rt_disc_take(old_disc, take->number);
	if (old == NULL || !holds(c, before, old, disc->head, &at))
		return RT_HEAD_START;
	while (at-- > 0 && rt_change_ok(c)) {
		rt_slot slot = {0};

		RT_TRY(c->scope, rt_seq_get(old->slots, at, &slot, &c->scope->error));
		if (holds(c, c->now, take, slot.entry, &where))
			return slot.entry;
	}
	return RT_HEAD_START;
}

/* A head whose entry is gone goes to the nearest surviving entry before it; one at the last entry
 * is at the tip and stays there. */
static void
settle_disc(rt_change *c, const rt_project *before, uint32_t number)
{
	const rt_disc *disc = NULL;
	const rt_take *take;
	uint32_t head;
	size_t at = 0, count;

	RT_TRY(c->scope, rt_project_disc(c->now, number, &disc, &c->scope->error));
	if (!rt_change_ok(c) || disc->head == RT_HEAD_TIP)
		return;
	take = rt_disc_active(disc);
	count = rt_seq_count(take->slots);
	head = disc->head;
	if (head != RT_HEAD_START && !holds(c, c->now, take, head, &at))
		head = surviving_head(c, before, disc, take);
	if (head == RT_HEAD_START ? count == 0
				  : holds(c, c->now, take, head, &at) && at + 1 == count)
		head = RT_HEAD_TIP;
	if (head == RT_HEAD_TIP)
		rt_change_clear(c, number, 0, "head");
	else if (head != disc->head)
		rt_change_set_number(c, number, 0, "head", head);
}

/* Settles the heads of every discussion that effects from `first` on touch. */
static void
settle_heads(rt_change *c, const rt_project *before, size_t first)
{
	size_t count = c->effect_count;

	for (size_t i = first; i < count && rt_change_ok(c); i++) {
		uint32_t disc = c->effects[i].disc;

		if (disc != 0 && (i == first || c->effects[i - 1].disc != disc))
			settle_disc(c, before, disc);
	}
}

/* ---- the git commit (C53) ---- */

/* Records the git commit for every take whose entries effects from `first` on change. */
static void
record_commit(rt_change *c, const rt_request *r, size_t first)
{
	size_t count = c->effect_count;
	rt_str commit = {NULL, 0};

	for (size_t i = first; i < count && rt_change_ok(c); i++) {
		const rt_effect *e = &c->effects[i];

		if (e->kind != RT_EFFECT_SPLICE)
			continue;
		if (commit.ptr == NULL)
			commit = rt_present_commit(c, r);
		if (commit.size == 0)
			return;
		rt_change_set_text(c, e->disc, e->sub, "git_commit", 0, commit);
	}
}

/* ---- the whole request ---- */

typedef void op_function(rt_change *c, const rt_request *r);

static op_function *const functions[RT_OP_COUNT] = {
#define OP(id, function, ...) [RT_OP_##id] = rt_op_##function,
#include "core/op.def"
#undef OP
};

void
rt_compile(rt_change *c, const rt_request *r)
{
	/* Each effect replaces c->now: this keeps what the operation has found, see rt_position. */
	const rt_project *before = rt_object_ref(c->now);
	size_t first = c->effect_count;

	keep_extra(c, r);
	if (rt_change_ok(c))
		functions[r->op](c, r);
	settle_heads(c, before, first);
	record_commit(c, r, first);
	rt_object_unref(before);
}

/* ---- operations on the history ---- */

/* The number of the reverted step, for the history. */
static void
keep_reverted(rt_change *c, uint64_t step)
{
	rt_buf *extra = rt_scope_buf(c->scope);

	rt_json_open(extra, NULL, '{');
	rt_json_put_u64(extra, "reverts", step);
	if (c->extra.size > 2) { /* the members after its bracket */
		rt_buf_add_byte(extra, ',');
		rt_buf_add(extra, c->extra.ptr + 1, c->extra.size - 2);
	}
	rt_json_close(extra, '}');
	c->extra = rt_scope_str(c->scope, extra);
}

void
rt_op_revert(rt_change *c, const rt_request *r)
{
	keep_reverted(c, rt_history_revert(c, r->step.value));
	rt_take_files_reverted(c); /* lists that change are the active take's, as in files.set */
}

/* These are not steps: the log executes them itself (log/commit.c). */
static void
not_in_a_step(rt_change *c, const rt_request *r)
{
	rt_scope_fail(c->scope, RT_USAGE, "%s cannot be part of a step", rt_ops[r->op].name);
}

void
rt_op_undo(rt_change *c, const rt_request *r)
{
	not_in_a_step(c, r);
}

void
rt_op_redo(rt_change *c, const rt_request *r)
{
	not_in_a_step(c, r);
}

void
rt_op_jump(rt_change *c, const rt_request *r)
{
	not_in_a_step(c, r);
}

void
rt_op_purge(rt_change *c, const rt_request *r)
{
	not_in_a_step(c, r);
}
