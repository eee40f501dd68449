/* SPDX-License-Identifier: MIT
 *
 * A model on a simulated server: the requests, their number, the kept part of an answer that is cut
 * anywhere, and that no message contains a key. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "codec/mask.h"
#include "base/failing_testing.h"
#include "llm/provider.h"
#include "llm/server_model.h"

#define KEY "sk-canary/7Qx+Zr2L"

/* ---- a transport with a script ---- */

typedef struct act {
	rt_status status;    /* of the transport itself, after the body */
	unsigned http;
	const char *body;
	bool is_stream, is_json, is_transient;
	unsigned retry_after_s;
	const char *location;
	size_t piece;        /* bytes passed on at once; 0: all */
	bool holds;          /* the connection stays open, while the clock is set back by a day */
} act;

typedef struct stage {
	rt_transport base;
	const act *acts;
	size_t act_count, sent, closed;
	unsigned waited_ms[8];
	size_t waits;
	bool stop_in_wait;
	size_t held;         /* the number of calls of stop after everything had arrived */
	int64_t now_us;
	uint32_t random;     /* the next random number */
	rt_buf log;          /* the request: method, url, headers, body */
	rt_buf notices;
	const rt_reply *reply; /* the text that is stored at every tick */
} stage;

static void
stage_close(rt_transport *transport)
{
	((stage *)transport)->closed++;
}

static rt_status
stage_send(rt_transport *transport, const rt_http_request *request, rt_http_answer *answer,
	   rt_http_fn fn, void *fn_ctx, rt_error *err)
{
	stage *s = (stage *)transport;
	const act *a = &s->acts[s->sent < s->act_count ? s->sent : s->act_count - 1];
	rt_str body = rt_str_of(a->body);
	rt_status st = RT_OK;
	size_t i, at;

	s->sent++;
	rt_buf_add_f(&s->log, "%s %.*s\n", request->method, RT_STR_ARG(request->url));
	for (i = 0; i < request->header_count; i++)
		rt_buf_add_f(&s->log, "%.*s: %.*s\n", RT_STR_ARG(request->headers[i].name),
			     RT_STR_ARG(request->headers[i].value));
	rt_buf_add_f(&s->log, "%.*s\n", RT_STR_ARG(request->body));
	memset(answer, 0, sizeof(*answer));
	answer->is_transient = a->is_transient;
	if (a->http == 0)
		return rt_fail(err, a->status, "nothing answers");
	answer->status = a->http;
	answer->is_stream = a->is_stream;
	answer->is_json = a->is_json;
	answer->retry_after_s = a->retry_after_s;
	if (a->location != NULL)
		snprintf(answer->location, sizeof(answer->location), "%s", a->location);
	for (at = 0; at < body.size && st == RT_OK;) {
		size_t size = a->piece == 0 || a->piece > body.size - at ? body.size - at : a->piece;

		if (request->stop(request->ctx))
			return rt_fail(err, RT_INTERRUPTED, "stopped");
		request->tick(request->ctx);
		st = fn(fn_ctx, answer, rt_str_at(body.ptr + at, size));
		at += size;
	}
	request->tick(request->ctx);
	if (st != RT_OK)
		return st;
	if (a->holds) {
		s->now_us -= (int64_t)24 * 3600 * 1000000;
		while (!request->stop(request->ctx) && s->held++ < 100)
			s->now_us += 100000;
		return rt_fail(err, RT_INTERRUPTED, "stopped");
	}
	return a->status == RT_OK ? RT_OK : rt_fail(err, a->status, "cut off by the stage");
}

static rt_status
stage_wait(rt_transport *transport, unsigned wait_ms, rt_stop_fn stop, void (*tick)(void *ctx),
	   void *ctx)
{
	stage *s = (stage *)transport;

	if (s->waits < 8)
		s->waited_ms[s->waits++] = wait_ms;
	tick(ctx);
	return s->stop_in_wait || stop(ctx) ? RT_INTERRUPTED : RT_OK;
}

static int64_t
stage_now(void *ctx)
{
	return ((stage *)ctx)->now_us;
}

static void
stage_random(void *ctx, void *to, size_t size)
{
	assert_int_equal(size, 4);
	memcpy(to, &((stage *)ctx)->random, 4);
}

