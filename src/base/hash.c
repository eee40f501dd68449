/* SPDX-License-Identifier: MIT
 *
 * Four lanes of multiply and rotate over 32-byte blocks, then the tail, then a mix.
 * Little-endian loads by memcpy; a big-endian machine swaps. */
#include "base/hash.h"

#include <string.h>

#define K1 0x9E3779B185EBCA87u
#define K2 0xC2B2AE3D27D4EB4Fu
#define K3 0x165667B19E3779F9u

static uint64_t
load64(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static uint64_t
rotate(uint64_t x, unsigned by)
{
	return (x << by) | (x >> (64 - by));
}

static uint64_t
lane(uint64_t sum, uint64_t word)
{
	return rotate(sum + word * K2, 31) * K1;
}

uint64_t
rt_hash(const void *ptr, size_t size, uint64_t seed)
{
	const unsigned char *p = ptr;
	uint64_t sum = seed + K3 + (uint64_t)size;
	size_t left = size;

	if (left >= 32) {
		uint64_t a = seed + K1 + K2, b = seed + K2, c = seed, d = seed - K1;

		while (left >= 32) {
			a = lane(a, load64(p));
			b = lane(b, load64(p + 8));
			c = lane(c, load64(p + 16));
			d = lane(d, load64(p + 24));
			p += 32;
			left -= 32;
		}
		sum += rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
		sum = (sum ^ lane(0, a)) * K1 + K3;
		sum = (sum ^ lane(0, b)) * K1 + K3;
		sum = (sum ^ lane(0, c)) * K1 + K3;
		sum = (sum ^ lane(0, d)) * K1 + K3;
	}
	while (left >= 8) {
		sum = rotate(sum ^ lane(0, load64(p)), 27) * K1 + K3;
		p += 8;
		left -= 8;
	}
	while (left > 0) {
		sum = rotate(sum ^ (*p * K3), 11) * K1;
		p++;
		left--;
	}
	return rt_hash_u64(sum);
}
