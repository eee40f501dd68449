/* SPDX-License-Identifier: MIT */
#include "tui/verb_request.h"

#include <stdio.h>

#include "tui/verb_impl.h"

/* In which take it was seen; 0: in none that is there now. */
static rt_status
take_of(rt_tui *tui, uint32_t seen_take, uint32_t entry, uint32_t *out, rt_error *err)
{
	rt_work *work = &tui->work;

	*out = seen_take != 0 ? seen_take : work->place.take;
	if (seen_take != 0 || rt_work_position(work, entry) != SIZE_MAX)
		return RT_OK;
	return rt_disc_holds(work->value, work->disc, entry, out, err);
}

/* Nothing of it was looked at yet. */
static void
look_anew(rt_tui *tui, rt_verb_request *a)
{
	rt_precondition_init(&a->precondition, tui->alloc, tui->work.place.disc);
	/* the requests of this one name the take, and mean the new one then */
	a->precondition.is_in_take = a->count > 0 && a->action != RT_ACT_EDIT_AS_TAKE;
}

/* What only adds something needs nothing to be as it was; but it goes where it was meant to. */
rt_status
rt_verb_request_refresh(rt_tui *tui, rt_verb_request *a, rt_error *err)
{
	rt_work *work = &tui->work;
	uint32_t take = 0;
	size_t i;
	rt_status st = RT_OK;

	rt_precondition_deinit(&a->precondition);
	look_anew(tui, a);
	switch (a->action) {
	case RT_ACT_EDIT:
	case RT_ACT_DELETE:
	case RT_ACT_MOVE:
	case RT_ACT_MUTE:
	case RT_ACT_ROLE:
	case RT_ACT_LABEL:
	case RT_ACT_SPLIT:
	case RT_ACT_MERGE:
		for (i = 0; st == RT_OK && i < a->count; i++) {
			st = take_of(tui, a->seen_take, a->entries[i], &take, err);
			if (st == RT_OK && take != 0)
				st = rt_precondition_add_entry(&a->precondition, work->value, take,
							       a->entries[i], err);
		}
		return st;
	case RT_ACT_DELETE_BELOW:
		return rt_precondition_add_below(&a->precondition, work->value, work->place.take,
						 a->entries[0], err);
	case RT_ACT_PROMPT: {
		rt_buf text;

		rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
		st = rt_precondition_read_prompt(work->engine, work->value, work->place.disc, &text,
						 NULL, err);
		if (st == RT_OK)
			st = rt_precondition_set_prompt(&a->precondition, rt_buf_str(&text));
		rt_buf_deinit(&text);
		return st;
	}
	case RT_ACT_UNDO: {
		uint64_t step = 0;

		st = rt_precondition_newest_step(work->value, work->place.disc, &step, err);
		rt_precondition_set_step(&a->precondition, step);
		return st;
	}
	case RT_ACT_REDO: return rt_precondition_add_redo(&a->precondition, work->value, err);
	default: return RT_OK;
	}
}

void
rt_verb_request_free(rt_tui *tui, void *ctx)
{
	rt_verb_request *a = ctx;

	if (a == NULL || --a->references > 0)
		return;
	if (a->is_open && a->answer.size > 0 && rt_verb_request_has_text(a))
		rt_tui_remember_input(tui, rt_buf_str(&a->answer));
	rt_precondition_deinit(&a->precondition);
	rt_buf_deinit(&a->answer);
	rt_buf_deinit(&a->question);
	rt_free(tui->alloc, a);
}

rt_verb_request *
rt_verb_request_new(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	rt_verb_request *a = rt_new0(tui->alloc, sizeof(*a) + count * sizeof(uint32_t));

	if (a == NULL)
		return NULL;
	a->action = action;
	a->references = 1;
	a->seen_take = tui->work.seen_take;
	rt_buf_init(&a->answer, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&a->question, tui->alloc, RT_BUF_UNLIMITED);
	a->count = count;
	look_anew(tui, a);
	if (count > 0)
		memcpy(a->entries, entries, count * sizeof(uint32_t));
	return a;
}

