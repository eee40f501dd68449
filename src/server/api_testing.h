/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of the API: a project in a store in memory, and requests that are answered
 * like in the server, without sockets. */
#ifndef RT_SERVER_API_TESTING_H
#define RT_SERVER_API_TESTING_H

#include "log/engine_testing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/access.h"
#include "server/api.h"
#include "server/route.h"
#include "server/idempotency.h"
#include "server/run_json.h"
#include "app/condition.h"
#include "store/store_memory.h"
#include "store/store_open.h"

enum { HEADERS_MAX = 6 };

static int64_t clock_us;

static inline int64_t
now(void *ctx)
{
	(void)ctx;
	return clock_us;
}

typedef struct fixture {
	rt_env env;
	uint64_t random;
	rt_store *store;
	rt_project_pool *pool;
	rt_open_project *open_project;
	rt_web_field headers[HEADERS_MAX];
	size_t header_count;
	bool needs_match;
	const rt_alloc *alloc; /* of requests */
	bool is_short;         /* of memory: requests that cannot be answered are ignored */
	/* of a server with accounts; the directory NULL: it has none */
	rt_directory *directory;
	rt_account account;
	const char *project;
	/* of the last request */
	rt_arena *arena;
	rt_web_answer answer;
	rt_json_doc *doc; /* of its body, if that is JSON */
	yyjson_val *root;
	char etag[RT_ETAG_ROOM];
} fixture;

