/* SPDX-License-Identifier: MIT
 *
 * Verbs: what is done to entries, with the questions that this takes. Each is one step of one
 * or more requests. An entry that only another take holds is addressed with that take. */
#include "tui/verb.h"

#include <stdio.h>

#include "llm/config.h"
#include "tui/verb_request.h"
#include "tui/pending.h"
#include "tui/verb_impl.h"
#include "view/view.h"

enum { PICKED_MAX = 4096 };

/* ---- requests ---- */

/* The entry at *field, and the take that holds it; none where that is the one in view, unless it
 * is to be named. */
static void
address(rt_tui *tui, rt_scope *s, rt_request *r, rt_str *field, uint32_t entry, bool is_named)
{
	rt_work *work = &tui->work;
	char id[RT_ID_MAX + 1] = "", take[24];
	uint32_t holder = 0;

	RT_TRY(s, rt_entry_id(work->value, entry, id, &s->error));
	*field = rt_scope_copy(s, rt_str_of(id));
	if (work->seen_take != 0 && work->seen_take != work->place.take)
		holder = work->seen_take;
	else if (rt_work_position(work, entry) != SIZE_MAX)
		holder = is_named ? work->place.take : 0;
	else
		RT_TRY(s, rt_disc_holds(work->value, work->disc, entry, &holder, &s->error));
	if (holder != 0) {
		(void)snprintf(take, sizeof(take), "t%u", holder);
		r->take = rt_scope_copy(s, rt_str_of(take));
	}
}

/* ---- carried out ---- */

static rt_status
carried_out(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	rt_verb_request *a = ctx;

	if (st == RT_CONFLICT)
		return rt_verb_conflict(tui, a, err, rt_verb_do);
	if (st != RT_OK)
		return rt_verb_failed(tui, a, rt_buf_str(&a->answer), st, err);
	if (a->words[0] != 0 && said->seq != 0 &&
	    (a->action == RT_ACT_LABEL || /* told of one of them */
	     rt_str_starts(rt_buf_str(&said->words), RT_STR("Several changes")))) {
		rt_buf_clear(&said->words);
		rt_buf_add_c(&said->words, a->words);
		if (said->take[0] != 0)
			rt_buf_add_f(&said->words, " in the new take \"%s\"", said->take);
	}
	rt_tui_say_change(tui, said);
	if (a->action == RT_ACT_COLLAPSE && tui->notice.size == 0)
		rt_tui_say(tui, a->is_on ? "Folded to its first line" : "Unfolded");
	return said->has_editor ? rt_tui_fill_input(tui, rt_buf_str(&said->editor)) : RT_OK;
}

/* Ends the scope that the requests were made in. words: what several of them did together, or
 * NULL. */
static rt_status
carry_out(rt_tui *tui, rt_verb_request *a, rt_str answer, rt_scope *s,
	  const rt_request *requests, size_t count, const char *words)
{
	rt_pending_change_options how = {.requests = requests,
					 .count = count,
					 .done = carried_out,
					 .free_ctx = rt_verb_request_free};
	rt_status st = s->status;

	if (st != RT_OK) {
		st = rt_verb_failed(tui, a, answer, st, &s->error);
	} else if ((st = rt_verb_request_set_answer(a, answer)) == RT_OK) {
		(void)snprintf(a->words, sizeof(a->words), "%s", words == NULL ? "" : words);
		how.precondition = &a->precondition;
		how.ctx = rt_verb_request_ref(a);
		st = rt_pending_change_start(tui, &how);
	}
	rt_scope_deinit(s);
	return st;
}

rt_status
rt_verb_apply(rt_tui *tui, const rt_request *request)
{
	rt_verb_request *a = rt_verb_request_new(tui, RT_ACT_NONE, NULL, 0);
	rt_status st;
	rt_scope s;

	if (a == NULL)
		return RT_NOMEM;
	rt_scope_init(&s, tui->alloc);
	st = carry_out(tui, a, rt_str_at(NULL, 0), &s, request, 1, NULL);
	rt_verb_request_free(tui, a);
	return st;
}

/* The same request for each of the entries, as one step; did: in words what was done to them. */
static rt_status
each(rt_tui *tui, rt_verb_request *a, rt_str answer, rt_request request, const char *did)
{
	char words[80];
	rt_request *requests;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	requests = rt_scope_array(&s, a->count, sizeof(*requests));
	for (size_t i = 0; rt_ok(&s) && i < a->count; i++) {
		requests[i] = request;
		address(tui, &s, &requests[i], &requests[i].entry, a->entries[i], false);
	}
	(void)snprintf(words, sizeof(words), "%s %zu entries", did, a->count);
	return carry_out(tui, a, answer, &s, requests, a->count, a->count > 1 ? words : NULL);
}

