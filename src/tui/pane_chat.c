/* SPDX-License-Identifier: MIT
 *
 * Chat: the current take, and the input below it. While an entry is selected keys are verbs
 * (verb.h); Escape, or typing, returns to the input. */
#include "tui/pane_chat_impl.h"

#include <stdio.h>

#include "tui/verb_impl.h"

/* ---- the selection ---- */

void
rt_chat_select(rt_chat *chat, size_t at)
{
	rt_slot slot;

	if (!rt_chat_slot(chat, at, &slot)) {
		chat->pane.screen = RT_SCREEN_CHAT;
		return;
	}
	chat->sel = at;
	chat->sel_entry = slot.entry;
	chat->anchor = 0;
	chat->pane.screen = RT_SCREEN_ENTRY;
}

void
rt_chat_select_none(rt_chat *chat)
{
	chat->points = false;
	chat->mark_count = 0;
	chat->pane.screen = RT_SCREEN_CHAT;
}

static void
select_and_reveal(rt_chat *chat, size_t at)
{
	rt_chat_select(chat, at);
	rt_chat_reveal(chat, at);
}

/* The next visible entry below the selected one; false: none. */
static bool
select_next(rt_chat *chat)
{
	size_t next = chat->sel + 1;

	if (next >= rt_work_count(&chat->pane.tui->work))
		return false;
	next = rt_chat_visible(chat, next, 1);
	if (next <= chat->sel)
		return false;
	select_and_reveal(chat, next);
	return true;
}

static void
show(rt_pane *pane, size_t at)
{
	rt_chat *chat = rt_chat_of(pane);
	rt_slot slot;

	if (at >= rt_work_count(&pane->tui->work))
		return;
	at = rt_chat_visible(chat, at, -1);
	if (rt_chat_selects(chat)) {
		rt_chat_select(chat, at);
	} else {
		chat->points = rt_chat_slot(chat, at, &slot);
		chat->sel = at;
		chat->sel_entry = chat->points ? slot.entry : 0;
	}
	rt_chat_reveal(chat, at);
}

static bool
unmark(rt_chat *chat, uint32_t entry)
{
	for (size_t i = 0; i < chat->mark_count; i++)
		if (chat->marks[i] == entry) {
			memmove(&chat->marks[i], &chat->marks[i + 1],
				(chat->mark_count - i - 1) * sizeof(chat->marks[0]));
			chat->mark_count--;
			return true;
		}
	return false;
}

static void
mark(rt_chat *chat, uint32_t entry)
{
	(void)unmark(chat, entry);
	if (chat->mark_count < RT_CHAT_MARKS)
		chat->marks[chat->mark_count++] = entry;
	else
		rt_tui_say(chat->pane.tui, "%d entries are marked, which is the maximum",
			   (int)RT_CHAT_MARKS);
}

/* Move the selection and the end of the range of marks, which began at the anchor. */
static void
extend_marks(rt_chat *chat, bool up)
{
	size_t was = chat->sel, start = rt_work_position(&chat->pane.tui->work, chat->anchor);
	uint32_t was_entry = chat->sel_entry, anchor = chat->anchor;

	if (anchor == 0 || start == SIZE_MAX) {
		anchor = was_entry;
		start = was;
	}
	if (!up)
		(void)select_next(chat);
	else if (was > 0)
		select_and_reveal(chat, rt_chat_visible(chat, was - 1, -1));
	if (up ? start < was : start > was) { /* back towards the anchor */
		(void)unmark(chat, was_entry);
	} else {
		mark(chat, was_entry);
		mark(chat, chat->sel_entry);
	}
	chat->anchor = anchor;
}

/* Marked entries in the order of the take, else the selected one. */
static size_t
chosen(rt_chat *chat, uint32_t out[RT_CHAT_MARKS])
{
	size_t *at, count = 0;

	if (chat->mark_count == 0) {
		out[0] = chat->sel_entry;
		return 1;
	}
	at = rt_scope_array(rt_chat_scope(chat), chat->mark_count, sizeof(*at));
	for (size_t i = 0; at != NULL && i < chat->mark_count; i++) {
		size_t position = rt_work_position(&chat->pane.tui->work, chat->marks[i]),
		       k = count;

		if (position == SIZE_MAX)
			continue;
		for (; k > 0 && at[k - 1] > position; k--) {
			at[k] = at[k - 1];
			out[k] = out[k - 1];
		}
		at[k] = position;
		out[k] = chat->marks[i];
		count++;
	}
	return count;
}

