/* SPDX-License-Identifier: MIT
 *
 * Maintenance: shared by the commands that check, repair and back up a store. */
#ifndef RT_CLI_MAINTENANCE_H
#define RT_CLI_MAINTENANCE_H

#include "cli/cli.h"
#include "log/copy.h"
#include "log/fsck.h"

/* The names of the projects in a store. */
typedef struct rt_cli_names {
	rt_str *items;
	size_t count;
} rt_cli_names;
rt_cli_names rt_cli_names_read(rt_cli *cli, rt_store *store);

/* Opens each project of the open store in turn, each in its own scope; if one cannot be opened, fn
 * gets NULL and the failed command. The first failure that fn leaves is the command's; the other
 * projects are still visited. is_lenient: read-only, even if its parts are inconsistent. */
typedef void (*rt_cli_engine_fn)(rt_cli *cli, void *ctx, rt_str project, rt_engine *engine);
void rt_cli_each_engine(rt_cli *cli, bool is_lenient, rt_cli_engine_fn fn, void *ctx);

/* Findings of a check: printed as they arrive, or collected as JSON. */
typedef struct rt_cli_findings {
	rt_cli *cli;
	rt_str project; /* being checked; empty: the store */
	size_t bad;
	rt_status cannot; /* why the store was not opened; RT_OK: it was */
	rt_buf *json;     /* an array without its end */
} rt_cli_findings;

rt_cli_findings rt_cli_findings_begin(rt_cli *cli);
bool rt_cli_finding(void *findings, const rt_finding *finding);
/* Checks the open store and all its projects. */
void rt_cli_check(rt_cli *cli, rt_cli_findings *findings);

/* The path of the store's file, for commands that copy or replace it; NULL, with an error, if the
 * store is not a file. */
const char *rt_cli_require_file(rt_cli *cli);
/* STORE.why-20261121-203500, a name that is not in use. */
const char *rt_cli_beside(rt_cli *cli, const char *why);
/* The store's path without symbolic links, since -wal and -shm are next to the file itself. */
void rt_cli_follow_links(rt_cli *cli);
/* The store at copy replaces the current one, which is renamed to STORE.why-…. Returns that name;
 * "" if there was none. */
const char *rt_cli_exchange(rt_cli *cli, const char *why, const char *copy);
/* Removes a store that this command created, with its -wal and -shm. */
void rt_cli_drop_files(const char *path);

/* Does a file that cannot be opened as a store contain rows of one? */
bool rt_cli_recognise(const rt_cli *cli);
/* Has the store lost rows, or can it not be opened, so that repair has to create a new one? The
 * store must not be open. RT_TOO_NEW: a newer version wrote to it. */
bool rt_cli_salvage_needed(rt_cli *cli);
/* Steps that repair could not save. */
typedef struct rt_cli_lost {
	uint64_t steps;
	bool at_least; /* it is not known how many there were */
} rt_cli_lost;
/* Copies everything intact to a new store, which replaces the current one. Returns the new name of
 * the old store. Prints the kept and the lost parts; json: an array of them. The steps that the new
 * store lacks are added to lost. */
const char *rt_cli_salvage(rt_cli *cli, rt_buf *json, rt_cli_lost *lost);

/* Copies projects (only: this one; empty: all) to another store and prints a line for each; json: gets
 * the member "projects". An interrupt ends it after the current batch. */
void rt_cli_copy_projects(rt_cli *cli, rt_store *from, rt_store *to, rt_str only, rt_buf *json);

/* Copies the store next to itself and returns the copy's name. Damaged stores are copied byte by
 * byte. The store must not be open. */
const char *rt_cli_keep_copy(rt_cli *cli, const char *why);

#endif
