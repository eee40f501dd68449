/* SPDX-License-Identifier: MIT
 *
 * Does a text occur in some bytes? Unchanged, with JSON's escapes (nested up to a limit), or as
 * hexadecimal digits (lines of imported files that are not UTF-8). A number matches only as a
 * whole: a time in milliseconds contains every short number. */
#include "log/purge_impl.h"

#include "base/encode.h"

rt_needle
rt_needle_of(rt_scope *scope, rt_str text)
{
	rt_needle n = {.scope = scope, .text = text};
	rt_buf *hex = rt_scope_buf(scope);

	if (text.size >= 4)
		rt_buf_add_hex(hex, text);
	n.hex = rt_scope_str(scope, hex);
	for (size_t i = 0; i < RT_PURGE_NESTING_MAX; i++)
		n.plain[i] = rt_scope_buf(scope);
	return n;
}

static bool
contains(rt_str in, rt_str what)
{
	return rt_str_find(in, what, 0) != SIZE_MAX;
}

/* Also of a lone surrogate. */
static void
add_code_point(rt_buf *out, unsigned c)
{
	static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
	unsigned size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	rt_buf_add_byte(out, (char)(lead[size] | c >> (6 * (size - 1))));
	while (--size > 0)
		rt_buf_add_byte(out, (char)(0x80 | (c >> (6 * (size - 1)) & 0x3F)));
}

/* The code unit of \uXXXX at byte `at`; -1: none. */
static int
escaped_unit(rt_str in, size_t at)
{
	bool is_unit = at + 6 <= in.size && in.ptr[at] == '\\' && in.ptr[at + 1] == 'u';

	return is_unit ? rt_hex_number(in, at + 2, 4) : -1;
}

void
rt_purge_unescape(rt_buf *out, rt_str in)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";

	for (size_t at = 0; at < in.size;) {
		const char *slash = memchr(in.ptr + at, '\\', in.size - at);
		size_t end = slash != NULL ? (size_t)(slash - in.ptr) : in.size;

		if (end + 1 >= in.size)
			end = in.size;
		rt_buf_add(out, in.ptr + at, end - at);
		at = end;
		if (at == in.size)
			return;
		int unit = escaped_unit(in, at), low = escaped_unit(in, at + 6);
		if (unit >= 0xD800 && unit < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
			add_code_point(out, 0x10000 + (((unsigned)unit - 0xD800) << 10) +
						    ((unsigned)low - 0xDC00));
			at += 12;
		} else if (unit >= 0) {
			add_code_point(out, (unsigned)unit);
			at += 6;
		} else {
			char c = in.ptr[at + 1];
			const char *known = c != '\0' ? strchr(from, c) : NULL;

			rt_buf_add_byte(out, known != NULL ? to[known - from] : c);
			at += 2;
		}
	}
}

bool
rt_needle_in(const rt_needle *n, rt_str in)
{
	for (size_t level = 0; rt_ok(n->scope); level++) {
		if (contains(in, n->text) || (n->hex.size > 0 && contains(in, n->hex)))
			return true;
		if (level == RT_PURGE_NESTING_MAX || in.size == 0 ||
		    memchr(in.ptr, '\\', in.size) == NULL)
			return false;
		rt_buf_clear(n->plain[level]);
		rt_purge_unescape(n->plain[level], in);
		in = rt_scope_str(n->scope, n->plain[level]);
	}
	return false;
}

