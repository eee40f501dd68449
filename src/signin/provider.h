/* SPDX-License-Identifier: MIT
 *
 * Provider: a sign-in service of OpenID Connect, with the authorization code flow and PKCE (S256).
 *
 *   discovery   ISSUER/.well-known/openid-configuration: kept for an hour. It must name the same issuer,
 *               and addresses with https (on this machine also http)
 *   request     the address to which the browser is sent
 *   exchange    of the code for an ID token, with the client's secret and the verifier; then the token is
 *               verified (id_token.h). Keys are read again when one is missing
 *
 * Answers may have RT_OIDC_ANSWER_MAX bytes and take RT_OIDC_WAIT_MS; redirects are not followed.
 *
 * Threads: locks itself, and never while it waits for the network. */
#ifndef RT_SIGNIN_PROVIDER_H
#define RT_SIGNIN_PROVIDER_H

#include "base/env.h"
#include "llm/transport.h"
#include "signin/id_token.h"

enum {
	RT_OIDC_ANSWER_MAX = 256 * 1024,
	RT_OIDC_WAIT_MS = 10 * 1000,
	RT_OIDC_CODE_MAX = 4096
};

/* The texts live as long as the provider. */
typedef struct rt_oidc_options {
	rt_str issuer, client;
	rt_str secret;   /* of the client; empty: it has none */
	rt_str redirect; /* where the provider sends the browser back to */
} rt_oidc_options;

typedef struct rt_oidc rt_oidc;

/* Asks the provider nothing yet. RT_USAGE: an address is not valid. RT_IO: without libcjose. */
RT_CHECKED rt_status rt_oidc_open(const rt_alloc *alloc, const rt_env *env, const rt_oidc_options *options,
				  rt_oidc **out, rt_error *err);
void rt_oidc_close(rt_oidc *oidc);
/* Ends requests that are waiting, and those that follow. */
void rt_oidc_stop(rt_oidc *oidc);

/* The secrets of one sign-in. */
typedef struct rt_oidc_secrets {
	rt_str state, nonce, verifier;
} rt_oidc_secrets;

/* The address for the browser. RT_UPSTREAM: the provider does not answer, or its answer is not
 * valid. */
rt_str rt_oidc_request(rt_oidc *oidc, rt_scope *s, const rt_oidc_secrets *secrets);
/* RT_CREDENTIALS: the provider refused, or the ID token is not valid. issuer: of the response, or
 * empty. */
rt_id_claims rt_oidc_exchange(rt_oidc *oidc, rt_scope *s, rt_str code, rt_str issuer,
			      const rt_oidc_secrets *secrets);

#endif
