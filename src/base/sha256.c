/* SPDX-License-Identifier: MIT
 *
 * SHA-256, written after FIPS 180-4: 64 rounds over each block of 64 bytes. */
#include "base/sha256.h"

#include "base/encode.h"

#include <string.h>

enum { BLOCK = 64, ROUNDS = 64, LENGTH_AT = 56 /* of the last block */ };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
turn(uint32_t x, unsigned by)
{
	return (x >> by) | (x << (32 - by));
}

static void
mix_block(rt_sha256 *sha, const uint8_t *block)
{
	uint32_t w[ROUNDS], s[8], sum, keep;
	size_t i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (; i < ROUNDS; i++)
		w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >> 3)) +
		       w[i - 7] + (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >> 10));
	memcpy(s, sha->state, sizeof(s));
	for (i = 0; i < ROUNDS; i++) {
		sum = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) +
		      ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + w[i];
		keep = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) +
		       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += sum;
		s[0] = sum + keep;
	}
	for (i = 0; i < 8; i++)
		sha->state[i] += s[i];
}

void
rt_sha256_init(rt_sha256 *sha)
{
	/* The same of the square roots of the first 8 primes. */
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(sha->state, start, sizeof(start));
	sha->size = 0;
}

void
rt_sha256_add(rt_sha256 *sha, const void *ptr, size_t size)
{
	const uint8_t *at = ptr;

	while (size > 0) {
		size_t held = (size_t)(sha->size % BLOCK), take = BLOCK - held;

		if (take > size)
			take = size;
		memcpy(sha->block + held, at, take);
		sha->size += take;
		at += take;
		size -= take;
		if (sha->size % BLOCK == 0)
			mix_block(sha, sha->block);
	}
}

void
rt_sha256_end(rt_sha256 *sha, uint8_t out[RT_SHA256_SIZE])
{
	static const uint8_t padding[BLOCK] = {0x80};
	uint64_t bits = sha->size * 8;
	size_t held = (size_t)(sha->size % BLOCK), i;
	uint8_t length[8];

	for (i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	rt_sha256_add(sha, padding, (held < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK) - held);
	rt_sha256_add(sha, length, sizeof(length));
	for (i = 0; i < RT_SHA256_SIZE; i++)
		out[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void
rt_sha256_end_hex(rt_sha256 *sha, char out[RT_SHA256_HEX_ROOM])
{
	uint8_t raw[RT_SHA256_SIZE];

	rt_sha256_end(sha, raw);
	rt_hex(raw, sizeof(raw), out);
	out[2 * RT_SHA256_SIZE] = 0;
}

void
rt_hmac_sha256(rt_str key, rt_str text, uint8_t out[RT_SHA256_SIZE])
{
	uint8_t block[BLOCK] = {0};
	rt_sha256 sha;

	rt_sha256_init(&sha);
	if (key.size > BLOCK) {
		rt_sha256_add(&sha, key.ptr, key.size);
		rt_sha256_end(&sha, block);
		rt_sha256_init(&sha);
	} else if (key.size > 0) {
		memcpy(block, key.ptr, key.size);
	}
	for (size_t i = 0; i < BLOCK; i++)
		block[i] ^= 0x36;
	rt_sha256_add(&sha, block, BLOCK);
	rt_sha256_add(&sha, text.ptr, text.size);
	rt_sha256_end(&sha, out);
	for (size_t i = 0; i < BLOCK; i++)
		block[i] ^= 0x36 ^ 0x5c;
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, block, BLOCK);
	rt_sha256_add(&sha, out, RT_SHA256_SIZE);
	rt_sha256_end(&sha, out);
	memset(block, 0, sizeof(block));
}

bool
rt_sha256_is_hex(rt_str s)
{
	for (size_t i = 0; i < s.size; i++)
		if (!((s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f')))
			return false;
	return s.size == RT_SHA256_HEX_ROOM - 1;
}
