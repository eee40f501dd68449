/* SPDX-License-Identifier: MIT
 *
 * Verbs: what is done to entries, with the questions that it takes. Each is one step, made of
 * requests as `retake apply` reads them; an entry that only another take holds is named with
 * that take. */
#include "tui/verb.h"

#include <stdio.h>

#include "llm/config.h"
#include "tui/verb_request.h"
#include "tui/pending.h"
#include "tui/verb_impl.h"
#include "view/view.h"

enum { PICKED_MAX = 4096 };

/* ---- requests ---- */

static void
begin(rt_buf *json, const char *op)
{
	if (json->size == 0)
		rt_buf_add_byte(json, '[');
	rt_json_add_comma(json);
	rt_buf_add_c(json, "{\"op\":");
	rt_json_add_string(json, rt_str_of(op));
}

static void
add_text(rt_buf *json, const char *key, rt_str value)
{
	rt_json_add_key(json, key);
	rt_json_add_string(json, value);
}

/* The entry, and the take that holds it; not where that is the one at hand, unless it is named. */
static rt_status
add_entry_of(rt_tui *tui, rt_buf *json, const char *key, uint32_t entry, bool is_named, rt_error *err)
{
	rt_work *work = &tui->work;
	char id[RT_ID_MAX + 1], take[24];
	uint32_t holder = 0;
	rt_status st = rt_entry_id(work->value, entry, id, err);

	if (st != RT_OK)
		return st;
	add_text(json, key, rt_str_of(id));
	if (work->seen_take != 0 && work->seen_take != work->place.take)
		holder = work->seen_take;
	else if (rt_work_position(work, entry) != SIZE_MAX)
		holder = is_named ? work->place.take : 0;
	else
		st = rt_disc_holds(work->value, work->disc, entry, &holder, err);
	if (st == RT_OK && holder != 0) {
		(void)snprintf(take, sizeof(take), "t%u", holder);
		add_text(json, "take", rt_str_of(take));
	}
	return st;
}

static rt_status
add_entry(rt_tui *tui, rt_buf *json, const char *key, uint32_t entry, rt_error *err)
{
	return add_entry_of(tui, json, key, entry, false, err);
}

rt_status
rt_verb_said(rt_tui *tui, rt_status st, const rt_error *err)
{
	if (st == RT_OK || st == RT_NOMEM)
		return st;
	rt_tui_say_error(tui, err, rt_buf_str(&tui->work.hint));
	return RT_OK;
}

/* ---- carried out ---- */

/* A text that was written for this stays to be had. */
static void
remember(rt_tui *tui, const rt_verb_request *a, rt_str answer)
{
	if (answer.size > 0 && rt_verb_request_has_text(a))
		rt_pane_chat_remember(tui, answer);
}

rt_status
rt_verb_failed(rt_tui *tui, const rt_verb_request *a, rt_str answer, rt_status st,
	       const rt_error *err)
{
	st = rt_verb_said(tui, st, err);
	if (st == RT_OK)
		remember(tui, a, answer);
	return st;
}

static rt_status
carried_out(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	rt_verb_request *a = ctx;

	if (st == RT_CONFLICT)
		return rt_verb_conflict(tui, a, err);
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
	return said->has_editor ? rt_pane_chat_fill(tui, rt_buf_str(&said->editor)) : RT_OK;
}

/* Requests, without their end, and what came of putting them together. */
static rt_status
carry_out(rt_tui *tui, const rt_verb_request *a, rt_str answer, rt_buf *json, rt_status st,
	  const rt_error *why, const char *words)
{
	rt_pending_change_options how = {.done = carried_out, .free_ctx = rt_verb_request_free};
	rt_verb_request *b = NULL;

	rt_buf_add_c(json, "}]");
	if (st != RT_OK)
		return rt_verb_failed(tui, a, answer, st, why);
	st = json->status != RT_OK ? RT_NOMEM : rt_verb_request_copy(tui, a, answer, &b);
	if (st != RT_OK)
		return st;
	(void)snprintf(b->words, sizeof(b->words), "%s", words == NULL ? "" : words);
	how.requests = rt_buf_str(json);
	how.precondition = &b->precondition;
	how.ctx = b;
	return rt_pending_change_start(tui, &how);
}

