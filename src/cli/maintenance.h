/* SPDX-License-Identifier: MIT
 *
 * Maintenance: what the commands that look after a store share. */
#ifndef RT_CLI_MAINTENANCE_H
#define RT_CLI_MAINTENANCE_H

#include "cli/cli.h"
#include "log/fsck.h"

typedef struct rt_cli_names {
	const rt_alloc *alloc;
	const rt_text **items;
	size_t count;
	bool nomem;
} rt_cli_names;

/* The names of the projects in the open store. deinit in any case. */
rt_status rt_cli_names_read(rt_cli *cli, rt_cli_names *out);
void rt_cli_names_deinit(rt_cli_names *names);

/* Open each project of the open store in turn; fn gets NULL and a status where that fails.
 * lenient: for reading only, also where its parts disagree. */
typedef rt_status (*rt_cli_engine_fn)(rt_cli *cli, void *ctx, const rt_text *project,
				      rt_engine *engine, rt_status opened);
rt_status rt_cli_each_engine(rt_cli *cli, bool lenient, rt_cli_engine_fn fn, void *ctx);

/* What a check found: printed as it comes, or collected as JSON. */
typedef struct rt_cli_findings {
	rt_cli *cli;
	const rt_text *project; /* being checked; NULL: the store */
	size_t count, bad;
	rt_status cannot; /* why the store was not opened; RT_OK: it was */
	rt_buf json; /* an array without its end; the caller's to deinit */
} rt_cli_findings;

void rt_cli_findings_init(rt_cli *cli, rt_cli_findings *findings);
bool rt_cli_finding(void *findings, const rt_finding *finding);
/* Check the open store and all its projects. */
rt_status rt_cli_check(rt_cli *cli, rt_cli_findings *findings);

/* STORE.why-20261121-203500, a name that is not taken, to out. */
rt_status rt_cli_beside(rt_cli *cli, const char *why, rt_buf *out);
/* The store's path without symbolic links, since -wal and -shm are next to the file itself. */
rt_status rt_cli_follow_links(rt_cli *cli);
/* The store at copy takes the place of the present one, which gets the name STORE.why-…,
 * which goes to aside; empty: there was none. */
rt_status rt_cli_exchange(rt_cli *cli, const char *why, const char *copy, rt_buf *aside);
/* Remove a store that this command has made, with its -wal and -shm. */
void rt_cli_drop_files(const char *path);

/* Does a file that is not opened, as another kind of file, hold rows of a store? */
bool rt_cli_recognise(rt_cli *cli);
/* Has the store lost rows, or cannot be opened, so that repair has to make a new one? The store
 * must not be open. RT_TOO_NEW: a newer version wrote to it. */
rt_status rt_cli_salvage_needed(rt_cli *cli, bool *out_needed);
/* Steps that repair could not save. */
typedef struct rt_cli_lost {
	uint64_t steps;
	bool at_least; /* nothing says how many there were */
} rt_cli_lost;
/* Everything that is intact goes into a new store in the place of the present one, which gets
 * another name (to aside). What is kept and what is lost is printed; json: an array of it.
 * lost: add the steps that the new store lacks. */
rt_status rt_cli_salvage(rt_cli *cli, rt_buf *aside, rt_buf *json, rt_cli_lost *lost);

/* Put a copy of the store, as it is, beside it; its name to out. Damaged ones are copied
 * byte by byte. The store must not be open. */
rt_status rt_cli_keep_copy(rt_cli *cli, const char *why, rt_buf *out);

#endif
