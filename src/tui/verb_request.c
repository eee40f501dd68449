/* SPDX-License-Identifier: MIT
 *
 * Executing a verb. Its requests are applied as a pending change (pending.h) under the precondition
 * that its entries are in the state that the user saw. If another program was faster, the user is
 * asked what to do, and it is executed again under the state at the time of the question. */
#include <stdio.h>

#include "tui/pending.h"
#include "tui/verb_impl.h"

rt_status
rt_verb_end(rt_tui *tui, rt_scope *s)
{
	rt_error err;
	rt_status st = rt_scope_end(s, &err);

	return rt_tui_say_failure(tui, st, &err);
}

/* ---- requests ---- */

static bool
has_text(const rt_verb_request *r)
{
	return (r->verb->flags & RT_VERB_TEXT) != 0;
}

/* Sets the precondition to the present state. */
static void
refresh(rt_scope *s, rt_tui *tui, rt_verb_request *r)
{
	rt_work *work = &tui->work;
	rt_fact_kind sees = r->verb->sees;
	size_t count = sees == RT_FACT_ENTRY ? r->count : sees != RT_FACT_NONE;

	rt_precondition_deinit(&r->precondition);
	rt_precondition_init(&r->precondition, tui->alloc, work->place.disc);
	/* The requests of EDIT_AS_TAKE name the take, and mean the new one then. */
	r->precondition.is_in_take = r->count > 0 && r->verb->action != RT_ACT_EDIT_AS_TAKE;
	for (size_t i = 0; rt_ok(s) && i < count; i++) {
		rt_fact fact = {.kind = sees};

		if (sees == RT_FACT_ENTRY || sees == RT_FACT_BELOW) {
			fact.entry = r->entries[i];
			fact.take = rt_work_take_of(s, work, r->seen_take, fact.entry);
		}
		rt_precondition_add(s, &r->precondition, fact, work->engine, work->value);
	}
}

static bool
are_in_view(rt_work *work, const uint32_t *entries, size_t count)
{
	size_t i = 0;

	while (i < count && rt_work_position(work, entries[i]) != SIZE_MAX)
		i++;
	return i == count && count > 0;
}

rt_status
rt_verb_request_new(rt_tui *tui, const rt_verb *verb, const uint32_t *entries, size_t count,
		    rt_verb_request **out)
{
	rt_verb_request *r = rt_new0(tui->alloc, sizeof(*r) + count * sizeof(uint32_t));
	rt_scope s;

	*out = NULL;
	if (r == NULL)
		return RT_NOMEM;
	r->verb = verb;
	r->references = 1;
	/* Another take may be in view when the question is answered. */
	r->seen_take = tui->work.seen_take;
	if (r->seen_take == 0 && are_in_view(&tui->work, entries, count))
		r->seen_take = tui->work.place.take;
	rt_buf_init(&r->answer, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&r->question, tui->alloc, RT_BUF_UNLIMITED);
	r->count = count;
	if (count > 0)
		memcpy(r->entries, entries, count * sizeof(uint32_t));
	rt_scope_init(&s, tui->alloc);
	rt_precondition_init(&r->precondition, tui->alloc, 0);
	refresh(&s, tui, r);
	if (verb->sees == RT_FACT_STEP && tui->said_step != 0) /* the step that the notice has
								* announced */
		rt_precondition_set_step(&r->precondition, tui->said_step);
	if (rt_ok(&s))
		*out = r;
	else
		rt_verb_request_free(tui, r);
	return rt_verb_end(tui, &s);
}

void
rt_verb_request_free(rt_tui *tui, void *request)
{
	rt_verb_request *r = request;

	if (r == NULL || --r->references > 0)
		return;
	if (r->is_open && r->answer.size > 0 && has_text(r))
		rt_tui_remember_input(tui, rt_buf_str(&r->answer));
	rt_precondition_deinit(&r->precondition);
	rt_buf_deinit(&r->answer);
	rt_buf_deinit(&r->question);
	rt_free(tui->alloc, r);
}

