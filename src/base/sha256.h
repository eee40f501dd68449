/* SPDX-License-Identifier: MIT
 *
 * Sha256: the hash function of FIPS 180-4, for detecting whether something was changed. For
 * detecting damage rt_hash is sufficient and faster. */
#ifndef RT_BASE_SHA256_H
#define RT_BASE_SHA256_H

#include "base/text.h"

enum {
	RT_SHA256_SIZE = 32,
	RT_SHA256_HEX_ROOM = 65 /* 64 lower-case digits and a NUL */
};

/* One thread at a time. */
typedef struct rt_sha256 {
	uint32_t state[8];
	uint64_t size;      /* bytes added so far */
	uint8_t block[64];  /* bytes that do not fill a block yet */
} rt_sha256;

void rt_sha256_init(rt_sha256 *sha);
void rt_sha256_add(rt_sha256 *sha, const void *ptr, size_t size);
/* Ends it; then only init may follow. */
void rt_sha256_end(rt_sha256 *sha, uint8_t out[RT_SHA256_SIZE]);
void rt_sha256_end_hex(rt_sha256 *sha, char out[RT_SHA256_HEX_ROOM]);
/* HMAC-SHA-256 (RFC 2104). */
void rt_hmac_sha256(rt_str key, rt_str text, uint8_t out[RT_SHA256_SIZE]);
/* Is it a hash as rt_sha256_end_hex writes it? */
bool rt_sha256_is_hex(rt_str s);

#endif
