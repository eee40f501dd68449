/* SPDX-License-Identifier: MIT
 *
 * Directory: the accounts of a store: users, teams, memberships, tokens, invitations and share links.
 * authorize.h decides with it what a request may do.
 *
 *   side row                              of the reserved project RT_DIRECTORY_PROJECT
 *   user/7                                {"v":1,"id":7,"name":"ann","admin":true,…}
 *   team/9                                {"v":1,"id":9,"name":"crew","list":[7,8],…}
 *   member/3/u7, member/3/t9              {"v":1,"project":3,"user":7,"role":3,…}
 *   quota/u7, quota/t9, quota/p3, quota/each
 *                                         {"v":1,"user":7,"list":[0,1000000,3,200]}  (quota.h)
 *   token/<SHA-256>, invite/…, link/…     {"v":1,"id":12,"user":7,"scope":2,"until":…}
 *   audit/<time>-<random>, used/12        the audit log, the last day of a token (audit.h)
 *   use/u7, use/t9, use/p3                use (quota.h)
 *   version                               {"v":1,"version":41,"next":13}
 *
 * Every change is one transaction, which also writes "version"; a program reads the other rows
 * again when that has changed. Only the hashes of secrets are stored. Ids are never used twice. A
 * row that cannot be read completely gives no right: it is ignored.
 *
 * A roster is the directory at one time. Immutable; counted.
 *
 * Threads: a directory locks itself. */
#ifndef RT_ACCOUNTS_DIRECTORY_H
#define RT_ACCOUNTS_DIRECTORY_H

#include "base/env.h"
#include "base/sha256.h"
#include "core/object.h"
#include "log/store.h"

#define RT_DIRECTORY_PROJECT RT_STORE_RESERVED "accounts"

enum {
	RT_ACCOUNT_NAME_MAX = 64,
	RT_TOKEN_PROJECTS_MAX = 64, /* that a token is limited to */
	RT_TEAM_USERS_MAX = 10000,
	RT_SECRET_RANDOM = 43, /* characters of 6 bits: 256 bits and a little more */
	RT_SECRET_ROOM = 48
};

typedef enum rt_role {
	RT_ROLE_NONE,
	RT_ROLE_READER,
	RT_ROLE_COMMENTER,
	RT_ROLE_EDITOR,
	RT_ROLE_OWNER,
	RT_ROLE_COUNT
} rt_role;

/* Each includes those before it. */
typedef enum rt_token_scope {
	RT_TOKEN_NOTHING,
	RT_TOKEN_READ,
	RT_TOKEN_WRITE,
	RT_TOKEN_ADMIN,
	RT_TOKEN_SCOPES
} rt_token_scope;

extern const char *const rt_role_names[RT_ROLE_COUNT];        /* "none", "reader" … */
extern const char *const rt_token_scope_names[RT_TOKEN_SCOPES]; /* "none", "read" … */
/* RT_ROLE_NONE, RT_TOKEN_NOTHING: there is no such name. */
rt_role rt_role_named(rt_str name);
rt_token_scope rt_token_scope_named(rt_str name);

typedef enum rt_item_kind {
	RT_ITEM_USER,
	RT_ITEM_TEAM,
	RT_ITEM_MEMBER,
	RT_ITEM_QUOTA,
	RT_ITEM_TOKEN,
	RT_ITEM_INVITE,
	RT_ITEM_LINK,
	RT_ITEM_KINDS
} rt_item_kind;

/* A row. Members that a kind does not use are 0. */
typedef struct rt_item {
	rt_item_kind kind;
	uint64_t id;         /* all but memberships and quotas */
	char hash[RT_SHA256_HEX_ROOM]; /* of the secret: tokens, invitations, links */
	uint64_t project;    /* memberships, links, quotas */
	uint64_t user;       /* memberships: the member, or 0; tokens: the owner */
	uint64_t team;       /* memberships: the member, or 0 */
	uint64_t discussion; /* links: the only one; 0: the whole project */
	uint64_t role;       /* rt_role: memberships */
	uint64_t scope;      /* rt_token_scope: tokens */
	uint64_t is_admin;   /* users: of the server */
	uint64_t is_disabled;/* users */
	int64_t made_us, until_us, seen_us; /* until 0: does not expire */
	rt_str name;         /* users, teams: unique in their kind; tokens, links: for display */
	rt_str identity;     /* users: "proxy:ann", the name that a sign-in service has for them */
	rt_str by;           /* the user that made it */
	const uint64_t *list; /* teams: users; tokens: the only projects, if any; invitations:
			      * project, role, project, role …; quotas: kind, limit, kind, limit … */
	size_t list_count;
} rt_item;

