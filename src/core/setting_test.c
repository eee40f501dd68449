/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/setting.h"

static void
values(void **state)
{
	static const struct {
		const char *key, *json, *wants;
	} cases[] = {
		{"temperature", "0.7", NULL},	  {"temperature", "-1", NULL},
		{"temperature", "\"hot\"", "a number"}, {"temperature", "null", NULL},
		{"model", "\"m\"", NULL},	  {"model", "5", "a text"},
		{"role_map", "{}", NULL},	  {"role_map", "[]", "a JSON object"},
		{"compact_auto", "true", NULL}, {"compact_auto", "\"on\"", "true or false"},
		{"compact_reserve_tokens", "16384", NULL},
		{"compact_keep_tokens", "-5", "a whole number, 0 or more"},
		{"undo_capacity", "0", NULL},	  {"undo_capacity", "100", NULL},
		{"undo_capacity", "-1", "a whole number, 0 or more"},
		{"undo_capacity", "1.5", "a whole number, 0 or more"},
		{"undo_capacity", "\"9\"", "a whole number, 0 or more"},
		{"auto_add_history", "true", NULL}, {"auto_add_history", "1", "true or false"},
		{"edit_notices", "\"none\"", NULL}, {"edit_notices", "\"prompt\"", NULL},
		{"edit_notices", "\"all\"", NULL}, {"edit_notices", "null", NULL},
		{"edit_notices", "true", "\"none\", \"prompt\" or \"all\""},
		{"edit_notices", "\"some\"", "\"none\", \"prompt\" or \"all\""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const rt_setting *s = rt_setting_named(rt_str_of(cases[i].key));
		const char *wants;

		assert_non_null(s);
		wants = rt_setting_wants(s, rt_str_of(cases[i].json));
		if (cases[i].wants == NULL)
			assert_null(wants);
		else
			assert_string_equal(wants, cases[i].wants);
	}
	assert_null(rt_setting_named(RT_STR("temperatur")));
	assert_null(rt_setting_named(RT_STR("")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(values)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
