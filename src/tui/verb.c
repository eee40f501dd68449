/* SPDX-License-Identifier: MIT
 *
 * Verbs: what is done to entries, with the questions that it takes. Each is one step, made of
 * requests as `retake apply` reads them; an entry that only another take holds is named with
 * that take. */
#include "tui/verb.h"

#include <stdio.h>

#include "cli/cli.h"
#include "tui/verb_impl.h"

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

/* The entry, and the take that holds it where that is not the one at hand. */
static rt_status
add_entry(rt_tui *tui, rt_buf *json, const char *key, uint32_t entry, rt_error *err)
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
		return RT_OK;
	else
		st = rt_disc_holds(work->value, work->disc, entry, &holder, err);
	if (st == RT_OK && holder != 0) {
		(void)snprintf(take, sizeof(take), "t%u", holder);
		add_text(json, "take", rt_str_of(take));
	}
	return st;
}

rt_status
rt_verb_said(rt_tui *tui, rt_status st, const rt_error *err)
{
	if (st == RT_OK || st == RT_NOMEM)
		return st;
	rt_tui_say_error(tui, err, rt_buf_str(&tui->work.hint));
	return RT_OK;
}

/* Carry requests out and say what came of it; what is handed back goes to the input. words: what
 * several of them did together, where history would only say that they were several; or NULL. */
static rt_status
carry_out_as(rt_tui *tui, rt_buf *json, const char *words)
{
	rt_work_said said;
	rt_error err;
	rt_status st;

	rt_buf_add_c(json, "}]");
	rt_work_said_init(&said, tui->alloc);
	st = json->status != RT_OK ? RT_NOMEM
				   : rt_work_apply(&tui->work, rt_buf_str(json), &said, &err);
	if (st == RT_OK && words != NULL && said.seq != 0 &&
	    rt_str_starts(rt_buf_str(&said.words), RT_STR("Several changes"))) {
		rt_buf_clear(&said.words);
		rt_buf_add_c(&said.words, words);
		if (said.take[0] != 0)
			rt_buf_add_f(&said.words, " in the new take \"%s\"", said.take);
	}
	if (st == RT_OK)
		rt_tui_say_change(tui, &said);
	else
		st = rt_verb_said(tui, st, &err);
	if (st == RT_OK && said.has_editor)
		st = rt_pane_chat_fill(tui, rt_buf_str(&said.editor));
	rt_work_said_deinit(&said);
	return st;
}

static rt_status
carry_out(rt_tui *tui, rt_buf *json)
{
	return carry_out_as(tui, json, NULL);
}

rt_status
rt_verb_op(rt_tui *tui, const char *op, const char *key, rt_str value, bool is_json)
{
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, op);
	if (key != NULL && is_json) {
		rt_json_add_key(&json, key);
		rt_buf_add_str(&json, value);
	} else if (key != NULL) {
		add_text(&json, key, value);
	}
	st = carry_out(tui, &json);
	rt_buf_deinit(&json);
	return st;
}

/* The same operation for each of them, as one step; more: further fields, or empty; did: in
 * words what was done to them. */
static rt_status
each(rt_tui *tui, const char *op, const uint32_t *entries, size_t count, rt_str more, const char *did)
{
	char words[80];
	rt_error err;
	rt_buf json;
	rt_status st = RT_OK;
	size_t i;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	for (i = 0; st == RT_OK && i < count; i++) {
		if (i > 0)
			rt_buf_add_byte(&json, '}');
		begin(&json, op);
		st = add_entry(tui, &json, "entry", entries[i], &err);
		if (more.size > 0) {
			rt_json_add_comma(&json);
			rt_buf_add_str(&json, more);
		}
	}
	(void)snprintf(words, sizeof(words), "%s %zu entries", did, count);
	st = st == RT_OK ? carry_out_as(tui, &json, count > 1 ? words : NULL)
			 : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&json);
	return st;
}

/* ---- what a question is about ---- */

typedef struct asked {
	rt_action action;
	uint32_t seen_take;
	size_t count;
	uint32_t entries[];
} asked;