static rt_status answered(rt_tui *tui, void *ctx, rt_str answer);

static rt_status
ask(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count, const char *title,
    rt_str text, bool several_lines)
{
	rt_verb_request *a = NULL;
	rt_status st = rt_verb_request_capture(tui, action, entries, count, &a);

	if (st != RT_OK || a == NULL)
		return st;
	return rt_pane_ask(tui, title, text, several_lines, answered, a, rt_verb_request_free);
}

/* ---- writing ---- */

/* The text of an entry as it can be edited; of a take that does not hold it, too. */
static rt_status
text_of(rt_tui *tui, uint32_t entry, rt_buf *out, rt_error *err)
{
	rt_work_entry e;
	rt_content content;
	rt_status st = rt_work_entry_of(&tui->work, entry, &e, err);

	if (st != RT_OK)
		return st;
	content = (rt_content){.text = e.body.content, .blocks = e.body.content_json};
	rt_content_add_text(out, content);
	rt_work_entry_deinit(&e);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

/* The content with this text in it: blocks that are no text stay. */
static rt_content
content_with(rt_tui *tui, rt_scope *s, uint32_t entry, rt_str text)
{
	rt_buf *json = rt_scope_buf(s);
	rt_work_entry e;

	if (RT_TRY(s, rt_work_entry_of(&tui->work, entry, &e, &s->error)) != RT_OK)
		return (rt_content){0};
	if (e.body.content_json == NULL) {
		rt_work_entry_deinit(&e);
		return (rt_content){.text = text};
	}
	rt_content_set_text(json, (rt_content){.text = e.body.content, .blocks = e.body.content_json},
			    text);
	rt_work_entry_deinit(&e);
	return (rt_content){.blocks = rt_json_parse(s, rt_scope_str(s, json))};
}

static rt_status
edit(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	char title[320], what[200];
	rt_error err;
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	st = text_of(tui, entries[0], &text, &err);
	rt_verb_name(tui, entries, count, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "%s - %s", what,
		       action == RT_ACT_EDIT ? "saved in place, what follows stays"
					     : "saved as a new take, this one stays");
	st = st == RT_OK ? ask(tui, action, entries, count, title,
			       text.size > 0 ? rt_buf_str(&text) : rt_str_at("", 0), true)
			 : rt_tui_say_failure(tui, st, &err);
	rt_buf_deinit(&text);
	return st;
}

static rt_status
save(rt_tui *tui, rt_verb_request *a, rt_str text)
{
	bool as_take = a->action == RT_ACT_EDIT_AS_TAKE;
	uint32_t entry = a->entries[0];
	rt_request requests[2] = {{.op = RT_OP_TAKE_BRANCH}, {.op = RT_OP_ENTRY_EDIT}};
	rt_scope s;
	rt_buf *was;

	rt_scope_init(&s, tui->alloc);
	was = rt_scope_buf(&s);
	RT_TRY(&s, text_of(tui, entry, was, &s.error));
	if (rt_ok(&s) && rt_str_eq(rt_buf_str(was), text)) {
		rt_tui_say(tui, "Nothing changed");
		rt_scope_deinit(&s);
		return RT_OK;
	}
	requests[1].content = content_with(tui, &s, entry, text);
	if (as_take) {
		address(tui, &s, &requests[0], &requests[0].entry, entry, true);
		requests[1].entry = requests[0].entry; /* in the new take */
	} else {
		address(tui, &s, &requests[1], &requests[1].entry, entry, false);
	}
	return carry_out(tui, a, text, &s, as_take ? requests : requests + 1, as_take ? 2 : 1,
			 as_take ? "Edited it" : NULL);
}

static rt_status
edit_outside(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	bool changed = false;
	rt_verb_request *a = NULL;
	rt_buf text, now;
	rt_error err;
	rt_status st = rt_verb_request_capture(tui, RT_ACT_EDIT, entries, count, &a);

	(void)action;
	if (st != RT_OK || a == NULL)
		return st;
	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&now, tui->alloc, RT_BUF_UNLIMITED);
	st = text_of(tui, entries[0], &text, &err);
	if (st == RT_OK)
		st = rt_tui_edit(tui, rt_buf_str(&text), "entry.md", &now, &changed, &err);
	if (st != RT_OK)
		st = rt_tui_say_failure(tui, st, &err);
	else if (!changed)
		rt_tui_say(tui, "Nothing changed");
	else
		st = save(tui, a, rt_buf_str(&now));
	rt_buf_deinit(&text);
	rt_buf_deinit(&now);
	rt_verb_request_free(tui, a);
	return st;
}

