/* SPDX-License-Identifier: MIT
 *
 * Numbers below 2^20 are permuted among themselves and written with four digits of base 32; all
 * others with eight. A short id may be the beginning of a long one: exact matches go before
 * prefixes.
 *
 * The permutation is four rounds of a balanced Feistel network over 20 or 40 bits. */
#include "core/id.h"

#include "base/hash.h"

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

enum { SMALL_BITS = 20, LARGE_BITS = 40, ROUNDS = 4 };

static uint64_t
permute(uint64_t x, unsigned bits, uint64_t salt, bool back)
{
	unsigned half = bits / 2, i;
	uint64_t mask = ((uint64_t)1 << half) - 1, left = x >> half, right = x & mask;

	for (i = 0; i < ROUNDS; i++) {
		unsigned round = back ? ROUNDS - 1 - i : i;
		uint64_t old;

		if (!back) {
			old = right;
			right = left ^ (rt_hash_u64(right + salt + round * 0x51ED270B9u) & mask);
			left = old;
		} else {
			old = left;
			left = right ^ (rt_hash_u64(left + salt + round * 0x51ED270B9u) & mask);
			right = old;
		}
	}
	return left << half | right;
}

size_t
rt_id_of(uint64_t salt, uint32_t number, char out[RT_ID_TEXT_MAX])
{
	unsigned bits = number < (1u << SMALL_BITS) ? SMALL_BITS : LARGE_BITS;
	uint64_t x = permute(number, bits, salt, false);
	size_t size = bits / 5, i;

	for (i = size; i > 0; i--) {
		out[i - 1] = digits[x & 31];
		x >>= 5;
	}
	return size;
}

static int
digit_of(char c)
{
	const char *hit = c == '\0' ? NULL : strchr(digits, c);

	return hit == NULL ? -1 : (int)(hit - digits);
}

uint32_t
rt_id_number(uint64_t salt, rt_str id)
{
	unsigned bits = id.size == SMALL_BITS / 5 ? SMALL_BITS : LARGE_BITS;
	uint64_t x = 0;
	size_t i;

	if (id.size != SMALL_BITS / 5 && id.size != LARGE_BITS / 5)
		return 0;
	for (i = 0; i < id.size; i++) {
		int digit = digit_of(id.ptr[i]);

		if (digit < 0)
			return 0;
		x = x << 5 | (uint64_t)digit;
	}
	x = permute(x, bits, salt, true);
	if (bits == LARGE_BITS && (x < (1u << SMALL_BITS) || x > UINT32_MAX))
		return 0;
	return (uint32_t)x;
}

void
rt_id_prefixed(uint64_t salt, rt_str prefix, uint32_t last,
	       bool (*fn)(void *ctx, uint32_t number), void *ctx)
{
	uint32_t number;
	char id[RT_ID_TEXT_MAX];
	size_t i;
	uint64_t span = 1, base = 0;

	for (i = 0; i < prefix.size; i++)
		if (digit_of(prefix.ptr[i]) < 0)
			return;
	/* Short ids: all completions of the prefix, when they are fewer than the numbers. */
	if (prefix.size <= SMALL_BITS / 5) {
		uint32_t small = last < (1u << SMALL_BITS) ? last : (1u << SMALL_BITS) - 1;

		for (i = 0; i < SMALL_BITS / 5; i++) {
			if (i < prefix.size)
				base = base << 5 | (uint64_t)digit_of(prefix.ptr[i]);
			else {
				base <<= 5;
				span <<= 5;
			}
		}
		if (span < small) {
			uint64_t x;

			for (x = base; x < base + span; x++) {
				number = (uint32_t)permute(x, SMALL_BITS, salt, true);
				if (number >= 1 && number <= small && !fn(ctx, number))
					return;
			}
		} else {
			for (number = 1; number <= small; number++) {
				size_t size = rt_id_of(salt, number, id);

				if (rt_str_starts(rt_str_at(id, size), prefix) && !fn(ctx, number))
					return;
			}
		}
	}
	for (number = 1u << SMALL_BITS; number <= last && number != 0; number++) {
		size_t size = rt_id_of(salt, number, id);

		if (rt_str_starts(rt_str_at(id, size), prefix) && !fn(ctx, number))
			return;
	}
}

bool
rt_id_is_legal(rt_str id)
{
	size_t i;

	if (id.size == 0 || id.size > RT_ID_MAX)
		return false;
	for (i = 0; i < id.size; i++) {
		char c = id.ptr[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      c == '.' || c == '_' || c == '~' || c == '-'))
			return false;
	}
	return true;
}
