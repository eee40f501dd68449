/* SPDX-License-Identifier: MIT
 *
 * Algorithm and key id are those that libcjose has read, and the claims are those that it has verified.
 * A key reaches it with the members of its kind only, so that no two readers find different keys. */
#include "signin/id_token.h"

#include "base/encode.h"
#include "base/sha256.h"
#include "codec/json.h"
#include "signin/jose_load.h"

enum { RSA_BITS = 2048 };

static void
refuse(rt_scope *s, const char *why)
{
	rt_scope_fail(s, RT_CREDENTIALS, "the ID token was rejected: %s", why);
}

/* ---- the key ---- */

/* The algorithms, and the kind of key of each. */
static const struct algorithm {
	const char *name, *kty, *curve;
	const char *members[2];
} algorithms[] = {
	{"RS256", "RSA", NULL, {"n", "e"}},
	{"PS256", "RSA", NULL, {"n", "e"}},
	{"ES256", "EC", "P-256", {"x", "y"}},
};

static const struct algorithm *
algorithm_named(const char *name)
{
	for (size_t i = 0; name != NULL && i < sizeof(algorithms) / sizeof(algorithms[0]); i++)
		if (strcmp(algorithms[i].name, name) == 0)
			return &algorithms[i];
	return NULL;
}

/* Absent, or equal? */
static bool
may_be(yyjson_val *value, const char *wanted)
{
	return value == NULL || (yyjson_is_str(value) && rt_str_is(rt_json_str(value), wanted));
}

static bool
verifies(yyjson_val *key)
{
	yyjson_val *operations = rt_json_get(key, "key_ops");
	bool found = operations == NULL;

	for (rt_json_iter it = rt_json_items(operations); rt_json_next(&it);)
		found = found || rt_str_is(rt_json_str(it.value), "verify");
	return found;
}

static bool
fits(yyjson_val *key, const struct algorithm *algorithm, const char *kid)
{
	bool fits = yyjson_is_obj(key) && rt_str_is(rt_json_str(rt_json_get(key, "kty")), algorithm->kty) &&
		    may_be(rt_json_get(key, "use"), "sig") && may_be(rt_json_get(key, "alg"), algorithm->name) &&
		    verifies(key) &&
		    (algorithm->curve == NULL || rt_str_is(rt_json_str(rt_json_get(key, "crv")), algorithm->curve));

	return fits && (kid == NULL || rt_str_is(rt_json_str(rt_json_get(key, "kid")), kid));
}

/* The only key that fits; a failure of the scope otherwise. */
static yyjson_val *
find_key(rt_scope *s, rt_str keys, const struct algorithm *algorithm, const char *kid)
{
	yyjson_val *list = rt_json_get(rt_json_parse(s, keys), "keys"), *found = NULL;
	size_t count = 0;

	if (s->status == RT_USAGE || s->status == RT_LIMIT)
		s->status = RT_OK;
	if (rt_ok(s) && !yyjson_is_arr(list))
		rt_scope_fail(s, RT_UPSTREAM, "the keys of the sign-in service are not a set of keys");
	for (rt_json_iter it = rt_json_items(list); rt_json_next(&it);)
		if (fits(it.value, algorithm, kid)) {
			found = it.value;
			count++;
		}
	if (rt_ok(s) && count == 0)
		rt_scope_fail(s, RT_NOT_FOUND,
			      "the ID token was rejected: it is signed with a key that the sign-in service does not list");
	if (rt_ok(s) && count > 1)
		refuse(s, "several keys of the sign-in service match it");
	return rt_ok(s) ? found : NULL;
}

/* libcjose ends the process at some other characters. */
static bool
is_base64url(rt_str text, bool has_dots)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.ptr[i] == '+' || text.ptr[i] == '/' ||
		    (rt_base64_digit(text.ptr[i]) < 0 && !(has_dots && text.ptr[i] == '.')))
			return false;
	return true;
}

/* The key with the members of its kind. */
static rt_str
write_key(rt_scope *s, yyjson_val *key, const struct algorithm *algorithm)
{
	rt_buf *out = rt_scope_buf(s);

	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "kty", algorithm->kty);
	if (algorithm->curve != NULL)
		rt_json_put_c(out, "crv", algorithm->curve);
	for (size_t i = 0; i < 2; i++)
		if (is_base64url(rt_json_str(rt_json_get(key, algorithm->members[i])), false))
			rt_json_put_str(out, algorithm->members[i], rt_json_str(rt_json_get(key, algorithm->members[i])));
	rt_json_close(out, '}');
	return rt_scope_str(s, out);
}

/* ---- the signature ---- */

