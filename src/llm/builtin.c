/* SPDX-License-Identifier: MIT
 *
 * The built-in models read the same requests as an OpenAI server. */
#include "llm/builtin_impl.h"

#include <string.h>

#include "base/encode.h"
#include "codec/content.h"
#include "log/blob.h"

enum {
	ECHO_WORDS = 40,
	SUMMARY_WORDS = 8,
	URL_SHOWN_MAX = 200,
	SUMMARY_MESSAGES = 40, /* half from the beginning, half from the end */
	BYTES_A_TOKEN = 4
};

typedef struct builtin {
	rt_model model;
	rt_builtin_options options; /* its name and script are copies */
	size_t replies;             /* in the script; 0: no script */
	rt_scope scope;             /* all its memory */
} builtin;

/* ---- images ---- */

static unsigned
number_at(rt_str bytes, size_t at, bool big)
{
	unsigned a = (unsigned char)bytes.ptr[at], b = (unsigned char)bytes.ptr[at + 1];

	return big ? a << 8 | b : b << 8 | a;
}

/* The position of height and width in the frame of a JPEG; SIZE_MAX: there is none. */
static size_t
jpeg_frame(rt_str bytes)
{
	size_t at = 2;

	while (at + 9 <= bytes.size && (unsigned char)bytes.ptr[at] == 0xFF) {
		unsigned kind = (unsigned char)bytes.ptr[at + 1];

		if (kind >= 0xC0 && kind <= 0xCF && kind != 0xC4 && kind != 0xC8 && kind != 0xCC)
			return at + 5;
		at += 2 + (size_t)number_at(bytes, at + 2, true);
	}
	return SIZE_MAX;
}

/* "PNG, 640 × 480"; without the size for a WebP image and for one that is not complete. */
static void
add_picture(rt_buf *out, rt_str bytes)
{
	const char *type = rt_blob_image_type(bytes);
	unsigned width = 0, height = 0;
	size_t at;

	if (type == NULL) {
		rt_buf_add_c(out, "of an unknown type");
	} else if (strcmp(type, "image/png") == 0) {
		rt_buf_add_c(out, "PNG");
		if (bytes.size >= 24) {
			width = number_at(bytes, 16, true) << 16 | number_at(bytes, 18, true);
			height = number_at(bytes, 20, true) << 16 | number_at(bytes, 22, true);
		}
	} else if (strcmp(type, "image/gif") == 0) {
		rt_buf_add_c(out, "GIF");
		if (bytes.size >= 10) {
			width = number_at(bytes, 6, false);
			height = number_at(bytes, 8, false);
		}
	} else if (strcmp(type, "image/jpeg") == 0) {
		rt_buf_add_c(out, "JPEG");
		at = jpeg_frame(bytes);
		if (at != SIZE_MAX) {
			height = number_at(bytes, at, true);
			width = number_at(bytes, at + 2, true);
		}
	} else {
		rt_buf_add_c(out, "WebP");
	}
	if (width > 0 && height > 0)
		rt_buf_add_f(out, ", %u × %u", width, height);
}

/* ---- the request ---- */

typedef struct asked {
	yyjson_val *messages;
	size_t count, assistants;
	rt_buf *last; /* the last message that is neither the assistant's nor the system's */
	rt_buf *seen; /* its images and files, in words */
} asked;

static void
add_text(yyjson_val *message, rt_buf *out)
{
	yyjson_val *content = rt_json_get(message, "content");

	if (yyjson_is_str(content))
		rt_buf_add_str(out, rt_json_str(content));
	for (rt_json_iter it = rt_json_items(content); rt_json_next(&it);) {
		rt_str text = rt_json_str(rt_json_get(it.value, "text"));

		if (text.size > 0 && out->size > 0)
			rt_buf_add_byte(out, '\n');
		rt_buf_add_str(out, text);
	}
}

/* "an image (PNG, 640 × 480, 12 KB)" for each image, "a file (a.pdf, 3 KB)" for each file. */
static void
add_seen(rt_scope *s, yyjson_val *message, rt_buf *out)
{
	for (rt_json_iter it = rt_json_items(rt_json_get(message, "content")); rt_json_next(&it);) {
		yyjson_val *file = rt_json_get(it.value, "file");
		rt_str url = rt_json_str(rt_json_get(rt_json_get(it.value, "image_url"), "url"));
		rt_str data = file != NULL ? rt_json_str(rt_json_get(file, "file_data")) : url;
		size_t mark = rt_str_find(data, RT_STR(";base64,"), 0);
		rt_buf *bytes = rt_scope_buf(s);

		if (data.size == 0)
			continue;
		rt_buf_add_c(out, out->size > 0 ? ", " : "");
		rt_buf_add_c(out, file != NULL ? "a file (" : "an image (");
		if (mark == SIZE_MAX) {
			rt_buf_add(out, data.ptr, rt_utf8_cut(data, URL_SHOWN_MAX));
		} else {
			(void)rt_buf_add_base64_decoded(bytes, rt_str_skip(data, mark + 8));
			if (file != NULL)
				rt_buf_add_str(out, rt_json_str(rt_json_get(file, "filename")));
			else
				add_picture(out, rt_scope_str(s, bytes));
			rt_buf_add_c(out, ", ");
			rt_content_add_size(out, bytes->size);
		}
		rt_buf_add_byte(out, ')');
	}
}

