/* SPDX-License-Identifier: MIT
 *
 * Files: the files on disk that a discussion names, read so that they can be sent to a model.
 *
 *   files.c         the lists: items, duplicates, ranges, views, limits
 *   files_walk.c    the files of a directory or a glob
 *   files_host.c    opens files below a root, and nothing else
 *   glob.c          patterns of paths
 *   ignore.c        .gitignore
 *   kind.c          texts, images and their languages
 *   names.c         names of the files, for completion
 *   symbols.c       definitions in the texts, found by universal-ctags
 *   ctags_host.c    runs it
 *
 * An item of a list is a string or an object:
 *
 *   "src/a.c"           a file
 *   "src"               a directory with everything below it
 *   "*.c"               a glob: * ? [a-z] [!a-z] \x within a name, and ** for any directories
 *   "src/a.c:10-20"     lines 10 to 20; also :10, :10- and :-20
 *   "src/a.c#rt_name"   the definition of a symbol
 *   {"path": …, "lines": "10-20" or [10,20], "symbol": …, "view_mode": "full" | "outline" | "none",
 *    "auto_aggregate": false (is not sent), "force_full": true (full whatever view_mode says)}
 *
 * A path that exists as it is written is that file: a ":" or "#" in it is part of its name.
 * Paths are relative to a root, or absolute and below one. Files excluded by .gitignore are left
 * out of directories and globs, but are sent if an item names them. Symbolic links are followed
 * while they stay below the root. The order is that of the lists, and within a directory or glob
 * that of the paths by their bytes; the same files give the same set.
 *
 * A file that cannot be sent is a problem, never left out silently. */
#ifndef RT_FILES_FILES_H
#define RT_FILES_FILES_H

#include "base/scope.h"
#include "base/sha256.h"

/* Defaults of rt_file_options. */
#define RT_FILE_TEXT_MAX ((size_t)1 << 20)
#define RT_FILE_IMAGE_MAX ((size_t)8 << 20)
#define RT_FILE_TOTAL_MAX ((size_t)32 << 20)
enum {
	RT_FILE_COUNT_MAX = 2000,
	RT_FILE_PROBLEM_MAX = 200,     /* problems that are listed; further ones are only counted */
	RT_FILE_VISITED_MAX = 200000   /* directory entries that are visited */
};

typedef struct rt_file_options {
	const rt_str *roots; /* absolute paths of directories; a relative item is looked up below
			      * each in turn. None: every item is a problem */
	size_t root_count;
	rt_str where;     /* the roots in messages; empty: "the working directory" */
	rt_str no_root;   /* the message if there is no root; empty: a general one */
	size_t text_max, image_max, total_max; /* bytes; 0: the default */
	size_t count_max;                      /* files; 0: the default */
	const char *path; /* PATH, to find universal-ctags; NULL: it is not used */
} rt_file_options;

/* The three lists of a place as JSON arrays; an empty text is an empty list. Borrowed. */
typedef struct rt_file_lists {
	rt_str files, context_files, screenshots;
} rt_file_lists;

typedef enum rt_file_view {
	RT_FILE_FULL,
	RT_FILE_OUTLINE, /* bytes: its definitions, a line each */
	RT_FILE_NAME     /* only the name is sent; no bytes */
} rt_file_view;

/* A text or an image. */
typedef struct rt_file {
	rt_str list;     /* "files", "context_files", "screenshots" or "symbols" */
	rt_str item;     /* as listed; of an object, its path */
	rt_str path;     /* below its root, without links: "src/a.c" */
	rt_str name;     /* to show and to send: the path, with ":10-20" or "#symbol" */
	rt_str language; /* of a text, for a fence: "c"; empty: none is known */
	rt_str mime;     /* of an image: "image/png"; empty: a text */
	rt_str bytes;    /* the content to send: valid UTF-8, or the bytes of the image */
	rt_str whole;    /* of a text that was read: all of the file, of which bytes may be a part */
	char sha256[RT_SHA256_HEX_ROOM]; /* of bytes */
	rt_file_view view;
	size_t first_line, last_line; /* of a part, from 1; 0: all of it */
} rt_file;

