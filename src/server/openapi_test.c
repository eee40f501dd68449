/* SPDX-License-Identifier: MIT
 *
 * The OpenAPI document: JSON, complete, and without a dangling reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "server/openapi.h"
#include "server/route.h"

#include "codec/json.h"

typedef struct document {
	rt_buf text;
	rt_json_doc *doc;
	yyjson_val *root;
} document;

static void
document_init(document *d)
{
	rt_error err;

	rt_buf_init(&d->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_openapi_write(rt_routes, &d->text);
	assert_int_equal(d->text.status, RT_OK);
	if (rt_json_read(rt_alloc_libc(), rt_buf_str(&d->text), &d->doc, &err) != RT_OK)
		fail_msg("%s at %llu", err.text, (unsigned long long)err.at);
	d->root = rt_json_root(d->doc);
}

static void
document_deinit(document *d)
{
	rt_json_free(d->doc);
	rt_buf_deinit(&d->text);
}

static bool
is_method(rt_str name)
{
	return rt_str_is(name, "get") || rt_str_is(name, "post") || rt_str_is(name, "put") ||
	       rt_str_is(name, "patch") || rt_str_is(name, "delete");
}

/* Every parameter of the path is declared, and no other. */
static void
check_parameters(const char *path, yyjson_val *operation)
{
	yyjson_val *param;
	size_t i, max, at, declared = 0, in_path = 0;
	rt_str name;

	for (at = 0; (name = rt_route_param_name(path, at)).size > 0; at++) {
		bool found = false;

		in_path++;
		yyjson_arr_foreach(rt_json_get(operation, "parameters"), i, max, param)
			found = found ||
				(rt_str_is(rt_json_str(rt_json_get(param, "in")), "path") &&
				 rt_str_eq(rt_json_str(rt_json_get(param, "name")), name) &&
				 yyjson_is_true(rt_json_get(param, "required")));
		if (!found)
			fail_msg("%s: {%.*s} is not declared", path, RT_STR_ARG(name));
	}
	yyjson_arr_foreach(rt_json_get(operation, "parameters"), i, max, param)
		declared += rt_str_is(rt_json_str(rt_json_get(param, "in")), "path");
	assert_int_equal(declared, in_path);
}

static void
test_operations(void **state)
{
	rt_str ids[512];
	yyjson_val *path, *item, *method, *operation, *responses;
	size_t i, j, max, inner, count = 0, k, routes = 0;
	const rt_route *route;
	document d;

	(void)state;
	document_init(&d);
	assert_true(rt_str_is(rt_json_str(rt_json_get(d.root, "openapi")), "3.1.0"));
	rt_json_foreach(rt_json_get(d.root, "paths"), i, max, path, item)
	{
		assert_int_equal(yyjson_get_str(path)[0], '/');
		rt_json_foreach(item, j, inner, method, operation)
		{
			assert_true(is_method(rt_json_str(method)));
			assert_true(count < sizeof(ids) / sizeof(ids[0]));
			ids[count] = rt_json_str(rt_json_get(operation, "operationId"));
			assert_true(ids[count].size > 0);
			for (k = 0; k < count; k++)
				assert_false(rt_str_eq(ids[k], ids[count]));
			count++;
			check_parameters(yyjson_get_str(path), operation);
			responses = rt_json_get(operation, "responses");
			assert_int_equal(yyjson_obj_size(responses), 2);
			assert_non_null(rt_json_get(responses, "default"));
			assert_int_equal(yyjson_arr_size(rt_json_get(operation, "tags")), 1);
		}
	}
	for (route = rt_routes; route->path != NULL; route++)
		routes += (route->flags & RT_ROUTE_ROOT) == 0;
	assert_int_equal(count, routes);
	document_deinit(&d);
}

