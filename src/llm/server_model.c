/* SPDX-License-Identifier: MIT
 *
 * Opening a model of a server, requests, and retries. Answers are read in server_answer.c. */
#include "llm/server_impl.h"

#include <stdio.h>

#include "codec/mask.h"
#include "llm/provider.h"
#include "llm/url.h"

#define ACCEPTED "text/event-stream, application/json, application/x-ndjson"

enum {
	HEADER_SECRET_MIN = 8, /* bytes of a header's value that errors must not contain */
	QUERY_SECRET_SIZE =
		20,     /* a value in a query of this size may be a key, whatever its name */
	OWN_HEADERS = 4, /* the content's type, accept, and two of the provider */
	ASK_HEADERS = 1 /* of one request, after all others: the trace */
};

/* ---- opening ---- */

static bool
is_secret(const rt_header *header)
{
	return header->secret || rt_mask_is_secret_name(header->name);
}

/* The next value in query, which is advanced, that may be a key: some servers want it there. */
static bool
next_query_secret(rt_str *query, rt_str *out)
{
	rt_str pair;

	while (rt_str_split(query, '&', &pair)) {
		size_t mark = rt_str_find(pair, RT_STR("="), 0);

		if (mark == SIZE_MAX)
			continue;
		*out = rt_str_skip(pair, mark + 1);
		if (out->size >= QUERY_SECRET_SIZE ||
		    (out->size >= RT_MASK_SECRET_MIN &&
		     rt_mask_is_secret_name(rt_str_at(pair.ptr, mark))))
			return true;
	}
	return false;
}

static void
check_secrets(server_model *m, const rt_url *url)
{
	rt_str query = url->query, value;
	bool secret = m->o.key.size > 0 || next_query_secret(&query, &value);
	rt_scope *s = &m->scope;

	if (!rt_header_is_one_line(m->o.key) || m->o.key.size > RT_MODEL_KEY_MAX)
		(void)rt_scope_fail(
			s, RT_CREDENTIALS,
			"the key for %s has an invalid character or is too long",
			m->origin.ptr);
	for (size_t i = 0; i < m->o.header_count; i++) {
		const rt_header *header = &m->o.headers[i];

		if (!rt_header_is_one_line(header->value) || header->name.size == 0)
			(void)rt_scope_fail(s, RT_USAGE,
					    "a header for %s has no name, or contains a newline",
					    m->origin.ptr);
		secret = secret || is_secret(header);
	}
	if (secret && !url->is_tls && !rt_url_is_loopback(url) && !m->o.allow_plain_http)
		(void)rt_scope_fail(
			s, RT_REFUSED,
			"the key would be sent to %s unencrypted: use https, or set "
			"allow_plain_http = true for this provider",
			m->origin.ptr);
}

static void
add_secret(server_model *m, rt_str secret, size_t min)
{
	if (rt_ok(&m->scope) && secret.size >= min)
		m->secrets[m->secret_count++] = secret;
}

/* Texts that no error may contain: the key, the values of headers, and the bytes of values in the
 * query, which are found in any encoding. */
static void
make_secrets(server_model *m, const rt_url *url)
{
	rt_str query = url->query, value;
	size_t most = 2 * m->o.header_count + 2;

	for (size_t i = 0; i < query.size; i++)
		most += query.ptr[i] == '&';
	m->secrets = rt_scope_array(&m->scope, most, sizeof(*m->secrets));
	add_secret(m, m->o.key, RT_MASK_SECRET_MIN);
	while (next_query_secret(&query, &value)) {
		rt_buf *plain = rt_scope_buf(&m->scope);

		rt_url_add_decoded(plain, value);
		add_secret(m, rt_scope_str(&m->scope, plain), RT_MASK_SECRET_MIN);
	}
	for (size_t i = 0; i < m->o.header_count; i++) {
		size_t blank;

		value = m->o.headers[i].value;
		add_secret(m, value, HEADER_SECRET_MIN);
		blank = rt_str_find(value, RT_STR(" "), 0); /* "Bearer KEY" */
		if (blank != SIZE_MAX)
			add_secret(m, rt_str_skip(value, blank + 1), HEADER_SECRET_MIN);
	}
}

/* One of our headers, unless the configuration has one of that name. */
static void
add_header(void *ctx, rt_str name, rt_str value)
{
	server_model *m = ctx;

	for (size_t i = 0; i < m->o.header_count; i++)
		if (rt_str_eq_nocase(m->o.headers[i].name, name))
			return;
	name = rt_scope_copy(&m->scope, name);
	value = rt_scope_copy(&m->scope, value);
	if (!rt_ok(&m->scope))
		return;
	RT_ASSERT(m->header_count < OWN_HEADERS); /* those of the configuration are added later */
	m->headers[m->header_count++] = (rt_header){name, value, true};
}

