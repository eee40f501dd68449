/* SPDX-License-Identifier: MIT
 *
 * The table of verbs, with the functions that ask their questions and build their requests.
 *
 *	rt_verb_act     a row begins: it asks its question, or has none
 *	rt_verb_do      it builds its requests: one operation for each entry, or by a function
 *	pending.h       they are applied as one step, under the request's precondition
 *
 * An entry that is only in another take is addressed with that take. */
#include "tui/verb.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h> /* getenv */

#include "core/role.h"
#include "llm/models_host.h"
#include "llm/names_host.h"
#include "llm/provider.h"
#include "tui/pending.h"
#include "tui/verb_impl.h"

enum {
	ENTRIES_MAX = 4096,
	ONE = RT_VERB_ONE,
	ALONE = RT_VERB_ALONE,
	TEXT = RT_VERB_TEXT,
	OPTIONAL = RT_VERB_OPTIONAL,
	INTERNAL = RT_VERB_INTERNAL
};

static const rt_verb *verb_of(rt_action action);

rt_status
rt_verb_with(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count, rt_str answer)
{
	rt_verb_request *r;
	rt_status st = rt_verb_request_new(tui, verb_of(action), entries, count, &r);

	if (r != NULL)
		st = rt_verb_do(tui, r, answer);
	rt_verb_request_free(tui, r);
	return st;
}

rt_status
rt_verb_apply(rt_tui *tui, const rt_request *request)
{
	return rt_pending_change_start(tui, &(rt_pending_change_options){.requests = request,
									 .count = 1,
									 .done = rt_pending_change_report});
}

rt_status
rt_verb_run(rt_tui *tui, const rt_run_request *request)
{
	rt_error err;
	rt_status st = tui->pending != NULL
			       ? rt_fail(&err, RT_BUSY, "another change is pending; the model "
							"was not asked")
			       : rt_work_run(&tui->work, request, &err);

	if (st == RT_OK) /* later messages are about the run */
		rt_tui_say_nothing(tui);
	return rt_tui_say_failure(tui, st, &err);
}

/* ---- texts ---- */

static rt_status
begin_edit(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	char title[320], what[200];
	rt_scope s;
	rt_str text;

	rt_scope_init(&s, tui->alloc);
	text = rt_work_entry_text(&s, &tui->work, entries[0]);
	rt_verb_name(tui, entries, count, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "%s - %s", what,
		       v->action == RT_ACT_EDIT ? "edits in place; later entries are kept"
						: "edits in a new take");
	if (rt_ok(&s))
		RT_TRY(&s, rt_verb_ask(tui, v, entries, count, title, text, true));
	return rt_verb_end(tui, &s);
}

static rt_status
edit_outside(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	rt_verb_request *r;
	bool is_changed = false;
	rt_buf *text;
	rt_scope s;
	rt_status st = rt_verb_request_new(tui, verb_of(RT_ACT_EDIT), entries, count, &r);

	(void)v;
	if (r == NULL)
		return st;
	rt_scope_init(&s, tui->alloc);
	text = rt_scope_buf(&s);
	RT_TRY(&s, rt_tui_edit(tui, rt_work_entry_text(&s, &tui->work, entries[0]), "entry.md", text,
			       &is_changed, &s.error));
	if (rt_ok(&s) && is_changed)
		RT_TRY(&s, rt_verb_do(tui, r, rt_buf_str(text)));
	else if (rt_ok(&s))
		rt_tui_say(tui, "Nothing was changed");
	rt_verb_request_free(tui, r);
	return rt_verb_end(tui, &s);
}

