/* SPDX-License-Identifier: MIT
 *
 * A large paste in the chat's input. The field has the whole text; only its display replaces the paste
 * with "[pasted 1,234 lines]", by drawing another field with the text around it. As soon as the cursor
 * is inside the paste, or the paste is changed, the text is displayed as usual. */
#include "tui/pane_chat_impl.h"

#include <stdio.h>

enum {
	LINES = 10,          /* a paste with more lines, … */
	BYTES = 2048,        /* … or more bytes, is folded */
	AROUND_MAX = 1 << 14 /* bytes of the text around it that are copied for each frame */
};

/* The beginning and the end of the paste, by which it is recognised. */
static void
get_ends(const rt_chat *chat, char out[2][RT_CHAT_PASTE_END])
{
	const char *paste = rt_field_text(chat->field).ptr + chat->paste.at;

	memcpy(out[0], paste, RT_CHAT_PASTE_END);
	memcpy(out[1], paste + chat->paste.size - RT_CHAT_PASTE_END, RT_CHAT_PASTE_END);
}

bool
rt_chat_paste_is_folded(const rt_chat *chat)
{
	char ends[2][RT_CHAT_PASTE_END];
	size_t at = chat->paste.at, size = chat->paste.size, cursor = rt_field_cursor(chat->field);
	rt_str text = rt_field_text(chat->field);

	if (size == 0 || at + size > text.size || text.size - size > AROUND_MAX ||
	    (cursor > at && cursor < at + size))
		return false;
	get_ends(chat, ends);
	return memcmp(ends, chat->paste.ends, sizeof(ends)) == 0;
}

void
rt_chat_paste_unfold(rt_chat *chat)
{
	chat->paste.size = 0;
}

static void
name_paste(rt_chat *chat)
{
	rt_buf *label = rt_scope_buf(rt_chat_scope(chat));
	rt_str paste = rt_str_at(rt_field_text(chat->field).ptr + chat->paste.at, chat->paste.size);
	size_t lines = 1;

	for (size_t i = 0; i < paste.size; i++)
		lines += paste.ptr[i] == '\n' && i + 1 < paste.size;
	if (lines <= LINES && paste.size <= BYTES) {
		rt_chat_paste_unfold(chat);
		return;
	}
	rt_buf_add_c(label, "[pasted ");
	rt_buf_add_grouped(label, lines > 1 ? lines : rt_utf8_count(paste));
	rt_buf_add_c(label, lines > 1 ? " lines]" : " characters]");
	(void)snprintf(chat->paste.label, sizeof(chat->paste.label), "%.*s",
		       RT_STR_ARG(rt_buf_str(label)));
	get_ends(chat, chat->paste.ends);
}

void
rt_chat_paste(rt_chat *chat, rt_str text)
{
	size_t at = rt_field_cursor(chat->field), was = rt_field_text(chat->field).size, size;
	bool follows = rt_chat_paste_is_folded(chat) && at == chat->paste.at + chat->paste.size;

	RT_TRY(rt_chat_scope(chat), rt_field_insert(chat->field, text));
	if (!rt_ok(rt_chat_scope(chat)))
		return;
	size = rt_field_text(chat->field).size - was;
	if (follows) { /* a terminal may send a paste in parts */
		chat->paste.size += size;
		name_paste(chat);
	} else if (size > RT_CHAT_PASTE_END) {
		chat->paste.at = at;
		chat->paste.size = size;
		name_paste(chat);
	} else {
		rt_chat_paste_follow(chat, was, at);
	}
}

void
rt_chat_paste_follow(rt_chat *chat, size_t was_size, size_t was_cursor)
{
	size_t size = rt_field_text(chat->field).size, cursor = rt_field_cursor(chat->field);

	if (size == was_size || chat->paste.size == 0)
		return;
	if (was_cursor <= chat->paste.at && chat->paste.at + size >= was_size)
		chat->paste.at = chat->paste.at + size - was_size;
	else if (was_cursor < chat->paste.at + chat->paste.size)
		rt_chat_paste_unfold(chat);
	if (cursor > chat->paste.at && cursor < chat->paste.at + chat->paste.size)
		rt_chat_paste_unfold(chat);
}

rt_field *
rt_chat_shown_field(rt_chat *chat, int columns)
{
	rt_scope *s = rt_chat_scope(chat);
	rt_str text = rt_field_text(chat->field), label = rt_str_of(chat->paste.label);
	size_t end = chat->paste.at + chat->paste.size, cursor = rt_field_cursor(chat->field);
	bool used = true;
	rt_buf *words;

	if (!rt_chat_paste_is_folded(chat) || !rt_ok(s))
		return chat->field;
	words = rt_scope_buf(s);
	rt_buf_add(words, text.ptr, chat->paste.at);
	rt_buf_add_str(words, label);
	rt_buf_add_str(words, rt_str_skip(text, end));
	if (cursor >= end)
		cursor = cursor - chat->paste.size + label.size;
	rt_field_clear(chat->shown);
	RT_TRY(s, rt_field_set(chat->shown, rt_scope_str(s, words)));
	while (rt_ok(s) && used && rt_field_cursor(chat->shown) > cursor)
		RT_TRY(s, rt_field_act(chat->shown, RT_ACT_LEFT, columns, &used));
	return rt_ok(s) ? chat->shown : chat->field;
}
