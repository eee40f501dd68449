/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "signin/provider.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/sha256.h"
#include "codec/json.h"
#include "llm/transport_curl.h"
#include "llm/url.h"
#include "signin/jose_load.h"

#define DISCOVERY "/.well-known/openid-configuration"

static const int64_t fresh_us = (int64_t)3600 * 1000000;

/* What the provider says about itself; texts are counted. */
typedef struct description {
	const rt_text *authorize, *token, *key_set, *keys;
	bool secret_in_body;  /* it does not accept the client's secret in a header */
	bool names_issuer;    /* its responses name it (RFC 9207) */
} description;

struct rt_oidc {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_oidc_options options;
	bool is_local; /* the issuer is this machine, without TLS */
	rt_transport *transport;
	atomic_bool is_stopped;
	pthread_mutex_t lock; /* guards what follows */
	description known;
	int64_t known_us; /* 0: not known */
};

/* ---- descriptions ---- */

static description
share(const description *d)
{
	description copy = *d;

	(void)rt_text_ref(d->authorize);
	(void)rt_text_ref(d->token);
	(void)rt_text_ref(d->key_set);
	(void)rt_text_ref(d->keys);
	return copy;
}

static void
release(description *d)
{
	rt_text_unref(d->authorize);
	rt_text_unref(d->token);
	rt_text_unref(d->key_set);
	rt_text_unref(d->keys);
	*d = (description){0};
}

/* ---- requests ---- */

static bool
is_stopped(void *ctx)
{
	return ((rt_oidc *)ctx)->is_stopped;
}

static rt_status
add_bytes(void *ctx, const rt_http_answer *answer, rt_str bytes)
{
	rt_buf *out = ctx;

	(void)answer;
	rt_buf_add_str(out, bytes);
	return out->status;
}

/* Sends a form, or asks for a document if there is none. *out_status: of HTTP. */
static rt_str
ask(rt_oidc *o, rt_scope *s, rt_str url, rt_str form, rt_str authorization, unsigned *out_status)
{
	rt_header headers[3] = {{RT_STR("Accept"), RT_STR("application/json"), false}};
	rt_http_request request = {.method = form.size > 0 ? "POST" : "GET",
				   .url = url,
				   .headers = headers,
				   .header_count = 1,
				   .body = form,
				   .first_byte_ms = RT_OIDC_WAIT_MS,
				   .idle_ms = RT_OIDC_WAIT_MS,
				   .total_ms = RT_OIDC_WAIT_MS,
				   .answer_max = RT_OIDC_ANSWER_MAX,
				   .stop = is_stopped,
				   .ctx = o};
	rt_buf *answer = rt_scope_buf(s);
	rt_http_answer got = {0};

	if (form.size > 0)
		headers[request.header_count++] =
			(rt_header){RT_STR("Content-Type"), RT_STR("application/x-www-form-urlencoded"), false};
	if (authorization.size > 0)
		headers[request.header_count++] = (rt_header){RT_STR("Authorization"), authorization, true};
	RT_TRY(s, o->transport->ops->send(o->transport, &request, &got, add_bytes, answer, &s->error));
	*out_status = got.status;
	return rt_scope_str(s, answer);
}

/* A JSON document of the provider. */
static rt_str
fetch(rt_oidc *o, rt_scope *s, rt_str url, const char *what)
{
	rt_buf *shown = rt_scope_buf(s);
	unsigned status = 0;
	rt_str answer = rt_ok(s) ? ask(o, s, url, rt_str_at(NULL, 0), rt_str_at(NULL, 0), &status) : rt_str_at(NULL, 0);

	rt_url_add_shown(shown, url);
	if (rt_ok(s) && status != 200)
		rt_scope_fail(s, RT_UPSTREAM, "the sign-in service answered %u when asked for %s (%.*s)", status, what,
			      RT_STR_ARG(rt_buf_str(shown)));
	return answer;
}

/* The root object of a JSON text. */
static yyjson_val *
object_of(rt_scope *s, rt_str text, const char *what)
{
	yyjson_val *root = rt_json_parse(s, text);

	if (s->status == RT_USAGE || s->status == RT_LIMIT)
		s->status = RT_OK;
	if (rt_ok(s) && !yyjson_is_obj(root))
		rt_scope_fail(s, RT_UPSTREAM, "the sign-in service did not send %s as JSON", what);
	return rt_ok(s) ? root : NULL;
}

