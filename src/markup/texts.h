/* SPDX-License-Identifier: MIT
 *
 * Texts: JSON strings in which hidden characters are visible (markup.h: "ctl"). */
#ifndef RT_MARKUP_TEXTS_H
#define RT_MARKUP_TEXTS_H

#include "base/text.h"

/* An array of texts being written. One thread at a time. */
typedef struct rt_texts {
	rt_buf *buf;
	bool is_open; /* within a string */
} rt_texts;

/* Append text to the array that buf ends in: to the string that is open, or a new one. */
void rt_texts_add(rt_texts *texts, rt_str text);
/* Close the string, if one is open; then anything else may be appended to buf. */
void rt_texts_end(rt_texts *texts);

/* The code point at the beginning of s, which is not empty; *out_size is how many bytes it
 * has. 0xFFFD for a byte that is not UTF-8. */
uint32_t rt_texts_decode(rt_str s, size_t *out_size);
/* Is it one that has to be marked? */
bool rt_texts_is_hidden(uint32_t code);

#endif