rt_status
rt_verb_op(rt_tui *tui, const char *op, const char *key, rt_str value, bool is_json)
{
	rt_verb_request *a = rt_verb_request_new(tui, RT_ACT_NONE, NULL, 0);
	rt_error none = {0};
	rt_buf json;
	rt_status st;

	if (a == NULL)
		return RT_NOMEM;
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, op);
	if (key != NULL && is_json) {
		rt_json_add_key(&json, key);
		rt_buf_add_str(&json, value);
	} else if (key != NULL) {
		add_text(&json, key, value);
	}
	st = carry_out(tui, a, rt_str_at(NULL, 0), &json, RT_OK, &none, NULL);
	rt_buf_deinit(&json);
	rt_verb_request_free(tui, a);
	return st;
}

/* The same operation for each of them, as one step; more: further fields, or empty; did: in
 * words what was done to them. */
static rt_status
each(rt_tui *tui, const rt_verb_request *a, rt_str answer, const char *op, rt_str more,
     const char *did)
{
	char words[80];
	rt_error err;
	rt_buf json;
	rt_status st = RT_OK;
	size_t i;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	for (i = 0; st == RT_OK && i < a->count; i++) {
		if (i > 0)
			rt_buf_add_byte(&json, '}');
		begin(&json, op);
		st = add_entry(tui, &json, "entry", a->entries[i], &err);
		if (more.size > 0) {
			rt_json_add_comma(&json);
			rt_buf_add_str(&json, more);
		}
	}
	(void)snprintf(words, sizeof(words), "%s %zu entries", did, a->count);
	st = carry_out(tui, a, answer, &json, st, &err, a->count > 1 ? words : NULL);
	rt_buf_deinit(&json);
	return st;
}

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
static rt_status
content_with(rt_tui *tui, uint32_t entry, rt_str text, rt_buf *out, rt_error *err)
{
	rt_work_entry e;
	rt_content content;
	rt_status st = rt_work_entry_of(&tui->work, entry, &e, err);

	if (st != RT_OK)
		return st;
	content = (rt_content){.text = e.body.content, .blocks = e.body.content_json};
	rt_content_set_text(out, content, text);
	rt_work_entry_deinit(&e);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

static rt_status
edit(rt_tui *tui, rt_action action, uint32_t entry)
{
	char title[320], what[200];
	rt_error err;
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	st = text_of(tui, entry, &text, &err);
	rt_verb_name(tui, &entry, 1, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "%s - %s", what,
		       action == RT_ACT_EDIT ? "saved in place, what follows stays"
					     : "saved as a new take, this one stays");
	st = st == RT_OK ? ask(tui, action, &entry, 1, title,
			       text.size > 0 ? rt_buf_str(&text) : rt_str_at("", 0), true)
			 : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&text);
	return st;
}

static rt_status
save(rt_tui *tui, const rt_verb_request *a, rt_str text)
{
	rt_action action = a->action;
	uint32_t entry = a->entries[0];
	rt_buf json, content, was;
	rt_error err;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&content, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&was, tui->alloc, RT_BUF_UNLIMITED);
	st = text_of(tui, entry, &was, &err);
	if (st == RT_OK && rt_str_eq(rt_buf_str(&was), text)) {
		rt_tui_say(tui, "Nothing changed");
		goto done;
	}
	if (st == RT_OK)
		st = content_with(tui, entry, text, &content, &err);
	if (st == RT_OK && action == RT_ACT_EDIT_AS_TAKE) {
		begin(&json, "take.branch");
		st = add_entry_of(tui, &json, "at", entry, true, &err);
		rt_buf_add_byte(&json, '}');
	}
	if (st == RT_OK) {
		begin(&json, "entry.edit");
		if (action == RT_ACT_EDIT_AS_TAKE) {
			char id[RT_ID_MAX + 1];

			st = rt_entry_id(tui->work.value, entry, id, &err);
			add_text(&json, "entry", rt_str_of(id));
		} else {
			st = add_entry(tui, &json, "entry", entry, &err);
		}
		rt_json_add_key(&json, "content");
		rt_buf_add_str(&json, rt_buf_str(&content));
	}
	st = carry_out(tui, a, text, &json, st, &err, action == RT_ACT_EDIT_AS_TAKE ? "Edited it" : NULL);