/* ---- carried out ---- */

/* Report a failure, and keep a text that was written for it in the chat's input history. */
static rt_status
fail(rt_tui *tui, const rt_verb_request *r, rt_status st, const rt_error *err)
{
	st = rt_tui_say_failure(tui, st, err);
	if (st == RT_OK && r->answer.size > 0 && has_text(r))
		rt_tui_remember_input(tui, rt_buf_str(&r->answer));
	return st;
}

static rt_status resolve_conflict(rt_tui *tui, rt_verb_request *r, const rt_error *why);

/* In the chat, the next key is about the entry that was added. */
static void
select_added(rt_tui *tui, const rt_work_said *said)
{
	uint32_t entry = 0;
	size_t at;

	if (said->entry[0] == 0 || rt_tui_top(tui)->screen != RT_SCREEN_ENTRY ||
	    rt_resolve_entry(tui->work.value, tui->work.place, rt_str_of(said->entry), true, &entry,
			     NULL) != RT_OK)
		return;
	at = rt_work_position(&tui->work, entry);
	if (at != SIZE_MAX)
		rt_tui_show_entry(tui, at);
}

static rt_status
applied(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	rt_verb_request *r = ctx;

	if (st == RT_CONFLICT)
		return resolve_conflict(tui, r, err);
	if (st != RT_OK)
		return fail(tui, r, st, err);
	if (r->words[0] != 0 && said->seq != 0 &&
	    (r->verb->action == RT_ACT_LABEL || /* whose words are about one entry */
	     rt_str_starts(rt_buf_str(&said->words), RT_STR("Several changes")))) {
		rt_buf_clear(&said->words);
		rt_buf_add_c(&said->words, r->words);
		if (said->take[0] != 0)
			rt_buf_add_f(&said->words, " in the new take \"%s\"", said->take);
	}
	rt_tui_say_change(tui, said);
	if (r->verb->action == RT_ACT_INSERT_BEFORE || r->verb->action == RT_ACT_INSERT_AFTER)
		select_added(tui, said);
	if (r->verb->action == RT_ACT_COLLAPSE && tui->notice.size == 0)
		rt_tui_say(tui, r->is_on ? "Collapsed to its first line" : "Expanded");
	if (r->verb->action == RT_ACT_READ_MODE)
		rt_tui_say(tui, r->is_on ? "Rendered as Markdown" : "Shown as source");
	return said->has_editor ? rt_tui_fill_input(tui, rt_buf_str(&said->editor)) : RT_OK;
}

uint32_t
rt_verb_set_address(rt_verb_build *b, rt_request *r, rt_str *field, uint32_t entry, bool is_named)
{
	rt_work *work = &b->tui->work;
	uint32_t seen = work->seen_take == work->place.take ? 0 : work->seen_take;
	uint32_t holder = rt_work_take_of(&b->scope, work, seen, entry);

	*field = rt_work_entry_id(&b->scope, work, entry);
	if (holder != 0 && (holder != work->place.take || is_named))
		r->take = rt_work_take_id(&b->scope, holder);
	return holder;
}

rt_request *
rt_verb_add_requests(rt_verb_build *b, size_t count)
{
	b->requests = rt_scope_array(&b->scope, count, sizeof(*b->requests));
	b->count = b->requests == NULL ? 0 : count;
	return b->requests;
}

void
rt_verb_add_request(rt_verb_build *b, rt_request request)
{
	if (rt_verb_add_requests(b, 1) != NULL)
		b->requests[0] = request;
}

