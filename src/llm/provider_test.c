/* SPDX-License-Identifier: MIT
 *
 * The list of providers. */
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
	assert_true(rt_str_starts(rt_buf_str(&out), RT_STR(RT_PROVIDER_SERVERS)));
	rt_buf_deinit(&out);
}

/* The names in help are those of the table's servers. */
static void
servers_need_a_network(void **state)
{
	rt_buf out;

	(void)state;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; rt_providers[i] != NULL; i++)
		if (rt_providers[i]->url != NULL)
			rt_buf_add_f(&out, "%s%s", i > 0 ? ", " : "", rt_providers[i]->name);
	assert_true(rt_str_eq(rt_buf_str(&out), RT_STR(RT_PROVIDER_SERVERS)));
	rt_buf_deinit(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_name),
		cmocka_unit_test(names_for_a_sentence),
		cmocka_unit_test(servers_need_a_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