done:
	rt_buf_deinit(&json);
	rt_buf_deinit(&content);
	rt_buf_deinit(&was);
	return st;
}

static rt_status
edit_outside(rt_tui *tui, uint32_t entry)
{
	bool changed = false;
	rt_verb_request *a = NULL;
	rt_buf text, now;
	rt_error err;
	rt_status st = rt_verb_request_capture(tui, RT_ACT_EDIT, &entry, 1, &a);

	if (st != RT_OK || a == NULL)
		return st;
	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&now, tui->alloc, RT_BUF_UNLIMITED);
	st = text_of(tui, entry, &text, &err);
	if (st == RT_OK)
		st = rt_tui_edit(tui, rt_buf_str(&text), "entry.md", &now, &changed, &err);
	if (st != RT_OK)
		st = rt_verb_said(tui, st, &err);
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
insert(rt_tui *tui, rt_action action, uint32_t entry)
{
	char title[320], what[200];

	rt_verb_name(tui, &entry, 1, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "New entry %s %s, by %.*s - R changes the role later",
		       action == RT_ACT_INSERT_BEFORE ? "before" : "after", what,
		       RT_STR_ARG(next_role(tui, entry)));
	return ask(tui, action, &entry, 1, title, rt_str_at("", 0), true);
}

static rt_status
insert_text(rt_tui *tui, const rt_verb_request *a, rt_str text)
{
	uint32_t entry = a->entries[0];
	rt_error err;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "entry.insert");
	st = add_entry(tui, &json, a->action == RT_ACT_INSERT_BEFORE ? "before" : "after", entry, &err);
	add_text(&json, "role", next_role(tui, entry));
	add_text(&json, "content", text);
	st = carry_out(tui, a, text, &json, st, &err, NULL);
	rt_buf_deinit(&json);
	return st;
}

/* ---- one after the other ---- */

/* Which roles there are, to choose from. */
static rt_status
pick_role(rt_tui *tui, const uint32_t *entries, size_t count)
{
	rt_verb_request *a = NULL;
	rt_json_doc *doc = NULL;
	rt_work_entry e;
	rt_error err;
	rt_buf json;
	rt_status st = rt_verb_request_capture(tui, RT_ACT_ROLE, entries, count, &a);

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
		st = rt_verb_said(tui, st, &err);
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

/* The entry and all that follow it, in the take that it was seen in. */
static rt_status
delete_below(rt_tui *tui, const rt_verb_request *a)
{
	uint32_t entry = a->entries[0];
	rt_work *work = &tui->work;
	uint32_t holder = work->seen_take != 0 ? work->seen_take : work->place.take;
	char first[RT_ID_MAX + 1], last[RT_ID_MAX + 1], name[24];
	const rt_take *take;
	rt_slot slot;
	rt_error err;
	rt_buf json;
	rt_status st = RT_OK;

	if (work->seen_take == 0 && rt_work_position(work, entry) == SIZE_MAX)
		st = rt_disc_holds(work->value, work->disc, entry, &holder, &err);
	take = st == RT_OK ? rt_disc_take(work->disc, holder) : NULL;
	if (st == RT_OK && (take == NULL || !take->present || rt_seq_count(take->slots) == 0)) {
		rt_tui_say(tui, "It is in no take any more");
		return RT_OK;
	}
	if (st == RT_OK)
		st = rt_seq_get(take->slots, rt_seq_count(take->slots) - 1, &slot, &err);
	if (st == RT_OK)
		st = rt_entry_id(work->value, entry, first, &err);
	if (st == RT_OK)
		st = rt_entry_id(work->value, slot.entry, last, &err);
	if (st != RT_OK)
		return rt_verb_said(tui, st, &err);
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "entry.delete");
	add_text(&json, "from", rt_str_of(first));
	add_text(&json, "to", rt_str_of(last));
	if (holder != work->place.take) {
		(void)snprintf(name, sizeof(name), "t%u", holder);
		add_text(&json, "take", rt_str_of(name));
	}
	st = carry_out(tui, a, rt_str_at(NULL, 0), &json, RT_OK, &err, NULL);
	rt_buf_deinit(&json);
	return st;
}

