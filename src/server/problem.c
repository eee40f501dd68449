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

static const char *
title_of(rt_status status)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].status == status)
			return kinds[i].title;
	return "It failed";
}

unsigned
rt_problem_http_status(rt_status status)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].status == status)
			return kinds[i].http;
	return 500;
}

/* The word of the command line, as the end of a URN. */
static void
add_type(rt_buf *buf, const char *word)
{
	rt_buf_add_c(buf, "{\"type\":\"urn:retake:problem:");
	for (; *word != '\0'; word++)
		rt_buf_add_byte(buf, *word == '_' ? '-' : *word);
	rt_buf_add_byte(buf, '"');
}

/* The same as the command line would write it. */
static void
add_code(rt_buf *buf, const char *kind)
{
	rt_json_add_key(buf, "code");
	rt_buf_add_byte(buf, '"');
	for (; *kind != '\0'; kind++)
		rt_buf_add_byte(buf, *kind == '-' ? '_' : *kind);
	rt_buf_add_byte(buf, '"');
}

static void
add_text(rt_buf *buf, const char *key, const char *text)
{
	rt_str all = rt_str_of(text);

	rt_json_add_key(buf, key);
	rt_json_add_string(buf, rt_str_at(all.ptr, rt_utf8_valid_size(all)));
}

static void
add_status(rt_buf *buf, unsigned status)
{
	rt_json_add_key(buf, "status");
	rt_buf_add_u64(buf, status);
}

void
rt_problem_add(rt_buf *buf, unsigned status, const rt_error *err, const char *hint, rt_str extra)
{
	add_type(buf, err->status == RT_CONFLICT ? "stale" : rt_status_word(err->status));
	add_text(buf, "title", title_of(err->status));
	add_status(buf, status);
	add_text(buf, "code", rt_status_word(err->status));
	if (err->text[0] != '\0')
		add_text(buf, "detail", err->text);
	if (err->has_at) {
		rt_json_add_key(buf, "at");
		rt_buf_add_u64(buf, err->at);
	}
	if (err->line != 0) {
		rt_json_add_key(buf, "line");
		rt_buf_add_u64(buf, err->line);
	}
	if (hint != NULL && hint[0] != '\0')
		add_text(buf, "hint", hint);
	rt_buf_add_str(buf, extra);
	rt_buf_add_byte(buf, '}');
}

/* Whatever was written already is no part of a failure. */
static void
begin(rt_web_answer *answer, unsigned status)
{
	rt_buf_clear(&answer->body);
	answer->header_count = 0;
	answer->status = status;
	answer->type = "application/problem+json";
}

void
rt_problem_answer(rt_web_answer *answer, const rt_error *err, const char *hint, rt_str extra)
{
	begin(answer, rt_problem_http_status(err->status));
	rt_problem_add(&answer->body, answer->status, err, hint, extra);
}

void
rt_problem_http(rt_web_answer *answer, unsigned status, const char *kind, const char *title,
		const char *detail)
{
	begin(answer, status);
	add_type(&answer->body, kind);
	add_text(&answer->body, "title", title);
	add_status(&answer->body, status);
	add_code(&answer->body, kind);
	if (detail != NULL && detail[0] != '\0')
		add_text(&answer->body, "detail", detail);
	rt_buf_add_byte(&answer->body, '}');
}
