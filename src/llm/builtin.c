/* SPDX-License-Identifier: MIT
 *
 * The built-in models read the same request as an OpenAI server would. */
#include "llm/builtin_impl.h"


enum {
	WAIT_ONCE_MS = 50,
	ECHO_WORDS = 40,
	SUMMARY_WORDS = 8,
	SUMMARY_MESSAGES = 40, /* half from the beginning, half from the end */
	BYTES_A_TOKEN = 4
};

typedef struct builtin {
	rt_model model;
	const rt_alloc *alloc;
	rt_builtin_options options; /* its script is ours */
	size_t replies;             /* in the script */
	rt_buf name, script;
} builtin;

/* ---- the request ---- */

/* What is read of one. */
typedef struct asked {
	rt_json_doc *doc;
	yyjson_val *messages;
	size_t count, assistants;
	rt_buf last; /* what was said last that is neither the assistant's nor a rule */
} asked;

static void
add_text(yyjson_val *message, rt_buf *out)
{
	yyjson_val *content = rt_json_get(message, "content"), *part;
	size_t i, max;

	if (yyjson_is_str(content))
		rt_buf_add_str(out, rt_json_str(content));
	yyjson_arr_foreach(content, i, max, part)
	{
		rt_str text = rt_json_str(rt_json_get(part, "text"));

		if (text.size > 0 && out->size > 0)
			rt_buf_add_byte(out, '\n');
		rt_buf_add_str(out, text);
	}
}

static rt_status
asked_read(asked *a, rt_str body, const rt_alloc *alloc, rt_error *err)
{
	yyjson_val *message;
	size_t i, max;
	rt_status st;

	memset(a, 0, sizeof(*a));
	rt_buf_init(&a->last, alloc, RT_BUF_UNLIMITED);
	st = rt_json_read(alloc, body, &a->doc, err);
	if (st != RT_OK)
		return st;
	a->messages = rt_json_get(rt_json_root(a->doc), "messages");
	yyjson_arr_foreach(a->messages, i, max, message)
	{
		rt_str role = rt_json_str(rt_json_get(message, "role"));

		a->count++;
		a->assistants += rt_str_is(role, "assistant");
		if (rt_str_is(role, "assistant") || rt_str_is(role, "system"))
			continue;
		rt_buf_clear(&a->last);
		add_text(message, &a->last);
	}
	return a->last.status == RT_OK ? RT_OK : rt_fail(err, a->last.status, "out of memory");
}

static void
asked_deinit(asked *a)
{
	rt_json_free(a->doc);
	rt_buf_deinit(&a->last);
}

/* ---- giving ---- */

static rt_status
interrupted(const rt_giving *g, rt_error *err)
{
	if (g->ask->stop == NULL || !g->ask->stop(g->ask->ctx))
		return RT_OK;
	rt_reply_set_stop(g->reply, RT_STOP_USER);
	return rt_fail(err, RT_INTERRUPTED, "stopped");
}

