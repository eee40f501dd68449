/* SPDX-License-Identifier: MIT
 *
 * Arrival: how people without a token become users: with an invitation, or with the identity that a
 * sign-in service has confirmed. The store decides: an invitation and the state of a sign-in can be
 * used once, whichever server receives them.
 *
 * Threads: any. */
#ifndef RT_ACCOUNTS_ARRIVAL_H
#define RT_ACCOUNTS_ARRIVAL_H

#include "accounts/accounts.h"

enum { RT_INVITE_ROLES_MAX = 64 };

/* "oidc:ISSUER SUBJECT", "proxy:NAME" */
void rt_identity_add(rt_buf *out, const char *kind, rt_str issuer, rt_str subject);

typedef struct rt_invite_options {
	rt_str name;           /* of the user; empty: the person chooses one */
	const uint64_t *roles; /* project, role, project, role … */
	size_t role_count;     /* of pairs */
	int64_t until_us;      /* 0: does not expire */
} rt_invite_options;
/* Returns the id; the secret is shown once. */
uint64_t rt_accounts_invite_new(const rt_accounts *a, const rt_invite_options *options,
				char out_secret[RT_SECRET_ROOM]);
void rt_accounts_invite_revoke(const rt_accounts *a, uint64_t id);

/* Sets the identity of a user; empty: none. RT_REFUSED: another user has it. */
void rt_accounts_identity_set(const rt_accounts *a, rt_str user, rt_str identity);

/* A request to sign in. */
typedef struct rt_arrival {
	rt_str identity;    /* proved by a sign-in service; empty: none */
	rt_str name;        /* wanted; with an identity, changed until it is a valid name that is free */
	bool may_create;    /* an identity without a user and without an invitation becomes a user */
	uint64_t user;      /* already signed in, and accepts an invitation; 0: not signed in */
	rt_str invite;      /* hash of an invitation; empty: none */
	rt_str once;        /* hash of a one-time secret; empty: none */
	int64_t once_until_us;
} rt_arrival;

/* Returns the user, who exists then and has the roles of the invitation; the name is a text of the
 * scope. Nothing is changed after a failure. RT_CREDENTIALS: the invitation or the secret is not
 * valid (any more). RT_REFUSED: the identity has no user, the user is disabled, or the name is in
 * use. RT_USAGE: the name is not valid. */
uint64_t rt_accounts_arrive(const rt_accounts *a, const rt_arrival *arrival, rt_str *out_name);

/* A random key that all servers of the store share, 64 hexadecimal digits; made by the first call. */
void rt_accounts_shared_key(const rt_accounts *a, char out[RT_SHA256_HEX_ROOM]);

#endif