static void
take_notice(void *ctx, const rt_notice *said)
{
	const char *words = said->words;
	stage *s = ctx;

	rt_buf_add_f(&s->notices, "%s\n", words);
}

/* The kept part of a reply, at any time. */
static void
check_kept(const rt_reply *reply)
{
	rt_buf kept;

	rt_buf_init(&kept, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_reply_add_fields(reply, &kept);
	if (kept.size > 0 && strstr(kept.ptr, "canary") != NULL)
		fail_msg("a key in what is kept: %s", kept.ptr);
	rt_buf_deinit(&kept);
}

static void
take_tick(void *ctx)
{
	check_kept(((stage *)ctx)->reply);
}

/* ---- one question ---- */

typedef struct outcome {
	rt_status status;
	rt_error err;
	rt_reply reply;
	rt_buf content;
} outcome;

typedef struct question {
	const char *provider; /* NULL: openai */
	const char *url;      /* NULL: the provider's */
	const char *key;      /* NULL: none */
	bool whole;           /* not as a stream */
	rt_stop_fn stop;
	const rt_alloc *alloc;
} question;

static void
stage_init(stage *s, const act *acts, size_t count)
{
	static const rt_transport_ops ops = {stage_close, stage_send, stage_wait};

	memset(s, 0, sizeof(*s));
	s->base.ops = &ops;
	s->acts = acts;
	s->act_count = count;
	s->random = UINT32_MAX; /* the longest pauses */
	rt_buf_init(&s->log, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&s->notices, rt_alloc_libc(), RT_BUF_UNLIMITED);
}

static void
stage_deinit(stage *s)
{
	if (s->log.size > 0 && s->notices.size > 0)
		assert_null(strstr(s->notices.ptr, "canary"));
	rt_buf_deinit(&s->log);
	rt_buf_deinit(&s->notices);
}

static void
ask(stage *s, const question *q, outcome *out)
{
	rt_env env = {stage_now, stage_random, s};
	rt_header header = {RT_STR("X-Org"), RT_STR("me"), false};
	rt_server_model_options options = {
		.alloc = q->alloc != NULL ? q->alloc : rt_alloc_libc(),
		.env = &env,
		.transport = &s->base,
		.provider = rt_provider_named(rt_str_of(q->provider == NULL ? "openai" : q->provider)),
		.url = rt_str_of(q->url),
		.model = RT_STR("m-1"),
		.key = rt_str_of(q->key),
		.headers = &header,
		.header_count = 1,
	};
	rt_ask request = {.body = RT_STR("{\"q\":1}"),
			  .stream = !q->whole,
			  .stop = q->stop,
			  .notice = take_notice,
			  .tick = take_tick,
			  .ctx = s};
	rt_model *model = NULL;

	memset(out, 0, sizeof(*out));
	rt_reply_init(&out->reply, options.alloc, NULL, NULL);
	s->reply = &out->reply;
	rt_buf_init(&out->content, rt_alloc_libc(), RT_BUF_UNLIMITED);
	out->status = rt_server_model_open(&options, &model, &out->err);
	if (out->status == RT_OK) {
		out->status = model->ops->ask(model, &request, &out->reply, &out->err);
		model->ops->close(model);
		assert_int_equal(s->closed, 1);
	} else {
		assert_int_equal(s->closed, 0);
	}
	rt_reply_finish(&out->reply);
	check_kept(&out->reply);
	if (out->reply.status == RT_OK)
		rt_reply_add_all_text(&out->reply, &out->content);
	if (strstr(out->err.text, "canary") != NULL)
		fail_msg("a key in: %s", out->err.text);
	if (out->status != RT_OK)
		assert_int_equal(out->err.status, out->status);
}

static void
outcome_deinit(outcome *out)
{
	rt_reply_deinit(&out->reply);
	rt_buf_deinit(&out->content);
}

/* Sends a request, and checks status, message, stop, text and the number of attempts. */
static void
expect(const act *acts, size_t count, const question *q, rt_status status, const char *words,
       rt_stop stop, const char *text, size_t sent)
{
	stage s;
	outcome out;

	stage_init(&s, acts, count);
	ask(&s, q, &out);
	if (out.status != status || strstr(out.err.text, words) == NULL || out.reply.stop != stop ||
	    !rt_str_is(rt_buf_str(&out.content), text) || s.sent != sent)
		fail_msg("%s: %s; stop %d, text \"%.*s\", sent %zu", rt_status_word(out.status),
			 out.err.text, (int)out.reply.stop, RT_STR_ARG(rt_buf_str(&out.content)),
			 s.sent);
	outcome_deinit(&out);
	stage_deinit(&s);
}

#define DELTA(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define END_MARK "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" \
	"data: [DONE]\n\n"

static const act good = {.http = 200, .is_stream = true, .body = DELTA("Hel") DELTA("lo") END_MARK};

/* ---- tests ---- */

static void
test_request(void **state)
{
	question q = {.key = KEY};
	outcome out;
	stage s;

	(void)state;
	stage_init(&s, &good, 1);
	ask(&s, &q, &out);
	assert_int_equal(out.status, RT_OK);
	assert_string_equal(out.content.ptr, "Hello");
	assert_int_equal(out.reply.stop, RT_STOP_END);
	assert_string_equal(s.log.ptr, "POST https://api.openai.com/v1/chat/completions\n"
				       "Content-Type: application/json\n"
				       "Accept: text/event-stream, application/json, "
				       "application/x-ndjson\n"
				       "Authorization: Bearer " KEY "\nX-Org: me\n{\"q\":1}\n");
	assert_string_equal(s.notices.ptr, "waiting for https://api.openai.com\n");
	outcome_deinit(&out);
	stage_deinit(&s);
}

static void
test_answers(void **state)
{
	static const char message[] = "{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\","
				      "\"message\":{\"content\":\"whole\"}}]}";
	static const act whole = {.http = 200, .is_json = true, .body = message};
	static const act plain = {.http = 200, .body = DELTA("Hi") END_MARK, .piece = 40};
	static const act cut = {.http = 200, .is_stream = true, .body = DELTA("Hel")};
	static const act torn = {.http = 200, .is_stream = true, .body = DELTA("Hel"),
				 .status = RT_UPSTREAM};
	static const act late = {.http = 200, .is_stream = true, .body = DELTA("Hel") END_MARK,
				 .status = RT_UPSTREAM};
	static const act bad = {.http = 200, .is_stream = true, .body = DELTA("Hel") "data: {]\n\n"};
	static const act held = {.http = 200, .is_stream = true, .body = DELTA("Hel") END_MARK,
				 .holds = true};
	static const act none = {.http = 200, .is_json = true, .body = " \n"};
	static const act large = {.http = 200, .is_stream = true, .body = DELTA("Hel"),
				  .status = RT_LIMIT};
	static const act told = {.http = 200, .is_stream = true,
				 .body = DELTA("Hel") "data: {\"error\":{\"message\":\"key " KEY
						      " is bad\"}}\n\n"};
	static const act told_and_torn = {
		.http = 200,
		.is_stream = true,
		.status = RT_UPSTREAM,
		.piece = 50,
		.body = DELTA("Hel") "data: {\"error\":{\"message\":\"key " KEY " is bad\"}}\n\n"};
	static const act named = {.http = 200,
				  .is_stream = true,
				  .piece = 30,
				  .body = "data: {\"model\":\"a " KEY
					  "\",\"choices\":[]}\n\n" DELTA("Hi") END_MARK};
	static const act named_whole = {
		.http = 200,
		.is_json = true,
		.body = "{\"model\":\"" KEY
			"\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\","
			"\"message\":{\"content\":\"Hi\"}}]}"};
	/* the shown part ends in the middle of the key */
	static const act shown = {.http = 200,
				  .is_stream = true,
				  .body = "data: 45678901234567890123456789012345678901234567890123"
					  "45678901234567890 " KEY " and more of it\n\n"};
	static const act no_reason = {
		.http = 200, .is_stream = true, .body = DELTA("Hel") "data: [DONE]\n\n"};
	static const act no_reason_call = {
		.http = 200,
		.is_stream = true,
		.body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":"
			"\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n"
			"data: [DONE]\n\n"};
	static const act only_done = {.http = 200, .is_stream = true, .body = "data: [DONE]\n\n"};
	static const act reset_behind = {
		.http = 200,
		.is_stream = true,
		.status = RT_UPSTREAM,
		.body = DELTA("Hel") "data: {\"choices\":[{\"index\":0,\"delta\":{},"
				     "\"finish_reason\":\"length\"}]}\n\n"};
	static const act misnamed = {.http = 200, .is_json = true, .body = DELTA("Hi") END_MARK};
	question q = {.key = KEY}, w = {.key = KEY, .whole = true};
	outcome out;
	stage s;

	(void)state;
	expect(&misnamed, 1, &q, RT_OK, "", RT_STOP_END, "Hi", 1);
	expect(&good, 1, &w, RT_OK, "", RT_STOP_END, "Hello", 1); /* not requested as a stream */
	expect(&whole, 1, &q, RT_OK, "", RT_STOP_END, "whole", 1);
	expect(&whole, 1, &w, RT_OK, "", RT_STOP_END, "whole", 1);
	expect(&plain, 1, &q, RT_OK, "", RT_STOP_END, "Hi", 1);
	expect(&cut, 1, &q, RT_UPSTREAM, "was closed before the reply was complete", RT_STOP_CUT, "Hel", 1);
	expect(&torn, 1, &q, RT_UPSTREAM, "cut off", RT_STOP_CUT, "Hel", 1);
	expect(&late, 1, &q, RT_OK, "", RT_STOP_END, "Hel", 1);
	expect(&bad, 1, &q, RT_UPSTREAM, "", RT_STOP_CUT, "Hel", 1);
	expect(&none, 1, &q, RT_UPSTREAM, "returned an empty response", RT_STOP_CUT, "", 1);
	expect(&large, 1, &q, RT_LIMIT, "", RT_STOP_CUT, "Hel", 1);
	stage_init(&s, &held, 1);
	s.now_us = (int64_t)1700000000 * 1000000;
	ask(&s, &q, &out);
	assert_int_equal(out.status, RT_OK); /* it had ended, whatever the clock says */
	assert_true(s.held < 10);
	outcome_deinit(&out);
	stage_deinit(&s);
	expect(&told, 1, &q, RT_UPSTREAM, "key [key] is bad", RT_STOP_ERROR, "Hel", 1);
	expect(&told_and_torn, 1, &q, RT_UPSTREAM, "key [key] is bad", RT_STOP_ERROR, "Hel", 1);
	expect(&named, 1, &q, RT_OK, "", RT_STOP_END, "Hi", 1);
	expect(&named_whole, 1, &q, RT_OK, "", RT_STOP_END, "Hi", 1);
	expect(&shown, 1, &q, RT_UPSTREAM,
	       "not a model's reply: 45678901234567890123456789012345"
	       "678901234567890123"
	       "45678901234567890 [key] ...",
	       RT_STOP_CUT, "", 1);
	expect(&no_reason, 1, &q, RT_OK, "", RT_STOP_END, "Hel", 1);
	expect(&no_reason_call, 1, &q, RT_OK, "", RT_STOP_CALLS, "", 1);
	expect(&only_done, 1, &q, RT_OK, "", RT_STOP_NONE, "", 1);
	expect(&reset_behind, 1, &q, RT_OK, "", RT_STOP_LENGTH, "Hel", 1);
}

static void
test_retries(void **state)
{
	static const act busy = {.http = 429, .body = "{\"error\":{\"message\":\"slow down\"}}"};
	static const act then_good[] = {
		{.http = 529, .body = "{}"},
		{.status = RT_UPSTREAM, .is_transient = true},
		{.http = 200, .is_stream = true, .body = DELTA("ok") END_MARK},
	};
	static const act lost = {.status = RT_UPSTREAM};
	static const act later = {.http = 503, .body = "{}", .retry_after_s = 61};
	static const act quota = {.http = 429, .body = "{\"error\":{\"message\":\"pay\",\"code\":"
						       "\"insufficient_quota\"}}"};
	static const act wrong = {.http = 400, .body = "{}"};
	static const act moved = {.http = 302, .body = "", .location = "https://b.example"};
	question q = {.key = KEY};

	(void)state;
	expect(&busy, 1, &q, RT_UPSTREAM, "429 (too many requests): slow down", RT_STOP_NONE, "", 5);
	expect(then_good, 3, &q, RT_OK, "", RT_STOP_END, "ok", 3);
	expect(&lost, 1, &q, RT_UPSTREAM, "nothing answers", RT_STOP_NONE, "", 1);
	expect(&later, 1, &q, RT_UPSTREAM, "requested a wait of 61 s", RT_STOP_NONE, "", 1);
	expect(&quota, 1, &q, RT_UPSTREAM, "pay", RT_STOP_NONE, "", 1);
	expect(&wrong, 1, &q, RT_UPSTREAM, "400", RT_STOP_NONE, "", 1);
	expect(&moved, 1, &q, RT_UPSTREAM, "a redirect to https://b.example. Redirects are not followed",
	       RT_STOP_NONE, "", 1);
}

/* The longest random pauses, and those that the server requests. */
static void
test_pauses(void **state)
{
	static const act busy[] = {
		{.http = 500, .body = ""}, {.http = 502, .body = ""},
		{.http = 503, .body = "", .retry_after_s = 60}, {.http = 504, .body = ""},
	};
	question q = {.key = KEY};
	outcome out;
	stage s;

	(void)state;
	stage_init(&s, busy, 4);
	s.random = 1000; /* below 1001: the whole second */
	ask(&s, &q, &out);
	assert_int_equal(s.waits, 4);
	assert_int_equal(s.waited_ms[0], 1000);
	assert_int_equal(s.waited_ms[1], 1000);
	assert_int_equal(s.waited_ms[2], 60100);
	assert_int_equal(s.waited_ms[3], 1000);
	assert_non_null(strstr(s.notices.ptr, "server error 503, retry 3 of 4 in 61 s"));
	assert_non_null(strstr(s.notices.ptr, ", retry 1 of 4 in 1 s"));
	assert_non_null(strstr(s.notices.ptr, ", retry 4 of 4 in 1 s"));
	outcome_deinit(&out);
	stage_deinit(&s);
	stage_init(&s, busy, 4);
	s.stop_in_wait = true;
	ask(&s, &q, &out);
	assert_int_equal(out.status, RT_INTERRUPTED);
	assert_int_equal(out.reply.stop, RT_STOP_USER);
	assert_int_equal(s.sent, 1);
	outcome_deinit(&out);
	stage_deinit(&s);
}

static bool
stop_later(void *ctx)
{
	stage *s = ctx;

	s->now_us++;
	return s->now_us > 8;
}

static void
test_stop(void **state)
{
	static const act slow = {.http = 200, .is_stream = true, .piece = 20,
				 .body = DELTA("Hel") DELTA("lo") DELTA("!") END_MARK};
	question q = {.key = KEY, .stop = stop_later};

	(void)state;
	expect(&slow, 1, &q, RT_INTERRUPTED, "stopped", RT_STOP_USER, "Hello", 1);
}

static void
test_keys(void **state)
{
	static const act refused[] = {
		{.http = 401, .body = "{\"error\":{\"message\":\"bad key " KEY "\"}}"},
		{.http = 403, .body = "no: " KEY},
		{.http = 401, .body = "{}"},
	};
	question none = {.key = NULL}, local = {.url = "http://127.0.0.1:1/v1"};
	question plain = {.key = KEY, .url = "http://box/v1"}, torn = {.key = "sk-canary\r\nx: y"};
	question with = {.key = KEY};
	question named = {.key = KEY, .url = "https://me:canary@box/v1"};

	(void)state;
	expect(&refused[0], 1, &with, RT_CREDENTIALS, "does not accept the key (401): bad key [key]. "
	       "Set OPENAI_API_KEY", RT_STOP_NONE, "", 1);
	expect(&refused[1], 1, &with, RT_CREDENTIALS, "(403): no: [key]", RT_STOP_NONE, "", 1);
	expect(&refused[2], 1, &local, RT_CREDENTIALS, "requires a key (401)", RT_STOP_NONE, "", 1);
	expect(&good, 1, &none, RT_CREDENTIALS, "there is no key for https://api.openai.com",
	       RT_STOP_NONE, "", 0);
	expect(&good, 1, &local, RT_OK, "", RT_STOP_END, "Hello", 1);
	expect(&good, 1, &plain, RT_REFUSED, "unencrypted", RT_STOP_NONE, "", 0);
	expect(&good, 1, &torn, RT_CREDENTIALS, "has an invalid character", RT_STOP_NONE, "", 0);
	expect(&good, 1, &named, RT_USAGE, "password", RT_STOP_NONE, "", 0);
}

static const struct {
	const char *provider, *body;
	bool lines;
} streams[] = {
	{"openai", DELTA("Hä") DELTA("\xF0\x9F\x99\x82") END_MARK, false},
	{"anthropic",
	 "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
	 "\"delta\":{\"type\":\"text_delta\",\"text\":\"Hä\"}}\n\n"
	 "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
	 "\"delta\":{\"type\":\"text_delta\",\"text\":\"\xF0\x9F\x99\x82\"}}\n\n"
	 "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
	 "\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", false},
	{"ollama",
	 "{\"message\":{\"role\":\"assistant\",\"content\":\"Hä\"},\"done\":false}\n"
	 "{\"message\":{\"role\":\"assistant\",\"content\":\"\xF0\x9F\x99\x82\"},\"done\":false}\n"
	 "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n", true},
	{"gemini",
	 "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hä\"}]}}]}\r\n\r\n"
	 "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\xF0\x9F\x99\x82\"}]},"
	 "\"finishReason\":\"STOP\"}]}\r\n\r\n", false},
};

/* Cut after every byte, and in pieces of every small size: the kept part is the beginning of the
 * answer, and a cut is reported. */
static void
test_cuts(void **state)
{
	static const char said[] = "Hä\xF0\x9F\x99\x82";
	size_t i, size;

	(void)state;
	for (i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		char *copy = strdup(streams[i].body);
		question q = {.key = KEY, .provider = streams[i].provider};
		size_t full = strlen(copy);

		for (size = full; size > 0; size--) {
			act a = {.http = 200, .is_stream = true, .body = copy, .piece = 1 + size % 7};
			outcome out;
			stage s;

			copy[size] = '\0';
			stage_init(&s, &a, 1);
			ask(&s, &q, &out);
			assert_true(rt_str_starts(rt_str_of(said), rt_buf_str(&out.content)));
			if (size == full)
				assert_int_equal(out.status, RT_OK);
			if (out.status == RT_OK)
				assert_true(out.reply.stop == RT_STOP_END);
			else if (out.reply.stop != RT_STOP_CUT && out.reply.stop != RT_STOP_END)
				fail_msg("%s, %zu bytes: stop %d", streams[i].provider, size,
					 (int)out.reply.stop);
			assert_int_equal(s.sent, 1);
			outcome_deinit(&out);
			stage_deinit(&s);
		}
		free(copy);
	}
}

/* ---- the models of a server ---- */

static void
take_model(void *ctx, rt_str name, size_t context_tokens)
{
	(void)context_tokens;
	rt_buf_add_f(ctx, "%.*s;", RT_STR_ARG(name));
}

static void
test_models(void **state)
{
	static const act acts[] = {
		{.http = 503, .body = "{}"},
		{.http = 200,
		 .is_json = true,
		 .body = "{\"data\":[{\"id\":\"a\"},{\"id\":\"b " KEY "\"}]}"},
		{.http = 401, .body = "{}"},
		{.http = 200, .is_json = true, .body = "<html>" KEY},
	};
	stage s;
	rt_env env = {stage_now, stage_random, &s};
	rt_server_model_options options = {
		.env = &env,
		.transport = &s.base,
		.provider = rt_provider_named(RT_STR("openai")),
		.key = RT_STR(KEY),
	};
	rt_model *model = NULL;
	rt_error err;
	rt_buf names;

	(void)state;
	stage_init(&s, acts, 4);
	rt_buf_init(&names, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_server_model_open(&options, &model, NULL), RT_OK);
	assert_int_equal(rt_server_models(model, NULL, NULL, take_model, &names, &err), RT_OK);
	assert_string_equal(names.ptr, "a;b [key];");
	assert_true(rt_str_starts(rt_buf_str(&s.log), RT_STR("GET https://api.openai.com/v1/models\n")));
	assert_int_equal(rt_server_models(model, NULL, NULL, take_model, &names, &err),
			 RT_CREDENTIALS);
	assert_int_equal(rt_server_models(model, NULL, NULL, take_model, &names, &err), RT_UPSTREAM);
	assert_null(strstr(err.text, "canary"));
	model->ops->close(model);
	rt_buf_deinit(&names);
	stage_deinit(&s);
}

/* ---- masks ---- */

static void
test_masks(void **state)
{
	static const struct {
		const char *text, *wanted;
		bool is_cut;
	} cases[] = {
		{"", "", false},
		{"nothing here", "nothing here", false},
		{KEY, "[key]", false},
		{"a" KEY "b" KEY, "a[key]b[key]", false},
		{"?key=sk-canary%2F7Qx%2bZr2L&x", "?key=[key]&x", false},
		{"\"sk-canary\\/7Qx\\u002BZr2L\"", "\"[key]\"", false},
		/* base64 of " " "  " and the key, and of "u:" and the key and more */
		{"x c2stY2FuYXJ5LzdReCtacjJM y", "x [key] y", false},
		{"x IHNrLWNhbmFyeS83UXgrWnIyTA== y", "x [key] y", false},
		{"x dTpzay1jYW5hcnkvN1F4K1pyMkwhIQ y", "x [key] y", false},
		{"wrong: sk-ca*****r2L.", "wrong: [key].", false},
		{"wrong: ****Zr2L", "wrong: [key]", false},
		{"wrong: sk-can...", "wrong: sk-can...", false},
		{"wrong: sk-can...Zr2L", "wrong: [key]", false},
		{"sk-other", "sk-other", false},
		{"ends sk-canary/7", "ends sk-canary/7", false},
		{"ends sk-canary/7", "ends [key]", true},
		{"ends sk-canary%2", "ends [key]", true},
		{"ends sk", "ends sk", true},
		/* The key's own "%" and "\\", as they are and escaped. */
		{"?key=ab%cd\\\"12345", "?key=[key]", false},
		{"?key=ab%25cd%5C%2212345&x", "?key=[key]&x", false},
		{"\"ab%cd\\\\\\\"12345\"", "\"[key]\"", false},
		{"\"ab%25cd\\\\\\\"12345\"", "\"[key]\"", false},
		{"\"?key=ab%cd\\u005C\\\"12345\"", "\"?key=[key]\"", false},
	};
	rt_str secrets[] = {RT_STR(KEY), RT_STR("abc"), RT_STR("ab%cd\\\"12345")};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_buf out;

		rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_mask_add(&out, rt_str_of(cases[i].text), secrets, 3, cases[i].is_cut);
		if (!rt_str_is(rt_buf_str(&out), cases[i].wanted))
			fail_msg("%s: %s", cases[i].text, out.ptr);
		rt_buf_deinit(&out);
	}
}