/* ---- search ---- */

static void
say_not_found(rt_tui *tui, rt_str what)
{
	rt_buf *key = rt_scope_buf(&tui->scope);

	rt_keymap_add_key(tui->keys, RT_SCREEN_CHAT, RT_ACT_DISCUSSIONS, key);
	rt_tui_say(tui, "Not found in this take: %.*s%s%.*s", RT_STR_ARG(what),
		   key->size > 0 ? ".  Search all discussions: " : "", RT_STR_ARG(rt_buf_str(key)));
}

/* A slice of the search; the others follow in further turns of the loop. */
static void
search_on(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_str what = rt_buf_str(&chat->find);
	bool was_reported = chat->search.left < chat->search.all;
	size_t at;

	do {
		if (rt_text_search_next(&chat->search, &tui->work, what, &at)) {
			size_t number, count = rt_text_search_count(&tui->work, what, at, &number);

			if (count > 0)
				rt_tui_say(tui, "Match %zu of %zu", number, count);
			else if (was_reported)
				rt_tui_say(tui, "%s", "");
			show(&chat->pane, at);
			rt_chat_select(chat, at); /* so that n and N continue */
			return;
		}
	} while (chat->search.is_on && tui->terminal == NULL);
	if (chat->search.is_on)
		rt_tui_say(tui, "Searching%s %u%%   Esc stop", tui->canvas.utf8 ? "…" : "...",
			   rt_text_search_percent(&chat->search));
	else
		say_not_found(tui, what);
}

/* From the selected entry on, else from the end. */
static void
search(rt_chat *chat, bool back)
{
	size_t count = rt_work_count(&chat->pane.tui->work);
	bool has_entry = rt_chat_selects(chat) || chat->points;

	if (chat->find.size == 0 || count == 0)
		return;
	rt_text_search_begin(&chat->search, &chat->pane.tui->work,
			     has_entry && chat->sel < count ? chat->sel
			     : back                         ? 0
							    : count - 1,
			     back);
	search_on(chat);
}

static rt_status
search_for(rt_tui *tui, void *ctx, rt_str answer)
{
	rt_chat *chat = ctx;

	if (answer.ptr == NULL)
		return RT_OK;
	(void)rt_tui_begin(tui);
	rt_buf_clear(&chat->find);
	rt_buf_add_str(&chat->find, answer);
	search(chat, true);
	return rt_tui_end(tui);
}

static void
poll_search(rt_pane *pane)
{
	rt_chat *chat = rt_chat_of(pane);

	if (chat->search.is_on)
		search_on(chat);
	pane->tui->has_more = pane->tui->has_more || chat->search.is_on;
}

/* ---- verbs ---- */

static bool
verb(rt_chat *chat, rt_action action, const uint32_t *entries, size_t count)
{
	bool used = false;

	RT_TRY(rt_chat_scope(chat), rt_verb_act(chat->pane.tui, action, entries, count, &used));
	return used;
}

/* Edit the marked entry, else the last one of the user; in place, or in a new take. */
static void
edit_last(rt_chat *chat, rt_action action)
{
	rt_slot slot;

	if (chat->points) {
		(void)verb(chat, action, &chat->sel_entry, 1);
		return;
	}
	for (size_t at = rt_work_head(&chat->pane.tui->work); at-- > 0;) {
		if (!rt_chat_slot(chat, at, &slot))
			break;
		if ((slot.flags & RT_SLOT_TURN) != 0) {
			(void)verb(chat, action, &slot.entry, 1);
			return;
		}
	}
	rt_tui_say(chat->pane.tui, "You have no message before the head");
}

