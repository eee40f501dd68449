/* SPDX-License-Identifier: MIT
 *
 * The list of providers. A new one is one file here and one line in provider.c. */
#ifndef RT_LLM_PROVIDER_H
#define RT_LLM_PROVIDER_H

#include "chat/provider.h"

extern const rt_provider rt_provider_openai, rt_provider_anthropic, rt_provider_ollama,
	rt_provider_gemini, rt_provider_builtin;

/* In the order in which people should see them; NULL behind the last. */
extern const rt_provider *const rt_providers[];

/* By name, in any case; NULL: there is none. */
const rt_provider *rt_provider_named(rt_str name);
/* Their names, for a sentence: "openai, anthropic, …". */
void rt_provider_add_names(rt_buf *out);

/* A model as people write it, "openai/gpt-4o": the provider before the first slash and in
 * *out_name what the provider calls it. Where that is no provider's name ("llama3.2",
 * "meta/llama"), NULL and the whole. out_name borrows from model. */
const rt_provider *rt_model_split(rt_str model, rt_str *out_name);

#endif