/* EDIT, EDIT_AS_TAKE: blocks of the content that are not text stay. */
static void
build_edit(rt_verb_build *b)
{
	rt_tui *tui = b->tui;
	bool as_take = b->request->verb->action == RT_ACT_EDIT_AS_TAKE;
	uint32_t entry = b->request->entries[0];
	const rt_work_entry *e = rt_work_entry_get(&b->scope, &tui->work, entry);
	rt_content content = {.text = b->answer};
	rt_request *edit;

	if (e == NULL)
		return;
	if (rt_str_eq(rt_work_entry_text(&b->scope, &tui->work, entry), b->answer)) {
		if (rt_ok(&b->scope))
			rt_tui_say(tui, "Nothing was changed");
		return;
	}
	if (e->body->content_json != NULL) {
		rt_buf *json = rt_scope_buf(&b->scope);

		rt_content_set_text(json, (rt_content){.blocks = e->body->content_json}, b->answer);
		content = (rt_content){.blocks = rt_json_parse(&b->scope, rt_scope_str(&b->scope, json))};
	}
	if (rt_verb_add_requests(b, as_take ? 2 : 1) == NULL)
		return;
	edit = &b->requests[b->count - 1];
	edit->op = RT_OP_ENTRY_EDIT;
	edit->content = content;
	rt_verb_set_address(b, &b->requests[0], &b->requests[0].entry, entry, as_take);
	if (as_take) {
		b->requests[0].op = RT_OP_TAKE_BRANCH;
		edit->entry = b->requests[0].entry; /* in the new take */
		b->did = "Edited the entry";
	}
}

/* The author of a new entry: not that of its neighbour. */
static rt_str
next_role(rt_tui *tui, uint32_t neighbour)
{
	const rt_work_entry *e;
	bool is_user;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	e = rt_work_entry_get(&s, &tui->work, neighbour);
	is_user = e != NULL && rt_str_eq_nocase(e->role, RT_STR("user"));
	rt_scope_deinit(&s);
	return is_user ? RT_STR("AI") : RT_STR("User");
}

static rt_status
begin_insert(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	char title[320], what[200];

	rt_verb_name(tui, entries, count, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "New entry %s %s, role %.*s",
		       v->action == RT_ACT_INSERT_BEFORE ? "before" : "after", what,
		       RT_STR_ARG(next_role(tui, entries[0])));
	return rt_verb_ask(tui, v, entries, count, title, RT_STR(""), true);
}

static void
build_insert(rt_verb_build *b)
{
	rt_verb_add_each(b);
	if (b->count > 0) {
		b->requests[0].role = next_role(b->tui, b->request->entries[0]);
		b->requests[0].content.text = b->answer;
	}
}

static void
build_split(rt_verb_build *b)
{
	uint32_t entry = b->request->entries[0];
	rt_str text = rt_work_entry_text(&b->scope, &b->tui->work, entry);
	size_t at = b->answer.size > 0 ? rt_str_find(text, b->answer, 0) : SIZE_MAX;
	rt_request r = {.op = RT_OP_ENTRY_SPLIT};

	if (!rt_ok(&b->scope))
		return;
	if (at == SIZE_MAX) {
		rt_tui_say_str(b->tui, RT_STR("The entry does not contain this text; nothing was "
					      "split"), RT_INK_ERROR);
		return;
	}
	rt_verb_set_address(b, &r, &r.entry, entry, false);
	r.offset = (rt_number){rt_utf8_count(rt_str_at(text.ptr, at)), true};
	rt_verb_add_request(b, r);
}

/* ---- roles, labels, switches ---- */

static rt_status
begin_role(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	const rt_work_entry *e;
	yyjson_val *roles;
	rt_view view;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	view = rt_work_view(&tui->work, &s);
	roles = rt_roles_value(&view);
	e = rt_work_entry_get(&s, &tui->work, entries[0]);
	return rt_verb_pick(tui, &s, v, entries, count, "Role", roles, e == NULL ? RT_STR("") : e->role);
}

static rt_status
begin_label(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	char title[320], what[200];
	const rt_work_entry *e;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	e = rt_work_entry_get(&s, &tui->work, entries[0]);
	rt_verb_name(tui, entries, count, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "Label of %s (leave empty to remove)", what);
	if (e != NULL)
		RT_TRY(&s, rt_verb_ask(tui, v, entries, count, title,
			       e->label.size > 0 ? e->label : RT_STR(""), false));
	return rt_verb_end(tui, &s);
}

static bool
is_rendered(const rt_tui *tui, const rt_work_entry *e)
{
	return e->is_read ||
	       (!rt_role_is_user(e->role) && !rt_tui_shows_source(tui, e->slot.entry));
}

