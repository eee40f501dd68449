/* SPDX-License-Identifier: MIT
 *
 * Opening a model of a server, asking it, and asking it again. What came back is read in
 * server_answer.c. */
#include "llm/server_impl.h"

#include "llm/mask.h"
#include "llm/url.h"

#define ACCEPTED "text/event-stream, application/json, application/x-ndjson"

enum {
	HEADER_SECRET_MIN = 8, /* bytes of a header's value that no error shows */
	QUERY_SECRET_SIZE = 20 /* a value in a query that is as long may be one, whatever its name */
};

/* ---- opening ---- */

/* A copy with a NUL behind it. */
static bool
keep(server_model *m, rt_str *s)
{
	char *copy = rt_arena_get(m->arena, s->size + 1);

	if (copy == NULL)
		return false;
	if (s->size > 0)
		memcpy(copy, s->ptr, s->size);
	copy[s->size] = '\0';
	s->ptr = copy;
	return true;
}

static bool
is_one_line(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if ((unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7F)
			return false;
	return true;
}

/* Does its name say that a value is a key? */
static bool
is_secret_name(rt_str name)
{
	static const char *const words[] = {"auth", "key",  "token", "secret",
					    "cookie", "pass", "sig"};
	size_t i, at;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		rt_str word = rt_str_of(words[i]);

		for (at = 0; at + word.size <= name.size; at++)
			if (rt_str_eq_nocase(rt_str_at(name.ptr + at, word.size), word))
				return true;
	}
	return false;
}

static bool
is_secret(const rt_header *header)
{
	return header->secret || is_secret_name(header->name);
}

/* The value at *at of a query that may be a key, which some servers want there; *at goes on
 * to the next. false: there is no more. */
static bool
query_secret(rt_str query, size_t *at, rt_str *out)
{
	while (*at < query.size) {
		size_t end = rt_str_find(query, RT_STR("&"), *at), mark;
		rt_str pair;

		if (end == SIZE_MAX)
			end = query.size;
		pair = rt_str_at(query.ptr + *at, end - *at);
		*at = end + 1;
		mark = rt_str_find(pair, RT_STR("="), 0);
		if (mark == SIZE_MAX)
			continue;
		*out = rt_str_at(pair.ptr + mark + 1, pair.size - mark - 1);
		if (out->size >= QUERY_SECRET_SIZE ||
		    (out->size >= RT_MASK_SECRET_MIN && is_secret_name(rt_str_at(pair.ptr, mark))))
			return true;
	}
	return false;
}

/* The provider's headers are counted, then kept. */
typedef struct header_list {
	server_model *m;
	bool count_only, failed;
} header_list;

static bool
is_replaced(const server_model *m, rt_str name)
{
	size_t i;

	for (i = 0; i < m->o.header_count; i++)
		if (rt_str_eq_nocase(m->o.headers[i].name, name))
			return true;
	return false;
}

static void
take_header(void *ctx, rt_str name, rt_str value)
{
	header_list *list = ctx;
	server_model *m = list->m;
	rt_header header = {name, value, true};

	if (is_replaced(m, name))
		return;
	if (!list->count_only) {
		if (!keep(m, &header.name) || !keep(m, &header.value))
			list->failed = true;
		m->headers[m->header_count] = header;
	}
	m->header_count++;
}

static void
all_headers(header_list *list)
{
	server_model *m = list->m;
	size_t i;

	m->header_count = 0;
	take_header(list, RT_STR("Content-Type"), RT_STR("application/json"));
	take_header(list, RT_STR("Accept"), RT_STR(ACCEPTED));
	if (m->o.provider->headers != NULL)
		m->o.provider->headers(m->o.key, take_header, list);
	for (i = 0; i < m->o.header_count; i++, m->header_count++)
		if (!list->count_only)
			m->headers[m->header_count] = m->o.headers[i];
}

static void
add_secret(server_model *m, rt_str secret, size_t min)
{
	if (secret.size >= min)
		m->secrets[m->secret_count++] = secret;
}

/* What a query has is kept as the bytes that it stands for: that is found in any form. */
static rt_status
add_query_secrets(server_model *m, const rt_url *url)
{
	size_t at = 0;
	rt_str value, kept;
	rt_buf plain;
	bool ok = true;

	rt_buf_init(&plain, m->o.alloc, RT_BUF_UNLIMITED);
	while (ok && query_secret(url->query, &at, &value)) {
		rt_buf_clear(&plain);
		rt_url_add_decoded(&plain, value);
		kept = rt_buf_str(&plain);
		ok = plain.status == RT_OK && keep(m, &kept);
		if (ok)
			add_secret(m, kept, RT_MASK_SECRET_MIN);
	}
	rt_buf_deinit(&plain);
	return ok ? RT_OK : RT_NOMEM;
}