static void
make_headers(server_model *m)
{
	m->headers = rt_scope_array(&m->scope, m->o.header_count + OWN_HEADERS + ASK_HEADERS,
				    sizeof(*m->headers));
	add_header(m, RT_STR("Content-Type"), RT_STR("application/json"));
	add_header(m, RT_STR("Accept"), RT_STR(ACCEPTED));
	rt_provider_headers(m->o.provider, m->o.key, add_header, m);
	for (size_t i = 0; rt_ok(&m->scope) && i < m->o.header_count; i++)
		m->headers[m->header_count++] = m->o.headers[i];
}

/* The options point into the model's own memory from here on. */
static void
copy_options(server_model *m)
{
	rt_server_model_options *o = &m->o;
	rt_header *headers = rt_scope_array(&m->scope, o->header_count, sizeof(*headers));
	const char *env = o->provider->key_env;
	rt_buf *hint = rt_scope_buf(&m->scope);

	rt_buf_add_f(hint,
		     "Set %s%skey_env, key_file or key_cmd of the provider in the configuration",
		     env != NULL ? env : "", env != NULL ? ", or " : "");
	if (o->key_hint.size == 0)
		o->key_hint = rt_scope_str(&m->scope, hint);
	o->key_hint = rt_scope_copy(&m->scope, o->key_hint);
	o->url = rt_scope_copy(&m->scope, o->url.size > 0 ? o->url : rt_str_of(o->provider->url));
	o->model = rt_scope_copy(&m->scope, o->model);
	o->service = rt_scope_copy(&m->scope, o->service);
	o->key = rt_scope_copy(&m->scope, o->key);
	for (size_t i = 0; rt_ok(&m->scope) && i < o->header_count; i++)
		headers[i] = (rt_header){rt_scope_copy(&m->scope, o->headers[i].name),
					 rt_scope_copy(&m->scope, o->headers[i].value),
					 o->headers[i].secret};
	o->headers = headers;
}

/* ---- requests ---- */

static uint32_t
random_below(const server_model *m, uint32_t limit)
{
	uint32_t number = 0;

	m->o.env->random(m->o.env->ctx, &number, sizeof(number));
	return limit == 0 ? 0 : number % limit;
}

/* The pause before the next attempt, after attempt number `done`, from 1. */
static unsigned
pause_ms(const server_model *m, unsigned done, unsigned retry_after_s)
{
	unsigned base = m->o.backoff_ms != 0 ? m->o.backoff_ms : RT_MODEL_BACKOFF_MS;
	unsigned wait = random_below(m, (base << (done < 10 ? done - 1 : 9)) + 1);

	/* Clients that were given the same time should not all retry at once. */
	return retry_after_s > 0 ? retry_after_s * 1000 + wait / 10 : wait;
}

static void
on_tick(void *ctx)
{
	const exchange *x = ctx;

	if (x->ask->tick != NULL)
		x->ask->tick(x->ask->ctx);
}

static void
notify(const rt_ask *ask, const rt_notice *notice)
{
	if (ask->notice != NULL)
		ask->notice(ask->ctx, notice);
}

/* The reason of the retry, in a few words. */
static void
put_cause(const exchange *x, const rt_error *err, char *out, size_t size)
{
	unsigned status = x->answer.status;

	if (status >= 500)
		(void)snprintf(out, size, "server error %u", status);
	else if (status == 429)
		(void)snprintf(out, size, "too many requests (429)");
	else
		(void)snprintf(out, size, "%s", err->text);
}

/* RT_OK: try again now. */
static rt_status
wait_for_retry(const server_model *m, exchange *x, unsigned wait_ms, unsigned retry,
	       unsigned retries, rt_error *err)
{
	char cause[RT_ERROR_TEXT_SIZE], words[RT_ERROR_TEXT_SIZE + 64];
	rt_status st;

	put_cause(x, err, cause, sizeof(cause));
	(void)snprintf(words, sizeof(words), "%s, retry %u of %u in %u s", cause, retry, retries,
		       (wait_ms + 999) / 1000);
	notify(x->ask, &(rt_notice){words, retry, retries});
	st = m->o.transport->ops->wait(m->o.transport, wait_ms, rt_exchange_stop, on_tick, x);
	if (st == RT_INTERRUPTED && x->reply != NULL)
		rt_reply_set_stop(x->reply, RT_STOP_USER);
	return st == RT_INTERRUPTED ? rt_fail(err, st, "stopped") : st;
}

