/* SPDX-License-Identifier: MIT
 *
 * Part: the script and the style of the HTML export, as tools/web.py put them into the
 * program. Neither contains anything that could end the element that it is written into.
 *
 * Threads: immutable. */
#ifndef RT_FORMATS_HTML_PART_H
#define RT_FORMATS_HTML_PART_H

#include <stddef.h>

typedef struct rt_html_part {
	const unsigned char *bytes;
	size_t size;        /* 0: the program was built without it */
	const char *source; /* "'sha256-…'", its source expression in a policy */
} rt_html_part;

extern const rt_html_part rt_html_script, rt_html_math, rt_html_style;

#endif
