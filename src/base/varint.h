/* SPDX-License-Identifier: MIT
 *
 * Varint: numbers with seven bits per byte, lowest first, the top bit set in all bytes but the
 * last. Signed numbers are folded first (0, -1, 1, -2 … become 0, 1, 2, 3 …). */
#ifndef RT_BASE_VARINT_H
#define RT_BASE_VARINT_H

#include "base/text.h"

void rt_buf_add_varint(rt_buf *buf, uint64_t number);
static inline uint64_t
rt_fold(int64_t number)
{
	return ((uint64_t)number << 1) ^ (uint64_t)(number < 0 ? -1 : 0);
}
static inline int64_t
rt_unfold(uint64_t number)
{
	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

/* Reads from a view; after the first error ok is false and everything read is zero. */
typedef struct rt_byte_reader {
	const unsigned char *at, *end;
	bool ok;
} rt_byte_reader;

rt_byte_reader rt_byte_reader_of(rt_str bytes);
uint64_t rt_read_varint(rt_byte_reader *reader);
unsigned char rt_read_byte(rt_byte_reader *reader);
/* A varint size, then that many bytes. */
rt_str rt_read_str(rt_byte_reader *reader);
void rt_buf_add_sized(rt_buf *buf, rt_str s);

#endif