/* Sends a request, and again if that may help. x: deinit it in any case. */
static rt_status
send_request(const server_model *m, rt_str url, const char *method, unsigned tries,
	     const rt_ask *ask, rt_reply *reply, exchange *x, rt_error *err)
{
	rt_http_request request = {
		.method = method,
		.url = url,
		.headers = m->headers,
		.header_count = m->header_count,
		.body = ask->body,
		.connect_ms = m->o.connect_ms,
		.first_byte_ms = m->o.first_byte_ms,
		.idle_ms = m->o.idle_ms,
		.total_ms = m->o.total_ms,
		.answer_max = m->o.answer_max,
		.stop = rt_exchange_stop,
		.tick = on_tick,
		.ctx = x,
	};

	if (ask->trace.size > 0)
		m->headers[request.header_count++] = (rt_header){RT_STR("traceparent"), ask->trace, false};
	if (tries == 0)
		tries = RT_MODEL_TRIES;
	for (unsigned done = 1;; done++) {
		rt_status st;

		rt_exchange_init(x, m, ask, reply);
		memset(err, 0, sizeof(*err));
		st = m->o.transport->ops->send(m->o.transport, &request, &x->answer,
					       rt_exchange_on_bytes, x, err);
		st = rt_exchange_end(x, st, err);
		if (done >= tries || !rt_exchange_may_retry(x, st))
			return st;
		st = wait_for_retry(m, x, pause_ms(m, done, x->answer.retry_after_s), done,
				    tries - 1, err);
		if (st != RT_OK)
			return st;
		rt_exchange_deinit(x);
	}
}

static rt_str
make_url(rt_scope *s, const server_model *m, rt_str path)
{
	rt_buf *url = rt_scope_buf(s);
	rt_url base = {0};

	RT_TRY(s, rt_url_read(m->o.url, &base, &s->error));
	if (rt_ok(s))
		rt_url_join(url, &base, path);
	return rt_scope_str(s, url);
}

static void
check_key(rt_scope *s, const server_model *m)
{
	const rt_provider *p = m->o.provider;

	if (m->o.key.size > 0 || !p->key_needed || !rt_str_eq(m->o.url, rt_str_of(p->url)))
		return;
	for (size_t i = 0; i < m->o.header_count; i++)
		if (is_secret(&m->o.headers[i]))
			return;
	(void)rt_scope_fail(s, RT_CREDENTIALS, "there is no key for %s. %s", m->origin.ptr,
			    m->o.key_hint.ptr);
}

static rt_status
model_ask(rt_model *model, const rt_ask *ask, rt_reply *reply, rt_error *err)
{
	const server_model *m = (const server_model *)model;
	char words[RT_URL_HOST_MAX + 64];
	exchange x;
	rt_str url;
	rt_scope s;

	rt_scope_init(&s, m->o.alloc);
	rt_buf *path = rt_scope_buf(&s);
	check_key(&s, m);
	RT_TRY(&s, rt_provider_path(m->o.provider, m->o.model, ask->stream, path, &s.error));
	url = make_url(&s, m, rt_scope_str(&s, path));
	if (rt_ok(&s)) {
		(void)snprintf(words, sizeof(words), "waiting for %s", m->origin.ptr);
		notify(ask, &(rt_notice){.words = words});
		RT_TRY(&s, send_request(m, url, "POST", m->o.tries, ask, reply, &x, &s.error));
		rt_exchange_deinit(&x);
	}
	return rt_scope_end(&s, err);
}

/* ---- the list of models ---- */

typedef struct model_list {
	const server_model *m;
	rt_scope *s;
	rt_model_fn fn;
	void *ctx;
} model_list;

/* The names are chosen by a server, too. */
static void
add_model(void *ctx, rt_str name, size_t context_tokens)
{
	model_list *list = ctx;
	rt_buf *masked = rt_scope_buf(list->s);

	rt_mask_add(masked, name, list->m->secrets, list->m->secret_count, false);
	name = rt_scope_str(list->s, masked);
	if (rt_ok(list->s))
		list->fn(list->ctx, name, context_tokens);
}