/* Members of the wrong kind, which libcjose treats as absent. */
static void
check_header(rt_scope *s, rt_str token)
{
	rt_str part = rt_scope_copy(s, rt_str_at(token.ptr, rt_str_find(token, RT_STR("."), 0)));
	rt_buf *json = rt_scope_buf(s);

	for (char *c = (char *)part.ptr; c != NULL && *c != '\0'; c++)
		*c = *c == '-' ? '+' : *c == '_' ? '/' : *c;
	bool is_good = rt_ok(s) && rt_buf_add_base64_decoded(json, part);
	yyjson_val *header = is_good ? rt_json_parse(s, rt_scope_str(s, json)) : NULL;
	if (s->status == RT_USAGE || s->status == RT_LIMIT || (rt_ok(s) && !yyjson_is_obj(header))) {
		s->status = RT_OK;
		refuse(s, "its header is not a JSON object");
	}
	for (rt_json_iter it = rt_json_members(header); rt_ok(s) && rt_json_next(&it);)
		if (rt_str_is(it.key, "crit"))
			refuse(s, "it has critical extensions");
		else if (rt_str_is(it.key, "kid") && !yyjson_is_str(it.value))
			refuse(s, "its key id is not a string");
}

/* Verifies, and returns the payload. */
static rt_str
verify_with(rt_scope *s, const rt_jose *jose, cjose_jws_t *jws, rt_str keys)
{
	cjose_header_t *header = jose->jws_get_protected(jws);
	cjose_err err;
	const struct algorithm *algorithm = algorithm_named(jose->header_get(header, "alg", &err));
	const char *kid = jose->header_get(header, "kid", &err);
	uint8_t *payload = NULL;
	size_t size = 0;

	if (algorithm == NULL)
		refuse(s, "its algorithm is not RS256, PS256 or ES256");
	yyjson_val *found = rt_ok(s) ? find_key(s, keys, algorithm, kid) : NULL;
	if (found == NULL)
		return rt_str_at(NULL, 0);
	rt_str json = write_key(s, found, algorithm);
	cjose_jwk_t *key = rt_ok(s) ? jose->jwk_import(json.ptr, json.size, &err) : NULL;
	if (rt_ok(s) && key == NULL)
		rt_scope_fail(s, RT_UPSTREAM, "a key of the sign-in service cannot be read");
	else if (rt_ok(s) && algorithm->curve == NULL && jose->jwk_get_keysize(key, &err) < RSA_BITS)
		refuse(s, "it is signed with an RSA key of less than 2048 bits");
	else if (rt_ok(s) && (!jose->jws_verify(jws, key, &err) || !jose->jws_get_plaintext(jws, &payload, &size, &err)))
		refuse(s, "its signature is invalid");
	if (key != NULL)
		(void)jose->jwk_release(key);
	return rt_ok(s) ? rt_scope_copy(s, rt_str_at((const char *)payload, size)) : rt_str_at(NULL, 0);
}

static rt_str
verify(rt_scope *s, rt_str token, rt_str keys)
{
	const rt_jose *jose;
	cjose_err err;

	if (token.size > RT_ID_TOKEN_MAX)
		refuse(s, "it is larger than 32 KiB");
	if (!is_base64url(token, true))
		refuse(s, "it is not a signed token");
	if (RT_TRY(s, rt_jose_load(&jose, &s->error)) != RT_OK)
		return rt_str_at(NULL, 0);
	cjose_jws_t *jws = jose->jws_import(token.ptr, token.size, &err);
	if (jws == NULL) {
		refuse(s, "it is not a signed token");
		return rt_str_at(NULL, 0);
	}
	check_header(s, token);
	rt_str payload = verify_with(s, jose, jws, keys);
	jose->jws_release(jws);
	return payload;
}

/* ---- the claims ---- */

/* Seconds since 1970; fractions are allowed. False: absent, or not such a number. */
static bool
read_time(yyjson_val *value, int64_t *out)
{
	rt_str text = rt_json_str(value);
	uint64_t seconds = 0;

	if (!rt_json_is_number(value))
		return false;
	size_t digits = rt_str_u64_prefix(text, (uint64_t)1 << 40, &seconds);
	*out = (int64_t)seconds;
	return digits > 0 && (digits == text.size || text.ptr[digits] == '.');
}

