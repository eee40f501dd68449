/* SPDX-License-Identifier: MIT
 *
 * Keys: where they are, asked of the system: an environment variable, a private file, or
 * the first line that a command says. A key is never shown, not even in part.
 *
 * Threads: one at a time for each call; none of them changes the environment. */
#ifndef RT_LLM_KEYS_HOST_H
#define RT_LLM_KEYS_HOST_H

#include "llm/config.h"

enum {
	RT_KEY_COMMAND_MS = 10 * 1000, /* then the command's process group is killed */
	RT_KEY_OUTPUT_MAX = 64 << 10
};

/* The key for what was chosen, appended to out; nothing where there is none (which is fine
 * for a server that needs none).
 *
 *   configured   key_env, key_file or key_cmd of its table. What they name must be there.
 *   otherwise    the family's variable (OPENAI_API_KEY …), for its own server or one that
 *                goes by the family's name. A server under another name gets only a key
 *                that was given to it.
 *
 * warnings: sentences for people, each with a line end: that others may read the file.
 * RT_CREDENTIALS: there should be a key and is none, or it has characters that no key has.
 * RT_INTERRUPTED: stop (or NULL) said so. RT_NOMEM. */
RT_CHECKED rt_status rt_key_find(const rt_model_choice *choice, rt_stop_fn stop, void *stop_ctx,
				 rt_buf *out, rt_buf *warnings, rt_error *err);

/* The keys that are at hand without running a command: in the variables of the families, and
 * in the variables and private files of the configuration (or NULL). For keeping them out of
 * what goes out; those that cannot be read are passed over. Views into arena; no name stands
 * beside them. RT_NOMEM. */
RT_CHECKED rt_status rt_keys_at_hand(const rt_config *config, const rt_alloc *alloc,
				     rt_arena *arena, rt_str **out, size_t *out_count,
				     rt_error *err);

/* The url for what was chosen, appended to out: the configured one, else OLLAMA_HOST or
 * OPENAI_BASE_URL where the family is the one that listens to it and goes by its own name,
 * else nothing: the family's own. */
RT_CHECKED rt_status rt_key_url(const rt_model_choice *choice, rt_buf *out, rt_error *err);

#endif