static rt_status
list_models(const server_model *m, unsigned tries, const rt_ask *ask, rt_model_fn fn, void *fn_ctx,
	    rt_error *err)
{
	const rt_provider *p = m->o.provider;
	rt_scope s, names;
	model_list list = {m, &names, fn, fn_ctx};
	exchange x;
	rt_str url;

	rt_scope_init(&s, m->o.alloc);
	if (p->models_path == NULL)
		(void)rt_scope_fail(&s, RT_REFUSED, "%s does not list its models",
				    p->title);
	check_key(&s, m);
	url = make_url(&s, m, rt_str_of(p->models_path));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	rt_scope_init(&names, m->o.alloc);
	RT_TRY(&s, send_request(m, url, "GET", tries, ask, NULL, &x, &s.error));
	RT_TRY(&s, rt_provider_read_models(p, rt_str_trim(rt_buf_str(&x.body)), m->o.alloc,
					   add_model, &list, &s.error));
	rt_exchange_deinit(&x);
	RT_TRY(&s, names.status);
	rt_scope_deinit(&names);
	rt_mask_error(&s.error, m->o.alloc, m->secrets, m->secret_count);
	return rt_scope_end(&s, err);
}

rt_status
rt_server_models(rt_model *model, rt_stop_fn stop, void *stop_ctx, rt_model_fn fn, void *fn_ctx,
		 rt_error *err)
{
	const server_model *m = (const server_model *)model;

	return list_models(m, m->o.tries, &(rt_ask){.stop = stop, .ctx = stop_ctx}, fn, fn_ctx,
			   err);
}

rt_status
rt_server_models_once(rt_model *model, rt_stop_fn stop, void *stop_ctx, rt_model_fn fn,
		      void *fn_ctx, rt_error *err)
{
	return list_models((const server_model *)model, 1,
			   &(rt_ask){.stop = stop, .ctx = stop_ctx}, fn, fn_ctx, err);
}

rt_status
rt_server_embed(rt_model *model, const rt_ask *ask, rt_buf *out, bool *out_refused, rt_error *err)
{
	const server_model *m = (const server_model *)model;
	const rt_provider *p = m->o.provider;
	exchange x;
	rt_scope s;
	rt_str url;

	rt_scope_init(&s, m->o.alloc);
	if (out_refused != NULL)
		*out_refused = false;
	if (p->embeddings_path == NULL)
		(void)rt_scope_fail(&s, RT_REFUSED, "%s does not offer embeddings; use a provider of the kind openai or ollama",
				    p->title);
	check_key(&s, m);
	url = make_url(&s, m, rt_str_of(p->embeddings_path));
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	RT_TRY(&s, send_request(m, url, "POST", m->o.tries, ask, NULL, &x, &s.error));
	if (rt_ok(&s))
		rt_buf_add_str(out, rt_str_trim(rt_buf_str(&x.body)));
	else if (out_refused != NULL)
		*out_refused = x.answer.status == 400 || x.answer.status == 413 || x.answer.status == 422;
	rt_exchange_deinit(&x);
	(void)rt_scope_note(&s, out->status);
	return rt_scope_end(&s, err);
}

/* ---- the model ---- */

static void
model_close(rt_model *model)
{
	server_model *m = (server_model *)model;

	if (m == NULL)
		return;
	m->o.transport->ops->close(m->o.transport);
	rt_scope_deinit(&m->scope);
	rt_free(m->o.alloc, m);
}

rt_status
rt_server_model_open(const rt_server_model_options *options, rt_model **out, rt_error *err)
{
	static const rt_model_ops ops = {model_close, model_ask};
	const rt_alloc *alloc = options->alloc != NULL ? options->alloc : rt_alloc_libc();
	server_model *m = rt_new0(alloc, sizeof(*m));
	rt_status st;
	rt_url url = {0};

	if (m == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	m->o = *options;
	m->o.alloc = alloc;
	rt_scope *s = &m->scope;
	rt_scope_init(s, alloc);
	copy_options(m);
	RT_TRY(s, rt_url_read(m->o.url, &url, &s->error));
	rt_buf *origin = rt_scope_buf(s);
	rt_url_add_origin(origin, &url);
	m->origin = rt_scope_str(s, origin);
	if (rt_ok(s))
		check_secrets(m, &url);
	if (rt_ok(s))
		make_secrets(m, &url);
	if (rt_ok(s))
		make_headers(m);
	if (rt_ok(s)) {
		m->base = (rt_model){.ops = &ops,
				     .provider = options->provider,
				     .name = m->o.model,
				     .service = m->o.service,
				     .server = m->origin};
		*out = &m->base;
		return RT_OK;
	}
	st = rt_scope_end(s, err);
	rt_free(alloc, m);
	return st;
}
