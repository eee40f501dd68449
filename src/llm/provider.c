/* SPDX-License-Identifier: MIT */
#include "llm/provider.h"

const rt_provider *const rt_providers[] = {
#define ROW(name) &rt_provider_##name,
	RT_PROVIDER_TABLE(ROW, ROW, ROW) NULL,
#undef ROW
};

const rt_provider *
rt_provider_named(rt_str name)
{
	for (size_t i = 0; rt_providers[i] != NULL; i++)
		if (rt_str_eq_nocase(name, rt_str_of(rt_providers[i]->name)))
			return rt_providers[i];
	return NULL;
}

const rt_provider *
rt_provider_for(const rt_provider *provider, rt_str model)
{
	return provider == &rt_provider_builtin && rt_str_is(model, "text")
		       ? &rt_provider_builtin_text
		       : provider;
}

void
rt_provider_add_names(rt_buf *out)
{
	for (size_t i = 0; rt_providers[i] != NULL; i++)
		rt_buf_add_f(out, "%s%s", i > 0 ? ", " : "", rt_providers[i]->name);
}

const rt_provider *
rt_provider_of_export(const rt_format *format)
{
	return format->writes_sent ? &rt_provider_anthropic : NULL;
}