/* Muted, or no more: as the first of them is not. */
static rt_status
mute(rt_tui *tui, const rt_verb_request *a)
{
	return each(tui, a, rt_str_at(NULL, 0), "entry.mute",
		    a->is_on ? RT_STR("\"muted\":true") : RT_STR("\"muted\":false"),
		    a->is_on ? "Hid from models:" : "No longer hidden from models:");
}

static rt_status
collapse(rt_tui *tui, const rt_verb_request *a)
{
	return each(tui, a, rt_str_at(NULL, 0), "entry.view",
		    a->is_on ? RT_STR("\"collapsed\":true") : RT_STR("\"collapsed\":false"),
		    a->is_on ? "Folded" : "Unfolded");
}

/* Entries of another take, brought behind the head of this one. */
static rt_status
graft(rt_tui *tui, const rt_verb_request *a)
{
	const uint32_t *entries = a->entries;
	size_t count = a->count;
	rt_work *work = &tui->work;
	size_t head = rt_work_head(work), i;
	char take[24], beside[RT_ID_MAX + 1];
	uint32_t holder = 0;
	rt_slot slot;
	rt_error err;
	rt_buf json;
	rt_status st;

	if (rt_work_position(work, entries[0]) != SIZE_MAX) {
		rt_tui_say(tui, "It is in this take already; graft brings entries of another one here");
		return RT_OK;
	}
	if (rt_work_count(work) == 0) {
		rt_tui_say(tui, "This take has no entry to put it behind");
		return RT_OK;
	}
	st = rt_disc_holds(work->value, work->disc, entries[0], &holder, &err);
	if (st == RT_OK && holder == 0)
		return RT_OK;
	if (st == RT_OK)
		st = rt_seq_get(work->take->slots, head > 0 ? head - 1 : 0, &slot, &err);
	if (st == RT_OK)
		st = rt_entry_id(work->value, slot.entry, beside, &err);
	if (st != RT_OK)
		return rt_verb_said(tui, st, &err);
	(void)snprintf(take, sizeof(take), "t%u", holder);
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "take.graft");
	add_text(&json, "from", rt_str_of(take));
	add_text(&json, head > 0 ? "after" : "before", rt_str_of(beside));
	rt_buf_add_c(&json, ",\"entries\":[");
	for (i = 0; st == RT_OK && i < count; i++) {
		char id[RT_ID_MAX + 1];

		st = rt_entry_id(work->value, entries[i], id, &err);
		rt_json_add_comma(&json);
		rt_json_add_string(&json, rt_str_of(id));
	}
	rt_buf_add_byte(&json, ']');
	st = carry_out(tui, a, rt_str_at(NULL, 0), &json, st, &err, NULL);
	rt_buf_deinit(&json);
	return st;
}