/* A verb on the marked entry, else on the one at the head. */
static void
act_at_head(rt_chat *chat, rt_action action)
{
	rt_slot slot;

	if (chat->points)
		(void)verb(chat, action, &chat->sel_entry, 1);
	else if (rt_work_filters_head(&chat->pane.tui->work))
		rt_tui_say(chat->pane.tui, "The entry at the head is not shown; /only shows all");
	else if (rt_chat_slot(chat, rt_work_head(&chat->pane.tui->work) - 1, &slot))
		(void)verb(chat, action, &slot.entry, 1);
	else
		rt_tui_say(chat->pane.tui, "There is no entry before the head");
}

/* The destination of a navigation to the selected entry: the head's, if only hidden entries are
 * between them. */
static uint32_t
target(rt_chat *chat)
{
	size_t head = rt_work_head(&chat->pane.tui->work);
	rt_slot slot;

	return chat->sel < head && rt_chat_visible(chat, head - 1, -1) == chat->sel &&
			       rt_chat_slot(chat, head - 1, &slot)
		       ? slot.entry
		       : chat->sel_entry;
}

static void
navigated(rt_tui *tui)
{
	rt_chat_select_none(rt_chat_of(tui->panes[0]));
	rt_chat_of(tui->panes[0])->follows = true;
}

/* ---- keys ---- */

/* The first thing that Escape can end. */
static void
cancel(rt_chat *chat, bool escaped)
{
	rt_tui *tui = chat->pane.tui;

	if (rt_work_is_running(&tui->work)) {
		rt_work_stop(&tui->work);
	} else if (chat->points) {
		chat->points = false;
	} else if (chat->find.size > 0) {
		rt_buf_clear(&chat->find);
	} else if (!rt_field_is_empty(chat->field)) {
		rt_chat_put_away(chat);
	} else if (escaped) {
		rt_tui_say_nothing(tui);
		RT_TRY(rt_chat_scope(chat), rt_pane_tree(tui));
		return;
	} else {
		escaped = true;
		rt_tui_say(tui, "Press Escape again for the tree");
	}
	chat->escaped = escaped;
}

static void
interrupt(rt_chat *chat, bool interrupted)
{
	rt_tui *tui = chat->pane.tui;

	if (rt_work_is_running(&tui->work)) {
		rt_work_stop(&tui->work);
	} else if (!rt_field_is_empty(chat->field) || rt_chat_attached_number(chat) > 0) {
		rt_chat_put_away(chat);
	} else if (interrupted) {
		tui->ends = true;
	} else {
		chat->interrupted = true;
		rt_tui_say(tui, "Press Ctrl+C again to quit; nothing is lost");
	}
}

/* Unsaved text is not left by accident. */
static void
quit(rt_chat *chat, bool interrupted)
{
	rt_tui *tui = chat->pane.tui;

	tui->ends = rt_field_is_empty(chat->field) || interrupted;
	if (tui->ends)
		return;
	chat->interrupted = true;
	rt_tui_say(tui, "Press the key again to quit; your text will be restored next time");
}

/* Put a suggestion into the input. A file is attached; a command that needs no words is carried out,
 * if runs. */
static void
accept_suggestion(rt_chat *chat, const rt_chat_suggestion *one, bool runs)
{
	rt_scope *s = rt_chat_scope(chat);
	rt_str name = rt_str_of(one->name), word;
	bool is_attach = rt_chat_is_attach(rt_field_text(chat->field));
	bool is_import = !is_attach && rt_chat_is_file_command(rt_field_text(chat->field));

	chat->slash_at = chat->slash_top = 0;
	if (!one->is_file) {
		RT_TRY(s, rt_field_set(chat->field, rt_tui_format(chat->pane.tui, "/%s%s", one->name,
								  one->words[0] != 0 ? " " : "")));
		if (runs && one->words[0] == 0 && rt_ok(s))
			rt_chat_send(chat);
		return;
	}
	word = rt_chat_file_word(chat);
	RT_TRY(s, rt_field_insert(chat->field, rt_str_skip(name, word.size)));
	if (!rt_ok(s) || is_import || name.ptr[name.size - 1] == '/' || !rt_chat_attach(chat, name))
		return;
	rt_tui_say(chat->pane.tui, "Attached to the next message");
	if (is_attach)
		rt_field_clear(chat->field);
	else
		RT_TRY(s, rt_field_insert(chat->field, RT_STR(" ")));
}

