/* SPDX-License-Identifier: MIT
 *
 * Mask: removes known keys from text for others (a server's messages, exports). A key becomes
 * "[key]".
 *
 * A key is found in plain form, with any of its bytes as %XX or as JSON escapes, in base64 with
 * whatever is before or after it ("Bearer KEY", "user:KEY"), and shortened: "sk-ab***yz".
 *
 * Pure; any thread. */
#ifndef RT_CODEC_MASK_H
#define RT_CODEC_MASK_H

#include "base/text.h"

enum { RT_MASK_SECRET_MIN = 4 }; /* bytes; shorter secrets are ignored */

/* A secret that begins at a byte of a text. */
typedef struct rt_mask_match {
	size_t size;  /* bytes; 0: none */
	bool in_word; /* in base64: the letters before it belong to the same word */
} rt_mask_match;


/* Append text, masked. */
void rt_mask_add(rt_buf *out, rt_str text, const rt_str *secrets, size_t count, bool is_cut);

/* Mask the message of an error in place. It may have been cut off where it ends with " ...". */
void rt_mask_error(rt_error *err, const rt_alloc *alloc, const rt_str *secrets, size_t count);

/* Does the name of a header, parameter or field say that its value is a key? */
bool rt_mask_is_secret_name(rt_str name);

#endif