static inline void
open_pool(fixture *f)
{
	rt_project_pool_options options = {.alloc = rt_alloc_libc(),
					   .env = &f->env,
					   .store = f->store,
					   .project = RT_STR("work"),
					   .owner = RT_STR("test"),
					   .model = RT_STR("builtin/echo")};
	rt_error err = {0};

	if (rt_project_pool_open(&options, &f->pool, &err) != RT_OK ||
	    rt_project_pool_project(f->pool, RT_STR(""), true, &f->open_project, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static inline void
forget(fixture *f)
{
	if (f->answer.stream != NULL)
		f->answer.stream->ops->close(f->answer.stream);
	rt_json_free(f->doc);
	f->doc = NULL;
	f->root = NULL;
	if (f->arena != NULL)
		rt_buf_deinit(&f->answer.body);
	rt_arena_free(f->arena);
	f->arena = NULL;
	memset(&f->answer, 0, sizeof(f->answer));
}

/* In memory, or at the address RETAKE_TEST_STORE, where row-level security compares with the real time. */
static inline void
open_store(fixture *f)
{
	const char *address = getenv("RETAKE_TEST_STORE");
	rt_error err;

	if (address == NULL || *address == '\0') {
		assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &f->env, &f->store, NULL), RT_OK);
		return;
	}
	clock_us = (int64_t)time(NULL) * 1000000;
	if (rt_store_open(rt_alloc_libc(), &f->env, address, &(rt_store_options){.create = true, .relaxed = true},
			  &f->store, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static inline int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	clock_us = 1700000000000000;
	f->alloc = rt_alloc_libc();
	f->random = 7;
	f->env = (rt_env){now, env_random, &f->random};
	open_store(f);
	open_pool(f);
	*state = f;
	return 0;
}

static inline int
tear_down(void **state)
{
	fixture *f = *state;

	forget(f);
	rt_project_pool_close(f->pool);
	f->store->ops->close(f->store);
	test_free(f);
	return 0;
}

static inline rt_web_method
method_of(const char *name)
{
	static const char *const names[] = {"", "GET", "POST", "PUT", "PATCH", "DELETE"};
	int i;

	for (i = RT_WEB_GET; i <= RT_WEB_DELETE; i++)
		if (strcmp(name, names[i]) == 0)
			return (rt_web_method)i;
	return RT_WEB_OTHER;
}

/* A header of the next request. */
static inline void
with(fixture *f, const char *name, const char *value)
{
	assert_true(f->header_count < HEADERS_MAX);
	f->headers[f->header_count++] = (rt_web_field){rt_str_of(name), rt_str_of(value)};
}

static inline void
read_answer(fixture *f)
{
	const rt_web_answer *answer = &f->answer;
	rt_error err;
	size_t i;

	assert_int_equal(answer->body.status, RT_OK);
	f->etag[0] = '\0';
	for (i = 0; i < answer->header_count; i++)
		if (rt_str_is(answer->headers[i].name, "ETag"))
			snprintf(f->etag, sizeof(f->etag), "%.*s",
				 RT_STR_ARG(answer->headers[i].value));
	if (answer->type == NULL || strstr(answer->type, "json") == NULL ||
	    strstr(answer->type, "ndjson") != NULL)
		return;
	if (rt_json_read(rt_alloc_libc(), rt_buf_str(&answer->body), &f->doc, &err) != RT_OK)
		fail_msg("%s: %.*s", err.text, RT_STR_ARG(rt_buf_str(&answer->body)));
	f->root = rt_json_root(f->doc);
	if (answer->status >= 400) {
		assert_string_equal(answer->type, "application/problem+json");
		assert_non_null(rt_json_get(f->root, "type"));
		assert_non_null(rt_json_get(f->root, "title"));
	}
}

/* Routes and answers like the server. Returns the status. */
static inline unsigned
ask(fixture *f, const char *method, const char *target, const char *body)
{
	rt_web_request request;
	rt_call call;
	rt_route_found found;
	const rt_route *route = NULL;
	rt_str params[RT_ROUTE_PARAMS], all = rt_str_of(target);
	size_t question = rt_str_find(all, RT_STR("?"), 0), i;
	char allow[64];

	forget(f);
	f->arena = rt_arena_new(rt_alloc_libc());
	memset(&request, 0, sizeof(request));
	request.alloc = f->alloc;
	request.arena = f->arena;
	request.method = method_of(method);
	request.method_name = rt_str_of(method);
	request.target = all;
	request.path = rt_str_at(target, question == SIZE_MAX ? all.size : question);
	if (question != SIZE_MAX)
		request.query = rt_str_at(target + question + 1, all.size - question - 1);
	request.headers = f->headers;
	request.header_count = f->header_count;
	request.body = rt_str_of(body);
	rt_buf_init(&f->answer.body, f->alloc, RT_BUF_UNLIMITED);
	memset(&call, 0, sizeof(call));
	found = rt_route_find(rt_all_routes, request.method, request.path, &route, params, allow);
	if (found != RT_ROUTE_FOUND) {
		f->header_count = 0;
		return found == RT_ROUTE_BAD ? 400 : found == RT_ROUTE_UNKNOWN ? 404 : 405;
	}
	call.route = route;
	call.routes = rt_routes;
	call.request = &request;
	call.answer = &f->answer;
	call.pool = f->pool;
	call.open_project = (route->flags & RT_ROUTE_NO_PROJECT) != 0 ? NULL : f->open_project;
	call.principal.kind = RT_PRINCIPAL_TOKEN;
	call.principal.account.kind = RT_ACCOUNT_MACHINE;
	call.is_authorized = true;
	if (f->directory != NULL) {
		call.directory = f->directory;
		call.principal.account = f->account;
		call.open_project = NULL;
		call.is_authorized = false;
	}
	call.needs_match = f->needs_match;
	for (i = 0; i < RT_ROUTE_PARAMS; i++)
		if (params[i].ptr != NULL)
			assert_true(rt_web_decode(&request, params[i], false, &call.params[i]));
	if (f->directory != NULL)
		rt_access_answer(&call, rt_str_of(f->project), false);
	else
		rt_call_answer(&call);
	f->header_count = 0;
	if (f->answer.status == 0)
		fail_msg("%s %s is not answered", method, target);
	if (!f->is_short)
		read_answer(f);
	return f->answer.status;
}

static inline void
expect(fixture *f, unsigned status, const char *method, const char *target, const char *body)
{
	unsigned got = ask(f, method, target, body);

	if (got != status)
		fail_msg("%s %s: %u, not %u: %.*s", method, target, got, status,
			 RT_STR_ARG(rt_buf_str(&f->answer.body)));
}

#define V1 "/retake/v1"
#define D V1 "/discussions/d1"

static inline rt_str
text_at(fixture *f, const char *key)
{
	return rt_json_str(rt_json_get(f->root, key));
}

static inline uint64_t
number_at(fixture *f, const char *key)
{
	uint64_t number = UINT64_MAX;

	(void)rt_json_u64(rt_json_get(f->root, key), &number);
	return number;
}

static inline rt_str
header_of(fixture *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->answer.header_count; i++)
		if (rt_str_is(f->answer.headers[i].name, name))
			return f->answer.headers[i].value;
	return rt_str_at(NULL, 0);
}

static inline void
assert_header(fixture *f, const char *name, const char *expected)
{
	rt_str found = header_of(f, name);

	if (!rt_str_is(found, expected))
		fail_msg("%s: %.*s", name, RT_STR_ARG(found));
}

/* The present text of an entry. */
static inline void
assert_content(fixture *f, const char *target, const char *content)
{
	expect(f, 200, "GET", target, NULL);
	if (!rt_str_is(text_at(f, "content"), content))
		fail_msg("%s is %.*s", target, RT_STR_ARG(text_at(f, "content")));
}

/* Four entries a, b, c, d; the label start on b. */
static inline void
tell(fixture *f)
{
	expect(f, 200, "POST", D "/batch",
	       "{\"ops\":["
	       "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"User\",\"content\":\"one\"},"
	       "{\"op\":\"entry.append\",\"id\":\"b\",\"role\":\"AI\",\"content\":\"two\"},"
	       "{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"User\",\"content\":\"three\"},"
	       "{\"op\":\"entry.append\",\"id\":\"d\",\"role\":\"AI\",\"content\":\"four words\"},"
	       "{\"op\":\"label.set\",\"entry\":\"b\",\"label\":\"start\"}]}");
}

static inline uint64_t
head_seq(fixture *f)
{
	expect(f, 200, "GET", D, NULL);
	return number_at(f, "seq");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
