/* SPDX-License-Identifier: MIT
 *
 * Is the text in there? As it is, in JSON's escapes at any depth that happens, as
 * hexadecimal digits (lines of imported files that are not UTF-8). A number counts when it
 * is the text, not when it holds it: a time in milliseconds holds every short number. */
#include "log/purge_impl.h"

#include "base/encode.h"

void
rt_needle_init(rt_needle *n, const rt_alloc *alloc, rt_str text)
{
	size_t i;

	memset(n, 0, sizeof(*n));
	n->alloc = alloc;
	n->text = text;
	rt_buf_init(&n->hex, alloc, RT_BUF_UNLIMITED);
	if (text.size >= 4)
		rt_buf_add_hex(&n->hex, text);
	for (i = 0; i < RT_PURGE_NESTING_MAX; i++)
		rt_buf_init(&n->plain[i], alloc, RT_BUF_UNLIMITED);
	n->nomem = n->hex.status != RT_OK;
}

void
rt_needle_deinit(rt_needle *n)
{
	size_t i;

	rt_buf_deinit(&n->hex);
	for (i = 0; i < RT_PURGE_NESTING_MAX; i++)
		rt_buf_deinit(&n->plain[i]);
}

static bool
has(rt_str in, rt_str what)
{
	return rt_str_find(in, what, 0) != SIZE_MAX;
}

static bool
hex4(const char *p, unsigned *out)
{
	unsigned value = 0;
	int i;

	for (i = 0; i < 4; i++) {
		char c = p[i];

		value <<= 4;
		if (c >= '0' && c <= '9')
			value |= (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			value |= (unsigned)((c | 32) - 'a' + 10);
		else
			return false;
	}
	*out = value;
	return true;
}

static void
add_code_point(rt_buf *out, unsigned c)
{
	if (c < 0x80) {
		rt_buf_add_byte(out, (char)c);
	} else if (c < 0x800) {
		rt_buf_add_byte(out, (char)(0xC0 | c >> 6));
		rt_buf_add_byte(out, (char)(0x80 | (c & 0x3F)));
	} else if (c < 0x10000) {
		rt_buf_add_byte(out, (char)(0xE0 | c >> 12));
		rt_buf_add_byte(out, (char)(0x80 | (c >> 6 & 0x3F)));
		rt_buf_add_byte(out, (char)(0x80 | (c & 0x3F)));
	} else {
		rt_buf_add_byte(out, (char)(0xF0 | c >> 18));
		rt_buf_add_byte(out, (char)(0x80 | (c >> 12 & 0x3F)));
		rt_buf_add_byte(out, (char)(0x80 | (c >> 6 & 0x3F)));
		rt_buf_add_byte(out, (char)(0x80 | (c & 0x3F)));
	}
}

void
rt_purge_unescape(rt_buf *out, rt_str in)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	size_t i = 0;

	while (i < in.size) {
		const char *slash = memchr(in.ptr + i, '\\', in.size - i), *known;
		size_t at = slash != NULL ? (size_t)(slash - in.ptr) : in.size;
		unsigned c, low;

		rt_buf_add(out, in.ptr + i, at - i);
		i = at;
		if (i + 1 >= in.size) {
			rt_buf_add(out, in.ptr + i, in.size - i);
			return;
		}
		if (in.ptr[i + 1] == 'u' && i + 6 <= in.size && hex4(in.ptr + i + 2, &c)) {
			i += 6;
			if (c >= 0xD800 && c < 0xDC00 && i + 6 <= in.size && in.ptr[i] == '\\' &&
			    in.ptr[i + 1] == 'u' && hex4(in.ptr + i + 2, &low) && low >= 0xDC00 &&
			    low < 0xE000) {
				c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
				i += 6;
			}
			add_code_point(out, c);
			continue;
		}
		known = in.ptr[i + 1] != '\0' ? strchr(from, in.ptr[i + 1]) : NULL;
		rt_buf_add_byte(out, known != NULL ? to[known - from] : in.ptr[i + 1]);
		i += 2;
	}
}