/* where: an address, or "end". */
static rt_status
move(rt_tui *tui, const rt_verb_request *a, rt_str where)
{
	const uint32_t *entries = a->entries;
	size_t count = a->count;
	rt_str address = rt_str_trim(where);
	bool after = rt_str_eq(address, RT_STR("end"));
	char last[RT_ID_MAX + 1] = "";
	char words[80];
	rt_slot slot;
	rt_error err;
	rt_buf json;
	rt_status st = RT_OK;
	size_t i;

	if (after) {
		st = rt_seq_get(tui->work.take->slots, rt_work_count(&tui->work) - 1, &slot, &err);
		if (st == RT_OK)
			st = rt_entry_id(tui->work.value, slot.entry, last, &err);
	}
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	for (i = 0; st == RT_OK && i < count; i++) {
		if (i > 0)
			rt_buf_add_byte(&json, '}');
		begin(&json, "entry.move");
		st = add_entry(tui, &json, "entry", entries[i], &err);
		if (after) {
			add_text(&json, "after", rt_str_of(last));
			if (st == RT_OK)
				st = rt_entry_id(tui->work.value, entries[i], last, &err);
		} else {
			add_text(&json, "before", address);
		}
	}
	(void)snprintf(words, sizeof(words), "Moved %zu entries", count);
	st = carry_out(tui, a, where, &json, st, &err, count > 1 ? words : NULL);
	rt_buf_deinit(&json);
	return st;
}

/* A number is that of an entry on the screen, whatever ids may look like. */
static rt_status
move_to(rt_tui *tui, const rt_verb_request *a, rt_str where)
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
		return rt_verb_said(tui, st, &err);
	st = rt_verb_request_capture(tui, RT_ACT_MOVE, entries, count, &a);
	if (st == RT_OK && a != NULL)
		st = move(tui, a, rt_str_of(id));
	rt_verb_request_free(tui, a);
	return st;
}

static rt_status
split(rt_tui *tui, const rt_verb_request *a, rt_str before)
{
	uint32_t entry = a->entries[0];
	rt_error err;
	rt_buf text, json;
	size_t at;
	rt_status st;

	rt_buf_init(&text, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	st = text_of(tui, entry, &text, &err);
	at = st == RT_OK && before.size > 0 ? rt_str_find(rt_buf_str(&text), before, 0) : SIZE_MAX;
	if (st == RT_OK && at == SIZE_MAX) {
		rt_tui_say_str(tui, RT_STR("These words are not in it; nothing was split"), RT_INK_ERROR);
	} else if (st == RT_OK) {
		begin(&json, "entry.split");
		st = add_entry(tui, &json, "entry", entry, &err);
		rt_json_add_key(&json, "at");
		rt_buf_add_u64(&json, rt_utf8_count(rt_str_at(text.ptr, at)));
		st = carry_out(tui, a, before, &json, st, &err, NULL);
	} else {
		st = rt_verb_said(tui, st, &err);
	}
	rt_buf_deinit(&text);
	rt_buf_deinit(&json);
	return st;
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
	return rt_verb_op(tui, "take.switch", "take", rt_str_of(id), false);
}

static rt_status
rename_take(rt_tui *tui, const rt_verb_request *a, rt_str to)
{
	rt_error none = {0};
	char id[24];
	rt_buf json;
	rt_status st;

	(void)snprintf(id, sizeof(id), "t%u", a->entries[0]);
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "take.rename");
	add_text(&json, "take", rt_str_of(id));
	add_text(&json, "name", rt_str_trim(to));
	st = carry_out(tui, a, to, &json, RT_OK, &none, NULL);
	rt_buf_deinit(&json);
	return st;
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
	return rt_verb_said(tui, st, &err);
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
	return st == RT_OK ? rt_verb_run(tui, &request) : rt_verb_said(tui, st, &err);
}

