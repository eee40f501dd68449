/* SPDX-License-Identifier: MIT
 *
 * Texts inside contents. Arrays are written block by block: those that stay are copied,
 * those whose text changes are written member by member. */
#include "codec/content.h"

rt_content
rt_content_of(yyjson_val *value)
{
	rt_content content = {rt_str_at("", 0), NULL};

	if (yyjson_is_arr(value))
		content.blocks = value;
	else if (yyjson_is_str(value))
		content.text = rt_json_str(value);
	return content;
}

bool
rt_content_is_text(yyjson_val *block)
{
	static const char *const types[] = {"text", "input_text", "output_text", NULL};
	yyjson_val *type = rt_json_get(block, "type");

	if (yyjson_is_str(block))
		return true;
	return yyjson_is_str(rt_json_get(block, "text")) &&
	       (type == NULL ||
		(yyjson_is_str(type) && rt_str_is_one_of(rt_json_str(type), types)));
}

static bool
is_call(yyjson_val *block)
{
	static const char *const types[] = {"toolCall", "tool_use", "function_call", NULL};

	return rt_str_is_one_of(rt_json_str(rt_json_get(block, "type")), types);
}

rt_str
rt_content_text_of(yyjson_val *block)
{
	return rt_json_str(yyjson_is_str(block) ? block : rt_json_get(block, "text"));
}

size_t
rt_content_text_count(rt_content content)
{
	size_t count = 0;

	if (content.blocks == NULL)
		return 1;
	for (rt_json_iter it = rt_json_items(content.blocks); rt_json_next(&it);)
		count += rt_content_is_text(it.value);
	return count;
}

bool
rt_content_one_text(rt_content content, rt_str *out)
{
	if (rt_content_text_count(content) != 1)
		return false;
	*out = content.text;
	for (rt_json_iter it = rt_json_items(content.blocks); rt_json_next(&it);)
		if (rt_content_is_text(it.value))
			*out = rt_content_text_of(it.value);
	return true;
}

void
rt_content_add_text(rt_buf *buf, rt_content content)
{
	size_t count = 0;

	if (content.blocks == NULL)
		rt_buf_add_str(buf, content.text);
	for (rt_json_iter it = rt_json_items(content.blocks); rt_json_next(&it);) {
		if (!rt_content_is_text(it.value))
			continue;
		if (count++ > 0)
			rt_buf_add_byte(buf, '\n');
		rt_buf_add_str(buf, rt_content_text_of(it.value));
	}
}

/* ---- writing ---- */

void
rt_content_add_text_block(rt_buf *buf, rt_str text)
{
	rt_json_open(buf, NULL, '{');
	rt_json_put_c(buf, "type", "text");
	rt_json_put_str(buf, "text", text);
	rt_json_close(buf, '}');
}

static void
add_block(rt_buf *buf, yyjson_val *block)
{
	rt_json_put_value(buf, NULL, block);
}

/* A text block with another text. */
static void
add_with_text(rt_buf *buf, yyjson_val *block, rt_str text)
{
	/* members that are valid for the old text only */
	static const char *const bound[] = {"textSignature",
					    "thoughtSignature",
					    "thought_signature",
					    "signature",
					    "annotations",
					    "logprobs",
					    NULL};
	yyjson_val *own = rt_json_get(block, "text");

	if (rt_str_eq(rt_content_text_of(block), text)) {
		add_block(buf, block);
		return;
	}
	if (yyjson_is_str(block)) {
		rt_json_put_str(buf, NULL, text);
		return;
	}
	rt_json_open(buf, NULL, '{');
	for (rt_json_iter it = rt_json_members(block); rt_json_next(&it);) {
		if (rt_str_is_one_of(it.key, bound) ||
		    (rt_str_is(it.key, "text") && it.value != own))
			continue;
		rt_json_add_key_str(buf, it.key);
		if (it.value == own)
			rt_json_add_string(buf, text);
		else
			rt_json_add_value(buf, it.value);
	}
	rt_buf_add_byte(buf, '}');
}

/* The blocks and a new text block. */
static void
add_inserting(rt_buf *buf, yyjson_val *blocks, rt_str text)
{
	bool done = text.size == 0;

	rt_buf_add_byte(buf, '[');
	for (rt_json_iter it = rt_json_items(blocks); rt_json_next(&it);) {
		if (!done && is_call(it.value)) {
			rt_content_add_text_block(buf, text);
			done = true;
		}
		add_block(buf, it.value);
	}
	if (!done)
		rt_content_add_text_block(buf, text);
	rt_buf_add_byte(buf, ']');
}

/* The number of texts, except the last one, that the text begins with; they and their line ends
 * are removed from it. */
