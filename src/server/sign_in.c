/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "server/sign_in.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "accounts/arrival.h"
#include "accounts/audit.h"
#include "base/encode.h"
#include "llm/url.h"
#include "server/page.h"

#define CALLBACK_PATH "/sign-in/callback"
#define INVITE_PATH "/sign-in/invite"

enum {
	ID_BYTES = 32,
	ID_SIZE = 43,   /* of 32 bytes in base64url */
	COOKIE_MAX = 256
};

static const int64_t minute_us = (int64_t)60 * 1000000;

struct rt_sign_in {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_sign_in_options options;
	rt_directory *directory;
	rt_browsers *browsers;
	unsigned cookie_port;
	bool is_secure;             /* browsers use https */
	char cookie[64];            /* name of the cookie of a sign-in */
	char redirect[RT_URL_MAX];  /* the address of CALLBACK_PATH for browsers */
	rt_oidc *oidc;              /* NULL: no service */
	atomic_uint waiting;
	pthread_mutex_t lock;       /* guards what follows */
	char key[RT_SHA256_HEX_ROOM]; /* of the store; empty: not read yet */
	int64_t audit_us;           /* begin of the minute */
	unsigned audited, unaudited;
};

/* One request. */
typedef struct visit {
	rt_sign_in *si;
	rt_scope *s;
	const rt_web_request *request;
	const rt_principal *principal;
	rt_web_answer *answer;
} visit;

static rt_accounts
accounts_of(const visit *v, rt_scope *s, const char *by)
{
	return (rt_accounts){.directory = v->si->directory,
			     .scope = s,
			     .env = v->si->env,
			     .by = rt_str_of(by),
			     .from = RT_STR("http"),
			     .request = rt_str_of(v->request->id)};
}

/* ---- opening ---- */

/* The address for browsers: its origin. */
static rt_status
set_address(rt_sign_in *si, const char *place, rt_error *err)
{
	rt_str given = si->options.public_url;
	char own[300];
	rt_url url;

	(void)snprintf(own, sizeof(own), "http://%s", place);
	if (given.size == 0)
		given = rt_str_of(own);
	rt_status st = rt_url_read(given, &url, err);
	if (st == RT_OK && (url.query.size > 0 || (url.path.size > 0 && !rt_str_is(url.path, "/"))))
		st = rt_fail(err, RT_USAGE, "--public-url must not have a path or a query: https://retake.example.org");
	if (st == RT_OK && !url.is_tls && !rt_url_is_loopback(&url))
		st = rt_fail(err, RT_USAGE, "--public-url must begin with https://, except on this machine");
	if (st != RT_OK)
		return st;
	si->is_secure = url.is_tls;
	given.size -= url.path.size;
	(void)snprintf(si->redirect, sizeof(si->redirect), "%.*s" CALLBACK_PATH, RT_STR_ARG(given));
	/* The prefix keeps other hosts of the domain from setting the cookie. */
	(void)snprintf(si->cookie, sizeof(si->cookie), "%sretake_signin_%u", si->is_secure ? "__Host-" : "", si->cookie_port);
	return RT_OK;
}

