/* SPDX-License-Identifier: MIT
 *
 * ID tokens signed here by libcjose with new keys: those that are accepted, and for each reason of a
 * refusal one that differs from them in this alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/encode.h"
#include "base/shared_library_host.h"
#include "signin/id_token.h"
#include "signin/jose_load.h"

#define NOW "1700000000"
#define TIMES "\"iat\":" NOW ",\"exp\":1700000300"
#define ISS "\"iss\":\"https://id.example\""
#define AUD "\"aud\":\"retake\""
#define NONCE "\"nonce\":\"n-1\""
#define SUB "\"sub\":\"ann\""
#define CLAIMS "{" ISS "," AUD "," NONCE "," TIMES "," SUB "}"
/* All but the times; but the audience; and so on. */
#define WITH_TIMES(times) "{" ISS "," AUD "," NONCE "," SUB "," times "}"
#define WITH_AUD(aud) "{" ISS "," NONCE "," TIMES "," SUB "," aud "}"
#define WITH_ISS(iss) "{" AUD "," NONCE "," TIMES "," SUB iss "}"
#define WITH_NONCE(nonce) "{" ISS "," AUD "," TIMES "," SUB nonce "}"
#define WITH_SUB(sub) "{" ISS "," AUD "," NONCE "," TIMES sub "}"

#define SIGNING_FUNCTIONS(X) \
	X(header_new) \
	X(header_set) \
	X(header_set_raw) \
	X(header_release) \
	X(jwk_create_RSA_random) \
	X(jwk_create_EC_random) \
	X(jwk_create_oct_spec) \
	X(jwk_set_kid) \
	X(jwk_to_json) \
	X(jwk_release) \
	X(jws_sign) \
	X(jws_export) \
	X(jws_release)

static struct {
#define MEMBER(name) __typeof__(&cjose_##name) name;
	SIGNING_FUNCTIONS(MEMBER)
} jose;

static cjose_jwk_t *rsa, *ec, *small_rsa, *stranger;
static char keys[8192]; /* the first three, public, with the key ids "r", "e" and "s" */
static char rsa_public[2048];

static cjose_jwk_t *
name_key(cjose_jwk_t *key, const char *kid)
{
	cjose_err err;

	assert_non_null(key);
	assert_true(jose.jwk_set_kid(key, kid, strlen(kid), &err));
	return key;
}

static char *
public_of(const cjose_jwk_t *key)
{
	cjose_err err;
	char *json = jose.jwk_to_json(key, false, &err);

	assert_non_null(json);
	return json;
}