static size_t
strip_leading(const rt_str *texts, size_t count, rt_str *text)
{
	size_t kept = 0;

	while (kept + 1 < count && text->size > texts[kept].size &&
	       rt_str_starts(*text, texts[kept]) && text->ptr[texts[kept].size] == '\n')
		*text = rt_str_skip(*text, texts[kept++].size + 1);
	return kept;
}

/* The same at the end. */
static size_t
strip_trailing(const rt_str *texts, size_t count, rt_str *text)
{
	size_t kept = 0;

	while (kept + 1 < count) {
		rt_str own = texts[count - 1 - kept];
		size_t at = text->size - own.size;

		if (text->size <= own.size || text->ptr[at - 1] != '\n' ||
		    !rt_str_eq(rt_str_at(text->ptr + at, own.size), own))
			break;
		*text = rt_str_at(text->ptr, at - 1);
		kept++;
	}
	return kept;
}

void
rt_content_set_text(rt_buf *buf, rt_content content, rt_str text)
{
	size_t count = rt_content_text_count(content), leading, trailing, nth = 0;
	rt_str *texts;

	if (content.blocks == NULL) {
		rt_json_add_string(buf, text);
		return;
	}
	if (count == 0) {
		add_inserting(buf, content.blocks, text);
		return;
	}
	texts = rt_new_array(buf->alloc, count, sizeof(*texts));
	if (texts == NULL) {
		buf->status = RT_NOMEM;
		return;
	}
	for (rt_json_iter it = rt_json_items(content.blocks); rt_json_next(&it);)
		if (rt_content_is_text(it.value))
			texts[nth++] = rt_content_text_of(it.value);
	leading = strip_leading(texts, count, &text);
	trailing = strip_trailing(texts + leading, count - leading, &text);
	nth = 0;
	rt_buf_add_byte(buf, '[');
	for (rt_json_iter it = rt_json_items(content.blocks); rt_json_next(&it);) {
		bool is_text = rt_content_is_text(it.value);

		if (!is_text || nth < leading || nth >= count - trailing)
			add_block(buf, it.value);
		else if (nth == leading)
			add_with_text(buf, it.value, text);
		nth += is_text;
	}
	rt_buf_add_byte(buf, ']');
	rt_free(buf->alloc, texts);
}

/* ---- replacing ---- */

static size_t
replace_in(rt_buf *out, rt_str text, rt_str from, rt_str to)
{
	size_t at = 0, found, count = 0;

	while ((found = rt_str_find(text, from, at)) != SIZE_MAX) {
		rt_buf_add(out, text.ptr + at, found - at);
		rt_buf_add_str(out, to);
		at = found + from.size;
		count++;
	}
	rt_buf_add(out, text.ptr + at, text.size - at);
	return count;
}

size_t
rt_content_replace(rt_buf *buf, rt_content content, rt_str from, rt_str to)
{
	size_t count = 0;
	rt_buf text;

	RT_ASSERT(from.size > 0);
	rt_buf_init(&text, buf->alloc, RT_BUF_UNLIMITED);
	if (content.blocks == NULL) {
		count = replace_in(&text, content.text, from, to);
		rt_json_add_string(buf, rt_buf_str(&text));
	} else {
		rt_buf_add_byte(buf, '[');
		for (rt_json_iter it = rt_json_items(content.blocks); rt_json_next(&it);) {
			size_t found = 0;

			rt_buf_clear(&text);
			if (rt_content_is_text(it.value))
				found = replace_in(&text, rt_content_text_of(it.value), from, to);
			if (found > 0)
				add_with_text(buf, it.value, rt_buf_str(&text));
			else
				add_block(buf, it.value);
			count += found;
		}
		rt_buf_add_byte(buf, ']');
	}
	if (text.status != RT_OK)
		buf->status = text.status;
	rt_buf_deinit(&text);
	return count;
}

/* ---- splitting and joining ---- */

void
rt_content_cut(rt_buf *first, rt_buf *second, yyjson_val *blocks, size_t at)
{
	bool is_after = false;

	rt_buf_add_byte(first, '[');
	rt_buf_add_byte(second, '[');
	for (rt_json_iter it = rt_json_items(blocks); rt_json_next(&it);) {
		rt_str text = rt_content_text_of(it.value);

		if (!rt_content_is_text(it.value)) {
			add_block(is_after ? second : first, it.value);
			continue;
		}
		RT_ASSERT(!is_after);
		RT_ASSERT(at > 0 && at < text.size);
		add_with_text(first, it.value, rt_str_at(text.ptr, at));
		add_with_text(second, it.value, rt_str_skip(text, at));
		is_after = true;
	}
	rt_buf_add_byte(first, ']');
	rt_buf_add_byte(second, ']');
}