/* ---- discovery ---- */

/* With https, or on this machine. */
static void
check_address(rt_scope *s, rt_str text, const char *what, bool is_local)
{
	rt_url url;
	rt_error ignored;

	if (rt_ok(s) && (rt_url_read(text, &url, &ignored) != RT_OK ||
			 (!url.is_tls && !(is_local && rt_url_is_loopback(&url)))))
		rt_scope_fail(s, RT_UPSTREAM, "the sign-in service does not give a valid https address for %s", what);
}

static const rt_text *
read_address(rt_oidc *o, rt_scope *s, yyjson_val *root, const char *name)
{
	yyjson_val *value = rt_json_get(root, name);
	rt_str text = yyjson_is_str(value) ? rt_json_str(value) : rt_str_at(NULL, 0);
	const rt_text *copy = NULL;

	check_address(s, text, name, o->is_local);
	if (rt_ok(s) && (copy = rt_text_new(o->alloc, text)) == NULL)
		rt_scope_nomem(s);
	return copy;
}

static bool
lists(yyjson_val *list, const char *word)
{
	bool found = false;

	for (rt_json_iter it = rt_json_items(list); rt_json_next(&it);)
		found = found || rt_str_is(rt_json_str(it.value), word);
	return found;
}

static void
read_description(rt_oidc *o, rt_scope *s, yyjson_val *root, description *out)
{
	yyjson_val *methods = rt_json_get(root, "token_endpoint_auth_methods_supported");
	yyjson_val *challenges = rt_json_get(root, "code_challenge_methods_supported");

	if (rt_ok(s) && !rt_str_eq(rt_json_str(rt_json_get(root, "issuer")), o->options.issuer))
		rt_scope_fail(s, RT_UPSTREAM,
			      "the sign-in service reports a different issuer than --oidc; both must be equal, including a trailing slash");
	if (rt_ok(s) && challenges != NULL && !lists(challenges, "S256"))
		rt_scope_fail(s, RT_UPSTREAM, "the sign-in service does not support PKCE with S256");
	out->authorize = read_address(o, s, root, "authorization_endpoint");
	out->token = read_address(o, s, root, "token_endpoint");
	out->key_set = read_address(o, s, root, "jwks_uri");
	out->secret_in_body = methods != NULL && !lists(methods, "client_secret_basic");
	out->names_issuer = yyjson_is_true(rt_json_get(root, "authorization_response_iss_parameter_supported"));
}

/* The provider's keys, again. */
static void
fetch_keys(rt_oidc *o, rt_scope *s, description *d)
{
	rt_str text = rt_ok(s) ? fetch(o, s, rt_text_str(d->key_set), "its keys") : rt_str_at(NULL, 0);
	const rt_text *keys = rt_ok(s) ? rt_text_new(o->alloc, text) : NULL;

	if (rt_ok(s) && keys == NULL)
		rt_scope_nomem(s);
	if (!rt_ok(s))
		return;
	rt_text_unref(d->keys);
	d->keys = keys;
}

static void
keep(rt_oidc *o, const description *d, int64_t since_us)
{
	pthread_mutex_lock(&o->lock);
	release(&o->known);
	o->known = share(d);
	o->known_us = since_us;
	pthread_mutex_unlock(&o->lock);
}

/* Release it. Empty after a failure. *out_since: when it was read. */
static description
describe(rt_oidc *o, rt_scope *s, int64_t *out_since)
{
	int64_t now = o->env->now_us(o->env->ctx);
	rt_buf *url = rt_scope_buf(s);
	description d = {0};

	pthread_mutex_lock(&o->lock);
	bool is_fresh = o->known_us != 0 && now - o->known_us < fresh_us && now >= o->known_us;
	*out_since = is_fresh ? o->known_us : now;
	if (is_fresh && rt_ok(s))
		d = share(&o->known);
	pthread_mutex_unlock(&o->lock);
	if (is_fresh)
		return d;
	rt_str issuer = o->options.issuer;
	if (issuer.ptr[issuer.size - 1] == '/')
		issuer.size--;
	rt_buf_add_str(url, issuer);
	rt_buf_add_c(url, DISCOVERY);
	rt_str text = fetch(o, s, rt_scope_str(s, url), "its description");
	yyjson_val *root = rt_ok(s) ? object_of(s, text, "its description") : NULL;
	if (rt_ok(s))
		read_description(o, s, root, &d);
	fetch_keys(o, s, &d);
	if (rt_ok(s))
		keep(o, &d, now);
	else
		release(&d);
	return d;
}

