/* SPDX-License-Identifier: MIT
 *
 * The list of providers. A new one is one file here and one row in provider.c. */
#ifndef RT_LLM_PROVIDER_H
#define RT_LLM_PROVIDER_H

#include "llm/protocol.h"

extern const rt_provider rt_provider_openai, rt_provider_anthropic, rt_provider_ollama,
	rt_provider_gemini, rt_provider_builtin;

/* In the order in which people should see them; NULL after the last. */
extern const rt_provider *const rt_providers[];

/* By name, case-insensitive; NULL: unknown. */
const rt_provider *rt_provider_named(rt_str name);
/* Their names, for a sentence: "openai, anthropic, …". */
void rt_provider_add_names(rt_buf *out);

#endif