static asked *
keep(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count)
{
	asked *a = rt_new(tui->alloc, sizeof(*a) + count * sizeof(uint32_t));

	if (a == NULL)
		return NULL;
	a->action = action;
	a->seen_take = tui->work.seen_take;
	a->count = count;
	if (count > 0)
		memcpy(a->entries, entries, count * sizeof(uint32_t));
	return a;
}

static void
free_asked(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

/* "User entry 4", "3 entries". */
static void
name(rt_tui *tui, const uint32_t *entries, size_t count, char *out, size_t room)
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
		(void)snprintf(out, room, "%.*s %s", RT_STR_ARG(e.role), e.id);
	rt_work_entry_deinit(&e);
}

static rt_status answered(rt_tui *tui, void *ctx, rt_str answer);

static rt_status
ask(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count, const char *title,
    rt_str text, bool several_lines)
{
	asked *a = keep(tui, action, entries, count);

	if (a == NULL)
		return RT_NOMEM;
	return rt_pane_ask(tui, title, text, several_lines, answered, a, free_asked);
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
	name(tui, &entry, 1, what, sizeof(what));
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
save(rt_tui *tui, rt_action action, uint32_t entry, rt_str text)
{
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
		st = add_entry(tui, &json, "at", entry, &err);
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
	st = st == RT_OK ? carry_out_as(tui, &json, action == RT_ACT_EDIT_AS_TAKE ? "Edited it" : NULL)
			 : rt_verb_said(tui, st, &err);
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
	rt_buf text, now;
	rt_error err;
	rt_status st;

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
		st = save(tui, RT_ACT_EDIT, entry, rt_buf_str(&now));
	rt_buf_deinit(&text);
	rt_buf_deinit(&now);
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

	name(tui, &entry, 1, what, sizeof(what));
	(void)snprintf(title, sizeof(title), "New entry %s %s, by %.*s - R changes the role later",
		       action == RT_ACT_INSERT_BEFORE ? "before" : "after", what,
		       RT_STR_ARG(next_role(tui, entry)));
	return ask(tui, action, &entry, 1, title, rt_str_at("", 0), true);
}

static rt_status
insert_text(rt_tui *tui, rt_action action, uint32_t entry, rt_str text)
{
	rt_error err;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "entry.insert");
	st = add_entry(tui, &json, action == RT_ACT_INSERT_BEFORE ? "before" : "after", entry, &err);
	add_text(&json, "role", next_role(tui, entry));
	add_text(&json, "content", text);
	st = st == RT_OK ? carry_out(tui, &json) : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&json);
	return st;
}

/* ---- one after the other ---- */

