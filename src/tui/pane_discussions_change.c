/* SPDX-License-Identifier: MIT
 *
 * What the list of discussions does with the row under the cursor: opening it in the chat, names,
 * tags, pins, the archive, deletion; and new discussions. Names and tags are typed in another pane
 * (rt_pane_ask). */
#include <stdio.h>

#include "tui/pane_discussions_impl.h"

enum {
	FEW_ENTRIES = 3, /* a discussion with more, and the current one, is deleted only after a
			  * confirmation */
	TITLE_MAX = 40   /* characters of a title in the question */
};

/* ---- opening the chosen row ---- */

/* By present names. */
static void
open_hit(rt_tui *tui, const rt_hit *hit)
{
	rt_work *work = &tui->work;
	rt_switch_place p = {.disc = rt_project_disc_named(work->value, hit->discussion)};
	const rt_disc *disc = NULL;
	rt_error err;

	if (hit->at == 0) {
		rt_tui_say(tui, "That entry was deleted. To restore it: F3, then Ctrl+R on the deletion");
		return;
	}
	if (p.disc == 0 || hit->id.size > RT_ID_MAX) {
		rt_tui_say(tui, "That discussion no longer exists");
		return;
	}
	if (!rt_tui_ok(tui, rt_project_disc(work->value, p.disc, &disc, &err), &err))
		return;
	p.take = rt_disc_take_named(disc, hit->take);
	rt_switch_to(tui, p, hit->id);
}

void
rt_discussions_accept(rt_discussions *d)
{
	const rt_discussions_row *r = rt_discussions_at_cursor(d);

	if (r == NULL)
		return;
	if (r->hit != NULL)
		open_hit(d->pane.tui, r->hit);
	else if (r->disc->absent)
		rt_tui_say(d->pane.tui,
			   "That discussion was deleted. To restore it: F3, then Ctrl+R on the "
			   "deletion");
	else
		rt_switch_to(d->pane.tui, rt_discussions_place(r), RT_STR(""));
}

/* ---- changes ---- */

/* An operation that waits for a name. */
typedef struct naming {
	rt_op_id op;
	rt_switch_place on;
} naming;

static rt_status
named(rt_tui *tui, void *ctx, rt_str name)
{
	const naming *n = ctx;
	rt_request request;

	if (name.ptr == NULL)
		return RT_OK;
	(void)rt_tui_begin(tui);
	request = rt_switch_request(tui, n->op, n->on);
	request.name = name;
	/* The new discussion is the one to show. */
	rt_switch_change(tui, &request, n->op == RT_OP_DISCUSSION_NEW);
	return rt_tui_end(tui);
}

static void
free_naming(rt_tui *tui, void *ctx)
{
	rt_free(tui->alloc, ctx);
}

static void
ask_name(rt_tui *tui, const char *title, rt_str name, rt_op_id op, rt_switch_place on)
{
	naming *n = rt_new(tui->alloc, sizeof(*n));

	if (n == NULL) {
		(void)rt_scope_nomem(&tui->scope);
		return;
	}
	*n = (naming){op, on};
	RT_TRY(&tui->scope, rt_pane_ask(tui, title, name, false, named, n, free_naming));
}

/* ---- pins, archive, tags ---- */

static void
set_listed(rt_discussions *d, const rt_discussions_row *r, rt_str key, rt_str json)
{
	rt_request request = {.op = RT_OP_SETTING_SET,
			      .discussion = rt_tui_format(d->pane.tui, RT_BY_ID "d%u", r->disc->number),
			      .key = key,
			      .value = rt_json_parse(rt_discussions_scope(d), json)};

	rt_switch_change(d->pane.tui, &request, false);
}

void
rt_discussions_toggle(rt_discussions *d, rt_str key, bool is_on)
{
	const rt_discussions_row *r = rt_discussions_at_cursor(d);

	if (r != NULL && r->disc != NULL)
		set_listed(d, r, key, is_on ? RT_STR("null") : RT_STR("true"));
}

/* The tags of a line: "work/db, urgent". */
static rt_status
tagged(rt_tui *tui, void *ctx, rt_str line)
{
	const naming *n = ctx;
	rt_scope *s = &tui->scope;
	rt_buf *json;
	size_t count = 0;

	if (line.ptr == NULL)
		return RT_OK;
	(void)rt_tui_begin(tui);
	json = rt_scope_buf(s);
	rt_json_open(json, NULL, '[');
	for (size_t from = 0; from <= line.size;) {
		size_t end = rt_str_find(line, RT_STR(","), from);

		end = end == SIZE_MAX ? line.size : end;
		rt_str tag = rt_str_trim(rt_str_at(line.ptr + from, end - from));
		if (tag.size > 0) {
			rt_json_put_str(json, NULL, tag);
			count++;
		}
		from = end + 1;
	}
	rt_json_close(json, ']');
	rt_request request = {.op = RT_OP_SETTING_SET,
			      .discussion = rt_tui_format(tui, RT_BY_ID "d%u", n->on.disc),
			      .key = RT_STR("tags"),
			      .value = rt_json_parse(s, count > 0 ? rt_scope_str(s, json)
								  : RT_STR("null"))};
	rt_switch_change(tui, &request, false);
	return rt_tui_end(tui);
}

