/* SPDX-License-Identifier: MIT
 *
 * The way through the tree: the head elsewhere, and if it is wanted a summary of what is left
 * (seed 4). The question is asked where something is left behind. */
#include <stdio.h>

#include "llm/config.h"
#include "tui/verb_impl.h"

typedef struct going {
	uint32_t seen_take;
	uint32_t entry; /* 0: before the first */
	bool select;
	void (*done)(rt_tui *);
} going;

static void
free_going(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

static rt_status
go(rt_tui *tui, const going *g, bool summary, rt_str instructions)
{
	rt_run_request request = {.how = RT_RUN_GO,
				  .select = g->select,
				  .no_summary = !summary,
				  .instructions = instructions};
	char id[RT_ID_MAX + 1], entry_take[24];
	rt_error err;
	rt_status st = RT_OK;

	if (g->entry != 0) {
		st = rt_entry_id(tui->work.value, g->entry, id, &err);
		request.entry = rt_str_of(id);
	}
	if (g->seen_take != 0) { /* what is left is left in the take at hand */
		(void)snprintf(entry_take, sizeof(entry_take), "t%u", g->seen_take);
		request.entry_take = rt_str_of(entry_take);
	}
	tui->went = g->done;
	tui->work.seen_take = 0;
	st = st == RT_OK ? rt_verb_run(tui, &request) : rt_tui_say_failure(tui, st, &err);
	if (st == RT_OK && summary && rt_work_is_running(&tui->work))
		rt_tui_say(tui, "What you leave is being summed up. Escape cancels, and you stay here");
	return st;
}

/* ---- the question ---- */

static rt_status
instructed(rt_tui *tui, void *ctx, rt_str answer)
{
	if (answer.ptr == NULL) {
		rt_tui_say(tui, "Navigation cancelled");
		return RT_OK;
	}
	return go(tui, ctx, true, answer);
}

static rt_status
chosen(rt_tui *tui, void *ctx, rt_str answer)
{
	const going *g = ctx;
	going *kept;

	if (answer.ptr == NULL) {
		rt_tui_say(tui, "Navigation cancelled");
		return RT_OK;
	}
	if (!rt_str_is(answer, "instructions"))
		return go(tui, g, rt_str_is(answer, "yes"), rt_str_at("", 0));
	kept = rt_new(tui->alloc, sizeof(*kept));
	if (kept == NULL)
		return RT_NOMEM;
	*kept = *g;
	return rt_pane_ask(tui, "What is the summary to look out for?", rt_str_at("", 0), false,
			   instructed, kept, free_going);
}

/* Does the way to the entry leave anything of what is before the head? */
static rt_status
leaves(rt_tui *tui, uint32_t entry, bool *out, rt_error *err)
{
	rt_work *work = &tui->work;
	size_t head = rt_work_head(work), at = rt_work_position(work, entry), common = 0;
	uint32_t holder = 0;
	rt_status st;

	*out = head > 0;
	if (head == 0)
		return RT_OK;
	if (work->seen_take != 0 && work->seen_take != work->place.take)
		holder = work->seen_take;
	if (entry != 0 && at != SIZE_MAX && holder == 0) {
		*out = at + 1 < head;
		return RT_OK;
	}
	if (entry == 0)
		return RT_OK;
	st = holder != 0 ? RT_OK : rt_disc_holds(work->value, work->disc, entry, &holder, err);
	if (st == RT_OK && holder != 0)
		st = rt_seq_common(work->take->slots, rt_disc_take(work->disc, holder)->slots, &common,
				   err);
	*out = common < head;
	return st;
}

rt_status
rt_verb_navigate(rt_tui *tui, uint32_t entry, bool select, void (*done)(rt_tui *))
{
	static const rt_choice choices[] = {
		{"y", "yes", "Yes: a model sums it up, and the summary stands where you go on"},
		{"n", "no", "No: just go there"},
		{"i", "instructions", "Yes, and say what to look out for"},
	};
	going *g = rt_new0(tui->alloc, sizeof(*g));
	rt_work *work = &tui->work;
	size_t head = rt_work_head(work);
	bool left = false;
	rt_slot slot;
	rt_error err;
	rt_status st = RT_OK;

	if (g == NULL)
		return RT_NOMEM;
	*g = (going){work->seen_take, entry, select, done};
	if (head > 0)
		st = rt_seq_get(work->take->slots, head - 1, &slot, &err);
	if (st == RT_OK && head > 0 ? slot.entry == entry : entry == 0) {
		rt_free(tui->alloc, g);
		rt_tui_say(tui, "Already at this point");
		if (done != NULL)
			done(tui);
		return RT_OK;
	}
	if (st == RT_OK)
		st = leaves(tui, entry, &left, &err);
	if (st != RT_OK || !left) {
		st = st == RT_OK ? go(tui, g, false, rt_str_at("", 0)) : rt_tui_say_failure(tui, st, &err);
		rt_free(tui->alloc, g);
		return st;
	}
	return rt_pane_choose(tui, "Summarize the branch you're leaving?", choices, 3, chosen, g,
			      free_going);
}

bool
rt_verb_navigate_stop(rt_tui *tui)
{
	if (!rt_work_is_running(&tui->work) ||
	    tui->work.run_how != RT_RUN_GO)
		return false;
	rt_work_stop(&tui->work);
	return true;
}

/* It has ended: said, and what was handed back is in the input. */
rt_status
rt_verb_went(rt_tui *tui)
{
	const rt_work_end *end = &tui->work.end;
	void (*done)(rt_tui *) = tui->went;
	rt_str entry = rt_str_of(end->entry);
	const rt_text *editor;
	char where[48] = "before the first entry";
	uint64_t seq = end->seq;
	uint32_t number = 0;
	size_t at = SIZE_MAX;
	rt_error ignored;
	rt_status st = RT_OK;

	if (!end->has_ended || end->how != RT_RUN_GO)
		return RT_OK;
	tui->went = NULL;
	if (end->state != RT_RUN_DONE)
		return RT_OK; /* it was said why: we are where we were */
	/* Its number is that of the value that the way has led to. */
	if (rt_work_tend(&tui->work, NULL, &ignored) == RT_NOMEM)
		return RT_NOMEM;
	if (entry.size > 0 && rt_resolve_entry(tui->work.value, tui->work.place, entry, false, &number,
					       &ignored) == RT_OK)
		at = rt_work_position(&tui->work, number);
	if (at != SIZE_MAX)
		(void)snprintf(where, sizeof(where), "to entry %zu", at + 1);
	else if (entry.size > 0)
		(void)snprintf(where, sizeof(where), "there");
	if (end->is_unchanged && end->editor == NULL)
		rt_tui_say(tui, "Already at this point");
	else
		rt_tui_say_done(tui, "Went %s%s   step %llu", where,
			   end->has_summary ? "; what you left is summed up" : "",
			   (unsigned long long)seq);
	editor = rt_text_ref(end->editor);
	if (editor != NULL)
		st = rt_tui_fill_input(tui, rt_text_str(editor));
	rt_text_unref(editor);
	if (st == RT_OK && done != NULL)
		done(tui);
	return st;
}