void
rt_verb_add_each(rt_verb_build *b)
{
	const rt_verb *v = b->request->verb;
	size_t count = b->request->count;
	rt_str answer = (v->flags & RT_VERB_TEXT) != 0 ? b->answer : rt_str_trim(b->answer);
	bool is_positive = v->toggle != 0 ? b->request->is_on : answer.size > 0;

	rt_verb_add_requests(b, count > 0 ? count : 1);
	for (size_t i = 0; i < b->count; i++) {
		rt_request *r = &b->requests[i];
		char *members = (char *)r;

		r->op = v->op;
		if (v->answer != 0 && (answer.size > 0 || (v->flags & RT_VERB_OPTIONAL) == 0))
			*(rt_str *)(void *)(members + v->answer) = answer;
		if (v->toggle != 0)
			*(rt_tristate *)(void *)(members + v->toggle) = is_positive ? RT_YES
										    : RT_NO;
		if (v->place != 0)
			rt_verb_set_address(b, r, (rt_str *)(void *)(members + v->place),
					    b->request->entries[i], false);
	}
	b->did = is_positive || v->did_not == NULL ? v->did : v->did_not;
}

/* "Deleted 3 entries: 5, 6, 9"; the numbers of the take in view, as far as there is room. */
static void
name_several(rt_tui *tui, rt_verb_request *r, const char *did)
{
	enum { NUMBER_ROOM = 12 };
	char *words = r->words;
	size_t size = (size_t)snprintf(words, sizeof(r->words), "%s %zu entries", did, r->count);
	size_t words_end = size;

	for (size_t i = 0; i < r->count; i++) {
		size_t at = rt_work_position(&tui->work, r->entries[i]);

		if (at == SIZE_MAX) {
			words[words_end] = 0;
			return;
		}
		if (size + NUMBER_ROOM > sizeof(r->words)) {
			(void)snprintf(words + size, sizeof(r->words) - size, ", ...");
			return;
		}
		size += (size_t)snprintf(words + size, sizeof(r->words) - size, "%s%zu",
					 i == 0 ? ": " : ", ", at + 1);
	}
}

rt_status
rt_verb_do(rt_tui *tui, rt_verb_request *r, rt_str answer)
{
	uint32_t seen_take = tui->work.seen_take;
	rt_verb_build b = {.tui = tui, .request = r};
	rt_status st;

	rt_scope_init(&b.scope, tui->alloc);
	if (answer.ptr == NULL || answer.ptr != r->answer.ptr) {
		rt_buf_clear(&r->answer);
		rt_buf_add_str(&r->answer, answer);
	}
	b.answer = rt_scope_str(&b.scope, &r->answer);
	if (b.answer.ptr == NULL)
		b.answer = RT_STR("");
	tui->work.seen_take = r->seen_take;
	if (rt_ok(&b.scope) && r->verb->build != NULL)
		r->verb->build(&b);
	else if (rt_ok(&b.scope))
		rt_verb_add_each(&b);
	st = b.scope.status;
	if (st != RT_OK) {
		st = fail(tui, r, st, &b.scope.error);
	} else if (b.count > 0) {
		r->words[0] = 0;
		if (b.did != NULL && r->count > 1)
			name_several(tui, r, b.did);
		else if (b.did != NULL && b.count > 1)
			(void)snprintf(r->words, sizeof(r->words), "%s", b.did);
		r->references++;
		st = rt_pending_change_start(
			tui, &(rt_pending_change_options){.requests = b.requests,
							  .count = b.count,
							  .precondition = &r->precondition,
							  .done = applied,
							  .ctx = r,
							  .free_ctx = rt_verb_request_free});
	}
	tui->work.seen_take = seen_take;
	rt_scope_deinit(&b.scope);
	return st;
}

/* ---- conflicts ---- */

/* Nothing was changed: the entries are not in the state that the user saw. The user can read the
 * difference, and decide. No text is lost in any case: one that is not used goes to the input
 * history, one that is overwritten stays a revision. */

