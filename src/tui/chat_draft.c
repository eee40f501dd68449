/* SPDX-License-Identifier: MIT
 *
 * The draft: the chat's input as the field "draft" of its discussion. It is written after a pause
 * in typing, before any other change, and at the end; changes of it by others and by undo are shown
 * if nothing was typed since. A file contains all text that is not in the store yet. Commands
 * (slash.c) and text in other panes are only in the file. */
#include "tui/pane_chat_impl.h"

#include <stdio.h>

#include "base/clock_host.h"
#include "tui/draft_host.h"
#include "tui/pending.h"

enum {
	PAUSE_MS = 1000,
	END_MS = 500,     /* the last write may take as long */
	PURGE_CHECKS = 50 /* of the draft's file, which is purged after the store */
};

static void
set_text(rt_buf *buf, rt_str text)
{
	rt_buf_clear(buf);
	rt_buf_add_str(buf, text);
}

/* The draft of the discussion in view, in the scope of the event. */
static rt_str
field_draft(rt_chat *chat)
{
	rt_scope *s = rt_chat_scope(chat);
	rt_str json = rt_fields_get(chat->pane.tui->work.disc->fields, RT_STR("setting.draft"));
	rt_str text = json.ptr == NULL ? RT_STR("") : rt_json_str(rt_json_parse(s, json));

	return text.ptr == NULL ? RT_STR("") : text;
}

static bool
is_typed(const rt_chat *chat)
{
	return !rt_str_eq(rt_field_text(chat->field), rt_buf_str(&chat->draft));
}

/* ---- the file ---- */

/* Text of all panes as one, since there is one input into which it is restored; if all of it is in
 * the store, nothing. */
static rt_str
unsaved_text(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_buf *text = rt_scope_buf(rt_chat_scope(chat));
	bool is_unsaved = is_typed(chat);

	rt_buf_add_str(text, rt_field_text(chat->field));
	for (size_t i = 1; i < tui->pane_count; i++) {
		rt_pane *pane = tui->panes[i];
		rt_str more = pane->closes || pane->ops->written == NULL ? rt_str_at(NULL, 0)
									 : pane->ops->written(pane);

		rt_buf_add_c(text, text->size > 0 && more.size > 0 ? "\n\n" : "");
		rt_buf_add_str(text, more);
		is_unsaved = is_unsaved || more.size > 0;
	}
	return is_unsaved ? rt_scope_str(rt_chat_scope(chat), text) : RT_STR("");
}

static void
save(rt_chat *chat, rt_str text)
{
	if (rt_str_eq(text, rt_buf_str(&chat->saved)))
		return;
	set_text(&chat->saved, text);
	rt_draft_keep(&chat->pane.tui->work, chat->draft_disc, text);
}

/* ---- purges ---- */

/* Mask a text in all that is being written; empty: drop everything that could be restored. */
static void
remove_text(rt_chat *chat, rt_str text)
{
	rt_tui *tui = chat->pane.tui;

	if (text.size > 0)
		RT_TRY(rt_chat_scope(chat), rt_field_mask(chat->field, text));
	for (size_t i = 1; rt_ok(rt_chat_scope(chat)) && i < tui->pane_count; i++)
		if (tui->panes[i]->ops->purged != NULL)
			tui->panes[i]->ops->purged(tui->panes[i], text);
}

/* Did a purge turn one text into the other? Then they differ in letters x only. */
static bool
is_masked(rt_str text, rt_str was)
{
	if (text.size != was.size || text.size == 0 || memcmp(text.ptr, was.ptr, was.size) == 0)
		return false;
	for (size_t i = 0; i < was.size; i++)
		if (text.ptr[i] != was.ptr[i] && text.ptr[i] != 'x')
			return false;
	return true;
}

/* A purge overwrites a text with letters x, without reporting it. So a draft is compared with its
 * earlier text; one that differs in other ways was written by another program. */