/* Mute, collapse, read mode: the opposite of the first entry's state. */
static rt_status
begin_toggle(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	const rt_work_entry *e;
	rt_verb_request *r;
	rt_scope s;
	rt_status st = rt_verb_request_new(tui, v, entries, count, &r);

	if (r == NULL)
		return st;
	rt_scope_init(&s, tui->alloc);
	e = rt_work_entry_get(&s, &tui->work, entries[0]);
	if (e != NULL) {
		r->is_on = !(v->action == RT_ACT_MUTE		? e->is_muted
			     : v->action == RT_ACT_COLLAPSE ? e->is_collapsed
							    : is_rendered(tui, e));
		for (size_t i = 0; i < count && v->action == RT_ACT_READ_MODE; i++)
			rt_tui_show_source(tui, entries[i], !r->is_on);
		RT_TRY(&s, rt_verb_do(tui, r, RT_STR("")));
	}
	rt_verb_request_free(tui, r);
	return rt_verb_end(tui, &s);
}

/* ---- places of entries ---- */

/* The entry and all that follow it, in the take in which it was seen. */
static void
build_delete_below(rt_verb_build *b)
{
	rt_work *work = &b->tui->work;
	uint32_t entry = b->request->entries[0];
	uint32_t holder = rt_work_take_of(&b->scope, work, work->seen_take, entry);
	const rt_take *take = rt_ok(&b->scope) ? rt_disc_take(work->disc, holder) : NULL;
	rt_request r = {.op = RT_OP_ENTRY_DELETE};
	rt_slot last = {0};

	if (!rt_ok(&b->scope))
		return;
	if (take == NULL || !take->present || rt_seq_count(take->slots) == 0) {
		rt_tui_say(b->tui, "The entry is no longer in any take");
		return;
	}
	RT_TRY(&b->scope, rt_seq_get(take->slots, rt_seq_count(take->slots) - 1, &last,
				     &b->scope.error));
	r.from = rt_work_entry_id(&b->scope, work, entry);
	r.to = rt_work_entry_id(&b->scope, work, last.entry);
	if (holder != work->place.take)
		r.take = rt_work_take_id(&b->scope, holder);
	rt_verb_add_request(b, r);
}

/* Entries of another take, after the head of this one. */
static void
build_graft(rt_verb_build *b)
{
	rt_tui *tui = b->tui;
	rt_work *work = &tui->work;
	const uint32_t *entries = b->request->entries;
	rt_request r = {.op = RT_OP_TAKE_GRAFT};
	size_t head = rt_work_head(work);
	uint32_t holder;
	rt_slot slot = {0};
	rt_buf *ids;

	if (rt_work_position(work, entries[0]) != SIZE_MAX) {
		rt_tui_say(tui, "The entry is already in this take; graft copies entries from "
				"another take");
		return;
	}
	if (rt_work_count(work) == 0) {
		rt_tui_say(tui, "This take has no entry to add it after");
		return;
	}
	holder = rt_work_take_of(&b->scope, work, 0, entries[0]);
	if (!rt_ok(&b->scope) || holder == 0)
		return;
	RT_TRY(&b->scope, rt_seq_get(work->take->slots, head > 0 ? head - 1 : 0, &slot, &b->scope.error));
	*(head > 0 ? &r.after : &r.before) = rt_work_entry_id(&b->scope, work, slot.entry);
	r.from_take = rt_work_take_id(&b->scope, holder);
	ids = rt_scope_buf(&b->scope);
	rt_json_open(ids, NULL, '[');
	for (size_t i = 0; rt_ok(&b->scope) && i < b->request->count; i++)
		rt_json_put_str(ids, NULL, rt_work_entry_id(&b->scope, work, entries[i]));
	rt_json_close(ids, ']');
	r.entries = rt_json_parse(&b->scope, rt_scope_str(&b->scope, ids));
	rt_verb_add_request(b, r);
}

/* The entry at the end of a take after the first count requests, which are moves to the end; ptr
 * NULL: the entry to move is in no take, which is reported. */
static rt_str
last_entry(rt_verb_build *b, uint32_t holder, size_t count)
{
	rt_work *work = &b->tui->work;
	const rt_take *take = rt_ok(&b->scope) ? rt_disc_take(work->disc, holder) : NULL;
	rt_str id = holder == work->place.take ? RT_STR("") : rt_work_take_id(&b->scope, holder);
	rt_slot last = {0};

	while (count > 0 && !rt_str_eq(b->requests[count - 1].take, id))
		count--;
	if (count > 0)
		return b->requests[count - 1].entry;
	if (take == NULL || !take->present || rt_seq_count(take->slots) == 0) {
		rt_tui_say(b->tui, "The entry is no longer in any take");
		return rt_str_of(NULL);
	}
	RT_TRY(&b->scope, rt_seq_get(take->slots, rt_seq_count(take->slots) - 1, &last,
				     &b->scope.error));
	return rt_work_entry_id(&b->scope, work, last.entry);
}