/* The longest beginning that all names share. */
static rt_str
common_beginning(const rt_chat_suggestion list[], int count)
{
	rt_str common = rt_str_of(list[0].name);

	for (int i = 1; i < count; i++) {
		size_t same = 0;

		while (same < common.size && list[i].name[same] == common.ptr[same])
			same++;
		common.size = rt_utf8_cut(common, same);
	}
	return common;
}

/* The selected suggestion, or the only one; else as far as all agree, where those of the command line
 * count if no command of the chat begins so; else select the first one. */
static void
complete(rt_chat *chat)
{
	rt_chat_suggestion list[RT_CHAT_SUGGESTIONS];
	int own, count = rt_chat_suggestions(chat, list, &own);
	rt_str common, word;

	if (chat->slash_at > 0 && chat->slash_at <= count) {
		accept_suggestion(chat, &list[chat->slash_at - 1], false);
		return;
	}
	if (count == 0 && rt_chat_paste_is_folded(chat)) {
		rt_chat_paste_unfold(chat);
		return;
	}
	count = own > 0 ? own : count;
	if (count == 0)
		return;
	common = common_beginning(list, count);
	word = list[0].is_file ? rt_chat_file_word(chat) : rt_str_skip(rt_field_text(chat->field), 1);
	/* Files are sorted: the first one is the name that the others begin with, if there is one. */
	if (count == 1 || (list[0].is_file && list[0].name[common.size] == 0))
		accept_suggestion(chat, &list[0], false);
	else if (common.size > word.size)
		RT_TRY(rt_chat_scope(chat),
		       rt_field_insert(chat->field, rt_str_skip(common, word.size)));
	else
		chat->slash_at = 1;
}

/* Enter after "@PATH": completes or attaches it as Tab does. False: there is no such file. */
static bool
complete_file(rt_chat *chat)
{
	rt_chat_suggestion list[RT_CHAT_SUGGESTIONS];
	rt_str word = rt_chat_file_word(chat);
	int own;

	if (word.ptr == NULL || rt_chat_is_command(rt_field_text(chat->field)) ||
	    rt_chat_is_attached(chat, word) || rt_chat_suggestions(chat, list, &own) == 0)
		return false;
	complete(chat);
	return true;
}

/* Keys for the view. False: not handled. */
static bool
act_view(rt_chat *chat, rt_action action)
{
	rt_tui *tui = chat->pane.tui;
	int page = chat->rows > 2 ? chat->rows - 2 : 1;

	switch (action) {
	case RT_ACT_PAGE_UP:
	case RT_ACT_PAGE_DOWN:
		rt_chat_scroll(chat, action == RT_ACT_PAGE_UP ? -page : page);
		chat->points = chat->points && rt_chat_is_visible(chat, chat->sel);
		return true;
	case RT_ACT_TOOLS: tui->shows_tools = !tui->shows_tools; return true;
	case RT_ACT_THINKING: tui->shows_thinking = !tui->shows_thinking; return true;
	case RT_ACT_SEARCH:
		RT_TRY(rt_chat_scope(chat),
		       rt_pane_ask(tui, "Find in this take", rt_buf_str(&chat->find), false,
				   search_for, chat, NULL));
		if (rt_ok(rt_chat_scope(chat)))
			rt_pane_ask_replaces(tui);
		return true;
	case RT_ACT_FIND_NEXT: search(chat, false); return true;
	case RT_ACT_FIND_PREVIOUS: search(chat, true); return true;
	case RT_ACT_LAST_USER: edit_last(chat, RT_ACT_EDIT); return true;
	default: return false;
	}
}