static rt_status
compact(rt_tui *tui, const rt_verb_request *a, rt_str instructions)
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
	return st == RT_OK ? rt_verb_run(tui, &request) : rt_verb_said(tui, st, &err);
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
	rt_verb_add_models(tui, config, &json);
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
	rt_buf json;
	rt_status st = rt_models_check_setting(tui->session->config, rt_str_trim(model), &err);

	if (st != RT_OK) {
		rt_buf_clear(&tui->work.hint);
		rt_buf_add_c(&tui->work.hint, "As PROVIDER/NAME: /model openai/gpt-5. Nothing changed");
		return rt_verb_said(tui, st, &err);
	}

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "setting.set");
	add_text(&json, "key", RT_STR("model"));
	add_text(&json, "value", rt_str_trim(model));
	a = rt_verb_request_new(tui, RT_ACT_MODEL, NULL, 0);
	st = a == NULL ? RT_NOMEM : carry_out(tui, a, model, &json, RT_OK, &err, NULL);
	rt_verb_request_free(tui, a);
	rt_buf_deinit(&json);
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
			 : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&text);
	return st;
}

/* ---- answers ---- */

static rt_status
branch(rt_tui *tui, const rt_verb_request *a, rt_str take)
{
	rt_error err;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "take.branch");
	st = add_entry(tui, &json, "at", a->entries[0], &err);
	if (rt_str_trim(take).size > 0)
		add_text(&json, "name", rt_str_trim(take));
	st = carry_out(tui, a, take, &json, st, &err, NULL);
	rt_buf_deinit(&json);
	return st;
}

static rt_status
prompt(rt_tui *tui, const rt_verb_request *a, rt_str text)
{
	rt_error none = {0};
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "prompt.update");
	add_text(&json, "text", text);
	st = carry_out(tui, a, text, &json, RT_OK, &none, NULL);
	rt_buf_deinit(&json);
	return st;
}

/* Role and label. */
static rt_status
name_each(rt_tui *tui, const rt_verb_request *a, rt_str answer)
{
	bool is_role = a->action == RT_ACT_ROLE;
	rt_buf more;
	rt_status st;

	rt_buf_init(&more, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&more, is_role ? "\"role\":" : "\"label\":");
	rt_json_add_string(&more, rt_str_trim(answer));
	st = more.status == RT_OK ? each(tui, a, answer, is_role ? "entry.role" : "label.set",
					 rt_buf_str(&more),
					 is_role			    ? "Changed the role of"
					 : rt_str_trim(answer).size > 0 ? "Labelled"
									    : "Took away the labels of")
				  : RT_NOMEM;
	rt_buf_deinit(&more);
	return st;
}

/* undo, redo; the answer: how many steps. */
static rt_status
undo_or_redo(rt_tui *tui, const rt_verb_request *a, rt_str count)
{
	rt_error none = {0};
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, a->action == RT_ACT_UNDO ? "undo" : "redo");
	if (count.size > 0) {
		rt_json_add_key(&json, "count");
		rt_buf_add_str(&json, count);
	}
	st = carry_out(tui, a, count, &json, RT_OK, &none, NULL);
	rt_buf_deinit(&json);
	return st;
}

/* A verb of which all is known. */
static rt_status
do_verb(rt_tui *tui, const rt_verb_request *a, rt_str answer)
{
	rt_str nothing = rt_str_at(NULL, 0);

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
	case RT_ACT_PROMPT: return prompt(tui, a, answer);
	case RT_ACT_ROLE:
	case RT_ACT_LABEL: return name_each(tui, a, answer);
	case RT_ACT_DELETE: return each(tui, a, nothing, "entry.delete", nothing, "Deleted");
	case RT_ACT_MERGE: return each(tui, a, nothing, "entry.merge", nothing, "Merged");
	case RT_ACT_DELETE_BELOW: return delete_below(tui, a);
	case RT_ACT_GRAFT: return graft(tui, a);
	case RT_ACT_MUTE: return mute(tui, a);
	case RT_ACT_COLLAPSE: return collapse(tui, a);
	case RT_ACT_UNDO:
	case RT_ACT_REDO: return undo_or_redo(tui, a, answer);
	default: return RT_OK;
	}
}

