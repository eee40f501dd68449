/* SPDX-License-Identifier: MIT
 *
 * The table of providers. A new one is one file here, which defines rt_provider_NAME, and one row
 * in RT_PROVIDER_TABLE. */
#ifndef RT_LLM_PROVIDER_H
#define RT_LLM_PROVIDER_H

#include "llm/protocol.h"
#include "ops/format.h"

/* In the order of display. FIRST and SERVER: reached over the network;
 * LOCAL: part of Retake. */
#define RT_PROVIDER_TABLE(FIRST, SERVER, LOCAL) \
	FIRST(openai) \
	SERVER(anthropic) \
	SERVER(ollama) \
	SERVER(gemini) \
	LOCAL(builtin)

#define RT_PROVIDER_DECLARE(name) extern const rt_provider rt_provider_##name;
RT_PROVIDER_TABLE(RT_PROVIDER_DECLARE, RT_PROVIDER_DECLARE, RT_PROVIDER_DECLARE)
#undef RT_PROVIDER_DECLARE

/* builtin for its model "text"; not in the table. */
extern const rt_provider rt_provider_builtin_text;

/* A literal with the names of the servers: "openai, anthropic, …". */
#define RT_PROVIDER_FIRST_NAME(name) #name
#define RT_PROVIDER_NEXT_NAME(name)  ", " #name
#define RT_PROVIDER_NO_NAME(name)
#define RT_PROVIDER_SERVERS \
	RT_PROVIDER_TABLE(RT_PROVIDER_FIRST_NAME, RT_PROVIDER_NEXT_NAME, RT_PROVIDER_NO_NAME)

/* The table; NULL after the last. */
extern const rt_provider *const rt_providers[];

/* By name, case-insensitive; NULL: unknown. */
const rt_provider *rt_provider_named(rt_str name);
/* The same provider as it accepts requests for this model: builtin/text accepts no images. */
const rt_provider *rt_provider_for(const rt_provider *provider, rt_str model);
/* Their names, for a sentence: "openai, anthropic, …". */
void rt_provider_add_names(rt_buf *out);
/* In whose form an export contains the last request; NULL: this format has none. */
const rt_provider *rt_provider_of_export(const rt_format *format);

#endif
