/* SPDX-License-Identifier: MIT */
#include "tui/precondition.h"

#include "app/condition.h"
#include "base/hash.h"
#include "log/history.h"

void
rt_precondition_init(rt_precondition *precondition, const rt_alloc *alloc, uint32_t disc)
{
	*precondition = (rt_precondition){.alloc = alloc, .disc = disc};
}

void
rt_precondition_deinit(rt_precondition *precondition)
{
	rt_free(precondition->alloc, precondition->facts);
	precondition->facts = NULL;
	precondition->count = precondition->capacity = 0;
}

/* ---- facts ---- */

static uint64_t
print_of(const uint64_t *numbers, size_t count, uint64_t seed)
{
	return rt_hash(numbers, count * sizeof(*numbers), seed) | 1;
}

static void
read_entry(rt_scope *s, rt_fact *fact, const rt_project *value, const rt_disc *disc)
{
	const rt_take *take = rt_disc_take(disc, fact->take);
	bool is_there = false;
	rt_slot slot;
	size_t at = 0;

	if (take == NULL || !take->present)
		return;
	RT_TRY(s, rt_take_find(value, take, fact->entry, &at, &slot, &is_there, &s->error));
	if (!rt_ok(s) || !is_there)
		return;
	fact->body = slot.body;
	if (fact->kind == RT_FACT_ENTRY) {
		fact->print = rt_entry_fingerprint(value, disc, &slot) | 1;
		return;
	}
	fact->print = 1;
	for (; rt_ok(s) && at < rt_seq_count(take->slots); at++)
		if (RT_TRY(s, rt_seq_get(take->slots, at, &slot, &s->error)) == RT_OK)
			fact->print = print_of((uint64_t[]){slot.entry, slot.body}, 2, fact->print);
}

void
rt_fact_read(rt_scope *s, rt_fact *fact, rt_engine *engine, const rt_project *value,
	     uint32_t number)
{
	const rt_cell *cell = rt_project_cell(value, number);
	const rt_disc *disc = NULL;

	fact->print = fact->body = 0;
	if ((fact->kind == RT_FACT_ENTRY || fact->kind == RT_FACT_BELOW) &&
	    (cell == NULL || !cell->present))
		return;
	if (RT_TRY(s, rt_project_disc(value, number, &disc, &s->error)) != RT_OK)
		return;
	switch (fact->kind) {
	case RT_FACT_NONE: break;
	case RT_FACT_ENTRY:
	case RT_FACT_BELOW: read_entry(s, fact, value, disc); break;
	case RT_FACT_STEP:
		RT_TRY(s, rt_history_newest(engine, value, number, &fact->print, &s->error));
		break;
	case RT_FACT_REDO: {
		const rt_history *d = &disc->history, *p = &value->history;

		fact->print = print_of((uint64_t[]){d->current, d->last_step, d->redo_row,
						    d->redo_move, p->current, p->last_step,
						    p->redo_row, p->redo_move},
				       8, 1);
		break;
	}
	case RT_FACT_PROMPT: {
		rt_view view = {s, engine, value, {.disc = number}};
		rt_str text = rt_prompt_text(&view, NULL);

		fact->print = rt_hash(text.ptr == NULL ? "" : text.ptr, text.size, 1) | 1;
		break;
	}
	case RT_FACT_INSTRUCTIONS: {
		rt_view view = {s, engine, value, {.disc = number}};
		rt_str text = rt_json_str(rt_setting_value(&view, RT_STR("project_system_prompt")));

		fact->print = rt_hash(text.ptr == NULL ? "" : text.ptr, text.size, 1) | 1;
		break;
	}
	}
}

/* ---- preconditions ---- */

void
rt_precondition_add(rt_scope *s, rt_precondition *precondition, rt_fact fact, rt_engine *engine,
		    const rt_project *value)
{
	rt_fact *added;

	rt_fact_read(s, &fact, engine, value, precondition->disc);
	if (!rt_ok(s) || (fact.kind == RT_FACT_ENTRY && fact.print == 0))
		return;
	added = rt_array_add(precondition->alloc, &precondition->facts, &precondition->count,
			     &precondition->capacity, sizeof(*added));
	if (added == NULL)
		(void)rt_scope_nomem(s);
	else
		*added = fact;
}

void
rt_precondition_set_step(rt_precondition *precondition, uint64_t step)
{
	for (size_t i = 0; i < precondition->count; i++)
		if (precondition->facts[i].kind == RT_FACT_STEP)
			precondition->facts[i].print = step;
}

rt_status
rt_precondition_holds(const rt_precondition *precondition, rt_engine *engine, const rt_project *now,
		      rt_error *err)
{
	static const char *const words[] = {
		[RT_FACT_BELOW] = "another program or window changed the entries after it",
		[RT_FACT_REDO] = "another program or window made changes in the meantime",
		[RT_FACT_PROMPT] = "another program or window changed the working prompt",
		[RT_FACT_INSTRUCTIONS] = "another program or window changed the instructions",
	};
	size_t count = precondition->count, changed = 0;
	rt_scope s;

	rt_scope_init(&s, precondition->alloc);
	for (size_t i = 0; rt_ok(&s) && i < count; i++) {
		const rt_fact *was = &precondition->facts[i];
		rt_fact is = *was;

		rt_fact_read(&s, &is, engine, now, precondition->disc);
		if (!rt_ok(&s) || is.print == was->print)
			continue;
		if (was->kind == RT_FACT_ENTRY)
			changed++;
		else if (was->kind == RT_FACT_STEP)
			(void)rt_scope_fail(&s, RT_CONFLICT, "step %llu is no longer the newest",
					    (unsigned long long)was->print);
		else
			(void)rt_scope_fail(&s, RT_CONFLICT, "%s", words[was->kind]);
	}
	if (changed > 0 && count == 1)
		(void)rt_scope_fail(&s, RT_CONFLICT, "another program or window changed the entry");
	else if (changed > 0)
		(void)rt_scope_fail(&s, RT_CONFLICT,
				    "another program or window changed %zu of these %zu entries",
				    changed, count);
	return rt_scope_end(&s, err);
}
