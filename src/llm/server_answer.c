/* SPDX-License-Identifier: MIT
 *
 * One answer of a server: a stream goes through the framing into the reply as it comes, a
 * whole is kept until its end, an error is put into words. */
#include "llm/server_impl.h"

#include "llm/mask.h"

enum {
	ENDED_WAIT_US = 500 * 1000, /* how long to wait for the end of a reply that has ended */
	WORDS_MAX = 300             /* bytes of a server's own words in an error */
};

void
rt_exchange_init(exchange *x, const server_model *m, const rt_ask *ask, rt_reply *reply)
{
	memset(x, 0, sizeof(*x));
	x->m = m;
	x->ask = ask;
	x->reply = reply;
	rt_buf_init(&x->body, m->o.alloc, RT_BUF_UNLIMITED); /* the transport has the limit */
}

void
rt_exchange_deinit(exchange *x)
{
	if (x->mode == ANSWER_STREAM)
		rt_frames_deinit(&x->frames);
	rt_buf_deinit(&x->body);
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

	if (x->ask != NULL && x->ask->stop != NULL && x->ask->stop(x->ask->ctx))
		x->user_stopped = true;
	return x->user_stopped || since > ENDED_WAIT_US || since < 0; /* or it was set back */
}

/* ---- reading ---- */

/* After anything was told to the reply: can it go on? */
static rt_status
check_reply(exchange *x)
{
	rt_status st = x->reply->status;

	if (x->reply->ended && x->ended_us == 0)
		x->ended_us = now_us(x);
	if (st == RT_OK)
		return RT_OK;
	x->failed = true;
	return rt_fail(&x->err, st, st == RT_NOMEM ? "out of memory while a reply arrives"
						   : "the reply of %s is too large to be kept",
		       x->m->origin.ptr);
}

/* What a server said, masked, in place of what is kept of it. */
static void
mask_kept(exchange *x, rt_buf *kept)
{
	const server_model *m = x->m;
	rt_buf masked;

	rt_buf_init(&masked, m->o.alloc, RT_BUF_UNLIMITED);
	rt_mask_add(&masked, rt_buf_str(kept), m->secrets, m->secret_count, false);
	if (masked.status != RT_OK || !rt_str_eq(rt_buf_str(&masked), rt_buf_str(kept))) {
		x->reply->size -= kept->size;
		rt_buf_clear(kept);
		if (masked.status == RT_OK) /* no words are better than a key among them */
			rt_buf_add_str(kept, rt_buf_str(&masked));
		x->reply->size += kept->size;
	}
	if (x->reply->status == RT_OK)
		x->reply->status = masked.status != RT_OK ? masked.status : kept->status;
	rt_buf_deinit(&masked);
}

/* The words of an error and the name of the model, as soon as they are there and whatever
 * follows: the reply is written down while it grows. */
static void
mask_reply(exchange *x)
{
	if (x->reply->error.size > 0)
		mask_kept(x, &x->reply->error);
	if (x->reply->model.size > 0)
		mask_kept(x, &x->reply->model);
}

static rt_status
take_event(void *ctx, rt_str event, rt_str data, rt_error *err)
{
	exchange *x = ctx;
	rt_status st;

	if (x->reply->ended) /* a "[DONE]" behind an end, and the like */
		return RT_OK;
	st = x->m->o.provider->read_event(x->reply, event, data, err);
	mask_reply(x);
	return st != RT_OK ? st : check_reply(x);
}

/* A stream, though the server does not call it one? */
static bool
looks_like_stream(const exchange *x, const rt_http_answer *answer, rt_str bytes)
{
	rt_str text = rt_str_trim(bytes);

	if (x->m->o.provider->framing == RT_FRAMING_LINES) /* every JSON looks like one */
		return !answer->is_json && text.size > 0 && text.ptr[0] == '{';
	return rt_str_starts(text, RT_STR("data:")) || rt_str_starts(text, RT_STR("event:")) ||
	       rt_str_starts(text, RT_STR("id:")) || rt_str_starts(text, RT_STR(":"));
}