/* The author of the text that an entry has now; empty if unknown. */
static rt_str
author(rt_scope *s, rt_work *work, uint32_t entry)
{
	rt_view view = rt_work_view(work, s);
	rt_revision_rows revisions = rt_revisions_list(&view, entry);

	for (size_t i = 0; i < revisions.count; i++)
		if (revisions.items[i].is_current)
			return revisions.items[i].by;
	return RT_STR("");
}

static void
ask_about_undo(rt_scope *s, rt_tui *tui, rt_verb_request *r)
{
	rt_work *work = &tui->work;
	unsigned long long seen = r->precondition.count > 0 ? r->precondition.facts[0].print : 0;
	rt_fact newest = {.kind = RT_FACT_STEP};
	const rt_history_row *step;

	rt_fact_read(s, &newest, work->engine, work->value, work->place.disc);
	step = rt_ok(s) ? rt_work_step(s, work, newest.print) : NULL;
	if (step == NULL || step->did.size == 0) {
		rt_buf_add_f(&r->question, "Step %llu no longer exists; undo the newest step "
					   "instead?",
			     seen);
		return;
	}
	rt_tui_say_done(tui, "Step %llu is no longer the newest", seen);
	rt_buf_add_f(&r->question, "Undo the change by %.*s: ", RT_STR_ARG(step->by));
	rt_work_add_step(step, &r->question);
	rt_buf_add_byte(&r->question, '?');
}

static void
make_question(rt_scope *s, rt_tui *tui, rt_verb_request *r, const rt_error *why)
{
	rt_buf *out = &r->question;
	char what[200];

	rt_buf_clear(out);
	if (r->verb->action == RT_ACT_EDIT) {
		rt_str by = author(s, &tui->work, r->entries[0]);

		rt_verb_name(tui, r->entries, 1, what, sizeof(what));
		rt_buf_add_f(out, "%s was changed after you opened it%s%.*s", what,
			     by.size > 0 ? ", by " : "", RT_STR_ARG(by));
	} else if (r->verb->action == RT_ACT_UNDO) {
		ask_about_undo(s, tui, r);
	} else if (r->verb->action == RT_ACT_REDO) {
		rt_tui_say_done(tui, "Another program or window made changes in the meantime");
		rt_buf_add_c(out, "Redo the last undone step?");
	} else {
		rt_buf_add_c(out, why->text);
		rt_buf_capitalise(out);
	}
	(void)rt_scope_str(s, out);
}

/* Rows can be compared with what they were, so their precondition stays until the answer. In all
 * other cases the question shows the present state; the answer applies to that and nothing
 * newer. */
static bool
has_rows(const rt_verb_request *r)
{
	return r->precondition.count > 0 && r->verb->sees == RT_FACT_ENTRY && !has_text(r);
}

/* Read a fact again. */
static rt_fact
read_again(rt_scope *s, rt_tui *tui, const rt_verb_request *r, const rt_fact *was)
{
	rt_fact now = *was;

	rt_fact_read(s, &now, tui->work.engine, tui->work.value, r->precondition.disc);
	return now;
}

static rt_str
body_text(rt_scope *s, rt_work *work, uint64_t number)
{
	rt_view view = rt_work_view(work, s);

	return rt_view_text(&view, number);
}

/* An entry as it was seen, and its present state. */
static void
add_row(rt_scope *s, rt_tui *tui, const rt_verb_request *r, const rt_fact *was,
	const rt_lines_options *options, rt_lines *lines)
{
	rt_fact now = read_again(s, tui, r, was);
	char heading[300];

	if (!rt_ok(s) || now.print == was->print)
		return;
	tui->work.seen_take = was->take;
	rt_verb_name(tui, &was->entry, 1, heading, sizeof(heading));
	tui->work.seen_take = 0;
	rt_lines_add_row(lines, 0, rt_str_of(heading), RT_INK_HEADING | RT_INK_BOLD);
	if (now.print == 0)
		rt_lines_add_row(lines, 2, RT_STR("It is no longer in the take."),
				 RT_INK_WARNING);
	else if (now.body == was->body)
		rt_lines_add_row(lines, 2,
				 RT_STR("Its text is unchanged, but its role, label or muted state has changed."),
				 RT_INK_WARNING);
	else
		rt_lines_add_difference(lines, body_text(s, &tui->work, was->body),
					body_text(s, &tui->work, now.body), options);
	rt_lines_add_blank(lines);
}

