/* SPDX-License-Identifier: MIT
 *
 * One answer of a server: a stream is read into the reply as it arrives, any other answer at its
 * end, and an error becomes a message. */
#include "llm/server_impl.h"

#include "codec/mask.h"
#include "llm/provider.h"

enum {
	ENDED_WAIT_US = 500 * 1000, /* wait for the end of the connection after that of the reply */
	WORDS_MAX = 300             /* bytes of a server's own text in a message */
};

void
rt_exchange_init(exchange *x, const server_model *m, const rt_ask *ask, rt_reply *reply)
{
	*x = (exchange){.m = m, .ask = ask, .reply = reply};
	rt_buf_init(&x->body, m->o.alloc, RT_BUF_UNLIMITED); /* the transport has the limit */
	rt_buf_init(&x->clean_model, m->o.alloc, RT_BUF_UNLIMITED);
}

void
rt_exchange_deinit(exchange *x)
{
	if (x->mode == ANSWER_STREAM)
		rt_frames_deinit(&x->frames);
	rt_buf_deinit(&x->body);
	rt_buf_deinit(&x->clean_model);
}

static int64_t
now_us(const exchange *x)
{
	return x->m->o.env->now_us(x->m->o.env->ctx);
}

bool
rt_exchange_stop(void *ctx)
{
	exchange *x = ctx;
	int64_t since = x->ended_us != 0 ? now_us(x) - x->ended_us : 0;

	if (x->ask->stop != NULL && x->ask->stop(x->ask->ctx))
		x->user_stopped = true;
	return x->user_stopped || since > ENDED_WAIT_US || since < 0; /* the clock was set back */
}

/* ---- reading ---- */

static void
mask(const exchange *x, rt_buf *out, rt_str text, bool is_cut)
{
	rt_mask_add(out, text, x->m->secrets, x->m->secret_count, is_cut);
}

/* Mask a text of the reply in place. */
static void
mask_text(exchange *x, rt_buf *text)
{
	rt_buf masked;

	rt_buf_init(&masked, x->m->o.alloc, RT_BUF_UNLIMITED);
	mask(x, &masked, rt_buf_str(text), false);
	if (masked.status != RT_OK || !rt_str_eq(rt_buf_str(&masked), rt_buf_str(text))) {
		x->reply->size -= text->size;
		rt_buf_clear(text);
		if (masked.status == RT_OK) /* better no text than one with a key in it */
			rt_buf_add_str(text, rt_buf_str(&masked));
		x->reply->size += text->size;
	}
	rt_reply_note(x->reply, masked.status);
	rt_reply_note(x->reply, text->status);
	rt_buf_deinit(&masked);
}

/* After every event: the reply is stored while it grows. */
static void
mask_reply(exchange *x)
{
	rt_buf *model = &x->reply->model;

	if (x->reply->error.size > 0)
		mask_text(x, &x->reply->error);
	if (model->size == 0 || rt_str_eq(rt_buf_str(model), rt_buf_str(&x->clean_model)))
		return;
	mask_text(x, model);
	rt_buf_clear(&x->clean_model);
	rt_buf_add_str(&x->clean_model, rt_buf_str(model));
}

/* Can the reply be continued? */
static rt_status
check_reply(exchange *x, rt_error *err)
{
	rt_status st = x->reply->status;

	if (x->reply->ended && x->ended_us == 0)
		x->ended_us = now_us(x);
	if (st == RT_OK)
		return RT_OK;
	return rt_fail(err, st,
		       st == RT_NOMEM ? "out of memory while a reply arrives"
				      : "the reply from %s is too large to store",
		       x->m->origin.ptr);
}

static rt_status
read_event(exchange *x, rt_str data)
{
	rt_status st;

	if (x->reply->ended) /* a "[DONE]" after an end, and the like */
		return RT_OK;
	st = rt_provider_read_event(x->m->o.provider, x->reply, data, &x->err);
	mask_reply(x);
	return st != RT_OK ? st : check_reply(x, &x->err);
}