/* Are all of them in the take at hand? */
static bool
are_at_hand(rt_work *work, const uint32_t *entries, size_t count)
{
	size_t i;

	for (i = 0; i < count && rt_work_position(work, entries[i]) != SIZE_MAX; i++)
		;
	return i == count && count > 0;
}

rt_status
rt_verb_request_capture(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count,
			rt_verb_request **out)
{
	rt_error err;
	rt_status st;

	*out = rt_verb_request_new(tui, action, entries, count);
	if (*out == NULL)
		return RT_NOMEM;
	/* Another take may be the one at hand when the question is answered. */
	if ((*out)->seen_take == 0 && are_at_hand(&tui->work, entries, count))
		(*out)->seen_take = tui->work.place.take;
	st = rt_verb_request_refresh(tui, *out, &err);
	if (st != RT_OK) {
		rt_verb_request_free(tui, *out);
		*out = NULL;
	}
	return rt_tui_say_failure(tui, st, &err);
}

rt_verb_request *
rt_verb_request_ref(rt_verb_request *a)
{
	a->references++;
	return a;
}

rt_status
rt_verb_request_set_answer(rt_verb_request *a, rt_str answer)
{
	if (answer.ptr == NULL || answer.ptr != a->answer.ptr) {
		rt_buf_clear(&a->answer);
		rt_buf_add_str(&a->answer, answer);
	}
	return a->answer.status;
}

bool
rt_verb_request_has_text(const rt_verb_request *a)
{
	return a->action == RT_ACT_EDIT || a->action == RT_ACT_EDIT_AS_TAKE ||
	       a->action == RT_ACT_INSERT_BEFORE || a->action == RT_ACT_INSERT_AFTER ||
	       a->action == RT_ACT_PROMPT;
}

/* ---- in words ---- */

/* "User, "What about DuckDB?"": where it has no number here. */
static void
name_by_words(const rt_work_entry *e, char *out, size_t room)
{
	enum { WORDS = 30 };
	rt_str text = rt_str_trim(rt_buf_str(&e->text));
	size_t end = rt_str_find(text, RT_STR("\n"), 0), cut;

	text.size = end == SIZE_MAX ? text.size : end;
	cut = rt_utf8_offset(text, WORDS);
	if (cut == SIZE_MAX && end == SIZE_MAX)
		(void)snprintf(out, room, "%.*s, \"%.*s\"", RT_STR_ARG(e->role), RT_STR_ARG(text));
	else
		(void)snprintf(out, room, "%.*s, \"%.*s ...\"", RT_STR_ARG(e->role),
			       (int)(cut == SIZE_MAX ? text.size : cut), text.ptr);
}

/* "User, entry 4", "3 entries". */
void
rt_verb_name(rt_tui *tui, const uint32_t *entries, size_t count, char *out, size_t room)
{
	rt_work_entry e;
	rt_error err;

	if (count != 1 || rt_work_entry_of(&tui->work, entries[0], &e, &err) != RT_OK) {
		(void)snprintf(out, room, "%zu entries", count);
		return;
	}
	if (e.at != SIZE_MAX)
		(void)snprintf(out, room, "%.*s, entry %zu", RT_STR_ARG(e.role), e.at + 1);
	else
		name_by_words(&e, out, room);
	rt_work_entry_deinit(&e);
}

/* A text that was written for this stays to be had. */
static void
remember(rt_tui *tui, const rt_verb_request *a, rt_str answer)
{
	if (answer.size > 0 && rt_verb_request_has_text(a))
		rt_tui_remember_input(tui, answer);
}

rt_status
rt_verb_failed(rt_tui *tui, const rt_verb_request *a, rt_str answer, rt_status st,
	       const rt_error *err)
{
	st = rt_tui_say_failure(tui, st, err);
	if (st == RT_OK)
		remember(tui, a, answer);
	return st;
}
