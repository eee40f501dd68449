/* SPDX-License-Identifier: MIT
 *
 * Prompt templates: their variables, and their texts with values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "app/template.h"

/* The variables are a, b … in their order; values: "1", "2" …, NULL: none. */
static void
fills(const char *text, const char *names, const char *value, const char *wanted)
{
	rt_template_variables all;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_buf *found = rt_scope_buf(&s), *out = rt_scope_buf(&s);
	rt_template_read(&s, rt_str_of(text), &all);
	for (size_t i = 0; i < all.count; i++) {
		rt_buf_add_c(found, i > 0 ? " " : "");
		rt_buf_add_str(found, all.items[i].name);
		all.items[i].value = rt_str_of(value);
	}
	rt_template_fill(rt_str_of(text), &all, out);
	rt_buf_add_byte(found, '\0'); /* also if nothing was added */
	rt_buf_add_byte(out, '\0');
	assert_string_equal(found->ptr, names);
	assert_string_equal(out->ptr, wanted);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
}

static void
test_fill(void **state)
{
	(void)state;
	fills("plain", "", "v", "plain");
	fills("{{a}}", "a", "v", "v");
	fills("x {{ a }} y {{b-2}} {{a}}.", "a b-2", "v", "x v y v v.");
	fills("{{a}} stays", "a", NULL, "{{a}} stays");
	/* values are not expanded again */
	fills("{{a}}{{b}}", "a b", "{{b}}", "{{b}}{{b}}");
	/* no variables */
	fills("{{}} {{ }} {{a b}} {{<i>}} {a} {{a", "", "v", "{{}} {{ }} {{a b}} {{<i>}} {a} {{a");
	fills("{{{a}}}", "a", "v", "{v}");
	fills("{{\n{{a}}", "a", "v", "{{\nv");
}

static void
test_names(void **state)
{
	(void)state;
	assert_true(rt_template_name_is_legal(RT_STR("code-review_2")));
	assert_false(rt_template_name_is_legal(RT_STR("")));
	assert_false(rt_template_name_is_legal(RT_STR("a b")));
	assert_false(rt_template_name_is_legal(RT_STR("a/b")));
	assert_false(rt_template_name_is_legal(RT_STR("\033[2J")));
	assert_false(rt_template_name_is_legal(RT_STR("<b>")));
	assert_false(rt_template_name_is_legal(
		RT_STR("a2345678901234567890123456789012345678901")));
}

static void
test_many(void **state)
{
	rt_template_variables all;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	rt_buf *text = rt_scope_buf(&s);
	for (int i = 0; i <= RT_TEMPLATE_VARIABLES_MAX; i++)
		rt_buf_add_f(text, "{{v%d}}", i);
	rt_template_read(&s, rt_scope_str(&s, text), &all);
	assert_int_equal(rt_scope_end(&s, NULL), RT_LIMIT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