/* The answer is an address, the number of an entry on the screen, or "end". */
static void
build_move(rt_verb_build *b)
{
	rt_str where = rt_str_trim(b->answer);
	bool is_end = !b->request->is_address && rt_str_is(where, "end");
	size_t digits = 0;

	while (digits < where.size && where.ptr[digits] >= '0' && where.ptr[digits] <= '9')
		digits++;
	/* A number is a position, whatever ids look like. */
	if (digits > 0 && digits == where.size && digits <= 18 && !b->request->is_address) {
		rt_buf *position = rt_scope_buf(&b->scope);

		rt_buf_add_f(position, ":%.*s", RT_STR_ARG(where));
		where = rt_scope_str(&b->scope, position);
	}
	rt_verb_add_requests(b, b->request->count);
	for (size_t i = 0; i < b->count; i++) {
		rt_request *r = &b->requests[i];
		uint32_t holder =
			rt_verb_set_address(b, r, &r->entry, b->request->entries[i], false);

		r->op = RT_OP_ENTRY_MOVE;
		if (is_end)
			r->after = last_entry(b, holder, i);
		else
			r->before = where;
		if (is_end && r->after.ptr == NULL) {
			b->count = 0;
			return;
		}
	}
	b->did = "Moved";
}

rt_status
rt_verb_move_before(rt_tui *tui, const uint32_t *entries, size_t count, uint32_t before)
{
	rt_verb_request *r = NULL;
	rt_str id;
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	id = rt_work_entry_id(&s, &tui->work, before);
	if (rt_ok(&s))
		RT_TRY(&s, rt_verb_request_new(tui, verb_of(RT_ACT_MOVE), entries, count, &r));
	if (r != NULL) {
		r->is_address = true;
		RT_TRY(&s, rt_verb_do(tui, r, id));
	}
	rt_verb_request_free(tui, r);
	return rt_verb_end(tui, &s);
}

/* ---- takes ---- */

/* The order of the entries at a branch point. */
static bool
is_before(const rt_slot *a, const rt_slot *b)
{
	return a->ts_us != b->ts_us ? a->ts_us < b->ts_us : a->entry < b->entry;
}

/* The oldest take with the next or previous entry at the position of this one; after the last one,
 * the first. 0: no other take continues differently here, or a failure. */
static uint32_t
sibling_take(rt_scope *s, const rt_work *work, size_t at, bool is_next)
{
	uint32_t nearest = 0, farthest = 0;
	rt_slot mine = {0}, slot, near = {0}, far = {0};

	RT_TRY(s, rt_seq_get(work->take->slots, at, &mine, &s->error));
	for (uint32_t i = 1; rt_ok(s) && i <= rt_disc_take_count(work->disc); i++) {
		const rt_take *other = rt_disc_take(work->disc, i);
		size_t common = 0;

		if (!other->present || i == work->take->number ||
		    RT_TRY(s, rt_seq_common(work->take->slots, other->slots, &common, &s->error)) != RT_OK ||
		    common != at || at >= rt_seq_count(other->slots) ||
		    RT_TRY(s, rt_seq_get(other->slots, at, &slot, &s->error)) != RT_OK ||
		    slot.entry == mine.entry)
			continue;
		if (farthest == 0 || (slot.entry != far.entry && is_before(&slot, &far) == is_next)) {
			farthest = i;
			far = slot;
		}
		if (is_before(&mine, &slot) == is_next &&
		    (nearest == 0 || (slot.entry != near.entry && is_before(&slot, &near) == is_next))) {
			nearest = i;
			near = slot;
		}
	}
	return !rt_ok(s) ? 0 : nearest != 0 ? nearest : farthest;
}

