/* SPDX-License-Identifier: MIT
 *
 * Files of token ranks: NAME.tiktoken, searched in
 *
 *   RETAKE_TOKENS                      if it is set; then nowhere else
 *   PROGRAM/tokens                     next to the running program
 *   PROGRAM/../share/retake/tokens     of an unpacked package or archive
 *   the folder that this build installs them to
 *
 * Threads: one at a time for each call; the environment is read. */
#ifndef RT_LLM_TOKENS_HOST_H
#define RT_LLM_TOKENS_HOST_H

#include "llm/tokens.h"

/* Load the ranks of an encoding. *out NULL, and RT_OK: there is no file, so counts are estimates;
 * the same for a file that differs from the published one, and then warnings gets a sentence with a
 * line end. RT_NOMEM. Cost: about 45 ms for o200k_base. */
RT_CHECKED rt_status rt_tokens_load(const rt_alloc *alloc, const rt_token_encoding *encoding,
				    rt_tokens **out, rt_buf *warnings, rt_error *err);

#endif