bool
rt_needle_in(rt_needle *n, rt_str in)
{
	size_t level;

	for (level = 0;; level++) {
		if (has(in, n->text) || (n->hex.size > 0 && has(in, rt_buf_str(&n->hex))))
			return true;
		if (level == RT_PURGE_NESTING_MAX || in.size == 0 ||
		    memchr(in.ptr, '\\', in.size) == NULL)
			return false;
		rt_buf_clear(&n->plain[level]);
		rt_purge_unescape(&n->plain[level], in);
		if (n->plain[level].status != RT_OK) {
			n->nomem = true;
			return false;
		}
		in = rt_buf_str(&n->plain[level]);
	}
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
		"prompt_edited", "files", "context_files", "screenshots", "track", "presets",
		"link", "source", "draft", "project_system_prompt", "global_system_prompt",
		"base_system_prompt", "use_default_base_prompt", "temperature", "top_p",
		"max_tokens", "auto_add_history", "edit_notices", "role_map", "compact_auto",
		"compact_reserve_tokens", "compact_keep_tokens", "undo_capacity", "default", "cli",
		"tui", "web", "type", "id", "parentId", "timestamp", "role", "kind", "content",
		"text", "image", "thinking", "thinking_segments", "toolCall", "arguments", "api",
		"provider", "service", "stop", "stopReason", "input", "output", "cacheRead", "cacheWrite",
		"totalTokens", "cost", "total", "summary", "details", "fromId", "customType",
		"data", "display", "discussion", "entry", "take", "version", "cwd", "pi.header",
		"pi.junk", "pi.unended", "hex", "first_kept", "from", "to", "tokens_before",
		"grafted_from", NULL};
	size_t i;

	for (i = 0; words[i] != NULL; i++)
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
		return true;
	}
	while (i < in.size && in.ptr[i] != '"')
		i += in.ptr[i] == '\\' ? 2 : 1;
	out->to = i < in.size ? i + 1 : in.size;
	return true;
}

rt_str
rt_purge_token_inside(rt_str in, const rt_purge_token *t)
{
	size_t to = t->to;

	if (!t->is_string)
		return rt_str_at(in.ptr + t->from, to - t->from);
	if (to > t->from + 1 && in.ptr[to - 1] == '"')
		to--;
	return rt_str_at(in.ptr + t->from + 1, to - t->from - 1);
}

/* *out_word: it is in a word of ours, which does not count. */
static bool
json_holds(rt_needle *n, rt_str json, bool *out_word)
{
	size_t at = 0;
	rt_purge_token t;

	if (memchr(n->text.ptr, '"', n->text.size) != NULL && has(json, n->text))
		return true;
	for (; rt_purge_token_next(json, at, &t); at = t.to) {
		rt_str inside = rt_purge_token_inside(json, &t);

		if (t.is_string ? !rt_needle_in(n, inside) : !rt_str_eq(inside, n->text))
			continue;
		if (!t.is_string || !rt_purge_is_word(inside))
			return true;
		*out_word = true;
	}
	return false;
}

bool
rt_needle_in_body(rt_needle *n, rt_str data)
{
	rt_str rest;
	rt_body body;
	rt_buf text;
	rt_status st;
	bool found, is_word = false;

	if (data.size == 0 || data.ptr[0] == RT_BODY_PURGED)
		return false;
	rest = rt_str_at(data.ptr + 1, data.size - 1);
	if (data.ptr[0] == RT_BODY_TEXT)
		return rt_needle_in(n, rest);
	if (json_holds(n, rest, &is_word))
		return true;
	/* a word of ours may be all that is said; a line end may be the joint of two blocks */
	if (!is_word && memchr(n->text.ptr, '\n', n->text.size) == NULL)
		return false;
	st = rt_body_read(n->alloc, data, &body, NULL);
	n->nomem = n->nomem || st == RT_NOMEM;
	if (st != RT_OK)
		return false;
	rt_buf_init(&text, n->alloc, RT_BUF_UNLIMITED);
	rt_body_add_text(&text, &body);
	found = has(rt_buf_str(&text), n->text);
	n->nomem = n->nomem || text.status != RT_OK;
	rt_buf_deinit(&text);
	rt_body_deinit(&body);
	return found;
}
