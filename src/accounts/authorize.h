/* SPDX-License-Identifier: MIT
 *
 * Authorize: decides whether an account has a right. Nothing else does.
 *
 * right         least role of the project   least scope of a token   who else
 * open          -                           read                     share links
 * self          -                           admin
 * create        -                           write
 * read          reader                      read                     share links of the project
 * comment       commenter                   write
 * edit          editor                      write
 * manage        owner                       admin
 * server        administrator               admin
 *
 * A role is the highest of a user's own memberships and those of the user's teams. Administrators of
 * the server have every right, their tokens only with the scope admin. A token that is limited to
 * projects has no right without a project except open. A project without a role of the user is not
 * visible: answers must not differ from those about a project that does not exist. Anything else that
 * is not in the table is forbidden.
 *
 * Threads: pure. */
#ifndef RT_ACCOUNTS_AUTHORIZE_H
#define RT_ACCOUNTS_AUTHORIZE_H

#include "accounts/directory.h"
#include "core/right.h"

typedef enum rt_account_kind {
	RT_ACCOUNT_NOBODY,
	RT_ACCOUNT_MACHINE, /* the owner of the server's machine: its token, socket, command line; on
			     * servers without accounts, everyone */
	RT_ACCOUNT_USER,    /* signed in: a browser, a trusted proxy */
	RT_ACCOUNT_TOKEN,   /* a personal access token */
	RT_ACCOUNT_LINK     /* a share link */
} rt_account_kind;

/* The identity that a request has proved. Whether that is still valid is decided with the roster, every
 * time. */
typedef struct rt_account {
	rt_account_kind kind;
	uint64_t user;                 /* of RT_ACCOUNT_USER */
	char hash[RT_SHA256_HEX_ROOM]; /* of the secret: tokens, links */
} rt_account;

typedef enum rt_verdict {
	RT_VERDICT_FORBIDDEN,   /* 403 */
	RT_VERDICT_UNKNOWN,     /* 401: the account does not exist, or has expired or been revoked */
	RT_VERDICT_NOT_VISIBLE, /* 404 */
	RT_VERDICT_ALLOWED
} rt_verdict;

/* What a request concerns. */
typedef struct rt_target {
	uint64_t project;    /* number; 0: none, or one that does not exist */
	uint64_t discussion; /* number, if the request concerns no other; 0: the whole project */
} rt_target;

/* roster may be NULL for RT_ACCOUNT_MACHINE. */
rt_verdict rt_authorize(const rt_roster *roster, const rt_account *account, rt_right right,
			rt_target target, int64_t now_us);

/* The user of an account that is valid; NULL: there is none. */
const rt_item *rt_account_user(const rt_roster *roster, const rt_account *account, int64_t now_us);
/* The role that memberships give a user. */
rt_role rt_roster_role(const rt_roster *roster, uint64_t project, uint64_t user);

/* The rows of the table above. */
rt_role rt_right_role(rt_right right);
rt_token_scope rt_right_scope(rt_right right);
extern const char *const rt_right_names[RT_RIGHT_COUNT];

#endif