/* With an entry at a branch point: the take of its sibling; else the next one of the discussion. */
static rt_status
begin_other_take(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	rt_work *work = &tui->work;
	uint32_t takes = (uint32_t)rt_disc_take_count(work->disc), number = work->take->number;
	size_t at = count > 0 ? rt_work_position(work, entries[0]) : SIZE_MAX;
	uint32_t sibling = 0;
	rt_status st;
	rt_scope s;
	char id[24];

	rt_scope_init(&s, tui->alloc);
	if (at != SIZE_MAX)
		sibling = sibling_take(&s, work, at, v->action == RT_ACT_TAKE_NEXT);
	st = rt_verb_end(tui, &s);
	if (st != RT_OK)
		return st;
	if (work->take_count < 2) {
		rt_buf key;

		rt_buf_init(&key, tui->alloc, RT_BUF_UNLIMITED);
		rt_keymap_add_key(tui->keys, RT_SCREEN_ENTRY, RT_ACT_BRANCH, &key);
		rt_tui_say(tui, "There is only one take. %.*s on an entry starts another",
			   RT_STR_ARG(key.size > 0 ? rt_buf_str(&key) : RT_STR("/branch-here")));
		rt_buf_deinit(&key);
		return RT_OK;
	}
	do {
		number = v->action == RT_ACT_TAKE_NEXT ? number % takes + 1
			 : number == 1		       ? takes
						       : number - 1;
	} while (!rt_disc_take(work->disc, number)->present);
	number = sibling != 0 ? sibling : number;
	(void)snprintf(id, sizeof(id), RT_BY_ID "t%u", number);
	return rt_verb_apply(tui, &(rt_request){.op = RT_OP_TAKE_SWITCH, .target = rt_str_of(id)});
}

rt_status
rt_verb_rename(rt_tui *tui, uint32_t number)
{
	const rt_take *take = rt_disc_take(tui->work.disc, number == 0 ? tui->work.place.take : number);

	if (take == NULL)
		return RT_OK;
	return rt_verb_ask(tui, verb_of(RT_ACT_RENAME), &take->number, 1, "New name of the take",
		   rt_text_str(take->name), false);
}

static void
build_rename(rt_verb_build *b)
{
	rt_verb_add_each(b);
	if (b->count > 0)
		b->requests[0].target = rt_work_take_id(&b->scope, b->request->entries[0]);
}

static rt_status
begin_export(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	(void)v;
	return rt_verb_export(tui, count > 0 ? entries[0] : 0);
}

/* ---- undo ---- */

/* Reverts the step that the notice announced; else that of the last frame. */
static rt_status
begin_undo(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	(void)entries;
	(void)count;
	return rt_verb_with(tui, v->action, NULL, 0, RT_STR(""));
}

/* The answer counts steps, in decimal; empty: one. */
static void
build_undo(rt_verb_build *b)
{
	rt_request r = {.op = b->request->verb->op, .count.given = b->answer.size > 0,
			.keep_draft = RT_YES};

	for (size_t i = 0; i < b->answer.size; i++)
		r.count.value = 10 * r.count.value + (uint64_t)(b->answer.ptr[i] - '0');
	rt_verb_add_request(b, r);
}

/* ---- models ---- */

/* AGAIN, CONTINUE. */
static rt_status
begin_reply(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	rt_run_request request = {.how = v->action == RT_ACT_AGAIN ? RT_RUN_AGAIN : RT_RUN_CONTINUE};
	rt_scope s;

	rt_scope_init(&s, tui->alloc);
	if (count > 0)
		request.at = rt_work_entry_id(&s, &tui->work, entries[0]);
	if (rt_ok(&s))
		RT_TRY(&s, rt_verb_run(tui, &request));
	return rt_verb_end(tui, &s);
}

static rt_status
begin_compact(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	return rt_verb_ask(tui, v, entries, count,
		   count > 1 ? "Summarise the marked entries. Instructions for the summary?"
			     : "Summarise the beginning. Instructions for the summary?",
		   RT_STR(""), false);
}

static void
build_compact(rt_verb_build *b)
{
	const rt_verb_request *r = b->request;
	rt_run_request request = {.how = RT_RUN_COMPACT, .instructions = b->answer};

	if (r->count > 1) {
		request.from = rt_work_entry_id(&b->scope, &b->tui->work, r->entries[0]);
		request.to = rt_work_entry_id(&b->scope, &b->tui->work, r->entries[r->count - 1]);
	}
	if (rt_ok(&b->scope))
		RT_TRY(&b->scope, rt_verb_run(b->tui, &request));
}

typedef struct known_models {
	rt_buf *json;
	rt_str chosen, standard; /* listed first */
} known_models;

