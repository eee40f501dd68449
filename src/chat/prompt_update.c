/* SPDX-License-Identifier: MIT */
#include "chat/prompt_update.h"

#include "codec/json.h"

static const struct {
	const char *json;
	const char *words;
} ways[] = {
	[RT_PROMPT_UPDATES_OFF] = {"\"off\"", ""},
	[RT_PROMPT_UPDATES_BLOCK] =
		{"\"block\"",
		 "You and the user write a working prompt together. Its current text is given as "
		 "[current prompt: \"…\"]. To change it, write the whole new prompt in a fenced code block with the info string \"prompt\":\n\n```prompt\nthe new prompt\n```\n\n"
		 "Without such a block, the prompt does not change."},
	[RT_PROMPT_UPDATES_JSON] =
		{"\"json\"",
		 "You and the user write a working prompt together. Its current text is given as "
		 "[current prompt: \"…\"]. Answer only with one JSON object: "
		 "{\"content\":\"your reply to the user\",\"prompt\":\"the whole new prompt\"}. "
		 "\"prompt\" is null if the prompt does not change."},
};

rt_prompt_updates
rt_prompt_updates_of(rt_str json)
{
	if (rt_str_is(json, ways[RT_PROMPT_UPDATES_BLOCK].json))
		return RT_PROMPT_UPDATES_BLOCK;
	return rt_str_is(json, ways[RT_PROMPT_UPDATES_JSON].json) ? RT_PROMPT_UPDATES_JSON
								   : RT_PROMPT_UPDATES_OFF;
}

rt_str
rt_prompt_updates_words(rt_prompt_updates how)
{
	return rt_str_of(ways[how].words);
}

/* ---- a finished reply ---- */

/* The next line without its end; false: there is none. */
static bool
next_line(rt_str *text, rt_str *out)
{
	size_t end = rt_str_find(*text, RT_STR("\n"), 0);

	if (text->size == 0)
		return false;
	*out = rt_str_at(text->ptr, end == SIZE_MAX ? text->size : end);
	*text = rt_str_skip(*text, end == SIZE_MAX ? text->size : end + 1);
	return true;
}

/* The number of backticks or tildes that a line begins with, if they make a fence; else 0. */
static size_t
fence_of(rt_str line, rt_str *out_info)
{
	size_t indent = 0, end;

	while (indent < line.size && line.ptr[indent] == ' ')
		indent++;
	if (indent > 3 || indent == line.size ||
	    (line.ptr[indent] != '`' && line.ptr[indent] != '~'))
		return 0;
	for (end = indent; end < line.size && line.ptr[end] == line.ptr[indent];)
		end++;
	*out_info = rt_str_trim(rt_str_skip(line, end));
	return end - indent >= 3 ? end - indent : 0;
}

/* The text inside the last closed block; ptr NULL: there is none. */
static rt_str
last_block(rt_str text)
{
	size_t fence = 0, count;
	rt_str line, info, found = {0}, inside = {0};
	bool is_prompt = false;
	char mark = 0;

	while (next_line(&text, &line)) {
		count = fence_of(line, &info);
		if (fence == 0 && count > 0 &&
		    (rt_str_trim(line).ptr[0] == '~' ||
		     rt_str_find(info, RT_STR("`"), 0) == SIZE_MAX)) {
			fence = count;
			mark = rt_str_trim(line).ptr[0];
			is_prompt = rt_str_is(info, "prompt");
			inside = rt_str_at(text.ptr, 0);
		} else if (fence > 0 && count >= fence && info.size == 0 &&
			   rt_str_trim(line).ptr[0] == mark) {
			inside.size = (size_t)(line.ptr - inside.ptr);
			if (inside.size > 0) /* its last line end */
				inside.size--;
			if (is_prompt)
				found = inside;
			fence = 0;
		}
	}
	return found;
}

/* Without a code fence around it, which models like to add. */
static rt_str
without_fence(rt_str text)
{
	rt_str rest = text = rt_str_trim(text), first, info, last = {0}, line;

	if (!next_line(&rest, &first) || fence_of(first, &info) == 0)
		return text;
	const char *from = rest.ptr;
	while (next_line(&rest, &line))
		last = line;
	if (last.ptr == NULL || fence_of(last, &info) == 0 || info.size > 0)
		return text;
	return rt_str_at(from, (size_t)(last.ptr - from));
}

