/* SPDX-License-Identifier: MIT
 *
 * Formats: the list of file formats that Retake reads and writes. A new one is one file
 * with an rt_format in it and one line in formats.c. */
#ifndef RT_FORMATS_FORMATS_H
#define RT_FORMATS_FORMATS_H

#include "ops/format.h"

extern const rt_format rt_format_pi;        /* pi.c: session files of pi */
extern const rt_format rt_format_canonical; /* canonical.c: the whole state, one text for it */
extern const rt_format rt_format_openai;    /* openai.c: chat messages, fine-tuning files */
extern const rt_format rt_format_toml;      /* toml.c: project files of Manual Slop */
extern const rt_format rt_format_markdown;  /* markdown.c: for people to read */
extern const rt_format rt_format_html;      /* html.c: a page that shows everything */

/* All of them, ended by NULL; where two are equally sure of an input, the first wins. */
extern const rt_format *const rt_formats[];

/* By its name; NULL when there is none. */
const rt_format *rt_format_find(const char *name);

/* The one that is surest of the beginning of an input (at most 64 KiB of it are looked
 * at); NULL when none knows it. */
const rt_format *rt_format_sniff(rt_str head);

#endif