static bool
act_verb(rt_chat *chat, rt_action action)
{
	uint32_t entries[RT_CHAT_MARKS];
	bool used = verb(chat, action, entries, chosen(chat, entries));

	if (!used)
		return false;
	switch (action) {
	case RT_ACT_BRANCH:
	case RT_ACT_AGAIN:
	case RT_ACT_CONTINUE: /* after this, a text is being written */
		rt_chat_select_none(chat);
		chat->follows = true;
		break;
	case RT_ACT_DELETE:
	case RT_ACT_DELETE_BELOW:
	case RT_ACT_MUTE:
	case RT_ACT_ROLE: chat->mark_count = 0; break;
	default: break;
	}
	return true;
}

static void
say_marks(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_buf *key = rt_scope_buf(rt_chat_scope(chat)), *more = rt_scope_buf(rt_chat_scope(chat));

	rt_keymap_add_key(tui->keys, RT_SCREEN_ENTRY, RT_ACT_MARK_NONE, key);
	rt_keymap_add_key(tui->keys, RT_SCREEN_ENTRY, RT_ACT_MARK_UP, more);
	rt_buf_add_c(more, more->size > 0 ? ", " : "");
	rt_keymap_add_key(tui->keys, RT_SCREEN_ENTRY, RT_ACT_MARK_DOWN, more);
	if (chat->mark_count == 0)
		rt_tui_say(tui, "No entry is marked");
	else if (chat->mark_count < RT_CHAT_MARKS)
		rt_tui_say(tui, "%zu marked: keys act on the marked entries%s%.*s%s%s%.*s%s",
			   chat->mark_count, key->size > 0 ? " (" : "", RT_STR_ARG(rt_buf_str(key)),
			   key->size > 0 ? " unmarks)" : "", more->size > 0 ? "   " : "",
			   RT_STR_ARG(rt_buf_str(more)), more->size > 0 ? " mark more" : "");
}

/* With an entry selected. */
static bool
act_entry(rt_chat *chat, rt_action action)
{
	rt_tui *tui = chat->pane.tui;
	rt_scope *s = rt_chat_scope(chat);

	switch (action) {
	case RT_ACT_UP:
		if (chat->sel > 0)
			select_and_reveal(chat, rt_chat_visible(chat, chat->sel - 1, -1));
		return true;
	case RT_ACT_DOWN:
		if (!select_next(chat))
			rt_chat_select_none(chat);
		return true;
	case RT_ACT_HOME: select_and_reveal(chat, rt_chat_visible(chat, 0, 1)); return true;
	case RT_ACT_END:
		select_and_reveal(chat, rt_chat_visible(chat, rt_work_count(&tui->work) - 1, -1));
		return true;
	case RT_ACT_CANCEL:
		if (chat->mark_count > 0) {
			chat->mark_count = 0;
		} else if (!rt_verb_navigate_stop(tui)) {
			rt_chat_select_none(chat);
			chat->follows = rt_chat_is_at_end(chat);
		}
		return true;
	case RT_ACT_MARK:
		if (!unmark(chat, chat->sel_entry))
			mark(chat, chat->sel_entry);
		say_marks(chat);
		return true;
	case RT_ACT_MARK_UP:
	case RT_ACT_MARK_DOWN:
		extend_marks(chat, action == RT_ACT_MARK_UP);
		say_marks(chat);
		return true;
	case RT_ACT_MARK_NONE:
		chat->mark_count = 0;
		say_marks(chat);
		return true;
	case RT_ACT_ACCEPT:
		RT_TRY(s, rt_verb_navigate(tui, target(chat), true, navigated));
		return true;
	case RT_ACT_PREVIEW: RT_TRY(s, rt_verb_read(tui, chat->sel_entry)); return true;
	default: return act_view(chat, action) || act_verb(chat, action);
	}
}

/* Down and Up select suggestions, Enter takes the selected one. Up is the input history's above the
 * first one. */
