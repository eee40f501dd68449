/* SPDX-License-Identifier: MIT
 *
 * Keys, from their usual places: an environment variable, a private file, or the first
 * line that a command prints. A key is never shown, not even in part.
 *
 * Threads: one at a time for each call; none of them changes the environment. */
#ifndef RT_LLM_KEYS_HOST_H
#define RT_LLM_KEYS_HOST_H

#include "base/scope.h"
#include "llm/config.h"

enum {
	RT_KEY_COMMAND_MS = 10 * 1000, /* after this time the command's process group is killed */
	RT_KEY_OUTPUT_MAX = 64 << 10
};

/* Append the key for a choice; nothing if none is configured, since some servers need none.
 *
 *   configured   key_env, key_file or key_cmd of its table. The variable or file must exist.
 *   otherwise    the kind's variable (OPENAI_API_KEY …), for the kind's own server or a
 *                provider with the kind's name. A server under another name only gets a key
 *                that is configured for it.
 *
 * warnings: sentences with a line end: the file can be read by others.
 * RT_CREDENTIALS: a configured key is missing, or has characters that no key has.
 * RT_INTERRUPTED: by stop (may be NULL). RT_NOMEM. */
RT_CHECKED rt_status rt_key_find(const rt_model_choice *choice, rt_stop_fn stop, void *stop_ctx,
				 rt_buf *out, rt_buf *warnings, rt_error *err);

/* The keys that can be read without running a command: from the kinds' variables, and from the
 * variables and files of the configuration (may be NULL). Keys that cannot be read are skipped.
 * For masking them in exports. The views point into arena. RT_NOMEM. */
RT_CHECKED rt_status rt_keys_at_hand(const rt_config *config, const rt_alloc *alloc,
				     rt_arena *arena, rt_str **out, size_t *out_count,
				     rt_error *err);

/* Append the url for a choice: the configured one, else that of the kind's variable (OLLAMA_HOST,
 * OPENAI_BASE_URL) for a provider with the kind's name, else nothing (the kind's own). RT_USAGE: the variable has
 * no url. RT_NOMEM. */
RT_CHECKED rt_status rt_key_url(const rt_model_choice *choice, rt_buf *out, rt_error *err);

/* Whether a provider can be used, for lists: "key found", "no key", "needs no key", "key from command"
 * (which is not run), "invalid URL", "always available". Its url as it may be displayed is appended;
 * nothing: it has none. The choice needs no model. */
const char *rt_key_state(rt_scope *s, const rt_model_choice *choice, rt_buf *url);

#endif