static int
make_keys(void **state)
{
	static const rt_shared_function table[] = {
#define FUNCTION(name) {"cjose_" #name, &jose.name},
		SIGNING_FUNCTIONS(FUNCTION)
	};
	static rt_shared_library library = {
		.name = "libcjose",
		.version = "0.6.2",
		.need = "this test signs with it",
		.files = {"libcjose.so.0"},
		.functions = table,
		.function_count = sizeof(table) / sizeof(table[0]),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	static const uint8_t exponent[] = {1, 0, 1};
	rt_error error;
	cjose_err err;

	(void)state;
	if (rt_shared_library_load(&library, &error) != RT_OK)
		fail_msg("%s", error.text);
	rsa = name_key(jose.jwk_create_RSA_random(2048, exponent, sizeof(exponent), &err), "r");
	ec = name_key(jose.jwk_create_EC_random(CJOSE_JWK_EC_P_256, &err), "e");
	small_rsa = name_key(jose.jwk_create_RSA_random(1024, exponent, sizeof(exponent), &err), "s");
	stranger = name_key(jose.jwk_create_RSA_random(2048, exponent, sizeof(exponent), &err), "r");
	char *r = public_of(rsa), *e = public_of(ec), *small = public_of(small_rsa);
	(void)snprintf(rsa_public, sizeof(rsa_public), "%s", r);
	int size = snprintf(keys, sizeof(keys), "{\"keys\":[%s,%s,%s]}", r, e, small);
	assert_true(size > 0 && (size_t)size < sizeof(keys));
	free(r);
	free(e);
	free(small);
	return 0;
}

static int
free_keys(void **state)
{
	(void)state;
	(void)jose.jwk_release(rsa);
	(void)jose.jwk_release(ec);
	(void)jose.jwk_release(small_rsa);
	(void)jose.jwk_release(stranger);
	return 0;
}

/* kid and critical (JSON) may be NULL. */
static rt_str
sign(rt_scope *s, const cjose_jwk_t *key, const char *alg, const char *kid, const char *critical, rt_str payload)
{
	cjose_err err;
	const char *text;
	cjose_header_t *header = jose.header_new(&err);

	assert_true(jose.header_set(header, "alg", alg, &err));
	if (kid != NULL)
		assert_true(jose.header_set(header, "kid", kid, &err));
	if (critical != NULL)
		assert_true(jose.header_set_raw(header, "crit", critical, &err));
	cjose_jws_t *jws = jose.jws_sign(key, header, (const uint8_t *)payload.ptr, payload.size, &err);
	assert_non_null(jws);
	assert_true(jose.jws_export(jws, &text, &err));
	rt_str token = rt_scope_copy(s, rt_str_of(text));
	jose.jws_release(jws);
	jose.header_release(header);
	return token;
}

static rt_id_claims
read_token(rt_scope *s, rt_str token, const char *key_set)
{
	static const rt_id_expected expected = {
		.issuer = RT_STR_INIT("https://id.example"),
		.client = RT_STR_INIT("retake"),
		.nonce = RT_STR_INIT("n-1"),
		.access_token = RT_STR_INIT("access"),
		.now_s = 1700000000,
	};

	return rt_id_token_read(s, token, rt_str_of(key_set), &expected);
}

static void
accept_with(rt_scope *s, rt_str token, const char *key_set)
{
	rt_id_claims claims = read_token(s, token, key_set);

	if (!rt_ok(s))
		fail_msg("%s", s->error.text);
	assert_true(rt_str_is(claims.subject, "ann"));
}

/* Leaves the scope without the failure. */
static void
refuse_with(rt_scope *s, rt_str token, const char *key_set, rt_status status, const char *why)
{
	rt_id_claims claims = read_token(s, token, key_set);

	if (rt_ok(s) || strstr(s->error.text, why) == NULL)
		fail_msg("wanted '%s', got '%s'", why, rt_ok(s) ? "acceptance" : s->error.text);
	assert_int_equal(s->status, status);
	assert_int_equal(claims.subject.size, 0);
	s->status = RT_OK;
}

static void
refuse(rt_scope *s, rt_str token, const char *why)
{
	refuse_with(s, token, keys, RT_CREDENTIALS, why);
}

/* HEADER.PAYLOAD.SIGNATURE, each as given or encoded. */
static rt_str
by_hand(rt_scope *s, const char *header, const char *payload, const char *signature)
{
	rt_buf *out = rt_scope_buf(s);

	rt_buf_add_base64url(out, rt_str_of(header));
	rt_buf_add_byte(out, '.');
	rt_buf_add_base64url(out, rt_str_of(payload));
	rt_buf_add_byte(out, '.');
	rt_buf_add_str(out, rt_str_of(signature));
	return rt_scope_copy(s, rt_scope_str(s, out));
}

/* ---- claims ---- */

static void
good_claims(void **state)
{
	static const char *const good[] = {
		CLAIMS,
		WITH_TIMES("\"iat\":1700000060,\"exp\":1699999941,\"nbf\":1700000060"), /* the clocks' difference */
		WITH_TIMES("\"iat\":1700000000.5,\"exp\":1700000300.25"),
		WITH_AUD("\"aud\":[\"retake\"]"),
		WITH_AUD("\"aud\":[\"other\",\"retake\"],\"azp\":\"retake\""),
	};
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		accept_with(&s, sign(&s, rsa, "RS256", "r", NULL, rt_str_of(good[i])), keys);
		accept_with(&s, sign(&s, rsa, "PS256", "r", NULL, rt_str_of(good[i])), keys);
		accept_with(&s, sign(&s, ec, "ES256", "e", NULL, rt_str_of(good[i])), keys);
	}
	accept_with(&s, sign(&s, ec, "ES256", NULL, NULL, rt_str_of(CLAIMS)), keys); /* the only one that fits */
	rt_scope_deinit(&s);
}