static bool
is_text_alone(rt_content c)
{
	size_t size = yyjson_arr_size(c.blocks);

	return c.blocks == NULL || size == 0 || (size == 1 && rt_content_text_count(c) == 1);
}

static void
add_joined_texts(rt_buf *buf, yyjson_val *block, rt_str a, rt_str b)
{
	rt_buf text;

	rt_buf_init(&text, buf->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&text, a);
	rt_buf_add_str(&text, b);
	if (block == NULL)
		rt_content_add_text_block(buf, rt_buf_str(&text));
	else
		add_with_text(buf, block, rt_buf_str(&text));
	if (text.status != RT_OK)
		buf->status = text.status;
	rt_buf_deinit(&text);
}

bool
rt_content_join(rt_buf *buf, rt_content a, rt_content b)
{
	yyjson_val *last = yyjson_arr_get_last(a.blocks), *next = yyjson_arr_get_first(b.blocks);
	rt_str a_text = a.blocks == NULL ? a.text : rt_content_text_of(last);
	rt_str b_text = b.blocks == NULL ? b.text : rt_content_text_of(next);
	bool touch = (a.blocks == NULL || rt_content_is_text(last)) &&
		     (b.blocks == NULL || rt_content_is_text(next));

	if (a.blocks == NULL && is_text_alone(b)) {
		rt_buf_add_str(buf, a_text);
		rt_buf_add_str(buf, b_text);
		return false;
	}
	rt_buf_add_byte(buf, '[');
	for (rt_json_iter it = rt_json_items(a.blocks); rt_json_next(&it);)
		if (!touch || it.index + 1 < it.count)
			add_block(buf, it.value);
	if (touch)
		add_joined_texts(buf, last, a_text, b_text);
	else if (a_text.size > 0 && a.blocks == NULL)
		rt_content_add_text_block(buf, a_text);
	else if (b_text.size > 0 && b.blocks == NULL)
		rt_content_add_text_block(buf, b_text);
	for (rt_json_iter it = rt_json_items(b.blocks); rt_json_next(&it);)
		if (!touch || it.index > 0)
			add_block(buf, it.value);
	rt_buf_add_byte(buf, ']');
	return true;
}

/* ---- summaries ---- */

static void
begin_part(rt_buf *buf, size_t start)
{
	if (buf->size > start)
		rt_buf_add_c(buf, "; ");
}

/* "calls read, bash" */
static void
add_call(rt_buf *buf, size_t start, size_t count, yyjson_val *call)
{
	yyjson_val *function = rt_json_get(call, "function");
	rt_str name = rt_json_str(rt_json_get(function != NULL ? function : call, "name"));

	if (count == 0)
		begin_part(buf, start);
	rt_buf_add_c(buf, count == 0 ? "calls " : ", ");
	rt_buf_add_str(buf, name.size > 0 ? name : RT_STR("a tool"));
}

static void
add_count(rt_buf *buf, size_t start, size_t count, const char *what)
{
	if (count == 0)
		return;
	begin_part(buf, start);
	if (count == 1)
		rt_buf_add_f(buf, "%s %s", what[0] == 'i' ? "an" : "a", what);
	else
		rt_buf_add_f(buf, "%zu %ss", count, what);
}