rt_status
rt_builtin_wait(const rt_giving *g, uint64_t ms, rt_error *err)
{
	rt_status st = interrupted(g, err);

	while (st == RT_OK && ms > 0) {
		unsigned once = ms > WAIT_ONCE_MS ? WAIT_ONCE_MS : (unsigned)ms;

		if (g->options->wait_ms != NULL)
			g->options->wait_ms(g->options->wait_ctx, once);
		if (g->ask->tick != NULL)
			g->ask->tick(g->ask->ctx);
		ms -= once;
		st = interrupted(g, err);
	}
	return st;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Bytes up to the end of this many words, with what is blank before them. */
static size_t
words_size(rt_str text, size_t words)
{
	size_t at = 0;

	for (; words > 0 && at < text.size; words--) {
		while (at < text.size && is_blank(text.ptr[at]))
			at++;
		while (at < text.size && !is_blank(text.ptr[at]))
			at++;
	}
	return at;
}

/* Two to six words at a time; how many depends only on where we are. */
static rt_status
say(const rt_giving *g, rt_str text, rt_error *err)
{
	rt_status st = interrupted(g, err);
	size_t pieces = 0;

	while (st == RT_OK && text.size > 0) {
		size_t size = words_size(text, 2 + (pieces * 7 + text.size) % 5);

		rt_reply_add_text(g->reply, rt_str_at(text.ptr, size));
		text = rt_str_at(text.ptr + size, text.size - size);
		pieces++;
		if (text.size > 0)
			st = rt_builtin_wait(g, g->options->pace_ms, err);
	}
	return st;
}

/* The first words on one line, and dots if there are more. */
static void
add_beginning(rt_buf *out, rt_str text, size_t words)
{
	size_t size, at = 0;
	bool any = false;

	text = rt_str_trim(text);
	size = words_size(text, words);
	while (at < size) {
		size_t next = at + words_size(rt_str_at(text.ptr + at, size - at), 1);

		while (at < next && is_blank(text.ptr[at]))
			at++;
		if (at == next)
			break;
		if (any)
			rt_buf_add_byte(out, ' ');
		any = true;
		rt_buf_add(out, text.ptr + at, next - at);
		at = next;
	}
	if (size < text.size)
		rt_buf_add_c(out, " ...");
}

static void
make_echo(const asked *a, rt_buf *out)
{
	if (rt_str_trim(rt_buf_str(&a->last)).size == 0) {
		rt_buf_add_c(out, "Hello. I am the built-in model: I need no network, and I know "
				  "nothing. Say something, and I say it again.");
		return;
	}
	rt_buf_add_c(out, "You said: \"");
	add_beginning(out, rt_buf_str(&a->last), ECHO_WORDS);
	rt_buf_add_f(out,
		     "\"\n\nThat makes %zu message%s. I am the built-in model and only repeat; for "
		     "answers, choose another: retake set model PROVIDER/NAME",
		     a->count, a->count == 1 ? "" : "s");
}

static void
make_summary(const asked *a, rt_buf *out)
{
	yyjson_val *message;
	size_t i, max;
	rt_buf text;

	rt_buf_init(&text, out->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(out, "Summary of %zu message%s:", a->count, a->count == 1 ? "" : "s");
	yyjson_arr_foreach(a->messages, i, max, message)
	{
		if (i == SUMMARY_MESSAGES / 2 && max > SUMMARY_MESSAGES)
			rt_buf_add_f(out, "\n- (%zu more)", max - SUMMARY_MESSAGES);
		if (i >= SUMMARY_MESSAGES / 2 && i + SUMMARY_MESSAGES / 2 < max)
			continue;
		rt_buf_clear(&text);
		add_text(message, &text);
		if (text.status != RT_OK)
			out->status = text.status;
		rt_buf_add_c(out, "\n- ");
		rt_buf_add_str(out, rt_json_str(rt_json_get(message, "role")));
		rt_buf_add_c(out, ": ");
		add_beginning(out, rt_buf_str(&text), SUMMARY_WORDS);
	}
	rt_buf_deinit(&text);
}

static bool
wants_summary(rt_str text)
{
	size_t i;

	for (i = 0; i + 6 <= text.size; i++)
		if (rt_str_eq_nocase(rt_str_at(text.ptr + i, 6), RT_STR("summar")))
			return true;
	return false;
}

static rt_status
give_made(const rt_giving *g, const asked *a, bool summary, rt_error *err)
{
	rt_str conversation;
	rt_status st;
	rt_buf text;

	rt_buf_init(&text, g->reply->alloc, RT_BUF_UNLIMITED);
	if (rt_builtin_conversation(rt_buf_str(&a->last), &conversation))
		rt_builtin_add_summary(&text, conversation);
	else if (summary || wants_summary(rt_buf_str(&a->last)))
		make_summary(a, &text);
	else
		make_echo(a, &text);
	st = text.status == RT_OK ? say(g, rt_buf_str(&text), err)
				  : rt_fail(err, text.status, "out of memory");
	rt_buf_deinit(&text);
	return st;
}

/* What the reply does not say itself. */
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
	rt_giving g = {&b->options, request, reply};
	rt_status st;
	asked a;

	reply->provider = rt_provider_builtin.name;
	rt_reply_set_model(reply, model->name);
	st = asked_read(&a, request->body, reply->alloc, err);
	if (st == RT_OK && b->replies > 0)
		st = rt_script_play(rt_buf_str(&b->script), a.assistants % b->replies, &g, err);
	else if (st == RT_OK)
		st = give_made(&g, &a, rt_str_is(model->name, "summary"), err);
	asked_deinit(&a);
	if (st == RT_OK)
		give_end(&g);
	return st == RT_OK ? rt_answer_status(reply, err) : st;
}

/* ---- opening ---- */

static void
close_model(rt_model *model)
{
	builtin *b = (builtin *)model;

	if (b == NULL)
		return;
	rt_buf_deinit(&b->name);
	rt_buf_deinit(&b->script);
	rt_free(b->alloc, b);
}

static const rt_model_ops ops = {close_model, ask};

static bool
is_play(rt_str name)
{
	return rt_str_is(name, "play") || rt_str_starts(name, RT_STR("play:"));
}

rt_status
rt_builtin_check(rt_str name, rt_error *err)
{
	if (is_play(name) || rt_str_is(name, "echo") || rt_str_is(name, "summary"))
		return RT_OK;
	return rt_fail(err, RT_NOT_FOUND,
		       "no built-in model \"%.*s\"; there are echo, summary and play",
		       (int)rt_utf8_cut(name, 80), name.ptr);
}

rt_status
rt_builtin_open(const rt_alloc *alloc, const rt_builtin_options *options, rt_model **out,
		rt_error *err)
{
	rt_str name = rt_provider_model(&rt_provider_builtin, options->name);
	size_t replies = 0;
	rt_status st;
	builtin *b;

	if (name.size == 0)
		name = RT_STR("echo");
	st = rt_builtin_check(name, err);
	if (st == RT_OK && is_play(name))
		st = rt_script_check(options->script, alloc, &replies, err);
	if (st != RT_OK)
		return st;
	b = rt_new0(alloc, sizeof(*b));
	if (b == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	b->alloc = alloc;
	b->options = *options;
	b->replies = replies;
	rt_buf_init(&b->name, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&b->script, alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&b->name, name);
	rt_buf_add_str(&b->script, options->script);
	b->model.ops = &ops;
	b->model.provider = &rt_provider_builtin;
	b->model.name = rt_buf_str(&b->name);
	b->options.name = b->model.name;
	b->options.script = rt_buf_str(&b->script);
	if (b->name.status != RT_OK || b->script.status != RT_OK) {
		close_model(&b->model);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	*out = &b->model;
	return RT_OK;
}