rt_status
rt_sign_in_open(const rt_alloc *alloc, const rt_env *env, const rt_sign_in_options *options, rt_directory *directory,
		rt_browsers *browsers, const char *place, unsigned cookie_port, rt_sign_in **out, rt_error *err)
{
	rt_sign_in *si = rt_new0(alloc, sizeof(*si));

	if (si == NULL || pthread_mutex_init(&si->lock, NULL) != 0) {
		rt_free(alloc, si);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	si->alloc = alloc;
	si->env = env;
	si->options = *options;
	si->directory = directory;
	si->browsers = browsers;
	si->cookie_port = cookie_port;
	rt_status st = set_address(si, place, err);
	if (st == RT_OK && options->issuer.size > 0)
		st = rt_oidc_open(alloc, env,
				  &(rt_oidc_options){options->issuer, options->client, options->secret, rt_str_of(si->redirect)},
				  &si->oidc, err);
	if (st == RT_OK)
		*out = si;
	else
		rt_sign_in_close(si);
	return st;
}

void
rt_sign_in_close(rt_sign_in *si)
{
	if (si == NULL)
		return;
	rt_oidc_close(si->oidc);
	pthread_mutex_destroy(&si->lock);
	memset(si->key, 0, sizeof(si->key));
	rt_free(si->alloc, si);
}

void
rt_sign_in_stop(rt_sign_in *si)
{
	if (si != NULL)
		rt_oidc_stop(si->oidc);
}

rt_str
rt_sign_in_service(const rt_sign_in *si)
{
	return si != NULL && si->oidc != NULL ? si->options.service : rt_str_at(NULL, 0);
}

bool
rt_sign_in_is_page(const rt_web_request *request, bool *out_arrival)
{
	bool is_callback = rt_str_is(request->path, CALLBACK_PATH), is_invite = rt_str_is(request->path, INVITE_PATH);
	rt_str ignored;

	/* An invitation is accepted from our own page only. */
	*out_arrival = is_callback || (is_invite && !rt_web_query(request, "accept", &ignored));
	return is_callback || is_invite || rt_str_is(request->path, RT_PAGE_SERVICE) || rt_str_is(request->path, RT_PAGE_SIGN_OUT);
}

/* ---- the cookie of a sign-in: ID.UNTIL.INVITE.MAC ---- */

typedef struct ticket {
	rt_str id;
	int64_t until_us;
	rt_str invite; /* hash; empty: none */
	rt_oidc_secrets secrets;
	char once[RT_SHA256_HEX_ROOM];
} ticket;

/* The key of the store. */
static rt_str
key_of(const visit *v)
{
	rt_sign_in *si = v->si;
	char key[RT_SHA256_HEX_ROOM];
	rt_accounts a = accounts_of(v, v->s, "machine");

	pthread_mutex_lock(&si->lock);
	memcpy(key, si->key, sizeof(key));
	pthread_mutex_unlock(&si->lock);
	if (key[0] == '\0' && rt_ok(v->s)) {
		rt_accounts_shared_key(&a, key);
		pthread_mutex_lock(&si->lock);
		if (rt_ok(v->s))
			memcpy(si->key, key, sizeof(key));
		pthread_mutex_unlock(&si->lock);
	}
	return rt_scope_copy(v->s, rt_str_of(key));
}

/* A secret for a purpose, computed from a text that is in the cookie. */
static rt_str
derive(const visit *v, rt_str key, const char *purpose, rt_str text)
{
	rt_buf *from = rt_scope_buf(v->s), *out = rt_scope_buf(v->s);
	uint8_t raw[RT_SHA256_SIZE];

	rt_buf_add_f(from, "%s|%.*s", purpose, RT_STR_ARG(text));
	rt_hmac_sha256(key, rt_scope_str(v->s, from), raw);
	rt_buf_add_base64url(out, rt_str_at((const char *)raw, sizeof(raw)));
	return rt_scope_str(v->s, out);
}

/* The secrets of an id. */
static void
fill_ticket(const visit *v, rt_str key, ticket *t)
{
	rt_sha256 sha;

	t->secrets.state = derive(v, key, "state", t->id);
	t->secrets.nonce = derive(v, key, "nonce", t->id);
	t->secrets.verifier = derive(v, key, "verifier", t->id);
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, t->id.ptr, t->id.size);
	rt_sha256_end_hex(&sha, t->once);
}

static void
set_cookie(const visit *v, rt_str value, int age_s)
{
	rt_buf *out = rt_scope_buf(v->s);

	/* Lax: the redirection of the service comes from another site. */
	rt_buf_add_f(out, "%s=%.*s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s", v->si->cookie, RT_STR_ARG(value), age_s,
		     v->si->is_secure ? "; Secure" : "");
	rt_web_answer_header(v->answer, v->request, "Set-Cookie", rt_buf_str(out));
}

static ticket
new_ticket(const visit *v, rt_str invite)
{
	rt_scope *s = v->s;
	rt_buf *id = rt_scope_buf(s), *value = rt_scope_buf(s);
	unsigned char random[ID_BYTES];
	rt_str key = key_of(v);
	ticket t = {.until_us = v->si->env->now_us(v->si->env->ctx) + RT_SIGN_IN_S * (int64_t)1000000, .invite = invite};

	v->si->env->random(v->si->env->ctx, random, sizeof(random));
	rt_buf_add_base64url(id, rt_str_at((const char *)random, sizeof(random)));
	t.id = rt_scope_str(s, id);
	fill_ticket(v, key, &t);
	rt_buf_add_f(value, "%.*s.%lld.%.*s", RT_STR_ARG(t.id), (long long)t.until_us, RT_STR_ARG(invite));
	rt_str mac = derive(v, key, "cookie", rt_buf_str(value));
	rt_buf_add_f(value, ".%.*s", RT_STR_ARG(mac));
	rt_str text = rt_scope_str(s, value);
	if (rt_ok(s))
		set_cookie(v, text, RT_SIGN_IN_S);
	return t;
}