static answer_mode
mode_of(const exchange *x, const rt_http_answer *answer, rt_str bytes)
{
	if (answer->status < 200 || answer->status > 299)
		return ANSWER_ERROR;
	if (x->reply != NULL && (answer->is_stream ||
				 (x->ask->stream && looks_like_stream(x, answer, bytes))))
		return ANSWER_STREAM;
	return ANSWER_WHOLE;
}

static rt_status
frames_failed(exchange *x, rt_status st)
{
	x->failed = true;
	if (st == RT_NOMEM && x->err.text[0] == '\0')
		(void)rt_fail(&x->err, st, "out of memory while a reply arrives");
	return st;
}

rt_status
rt_exchange_take(void *ctx, const rt_http_answer *answer, rt_str bytes)
{
	exchange *x = ctx;
	rt_status st = RT_OK;

	if (x->mode == ANSWER_UNKNOWN) {
		x->mode = mode_of(x, answer, bytes);
		if (x->mode == ANSWER_STREAM)
			rt_frames_init(&x->frames, x->m->o.alloc, x->m->o.provider->framing,
				       take_event, x);
	}
	switch (x->mode) {
	case ANSWER_STREAM:
		st = rt_frames_add(&x->frames, bytes, &x->err);
		return st == RT_OK ? RT_OK : frames_failed(x, st);
	case ANSWER_ERROR:
		if (x->body.size + bytes.size > RT_MODEL_ERROR_BODY_MAX)
			bytes.size = RT_MODEL_ERROR_BODY_MAX - x->body.size;
		rt_buf_add_str(&x->body, bytes);
		break;
	default: rt_buf_add_str(&x->body, bytes); break;
	}
	if (x->body.status == RT_OK)
		return RT_OK;
	x->failed = true;
	return rt_fail(&x->err, x->body.status, "out of memory while a reply arrives");
}

/* ---- words ---- */

/* One line of legal characters that a terminal takes for nothing else. */
static void
add_line(rt_buf *out, rt_str text)
{
	rt_buf legal;
	size_t i;

	rt_buf_init(&legal, out->alloc, RT_BUF_UNLIMITED);
	rt_utf8_repair(&legal, text);
	for (i = 0; i < legal.size; i++) {
		unsigned char c = (unsigned char)legal.ptr[i];

		if (c == 0xC2 && i + 1 < legal.size && (unsigned char)legal.ptr[i + 1] < 0xA0) {
			i++; /* the other control characters, U+0080 to U+009F */
			c = ' ';
		}
		if (c < 0x20 || c == 0x7F)
			c = ' ';
		if (c != ' ' || (out->size > 0 && out->ptr[out->size - 1] != ' '))
			rt_buf_add_byte(out, (char)c);
	}
	if (legal.status != RT_OK)
		out->status = legal.status;
	rt_buf_deinit(&legal);
}

/* What the server says is wrong, masked and short; "" when it says nothing. */
static void
add_words(const exchange *x, rt_buf *out)
{
	const server_model *m = x->m;
	rt_str body = rt_str_trim(rt_buf_str(&x->body));
	rt_buf said, masked, line;
	size_t size;

	rt_buf_init(&said, m->o.alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&masked, m->o.alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&line, m->o.alloc, RT_BUF_UNLIMITED);
	if (m->o.provider->read_error != NULL && body.size > 0)
		m->o.provider->read_error(body, m->o.alloc, &said);
	if (said.size == 0 && body.size > 0 && memchr("<{[", body.ptr[0], 3) == NULL)
		rt_buf_add_str(&said, body);
	rt_mask_add(&masked, rt_buf_str(&said), m->secrets, m->secret_count,
		    x->body.size >= RT_MODEL_ERROR_BODY_MAX);
	add_line(&line, rt_buf_str(&masked));
	/* Masked twice: control characters may have stood between the bytes of a key. */
	rt_buf_clear(&masked);
	rt_mask_add(&masked, rt_str_trim(rt_buf_str(&line)), m->secrets, m->secret_count, false);
	size = rt_utf8_cut(rt_buf_str(&masked), WORDS_MAX);
	if (size == masked.size && size > 0 && masked.ptr[size - 1] == '.')
		masked.size = --size; /* a sentence follows, or nothing */
	if (said.status == RT_OK && line.status == RT_OK && masked.status == RT_OK && size > 0) {
		rt_buf_add_c(out, ": ");
		rt_buf_add(out, masked.ptr, size);
		if (size < masked.size)
			rt_buf_add_c(out, "\xE2\x80\xA6");
	}
	rt_buf_deinit(&said);
	rt_buf_deinit(&masked);
	rt_buf_deinit(&line);
}

