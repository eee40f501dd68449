/* SPDX-License-Identifier: MIT
 *
 * Asset: the files of the web interface, as tools/web.py put them into the program.
 *
 * Threads: immutable. */
#ifndef RT_SERVER_ASSET_H
#define RT_SERVER_ASSET_H

#include <stddef.h>

typedef struct rt_asset {
	const char *path; /* "/", "/web/main-<hash>.js"; NULL ends the table */
	const char *type;
	const unsigned char *bytes;
	size_t size;
} rt_asset;

/* Empty where the program was built without the web interface. */
extern const rt_asset rt_assets[];

#endif