/* The sign-in that this browser has begun. RT_CREDENTIALS: none, or not this one. */
static ticket
read_ticket(const visit *v, rt_str state)
{
	rt_scope *s = v->s;
	rt_str cookie, rest, until, signed_part, key = key_of(v);
	ticket t = {0};
	uint64_t number = 0;

	if (!rt_guard_cookie(v->request, v->si->cookie, &cookie) || cookie.size > COOKIE_MAX) {
		rt_scope_fail(s, RT_CREDENTIALS, "this browser did not start a sign-in, or it took longer than 10 minutes");
		return t;
	}
	rest = cookie;
	bool is_good = rt_str_split(&rest, '.', &t.id) && rt_str_split(&rest, '.', &until) &&
		       t.id.size == ID_SIZE && rt_str_u64(until, INT64_MAX, &number);
	size_t dot = rt_str_find(rest, RT_STR("."), 0);
	if (is_good && dot != SIZE_MAX) {
		t.invite = rt_str_at(rest.ptr, dot);
		signed_part = rt_str_at(cookie.ptr, (size_t)(rest.ptr - cookie.ptr) + dot);
		is_good = rt_guard_same(rt_str_skip(rest, dot + 1), derive(v, key, "cookie", signed_part));
	} else {
		is_good = false;
	}
	t.until_us = (int64_t)number;
	if (!rt_ok(s))
		return t;
	fill_ticket(v, key, &t);
	if (!is_good)
		rt_scope_fail(s, RT_CREDENTIALS, "the cookie of this sign-in was not set by this server");
	else if (v->si->env->now_us(v->si->env->ctx) >= t.until_us)
		rt_scope_fail(s, RT_CREDENTIALS, "this sign-in took longer than 10 minutes");
	else if (state.size == 0 || !rt_guard_same(state, t.secrets.state))
		rt_scope_fail(s, RT_CREDENTIALS, "the response does not belong to the latest sign-in of this browser");
	return t;
}

/* ---- refusals ---- */

/* Adds a refusal to the audit log, unless there are too many. Its failure changes nothing. */
static void
audit(const visit *v, rt_str cause)
{
	rt_sign_in *si = v->si;
	int64_t now = si->env->now_us(si->env->ctx);
	unsigned left_out = 0;
	bool is_over;
	rt_scope s;

	pthread_mutex_lock(&si->lock);
	if (now - si->audit_us >= minute_us || now < si->audit_us) {
		si->audit_us = now;
		si->audited = 0;
		left_out = si->unaudited;
		si->unaudited = 0;
	}
	is_over = si->audited >= RT_SIGN_IN_AUDIT_MAX;
	if (is_over)
		si->unaudited++;
	else
		si->audited++;
	pthread_mutex_unlock(&si->lock);
	if (is_over)
		return;
	rt_scope_init(&s, si->alloc);
	rt_accounts a = accounts_of(v, &s, "nobody");
	rt_buf *on = rt_scope_buf(&s);
	rt_buf_add_str(on, cause);
	if (left_out > 0)
		rt_buf_add_f(on, " (and %u more that are not listed)", left_out);
	rt_audit_add(&a, "sign-in.refused", rt_scope_str(&s, on));
	(void)!rt_scope_end(&s, NULL);
}

static unsigned
status_of(rt_status st)
{
	switch (st) {
	case RT_USAGE: return 400;
	case RT_CREDENTIALS:
	case RT_REFUSED: return 403;
	case RT_UPSTREAM:
	case RT_LIMIT: return 502;
	default: return 503;
	}
}