static void
add_known_model(void *ctx, rt_str name)
{
	known_models *known = ctx;

	if (!rt_str_eq(name, known->chosen) && !rt_str_eq(name, known->standard))
		rt_json_put_str(known->json, NULL, name);
}

/* The variables of providers whose models would be listed with a key. */
static rt_str
missing_keys(rt_scope *s, const rt_config *config)
{
	rt_buf *out = rt_scope_buf(s);
	rt_model_choice p;
	size_t at = 0;

	while (rt_models_next_provider(config, &at, &p)) {
		const char *name = p.provider->key_env, *key = name != NULL ? getenv(name) : NULL;

		if (p.config == NULL && name != NULL && p.provider->key_needed &&
		    (key == NULL || *key == '\0'))
			rt_buf_add_f(out, "%s%s", out->size > 0 ? ", " : "For more, set a key: ",
				     name);
	}
	rt_buf_add_c(out, out->size > 0 ? ".  " : "");
	rt_buf_add_c(out, "Your own servers: [provider.NAME] in config.toml (/help config)");
	return rt_scope_str(s, out);
}

/* Models that are known without a request, then those in the servers' lists; any other name can be
 * typed. */
static rt_status
begin_model(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	const rt_config *config = tui->session->config;
	rt_str model = rt_buf_str(&tui->work.model);
	rt_buf *json;
	rt_scope s;

	(void)entries;
	(void)count;
	rt_scope_init(&s, tui->alloc);
	json = rt_scope_buf(&s);
	rt_json_open(json, NULL, '[');
	if (model.size > 0)
		rt_json_put_str(json, NULL, model);
	if (config != NULL && config->model.size > 0 && !rt_str_eq(config->model, model))
		rt_json_put_str(json, NULL, config->model);
	known_models known = {json, model, config != NULL ? config->model : RT_STR("")};
	rt_model_names_each(tui->alloc, tui->session->env, config, RT_STR(""), add_known_model,
			    &known);
	rt_json_close(json, ']');
	rt_str keys = missing_keys(&s, config);
	rt_buf note;

	rt_buf_init(&note, tui->alloc, RT_BUF_UNLIMITED); /* rt_verb_pick ends the scope */
	rt_buf_add_str(&note, keys);
	rt_status st = rt_verb_pick(tui, &s, v, NULL, 0, "Model (PROVIDER/NAME)",
				    rt_json_parse(&s, rt_scope_str(&s, json)), RT_STR(""));

	if (st == RT_OK) {
		rt_pane_pick_several(tui);
		rt_pane_pick_models(tui, model.size > 0 ? model : known.standard, rt_buf_str(&note));
	}
	rt_buf_deinit(&note);
	return st;
}

/* A model that plays a file is refused when it is sent (models_host.h), so it is when it is chosen. */
static bool
plays_file(rt_verb_build *b, rt_str name)
{
	rt_model_choice choice;
	rt_error ignored;

	return rt_models_choose(b->tui->session->config, name, &choice, &ignored) == RT_OK &&
	       choice.provider == &rt_provider_builtin &&
	       rt_str_starts(choice.model, RT_STR("play"));
}

static void
build_model(rt_verb_build *b)
{
	rt_buf *hint = &b->tui->work.hint, *json = rt_scope_buf(&b->scope);
	rt_str name = rt_str_trim(b->answer);
	rt_request r = {.op = RT_OP_SETTING_SET, .key = RT_STR("model")};

	if (rt_str_find(name, RT_STR("\n"), 0) != SIZE_MAX) {
		rt_buf *line = rt_scope_buf(&b->scope);
		bool is_known;

		rt_buf_add_c(line, "/ask-models ");
		for (size_t i = 0; i < name.size; i++)
			rt_buf_add_byte(line, name.ptr[i] == '\n' ? ' ' : name.ptr[i]);
		rt_str text = rt_scope_str(&b->scope, line);
		if (rt_ok(&b->scope))
			RT_TRY(&b->scope, b->tui->chat->run_slash(b->tui, text, &is_known));
		return;
	}
	if (plays_file(b, name)) {
		rt_scope_fail(&b->scope, RT_REFUSED,
			      "a model that plays a file can be chosen only on the command line or in "
			      "the configuration file");
		rt_buf_clear(hint);
		rt_buf_add_c(hint, "Choose another one: Ctrl+L. Nothing was changed");
		return;
	}
	if (RT_TRY(&b->scope, rt_model_names_verify(b->tui->alloc, b->tui->session->env,
						    b->tui->session->config, name, NULL,
						    rt_scope_buf(&b->scope), &b->scope.error)) !=
	    RT_OK) {
		rt_buf_clear(hint);
		rt_buf_add_c(hint, "Use PROVIDER/NAME, for example /model openai/gpt-5. Nothing "
				   "was changed");
		rt_work_add_restart(&b->tui->work);
		return;
	}
	rt_json_put_str(json, NULL, name);
	r.value = rt_json_parse(&b->scope, rt_scope_str(&b->scope, json));
	rt_verb_add_request(b, r);
}