/* Which roles there are, to choose from. */
static rt_status
pick_role(rt_tui *tui, const uint32_t *entries, size_t count)
{
	asked *a = keep(tui, RT_ACT_ROLE, entries, count);
	rt_json_doc *doc = NULL;
	rt_error err;
	rt_buf json;
	rt_status st;

	if (a == NULL)
		return RT_NOMEM;
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_view_settings(tui->work.engine, tui->work.value, tui->work.place.disc, &json, &err);
	if (st == RT_OK)
		st = rt_json_read(tui->alloc, rt_buf_str(&json), &doc, &err);
	if (st == RT_OK) {
		st = rt_pane_pick(tui, "Who speaks", rt_json_get(rt_json_root(doc), "roles"), true,
				  answered, a, free_asked);
	} else {
		rt_free(tui->alloc, a);
		st = rt_verb_said(tui, st, &err);
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

/* The entry and all that follow it in this take. */
static rt_status
delete_below(rt_tui *tui, uint32_t entry)
{
	rt_work *work = &tui->work;
	char first[RT_ID_MAX + 1], last[RT_ID_MAX + 1];
	rt_slot slot;
	rt_error err;
	rt_buf json;
	rt_status st;

	if (rt_work_position(work, entry) == SIZE_MAX ||
	    (work->seen_take != 0 && work->seen_take != work->place.take)) {
		rt_tui_say(tui, "It is in another take: go there first");
		return RT_OK;
	}
	st = rt_seq_get(work->take->slots, rt_work_count(work) - 1, &slot, &err);
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
	st = carry_out(tui, &json);
	rt_buf_deinit(&json);
	return st;
}

static rt_status
mute(rt_tui *tui, const uint32_t *entries, size_t count)
{
	rt_work_entry e;
	rt_error err;
	bool muted;
	rt_status st = rt_work_entry_of(&tui->work, entries[0], &e, &err);

	if (st != RT_OK)
		return rt_verb_said(tui, st, &err);
	muted = e.is_muted;
	rt_work_entry_deinit(&e);
	return each(tui, "entry.mute", entries, count,
		    muted ? RT_STR("\"muted\":false") : RT_STR("\"muted\":true"),
		    muted ? "No longer hidden from models:" : "Hid from models:");
}

static rt_status
collapse(rt_tui *tui, const uint32_t *entries, size_t count)
{
	unsigned view = 0;
	rt_error err;
	rt_status st;

	if (rt_project_view(tui->work.value, entries[0], &view, &err) != RT_OK)
		return RT_OK;
	st = each(tui, "entry.view", entries, count,
		  (view & RT_VIEW_COLLAPSED) != 0 ? RT_STR("\"collapsed\":false")
						  : RT_STR("\"collapsed\":true"),
		  (view & RT_VIEW_COLLAPSED) != 0 ? "Unfolded" : "Folded");
	if (st == RT_OK && tui->notice.size == 0)
		rt_tui_say(tui, (view & RT_VIEW_COLLAPSED) != 0 ? "Unfolded" : "Folded to its first line");
	return st;
}

/* Entries of another take, brought behind the head of this one. */
static rt_status
graft(rt_tui *tui, const uint32_t *entries, size_t count)
{
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
	st = st == RT_OK ? carry_out(tui, &json) : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&json);
	return st;
}

/* where: an address, or "end". */
static rt_status
move(rt_tui *tui, const uint32_t *entries, size_t count, rt_str where)
{
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
	st = st == RT_OK ? carry_out_as(tui, &json, count > 1 ? words : NULL)
			 : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&json);
	return st;
}

rt_status
rt_verb_move_before(rt_tui *tui, const uint32_t *entries, size_t count, uint32_t before)
{
	char id[RT_ID_MAX + 1];
	rt_error err;
	rt_status st = rt_entry_id(tui->work.value, before, id, &err);

	return st == RT_OK ? move(tui, entries, count, rt_str_of(id)) : rt_verb_said(tui, st, &err);
}

static rt_status
split(rt_tui *tui, uint32_t entry, rt_str before)
{
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
		if (st == RT_OK)
			st = carry_out(tui, &json);
	}
	st = st == RT_OK ? st : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&text);
	rt_buf_deinit(&json);
	return st;
}

/* ---- versions ---- */

/* Every text that it had, oldest first, each with what is different from the one before. */
static rt_status
versions(rt_tui *tui, uint32_t entry)
{
	rt_lines_options options = {.columns = tui->canvas.columns > 4 ? tui->canvas.columns - 4 : 1,
				    .utf8 = tui->canvas.utf8,
				    .indent = 2};
	rt_json_doc *doc = NULL;
	yyjson_val *revision;
	size_t i, count;
	rt_str before = rt_str_at("", 0);
	rt_lines lines;
	rt_buf json, was, now;
	rt_error err;
	rt_status st;

	rt_lines_init(&lines, tui->alloc);
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&was, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&now, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_view_revisions(tui->work.engine, tui->work.value, tui->work.place.disc, entry, &json,
			       &err);
	if (st == RT_OK)
		st = rt_json_read(tui->alloc, rt_buf_str(&json), &doc, &err);
	if (st == RT_OK)
		yyjson_arr_foreach(rt_json_root(doc), i, count, revision)
		{
			rt_content content = {.text = {NULL, 0}};
			yyjson_val *value = rt_json_get(revision, "content");
			uint64_t seq = 0;
			char head[160];

			if (yyjson_is_arr(value))
				content.blocks = value;
			else
				content.text = rt_json_str(value);
			rt_buf_clear(&now);
			rt_content_add_text(&now, content);
			(void)rt_json_u64(rt_json_get(revision, "seq"), &seq);
			(void)snprintf(head, sizeof(head), "Version %zu of %zu, step %llu%s", i + 1, count,
				       (unsigned long long)seq,
				       yyjson_is_true(rt_json_get(revision, "current")) ? ", now" : "");
			rt_lines_add_row(&lines, 0, rt_str_of(head), RT_INK_HEADING | RT_INK_BOLD);
			if (i == 0)
				rt_lines_add_plain(&lines, rt_buf_str(&now), &options);
			else
				rt_lines_add_difference(&lines, before, rt_buf_str(&now), &options);
			rt_lines_add_blank(&lines);
			rt_buf_clear(&was);
			rt_buf_add_str(&was, rt_buf_str(&now));
			before = rt_buf_str(&was);
		}
	if (st == RT_OK && lines.status != RT_OK)
		st = RT_NOMEM;
	if (st == RT_OK)
		st = rt_pane_reader(tui, "Versions, oldest first. To bring one back: edit, or /revert STEP",
				    &lines);
	else
		st = rt_verb_said(tui, st, &err);
	rt_json_free(doc);
	rt_lines_deinit(&lines);
	rt_buf_deinit(&json);
	rt_buf_deinit(&was);
	rt_buf_deinit(&now);
	return st;
}