static rt_status
make_headers(server_model *m, const rt_url *url)
{
	header_list list = {m, true, false};
	rt_header *own;
	size_t i, blank, in_query = 0, at = 0;
	rt_str value;

	while (query_secret(url->query, &at, &value))
		in_query++;
	own = rt_arena_get(m->arena, (m->o.header_count + 1) * sizeof(*own));
	m->secrets = rt_arena_get(m->arena, (2 * m->o.header_count + in_query + 1) *
						    sizeof(*m->secrets));
	if (own == NULL || m->secrets == NULL)
		return RT_NOMEM;
	add_secret(m, m->o.key, RT_MASK_SECRET_MIN);
	if (add_query_secrets(m, url) != RT_OK)
		return RT_NOMEM;
	for (i = 0; i < m->o.header_count; i++) {
		own[i] = m->o.headers[i];
		if (!keep(m, &own[i].name) || !keep(m, &own[i].value))
			return RT_NOMEM;
		add_secret(m, own[i].value, HEADER_SECRET_MIN);
		blank = rt_str_find(own[i].value, RT_STR(" "), 0); /* "Bearer KEY" */
		if (blank != SIZE_MAX)
			add_secret(m, rt_str_at(own[i].value.ptr + blank + 1,
						own[i].value.size - blank - 1), HEADER_SECRET_MIN);
	}
	m->o.headers = own;
	all_headers(&list);
	m->headers = rt_arena_get(m->arena, m->header_count * sizeof(*m->headers));
	if (m->headers == NULL)
		return RT_NOMEM;
	list.count_only = false;
	all_headers(&list);
	return list.failed ? RT_NOMEM : RT_OK;
}

static rt_status
check_secrets(const server_model *m, const rt_url *url, rt_error *err)
{
	size_t i, at = 0;
	rt_str value;
	bool secret = m->o.key.size > 0 || query_secret(url->query, &at, &value);

	if (!is_one_line(m->o.key) || m->o.key.size > RT_MODEL_KEY_MAX)
		return rt_fail(err, RT_CREDENTIALS, "the key for %s has a line end or another "
			       "character that no key has, or is longer than any", m->origin.ptr);
	for (i = 0; i < m->o.header_count; i++) {
		if (!is_one_line(m->o.headers[i].value) || m->o.headers[i].name.size == 0)
			return rt_fail(err, RT_USAGE, "a header for %s has no name, or a line end",
				       m->origin.ptr);
		secret = secret || is_secret(&m->o.headers[i]);
	}
	if (secret && !url->is_tls && !rt_url_is_loopback(url) && !m->o.allow_plain_http)
		return rt_fail(err, RT_REFUSED, "the key would go to %s unencrypted, for everybody on "
			       "the way to read: use https, or say allow_plain_http = true for "
			       "this provider", m->origin.ptr);
	return RT_OK;
}

static rt_status
copy_options(server_model *m)
{
	rt_server_model_options *o = &m->o;
	const char *env = o->provider->key_env;
	rt_buf hint;
	bool ok;

	if (o->url.size == 0)
		o->url = rt_str_of(o->provider->url);
	rt_buf_init(&hint, o->alloc, RT_BUF_UNLIMITED);
	if (o->key_hint.size == 0) {
		rt_buf_add_c(&hint, "Set ");
		if (env != NULL)
			rt_buf_add_f(&hint, "%s, or ", env);
		rt_buf_add_c(&hint, "key_env, key_file or key_cmd of the provider in the "
			     "configuration");
		o->key_hint = rt_buf_str(&hint);
	}
	ok = hint.status == RT_OK && keep(m, &o->url) && keep(m, &o->model) && keep(m, &o->service) &&
	     keep(m, &o->key) && keep(m, &o->key_hint);
	rt_buf_deinit(&hint);
	return ok ? RT_OK : RT_NOMEM;
}

static rt_status
make_origin(server_model *m, const rt_url *url)
{
	rt_buf origin;
	rt_status st;

	rt_buf_init(&origin, m->o.alloc, RT_BUF_UNLIMITED);
	rt_url_add_origin(&origin, url);
	m->origin = rt_buf_str(&origin);
	st = origin.status;
	if (st == RT_OK && !keep(m, &m->origin))
		st = RT_NOMEM;
	rt_buf_deinit(&origin);
	return st;
}

/* ---- asking ---- */

static void
tell(const rt_ask *ask, const char *words)
{
	if (ask != NULL && ask->notice != NULL)
		ask->notice(ask->ctx, words);
}

static uint32_t
random_below(const server_model *m, uint32_t limit)
{
	uint32_t number = 0;

	m->o.env->random(m->o.env->ctx, &number, sizeof(number));
	return limit == 0 ? 0 : number % limit;
}