static void
remove_masked(rt_chat *chat, rt_buf *draft, rt_str now)
{
	rt_scope *s = rt_chat_scope(chat);
	rt_str was = rt_buf_str(draft);

	if (!is_masked(now, was))
		return;
	for (size_t i = 0, end; i < was.size; i = end) {
		size_t from = i;

		while (from < was.size && now.ptr[from] == was.ptr[from])
			from++;
		/* The purged text may have an x in the middle. */
		for (i = end = from; i < was.size && now.ptr[i] == 'x'; i++)
			if (was.ptr[i] != 'x')
				end = i + 1;
		if (end > from)
			remove_text(chat, rt_str_at(was.ptr + from, end - from));
	}
	if (rt_ok(s))
		set_text(draft, now);
}

static void
check_file(rt_chat *chat)
{
	rt_buf *file = rt_scope_buf(rt_chat_scope(chat));

	if (chat->saved.size > 0 &&
	    rt_draft_read(&chat->pane.tui->work, chat->draft_disc, file))
		remove_masked(chat, &chat->saved, rt_buf_str(file));
}

/* In the store the whole field is overwritten. */
static bool
is_masked_field(rt_str now, rt_str was)
{
	if (now.size == 0 || rt_str_eq(now, was))
		return false;
	for (size_t i = 0; i < now.size; i++)
		if (now.ptr[i] != 'X')
			return false;
	return true;
}

void
rt_chat_purge_draft(rt_chat *chat)
{
	rt_str now = field_draft(chat);

	chat->purge_checks = PURGE_CHECKS;
	remove_text(chat, RT_STR(""));
	check_file(chat);
	if (rt_ok(rt_chat_scope(chat)) && is_masked_field(now, rt_buf_str(&chat->draft))) {
		/* It is unknown which of the texts it was: every text that continues it is
		 * masked. */
		RT_TRY(rt_chat_scope(chat), rt_field_set(chat->field, now));
		set_text(&chat->draft, now);
		save(chat, RT_STR(""));
	}
}

/* ---- the field ---- */

bool
rt_chat_draft_request(rt_pane *pane, rt_request *out)
{
	rt_chat *chat = rt_chat_of(pane);
	const rt_work *work = &pane->tui->work;
	rt_scope *s = rt_chat_scope(chat);
	rt_str text = rt_field_text(chat->field);
	rt_buf *json;

	if (!is_typed(chat) || rt_chat_is_command(text) || chat->draft_failed ||
	    chat->draft_is_theirs || work->read_only || chat->draft_disc != work->place.disc || rt_chat_is_unsent(chat))
		return false;
	json = rt_scope_buf(s);
	if (text.size > 0)
		rt_json_add_string(json, text);
	else
		rt_buf_add_c(json, "null");
	*out = (rt_request){.op = RT_OP_SETTING_SET,
			    .key = RT_STR("draft"),
			    .discussion = rt_tui_format(pane->tui, RT_BY_ID "d%u", chat->draft_disc),
			    .value = rt_json_parse(s, rt_scope_str(s, json))};
	if (rt_ok(s))
		set_text(&chat->draft, text);
	chat->draft_is_pending = rt_ok(s);
	return rt_ok(s);
}

void
rt_chat_draft_written(rt_pane *pane, rt_status st)
{
	rt_chat *chat = rt_chat_of(pane);

	chat->draft_failed = st != RT_OK && st != RT_INTERRUPTED;
	chat->draft_is_pending = false;
	if (chat->draft_disc != pane->tui->work.place.disc)
		return;
	if (st == RT_OK)
		save(chat, unsaved_text(chat));
	else
		set_text(&chat->draft, field_draft(chat));
}

static rt_status
written(rt_tui *tui, void *ctx, rt_status st, rt_work_said *said, const rt_error *err)
{
	(void)said;
	(void)err;
	(void)rt_tui_begin(tui);
	rt_chat_draft_written(ctx, st);
	return rt_tui_end(tui) == RT_NOMEM ? RT_NOMEM : RT_OK;
}

static void
write_draft(rt_chat *chat)
{
	rt_request request;

	if (rt_chat_draft_request(&chat->pane, &request))
		RT_TRY(rt_chat_scope(chat),
		       rt_pending_change_start(
			       chat->pane.tui,
			       &(rt_pending_change_options){.requests = &request,
							    .count = 1,
							    .is_quiet = true,
							    .done = written,
							    .ctx = &chat->pane}));
}

