/* SPDX-License-Identifier: MIT
 *
 * Hash: a fast 64-bit checksum, the same on every machine. For detecting damage and for hash
 * tables, not for security. */
#ifndef RT_BASE_HASH_H
#define RT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t rt_hash(const void *ptr, size_t size, uint64_t seed);

/* Mixes one number: every input bit changes about half of the output bits. */
static inline uint64_t
rt_hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9E3779B97F4A7C15u;
	x ^= x >> 29;
	x *= 0xBF58476D1CE4E5B9u;
	x ^= x >> 32;
	return x;
}

#endif