rt_prompt_update
rt_prompt_update_read(rt_scope *scope, rt_prompt_updates how, rt_str text)
{
	rt_prompt_update update = {0};
	rt_json_doc *doc = NULL;

	if (how == RT_PROMPT_UPDATES_BLOCK)
		update.prompt = last_block(text);
	if (how != RT_PROMPT_UPDATES_JSON)
		return update;
	rt_status st = rt_json_read(scope->alloc, without_fence(text), &doc, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(scope);
	yyjson_val *root = st == RT_OK ? rt_json_root(doc) : NULL;
	yyjson_val *content = rt_json_get(root, "content"), *prompt = rt_json_get(root, "prompt");
	update.is_broken = !yyjson_is_str(content) ||
			   (prompt != NULL && !yyjson_is_str(prompt) && !yyjson_is_null(prompt));
	if (!update.is_broken) {
		update.content = rt_scope_copy(scope, rt_json_str(content));
		if (yyjson_is_str(prompt))
			update.prompt = rt_scope_copy(scope, rt_json_str(prompt));
	}
	rt_json_free(doc);
	return update;
}

/* ---- differences ---- */

static void
add_lines(rt_buf *buf, const char *sign, rt_str text)
{
	rt_str line;

	while (next_line(&text, &line)) {
		rt_buf_add_c(buf, "\n");
		rt_buf_add_c(buf, sign);
		rt_buf_add_str(buf, line);
	}
}

void
rt_prompt_update_add_diff(rt_buf *buf, rt_str before, rt_str after)
{
	rt_str a = before, b = after, line_a, line_b;

	/* equal lines at the beginning, then at the end */
	while (next_line(&a, &line_a) && next_line(&b, &line_b) && rt_str_eq(line_a, line_b)) {
		before = a;
		after = b;
	}
	while (before.size > 0 && after.size > 0) {
		size_t i = before.size, k = after.size;

		while (i > 0 && before.ptr[i - 1] != '\n')
			i--;
		while (k > 0 && after.ptr[k - 1] != '\n')
			k--;
		if (!rt_str_eq(rt_str_skip(before, i), rt_str_skip(after, k)))
			break;
		before.size = i > 0 ? i - 1 : 0;
		after.size = k > 0 ? k - 1 : 0;
	}
	add_lines(buf, "- ", before);
	add_lines(buf, "+ ", after);
}

/* ---- while it arrives ---- */

void
rt_prompt_stream_init(rt_prompt_stream *stream, const rt_alloc *alloc)
{
	*stream = (rt_prompt_stream){.state = RT_PROMPT_STREAM_BEFORE};
	rt_buf_init(&stream->text, alloc, RT_BUF_UNLIMITED);
}

void
rt_prompt_stream_deinit(rt_prompt_stream *stream)
{
	rt_buf_deinit(&stream->text);
}

static size_t
skip_blanks(rt_str text, size_t at)
{
	while (at < text.size && (text.ptr[at] == ' ' || text.ptr[at] == '\n' ||
				  text.ptr[at] == '\t' || text.ptr[at] == '\r'))
		at++;
	return at;
}

/* Looks for the beginning of the content. A quote within a JSON string is escaped, so the key is
 * not found inside one. */
static void
find_content(rt_prompt_stream *stream)
{
	rt_str text = rt_buf_str(&stream->text), key = RT_STR("\"content\"");
	size_t at = skip_blanks(text, 0), found;

	if (at < text.size && text.ptr[at] != '{' && text.ptr[at] != '`') {
		stream->state = RT_PROMPT_STREAM_PLAIN;
		return;
	}
	found = rt_str_find(text, key, stream->at);
	if (found == SIZE_MAX) {
		stream->at = text.size > key.size ? text.size - key.size : 0;
		return;
	}
	stream->at = found;
	at = skip_blanks(text, found + key.size);
	if (at < text.size && text.ptr[at] != ':') {
		stream->at = at;
		return;
	}
	at = skip_blanks(text, at + (at < text.size));
	if (at >= text.size)
		return;
	stream->state = text.ptr[at] == '"' ? RT_PROMPT_STREAM_IN : RT_PROMPT_STREAM_AFTER;
	stream->at = at + 1;
}

/* The size of the escape at the beginning, with both halves of a pair; 0: it is not complete. */
static size_t
escape_size(rt_str text)
{
	if (text.size < 2)
		return 0;
	if (text.ptr[1] != 'u')
		return 2;
	if (text.size < 6)
		return 0;
	if ((text.ptr[2] != 'd' && text.ptr[2] != 'D') || text.ptr[3] < '8' || text.ptr[3] > 'b' ||
	    (text.ptr[3] > '9' && text.ptr[3] < 'A'))
		return 6;
	return text.size < 12 ? 0 : 12;
}

static void
add_escape(rt_buf *out, rt_str escape)
{
	rt_json_doc *doc = NULL;
	rt_buf json;

	rt_buf_init(&json, out->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '"');
	rt_buf_add_str(&json, escape);
	rt_buf_add_byte(&json, '"');
	if (json.status == RT_OK && rt_json_read(out->alloc, rt_buf_str(&json), &doc, NULL) == RT_OK)
		rt_buf_add_str(out, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
	rt_buf_deinit(&json);
}

static void
add_content(rt_prompt_stream *stream, rt_buf *out)
{
	rt_str text = rt_buf_str(&stream->text);

	while (stream->at < text.size && stream->state == RT_PROMPT_STREAM_IN) {
		rt_str rest = rt_str_skip(text, stream->at);
		size_t size = 0;

		while (size < rest.size && rest.ptr[size] != '"' && rest.ptr[size] != '\\')
			size++;
		rt_buf_add(out, rest.ptr, size);
		stream->at += size;
		rest = rt_str_skip(rest, size);
		if (rest.size > 0 && rest.ptr[0] == '"') {
			stream->state = RT_PROMPT_STREAM_AFTER;
		} else if (rest.size > 0) {
			size = escape_size(rest);
			if (size == 0)
				return;
			add_escape(out, rt_str_at(rest.ptr, size));
			stream->at += size;
		}
	}
}

void
rt_prompt_stream_add(rt_prompt_stream *stream, rt_str added, rt_buf *out)
{
	if (stream->state == RT_PROMPT_STREAM_AFTER)
		return;
	rt_buf_add_str(&stream->text, added);
	if (stream->text.status != RT_OK) {
		out->status = stream->text.status;
		return;
	}
	if (stream->state == RT_PROMPT_STREAM_BEFORE)
		find_content(stream);
	if (stream->state == RT_PROMPT_STREAM_IN)
		add_content(stream, out);
	if (stream->state == RT_PROMPT_STREAM_PLAIN) {
		rt_buf_add_str(out, rt_str_skip(rt_buf_str(&stream->text), stream->at));
		stream->at = stream->text.size;
	}
}
