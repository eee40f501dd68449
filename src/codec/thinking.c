/* SPDX-License-Identifier: MIT
 *
 * One pass over a text. The state is where code (a fence, inline code) and the line begin and end,
 * so that a text can also be read in pieces. */
#include "codec/thinking.h"

#include "codec/content.h"
#include "core/role.h"

enum {
	TAGS = 3,
	INDENT_MAX = 3, /* of a fence */
	MARKS_MAX = 1024 /* bytes that are examined to recognise a fence; bounds the text held
			  * back */
};

static const struct {
	rt_str open, close;
} tags[TAGS] = {
	{RT_STR_INIT("<thinking>"), RT_STR_INIT("</thinking>")},
	{RT_STR_INIT("<think>"), RT_STR_INIT("</think>")},
	{RT_STR_INIT("<antThinking>"), RT_STR_INIT("</antThinking>")},
};

rt_str
rt_thinking_open(unsigned tag)
{
	return tags[tag - 1].open;
}

rt_str
rt_thinking_close(unsigned tag)
{
	return tags[tag - 1].close;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* ---- thinking ---- */

/* Streamed: the size of the text without an end that may be the beginning of the closing tag. */
static size_t
size_without(rt_str text, rt_str close)
{
	size_t most = close.size - 1 < text.size ? close.size - 1 : text.size;

	for (size_t size = most; size > 0; size--)
		if (memcmp(text.ptr + text.size - size, close.ptr, size) == 0)
			return text.size - size;
	return text.size;
}

/* The part at the beginning of the text that is thinking, open_size bytes of it the tag. */
static bool
next_thought(rt_thinking *t, rt_str *text, size_t open_size, rt_thinking_part *out)
{
	rt_str inside = rt_str_skip(*text, open_size), close = tags[t->tag - 1].close;
	size_t end = rt_str_find(inside, close, 0), size = end;

	if (end == SIZE_MAX)
		size = t->is_streamed ? size_without(inside, close) : inside.size;
	*out = (rt_thinking_part){.text = rt_str_at(inside.ptr, size),
				  .tag = t->tag,
				  .opens = open_size > 0,
				  .closes = end != SIZE_MAX};
	out->raw = rt_str_at(text->ptr, open_size + size + (out->closes ? close.size : 0));
	*text = rt_str_skip(*text, out->raw.size);
	if (out->closes || !t->is_streamed)
		t->tag = 0;
	return out->raw.size > 0;
}

/* ---- prose ---- */

/* The tag at a place, from 1; 0: none. *out_waits: it may become one. */
static unsigned
tag_at(rt_thinking *t, rt_str text, size_t at, bool *out_waits)
{
	rt_str rest = rt_str_skip(text, at);

	*out_waits = false;
	if (t->fence > 0 || (t->span > 0 && t->in_line))
		return 0;
	for (unsigned i = 0; i < TAGS; i++) {
		rt_str open = tags[i].open;

		if (t->is_streamed && rest.size < open.size &&
		    memcmp(open.ptr, rest.ptr, rest.size) == 0)
			*out_waits = true;
		if (!rt_str_starts(rest, open) || (t->unclosed & 1U << i) != 0)
			continue;
		if (t->is_streamed || t->is_open_end ||
		    rt_str_find(rest, tags[i].close, open.size) != SIZE_MAX)
			return i + 1;
		t->unclosed |= 1U << i;
	}
	return 0;
}

/* Backticks or tildes at a place; returns their number, or SIZE_MAX where more input is needed to
 * classify them. */
static size_t
read_marks(rt_thinking *t, rt_str text, size_t at)
{
	char c = text.ptr[at];
	bool is_first = !t->in_line && t->column <= INDENT_MAX;
	bool may_wait = t->is_streamed && text.size - at < MARKS_MAX;
	size_t most = text.size - at < MARKS_MAX ? text.size : at + MARKS_MAX, end = at, line;
	bool is_bare = true, has_tick = false;

	while (end < most && text.ptr[end] == c)
		end++;
	size_t count = end - at;
	for (line = end; line < most && text.ptr[line] != '\n'; line++) {
		is_bare = is_bare && is_blank(text.ptr[line]);
		has_tick = has_tick || text.ptr[line] == '`';
		if (!is_first || count < 3 || (has_tick && !is_bare))
			break;
	}
	if (may_wait && line == most && (end == line || (is_first && count >= 3)))
		return SIZE_MAX;
	if (t->fence > 0) {
		if (is_first && c == t->fence_char && count >= t->fence && is_bare)
			t->fence = 0;
	} else if (is_first && count >= 3 && (c == '~' || !has_tick)) {
		t->fence = count;
		t->fence_char = c;
		t->span = 0;
	} else if (c == '`' && t->span == 0) {
		t->span = count;
	} else if (c == '`' && t->span == count) {
		t->span = 0;
	}
	return count;
}

bool
rt_thinking_next(rt_thinking *t, rt_str *text, rt_thinking_part *out)
{
	size_t at = 0;
	bool waits = false;

	if (t->tag > 0)
		return next_thought(t, text, 0, out);
	while (at < text->size) {
		char c = text->ptr[at];
		size_t count = 1;

		if (c == '\n') {
			t->span = t->in_line ? t->span : 0;
			t->in_line = false;
			t->column = 0;
		} else if (is_blank(c)) {
			t->column += !t->in_line;
		} else {
			unsigned tag = c == '<' ? tag_at(t, *text, at, &waits) : 0;

			if (c == '`' || c == '~')
				count = read_marks(t, *text, at);
			if (tag > 0 && at == 0) {
				t->tag = tag;
				t->span = 0;
				t->in_line = true;
				return next_thought(t, text, tags[tag - 1].open.size, out);
			}
			if (tag > 0 || waits || count == SIZE_MAX)
				break;
			t->in_line = true;
		}
		at += count;
	}
	*out = (rt_thinking_part){.raw = rt_str_at(text->ptr, at), .text = rt_str_at(text->ptr, at)};
	*text = rt_str_skip(*text, at);
	return at > 0;
}

/* ---- entries ---- */

bool
rt_body_thinks(rt_str role)
{
	return rt_role_is_assistant(role);
}

bool
rt_thinking_is_cut(bool is_partial, rt_str stop_reason)
{
	static const char *const cut[] = {"length", "filtered", "stopped", "cut", "error", NULL};

	return is_partial || rt_str_is_one_of(stop_reason, cut);
}

bool
rt_body_is_cut(const rt_body *body)
{
	return rt_thinking_is_cut(yyjson_is_true(rt_body_field(body, "partial")),
				  rt_json_str(rt_body_field(body, "stop_reason")));
}

void
rt_thinking_add_prose(rt_buf *buf, rt_str text, bool is_cut)
{
	rt_thinking t = {.is_open_end = is_cut};
	size_t start = buf->size;
	bool drops = false;
	rt_thinking_part part;

	while (rt_thinking_next(&t, &text, &part)) {
		if (part.tag > 0) {
			drops = buf->size == start || is_blank(buf->ptr[buf->size - 1]);
			continue;
		}
		while (drops && part.raw.size > 0 && is_blank(part.raw.ptr[0]))
			part.raw = rt_str_skip(part.raw, 1);
		rt_buf_add_str(buf, part.raw);
		drops = drops && part.raw.size == 0;
	}
}

void
rt_body_add_prose(rt_buf *buf, rt_str role, const rt_body *body)
{
	bool is_cut = rt_body_is_cut(body);
	size_t count = 0;

	if (!rt_body_thinks(role)) {
		rt_body_add_text(buf, body);
		return;
	}
	if (body->content_json == NULL)
		rt_thinking_add_prose(buf, body->content, is_cut);
	for (rt_json_iter it = rt_json_items(body->content_json); rt_json_next(&it);) {
		if (!rt_content_is_text(it.value))
			continue;
		if (count++ > 0)
			rt_buf_add_byte(buf, '\n');
		rt_thinking_add_prose(buf, rt_content_text_of(it.value), is_cut);
	}
}

static void
add_part(rt_scope *s, rt_body_parts *parts, bool is_thinking, rt_str text)
{
	rt_body_part *items;

	items = rt_scope_grow(s, parts->items, parts->count, &parts->capacity, sizeof(*items));
	if (items == NULL)
		return;
	parts->items = items;
	parts->items[parts->count++] = (rt_body_part){is_thinking, text};
	parts->thinking_count += is_thinking;
}

static void
add_text_parts(rt_scope *s, rt_body_parts *parts, rt_str text, bool thinks, bool is_cut)
{
	rt_thinking t = {.is_open_end = is_cut};
	rt_thinking_part part;

	if (!thinks) {
		add_part(s, parts, false, text);
		return;
	}
	while (rt_thinking_next(&t, &text, &part)) {
		rt_str shown = part.tag > 0 ? rt_str_trim(part.text) : part.text;

		if (part.tag > 0 || rt_str_trim(shown).size > 0)
			add_part(s, parts, part.tag > 0, shown);
	}
}

rt_body_parts
rt_body_parts_of(rt_scope *s, rt_str role, const rt_body *body)
{
	bool thinks = rt_body_thinks(role), is_cut = rt_body_is_cut(body);
	rt_body_parts parts = {0};

	for (rt_json_iter it = rt_json_items(rt_body_field(body, "thinking_segments"));
	     rt_json_next(&it);) {
		rt_str text = rt_json_str(rt_json_get(it.value, "text"));

		if (yyjson_is_str(it.value))
			text = rt_json_str(it.value);
		else if (text.size == 0)
			text = rt_json_str(rt_json_get(it.value, "content"));
		add_part(s, &parts, true, text);
	}
	if (body->content_json == NULL)
		add_text_parts(s, &parts, body->content, thinks, is_cut);
	for (rt_json_iter it = rt_json_items(body->content_json); rt_json_next(&it);) {
		rt_str type = rt_json_str(rt_json_get(it.value, "type"));

		if (rt_content_is_text(it.value))
			add_text_parts(s, &parts, rt_content_text_of(it.value), thinks, is_cut);
		else if (rt_str_is(type, "thinking") || rt_str_is(type, "redacted_thinking"))
			add_part(s, &parts, true, rt_json_str(rt_json_get(it.value, "thinking")));
	}
	return parts;
}

void
rt_thinking_add_size(rt_buf *buf, rt_str text)
{
	size_t rows = text.size > 0;

	for (size_t i = 0; i + 1 < text.size; i++)
		rows += text.ptr[i] == '\n';
	rt_buf_add_f(buf, "%zu line%s", rows, rows == 1 ? "" : "s");
}