void
rt_discussions_ask_tags(rt_discussions *d)
{
	rt_tui *tui = d->pane.tui;
	const rt_discussions_row *r = rt_discussions_at_cursor(d);
	naming *n;

	if (r == NULL || r->disc == NULL)
		return;
	rt_buf *line = rt_scope_buf(rt_discussions_scope(d));
	for (size_t i = 0; i < r->disc->tag_count; i++) {
		rt_buf_add_c(line, i > 0 ? ", " : "");
		rt_buf_add_str(line, r->disc->tags[i]);
	}
	n = rt_new(tui->alloc, sizeof(*n));
	if (n == NULL) {
		(void)rt_scope_nomem(&tui->scope);
		return;
	}
	*n = (naming){RT_OP_SETTING_SET, rt_discussions_place(r)};
	RT_TRY(&tui->scope, rt_pane_ask(tui, "Tags, separated by commas; work/db is nested in work",
					rt_scope_str(rt_discussions_scope(d), line), false, tagged,
					n, free_naming));
}

/* "discussion-2", or the next free number. */
void
rt_discussions_ask_new(rt_discussions *d)
{
	rt_tui *tui = d->pane.tui;
	unsigned number = 2;
	char name[40];

	do
		(void)snprintf(name, sizeof(name), "discussion-%u", number++);
	while (rt_project_disc_named(tui->work.value, rt_str_of(name)) != 0);
	ask_name(tui, "Name of the new discussion", rt_str_of(name), RT_OP_DISCUSSION_NEW,
		 (rt_switch_place){0});
}

void
rt_discussions_ask_rename(rt_discussions *d)
{
	const rt_discussions_row *r = rt_discussions_at_cursor(d);

	if (r == NULL || r->disc == NULL)
		return;
	if (r->take != NULL)
		ask_name(d->pane.tui, "New name of the take", r->take->name, RT_OP_TAKE_RENAME,
			 rt_discussions_place(r));
	else
		ask_name(d->pane.tui, "New name of the discussion", r->disc->title,
			 RT_OP_DISCUSSION_RENAME, rt_discussions_place(r));
}

void
rt_discussions_ask_promote(rt_discussions *d)
{
	const rt_discussions_row *r = rt_discussions_at_cursor(d);

	if (r != NULL && r->take != NULL)
		ask_name(d->pane.tui, "Name of the new discussion for this take", r->take->name,
			 RT_OP_TAKE_PROMOTE, rt_discussions_place(r));
	else
		rt_tui_say(d->pane.tui, "Only a take can become a separate discussion: open the "
					"discussion's takes and choose one");
}

/* ---- deletion ---- */

static void
delete_place(rt_tui *tui, rt_switch_place p)
{
	rt_request request = rt_switch_request(
		tui, p.take != 0 ? RT_OP_TAKE_DELETE : RT_OP_DISCUSSION_DELETE, p);

	rt_switch_change(tui, &request, false);
}

static rt_status
confirmed(rt_tui *tui, void *ctx, rt_str answer)
{
	const naming *n = ctx;

	if (answer.ptr == NULL)
		return RT_OK;
	(void)rt_tui_begin(tui);
	delete_place(tui, n->on);
	return rt_tui_end(tui);
}

/* Enter deletes, Escape does not: no letters, which may have been meant for the search. */
static void
ask_delete(rt_discussions *d, const rt_disc_row *disc)
{
	rt_tui *tui = d->pane.tui;
	rt_scope *s = rt_discussions_scope(d);
	rt_buf *key = rt_scope_buf(s), *question = rt_scope_buf(s);
	rt_choice choice = {"enter", "delete", "Delete it"};
	naming *n = rt_new(tui->alloc, sizeof(*n));

	if (n == NULL) {
		(void)rt_scope_nomem(s);
		return;
	}
	*n = (naming){RT_OP_DISCUSSION_DELETE, {disc->number, 0}};
	rt_buf_add_f(question, "Delete the discussion \"%.*s\" and its ",
		     RT_STR_ARG(rt_first_words(s, disc->title, TITLE_MAX)));
	if (disc->takes > 1)
		rt_buf_add_f(question, "%zu takes?", disc->takes);
	else
		rt_buf_add_f(question, "%zu %s?", disc->entries,
			     disc->entries == 1 ? "entry" : "entries");
	rt_keymap_add_key(tui->keys, RT_SCREEN_DISCUSSIONS, RT_ACT_UNDO, key);
	if (key->size > 0)
		choice.what = rt_tui_format(tui, "Delete it; %.*s restores it",
					    RT_STR_ARG(rt_buf_str(key)))
				      .ptr;
	RT_TRY(s, rt_pane_choose(tui, rt_tui_format(tui, "%.*s", RT_STR_ARG(rt_scope_str(s, question))).ptr,
				 &choice, 1, confirmed, n, free_naming));
}

void
rt_discussions_delete(rt_discussions *d)
{
	const rt_discussions_row *r = rt_discussions_at_cursor(d);

	if (r == NULL || r->disc == NULL)
		return;
	if (r->take == NULL && !r->disc->absent &&
	    (r->disc->entries > FEW_ENTRIES || (r->disc->active && r->disc->entries > 0)))
		ask_delete(d, r->disc);
	else
		delete_place(d->pane.tui, rt_discussions_place(r));
}