/* How long to wait before another try, when that one was number `done`, from 1. */
static unsigned
pause_ms(const server_model *m, unsigned done, unsigned retry_after_s)
{
	unsigned base = m->o.backoff_ms != 0 ? m->o.backoff_ms : RT_MODEL_BACKOFF_MS;
	unsigned most = base << (done < 10 ? done - 1 : 9);
	unsigned wait = random_below(m, most + 1);

	if (retry_after_s > 0) /* and not all at once who were told the same */
		wait = retry_after_s * 1000 + wait / 10;
	return wait;
}

static void
on_tick(void *ctx)
{
	exchange *x = ctx;

	if (x->ask != NULL && x->ask->tick != NULL)
		x->ask->tick(x->ask->ctx);
}

static rt_status
wait_for_try(server_model *m, exchange *x, unsigned wait_ms, unsigned retry, unsigned retries,
	     rt_error *why)
{
	const rt_ask *ask = x->ask;
	char words[RT_ERROR_TEXT_SIZE + 64];
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, m->o.alloc, sizeof(words) - 1);
	rt_buf_add_f(&text, "trying again in %u s: %s; retry %u of %u", (wait_ms + 999) / 1000,
		     why->text, retry, retries);
	if (text.status == RT_OK)
		tell(ask, text.ptr);
	rt_buf_deinit(&text);
	st = m->o.transport->ops->wait(m->o.transport, wait_ms, rt_exchange_stop, on_tick, x);
	if (st == RT_INTERRUPTED) {
		if (x->reply != NULL)
			rt_reply_set_stop(x->reply, RT_STOP_USER);
		(void)rt_fail(why, st, "stopped");
	}
	return st;
}

/* The request once. */
static rt_status
try_once(server_model *m, exchange *x, const rt_http_request *request, rt_error *err)
{
	rt_transport *transport = m->o.transport;
	rt_status st;

	memset(err, 0, sizeof(*err));
	st = transport->ops->send(transport, request, &x->answer, rt_exchange_take, x, err);
	return rt_exchange_end(x, st, err);
}

/* And again. On failure err is filled, and *out_tries says how often it was tried. */
static rt_status
send_request(server_model *m, rt_str url, const char *method, const rt_ask *ask, rt_reply *reply,
	     exchange *x, rt_error *err)
{
	unsigned tries = m->o.tries != 0 ? m->o.tries : RT_MODEL_TRIES, done = 0;
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
	rt_status st;

	for (;;) {
		rt_exchange_init(x, m, ask, reply);
		st = try_once(m, x, &request, err);
		if (++done >= tries || !rt_exchange_may_retry(x, st))
			return st;
		st = wait_for_try(m, x, pause_ms(m, done, x->answer.retry_after_s), done, tries - 1, err);
		if (st != RT_OK)
			return st;
		rt_exchange_deinit(x);
	}
}

