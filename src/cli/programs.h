/* SPDX-License-Identifier: MIT
 *
 * Programs: where other programs keep their sessions in the home directory, and those sessions.
 *
 * A program is found by its directory, the type of a file by its beginning, as in an import. Nothing
 * is written, and of a file no more than its beginning is read. */
#ifndef RT_CLI_PROGRAMS_H
#define RT_CLI_PROGRAMS_H

#include <sys/stat.h>

#include "cli/cli.h"
#include "ops/format.h"

typedef enum rt_program_kind {
	RT_PROGRAM_SESSIONS, /* a folder of the program */
	RT_PROGRAM_MESSAGES, /* only watched: SESSION/ID.json, parts of the session with that name */
	/* Among the user's own files; hidden folders are not searched. */
	RT_PROGRAM_IN_WORK,  /* watched where there are some */
	RT_PROGRAM_DOWNLOADS /* exports of web sites; other files are left out; not watched */
} rt_program_kind;

/* A directory of a program, in the order of lists. */
typedef struct rt_program {
	const char *name;     /* several rows may have the same */
	const char *variable; /* environment variable with the directory */
	const char *usual;    /* without it, below the home directory; NULL: then nowhere */
	const char *below;    /* the sessions, below that directory; "": in it */
	const char *ends;     /* the end of their names; ".json": also ".jsonl" */
	const char *within;   /* a part of their paths; or NULL */
	const char *id;       /* what precedes the id of the session in the file; NULL: its name is the id */
	int deep;             /* levels of folders */
	rt_program_kind kind;
} rt_program;

extern const rt_program rt_programs[]; /* ended by a NULL name */

typedef struct rt_program_file {
	const char *path;
	uint64_t size;
	int64_t changed_us;
	const rt_format *format; /* NULL: Retake cannot read it */
	rt_str source;           /* of its first conversation; empty: unknown */
} rt_program_file;

/* The sessions in a directory of a program. */
typedef struct rt_program_found {
	const rt_program *program;
	const char *directory;
	rt_program_file *files; /* the one that was changed last is the last one */
	size_t count, capacity, readable;
	size_t imported; /* rt_programs_count_imported */
	uint64_t size;
	int64_t newest_us;
} rt_program_found;

typedef struct rt_programs_found {
	rt_program_found *items;
	size_t count, capacity;
} rt_programs_found;

/* The directory of a program, in the scope; NULL: none. It need not exist. */
const char *rt_program_directory(rt_scope *s, const rt_program *program);
/* Is this the name of a session file of the program? path: with its directory. */
bool rt_program_has(const rt_program *program, const char *path);
/* Is a session chosen by one of the names, those of programs and the paths of files and folders?
 * path NULL: may one be? count 0: all are. */
bool rt_program_is_chosen(const rt_program *program, const char *path, const char *const *names,
			  size_t count);
/* The source of the session in a file that contains no id; empty: it does, or contains several. */
rt_str rt_program_source(rt_scope *s, const rt_program *program, const char *path);
/* Visits the folders below one of a program's directory, each before its files, and the sessions
 * chosen by the names. Links are not followed. */
typedef struct rt_program_visitor {
	void *ctx;
	void (*folder)(void *ctx, const rt_program *program, const char *path); /* or NULL */
	void (*file)(void *ctx, const rt_program *program, const char *path,
		     const struct stat *info);
	const char *const *names;
	size_t count;
} rt_program_visitor;
void rt_program_walk(rt_cli *cli, const rt_program *program, const char *directory,
		     const char *folder, const rt_program_visitor *visitor);
/* The directories with at least one chosen session. Folders that cannot be read are
 * skipped, with a note if the command is verbose. */
rt_programs_found rt_programs_find(rt_cli *cli, const char *const *names, size_t count);
/* Counts the files whose first conversation is in the project. Without a store there are none. */
void rt_programs_count_imported(rt_cli *cli, rt_programs_found *all);
/* Is this the name of a program, which is that of its format? */
bool rt_program_is_known(const char *name);
/* Fails the command if a name is neither that of a program nor of a file or folder (RT_NOT_FOUND).
 * Paths become absolute. "all" sets the count to 0. */
void rt_cli_check_programs(rt_cli *cli, const char **names, size_t *count);

#endif
