/* SPDX-License-Identifier: MIT
 *
 * Which provider and which model a name means; and where servers are said to be. */
#include "llm/config.h"

#include "llm/builtin.h"
#include "llm/provider.h"

const rt_config_provider *
rt_config_provider_named(const rt_config *config, rt_str name)
{
	size_t i;

	for (i = 0; config != NULL && i < config->provider_count; i++)
		if (rt_str_eq(config->providers[i].name, name))
			return &config->providers[i];
	return NULL;
}

/* The provider of this name, configured or not; false: there is none. */
static bool
provider_named(const rt_config *config, rt_str name, rt_model_choice *out)
{
	const rt_config_provider *configured = rt_config_provider_named(config, name);
	const rt_provider *plain = rt_provider_named(name);

	if (configured == NULL && plain != NULL) /* it may be written in another case */
		configured = rt_config_provider_named(config, rt_str_of(plain->name));
	if (configured == NULL && plain == NULL)
		return false;
	out->config = configured;
	out->provider = configured != NULL ? configured->kind : plain;
	out->provider_name = configured != NULL ? configured->name : rt_str_of(plain->name);
	return true;
}

/* What the name of no provider was meant to be; empty: nothing near. */
static rt_str
nearest(const rt_config *config, rt_str name)
{
	rt_str best = {NULL, 0};
	size_t least = name.size < 4 ? 2 : 3, i, distance;

	for (i = 0; config != NULL && i < config->provider_count; i++) {
		distance = rt_str_distance(name, config->providers[i].name);
		if (distance < least) {
			least = distance;
			best = config->providers[i].name;
		}
	}
	for (i = 0; rt_providers[i] != NULL; i++) {
		distance = rt_str_distance(name, rt_str_of(rt_providers[i]->name));
		if (distance < least) {
			least = distance;
			best = rt_str_of(rt_providers[i]->name);
		}
	}
	return best;
}

/* The provider that makes models whose names begin so. */
static const char *
maker_of(rt_str model)
{
	static const char *const makers[][2] = {
		{"gpt-", "openai"}, {"chatgpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"},
		{"o4", "openai"}, {"claude", "anthropic"}, {"gemini", "gemini"},
		{"echo", "builtin"}, {"summary", "builtin"},
	};
	size_t i;

	for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (rt_str_starts(model, rt_str_of(makers[i][0])))
			return makers[i][1];
	return rt_str_find(model, RT_STR(":"), 0) != SIZE_MAX ? "ollama" : NULL;
}

static rt_status
fail_unknown(const rt_config *config, const char *what, rt_str name, rt_error *err)
{
	rt_buf there;
	rt_status st;
	size_t i;

	rt_buf_init(&there, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; config != NULL && i < config->provider_count; i++) {
		if (rt_provider_named(config->providers[i].name) != NULL)
			continue;
		rt_buf_add_str(&there, config->providers[i].name);
		rt_buf_add_c(&there, ", ");
	}
	rt_provider_add_names(&there);
	st = there.status != RT_OK
		     ? rt_fail(err, RT_NOT_FOUND, "%s%.*s", what, (int)rt_utf8_cut(name, 80), name.ptr)
		     : rt_fail(err, RT_NOT_FOUND, "%s%.*s; say PROVIDER/MODEL, where the providers "
			       "are %s", what, (int)rt_utf8_cut(name, 80),
			       name.size == 0 ? "" : name.ptr, there.ptr);
	rt_buf_deinit(&there);
	return st;
}

/* "PROVIDER/MODEL"; false: that is not what it is. */
static bool
split(const rt_config *config, rt_str name, rt_model_choice *out)
{
	size_t slash = rt_str_find(name, RT_STR("/"), 0);

	if (slash == SIZE_MAX || slash == 0 ||
	    !provider_named(config, rt_str_at(name.ptr, slash), out))
		return false;
	out->model = rt_str_at(name.ptr + slash + 1, name.size - slash - 1);
	return true;
}