/* The page with the failure of the scope. next: HTML. */
static void
refuse(const visit *v, const char *next)
{
	rt_str cause = rt_str_of(v->s->error.text);
	rt_buf *body = &v->answer->body;

	audit(v, cause);
	rt_buf_clear(body);
	rt_page_begin(v->request, v->answer, status_of(v->s->status), "Sign-in failed");
	rt_buf_add_c(body, "<p class=\"problem\" role=\"alert\">Sign-in failed: ");
	rt_page_add_text(body, cause);
	rt_buf_add_c(body, ".</p>\n<p>");
	rt_buf_add_c(body, next);
	rt_buf_add_c(body, "</p>\n");
	rt_page_end(v->answer);
}

static const char again[] = "<a href=\"" RT_PAGE_SERVICE "\">Sign in again</a>, or go to the "
			    "<a href=\"/\">sign-in page</a>. If it fails again, show this page to an administrator.";
static const char unknown[] = "Ask an administrator of this server for an invitation. For an "
			      "existing user, administrators can add the "
			      "identity: <code>retake user change NAME --identity IDENTITY</code>";
static const char ask_again[] = "Ask the person who sent you the invitation for a new one.";

/* ---- the end of a sign-in ---- */

/* The browser is signed in as the user: a page that leads home. Its first request must come from this
 * site, or the browser would not send the new cookie. */
static void
welcome(const visit *v, uint64_t user, rt_str name)
{
	rt_scope *s = v->s;
	char code[RT_CODE_ROOM], cookie[RT_TOKEN_ROOM];
	rt_buf *body = &v->answer->body;

	RT_TRY(s, rt_browsers_code(v->si->browsers, user, rt_str_at(NULL, 0), code, NULL, &s->error));
	RT_TRY(s, rt_browsers_enter(v->si->browsers, rt_str_of(code), cookie, &s->error));
	if (!rt_ok(s))
		return;
	rt_page_set_cookie(v->request, v->answer, v->si->cookie_port, v->si->is_secure, rt_str_of(cookie));
	rt_web_answer_header(v->answer, v->request, "Refresh", RT_STR("0; url=/"));
	rt_page_begin(v->request, v->answer, 200, "Signed in");
	rt_buf_add_c(body, "<p>You are signed in as ");
	rt_page_add_text(body, name);
	rt_buf_add_c(body, ". <a href=\"/\">Open your discussions</a></p>\n");
	rt_page_end(v->answer);
}

/* ---- with a service ---- */

static void
begin(const visit *v)
{
	rt_str secret, invite = rt_str_at(NULL, 0);
	char hash[RT_SHA256_HEX_ROOM];

	if (rt_web_query(v->request, "invite", &secret) && rt_secret_hash(rt_str_trim(secret), RT_ITEM_INVITE, hash))
		invite = rt_str_of(hash);
	ticket t = new_ticket(v, invite);
	rt_str to = rt_ok(v->s) ? rt_oidc_request(v->si->oidc, v->s, &t.secrets) : rt_str_at(NULL, 0);
	if (!rt_ok(v->s)) {
		refuse(v, again);
		return;
	}
	v->answer->status = 303;
	rt_web_answer_header(v->answer, v->request, "Location", to);
}

/* The service has said no. */
static void
fail_response(rt_scope *s, rt_str error)
{
	bool is_word = error.size > 0 && error.size <= 40 && rt_word_size(error, "_") == error.size;

	if (rt_ok(s) && rt_str_is(error, "access_denied"))
		rt_scope_fail(s, RT_REFUSED, "it was cancelled, or the sign-in service does not allow you to sign in (access_denied)");
	else if (rt_ok(s))
		rt_scope_fail(s, RT_UPSTREAM, "the sign-in service answered with the error %.*s",
			      is_word ? (int)error.size : 7, is_word ? error.ptr : "unknown");
}

/* The identity of the person; then the user. */
static void
arrive(const visit *v, const ticket *t, rt_str code, rt_str issuer)
{
	rt_scope *s = v->s;
	rt_accounts a = accounts_of(v, s, "sign-in");
	rt_id_claims claims = rt_oidc_exchange(v->si->oidc, s, code, issuer, &t->secrets);
	rt_buf *identity = rt_scope_buf(s);
	rt_str name = {NULL, 0};

	rt_identity_add(identity, "oidc", v->si->options.issuer, claims.subject);
	rt_arrival arrival = {.identity = rt_scope_str(s, identity),
			      .name = claims.name.size > 0 ? claims.name : claims.email,
			      .may_create = v->si->options.creates,
			      .invite = t->invite,
			      .once = rt_str_of(t->once),
			      .once_until_us = t->until_us};
	uint64_t user = rt_ok(s) ? rt_accounts_arrive(&a, &arrival, &name) : 0;
	bool is_unknown = s->status == RT_REFUSED && claims.subject.size > 0;
	if (is_unknown) {
		rt_error why = s->error;

		(void)rt_fail(&s->error, RT_REFUSED, "%.200s: %.*s", why.text, (int)rt_utf8_cut(arrival.identity, 260),
			      arrival.identity.ptr);
	}
	if (rt_ok(s))
		welcome(v, user, name);
	if (!rt_ok(s))
		refuse(v, is_unknown ? unknown : again);
}