static bool
act_suggestion(rt_chat *chat, rt_action action)
{
	rt_chat_suggestion list[RT_CHAT_SUGGESTIONS];
	int own, count;

	if (action == RT_ACT_COMPLETE)
		return false;
	count = action == RT_ACT_DOWN || chat->slash_at > 0 ? rt_chat_suggestions(chat, list, &own) : 0;
	if (chat->slash_at > count)
		chat->slash_at = count;
	if (count > 0 && action == RT_ACT_DOWN) {
		chat->slash_at += chat->slash_at < count;
		return true;
	}
	if (chat->slash_at > 1 && action == RT_ACT_UP) {
		chat->slash_at--;
		return true;
	}
	if (chat->slash_at > 0 && action == RT_ACT_ACCEPT) {
		accept_suggestion(chat, &list[chat->slash_at - 1], true);
		return true;
	}
	chat->slash_at = chat->slash_top = 0;
	return false;
}

static bool
act_input(rt_chat *chat, rt_action action)
{
	bool used = false;

	if (action == RT_ACT_UP && rt_field_is_empty(chat->field) && rt_chat_attached_restore(chat))
		return true;
	if (action == RT_ACT_UP)
		rt_chat_load_history(chat);
	RT_TRY(rt_chat_scope(chat), rt_field_act(chat->field, action, chat->columns - 4, &used));
	if (action == RT_ACT_UP && !rt_field_is_empty(chat->field))
		(void)rt_chat_attached_restore(chat);
	return used;
}

/* While a text is being written. */
static bool
act_writing(rt_chat *chat, rt_action action)
{
	rt_tui *tui = chat->pane.tui;
	bool escaped = chat->escaped, interrupted = chat->interrupted;
	size_t count = rt_work_count(&tui->work);

	chat->escaped = chat->interrupted = false;
	if (act_suggestion(chat, action))
		return true;
	switch (action) {
	case RT_ACT_ACCEPT:
		if (!complete_file(chat))
			rt_chat_send(chat);
		return true;
	case RT_ACT_CANCEL: cancel(chat, escaped); return true;
	case RT_ACT_CLEAR: interrupt(chat, interrupted); return true;
	case RT_ACT_QUIT: quit(chat, interrupted); return true;
	case RT_ACT_COPY:
	case RT_ACT_LABEL: act_at_head(chat, action); return true;
	case RT_ACT_AGAIN:
	case RT_ACT_CONTINUE:
		if (chat->points)
			act_at_head(chat, action);
		return chat->points;
	case RT_ACT_NEW: RT_TRY(rt_chat_scope(chat), rt_slash_new(tui)); return true;
	case RT_ACT_EDITOR: rt_tui_edit_field(tui, chat->field, "message.md"); return true;
	case RT_ACT_EDIT_AS_TAKE: edit_last(chat, action); return true;
	case RT_ACT_COMPLETE: complete(chat); return true;
	case RT_ACT_SELECT:
		if (count > 0)
			select_and_reveal(chat, chat->points && chat->sel < count
							? chat->sel
							: rt_chat_visible(chat, count - 1, -1));
		return true;
	case RT_ACT_HOME:
		chat->follows = chat->points = false;
		chat->top = 0;
		chat->top_row = 0;
		return true;
	case RT_ACT_END:
		chat->points = false;
		rt_chat_scroll_to_end(chat);
		return true;
	case RT_ACT_YANK:
		RT_TRY(rt_chat_scope(chat), rt_field_insert(chat->field, rt_buf_str(&tui->clip)));
		return true;
	default: return act_view(chat, action) || act_input(chat, action);
	}
}

static bool
act(rt_pane *pane, rt_action action)
{
	rt_chat *chat = rt_chat_of(pane);
	size_t size = rt_field_text(chat->field).size, cursor = rt_field_cursor(chat->field);
	bool used;

	if (chat->search.is_on && action == RT_ACT_CANCEL) {
		chat->search.is_on = false;
		rt_tui_say(pane->tui, "The search was stopped");
		return true;
	}
	used = rt_chat_selects(chat) ? act_entry(chat, action) : act_writing(chat, action);
	rt_chat_paste_follow(chat, size, cursor);
	return used;
}