/* ---- rosters ---- */

typedef struct rt_roster {
	rt_object object;
	rt_arena *arena;      /* contains the rest */
	uint64_t version;
	uint64_t next_id;
	const rt_item *items; /* in the order of their kinds and keys */
	size_t count;
	size_t first[RT_ITEM_KINDS + 1]; /* of each kind */
} rt_roster;

const rt_item *rt_roster_user(const rt_roster *roster, uint64_t id);
const rt_item *rt_roster_team(const rt_roster *roster, uint64_t id);
/* By name, of users and teams; NULL: there is none. */
const rt_item *rt_roster_named(const rt_roster *roster, rt_item_kind kind, rt_str name);
const rt_item *rt_roster_identity(const rt_roster *roster, rt_str identity);
/* Tokens, invitations, links. */
const rt_item *rt_roster_secret(const rt_roster *roster, rt_item_kind kind, const char *hash);
const rt_item *rt_roster_numbered(const rt_roster *roster, rt_item_kind kind, uint64_t id);
/* The memberships of a project: from *out_first, the count is returned. */
size_t rt_roster_members(const rt_roster *roster, uint64_t project, const rt_item **out_first);
const rt_item *rt_roster_member(const rt_roster *roster, uint64_t project, uint64_t user,
				uint64_t team);
/* Is a number in the list of an item? */
bool rt_item_lists(const rt_item *item, uint64_t number);
static inline bool
rt_item_has_expired(const rt_item *item, int64_t now_us)
{
	return item->until_us != 0 && now_us >= item->until_us;
}

/* ---- secrets ---- */

/* "rtk_…": tokens, "rti_…": invitations, "rtl_…": links; followed by RT_SECRET_RANDOM characters. */
void rt_secret_make(const rt_env *env, rt_item_kind kind, char out[RT_SECRET_ROOM]);
/* Does the text have the form of a secret of this kind? Then its hash. */
bool rt_secret_hash(rt_str text, rt_item_kind kind, char out[RT_SHA256_HEX_ROOM]);

/* Can it be the name of a user or a team? 1 to 64 of a-z 0-9 . _ -, not beginning with a mark. */
bool rt_account_name_is_valid(rt_str name);

/* ---- the directory ---- */

typedef struct rt_directory rt_directory;

/* Creates the reserved project if it is missing and the store can be written to. */
RT_CHECKED rt_status rt_directory_open(const rt_alloc *alloc, const rt_env *env, rt_store *store,
				       rt_directory **out, rt_error *err);
void rt_directory_close(rt_directory *directory);
/* Reads changes of other programs, unless that was begun after since_us. A failure leaves everything
 * as before. */
RT_CHECKED rt_status rt_directory_refresh(rt_directory *directory, int64_t since_us, rt_error *err);
/* The state that was read last; to be released with rt_object_unref. */
const rt_roster *rt_directory_roster(rt_directory *directory);
int64_t rt_directory_now(const rt_directory *directory);

/* ---- changes ---- */

/* A transaction: begin, then writes, then end, all on one thread. The scope's failure cancels it. */
typedef struct rt_directory_change {
	rt_directory *directory;
	rt_scope *scope;
	const rt_roster *roster; /* as of the transaction; lives until the end; NULL after a failure */
	uint64_t next_id;
	bool is_begun, is_written;
	rt_str identity; /* of the thread before: accounts are read and written by the program itself */
} rt_directory_change;

rt_directory_change rt_directory_begin(rt_directory *directory, rt_scope *scope);
/* A new id. */
uint64_t rt_directory_new_id(rt_directory_change *change);
void rt_directory_write(rt_directory_change *change, const rt_item *item);
/* Writes a token, link or invitation with a new id and the hash of a new secret. */
void rt_directory_add_secret(rt_directory_change *change, const rt_env *env, rt_item *item,
			     char out_secret[RT_SECRET_ROOM]);
void rt_directory_drop(rt_directory_change *change, const rt_item *item);
/* Any other row of the reserved project, such as one of the audit log; empty: removes it. */
void rt_directory_write_side(rt_directory_change *change, rt_str name, rt_str value);
/* Commits; then rt_directory_roster contains it. */
void rt_directory_end(rt_directory_change *change);

/* The rows of other kinds. */
rt_rows rt_directory_rows(const rt_directory *directory, rt_str prefix);
/* One of them, appended to out. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_directory_get(const rt_directory *directory, rt_str name, rt_buf *out, rt_error *err);
rt_store *rt_directory_store(const rt_directory *directory);

#endif