static void
complete(const visit *v)
{
	rt_str state, code, error, issuer;
	bool has_code = rt_web_query(v->request, "code", &code), has_error = rt_web_query(v->request, "error", &error);

	(void)rt_web_query(v->request, "state", &state);
	(void)rt_web_query(v->request, "iss", &issuer);
	ticket t = read_ticket(v, state);
	if (rt_ok(v->s) && has_error)
		fail_response(v->s, error);
	if (rt_ok(v->s) && (!has_code || code.size == 0 || code.size > RT_OIDC_CODE_MAX))
		rt_scope_fail(v->s, RT_CREDENTIALS, "the response of the sign-in service has no code");
	set_cookie(v, rt_str_at(NULL, 0), 0);
	if (rt_ok(v->s))
		arrive(v, &t, code, issuer);
	else
		refuse(v, again);
}

/* ---- invitations ---- */

/* A hidden field. */
static void
add_hidden(rt_buf *body, const char *name, rt_str value)
{
	rt_buf_add_f(body, "<input type=\"hidden\" name=\"%s\" value=\"", name);
	rt_page_add_text(body, value);
	rt_buf_add_c(body, "\">");
}

/* What the invitation offers. failure: of the last attempt, or NULL. */
static void
show_invite(const visit *v, rt_str secret, const rt_item *invite, const rt_item *user, const rt_error *failure)
{
	rt_buf *body = &v->answer->body;

	rt_page_begin(v->request, v->answer, failure != NULL ? status_of(failure->status) : 200, "Invitation to Retake");
	if (failure != NULL) {
		rt_buf_add_c(body, "<p class=\"problem\" role=\"alert\">The invitation was not accepted: ");
		rt_page_add_text(body, rt_str_of(failure->text));
		rt_buf_add_c(body, ".</p>\n");
	}
	if (v->si->oidc != NULL) {
		rt_buf_add_c(body, "<p><a href=\"" RT_PAGE_SERVICE "?invite=");
		rt_page_add_text(body, secret);
		rt_buf_add_c(body, "\">Accept it and sign in with ");
		rt_page_add_text(body, v->si->options.service);
		rt_buf_add_c(body, "</a></p>\n<p>Or without that service:</p>\n");
	}
	rt_buf_add_c(body, "<form method=\"get\" action=\"" INVITE_PATH "\">");
	add_hidden(body, "invite", secret);
	add_hidden(body, "accept", RT_STR("1"));
	if (user != NULL) {
		rt_buf_add_c(body, "<label>This browser is signed in as ");
		rt_page_add_text(body, user->name);
		rt_buf_add_c(body, "</label>\n");
	} else if (invite->name.size > 0) {
		rt_buf_add_c(body, "<label>Your name is ");
		rt_page_add_text(body, invite->name);
		rt_buf_add_c(body, "</label>\n");
	} else {
		rt_buf_add_c(body, "<label for=\"name\">Your name, in a-z 0-9 . _ -</label>\n<input id=\"name\" name=\"name\" type=\"text\" "
				   "maxlength=\"64\" pattern=\"[a-z0-9][a-z0-9._\\-]*\" autocomplete=\"username\" spellcheck=\"false\" "
				   "required autofocus>\n");
	}
	rt_buf_add_c(body, "<button type=\"submit\">Accept the invitation</button></form>\n"
			   "<p class=\"quiet\">An invitation works once.</p>\n");
	rt_page_end(v->answer);
}