/* ---- the request ---- */

/* name=value&…; a secret is only in a body. */
static void
add_field(rt_buf *out, const char *name, rt_str value)
{
	char last = out->size > 0 ? out->ptr[out->size - 1] : '\0';

	if (out->size > 0 && last != '?' && last != '&')
		rt_buf_add_byte(out, '&');
	rt_buf_add_c(out, name);
	rt_buf_add_byte(out, '=');
	rt_url_add_encoded(out, value);
}

rt_str
rt_oidc_request(rt_oidc *o, rt_scope *s, const rt_oidc_secrets *secrets)
{
	rt_buf *out = rt_scope_buf(s), *challenge = rt_scope_buf(s);
	uint8_t hash[RT_SHA256_SIZE];
	rt_sha256 sha;
	int64_t since;
	description d = describe(o, s, &since);
	rt_str to = rt_text_str(d.authorize);

	rt_sha256_init(&sha);
	rt_sha256_add(&sha, secrets->verifier.ptr, secrets->verifier.size);
	rt_sha256_end(&sha, hash);
	rt_buf_add_base64url(challenge, rt_str_at((const char *)hash, sizeof(hash)));
	rt_buf_add_str(out, to);
	if (rt_str_find(to, RT_STR("?"), 0) == SIZE_MAX)
		rt_buf_add_byte(out, '?');
	add_field(out, "response_type", RT_STR("code"));
	add_field(out, "client_id", o->options.client);
	add_field(out, "redirect_uri", o->options.redirect);
	add_field(out, "scope", RT_STR("openid profile email"));
	add_field(out, "state", secrets->state);
	add_field(out, "nonce", secrets->nonce);
	add_field(out, "code_challenge", rt_buf_str(challenge));
	add_field(out, "code_challenge_method", RT_STR("S256"));
	release(&d);
	return rt_scope_str(s, out);
}

/* ---- the exchange ---- */

/* "Basic …" of RFC 6749, 2.3.1. */
static rt_str
basic(rt_oidc *o, rt_scope *s)
{
	rt_buf *pair = rt_scope_buf(s), *out = rt_scope_buf(s);

	rt_url_add_encoded(pair, o->options.client);
	rt_buf_add_byte(pair, ':');
	rt_url_add_encoded(pair, o->options.secret);
	rt_buf_add_c(out, "Basic ");
	rt_buf_add_base64(out, rt_scope_str(s, pair));
	return rt_scope_str(s, out);
}

/* It answered with an error. */
static void
fail_exchange(rt_scope *s, yyjson_val *root, unsigned status)
{
	yyjson_val *error = rt_json_get(root, "error");
	rt_str word = rt_json_str(error);

	if (!yyjson_is_str(error))
		rt_scope_fail(s, RT_UPSTREAM, "the sign-in service answered %u when asked for the ID token", status);
	else if (rt_str_is(word, "invalid_grant"))
		rt_scope_fail(s, RT_CREDENTIALS,
			      "the sign-in service rejected the code (invalid_grant): it was used, has expired or belongs to another sign-in");
	else if (rt_str_is(word, "invalid_client") || rt_str_is(word, "unauthorized_client"))
		rt_scope_fail(s, RT_UPSTREAM,
			      "the sign-in service rejected this server (%.*s): check --oidc-client and its secret",
			      RT_STR_ARG(word));
	else
		rt_scope_fail(s, RT_UPSTREAM, "the sign-in service answered with the error %.*s", (int)rt_utf8_cut(word, 80),
			      word.ptr);
}

