/* SPDX-License-Identifier: MIT
 *
 * Inflate: zlib's decompression, loaded when it is first needed. */
#ifndef RT_IMPORTERS_INFLATE_H
#define RT_IMPORTERS_INFLATE_H

#include "base/scope.h"

typedef struct rt_inflate rt_inflate;

/* NULL: the scope has failed. Closed with the scope. */
rt_inflate *rt_inflate_new(rt_scope *s);
void rt_inflate_again(rt_inflate *z); /* from the beginning of the data */
/* Decompresses from *in, which is moved, to `to`; returns the number of bytes. *out_is_end: the data
 * has ended. False: it is damaged. */
bool rt_inflate_some(rt_inflate *z, rt_str *in, char *to, size_t room, size_t *out_size,
		     bool *out_is_end);
/* The checksum of more bytes; begins as 0. */
uint32_t rt_inflate_crc(const rt_inflate *z, uint32_t crc, const char *bytes, size_t size);

#endif
