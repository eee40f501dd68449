/* SPDX-License-Identifier: MIT
 *
 * Images that go with a question: files, and addresses in the web. */
#ifndef RT_CLI_IMAGE_H
#define RT_CLI_IMAGE_H

#include "cli/cli.h"

enum { RT_CLI_IMAGE_MAX = 20 << 20 }; /* bytes of a file; no provider takes more */

/* The content of a question, as a JSON array appended to out: its text, and an image for every
 * --image. Nothing where there is no --image. A file's bytes go into the conversation; an
 * address stays one. RT_USAGE: a file is no PNG, JPEG, GIF or WebP. RT_LIMIT, RT_NOT_FOUND,
 * RT_IO, RT_NOMEM. */
RT_CHECKED rt_status rt_cli_image_content(rt_cli *cli, rt_str text, rt_buf *out);

#endif