rt_status
rt_verb_read(rt_tui *tui, uint32_t entry)
{
	rt_lines_options options = {.columns = tui->canvas.columns > 2 ? tui->canvas.columns - 2 : 1,
				    .utf8 = tui->canvas.utf8,
				    .ink = RT_INK_TEXT};
	char title[300];
	rt_work_entry e;
	rt_lines lines;
	rt_error err;
	rt_status st = rt_work_entry_of(&tui->work, entry, &e, &err);

	if (st != RT_OK)
		return rt_verb_said(tui, st, &err);
	rt_lines_init(&lines, tui->alloc);
	if (e.thinking.size > 0) {
		options.ink = RT_INK_DIM | RT_INK_ITALIC;
		rt_lines_add_plain(&lines, rt_buf_str(&e.thinking), &options);
		rt_lines_add_blank(&lines);
		options.ink = RT_INK_TEXT;
	}
	if (e.is_tool)
		rt_lines_add_plain(&lines, rt_buf_str(&e.text), &options);
	else
		rt_lines_add_markdown(&lines, rt_buf_str(&e.text), &options);
	if (e.parts.size > 0)
		rt_lines_add_row(&lines, 0, rt_buf_str(&e.parts), RT_INK_TOOL);
	name(tui, &entry, 1, title, sizeof(title));
	rt_work_entry_deinit(&e);
	st = lines.status == RT_OK ? rt_pane_reader(tui, title, &lines) : RT_NOMEM;
	rt_lines_deinit(&lines);
	return st;
}

/* ---- copies ---- */

static rt_status
copy(rt_tui *tui, const uint32_t *entries, size_t count, bool path)
{
	rt_work *work = &tui->work;
	size_t i, end = count;
	rt_error err;
	rt_buf out;
	rt_status st = RT_OK;

	rt_buf_init(&out, tui->alloc, RT_BUF_UNLIMITED);
	if (path) { /* from the first entry to this one */
		end = rt_work_position(work, entries[0]);
		end = end == SIZE_MAX ? 0 : end + 1;
	}
	for (i = 0; st == RT_OK && i < end; i++) {
		rt_work_entry e;

		st = path ? rt_work_entry_at(work, i, &e, &err)
			  : rt_work_entry_of(work, entries[i], &e, &err);
		if (st != RT_OK)
			break;
		if (i > 0)
			rt_buf_add_c(&out, "\n\n");
		if (path || count > 1)
			rt_buf_add_f(&out, "## %.*s\n\n", RT_STR_ARG(e.role));
		rt_buf_add_str(&out, rt_buf_str(&e.text));
		rt_work_entry_deinit(&e);
	}
	if (st == RT_OK && out.status != RT_OK)
		st = RT_NOMEM;
	if (st == RT_OK)
		rt_tui_copy(tui, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return st == RT_OK ? st : rt_verb_said(tui, st, &err);
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
rename_take(rt_tui *tui, uint32_t take, rt_str to)
{
	char id[24];
	rt_buf json;
	rt_status st;

	(void)snprintf(id, sizeof(id), "t%u", take);
	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "take.rename");
	add_text(&json, "take", rt_str_of(id));
	add_text(&json, "name", rt_str_trim(to));
	st = carry_out(tui, &json);
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
rt_verb_run(rt_tui *tui, const char *how, rt_str fields)
{
	rt_error err;
	rt_status st = rt_work_run(&tui->work, how, fields, &err);

	return rt_verb_said(tui, st, &err);
}

static rt_status
again(rt_tui *tui, const char *how, const uint32_t *entries, size_t count)
{
	char id[RT_ID_MAX + 1];
	rt_error err;
	rt_buf fields;
	rt_status st = RT_OK;

	rt_buf_init(&fields, tui->alloc, RT_BUF_UNLIMITED);
	if (count > 0) {
		st = rt_entry_id(tui->work.value, entries[0], id, &err);
		rt_buf_add_c(&fields, "\"at\":");
		rt_json_add_string(&fields, rt_str_of(id));
	}
	st = st == RT_OK ? rt_verb_run(tui, how, rt_buf_str(&fields)) : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&fields);
	return st;
}

static rt_status
compact(rt_tui *tui, const asked *a, rt_str instructions)
{
	rt_error err;
	rt_buf fields;
	rt_status st = RT_OK;

	rt_buf_init(&fields, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&fields, "\"instructions\":");
	rt_json_add_string(&fields, instructions);
	if (a->count > 1) {
		char id[RT_ID_MAX + 1];

		st = rt_entry_id(tui->work.value, a->entries[0], id, &err);
		add_text(&fields, "from", rt_str_of(id));
		if (st == RT_OK)
			st = rt_entry_id(tui->work.value, a->entries[a->count - 1], id, &err);
		add_text(&fields, "to", rt_str_of(id));
	}
	st = st == RT_OK ? rt_verb_run(tui, "compact", rt_buf_str(&fields))
			 : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&fields);
	return st;
}

