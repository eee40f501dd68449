/* SPDX-License-Identifier: MIT */
#include "server/problem.h"

#include "codec/json.h"

static const struct {
	rt_status status;
	unsigned http;
	const char *title;
} kinds[] = {
	{RT_OK, 200, "Done"},
	{RT_NOMEM, 503, "There is not enough memory"},
	{RT_USAGE, 400, "The request cannot be understood"},
	{RT_NOT_FOUND, 404, "There is no such thing"},
	{RT_AMBIGUOUS, 409, "More than one thing answers to that name"},
	{RT_REFUSED, 409, "This cannot be done as things stand"},
	{RT_CONFLICT, 412, "It changed since you read it"},
	{RT_BUSY, 503, "The store is busy"},
	{RT_CORRUPT, 500, "The store is damaged"},
	{RT_TOO_NEW, 409, "The store was written by a newer Retake"},
	{RT_NOT_OURS, 400, "This is of another kind"},
	{RT_READ_ONLY, 403, "The store is open for reading only"},
	{RT_IO, 500, "The system said no"},
	{RT_FULL, 507, "The disk is full"},
	{RT_LIMIT, 413, "This is more than is allowed"},
	{RT_INTERRUPTED, 503, "It was stopped"},
	{RT_CREDENTIALS, 409, "There is no model that may be asked"},
	{RT_UPSTREAM, 502, "The model's server failed"},
	{RT_DENIED, 422, "A hook said no"},
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

/* Whatever was written already is no part of a failure. */
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
	const char *title = "It failed";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].status == err->status) {
			status = kinds[i].http;
			title = kinds[i].title;
		}
	begin(answer, status, err->status == RT_CONFLICT ? "stale" : word, title);
	rt_json_put_c(body, "code", word);
	if (err->text[0] != '\0')
		put_text(body, "detail", err->text);
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
