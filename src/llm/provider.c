/* SPDX-License-Identifier: MIT */
#include "llm/provider.h"

const rt_provider *const rt_providers[] = {
	&rt_provider_openai,
	&rt_provider_anthropic,
	&rt_provider_ollama,
	&rt_provider_gemini,
	&rt_provider_builtin,
	NULL,
};

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
	size_t i;

	*out_name = model;
	for (i = 0; rt_providers[i] != NULL; i++) {
		rt_str name = rt_provider_model(rt_providers[i], model);

		if (name.size == model.size)
			continue;
		*out_name = name;
		return rt_providers[i];
	}
	return NULL;
}