static rt_status
begin_prompt(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	bool is_edited = false;
	rt_view view;
	rt_scope s;
	rt_str text;

	(void)entries;
	(void)count;
	rt_scope_init(&s, tui->alloc);
	view = rt_work_view(&tui->work, &s);
	text = rt_prompt_text(&view, &is_edited);
	if (rt_ok(&s))
		RT_TRY(&s, rt_verb_ask(tui, v, NULL, 0,
			       is_edited ? "Working prompt (edited; the model is told with the "
					   "next message)"
					 : "Working prompt - Enter saves it",
			       text.size > 0 ? text : RT_STR(""), true));
	return rt_verb_end(tui, &s);
}

/* The text of an entry becomes the working prompt. */
static void
build_use_prompt(rt_verb_build *b)
{
	const rt_work_entry *e = rt_work_entry_get(&b->scope, &b->tui->work,
						   b->request->entries[0]);

	if (e != NULL)
		rt_verb_add_request(b, (rt_request){.op = RT_OP_PROMPT_UPDATE,
						    .text = rt_scope_copy(&b->scope,
									  rt_buf_str(&e->text))});
}

/* ---- verbs that only read ---- */

static rt_status
begin_versions(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	(void)v;
	(void)count;
	return rt_verb_versions(tui, entries[0]);
}

static rt_status
begin_copy(rt_tui *tui, const rt_verb *v, const uint32_t *entries, size_t count)
{
	return rt_verb_copy(tui, entries, count, v->action == RT_ACT_COPY_PATH);
}

/* ---- the table ---- */

#define MEMBER(name) offsetof(rt_request, name)

static const rt_verb edit_as_take = {RT_ACT_EDIT_AS_TAKE, ONE | TEXT, .begin = begin_edit,
				     .build = build_edit};