/* Text, and the keys of fields. */
static bool
key(rt_pane *pane, rt_key pressed)
{
	rt_chat *chat = rt_chat_of(pane);
	size_t size = rt_field_text(chat->field).size, cursor = rt_field_cursor(chat->field);
	bool used = false;
	rt_action action;

	if (rt_chat_selects(chat)) {
		if (!rt_keymap_is_text(pane->tui->keys, RT_SCREEN_ENTRY, pressed))
			return false;
		rt_chat_select_none(chat);
	}
	if (rt_key_is_text(pressed)) {
		if (pressed.code == '?' && rt_field_is_empty(chat->field)) {
			RT_TRY(rt_chat_scope(chat), rt_tui_act(pane->tui, RT_ACT_HELP));
			return true;
		}
		chat->escaped = chat->interrupted = false;
		chat->slash_at = chat->slash_top = 0;
		RT_TRY(rt_chat_scope(chat), rt_field_key(chat->field, pressed, &used));
		rt_chat_paste_follow(chat, size, cursor);
		return used;
	}
	action = rt_keymap_action(pane->tui->keys, RT_SCREEN_FIELD, pressed);
	if (action == RT_ACT_NONE ||
	    (action == RT_ACT_ERASE_NEXT && rt_field_is_empty(chat->field)))
		return false;
	if (action == RT_ACT_ERASE && rt_field_cursor(chat->field) == 0 && rt_chat_detach_last(chat))
		return true;
	return act(pane, action);
}

static void
paste(rt_pane *pane, rt_str text)
{
	rt_chat *chat = rt_chat_of(pane);

	if (rt_chat_selects(chat))
		rt_chat_select_none(chat);
	rt_chat_paste(chat, text);
}

/* The wheel scrolls. A click selects an entry, anywhere else it ends the selection; on the signs of a
 * fork ("< 1/2 >") it goes to another take. */
static rt_mouse_use
mouse(rt_pane *pane, const rt_mouse *m)
{
	enum { ROWS = 3 };
	rt_chat *chat = rt_chat_of(pane);
	const rt_canvas *c = &pane->tui->canvas;
	bool is_head = false, is_selected;
	size_t item;
	uint32_t sign;

	if (m->kind != RT_MOUSE_PRESS) {
		rt_chat_scroll(chat, m->kind == RT_MOUSE_WHEEL_UP ? -ROWS : ROWS);
		chat->points = chat->points && rt_chat_is_visible(chat, chat->sel);
		return RT_MOUSE_USED;
	}
	item = rt_chat_item_at(chat, m->y, &is_head);
	is_selected = rt_chat_selects(chat) && chat->sel == item;
	rt_chat_select(chat, item); /* none, if there is no entry */
	if (!rt_chat_selects(chat))
		return RT_MOUSE_UNUSED;
	sign = c->cells[(size_t)m->y * (size_t)c->columns + (size_t)m->x].ch;
	for (size_t i = 0; is_head && i < chat->fork_count; i++)
		if (chat->forks[i].at == item && (sign == '<' || sign == '>')) {
			(void)verb(chat, sign == '<' ? RT_ACT_TAKE_PREVIOUS : RT_ACT_TAKE_NEXT,
				   &chat->sel_entry, 1);
			return RT_MOUSE_UNUSED;
		}
	return is_selected ? RT_MOUSE_ENTER : RT_MOUSE_USED;
}

/* ---- changes ---- */

/* Verbs act on entries of the current take. */
static void
drop_lost_marks(rt_chat *chat)
{
	size_t kept = 0;

	for (size_t i = 0; i < chat->mark_count; i++)
		if (rt_work_position(&chat->pane.tui->work, chat->marks[i]) != SIZE_MAX)
			chat->marks[kept++] = chat->marks[i];
	chat->mark_count = kept;
}

static void
value_changed(rt_chat *chat)
{
	rt_work *work = &chat->pane.tui->work;
	bool is_other_disc = chat->disc_seen != work->place.disc;

	chat->value_seen = work->value_change;
	if (chat->draft_disc != work->place.disc)
		rt_chat_switch_draft(chat);
	if (is_other_disc || chat->take_seen != work->place.take)
		chat->points = false;
	if (chat->epoch != 0 && chat->epoch != work->epoch)
		rt_chat_forget_purged(chat);
	chat->epoch = work->epoch;
	rt_chat_follow_draft(chat);
	chat->disc_seen = work->place.disc;
	chat->take_seen = work->place.take;
	chat->follows = chat->follows || is_other_disc;
	drop_lost_marks(chat);
	rt_chat_find_forks(chat);
}