/* The current text, and the changes that the user's text would make. */
static void
add_texts(rt_scope *s, rt_tui *tui, const rt_verb_request *r, const rt_lines_options *options,
	  rt_lines *lines)
{
	rt_work *work = &tui->work;
	rt_view view = rt_work_view(work, s);
	rt_str theirs;

	if (r->verb->action == RT_ACT_PROMPT) {
		theirs = rt_prompt_text(&view, NULL);
	} else {
		work->seen_take = r->seen_take;
		theirs = rt_work_entry_text(s, work, r->entries[0]);
		work->seen_take = 0;
	}
	if (rt_ok(s))
		rt_lines_add_difference(lines, theirs, rt_buf_str(&r->answer), options);
}

static rt_status
show_difference(rt_tui *tui, const rt_verb_request *r)
{
	rt_lines_options options = rt_verb_lines(tui, 4, 2);
	bool texts = has_text(r);
	rt_lines lines;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	rt_lines_init(&lines, tui->alloc);
	if (texts)
		add_texts(&s, tui, r, &options, &lines);
	for (size_t i = 0; !texts && has_rows(r) && i < r->precondition.count; i++)
		add_row(&s, tui, r, &r->precondition.facts[i], &options, &lines);
	return rt_verb_show(tui, &s,
			    texts ? "Their version, with your changes"
				  : "The version you saw, with their changes",
			    &lines);
}

/* Executes it anyway, without entries that were deleted. */
static void
overwrite(rt_scope *s, rt_tui *tui, rt_verb_request *r)
{
	size_t seen = r->verb->sees == RT_FACT_ENTRY ? r->precondition.count : 0, count = 0;

	for (size_t i = 0; rt_ok(s) && i < seen; i++)
		if (read_again(s, tui, r, &r->precondition.facts[i]).print != 0)
			r->entries[count++] = r->precondition.facts[i].entry;
	if (rt_ok(s) && seen > 0 && count == 0)
		(void)rt_scope_fail(s, RT_CONFLICT, "it no longer exists; nothing changed");
	if (rt_ok(s) && seen > 0)
		r->count = count;
	if (has_rows(r))
		refresh(s, tui, r);
}

static rt_status ask_what_to_do(rt_tui *tui, rt_verb_request *r);

static rt_status
decided(rt_tui *tui, void *ctx, rt_str answer)
{
	rt_verb_request *r = ctx;
	bool shows = rt_str_is(answer, "show");
	rt_status st;
	rt_scope s;

	r->is_open = false;
	if (!shows && !rt_str_is(answer, "overwrite") && !rt_str_is(answer, "both")) {
		rt_tui_say_done(tui, "%s",
				has_text(r) ? "Their version was kept" : "Nothing was changed");
		if (has_text(r) && r->answer.size > 0)
			rt_tui_remember_input(tui, rt_buf_str(&r->answer));
		return RT_OK;
	}
	rt_scope_init(&s, tui->alloc);
	if (shows) {
		if (!has_rows(r))
			refresh(&s, tui, r);
		if (rt_ok(&s) && r->verb->action == RT_ACT_EDIT && r->precondition.count == 0)
			(void)rt_scope_fail(&s, RT_CONFLICT,
					    "it no longer exists; nothing changed");
	} else if (rt_str_is(answer, "both")) {
		r->verb = r->verb->as_take;
		refresh(&s, tui, r);
	} else {
		overwrite(&s, tui, r);
	}
	if (!rt_ok(&s))
		st = fail(tui, r, s.status, &s.error);
	else if (!shows)
		st = rt_verb_do(tui, r, rt_buf_str(&r->answer));
	else if ((st = ask_what_to_do(tui, r)) == RT_OK)
		st = show_difference(tui, r);
	rt_scope_deinit(&s);
	return st;
}