void
rt_chat_store_draft(rt_chat *chat)
{
	if (chat->draft_disc == chat->pane.tui->work.place.disc && chat->pane.tui->pending == NULL)
		write_draft(chat);
}

/* Was there a pause in typing? */
static bool
is_due(rt_chat *chat)
{
	rt_str text = rt_field_text(chat->field);

	if (!rt_str_eq(text, rt_buf_str(&chat->typed))) {
		set_text(&chat->typed, text);
		chat->typed_ms = rt_clock_ms();
		chat->draft_failed = false;
	}
	return text.size <= RT_DRAFT_OFTEN_MAX && rt_clock_ms() - chat->typed_ms >= PAUSE_MS;
}

void
rt_pane_chat_keep(rt_tui *tui, bool always)
{
	rt_chat *chat = rt_chat_of(tui->panes[0]);
	rt_scope *s = &tui->scope;
	rt_str text;

	if (chat->draft_disc != tui->work.place.disc || !rt_ok(s))
		return;
	(void)rt_tui_begin(tui);
	text = unsaved_text(chat);
	if (chat->purge_checks > 0 || !rt_str_eq(text, rt_buf_str(&chat->saved))) {
		chat->purge_checks -= chat->purge_checks > 0;
		check_file(chat); /* before it is overwritten */
		text = unsaved_text(chat);
	}
	if (rt_ok(s) && (always || text.size <= RT_DRAFT_OFTEN_MAX))
		save(chat, text);
	if (chat->draft_is_theirs)
		rt_chat_show_draft(chat);
	if (rt_ok(s) && tui->pending == NULL && (is_due(chat) || always)) {
		write_draft(chat);
		if (always && rt_ok(s))
			RT_TRY(s, rt_pending_change_finish_soon(tui, END_MS));
		if (always && rt_ok(s))
			save(chat, unsaved_text(chat));
	}
	(void)!rt_tui_end(tui); /* a draft is a convenience */
}

void
rt_chat_show_draft(rt_chat *chat)
{
	if (!rt_ok(rt_chat_scope(chat)) || !rt_field_is_empty(chat->field) ||
	    chat->draft.size == 0 || chat->draft_disc != chat->pane.tui->work.place.disc)
		return;
	RT_TRY(rt_chat_scope(chat), rt_field_set(chat->field, rt_buf_str(&chat->draft)));
	chat->draft_is_theirs = false;
}

void
rt_chat_follow_draft(rt_chat *chat)
{
	rt_str text = rt_field_text(chat->field), now = field_draft(chat);

	if (chat->draft_is_pending || rt_str_eq(now, rt_buf_str(&chat->draft)) ||
	    !rt_ok(rt_chat_scope(chat)))
		return;
	if (!is_typed(chat)) {
		RT_TRY(rt_chat_scope(chat), rt_field_set(chat->field, now));
		chat->draft_is_theirs = false;
	} else {
		chat->draft_is_theirs = now.size > 0 && text.size > 0 && !rt_str_eq(now, text);
		if (chat->draft_is_theirs)
			rt_tui_say(chat->pane.tui, "The draft was changed elsewhere: the other "
						   "text appears when the input is empty");
	}
	set_text(&chat->draft, now);
}

void
rt_chat_switch_draft(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_buf *file = rt_scope_buf(rt_chat_scope(chat));
	rt_str text;

	if (chat->draft_disc != 0) {
		/* Only the input belongs to the old discussion: text in other panes led here. */
		save(chat, is_typed(chat) || chat->draft_is_pending ? rt_field_text(chat->field) : RT_STR(""));
		if (!rt_field_is_empty(chat->field))
			rt_field_clear(chat->field);
	}
	chat->draft_disc = tui->work.place.disc;
	chat->draft_is_theirs = false;
	set_text(&chat->draft, field_draft(chat));
	rt_buf_clear(&chat->saved);
	if (rt_draft_read(&tui->work, chat->draft_disc, file))
		rt_buf_add_str(&chat->saved, rt_buf_str(file));
	text = rt_buf_str(chat->saved.size > 0 ? &chat->saved : &chat->draft);
	if (text.size > 0) {
		RT_TRY(rt_chat_scope(chat), rt_field_set(chat->field, text));
		rt_tui_say(tui, "Your unsent text was restored");
	}
}
