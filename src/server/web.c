/* SPDX-License-Identifier: MIT */
#include "server/web.h"

#include "base/encode.h"

rt_str
rt_web_header(const rt_web_request *request, const char *name)
{
	size_t i;

	for (i = 0; i < request->header_count; i++)
		if (rt_str_eq_nocase(request->headers[i].name, rt_str_of(name)))
			return rt_str_trim(request->headers[i].value);
	return rt_str_at(NULL, 0);
}

size_t
rt_web_header_repeats(const rt_web_request *request, const char *name)
{
	size_t i, count = 0;

	for (i = 0; i < request->header_count; i++)
		count += rt_str_eq_nocase(request->headers[i].name, rt_str_of(name));
	return count;
}

bool
rt_web_decode(const rt_web_request *request, rt_str encoded, bool plus, rt_str *out)
{
	char *to = rt_arena_get(request->arena, encoded.size + 1);
	size_t size = 0, i;

	*out = rt_str_at(NULL, 0);
	if (to == NULL)
		return false;
	for (i = 0; i < encoded.size; i++) {
		char c = encoded.ptr[i];

		if (c == '%') {
			int high = i + 2 < encoded.size ? rt_hex_digit(encoded.ptr[i + 1]) : -1;
			int low = i + 2 < encoded.size ? rt_hex_digit(encoded.ptr[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		if (c == '\0')
			return false;
		to[size++] = c;
	}
	to[size] = '\0';
	*out = rt_str_at(to, size);
	return rt_utf8_valid_size(*out) == size;
}

bool
rt_web_query(const rt_web_request *request, const char *name, rt_str *out)
{
	rt_str rest = request->query;

	*out = rt_str_at(NULL, 0);
	while (rest.size > 0) {
		size_t end = rt_str_find(rest, RT_STR("&"), 0), equals;
		rt_str pair = rt_str_at(rest.ptr, end == SIZE_MAX ? rest.size : end), key;

		end = end == SIZE_MAX ? rest.size : end + 1;
		rest = rt_str_at(rest.ptr + end, rest.size - end);
		equals = rt_str_find(pair, RT_STR("="), 0);
		if (!rt_web_decode(request,
				   rt_str_at(pair.ptr, equals == SIZE_MAX ? pair.size : equals),
				   true, &key) ||
		    !rt_str_is(key, name))
			continue;
		if (equals == SIZE_MAX) {
			*out = RT_STR("");
			return true;
		}
		return rt_web_decode(request,
				     rt_str_at(pair.ptr + equals + 1, pair.size - equals - 1), true,
				     out);
	}
	return false;
}

void
rt_web_answer_header(rt_web_answer *answer, const rt_web_request *request, const char *name,
		     rt_str value)
{
	char *copy = rt_arena_get(request->arena, value.size + 1);

	if (copy == NULL || answer->header_count == RT_WEB_ANSWER_HEADERS) {
		answer->body.status = copy == NULL ? RT_NOMEM : RT_LIMIT;
		return;
	}
	if (value.size > 0)
		memcpy(copy, value.ptr, value.size);
	copy[value.size] = '\0';
	answer->headers[answer->header_count].name = rt_str_of(name);
	answer->headers[answer->header_count++].value = rt_str_at(copy, value.size);
}