/* Is it a stream although its content type is another? */
static bool
looks_like_stream(const exchange *x, const rt_http_answer *answer, rt_str bytes)
{
	rt_str text = rt_str_trim(bytes);

	if (x->m->o.provider->framing == RT_FRAMING_LINES) /* like all JSON */
		return !answer->is_json && text.size > 0 && text.ptr[0] == '{';
	return rt_str_starts(text, RT_STR("data:")) || rt_str_starts(text, RT_STR("event:")) ||
	       rt_str_starts(text, RT_STR("id:")) || rt_str_starts(text, RT_STR(":"));
}

static answer_mode
mode_of(const exchange *x, const rt_http_answer *answer, rt_str bytes)
{
	if (answer->status < 200 || answer->status > 299)
		return ANSWER_ERROR;
	if (x->reply != NULL &&
	    (answer->is_stream || (x->ask->stream && looks_like_stream(x, answer, bytes))))
		return ANSWER_STREAM;
	return ANSWER_WHOLE;
}

rt_status
rt_exchange_on_bytes(void *ctx, const rt_http_answer *answer, rt_str bytes)
{
	exchange *x = ctx;
	rt_status st = RT_OK;
	rt_str data;

	if (x->mode == ANSWER_UNKNOWN) {
		x->mode = mode_of(x, answer, bytes);
		if (x->mode == ANSWER_STREAM)
			rt_frames_init(&x->frames, x->m->o.alloc, x->m->o.provider->framing);
	}
	if (x->mode == ANSWER_STREAM) {
		while (st == RT_OK && rt_frames_next(&x->frames, &bytes, &data))
			st = read_event(x, data);
		return st != RT_OK ? st : rt_frames_check(&x->frames, &x->err);
	}
	if (x->mode == ANSWER_ERROR && x->body.size + bytes.size > RT_MODEL_ERROR_BODY_MAX)
		bytes.size = RT_MODEL_ERROR_BODY_MAX - x->body.size;
	rt_buf_add_str(&x->body, bytes);
	if (x->body.status == RT_OK)
		return RT_OK;
	return rt_fail(&x->err, x->body.status, "out of memory while a reply arrives");
}

/* ---- messages ---- */

/* One line of valid UTF-8 without control characters. */
static void
add_line(rt_scope *s, rt_buf *out, rt_str text)
{
	rt_buf *valid = rt_scope_buf(s);

	rt_utf8_repair(valid, text);
	for (size_t i = 0; i < valid->size; i++) {
		unsigned char c = (unsigned char)valid->ptr[i];

		if (c == 0xC2 && i + 1 < valid->size && (unsigned char)valid->ptr[i + 1] < 0xA0) {
			i++; /* U+0080 to U+009F */
			c = ' ';
		}
		if (c < 0x20 || c == 0x7F)
			c = ' ';
		if (c != ' ' || (out->size > 0 && out->ptr[out->size - 1] != ' '))
			rt_buf_add_byte(out, (char)c);
	}
	(void)rt_scope_str(s, valid);
}

/* ": " and the text of a server's error, masked and short; "" if it has none. The view lives
 * as long as the scope. */
