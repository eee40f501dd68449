/* SPDX-License-Identifier: MIT
 *
 * A path has few parts and the tables some hundred rows: each row is compared, which takes a few
 * microseconds. */
#include "server/route.h"

#include "base/encode.h"
#include "llm/url.h"

/* Every "%" begins two hexadecimal digits, and none is a NUL. */
static bool
escapes_are_good(rt_str path)
{
	size_t i;

	for (i = 0; i < path.size; i++) {
		int high, low;

		if (path.ptr[i] == '\0')
			return false;
		if (path.ptr[i] != '%')
			continue;
		high = i + 2 < path.size ? rt_hex_digit(path.ptr[i + 1]) : -1;
		low = i + 2 < path.size ? rt_hex_digit(path.ptr[i + 2]) : -1;
		if (high < 0 || low < 0 || high + low == 0)
			return false;
		i += 2;
	}
	return true;
}

/* Does the path fit the pattern? Both begin with "/". */
static bool
fits(const char *pattern, rt_str path, rt_str params[RT_ROUTE_PARAMS])
{
	size_t at = 0, count = 0, start;

	while (*pattern != '\0') {
		if (*pattern != '{') {
			if (at == path.size || path.ptr[at] != *pattern)
				return false;
			at++;
			pattern++;
			continue;
		}
		for (start = at; at < path.size && path.ptr[at] != '/';)
			at++;
		if (at == start || count == RT_ROUTE_PARAMS)
			return false;
		params[count++] = rt_str_at(path.ptr + start, at - start);
		pattern += strcspn(pattern, "}") + 1;
	}
	while (count < RT_ROUTE_PARAMS)
		params[count++] = rt_str_at(NULL, 0);
	return at == path.size;
}

const char *
rt_route_method(rt_web_method method)
{
	static const char *const names[] = {"", "GET", "POST", "PUT", "PATCH", "DELETE"};

	return names[method];
}

rt_str
rt_route_param_name(const char *path, size_t at)
{
	for (; (path = strchr(path, '{')) != NULL; path++, at--)
		if (at == 0)
			return rt_str_at(path + 1, strcspn(path + 1, "}"));
	return rt_str_at(NULL, 0);
}

void
rt_route_encode(rt_buf *buf, rt_str text)
{
	rt_url_add_encoded(buf, text);
}

/* "GET, POST": the methods of a path, each once, in the order of rt_web_method. */
static void
add_allowed(unsigned methods, char allow[64])
{
	size_t size = 0;
	int method;

	for (method = RT_WEB_GET; method <= RT_WEB_DELETE; method++) {
		const char *name = rt_route_method((rt_web_method)method);
		size_t length = strlen(name);

		if ((methods & 1u << method) == 0)
			continue;
		if (size > 0) {
			memcpy(allow + size, ", ", 2);
			size += 2;
		}
		memcpy(allow + size, name, length);
		size += length;
	}
	allow[size] = '\0';
}

rt_route_found
rt_route_find(const rt_route *const *tables, rt_web_method method, rt_str path,
	      const rt_route **out, rt_str params[RT_ROUTE_PARAMS], char allow[64])
{
	rt_str root = RT_STR(RT_API_ROOT), below = {NULL, 0};
	unsigned methods = 0;
	const rt_route *route;

	allow[0] = '\0';
	if (!escapes_are_good(path))
		return RT_ROUTE_BAD;
	if (rt_str_starts(path, root) && path.size > root.size)
		below = rt_str_at(path.ptr + root.size, path.size - root.size);
	for (; *tables != NULL; tables++)
		for (route = *tables; route->path != NULL; route++) {
			if (!fits(route->path, route->flags & RT_ROUTE_ROOT ? path : below, params))
				continue;
			if (route->method == method) {
				*out = route;
				return RT_ROUTE_FOUND;
			}
			methods |= 1u << route->method;
		}
	add_allowed(methods, allow);
	return methods != 0 ? RT_ROUTE_OTHER_METHOD : RT_ROUTE_UNKNOWN;
}
