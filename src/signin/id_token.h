/* SPDX-License-Identifier: MIT
 *
 * ID token: what a provider of OpenID Connect says about the person who signed in (OpenID Connect Core
 * 1.0, 3.1.3.7). Accepted only if all of this holds:
 *
 *   algorithm   RS256, PS256 or ES256; no critical extensions
 *   key         one of the provider's keys: of the kind that the algorithm needs, for signatures, with
 *               the token's key id; without one, the only such key. RSA keys have at least 2048 bits.
 *               Keys in the token itself do not count
 *   signature   libcjose
 *   claims      a JSON object, each name once
 *   iss, aud    the issuer; this client among the audiences. azp: this client; required if there are
 *               several audiences
 *   exp, iat    required; nbf if present: with RT_ID_TOKEN_SKEW_S between the clocks
 *   nonce       that of the request
 *   at_hash     if present, the access token's
 *   sub         1 to RT_ID_SUBJECT_MAX printable ASCII characters
 *
 * Threads: any. */
#ifndef RT_SIGNIN_ID_TOKEN_H
#define RT_SIGNIN_ID_TOKEN_H

#include "base/scope.h"

enum {
	RT_ID_TOKEN_MAX = 32 * 1024,
	RT_ID_TOKEN_SKEW_S = 60,
	RT_ID_SUBJECT_MAX = 255
};

typedef struct rt_id_expected {
	rt_str issuer, client, nonce;
	rt_str access_token; /* that came with the token */
	int64_t now_s;
} rt_id_expected;

/* Texts of the scope. */
typedef struct rt_id_claims {
	rt_str subject;
	rt_str name;  /* preferred_username; may be empty */
	rt_str email; /* may be empty */
} rt_id_claims;

/* keys: the provider's JWK set, JSON. RT_CREDENTIALS: not accepted, the message has the reason.
 * RT_NOT_FOUND: none of the keys is the token's: they may have changed since. RT_UPSTREAM: the keys
 * cannot be read. RT_IO: without libcjose. */
rt_id_claims rt_id_token_read(rt_scope *s, rt_str token, rt_str keys, const rt_id_expected *expected);

#endif
