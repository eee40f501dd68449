/* SPDX-License-Identifier: MIT */
#include "server/web.h"

#include "base/encode.h"
#include "codec/json.h"

rt_str
rt_web_header(const rt_web_request *request, const char *name)
{
	for (size_t i = 0; i < request->header_count; i++)
		if (rt_str_eq_nocase(request->headers[i].name, rt_str_of(name)))
			return rt_str_trim(request->headers[i].value);
	return rt_str_at(NULL, 0);
}

size_t
rt_web_header_repeats(const rt_web_request *request, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < request->header_count; i++)
		count += rt_str_eq_nocase(request->headers[i].name, rt_str_of(name));
	return count;
}

bool
rt_web_decode(const rt_web_request *request, rt_str encoded, bool plus, rt_str *out)
{
	char *to = rt_arena_get(request->arena, encoded.size + 1);
	size_t size = 0;

	*out = rt_str_at(NULL, 0);
	if (to == NULL)
		return false;
	for (size_t i = 0; i < encoded.size; i++) {
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

/* ---- problems ---- */

static const struct {
	rt_status status;
	unsigned http;
	const char *title;
} kinds[] = {
	{RT_OK, 200, "Done"},
	{RT_NOMEM, 503, "Out of memory"},
	{RT_USAGE, 400, "The request is malformed"},
	{RT_NOT_FOUND, 404, "Not found"},
	{RT_AMBIGUOUS, 409, "The name is ambiguous"},
	{RT_REFUSED, 409, "This cannot be done in the current state"},
	{RT_CONFLICT, 412, "It has changed since you read it"},
	{RT_BUSY, 503, "The store is busy"},
	{RT_CORRUPT, 500, "The store is damaged"},
	{RT_TOO_NEW, 409, "The store was written by a newer Retake"},
	{RT_NOT_OURS, 400, "Wrong file type"},
	{RT_READ_ONLY, 403, "The store is read-only"},
	{RT_IO, 500, "The system reported an error"},
	{RT_FULL, 507, "The disk is full"},
	{RT_LIMIT, 413, "A limit was exceeded"},
	{RT_INTERRUPTED, 503, "The operation was stopped"},
	{RT_CREDENTIALS, 409, "No model is available"},
	{RT_UPSTREAM, 502, "The model's server failed"},
	{RT_DENIED, 422, "A hook refused this"},
};

/* A member that is cut where it is not UTF-8. */
static void
put_text(rt_buf *buf, const char *key, const char *text)
{
	rt_str all = rt_str_of(text);

	rt_json_put_str(buf, key, rt_str_at(all.ptr, rt_utf8_valid_size(all)));
}

/* A word with one separator for another: hook_refused, hook-refused. */
static void
add_word(rt_buf *buf, const char *word, char from, char to)
{
	for (; *word != '\0'; word++)
		rt_buf_add_byte(buf, *word == from ? to : *word);
	rt_buf_add_byte(buf, '"');
}

/* Data that were written already are not part of a failure. */
static void
begin(rt_web_answer *answer, unsigned status, const char *kind, const char *title)
{
	rt_buf_clear(&answer->body);
	answer->header_count = 0;
	answer->status = status;
	answer->type = "application/problem+json";
	rt_buf_add_c(&answer->body, "{\"type\":\"urn:retake:problem:");
	add_word(&answer->body, kind, '_', '-');
	rt_json_put_c(&answer->body, "title", title);
	rt_json_put_u64(&answer->body, "status", status);
}

void
rt_problem_answer(rt_web_answer *answer, const rt_error *err, const char *hint, rt_str extra)
{
	const char *word = rt_status_word(err->status);
	rt_buf *body = &answer->body;
	unsigned status = 500;
	const char *title = "The operation failed";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].status == err->status) {
			status = kinds[i].http;
			title = kinds[i].title;
		}
	begin(answer, status, err->status == RT_CONFLICT ? "stale" : word, title);
	rt_json_put_c(body, "code", word);
	if (err->text[0] != '\0')
		put_text(body, "detail", err->text);
	if (err->is_quiet)
		rt_json_put_bool(body, "quiet", true);
	if (err->has_at)
		rt_json_put_u64(body, "at", err->at);
	if (err->line != 0)
		rt_json_put_u64(body, "line", err->line);
	if (hint != NULL && hint[0] != '\0')
		put_text(body, "hint", hint);
	if (extra.size > 0) {
		rt_json_add_comma(body);
		rt_buf_add_str(body, extra);
	}
	rt_json_close(body, '}');
}

void
rt_problem_http(rt_web_answer *answer, unsigned status, const char *kind, const char *title,
		const char *detail)
{
	rt_buf *body = &answer->body;

	begin(answer, status, kind, title);
	rt_json_add_key(body, "code");
	rt_buf_add_byte(body, '"');
	add_word(body, kind, '-', '_');
	if (detail != NULL && detail[0] != '\0')
		put_text(body, "detail", detail);
	rt_json_close(body, '}');
}
