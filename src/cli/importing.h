/* SPDX-License-Identifier: MIT
 *
 * Importing: the part that import, scan and watch share: files are imported one after the other,
 * each as a step, with a message for each and a summary. A file that fails does not end it. */
#ifndef RT_CLI_IMPORTING_H
#define RT_CLI_IMPORTING_H

#include "cli/cli.h"
#include "ops/format.h"

typedef struct rt_cli_path {
	const char *name; /* "-": standard input */
	bool is_explicit; /* given on the command line, not found in a folder */
	rt_str source;    /* of a conversation without an id in the file; empty: its content */
	const char *const *parts; /* the files of a folder that is read as one; or NULL */
	size_t part_count;
} rt_cli_path;

typedef struct rt_cli_paths {
	rt_cli_path *items;
	size_t count, capacity;
} rt_cli_paths;

typedef struct rt_cli_importing {
	/* Set by the caller; the rest is 0 at first. */
	rt_cli *cli;
	const rt_format *format; /* NULL: by content */
	rt_str name;             /* of the discussion; empty: as the file says */
	bool dry_run;
	/* Files that other programs are writing: complete lines only, as an event each, and only if
	 * it added something. The active discussion stays active. */
	const char *follows; /* name of the program; NULL: not so */

	rt_buf *json; /* of the files so far */
	size_t files, discussions, entries, hidden, takes, known, settings, repaired, skipped, empty,
		unknown;
	size_t steps;          /* files that changed something: each is undone separately */
	const char *temporary; /* folder for input from a pipe */
	bool is_open;          /* the store is open; false until there is something to import */
	rt_status first;       /* failure of the first file that failed */
	rt_error error;
	char hint[RT_SESSION_HINT_SIZE];
	char discussion[260];
	uint64_t seq;
	int64_t begun_us, said_us;
	bool progress;
} rt_cli_importing;

/* Adds a path, which must live as long as the scope. */
void rt_cli_paths_add(rt_cli *cli, rt_cli_paths *paths, const char *name, bool is_explicit);
/* Imports a file. Failures are in m->first and m->error. */
void rt_cli_import_file(rt_cli_importing *m, const rt_cli_path *path);
/* Imports the files, prints a line for each and the summary, or the JSON document. The command
 * fails as the first file that failed, after all others. */
void rt_cli_import_paths(rt_cli_importing *m, const rt_cli_paths *paths);

#endif