/* ---- out of memory ---- */

/* Nothing leaks or crashes; a reported success is complete, except for text that may be left
 * out. */
static void
test_torture(void **state)
{
	static const act acts[][2] = {
		{{.http = 503, .body = "{\"error\":{\"message\":\"busy\"}}"},
		 {.http = 200, .is_stream = true, .body = DELTA("Hel") DELTA("lo") END_MARK}},
		{{.http = 200, .is_json = true, .body = "{\"choices\":[{\"index\":0,\"finish_reason\":"
							"\"stop\",\"message\":{\"content\":\"Hello\"}}]}"}},
		{{.http = 401, .body = "{\"error\":{\"message\":\"bad " KEY "\"}}"}},
		{{.http = 200, .is_stream = true, .body = DELTA("Hello")
		  "data: {\"error\":{\"message\":\"bad " KEY "\"}}\n\n"}},
	};
	static const rt_status wanted[] = {RT_OK, RT_OK, RT_CREDENTIALS, RT_UPSTREAM};
	failing f;
	rt_alloc alloc = {failing_resize, failing_release, &f};
	question q = {.key = KEY, .alloc = &alloc};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		f.failed = true;
		for (long allowed = 0; f.failed; allowed++) {
			outcome out;
			stage s;

			f = (failing){.left = allowed};
			stage_init(&s, acts[i], acts[i][1].http != 0 ? 2 : 1);
			ask(&s, &q, &out);
			if (out.status != wanted[i] && out.status != RT_NOMEM)
				fail_msg("story %zu, %ld allocations: %s: %s", i, allowed,
					 rt_status_word(out.status), out.err.text);
			if (!f.failed)
				assert_int_equal(out.status, wanted[i]);
			if (out.status == RT_OK)
				assert_true(rt_str_is(rt_buf_str(&out.content), "Hello"));
			outcome_deinit(&out);
			stage_deinit(&s);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_retries),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
