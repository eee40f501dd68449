/* SPDX-License-Identifier: MIT
 *
 * Images that go with a question: files, and addresses on the web. */
#ifndef RT_CLI_IMAGE_H
#define RT_CLI_IMAGE_H

#include "cli/cli.h"

enum { RT_CLI_IMAGE_MAX = 20 << 20 }; /* bytes of a file; no provider accepts more */

/* The content of a question as a JSON array: its text, and an image for every --image; ptr NULL if
 * there is none. The bytes of a file become part of the conversation; an address stays one.
 * RT_USAGE: a file is not a PNG, JPEG, GIF or WebP. RT_LIMIT, RT_NOT_FOUND, RT_IO. */
rt_str rt_cli_image_content(rt_cli *cli, rt_str text);

#endif
