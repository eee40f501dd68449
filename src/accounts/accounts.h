/* SPDX-License-Identifier: MIT
 *
 * Accounts: changes of the directory as the command line and the server make them. Each is one
 * transaction with a row of the audit log; nothing is changed after a failure of the scope.
 *
 * Threads: any. */
#ifndef RT_ACCOUNTS_ACCOUNTS_H
#define RT_ACCOUNTS_ACCOUNTS_H

#include "accounts/directory.h"

/* The author of a change, for the audit log. */
typedef struct rt_accounts {
	rt_directory *directory;
	rt_scope *scope;
	const rt_env *env;
	rt_str by;   /* a user, or "machine" */
	rt_str from; /* "command line", "http" */
	bool keeps_last; /* RT_REFUSED for a change after which there is no administrator, or a project
			  * that had an owner has none */
	rt_str request;  /* id of an HTTP request; or empty */
} rt_accounts;

/* RT_USAGE: it cannot be the name of a user or a team. */
void rt_account_name_check(rt_scope *s, rt_str name);

/* Returns the id. RT_REFUSED: the name is in use; RT_USAGE: it is not valid. */
uint64_t rt_accounts_user_new(const rt_accounts *a, rt_str name, bool is_admin, rt_str identity);
/* -1: unchanged. */
void rt_accounts_user_change(const rt_accounts *a, rt_str name, int is_admin, int is_disabled);

/* What a removal has removed. */
typedef struct rt_accounts_removed {
	size_t memberships, teams, tokens;
} rt_accounts_removed;

/* Removes a user with memberships and tokens; its browsers lose their rights. RT_NOT_FOUND. */
rt_accounts_removed rt_accounts_user_remove(const rt_accounts *a, rt_str name);

/* Adds a user to a team, which is created if it is missing, or removes it; a team without users is
 * removed with its memberships. */
void rt_accounts_team_set(const rt_accounts *a, rt_str team, rt_str user, bool is_in);

/* Sets the role of a user, or of a team ("@crew"); RT_ROLE_NONE: removes it. project: number; its name
 * is for the audit log. */
void rt_accounts_member_set(const rt_accounts *a, uint64_t project, rt_str project_name, rt_str member,
			    rt_role role);

typedef struct rt_token_options {
	rt_str user, name;
	rt_token_scope scope;
	int64_t until_us;         /* 0: does not expire */
	const uint64_t *projects; /* the only ones; none: all */
	size_t project_count;
} rt_token_options;
/* Returns the id; the secret is shown once. */
uint64_t rt_accounts_token_new(const rt_accounts *a, const rt_token_options *options,
			       char out_secret[RT_SECRET_ROOM]);
/* user (0: any): only its own. RT_NOT_FOUND. */
void rt_accounts_token_revoke(const rt_accounts *a, uint64_t id, uint64_t user);

/* discussion: number; 0: the whole project. */
uint64_t rt_accounts_link_new(const rt_accounts *a, uint64_t project, uint64_t discussion, int64_t until_us,
			      char out_secret[RT_SECRET_ROOM]);
/* project (0: any): only of this one. */
void rt_accounts_link_revoke(const rt_accounts *a, uint64_t id, uint64_t project);

/* Adds an item as a JSON object, without its hash: names instead of numbers. */
void rt_accounts_put(const rt_accounts *a, const rt_roster *roster, const rt_item *item, rt_buf *out);
/* The number of the project with this name; 0: there is none. */
uint64_t rt_accounts_project(const rt_accounts *a, rt_str name);

/* The name of a project; lives as long as the scope. */
rt_str rt_accounts_project_name(const rt_accounts *a, uint64_t number);

#endif