static void
bad_claims(void **state)
{
	static const struct {
		const char *claims, *why;
	} bad[] = {
		{WITH_ISS(",\"iss\":\"https://id.example/\""), "another issuer (iss)"},
		{WITH_ISS(",\"iss\":[\"https://id.example\"]"), "another issuer (iss)"},
		{WITH_ISS(""), "another issuer (iss)"},
		{WITH_AUD("\"aud\":\"other\""), "another client (aud)"},
		{WITH_AUD("\"aud\":[\"other\"],\"azp\":\"retake\""), "another client (aud)"},
		{WITH_AUD("\"aud\":[[\"retake\"]]"), "another client (aud)"},
		{WITH_AUD("\"azp\":\"retake\""), "another client (aud)"},
		{WITH_AUD("\"aud\":[\"retake\",\"other\"]"), "several audiences but no authorized party (azp)"},
		{WITH_AUD("\"aud\":[\"retake\",\"other\"],\"azp\":\"other\""), "issued to another client (azp)"},
		{WITH_TIMES("\"iat\":" NOW ",\"exp\":1699999940"), "it has expired"},
		{WITH_TIMES("\"iat\":" NOW), "no expiry time (exp)"},
		{WITH_TIMES("\"iat\":" NOW ",\"exp\":\"1700000300\""), "no expiry time (exp)"},
		{WITH_TIMES("\"iat\":" NOW ",\"exp\":-1"), "no expiry time (exp)"},
		{WITH_TIMES("\"iat\":" NOW ",\"exp\":1e99"), "no expiry time (exp)"},
		{WITH_TIMES("\"iat\":" NOW ",\"exp\":99999999999999999999"), "no expiry time (exp)"},
		{WITH_TIMES("\"iat\":1700000061,\"exp\":1700000300"), "issued in the future"},
		{WITH_TIMES("\"exp\":1700000300"), "no time of issue (iat)"},
		{WITH_TIMES(TIMES ",\"nbf\":1700000061"), "not yet valid (nbf)"},
		{WITH_TIMES(TIMES ",\"nbf\":\"0\""), "not yet valid (nbf)"},
		{WITH_TIMES(TIMES ",\"at_hash\":\"AAAA\""), "another access token (at_hash)"},
		{WITH_NONCE(""), "another sign-in (nonce)"},
		{WITH_NONCE(",\"nonce\":\"n-2\""), "another sign-in (nonce)"},
		{WITH_NONCE(",\"nonce\":\"\""), "another sign-in (nonce)"},
		{WITH_SUB(""), "no subject of 1 to 255 ASCII characters (sub)"},
		{WITH_SUB(",\"sub\":\"\""), "no subject of 1 to 255 ASCII characters (sub)"},
		{WITH_SUB(",\"sub\":7"), "no subject of 1 to 255 ASCII characters (sub)"},
		{WITH_SUB(",\"sub\":[\"ann\"]"), "no subject of 1 to 255 ASCII characters (sub)"},
		{WITH_SUB(",\"sub\":\"ann\\u0000\""), "no subject of 1 to 255 ASCII characters (sub)"},
		{WITH_SUB("," SUB ",\"sub\":\"bob\""), "two claims of the same name"},
		{WITH_ISS("," ISS "," ISS), "two claims of the same name"},
		{"[" CLAIMS "]", "not a JSON object"},
		{"ann", "not a JSON object"},
		{CLAIMS CLAIMS, "not a JSON object"},
		{"\377", "not a JSON object"},
	};
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		refuse(&s, sign(&s, rsa, "RS256", "r", NULL, rt_str_of(bad[i].claims)), bad[i].why);
		refuse(&s, sign(&s, ec, "ES256", "e", NULL, rt_str_of(bad[i].claims)), bad[i].why);
	}
	rt_scope_deinit(&s);
}

/* ---- algorithms and keys ---- */

static void
bad_algorithms(void **state)
{
	static const char shape[] = "it is not a signed token";
	static const char algorithm[] = "its algorithm is not RS256, PS256 or ES256";
	cjose_err err;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	cjose_jwk_t *secret = jose.jwk_create_oct_spec((const uint8_t *)rsa_public, strlen(rsa_public), &err);
	assert_non_null(secret);
	refuse(&s, sign(&s, secret, "HS256", "r", NULL, rt_str_of(CLAIMS)), algorithm);
	refuse(&s, sign(&s, rsa, "RS512", "r", NULL, rt_str_of(CLAIMS)), algorithm);
	refuse(&s, by_hand(&s, "{\"alg\":\"none\",\"kid\":\"r\"}", CLAIMS, "AAAA"), algorithm);
	refuse(&s, by_hand(&s, "{\"alg\":\"none\",\"kid\":\"r\"}", CLAIMS, ""), algorithm);
	refuse(&s, by_hand(&s, "{\"alg\":[\"RS256\"],\"kid\":\"r\"}", CLAIMS, "AAAA"), shape);
	refuse(&s, by_hand(&s, "{\"kid\":\"r\"}", CLAIMS, "AAAA"), shape);
	refuse(&s, by_hand(&s, "{\"alg\":\"RS256\",\"kid\":7}", CLAIMS, "AAAA"), "key id is not a string");
	refuse(&s, by_hand(&s, "{\"alg\":\"RS256\",\"kid\":null}", CLAIMS, "AAAA"), "key id is not a string");
	refuse(&s, sign(&s, rsa, "RS256", "r", "[\"exp\"]", rt_str_of(CLAIMS)), "critical extensions");
	refuse(&s, by_hand(&s, "{\"alg\":\"RS256\",\"kid\":\"r\",\"crit\":7}", CLAIMS, "AAAA"), "critical extensions");
	(void)jose.jwk_release(secret);
	rt_scope_deinit(&s);
}