static void
accept(const visit *v, rt_str secret, const char *hash, const rt_item *invite, const rt_item *user)
{
	rt_scope *s = v->s;
	rt_accounts a = accounts_of(v, s, "invitation");
	rt_str wanted, name = {NULL, 0};

	(void)rt_web_query(v->request, "name", &wanted);
	rt_arrival arrival = {.name = rt_str_trim(wanted), .user = user != NULL ? user->id : 0, .invite = rt_str_of(hash)};
	uint64_t id = rt_accounts_arrive(&a, &arrival, &name);
	if (rt_ok(s))
		welcome(v, id, name);
	if (s->status == RT_USAGE || s->status == RT_REFUSED)
		show_invite(v, secret, invite, user, &s->error);
	else if (!rt_ok(s))
		refuse(v, ask_again);
}

static void
answer_invite(const visit *v)
{
	rt_sign_in *si = v->si;
	int64_t now = si->env->now_us(si->env->ctx);
	char hash[RT_SHA256_HEX_ROOM] = "";
	rt_str secret, ignored;

	RT_TRY(v->s, rt_directory_refresh(si->directory, now, &v->s->error));
	const rt_roster *roster = rt_directory_roster(si->directory);
	const rt_item *invite = NULL, *user = rt_account_user(roster, &v->principal->account, now);

	if (rt_web_query(v->request, "invite", &secret) && rt_secret_hash(rt_str_trim(secret), RT_ITEM_INVITE, hash))
		invite = rt_roster_secret(roster, RT_ITEM_INVITE, hash);
	if (rt_ok(v->s) && (invite == NULL || rt_item_has_expired(invite, now)))
		rt_scope_fail(v->s, RT_CREDENTIALS, "this invitation was used, has expired or was revoked");
	if (!rt_ok(v->s))
		refuse(v, ask_again);
	else if (rt_web_query(v->request, "accept", &ignored))
		accept(v, rt_str_trim(secret), hash, invite, user);
	else
		show_invite(v, rt_str_trim(secret), invite, user, NULL);
	rt_object_unref(roster);
}

/* ---- signing out ---- */

/* Only the proxy can sign its users out. */
static void
show_sign_out(const visit *v)
{
	rt_str url = v->si->options.sign_out_url;
	rt_buf *body = &v->answer->body;

	rt_page_begin(v->request, v->answer, 200, "Sign out");
	rt_buf_add_c(body, "<p>A service that this server trusts has signed you in, so Retake cannot sign you out.</p>\n");
	if (url.size > 0) {
		rt_buf_add_c(body, "<p>Sign out here: <a href=\"");
		rt_page_add_text(body, url);
		rt_buf_add_c(body, "\">");
		rt_page_add_text(body, url);
		rt_buf_add_c(body, "</a></p>\n");
	} else {
		rt_buf_add_c(body, "<p>Sign out at that service. Its administrator knows the address.</p>\n");
	}
	rt_buf_add_c(body, "<p><a href=\"/\">Back to your discussions</a></p>\n");
	rt_page_end(v->answer);
}

/* ---- answering ---- */

/* Within the number of requests that may wait for the service. */
static void
answer_service(const visit *v, void (*fn)(const visit *))
{
	if (v->si->oidc == NULL) {
		rt_scope_fail(v->s, RT_REFUSED, "this server has no sign-in service");
		refuse(v, "Go to the <a href=\"/\">sign-in page</a>.");
	} else if (atomic_fetch_add(&v->si->waiting, 1) >= RT_SIGN_IN_WAITING_MAX) {
		rt_scope_fail(v->s, RT_BUSY, "too many people are signing in at the moment");
		refuse(v, "Try again in a few seconds: <a href=\"" RT_PAGE_SERVICE "\">sign in</a>.");
		v->si->waiting--;
	} else {
		fn(v);
		v->si->waiting--;
	}
}

void
rt_sign_in_answer(rt_sign_in *si, const rt_web_request *request, const rt_principal *principal, rt_web_answer *answer)
{
	rt_scope s;
	visit v = {si, &s, request, principal, answer};

	rt_scope_init(&s, si->alloc);
	if (rt_str_is(request->path, INVITE_PATH))
		answer_invite(&v);
	else if (rt_str_is(request->path, RT_PAGE_SIGN_OUT))
		show_sign_out(&v);
	else
		answer_service(&v, rt_str_is(request->path, CALLBACK_PATH) ? complete : begin);
	(void)!rt_scope_end(&s, NULL);
}