/* Who speaks in a new entry: the one who did not speak before it. */
static rt_str
next_role(rt_tui *tui, uint32_t neighbour)
{
	rt_work_entry e;
	rt_error err;
	bool user = false;

	if (rt_work_entry_of(&tui->work, neighbour, &e, &err) == RT_OK) {
		user = rt_str_eq_nocase(e.role, RT_STR("user"));
		rt_work_entry_deinit(&e);
	}
	return user ? RT_STR("AI") : RT_STR("User");
}

static rt_status
insert(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	char title[320], what[200];

	rt_verb_name(tui, entries, count, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "New entry %s %s, by %.*s - R changes the role later",
		       action == RT_ACT_INSERT_BEFORE ? "before" : "after", what,
		       RT_STR_ARG(next_role(tui, entries[0])));
	return ask(tui, action, entries, count, title, rt_str_at("", 0), true);
}

static rt_status
insert_text(rt_tui *tui, rt_verb_request *a, rt_str text)
{
	rt_request r = {.op = RT_OP_ENTRY_INSERT,
			.role = next_role(tui, a->entries[0]),
			.content.text = text};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	address(tui, &s, &r, a->action == RT_ACT_INSERT_BEFORE ? &r.before : &r.after,
		a->entries[0], false);
	return carry_out(tui, a, text, &s, &r, 1, NULL);
}

/* ---- one after the other ---- */

