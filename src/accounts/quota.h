/* SPDX-License-Identifier: MIT
 *
 * Quotas: limits of what users, teams and projects may add, and how much they have added.
 *
 *   bytes      of requests that add texts or files     since counting began
 *   entries    that were added                         since counting began
 *   projects   of which a user is an owner             now
 *   requests   to models                               on this day (UTC)
 *   tokens     of models, sent and received            on this day (UTC)
 *
 * A limit is an item of the directory. The use of a user, a team or a project is a row that is not part of
 * rosters:
 *
 *   use/u7, use/t9, use/p3    {"v":1,"bytes":…,"entries":…,"day":20785,"requests":…,"tokens":…}
 *
 * Each server counts in memory and adds its counts to the rows about once a second, in a separate
 * transaction, so a commit never waits for them. A check uses the row as it was at most RT_QUOTA_FRESH_MS
 * ago, and the counts of this server since then; several servers can exceed a limit by their additions
 * in that time. A crash loses the counts of the last second.
 *
 * A change that adds nothing is never refused: reading, deleting, undo, export and purge stay possible.
 *
 * Threads: a meter locks itself. */
#ifndef RT_ACCOUNTS_QUOTA_H
#define RT_ACCOUNTS_QUOTA_H

#include "accounts/accounts.h"

enum { RT_QUOTA_FRESH_MS = 2000, RT_QUOTA_WRITE_MS = 1000 };

typedef enum rt_quota_kind {
	RT_QUOTA_BYTES,
	RT_QUOTA_ENTRIES,
	RT_QUOTA_PROJECTS,
	RT_QUOTA_REQUESTS,
	RT_QUOTA_TOKENS,
	RT_QUOTA_KINDS
} rt_quota_kind;

extern const char *const rt_quota_names[RT_QUOTA_KINDS]; /* "bytes" … */
/* RT_QUOTA_KINDS: there is no such name. */
rt_quota_kind rt_quota_named(rt_str name);
static inline bool
rt_quota_is_daily(rt_quota_kind kind)
{
	return kind >= RT_QUOTA_REQUESTS;
}

/* What was added, or would be. */
typedef struct rt_use {
	uint64_t counts[RT_QUOTA_KINDS];
} rt_use;

/* ---- limits ---- */

/* The subject of a limit: one member is set; none: each user without a limit of the same kind. */
typedef struct rt_quota_subject {
	uint64_t user, team, project;
} rt_quota_subject;

typedef struct rt_quota_change {
	rt_quota_kind kind;
	bool is_limited; /* false: without a limit */
	uint64_t limit;
} rt_quota_change;

/* Changes limits. name: of the subject, for the audit log ("user ann"). */
void rt_accounts_quota_set(const rt_accounts *a, rt_quota_subject subject, rt_str name,
			   const rt_quota_change *changes, size_t count);
/* Removes the limits and the counts of a subject that is being removed. */
void rt_quota_drop(rt_directory_change *change, rt_quota_subject subject);

/* The limits of a subject; NULL: there are none. */
const rt_item *rt_roster_quota(const rt_roster *roster, rt_quota_subject subject);
/* The limit of this kind; UINT64_MAX: none. quota may be NULL. */
uint64_t rt_quota_limit(const rt_item *quota, rt_quota_kind kind);

/* Adds the members "limits":{…} and "use":{…} of the same kinds; for each user: "each_user", "limits", and the use of
 * this user, if not NULL. */
void rt_quota_put(const rt_accounts *a, const rt_roster *roster, const rt_item *quota, const rt_item *user, rt_buf *out);

/* ---- counting and checking ---- */

typedef struct rt_quota_meter rt_quota_meter;

/* NULL: no memory. */
rt_quota_meter *rt_quota_meter_new(const rt_alloc *alloc);
void rt_quota_meter_free(rt_quota_meter *meter);
/* A user (0: none) has added something to a project (0: none). */
void rt_quota_add(rt_quota_meter *meter, const rt_roster *roster, int64_t now_us, uint64_t user,
		  uint64_t project, const rt_use *added);
/* Adds the counts to the rows, at most every RT_QUOTA_WRITE_MS unless now is set. After a failure they
 * are written later. */
void rt_quota_write(rt_quota_meter *meter, rt_directory *directory, bool now, rt_scope *scope);

/* The limit that a change would exceed. */
typedef struct rt_quota_excess {
	rt_quota_kind kind;
	const rt_item *quota; /* of the roster */
	uint64_t limit, use, added;
} rt_quota_excess;

/* True: the user may not add this to the project. Reads rows only of those that have a limit, and no
 * more often than RT_QUOTA_FRESH_MS. */
bool rt_quota_is_exceeded(rt_quota_meter *meter, const rt_accounts *a, const rt_roster *roster, uint64_t user,
			  uint64_t project, const rt_use *added, rt_quota_excess *out);
/* Appends a sentence with the limit, the use and the next step. */
void rt_quota_explain(const rt_accounts *a, const rt_roster *roster, const rt_quota_excess *excess,
		      uint64_t user, rt_buf *out);

#endif
