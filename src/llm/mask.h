/* SPDX-License-Identifier: MIT
 *
 * Mask: words of a server made fit for errors, logs and conversations: what is a key, or
 * looks like one with stars in it, becomes "[key]" as a whole.
 *
 * A key is found as it is, with any of its bytes as %XX or as JSON escapes, in base64 with
 * whatever stands before or behind it ("Bearer KEY", "user:KEY"), and shortened by the
 * server: "sk-ab***yz". */
#ifndef RT_LLM_MASK_H
#define RT_LLM_MASK_H

#include "base/text.h"

enum { RT_MASK_SECRET_MIN = 4 }; /* bytes; what is shorter is no secret */

/* text, masked, appended to out. is_cut: it may end in the middle of a key; what may be
 * the beginning of one at its end goes too. */
void rt_mask_add(rt_buf *out, rt_str text, const rt_str *secrets, size_t count, bool is_cut);

/* The words of an error, in place; they may have been cut off where they end in " ...". */
void rt_mask_error(rt_error *err, const rt_alloc *alloc, const rt_str *secrets, size_t count);

#endif