static const char *
meaning(unsigned status)
{
	switch (status) {
	case 400: return " (it does not like the request)";
	case 402: return " (it wants to be paid)";
	case 404: return " (not found: is the url right, and has it this model?)";
	case 408:
	case 504: return " (it took too long)";
	case 413: return " (the request is too large)";
	case 429: return " (too many requests)";
	case 500:
	case 502: return " (something is broken there)";
	case 503:
	case 529: return " (overloaded)";
	default: return "";
	}
}

static rt_status
fail_key(const exchange *x, const char *words, rt_error *err)
{
	const server_model *m = x->m;

	if (m->o.key.size == 0)
		return rt_fail(err, RT_CREDENTIALS, "%s asks for a key (%u)%s. %s", m->origin.ptr,
			       x->answer.status, words, m->o.key_hint.ptr);
	return rt_fail(err, RT_CREDENTIALS, "%s does not accept the key (%u)%s. %s", m->origin.ptr,
		       x->answer.status, words, m->o.key_hint.ptr);
}

/* An answer whose status is not 2xx. */
static rt_status
fail_status(const exchange *x, rt_error *err)
{
	const server_model *m = x->m;
	unsigned status = x->answer.status;
	rt_buf words;
	rt_status st;

	rt_buf_init(&words, m->o.alloc, RT_BUF_UNLIMITED);
	add_words(x, &words);
	if (words.status != RT_OK)
		rt_buf_clear(&words);
	if (status == 401 || status == 403)
		st = fail_key(x, words.size == 0 ? "" : words.ptr, err);
	else if (status == 407)
		st = rt_fail(err, RT_UPSTREAM, "the proxy on the way to %s wants a user and a password "
			     "(407)%s", m->origin.ptr, words.size == 0 ? "" : words.ptr);
	else if (status >= 300 && status <= 399)
		st = rt_fail(err, RT_UPSTREAM, "%s answers with %u and sends to %s: that is not "
			     "followed; if it is the right place, set url to it", m->origin.ptr,
			     status, x->answer.location[0] != '\0' ? x->answer.location
								   : "another place");
	else if (x->answer.retry_after_s > RT_MODEL_RETRY_AFTER_MAX_S)
		st = rt_fail(err, RT_UPSTREAM, "%s answers with %u%s and asks to wait %u s%s",
			     m->origin.ptr, status, meaning(status), x->answer.retry_after_s,
			     words.size == 0 ? "" : words.ptr);
	else
		st = rt_fail(err, RT_UPSTREAM, "%s answers with %u%s%s", m->origin.ptr, status,
			     meaning(status), words.size == 0 ? "" : words.ptr);
	rt_buf_deinit(&words);
	return st;
}

/* ---- the end ---- */

static rt_status
end_stream(exchange *x, rt_error *err)
{
	rt_reply *reply = x->reply;
	rt_status st = rt_frames_end(&x->frames, &x->err);

	if (st != RT_OK) {
		(void)frames_failed(x, st);
		if (err != NULL)
			*err = x->err;
		return st;
	}
	if (reply->ended || reply->stop != RT_STOP_NONE)
		return RT_OK;
	return rt_fail(err, RT_UPSTREAM, "the connection to %s ended before the reply did",
		       x->m->origin.ptr);
}

static rt_status
end_whole(exchange *x, rt_error *err)
{
	rt_str body = rt_str_trim(rt_buf_str(&x->body));
	rt_status st;

	if (body.size == 0)
		return rt_fail(err, RT_UPSTREAM, "%s answers with nothing", x->m->origin.ptr);
	if (x->reply == NULL)
		return RT_OK;
	st = x->m->o.provider->read_whole(x->reply, body, err);
	mask_reply(x);
	if (st == RT_OK)
		st = check_reply(x);
	if (st != RT_OK && x->failed && err != NULL)
		*err = x->err;
	return st;
}