static asked
read_request(rt_scope *s, rt_str body)
{
	asked a = {.messages = rt_json_get(rt_json_parse(s, body), "messages"),
		   .last = rt_scope_buf(s),
		   .seen = rt_scope_buf(s)};

	for (rt_json_iter it = rt_json_items(a.messages); rt_json_next(&it);) {
		rt_str role = rt_json_str(rt_json_get(it.value, "role"));

		a.count++;
		a.assistants += rt_str_is(role, "assistant");
		if (rt_str_is(role, "assistant") || rt_str_is(role, "system"))
			continue;
		rt_buf_clear(a.last);
		rt_buf_clear(a.seen);
		add_text(it.value, a.last);
		add_seen(s, it.value, a.seen);
	}
	(void)rt_scope_str(s, a.seen);
	(void)rt_scope_str(s, a.last);
	return a;
}

/* ---- giving ---- */

/* Bytes up to the end of this many words, with the blanks before them. */
static size_t
words_size(rt_str text, size_t words)
{
	size_t at = 0;

	for (; words > 0 && at < text.size; words--) {
		while (at < text.size && rt_is_blank(text.ptr[at]))
			at++;
		while (at < text.size && !rt_is_blank(text.ptr[at]))
			at++;
	}
	return at;
}

/* Two to six words at a time; the number depends on the position only. */
static void
give_text(const rt_giving *g, rt_str text)
{
	rt_builtin_wait(g, 0);
	for (size_t pieces = 0; rt_ok(g->s) && text.size > 0; pieces++) {
		size_t size = words_size(text, 2 + (pieces * 7 + text.size) % 5);

		rt_reply_add_text(g->reply, rt_str_at(text.ptr, size));
		text = rt_str_skip(text, size);
		if (text.size > 0)
			rt_builtin_wait(g, g->options->pace_ms);
	}
}

/* The first words on one line, and dots if there are more. */
static void
add_beginning(rt_buf *out, rt_str text, size_t words)
{
	size_t size;
	bool after_blank = false;

	text = rt_str_trim(text);
	size = words_size(text, words);
	for (size_t i = 0; i < size; i++) {
		bool is_blank = rt_is_blank(text.ptr[i]);

		if (after_blank && !is_blank)
			rt_buf_add_byte(out, ' ');
		if (!is_blank)
			rt_buf_add_byte(out, text.ptr[i]);
		after_blank = is_blank;
	}
	if (size < text.size)
		rt_buf_add_c(out, " ...");
}

static void
add_echo(const asked *a, rt_buf *out)
{
	bool has_text = rt_str_trim(rt_buf_str(a->last)).size > 0;

	if (!has_text && a->seen->size == 0) {
		rt_buf_add_c(out, "Hello. I am the built-in model: I need no network, and I know "
				  "nothing. Say something, and I will repeat it.");
		return;
	}
	if (has_text) {
		rt_buf_add_c(out, "You said: \"");
		add_beginning(out, rt_buf_str(a->last), ECHO_WORDS);
		rt_buf_add_c(out, "\"\n\n");
	}
	if (a->seen->size > 0) {
		rt_buf_add_c(out, "I received ");
		rt_buf_add_str(out, rt_buf_str(a->seen));
		rt_buf_add_c(out, ".\n\n");
	}
	rt_buf_add_f(out,
		     "That makes %zu message%s. I am the built-in model and only repeat; for "
		     "answers, choose another model.",
		     a->count, a->count == 1 ? "" : "s");
}