void
rt_content_add_size(rt_buf *buf, uint64_t bytes)
{
	if (bytes < 10000)
		rt_buf_add_f(buf, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
	else if (bytes < 1000000)
		rt_buf_add_f(buf, "%u KB", (unsigned)((bytes + 500) / 1000));
	else
		rt_buf_add_f(buf, "%.1f MB", (double)bytes / 1e6);
}

/* An attached file: "image screen.png, image/png, 812 bytes". */
static bool
add_attached(rt_buf *buf, size_t start, rt_str type, yyjson_val *block)
{
	rt_str name = rt_json_str(rt_json_get(block, "name"));
	rt_str mime = rt_json_str(rt_json_get(block, "mimeType"));
	uint64_t size;

	if (name.size == 0 || !(rt_str_is(type, "image") || rt_str_is(type, "file")))
		return false;
	begin_part(buf, start);
	rt_buf_add_str(buf, type);
	rt_buf_add_byte(buf, ' ');
	rt_buf_add_str(buf, name);
	if (mime.size > 0) {
		rt_buf_add_c(buf, ", ");
		rt_buf_add_str(buf, mime);
	}
	if (rt_json_u64(rt_json_get(block, "size"), &size)) {
		rt_buf_add_c(buf, ", ");
		rt_content_add_size(buf, size);
	}
	if (yyjson_is_true(rt_json_get(block, "purged")))
		rt_buf_add_c(buf, " (purged)");
	return true;
}

void
rt_content_add_parts(rt_buf *buf, rt_content content, yyjson_val *calls)
{
	static const char *const thoughts[] = {"thinking", "redacted_thinking", "reasoning", NULL};
	static const char *const pictures[] = {"image", "image_url", "input_image", NULL};
	size_t start = buf->size, count = 0, images = 0, results = 0, others = 0;
	bool thinks = false;

	for (rt_json_iter it = rt_json_items(content.blocks); rt_json_next(&it);) {
		rt_str type = rt_json_str(rt_json_get(it.value, "type"));

		if (is_call(it.value))
			add_call(buf, start, count++, it.value);
		else if (rt_str_is_one_of(type, thoughts))
			thinks = true;
		else if (add_attached(buf, start, type, it.value))
			continue;
		else if (rt_str_is_one_of(type, pictures))
			images++;
		else if (rt_str_is(type, "tool_result") || rt_str_is(type, "toolResult"))
			results++;
		else
			others += !rt_content_is_text(it.value);
	}
	for (rt_json_iter it = rt_json_items(calls); rt_json_next(&it);)
		add_call(buf, start, count++, it.value);
	if (thinks) {
		begin_part(buf, start);
		rt_buf_add_c(buf, "thinking");
	}
	add_count(buf, start, images, "image");
	add_count(buf, start, results, "result");
	add_count(buf, start, others, "block of another type");
}

/* How an answer ended that did not end well; with a message, if there is one. */
static void
add_failure(rt_buf *buf, size_t start, yyjson_val *message)
{
	rt_str reason = rt_json_str(rt_json_get(message, "stopReason"));
	rt_str said = rt_json_str(rt_json_get(message, "errorMessage"));

	if (!rt_str_is(reason, "aborted") && !rt_str_is(reason, "error") && said.size == 0)
		return;
	begin_part(buf, start);
	rt_buf_add_str(buf, rt_str_is(reason, "aborted") ? reason : RT_STR("error"));
	if (said.size > 0) {
		rt_buf_add_c(buf, ": ");
		rt_buf_add_str(buf, said);
	}
}

/* "model: openai/gpt-x": a record of pi's that sets something. */
static void
add_setting(rt_buf *buf, yyjson_val *record)
{
	rt_str type = rt_json_str(rt_json_get(record, "type"));
	rt_str provider = rt_json_str(rt_json_get(record, "provider"));
	rt_str model = rt_json_str(rt_json_get(record, "modelId"));
	rt_str level = rt_json_str(rt_json_get(record, "thinkingLevel"));
	rt_str custom = rt_json_str(rt_json_get(record, "customType"));

	if (rt_str_is(type, "model_change") && model.size > 0) {
		rt_buf_add_c(buf, "model: ");
		rt_buf_add_str(buf, provider);
		rt_buf_add_c(buf, provider.size > 0 ? "/" : "");
		rt_buf_add_str(buf, model);
	} else if (rt_str_is(type, "thinking_level_change") && level.size > 0) {
		rt_buf_add_c(buf, "thinking: ");
		rt_buf_add_str(buf, level);
	} else if (rt_str_is(type, "custom") && custom.size > 0) {
		rt_buf_add_c(buf, "custom: ");
		rt_buf_add_str(buf, custom);
	} else if (rt_str_is(type, "usage")) {
		rt_buf_add_c(buf, "usage: ");
		rt_buf_add_str(buf, rt_json_str(rt_json_get(record, "kind")));
	}
}

void
rt_content_add_brief(rt_buf *buf, rt_content content, yyjson_val *calls, yyjson_val *record)
{
	size_t start = buf->size, inside;

	rt_buf_add_byte(buf, '(');
	inside = buf->size;
	rt_content_add_parts(buf, content, calls);
	add_failure(buf, inside, rt_json_get(record, "message"));
	if (buf->status != RT_OK)
		return;
	if (buf->size > inside) {
		rt_buf_add_byte(buf, ')');
		return;
	}
	buf->size = start;
	buf->ptr[start] = 0;
	add_setting(buf, record);
}

/* ---- visibility ---- */

static bool
is_not_displayed(yyjson_val *object)
{
	yyjson_val *display = rt_json_get(object, "display");

	return yyjson_is_bool(display) && !yyjson_get_bool(display);
}

bool
rt_content_is_hidden(rt_str kind, yyjson_val *fields, yyjson_val *record)
{
	yyjson_val *message = rt_json_get(record, "message");

	if (rt_str_is(kind, "custom") || rt_str_is(kind, "label"))
		return true;
	if (rt_str_is(kind, "custom_message"))
		return is_not_displayed(fields) || is_not_displayed(record);
	return rt_str_is(rt_json_str(rt_json_get(message, "role")), "custom") &&
	       is_not_displayed(message);
}
