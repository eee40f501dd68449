/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this module. */
#ifndef RT_FILES_FILES_IMPL_H
#define RT_FILES_FILES_IMPL_H

#include "files/files.h"

/* ---- files_host.c: files below a root ---- */

enum {
	RT_FILE_PATH_MAX = 4096, /* bytes of a path */
	RT_FILE_LINKS_MAX = 40   /* symbolic links on the way to one file */
};

/* A directory that files may be read from. */
typedef struct rt_file_root {
	int fd;      /* of the directory; -1: it cannot be opened */
	rt_str path; /* as given, without a slash at its end */
	rt_str real; /* without links */
} rt_file_root;

/* Why a file cannot be read. */
typedef struct rt_file_fault {
	rt_file_problem_kind kind; /* RT_FILE_NO_PROBLEM: it can */
	int code;                  /* errno, where the kind is RT_FILE_UNREADABLE */
} rt_file_fault;

typedef enum rt_file_type {
	RT_FILE_REGULAR,
	RT_FILE_DIRECTORY,
	RT_FILE_LINK, /* of a directory's entries only */
	RT_FILE_OTHER
} rt_file_type;

/* A file or directory that was found. */
typedef struct rt_file_place {
	const rt_file_root *root;
	rt_str path; /* below the root, without links; empty: the root itself */
	rt_file_type type;
} rt_file_place;

typedef struct rt_file_entry {
	rt_str name;
	rt_file_type type;
} rt_file_entry;

/* Open the roots of the options; they are closed with the scope. NULL once the scope has failed. */
const rt_file_root *rt_file_roots_open(rt_scope *s, const rt_file_options *options);

/* Find a path below a root, following links that stay below it. Every component is opened by
 * itself, relative to the one before and without following a link, so that nothing outside the
 * root is touched, whatever changes at the same time. path is not empty and has no NUL. */
rt_file_fault rt_file_find(rt_scope *s, const rt_file_root *root, rt_str path, rt_file_place *out);

/* The bytes of a regular file that was found, in the state of one moment. A text is not read beyond
 * text_max, nor an image beyond image_max. */
rt_file_fault rt_file_load(rt_scope *s, const rt_file_place *place, size_t text_max,
			   size_t image_max, rt_str *out);

/* The entries of a directory that was found, in any order, without "." and "..". At most max:
 * RT_FILE_TOO_MANY. */
rt_file_fault rt_file_list(rt_scope *s, const rt_file_place *place, size_t max,
			   rt_file_entry **out, size_t *out_count);

/* ---- kind.c ---- */

/* The type of an image by its first bytes, "image/png"; empty: not one of the four. */
rt_str rt_file_image_type(rt_str bytes);
/* The language of a path for a fence by its extension or name; empty: none is known. */
rt_str rt_file_language(rt_str path);

#endif