typedef enum rt_file_problem_kind {
	RT_FILE_NO_PROBLEM,
	RT_FILE_BAD_ITEM,   /* neither a path nor an object with one, or a bad member */
	RT_FILE_NO_ROOT,    /* no directory is open to the lists */
	RT_FILE_OUTSIDE,    /* the path, or a link on its way, leaves the roots */
	RT_FILE_MISSING,
	RT_FILE_EMPTY,      /* a directory or a glob without a file */
	RT_FILE_UNREADABLE, /* permission, or an error of the disk */
	RT_FILE_SPECIAL,    /* a device, a FIFO, a socket */
	RT_FILE_BINARY,     /* neither UTF-8 text nor an image */
	RT_FILE_NOT_IMAGE,  /* a screenshot that is not an image */
	RT_FILE_TOO_LARGE,
	RT_FILE_TOO_MANY,   /* files, or bytes in all */
	RT_FILE_CHANGED,    /* changed while it was read, twice */
	RT_FILE_BAD_NAME,   /* a control character, or not UTF-8 */
	RT_FILE_BAD_RANGE,  /* lines that the file does not have */
	RT_FILE_NO_SYMBOL,  /* no such definition in the file, or several */
	RT_FILE_NO_CTAGS    /* needed, and not installed or not working */
} rt_file_problem_kind;

typedef struct rt_file_problem {
	rt_str list, item; /* as in rt_file */
	rt_str path;       /* the file, if it is not the item itself */
	rt_file_problem_kind kind;
	rt_str message;    /* one sentence that names the file and the remedy; without
			    * control characters */
} rt_file_problem;

typedef struct rt_file_set {
	const rt_file *files;
	size_t count;
	const rt_file_problem *problems;
	size_t problem_count;  /* listed ones */
	size_t problems_more;  /* further ones, which are not listed */
	size_t bytes;          /* of all files */
} rt_file_set;

/* A word for a kind, as in JSON: "missing", "too_large" … Static. */
const char *rt_file_problem_word(rt_file_problem_kind kind);

/* Read the files of the lists. The set and all texts in it live as long as the scope. Reads files;
 * starts ctags only for outlines and symbols. NULL once the scope has failed; it fails with
 * RT_NOMEM only, everything else is a problem. One thread at a time per scope. Cost: one pass over
 * the directories named, and over the bytes of the files. */
const rt_file_set *rt_file_set_read(rt_scope *s, const rt_file_options *options,
				    const rt_file_lists *lists);

/* ---- names ---- */

typedef struct rt_file_names {
	rt_str *items; /* paths below a root */
	size_t count;
	bool is_cut;   /* there are more, or not all directories were visited */
} rt_file_names;

/* The paths of files below the roots that contain the word, ignoring the case of ASCII letters: those
 * whose name begins with it first, then the ones closest to the root. Without what .gitignore
 * excludes; hidden files only if the word has a component that begins with a dot. At most max. Reads
 * directories, of which a bounded number, and no files but .gitignore. */
rt_file_names rt_file_names_find(rt_scope *s, const rt_file_options *options, rt_str word, size_t max);

/* ---- symbols ---- */

typedef struct rt_file_symbol {
	rt_str name;
	rt_str kind;      /* "function", "struct", "class" … in the terms of ctags */
	rt_str scope;     /* the symbol that contains it, "Store" of a method; empty: the file */
	rt_str signature; /* "(int a, int b)"; empty: none */
	size_t file;      /* index in the set */
	size_t first_line, last_line; /* of the definition in the file on disk, from 1 */
	rt_str text;      /* of the definition, whole lines; borrowed from the file */
} rt_file_symbol;

typedef struct rt_file_symbols {
	const rt_file_symbol *items; /* by name, then as the files and lines come */
	size_t count;
	rt_str problem; /* why there are none or not all; empty: the list is complete */
} rt_file_symbols;

/* The definitions in the texts of a set. As rt_file_set_read; runs ctags once, in its sandbox, with
 * the texts of the set as input: it opens no file. A missing ctags is a problem of the result. */
const rt_file_symbols *rt_file_symbols_read(rt_scope *s, const rt_file_options *options,
					    const rt_file_set *set);
/* The range of those that begin with a prefix: the index of the first, and their number. */
size_t rt_file_symbols_range(const rt_file_symbols *symbols, rt_str prefix, size_t *out_count);
/* A set with the definitions of the symbols that a message names ("@rt_name") after its files: list
 * "symbols", item "@rt_name", name "src/a.c#rt_name". A name that is not a symbol is ignored.
 * Returns the set itself if there is nothing to add. As rt_file_set_read; runs ctags if there is a
 * name. */
const rt_file_set *rt_file_set_add_symbols(rt_scope *s, const rt_file_options *options,
					   const rt_file_set *set, rt_str message);
/* A symbol as an object: "name", "kind", "scope", "signature" (where there is one), "path", "lines"
 * ([first, last]) and, if wanted, "text". */
void rt_file_symbol_put(rt_buf *json, const rt_file_set *set, const rt_file_symbol *symbol,
			bool with_text);

#endif