rt_status
rt_models_choose(const rt_config *config, rt_str name, rt_model_choice *out, rt_error *err)
{
	rt_model_choice choice = {NULL, NULL, {NULL, 0}, {NULL, 0}}, usual = choice;
	bool is_usual;
	size_t slash;

	if (name.size == 0) {
		if (config == NULL || config->model.size == 0)
			return fail_unknown(config, "no model is named, and the configuration has none",
					    name, err);
		name = config->model;
	}
	if (split(config, name, &choice)) {
		if (choice.model.size == 0)
			return fail_unknown(config, "no model is named behind ", name, err);
		*out = choice;
		return RT_OK;
	}
	is_usual = config != NULL && split(config, config->model, &usual);
	slash = rt_str_find(name, RT_STR("/"), 0);
	if (slash != SIZE_MAX && slash > 0) {
		rt_str provider = rt_str_at(name.ptr, slash);

		if (!is_usual || nearest(config, provider).size > 0)
			return rt_models_check_provider(config, provider, err);
	}
	/* A model alone: of the provider that the configuration's model is of. */
	if (!is_usual) {
		const char *maker = slash == SIZE_MAX ? maker_of(name) : NULL;
		int size = (int)rt_utf8_cut(name, 80);

		if (maker != NULL)
			return rt_fail(err, RT_NOT_FOUND, "the model \"%.*s\" needs the name of its "
				       "provider in front (did you mean %s/%.*s?)", size, name.ptr,
				       maker, size, name.ptr);
		return fail_unknown(config, "there is no provider in the name of the model ", name,
				    err);
	}
	choice = usual;
	choice.model = name;
	*out = choice;
	return RT_OK;
}

rt_status
rt_models_check_setting(const rt_config *config, rt_str name, rt_error *err)
{
	rt_model_choice choice;
	rt_status st;

	if (name.size == 0)
		return rt_fail(err, RT_USAGE, "the name of the model is empty");
	st = rt_models_choose(config, name, &choice, err);
	if (st == RT_OK && choice.provider == &rt_provider_builtin)
		st = rt_builtin_check(choice.model, err);
	return st;
}

rt_status
rt_models_check_provider(const rt_config *config, rt_str name, rt_error *err)
{
	rt_model_choice ignored;
	rt_str meant = nearest(config, name);
	int size = (int)rt_utf8_cut(name, 80);
	rt_buf there;
	rt_status st;
	size_t i;

	if (provider_named(config, name, &ignored))
		return RT_OK;
	rt_buf_init(&there, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; config != NULL && i < config->provider_count; i++)
		if (rt_provider_named(config->providers[i].name) == NULL) {
			rt_buf_add_str(&there, config->providers[i].name);
			rt_buf_add_c(&there, ", ");
		}
	rt_provider_add_names(&there);
	st = rt_fail(err, RT_NOT_FOUND, "there is no provider \"%.*s\"%s%.*s%s; there are %s", size,
		     size > 0 ? name.ptr : "", meant.size > 0 ? " (did you mean " : "",
		     RT_STR_ARG(meant), meant.size > 0 ? "?)" : "",
		     there.status == RT_OK ? there.ptr : "others");
	rt_buf_deinit(&there);
	return st;
}

void
rt_config_ollama_url(rt_str host, rt_buf *out)
{
	size_t colon, first;

	host = rt_str_trim(host);
	if (host.size >= 2 && host.ptr[0] == '"' && host.ptr[host.size - 1] == '"')
		host = rt_str_at(host.ptr + 1, host.size - 2);
	if (host.size == 0)
		return;
	if (rt_str_find(host, RT_STR("://"), 0) != SIZE_MAX) {
		rt_buf_add_str(out, host);
		return;
	}
	rt_buf_add_c(out, "http://");
	first = rt_str_find(host, RT_STR(":"), 0);
	colon = first == SIZE_MAX ? first : rt_str_find(host, RT_STR(":"), first + 1);
	if (colon != SIZE_MAX && host.ptr[0] != '[') { /* an IPv6 address without brackets */
		rt_buf_add_c(out, rt_str_is(host, "::") ? "[::1]:11434" : "[");
		if (!rt_str_is(host, "::")) {
			rt_buf_add_str(out, host);
			rt_buf_add_c(out, "]:11434");
		}
		return;
	}
	if (first == 0) /* a port alone */
		rt_buf_add_c(out, "127.0.0.1");
	if (rt_str_starts(host, RT_STR("0.0.0.0")) && (host.size == 7 || first == 7)) {
		/* what a server listens to */
		rt_buf_add_c(out, "127.0.0.1");
		host = rt_str_at(host.ptr + 7, host.size - 7);
	}
	rt_buf_add_str(out, host);
	if (first == SIZE_MAX || (host.size > 0 && host.ptr[host.size - 1] == ']'))
		rt_buf_add_c(out, ":11434");
}
