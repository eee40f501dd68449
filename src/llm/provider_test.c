/* SPDX-License-Identifier: MIT
 *
 * The list of providers, and models as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "llm/provider.h"

static void
by_name(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; rt_providers[i] != NULL; i++)
		assert_ptr_equal(rt_provider_named(rt_str_of(rt_providers[i]->name)), rt_providers[i]);
	assert_true(i >= 4);
	assert_ptr_equal(rt_provider_named(RT_STR("Anthropic")), rt_provider_named(RT_STR("anthropic")));
	assert_null(rt_provider_named(RT_STR("mystery")));
	assert_null(rt_provider_named(RT_STR("")));
}

static void
names_for_a_sentence(void **state)
{
	rt_buf out;

	(void)state;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_provider_add_names(&out);
	assert_true(rt_str_starts(rt_buf_str(&out), RT_STR("openai, anthropic, ollama, gemini")));
	rt_buf_deinit(&out);
}

static void
splits(const char *model, const char *provider, const char *name)
{
	rt_str rest;
	const rt_provider *found = rt_model_split(rt_str_of(model), &rest);

	assert_ptr_equal(found, provider == NULL ? NULL : rt_provider_named(rt_str_of(provider)));
	assert_true(rt_str_is(rest, name));
}

static void
models_with_their_provider(void **state)
{
	(void)state;
	splits("openai/gpt-4o", "openai", "gpt-4o");
	splits("openai/anthropic/claude", "openai", "anthropic/claude");
	splits("OpenAI/gpt-4o", "openai", "gpt-4o");
	splits("gemini/", "gemini", "");
	splits("llama3.2:1b", NULL, "llama3.2:1b");
	splits("meta/llama", NULL, "meta/llama");
	splits("/x", NULL, "/x");
	splits("openai", NULL, "openai");
	splits("", NULL, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_name),
		cmocka_unit_test(names_for_a_sentence),
		cmocka_unit_test(models_with_their_provider),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