static void
add_summary(rt_scope *s, const asked *a, rt_buf *out)
{
	rt_buf *text = rt_scope_buf(s);

	rt_buf_add_f(out, "Summary of %zu message%s:", a->count, a->count == 1 ? "" : "s");
	for (rt_json_iter it = rt_json_items(a->messages); rt_json_next(&it);) {
		if (it.index == SUMMARY_MESSAGES / 2 && it.count > SUMMARY_MESSAGES)
			rt_buf_add_f(out, "\n- (%zu more)", it.count - SUMMARY_MESSAGES);
		if (it.index >= SUMMARY_MESSAGES / 2 &&
		    it.index + SUMMARY_MESSAGES / 2 < it.count)
			continue;
		rt_buf_clear(text);
		add_text(it.value, text);
		rt_buf_add_c(out, "\n- ");
		rt_buf_add_str(out, rt_json_str(rt_json_get(it.value, "role")));
		rt_buf_add_c(out, ": ");
		add_beginning(out, rt_scope_str(s, text), SUMMARY_WORDS);
	}
}

static bool
wants_summary(rt_str text)
{
	for (size_t i = 0; i + 6 <= text.size; i++)
		if (rt_str_eq_nocase(rt_str_at(text.ptr + i, 6), RT_STR("summar")))
			return true;
	return false;
}

static void
give_composed(const rt_giving *g, const asked *a, bool summary)
{
	rt_buf *text = rt_scope_buf(g->s);
	rt_str conversation;

	if (rt_builtin_conversation(rt_buf_str(a->last), &conversation))
		rt_builtin_add_summary(text, conversation);
	else if (summary || wants_summary(rt_buf_str(a->last)))
		add_summary(g->s, a, text);
	else
		add_echo(a, text);
	rt_str all = rt_scope_str(g->s, text);
	if (rt_ok(g->s))
		give_text(g, all);
}

/* The members that the reply does not have yet. */
static void
give_end(const rt_giving *g)
{
	rt_reply *reply = g->reply;

	if (reply->usage.input == SIZE_MAX)
		reply->usage.input = (g->ask->body.size + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN;
	if (reply->usage.output == SIZE_MAX)
		reply->usage.output = (reply->size - reply->model.size + BYTES_A_TOKEN - 1) /
				      BYTES_A_TOKEN;
	if (reply->stop == RT_STOP_NONE)
		rt_reply_set_stop(reply, rt_answer_usual_stop(reply));
	reply->ended = true;
}

static rt_status
ask(rt_model *model, const rt_ask *request, rt_reply *reply, rt_error *err)
{
	builtin *b = (builtin *)model;
	rt_scope s;
	rt_giving g = {&b->options, request, reply, &s};
	asked a;

	rt_scope_init(&s, reply->alloc);
	reply->provider = rt_provider_builtin.name;
	rt_reply_set_model(reply, model->name);
	a = read_request(&s, request->body);
	if (rt_ok(&s) && b->replies > 0)
		rt_script_play(b->options.script, a.assistants % b->replies, &g);
	else if (rt_ok(&s))
		give_composed(&g, &a, rt_str_is(model->name, "summary"));
	if (rt_ok(&s))
		give_end(&g);
	RT_TRY(&s, rt_answer_status(reply, &s.error));
	return rt_scope_end(&s, err);
}

/* ---- opening ---- */

static void
close_model(rt_model *model)
{
	if (model == NULL)
		return;
	rt_scope s = ((builtin *)model)->scope;
	rt_scope_deinit(&s);
}

static bool
is_play(rt_str name)
{
	return rt_str_is(name, "play") || rt_str_starts(name, RT_STR("play:"));
}

rt_status
rt_builtin_check(rt_str name, rt_error *err)
{
	if (is_play(name) || rt_str_is(name, "echo") || rt_str_is(name, "text") ||
	    rt_str_is(name, "summary"))
		return RT_OK;
	return rt_fail(err, RT_NOT_FOUND,
		       "no built-in model \"%.*s\"; available: echo, summary, text and play:FILE",
		       (int)rt_utf8_cut(name, 80), name.ptr);
}

rt_status
rt_builtin_open(const rt_alloc *alloc, const rt_builtin_options *options, rt_model **out,
		rt_error *err)
{
	static const rt_model_ops ops = {close_model, ask};
	rt_str name = rt_provider_model(&rt_provider_builtin, options->name);
	size_t replies = 0;
	rt_scope s;

	rt_scope_init(&s, alloc);
	if (name.size == 0)
		name = RT_STR("echo");
	RT_TRY(&s, rt_builtin_check(name, &s.error));
	if (is_play(name))
		RT_TRY(&s, rt_script_check(options->script, alloc, &replies, &s.error));
	builtin *b = rt_scope_get(&s, sizeof(*b));
	name = rt_scope_copy(&s, name);
	rt_str script = rt_scope_copy(&s, options->script);
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	b->replies = replies;
	b->options = *options;
	b->options.name = name;
	b->options.script = script;
	b->model = (rt_model){.ops = &ops, .provider = rt_provider_for(&rt_provider_builtin, name), .name = name};
	b->scope = s;
	*out = &b->model;
	return RT_OK;
}
