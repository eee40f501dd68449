/* SPDX-License-Identifier: MIT
 *
 * Somebody else was faster: what a change was about is not as the person saw it. Nothing was done;
 * what is different can be read, and the person decides. Nothing that was written is lost
 * whatever is decided: a text that is not used is in the history of the chat's input, one that is
 * overwritten stays a version. */
#include <stdio.h>

#include "log/rows.h"
#include "tui/verb_impl.h"
#include "view/view.h"

/* ---- in words ---- */

/* What a step did and who did it, without ids; limit 1 from before on. Both empty: there is none. */
static rt_status
step_in_words(rt_tui *tui, uint64_t seq, rt_buf *what, rt_buf *by, rt_error *err)
{
	rt_work *work = &tui->work;
	rt_json_doc *doc = NULL;
	yyjson_val *step;
	uint64_t number = 0;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_view_history(work->engine, work->value, work->place.disc, seq + 1, 1, &json, err);
	if (st == RT_OK)
		st = rt_json_read(tui->alloc, rt_buf_str(&json), &doc, err);
	if (st == RT_OK) {
		step = yyjson_arr_get_first(rt_json_root(doc));
		if (rt_json_u64(rt_json_get(step, "seq"), &number) && number == seq) {
			rt_work_add_step(step, what);
			rt_buf_add_str(by, rt_json_str(rt_json_get(step, "by")));
		}
		st = what->status != RT_OK ? what->status : by->status;
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

/* Who wrote the text that an entry has now; nothing where that cannot be told. */
static rt_status
add_writer(rt_tui *tui, uint32_t entry, rt_buf *by, rt_error *err)
{
	rt_work *work = &tui->work;
	rt_json_doc *doc = NULL;
	yyjson_val *revision;
	size_t i, count;
	uint64_t seq = 0;
	rt_buf json, what;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&what, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_view_revisions(work->engine, work->value, work->place.disc, entry, &json, err);
	if (st == RT_OK)
		st = rt_json_read(tui->alloc, rt_buf_str(&json), &doc, err);
	if (st == RT_OK)
		yyjson_arr_foreach(rt_json_root(doc), i, count, revision)
			if (yyjson_is_true(rt_json_get(revision, "current")))
				(void)rt_json_u64(rt_json_get(revision, "seq"), &seq);
	if (st == RT_OK && seq != 0)
		st = step_in_words(tui, seq, &what, by, err);
	rt_json_free(doc);
	rt_buf_deinit(&json);
	rt_buf_deinit(&what);
	return st;
}

/* What is asked. */
static rt_status
add_question(rt_tui *tui, const rt_verb_request *a, const rt_error *why, rt_buf *out, rt_error *err)
{
	rt_work *work = &tui->work;
	uint64_t step = 0;
	char what[200];
	rt_buf did, by;
	rt_status st = RT_OK;

	rt_buf_init(&did, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&by, tui->alloc, RT_BUF_UNLIMITED);
	if (a->action == RT_ACT_EDIT) {
		rt_verb_name(tui, a->entries, 1, what, sizeof(what));
		st = add_writer(tui, a->entries[0], &by, err);
		rt_buf_add_f(out, "%s was changed after you opened it", what);
		if (by.size > 0)
			rt_buf_add_f(out, ", by %.*s", RT_STR_ARG(rt_buf_str(&by)));
	} else if (a->action == RT_ACT_UNDO) {
		st = rt_precondition_newest_step(work->value, work->place.disc, &step, err);
		if (st == RT_OK)
			st = step_in_words(tui, step, &did, &by, err);
		if (did.size > 0) {
			rt_tui_say_done(tui, "Step %llu is not the newest any more",
					(unsigned long long)a->precondition.step);
			rt_buf_add_f(out, "Take back, by %.*s: %.*s?", RT_STR_ARG(rt_buf_str(&by)),
				     RT_STR_ARG(rt_buf_str(&did)));
		} else {
			rt_buf_add_f(out, "Step %llu is gone; take back what is the newest now?",
				     (unsigned long long)a->precondition.step);
		}
	} else if (a->action == RT_ACT_REDO) {
		rt_tui_say_done(tui, "Somebody else changed something meanwhile");
		rt_buf_add_c(out, "Bring back what was taken back last?");
	} else {
		rt_buf_add_c(out, why->text);
		if (out->size > 0 && out->ptr[0] >= 'a' && out->ptr[0] <= 'z')
			out->ptr[0] = (char)(out->ptr[0] - 'a' + 'A');
	}
	if (st == RT_OK && out->status != RT_OK)
		st = RT_NOMEM;
	rt_buf_deinit(&did);
	rt_buf_deinit(&by);
	return st;
}

/* ---- what is different ---- */

static rt_status
add_body(rt_tui *tui, uint64_t number, rt_buf *out, rt_error *err)
{
	rt_content content;
	rt_body body;
	rt_buf bytes;
	rt_status st;

	rt_buf_init(&bytes, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_engine_body(tui->work.engine, number, &bytes, &body, err);
	if (st == RT_OK) {
		content = (rt_content){.text = body.content, .blocks = body.content_json};
		rt_content_add_text(out, content);
		rt_body_deinit(&body);
	}
	rt_buf_deinit(&bytes);
	return st == RT_OK ? out->status : st;
}

/* An entry as it was seen, and what it is now. */
static rt_status
add_spot(rt_tui *tui, const rt_verb_request *a, size_t at, const rt_lines_options *options,
	 rt_lines *lines, rt_error *err)
{
	const rt_precondition_entry *was = &a->precondition.spots[at];
	bool holds = true, is_there = false;
	rt_buf before, now;
	rt_work_entry e;
	char head[300];
	rt_status st = rt_precondition_entry_matches(&a->precondition, at, tui->work.value, &holds,
						     &is_there, err);

	if (st != RT_OK || holds)
		return st;
	rt_buf_init(&before, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&now, tui->alloc, RT_BUF_UNLIMITED);
	tui->work.seen_take = was->take; /* others may have it otherwise */
	rt_verb_name(tui, &was->slot.entry, 1, head, sizeof(head));
	rt_lines_add_row(lines, 0, rt_str_of(head), RT_INK_HEADING | RT_INK_BOLD);
	if (is_there)
		st = rt_work_entry_of(&tui->work, was->slot.entry, &e, err);
	tui->work.seen_take = 0;
	if (!is_there) {
		rt_lines_add_row(lines, 2, RT_STR("It is not in the take any more."), RT_INK_WARNING);
	} else if (st == RT_OK) {
		if (e.slot.body == was->slot.body) {
			rt_lines_add_row(lines, 2, RT_STR("Its text is the same; who speaks, its label or "
							  "whether models see it is not."), RT_INK_WARNING);
		} else {
			st = add_body(tui, was->slot.body, &before, err);
			if (st == RT_OK)
				st = add_body(tui, e.slot.body, &now, err);
			if (st == RT_OK)
				rt_lines_add_difference(lines, rt_buf_str(&before), rt_buf_str(&now),
							options);
		}
		rt_work_entry_deinit(&e);
	}
	rt_lines_add_blank(lines);
	rt_buf_deinit(&before);
	rt_buf_deinit(&now);
	return st;
}

/* Theirs, and what mine would change. */
static rt_status
add_texts(rt_tui *tui, const rt_verb_request *a, const rt_lines_options *options, rt_lines *lines,
	  rt_error *err)
{
	rt_work *work = &tui->work;
	rt_work_entry e;
	rt_buf theirs;
	rt_status st;

	rt_buf_init(&theirs, tui->alloc, RT_BUF_UNLIMITED);
	if (a->action == RT_ACT_PROMPT) {
		st = rt_precondition_read_prompt(work->engine, work->value, work->place.disc,
						 &theirs, NULL, err);
	} else {
		work->seen_take = a->seen_take;
		st = rt_work_entry_of(work, a->entries[0], &e, err);
		work->seen_take = 0;
		if (st == RT_OK) {
			st = add_body(tui, e.slot.body, &theirs, err);
			rt_work_entry_deinit(&e);
		}
	}
	if (st == RT_OK)
		rt_lines_add_difference(lines, rt_buf_str(&theirs), rt_buf_str(&a->answer), options);
	rt_buf_deinit(&theirs);
	return st;
}

static rt_status
show(rt_tui *tui, const rt_verb_request *a)
{
	rt_lines_options options = {.columns = tui->canvas.columns > 4 ? tui->canvas.columns - 4 : 1,
				    .utf8 = tui->canvas.utf8,
				    .indent = 2};
	rt_lines lines;
	rt_error err;
	size_t i;
	rt_status st = RT_OK;

	rt_lines_init(&lines, tui->alloc);
	if (rt_verb_request_has_text(a))
		st = add_texts(tui, a, &options, &lines, &err);
	for (i = 0; !rt_verb_request_has_text(a) && st == RT_OK && i < a->precondition.count; i++)
		st = add_spot(tui, a, i, &options, &lines, &err);
	if (st == RT_OK && lines.status != RT_OK)
		st = RT_NOMEM;
	st = st == RT_OK ? rt_pane_reader(tui, rt_verb_request_has_text(a)
						       ? "Theirs, with what yours would change"
						       : "As you saw it, with what was changed",
					  &lines)
			 : rt_tui_say_failure(tui, st, &err);
	rt_lines_deinit(&lines);
	return st;
}

/* ---- the question ---- */

static rt_status put(rt_tui *tui, rt_verb_request *a);

/* Rows can be compared with what they were, so what was seen of them stays until the answer. Of
 * all else the question says what it is now: that is what the answer is to, and nothing newer. */
static bool
has_rows(const rt_verb_request *a)
{
	return a->precondition.count > 0 && !rt_verb_request_has_text(a);
}

/* Without those that are gone. */
static rt_status
do_anyway(rt_tui *tui, rt_verb_request *a)
{
	size_t i, count = 0;
	bool holds, is_there;
	rt_error err;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < a->precondition.count; i++) {
		is_there = true;
		st = rt_precondition_entry_matches(&a->precondition, i, tui->work.value, &holds,
						   &is_there, &err);
		if (st == RT_OK && is_there)
			a->entries[count++] = a->precondition.spots[i].slot.entry;
	}
	if (st == RT_OK && a->precondition.count > 0 && count == 0) {
		(void)rt_fail(&err, RT_CONFLICT, "it is not there any more; nothing changed");
		return rt_verb_failed(tui, a, rt_buf_str(&a->answer), RT_CONFLICT, &err);
	}
	if (a->precondition.count > 0)
		a->count = count;
	if (st == RT_OK && has_rows(a))
		st = rt_verb_request_refresh(tui, a, &err);
	return st == RT_OK ? a->again(tui, a, rt_buf_str(&a->answer))
			   : rt_verb_failed(tui, a, rt_buf_str(&a->answer), st, &err);
}

static rt_status
decided(rt_tui *tui, void *ctx, rt_str answer)
{
	rt_verb_request *a = ctx;
	rt_status st;

	a->is_open = false;
	if (rt_str_is(answer, "show")) {
		rt_error err;

		st = has_rows(a) ? RT_OK : rt_verb_request_refresh(tui, a, &err);
		if (st == RT_OK && a->action == RT_ACT_EDIT && a->precondition.count == 0)
			st = rt_fail(&err, RT_CONFLICT, "it is not there any more; nothing changed");
		if (st != RT_OK)
			return rt_verb_failed(tui, a, rt_buf_str(&a->answer), st, &err);
		st = put(tui, a);
		return st == RT_OK ? show(tui, a) : st;
	}
	if (rt_str_is(answer, "overwrite"))
		return do_anyway(tui, a);
	if (rt_str_is(answer, "both")) {
		rt_error err;

		a->action = RT_ACT_EDIT_AS_TAKE;
		st = rt_verb_request_refresh(tui, a, &err);
		return st == RT_OK ? a->again(tui, a, rt_buf_str(&a->answer))
				   : rt_verb_failed(tui, a, rt_buf_str(&a->answer), st, &err);
	}
	rt_tui_say_done(tui, "%s",
			rt_verb_request_has_text(a) ? "Theirs stays"
						    : "Left as it is; nothing changed");
	if (rt_verb_request_has_text(a) && a->answer.size > 0)
		rt_tui_remember_input(tui, rt_buf_str(&a->answer));
	return RT_OK;
}

static rt_status
put(rt_tui *tui, rt_verb_request *a)
{
	static const rt_choice of_text[] = {
		{"b", "both", "Keep both: yours in a new take"},
		{"o", "overwrite", "Overwrite: theirs stays a version of it"},
		{"d", "discard", "Discard yours: Up brings it back in the chat's input"},
		{"s", "show", "Show what is different"},
	};
	static const rt_choice of_rows[] = {
		{"n", "discard", "No: leave it as it is"},
		{"y", "overwrite", "Yes: do it anyway"},
		{"s", "show", "Show what is different"},
	};
	const char *question = a->question.ptr;

	a->is_open = true;
	(void)rt_verb_request_ref(a);
	if (rt_verb_request_has_text(a))
		return rt_pane_choose(
			tui, question, a->action == RT_ACT_EDIT ? of_text : of_text + 1,
			a->action == RT_ACT_EDIT ? 4 : 3, decided, a, rt_verb_request_free);
	return rt_pane_choose(tui, question, of_rows, a->precondition.count > 0 ? 3 : 2, decided, a,
			      rt_verb_request_free);
}

/* What was to be brought back is not there to be brought back any more. */
static bool
has_no_redo(const rt_work *work)
{
	return work->disc->history.redo_row == 0 && work->value->history.redo_row == 0;
}

rt_status
rt_verb_conflict(rt_tui *tui, rt_verb_request *a, const rt_error *why, rt_verb_fn again)
{
	bool holds = true, is_there = true;
	rt_error err = *why;
	rt_status st = RT_OK;

	a->again = again;
	if (a->action == RT_ACT_REDO && has_no_redo(&tui->work)) {
		rt_tui_say_done(tui, "Nothing to bring back: somebody else changed something meanwhile");
		return RT_OK;
	}
	if (a->action == RT_ACT_EDIT && a->precondition.count > 0)
		st = rt_precondition_entry_matches(&a->precondition, 0, tui->work.value, &holds,
						   &is_there, &err);
	if (st == RT_OK && !is_there) /* there is nothing to be decided */
		st = rt_fail(&err, RT_CONFLICT, "the entry is not in the take any more");
	if (st == RT_OK) {
		rt_buf_clear(&a->question);
		tui->work.seen_take = a->seen_take;
		st = add_question(tui, a, why, &a->question, &err);
		tui->work.seen_take = 0;
	}
	if (st == RT_OK && !has_rows(a))
		st = rt_verb_request_refresh(tui, a, &err);
	return st == RT_OK ? put(tui, a)
			   : rt_verb_failed(tui, a, rt_buf_str(&a->answer), st, &err);
}
