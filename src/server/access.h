/* SPDX-License-Identifier: MIT
 *
 * Access: finds the project of a request and asks accounts/authorize.h whether its account may use the
 * route. Handlers ask nothing, except for lists of projects; changes are asked about request by
 * request (rt_call_apply).
 *
 * A project that an account may not see is answered like one that does not exist: it is neither
 * opened nor searched for in another way.
 *
 * Threads: a call belongs to one at a time. */
#ifndef RT_SERVER_ACCESS_H
#define RT_SERVER_ACCESS_H

#include "core/request.h"
#include "server/route.h"

enum { RT_ACCESS_FRESH_MS = 250 /* age of the accounts that a decision is based on */ };

/* The account as an identity of stores (log/identity.h); it may be in room. */
rt_str rt_access_identity(const rt_account *account, char room[RT_SHA256_HEX_ROOM + 8]);
/* Answers the request: authorizes it, opens the project (empty: that of the server) and calls the
 * handler; or refuses it. create: a project that does not exist is made (a browser's own). */
void rt_access_answer(rt_call *call, rt_str project, bool create);

/* Fails the call if its account may not do this. */
void rt_access_check(rt_call *call, const rt_request *request);
/* Has the account a right without a project? Is a project visible to it? */
bool rt_access_allows(const rt_call *call, rt_right right);
bool rt_access_shows(const rt_call *call, uint64_t project);
bool rt_access_may(const rt_call *call, rt_right right, rt_target target);
/* The token or the share link of the request; NULL: it has another account. */
const rt_item *rt_access_token(const rt_call *call);
const rt_item *rt_access_link(const rt_call *call);

/* The sender of a request, as proved by its headers: a personal access token or a share link.
 * False: no such account is known (any more); then out has the hash of a secret, if it has the form
 * of one. */
bool rt_access_identify(rt_directory *directory, rt_str secret, rt_account *out);
bool rt_access_is_known(rt_directory *directory, const rt_account *account);
/* A stream that ends when its account may no longer read. Owns inner; without memory inner is closed
 * and the result NULL. */
rt_web_stream *rt_access_guard_stream(const rt_call *call, rt_web_stream *inner);

#endif