static const rt_verb verbs[] = {
	{RT_ACT_EDIT, ONE | TEXT, RT_FACT_ENTRY, .begin = begin_edit, .build = build_edit,
	 .as_take = &edit_as_take},
	{RT_ACT_EDITOR, ONE, .begin = edit_outside},
	{RT_ACT_INSERT_BEFORE, ONE | TEXT, .begin = begin_insert, .build = build_insert,
	 .op = RT_OP_ENTRY_INSERT, .place = MEMBER(before)},
	{RT_ACT_INSERT_AFTER, ONE | TEXT, .begin = begin_insert, .build = build_insert,
	 .op = RT_OP_ENTRY_INSERT, .place = MEMBER(after)},
	{RT_ACT_SPLIT, ONE, RT_FACT_ENTRY, .before = "Split ", .after = " before which word?",
	 .build = build_split},
	{RT_ACT_MERGE, ONE, RT_FACT_ENTRY, .op = RT_OP_ENTRY_MERGE, .place = MEMBER(entry)},
	{RT_ACT_ROLE, 0, RT_FACT_ENTRY, .begin = begin_role, .op = RT_OP_ENTRY_ROLE,
	 .place = MEMBER(entry), .answer = MEMBER(role), .did = "Changed the role of"},
	{RT_ACT_LABEL, 0, RT_FACT_ENTRY, .begin = begin_label, .op = RT_OP_LABEL_SET,
	 .place = MEMBER(entry), .answer = MEMBER(label), .did = "Labelled",
	 .did_not = "Removed the labels of"},
	{RT_ACT_MUTE, 0, RT_FACT_ENTRY, .begin = begin_toggle, .op = RT_OP_ENTRY_MUTE,
	 .place = MEMBER(entry), .toggle = MEMBER(muted), .did = "Muted",
	 .did_not = "Unmuted"},
	{RT_ACT_COLLAPSE, 0, .begin = begin_toggle, .op = RT_OP_ENTRY_VIEW, .place = MEMBER(entry),
	 .toggle = MEMBER(collapsed), .did = "Collapsed", .did_not = "Expanded"},
	{RT_ACT_READ_MODE, 0, .begin = begin_toggle, .op = RT_OP_ENTRY_VIEW,
	 .place = MEMBER(entry), .toggle = MEMBER(read_mode)},
	{RT_ACT_DELETE, 0, RT_FACT_ENTRY, .op = RT_OP_ENTRY_DELETE, .place = MEMBER(entry),
	 .did = "Deleted"},
	{RT_ACT_DELETE_BELOW, ONE, RT_FACT_BELOW, .build = build_delete_below},
	{RT_ACT_MOVE, 0, RT_FACT_ENTRY, .before = "Move ",
	 .after = " before which entry? (number, label, end)", .build = build_move},
	{RT_ACT_GRAFT, 0, .build = build_graft},
	{RT_ACT_BRANCH, ONE | OPTIONAL, .before = "New take from ",
	 .after = ". Name (optional)", .op = RT_OP_TAKE_BRANCH, .place = MEMBER(entry),
	 .answer = MEMBER(name)},
	{RT_ACT_RENAME, INTERNAL, .build = build_rename, .op = RT_OP_TAKE_RENAME,
	 .answer = MEMBER(name)},
	{RT_ACT_TAKE_PREVIOUS, ALONE, .begin = begin_other_take},
	{RT_ACT_TAKE_NEXT, ALONE, .begin = begin_other_take},
	{RT_ACT_UNDO, ALONE, RT_FACT_STEP, .begin = begin_undo, .build = build_undo, .op = RT_OP_UNDO},
	{RT_ACT_REDO, ALONE, RT_FACT_REDO, .begin = begin_undo, .build = build_undo, .op = RT_OP_REDO},
	{RT_ACT_AGAIN, ALONE, .begin = begin_reply},
	{RT_ACT_CONTINUE, ALONE, .begin = begin_reply},
	{RT_ACT_COMPACT, ALONE, .begin = begin_compact, .build = build_compact},
	{RT_ACT_MODEL, ALONE, .begin = begin_model, .build = build_model},
	{RT_ACT_PROMPT, ALONE | TEXT, RT_FACT_PROMPT, .begin = begin_prompt,
	 .op = RT_OP_PROMPT_UPDATE, .answer = MEMBER(text)},
	{RT_ACT_USE_AS_PROMPT, ONE, RT_FACT_PROMPT, .build = build_use_prompt},
	{RT_ACT_EXPORT, ALONE, .begin = begin_export},
	{RT_ACT_VERSIONS, ONE, .begin = begin_versions},
	{RT_ACT_COPY, 0, .begin = begin_copy},
	{RT_ACT_COPY_PATH, 0, .begin = begin_copy},
};

static const rt_verb *
verb_of(rt_action action)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (verbs[i].action == action)
			return &verbs[i];
	return action == edit_as_take.action ? &edit_as_take : NULL;
}

rt_status
rt_verb_act(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count, bool *out_used)
{
	const rt_verb *v = verb_of(action);
	char title[320], what[200];

	/* Without an entry the editor is the field's. */
	*out_used = v != NULL && (v->flags & INTERNAL) == 0 && (action != RT_ACT_EDITOR || count > 0);
	if (!*out_used)
		return RT_OK;
	if ((v->flags & ALONE) != 0)
		return v->begin(tui, v, entries, count);
	if (count == 0) {
		rt_tui_say(tui, "Select an entry first");
		return RT_OK;
	}
	if (count > ENTRIES_MAX)
		count = ENTRIES_MAX;
	rt_verb_name(tui, entries, count, what, sizeof(what));
	if ((v->flags & ONE) != 0)
		count = 1;
	if (v->begin != NULL)
		return v->begin(tui, v, entries, count);
	if (v->before == NULL)
		return rt_verb_with(tui, action, entries, count, RT_STR(""));
	(void)snprintf(title, sizeof(title), "%s%s%s", v->before, what, v->after);
	return rt_verb_ask(tui, v, entries, count, title, RT_STR(""), false);
}
