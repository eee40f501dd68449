/* SPDX-License-Identifier: MIT
 *
 * Navigation through the tree: the head moves to another entry, and the branch that is left may be
 * summarized (seed 4), after a question if the branch is not empty and a model is chosen. */
#include <stdio.h>

#include "tui/verb_impl.h"

typedef struct navigation {
	uint32_t seen_take;
	uint32_t entry; /* 0: before the first */
	bool select;
	void (*done)(rt_tui *);
} navigation;

static void
free_navigation(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

static rt_status
start(rt_tui *tui, const navigation *n, bool summary, rt_str instructions)
{
	rt_run_request request = {.how = RT_RUN_GO,
				  .select = n->select,
				  .no_summary = !summary,
				  .instructions = instructions};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	if (n->entry != 0)
		request.entry = rt_work_entry_id(&s, &tui->work, n->entry);
	if (n->seen_take != 0) /* the branch that is left is in the take in view */
		request.entry_take = rt_work_take_id(&s, n->seen_take);
	tui->went = n->done;
	tui->work.seen_take = 0;
	if (rt_ok(&s))
		RT_TRY(&s, rt_verb_run(tui, &request));
	if (rt_ok(&s) && summary && rt_work_is_running(&tui->work))
		rt_tui_say(tui,
			   "Summarising the branch you are leaving. Escape cancels, and you stay "
			   "here");
	return rt_verb_end(tui, &s);
}

/* ---- the question ---- */

static rt_status
instructed(rt_tui *tui, void *ctx, rt_str answer)
{
	if (answer.ptr != NULL)
		return start(tui, ctx, true, answer);
	rt_tui_say(tui, "Navigation cancelled");
	return RT_OK;
}

static rt_status
chosen(rt_tui *tui, void *ctx, rt_str answer)
{
	navigation *copy;

	if (answer.ptr == NULL) {
		rt_tui_say(tui, "Navigation cancelled");
		return RT_OK;
	}
	if (!rt_str_is(answer, "instructions"))
		return start(tui, ctx, rt_str_is(answer, "yes"), RT_STR(""));
	copy = rt_new(tui->alloc, sizeof(*copy));
	if (copy == NULL)
		return RT_NOMEM;
	*copy = *(const navigation *)ctx;
	return rt_pane_ask(tui, "Instructions for the summary?", RT_STR(""), false,
			   instructed, copy, free_navigation);
}

/* Does moving the head to the entry leave any entry that is before it now? */
static bool
leaves_something(rt_scope *s, rt_tui *tui, uint32_t entry)
{
	rt_work *work = &tui->work;
	uint32_t seen = work->seen_take == work->place.take ? 0 : work->seen_take, holder;
	size_t head = rt_work_head(work), common = 0;

	if (head == 0 || entry == 0)
		return head > 0;
	holder = rt_work_take_of(s, work, seen, entry);
	if (holder == work->place.take)
		return rt_work_position(work, entry) + 1 < head;
	if (rt_ok(s) && holder != 0)
		RT_TRY(s, rt_seq_common(work->take->slots, rt_disc_take(work->disc, holder)->slots,
					&common, &s->error));
	return common < head;
}

rt_status
rt_verb_navigate(rt_tui *tui, uint32_t entry, bool select, void (*done)(rt_tui *))
{
	/* Not letters: text that is typed after the selection of an entry is a message. */
	static const rt_choice choices[] = {
		{"alt+1", "no", "No: just go there; the branch stays in the tree"},
		{"alt+2", "yes", "Yes: a model summarises it, and the summary is added where you "
			     "continue"},
		{"alt+3", "instructions", "Yes, with instructions"},
	};
	rt_work *work = &tui->work;
	size_t head = rt_work_head(work);
	navigation n = {work->seen_take, entry, select, done}, *copy;
	rt_slot slot = {0};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	if (head > 0)
		RT_TRY(&s, rt_seq_get(work->take->slots, head - 1, &slot, &s.error));
	if (rt_ok(&s) && slot.entry == entry) {
		rt_tui_say(tui, "Already at this point");
		if (done != NULL)
			done(tui);
	} else if (work->model.size > 0 && leaves_something(&s, tui, entry) && rt_ok(&s)) {
		copy = rt_new(tui->alloc, sizeof(*copy));
		if (copy == NULL) {
			(void)rt_scope_nomem(&s);
		} else {
			*copy = n;
			RT_TRY(&s, rt_pane_choose(tui, "Summarise the branch you are leaving?",
						  choices, 3, chosen, copy, free_navigation));
			if (rt_ok(&s))
				rt_pane_choose_types_message(tui);
		}
	} else if (rt_ok(&s)) {
		RT_TRY(&s, start(tui, &n, false, RT_STR("")));
	}
	return rt_verb_end(tui, &s);
}

bool
rt_verb_navigate_stop(rt_tui *tui)
{
	if (!rt_work_is_running(&tui->work) || tui->work.run_how != RT_RUN_GO)
		return false;
	rt_work_stop(&tui->work);
	return true;
}

/* "Moved to entry 2; the next message starts a new take   step 9 - undo: Alt+U" */
static rt_status
say_moved(rt_tui *tui, const char *where)
{
	const rt_work *work = &tui->work;
	const rt_work_end *end = &work->end;
	rt_work_said said;
	rt_status st;

	rt_work_said_init(&said, tui->alloc);
	rt_buf_add_f(&said.words, "Moved %s%s%s", where,
		     end->has_summary ? "; summarised the branch you left" : "",
		     end->editor != NULL ? "; your message is in the input: change it and send it"
		     : rt_work_head(work) < rt_work_count(work) ? "; the next message starts a new take"
								: "");
	said.seq = end->seq;
	said.is_step = true;
	st = said.words.status;
	if (st == RT_OK)
		rt_tui_say_change(tui, &said);
	rt_work_said_deinit(&said);
	return st;
}

rt_status
rt_verb_went(rt_tui *tui)
{
	rt_work *work = &tui->work;
	const rt_work_end *end = &work->end;
	void (*done)(rt_tui *) = tui->went;
	char where[48] = "before the first entry";
	const rt_text *editor;
	uint32_t number = 0;
	size_t at = SIZE_MAX;
	rt_error ignored;
	rt_status st = RT_OK;

	if (!end->has_ended || end->how != RT_RUN_GO)
		return RT_OK;
	tui->went = NULL;
	if (end->state != RT_RUN_DONE)
		return RT_OK; /* the reason was reported, and the head did not move */
	/* The entry's position in the value after the navigation. */
	if (rt_work_tend(work, NULL, &ignored) == RT_NOMEM)
		return RT_NOMEM;
	if (end->entry[0] != 0 && rt_resolve_entry(work->value, work->place, rt_str_of(end->entry),
						   false, &number, NULL) == RT_OK)
		at = rt_work_position(work, number);
	if (at != SIZE_MAX)
		(void)snprintf(where, sizeof(where), "to entry %zu", at + 1);
	else if (end->entry[0] != 0)
		(void)snprintf(where, sizeof(where), "there");
	if (end->is_unchanged && end->editor == NULL)
		rt_tui_say(tui, "Already at this point");
	else
		st = say_moved(tui, where);
	editor = rt_text_ref(end->editor);
	if (editor != NULL && st == RT_OK)
		st = rt_tui_fill_input(tui, rt_text_str(editor));
	rt_text_unref(editor);
	if (st == RT_OK && done != NULL)
		done(tui);
	return st;
}