static rt_status
make_url(const server_model *m, rt_str path, rt_buf *out, rt_error *err)
{
	rt_url base;
	rt_status st = rt_url_read(m->o.url, &base, err);

	if (st != RT_OK)
		return st;
	rt_url_join(out, &base, path);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

static rt_status
check_key(const server_model *m, rt_error *err)
{
	const rt_provider *p = m->o.provider;

	if (m->o.key.size > 0 || !p->key_needed || !rt_str_eq(m->o.url, rt_str_of(p->url)))
		return RT_OK;
	for (size_t i = 0; i < m->o.header_count; i++)
		if (is_secret(&m->o.headers[i]))
			return RT_OK;
	return rt_fail(err, RT_CREDENTIALS, "there is no key for %s. %s", m->origin.ptr,
		       m->o.key_hint.ptr);
}

static rt_status
model_ask(rt_model *model, const rt_ask *ask, rt_reply *reply, rt_error *err)
{
	server_model *m = (server_model *)model;
	exchange x = {.m = NULL};
	rt_buf path, url, words;
	rt_error why;
	rt_status st;

	memset(&why, 0, sizeof(why));
	rt_buf_init(&path, m->o.alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&url, m->o.alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&words, m->o.alloc, RT_BUF_UNLIMITED);
	st = check_key(m, &why);
	if (st == RT_OK)
		st = m->o.provider->path(m->o.model, ask->stream, &path, &why);
	if (st == RT_OK && path.status != RT_OK)
		st = rt_fail(&why, path.status, "out of memory");
	if (st == RT_OK)
		st = make_url(m, rt_buf_str(&path), &url, &why);
	if (st != RT_OK)
		goto done;
	rt_buf_add_f(&words, "waiting for %s", m->origin.ptr);
	if (words.status == RT_OK)
		tell(ask, words.ptr);
	st = send_request(m, rt_buf_str(&url), "POST", ask, reply, &x, &why);
done:
	if (st != RT_OK && err != NULL)
		*err = why;
	if (x.m != NULL)
		rt_exchange_deinit(&x);
	rt_buf_deinit(&path);
	rt_buf_deinit(&url);
	rt_buf_deinit(&words);
	return st;
}

/* Who is told of the models that there are. */
typedef struct model_list {
	const server_model *m;
	rt_model_fn fn;
	void *ctx;
	rt_status status;
} model_list;

/* The names are a server's words, too. */
static void
take_model(void *ctx, rt_str name, size_t context_tokens)
{
	model_list *list = ctx;
	const server_model *m = list->m;
	rt_buf masked;

	rt_buf_init(&masked, m->o.alloc, RT_BUF_UNLIMITED);
	rt_mask_add(&masked, name, m->secrets, m->secret_count, false);
	if (masked.status == RT_OK)
		list->fn(list->ctx, rt_buf_str(&masked), context_tokens);
	else
		list->status = masked.status;
	rt_buf_deinit(&masked);
}

rt_status
rt_server_models(rt_model *model, rt_stop_fn stop, void *stop_ctx, rt_model_fn fn, void *fn_ctx,
		 rt_error *err)
{
	server_model *m = (server_model *)model;
	const rt_provider *p = m->o.provider;
	rt_ask ask = {.stop = stop, .ctx = stop_ctx};
	model_list list = {m, fn, fn_ctx, RT_OK};
	exchange x = {.m = NULL};
	rt_error why;
	rt_buf url;
	rt_status st;

	memset(&why, 0, sizeof(why));
	rt_buf_init(&url, m->o.alloc, RT_BUF_UNLIMITED);
	if (p->models_path == NULL || p->read_models == NULL)
		st = rt_fail(&why, RT_REFUSED, "%s cannot be asked which models there are", p->title);
	else
		st = check_key(m, &why);
	if (st == RT_OK)
		st = make_url(m, rt_str_of(p->models_path), &url, &why);
	if (st == RT_OK)
		st = send_request(m, rt_buf_str(&url), "GET", &ask, NULL, &x, &why);
	if (st == RT_OK) {
		st = p->read_models(rt_str_trim(rt_buf_str(&x.body)), m->o.alloc, take_model, &list,
				    &why);
		if (st == RT_OK && list.status != RT_OK)
			st = rt_fail(&why, list.status, "out of memory");
		rt_mask_error(&why, m->o.alloc, m->secrets, m->secret_count);
	}
	if (st != RT_OK && err != NULL)
		*err = why;
	if (x.m != NULL)
		rt_exchange_deinit(&x);
	rt_buf_deinit(&url);
	return st;
}

rt_status
rt_server_models_once(rt_model *model, rt_stop_fn stop, void *stop_ctx, rt_model_fn fn,
		      void *fn_ctx, rt_error *err)
{
	server_model *m = (server_model *)model;
	unsigned tries = m->o.tries;
	rt_status st;

	m->o.tries = 1;
	st = rt_server_models(model, stop, stop_ctx, fn, fn_ctx, err);
	m->o.tries = tries;
	return st;
}

static void
model_close(rt_model *model)
{
	server_model *m = (server_model *)model;

	if (m == NULL)
		return;
	m->o.transport->ops->close(m->o.transport);
	rt_arena_free(m->arena);
	rt_free(m->o.alloc, m);
}

rt_status
rt_server_model_open(const rt_server_model_options *options, rt_model **out, rt_error *err)
{
	static const rt_model_ops ops = {model_close, model_ask};
	const rt_alloc *alloc = options->alloc != NULL ? options->alloc : rt_alloc_libc();
	server_model *m = rt_new0(alloc, sizeof(*m));
	rt_arena *arena = rt_arena_new(alloc);
	rt_status st = RT_NOMEM;
	rt_url url;

	if (m == NULL || arena == NULL)
		goto done;
	m->o = *options;
	m->o.alloc = alloc;
	m->arena = arena;
	m->base.ops = &ops;
	m->base.provider = options->provider;
	st = copy_options(m);
	if (st == RT_OK)
		st = rt_url_read(m->o.url, &url, err);
	if (st == RT_OK)
		st = make_origin(m, &url);
	if (st == RT_OK)
		st = check_secrets(m, &url, err);
	if (st == RT_OK)
		st = make_headers(m, &url);
	if (st == RT_OK) {
		m->base.name = m->o.model;
		m->base.service = m->o.service;
		m->base.server = m->origin;
		*out = &m->base;
	}
done:
	if (st != RT_OK) {
		if (st == RT_NOMEM)
			(void)rt_fail(err, st, "out of memory");
		rt_arena_free(arena);
		rt_free(alloc, m);
	}
	return st;
}
