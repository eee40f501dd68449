/* SPDX-License-Identifier: MIT
 *
 * Export to: a session in the directory of the program that continues it. */
#ifndef RT_CLI_EXPORT_TO_H
#define RT_CLI_EXPORT_TO_H

#include "cli/cli.h"
#include "ops/format.h"

/* The format of a program; NULL: none of this name has a known directory. */
const rt_format *rt_export_to_find(const char *name);
/* The names, for messages: "claude-code, …". */
const char *rt_export_to_names(rt_cli *cli);
/* Writes a new session, or, in place, replaces the one that was imported and keeps a copy of it.
 * Says where it is and how it is continued. */
void rt_cli_export_to(rt_cli *cli, const rt_format *format, const rt_outlines *outlines,
		      const rt_export_options *options);

#endif