/* Models that are known without asking anybody; any other name can be typed. */
static rt_status
pick_model(rt_tui *tui)
{
	const struct rt_config *config = tui->cli->config;
	asked *a = keep(tui, RT_ACT_MODEL, NULL, 0);
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
				  rt_json_root(doc), true, answered, a, free_asked);
	} else {
		rt_free(tui->alloc, a);
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

static rt_status
set_model(rt_tui *tui, rt_str model)
{
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "setting.set");
	add_text(&json, "key", RT_STR("model"));
	add_text(&json, "value", rt_str_trim(model));
	st = carry_out(tui, &json);
	rt_buf_deinit(&json);
	return st;
}

rt_status
rt_verb_prompt(rt_tui *tui)
{
	rt_json_doc *doc = NULL;
	rt_error err;
	rt_buf json;
	rt_str text;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	st = rt_view_settings(tui->work.engine, tui->work.value, tui->work.place.disc, &json, &err);
	if (st == RT_OK)
		st = rt_json_read(tui->alloc, rt_buf_str(&json), &doc, &err);
	if (st == RT_OK) {
		yyjson_val *prompt = rt_json_get(rt_json_root(doc), "prompt");

		text = rt_json_str(rt_json_get(prompt, "text"));
		st = ask(tui, RT_ACT_PROMPT, NULL, 0,
			 yyjson_is_true(rt_json_get(prompt, "edited"))
				 ? "Working prompt (edited; told with the next message)"
				 : "Working prompt - Enter keeps it",
			 text.size > 0 ? text : rt_str_at("", 0), true);
	} else {
		st = rt_verb_said(tui, st, &err);
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

/* ---- answers ---- */

static rt_status
branch(rt_tui *tui, uint32_t entry, rt_str take)
{
	rt_error err;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, tui->alloc, RT_BUF_UNLIMITED);
	begin(&json, "take.branch");
	st = add_entry(tui, &json, "at", entry, &err);
	if (rt_str_trim(take).size > 0)
		add_text(&json, "name", rt_str_trim(take));
	st = st == RT_OK ? carry_out(tui, &json) : rt_verb_said(tui, st, &err);
	rt_buf_deinit(&json);
	return st;
}

static rt_status
answer_is(rt_tui *tui, const asked *a, rt_str answer)
{
	rt_buf more;
	rt_status st;

	if (answer.ptr == NULL) {
		rt_tui_say(tui, "Cancelled; nothing changed");
		return RT_OK;
	}
	switch (a->action) {
	case RT_ACT_EDIT:
	case RT_ACT_EDIT_AS_TAKE: return save(tui, a->action, a->entries[0], answer);
	case RT_ACT_INSERT_BEFORE:
	case RT_ACT_INSERT_AFTER: return insert_text(tui, a->action, a->entries[0], answer);
	case RT_ACT_BRANCH: return branch(tui, a->entries[0], answer);
	case RT_ACT_SPLIT: return split(tui, a->entries[0], answer);
	case RT_ACT_MOVE: return move(tui, a->entries, a->count, answer);
	case RT_ACT_COMPACT: return compact(tui, a, answer);
	case RT_ACT_MODEL: return set_model(tui, answer);
	case RT_ACT_RENAME: return rename_take(tui, a->entries[0], answer);
	case RT_ACT_PROMPT: return rt_verb_op(tui, "prompt.update", "text", answer, false);
	case RT_ACT_ROLE:
	case RT_ACT_LABEL:
		rt_buf_init(&more, tui->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_c(&more, a->action == RT_ACT_ROLE ? "\"role\":" : "\"label\":");
		rt_json_add_string(&more, rt_str_trim(answer));
		st = more.status == RT_OK
			     ? each(tui, a->action == RT_ACT_ROLE ? "entry.role" : "label.set", a->entries,
				    a->count, rt_buf_str(&more),
				    a->action == RT_ACT_ROLE ? "Changed the role of" : "Labelled")
			     : RT_NOMEM;
		rt_buf_deinit(&more);
		return st;
	default: return RT_OK;
	}
}

static rt_status
answered(rt_tui *tui, void *ctx, rt_str answer)
{
	const asked *a = ctx;
	rt_status st;

	tui->work.seen_take = a->seen_take;
	st = answer_is(tui, a, answer);
	tui->work.seen_take = 0;
	return st;
}

/* ---- the table ---- */

/* What needs no entry. */
static rt_status
act_alone(rt_tui *tui, rt_action action, const uint32_t *entries, size_t count, bool *out_used)
{
	switch (action) {
	case RT_ACT_UNDO: return rt_verb_op(tui, "undo", NULL, rt_str_at("", 0), false);
	case RT_ACT_REDO: return rt_verb_op(tui, "redo", NULL, rt_str_at("", 0), false);
	case RT_ACT_TAKE_NEXT: return other_take(tui, true);
	case RT_ACT_TAKE_PREVIOUS: return other_take(tui, false);
	case RT_ACT_MODEL: return pick_model(tui);
	case RT_ACT_PROMPT: return rt_verb_prompt(tui);
	case RT_ACT_EXPORT: return rt_pane_palette(tui, RT_STR("export -o "));
	case RT_ACT_AGAIN: return again(tui, "again", entries, count);
	case RT_ACT_CONTINUE: return again(tui, "continue", entries, count);
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
	name(tui, entries, count, what, sizeof(what));
	switch (action) {
	case RT_ACT_EDIT:
	case RT_ACT_EDIT_AS_TAKE: return edit(tui, action, entries[0]);
	case RT_ACT_EDITOR: return edit_outside(tui, entries[0]);
	case RT_ACT_INSERT_BEFORE:
	case RT_ACT_INSERT_AFTER: return insert(tui, action, entries[0]);
	case RT_ACT_ROLE: return pick_role(tui, entries, count);
	case RT_ACT_DELETE: return each(tui, "entry.delete", entries, count, rt_str_at("", 0), "Deleted");
	case RT_ACT_DELETE_BELOW: return delete_below(tui, entries[0]);
	case RT_ACT_GRAFT: return graft(tui, entries, count);
	case RT_ACT_MUTE: return mute(tui, entries, count);
	case RT_ACT_MERGE: return each(tui, "entry.merge", entries, 1, rt_str_at("", 0), "Merged");
	case RT_ACT_VERSIONS: return versions(tui, entries[0]);
	case RT_ACT_COLLAPSE: return collapse(tui, entries, count);
	case RT_ACT_COPY: return copy(tui, entries, count, false);
	case RT_ACT_COPY_PATH: return copy(tui, entries, count, true);
	case RT_ACT_MOVE:
		(void)snprintf(title, sizeof(title), "Move %s before which? (:3, id, label, end)",
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