/* The selected entry is gone. If we deleted it, its neighbour is selected; if others did, nothing
 * is, since the next key is not meant for its neighbour. */
static void
lose_selection(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	size_t count = rt_work_count(&tui->work);

	if (count > 0 && tui->is_own) {
		rt_chat_select(chat, chat->sel < count ? chat->sel : count - 1);
		return;
	}
	rt_chat_select_none(chat);
	if (tui->notice.size > 0 && !tui->notice_fades)
		rt_buf_add_c(&tui->notice, ".  The selected entry no longer exists");
	else
		rt_tui_say_done(tui, "The selected entry no longer exists");
}

static void
changed(rt_pane *pane)
{
	rt_chat *chat = rt_chat_of(pane);
	rt_work *work = &pane->tui->work;
	bool is_other_take = chat->take_seen != work->place.take;

	if (chat->value_seen != work->value_change)
		value_changed(chat);
	if (chat->points) {
		chat->sel = rt_work_position(work, chat->sel_entry);
		chat->points = chat->sel != SIZE_MAX;
	}
	if (rt_chat_selects(chat)) {
		size_t at = rt_work_position(work, chat->sel_entry);

		if (at != SIZE_MAX)
			chat->sel = at;
		else
			lose_selection(chat);
	}
	if (is_other_take && rt_chat_selects(chat))
		rt_chat_reveal(chat, chat->sel);
}

static void
free_chat(rt_pane *pane)
{
	rt_chat *chat = rt_chat_of(pane);

	rt_chat_forget(chat);
	rt_field_free(chat->field);
	rt_field_free(chat->shown);
	rt_buf_deinit(&chat->find);
	rt_buf_deinit(&chat->sent);
	rt_buf_deinit(&chat->draft);
	rt_buf_deinit(&chat->saved);
	rt_buf_deinit(&chat->typed);
	rt_buf_deinit(&chat->attached);
	rt_buf_deinit(&chat->attached_rows);
	rt_buf_deinit(&chat->attached_sent);
	rt_buf_deinit(&chat->cleared);
	rt_buf_deinit(&chat->cleared_files);
	rt_buf_deinit(&chat->checked);
	rt_free(pane->tui->alloc, chat->forks);
	rt_free(pane->tui->alloc, chat);
}

rt_status
rt_pane_chat(rt_tui *tui)
{
	static const rt_pane_ops ops = {.screen = RT_SCREEN_CHAT,
					.draw = rt_chat_draw,
					.act = act,
					.key = key,
					.mouse = mouse,
					.paste = paste,
					.changed = changed,
					.poll = poll_search,
					.free = free_chat};
	static const rt_chat_ops chat_ops = {rt_chat_fill,         rt_chat_remember_input,
					     rt_chat_return_line,
					     show,
					     rt_chat_question,      rt_chat_send_message,
					     rt_chat_draft_request,
					     rt_chat_draft_written, rt_slashes,
					     rt_slash_run};
	rt_chat *chat = rt_new0(tui->alloc, sizeof(*chat));

	if (chat == NULL)
		return RT_NOMEM;
	tui->chat = &chat_ops;
	chat->pane.ops = &ops;
	chat->pane.tui = tui;
	chat->follows = true;
	chat->rows = 1;
	rt_buf_init(&chat->find, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->sent, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->draft, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->saved, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->typed, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->attached, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->attached_rows, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->attached_sent, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->cleared, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->cleared_files, tui->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&chat->checked, tui->alloc, RT_BUF_UNLIMITED);
	if (rt_field_new(tui->alloc, true, &chat->field) != RT_OK ||
	    rt_field_new(tui->alloc, true, &chat->shown) != RT_OK) {
		free_chat(&chat->pane);
		return RT_NOMEM;
	}
	return rt_tui_push(tui, &chat->pane);
}
