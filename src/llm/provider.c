/* SPDX-License-Identifier: MIT */
#include "llm/provider.h"

static const rt_provider openai = {.name = "openai"};
static const rt_provider anthropic = {.name = "anthropic"};
static const rt_provider ollama = {.name = "ollama"};
static const rt_provider gemini = {.name = "gemini"};

const rt_provider *const rt_providers[] = {&openai, &anthropic, &ollama, &gemini, NULL};

const rt_provider *
rt_provider_named(rt_str name)
{
	size_t i;

	for (i = 0; rt_providers[i] != NULL; i++)
		if (rt_str_eq_nocase(name, rt_str_of(rt_providers[i]->name)))
			return rt_providers[i];
	return NULL;
}

void
rt_provider_add_names(rt_buf *out)
{
	size_t i;

	for (i = 0; rt_providers[i] != NULL; i++) {
		if (i > 0)
			rt_buf_add_c(out, ", ");
		rt_buf_add_c(out, rt_providers[i]->name);
	}
}

const rt_provider *
rt_model_split(rt_str model, rt_str *out_name)
{
	size_t slash = rt_str_find(model, RT_STR("/"), 0);
	const rt_provider *provider = NULL;

	*out_name = model;
	if (slash != SIZE_MAX)
		provider = rt_provider_named(rt_str_at(model.ptr, slash));
	if (provider != NULL)
		*out_name = rt_str_at(model.ptr + slash + 1, model.size - slash - 1);
	return provider;
}
