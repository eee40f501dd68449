/* SPDX-License-Identifier: MIT
 *
 * The symbols of texts, and the program that finds them. */
#ifndef RT_FILES_SYMBOLS_IMPL_H
#define RT_FILES_SYMBOLS_IMPL_H

#include "files/files.h"

/* Give ctags its input. Returns why there is no output, or not all; empty: there is. */
rt_str rt_ctags_run(rt_scope *s, const char *path, rt_str input, rt_buf *out);

/* The texts of files; rt_file_symbol.file is an index in this array. */
typedef struct rt_symbol_source {
	rt_str path;
	rt_str text; /* empty: has no symbols */
} rt_symbol_source;

/* NULL once the scope has failed. */
const rt_file_symbols *rt_symbols_of(rt_scope *s, const char *path,
				     const rt_symbol_source *sources, size_t count);
/* One line for each symbol of a source, in the order of the text. */
rt_str rt_symbols_outline(rt_scope *s, const rt_file_symbols *symbols, size_t file);

#endif
