/* SPDX-License-Identifier: MIT
 *
 * The chat's input: sending it, and the input history. Its draft: chat_draft.c. */
#include "tui/pane_chat_impl.h"

#include "app/input_history_host.h"
#include "tui/verb_impl.h"

/* ---- the input history ---- */

static rt_input_history_key
history_key(const rt_tui *tui)
{
	return (rt_input_history_key){rt_buf_str(&tui->work.state), rt_str_of(tui->work.store_path),
				      rt_session_project(tui->session)};
}

static void
load_one(void *ctx, rt_str text)
{
	rt_chat *chat = ctx;

	if (rt_field_remember(chat->field, text) != RT_OK)
		chat->has_history = false; /* try again the next time */
}

void
rt_chat_load_history(rt_chat *chat)
{
	rt_input_history_key key = history_key(chat->pane.tui);

	if (chat->has_history)
		return;
	chat->has_history = true;
	rt_input_history_each(chat->pane.tui->alloc, &key, load_one, chat);
}

void
rt_chat_remember(rt_chat *chat, rt_str text)
{
	rt_input_history_key key = history_key(chat->pane.tui);

	rt_chat_load_history(chat);
	rt_input_history_add(chat->pane.tui->alloc, &key, text);
	RT_TRY(rt_chat_scope(chat), rt_field_remember(chat->field, text));
}

void
rt_chat_put_away(rt_chat *chat)
{
	size_t files = rt_chat_attached_number(chat);
	bool has_text = !rt_field_is_empty(chat->field);
	const char *name = files == 1 ? "the attached file" : "all attached files";

	if (has_text)
		rt_chat_remember(chat, rt_field_text(chat->field));
	if (has_text && files > 0)
		rt_tui_say(chat->pane.tui, "Cleared the text and %s.  Both were kept: press Up", name);
	else if (has_text)
		rt_tui_say(chat->pane.tui, "Cleared the input.  The text was kept: press Up");
	else
		rt_tui_say(chat->pane.tui, "Removed %s from the message.  Up attaches %s again", name,
			   files == 1 ? "it" : "them");
	rt_chat_attached_clear(chat);
	rt_field_clear(chat->field);
	rt_chat_store_draft(chat); /* otherwise a command would bring the text back */
}

/* ---- sending ---- */

/* If the last entry is a question, answers it. */
static void
request_reply(rt_chat *chat)
{
	rt_slot slot;

	if (!rt_chat_slot(chat, rt_work_head(&chat->pane.tui->work) - 1, &slot) ||
	    (slot.flags & RT_SLOT_TURN) == 0)
		return;
	chat->follows = true;
	rt_buf_clear(&chat->sent);
	RT_TRY(rt_chat_scope(chat),
	       rt_verb_run(chat->pane.tui, &(rt_run_request){.how = RT_RUN_ASK}));
}

/* After what the command said. */
static void
say_draft_is_back(rt_chat *chat)
{
	const rt_str words = RT_STR("Your draft was restored");
	rt_tui *tui = chat->pane.tui;

	if (rt_tui_top(tui) != &chat->pane || rt_field_is_empty(chat->field) ||
	    rt_str_find(rt_buf_str(&tui->notice), words, 0) != SIZE_MAX)
		return;
	rt_buf_add_c(&tui->notice, tui->notice.size > 0 ? ".  " : "");
	rt_buf_add_str(&tui->notice, words);
}

/* The field is cleared before, because commands may fill it. */
static void
send_command(rt_chat *chat, rt_str text)
{
	rt_tui *tui = chat->pane.tui;
	rt_scope *s = rt_chat_scope(chat);
	rt_str line = rt_scope_copy(s, rt_str_trim(text));
	bool known = true, is_back;

	rt_chat_remember(chat, line);
	rt_field_clear(chat->field);
	rt_chat_show_draft(chat);
	is_back = !rt_field_is_empty(chat->field);
	RT_TRY(s, rt_slash_run(tui, line, &known));
	if (tui->work.only.size > 0 && tui->panes[0] == &chat->pane)
		chat->mark_count = 0; /* some may be of entries that are not shown now */
	if (is_back && rt_ok(s) && known)
		say_draft_is_back(chat);
	if (!rt_ok(s) || known)
		return;
	rt_str rest = line, verb = line;
	rt_buf *names = rt_scope_buf(s);

	(void)rt_str_split(&rest, ' ', &verb);
	rt_tui_say_str(tui,
		       rt_slash_add_ambiguous(tui, verb, names)
			       ? rt_tui_format(tui, "%.*s is not unique: %.*s", RT_STR_ARG(verb),
					       RT_STR_ARG(rt_scope_str(s, names)))
			       : rt_tui_format(tui,
					       "There is no command %.*s. /help lists the commands; to "
					       "send a message that begins with a slash, type //",
					       RT_STR_ARG(verb)),
		       RT_INK_ERROR);
	RT_TRY(s, rt_field_set(chat->field, line));
}