/* The target of "#/a/b/c"; NULL: none. */
static yyjson_val *
follow(yyjson_val *root, rt_str ref)
{
	char key[64];

	if (!rt_str_starts(ref, RT_STR("#/")))
		return NULL;
	ref = rt_str_at(ref.ptr + 2, ref.size - 2);
	while (root != NULL && ref.size > 0) {
		size_t end = rt_str_find(ref, RT_STR("/"), 0);
		size_t size = end == SIZE_MAX ? ref.size : end;

		assert_true(size < sizeof(key));
		memcpy(key, ref.ptr, size);
		key[size] = '\0';
		root = rt_json_get(root, key);
		size += end == SIZE_MAX ? 0 : 1;
		ref = rt_str_at(ref.ptr + size, ref.size - size);
	}
	return root;
}

static void
test_references(void **state)
{
	size_t at = 0, count = 0, end;
	document d;
	rt_str text, mark = RT_STR("\"$ref\":\"");

	(void)state;
	document_init(&d);
	text = rt_buf_str(&d.text);
	while ((at = rt_str_find(text, mark, at)) != SIZE_MAX) {
		rt_str ref;

		at += mark.size;
		end = rt_str_find(text, RT_STR("\""), at);
		ref = rt_str_at(text.ptr + at, end - at);
		if (follow(d.root, ref) == NULL)
			fail_msg("%.*s points to nothing", RT_STR_ARG(ref));
		count++;
	}
	assert_true(count > rt_route_count);
	document_deinit(&d);
}

static void
test_schemas(void **state)
{
	yyjson_val *schemas, *schema;
	char name[64];
	size_t i, f, required;
	document d;

	(void)state;
	document_init(&d);
	schemas = rt_json_get(rt_json_get(d.root, "components"), "schemas");
	for (i = 0; i < RT_OP_COUNT; i++) {
		snprintf(name, sizeof(name), "op.%s", rt_ops[i].name);
		schema = rt_json_get(schemas, name);
		assert_non_null(schema);
		required = 0;
		for (f = 0; rt_ops[i].fields[f].name != NULL; f++) {
			assert_non_null(rt_json_get(rt_json_get(schema, "properties"),
						    rt_ops[i].fields[f].name));
			required += rt_ops[i].fields[f].flags & RT_FIELD_REQUIRED;
		}
		assert_int_equal(yyjson_arr_size(rt_json_get(schema, "required")), required);
	}
	/* The members of a failure besides its texts. */
	schema = rt_json_get(rt_json_get(schemas, "Problem"), "properties");
	assert_non_null(rt_json_get(schema, "index"));
	assert_non_null(rt_json_get(schema, "run"));
	document_deinit(&d);
}

static void
test_docs(void **state)
{
	const rt_route *route;
	char heading[200];
	rt_buf docs;

	(void)state;
	rt_buf_init(&docs, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_api_docs_write(rt_routes, &docs);
	assert_int_equal(docs.status, RT_OK);
	assert_int_equal(rt_utf8_valid_size(rt_buf_str(&docs)), docs.size);
	assert_int_equal(docs.ptr[docs.size - 1], '\n');
	/* every parameter of a path has an example */
	for (const char *at = docs.ptr; (at = strstr(at, "$RETAKE" RT_API_ROOT)) != NULL; at++) {
		size_t size = strcspn(at, "\"\n");
		const char *empty = strstr(at, "//");

		if ((empty != NULL && empty < at + size) || at[size - 1] == '/')
			fail_msg("%.*s", (int)size, at);
	}
	for (route = rt_routes; route->path != NULL; route++) {
		if (route->flags & RT_ROUTE_ROOT)
			continue;
		snprintf(heading, sizeof(heading), "\n### `%s %s`\n",
			 rt_route_method(route->method), route->path);
		if (strstr(docs.ptr, heading) == NULL)
			fail_msg("%s is not in the page", route->path);
	}
	rt_buf_deinit(&docs);
}

/* If memory runs out after this many bytes, it fails, without other effects. */
static void
test_no_room(void **state)
{
	rt_buf buf;
	size_t limit;

	(void)state;
	for (limit = 0; limit < 40000; limit += 1777) {
		rt_buf_init(&buf, rt_alloc_libc(), limit);
		rt_openapi_write(rt_routes, &buf);
		assert_int_equal(buf.status, RT_LIMIT);
		rt_buf_deinit(&buf);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations), cmocka_unit_test(test_references),
		cmocka_unit_test(test_schemas),    cmocka_unit_test(test_docs),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
