/* SPDX-License-Identifier: MIT
 *
 * Erase: removes a user together with the user's data.
 *
 *   projects without another owner   deleted with their contents, unless servers need them
 *   other projects                   kept, with the entries and the author's name in the history: the
 *                                    rows of a history are permanent (docs/accounts.md)
 *   accounts                         memberships, tokens, identity, limits and counts of the user; links and
 *                                    invitations that the user created; everything of the deleted projects
 *   audit log                        kept, with one row that contains the figures of the report
 *
 * Projects are deleted before the accounts change. After an interruption it can be repeated: rows of the
 * accounts that refer to projects that do not exist any more are removed as well.
 *
 * Threads: any. */
#ifndef RT_ACCOUNTS_ERASE_H
#define RT_ACCOUNTS_ERASE_H

#include "accounts/accounts.h"

typedef struct rt_erase_project {
	uint64_t number;
	rt_str name;
	const char *kept;  /* why it is not deleted; NULL: it is */
	bool is_owned;     /* the user is an owner */
	size_t others;     /* other members, users and teams, who lose it */
	uint64_t steps, entries; /* of the user, by the author's name in the history */
	uint64_t rows;     /* of the history in all */
} rt_erase_project;

/* Lives as long as the scope. */
typedef struct rt_erase_report {
	rt_str name;
	rt_erase_project *projects; /* those that the user owns or has steps in */
	size_t project_count, deleted_count;
	rt_accounts_removed removed; /* members that lose a deleted project are not counted */
	size_t links, invitations;
	bool has_identity;
	uint64_t *remaining; /* numbers of all projects that are not deleted, ascending */
	size_t remaining_count;
	uint64_t last;       /* the highest number; later projects are not affected */
} rt_erase_report;

/* Determines the data to remove. home: the name of the project in which servers store sign-ins. O(all
 * histories of the store). RT_NOT_FOUND. */
void rt_accounts_erase_plan(const rt_accounts *a, rt_str name, rt_str home, rt_erase_report *out);
/* Carries out a plan of the same scope: deletes the projects, each in a transaction, then changes the
 * accounts in one, then overwrites the deleted rows. A failure, of the store or RT_NOT_FOUND if another
 * program has removed the user, does not revert earlier deletions; a new plan continues. */
void rt_accounts_erase(const rt_accounts *a, const rt_erase_report *report);
/* Adds the report as the members of an open JSON object. */
void rt_erase_put(rt_buf *out, const rt_erase_report *report);

#endif
