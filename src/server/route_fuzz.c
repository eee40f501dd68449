/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a method and a target: a matching route has its parameters in the path, and queries
 * are decoded within their bounds. The first byte is the method. */
#include "server/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
look_at_query(const rt_web_request *request, const rt_route *route)
{
	const rt_route_param *param = route->query;
	rt_str value;

	for (; param != NULL && param->name != NULL; param++)
		if (rt_web_query(request, param->name, &value)) {
			RT_ASSERT(value.size <= request->query.size);
			RT_ASSERT(rt_utf8_valid_size(value) == value.size);
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rt_str target = rt_str_at((const char *)data + 1, size > 0 ? size - 1 : 0);
	size_t question = rt_str_find(target, RT_STR("?"), 0), i;
	rt_str params[RT_ROUTE_PARAMS], decoded;
	rt_web_request request;
	const rt_route *route = NULL;
	rt_route_found found;
	char allow[64];

	if (size == 0)
		return 0;
	memset(&request, 0, sizeof(request));
	request.alloc = rt_alloc_libc();
	request.arena = rt_arena_new(request.alloc);
	request.path = rt_str_at(target.ptr, question == SIZE_MAX ? target.size : question);
	if (question != SIZE_MAX)
		request.query = rt_str_at(target.ptr + question + 1, target.size - question - 1);
	request.method = (rt_web_method)(data[0] % (RT_WEB_DELETE + 1));
	found = rt_route_find(rt_all_routes, request.method, request.path, &route, params, allow);
	if (found == RT_ROUTE_FOUND) {
		RT_ASSERT(route->method == request.method);
		for (i = 0; i < RT_ROUTE_PARAMS; i++) {
			bool is_there = rt_route_param_name(route->path, i).size > 0;

			RT_ASSERT((params[i].size > 0) == is_there);
			if (is_there && rt_web_decode(&request, params[i], false, &decoded))
				RT_ASSERT(decoded.size <= params[i].size);
		}
		look_at_query(&request, route);
	} else if (found == RT_ROUTE_OTHER_METHOD) {
		RT_ASSERT(allow[0] != '\0' && strlen(allow) < sizeof(allow));
	}
	rt_arena_free(request.arena);
	return 0;
}
