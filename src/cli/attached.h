/* SPDX-License-Identifier: MIT
 *
 * Files attached to a question or a new entry (--attach, --image), and addresses of images. */
#ifndef RT_CLI_ATTACHED_H
#define RT_CLI_ATTACHED_H

#include "cli/cli.h"

/* One of them, with the memory of the command's scope. */
typedef struct rt_cli_attached {
	rt_str name, bytes; /* of a file */
	rt_str url;         /* not empty: the address of an image instead */
} rt_cli_attached;

typedef struct rt_cli_attached_list {
	rt_cli_attached *items;
	size_t count;
} rt_cli_attached_list;

/* Reads the files that the flags name, before a store is opened or created. RT_USAGE: a file of
 * --image is not a PNG, JPEG, GIF or WebP image. RT_LIMIT, RT_NOT_FOUND, RT_IO. */
rt_cli_attached_list rt_cli_read_attached(rt_cli *cli);
/* Stores the files and returns the content of the entry as a JSON array: its text, and a block for
 * each file; ptr NULL if there are none. */
rt_str rt_cli_attach(rt_cli *cli, rt_str text, const rt_cli_attached_list *list);

#endif