static const char *
server_words(rt_scope *s, const exchange *x)
{
	rt_buf *said = rt_scope_buf(s), *masked = rt_scope_buf(s), *line = rt_scope_buf(s);
	rt_buf *out = rt_scope_buf(s);
	rt_str body = rt_str_trim(rt_buf_str(&x->body)), words;
	size_t size;

	if (body.size > 0)
		rt_provider_read_error(body, s->alloc, said);
	if (said->size == 0 && body.size > 0 && memchr("<{[", body.ptr[0], 3) == NULL)
		rt_buf_add_str(said, body);
	mask(x, masked, rt_scope_str(s, said), x->body.size >= RT_MODEL_ERROR_BODY_MAX);
	add_line(s, line, rt_scope_str(s, masked));
	/* Once again: there may have been control characters between the bytes of a key. */
	rt_buf_clear(masked);
	mask(x, masked, rt_str_trim(rt_scope_str(s, line)), false);
	words = rt_scope_str(s, masked);
	size = rt_utf8_cut(words, WORDS_MAX);
	if (size == words.size && size > 0 && words.ptr[size - 1] == '.')
		words.size = --size; /* the message continues */
	if (size > 0)
		rt_buf_add_f(out, ": %.*s%s", (int)size, words.ptr,
			     size < words.size ? "\xE2\x80\xA6" : "");
	return rt_scope_str(s, out).size > 0 ? out->ptr : "";
}

static const char *
meaning(unsigned status)
{
	switch (status) {
	case 400: return " (it rejected the request)";
	case 402: return " (payment required)";
	case 404: return " (not found: check the url and the name of the model)";
	case 408:
	case 504: return " (timeout)";
	case 413: return " (the request is too large)";
	case 429: return " (too many requests)";
	case 500:
	case 502: return " (internal error)";
	case 503:
	case 529: return " (overloaded)";
	default: return "";
	}
}

/* An answer whose status is not 2xx. */
static rt_status
fail_status(const exchange *x, rt_error *err)
{
	const char *origin = x->m->origin.ptr, *words;
	unsigned status = x->answer.status, after = x->answer.retry_after_s;
	rt_status st;
	rt_scope s;

	rt_scope_init(&s, x->m->o.alloc);
	words = server_words(&s, x);
	if (status == 401 || status == 403)
		st = rt_fail(err, RT_CREDENTIALS, "%s %s (%u)%s. %s", origin,
			     x->m->o.key.size == 0 ? "requires a key" : "does not accept the key",
			     status, words, x->m->o.key_hint.ptr);
	else if (status == 407)
		st = rt_fail(err, RT_UPSTREAM,
			     "the proxy for %s requires a user name and a password (407)%s",
			     origin, words);
	else if (status >= 300 && status <= 399)
		st = rt_fail(err, RT_UPSTREAM,
			     "%s responded with %u, a redirect to %s. Redirects are not "
			     "followed; if that address is correct, set url to it",
			     origin, status,
			     x->answer.location[0] != '\0' ? x->answer.location
							   : "another address");
	else if (after > RT_MODEL_RETRY_AFTER_MAX_S)
		st = rt_fail(err, RT_UPSTREAM, "%s responded with %u%s and requested a wait of %u s%s",
			     origin, status, meaning(status), after, words);
	else
		st = rt_fail(err, RT_UPSTREAM, "%s responded with %u%s%s", origin, status,
			     meaning(status), words);
	rt_scope_deinit(&s);
	return st;
}

/* An error that the server reported within its reply. Its text is masked already; it is masked
 * again as one line. */
static rt_status
fail_reply(const exchange *x, rt_error *err)
{
	rt_scope s;

	rt_scope_init(&s, x->m->o.alloc);
	rt_buf *line = rt_scope_buf(&s), *masked = rt_scope_buf(&s);
	add_line(&s, line, rt_buf_str(&x->reply->error));
	mask(x, masked, rt_scope_str(&s, line), false);
	rt_str words = rt_scope_str(&s, masked);
	words.size = rt_utf8_cut(words, WORDS_MAX);
	(void)rt_fail(err, RT_UPSTREAM, "%s ended the reply with an error%s%.*s", x->m->origin.ptr,
		      words.size > 0 ? ": " : "", RT_STR_ARG(words));
	rt_scope_deinit(&s);
	return RT_UPSTREAM;
}

/* ---- the end ---- */