rt_status
rt_chat_send_message(rt_pane *pane, rt_str text, const rt_str *models, size_t count, rt_error *err)
{
	rt_chat *chat = rt_chat_of(pane);
	rt_tui *tui = pane->tui;
	uint32_t from = tui->work.value->next_entry;
	rt_str input = rt_field_text(chat->field);
	yyjson_val *content;
	rt_scope s;
	rt_status st;

	rt_scope_init(&s, tui->alloc);
	if (count > 0)
		RT_TRY(&s, rt_chat_check_named(chat, text, &s.error));
	content = rt_chat_attached_content(chat, &s, text);
	if (rt_ok(&s))
		RT_TRY(&s, rt_work_run_several(&tui->work,
					       &(rt_run_request){.how = RT_RUN_ASK,
								 .text = text,
								 .content = content,
								 .clears_draft = chat->draft.size > 0 &&
										 !chat->draft_is_theirs},
					       models, count, &s.error));
	st = rt_scope_end(&s, err);
	if (st != RT_OK)
		return st;
	rt_buf_clear(&chat->sent);
	rt_buf_add_str(&chat->sent, text);
	chat->sent_from = from;
	rt_chat_attached_sent(chat);
	if (count > 0 && rt_chat_is_command(input)) /* it was not the question */
		rt_chat_remember(chat, input);
	rt_chat_remember(chat, text);
	rt_field_clear(chat->field);
	chat->points = false;
	rt_tui_say_nothing(tui);
	chat->follows = true;
	return RT_OK;
}

void
rt_chat_send(rt_chat *chat)
{
	rt_tui *tui = chat->pane.tui;
	rt_str text = rt_field_text(chat->field);
	rt_error err;
	rt_status st;

	if (rt_str_trim(text).size == 0) {
		request_reply(chat);
		return;
	}
	if (rt_chat_is_command(text)) {
		send_command(chat, text);
		return;
	}
	if (!rt_chat_attach_named(chat))
		return;
	if (text.ptr[0] == '/')
		text = rt_str_at(text.ptr + 1, text.size - 1);
	st = rt_chat_send_message(&chat->pane, text, NULL, 0, &err);
	if (st == RT_NOMEM)
		RT_TRY(rt_chat_scope(chat), st);
	else if (st != RT_OK) /* the text stays in the input */
		rt_tui_say_error(
			tui, &err,
			rt_work_is_running(&tui->work)
				? RT_STR("Your text is kept; press Enter again after the reply")
				: rt_buf_str(&tui->work.hint));
}

rt_str
rt_chat_question(rt_pane *pane)
{
	rt_str text = rt_field_text(rt_chat_of(pane)->field);

	return rt_chat_is_command(text) ? RT_STR("") : text;
}

rt_status
rt_pane_chat_return(rt_tui *tui)
{
	rt_chat *chat = rt_chat_of(tui->panes[0]);

	if (chat->sent.size == 0 || !rt_field_is_empty(chat->field))
		return RT_OK;
	rt_chat_attached_return(chat);
	return rt_field_set(chat->field, rt_buf_str(&chat->sent));
}

void
rt_chat_return_line(rt_pane *pane, rt_str line)
{
	rt_chat *chat = rt_chat_of(pane);

	if (rt_field_is_empty(chat->field))
		RT_TRY(rt_chat_scope(chat), rt_field_set(chat->field, line));
}

/* ---- purges ---- */

void
rt_chat_forget_purged(rt_chat *chat)
{
	rt_chat_forget(chat);
	rt_buf_clear(&chat->sent);
	rt_field_forget(chat->field);
	rt_chat_detach(chat);
	chat->has_history = false; /* the rest is in the file */
	rt_chat_purge_draft(chat);
}

/* ---- for other panes and verbs ---- */

/* The text in the input goes to the input history. */
void
rt_chat_fill(rt_pane *pane, rt_str text)
{
	rt_chat *chat = rt_chat_of(pane);

	if (chat->draft_disc != pane->tui->work.place.disc)
		rt_chat_switch_draft(chat);
	if (!rt_field_is_empty(chat->field))
		rt_chat_remember(chat, rt_field_text(chat->field));
	rt_chat_select_none(chat);
	chat->follows = true;
	RT_TRY(rt_chat_scope(chat), rt_field_set(chat->field, text));
}

void
rt_chat_remember_input(rt_pane *pane, rt_str text)
{
	rt_chat *chat = rt_chat_of(pane);
	rt_tui *tui = pane->tui;
	rt_scope *s = &tui->scope;
	rt_str input = rt_field_text(chat->field);

	if (tui->is_forced) { /* Up is not pressed any more, but the draft will be read */
		rt_buf *both = rt_scope_buf(s);

		rt_buf_add_str(both, input);
		rt_buf_add_c(both, input.size > 0 ? "\n\n" : "");
		rt_buf_add_str(both, text);
		RT_TRY(s, rt_field_set(chat->field, rt_scope_str(s, both)));
		if (rt_ok(s))
			rt_pane_chat_keep(tui, true);
		return;
	}
	rt_chat_remember(chat, text);
	if (rt_ok(s))
		rt_buf_add_c(&tui->notice,
			     ".  Your text was kept: press Up in the chat's input");
}
