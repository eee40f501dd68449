/* SPDX-License-Identifier: MIT
 *
 * The table of routes: its invariants, and the matching of paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "server/api.h"
#include "server/route.h"
#include "server/openapi.h"

static const rt_route *
find(rt_web_method method, const char *path, rt_str params[RT_ROUTE_PARAMS])
{
	const rt_route *route = NULL;
	char allow[64];

	return rt_route_find(rt_all_routes, method, rt_str_of(path), &route, params, allow) == RT_ROUTE_FOUND
		       ? route
		       : NULL;
}

static void
test_find(void **state)
{
	rt_str params[RT_ROUTE_PARAMS];
	const rt_route *route;

	(void)state;
	route = find(RT_WEB_GET, "/retake/v1/discussions/a%2Fb/entries/%3A7", params);
	assert_non_null(route);
	assert_string_equal(route->name, "entry.show");
	assert_true(rt_str_is(params[0], "a%2Fb"));
	assert_true(rt_str_is(params[1], "%3A7"));
	assert_null(params[2].ptr);
	assert_true(rt_str_is(rt_route_param_name(route->path, 0), "discussion"));
	assert_true(rt_str_is(rt_route_param_name(route->path, 1), "entry"));
	assert_int_equal(rt_route_param_name(route->path, 2).size, 0);
	/* a word takes precedence over a parameter */
	route = find(RT_WEB_POST, "/retake/v1/discussions/d1/entries/insert", params);
	assert_string_equal(route->name, "entry.insert");
	route = find(RT_WEB_PATCH, "/retake/v1/discussions/d1/entries/insert", params);
	assert_string_equal(route->name, "entry.patch");
}

static void
test_not_found(void **state)
{
	static const char *const unknown[] = {"",
					      "/",
					      "/retake/v1",
					      "/retake/v1/",
					      "/retake/v2/info",
					      "/info",
					      "/retake/v1info",
					      "/retake/v1/info/",
					      "/retake/v1//info",
					      "/retake/v1/inf",
					      "/retake/v1/discussions//entries",
					      "/retake/v1/discussions/a/entries/b/c"};
	static const char *const bad[] = {"/retake/v1/discussions/%", "/retake/v1/discussions/%4",
					  "/retake/v1/discussions/%zz",
					  "/retake/v1/discussions/%00", "/%"};
	rt_str params[RT_ROUTE_PARAMS];
	const rt_route *route;
	char allow[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_int_equal(
			rt_route_find(rt_all_routes, RT_WEB_GET, rt_str_of(unknown[i]), &route, params, allow),
			RT_ROUTE_UNKNOWN);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
			rt_route_find(rt_all_routes, RT_WEB_GET, rt_str_of(bad[i]), &route, params, allow),
			RT_ROUTE_BAD);
	assert_int_equal(rt_route_find(rt_all_routes, RT_WEB_PUT, RT_STR("/retake/v1/discussions/d1"), &route,
				       params, allow),
			 RT_ROUTE_OTHER_METHOD);
	assert_string_equal(allow, "GET, PATCH, DELETE");
	assert_int_equal(
		rt_route_find(rt_all_routes, RT_WEB_OTHER, RT_STR("/retake/v1/info"), &route, params, allow),
		RT_ROUTE_OTHER_METHOD);
	assert_string_equal(allow, "GET");
}

/* A path that fits the route's pattern, with a value for each parameter. */
static void
fill(const rt_route *route, char *out, size_t room)
{
	const char *pattern = route->path;
	bool is_root = (route->flags & RT_ROUTE_ROOT) != 0;
	size_t size = (size_t)snprintf(out, room, "%s", is_root ? "" : RT_API_ROOT);

	for (; *pattern != '\0' && size + 2 < room; pattern++) {
		out[size++] = *pattern == '{' ? 'x' : *pattern;
		if (*pattern == '{')
			pattern += strcspn(pattern, "}");
	}
	out[size] = '\0';
}

static void
test_table(void **state)
{
	const rt_route *route, *other;
	rt_str params[RT_ROUTE_PARAMS];
	char path[256];
	size_t i, count = 0;

	(void)state;
	for (route = rt_routes; route->path != NULL; route++, count++) {
		const rt_op *op = route->op >= 0 ? &rt_ops[route->op] : NULL;

		assert_int_equal(route->path[0], '/');
		assert_true(strlen(route->about) > 3);
		assert_non_null(rt_openapi_noun_of(route));
		assert_true(route->answer == NULL || rt_shape_named(route->answer) != NULL);
		for (other = rt_routes; other < route; other++)
			assert_string_not_equal(other->name, route->name);
		/* no row hides another one */
		fill(route, path, sizeof(path));
		if (find(route->method, path, params) != route)
			fail_msg("%s is never found", route->path);
		if (route->fn == NULL && op == NULL)
			fail_msg("%s has neither a handler nor an operation", route->name);
		if (op != NULL && (route->flags & RT_ROUTE_CHANGES) == 0)
			fail_msg("%s is an operation, and changes nothing?", route->name);
		if (route->method == RT_WEB_GET && (route->flags & RT_ROUTE_CHANGES) != 0)
			fail_msg("%s is a GET that changes something", route->name);
		for (i = 0; op != NULL && i < RT_ROUTE_PARAMS; i++) {
			rt_str name = rt_route_param_name(route->path, i);

			if (name.size > 0 && !rt_str_is(name, "discussion") &&
			    !rt_str_is(name, "take") && rt_op_field_named(op, name) == NULL)
				fail_msg("%s: {%.*s} is no field of %s", route->path,
					 RT_STR_ARG(name), op->name);
		}
		assert_int_equal(rt_route_param_name(route->path, RT_ROUTE_PARAMS).size, 0);
	}
	assert_int_equal(count, rt_route_count);
}

static void
test_every_operation(void **state)
{
	rt_buf docs;
	char heading[64];
	size_t i;

	(void)state;
	rt_buf_init(&docs, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_api_docs_write(rt_routes, &docs);
	assert_int_equal(docs.status, RT_OK);
	for (i = 0; i < RT_OP_COUNT; i++) {
		snprintf(heading, sizeof(heading), "| `%s`: ", rt_ops[i].name);
		if (strstr(docs.ptr, heading) == NULL)
			fail_msg("%s is not in the list of operations", rt_ops[i].name);
	}
	rt_buf_deinit(&docs);
}

static void
test_encode(void **state)
{
	rt_buf buf;

	(void)state;
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_route_encode(&buf, RT_STR("a b/\xc3\xa9?~-._"));
	assert_true(rt_str_is(rt_buf_str(&buf), "a%20b%2F%C3%A9%3F~-._"));
	rt_buf_deinit(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),   cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_table),  cmocka_unit_test(test_every_operation),
		cmocka_unit_test(test_encode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