static void
bad_keys(void **state)
{
	static const char unknown[] = "signed with a key that the sign-in service does not list";
	const rt_str claims = RT_STR_INIT(CLAIMS);
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	rt_str good = sign(&s, rsa, "RS256", "r", NULL, claims);
	refuse_with(&s, sign(&s, rsa, "RS256", "x", NULL, claims), keys, RT_NOT_FOUND, unknown);
	refuse_with(&s, sign(&s, rsa, "RS256", "e", NULL, claims), keys, RT_NOT_FOUND, unknown);
	refuse_with(&s, sign(&s, ec, "ES256", "r", NULL, claims), keys, RT_NOT_FOUND, unknown);
	refuse_with(&s, good, "{\"keys\":[]}", RT_NOT_FOUND, unknown);
	refuse_with(&s, good, "{\"keys\":[{\"kty\":\"RSA\",\"use\":\"enc\",\"kid\":\"r\"}]}", RT_NOT_FOUND, unknown);
	refuse_with(&s, good, "{\"keys\":[{\"kty\":\"RSA\",\"key_ops\":[\"sign\"],\"kid\":\"r\"}]}", RT_NOT_FOUND, unknown);
	refuse_with(&s, good, "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\"}]}", RT_UPSTREAM, "cannot be read");
	refuse_with(&s, good, "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\",\"e\":\"AQAB\",\"n\":\"AA=AAAAA\"}]}", RT_UPSTREAM,
		    "cannot be read");
	refuse_with(&s, good, "{\"keys\":{}}", RT_UPSTREAM, "not a set of keys");
	refuse_with(&s, good, "<html>", RT_UPSTREAM, "not a set of keys");
	refuse(&s, sign(&s, rsa, "RS256", NULL, NULL, claims), "several keys of the sign-in service match");
	refuse(&s, sign(&s, small_rsa, "RS256", "s", NULL, claims), "RSA key of less than 2048 bits");
	refuse(&s, sign(&s, stranger, "RS256", "r", NULL, claims), "signature is invalid");
	rt_scope_deinit(&s);
}

/* ---- the text of the token ---- */

/* A copy with another character. */
static rt_str
changed(rt_scope *s, rt_str token, size_t at)
{
	rt_str copy = rt_scope_copy(s, token);

	((char *)copy.ptr)[at] = copy.ptr[at] == 'A' ? 'B' : 'A';
	return copy;
}

static void
bad_texts(void **state)
{
	static const char shape[] = "it is not a signed token";
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	rt_str tokens[] = {sign(&s, rsa, "RS256", "r", NULL, RT_STR(CLAIMS)),
			   sign(&s, ec, "ES256", "e", NULL, RT_STR(CLAIMS))};
	for (size_t i = 0; i < 2; i++) {
		rt_str token = tokens[i];
		size_t dot = rt_str_find(token, RT_STR("."), 0), second = rt_str_find(token, RT_STR("."), dot + 1);
		rt_buf *out = rt_scope_buf(&s);

		refuse(&s, changed(&s, token, dot + 5), "its signature is invalid");
		refuse(&s, changed(&s, token, second - 5), "its signature is invalid");
		refuse(&s, changed(&s, token, second + 1), "its signature is invalid");
		refuse(&s, changed(&s, token, token.size - 5), "its signature is invalid");
		/* Shorter by any number of characters. */
		for (size_t size = 0; size < token.size; size++)
			refuse(&s, rt_scope_copy(&s, rt_str_at(token.ptr, size)), size <= second ? shape : "rejected");
		rt_buf_add_str(out, token);
		rt_buf_add_str(out, RT_STR(".AAAA"));
		refuse(&s, rt_scope_copy(&s, rt_scope_str(&s, out)), shape);
	}
	refuse(&s, RT_STR(""), shape);
	refuse(&s, RT_STR(".."), shape);
	rt_scope_deinit(&s);
}

/* Below the limit, and above it. */
static void
long_tokens(void **state)
{
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	for (size_t fill = 23 * 1024; fill <= 25 * 1024; fill += 256) {
		rt_buf *out = rt_scope_buf(&s);

		rt_buf_add_str(out, RT_STR(CLAIMS));
		for (size_t i = 0; i < fill; i++)
			rt_buf_add_byte(out, ' ');
		rt_str token = sign(&s, ec, "ES256", "e", NULL, rt_scope_str(&s, out));
		if (token.size <= RT_ID_TOKEN_MAX)
			accept_with(&s, token, keys);
		else
			refuse(&s, token, "it is larger than 32 KiB");
	}
	rt_scope_deinit(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_claims), cmocka_unit_test(bad_claims), cmocka_unit_test(bad_algorithms),
		cmocka_unit_test(bad_keys),    cmocka_unit_test(bad_texts),  cmocka_unit_test(long_tokens),
	};

	return cmocka_run_group_tests(tests, make_keys, free_keys);
}