bool
rt_purge_is_word(rt_str s)
{
	static const char *const words[] = {
		"User", "AI", "Vendor API", "System", "user", "assistant", "system", "model",
		"tool", "toolResult", "bashExecution", "custom", "branchSummary",
		"compactionSummary", "developer", "main", "message", "compaction",
		"branch_summary", "custom_message", "context_edit", "label", "session_info",
		"model_change", "thinking_level_change", "usage", "prompt_notice", "session",
		"name", "present", "active", "head", "git_commit", "roles", "prompt",
		"prompt_edited", "files", "context_files", "screenshots", "take_files", "track", "presets", "failures",
		"link", "source", "draft", "project_system_prompt", "global_system_prompt",
		"base_system_prompt", "use_default_base_prompt", "temperature", "top_p", "reasoning_effort", "parameters",
		"max_tokens", "auto_add_history", "edit_notices", "prompt_updates", "symbols_sent",
		"role_map", "compact_auto", "compact_reserve_tokens", "compact_keep_tokens", "undo_capacity", "default", "cli",
		"tui", "web", "type", "id", "parentId", "timestamp", "role", "kind", "content",
		"text", "image", "thinking", "thinking_segments", "toolCall", "arguments", "api",
		"provider", "service", "stop", "stopReason", "input", "output", "cacheRead", "cacheWrite",
		"totalTokens", "cost", "total", "summary", "details", "fromId", "customType",
		"data", "display", "discussion", "entry", "take", "version", "cwd", "pi.header",
		"pi.junk", "pi.unended", "hex", "first_kept", "from", "to", "tokens_before",
		"grafted_from", NULL};

	for (size_t i = 0; words[i] != NULL; i++)
		if (rt_str_is(s, words[i]))
			return true;
	return false;
}

/* ---- the strings and numbers of JSON text ---- */

bool
rt_purge_token_next(rt_str in, size_t at, rt_purge_token *out)
{
	size_t i = at;

	while (i < in.size && in.ptr[i] != '"' && in.ptr[i] != '-' &&
	       !(in.ptr[i] >= '0' && in.ptr[i] <= '9'))
		i++;
	if (i == in.size)
		return false;
	out->from = i;
	out->is_string = in.ptr[i++] == '"';
	if (!out->is_string) {
		while (i < in.size && in.ptr[i] != '\0' && strchr("0123456789+-.eE", in.ptr[i]))
			i++;
		out->to = i;
		out->inside = rt_str_at(in.ptr + out->from, i - out->from);
		return true;
	}
	while (i < in.size && in.ptr[i] != '"')
		i += in.ptr[i] == '\\' ? 2 : 1;
	if (i > in.size)
		i = in.size;
	out->inside = rt_str_at(in.ptr + out->from + 1, i - out->from - 1);
	out->to = i < in.size ? i + 1 : i;
	return true;
}

/* *out_word: it is in a word of our grammar, which does not count. */
static bool
json_holds(const rt_needle *n, rt_str json, bool *out_word)
{
	rt_purge_token t;

	if (memchr(n->text.ptr, '"', n->text.size) != NULL && contains(json, n->text))
		return true;
	for (size_t at = 0; rt_purge_token_next(json, at, &t); at = t.to) {
		if (t.is_string ? !rt_needle_in(n, t.inside) : !rt_str_eq(t.inside, n->text))
			continue;
		if (!t.is_string || !rt_purge_is_word(t.inside))
			return true;
		*out_word = true;
	}
	return false;
}

/* Does the text that people see hold it? */
static bool
text_holds(const rt_needle *n, rt_str data)
{
	rt_scope s;
	rt_body body;
	bool found = false;

	rt_scope_init(&s, n->scope->alloc);
	rt_status st = rt_body_read(s.alloc, data, &body, NULL);
	if (st == RT_OK) {
		rt_buf *text = rt_scope_buf(&s);

		rt_body_add_text(text, &body);
		found = contains(rt_scope_str(&s, text), n->text);
		rt_body_deinit(&body);
	}
	if (st == RT_NOMEM)
		rt_scope_nomem(&s);
	(void)rt_scope_join(n->scope, &s);
	return found;
}

bool
rt_needle_in_body(const rt_needle *n, rt_str data)
{
	bool is_word = false;

	if (data.size == 0 || data.ptr[0] == RT_BODY_PURGED)
		return false;
	rt_str rest = rt_str_at(data.ptr + 1, data.size - 1);
	if (data.ptr[0] == RT_BODY_TEXT)
		return rt_needle_in(n, rest);
	if (json_holds(n, rest, &is_word))
		return true;
	/* The whole text may be a word of our grammar, and a newline may be the joint of two
	 * blocks. */
	return (is_word || memchr(n->text.ptr, '\n', n->text.size) != NULL) && text_holds(n, data);
}