/* The ID token and the access token. */
static rt_str
exchange(rt_oidc *o, rt_scope *s, const description *d, rt_str code, rt_str verifier, rt_str *out_access)
{
	rt_buf *form = rt_scope_buf(s);
	rt_str authorization = rt_str_at(NULL, 0);
	unsigned status = 0;

	add_field(form, "grant_type", RT_STR("authorization_code"));
	add_field(form, "code", code);
	add_field(form, "redirect_uri", o->options.redirect);
	add_field(form, "code_verifier", verifier);
	if (o->options.secret.size > 0 && !d->secret_in_body) {
		authorization = basic(o, s);
	} else {
		add_field(form, "client_id", o->options.client);
		if (o->options.secret.size > 0)
			add_field(form, "client_secret", o->options.secret);
	}
	rt_str text = rt_scope_str(s, form);
	if (rt_ok(s))
		text = ask(o, s, rt_text_str(d->token), text, authorization, &status);
	yyjson_val *root = rt_ok(s) ? object_of(s, text, "a token response") : NULL;
	if (rt_ok(s) && status != 200)
		fail_exchange(s, root, status);
	yyjson_val *token = rt_json_get(root, "id_token");
	if (rt_ok(s) && !yyjson_is_str(token))
		rt_scope_fail(s, RT_CREDENTIALS,
			      "the sign-in service sent no ID token: the client needs the scope openid there");
	*out_access = rt_json_str(rt_json_get(root, "access_token"));
	return rt_json_str(token);
}

rt_id_claims
rt_oidc_exchange(rt_oidc *o, rt_scope *s, rt_str code, rt_str issuer, const rt_oidc_secrets *secrets)
{
	rt_id_expected expected = {o->options.issuer, o->options.client, secrets->nonce, {NULL, 0}, 0};
	rt_id_claims claims = {0};
	int64_t since;
	description d = describe(o, s, &since);

	if (rt_ok(s) && (issuer.size > 0 || d.names_issuer) && !rt_str_eq(issuer, o->options.issuer))
		rt_scope_fail(s, RT_CREDENTIALS, "the response comes from a different issuer (iss)");
	rt_str token = rt_ok(s) ? exchange(o, s, &d, code, secrets->verifier, &expected.access_token) : rt_str_at(NULL, 0);
	expected.now_s = o->env->now_us(o->env->ctx) / 1000000;
	if (rt_ok(s))
		claims = rt_id_token_read(s, token, rt_text_str(d.keys), &expected);
	/* The provider may have changed its keys. */
	if (s->status == RT_NOT_FOUND) {
		s->status = RT_OK;
		fetch_keys(o, s, &d);
		if (rt_ok(s)) {
			keep(o, &d, since);
			claims = rt_id_token_read(s, token, rt_text_str(d.keys), &expected);
		}
		if (s->status == RT_NOT_FOUND)
			s->status = s->error.status = RT_CREDENTIALS;
	}
	release(&d);
	return claims;
}

/* ---- opening ---- */

rt_status
rt_oidc_open(const rt_alloc *alloc, const rt_env *env, const rt_oidc_options *options, rt_oidc **out, rt_error *err)
{
	const rt_jose *jose;
	rt_url url;
	rt_status st = rt_jose_load(&jose, err);

	if (st == RT_OK && (options->issuer.size == 0 || options->client.size == 0))
		st = rt_fail(err, RT_USAGE, "the issuer and the client must not be empty");
	if (st == RT_OK)
		st = rt_url_read(options->issuer, &url, err);
	if (st == RT_OK && ((!url.is_tls && !rt_url_is_loopback(&url)) || url.query.size > 0))
		st = rt_fail(err, RT_USAGE, "the issuer must be an https address without a query");
	if (st != RT_OK)
		return st;
	rt_oidc *o = rt_new0(alloc, sizeof(*o));
	if (o == NULL || pthread_mutex_init(&o->lock, NULL) != 0) {
		rt_free(alloc, o);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	o->alloc = alloc;
	o->env = env;
	o->options = *options;
	o->is_local = !url.is_tls;
	st = rt_transport_curl_open(NULL, &o->transport, err);
	if (st == RT_OK)
		*out = o;
	else
		rt_oidc_close(o);
	return st;
}

void
rt_oidc_stop(rt_oidc *o)
{
	if (o != NULL)
		o->is_stopped = true;
}

void
rt_oidc_close(rt_oidc *o)
{
	if (o == NULL)
		return;
	if (o->transport != NULL)
		o->transport->ops->close(o->transport);
	release(&o->known);
	pthread_mutex_destroy(&o->lock);
	rt_free(o->alloc, o);
}