/* Which roles there are, to choose from. */
static rt_status
pick_role(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	rt_verb_request *a = NULL;
	rt_json_doc *doc = NULL;
	rt_work_entry e;
	rt_error err;
	rt_buf json;
	rt_status st = rt_verb_request_capture(tui, action, entries, count, &a);

	if (st != RT_OK || a == NULL)
		return st;
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_view_settings(tui->work.engine, tui->work.value, tui->work.place.disc, &json, &err);
	if (st == RT_OK)
		st = rt_json_read(tui->alloc, rt_buf_str(&json), &doc, &err);
	if (st == RT_OK) {
		st = rt_pane_pick(tui, "Who speaks", rt_json_get(rt_json_root(doc), "roles"), true,
				  answered, a, rt_verb_request_free);
		if (st == RT_OK && rt_work_entry_of(&tui->work, entries[0], &e, &err) == RT_OK) {
			rt_pane_pick_begin_on(tui, e.role);
			rt_work_entry_deinit(&e);
		}
	} else {
		rt_verb_request_free(tui, a);
		st = rt_tui_say_failure(tui, st, &err);
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

static rt_str
take_id(rt_scope *s, uint32_t take)
{
	char name[24];

	(void)snprintf(name, sizeof(name), "t%u", take);
	return rt_scope_copy(s, rt_str_of(name));
}

static rt_str
entry_id(rt_tui *tui, rt_scope *s, uint32_t entry)
{
	char id[RT_ID_MAX + 1] = "";

	RT_TRY(s, rt_entry_id(tui->work.value, entry, id, &s->error));
	return rt_scope_copy(s, rt_str_of(id));
}

/* The entry and all that follow it, in the take that it was seen in. */
static rt_status
delete_below(rt_tui *tui, rt_verb_request *a)
{
	rt_request r = {.op = RT_OP_ENTRY_DELETE};
	uint32_t entry = a->entries[0];
	rt_work *work = &tui->work;
	uint32_t holder = work->seen_take != 0 ? work->seen_take : work->place.take;
	const rt_take *take;
	rt_slot slot = {0};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	if (work->seen_take == 0 && rt_work_position(work, entry) == SIZE_MAX)
		RT_TRY(&s, rt_disc_holds(work->value, work->disc, entry, &holder, &s.error));
	take = rt_ok(&s) ? rt_disc_take(work->disc, holder) : NULL;
	if (rt_ok(&s) && (take == NULL || !take->present || rt_seq_count(take->slots) == 0)) {
		rt_tui_say(tui, "It is in no take any more");
		rt_scope_deinit(&s);
		return RT_OK;
	}
	RT_TRY(&s, rt_seq_get(take->slots, rt_seq_count(take->slots) - 1, &slot, &s.error));
	r.from = entry_id(tui, &s, entry);
	r.to = entry_id(tui, &s, slot.entry);
	if (holder != work->place.take)
		r.take = take_id(&s, holder);
	return carry_out(tui, a, rt_str_at(NULL, 0), &s, &r, 1, NULL);
}

/* Entries of another take, brought behind the head of this one. */
static rt_status
graft(rt_tui *tui, rt_verb_request *a)
{
	rt_request r = {.op = RT_OP_TAKE_GRAFT};
	rt_work *work = &tui->work;
	size_t head = rt_work_head(work);
	uint32_t holder = 0;
	rt_slot slot = {0};
	rt_scope s;
	rt_buf *ids;

	if (rt_work_position(work, a->entries[0]) != SIZE_MAX) {
		rt_tui_say(tui, "It is in this take already; graft brings entries of another one here");
		return RT_OK;
	}
	if (rt_work_count(work) == 0) {
		rt_tui_say(tui, "This take has no entry to put it behind");
		return RT_OK;
	}
	rt_scope_init(&s, tui->alloc);
	RT_TRY(&s, rt_disc_holds(work->value, work->disc, a->entries[0], &holder, &s.error));
	if (rt_ok(&s) && holder == 0) {
		rt_scope_deinit(&s);
		return RT_OK;
	}
	RT_TRY(&s, rt_seq_get(work->take->slots, head > 0 ? head - 1 : 0, &slot, &s.error));
	*(head > 0 ? &r.after : &r.before) = entry_id(tui, &s, slot.entry);
	r.from_take = take_id(&s, holder);
	ids = rt_scope_buf(&s);
	rt_buf_add_byte(ids, '[');
	for (size_t i = 0; rt_ok(&s) && i < a->count; i++) {
		rt_json_add_comma(ids);
		rt_json_add_string(ids, entry_id(tui, &s, a->entries[i]));
	}
	rt_buf_add_byte(ids, ']');
	r.entries = rt_json_parse(&s, rt_scope_str(&s, ids));
	return carry_out(tui, a, rt_str_at(NULL, 0), &s, &r, 1, NULL);
}

/* where: an address, or "end". */
static rt_status
move(rt_tui *tui, rt_verb_request *a, rt_str where)
{
	rt_str address_text = rt_str_trim(where), last = {0};
	bool is_end = rt_str_eq(address_text, RT_STR("end"));
	rt_request *requests;
	char words[80];
	rt_slot slot = {0};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	if (is_end) {
		RT_TRY(&s, rt_seq_get(tui->work.take->slots, rt_work_count(&tui->work) - 1, &slot,
				      &s.error));
		last = entry_id(tui, &s, slot.entry);
	}
	requests = rt_scope_array(&s, a->count, sizeof(*requests));
	for (size_t i = 0; rt_ok(&s) && i < a->count; i++) {
		rt_request *r = &requests[i];

		r->op = RT_OP_ENTRY_MOVE;
		address(tui, &s, r, &r->entry, a->entries[i], false);
		if (is_end) {
			r->after = last;
			last = r->entry;
		} else {
			r->before = address_text;
		}
	}
	(void)snprintf(words, sizeof(words), "Moved %zu entries", a->count);
	return carry_out(tui, a, where, &s, requests, a->count, a->count > 1 ? words : NULL);
}

/* A number is that of an entry on the screen, whatever ids may look like. */
static rt_status
move_to(rt_tui *tui, rt_verb_request *a, rt_str where)
{
	rt_str number = rt_str_trim(where);
	char address[24];
	size_t i = 0;

	while (i < number.size && number.ptr[i] >= '0' && number.ptr[i] <= '9')
		i++;
	if (i == 0 || i < number.size || number.size > 18)
		return move(tui, a, where);
	(void)snprintf(address, sizeof(address), ":%.*s", RT_STR_ARG(number));
	return move(tui, a, rt_str_of(address));
}

rt_status
rt_verb_move_before(rt_tui *tui, const uint32_t *entries, size_t count, uint32_t before)
{
	char id[RT_ID_MAX + 1];
	rt_verb_request *a = NULL;
	rt_error err;
	rt_status st = rt_entry_id(tui->work.value, before, id, &err);

	if (st != RT_OK)
		return rt_tui_say_failure(tui, st, &err);
	st = rt_verb_request_capture(tui, RT_ACT_MOVE, entries, count, &a);
	if (st == RT_OK && a != NULL)
		st = move(tui, a, rt_str_of(id));
	rt_verb_request_free(tui, a);
	return st;
}

static rt_status
split(rt_tui *tui, rt_verb_request *a, rt_str before)
{
	rt_request r = {.op = RT_OP_ENTRY_SPLIT};
	size_t at = SIZE_MAX;
	rt_buf *text;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	text = rt_scope_buf(&s);
	if (RT_TRY(&s, text_of(tui, a->entries[0], text, &s.error)) != RT_OK) {
		rt_status st = rt_tui_say_failure(tui, s.status, &s.error);

		rt_scope_deinit(&s);
		return st;
	}
	if (before.size > 0)
		at = rt_str_find(rt_buf_str(text), before, 0);
	if (at == SIZE_MAX) {
		rt_tui_say_str(tui, RT_STR("These words are not in it; nothing was split"), RT_INK_ERROR);
		rt_scope_deinit(&s);
		return RT_OK;
	}
	address(tui, &s, &r, &r.entry, a->entries[0], false);
	r.offset = (rt_number){rt_utf8_count(rt_str_at(text->ptr, at)), true};
	return carry_out(tui, a, before, &s, &r, 1, NULL);
}

/* ---- takes ---- */

static rt_status
other_take(rt_tui *tui, bool next)
{
	rt_work *work = &tui->work;
	uint32_t count = (uint32_t)rt_disc_take_count(work->disc), number = work->take->number;
	char id[24];

	if (work->take_count < 2) {
		rt_tui_say(tui, "There is one take only; b on an entry makes another");
		return RT_OK;
	}
	do {
		number = next ? number % count + 1 : number == 1 ? count : number - 1;
	} while (!rt_disc_take(work->disc, number)->present);
	(void)snprintf(id, sizeof(id), "t%u", number);
	return rt_verb_apply(tui, &(rt_request){.op = RT_OP_TAKE_SWITCH, .target = rt_str_of(id)});
}

static rt_status
rename_take(rt_tui *tui, rt_verb_request *a, rt_str to)
{
	rt_request r = {.op = RT_OP_TAKE_RENAME, .name = rt_str_trim(to)};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	r.target = take_id(&s, a->entries[0]);
	return carry_out(tui, a, to, &s, &r, 1, NULL);
}

rt_status
rt_verb_rename(rt_tui *tui, uint32_t take)
{
	const rt_take *t = rt_disc_take(tui->work.disc, take == 0 ? tui->work.place.take : take);

	if (t == NULL)
		return RT_OK;
	take = t->number;
	return ask(tui, RT_ACT_RENAME, &take, 1, "Another name for the take", rt_text_str(t->name), false);
}

/* ---- models ---- */

rt_status
rt_verb_run(rt_tui *tui, const rt_run_request *request)
{
	rt_error err;
	rt_status st = tui->pending != NULL
			       ? rt_fail(&err, RT_BUSY, "a change is still under way; nobody was asked")
			       : rt_work_run(&tui->work, request, &err);

	if (st == RT_OK) /* what is said meanwhile is said of it */
		rt_tui_say_str(tui, rt_str_at("", 0), RT_INK_TEXT);
	return rt_tui_say_failure(tui, st, &err);
}

static rt_status
again(rt_tui *tui, rt_run_how how, const uint32_t *entries, size_t count)
{
	rt_run_request request = {.how = how};
	char id[RT_ID_MAX + 1];
	rt_error err;
	rt_status st = RT_OK;

	if (count > 0) {
		st = rt_entry_id(tui->work.value, entries[0], id, &err);
		request.at = rt_str_of(id);
	}
	return st == RT_OK ? rt_verb_run(tui, &request) : rt_tui_say_failure(tui, st, &err);
}

static rt_status
compact(rt_tui *tui, rt_verb_request *a, rt_str instructions)
{
	rt_run_request request = {.how = RT_RUN_COMPACT, .instructions = instructions};
	char from[RT_ID_MAX + 1], to[RT_ID_MAX + 1];
	rt_error err;
	rt_status st = RT_OK;

	if (a->count > 1) {
		st = rt_entry_id(tui->work.value, a->entries[0], from, &err);
		if (st == RT_OK)
			st = rt_entry_id(tui->work.value, a->entries[a->count - 1], to, &err);
		request.from = rt_str_of(from);
		request.to = rt_str_of(to);
	}
	return st == RT_OK ? rt_verb_run(tui, &request) : rt_tui_say_failure(tui, st, &err);
}

/* Names of models as JSON strings, with commas between. */
static void
add_models(rt_tui *tui, const struct rt_config *config, rt_buf *json)
{
	size_t i;

	if (tui->work.model.size > 0)
		rt_json_add_string(json, rt_buf_str(&tui->work.model));
	if (config != NULL && config->model.size > 0 &&
	    !rt_str_eq(config->model, rt_buf_str(&tui->work.model))) {
		rt_json_add_comma(json);
		rt_json_add_string(json, config->model);
	}
	for (i = 0; config != NULL && i < config->provider_count; i++) {
		rt_buf name;

		rt_buf_init(&name, tui->alloc, 4096);
		rt_buf_add_f(&name, "%.*s/", RT_STR_ARG(config->providers[i].name));
		rt_json_add_comma(json);
		rt_json_add_string(json, rt_buf_str(&name));
		rt_buf_deinit(&name);
	}
	if (rt_str_is(rt_buf_str(&tui->work.model), "builtin/echo"))
		return;
	rt_json_add_comma(json);
	rt_json_add_string(json, RT_STR("builtin/echo"));
}

/* Models that are known without asking anybody; any other name can be typed. */
static rt_status
pick_model(rt_tui *tui)
{
	const struct rt_config *config = tui->session->config;
	rt_verb_request *a = rt_verb_request_new(tui, RT_ACT_MODEL, NULL, 0);
	rt_json_doc *doc = NULL;
	rt_buf json;
	rt_error err;
	rt_status st;

	if (a == NULL)
		return RT_NOMEM;
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '[');
	add_models(tui, config, &json);
	rt_buf_add_byte(&json, ']');
	st = json.status == RT_OK ? rt_json_read(tui->alloc, rt_buf_str(&json), &doc, &err) : RT_NOMEM;
	if (st == RT_OK) {
		st = rt_pane_pick(tui, "Which model answers (PROVIDER/NAME)",
				  rt_json_root(doc), true, answered, a, rt_verb_request_free);
	} else {
		rt_verb_request_free(tui, a);
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

rt_status
rt_verb_set_model(rt_tui *tui, rt_str model)
{
	rt_verb_request *a;
	rt_error err;
	rt_request r = {.op = RT_OP_SETTING_SET, .key = RT_STR("model")};
	rt_scope s;
	rt_buf *json;
	rt_status st = rt_models_check_setting(tui->session->config, rt_str_trim(model), &err);

	if (st != RT_OK) {
		rt_buf_clear(&tui->work.hint);
		rt_buf_add_c(&tui->work.hint, "As PROVIDER/NAME: /model openai/gpt-5. Nothing changed");
		return rt_tui_say_failure(tui, st, &err);
	}

	rt_scope_init(&s, tui->alloc);
	json = rt_scope_buf(&s);
	rt_json_add_string(json, rt_str_trim(model));
	r.value = rt_json_parse(&s, rt_scope_str(&s, json));
	a = rt_verb_request_new(tui, RT_ACT_MODEL, NULL, 0);
	if (a == NULL) {
		rt_scope_deinit(&s);
		return RT_NOMEM;
	}
	st = carry_out(tui, a, model, &s, &r, 1, NULL);
	rt_verb_request_free(tui, a);
	return st;
}

rt_status
rt_verb_prompt(rt_tui *tui)
{
	rt_work *work = &tui->work;
	bool is_edited = false;
	rt_error err;
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_precondition_read_prompt(work->engine, work->value, work->place.disc, &text,
					 &is_edited, &err);
	st = st == RT_OK ? ask(tui, RT_ACT_PROMPT, NULL, 0,
			       is_edited ? "Working prompt (edited; told with the next message)"
					 : "Working prompt - Enter keeps it",
			       text.size > 0 ? rt_buf_str(&text) : rt_str_at("", 0), true)
			 : rt_tui_say_failure(tui, st, &err);
	rt_buf_deinit(&text);
	return st;
}

/* ---- answers ---- */

static rt_status
branch(rt_tui *tui, rt_verb_request *a, rt_str take)
{
	rt_request r = {.op = RT_OP_TAKE_BRANCH};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	address(tui, &s, &r, &r.entry, a->entries[0], false);
	if (rt_str_trim(take).size > 0)
		r.name = rt_str_trim(take);
	return carry_out(tui, a, take, &s, &r, 1, NULL);
}

/* A request without an entry. */
static rt_status
alone(rt_tui *tui, rt_verb_request *a, rt_str answer, rt_request r)
{
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	return carry_out(tui, a, answer, &s, &r, 1, NULL);
}

/* count: how many steps, in decimal; empty: one. */
static rt_status
undo_or_redo(rt_tui *tui, rt_verb_request *a, rt_str count)
{
	rt_request r = {.op = a->action == RT_ACT_UNDO ? RT_OP_UNDO : RT_OP_REDO,
			.count.given = count.size > 0};

	for (size_t i = 0; i < count.size; i++)
		r.count.value = 10 * r.count.value + (uint64_t)(count.ptr[i] - '0');
	return alone(tui, a, count, r);
}

/* A verb of which all is known. */
static rt_status
do_verb(rt_tui *tui, rt_verb_request *a, rt_str answer)
{
	rt_str nothing = rt_str_at(NULL, 0), name = rt_str_trim(answer);
	rt_tristate on = a->is_on ? RT_YES : RT_NO;

	switch (a->action) {
	case RT_ACT_EDIT:
	case RT_ACT_EDIT_AS_TAKE: return save(tui, a, answer);
	case RT_ACT_INSERT_BEFORE:
	case RT_ACT_INSERT_AFTER: return insert_text(tui, a, answer);
	case RT_ACT_BRANCH: return branch(tui, a, answer);
	case RT_ACT_SPLIT: return split(tui, a, answer);
	case RT_ACT_MOVE: return move_to(tui, a, answer);
	case RT_ACT_COMPACT: return compact(tui, a, answer);
	case RT_ACT_MODEL: return rt_verb_set_model(tui, answer);
	case RT_ACT_RENAME: return rename_take(tui, a, answer);
	case RT_ACT_PROMPT:
		return alone(tui, a, answer,
			     (rt_request){.op = RT_OP_PROMPT_UPDATE, .text = answer});
	case RT_ACT_ROLE:
		return each(tui, a, answer, (rt_request){.op = RT_OP_ENTRY_ROLE, .role = name},
			    "Changed the role of");
	case RT_ACT_LABEL:
		return each(tui, a, answer, (rt_request){.op = RT_OP_LABEL_SET, .label = name},
			    name.size > 0 ? "Labelled" : "Took away the labels of");
	case RT_ACT_DELETE:
		return each(tui, a, nothing, (rt_request){.op = RT_OP_ENTRY_DELETE}, "Deleted");
	case RT_ACT_MERGE:
		return each(tui, a, nothing, (rt_request){.op = RT_OP_ENTRY_MERGE}, "Merged");
	case RT_ACT_DELETE_BELOW: return delete_below(tui, a);
	case RT_ACT_GRAFT: return graft(tui, a);
	case RT_ACT_MUTE:
		return each(tui, a, nothing, (rt_request){.op = RT_OP_ENTRY_MUTE, .muted = on},
			    a->is_on ? "Hid from models:" : "No longer hidden from models:");
	case RT_ACT_COLLAPSE:
		return each(tui, a, nothing, (rt_request){.op = RT_OP_ENTRY_VIEW, .collapsed = on},
			    a->is_on ? "Folded" : "Unfolded");
	case RT_ACT_UNDO:
	case RT_ACT_REDO: return undo_or_redo(tui, a, answer);
	default: return RT_OK;
	}
}

rt_status
rt_verb_do(rt_tui *tui, rt_verb_request *a, rt_str answer)
{
	rt_status st;

	tui->work.seen_take = a->seen_take;
	st = do_verb(tui, a, answer);
	tui->work.seen_take = 0;
	return st;
}

static rt_status
answered(rt_tui *tui, void *ctx, rt_str answer)
{
	if (answer.ptr == NULL) {
		rt_tui_say(tui, "Cancelled; nothing changed");
		return RT_OK;
	}
	return rt_verb_do(tui, ctx, answer);
}

/* Those that ask nothing. */
static rt_status
at_once(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	rt_verb_request *a = NULL;
	unsigned view = 0;
	rt_work_entry e;
	rt_error err;
	rt_status st = rt_verb_request_capture(tui, action, entries, count, &a);

	if (st != RT_OK || a == NULL)
		return st;
	if (action == RT_ACT_MUTE) {
		st = rt_work_entry_of(&tui->work, entries[0], &e, &err);
		if (st == RT_OK) {
			a->is_on = !e.is_muted;
			rt_work_entry_deinit(&e);
		}
	} else if (action == RT_ACT_COLLAPSE) {
		st = rt_project_view(tui->work.value, entries[0], &view, &err);
		a->is_on = (view & RT_VIEW_COLLAPSED) == 0;
	}
	st = st == RT_OK ? do_verb(tui, a, rt_str_at(NULL, 0)) : rt_tui_say_failure(tui, st, &err);
	rt_verb_request_free(tui, a);
	return st;
}

rt_status
rt_verb_with(rt_tui *tui, rt_action action, uint32_t entry, rt_str answer)
{
	rt_verb_request *a = NULL;
	rt_status st = rt_verb_request_capture(tui, action, &entry, 1, &a);

	if (st == RT_OK && a != NULL)
		st = do_verb(tui, a, answer);
	rt_verb_request_free(tui, a);
	return st;
}

/* What was told that it would be taken back; else what was there in the last frame. */
rt_status
rt_verb_undo(rt_tui *tui, bool redo, rt_str count)
{
	rt_verb_request *a = NULL;
	rt_status st = rt_verb_request_capture(tui, redo ? RT_ACT_REDO : RT_ACT_UNDO, NULL, 0, &a);

	if (st != RT_OK || a == NULL)
		return st;
	if (!redo && tui->said_step != 0)
		rt_precondition_set_step(&a->precondition, tui->said_step);
	st = do_verb(tui, a, count);
	rt_verb_request_free(tui, a);
	return st;
}

/* ---- the table ---- */

/* What needs no entry. */
static rt_status
act_alone(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count, bool *out_used)
{
	switch (action) {
	case RT_ACT_UNDO: return rt_verb_undo(tui, false, rt_str_at(NULL, 0));
	case RT_ACT_REDO: return rt_verb_undo(tui, true, rt_str_at(NULL, 0));
	case RT_ACT_TAKE_NEXT: return other_take(tui, true);
	case RT_ACT_TAKE_PREVIOUS: return other_take(tui, false);
	case RT_ACT_MODEL: return pick_model(tui);
	case RT_ACT_PROMPT: return rt_verb_prompt(tui);
	case RT_ACT_EXPORT: return rt_verb_export(tui, count > 0 ? entries[0] : 0);
	case RT_ACT_AGAIN: return again(tui, RT_RUN_AGAIN, entries, count);
	case RT_ACT_CONTINUE: return again(tui, RT_RUN_CONTINUE, entries, count);
	case RT_ACT_COMPACT:
		return ask(tui, action, entries, count,
			   count > 1 ? "Sum up the marked entries. What to look out for?"
				     : "Sum up the beginning. What to look out for?",
			   rt_str_at("", 0), false);
	default: *out_used = false; return RT_OK;
	}
}

static rt_status
ask_label(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	char title[320], what[200];
	rt_work_entry e;
	rt_error err;
	rt_status st = rt_work_entry_of(&tui->work, entries[0], &e, &err);

	if (st != RT_OK)
		return rt_tui_say_failure(tui, st, &err);
	rt_verb_name(tui, entries, count, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "Label of %s (empty: none)", what);
	st = ask(tui, action, entries, count, title, e.label.size > 0 ? e.label : rt_str_at("", 0),
		 false);
	rt_work_entry_deinit(&e);
	return st;
}

static rt_status
versions(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	(void)action;
	(void)count;
	return rt_verb_versions(tui, entries[0]);
}

static rt_status
copy(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	return rt_verb_copy(tui, entries, count, action == RT_ACT_COPY_PATH);
}

/* How the verbs that need an entry begin: with a function, or with a question for one line. */
static const struct verb {
	rt_action action;
	bool is_for_one; /* only the first of the entries counts */
	rt_status (*begin)(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count);
	const char *before, *after; /* the question, around "User, entry 4" */
} verbs[] = {
	{RT_ACT_EDIT, true, edit, NULL, NULL},
	{RT_ACT_EDIT_AS_TAKE, true, edit, NULL, NULL},
	{RT_ACT_EDITOR, true, edit_outside, NULL, NULL},
	{RT_ACT_INSERT_BEFORE, true, insert, NULL, NULL},
	{RT_ACT_INSERT_AFTER, true, insert, NULL, NULL},
	{RT_ACT_ROLE, false, pick_role, NULL, NULL},
	{RT_ACT_LABEL, false, ask_label, NULL, NULL},
	{RT_ACT_DELETE, false, at_once, NULL, NULL},
	{RT_ACT_DELETE_BELOW, true, at_once, NULL, NULL},
	{RT_ACT_GRAFT, false, at_once, NULL, NULL},
	{RT_ACT_MUTE, false, at_once, NULL, NULL},
	{RT_ACT_COLLAPSE, false, at_once, NULL, NULL},
	{RT_ACT_MERGE, true, at_once, NULL, NULL},
	{RT_ACT_VERSIONS, true, versions, NULL, NULL},
	{RT_ACT_COPY, false, copy, NULL, NULL},
	{RT_ACT_COPY_PATH, false, copy, NULL, NULL},
	{RT_ACT_MOVE, false, NULL, "Move ", " before which? (number, label, end)"},
	{RT_ACT_BRANCH, true, NULL, "New take from ", " on. Its name (may be left out)"},
	{RT_ACT_SPLIT, true, NULL, "Split ", " before which of its words?"},
};

rt_status
rt_verb_act(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count, bool *out_used)
{
	const struct verb *verb = NULL;
	char title[320], what[200];
	rt_status st;

	*out_used = true;
	st = act_alone(tui, action, entries, count, out_used);
	if (*out_used)
		return st;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (verbs[i].action == action)
			verb = &verbs[i];
	*out_used = verb != NULL && (action != RT_ACT_EDITOR || count > 0);
	if (!*out_used)
		return RT_OK;
	if (count == 0) {
		rt_tui_say(tui, "Select an entry first");
		return RT_OK;
	}
	if (count > PICKED_MAX)
		count = PICKED_MAX;
	rt_verb_name(tui, entries, count, what, sizeof(what));
	if (verb->is_for_one)
		count = 1;
	if (verb->begin != NULL)
		return verb->begin(tui, action, entries, count);
	(void)snprintf(title, sizeof(title), "%s%s%s", verb->before, what, verb->after);
	return ask(tui, action, entries, count, title, rt_str_at("", 0), false);
}