static void
check_times(rt_scope *s, yyjson_val *claims, int64_t now)
{
	yyjson_val *not_before = rt_json_get(claims, "nbf");
	int64_t at;

	if (!read_time(rt_json_get(claims, "exp"), &at))
		refuse(s, "it has no expiry time (exp)");
	else if (now >= at + RT_ID_TOKEN_SKEW_S)
		refuse(s, "it has expired; check the clocks of this server and of the sign-in service");
	if (!read_time(rt_json_get(claims, "iat"), &at))
		refuse(s, "it has no time of issue (iat)");
	else if (at > now + RT_ID_TOKEN_SKEW_S)
		refuse(s, "it was issued in the future; check the clocks of this server and of the sign-in service");
	if (not_before != NULL && (!read_time(not_before, &at) || at > now + RT_ID_TOKEN_SKEW_S))
		refuse(s, "it is not yet valid (nbf); check the clocks of this server and of the sign-in service");
}

static void
check_audience(rt_scope *s, yyjson_val *claims, rt_str client)
{
	yyjson_val *audience = rt_json_get(claims, "aud"), *party = rt_json_get(claims, "azp");
	bool found = yyjson_is_str(audience) && rt_str_eq(rt_json_str(audience), client);

	for (rt_json_iter it = rt_json_items(audience); rt_json_next(&it);)
		found = found || (yyjson_is_str(it.value) && rt_str_eq(rt_json_str(it.value), client));
	if (!found)
		refuse(s, "it is for another client (aud)");
	if (party != NULL && !(yyjson_is_str(party) && rt_str_eq(rt_json_str(party), client)))
		refuse(s, "it was issued to another client (azp)");
	if (party == NULL && yyjson_arr_size(audience) > 1)
		refuse(s, "it has several audiences but no authorized party (azp)");
}

/* The left half of the access token's hash. */
static void
check_access_token(rt_scope *s, yyjson_val *claims, rt_str access_token)
{
	yyjson_val *given = rt_json_get(claims, "at_hash");
	rt_buf *wanted = rt_scope_buf(s);
	uint8_t hash[RT_SHA256_SIZE];
	rt_sha256 sha;

	if (given == NULL)
		return;
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, access_token.ptr, access_token.size);
	rt_sha256_end(&sha, hash);
	rt_buf_add_base64url(wanted, rt_str_at((const char *)hash, sizeof(hash) / 2));
	if (!rt_str_eq(rt_json_str(given), rt_scope_str(s, wanted)))
		refuse(s, "it belongs to another access token (at_hash)");
}

static void
check_subject(rt_scope *s, rt_str subject)
{
	bool is_good = subject.size > 0 && subject.size <= RT_ID_SUBJECT_MAX;

	for (size_t i = 0; is_good && i < subject.size; i++)
		is_good = subject.ptr[i] > 0x20 && subject.ptr[i] < 0x7F;
	if (!is_good)
		refuse(s, "it has no subject of 1 to 255 ASCII characters (sub)");
}

/* A text claim; empty if there is none. */
static rt_str
text_of(yyjson_val *claims, const char *name)
{
	yyjson_val *value = rt_json_get(claims, name);

	return yyjson_is_str(value) ? rt_json_str(value) : rt_str_at(NULL, 0);
}

/* Readers differ in which of two claims of one name counts. */
static void
check_names(rt_scope *s, yyjson_val *claims)
{
	for (rt_json_iter it = rt_json_members(claims); rt_ok(s) && rt_json_next(&it);)
		if (rt_json_get_str(claims, it.key) != it.value)
			refuse(s, "it has two claims of the same name");
}

rt_id_claims
rt_id_token_read(rt_scope *s, rt_str token, rt_str keys, const rt_id_expected *expected)
{
	rt_str payload = verify(s, token, keys);
	yyjson_val *claims = rt_ok(s) ? rt_json_parse(s, payload) : NULL;

	if (s->status == RT_USAGE || s->status == RT_LIMIT || (rt_ok(s) && !yyjson_is_obj(claims))) {
		s->status = RT_OK;
		refuse(s, "its content is not a JSON object");
	}
	if (!rt_ok(s))
		return (rt_id_claims){0};
	check_names(s, claims);
	if (!rt_str_eq(text_of(claims, "iss"), expected->issuer))
		refuse(s, "it comes from another issuer (iss)");
	check_audience(s, claims, expected->client);
	check_times(s, claims, expected->now_s);
	if (expected->nonce.size == 0 || !rt_str_eq(text_of(claims, "nonce"), expected->nonce))
		refuse(s, "it belongs to another sign-in (nonce)");
	check_access_token(s, claims, expected->access_token);
	check_subject(s, text_of(claims, "sub"));
	if (!rt_ok(s))
		return (rt_id_claims){0};
	return (rt_id_claims){text_of(claims, "sub"), text_of(claims, "preferred_username"), text_of(claims, "email")};
}
