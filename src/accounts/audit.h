/* SPDX-License-Identifier: MIT
 *
 * Audit: the log of actions of accounts and of refused requests, and the days on which tokens were
 * used. Rows are never changed; of refusals there is at most one for an identity, a kind and a
 * minute.
 *
 * Threads: notes lock themselves; the rest: one thread at a time for each scope. */
#ifndef RT_ACCOUNTS_AUDIT_H
#define RT_ACCOUNTS_AUDIT_H

#include "accounts/accounts.h"

#define RT_AUDIT_PREFIX "audit/"
#define RT_USED_PREFIX "used/"

typedef struct rt_audit {
	int64_t at_us;
	rt_str by, what, on, from;
	rt_str request; /* id of an HTTP request, as in the access log; or empty */
} rt_audit;

typedef struct rt_audit_filter {
	rt_str user;      /* only of this one; empty: of all */
	int64_t since_us; /* only since then */
} rt_audit_filter;

/* Adds a row: in the transaction of a change, or in a separate one. */
void rt_audit_note(rt_directory_change *change, const rt_accounts *a, const char *what, rt_str on);
void rt_audit_add(const rt_accounts *a, const char *what, rt_str on);
/* Calls fn for each row, the oldest first. */
typedef bool (*rt_audit_fn)(void *ctx, const rt_audit *row);
void rt_audit_read(rt_directory *directory, rt_scope *scope, const rt_audit_filter *filter, rt_audit_fn fn,
		   void *ctx);
/* Adds a row as a JSON object. */
void rt_audit_put(rt_buf *out, const rt_audit *row);

/* ---- notes of a server ---- */

typedef struct rt_account_notes rt_account_notes;

/* NULL: no memory. */
rt_account_notes *rt_account_notes_new(const rt_alloc *alloc);
void rt_account_notes_free(rt_account_notes *notes);
/* A request was refused; identity and kind: see above. If there are too many, the
 * rest are dropped. */
void rt_account_notes_refused(rt_account_notes *notes, int64_t now_us, rt_str identity, const rt_audit *row,
			      const char *kind);
/* A request of a user whom a proxy names; name, request: for the row "sign-in", which is written for the
 * first one after RT_PROXY_SESSION_US without any on this server. */
#define RT_PROXY_SESSION_US ((int64_t)3600 * 1000000)
void rt_account_notes_proxied(rt_account_notes *notes, int64_t now_us, uint64_t user, rt_str name, rt_str request);
/* A token (its id) was used. */
void rt_account_notes_used(rt_account_notes *notes, int64_t now_us, uint64_t token);
/* Writes the notes, if there are any: at most one row for a token and a day. */
void rt_account_notes_write(rt_account_notes *notes, rt_directory *directory, rt_scope *scope);

/* Adds the member "used", the last day ("2026-11-28"), if there is one. */
void rt_account_used_put(rt_directory *directory, rt_scope *scope, uint64_t token, rt_buf *out);
void rt_account_used_drop(rt_directory_change *change, uint64_t token);

#endif
