/* SPDX-License-Identifier: MIT
 *
 * Sign-in: pages on which people become users of a server with accounts, and users whom a proxy names.
 *
 *   GET /sign-in/oidc       sends the browser to the sign-in service
 *   GET /sign-in/callback   the service has sent it back
 *   GET /sign-in/invite     an invitation; with "accept" it is accepted
 *
 * A sign-in is known by 256 random bits in a cookie of the browser, which also has the time and a
 * MAC. State, nonce and verifier are computed from them with a key in the store, so any server of
 * the store can complete it, and nothing is stored for those who never come back. It can be used
 * once (accounts/arrival.h) and for RT_SIGN_IN_S. A callback in a browser without the cookie
 * that belongs to its state is refused (login CSRF); the browser's session is new (session fixation).
 *
 * Refusals are shown with their cause and added to the audit log, RT_SIGN_IN_AUDIT_MAX a minute.
 *
 * Threads: any. */
#ifndef RT_SERVER_SIGN_IN_H
#define RT_SERVER_SIGN_IN_H

#include "server/browser.h"
#include "server/guard.h"
#include "signin/provider.h"

enum {
	RT_SIGN_IN_S = 600,
	RT_SIGN_IN_WAITING_MAX = 16,  /* requests that wait for the service */
	RT_SIGN_IN_AUDIT_MAX = 60
};

/* The texts live as long as the server. */
typedef struct rt_sign_in_options {
	rt_str public_url;  /* of the server for browsers, "https://retake.example.org"; empty: http and its place */
	rt_str issuer, client, secret; /* of OpenID Connect; issuer empty: none */
	rt_str service;     /* displayed name of the service */
	bool creates;       /* an identity that is not known becomes a user */
	rt_str proxy_header, proxy_secret; /* header with the name of a user; empty: none */
	rt_str sign_out_url; /* where users of the proxy sign out; empty: not known */
} rt_sign_in_options;

typedef struct rt_sign_in rt_sign_in;

/* RT_USAGE: an address is not valid. RT_IO: without libcjose. */
RT_CHECKED rt_status rt_sign_in_open(const rt_alloc *alloc, const rt_env *env, const rt_sign_in_options *options,
				     rt_directory *directory, rt_browsers *browsers, const char *place,
				     unsigned cookie_port, rt_sign_in **out, rt_error *err);
void rt_sign_in_close(rt_sign_in *sign_in);
/* Ends what waits for the service. */
void rt_sign_in_stop(rt_sign_in *sign_in);
/* For the sign-in page; empty: there is no service. */
rt_str rt_sign_in_service(const rt_sign_in *sign_in);

/* Is it one of the pages? May it be opened from other sites? */
bool rt_sign_in_is_page(const rt_web_request *request, bool *out_arrival);
/* Waits for the service and the store. */
void rt_sign_in_answer(rt_sign_in *sign_in, const rt_web_request *request, const rt_principal *principal,
		       rt_web_answer *answer);

/* ---- users named by a proxy (proxy_user.c) ---- */

/* The header in which a proxy proves that it is the proxy. */
#define RT_PROXY_SECRET "Retake-Proxy-Secret"

/* The user whom the proxy names. False: none is named. fault: the request must be refused: the proxy has
 * not proved that it is the proxy, or the user does not exist. */
bool rt_proxy_user(const rt_sign_in_options *options, rt_directory *directory, const rt_web_request *request,
		   rt_account *out, rt_guard_fault *fault);

#endif