/* What a callback or the transport failed with, in the words of model.h. */
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

/* An error that the provider told in the middle of its reply; its words are masked already,
 * and once more as one line. */
static rt_status
fail_told(const exchange *x, rt_error *err)
{
	const server_model *m = x->m;
	rt_buf line, masked;

	rt_buf_init(&line, m->o.alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&masked, m->o.alloc, RT_BUF_UNLIMITED);
	add_line(&line, rt_buf_str(&x->reply->error));
	rt_mask_add(&masked, rt_buf_str(&line), m->secrets, m->secret_count, false);
	if (line.status != RT_OK || masked.status != RT_OK)
		rt_buf_clear(&masked);
	(void)rt_fail(err, RT_UPSTREAM, "%s ended the reply with an error%s%.*s", m->origin.ptr,
		      masked.size > 0 ? ": " : "",
		      (int)rt_utf8_cut(rt_buf_str(&masked), WORDS_MAX),
		      masked.ptr == NULL ? "" : masked.ptr);
	rt_buf_deinit(&line);
	rt_buf_deinit(&masked);
	return RT_UPSTREAM;
}

/* A whole reply whose server did not say why it ended, which some that speak as OpenAI does
 * leave out: it said all. */
static void
add_stop(rt_reply *reply)
{
	if (reply->ended && reply->stop == RT_STOP_NONE && !rt_reply_is_empty(reply))
		rt_reply_set_stop(reply, rt_reply_call_count(reply) > 0 ? RT_STOP_CALLS
									: RT_STOP_END);
}

/* Did the reply say its end, so that how the connection ended behind it does not matter? */
static bool
said_its_end(const exchange *x)
{
	return x->reply != NULL && !x->failed &&
	       (x->reply->ended || x->reply->stop != RT_STOP_NONE);
}

rt_status
rt_exchange_end(exchange *x, rt_status st, rt_error *err)
{
	rt_reply *reply = x->reply;
	rt_error local;

	if (err == NULL)
		err = &local;
	if (x->failed) {
		*err = x->err;
	} else if (st == RT_INTERRUPTED && !x->user_stopped) {
		st = RT_OK; /* the reply had ended, the connection had not */
	}
	if (st == RT_OK && (x->answer.status < 200 || x->answer.status > 299))
		st = fail_status(x, err);
	else if (st == RT_OK)
		st = x->mode == ANSWER_STREAM ? end_stream(x, err) : end_whole(x, err);
	else if (st != RT_INTERRUPTED && said_its_end(x))
		st = RT_OK;
	if (reply != NULL && st == RT_OK)
		add_stop(reply);
	if (reply != NULL && st == RT_OK && reply->stop == RT_STOP_ERROR)
		st = fail_told(x, err);
	st = as_upstream(st);
	if (reply != NULL && st != RT_OK && reply->stop == RT_STOP_NONE &&
	    x->mode != ANSWER_ERROR && x->mode != ANSWER_UNKNOWN)
		rt_reply_set_stop(reply, st == RT_INTERRUPTED ? RT_STOP_USER : RT_STOP_CUT);
	else if (reply != NULL && st == RT_INTERRUPTED)
		rt_reply_set_stop(reply, RT_STOP_USER);
	if (st != RT_OK) {
		err->status = st;
		rt_mask_error(err, x->m->o.alloc, x->m->secrets, x->m->secret_count);
	}
	return st;
}

bool
rt_exchange_may_retry(const exchange *x, rt_status st)
{
	if (st != RT_UPSTREAM)
		return false;
	switch (x->answer.status) {
	case 0: return x->answer.is_transient;
	case 429: /* a used up account does not fill by waiting */
		return rt_str_find(rt_buf_str(&x->body), RT_STR("insufficient_quota"), 0) == SIZE_MAX &&
		       x->answer.retry_after_s <= RT_MODEL_RETRY_AFTER_MAX_S;
	case 500:
	case 502:
	case 503:
	case 504:
	case 529: return x->answer.retry_after_s <= RT_MODEL_RETRY_AFTER_MAX_S;
	default: return false;
	}
}