rt_status
rt_verb_do(rt_tui *tui, const rt_verb_request *a, rt_str answer)
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
	st = st == RT_OK ? do_verb(tui, a, rt_str_at(NULL, 0)) : rt_verb_said(tui, st, &err);
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

rt_status
rt_verb_act(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count, bool *out_used)
{
	char title[320], what[200];
	rt_work_entry e;
	rt_error err;
	rt_status st;

	*out_used = true;
	st = act_alone(tui, action, entries, count, out_used);
	if (*out_used)
		return st;
	*out_used = action == RT_ACT_EDIT || action == RT_ACT_EDIT_AS_TAKE ||
		    action == RT_ACT_INSERT_BEFORE || action == RT_ACT_INSERT_AFTER ||
		    action == RT_ACT_ROLE || action == RT_ACT_DELETE || action == RT_ACT_DELETE_BELOW ||
		    action == RT_ACT_MOVE || action == RT_ACT_GRAFT || action == RT_ACT_BRANCH ||
		    action == RT_ACT_MUTE || action == RT_ACT_LABEL || action == RT_ACT_COPY ||
		    action == RT_ACT_COPY_PATH || action == RT_ACT_SPLIT || action == RT_ACT_MERGE ||
		    action == RT_ACT_VERSIONS || action == RT_ACT_COLLAPSE ||
		    (action == RT_ACT_EDITOR && count > 0);
	if (!*out_used)
		return RT_OK;
	if (count == 0) {
		rt_tui_say(tui, "Select an entry first");
		return RT_OK;
	}
	if (count > PICKED_MAX)
		count = PICKED_MAX;
	rt_verb_name(tui, entries, count, what, sizeof(what));
	switch (action) {
	case RT_ACT_EDIT:
	case RT_ACT_EDIT_AS_TAKE: return edit(tui, action, entries[0]);
	case RT_ACT_EDITOR: return edit_outside(tui, entries[0]);
	case RT_ACT_INSERT_BEFORE:
	case RT_ACT_INSERT_AFTER: return insert(tui, action, entries[0]);
	case RT_ACT_ROLE: return pick_role(tui, entries, count);
	case RT_ACT_DELETE:
	case RT_ACT_GRAFT:
	case RT_ACT_MUTE:
	case RT_ACT_COLLAPSE: return at_once(tui, action, entries, count);
	case RT_ACT_DELETE_BELOW:
	case RT_ACT_MERGE: return at_once(tui, action, entries, 1);
	case RT_ACT_VERSIONS: return rt_verb_versions(tui, entries[0]);
	case RT_ACT_COPY: return rt_verb_copy(tui, entries, count, false);
	case RT_ACT_COPY_PATH: return rt_verb_copy(tui, entries, count, true);
	case RT_ACT_MOVE:
		(void)snprintf(title, sizeof(title), "Move %s before which? (number, label, end)",
			       what);
		return ask(tui, action, entries, count, title, rt_str_at("", 0), false);
	case RT_ACT_BRANCH:
		(void)snprintf(title, sizeof(title), "New take from %s on. Its name (may be left out)", what);
		return ask(tui, action, entries, 1, title, rt_str_at("", 0), false);
	case RT_ACT_SPLIT:
		(void)snprintf(title, sizeof(title), "Split %s before which of its words?", what);
		return ask(tui, action, entries, 1, title, rt_str_at("", 0), false);
	case RT_ACT_LABEL:
		st = rt_work_entry_of(&tui->work, entries[0], &e, &err);
		if (st != RT_OK)
			return rt_verb_said(tui, st, &err);
		(void)snprintf(title, sizeof(title), "Label of %s (empty: none)", what);
		st = ask(tui, action, entries, count, title,
			 e.label.size > 0 ? e.label : rt_str_at("", 0), false);
		rt_work_entry_deinit(&e);
		return st;
	default: return RT_OK;
	}
}