static rt_status
ask_what_to_do(rt_tui *tui, rt_verb_request *r)
{
	static const rt_choice of_text[] = {
		{"b", "both", "Keep both: save yours as a new take"},
		{"o", "overwrite", "Overwrite: their version remains in the list of versions"},
		{"d", "discard", "Discard yours: Up in the chat's input restores it"},
		{"s", "show", "Show the differences"},
	};
	static const rt_choice of_rows[] = {
		{"n", "discard", "No: change nothing"},
		{"y", "overwrite", "Yes: do it anyway"},
		{"s", "show", "Show the differences"},
	};
	const rt_choice *choices = has_text(r) ? of_text : of_rows;
	size_t count = has_text(r) ? 4 : has_rows(r) ? 3 : 2;

	if (has_text(r) && r->verb->as_take == NULL) {
		choices++;
		count--;
	}
	r->is_open = true;
	r->references++;
	return rt_pane_choose(tui, r->question.ptr, choices, count, decided, r,
			      rt_verb_request_free);
}

static rt_status
resolve_conflict(rt_tui *tui, rt_verb_request *r, const rt_error *why)
{
	const rt_work *work = &tui->work;
	rt_status st;
	rt_scope s;

	if (r->verb->action == RT_ACT_REDO && work->disc->history.redo_row == 0 &&
	    work->value->history.redo_row == 0) {
		rt_tui_say_done(tui,
				"Nothing to redo: another program or window made changes in the "
				"meantime");
		return RT_OK;
	}
	rt_scope_init(&s, tui->alloc);
	if (r->verb->action == RT_ACT_EDIT && r->precondition.count > 0 &&
	    read_again(&s, tui, r, &r->precondition.facts[0]).print == 0)
		(void)rt_scope_fail(&s, RT_CONFLICT, "the entry is no longer in the take");
	if (rt_ok(&s)) {
		tui->work.seen_take = r->seen_take;
		make_question(&s, tui, r, why);
		tui->work.seen_take = 0;
		if (!has_rows(r))
			refresh(&s, tui, r);
	}
	st = rt_ok(&s) ? ask_what_to_do(tui, r) : fail(tui, r, s.status, &s.error);
	rt_scope_deinit(&s);
	return st;
}

/* ---- questions ---- */

static rt_status
answered(rt_tui *tui, void *ctx, rt_str answer)
{
	if (answer.ptr == NULL) {
		rt_tui_say(tui, "Cancelled; nothing was changed");
		return RT_OK;
	}
	return rt_verb_do(tui, ctx, answer);
}

rt_status
rt_verb_ask(rt_tui *tui, const rt_verb *verb, const uint32_t *entries, size_t count,
	    const char *title, rt_str text, bool several_lines)
{
	rt_verb_request *r;
	rt_status st = rt_verb_request_new(tui, verb, entries, count, &r);

	if (r == NULL)
		return st;
	return rt_pane_ask(tui, title, text, several_lines, answered, r, rt_verb_request_free);
}

rt_status
rt_verb_pick(rt_tui *tui, rt_scope *s, const rt_verb *verb, const uint32_t *entries, size_t count,
	     const char *title, yyjson_val *names, rt_str begin_on)
{
	rt_verb_request *r = NULL;

	if (rt_ok(s) && RT_TRY(s, rt_verb_request_new(tui, verb, entries, count, &r)) == RT_OK &&
	    r != NULL) {
		RT_TRY(s, rt_pane_pick(tui, title, names, true, answered, r, rt_verb_request_free));
		if (rt_ok(s) && begin_on.size > 0)
			rt_pane_pick_begin_on(tui, begin_on);
	}
	return rt_verb_end(tui, s);
}
