/* SPDX-License-Identifier: MIT
 *
 * The files of a set in progress. */
#ifndef RT_FILES_SET_IMPL_H
#define RT_FILES_SET_IMPL_H

#include "files/files_impl.h"

/* A part of a file. */
typedef struct rt_file_part {
	size_t first, last; /* lines; 0: not a range; last SIZE_MAX: to the end */
	rt_str symbol;      /* empty: not a symbol */
} rt_file_part;

/* A file to be sent. */
typedef struct rt_file_want {
	rt_str list, item;
	rt_file_place place;
	rt_file_view view;
	rt_file_part part;
	rt_str whole, bytes, mime; /* once it is read */
} rt_file_want;


#endif