static rt_status
end_stream(exchange *x, rt_error *err)
{
	const rt_reply *reply = x->reply;
	rt_status st = RT_OK;
	rt_str data;

	if (rt_frames_last(&x->frames, &data))
		st = read_event(x, data);
	if (st == RT_OK)
		st = rt_frames_check(&x->frames, &x->err);
	if (st != RT_OK) {
		*err = x->err;
		return st;
	}
	if (reply->ended || reply->stop != RT_STOP_NONE)
		return RT_OK;
	return rt_fail(err, RT_UPSTREAM, "the connection to %s was closed before the reply was complete",
		       x->m->origin.ptr);
}

static rt_status
end_whole(exchange *x, rt_error *err)
{
	rt_str body = rt_str_trim(rt_buf_str(&x->body));
	rt_status st;

	if (body.size == 0)
		return rt_fail(err, RT_UPSTREAM, "%s returned an empty response", x->m->origin.ptr);
	if (x->reply == NULL)
		return RT_OK;
	st = rt_provider_read_whole(x->m->o.provider, x->reply, body, err);
	mask_reply(x);
	return st != RT_OK ? st : check_reply(x, err);
}

/* The statuses of a callback or the transport in terms of model.h. */
static rt_status
as_upstream(rt_status st)
{
	switch (st) {
	case RT_OK:
	case RT_NOMEM:
	case RT_INTERRUPTED:
	case RT_CREDENTIALS:
	case RT_REFUSED:
	case RT_LIMIT: return st;
	default: return RT_UPSTREAM;
	}
}

/* The stop of a reply for which the server gave none. */
static void
set_stop(exchange *x, rt_status st)
{
	rt_reply *reply = x->reply;
	bool has_stop = reply->stop != RT_STOP_NONE;

	if (st == RT_INTERRUPTED)
		rt_reply_set_stop(reply, RT_STOP_USER);
	else if (st != RT_OK && !has_stop && x->mode != ANSWER_ERROR && x->mode != ANSWER_UNKNOWN)
		rt_reply_set_stop(reply, RT_STOP_CUT);
	else if (st == RT_OK && !has_stop && reply->ended && !rt_reply_is_empty(reply))
		rt_reply_set_stop(reply, rt_answer_usual_stop(reply));
}

rt_status
rt_exchange_end(exchange *x, rt_status st, rt_error *err)
{
	rt_reply *reply = x->reply;
	bool failed = x->err.status != RT_OK;

	if (failed)
		*err = x->err;
	else if (st == RT_INTERRUPTED && !x->user_stopped)
		st = RT_OK; /* the reply had ended, the connection had not */
	if (st == RT_OK && (x->answer.status < 200 || x->answer.status > 299))
		st = fail_status(x, err);
	else if (st == RT_OK)
		st = x->mode == ANSWER_STREAM ? end_stream(x, err) : end_whole(x, err);
	else if (st != RT_INTERRUPTED && !failed && reply != NULL &&
		 (reply->ended || reply->stop != RT_STOP_NONE))
		st = RT_OK; /* it does not matter how the connection ended after the reply */
	if (reply != NULL && st == RT_OK && reply->stop == RT_STOP_ERROR)
		st = fail_reply(x, err);
	st = as_upstream(st);
	if (reply != NULL)
		set_stop(x, st);
	if (st != RT_OK) {
		err->status = st;
		rt_mask_error(err, x->m->o.alloc, x->m->secrets, x->m->secret_count);
	}
	return st;
}

bool
rt_exchange_may_retry(const exchange *x, rt_status st)
{
	bool soon = x->answer.retry_after_s <= RT_MODEL_RETRY_AFTER_MAX_S;

	if (st != RT_UPSTREAM)
		return false;
	switch (x->answer.status) {
	case 0: return x->answer.is_transient;
	case 429: /* an exhausted account does not recover by waiting */
		return soon && rt_str_find(rt_buf_str(&x->body), RT_STR("insufficient_quota"), 0) ==
				       SIZE_MAX;
	case 500:
	case 502:
	case 503:
	case 504:
	case 529: return soon;
	default: return false;
	}
}
